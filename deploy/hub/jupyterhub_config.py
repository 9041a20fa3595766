"""A hub for one class on one server; docs/hub.md goes from a fresh server to this. The rest is as JupyterHub has it."""
import os
import sys
from pathlib import Path

from jupyterhub.spawner import Spawner

HERE = Path(__file__).resolve().parent
STATE = Path(os.environ.get("STATE_DIRECTORY", "/var/lib/workbook-hub"))  # systemd names it, see workbook-hub.service
STATE.mkdir(mode=0o700, parents=True, exist_ok=True)


def open_in_language(spawner: Spawner, options: dict) -> None:
    """Open the start page in the language that /hub/spawn?opt-lang=en asks for, which is remembered; else in the browser's.
    learner.py gives JupyterLab the same language."""
    accepted = spawner.handler.request.headers.get("Accept-Language", "") if spawner.handler else ""
    asked = options.get("lang") or accepted
    lang = "zh" if str(asked).lower().startswith("zh") else "en"
    spawner.environment = {**spawner.environment, "WORKBOOK_LANG": lang}
    spawner.default_url = f"/lab/tree/notebooks/{lang}/00_start_here.ipynb"


c = get_config()  # noqa: F821  (JupyterHub gives it)

# The hub listens on loopback; the server in front of it has the certificate. The cookie secret (mode 600) is made at the first
# start. The proxy's token is made anew at every start and never written, so neither can get into the repository.
c.JupyterHub.bind_url = "http://127.0.0.1:8000"
c.JupyterHub.db_url = f"sqlite:///{STATE / 'hub.sqlite'}"
c.JupyterHub.cookie_secret_file = str(STATE / "cookie_secret")
c.ConfigurableHTTPProxy.pid_file = str(STATE / "proxy.pid")
c.ConfigurableHTTPProxy.command = [str(HERE / "node_modules" / ".bin" / "configurable-http-proxy")]

# Accounts are those of the system: who is in the group `learners` may come in, who is in `teachers` may see and stop servers.
c.JupyterHub.authenticator_class = "pam"
c.PAMAuthenticator.allowed_groups = {"learners"}
c.PAMAuthenticator.admin_groups = {"teachers"}

# Each server is a systemd unit of its own: only so do the limits hold. The spawners that come with JupyterHub ignore them.
c.JupyterHub.spawner_class = "systemd"
c.JupyterHub.cleanup_servers = False  # a restart of the hub leaves the learners at work
c.Spawner.mem_limit = "2G"  # enough for the server and every lab open at once; docs/hub.md has what was measured
c.Spawner.cpu_limit = 1.0  # of a core
c.SystemdSpawner.isolate_tmp = True  # the scratch folders of the labs lie among the temporary files
c.SystemdSpawner.unit_extra_properties = {
    "OOMPolicy": "continue",  # at the limit the largest kernel ends, and not the learner's whole server
    "TasksMax": "300",  # a loop that starts processes stops here
}
c.Spawner.start_timeout = c.Spawner.http_timeout = 120  # seconds; the whole class comes at once

# What is started is learner.py, as the learner: it copies the notebooks into ~/workbook and becomes their JupyterLab.
c.Spawner.cmd = [sys.executable, str(HERE / "learner.py")]
c.Spawner.notebook_dir = "~/workbook"
c.Spawner.options_from_form = "simple"
c.Spawner.apply_user_options = open_in_language  # called at every start, with options or without
c.Spawner.args = [
    "--log-level=WARN",  # so that the journal does not list what each learner opened
    # Whoever is idle for an hour, with the page closed, gives the memory back: first the kernels, then the server itself.
    "--MappingKernelManager.cull_idle_timeout=3600",
    "--TerminalManager.cull_inactive_timeout=3600",
    "--ServerApp.shutdown_no_activity_timeout=600",
    # Kernels speak through files in the learner's home, not through ports: anybody on the server can read along at a port.
    "--KernelManager.transport=ipc",
]

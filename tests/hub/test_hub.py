"""A real JupyterHub on loopback, with the settings of deploy/hub, and three learners in it at once."""
import json
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import nbformat
import psutil
import pytest
import requests
import websocket

from tests import proxy

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform == "win32", reason="JupyterHub does not run on Windows")]
ROOT = Path(__file__).resolve().parents[2]
LEARNERS = {"anning": "zh-CN,zh;q=0.9", "boris": "en-GB,en;q=0.9", "chunyu": "en-US,en;q=0.9"}  # and their browsers
CHOSEN = {"anning": "zh", "boris": "en", "chunyu": "zh"}  # what they get; the last one asks for it
LOCALE = {"zh": "zh_CN", "en": "en"}
LAB = "notebooks/zh/a2_trim_to_a_budget.ipynb"
TRIAL = """
# The hub's own settings, and in place of accounts, systemd and fixed ports what a trial on loopback needs.
import os
load_subconfig("jupyterhub_config.py", {hub!r})
c = get_config()
c.JupyterHub.bind_url = "http://127.0.0.1:{ports[0]}"
c.JupyterHub.hub_port = {ports[1]}
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{ports[2]}"
c.ConfigurableHTTPProxy.command = [{program!r}]
c.JupyterHub.authenticator_class = "shared-password"
c.SharedPasswordAuthenticator.user_password = {password!r}
c.Authenticator.allowed_users = {learners!r}
c.JupyterHub.spawner_class = "simple"
c.SimpleLocalProcessSpawner.home_dir_template = {folder!r} + "/homes/{{username}}"
c.Spawner.environment = {{"TMPDIR": {folder!r}}}
c.JupyterHub.cleanup_servers = True
if os.geteuid() == 0:
    c.Spawner.args = [*c.Spawner.args, "--allow-root"]
"""


@dataclass
class Learner:
    """A learner at a browser: *name*, the public *address* of the hub, and a session that has no cookies yet."""

    address: str
    name: str
    password: str
    browser: requests.Session = field(default_factory=requests.Session)
    token: str = ""

    def __post_init__(self) -> None:
        self.browser.trust_env = False
        self.browser.headers["Accept-Language"] = LEARNERS.get(self.name, "")

    @property
    def server(self) -> str:
        return f"{self.address}/user/{self.name}"

    def log_in(self) -> requests.Response:
        """Fill in the login page; the hub sends the browser on to the spawn page, which starts the server."""
        self.browser.get(f"{self.address}/hub/login", timeout=30)
        asked = "/hub/spawn?opt-lang=zh" if self.name == "chunyu" else ""
        form = {"username": self.name, "password": self.password, "_xsrf": self.browser.cookies.get("_xsrf", path="/hub/")}
        return self.browser.post(f"{self.address}/hub/login", form, params={"next": asked}, timeout=60)

    def come_in(self) -> str:
        """Log in, wait for the server, and get a token for the REST API; the path of the page that opens."""
        assert self.log_in().status_code == 200
        made = self.browser.post(f"{self.address}/hub/api/users/{self.name}/tokens", timeout=30,
                                 headers={"X-XSRFToken": self.browser.cookies.get("_xsrf", path="/hub/")})
        self.token = made.json()["token"]
        self.wait_for_server()
        page = self.browser.get(self.server, timeout=30)
        assert page.status_code == 200
        return urlsplit(page.url).path

    def wait_for_server(self) -> None:
        for _ in range(300):
            if self.ask("GET", f"{self.address}/hub/api/users/{self.name}").json()["server"]:
                return
            time.sleep(0.2)
        pytest.fail(f"the server of {self.name} did not start")

    def ask(self, method: str, url: str, body: object = None) -> requests.Response:
        """A request to the REST API of the hub or of a server, with this learner's token alone."""
        return requests.request(method, url, json=body, headers={"Authorization": f"token {self.token}"}, timeout=60)

    def cells(self, path: str) -> list[dict]:
        answer = self.ask("GET", f"{self.server}/api/contents/{path}")
        assert answer.status_code == 200
        return answer.json()["content"]["cells"]

    def run(self, path: str, ready: Callable[[], object]) -> dict[str, str]:
        """Start a kernel, wait until all are *ready*, and run every code cell of *path*: the cell's id → "ok" or "error"."""
        cells = [cell for cell in self.cells(path) if cell["cell_type"] == "code"]
        kernel = self.ask("POST", f"{self.server}/api/kernels", {"name": "python3", "path": path}).json()["id"]
        line = websocket.create_connection(f"{self.server.replace('http', 'ws')}/api/kernels/{kernel}/channels", timeout=60,
                                           header=[f"Authorization: token {self.token}"])
        ready()
        status = {cell["id"]: execute(line, cell["source"]) for cell in cells}
        line.close()
        return status


def execute(line: websocket.WebSocket, code: str) -> str:
    """Have the kernel at the other end of *line* run *code*; the status of its reply."""
    header = {"msg_id": uuid.uuid4().hex, "msg_type": "execute_request", "username": "", "session": "test", "version": "5.4",
              "date": "2026-01-01T00:00:00Z"}
    content = {"code": code, "silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": False,
               "stop_on_error": False}
    line.send(json.dumps({"channel": "shell", "header": header, "parent_header": {}, "metadata": {}, "content": content}))
    while True:
        said = line.recv()
        message = json.loads(said) if isinstance(said, str) else {}  # a message with buffers is binary, and never a reply
        if message.get("msg_type") == "execute_reply" and message["parent_header"].get("msg_id") == header["msg_id"]:
            return message["content"]["status"]


@dataclass
class Hub:
    process: subprocess.Popen
    folder: Path
    address: str
    ports: list[int]
    password: str
    learners: dict[str, Learner] = field(default_factory=dict)
    opened: dict[str, str] = field(default_factory=dict)  # learner → the path of the page that opened first
    seen: set[psutil.Process] = field(default_factory=set)

    def descendants(self) -> list[psutil.Process]:
        found = psutil.Process(self.process.pid).children(recursive=True)
        self.seen.update(found)
        return found


def free_ports(number: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(number)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


@pytest.fixture(scope="module")
def hub() -> Iterator[Hub]:
    """A hub in which all learners have come in, at the same time. Its state is in a folder of its own."""
    program = proxy.find() or proxy.find(proxy.HUB)
    if program is None:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(proxy.ADVICE)
    folder, ports, password = Path(tempfile.mkdtemp(prefix="hub-")), free_ports(3), secrets.token_hex(8)
    config = folder / "trial_config.py"
    config.write_text(TRIAL.format(hub=str(proxy.HUB), folder=str(folder), ports=ports, program=program, password=password,
                                   learners={*LEARNERS}))
    env = {name: value for name, value in os.environ.items() if not name.startswith(("JUPYTER", "JPY", "PYTEST"))}
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen([sys.executable, "-m", "jupyterhub", f"--config={config}"], cwd=folder, stdout=log,
                                   env=env | {"STATE_DIRECTORY": str(folder / "state")}, stderr=log)
    running = Hub(process, folder, f"http://127.0.0.1:{ports[0]}", ports, password)
    try:
        wait_until_it_answers(running)
        running.learners = {name: Learner(running.address, name, password) for name in LEARNERS}
        with ThreadPoolExecutor(len(LEARNERS)) as pool:
            running.opened = dict(zip(LEARNERS, pool.map(Learner.come_in, running.learners.values()), strict=True))
        yield running
    except BaseException:
        print((folder / "log").read_text("utf-8", "replace")[-8000:])
        raise
    finally:
        if process.poll() is None:
            running.descendants()
        process.send_signal(signal.SIGTERM)
        process.wait(60)
        for one in running.seen:
            if one.is_running():
                one.kill()
        shutil.rmtree(folder, ignore_errors=True)  # one that was killed may still have written


def wait_until_it_answers(hub: Hub) -> None:
    for _ in range(300):
        try:
            if requests.get(f"{hub.address}/hub/health", timeout=5).status_code == 200:
                return
        except requests.ConnectionError:
            pass
        assert hub.process.poll() is None, "the hub ended"
        time.sleep(0.1)
    pytest.fail("the hub does not answer")


# One's own

def test_each_learner_has_their_own_copy_in_their_own_language(hub):
    for name, learner in hub.learners.items():
        lang = CHOSEN[name]
        assert hub.opened[name] == f"/user/{name}/lab/tree/notebooks/{lang}/00_start_here.ipynb"
        settings = learner.ask("GET", f"{learner.server}/lab/api/settings/@jupyterlab/translation-extension:plugin").json()
        assert settings["schema"]["properties"]["locale"]["default"] == LOCALE[lang]
        for original in ROOT.glob("notebooks/??/*.ipynb"):
            copy = hub.folder / "homes" / name / "workbook" / original.relative_to(ROOT)
            assert copy.is_file()
            assert not copy.is_symlink()


def test_it_has_the_settings_of_the_workbook(hub):
    learner = hub.learners["boris"]
    page = learner.browser.get(f"{learner.server}/lab", timeout=30).text
    config = json.loads(re.search(r'<script id="jupyter-config-data"[^>]*>(.*?)</script>', page, re.S)[1])
    assert config["appSettingsDir"] == str(ROOT / "deploy" / "jupyterlab" / "en")
    news = learner.ask("GET", f"{learner.server}/lab/api/settings/@jupyterlab/apputils-extension:notification").json()
    assert news["schema"]["properties"]["fetchNews"]["default"] == "false"


def test_the_notebooks_are_trusted_and_another_one_is_not(hub):
    learner = hub.learners["anning"]
    assert all(cell["metadata"]["trusted"] for cell in learner.cells(LAB) if cell["cell_type"] == "code")
    cell = nbformat.v4.new_code_cell("1", outputs=[nbformat.v4.new_output("display_data", {"text/html": "<b>1</b>"})])
    home = hub.folder / "homes" / "anning" / "workbook"
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), home / "from_elsewhere.ipynb")
    assert not any(cell["metadata"]["trusted"] for cell in learner.cells("from_elsewhere.ipynb"))


def test_three_learners_run_a_lab_at_once(hub):
    ready = threading.Barrier(len(LEARNERS), timeout=60).wait
    with ThreadPoolExecutor(len(LEARNERS)) as pool:
        statuses = list(pool.map(lambda learner: learner.run(LAB, ready), hub.learners.values()))
    cells = [cell for cell in nbformat.read(ROOT / LAB, 4).cells if cell.cell_type == "code"]
    expected = {cell.id: "error" if "raises-exception" in cell.metadata.get("tags", ()) else "ok" for cell in cells}
    assert statuses == [expected] * len(LEARNERS)


def test_work_survives_a_restart_and_a_deleted_notebook_comes_back(hub):
    learner = hub.learners["boris"]
    home = hub.folder / "homes" / "boris" / "workbook"
    (home / LAB).write_text((home / LAB).read_text("utf-8").replace("max_chars", "my_own_name"), "utf-8")
    mine = (home / LAB).read_bytes()
    gone = home / "notebooks" / "en" / "a1_parse_and_load.ipynb"
    gone.unlink()
    assert learner.ask("DELETE", f"{hub.address}/hub/api/users/boris/server").status_code in (202, 204)
    for _ in range(100):
        if learner.ask("POST", f"{hub.address}/hub/api/users/boris/server").status_code in (201, 202):
            break
        time.sleep(0.2)  # it is still stopping
    learner.wait_for_server()
    assert (home / LAB).read_bytes() == mine
    assert gone.is_file()


# Nobody else's

def test_another_learners_server_is_closed(hub):
    for name, learner in hub.learners.items():
        for other in hub.learners.values():
            url = f"{other.server}/api/contents/{LAB}"
            file = f"{other.server}/files/{LAB}"
            allowed = other.name == name
            assert learner.ask("GET", url).status_code == (200 if allowed else 403)
            assert learner.browser.get(file, timeout=30).status_code == (200 if allowed else 403)
    other = hub.learners["anning"]
    with pytest.raises(websocket.WebSocketBadStatusException, match="403"):
        websocket.create_connection(f"{other.server.replace('http', 'ws')}/api/kernels/{uuid.uuid4()}/channels", timeout=30,
                                    header=[f"Authorization: token {hub.learners['boris'].token}"])


def test_nobody_gets_in_without_logging_in(hub):
    for name in LEARNERS:
        page = requests.get(f"{hub.address}/user/{name}/files/{LAB}", timeout=30)
        assert urlsplit(page.url).path == "/hub/login"
        assert requests.get(f"{hub.address}/user/{name}/api/contents", timeout=30).status_code == 403
    assert requests.get(f"{hub.address}/hub/api/users", timeout=30).status_code == 403


@pytest.mark.parametrize(("name", "right"), [("anning", False), ("stranger", True)])
def test_a_wrong_password_and_a_stranger_are_refused(hub, name, right):
    visitor = Learner(hub.address, name, hub.password if right else "a guess")
    assert visitor.log_in().status_code == 403
    assert not (hub.folder / "homes" / "stranger").exists()


def test_only_loopback_is_listened_at(hub):
    listening = {connection.laddr for process in (psutil.Process(hub.process.pid), *hub.descendants())
                 for connection in process.net_connections("inet") if connection.status == psutil.CONN_LISTEN}
    assert {address.ip for address in listening} == {"127.0.0.1"}
    assert set(hub.ports) < {address.port for address in listening}


def test_no_other_user_of_the_server_can_read_along_with_a_kernel(hub):
    learner = hub.learners["anning"]
    learner.ask("POST", f"{learner.server}/api/kernels", {"name": "python3"})
    commands = [process.cmdline() for process in hub.descendants()]
    files = [Path(command[-1]) for command in commands if "ipykernel_launcher" in command]
    assert files != []
    for file in files:
        assert json.loads(file.read_text("utf-8"))["transport"] == "ipc"
        assert file.parent.stat().st_mode & 0o777 == 0o700


def test_secrets_are_for_the_hub_alone(hub):
    state = hub.folder / "state"
    assert state.stat().st_mode & 0o777 == 0o700
    assert (state / "cookie_secret").stat().st_mode & 0o777 == 0o600


def test_the_hub_stops_and_leaves_no_process(hub):
    processes = hub.descendants()
    assert len(processes) > len(LEARNERS)
    hub.process.send_signal(signal.SIGTERM)
    assert hub.process.wait(60) == 0
    _, alive = psutil.wait_procs(processes, timeout=5)
    assert alive == []

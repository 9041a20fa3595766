"""What can be held of the hub's settings without starting one: the copy of the notebooks, the language, the pinned proxy."""
import asyncio
import configparser
import json
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest
from nbformat import read
from nbformat.sign import NotebookNotary
from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

from tests import proxy

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="JupyterHub does not run on Windows")
LEARNER = proxy.HUB / "learner.py"


# The learner's copy

@pytest.fixture
def learner(monkeypatch):
    """The module learner.py, which is a program and lies in no package."""
    monkeypatch.syspath_prepend(proxy.HUB)
    import learner
    return learner


@pytest.fixture
def folders(tmp_path):
    """A source with one notebook in each language, and the learner's folder, which is not there yet."""
    for lang in ("zh", "en"):
        (tmp_path / "source" / lang).mkdir(parents=True)
        (tmp_path / "source" / lang / "a.ipynb").write_text(f"first {lang}", "utf-8")
    (tmp_path / "source" / "zh" / "notes.txt").write_text("not a notebook", "utf-8")
    return tmp_path / "source", tmp_path / "home" / "notebooks"


def test_a_new_learner_gets_both_languages_and_nothing_else(learner, folders):
    source, folder = folders
    assert learner.provide(source, folder) == [folder / "en" / "a.ipynb", folder / "zh" / "a.ipynb"]
    assert {path.name for path in folder.rglob("*.*")} == {"a.ipynb"}
    assert (folder / "zh" / "a.ipynb").read_text("utf-8") == "first zh"


def test_what_a_learner_wrote_is_never_overwritten_and_what_was_deleted_comes_back(learner, folders):
    source, folder = folders
    learner.provide(source, folder)
    (folder / "zh" / "a.ipynb").write_text("mine", "utf-8")
    (folder / "en" / "a.ipynb").unlink()
    for lang in ("zh", "en"):
        (source / lang / "a.ipynb").write_text("second", "utf-8")
    assert learner.provide(source, folder) == [folder / "en" / "a.ipynb"]
    assert (folder / "zh" / "a.ipynb").read_text("utf-8") == "mine"
    assert (folder / "en" / "a.ipynb").read_text("utf-8") == "second"


def test_a_link_that_leads_nowhere_is_the_learners_too(learner, folders):
    source, folder = folders
    (folder / "zh").mkdir(parents=True)
    (folder / "zh" / "a.ipynb").symlink_to(folder / "gone")
    assert learner.provide(source, folder) == [folder / "en" / "a.ipynb"]
    assert (folder / "zh" / "a.ipynb").is_symlink()


def test_where_nothing_can_be_copied_the_server_starts_all_the_same(tmp_path):
    (tmp_path / "workbook").mkdir()
    (tmp_path / "workbook" / "notebooks").write_text("in the way", "utf-8")
    env = {"HOME": str(tmp_path), "TMPDIR": str(tmp_path), "JUPYTERHUB_ROOT_DIR": "~/workbook", "WORKBOOK_LANG": "en"}
    command = [sys.executable, LEARNER, "--version"]
    done = subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "Not all notebooks could be copied" in done.stderr
    assert done.stdout[0].isdigit()


def test_what_is_signed_is_trusted(learner, tmp_path, monkeypatch):
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    one, other = sorted((proxy.ROOT / "notebooks" / "en").glob("a*.ipynb"))[:2]
    learner.trust([one])
    notary = NotebookNotary(data_dir=str(tmp_path / "data"))
    assert [notary.check_signature(read(path, 4)) for path in (one, other)] == [True, False]


# The settings

@pytest.fixture
def settings(monkeypatch, tmp_path) -> Config:
    monkeypatch.setenv("STATE_DIRECTORY", str(tmp_path / "state"))
    return PyFileConfigLoader("jupyterhub_config.py", str(proxy.HUB)).load_config()


@pytest.mark.parametrize(("browser", "options", "lang"), [
    ("zh-CN,zh;q=0.9,en;q=0.8", {}, "zh"),
    ("en-US,en;q=0.9,zh;q=0.8", {}, "en"),
    ("de-DE,de;q=0.9", {}, "en"),
    ("en-US", {"lang": "zh"}, "zh"),
    ("zh-CN", {"lang": "en"}, "en"),
    ("zh-CN", {"lang": "../../etc"}, "en"),
    ("zh-CN", {"lang": ["zh", "en"]}, "en"),
    (None, {}, "en"),
])
def test_the_language_is_the_one_that_was_asked_for_or_the_browsers(settings, browser, options, lang):
    handler = None if browser is None else SimpleNamespace(request=SimpleNamespace(headers={"Accept-Language": browser}))
    spawner = SimpleNamespace(handler=handler, environment={"KEPT": "1"})
    settings.Spawner.apply_user_options(spawner, options)
    assert spawner.environment == {"KEPT": "1", "WORKBOOK_LANG": lang}
    assert spawner.default_url == f"/lab/tree/notebooks/{lang}/00_start_here.ipynb"
    assert (proxy.ROOT / spawner.default_url.removeprefix("/lab/tree/")).is_file()


@pytest.mark.skipif(sys.platform != "linux", reason="systemd is a part of Linux")
def test_each_server_is_a_unit_of_systemd_that_holds_the_limits(settings, monkeypatch):
    """What systemd is asked for; there is no systemd in a test."""
    import pwd

    from systemdspawner import SystemdSpawner, systemd
    asked = {}

    async def start(unit, **options):
        asked.update(options, unit=unit)

    async def state(unit):
        return bool(asked)

    monkeypatch.setattr(systemd, "get_systemd_version", lambda: 252)
    monkeypatch.setattr(systemd, "start_transient_service", start)
    monkeypatch.setattr(systemd, "service_running", state)
    monkeypatch.setattr(systemd, "service_failed", state)
    monkeypatch.setattr(SystemdSpawner, "get_env", lambda self: {})
    user = SimpleNamespace(name=pwd.getpwuid(os.getuid()).pw_name, id=1, url="/user/mei")
    asyncio.run(SystemdSpawner(config=settings, user=user).start())
    assert asked["unit"] == f"jupyter-{user.name}-singleuser"
    assert asked["uid"] == os.getuid()
    assert asked["cmd"] == [sys.executable, str(LEARNER)]
    assert "--KernelManager.transport=ipc" in asked["args"]
    limits = {"MemoryMax": 2 << 30, "CPUQuota": "100%", "TasksMax": "300", "OOMPolicy": "continue", "PrivateTmp": "yes"}
    assert limits.items() <= asked["properties"].items()


def test_nothing_that_the_hub_writes_lies_in_the_repository(settings, tmp_path):
    written = (settings.JupyterHub.db_url, settings.JupyterHub.cookie_secret_file, settings.ConfigurableHTTPProxy.pid_file)
    assert all(str(tmp_path / "state") in place for place in written)


def test_the_unit_starts_what_is_there():
    unit = configparser.ConfigParser(strict=False, comment_prefixes="#")
    unit.optionxform = str
    unit.read(proxy.HUB / "workbook-hub.service", "utf-8")
    program, option = unit["Service"]["ExecStart"].split()
    assert program == "/opt/workbook/.venv/bin/jupyterhub"
    assert (proxy.ROOT / option.removeprefix("--config=/opt/workbook/")).is_file()
    assert unit["Service"]["WorkingDirectory"] == f"/var/lib/{unit['Service']['StateDirectory']}"
    assert f'"{unit["Service"]["WorkingDirectory"]}"' in (proxy.HUB / "jupyterhub_config.py").read_text("utf-8")


# The proxy

def test_every_package_of_the_proxy_is_pinned_and_no_registry_is_named():
    package, lock = (json.loads((proxy.HUB / name).read_text("utf-8")) for name in ("package.json", "package-lock.json"))
    (name, version), = package["dependencies"].items()
    assert lock["packages"][f"node_modules/{name}"]["version"] == version
    for path, one in lock["packages"].items():
        assert "resolved" not in one, path
        assert "integrity" in one or path == "", path


@pytest.mark.parametrize(("files", "there"), [
    pytest.param(("program", "lock"), True, id="all is there"),
    pytest.param(("program", "old lock"), False, id="another version"),
    pytest.param(("lock",), False, id="npm was stopped half way"),
    pytest.param((), False, id="nothing"),
])
def test_only_the_proxy_that_is_asked_for_is_found(monkeypatch, tmp_path, files, there):
    monkeypatch.setattr(proxy.shutil, "which", lambda name: f"/usr/bin/{name}")
    program = tmp_path / "node_modules" / ".bin" / "configurable-http-proxy"
    program.parent.mkdir(parents=True)
    lock = (proxy.HUB / "package-lock.json").read_bytes()
    for path, content, name in ((program, b"", "program"), (tmp_path / "package-lock.json", lock, "lock"),
                                (tmp_path / "package-lock.json", b"{}", "old lock")):
        if name in files:
            path.write_bytes(content)
    assert proxy.find(tmp_path) == (str(program) if there else None)
    monkeypatch.setattr(proxy.shutil, "which", lambda name: None)
    assert proxy.find(tmp_path) is None

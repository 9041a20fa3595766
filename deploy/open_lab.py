"""Open the workbook in JupyterLab: what `python3 lab.py` hands over to."""
import argparse
import contextlib
import http.client
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.request
import webbrowser
from collections.abc import Callable, Iterator
from pathlib import Path

import lab

DEPLOY = lab.ROOT / "deploy"
STATE = lab.ROOT / ".lab"  # what JupyterLab remembers here, apart from the learner's other Jupyters
Words = dict[str, tuple[str, str]]
WORDS: Words = {
    "starting": ("Starting JupyterLab …", "正在启动 JupyterLab ……"),
    "address": ("The workbook is open at\n\n    {0}\n\nStart page: {1}. Ctrl-C here stops it.",
                "练习册已经打开，地址是\n\n    {0}\n\n起始页：{1}。在这里按 Ctrl-C 停止。"),
    "taken": ("Port {0} is taken or kept by the system. Name another, or leave --port out.",
              "端口 {0} 已被占用，或由系统保留。请换一个，或者不写 --port。"),
    "lost": ("Another program took port {0} in the same moment. Once more …", "端口 {0} 刚被另一个程序占用，重试 ……"),
    "died": ("JupyterLab stopped before it was ready; what it said stands above.",
             "JupyterLab 还没准备好就退出了，原因见上面的输出。"),
    "ended": ("JupyterLab stopped by itself (exit code {0}); what it said stands above. What you saved is kept; "
              "run lab.py again.",
              "JupyterLab 自己退出了（退出码 {0}），原因见上面的输出。请再运行一次 lab.py。保存过的内容都还在。"),
    "stopped": ("Stopped. What you saved is kept.", "已停止。保存过的内容都还在。"),
}


def free_port(port: int | None = None) -> int | None:
    """*port* if it is free, or None; any free one for 0. Without *port*, the first that is free from 8888 on."""
    for number in (*range(8888, 8908), 0) if port is None else (port,):
        with socket.socket() as probe, contextlib.suppress(OSError, OverflowError):
            if os.name != "nt":  # as the server does: a port that was just left is free
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", number))
            return probe.getsockname()[1]
    return None


def server(root: Path, port: int, settings: Path) -> list[str]:
    """The arguments after `python` that serve the folder *root*: on loopback only, with the interface's *settings*."""
    as_root = ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    return ["-m", "jupyterlab", "--no-browser", "-y", "--log-level=WARN", f"--config={DEPLOY / 'jupyter_server_config.py'}",
            "--ServerApp.ip=127.0.0.1", f"--ServerApp.port={port}", "--ServerApp.port_retries=0",
            f"--ServerApp.root_dir={root}", f"--LabApp.app_settings_dir={settings}", *as_root]


def variables(state: Path, token: str) -> dict[str, str]:
    """The server's environment: its *token*, which no process list shows then, and a place of its own for its *state*."""
    folders = {"JUPYTER_CONFIG_DIR": "config", "JUPYTER_DATA_DIR": "data", "JUPYTER_RUNTIME_DIR": "runtime",
               "JUPYTERLAB_SETTINGS_DIR": "settings", "JUPYTERLAB_WORKSPACES_DIR": "workspaces", "IPYTHONDIR": "ipython"}
    return dict(os.environ, JUPYTER_TOKEN=token) | {name: str(state / folder) for name, folder in folders.items()}


def answers(address: str, token: str, path: str = "/api/status") -> bool:
    """Whether the server at *address* is the one with this *token*, which it wants for *path*.

    No proxy of the learner's is asked: this is loopback.
    """
    request = urllib.request.Request(address + path, headers={"Authorization": f"token {token}"})
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=2):
            return True
    except (OSError, http.client.HTTPException):  # nobody yet, or another program that was quicker to take the port
        return False


@contextlib.contextmanager
def running(root: Path, state: Path, port: int, token: str, settings: Path) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """Trust the notebooks in *root* and run JupyterLab; give its process and address when it answers, and stop it after.

    A server that ends before it answers is a `ChildProcessError`.
    """
    env, address = variables(state, token), f"http://127.0.0.1:{port}"
    notebooks = sorted(str(path) for path in root.glob("notebooks/*/*.ipynb"))
    subprocess.run([sys.executable, "-m", "nbformat.sign", "--log-level=ERROR", *notebooks], env=env,
                   stdout=subprocess.DEVNULL, check=False)
    with started(server(root, port, settings), env, root, lambda: answers(address, token)) as process:
        yield process, address


@contextlib.contextmanager
def started(arguments: list[str], env: dict[str, str], folder: Path,
            ready: Callable[[], bool]) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server, `python` with these *arguments*, in *folder*; give its process when it is *ready*, and stop it after.

    A server that ends before it is ready is a `ChildProcessError`.
    """
    process = subprocess.Popen([sys.executable, *arguments], env=env, cwd=folder, stdin=subprocess.DEVNULL)
    try:
        while not ready():
            if process.poll() is not None:
                raise ChildProcessError(process.returncode)
            time.sleep(0.2)
        yield process
    finally:
        if os.name != "nt":  # there Ctrl-C has reached the server too, and terminate() would leave its kernels
            process.terminate()
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def has_display() -> bool:
    """Whether a browser can open a window here; a text browser in the terminal would be no help."""
    return os.name == "nt" or sys.platform == "darwin" or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")))


def open_notebooks(port: int, lang: str, browser: bool) -> None:
    """Serve the workbook on *port*, print the address of its start page and open it in a *browser*, until the server ends."""
    token, page = secrets.token_hex(24), f"notebooks/{lang}/00_start_here.ipynb"
    with running(lab.ROOT, STATE, port, token, DEPLOY / "jupyterlab" / lang) as (process, address):
        url = f"{address}/lab/tree/{page}?token={token}"
        print(lab.words(WORDS, "address", lang, url, page), flush=True)
        attend(process, url, browser, WORDS, lang)


def attend(process: subprocess.Popen[bytes], url: str, browser: bool, table: Words, lang: str) -> None:
    """Open *url* in a *browser*, and wait until the server *process* ends, which it does well only by its own menu."""
    if browser:
        webbrowser.open(url)
    if code := process.wait():
        sys.exit(lab.words(table, "ended", lang, code))
    print(lab.words(table, "stopped", lang), flush=True)


def main(serve: Callable[[int, str, bool], None] = open_notebooks, table: Words = WORDS) -> None:
    """Find a port and *serve* on it, in the language and with the browser that the arguments say; *table* has the words."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--lang", choices=("zh", "en"), required=True)
    parser.add_argument("--no-browser", action="store_true")
    parser.add_argument("--port", type=int)
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # so that the server is stopped too
    print(lab.words(table, "starting", args.lang), flush=True)
    try:
        while (port := free_port(args.port)) is not None:
            try:
                return serve(port, args.lang, has_display() and not args.no_browser)
            except ChildProcessError:
                if free_port(port) is not None:
                    sys.exit(lab.words(table, "died", args.lang))
                print(lab.words(table, "lost", args.lang, port), flush=True)
        sys.exit(lab.words(table, "taken", args.lang, args.port))
    except KeyboardInterrupt:
        print("\n" + lab.words(table, "stopped", args.lang), flush=True)


if __name__ == "__main__":
    main()

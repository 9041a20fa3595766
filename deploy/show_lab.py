"""Show the labs' explorers to a class, without code: what `python3 lab.py show` hands over to."""
import contextlib
import os
import secrets
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import lab
from deploy import open_lab, show_notebooks

STATE = open_lab.STATE / "show"
WORDS: open_lab.Words = open_lab.WORDS | {
    "starting": ("Getting the labs ready to be shown …", "正在准备演示 ……"),
    "address": ("The labs can be shown at\n\n    {0}\n\nCtrl-C here stops it.",
                "演示已经就绪，地址是\n\n    {0}\n\n在这里按 Ctrl-C 停止。"),
    "died": ("Voilà stopped before it was ready; what it said stands above.",
             "Voilà 还没准备好就退出了，原因见上面的输出。"),
    "ended": ("Voilà stopped by itself (exit code {0}); what it said stands above. Run lab.py show again.",
              "Voilà 自己退出了（退出码 {0}），原因见上面的输出。请再运行一次 lab.py show。"),
    "stopped": ("Stopped.", "已停止。"),
}


def server(port: int) -> list[str]:
    """The arguments after `python` that serve the working folder; the rest is in deploy/voila/voila.py."""
    return ["-m", "voila", f"--Voila.port={port}", f"--Voila.config_file_paths={open_lab.DEPLOY / 'voila'}"]


def variables(state: Path, token: str) -> dict[str, str]:
    """The server's environment, with our template after Voilà's own, since it takes its themes from the first place."""
    places = [Path(sys.prefix) / "share" / "jupyter", open_lab.DEPLOY]
    return open_lab.variables(state, token) | {"JUPYTER_PATH": os.pathsep.join(map(str, places))}


@contextlib.contextmanager
def running(state: Path, port: int, token: str, lang: str) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """Make the notebooks in *state* and serve them; give the process and its address when it answers, and stop it after."""
    folder, address = state / lang, f"http://127.0.0.1:{port}"
    show_notebooks.make(folder, lang)
    with open_lab.started(server(port), variables(state, token), folder,
                          lambda: open_lab.answers(address, token, "/voila/api/contents")) as process:
        yield process, address


def show(port: int, lang: str, browser: bool) -> None:
    """Serve the explorers on *port*, print the address of their list and open it in a *browser*, until the server ends."""
    token = secrets.token_hex(24)
    with running(STATE, port, token, lang) as (process, address):
        url = f"{address}/?token={token}"
        print(lab.words(WORDS, "address", lang, url), flush=True)
        open_lab.attend(process, url, browser, WORDS, lang)


if __name__ == "__main__":
    open_lab.main(show, WORDS)

"""The browser of the browser tests: where it is, and how to get one."""
import os
import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import Playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")
PACKAGES = ("chromium", "fonts-wqy-microhei")  # Debian's, with a font that has Chinese
ADVICE = "there is no browser; `python3 lab.py test --install-browser` gets one"
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync")


def find(playwright: Playwright) -> str | None:
    """The path of Playwright's own browser or, where that is missing, of the system's; None when there is none."""
    own = playwright.chromium.executable_path
    return own if Path(own).exists() else next(filter(None, map(shutil.which, NAMES)), None)


def installed() -> bool:
    """Whether Debian's packages are there; one that was removed is still known to dpkg, and is not."""
    ask = ["dpkg-query", "-W", "-f", "${db:Status-Status}\n", *PACKAGES]
    asked = subprocess.run(ask, capture_output=True, text=True, check=False)
    return asked.stdout.split() == ["installed"] * len(PACKAGES)


def install() -> None:
    """Install a browser: Debian's with a Chinese font where that can be done, else Playwright's own."""
    if hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get"):
        known = installed()
        env = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
        get = ["apt-get", "install", "-y", "--no-install-recommends", *PACKAGES]
        if known or not subprocess.call(get, env=env):
            return
        print("Once more, with a fresh list of packages …", flush=True)
        if not subprocess.call(["apt-get", "update"], env=env) and not subprocess.call(get, env=env):
            return
    subprocess.call([sys.executable, "-m", "playwright", "install", "chromium"])  # without it the browser tests will say so

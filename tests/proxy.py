"""The proxy of the hub's test: where it is, and how to get it."""
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HUB = ROOT / "deploy" / "hub"  # says the version of every package
PLACE = ROOT / ".lab" / "proxy"
ADVICE = "the hub has no proxy; `npm ci --prefix deploy/hub` installs it"


def find(place: Path = PLACE) -> str | None:
    """The path of the proxy, if it is in *place* in the version that is asked for and node can run it; else None."""
    program, lock = place / "node_modules" / ".bin" / "configurable-http-proxy", place / "package-lock.json"
    there = program.exists() and lock.is_file() and lock.read_bytes() == (HUB / "package-lock.json").read_bytes()
    return str(program) if there and shutil.which("node") else None


def install(place: Path = PLACE) -> None:
    """Install the proxy in *place*, from npm, unless it is there; without it the hub's tests will say so."""
    npm = shutil.which("npm")
    if npm is None or find(place):
        return
    place.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copyfile(HUB / name, place / name)
    subprocess.call([npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=place)

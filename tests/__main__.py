"""Everything that is checked, stage by stage: `python3 lab.py test`.

Without arguments all stages run, even after one has failed. With arguments only pytest runs, with them.
"""
import argparse
import os
import subprocess
import sys
import time

from tests import chromium, proxy

STAGES = {
    "ruff": ["ruff", "check", "."],
    "mypy": ["mypy"],
    "pytest": ["pytest", "-n", "2", "--dist", "loadfile", "--no-loadscope-reorder"],  # the slow files of the browser first
    "nbval": ["pytest", "--nbval", "--nbval-current-env", "-n", "2", "--dist", "loadscope", "notebooks/zh", "notebooks/en"],
}


def run(stages: dict[str, list[str]]) -> int:
    """Run *stages*, each with a headline and its seconds; the last line says which failed."""
    failed = []
    for name, arguments in stages.items():
        print(f"\n== {name}: {' '.join(arguments)}", flush=True)
        start = time.monotonic()
        if subprocess.run([sys.executable, "-m", *arguments], check=False).returncode:
            failed.append(name)
        print(f"== {name}: {'FAILED' if name in failed else 'passed'} in {time.monotonic() - start:.1f} s", flush=True)
    print(f"\n{'FAILED: ' + ', '.join(failed) if failed else 'Passed: ' + ', '.join(stages)}", flush=True)
    return 1 if failed else 0


def main() -> int:
    parser = argparse.ArgumentParser("lab.py test", epilog="any other arguments go to pytest, and only pytest runs")
    parser.add_argument("--install-browser", action="store_true", help="first install a browser and the hub's proxy")
    options, arguments = parser.parse_known_args()
    if options.install_browser or os.environ.get("CI") == "true":
        chromium.install()
        proxy.install()
    return run({"pytest": ["pytest", *arguments]} if arguments else STAGES)


if __name__ == "__main__":
    sys.exit(main())

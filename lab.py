"""The one command of the workbook.

    python3 lab.py              open the start page in JupyterLab
    python3 lab.py test         check everything
    python3 lab.py --help       the other verbs and the options

It makes the environment `.venv` when that is missing, which needs the network once, and hands over to a module. It imports
the standard library only, and its syntax is that of Python 3.6, so that an old Python can still say that it is too old.
"""
import argparse
import contextlib
import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
OLDEST = (3, 11)
VERBS = {  # name: (what Python runs, which extra of pyproject.toml it needs, what it does)
    "open": (["-m", "deploy.open_lab"], "", "open the start page; what lab.py does without a verb"),
    "test": (["-m", "tests"], "test", "check everything; with arguments, run pytest with them"),
    "bench": (["-m", "tests.benchmarks"], "test", "measure speed, beside other libraries"),
    "notebooks": (["notebooks/build.py"], "", "build the notebooks from their sources"),
}
WORDS = {
    "old": ("This is Python {0}; the workbook needs 3.11 or newer. Install it, or name another: python3.12 lab.py",
            "现在用的是 Python {0}，而练习册需要 3.11 或更新的版本。请安装新版，或换一个来运行：python3.12 lab.py"),
    "bare": ("This Python cannot make an environment: it lacks {0}. On Debian and Ubuntu: apt install python3-venv",
             "这个 Python 缺少 {0}，无法建立独立环境。Debian 和 Ubuntu 请先运行：apt install python3-venv"),
    "again": ("The environment .venv is unfinished, was moved here, or is another Python's. It is made anew.",
              "环境 .venv 没有装完，或是从别处搬来的，或属于另一个 Python。现在重新建立。"),
    "make": ("1 of 2: making the environment .venv …", "第 1 步，共 2 步：建立环境 .venv ……"),
    "install": ("2 of 2: installing packages; minutes the first time, then never again …",
                "第 2 步，共 2 步：安装所需的包。第一次要几分钟，以后不再需要……"),
    "failed": ("Set-up stopped: {0}\nIs the network there? Run lab.py again; it starts the set-up afresh.",
               "安装中断：{0}\n请检查网络，再运行一次 lab.py，它会从头装起。"),
    "verb": ("There is no verb '{0}'. There are: {1}. Without a verb, the workbook opens.",
             "没有“{0}”这个命令。可用的有：{1}。什么都不写，就打开练习册。"),
}


def language_of(environ, desktop=""):
    """The learner's language, "zh" or "en", as gettext reads *environ*; where that says nothing, as the *desktop* is set."""
    chosen = environ.get("LC_ALL") or environ.get("LC_MESSAGES") or environ.get("LANG") or desktop
    if chosen.split(".")[0] not in ("", "C", "POSIX"):
        chosen = environ.get("LANGUAGE") or chosen
    return "zh" if chosen.lower().startswith(("zh", "chinese")) else "en"


def desktop_language():
    """The language of the Windows or macOS desktop, or ""; elsewhere the environment is all there is."""
    with contextlib.suppress(OSError, AttributeError, subprocess.SubprocessError):
        if os.name == "nt":
            import ctypes
            import locale

            return locale.windows_locale.get(ctypes.windll.kernel32.GetUserDefaultUILanguage(), "")
        if sys.platform == "darwin":
            return subprocess.check_output(["defaults", "read", "-g", "AppleLocale"], stderr=subprocess.DEVNULL).decode()
    return ""


def words(table, key, lang, *values):
    """The sentence *key* of *table*, which holds English and Chinese."""
    return table[key][lang == "zh"].format(*values)


def python_of(venv):
    """The interpreter of the environment *venv*."""
    return venv / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def environment(venv):
    """The variables for a child: *venv* comes first, and nothing of another Python gets in."""
    env = {name: value for name, value in os.environ.items() if name not in ("PYTHONHOME", "PYTHONPATH")}
    return dict(env, VIRTUAL_ENV=str(venv), PATH=str(python_of(venv).parent) + os.pathsep + os.environ.get("PATH", ""))


def wanted(root, venv):
    """What the stamp of a finished *venv* says: where it stands, for which Python, and a digest of what is asked for."""
    files = b"\0".join((root / name).read_bytes() for name in ("requirements.txt", "constraints.txt", "pyproject.toml"))
    return {"place": str(venv), "python": list(sys.version_info[:2]), "asked": hashlib.sha256(files).hexdigest()}


def state_of(root, venv, extra):
    """How *venv* is: "ready", "install" (something is missing), "make" (there is none), "again" (it must be made anew)."""
    if not os.path.lexists(str(venv)):
        return "make"
    if not python_of(venv).exists():  # killed while it was made, or its Python was removed
        return "again"
    want = wanted(root, venv)
    try:
        stamp = json.loads((venv / "lab.json").read_text("utf-8"))
        if stamp["unfinished"] or any(stamp[name] != want[name] for name in ("place", "python")):
            return "again"
        return "ready" if stamp["asked"] == want["asked"] and (extra in stamp["extras"] or not extra) else "install"
    except FileNotFoundError:  # made by hand; taken over when its Python fits and its paths are those of this folder
        probe = f"import pip, sys; print(sys.version_info[:2] == {sys.version_info[:2]})"
        fits = subprocess.run([str(python_of(venv)), "-c", probe], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        config = venv / "pyvenv.cfg"
        here = config.exists() and str(venv) in config.read_text("utf-8", "replace")
        return "install" if here and fits.stdout.strip() == b"True" else "again"
    except (ValueError, KeyError):
        return "again"


def set_up(root, venv, extra, lang):
    """Make *venv* when it is missing or broken, and install what is asked for; return at once when all is there."""
    state = state_of(root, venv, extra)
    if state == "ready":
        return
    missing = [name for name in ("venv", "ensurepip") if importlib.util.find_spec(name) is None]
    if missing:
        sys.exit(words(WORDS, "bare", lang, ", ".join(missing)))

    def say(key):
        print(words(WORDS, key, lang), flush=True)

    stamp, extras, before = venv / "lab.json", {extra} - {""}, ""
    with contextlib.suppress(OSError, ValueError, KeyError):
        before = stamp.read_text("utf-8")
        extras |= set(json.loads(before)["extras"])
    mark = dict(wanted(root, venv), extras=sorted(extras), unfinished=True)
    try:
        if state == "again":
            say("again")
            shutil.rmtree(str(venv))
        venv.mkdir(exist_ok=True)
        stamp.write_text(json.dumps(mark), "utf-8")
        if state != "install":
            say("make")
            subprocess.check_call([getattr(sys, "_base_executable", sys.executable), "-m", "venv", str(venv)])
        say("install")
        project = ["-c", "constraints.txt", "-e", ".[" + ",".join(sorted(extras)) + "]"] if extras else []
        pip = [str(python_of(venv)), "-m", "pip", "install", "--disable-pip-version-check", "-r", "requirements.txt"]
        subprocess.check_call(pip + project, cwd=str(root), env=environment(venv))
        stamp.write_text(json.dumps(dict(mark, unfinished=False)), "utf-8")
    except KeyboardInterrupt:
        sys.exit(130)
    except (OSError, subprocess.CalledProcessError) as error:
        if state == "install" and before:  # pip has put back what it changed: without network, what was there still works
            stamp.write_text(before, "utf-8")
        elif state == "install":
            stamp.unlink()
        sys.exit(words(WORDS, "failed", lang, error))


def hand_over(verb, arguments):
    """Run *verb* in the environment: in place of this process, or on Windows beside it."""
    command = [str(python_of(VENV))] + VERBS[verb][0] + arguments
    os.chdir(str(ROOT))
    if os.name != "nt":
        sys.stdout.flush()
        os.execve(command[0], command, environment(VENV))
    with contextlib.suppress(KeyboardInterrupt):
        return subprocess.call(command, env=environment(VENV))
    return 130


def main(argv):
    lang = language_of(os.environ, desktop_language())
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a console that lacks a character shows "?" instead of stopping us
            stream.reconfigure(errors="replace")
    if sys.version_info < OLDEST:
        sys.exit(words(WORDS, "old", lang, ".".join(map(str, sys.version_info[:2]))))
    verb, arguments = (argv[0], argv[1:]) if argv and not argv[0].startswith("-") else ("open", argv)
    if verb not in VERBS:
        sys.exit(words(WORDS, "verb", lang, verb, ", ".join(VERBS)))
    if verb == "open":
        parser = argparse.ArgumentParser(
            "lab.py", "lab.py [--lang zh|en] [--no-browser] [--port N]  |  lab.py VERB …", "Open the workbook in JupyterLab.",
            "verbs:\n" + "\n".join(f"  {name:<12}{verb[2]}" for name, verb in VERBS.items()),
            formatter_class=argparse.RawDescriptionHelpFormatter)
        parser.add_argument("--lang", choices=("zh", "en"), default=lang, help="of the notebooks and of JupyterLab")
        parser.add_argument("--no-browser", action="store_true", help="only print the address")
        parser.add_argument("--port", type=int, help="on 127.0.0.1; else the first free one from 8888 on")
        lang = parser.parse_args(arguments).lang
        arguments = ["--lang", lang, *arguments]
    set_up(ROOT, VENV, VERBS[verb][1], lang)
    return hand_over(verb, arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

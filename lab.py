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
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
OLDEST = (3, 11)
VERBS = {  # name: (what Python runs, which extra of pyproject.toml it needs, what it does)
    "open": (["-m", "deploy.open_lab"], "", "open the start page; what lab.py does without a verb"),
    "test": (["-m", "tests"], "test", "check everything; with arguments, run pytest with them"),
    "bench": (["-m", "tests.benchmarks"], "test", "measure speed, beside other libraries"),
    "soak": (["-m", "tests.sessionlog.soak"], "test", "kill a recorder a thousand times and check what is kept"),
    "notebooks": (["notebooks/build.py"], "", "build the notebooks from their sources"),
    "show": (["-m", "deploy.show_lab"], "show", "show the explorers to a class, without their code; options as for open"),
    "answers": (["notebooks/build.py", "--solved", "build/answers"], "", "build them with the answers in, in build/answers"),
    "release": (["notebooks/release.py"], "class", "make a course for nbgrader, with and without the answers"),
    "class": (["-m", "labsupport.classroom.students"], "class", "give each student of a course their own logs"),
    "grade": (["-m", "labsupport.classroom.grade"], "class", "grade what was handed in, and show where the class is stuck"),
}
EXTRAS = sorted({extra for _, extra, _ in VERBS.values()})
ASKED = ("requirements.txt", "constraints.txt", "pyproject.toml")  # what says which packages are needed
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
    "failed": ("Set-up stopped: {0}\n"
               "Is the network there? What pip said stands above. Run lab.py again; it starts the set-up afresh.",
               "安装中断：{0}\n原因见上面 pip 的输出。请检查网络，再运行一次 lab.py，它会从头装起。"),
    "unmade": ("The environment could not be made: {0}\nOnce that is mended, run lab.py again; it starts the set-up afresh.",
               "独立环境没有建成：{0}\n解决这个问题后，再运行一次 lab.py，它会从头装起。"),
    "absent": ("{0} is missing in {1}: this is not the whole workbook. Get it again, and run the lab.py in its folder.",
               "{1} 里缺少 {0}：练习册不完整。请重新下载，再运行那个文件夹里的 lab.py。"),
    "colon": ("Python makes no environment in a folder with '{1}' in its path: {0}\nRename the folder, then run lab.py again.",
              "路径里有“{1}”，Python 无法在这里建立独立环境：{0}\n请给文件夹改名，再运行一次 lab.py。"),
    "file": ("{0} is a file, and the environment needs a folder of that name. Rename or delete it, then run lab.py again.",
             "{0} 是一个文件，而独立环境要用这个名字建文件夹。请把它改名或删除，再运行一次 lab.py。"),
    "link": ("{0} is a link, and where it leads is no environment that works here.\n"
             "Delete the link (what it leads to stays), then run lab.py again.",
             "{0} 是一个链接，它指向的地方没有能在这里使用的环境。\n请删除链接（它指向的内容不受影响），再运行一次 lab.py。"),
    "closed": ("Nothing can be written here: {0}\nCopy the workbook to a folder of your own and run lab.py there.",
               "这里不能写入：{0}\n请把练习册复制到你自己的文件夹，在那里运行 lab.py。"),
    "wait": ("Another lab.py is installing here; waiting until it is done …",
             "另一个 lab.py 正在这里安装，等它装完再继续……"),
    "port": ("a port is a number from 1 to 65535, and {0} is not; without --port, a free one is taken",
             "端口是 1 到 65535 之间的整数，{0} 不是；不写 --port 就自动选一个空闲的"),
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


def stamp_of(venv):
    """What the stamp in *venv* says: None when there is none, {} when it is damaged."""
    try:
        stamp = json.loads((venv / "lab.json").read_text("utf-8"))
        return stamp if isinstance(stamp, dict) and all(extra in EXTRAS for extra in stamp["extras"]) else {}
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}


def works(venv, *packages):
    """Whether the interpreter of *venv* starts, is of this version and finds *packages*; importing them would take seconds."""
    probe = ("import sys; from importlib.util import find_spec; "
             f"sys.exit(sys.version_info[:2] != {sys.version_info[:2]} or not all(map(find_spec, {packages})))")
    with contextlib.suppress(OSError):
        command = [str(python_of(venv)), "-I", "-c", probe]
        return subprocess.call(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) == 0
    return False


def state_of(root, venv, extra):
    """How *venv* is: "ready", "install" (something is missing), "make" (there is none), "again" (it must be made anew)."""
    if not os.path.lexists(str(venv)):
        return "make"
    want, stamp = wanted(root, venv), stamp_of(venv)
    if stamp is None:  # made by hand; taken over when it works and its paths are those of this folder
        config = venv / "pyvenv.cfg"
        here = config.is_file() and str(venv) in config.read_text("utf-8", "replace")
        return "install" if here and works(venv, "pip") else "again"
    if stamp.get("unfinished") is not False or any(stamp.get(name) != want[name] for name in ("place", "python")):
        return "again"
    if not works(venv, "jupyterlab", "labsupport"):  # a part of it was removed, or its Python was
        return "again"
    return "ready" if stamp.get("asked") == want["asked"] and (extra in stamp["extras"] or not extra) else "install"


def obstacle(venv, state):
    """Why no environment can be made at *venv*, as a key of WORDS and its value; "" when nothing stands in the way."""
    missing = [name for name in ("venv", "ensurepip") if importlib.util.find_spec(name) is None]
    if missing:
        return "bare", ", ".join(missing)
    if os.pathsep in str(venv):
        return "colon", venv
    if venv.is_symlink() and state == "again":  # nothing outside this folder is ours to remove
        return "link", venv
    return ("file", venv) if os.path.lexists(str(venv)) and not venv.is_dir() else ("", "")


def lock(file):
    """Lock *file*, for as long as this process or a child that was given it lives; False when another process has it."""
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:  # a disk that knows no locks
        pass
    return True


@contextlib.contextmanager
def alone(root, lang):
    """Be the only lab.py that changes the environment in *root*, after any other that does so now; give the locked file."""
    try:
        (root / ".lab").mkdir(exist_ok=True)
        file = (root / ".lab" / "setup.lock").open("a")
    except OSError as error:
        sys.exit(words(WORDS, "closed", lang, error))
    with file:
        if not lock(file):
            print(words(WORDS, "wait", lang), flush=True)
            while not lock(file):
                time.sleep(0.3)
        yield file


def set_up(root, venv, extra, lang):
    """Make *venv* when it is missing or broken, and install what is asked for; return at once when all is there."""
    absent = [name for name in ASKED if not (root / name).is_file()]
    if absent:
        sys.exit(words(WORDS, "absent", lang, ", ".join(absent), root))
    state = state_of(root, venv, extra)
    if state == "ready":
        return
    reason, value = obstacle(venv, state)
    if reason:
        sys.exit(words(WORDS, reason, lang, value, os.pathsep))
    with alone(root, lang) as file:
        state = state_of(root, venv, extra)  # the one that was waited for may have done it
        if state != "ready":
            install(root, venv, extra, lang, state, file)


def install(root, venv, extra, lang, state, file):
    """Bring *venv* from *state* to "ready". The children hold the lock on *file* too: killed alone, we leave them to work."""
    def say(key):
        print(words(WORDS, key, lang), flush=True)

    def call(command, **options):
        kept = () if os.name == "nt" else (file.fileno(),)
        subprocess.check_call(command, pass_fds=kept, **options)

    stamp, before = venv / "lab.json", stamp_of(venv)
    extras = sorted({extra, *(before or {}).get("extras", ())} - {""})
    mark, reason = dict(wanted(root, venv), extras=extras, unfinished=True), "unmade"
    try:
        if state == "again":
            say("again")
            shutil.rmtree(str(venv))
        venv.mkdir(exist_ok=True)
        stamp.write_text(json.dumps(mark), "utf-8")
        if state != "install":
            say("make")
            call([getattr(sys, "_base_executable", sys.executable), "-m", "venv", str(venv)])
        say("install")
        reason = "failed"
        project = ["-c", "constraints.txt", "-e", ".[" + ",".join(extras) + "]"] if extras else []
        pip = [str(python_of(venv)), "-m", "pip", "install", "--disable-pip-version-check", "-r", "requirements.txt"]
        call(pip + project, cwd=str(root), env=environment(venv))
        stamp.write_text(json.dumps(dict(mark, unfinished=False)), "utf-8")
    except (OSError, subprocess.CalledProcessError) as error:
        with contextlib.suppress(OSError):
            if state == "install" and before:  # pip has put back what it changed: without network, what was there still works
                stamp.write_text(json.dumps(before), "utf-8")
            elif state == "install":
                stamp.unlink()
        sys.exit(words(WORDS, reason, lang, error))


def hand_over(verb, arguments):
    """Run *verb* in the environment: in place of this process, or on Windows beside it."""
    command = [str(python_of(VENV))] + VERBS[verb][0] + arguments
    os.environ["LAB_FROM"] = os.getcwd()  # folders that are named are seen from there
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
    if verb in ("open", "show"):
        choices = "[--lang zh|en] [--no-browser] [--port N]"
        usage, about = {
            "open": ("lab.py " + choices + "  |  lab.py VERB …", "Open the workbook in JupyterLab."),
            "show": ("lab.py show " + choices, "Show the labs' explorers to a class, without their code."),
        }[verb]
        verbs = "verbs:\n" + "\n".join(f"  {name:<12}{what}" for name, (_, _, what) in VERBS.items())
        parser = argparse.ArgumentParser(
            "lab.py", usage, about, verbs if verb == "open" else None, formatter_class=argparse.RawDescriptionHelpFormatter)
        parser.add_argument("--lang", choices=("zh", "en"), default=lang, help="of the notebooks and of JupyterLab")
        parser.add_argument("--no-browser", action="store_true", help="only print the address")
        parser.add_argument("--port", type=int, help="on 127.0.0.1; else the first free one from 8888 on")
        options = parser.parse_args(arguments)
        lang = options.lang
        if options.port is not None and not 1 <= options.port <= 65535:
            parser.error(words(WORDS, "port", lang, options.port))
        arguments = ["--lang", lang, *arguments]
    try:
        set_up(ROOT, VENV, VERBS[verb][1], lang)
    except KeyboardInterrupt:
        return 130
    return hand_over(verb, arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

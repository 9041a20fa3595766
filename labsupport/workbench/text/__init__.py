"""Every word that code shows to a learner, in Chinese and in English.

One module a lab, each with a dict `WORDS`; all of them are one vocabulary, so a key is used once. A word may have a
third form, `one`: English for exactly one (`n=1`). Figures in a sentence are put between two stars, `**{n:,}**`:
a picture prints them bold, a plain sentence leaves the stars out.
"""
import locale
import os
import pkgutil
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Literal

Language = Literal["zh", "en"]
LANGUAGES: tuple[Language, ...] = ("zh", "en")
_spoken: ContextVar[Language | None] = ContextVar("spoken", default=None)


def language(folder: Path | None = None) -> Language:
    """zh or en: what the file `.lang` says in *folder* (the kernel's working folder) or in the nearest folder above.

    Without such a file it is the language of the system: Chinese, or else English.
    """
    folder = Path.cwd() if folder is None else folder
    for place in (folder, *folder.parents):
        if (place / ".lang").is_file():
            said = (place / ".lang").read_text("utf-8").strip()
            return next((lang for lang in LANGUAGES if lang == said), system_language())
    return system_language()


def system_language() -> Language:
    """zh where the system speaks Chinese, else en."""
    named = [os.environ.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG")]
    said = next((name for name in named if name), None) or locale.getlocale()[0] or ""
    return "zh" if said.lower().startswith(("zh", "chinese")) else "en"  # Windows says "Chinese (Simplified)_China"


@contextmanager
def speaking(lang: Language) -> Iterator[None]:
    """Speak *lang* inside the block, whatever the notebook's language is.

    >>> with speaking("zh"):
    ...     say("role_user")
    '用户'
    """
    token = _spoken.set(lang)
    try:
        yield
    finally:
        _spoken.reset(token)


def spoken() -> Language:
    """The language that `say` speaks now."""
    return _spoken.get() or _notebook_language()


def say(key: str, /, **values: object) -> str:
    """The words *key* in the notebook's language, with *values* put in.

    >>> with speaking("en"):
    ...     say("guess_other", guess=2, found=3)
    'You predicted 2; it is 3.'

    Unknown keys and missing values raise KeyError.
    """
    lang = spoken()
    forms = vocabulary()[key]
    form = "one" if lang == "en" and "one" in forms and values.get("n") == 1 else lang
    return forms[form].format(**values)


@cache
def _notebook_language() -> Language:  # read once a process: a kernel has one notebook
    return language()


@cache
def vocabulary() -> dict[str, dict[str, str]]:
    """All words of all modules of this package; ValueError when two of them claim the same key."""
    words: dict[str, dict[str, str]] = {}
    for module in pkgutil.iter_modules(__path__):
        for key, forms in import_module(f"{__name__}.{module.name}").WORDS.items():
            if key in words:
                raise ValueError(f"text/{module.name}.py: the key {key!r} is taken by another module")
            words[key] = forms
    return words

"""The self-test of the start page: can this installation run the labs? Facts only, the same words on every machine."""
import re
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import ipywidgets as widgets

from labsupport.workbench.pictures.base import page
from labsupport.workbench.show import Explorer
from labsupport.workbench.text import LANGUAGES, say

ROOT = Path(__file__).resolve().parents[2]
OLDEST = (3, 11)


@dataclass(frozen=True)
class Fact:
    """One question of the self-test: the key of its words, whether the answer is yes, and what was found if it is no."""

    key: str
    good: bool
    found: str = ""

    def __str__(self) -> str:
        if self.good:
            return say("selftest_yes", fact=say(self.key))
        return say("selftest_no", fact=say(self.key), found=self.found)


@dataclass(frozen=True)
class Report:
    """All facts, one a line, and a last line that says what to do."""

    facts: tuple[Fact, ...]

    @property
    def good(self) -> bool:
        return all(fact.good for fact in self.facts)

    def __str__(self) -> str:
        return "\n".join([*map(str, self.facts), "", say("selftest_ready" if self.good else "selftest_repair")])


def self_test() -> Report:
    """Ask every question; an error is the answer no, so that one missing package does not hide the other answers."""
    return Report(tuple(_fact(key, question) for key, question in QUESTIONS.items()))


def slider_test() -> Explorer:
    """A slider and a sentence that repeats its value: it moves only when browser and kernel talk to each other."""
    slider = widgets.IntSlider(3, min=0, max=10, description=say("selftest_slider"))
    return Explorer(lambda n: page(say("selftest_slider_label"), say("selftest_slider_at", value=n)), n=slider)


def _fact(key: str, question: Callable[[], str]) -> Fact:
    try:
        found = question()
    except Exception as error:  # noqa: BLE001  whatever is broken here is what the self-test is for
        found = f"{type(error).__name__}: {error}"
    return Fact(key, not found, found)


# Each question returns what is wrong, or an empty string. Imports stand inside: a package that is missing is an answer.

def _python() -> str:
    return "" if sys.version_info >= OLDEST else sys.version.split()[0]


def _packages() -> str:
    pins = dict(re.findall(r"(?m)^([\w.-]+)==(\S+)", (ROOT / "constraints.txt").read_text("utf-8")))
    direct = set(re.findall(r"(?m)^[A-Za-z][\w.-]*", (ROOT / "requirements.txt").read_text("utf-8")))
    return ", ".join(f"{name} {_version(name)}" for name in sorted(direct & pins.keys()) if _version(name) != pins[name])


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "–"


def _tokenizer() -> str:
    from labsupport.sessionlog.tokens import count_tokens

    return "" if count_tokens("预算 budget") > 0 else "0"


def _session() -> str:
    from labsupport.miniagent import UserMessage, append_session, load_session

    message = UserMessage("写下，再读回 · written, and read back")
    with tempfile.TemporaryDirectory() as folder:
        append_session(Path(folder) / "session.jsonl", message)
        return "" if load_session(Path(folder) / "session.jsonl") == [message] else "≠"


def _language() -> str:
    place = Path.cwd() / ".lang"
    return "" if place.is_file() and place.read_text("utf-8").strip() in LANGUAGES else ".lang"


QUESTIONS = {
    "selftest_python": _python,
    "selftest_packages": _packages,
    "selftest_tokenizer": _tokenizer,
    "selftest_session": _session,
    "selftest_language": _language,
}

"""Lab B10: delete something, as somebody, with a legal hold or without, and see what can still be rebuilt and read."""
import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path

import ipywidgets as widgets

from labsupport.sessionlog import SessionHeader
from labsupport.sessionlog.privacy import reveal_log
from labsupport.sessionlog.retention import hold_on
from labsupport.sessionlog.roles import AUDITOR, OFFICER, SUPPORT
from labsupport.workbench.erasing import attempt, look, targets
from labsupport.workbench.pictures.privacy import ROLE_WORDS, TARGET_WORDS, privacy_picture
from labsupport.workbench.privacy_scene import CASE, LOGS, START, VISIT, opened, settle, stored
from labsupport.workbench.show import Explorer
from labsupport.workbench.text import say

ROLES = {role.name: role for role in (OFFICER, AUDITOR, SUPPORT)}


def privacy_explorer(*, show_text: bool = False) -> Explorer:
    """Three menus: `target` says what is deleted, `role` who asks, `hold` whether a legal hold is on the visit.

    Every combination is done for real, on a copy of the clinic of its own.
    """
    clinic = _clinic()
    before = look(clinic, LOGS)

    @cache
    def draw(target: str, role: str, hold: bool) -> str:
        with tempfile.TemporaryDirectory() as outer:
            folder = shutil.copytree(clinic, Path(outer) / "clinic")
            logs = stored(folder)
            holds = [hold_on(CASE, VISIT, logs[VISIT])] if hold else []
            now = attempt(folder, LOGS, targets(logs)[target], ROLES[role], holds)
            with opened(folder) as vault:
                events = reveal_log(stored(folder).get(VISIT, []), vault).events
        return privacy_picture(SessionHeader(VISIT, START), events, before, now, target, ROLES[role], hold, show_text)

    return Explorer(
        draw,
        target=widgets.Dropdown(options=[(say(words), name) for name, words in TARGET_WORDS.items()], value="nothing",
                                description=say("b10_menu_target")),
        role=widgets.Dropdown(options=[(say(words), name) for name, words in ROLE_WORDS.items()], value="officer",
                              description=say("b10_menu_role")),
        hold=widgets.Dropdown(options=[(say("b10_menu_no_hold"), False), (say("b10_menu_held"), True)], value=False,
                              description=say("b10_menu_hold")))


@cache
def _clinic() -> Path:
    """A folder with the clinic in it, which goes away with the kernel."""
    folder = Path(tempfile.mkdtemp(prefix="lab-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    settle(folder / "clinic")
    return folder / "clinic"

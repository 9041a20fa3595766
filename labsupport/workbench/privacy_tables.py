"""Lab B10's tables: classes, levels, places, and what a deletion does not reach."""
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from labsupport.sessionlog import SessionEvent
from labsupport.sessionlog.fields import CLASSES
from labsupport.sessionlog.privacy import Policy, RequestLevel
from labsupport.workbench.erasing import PLACES, Erasure, contents, says
from labsupport.workbench.pictures.privacy import (
    FOUND_WORDS,
    LEFT_WORDS,
    LEVEL_WORDS,
    PLACE_WORDS,
    TARGET_WORDS,
    needs_words,
)
from labsupport.workbench.privacy_scene import NAME
from labsupport.workbench.tables import TextTable
from labsupport.workbench.text import say

HOW_WORDS = {"plain": "b10_how_plain", "key": "b10_how_key", "reference": "b10_how_reference"}
CLASS_WORDS = {"prompt": "b10_class_prompt", "instruction": "b10_class_instruction", "answer": "b10_class_answer",
               "tool": "b10_class_tool", "chunk": "b10_class_chunk", "summary": "b10_class_summary",
               "error": "b10_class_error", "title": "b10_class_title", "other": "b10_class_other"}


def class_table(events: Iterable[SessionEvent], policy: Policy, word: str = NAME) -> pd.DataFrame:
    """Each class of content: what it is, how the policy keeps it, how many pieces the log has, and whether one says *word*."""
    found = contents(events)
    rows = [(kind, say(CLASS_WORDS[kind]), say(HOW_WORDS[policy.get(kind, "key")]), len(found.get(kind, ())),
             _yes(says(found.get(kind, []), word))) for kind in CLASSES]
    return _table(["b10_col_class", "b10_col_what", "b10_col_how", "b10_col_pieces", "b10_col_name"], rows)


def level_table(levels: Mapping[str, Sequence[RequestLevel]]) -> pd.DataFrame:
    """Every request of every log: how it can be rebuilt, and what that needs."""
    rows = [(id, level.seq, say(LEVEL_WORDS[level.level][1]), needs_words(level))
            for id, found in levels.items() for level in found]
    return _table(["b10_col_session", "b10_col_seq", "b10_col_level", "b10_col_needs"], rows)


def place_table(**looked: Mapping[str, bool | None]) -> pd.DataFrame:
    """Where the name can be read, one column for each look, by the name of what was deleted."""
    rows = [(say(PLACE_WORDS[place]), *(say(FOUND_WORDS[found[place]]) for found in looked.values())) for place in PLACES]
    columns = [say("b10_col_place"), *(say(TARGET_WORDS[name]) for name in looked)]
    return TextTable(rows, columns=pd.Index(columns), index=range(1, len(rows) + 1))


def left_table(**done: Erasure) -> pd.DataFrame:
    """What each deletion does not reach, by the name of what was deleted."""
    rows = [(say(TARGET_WORDS[name]), say("b10_list").join(say(LEFT_WORDS[left]) for left in erased.unreached))
            for name, erased in done.items()]
    return _table(["b10_col_target", "b10_unreached"], rows)


def _yes(value: bool) -> str:
    return say("b10_found" if value else "b10_not_found")


def _table(columns: Sequence[str], rows: Sequence[Any]) -> pd.DataFrame:
    return TextTable(rows, columns=pd.Index([say(name) for name in columns]), index=range(1, len(rows) + 1))

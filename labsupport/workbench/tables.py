"""Tables that a notebook shows: pandas DataFrames with plain columns."""
from collections.abc import Iterable, Mapping

import pandas as pd

from labsupport.errors import SessionFileError
from labsupport.lossless import js_json
from labsupport.miniagent import parse_session_message, session_message_problem
from labsupport.workbench.breakage import load_bytes, problem_words, read_line, split_lines
from labsupport.workbench.text import say


def verdict_table(values: Iterable[object]) -> pd.DataFrame:
    """Decoded JSON *values*, what the parser answers for each, and why it is no message where it is none."""
    rows: list[tuple[object, ...]] = []
    for value in values:
        message, problem = parse_session_message(value), session_message_problem(value)
        verdict = type(message).__name__ if message is not None else "None"
        rows.append((js_json(value), verdict, problem_words(problem) if problem else ""))
    return _table([say("a1_table_value"), say("a1_table_verdict"), say("a1_table_why")], rows)


def load_table(files: Mapping[str, bytes]) -> pd.DataFrame:
    """What load makes of *files* (a name and the bytes for each): so many messages, or the error about a line, and why."""
    rows: list[tuple[object, ...]] = []
    for name, data in files.items():
        result = load_bytes(data)
        if isinstance(result, SessionFileError):
            why = read_line(split_lines(data)[result.line - 1]).why
            rows.append((name, type(result).__name__, result.line, why))
        else:
            rows.append((name, say("messages", n=len(result)), "", ""))
    return _table([say("a1_table_file"), "load_session", say("a1_col_line"), say("a1_table_why")], rows)


def _table(columns: list[str], rows: list[tuple[object, ...]]) -> pd.DataFrame:
    pd.set_option("display.max_colwidth", None)  # pandas would cut a value after 50 characters, and hide what decides
    return pd.DataFrame(rows, columns=columns, index=range(1, len(rows) + 1))

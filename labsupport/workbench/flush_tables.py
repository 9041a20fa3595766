"""Lab B7's tables: what was found after a kill."""
from collections.abc import Iterable

import pandas as pd

from labsupport.workbench.flush_kills import FLUSHED, PLAYED, Death
from labsupport.workbench.mail_task import Point
from labsupport.workbench.pictures.flush import policy_words
from labsupport.workbench.recovery_tables import moment
from labsupport.workbench.tables import TextTable
from labsupport.workbench.text import say

ENDS = {PLAYED: "b7_at_played", FLUSHED: "b7_at_flushed"}


def death_table(deaths: Iterable[Death]) -> pd.DataFrame:
    """One row a kill: the policy, when, how many events were appended, covered by a returned flush, and found afterwards."""
    rows = [(policy_words(death.policy), _when(death.point), death.appended, death.covered, death.found) for death in deaths]
    return TextTable(rows, columns=[say("b7_col_policy"), say("b4_col_when"), say("b7_col_appended"), say("b7_col_covered"),
                                    say("b7_col_found")], index=range(1, len(rows) + 1))


def _when(point: Point) -> str:
    return say(ENDS[point]) if point in ENDS else moment(point)

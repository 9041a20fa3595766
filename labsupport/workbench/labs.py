"""The labs that are built, in the order of the road. The map, the links between notebooks and the tests read this list."""
from dataclasses import dataclass

from labsupport.workbench.text import say


@dataclass(frozen=True)
class Lab:
    """One lab: its *id*, the *name* of its notebook, where it belongs, and the keys of its title and its question."""

    id: str
    name: str
    chapter: str
    module: str
    minutes: int
    title_key: str
    question_key: str

    @property
    def title(self) -> str:
        return say(self.title_key)

    @property
    def question(self) -> str:
        return say(self.question_key)


LABS = (
    Lab("00", "00_start_here", "34, 4", "–", 10, "lab_00_title", "lab_00_question"),
    Lab("A1", "a1_parse_and_load", "34", "miniagent/session.py", 40, "lab_a1_title", "lab_a1_question"),
    Lab("A2", "a2_trim_to_a_budget", "34", "miniagent/context.py", 35, "lab_a2_title", "lab_a2_question"),
    Lab("A3", "a3_two_states", "34", "miniagent/agent.py", 30, "lab_a3_title", "lab_a3_question"),
    Lab("B1", "b1_two_step_tool_task", "4", "sessionlog/driver.py", 40, "lab_b1_title", "lab_b1_question"),
    Lab("B2", "b2_derive_messages", "4", "sessionlog/surface.py", 40, "lab_b2_title", "lab_b2_question"),
    Lab("B3", "b3_pure_projections", "4", "sessionlog/projections.py", 60, "lab_b3_title", "lab_b3_question"),
    Lab("B4", "b4_truncate_and_recover", "4", "sessionlog/recovery.py", 45, "lab_b4_title", "lab_b4_question"),
    Lab("B5", "b5_compaction_diff", "4", "sessionlog/compaction.py", 60, "lab_b5_title", "lab_b5_question"),
    Lab("B6", "b6_a_whole_request", "4", "sessionlog/request.py", 50, "lab_b6_title", "lab_b6_question"),
    Lab("B7", "b7_durability", "4", "sessionlog/storage/writers.py", 50, "lab_b7_title", "lab_b7_question"),
    Lab("B8", "b8_fork_resume_replay", "4", "sessionlog/lineage.py", 55, "lab_b8_title", "lab_b8_question"),
    Lab("B9", "b9_business_state", "4", "outside/ledger.py", 50, "lab_b9_title", "lab_b9_question"),
    Lab("B10", "b10_privacy", "4", "sessionlog/privacy.py", 50, "lab_b10_title", "lab_b10_question"),
    Lab("B11", "b11_clinic", "4", "workbench/clinic/diagnose.py", 50, "lab_b11_title", "lab_b11_question"),
)

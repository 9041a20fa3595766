"""Lab B4's real process: killed at every point of its recording, with the barrier before tools and without it."""
import pytest

from labsupport.errors import LabError
from labsupport.sessionlog import check_invariants
from labsupport.sessionlog.storage import scan_log
from labsupport.workbench import crash
from labsupport.workbench.crash import Death, kill, killed, points, points_from, retry_not_started
from labsupport.workbench.mail_task import MAIL, Point, outbox, ran, record
from labsupport.workbench.recovery_tables import MOMENTS, death_table, log_verdicts, moment, two_rules
from labsupport.workbench.text import speaking

MAIL_IS_OUT = Point("done", "send_mail")


def test_the_recording_is_the_same_every_time_and_a_good_log(tmp_path):
    for name, options in (("one", {}), ("two", {}), ("three", {"barrier_before_tools": False})):
        (tmp_path / name).mkdir()
        record(tmp_path / name, **options)
    logs = [(tmp_path / name / "mail.jsonl").read_bytes() for name in ("one", "two", "three")]
    assert logs[0] == logs[1] == logs[2]
    assert check_invariants(scan_log(logs[0]).events) == []
    assert outbox(tmp_path / "one") == [MAIL]
    assert ran(tmp_path / "one") == ["send_mail", "sum_column"]


def test_the_points_differ_and_the_barrier_adds_its_writes():
    with_barrier, without = points(), points(False)
    assert len(set(with_barrier)) == len(with_barrier)
    assert len(with_barrier) - len(without) == 6  # two writes, three points each
    assert {point.kind for point in with_barrier} == set(MOMENTS)


def test_a_seed_picks_different_points_in_their_order():
    picked = points_from(4, 10)
    assert picked == points_from(4, 10) != points_from(5, 10)
    assert len(set(picked)) == 10
    assert picked == sorted(picked, key=points().index)


@pytest.mark.slow
def test_at_every_point_nothing_durable_is_lost_and_no_tool_that_ran_is_said_not_to_have_started():
    deaths = killed(points())
    assert [death.point for death in deaths] == list(points())
    assert [(death.lost, death.lies) for death in deaths] == [(0, [])] * len(deaths)
    assert sum(death.torn > 0 for death in deaths) == 6  # in the middle of each write but the first, which leaves no log
    assert {code for death in deaths for code in death.said.values()} == {
        "answered", "TOOL_NOT_STARTED", "TOOL_OUTCOME_UNKNOWN"}
    for death in deaths:
        assert check_invariants(death.events) == []
        assert set(death.started) >= {"send_mail"} if death.said.get("c1") == "answered" else True


@pytest.mark.slow
def test_without_the_barrier_nothing_durable_is_lost_but_the_log_lies():
    deaths = killed(points(False), barrier_before_tools=False)
    assert {death.lost for death in deaths} == {0}
    lying = [death.point for death in deaths if death.lies]
    assert lying[0] == Point("tool", "send_mail")
    assert lying[-1] == Point("half", "", 3)
    assert MAIL_IS_OUT in lying


def test_believing_the_log_sends_twice_without_the_barrier(tmp_path):
    safe = kill(tmp_path / "safe", MAIL_IS_OUT)
    unsafe = kill(tmp_path / "unsafe", MAIL_IS_OUT, barrier_before_tools=False)
    assert safe.said == {"c1": "TOOL_OUTCOME_UNKNOWN", "c2": "TOOL_NOT_STARTED"}
    assert unsafe.said == {"c1": "TOOL_NOT_STARTED", "c2": "TOOL_NOT_STARTED"}
    assert (safe.lies, unsafe.lies) == ([], ["send_mail"])
    assert retry_not_started(tmp_path / "safe", safe) == ["c2"]
    assert retry_not_started(tmp_path / "unsafe", unsafe) == ["c1", "c2"]
    assert (outbox(tmp_path / "safe"), outbox(tmp_path / "unsafe")) == ([MAIL], [MAIL, MAIL])


def test_a_point_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(LabError, match="no point"):
        kill(tmp_path / "run", Point("done", "send_fax"))


def test_a_recording_that_ends_by_itself_says_why(tmp_path, monkeypatch):
    monkeypatch.setattr(crash, "__name__", "labsupport.workbench.no_such_module")
    with pytest.raises(LabError, match=r"ended by itself before point \d+: .*no_such_module"):
        kill(tmp_path / "broken", MAIL_IS_OUT)


def test_a_recording_that_is_too_short_says_so(tmp_path, monkeypatch):
    late = Point("event", "turn/end", 99)
    monkeypatch.setattr(crash, "points", lambda barrier_before_tools: (*points(), late))
    with pytest.raises(LabError, match=f"ended by itself before point {len(points())}: it said nothing"):
        kill(tmp_path / "short", late)


def test_lost_and_lies_are_found_where_there_are_some():
    lost = Death(MAIL_IS_OUT, 5, 3, 0, (), ("send_mail",), 1)
    assert (lost.lost, lost.lies) == (2, [])  # a log that does not know of the call says nothing about it


def test_the_death_table_speaks_both_languages(tmp_path):
    death = kill(tmp_path / "run", MAIL_IS_OUT)
    with speaking("en"):
        row = death_table([death]).iloc[0].tolist()
    assert row == ["send_mail is done, but has not returned", 14, 14, 0, "send_mail",
                   "c1 unknown, c2 not started", 1]
    with speaking("zh"):
        assert death_table([death]).iloc[0].tolist()[5] == "c1 结局未知、c2 未开始"
        assert len({moment(point) for point in points()}) == len(points())


def test_damage_a_newer_format_and_an_unknown_event_are_told_apart():
    with speaking("en"):
        table = log_verdicts(["two_step", "torn", "damaged", "newer_format", "unknown_event"])
    assert table["inspect"].tolist() == ["36 events", "26 events", "LogCorruptError", "LogFormatError", "UnknownEventError"]
    assert table["which means"].str.startswith("no damage").tolist() == [False, False, False, True, True]


def test_the_two_rules_differ_on_the_torn_file_only():
    with speaking("en"):
        rows = [row.tolist() for _, row in two_rules().iterrows()]
    assert [row[1] for row in rows] == ["4 messages", "SessionTornTailError", "SessionJsonError"]
    assert rows[0][2] == "whole, nothing to repair"
    assert rows[1][2] == "the torn tail is cut off, then 4 events are added"
    assert rows[2][2] == "LogCorruptError"

"""That the benchmarks measure what they say, at small sizes and without peers. How fast anything is, no test asks."""
import pytest

from labsupport.miniagent import estimate_context_chars, load_session
from labsupport.sessionlog.storage import JsonlStore
from tests.benchmarks import __main__ as bench
from tests.benchmarks import histories, logs, pairs, stores
from tests.benchmarks.pairs import Count
from tests.benchmarks.table import Row, drawn


@pytest.fixture(scope="module")
def rows():
    return bench.measure(bench.QUICK, None)


def test_every_row_is_there(rows):
    shapes = list(histories.SHAPES)
    assert [row.subject.split(" ")[0].strip(",") for row in rows] == (
        ["40"] + ["append"] * 2 + ["load"] * 3 * len(shapes) + ["open"] * 2 + ["derive", "append"] + ["fold"] * 2
        + ["sqlite:"] * 3 + ["jsonl:"] + ["sqlite:"] * 7 + ["resume"] * 2 + ["fork", "append"]
        + ["replace", "growth", "compact", "compact"] + ["a"] * 6
        + ["trim"] * 4 * len(shapes) + ["again", "growth"])
    assert [len({line.count("|") for line in drawn(rows).split("\n")}), drawn(rows).count("\n")] == [1, len(rows) + 1]


def test_what_needs_peers_says_that_it_was_not_measured(rows):
    unmeasured = [row for row in rows if row.beside.endswith("not measured")]
    assert len(unmeasured) == 5 * len(histories.SHAPES) + 10  # three a load, two a trim, one open, nine at the stores
    assert all(row.ok is None and row.missed == bool(row.target) for row in unmeasured)


def test_all_pairs_are_whole_at_all_budgets(rows):
    assert (rows[0].ours, rows[0].ok) == ("80 of 80 valid, 0 over, 0 empty", True)


def test_the_judge_sees_a_cut_pair_a_passed_budget_and_nothing_kept():
    history, count = histories.one_task(3), Count()
    every = list(range(len(history)))
    for kept, over in ((every, True), (every[2:], False), (every[:-1], False), ([], False), (every[::-1], False)):
        count.add(history, kept, over)
    assert count == Count(tried=5, valid=1, over=1, empty=1)


def test_a_slice_of_the_newest_messages_is_not_valid_everywhere():
    history, count = histories.asking("chat", 400), Count()
    for start in range(len(history)):
        count.add(history, list(range(start, len(history))), False)
    results = sum(message["role"] == "tool" for message in history)
    assert count.tried - count.valid == results > 0


def test_a_side_that_stored_something_else_is_noticed(tmp_path):
    record, = logs.events(1)
    with stores._bare(tmp_path, 1) as ours, stores._bare(tmp_path, 2) as bare:
        ours.execute(stores.INSERT, logs.row(record))
        with pytest.raises(RuntimeError, match="did not store the same"):
            stores._compare(tmp_path / "bare-1.db", bare)
        bare.execute(stores.INSERT, logs.row(record))
        stores._compare(tmp_path / "bare-1.db", bare)


def test_a_commit_that_was_not_made_is_noticed(tmp_path):
    live = stores._Live(JsonlStore(tmp_path), 1, stores.GROUP)
    live.log(0)
    with pytest.raises(RuntimeError, match="100 events were not stored"):
        live.close()
    live.commit(0)
    live.close()


@pytest.mark.parametrize("shape", histories.SHAPES)
def test_a_history_is_the_same_each_time_and_costs_what_its_text_is_long(shape, tmp_path):
    history = histories.take(shape, 300)
    assert history == histories.take(shape, 300) != histories.take(shape, 300, seed=35)
    histories.write(tmp_path / "session.jsonl", history)
    text = (tmp_path / "session.jsonl").read_bytes().decode()
    assert estimate_context_chars(load_session(tmp_path / "session.jsonl")) == pairs.characters(history)
    assert pairs.characters(history) == len(text.encode("utf-16-le")) // 2


@pytest.mark.parametrize(("row", "code"), [
    (Row("met", "1", target="≤ 2", ok=True), 0), (Row("missed", "3", target="≤ 2", ok=False), 1),
    (Row("not measured", "3", target="≤ 2"), 1), (Row("no target", "3"), 0)], ids=lambda value: getattr(value, "subject", ""))
def test_a_missed_target_fails_only_when_asked_to(row, code, monkeypatch, capsys):
    monkeypatch.setattr(bench, "measure", lambda sizes, python: [row])
    assert [bench.main(["--no-peers"]), bench.main(["--no-peers", "--strict"])] == [0, code]
    assert row.subject in capsys.readouterr().out

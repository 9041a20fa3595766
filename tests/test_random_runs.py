"""The law of the two states, on random runs: the file is the history whatever the budget, a request is its end and fits."""
import pytest

from labsupport.miniagent import ToolMessage, estimate_context_chars, trim_context
from labsupport.workbench.random_runs import random_trial
from labsupport.workbench.sample_talks import TOOLS
from labsupport.workbench.witness import watch

SEEDS = range(60)


@pytest.fixture(scope="module")
def pairs():
    """Each seed without a budget, and with a tight one."""
    return [(random_trial(seed), random_trial(seed, 200 + 20 * seed)) for seed in SEEDS]


def test_the_file_is_the_history_whatever_the_budget(pairs):
    for free, tight in pairs:
        for trial in (free, tight):
            assert trial.memory == trial.disk_then
        assert not free.stopped
        assert tight.disk == (free.disk[:len(tight.disk)] if tight.stopped else free.disk)


def test_every_request_is_the_newest_units_that_fit(pairs):
    for free, tight in pairs:
        assert all(seen.sent == seen.file for seen in free.seen)
        for seen in tight.seen:
            assert seen.sent == seen.file[-len(seen.sent):]
            assert estimate_context_chars(seen.sent) <= tight.budget
            assert list(seen.sent) == trim_context(seen.file, tight.budget)


def test_the_random_runs_have_what_the_law_is_about(pairs):
    requests = [seen for _, tight in pairs for seen in tight.seen]
    assert sum(seen.sent != seen.file for seen in requests) > 50
    assert sum(tight.stopped for _, tight in pairs) > 5
    assert sum(not tight.stopped for _, tight in pairs) > 20
    assert any(isinstance(message, ToolMessage) and message.is_error for free, _ in pairs for message in free.disk)


def test_a_stopped_run_leaves_its_question_on_disk_and_asks_nothing(pairs):
    for _, tight in pairs:
        if tight.stopped:
            with pytest.raises(Exception, match="smallest consistent message unit"):
                trim_context(tight.disk, tight.budget)


def test_the_same_seed_gives_the_same_run():
    assert random_trial(7, 500) == random_trial(7, 500)


def test_the_witness_sees_the_file_before_each_request(tmp_path):
    watched = watch(TOOLS, tmp_path / "s.jsonl")
    assert all(seen.file == watched.file[:len(seen.file)] for seen in watched.seen)
    assert [len(seen.file) for seen in watched.seen] == sorted({len(seen.file) for seen in watched.seen})

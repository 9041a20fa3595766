"""Lab A3's picture and explorer: the file beside a request, at every request, and what is drawn of hostile text."""
import argparse
import re

import pytest

from labsupport.errors import ContextBudgetError, LabError
from labsupport.miniagent import (
    AssistantMessage,
    ScriptedModel,
    ToolMessage,
    UserMessage,
    estimate_context_chars,
    load_session,
    main,
    run_agent,
)
from labsupport.miniagent.cli import tools
from labsupport.workbench import samples
from labsupport.workbench.checks.a3 import check_command
from labsupport.workbench.explorers.a3 import requests_explorer
from labsupport.workbench.pictures.requests import requests_picture
from labsupport.workbench.sample_talks import TOOLS
from labsupport.workbench.show import sentence_of
from labsupport.workbench.text import speaking
from labsupport.workbench.witness import Seen, Watched, memory_of, watch

TIGHT = 650


@pytest.fixture(scope="module")
def watched(tmp_path_factory):
    return watch(TOOLS, tmp_path_factory.mktemp("a3") / "tools.jsonl", context_max_chars=TIGHT)


@pytest.fixture(autouse=True)
def in_english():
    with speaking("en"):
        yield


def bodies(picture):
    """The rows of the two tables: file, request."""
    return [re.findall(r"<tr.*?</tr>", body) for body in re.findall(r"<tbody>(.*?)</tbody>", picture, re.DOTALL)]


def plain(picture):
    """What is left when styles, classes and markup are gone."""
    return re.sub(r"<[^>]*>", " ", re.sub(r"<style>.*?</style>", "", picture, flags=re.DOTALL))


@pytest.mark.parametrize("at", range(1, 8))
def test_the_rows_say_what_was_written_and_what_was_sent(watched, at):
    seen, (file, request) = watched.seen[at - 1], bodies(requests_picture(watched, at))
    start = len(seen.file) - len(seen.sent)
    assert len(file) == len(request) == len(watched.file)
    assert [("is-later" in row) for row in file] == [index >= len(seen.file) for index in range(len(file))]
    assert [("not sent" in row) for row in request] == [index < start for index in range(len(file))]
    assert [("is-off" in row) for row in request] == [index < start for index in range(len(file))]
    assert [index for index, row in enumerate(file) if "is-now" in row] == [len(seen.file) - 1]
    assert not any("is-off" in row for row in file)  # nothing is ever gone from the file


@pytest.mark.parametrize("at", range(1, 8))
def test_the_sentence_holds_every_figure(watched, at):
    seen, said = watched.seen[at - 1], sentence_of(requests_picture(watched, at))
    assert f"Request {at} of 7, budget {TIGHT} characters: the file holds {len(seen.file)} line" in said
    assert f"({estimate_context_chars(seen.file):,} characters)" in said
    if seen.sent != seen.file:
        assert f"only the newest {len(seen.sent)} ({estimate_context_chars(seen.sent):,} characters)" in said
        assert f"Lines 1 to {len(seen.file) - len(seen.sent)} stay in the file" in said
    else:
        assert "all of them" in said or "1 line (86 characters), and the model is sent it." in said


def test_it_says_where_the_question_itself_is_not_sent(watched):
    gone = [at for at in range(1, 8) if "question being answered (line 5)" in sentence_of(requests_picture(watched, at))]
    marked = [at for at in range(1, 8) if "question, not sent" in requests_picture(watched, at)]
    assert gone == marked == [at for at, seen in enumerate(watched.seen, 1)
                              if not any(isinstance(message, UserMessage) for message in seen.sent)] == [4]


def test_one_line_that_is_not_sent_is_in_the_singular():
    messages = (UserMessage("old"), AssistantMessage("answer"), UserMessage("new"))
    said = sentence_of(requests_picture(Watched((Seen(messages, messages[1:]),), 99, messages), 1))
    assert said.endswith("Line 1 stays in the file.")


def test_the_very_question_may_be_the_one_line_that_is_not_sent():
    messages = (UserMessage("old"), AssistantMessage("looking"))
    said = sentence_of(requests_picture(Watched((Seen(messages, messages[1:]),), 99, messages), 1))
    assert said.endswith("Line 1 stays in the file, and it is the very question being answered.")


def test_without_a_budget_everything_is_sent(tmp_path):
    free = watch(TOOLS, tmp_path / "free.jsonl")
    for at in range(1, len(free.seen) + 1):
        said = sentence_of(requests_picture(free, at))
        assert "no budget" in said
        assert "stay in the file" not in said


def test_moving_changes_ink_and_not_layout(watched):
    shapes = {tuple(len(body) for body in bodies(requests_picture(watched, at))) for at in range(1, 8)}
    assert shapes == {(16, 16)}


def test_without_styles_the_words_remain(watched):
    words = [str(len(message.content)) for message in watched.file]
    file, request = ([" ".join(plain(row).split()) for row in body] for body in bodies(requests_picture(watched, 4)))
    assert file[4] == f"5 ● user {words[4]} characters 57"
    assert file[5].startswith("6 ■ assistant ▸ filter_rows c2")
    assert file[6:9] == [f"7 ◃ result c2 {words[6]} characters 179", f"8 ◃ result c3 {words[7]} characters 92",
                         "9 ○ not written yet"]
    assert [row.rpartition(" characters ")[2] for row in request[3:5]] == ["not sent", "question, not sent"]
    assert [row[0] + row[-4:] for row in request[5:9]] == ["1sent", "2sent", "3sent", "○ yet"]


def test_chinese(watched):
    with speaking("zh"):
        said = sentence_of(requests_picture(watched, 4))
    assert said == ("请求 4/7，预算 650 个字符：文件里有 8 行（1,113 个字符），发给模型的只是最新的 3 行（625 个字符）。"
                    "前 5 行不发送，但还在文件里，包括正在回答的问题（第 5 行）。")


def test_contents_are_drawn_only_when_asked_for(watched):
    assert "outpatient.csv" not in requests_picture(watched, 4)
    assert "outpatient.csv" in requests_picture(watched, 4, show_text=True)


def test_text_from_a_session_is_escaped():
    evil = "</td><script>alert(1)</script>\u202e\x00\ud83d"
    messages = (UserMessage(evil), ToolMessage(evil, evil, False))
    picture = requests_picture(Watched((Seen(messages, messages),), None, messages), 1, show_text=True)
    assert "<script" not in picture
    assert not set("\u202e\x00\ud83d") & set(picture)


# The explorer

def test_the_slider_moves_the_picture(watched):
    explorer = requests_explorer(watched)
    assert (explorer.request.min, explorer.request.max) == (1, 7)
    before = explorer.still.picture
    explorer.request.value = 6
    assert explorer.still.picture != before
    assert explorer.still.sentence.startswith("Request 6 of 7")
    assert explorer.still.picture == requests_picture(watched, 6)


def test_made_twice_each_listens_to_its_own_slider(watched):
    first, second = requests_explorer(watched), requests_explorer(watched)
    first.request.value = 3
    assert second.still.sentence.startswith("Request 1 of 7")


def test_without_a_request_there_is_no_slider():
    with pytest.raises(LabError, match="never asked"):
        requests_explorer(Watched((), None, ()))


# The witnesses

def test_a_talk_that_is_watched_again_gives_the_same(watched, tmp_path):
    for _ in range(2):
        assert watch(TOOLS, tmp_path / "again.jsonl", context_max_chars=TIGHT) == watched


def test_what_was_in_memory_when_the_budget_stopped_the_run(tmp_path):
    path = tmp_path / "s.jsonl"
    run_agent("first", ScriptedModel([["yes"]]), {}, session_path=path)
    with pytest.raises(ContextBudgetError) as caught:
        run_agent("second", ScriptedModel([]), {}, session_path=path, context_max_chars=10)
    assert memory_of(caught.value) == load_session(path)
    assert memory_of(caught.value)[-1] == UserMessage("second")


def test_what_was_in_memory_when_the_disk_failed(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        run_agent("first", ScriptedModel([]), {}, session_path=tmp_path / "missing" / "s.jsonl")
    assert memory_of(caught.value) == []
    with pytest.raises(LabError, match="ValueError did not come out of run_agent"):
        memory_of(ValueError("x"))


# The check of the exercise

def answer(default=None, other=None, drop=()):
    """A command line, right but for what is asked for."""
    def command(argv, model):
        parser = argparse.ArgumentParser()
        parser.add_argument("prompt")
        parser.add_argument("--session")
        parser.add_argument("--context-max-chars", type=int, default=default)
        args = parser.parse_args(argv)
        options = {"session_path": args.session, "context_max_chars": args.context_max_chars}
        passed_on = {name: value for name, value in options.items() if name not in drop}
        return run_agent(args.prompt, other or model, tools(), **passed_on)
    return command


@pytest.mark.parametrize(("command", "key"), [
    pytest.param(answer(), "check_correct", id="right"),
    pytest.param(answer(default=2000), "a3_plain_trimmed", id="a default that trims"),
    pytest.param(answer(default=60_000), "a3_plain_trimmed", id="a large default"),
    pytest.param(answer(other=samples.model()), "a3_other_model", id="another model"),
    pytest.param(lambda argv, model: main(argv), "a3_other_model", id="another command line"),
    pytest.param(lambda argv, model: print(argv), "a3_not_called", id="printed only"),
    pytest.param(answer(drop=["context_max_chars"]), "a3_budget_lost", id="the budget is dropped"),
])
def test_the_check_names_the_fault(command, key, capsys):
    verdict = check_command(command)
    assert (verdict.key, verdict.correct) == (key, key == "check_correct")


def test_what_a_learner_prints_in_the_check_is_the_real_answer(capsys):
    def printing(argv, model):
        run = answer()(argv, model)
        print(run.messages[-1].content)
        return run

    assert check_command(printing).correct
    said = set(capsys.readouterr().out.splitlines())
    assert len(said) == 1
    assert "{" not in said.pop()

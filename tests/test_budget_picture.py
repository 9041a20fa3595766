"""The pictures of lab A2, its slider driven in Python, and the small histories behind them."""
import re
from collections.abc import Iterator
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labsupport.errors import ContextBudgetError, LabError
from labsupport.miniagent import AssistantMessage, Message, ToolCall, estimate_context_chars, find_orphans, trim_context
from labsupport.workbench import samples
from labsupport.workbench.checks.a2 import check_results_without_call
from labsupport.workbench.explorers.a2 import budget_explorer
from labsupport.workbench.histories import history, lost_results, random_history, shape
from labsupport.workbench.pictures import budget as budget_module
from labsupport.workbench.pictures.budget import WINDOW, Measured, budget_picture, slider_end, slider_step
from labsupport.workbench.pictures.density import density_picture
from labsupport.workbench.pictures.rules import rules_picture
from labsupport.workbench.pictures.trimmed import trimmed
from labsupport.workbench.show import sentence_of
from labsupport.workbench.text import speaking
from tests.builders import calls, result, says, user

TOOLS, LOOP, LONG, INTERLEAVED = (Measured(samples.load(name)) for name in ("tools", "loop", "long", "interleaved"))
WORKED = history("user, assistant{a,b}, tool a, tool b")
HOSTILE = '<script>alert("x")</script>\x00\u202e&amp;'


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    with speaking("en"):
        yield


def rows(picture: str) -> list[tuple[set[str], list[str]]]:
    """The rows of the first table: their classes, and the words of their cells."""
    body = re.search(r"<tbody>\n(.*?)\n?</tbody>", picture, re.DOTALL)
    assert body
    return [(set((re.search(r'^<tr class="([^"]*)"', line) or ["", ""])[1].split()),
             [words(cell) for cell in re.findall(r"<t[dh]\b[^>]*>(.*?)</t[dh]>", line)]) for line in body[1].split("\n")]


def words(markup: str) -> str:
    """What is left of *markup* on a page that strips styles and tags."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", re.sub(r"<style>.*?</style>", "", markup, flags=re.DOTALL))).split())


def kept_rows(picture: str) -> int:
    return sum("is-off" not in classes for classes, _ in rows(picture))


# What is kept

@pytest.mark.parametrize("rule", ["closed", "chapter"])
@pytest.mark.parametrize("pin", [False, True])
@pytest.mark.parametrize("measured", [TOOLS, INTERLEAVED, Measured(WORKED)], ids=["tools", "interleaved", "worked"])
def test_the_rows_that_are_not_struck_are_what_trim_context_keeps(measured, rule, pin):
    whole = estimate_context_chars(measured.messages)
    for chars in range(20, whole + 40, 20):
        try:
            kept = len(trim_context(measured.messages, chars, rule, pin))
        except ContextBudgetError:
            kept = 0
        assert kept_rows(budget_picture(measured, chars, rule, pin)) == kept


@given(seed=st.integers(0, 500), chars=st.integers(100, 1500), pin=st.booleans(), rule=st.sampled_from(["closed", "chapter"]))
def test_a_unit_is_kept_when_its_bars_end_before_the_budget_line(seed, chars, pin, rule):
    """The sums say where the bars end; the pinned message is counted first, so its bar begins at 0."""
    measured = Measured(random_history(seed))
    sums, view = measured.sums(pin), trimmed(measured.budget(rule, pin), chars)
    assert max(sums) == sum(measured.costs)
    if view.fit:
        for start, stop in view.budget.units:
            assert all(map(view.keeps, range(start, stop))) == (max(sums[start:stop]) <= chars)


def test_the_worked_example_in_words():
    unit, whole = (estimate_context_chars(messages) for messages in (WORKED[1:], WORKED))
    picture = budget_picture(Measured(WORKED), whole - 1)
    said = sentence_of(picture)
    assert said.startswith(f"A budget of {whole - 1} characters keeps 1 of 2 units (3 of 4 messages): {unit} characters")
    assert said.endswith(f"{whole - 1 - unit} are left; unit 1 needs 1 more, so the walk stops there.")
    (top, first), (_, second), *_ = rows(picture)
    assert (first[-1], second[-1], first[1]) == ("over by 1", "kept", "1")
    assert {"is-off", "is-now"} <= top
    assert sentence_of(budget_picture(Measured(WORKED), whole)).endswith("Everything fits; 0 are left.")


def test_both_budget_errors_are_sentences_in_both_languages():
    for lang, below, empty in (("en", "Error: the budget cannot hold", "Error: there are no messages"),
                               ("zh", "错误：预算连最新的单元都装不下", "错误：一条消息也没有")):
        with speaking(lang):
            smallest = TOOLS.budget("closed", False).smallest
            picture = budget_picture(TOOLS, smallest - 1)
            assert sentence_of(picture).startswith(below)
            assert f"{smallest}" in sentence_of(picture)
            assert 'role="alert"' in picture
            assert kept_rows(picture) == 0
            assert sentence_of(budget_picture(Measured([]), 100)).startswith(empty)


def test_with_a_pin_the_error_names_both():
    needed = LOOP.budget("closed", True).smallest
    said = sentence_of(budget_picture(LOOP, needed - 1, pin_first_user=True))
    assert f"the pinned first user message: together they take {needed} characters" in said


def test_the_pinned_message_is_kept_and_named():
    measured = Measured([user("the task"), *history("assistant{a}, tool a, assistant{b}, tool b")])
    chars = measured.budget("closed", True).smallest
    picture = budget_picture(measured, chars, pin_first_user=True)
    states = [cells[-1] for _, cells in rows(picture)]
    assert states == ["kept, pinned", f"over by {sum(measured.costs[1:3])}", "", "kept", ""]
    assert "The first user message is pinned as well, and counted." in sentence_of(picture)


def test_a_result_that_lost_its_call_is_not_an_orphan():
    view = rows(budget_picture(INTERLEAVED, 600, "chapter"))
    assert [cells[-1] for classes, cells in view if "is-bad" in classes] == ["call cut off"]
    assert "1 result has lost its call." in sentence_of(budget_picture(INTERLEAVED, 600, "chapter"))
    assert not any("is-bad" in classes for classes, _ in rows(budget_picture(INTERLEAVED, 600, "closed")))
    orphan = rows(budget_picture(Measured(history("tool lost, user")), 500))
    assert [cells[-1] for _, cells in orphan] == ["kept, orphan", "kept"]


# Layout

@pytest.mark.parametrize("measured", [TOOLS, LOOP, LONG], ids=["tools", "loop", "long"])
def test_the_slider_moves_no_rows(measured):
    """The same number of rows at every position; in a window the rest is counted in a first and a last row."""
    count = len(measured.messages)
    drawn = count if count <= WINDOW + 2 else WINDOW + 2
    for chars in range(10, sum(measured.costs) + 200, max(10, sum(measured.costs) // 25)):
        view = rows(budget_picture(measured, chars))
        assert len(view) == drawn
        if drawn < count:
            earlier, later = (int(re.match(r"[\d,]+", view[place][1][2])[0].replace(",", "")) for place in (0, -1))
            assert earlier + WINDOW + later == count


def test_in_a_window_the_unit_that_does_not_fit_is_drawn():
    for chars in range(200, sum(LONG.costs), 3000):
        assert any("is-now" in classes for classes, _ in rows(budget_picture(LONG, chars)))


def test_costs_and_tokens_are_counted_once(monkeypatch):
    counted = []
    monkeypatch.setattr(budget_module, "count_tokens", lambda text: counted.append(text) or 1)
    measured = Measured(WORKED)
    for chars in range(300, 340):
        budget_picture(measured, chars)
    assert len(counted) == len(WORKED)
    assert sum(map(len, counted)) == estimate_context_chars(WORKED)  # the same text, line break included


def test_only_what_is_kept_or_drawn_has_its_tokens_counted(monkeypatch):
    """A session of megabytes is not counted whole for its first picture."""
    counted = []
    monkeypatch.setattr(budget_module, "count_tokens", lambda text: counted.append(text) or 1)
    measured = Measured([user(f"question {number}") for number in range(1000)])
    few = sum(measured.costs[-100:])
    first, *_, last = rows(budget_picture(measured, few))
    assert len(counted) == 100 + WINDOW // 2  # the kept ones, and the dropped half of the window
    assert first[1][5] == ""
    assert last[1][5] == str(100 - WINDOW // 2)


@pytest.mark.parametrize("draw", [
    pytest.param(lambda messages: budget_picture(Measured(messages), 500), id="budget"),
    pytest.param(lambda messages: rules_picture(messages, 500), id="rules"),
    pytest.param(lambda messages: budget_explorer({"odd": messages}).still.picture, id="explorer"),
])
def test_a_message_without_a_length_is_named_in_both_languages(draw):
    odd = [user("hi"), AssistantMessage("secret", (ToolCall("c1", "look_up", {1, 2}),)), user("go on")]
    for lang, said in (("en", "Error: message 1 (counted from 0) cannot"), ("zh", "错误：第 1 条消息（从 0 数起）写不成 JSON")):
        with speaking(lang):
            picture = draw(odd)
            assert sentence_of(picture).startswith(said)
            assert 'role="alert"' in picture
            assert "secret" not in picture


def test_without_styles_the_table_still_says_it():
    text = words(budget_picture(INTERLEAVED, 600, "chapter"))
    assert "3 ■ assistant ▸ year_on_year x 159 682 46 over by 82" in text
    assert "◃ result x" in text


# What comes from a log

def test_log_text_is_escaped_wherever_it_stands():
    messages: list[Message] = [user(HOSTILE), calls(HOSTILE), result(HOSTILE, HOSTILE), says(HOSTILE)]
    for picture in (budget_picture(Measured(messages), 5000, show_text=True), rules_picture(messages, 5000, show_text=True),
                    density_picture({HOSTILE: HOSTILE})):
        assert "<script" not in picture
        assert "\x00" not in picture
        assert "\u202e" not in picture
        assert "&lt;scr" in picture


def test_bodies_are_drawn_only_when_asked_for():
    messages = [user("a secret of the user"), says("a secret answer"), calls("c1", content="secret"), result("c1", "secret")]
    for show_text in (False, True):
        picture = budget_picture(Measured(messages), 5000, show_text=show_text) + rules_picture(messages, 5000, show_text)
        assert ("secret" in picture) is show_text
    assert "20 characters" in words(budget_picture(Measured(messages), 5000))


def test_many_calls_say_how_many_more():
    assert "+2" in words(budget_picture(Measured([calls("a" * 9, "b" * 9, "c" * 9, "d" * 9)]), 5000))


# The two rules, and tokens

@pytest.mark.parametrize(("chars", "sentence"), [
    (600, "the chapter rule keeps 5 messages, the closed rule 2. The chapter rule keeps the result of x"),
    (300, "both rules keep the same 2 messages"),
    (50, "neither rule sends anything"),
])
def test_the_two_rules_beside_each_other(chars, sentence):
    assert sentence in sentence_of(rules_picture(samples.load("interleaved"), chars))


def test_the_closed_rule_may_refuse_what_the_chapter_rule_sends():
    messages = history("assistant{x}, assistant{y}, tool x, tool y")
    chars = estimate_context_chars(messages[1:])
    needed = estimate_context_chars(messages)
    said = sentence_of(rules_picture(messages, chars))
    assert "keeps 3 messages, the closed rule 0" in said
    assert said.endswith(f"its newest unit needs {needed} characters.")


def test_density_is_computed_from_the_text(monkeypatch):
    from labsupport.workbench.pictures import density

    monkeypatch.setattr(density, "count_tokens", lambda text: len(text.split()))
    picture = density_picture({"one": "abcd", "five": "ab cd ef gh 🙂"})
    assert [cells[2:5] for _, cells in rows(picture)] == [["4", "1", "4.00"], ["14", "5", "2.80"]]  # an emoji counts 2
    assert "357 tokens of five, but 250 of one" in sentence_of(picture)


# The slider, driven

@pytest.fixture
def explorer():
    names = ("tools", "interleaved", "loop", "long")
    return budget_explorer({name: samples.load(name) for name in names} | {"empty": []}, show_text=True)


def test_every_control_changes_what_is_shown(explorer):
    explorer.budget.value = 600
    assert "A budget of 600 characters keeps 3 of 11 units" in explorer.still.sentence
    explorer.history.value = "interleaved"
    assert (explorer.budget.min, explorer.budget.value, explorer.budget.max) == (10, 400, 800)
    assert explorer.budget.orientation == "horizontal"
    explorer.budget.value = 600
    closed = explorer.still.sentence
    explorer.rule.value = "chapter"
    assert "1 result has lost its call." in explorer.still.sentence
    assert explorer.still.sentence != closed
    explorer.history.value, explorer.budget.value = "loop", 800
    explorer.pin.value = True
    assert "The first user message is pinned as well, and counted." in explorer.still.sentence


def test_the_slider_reaches_both_errors_and_the_whole(explorer):
    for name in ("tools", "interleaved", "loop"):
        explorer.history.value = name
        explorer.budget.value = explorer.budget.min
        assert explorer.still.sentence.startswith("Error: the budget cannot hold")
        explorer.budget.value = explorer.budget.max
        assert "Everything fits" in explorer.still.sentence
    explorer.history.value = "empty"
    assert explorer.still.sentence.startswith("Error: there are no messages")


@given(st.integers(0, 10**7))
def test_the_scale_of_the_slider_is_whole_steps(total):
    end = slider_end(total)
    step = slider_step(end)
    assert end >= total
    assert end % step == 0
    assert end // step <= 250


def test_the_scale_follows_the_session(explorer):
    """There and back, from the longest to the shortest: each session has its own end, step and middle."""
    for name in ("long", "empty", "loop", "long", "tools", "empty", "interleaved"):
        explorer.history.value = name
        slider = explorer.budget
        whole = estimate_context_chars([] if name == "empty" else samples.load(name))
        assert slider.min == slider.step == slider_step(slider.max)
        assert slider.max == slider_end(whole)
        assert abs(slider.value - slider.max / 2) <= slider.step


class Browser:
    """The browser's end of *slider*, as ipywidgets' own works: what it answers to what it is sent.

    It stores all of a message, and then follows its keys one by one. A key of the scale makes it read the whole scale anew;
    a value that is not on the scale it has read is moved to the nearest step, and that is its answer. A set of keys promises
    no order, so it is sent in the worst one.
    """

    def __init__(self, slider, monkeypatch):
        self.slider, self.answers = slider, []
        self.model = slider.get_state(["max", "min", "step", "value"])
        self.read_scale()
        send_state = slider.send_state
        monkeypatch.setattr(slider, "send_state", lambda key=None: send_state(
            sorted(key, key=lambda name: name != "value") if isinstance(key, set) else key))
        monkeypatch.setattr(slider.comm, "send", self.receive)

    def read_scale(self):
        self.low, self.high, self.step = (self.model[name] for name in ("min", "max", "step"))

    def receive(self, data, **_):
        news = {key: value for key, value in data["state"].items() if self.model.get(key, value) != value}
        if data["method"] == "update":
            self.model |= news
            for key in news:
                self.follow(key)

    def follow(self, key):
        if key != "value":
            self.read_scale()
        inside = min(max(self.model["value"], self.low), self.high)
        nearest = self.low + int((inside - self.low) / self.step + 0.5) * self.step
        if nearest != self.model["value"]:
            self.model["value"] = nearest
            self.answers.append(nearest)

    def answer(self):
        """Hand the answers over: after the kernel has done what it was asked for."""
        while self.answers:
            self.slider.set_state({"value": self.answers.pop(0)})


def test_what_the_browser_answers_leaves_the_slider_in_the_middle(explorer, monkeypatch):
    explorer.history.value = "interleaved"
    browser = Browser(explorer.budget, monkeypatch)
    for name, middle, end in (("long", 32000, 64000), ("loop", 3400, 6800), ("interleaved", 400, 800), ("long", 32000, 64000)):
        explorer.history.value = name
        browser.answer()
        assert (explorer.budget.value, explorer.budget.max) == (middle, end)
        assert browser.model | {"value": middle, "max": end} == browser.model


def test_the_browser_of_these_tests_answers_a_value_off_its_scale(explorer, monkeypatch):
    """Sent value first, the slider ends where a learner saw it: at the second step of the new scale."""
    explorer.history.value = "interleaved"
    browser, slider = Browser(explorer.budget, monkeypatch), explorer.budget
    with slider.hold_sync():
        slider.max, slider.min, slider.step, slider.value = 64000, 500, 500, 32000
    browser.answer()
    assert slider.value == browser.model["value"] == 1000


def test_without_a_history_there_is_no_slider():
    with pytest.raises(LabError, match="no history to show"):
        budget_explorer({})


def test_a_move_draws_once_and_only_its_own_explorer(explorer):
    """Running the cell again makes new controls: the old ones have no observer that reaches the new picture."""
    again = budget_explorer({"tools": samples.load("tools")})
    drawn = []
    before, shown = again.figure.value, explorer.figure.value
    explorer.draw = lambda **now: drawn.append(now) or shown
    explorer.budget.value = 700
    assert [now["budget"] for now in drawn] == [700]
    assert again.figure.value == before


def test_the_controls_speak_the_language():
    with speaking("zh"):
        chinese = budget_explorer({"tools": samples.load("tools")})
    labels = [control.description for control in chinese.controls.values()]
    assert labels == ["会话", "预算（字符）", "规则", "固定第一条用户消息"]
    assert [label for label, _ in chinese.rule.options] == ["封闭", "教材"]


# Histories in the chapter's notation

@given(st.integers(0, 10_000))
def test_what_is_written_is_read_back(seed):
    messages = random_history(seed)
    assert shape(history(shape(messages))) == shape(messages)
    assert random_history(seed) == messages
    assert find_orphans(messages) == []


def test_ids_of_a_random_history_may_come_again():
    ids = [[call.id for message in random_history(seed) if isinstance(message, AssistantMessage) for call in message.tool_calls]
           for seed in range(40)]
    assert 5 < sum(len(set(names)) < len(names) for names in ids) < 20


def test_a_random_history_may_be_interleaved():
    assert any(lost_results(messages, start) for messages in map(random_history, range(20)) for start in range(len(messages)))


@pytest.mark.parametrize("notation", ["system", "user; user", "tool", "assistant{}", "assistant{a", "user,, user x"])
def test_an_unknown_word_is_refused_by_its_place(notation):
    with pytest.raises(LabError, match=r"word \d of this notation"):
        history(notation)


# The check of the exercise, and answers that are no answers

class Contrary(list):
    def __eq__(self, other):
        raise RuntimeError

    __hash__ = None


class Mute:
    def __eq__(self, other):
        raise RuntimeError

    def __repr__(self):
        raise RuntimeError

    __hash__ = None


@pytest.mark.parametrize(("answer", "key"), [
    pytest.param(Mute(), "a2_law_not_a_list", id="compares with nothing"),
    pytest.param(Contrary(), "a2_law_not_a_list", id="a list that compares with nothing"),
    pytest.param([Mute()], "a2_law_not_a_list", id="a list of such"),
    pytest.param(["a", Mute()], "a2_law_not_a_list", id="an id and such"),
    pytest.param([10**6000], "a2_law_outside", id="too long to be written"),
    pytest.param([-(10**6000)], "a2_law_outside", id="too long and negative"),
    pytest.param([True], "a2_law_not_a_list", id="a bool"),
    pytest.param(["x" * 10] * 10**5, "a2_law_ids", id="very many ids"),
])
def test_whatever_is_returned_gets_a_sentence(answer, key):
    verdict = check_results_without_call(lambda messages: answer)
    assert (verdict.correct, verdict.key) == (False, key)
    assert len(verdict.words) < 1000


def test_the_library_s_own_law_is_a_correct_answer():
    assert check_results_without_call(find_orphans).correct

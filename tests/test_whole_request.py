"""Requests taken apart: what is tabulated and drawn is what was sent, what is marked as new is new, and nothing jumps."""
import re
from collections import Counter
from copy import deepcopy
from dataclasses import replace

import pytest

from labsupport.errors import LabError
from labsupport.lossless import js_json
from labsupport.sessionlog import Reply, Session, to_json
from labsupport.sessionlog.prompt import ContextPart, Opener, Prompt, Section, Tools
from labsupport.sessionlog.request import explain_request
from labsupport.workbench import log_samples
from labsupport.workbench.checks.b6 import check_sourced
from labsupport.workbench.desk_play import PHONE, Desk, ask, record
from labsupport.workbench.explorers.b6 import request_explorer
from labsupport.workbench.pictures.trimmed import shortened
from labsupport.workbench.pictures.whole_request import ROWS, seqs, shown, whole_request_picture
from labsupport.workbench.random_requests import random_requests
from labsupport.workbench.request_tables import (
    SMUGGLED,
    kept_whole,
    new_parts,
    parts_table,
    plugins,
    smuggle_table,
    whispered,
)
from labsupport.workbench.show import sentence_of
from labsupport.workbench.text import LANGUAGES, speaking
from labsupport.workbench.whole_requests import FIXED, WholeRequests
from tests.notebooks.books import Reader
from tests.notebooks.test_pictures import HOSTILE


@pytest.fixture(autouse=True)
def in_english():
    with speaking("en"):
        yield


@pytest.fixture(scope="module")
def day():
    return record()


@pytest.fixture(scope="module")
def requests(day):
    return WholeRequests(day.session.events)


def rows(picture):
    return re.findall(r"<tr.*?</tr>", re.search(r"<tbody>(.*?)</tbody>", picture, re.DOTALL)[1])


def words(markup):
    return " ".join(re.sub(r"<[^>]*>", " ", markup).split())


# The recorded day

def test_the_day_is_the_same_every_time(day):
    assert [event.to_json() for event in record().session.events] == [event.to_json() for event in day.session.events]
    assert [one.seq for one in record().received] == [one.seq for one in day.received]


def test_the_two_compactions_bring_back_one_thing_each(day):
    fresh = new_parts(day.session.events, "opener", "context")
    context = ["today", "waiting-room"]
    assert fresh == {1: ["house-rules", *context], 2: [], 3: [], 4: context, 5: [], 6: ["house-rules"], 7: [], 8: context}


def test_the_number_stands_once_in_the_log_and_in_several_prompts(day):
    copies = [PHONE in text for text in kept_whole(day.received)]
    assert sum(PHONE in str(event.read()) for event in day.session.events) == 1
    assert copies == [True] * 5 + [False] * 3


# Pieces

@pytest.mark.parametrize("seed", range(8))
def test_the_texts_of_the_pieces_are_what_was_sent(seed):
    run = random_requests(seed)
    requests = WholeRequests(run.session.events)
    assert len(requests) == len(run.received)
    for number, one in enumerate(run.received, start=1):
        texts = {}
        for piece in requests.pieces(number):
            texts.setdefault(piece.part.kind, []).append(piece.text)
        header = one.request.header
        assert texts["config"] == [js_json(to_json(header["config"]))]
        assert "\n\n".join(texts.get("section", [])) == header.get("system", "")
        assert texts.get("tool", []) == [js_json(to_json(tool)) for tool in header.get("tools", [])]
        said = [block["text"] for message in one.request.messages if message["source"]["kind"] == "user"
                for block in message["content"]]
        assert texts.get("user", []) == said


@pytest.mark.parametrize("seed", range(8))
def test_new_is_what_the_request_before_did_not_have(seed):
    requests = WholeRequests(random_requests(seed).session.events)
    assert all(piece.is_new for piece in requests.pieces(1))
    for number in range(2, len(requests) + 1):
        before = [(piece.part.kind, piece.part.name, piece.part.version, piece.text) for piece in requests.pieces(number - 1)]
        seqs_before = {piece.part.seqs[0] for piece in requests.pieces(number - 1)}
        for piece in requests.pieces(number):
            if piece.part.kind in FIXED:
                key = piece.part.kind, piece.part.name, piece.part.version, piece.text
                assert piece.is_new == (key not in before)
            else:
                assert piece.is_new == (piece.part.seqs[0] not in seqs_before)
        kept = sum(not piece.is_new for piece in requests.pieces(number))
        assert requests.gone(number) == len(before) - kept


@pytest.mark.parametrize("number", [0, -1, 9])
def test_a_number_that_is_no_request_is_refused(requests, number):
    with pytest.raises(LabError, match="this log has 8"):
        requests.pieces(number)


# The picture

def test_every_row_says_the_part_its_source_and_its_size(requests):
    for at in range(1, len(requests) + 1):
        drawn = rows(whole_request_picture(requests, at, show_text=True))
        for row, piece in zip(drawn, requests.pieces(at), strict=False):
            part, text = piece.part, words(row)
            assert seqs(part.seqs) in text
            assert f"{len(piece.text):,} {piece.tokens:,}" in text
            assert (part.scope or "") in text
            assert (part.version or "") in text
            assert ("+ new" in text) == piece.is_new == ('class="is-off"' not in row)


def test_the_same_number_of_rows_at_every_request_and_all_of_the_sentence(requests):
    drawn = [whole_request_picture(requests, at) for at in range(1, len(requests) + 1)]
    assert {len(rows(picture)) for picture in drawn} == {requests.most}
    for at, picture in enumerate(drawn, start=1):
        pieces, said = requests.pieces(at), sentence_of(picture)
        assert f"Request {at} of 8, sent after seq {requests.seqs[at - 1]}: {len(pieces)} parts" in said
        characters, tokens = sum(len(piece.text) for piece in pieces), sum(piece.tokens for piece in pieces)
        assert f"{characters:,} characters, {tokens:,} tokens" in said
    assert "It is the first" in sentence_of(drawn[0])
    assert "9 parts of the request before it are gone" in sentence_of(drawn[5])


def test_a_long_request_is_drawn_around_its_ends():
    requests = WholeRequests(log_samples.load("long").events)
    for at in (1, 30, len(requests)):
        pieces = requests.pieces(at)
        lines = shown(pieces)
        assert len(lines) <= ROWS
        flat = [piece for line in lines for piece in (line if isinstance(line, list) else [line])]
        assert flat == pieces
        assert len(rows(whole_request_picture(requests, at))) == ROWS
    assert sum(isinstance(line, list) for line in lines) == 1
    assert f"{len(lines[4]):,} more parts" in whole_request_picture(requests, len(requests))


def test_contents_are_drawn_when_asked_for_only(requests):
    assert "My number" not in whole_request_picture(requests, 1)
    assert "You are the front" not in whole_request_picture(requests, 1)
    assert "Is there a slot" in whole_request_picture(requests, 1, show_text=True)


def test_a_log_without_requests_is_a_sentence():
    assert "no request" in sentence_of(whole_request_picture(WholeRequests([]), 1))
    assert "no request" in repr(request_explorer([]))


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("name", ["two_step", "parallel", "cancelled_stream", "interrupted", "resumed", "replaced", "packed"])
def test_every_sample_is_drawn(name, lang):
    with speaking(lang):
        requests = WholeRequests(log_samples.load(name).events)
        for at in range(1, len(requests) + 1):
            Reader(whole_request_picture(requests, at, show_text=True))


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_text(text):
    def tags(said):
        session, desk = Session.create("s"), Desk()
        prompt = Prompt([Section(said, said, version=said)], [Tools(said, [{"name": said}], version=said)],
                        [ContextPart(said, lambda: said, version=said)], [Opener(said, said, version=said)])
        ask(session, desk, said, Reply(said), prompt=prompt)
        ask(session, desk, said, Reply(said), prompt=prompt)
        assert len(explain_request(session.events, 5)) == 6
        assert parts_table(session.events, 2).to_html()
        reader = Reader(request_explorer(session.events, show_text=True).still.picture)
        tags = Counter(tag for tag in reader.tags if tag not in ("strong", "span"))  # a scale may have a mark more
        return tags, {(tag, name) for tag, name, _ in reader.attributes}

    assert tags(text) == tags("a")


def test_moving_the_slider_draws_that_request(day):
    explorer = request_explorer(day.session.events)
    for at in (3, 8, 1):
        explorer.request.value = at
        assert f"Request {at} of 8" in repr(explorer.still)


# Tables

def test_the_table_has_a_row_a_part(day, requests):
    for at in range(1, 9):
        table = parts_table(day.session.events, at)
        assert list(table["seq"]) == [seqs(piece.part.seqs) for piece in requests.pieces(at)]
        assert [name for name in table["name"] if name] == [
            shortened(piece.part.name, 20) for piece in requests.pieces(at)
            if piece.part.kind not in ("user", "answer", "plugin", "summary")]
        assert [version for version in table["version"] if version] == [
            piece.part.version for piece in requests.pieces(at) if piece.part.version]


def test_every_trick_but_none_is_found(day):
    for one in day.received[1:]:
        table = smuggle_table(one.request)
        assert list(table[table.columns[1]] == "no difference") == [True] + [False] * (len(SMUGGLED) - 1)
    assert list(smuggle_table(day.received[0].request).iloc[:, 1])[4] == f"message {len(day.received[0].request.messages)}"


def test_a_whisper_is_one_more_message(day):
    request = day.received[0].request
    said = whispered(request, "Psst.").messages
    assert list(said[:-1]) == list(request.messages)
    assert said[-1]["content"][0]["text"] == "Psst."


def test_plugins_are_the_messages_that_no_user_said(day):
    assert [plugin for _, plugin in plugins(day.session.events)] == [
        "session-opener", "dynamic-context", "dynamic-context", "compact", "session-opener", "compact", "dynamic-context"]


# The check, beyond the recorded wrong answers

def prices_part(read, scope="global"):
    return ContextPart("prices", read, scope=scope, version="prices.csv")


def appended(prompt, prices):
    context = list(prompt.context)
    context.append(prices_part(lambda: prices()))
    return replace(prompt, context=context)


def scoped(prompt, prices):
    part = prices_part(prices, prompt.scope)
    return Prompt(prompt.sections, prompt.tools, (part, *prompt.context), prompt.openers, prompt.variables, prompt.scope)


def copied(prompt, prices):
    parts = [replace(part) for part in prompt.context]
    return replace(deepcopy(prompt), context=[*parts, prices_part(prices)], sections=tuple(prompt.sections))


def with_words_around(prompt, prices):
    def read():
        return f"The prices are:\n{prices()}"

    return replace(prompt, context=[*prompt.context, prices_part(read)])


def remembering(prompt, prices):
    texts = {}
    return replace(prompt, context=[*prompt.context, prices_part(lambda: texts.setdefault(prices(), prices()))])


@pytest.mark.parametrize("answer", [appended, scoped, copied, with_words_around, remembering])
def test_other_right_answers_are_right(answer):
    assert str(check_sourced(answer)) == "✓ Correct."


@pytest.mark.parametrize("field", ["sections", "tools", "openers", "context"])
def test_one_part_more_of_any_kind_is_refused(field):
    parts = {"sections": Section("note", "", scope="nowhere"), "tools": Tools("none", []), "openers": Opener("note", ""),
             "context": ContextPart("note", lambda: "")}

    def twofold(prompt, prices):
        right = appended(prompt, prices)
        return replace(right, **{field: [*getattr(right, field), parts[field]]})

    assert check_sourced(twofold).key == "b6_wrong_extra"


def test_an_answer_that_changes_what_it_was_given_spoils_no_later_run():
    def spoiling(prompt, prices):
        if prompt.sections:
            prompt.context.append(prices_part(prices))
            prompt.tools[0].schemas[0]["name"] = "spoilt"
        return appended(prompt, prices)

    assert check_sourced(spoiling).key == check_sourced(spoiling).key == "b6_wrong_mutated"
    assert check_sourced(appended).correct


@pytest.mark.parametrize("every", [2, 3])
def test_a_list_that_is_asked_for_now_and_then_only_is_refused(every):
    def seldom(prompt, prices):
        asked = []

        def read():
            asked.append(prices() if len(asked) % every == 0 else asked[-1])
            return asked[-1]

        return replace(prompt, context=[*prompt.context, prices_part(read)])

    assert check_sourced(seldom).key == "b6_wrong_stale"

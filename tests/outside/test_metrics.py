"""Definitions of metrics: found by id and version, in a file that says one thing; what is wrong with a file is said."""
import json
from pathlib import Path

import pytest

from labsupport.errors import MetricMissingError, OutsideCorruptError, OutsideFileError, OutsideFormatError
from labsupport.outside import Metrics
from labsupport.workbench.invoice_task import METRICS

TESTS = {"id": "tests", "version": 1, "name": "Tests", "formula": {"count": 1}, "words": "all", "status": "active"}


def written(tmp_path: Path, *metrics: object, **more: object) -> Path:
    path = tmp_path / "metrics.json"
    path.write_text(json.dumps({"format": 1, "metrics": list(metrics), **more}), "utf-8")
    return path


def test_the_shipped_definitions_are_found_and_give_different_figures():
    metrics, rows = Metrics(METRICS), [{"count": "10", "repeats": "3"}]
    assert [(metric.version, metric.status, metric.value(rows)) for metric in metrics.versions("tests")] == [
        (1, "retired", 10), (2, "active", 7), (3, "draft", 4)]
    assert metrics.active("tests") == metrics.get("tests", 2)


def test_a_version_that_was_looked_up_stays_when_another_becomes_active(tmp_path):
    path = written(tmp_path, TESTS)
    before = Metrics(path)
    written(tmp_path, {**TESTS, "status": "retired"}, {**TESTS, "version": 2, "formula": {"count": 2}})
    after = Metrics(path)
    assert (before.active("tests").version, after.active("tests").version) == (1, 2)
    assert after.get("tests", 1).formula == before.get("tests", 1).formula


def test_a_definition_cannot_be_changed(tmp_path):
    metric = Metrics(written(tmp_path, TESTS)).get("tests", 1)
    with pytest.raises(TypeError):
        metric.formula["count"] = 2
    with pytest.raises(AttributeError):
        metric.version = 2


@pytest.mark.parametrize(("ask", "sentence"), [
    (lambda metrics: metrics.get("tests", 9), "has no version 9; it has 1, 2, 3"),
    (lambda metrics: metrics.get("tests", True), "has no version True"),
    (lambda metrics: metrics.get("test", 1), "no metric is called 'test'; there is tests"),
    (lambda metrics: metrics.versions(""), "no metric is called ''; there is repeats, tests"),
], ids=["version", "true is no version", "near miss", "empty"])
def test_what_is_not_there_is_answered_with_what_is(ask, sentence):
    with pytest.raises(MetricMissingError, match=sentence):
        ask(Metrics(METRICS))


def test_no_active_version_is_no_reason_to_take_another(tmp_path):
    with pytest.raises(MetricMissingError) as caught:
        Metrics(written(tmp_path, {**TESTS, "status": "draft"})).active("tests")
    assert (caught.value.id, caught.value.version, caught.value.known) == ("tests", None, (1,))


@pytest.mark.parametrize("metrics", [
    [TESTS, TESTS], [TESTS, {**TESTS, "version": 2}], [{**TESTS, "version": 0}], [{**TESTS, "version": "1"}],
    [{**TESTS, "formula": {}}], [{**TESTS, "formula": {"count": 1.5}}], [{**TESTS, "status": "new"}], [{**TESTS, "id": ""}],
    [{**TESTS, "owner": "ana"}], [None], [{"id": "tests"}],
], ids=["twice", "two active", "version 0", "version a text", "no formula", "half a column", "status", "no id", "more", "null",
        "less"])
def test_a_file_that_says_two_things_or_none_is_refused(tmp_path, metrics):
    with pytest.raises(OutsideCorruptError):
        Metrics(written(tmp_path, *metrics))


@pytest.mark.parametrize("text", ["", "[]", "null", "{", '{"format": 1}', '{"format": 0, "metrics": []}'])
def test_another_file_is_refused(tmp_path, text):
    path = tmp_path / "metrics.json"
    path.write_text(text, "utf-8")
    with pytest.raises(OutsideCorruptError, match=r"metrics\.json: "):
        Metrics(path)


def test_a_newer_file_is_not_damaged(tmp_path):
    with pytest.raises(OutsideFormatError) as caught:
        Metrics(written(tmp_path, TESTS, format=2))
    assert caught.value.version == 2


def test_a_missing_file_says_so(tmp_path):
    with pytest.raises(OutsideFileError, match="cannot be read"):
        Metrics(tmp_path / "none.json")

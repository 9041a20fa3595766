"""The start page: its map and its self-test."""
from pathlib import Path

import pytest

from labsupport.errors import LabError
from labsupport.workbench.labs import LABS
from labsupport.workbench.pictures.map import ROAD, map_picture
from labsupport.workbench.selftest import self_test, slider_test
from labsupport.workbench.show import sentence_of
from labsupport.workbench.text import LANGUAGES, speaking
from tests.notebooks.books import Reader


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_map_lists_every_lab_with_a_link_and_reads_well_without_styles(lang):
    with speaking(lang):
        reader = Reader(map_picture())
        text = " ".join("".join(reader.text).split())
        assert all(word in text for lab in LABS for word in (lab.title, lab.question, lab.module))
    links = [value for tag, name, value in reader.attributes if (tag, name) == ("a", "href")]
    assert set(links) == {f"{lab.name}.ipynb" for lab in LABS} | {f"../../labsupport/{lab.module}" for lab in LABS[1:]}
    assert {name for stage in ROAD for name in stage.labs} == {lab.id for lab in LABS} - {"00"}
    assert sentence_of(map_picture()) in map_picture().replace("<strong>", "").replace("</strong>", "")


def test_modules_on_the_map_exist():
    import labsupport

    places = {lab.module for lab in LABS[1:]} | {stage.module for stage in ROAD if stage.module}
    root = labsupport.__path__[0]
    assert [place for place in places if not (Path(root) / place).exists()] == []


def test_the_self_test_is_content_here(monkeypatch, tmp_path):
    (tmp_path / ".lang").write_text("en\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    with speaking("en"):
        report = self_test()
        assert report.good, str(report)
        assert str(report).endswith("You can start.")
        assert str(report).count(": yes") == len(report.facts)


def test_the_self_test_says_what_is_wrong_and_what_to_do(monkeypatch, tmp_path):
    from importlib import metadata

    real = metadata.version
    monkeypatch.chdir(tmp_path)  # no .lang here
    monkeypatch.setattr(metadata, "version", lambda name: "0.0" if name == "pandas" else real(name))
    monkeypatch.setattr("labsupport.miniagent.load_session", lambda path: (_ for _ in ()).throw(LabError("line 1")))
    with speaking("en"):
        said = str(self_test())
    assert "the packages have their pinned versions: no (pandas 0.0)" in said
    assert "a session file can be written and read back: no (LabError: line 1)" in said
    assert "this notebook knows its language: no (.lang)" in said
    assert "python3 lab.py" in said


def test_the_slider_test_moves():
    with speaking("en"):
        shown = slider_test()
        shown.n.value = 7
        assert repr(shown.still).startswith("The slider is at 7.")

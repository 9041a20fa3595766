"""Public faults in what people are shown: a name that becomes a tag (B77), an output that depends on how it was run (B82)."""
import asyncio

import build
import nbformat
import pytest

from labsupport.errors import LabError
from labsupport.sessionlog import Session, replay
from labsupport.workbench.compaction_tables import six_questions, surface_table
from labsupport.workbench.explorers.b3 import watermark_explorer
from labsupport.workbench.report import lab_report
from labsupport.workbench.show import Explorer
from labsupport.workbench.tables import event_table
from labsupport.workbench.text import LANGUAGES, speaking
from tests.notebooks.books import Reader, code
from tests.notebooks.test_pipeline import unfit
from tests.test_scrubber import EVIL, evil_log


def compacted(text):
    """A compaction of another writer, with *text* wherever it can put one."""
    session = Session.create(text)
    said = {"shadowedSeqs": [], "provider": text, "model": text, "usage": {text: text}}
    for kind, data in (("start", {"trigger": text}), ("summary", said), ("end", {"error": {"code": text, "message": text}})):
        session.append(f"compaction/{kind}", {"compactionId": text, "turn": text, **data})
    return session.events


def refusing(text):
    """What an explorer shows of an error that names *text*."""
    def draw():
        raise LabError(f"sessions/{text}.jsonl: there is no session {text!r}")

    return Explorer(draw).still.picture


def watermarks(text):
    """The picture of lab B3 at every event, one behind the other."""
    explorer = watermark_explorer(evil_log(text), show_text=True)
    pictures = []
    for seq in range(len(evil_log(text))):
        explorer.seq.value = seq
        pictures.append(explorer.still.picture)
    return "".join(pictures)


SHOWN = {
    "watermarks": watermarks, "events": lambda text: event_table(evil_log(text))._repr_html_(),
    "surface": lambda text: surface_table(replay(evil_log(text)))._repr_html_(),
    "six questions": lambda text: six_questions(compacted(text), text)._repr_html_(), "error": refusing,
    "report": lambda text: lab_report(evil_log(text))._repr_html_(),
}


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("show", SHOWN.values(), ids=SHOWN)
def test_b77_a_name_from_a_log_makes_no_tag_and_no_attribute(show, lang):
    with speaking(lang):
        evil, harmless = Reader(show(EVIL)), Reader(show("harmless"))
    assert evil.tags == harmless.tags
    assert [name for _, name, _ in evil.attributes] == [name for _, name, _ in harmless.attributes]


NOISY = """\
import sys
for step in range(3):
    print("step", step, end=" ", flush=True)
print("done")
"""


@pytest.mark.slow
def test_b82_pieces_of_an_output_are_saved_as_one_and_what_no_run_repeats_is_found(tmp_path):
    cells = [nbformat.v4.new_code_cell(source, id=key) for key, source in (
        ("pieces", NOISY), ("noise", 'print("careful", file=sys.stderr)'), ("address", "print(object())"))]
    nb = nbformat.v4.new_notebook(cells=cells, metadata=build.METADATA)
    asyncio.run(build.make(nb, tmp_path / "en" / "noisy.ipynb", asyncio.Semaphore(1)))
    saved = code(nbformat.read(tmp_path / "en" / "noisy.ipynb", as_version=4))
    assert [output.text for output in saved[0].outputs] == ["step 0 step 1 step 2 done\n"]
    assert unfit(nb) == ["noise saves a warning", "address names something of this machine"]

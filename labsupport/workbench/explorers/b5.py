"""Lab B5: choose a range of the surface and a tail that is to stay, and see what a compaction makes of them."""
from functools import cache

import ipywidgets as widgets

from labsupport.errors import PairingError
from labsupport.sessionlog import Session
from labsupport.sessionlog.summarizers import Summarizer
from labsupport.workbench.compactions import Compactions
from labsupport.workbench.pictures.base import page
from labsupport.workbench.pictures.compaction import compaction_picture
from labsupport.workbench.show import Explorer
from labsupport.workbench.text import say


def compaction_explorer(session: Session, *, summarizer: Summarizer | None = None, show_text: bool = False) -> Explorer:
    """Three sliders over *session* as it is now: `start` and `end` of the range (seqs of nodes), and the tokens to `retain`.

    At every place the range is really compacted, on a copy; it begins with the range that the library chooses for a small tail.
    """
    try:
        tries = Compactions(session, summarizer)
    except PairingError as error:
        orphan = page(say("b5_label"), say("b5_say_orphan", seq=error.seq), alert=True)
        return Explorer(lambda: orphan)
    seqs = [node.seq for node in tries.nodes]
    tails = tail_sizes(tries.before.estimated)
    chosen = tails[min(1, len(tails) - 1)]

    @cache
    def draw(start: int, end: int, retain: int) -> str:
        if not seqs:
            return page(say("b5_label"), say("b5_no_nodes"))
        return compaction_picture(tries, tries.at(start, end, retain), show_text)

    return Explorer(draw, start=_slider(seqs or [0], 0, "b5_start"),
                    end=_slider(seqs or [0], max(0, tries.tail(chosen) - 1) if seqs else 0, "b5_end"),
                    retain=_slider(tails, tails.index(chosen), "b5_retain"))


def tail_sizes(tokens: int) -> list[int]:
    """Round sizes for a tail of a surface of *tokens*, from nothing to more than half of it.

    >>> tail_sizes(700)
    [0, 20, 50, 100, 200, 500]
    """
    return [0, *(digit * 10**power for power in range(1, 12) for digit in (1, 2, 5) if 20 <= digit * 10**power < tokens)]


def _slider(options: list[int], place: int, words: str) -> widgets.SelectionSlider:
    return widgets.SelectionSlider(options=options, value=options[place], description=say(words), layout={"width": "262px"})

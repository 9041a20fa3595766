"""The map of the start page: the road that a message travels, and the labs that are built, as a table of links."""
from itertools import groupby
from typing import NamedTuple

from labsupport.workbench.labs import LABS, Lab
from labsupport.workbench.pictures.base import Column, esc, key, number, page, table, td, th, tr
from labsupport.workbench.text import say


class Stage(NamedTuple):
    """A place on the road: the key of its name, the module that makes it, the labs that show it."""

    words: str
    module: str
    labs: tuple[str, ...]


ROAD = (
    Stage("map_lines", "miniagent/session.py", ("A1",)),
    Stage("map_events", "sessionlog/session.py", ("B1", "B3", "B4", "B7", "B8", "B10")),
    Stage("map_surface", "sessionlog/surface.py", ("B2", "B5")),
    Stage("map_messages", "miniagent/messages.py", ("A1", "A3")),
    Stage("map_request", "miniagent/context.py", ("A2", "B6")),
    Stage("map_model", "miniagent/agent.py", ("A3", "B9", "B11")),
)
PARTS = {"0": "map_part_start", "A": "map_part_a", "B": "map_part_b"}


def map_picture(labs: tuple[Lab, ...] = LABS) -> str:
    """The road and the table of *labs*, both with links: the start page."""
    minutes = [lab.minutes for lab in labs if lab.id != "00"]
    sentence = say("map_sentence", count=len(minutes), least=min(minutes), most=max(minutes))
    return page(say("map_label"), sentence, _road(labs), _table(labs), key(esc(say("map_arrows")), esc(say("map_keyboard"))))


def _road(labs: tuple[Lab, ...]) -> str:
    stages = "\n".join(_stage(stage, labs) for stage in ROAD)
    return (f'<div class="xp-rail" style="grid-template-columns:112px 1fr"><p class="xp-q">{esc(say("map_road"))}</p>\n'
            f'<ol class="is-flow" style="grid-template-columns:repeat({len(ROAD)},minmax(0,1fr))">\n{stages}\n</ol></div>')


def _stage(stage: Stage, labs: tuple[Lab, ...]) -> str:
    links = " ".join(_link(lab) for lab in labs if lab.id in stage.labs)
    module = stage.module.split("/")[-1]
    return (f'<li><div class="xp-st">{esc(say(stage.words))}</div> <div class="xp-m xp-q xp-fn">{module}</div> '
            f'<div class="xp-ls">{links}</div></li>')


def _link(lab: Lab) -> str:
    return f'<a href="{lab.name}.ipynb" class="xp-m">{lab.id}</a>'


def _module(place: str) -> str:
    """The module at *place* in labsupport, as a link that opens it; the start page has none."""
    return f'<a href="../../labsupport/{place}">{place}</a>' if place.endswith(".py") else place


def _table(labs: tuple[Lab, ...]) -> str:
    columns = [Column(say("map_lab"), 40), Column(say("map_title"), 152), Column(say("map_question"), 396),
               Column(say("map_chapter"), 56), Column(say("map_module"), 180), Column(say("map_minutes"), 66, "xp-n")]
    rows = []
    for part, members in groupby(labs, lambda lab: lab.id[0]):
        rows.append(tr(th(f'<span class="xp-strong">{esc(say(PARTS[part]))}</span>', colspan=6, scope="rowgroup"),
                       classes="xp-grp"))
        rows += [_row(lab) for lab in members]
    return table(columns, rows)


def _row(lab: Lab) -> str:
    chapters = lab.chapter.replace(", ", say("map_and"))
    return tr(td(_link(lab), "xp-b"), th(esc(lab.title)), td(esc(lab.question), "xp-q"), td(esc(chapters), "xp-m"),
              td(_module(lab.module), "xp-m"), td(number(lab.minutes), "xp-n"), classes="is-first")

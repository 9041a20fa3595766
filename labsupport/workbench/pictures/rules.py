"""The two rules beside each other: the same history and budget, cut by the chapter's units and by closed ones (lab A2)."""
from collections.abc import Sequence

from labsupport.errors import ContextSerializationError
from labsupport.miniagent import ContextBudget, Message, ToolMessage, estimate_context_chars
from labsupport.workbench.pictures.base import Column, heading, number, page, panels, table, td, tr
from labsupport.workbench.pictures.trimmed import Trimmed, message_cell, quoted, role_cell, trimmed, unit_cells
from labsupport.workbench.text import say


def rules_picture(messages: Sequence[Message], max_chars: int, show_text: bool = False) -> str:
    """Two tables over the same *messages*: which rows are one unit, which are kept, and which result lost its call.

    A message that has no length is told in the sentence.
    """
    try:
        estimate_context_chars(messages)
    except ContextSerializationError as error:
        return page(say("a2_rules_label"), say("a2_no_length", index=error.index), alert=True)
    chapter = trimmed(ContextBudget(messages, "chapter"), max_chars)
    closed = trimmed(ContextBudget(messages, "closed"), max_chars)
    tables = [heading(say(title), say(note)) + _table(view, show_text) for view, title, note in (
        (chapter, "a2_rules_chapter", "a2_rules_chapter_note"), (closed, "a2_rules_closed", "a2_rules_closed_note"))]
    return page(say("a2_rules_label"), _sentence(chapter, closed), panels(*tables, widths=(438, 438)))


def _table(view: Trimmed, show_text: bool) -> str:
    columns = [Column("", 14), Column(say("a2_col_unit"), 36, "xp-n"), Column(say("a2_col_role"), 84),
               Column(say("a2_col_message"), 162), Column(say("a2_col_chars"), 46, "xp-n"), Column(say("a2_col_state"), 96)]
    rows = [tr(*unit_cells(view, index, 0), role_cell(message), message_cell(message, 20, show_text),
               td(number(view.budget.costs[index]), "xp-n"), view.state(index, view.begins_unit(index)),
               classes=view.row_classes(index), now=view.is_edge(index))
            for index, message in enumerate(view.budget.messages)]
    return table(columns, rows)


def _sentence(chapter: Trimmed, closed: Trimmed) -> str:
    """What each rule keeps, and what that costs the chapter's: results whose call is gone."""
    budget = chapter.max_chars
    if chapter.fit is None:
        return say("a2_rules_both_refused", budget=budget)
    counts = [sum(map(view.keeps, range(len(view.budget.messages)))) for view in (chapter, closed)]
    if counts[0] == counts[1]:
        return say("a2_rules_same", budget=budget, kept=counts[0])
    parts = [say("a2_rules_differ", budget=budget, chapter=counts[0], closed=counts[1])]
    if chapter.lost:
        results = [chapter.budget.messages[index] for index in sorted(chapter.lost)]
        ids = [quoted(message.tool_call_id, 12) for message in results if isinstance(message, ToolMessage)]
        parts.append(say("a2_rules_lost", ids=", ".join(ids[:3]) + (" …" if len(ids) > 3 else "")))
    if closed.fit is None:
        parts.append(say("a2_rules_refused", needed=closed.needed))
    return say("a2_join").join(parts)

"""Characters beside real tokens: how many characters a token holds depends on what is written (lab A2)."""
from collections.abc import Mapping

from labsupport.lossless import utf16_length
from labsupport.sessionlog.tokens import count_tokens
from labsupport.workbench.pictures.base import Column, bar, esc, excerpt, number, page, table, td, th, tr
from labsupport.workbench.pictures.trimmed import quoted
from labsupport.workbench.text import say

SAMPLES = {
    "a2_density_chinese": "甲状腺检验比上一年少很多，先核对明细，再看是不是漏了重做。",
    "a2_density_english": "Thyroid tests are far below last year: check the rows first, then the repeats.",
    "a2_density_json": '{"clinic":"hillside","test":"thyroid","month":"2025-06","count":0,"repeats":9}',
    "a2_density_python": "total = sum(int(row['count']) for row in rows if row['clinic'] == 'hillside')",
}
"""Key of a name → a text of that kind."""


def density_picture(texts: Mapping[str, str] | None = None) -> str:
    """A row for each of *texts* (name → text, not empty): characters, tokens, and how many characters a token holds.

    Without *texts*: Chinese, English, JSON and Python. Characters are counted as the budget counts them.
    """
    texts = {say(name): text for name, text in SAMPLES.items()} if texts is None else texts
    counted = {name: (utf16_length(text), count_tokens(text)) for name, text in texts.items()}
    ratios = {name: characters / tokens for name, (characters, tokens) in counted.items()}
    in_thousand = {name: round(1000 / ratio) for name, ratio in ratios.items()}
    most, least = min(ratios, key=ratios.__getitem__), max(ratios, key=ratios.__getitem__)
    columns = [Column("", 72), Column(say("a2_density_text"), 480), Column(say("a2_col_chars"), 52, "xp-n"),
               Column(say("a2_col_tokens"), 56, "xp-n"), Column(say("a2_density_ratio"), 90, "xp-n"), Column("", 150)]
    rows = [tr(th(esc(name[:12])), td(excerpt(text, 84)), td(number(counted[name][0]), "xp-n"),
               td(number(counted[name][1]), "xp-n"), td(number(ratios[name]), "xp-n xp-strong"),
               td(bar("structure", 0, ratios[name], max(ratios.values())), "xp-b"), classes="is-first")
            for name, text in texts.items()]
    sentence = say("a2_density_sentence", most_name=quoted(most, 24), most=in_thousand[most],
                   least_name=quoted(least, 24), least=in_thousand[least])
    return page(say("a2_density_label"), sentence, table(columns, rows))

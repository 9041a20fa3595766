"""Small histories for the labs: written and read in the notation of chapter 34, `user, assistant{a,b}, tool a, tool b`."""
import random
import re
from collections.abc import Sequence

from labsupport.errors import LabError
from labsupport.miniagent import AssistantMessage, Message, ToolCall, ToolMessage, UserMessage, find_orphans
from labsupport.own import own_seed

_WORD = re.compile(r"user|assistant(?:\{[^{}]+\})?|tool [^\s,{}]+")


def history(notation: str) -> list[Message]:
    """The messages that *notation* names, each with a few words of content.

    >>> [message.role for message in history("user, assistant{a,b}, tool a, tool b")]
    ['user', 'assistant', 'tool', 'tool']

    Nothing is corrected: a result may stand without its call. Any other word raises LabError.
    """
    words = [word for word in re.split(r",\s*(?![^{]*\})", notation.strip()) if word]
    for number, word in enumerate(words, start=1):
        if not _WORD.fullmatch(word):
            raise LabError(f"word {number} of this notation is none of: user, assistant, assistant{{a,b}}, tool a")
    return [_message(word, index) for index, word in enumerate(words)]


def _message(word: str, index: int) -> Message:
    if word == "user":
        return UserMessage(f"question {index}")
    if word.startswith("tool "):
        return ToolMessage(word[5:], f"result of {word[5:]}", False)
    ids = [name.strip() for name in word[len("assistant{"):-1].split(",")] if "{" in word else []
    return AssistantMessage("" if ids else f"answer {index}", tuple(ToolCall(name, "look_up", {"key": name}) for name in ids))


def shape(messages: Sequence[Message]) -> str:
    """*messages* in the notation of `history`: roles and ids, no contents.

    >>> shape(history("user, assistant{a, b}, tool a"))
    'user, assistant{a,b}, tool a'
    """
    return ", ".join(map(_word, messages))


def _word(message: Message) -> str:
    if isinstance(message, ToolMessage):
        return f"tool {message.tool_call_id}"
    if isinstance(message, AssistantMessage) and message.tool_calls:
        return f"assistant{{{','.join(call.id for call in message.tool_calls)}}}"
    return message.role


def lost_results(messages: Sequence[Message], start: int) -> list[int]:
    """The indexes in *messages* of the results that lose their call when everything before *start* is cut off.

    >>> lost_results(history("assistant{x}, assistant{y}, tool x, tool y"), start=1)
    [2]

    An orphan had no call to lose:

    >>> lost_results(history("user, tool lost"), start=1)
    []
    """
    already = set(find_orphans(messages))
    return [index + start for index in find_orphans(messages[start:]) if index + start not in already]


def random_history(seed: int) -> list[Message]:
    """A history of a few calls, the same for the same *seed*: some are interleaved, some results late, some ids come again.

    >>> shape(random_history(1)) == shape(random_history(1))
    True
    """
    rng = random.Random(own_seed(seed))
    waiting: list[str] = []
    answered: list[str] = []
    words: list[str] = []
    for number in range(rng.randint(4, 14)):
        step = rng.random()
        if waiting and step < 0.5:
            answered.append(waiting.pop(rng.randrange(len(waiting))))
            words.append(f"tool {answered[-1]}")
        elif step < 0.8:
            ids = [f"c{number}{letter}" for letter in "abc"[:rng.randint(1, 3)]]
            if answered and rng.random() < 0.2:  # a provider that counts anew in each turn
                ids[0] = answered[0]
            waiting += ids
            words.append(f"assistant{{{','.join(ids)}}}")
        else:
            words.append(rng.choice(("user", "assistant")))
    return history(", ".join([*words, *(f"tool {name}" for name in waiting)]))

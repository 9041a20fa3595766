"""Messages by chance, the same for the same seed: the awkward ones that a law has to hold for."""
import random

from labsupport.lossless import MAX_SAFE_INTEGER
from labsupport.miniagent import AssistantMessage, Message, ToolCall, ToolMessage, UserMessage
from labsupport.own import own_seed

TEXTS = ("", "预算", "🙂", 'quote " and \\', "line one\nline two", "tab\t, CR\r, NUL\0", "\u2028\u2029\x85", "\ufeff",
         "half \ud83d", "</script>", "long " * 50)
LEAVES = (None, True, False, 0, -1, MAX_SAFE_INTEGER, 0.1, -2.5e-7, 1e300, *TEXTS)


def random_messages(seed: int) -> list[Message]:
    """One to eight messages of all three kinds. They can be restored; whether they make sense together is left to chance.

    >>> random_messages(3) == random_messages(3) != random_messages(4)
    True
    """
    rng = random.Random(own_seed(seed))
    return [_message(rng) for _ in range(rng.randint(1, 8))]


def _message(rng: random.Random) -> Message:
    kind, text = rng.choice((UserMessage, AssistantMessage, ToolMessage)), rng.choice(TEXTS)
    if kind is UserMessage:
        return UserMessage(text)
    if kind is ToolMessage:
        return ToolMessage(rng.choice(TEXTS), text, rng.random() < 0.5)
    return AssistantMessage(text, tuple(ToolCall(rng.choice(TEXTS), rng.choice(TEXTS), _value(rng, 3))
                                        for _ in range(rng.randint(0, 3))))


def _value(rng: random.Random, depth: int) -> object:
    shape = rng.random() if depth else 0
    if shape < 0.5:
        return rng.choice(LEAVES)
    items = [_value(rng, depth - 1) for _ in range(rng.randint(0, 3))]
    return items if shape < 0.75 else {rng.choice(TEXTS): item for item in items}

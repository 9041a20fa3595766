"""The peers' side of what is measured on histories. It runs in the peers' environment and knows nothing of this library.

Every peer is imported where it is used, so that this module can be read anywhere.
"""
import asyncio
import json
import math
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

from tests.benchmarks.environment import serve, timed
from tests.benchmarks.histories import one_by_one, read, spaced

held: dict[str, Any] = {}
"""What `hold` has read, for the jobs that are timed."""


def hold(path: str) -> None:
    """Read the history *path* in both forms that `encode` and `trim` work on."""
    from langchain_core.messages.utils import count_tokens_approximately

    held["plain"] = read(path)
    held["langchain"] = _langchain(held["plain"])
    held["half"] = count_tokens_approximately(held["langchain"]) // 2


def encode(start: int) -> float:
    """Seconds for orjson to write all messages from *start* on, one by one."""
    import orjson

    return timed(one_by_one, orjson.dumps, held["plain"][start:])


def trim() -> float:
    """Seconds for langchain-core to trim the history to half of its tokens, as it counts them."""
    from langchain_core.messages import trim_messages
    from langchain_core.messages.utils import count_tokens_approximately

    return timed(lambda: trim_messages(
        held["langchain"], max_tokens=held["half"], token_counter=count_tokens_approximately, strategy="last"))


def sweep(path: str, newest: int, budgets: int) -> list[dict[str, Any]]:
    """What each peer keeps of the history *path* with each of *budgets* budgets.

    They are evenly spaced from the cost of the *newest* last messages to that of all, in the peer's own unit. An answer
    has the peer's name, and a list of [indexes of the kept messages, whether they cost more than the budget].
    """
    history = read(path)
    answers = []
    for make in (_langchain_trims, _langchain_trims_to_human, _autogen_buffers, _autogen_counts, _agent_framework_truncates):
        name, cost, keep = make(history)
        whole = list(range(len(history)))
        low, high = cost(whole[-newest:]), cost(whole)
        kept = [(budget, keep(budget)) for budget in spaced(low, high, budgets)]
        answers.append({"name": name, "kept": [[indexes, cost(indexes) > budget] for budget, indexes in kept]})
    return answers


Cost = Callable[[list[int]], int]
Keep = Callable[[int], list[int]]


def _langchain(history: list[dict[str, Any]]) -> list[Any]:
    from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

    def convert(index: int, message: dict[str, Any]) -> Any:
        name = str(index)
        if message["role"] == "user":
            return HumanMessage(message["content"], id=name)
        if message["role"] == "tool":
            return ToolMessage(message["content"], tool_call_id=message["toolCallId"], id=name,
                               status="error" if message["isError"] else "success")
        calls = [{"id": call["id"], "name": call["name"], "args": call["input"]} for call in message["toolCalls"]]
        return AIMessage(message["content"], tool_calls=calls, id=name)

    return [convert(index, message) for index, message in enumerate(history)]


def _langchain_trims(history: list[dict[str, Any]], **options: Any) -> tuple[str, Cost, Keep]:
    from langchain_core.messages import trim_messages
    from langchain_core.messages.utils import count_tokens_approximately

    messages = _langchain(history)

    def keep(budget: int) -> list[int]:
        kept = trim_messages(messages, max_tokens=budget, token_counter=count_tokens_approximately, strategy="last", **options)
        return [int(message.id) for message in kept]

    name = " ".join(["trim_messages", *(f"{key}={value}" for key, value in options.items())])
    return (f"langchain-core {version('langchain-core')} {name}",
            lambda indexes: count_tokens_approximately([messages[index] for index in indexes]), keep)


def _langchain_trims_to_human(history: list[dict[str, Any]]) -> tuple[str, Cost, Keep]:
    return _langchain_trims(history, start_on="human")


def _autogen(history: list[dict[str, Any]]) -> tuple[list[Any], dict[int, list[int]]]:
    """The messages, results that follow each other in one as that library wants it; which indexes each of them holds."""
    from autogen_core import FunctionCall
    from autogen_core.models import AssistantMessage, FunctionExecutionResult, FunctionExecutionResultMessage, UserMessage

    messages: list[Any] = []
    places: dict[int, list[int]] = {}
    names = {call["id"]: call["name"] for message in history for call in message.get("toolCalls", ())}
    for index, message in enumerate(history):
        content = message["content"]
        if message["role"] == "tool":
            result = FunctionExecutionResult(content=content, name=names[message["toolCallId"]],
                                             call_id=message["toolCallId"], is_error=message["isError"])
            if isinstance(messages[-1], FunctionExecutionResultMessage):
                messages[-1].content.append(result)
            else:
                messages.append(FunctionExecutionResultMessage(content=[result]))
        elif message["role"] == "user":
            messages.append(UserMessage(content=content, source="user"))
        else:
            calls = [FunctionCall(id=call["id"], name=call["name"], arguments=json.dumps(call["input"]))
                     for call in message["toolCalls"]]
            messages.append(AssistantMessage(content=calls or content, thought=content if calls else None, source="agent"))
        places.setdefault(id(messages[-1]), []).append(index)
    return messages, places


def _autogen_buffers(history: list[dict[str, Any]]) -> tuple[str, Cost, Keep]:
    from autogen_core.model_context import BufferedChatCompletionContext

    messages, places = _autogen(history)

    def keep(budget: int) -> list[int]:
        context = BufferedChatCompletionContext(buffer_size=budget, initial_messages=messages)
        return [index for message in asyncio.run(context.get_messages()) for index in places[id(message)]]

    return (f"autogen-core {version('autogen-core')} BufferedChatCompletionContext",
            lambda indexes: sum(not set(place).isdisjoint(indexes) for place in places.values()), keep)


def _autogen_counts(history: list[dict[str, Any]]) -> tuple[str, Cost, Keep]:
    from autogen_core.model_context import TokenLimitedChatCompletionContext

    messages, places = _autogen(history)
    costs = {id(message): math.ceil(len(message.model_dump_json()) / 4) for message in messages}

    class Counter:
        """The part of a model client that is asked; the tokens are a quarter of the characters."""

        def count_tokens(self, counted: list[Any], *, tools: object = ()) -> int:
            return sum(costs[id(message)] for message in counted)

    def keep(budget: int) -> list[int]:
        context = TokenLimitedChatCompletionContext(
            Counter(), token_limit=budget, initial_messages=messages)  # type: ignore[arg-type]
        return [index for message in asyncio.run(context.get_messages()) for index in places[id(message)]]

    return (f"autogen-core {version('autogen-core')} TokenLimitedChatCompletionContext",
            lambda indexes: sum(costs[key] for key, place in places.items() if not set(place).isdisjoint(indexes)), keep)


def _agent_framework_truncates(history: list[dict[str, Any]]) -> tuple[str, Cost, Keep]:
    from agent_framework import CharacterEstimatorTokenizer, Content, Message, TruncationStrategy, apply_compaction

    def convert(index: int, message: dict[str, Any]) -> Any:
        if message["role"] == "tool":
            contents = [Content.from_function_result(message["toolCallId"], result=message["content"])]
        else:
            contents = [Content.from_text(message["content"])] if message["content"] else []
            contents += [Content.from_function_call(call["id"], call["name"], arguments=call["input"])
                         for call in message.get("toolCalls", ())]
        return Message(message["role"], contents, message_id=str(index))

    def kept(budget: int) -> list[Any]:
        messages = [convert(index, message) for index, message in enumerate(history)]  # new ones: it writes on them
        strategy = TruncationStrategy(max_n=budget, compact_to=budget, tokenizer=CharacterEstimatorTokenizer())
        return asyncio.run(apply_compaction(messages, strategy=strategy, tokenizer=strategy.tokenizer))

    costs = [message.additional_properties["_group"]["token_count"] for message in kept(10**9)]
    return (f"agent-framework-core {version('agent-framework-core')} TruncationStrategy",
            lambda indexes: sum(costs[index] for index in indexes),
            lambda budget: [int(message.message_id) for message in kept(budget)])


if __name__ == "__main__":
    serve({"hold": hold, "encode": encode, "trim": trim, "sweep": sweep})

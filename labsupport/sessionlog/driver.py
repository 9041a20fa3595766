"""The loop that records a task: turns, steps, requests, streams, tools, each a fact before the next begins (chapter 4, §4.2).

It imports no store: what makes the log durable is an argument (`storage.barrier`), as are ids, model, tools and all that may
come in from outside while it runs. The clock is the session's.
"""
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec import UNSET

from labsupport.errors import CompactionError, EventError, ToolHiddenError, ToolUnknownError, UnloggedInputError
from labsupport.frozen import freeze
from labsupport.lossless import joined
from labsupport.sessionlog.json_text import write_data
from labsupport.sessionlog.lineage import check_attached, live_compaction
from labsupport.sessionlog.models import Model, Request
from labsupport.sessionlog.prompt import Composed, Prompt
from labsupport.sessionlog.request import difference
from labsupport.sessionlog.request_log import latest, log_dynamic_context, log_openers, log_request, log_user
from labsupport.sessionlog.session import Session
from labsupport.sessionlog.shapes import canonical_header
from labsupport.sessionlog.spill import Spill
from labsupport.sessionlog.stream import Assembly, Block
from labsupport.sessionlog.tools import CANCELLED, CUT_SHORT, Tool, ToolOutcome, run_tool, words

_log = logging.getLogger(__name__)

Reason = dict[str, Any]
"""Why a turn ended, as its turn/end says it."""

CONTEXT_OVERFLOW = "CONTEXT_OVERFLOW"
"""The code with which a model refuses a request that is too long."""

COMPLETED: Reason = freeze({"kind": "completed"})
ABORTED: Reason = freeze({"kind": "aborted", "reason": {"kind": "user"}})
MAX_TOKENS: Reason = freeze({"kind": "max-tokens"})


@dataclass(frozen=True)
class TurnOutcome:
    """The number of the *turn*, the *reason* why it ended, and how many *steps* it had."""

    turn: int
    reason: Reason
    steps: int


def run_turn(
    session: Session, prompt: str, model: Model, tools: Mapping[str, Tool], *, config: Mapping[str, Any], system: str = "",
    tool_schemas: Sequence[Any] = (), context_window: int | None = None, max_steps: int = 20,
    dynamic_context: Callable[[], Mapping[str, str]] = dict, steering: Callable[[], Iterable[str]] = lambda: (),
    cancelled: Callable[[], bool] = lambda: False, barrier: Callable[[Session], None] = lambda session: None,
    barrier_before_tools: bool = True, make_room: Callable[[Session, str], object] = lambda session, trigger: None,
    spill: Spill | None = None, parts: Prompt | None = None,
    before_send: Callable[[Request], Request] = lambda request: request, new_id: Callable[[], str] | None = None,
) -> TurnOutcome:
    """Answer *prompt* in one turn of *session*: ask *model*, run the tools that it calls, ask again, and log every fact.

    >>> from labsupport.sessionlog.models import Reply, ScriptedModel, call
    >>> session = Session.create("s1")
    >>> model = ScriptedModel([Reply(calls=[call("c1", "add", "[1, 2]")]), Reply("It is 3.")])
    >>> config = {"provider": "p", "model": "m"}
    >>> run_turn(session, "1 + 2?", model, {"add": lambda numbers: str(sum(numbers))}, config=config)
    TurnOutcome(turn=1, reason={'kind': 'completed'}, steps=2)
    >>> [message["role"] for message in session.derive_messages()]
    ['user', 'assistant', 'user', 'assistant']

    *config* names provider and model. *barrier* is called with the session before each request and, unless
    *barrier_before_tools* is false, between a tool/call and its tool: with `storage.barrier` "not started" after a crash is
    then true. *steering* gives what the user said meanwhile; it is asked between steps, and an answer that meets new words gets
    another step. *cancelled* is asked between chunks and before each tool. *dynamic_context* gives sections, name → text; a
    snapshot is logged when they are not those that the model last saw. *make_room* may prune or compact: it is called with the
    session and "pressure" before each request, and once a turn with "context-overflow" after a provider refused one as too
    long; when that gives something true, the next step asks again. *spill* keeps long results outside of the log. *parts* takes
    the place of *system*, *tool_schemas* and *dynamic_context*: named parts, whose sources are logged with every header that
    differs. *before_send* sees each request last; one that it changed is not sent: the turn ends with that error, and
    UnloggedInputError comes through. *new_id* makes message ids (m and a seq by default).

    What a tool or a model raises is logged. EventError for a config without provider and model, or a turn that is still open;
    LosslessError for a request that JSON does not carry; ValueError for no steps. What the hooks and the barrier raise, and
    KeyboardInterrupt, come through and leave the turn open, for recovery.
    """
    if max_steps < 1:
        raise ValueError("a turn has at least one step")
    check_attached(session)
    lock = live_compaction(session)
    if lock is not None:
        raise CompactionError("busy", f"the compaction that event {lock} started has not ended, and a turn may not cross it")
    plain = Composed(system, list(tool_schemas), None)
    header = _header(config, plain if parts is None else parts.compose())
    context = {"provider": config["provider"], "model": config["model"]}
    if context_window is not None:
        context["contextWindow"] = context_window
    write_data([joined(prompt), header, context])  # what cannot be logged is refused before the turn begins
    turn = _Turn(session, _next_turn(session), model, tools, dict(config), plain, context, dynamic_context, cancelled, barrier,
                 barrier_before_tools, make_room, spill, parts, before_send, new_id or (lambda: f"m{len(session.events)}"))
    return turn.run(joined(prompt), steering, max_steps)


def _header(config: Mapping[str, Any], composed: Composed) -> dict[str, Any]:
    return canonical_header({"config": dict(config), "system": composed.system, "tools": composed.tools})


def _next_turn(session: Session) -> int:
    last = latest(session, "turn/start", "turn/end")
    if last is None:
        return 1
    turn: int = last.data["turn"]
    if last.type == "turn/start":
        raise EventError("turn", f"turn {turn} is open; loading it from a store closes it, or interrupted_turn_closers(events)")
    return turn + 1


@dataclass
class _Turn:
    """One turn while it runs."""

    session: Session
    turn: int
    model: Model
    tools: Mapping[str, Tool]
    config: dict[str, Any]
    plain: Composed
    context: dict[str, Any]
    dynamic_context: Callable[[], Mapping[str, str]]
    cancelled: Callable[[], bool]
    barrier: Callable[[Session], None]
    barrier_before_tools: bool
    make_room: Callable[[Session, str], object]
    spill: Spill | None
    parts: Prompt | None
    before_send: Callable[[Request], Request]
    new_id: Callable[[], str]
    step: int = 0
    overflowed: bool = False

    def run(self, prompt: str, steering: Callable[[], Iterable[str]], max_steps: int) -> TurnOutcome:
        self.session.append("turn/start", {"turn": self.turn})
        said, reason = [prompt], None
        while reason is None:
            try:
                reason = self._run_step(said)
            except UnloggedInputError as error:
                self.session.append("step/end", self._here())
                self.session.append("turn/end", {"turn": self.turn, "reason": _error(str(error), "UNLOGGED_INPUT")})
                raise
            if self.step == max_steps:
                reason = reason or _error(f"the turn reached its limit of {max_steps} steps", "MAX_STEPS")
            elif reason in (None, COMPLETED):
                said = list(steering())
                reason = None if said else reason
        self.session.append("turn/end", {"turn": self.turn, "reason": reason})
        return TurnOutcome(self.turn, reason, self.step)

    def _run_step(self, said: Sequence[str]) -> Reason | None:
        """One request and what it asks for; why the turn is over, None when the model waits for results."""
        self.step += 1
        self.session.append("step/start", self._here())
        self._log_input(said)
        reason = ABORTED if self.cancelled() else self._ask()
        self.session.append("step/end", self._here())
        return reason

    def _here(self) -> dict[str, Any]:
        return {"turn": self.turn, "step": self.step}

    def _log_input(self, said: Sequence[str]) -> None:
        """All that the request will hold: the openers, what was said, the context as it is now, the header."""
        composed = self.plain if self.parts is None else self.parts.compose()
        log_openers(self.session, () if self.parts is None else self.parts.effective_openers(), self.new_id)
        for text in said:
            log_user(self.session, {"kind": "user"}, text, self.new_id)
        self.make_room(self.session, "pressure")
        log_openers(self.session, () if self.parts is None else self.parts.effective_openers(), self.new_id)
        context = self.dynamic_context() if self.parts is None else self.parts.context_now()
        log_dynamic_context(self.session, context, self.new_id)
        log_request(self.session, _header(self.config, composed), self.context, composed.sources)

    def _request(self) -> Request:
        """What the log gives, if it is what is about to be sent. Both hooks may log: the log is asked again behind them."""
        before = self._logged()
        sent = self.before_send(before)
        self.barrier(self.session)
        logged = self._logged()
        parts = () if sent is before else difference(sent, logged)
        if parts:
            raise UnloggedInputError(parts)
        return logged

    def _logged(self) -> Request:
        return Request(self.session.request_header(), self.session.derive_messages())

    def _ask(self) -> Reason | None:
        """Stream an answer, log it, and run its tools."""
        request = self._request()
        answer, seqs = Assembly(), list[int]()
        for _ in self._log_stream(request, answer, seqs):
            if answer.finish is None and self.cancelled():
                return ABORTED
        finish = answer.finish or {"kind": "error", "failure": {"message": "the stream ended without a finish",
                                                                "code": "STREAM_INCOMPLETE"}}
        if finish["kind"] == "aborted":
            return ABORTED
        if finish["kind"] not in ("stop", "tool-calls", "max-tokens"):
            failure = finish.get("failure")
            failure = failure if isinstance(failure, dict) else {}
            if failure.get("code") == CONTEXT_OVERFLOW and not self.overflowed:
                self.overflowed = True
                if self.make_room(self.session, "context-overflow"):
                    return None
            return _error(str(failure.get("message", finish["kind"])), str(failure.get("code", "MODEL_FAILED")))
        self._log_answer(answer, seqs)
        calls = answer.calls()
        for call in calls:
            if finish["kind"] == "max-tokens":
                self._log_result(call, CUT_SHORT)
            else:
                self._answer(call)
        if finish["kind"] == "max-tokens":
            return MAX_TOKENS
        if not calls:
            return COMPLETED
        return ABORTED if self.cancelled() else None

    def _log_stream(self, request: Request, answer: Assembly, seqs: list[int]) -> Iterator[None]:
        """Log the chunks as they come, with a pause behind each. A model that raises is a stream that ends in an error."""
        try:
            for chunk in self.model.stream(request):
                seqs.append(self.session.append("assistant/chunk", {**self._here(), "chunk": chunk}).seq)
                answer.take(chunk)
                yield
        except Exception as error:  # noqa: BLE001 - a model may raise anything; the turn says that it did
            answer.finish = {"kind": "error", "failure": {"message": words(error), "code": "MODEL_FAILED"}}

    def _log_answer(self, answer: Assembly, seqs: list[int]) -> None:
        source = {"kind": "model", "provider": self.context["provider"], "model": self.context["model"]}
        message = {"role": "assistant", "content": answer.content(), "source": source, "id": self.new_id()}
        usage = {} if answer.usage is None else {"usage": answer.usage}
        self.session.append("assistant/message", {**self._here(), "message": message, **usage}, "append", seqs)

    def _answer(self, call: Block) -> None:
        """Log a call, run its tool, and log the result; there is one whatever happens."""
        asked = {"callId": call["id"], "name": call["name"], "arguments": call["arguments"]}
        seq = self.session.append("tool/call", {**self._here(), **asked}).seq
        outcome = CANCELLED if self.cancelled() else self._hidden(call) or run_tool(self.tools, call, self._before_tool)
        self._log_result(call, outcome, seq)

    def _hidden(self, call: Block) -> ToolOutcome | None:
        """The refusal of a tool that is there and was not offered: a model that guesses its name does not get it."""
        try:
            if self.parts is not None:
                self.parts.check_tool(call["name"])
        except ToolHiddenError as error:
            return ToolOutcome(f"Error: {error}", {"name": "ToolHiddenError", "code": "TOOL_HIDDEN"})
        except ToolUnknownError as error:
            return ToolOutcome(f"Error: {error}", {"name": "UnknownToolError", "code": "UNKNOWN_TOOL"})
        return None

    def _before_tool(self) -> None:
        if self.barrier_before_tools:
            self.barrier(self.session)

    def _log_result(self, call: Block, outcome: ToolOutcome, call_seq: int | None = None) -> None:
        block = {"type": "tool-result", "toolCallId": call["id"], "content": self._content(outcome.text),
                 "isError": outcome.error is not None}
        source = {"kind": "tool", "callId": call["id"]}
        message = {"source": source, "content": [block], "role": "user", "id": self.new_id()}
        failed = {} if outcome.error is None else {"error": dict(outcome.error)}
        self.session.append("tool/result", {**self._here(), "message": message, **failed}, "append",
                            UNSET if call_seq is None else [call_seq])

    def _content(self, text: str) -> list[Block]:
        """What the log keeps of a result's *text*: all of it, also when it is long and cannot be kept elsewhere."""
        try:
            kept = None if self.spill is None else self.spill.blocks(text)
        except Exception as error:  # noqa: BLE001 - every call has its result, whatever becomes of the attachment
            _log.error("a long result could not be kept outside (%s); the log has it whole", type(error).__name__)
            kept = None
        return kept or [{"type": "text", "text": text}]


def _error(message: str, code: str) -> Reason:
    return {"kind": "error", "error": {"message": message, "code": code}}

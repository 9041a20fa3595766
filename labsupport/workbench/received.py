"""What a model really received, beside the log: kept by the model itself, so that the log can be held against it."""
from collections.abc import Iterable
from dataclasses import dataclass

from labsupport.sessionlog import Model, Request, Session
from labsupport.sessionlog.stream import Chunk


@dataclass(frozen=True)
class Received:
    """One *request* as it came to the model, when event *seq* was the last of the log."""

    seq: int
    request: Request


class Receiver:
    """*model*, which now keeps every request that it receives for *session*, in `received`.

    >>> from labsupport.sessionlog import Reply, ScriptedModel, run_turn
    >>> session = Session.create("s1")
    >>> model = Receiver(ScriptedModel([Reply("Hello.")]), session)
    >>> _ = run_turn(session, "Hi.", model, {}, config={"provider": "p", "model": "m"})
    >>> [(one.seq, len(one.request.messages)) for one in model.received]
    [(4, 1)]
    """

    def __init__(self, model: Model, session: Session) -> None:
        self._model, self._session = model, session
        self.received: list[Received] = []

    def stream(self, request: Request) -> Iterable[Chunk]:
        """The chunks of the model."""
        self.received.append(Received(self._session.events[-1].seq, request))
        return self._model.stream(request)

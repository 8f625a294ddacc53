"""Models that say what they are told: the first-class citizens of tests, recordings and demonstrations."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from assistant.llm import ModelError, ModelKind, ModelRequest, ModelResponse, estimate_usage


class ScriptedModel:
    """Answers `output`, or what `output(request)` returns or raises; keeps the requests in `calls` only when `record` is set."""

    kind: ModelKind = "scripted"

    def __init__(
        self, output: str | Callable[[ModelRequest], str], *, name: str = "scripted", finish_reason: str = "stop", record: bool = False
    ) -> None:
        self.name = name
        self.calls: list[ModelRequest] = []
        self._output, self._finish_reason, self._record = output, finish_reason, record

    def complete(self, request: ModelRequest) -> ModelResponse:
        """The scripted text, with usage estimated and no provider time."""
        if self._record:
            self.calls.append(request)
        text = self._output if isinstance(self._output, str) else self._output(request)
        return ModelResponse(text, estimate_usage(request, text), self._finish_reason, provider_ms=0.0, attempts=1, model=self.name)


@dataclass(frozen=True)
class Turn:
    """One answer of a script: a text, and tool calls as (name, arguments), where arguments that are a text go out as they are."""

    text: str = ""
    calls: tuple[tuple[str, dict[str, Any] | str], ...] = ()
    finish_reason: str = ""


class ScriptEnded(Exception):  # noqa: N818 -- the script is at fault, not a provider
    """A ReplayModel was asked more often than its script has turns."""


class ReplayModel:
    """Plays its turns in order; one that is a function sees the request, and a ModelError is raised. Keeps the requests in `calls`."""

    kind: ModelKind = "scripted"

    def __init__(self, turns: Iterable[Turn | ModelError | Callable[[ModelRequest], Turn]], *, name: str = "scripted") -> None:
        self.name = name
        self.calls: list[ModelRequest] = []
        self._turns = iter(turns)

    def complete(self, request: ModelRequest) -> ModelResponse:
        """The next turn, with usage estimated and no provider time; raises ScriptEnded after the last."""
        self.calls.append(request)
        turn = next(self._turns, None)
        if turn is None:
            raise ScriptEnded(f"no turn for call {len(self.calls)}")
        if isinstance(turn, ModelError):
            raise turn
        if not isinstance(turn, Turn):
            turn = turn(request)
        calls = tuple(self._tool_call(number, *call) for number, call in enumerate(turn.calls, start=1))
        reason = turn.finish_reason or ("tool_calls" if calls else "stop")
        return ModelResponse(turn.text, estimate_usage(request, turn.text, calls), reason, 0.0, 1, self.name, calls)

    def _tool_call(self, number: int, name: str, arguments: dict[str, Any] | str) -> dict[str, Any]:
        written = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
        return {"id": f"call_{len(self.calls)}_{number}", "type": "function", "function": {"name": name, "arguments": written}}

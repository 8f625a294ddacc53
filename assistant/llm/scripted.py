"""A model that says what it is told: the first-class citizen of tests, recordings and demonstrations."""

from collections.abc import Callable

from assistant.llm import ModelKind, ModelRequest, ModelResponse, estimate_usage


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

"""The model of a site that has none: asking it raises the reason, so that a missing setting is an outage like any other."""

from assistant.llm import Model, ModelError, ModelKind, ModelRequest, ModelResponse
from assistant.llm.provider import provider_from_settings


class AbsentModel:
    """Raises the same ModelError for every request."""

    kind: ModelKind = "real"

    def __init__(self, error: ModelError, *, name: str = "") -> None:
        self.name, self._error = name, error

    def complete(self, request: ModelRequest) -> ModelResponse:
        raise self._error


def production_model() -> Model:
    """The model that the settings name; where they name none that may be used, one that says why."""
    try:
        return provider_from_settings()
    except ModelError as error:
        return AbsentModel(error.with_traceback(None))

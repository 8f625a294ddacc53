"""The canary: one tiny call that finds an outage before a neighbour does."""

import datetime as dt
from typing import NamedTuple
from urllib.parse import urlsplit

from django.conf import settings

from assistant.breaker import SENTENCES, Circuit
from assistant.ledger import record_calls
from assistant.limits import metered_model
from assistant.llm import ForbiddenModel, ModelError, ModelNotConfigured, ModelRequest
from assistant.llm.provider import provider_from_settings
from assistant.models import Purpose

# Nothing of anybody is in it; what is answered does not matter.
REQUEST = ModelRequest(({"role": "user", "content": "Responde con una palabra: ok"},), temperature=0.0, max_tokens=5)
NOBODY = 0
MISCONFIGURED = {ModelNotConfigured.cause, ForbiddenModel.cause}


class Sung(NamedTuple):
    """What became of the canary: `cause` is "" when the model answered, else that of the ModelError, whose words are in `detail`."""

    cause: str
    detail: str
    asked: bool


def send_canary(*, now: dt.datetime) -> Sung:
    """Asks the settings' model once, within the day's budget. Opens its incident when there is no answer, and ends it when there is.

    What keeps us from asking (budget, counters, an open circuit) is no failure of the model. Needs LLM_BASE_URL and LLM_MODEL.
    """
    circuit = Circuit(settings.LLM_MODEL, urlsplit(settings.LLM_BASE_URL).netloc.rpartition("@")[2])
    try:
        _ask(now)
    except ModelError as error:
        if error.cause in SENTENCES or error.cause in MISCONFIGURED:
            circuit.alarm(error.cause, error.sentence, now=now, counts={})
        return Sung(error.cause, str(error), error.asked)
    circuit.end_alarm(now=now)
    return Sung("", "", asked=True)


def _ask(now: dt.datetime) -> None:
    metered = metered_model(provider_from_settings(), purpose=Purpose.CANARY, who=NOBODY, now=now)
    try:
        metered.complete(REQUEST)
    finally:
        record_calls(metered.calls, reference="canary")

"""What must come of everything that a provider can do wrong, written out: the same row for the assistant, the agent and a run."""

from typing import NamedTuple

from assistant.tests.loopback_provider import Call, Reply, completion, json_reply
from assistant.tests.provider_faults import FAULTS, NO_CONNECTION

REFUSAL = '{"action":"refuse"}'


class Row(NamedTuple):
    """The cause that everybody is told, how often the server is asked, how many of those attempts count as paid, seconds that a call has.

    Seconds are few where the fault is silence, and enough for every retry elsewhere.
    """

    cause: str
    attempts: int
    charged: int
    timeout_s: float = 5.0


SHORT_S = 0.5
LIMITED = Row("rate-limited", 4, 0)
BROKEN = Row("server-error", 4, 0)
SILENT = Row("timeout", 1, 1, SHORT_S)
NONSENSE = Row("bad-response", 1, 1)

TABLE: dict[str, Row] = {
    # --- It says no, and may say yes later
    "429": LIMITED,
    "429, retry after seconds": LIMITED,
    "429, retry after a date": LIMITED,
    "429, retry after a day": Row("rate-limited", 1, 0),
    "429, retry after nonsense": LIMITED,
    "500": BROKEN,
    "502 in HTML": BROKEN,
    "503": BROKEN,
    "503, retry after a day": Row("server-error", 1, 0),
    "408": Row("timeout", 4, 4),
    # --- It says no, and will say no again
    "400": Row("bad-request", 1, 0),
    "401": Row("auth", 1, 0),
    "403": Row("auth", 1, 0),
    "404": Row("bad-request", 1, 0),
    "422": Row("bad-request", 1, 0),
    # --- Nobody is there
    "refused": Row("unreachable", 4, 0),
    "TLS error": Row("unreachable", 4, 0),
    "closes without answering": Row("unreachable", 4, 0),
    "unroutable": SILENT,
    # --- It is there and does not come to the point
    "hang before headers": SILENT,
    "hang after headers": SILENT,
    "one byte of body in 5 s": SILENT,
    "one byte of body in 50 ms": SILENT,
    "one byte of header in 50 ms": SILENT,
    # --- It answers, and it is no answer
    "redirect": NONSENSE,
    "cut JSON": NONSENSE,
    "cut body": NONSENSE,
    "cut chunk": NONSENSE,
    "not HTTP": NONSENSE,
    "wrong content type": NONSENSE,
    "empty body": NONSENSE,
    "200 with an error body": NONSENSE,
    "an error beside a choice": NONSENSE,
    "a list": NONSENSE,
    "no choices": NONSENSE,
    "empty choices": NONSENSE,
    "no message": NONSENSE,
    "null content": NONSENSE,
    "content is a list": NONSENSE,
    "content is a number": NONSENSE,
    "NUL in the content": NONSENSE,
    "half a surrogate pair in the content": NONSENSE,
    "invalid UTF-8": NONSENSE,
    "nested 100,000 deep": NONSENSE,
    "a number of 100,000 digits": NONSENSE,
    "10,000 headers": NONSENSE,
    # --- It answers too much
    "50 MB body": Row("too-large", 1, 1),
    "50 MB declared": Row("too-large", 1, 1),
    "gzip bomb": NONSENSE,
}
assert set(TABLE) == set(FAULTS) | set(NO_CONNECTION), "every fault has a row"


def cut_by_length(call: Call) -> Reply:
    """Not a fault of the table but an answer: the model reached its last token in the middle of a word."""
    return json_reply(completion(REFUSAL[:12], call, finish_reason="length"))

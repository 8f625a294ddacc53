"""Which tools the staff's agent has."""

import datetime as dt
from collections.abc import Iterator
from contextlib import contextmanager

from assistant.staff_tools import staff_tools
from assistant.tools import Tool


@contextmanager
def open_tools(now: dt.datetime) -> Iterator[tuple[Tool, ...]]:
    """The agent's tools, good while the block runs. `now` is aware."""
    yield staff_tools(now)

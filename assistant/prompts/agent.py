"""The words that the staff's agent begins with, and what says that they or its tools have changed."""

import datetime as dt
import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from string import Template

from assistant.prompts import WEEKDAYS
from assistant.tools import Tool
from bookings.clock import in_lima

_TEMPLATE = Template((Path(__file__).parent / "agente.md").read_text(encoding="utf-8").strip())


def agent_instructions(now: dt.datetime) -> str:
    """The system message of a task. `now` is aware."""
    here = in_lima(now)
    return _TEMPLATE.substitute(weekday=WEEKDAYS[here.weekday()], date=here.date().isoformat(), time=f"{here:%H:%M}")


def agent_prompt_hash(tools: Iterable[Tool]) -> str:
    """SHA-256 (hex) of the instructions and of the tools as they are offered."""
    offered = json.dumps([tool.as_openai() for tool in tools], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(f"{_TEMPLATE.template}\x1f{offered}".encode()).hexdigest()

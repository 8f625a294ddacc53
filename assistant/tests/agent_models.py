"""Servers that play a model with tools, for the pages of the staff's agent."""

import json
from typing import Any

from assistant.tests.loopback_provider import Answer, Call, Reply, json_reply

TUESDAY = "2026-03-10"


def asking_for(name: str, **arguments: Any) -> Reply:
    """An answer that asks for one tool."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    message = {"role": "assistant", "content": None, "tool_calls": [{"id": "call_1", "type": "function", "function": function}]}
    usage = {"prompt_tokens": 900, "completion_tokens": 20}
    return json_reply({"choices": [{"message": message, "finish_reason": "tool_calls"}], "usage": usage})


def playing(*turns: str | Reply) -> Answer:
    """Each turn once in a conversation: as many tools have answered, so far has the script come; the last one for ever after."""

    def answer(call: Call) -> str | Reply:
        done = sum(message["role"] == "tool" for message in call.payload["messages"])
        return turns[min(done, len(turns) - 1)]

    return answer

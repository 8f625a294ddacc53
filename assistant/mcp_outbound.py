"""Streamable HTTP for the SDK's client over kallpa.outbound: its addresses are judged, its answers bounded, its redirects not followed.

The SDK brings an HTTP client of its own, which knows none of that. It takes any pair of message streams instead, and these are ours.
"""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.shared.message import ClientMessageMetadata, SessionMessage
from pydantic import ValidationError

from kallpa.outbound import AddressRefused, Deadline, OutboundClient, OutboundError, OutboundResponse

MAX_BYTES = 1024 * 1024
SESSION = "mcp-session-id"
ACCEPT = "application/json, text/event-stream"


@asynccontextmanager
async def outbound_transport(
    url: str, *, headers: dict[str, str], client: OutboundClient, deadline: Deadline
) -> AsyncIterator[tuple[Any, Any]]:
    """A transport for the SDK's Client: each message is a POST, and its response is read whole before the deadline."""
    answer, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](16)
    outgoing, sent = anyio.create_memory_object_stream[SessionMessage](0)
    post = partial(client.post_json, url, deadline=deadline, max_bytes=MAX_BYTES)
    async with answer, incoming, outgoing, sent, anyio.create_task_group() as group:
        group.start_soon(_carry, sent, answer, post, dict(headers))
        yield incoming, outgoing
        group.cancel_scope.cancel()


async def _carry(sent: Any, answer: Any, post: Any, headers: dict[str, str]) -> None:
    """Posts one message after another; a server of an older revision names a session, which goes along from then on."""
    async for item in sent:
        message, own = item.message, item.metadata.headers if isinstance(item.metadata, ClientMessageMetadata) else None
        payload = message.model_dump(by_alias=True, mode="json", exclude_unset=True)
        call = partial(post, payload, headers=headers | {"accept": ACCEPT} | (own or {}))
        try:
            response = await anyio.to_thread.run_sync(call, abandon_on_cancel=True)
        except AddressRefused:
            raise  # ends the connection: no other message would fare better
        except OutboundError as error:
            response = error
        else:
            headers |= {SESSION: response.headers[SESSION]} if SESSION in response.headers else {}
        if isinstance(message, types.JSONRPCRequest):
            await answer.send(SessionMessage(_read_answer(message.id, response)))


def _read_answer(request_id: types.RequestId, response: OutboundResponse | OutboundError) -> types.JSONRPCResponse | types.JSONRPCError:
    """The message that answers the request, or an error in its place: what went wrong is one of our own sentences."""
    if isinstance(response, OutboundError):
        return _fail(request_id, str(response))
    for text in _messages(response):
        try:
            message = types.jsonrpc_message_adapter.validate_json(text, by_name=False)
        except ValidationError:
            continue
        if isinstance(message, types.JSONRPCError):
            return types.JSONRPCError(jsonrpc="2.0", id=request_id, error=message.error)
        if isinstance(message, types.JSONRPCResponse) and message.id == request_id:
            return message
    return _fail(request_id, f"the response with status {response.status} answers nothing")


def _messages(response: OutboundResponse) -> Iterator[str]:
    """The JSON texts of a body: one, or one for each event of a stream."""
    text = response.body.decode("utf-8", "replace")
    if not response.headers.get("content-type", "").startswith("text/event-stream"):
        yield text
        return
    for event in text.replace("\r\n", "\n").split("\n\n"):
        lines = (line.removeprefix("data:").removeprefix(" ") for line in event.split("\n") if line.startswith("data:"))
        yield "\n".join(lines)


def _fail(request_id: types.RequestId, sentence: str) -> types.JSONRPCError:
    return types.JSONRPCError(jsonrpc="2.0", id=request_id, error=types.ErrorData(code=types.INTERNAL_ERROR, message=sentence))

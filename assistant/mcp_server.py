"""The MCP server on the official SDK: courts, hours and rules for a host's model, over stdio or Streamable HTTP. It reads and never writes.

Only commands import this file: the SDK brings an asynchronous web stack along that the site does not need.
"""

import datetime as dt
import logging
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import mcp_types as types
from asgiref.sync import sync_to_async
from django.conf import settings
from django.db import connections
from django.utils import timezone
from mcp.server import Server
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from assistant import mcp_texts as texts
from assistant import public_facts as facts
from assistant.public_facts import CannotAnswer, MissingDate
from kallpa.models import ApiToken
from kallpa.tokens import find_token

MAX_BODY_BYTES = 64 * 1024
PATH = "/mcp"
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
BROKEN = "Kallpa no pudo responder. Vuelve a intentarlo en un momento."

logger = logging.getLogger(__name__)
Context = ServerRequestContext[Any, Any]
Answered = TypeVar("Answered")
Asking = Callable[..., Answered]

TOOLS: dict[str, Asking[facts.Fact]] = {"get_availability": facts.get_availability, "find_free_hours": facts.find_free_hours}
RESOURCES: dict[str, Callable[[], str]] = {"kallpa://rules": facts.tell_rules, "kallpa://courts": facts.list_courts}


def make_server() -> Server[Any]:
    """A server of every revision that the SDK speaks: 2026-07-28, and those with a handshake."""
    server: Server[Any] = Server(
        texts.SERVER_NAME,
        version=texts.SERVER_VERSION,
        title=texts.SERVER_TITLE,
        instructions=texts.INSTRUCTIONS,
        on_list_tools=_list_tools,
        on_call_tool=_call_tool,
        on_list_resources=_list_resources,
        on_read_resource=_read_resource,
        on_list_prompts=_list_prompts,
        on_get_prompt=_get_prompt,
    )
    server.middleware.append(_hide_faults)
    return server


async def serve_stdio() -> None:
    """Serves the process's standard input until it ends. The SDK keeps standard output for the protocol alone."""
    server = make_server()
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


def http_app(*, host: str) -> ASGIApp:
    """The ASGI application for Streamable HTTP at PATH, for who shows a token with the scope `mcp`. It keeps no sessions.

    `Host` must be loopback, `host` or one of the site's, and `Origin`, when a browser sends it, one that the site trusts.
    """
    named = [*LOOPBACK, host, *(name for name in settings.ALLOWED_HOSTS if not name.startswith(("*", ".")))]
    security = TransportSecuritySettings(
        allowed_hosts=[spelling for name in named for spelling in (name, f"{name}:*")],
        allowed_origins=[*settings.CSRF_TRUSTED_ORIGINS, *(f"http://{name}:*" for name in LOOPBACK)],
    )
    app = make_server().streamable_http_app(
        streamable_http_path=PATH,
        json_response=True,
        stateless_http=True,
        max_request_body_size=MAX_BODY_BYTES,
        transport_security=security,
        host=host,
    )
    return _TokenRequired(app)


class _TokenRequired:
    """Nothing of a request is read before its token was found right."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or await self._may_enter(scope):
            await self._app(scope, receive, send)
        else:
            refusal = PlainTextResponse(
                "Falta un token con el permiso mcp, o el que mandaste no vale.", 401, {"WWW-Authenticate": "Bearer"}
            )
            await refusal(scope, receive, send)

    async def _may_enter(self, scope: Scope) -> bool:
        shown = [value.decode("latin-1") for name, value in scope["headers"] if name == b"authorization"]
        return len(shown) == 1 and await _in_thread(lambda now: find_token(shown[0], scope=ApiToken.Scope.MCP, now=now)) is not None


# --- What clients ask ---------------------------------------------------------------------------------------------------


async def _list_tools(ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
    return types.ListToolsResult(tools=[types.Tool.model_validate(tool) for tool in texts.TOOLS])


async def _list_resources(ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
    return types.ListResourcesResult(resources=[types.Resource.model_validate(resource) for resource in texts.RESOURCES])


async def _list_prompts(ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
    return types.ListPromptsResult(prompts=[types.Prompt.model_validate(prompt) for prompt in texts.PROMPTS])


async def _call_tool(ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult | types.InputRequiredResult:
    """What is wrong with the arguments is a result, so that the model reads it and asks again."""
    tool = TOOLS.get(params.name)
    if tool is None:
        raise MCPError(types.INVALID_PARAMS, "No existe esa herramienta: tools/list las lista.")
    try:
        answer = await _answer_with_date(ctx, tool, params)
    except CannotAnswer as refusal:
        return types.CallToolResult(content=[types.TextContent(text=str(refusal))], is_error=True)
    if isinstance(answer, types.InputRequiredResult):
        return answer
    return types.CallToolResult(content=[types.TextContent(text=answer.text)], structured_content=answer.facts)


async def _read_resource(ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
    read = RESOURCES.get(params.uri)
    if read is None:
        raise MCPError(types.INVALID_PARAMS, "No existe ese recurso: resources/list los lista.")
    mime_type = next(resource["mimeType"] for resource in texts.RESOURCES if resource["uri"] == params.uri)
    text = await _in_thread(lambda now: read())
    return types.ReadResourceResult(contents=[types.TextResourceContents(uri=params.uri, mime_type=mime_type, text=text)])


async def _get_prompt(ctx: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult | types.InputRequiredResult:
    if params.name != "summarize_day":
        raise MCPError(types.INVALID_PARAMS, "No existe ese prompt: prompts/list los lista.")
    try:
        day = await _answer_with_date(ctx, facts.describe_day, params)
    except CannotAnswer as refusal:
        raise MCPError(types.INVALID_PARAMS, str(refusal)) from None
    if isinstance(day, types.InputRequiredResult):
        return day
    message = types.PromptMessage(role="user", content=types.TextContent(text=texts.SUMMARIZE_DAY.format(day=day)))
    return types.GetPromptResult(description="Resumen de un día", messages=[message])


# --- A missing date is asked for ----------------------------------------------------------------------------------------


async def _answer_with_date(
    ctx: Context, answer: Asking[Answered], params: types.CallToolRequestParams | types.GetPromptRequestParams
) -> Answered | types.InputRequiredResult:
    """What `answer` says; without a date, what it says once the person was asked. Raises CannotAnswer."""
    asked: Mapping[str, Any] = params.arguments or {}
    try:
        return await _in_thread(lambda now: answer(asked, now=now))
    except MissingDate as missing:
        given = (params.input_responses or {}).get("date") or await _ask_the_person(ctx, missing)
    if isinstance(given, types.InputRequiredResult):
        return given
    if not isinstance(given, types.ElicitResult) or given.action != "accept":
        raise CannotAnswer("La persona no dio la fecha, así que no se consultó nada.")
    date = (given.content or {}).get("date")
    return await _in_thread(lambda now: answer({**asked, "date": date}, now=now))


async def _ask_the_person(ctx: Context, missing: MissingDate) -> types.ElicitResult | types.InputRequiredResult:
    """By the way of the client's revision: a result that names what is missing, or a question in the middle of the request.

    Raises MissingDate when the client cannot ask anybody.
    """
    capabilities = ctx.session.client_capabilities
    ways = capabilities.elicitation if capabilities else None
    if ways is None or (ways.url is not None and ways.form is None):
        raise missing
    if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
        form = types.ElicitRequestFormParams(message=texts.ASK_FOR_DATE, requested_schema=texts.DATE_FORM)
        return types.InputRequiredResult(input_requests={"date": types.ElicitRequest(params=form)})
    try:
        return await ctx.session.elicit_form(texts.ASK_FOR_DATE, texts.DATE_FORM, ctx.request_id)
    except MCPError:
        raise missing from None


# --- Where asynchronous meets Django ------------------------------------------------------------------------------------


async def _in_thread(work: Callable[[dt.datetime], Answered]) -> Answered:
    """Runs `work(now)` in a thread, where the database may be used; the thread's connection ends with it, as threads come and go."""

    def run() -> Answered:
        try:
            return work(timezone.now())
        finally:
            connections.close_all()

    return await sync_to_async(run, thread_sensitive=False)()


async def _hide_faults(ctx: Context, call_next: CallNext) -> HandlerResult:
    """A fault of ours is logged here, and no word of it travels: an exception may quote the database."""
    try:
        return await call_next(ctx)
    except (MCPError, ValidationError):
        raise
    except Exception:
        logger.exception("mcp %s failed", ctx.method)
        raise MCPError(types.INTERNAL_ERROR, BROKEN) from None

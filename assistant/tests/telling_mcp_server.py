"""An MCP server on standard input and output whose one tool tells the names of the variables it was started with."""

import os
from typing import Any

import anyio
import mcp_types as types
from mcp.server import Server
from mcp.server.stdio import stdio_server

TOOL = types.Tool(name="tell_environment", description="Dice su entorno.", input_schema={"type": "object"})


async def list_tools(context: Any, params: Any) -> types.ListToolsResult:
    return types.ListToolsResult(tools=[TOOL])


async def call_tool(context: Any, params: Any) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=" ".join(sorted(os.environ)))])


async def serve() -> None:
    server: Server[Any] = Server("telling", version="1", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(serve)

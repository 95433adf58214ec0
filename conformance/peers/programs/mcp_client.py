"""The client of the PyPI package mcp: python mcp_client.py URL MODE CALLS; prints what it saw, as JSON.

CALLS is a JSON list of [tool, arguments]. MODE is the client's own: auto, legacy or a revision."""

import asyncio
import json
import sys

from mcp import Client, MCPError


async def main(url: str, mode: str, calls: list) -> None:
    async with Client(url, mode=mode) as client:
        listed = await client.list_tools()
        seen = {"tools": [], "calls": []}
        for tool in listed.tools:
            tool.meta = None
            seen["tools"].append(plain(tool))
        for name, arguments in calls:
            try:
                seen["calls"].append(plain(await client.call_tool(name, arguments)))
            except MCPError as error:
                seen["calls"].append({"error": error.error.code})
    print(json.dumps(seen))


def plain(value) -> dict:
    return value.model_dump(mode="json", by_alias=True, exclude_none=True)


asyncio.run(main(sys.argv[1], sys.argv[2], json.loads(sys.argv[3])))

"""A tool server of the PyPI package mcp, over streamable HTTP: python mcp_server.py PORT"""

import sys

from mcp.server.mcpserver import MCPServer

server = MCPServer("peers")


@server.tool()
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@server.tool()
def shout(text: str, times: int = 1) -> str:
    """Says it louder."""
    return " ".join([text.upper()] * times)


@server.tool()
def fail(reason: str) -> str:
    """Fails, for that reason."""
    raise ValueError(reason)


server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))

"""Tenuo's own MCP client, which knows nothing of us: python tenuo_client.py URL STACK_FILE KEY_FILE; prints what it saw."""

import asyncio
import base64
import json
import sys
from pathlib import Path

from tenuo import SigningKey
from tenuo.decorators import chain_scope, key_scope, warrant_scope
from tenuo.mcp import SecureMCPClient
from tenuo_core import decode_warrant_stack_base64


async def main(url: str, stack: str, seed: bytes) -> None:
    *parents, leaf = decode_warrant_stack_base64(stack)
    seen = []
    async with SecureMCPClient(url=url, transport="http", inject_warrant=True) as client:
        with warrant_scope(leaf), key_scope(SigningKey.from_bytes(seed)), chain_scope(parents):
            for message in ("one", "two"):
                content = await client.call_tool("echo", {"message": message}, warrant_context=False)
                seen.append(content[0].text)
        try:
            await client.call_tool("echo", {"message": "three"}, warrant_context=False)
        except Exception as refused:
            seen.append(f"without a warrant: {refused}")
    print(json.dumps(seen))


def seed_of(path: str) -> bytes:
    text = Path(path).read_text().strip()
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


asyncio.run(main(sys.argv[1], Path(sys.argv[2]).read_text().strip(), seed_of(sys.argv[3])))

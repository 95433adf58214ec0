"""Clients of others: what each of them sees through us is what it sees directly."""

import json

from book import Book, Failed, same
from ours import HERE, Sidecar
from packages import Packages
from stage import Stage, run as run_to_end

ECHO = [
    ["echo", {"message": "grüße 1.0"}], ["get-sum", {"a": 1.5, "b": -2}], ["get-structured-content", {"location": "Chicago"}],
    ["get-tiny-image", {}],
]
PYTHON = [
    ["add", {"a": 2, "b": 40}], ["shout", {"text": "hey", "times": 2}], ["shout", {"text": "hey"}], ["fail", {"reason": "asked to"}],
    ["add", {"a": "x", "b": 1}],
]
TOO_OFTEN = ["shout", {"text": "hey", "times": 4}]


def run(book: Book, packages: Packages, direct: str, tenuo: str, biscuit: str) -> None:
    """Clients of the older revision at server-everything."""
    seen = {}

    def sdk_directly() -> str:
        seen["sdk"] = sdk(packages, direct)
        return f"{seen['sdk']['progress']} progress notifications, asked {len(seen['sdk']['asked'])} times"

    def sdk_through(url: str) -> None:
        same("what the client saw", seen["sdk"], sdk(packages, url))

    def python_through() -> None:
        same("what the client saw", python(packages, direct, "legacy", ECHO), python(packages, tenuo, "legacy", ECHO))

    book.check("the SDK's client, directly", sdk_directly)
    book.check("the SDK's client sees the same through a Tenuo credential", lambda: sdk_through(tenuo))
    book.check("the SDK's client sees the same through a Biscuit", lambda: sdk_through(biscuit))
    book.check("the client of mcp sees the same of 2025-11-25", python_through)


def run_modern(book: Book, packages: Packages, direct: str, through: str) -> None:
    """The newer revision, which has no sessions: client and server of the package mcp."""

    def alike(mode: str) -> None:
        same("what the client saw", python(packages, direct, mode, PYTHON), python(packages, through, mode, PYTHON))

    def refused() -> str:
        answer = python(packages, through, "2026-07-28", [TOO_OFTEN])["calls"][0]
        code = answer.get("_meta", {}).get("pact/refusal", {}).get("error")
        if not answer.get("isError") or code != "argument_outside":
            raise Failed(f"it was answered {answer}")
        return code

    book.check("client and server of mcp see the same of 2026-07-28", lambda: alike("2026-07-28"))
    book.check("client and server of mcp see the same where they choose the revision", lambda: alike("auto"))
    book.check("client and server of mcp see the same of an older revision", lambda: alike("legacy"))
    book.check("what the policy forbids does not reach the server of mcp", refused)


def run_tenuo(book: Book, packages: Packages, stage: Stage, stock: Sidecar) -> None:
    def call() -> str:
        program = HERE / "programs/tenuo_client.py"
        said = run_to_end([packages.python, program, stock.url, "agent.tenuo", "agent.key"], stage.folder)
        seen = json.loads(said)
        if seen[:2] != ["Echo: one", "Echo: two"] or len(seen) != 3:
            raise Failed(f"it saw {seen}")
        return seen[2]

    book.check("Tenuo's own client calls at the sidecar, and without a warrant does not", call)


def sdk(packages: Packages, url: str) -> dict:
    return json.loads(run_to_end([packages.node, HERE / "programs/sdk_client.mjs", url], packages.npm))


def python(packages: Packages, url: str, mode: str, calls: list) -> dict:
    return json.loads(run_to_end([packages.python, HERE / "programs/mcp_client.py", url, mode, json.dumps(calls)]))

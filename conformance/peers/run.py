#!/usr/bin/env python3
"""Plays software that is not ours in front of and behind our programs: python3 run.py --bin target/debug --cache target/peers

Each check is one line; the exit code is 1 when one failed. A prerequisite that is missing is a failure."""

import argparse
import sys
import tempfile
from pathlib import Path

import clients
import proxied
import suite
from book import Book, Failed
from ours import HERE, Ours
from packages import Packages
from stage import Stage, accepts, free_port


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", required=True, type=Path, help="the folder with pact-issuer, pact-holder and pact-sidecar")
    parser.add_argument("--cache", required=True, type=Path, help="where npm and PyPI packages are kept")
    parser.add_argument("--keep", type=Path, help="a new folder for logs and results, which is kept")
    options = parser.parse_args()
    packages = Packages(options.cache.resolve())
    packages.install()
    if options.keep:
        options.keep.mkdir(parents=True)
        return play(packages, options.bin.resolve(), options.keep.resolve())
    with tempfile.TemporaryDirectory(prefix="pact-peers-") as folder:
        return play(packages, options.bin.resolve(), Path(folder))


def play(packages: Packages, programs: Path, folder: Path) -> int:
    book = Book()
    try:
        play_all(book, packages, programs, folder)
    except Failed as fault:
        print(f"FAILED a part does not start, or ended: {fault}", flush=True)
        return 1
    return book.finish()


def play_all(book: Book, packages: Packages, programs: Path, folder: Path) -> None:
    with Stage(programs, folder) as stage:
        everything = start_everything(packages, stage)
        python = start_python(packages, stage)
        ours = Ours(stage)
        modern = ours.sidecar("sidecar-python", python, HERE / "python.toml")
        # The suite wants no revision named that the server's own answer to server/discover leaves out; clients may ask it for older ones.
        newest = ours.sidecar("sidecar-newest", python, HERE / "python.toml", 'revisions = ["2026-07-28"]')
        legacy = ours.sidecar("sidecar-everything", everything, HERE / "everything.toml")
        stock = ours.sidecar("sidecar-stock", everything, HERE / "stock.toml")
        ours.until_ready(modern, newest, legacy)
        through = ours.bridge("bridge-everything", legacy, "tenuo")
        bridged = ours.bridge("bridge-python", modern, "tenuo")
        bridged_newest = ours.bridge("bridge-newest", newest, "tenuo")
        play_suite(book, packages, folder, "2025-11-25", (everything, through))
        play_suite(book, packages, folder, "2026-07-28", (python, bridged_newest))
        biscuit = ours.bridge("bridge-biscuit", legacy, "biscuit")
        clients.run(book, packages, everything, through, biscuit)
        clients.run_modern(book, packages, python, bridged)
        proxied.run(book, packages, ours, legacy)
        # Proofs of stock clients are equal within 30 s, so its memory must be older before one counts: this comes last.
        ours.until_ready(stock)
        clients.run_tenuo(book, packages, stage, stock)


def play_suite(book: Book, packages: Packages, folder: Path, revision: str, urls: tuple[str, str]) -> None:
    """The official suite, directly and through; then what differs."""
    results = {}

    def play(way: str, url: str) -> str:
        results[way] = suite.play(packages, folder / f"{way}-{revision}", url, revision)
        return suite.counts(results[way])

    direct, through = urls
    book.check(f"the conformance suite of {revision} runs directly", lambda: play("direct", direct))
    book.check(f"the conformance suite of {revision} runs through sidecar and bridge", lambda: play("through", through))
    alike = f"both runs of {revision} come out alike"
    book.check(alike, lambda: suite.compare(results["direct"], results["through"], revision))


def start_everything(packages: Packages, stage: Stage) -> str:
    port = free_port()
    server = packages.script("@modelcontextprotocol/server-everything", "dist/index.js")
    stage.start("everything", packages.node, server, "streamableHttp", PORT=str(port))
    stage.wait("server-everything listens", lambda: accepts(port))
    return f"http://127.0.0.1:{port}/mcp"


def start_python(packages: Packages, stage: Stage) -> str:
    port = free_port()
    stage.start("python", packages.python, HERE / "programs/mcp_server.py", port)
    stage.wait("the server of the package mcp listens", lambda: accepts(port))
    return f"http://127.0.0.1:{port}/mcp"


if __name__ == "__main__":
    sys.exit(main())

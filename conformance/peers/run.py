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
from book import Book
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
    with Stage(programs, folder) as stage:
        everything = start_everything(packages, stage)
        python = start_python(packages, stage)
        ours = Ours(stage)
        modern = ours.sidecar("sidecar-python", python, HERE / "python.toml")
        legacy = ours.sidecar("sidecar-everything", everything, HERE / "everything.toml")
        stock = ours.sidecar("sidecar-stock", everything, HERE / "stock.toml")
        ours.until_ready(modern, legacy)
        through = ours.bridge("bridge-everything", legacy, "tenuo")
        play_suite(book, packages, folder, everything, through)
        biscuit = ours.bridge("bridge-biscuit", legacy, "biscuit")
        clients.run(book, packages, everything, through, biscuit)
        clients.run_modern(book, packages, python, ours.bridge("bridge-python", modern, "tenuo"))
        proxied.run(book, packages, ours, legacy)
        # Proofs of stock clients are equal within 30 s, so its memory must be older before one counts: this comes last.
        ours.until_ready(stock)
        clients.run_tenuo(book, packages, stage, stock)
    return book.finish()


def play_suite(book: Book, packages: Packages, folder: Path, everything: str, through: str) -> None:
    results = {}

    def direct() -> str:
        results["direct"] = suite.play(packages, folder / "direct", everything)
        return suite.counts(results["direct"])

    def bridged() -> str:
        results["through"] = suite.play(packages, folder / "through", through)
        return suite.counts(results["through"])

    book.check("the conformance suite runs against server-everything directly", direct)
    book.check("the conformance suite runs through sidecar and bridge", bridged)
    book.check("both runs come out alike", lambda: suite.compare(results["direct"], results["through"]))


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

#!/usr/bin/env python3
"""Plays our programs against Tenuo's and Biscuit's Python packages: python run.py --bin target/debug

Each check is one line; the exit code is 1 when one went otherwise than expected."""

import argparse
import pathlib
import sys
import tempfile

import biscuit_checks
import tenuo_checks
from checks import Checks
from ours import Ours


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", required=True, type=pathlib.Path, help="the folder with pact-issuer, pact-holder and pact-verify")
    options = parser.parse_args()
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="pact-crosscheck-") as folder:
        ours = Ours(options.bin.resolve(), pathlib.Path(folder))
        tenuo_checks.run(ours, checks)
        biscuit_checks.run(ours, checks)
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())

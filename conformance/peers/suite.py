"""The official conformance suite, played against a tool server directly and through us; what differs is expected or a failure."""

import collections
import json
import re
from pathlib import Path

from book import Failed
from packages import Packages
from stage import run

EXPECTED = Path(__file__).parent / "expected-differences.json"
Results = dict[str, dict[str, str]]


def play(packages: Packages, folder: Path, url: str, revision: str) -> Results:
    """All that the suite has for the revision: each scenario's checks and how they ended. The exit code only says that some failed, which the comparison judges."""
    suite = packages.script("@modelcontextprotocol/conformance", "dist/index.js")
    command = [packages.node, suite, "server", "--url", url, "--requirements", revision, "--output-dir", folder]
    try:
        run(command, seconds=120)
    except Failed:
        pass
    results = {}
    for file in sorted(folder.glob("server-*/checks.json")):
        scenario = re.sub(r"^server-(.*)-\d{4}-\d\d-\d\dT.*$", r"\1", file.parent.name)
        results[scenario] = _outcomes(json.loads(file.read_text()))
    if len(results) < 30:
        raise Failed(f"only {len(results)} scenarios ran: {sorted(results)}")
    return results


def _outcomes(checks: list[dict]) -> dict[str, str]:
    """By id; one that is judged several times is numbered. Notes (INFO) judge nothing."""
    seen, outcomes = collections.Counter(), {}
    for check in (check for check in checks if check["status"] != "INFO"):
        seen[check["id"]] += 1
        number = seen[check["id"]]
        outcomes[check["id"] if number == 1 else f"{check['id']} #{number}"] = check["status"]
    return outcomes


def counts(results: Results) -> str:
    found = collections.Counter(status for checks in results.values() for status in checks.values())
    return ", ".join(f"{count} {status}" for status, count in sorted(found.items()))


def compare(direct: Results, through: Results, revision: str) -> str:
    """Raises on a difference that is not expected, and on an expected one that is no more."""
    found = {}
    for scenario in sorted(direct.keys() | through.keys()):
        left, right = direct.get(scenario, {}), through.get(scenario, {})
        for check in sorted(left.keys() | right.keys()):
            pair = [left.get(check, "not judged"), right.get(check, "not judged")]
            if pair[0] != pair[1]:
                found[f"{scenario} / {check}"] = pair
    expected = json.loads(EXPECTED.read_text())[revision]
    wanted = {name: [entry["direct"], entry["through"]] for name, entry in expected.items()}
    faults = [f"{name}: direct {pair[0]}, through {pair[1]}" for name, pair in found.items() if wanted.get(name) != pair]
    faults += [f"{name}: expected to differ, and does not (any more)" for name in wanted if name not in found]
    if faults:
        raise Failed("\n  " + "\n  ".join(faults))
    return f"{len(found)} expected differences, no other"

"""Biscuit's own package verifies our tokens, and our list needs nothing but a JWKS and an Ed25519 library."""

import base64
import hashlib
import json
from datetime import datetime, timedelta, timezone

from biscuit_auth import Algorithm, AuthorizationError, AuthorizerBuilder, Biscuit, BiscuitValidationError, PublicKey
from checks import Checks
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from ours import Ours

TOOL = "order.refund"
GOOD = {"project": "shop", "task_id": "7", "amount_usd": 12.5}
# What both should say of each call: (what, tool, arguments, allowed).
CASES = [
    ("inside the limit", TOOL, GOOD, True),
    ("exactly at the limit", TOOL, GOOD | {"amount_usd": 20}, True),
    ("a millionth over the limit", TOOL, GOOD | {"amount_usd": 20.000001}, False),
    ("nothing at all", TOOL, GOOD | {"amount_usd": 0}, True),
    ("without a task", TOOL, {"project": "shop", "amount_usd": 1}, True),
    ("another project", TOOL, GOOD | {"project": "warehouse"}, False),
    ("another tool", "order.read", GOOD, False),
    ("a limited argument is missing", TOOL, {"project": "shop"}, False),
    ("an argument that no check names", TOOL, GOOD | {"dry_run": True}, False),
]


def run(ours: Ours, checks: Checks) -> None:
    story = ours.story("biscuit")
    keys = {key_id(raw): PublicKey.from_bytes(raw, Algorithm.Ed25519) for raw in ours.mandate_keys().values()}
    token = Biscuit.from_base64(story.credential, lambda wanted: keys[wanted])
    checks.holds("biscuit-python verifies our token by its root key id", lambda: token.block_count() == 2)
    checks.holds("biscuit-python finds the revocation ids that we recorded", lambda: list(token.revocation_ids) == story.ids)
    other = PublicKey.from_bytes(ours.public_key(story.agent), Algorithm.Ed25519)
    checks.refused("biscuit-python refuses our token under another root", lambda: Biscuit.from_base64(story.credential, other), BiscuitValidationError)
    for what, tool, arguments, allowed in CASES:
        checks.holds(
            f"biscuit-python {'allows' if allowed else 'denies'}: {what}",
            lambda tool=tool, arguments=arguments, allowed=allowed: authorizes(token, tool, arguments) == allowed,
        )
        verdict = ours.verdict(tool, arguments, ours.sign(story, tool, arguments))
        checks.holds(
            f"pact-verify says the same: {what} ({verdict.get('code')})",
            lambda verdict=verdict, allowed=allowed: (verdict["decision"] == "permit") == allowed,
        )
    late = datetime.now(timezone.utc) + timedelta(days=2)
    checks.holds("biscuit-python denies: after its end", lambda: not authorizes(token, TOOL, GOOD, late))
    lists(ours, checks, story)


def authorizes(token: Biscuit, tool: str, arguments: dict, now: datetime | None = None) -> bool:
    """The facts that a verifier adds, and its policy, as our documentation gives them."""
    facts = "tool({tool}); project({project}); time({now}); allow if tool($t), project($p), right($p, $t); deny if true;"
    values = {"tool": tool, "project": arguments.get("project", ""), "now": now or datetime.now(timezone.utc)}
    builder = AuthorizerBuilder(facts, values)
    # The package gives up after a millisecond, which a busy machine may need for something else.
    limits = builder.limits()
    limits.max_time = timedelta(seconds=5)
    builder.set_limits(limits)
    for name, value in arguments.items():
        if name == "project":
            continue
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        value = round(value * 1_000_000) if number else str(value)
        builder.add_code("arg({name}, {value});", {"name": name, "value": value})
    try:
        builder.build(token).authorize()
        return True
    except AuthorizationError:
        return False


def lists(ours: Ours, checks: Checks, story) -> None:
    version, revoked = read_list(ours)
    checks.holds("our Biscuit list does not name a live token", lambda: not set(story.ids) & set(revoked))
    ours.revoke(story.mandates[-1])
    after, revoked = read_list(ours)
    checks.holds("its version rises with the revocation", lambda: after == version + 1)
    checks.holds("the last block is on it, the first is not", lambda: story.ids[-1] in revoked and story.ids[0] not in revoked)
    verdict = ours.verdict(TOOL, GOOD, ours.sign(story, TOOL, GOOD))
    checks.holds(f"pact-verify refuses the token now ({verdict.get('code')})", lambda: verdict["code"] == "revoked")
    envelope = json.loads(ours.published("pact-revocations/biscuit"))
    envelope["payload"] = envelope["payload"].replace('"version":', '"version":1')
    checks.refused("a list of which one digit was changed does not verify", lambda: verified(ours, envelope), InvalidSignature)


def read_list(ours: Ours) -> tuple[int, list[str]]:
    content = verified(ours, json.loads(ours.published("pact-revocations/biscuit")))
    return content["version"], content["revoked"]


def verified(ours: Ours, envelope: dict) -> dict:
    """Nothing but a JWKS and an Ed25519 library."""
    algorithm, kid, signature = envelope["signature"].split(":")
    if algorithm != "ed25519":
        raise ValueError(algorithm)
    key = Ed25519PublicKey.from_public_bytes(ours.mandate_keys()[kid])
    key.verify(base64.urlsafe_b64decode(signature + "=="), envelope["payload"].encode())
    return json.loads(envelope["payload"])


def key_id(raw: bytes) -> int:
    """A root key id is the first four bytes of the SHA-256 of the public key, big-endian."""
    return int.from_bytes(hashlib.sha256(raw).digest()[:4], "big")

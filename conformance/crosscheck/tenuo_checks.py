"""Tenuo's own package reads what we export, and we accept what it makes."""

import base64
import json
import time

import tenuo_core as tenuo
from checks import Checks
from ours import Ours
from tenuo.exceptions import TenuoError

TOOL = "order.refund"
GOOD = {"project": "shop", "task_id": "7", "amount_usd": 12.5}
DENIED = {
    "over the limit": GOOD | {"amount_usd": 20.01},
    "another project": GOOD | {"project": "warehouse"},
    "no project": {name: value for name, value in GOOD.items() if name != "project"},
    "a limited argument is missing": {name: value for name, value in GOOD.items() if name != "amount_usd"},
    "an argument that no constraint names": GOOD | {"dry_run": True},
}


def run(ours: Ours, checks: Checks) -> None:
    story = ours.story("tenuo")
    roots = [tenuo.PublicKey.from_bytes(key) for key in ours.mandate_keys().values()]
    stack = tenuo.decode_warrant_stack_base64(story.credential)
    agent = tenuo.SigningKey.from_bytes(ours.seed(story.agent))
    authorizer = tenuo.Authorizer(trusted_roots=roots)

    def check(args: dict, signature: bytes, tool: str = TOOL) -> object:
        return authorizer.check_chain(stack, tool, args, signature)

    def signed(args: dict, tool: str = TOOL) -> bytes:
        return bytes(stack[-1].sign(agent, tool, args, int(time.time())))

    checks.holds("tenuo decodes our stack: a warrant for each mandate and one for the holder", lambda: len(stack) == 3)
    checks.holds("tenuo finds the ids that we recorded", lambda: [w.id for w in stack] == story.ids)
    checks.holds("tenuo accepts our stack with its own proof", lambda: check(GOOD, signed(GOOD)).chain_length == 3)
    for what, args in DENIED.items():
        checks.refused(f"tenuo denies: {what}", lambda args=args: check(args, signed(args)), TenuoError)
    checks.refused("tenuo denies: another tool", lambda: check(GOOD, signed(GOOD, "order.read"), "order.read"), TenuoError)
    stranger = tenuo.SigningKey.generate()
    forged = bytes(stack[-1].sign(stranger, TOOL, GOOD, int(time.time())))
    checks.refused("tenuo denies: a proof by another key", lambda: check(GOOD, forged), TenuoError)

    stock = ours.sign_stock(story, TOOL, GOOD)
    checks.holds("pact-holder sends the stack as it was exported", lambda: stock["tenuo"]["warrant"] == story.credential)
    proof = base64.b64decode(stock["tenuo"]["signature"], validate=True)
    checks.holds("tenuo accepts the proof of pact-holder sign --stock", lambda: check(GOOD, proof).leaf_depth == 2)
    checks.refused("that proof counts for no other arguments", lambda: check(GOOD | {"amount_usd": 1}, proof), TenuoError)

    lists(ours, checks, authorizer, story, lambda: check(GOOD, signed(GOOD)))
    theirs(ours, checks)


def lists(ours: Ours, checks: Checks, authorizer: tenuo.Authorizer, story, call) -> None:
    before = tenuo.SignedRevocationList.from_bytes(ours.published("pact-revocations/tenuo"))
    authorizer.set_revocation_list(before)
    permitted = ours.verdict(TOOL, GOOD, ours.sign(story, TOOL, GOOD))
    checks.holds(f"pact-verify permits it too ({summary(permitted)})", lambda: permitted["decision"] == "permit")
    checks.holds("with our list loaded, the call is still accepted", lambda: call().chain_length == 3)
    ours.revoke(story.mandates[-1])
    after = tenuo.SignedRevocationList.from_bytes(ours.published("pact-revocations/tenuo"))
    checks.holds("the list's version rises with the revocation", lambda: after.version == before.version + 1)
    checks.holds("the leaf is on the list", lambda: after.is_revoked(story.ids[-1]))
    checks.holds("the parent's own warrant is not", lambda: not after.is_revoked(story.ids[0]))
    authorizer.set_revocation_list(after)
    checks.refused("with the new list loaded, the call is denied", call, TenuoError)
    refused = ours.verdict(TOOL, GOOD, ours.sign(story, TOOL, GOOD))
    checks.holds(f"pact-verify refuses it too ({summary(refused)})", lambda: refused["code"] == "revoked")


def theirs(ours: Ours, checks: Checks) -> None:
    """A stack, a proof and a list that tenuo made."""
    root, agent = tenuo.SigningKey.generate(), tenuo.SigningKey.generate()
    limits = {"project": tenuo.Exact("shop"), "task_id": tenuo.Wildcard(), "amount_usd": tenuo.Range(None, 20)}
    first = tenuo.Warrant.mint(keypair=root, capabilities={TOOL: limits}, ttl_seconds=600, holder=root.public_key)
    leaf = first.grant_builder().capability(TOOL, limits).holder(agent.public_key).ttl(300).grant(root)
    stack = tenuo.encode_warrant_stack([first, leaf])
    empty = tenuo.SignedRevocationList.builder().version(1).build(root)
    listed = tenuo.SignedRevocationList.builder().revoke(first.id).version(2).build(root)

    def verdict(args: dict, srl: tenuo.SignedRevocationList = empty) -> dict:
        signature = base64.b64encode(bytes(leaf.sign(agent, TOOL, args, int(time.time())))).decode()
        meta = {"tenuo": {"warrant": stack, "signature": signature}}
        key = bytes(root.public_key.to_bytes())
        return ours.verdict_of_theirs(TOOL, args, meta, key, bytes(srl.to_bytes()))

    good = verdict(GOOD)
    checks.holds(
        f"pact-verify accepts a stack, a proof and a list that tenuo made ({summary(good)})",
        lambda: good["decision"] == "permit",
    )
    for what, args in DENIED.items():
        answer = verdict(args)
        checks.holds(f"pact-verify denies there: {what} ({summary(answer)})", lambda answer=answer: answer["decision"] == "refuse")
    revoked = verdict(GOOD, listed)
    checks.holds(
        f"pact-verify denies there: the root warrant is on tenuo's list ({summary(revoked)})",
        lambda: revoked["code"] == "revoked",
    )


def summary(verdict: dict) -> str:
    return json.dumps({name: verdict.get(name) for name in ("decision", "code")})

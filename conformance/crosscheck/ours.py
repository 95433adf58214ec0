"""Our side, driven through its commands alone."""

import base64
import json
import pathlib
import subprocess
from dataclasses import dataclass

ISSUER = "crosscheck"
AUDIENCE = "http://127.0.0.1:9/mcp"
SCOPE = ["order.refund@project:shop"]


@dataclass
class Story:
    """A person's mandate for A, handed on to B, and B's credential."""

    format: str
    agent: pathlib.Path
    mandates: list[str]
    credential: str
    ids: list[str]


class Ours:
    def __init__(self, programs: pathlib.Path, folder: pathlib.Path) -> None:
        self.programs = programs
        self.folder = folder
        self._issuer("init", "--issuer", ISSUER)

    def story(self, credential_format: str) -> Story:
        agent = self.folder / f"{credential_format}.key"
        holder_key = self._run("pact-holder", "keygen", "--key", agent).strip()
        scope = [word for item in SCOPE for word in ("--scope", item)]
        first = self._issuer(
            "mint", "--human", "boss@example.org", "--holder", "agent-a", *scope, "--scope", "order.refund@project:warehouse",
            "--scope", "order.read@project:shop", "--limit", "amount_usd=100", "--delegations", "1",
        )["id"]
        second = self._issuer("delegate", "--parent", first, "--holder", "agent-b", *scope, "--limit", "amount_usd=20")["id"]
        export = self._issuer("export", second, "--format", credential_format, "--holder-key", holder_key)
        text = export["warrant_stack" if credential_format == "tenuo" else "biscuit"]
        return Story(credential_format, agent, [first, second], text, [minted["id"] for minted in export["minted"]])

    def revoke(self, mandate: str) -> None:
        self._issuer("revoke", mandate)

    def published(self, path: str) -> bytes:
        """What stands at `/.well-known/<path>`, published just now."""
        self._issuer("publish", "--out", self.folder / "www")
        return (self.folder / "www/.well-known" / path).read_bytes()

    def mandate_keys(self) -> dict[str, bytes]:
        """Key ids and raw public keys, the active one first."""
        keys = json.loads(self.published("pact-keys.json"))["keys"]
        return {key["kid"]: _decode(key["x"]) for key in keys}

    def seed(self, agent: pathlib.Path) -> bytes:
        return _decode(agent.read_text().strip())

    def public_key(self, agent: pathlib.Path) -> bytes:
        return _decode(self._run("pact-holder", "public", "--key", agent).strip())

    def sign_stock(self, story: Story, tool: str, arguments: dict) -> dict:
        return self._sign(story, tool, arguments, "--stock")

    def sign(self, story: Story, tool: str, arguments: dict) -> dict:
        return self._sign(story, tool, arguments, "--audience", AUDIENCE)

    def _sign(self, story: Story, tool: str, arguments: dict, *options: str) -> dict:
        credential = self.folder / "credential"
        credential.write_text(story.credential)
        answer = self._run(
            "pact-holder", "sign", "--key", story.agent, f"--{story.format}", credential, "--tool", tool,
            "--arguments", json.dumps(arguments), *options,
        )
        return json.loads(answer)["_meta"]

    def verdict(self, tool: str, arguments: dict, meta: dict) -> dict:
        """What pact-verify says of a call under our issuer, by its published keys and list."""
        self.published("pact-keys.json")
        return self._verify(tool, arguments, meta, _TRUST_OURS)

    def verdict_of_theirs(self, tool: str, arguments: dict, meta: dict, root: bytes, revocation_list: bytes) -> dict:
        """The same under somebody else's root and Tenuo list."""
        (self.folder / "theirs.srl").write_bytes(revocation_list)
        return self._verify(tool, arguments, meta, _TRUST_THEIRS.format(key=_encode(root)))

    def _verify(self, tool: str, arguments: dict, meta: dict, trust: str) -> dict:
        params = {"name": tool, "arguments": arguments, "_meta": meta}
        request = self.folder / "request.json"
        request.write_text(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}))
        trust_file = self.folder / "trust.toml"
        trust_file.write_text(trust)
        command = [
            self.programs / "pact-verify", "check", "--trust", trust_file, "--audience", AUDIENCE, "--request", request,
            "--stock-proofs", "--without-replay",
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        verdict = json.loads(done.stdout)
        if (verdict["decision"] == "permit") != (done.returncode == 0):
            raise AssertionError(f"exit code {done.returncode} and decision {verdict['decision']} differ")
        return verdict

    def _issuer(self, *words: object) -> dict:
        answer = self._run("pact-issuer", "--json", "--dir", self.folder / "issuer", *words)
        return json.loads(answer)

    def _run(self, program: str, *words: object) -> str:
        command = [str(self.programs / program), *map(str, words)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise AssertionError(f"{' '.join(command)}: {done.stderr}{done.stdout}")
        return done.stdout


_TRUST_OURS = f"""
[[issuers]]
id = "{ISSUER}"
formats = ["tenuo", "biscuit"]
actions = ["order.read", "order.refund"]
projects = ["shop", "warehouse"]
keys = "www/.well-known/pact-keys.json"
[issuers.list]
keys = "www/.well-known/pact-list-keys.json"
head = "www/.well-known/pact-revocations/pact/index.html"
bodies = "www/.well-known/pact-revocations/pact"
"""

_TRUST_THEIRS = """
[[issuers]]
id = "theirs"
formats = ["tenuo"]
actions = ["order.refund"]
projects = ["shop", "warehouse"]
roots = [{{ id = "theirs", ed25519 = "{key}" }}]
[issuers.list]
tenuo = "theirs.srl"
"""


def _decode(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _encode(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()

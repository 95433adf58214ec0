"""Our side: an issuer and its lists, sidecars in front of tool servers, bridges in front of sidecars."""

import json
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

from book import Failed
from stage import Stage, accepts, free_port, get

HERE = Path(__file__).parent
ISSUER = "peers"
PROJECT = "web"
ACTIONS = ["everything.use", "everything.read", "python.use", "echo"]


@dataclass
class Sidecar:
    url: str
    admin: str
    policy: Path


class Ours:
    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.issuer_port = free_port()
        self._issuer("init", "--issuer", ISSUER)
        listen = f"127.0.0.1:{self.issuer_port}"
        stage.start(
            "issuer", stage.programs / "pact-issuer", "--dir", "issuer", "serve", "--listen", listen, "--admin", "127.0.0.1:0"
        )
        key = stage.ours("pact-holder", "keygen", "--key", "agent.key").strip()
        scope = [word for action in ACTIONS for word in ("--scope", f"{action}@project:{PROJECT}")]
        mandate = self._issuer("mint", "--human", "boss@example.org", "--holder", "agent", *scope, "--delegations", "0")["id"]
        for form, member in (("tenuo", "warrant_stack"), ("biscuit", "biscuit")):
            exported = self._issuer("export", mandate, "--format", form, "--holder-key", key)
            stage.write(f"agent.{form}", exported[member])

    def _issuer(self, *words: object) -> dict:
        return json.loads(self.stage.ours("pact-issuer", "--json", "--dir", "issuer", *words))

    def sidecar(self, name: str, upstream: str, policy: Path, revisions: str = "") -> Sidecar:
        port, admin = free_port(), free_port()
        issuer = f"http://127.0.0.1:{self.issuer_port}/.well-known"
        sidecar = Sidecar(f"http://127.0.0.1:{port}/mcp", f"http://127.0.0.1:{admin}", policy)
        config = self.stage.write(f"{name}.toml", f"""
listen = "127.0.0.1:{port}"
admin_listen = "127.0.0.1:{admin}"
audience = "{sidecar.url}"
policy = "{policy}"
state_dir = "{name}"
[upstream]
url = "{upstream}"
{revisions}
[[issuers]]
id = "{ISSUER}"
keys_url = "{issuer}/pact-keys.json"
list_keys_url = "{issuer}/pact-list-keys.json"
lists_url = "{issuer}/pact-revocations/pact"
[issuers.speaks]
formats = ["tenuo", "biscuit"]
actions = {json.dumps(ACTIONS)}
projects = ["{PROJECT}"]
""")
        self.stage.start(name, self.stage.programs / "pact-sidecar", "--config", config)
        return sidecar

    def until_ready(self, *sidecars: Sidecar) -> None:
        """A new sidecar refuses proofs that could have been used before it began to remember, which takes some seconds."""
        try:
            self.stage.wait("the sidecars are ready", lambda: all(_readiness(each)[0] == 200 for each in sidecars), 120)
        except Failed as fault:
            raise Failed(f"{fault}: {[_readiness(each) for each in sidecars]}") from None

    def bridge(self, name: str, sidecar: Sidecar, form: str, through: str | None = None) -> str:
        """The URL for local clients; `through` is a proxy's in front of the sidecar."""
        port, url = free_port(), through or sidecar.url
        actions = "\n".join(f'"{name}" = "{action}"' for name, action in _actions(sidecar.policy).items())
        config = self.stage.write(f"{name}.toml", f"""
key = "agent.key"
[listen]
address = "127.0.0.1:{port}"
allowed_origins = ["http://127.0.0.1:{port}"]      # the suite calls as a page of that very address
[[upstreams]]
url = "{url}"
audience = "{sidecar.url}"
[upstreams.actions]
{actions}
[[credentials]]
upstreams = ["{url}"]
format = "{form}"
file = "agent.{form}"
""")
        log = self.stage.start(name, self.stage.programs / "pact-holder", "bridge", "--config", config)
        self.stage.wait(f"{name} listens", lambda: accepts(port))
        return re.search(r"http://\S+/mcp", log.read_text())[0]


def _actions(policy: Path) -> dict[str, str]:
    """What the policy makes of each tool and method: the suite calls tools that its server does not list, so nobody says it."""
    read = tomllib.loads(policy.read_text())
    named = read["tools"] | {name: entry for name, entry in read.get("methods", {}).items() if isinstance(entry, dict)}
    return {name: entry["action"] for name, entry in named.items()}


def _readiness(sidecar: Sidecar) -> tuple[int, dict]:
    return get(f"{sidecar.admin}/readyz")

"""nginx as a plain reverse proxy in front of the sidecar, with its defaults."""

import http.client
import json
import shutil
import time
from urllib.parse import urlsplit

import clients
from book import Book, Failed
from ours import Ours, Sidecar
from packages import Packages
from stage import accepts, free_port

# Started as root, its workers would be another user's, who may not enter this run's folder; otherwise `user` says nothing.
CONFIG = """
daemon off;
user root;
pid nginx.pid;
error_log stderr warn;
events {{}}
http {{
    access_log off;
    client_body_temp_path t1; proxy_temp_path t2; fastcgi_temp_path t3; uwsgi_temp_path t4; scgi_temp_path t5;
    server {{
        listen 127.0.0.1:{port};
        client_max_body_size {limit};
        location / {{ proxy_pass {upstream}; }}
    }}
}}
"""
# Seconds that a streamed answer takes as a whole, and by when its first event must be here.
WHOLE, FIRST = 3, 1.5


def run(book: Book, packages: Packages, ours: Ours, sidecar: Sidecar) -> None:
    proxy = start(ours, "nginx", sidecar, "1m")
    bridge = ours.bridge("bridge-nginx", sidecar, "biscuit", through=proxy)
    book.check("behind nginx the SDK's client calls, asks and listens as before", lambda: whole(packages, bridge))
    book.check("behind nginx events come as they happen", lambda: streamed(bridge))
    book.check("behind nginx a body over its limit is refused there", lambda: too_large(proxy, 413))
    # Without a limit of its own that of the sidecar holds, which closes; nginx says 502 where it had not sent everything by then.
    wide = start(ours, "nginx-wide", sidecar, "0")
    book.check("behind nginx without a limit a body over the sidecar's is refused", lambda: too_large(wide, 413, 502))
    book.check("behind nginx the refusal comes with its status, its headers and its reason", lambda: refused(proxy))


def start(ours: Ours, name: str, sidecar: Sidecar, limit: str) -> str:
    port = free_port()
    upstream = sidecar.url.removesuffix("/mcp")
    config = ours.stage.write(f"{name}.conf", CONFIG.format(port=port, limit=limit, upstream=upstream))
    prefix = ours.stage.folder / name
    prefix.mkdir()
    ours.stage.start(name, shutil.which("nginx") or "nginx", "-p", prefix, "-c", config)
    ours.stage.wait(f"{name} listens", lambda: accepts(port))
    return f"http://127.0.0.1:{port}/mcp"


def whole(packages: Packages, bridge: str) -> str:
    seen = clients.sdk(packages, bridge)
    if len(seen["asked"]) != 2 or seen["progress"] != 4 or seen["update"] == "none":
        raise Failed(f"asked {seen['asked']}, {seen['progress']} of 4 progress notifications, update {seen['update']}")
    return f"asked {len(seen['asked'])} times, an update in the session's stream"


def streamed(bridge: str) -> str:
    session = {"Mcp-Session-Id": _initialize(bridge)}
    arguments = {"duration": WHOLE, "steps": 6}
    params = {"name": "trigger-long-running-operation", "arguments": arguments, "_meta": {"progressToken": 1}}
    begin = time.monotonic()
    connection, answer = _post(bridge, "tools/call", params, session)
    times = []
    while line := answer.readline():
        if line.startswith(b"data: {"):
            times.append(time.monotonic() - begin)
    connection.close()
    if len(times) < 3 or times[0] > FIRST or times[-1] < WHOLE - 0.5:
        raise Failed(f"{len(times)} events, after {[round(time, 2) for time in times]} s")
    return f"the first after {times[0]:.1f} s of {times[-1]:.1f} s"


def too_large(url: str, *wanted: int) -> str:
    connection, answer = _post(url, "tools/call", {"name": "echo", "arguments": {"message": "x" * (2 * 1024 * 1024)}}, {})
    connection.close()
    if answer.status not in wanted:
        raise Failed(f"it was answered {answer.status}")
    return str(answer.status)


def refused(url: str) -> str:
    connection, answer = _post(url, "tools/call", {"name": "echo", "arguments": {"message": "x"}}, {})
    error = json.loads(answer.read())["error"]
    challenge = answer.headers.get("WWW-Authenticate", "")
    connection.close()
    if answer.status != 401 or not challenge.startswith("DPoP") or error["data"]["reason"] != "credential_missing":
        raise Failed(f"it was answered {answer.status}, {challenge!r}, {error}")
    return error["data"]["reason"]


def _initialize(url: str) -> str:
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "peers", "version": "1"}}
    connection, answer = _post(url, "initialize", params, {})
    answer.read()
    connection.close()
    return answer.headers["Mcp-Session-Id"]


def _post(url: str, method: str, params: dict, headers: dict) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=30)
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    both = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **headers}
    try:
        connection.request("POST", parts.path, body, both)
    except ConnectionError:
        pass  # who refuses a body early closes; the answer is there all the same
    return connection, connection.getresponse()

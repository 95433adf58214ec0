"""Processes in a temporary folder: each with its log, each ended at the end."""

import contextlib
import json
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

from book import Failed


class Stage(contextlib.AbstractContextManager):
    def __init__(self, programs: Path, folder: Path) -> None:
        self.programs = programs
        self.folder = folder
        self._running: list[tuple[str, subprocess.Popen]] = []

    def __exit__(self, *_: object) -> None:
        for _, process in reversed(self._running):
            process.terminate()
        for _, process in self._running:
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()

    def start(self, name: str, *command: object, **environment: str) -> Path:
        """Starts a program and returns the file of what it says."""
        log = self.folder / f"{name}.log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                [str(word) for word in command], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=output,
                stderr=subprocess.STDOUT, env={"PATH": "/usr/bin:/bin", "HOME": str(self.folder), **environment},
            )
        self._running.append((name, process))
        return log

    def ours(self, program: str, *words: object) -> str:
        """Runs a command of ours to its end."""
        return run([self.programs / program, *words], self.folder)

    def wait(self, what: str, done: Callable[[], bool], seconds: float = 30) -> None:
        end = time.monotonic() + seconds
        while not done():
            for name, process in self._running:
                if process.poll() is not None:
                    said = (self.folder / f"{name}.log").read_text(errors="replace")
                    raise Failed(f"{name} ended by itself: {said[-2000:]}")
            if time.monotonic() > end:
                raise Failed(f"{what}: not within {seconds} s")
            time.sleep(0.05)

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_text(text)
        return path


def run(command: list[object], folder: Path | None = None, seconds: float = 120) -> str:
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False, timeout=seconds)
    if done.returncode != 0:
        raise Failed(f"{Path(words[0]).name} {' '.join(words[1:3])}: exit code {done.returncode}: {(done.stderr + done.stdout)[-2000:]}")
    return done.stdout


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def accepts(port: int) -> bool:
    with socket.socket() as caller:
        return caller.connect_ex(("127.0.0.1", port)) == 0


def get(url: str) -> tuple[int, dict]:
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refused:
        return refused.code, json.load(refused)
    except OSError:
        return 0, {}

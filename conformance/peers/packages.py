"""The peers themselves, as their registries have them, at the versions that are committed beside this file."""

import hashlib
import platform
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


class Packages:
    """Installed below `folder`, anew only when what is wanted has changed."""

    def __init__(self, folder: Path) -> None:
        self.npm = folder / "npm"
        self.venv = folder / "venv"

    def install(self) -> None:
        needed = [name for name in ("npm", "nginx") if shutil.which(name) is None]
        if needed:
            raise SystemExit(f"missing: {', '.join(needed)} (Debian: nodejs, npm, nginx-light)")
        self._once(self.npm, ["package.json", "package-lock.json"], self._install_npm)
        self._once(self.venv, ["requirements.txt"], self._install_pip)

    @property
    def node(self) -> Path:
        """Node 22, which the suite needs, from the registry."""
        machine = {"x86_64": "x64", "aarch64": "arm64"}[platform.machine()]
        return self.npm / f"node_modules/node-linux-{machine}/bin/node"

    @property
    def python(self) -> Path:
        return self.venv / "bin/python"

    def script(self, package: str, path: str) -> Path:
        return self.npm / "node_modules" / package / path

    def _install_npm(self) -> None:
        for name in ("package.json", "package-lock.json"):
            shutil.copy(HERE / name, self.npm / name)
        # The default Node may be too old for the suite, which the one that is installed here is not.
        options = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
        subprocess.run(["npm", "ci", *options], cwd=self.npm, check=True, stdout=subprocess.DEVNULL)

    def _install_pip(self) -> None:
        subprocess.run([sys.executable, "-m", "venv", self.venv], check=True)
        options = ["--quiet", "--disable-pip-version-check", "--only-binary", ":all:"]
        subprocess.run([self.venv / "bin/python", "-m", "pip", "install", *options, "--requirement", HERE / "requirements.txt"], check=True)

    @staticmethod
    def _once(folder: Path, wanted: list[str], install) -> None:
        digest = hashlib.sha256(b"".join((HERE / name).read_bytes() for name in wanted)).hexdigest()
        stamp = folder / ".installed"
        if stamp.exists() and stamp.read_text() == digest:
            return
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        install()
        stamp.write_text(digest)

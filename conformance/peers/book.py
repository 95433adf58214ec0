"""The checks' own book: each is one line, and one that failed makes the whole fail."""

import traceback
from collections.abc import Callable


class Failed(Exception):
    """What was expected did not happen."""


class Book:
    def __init__(self) -> None:
        self.passed = 0
        self.failed = 0

    def check(self, what: str, test: Callable[[], str | None]) -> None:
        """The test ends without raising; what it returns is said beside the name."""
        try:
            said = test()
        except Exception as fault:  # a peer may raise anything; it is a failed check, not the end
            self.failed += 1
            why = str(fault) if isinstance(fault, Failed) else traceback.format_exc()
            print(f"FAILED {what}: {why}", flush=True)
        else:
            self.passed += 1
            print(f"ok     {what}" + (f": {said}" if said else ""), flush=True)

    def finish(self) -> int:
        print(f"{self.passed} passed, {self.failed} failed")
        return 0 if self.failed == 0 and self.passed > 0 else 1


def same(what: str, direct: object, through: object) -> None:
    """Raises where the two differ, and says where first."""
    where = _difference(direct, through, "")
    if where:
        raise Failed(f"{what} differs at {where}")


def _difference(direct: object, through: object, path: str) -> str | None:
    if isinstance(direct, dict) and isinstance(through, dict):
        for name in sorted(direct.keys() | through.keys()):
            if name not in direct or name not in through:
                return f"{path}/{name}: only {'direct' if name in direct else 'through'}"
            found = _difference(direct[name], through[name], f"{path}/{name}")
            if found:
                return found
        return None
    if isinstance(direct, list) and isinstance(through, list) and len(direct) == len(through):
        pairs = enumerate(zip(direct, through, strict=True))
        return next((found for at, pair in pairs if (found := _difference(*pair, f"{path}/{at}"))), None)
    return None if direct == through else f"{path or '/'}: direct {direct!r}, through {through!r}"

"""The checks' own book: what was expected, what happened."""

import traceback
from collections.abc import Callable


class Checks:
    def __init__(self) -> None:
        self.passed = 0
        self.failed = 0

    def holds(self, what: str, test: Callable[[], bool]) -> None:
        """The test returns true."""
        try:
            self._book(what, test(), "it does not hold")
        except Exception:  # a peer may raise anything; it is a failed check, not the end
            self._book(what, False, traceback.format_exc())

    def refused(self, what: str, attempt: Callable[[], object], *kinds: type[BaseException]) -> None:
        """The attempt raises one of these."""
        try:
            answer = attempt()
        except kinds:
            self._book(what, True, "")
        except Exception:
            self._book(what, False, traceback.format_exc())
        else:
            self._book(what, False, f"it was accepted: {answer}")

    def _book(self, what: str, right: bool, why: str) -> None:
        print(f"{'ok   ' if right else 'WRONG'} {what}" + ("" if right else f": {why}"), flush=True)
        if right:
            self.passed += 1
        else:
            self.failed += 1

    def finish(self) -> int:
        print(f"{self.passed} passed, {self.failed} failed")
        return 0 if self.failed == 0 and self.passed > 0 else 1

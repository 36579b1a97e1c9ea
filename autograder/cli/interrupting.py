"""Ctrl-C ends a command wherever it arrives."""

from __future__ import annotations

import signal
import sys
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

SECONDS_UNTIL_AGAIN = 0.05


def send_again_what_is_lost() -> None:
    """Send Ctrl-C once more where Python loses it.

    Python raises `KeyboardInterrupt` between any two steps of the main thread. In the callback of a weak reference, or
    in `__del__`, nobody can catch it: Python prints it and goes on, and so would the command.
    """
    report = sys.unraisablehook

    def hook(unraisable: UnraisableHookArgs) -> None:
        if not issubclass(unraisable.exc_type, KeyboardInterrupt):
            report(unraisable)
            return
        main = threading.main_thread().ident
        if main is not None:
            # Not at once: this hook runs where the interrupt was lost.
            threading.Timer(SECONDS_UNTIL_AGAIN, signal.pthread_kill, (main, signal.SIGINT)).start()

    sys.unraisablehook = hook

"""What a submission might make the code that reads it do; `work` for a reading child. It imports little."""

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Faults:
    """Does what a submission might make our code do."""

    marks: str

    def burn(self):
        while True:
            pass

    def compute(self, seconds):
        until = time.process_time() + seconds
        while time.process_time() < until:
            pass
        return "read"

    def swallow(self):
        return bytearray(2**34)

    def wide(self):
        self.kept = b" " * 600 * 2**20
        return len(self.kept)

    def fine(self):
        return "read"

    def crash(self):
        os.kill(os.getpid(), signal.SIGSEGV)

    def leave(self):
        os._exit(0)

    def stumble(self):
        raise KeyError("no sentence")

    def killed(self, times):
        """Be killed from outside, so many times."""
        path = Path(self.marks)
        path.write_text(path.read_text() + "x" if path.exists() else "x")
        if len(path.read_text()) <= times:
            os.kill(os.getpid(), signal.SIGKILL)
        return "read"

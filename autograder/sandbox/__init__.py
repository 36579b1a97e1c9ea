"""The trusted side of the sandbox: starts warm workers behind walls, measures, and kills."""

from autograder.sandbox.session import (
    CellError,
    CellReply,
    Failure,
    Limits,
    ProbeReply,
    Session,
    SessionLost,
    WorkerLost,
)
from autograder.sandbox.warm import PRELOAD, Sandbox, SandboxUnavailable, check_walls
from autograder.worker.protocol import WallReport

__all__ = [
    "PRELOAD", "CellError", "CellReply", "Failure", "Limits", "ProbeReply", "Sandbox", "SandboxUnavailable",
    "Session", "SessionLost", "WallReport", "WorkerLost", "check_walls",
]  # fmt: skip

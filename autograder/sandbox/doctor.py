"""Says which walls stand on this machine, for `course doctor`."""

from __future__ import annotations

from autograder.sandbox import bubblewrap
from autograder.sandbox.session import SessionLost
from autograder.sandbox.warm import Sandbox, SandboxUnavailable, outer_wall
from autograder.worker.walls import WallReport

_REMEDIES = {
    "system-call filter": "Type: apt-get install libseccomp2 && pip install pyseccomp",
    "namespaces": "Raise the limit: sysctl -w user.max_user_namespaces=10000",
}


def check_walls() -> list[WallReport]:
    """Build every wall around a small process, and report on each. Takes about a second; never raises."""
    outer = outer_wall(bubblewrap.working_variant())
    if not outer.stands:
        return [outer]
    sandbox = Sandbox(unsafe=True, preload=())
    try:
        sandbox.start()
        walls = sandbox.walls
    except (SandboxUnavailable, SessionLost, OSError) as error:
        return [outer, WallReport("worker", stands=False, why=str(error))]
    finally:
        sandbox.close()
    return [
        WallReport(wall.name, wall.stands, wall.why, "" if wall.stands else _REMEDIES.get(wall.name, ""), wall.required)
        for wall in walls
    ]

"""Walls for a container that holds one submission and allows no namespaces: student code is another user there."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class OtherUser:
    """Who student code runs as. The grader is root, and keeps its own files where only root may go.

    Weaker than bubblewrap, see SECURITY.md: right only where a container serves one submission and is then thrown away.

    Attributes:
        user: number of the user, who owns nothing else and runs nothing else.
        packages: folder with `coursekit` and `worker`, which everybody may read and only root may write.
        home: the only folder that is the user's; emptied before each process. Only root may write beside it.
    """

    user: int
    packages: Path
    home: Path

    def environment(self) -> dict[str, str]:
        """What differs from the environment behind bubblewrap: where files go."""
        return {
            "HOME": f"{self.home}/home",
            "IPYTHONDIR": f"{self.home}/home/.ipython",
            "MPLCONFIGDIR": f"{self.home}/home/.matplotlib",
            "TMPDIR": f"{self.home}/tmp",
        }

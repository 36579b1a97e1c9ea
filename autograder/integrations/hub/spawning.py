"""How a student's server starts: as the student, with limits that the kernel enforces, and what it may see."""

from __future__ import annotations

import os
import resource
from collections.abc import Callable

from jupyterhub.spawner import LocalProcessSpawner
from traitlets import Integer


class LimitedSpawner(LocalProcessSpawner):
    """JupyterHub's own spawner for Unix accounts, with resource limits.

    `process_limit` counts all processes and threads of the account. Memory is bounded for all processes together, by
    `autograder.integrations.hub.memory`. Processors are not bounded: the kernel shares them between those who compute.
    """

    process_limit = Integer(512, help="Processes and threads of one account.").tag(config=True)

    def make_preexec_fn(self, name: str) -> Callable[[], None]:
        """Return what the new process does before it becomes the student's server."""
        become = super().make_preexec_fn(name)
        limits = [(resource.RLIMIT_NPROC, self.process_limit), (resource.RLIMIT_CORE, 0)]

        def prepare() -> None:
            for kind, most in limits:
                resource.setrlimit(kind, (most, most))
            os.umask(0o077)
            os.nice(5)  # the hub and the grader come first
            become()

        return prepare

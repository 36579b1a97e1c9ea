"""What `--cluster` means, in each command that has it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape

from autograder.course.printable import printable

if TYPE_CHECKING:
    from autograder.integrations.cluster.client import Cluster

err = Console(stderr=True)


def cluster_at(address: str, wait_seconds: float = 300.0) -> Cluster:
    """The cluster at an address, which speaks in the terminal; first of what is not safe there.

    Args:
        address: of the scheduler, or the path of a scheduler file.
        wait_seconds: how long to wait for it before giving up.

    Raises:
        CourseError: it is no address, or there are no certificates for it.
    """
    from autograder.integrations.cluster.client import Cluster
    from autograder.integrations.cluster.connection import danger_of

    def tell(sentence: str) -> None:
        err.print(f"[bold yellow]cluster[/]  {escape(printable(sentence))}", highlight=False, soft_wrap=True)

    if danger := danger_of(address):
        tell(danger)
    return Cluster(address, wait_seconds=wait_seconds, tell=tell)

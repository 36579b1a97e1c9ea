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
    """Return the cluster at an address. It tells its state in the terminal, and first what is not safe about it.

    Args:
        address: of the scheduler, or the path of a scheduler file.
        wait_seconds: how long to wait for it before giving up.

    Raises:
        CourseError: it is no address.
    """
    from autograder.integrations.cluster.client import Cluster

    def tell(sentence: str) -> None:
        err.print(f"[bold yellow]cluster[/]  {escape(printable(sentence))}", highlight=False, soft_wrap=True)

    cluster = Cluster(address, wait_seconds=wait_seconds, tell=tell)
    if cluster.address.startswith("tcp://"):  # on this machine, too, others can connect
        tell(
            f"{cluster.address} has no encryption and asks for no certificate: whoever can connect to it, other "
            "accounts of the machine included, can run code there, read hidden cases and write marks. Use tls:// "
            "unless nobody else can."
        )
    return cluster

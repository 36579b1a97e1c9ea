"""A service of the class server that ends a student's largest process when all of them together hold too much memory.

It runs as root beside the hub: `python -m autograder.integrations.hub.memory`. Where systemd starts the servers,
the kernel does it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

import psutil

from autograder.integrations.hub.accounts import known_accounts
from autograder.integrations.hub.settings import HubSettings, hub_settings

SECONDS = 1.0  # between two looks
MIB = 2**20


def held(accounts: Mapping[int, str]) -> dict[str, list[tuple[int, psutil.Process]]]:
    """What each account's processes hold, in bytes: resident memory that is not mapped from a file.

    Args:
        accounts: the id of each account, by its number.
    """
    found: dict[str, list[tuple[int, psutil.Process]]] = {}
    for process in psutil.process_iter():
        try:
            owner = accounts.get(process.uids().real)
            if owner is not None:
                memory = process.memory_info()
                found.setdefault(owner, []).append((memory.rss - memory.shared, process))
        except psutil.Error:  # it has ended
            continue
    return found


def enforce(settings: HubSettings) -> list[str]:
    """Look once; end the largest process of each account that is over its limit. Return the accounts."""
    accounts = {account.uid: account.id for account in known_accounts(settings).values()}
    over = []
    for name, processes in held(accounts).items():
        if sum(size for size, _ in processes) <= settings.memory_mb * MIB:
            continue
        over.append(name)
        _, largest = max(processes, key=lambda pair: pair[0])
        try:
            largest.kill()
        except psutil.Error:
            continue
    return over


def main() -> None:
    """Look every second until the hub ends this service."""
    settings = hub_settings()
    while True:
        for name in enforce(settings):
            print(f"{name} held more than {settings.memory_mb} MiB: the largest process was ended", flush=True)
        time.sleep(SECONDS)


if __name__ == "__main__":
    main()

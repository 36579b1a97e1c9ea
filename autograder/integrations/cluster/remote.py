"""The functions that Dask calls by name in other processes; light, because the scheduler imports them too."""

from __future__ import annotations

from typing import Any

from distributed import get_worker


def grade(name: str, data: bytes) -> bytes:
    """On a worker: the record of one submission, by the job called `name`."""
    plugin: Any = get_worker().plugins.get(name)
    if plugin is None:
        return b'{"kind": "unfit", "reason": "it has not been given the job"}'
    return plugin.grade(data)


def look(name: str, dask_scheduler: Any) -> dict[str, Any]:
    """On the scheduler: whether it has the job called `name`, and for each worker how it stands with it.

    A worker is a list: its address, its name, its threads, the seconds since it was heard of, and the state and the
    reason that its plugin gives, empty where it has none.
    """
    from distributed.metrics import time

    now = time()
    return {
        "has_job": name in dask_scheduler.worker_plugins,
        "workers": [
            [
                address,
                str(worker.name),
                worker.nthreads,
                now - worker.last_seen,
                *(worker.metrics.get(name) or ("", "")),
            ]
            for address, worker in dask_scheduler.workers.items()
        ],
    }

"""A Dask cluster of real processes for the tests: a scheduler, and workers that can be killed, stopped and replaced."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import psutil

BIN = Path(sys.executable).parent
HERE = Path(__file__).parent
CODE = (
    str(HERE),
    str(HERE.parent),
)  # workers take the code that is tested, wherever the environment was installed from
STAND_IN = HERE / "stand_in_sandbox.py"


class Processes:
    """A scheduler and its workers, each with a log in `folder`. All are gone after `close`."""

    def __init__(self, folder: Path, *, scheme: str = "tcp", settings: dict | None = None):
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.host, self.scheme = "127.0.0.1", scheme
        self.settings = settings or {}
        self.scheduler_file = folder / "scheduler.json"
        self.workers: dict[str, subprocess.Popen] = {}
        self._all: list[subprocess.Popen] = []
        self._port = 0

    def __enter__(self) -> Processes:
        self.start_scheduler()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def address(self) -> str:
        return f"{self.scheme}://{self.host}:{self._port}"

    def start_scheduler(self) -> subprocess.Popen:
        """Start the scheduler."""
        self.scheduler = self._start(
            "scheduler", [str(BIN / "dask"), "scheduler", "--host", self.host, "--port", "0"],
            ["--protocol", self.scheme, "--no-dashboard", "--scheduler-file", str(self.scheduler_file)],
        )  # fmt: skip
        wait_for(lambda: self.scheduler_file.exists() and self.scheduler_file.stat().st_size > 0)
        time.sleep(0.1)
        self._port = int(
            self.scheduler_file.read_text().partition(f"{self.scheme}://")[2].partition('"')[0].rpartition(":")[2]
        )
        return self.scheduler

    def start_worker(
        self,
        name: str,
        *words: str,
        stand_in: bool = True,
        threads: int = 1,
        nanny: bool = False,
        settings: dict[str, str] | None = None,
    ) -> subprocess.Popen:
        """Start a worker; with `stand_in` it grades without a sandbox, by what `stand_in_sandbox.py` says."""
        more = ["--preload", str(STAND_IN)] if stand_in else []
        self.workers[name] = self._start(
            name,
            [str(BIN / "dask"), "worker", self.address, "--name", name, "--nthreads", str(threads)],
            ["--nanny" if nanny else "--no-nanny", "--no-dashboard", "--local-directory", str(self.folder / "scratch")],
            [*more, *words],
            settings=settings,
        )
        return self.workers[name]

    def kill(self, process: subprocess.Popen) -> None:
        """kill -9, of the process and what it started."""
        with suppress(psutil.NoSuchProcess):
            for running in [*psutil.Process(process.pid).children(recursive=True), psutil.Process(process.pid)]:
                with suppress(psutil.NoSuchProcess):
                    running.send_signal(signal.SIGKILL)
        process.wait()

    def close(self) -> None:
        for process in reversed(self._all):
            self.kill(process)

    def _start(self, name: str, *words: Sequence[str], settings: dict[str, str] | None = None) -> subprocess.Popen:
        with (self.folder / f"{name}.log").open("ab") as log:
            process = subprocess.Popen(
                [word for part in words for word in part],
                stdout=log,
                stderr=log,
                env=os.environ | {"PYTHONPATH": os.pathsep.join(CODE)} | self.settings | (settings or {}),
                start_new_session=True,
            )
        self._all.append(process)
        return process


def wait_for(happens: Callable[[], object], seconds: float = 600.0) -> None:
    """Wait until something is true; AssertionError where it does not become so."""
    end = time.monotonic() + seconds
    while not happens():
        assert time.monotonic() < end, "it does not happen"
        time.sleep(0.05)

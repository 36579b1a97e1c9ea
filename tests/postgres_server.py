"""A PostgreSQL server for the tests: Debian's package, a folder and a socket of its own, and no port."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NOBODY = 65534  # the server refuses to run as root


def programs() -> Path | None:
    """The folder of the newest PostgreSQL that is installed, or None."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if found:
        return found[-1].parent
    here = shutil.which("initdb")
    return Path(here).resolve().parent if here else None


class Server:
    """A server on a socket in `folder`; `url` is its address for SQLAlchemy."""

    def __init__(self, folder: Path, where: Path):
        self._folder, self._where = folder, where
        self._as: dict[str, Any] = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
        self.url = f"postgresql://grader@/gradebook?host={folder}"

    def start(self) -> None:
        options = f"-c listen_addresses='' -c unix_socket_directories='{self._folder}'"
        self._run(
            "pg_ctl", "start", "--wait", "--timeout", "600", "--log", str(self._folder / "log"), "--options", options
        )

    def stop(self) -> None:
        """At once: connections are cut, as they are when the server's machine goes down."""
        self._run("pg_ctl", "stop", "--wait", "--timeout", "600", "--mode", "immediate")

    def create(self) -> None:
        self._run("initdb", "--username", "grader", "--auth", "trust", "--encoding", "UTF8", "--no-locale")
        self.start()
        self.empty()

    def empty(self) -> None:
        """Give it a database without a table."""
        for program in ("dropdb", "createdb"):
            more = ["--if-exists", "--force"] if program == "dropdb" else []
            self._run(program, *more, "--host", str(self._folder), "--username", "grader", "gradebook")

    def _run(self, program: str, *words: str) -> None:
        settings = os.environ | {"PGDATA": str(self._folder / "data"), "LC_ALL": "C.UTF-8"}
        done = subprocess.run(
            [str(self._where / program), *words],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            env=settings, cwd=self._folder, timeout=900, check=False, **self._as,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr


@contextmanager
def running(where: Path) -> Iterator[Server]:
    """A server with an empty database, for as long as this lasts."""
    folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))  # a socket's path may have 107 characters
    if os.geteuid() == 0:
        os.chown(folder, NOBODY, NOBODY)
    server = Server(folder, where)
    try:
        server.create()
        yield server
    finally:
        if (folder / "data" / "postmaster.pid").exists():
            server.stop()
        shutil.rmtree(folder, ignore_errors=True)

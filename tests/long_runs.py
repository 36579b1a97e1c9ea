"""What long runs of tests need: going on where one was stopped, and advice that fails nothing.

`pytest --resume` leaves out the tests that passed before, in the same commit with the same changes to it. `advise` says
in the summary what the order of the house asks for, such as a file of at most 500 lines: whoever has a reason goes on.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import warnings
from collections.abc import Collection
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PASSED_BEFORE = "COURSE_TESTS_PASSED_BEFORE"  # names the file for the processes that share the work


class HouseOrder(UserWarning):
    """Something to look at, and no reason to change the product."""


def advise(what: str, wrong: Collection[object]) -> None:
    """Print one line in the summary where something is not in order."""
    if wrong:
        listed = wrong.items() if isinstance(wrong, dict) else wrong
        warnings.warn(HouseOrder(f"{what}: {'; '.join(map(str, listed))}"), stacklevel=2)


def state() -> str:
    """A name of what is tested: the commit, and the changes that are not committed."""
    told = [subprocess.run(["git", *words], cwd=ROOT, capture_output=True).stdout for words in (
        ("rev-parse", "HEAD"), ("diff", "HEAD"), ("ls-files", "--others", "--exclude-standard"),
    )]  # fmt: skip
    return hashlib.sha256(b"\0".join(told)).hexdigest()[:16]


class Resuming:
    """The plug-in behind `--resume`."""

    def __init__(self, record: Path, writes: bool):
        self.record, self.writes = record, writes
        self._called: set[str] = set()

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        before = set(Path(os.environ[PASSED_BEFORE]).read_text("utf-8").splitlines())
        left = [item for item in items if item.nodeid not in before]
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid in before])
        items[:] = left

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not self.writes:
            return
        if report.when == "teardown" and report.passed and report.nodeid in self._called:
            with self.record.open("a", encoding="utf-8") as file:
                file.write(f"{report.nodeid}\n")
        elif report.when == "call" and report.passed:
            self._called.add(report.nodeid)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if session.exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:  # all of them passed before
            session.exitstatus = pytest.ExitCode.OK

    def pytest_terminal_summary(self, terminalreporter) -> None:
        before = len(Path(os.environ[PASSED_BEFORE]).read_text("utf-8").splitlines())
        terminalreporter.write_line(f"--resume: {before} tests had passed before; {self.record}")


def configure(config: pytest.Config) -> None:
    """Begin or go on with a run, where `--resume` is given. Processes that share the work read one list of what passed,
    as it was when the run began."""
    if not config.getoption("--resume"):
        return
    record = ROOT / "build" / "passed" / f"{state()}.txt"
    shares = hasattr(config, "workerinput")  # this process does a part of the work for another one, which writes
    if not shares:
        record.parent.mkdir(parents=True, exist_ok=True)
        record.touch()
        os.environ[PASSED_BEFORE] = str(shutil.copy(record, record.with_suffix(".before")))
    config.pluginmanager.register(Resuming(record, writes=not shares))

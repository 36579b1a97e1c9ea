"""How nbval's kernels are started: they talk through sockets of their own, and say which files of the course they read.

Ports are chosen before the kernel takes them. Where two notebooks are run at once, another program can take one in
between; then the kernel ends, and nbval waits for it for a minute and gives up.

For a student a check that fails only reports; nbval sees a failure where a cell raises (`coursekit.beside.RAISING`).
"""

from __future__ import annotations

import os
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

import nbval.kernel
import notebook_records
import pytest
from jupyter_client.manager import KernelManager
from nbval.plugin import IPyNbFile
from traitlets import default

READS = "NOTEBOOK_READS"  # in a kernel's environment: the file in which it lists what it reads
FOLDER = "NOTEBOOK_READS_FOLDER"  # where the processes of one run keep these lists


class SocketKernelManager(KernelManager):
    """Starts kernels that listen at ``kernel-ipc-1`` and so on, in a new folder."""

    @default("transport")
    def _transport_default(self) -> str:
        return "ipc"

    @default("connection_file")
    def _connection_file_default(self) -> str:
        self._folder = tempfile.TemporaryDirectory(prefix="kernel-")
        return str(Path(self._folder.name) / "kernel.json")

    def start_kernel(self, **settings: Any) -> None:
        """Called by nbval."""
        super().start_kernel(**{"env": os.environ | {"COURSE_CHECKS_RAISE": "1"}, **settings})


class Recorder:
    """Writes the record of each notebook whose cells have all passed, as soon as the last one has."""

    def __init__(self) -> None:
        self.passed: dict[str, int] = defaultdict(int)
        self.seconds: dict[str, float] = defaultdict(float)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        notebook = report.nodeid.partition("::")[0]
        if not notebook.endswith(".ipynb") or not (notebook_records.ROOT / notebook).exists():
            return
        self.seconds[notebook] += report.duration
        if report.when != "call" or not report.passed:
            return
        self.passed[notebook] += 1
        if self.passed[notebook] == len(notebook_records.code_cells(notebook)):
            files = notebook_records.read_files(listing(notebook), notebook)
            notebook_records.save(notebook, files, self.seconds[notebook])


def listing(notebook: str) -> Path:
    """The file in which the kernel of a notebook lists what it reads."""
    return Path(os.environ[FOLDER]) / notebook.replace("/", ".")


def install(config: pytest.Config) -> None:
    """Make nbval start its kernels in this way from now on."""
    nbval.kernel.KernelManager = SocketKernelManager
    if not hasattr(config, "workerinput"):
        config._notebook_reads = tempfile.TemporaryDirectory(prefix="notebook-reads-")
        os.environ[FOLDER] = config._notebook_reads.name
        config.pluginmanager.register(Recorder())
    set_up = IPyNbFile.setup

    def setup(file: IPyNbFile) -> None:
        root = notebook_records.ROOT
        if not Path(file.path).is_relative_to(root):  # a test's own notebook has no record
            set_up(file)
            return
        ours = {
            READS: str(listing(str(Path(file.path).relative_to(root)))),
            "NOTEBOOK_ROOT": f"{root}/",
            "PYTHONPATH": os.pathsep.join([str(root / "tests" / "watching_reads"), os.environ.get("PYTHONPATH", "")]),
        }
        with pytest.MonkeyPatch.context() as patch:
            for name, value in ours.items():
                patch.setenv(name, value)
            set_up(file)

    IPyNbFile.setup = setup

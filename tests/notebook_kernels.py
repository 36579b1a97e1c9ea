"""Lets nbval talk to its kernels through sockets in a folder of their own instead of ports.

Ports are chosen before the kernel takes them. Where two notebooks are run at once, another program can take one in
between; then the kernel ends, and nbval waits for it for a minute and gives up.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import nbval.kernel
from jupyter_client.manager import KernelManager
from traitlets import default


class SocketKernelManager(KernelManager):
    """Starts kernels that listen at ``kernel-ipc-1`` and so on, in a new folder."""

    @default("transport")
    def _transport_default(self) -> str:
        return "ipc"

    @default("connection_file")
    def _connection_file_default(self) -> str:
        self._folder = tempfile.TemporaryDirectory(prefix="kernel-")
        return str(Path(self._folder.name) / "kernel.json")


def install() -> None:
    """Make nbval start its kernels in this way from now on."""
    nbval.kernel.KernelManager = SocketKernelManager

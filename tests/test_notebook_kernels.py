"""nbval's kernels listen at sockets in a folder of their own."""

from pathlib import Path

import nbval.kernel


def test_a_kernel_of_nbval_takes_no_port():
    manager, client = nbval.kernel.start_new_kernel(kernel_name=nbval.kernel.CURRENT_ENV_KERNEL_NAME)
    try:
        assert manager.transport == "ipc"
        assert manager.shell_port == 1 and Path(f"{manager.ip}-1").is_socket()
    finally:
        client.stop_channels()
        manager.shutdown_kernel()

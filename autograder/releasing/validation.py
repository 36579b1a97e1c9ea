"""nbgrader settings that make `nbgrader validate` and JupyterLab's Validate button tell the truth about a notebook."""


def configure_validation(c):
    """Set them on the traitlets configuration `c`. Students get these lines too, so nothing else may be needed here."""
    # A test cell with the tag "skip-execution" would not run and count as passed. No tag can contain a comma.
    c.Execute.skip_cells_with_tag = ","
    # Anything a test cell writes to stderr counts as failed, and TensorFlow logs there. A failed check raises instead.
    c.Execute.extra_arguments = [
        "--IPKernelApp.capture_fd_output=False",
        "--InteractiveShellApp.exec_lines=import sys; sys.stderr = sys.__stderr__",
    ]
    c.Execute.timeout = 300

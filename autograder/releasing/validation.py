"""nbgrader settings that make `nbgrader validate` and JupyterLab's Validate button tell the truth about a notebook."""

import copy
import functools
import inspect
import re


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
    say_points_first()


def say_points_first():
    """Let what Validate lists as failed begin with "8 of 41 points", as the last check of the run says.

    nbgrader has neither a setting nor a place for it: it shows source and error of each failed cell. So the source of
    the first one is shown below that line. Where nbgrader finds failed cells in another way, nothing changes.
    """
    from nbgrader.validator import Validator

    if not hasattr(Validator, "_get_failed_cells"):
        return
    find = inspect.unwrap(Validator._get_failed_cells)  # this file is read again each time the button is pressed

    @functools.wraps(find)
    def find_with_points(self, notebook):
        failed = find(self, notebook)
        said = [found for cell in notebook.cells for found in _POINTS.findall(_printed(cell))]
        if failed and said:
            failed[0] = copy.deepcopy(failed[0])
            failed[0].source = f"{said[-1]}\n\n{failed[0].source}"
        return failed

    Validator._get_failed_cells = find_with_points


_POINTS = re.compile(r"exercises pass, (\S{1,20} of \S{1,20} points)$", re.MULTILINE)  # the last line of a report


def _printed(cell):
    """What a cell has shown, as plain text."""
    return "\n".join("".join(each.get("data", {}).get("text/plain", "")) for each in cell.get("outputs", ()))

"""Runs a lab's notebook outside Jupyter and gives the report of every exercise."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from textwrap import shorten
from typing import Any

from coursekit.check.lab import Lab
from coursekit.check.report import Report


def check_notebook(path: Path, tell: Callable[[str], object] = str) -> list[Report]:
    """Run the notebook's cells from top to bottom, in its folder, then check every exercise of its lab.

    The code runs in this process, with its rights. A cell that raises stops only itself; cells that only check or only
    show something do not run.

    Args:
        path: a lab's notebook.
        tell: is called with a sentence on each cell that raises.

    Raises:
        ValueError: the file is no notebook, or none of its cells starts a lab.
    """
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output

    class Shell(InteractiveShell):
        def enable_gui(self, gui: str | None = None) -> None:
            """`%matplotlib inline` asks for this; there is no window here."""

    try:
        cells = [dict(cell) for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]]
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is not a notebook: {error}") from None
    with _as_main(), contextlib.chdir(path.resolve().parent):
        shell = Shell()  # not the one of this process: another notebook's names are not this one's
        for cell in cells:
            source = "".join(cell.get("source", ""))
            shown_only = "demonstration" in cell.get("metadata", {}).get("tags", ())
            if cell.get("cell_type") != "code" or shown_only or source.lstrip().startswith("check("):
                continue
            with capture_output():
                done = shell.run_cell(source, store_history=True)
            if raised := done.error_before_exec or done.error_in_exec:
                name = (cell.get("metadata", {}).get("nbgrader") or {}).get("grade_id") or shorten(source, 40)
                tell(f"the cell {name} raised {type(raised).__name__}: {shorten(str(raised), 120)}")
        with capture_output():  # what the code prints while it is checked, such as a bar for each epoch
            return _reports(shell.user_ns, path)


def removed_exercises(path: Path, reports: Sequence[Report]) -> list[str]:
    """The exercises whose check stands in a notebook of an older release, and which the lab no longer has."""
    there = {report.spec.name for report in reports}
    cells = (
        (cell.get("metadata", {}).get("nbgrader") or {}, "".join(cell.get("source", "")))
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]
    )
    checked = [flags.get("grade_id") for flags, source in cells if source.lstrip().startswith("check(")]
    return [name for name in checked if name and name not in there]


def _reports(names: dict[str, Any], path: Path) -> list[Report]:
    labs = [value for value in names.values() if isinstance(value, Lab)]
    if not labs:
        raise ValueError(f"{path} starts no lab: its first cells must run `check = start_lab(…)`")
    return [labs[-1].report(exercise, names) for exercise in labs[-1].progress]


@contextlib.contextmanager
def _as_main() -> Iterator[None]:
    """Let the shell that is made in this block be the module `__main__`, as a notebook's is, and undo that."""
    outer = sys.modules["__main__"]
    try:
        yield
    finally:
        sys.modules["__main__"] = outer

"""Runs a lab's notebook outside Jupyter and gives the report of every exercise."""

from __future__ import annotations

import json
from pathlib import Path

from coursekit.lab import Lab
from coursekit.report import Report


def check_notebook(path: Path) -> list[Report]:
    """Run the notebook's cells from top to bottom, then check every exercise of its lab.

    The code runs in this process, with its rights. A cell that raises stops only itself; cells that only check or only
    show something are passed over.

    Args:
        path: a lab's notebook.

    Raises:
        ValueError: the file is no notebook, or none of its cells starts a lab.
    """
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output

    try:
        cells = [dict(cell) for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]]
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is not a notebook: {error}") from None
    shell = InteractiveShell.instance()
    for cell in cells:
        source = "".join(cell.get("source", ""))
        shown_only = "demonstration" in cell.get("metadata", {}).get("tags", ())
        if cell.get("cell_type") != "code" or shown_only or source.lstrip().startswith("check("):
            continue
        with capture_output():
            shell.run_cell(source, store_history=True)
    labs = [value for value in shell.user_ns.values() if isinstance(value, Lab)]
    if not labs:
        raise ValueError(f"{path} starts no lab: its first cells must run `check = start_lab(…)`")
    return [labs[-1].report(exercise, shell.user_ns) for exercise in labs[-1].progress]

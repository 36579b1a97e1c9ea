"""Makes the one file that a student hands in, after running the checks, and says what is unfinished in it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coursekit.check.report import Report
from coursekit.notebook import check_notebook

SUFFIX = "-submission"
LARGEST_OUTPUT = 1 << 20  # bytes of one cell's outputs; what is larger is a slip, such as a printed array
EMPTY_ANSWER = "*Write your answer here.*"


@dataclass(frozen=True)
class Packed:
    """A file to hand in.

    Attributes:
        path: the file.
        reports: the checks' report of every exercise of the lab.
        warnings: what a student should know before handing it in, one sentence each; empty when nothing is open.
    """

    path: Path
    reports: tuple[Report, ...]
    warnings: tuple[str, ...]


def pack(notebook: Path, target: Path | None = None) -> Packed:
    """Run a lab's checks and write the file to hand in: the notebook, without outputs too large to upload.

    Args:
        notebook: a lab's notebook, as saved.
        target: the file to write; `<name>-submission.ipynb` beside the notebook by default.

    Raises:
        ValueError: the file is no lab's notebook, or `target` is the notebook itself.
    """
    target = target or notebook.with_name(f"{notebook.stem.removesuffix(SUFFIX)}{SUFFIX}.ipynb")
    if target.resolve() == notebook.resolve():
        raise ValueError(f"{notebook} is the file to hand in, packed before: name your own notebook, or another --out")
    reports = tuple(check_notebook(notebook))
    content = json.loads(notebook.read_text(encoding="utf-8"))
    content.get("metadata", {}).pop("widgets", None)
    warnings = [*_unfinished(reports), *_missing(content, reports), *_unwritten(content), *_lighten(content)]
    target.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return Packed(target, reports, tuple(warnings))


def _unfinished(reports: tuple[Report, ...]) -> list[str]:
    states = {True: "Not started", False: "Not all checks pass"}
    found: dict[str, list[str]] = {}
    for report in reports:
        if not report.judgement.passed:
            found.setdefault(states[report.judgement.status == "missing"], []).append(report.spec.name)
    return [f"{state}: {', '.join(names)}." for state, names in found.items()]


def _missing(content: dict[str, Any], reports: tuple[Report, ...]) -> list[str]:
    cells = {_details(cell).get("grade_id") for cell in content["cells"]}
    gone = [report.spec.name for report in reports if report.spec.name not in cells]
    return [f"The check cells of {', '.join(gone)} are gone; they are put back for grading."] if gone else []


def _unwritten(content: dict[str, Any]) -> list[str]:
    empty = [
        _details(cell)["grade_id"]
        for cell in content["cells"]
        if cell.get("cell_type") == "markdown"
        and _details(cell).get("solution")
        and "".join(cell["source"]).strip() in ("", EMPTY_ANSWER)
    ]
    return [f"No text written yet: {', '.join(empty)}."] if empty else []


def _lighten(content: dict[str, Any]) -> list[str]:
    heavy = 0
    for cell in content["cells"]:
        if len(json.dumps(cell.get("outputs", []))) > LARGEST_OUTPUT:
            cell["outputs"] = []
            heavy += 1
    return [f"The outputs of {heavy} cells, too large to upload, are left out of the file."] if heavy else []


def _details(cell: dict[str, Any]) -> dict[str, Any]:
    return cell.get("metadata", {}).get("nbgrader", {})

"""Says what a student will notice in a new release of a lab, and keeps the points in its text right."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from nbformat import NotebookNode

from autograder.course.labs import grade_id, is_test, points
from autograder.release import reference_export

_NAMED = 4  # cells or exercises named in a line; more are counted


def student_changes(lab: str, old: NotebookNode | None, new: NotebookNode) -> list[str]:
    """What a student who has the `old` release of a lab will notice in the `new` one, one line each."""
    now = points(new)
    if old is None:
        noun = "exercise" if len(now) == 1 else "exercises"
        return [f"{lab}: new, {len(now)} {noun}, {math.fsum(now.values()):g} points"]
    before = points(old)
    lines = [f"{lab}: new exercise {name} ({now[name]:g} points)" for name in now if name not in before]
    lines += [f"{lab}: exercise {name} was removed" for name in before if name not in now]
    lines += [
        f"{lab}: {name} is worth {now[name]:g} points, was {before[name]:g}"
        for name in now
        if name in before and now[name] != before[name]
    ]
    texts = [{cell.source: _name(cell) for cell in notebook.cells if not is_test(cell)} for notebook in (old, new)]
    written = [name for source, name in texts[1].items() if source not in texts[0]]
    unnamed = any(name.startswith('"') for name in written)  # then a text that begins otherwise may be the old one
    gone = [
        name
        for source, name in texts[0].items()
        if source not in texts[1] and name not in texts[1].values() and not (unnamed and name.startswith('"'))
    ]
    if written:
        lines.append(f"{lab}: new text in {_listed(written)}")
    if gone:
        lines.append(f"{lab}: removed: {_listed(gone)}")
    return lines


def check_changes(lab: str, old: Mapping[str, bytes], new: Mapping[str, bytes]) -> list[str]:
    """The exercises whose visible checks, hints or reference outputs differ between two exports of a lab, in one line.

    Args:
        lab: the lab's name.
        old, new: the files under ``coursekit/reference`` of the lab, by name. Points are told by `student_changes`.
    """
    differing = reference_export.differing_exercises(lab, old, new)
    return [f"{lab}: changed checks in {_listed(differing)}"] if differing else []


def write_points(notebook: NotebookNode) -> bool:
    """Set the numbers in the column "points" of the notebook's tables to the points of the exercises they name.

    In place. Returns whether a number changed.
    """
    worth = {name: value for name, value in points(notebook).items() if isinstance(value, int | float)}
    changed = False
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            column = None
            lines = cell.source.split("\n")
            for number, line in enumerate(lines):
                fields = line.split("|")
                if not line.lstrip().startswith("|"):
                    column = None
                elif column is None:
                    names = [field.strip() for field in fields]
                    column = names.index("points") if "points" in names else -1
                elif 0 < column < len(fields):
                    found = [name for name in re.findall(r"`(\w+)`", line) if name in worth]
                    if len(found) == 1 and re.fullmatch(r"\s*[\d.]+\s*", fields[column]):
                        fields[column] = f" {worth[found[0]]:g} "
                        lines[number] = "|".join(fields)
            source = "\n".join(lines)
            changed = changed or source != cell.source
            cell.source = source
    return changed


def _name(cell: NotebookNode) -> str:
    """What a cell is called in a summary: its grade_id, or how it begins."""
    beginning = cell.source.strip().partition("\n")[0].strip("# ")[:40]
    return grade_id(cell) or f'"{beginning}"'


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more

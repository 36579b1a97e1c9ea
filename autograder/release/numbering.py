"""Numbers the sections of a lab anew after an exercise was dropped, added or moved, and what refers to them."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from itertools import pairwise

from nbformat import NotebookNode

from autograder.course.labs import grade_id, is_in_words, is_test, points

_HEADING = re.compile(r"^(## )(\d+)( · )(.*)", re.MULTILINE)
_REFERENCE = re.compile(
    r"\b(?P<word>[Ee]xercises?)(?P<space>\s+(?:#\s+)?)"
    r"(?P<numbers>\d+(?:(?:, | and | or | to |–)\d+)*)\b(?!\s+of\s+(?:\[?lab|\[?lecture))"
)
_OTHER_LAB = re.compile(r"\blab \d+b?(?:\]\([^)]*\))?,? (?:in )?$")
_TIME = re.compile(r"(\*\*Time:\*\* about )(\d+)( minutes)")
_EMPTY = "–"
_OPTIONAL = re.compile(r" \(optional\)|, optional\b")


def find_texts_left(old: NotebookNode, new: NotebookNode) -> list[str]:
    """Return a line for each exercise that only the `old` release has, and whose text is still in the `new` notebook.

    The text of an exercise is the text cell right before its stub.
    """
    gone = points(old).keys() - points(new).keys()
    texts = {cell.source for cell in new.cells if cell.cell_type == "markdown"}
    ids = {grade_id(cell) for cell in new.cells if cell.cell_type == "markdown"} - {""}
    return [
        f"the text {grade_id(before) or f'“{read_beginning(before)}”'} stood before {name}, which is gone: delete it "
        "as well, or correct it"
        for before, stub in pairwise(old.cells)
        if before.cell_type == "markdown" and (name := grade_id(stub).removesuffix("-code")) in gone
        if grade_id(before) in ids or before.source in texts
    ]


def read_beginning(cell: NotebookNode) -> str:
    """Return the first words of a cell, by which it is called where it has no grade_id."""
    return cell.source.strip().partition("\n")[0].strip("# ")[:40]


def renumber(notebook: NotebookNode) -> list[str]:
    """Bring headings, table, minutes and references of a lab's notebook to the order of its sections, in place.

    Headings ``## 3 · Title`` count from 1. In the table of exercises, rows of exercises that are gone go, exercises
    without a row get one, one without points is called optional, the first column holds the number of the section, and
    the minutes of rows that went are taken from the lab's. "exercise 3" in a text becomes the new number. A notebook
    without such headings stays as it is.

    Returns:
        One sentence for each thing that changed, or that a person has to look at.
    """
    said: list[str] = []
    new_numbers, twice, section_of = _number_headings(notebook, said)
    if section_of:
        _write_references(notebook, new_numbers, twice, said)
        for cell in notebook.cells:
            if cell.cell_type == "markdown":
                _write_table(cell, points(notebook), section_of, said)
    return said if section_of else []


def _number_headings(notebook: NotebookNode, said: list[str]) -> tuple[dict[int, int], set[int], dict[str, int]]:
    """Number the headings, in place.

    Returns:
        The new number of each old one, the old ones that two headings had, and the section of each exercise.
    """
    new_numbers: dict[int, int] = {}
    twice: set[int] = set()
    section_of: dict[str, int] = {}
    empty: dict[int, str] = {}
    number = 0

    def count(match: re.Match[str]) -> str:
        nonlocal number
        number += 1
        old = int(match[2])
        if new_numbers.setdefault(old, number) != number:
            twice.add(old)
        empty[number] = match[4].strip()
        return f"{match[1]}{number}{match[3]}{match[4]}"

    for cell in notebook.cells:
        if is_test(cell) or is_in_words(cell):
            empty.pop(number, None)
        if cell.cell_type == "markdown":
            cell.source = _HEADING.sub(count, cell.source)
        elif is_test(cell) and number:
            section_of[grade_id(cell)] = number
    said += (f"section {old} is section {new} now" for old, new in new_numbers.items() if old != new)
    said += (
        f"section {number} · {title} has no exercise: delete its cells, or take the number out of its heading"
        for number, title in empty.items()
    )
    return new_numbers, twice, section_of


def _write_references(
    notebook: NotebookNode, new_numbers: Mapping[int, int], twice: Collection[int], said: list[str]
) -> None:
    """Bring "exercise 3" and "exercises 3 to 5" to the new numbers, in place, but for those of another lab."""

    def refer(match: re.Match[str]) -> str:
        if _OTHER_LAB.search(match.string[: match.start()]):
            return match[0]
        around = " ".join(match.string[max(0, match.start() - 30) : match.end() + 20].split())

        def renumbered(digits: re.Match[str]) -> str:
            old = int(digits[0])
            if old in twice or old not in new_numbers:
                why = "; two sections had it" if old in twice else ", which is not there"
                said.append(f"{name} speaks of exercise {old}{why}: “… {around} …”")
            return str(new_numbers.get(old, old))

        return match["word"] + match["space"] + re.sub(r"\d+", renumbered, match["numbers"])

    for cell in notebook.cells:
        name = grade_id(cell) or "a text"
        cell.source = _REFERENCE.sub(refer, cell.source)


def _write_table(
    cell: NotebookNode, worth: Mapping[str, float | None], section_of: Mapping[str, int], said: list[str]
) -> None:
    """Bring the table of exercises in a text to the exercises that are there, in their order."""
    lines = cell.source.split("\n")
    head = next((at for at, line in enumerate(lines) if line.startswith("|") and "what you write" in line), None)
    if head is None:
        return
    columns = _fields(lines[head])
    end = next((at for at in range(head, len(lines)) if not lines[at].startswith("|")), len(lines))
    rows, lost = {}, 0
    for line in lines[head + 2 : end]:
        name = next(iter(re.findall(r"`(\w+)`", line)), "")
        if name in section_of:
            rows[name] = line
        else:
            said.append(f"the table's row of {name or line} is gone")
            if "minutes" in columns and (minutes := _fields(line)[columns.index("minutes")]).isdigit():
                lost += int(minutes)
    for name in section_of:
        if name not in rows and name in worth:
            blank = dict.fromkeys(columns, _EMPTY) | {"what you write": f"`{name}`", "points": f"{worth[name] or 0:g}"}
            rows[name] = f"| {' | '.join(blank.values())} |"
            said.append(f"the table has a row for {name} now: fill in what is {_EMPTY}")
    at = columns.index("exercise") if "exercise" in columns else 0
    in_order = sorted(rows, key=list(section_of).index)
    lines[head + 2 : end] = [
        _with_field(_call_optional(name, rows[name], worth.get(name), said), at + 1, str(section_of[name]))
        for name in in_order
    ]
    cell.source = "\n".join(lines)
    if lost:
        cell.source = _TIME.sub(lambda match: f"{match[1]}{max(5, int(match[2]) - lost)}{match[3]}", cell.source)


def _call_optional(name: str, row: str, points: float | None, said: list[str]) -> str:
    """Return the row of an exercise, with the word optional if, and only if, it has no points."""
    is_optional = _OPTIONAL.search(row) is not None
    if points and is_optional:
        said.append(f"{name} has points, so the table does not call it optional any more: look whether its text does")
        return _OPTIONAL.sub("", row)
    if points == 0 and not is_optional:
        said.append(f"{name} has no points, so the table calls it optional: let its text say so, too")
        return row.replace(f"`{name}`", f"`{name}` (optional)", 1)
    return row


def write_points(notebook: NotebookNode) -> None:
    """Set the numbers in the column "points" of a notebook's tables to the points of the exercises they name."""
    worth = {name: value for name, value in points(notebook).items() if isinstance(value, int | float)}
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            column = None
            lines = cell.source.split("\n")
            for number, line in enumerate(lines):
                if not line.lstrip().startswith("|"):
                    column = None
                elif column is None:
                    names = [field.strip() for field in line.split("|")]
                    column = names.index("points") if "points" in names else -1
                elif 0 < column < line.count("|") + 1:
                    named = [name for name in re.findall(r"`(\w+)`", line) if name in worth]
                    if len(named) == 1 and re.fullmatch(r"\s*[\d.]+\s*", line.split("|")[column]):
                        lines[number] = _with_field(line, column, f"{worth[named[0]]:g}")
            cell.source = "\n".join(lines)


def _fields(row: str) -> list[str]:
    return [field.strip() for field in row.strip().strip("|").split("|")]


def _with_field(row: str, column: int, text: str) -> str:
    fields = row.split("|")
    fields[column] = f" {text} "
    return "|".join(fields)

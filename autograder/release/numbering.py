"""Numbers the sections of a lab anew after an exercise was dropped, added or moved, and what refers to them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from nbformat import NotebookNode

from autograder.course.labs import grade_id, is_in_words, is_test, points

_HEADING = re.compile(r"^(## )(\d+)( · )", re.MULTILINE)
_REFERENCE = re.compile(
    r"\b(?P<word>[Ee]xercises?)(?P<space>\s+(?:#\s+)?)"
    r"(?P<numbers>\d+(?:(?:, | and | or | to |–)\d+)*)\b(?!\s+of\s+(?:\[?lab|\[?lecture))"
)
_OTHER_LAB = re.compile(r"\blab \d+b?(?:\]\([^)]*\))?,? (?:in )?$")
_TIME = re.compile(r"(\*\*Time:\*\* about )(\d+)( minutes)")
_EMPTY = "–"
_OPTIONAL = re.compile(r" \(optional\)|, optional\b")


@dataclass
class Numbering:
    """How numbers changed: old -> new for each section, and what to say about it.

    `titles` are the headings by their new numbers, without the number.
    """

    sections: dict[int, int] = field(default_factory=dict)
    ambiguous: set[int] = field(default_factory=set)
    titles: dict[int, str] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)


def texts_left(old: NotebookNode, new: NotebookNode) -> list[str]:
    """Return a line for each exercise that only the `old` release has, and whose text is still in the `new` notebook.

    The text of an exercise is the text cell right before its stub.
    """
    gone = points(old).keys() - points(new).keys()
    texts = {cell.source for cell in new.cells if cell.cell_type == "markdown"}
    ids = {grade_id(cell) for cell in new.cells if cell.cell_type == "markdown"} - {""}
    return [
        f"the text {grade_id(before) or _beginning(before)} stood before {name}, which is gone: delete it as well, or "
        "correct it"
        for before, stub in pairwise(old.cells)
        if before.cell_type == "markdown" and (name := grade_id(stub).removesuffix("-code")) in gone
        if grade_id(before) in ids or before.source in texts
    ]


def renumber(notebook: NotebookNode) -> list[str]:
    """Bring headings, table, minutes and references of a lab's notebook to the order of its sections, in place.

    Headings ``## 3 · Title`` count from 1. In the table of exercises, rows of exercises that are gone go, exercises
    without a row get one, one without points is called optional, the first column holds the number of the section, and
    the minutes of rows that went are taken from the lab's. "exercise 3" in a text becomes the new number. A notebook
    without such headings stays as it is.

    Returns:
        One sentence for each thing that changed, or that a person has to look at.
    """
    numbering, section_of = _number_headings(notebook)
    if not section_of:
        return []
    _write_references(notebook, numbering)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            _write_table(cell, points(notebook), section_of, numbering.lines)
    return numbering.lines


def _number_headings(notebook: NotebookNode) -> tuple[Numbering, dict[str, int]]:
    """Number the headings; return what became of the numbers, and the section in which each exercise stands."""
    numbering, section_of, new, filled = Numbering(), {}, 0, set[int]()
    for cell in notebook.cells:
        if is_test(cell) or is_in_words(cell):
            filled.add(new)
        if cell.cell_type != "markdown":
            if is_test(cell) and new:
                section_of[grade_id(cell)] = new
            continue

        def numbered(match: re.Match[str]) -> str:
            nonlocal new
            new += 1
            old = int(match[2])
            if old in numbering.sections:
                numbering.ambiguous.add(old)
            numbering.sections.setdefault(old, new)
            numbering.titles[new] = match.string[match.end() :].partition("\n")[0].strip()
            return f"{match[1]}{new}{match[3]}"

        cell.source = _HEADING.sub(numbered, cell.source)
    moved = {old: now for old, now in numbering.sections.items() if old != now}
    if moved or numbering.ambiguous:
        numbering.lines += [f"section {old} is section {now} now" for old, now in moved.items()]
    numbering.lines += [
        f"section {number} · {title} has no exercise: delete its cells, or take the number out of its heading"
        for number, title in numbering.titles.items()
        if number not in filled
    ]
    return numbering, section_of


def _write_references(notebook: NotebookNode, numbering: Numbering) -> None:
    known, changed = numbering.sections, any(old != new for old, new in numbering.sections.items())
    for cell in notebook.cells:

        def referred(match: re.Match[str], name: str = grade_id(cell) or "a text") -> str:
            if _OTHER_LAB.search(match.string[: match.start()]):
                return match[0]

            def number(digits: re.Match[str]) -> str:
                old = int(digits[0])
                if old not in known:
                    numbering.lines.append(f"{name} speaks of exercise {old}, which is not there: {_around(match)}")
                elif old in numbering.ambiguous:
                    numbering.lines.append(f"{name} speaks of exercise {old}; two sections had it: {_around(match)}")
                return str(known.get(old, old))

            return match["word"] + match["space"] + re.sub(r"\d+", number, match["numbers"])

        if changed or numbering.ambiguous or _speaks_of_missing(cell.source, known):
            cell.source = _REFERENCE.sub(referred, cell.source)


def _speaks_of_missing(source: str, known: Mapping[int, int]) -> bool:
    return any(int(number) not in known for match in _REFERENCE.finditer(source) for number in _numbers(match))


def _numbers(match: re.Match[str]) -> Iterator[str]:
    yield from re.findall(r"\d+", match["numbers"])


def _beginning(cell: NotebookNode) -> str:
    return f"“{cell.source.strip().partition(chr(10))[0].strip('# ')[:40]}”"


def _around(match: re.Match[str]) -> str:
    """The words around a reference, in one line."""
    text = match.string[max(0, match.start() - 30) : match.end() + 20]
    return f"“… {' '.join(text.split())} …”"


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
    for name, row in rows.items():
        rows[name] = _as_worth(name, row, worth.get(name), said)
    in_order = sorted(rows, key=list(section_of).index)
    at = columns.index("exercise") if "exercise" in columns else 0
    lines[head + 2 : end] = [_with_number(rows[name], at, section_of[name]) for name in in_order]
    cell.source = "\n".join(lines)
    if lost:
        cell.source = _TIME.sub(lambda match: f"{match[1]}{max(5, int(match[2]) - lost)}{match[3]}", cell.source)


def _as_worth(name: str, row: str, points: float | None, said: list[str]) -> str:
    """Return the row of an exercise, with the word optional if, and only if, it has no points."""
    is_optional = _OPTIONAL.search(row) is not None
    if points and is_optional:
        said.append(f"{name} has points, so the table does not call it optional any more: look whether its text does")
        return _OPTIONAL.sub("", row)
    if points == 0 and not is_optional:
        said.append(f"{name} has no points, so the table calls it optional: let its text say so, too")
        return row.replace(f"`{name}`", f"`{name}` (optional)", 1)
    return row


def _fields(row: str) -> list[str]:
    return [field.strip() for field in row.strip().strip("|").split("|")]


def _with_number(row: str, column: int, number: int) -> str:
    fields = row.split("|")
    fields[column + 1] = f" {number} "
    return "|".join(fields)

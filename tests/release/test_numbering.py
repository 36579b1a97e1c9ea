"""After an exercise was dropped, added or moved, a lab's headings, table, minutes and references count again."""

from __future__ import annotations

import copy
import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import nbformat
import pytest
from lab_matrix import LABS
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from this_course import exercises_of

from autograder.release.numbering import find_texts_left, renumber

ROOT = Path(__file__).resolve().parents[2]
SOLUTIONS = sorted((ROOT / "solutions").glob("*/*.ipynb"))


def test_of(name: str, points: float):
    graded = {"grade": True, "solution": False, "grade_id": name, "points": points, "locked": True, "schema_version": 3}
    return new_code_cell(f'check("{name}")', metadata={"nbgrader": graded})


test_of.__test__ = False
TABLE = """**Time:** about 60 minutes.

| exercise | what you write | points | difficulty | minutes |
|---|---|---|---|---|
| 1 | `first` | 2 | ●○○○○ | 5 |
| 2 | `second` | 3 | ●●○○○ | 10 |
| 3 | `third` | 1 | ●○○○○ | 5 |
| 3 | `fourth` | 1 | ●○○○○ | 5 |
"""


def lab():
    return new_notebook(
        cells=[
            new_markdown_cell(TABLE),
            new_markdown_cell("## 1 · One"),
            test_of("first", 2),
            new_markdown_cell("## 2 · Two\n\nLike exercise 1."),
            test_of("second", 3),
            new_markdown_cell("## 3 · Three\n\nIt takes exercises 1 and 2, and exercise 2 of lab 01."),
            new_code_cell('def third():\n    """As in exercise 3."""'),
            test_of("third", 1),
            test_of("fourth", 1),
        ]
    )


def test_a_dropped_exercise_leaves_no_gap():
    notebook = lab()
    del notebook.cells[1:3]
    said = renumber(notebook)
    text = "\n".join(cell.source for cell in notebook.cells)
    assert re.findall(r"^## (\d) · (\w+)", text, re.MULTILINE) == [("1", "Two"), ("2", "Three")]
    assert "`first`" not in text and "about 55 minutes" in text
    assert re.findall(r"^\| (\d) \| `(\w+)`", text, re.MULTILINE) == [("1", "second"), ("2", "third"), ("2", "fourth")]
    assert "exercises 1 and 1, and exercise 2 of lab 01" in text, "1 is gone and stays, 2 is 1 now, another lab stays"
    assert '"""As in exercise 2."""' in text
    assert sum("speaks of exercise 1, which is not there" in line for line in said) == 2
    assert {"section 2 is section 1 now", "section 3 is section 2 now", "the table's row of first is gone"} <= set(said)


def test_an_added_exercise_gets_a_number_and_a_row():
    notebook = lab()
    notebook.cells[3:3] = [new_markdown_cell("## 2 · New"), test_of("fresh", 4)]
    said = renumber(notebook)
    text = "\n".join(cell.source for cell in notebook.cells)
    assert re.findall(r"^## (\d) · (\w+)", text, re.MULTILINE) == [
        ("1", "One"),
        ("2", "New"),
        ("3", "Two"),
        ("4", "Three"),
    ]
    assert "| 2 | `fresh` | 4 | – | – |\n| 3 | `second` | 3 |" in text
    assert "the table has a row for fresh now: fill in what is –" in said
    assert any("speaks of exercise 2; two sections had it" in line for line in said)


def test_the_table_calls_optional_what_has_no_points():
    notebook = lab()
    for cell, points in ((notebook.cells[2], 0), (notebook.cells[4], 3)):
        cell.metadata["nbgrader"]["points"] = points
    notebook.cells[0].source = TABLE.replace("`second`", "`second` (optional)")
    said = renumber(notebook)
    assert "| 1 | `first` (optional) | 2 |" in notebook.cells[0].source
    assert "| 2 | `second` | 3 |" in notebook.cells[0].source
    assert [line.partition(" ")[0] for line in said] == ["first", "second"] and renumber(notebook) == []


def test_a_moved_exercise_takes_its_row_and_its_references_along():
    notebook = lab()
    notebook.cells[1:5] = [*notebook.cells[3:5], *notebook.cells[1:3]]
    said = renumber(notebook)
    text = "\n".join(cell.source for cell in notebook.cells)
    assert "| 1 | `second` | 3 | ●●○○○ | 10 |\n| 2 | `first` | 2 | ●○○○○ | 5 |" in text
    assert "Like exercise 2." in text and "exercises 2 and 1" in text
    assert sorted(said) == ["section 1 is section 2 now", "section 2 is section 1 now"]


def test_a_heading_without_an_exercise_is_named_until_it_goes_or_has_no_number():
    notebook = lab()
    del notebook.cells[4]
    told = "section 2 · Two has no exercise: delete its cells, or take the number out of its heading"
    assert told in renumber(notebook)
    assert renumber(notebook) == [told], "the next release says it again"
    notebook.cells[3].source = "## Two"
    renumber(notebook)
    assert renumber(notebook) == []


def test_the_text_of_a_dropped_exercise_that_stays_is_named():
    old = lab()
    stub = new_code_cell("def second(): ...", metadata={"nbgrader": {"grade_id": "second-code", "solution": True}})
    old.cells.insert(4, stub)
    new = copy.deepcopy(old)
    assert find_texts_left(old, new) == []
    del new.cells[4:6]
    (told,) = find_texts_left(old, new)
    assert told.startswith("the text “2 · Two” stood before second, which is gone: delete it")
    for before, after in ((old, "text-2"), (new, "text-2")):
        before.cells[3].metadata["nbgrader"] = {"grade_id": after, "solution": False}
    new.cells[3].source = "## 1 · Two"
    assert "the text text-2 stood before second" in find_texts_left(old, new)[0], "it is known by its name, too"
    del new.cells[3]
    assert find_texts_left(old, new) == []


def test_the_second_time_nothing_changes():
    notebook = lab()
    del notebook.cells[3:5]
    renumber(notebook)
    once = copy.deepcopy(notebook)
    renumber(notebook)
    assert notebook == once


def test_a_notebook_without_numbered_sections_stays_as_it_is():
    notebook = new_notebook(cells=[new_markdown_cell(TABLE), new_markdown_cell("## A title"), test_of("first", 2)])
    before = copy.deepcopy(notebook)
    assert renumber(notebook) == [] and notebook == before


@pytest.mark.parametrize("path", SOLUTIONS, ids=lambda path: path.stem)
def test_the_labs_of_this_course_are_numbered(path):
    notebook = nbformat.read(path, as_version=4)
    before = copy.deepcopy(notebook)
    assert renumber(notebook) == [] and notebook == before


def _texts(value) -> Iterator[str]:
    """Every text in what an exercise ships: sentences, hints and advice, however deep they stand."""
    if isinstance(value, str):
        yield value
    elif dataclasses.is_dataclass(value):
        yield from _texts([getattr(value, field.name) for field in dataclasses.fields(value)])
    elif isinstance(value, Mapping | Sequence):
        yield from (text for part in (value.values() if isinstance(value, Mapping) else value) for text in _texts(part))


@pytest.mark.parametrize("lab", LABS)
def test_what_a_check_says_calls_exercises_by_name(lab):
    """Numbers change with the order of the sections, and no release could mend them in a declaration."""
    for name, exercise in exercises_of(lab).items():
        numbered = [text for text in _texts(exercise.spec) if re.search(r"\b[Ee]xercises? \d", text)]
        assert not numbered, f"{name}: {numbered}"

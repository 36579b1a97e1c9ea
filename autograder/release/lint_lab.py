"""Says what a lab still lacks before it can be released: cells, declarations, cases that depend on the seed."""

from __future__ import annotations

import json
import math
import re
import runpy
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import shorten
from typing import Any

import numpy as np
from nbformat import NotebookNode

from autograder.course.labs import details, grade_id, is_solution, is_test
from autograder.course.settings import Course
from autograder.course.text import did_you_mean
from autograder.course.text_pairs import write_text
from autograder.declare import Exercise, Questions
from autograder.declare.declaration import SHARED, Declaration, lab_folder
from autograder.declare.exercise import VISIBLE_SEED
from autograder.release.course_cells import SETUP_TAG, tags
from coursekit.check.cells import NotPython, parse
from coursekit.check.judge import Expectation

MARK = re.compile(r"\bTODO\b")
BEGIN, END = "BEGIN SOLUTION", "END SOLUTION"
RIGHT_ANSWERS = 5  # of an exercise with a formula, in the corpus


def find_structure_problems(notebook: NotebookNode) -> list[str]:
    """What is wrong with the structure of a solution notebook, one sentence each; see the contract of a lab's cells."""
    problems: list[str] = []
    cells: dict[str, NotebookNode] = {}
    for cell in notebook.cells:
        name = grade_id(cell)
        if (BEGIN in cell.source or END in cell.source) and not is_solution(cell):
            problems.append(f'the cell that begins "{_first_line(cell)}" has a solution region and is no solution cell')
        if "HIDDEN TESTS" in cell.source:
            problems.append(
                f'the cell that begins "{_first_line(cell)}" has hidden tests; declare hidden cases instead'
            )
        if not details(cell):
            continue
        if not name:
            problems.append(f'the cell that begins "{_first_line(cell)}" has nbgrader metadata and no grade_id')
        elif name in cells:
            problems.append(f'two cells have the grade_id "{name}"')
        else:
            cells[name] = cell
    for name, is_setup in (("setup", True), ("imports", False)):
        cell = cells.get(name)
        if cell is None or cell.cell_type != "code" or not details(cell).get("locked"):
            problems.append(f'there is no locked code cell "{name}"')
        elif is_setup and SETUP_TAG not in tags(cell):
            problems.append(f'the cell "setup" lacks the tag {SETUP_TAG}')
    tested = [name for name, cell in cells.items() if is_test(cell)]
    for name in tested:
        problems += _exercise_problems(name, cells)
    return problems


def _exercise_problems(name: str, cells: Mapping[str, NotebookNode]) -> list[str]:
    problems = []
    test = cells[name]
    if test.source.strip() != f'check("{name}")':
        problems.append(f'the test cell "{name}" should say check("{name}") and nothing else')
    if not details(test).get("locked"):
        problems.append(f'the test cell "{name}" is not locked')
    worth = details(test).get("points")
    if isinstance(worth, bool) or not isinstance(worth, int | float) or not 0 <= worth < math.inf:
        problems.append(f'the test cell "{name}" has points of {worth!r}; they have to be a number of at least 0')
    code = cells.get(f"{name}-code")
    if code is None or not is_solution(code) or details(code).get("grade"):
        return [*problems, f'there is no solution cell "{name}-code"']
    markers = re.findall(f"{BEGIN}|{END}", code.source)
    if not markers or markers != [BEGIN, END] * (len(markers) // 2):
        problems.append(f'the solution cell "{name}-code" needs ### BEGIN SOLUTION … ### END SOLUTION, in this order')
    else:
        stub = re.sub(f"([ \t]*)[^\n]*{BEGIN}.*?{END}[^\n]*", r"\1pass", code.source, flags=re.DOTALL)
        try:
            parse(stub)
        except NotPython as error:
            problems.append(f'the stub of "{name}-code" is not valid Python ({error})')
    return problems


def _first_line(cell: NotebookNode) -> str:
    return cell.source.strip().partition("\n")[0][:60]


# -- what is missing, with the file and the line ---------------------------------------------------------------------


def find_missing_parts(
    course: Course, lab: str, solution: NotebookNode, declared: Mapping[str, Declaration]
) -> list[str]:
    """What is missing: the declaration or the cells of an exercise, and every place that is marked TODO."""
    notebook, folder = course.solution_notebook(lab), lab_folder(course, lab)
    written = text if (text := notebook.with_suffix(".py")).is_file() else notebook
    varied = (path for path in _variants(course, lab) if path.stem in {*declared, SHARED})
    texts = {written: write_text(solution)}  # its newer half, which the text half need not be
    texts |= {path: path.read_text(encoding="utf-8") for path in (*sorted(folder.glob("*.py")), *varied)}

    def find_place(path: Path, pattern: str) -> str:
        match = re.search(pattern, texts.get(path, ""))
        line = match.string.count("\n", 0, match.start()) + 1 if match else 1
        return f"{path.relative_to(course.root)}:{line}"

    tested = [grade_id(cell) for cell in solution.cells if is_test(cell)]
    missing = []
    for name in tested:
        if name not in declared:
            where = find_place(written, rf'"grade_id": "{re.escape(name)}"')
            missing.append(f'{where}: the test cell "{name}" belongs to no declared exercise; see: course new exercise')
    for name, exercise in declared.items():
        if name not in tested:
            remedy = f"add the cells {name}-code and {name}, or delete this file to drop the exercise"
            missing.append(f'{exercise.at()}the exercise "{name}" is declared and has no test cell; {remedy}')
        for other in exercise.uses:
            if other not in declared:
                told = did_you_mean(other, declared) or f"; the lab has {', '.join(declared)}"
                missing.append(f"{exercise.at('uses')}{name} uses {other}, which is no exercise of the lab{told}")
    for path, word, told in _find_corpus_problems(course, lab, declared):
        missing.append(f"{find_place(path, re.escape(word))}: {told}")
    return missing + [
        f"{path.relative_to(course.root)}:{number}: to fill in: {shorten(line.strip(' #'), 80, placeholder=' …')}"
        for path, text in texts.items()
        for number, line in enumerate(text.splitlines(), start=1)
        if MARK.search(line)
    ]


def find_variants_left(course: Course, lab: str, declared: Collection[str]) -> list[str]:
    """The files of variants whose exercise is not declared any more, one line each."""
    gone = (path for path in _variants(course, lab) if path.stem not in {*declared, SHARED})
    return [f"{path.relative_to(course.root)} varies an exercise that is not declared: delete it" for path in gone]


def _variants(course: Course, lab: str) -> list[Path]:
    return sorted(path for path in _corpus(course, lab).glob("*.py") if path.stem != "__init__")


def _corpus(course: Course, lab: str) -> Path:
    return course.root / "corpus" / lab.partition("_")[2]


def _find_corpus_problems(
    course: Course, lab: str, declared: Mapping[str, Declaration]
) -> Iterator[tuple[Path, str, str]]:
    """A file of the lab's corpus, where there is one, with a word of it and what is wrong there."""
    of_formula = [name for name, exercise in declared.items() if isinstance(exercise, Exercise)]
    for name in of_formula if _corpus(course, lab).is_dir() else ():
        path, answers = _corpus(course, lab) / f"{name}.py", dict[str, Any]()
        if path.is_file():
            sys.path.insert(0, str(course.root))  # answers may share code
            try:
                answers = runpy.run_path(str(path))
            except Exception as error:  # whatever a file of somebody's Python can raise
                yield path, "", f"cannot be run ({type(error).__name__}: {error}); correct it"
                continue
            finally:
                sys.path.remove(str(course.root))
        if len(answers.get("CORRECT", ())) < RIGHT_ANSWERS:
            remedy = f"write at least {RIGHT_ANSWERS}, as different students write them"
            yield path, "", f"holds {len(answers.get('CORRECT', ()))} right answers to {name}; {remedy}"
        known = declared[name].spec.sentences
        for names, _ in answers.get("WRONG", ()):
            for id in (names,) if isinstance(names, str) else names or ():
                if id not in {"", *known}:
                    remedy = did_you_mean(id, known) or '; write "" where none is to be named'
                    yield path, f'"{id}"', f"{name} declares no mistake {id}{remedy}"


def find_idle_mistakes(declared: Mapping[str, Declaration], reference: bytes) -> Iterator[str]:
    """A sentence for each mistake that no visible case shows, by the lab's reference file: nobody would hear of it."""
    for entry in json.loads(reference)["exercises"]:
        shown = {id for case in entry["cases"] for ids in case["wrong"] for id in ids.split()}
        for id in entry["sentences"]:
            if id not in shown:
                place = declared[entry["name"]].at(id)
                yield f"{place}{entry['name']}, mistake {id}: changes no result; add a case that it changes, or drop it"


# -- groups that expect the same for every seed: their points can be had by copying what a lab ships -----------------

OTHER_SEED = 40723  # any but the visible one


@dataclass(frozen=True)
class FixedGroup:
    """A group whose expected values do not depend on the seed.

    Attributes:
        exercise: the exercise's name.
        group: the group's name.
        share: of the exercise's points.
        reason: why that is so; "" where nobody has said it.
    """

    exercise: str
    group: str
    share: float
    reason: str


def find_fixed_groups(declared: Mapping[str, Declaration]) -> Iterator[FixedGroup]:
    """The fixed groups of a lab's exercises. Own ones are left out: their solution would have to run."""
    for name, exercise in declared.items():
        if not isinstance(exercise, Exercise):
            continue
        reason = "a value that students write down" if isinstance(exercise, Questions) else ""
        one, other = (exercise.expectations(seed) for seed in (VISIBLE_SEED, OTHER_SEED))
        total = sum(group.weight for group in exercise.groups)
        for group in exercise.groups:
            cases = [[case for case in drawn if case.group == group.name] for drawn in (one, other)]
            if _expect_the_same(*cases):
                yield FixedGroup(name, group.name, group.weight / total, reason or group.fixed)


def find_unexplained_groups(lab: str, declared: Mapping[str, Declaration]) -> list[str]:
    """Return a sentence for each fixed group that gives no reason for it."""
    return [
        f"{declared[group.exercise].at(group.group)}{lab}, {group.exercise}: the group {group.group} expects the same "
        "for every seed, so its points can be had by copying what is released. Draw what it asks for from the seed, or "
        'say why not with fixed="…"'
        for group in find_fixed_groups(declared)
        if not group.reason
    ]


def _expect_the_same(one: Sequence[Expectation], other: Sequence[Expectation]) -> bool:
    return len(one) == len(other) and all(
        _equal(a.expected, b.expected) and _equal(a.withheld, b.withheld) for a, b in zip(one, other, strict=True)
    )


def _equal(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return np.array_equal(one, other, equal_nan=one.dtype.kind == "f" and other.dtype.kind == "f")
    return type(one) is type(other) and one == other

"""Writes an assignment that was read as a lab of this course: its notebook, and a declaration for each exercise."""

from __future__ import annotations

import math
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from autograder.course.labs import parse_notebook
from autograder.course.settings import Course, CourseError
from autograder.course.text import write_atomically
from autograder.course.text_pairs import write_pair
from autograder.declare.declaration import lab_folder
from autograder.integrations.importing.assignment import (
    Assignment,
    Given,
    Question,
    Written,
    is_nbgrader,
    read_nbgrader,
)
from autograder.integrations.importing.cases import Target, Tried, find_targets, find_tried
from autograder.integrations.scaffold.making import list_lab, make_cells, make_notebook, refuse_lab, refuse_name

_OWN_CELLS = {"introduction", "setup", "imports"}
MOST_BYTES = 50 * 2**20  # of all files beside the notebook


@dataclass
class Imported:
    """The files that were written, what was taken over, and what was not, a sentence each."""

    written: list[Path] = field(default_factory=list)
    taken: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)


def import_assignment(course: Course, path: Path, lab: str, title: str = "") -> Imported:
    """Write the lab from the instructor's version of an assignment: a notebook, or the folder that holds it.

    Raises:
        CourseError: there is no such assignment, or the lab's name cannot be used.
    """
    refuse_lab(course, lab)
    source = _find_notebook(path)
    try:
        notebook = parse_notebook(source, source.read_bytes(), "name the instructor's version")
    except OSError as error:
        raise CourseError(f"{source}: {error.strerror}; name a notebook, or the folder that holds it") from error
    language = notebook.metadata.get("kernelspec", {}).get("language", "python")
    if str(language).casefold() != "python":
        raise CourseError(f"{source}: is written in {language}; this course grades Python only")
    if not is_nbgrader(notebook):
        raise CourseError(f"{source}: has no metadata of nbgrader; name the version that instructors edit")
    assignment = read_nbgrader(notebook)
    title = title or lab.split("_", 1)[1].replace("_", " ").capitalize()
    files = _find_beside(source) if path.is_dir() else _find_named(notebook, source)
    made = _Writing(course, lab, title, assignment).write(source, files)
    if others := len({*_find_beside(source, deep=path.is_dir())} - {*files}):
        what = f"{others} {'file' if others == 1 else 'files'} beside {source.name}"
        made.left.append(f"{what}, which the notebook does not name: to take all, name the folder")
    return made


def _find_beside(source: Path, *, deep: bool = True) -> list[Path]:
    """The files beside a notebook, those in folders too where it is `deep`; no notebooks, and nothing hidden."""
    found = source.parent.rglob("*") if deep else source.parent.glob("*")
    return sorted(path for path in found if _is_taken(path, source))


def _find_named(notebook: NotebookNode, source: Path) -> list[Path]:
    """The files beside a notebook, or below its folder, that its cells name."""
    text = "\n".join(cell.source for cell in notebook.cells)
    names = {name for name in re.findall(r"[\w-][\w./-]*\.\w+", text) if ".." not in name}
    return sorted(path for path in {source.parent / name for name in names} if _is_taken(path, source))


def _is_taken(path: Path, source: Path) -> bool:
    hidden = any(part.startswith((".", "__")) for part in path.relative_to(source.parent).parts)
    return path.is_file() and not path.is_symlink() and path.suffix != ".ipynb" and not hidden


def _find_notebook(path: Path) -> Path:
    if not path.is_dir():
        return path
    found = sorted(notebook for notebook in path.glob("*.ipynb") if not notebook.name.startswith("."))
    if len(found) != 1:
        names = ", ".join(notebook.name for notebook in found) or "none"
        raise CourseError(f"{path}: a lab has one notebook, and here are {len(found)} ({names}); name one of them")
    return found[0]


class _Writing:
    def __init__(self, course: Course, lab: str, title: str, assignment: Assignment):
        self.course, self.lab, self.title, self.assignment = course, lab, title, assignment
        self.result = Imported(left=list(assignment.left))
        self.names: set[str] = set(_OWN_CELLS)
        self.exercises: dict[str, str] = {}

    def write(self, source: Path, files: Sequence[Path]) -> Imported:
        made = make_cells("lab.py.j2", lab=self.lab, number=self.lab[:2], title=self.title, repository=False)
        for part in self.assignment.parts:
            if isinstance(part, Question):
                made += self._question(part)
            else:
                made.append(self._cell(part))
        for number, cell in enumerate(made):
            cell["id"] = f"imported-{number}"
        folder = lab_folder(self.course, self.lab)
        for name, declaration in self.exercises.items():
            write_atomically(folder / f"{name}.py", declaration.encode())
            self.result.written.append(folder / f"{name}.py")
        path = self.course.solution_notebook(self.lab)
        self.result.written += write_pair(path, make_notebook(made))
        self._copy(source, files)
        self.result.written.append(list_lab(self.course, self.lab, self.title))
        return self.result

    def _copy(self, source: Path, files: Sequence[Path]) -> None:
        room = MOST_BYTES
        for path in files:
            inside = path.relative_to(source.parent)
            if (room := room - path.stat().st_size) < 0:
                self.result.left.append(f"{inside} and what comes after it: more than {MOST_BYTES // 2**20} MB")
                return
            target = self.course.solutions / self.lab / inside
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
            self.result.written.append(target)

    def _cell(self, part: Given | Written) -> NotebookNode:
        if isinstance(part, Given):
            cell = new_code_cell(part.source) if part.kind == "code" else new_markdown_cell(part.source)
            if part.attachments:
                cell["attachments"] = part.attachments
            return cell
        name = self._free(part.name)
        flags = {"grade": not part.task, "solution": not part.task, "task": part.task, "locked": part.task}
        metadata = {"nbgrader": flags | {"grade_id": name, "points": _round(part.points), "schema_version": 3}}
        self.result.taken.append(f"{name}: {part.points:g} points, marked by a person")
        make = new_code_cell if part.kind == "code" else new_markdown_cell
        return make(part.source, metadata=metadata)

    def _question(self, question: Question) -> list[NotebookNode]:
        defined = find_targets(question.solution)
        tests = "\n".join(test.source for test in question.tests)
        used = [function for function in defined if re.search(rf"\b{re.escape(function.name)}\b", tests)]
        functions = [function for function in used or defined if function.parameters is not None]
        target = next(iter(functions or used or defined), None)
        if target is None or not question.tests:
            why = "no test asks for it" if target else "it defines no function and no value"
            self.result.left.append(f"{question.name}: {why}, so its code is given as it is, the solution included")
            return [
                new_code_cell(
                    "# TODO: this is the solution; take it away, or make it an exercise\n" + question.solution
                )
            ]
        try:
            refuse_name(target.name)
            clash = target.name in self.names
        except CourseError:
            clash = True
        if clash:
            self.result.left.append(f"{question.name}: {target.name} is the name of another exercise; rename it first")
            return [new_code_cell("# TODO: this is the solution; rename what it defines\n" + question.solution)]
        self.names |= {target.name, f"{target.name}-code"}
        for other in (function for function in used if function is not target):
            self.result.left.append(f"{question.name}: the tests of {other.name}; only {target.name} is an exercise")
        points = sum(test.points for test in question.tests) or 1.0
        groups = [(test.points, test.hidden, find_tried(test.source, target)) for test in question.tests]
        self.exercises[target.name] = _write_declaration(target, groups)
        count = sum(len(group.inputs) for *_, group in groups)
        self.result.taken.append(f"{target.name} (was {question.name}): {points:g} points, {count} inputs to try")
        shares = _share_points(groups)
        if len(shares) > 1:
            split = ", ".join(f"{title} {weight}" for title, weight, *_ in shares)
            self.result.taken.append(
                f"{target.name}: its points are shared as {split}; change it in the exercise's file"
            )
        lost = sum(points for points, _, group in groups if not group.inputs)
        if lost and shares:
            self.result.left.append(
                f"{target.name}: {lost:g} points of tests without such inputs; the others share them"
            )
        for *_, group in groups:
            for statement in group.left:
                said = " ".join(statement.split())
                self.result.left.append(f"{target.name}: the test “{said[:70]}{'…' * (len(said) > 70)}”")
        base = {"grade": False, "locked": False, "schema_version": 3, "solution": False, "task": False}
        code = {"nbgrader": base | {"grade_id": f"{target.name}-code", "solution": True}}
        check = {"nbgrader": base | {"grade_id": target.name, "grade": True, "locked": True, "points": _round(points)}}
        return [
            new_code_cell(question.solution, metadata=code),
            new_code_cell(f'check("{target.name}")', metadata=check),
        ]

    def _free(self, name: str) -> str:
        number, free = 2, name
        while free in self.names:
            free, number = f"{name}_{number}", number + 1
        self.names.add(free)
        return free


def _write_declaration(target: Target, groups: Sequence[tuple[float, bool, Tried]]) -> str:
    """The Python file that declares an exercise."""
    lines = [f'"""Which inputs to try for `{target.name}`; imported."""', ""]
    inputs = [values for *_, group in groups for values in group.inputs]
    if any(re.search(r"\bnp\b", value) for values in inputs for value in values.values()):
        lines += ["import numpy as np", ""]
    lines += ["from autograder.declare import Case, OwnExercise", ""]
    arguments = [f'"{target.name}"']
    if target.parameters is not None:
        arguments.append(f"call={_spell_words(target.parameters)}")
        used = {name for values in inputs for name in values}
        if optional := tuple(name for name in target.optional if name in used):
            arguments.append(f"optional={_spell_words(optional)}")
    lines += [f"exercise = OwnExercise({', '.join(arguments)})", ""]
    shares = _share_points(groups)
    for number, (title, weight, hidden, group) in enumerate(shares, start=1):
        lines += ["", f'@exercise.group("{title}", points={weight})', f"def group_{number}(rng):"]
        if hidden:
            lines.append(
                "    # TODO: these inputs were hidden; students see all that is spelt out. Draw others from rng."
            )
        spelt = [", ".join(f'"{name}": {value}' for name, value in values.items()) for values in group.inputs]
        lines += ["    return [", *(f"        Case({{{case}}})," for case in spelt), "    ]", ""]
    if not shares:
        lines += ["", '@exercise.group("right values", points=1)', "def values(rng):"]
        lines += ["    return []  # TODO: the tests try nothing that is spelt out; say what is to be tried", ""]
    left = [line for *_, group in groups for text in group.left for line in text.splitlines()]
    if left:
        lines += ["", "# What the imported tests said besides:", *(f"#   {line}" for line in left), ""]
    return "\n".join(lines)


def _share_points(groups: Sequence[tuple[float, bool, Tried]]) -> list[tuple[str, int, bool, Tried]]:
    """The groups that have inputs to try, each with its title, its share of the points, and whether it was hidden."""
    fruitful = [group for group in groups if group[2].inputs]
    weights = _scale_to_whole([points or 1.0 for points, *_ in fruitful])
    numbered = enumerate(zip(weights, fruitful, strict=True), start=1)
    return [
        (f"hidden tests {number}" if hidden else f"tests {number}", weight, hidden, group)
        for number, (weight, (_, hidden, group)) in numbered
    ]


def _spell_words(words: Sequence[str]) -> str:
    return "(" + "".join(f'"{word}", ' for word in words).rstrip(" ").removesuffix("," if len(words) > 1 else "") + ")"


def _scale_to_whole(weights: Sequence[float]) -> list[int]:
    """The smallest whole numbers in the same proportions."""
    fractions = [Fraction(weight).limit_denominator(100) or Fraction(1, 100) for weight in weights]
    common = math.lcm(*(fraction.denominator for fraction in fractions))
    whole = [int(fraction * common) for fraction in fractions]
    return [share // (math.gcd(*whole) or 1) for share in whole]


def _round(points: float) -> int | float:
    points = round(points, 2)
    return int(points) if points == int(points) else points

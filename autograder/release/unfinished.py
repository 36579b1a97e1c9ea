"""Names what an exercise still lacks before its lab can be released, one line each, with the file and the line."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from textwrap import shorten

from nbformat import NotebookNode

from autograder.course.labs import grade_id, is_test
from autograder.course.settings import Course
from autograder.course.text_pairs import write_text
from autograder.declare.course_exercises import SHARED, lab_files, lab_folder
from autograder.declare.declaration import Declaration

MARK = re.compile(r"\bTODO\b")


def missing_parts(course: Course, lab: str, solution: NotebookNode, declared: Mapping[str, Declaration]) -> list[str]:
    """What is missing: the declaration or the cells of an exercise, and every place that is marked TODO."""
    parts = _Parts(course, lab, solution)
    tested = [grade_id(cell) for cell in solution.cells if is_test(cell)]
    found = []
    for name in tested:
        if name not in declared:
            where = parts.cell(name)
            found.append(f'{where}: the test cell "{name}" belongs to no declared exercise; see: course new exercise')
    for name in declared:
        if name not in tested:
            where = parts.at(parts.declaration(name), re.escape(f'"{name}"'))
            remedy = f"add the cells {name}-code and {name}, or delete this file to drop the exercise"
            found.append(f'{where}: the exercise "{name}" is declared and has no test cell; {remedy}')
    return [*found, *parts.marks(declared)]


def variants_left(course: Course, lab: str, declared: Collection[str]) -> list[str]:
    """The files of variants whose exercise is not declared any more, one line each."""
    gone = (path for path in _variants(course, lab) if path.stem not in {*declared, SHARED})
    return [f"{path.relative_to(course.root)} varies an exercise that is not declared: delete it" for path in gone]


class _Parts:
    """Where the parts of a lab's exercises are."""

    def __init__(self, course: Course, lab: str, solution: NotebookNode):
        notebook = course.solution_notebook(lab)
        text = notebook.with_suffix(".py")
        self.root = course.root
        self.files = lab_files(course, lab)
        self.solution = text if text.is_file() else notebook
        self._notebook = write_text(solution)  # its newer half, which the text half need not be
        self.declarations = lab_folder(course, lab)
        self.variants = _variants(course, lab)

    def declaration(self, name: str) -> Path:
        usual = self.declarations / f"{name}.py"
        found = next((path for path in self.files if f'"{name}"' in _text(path)), usual)
        return usual if usual.is_file() else found

    def cell(self, name: str) -> str:
        return self.at(self.solution, rf'"grade_id": "{re.escape(name)}"')

    def at(self, path: Path, pattern: str) -> str:
        """Return the file, relative to the course, and the line of the first match of the pattern."""
        text = self._text(path)
        found = re.search(pattern, text)
        line = text.count("\n", 0, found.start()) + 1 if found else 1
        return f"{path.relative_to(self.root)}:{line}"

    def marks(self, declared: Collection[str]) -> Iterator[str]:
        variants = [path for path in self.variants if path.stem in {*declared, SHARED}]
        for path in (self.solution, *sorted(self.declarations.glob("*.py")), *variants):
            for number, line in enumerate(self._text(path).splitlines(), start=1):
                if MARK.search(line):
                    told = shorten(line.strip(" #"), 80, placeholder=" …")
                    yield f"{path.relative_to(self.root)}:{number}: to fill in: {told}"

    def _text(self, path: Path) -> str:
        return self._notebook if path == self.solution else _text(path)


def _variants(course: Course, lab: str) -> list[Path]:
    folder = course.root / "corpus" / lab.partition("_")[2]
    return sorted(path for path in folder.glob("*.py") if path.stem != "__init__")


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""

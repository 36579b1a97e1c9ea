"""Names what an exercise still lacks before its lab can be released, one line each, with the file and the line."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import shorten

from nbformat import NotebookNode

from autograder.course import Course
from autograder.declaring.course_exercises import own_files
from autograder.declaring.declaration import Declaration
from autograder.declaring.own import OwnExercise
from autograder.nbgrader_cells import grade_id, is_test
from autograder.releasing.text_pairs import text_of
from autograder.scaffold.insertion import assigned

MARK = re.compile(r"\bTODO\b")
LEAST_VARIANTS = 5


def missing_parts(course: Course, lab: str, solution: NotebookNode, declared: Mapping[str, Declaration]) -> list[str]:
    """What is missing: a declaration or cells of an exercise, and in the autograder's repository a probe, an oracle
    that is more than its placeholder, and variants; besides every place that is marked TODO."""
    parts = _Parts(course, lab, solution)
    tested = [grade_id(cell) for cell in solution.cells if is_test(cell)]
    found = []
    for name in tested:
        if name not in declared:
            where = parts.cell(name)
            found.append(f'{where}: the test cell "{name}" belongs to no declared exercise; see: course new exercise')
    for name, exercise in declared.items():
        if name not in tested:
            where = parts.at(parts.declaration(name, exercise), re.escape(f'"{name}"'))
            cells = f"{name}-code and {name}"
            found.append(f'{where}: the exercise "{name}" is declared and has no test cell; add the cells {cells}')
        if parts.in_repository and not isinstance(exercise, OwnExercise):
            found += parts.behind(name)
    return [*found, *parts.marks()]


class _Parts:
    """Where the parts of a lab's exercises are."""

    def __init__(self, course: Course, lab: str, solution: NotebookNode):
        topic = lab.partition("_")[2]
        package = course.root / "autograder"
        notebook = course.solution_notebook(lab)
        text = notebook.with_suffix(".py")
        self.in_repository = (package / "oracles").is_dir()
        self.root = course.root
        self.own = own_files(course, lab)
        self.solution = text if text.is_file() else notebook
        self._notebook = text_of(solution)  # its newer half, which the text half need not be
        self.declarations = package / "exercises" / topic
        self.oracles = package / "oracles" / f"{topic}.py"
        self.mistaken = package / "mistaken" / f"{topic}.py"
        self.probes = course.root / "coursekit" / "probes" / f"{topic}.py"
        self.variants = course.root / "tests" / "variants" / topic

    def declaration(self, name: str, exercise: Declaration) -> Path:
        if isinstance(exercise, OwnExercise):
            return next((path for path in self.own if f'"{name}"' in _text(path)), self.own[0])
        return self.declarations / f"{name}.py"

    def cell(self, name: str) -> str:
        return self.at(self.solution, rf'"grade_id": "{re.escape(name)}"')

    def at(self, path: Path, pattern: str) -> str:
        """The file, relative to the course, and the line where the pattern is found first."""
        text = self._text(path)
        found = re.search(pattern, text)
        line = text.count("\n", 0, found.start()) + 1 if found else 1
        return f"{path.relative_to(self.root)}:{line}"

    def behind(self, name: str) -> Iterator[str]:
        """What an exercise with an oracle needs besides its cells and its declaration."""
        probes = _keys(self.probes, "PROBES")
        if probes is not None and name not in probes:
            yield f'{self.at(self.probes, "PROBES")}: there is no probe "{name}"'
        for path in (self.oracles, self.mistaken):
            if (line := _placeholder(path, name)) is not None:
                yield f"{path.relative_to(self.root)}:{line}: {name} is only a placeholder"
        variants = self.variants / f"{name}.py"
        if not self.variants.is_dir():  # a copy without the tests
            return
        if (count := _length(variants, "CORRECT")) is not None and count < LEAST_VARIANTS:
            where = self.at(variants, "CORRECT")
            yield f"{where}: {count} correct variants of {name}; at least {LEAST_VARIANTS} are needed"

    def marks(self) -> Iterator[str]:
        files = [self.solution, *self.own]
        if self.in_repository:
            files += [*sorted(self.declarations.glob("*.py")), self.oracles, self.mistaken, self.probes]
            files += sorted(self.variants.glob("*.py"))
        for path in files:
            for number, line in enumerate(self._text(path).splitlines(), start=1):
                if MARK.search(line):
                    told = shorten(line.strip(" #"), 80, placeholder=" …")
                    yield f"{path.relative_to(self.root)}:{number}: to fill in: {told}"

    def _text(self, path: Path) -> str:
        return self._notebook if path == self.solution else _text(path)


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def _keys(path: Path, name: str) -> set[str] | None:
    """The keys of a dictionary that a file spells out; None where only running the file would tell them."""
    match assigned(_text(path), name):
        case ast.Dict(keys=keys):
            texts = {key.value for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str)}
            return texts if len(texts) == len(keys) else None
    return None


def _length(path: Path, name: str) -> int | None:
    """The length of a list that a file spells out, 0 without the list; None where only running the file would tell."""
    match assigned(_text(path), name):
        case None:
            return 0
        case ast.List(elts=elements) if not any(isinstance(each, ast.Starred) for each in elements):
            return len(elements)
    return None


def _placeholder(path: Path, name: str) -> int | None:
    """The line where the function `name` does nothing but say that it is not written yet."""
    for node in ast.parse(_text(path)).body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            last = node.body[-1]
            if isinstance(last, ast.Raise) and "NotImplementedError" in ast.unparse(last):
                return last.lineno
    return None

"""Reads from a release notebook what each of its cells is for; the only source of exercises, points and locked text."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property

from nbformat import NotebookNode

from autograder.course.cells import details, grade_id
from autograder.course.earlier_cells import ABSENT, EarlierCells, bare, text_hash
from autograder.submission.names import defined_names

PRELUDE = ("setup", "imports")


class Role(Enum):
    """What nbgrader's flags make of a cell."""

    LOCKED = "locked"
    SOLUTION = "solution"
    TEST = "test"
    MANUAL = "manual"
    TASK = "task"
    PLAIN = "plain"


@dataclass(frozen=True, eq=False)
class ReleaseCell:
    """A cell of the release; `exercises` are those a solution cell answers, `key` the names that tell it apart."""

    position: int
    grade_id: str
    role: Role
    cell: NotebookNode
    points: float = 0.0
    exercises: tuple[str, ...] = ()
    key: frozenset[str] = frozenset()

    @cached_property
    def source(self) -> str:
        return self.cell["source"]

    @property
    def is_code(self) -> bool:
        return self.cell["cell_type"] == "code"

    @cached_property
    def bare_source(self) -> str:
        return bare(self.source)

    def has_source(self, source: str) -> bool:
        """Say whether `source` is this cell's own, but for white space at the ends of lines."""
        return source == self.source or bare(source) == self.bare_source


@dataclass(frozen=True, eq=False)
class Release:
    """The cells of a release notebook in order, and the ones with an nbgrader role by grade_id.

    `earlier` has hashes of what cells said in earlier releases, which students may still have.
    """

    notebook: NotebookNode
    cells: tuple[ReleaseCell, ...]
    named: dict[str, ReleaseCell]
    earlier: EarlierCells = field(default_factory=dict)

    def said_before(self, cell: ReleaseCell, source: str) -> bool:
        """Say whether a cell had this text in an earlier release."""
        hashes = self.earlier.get(cell.grade_id, ())
        return bool(hashes) and text_hash(source) in hashes

    def is_new(self, cell: ReleaseCell) -> bool:
        """Say whether an earlier release did not have a cell."""
        return ABSENT in self.earlier.get(cell.grade_id, ())

    def with_role(self, *roles: Role) -> list[ReleaseCell]:
        return [cell for cell in self.cells if cell.role in roles]

    def solution_of(self, exercise: str) -> ReleaseCell | None:
        return next((cell for cell in self.with_role(Role.SOLUTION) if exercise in cell.exercises), None)


def read_release(notebook: NotebookNode, earlier: EarlierCells | None = None) -> Release:
    """Return the roles of a release notebook's cells.

    An exercise NAME is a locked test cell with grade_id `NAME`; its solution cell has grade_id `NAME-code`, or, where
    there is none, is the solution cell nearest above the test. `earlier` is what `earlier_cells` remembers of the lab.
    """
    cells = list(notebook["cells"])
    roles = [_role(cell) for cell in cells]
    exercises = _exercises_by_solution(cells, roles)
    keys = _keys(cells, exercises)
    described = []
    for position, (cell, role) in enumerate(zip(cells, roles, strict=True)):
        name = grade_id(cell) if role is not Role.PLAIN else ""
        points = float(details(cell).get("points") or 0.0) if role is not Role.PLAIN else 0.0
        answered, key = exercises.get(position, ()), keys.get(position, frozenset())
        described.append(ReleaseCell(position, name, role, cell, points, answered, key))
    named = {cell.grade_id: cell for cell in described if cell.role is not Role.PLAIN}
    return Release(notebook, tuple(described), named, earlier or {})


def _role(cell: NotebookNode) -> Role:
    flags = details(cell)
    if not flags.get("grade_id"):
        return Role.PLAIN
    if flags.get("task"):
        return Role.TASK
    if flags.get("grade"):
        return Role.MANUAL if flags.get("solution") else Role.TEST
    if flags.get("solution"):
        return Role.SOLUTION
    return Role.LOCKED if flags.get("locked") else Role.PLAIN


def _exercises_by_solution(cells: list[NotebookNode], roles: list[Role]) -> dict[int, tuple[str, ...]]:
    """Return, by position of each solution cell, the exercises it answers."""
    answered: dict[int, tuple[str, ...]] = {i: () for i, role in enumerate(roles) if role is Role.SOLUTION}
    by_id = {grade_id(cells[i]): i for i in answered}
    for position, role in enumerate(roles):
        if role is not Role.TEST:
            continue
        exercise = grade_id(cells[position])
        above = [i for i in answered if i < position]
        home = by_id.get(f"{exercise}-code", above[-1] if above else None)
        if home is not None:
            answered[home] += (exercise,)
    return answered


def _keys(cells: list[NotebookNode], exercises: dict[int, tuple[str, ...]]) -> dict[int, frozenset[str]]:
    """Return the names that tell each solution cell from all others: the exercises' own, else what it alone defines."""
    defined = {i: defined_names(cell["source"]) for i, cell in enumerate(cells) if cell["cell_type"] == "code"}
    keys = {}
    for position, names in exercises.items():
        mine = defined.get(position, frozenset())
        others = frozenset().union(*(found for i, found in defined.items() if i != position))
        keys[position] = mine.intersection(names) or mine - others
    return keys

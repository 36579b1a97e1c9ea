"""What the cells of a release are for, the only source of exercises, points and locked text; and what cells define."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property, lru_cache

from nbformat import NotebookNode

from autograder.course.labs import ABSENT, EarlierCells, details, grade_id, strip_lines, text_hash
from coursekit.check import cells as reading

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
        return strip_lines(self.source)

    def has_source(self, source: str) -> bool:
        """Say whether `source` is this cell's own, but for white space at the ends of lines."""
        return source == self.source or strip_lines(source) == self.bare_source


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
    defined = {i: find_defined_names(cell["source"]) for i, cell in enumerate(cells) if cell["cell_type"] == "code"}
    keys = {}
    for position, names in exercises.items():
        mine = defined.get(position, frozenset())
        others = frozenset().union(*(found for i, found in defined.items() if i != position))
        keys[position] = mine.intersection(names) or mine - others
    return keys


# -- what a cell's source says without being run, whatever state it is in ---------------------------------------------


def parse(source: str) -> ast.Module | None:
    """Return the syntax tree of what IPython makes of a cell, None where it is no Python or takes too long to read."""
    try:
        return reading.parse(source)
    except (reading.NotPython, reading.TooLarge):
        return None


@lru_cache(maxsize=256)  # a class hands in the same locked cells again and again; no more, for a cell may be large
def find_defined_names(source: str, *, guess: bool = True) -> frozenset[str]:
    """Return the names a cell binds at its top level: functions, classes and assigned variables.

    Blocks that Python runs in the same scope (`if`, `try`, `with`, loops) count. Where the source does not parse and
    `guess` is true, definitions that begin a line are found by pattern.
    """
    tree = parse(source)
    if tree is not None:
        names: set[str] = set()
        _collect(tree.body, names)
        return frozenset(names)
    return reading.guess_names(source) if guess else frozenset()


def find_checked_exercise(source: str) -> str | None:
    """Return NAME when a cell does nothing but `check("NAME")`, else None."""
    tree = parse(source) if "check" in source else None
    match tree.body if tree is not None else []:
        case [ast.Expr(value=ast.Call(func=ast.Name(id="check"), args=[ast.Constant(value=str(name))]))]:
            return name
    return None


def only_checks(source: str) -> bool:
    """Say whether a cell holds nothing but comments, magics, text and calls of `check` or `print`."""
    tree = parse(source)
    return tree is not None and all(_is_idle(statement) for statement in tree.body)


def _is_idle(statement: ast.stmt) -> bool:
    match statement:
        case ast.Pass() | ast.Expr(value=ast.Constant()):
            return True
        case ast.Expr(value=ast.Call(func=ast.Name(id="check" | "print"))):
            return True
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Call(func=ast.Name(id="get_ipython"))))):
            return True  # what IPython makes of a magic
    return False


def _collect(statements: list[ast.stmt], names: set[str]) -> None:
    """Add to `names` what the statements bind in their own scope; nesting is walked with a list, not by recursion."""
    pending: list[ast.AST] = list(statements)
    while pending:
        node = pending.pop()
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                names.add(node.name)
            case ast.Assign(targets=targets):
                pending.extend(targets)
            case ast.AnnAssign(target=target, value=value):
                if value is not None:
                    pending.append(target)
            case ast.Import() | ast.ImportFrom():
                names.update(alias.asname for alias in node.names if alias.asname)
            case ast.Name(id=name, ctx=ast.Store()):
                names.add(name)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                pending.extend(parts)
            case ast.Starred(value=value):
                pending.append(value)
            case ast.If() | ast.For() | ast.AsyncFor() | ast.While() | ast.With() | ast.AsyncWith() | ast.Try():
                pending.extend(_inner_statements(node))


def _inner_statements(block: ast.stmt) -> list[ast.stmt]:
    blocks = [block, *getattr(block, "handlers", [])]
    return [inner for each in blocks for part in ("body", "orelse", "finalbody") for inner in getattr(each, part, [])]

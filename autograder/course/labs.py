"""A lab as students get it: its cells by nbgrader's metadata, its notebook, the files beside it, its earlier cells."""

from __future__ import annotations

import ast
import base64
import hashlib
import json
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property, lru_cache
from pathlib import Path, PurePosixPath
from typing import Any

import nbformat
from nbformat import NotebookNode

from autograder.course.settings import Course, CourseError
from coursekit.check import cells as reading

MOST_BYTES = 20 * 2**20  # of all files of a lab: they travel into each submission's process
ABSENT = ""  # in the place of a hash: the lab was released without this cell
MOST_STATES = 50  # earlier states of a cell that are kept
EarlierCells = Mapping[str, Collection[str]]  # cell -> hashes of what it said in earlier releases


def details(cell: NotebookNode) -> Mapping[str, Any]:
    """Return nbgrader's metadata of a cell; empty if there are none, or if they are no dictionary."""
    metadata = cell["metadata"].get("nbgrader")
    return metadata if isinstance(metadata, Mapping) else {}


def grade_id(cell: NotebookNode) -> str:
    """The name that nbgrader knows the cell by; empty when it has none."""
    return details(cell).get("grade_id") or ""


def is_test(cell: NotebookNode) -> bool:
    """Whether a cell carries the points of an exercise, which is graded by itself.

    A graded cell that is also a solution is an answer in words or code that only a person can mark: no exercise.
    """
    return bool(details(cell).get("grade")) and not details(cell).get("solution")


def is_solution(cell: NotebookNode) -> bool:
    """Whether a cell is the student's to fill in."""
    return bool(details(cell).get("solution"))


def is_in_words(cell: NotebookNode) -> bool:
    """Whether only a person can mark a cell: an answer in words, code without a test, or a task of nbgrader's."""
    graded = details(cell).get("grade") and (is_solution(cell) or cell["cell_type"] != "code")
    return bool(graded or details(cell).get("task"))


def answers_in_words(notebook: NotebookNode) -> dict[str, NotebookNode]:
    """The cells that only a person can mark, by their names, in the notebook's order."""
    return {name: cell for name, cell in cells_by_id(notebook).items() if is_in_words(cell)}


def points(notebook: NotebookNode) -> dict[str, Any]:
    """The points of each exercise, by its name, in the notebook's order."""
    return {grade_id(cell): details(cell).get("points") for cell in notebook["cells"] if is_test(cell)}


def cells_by_id(notebook: NotebookNode) -> dict[str, NotebookNode]:
    """Return the notebook's cells by grade_id: only cells that have one, and the first of two with the same."""
    cells: dict[str, NotebookNode] = {}
    for cell in notebook["cells"]:
        if grade_id(cell):
            cells.setdefault(grade_id(cell), cell)
    return cells


def read_released(course: Course, lab: str) -> NotebookNode:
    """The released notebook of a lab.

    Raises:
        CourseError: the course has no such lab, or it is not released, or what is in its place is no notebook.
    """
    return _parse(lab, *_read_content(course, lab))


def read_released_names(course: Course, lab: str) -> tuple[str, ...]:
    """The grade_ids of the released notebook, in its order. It is parsed once, however often it is asked for.

    Raises:
        CourseError: as `read_released` does.
    """
    return _read_names(lab, *_read_content(course, lab))


def _read_content(course: Course, lab: str) -> tuple[Path, bytes]:
    path = course.release_notebook(course.lab(lab).name)
    try:
        return path, path.read_bytes()
    except FileNotFoundError:
        raise CourseError(f'{path}: the lab is not released; run "course release {lab}"') from None


def _parse(lab: str, path: Path, content: bytes) -> NotebookNode:
    return parse_notebook(path, content, f'run "course release {lab}" to make it again')


@lru_cache(maxsize=32)
def _read_names(lab: str, path: Path, content: bytes) -> tuple[str, ...]:
    return tuple(cells_by_id(_parse(lab, path, content)))


def parse_notebook(path: Path, content: bytes, remedy: str = "restore it") -> NotebookNode:
    """The notebook that `path` holds. Raises CourseError, with the remedy, when the content is none."""
    try:
        notebook = nbformat.reads(content.decode("utf-8"), as_version=4)
        notebook.cells, notebook.metadata  # noqa: B018  (nbformat reads what has neither)
    except Exception as error:  # of many kinds: nbformat trusts what it reads
        reason = str(error).partition("\n")[0][:80]
        raise CourseError(f"{path}: is not a notebook ({reason}); {remedy}") from error
    return notebook


def read_known_cells(course: Course) -> dict[str, frozenset[str]]:
    """The grade_ids of each lab; also of one that course.toml has no more and `labs/` still has, as students may."""
    known = {lab.name: read_grade_ids(course, lab.name) for lab in course.labs}
    for path in sorted(course.releases.glob("*/*.ipynb")):
        if path.stem == path.parent.name and path.stem not in known:
            with suppress(CourseError, OSError):  # it is no lab of the course, and its faults are nobody's concern
                cells = parse_notebook(path, path.read_bytes()).cells
                known[path.stem] = frozenset(filter(None, map(grade_id, cells)))
    return known


def read_grade_ids(course: Course, lab: str) -> frozenset[str]:
    """All grade_ids of a released lab; none when it is not released."""
    if not course.release_notebook(lab).exists():
        return frozenset()
    return frozenset(filter(None, map(grade_id, read_released(course, lab).cells)))


def read_files(folder: Path) -> dict[str, bytes]:
    """The data files of a lab's folder, by path in it; no notebooks, no reference, nothing hidden.

    Raises:
        CourseError: they are larger than what a submission's process can be given.
    """
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return choose_data_files({path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}, str(folder))


def choose_data_files(files: Mapping[str, bytes], where: str) -> dict[str, bytes]:
    """Those of the files, by path in the lab's folder, that are data. Raises CourseError as `read_files` does."""
    data = {name: content for name, content in files.items() if _is_data(PurePosixPath(name))}
    if sum(map(len, data.values())) > MOST_BYTES:
        raise CourseError(f"{where}: the files beside the notebook take more than {MOST_BYTES // 2**20} MB together")
    return data


def _is_data(name: PurePosixPath) -> bool:
    hidden = any(part.startswith((".", "__")) or part == "reference" for part in name.parts)
    return not hidden and name.suffix != ".ipynb"


def make_writing_cell(files: Mapping[str, bytes]) -> str:
    """A cell that writes the files into the working folder, read-only; it leaves no name and shows nothing."""
    packed = {name: base64.b85encode(content).decode() for name, content in files.items()}
    return (
        "(lambda files, path, decode: [(path(name).parent.mkdir(parents=True, exist_ok=True),"
        " path(name).write_bytes(decode(text)), path(name).chmod(0o444)) for name, text in files.items()])"
        f"({packed!r}, __import__('pathlib').Path, __import__('base64').b85decode) and None"
    )


def earlier_file(course: Course, lab: str) -> Path:
    """The file beside a lab's solution, which `course release` writes; it holds hashes alone."""
    return course.solutions / lab / ".earlier_cells.json"


def read_earlier_cells(course: Course, lab: str) -> dict[str, list[str]]:
    """What is remembered of a lab; nothing where no cell was changed yet.

    Raises:
        CourseError: the file is not what a release writes.
    """
    path = earlier_file(course, lab)
    if not path.is_file():
        return {}
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return {str(name): [str(each) for each in hashes] for name, hashes in content.items()}
    except (ValueError, AttributeError, TypeError) as error:
        raise CourseError(f"{path}: cannot be read ({error}); put it back from a backup, or delete it") from error


def remember_cells(known: EarlierCells, old: NotebookNode, new: NotebookNode) -> bytes:
    """The content of the file once `new` is released in the place of `old`."""
    before, after = _read_sources(old), _read_sources(new)
    states = {name: list(hashes) for name, hashes in known.items()}
    for name, source in after.items():
        was = text_hash(before[name]) if name in before else ABSENT
        if was != text_hash(source):
            states[name] = [*(each for each in states.get(name, ()) if each != was), was][-MOST_STATES:]
    return (json.dumps(states, indent=1, sort_keys=True) + "\n").encode() if states else b""


def text_hash(source: str) -> str:
    """Return the hash that is kept of a cell's text; white space at the ends of lines does not count."""
    return hashlib.sha256(strip_lines(source).encode("utf-8", "replace")).hexdigest()[:16]


def strip_lines(source: str) -> str:
    """Return a source without white space at the ends of its lines and of itself."""
    return "\n".join(line.rstrip() for line in source.strip().splitlines())


def _read_sources(notebook: NotebookNode) -> dict[str, str]:
    return {name: cell["source"] for cell in notebook["cells"] if (name := grade_id(cell))}


# -- what the cells of a release are for, the only source of exercises, points and locked text; and what cells define -


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

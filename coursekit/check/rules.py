"""The rules of an exercise: which ones the code behind it breaks, as it is written, and a guard while it runs."""

from __future__ import annotations

import builtins
import contextlib
import functools
import importlib
import inspect
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from types import CodeType
from typing import Any

from coursekit import spell_out
from coursekit.check.cells import IMPORTING, WRITING, WRITING_METHODS, Cell, Statement, TooLarge, read_cells

# Where an exercise has rules, an answer may use these by their public names, and what the lab's given cells import.
_PUBLIC = sys.stdlib_module_names | {"keras", "numpy", "scipy", "sklearn", "tensorflow"}
_MAY_BE_USED = (
    "You may use Python's standard library, NumPy, SciPy, scikit-learn, TensorFlow and Keras by their public names "
    "(not `raw_ops`, `compat` or `keras.src`), and what the lab's own cells import."
)
# What is behind the public names, or beside them under other ones; modules that find or run what a text names.
_INNER = frozenset({"compat", "compiler", "core", "python", "raw_ops", "src"})
_BEHIND = frozenset({
    "__builtins__", "__closure__", "__code__", "__dict__", "__getattribute__", "__globals__", "__internal__",
    "__loader__", "__spec__", "__subclasses__",
})  # fmt: skip
_FINDING = frozenset({
    "code", "codeop", "ctypes", "gc", "imp", "importlib", "inspect", "marshal", "pickle", "pkgutil", "pydoc", "runpy",
    "zipimport",
})  # fmt: skip
_BY_TEXT = WRITING | IMPORTING  # and these, whatever they belong to
_BY_TEXT_METHODS = (WRITING_METHODS | IMPORTING | _BEHIND) - {"ex", "__dict__", "__code__", "__closure__"}
_COURSE = "coursekit"
_OF_LIBRARIES = frozenset({"importlib", "keras", "np", "numpy", "ops", "scipy", "sys", "tensorflow", "tf"})
_KNOWN = frozenset(dir(builtins)) | {"get_ipython", "display", "In", "Out", "_", "__", "___", "exit", "quit"}
MAX_LINKS = 500_000  # from names to statements that define them; honest notebooks have hundreds
MAX_SCANNED = 200_000_000  # characters of cells that cannot be read, which are looked through for each name


def _canonical(name: str) -> str:
    for alias, full in (("tf.", "tensorflow."), ("np.", "numpy.")):
        if name.startswith(alias):
            name = full + name[len(alias) :]
    for prefix in ("tensorflow.keras.", "tf_keras."):
        if name.startswith(prefix):
            name = "keras." + name[len(prefix) :]
    return spell_out(name.removeprefix("builtins."))


class Unchecked(str):
    """A sentence on code that cannot be read: it gets no points, and nobody says that it breaks a rule."""

    __slots__ = ()


class _Answer:
    """Everything in the notebook that the code behind one name refers to, directly and through helpers."""

    def __init__(self, cells: Sequence[Cell], name: str):
        self.name = name
        self.imports: dict[str, str] = {}
        self.reached: list[Statement] = []
        self.unknown: set[str] = set()
        self.unreadable: set[str] = set()
        self.everything = [statement for cell in cells for statement in cell]
        self._cell = {id(statement): number for number, cell in enumerate(cells) for statement in cell}
        self._place = {id(statement): place for place, statement in enumerate(self.everything)}
        self._unread = [statement for statement in self.everything if statement.text]
        self._binding: dict[str, list[Statement]] = {}
        self._imported: dict[str, set[str]] = {}
        self._imported_by: dict[tuple[int, str], set[str]] = {}
        self._sources: dict[str, set[str]] = {}
        self._links = 0
        self._scanned = 0
        self._unread_size = sum(len(statement.text or "") for statement in self._unread)
        for statement in self.everything:
            self.imports.update(statement.imports)
        for statement in self.everything:
            for imported, full in statement.means:
                self._imported.setdefault(imported, set()).add(full)
                self._imported_by.setdefault((id(statement), imported), set()).add(full)
            for bound in statement.binds | statement.changes | (statement.touches - self.imports.keys()):
                self._binding.setdefault(bound, []).append(statement)
        self._follow(name)

    @property
    def hides(self) -> bool:
        """Whether a cell may define names that are not written in it."""
        return any(statement.text or statement.runs or statement.writes for statement in self.everything)

    @property
    def loops(self) -> bool:
        """Whether there is a loop or a comprehension in it."""
        return any(statement.loops for statement in self.reached)

    def list_cells(self) -> set[int]:
        """Return the numbers of the cells in which this is written."""
        return {self._cell[id(statement)] for statement in self.reached}

    def list_names(self) -> set[str]:
        """Return the full dotted names of all that is referred to."""
        written = {dotted for statement in self.reached for dotted in statement.dotted}
        modules = {module for statement in self.everything for module in statement.stars}
        from_stars = {_canonical(f"{module}.{name}") for module in modules for name in written & self.unknown}
        return from_stars | set(map(self._spell_out, written))

    def list_libraries(self) -> set[str]:
        """Return the full names of all that comes from imports: the longest that are written, and what is handed on.

        Where a name is imported more than once, each of them counts.
        """
        found = set(self._sources[self.name])
        modules = {module for statement in self.everything for module in statement.stars}
        for statement in self.reached:
            inside = {dotted.rpartition(".")[0] for dotted in statement.dotted}
            if statement.defines:  # what is imported in a body may have no other use than to be there
                roots = {dotted.partition(".")[0] for dotted in statement.dotted}
                found |= {full for name, full in statement.means if name not in roots}
            for dotted in (statement.dotted - inside) | statement.bare:
                root, dot, rest = dotted.partition(".")
                meant = self._sources.get(root, set()) | self._imported_by.get((id(statement), root), set())
                found |= {full + dot + rest for full in meant}
                if root in self.unknown:
                    found |= {f"{module}.{dotted}" for module in modules}
                self._count(len(meant) + len(modules))
        return set(map(spell_out, found))

    def _spell_out(self, dotted: str) -> str:
        """Return a name as it is written, with what its first part stands for."""
        root, dot, rest = dotted.partition(".")
        return _canonical(self.imports.get(root, root) + dot + rest)

    def _follow(self, name: str) -> None:
        """Reach the statements that define the name, and whatever they refer to."""
        waiting = self._define(name, len(self.everything))
        self.unknown.update(() if waiting else {name})
        seen: set[int] = set()
        while waiting:
            statement = waiting.pop()
            if id(statement) in seen:
                continue
            seen.add(id(statement))
            self.reached.append(statement)
            for names, before in (
                (statement.now, self._place[id(statement)]),
                (statement.later, len(self.everything)),
            ):
                for used in names:
                    defining = self._define(used, before)
                    if not defining and used not in _KNOWN and used not in statement.imports:
                        self.unknown.add(used)
                    waiting += defining

    def _define(self, name: str, before: int) -> list[Statement]:
        """Return the statements that give a name its meaning at a place: those of the last cell above that defines it,
        and what changes it after that. Note what the name may stand for."""
        defining: list[Statement] = []
        home = None
        for statement in reversed(self._find_candidates(name)):
            self._count(1)
            if self._place[id(statement)] >= before:
                continue
            if home is not None and self._cell[id(statement)] != home:
                break
            if statement.text is not None:
                self.unreadable.add(name)
            defining.append(statement)
            if name in statement.binds or statement.text:
                home = self._cell[id(statement)]
        self._note_imports(name, defining)
        return defining

    def _note_imports(self, name: str, defining: Iterable[Statement]) -> None:
        """Note the full names that a name may stand for, by the statements that define it; the last one comes first."""
        meant = self._sources.setdefault(name, set())
        for statement in defining:
            meant |= self._imported_by.get((id(statement), name), set())
            self._count(len(meant))
            if statement.certain and name in statement.binds:
                return
        meant |= self._imported.get(name, set())
        self._count(len(meant))

    def _find_candidates(self, name: str) -> list[Statement]:
        """Return the statements that may make the name what it is, in their order."""
        known = self._binding.get(name, [])
        self._scanned += self._unread_size
        if self._scanned > MAX_SCANNED:
            raise TooLarge
        more = [statement for statement in self._unread if name not in statement.binds and statement.mentions(name)]
        return sorted([*known, *more], key=lambda statement: self._place[id(statement)]) if more else known

    def _count(self, links: int) -> None:
        self._links += links
        if self._links > MAX_LINKS:
            raise TooLarge


def find_code_behind(cells: Sequence[Cell], name: str) -> set[int]:
    """Return the numbers of the cells with the code behind `name`, helpers included; all if that cannot be said."""
    try:
        numbers = _Answer(cells, name).list_cells()
    except TooLarge:
        numbers = set()
    return numbers or set(range(len(cells)))


def find_callees(cells: Sequence[Cell], name: str, exercises: Collection[str]) -> frozenset[str]:
    """Return which of the exercises, besides `name` itself, the code behind `name` refers to, also through helpers.

    Args:
        cells: the code cells of the notebook, from `read_cells`.
        name: the exercise whose code is read; what is too complicated to be read refers to none.
        exercises: the names of the lab's exercises.
    """
    try:
        answer = _Answer(cells, name)
    except TooLarge:
        return frozenset()
    bound = {bound for statement in answer.reached for bound in statement.binds}
    return frozenset((bound | answer.unknown) & set(exercises)) - {name}


def find_imports(sources: Sequence[str]) -> tuple[str, ...]:
    """Return the full names that a lab's own code cells import, sorted, without those that every answer may use."""
    imported = {spell_out(full) for cell in read_cells(sources) for statement in cell for _, full in statement.means}
    return tuple(sorted(full for full in imported if full.partition(".")[0] not in _PUBLIC))


def find_violations(
    cells: Sequence[Cell],
    name: str,
    *,
    forbidden: Iterable[str] = (),
    no_loops: bool = False,
    given: Collection[str] | None = None,
) -> list[str]:
    """Return one sentence for each rule that the code behind `name` breaks.

    Args:
        cells: the code cells of the notebook, from `read_cells`.
        name: the exercise; the code that it refers to, through helpers of the notebook, is read too.
        forbidden: dotted names that may not be used, such as ``"keras.layers.MultiHeadAttention"``. Where there are
            some, the answer may use only the public names of some libraries, and what the lab's own cells import.
        no_loops: whether `for`, `while` and comprehensions are ruled out. What loops without them, such as recursion
            or `map`, is not looked for: the exercise needs sizes at which a loop does not come to an end.
        given: the names that the lab's own cells import, from `find_imports`: of `coursekit`, no answer may use
            more. None where nobody knows them.
    """
    forbidden = {_canonical(dotted) for dotted in forbidden}
    given = None if given is None else set(map(spell_out, given))
    has_rules = bool(forbidden or no_loops)
    if not cells or not (has_rules or given is not None):
        return []
    try:
        answer = _Answer(cells, name)
        libraries = answer.list_libraries()
    except TooLarge:
        return [Unchecked(f"The code around `{name}` is too complicated to be read, so its rules cannot be checked.")]
    used = answer.list_names() | {_canonical(full) for full in libraries}
    broken = [forbidden_sentence(dotted) for dotted in sorted(forbidden & used)]
    if not broken and given is not None and (own := _find_course_code(answer, libraries, given)):
        broken.append(own)
    if has_rules and answer.unreadable:
        text = f"The cell with `{min(answer.unreadable)}` cannot be read, so its rules cannot be checked."
        return broken or [Unchecked(text)]
    if no_loops and answer.loops:
        broken.append("This exercise asks for no Python loop: neither `for`, `while` nor a comprehension.")
    if broken or not has_rules:
        return broken
    if forbidden and (why := _find_not_allowed(answer, libraries, given)):
        return [why]
    if answer.unknown and answer.hides:
        text = f"No cell that can be read defines `{min(answer.unknown)}`, so the rule cannot be checked."
        return [Unchecked(text)]
    return []


def _find_course_code(answer: _Answer, libraries: set[str], given: Collection[str]) -> str | None:
    """Return what an answer takes from the course's own code, though no given cell imports it."""
    fetched = {spell_out(module) for statement in answer.reached for module in statement.fetched}
    by_text = {full for full in libraries if full.startswith("sys.modules")}
    if not fetched or "" in fetched:
        by_text |= {full for full in libraries if full.rpartition(".")[2] in IMPORTING}
        by_text |= IMPORTING & {dotted for statement in answer.reached for dotted in statement.dotted}
    if by_text:
        return f"`{min(by_text)}` imports what is not written in your cells: import modules with `import`."
    if any(_COURSE in (statement.text or "") for statement in answer.reached):
        return Unchecked(
            f"A cell that names `{_COURSE}` cannot be read, so nobody can say what the answer takes from it."
        )
    used = {full for full in libraries | fetched if full.partition(".")[0] == _COURSE}
    if own := {full for full in used if not _is_below(full, given)}:
        return (
            f"An answer may not use `{min(own)}`: of `{_COURSE}` it may use what the lab's own cells import, and "
            "nothing else. Write it yourself."
        )
    return None


def _find_not_allowed(answer: _Answer, libraries: set[str], given: Collection[str] | None) -> str | None:
    """Return what an answer uses although no answer to an exercise with rules may use it."""
    words = {word for statement in answer.reached for word in statement.words}
    written = {dotted for statement in answer.reached for dotted in statement.dotted} | libraries
    if by_text := (_BY_TEXT & {dotted.removeprefix("builtins.") for dotted in written}) | (_BY_TEXT_METHODS & words):
        return (
            f"`{min(by_text)}` can use what is not written in your cells, so the rules of this exercise cannot be "
            "checked. Write the code itself, and import modules with `import`."
        )
    if inner := {full for full in libraries if not _is_public(full, given)}:
        shown = min(inner)
        hidden_names = shown.endswith(".__dict__")
        shown = f"names of `{shown[:-9]}` that are not written out" if hidden_names else f"`{shown}`"
        return f"This exercise does not allow {shown}. {_MAY_BE_USED}"
    roots = {full for full in libraries if "." not in full}
    if hidden := words & ({"raw_ops"} | (_INNER - {"core"} if roots & {"keras", "tensorflow", "tf_keras"} else set())):
        return f"This exercise does not allow `{min(hidden)}`. {_MAY_BE_USED}"
    return None


def _is_public(full: str, given: Collection[str] | None) -> bool:
    """Whether it is a public name of a library that may be used, or one that the lab's own cells import."""
    root, *parts = full.split(".")
    if any((part.startswith("_") and not part.endswith("__")) or part in _BEHIND for part in parts):
        return False
    if root in sys.stdlib_module_names:
        return not (_FINDING & {root, *parts} or full.startswith("sys.modules") or ".sys.modules" in full)
    if root == _COURSE:
        return _is_below(full, given) and not _OF_LIBRARIES & {*parts}
    return not _INNER & {*parts} and (root in _PUBLIC or _is_below(full, given))


def _is_below(full: str, given: Collection[str] | None) -> bool:
    return given is None or any(full == name or full.startswith(f"{name}.") for name in given)


# -- while the code runs ----------------------------------------------------------------------------------------------


class ForbiddenCall(Exception):
    """A call that the exercise asks the student to write."""


@contextlib.contextmanager
def guard(forbidden: Iterable[str]) -> Iterator[None]:
    """Stop calls of the `forbidden` dotted names while the block runs, by raising `ForbiddenCall`.

    Classes are stopped when they are built and when a layer made of them is called; functions wherever they were taken
    from their module before. A name is skipped where its module cannot be imported.
    """
    with contextlib.ExitStack() as stack:
        for name in forbidden:
            path, _, attribute = name.rpartition(".")
            if not path:  # a name of the notebook itself: `coursekit.check.rules` finds it in the cells
                continue
            try:
                module = importlib.import_module(path)
                target = getattr(module, attribute)
            except (ImportError, AttributeError):
                continue
            if inspect.isclass(target):
                for method in {"__init__", "call"} & vars(target).keys():
                    stack.enter_context(_replaced(target, method, _stopper(name, vars(target)[method])))
            else:
                stack.enter_context(_replaced(module, attribute, _stopper(name, target)))
                if inspect.isfunction(target):
                    code = _stopping_code(name, target.__code__.co_freevars)
                    stack.enter_context(_replaced(target, "__code__", code))
        yield


def forbidden_sentence(name: str) -> str:
    """Return what a student is told who uses a forbidden `name`."""
    return f"this exercise forbids `{name}`: write it yourself."


def _stopper(name: str, original: Any) -> Any:
    def stop(*_: Any, **__: Any) -> Any:
        raise ForbiddenCall(forbidden_sentence(name))

    with contextlib.suppress(ValueError, TypeError):
        # Keras reads the signature before it calls
        stop.__signature__ = _signature(original)  # type: ignore[attr-defined]  # a name of `inspect`'s
    return stop


@functools.cache  # this and the next: a guard goes up before each case
def _signature(function: Any) -> inspect.Signature:
    return inspect.signature(function)


@functools.cache
def _stopping_code(name: str, variables: tuple[str, ...]) -> CodeType:
    """Return code that raises in place of a function's own, so that it stops under any other name, too."""
    text = f"from coursekit.check.rules import ForbiddenCall\n    raise ForbiddenCall({forbidden_sentence(name)!r})"
    made: dict[str, Any] = {}
    exec(f"def stop(*_, **__):\n    {text}", made)
    return made["stop"].__code__.replace(co_freevars=variables)


@contextlib.contextmanager
def _replaced(owner: Any, attribute: str, value: Any) -> Iterator[None]:
    original = vars(owner)[attribute] if inspect.isclass(owner) else getattr(owner, attribute)
    setattr(owner, attribute, value)
    try:
        yield
    finally:
        setattr(owner, attribute, original)

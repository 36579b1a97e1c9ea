"""Says which rules of an exercise the code behind it breaks, as it is written in the notebook's cells."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Collection, Iterable, Sequence

from coursekit import source as sources
from coursekit.guard import forbidden_sentence
from coursekit.recursion import GIVEN, find_circle, is_class
from coursekit.statements import IMPORTING, WRITING, WRITING_METHODS, Cell, Statement, read_cells

LOOPING_CALLS = frozenset({
    "map", "filter", "functools.reduce", "itertools.accumulate", "itertools.filterfalse", "itertools.starmap",
    "numpy.apply_along_axis", "numpy.apply_over_axes", "numpy.fromfunction", "numpy.frompyfunc", "numpy.vectorize",
    "tensorflow.foldl", "tensorflow.foldr", "tensorflow.map_fn", "tensorflow.nest.map_structure", "tensorflow.scan",
    "tensorflow.vectorized_map", "tensorflow.while_loop", "tensorflow.data.Dataset",
    "keras.ops.associative_scan", "keras.ops.fori_loop", "keras.ops.map", "keras.ops.scan", "keras.ops.vectorize",
    "keras.ops.vectorized_map", "keras.ops.while_loop", "keras.tree.map_structure",
})  # fmt: skip
# Whatever a method of this name belongs to. `np.add` has methods `reduce` and `accumulate`, which are allowed.
_LOOPING_METHODS = frozenset(name.rpartition(".")[2] for name in LOOPING_CALLS) - {"accumulate", "filter", "reduce"}
_HIDING = WRITING | {
    "compile", "locals", "vars", "getattr", "__import__", "importlib.import_module", "sys.modules", "gc.get_objects",
    "operator.attrgetter", "operator.methodcaller", "__builtins__",
}  # fmt: skip
_HIDING_METHODS = WRITING_METHODS | {"__dict__", "__globals__", "__getattribute__", "__builtins__"}
_LIBRARIES = sys.stdlib_module_names | {
    "coursekit", "keras", "matplotlib", "numpy", "scipy", "sklearn", "tensorflow", "tensorflow_datasets",
    "tensorflow_hub", "tensorflow_text", "tf_keras", "tqdm", "IPython",
}  # fmt: skip
# An answer without loops may use these modules of Python's own, hand functions to these, and let its classes have these
# special methods: the others call a function for each of many things.
_MODULES = frozenset({
    "__future__", "abc", "cmath", "collections", "contextlib", "copy", "dataclasses", "functools", "logging", "math",
    "numbers", "operator", "os", "pathlib", "sys", "time", "types", "typing", "warnings",
})  # fmt: skip
_CALLING_ONCE = frozenset({
    "callable", "classmethod", "functools.cache", "functools.lru_cache", "functools.partial", "functools.wraps", "id",
    "isinstance", "issubclass", "keras.layers.Lambda", "keras.ops.cond", "print", "property", "repr", "staticmethod",
    "super", "tensorflow.cond", "tensorflow.custom_gradient", "tensorflow.function",
})  # fmt: skip
_QUIET_METHODS = frozenset({
    "__annotations__", "__call__", "__doc__", "__enter__", "__exit__", "__init__", "__module__", "__post_init__",
    "__qualname__", "__repr__", "__slots__", "__str__",
})  # fmt: skip
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
    return name.removeprefix("builtins.")


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
        self.arrows: dict[int, set[int]] = {}
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
        found = self._defining(name, len(self.everything))
        if not found:
            self.unknown.add(name)
        self._note_imports(name, found)
        self.follow(found)

    @property
    def explained(self) -> bool:
        """Whether every name is accounted for: what no cell defines is nowhere, or comes with a `*`."""
        return not self.unknown or not (self.hides or self.name in self.unknown)

    @property
    def hides(self) -> bool:
        """Whether a cell may define names that are not written in it."""
        return any(statement.text or statement.runs or statement.writes for statement in self.everything)

    def cells(self) -> set[int]:
        """Return the numbers of the cells in which this is written."""
        return {self._cell[id(statement)] for statement in self.reached}

    def names(self) -> set[str]:
        """Return the full dotted names of all that is referred to."""
        written = {dotted for statement in self.reached for dotted in statement.dotted}
        modules = {module for statement in self.everything for module in statement.stars}
        full = {self.full(dotted) for dotted in written}
        return full | {_canonical(f"{module}.{name}") for module in modules for name in written & self.unknown}

    def libraries(self) -> set[str]:
        """Return the full names of all that comes from imports: the longest that are written, and what is handed on.

        Where a name is imported more than once, each of them counts.
        """
        found = set(self._sources[self.name])
        modules = {module for statement in self.everything for module in statement.stars}
        for statement in self.reached:
            inside = {dotted.rpartition(".")[0] for dotted in statement.dotted}
            if statement.functions:  # what is imported in a body may have no other use than to be there
                roots = {dotted.partition(".")[0] for dotted in statement.dotted}
                found |= {full for name, full in statement.means if name not in roots}
            for dotted in (statement.dotted - inside) | statement.bare:
                root, dot, rest = dotted.partition(".")
                meant = self._sources.get(root, set()) | self._imported_by.get((id(statement), root), set())
                found |= {full + dot + rest for full in meant}
                if root in self.unknown:
                    found |= {f"{module}.{dotted}" for module in modules}
                self._count(len(meant) + len(modules))
        return found

    def full(self, dotted: str) -> str:
        """A name as it is written, with what its first part stands for."""
        root, dot, rest = dotted.partition(".")
        return _canonical(self.imports.get(root, root) + dot + rest)

    def follow(self, statements: Iterable[Statement]) -> None:
        """Add statements, and whatever they refer to."""
        waiting = list(statements)
        while waiting:
            statement = waiting.pop()
            if id(statement) in self.arrows:
                continue
            self.reached.append(statement)
            ends = self.arrows[id(statement)] = set()
            above, last = self._place[id(statement)], len(self.everything)
            for names, before in ((statement.now, above), (statement.later, last)):
                for name in names:
                    found = self._defining(name, before)
                    if not found and name not in _KNOWN and name not in statement.imports:
                        self.unknown.add(name)
                    self._note_imports(name, found)
                    ends.update(id(statement) for statement in found if name in statement.binds)
                    waiting += found

    def _defining(self, name: str, before: int) -> list[Statement]:
        """Return the statements above a place that make a name what it is there: those of the last cell that defines
        it, and what changes it from there on."""
        found: list[Statement] = []
        home = None
        for statement in reversed(self._candidates(name)):
            self._count(1)
            if self._place[id(statement)] >= before:
                continue
            if home is not None and self._cell[id(statement)] != home:
                break
            if statement.text is not None:
                self.unreadable.add(name)
            found.append(statement)
            if name in statement.binds or statement.text:
                home = self._cell[id(statement)]
        return found

    def _note_imports(self, name: str, found: Iterable[Statement]) -> None:
        """Note the full names that a name may stand for, by the statements that define it; the last one comes first."""
        meant = self._sources.setdefault(name, set())
        for statement in found:
            meant |= self._imported_by.get((id(statement), name), set())
            self._count(len(meant))
            if statement.certain and name in statement.binds:
                return
        meant |= self._imported.get(name, set())
        self._count(len(meant))

    def _count(self, links: int) -> None:
        self._links += links
        if self._links > MAX_LINKS:
            raise sources.TooLarge

    def _candidates(self, name: str) -> list[Statement]:
        known = self._binding.get(name, [])
        self._scanned += self._unread_size
        if self._scanned > MAX_SCANNED:
            raise sources.TooLarge
        more = [statement for statement in self._unread if name not in statement.binds and statement.mentions(name)]
        return sorted([*known, *more], key=lambda statement: self._place[id(statement)]) if more else known


def code_behind(cells: Sequence[Cell], name: str) -> set[int]:
    """The numbers of the cells that the code behind `name` is in, helpers included; all where that cannot be said."""
    try:
        found = _Answer(cells, name).cells()
    except sources.TooLarge:
        found = set()
    return found or set(range(len(cells)))


def called(cells: Sequence[Cell], name: str, exercises: Collection[str]) -> frozenset[str]:
    """Which of the exercises, besides `name` itself, the code behind `name` refers to, directly or through helpers.

    Args:
        cells: the code cells of the notebook, from `read_cells`.
        name: the exercise whose code is read; what is too complicated to be read refers to none.
        exercises: the names of the lab's exercises.
    """
    try:
        answer = _Answer(cells, name)
    except sources.TooLarge:
        return frozenset()
    bound = {bound for statement in answer.reached for bound in statement.binds}
    return frozenset((bound | answer.unknown) & set(exercises)) - {name}


def imported_names(texts: Sequence[str]) -> tuple[str, ...]:
    """The full names that a lab's own code cells import, sorted, without those that every answer may use."""
    found = {full for cell in read_cells(texts) for statement in cell for _, full in statement.means}
    return tuple(sorted(full for full in found if full.partition(".")[0] not in _PUBLIC))


def violations(
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
        no_loops: whether Python loops, recursion and functions that hide a loop are ruled out. What cannot be read
            then breaks the rule: text that is run as code, names from outside of the notebook and its libraries.
        given: the names that the lab's own cells import, from `imported_names`: of `coursekit`, no answer may use
            more. None where nobody knows them.
    """
    forbidden = {_canonical(dotted) for dotted in forbidden}
    has_rules = bool(forbidden or no_loops)
    if not cells or not (has_rules or given is not None):
        return []
    try:
        answer = _Answer(cells, name)
        libraries = answer.libraries()
        if no_loops:
            answer.follow(statement for statement in answer.everything if statement.writes)
    except sources.TooLarge:
        return [Unchecked(f"The code around `{name}` is too complicated to be read, so its rules cannot be checked.")]
    used = answer.names() | {_canonical(full) for full in libraries}
    found = [forbidden_sentence(dotted) for dotted in sorted(forbidden & used)]
    if not found and given is not None and (own := _of_the_course(answer, libraries, given)):
        found.append(own)
    if not has_rules:
        return found
    if answer.unreadable:
        named = min(answer.unreadable)
        text = f"The cell with `{named}` cannot be read, so its rules cannot be checked."
        found += [] if found else [Unchecked(text)]
    elif (no_loops and (why := _looping(answer, used))) or (
        not found and forbidden and (why := _not_allowed(answer, libraries, given))
    ):
        found.append(why)
    elif not found and answer.unknown and answer.hides:
        found.append(Unchecked(_unexplained(answer)))
    return found


def _of_the_course(answer: _Answer, libraries: set[str], given: Collection[str]) -> str | None:
    """Return what an answer takes from the course's own code, though no given cell imports it."""
    fetched = {module for statement in answer.reached for module in statement.fetched}
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


def _not_allowed(answer: _Answer, libraries: set[str], given: Collection[str] | None) -> str | None:
    """Return what an answer uses that no answer may use where an exercise has rules."""
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


def _unexplained(answer: _Answer) -> str:
    return f"No cell that can be read defines `{min(answer.unknown)}`, so the rule cannot be checked."


def _looping(answer: _Answer, used: set[str]) -> str | None:
    """Return how an answer that has to do without loops may loop all the same."""
    words = {word for statement in answer.reached for word in statement.words}
    if any(statement.loops for statement in answer.reached):
        return "This exercise asks for no Python loop: neither `for`, `while` nor a comprehension."
    if looping := (used & LOOPING_CALLS) | (words & _LOOPING_METHODS):
        return f"`{max(looping, key=len)}` hides a loop; this exercise asks for whole-array operations."
    if calling := _called_again(answer):
        return f"`{calling}` calls a function again and again; this exercise asks for whole-array operations."
    if again := _recursive(answer):
        return again
    if hiding := (used & _HIDING) | (words & _HIDING_METHODS):
        return f"`{min(hiding)}` hides the calculation; this exercise asks for whole-array operations, written out."
    imported = {full for statement in answer.reached for full in (*statement.imports.values(), *statement.stars)}
    if foreign := {full for full in imported if full.partition(".")[0] not in _LIBRARIES}:
        return f"`{min(foreign)}` is not written in the notebook, so the rule cannot be checked: write it there."
    return None if answer.explained else _unexplained(answer)


def _recursive(answer: _Answer) -> str | None:
    """Return which function calls itself, by its name or because it is handed to itself."""
    again = max((statement.recursion.circle for statement in answer.reached), default="")
    if not again and (circle := find_circle(_arrows(answer))):
        bound = [name for statement in answer.reached if id(statement) in circle for name in statement.binds]
        again = GIVEN if GIVEN in circle else min(bound, default=answer.name)
    if again == GIVEN:
        return (
            "A function here calls what it is given or finds in a list, which may be the function itself, and that is "
            "a loop too: call functions by their names, for whole arrays."
        )
    if not again:
        return None
    return f"`{again}` calls itself, which is a loop too; this exercise asks for whole-array operations."


def _arrows(answer: _Answer) -> dict[int | str, set[int | str]]:
    """Return which statement leads to which; one that calls what it is given, to every function that is handed on."""
    arrows: dict[int | str, set[int | str]] = {start: set(ends) for start, ends in answer.arrows.items()}
    handed = {name for statement in answer.reached for name in statement.recursion.hands_on}
    arrows[GIVEN] = {id(statement) for statement in answer.reached if handed & _may_be_called(statement)}
    wrapped = {statement.recursion.wraps for statement in answer.reached}
    for statement in answer.reached:
        if statement.recursion.calls_given:
            arrows[GIVEN].update({id(statement)} if wrapped & statement.functions else ())
            arrows[id(statement)].add(GIVEN)
    return arrows


def _may_be_called(statement: Statement) -> set[str]:
    """Return the functions and classes of a statement, or the names of the objects that it makes of a class."""
    made = not statement.functions and any(map(is_class, statement.now))
    return statement.binds if made else statement.functions


def _called_again(answer: _Answer) -> str | None:
    """Return what may call a function of the answer for each of many things: all that is not known to do without."""
    reached = answer.reached
    functions = {name for statement in reached for name in statement.functions}
    own = {name for statement in reached for name in statement.binds} - answer.imports.keys()
    for callee, given in sorted({pair for statement in reached for pair in statement.handed}):
        is_function = not given or given in functions
        if is_function and callee.partition(".")[0] not in own and answer.full(callee) not in _CALLING_ONCE:
            return callee.lstrip(".")
    if special := {name for statement in reached for name in statement.special} - _QUIET_METHODS:
        return min(special)
    roots = {dotted.partition(".")[0] for statement in reached for dotted in statement.dotted}
    modules = {answer.imports[root].partition(".")[0] for root in roots & answer.imports.keys()}
    modules |= {
        module.partition(".")[0] for statement in answer.everything for module in statement.stars if answer.unknown
    }
    return min(modules & (sys.stdlib_module_names - _MODULES), default=None)

"""What may not do the work of an exercise: names looked for in the source, and calls stopped while it runs."""

from __future__ import annotations

import ast
import builtins
import contextlib
import copy
import functools
import importlib
import inspect
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from graphlib import CycleError, TopologicalSorter
from types import CodeType
from typing import Any

from coursekit import source as sources

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
# They run or fetch what is not written in the cell, so that nobody can say what it is; these define names as well.
_WRITING = frozenset({"exec", "eval", "compile", "globals", "__main__"})
_WRITING_METHODS = frozenset({"run_cell", "run_cell_async", "run_code", "ex", "user_ns", "user_global_ns", "__main__"})
_HIDING = _WRITING | {
    "locals", "vars", "getattr", "__import__", "importlib.import_module", "sys.modules", "operator.attrgetter",
    "operator.methodcaller", "gc.get_objects", "__builtins__",
}  # fmt: skip
_HIDING_METHODS = _WRITING_METHODS | {"__dict__", "__globals__", "__getattribute__", "__builtins__"}
_HARMLESS_MAGICS = frozenset({
    "autoreload", "bash", "cat", "cd", "colors", "conda", "config", "env", "html", "javascript", "latex", "load_ext",
    "ls", "lsmagic", "magic", "markdown", "matplotlib", "mkdir", "pfile", "pinfo", "pinfo2", "pip", "precision",
    "psearch", "pwd", "reload_ext", "sh", "svg", "system", "sx", "tensorboard", "uv", "who", "whos", "writefile",
    "xmode",
})  # fmt: skip
_LIBRARIES = sys.stdlib_module_names | {
    "coursekit", "keras", "matplotlib", "numpy", "scipy", "sklearn", "tensorflow", "tensorflow_datasets",
    "tensorflow_hub", "tensorflow_text", "tf_keras", "tqdm", "IPython",
}  # fmt: skip
_KNOWN = frozenset(dir(builtins)) | {"get_ipython", "display", "In", "Out", "_", "__", "___", "exit", "quit"}
_WRITING_WORD = re.compile(rf"\b(?:{'|'.join(sorted(_WRITING | _WRITING_METHODS))})\b")
_LONGEST_PATH = 8  # parts of a dotted name that is looked at
_SHORT = 5_000  # characters of a cell that is remembered
MAX_LINKS = 500_000  # from names to statements that define them; honest notebooks have hundreds

_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_LOOPS = (ast.For, ast.While, ast.AsyncFor, *_COMPREHENSIONS)


class ForbiddenCall(Exception):
    """A call that the exercise asks the student to write."""


def _canonical(name: str) -> str:
    for alias, full in (("tf.", "tensorflow."), ("np.", "numpy.")):
        if name.startswith(alias):
            name = full + name[len(alias) :]
    for prefix in ("tensorflow.keras.", "tf_keras."):
        if name.startswith(prefix):
            name = "keras." + name[len(prefix) :]
    return name.removeprefix("builtins.")


@dataclass
class _Statement:
    """What one statement at the top level of a cell does to names, and what it refers to.

    Attributes:
        binds: names that it defines.
        changes: names whose objects it changes, such as `np` in ``np.dot = mine``; or that it may define.
        touches: names of which a method is called for its effect, such as `rows` in ``rows.append(1)``.
        now: names that are looked up when the statement runs.
        later: names that are looked up when the functions in it run.
        dotted: all of these, and dotted names such as ``np.linalg.norm``, as they are written.
        words: names of attributes, whatever they belong to.
        imports: what imports make of a name; stars: modules of which everything is imported.
        loops: whether it holds a loop or a comprehension.
        recursive: whether a function inside a function calls itself.
        runs: a magic that may define or run anything.
        text: the source of a cell that cannot be read.
    """

    binds: set[str] = field(default_factory=set)
    changes: set[str] = field(default_factory=set)
    touches: set[str] = field(default_factory=set)
    now: set[str] = field(default_factory=set)
    later: set[str] = field(default_factory=set)
    dotted: set[str] = field(default_factory=set)
    words: set[str] = field(default_factory=set)
    imports: dict[str, str] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)
    loops: bool = False
    recursive: bool = False
    runs: str = ""
    text: str | None = None

    def mentions(self, name: str) -> bool:
        """Whether the name is a word of the source that cannot be read."""
        return name in self.text and re.search(rf"\b{re.escape(name)}\b", self.text) is not None

    @property
    def writes(self) -> bool:
        """Whether it may define names that are not written in it."""
        if self.text is not None:
            return _WRITING_WORD.search(self.text) is not None
        written = {name.removeprefix("builtins.") for name in self.dotted}
        return not (_WRITING.isdisjoint(written) and _WRITING_METHODS.isdisjoint(self.words))


Cell = list[_Statement]


def read_cells(texts: Sequence[str]) -> list[Cell]:
    """Return what the rules have to know of each code cell, read as IPython reads it.

    No syntax tree is kept. All cells together get `coursekit.source.MAX_NOTEBOOK_EFFORT`, the last ones first.
    """
    read = list(sources.within_effort(reversed(texts)))[::-1]
    return [_read(text) if within else [_unread(text)] for text, within in zip(texts, read, strict=True)]


def _read(text: str) -> Cell:
    cell = _read_short_cell(text) if len(text) < _SHORT else _read_cell(text)
    return [copy.copy(each) for each in cell]  # the same text can stand in two cells


@functools.lru_cache(maxsize=128)
def _read_short_cell(text: str) -> Cell:
    """The release's cells are the same in all submissions, and a check reads a notebook again."""
    return _read_cell(text)


def _read_cell(text: str) -> Cell:
    try:
        tree = sources.parse(text)
    except sources.NotPython:
        return [_Statement(binds=set(sources.guessed_names(text)), text="")]
    except sources.TooLarge:
        return [_unread(text)]
    return [_Reader().statement(node) for node in tree.body]


def _unread(text: str) -> _Statement:
    return _Statement(binds=set(sources.guessed_names(text)), text=text)


@dataclass(frozen=True)
class _Scope:
    """Where a piece of code stands: names bound around it, whether in a function, and the inner ones it is part of."""

    hidden: frozenset[str] = frozenset()
    inside: bool = False
    within: tuple[str, ...] = ()
    private: bool = False  # what is bound here is not the notebook's: in a function, in a class


class _Reader:
    """Reads one statement. Nesting is walked with a list, not by recursion: a source can be nested very deeply."""

    def __init__(self) -> None:
        self.found = _Statement()
        self.calls: dict[str, set[str]] = {}  # of the inner functions, by name
        self.waiting: list[tuple[ast.AST, _Scope]] = []

    def statement(self, node: ast.stmt) -> _Statement:
        self.waiting.append((node, _Scope()))
        while self.waiting:
            self._take(*self.waiting.pop())
        self.found.recursive = _has_circle(self.calls)
        return self.found

    def _take(self, node: ast.AST, scope: _Scope) -> None:
        found = self.found
        if isinstance(node, _LOOPS):
            found.loops = True
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                self._function(node, scope)
                return
            case ast.ClassDef():
                self._bind(node.name, scope)
                scope = replace(scope, private=True)
            case ast.Name(id=name, ctx=ast.Load()):
                self._load(name, scope)
            case ast.Name(id=name):
                self._bind(name, scope)
            case ast.Attribute():
                self._attribute(node, scope)
            case ast.Subscript(ctx=ast.Store() | ast.Del()):
                self._change(node, scope)
            case ast.Call():
                self._call(node, scope)
            case ast.Import() | ast.ImportFrom():
                self._import(node, scope)
            case ast.Global(names=names):
                found.changes.update(names)
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                self._bind(name, scope)
            case ast.AugAssign(target=ast.Name(id=name)):
                self._load(name, scope)
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name)))) if not scope.inside:
                found.touches.add(name)
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Lambda() as value) if scope.inside:
                self._bind(name, scope)
                self._function(value, scope, name)
                return
        if isinstance(node, _COMPREHENSIONS):
            targets = (part.id for each in node.generators for part in ast.walk(each.target) if _is_name(part))
            scope = replace(scope, hidden=scope.hidden | frozenset(targets))
        self.waiting.extend((child, scope) for child in ast.iter_child_nodes(node))

    def _function(self, node: _Function, scope: _Scope, name: str = "") -> None:
        """Defaults and decorators are looked up where the function is made, its body where it runs."""
        arguments = node.args
        outside: list[ast.AST | None] = [*arguments.defaults, *arguments.kw_defaults]
        if not isinstance(node, ast.Lambda):
            self._bind(node.name, scope)
            outside += [*node.decorator_list, node.returns]
            name = node.name
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        outside += [each.annotation for each in every if each is not None]
        self.waiting.extend((each, scope) for each in outside if each is not None)
        within = (*scope.within, name) if scope.inside and name else scope.within
        inner = _Scope(scope.hidden | _bound(node), True, within, True)
        body = [node.body] if isinstance(node, ast.Lambda) else node.body
        self.waiting.extend((each, inner) for each in body)

    def _bind(self, name: str, scope: _Scope) -> None:
        if not scope.private and name not in scope.hidden:
            self.found.binds.add(name)

    def _load(self, name: str, scope: _Scope) -> None:
        for function in scope.within:
            self.calls.setdefault(function, set()).add(name)
        if name in scope.hidden:
            return
        (self.found.later if scope.inside else self.found.now).add(name)
        self.found.dotted.add(name)

    def _attribute(self, node: ast.Attribute, scope: _Scope) -> None:
        self.found.words.add(node.attr)
        self._path(node.value, [node.attr], scope)
        if not isinstance(node.ctx, ast.Load):
            self._change(node, scope)

    def _path(self, base: ast.AST, parts: list[str], scope: _Scope) -> None:
        while isinstance(base, ast.Attribute) and len(parts) < _LONGEST_PATH:
            parts.append(base.attr)
            base = base.value
        if isinstance(base, ast.Name) and base.id not in scope.hidden:
            self.found.dotted.add(".".join([base.id, *reversed(parts)]))

    def _change(self, node: ast.AST, scope: _Scope) -> None:
        while isinstance(node, (ast.Attribute, ast.Subscript)):
            node = node.value
        if isinstance(node, ast.Name) and node.id not in scope.hidden:
            self.found.changes.add(node.id)

    def _call(self, node: ast.Call, scope: _Scope) -> None:
        match node:
            case ast.Call(func=ast.Name(id="getattr"), args=[value, ast.Constant(value=str(name)), *_]):
                self.found.words.add(name)
                self._path(value, [name], scope)
                node.func = ast.Constant(value=None)  # it is written out: `getattr` hides nothing here
            case ast.Call(func=ast.Name(id="setattr"), args=[value, *_]):
                self._change(value, scope)
            case ast.Call(func=ast.Attribute(attr="run_line_magic" | "run_cell_magic"), args=[name, *_]):
                self._magic(node, name.value if isinstance(name, ast.Constant) else "", scope)

    def _magic(self, node: ast.Call, name: Any, scope: _Scope) -> None:
        inner = sources.magic_body(node)
        if inner is not None:
            with contextlib.suppress(sources.NotPython, sources.TooLarge):
                self.waiting.extend((each, scope) for each in sources.parse(inner).body)
                return
        if name not in _HARMLESS_MAGICS:
            self.found.runs = f"%{name}"

    def _import(self, node: ast.Import | ast.ImportFrom, scope: _Scope) -> None:
        for item in node.names:
            root = item.name.partition(".")[0]
            if isinstance(node, ast.Import):
                name, full = item.asname or root, item.name if item.asname else root
            else:
                name, full = item.asname or item.name, f"{'.' * node.level}{node.module or ''}.{item.name}"
            if name == "*":
                self.found.stars.append(node.module or "")
                continue
            self.found.imports[name] = full
            self._bind(name, scope)


def _is_name(node: ast.AST) -> bool:
    return isinstance(node, ast.Name)


def _bound(function: _Function) -> frozenset[str]:
    """The names that a function binds itself: its parameters and what it assigns, without what it declares global.

    Imports are left visible: they say what a name stands for.
    """
    arguments = function.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    names, outer = {each.arg for each in every if each is not None}, set()
    waiting: list[ast.AST] = [function.body] if isinstance(function, ast.Lambda) else list(function.body)
    while waiting:
        node = waiting.pop()
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
                continue
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                names.add(name)
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                names.add(name)
            case ast.Global(names=others):
                outer.update(others)
            case ast.Lambda():
                continue
        if isinstance(node, _COMPREHENSIONS):
            # Its variables are its own; what `:=` assigns in it belongs to the function.
            names.update(each.target.id for each in ast.walk(node) if isinstance(each, ast.NamedExpr))
            continue
        waiting.extend(ast.iter_child_nodes(node))
    return frozenset(names - outer)


def _has_circle(arrows: Mapping[Any, Iterable[Any]]) -> bool:
    """Say whether one comes back to where one was by following the arrows."""
    try:
        TopologicalSorter(arrows).prepare()
    except CycleError:
        return True
    return False


class _Answer:
    """Everything in the notebook that the code behind one name refers to, directly and through helpers."""

    def __init__(self, cells: Sequence[Cell], name: str):
        self.name = name
        self.imports: dict[str, str] = {}
        self.reached: list[_Statement] = []
        self.unknown: set[str] = set()
        self.unreadable: set[str] = set()
        self.arrows: dict[int, set[int]] = {}
        self.everything = [each for cell in cells for each in cell]
        self._cell = {id(each): number for number, cell in enumerate(cells) for each in cell}
        self._place = {id(each): place for place, each in enumerate(self.everything)}
        self._unread = [each for each in self.everything if each.text]
        self._binding: dict[str, list[_Statement]] = {}
        self._links = 0
        for each in self.everything:
            self.imports.update(each.imports)
        for each in self.everything:
            for bound in each.binds | each.changes | (each.touches - self.imports.keys()):
                self._binding.setdefault(bound, []).append(each)
        self.follow(self._defining(name, len(self.everything)))

    @property
    def explained(self) -> bool:
        """Whether every name is accounted for: what no cell defines is nowhere, or comes with a `*`."""
        hidden = any(each.text or each.runs for each in self.everything)
        return not self.unknown or not (hidden or self.name in self.unknown)

    def names(self) -> set[str]:
        """Return the full dotted names of all that is referred to."""
        written = {dotted for each in self.reached for dotted in each.dotted}
        modules = {module for each in self.everything for module in each.stars}
        full = {self._full(dotted) for dotted in written}
        return full | {_canonical(f"{module}.{name}") for module in modules for name in written & self.unknown}

    def _full(self, dotted: str) -> str:
        root, dot, rest = dotted.partition(".")
        return _canonical(self.imports.get(root, root) + dot + rest)

    def follow(self, statements: Iterable[_Statement]) -> None:
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
                    ends.update(id(each) for each in found if name in each.binds)
                    waiting += found

    def _defining(self, name: str, before: int) -> list[_Statement]:
        """Return the statements above a place that make a name what it is there: those of the last cell that defines
        it, and what changes it from there on."""
        found: list[_Statement] = []
        home = None
        for each in reversed(self._candidates(name)):
            self._links += 1
            if self._links > MAX_LINKS:
                raise sources.TooLarge
            if self._place[id(each)] >= before:
                continue
            if home is not None and self._cell[id(each)] != home:
                break
            if each.text is not None:
                self.unreadable.add(name)
            found.append(each)
            if name in each.binds or each.text:
                home = self._cell[id(each)]
        if not found and name not in _KNOWN:
            self.unknown.add(name)
        return found

    def _candidates(self, name: str) -> list[_Statement]:
        known = self._binding.get(name, [])
        more = [each for each in self._unread if name not in each.binds and each.mentions(name)]
        return sorted([*known, *more], key=lambda each: self._place[id(each)]) if more else known


def violations(cells: Sequence[Cell], name: str, *, forbidden: Iterable[str] = (), no_loops: bool = False) -> list[str]:
    """Return one sentence for each rule that the code behind `name` breaks.

    Args:
        cells: the code cells of the notebook, from `read_cells`.
        name: the exercise; the code that it refers to, through helpers of the notebook, is read too.
        forbidden: dotted names that may not be used, such as ``"keras.layers.MultiHeadAttention"``.
        no_loops: whether Python loops, recursion and functions that hide a loop are ruled out. What cannot be read
            then breaks the rule: text that is run as code, names from outside of the notebook and its libraries.
    """
    forbidden = {_canonical(each) for each in forbidden}
    if not (forbidden or no_loops) or not cells:
        return []
    try:
        answer = _Answer(cells, name)
        if no_loops:
            answer.follow(each for each in answer.everything if each.writes)
    except sources.TooLarge:
        return [f"The code around `{name}` is too tangled to be read, so its rules cannot be checked."]
    used = answer.names()
    found = [_sentence(each) for each in sorted(forbidden & used)]
    if answer.unreadable:
        found.append(f"The cell with `{min(answer.unreadable)}` cannot be read, so its rules cannot be checked.")
    elif no_loops and (why := _looping(answer, used)):
        found.append(why)
    return found


def _looping(answer: _Answer, used: set[str]) -> str | None:
    """Return how an answer that has to do without loops may loop all the same."""
    words = {word for each in answer.reached for word in each.words}
    if any(each.loops for each in answer.reached):
        return "This exercise asks for no Python loop: neither `for`, `while` nor a comprehension."
    if looping := (used & LOOPING_CALLS) | (words & _LOOPING_METHODS):
        return f"`{max(looping, key=len)}` hides a loop; this exercise asks for whole-array operations."
    if any(each.recursive for each in answer.reached) or _has_circle(answer.arrows):
        return "A function that calls itself is a loop too; this exercise asks for whole-array operations."
    if hiding := (used & _HIDING) | (words & _HIDING_METHODS):
        return f"`{min(hiding)}` hides what is done; this exercise asks for whole-array operations, written out."
    imported = {full for each in answer.reached for full in (*each.imports.values(), *each.stars)}
    if foreign := {full for full in imported if full.partition(".")[0] not in _LIBRARIES}:
        return f"`{min(foreign)}` is not written in the notebook, so the rule cannot be checked: write it there."
    if not answer.explained:
        return f"No cell that can be read defines `{min(answer.unknown)}`, so the rule cannot be checked."
    return None


@contextlib.contextmanager
def guard(forbidden: Iterable[str]) -> Iterator[None]:
    """Stop calls of the `forbidden` dotted names while the block runs, by raising `ForbiddenCall`.

    Classes are stopped when they are built and when a layer made of them is called; functions wherever they were taken
    from their module before. Names whose module is not to be had here are passed over.
    """
    with contextlib.ExitStack() as stack:
        for name in forbidden:
            path, _, attribute = name.rpartition(".")
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


def _sentence(name: str) -> str:
    return f"`{name}` may not do the work of this exercise: write it yourself."


def _stopper(name: str, original: Any) -> Any:
    def stop(*_: Any, **__: Any) -> Any:
        raise ForbiddenCall(_sentence(name))

    with contextlib.suppress(ValueError, TypeError):
        stop.__signature__ = _signature(original)  # Keras reads the signature before it calls
    return stop


@functools.cache  # this and the next: a guard goes up before each case
def _signature(function: Any) -> inspect.Signature:
    return inspect.signature(function)


@functools.cache
def _stopping_code(name: str, variables: tuple[str, ...]) -> CodeType:
    """What a function with these free variables does instead of its work, for those who kept the function itself."""
    text = f"from coursekit.rules import ForbiddenCall\n    raise ForbiddenCall({_sentence(name)!r})"
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

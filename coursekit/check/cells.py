"""Reads the code cells of a notebook as IPython does, and says what each statement does to names. Nothing is run.

No source takes long to read, however it is made: there are limits for one cell and for a whole notebook.
"""

from __future__ import annotations

import ast
import contextlib
import copy
import re
import threading
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

MAX_CHARACTERS = 200_000
MAX_EFFORT = 20_000  # of one cell, see `measure_effort`; the longest cell of the course takes about 1,000
MAX_NOTEBOOK_EFFORT = 100_000  # more than an honest notebook's by a factor of five

PYTHON_MAGICS = frozenset({"capture", "debug", "prun", "time", "timeit"})  # what follows them is run as Python
_HARMLESS_MAGICS = frozenset({
    "autoreload", "bash", "cat", "cd", "colors", "conda", "config", "env", "html", "javascript", "latex", "load_ext",
    "ls", "lsmagic", "magic", "markdown", "matplotlib", "mkdir", "pfile", "pinfo", "pinfo2", "pip", "precision",
    "psearch", "pwd", "reload_ext", "sh", "svg", "system", "sx", "tensorboard", "uv", "who", "whos", "writefile",
    "xmode",
})  # fmt: skip
_NESTED_MAGICS = 4
_TOKEN = re.compile(r"\w+|[^\w\s]")
# A blank is `[^\S\n]`: `^\s*` would begin at every empty line and go on to the last one.
_SPECIAL = re.compile(r"^[^\S\n]*(?:[%!?/,;]|>>>|In \[)|=[ \t]*[%!]|\?[ \t]*$", re.MULTILINE)
_PROMPT = re.compile(r"In \[\d+\]: ")  # valid Python, and to IPython something to take away
_OPTION = re.compile(r"[ \t]*--?[a-zA-Z][\w-]*(?:=\S+|[ \t]+\d+(?=[ \t]))?(?=[ \t])")
_LONG_WORD = re.compile(r"(?<![\w.*\[\]-])[\w.*\[\]-]{1000}")
# Python 3.11 reads what follows blanks again after each blank, if it is no token: 3,000 take seconds.
_LONG_BLANK = re.compile(r"(?<![^\S\n])[^\S\n]{300}")
_DEFINITION = re.compile(r"^(?:async[ \t]+def|def|class)[ \t]+(\w+)", re.MULTILINE)
_ASSIGNMENT = re.compile(r"^(\w+)[ \t]*(?::[^=\n]+)?=(?!=)", re.MULTILINE)
_one_at_a_time = threading.Lock()

# They run or fetch what is not written in the cell, so that nobody can say what it is; these define names as well.
WRITING = frozenset({"exec", "eval", "globals", "__main__"})
WRITING_METHODS = frozenset({"run_cell", "run_cell_async", "run_code", "ex", "user_ns", "user_global_ns", "__main__"})
IMPORTING = frozenset({"__import__", "import_module"})  # they import what a text names
_WRITING_WORD = re.compile(rf"\b(?:{'|'.join(sorted(WRITING | WRITING_METHODS))})\b")
_LONGEST_PATH = 8  # parts of a dotted name that is looked at
_SHORT = 5_000  # characters of a cell that is remembered

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_LOOPS = (ast.For, ast.While, ast.AsyncFor, *_COMPREHENSIONS)
_CERTAIN = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Assign, ast.Import, ast.ImportFrom)


class NotPython(Exception):
    """IPython cannot run the cell either: it defines nothing."""


class TooLarge(Exception):
    """The cell takes more effort to read than it gets. IPython may be able to run it."""


# -- a cell as a syntax tree -------------------------------------------------------------------------------------------


@lru_cache(maxsize=256)  # most cells are the release's, and each is asked for several times
def measure_effort(source: str) -> int:
    """Return how many words and signs have to be looked at to read a cell.

    IPython reads a cell again after each line of its own syntax that it has translated.

    Raises:
        TooLarge: more than `MAX_EFFORT`, or more than `MAX_CHARACTERS`.
    """
    if len(source) > MAX_CHARACTERS:
        raise TooLarge
    special = sum(1 for _ in _SPECIAL.finditer(source))
    words = len(_TOKEN.findall(source)) * (1 + special)
    if words > MAX_EFFORT or (special and _LONG_WORD.search(source)):
        raise TooLarge
    return words


def fit_into_effort(sources: Iterable[str]) -> list[bool]:
    """Say of each cell whether it is read, where all together may take `MAX_NOTEBOOK_EFFORT`.

    Cells are taken in their order until the effort is used up. One that is too large by itself is never read, and
    takes nothing from the others.
    """
    left = MAX_NOTEBOOK_EFFORT
    is_read = []
    for source in sources:
        try:
            left -= measure_effort(source)
            is_read.append(left >= 0)
        except TooLarge:
            is_read.append(False)
    return is_read


def parse(source: str, _depth: int = 0) -> ast.Module:
    """Return the syntax tree of what IPython makes of a cell.

    A line of IPython's own syntax becomes a call of ``get_ipython()``; what a magic at the top level of the cell runs
    as Python, such as the body of `%%time`, stands in its place.

    Raises:
        NotPython: IPython cannot run the cell.
        TooLarge: see `measure_effort`; or the source is nested too deeply for Python's own limits.
    """
    measure_effort(source)
    try:
        tree = _parse_ipython(source) if _PROMPT.search(source) else parse_plain(source)
    except NotPython:  # other valid Python means the same to IPython, which takes a second to import
        tree = _parse_ipython(source)
    body: list[ast.stmt] = []
    for statement in tree.body:
        inner = _find_magic_body(statement.value) if isinstance(statement, ast.Expr) else None
        if inner is None or _depth == _NESTED_MAGICS:
            body.append(statement)
            continue
        try:
            body.extend(parse(inner, _depth + 1).body)
        except NotPython:
            body.append(statement)
    tree.body = body
    return tree


def parse_plain(source: str) -> ast.Module:
    """Return the syntax tree of plain Python, however long it is; raises as `parse` does."""
    with _silence_warnings():
        try:
            return ast.parse(source)
        except SyntaxError as error:
            raise NotPython(f"{error.msg}, line {error.lineno}") from None
        except ValueError as error:
            raise NotPython(str(error)) from None
        except (RecursionError, MemoryError):
            raise TooLarge from None


def guess_names(source: str) -> frozenset[str]:
    """Return the names that an unreadable source seems to define, by the definitions that begin a line."""
    return frozenset(_DEFINITION.findall(source)) | frozenset(_ASSIGNMENT.findall(source))


def _parse_ipython(source: str) -> ast.Module:
    if _LONG_BLANK.search(source):
        raise TooLarge
    try:
        text = _translate(source)
    except (RecursionError, MemoryError):
        raise TooLarge from None
    except Exception as error:  # of a dozen kinds; IPython does not run the cell either
        raise NotPython(f"{type(error).__name__}: {error}") from None
    try:
        return parse_plain(text)
    except NotPython:
        lines = text.strip().splitlines()
        if len(lines) != 1 or lines[0].partition(" ")[0] not in PYTHON_MAGICS:
            raise
        return parse_plain(_translate(f"%{lines[0]}"))  # in one line, IPython takes the sign for granted


def _translate(source: str) -> str:
    from IPython.core.inputtransformer2 import TransformerManager

    with _silence_warnings():
        return TransformerManager().transform_cell(source)


@contextlib.contextmanager
def _silence_warnings() -> Iterator[None]:
    """Hide warnings about the cell. One thread at a time: filters of warnings belong to the whole process."""
    with _one_at_a_time, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _find_magic_body(node: ast.AST) -> str | None:
    """Return the text that a call of a magic runs as Python, None for any other expression."""
    match node:
        case ast.Call(
            func=ast.Attribute(attr="run_line_magic" | "run_cell_magic"),
            args=[ast.Constant(value=str(name)), *_, ast.Constant(value=str(body))],
        ) if name in PYTHON_MAGICS:
            return _drop_options(body)
    return None


def _drop_options(line: str) -> str:
    """Return what follows the options of a magic, such as `-n 10 -r 3`. One after the other: no way back is tried."""
    end = 0
    while option := _OPTION.match(line, end):
        end = option.end()
    return line[end:].lstrip(" \t") if end else line


# -- what its statements do to names -----------------------------------------------------------------------------------


@dataclass
class Statement:
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
        means: (name, dotted name) for each import, however many there are of one name.
        bare: names that are used by themselves, and not for an attribute alone.
        fetched: modules that are imported by text, "" where the text is not written out.
        certain: whether it binds its names whatever happens: a definition, an assignment or an import, in no block.
        defines: whether a function or a class is defined in it.
        loops: whether it holds a loop or a comprehension.
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
    means: set[tuple[str, str]] = field(default_factory=set)
    bare: set[str] = field(default_factory=set)
    fetched: set[str] = field(default_factory=set)
    certain: bool = False
    defines: bool = False
    loops: bool = False
    runs: str = ""
    text: str | None = None

    def mentions(self, name: str) -> bool:
        """Whether the name is a word of the source that cannot be read."""
        text = self.text or ""
        return name in text and re.search(rf"\b{re.escape(name)}\b", text) is not None

    @property
    def writes(self) -> bool:
        """Whether it may define names that are not written in it."""
        if self.text is not None:
            return _WRITING_WORD.search(self.text) is not None
        written = {name.removeprefix("builtins.") for name in self.dotted}
        return not (WRITING.isdisjoint(written) and WRITING_METHODS.isdisjoint(self.words))


Cell = list[Statement]


def read_cells(sources: Sequence[str]) -> list[Cell]:
    """Return what the rules have to know of each code cell. No syntax tree is kept.

    All cells together get `MAX_NOTEBOOK_EFFORT`, the last ones first.
    """
    is_read = fit_into_effort(reversed(sources))[::-1]
    return [_read(source) if within else [_leave(source)] for source, within in zip(sources, is_read, strict=True)]


def _read(source: str) -> Cell:
    cell = _read_short_cell(source) if len(source) < _SHORT else _read_cell(source)
    return [copy.copy(statement) for statement in cell]  # the same source can stand in two cells


@lru_cache(maxsize=128)
def _read_short_cell(source: str) -> Cell:
    """Read a short cell, and remember it: the release's cells are the same in all submissions."""
    return _read_cell(source)


def _read_cell(source: str) -> Cell:
    try:
        tree = parse(source)
    except NotPython:
        return [Statement(binds=set(guess_names(source)), text="")]
    except TooLarge:
        return [_leave(source)]
    return [_Reader().read(node) for node in tree.body]


def _leave(source: str) -> Statement:
    """Return what is known about a cell that is not read: the names that it seems to define."""
    return Statement(binds=set(guess_names(source)), text=source)


@dataclass(frozen=True)
class _Scope:
    """Where a piece of code stands: names bound around it, and whether it is in a function."""

    hidden: frozenset[str] = frozenset()
    inside: bool = False
    private: bool = False  # what is bound here is not the notebook's: in a function, in a class


class _Reader:
    """Reads one statement. Nesting is walked with a list, not by recursion: a source can be nested very deeply."""

    def __init__(self) -> None:
        self.said = Statement()
        self.bases: set[int] = set()  # names of which an attribute is taken
        self.waiting: list[tuple[ast.AST, _Scope]] = []

    def read(self, node: ast.stmt) -> Statement:
        self.said.certain = isinstance(node, _CERTAIN)
        self.waiting.append((node, _Scope()))
        while self.waiting:
            self._read_node(*self.waiting.pop())
        return self.said

    def _read_node(self, node: ast.AST, scope: _Scope) -> None:
        said = self.said
        said.loops |= isinstance(node, _LOOPS)
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                self._read_function(node, scope)
                return
            case ast.ClassDef():
                said.defines = True
                self._bind(node.name, scope)
                scope = replace(scope, private=True)
            case ast.Name(id=name, ctx=ast.Load()):
                self._load(name, scope)
                if id(node) not in self.bases and name not in scope.hidden:
                    said.bare.add(name)
            case ast.Name(id=name):
                self._bind(name, scope)
            case ast.Attribute():
                self._read_attribute(node, scope)
            case ast.Subscript(ctx=ast.Store() | ast.Del()):
                self._change(node, scope)
            case ast.Call():
                self._read_call(node, scope)
            case ast.Import() | ast.ImportFrom():
                self._read_import(node, scope)
            case ast.Global(names=names):
                said.changes.update(names)
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                self._bind(name, scope)
            case ast.AugAssign(target=ast.Name(id=name)):
                self._load(name, scope)
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name)))) if not scope.inside:
                said.touches.add(name)
        if isinstance(node, _COMPREHENSIONS):
            targets = [part for generator in node.generators for part in ast.walk(generator.target)]
            scope = replace(scope, hidden=scope.hidden | {part.id for part in targets if isinstance(part, ast.Name)})
        self.waiting.extend((child, scope) for child in ast.iter_child_nodes(node))

    def _read_function(self, node: Function, scope: _Scope) -> None:
        """Defaults and decorators are looked up where the function is made, its body where it runs."""
        outside: list[ast.AST | None] = [*node.args.defaults, *node.args.kw_defaults]
        outside += [argument.annotation for argument in _list_arguments(node)]
        if not isinstance(node, ast.Lambda):
            self.said.defines = True
            self._bind(node.name, scope)
            outside += [*node.decorator_list, node.returns]
        self.waiting.extend((part, scope) for part in outside if part is not None)
        inner = _Scope(scope.hidden | _find_bound_names(node), True, True)
        body = [node.body] if isinstance(node, ast.Lambda) else node.body
        self.waiting.extend((statement, inner) for statement in body)

    def _bind(self, name: str, scope: _Scope) -> None:
        if not scope.private and name not in scope.hidden:
            self.said.binds.add(name)

    def _load(self, name: str, scope: _Scope) -> None:
        if name in scope.hidden:
            return
        (self.said.later if scope.inside else self.said.now).add(name)
        self.said.dotted.add(name)

    def _read_attribute(self, node: ast.Attribute, scope: _Scope) -> None:
        self.said.words.add(node.attr)
        self.bases.add(id(node.value))
        self._note_path(node.value, [node.attr], scope)
        if not isinstance(node.ctx, ast.Load):
            self._change(node, scope)

    def _note_path(self, base: ast.AST, parts: list[str], scope: _Scope) -> None:
        while isinstance(base, ast.Attribute) and len(parts) < _LONGEST_PATH:
            parts.append(base.attr)
            base = base.value
        if isinstance(base, ast.Name) and base.id not in scope.hidden:
            self.said.dotted.add(".".join([base.id, *reversed(parts)]))

    def _change(self, node: ast.AST, scope: _Scope) -> None:
        while isinstance(node, (ast.Attribute, ast.Subscript)):
            node = node.value
        if isinstance(node, ast.Name) and node.id not in scope.hidden:
            self.said.changes.add(node.id)

    def _read_call(self, node: ast.Call, scope: _Scope) -> None:
        match node:
            case ast.Call(func=ast.Name(id="getattr"), args=[value, ast.Constant(value=str(name)), *_]):
                self.said.words.add(name)
                self._note_path(value, [name], scope)
                node.func = ast.Constant(value=None)  # it is written out: `getattr` hides nothing here
            case ast.Call(func=ast.Name(id="getattr" | "vars"), args=[value, *_]):
                self._note_path(value, ["__dict__"], scope)
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=args) if name in IMPORTING:
                named = args[0].value if args and isinstance(args[0], ast.Constant) else ""
                self.said.fetched.add(named if isinstance(named, str) else "")
            case ast.Call(func=ast.Name(id="setattr"), args=[value, *_]):
                self._change(value, scope)
            case ast.Call(func=ast.Attribute(attr="run_line_magic" | "run_cell_magic"), args=[name, *_]):
                self._read_magic(node, name.value if isinstance(name, ast.Constant) else "", scope)

    def _read_magic(self, node: ast.Call, name: Any, scope: _Scope) -> None:
        inner = _find_magic_body(node)
        if inner is not None:
            with contextlib.suppress(NotPython, TooLarge):
                self.waiting.extend((statement, scope) for statement in parse(inner).body)
                return
        if name not in _HARMLESS_MAGICS:
            self.said.runs = f"%{name}"

    def _read_import(self, node: ast.Import | ast.ImportFrom, scope: _Scope) -> None:
        for item in node.names:
            root = item.name.partition(".")[0]
            if isinstance(node, ast.Import):
                name, full = item.asname or root, item.name if item.asname else root
            else:
                name, full = item.asname or item.name, f"{'.' * node.level}{node.module or ''}.{item.name}"
            if name == "*" and isinstance(node, ast.ImportFrom):
                self.said.stars.append(node.module or "")
                continue
            self.said.imports[name] = full
            self.said.means.add((name, full))
            self._bind(name, scope)


def _list_arguments(function: Function) -> list[ast.arg]:
    """All parameters of a function, those with stars included."""
    given = function.args
    every = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    return [argument for argument in every if argument is not None]


def _find_bound_names(function: Function) -> frozenset[str]:
    """The names that a function binds itself: parameters and what it assigns, without what it says is from outside.

    Imports are left visible: they say what a name stands for.
    """
    names, outer = {argument.arg for argument in _list_arguments(function)}, set()
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
            case ast.Global(names=others) | ast.Nonlocal(names=others):
                outer.update(others)
            case ast.Lambda():
                continue
        if isinstance(node, _COMPREHENSIONS):
            # Its variables are its own; what `:=` assigns in it belongs to the function.
            names.update(inner.target.id for inner in ast.walk(node) if isinstance(inner, ast.NamedExpr))
            continue
        waiting.extend(ast.iter_child_nodes(node))
    return frozenset(names - outer)

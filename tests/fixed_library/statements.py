"""Reads what each statement of a notebook does to names, and what it refers to; nothing of it is run."""

from __future__ import annotations

import ast
import contextlib
import copy
import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from graphlib import CycleError, TopologicalSorter
from typing import Any, TypeGuard

from coursekit import source as sources

# They run or fetch what is not written in the cell, so that nobody can say what it is; these define names as well.
WRITING = frozenset({"exec", "eval", "compile", "globals", "__main__"})
WRITING_METHODS = frozenset({"run_cell", "run_cell_async", "run_code", "ex", "user_ns", "user_global_ns", "__main__"})
_HARMLESS_MAGICS = frozenset({
    "autoreload", "bash", "cat", "cd", "colors", "conda", "config", "env", "html", "javascript", "latex", "load_ext",
    "ls", "lsmagic", "magic", "markdown", "matplotlib", "mkdir", "pfile", "pinfo", "pinfo2", "pip", "precision",
    "psearch", "pwd", "reload_ext", "sh", "svg", "system", "sx", "tensorboard", "uv", "who", "whos", "writefile",
    "xmode",
})  # fmt: skip
_WRITING_WORD = re.compile(rf"\b(?:{'|'.join(sorted(WRITING | WRITING_METHODS))})\b")
_LONGEST_PATH = 8  # parts of a dotted name that is looked at
_SHORT = 5_000  # characters of a cell that is remembered

_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_LOOPS = (ast.For, ast.While, ast.AsyncFor, *_COMPREHENSIONS)


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
        return [Statement(binds=set(sources.guessed_names(text)), text="")]
    except sources.TooLarge:
        return [_unread(text)]
    return [_Reader().statement(node) for node in tree.body]


def _unread(text: str) -> Statement:
    return Statement(binds=set(sources.guessed_names(text)), text=text)


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
        self.found = Statement()
        self.calls: dict[str, set[str]] = {}  # of the inner functions, by name
        self.waiting: list[tuple[ast.AST, _Scope]] = []

    def statement(self, node: ast.stmt) -> Statement:
        self.waiting.append((node, _Scope()))
        while self.waiting:
            self._read_node(*self.waiting.pop())
        self.found.recursive = has_circle(self.calls)
        return self.found

    def _read_node(self, node: ast.AST, scope: _Scope) -> None:
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
            if name == "*" and isinstance(node, ast.ImportFrom):
                self.found.stars.append(node.module or "")
                continue
            self.found.imports[name] = full
            self._bind(name, scope)


def _is_name(node: ast.AST) -> TypeGuard[ast.Name]:
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


def has_circle(arrows: Mapping[Any, Iterable[Any]]) -> bool:
    """Say whether one comes back to where one was by following the arrows."""
    try:
        TopologicalSorter(arrows).prepare()
    except CycleError:
        return True
    return False

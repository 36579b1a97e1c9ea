"""What may not do the work of an exercise: names looked for in the source, and calls stopped while it runs."""

from __future__ import annotations

import ast
import contextlib
import functools
import importlib
import inspect
from collections.abc import Iterable, Iterator, Mapping
from types import CodeType
from typing import Any

LOOPING_CALLS = frozenset({
    "map", "exec", "eval", "functools.reduce", "numpy.vectorize", "numpy.apply_along_axis", "numpy.fromfunction",
    "tensorflow.map_fn", "tensorflow.while_loop", "tensorflow.vectorized_map", "tensorflow.foldl", "tensorflow.scan",
    "keras.ops.map", "keras.ops.scan", "keras.ops.fori_loop", "keras.ops.while_loop", "keras.ops.vectorized_map",
    "keras.ops.vectorize",
})  # fmt: skip


class ForbiddenCall(Exception):
    """A call that the exercise asks the student to write."""


def _canonical(name: str) -> str:
    for alias, full in (("tf.", "tensorflow."), ("np.", "numpy.")):
        if name.startswith(alias):
            name = full + name[len(alias) :]
    for prefix in ("tensorflow.keras.", "tf_keras."):
        if name.startswith(prefix):
            name = "keras." + name[len(prefix) :]
    return name


class _Names(ast.NodeVisitor):
    """Collects what a piece of code refers to: bare names, dotted names, and whether it loops."""

    def __init__(self, imported: Mapping[str, str]):
        self.imported = imported
        self.bare: set[str] = set()
        self.dotted: set[str] = set()
        self.loops = False
        self.hidden: frozenset[str] = frozenset()

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> None:
        """What a function binds itself hides the notebook's names, while its body is read."""
        before = self.hidden
        self.hidden = before | _bound(node)
        self.generic_visit(node)
        self.hidden = before

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = _function

    def visit_Name(self, node: ast.Name) -> None:
        if node.id in self.hidden:
            return
        self.bare.add(node.id)
        self.dotted.add(_canonical(self.imported.get(node.id, node.id)))

    def visit_Attribute(self, node: ast.Attribute) -> None:
        parts: list[str] = []
        base: ast.AST = node
        while isinstance(base, ast.Attribute):
            parts.append(base.attr)
            base = base.value
        if isinstance(base, ast.Name) and base.id not in self.hidden:
            root = self.imported.get(base.id, base.id)
            self.dotted.add(_canonical(".".join([root, *reversed(parts)])))
        self.generic_visit(node)

    def _loop(self, node: ast.AST) -> None:
        self.loops = True
        self.generic_visit(node)

    visit_For = visit_While = visit_AsyncFor = _loop
    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _loop


def _bound(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> frozenset[str]:
    """The names that a function binds: its parameters and what it assigns, without what it declares global."""
    names, outer = set(), set()
    for node in ast.walk(function):
        if isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            names.add(node.id)
        elif isinstance(node, ast.Global):
            outer.update(node.names)
    return frozenset(names - outer)


@functools.lru_cache(maxsize=64)  # one notebook is read once for each of its exercises
def _imports(tree: ast.Module) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for item in node.names:
                root = item.name.partition(".")[0]
                found[item.asname or root] = item.name if item.asname else root
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for item in node.names:
                found[item.asname or item.name] = f"{node.module}.{item.name}"
    return found


@functools.lru_cache(maxsize=64)
def _definitions(tree: ast.Module) -> Mapping[str, list[ast.stmt]]:
    """What each top-level name of a cell stands for: functions, classes, assignments."""
    found: dict[str, list[ast.stmt]] = {}
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.setdefault(node.name, []).append(node)
            continue
        for leaf in ast.walk(node):
            if isinstance(leaf, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                found.setdefault(leaf.name, []).append(node)
            elif isinstance(leaf, ast.Name) and isinstance(leaf.ctx, ast.Store):
                found.setdefault(leaf.id, []).append(node)
    return found


def parse_cells(sources: Iterable[str]) -> list[ast.Module]:
    """Parse notebook cells, leaving out IPython's `%` and `!` lines and cells that are not valid Python."""
    trees = []
    for source in sources:
        plain = "\n".join("" if line.lstrip().startswith(("%", "!", "?")) else line for line in source.splitlines())
        with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):
            trees.append(ast.parse(plain))
    return trees


def violations(
    trees: list[ast.Module], name: str, *, forbidden: Iterable[str] = (), no_loops: bool = False
) -> list[str]:
    """Return one sentence for each rule that the code behind `name` breaks.

    Args:
        trees: the parsed code cells of the notebook, from `parse_cells`.
        name: the exercise; the code that it refers to, through helpers of the notebook, is read too.
        forbidden: dotted names that may not be used, such as ``"keras.layers.MultiHeadAttention"``.
        no_loops: whether Python loops and functions that hide one are ruled out.
    """
    imported: dict[str, str] = {}
    definitions: dict[str, list[ast.stmt]] = {}
    for tree in trees:  # the last cell that defines a name counts
        imported.update(_imports(tree))
        definitions.update(_definitions(tree))
    seen: set[str] = set()
    waiting = [name]
    used: set[str] = set()
    loops = False
    while waiting:
        current = waiting.pop()
        if current in seen:
            continue
        seen.add(current)
        for node in definitions.get(current, []):
            names = _Names(imported)
            names.visit(node)
            used |= names.dotted
            loops = loops or names.loops
            waiting.extend(names.bare & definitions.keys())
    found = [_sentence(each) for each in sorted({_canonical(each) for each in forbidden} & used)]
    if no_loops and loops:
        found.append("This exercise asks for no Python loop: neither `for`, `while` nor a comprehension.")
    elif no_loops and used & LOOPING_CALLS:
        found.append(f"`{min(used & LOOPING_CALLS)}` hides a loop; this exercise asks for whole-array operations.")
    return found


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

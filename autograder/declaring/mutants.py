"""Mutants of a function: its text with one step changed, in every way that an operator knows.

`mutants` tries all operators of `autograder.declaring.operators` at all nodes of a text, one change at a time.
"""

from __future__ import annotations

import ast
import itertools
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from autograder.declaring.operators import Place, binds, changes_at


@dataclass(frozen=True)
class Mutant:
    """A text with one change.

    Attributes:
        kind: what kind of change it is, a key of `coursekit.changes.PHRASES`.
        detail: what its sentence names besides, such as ``softmax``.
        place: the step in which it is: the function's name, or what the changed statement assigns; may be empty.
        text: the changed text.
    """

    kind: str
    detail: str
    place: str
    text: str

    @property
    def key(self) -> str:
        """Eight digits that follow from the text alone."""
        return f"{zlib.crc32(self.text.encode()):08x}"


def mutants(text: str, *, inner: bool = False) -> list[Mutant]:
    """Every text that differs from `text`, the source of a function or class, by one change; each once.

    Args:
        text: Python source, as `ast.unparse` prints it.
        inner: whether the function is a helper of another one: its own name is the place of each change then.
    """
    tree = ast.parse(text)
    original = ast.unparse(tree)
    found: dict[str, Mutant] = {}
    for place in _places(tree):
        for kind, detail, new in changes_at(place):
            with_change = place.replaced(new, tree)
            if with_change != original and _is_python(with_change):
                where = place.function if inner else place.step
                found.setdefault(with_change, Mutant(kind, detail, where, with_change))
    return list(found.values())


def in_turns(found: Sequence[Mutant]) -> list[Mutant]:
    """Ignored arguments, then the first of each other kind, then the second of each: no kind crowds out the others."""
    by_kind: dict[str, list[Mutant]] = {}
    for mutant in found:
        by_kind.setdefault(mutant.kind, []).append(mutant)
    ignored = by_kind.pop("ignored", [])
    rounds = itertools.zip_longest(*by_kind.values())
    return ignored + [mutant for turn in rounds for mutant in turn if mutant is not None]


def _is_python(text: str) -> bool:
    try:
        return bool(text) and ast.parse(text) is not None
    except SyntaxError:
        return False


_SILENT = (ast.Raise, ast.Assert, ast.Import, ast.ImportFrom, ast.JoinedStr, ast.Global, ast.Nonlocal)


def _places(tree: ast.Module) -> Iterator[Place]:
    """Every node at which something can go wrong, in the order of the text; not what only speaks to a reader."""

    def below(node: ast.AST, function: str, step: str, arguments: tuple[str, ...], bound: frozenset[str]):
        for field, value in ast.iter_fields(node):
            if field in ("decorator_list", "annotation", "returns", "ctx", "type_params", "bases"):
                continue
            known = bound
            for index, child in enumerate(value if isinstance(value, list) else [value]):
                if not isinstance(child, ast.AST) or isinstance(child, _SILENT) or _is_docstring(child):
                    continue
                inside, takes, where = function, arguments, step
                if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                    takes = tuple(argument.arg for argument in _all_arguments(child.args) if argument.arg != "self")
                    inside = function or child.name
                    known = known | set(takes)
                elif isinstance(child, ast.stmt):
                    where = _assigned(child) or step
                place = Place(
                    child, node, field, index if isinstance(value, list) else None, inside, where, takes, known
                )
                yield place
                yield from below(child, inside, where, takes, known)
                if isinstance(child, ast.Assign | ast.AugAssign | ast.For | ast.AnnAssign):
                    known = known | {part.id for part in ast.walk(child) if isinstance(part, ast.Name) and binds(part)}

    yield from below(tree, "", "", (), frozenset())


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _all_arguments(arguments: ast.arguments) -> list[ast.arg]:
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]


def _assigned(statement: ast.stmt) -> str:
    target = statement.targets[0] if isinstance(statement, ast.Assign) else getattr(statement, "target", None)
    if isinstance(target, ast.Attribute):
        return target.attr
    return target.id if isinstance(target, ast.Name) and len(target.id) > 2 else ""

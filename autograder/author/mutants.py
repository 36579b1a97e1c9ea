"""Mutants of a function: its text with one step changed, in every way that an operator knows.

`make_mutants` tries all operators of `autograder.author.operators` at all nodes of a text, one change at a time.
"""

from __future__ import annotations

import ast
import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from autograder.author.operators import Place, binds, changes_at


@dataclass(frozen=True)
class Mutant:
    """A text with one change.

    Attributes:
        kind: what kind of change it is, such as ``axis``.
        original: the text before the change.
        text: the changed text.
    """

    kind: str
    original: str
    text: str

    @property
    def label(self) -> str:
        """The kind, and the changed lines as they stand after the change."""
        after = Counter(self.text.splitlines()) - Counter(self.original.splitlines())
        return f"{self.kind}: {' / '.join(line.strip() for line in after) or 'a line is left out'}"


def make_mutants(source: str) -> list[Mutant]:
    """Every text that differs from `source`, a function or class in Python, by one change; each once."""
    tree = ast.parse(source)
    original = ast.unparse(tree)
    mutants: dict[str, Mutant] = {}
    for place in _find_places(tree):
        for kind, new in changes_at(place):
            text = place.replaced(new, tree)
            if text != original and _is_python(text):
                mutants.setdefault(text, Mutant(kind, original, text))
    return list(mutants.values())


def take_turns(mutants: Sequence[Mutant]) -> list[Mutant]:
    """Ignored arguments, then the first of each other kind, then the second of each: no kind crowds out the others."""
    by_kind: dict[str, list[Mutant]] = {}
    for mutant in mutants:
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


def _find_places(tree: ast.Module) -> Iterator[Place]:
    """Return every node that can be wrong, in the order of the text, without docstrings and annotations."""

    def below(node: ast.AST, arguments: tuple[str, ...], bound: frozenset[str]) -> Iterator[Place]:
        for field, value in ast.iter_fields(node):
            if field in ("decorator_list", "annotation", "returns", "ctx", "type_params", "bases"):
                continue
            known = bound
            for index, child in enumerate(value if isinstance(value, list) else [value]):
                if not isinstance(child, ast.AST) or isinstance(child, _SILENT) or _is_docstring(child):
                    continue
                takes = arguments
                if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                    takes = tuple(argument.arg for argument in _list_arguments(child.args) if argument.arg != "self")
                    known = known | set(takes)
                yield Place(child, node, field, index if isinstance(value, list) else None, takes, known)
                yield from below(child, takes, known)
                if isinstance(child, ast.Assign | ast.AugAssign | ast.For | ast.AnnAssign):
                    known = known | {part.id for part in ast.walk(child) if isinstance(part, ast.Name) and binds(part)}

    yield from below(tree, (), frozenset())


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _list_arguments(arguments: ast.arguments) -> list[ast.arg]:
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]

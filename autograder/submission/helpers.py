"""Tells which of a student's own cells the answers build on."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from autograder.submission.names import defined_names, parse
from autograder.submission.repair import CellStep, ProbeStep

_WORD = re.compile(r"[^\W\d]\w*")
_MODULE_OR_FOLDER = re.compile(r"^[^\S\n]*%(?:%writefile|%file|run|cd|load|mkdir)\b", re.MULTILINE)


def helper_cells(steps: Sequence[CellStep | ProbeStep]) -> frozenset[int]:
    """Return the positions of the student's own cells that an answer may need, directly or through another of them.

    Such a cell binds a name that is a word of the answer's code, changes what such a name stands for, or writes a
    module. Words of strings count, for code may look a name up; those of comments and docstrings do not.
    """
    own = {at: step for at, step in enumerate(steps) if isinstance(step, CellStep) and not step.locked}
    words = {word for step in own.values() if step.exercise is not None for word in _words(step.source)}
    waiting = {at: _bound(step.source) for at, step in own.items() if step.exercise is None}
    helpers = {at for at in waiting if _MODULE_OR_FOLDER.search(own[at].source)}
    while more := {at for at, names in waiting.items() if at not in helpers and not names.isdisjoint(words)}:
        helpers |= more
        words.update(word for at in more for word in _words(own[at].source))
    return frozenset(helpers)


def _words(source: str) -> Iterator[str]:
    tree = parse(source)
    if tree is None:
        yield from _WORD.findall(source)
        return
    docstrings = {
        node.value for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        for _, field in () if node in docstrings else ast.iter_fields(node):
            for text in field if isinstance(field, list) else [field]:
                yield from _WORD.findall(text) if isinstance(text, str) else ()


def _bound(source: str) -> frozenset[str]:
    """Return the names that a cell binds or changes, imports included; none that it only times."""
    if source.lstrip().startswith("%%timeit"):
        return frozenset()
    names = set(defined_names(source))
    tree = parse(source)
    for node in ast.walk(tree) if tree is not None else ():
        match node:
            case ast.Import(names=imported) | ast.ImportFrom(names=imported):
                names.update(name.asname or name.name.partition(".")[0] for name in imported)
            case ast.Attribute(ctx=ast.Store()) | ast.Subscript(ctx=ast.Store()):
                while isinstance(node, ast.Attribute | ast.Subscript):
                    node = node.value
                names.update({node.id} if isinstance(node, ast.Name) else ())
    return frozenset(names)

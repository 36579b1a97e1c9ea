"""Reads code as what it does: names that a student chose, layout, comments and annotations say nothing."""

from __future__ import annotations

import ast
import builtins
import keyword
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from coursekit import cells as reading

_WORD = re.compile(r"\w+|[^\w\s]")
_PROSE = re.compile(r"\w+")
_KEPT_NAMES = frozenset(dir(builtins))
_IPYTHON_LINE = re.compile(r"^[^\S\n]*[%!?].*$", re.MULTILINE)
_PIECE = re.compile(r"^(?=[^\s)\]}])", re.MULTILINE)  # a line that begins a statement at the top level
MOST_PIECES = 2_000
MOST_LARGE = 3 * reading.MAX_CHARACTERS  # characters of a notebook's cells that are too large for grading
_PASSED_OVER = (ast.Load, ast.Store, ast.Del, ast.Expr, ast.Module, ast.alias)


class Token(NamedTuple):
    """A part of a cell, and the line in which it stands."""

    text: str
    line: int


def is_large(source: str) -> bool:
    """Whether a code cell takes more effort than grading gives it."""
    try:
        reading.measure_effort(source)
    except reading.TooLarge:
        return True
    return False


def affordable(sources: Iterable[str]) -> list[bool]:
    """Say of each code cell of a notebook whether it is read; the large ones may have `MOST_LARGE` together."""
    left, read = MOST_LARGE, []
    for source in sources:
        taken = min(len(source), reading.MAX_CHARACTERS) if is_large(source) else 0
        read.append(taken <= left)
        left -= taken if taken <= left else 0
    return read


def chosen_attributes(sources: Iterable[str]) -> frozenset[str]:
    """Return the names that a notebook's code gives to attributes of its own objects (`self.scale = …`)."""
    return frozenset(
        node.attr
        for source in sources
        for tree in _trees(source)[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
    )


def code_tokens(source: str, chosen: frozenset[str]) -> list[Token]:
    """Return a code cell as its syntax tree tells it, in the order of the text; see `read_code`."""
    return read_code(source, chosen)[0]


def read_code(source: str, chosen: frozenset[str]) -> tuple[list[Token], bool]:
    """Return the tokens of a code cell, and whether they are all of it.

    Variables, functions, parameters and the attributes in `chosen` lose their names; what belongs to Python or a
    library keeps them. Docstrings and annotations are left out, texts count as equal. A cell that is no Python is read
    word by word. Of one that is too large, the first `MAX_CHARACTERS` are read; where Python cannot read these in one
    go, the statements of them that it can read.
    """
    trees, whole = _trees(source)
    if trees or not whole:
        return [token for tree in trees for token in _of_tree(tree, chosen)], whole
    words = [
        Token(word if keyword.iskeyword(word) or not word.isidentifier() else "name", number)
        for number, line in enumerate(source.splitlines(), start=1)
        for word in _WORD.findall(line.partition("#")[0])
    ]
    return words, True


def _trees(source: str) -> tuple[list[ast.Module], bool]:
    """Return the syntax trees of a cell's parts, in most cases one, and whether nothing is left out."""
    try:
        return [reading.parse(source)], True
    except reading.NotPython:
        return [], True
    except reading.TooLarge:
        text = _IPYTHON_LINE.sub("", source[: reading.MAX_CHARACTERS])
    whole = len(source) <= reading.MAX_CHARACTERS
    try:
        return [reading.parse_plain(text)], whole
    except (reading.NotPython, reading.TooLarge):
        pieces = _PIECE.split(text)
    found, line, all_read = [], 0, whole and len(pieces) <= MOST_PIECES
    for piece in pieces[:MOST_PIECES]:
        try:
            found.append(ast.increment_lineno(reading.parse_plain(piece), line))
        except (reading.NotPython, reading.TooLarge):
            all_read = False
        line += piece.count("\n")
    return found, all_read


def prose_tokens(text: str) -> list[Token]:
    """Return the words of an answer in words, in small letters."""
    return [
        Token(word, number)
        for number, line in enumerate(text[: reading.MAX_CHARACTERS].casefold().splitlines(), start=1)
        for word in _PROSE.findall(line)
    ]


def _of_tree(tree: ast.Module, chosen: frozenset[str]) -> Iterator[Token]:
    """Walk with a list, not by recursion: students nest as deeply as they like."""
    pending: list[tuple[ast.AST, int]] = [(tree, 1)]
    while pending:
        node, line = pending.pop()
        line = getattr(node, "lineno", line)
        if not isinstance(node, _PASSED_OVER):
            yield Token(_named(node, chosen), line)
        if isinstance(node, ast.JoinedStr):
            continue
        inner = [child for child in _children(node) if not _says_nothing(child)]
        pending.extend((child, line) for child in reversed(inner))


def _children(node: ast.AST) -> Iterator[ast.AST]:
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "type_comment", "type_params"):
            continue
        if isinstance(value, ast.AST):
            yield value
        elif isinstance(value, list):
            yield from (child for child in value if isinstance(child, ast.AST))


def _says_nothing(node: ast.AST) -> bool:
    """Whether this is a docstring, or another text that stands alone."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _named(node: ast.AST, chosen: frozenset[str]) -> str:
    match node:
        case ast.Name(id=name):
            return name if name in _KEPT_NAMES else "name"
        case ast.Attribute(attr=name):
            return "attribute" if name in chosen else f".{name}"
        case ast.Constant(value=str() | bytes()) | ast.JoinedStr():
            return "text"
        case ast.Constant(value=bool() | int() | float() | complex() | None as value):
            return f"{type(value).__name__} {value if not isinstance(value, int) else value % 2**64}"
    return type(node).__name__

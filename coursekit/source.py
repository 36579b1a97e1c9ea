"""Reads the source of a notebook's cell as IPython reads it, within limits that no source can break."""

from __future__ import annotations

import ast
import re
import threading
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache

MAX_CHARACTERS = 200_000
MAX_EFFORT = 20_000  # of one cell, see `effort`; the longest cell of the course takes about 1,000
MAX_NOTEBOOK_EFFORT = 100_000  # more than an honest notebook's by a factor of five

PYTHON_MAGICS = frozenset({"capture", "debug", "prun", "time", "timeit"})  # what follows them is run as Python
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


class NotPython(Exception):
    """IPython cannot run the cell either: it defines nothing."""


class TooLarge(Exception):
    """The cell takes more effort to read than it gets. IPython may be able to run it."""


@lru_cache(maxsize=256)  # most cells are the release's, and each is asked for several times
def effort(source: str) -> int:
    """Return how many words and signs have to be looked at to read a cell.

    IPython reads a cell again after each line of its own syntax that it has translated.

    Raises:
        TooLarge: more than `MAX_EFFORT`, or more than `MAX_CHARACTERS`.
    """
    if len(source) > MAX_CHARACTERS:
        raise TooLarge
    special = sum(1 for _ in _SPECIAL.finditer(source))
    found = len(_TOKEN.findall(source)) * (1 + special)
    if found > MAX_EFFORT or (special and _LONG_WORD.search(source)):
        raise TooLarge
    return found


def within_effort(sources: Iterable[str]) -> list[bool]:
    """Say of each cell whether it is read, when all together may take `MAX_NOTEBOOK_EFFORT`; the first come first.

    A cell that is too large by itself is never read, and takes nothing from the others.
    """
    left = MAX_NOTEBOOK_EFFORT
    read = []
    for source in sources:
        try:
            left -= effort(source)
            read.append(left >= 0)
        except TooLarge:
            read.append(False)
    return read


def parse(source: str, _depth: int = 0) -> ast.Module:
    """Return the syntax tree of what IPython makes of a cell.

    A line of IPython's own syntax becomes a call of ``get_ipython()``; what a magic at the top level of the cell runs
    as Python, such as the body of `%%time`, stands in its place.

    Raises:
        NotPython: IPython cannot run the cell.
        TooLarge: see `effort`; or the source is nested too deeply for Python's own limits.
    """
    effort(source)
    try:
        tree = _translated(source) if _PROMPT.search(source) else parse_plain(source)
    except NotPython:  # other valid Python means the same to IPython, which takes a second to import
        tree = _translated(source)
    body: list[ast.stmt] = []
    for statement in tree.body:
        inner = magic_body(statement.value) if isinstance(statement, ast.Expr) else None
        if inner is None or _depth == _NESTED_MAGICS:
            body.append(statement)
            continue
        try:
            body.extend(parse(inner, _depth + 1).body)
        except NotPython:
            body.append(statement)
    tree.body = body
    return tree


def magic_body(node: ast.AST) -> str | None:
    """Return the text that a call of a magic runs as Python, None for any other expression."""
    match node:
        case ast.Call(
            func=ast.Attribute(attr="run_line_magic" | "run_cell_magic"),
            args=[ast.Constant(value=str(name)), *_, ast.Constant(value=str(body))],
        ) if name in PYTHON_MAGICS:
            return _without_options(body)
    return None


def _without_options(line: str) -> str:
    """Return what follows the options of a magic, such as `-n 10 -r 3`. One after the other: no way back is tried."""
    end = 0
    while option := _OPTION.match(line, end):
        end = option.end()
    return line[end:].lstrip(" \t") if end else line


def guessed_names(source: str) -> frozenset[str]:
    """Return the names that a source which cannot be read seems to define: by definitions that begin a line."""
    return frozenset(_DEFINITION.findall(source)) | frozenset(_ASSIGNMENT.findall(source))


@contextmanager
def _silent() -> Iterator[None]:
    """Without warnings about the cell; one thread at a time, for filters of warnings belong to the whole process."""
    with _one_at_a_time, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def parse_plain(source: str) -> ast.Module:
    """Return the syntax tree of plain Python, however long it is; raises as `parse` does."""
    with _silent():
        try:
            return ast.parse(source)
        except SyntaxError as error:
            raise NotPython(f"{error.msg}, line {error.lineno}") from None
        except ValueError as error:
            raise NotPython(str(error)) from None
        except (RecursionError, MemoryError):
            raise TooLarge from None


def _translated(source: str) -> ast.Module:
    if _LONG_BLANK.search(source):
        raise TooLarge
    try:
        text = _transformed(source)
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
        return parse_plain(_transformed(f"%{lines[0]}"))  # in one line, IPython takes it for granted


def _transformed(source: str) -> str:
    from IPython.core.inputtransformer2 import TransformerManager

    with _silent():
        return TransformerManager().transform_cell(source)

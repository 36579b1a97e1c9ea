"""Tells what a cell's source defines without running it, whatever state that source is in."""

from __future__ import annotations

import ast
import re
import warnings

MAX_PARSED_CHARACTERS = 200_000
_BODY_IS_PYTHON = {"time", "timeit", "capture", "prun"}
_MAGIC_LINE = re.compile(r"^(\s*)(?:[%!?]|[\w.]+\?{1,2}\s*$)")
_MAGIC_VALUE = re.compile(r"^([\w.,\s]+=\s*)[%!].*$")
_DEFINITION = re.compile(r"^(?:async[ \t]+def|def|class)[ \t]+(\w+)", re.MULTILINE)
_ASSIGNMENT = re.compile(r"^(\w+)[ \t]*(?::[^=\n]+)?=(?!=)", re.MULTILINE)
_TOO_DEEP = (SyntaxError, ValueError, RecursionError, MemoryError)


def parse(source: str) -> ast.Module | None:
    """Return the syntax tree of a cell, its IPython magics blanked out, or None where it is not Python or too long."""
    plain = _without_magics(source)
    if plain is None or len(plain) > MAX_PARSED_CHARACTERS:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(plain)
    except _TOO_DEEP:
        return None


def defined_names(source: str, *, guess: bool = True) -> frozenset[str]:
    """Return the names a cell binds at its top level: functions, classes and assigned variables.

    Blocks that Python runs in the same scope (`if`, `try`, `with`, loops) count. Where the source does not parse and
    `guess` is true, definitions that begin a line are found by pattern.
    """
    tree = parse(source)
    if tree is not None:
        names: set[str] = set()
        _collect(tree.body, names)
        return frozenset(names)
    plain = _without_magics(source) if guess else None
    if plain is None:
        return frozenset()
    return frozenset(_DEFINITION.findall(plain)) | frozenset(_ASSIGNMENT.findall(plain))


def checked_exercise(source: str) -> str | None:
    """Return NAME when a cell does nothing but `check("NAME")`, else None."""
    if "check" not in source or (tree := parse(source)) is None or len(tree.body) != 1:
        return None
    return _checked(tree.body[0])


def only_checks(source: str) -> bool:
    """Say whether a cell holds nothing but comments, magics, text and calls of `check` or `print`."""
    tree = parse(source)
    return tree is not None and all(_is_idle(statement) for statement in tree.body)


def _checked(statement: ast.stmt) -> str | None:
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Name(id="check"), args=[ast.Constant(value=str(name))])):
            return name
    return None


def _is_idle(statement: ast.stmt) -> bool:
    match statement:
        case ast.Pass() | ast.Expr(value=ast.Constant()):
            return True
        case ast.Expr(value=ast.Call(func=ast.Name(id="check" | "print"))):
            return True
    return False


def _without_magics(source: str) -> str | None:
    """Return the source with a statement in place of each magic; None where `%%bash` or its kin own the cell."""
    lines = source.split("\n")
    first = next((i for i, line in enumerate(lines) if line.strip()), None)
    if first is not None and lines[first].startswith("%%"):
        magic = re.match(r"%%\s*(\w*)", lines[first]).group(1)
        if magic not in _BODY_IS_PYTHON:
            return None
        lines[first] = ""
    for i, line in enumerate(lines):
        if "%" in line or "!" in line or "?" in line:
            line = _MAGIC_VALUE.sub(r"\1None", line)
            if indent := _MAGIC_LINE.match(line):
                line = indent.group(1) + "pass"
            lines[i] = line
    return "\n".join(lines)


def _collect(statements: list[ast.stmt], names: set[str]) -> None:
    """Add to `names` what the statements bind in their own scope; nesting is walked with a list, not by recursion."""
    pending: list[ast.AST] = list(statements)
    while pending:
        node = pending.pop()
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                names.add(node.name)
            case ast.Assign(targets=targets):
                pending.extend(targets)
            case ast.AnnAssign(target=target, value=value):
                if value is not None:
                    pending.append(target)
            case ast.Import() | ast.ImportFrom():
                names.update(alias.asname for alias in node.names if alias.asname)
            case ast.Name(id=name, ctx=ast.Store()):
                names.add(name)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                pending.extend(parts)
            case ast.Starred(value=value):
                pending.append(value)
            case ast.If() | ast.For() | ast.AsyncFor() | ast.While() | ast.With() | ast.AsyncWith() | ast.Try():
                pending.extend(_inner_statements(node))


def _inner_statements(block: ast.stmt) -> list[ast.stmt]:
    inner: list[ast.stmt] = []
    for field in ("body", "orelse", "finalbody"):
        inner.extend(getattr(block, field, []))
    for handler in getattr(block, "handlers", []):
        inner.extend(handler.body)
    return inner

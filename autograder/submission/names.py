"""Tells what a cell's source defines without running it, whatever state that source is in."""

from __future__ import annotations

import ast
from functools import lru_cache

from coursekit import cells as reading


def parse(source: str) -> ast.Module | None:
    """Return the syntax tree of what IPython makes of a cell, None where it is no Python or takes too long to read."""
    try:
        return reading.parse(source)
    except (reading.NotPython, reading.TooLarge):
        return None


@lru_cache(maxsize=256)  # a class hands in the same locked cells again and again; no more, for a cell may be large
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
    return reading.guess_names(source) if guess else frozenset()


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
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Call(func=ast.Name(id="get_ipython"))))):
            return True  # what IPython makes of a magic
    return False


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

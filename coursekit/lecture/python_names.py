"""Whether a text is one statement of Python, and which names a function reads and has: lab 10 counts them."""

from __future__ import annotations

import ast
import builtins
import warnings

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def only_statement(text: str) -> ast.stmt | None:
    """The one statement of a text, parsed; None where the text is no Python, or holds no statement or several."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # such as an escape sequence that does not exist
            statements = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # no Python, a null byte, brackets by the thousand
        return None
    return statements[0] if len(statements) == 1 else None


def parameter_names(function: Function | None) -> list[str]:
    """The parameters of a parsed function in their order, `*args` and `**options` included; empty for None.

    >>> parameter_names(ast.parse("lambda x, *rest, scale=1, **more: x").body[0].value)
    ['x', 'rest', 'scale', 'more']
    """
    if function is None:
        return []
    given = function.args
    named = [*given.posonlyargs, *given.args, *filter(None, [given.vararg]), *given.kwonlyargs]
    return [argument.arg for argument in [*named, *filter(None, [given.kwarg])]]


def bound_names(function: Function | None) -> set[str]:
    """All names that exist somewhere in a parsed function; empty for None.

    They are its parameters and those of functions inside it, the names that it assigns (loops, `with` and
    comprehensions included), the functions and classes that it defines, what it imports, what `except … as` names, and
    Python's built-in names.

    >>> read = ast.parse("def f(x):\n    import math\n    return math.sqrt(x) + y").body[0]
    >>> sorted(bound_names(read) - set(dir(builtins)))
    ['math', 'x']
    """
    if function is None:
        return set()
    bound = set(dir(builtins))
    for node in ast.walk(function):
        if isinstance(node, Function):
            bound.update(parameter_names(node))
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            bound.add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node is not function:
            bound.add(node.name)
        elif isinstance(node, ast.alias):
            bound.add(node.asname or node.name.partition(".")[0])
        elif isinstance(node, ast.ExceptHandler) and node.name:
            bound.add(node.name)
    return bound


def names_read(function: ast.FunctionDef | ast.AsyncFunctionDef | None) -> list[str]:
    r"""The names that the statements of a function read, once for each reading; its first line does not count.

    Of None, a text that could not be parsed, there are none.

    >>> names_read(ast.parse("def f(x):\n    return x * x + y").body[0])
    ['x', 'x', 'y']
    """
    if function is None:
        return []
    nodes = [node for statement in function.body for node in ast.walk(statement)]
    return [node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]

"""Finds in tests which inputs they try: calls of the student's function whose arguments are spelt out."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

_LIBRARIES = {"np", "numpy"}
# An exercise's file runs with the instructor's rights, so nothing comes into it that could reach a file.
_OF_LIBRARIES = {
    *("arange", "array", "asarray", "diag", "e", "eye", "full", "identity", "inf", "linspace", "nan", "newaxis"),
    *("ones", "pi", "zeros", "bool_", "float16", "float32", "float64", "int8", "int32", "int64", "uint8"),
    *("T", "astype", "copy", "flatten", "reshape"),  # of arrays
}
_PLAIN = {"range", "list", "tuple", "float", "int", "abs", "min", "max", "sum", "len", "complex", "str", "bool"}


@dataclass
class Tried:
    """Inputs by name, as source, that a test tries; and the statements of it from which nothing could be taken."""

    inputs: list[dict[str, str]] = field(default_factory=list)
    left: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Target:
    """What a question asks for: a function with its parameters, or a value, which has none."""

    name: str
    parameters: tuple[str, ...] | None = None
    optional: tuple[str, ...] = ()


def targets(solution: str) -> list[Target]:
    """Return the functions and values that a solution defines at its top level; none of one that is no Python."""
    try:
        tree = ast.parse(solution)
    except (SyntaxError, ValueError):
        return []
    found: dict[str, Target] = {}
    for node in tree.body:
        match node:
            case ast.FunctionDef(name=name, args=arguments) if not (arguments.vararg or arguments.kwarg):
                plain = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
                needed = len(plain) - len(arguments.defaults)
                optional = (*plain[needed:], *(each.arg for each in arguments.kwonlyargs))
                found[name] = Target(name, tuple(plain[:needed]), optional)
            case ast.Assign(targets=[ast.Name(id=name)]):
                found[name] = Target(name)
    return list(found.values())


def tried(test: str, target: Target) -> Tried:
    """Return what a test tries of a function or value."""
    found = Tried()
    try:
        tree = ast.parse(test)
    except (SyntaxError, ValueError):
        return Tried(left=[test])
    for statement in _statements(tree):
        inputs = [] if isinstance(statement, ast.Try | ast.With | ast.For | ast.While) else _inputs(statement, target)
        for each in inputs:
            if each not in found.inputs:
                found.inputs.append(each)
        if not inputs and not _is_idle(statement):
            found.left.append(ast.unparse(statement))
    return found


def _statements(tree: ast.Module) -> list[ast.stmt]:
    """The test's statements; those of a test that is written as a function (`def test_…(f):`) instead of it."""
    found: list[ast.stmt] = []
    for statement in tree.body:
        is_test = isinstance(statement, ast.FunctionDef) and statement.name.startswith("test")
        found += statement.body if is_test and isinstance(statement, ast.FunctionDef) else [statement]
    return found


def _inputs(statement: ast.stmt, target: Target) -> list[dict[str, str]]:
    if target.parameters is None:
        used = any(isinstance(node, ast.Name) and node.id == target.name for node in ast.walk(statement))
        return [{}] if used else []
    found = []
    for node in ast.walk(statement):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == target.name:
            named = _by_name(node, target)
            if named is not None:
                found.append(named)
    return found


def _by_name(call: ast.Call, target: Target) -> dict[str, str] | None:
    names = (*(target.parameters or ()), *target.optional)
    if len(call.args) > len(names) or any(isinstance(each, ast.Starred) for each in call.args):
        return None
    given = dict(zip(names, call.args, strict=False))
    given |= {each.arg: each.value for each in call.keywords if each.arg is not None}
    if not all(_is_spelt_out(value) for value in given.values()) or not set(target.parameters or ()) <= given.keys():
        return None
    return {name: ast.unparse(value) for name, value in given.items()}


def _is_spelt_out(value: ast.expr) -> bool:
    """Whether an expression is made of numbers, texts, lists and NumPy's arrays of these alone."""
    for node in ast.walk(value):
        if isinstance(node, ast.Name) and node.id not in _LIBRARIES | _PLAIN:
            return False
        if isinstance(node, ast.Attribute) and node.attr not in _OF_LIBRARIES:
            return False
        if isinstance(node, ast.Lambda | ast.comprehension | ast.Await | ast.NamedExpr | ast.Set | ast.SetComp):
            return False
    return True


def _is_idle(statement: ast.stmt) -> bool:
    is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return is_text or isinstance(statement, ast.Import | ast.ImportFrom | ast.Pass)

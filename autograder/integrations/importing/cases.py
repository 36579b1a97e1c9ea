"""Finds in tests which inputs they try: calls of the student's function whose arguments are spelt out."""

from __future__ import annotations

import ast
import math
from dataclasses import dataclass, field

_LIBRARIES = {"np", "numpy"}
# An exercise's file runs with the instructor's rights, so nothing comes into it that could reach a file.
_OF_LIBRARIES = {
    *("arange", "array", "asarray", "diag", "e", "eye", "full", "identity", "inf", "linspace", "nan", "newaxis"),
    *("ones", "pi", "zeros", "bool_", "float16", "float32", "float64", "int8", "int32", "int64", "uint8"),
    *("T", "astype", "copy", "flatten", "reshape"),  # of arrays
}
_PLAIN = {"range", "list", "tuple", "float", "int", "abs", "min", "max", "sum", "len", "complex", "str", "bool"}

LARGEST = 10**6  # entries of an input: `course release` computes them in the instructor's own process
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div)
_WRITTEN = (
    *(ast.Name, ast.Attribute, ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.Call, ast.keyword, ast.Subscript),
    *(ast.Slice, ast.UnaryOp, ast.USub, ast.UAdd, ast.BinOp, *_ARITHMETIC, ast.Load),
)
_SHAPED = {"zeros", "ones", "full", "eye", "identity"}
_COUNTING = {"range", "arange", "linspace"}


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


def find_targets(solution: str) -> list[Target]:
    """Return the functions and values that a solution defines at its top level; none of one that is no Python."""
    try:
        tree = ast.parse(solution)
    except (SyntaxError, ValueError):
        return []
    found: dict[str, Target] = {}
    for node in tree.body:
        match node:
            case ast.FunctionDef(name=name, args=arguments) if not (arguments.vararg or arguments.kwarg):
                plain = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
                needed = len(plain) - len(arguments.defaults)
                optional = (*plain[needed:], *(argument.arg for argument in arguments.kwonlyargs))
                found[name] = Target(name, tuple(plain[:needed]), optional)
            case ast.Assign(targets=[ast.Name(id=name)]):
                found[name] = Target(name)
    return list(found.values())


def find_tried(test: str, target: Target) -> Tried:
    """Return what a test tries of a function or value."""
    found = Tried()
    try:
        tree = ast.parse(test)
    except (SyntaxError, ValueError):
        return Tried(left=[test])
    for statement in _list_statements(tree):
        inputs = (
            [] if isinstance(statement, ast.Try | ast.With | ast.For | ast.While) else _find_inputs(statement, target)
        )
        for name in inputs:
            if name not in found.inputs:
                found.inputs.append(name)
        if not inputs and not _is_idle(statement):
            found.left.append(ast.unparse(statement))
    return found


def _list_statements(tree: ast.Module) -> list[ast.stmt]:
    """The test's statements; those of a test that is written as a function (`def test_…(f):`) instead of it."""
    found: list[ast.stmt] = []
    for statement in tree.body:
        is_test = isinstance(statement, ast.FunctionDef) and statement.name.startswith("test")
        found += statement.body if is_test and isinstance(statement, ast.FunctionDef) else [statement]
    return found


def _find_inputs(statement: ast.stmt, target: Target) -> list[dict[str, str]]:
    if target.parameters is None:
        used = any(isinstance(node, ast.Name) and node.id == target.name for node in ast.walk(statement))
        return [{}] if used else []
    found = []
    for node in ast.walk(statement):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == target.name:
            named = _name_arguments(node, target)
            if named is not None:
                found.append(named)
    return found


def _name_arguments(call: ast.Call, target: Target) -> dict[str, str] | None:
    names = (*(target.parameters or ()), *target.optional)
    if len(call.args) > len(names) or any(isinstance(argument, ast.Starred) for argument in call.args):
        return None
    given = dict(zip(names, call.args, strict=False))
    given |= {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg is not None}
    if not all(_is_spelt_out(value) for value in given.values()) or not set(target.parameters or ()) <= given.keys():
        return None
    return {name: ast.unparse(value) for name, value in given.items()}


def _is_spelt_out(value: ast.expr) -> bool:
    """Whether an expression is made of numbers, texts, lists and NumPy's arrays of these alone, none of them huge."""
    for node in ast.walk(value):
        if not isinstance(node, _WRITTEN) or (isinstance(node, ast.BinOp) and _repeats(node)):
            return False
        if isinstance(node, ast.Name) and node.id not in _LIBRARIES | _PLAIN:
            return False
        if isinstance(node, ast.Attribute) and node.attr not in _OF_LIBRARIES:
            return False
    return _count_entries(value) <= LARGEST


def _repeats(node: ast.BinOp) -> bool:
    """Whether a product may repeat a text or a list, which is how a short line becomes a long one."""

    def is_number(side: ast.expr) -> bool:
        while isinstance(side, ast.UnaryOp):
            side = side.operand
        if isinstance(side, ast.BinOp):
            return is_number(side.left) and is_number(side.right)
        of_numpy = isinstance(side, ast.Call | ast.Subscript | ast.Attribute) and not _find_plain_name(side)
        return of_numpy or (isinstance(side, ast.Constant) and isinstance(side.value, int | float | complex))

    return isinstance(node.op, ast.Mult) and not (is_number(node.left) and is_number(node.right))


def _find_plain_name(node: ast.expr) -> str:
    """The name of Python's own that a call begins with, such as `list`; empty for a call of NumPy's."""
    while isinstance(node, ast.Call | ast.Subscript | ast.Attribute):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) and node.id in _PLAIN else ""


def _count_entries(node: ast.AST) -> float:
    """At most how many entries an expression has; infinity where its numbers do not say it.

    Where two arrays meet, in a sum or in a place that is asked for, each entry of one may meet each of the other.
    """
    match node:
        case ast.Call(func=func, args=args, keywords=keywords):
            name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
            if name in _SHAPED | _COUNTING:
                return _count_made(name, node)
            parts = [func, *args, *(keyword.value for keyword in keywords)]
            return math.prod(map(_count_entries, parts)) ** (2 if name == "diag" else 1)
        case ast.BinOp(left=one, right=other) | ast.Subscript(value=one, slice=other):
            return _count_entries(one) * _count_entries(other)
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            return max(1.0, sum(map(_count_entries, parts)))
        case ast.Dict(keys=keys, values=values):
            return max(1.0, sum(_count_entries(part) for part in (*keys, *values) if part is not None))
        case ast.UnaryOp(operand=inner) | ast.Attribute(value=inner):
            return _count_entries(inner)
        case ast.Constant(value=str(text)):
            return max(1.0, len(text))
    return 1.0


def _count_made(name: str, call: ast.Call) -> float:
    """How many entries a call makes that makes as many as its numbers say."""
    given = [
        *call.args,
        *(keyword.value for keyword in call.keywords if keyword.arg in ("shape", "N", "M", "num", "step")),
    ]
    if name in _SHAPED:
        sizes = given[: 2 if name == "eye" else 1]
        numbers = [
            dimension
            for size in sizes
            for dimension in (size.elts if isinstance(size, ast.Tuple | ast.List) else [size])
        ]
        values = [_read_number(number) for number in numbers]
        if None in values:
            return math.inf
        many = math.prod(max(1.0, abs(value)) for value in values if value is not None)
        return many**2 if name in ("eye", "identity") and len(values) == 1 else many
    values = [_read_number(element) for element in given]
    counted = [abs(value) for value in values if value is not None]
    steps = counted[2:] if name != "linspace" else []
    if None in values or any(0 < step < 1 / 100 for step in steps):
        return math.inf
    return max(1.0, *counted) if counted else 1.0


def _read_number(node: ast.expr) -> float | None:
    """The number that is written, with its sign; None for anything else."""
    sign = 1
    while isinstance(node, ast.UnaryOp):
        sign, node = -sign if isinstance(node.op, ast.USub) else sign, node.operand
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return sign * node.value
    return None


def _is_idle(statement: ast.stmt) -> bool:
    is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return is_text or isinstance(statement, ast.Import | ast.ImportFrom | ast.Pass)

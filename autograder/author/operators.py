"""Operators of mutation testing over Python syntax trees: every way to get one step of a function wrong.

An operator looks at one node of the tree and says what could stand in its place: another axis, a term less, two
arguments exchanged. They are those that mutation testing has in common (Jia and Harman 2011, "An analysis and survey of
the development of mutation testing", section II), and what goes wrong with arrays: axes, sizes, reductions, products.
"""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

Changed = tuple[str, ast.AST | None]  # kind, and what stands instead; None: nothing does


@dataclass(frozen=True)
class Place:
    """A node of a syntax tree, and its place in the tree."""

    node: ast.AST
    parent: ast.AST
    field: str
    index: int | None
    arguments: tuple[str, ...]  # of the innermost function
    bound: frozenset[str]  # names that have a value before the statement

    def replaced(self, new: ast.AST | None, tree: ast.AST) -> str:
        """The whole text with `new` in the node's place; a statement that goes becomes `pass`."""
        old = getattr(self.parent, self.field)
        if self.index is None:
            value: object = new
        else:
            there = [ast.Pass() if new is None and isinstance(self.node, ast.stmt) else new]
            value = [*old[: self.index], *(found for found in there if found is not None), *old[self.index + 1 :]]
        setattr(self.parent, self.field, value)
        try:
            return ast.unparse(ast.fix_missing_locations(tree))
        except (AttributeError, TypeError, ValueError, IndexError):  # a call without the argument that it needs
            return ""
        finally:
            setattr(self.parent, self.field, old)


def changes_at(place: Place) -> Iterator[Changed]:
    """What every operator puts in the place of a node."""
    for kind in type(place.node).__mro__:
        for operator in _OPERATORS.get(kind, ()):
            yield from operator(place.node, place)


def binds(name: ast.Name) -> bool:
    """Whether this use of a name gives it a value."""
    return isinstance(name.ctx, ast.Store)


# -- arithmetic and conditions -----------------------------------------------------------------------------------------


def _binary(node: ast.BinOp, place: Place) -> Iterator[Changed]:
    def joined(operator: ast.operator, left: ast.expr = node.left, right: ast.expr = node.right) -> ast.BinOp:
        return ast.BinOp(left, operator, right)

    match node.op:
        case ast.Add():
            yield "plus", joined(ast.Sub())
            yield "summand", node.left
            yield "summand", node.right
        case ast.Sub():
            yield "minus", joined(ast.Add())
            yield "difference", joined(ast.Sub(), node.right, node.left)
            yield "summand", node.left
            yield "summand", node.right
        case ast.Mult():
            yield "times", joined(ast.Div())
            yield "factor", node.left
            yield "factor", node.right
            yield "added", joined(ast.Add())
        case ast.Div():
            yield "over", joined(ast.Mult())
            yield "divisor", node.left
            yield "quotient", joined(ast.Div(), node.right, node.left)
        case ast.Pow():
            yield "power", node.left
            yield "power", joined(ast.Mult())
        case ast.MatMult():
            yield "factors", joined(ast.MatMult(), node.right, node.left)
            yield "transposed", joined(ast.MatMult(), node.left, _transposed(node.right))
            yield "transposed", joined(ast.MatMult(), _transposed(node.left))
        case ast.FloorDiv() | ast.Mod():
            yield "divisor", node.left
        case ast.BitAnd():
            yield "either", joined(ast.BitOr())
            yield from (("condition", side) for side in (node.left, node.right))
        case ast.BitOr():
            yield "both", joined(ast.BitAnd())
            yield from (("condition", side) for side in (node.left, node.right))


def _unary(node: ast.UnaryOp, place: Place) -> Iterator[Changed]:
    if isinstance(node.op, ast.USub) and not isinstance(node.operand, ast.Constant):
        yield "sign", node.operand
    elif isinstance(node.op, ast.Invert | ast.Not):
        yield "inverted", node.operand


_BOUNDARY = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
_TURNED = {
    **{ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE},
    **{
        ast.Eq: ast.NotEq,
        ast.NotEq: ast.Eq,
        ast.Is: ast.IsNot,
        ast.IsNot: ast.Is,
        ast.In: ast.NotIn,
        ast.NotIn: ast.In,
    },
}


def _comparison(node: ast.Compare, place: Place) -> Iterator[Changed]:
    for kind, table in (("boundary", _BOUNDARY), ("inverted", _TURNED)):
        for index, operator in enumerate(node.ops):
            if type(operator) in table:
                operators = [*node.ops[:index], table[type(operator)](), *node.ops[index + 1 :]]
                yield kind, ast.Compare(node.left, operators, node.comparators)


def _joined_conditions(node: ast.BoolOp, place: Place) -> Iterator[Changed]:
    other, kind = (ast.Or(), "either") if isinstance(node.op, ast.And) else (ast.And(), "both")
    yield kind, ast.BoolOp(other, node.values)
    for operand in node.values if len(node.values) == 2 else ():
        yield "condition", operand


def _choice(node: ast.IfExp, place: Place) -> Iterator[Changed]:
    yield "condition", node.body
    yield "condition", node.orelse


def _comprehension(node: ast.comprehension, place: Place) -> Iterator[Changed]:
    for index in range(len(node.ifs)):
        kept = [*node.ifs[:index], *node.ifs[index + 1 :]]
        yield "condition", ast.comprehension(node.target, node.iter, kept, node.is_async)


# -- numbers, sizes and places -----------------------------------------------------------------------------------------


def _constant(node: ast.Constant, place: Place) -> Iterator[Changed]:
    value = node.value
    if isinstance(value, bool):
        if not (isinstance(place.parent, ast.keyword) and place.parent.arg == "keepdims"):
            yield "flag", ast.Constant(not value)
    elif isinstance(value, int):
        if isinstance(place.parent, ast.Subscript) or _is_negative_index(place):
            return
        yield "one_off", ast.Constant(value + 1)
        yield "one_off", _number(value - 1)
        yield "constant", ast.Constant(2 * value)
        if value != 1:
            yield "constant", ast.Constant(0)
    elif isinstance(value, float):
        for other in (0.0, 10 * value, value / 10, value / 2, 1.0):
            yield "constant", ast.Constant(other)


def _is_negative_index(place: Place) -> bool:
    return isinstance(place.parent, ast.UnaryOp) and isinstance(place.parent.op, ast.USub)


def _number(value: int) -> ast.expr:
    return ast.Constant(value) if value >= 0 else ast.UnaryOp(ast.USub(), ast.Constant(-value))


def _as_number(node: ast.AST | None) -> int | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = _as_number(node.operand)
        return None if value is None else -value
    is_whole = isinstance(node, ast.Constant) and isinstance(node.value, int) and not isinstance(node.value, bool)
    return node.value if is_whole else None  # type: ignore[union-attr]


def _other_axes(axis: int) -> list[int]:
    return [other for other in (-1, -2, 0, 1, -3) if other != axis]


def _subscript(node: ast.Subscript, place: Place) -> Iterator[Changed]:
    def with_index(new: ast.expr) -> ast.Subscript:
        return ast.Subscript(node.value, new, node.ctx)

    if not isinstance(node.ctx, ast.Load):
        return
    number = _as_number(node.slice)
    if number is not None:
        is_size = isinstance(node.value, ast.Attribute) and node.value.attr == "shape"
        is_size = is_size or (isinstance(node.value, ast.Call) and _name_of(node.value) == "shape")
        for other in _other_axes(number)[:3] if is_size else (number + 1, number - 1):
            yield ("size" if is_size else "item"), with_index(_number(other))
        return
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if not isinstance(node.slice, ast.Constant):
        yield "part", node.value
    for index, part in enumerate(parts):
        for kind, new in _other_slices(part):
            changed = [*parts[:index], new, *parts[index + 1 :]]
            yield kind, with_index(ast.Tuple(changed, ast.Load()) if isinstance(node.slice, ast.Tuple) else new)


def _other_slices(part: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    if not isinstance(part, ast.Slice):
        return
    if part.step is not None:
        yield "part", ast.Slice(part.lower, part.upper, None)
    if part.lower is not None:
        yield "part", ast.Slice(None, part.upper, part.step)
        for moved in _one_off(part.lower):
            yield "one_off", ast.Slice(moved, part.upper, part.step)
    if part.upper is not None:
        yield "part", ast.Slice(part.lower, None, part.step)
        for moved in _one_off(part.upper):
            yield "one_off", ast.Slice(part.lower, moved, part.step)


def _one_off(value: ast.expr) -> Iterator[ast.expr]:
    for operator in (ast.Add(), ast.Sub()):
        yield ast.BinOp(value, operator, ast.Constant(1))


def _name(node: ast.Name, place: Place) -> Iterator[Changed]:
    """Put another argument of the function in the place of this one."""
    if isinstance(node.ctx, ast.Load) and node.id in place.arguments:
        for other in place.arguments:
            if other != node.id:
                yield "input", ast.Name(other, ast.Load())


def _entries(node: ast.List | ast.Tuple, place: Place) -> Iterator[Changed]:
    if isinstance(node.ctx, ast.Load) and not isinstance(place.parent, ast.Subscript):
        for index in range(len(node.elts) - 1):
            yield "entries", type(node)(_exchanged(node.elts, index), node.ctx)


def _exchanged(values: list[ast.expr], index: int) -> list[ast.expr]:
    return [*values[:index], values[index + 1], values[index], *values[index + 2 :]]


# -- calls -------------------------------------------------------------------------------------------------------------

_OTHER = {
    **{"sum": ("mean", "max"), "mean": ("sum", "max"), "max": ("sum", "min"), "min": ("max",), "prod": ("sum",)},
    **{"reduce_sum": ("reduce_mean", "reduce_max"), "reduce_mean": ("reduce_sum",), "reduce_max": ("reduce_sum",)},
    **{
        "var": ("std",),
        "std": ("var",),
        "any": ("all",),
        "all": ("any",),
        "argmax": ("argmin",),
        "argmin": ("argmax",),
    },
    **{"sin": ("cos",), "cos": ("sin",), "maximum": ("minimum",), "minimum": ("maximum",)},
    **{"ceil": ("floor",), "floor": ("ceil",), "zeros": ("ones",), "ones": ("zeros",), "log": ("log2",)},
}
_WITHOUT_EFFECT = {
    "asarray",
    "array",
    "astype",
    "float",
    "int",
    "bool",
    "list",
    "tuple",
    "str",
    "cast",
    "super",
    "range",
}
_COUNTING = {"range", "arange"}
# Dropping these is a change of another kind, or none; without `kind` the order of ties is the machine's.
_KEPT_KEYWORDS = {"axis", "dtype", "kind", "name", None}


def _name_of(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _is_method(call: ast.Call) -> bool:
    """Whether a call is a method of an array or another object, and not a function of a module."""
    receiver = call.func.value if isinstance(call.func, ast.Attribute) else None
    while isinstance(receiver, ast.Attribute):
        receiver = receiver.value
    is_module = isinstance(receiver, ast.Name) and receiver.id in ("np", "math", "ops", "tf", "keras", "self", "super")
    return receiver is not None and not is_module


def _call(node: ast.Call, place: Place) -> Iterator[Changed]:
    name = _name_of(node)
    if name in _WITHOUT_EFFECT - _COUNTING:
        return
    yield from _other_axis(node)
    for other in _OTHER.get(name, ()):
        new = ast.Attribute(node.func.value, other, ast.Load()) if isinstance(node.func, ast.Attribute) else None
        if new is not None:
            yield "function", ast.Call(new, node.args, node.keywords)
    if name == "einsum":
        yield from _other_products(node)
        return
    if name in _COUNTING:
        yield from _other_counts(node)
        return
    left = _what_a_call_leaves(node, name)
    yield from (("call", argument) for argument in left)
    positional = [argument for argument in node.args if not isinstance(argument, ast.Starred)]
    for index in range(len(positional) - 1) if len(positional) == len(node.args) else ():
        yield "arguments", ast.Call(node.func, _exchanged(node.args, index), node.keywords)
    for index, given in enumerate(node.keywords):
        if given.arg not in _KEPT_KEYWORDS:
            kept = [*node.keywords[:index], *node.keywords[index + 1 :]]
            kind = "keepdims" if given.arg == "keepdims" else "argument"
            yield kind, ast.Call(node.func, node.args, kept)
    if len(node.args) > 1 and not _is_method(node):
        yield "argument", ast.Call(node.func, node.args[:-1], node.keywords)


def _what_a_call_leaves(node: ast.Call, name: str) -> Iterator[ast.expr]:
    """Return what is left without the call: its first argument, or the array whose method it is."""
    if name == "where" and len(node.args) == 3:
        yield from node.args[1:]
    elif name in ("maximum", "minimum") and len(node.args) == 2:
        yield from node.args
    elif _is_method(node) and isinstance(node.func, ast.Attribute):
        yield node.func.value
    elif node.args and not isinstance(node.args[0], ast.Starred):
        yield node.args[0]


def _other_axis(node: ast.Call) -> Iterator[Changed]:
    for index, given in enumerate(node.keywords):
        axis = _as_number(given.value) if given.arg == "axis" else None
        if axis is None:
            continue
        for other in _other_axes(axis)[:3]:
            keywords = [*node.keywords[:index], ast.keyword("axis", _number(other)), *node.keywords[index + 1 :]]
            yield "axis", ast.Call(node.func, node.args, keywords)
    if any(given.arg == "axis" for given in node.keywords):
        kept = [given for given in node.keywords if given.arg != "axis"]
        yield "all_axes", ast.Call(node.func, node.args, kept)


def _other_products(node: ast.Call) -> Iterator[Changed]:
    """`einsum` with two neighbouring letters of an operand, or of the result, exchanged."""
    if not (node.args and isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, str)):
        return
    rule = node.args[0].value
    for found in re.finditer(r"(?=([a-zA-Z])([a-zA-Z]))", rule):
        at = found.start()
        other = rule[:at] + rule[at + 1] + rule[at] + rule[at + 2 :]
        yield "transposed", ast.Call(node.func, [ast.Constant(other), *node.args[1:]], node.keywords)


def _other_counts(node: ast.Call) -> Iterator[Changed]:
    """A count that begins or ends one step off."""

    if len(node.args) == 1:
        later, earlier = _one_off(node.args[0])
        for arguments in ([ast.Constant(1), later], [ast.Constant(1), node.args[0]], [earlier], [later]):
            yield "one_off", ast.Call(node.func, arguments, node.keywords)
    for index in range(min(len(node.args), 2)) if len(node.args) > 1 else ():
        for moved in _one_off(node.args[index]):
            changed = [*node.args[:index], moved, *node.args[index + 1 :]]
            yield "one_off", ast.Call(node.func, changed, node.keywords)


def _attribute(node: ast.Attribute, place: Place) -> Iterator[Changed]:
    if node.attr in ("T", "mT"):
        yield "call", node.value


def _transposed(node: ast.expr) -> ast.expr:
    axes: list[ast.expr] = [_number(-1), _number(-2)]
    return ast.Call(ast.Attribute(node, "swapaxes", ast.Load()), axes, [])


# -- statements --------------------------------------------------------------------------------------------------------


def _statement(node: ast.stmt, place: Place) -> Iterator[Changed]:
    """Leave out a statement without which the function still runs."""
    if isinstance(node, ast.Assign):
        names = [
            name.id
            for target in node.targets
            for name in ast.walk(target)
            if isinstance(name, ast.Name) and binds(name)
        ]
        if all(name in place.bound for name in names):
            yield "statement", None
    elif isinstance(node, ast.AugAssign | ast.Expr | ast.Continue | ast.Break):
        yield "statement", None
    elif isinstance(node, ast.If):
        for always in (True, False):
            yield "condition", ast.If(ast.Constant(always), node.body, node.orelse)


def _ignored_argument(node: ast.FunctionDef, place: Place) -> Iterator[Changed]:
    """An optional argument that is taken and not used: the function begins by forgetting it."""
    named = [*node.args.posonlyargs, *node.args.args]
    pairs = [*zip(reversed(named), reversed(node.args.defaults), strict=False)]
    pairs += [(name, value) for name, value in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True) if value]
    for name, default in pairs:
        forgets = ast.Assign([ast.Name(name.arg, ast.Store())], copy.deepcopy(default))
        new = copy.copy(node)
        new.body = [forgets, *node.body]
        yield "ignored", new


_OPERATORS: dict[type, tuple[Callable[..., Iterator[Changed]], ...]] = {
    ast.BinOp: (_binary,),
    ast.UnaryOp: (_unary,),
    ast.Compare: (_comparison,),
    ast.BoolOp: (_joined_conditions,),
    ast.IfExp: (_choice,),
    ast.comprehension: (_comprehension,),
    ast.Constant: (_constant,),
    ast.Subscript: (_subscript,),
    ast.Name: (_name,),
    ast.List: (_entries,),
    ast.Tuple: (_entries,),
    ast.Call: (_call,),
    ast.Attribute: (_attribute,),
    ast.FunctionDef: (_ignored_argument,),
    ast.stmt: (_statement,),
}

"""Finds functions of one statement that may come back to themselves: by name, as methods, or handed to themselves."""

from __future__ import annotations

import ast
import math
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from graphlib import CycleError, TopologicalSorter
from typing import TypeVar

import numpy as np

GIVEN = "(given)"  # stands for any function that a parameter, a variable or a place in a list may hold

_OWN_CALL = (".__call__", ".call")  # methods that run when an object is called
_ARRAY_METHODS = frozenset(dir(np.ndarray))
_ONLY_LOOKING = frozenset({"callable", "id", "isinstance", "issubclass", "print", "repr", "wraps"})
_HARMLESS_DECORATORS = frozenset({
    "cache", "classmethod", "function", "lru_cache", "property", "setter", "staticmethod", "wraps",
})  # fmt: skip

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_Arrows = dict[str, set[str]]
_Key = TypeVar("_Key")


@dataclass
class Recursion:
    """What one statement says of calls.

    Attributes:
        circle: the function in it that may call itself, `GIVEN` where one may be handed to itself, else empty.
        calls_given: whether it calls what a parameter, a variable or a place in a container holds.
        hands_on: names that it uses as values, as in ``g(f)``, and what the functions among them refer to.
        wraps: the name that it binds to what a decorator makes of it, as in ``f = timed(f)``.
    """

    circle: str = ""
    calls_given: bool = False
    hands_on: set[str] = field(default_factory=set)
    wraps: str = ""


@dataclass(frozen=True)
class _Place:
    """Where a piece of code stands.

    Attributes:
        within: the definitions around it that have a name here, each with the names bound in it.
        bound: all names that the functions around it bind; parameters: those that stand for parameters.
        inside: whether it is in a function; members: whether it stands directly in the body of a class.
        own: the first parameter of the method around it; lent: whether its class hands that on to others.
    """

    within: tuple[tuple[str, frozenset[str]], ...] = ()
    bound: frozenset[str] = frozenset()
    parameters: frozenset[str] = frozenset()
    inside: bool = False
    members: bool = False
    own: str = ""
    lent: bool = False


def recursion(node: ast.stmt) -> Recursion:
    """Read one statement of the top level of a cell."""
    return _Graph().read(node)


def find_circle(arrows: Mapping[_Key, Iterable[_Key]]) -> list[_Key]:
    """Return a way along the arrows that comes back to where it began, empty where there is none."""
    try:
        TopologicalSorter(arrows).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def parameters(function: Function) -> list[str]:
    """The names of all parameters, those with stars included."""
    arguments = function.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    return [argument.arg for argument in every if argument is not None]


def bound_names(function: Function) -> frozenset[str]:
    """The names that a function binds itself: parameters and what it assigns, without what it says is from outside.

    Imports are left visible: they say what a name stands for.
    """
    names, outer = set(parameters(function)), set()
    waiting: list[ast.AST] = [function.body] if isinstance(function, ast.Lambda) else list(function.body)
    while waiting:
        node = waiting.pop()
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
                continue
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                names.add(name)
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                names.add(name)
            case ast.Global(names=others) | ast.Nonlocal(names=others):
                outer.update(others)
            case ast.Lambda():
                continue
        if isinstance(node, COMPREHENSIONS):
            # Its variables are its own; what `:=` assigns in it belongs to the function.
            names.update(inner.target.id for inner in ast.walk(node) if isinstance(inner, ast.NamedExpr))
            continue
        waiting.extend(ast.iter_child_nodes(node))
    return frozenset(names - outer)


class _Graph:
    """Arrows between definitions. Functions have their names, methods and attributes theirs with a dot before it."""

    def __init__(self) -> None:
        self.calls: _Arrows = {}
        self.held: _Arrows = {}  # what variables and attributes are made of
        self.unknown: set[str] = {GIVEN}  # variables and attributes that may hold any function
        self.any_attribute = False  # whether attributes are set whose names are not written out
        self.called: list[tuple[_Place, str]] = []
        self.handed: set[str] = set()
        self.decorated: set[str] = set()  # handed on, too; counted only where something given is called
        self.defined: set[str] = set()
        self.lambdas: dict[int, str] = {}  # those that are used as values
        self.waiting: list[tuple[ast.AST, _Place]] = []

    def read(self, node: ast.stmt) -> Recursion:
        """Walk with a list: code can be nested very deeply."""
        self.waiting.append((node, _Place()))
        while self.waiting:
            self._node(*self.waiting.pop())
        given = [
            place for place, key in self.called if key in self.unknown or (self.any_attribute and key.startswith("."))
        ]
        for place in given:
            for definition, _ in place.within:
                self._arrow(definition, GIVEN)
        wrapped = _wrapped(node)
        self.handed.discard(wrapped)
        if given:
            self.handed |= self.decorated
        for key in self.handed:
            self._arrow(GIVEN, key)
        steps = self._steps_to_functions()
        for key, values in self.held.items():
            for value in values:
                if steps.get(value, math.inf) < steps.get(key, 0):  # so variables alone make no circle
                    self._arrow(key, value)
        handed = {key.removeprefix(".") for key in _reached(self.calls, self.handed)}
        circle = find_circle(self.calls)
        named = GIVEN if GIVEN in circle else min((key.removeprefix(".") for key in circle), default="")
        return Recursion(named, bool(given), handed - {GIVEN}, wrapped)

    def _steps_to_functions(self) -> dict[str, int]:
        """Return how far each variable and attribute that may hold a function is from one: ``b = a = f`` is 1."""
        holders: _Arrows = {}
        for key, values in self.held.items():
            for value in values:
                holders.setdefault(value, set()).add(key)
        steps = dict.fromkeys(self.defined | {value for value in holders if is_class(value)}, 0)
        waiting = deque(steps)
        while waiting:
            value = waiting.popleft()
            for key in holders.get(value, set()) - steps.keys():
                steps[key] = steps[value] + 1
                waiting.append(key)
        return steps

    def _arrow(self, start: str, end: str) -> None:
        self.calls.setdefault(start, set()).add(end)

    def _node(self, node: ast.AST, place: _Place) -> None:
        for value in _values(node):
            self._hand_on(value, place)
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self._function(node, place, node.name)
                return
            case ast.Lambda():
                self._function(node, place, self.lambdas.get(id(node), ""))
                return
            case ast.ClassDef(name=name):
                self.defined.add(name)
                self.calls.setdefault(name, set()).update(_OWN_CALL)
                place = replace(place, members=True, lent=_lends_itself(node))
            case ast.Name(id=name, ctx=ast.Load()):
                self._load(name, place)
            case ast.Attribute(ctx=ast.Load()):
                self._attribute(node.value, node.attr, place)
            case ast.Call():
                self._call(node, place)
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Lambda() as value):
                self._function(value, place, name)
                return
            case ast.Assign(targets=targets, value=value):
                self._assign(targets, value, place)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._assign([target], value, place)
            case ast.AugAssign(target=target, value=value) | ast.NamedExpr(target=target, value=value):
                self._assign([target], value, place)
            case ast.withitem(optional_vars=ast.expr() as target, context_expr=value):
                self._assign([target], value, place)
            case ast.Return(value=ast.Name(id=name)) if name not in place.bound:
                self.handed.add(name)
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                self.unknown.add(name)
        self.waiting.extend((child, place) for child in ast.iter_child_nodes(node))

    def _function(self, node: Function, place: _Place, name: str) -> None:
        """Defaults and decorators belong to what is around, the body to the function."""
        outside: list[ast.AST] = [*node.args.defaults, *(value for value in node.args.kw_defaults if value)]
        body: list[ast.AST] = [node.body] if isinstance(node, ast.Lambda) else list(node.body)
        within, own, taken = place.within, place.own, parameters(node)
        if not isinstance(node, ast.Lambda):
            outside += node.decorator_list
            if any(_last(decorator) not in _HARMLESS_DECORATORS for decorator in node.decorator_list):
                self.decorated.add(f".{name}" if place.members else name)
        bound = bound_names(node)
        if name and (place.members or place.inside or isinstance(node, ast.Lambda)):
            key = f".{name}" if place.members else name
            self.defined.add(key)
            within = (*within, (key, bound))
        if place.members and taken and not _is_static(node):
            own = taken[0]
        hidden = (place.parameters - bound) | (frozenset(taken) - {own})
        self.waiting.extend((value, place) for value in outside)
        inner = _Place(within, place.bound | bound, hidden, True, False, own, place.lent)
        self.waiting.extend((statement, inner) for statement in body)

    def _hand_on(self, value: ast.expr, place: _Place) -> None:
        match value:
            case ast.Name(id=name) if name == place.own:
                self.handed.update(_OWN_CALL)
            case ast.Call(func=ast.Name(id=name)) if is_class(name):
                self.handed.add(name)
            case ast.Name(id=name) if name not in place.parameters:
                self.handed.add(f".{name}" if place.members else name)
            case ast.Attribute(attr=name):
                self.handed.add(f".{name}")
            case ast.Lambda():
                key = self.lambdas[id(value)] = f"lambda {len(self.lambdas)}"
                self.handed.add(key)

    def _load(self, name: str, place: _Place) -> None:
        for definition, bound in reversed(place.within):
            if name in bound:
                return
            self._arrow(definition, name)

    def _attribute(self, base: ast.expr, name: str, place: _Place) -> None:
        """Point to the method of this name, unless it is clear that something else is meant."""
        holder = base.func if isinstance(base, ast.Call) else base
        if _root(base) not in place.bound:
            return
        plain = isinstance(holder, ast.Name) and (name not in _ARRAY_METHODS or holder.id == place.own)
        if plain or place.lent:
            for definition, _ in place.within:
                self._arrow(definition, f".{name}")

    def _call(self, node: ast.Call, place: _Place) -> None:
        match node.func:
            case ast.Name(id=name) if name == place.own:
                for definition, _ in place.within:
                    self.calls.setdefault(definition, set()).update(_OWN_CALL)
            case ast.Name(id="getattr") if (named := _read_attribute(node)) is not None:
                self._attribute(node.args[0], named, place)
            case ast.Name(id="setattr") | ast.Attribute(attr="__setattr__"):
                constants = [value.value for value in node.args[:3] if isinstance(value, ast.Constant)]
                written = [name for name in constants if isinstance(name, str)]
                self.unknown.update(f".{name}" for name in written)
                self.any_attribute = self.any_attribute or not written
            case ast.Name(id=name) if name in place.parameters:
                self.called.append((place, GIVEN))
            case ast.Name(id=name) if name in place.bound:
                self.called.append((place, name))
            case ast.Attribute(attr=name):
                self.called.append((place, f".{name}"))
            case ast.Call() as made:
                if not _makes_an_object(made, place) and _last(made.func) not in _ONLY_LOOKING:
                    named = _read_attribute(made)
                    self.called.append((place, GIVEN if named is None else f".{named}"))
            case ast.Name() | ast.Lambda():
                pass
            case _:
                self.called.append((place, GIVEN))

    def _assign(self, targets: list[ast.expr], value: ast.expr, place: _Place) -> None:
        match targets, value:
            case [ast.Tuple(elts=left)], ast.Tuple(elts=right) if len(left) == len(right):
                for one, other in zip(left, right, strict=True):
                    self._assign_one([one], other, place)
            case _:
                self._assign_one(targets, value, place)

    def _assign_one(self, targets: list[ast.expr], value: ast.expr, place: _Place) -> None:
        loaded = _loaded(value, self.lambdas)
        for target in targets:
            for key in _keys(target, place):
                self.held.setdefault(key, set()).update(loaded)
                if not (isinstance(target, ast.Name | ast.Attribute) and _is_known(value, place)):
                    self.unknown.add(key)


def _wrapped(node: ast.stmt) -> str:
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(args=[ast.Name(id=given)])) if name == given:
            return name
    return ""


def _reached(arrows: Mapping[str, Iterable[str]], starts: Iterable[str]) -> set[str]:
    found, waiting = set(starts), list(starts)
    while waiting:
        new = set(arrows.get(waiting.pop(), ())) - found
        found |= new
        waiting += new
    return found


def _values(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the expressions below a node whose values go elsewhere than into a calculation or back to the caller."""
    match node:
        case ast.Call() if _last(node) not in _ONLY_LOOKING:
            yield from (*node.args, *(keyword.value for keyword in node.keywords))
        case ast.List(elts=values) | ast.Tuple(elts=values) | ast.Set(elts=values) | ast.BoolOp(values=values):
            yield from values
        case ast.Dict(values=values):
            yield from values
        case ast.IfExp(body=first, orelse=second):
            yield from (first, second)
        case ast.Assign(targets=[ast.Name()], value=ast.Lambda()):
            return
        case ast.Assign(value=ast.Call()):
            return
        case ast.Assign(value=value) | ast.NamedExpr(value=value) | ast.Starred(value=value):
            yield value
        case ast.AnnAssign(value=ast.expr() as value) | ast.Yield(value=ast.expr() as value):
            yield value
        case ast.arguments(defaults=values, kw_defaults=more):
            yield from (*values, *(value for value in more if value))


def _loaded(value: ast.expr, lambdas: Mapping[int, str]) -> set[str]:
    """The names and attributes in a value, without those that are only called."""
    found: set[str] = set()
    waiting: list[ast.AST] = [value]
    while waiting:
        node = waiting.pop()
        match node:
            case ast.Name(id=name):
                found |= {name, f".{name}"}
            case ast.Attribute(attr=name):
                found.add(f".{name}")
            case ast.Lambda() if id(node) in lambdas:
                found.add(lambdas[id(node)])
                continue
            case ast.Call():
                if isinstance(node.func, ast.Name) and is_class(node.func.id):
                    found.add(node.func.id)
                waiting += [*node.args, *(keyword.value for keyword in node.keywords)]
                continue
        waiting.extend(ast.iter_child_nodes(node))
    return found


def _keys(target: ast.AST, place: _Place) -> Iterator[str]:
    """Name the variables and attributes that an assignment gives values to."""
    match target:
        case ast.Name(id=name):
            yield f".{name}" if place.members else name
        case ast.Attribute(attr=name):
            yield f".{name}"
        case ast.Subscript(value=value) | ast.Starred(value=value):
            yield from _keys(value, place)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            for part in parts:
                yield from _keys(part, place)


def _root(node: ast.AST) -> str:
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _last(node: ast.AST) -> str:
    while isinstance(node, ast.Call):
        node = node.func
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def _is_known(value: ast.expr, place: _Place) -> bool:
    """Whether it is written where the value comes from: a name from outside, an object of a class, a lambda."""
    match value:
        case ast.Name() | ast.Attribute():
            return _root(value) not in place.bound
        case ast.Call():
            return _makes_an_object(value, place)
    return isinstance(value, ast.Lambda)


def _makes_an_object(node: ast.Call, place: _Place) -> bool:
    """Whether a class of a library or of the notebook is called, by its name."""
    return is_class(_last(node.func)) and _root(node.func) not in place.parameters


def is_class(name: str) -> bool:
    """Whether it is a name as classes have them."""
    return name.lstrip("_")[:1].isupper()


def _read_attribute(node: ast.Call) -> str | None:
    match node:
        case ast.Call(func=ast.Name(id="getattr"), args=[_, ast.Constant(value=str(name)), *_]):
            return name
    return None


def _is_static(node: Function) -> bool:
    decorators = [] if isinstance(node, ast.Lambda) else node.decorator_list
    return any(_last(decorator) == "staticmethod" for decorator in decorators)


def _lends_itself(node: ast.ClassDef) -> bool:
    """Whether a method uses its first parameter other than by its attributes, so that it may come back."""
    for method in node.body:
        if not isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef) or not (names := parameters(method)):
            continue
        waiting: list[ast.AST] = list(method.body)
        while waiting:
            inner = waiting.pop()
            match inner:
                case ast.Name(id=name) if name == names[0]:
                    return True
                case ast.Attribute(value=ast.Name()) | ast.Call(func=ast.Name(id="super")):
                    continue
                case ast.Call(func=ast.Name(id=name)) if name == names[0]:
                    waiting += [*inner.args, *inner.keywords]
                    continue
            waiting.extend(ast.iter_child_nodes(inner))
    return False

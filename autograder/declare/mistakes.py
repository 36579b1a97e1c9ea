"""A mistake: what it changes in the right formula | what the student is told | the next hint.

An edit is text that is found in the formula once, and what stands there instead. A formula is a function and the
functions of the course that it calls by name. Each is read as a syntax tree and printed in the tree's one spelling
(`ast.unparse`, without annotations, comments and docstrings), and edits are matched there, token by token: neither
layout nor quotes nor trailing commas make a difference.
"""

from __future__ import annotations

import ast
import dis
import inspect
import io
import math
import sysconfig
import textwrap
import tokenize
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, lru_cache
from types import CodeType, FunctionType, MappingProxyType
from typing import Any, NamedTuple

import numpy as np

Function = Callable[..., Any]

MOST_TURNS = 10_000  # of a loop in an edited formula
_LIBRARIES = tuple(sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib"))
_LAYOUT = {tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.COMMENT, tokenize.ENDMARKER}
_OPERATIONS = (ast.BinOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Lambda, ast.UnaryOp)


class Edit(NamedTuple):
    """A text of the formula, what stands there instead, and how many times the text occurs."""

    old: str
    new: str
    times: int = 1


class EditError(ValueError):
    """An edit does not fit the formula exactly as many times as it says, or what it leaves is not Python."""


class _Token(NamedTuple):
    text: str
    start: int
    end: int


class _Place(NamedTuple):
    """Where an edit fits: the function, and the start and end in its text; `new` is the text to put there."""

    function: Any  # a FunctionType; as an attribute, type checkers take it for a method
    start: int
    end: int
    new: str


class Formula:
    """The functions that make an exercise's right results, open to edits.

    Args:
        roots: the functions that are called from outside, by the mode of the probe that asks for their results.
    """

    def __init__(self, roots: Mapping[str, Function]):
        self._roots = {mode: _plain(function) for mode, function in roots.items()}

    @cached_property
    def texts(self) -> dict[FunctionType, str]:
        """Every function of the formula in the one spelling in which edits are matched."""
        texts: dict[FunctionType, str] = {}
        waiting = list(self._roots.values())
        while waiting:
            function = waiting.pop(0)
            if function not in texts:
                texts[function] = _spelling(function)
                waiting += _find_called(function)
        return texts

    def change_texts(self, edits: Sequence[Edit | tuple[str, str]]) -> dict[FunctionType, str]:
        """The functions that the edits change, each with its new text.

        Raises:
            EditError: one does not fit exactly as many times as it says, two change one place, or what they leave is
                not Python.
        """
        places = [place for edit in edits for place in self._places(*edit)]
        changed: dict[FunctionType, str] = {}
        for function in dict.fromkeys(place.function for place in places):
            text, following = self.texts[function], len(self.texts[function]) + 1
            for place in sorted((place for place in places if place.function is function), reverse=True, key=_start):
                if place.end > following:
                    raise EditError(f"two edits change one place of {function.__name__}")
                following = place.start
                text = _replace(text, place)
            try:
                changed[function] = ast.unparse(ast.parse(text))
            except SyntaxError as error:
                raise EditError(f"what the edit leaves is no Python ({error.msg}):\n{text}") from error
        return changed

    def make(self, edits: Sequence[Edit | tuple[str, str]], instead: Function | None = None) -> dict[str, Function]:
        """Return the functions that are called from outside, with the edits; `instead` replaces the first of them."""
        first = next(iter(self._roots.values()))
        return self.compile(self.change_texts(edits), {first: instead} if instead else {})

    def compile(
        self, changed: Mapping[FunctionType, str], replaced: Mapping[FunctionType, Function] = MappingProxyType({})
    ) -> dict[str, Function]:
        """Return the functions called from outside, with other texts or functions in place of some of the formula.

        A text may use `np` and `math`, whether or not its function's module does.
        """
        scopes: dict[int, dict[str, Any]] = {}
        new: dict[FunctionType, Function] = {}
        for function, text in self.texts.items():
            scope = scopes.setdefault(id(function.__globals__), {"np": np, "math": math, **function.__globals__})
            kept = scope.get(function.__name__)
            exec(_code(changed.get(function, text), function.__name__), scope)
            new[function] = scope.pop(function.__name__)
            if kept is not None:
                scope[function.__name__] = kept
        new |= replaced
        for scope in scopes.values():
            for name, value in list(scope.items()):
                if _is_function(value) and _plain(value) in new:
                    scope[name] = new[_plain(value)]
        return {mode: new[function] for mode, function in self._roots.items()}

    def is_root(self, function: FunctionType) -> bool:
        """Whether a function is called from outside."""
        return function in self._roots.values()

    def _places(self, old: str, new: str, times: int = 1) -> list[_Place]:
        node = _expression(old)
        wanted = [token.text for token in _tokens(_one_spelling(old))]
        places = []
        for function, text in self.texts.items():
            tokens = _tokens(text)
            spans = _spans(text) if node is not None else frozenset()
            for index in range(len(tokens) - len(wanted) + 1):
                if wanted and [token.text for token in tokens[index : index + len(wanted)]] == wanted:
                    start, end = tokens[index].start, tokens[index + len(wanted) - 1].end
                    places.append((_Place(function, start, end, new), (start, end) in spans))
        whole = [place for place, is_node in places if is_node]
        fitting = whole or [place for place, _ in places]
        if len(fitting) != times:
            wanted_times = "once" if times == 1 else f"{times} times"
            raise EditError(
                f"{old!r} fits {len(fitting)} times; it must fit exactly {wanted_times} in\n\n"
                + "\n\n".join(self.texts.values())
            )
        is_operation = bool(whole) and isinstance(_expression(new), _OPERATIONS)
        return [place._replace(new=f"({new})") for place in fitting] if is_operation else fitting


@lru_cache(4096)  # most functions of a formula have the same text in all its mistakes
def _code(text: str, name: str) -> CodeType:
    tree = ast.parse(text)
    if "while" in text:
        tree = ast.fix_missing_locations(_EndingLoops().visit(tree))
    return compile(tree, f"<{name}, edited>", "exec")


class _EndingLoops(ast.NodeTransformer):
    """`while` loops that end after `MOST_TURNS` turns, because an edit may take away what ends them."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        if any(isinstance(inner, ast.While) for inner in ast.walk(node)):
            node.body.insert(0, ast.parse(f"_turns = iter(range({MOST_TURNS}))").body[0])
        return node

    def visit_While(self, node: ast.While) -> ast.AST:
        self.generic_visit(node)
        turn = ast.parse("next(_turns, None) is not None", mode="eval").body
        node.test = ast.BoolOp(ast.And(), [node.test, turn])
        return node


def spelling(function: Function) -> str:
    """Return a function's text in the one spelling in which edits are searched."""
    return _spelling(_plain(function))


def _start(place: _Place) -> int:
    return place.start


def _is_function(value: Any) -> bool:
    return isinstance(value, FunctionType) or isinstance(getattr(value, "__wrapped__", None), FunctionType)


def _plain(function: Any) -> FunctionType:
    plain = inspect.unwrap(function)
    if not isinstance(plain, FunctionType):
        raise EditError(f"{function!r} is no function written with `def`")
    return plain


def _find_called(function: FunctionType) -> Iterator[FunctionType]:
    """The functions of the course that this one calls by their names in its module."""
    for name in _names(function.__code__):
        value = function.__globals__.get(name)
        if _is_function(value):
            called = _plain(value)
            if not called.__code__.co_filename.startswith((*_LIBRARIES, "<")):
                yield called


def _names(code: CodeType) -> Iterator[str]:
    for instruction in dis.get_instructions(code):
        if instruction.opname == "LOAD_GLOBAL":  # not an attribute that is called like a function of the module
            yield instruction.argval
    for constant in code.co_consts:
        if isinstance(constant, CodeType):  # a comprehension, a lambda
            yield from _names(constant)


class _Bare(ast.NodeTransformer):
    """A function without annotations and docstring, and without the decorator that declares it."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        node.returns = None
        node.decorator_list = [
            decorator for decorator in node.decorator_list if ".formula" not in ast.unparse(decorator)
        ]
        if len(node.body) > 1 and ast.get_docstring(node) is not None:
            del node.body[0]
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        return ast.copy_location(ast.Assign([node.target], node.value), node) if node.value else node


def _spelling(function: FunctionType) -> str:
    try:
        source = inspect.getsource(function)
    except OSError as error:
        raise EditError(f"the source of {function.__name__} cannot be read: {error}") from error
    return ast.unparse(_Bare().visit(ast.parse(textwrap.dedent(source))))


def _expression(text: str) -> ast.expr | None:
    try:
        return ast.parse(text.strip(), mode="eval").body
    except SyntaxError:
        return None


def _one_spelling(text: str) -> str:
    """Return an expression, or statements, as the syntax tree prints them; any other fragment as it is."""
    node = _expression(text)
    if isinstance(node, ast.Tuple) and not text.strip().startswith("("):
        return text  # arguments of a call, of which the tree would make a tuple with brackets
    try:
        return ast.unparse(ast.parse(textwrap.dedent(text).strip()))
    except SyntaxError:
        return text


@lru_cache(4096)  # each edit of an exercise looks through the same functions
def _tokens(text: str) -> tuple[_Token, ...]:
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found: list[_Token] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type in _LAYOUT or not token.string:
                continue
            spelt = _literal(token.string) if token.type == tokenize.STRING else token.string
            (row, column), (last, end) = token.start, token.end
            found.append(_Token(spelt, starts[row - 1] + column, starts[last - 1] + end))
    except (tokenize.TokenError, SyntaxError, IndentationError):
        pass  # a fragment ends within a bracket; its tokens are there all the same
    return tuple(found)


def _literal(text: str) -> str:
    """A string in one spelling, whatever its quotes; an f-string as it is written."""
    try:
        return repr(ast.literal_eval(text))
    except ValueError:
        return text


@lru_cache(4096)
def _spans(text: str) -> frozenset[tuple[int, int]]:
    """Return the start and end of each expression in a text."""
    lines = text.splitlines(keepends=True)
    starts = [sum(map(len, lines[:row])) for row in range(len(lines))]

    def offset(row: int, column: int) -> int:
        return starts[row - 1] + len(lines[row - 1].encode()[:column].decode())

    return frozenset(
        (offset(node.lineno, node.col_offset), offset(node.end_lineno, node.end_col_offset))
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.expr) and node.end_lineno is not None and node.end_col_offset is not None
    )


def _replace(text: str, place: _Place) -> str:
    line = text.rfind("\n", 0, place.start) + 1
    margin = text[line : place.start]
    new = textwrap.dedent(place.new).strip("\n")
    if not margin.strip():  # whole statements: they stand as far in as what they replace
        is_whole = place.end == len(text) or text[place.end] == "\n"
        new = new.strip().replace("\n", "\n" + margin) or ("pass" if is_whole else "")
    return text[: place.start] + new + text[place.end :]


# -- how a mistake is written down ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Mistake:
    """A mistake that can be named, and what it does to the results.

        edit("axis=-1", "axis=-2") | "The softmax runs over the queries." | "Which axis holds the keys?"

    `|` joins what a mistake consists of: several edits, what the probe sees, then the sentence, then the hint.

    Attributes:
        sentence: what the student is told.
        edits: what is different in the formula's text, each with how many times it fits there (`edits.Formula`).
        instead: another algorithm, in the formula's place.
        seen: what the probe says instead, by the result's name; a text alone is the first result.
        hint: the next hint for who makes it.
        see: the section of a lecture to read again, such as ``"02#why-sqrt-dk"``; a release fails if it is not there.
        costs_at_most: the largest share of the exercise's points that it may cost where it is the only mistake; for
            what the exercise is not about, such as a library's default.
    """

    sentence: str = ""
    edits: tuple[Edit, ...] = ()
    instead: Callable[..., Any] | None = None
    seen: Any = None
    hint: str = ""
    see: str = ""
    costs_at_most: float = 1.0

    def __or__(self, other: Mistake | str) -> Mistake:
        """Add a part to this mistake. Raises ValueError if it has this part already, or for a third text."""
        if isinstance(other, str):
            if self.hint:
                raise ValueError(f"a mistake has a sentence and a hint, and this is a third text: {other!r}")
            return replace(self, hint=other) if self.sentence else replace(self, sentence=other)
        new = other._parts()
        if twice := new.keys() & self._parts().keys():
            raise ValueError(f"a mistake has one {' and one '.join(sorted(twice))}: {self} | {other}")
        return replace(self, edits=self.edits + other.edits, **new)

    def _parts(self) -> dict[str, Any]:
        """Return the fields that are given, without the edits."""
        given = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "edits"}
        return {name: value for name, value in given.items() if not _is_blank(name, value)}


def _is_blank(name: str, value: Any) -> bool:
    default = getattr(Mistake, name)
    return value is default or (
        isinstance(value, str | float) and isinstance(default, type(value)) and value == default
    )


def edit(
    *texts: str | tuple[str, str] | Edit,
    times: int = 1,
    see: str = "",
    costs_at_most: float = 1.0,
) -> Mistake:
    """A mistake that is a change of the formula.

    Args:
        texts: a text of the formula and what stands there instead; or several such pairs.
        times: how many times each text occurs in the formula; all of them are replaced.
        see, costs_at_most: see `Mistake`.

    Raises:
        ValueError: the texts are no pairs.
    """
    pairs: Sequence[Any] = (texts,) if texts and isinstance(texts[0], str) else texts
    if not all(len(pair) == 2 or isinstance(pair, Edit) for pair in pairs):
        raise ValueError(f"an edit is a text and what stands there instead, but here are {texts!r}")
    edits = tuple(pair if isinstance(pair, Edit) else Edit(pair[0], pair[1], times) for pair in pairs)
    return Mistake(edits=edits, see=see, costs_at_most=costs_at_most)


def seen(result: Any, *, see: str = "", costs_at_most: float = 1.0) -> Mistake:
    """A mistake by which the probe says something else: the first result, or results by name."""
    return Mistake(seen=result, see=see, costs_at_most=costs_at_most)


def instead(function: Callable[..., Any], *, see: str = "", costs_at_most: float = 1.0) -> Mistake:
    """A mistake that is another algorithm in the formula's place."""
    return Mistake(instead=function, see=see, costs_at_most=costs_at_most)

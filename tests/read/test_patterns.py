"""Regular expressions that read what strangers wrote: none takes more than seconds for 200,000 characters.

The test finds the patterns itself. From the parse tree of each it makes texts that match for as long as possible and
break off at the last character: there a pattern that can match one text in many ways tries them all.
"""

from __future__ import annotations

import ast
import importlib
import re
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from re import _constants as codes
from re import _parser as parser

import pytest

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parents[2]
LENGTH = 200_000
SECONDS = 1.5  # of processor time for a text; a pattern that is linear takes milliseconds
LONG = 1_000  # times that count as without a limit
# These read only what the course's own people write, or chose: releases, the site, first files, an imported assignment.
OF_THE_COURSE = (
    "autograder/release",
    *(f"autograder/integrations/{name}" for name in ("site", "scaffold", "importing")),
)
ANCHORED = {"match", "fullmatch"}
FUNCTIONS = {"compile", "search", "sub", "subn", "split", "findall", "finditer"} | ANCHORED
SUSPECT = 0.02  # of a tenth of the text
BREAKS = ("\x01", "", "!", "\n", "a", " ")  # what stands last; one of them breaks the match
OF_A_CATEGORY = {
    codes.CATEGORY_DIGIT: "1",
    codes.CATEGORY_NOT_DIGIT: "a ",
    codes.CATEGORY_SPACE: " \n\t",
    codes.CATEGORY_NOT_SPACE: "a-",
    codes.CATEGORY_WORD: "a1_",
    codes.CATEGORY_NOT_WORD: "- \n",
}


# -- finding ---------------------------------------------------------------------------------------------------------


def patterns() -> Iterator[tuple[str, re.Pattern, set[str]]]:
    """Every pattern in the code that may read a stranger's text, its place, and the methods by which it is used."""
    for folder in ("autograder", "coursekit"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            if name.startswith(OF_THE_COURSE) or "import re\n" not in (source := path.read_text("utf-8")):
                continue
            module = importlib.import_module(name.removesuffix(".py").replace("/", ".").removesuffix(".__init__"))
            tree = ast.parse(source)
            # What a loop makes is not known before it runs; the patterns are in a collection then.
            loops = {
                id(inner)
                for node in ast.walk(tree)
                if isinstance(node, ast.GeneratorExp)
                for inner in ast.walk(node)
                if isinstance(inner, ast.Call) and getattr(inner.func, "attr", "") == "compile"
            }
            for node in ast.walk(tree):
                if isinstance(node, ast.Call) and _is_of_re(node.func) and id(node) not in loops:
                    made = f"{name}:{node.lineno}", pattern_of(node, module)
                    yield *made, uses(made[1], module) if node.func.attr == "compile" else {node.func.attr}
            for pattern in in_collections(vars(module)):
                yield f"{name}:{pattern.pattern[:40]}", pattern, uses(pattern, module)


def _is_of_re(function: ast.expr) -> bool:
    match function:
        case ast.Attribute(value=ast.Name(id="re"), attr=name):
            return name in FUNCTIONS
    return False


def pattern_of(call: ast.Call, module) -> re.Pattern:
    """The pattern of a call; what a name stands for only when it runs is replaced by a word."""
    flags = {word.arg: word.value for word in call.keywords}.get("flags")
    position = {"sub": 4, "subn": 4, "split": 3, "compile": 1}.get(call.func.attr, 2)
    flags = flags or (call.args[position] if len(call.args) > position else None)
    return re.compile(_text(call.args[0], module), _value(flags, module, 0) if flags is not None else 0)


def _text(node: ast.expr, module) -> str | bytes:
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part, module) for part in node.values)
    if isinstance(node, ast.FormattedValue):
        node = node.value
    return _value(node, module, "name")


def _value(node: ast.expr, module, unknown):
    try:
        return eval(compile(ast.Expression(node), "<pattern>", "eval"), vars(module))
    except NameError:
        return unknown


def in_collections(names: dict[str, object]) -> Iterator[re.Pattern]:
    """The patterns that a module keeps in tuples, which are made from texts elsewhere."""
    for value in names.values():
        for part in value if isinstance(value, tuple) else ():
            for pattern in part if isinstance(part, tuple) else (part,):
                if isinstance(pattern, re.Pattern):
                    yield pattern


def uses(pattern: re.Pattern, module) -> set[str]:
    """The methods that the code calls on a pattern's name, or on the name that a loop gives to it; else any."""
    found: set[str] = set()
    for name, value in vars(module).items():
        if (isinstance(value, re.Pattern) and value == pattern) or (  # equal: `re` forgets what it has compiled
            isinstance(value, tuple) and pattern in in_collections({"": value})
        ):
            for code in CODE:
                loops = re.findall(rf"for ([\w, ]+) in {name}\b", code)
                names = [name, *(word for loop in loops for word in loop.split(", "))]
                found.update(re.findall(rf"\b(?:{'|'.join(names)})\.({'|'.join(FUNCTIONS)})\b", code))
    return found or {"search"}


CODE = [path.read_text("utf-8") for folder in ("autograder", "coursekit") for path in (ROOT / folder).rglob("*.py")]
PATTERNS = {
    (pattern.pattern, pattern.flags, *sorted(ways)): (place, pattern, ways) for place, pattern, ways in patterns()
}
EACH = pytest.mark.parametrize(
    ("place", "pattern", "ways"), PATTERNS.values(), ids=[place for place, *_ in PATTERNS.values()]
)


# -- what is wrong by its form ---------------------------------------------------------------------------------------


@EACH
def test_no_repeat_without_a_limit_stands_in_another(place, pattern, ways):
    assert not nested(parser.parse(pattern.pattern, pattern.flags)), (place, pattern.pattern)


def nested(tree, inside: bool = False) -> bool:
    for kind, value in tree:
        endless = kind in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT) and value[1] > LONG
        if endless and inside:
            return True
        if any(nested(part, inside or endless) for part in parts(kind, value)):
            return True
    return False


def parts(kind, value) -> list:
    """The patterns inside a node."""
    match kind:
        case codes.MAX_REPEAT | codes.MIN_REPEAT | codes.POSSESSIVE_REPEAT:
            return [value[2]]
        case codes.SUBPATTERN:
            return [value[3]]
        case codes.BRANCH:
            return list(value[1])
        case codes.ASSERT | codes.ASSERT_NOT:
            return [value[1]]
        case codes.ATOMIC_GROUP:
            return [value]
    return []


@pytest.mark.parametrize("bad", [r"(a+)+", r"(?:\s*-\w*)*x", r"(?:a|b+)*"])
def test_nested_repeats_are_seen(bad):
    assert nested(parser.parse(bad))


# -- what is wrong by its time ---------------------------------------------------------------------------------------


@EACH
def test_no_text_takes_long(place, pattern, ways):
    """Each text is tried at a tenth of its length first; with each of its ends at full length where that is slow."""
    for before, pump in pumps(pattern):
        slow = any(
            seconds(place, pattern, ways, before, pump, length, last) > SUSPECT
            for length in (30, LENGTH // 10)
            for last in BREAKS
        )
        for last in BREAKS if slow else BREAKS[:1]:
            seconds(place, pattern, ways, before, pump, LENGTH, last)


def seconds(place, pattern, ways, before: str, pump: str, length: int, last: str) -> float:
    """The processor time of a pattern on one text."""
    text = before + pump * (length // len(pump)) + last
    if isinstance(pattern.pattern, bytes):
        text = text.encode("latin-1", "replace")
    begun = time.process_time()
    with at_most(SECONDS, f"{place}: {pattern.pattern!r} on {text[:40]!r}… of {len(text)}"):
        if ways - ANCHORED:
            sum(1 for _ in pattern.finditer(text))
        else:
            pattern.fullmatch(text) if "fullmatch" in ways else pattern.match(text)
    return time.process_time() - begun


@pytest.mark.parametrize(
    "bad",
    [r"^\s*%", r"(?m)^\s*$x", r"[\s.]+$", r"(?:a|aa)+$", pytest.param(r"\{\{node[^}]*\}\}", marks=pytest.mark.long)],
)
def test_patterns_that_go_back_are_seen(bad):
    with pytest.raises(TooLong):
        test_no_text_takes_long("here", re.compile(bad, re.MULTILINE), {"search"})


class TooLong(Exception):
    """The text of the error names the pattern and the text."""


@contextmanager
def at_most(seconds: float, what: str) -> Iterator[None]:
    """Raise `TooLong` after so many seconds of processor time; the engine of `re` looks at signals as it goes."""

    def stop(*_: object) -> None:
        raise TooLong(what)

    before, begun = signal.signal(signal.SIGPROF, stop), time.process_time()
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    assert time.process_time() - begun < 2 * seconds, what


def pumps(pattern: re.Pattern) -> Iterator[tuple[str, str]]:
    """What a pattern reads for long: each beginning of a match, and each repeat in it, to be repeated."""
    tree = parser.parse(pattern.pattern, pattern.flags)
    yield from dict.fromkeys((before, pump) for before, pump in pumped(tree) if pump)


def pumped(tree, before: str = "") -> Iterator[tuple[str, str]]:
    """Pairs of a text that leads to a place in a pattern and one that may be repeated there."""
    so_far = before
    for kind, value in tree:
        if kind in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT) and value[1] > LONG:
            for body in islice(samples(value[2]), 12):
                yield so_far, body
                yield "", body
        for part in parts(kind, value):
            yield from pumped(part, so_far)
        so_far += next(samples([(kind, value)]), "")
        yield "", so_far  # the search begins anew at each of them


def samples(tree) -> Iterator[str]:
    """Short texts that a pattern matches, by different ways through it."""
    texts = [""]
    for kind, value in tree:
        options = list(islice(of_node(kind, value), 8)) or [""]
        texts = [text + option for text in texts for option in options][:24]
    yield from dict.fromkeys(texts)


def of_node(kind, value) -> Iterator[str]:
    match kind:
        case codes.LITERAL:
            yield chr(value)
        case codes.NOT_LITERAL:
            yield "b" if value == ord("a") else "a"
        case codes.ANY:
            yield "a"
        case codes.IN:
            yield from of_set(value)
        case codes.MAX_REPEAT | codes.MIN_REPEAT | codes.POSSESSIVE_REPEAT:
            least, most, inner = value
            for sample in islice(samples(inner), 6):
                yield sample * max(least, min(1, most))
            if not least:
                yield ""
        case codes.ASSERT | codes.ASSERT_NOT | codes.AT:
            yield ""
        case _:
            for part in parts(kind, value):
                yield from islice(samples(part), 4)


def of_set(members) -> Iterator[str]:
    if members[0] == (codes.NEGATE, None):
        matches = re.compile("[^" + re.escape("".join(set_text(members[1:]))) + "]")
        yield from [sign for sign in "a1 -\n\"'x" if matches.fullmatch(sign)][:3]
    else:
        yield from dict.fromkeys(set_text(members))


def set_text(members) -> Iterator[str]:
    for kind, value in members:
        match kind:
            case codes.LITERAL:
                yield chr(value)
            case codes.RANGE:
                yield chr(value[0])
            case codes.CATEGORY:
                yield from OF_A_CATEGORY[value]

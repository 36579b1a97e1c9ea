"""Lab 10, exercise `python_share`."""

import ast
from collections.abc import Sequence

import numpy as np

from autograder.declare import Case, Exercise, edit
from coursekit.lecture.python_names import bound_names, names_read, parameter_names

NAN = float("nan")

exercise = Exercise("python_share", own_probe=True)


@exercise.formula
def python_share(prompts: Sequence[str], bodies: Sequence[str], ended: Sequence[bool]) -> dict[str, np.ndarray]:
    """Whether each function is Python, its lines, and which of its names exist; a flag says where nothing counts."""
    table = np.array([judged(*each) for each in zip(prompts, bodies, ended, strict=True)], "float64")
    named = dict(zip(("parses", "lines", "bound", "used"), table.T, strict=True))
    for name in ("bound", "used"):
        named |= {name + "_is_nan": np.isnan(named[name]).astype("int64"), name: np.nan_to_num(named[name])}
    return named


def judged(prompt: str, body: str, end: bool) -> tuple[float, float, float, float]:
    """parses, lines, bound and used of one function."""
    lines = sum(bool(line.strip()) for line in body.split("\n"))
    function = parsed(prompt, body) if end else None
    if function is None:
        return 0, lines, NAN, NAN
    reads = names_read(function)
    known = [name in bound_names(function) for name in reads if name[0].islower()]
    used = [name in reads for name in parameter_names(function) if name not in ("self", "cls")]
    return 1, lines, share_of(known), share_of(used)


def parsed(prompt: str, body: str) -> ast.FunctionDef | None:
    """The one function that prompt and body make together."""
    try:
        module = ast.parse(prompt + body)
    except SyntaxError:
        return None
    return module.body[0] if len(module.body) == 1 and isinstance(module.body[0], ast.FunctionDef) else None


def share_of(kept: Sequence[bool]) -> float:
    """The share of True; NaN of nothing."""
    return sum(kept) / len(kept) if kept else NAN


WORDS = ("width", "height", "value", "total", "path", "name", "count", "limit", "start", "step", "text", "mode")
READ = [
    ("def {f}(self, {a}, {b}):", "\n    {c} = {a} * {b}\n\n    return {c}\n"),
    ("def {f}({a}, {b}=None):", "\n    if {a} is None:\n        return {d}\n    return {a} + toText({a})\n"),
    ("def {f}(self, *{a}, **{b}):", "\n    for {c} in {a}:\n        print({c}, self.{d})\n"),
    (
        "def {f}({a}, {b}={d}):",
        '\n    """Say {a}."""\n    try:\n        return int({a})\n    except ValueError as {c}:\n        '
        "raise TypeError({b}) from {c}\n",
    ),
    (
        "def {f}(cls, {a}):",
        "\n    import os.path\n    from sys import argv as {c}\n    return [os.sep + {b} for {b} in {c} if "
        "{b} in {a}]\n",
    ),
    ("def {f}({a}):", "\n    def {c}({b}):\n        return {b} + {a}\n\n    return {c}(len({d}))\n"),
    ("def {f}({a}, {b}):", "\n    {c} = {d}\n    {b} = {a}\n    return {c}\n"),  # to assign a name is not to read it
    ("def {f}(N, _{a}, {b}):", "return N * _{a} + N * _{c}\n"),  # in the prompt's own line
]
NOTHING_TO_COUNT = [
    ("def {f}():", "\n    return 1\n"),
    ("def {f}(self):", "\n\n    return MAXIMUM\n\n"),
    ("def {f}(self, {a}):", "\n    pass\n"),
]
INDENTED = [
    ("def {f}({a}):", "\n    {b} = {a}\n    \n    return {b}\n"),
    ("def {f}({a}, {b}):", "\n    print({a})\n  \n\n    return {b}\n    "),
]
BROKEN = [
    ("def {f}({a}):", "\n    return ({a}\n"),
    ("def {f}({a}):", "\n    return {a}\nprint({a})\n"),
    ("def {f}({a}):", "\n  x = {a}\n    return x\n"),
    ("def {f}({a}, {b}):", ""),
]


def _written(rng, templates, ended=None, times=1):
    """Prompts and bodies from templates, with other names each time and in another order."""
    prompts, bodies, ends = [], [], []
    for place in rng.permutation(len(templates) * times):
        names = dict(zip("fabcd", (WORDS[int(word)] for word in rng.permutation(len(WORDS))), strict=False))
        prompt, body = templates[int(place) % len(templates)]
        prompts.append(prompt.format(**names))
        bodies.append(body.format(**names))
        ends.append(True if ended is None else ended[int(place) % len(templates)])
    return {"prompts": prompts, "bodies": bodies, "ended": ends}


@exercise.group("functions that are Python")
def real(rng):
    yield Case(_written(rng, [*READ[:3], READ[-1]]), "four functions")
    yield Case(_written(rng, READ, times=2), "sixteen functions")
    yield Case(_written(rng, INDENTED), "two functions with lines of spaces alone")


@exercise.group("nothing to count")
def nothing(rng):
    return Case(_written(rng, [*READ[:1], *NOTHING_TO_COUNT]), "bodies that read no name, functions without parameters")


@exercise.group("broken, unended, two statements")
def broken(rng):
    unended = [*READ[:2], *NOTHING_TO_COUNT[:2]]
    yield Case(_written(rng, [*BROKEN, READ[1]]), "brackets that are not closed, a second statement, an empty body")
    yield Case(_written(rng, unended, [True, False, True, False]), "two that ended, and two that did not")


exercise.mistakes(
    lines_of_spaces_counted=edit("bool(line.strip())", "bool(line)")
    | "A line that holds only spaces is counted. It is blank, too."
    | "What does `strip` leave of such a line?",
    unended_counted=edit("parsed(prompt, body) if end else None", "parsed(prompt, body)", see="10#sample")
    | "A body that did not end is counted as Python. It was cut off: what it would have become is not known."
    | "What does `ended` say, and when does a body count?",
    body_alone=edit("ast.parse(prompt + body)", "ast.parse(body)", see="10#sample")
    | "The body is parsed without its first line, and an indented text alone is no Python. Parse prompt + body.",
    several_statements=edit("len(module.body) == 1 and isinstance", "isinstance")
    | "A body that goes on behind the function counts. Prompt and body together should be exactly one function."
    | "How many statements does `ast.parse(…).body` hold?",
    each_name_once=edit("(function) for name in reads if name[0].", "(function) for name in set(reads) if name[0].")
    | "Each name counts once. Count every reading: a name that is read five times counts five times.",
    zero_for_nan=edit("sum(kept) / len(kept) if kept else NAN", "sum(kept) / len(kept) if kept else 0.0")
    | "A share of nothing is 0 here. It should be NaN: nothing was counted."
    | "A function without parameters: is it a bad one?",
    self_counted=edit('parameter_names(function) if name not in ("self", "cls")', "parameter_names(function)")
    | "`self` and `cls` count as parameters. They should be left out.",
    cls_counted=edit('name not in ("self", "cls")', 'name != "self"')
    | "`cls` counts as a parameter. It should be left out, as `self` is.",
    underscore_counted=edit("name[0].islower()", "not name[0].isupper()")
    | "A name such as `_x` counts. `bound` should look at names that begin with a small letter.",
    line_between=edit("ast.parse(prompt + body)", 'ast.parse(prompt + "\\n" + body)')
    | "A line break stands between prompt and body. A body may begin in the prompt's own line: parse prompt + body.",
    used_is_bound=edit("in reads for name in parameter_names", "in bound_names(function) for name in parameter_names")
    | "`used` asks which parameters exist, and all do. It asks which of them are read.",
    blank_lines_counted=edit('sum(bool(line.strip()) for line in body.split("\\n"))', "len(body.strip().splitlines())")
    | "Blank lines count. Only lines that hold something should."
    | "What does `line.strip()` leave of a blank line?",
    capitals_counted=edit("reads if name[0].islower()", "reads")
    | "All names count. `bound` should look at those that begin with a small letter: a capital one may stand for a "
    "class or a constant of the module.",
    small_throughout=edit("reads if name[0].islower()", "reads if name.islower()")
    | "Only names without any capital letter count. The first letter should decide: `toText` begins with a small one.",
)

exercise.advice(
    real="`parses`: prompt + body, with nothing between them. `bound`: every reading of a name in the body counts, "
    "not every name once. `used`: the parameters that are read, as a share of the parameters.",
    nothing="A share of nothing is NaN, and so are both shares of what does not parse. `lines` is counted in every "
    "body.",
    broken="It counts if it ended, and if prompt and body are exactly one function.",
)
exercise.hints(
    real=(
        "Look at the four results one by one. `parses` asks three things of prompt + body, `bound` looks at every "
        "reading of a name, and `used` at every parameter.",
        "`names_read(function)` is a list in which a name stands as often as it is read; `bound_names(function)` is a "
        "set.",
    ),
    nothing="`np.nan` where a list is empty; otherwise its mean.",
    broken="Two conditions: it ended, and prompt and body together are one statement.",
)

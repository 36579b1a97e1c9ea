"""Lab 10b, exercise `measure_reward`."""

import re
from functools import partial
from typing import Any

import numpy as np

from autograder.declare import Advice, Case, Exercise, edit
from exercises.drawing import drawn_until

exercise = Exercise("measure_reward", own_probe=True, returns=("before", "after", "elsewhere", "one_shape"))


@exercise.formula
def shares(prompts, bodies_before, bodies_after):
    """Shares of answers that earn the point: before, after, and after behind the next prompt; the commonest shape."""
    before, after, elsewhere, one_shape = measured(prompts, bodies_before, bodies_after)
    return {"before": before, "after": after, "elsewhere": elsewhere, "one_shape": one_shape}


def measured(prompts: list[str], bodies_before: list[str], bodies_after: list[str]) -> tuple[float, ...]:
    """The four shares."""
    following = [*prompts[1:], prompts[0]]
    before = earned(prompts, bodies_before).mean()
    after = earned(prompts, bodies_after).mean()
    elsewhere = earned(following, bodies_after).mean()
    shapes = [shape(body) for body in bodies_after]
    one_shape = max(shapes.count(each) for each in shapes) / len(shapes)
    return before, after, elsewhere, one_shape


@exercise.formula_for("conclusion")
def conclusion(prompts, bodies_before, bodies_after):
    """What the shares say; differences of a fifth count. The drawn models differ by far less, or by far more."""
    before, after, elsewhere, one_shape = measured(prompts, bodies_before, bodies_after)
    is_more = after - before > 0.2
    is_one_shape = one_shape > 0.5
    is_its_own = after - elsewhere > 0.2
    by_prompt = "own prompt" if is_its_own else "any prompt"
    told = "one shape" if is_one_shape else by_prompt
    return {"conclusion": told if is_more else "unchanged"}


def earned(prompts: list[str], bodies: list[str]) -> np.ndarray:
    """1 where a body of those that are drawn here reads a parameter of its prompt."""
    return np.array([float(reads(prompt, body)) for prompt, body in zip(prompts, bodies, strict=True)])


def reads(prompt: str, body: str) -> bool:
    """Whether a name of the body stands between the brackets of the prompt; no attribute is called like a parameter."""
    return bool({*re.findall(r"\w+", prompt.partition("(")[2])} & {*re.findall(r"\w+", body)})


def shape(body: str) -> str:
    """The body with x for every word: no two templates have the same one."""
    return re.sub(r"[a-z_]+", "x", body)


PARAMETERS = [
    "path",
    "name",
    "value",
    "key",
    "data",
    "items",
    "width",
    "stream",
    "node",
    "mode",
    "text",
    "limit",
    "parts",
    "source",
    "query",
    "token",
]
VERBS, NOUNS = (
    ["get", "set", "find", "read", "write", "load", "make", "test"],
    ["field", "line", "entry", "part", "table", "image", "state", "order"],
)
ATTRIBUTES = ["owner", "first", "parent", "buffer", "handler", "config", "total", "offset", "closed"]
TEMPLATES = [
    "return {p}", "return {p}.{a}", "return {p}.{a}()", "return {p}[0]", "return [{p}]", "return {p} + 1",
    "return -{p}", "return {p}.{a}.{b}", "return {p} == 1", "{p}.{a} = 1", "return {p}.{a}({p})", "return {p} * 2",
    "return {p}.{a}[0]", "return {{{p}: 1}}", "return {p}, 1", "return {p}.{a}().{b}", "return {p}[1:]",
    "return {p}.{a} + 1", "return {p}.{a} == 1",
]  # fmt: skip


def _body(rng, name: str, templates: list[str]) -> str:
    a, b = (str(each) for each in rng.permutation(ATTRIBUTES)[:2])
    return f"\n    {templates[rng.integers(len(templates))].format(p=name, a=a, b=b)}\n"


def _prompts(rng, count: int) -> list[str]:
    """Different first lines with two parameters each; each line's are others than those of the line before."""
    names = [f"{verb}_{noun}" for verb in VERBS for noun in NOUNS]
    chosen = [names[place] for place in rng.permutation(len(names))[:count]]
    return [f"def {name}(self, {', '.join(str(each) for each in rng.permutation(PARAMETERS)[:2])}):" for name in chosen]


def _own(rng, prompt: str) -> str:
    """One of the prompt's parameters, but not `self`."""
    return re.findall(r"\w+", prompt.partition("(")[2])[1 + int(rng.integers(2))]


def _written(rng, prompts: list[str], share: float, templates: list[str] = TEMPLATES, own: float = 1.0) -> list[str]:
    """Bodies that read a parameter with probability `share`; so much of it is one of the prompt's own, else `self`."""

    def name(prompt: str) -> str:
        if rng.random() < share:
            return _own(rng, prompt) if rng.random() < own else "self"
        return "registry"

    return [_body(rng, name(prompt), templates) for prompt in prompts]


# The law of each model, before and after: how often it reads a parameter, which one, and in which shapes.
KINDS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "unchanged": ({"share": 0.3}, {"share": 0.3}),
    "unchanged, high": ({"share": 0.9}, {"share": 0.9}),
    "unchanged, worse": ({"share": 0.85}, {"share": 0.2, "own": 0.06}),
    "unchanged, one shape": ({"share": 0.9, "own": 0.0, "templates": TEMPLATES[:1]},) * 2,
    "one shape": ({"share": 0.2}, {"share": 0.95, "own": 0.0, "templates": TEMPLATES[2:3]}),
    "one body": ({"share": 0.2}, {"share": 0.97, "own": 0.0, "templates": TEMPLATES[:1]}),
    "one shape, own prompt": ({"share": 0.2}, {"share": 0.9, "templates": TEMPLATES[:1]}),
    "any prompt": ({"share": 0.2}, {"share": 0.9, "own": 0.06}),
    "own prompt": ({"share": 0.2}, {"share": 0.85}),
}


def _inputs(rng, kind: str, count: int) -> dict:
    prompts = _prompts(rng, count)
    before, after = (_written(rng, prompts, **law) for law in KINDS[kind])
    if kind == "one shape":  # other attributes each time, so that hardly two bodies are equal
        after = [re.sub(r"\.\w+", f".{NOUNS[place % 8]}_{VERBS[place // 8]}", body) for place, body in enumerate(after)]
    return {"prompts": prompts, "bodies_before": before, "bodies_after": after}


def _is_clear(inputs: dict, kind: str) -> bool:
    """Whether the samples say what the laws are, by any sensible rule; equal laws differ, by less than 1.5 errors."""
    found, count = shares(**inputs), len(inputs["prompts"])
    rise, apart = found["after"] - found["before"], found["after"] - found["elsewhere"]
    error = np.sqrt((found["after"] * (1 - found["after"]) + found["before"] * (1 - found["before"])) / count)
    as_law = {**conclusion(**inputs)}["conclusion"] == kind.partition(",")[0].replace("body", "shape")
    if kind == "unchanged, worse":
        return bool(as_law and rise < -0.45 and 0 <= apart < 0.05)
    if kind.startswith("unchanged"):
        return bool(as_law and 0.03 < rise < 1.5 * error)
    is_skill = apart > 0.45 if "own" in kind else (kind == "any prompt") * 0.03 <= apart < 1.5 * error
    is_mixed = found["one_shape"] > 0.8 if kind.startswith("one") else found["one_shape"] < 0.25
    return bool(as_law and rise > 0.45 and is_skill and is_mixed)


def _case(rng, kind: str, count: int = 60) -> Case:
    inputs = drawn_until(lambda drawn: _is_clear(drawn, kind), partial(_inputs, rng, kind, count))
    told = ", ".join(f"{name} {share:.2f}" for name, share in shares(**inputs).items())
    return Case(inputs, f"{count} answers of each model: {told}", mode="conclusion")


def _apart(inputs: dict) -> bool:
    """Whether the shares that wrong pairings give are none of the four, nor wrong counts the share of one shape."""
    prompts, old, new = (inputs[name] for name in ("prompts", "bodies_before", "bodies_after"))
    ahead, back = [*prompts[1:], prompts[0]], [prompts[-1], *prompts[:-1]]
    points = [earned(prompts, old), earned(prompts, new), earned(ahead, new), earned(back, new), earned(ahead, old)]
    shapes, others = ([shape(body) for body in some] for some in (new, old))
    counts = [max(some.count(each) for each in some) for some in (shapes, others, new)]
    found = [each.sum() for each in points], [*counts, len(set(shapes))]
    return all(len(set(some)) == len(some) and min(some) > 0 for some in found)


@exercise.group("four shares", points=2)
def values(rng):
    for count in (37, 29):
        laws = {"share": 0.4}, {"share": 0.7, "templates": [*TEMPLATES[:3], *TEMPLATES[1:3]]}

        def draw(count=count, laws=laws):
            prompts = _prompts(rng, count)
            before, after = (_written(rng, prompts, **law) for law in laws)
            return {"prompts": prompts, "bodies_before": before, "bodies_after": after}

        yield Case(drawn_until(_apart, draw), f"{count} answers of each of two models")


def _in_any_order(rng, *kinds: str) -> list[Case]:
    return [_case(rng, kinds[place]) for place in rng.permutation(len(kinds))]


@exercise.group("does it earn more than before?", points=2)
def more(rng):
    kinds = "unchanged", "unchanged, high", "unchanged, one shape", "own prompt", "one body", "any prompt"
    return [*_in_any_order(rng, *kinds), _case(rng, "unchanged, worse")]


@exercise.group("by one shape, or by many?")
def many(rng):
    return _in_any_order(rng, "one body", "one shape", "one shape, own prompt", "own prompt", "any prompt")


@exercise.group("behind its own prompt, or behind any?")
def own(rng):
    return _in_any_order(rng, "any prompt", "any prompt", "own prompt", "own prompt", "one shape")


MORE, ITS_OWN = "after - before > 0.2", "after - elsewhere > 0.2"
RETURNED = 'return {"before": before, "after": after, "elsewhere": elsewhere, "one_shape": one_shape}'
TOLD = '"one shape" if is_one_shape else by_prompt'
ELSEWHERE = "earned(following, bodies_after).mean()"

exercise.mistakes(
    any_difference=edit(MORE, "after > before")
    | "Any rise counts as more. Two samples of one and the same model differ, too: how much, the standard error says."
    | "Of 60 answers a share of 0.3 varies with a standard error of √(0.3 · 0.7/60) = 0.06, and two shares vary both.",
    worse_counts=edit(MORE, "abs(after - before) > 0.2")
    | "A model that earns less than before is not called `unchanged`: the sign of the difference is lost. The first "
    "row of the table holds for it, too.",
    base_rate_forgotten=edit(MORE, "after > 0.5", see="10b#sharpened")
    | "A high share counts as learned, whatever it was before. Compare with the model before."
    | "Which share earns the point without any training?",
    shape_before_rise=edit("told if is_more", "told if is_more or is_one_shape")
    | "One shape is concluded although the model earns no more than before. The first row of the table that holds "
    "counts.",
    bodies_counted=edit(
        "shapes = [shape(body) for body in bodies_after]", "shapes = bodies_after", see="10b#next-reward"
    )
    | "Equal bodies are counted, not equal shapes. `self.a()` and `self.b()` are two texts of one shape."
    | "`shape_of(body)` has one letter for every name.",
    shapes_ignored=edit("told = " + TOLD, "told = by_prompt", see="10b#next-reward")
    | "The shapes are not looked at: a model that always writes one body counts as one that writes many.",
    prompt_before_shape=edit(TOLD, '"one shape" if is_one_shape and is_its_own else by_prompt')
    | "A model of one shape is called `any prompt`. The rows of the table are tried from top to bottom.",
    other_prompt_ignored=edit("is_its_own = " + ITS_OWN, "is_its_own = True", see="10b#sharpened")
    | "What the bodies earn behind another prompt decides nothing here, or any loss there does. A body that reads "
    "`self` earns behind every prompt.",
    prompts_exchanged=edit(
        '"own prompt" if is_its_own else "any prompt"', '"any prompt" if is_its_own else "own prompt"'
    )
    | "The last two conclusions are exchanged. Where another prompt costs the point, the body is for its own prompt.",
    any_loss_is_skill=edit(ITS_OWN, "after > elsewhere")
    | "Any loss behind another prompt counts as skill. Two shares of one and the same law differ, too.",
    before_behind_others=edit(ELSEWHERE, "earned(following, bodies_before).mean()")
    | "`elsewhere` is of the model before. It should be of the model after the training.",
    same_prompt=edit(ELSEWHERE, "earned(prompts, bodies_after).mean()")
    | "`elsewhere` is `after` again: each body stands behind its own prompt.",
    previous_prompt=edit("[*prompts[1:], prompts[0]]", "[prompts[-1], *prompts[:-1]]")
    | "Each body stands behind the prompt before its own. Put it behind the next one, the last body behind the first.",
    shapes_of_before=edit("for body in bodies_after", "for body in bodies_before")
    | "The shapes are those of the model before. Count those after the training.",
    number_of_shapes=edit("max(shapes.count(each) for each in shapes) / len(shapes)", "len(set(shapes)) / len(shapes)")
    | "This is how many shapes there are, as a share. Give the share of the commonest one.",
    shape_counted=edit(RETURNED, RETURNED.replace("one_shape}", "one_shape * len(prompts)}"))
    | "`one_shape` is a number of answers. Give their share.",
    counts=edit(RETURNED, re.sub(r": (before|after|elsewhere)", r": \1 * len(prompts)", RETURNED))
    | "These are sums of points. Give shares: divide by the number of answers.",
    exchanged=edit(RETURNED, RETURNED.replace(": before, ", ": after, ").replace('"after": after', '"after": before'))
    | "`before` and `after` are exchanged.",
)

exercise.advice(
    values=Advice(
        value="`reward(prompt, body)` gives 1 or 0. Take three means of it, and the share of the commonest "
        "`shape_of(body)`."
    ),
    more="Go through the table from the top with the four shares of the case. Two samples of one model differ by "
    "chance. So a difference counts only if it is well above its standard error.",
    many="Go through the table from the top with the four shares of the case: the first row that holds counts.",
    own="Go through the table from the top with the four shares of the case. Does another prompt cost the point?",
)
exercise.hints(
    values=(
        "`after` is a list of pairs. `prompts[1:] + prompts[:1]` are the prompts, each moved to the answer before it.",
        "Print ten pairs of a body and the next prompt.",
    ),
    more=(
        "A share a of n answers has the standard error √(a(1 − a)/n). That of a difference is the root of the sum of "
        "both squares.",
        "A common choice: it counts from two or three standard errors on.",
    ),
    many="More than half of the answers of one shape: that is `one_shape > 0.5`.",
    own="If a body earns as much behind any prompt, what has it read of its own one?",
)

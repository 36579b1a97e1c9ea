"""Lab 02, exercise `measure_saturation`."""

import math
from typing import Any

import numpy as np

from autograder.declare import Advice, Case, Exercise, edit, seen
from coursekit.probes.self_attention import CHANGED, every_draw
from exercises.drawing import drawn_until, is_far_apart
from exercises.formulas.attention import softmax

exercise = Exercise(
    "measure_saturation",
    own_probe=True,
    returns=("unscaled", "scaled", "first_unscaled", "first_scaled", "base", "draws"),
)


@exercise.formula
def mean_largest_weights(queries: np.ndarray, keys: np.ndarray, widths: list[int]) -> dict[str, np.ndarray]:
    """The mean largest weight at each width, without and with √d; queries (widths, seeds, T, d), keys (…, S, d)."""
    unscaled, scaled = both_settings(queries, keys, widths)
    return {"unscaled": unscaled, "scaled": scaled}


@exercise.formula_for("firsts")
def first_widths(queries: np.ndarray, keys: np.ndarray, widths: list[int], threshold: float = 0.9) -> dict[str, Any]:
    """The first width whose mean passes the threshold, without and with √d; the means, which tell mistakes apart."""
    unscaled, scaled = both_settings(queries, keys, widths)
    return {
        "unscaled": unscaled,
        "scaled": scaled,
        "first_unscaled": first_above(unscaled, widths, threshold),
        "first_scaled": first_above(scaled, widths, threshold),
    }


@exercise.formula_for("base")
def equal_weights(queries: np.ndarray, keys: np.ndarray) -> dict[str, float]:
    """The largest of S equal weights."""
    return {"base": 1 / keys.shape[-2]}


@exercise.formula_for("draws")
def draws_alone(seeds: list[int]) -> dict[str, str]:
    """What was drawn."""
    return {"draws": every_draw(seeds)}


def both_settings(queries: np.ndarray, keys: np.ndarray, widths: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Mean largest weights without and with the division, from the same draws."""
    unscaled, scaled = np.zeros((2, len(widths)))
    for place, width in enumerate(widths):
        scores = np.einsum("ntd,nsd->nts", queries[place, :, :, :width], keys[place, :, :, :width])
        unscaled[place] = mean_largest(scores)
        scaled[place] = mean_largest(scores / math.sqrt(width))
    return unscaled, scaled


def mean_largest(scores: np.ndarray) -> float:
    """Scores (seeds, T, S) -> the largest weight of a query, on average over queries and seeds."""
    return float(softmax(scores).max(axis=-1).mean())


def first_above(means: np.ndarray, widths: list[int], threshold: float) -> str:
    """The first of the widths whose mean is above the threshold, as text; "None" if there is none."""
    passing = [str(width) for width, mean in zip(widths, means, strict=True) if mean > threshold]
    return [*passing, "None"][0]


QUERIES, KEYS = 5, 7


def _inputs(rng, widths: list[int], seeds: int, growth: float, threshold: float | None = None) -> dict:
    """Draws of normal entries, whose deviation grows with the width; a threshold, drawn if none is given."""
    shape = (len(widths), seeds, QUERIES + KEYS, max(widths))
    deviation = np.array([(width / widths[0]) ** growth for width in widths])[:, None, None, None]
    drawn = (rng.normal(size=shape) * deviation).astype("float32")
    for place, width in enumerate(widths):
        drawn[place, ..., width:] = 0  # never handed over
    return {
        "queries": drawn[:, :, :QUERIES],
        "keys": drawn[:, :, QUERIES:],
        "widths": widths,
        "seeds": rng.permutation(900)[:seeds].tolist(),
        "threshold": threshold or round(0.5 + 0.4 * float(rng.random()), 2),
    }


def _clear(rng, widths, seeds, growth=0.0, *, both=False, threshold=None):
    """Inputs that tell the right function from the wrong ones.

    Without the division a width in the middle passes; with it none does, or, if `both`, a later one. Means rise with
    the width, no mean is near the threshold, and the first seed alone gives another answer.
    """

    def fits(inputs: dict) -> bool:
        queries, keys, limit = (inputs[name] for name in ("queries", "keys", "threshold"))
        means = both_settings(queries, keys, widths)
        firsts = [first_above(row, widths, limit) for row in means]
        alone = [first_above(row, widths, limit) for row in both_settings(queries[:, :1], keys[:, :1], widths)]
        return (
            firsts[0] in map(str, widths[1:-1])
            and (firsts[1] != "None") == both
            and firsts[0] != firsts[1]
            and alone != firsts
            and all((np.abs(row - limit) > 0.01).all() and (np.diff(row[: 2 + both]) > 0.01).all() for row in means)
        )

    return drawn_until(fits, lambda: _inputs(rng, widths, seeds, growth, threshold))


def _saturated(rng, widths: list[int], seeds: int) -> dict:
    """Scores so far apart that every largest weight is exactly 1, and the threshold 1, which no mean is above."""

    def draw() -> dict:
        inputs = _inputs(rng, widths, seeds, 0.0, threshold=1.0)
        return {**inputs, "queries": 1000 * inputs["queries"]}

    def is_clear(inputs: dict) -> bool:
        queries, keys = inputs["queries"], inputs["keys"]
        return all(
            is_far_apart(np.einsum("ntd,nsd->nts", queries[place, :, :, :width], keys[place, :, :, :width]), 300)
            for place, width in enumerate(widths)
        )

    return drawn_until(is_clear, draw)


def _up_and_down(rng, widths: list[int], seeds: int) -> dict:
    """Means below the threshold, above it, below and above again: both settings pass first at the second width."""

    def draw() -> dict:
        inputs = _inputs(rng, widths, seeds, 0.0)
        factors = np.array([0.05, 20, 0.05, 20], "float32")[:, None, None, None]
        return {**inputs, "queries": factors * inputs["queries"]}

    def fits(inputs: dict) -> bool:
        means = np.array(both_settings(inputs["queries"], inputs["keys"], widths))
        limit = inputs["threshold"]
        return bool((means[:, ::2] < limit - 0.01).all() and (means[:, 1::2] > limit + 0.01).all())

    return drawn_until(fits, draw)


def _hardly_above(rng, widths: list[int], seeds: int) -> dict:
    """A mean that is above the threshold, and not if it is rounded to three digits or fewer; no other one is near."""

    def draw() -> dict:
        inputs = _inputs(rng, widths, seeds, 0.2)
        largest = float(both_settings(inputs["queries"], inputs["keys"], widths)[0].max())
        return {**inputs, "threshold": math.floor(100 * largest) / 100}

    def fits(inputs: dict) -> bool:
        above = np.array(both_settings(inputs["queries"], inputs["keys"], widths)) - inputs["threshold"]
        is_hardly_above = (above > 1e-4) & (above < 4e-4)
        return bool(is_hardly_above.sum() == 1 and (np.abs(above[~is_hardly_above]) > 0.01).all())

    return drawn_until(fits, draw)


def _case(inputs: dict, text: str, mode: str = "call", scale: float = 1.0) -> Case:
    return Case(inputs, f"{text}, {QUERIES} queries, {KEYS} keys", mode=mode, scale=scale)


@exercise.group("mean largest weight at each width", points=2)
def means(rng):
    large = _inputs(rng, [3, 5], 3, 0.0)
    large |= {name: 30 * large[name] for name in ("queries", "keys")}
    yield _case(_inputs(rng, [2, 5, 11], 3, 0.0), "three widths, three seeds")
    yield _case(_inputs(rng, [3, 13, 23, 41], 4, 0.1), "four widths, four seeds")
    yield _case(large, "two widths, three seeds, scores in the thousands", scale=20)


@exercise.group("first width above the threshold, or None", must_fail_for=("place_of_width", "none_becomes_first"))
def firsts(rng):
    usual = _clear(rng, [3, 11, 29, 61], 3, 0.2, threshold=0.9)
    del usual["threshold"]
    yield _case(_clear(rng, [2, 5, 11, 23], 3), "four widths, three seeds", "firsts")
    yield _case(_clear(rng, [2, 3, 7, 13, 29], 4, 0.45, both=True), "five widths, four seeds", "firsts")
    yield _case(usual, "four widths, three seeds, the threshold as it is by default", "firsts")
    yield _case(_saturated(rng, [3, 5], 2), "two widths, two seeds, means of 1 and the threshold 1", "firsts")
    yield _case(
        _up_and_down(rng, [2, 3, 5, 11], 3),
        "four widths, three seeds, means that rise, fall and rise",
        "firsts",
        scale=20,
    )
    yield _case(_hardly_above(rng, [2, 5], 3), "two widths, three seeds, a mean just above the threshold", "firsts")


@exercise.group("base rate", must_fail_for=("base_of_queries",))
def base(rng):
    """The number of keys is drawn: fewer than in the other groups, and never as many as a width, or as seeds."""
    inputs = _inputs(rng, [11, 13], 1, 0.0)
    count = int(rng.integers(2, KEYS))
    inputs["keys"] = inputs["keys"][:, :, :count]
    return Case(inputs, f"{inputs['queries'].shape[-2]} queries, {count} keys, equal weights", mode="base")


exercise.group(
    "every seed at every width",
    draws=lambda rng: _case(_inputs(rng, [2, 5, 11], 3, 0.0), "what your function drew", "draws"),
)
LARGEST = "softmax(scores).max(axis=-1).mean()"

exercise.mistakes(
    none_becomes_first=edit('[*passing, "None"][0]', "[*passing, str(widths[0])][0]")
    | "Where no width passes, you give the first one. `np.argmax` of all False is 0."
    | "What should the function say if no mean is above the threshold?",
    place_of_width=edit("str(width) for width, mean in", "str(list(widths).index(width)) for width, mean in")
    | "This is the position in the list. Return the width that stands there.",
    scaled_by_d=edit("math.sqrt(width)", "width", see="02#why-sqrt-dk")
    | "The scores are divided by d, not by √d."
    | "The variance of a score is d. Which number divides its standard deviation?",
    scaled_by_keys=edit("math.sqrt(width)", "math.sqrt(keys.shape[-2])", see="02#why-sqrt-dk")
    | "The scores are divided by the root of the number of keys."
    | "A score is a sum of products. How many of them are there in one sum?",
    scaled_by_queries=edit("math.sqrt(width)", "math.sqrt(queries.shape[-2])", see="02#why-sqrt-dk")
    | "The scores are divided by the root of the number of queries."
    | "A score is a sum of products. How many of them are there in one sum?",
    last_in_place_of_first=edit('[*passing, "None"][0]', '["None", *passing][-1]')
    | "This is the last width above the threshold. Return the first one, in the order of `widths`.",
    none_too_early=edit('[*passing, "None"][0]', '"None"')
    | "None comes back although a width passes. Does your loop end in its first pass? A `return None` belongs after "
    "the loop.",
    median_in_place_of_mean=edit(LARGEST, "np.median(softmax(scores).max(axis=-1), axis=-1).mean()")
    | "You take a median. The largest weights of all queries are averaged, the few very large ones as well.",
    settings_exchanged=edit("return unscaled, scaled", "return scaled, unscaled")
    | "The two settings are exchanged: `scaled` is with the division by √d.",
    one_seed=edit("queries[place, :, :, :width]", "queries[place, :1, :, :width]")
    | edit("keys[place, :, :, :width]", "keys[place, :1, :, :width]")
    | seen({"draws": "one seed only"})
    | "Only one of the seeds is used. A single draw says little about the mean."
    | "How many draws does one mean consist of?",
    last_seed=edit("queries[place, :, :, :width]", "queries[place, -1:, :, :width]")
    | edit("keys[place, :, :, :width]", "keys[place, -1:, :, :width]")
    | "Only the last of the seeds counts. Is the list of a width's results made anew for every seed?"
    | "How many draws does one mean consist of?",
    over_queries=edit(LARGEST, "softmax(scores, axis=-2).max(axis=-1).mean()", see="02#formula")
    | "The softmax runs over the queries: the columns sum to 1."
    | "A row of the scores belongs to one query. Along which axis do its keys lie?",
    scores_not_weights=edit(LARGEST, "scores.max(axis=-1).mean()")
    | "These are the largest scores. The largest weights come after the softmax.",
    largest_of_all=edit(LARGEST, "softmax(scores).max(axis=(-2, -1)).mean()")
    | "You take one weight from a draw, the largest of all queries. Take the largest of each query, then the mean.",
    largest_of_each_key=edit(LARGEST, "softmax(scores).max(axis=-2).mean()")
    | "You take the largest weight of each key. Take that of each query: the largest in its row.",
    over_everything=edit(LARGEST, "softmax(scores, axis=(-2, -1)).max(axis=-1).mean()")
    | "One softmax runs over the whole matrix. Each query has a softmax of its own, over the keys."
    | "SciPy's `softmax` runs over all axes unless you name one.",
    added_up=edit(LARGEST, "softmax(scores).max(axis=-1).mean() * len(scores)")
    | "The seeds are added up. Take their mean: no mean of weights is above 1.",
    scores_averaged=edit(LARGEST, "softmax(scores.mean(axis=0)).max(axis=-1).mean()")
    | "The scores of the seeds are averaged first, and their softmax comes after. Each draw has weights of its own.",
    averaged_first=edit(LARGEST, "softmax(scores).mean(axis=-2).max(axis=-1).mean()")
    | "The weights are averaged before the largest is taken. Each query may attend to another key, and the mean hides "
    "that." | "Two queries, each with the weight 1 on a key of its own: what is the mean largest weight?",
    over_queries_throughout=edit(LARGEST, "softmax(scores, axis=-2).max(axis=-2).mean()", see="02#formula")
    | "The softmax and the maximum run over the queries. A row of the scores belongs to one query: both run over its "
    "keys." | "A row of the scores belongs to one query. Along which axis do its keys lie?",
    mean_of_all=edit(LARGEST, "softmax(scores).mean()")
    | "You average all weights. A row sums to 1, so that is the base rate, whatever the scores are. Take the largest "
    "weight of each query first.",
    median_of_seeds=edit(LARGEST, "np.median(softmax(scores).max(axis=-1).mean(axis=-1))")
    | "You take the median over the seeds. Take the mean.",
    threshold_reached=edit("mean > threshold", "mean >= threshold")
    | "A mean that equals the threshold counts as saturated here. Only a mean above it does.",
    threshold_fixed=edit("mean > threshold", "mean > 0.9")
    | "The means are compared with 0.9, whatever `threshold` is.",
    rounded_first=edit("mean > threshold", "round(mean, 2) > threshold")
    | "The means are rounded before they are compared with the threshold. Compare them as they are.",
    draws_changed=seen({"draws": CHANGED})
    | "The arrays that `draw` returned are changed in place, so whoever uses them again gets other numbers. Write `q "
    "/ …`, which makes a new array, and not `q /= …`.",
    base_of_queries=edit("keys.shape[-2]", "queries.shape[-2]")
    | "The base rate is 1 over the number of queries. How many keys share the weight of one query?",
    base_of_width=edit("keys.shape[-2]", "keys.shape[-1]")
    | "The base rate is 1 over the width. How many keys share the weight of one query?",
    base_inverted=edit("1 / keys.shape[-2]", "1.0 * keys.shape[-2]")
    | "This is the number of keys. Each of so many equal weights is 1 divided by it.",
    base_fixed=edit("1 / keys.shape[-2]", "1 / 7") | "The base rate is 1/7, whatever the number of keys is.",
)

exercise.advice(
    means=Advice(
        value="For one draw: scores (T, S), a softmax over each row, the largest weight of each row. Then the mean "
        "over rows and seeds. With the division the scores of the same draw are divided by √d.",
        nan="Scores grow with d, and exp(800) is infinite. Subtract the largest score of each row first.",
    ),
    firsts="The first of the widths, in the order given, whose mean is larger than the threshold; None if none is.",
    base="What is the largest weight of a row if all weights are equal? It depends on the number of keys alone.",
    draws="Two loops, over widths and seeds, and one draw in the inner one. Both settings use this draw.",
)
exercise.hints(
    means=(
        "Write a helper that takes scores (T, S) and returns the mean of the largest weights. Both settings use it.",
        "For one width: one number for each seed and setting. The mean over seeds is an entry of the result.",
    ),
    firsts="`next((d for d, mean in zip(widths, means) if …), None)` gives the first that fits, or None.",
    base="k has one row for each key.",
    draws="`draw` takes a seed and a width. Which two loops call it?",
)

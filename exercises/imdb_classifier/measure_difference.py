"""Lab 06, exercise `measure_difference`."""

import numpy as np

from autograder.declaring import Advice, Case, Exercise, wrong
from coursekit.generator import Generator
from exercises.drawing import drawn_until

exercise = Exercise(
    "measure_difference",
    call=("correct_a", "correct_b", "reviews", "seeds_a", "seeds_b"),
    returns=("difference", "interval", "reviews_alone"),
)


@exercise.formula
def paired_bootstrap(
    correct_a: np.ndarray, correct_b: np.ndarray, reviews: np.ndarray, seeds_a: np.ndarray, seeds_b: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The difference of two mean accuracies, and the middle 95 % of it (Efron 1979) over both chances and over one.

    correct (S, N), S for each recipe; reviews (R, N), seeds (R, S) -> (), (2,), (2,).
    """
    a, b = correct_a.astype("float64"), correct_b.astype("float64")
    difference = a.mean() - b.mean()
    again = redrawn(a, reviews, seeds_a) - redrawn(b, reviews, seeds_b)
    alone = redrawn(a, reviews, every(seeds_a)) - redrawn(b, reviews, every(seeds_b))
    return np.asarray(difference), middle(again, difference), middle(alone, difference)


def redrawn(correct: np.ndarray, reviews: np.ndarray, seeds: np.ndarray) -> np.ndarray:
    """Mean accuracy of the drawn models on the drawn reviews, (R,)."""
    return np.array([correct[chosen][:, read].mean() for chosen, read in zip(seeds, reviews, strict=True)])


def every(seeds: np.ndarray) -> np.ndarray:
    """Each model once, in all repeats."""
    return np.zeros_like(seeds) + np.arange(seeds.shape[1])


def middle(differences: np.ndarray, difference: float) -> np.ndarray:
    """The ends of the middle 95 %."""
    return np.percentile(differences, [2.5, 97.5])


def _correct(rng: Generator, seeds: int, ease: np.ndarray, shift: float) -> np.ndarray:
    """Which reviews each of the models classifies correctly: they agree on what is easy; models differ as well."""
    levels = ease + shift + 0.15 * rng.normal(size=(seeds, 1))
    return rng.random((seeds, len(ease))) < levels


def _inputs(rng: Generator, seeds_a: int, seeds_b: int, count: int, repeats: int) -> dict[str, np.ndarray]:
    ease = 0.2 + 0.6 * rng.random(count)
    return {
        "correct_a": _correct(rng, seeds_a, ease, 0.12),
        "correct_b": _correct(rng, seeds_b, ease, -0.12),
        "reviews": rng.integers(count, size=(repeats, count)),
        "seeds_a": rng.integers(seeds_a, size=(repeats, seeds_a)),
        "seeds_b": rng.integers(seeds_b, size=(repeats, seeds_b)),
    }


def _is_clear(inputs: dict[str, np.ndarray]) -> bool:
    """Whether the difference is neither 0 nor the mean of the repeats, and seeds matter where they are several."""
    difference, interval, alone = paired_bootstrap(**inputs)
    low, high = interval
    is_apart = abs(difference) > 0.05 and abs(low + high - 2 * difference) > 0.02 and low < -0.01 and high > 0.01
    has_chance = any(len(inputs[name]) > 1 for name in ("correct_a", "correct_b"))
    differ = np.abs(interval - alone).min() > 0.02
    first = inputs["correct_a"][0].mean() - inputs["correct_b"][0].mean()
    return bool(is_apart and ((differ and abs(first - difference) > 0.02) if has_chance else _is_unlikely(inputs)))


def _is_unlikely(inputs: dict[str, np.ndarray]) -> bool:
    """Whether the percentiles 5 and 95, too, lie between two different repeats.

    The differences of two single models are whole numbers of reviews. So the ends of a wrong interval would often be
    those of this mistake, by chance; between two repeats, each percentile has a fraction of its own.
    """
    ends = exercise.with_mistake("ninety")(**inputs)[1] * inputs["reviews"].shape[1]
    return bool(np.abs(ends - np.round(ends)).min() > 1e-6)


def _case(rng: Generator, seeds_a: int, seeds_b: int, count: int, repeats: int) -> Case:
    inputs = drawn_until(_is_clear, lambda: _inputs(rng, seeds_a, seeds_b, count, repeats))
    return Case(inputs, description=f"{seeds_a} and {seeds_b} trained models, {count} reviews, drawn {repeats} times")


@exercise.group(
    "one trained model of each recipe",
    points=2,
    advice=Advice(
        value="With one model each, both intervals are the same. In each repeat, take the accuracies of A and of B on "
        "the drawn reviews and subtract them; the percentiles come last.",
        shape="`difference` is one number, `interval` and `reviews_alone` are two each.",
    ),
)
def pairs(rng: Generator) -> list[Case]:
    return [_case(rng, 1, 1, 13, 38), _case(rng, 1, 1, 17, 33)]


@exercise.group(
    "several seeds",
    points=2,
    advice="`interval` uses the drawn reviews and the drawn seeds in the same repeat. `reviews_alone` uses each "
    "trained model once in all repeats.",
    must_fail_for=("seeds_not_drawn", "one_seed"),
)
def several(rng: Generator) -> list[Case]:
    return [_case(rng, 3, 3, 13, 41), _case(rng, 4, 4, 11, 37)]


@exercise.group(
    "recipes with different numbers of seeds",
    points=2,
    advice="A recipe without chance has one row. Each recipe has seeds of its own, so A and B need not have "
    "equally many.",
)
def unequal(rng: Generator) -> list[Case]:
    return [_case(rng, 1, 5, 11, 41), _case(rng, 5, 3, 13, 31)]


AGAIN = "again = redrawn(a, reviews, seeds_a) - redrawn(b, reviews, seeds_b)"
ALONE = "alone = redrawn(a, reviews, every(seeds_a)) - redrawn(b, reviews, every(seeds_b))"
PERCENTILES = "np.percentile(differences, [2.5, 97.5])"
RETURNED = "return np.asarray(difference), middle(again, difference), middle(alone, difference)"


def _of_ends(first: str, second: str, order: str = "") -> str:
    """The result where the interval of A and that of B are made apart, and their ends are subtracted."""
    again = f"middle({first}, difference) - middle({second}, difference){order}"
    alone = again.replace("seeds_a", "every(seeds_a)").replace("seeds_b", "every(seeds_b)")
    return f"return np.asarray(difference), {again}, {alone}"


exercise.mistakes(
    other_sign=wrong(
        "This is B minus A.",
        ("difference = a.mean() - b.mean()", "difference = b.mean() - a.mean()"),
        (AGAIN, "again = redrawn(b, reviews, seeds_b) - redrawn(a, reviews, seeds_a)"),
        (ALONE, "alone = redrawn(b, reviews, every(seeds_b)) - redrawn(a, reviews, every(seeds_a))"),
    ),
    seeds_not_drawn=wrong(
        "`interval` takes all seeds in every repeat, so it has only the chance in the reviews. It needs `seeds_a` and "
        "`seeds_b`.",
        (AGAIN, ALONE.replace("alone", "again")),
        hint="Which rows of `correct_a` does repeat r use?",
        see="06b#seeds",
    ),
    one_seed=wrong(
        "Only the first trained model of each recipe is used. Other seeds give other models.",
        (
            'a, b = correct_a.astype("float64"), correct_b.astype("float64")',
            "a, b = 0.0 + correct_a[[0] * len(correct_a)], 0.0 + correct_b[[0] * len(correct_b)]",
        ),
        see="06b#seeds",
    ),
    one_drawn_model=wrong(
        "In `interval` each repeat uses one of the drawn models. It uses all of them, `seeds_a[r]` and `seeds_b[r]`.",
        (AGAIN, AGAIN.replace("seeds_a", "seeds_a[:, :1]").replace("seeds_b", "seeds_b[:, :1]")),
        hint="`correct_a[seeds_a[r]]` has one row for each drawn model. How many of them do you average?",
    ),
    models_once=wrong(
        "A model that is drawn twice counts once in `interval`. Then a repeat has fewer models than the experiment.",
        (AGAIN, AGAIN.replace("seeds_a", "map(np.unique, seeds_a)").replace("seeds_b", "map(np.unique, seeds_b)")),
        hint="Use the row of indices itself: `correct[indices]` repeats a row that is drawn twice.",
    ),
    alone_of_one_model=wrong(
        "`reviews_alone` uses one trained model of each recipe. It uses all of them, each once, in every repeat.",
        (ALONE, ALONE.replace("(seeds_a)", "(seeds_a)[:, :1]").replace("(seeds_b)", "(seeds_b)[:, :1]")),
    ),
    alone_is_still=wrong(
        "`reviews_alone` takes all reviews every time and has no width. It draws the reviews and keeps the models.",
        (ALONE, "alone = np.full(len(reviews), difference)"),
        hint="Which of the two chances should `reviews_alone` leave out?",
    ),
    only_a_redrawn=wrong(
        "The reviews are drawn for A alone, and B has its accuracy on all of them. Both read the drawn reviews.",
        (AGAIN, AGAIN.replace("redrawn(b, reviews, seeds_b)", "redrawn(b, every(reviews), seeds_b)")),
        (ALONE, ALONE.replace("redrawn(b, reviews, every(seeds_b))", "b.mean()")),
        hint="In one repeat, which reviews does B read, and which does A?",
    ),
    ends_subtracted=wrong(
        "Each recipe has an interval of its own, and the ends are subtracted. That loses the pairs: subtract in every "
        "repeat, and take percentiles of the differences.",
        (RETURNED, _of_ends("redrawn(a, reviews, seeds_a)", "redrawn(b, reviews, seeds_b)")),
        hint="How many differences does the bootstrap give, before any percentile is taken?",
        see="06b#one-procedure",
    ),
    ends_crossed=wrong(
        "The low end of A minus the high end of B, as if other reviews were drawn for B. Both read the same reviews: "
        "subtract in every repeat, and take percentiles of the differences.",
        (RETURNED, _of_ends("redrawn(a, reviews, seeds_a)", "redrawn(b, reviews, seeds_b)", order="[::-1]")),
        hint="How many differences does the bootstrap give, before any percentile is taken?",
        see="06b#one-procedure",
    ),
    still_in_interval=wrong(
        "In `interval` the reviews are drawn for A alone, and B has its accuracy on all of them.",
        (AGAIN, AGAIN.replace("redrawn(b, reviews, seeds_b)", "redrawn(b, every(reviews), seeds_b)")),
        hint="In one repeat, which reviews does B read, and which does A?",
    ),
    seeds_of_a=wrong(
        "B's models are drawn with A's seeds. Each recipe has seeds of its own, `seeds_b` for B.",
        (AGAIN, AGAIN.replace("redrawn(b, reviews, seeds_b)", "redrawn(b, reviews, seeds_a % len(b))")),
        hint="Which argument says how many models of B there are?",
    ),
    ninety=wrong(
        "These are the percentiles 5 and 95: between them is the middle 90 %.",
        (PERCENTILES, "np.percentile(differences, [5, 95])"),
    ),
    normal=wrong(
        "This is ±1.96 standard deviations around the difference. The percentiles need no bell shape: take them.",
        (PERCENTILES, "difference + np.array([-1.96, 1.96]) * differences.std()"),
    ),
    normal_of_repeats=wrong(
        "This is ±1.96 standard deviations around the mean of the repeats. The percentiles need no bell shape.",
        (PERCENTILES, "differences.mean() + np.array([-1.96, 1.96]) * differences.std()"),
    ),
    ends_exchanged=wrong(
        "The ends of the intervals are exchanged: the low one comes first.",
        (PERCENTILES, "np.percentile(differences, [97.5, 2.5])"),
    ),
    shares_for_percents=wrong(
        "The percentiles are 0.025 and 0.975, nearly the smallest difference. `np.percentile` counts in percent.",
        (PERCENTILES, "np.percentile(differences, [0.025, 0.975])"),
    ),
    intervals_exchanged=wrong(
        "The two intervals are exchanged: `interval` draws reviews and seeds, `reviews_alone` the reviews.",
        (RETURNED, "return np.asarray(difference), middle(alone, difference), middle(again, difference)"),
    ),
    standard_error=wrong(
        "The interval is divided by the root of the number of repeats. More repeats of the bootstrap would make it as "
        "narrow as you like, without one new review.",
        (PERCENTILES, "difference + np.array([-1.96, 1.96]) * differences.std() / len(differences) ** 0.5"),
        hint="The standard deviation of the repeats estimates the standard error already.",
    ),
    mean_of_repeats=wrong(
        "`difference` is the mean of the repeats. The measured difference comes from all reviews, each once.",
        (RETURNED, RETURNED.replace("np.asarray(difference)", "np.asarray(again.mean())")),
    ),
    duplicates_once=wrong(
        "A review that is drawn twice counts once. Then a repeat is a smaller sample than the one that was measured.",
        ("correct[chosen][:, read]", "correct[chosen][:, np.unique(read)]"),
        hint="Use the row of indices itself: `correct[:, indices]` repeats a column that is drawn twice.",
    ),
)

exercise.hints(
    "For one repeat: `correct_a[:, reviews[r]]` are A's answers on the drawn reviews, one row for each trained model.",
    "Collect R differences in an array. `np.percentile(differences, […])` is the last step.",
)
exercise.hints(
    "The drawn models of repeat r are `correct_a[seeds_a[r]]`: rows first, then columns.",
    "`correct_a[seeds_a[r], reviews[r]]` would pair each seed with one review. Index twice.",
    group="several",
)
exercise.hints("Nothing in your function may take the number of rows of A for that of B.", group="unequal")

"""Lab 06, exercise `measure_difference`."""

import numpy as np

from autograder.declare import Advice, Case, Exercise, edit
from exercises.drawing import drawn_until

exercise = Exercise("measure_difference", returns=("difference", "interval", "reviews_alone"))


@exercise.formula
def paired_bootstrap(correct_a, correct_b, reviews, seeds_a, seeds_b):
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


def voted(correct: np.ndarray, reviews: np.ndarray, seeds: np.ndarray) -> np.ndarray:
    """The share of the drawn reviews that most of the drawn models classify correctly, (R,)."""
    most = [correct[chosen].mean(axis=0) > 0.5 for chosen in seeds]
    return np.array([right[read].mean() for right, read in zip(most, reviews, strict=True)])


def every(seeds: np.ndarray) -> np.ndarray:
    """Each model once, in all repeats."""
    return np.zeros_like(seeds) + np.arange(seeds.shape[1])


def middle(differences: np.ndarray, difference: float) -> np.ndarray:
    """The ends of the middle 95 %."""
    return np.percentile(differences, [2.5, 97.5])


def _correct(rng, seeds: int, ease: np.ndarray, shift: float) -> np.ndarray:
    """Which reviews each of the models classifies correctly: they agree on what is easy; models differ as well."""
    levels = ease + shift + 0.15 * rng.normal(size=(seeds, 1))
    return rng.random((seeds, len(ease))) < levels


def _inputs(rng, seeds_a: int, seeds_b: int, count: int, repeats: int) -> dict[str, np.ndarray]:
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


def _case(rng, seeds_a: int, seeds_b: int, count: int, repeats: int) -> Case:
    inputs = drawn_until(_is_clear, lambda: _inputs(rng, seeds_a, seeds_b, count, repeats))
    return Case(inputs, f"{seeds_a} and {seeds_b} trained models, {count} reviews, drawn {repeats} times")


exercise.group(
    "one trained model of each recipe", points=2, pairs=lambda rng: [_case(rng, 1, 1, 13, 38), _case(rng, 1, 1, 17, 33)]
)
exercise.group(
    "several seeds",
    points=2,
    must_fail_for=("seeds_not_drawn", "one_seed"),
    several=lambda rng: [_case(rng, 3, 3, 13, 41), _case(rng, 4, 4, 11, 37)],
)
exercise.group(
    "recipes with different numbers of seeds",
    points=2,
    unequal=lambda rng: [_case(rng, 1, 5, 11, 41), _case(rng, 5, 3, 13, 31)],
)
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
    other_sign=edit("difference = a.mean() - b.mean()", "difference = b.mean() - a.mean()")
    | edit(AGAIN, "again = redrawn(b, reviews, seeds_b) - redrawn(a, reviews, seeds_a)")
    | edit(ALONE, "alone = redrawn(b, reviews, every(seeds_b)) - redrawn(a, reviews, every(seeds_a))")
    | "This is B minus A.",
    seeds_not_drawn=edit(AGAIN, ALONE.replace("alone", "again"), see="06b#seeds")
    | "`interval` takes all seeds in every repeat, so it has only the chance in the reviews. It needs `seeds_a` and "
    "`seeds_b`." | "Which rows of `correct_a` does repeat r use?",
    one_seed=edit(
        'a, b = correct_a.astype("float64"), correct_b.astype("float64")',
        "a, b = 0.0 + correct_a[[0] * len(correct_a)], 0.0 + correct_b[[0] * len(correct_b)]",
        see="06b#seeds",
    )
    | "Only the first trained model of each recipe is used. Other seeds give other models.",
    one_drawn_model=edit(AGAIN, AGAIN.replace("seeds_a", "seeds_a[:, :1]").replace("seeds_b", "seeds_b[:, :1]"))
    | "In `interval` each repeat uses one of the drawn models. It uses all of them, `seeds_a[r]` and `seeds_b[r]`."
    | "`correct_a[seeds_a[r]]` has one row for each drawn model. How many of them do you average?",
    models_once=edit(
        AGAIN, AGAIN.replace("seeds_a", "map(np.unique, seeds_a)").replace("seeds_b", "map(np.unique, seeds_b)")
    )
    | "A model that is drawn twice counts once in `interval`. Then a repeat has fewer models than the experiment."
    | "Use the row of indices itself: `correct[indices]` repeats a row that is drawn twice.",
    alone_of_one_model=edit(
        ALONE, ALONE.replace("(seeds_a)", "(seeds_a)[:, :1]").replace("(seeds_b)", "(seeds_b)[:, :1]")
    )
    | "`reviews_alone` uses one trained model of each recipe. It uses all of them, each once, in every repeat.",
    alone_is_still=edit(ALONE, "alone = np.full(len(reviews), difference)")
    | "`reviews_alone` takes all reviews every time and has no width. It draws the reviews and keeps the models."
    | "Which of the two chances should `reviews_alone` leave out?",
    only_a_redrawn=edit(AGAIN, AGAIN.replace("redrawn(b, reviews, seeds_b)", "redrawn(b, every(reviews), seeds_b)"))
    | edit(ALONE, ALONE.replace("redrawn(b, reviews, every(seeds_b))", "b.mean()"))
    | "The reviews are drawn for A alone, and B has its accuracy on all of them. Both read the drawn reviews."
    | "In one repeat, which reviews does B read, and which does A?",
    ends_subtracted=edit(
        RETURNED, _of_ends("redrawn(a, reviews, seeds_a)", "redrawn(b, reviews, seeds_b)"), see="06b#one-procedure"
    )
    | "Each recipe has an interval of its own, and the ends are subtracted. That loses the pairs: subtract in every "
    "repeat, and take percentiles of the differences."
    | "How many differences does the bootstrap give, before any percentile is taken?",
    ends_crossed=edit(
        RETURNED,
        _of_ends("redrawn(a, reviews, seeds_a)", "redrawn(b, reviews, seeds_b)", order="[::-1]"),
        see="06b#one-procedure",
    )
    | "The low end of A minus the high end of B, as if other reviews were drawn for B. Both read the same reviews: "
    "subtract in every repeat, and take percentiles of the differences."
    | "How many differences does the bootstrap give, before any percentile is taken?",
    still_in_interval=edit(AGAIN, AGAIN.replace("redrawn(b, reviews, seeds_b)", "redrawn(b, every(reviews), seeds_b)"))
    | "In `interval` the reviews are drawn for A alone, and B has its accuracy on all of them."
    | "In one repeat, which reviews does B read, and which does A?",
    models_vote=edit(AGAIN, AGAIN.replace("redrawn", "voted"))
    | "In `interval` the drawn models of a recipe vote: a review counts as correct if most of them are. Take the mean "
    "of their accuracies."
    | "Of three models, one is correct on a review. How much does the review add to their accuracy?",
    models_always_vote=edit(AGAIN, AGAIN.replace("redrawn", "voted"))
    | edit(ALONE, ALONE.replace("redrawn", "voted"))
    | "The models of a recipe vote: a review counts as correct if most of them are. Take the mean of their accuracies."
    | "Of three models, one is correct on a review. How much does the review add to their accuracy?",
    seeds_of_a=edit(AGAIN, AGAIN.replace("redrawn(b, reviews, seeds_b)", "redrawn(b, reviews, seeds_a % len(b))"))
    | "B's models are drawn with A's seeds. Each recipe has seeds of its own, `seeds_b` for B."
    | "Which argument says how many models of B there are?",
    ninety=edit(PERCENTILES, "np.percentile(differences, [5, 95])")
    | "These are the percentiles 5 and 95: between them is the middle 90 %.",
    normal=edit(PERCENTILES, "difference + np.array([-1.96, 1.96]) * differences.std()")
    | "This is ±1.96 standard deviations around the difference. The percentiles need no bell shape: take them.",
    normal_of_repeats=edit(PERCENTILES, "differences.mean() + np.array([-1.96, 1.96]) * differences.std()")
    | "This is ±1.96 standard deviations around the mean of the repeats. The percentiles need no bell shape.",
    ends_exchanged=edit(PERCENTILES, "np.percentile(differences, [97.5, 2.5])")
    | "The ends of the intervals are exchanged: the low one comes first.",
    shares_for_percents=edit(PERCENTILES, "np.percentile(differences, [0.025, 0.975])")
    | "The percentiles are 0.025 and 0.975, nearly the smallest difference. `np.percentile` counts in percent.",
    intervals_exchanged=edit(
        RETURNED, "return np.asarray(difference), middle(alone, difference), middle(again, difference)"
    )
    | "The two intervals are exchanged: `interval` draws reviews and seeds, `reviews_alone` the reviews.",
    standard_error=edit(
        PERCENTILES, "difference + np.array([-1.96, 1.96]) * differences.std() / len(differences) ** 0.5"
    )
    | "The interval is divided by the root of the number of repeats. More repeats of the bootstrap would make it as "
    "narrow as you like, without one new review."
    | "The standard deviation of the repeats estimates the standard error already.",
    mean_of_repeats=edit(RETURNED, RETURNED.replace("np.asarray(difference)", "np.asarray(again.mean())"))
    | "`difference` is the mean of the repeats. The measured difference comes from all reviews, each once.",
    duplicates_once=edit("correct[chosen][:, read]", "correct[chosen][:, np.unique(read)]")
    | "A review that is drawn twice counts once. Then a repeat is a smaller sample than the one that was measured."
    | "Use the row of indices itself: `correct[:, indices]` repeats a column that is drawn twice.",
)

exercise.advice(
    pairs=Advice(
        value="With one model each, both intervals are the same. In each repeat, take the accuracies of A and of B on "
        "the drawn reviews and subtract them; the percentiles come last.",
        shape="`difference` is one number, `interval` and `reviews_alone` are two each.",
    ),
    several="`interval` uses the drawn reviews and the drawn seeds in the same repeat. `reviews_alone` uses each "
    "trained model once in all repeats.",
    unequal="A recipe without chance has one row. Each recipe has seeds of its own, so A and B need not have equally "
    "many.",
)
exercise.hints(
    pairs=(
        "For one repeat: `correct_a[:, reviews[r]]` are A's answers on the drawn reviews, one row for each trained "
        "model.",
        "Collect R differences in an array. `np.percentile(differences, […])` is the last step.",
    ),
    several=(
        "The drawn models of repeat r are `correct_a[seeds_a[r]]`: rows first, then columns.",
        "`correct_a[seeds_a[r], reviews[r]]` would pair each seed with one review. Index twice.",
    ),
    unequal="Nothing in your function may take the number of rows of A for that of B.",
)

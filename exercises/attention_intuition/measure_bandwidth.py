"""Lab 01, exercise `measure_bandwidth`."""

import numpy as np

from autograder.declaring import Advice, Case, Exercise, wrong
from coursekit.generator import Generator
from exercises.drawing import drawn_until, normal
from exercises.formulas.attention import softmax

exercise = Exercise("measure_bandwidth", returns=("errors", "best", "base_rate"), uses=("attention_pooling",))


@exercise.formula
def leave_one_out(x: np.ndarray, y: np.ndarray, bandwidths: np.ndarray) -> dict[str, np.ndarray | float]:
    """The mean squared error of attention pooling on points that are left out, for each bandwidth.

    x (S, d), y (S,), bandwidths (N,) -> errors (N,), the bandwidth with the smallest one, and the error of the mean of
    the others (Stone 1974, "Cross-validatory choice and assessment of statistical predictions").
    """
    errors = np.array([error_of(x, y, bandwidth) for bandwidth in bandwidths])
    best = bandwidths[np.argmin(errors)]
    others = (y.sum() - y) / (len(y) - 1)
    return {"errors": errors, "best": float(best), "base_rate": score(y, others)}


@exercise.formula_for("errors")
def errors_alone(x: np.ndarray, y: np.ndarray, bandwidths: np.ndarray) -> dict[str, np.ndarray | float]:
    """The errors."""
    return {"errors": leave_one_out(x, y, bandwidths)["errors"]}


@exercise.formula_for("base rate")
def base_rate_alone(x: np.ndarray, y: np.ndarray, bandwidths: np.ndarray) -> dict[str, np.ndarray | float]:
    """The base rate."""
    return {"base_rate": leave_one_out(x, y, bandwidths)["base_rate"]}


def error_of(x: np.ndarray, y: np.ndarray, bandwidth: float) -> float:
    """The error for one bandwidth: no point sees itself, and the weights of the others sum to 1."""
    squares = ((x[:, None] - x) ** 2).sum(axis=-1)
    is_itself = np.eye(len(x), dtype=bool)
    exponents = np.where(is_itself, -np.inf, -squares / (2 * bandwidth**2))
    weights = softmax(exponents)
    return score(y, weights @ y)


def score(y: np.ndarray, predicted: np.ndarray) -> float:
    """The mean squared error."""
    return float(np.mean((predicted - y) ** 2))


def _points(rng: Generator, number: int, d: int, bandwidths: list[float]) -> dict[str, np.ndarray]:
    """Noisy measurements of a curve; the best bandwidth leads by 3 %, and is neither the smallest nor the first."""

    def draw() -> dict[str, np.ndarray]:
        order = rng.permutation(len(bandwidths))
        x = np.stack([rng.permutation(65)[:number] / 16 for _ in range(d)], axis=1)  # exact squares; no x twice
        y = np.sin(1.5 * x.sum(axis=1)) + 3 + 0.6 * rng.normal(size=number)
        given = {"x": x, "y": y, "bandwidths": np.array(bandwidths)[order]}
        return {name: array.astype("float32") for name, array in given.items()}

    def is_clear(drawn: dict[str, np.ndarray]) -> bool:
        errors = leave_one_out(**{name: array.astype("float64") for name, array in drawn.items()})["errors"]
        ranked = np.sort(errors)
        inside = drawn["bandwidths"][np.argmin(errors)] not in (min(drawn["bandwidths"]), max(drawn["bandwidths"]))
        return bool(_has_neighbours(drawn) and inside and np.argmin(errors) > 0 and ranked[1] > 1.03 * ranked[0])

    return drawn_until(is_clear, draw)


def _has_neighbours(points: dict[str, np.ndarray]) -> bool:
    """Whether each point has another one near enough that no softmax is 0/0, in float32 either."""
    squares = ((points["x"][:, None] - points["x"]) ** 2).sum(axis=-1) + 1e9 * np.eye(len(points["x"]))
    return bool((squares.min(axis=1) / (2 * points["bandwidths"].min() ** 2) < 80).all())


def _case(inputs: dict[str, np.ndarray], mode: str = "call", text: str = "") -> Case:
    shown = text or f"{len(inputs['x'])} points (S, {inputs['x'].shape[1]}), {len(inputs['bandwidths'])} bandwidths"
    return Case(inputs, mode=mode, description=shown)


@exercise.group(
    "the error for each bandwidth",
    points=2,
    advice=Advice(
        value="For each bandwidth and each point i: keys and values without point i, pooled for the query x[i]. Then "
        "the mean of the squared differences from y.",
        shape="One number for each bandwidth, in their order: (N,).",
    ),
    must_fail_for=("left_in", "not_renormalised", "root", "same_x_left_out"),
)
def errors(rng: Generator) -> list[Case]:
    twice = _points(rng, 17, 2, [0.25, 0.5, 1.0, 4.0])
    twin = _twins(rng, twice)
    return [
        _case(_points(rng, 23, 1, [0.06, 0.15, 0.3, 0.7, 2.0]), mode="errors"),
        _case(twice, mode="errors"),
        _case(twin, mode="errors", text="17 points, two of them at the same x"),
    ]


def _twins(rng: Generator, points: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The same points, one of them moved to the x of another; the values stay."""

    def draw() -> dict[str, np.ndarray]:
        one, other = rng.permutation(len(points["x"]))[:2]
        x = points["x"].copy()
        x[one] = x[other]
        return {**points, "x": x}

    return drawn_until(_has_neighbours, draw)


@exercise.group(
    "bandwidths far below the gaps",
    points=1,
    advice=Advice(
        nan="The kernels of all other points round to 0, and 0/0 is NaN. Leave the point out before the softmax, as "
        "your `attention_pooling` does when it does not get it.",
        value="With such a bandwidth the nearest other point has all of the weight.",
    ),
    must_fail_for=("unstable_kernel", "low_number"),
)
def narrow(rng: Generator) -> list[Case]:
    """Whole numbers with growing gaps, so that each point has one nearest, and by far."""
    places = np.array([0, 3, 8, 15, 24, 35, 48]) + 100.0
    order = rng.permutation(7)
    inputs = {
        "x": places[order][:, None].astype("float32"),
        "y": normal(rng, 7) + np.float32(2),
        "bandwidths": np.array([2.0, 1 / 16, 16.0], "float32"),
    }
    narrower = {**inputs, "bandwidths": np.array([4.0, 2.0**-40], "float32")}
    return [
        _case(inputs, mode="errors", text="gaps from 3 to 13, a bandwidth of 1/16"),
        _case(narrower, mode="errors", text="gaps from 3 to 13, a bandwidth of 2⁻⁴⁰"),
    ]


@exercise.group(
    "the base rate",
    points=1,
    advice="Each point is predicted by the mean of all other values; then the mean of the squared errors.",
    must_fail_for=("base_with_itself", "base_variance"),
)
def base(rng: Generator) -> list[Case]:
    return [
        _case(_points(rng, 11, 1, [0.1, 0.4, 3.0]), mode="base rate"),
        _case(_points(rng, 7, 2, [0.3, 0.8, 6.0]), mode="base rate"),
    ]


@exercise.group(
    "all three results",
    points=1,
    advice=Advice(
        value="`best` is the bandwidth with the smallest error: the bandwidth itself, not its position in the array.",
        shape="`best` and `base_rate` are single numbers.",
    ),
    must_fail_for=("position_returned", "largest_error"),
)
def together(rng: Generator) -> list[Case]:
    # No whole numbers: a position in the array is never taken for a bandwidth.
    return [_case(_points(rng, 19, 1, [0.06, 0.15, 0.3, 0.6, 3.1])), _case(_points(rng, 13, 2, [0.25, 0.5, 1.1, 4.2]))]


ERROR = "score(y, weights @ y)"
SCORE = "float(np.mean((predicted - y) ** 2))"
BEST = "bandwidths[np.argmin(errors)]"
OTHERS = "(y.sum() - y) / (len(y) - 1)"
EXPONENTS = "np.where(is_itself, -np.inf, -squares / (2 * bandwidth**2))"

exercise.mistakes(
    left_in=wrong(
        "Each point takes part in its own prediction. Then the smallest bandwidth wins: every point copies itself.",
        (EXPONENTS, "-squares / (2 * bandwidth**2)"),
        hint="Which keys and values may the query x[i] see? `np.delete` and boolean masks leave one out.",
        see="01#bandwidth",
    ),
    not_renormalised=wrong(
        "The weight of the point itself is set to 0 after the softmax, so those of the others sum to less than 1.",
        (EXPONENTS, "-squares / (2 * bandwidth**2)"),
        ("softmax(exponents)", "np.where(is_itself, 0, softmax(exponents))"),
        hint="Leave the point out before the softmax, not after it.",
        see="01#bandwidth",
    ),
    root=wrong(
        "These are roots of the mean squared errors. Asked for are the mean squares themselves.",
        (SCORE, "float(np.sqrt(np.mean((predicted - y) ** 2)))"),
        hint="If y is in metres, which unit does a mean squared error have?",
    ),
    errors_rooted=wrong(
        "`errors` holds roots of the mean squared errors. Asked for are the mean squares themselves.",
        (ERROR, "float(np.sqrt(np.mean((weights @ y - y) ** 2)))"),
        hint="If y is in metres, which unit does a mean squared error have?",
    ),
    errors_summed=wrong(
        "`errors` holds the sums of the squared errors over the points. Take their mean.",
        (ERROR, "float(np.sum((weights @ y - y) ** 2))"),
    ),
    errors_absolute=wrong(
        "`errors` holds means of absolute errors. Asked for are squares.",
        (ERROR, "float(np.mean(np.abs(weights @ y - y)))"),
    ),
    errors_signed=wrong(
        "The differences are averaged with their signs, so that they cancel. Square each one first.",
        (ERROR, "float(np.mean(weights @ y - y))"),
    ),
    sorted=wrong(
        "The errors are in the order of the sorted bandwidths. Keep the order in which the bandwidths come.",
        (
            "error_of(x, y, bandwidth) for bandwidth in bandwidths",
            "error_of(x, y, bandwidth) for bandwidth in np.sort(bandwidths)",
        ),
        (BEST, "np.sort(bandwidths)[np.argmin(errors)]"),
    ),
    position_returned=wrong(
        "`best` is the position of the best bandwidth in the array. Return the bandwidth itself.",
        (BEST, "np.argmin(errors)"),
        hint="`np.argmin` gives a position. What stands there in `bandwidths`?",
    ),
    base_with_itself=wrong(
        "In the base rate each point helps to predict itself: the mean holds its own value. Take the mean of the "
        "others, so that both errors are measured alike.",
        (OTHERS, "np.mean(y)"),
        hint="The sum of all values minus its own, divided by how many?",
    ),
    divided_by_all=wrong(
        "In the base rate the sum of the others is divided by the number of all points. The others are one fewer.",
        (OTHERS, "(y.sum() - y) / len(y)"),
    ),
    first_column_only=wrong(
        "Only the first column of x is used. x is (S, d): a squared distance is a sum over all d columns.",
        ("((x[:, None] - x) ** 2).sum(axis=-1)", "((x[:, None] - x) ** 2)[..., 0]"),
    ),
    largest_error=wrong("`best` is the bandwidth with the largest error.", (BEST, "bandwidths[np.argmax(errors)]")),
    smallest_error_returned=wrong(
        "`best` is the smallest error. Return the bandwidth that has it.",
        (BEST, "errors.min()"),
        hint="`np.argmin` says where the smallest error stands.",
    ),
    base_variance=wrong(
        "The base rate is the variance with n − 1 below it. Predict each value by the mean of the others, and "
        "average the squared errors over all n points.",
        ('"base_rate": score(y, others)', '"base_rate": float(y.var(ddof=1))'),
        hint="Try it with two points: by which value is each of them predicted?",
    ),
    absolute=wrong(
        "These are means of absolute errors. Asked for are squares.", (SCORE, "float(np.mean(np.abs(predicted - y)))")
    ),
    summed=wrong(
        "The squared errors are summed over the points. Take their mean.",
        (SCORE, "float(np.sum((predicted - y) ** 2))"),
    ),
    same_x_left_out=wrong(
        "Every point at distance 0 is left out. Another point may lie at the same x, and it still counts: leave out "
        "point i by its number.",
        ("is_itself = np.eye(len(x), dtype=bool)", "is_itself = squares == 0"),
        hint="`np.arange(S) != i`.",
    ),
    low_number=wrong(
        "The point's own exponent is a low number such as −10⁹. With a bandwidth far below the gaps all others are "
        "lower still, and the point predicts itself: leave it out, or take −∞.",
        (EXPONENTS, "np.where(is_itself, -1e9, -squares / (2 * bandwidth**2))"),
        hint="What is −d²/(2σ²) for d = 3 and σ = 2⁻⁴⁰?",
        see="01#bandwidth",
    ),
    one_error_fewer=wrong(
        "The squared errors are divided by n − 1. Each of the n points is left out once: divide by n.",
        (SCORE, "float(np.sum((predicted - y) ** 2) / (len(y) - 1))"),
    ),
    unstable_kernel=wrong(
        "The kernels of all other points round to 0, and 0/0 is NaN. Put the exponents into a safe softmax, with the "
        "point already left out.",
        ("softmax(exponents)", "np.exp(exponents) / np.exp(exponents).sum(axis=-1, keepdims=True)"),
    ),
)

exercise.hints(
    "Two loops: over the bandwidths, and over the points. Inside stands one call of your `attention_pooling`.",
    "`others = np.arange(len(x)) != i` is a mask: x[others] are the keys, y[others, None] the values, x[i] the query.",
)
exercise.hints("`np.exp(-1000)` is 0. Which of your divisions has only such numbers below it?", group="narrow")
exercise.hints("Two points, y = 0 and y = 2: what is predicted for each, and what is the error?", group="base")
exercise.hints(
    "Print `errors` beside `bandwidths`. What is the bandwidth in the row of the smallest error?", group="together"
)

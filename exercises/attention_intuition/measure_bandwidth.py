"""Lab 01, exercise `measure_bandwidth`."""

import numpy as np

from autograder.declare import Advice, Case, Exercise, edit
from exercises.drawing import drawn_until, normal
from exercises.formulas.attention import softmax

exercise = Exercise(
    "measure_bandwidth", own_probe=True, returns=("errors", "best", "base_rate"), uses=("attention_pooling",)
)


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


def _points(rng, number: int, d: int, bandwidths: list[float]) -> dict[str, np.ndarray]:
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
    return Case(inputs, shown, mode=mode)


@exercise.group(
    "the error for each bandwidth", points=2, must_fail_for=("left_in", "not_renormalised", "root", "same_x_left_out")
)
def errors(rng):
    twice = _points(rng, 17, 2, [0.25, 0.5, 1.0, 4.0])
    twin = _twins(rng, twice)
    yield _case(_points(rng, 23, 1, [0.06, 0.15, 0.3, 0.7, 2.0]), mode="errors")
    yield _case(twice, mode="errors")
    yield _case(twin, mode="errors", text="17 points, two of them at the same x")


def _twins(rng, points: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The same points, one of them moved to the x of another; the values stay."""

    def draw() -> dict[str, np.ndarray]:
        one, other = rng.permutation(len(points["x"]))[:2]
        x = points["x"].copy()
        x[one] = x[other]
        return {**points, "x": x}

    return drawn_until(_has_neighbours, draw)


@exercise.group("bandwidths far below the gaps", must_fail_for=("unstable_kernel", "low_number"))
def narrow(rng):
    """Whole numbers with growing gaps, so that each point has one nearest, and by far."""
    places = np.array([0, 3, 8, 15, 24, 35, 48]) + 100.0
    order = rng.permutation(7)
    inputs = {
        "x": places[order][:, None].astype("float32"),
        "y": normal(rng, 7) + np.float32(2),
        "bandwidths": np.array([2.0, 1 / 16, 16.0], "float32"),
    }
    narrower = {**inputs, "bandwidths": np.array([4.0, 2.0**-40], "float32")}
    yield _case(inputs, mode="errors", text="gaps from 3 to 13, a bandwidth of 1/16")
    yield _case(narrower, mode="errors", text="gaps from 3 to 13, a bandwidth of 2⁻⁴⁰")


@exercise.group("the base rate", must_fail_for=("base_with_itself", "base_variance"))
def base(rng):
    yield _case(_points(rng, 11, 1, [0.1, 0.4, 3.0]), mode="base rate")
    yield _case(_points(rng, 7, 2, [0.3, 0.8, 6.0]), mode="base rate")


@exercise.group("all three results", must_fail_for=("position_returned", "largest_error"))
def together(rng):
    # No whole numbers: a position in the array is never taken for a bandwidth.
    return [_case(_points(rng, 19, 1, [0.06, 0.15, 0.3, 0.6, 3.1])), _case(_points(rng, 13, 2, [0.25, 0.5, 1.1, 4.2]))]


ERROR = "score(y, weights @ y)"
SCORE = "float(np.mean((predicted - y) ** 2))"
BEST = "bandwidths[np.argmin(errors)]"
OTHERS = "(y.sum() - y) / (len(y) - 1)"
EXPONENTS = "np.where(is_itself, -np.inf, -squares / (2 * bandwidth**2))"

exercise.mistakes(
    left_in=edit(EXPONENTS, "-squares / (2 * bandwidth**2)", see="01#bandwidth")
    | "Each point takes part in its own prediction. Then the smallest bandwidth wins: every point copies itself."
    | "Which keys and values may the query x[i] see? `np.delete` and boolean masks leave one out.",
    not_renormalised=edit(EXPONENTS, "-squares / (2 * bandwidth**2)")
    | edit("softmax(exponents)", "np.where(is_itself, 0, softmax(exponents))", see="01#bandwidth")
    | "The weight of the point itself is set to 0 after the softmax, so those of the others sum to less than 1."
    | "Leave the point out before the softmax, not after it.",
    root=edit(SCORE, "float(np.sqrt(np.mean((predicted - y) ** 2)))")
    | "These are roots of the mean squared errors. Asked for are the mean squares themselves."
    | "If y is in metres, which unit does a mean squared error have?",
    errors_rooted=edit(ERROR, "float(np.sqrt(np.mean((weights @ y - y) ** 2)))")
    | "`errors` holds roots of the mean squared errors. Asked for are the mean squares themselves."
    | "If y is in metres, which unit does a mean squared error have?",
    errors_summed=edit(ERROR, "float(np.sum((weights @ y - y) ** 2))")
    | "`errors` holds the sums of the squared errors over the points. Take their mean.",
    errors_absolute=edit(ERROR, "float(np.mean(np.abs(weights @ y - y)))")
    | "`errors` holds means of absolute errors. Asked for are squares.",
    errors_signed=edit(ERROR, "float(np.mean(weights @ y - y))")
    | "The differences are averaged with their signs, so that they cancel. Square each one first.",
    sorted=edit("for bandwidth in bandwidths", "for bandwidth in np.sort(bandwidths)")
    | edit(BEST, "np.sort(bandwidths)[np.argmin(errors)]")
    | "The errors are in the order of the sorted bandwidths. Keep the order in which the bandwidths come.",
    position_returned=edit(BEST, "np.argmin(errors)")
    | "`best` is the position of the best bandwidth in the array. Return the bandwidth itself."
    | "`np.argmin` gives a position. What stands there in `bandwidths`?",
    base_with_itself=edit(OTHERS, "np.mean(y)")
    | "In the base rate each point helps to predict itself: the mean holds its own value. Take the mean of the "
    "others, so that both errors are measured alike." | "The sum of all values minus its own, divided by how many?",
    divided_by_all=edit(OTHERS, "(y.sum() - y) / len(y)")
    | "In the base rate the sum of the others is divided by the number of all points. The others are one fewer.",
    first_column_only=edit("((x[:, None] - x) ** 2).sum(axis=-1)", "((x[:, None] - x) ** 2)[..., 0]")
    | "Only the first column of x is used. x is (S, d): a squared distance is a sum over all d columns.",
    largest_error=edit(BEST, "bandwidths[np.argmax(errors)]") | "`best` is the bandwidth with the largest error.",
    smallest_error_returned=edit(BEST, "errors.min()")
    | "`best` is the smallest error. Return the bandwidth that has it."
    | "`np.argmin` says where the smallest error stands.",
    base_variance=edit('"base_rate": score(y, others)', '"base_rate": float(y.var(ddof=1))')
    | "The base rate is the variance with n − 1 below it. Predict each value by the mean of the others, and average "
    "the squared errors over all n points." | "Try it with two points: by which value is each of them predicted?",
    absolute=edit(SCORE, "float(np.mean(np.abs(predicted - y)))")
    | "These are means of absolute errors. Asked for are squares.",
    summed=edit(SCORE, "float(np.sum((predicted - y) ** 2))")
    | "The squared errors are summed over the points. Take their mean.",
    same_x_left_out=edit("is_itself = np.eye(len(x), dtype=bool)", "is_itself = squares == 0")
    | "Every point at distance 0 is left out. Another point may lie at the same x, and it still counts: leave out "
    "point i by its number." | "`np.arange(S) != i`.",
    same_x_low_number=edit("is_itself = np.eye(len(x), dtype=bool)", "is_itself = squares == 0")
    | edit(EXPONENTS, "np.where(is_itself, -1e9, -squares / (2 * bandwidth**2))", see="01#bandwidth")
    | "Every point at distance 0 gets a low number such as −10⁹. Another point may lie at the same x, and it still "
    "counts. And with a bandwidth far below the gaps all other exponents are lower still."
    | "Leave out point i by its number, `np.arange(S) != i`; or take −∞.",
    low_number_and_position=edit(BEST, "np.argmin(errors)")
    | edit(EXPONENTS, "np.where(is_itself, -1e9, -squares / (2 * bandwidth**2))", see="01#bandwidth")
    | "The point's own exponent is a low number such as −10⁹. With a bandwidth far below the gaps all others are "
    "lower still, and the point predicts itself. And `best` is a position: return the bandwidth itself."
    | "What is −d²/(2σ²) for d = 3 and σ = 2⁻⁴⁰? Which number is lower in any case?",
    softmax_over_predicted=edit("softmax(exponents)", "softmax(exponents, axis=0)")
    | "Each column of the weights sums to 1: a point shares its weight among the points that it helps to predict. The "
    "weights of one prediction should sum to 1."
    | "Which axis of your weights holds the points that predict y_i? The softmax runs along it.",
    low_number=edit(EXPONENTS, "np.where(is_itself, -1e9, -squares / (2 * bandwidth**2))", see="01#bandwidth")
    | "The point's own exponent is a low number such as −10⁹. With a bandwidth far below the gaps all others are "
    "lower still, and the point predicts itself: leave it out, or take −∞."
    | "What is −d²/(2σ²) for d = 3 and σ = 2⁻⁴⁰?",
    one_error_fewer=edit(SCORE, "float(np.sum((predicted - y) ** 2) / (len(y) - 1))")
    | "The squared errors are divided by n − 1. Each of the n points is left out once: divide by n.",
    unstable_kernel=edit("softmax(exponents)", "np.exp(exponents) / np.exp(exponents).sum(axis=-1, keepdims=True)")
    | "The kernels of all other points round to 0, and 0/0 is NaN. Put the exponents into a safe softmax, with the "
    "point already left out.",
)

exercise.advice(
    errors=Advice(
        value="For each bandwidth and each point i: keys and values without point i, pooled for the query x[i]. Then "
        "the mean of the squared differences from y.",
        shape="One number for each bandwidth, in their order: (N,).",
    ),
    narrow=Advice(
        nan="The kernels of all other points round to 0, and 0/0 is NaN. Leave the point out before the softmax, as "
        "your `attention_pooling` does when it does not get it.",
        value="With such a bandwidth the nearest other point has all of the weight. Does a low number leave the point "
        "itself out? With σ = 2⁻⁴⁰ the exponents of the others are near −10²⁵.",
    ),
    base="Each point is predicted by the mean of all other values; then the mean of the squared errors.",
    together=Advice(
        value="`best` is the bandwidth with the smallest error: the bandwidth itself, not its position in the array.",
        shape="`best` and `base_rate` are single numbers.",
    ),
)
exercise.hints(
    errors=(
        "Two loops: over the bandwidths, and over the points. Inside stands one call of your `attention_pooling`.",
        "`others = np.arange(len(x)) != i` is a mask: x[others] are the keys, y[others, None] the values, x[i] the "
        "query.",
    ),
    narrow="If you get NaN: `np.exp(-1000)` is 0, so which of your divisions has only such numbers below it? If you "
    "get another number: which of your exponents is the largest, and whose is it?",
    base="Two points, y = 0 and y = 2: what is predicted for each, and what is the error?",
    together="Print `errors` beside `bandwidths`. What is the bandwidth in the row of the smallest error?",
)

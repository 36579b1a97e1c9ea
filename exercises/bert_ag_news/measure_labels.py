"""Lab 07, exercise `measure_labels`."""

import numpy as np

from autograder.declare import Advice, Case, Exercise, edit, seen
from coursekit.probes.bert_ag_news import each_once, nearest_mean
from exercises.drawing import drawn_until

exercise = Exercise(
    "measure_labels",
    own_probe=True,
    returns=("accuracy", "mean", "low", "high", "base_rate", "fits"),
    probe_only=("classes",),
)


@exercise.formula
def accuracy_by_labels(x, y, x_test, y_test, sizes, orders):
    """Test accuracy of a head fitted on the first texts of each order, (sizes, orders); mean, range and base rate.

    x (N, D), y (N,), x_test (n, D), y_test (n,), orders (S, N).
    """
    accuracy = np.zeros((len(sizes), len(orders)))
    for row, size in enumerate(sizes):
        for column, order in enumerate(orders):
            rows = order[:size]
            predicted = nearest_mean(x[rows], y[rows], x_test)
            accuracy[row, column] = np.mean(predicted == y_test)
    mean = accuracy.mean(axis=1)
    low, high = accuracy.min(axis=1), accuracy.max(axis=1)
    commonest = np.argmax(np.bincount(y))
    base_rate = np.mean(y_test == commonest)
    return {"accuracy": accuracy, "mean": mean, "low": low, "high": high, "base_rate": np.asarray(base_rate)}


@exercise.formula_for("accuracy")
def accuracy_alone(x, y, x_test, y_test, sizes, orders):
    """The accuracies."""
    return {"accuracy": accuracy_by_labels(x, y, x_test, y_test, sizes, orders)["accuracy"]}


@exercise.formula_for("summary")
def mean_and_range(x, y, x_test, y_test, sizes, orders):
    """Mean and range by size."""
    found = accuracy_by_labels(x, y, x_test, y_test, sizes, orders)
    return {"mean": found["mean"], "low": found["low"], "high": found["high"]}


@exercise.formula_for("base")
def base_rate_alone(x, y, x_test, y_test, sizes, orders):
    """The base rate."""
    return {"base_rate": accuracy_by_labels(x, y, x_test, y_test, sizes, orders)["base_rate"]}


@exercise.formula_for("fits")
def one_fit_each(sizes: list[int]) -> dict[str, str]:
    """What was fitted."""
    return {"fits": each_once(sizes)}


def _drawn(rng, texts: int, width: int, sizes: list[int], seeds: int, commonest: int) -> dict:
    """Classes of unequal size whose means are near each other; the commonest one differs in training and test."""
    classes = 3
    y, y_test = (rng.permutation(np.repeat(np.arange(classes), counts)) for counts in _counts(rng, texts, commonest))
    means = 0.8 * rng.normal(size=(classes, width))
    x, x_test = (means[labels] + rng.normal(size=(len(labels), width)) for labels in (y, y_test))
    orders = np.stack([rng.permutation(texts) for _ in range(seeds)])
    inputs = {"x": x.astype("float32"), "y": y, "x_test": x_test.astype("float32"), "y_test": y_test}
    return {**inputs, "sizes": sizes, "orders": orders}


def _counts(rng, texts: int, commonest: int) -> tuple[np.ndarray, np.ndarray]:
    """How many texts each class has: the commonest in training, 1 or 2, is not that of the test, nor of both: 0."""
    few = int(rng.integers(7, 13))  # fewer than of the third class, which has 28 less these
    train, test = np.full(3, texts // 3 - 4), np.full(3, 28 - few)
    train[commonest] = texts - 2 * (texts // 3 - 4)
    test[commonest] = few
    test[0] = few + int(rng.integers(15, 24))
    return train, test


def _tells_apart(inputs: dict) -> bool:
    """Whether every way to go wrong gives other numbers, whatever is drawn."""
    found = accuracy_by_labels(**inputs)
    accuracy, spread = found["accuracy"], found["accuracy"].std(axis=1)
    has_range = (found["high"] - found["low"] > 0.03).all() and (accuracy < 0.9).all()
    no_std = (np.abs(found["mean"] - spread - found["low"]) > 0.004).all()
    skewed = (np.abs(found["mean"] - np.median(accuracy, axis=1)) > 0.002).any()
    return bool(has_range and no_std and skewed and len(np.unique(accuracy)) > accuracy.size // 2)


def _case(rng, texts: int, width: int, sizes: list[int], seeds: int, mode: str) -> Case:
    inputs = drawn_until(
        _tells_apart, lambda: _drawn(rng, texts, width, sizes, seeds, commonest=int(rng.integers(1, 3)))
    )
    shown = f"train ({texts}, {width}), sizes {sizes}, {seeds} orders"
    return Case(inputs, shown, mode=mode)


def _base_case(rng, texts: int, sizes: list[int], seeds: int, commonest: int) -> Case:
    """Among the first labels, of each order and as they come, the commonest class is that of neither training nor test.

    So only the training labels, all of them, give the right base rate.
    """

    def misleads(order: np.ndarray) -> bool:
        return all(np.argmax(np.bincount(y[order[:size]])) == 3 - commonest for size in (1, *sizes))

    inputs = _drawn(rng, texts, 3, sizes, seeds, commonest)
    y = inputs["y"]
    first, *orders = (drawn_until(misleads, lambda: rng.permutation(texts)) for _ in range(1 + seeds))
    inputs |= {"x": inputs["x"][first], "y": y[first], "orders": np.argsort(first)[np.stack(orders)]}
    return Case(inputs, f"train ({texts}, 3), sizes {sizes}, {seeds} orders", mode="base")


exercise.group(
    "accuracy of each size with each order",
    points=2,
    must_fail_for=("training_tested", "first_texts", "labels_in_old_order", "disjoint"),
    accuracies=lambda rng: [
        _case(rng, 41, 3, [7, 13], 5, "accuracy"),
        _case(rng, 53, 5, [5, 29, 11, 47], 3, "accuracy"),
    ],
)
exercise.group(
    "mean and range by size",
    must_fail_for=("deviation", "interval"),
    summary=lambda rng: _case(rng, 47, 3, [7, 17, 31], 5, "summary"),
)
exercise.group(
    "base rate",
    must_fail_for=("share_in_training", "commonest_of_test", "commonest_of_some", "one_over_classes"),
    base=lambda rng: [_base_case(rng, 47, [5, 7], 3, commonest=1), _base_case(rng, 61, [7], 5, commonest=2)],
)


@exercise.group("one fit for each size and order")
def fits(rng):
    sizes = [int(rng.integers(least, least + 5)) for least in (4, 11, 26)]
    return _case(rng, 43, 3, sizes, 4, "fits")


ROWS = "rows = order[:size]"
PREDICTED = "nearest_mean(x[rows], y[rows], x_test)"
CORRECT = "np.mean(predicted == y_test)"
BASE = "np.mean(y_test == commonest)"
RANGE = "accuracy.min(axis=1), accuracy.max(axis=1)"

exercise.mistakes(
    training_tested=edit(PREDICTED, "nearest_mean(x[rows], y[rows], x[rows])")
    | edit(CORRECT, "np.mean(predicted == y[rows])", see="06b#three-splits")
    | "You test on the texts that the head was fitted on. It knows their labels."
    | "Which of the four arrays has fit never seen?",
    first_texts=edit(ROWS, "rows = np.arange(size)")
    | seen({"fits": "the same texts for every order"}, see="06b#seeds")
    | "Every order gets the same texts: the first ones of the training set. So the range says nothing about chance."
    | "`order[:size]` are row numbers. What do they choose from x and y?",
    labels_in_old_order=edit(PREDICTED, "nearest_mean(x[rows], y[:size], x_test)")
    | seen({"fits": "labels of other texts"})
    | "The labels belong to other texts. Take x and y with the same row numbers.",
    disjoint=edit(ROWS, "rows = order[sum(sizes[:row]) : sum(sizes[:row]) + size]")
    | seen({"fits": "other texts at each size"}, see="06b#seeds")
    | "Each size gets other texts of an order. Then a difference between sizes is also one between texts."
    | "Every size begins at the same place of an order.",
    deviation=edit(RANGE, "mean - accuracy.std(axis=1), mean + accuracy.std(axis=1)")
    | "These are mean minus and plus the standard deviation. The range should go from the smallest to the largest "
    "number.",
    median=edit("mean = accuracy.mean(axis=1)", "mean = np.median(accuracy, axis=1)")
    | "`mean` holds the medians. It should hold the means.",
    percentiles=edit(RANGE, "np.percentile(accuracy, 2.5, axis=1), np.percentile(accuracy, 97.5, axis=1)")
    | "These are percentiles of the accuracies. The range should go from the smallest to the largest number.",
    last_texts=edit(ROWS, "rows = order[-size:]")
    | seen({"fits": "the last texts of each order"})
    | "You take the last texts of each order. It should be the first ones: `order[:n]`.",
    all_labels_fitted=edit(ROWS, "rows = np.arange(len(y))")
    | seen({"fits": "0 of 12 that were to be fitted"})
    | "The head is fitted on all training texts, whatever the size is."
    | "Where does the loop over the sizes use its size?",
    test_cut=edit(CORRECT, "np.mean(predicted[:size] == y_test[:size])")
    | "Only the first n test texts are used. n is a number of training texts; all test texts should be used.",
    errors_counted=edit(CORRECT, "np.mean(predicted != y_test)")
    | "This is the share of wrong answers. The accuracy is the share of correct ones.",
    share_in_training=edit(BASE, "np.mean(y == commonest)")
    | "This is the share of the commonest class in training. The base rate is measured on the test texts."
    | "Answer always with this class. On which texts is it judged?",
    commonest_of_test=edit(BASE, "np.bincount(y_test).max() / len(y_test)", see="06b#three-splits")
    | "This is the share of the test's commonest class. Whoever predicts does not know this class: take the commonest "
    "one of all training labels.",
    commonest_of_some=edit("np.bincount(y)", "np.bincount(y[rows])")
    | "This is the share of a class that is not the commonest of all training labels."
    | "Which labels do you count, and how many?",
    one_order=edit(ROWS, "rows = orders[0][:size]")
    | seen({"fits": "one order only"}, see="06b#seeds")
    | "Only one of the orders is used.",
    all_training_tested=edit(PREDICTED, "nearest_mean(x[rows], y[rows], x)")
    | edit(CORRECT, "np.mean(predicted == y)", see="06b#three-splits")
    | "You test on all training texts. The head was fitted on some of them.",
    interval=edit(RANGE, "mean - accuracy.std(axis=1, ddof=1), mean + accuracy.std(axis=1, ddof=1)")
    | "These are mean minus and plus the standard deviation with ddof=1. The range should go from the smallest to the "
    "largest number.",
    one_over_classes=edit(BASE, "1 / (y.max() + 1)")
    | "1 divided by the number of classes is right only when all are equally frequent.",
    fitted_twice=seen({"fits": "some more than once"})
    | "Some heads are fitted more than once. With a real encoder a fit takes minutes."
    | "Keep what `fit` returns.",
)

exercise.advice(
    accuracies=Advice(
        value="For each size and each order: `rows = order[:size]`, one fit on these texts with their labels, and the "
        "share of the test texts that are predicted correctly.",
        shape="A row for each size, a column for each order.",
    ),
    summary=Advice(
        value="Mean, smallest and largest accuracy over the orders, for each size.", shape="One number for each size."
    ),
    base="Which class is the commonest one in training? How often is the test right with this answer alone?",
    fits="Two loops, and one fit inside. All sizes get the same orders: a small set is part of each larger one.",
)
exercise.hints(
    accuracies=(
        "Two loops over `sizes` and `orders`; `np.zeros((len(sizes), len(orders)))` takes the accuracies.",
        "`fit` returns a function. Which vectors has it to predict for the test?",
    ),
    summary="Over which axis does the mean run when one number for each size is left?",
    base="`np.bincount` counts whole numbers, and `argmax` finds the largest count.",
    fits="Call `fit` once inside the two loops, with the first `size` rows of the order.",
)

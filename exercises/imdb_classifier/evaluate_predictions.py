"""Lab 06, exercise `evaluate_predictions`."""

from collections.abc import Sequence

import numpy as np

from autograder.declaring import Case, Exercise, wrong
from coursekit.generator import Generator
from exercises.drawing import drawn_until


def _results(rng: Generator, tn: int, fp: int, fn: int, tp: int, threshold: float = 0.5) -> dict:
    """Probabilities (n,) and labels (n,) with these counts; the first of each side stands on or near the threshold."""
    n = tn + fp + fn + tp
    labels = np.repeat([0, 0, 1, 1], [tn, fp, fn, tp])
    said = np.repeat([False, True, False, True], [tn, fp, fn, tp])
    above, below = rng.uniform(threshold, 1, size=n), rng.uniform(0, threshold, size=n) * 0.99
    for group in (fp, tp):
        start = tn if group is fp else tn + fp + fn
        above[start : start + min(group, 1)] = threshold
    order = rng.permutation(n)
    return {
        "probabilities": np.where(said, above, below).astype("float32")[order],
        "labels": labels[order].astype("int32"),
        **({} if threshold == 0.5 else {"threshold": threshold}),
    }


def _shown(counts: Sequence[int], **others) -> str:
    return ", ".join([f"{sum(counts)} reviews", *(f"{key}={value}" for key, value in others.items())])


def _counts(rng: Generator, *around: int) -> tuple[int, int, int, int]:
    """Counts of the four fields near these, all different, so that no two of them can be taken for each other."""
    fields = [count for count in around if count]
    drawn = drawn_until(
        lambda drawn: len(set(drawn)) == len(drawn), lambda: [count + int(rng.integers(4)) for count in fields]
    )
    rest = iter(drawn)
    tn, fp, fn, tp = (next(rest) if count else 0 for count in around)
    return tn, fp, fn, tp


def _measured(*around: tuple[int, int, int, int]):
    def draw(rng: Generator) -> list[Case]:
        counts = [_counts(rng, *fields) for fields in around]
        return [Case(_results(rng, *fields), description=_shown(fields)) for fields in counts]

    return draw


exercise = Exercise("evaluate_predictions")


@exercise.formula
def evaluate_predictions(
    probabilities: np.ndarray, labels: np.ndarray, threshold: float = 0.5
) -> dict[str, np.ndarray]:
    """Counts and measures of a decision between two classes; 0 where a measure would divide by nothing."""
    said, true = probabilities.reshape(-1) >= threshold, labels.reshape(-1) == 1
    tn, fp, fn, tp = (int(np.sum(both)) for both in (~said & ~true, said & ~true, ~said & true, said & true))
    accuracy = (tp + tn) / said.size
    precision, recall = share(tp, tp + fp), share(tp, tp + fn)
    f1 = share(2 * precision * recall, precision + recall)
    return {
        "accuracy": np.array(accuracy, float),
        "precision": np.array(precision, float),
        "recall": np.array(recall, float),
        "f1": np.array(f1, float),
        "confusion": np.array([[tn, fp], [fn, tp]], float),
    }


def share(part: float, whole: float) -> float:
    """`part` of `whole`; 0 of nothing."""
    return part / whole if whole else 0.0


@exercise.group("right counts and measures", points=2)
def values(rng: Generator) -> list[Case]:
    return _measured((7, 3, 2, 11), (13, 5, 8, 3))(rng)


@exercise.group("other thresholds", points=1, advice="A probability that equals the threshold counts as positive.")
def threshold(rng: Generator) -> list[Case]:
    cases = [((7, 3, 2, 11), 0.25), ((5, 2, 4, 13), 0.75)]
    drawn = [(_counts(rng, *around), threshold) for around, threshold in cases]
    return [
        Case(_results(rng, *counts, threshold=threshold), description=_shown(counts, threshold=threshold))
        for counts, threshold in drawn
    ]


@exercise.group(
    "probabilities of shape (n, 1)",
    points=1,
    advice="(n, 1) compared with (n,) broadcasts to (n, n). Flatten both first.",
)
def column(rng: Generator) -> list[Case]:
    counts = _counts(rng, 7, 3, 2, 11)
    inputs = _results(rng, *counts)
    column = {**inputs, "probabilities": inputs["probabilities"][:, None]}
    return [Case(column, description=f"probabilities ({sum(counts)}, 1), as model.predict returns them")]


@exercise.group(
    "0 where the divisor is 0",
    points=1,
    advice="There may be no predicted positives, no real positives, or neither: each divisor may be 0.",
)
def zero(rng: Generator) -> list[Case]:
    return _measured((9, 0, 4, 0), (8, 3, 0, 0), (6, 0, 0, 0))(rng)


FLAT = "probabilities.reshape(-1) >= threshold, labels.reshape(-1) == 1"
TABLE, ACCURACY = "[[tn, fp], [fn, tp]]", "(tp + tn) / said.size"
F1 = "share(2 * precision * recall, precision + recall)"
BOTH = "precision, recall = share(tp, tp + fp), share(tp, tp + fn)"
NOTHING = "part / whole if whole else 0.0"

exercise.mistakes(
    threshold_exclusive=wrong(
        "A probability that equals the threshold counts as negative; it should count as positive.",
        (">= threshold", "> threshold"),
    ),
    rounded=wrong(
        "`round` takes 0.5 to 0 (halves go to the even number), and it has no argument for the threshold.",
        (">= threshold", "> 0.5"),
    ),
    threshold_ignored=wrong("The threshold is 0.5 whatever the argument says.", (">= threshold", ">= 0.5")),
    column_broadcast=wrong(
        "Probabilities (n, 1) against labels (n,) made a table (n, n): every review is compared with every label.",
        (FLAT, "np.broadcast_arrays(probabilities >= threshold, labels.reshape(-1) == 1)"),
    ),
    accuracy_of_a_table=wrong(
        "The accuracy is above 1 for probabilities (n, 1): against labels (n,) they make a table (n, n), and you divide"
        " the sum of the whole table by n. Flatten both first.",
        (FLAT, "probabilities >= threshold, labels.reshape(-1) == 1"),
    ),
    confusion_transposed=wrong(
        "The confusion matrix is transposed: rows are true classes, columns are what the model said.",
        (TABLE, "[[tn, fn], [fp, tp]]"),
    ),
    confusion_positive_first=wrong(
        "The confusion matrix begins with the positive class. Class 0 comes first: [[tn, fp], [fn, tp]].",
        (TABLE, "[[tp, fn], [fp, tn]]"),
    ),
    confusion_both=wrong(
        "The confusion matrix is [[tp, fp], [fn, tn]], as in some textbooks; here it is [[tn, fp], [fn, tp]].",
        (TABLE, "[[tp, fp], [fn, tn]]"),
    ),
    confusion_shares=wrong(
        "The confusion matrix holds shares; it should hold counts.", (TABLE, f"np.array({TABLE}) / said.size")
    ),
    precision_recall_swapped=wrong(
        "Precision and recall are swapped. Precision: of those predicted positive, how many are positive?",
        (BOTH, BOTH.replace("precision, recall", "recall, precision")),
    ),
    f1_arithmetic=wrong(
        "F1 is the harmonic mean, not the ordinary one: 2PR / (P + R).", (F1, "(precision + recall) / 2")
    ),
    f1_halved=wrong(
        "F1 is half of what it should be: the harmonic mean has a 2.",
        (F1, "share(precision * recall, precision + recall)"),
    ),
    f1_geometric=wrong("F1 is the harmonic mean, without a root: 2PR / (P + R).", (F1, "(precision * recall) ** 0.5")),
    nothing_is_nan=wrong(
        "0/0 is NaN. Where the divisor is 0, return 0.", (NOTHING, 'part / whole if whole else float("nan")')
    ),
    nothing_is_one=wrong(
        "Where the divisor is 0, the measure should be 0.", (NOTHING, "part / whole if whole else 1.0")
    ),
    negative_class_measured=wrong(
        "Class 0 is treated as the positive one. Positive is class 1.", ("tn, fp, fn, tp =", "tp, fn, fp, tn =")
    ),
    accuracy_in_percent=wrong(
        "The accuracy is in per cent; it should be a share from 0 to 1.", (ACCURACY, f"100 * {ACCURACY}")
    ),
    accuracy_is_a_count=wrong(
        "The accuracy is the number of right answers; it should be their share. Divide by the number of "
        "reviews, or take"
        " the mean.",
        (ACCURACY, "tp + tn"),
    ),
)


exercise.hints(
    "Make two flat boolean arrays first: predicted positive, and really positive.",
    "The four counts are sums of `said & true`, `said & ~true`, `~said & true` and `~said & ~true`.",
)
exercise.hints(
    "`share` of the stub divides, or gives 0. Does every division in your code use it, also that of F1?", group="zero"
)
exercise.hints(
    "Does a probability that equals the threshold count as positive? And is the argument used, or 0.5?",
    group="threshold",
)
exercise.hints("Print the shapes of what you compare. Flatten both before that.", group="column")

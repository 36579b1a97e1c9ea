"""Lab 06, exercise `evaluate_predictions`."""

from collections.abc import Sequence

import numpy as np

from autograder.declare import Case, Exercise, edit
from exercises.drawing import drawn_until


def _results(rng, tn: int, fp: int, fn: int, tp: int, threshold: float = 0.5) -> dict:
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


def _counts(rng, *around: int) -> tuple[int, int, int, int]:
    """Counts of the four fields near these, all different, so that no two of them can be taken for each other."""
    fields = [count for count in around if count]
    drawn = drawn_until(
        lambda drawn: len(set(drawn)) == len(drawn), lambda: [count + int(rng.integers(4)) for count in fields]
    )
    rest = iter(drawn)
    tn, fp, fn, tp = (next(rest) if count else 0 for count in around)
    return tn, fp, fn, tp


def _measured(*around: tuple[int, int, int, int]):
    def draw(rng) -> list[Case]:
        counts = [_counts(rng, *fields) for fields in around]
        return [Case(_results(rng, *fields), _shown(fields)) for fields in counts]

    return draw


exercise = Exercise("evaluate_predictions", own_probe=True)


@exercise.formula
def evaluate_predictions(probabilities, labels, threshold=0.5):
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


exercise.group("right counts and measures", points=2, values=_measured((7, 3, 2, 11), (13, 5, 8, 3)))


@exercise.group("other thresholds")
def threshold(rng):
    cases = [((7, 3, 2, 11), 0.25), ((5, 2, 4, 13), 0.75)]
    drawn = [(_counts(rng, *around), threshold) for around, threshold in cases]
    return [
        Case(_results(rng, *counts, threshold=threshold), _shown(counts, threshold=threshold))
        for counts, threshold in drawn
    ]


@exercise.group("probabilities of shape (n, 1)")
def column(rng):
    counts = _counts(rng, 7, 3, 2, 11)
    inputs = _results(rng, *counts)
    column = {**inputs, "probabilities": inputs["probabilities"][:, None]}
    return Case(column, f"probabilities ({sum(counts)}, 1), as model.predict returns them")


exercise.group("0 where the divisor is 0", zero=_measured((9, 0, 4, 0), (8, 3, 0, 0), (6, 0, 0, 0)))

FLAT = "probabilities.reshape(-1) >= threshold, labels.reshape(-1) == 1"
TABLE, ACCURACY = "[[tn, fp], [fn, tp]]", "(tp + tn) / said.size"
F1 = "share(2 * precision * recall, precision + recall)"
BOTH = "precision, recall = share(tp, tp + fp), share(tp, tp + fn)"
NOTHING = "part / whole if whole else 0.0"

exercise.mistakes(
    threshold_exclusive=edit(">= threshold", "> threshold")
    | "A probability that equals the threshold counts as negative; it should count as positive.",
    rounded=edit(">= threshold", "> 0.5")
    | "`round` takes 0.5 to 0 (halves go to the even number), and it has no argument for the threshold.",
    threshold_ignored=edit(">= threshold", ">= 0.5") | "The threshold is 0.5 whatever the argument says.",
    column_broadcast=edit(FLAT, "np.broadcast_arrays(probabilities >= threshold, labels.reshape(-1) == 1)")
    | "Probabilities (n, 1) against labels (n,) made a table (n, n): every review is compared with every label.",
    accuracy_of_a_table=edit(FLAT, "probabilities >= threshold, labels.reshape(-1) == 1")
    | "The accuracy is above 1 for probabilities (n, 1): against labels (n,) they make a table (n, n), and you divide "
    "the sum of the whole table by n. Flatten both first.",
    confusion_transposed=edit(TABLE, "[[tn, fn], [fp, tp]]")
    | "The confusion matrix is transposed: rows are true classes, columns are what the model said.",
    confusion_positive_first=edit(TABLE, "[[tp, fn], [fp, tn]]")
    | "The confusion matrix begins with the positive class. Class 0 comes first: [[tn, fp], [fn, tp]].",
    confusion_both=edit(TABLE, "[[tp, fp], [fn, tn]]")
    | "The confusion matrix is [[tp, fp], [fn, tn]], as in some textbooks; here it is [[tn, fp], [fn, tp]].",
    confusion_shares=edit(TABLE, f"np.array({TABLE}) / said.size")
    | "The confusion matrix holds shares; it should hold counts.",
    precision_recall_swapped=edit(BOTH, BOTH.replace("precision, recall", "recall, precision"))
    | "Precision and recall are swapped. Precision: of those predicted positive, how many are positive?",
    f1_arithmetic=edit(F1, "(precision + recall) / 2")
    | "F1 is the harmonic mean, not the ordinary one: 2PR / (P + R).",
    f1_halved=edit(F1, "share(precision * recall, precision + recall)")
    | "F1 is half of what it should be: the harmonic mean has a 2.",
    f1_geometric=edit(F1, "(precision * recall) ** 0.5") | "F1 is the harmonic mean, without a root: 2PR / (P + R).",
    nothing_is_nan=edit(NOTHING, 'part / whole if whole else float("nan")')
    | "0/0 is NaN. Where the divisor is 0, return 0.",
    nothing_is_one=edit(NOTHING, "part / whole if whole else 1.0") | "Where the divisor is 0, the measure should be 0.",
    negative_class_measured=edit("tn, fp, fn, tp =", "tp, fn, fp, tn =")
    | "Class 0 is treated as the positive one. Positive is class 1.",
    accuracy_in_percent=edit(ACCURACY, f"100 * {ACCURACY}")
    | "The accuracy is in per cent; it should be a share from 0 to 1.",
    accuracy_is_a_count=edit(ACCURACY, "tp + tn")
    | "The accuracy is the number of right answers; it should be their share. Divide by the number of reviews, or "
    "take the mean.",
)

exercise.advice(
    threshold="A probability that equals the threshold counts as positive.",
    column="(n, 1) compared with (n,) broadcasts to (n, n). Flatten both first.",
    zero="There may be no predicted positives, no real positives, or neither: each divisor may be 0.",
)
exercise.hints(
    values=(
        "Make two flat boolean arrays first: predicted positive, and really positive.",
        "The four counts are sums of `said & true`, `said & ~true`, `~said & true` and `~said & ~true`.",
    ),
    zero="`share` of the stub divides, or gives 0. Does every division in your code use it, also that of F1?",
    threshold="Does a probability that equals the threshold count as positive? And is the argument used, or 0.5?",
    column="Print the shapes of what you compare. Flatten both before that.",
)

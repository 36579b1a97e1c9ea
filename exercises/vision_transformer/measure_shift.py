"""Lab 09, exercise `measure_shift`."""

from typing import Any

import numpy as np

from autograder.declare import Advice, Case, Exercise, edit, instead, seen
from coursekit.probes.vision_transformer import WHOLE_PATCHES, answers_of, logits_of
from exercises.drawing import drawn_until, normal

exercise = Exercise("measure_shift", own_probe=True, returns=("accuracy", "change", "error", "along", "rows"))


@exercise.formula
def accuracy_by_shift(images, labels, shifts, patch_size, weights):
    """Accuracy at each shift, its change from the images as they are, and the paired standard error of the change."""
    hits, base = hits_at(images, labels, shifts, weights), correct(images, labels, weights, 0)
    change = hits - base
    error = change.std(axis=1, ddof=1) / len(images) ** 0.5
    return {"accuracy": hits.mean(axis=1), "change": change.mean(axis=1), "error": error}


@exercise.formula_for("accuracy")
def accuracy_alone(images, labels, shifts, patch_size, weights):
    """Accuracy at each shift."""
    return {"accuracy": hits_at(images, labels, shifts, weights).mean(axis=1)}


@exercise.formula_for("along")
def rows_along(images, labels, shifts, patch_size, weights):
    """Accuracy at shifts by whole patches, with the position rows moved along, and at which shifts that was asked."""
    whole = [shift for shift in shifts if shift % patch_size == 0]
    rows = [shift // patch_size for shift in whole]
    pairs = zip(whole, rows, strict=True)
    hits = [correct(moved_right(images, shift), labels, weights, row * patch_size) for shift, row in pairs]
    return {"along": np.array(hits).mean(axis=1), "rows": WHOLE_PATCHES}


def moved_right(images: np.ndarray, shift: int) -> np.ndarray:
    """Images (n, h, w, C) moved to the right; what leaves is lost, what comes in is 0."""
    width = images.shape[2]
    padded = np.pad(images, ((0, 0), (0, 0), (width, width), (0, 0)))
    return padded[:, :, width - shift : 2 * width - shift]


def hits_at(images: np.ndarray, labels: np.ndarray, shifts: list[int], weights: np.ndarray) -> np.ndarray:
    """1 where an image is recognised after a move, else 0: (shifts, n)."""
    return np.array([correct(moved_right(images, shift), labels, weights, 0) for shift in shifts])


def other_answers(images: np.ndarray, shifts: list[int], weights: np.ndarray) -> np.ndarray:
    """1 where the predicted class is another one after a move, else 0: (shifts, n)."""
    before = answers_of(images, weights, 0)
    now = [answers_of(moved_right(images, shift), weights, 0) for shift in shifts]
    return (np.array(now) != before).astype("float64")


def correct(images: np.ndarray, labels: np.ndarray, weights: np.ndarray, columns: int) -> np.ndarray:
    """1 where an image is recognised, else 0: (n,)."""
    return (answers_of(images, weights, columns) == labels).astype("float64")


def unpaired(images, labels, shifts, patch_size, weights):
    """The error as if the two accuracies came from different images."""
    found = accuracy_by_shift(images, labels, shifts, patch_size, weights)
    base = correct(images, labels, weights, 0).mean()
    variances = [share * (1 - share) for share in (found["accuracy"], base)]
    return {**found, "error": (sum(variances) / len(images)) ** 0.5}


def _inputs(rng, count: int, shape: tuple[int, int, int], patch_size: int, shifts: list[int]) -> dict:
    """Images of three classes, and a linear model that knows where each of them stands."""
    weights = normal(rng, *shape, 3)
    labels = rng.permutation(np.arange(count) % 3)
    noise = 0.55 * np.prod(shape) ** 0.5 * rng.normal(size=(count, *shape))
    images = (np.moveaxis(weights, -1, 0)[labels] + noise).astype("float32")
    return {"images": images, "labels": labels, "shifts": shifts, "patch_size": patch_size, "weights": weights}


def _is_clear(inputs: dict[str, Any]) -> bool:
    """Whether rounding decides about no answer, and shares, changes and errors differ from each other.

    Images that have moved by their whole width are empty. All classes tie there, and the first is the answer.
    """
    images, weights, patch_size = inputs["images"], inputs["weights"], inputs["patch_size"]
    within = [shift for shift in inputs["shifts"] if abs(shift) < images.shape[2]]  # beyond, images are empty
    for shift in (0, *within):
        for rows in (0, shift // patch_size):
            logits = np.sort(logits_of(moved_right(images, shift), weights, rows * patch_size), axis=-1)
            if (logits[:, -1] - logits[:, -2]).min() < 0.002:
                return False
    found, apart = accuracy_by_shift(**inputs), unpaired(**inputs)
    moved = np.isin(inputs["shifts"], [shift for shift in within if shift])
    accuracy, change, error = (found[name][moved] for name in ("accuracy", "change", "error"))
    differ = np.abs(apart["error"][moved] / error - 1) > 0.04
    return bool((np.abs(change) > 0.1).all() and len(set(accuracy)) == len(accuracy) and differ.all())


def _drawn(rng, *settings: Any) -> dict[str, Any]:
    return drawn_until(_is_clear, lambda: _inputs(rng, *settings))


def _case(inputs: dict[str, Any], mode: str = "call") -> Case:
    images, shifts, size = inputs["images"], inputs["shifts"], inputs["patch_size"]
    return Case(inputs, f"images {images.shape}, shifts {shifts}, patch_size={size}", mode=mode)


@exercise.group("accuracy at each shift", points=2, must_fail_for=("rolled", "other_direction", "downwards"))
def accuracy(rng):
    yield _case(_drawn(rng, 41, (4, 6, 1), 2, [2, -2, 1]), "accuracy")
    yield _case(_drawn(rng, 37, (5, 9, 2), 3, [-1, 3, 4, 0, -5]), "accuracy")
    yield _case(_drawn(rng, 41, (7, 5, 1), 5, [5, 2, -5]), "accuracy")


@exercise.group("change and its paired error", points=2, must_fail_for=("unpaired", "first_as_base", "loss"))
def change(rng):
    return [_case(_drawn(rng, 43, (6, 8, 1), 4, [-3, 1, 2])), _case(_drawn(rng, 47, (4, 7, 2), 7, [2, 0, -2, 3]))]


exercise.group(
    "position rows moved along, at whole patches only",
    points=2,
    must_fail_for=("rows_not_moved", "rows_in_pixels", "rows_other_way"),
    along=lambda rng: [
        _case(_drawn(rng, 41, (4, 8, 1), 2, [-4, 3, 0, -1, 2]), "along"),
        _case(_drawn(rng, 37, (6, 9, 2), 3, [3, 2, -3, 6]), "along"),
    ],
)
PADDED = "np.pad(images, ((0, 0), (0, 0), (width, width), (0, 0)))"
MOVED = "np.array([correct(moved_right(images, shift), labels, weights, 0) for shift in shifts])"
EDGE = "np.pad(images, ((0, 0), (0, 0), (width, width), (0, 0)), mode='edge')"
CUT = "padded[:, :, width - shift : 2 * width - shift]"
ROWS = "[shift // patch_size for shift in whole]"
DOWN = "np.pad(images, ((0, 0), (images.shape[1],) * 2, (0, 0), (0, 0)))"

exercise.mistakes(
    rolled=edit(CUT, "np.roll(images, shift, axis=2)", see="09#inductive-bias")
    | "What leaves an image on one side comes in on the other. It should be lost, and background (0) should come in."
    | "Print one image of numbered columns after your move. Which numbers are there that should be gone?",
    other_direction=edit(CUT, "padded[:, :, width + shift : 2 * width + shift]")
    | "The images move the other way. A positive shift goes to the right."
    | "After a move by 1 to the right, which column of the old image is column 1?",
    downwards=edit((PADDED, DOWN), (CUT, "padded[:, images.shape[1] - shift : 2 * images.shape[1] - shift]"))
    | "The images move down. A shift goes sideways, along the axis of the columns."
    | "Images are (n, h, w, C). Which axis counts the columns?",
    first_as_base=edit("change = hits - base", "change = hits - hits[0]")
    | "The changes are counted from the first shift. The base is the images that were not moved, whether or not 0 is "
    "among the shifts." | "What do you compare with if `shifts` is [1]?",
    predictions_changed=edit("change = hits - base", "change = other_answers(images, shifts, weights)")
    | "You count the images whose predicted class changes. A wrong class can become another wrong one, or the right "
    "one: compare each prediction with its label first."
    | "What is the change for an image that was wrong and becomes right? And for one that stays wrong?",
    loss=edit("change = hits - base", "change = base - hits")
    | "The changes have the other sign. A change below 0 says that moved images are recognised less often."
    | "Which of the two accuracies should be the larger one, if the change is negative?",
    relative_change=edit("change.mean(axis=1)", "change.mean(axis=1) / base.mean()")
    | "The changes are divided by the accuracy of the images as they are. The difference alone is asked for."
    | "From 80 % to 60 %: is the change −0.25, or −0.2?",
    unpaired=instead(unpaired, see="06b#seeds")
    | "The errors are those of two accuracies from different images. Here each image is its own comparison: take the "
    "difference for each image first."
    | "You need n differences, each −1, 0 or 1. What is the standard error of their mean?",
    rows_not_moved=edit(ROWS, "[0 for shift in whole]")
    | "With the rows moved along, your accuracy is that without. Ask with the number of patches as `rows`.",
    rows_in_pixels=edit(ROWS, "[shift for shift in whole]")
    | "The rows are moved by as many patches as the image was moved by pixels."
    | "How many patches are 4 pixels, if a patch has 2?",
    rows_other_way=edit(ROWS, "[-shift // patch_size for shift in whole]", see="09#inductive-bias")
    | "The rows are moved against the image. They should go along with it."
    | "A patch moves to the right. Which way does its row have to go, so that it stays with the patch?",
    rows_at_every_shift=seen({"rows": "at other shifts as well"})
    | "The rows are moved at shifts that are no whole patches, too. There the last entry is None."
    | "What is left over when the shift is divided by the patch size?",
    sample_variances=edit(
        "change.std(axis=1, ddof=1)", "(hits.var(axis=1, ddof=1) + base.var(ddof=1)) ** 0.5", see="06b#seeds"
    )
    | "The errors are those of two accuracies from different images. Here each image is its own comparison: take the "
    "difference for each image first."
    | "You need n differences, each −1, 0 or 1. What is the standard error of their mean?",
    moved_alone=edit("change.std(axis=1, ddof=1)", "hits.std(axis=1, ddof=1)")
    | "The error is that of the accuracy of the moved images. The error of the change is asked for."
    | "Which n numbers is the change the mean of?",
    whole_population=edit("change.std(axis=1, ddof=1)", "change.std(axis=1)")
    | "The standard deviation divides by n. These images are a sample: with `ddof=1` it divides by n − 1.",
    deviation=edit("change.std(axis=1, ddof=1) / len(images) ** 0.5", "change.std(axis=1, ddof=1)")
    | "The error is the standard deviation of one difference. That of the mean of n differences is √n times smaller.",
    interval=edit("change.std(axis=1, ddof=1)", "1.96 * change.std(axis=1, ddof=1)")
    | "The error is 1.96 standard errors, half of an interval. One standard error is asked for.",
    border_repeated=edit(PADDED, EDGE)
    | "The outermost column of an image comes in where background should. Background is 0."
    | "Move an image whose first column is not 0. What stands there now?",
    percent=edit(MOVED, f"100 * {MOVED}")
    | edit("hits_at(images, labels, shifts, weights),", "hits_at(images, labels, shifts, weights), 100 *")
    | "These are percentages. A share lies between 0 and 1.",
    rows_without_image=edit("moved_right(images, shift), labels, weights, row *", "images, labels, weights, row *")
    | "The rows move, and the images do not. Ask about the moved images, with their rows moved along."
    | "Which images do you give to `predict` with the moved rows?",
)

exercise.advice(
    accuracy=Advice(
        value="Number the columns of one image and move it. Which column is the first after a move by 2, and which "
        "after a move by −2?",
        nan="Every image has a class, whatever has left it.",
    ),
    change=Advice(
        value="For each image take 1 or 0 (correct or not) when moved, minus 1 or 0 when not moved. Change and error "
        "are the mean of these n numbers and its standard error."
    ),
    along=Advice(
        value="A move by whole patches gives every patch its neighbour's row. `rows` says by how many patches the rows "
        "go along, in the same direction."
    ),
)
exercise.hints(
    accuracy=(
        "Write a small function that moves the images first: an array of zeros, and a slice of the images in it. Or "
        "pad both sides, and cut out w columns.",
        "`predict(moved, 0) == labels` is True for each image that is recognised.",
    ),
    change=(
        "Keep the n truth values of the images that were not moved, and subtract them from those of every shift.",
        "`differences.std(ddof=1) / n ** 0.5`",
    ),
    along="`shift % patch_size` is 0 at whole patches, for negative shifts as well.",
)

"""Lab 06, exercise `train_classifier`."""

import numpy as np

from autograder.declare import Case, Exercise, seen

LEAST_ACCURACY = 0.9
LENGTH = 16  # words of a review
PRAISE, BLAME, NEUTRAL = range(2, 10), range(10, 18), range(18, 60)  # ids
NOT_KNOWN = dict.fromkeys(("kept", "loss", "stops"), "not known")  # if `val_loss` is not that of these reviews
ALONE = 40  # words that occur in a single review, to see from their vectors who learned from that review


def _reviews(rng, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of neutral words, with three words of praise or of blame in each; labels 1 and 0."""
    labels = rng.permutation(np.arange(count) % 2)
    ids = rng.integers(NEUTRAL.start, NEUTRAL.stop, size=(count, LENGTH))
    for row, label in zip(ids, labels, strict=True):
        words = PRAISE if label else BLAME
        row[rng.permutation(LENGTH)[:3]] = rng.integers(words.start, words.stop, size=3)
    return ids.astype("uint8"), labels.astype("int32")


def _with_lone_words(ids: np.ndarray, first: int) -> np.ndarray:
    """Put the ids from `first` on into one review each, evenly spread, in place of a neutral word. Returns them."""
    for word, row in enumerate(np.linspace(0, len(ids) - 1, ALONE).astype(int), first):
        ids[row, np.flatnonzero(ids[row] >= NEUTRAL.start)[0]] = word
    return np.arange(first, first + ALONE)


exercise = Exercise(
    "train_classifier",
    own_probe=True,
    probe_only=("only_in_x", "only_in_x_val", "seed", "vocab_size", "x", "x_val", "y", "y_val"),
    cpu_seconds=40,
)


@exercise.formula
def train_classifier(x_test: np.ndarray) -> dict[str, np.ndarray | str]:
    """What is true after a training, in words; the probabilities are free, their accuracy is a property."""
    return {
        "history": "complete",
        "training": "all reviews",
        "validation": "looked at",
        "epochs": "several",
        "batches": "small",
        "fits": "the training reviews",
        "chosen by": "the validation loss",
        "probabilities": np.full((len(x_test), 1), np.nan),
    }


@exercise.formula_for("stopping")
def stopped(x_val: np.ndarray) -> dict[str, str]:
    """Which weights are kept, by which loss, and whether the training stops when that loss only rises."""
    return {
        "watched": f"the {len(x_val)} validation reviews",
        "kept": "the best epoch",
        "loss": "binary cross-entropy",
        "stops": "soon",
    }


@exercise.group("at least 90 % of reviews that it has not seen are right", points=3)
def learning(rng):
    (x, y), (x_val, y_val), (x_test, labels) = (_reviews(rng, count) for count in (512, 128, 500))
    return Case(
        {
            **{"x": x, "y": y, "x_val": x_val, "y_val": y_val, "x_test": x_test},
            "only_in_x": _with_lone_words(x, NEUTRAL.stop),
            "only_in_x_val": _with_lone_words(x_val, NEUTRAL.stop + ALONE),
            "vocab_size": NEUTRAL.stop + 2 * ALONE,
            "seed": int(rng.integers(1 << 30)),
        },
        "512 reviews to train on, 128 to decide when to stop, 500 to see what was learned",
        mode="learning",
        property="classifies well",
        withheld={"labels": labels, "least_accuracy": LEAST_ACCURACY},
    )


@exercise.group("the weights of the epoch with the lowest validation loss", points=2)
def stopping(rng):
    count = int(rng.integers(97, 160))
    (x, y), (x_val, y_val) = _reviews(rng, 512), _reviews(rng, count)
    inputs = {
        "x": x,
        "y": y,
        "x_val": x_val,
        "y_val": 1 - y_val,
        "vocab_size": NEUTRAL.stop,
        "seed": int(rng.integers(1 << 30)),
    }
    return Case(inputs, f"512 reviews to train on, {count} others with inverted labels", mode="stopping")


exercise.mistakes(
    validation_unused=seen({"history": "no validation loss", "watched": "nothing", **NOT_KNOWN})
    | "The history has no `val_loss`: the validation reviews are not used. Give them to `fit`.",
    own_split=seen({"watched": "other reviews", **NOT_KNOWN})
    | "The `val_loss` of the history is not that of the validation reviews. `validation_split` cuts off a part of the "
    "training reviews; `validation_data=` takes those that you are given.",
    training_watched=seen({"watched": "the training reviews", "stops": "not known"})
    | "`val_loss` is the loss of the training reviews. That loss falls as long as the model memorises these reviews.",
    learned_from_validation=seen({"validation": "learned from"})
    | "The model learned from the validation reviews: words that occur nowhere else have new vectors. Then their loss "
    "no longer says when to stop.",
    nothing_restored=seen({"kept": "the last epoch"})
    | "The model has the weights of its last epoch, not those of the epoch with the lowest `val_loss`. Is there a "
    "callback, does it watch `val_loss`, and does it bring the best weights back?",
    accuracy_watched=seen({"chosen by": "another number"}, costs_at_most=0.4)
    | "The weights are those of an epoch whose validation loss was clearly higher than the lowest: another number "
    "chose them. The accuracy is at its best long before the loss is. What does the callback watch? It should watch "
    "`val_loss`.",
    stops_late=seen({"stops": "late"})
    | "When the validation loss only rises, your training goes on for more than ten epochs all the same. Does it "
    "stop, and is it `val_loss` that decides when?",
    other_epoch_kept=seen({"kept": "another epoch"})
    | "The model has the weights of an epoch that is neither the last nor the best on the validation reviews: what "
    "does the callback watch? It should watch `val_loss`.",
    squared_error=seen({"loss": "mean squared error"})
    | "The loss is the mean squared error. For a probability it is the binary cross-entropy.",
    loss_of_logits=seen({"loss": "cross-entropy of logits"})
    | "The loss treats the model's probabilities as logits and applies a second sigmoid to them.",
    loss_over_classes=seen({"training": "nothing", "loss": "cross-entropy over classes"})
    | "The loss compares classes, and the model has one output: of one class the probability is always 1, the loss 0, "
    "and nothing is learned. One output takes the binary cross-entropy.",
    accuracy_not_measured=seen({"history": "no accuracy"})
    | 'The history has no accuracy: `compile(…, metrics=["accuracy"])` adds it.',
    part_of_the_reviews=seen({"training": "a part of the reviews"})
    | "The model learned from a part of the training reviews only: most words that occur once still have their first "
    "vectors. Does `fit` get all of x, and every epoch all batches?",
    another_model_trained=seen({"training": "nothing", "watched": "other reviews", **NOT_KNOWN})
    | "The model that you were given is unchanged: you trained another one, a copy or one of your own.",
    nothing_learned=seen({"fits": "nothing"})
    | "On its own training reviews the model is hardly better than a coin. Do the labels still belong to their "
    "reviews, or was one of them shuffled alone? Is the learning rate far too small, or too large?",
    one_batch=seen({"batches": "one in each epoch"}, costs_at_most=0.2)
    | "All training reviews are one batch, so the weights change once in each epoch. Batches are small, such as 32.",
    one_epoch=seen({"epochs": "one"}) | "There is only one epoch, so there is nothing to stop.",
)

exercise.advice(
    learning="Plot the history. Does the loss still fall where the training stops, or does it never fall at all?",
    stopping="Compare `model.evaluate(*validation)` after your training with the lowest `val_loss` of the history.",
)
exercise.hints(
    learning=(
        "Write three steps: `compile`, a callback that stops in time, and `fit` with validation data. Return what "
        "`fit` returns.",
        "Print the `val_loss` of the history. Is the lowest at the end? Then the training stopped too early, or not "
        "at all. If not: which weights has the model now?",
        "`restore_best_weights=True` makes EarlyStopping bring the best weights back.",
    ),
    stopping="Which weights does the model have when `fit` returns: those of the last epoch, or those of the best?",
)

"""Lab 06, exercise `train_classifier`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from coursekit.data.samples.draws import Draws
from coursekit.data.samples.reviews import review
from coursekit.generator import Generator

from autograder.declaring import Case, Exercise, wrong
from autograder.mistaken import imdb_classifier as mistaken
from autograder.oracles import imdb_classifier as oracles

LEAST_ACCURACY = 0.9


LENGTH = 64


ALONE = 40  # words that occur in a single review, to see from their vectors who learned from that review


def _sample(rng: Generator, count: int) -> tuple[list[str], np.ndarray]:
    """Fresh reviews by the grammar of the sample, standardised, and their labels."""
    draws = Draws(f"lab 06 {int(rng.integers(1 << 60))}")
    labels = rng.permutation(np.arange(count) % 2)
    return [oracles.standardize(review(draws, int(label)))["text"] for label in labels], labels.astype("int32")


def _rows(texts: Sequence[str], vocabulary: Sequence[str]) -> np.ndarray:
    return oracles.vectorize(texts, vocabulary, LENGTH)["ids"].astype("uint16")


def _marked(ids: np.ndarray, first: int) -> np.ndarray:
    """Put the ids from `first` on behind the last word of one review each, evenly spread. Returns these ids."""
    chosen = np.linspace(0, len(ids) - 1, ALONE).astype(int)
    words = np.minimum((ids[chosen] != 0).sum(axis=1), LENGTH - 1)
    ids[chosen, words] = np.arange(first, first + ALONE)
    return np.arange(first, first + ALONE)


def _simple_reviews(rng: Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of neutral words, with three words of praise (ids 2 to 9) or blame (10 to 17) in each."""
    labels = rng.permutation(np.arange(count) % 2)
    ids = rng.integers(18, 60, size=(count, 16))
    for row, label in zip(ids, labels, strict=True):
        row[rng.permutation(16)[:3]] = rng.integers(2, 10, size=3) + 8 * (1 - label)
    return ids.astype("uint16"), labels.astype("int32")


exercise = Exercise(
    "train_classifier",
    oracle=oracles.train_classifier,
    mistaken=mistaken.train_classifier,
    by_mode={"stopping": oracles.train_classifier_stopping},
    probe_only=("only_in_x", "only_in_x_val", "seed", "vocab_size", "x", "x_val", "y", "y_val"),
    cpu_seconds=60,
)


@exercise.group("at least 90 % of reviews that it has not seen are right", points=3, advice="Draw the history. Does the loss still fall where it stops, or does it never fall at all?")
def learning(rng: Generator) -> list[Case]:
    (texts, y), (val_texts, y_val), (test_texts, labels) = (_sample(rng, count) for count in (1600, 320, 500))
    vocabulary = oracles.build_vocabulary(texts, 20_000)["vocabulary"]
    x, x_val, x_test = (_rows(each, vocabulary) for each in (texts, val_texts, test_texts))
    return [
        Case(
            {
                **{"x": x, "y": y, "x_val": x_val, "y_val": y_val, "x_test": x_test},
                "only_in_x": _marked(x, len(vocabulary)),
                "only_in_x_val": _marked(x_val, len(vocabulary) + ALONE),
                "vocab_size": len(vocabulary) + 2 * ALONE,
                "seed": int(rng.integers(1 << 30)),
            },
            mode="learning",
            how="1,600 reviews to train on, 320 to decide when to stop, 500 to see what was learned",
            property="classifies well",
            withheld={"labels": labels, "least_accuracy": LEAST_ACCURACY},
        )
    ]


@exercise.group("the weights of the epoch with the lowest validation loss", points=2, advice="Compare `model.evaluate(*validation)` after your training with the lowest `val_loss` of the history.")
def stopping(rng: Generator) -> list[Case]:
    (x, y), (x_val, y_val) = _simple_reviews(rng, 512), _simple_reviews(rng, 128)
    inputs = {"x": x, "y": y, "x_val": x_val, "y_val": 1 - y_val, "vocab_size": 60, "seed": int(rng.integers(1 << 30))}
    return [Case(inputs, mode="stopping", how="512 reviews to train on, 128 others whose labels are turned round")]


exercise.mistakes(
    validation_unused=wrong("The history has no `val_loss`: the validation reviews are not used. Give them to `fit`.", watched="nothing"),
    own_split=wrong(
        "The `val_loss` of the history is not that of the validation reviews. `validation_split` cuts off a part of the training reviews; `validation_data=` takes those that you are given.",
        watched="other reviews",
    ),
    training_watched=wrong("`val_loss` is the loss of the training reviews. That falls as long as the model learns them by heart.", watched="the training reviews"),
    learned_from_validation=wrong(
        "The model learned from the validation reviews: words that occur nowhere else have new vectors. Then their loss no longer says when to stop.", validation_learned=True
    ),
    nothing_restored=wrong("The model has the weights of its last epoch. Those of the epoch with the lowest `val_loss` come back only if you ask for it.", kept="the last epoch"),
    other_epoch_kept=wrong(
        "The model has the weights of an epoch that is neither the last nor the best on the validation reviews: what does the callback watch? It is to be `val_loss`.", kept="another epoch"
    ),
    squared_error=wrong("The loss is the mean squared error. For a probability it is the binary cross-entropy.", loss="mean squared error"),
    loss_of_logits=wrong("The loss takes the model's probabilities for logits, and squashes them a second time.", loss="cross-entropy of logits"),
    loss_over_classes=wrong(
        "The loss compares classes, and the model has one output: of one class the probability is always 1, the loss 0, and nothing is learned. One output takes the binary cross-entropy.",
        loss="cross-entropy over classes",
    ),
    accuracy_not_measured=wrong('The history has no accuracy: `compile(…, metrics=["accuracy"])` adds it.', accuracy=False),
    part_of_the_reviews=wrong(
        "The model learned from a part of the training reviews only: most words that occur once still have their first vectors. Does `fit` get all of x, and every epoch all batches?", part=True
    ),
    another_model_trained=wrong("The model that you were given is as it was: another one was trained, a copy or one of your own.", same_model=False),
    nothing_learned=wrong(
        "On its own training reviews the model is hardly better than a coin. Do the labels still belong to their reviews, or was one of them shuffled alone? Is the learning rate far too small, or too large?",
        learned=False,
    ),
    one_epoch=wrong("There is one epoch only, so there is nothing to stop.", several=False),
)


exercise.hints(
    "Three steps: `compile`, a callback that stops in time, `fit` with validation data. Return what `fit` returns.",
    "Print the `val_loss` of the history. Is the lowest at the end? Then the training stopped too early, or not at all. If not: which weights has the model now?",
    "`restore_best_weights=True` makes EarlyStopping bring the best weights back.",
)

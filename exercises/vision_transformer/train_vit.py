"""Lab 09, exercise `train_vit`."""

import numpy as np
from scipy.linalg import hadamard

from autograder.declare import Case, Exercise, seen

exercise = Exercise(
    "train_vit", own_probe=True, probe_only=("images", "labels", "seed"), cpu_seconds=40, uses=("build_vit",)
)


@exercise.formula
def train_vit(unseen: np.ndarray, num_classes: int) -> dict:
    """What is true after a training, in words; the logits are free, their accuracy is a property."""
    free = np.full((len(unseen), num_classes), np.nan)
    return {"returns": "logits", "fits": "its training images", "logits": free}


TRAINED, UNSEEN, PATTERNS = 256, 200, 10  # 256 are whole batches of 32: the usual step is compiled once
LEAST_ACCURACY = 0.8  # ten epochs in batches of 32 end above it, two epochs below


@exercise.group("at least 80 % of images that it has not seen are right")
def unseen(rng):
    """Ten patterns under noise, new in every draw: labels known from elsewhere mislead, and few steps teach them.

    Black and white pixels; any two patterns differ in half of them, so that every draw is as hard as every other.
    """
    signs = hadamard(64)[rng.permutation(64)[:PATTERNS]] * rng.choice([-1, 1], size=64)
    patterns = signs.reshape(PATTERNS, 8, 8, 1)
    labels = rng.permutation(np.arange(TRAINED + UNSEEN) % PATTERNS).astype("int32")
    images = 0.4 * patterns[labels] + 0.3 * rng.normal(size=(len(labels), 8, 8, 1))
    images = (np.round(64 * images) / 64).astype("float32")  # numbers of few bits, so that the file stays small
    return Case(
        {
            "images": images[:TRAINED],
            "labels": labels[:TRAINED],
            "num_classes": PATTERNS,
            "unseen": images[TRAINED:],
            "seed": int(rng.integers(1 << 30)),
        },
        f"{TRAINED} images of ten patterns to train on, {UNSEEN} to see what was learned",
        property="names the classes",
        withheld={"withheld_labels": labels[TRAINED:], "least_accuracy": LEAST_ACCURACY},
    )


exercise.mistakes(
    softmax_output=seen({"returns": "probabilities"}, see="09#whole-vit")
    | "The model returns probabilities. It should return logits: the loss applies the softmax, with from_logits=True."
    | "Which activation has the last layer that your build_vit makes?",
    learned_nothing=seen({"fits": "nothing"}, see="09#trained")
    | "Not even the images that it was trained on come out right. Does the loss know that it gets logits? Is the "
    "learning rate too large or too small? Are there enough epochs?"
    | "Print the loss after each epoch. Does it fall at all, and from which value?",
)

exercise.advice(unseen="Print the accuracy after every epoch. Does it still rise where the training stops?")
exercise.hints(
    unseen=(
        "Three steps: build_vit, compile, fit. `keras.losses.SparseCategoricalCrossentropy(from_logits=True)` takes "
        "labels that are whole numbers.",
        "With patches of 2 × 2 pixels an image has 16. Two blocks of width 32 are enough.",
        "Adam with a learning rate around 0.002 and batches of 32 is well above the required accuracy after ten "
        "epochs.",
    )
)

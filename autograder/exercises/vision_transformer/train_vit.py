"""Lab 09, exercise `train_vit`."""

from __future__ import annotations

import numpy as np
from coursekit.generator import Generator

from autograder.declaring import Case, Exercise, wrong
from autograder.mistaken import vision_transformer as mistaken
from autograder.oracles import vision_transformer as oracles

exercise = Exercise(
    "train_vit",
    oracle=oracles.train_vit,
    mistaken=mistaken.train_vit,
    probe_only=("images", "labels", "seed"),
    cpu_seconds=60,
)


@exercise.group("at least 80 % of digits that it has not seen are right", points=1, advice="Print the accuracy after every epoch. Does it still rise where the training stops?")
def unseen(rng: Generator) -> list[Case]:
    """Digits, all turned or mirrored in the same way, their classes numbered anew: labels known from elsewhere mislead."""
    from sklearn.datasets import load_digits

    pixels, classes = load_digits(return_X_y=True)
    chosen = rng.permutation(len(pixels))[:1400]
    images = np.rot90(pixels[chosen].reshape(-1, 8, 8, 1), rng.integers(4), axes=(1, 2))[:, :, :: rng.choice([-1, 1])]
    images, labels = (images / 16).astype("float32"), rng.permutation(10)[classes[chosen]].astype("int32")
    return [
        Case(
            {
                "images": images[:1000],
                "labels": labels[:1000],
                "num_classes": 10,
                "unseen": images[1000:],
                "seed": int(rng.integers(1 << 30)),
            },
            how="1,000 digits to train on, 400 to see what was learned",
            property="names the classes",
            withheld={"withheld_labels": labels[1000:], "least_accuracy": 0.8},
        )
    ]


exercise.mistakes(
    softmax_output=wrong("The model returns probabilities. It returns logits: the loss applies the softmax, from_logits=True.", returns="probabilities"),
    learned_nothing=wrong(
        "Not even the images that it was trained on come out right. Is the loss told that it gets logits, is the learning rate too large or too small, and are there enough epochs?", learned=False
    ),
)


exercise.hints(
    "Three steps: build_vit, compile, fit. Labels are whole numbers: which cross-entropy takes those?",
    "With patches of 2 × 2 pixels an image has 16. Two blocks of width 32 are enough.",
    "Adam with a learning rate around 0.002 and batches of 32 is well past it after ten epochs.",
)

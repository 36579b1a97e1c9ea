"""Takes three steps with a lecture's own model and training function, in mixed precision and on two devices.

    python tests/lecture/training_modes.py 08_decoder_and_masking

A program of its own, because TensorFlow has to be told of a second device before it starts. The lecture is run up to
the cell that defines its training function, of which nothing but definitions and constants run.
"""

from __future__ import annotations

import ast
import contextlib
import re
import sys
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf

from coursekit.lecture import plots

LECTURES = Path(__file__).resolve().parents[2] / "lectures"
CODE_CELL = re.compile(r"^# %%(?! \[markdown\]).*\n((?:(?!# %%).*\n?)*)", re.MULTILINE)
STEPS = 3

TRAIN = {  # the training function's first words, and what a reader types to train
    "06_imdb_classifier": (
        "def train(",
        lambda names: names["train"](names["PlainReviewClassifier"](), "sample", **names["SETTINGS"]["sample"]),
    ),
    "08_decoder_and_masking": (
        "def plain_transformer(",
        lambda names: names["date_translator"].train(
            names["plain_transformer"](names["V"]),
            names["training"].source,
            names["with_start"](names["training"].target),
            names["training"].target,
            7,
        ),
    ),
    "09_vision_transformer": (
        "def plain_vit(",
        lambda names: names["digit_images"].train(
            names["plain_vit"]((8, 8, 1), 2, 32, 4, 64, 2, 10)[0], names["digit_images"].split(), 1, 4e-3
        ),
    ),
}


class Enough(Exception):
    """Some steps were taken."""


def names_of(lecture: str, until: str) -> dict:
    """What the lecture's cells define, up to the training function."""
    names: dict = {"__name__": "__main__"}
    for cell in CODE_CELL.findall((LECTURES / f"{lecture}.py").read_text("utf-8")):
        tree = ast.parse(cell)
        last = until in cell
        if last:
            definitions = (ast.FunctionDef, ast.ClassDef)
            tree.body = [
                node
                for node in tree.body
                if isinstance(node, definitions)
                or (isinstance(node, ast.Assign) and not any(isinstance(part, ast.Call) for part in ast.walk(node)))
            ]
        exec(compile(tree, lecture, "exec"), names)
        if last:
            return names
    raise SystemExit(f"{lecture} has no {until}")


def main(lecture: str) -> None:
    processor = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(processor, [tf.config.LogicalDeviceConfiguration()] * 2)
    until, train = TRAIN[lecture]
    plots.show = lambda *arguments, **options: None
    names = names_of(lecture, until)
    fit, trained = keras.Model.fit, []

    def some_steps(model, *arguments, **options):
        options = {key: options[key] for key in options.keys() & {"x", "y", "batch_size", "shuffle"}}
        losses = fit(model, *arguments, **options, epochs=1, steps_per_epoch=STEPS, verbose=0).history["loss"]
        trained.append(model)
        assert np.isfinite(losses).all(), losses
        raise Enough

    keras.Model.fit = some_steps

    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    with strategy.scope(), contextlib.suppress(Enough):
        train(names)
    assert strategy.num_replicas_in_sync == 2
    assert all(len(variable.value.values) == 2 for variable in trained[0].trainable_variables)
    print("two devices: trained")

    keras.mixed_precision.set_global_policy("mixed_float16")
    with contextlib.suppress(Enough):
        train(names)
    assert "float16" in {layer.compute_dtype for layer in trained[1].layers}
    assert all(variable.dtype == "float32" for variable in trained[1].trainable_variables)
    given = getattr(trained[1], "inputs", None) or [keras.Input((None,), dtype="int32")]  # of a subclass: ids
    inputs = [np.ones([2, *(size or 8 for size in tensor.shape[1:])], tensor.dtype) for tensor in given]
    said = trained[1](inputs if len(inputs) > 1 else inputs[0])
    assert keras.backend.standardize_dtype(said.dtype) == "float32"
    print("mixed precision: trained, and the outputs are float32")


if __name__ == "__main__":
    main(sys.argv[1])

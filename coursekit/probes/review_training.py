"""Probe of lab 06: a training that stops in time, on a small model and reviews made of a few words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from coursekit.probes.driving import ContractError, function_of
from coursekit.probes.evidence import ReadOutside, kind_of, taken
from coursekit.probes.training import no_progress_bars, optimizers_built_early

GUESSING = 0.66  # a binary cross-entropy above it is as good as that of a coin, ln 2 = 0.69
FEW = 10  # epochs without a lower validation loss after which a training has to stop
CLEARLY = 0.02  # a loss higher by more than this was not kept for a `min_delta`, as some put into EarlyStopping


def _small_model(inputs: Mapping[str, Any]) -> Any:
    """The model that is handed over for training: quick, each word has its say in the mean. Not compiled."""
    import keras

    keras.utils.set_random_seed(inputs["seed"])
    return keras.Sequential([
        keras.Input(inputs["x"].shape[1:], dtype="int32"), keras.layers.Embedding(inputs["vocab_size"], 16),
        keras.layers.GlobalAveragePooling1D(), keras.layers.Dense(1, activation="sigmoid"),
    ])  # fmt: skip


def _curves(result: Any) -> dict[str, list[float]]:
    """The numbers of a training, epoch by epoch: of a History, or of the dictionary in it."""
    call = "train_classifier(model, x, y, validation)"
    if result is None:
        raise ContractError(f"{call} returned None. Is the `return` missing?")
    curves = getattr(result, "history", result)
    if not isinstance(curves, Mapping) or not curves:
        raise ContractError(f"{call} returned {kind_of(result)}; expected the History that `fit` returns.")
    if not len(curves.get("loss", ())):
        raise ContractError(f"the history of {call} has no `loss`.")
    return {str(name): [float(value) for value in values] for name, values in curves.items()}


def _turned(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Which rows changed by more than a factor: weight decay shrinks the vectors of words that no review had, too."""
    before, after = before.astype("float64"), after.astype("float64")
    factor = (before * after).sum(axis=1, keepdims=True) / (before * before).sum(axis=1, keepdims=True)
    return np.linalg.norm(after - factor * before, axis=1) > 1e-5 * np.linalg.norm(after, axis=1)


def _losses(said: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    """What several losses make of probabilities."""
    said, labels = said.reshape(-1).astype("float64"), labels.astype("float64")
    clipped = np.clip(said, 1e-7, 1 - 1e-7)
    return {
        "binary cross-entropy": -np.mean(labels * np.log(clipped) + (1 - labels) * np.log(1 - clipped)),
        "mean squared error": np.mean((said - labels) ** 2),
        "cross-entropy of logits": np.mean(np.logaddexp(0, said) - labels * said),
        "cross-entropy over classes": 0.0,
    }


def _kept(inputs: Mapping[str, Any], made: Mapping[str, Any]) -> dict[str, str]:
    """Whose loss the history's `val_loss` is, which loss, and of which epoch the model has the weights.

    The epoch with the best accuracy counts as the best one here: which of the two was watched, `_chosen_by` says.
    """
    inputs, curves = _as_int32(inputs), _taken_curves(made)
    hidden = dict.fromkeys(("kept", "loss", "stops"), "not known")
    if "val_loss" not in curves:
        return {"watched": "nothing", **hidden}
    watched = np.array(curves["val_loss"])
    best = [int(np.argmin(watched))]
    best += [int(np.argmax(values)) for name, values in curves.items() if name.startswith("val_") and "acc" in name]
    late = "late" if len(watched) - 1 - best[0] > FEW else "soon"
    validation = f"the {len(inputs['x_val'])} validation reviews"
    for who, x, y, stops in ((validation, "x_val", "y_val", late), ("the training reviews", "x", "y", "not known")):
        said = taken(made, f"said.{x}")
        for name, value in _losses(said, inputs[y]).items():
            for epoch, places in (("the best epoch", best), ("the last epoch", [-1])):
                if np.any(np.abs(watched[places] - value) <= 1e-4 * max(1.0, value)):
                    return {"watched": who, "kept": epoch, "loss": name, "stops": stops}
        if np.any(np.abs(watched - _losses(said, inputs[y])["binary cross-entropy"]) <= 1e-4):
            return {"watched": who, "kept": "another epoch", "loss": "binary cross-entropy", "stops": stops}
    return {"watched": "other reviews", **hidden}


def _chosen_by(made: Mapping[str, Any], curves: Mapping[str, np.ndarray], inputs: Mapping[str, Any]) -> str:
    """What chose the epoch whose weights the model has, where the validation loss falls long after the accuracy is at
    its best: "another number" if the loss of these weights stands in the history beside a clearly lower one."""
    watched = np.array(curves.get("val_loss", ()))
    has = _losses(taken(made, "said.x_val"), inputs["y_val"])["binary cross-entropy"]
    is_there = np.any(np.abs(watched - has) <= 1e-4)
    return "another number" if is_there and watched.min() < has - CLEARLY else "the validation loss"


def _learned(inputs: Mapping[str, Any], made: Mapping[str, Any]) -> dict[str, Any]:
    """What the training used, seen from the vectors of words that occur in one review only; and what it achieved."""
    inputs, curves = _as_int32(inputs), _taken_curves(made)
    table = taken(made, "table", kinds="f")
    moved = _turned(taken(made, "table_before", table.shape, "f"), table)
    share = float(np.mean(moved[inputs["only_in_x"]]))
    complete = "complete" if any("acc" in name for name in curves) else "no accuracy"
    said, epochs = taken(made, "said.x"), len(curves["loss"])
    facts = {
        "history": complete if "val_loss" in curves else "no validation loss",
        "training": "all reviews" if share > 0.5 else "a part of the reviews" if moved.any() else "nothing",
        "validation": "learned from" if moved[inputs["only_in_x_val"]].any() else "looked at",
        "epochs": "several" if epochs > 1 else "one",
        "batches": "one in each epoch" if made["steps"] == epochs > 1 and share > 0.5 else "small",
        "fits": "the training reviews",
        "chosen by": _chosen_by(made, curves, inputs),
    }
    guesses = not _losses(said, inputs["y"])["binary cross-entropy"] < GUESSING
    if facts["training"] == "all reviews" and guesses and np.mean((said.reshape(-1) >= 0.5) == inputs["y"]) < 0.75:
        facts["fits"] = "nothing"
    return {**facts, "probabilities": taken(made, "said.x_test")}


def _drive(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """Let the student's function train a small model, and hand over what became of it. It never sees test reviews."""
    target = function_of(namespace, "train_classifier")
    inputs = _as_int32(inputs)
    model = _small_model(inputs)
    before = np.array(model.layers[0].embeddings)
    x, y, x_val, y_val = (inputs[key].copy() for key in ("x", "y", "x_val", "y_val"))
    with no_progress_bars(), optimizers_built_early():
        curves = _curves(target(model, x, y, (x_val, y_val)))
    asked = ("x", "x_val") if mode == "stopping" else ("x", "x_val", "x_test")
    return {
        "curves": {name: np.array(values) for name, values in curves.items()},
        "table_before": before,
        "table": np.asarray(model.layers[0].embeddings),
        "steps": int(getattr(getattr(model, "optimizer", None), "iterations", 0)),
        **{f"said.{name}": np.asarray(model(inputs[name], training=False)) for name in asked},
    }


def _taken_curves(made: Mapping[str, Any]) -> dict[str, np.ndarray]:
    return {name: taken(made["curves"], name) for name in made["curves"]}


def _as_int32(inputs: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value.astype("int32") if isinstance(value, np.ndarray) else value for key, value in inputs.items()}


FACTS = (
    "watched",
    "kept",
    "loss",
    "stops",
    "history",
    "training",
    "validation",
    "epochs",
    "batches",
    "fits",
    "chosen by",
)
train_classifier = ReadOutside(
    _drive, {"stopping": _kept, "learning": _learned}, dict.fromkeys(FACTS, "what became of a model in training")
)

"""Probes of lab 03, multi-head attention."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from coursekit.probes.driving import ContractError, entries, find, floats, function, numbers
from coursekit.probes.evidence import CALLS, ReadOutside, refuse_changed, taken
from coursekit.probes.layers import LayerKey, current_cache

DENSE = ("w_q", "w_k", "w_v", "w_o")


def _load_keras_weights(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """Let the student copy known Keras weights into a layer of zeros; return those that the case names in "parts"."""
    import keras

    load = find(namespace, "load_keras_weights")
    d_model, num_heads = inputs["d_model"], inputs["num_heads"]
    tokens = keras.ops.zeros((1, 2, d_model))
    theirs = keras.layers.MultiHeadAttention(num_heads=num_heads, key_dim=d_model // num_heads)
    theirs(query=tokens, value=tokens)
    theirs.set_weights([inputs[f"keras.{key}"] for key in KERAS_WEIGHTS])
    mine = _students_layer(namespace, d_model, num_heads, tokens) or _stand_in(d_model, tokens)
    for name in DENSE:
        dense = getattr(mine, name)
        dense.set_weights([np.zeros_like(weight) for weight in dense.get_weights()])
    load(mine, theirs)
    weights = {}
    for part in inputs["parts"]:
        name, variable = part.split(".")
        weights[part] = np.asarray(getattr(getattr(mine, name), variable))
    return weights


KERAS_WEIGHTS = tuple(
    f"{name}.{variable}" for name in ("query", "key", "value", "output") for variable in ("kernel", "bias")
)


def _students_layer(namespace: Mapping[str, Any], d_model: int, num_heads: int, tokens: Any) -> Any:
    """The student's own layer, built; None when it cannot be used: this exercise does not depend on that one."""
    try:
        cls = namespace["MultiHeadAttention"]
        with current_cache().layer(
            LayerKey(cls, (d_model, num_heads), {}, (tokens, tokens, tokens)),
            make=lambda: cls(d_model, num_heads),
            call=lambda layer: layer(tokens, tokens, tokens),
            keep=False,
        ) as built:
            pass
        shapes = {(tuple(getattr(built, n).kernel.shape), tuple(getattr(built, n).bias.shape)) for n in DENSE}
    except Exception:
        return None
    return built if shapes == {((d_model, d_model), (d_model,))} else None


def _stand_in(d_model: int, tokens: Any) -> Any:
    """A layer with the four Dense layers of the contract that attends to nothing."""
    import keras

    class StandIn(keras.Layer):
        def __init__(self) -> None:
            super().__init__()
            for name in DENSE:
                setattr(self, name, keras.layers.Dense(d_model))

        def call(self, query: Any, key: Any, value: Any, return_weights: bool = False, **masks: Any) -> Any:
            if return_weights:
                raise ContractError("the layer handed to load_keras_weights is a stand-in without attention weights.")
            return self.w_o(self.w_q(query) + self.w_k(key) + self.w_v(value))

    stand_in = StandIn()
    stand_in(tokens, tokens, tokens)
    return stand_in


SEVERAL = "several heads replaced at once"
STAYING = "heads that stay replaced in later calls"
REPLACEMENTS = ("zero", "mean", "row_mean")
MOST_KINDS = 10_000  # of calls that are read


def one_at_a_time(heads: int) -> str:
    """What is true of a function that replaced each of so many heads alone."""
    return f"each of {heads} heads replaced alone"


def loss_of(heads: np.ndarray, w_o: np.ndarray, targets: np.ndarray) -> float:
    """The mean squared error of a layer whose heads (B, H, T, K) meet their blocks of W_O, (H, K, D)."""
    given = np.einsum("bhtk,hkd->btd", heads.astype("float64"), w_o.astype("float64"))
    return float(np.mean((given - targets.astype("float64")) ** 2))


def _measure_head(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """Hand over outputs of heads and their loss, and note which heads are replaced in each call."""
    intact, asked = inputs["heads"], set()

    def loss(heads: Any) -> float:
        array = numbers(heads, "what `loss` is called with")
        if array.shape != intact.shape:
            raise ContractError(
                f"`loss` was called with heads of the shape {array.shape}; expected {intact.shape}: the outputs of all "
                "heads, the replaced one among them."
            )
        asked.add(tuple((np.abs(array - intact).max(axis=(0, 2, 3)) > 1e-6).tolist()))
        return loss_of(array, inputs["w_o"], inputs["targets"])

    given, shown = intact.copy(), "measure_head(loss, heads)"
    found = find(namespace, "measure_head")(loss, given)
    refuse_changed(inputs, {"heads": given}, shown)
    found = entries(found, REPLACEMENTS, shown)
    if mode == "calls":
        return {"replaced": np.array(sorted(asked), bool).reshape(-1, intact.shape[1])}
    names = REPLACEMENTS[:1] if mode == "zero" else REPLACEMENTS
    return {name: floats(found[name], f"`{name}`") for name in names}


def _calls_seen(inputs: Mapping[str, Any], made: Mapping[str, Any]) -> dict[str, Any]:
    """What the loss was asked for; calls beyond what is needed do no harm."""
    heads = inputs["heads"].shape[1]
    rows = taken(made, "replaced", kinds="b").reshape(-1, heads)[:MOST_KINDS]
    asked = [frozenset(np.flatnonzero(row).tolist()) for row in rows]
    return {"calls": _asked_for(asked, heads)}


def _asked_for(asked: Sequence[frozenset[int]], heads: int) -> str:
    missing = [head for head in range(heads) if frozenset({head}) not in asked]
    if any(len(replaced) > 1 for replaced in asked) and missing:
        growing = sorted({replaced for replaced in asked if replaced}, key=len)
        stays = len(growing) > 1 and all(smaller < larger for smaller, larger in pairwise(growing))
        return STAYING if stays else SEVERAL
    return f"never head {missing[0]} replaced" if missing else one_at_a_time(heads)


PROBES = {
    "measure_head": ReadOutside(_measure_head, {"calls": _calls_seen}, {"calls": CALLS}),
    "split_heads": function("split_heads", "x", "num_heads", unknown_axes={"x": (0, 1)}),
    "merge_heads": function("merge_heads", "x", unknown_axes={"x": (0, 2)}),
    "load_keras_weights": _load_keras_weights,
}

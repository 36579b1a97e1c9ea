"""Probes of lab 05, positional encoding."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.special import softmax

from coursekit.generator import Generator
from coursekit.probes.driving import (
    ContractError,
    LayerProbe,
    design,
    entries,
    floats,
    function,
    function_of,
    numbers,
    refusing,
    unpack,
)
from coursekit.probes.evidence import CALLS, Asked, ReadOutside, kind_of, taken


def token_map(name: str, added: np.ndarray) -> Callable[[Any], Any]:
    """Return the map called `name` from tokens (B, T, D) to (B, T, E), to whose result `added` (B, T, E) is added.

    It is the `fn` that a student's function judges, and only the numbers of `added` say what is right. It computes in
    float64, and returns the float type and the kind (array or tensor) of what it was given.
    """
    compute = TOKEN_MAPS[name]

    def fn(x: Any) -> Any:
        given = np.asarray(x)
        result = compute(given.astype("float64"))
        rows, places = np.arange(result.shape[0]) % len(added), np.arange(result.shape[1]) % added.shape[1]
        result = (result + added[rows][:, places]).astype(given.dtype)
        if isinstance(x, np.ndarray):
            return result
        import tensorflow as tf

        return tf.convert_to_tensor(result)

    return fn


def _weights(width: int) -> np.ndarray:
    return Generator(width).normal(size=(width, width + 2)) / width**0.5


def _attention(x: np.ndarray) -> np.ndarray:
    weights = _weights(x.shape[-1])
    scores = np.einsum("btd,bsd->bts", x @ weights, x @ weights[:, ::-1])
    return np.einsum("bts,bsd->btd", softmax(scores, axis=-1), x)


TOKEN_MAPS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "the tokens themselves": lambda x: x,
    "self-attention": _attention,
    "each token by itself": lambda x: np.tanh(x @ _weights(x.shape[-1])),
    "distance from the mean token": lambda x: x - x.mean(axis=1, keepdims=True),
    "the mean token at every place": lambda x: np.broadcast_to(x.mean(axis=1, keepdims=True), x.shape),
    "the tokens with a zero behind them": lambda x: np.pad(x, ((0, 0), (0, 0), (0, 1))),
    "a thousandth of each token": lambda x: 1e-3 * x,
    "100,000 and the tokens": lambda x: x + 1e5,
    "each token plus its predecessor": lambda x: x + np.roll(x, 1, axis=1),
    "running sum": lambda x: np.cumsum(x, axis=1),
    "features sorted over the tokens": lambda x: np.sort(x, axis=1),
    "the first token's first feature added everywhere": lambda x: x + x[:, :1, :1],
}


def _is_permutation_equivariant(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """Hand the student's function a map made here, tokens and a permutation; return its verdict."""
    target = function_of(namespace, "is_permutation_equivariant")
    x, permutation = inputs["x"].copy(), inputs["permutation"].copy()
    if mode == "tensor":
        import tensorflow as tf

        x, permutation = tf.convert_to_tensor(x), tf.convert_to_tensor(permutation)
    keywords = {"tolerance": inputs["tolerance"]} if "tolerance" in inputs else {}
    verdict = target(token_map(inputs["fn"], inputs["added"].copy()), x, permutation, **keywords)
    return unpack(verdict, ("output",), "is_permutation_equivariant(fn, x, permutation)")


KEYS, NEAR, FAR = 1024, 8, 256  # of the text in `design`, and the distances that are asked about


def weight_beyond(slope: float, distance: int) -> float:
    """The share of a head's weight at a distance and beyond, with ALiBi's slope and equal scores of all keys."""
    weights = np.exp(-slope * np.arange(KEYS))
    return float(weights[distance:].sum() / weights.sum())


def _four_slopes(value: Any, name: str) -> np.ndarray:
    """Reads four finite numbers (4,) and returns them sorted."""
    slopes = numbers(value, name).astype("float64")
    if slopes.shape != (4,) or not np.isfinite(slopes).all():
        raise ContractError(f"{name} is {str(value)[:60]}; expected four numbers, one for each head.")
    return np.sort(slopes)


def _standing(constraint: str, slopes: np.ndarray) -> str:
    """What is true of the chosen slopes, about one constraint."""
    if slopes[0] <= 0:
        return "not all positive"
    if constraint == "slopes":
        if (slopes[1:] >= 2 * slopes[:-1] * (1 - 1e-9)).all():
            return "positive, each at most half of the next larger one"
        return "two of them closer than a factor of 2"
    if constraint == "near":
        share = weight_beyond(slopes[-1], NEAR)
        if share > 0.05:
            return "more than 5 %"
        return "from 0.1 % to 5 % at distance 8 and beyond" if share >= 0.001 else "less than 0.1 %"
    share = weight_beyond(slopes[0], FAR)
    if share > 0.5:
        return "more than 50 %"
    return "from 20 % to 50 % at distance 256 and beyond" if share >= 0.2 else "less than 20 %"


def every_question(windows: Sequence[int]) -> str:
    """What is true of a model that got every question under each of these windows."""
    return f"every question under every window: {', '.join(map(str, windows))}"


def _measure_reach(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """Hand over a model whose answers are known, and note which questions it gets."""
    ids, windows = inputs["ids"], list(inputs["windows"])
    asked = Asked("the model gets", window=windows, question=range(len(ids)))
    rows = {row.tobytes(): number for number, row in enumerate(ids)}

    def model(ids: Any, window: Any) -> np.ndarray:
        given = np.asarray(ids)
        if given.ndim != 2:
            raise ContractError(
                f"the model gets ids of the shape {given.shape}; expected (n, T), a row for a question."
            )
        asked.refuse_unknown(window=window)
        keys = [row.tobytes() for row in given.astype("int32")]
        if any(key not in rows for key in keys):
            raise ContractError("the model gets a row of ids that is not among the questions.")
        found = [asked.place(window=window, question=rows[key]) for key in keys]
        return np.array([inputs["guesses"][place] for place in found], "int64")

    given = [inputs[name].copy() for name in ("ids", "answers", "distances")]
    found = function_of(namespace, "measure_reach")(model, *given, windows.copy())
    found = entries(found, ("accuracy", "counts", "base_rate", "reach"), "measure_reach(…)")
    made: dict[str, Any] = {"asked": asked.table}
    if mode == "accuracy":
        made["accuracy"] = _by_window(found["accuracy"], windows, "accuracy")
        made["counts"] = numbers(found["counts"], "`counts`")
    elif mode != "calls":
        made["base_rate"] = floats(found["base_rate"], "`base_rate`")
        if made["base_rate"].size != 1:
            raise ContractError(f"`base_rate` has {made['base_rate'].size} numbers; expected one, for all windows.")
        made["reach"] = _by_window(found["reach"], windows, "reach")
    return made


def _questions_seen(inputs: Mapping[str, Any], made: Mapping[str, Any]) -> dict[str, Any]:
    """What the model was asked."""
    windows = inputs["windows"]
    return {"calls": _asked_for(taken(made, "asked", (len(windows), len(inputs["ids"])), "i") > 0, windows)}


def _accuracy_seen(inputs: Mapping[str, Any], made: Mapping[str, Any]) -> dict[str, Any]:
    """A flag tells where the accuracy is NaN, which is equal to nothing."""
    accuracy = taken(made, "accuracy", kinds="f")
    is_nan = np.isnan(accuracy)
    flags = {"accuracy": np.where(is_nan, 0.0, accuracy), "accuracy_is_nan": is_nan.astype("int64")}
    return {**flags, "counts": taken(made, "counts"), **_questions_seen(inputs, made)}


def _reach_seen(inputs: Mapping[str, Any], made: Mapping[str, Any]) -> dict[str, Any]:
    base_rate, reach = taken(made, "base_rate").item(), taken(made, "reach", kinds="f")
    return {"base_rate": base_rate, "reach": reach, **_questions_seen(inputs, made)}


REACH_SEEN = {"accuracy": _accuracy_seen, "call": _reach_seen, "calls": _questions_seen}


def _by_window(found: Any, windows: Sequence[int], name: str) -> np.ndarray:
    """The entries of a dictionary by window, one below the other."""
    if not isinstance(found, Mapping) or any(window not in found for window in windows):
        raise ContractError(f"`{name}` is {kind_of(found)}; expected a dictionary with an entry for each window.")
    rows = [numbers(found[window], f"`{name}` of the window {window}").astype("float64") for window in windows]
    wanted = 1 if name == "accuracy" else 0
    if any(row.ndim != wanted or row.shape != rows[0].shape for row in rows):
        what = "an array (M + 1,)" if wanted else "one number"
        raise ContractError(
            f"`{name}` has entries of the shapes {[row.shape for row in rows]}; expected {what} in each."
        )
    return np.array(rows)


def _asked_for(asked: np.ndarray, windows: Sequence[int]) -> str:
    """What a model was asked, of all windows and questions (W, N)."""
    if asked.all():
        return every_question(windows)
    if (asked != asked[0]).any():
        return "other questions under each window" if asked.any(axis=1).all() else "nothing under one of the windows"
    return f"{asked[0].sum()} of {asked.shape[1]} questions"


PROBES = {
    "design": design(_standing, slopes=_four_slopes),
    "measure_reach": ReadOutside(_measure_reach, REACH_SEEN, {"calls": CALLS}),
    "sinusoidal_positions": refusing(function("sinusoidal_positions", "length", "d_model")),
    "TokenAndPositionEmbedding": LayerProbe(
        "TokenAndPositionEmbedding",
        init=("max_length", "vocab_size", "d_model"),
        call=("ids",),
        optional=(),
        weights=("token_embedding.embeddings", "position_embedding.embeddings"),
        unknown_axes=(0, 1),
    ),
    "SinusoidalEmbedding": LayerProbe(
        "SinusoidalEmbedding",
        init=("max_length", "vocab_size", "d_model"),
        call=("ids",),
        optional=(),
        weights=("token_embedding.embeddings",),
        unknown_axes=(0, 1),
    ),
    "is_permutation_equivariant": _is_permutation_equivariant,
}

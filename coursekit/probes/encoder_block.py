"""Probes of lab 04, the encoder block."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from coursekit.probes.driving import BuiltLayer, ContractError, LayerProbe, find, function_of, numbers, unpack
from coursekit.probes.evidence import CALLS, MODEL, Asked, ReadOutside, kind_of, part_of_grid, taken
from coursekit.probes.layers import DROPPED, calls_replaced, cut, dropped_seen, rebuilt, slopes, watched

FEED_FORWARD = tuple(f"{dense}.{variable}" for dense in ("dense_in", "dense_out") for variable in ("kernel", "bias"))
BLOCK = (
    *(f"attention.{part}_dense.{v}" for part in ("query", "key", "value", "output") for v in ("kernel", "bias")),
    *(f"feed_forward.{path}" for path in FEED_FORWARD),
    *(f"{norm}.{variable}" for norm in ("norm1", "norm2") for variable in ("gamma", "beta")),
)


def _stack(inputs: Mapping[str, Any]) -> Sequence[str]:
    """The weights of a stack of blocks, block by block; a pre-norm stack ends with those of its final norm."""
    final = ("norm.gamma", "norm.beta") if inputs.get("norm") == "pre" else ()
    return (*(f"blocks.{number}.{path}" for number in range(inputs["num_layers"]) for path in BLOCK), *final)


def _dropouts(driven: BuiltLayer) -> list[Any]:
    """The dropout layers that the contract names: two in each block."""
    blocks = [f"blocks.{number}." for number in range(driven.inputs.get("num_layers", 0))] or [""]
    return [driven.attribute(f"{block}{name}") for block in blocks for name in ("dropout1", "dropout2")]


def deterministic_dropout(training: bool | None) -> Callable[[BuiltLayer], dict[str, Any]]:
    """Mode that calls the layer with dropouts whose dice are loaded, so that results are the same every time.

    In training, dropout1 keeps the odd features and doubles them, dropout2 keeps the even ones; otherwise they change
    nothing, as every dropout does.
    """

    def loaded(odd: int) -> Callable[..., Any]:
        def drop(inputs: Any, training: bool | None = False) -> Any:
            kept = 2.0 * ((np.arange(inputs.shape[-1]) + odd) % 2)
            return inputs * kept.astype("float32") if training else inputs

        return drop

    def call(driven: BuiltLayer) -> dict[str, Any]:
        dropouts = _dropouts(driven)
        with calls_replaced(dropouts, [loaded(number % 2) for number in range(len(dropouts))]):
            result = driven.built(*driven.arguments, **driven.keywords, training=training)
        return unpack(result, ("output",), "the call")

    return call


def _repeated(driven: BuiltLayer) -> dict[str, Any]:
    """The results of two calls in training with loaded dice: where they differ, something else is left to chance."""
    return {name: np.asarray(deterministic_dropout(True)(driven)["output"]) for name in ("first", "second")}


def _dropped(driven: BuiltLayer) -> dict[str, Any]:
    """What the dropouts get and give."""

    def run(training: bool) -> Any:
        return driven.built(*driven.arguments, **driven.keywords, training=training)

    return watched(_dropouts(driven), run, "each of the dropouts must be called once in a call of the layer.")


def _renamed(driven: BuiltLayer) -> dict[str, Any]:
    """The name of the layer, and that of a copy made from `get_config`."""
    return {"own": driven.built.name, "of_copy": rebuilt(driven.built).name}


def _repeated_seen(inputs: Mapping[str, Any], made: Mapping[str, Any]) -> dict[str, Any]:
    return {"same_again": bool(np.array_equal(taken(made, "first"), taken(made, "second"), equal_nan=True))}


def _renamed_seen(inputs: Mapping[str, Any], made: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": "kept" if made["own"] == made["of_copy"] else "lost"}


SEEN = {"repeated": _repeated_seen, "renamed": _renamed_seen, "dropped": dropped_seen, "dropped_reloaded": dropped_seen}


def _directional_derivatives(driven: BuiltLayer) -> dict[str, Any]:
    """Derivatives of ``sum(output * weighting)`` along the given direction, for the inputs and each named weight."""
    import tensorflow as tf

    x, variables = driven.arguments[0], {path: driven.attribute(path) for path in driven.paths}
    along = cut(driven.inputs["direction"], {path: variable.shape for path, variable in variables.items()})
    weights = [(path, variable.value, along[path]) for path, variable in variables.items()]
    return {
        "slopes": slopes(
            lambda: tf.reduce_sum(driven.built(x, **driven.keywords) * driven.inputs["weighting"]),
            [("x", x, driven.inputs["direction_x"]), *weights],
        )
    }


def _find_the_bug(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """Call the student's stack with norms and sub-layers made here, which take arrays and tensors, and an array."""

    def norm(scale: np.ndarray) -> Callable[[Any], np.ndarray]:
        """A norm of no other use: a token divided by the size of its largest feature."""
        return lambda tokens: tokens / np.abs(tokens).max(axis=-1, keepdims=True) * scale

    def sublayer(matrix: np.ndarray) -> Callable[[Any], np.ndarray]:
        return lambda tokens: np.tanh(np.matmul(tokens, matrix))

    target = find(namespace, "find_the_bug")
    norms, sublayers = [norm(scale) for scale in inputs["scales"]], [sublayer(each) for each in inputs["matrices"]]
    result = target(inputs["x"].copy(), norms, sublayers)
    return unpack(result, ("output",), "find_the_bug(x, norms, sublayers)")


def each_run_once(seeds: Sequence[int]) -> str:
    """What is true of a function that trained every rate with each of these seeds, once."""
    return f"every rate with every seed, once: {', '.join(map(str, seeds))}"


def _measure_rate(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """Hand over runs that are trained already, and note which of them are asked for."""
    rates, seeds = inputs["rates"], inputs["seeds"]
    asked = Asked("`train` was called with", rate=rates, seed=seeds)

    def train(rate: float, seed: int) -> list[float]:
        return list(inputs["losses"][asked.place(rate=rate, seed=seed)].tolist())

    found = function_of(namespace, "measure_rate")(train, list(rates), list(seeds), inputs["base_loss"])
    if mode == "calls":
        return {"asked": asked.table}
    if not isinstance(found, (tuple, list)) or len(found) != 2:
        raise ContractError(f"measure_rate(…) returned {kind_of(found)}; expected the tuple (shares, largest).")
    shares, largest = found
    if not isinstance(shares, Mapping):
        raise ContractError(f"`shares` is {kind_of(shares)}; expected a dictionary with an entry for each rate.")
    missing = [f"{rate:g}" for rate in rates if rate not in shares]
    if missing:
        raise ContractError(f"`shares` has no entry for {', '.join(missing)}; expected one for each of the rates.")
    if mode == "share":
        return {"share": np.array([_one_number(shares[rate], f"the share at the rate {rate:g}") for rate in rates])}
    return {"largest": named_rate(None if largest is None else _one_number(largest, "`largest`"))}


def _runs_seen(inputs: Mapping[str, Any], made: Mapping[str, Any]) -> dict[str, Any]:
    seeds = inputs["seeds"]
    asked = taken(made, "asked", (len(inputs["rates"]), len(seeds)), "i")
    again = "some runs more than once"
    return {"calls": again if asked.max(initial=0) > 1 else part_of_grid(asked, each_run_once(seeds), "runs")}


def _one_number(value: Any, name: str) -> float:
    array = numbers(value, name)
    if array.size != 1:
        raise ContractError(f"{name} has the shape {array.shape}; expected one number.")
    return float(array.reshape(()))


def named_rate(rate: float | None) -> str:
    """A rate as text, None for none."""
    return "None" if rate is None else f"{rate:g}"


MODES = {
    "training": deterministic_dropout(True),
    "inference": deterministic_dropout(False),
    "repeated": _repeated,
    "dropped": _dropped,
    "renamed": _renamed,
    "dropped_reloaded": lambda driven: _dropped(driven.reloaded()),
    "slopes": _directional_derivatives,
}
SIZES = ("d_model", "num_heads", "d_ff")


def _block(
    name: str, init: Sequence[str], paths: Callable[[Mapping[str, Any]], Sequence[str]], inside: Mapping[str, str]
) -> ReadOutside:
    """The probe of a block, or of a stack of them; a case with weights packs those at `paths`."""
    drive = LayerProbe(
        name,
        init=init,
        init_keywords=("dropout", "norm"),
        call=("x",),
        optional=("attention_mask",),
        weights=lambda inputs: paths(inputs) if "weights" in inputs else (),
        packed="weights",
        modes=MODES,
        harmless=tuple(MODES),
    )
    return ReadOutside(drive, SEEN, {**DROPPED, "same_again": MODEL, **inside})


PROBES = {
    "EncoderBlock": _block("EncoderBlock", SIZES, lambda inputs: BLOCK, {"name": "the names of layers"}),
    "Encoder": _block("Encoder", ("num_layers", *SIZES), _stack, {}),
    "find_the_bug": _find_the_bug,
    "measure_rate": ReadOutside(_measure_rate, {"calls": _runs_seen}, {"calls": CALLS}),
}

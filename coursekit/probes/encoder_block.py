"""Probes of lab 04, the encoder block."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from coursekit.probes.arguments import kind_of
from coursekit.probes.driving import BuiltLayer, ContractError, LayerProbe, find, function_of, numbers, unpack
from coursekit.probes.sharing import rebuilt

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


@contextlib.contextmanager
def _replaced_calls(dropouts: Sequence[Any], calls: Sequence[Callable[..., Any]]) -> Iterator[None]:
    """While the block runs, each of the dropouts does what the call in its place does."""
    own = [dropout.call for dropout in dropouts]
    try:
        for dropout, call in zip(dropouts, calls, strict=True):
            dropout.call = call
        yield
    finally:
        for dropout, call in zip(dropouts, own, strict=True):
            dropout.call = call


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
        with _replaced_calls(dropouts, [loaded(number % 2) for number in range(len(dropouts))]):
            result = driven.built(*driven.arguments, **driven.keywords, training=training)
        return unpack(result, ("output",), "the call")

    return call


def _repeated(driven: BuiltLayer) -> dict[str, Any]:
    """Whether two calls in training with loaded dice return the same: if not, something else is left to chance."""
    first, second = (np.asarray(deterministic_dropout(True)(driven)["output"]) for _ in range(2))
    return {"same_again": bool(np.array_equal(first, second, equal_nan=True))}


def _dropped(driven: BuiltLayer) -> dict[str, Any]:
    """What each dropout does, seen from outside: the share of zeros in training, the factor on what is kept,
    and the largest change at inference."""
    dropouts = _dropouts(driven)
    seen: list[list[tuple[np.ndarray, np.ndarray]]] = [[] for _ in dropouts]

    def watched(call: Callable[..., Any], log: list[tuple[np.ndarray, np.ndarray]]) -> Callable[..., Any]:
        def watch(inputs: Any, training: bool | None = False) -> Any:
            result = call(inputs, training=training)
            log.append((np.asarray(inputs), np.asarray(result)))
            return result

        return watch

    with _replaced_calls(dropouts, [watched(dropout.call, log) for dropout, log in zip(dropouts, seen, strict=True)]):
        for training in (True, False):
            driven.built(*driven.arguments, **driven.keywords, training=training)
    if any(len(log) != 2 for log in seen):
        raise ContractError("each of the dropouts must be called once in a call of the layer.")
    rows = []
    for (before, after), (still_before, still_after) in seen:
        kept = (after != 0) & (before != 0)
        factor = float(np.mean(after[kept] / before[kept])) if kept.any() else 0.0
        rows.append([float(np.mean(after == 0)), factor, float(np.abs(still_after - still_before).max())])
    return {"dropped": np.array(rows)}


def _renamed(driven: BuiltLayer) -> dict[str, Any]:
    """Whether a copy made from `get_config` has the name that the layer has."""
    return {"name": "kept" if rebuilt(driven.built).name == driven.built.name else "lost"}


def _directional_derivatives(driven: BuiltLayer) -> dict[str, Any]:
    """Derivatives of ``sum(output * weighting)`` along the given direction, for the inputs and each named weight."""
    import tensorflow as tf

    x = driven.arguments[0]
    variables = {path: driven.attribute(path).value for path in driven.paths}  # Keras variable -> tf.Variable
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = tf.reduce_sum(driven.built(x, **driven.keywords) * driven.inputs["weighting"])
    sources = {"x": x, **variables}
    gradients = dict(zip(sources, tape.gradient(loss, list(sources.values())), strict=True))
    lost = [path for path, gradient in gradients.items() if gradient is None]
    if lost:
        raise ContractError(
            f"no gradient flows from the output to {', '.join(f'`{path}`' for path in lost)}. "
            "Is this part used in `call`, and is everything there `keras.ops` or TensorFlow?"
        )
    sizes = [int(np.prod(variable.shape)) for variable in variables.values()]
    directions = [driven.inputs["direction_x"], *np.split(driven.inputs["direction"], np.cumsum(sizes)[:-1])]
    pairs = zip(gradients.values(), directions, strict=True)
    return {"slopes": np.array([float(np.sum(np.ravel(gradient) * np.ravel(along))) for gradient, along in pairs])}


def _find_the_bug(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """Call the student's stack with norms and sub-layers made here, which take arrays and tensors."""
    from keras import ops

    def norm(scale: np.ndarray) -> Callable[[Any], Any]:
        """A norm of no other use: a token divided by the size of its largest feature."""
        return lambda tokens: tokens / ops.max(ops.abs(tokens), axis=-1, keepdims=True) * scale

    def sublayer(matrix: np.ndarray) -> Callable[[Any], Any]:
        return lambda tokens: ops.tanh(ops.matmul(tokens, matrix))

    target = find(namespace, "find_the_bug")
    norms, sublayers = [norm(scale) for scale in inputs["scales"]], [sublayer(each) for each in inputs["matrices"]]
    result = target(ops.convert_to_tensor(inputs["x"]), norms, sublayers, norm(inputs["final_scale"]))
    return unpack(result, ("output",), "find_the_bug(x, norms, sublayers, final_norm)")


def each_run_once(seeds: Sequence[int]) -> str:
    """What is true of a function that trained every rate with each of these seeds, once."""
    return f"every rate with every seed, once: {', '.join(map(str, seeds))}"


def _measure_rate(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """Hand over runs that are trained already, and note which of them are asked for."""
    rates, seeds = inputs["rates"], inputs["seeds"]
    asked: Counter[tuple[int, int]] = Counter()

    def train(rate: float, seed: int) -> list[float]:
        for value, known, name in ((rate, rates, "rate"), (seed, seeds, "seed")):
            if value not in known:
                raise ContractError(f"`train` was called with the {name} {value!r}, which is not among those given.")
        run = rates.index(rate), seeds.index(seed)
        asked[run] += 1
        return list(inputs["losses"][run].tolist())

    found = function_of(namespace, "measure_rate")(train, list(rates), list(seeds), inputs["base_loss"])
    if mode == "calls":
        return {"calls": _runs(asked, len(rates), seeds)}
    shown = "measure_rate(…)"
    if not isinstance(found, (tuple, list)) or len(found) != 2:
        raise ContractError(f"{shown} returned {kind_of(found)}; expected the tuple (shares, largest).")
    shares, largest = found
    if not isinstance(shares, Mapping):
        raise ContractError(f"`shares` is {kind_of(shares)}; expected a dictionary with an entry for each rate.")
    missing = [f"{rate:g}" for rate in rates if rate not in shares]
    if missing:
        raise ContractError(f"`shares` has no entry for {', '.join(missing)}; expected one for each of the rates.")
    if mode == "share":
        return {"share": np.array([_one_number(shares[rate], f"the share at the rate {rate:g}") for rate in rates])}
    return {"largest": named_rate(None if largest is None else _one_number(largest, "`largest`"))}


def _one_number(value: Any, name: str) -> float:
    array = numbers(value, name)
    if array.size != 1:
        raise ContractError(f"{name} has the shape {array.shape}; expected one number.")
    return float(array.reshape(()))


def named_rate(rate: float | None) -> str:
    """A rate as text, None for none."""
    return "None" if rate is None else f"{rate:g}"


def _runs(asked: Counter[tuple[int, int]], rates: int, seeds: Sequence[int]) -> str:
    """What was trained, of all rates with all seeds."""
    if max(asked.values(), default=0) > 1:
        return "some runs more than once"
    if len(asked) == rates * len(seeds):
        return each_run_once(seeds)
    return "one seed only" if len({seed for _, seed in asked}) == 1 else f"{len(asked)} of {rates * len(seeds)} runs"


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

PROBES = {
    "EncoderBlock": LayerProbe(
        "EncoderBlock",
        init=SIZES,
        init_keywords=("dropout", "norm"),
        call=("x",),
        optional=("attention_mask",),
        weights=lambda inputs: BLOCK if "weights" in inputs else (),
        packed="weights",
        modes=MODES,
        harmless=tuple(MODES),
    ),
    "Encoder": LayerProbe(
        "Encoder",
        init=("num_layers", *SIZES),
        init_keywords=("dropout", "norm"),
        call=("x",),
        optional=("attention_mask",),
        weights=lambda inputs: _stack(inputs) if "weights" in inputs else (),
        packed="weights",
        modes=MODES,
        harmless=tuple(MODES),
    ),
    "find_the_bug": _find_the_bug,
    "measure_rate": _measure_rate,
}

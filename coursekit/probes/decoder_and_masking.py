"""Probes of lab 08, decoder and masking."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from coursekit.probes.driving import (
    BuiltLayer,
    ContractError,
    Probe,
    find,
    function,
    function_of,
    mended,
    numbers,
    run_in_graph,
    unpack,
)
from coursekit.probes.evidence import ReadOutside
from coursekit.probes.layers import (
    DROPPED,
    LayerKey,
    calls_replaced,
    count,
    current_cache,
    cut,
    cut_for,
    dropped_seen,
    gradients,
    slopes,
    watched,
)


def _combine_masks(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
    masks = [inputs[f"mask_{number}"] for number in range(1, inputs["count"] + 1)]
    masks = [mask.copy() if isinstance(mask, np.ndarray) else mask for mask in masks]
    if mode == "tensor":
        import tensorflow as tf

        masks = [mask if mask is None else tf.convert_to_tensor(mask) for mask in masks]
    result = function_of(namespace, "combine_masks")(*masks)
    given = [mask for mask in masks if mask is not None]
    if result is None and given:
        missing = "Is the `return` missing?" if len(given) == len(masks) else "A mask that is None is left out."
        raise ContractError(f"combine_masks(…) returned None. {missing}")
    return {"output": result}


def _number(probe: Probe) -> Probe:
    """Probe that gives a plain number as an array without axes, which is how references hold what may be infinite."""

    def wrapped(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
        outputs = probe(namespace, inputs, mode)
        return {key: np.asarray(value) if isinstance(value, (int, float)) else value for key, value in outputs.items()}

    return wrapped


def _masked_cross_entropy(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
    if mode in ("call", "tensor"):
        return PLAIN_LOSS(namespace, inputs, mode)
    import tensorflow as tf

    logits = tf.convert_to_tensor(inputs["logits"])
    if mode == "graph":
        # AutoGraph rewrites the student's function alone: to rewrite the probe takes it longer than all other cases.
        inside = {**namespace, "masked_cross_entropy": tf.function(find(namespace, "masked_cross_entropy"))}

        def run(each: Any) -> dict[str, Any]:
            return PLAIN_LOSS(inside, {**inputs, "logits": each}, "tensor")

        return run_in_graph(run, [logits])

    def loss() -> Any:
        return tf.convert_to_tensor(PLAIN_LOSS(namespace, {**inputs, "logits": logits}, "tensor")["output"])

    advice = "Is a NumPy function, `float(…)` or `.numpy()` in the way?"
    return {"gradient": gradients(loss, [("the logits", logits)], "loss", advice)[0]}


PLAIN_LOSS = _number(function("masked_cross_entropy", "logits", "targets", optional=("pad_id", "label_smoothing")))


def _layer(
    namespace: Mapping[str, Any], name: str, inputs: Mapping[str, Any], init: Sequence[str], first: Callable[[Any], Any]
) -> contextlib.AbstractContextManager[Any]:
    """The student's layer of these sizes, with the given dropout rate or its default; `first` calls it when it is new.

    Cases share it whatever the shapes of their inputs are: a layer for sentences takes all lengths.
    """
    import keras

    cls = find(namespace, name)
    if not inspect.isclass(cls) or not issubclass(cls, keras.Layer):
        raise ContractError(f"`{name}` is not a class derived from `keras.Layer` (Keras {keras.__version__}).")
    positional = [inputs[each] for each in init]
    named = {"dropout": inputs["dropout"]} if "dropout" in inputs else {}
    layer_key = LayerKey(cls, positional, named, ())
    return current_cache().layer(layer_key, make=lambda: cls(*positional, **named), call=first)


def every_third(width: int, number: int) -> np.ndarray:
    """What a dropout whose dice are loaded multiplies with: it erases every third feature, the others grow by half."""
    return 1.5 * (np.arange(width) % 3 != number % 3).astype("float32")


ATTENTION = tuple(f"{part}_dense.{v}" for part in ("query", "key", "value", "output") for v in ("kernel", "bias"))
FEED_FORWARD = ("in.kernel", "in.bias", "out.kernel", "out.bias")
BLOCK = (
    *(f"{name}.{path}" for name in ("self_attention", "cross_attention") for path in ATTENTION),
    *(f"feed_forward.{path}" for path in FEED_FORWARD),
    *(f"{norm}.{variable}" for norm in ("norm1", "norm2", "norm3") for variable in ("gamma", "beta")),
)


def _feed_forward(driven: BuiltLayer) -> dict[str, Any]:
    """The four weights of the block's feed-forward network, told apart by their shapes, whatever they are called."""
    width, hidden = driven.inputs["d_model"], driven.inputs["d_ff"]
    shapes = dict(zip(FEED_FORWARD, ((width, hidden), (hidden,), (hidden, width), (width,)), strict=True))
    network = driven.attribute("feed_forward")
    weights = getattr(network, "trainable_variables", ())
    if not weights:
        raise ContractError("`feed_forward` has no weights after a call. Is it a layer, and does `call` use it?")
    found = {tuple(variable.shape): variable for variable in weights}
    if sorted(found) != sorted(shapes.values()) or len(found) != len(weights):
        shown, wanted = (", ".join(map(str, shapes_)) for shapes_ in (found, shapes.values()))
        raise ContractError(f"`feed_forward` has trainable weights of the shapes {shown}; expected {wanted}.")
    return {name: found[shape] for name, shape in shapes.items()}


def _block_variables(driven: BuiltLayer) -> dict[str, Any]:
    """All weights of a decoder block by name, in the order in which a case packs them."""
    width = driven.inputs["d_model"] // driven.inputs["num_heads"]
    for name in ("self_attention", "cross_attention"):
        key_dim = getattr(driven.attribute(name), "key_dim", width)
        if key_dim != width:
            raise ContractError(f"`{name}` has key_dim={key_dim}. That is the width of one head: D/H, here {width}.")
    network = _feed_forward(driven)
    return {
        path: network[path.partition(".")[2]] if path.startswith("feed_forward.") else driven.attribute(path)
        for path in BLOCK
    }


def _decoder_block(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """Drive a decoder block: all its weights are in ``inputs["weights"]``, end to end in the order of `BLOCK`."""
    import tensorflow as tf

    arguments = [tf.convert_to_tensor(inputs[key]) for key in ("x", "memory")]
    keywords = {"memory_mask": tf.convert_to_tensor(inputs["memory_mask"])} if "memory_mask" in inputs else {}
    sizes = ("d_model", "num_heads", "d_ff")
    with _layer(namespace, "DecoderBlock", inputs, sizes, lambda new: new(*arguments, **keywords)) as built:
        return _drive_block(BuiltLayer(built, arguments, keywords, inputs, BLOCK), mode)


def _drive_block(driven: BuiltLayer, mode: str) -> dict[str, Any]:
    import tensorflow as tf

    built, arguments, keywords, inputs = driven.built, driven.arguments, driven.keywords, driven.inputs

    def run(x: Any, memory: Any, **more: Any) -> Any:
        return unpack(built(x, memory, **keywords, **more), ("output",), "DecoderBlock(…)(x, memory)")["output"]

    if mode == "parameters":
        return {"trainable_parameters": count(built.trainable_variables)}
    variables = _block_variables(driven)
    shapes = {path: variable.shape for path, variable in variables.items()}
    for path, value in cut_for("DecoderBlock", inputs["weights"], shapes).items():
        variables[path].assign(value)
    dropouts = [driven.attribute(f"dropout{number}") for number in (1, 2, 3)]
    if mode == "graph":
        return run_in_graph(lambda *each: {"output": run(*each)}, arguments)
    if mode == "prefix":
        end = inputs["cut"]
        return {"whole": run(*arguments)[:, :end], "prefix": run(arguments[0][:, :end], arguments[1])}
    if mode in ("training", "inference"):
        with calls_replaced(dropouts, [_loaded(number) for number in range(len(dropouts))]):
            return {"output": run(*arguments, training=mode == "training")}
    if mode == "dropped":
        return watched(
            dropouts,
            lambda training: run(*arguments, training=training),
            "each of the three dropouts must be called once in a call of the block.",
        )
    if mode == "slopes":
        along = cut(inputs["direction"], shapes)
        of_inputs = zip(("x", "memory"), arguments, (inputs["direction_x"], inputs["direction_memory"]), strict=True)
        weights = ((path, variable.value, along[path]) for path, variable in variables.items())
        return {"slopes": slopes(lambda: tf.reduce_sum(run(*arguments) * inputs["weighting"]), [*of_inputs, *weights])}
    return {"output": run(*arguments)}


def _loaded(number: int) -> Callable[..., Any]:
    def drop(inputs: Any, training: bool | None = False) -> Any:
        return inputs * every_third(inputs.shape[-1], number) if training else inputs

    return drop


# What a Transformer's weights are, told by their names in Keras and their shapes: every weight of a kind gets the same
# values, so that nothing depends on how the student's attributes are called or ordered.
KINDS = {
    "embedding": "vd",
    "projection.kernel": "dhk",
    "projection.bias": "hk",
    "output.kernel": "hkd",
    "in.kernel": "df",
    "in.bias": "f",
    "out.kernel": "fd",
    "bias": "d",
    "gamma": "d",
    "beta": "d",
}


def _shapes(inputs: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    width, heads = inputs["d_model"], inputs["num_heads"]
    sizes = {"v": inputs["vocab_size"], "d": width, "h": heads, "k": width // heads, "f": inputs["d_ff"]}
    return {kind: tuple(sizes[letter] for letter in letters) for kind, letters in KINDS.items()}


def _as_it_is(value: np.ndarray) -> np.ndarray:
    return value


def _turned(value: np.ndarray) -> np.ndarray:
    """The table as (D, V)."""
    return value.T


def _turned_back_to_front(value: np.ndarray) -> np.ndarray:
    """What an output layer of its own gets: the table's rows in reverse, so that its logits are not x Eᵀ."""
    return value[::-1].T


def _kinds(built: Any, inputs: Mapping[str, Any]) -> dict[str, list[tuple[Any, Callable[[np.ndarray], np.ndarray]]]]:
    """The Transformer's weights by kind; beside each, how it holds the values of its kind."""
    width, shapes = inputs["d_model"], _shapes(inputs)
    found: dict[str, list[tuple[Any, Callable[[np.ndarray], np.ndarray]]]] = {kind: [] for kind in KINDS}
    turned = []
    for variable in built.trainable_variables:
        shape = tuple(variable.shape)
        if variable.name in ("gamma", "beta") and shape == (width,):
            found[variable.name].append((variable, _as_it_is))
        elif shape == shapes["embedding"][::-1]:
            turned.append(variable)
        elif shape == (inputs["vocab_size"],):
            variable.assign(np.zeros(shape))
        elif kinds := [kind for kind, other in shapes.items() if other == shape]:
            found[kinds[0]].append((variable, _as_it_is))
        else:
            learned = " Are the positions learned? Here they are the fixed sine and cosine waves."
            raise ContractError(
                f"a trainable weight of shape {shape} has no place in this model: {variable.path}."
                + (learned if shape == (inputs["max_length"], width) else "")
            )
    holds = _turned_back_to_front if found["embedding"] else _turned
    found["embedding"] += [(variable, holds) for variable in turned]
    if not found["embedding"]:
        raise ContractError(
            f"there is no trainable weight of shape {shapes['embedding']}, (vocab_size, d_model). "
            "A bare `tf.Variable` on a layer is not tracked: use `keras.layers.Embedding` or `self.add_weight`."
        )
    return found


def _transformer(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """Drive a Transformer: every weight of a kind gets the same values, taken from ``inputs["weights"]``, which holds
    one of each kind, end to end in the order of `KINDS`."""
    import tensorflow as tf

    sizes = ("num_layers", "d_model", "num_heads", "d_ff", "vocab_size", "max_length")
    source, target = (tf.convert_to_tensor(inputs[key]) for key in ("source", "target"))
    with _layer(namespace, "Transformer", inputs, sizes, lambda new: new((source, target))) as built:
        return _drive_model(built, source, target, inputs, mode)


def _drive_model(built: Any, source: Any, target: Any, inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
    import tensorflow as tf

    def run(source: Any, target: Any, **more: Any) -> Any:
        call = "Transformer(…)((source, target_in))"
        return unpack(built((source, target), **more), ("logits",), call)["logits"]

    if mode == "parameters":
        return {"trainable_parameters": count(built.trainable_variables)}
    kinds = _kinds(built, inputs)
    values = cut(inputs["weights"], _shapes(inputs))
    for kind, group in kinds.items():
        for variable, held in group:
            variable.assign(held(values[kind]))
    if mode == "graph":
        return run_in_graph(lambda *each: {"logits": run(*each)}, [source, target], [(0, 1), (0, 1)])
    if mode == "prefix":
        end = inputs["cut"]
        return {"whole": run(source, target)[:, :end], "prefix": run(source, target[:, :end])}
    if mode in ("training", "inference"):
        with _loaded_everywhere() as rates:
            logits = run(source, target, training=mode == "training")
        return {"logits": logits, "rates": np.array(sorted(rates), "float64")}
    if mode == "slopes":
        steps, sums = cut(inputs["direction"], _shapes(inputs)), {kind: 0.0 for kind, group in kinds.items() if group}
        parts = [(kind, variable.value, held(steps[kind])) for kind in sums for variable, held in kinds[kind]]
        found = slopes(lambda: tf.reduce_sum(run(source, target) * inputs["weighting"]), parts)
        for (kind, _, _), slope in zip(parts, found, strict=True):
            sums[kind] += slope
        return {"slopes": np.array([*sums.values()])}
    return {"logits": run(source, target)}


@contextlib.contextmanager
def _loaded_everywhere() -> Iterator[set[float]]:
    """Load the dice of every `keras.layers.Dropout`, all in the same way; the set given back collects their rates."""
    import keras

    rates: set[float] = set()
    original = keras.layers.Dropout.call

    def call(self: Any, inputs: Any, training: bool | None = False) -> Any:
        rates.add(float(self.rate))
        return inputs * every_third(inputs.shape[-1], 1) if training else inputs

    keras.layers.Dropout.call = call
    try:
        yield rates
    finally:
        keras.layers.Dropout.call = original


Writer = Callable[[int, Sequence[int]], int]


def table_writer(targets: np.ndarray, table: np.ndarray) -> Writer:
    """Return the ``next_token`` of a model without weights, called as ``next_token(row, prefix)``.

    After tokens that are all right it writes the right token often, after a false one seldom, and more seldom where
    the last one is false. What it writes depends on the whole prefix and on its row of the table (N, R) of numbers
    from 0 to 1.
    """

    def write(row: int, prefix: Sequence[int]) -> int:
        tokens = [int(token) for token in prefix]
        sentence = [int(token) for token in targets[row]]
        is_false = [token != sentence[place] if place < len(sentence) else True for place, token in enumerate(tokens)]
        share = 0.85 - 0.3 * any(is_false) - 0.25 * any(is_false[-1:])
        code = sum((place + 2) * (3 * token + 1) for place, token in enumerate(tokens))
        here = len(tokens)
        known = sentence[here] if here < len(sentence) else 0
        return known if known and table[row][code % len(table[row])] < share else 1 + (known + code) % 10

    return write


def _measure_exposure(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """Call the function with a model that is a table; it may ask for sentences that exist, and with prefixes of ids."""
    targets = inputs["targets"]
    write = table_writer(targets.copy(), inputs["table"])

    def next_token(row: int, prefix: Sequence[int]) -> int:
        ids = np.asarray(prefix)
        if ids.ndim != 1 or (ids.size and ids.dtype.kind not in "iu"):
            raise ContractError(f"`next_token` got {str(prefix)[:60]} as prefix; expected a list of token ids.")
        if np.ndim(row) or not 0 <= row < len(targets) or int(row) != row:
            raise ContractError(
                f"`next_token` was asked for sentence {str(row)[:40]}; they count from 0 to {len(targets) - 1}."
            )
        return write(int(row), [int(each) for each in ids])

    given = [np.array(inputs[name]) for name in ("targets", "positions", "false_ids")]
    found = unpack(
        function_of(namespace, "measure_exposure")(next_token, *given, inputs["steps"]),
        ("after", "base", "margin"),
        "measure_exposure(…)",
    )
    kept = ("after", "base") if mode == "shares" else ("after", "base", "margin")
    return {name: numbers(found[name], f"`{name}`") for name in kept}


PROBES = {
    "combine_masks": _combine_masks,
    "DecoderBlock": ReadOutside(_decoder_block, {"dropped": dropped_seen}, DROPPED),
    "measure_exposure": _measure_exposure,
    "Transformer": _transformer,
    "masked_cross_entropy": _masked_cross_entropy,
    "find_the_bug": mended(_masked_cross_entropy, "masked_cross_entropy"),
}

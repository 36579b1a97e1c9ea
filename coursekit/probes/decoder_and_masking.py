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
    _in_graph,
    find,
    function,
    function_of,
    numbers,
    unpack,
)
from coursekit.probes.sharing import LayerKey, current_cache
from coursekit.probes.transfer import mended


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
        signature = [tf.TensorSpec((None, None, logits.shape[-1]), logits.dtype)]
        # AutoGraph rewrites the student's function alone: to rewrite the probe takes it longer than all other cases.
        inside = {**namespace, "masked_cross_entropy": tf.function(find(namespace, "masked_cross_entropy"))}

        def run(each: Any) -> dict[str, Any]:
            return PLAIN_LOSS(inside, {**inputs, "logits": each}, "tensor")

        return _in_graph(tf.function(run, signature, autograph=False), [logits])
    with tf.GradientTape() as tape:
        tape.watch(logits)
        loss = PLAIN_LOSS(namespace, {**inputs, "logits": logits}, "tensor")["output"]
        gradient = tape.gradient(tf.convert_to_tensor(loss), logits)
    if gradient is None:
        raise ContractError(
            "no gradient flows from the loss to the logits. Is a NumPy function, `float(…)` or `.numpy()` in the way?"
        )
    return {"gradient": tf.convert_to_tensor(gradient)}


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


@contextlib.contextmanager
def _calling(dropouts: Sequence[Any], make: Callable[[int, Callable[..., Any]], Callable[..., Any]]) -> Iterator[None]:
    """For the time of the block, let ``make(number, call)`` do what each dropout's `call` did."""
    originals = [dropout.call for dropout in dropouts]
    for number, (dropout, original) in enumerate(zip(dropouts, originals, strict=True)):
        dropout.call = make(number, original)
    try:
        yield
    finally:
        for dropout, original in zip(dropouts, originals, strict=True):
            dropout.call = original


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
        return {"trainable_parameters": sum(int(np.prod(variable.shape)) for variable in built.trainable_variables)}
    variables = _block_variables(driven)
    _assign(variables, inputs["weights"], "DecoderBlock")
    dropouts = [driven.attribute(f"dropout{number}") for number in (1, 2, 3)]
    if mode == "graph":
        signature = [tf.TensorSpec((None, None, argument.shape[-1]), argument.dtype) for argument in arguments]
        compiled = tf.function(lambda *each: {"output": run(*each)}, signature, autograph=False)
        return _in_graph(compiled, arguments)
    if mode == "prefix":
        cut = inputs["cut"]
        return {"whole": run(*arguments)[:, :cut], "prefix": run(arguments[0][:, :cut], arguments[1])}
    if mode in ("training", "inference"):
        with _calling(dropouts, _loaded):
            return {"output": run(*arguments, training=mode == "training")}
    if mode == "dropped":
        return _dropped(dropouts, lambda training: run(*arguments, training=training))
    if mode == "slopes":
        sources = {
            "x": arguments[0],
            "memory": arguments[1],
            **{path: variable.value for path, variable in variables.items()},
        }
        steps = _cut(inputs["direction"], {path: tuple(variable.shape) for path, variable in variables.items()})
        steps = {"x": inputs["direction_x"], "memory": inputs["direction_memory"], **steps}
        sources, along = ({key: [array] for key, array in given.items()} for given in (sources, steps))
        return _slopes(lambda: run(*arguments), sources, along, inputs)
    return {"output": run(*arguments)}


def _loaded(number: int, original: Callable[..., Any]) -> Callable[..., Any]:
    def drop(inputs: Any, training: bool | None = False) -> Any:
        return inputs * every_third(inputs.shape[-1], number) if training else inputs

    return drop


def _dropped(dropouts: Sequence[Any], run: Callable[[bool], Any]) -> dict[str, Any]:
    """What each dropout does, seen from outside: the share of zeros in training, the factor on what is kept,
    and the largest change at inference."""
    seen: dict[int, list[tuple[np.ndarray, np.ndarray]]] = {number: [] for number in range(len(dropouts))}

    def watched(number: int, original: Callable[..., Any]) -> Callable[..., Any]:
        def call(inputs: Any, training: bool | None = False) -> Any:
            result = original(inputs, training=training)
            seen[number].append((np.asarray(inputs), np.asarray(result)))
            return result

        return call

    with _calling(dropouts, watched):
        run(True)
        run(False)
    if any(len(calls) != 2 for calls in seen.values()):
        raise ContractError("each of the three dropouts must be called once in a call of the block.")
    rows = []
    for (before, after), (still_before, still_after) in seen.values():
        kept = (after != 0) & (before != 0)
        factor = float(np.mean(after[kept] / before[kept])) if kept.any() else 0.0
        rows.append([float(np.mean(after == 0)), factor, float(np.abs(still_after - still_before).max())])
    return {"dropped": np.array(rows)}


def _cut(vector: np.ndarray, shapes: Mapping[str, Sequence[int]]) -> dict[str, np.ndarray]:
    """Cut one vector into arrays of the given shapes."""
    pieces = np.split(vector, np.cumsum([int(np.prod(shape)) for shape in shapes.values()])[:-1])
    return {path: piece.reshape(shapes[path]) for path, piece in zip(shapes, pieces, strict=True)}


def _assign(variables: Mapping[str, Any], vector: np.ndarray, name: str) -> None:
    shapes = {path: tuple(variable.shape) for path, variable in variables.items()}
    size = sum(int(np.prod(shape)) for shape in shapes.values())
    if size != len(vector):
        raise ContractError(
            f"the named weights of `{name}` hold {size:,} numbers; expected {len(vector):,}. "
            "Compare the width of each part with the lab's text."
        )
    for path, value in _cut(vector, shapes).items():
        variables[path].assign(value)


def _slopes(
    run: Callable[[], Any],
    sources: Mapping[str, Sequence[Any]],
    along: Mapping[str, Sequence[np.ndarray]],
    inputs: Mapping[str, Any],
) -> dict[str, Any]:
    """Derivatives of ``sum(output * weighting)``: for each entry of `sources` in the directions `along`, summed up."""
    import tensorflow as tf

    flat = [variable for group in sources.values() for variable in group]
    with tf.GradientTape() as tape:
        tape.watch([variable for variable in flat if not isinstance(variable, tf.Variable)])
        loss = tf.reduce_sum(run() * inputs["weighting"])
    gradients = iter(tape.gradient(loss, flat))
    slopes, lost = [], []
    for key, group in sources.items():
        found = [next(gradients) for _ in group]
        if any(gradient is None for gradient in found):
            lost.append(key)
            continue
        pairs = zip(found, along[key], strict=True)
        slopes.append(sum(float(np.sum(np.asarray(tf.convert_to_tensor(g)) * step)) for g, step in pairs))
    if lost:
        raise ContractError(
            f"no gradient flows from the output to {', '.join(f'`{key}`' for key in lost)}. "
            "Is this part used in `call`, and is everything there `keras.ops` or TensorFlow?"
        )
    return {"slopes": np.array(slopes)}


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
        return {"trainable_parameters": sum(int(np.prod(variable.shape)) for variable in built.trainable_variables)}
    kinds = _kinds(built, inputs)
    values = _cut(inputs["weights"], _shapes(inputs))
    for kind, group in kinds.items():
        for variable, held in group:
            variable.assign(held(values[kind]))
    if mode == "graph":
        signature = [tf.TensorSpec((None, None), ids.dtype) for ids in (source, target)]
        compiled = tf.function(lambda *each: {"logits": run(*each)}, signature, autograph=False)
        return _in_graph(compiled, [source, target])
    if mode == "prefix":
        cut = inputs["cut"]
        return {"whole": run(source, target)[:, :cut], "prefix": run(source, target[:, :cut])}
    if mode in ("training", "inference"):
        with _loaded_everywhere() as rates:
            logits = run(source, target, training=mode == "training")
        return {"logits": logits, "rates": np.array(sorted(rates), "float64")}
    if mode == "slopes":
        kinds = {kind: group for kind, group in kinds.items() if group}
        steps = _cut(inputs["direction"], _shapes(inputs))
        along = {kind: [held(steps[kind]) for _, held in group] for kind, group in kinds.items()}
        sources = {kind: [variable.value for variable, _ in group] for kind, group in kinds.items()}
        return _slopes(lambda: run(source, target), sources, along, inputs)
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
    "DecoderBlock": _decoder_block,
    "measure_exposure": _measure_exposure,
    "Transformer": _transformer,
    "masked_cross_entropy": _masked_cross_entropy,
    "find_the_bug": mended(_masked_cross_entropy, "masked_cross_entropy"),
}

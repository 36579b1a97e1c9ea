"""Probes of lab 10, a language model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from coursekit.probes.arguments import kind_of
from coursekit.probes.choosing import design, whole
from coursekit.probes.driving import (
    BuiltLayer,
    ContractError,
    LayerProbe,
    find,
    function,
    function_of,
    numbers,
    refusing,
    unpack,
)

PAIR = "the pair (keys, values)"
KERNELS = ("w_q.kernel", "w_k.kernel", "w_v.kernel", "w_o.kernel")


def _pair(cache: Any, shown: str) -> tuple[Any, Any]:
    """Keys and values that a layer returned as its cache."""
    if not isinstance(cache, (tuple, list)) or len(cache) != 2:
        raise ContractError(f"{shown} gives {kind_of(cache)} as the cache; expected {PAIR}.")
    if any(len(getattr(part, "shape", ())) != 4 for part in cache):
        raise ContractError(f"{shown} gives a cache of other shapes; expected {PAIR}, each (B, G, t, K).")
    return cache[0], cache[1]


def _attended(driven: BuiltLayer, *arguments: Any, **keywords: Any) -> tuple[Any, tuple[Any, Any]]:
    shown = f"GroupedAttention(…)(x{', cache=…' if keywords else ''})"
    found = unpack(driven.built(*arguments, **keywords), ("output", "cache"), shown)
    return found["output"], _pair(found["cache"], shown)


def _whole(driven: BuiltLayer) -> dict[str, Any]:
    output, (keys, values) = _attended(driven, *driven.arguments)
    return {"output": output, "keys": keys, "values": values}


def _in_parts(driven: BuiltLayer) -> dict[str, Any]:
    """Hand over the tokens in parts, each with the cache that the part before it left."""
    outputs: list[np.ndarray] = []
    cache: Any = None
    for part in np.split(driven.inputs["x"], driven.inputs["cuts"], axis=1):
        output, cache = _attended(driven, part, **({} if cache is None else {"cache": cache}))
        outputs.append(np.asarray(output))
        if outputs[-1].shape != part.shape:
            raise ContractError(f"for x {part.shape} the output has the shape {outputs[-1].shape}; expected that of x.")
    return {"output": np.concatenate(outputs, axis=1), "keys": cache[0], "values": cache[1]}


def _twice(driven: BuiltLayer) -> dict[str, Any]:
    """Continue one cache two times with the same tokens."""
    (cut,) = driven.inputs["cuts"]
    before, new = np.split(driven.inputs["x"], [cut], axis=1)
    _, cache = _attended(driven, before)
    return {name: _attended(driven, new, cache=cache)[0] for name in ("first_output", "second_output")}


_ATTENTION_MODES: dict[str, Callable[[BuiltLayer], dict[str, Any]]] = {
    "call": _whole,
    "parts": _in_parts,
    "twice": _twice,
}


def model_paths(inputs: Mapping[str, Any]) -> Sequence[str]:
    """The weights of a language model by their attributes, in the order in which a case packs them."""
    parts = (
        "norm1.gamma",
        *("attention." + kernel for kernel in KERNELS),
        "norm2.gamma",
        *(name + ".kernel" for name in ("w_gate", "w_up", "w_down")),
    )
    blocks = [".".join(("blocks", str(number), part)) for number in range(inputs["num_layers"]) for part in parts]
    return ["embedding.embeddings", *blocks, "norm.gamma"]


def _predicted(driven: BuiltLayer, ids: Any, **keywords: Any) -> tuple[Any, list[tuple[Any, Any]]]:
    shown = f"LanguageModel(…)(ids{', caches=…' if keywords else ''})"
    found = unpack(driven.built(ids, **keywords), ("logits", "caches"), shown)
    caches, count = found["caches"], driven.inputs["num_layers"]
    if not isinstance(caches, (tuple, list)) or len(caches) != count:
        raise ContractError(f"{shown} gives {kind_of(caches)} as caches; expected {count}, one for each block.")
    return found["logits"], [_pair(cache, shown) for cache in caches]


def _refuse_other_weights(driven: BuiltLayer) -> None:
    known = {id(driven.attribute(path)) for path in driven.paths}
    others = [variable for variable in driven.built.trainable_variables if id(variable) not in known]
    if others:
        named = ", ".join(f"`{variable.path}` {tuple(variable.shape)}" for variable in others[:3])
        raise ContractError(f"the model has weights that are not in the lab's table: {named}.")


def _logits(driven: BuiltLayer) -> dict[str, Any]:
    """Hand over the ids, whole or in parts; the caches of all blocks come back as (L, 2, B, G, t, K)."""
    _refuse_other_weights(driven)
    logits, caches = [], None
    for part in np.split(driven.inputs["ids"], driven.inputs.get("cuts", ()), axis=1):
        found, caches = _predicted(driven, part, **({} if caches is None else {"caches": caches}))
        logits.append(np.asarray(found))
        if logits[-1].shape[:2] != part.shape:
            raise ContractError(
                f"for ids {part.shape} the logits have the shape {logits[-1].shape}; expected (B, T, V)."
            )
    stacked = np.array([[np.asarray(part) for part in cache] for cache in caches or ()])
    return {"logits": np.concatenate(logits, axis=1), "caches": stacked}


def roles(paths: Sequence[str]) -> dict[str, list[str]]:
    """The weights by their part of the model, in order of appearance, such as ``attention`` -> all of its kernels."""
    found: dict[str, list[str]] = {}
    for path in paths:
        names = path.split(".")
        found.setdefault(names[2] if names[0] == "blocks" else names[0], []).append(path)
    return found


def _slopes(driven: BuiltLayer) -> dict[str, Any]:
    """The derivative of the mean cross-entropy along a direction, for the weights of each part of the model."""
    import tensorflow as tf

    _refuse_other_weights(driven)
    variables = {path: driven.attribute(path).value for path in driven.paths}
    sizes = [int(np.prod(variable.shape)) for variable in variables.values()]
    pieces = np.split(driven.inputs["direction"], np.cumsum(sizes)[:-1])
    along = dict(zip(variables, pieces, strict=True))
    with tf.GradientTape() as tape:
        logits, _ = _predicted(driven, driven.inputs["ids"])
        nats = tf.nn.sparse_softmax_cross_entropy_with_logits(driven.inputs["targets"], logits)
        loss = tf.reduce_mean(nats)
    gradients = dict(zip(variables, tape.gradient(loss, list(variables.values())), strict=True))
    lost = [path for path, gradient in gradients.items() if gradient is None]
    if lost:
        raise ContractError(
            f"no gradient flows from the logits to {', '.join(f'`{path}`' for path in lost[:3])}. "
            "Is this part used in `call`, and is everything there `keras.ops` or TensorFlow?"
        )
    return {
        "slopes": np.array(
            [
                sum(float(np.sum(np.ravel(tf.convert_to_tensor(gradients[path])) * along[path])) for path in paths)
                for paths in roles(driven.paths).values()
            ]
        )
    }


def _train_bpe(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
    shown = "train_bpe(chunks, num_merges)"
    merges = find(namespace, "train_bpe")(dict(inputs["chunks"]), inputs["num_merges"])
    if merges is None:
        raise ContractError(f"{shown} returned None. Is the `return` missing?")
    if not isinstance(merges, (list, tuple, np.ndarray)):
        raise ContractError(f"{shown} returned {kind_of(merges)}; expected a list of pairs.")
    pairs = [_ids(pair, f"{shown} gives {str(pair)[:40]} as a pair; expected two ids.") for pair in merges]
    if any(len(pair) != 2 for pair in pairs):
        raise ContractError(f"{shown} returned entries that are no pairs; expected two ids in each.")
    return {"merges": str([tuple(pair) for pair in pairs])}


def _bpe_encode(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """Encode a chunk; in the mode ``again`` with other merges first."""
    encode = function_of(namespace, "bpe_encode")
    if mode == "again":
        encode(inputs["chunk"], [tuple(pair) for pair in inputs["other_merges"]])
    ids = encode(inputs["chunk"], [tuple(pair) for pair in inputs["merges"]])
    if ids is None:
        raise ContractError("bpe_encode(chunk, merges) returned None. Is the `return` missing?")
    return {"ids": str(_ids(ids, f"bpe_encode(chunk, merges) returned {str(ids)[:60]}; expected a list of ids."))}


def _bpe_decode(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
    text = function_of(namespace, "bpe_decode")(list(inputs["ids"]), [tuple(pair) for pair in inputs["merges"]])
    if not isinstance(text, str):
        raise ContractError(f"bpe_decode(ids, merges) returned {kind_of(text)}; expected a str.")
    return {"text": text}


def _ids(value: Any, otherwise: str) -> list[int]:
    """Token ids of any kind of sequence, as a list of int; `ContractError` with this message when it holds others."""
    try:
        ids = np.asarray(value)
    except (ValueError, TypeError):
        ids = np.asarray(None)
    if ids.ndim != 1 or (ids.size and (ids.dtype.kind not in "iuf" or (ids != np.round(ids)).any())):
        raise ContractError(otherwise)
    return [int(number) for number in ids]


WANTED_CALLS = "the prompt, then one id a call with the caches"


def logits_after(prefix: Sequence[int], table: np.ndarray) -> np.ndarray:
    """The logits (V,) that stand in for a model: every id of the prefix decides, by its place, which row counts.

    The formula of `generate` calls it too, so that a change of this line changes the lab's reference files.
    """
    return table[sum((place + 2) * (3 * number + 1) for place, number in enumerate(prefix)) % len(table)]


class TableModel:
    """Stands in for a language model: takes ids (1, t) and caches, and notes how it was called.

    Args:
        table: the rows of logits (R, V) of which the ids choose one, see `logits_after`.
        made: results of earlier models of this table, by the ids before and the new ones; it grows with each new one.
    """

    def __init__(self, table: np.ndarray, made: dict[tuple[tuple[int, ...], tuple[int, ...]], Any]):
        self._table = table
        self._made = made
        self.calls: list[tuple[int, bool]] = []

    def __call__(self, ids: Any, caches: Any = None, **_: Any) -> tuple[Any, list[tuple[Any, Any]]]:
        import tensorflow as tf

        given = np.asarray(ids)
        if given.ndim != 2 or len(given) != 1:
            raise ContractError(f"the model gets ids of the shape {given.shape}; expected (1, t), a batch of one row.")
        self.calls.append((given.shape[1], caches is not None))
        seen = [] if caches is None else [int(number) for number in np.ravel(np.asarray(caches[0][0]))]
        new = [int(number) for number in given[0]]
        key = (tuple(seen), tuple(new))
        if key not in self._made:
            rows = [logits_after([*seen, *new[: place + 1]], self._table) for place in range(len(new))]
            self._made[key] = tf.constant(np.array([rows], "float32"))
        kept = np.array([*seen, *new], "float32").reshape(1, 1, -1, 1)
        return self._made[key], [(kept, kept)]

    def manner(self, prompt: Sequence[int]) -> str:
        """How the calls of one text went."""
        sizes, cached = [size for size, _ in self.calls], [has for _, has in self.calls]
        if not sizes or sizes[0] != len(prompt):
            return f"calls with {sizes} ids"
        if set(sizes[1:]) <= {1} and all(cached[1:]):
            return WANTED_CALLS
        if set(sizes[1:]) <= {1}:
            return "one id a call, without the caches"
        if sizes == list(range(len(prompt), len(prompt) + len(sizes))):
            return f"the whole prefix in each call{', and the caches' * any(cached)}"
        return f"calls with {sizes} ids"


def from_one_seed(seed: int) -> str:
    """What is true of a function whose texts follow from the generator alone."""
    return f"the same text from seed {seed}"


def _generate(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """Write with a table in the model's place: once, with one seed twice and with another one, or one token often."""
    target, shown = function_of(namespace, "generate"), "generate(model, prompt, …)"
    prompt, end_id = inputs["prompt"], inputs.get("end_id", -1)
    made: dict[tuple[tuple[int, ...], tuple[int, ...]], Any] = {}

    def written(rng: np.random.Generator, max_new: int) -> tuple[list[int], str]:
        model = TableModel(inputs["table"], made)
        found = target(model, list(prompt), max_new, inputs["temperature"], inputs["p"], rng, end_id)
        if found is None:
            raise ContractError(f"{shown} returned None. Is the `return` missing?")
        return _ids(found, f"{shown} returned {str(found)[:60]}; expected a list of ids."), model.manner(prompt)

    if mode == "law":
        rng = np.random.default_rng(inputs["seed"])
        first = [written(rng, 1)[0] for _ in range(inputs["repeats"])]
        counted = np.array([len(ids) == 1 and 0 <= ids[0] < inputs["table"].shape[1] for ids in first])
        if not counted.all():
            raise ContractError(f"{shown} with max_new=1 returned {first[int(np.argmin(counted))]}; expected one id.")
        return {"shares": np.bincount(np.ravel(first), minlength=inputs["table"].shape[1]) / len(first)}
    if mode == "chance":
        seeds = (inputs["seed"], inputs["seed"], inputs["seed"] + 1)
        once, again, other = (written(np.random.default_rng(seed), inputs["max_new"])[0] for seed in seeds)
        if once != again:
            return {"chance": "another text from the same seed"}
        return {"chance": "the same text from another seed" if once == other else from_one_seed(inputs["seed"])}
    tokens, calls = written(np.random.default_rng(0), inputs["max_new"])
    return {"tokens": str(tokens), "calls": calls}


def _python_share(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """Call the function. NaN cannot be compared: a flag says where it is, and 0 stands in its place."""
    given = (list(inputs["prompts"]), list(inputs["bodies"]), list(inputs["ended"]))
    found = function_of(namespace, "python_share")(*given)
    names = ("parses", "lines", "bound", "used")
    if not isinstance(found, Mapping) or any(name not in found for name in names):
        raise ContractError(
            f"python_share(…) returned {kind_of(found)}; expected a dictionary with {', '.join(names)}."
        )
    arrays = {name: numbers(found[name], f"`{name}`").astype("float64") for name in names}
    for name in names:
        if arrays[name].shape != (len(given[0]),):
            raise ContractError(f"`{name}` has the shape {arrays[name].shape}; expected {(len(given[0]),)}.")
    for name in ("bound", "used"):
        arrays[f"{name}_is_nan"] = np.isnan(arrays[name]).astype("int64")
        arrays[name] = np.where(np.isnan(arrays[name]), 0.0, arrays[name])
    return arrays


PARSES = 2  # outcomes of the process that `measure_temperature` is given: 0 broken, 1 not ended, 2 Python
BODIES = (("\n    return (", True), ("\n    return 1\n", False), ("\n    return 1\n", True))


def wanted_grid(seeds: Sequence[int]) -> str:
    """What is true of a function that asked for every prompt with each of these seeds at every temperature."""
    return f"every prompt with every seed at every temperature: {', '.join(map(str, seeds))}"


def _measure_temperature(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """Hand over a process whose outcomes are known, and note what it was asked for."""
    outcomes, temperatures, seeds = inputs["outcomes"], inputs["temperatures"], inputs["seeds"]
    prompts = [f"def f{number}(x):" for number in range(len(outcomes))]
    asked: set[tuple[int, int, int]] = set()

    def write(prompt: str, temperature: float, seed: int) -> tuple[str, bool]:
        for value, known, name in ((prompt, prompts, "prompt"), (temperature, temperatures, "temperature")):
            if value not in known:
                raise ContractError(f"`write` was asked for the {name} {value!r}, which is not among those given.")
        if seed not in seeds:
            raise ContractError(f"`write` was asked for the seed {seed!r}, which is not among those given.")
        place = prompts.index(prompt), temperatures.index(temperature), seeds.index(seed)
        asked.add(place)
        return BODIES[int(outcomes[place])]

    found = function_of(namespace, "measure_temperature")(write, list(temperatures), list(prompts), list(seeds))
    shown = "measure_temperature(…)"
    if isinstance(found, Mapping) and any(str(each) in found for each in temperatures):
        raise ContractError(f"{shown} has texts as keys, such as {str(temperatures[0])!r}; expected the numbers.")
    if not isinstance(found, Mapping) or any(each not in found for each in temperatures):
        raise ContractError(
            f"{shown} returned {kind_of(found)}; expected a dictionary with an entry for each temperature."
        )
    rows = [numbers(found[each], f"the entry of temperature {each}") for each in temperatures]
    if any(row.shape != (3,) for row in rows):
        raise ContractError(f"{shown} has an entry that is not (share, low, high).")
    share, low, high = np.array(rows, "float64").T
    calls = _asked_for(asked, outcomes.shape, seeds)
    if mode == "grid":
        return {"calls": calls}
    return {"share": share} if mode == "law" else {"share": share, "low": low, "high": high, "calls": calls}


def _asked_for(asked: set[tuple[int, int, int]], shape: tuple[int, int, int], seeds: Sequence[int]) -> str:
    """What a process was asked for, of all prompts, temperatures and seeds."""
    if len(asked) == int(np.prod(shape)):
        return wanted_grid(seeds)
    at = [
        {(prompt, seed) for prompt, temperature, seed in asked if temperature == number} for number in range(shape[1])
    ]
    if len({seed for _, _, seed in asked}) == 1:
        return "one seed only"
    if len({frozenset(prompt for prompt, _ in pairs) for pairs in at}) > 1:
        return "other prompts at each temperature"
    if len({frozenset(seed for _, seed in pairs) for pairs in at}) > 1:
        return "other seeds at each temperature"
    return f"{len(asked)} of {int(np.prod(shape))} combinations"


def _lora_dense(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """Put the layer around a Dense layer of known weights; in the mode ``start`` look at it before training."""
    import keras

    cls = find(namespace, "LoRADense")
    dense = keras.layers.Dense(inputs["kernel"].shape[1])
    dense.build(inputs["x"].shape)
    dense.set_weights([inputs["kernel"], inputs["bias"]])
    built = cls(dense, inputs["rank"], inputs["alpha"])
    x = keras.ops.convert_to_tensor(inputs["x"])
    output = built(x)
    width, columns = inputs["kernel"].shape
    for name, shape in (("a", (width, inputs["rank"])), ("b", (inputs["rank"], columns))):
        found: Any = getattr(built, name, None)
        if not hasattr(found, "assign") or tuple(found.shape) != shape:
            raise ContractError(f"`{name}` has to be a weight of the shape {shape}, made with `self.add_weight`.")
    if mode == "start":
        told = {name: "random" if np.any(np.asarray(getattr(built, name))) else "zeros" for name in "ab"}
        count = sum(int(np.prod(variable.shape)) for variable in built.trainable_variables)
        known = {"as the frozen layer": dense(x), "as the frozen layer without its bias": x @ inputs["kernel"]}
        result = np.asarray(output)
        alike = [name for name, value in known.items() if _is_close(result, np.asarray(value))]
        return {"start": alike[0] if alike else "another result", **told, "trainable_parameters": count}
    built.a.assign(inputs["a"])
    built.b.assign(inputs["b"])
    return {"output": built(x), "merged": built.merged()}


def _is_close(one: np.ndarray, other: np.ndarray) -> bool:
    return one.shape == other.shape and np.allclose(one, other, atol=1e-5)


VOCABULARY, TOKENS, FLOAT_BYTES = 512, 256, 4
KILOBYTE = 1024


def parameters_and_cache(sizes: Mapping[str, int]) -> tuple[int, int]:
    """How many parameters a model of these sizes has, with 512 tokens, and the bytes of its cache of 256 tokens."""
    width, shared = sizes["d_model"], sizes["d_model"] // sizes["num_heads"] * sizes["num_kv_heads"]
    block = 2 * width * width + 2 * width * shared + 3 * width * sizes["d_ff"] + 2 * width
    count = VOCABULARY * width + sizes["num_layers"] * block + width
    return count, 2 * sizes["num_layers"] * shared * TOKENS * FLOAT_BYTES


AS_ON_PAGE = {"d_model": 128, "num_layers": 4, "num_heads": 4, "num_kv_heads": 2, "d_ff": 344}


def _standing(constraint: str, **sizes: int) -> str:
    """What is true of the chosen sizes, about one constraint."""
    width, heads, shared = sizes["d_model"], sizes["num_heads"], sizes["num_kv_heads"]
    count, cache = parameters_and_cache(sizes)
    if sizes == AS_ON_PAGE:
        raise ContractError("these are the sizes of the text, with a cache of 512 kB. Choose others.")
    if constraint == "depth":
        return (
            "fewer than 4 blocks or heads" if min(sizes["num_layers"], heads) < 4 else "at least 4 blocks and 4 heads"
        )
    if constraint == "parameters":
        if count < 700_000:
            return "fewer than 700,000"
        return "more than 1,000,000" if count > 1_000_000 else "from 700,000 to 1,000,000"
    if constraint == "cache":
        return "more than 256 kB" if cache > 256 * KILOBYTE else "at most 256 kB"
    if width % heads or heads % shared:
        return "do not divide"
    fits = width // heads % 2 == 0 and width // heads >= 16
    return "fit, even and at least 16 wide" if fits else "odd or narrower than 16"


PROBES = {
    "train_bpe": _train_bpe,
    "bpe_encode": _bpe_encode,
    "bpe_decode": _bpe_decode,
    "next_token_windows": refusing(
        function("next_token_windows", "documents", "end_id", "length", "starts", returns=("x", "y"))
    ),
    "design": design(
        _standing, d_model=whole(), num_layers=whole(), num_heads=whole(), num_kv_heads=whole(), d_ff=whole()
    ),
    "python_share": _python_share,
    "measure_temperature": _measure_temperature,
    "LoRADense": _lora_dense,
    "generate": _generate,
    "GroupedAttention": LayerProbe(
        "GroupedAttention",
        init=("d_model", "num_heads", "num_kv_heads"),
        call=("x",),
        optional=(),
        weights=KERNELS,
        returns=("output", "cache"),
        modes=_ATTENTION_MODES,
        harmless=tuple(_ATTENTION_MODES),
    ),
    "LanguageModel": LayerProbe(
        "LanguageModel",
        init=("vocab_size", "d_model", "num_layers", "num_heads", "num_kv_heads", "d_ff"),
        call=("ids",),
        optional=(),
        weights=model_paths,
        packed="weights",
        returns=("logits", "caches"),
        modes={"call": _logits, "slopes": _slopes},
        harmless=("call", "slopes"),
    ),
}

"""Probes of lab 10, a language model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from coursekit.probes.driving import (
    BuiltLayer,
    ContractError,
    LayerProbe,
    design,
    entries,
    find,
    floats,
    function,
    function_of,
    numbers,
    refusing,
    unpack,
    whole,
)
from coursekit.probes.evidence import CALLS, Asked, ReadOutside, kind_of, part_of_grid, taken
from coursekit.probes.layers import count, cut, slopes

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
    along = cut(driven.inputs["direction"], {path: variable.shape for path, variable in variables.items()})

    def loss() -> Any:
        logits, _ = _predicted(driven, driven.inputs["ids"])
        return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(driven.inputs["targets"], logits))

    parts = [(path, variable, along[path]) for path, variable in variables.items()]
    by_path = dict(zip(variables, slopes(loss, parts, of="logits", most=3), strict=True))
    return {"slopes": np.array([sum(by_path[path] for path in paths) for paths in roles(driven.paths).values()])}


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
MOST_CALLS = 1000  # that are read


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


def manner(calls: Sequence[tuple[int, int]], prompt: Sequence[int]) -> str:
    """How the calls of one text went, by the number of ids in each, and whether it came with caches."""
    sizes, cached = [size for size, _ in calls], [has for _, has in calls]
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

    def written(rng: np.random.Generator, max_new: int) -> tuple[list[int], list[tuple[int, bool]]]:
        model = TableModel(inputs["table"], made)
        found = target(model, list(prompt), max_new, inputs["temperature"], inputs["p"], rng, end_id)
        if found is None:
            raise ContractError(f"{shown} returned None. Is the `return` missing?")
        return _ids(found, f"{shown} returned {str(found)[:60]}; expected a list of ids."), model.calls

    if mode == "law":
        rng = np.random.default_rng(inputs["seed"])
        first = [written(rng, 1)[0] for _ in range(inputs["repeats"])]
        counted = np.array([len(ids) == 1 and 0 <= ids[0] < inputs["table"].shape[1] for ids in first])
        if not counted.all():
            raise ContractError(f"{shown} with max_new=1 returned {first[int(np.argmin(counted))]}; expected one id.")
        return {"first": np.ravel(first)}
    if mode == "chance":
        seeds = {"once": inputs["seed"], "again": inputs["seed"], "other": inputs["seed"] + 1}
        return {name: str(written(np.random.default_rng(seed), inputs["max_new"])[0]) for name, seed in seeds.items()}
    tokens, calls = written(np.random.default_rng(0), inputs["max_new"])
    return {"tokens": str(tokens), "calls": np.array(calls, "int64").reshape(-1, 2)}


def _law_seen(inputs: Mapping[str, Any], made: Mapping[str, Any]) -> dict[str, Any]:
    """How often each token came first."""
    first, words = taken(made, "first", (inputs["repeats"],), "i"), inputs["table"].shape[1]
    return {"shares": (first[:, None] == np.arange(words)).mean(axis=0)}


def _chance_seen(inputs: Mapping[str, Any], made: Mapping[str, Any]) -> dict[str, Any]:
    if made["once"] != made["again"]:
        return {"chance": "another text from the same seed"}
    is_same = made["once"] == made["other"]
    return {"chance": "the same text from another seed" if is_same else from_one_seed(inputs["seed"])}


def _writing_seen(inputs: Mapping[str, Any], made: Mapping[str, Any]) -> dict[str, Any]:
    calls = taken(made, "calls", kinds="i").reshape(-1, 2)[:MOST_CALLS].tolist()
    return {"tokens": made["tokens"], "calls": manner(calls, inputs["prompt"])}


WRITING_SEEN = {"law": _law_seen, "chance": _chance_seen, "call": _writing_seen}


def _python_share(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
    given = (list(inputs["prompts"]), list(inputs["bodies"]), list(inputs["ended"]))
    found = function_of(namespace, "python_share")(*given)
    found = entries(found, SHARES, "python_share(…)")
    arrays = {name: floats(found[name], f"`{name}`") for name in SHARES}
    for name in SHARES:
        if arrays[name].shape != (len(given[0]),):
            raise ContractError(f"`{name}` has the shape {arrays[name].shape}; expected {(len(given[0]),)}.")
    return dict(arrays)


SHARES = ("parses", "lines", "bound", "used")


def _shares_seen(inputs: Mapping[str, Any], made: Mapping[str, Any]) -> dict[str, Any]:
    """NaN cannot be compared: a flag says where it is, and 0 stands in its place."""
    arrays = {name: taken(made, name, (len(inputs["prompts"]),), "f") for name in SHARES}
    for name in ("bound", "used"):
        arrays[f"{name}_is_nan"] = np.isnan(arrays[name]).astype("int64")
        arrays[name] = np.where(np.isnan(arrays[name]), 0.0, arrays[name])
    return dict(arrays)


PARSES = 2  # outcomes of the process that `measure_temperature` is given: 0 broken, 1 not ended, 2 Python
BODIES = (("\n    return (", True), ("\n    return 1\n", False), ("\n    return 1\n", True))


def wanted_grid(seeds: Sequence[int]) -> str:
    """What is true of a function that asked for every prompt with each of these seeds at every temperature."""
    return f"every prompt with every seed at every temperature: {', '.join(map(str, seeds))}"


def _measure_temperature(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """Hand over a process whose outcomes are known, and note what it was asked for."""
    outcomes, temperatures, seeds = inputs["outcomes"], inputs["temperatures"], inputs["seeds"]
    prompts = [f"def f{number}(x):" for number in range(len(outcomes))]
    asked = Asked("`write` was asked for", prompt=prompts, temperature=temperatures, seed=seeds)

    def write(prompt: str, temperature: float, seed: int) -> tuple[str, bool]:
        return BODIES[int(outcomes[asked.place(prompt=prompt, temperature=temperature, seed=seed)])]

    found = function_of(namespace, "measure_temperature")(write, list(temperatures), list(prompts), list(seeds))
    shown = "measure_temperature(…)"
    if isinstance(found, Mapping) and any(str(each) in found for each in temperatures):
        raise ContractError(f"{shown} has texts as keys, such as {str(temperatures[0])!r}; expected the numbers.")
    found = entries(found, temperatures, shown, "an entry for each temperature")
    rows = [numbers(found[each], f"the entry of temperature {each}") for each in temperatures]
    if any(row.shape != (3,) for row in rows):
        raise ContractError(f"{shown} has an entry that is not (share, low, high).")
    return {"rows": np.array(rows, "float64"), "asked": asked.table}


def _grid_seen(inputs: Mapping[str, Any], made: Mapping[str, Any]) -> dict[str, Any]:
    """What the process was asked for."""
    return {"calls": _asked_for(taken(made, "asked", inputs["outcomes"].shape, "i") > 0, inputs["seeds"])}


def _temperature_seen(inputs: Mapping[str, Any], made: Mapping[str, Any]) -> dict[str, Any]:
    share, low, high = taken(made, "rows", (len(inputs["temperatures"]), 3)).T
    return {"share": share, "low": low, "high": high, **_grid_seen(inputs, made)}


def _share_seen(inputs: Mapping[str, Any], made: Mapping[str, Any]) -> dict[str, Any]:
    return {"share": taken(made, "rows", (len(inputs["temperatures"]), 3)).T[0]}


TEMPERATURE_SEEN = {"grid": _grid_seen, "call": _temperature_seen, "law": _share_seen}


def _asked_for(asked: np.ndarray, seeds: Sequence[int]) -> str:
    """What a process was asked for, of all prompts, temperatures and seeds."""
    told = part_of_grid(asked, wanted_grid(seeds), "combinations")
    prompts, of_seeds = (np.asarray(asked.any(axis=axis)) for axis in (2, 0))  # at each temperature
    if asked.all() or told == "one seed only":
        return told
    if (prompts != prompts[:, :1]).any():
        return "other prompts at each temperature"
    return "other seeds at each temperature" if (of_seeds != of_seeds[:1]).any() else told


def _lora_dense(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """Put the layer around a Dense layer of known weights; in the mode ``start`` before training."""
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
        weights = {name: np.asarray(getattr(built, name)) for name in "ab"}
        return {"output": output, **weights, "trainable_parameters": count(built.trainable_variables)}
    built.a.assign(inputs["a"])
    built.b.assign(inputs["b"])
    return {"output": built(x), "merged": built.merged()}


def _start_seen(inputs: Mapping[str, Any], made: Mapping[str, Any]) -> dict[str, Any]:
    """What the layer gives before training, and how its two matrices begin."""
    (width, columns), rank = inputs["kernel"].shape, inputs["rank"]
    shapes, product = {"a": (width, rank), "b": (rank, columns)}, inputs["x"] @ inputs["kernel"]
    known = {"as the frozen layer": product + inputs["bias"], "as the frozen layer without its bias": product}
    alike = [name for name, value in known.items() if _is_close(taken(made, "output"), value)]
    told = {name: "random" if np.any(taken(made, name, shape)) else "zeros" for name, shape in shapes.items()}
    return {
        "start": alike[0] if alike else "another result",
        **told,
        "trainable_parameters": made["trainable_parameters"],
    }


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
    "python_share": ReadOutside(_python_share, {"call": _shares_seen}),
    "measure_temperature": ReadOutside(_measure_temperature, TEMPERATURE_SEEN, {"calls": CALLS}),
    "LoRADense": ReadOutside(_lora_dense, {"start": _start_seen}),
    "generate": ReadOutside(_generate, WRITING_SEEN, {"calls": CALLS, "chance": "how often a function was called"}),
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

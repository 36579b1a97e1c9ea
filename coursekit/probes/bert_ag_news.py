"""Probes of lab 07, fine-tuning BERT on news."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from coursekit.lecture import bert
from coursekit.probes.driving import (
    ContractError,
    design,
    entries,
    find,
    floats,
    function,
    function_of,
    mended,
    numbers,
    positive,
    real,
    whole,
)
from coursekit.probes.evidence import CALLS, MODEL, ReadOutside, kind_of, refuse_changed, taken
from coursekit.probes.masked_ids import MASKING_SEEN
from coursekit.probes.news_classifier import SEEN, build_news_classifier
from coursekit.probes.token_masking import mask_tokens


def _wordpiece_tokenize(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """Call the function with the vocabulary as a list, a set or a dictionary from piece to id."""
    kinds: dict[str, Callable[[list[str]], Any]] = {
        "list": list,
        "set": set,
        "dict": lambda pieces: {piece: number for number, piece in enumerate(pieces)},
    }
    vocabulary = kinds[inputs["container"]](inputs["vocabulary"])
    named = {key: inputs[key] for key in ("unknown", "max_chars") if key in inputs}
    return {
        "pieces": _strings(function_of(namespace, "wordpiece_tokenize")(inputs["word"], vocabulary, **named), "pieces")
    }


def _strings(value: Any, what: str) -> list[str]:
    if value is None:
        raise ContractError("the function returned None. Is the `return` missing?")
    value = value.tolist() if isinstance(value, np.ndarray) else value
    if not isinstance(value, (list, tuple)) or not all(isinstance(item, str) for item in value):
        raise ContractError(f"the function returned {repr(value)[:80]}; expected a list of {what}, each a str.")
    return [str(item) for item in value]


def _pack_inputs(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """Call the function on lists of ids, and hand these over as it left them."""
    given = _segments(inputs)
    named = {key: inputs[key] for key in ("max_length", "cls_id", "sep_id", "pad_id") if key in inputs}
    result = find(namespace, "pack_inputs")(*given, **named)
    if not isinstance(result, Mapping):
        raise ContractError(f"pack_inputs(…) returned {kind_of(result)}; expected a dictionary.")
    missing = [key for key in bert.INPUTS if key not in result]
    if missing:
        raise ContractError(f"the dictionary has no entry {', '.join(map(repr, missing))}; it has {list(result)}.")
    rows = {key: numbers(result[key], f"the entry {key!r}") for key in bert.INPUTS}
    return {**rows, "given": str(given)}


def _segments(inputs: Mapping[str, Any]) -> list[list[int]]:
    return [[int(number) for number in inputs[key]] for key in ("a", "b") if key in inputs]


def _packing_seen(inputs: Mapping[str, Any], made: Mapping[str, Any]) -> dict[str, Any]:
    """The rows, their types, and whether the lists are as they were."""
    rows = {key: taken(made, key) for key in bert.INPUTS}
    other = {row.dtype.name for row in rows.values() if row.dtype.kind not in "iu"}
    return {
        **rows,
        "kinds": ", ".join(sorted(other)) if other else "whole numbers",
        "arguments": "as they were" if made["given"] == str(_segments(inputs)) else "changed in place",
    }


def _warmup_linear_decay(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
    result = find(namespace, "warmup_linear_decay")(
        *(inputs[key] for key in ("step", "peak", "warmup_steps", "total_steps"))
    )
    if result is None:
        raise ContractError("warmup_linear_decay(…) returned None. Is the `return` missing, or one of several?")
    if hasattr(result, "numpy"):  # a tensor, of either Keras
        raise ContractError("warmup_linear_decay(…) returned a tensor; expected a Python float, without `tf.`")
    value = np.asarray(result)
    if value.size != 1 or value.dtype.kind not in "iuf":
        raise ContractError(f"warmup_linear_decay(…) returned {repr(result)[:80]}; expected one number.")
    return {"rate": float(value.reshape(()))}


class _Oracle:
    """Stands for a model: its `predict` knows the probabilities of the case's texts, and nothing else."""

    def __init__(self, texts: Sequence[str], probabilities: np.ndarray):
        self._rows = dict(zip(texts, probabilities, strict=True))

    def predict(
        self, x: Any, batch_size: int | None = None, verbose: Any = "auto", steps: Any = None, **_: Any
    ) -> np.ndarray:
        """Probabilities (n, classes) for texts in any form that Keras takes."""
        texts = [str(item) for item in _flat(x)]
        if not texts:
            raise ValueError("Unexpected result of `predict_function`: the input is empty.")
        unknown = [text for text in texts if text not in self._rows]
        if unknown:
            raise ContractError(f"the model got the text {unknown[0][:60]!r}, which is none of those given.")
        return np.stack([self._rows[text] for text in texts])

    def __call__(self, *_: Any, **__: Any) -> None:
        raise ContractError("the model was called itself; take its `predict`, which every model here has.")


def _flat(x: Any) -> list[str]:
    """The texts in a list, an array, a tensor or a tf.data.Dataset of them, batched or not."""
    if isinstance(x, (str, bytes)):
        return [x.decode() if isinstance(x, bytes) else x]
    if hasattr(x, "as_numpy_iterator"):
        return [text for batch in x.as_numpy_iterator() for text in _flat(batch)]
    if hasattr(x, "numpy"):
        x = x.numpy()
    if isinstance(x, np.ndarray):
        return [text for item in x.reshape(-1).tolist() for text in _flat(item)]
    if isinstance(x, Collection):
        return [text for item in x for text in _flat(item)]
    raise ContractError(f"`predict` got {kind_of(x)}; expected texts.")


def _predict_class_names(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
    texts, names = list(inputs["texts"]), tuple(inputs["class_names"])
    model = _Oracle(texts, inputs["probabilities"])
    result = function_of(namespace, "predict_class_names")(model, texts, names)
    if result is None:
        raise ContractError("predict_class_names(…) returned None. Is the `return` missing?")
    values = list(np.asarray(result).reshape(-1)) if isinstance(result, np.ndarray) else result
    if isinstance(values, str) or not isinstance(values, Collection):
        return {"names": [str(values)], "type": kind_of(result), "texts": True}
    kind = "a list" if isinstance(result, list) else "an array" if isinstance(result, np.ndarray) else kind_of(result)
    are_texts = all(isinstance(value, str) for value in values)
    return {"names": [str(value) for value in values], "type": kind, "texts": are_texts}


def _names_seen(inputs: Mapping[str, Any], made: Mapping[str, Any]) -> dict[str, Any]:
    """The names, and the type of what holds them, which a name on its way here does not show."""
    return {"names": made["names"], "kind": made["type"] if made["texts"] else "a list of numbers"}


EXPECTED = ("masked", "replaced", "kept", "none")
_call_expected = function("derive_expected_masked", "lengths", "specials", "vocab_size", "rate", returns=EXPECTED)


def _derive_expected_masked(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """Call the function; the mode says whether the mean numbers or the probability of no choice is looked at."""
    found = _call_expected(namespace, inputs, "call")
    names = EXPECTED[-1:] if mode == "none" else EXPECTED[:-1] if mode == "numbers" else EXPECTED
    return {name: found[name] for name in names}


TEXTS = 1000  # texts that the model of `design` learns from
SLACK = 1 + 1e-9  # a rate or a share that is a quotient may be off by its rounding


def _standing(
    constraint: str, batch_size: int, epochs: int, warmup_steps: float, total_steps: float, peak: float
) -> str:
    """What is true of the chosen schedule, about one constraint."""
    batch, warmup, total = batch_size, warmup_steps, total_steps
    if constraint == "rate":
        return _standing_of_rate(warmup, total, peak)
    if constraint == "texts":
        if epochs == 1:
            return "read once"
        return "read more than four times" if epochs > 4 else "read two to four times"
    if constraint == "warmup":
        if 0 < warmup < 1:
            return "a share of the steps, not their number"
        share = warmup / total
        if share * SLACK < 0.05:
            return "less than 5 %"
        return "more than 20 %" if share > 0.2 * SLACK else "5 to 20 % of the steps"
    in_epoch = -(-TEXTS // batch)
    taken = epochs * in_epoch
    if total == taken:
        return "fewer than 100" if total < 100 else "more than 250" if total > 250 else "100 to 250, all of them taken"
    if total == in_epoch:
        return "those of one epoch"
    if total == epochs * (TEXTS // batch):
        return "the smaller batch is not counted"
    if abs(total - epochs * TEXTS / batch) < 1e-6 * total:
        return "the smaller batch is counted as a part of a step"
    return "fewer than are taken" if total < taken else "more than are taken"


def _standing_of_rate(warmup: float, total: float, peak: float) -> str:
    if peak * SLACK < 5e-4 or peak > 1e-3 * SLACK:
        return "a peak outside"
    climb = 5 / warmup if warmup > 0 else np.inf
    fall = (total - 5) / (total - warmup) if total > warmup else np.inf
    at_five = peak * max(0.0, min(climb, fall))
    return "too high at step 5" if at_five > 3e-4 * SLACK else "a peak of 0.0005 to 0.001, at most 0.0003 at step 5"


def each_once(sizes: Sequence[int]) -> str:
    """What is true of a function that fitted each of these sizes with each order, once."""
    return f"each size with each order, once: {', '.join(map(str, sizes))}"


MOST_FITS = 10_000  # that are read
SUMMARIES = {"accuracy": ("accuracy",), "summary": ("mean", "low", "high"), "base": ("base_rate",)}


def nearest_mean(x: np.ndarray, y: np.ndarray, x_new: np.ndarray) -> np.ndarray:
    """A head without training: each text (n, D) gets the class (n,) whose mean is nearest; x (N, D), y (N,)."""
    classes = np.unique(y)
    means = np.stack([x[y == class_].astype("float64").mean(axis=0) for class_ in classes])  # (classes, D)
    distances = ((x_new[:, None].astype("float64") - means) ** 2).sum(axis=-1)  # (n, classes)
    return classes[distances.argmin(axis=1)]


def _measure_labels(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """Hand over a head whose answers are known, and note which texts it is fitted on."""
    fitted: list[tuple[np.ndarray, bool]] = []  # which texts each time, and whether with their own labels
    places = {row.tobytes(): number for number, row in enumerate(inputs["x"])}
    width = inputs["x"].shape[1:]

    def vectors(x: Any, asked: str) -> np.ndarray:
        array = numbers(x, f"what `{asked}` is called with").astype("float32")
        if array.ndim != 2 or array.shape[1:] != width or not len(array):
            raise ContractError(f"`{asked}` was called with vectors {array.shape}; expected (n, D), D = {width[0]}.")
        return array

    def fit(x: Any, y: Any) -> Callable[[Any], np.ndarray]:
        array, labels = vectors(x, "fit"), numbers(y, "labels for `fit`").reshape(-1)
        if len(array) != len(labels):
            raise ContractError(f"`fit` was called with {len(array)} texts and {len(labels)} labels.")
        rows = [places.get(row.tobytes(), -1) for row in array]
        if min(rows) < 0:
            raise ContractError("`fit` was called with vectors that are not among those for training.")
        fitted.append((np.isin(np.arange(len(inputs["x"])), rows), bool((inputs["y"][rows] == labels).all())))
        return lambda x_new: nearest_mean(array, labels, vectors(x_new, "predict"))

    names = ("x", "y", "x_test", "y_test", "orders")
    given = {name: inputs[name].copy() for name in names} | {"sizes": list(inputs["sizes"])}
    train, test = (given["x"], given["y"]), (given["x_test"], given["y_test"])
    found = find(namespace, "measure_labels")(fit, train, test, given["sizes"], given["orders"])
    shown = "measure_labels(…)"
    refuse_changed(inputs, given, shown)
    found = entries(found, ("accuracy", "mean", "low", "high", "base_rate"), shown)
    if mode == "fits":
        texts = np.array([rows for rows, _ in fitted], bool).reshape(-1, len(inputs["x"]))
        return {"texts": texts, "own_labels": np.array([own for _, own in fitted], bool)}
    return {name: floats(found[name], f"`{name}`") for name in SUMMARIES[mode]}


def _fits_seen(inputs: Mapping[str, Any], made: Mapping[str, Any]) -> dict[str, Any]:
    own = taken(made, "own_labels", kinds="b").reshape(-1)
    if len(own) > MOST_FITS:
        return {"fits": "some more than once"}
    texts = taken(made, "texts", (len(own), len(inputs["x"])), "b")
    fitted = [frozenset(np.flatnonzero(rows).tolist()) for rows in texts]
    return {"fits": _fits(fitted, bool(own.all()), inputs["sizes"], inputs["orders"])}


def _fits(fitted: Sequence[frozenset[int]], own_labels: bool, sizes: Sequence[int], orders: np.ndarray) -> str:
    """What was fitted, of all sizes and orders."""
    wanted = {frozenset(order[:size].tolist()) for size in sizes for order in orders}
    counts = Counter(fitted)
    if not own_labels:
        return "labels of other texts"
    if set(counts) == wanted:
        return each_once(sizes) if max(counts.values()) == 1 else "some more than once"
    if len(counts) == len(sizes) == len({len(rows) for rows in counts}):
        return "one order only" if set(counts) <= wanted else "the same texts for every order"
    has_first = {frozenset(order[: sizes[0]].tolist()) for order in orders} <= set(counts)
    has_sizes = {len(rows) for rows in counts} <= set(sizes)
    if set(counts) == {frozenset(order[-size:].tolist()) for size in sizes for order in orders}:
        return "the last texts of each order"
    if has_sizes and counts and not set(counts) & wanted:
        return "texts of no given order"
    if has_first and has_sizes and not set(counts) <= wanted:
        return "other texts at each size"
    return f"{len(wanted & set(counts))} of {len(wanted)} that were to be fitted"


PROBES = {
    "derive_expected_masked": _derive_expected_masked,
    "design": design(_standing, batch_size=whole(), epochs=whole(), warmup_steps=real, total_steps=positive, peak=real),
    "measure_labels": ReadOutside(_measure_labels, {"fits": _fits_seen}, {"fits": CALLS}),
    "wordpiece_tokenize": _wordpiece_tokenize,
    "pack_inputs": ReadOutside(_pack_inputs, {"call": _packing_seen}),
    "mask_tokens": ReadOutside(mask_tokens, MASKING_SEEN),
    "warmup_linear_decay": _warmup_linear_decay,
    "build_news_classifier": ReadOutside(build_news_classifier, SEEN, dict.fromkeys(("encoder", "gradients"), MODEL)),
    "predict_class_names": ReadOutside(_predict_class_names, {"call": _names_seen}, {"kind": "the type of a list"}),
    "find_the_bug": mended(_warmup_linear_decay, "warmup_linear_decay"),
}

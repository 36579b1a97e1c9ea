"""Probes of lab 07, fine-tuning BERT on news."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from coursekit import bert
from coursekit.probes.driving import ContractError, find, numbers
from coursekit.probes.naming import kind_of
from coursekit.probes.news_classifier import build_news_classifier
from coursekit.probes.token_masking import mask_tokens
from coursekit.probes.transfer import mended


def _wordpiece_tokenize(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """Call the function with the vocabulary as a list, a set or a dictionary from piece to id."""
    kinds: dict[str, Callable[[list[str]], Any]] = {
        "list": list,
        "set": set,
        "dict": lambda pieces: {piece: number for number, piece in enumerate(pieces)},
    }
    vocabulary = kinds[inputs["container"]](inputs["vocabulary"])
    named = {key: inputs[key] for key in ("unknown", "max_chars") if key in inputs}
    return {"pieces": _strings(find(namespace, "wordpiece_tokenize")(inputs["word"], vocabulary, **named), "pieces")}


def _strings(value: Any, what: str) -> list[str]:
    if value is None:
        raise ContractError("the function returned None. Is the `return` missing?")
    value = value.tolist() if isinstance(value, np.ndarray) else value
    if not isinstance(value, (list, tuple)) or not all(isinstance(each, str) for each in value):
        raise ContractError(f"the function returned {repr(value)[:80]}; expected a list of {what}, each a str.")
    return [str(each) for each in value]


def _pack_inputs(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """Call the function on lists of ids, and look whether it left them as they were."""
    segments = [[int(each) for each in inputs[key]] for key in ("a", "b") if key in inputs]
    given = [list(each) for each in segments]
    named = {key: inputs[key] for key in ("max_length", "cls_id", "sep_id", "pad_id") if key in inputs}
    result = find(namespace, "pack_inputs")(*given, **named)
    if not isinstance(result, Mapping):
        raise ContractError(f"pack_inputs(…) returned {kind_of(result)}; expected a dictionary.")
    missing = [key for key in bert.INPUTS if key not in result]
    if missing:
        raise ContractError(f"the dictionary has no entry {', '.join(map(repr, missing))}; it has {list(result)}.")
    rows = {key: numbers(result[key], f"the entry {key!r}") for key in bert.INPUTS}
    other = {row.dtype.name for row in rows.values() if row.dtype.kind not in "iu"}
    return {
        **rows,
        "kinds": ", ".join(sorted(other)) if other else "whole numbers",
        "arguments": "as they were" if given == segments else "changed in place",
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
        texts = [str(each) for each in _flat(x)]
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
        return [text for each in x.reshape(-1).tolist() for text in _flat(each)]
    if isinstance(x, Collection):
        return [text for each in x for text in _flat(each)]
    raise ContractError(f"`predict` got {kind_of(x)}; expected texts.")


def _predict_class_names(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
    texts, names = list(inputs["texts"]), tuple(inputs["class_names"])
    model = _Oracle(texts, inputs["probabilities"])
    result = find(namespace, "predict_class_names")(model, texts, names)
    if result is None:
        raise ContractError("predict_class_names(…) returned None. Is the `return` missing?")
    values = list(np.asarray(result).reshape(-1)) if isinstance(result, np.ndarray) else result
    if isinstance(values, str) or not isinstance(values, Collection):
        return {"names": [str(values)], "kind": kind_of(result)}
    kind = "a list" if isinstance(result, list) else "an array" if isinstance(result, np.ndarray) else kind_of(result)
    if not all(isinstance(each, str) for each in values):
        kind = "a list of numbers"
    return {"names": [str(each) for each in values], "kind": kind}


PROBES = {
    "wordpiece_tokenize": _wordpiece_tokenize,
    "pack_inputs": _pack_inputs,
    "mask_tokens": mask_tokens,
    "warmup_linear_decay": _warmup_linear_decay,
    "build_news_classifier": build_news_classifier,
    "predict_class_names": _predict_class_names,
    "find_the_bug": mended(_warmup_linear_decay, "warmup_linear_decay"),
}

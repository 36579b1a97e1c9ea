"""Probe of lab 07's masking: texts of ids, and what a function makes of them.

It says nothing of the results: whether they follow their law is judged outside of the student's process, from the
masked ids themselves (`coursekit.probes.masked_ids`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from coursekit.generator import Generator
from coursekit.probes.driving import ContractError, find, numbers
from coursekit.probes.evidence import kind_of

WIDE = 1000  # ids of a vocabulary of which hardly a random one is the mask's or the token's own
SHORT_CALLS = 80


class _Calls:
    """Calls the student's function on texts of ids, with generators of their own."""

    def __init__(self, namespace: Mapping[str, Any], inputs: Mapping[str, Any]):
        self.target = find(namespace, "mask_tokens")
        self.inputs = inputs
        self.given = np.zeros(0)  # what became of the ids that the last call got

    def call(
        self, ids: np.ndarray, rng: np.random.Generator, *, rate: float | None = None, vocab_size: int | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """What the function makes of these ids: inputs and labels, with another rate or vocabulary if given.

        Raises:
            ContractError: these are no two arrays of the form of `ids`, or they seem to be exchanged.
        """
        self.given = ids.copy()
        named = {"rate": rate or self.inputs["rate"]} if "rate" in self.inputs else {}
        size = vocab_size or self.inputs["vocab_size"]
        result = self.target(self.given, rng, size, self.inputs["mask_id"], list(self.inputs["special_ids"]), **named)
        if not isinstance(result, (tuple, list)) or len(result) != 2:
            kind = "None. Is the `return` missing?" if result is None else kind_of(result)
            raise ContractError(f"mask_tokens(…) returned {kind}; expected the pair (inputs, labels).")
        pair = tuple(numbers(array, name) for array, name in zip(result, ("`inputs`", "`labels`"), strict=True))
        for array, name in zip(pair, ("inputs", "labels"), strict=True):
            if array.shape != ids.shape:
                raise ContractError(f"`{name}` has shape {array.shape}; the ids have {ids.shape}.")
        if (pair[0] == -100).any():
            raise ContractError("`inputs` holds -100, which is no id. Are inputs and labels in the wrong order?")
        return pair[0], pair[1]

    def all(self, texts: Sequence[np.ndarray], **changed: Any) -> list[tuple[np.ndarray, np.ndarray]]:
        """What becomes of some texts, each with its own generator."""
        return [self.call(ids, _generator(self.inputs, number), **changed) for number, ids in enumerate(texts)]


def _packed(array: np.ndarray) -> np.ndarray:
    """Whole numbers in 32 bits where they have room there: half of what goes from process to process."""
    small = array.astype("int32") if array.dtype.kind in "iu" else array
    return small if (small == array).all() else array


def _generator(inputs: Mapping[str, Any], number: int) -> np.random.Generator:
    """The generator that a call gets."""
    return np.random.default_rng([inputs["seed"], 1, number])


def texts_of(inputs: Mapping[str, Any]) -> list[np.ndarray]:
    """The ids of each call, (rows, columns) or (columns,): in each row as many words as in every other, special ids
    between them."""
    rows, columns, specials = inputs["rows"], inputs["columns"], np.array(inputs["special_ids"])
    shape, words = (max(rows, 1), columns), np.array(inputs["words"])
    texts = []
    for number in range(inputs["calls"]):
        rng = Generator([inputs["seed"], 0, number])
        ids = words[np.minimum(rng.integers(len(words), size=shape), rng.integers(len(words), size=shape))]
        places = rng.permuted(np.tile(np.arange(columns) < columns // 5, (shape[0], 1)), axis=1)
        ids = np.where(places, specials[rng.integers(len(specials), size=shape)], ids)
        texts.append((ids if rows else ids[0]).astype(inputs["dtype"]))
    return texts


def mask_tokens(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """Let texts that are drawn from the case's seed be masked. What is true of them, `masking_seen` says elsewhere.

    Returns:
        ``inputs`` and ``labels`` (calls, …), ``given``, what became of the last ids that were handed over, and by mode
        what tells mistakes apart, inputs and labels (…, 2, …): ``at_15`` with the rate 0.15, ``wide`` with a large
        vocabulary, ``short`` of one row many times, ``by_rng`` of one text with the same and with other generators.
    """
    calls, texts = _Calls(namespace, inputs), texts_of(inputs)
    masked, labels = zip(*calls.all(texts), strict=True)
    found = {"inputs": np.stack(masked), "labels": np.stack(labels), "given": calls.given}
    if mode == "share" and "rate" in inputs:
        found["at_15"] = np.stack(calls.call(texts[0], _generator(inputs, len(texts)), rate=0.15))
    if mode == "random":
        found["wide"] = np.stack([np.stack(pair) for pair in calls.all(texts, vocab_size=WIDE)])
        later = (_generator(inputs, len(texts) + number) for number in range(SHORT_CALLS))
        found["short"] = np.stack([np.stack(calls.call(texts[0][0], rng)) for rng in later])
    if mode == "numbers":
        same = _generator(inputs, 0)
        generators = (*(_generator(inputs, number) for number in (0, 0, 1)), same, same)
        found["by_rng"] = np.stack([np.stack(calls.call(texts[0], rng)) for rng in generators])
    return {name: _packed(array) for name, array in found.items()}

"""Whether a model of Python source copies: random rows twice, made-up names again, and which heads look where."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

import keras
import numpy as np
import tensorflow as tf
from keras import ops

from coursekit.lecture.pages.byte_pairs import PlainBytePairs
from coursekit.lecture.pages.language_model import PlainLanguageModel

OCCURRENCES = 3
CONSONANTS, VOWELS, LETTERS = "bdfgklmnprtvz", "aeiou", 6  # of a made-up name
Result = TypeVar("Result")
LONGEST = 256  # tokens of a function whose names are judged


def repeated_rows(vocab_size: int, period: int, rows: int, seed: int) -> np.ndarray:
    """Rows of random tokens, the end not among them, each twice in a row: (rows, 2 · period)."""
    first = np.random.default_rng(seed).integers(vocab_size - 1, size=(rows, period))
    return np.concatenate([first, first], axis=1).astype("int32")


def copy_losses(model: keras.Model, rows: np.ndarray) -> tuple[float, float]:
    """Mean nats a token of repeated rows: the first time (without its first token), and the second time."""
    period = rows.shape[1] // 2
    nats = _nats(model, tf.constant(rows)).numpy()  # (rows, 2 · period − 1): of tokens 1, 2, …
    return float(nats[:, : period - 1].mean()), float(nats[:, period:].mean())


@tf.function(reduce_retracing=True)
def _nats(model, rows):
    return ops.sparse_categorical_crossentropy(rows[:, 1:], model(rows[:, :-1]), from_logits=True)


def looks(model: PlainLanguageModel, rows: np.ndarray) -> Iterator[np.ndarray]:
    """The attention weights of each block on rows of ids (B, T): (B, H, T, T)."""
    x = ops.take(model.table, rows, axis=0) * model.table.shape[-1] ** 0.5
    for block in model.blocks:
        yield np.array(block.attention.look(block.norm1(x))[0])
        x = block(x)


def induction(model: PlainLanguageModel, rows: np.ndarray) -> np.ndarray:
    """Weight of position t on t − period + 1, its mean over the second copy: (blocks, H) (Olsson et al. 2022)."""
    period = rows.shape[1] // 2
    time = np.arange(period, 2 * period)
    return np.array([weights[:, :, time, time - period + 1].mean((0, 2)) for weights in looks(model, rows)])


def without_head(model: PlainLanguageModel, block: int, head: int, measure: Callable[[], Result]) -> Result:
    """What `measure()` gives while one head writes nothing: its rows of W_o are zero."""
    kernel = model.blocks[block].attention.w_o.kernel
    _, width = model.blocks[block].attention.split
    whole = np.array(kernel)
    cut = whole.copy()
    cut[head * width : (head + 1) * width] = 0
    kernel.assign(cut)
    try:
        return measure()
    finally:
        kernel.assign(whole)


def new_name(rng: np.random.Generator) -> str:
    """A made-up word of six letters, consonant and vowel in turn."""
    return "".join(rng.choice(list(VOWELS if place % 2 else CONSONANTS)) for place in range(LETTERS))


def renamed(text: str, names: Sequence[str]) -> tuple[str, list[tuple[int, int]]] | None:
    """Give the longest parameter of a function made-up names, occurrence k the name k, and say where they stand.

    Returns:
        The text and (begin, end) of each occurrence; None when no parameter of four letters or more occurs as often as
        there are names.
    """
    function = ast.parse(text).body[0]
    assert isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
    own = sorted(
        {node.arg for node in ast.walk(function.args) if isinstance(node, ast.arg)} - {"self", "cls"},
        key=lambda name: (len(name), name),  # of equally long ones the same in every run
    )
    if not own or len(own[-1]) < 4:
        return None
    begins = np.cumsum([0, *(len(line) + 1 for line in text.split("\n"))])
    places = sorted(
        int(begins[node.lineno - 1]) + node.col_offset
        for node in ast.walk(function)
        if own[-1] == (node.id if isinstance(node, ast.Name) else node.arg if isinstance(node, ast.arg) else None)
    )[: len(names)]
    if len(places) < len(names):
        return None
    written, spans, last = "", [], 0
    for place, name in zip(places, names, strict=True):
        written += text[last:place]
        spans.append((len(written), len(written) + len(name)))
        written, last = written + name, place + len(own[-1])
    return written + text[last:], spans


class Named(NamedTuple):
    """Functions with made-up names: ids of each, and for each its names' tokens (begin, end)."""

    rows: list[list[int]]
    spans: list[list[tuple[int, int]]]


def with_names(pairs: PlainBytePairs, texts: Sequence[str], seed: int) -> dict[str, Named]:
    """The functions that are short enough and name a parameter three times, with made-up names in its place.

    Returns:
        "same": one name three times; "other": the control, in which the third occurrence keeps its name and the first
        two have two other made-up names.
    """
    rng, named = np.random.default_rng(seed), {"same": Named([], []), "other": Named([], [])}
    for text in texts:
        one, two, three = (new_name(rng) for _ in range(OCCURRENCES))
        both = {"same": renamed(text, [three] * OCCURRENCES), "other": renamed(text, [one, two, three])}
        if any(each is None for each in both.values()):
            continue
        found = {kind: _tokens_of(pairs, *each) for kind, each in both.items() if each}
        if all(places[-1][1] <= LONGEST for _, places in found.values()):
            for kind, (ids, places) in found.items():
                named[kind].rows.append(ids)
                named[kind].spans.append(places)
    return named


def name_costs(model: keras.Model, end_id: int, named: Mapping[str, Named]) -> dict[str, float]:
    """Mean nats of a made-up name at its first, second and third occurrence, in the functions of `with_names`.

    "third, new" is its control.
    """
    costs = {kind: _costs(model, end_id, *each) for kind, each in named.items()}
    first, second, third = costs["same"].mean(0).tolist()
    return {"functions": len(named["same"].rows), "first": first, "second": second, "third": third} | {
        "third, new": float(costs["other"][:, -1].mean())
    }


def name_looks(model: PlainLanguageModel, end_id: int, named: Mapping[str, Named]) -> tuple[np.ndarray, float]:
    """Weight of a name's token on what followed the same token earlier, its mean over the third occurrences.

    Returns:
        The mean weight of each head (blocks, H), and what equal weights would give.
    """
    rows, spans = named["same"]
    places = np.array(
        [
            (row, time, key + 1)
            for row, (ids, names) in enumerate(zip(rows, spans, strict=True))
            for time in range(names[-1][0], names[-1][1] - 1)
            for begin, end in names[:-1]
            for key in range(begin, end - 1)
            if ids[key : key + 2] == ids[time : time + 2]
        ]
    )
    padded = _padded(rows, end_id)
    sums: list[list[np.ndarray]] = []
    for begin in range(0, len(padded), 32):
        row, time, key = places[(places[:, 0] >= begin) & (places[:, 0] < begin + 32)].T
        sums.append([weights[row - begin, :, time, key].sum(0) for weights in looks(model, padded[begin : begin + 32])])
    queries = len({(row, time) for row, time, _ in places.tolist()})
    return np.sum(sums, axis=0) / queries, float((1 / (places[:, 1] + 1)).sum() / queries)


def _tokens_of(pairs: PlainBytePairs, text: str, spans: list[tuple[int, int]]) -> tuple[list[int], list]:
    """The ids with the end before them, and for each span the tokens (begin, end) that hold one of its characters."""
    ids = pairs.encode([text])[0]
    ends = np.cumsum(pairs.token_bytes[ids])  # the text is ASCII
    return [pairs.end_id, *ids], [
        (1 + int(np.searchsorted(ends, begin, "right")), 2 + int(np.searchsorted(ends, end - 1, "right")))
        for begin, end in spans
    ]


def _costs(model: keras.Model, end_id: int, rows: list[list[int]], spans: list) -> np.ndarray:
    """Nats (functions, occurrences) of the spans' tokens."""
    padded = _padded(rows, end_id)
    nats = np.concatenate([_nats(model, padded[begin : begin + 32]).numpy() for begin in range(0, len(padded), 32)])
    return np.array([[each[b - 1 : e - 1].sum() for b, e in places] for each, places in zip(nats, spans, strict=True)])


def _padded(rows: list[list[int]], end_id: int) -> np.ndarray:
    """Rows of ids as one array (functions, LONGEST + 1), cut or filled up with the end."""
    padded = np.full((len(rows), LONGEST + 1), end_id, "int32")
    for row, ids in zip(padded, rows, strict=True):
        row[: len(ids)] = ids[: LONGEST + 1]
    return padded

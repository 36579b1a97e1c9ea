"""SmolLM2's attention in functions of your labs: one block's heads, all heads, rotary positions, a step with a cache.

The other parts of the model are those of lecture 3b, in NumPy. Whatever your function returns is compared with what the
lecture's returns for the same numbers, block by block, so that a message names the first place where they differ.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from scipy.special import log_softmax

from coursekit.lecture.pages.smollm2 import attend, normed, numbers_and_tokens, turned
from coursekit.lecture.smollm2_heads import SIZE, copied, every_block, feed_forward, handed_on, project
from coursekit.published import ChatTokens, compare_numbers, fill_weight

HEADS, SHARED = 9, 3  # query heads; heads of keys and values
SPECIAL = 17  # the special tokens come first

Attention = Callable[[int, dict[str, np.ndarray], np.ndarray], np.ndarray]  # block's number, its numbers, (B, T, D)


@cache
def _smollm2() -> tuple[dict[str, Any], ChatTokens]:
    print("Reading SmolLM2; this takes a few seconds, and 93 MB are fetched the first time …", flush=True)
    return numbers_and_tokens()


def _pair_of(what: str, found: Any) -> tuple[Any, Any]:
    if not isinstance(found, tuple | list) or len(found) != 2:
        raise ValueError(f"{what}; got {type(found).__name__}.")
    return found[0], found[1]


def _read(numbers: dict[str, Any], ids: np.ndarray, attention: Attention) -> np.ndarray:
    """Ids (B, T) through all blocks to log p (B, T, V), with another attention in each of them."""
    x = numbers["table"][ids]  # (B, T, D)
    for number, block in enumerate(numbers["blocks"]):
        x = x + attention(number, block, normed(x, block["attn_norm"]))
        x = x + feed_forward(block, x)
    return log_softmax(normed(x, numbers["last_norm"]) @ numbers["table"].T, axis=-1)


# -- lab 02: one block ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class BlockHeads:
    """Queries, keys and values of the nine heads of one block while the model reads a sentence.

    Attributes:
        tokens: the sentence's tokens, as text.
        q, k, v: each (9, T, 64); queries and keys are turned to their positions already, and heads that share keys and
            values have copies.
        mask: (T, T), True where a token may look: at itself and at what stands before it.
    """

    tokens: list[str]
    q: np.ndarray
    k: np.ndarray
    v: np.ndarray
    mask: np.ndarray
    _right: tuple[np.ndarray, np.ndarray]

    def compare(self, returned: Any) -> np.ndarray:
        """The weights (9, T, T) of what your `scaled_dot_product_attention` returned for q, k, v and the mask.

        Raises:
            ValueError: it is not what the model computes there; the message names the first difference.
        """
        output, weights = _pair_of("your scaled_dot_product_attention: expected the tuple (output, weights)", returned)
        found = compare_numbers("your weights", weights, self._right[1], ("head", "query", "key"))
        compare_numbers("your outputs", output, self._right[0], ("head", "query", "column"))
        return found

    def most(self, weights: np.ndarray, word: str, head: int = 0) -> list[tuple[str, float]]:
        """For each place of a word: the token that one head looks at most, and with which weight."""
        rows = [weights[head, place] for place, token in enumerate(self.tokens) if token == word]
        return [(self.tokens[int(row.argmax())], float(row.max())) for row in rows]


def heads_of_block(text: str, block: int = 16) -> BlockHeads:
    """What the heads of one block of SmolLM2 get to see of a text: queries, keys and values.

    Args:
        text: a sentence.
        block: which of the 30 blocks, counted from 0.
    """
    print("Reading SmolLM2 …", flush=True)
    found = every_block(text, last=block)[block]
    assert found.values is not None
    weights, mask = found.weights(), np.tri(len(found.pieces), dtype=bool)
    right = weights @ found.values, weights
    return BlockHeads(found.pieces, found.queries, found.keys, found.values, mask, right)


# -- lab 03: all heads ------------------------------------------------------------------------------------------------


def said_twice(rows: int = 2, length: int = 64) -> np.ndarray:
    """Random tokens of SmolLM2, each row said twice: ids (rows, 2 · length), the same as in lecture 3b.

    >>> said_twice(rows=1, length=3).shape
    (1, 6)
    """
    once = np.stack([np.random.default_rng(seed).integers(SPECIAL, 49_152, length) for seed in range(rows)])
    return np.hstack([once, once])


def read_through(layer: Any, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Let SmolLM2 read ids with your multi-head layer as the attention of all its 30 blocks.

    Rotary positions stand between projections and scores, so your `w_q`, `w_k` and `w_v` get what is already projected
    and turned, and an identity matrix as their kernel; `w_o` gets the published one.

    Args:
        layer: a `GroupedQueryAttention(576, 9, 3)`, or a `MultiHeadAttention(576, 9)`, whose heads get copies.
        ids: (B, T).

    Returns:
        The weights (30, B, 9, T − 1, T − 1), and the loss of each token but the first in nats, (B, T − 1).

    Raises:
        ValueError: a name, a shape or a number is not that of the model; the message names the first one.
    """
    numbers, _ = _smollm2()
    width = HEADS * SIZE
    empty = np.zeros((1, 2, width), "float32")
    layer(empty, empty, empty)  # now it has weights
    columns = getattr(getattr(getattr(layer, "w_k", None), "kernel", None), "shape", (0, 0))[-1]
    for name in ("w_q", "w_k", "w_v"):
        kernel = np.eye(width, width if name == "w_q" or columns == width else SHARED * SIZE, dtype="float32")
        fill_weight(layer, f"{name}.kernel", kernel)
    mask, name, seen = np.tri(ids.shape[1] - 1, dtype=bool), type(layer).__name__, []

    def attention(number: int, block: dict[str, np.ndarray], x: np.ndarray) -> np.ndarray:
        fill_weight(layer, "w_o.kernel", block["attn_output"].T)
        handed, right, (keys, values) = attend(x, block)
        parts = [turned(project(block, x)[0], 0), keys, values]
        if columns == width:
            parts[1:] = map(copied, parts[1:])
        query, key, value = (each.swapaxes(1, 2).reshape(*x.shape[:2], -1) for each in parts)  # heads side by side
        key, value = (np.pad(each, ((0, 0), (0, 0), (0, width - each.shape[-1]))) for each in (key, value))
        output, weights = _pair_of(
            f"your {name}: with return_weights=True expected the tuple (output, weights)",
            layer(query, key, value, attention_mask=mask, return_weights=True),
        )
        seen.append(
            compare_numbers(
                f"block {number}: the weights of your {name}", weights, right, ("row", "head", "query", "key")
            )
        )
        added = handed_on(block, handed)
        return compare_numbers(f"block {number}: the outputs of your {name}", output, added, ("row", "token", "column"))

    log_p = _read(numbers, ids[:, :-1], attention)
    return np.stack(seen), -np.take_along_axis(log_p, ids[:, 1:, None], axis=-1)[..., 0]


# -- lab 05: rotary positions -----------------------------------------------------------------------------------------

Turn = Callable[[np.ndarray, np.ndarray], Any]


PARAGRAPH = """By half past six everyone on board knew that the old clock maker had brought his clocks. There were
nineteen of them, wrapped in blankets, and no two agreed about the time. When the ship turned into the wind, the largest
began to strike, then the second, and soon the passengers stood around the boxes and laid bets on which of them would be
right in the end. The captain, who had watched this for some years, said only that the tide would be on time, as always,
and went down to drink his coffee.""".replace("\n", " ")


def losses(text: str, turn: Turn, base: float | None = None) -> np.ndarray:
    """The loss of each token of a text but the first, in nats, when SmolLM2 turns queries and keys by your function.

    Args:
        text: what it reads.
        turn: called as turn(x, positions) with x (1, H, T, 64) and positions (T,).
        base: the base that `turn` should have; None compares it with nothing.

    Returns:
        (T − 1,).

    Raises:
        ValueError: `turn` does not turn by this base; the message names the first number.
    """
    numbers, tokens = _smollm2()
    ids = np.array([tokens.encode(text)])
    places, axes = np.arange(ids.shape[1], dtype="float32"), ("row", "head", "position", "column")

    def attention(number: int, block: dict[str, np.ndarray], x: np.ndarray) -> np.ndarray:
        query, key, value = project(block, x)
        turns = []
        for each in (query, key):
            right = each if base is None else turned(each, 0, base)
            found = turn(each, places)
            turns.append(
                np.asarray(found) if base is None else compare_numbers("your turned numbers", found, right, axes)
            )
        scores = turns[0] @ copied(turns[1]).swapaxes(2, 3) / SIZE**0.5
        scores = np.where(np.tri(len(places), dtype=bool), scores, -np.inf)
        return handed_on(block, np.exp(log_softmax(scores, axis=-1)) @ copied(value))

    log_p = _read(numbers, ids, attention)[0, :-1]
    return -np.take_along_axis(log_p, ids[0, 1:, None], axis=-1)[:, 0]


# -- lab 08b: a step --------------------------------------------------------------------------------------------------

CachedAttention = Callable[..., tuple[Any, Any]]  # lab 08b's cached_attention(query, key, value, cache)


class NextToken:
    """SmolLM2 as a `step_fn` of lab 08b: a list of ids, `start_id` first, to the log-probabilities of the next one.

    The beginning of the text stands before every list, and special tokens are never written. Keys and values of the
    lists that were asked for last are kept, so that a step reads one token; an answer is kept for good.

    Args:
        text: the beginning.
        attention: your `cached_attention`; None takes the lecture's.

    Attributes:
        start_id: the last token of the beginning.
        end_id: the end of a text that nobody goes on with; it is never written.
    """

    def __init__(self, text: str, attention: CachedAttention | None = None):
        self._numbers, self._tokens = _smollm2()
        *self._before, self.start_id = self._tokens.encode(text)
        self.end_id = self._tokens.end_id
        self._attention = attention
        self._kept: dict[tuple[int, ...], list[Any]] = {}
        self._answers: dict[tuple[int, ...], np.ndarray] = {}

    def __call__(self, prefix: Sequence[int]) -> np.ndarray:
        """A list of ids -> (49,152,)."""
        ids = tuple(int(number) for number in prefix)
        if ids not in self._answers:
            self._answers[ids] = self._answer(ids)
        return self._answers[ids].copy()

    def _answer(self, ids: tuple[int, ...]) -> np.ndarray:
        known = self._kept.get(ids[:-1])
        new = ids[-1:] if known else (*self._before, *ids)
        log_p, caches = self._step(np.array([new]), known)
        self._kept = {each: kept for each, kept in self._kept.items() if len(ids) - 1 <= len(each) <= len(ids)}
        self._kept[ids] = caches
        log_p[:SPECIAL] = -np.inf
        return log_p

    def _step(self, ids: np.ndarray, known: list[Any] | None) -> tuple[np.ndarray, list[Any]]:
        caches: list[Any] = []

        def attention(number: int, block: dict[str, np.ndarray], x: np.ndarray) -> np.ndarray:
            own: Any = None  # keys and values as your function returned them
            before: Any = None  # and as the lecture's keeps them
            if known:
                own, before = known[number]
            handed, _, kept = attend(x, block, before)
            if known and self._attention:  # one token: its query, key and value, and what was kept before it
                start = before[0].shape[2]
                query, key, value = project(block, x)
                parts = turned(query, start), copied(turned(key, start)), copied(value)
                output, own = _pair_of(
                    "your cached_attention: expected the tuple (output, cache)", self._attention(*parts, own)
                )
                axes = ("row", "head", "token", "column")
                handed = compare_numbers(f"block {number}: the outputs of your cached_attention", output, handed, axes)
            elif self._attention:
                own = tuple(map(copied, kept))
            caches.append((own, kept))
            return handed_on(block, handed)

        return _read(self._numbers, ids, attention)[0, -1], caches

    def text(self, ids: Sequence[int]) -> str:
        """What was written behind the beginning."""
        return self._tokens.decode(int(number) for number in list(ids)[1:])

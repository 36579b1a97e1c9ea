"""What several exercises of lab 10 share: the model in float64 NumPy, without Keras."""

import math
from collections import Counter
from itertools import pairwise

import numpy as np

from autograder.declare import edit
from coursekit.probes.language_model import model_paths
from exercises.formulas.attention import softmax

Cache = tuple[np.ndarray, np.ndarray]


def rms_normed(x: np.ndarray, gamma: np.ndarray) -> np.ndarray:
    """x · γ / √(mean(x²) + 1e-6) over the last axis (Zhang and Sennrich 2019)."""
    return x * gamma / np.sqrt((x**2).mean(axis=-1, keepdims=True) + 1e-6)


def turned(x: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """The pair (2i, 2i + 1) of x (…, t, K) turned by position · 10,000^(−2i/K) (Su et al. 2021)."""
    angles = positions[:, None] / 10_000.0 ** (np.arange(0, x.shape[-1], 2) / x.shape[-1])
    numbers = x[..., 0::2] + 1j * x[..., 1::2]
    numbers = numbers * np.exp(1j * angles).astype(numbers.dtype)
    return np.stack([numbers.real, numbers.imag], axis=-1).reshape(x.shape)


def heads_of(x: np.ndarray, count: int) -> np.ndarray:
    """(B, t, count · K) -> (B, count, t, K)."""
    return x.reshape(*x.shape[:2], count, -1).transpose(0, 2, 1, 3)


def for_each_query_head(heads: np.ndarray, times: int) -> np.ndarray:
    """Heads (B, G, S, K) -> (B, G · times, S, K): query head h reads head h // times (Ainslie et al. 2023)."""
    return np.repeat(heads, times, axis=1)


def attend(x, w_q, w_k, w_v, w_o, num_heads, num_kv_heads, cache):
    """Causal attention of the tokens x (B, t, D) to themselves and to those in the cache, with rotary positions."""
    past = 0 if cache is None else cache[0].shape[2]
    positions = past + np.arange(x.shape[1])
    q = turned(heads_of(x @ w_q, num_heads), positions)
    k = turned(heads_of(x @ w_k, num_kv_heads), positions)
    v = heads_of(x @ w_v, num_kv_heads)
    if cache is not None:
        k, v = np.concatenate([cache[0], k], axis=2), np.concatenate([cache[1], v], axis=2)
    times = num_heads // num_kv_heads
    scores = q @ np.swapaxes(for_each_query_head(k, times), -1, -2) / math.sqrt(q.shape[-1])
    seen = np.tri(x.shape[1], k.shape[2], past, dtype=bool)
    weights = softmax(np.where(seen, scores, scores.dtype.type(-1e9)))
    output = (weights @ for_each_query_head(v, times)).transpose(0, 2, 1, 3).reshape(*x.shape[:2], -1) @ w_o
    return output, (k, v)


def silu(x: np.ndarray) -> np.ndarray:
    """x · sigmoid(x)."""
    return x / (1 + np.exp(-x))


def block_output(x, w, num_heads, num_kv_heads, cache):
    """A pre-norm decoder block: attention, then a feed-forward network with a gate (SwiGLU, Shazeer 2020)."""
    mixed, cache = attend(
        rms_normed(x, w["norm1"]), w["w_q"], w["w_k"], w["w_v"], w["w_o"], num_heads, num_kv_heads, cache
    )
    x = x + mixed
    z = rms_normed(x, w["norm2"])
    hidden = silu(z @ w["w_gate"]) * (z @ w["w_up"])
    return x + hidden @ w["w_down"], cache


def model_shapes(vocab_size, d_model, num_layers, num_heads, num_kv_heads, d_ff):
    """The shape of each weight of the model, by its path, in the order in which a case packs them."""
    narrow = d_model // num_heads * num_kv_heads
    ends = {"w_q": (d_model, d_model), "w_k": (d_model, narrow), "w_v": (d_model, narrow), "w_o": (d_model, d_model)}
    ends |= {"w_gate": (d_model, d_ff), "w_up": (d_model, d_ff), "w_down": (d_ff, d_model)}
    table = {"embeddings": (vocab_size, d_model), "gamma": (d_model,)}
    return {
        path: table.get(path.rpartition(".")[2]) or ends[path.split(".")[-2]]
        for path in model_paths({"num_layers": num_layers})
    }


def cut_to(shapes: dict[str, tuple[int, ...]], vector: np.ndarray) -> dict[str, np.ndarray]:
    """One vector cut into the weights of these shapes, by path."""
    pieces = np.split(vector, np.cumsum([math.prod(shape) for shape in shapes.values()])[:-1])
    return {path: part.reshape(shapes[path]) for path, part in zip(shapes, pieces, strict=True)}


def logits_and_caches(ids, weights, num_layers, num_heads, num_kv_heads, caches):
    """The logits (B, t, V) of the tokens that follow ids (B, t), and what each block keeps."""
    table = weights["embedding.embeddings"]
    x = table[ids] * math.sqrt(table.shape[1])
    kept = []
    for number in range(num_layers):
        w = {
            path.split(".")[-2]: weight
            for path, weight in weights.items()
            if path.startswith("blocks." + str(number) + ".")
        }
        x, cache = block_output(x, w, num_heads, num_kv_heads, caches[number])
        kept.append(cache)
    return rms_normed(x, weights["norm.gamma"]) @ table.T, kept


UNSCALED = (
    edit("/ math.sqrt(q.shape[-1])", "", see="02#why-sqrt-dk")
    | "The scores are not divided by √K."
    | "Over how many products does one score sum?"
)


def joined(ids: list[int], pair: tuple[int, int], new: int) -> list[int]:
    """The ids with each occurrence of a pair replaced by a new id, from left to right."""
    result: list[int] = []
    first = -1  # where the last replaced pair stands, of which the second id is left out
    for place, number in enumerate(ids):
        if place and place - 1 == first:
            continue
        if tuple(ids[place : place + 2]) == pair:
            result.append(new)
            first = place
        else:
            result.append(number)
    return result


def learned(chunks: dict[str, int], num_merges: int) -> list[tuple[int, int]]:
    """Byte-pair encoding (Sennrich et al. 2016) on bytes: the pairs in the order in which they are merged."""
    words = {chunk: list(chunk.encode()) for chunk in chunks}
    merges = []
    for new in range(256, 256 + num_merges):
        counts: Counter = Counter()
        for chunk, ids in words.items():
            for pair in pairwise(ids):
                counts[pair] += chunks[chunk]
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        merges.append(best)
        words = {chunk: joined(ids, best, new) for chunk, ids in words.items()}
    return merges


def drawn_chunks(rng, letters: str, count: int) -> dict[str, int]:
    """Chunks of two to six letters, each with how often it occurs."""
    chunks: dict[str, int] = {}
    while len(chunks) < count:
        chunk = "".join(letters[int(place)] for place in rng.integers(len(letters), size=int(rng.integers(2, 7))))
        chunks.setdefault(chunk, int(rng.integers(1, 30)))
    return chunks


FORBIDDEN_BYTE_PAIRS = (
    "coursekit.lecture.pages.byte_pairs.PlainBytePairs",
    "coursekit.lecture.pages.byte_pairs.merged",
)
OVERLAPS_MERGED = (
    edit("continue", "first = place if tuple(ids[place : place + 2]) == pair else first\ncontinue", see="10#byte-pairs")
    | "In a run such as “aaa” a letter is merged twice, and one is lost. After a merge go on behind both letters."
    | "Three a: the first two make the new token. Which letters are left?"
)

"""SmolLM2 as lecture 3b shows it: a published language model in NumPy, whose heads can be seen and switched off."""

import numpy as np
from scipy.special import log_softmax, softmax

from coursekit.data.published_models import PUBLISHED, published
from coursekit.data.tensor_files import open_tensors
from coursekit.published import ChatTokens


def numbers_and_tokens():
    """All 134,515,008 numbers by name, block by block, and the tokens; fetched once (93 MB), then half a gigabyte."""
    (file,) = PUBLISHED["smollm2"].files
    tensors = open_tensors(published("smollm2") / file)
    numbers = {name.removesuffix(".weight"): tensors.read(name) for name in tensors}
    own = [f"blk.{block}." for block in range(30)]
    blocks = [{name.removeprefix(each): numbers[name] for name in numbers if name.startswith(each)} for each in own]
    return {"table": numbers["token_embd"], "last_norm": numbers["output_norm"], "blocks": blocks}, ChatTokens.of(
        tensors
    )


def normed(x, gain):
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + 1e-5) * gain


def turned(x, start, base=100_000):
    """Rotary positions: turn each pair (2i, 2i + 1) of x (…, T, K), whose first row stands at position `start`."""
    angles = np.arange(start, start + x.shape[-2])[:, None] / base ** (np.arange(0, x.shape[-1], 2) / x.shape[-1])
    pairs = (x[..., 0::2] + 1j * x[..., 1::2]) * np.exp(1j * angles)  # as complex numbers: to turn is to multiply
    return np.stack([pairs.real, pairs.imag], axis=-1).reshape(x.shape).astype("float32")


def attend(x, block, before=None):
    """x (B, T, D) to what each head hands over (B, 9, T, 64), its weights (B, 9, T, S), and keys and values so far."""
    q, k, v = ((x @ block[f"attn_{each}"].T).reshape(*x.shape[:2], -1, 64).swapaxes(1, 2) for each in "qkv")
    start = before[0].shape[2] if before else 0
    q, k = turned(q, start), turned(k, start)  # (B, 9, T, 64), (B, 3, T, 64)
    if before:
        k, v = (np.concatenate(both, axis=2) for both in zip(before, (k, v), strict=True))  # (B, 3, S, 64)
    scores = q.reshape(len(q), 3, -1, 64) @ k.swapaxes(2, 3) / 8  # three heads in a row share keys and values
    scores = scores.reshape(*q.shape[:3], -1)  # (B, 9, T, S)
    weights = softmax(np.where(np.tri(x.shape[1], scores.shape[3], start, dtype=bool), scores, -1e9), axis=-1)
    return (weights.reshape(len(q), 3, -1, k.shape[2]) @ v).reshape(q.shape), weights, (k, v)


class PlainSmolLM2:
    """SmolLM2: ids (B, T) to log p (B, T, V) and a cache; it keeps streams and weights, and heads can be `off`."""

    def __init__(self, numbers):
        self.table, self.last_norm, self.blocks = numbers["table"], numbers["last_norm"], numbers["blocks"]

    def __call__(self, ids, cache=None, off=(), instead=np.zeros_like):
        x, kept, self.streams, self.weights = self.table[np.asarray(ids)], [], [], []  # (B, T, D)
        for number, block in enumerate(self.blocks):
            handed, weights, pair = attend(normed(x, block["attn_norm"]), block, cache and cache[number])
            heads = [head for where, head in off if where == number]
            handed[:, heads] = instead(handed[:, heads])  # a head that is off hands over zeros
            self.streams.append(x)  # what the block reads
            x = x + handed.swapaxes(1, 2).reshape(x.shape) @ block["attn_output"].T
            gate, up = (normed(x, block["ffn_norm"]) @ block[name].T for name in ("ffn_gate", "ffn_up"))
            x = x + (gate / (1 + np.exp(-gate)) * up) @ block["ffn_down"].T  # SwiGLU
            self.weights.append(weights)
            kept.append(pair)
        return log_softmax(normed(x, self.last_norm) @ self.table.T, axis=-1), kept

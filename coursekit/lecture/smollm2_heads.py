"""What the heads of SmolLM2 compare on one sentence, read from its file block by block in NumPy (lecture 2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coursekit.data.published_models import PUBLISHED, is_here, published
from coursekit.data.tensor_files import TensorFile, open_tensors
from coursekit.lecture import recorded
from coursekit.published import SMOLLM2, SMOLLM2_BASE, SMOLLM2_EPSILON, ChatTokens

HEADS, GROUPS = SMOLLM2["num_heads"], SMOLLM2["num_heads"] // SMOLLM2["num_kv_heads"]
SIZE = SMOLLM2["d_model"] // HEADS


@dataclass(frozen=True)
class Compared:
    """What one block compares on a sentence.

    Attributes:
        pieces: the T tokens as text.
        queries, keys: turned by their positions, (H, T, K) or one head's (T, K).
        values: (H, T, K), where the model was read.
    """

    pieces: list[str]
    queries: np.ndarray
    keys: np.ndarray
    values: np.ndarray | None = None

    def weights(self) -> np.ndarray:
        """The causal attention weights, (…, T, T)."""
        scores = self.queries @ self.keys.swapaxes(-1, -2) / SIZE**0.5
        scores = np.where(np.tri(len(self.pieces), dtype=bool), scores, -1e9)
        powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return powers / powers.sum(axis=-1, keepdims=True)


def queries_and_keys(sentence: str, block: int = 16, head: int = 0) -> Compared:
    """Queries and keys (T, 64) of one head: computed where the model is here, else those that were stored.

    Raises:
        KeyError: the model is not here, and the sentence or the head is not one of the stored ones.
    """
    if is_here("smollm2"):
        found = every_block(sentence, last=block)[block]
        return Compared(found.pieces, found.queries[head], found.keys[head])
    stored = recorded.load("caption_in_smollm2")["results"]
    if (block, head) != (stored["block"], stored["head"]):
        raise KeyError(f"SmolLM2 is not here, and block {block}, head {head} was not stored")
    kept = stored["sentences"][sentence]
    return Compared(kept["pieces"], np.array(kept["queries"]), np.array(kept["keys"]))


def every_block(sentence: str, last: int = SMOLLM2["num_layers"] - 1) -> list[Compared]:
    """Queries, keys and values (H, T, K) of the blocks up to `last`; one matrix of the file at a time is float32."""
    (file,) = PUBLISHED["smollm2"].files
    tensors = open_tensors(published("smollm2") / file)
    tokens = ChatTokens.of(tensors)
    ids = tokens.encode(sentence)
    pieces = [tokens.decode([number]).strip() for number in ids]
    x, found = tensors.read("token_embd.weight")[ids], []  # (T, D)
    for block in range(last + 1):
        name = f"blk.{block}"
        h = _norm(x, tensors.read(f"{name}.attn_norm.weight"))
        q, k, v = (_split(h @ tensors.read(f"{name}.attn_{part}.weight").T) for part in "qkv")  # (H, T, K)
        k, v = (np.repeat(part, GROUPS, axis=0) for part in (k, v))  # three heads share keys and values
        found.append(Compared(pieces, _turned(q), _turned(k), v))
        x = x + _block_adds(x, found[-1].weights() @ v, tensors, name)
    return found


def _block_adds(x: np.ndarray, heads: np.ndarray, tensors: TensorFile, name: str) -> np.ndarray:
    """What a block adds to the tokens x (T, D), from what its heads (H, T, K) fetched."""
    fetched = heads.swapaxes(0, 1).reshape(len(x), -1) @ tensors.read(f"{name}.attn_output.weight").T
    h = _norm(x + fetched, tensors.read(f"{name}.ffn_norm.weight"))
    gate, up = (h @ tensors.read(f"{name}.ffn_{part}.weight").T for part in ("gate", "up"))
    return fetched + (gate / (1 + np.exp(-gate)) * up) @ tensors.read(f"{name}.ffn_down.weight").T


def _norm(x: np.ndarray, gamma: np.ndarray) -> np.ndarray:
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + SMOLLM2_EPSILON) * gamma


def _split(x: np.ndarray) -> np.ndarray:
    return x.reshape(len(x), -1, SIZE).swapaxes(0, 1)


def _turned(x: np.ndarray) -> np.ndarray:
    """x (H, T, K), its pairs (2i, 2i + 1) turned by the positions."""
    angles = np.arange(x.shape[1])[:, None] / SMOLLM2_BASE ** (np.arange(0, SIZE, 2) / SIZE)
    pairs = (x[..., 0::2] + 1j * x[..., 1::2]) * np.exp(1j * angles)
    return np.stack([pairs.real, pairs.imag], axis=-1).reshape(x.shape).astype("float32")

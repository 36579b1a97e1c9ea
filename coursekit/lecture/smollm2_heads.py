"""What the heads of SmolLM2 compare on one sentence, read from its file block by block in NumPy (lecture 2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import softmax

from coursekit.data.published_models import PUBLISHED, is_here, published
from coursekit.data.tensor_files import open_tensors
from coursekit.lecture import recorded
from coursekit.lecture.pages.smollm2 import normed, turned
from coursekit.published import SMOLLM2, ChatTokens

HEADS, GROUPS = SMOLLM2["num_heads"], SMOLLM2["num_heads"] // SMOLLM2["num_kv_heads"]
SIZE = SMOLLM2["d_model"] // HEADS
PARTS = ("attn_norm", "attn_q", "attn_k", "attn_v", "attn_output", "ffn_norm", "ffn_gate", "ffn_up", "ffn_down")


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
        return softmax(np.where(np.tri(len(self.pieces), dtype=bool), scores, -1e9), axis=-1)


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
    """Queries, keys and values (H, T, K) of the blocks up to `last`; one block of the file at a time is float32."""
    (file,) = PUBLISHED["smollm2"].files
    tensors = open_tensors(published("smollm2") / file)
    tokens = ChatTokens.of(tensors)
    ids = tokens.encode(sentence)
    pieces = [tokens.decode([number]).strip() for number in ids]
    x, found = tensors.read("token_embd.weight")[ids][None], []  # (1, T, D)
    for number in range(last + 1):
        block = {part: tensors.read(f"blk.{number}.{part}.weight") for part in PARTS}
        q, k, v = project(block, normed(x, block["attn_norm"]))
        q, k, v = turned(q, start=0), copied(turned(k, start=0)), copied(v)
        found.append(Compared(pieces, q[0], k[0], v[0]))
        x = x + handed_on(block, (found[-1].weights() @ v[0])[None])
        x = x + feed_forward(block, x)
    return found


def project(block: dict[str, np.ndarray], x: np.ndarray) -> list[np.ndarray]:
    """x (B, T, D), already normed, to queries (B, 9, T, 64), keys and values (B, 3, T, 64); nothing is turned yet."""
    return [(x @ block[f"attn_{each}"].T).reshape(*x.shape[:2], -1, SIZE).swapaxes(1, 2) for each in "qkv"]


def copied(shared: np.ndarray) -> np.ndarray:
    """Keys or values (B, 3, T, 64) with a copy for each of the nine heads."""
    return np.repeat(shared, GROUPS, axis=1)


def handed_on(block: dict[str, np.ndarray], handed: np.ndarray) -> np.ndarray:
    """What all heads hand over, (B, 9, T, 64), through W_o: (B, T, D)."""
    merged = handed.swapaxes(1, 2).reshape(len(handed), handed.shape[2], -1)
    return merged @ block["attn_output"].T


def feed_forward(block: dict[str, np.ndarray], x: np.ndarray) -> np.ndarray:
    """What the second half of a block adds to x (B, T, D): SwiGLU."""
    gate, up = (normed(x, block["ffn_norm"]) @ block[name].T for name in ("ffn_gate", "ffn_up"))
    return (gate / (1 + np.exp(-gate)) * up) @ block["ffn_down"].T

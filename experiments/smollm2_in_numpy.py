"""SmolLM2 in NumPy, to classify texts by what it would write next: `news_with_minilm.py` asks it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from coursekit.data.published_models import PUBLISHED, published
from coursekit.data.tensor_files import open_tensors
from coursekit.published import SMOLLM2, SMOLLM2_BASE, SMOLLM2_EPSILON, ChatTokens

QUESTION = "Is this news item about {}? Answer with one of these words.\n\n{}"
Cache = list[tuple[np.ndarray, np.ndarray]]  # keys and values (H, S, K) of each block


class SmolLM2:
    """The published numbers, and what they say of the token behind a text."""

    def __init__(self) -> None:
        (file,) = PUBLISHED["smollm2"].files
        tensors = open_tensors(published("smollm2") / file)
        self.tokens = ChatTokens.of(tensors)
        self.numbers = {name: tensors.read(name) for name in tensors}
        self.groups = SMOLLM2["num_heads"] // SMOLLM2["num_kv_heads"]
        self.size = SMOLLM2["d_model"] // SMOLLM2["num_heads"]

    def _norm(self, x: np.ndarray, name: str) -> np.ndarray:
        return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + SMOLLM2_EPSILON) * self.numbers[f"{name}.weight"]

    def _rotated(self, x: np.ndarray, start: int) -> np.ndarray:
        """x (H, T, K), whose first row stands at the position `start`; pairs (2i, 2i + 1)."""
        angles = np.arange(start, start + x.shape[1])[:, None] / SMOLLM2_BASE ** (
            np.arange(0, self.size, 2) / self.size
        )
        cos, sin = np.cos(angles).astype("float32"), np.sin(angles).astype("float32")
        even, odd = x[..., 0::2], x[..., 1::2]
        return np.stack([even * cos - odd * sin, even * sin + odd * cos], axis=-1).reshape(x.shape)

    def __call__(self, ids: Sequence[int], cache: Cache | None = None) -> tuple[np.ndarray, Cache]:
        """The logits (V,) behind the last of the ids (T,), and the keys and values of all tokens so far."""
        x, kept = self.numbers["token_embd.weight"][list(ids)], []  # (T, D)
        for block in range(SMOLLM2["num_layers"]):
            name = f"blk.{block}"
            h = self._norm(x, f"{name}.attn_norm")
            q, k, v = (
                (h @ self.numbers[f"{name}.attn_{part}.weight"].T).reshape(len(h), -1, self.size).swapaxes(0, 1)
                for part in "qkv"
            )  # (H, T, K)
            before = cache[block][0].shape[1] if cache else 0
            q, k = self._rotated(q, before), self._rotated(k, before)
            if cache:
                k, v = (np.concatenate([old, new], axis=1) for old, new in zip(cache[block], (k, v), strict=True))
            kept.append((k, v))
            k, v = (np.repeat(part, self.groups, axis=0) for part in (k, v))
            scores = q @ k.swapaxes(1, 2) / self.size**0.5  # (H, T, S)
            scores += np.where(np.tri(len(h), k.shape[1], before, dtype=bool), 0, -1e9).astype("float32")
            weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
            heads = (weights / weights.sum(axis=-1, keepdims=True)) @ v
            x = x + heads.swapaxes(0, 1).reshape(len(h), -1) @ self.numbers[f"{name}.attn_output.weight"].T
            h = self._norm(x, f"{name}.ffn_norm")
            gate, up = (h @ self.numbers[f"{name}.ffn_{part}.weight"].T for part in ("gate", "up"))
            x = x + (gate / (1 + np.exp(-gate)) * up) @ self.numbers[f"{name}.ffn_down.weight"].T
        return self.numbers["token_embd.weight"] @ self._norm(x[-1], "output_norm"), kept


def classify(shown: Sequence[tuple[str, str]], texts: Sequence[str], names: Sequence[str]) -> list[np.ndarray]:
    """The class of each text, with no text shown before it, then with the shown ones: places in `names`, twice (N,).

    The answer is the class whose first token is the most probable of the four. What all prompts share is read once.
    """
    model = SmolLM2()
    listed = f"{', '.join(names[:-1])} or {names[-1]}"
    said = [(QUESTION.format(listed, text), name) for text, name in shown]
    firsts = [model.tokens.encode(name)[0] for name in names]
    found = []
    for turns in ([], said):
        prompts = [model.tokens.chat(QUESTION.format(listed, text), turns) for text in texts]
        same = min(len(prompt) for prompt in prompts) - 1
        while any(prompt[:same] != prompts[0][:same] for prompt in prompts):
            same -= 1
        _, cache = model(prompts[0][:same])
        answers = [model(prompt[same:], cache)[0][firsts].argmax() for prompt in prompts]
        found.append(np.array(answers))
        print(f"{len(turns)} texts shown, {same} tokens in common", flush=True)
    return found

"""The models that compute in a page: the programs of `site/` that write them, and the small BERT by its formulas."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import numpy as np
from programs import program
from scipy.special import erf, softmax

SITE = Path(__file__).resolve().parents[1] / "site"


def small_bert() -> ModuleType:
    """The program that writes the small BERT for the page."""
    return program("site/small_bert.py")


def library_model() -> ModuleType:
    """The program that trains the language model of the page."""
    return program("site/library_model.py")


def attention(ids: np.ndarray, weights: dict[str, np.ndarray], dtype: str, wrong: str = "") -> np.ndarray:
    """All attention weights (L, H, T, T) of the whole encoder, block by block, from its parameters alone.

    A pre-norm encoder (Xiong et al. 2020) with BERT's embeddings and tanh approximation of GELU (Hendrycks and Gimpel
    2016). `wrong` names one mistake in it.
    """
    w = {name: value.astype(dtype) for name, value in weights.items()}

    def normed(x: np.ndarray, name: str) -> np.ndarray:
        centred = x - x.mean(axis=-1, keepdims=True)
        spread = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + np.asarray(1e-6, dtype))
        return centred / spread * w[f"{name}/gamma"] + w[f"{name}/beta"]

    def projected(x: np.ndarray, name: str) -> np.ndarray:  # (H, T, K)
        bias = 0 if wrong == "no bias" else w[f"{name}/bias"][:, None]
        return np.stack([x @ w[f"{name}/kernel"][:, head] for head in range(w[f"{name}/bias"].shape[0])]) + bias

    def gelu(x: np.ndarray) -> np.ndarray:
        if wrong == "exact GELU":
            return x * (1 + erf(x / np.sqrt(2))) / 2
        return x * (1 + np.tanh(np.sqrt(2 / np.pi).astype(dtype) * (x + np.asarray(0.044715, dtype) * x**3))) / 2

    x = w["words/embeddings"][ids] + w["segments/embeddings"][0] + w["positions/table"][: len(ids)]
    x = normed(x, "embedding_norm")
    maps = []
    block = 0
    while f"norm_1_{block}/gamma" in w:
        y = x if wrong == "no norm" else normed(x, f"norm_1_{block}")
        q, k, v = (projected(y, f"attention_{block}/{part}") for part in ("query", "key", "value"))
        width = 1 if wrong == "no scale" else q.shape[-1]
        scores = q @ k.transpose(0, 2, 1) / np.sqrt(width).astype(dtype)
        maps.append(softmax(scores, axis=-2 if wrong == "over the queries" else -1))
        mixed = np.einsum("htk,hkd->td", maps[-1] @ v, w[f"attention_{block}/attention_output/kernel"])
        x = x + mixed + w[f"attention_{block}/attention_output/bias"]
        y = normed(x, f"norm_2_{block}")
        hidden = gelu(y @ w[f"hidden_{block}/kernel"] + w[f"hidden_{block}/bias"])
        x = x + hidden @ w[f"output_{block}/kernel"] + w[f"output_{block}/bias"]
        block += 1
    return np.stack(maps)

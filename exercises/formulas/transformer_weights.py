"""The weights of lab 08's Transformer: one of each kind, used wherever a weight of that kind is needed."""

from __future__ import annotations

import numpy as np

from exercises.formulas.decoder_block import Weights, head_width


def shapes(d_model: int, num_heads: int, d_ff: int, vocab_size: int) -> dict[str, tuple[int, ...]]:
    """Shapes of the kinds of weights in a Transformer, in the order in which the probe packs them."""
    width = head_width(d_model, num_heads)
    return {
        "embedding": (vocab_size, d_model),
        "projection.kernel": (d_model, num_heads, width),
        "projection.bias": (num_heads, width),
        "output.kernel": (num_heads, width, d_model),
        "in.kernel": (d_model, d_ff),
        "in.bias": (d_ff,),
        "out.kernel": (d_ff, d_model),
        "bias": (d_model,),
        "gamma": (d_model,),
        "beta": (d_model,),
    }


def spread(table: Weights) -> dict[str, np.ndarray]:
    """The weights of a block whose weights of one kind are all the same."""
    w = {key: table[key] for key in ("in.kernel", "in.bias", "out.kernel")} | {"out.bias": table["bias"]}
    for name in ("self", "cross"):
        for part in ("query", "key", "value"):
            w |= {f"{name}.{part}.{kind}": table[f"projection.{kind}"] for kind in ("kernel", "bias")}
        w |= {f"{name}.output.kernel": table["output.kernel"], f"{name}.output.bias": table["bias"]}
    for number in (1, 2, 3):
        w |= {f"norm{number}.{kind}": table[kind] for kind in ("gamma", "beta")}
    return w

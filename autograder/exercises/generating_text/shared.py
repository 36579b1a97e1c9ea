"""What several exercises of lab 08b share."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from coursekit.generator import Generator

from autograder.mistaken import generating_text as mistaken


def log_softmax(scores: np.ndarray) -> np.ndarray:
    shifted = scores - scores.max(-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))


def draw_table(rng: Generator, words: int, kind: str, *, rows: int = 23, end_id: int = 1, end: float = 0.0) -> np.ndarray:
    """Log-probabilities of the next token for a `table_step`; a large `end` makes the end id more probable."""
    scores = 1.5 * rng.normal(size=(words if kind == "last token" else rows, words))
    scores[:, end_id] += end
    return log_softmax(scores)


def search(
    rng: Generator, *, words: int = 5, kind: str = "all tokens", end: float = 0.0, max_length: int = 6, width: int | None = None, penalty: float | None = None, table: np.ndarray | None = None
) -> dict:
    start, end_id = rng.choice(words, size=2, replace=False)
    inputs: dict[str, Any] = {
        "table": draw_table(rng, words, kind, end_id=end_id, end=end) if table is None else table,
        "kind": kind,
        "start_id": int(start),
        "end_id": int(end_id),
        "max_length": max_length,
    }
    inputs |= {} if width is None else {"beam_width": width}
    return inputs | ({} if penalty is None else {"length_penalty": penalty})


def until(make: Callable[[], dict], accept: Callable[[dict], bool], tries: int = 5000) -> dict:
    """Draw inputs until they are accepted."""
    for _ in range(tries):
        inputs = make()
        if accept(inputs):
            return inputs
    raise RuntimeError("no inputs of the wanted kind were drawn")


def greedy(inputs: Mapping[str, Any], **flags: Any) -> str:
    wanted = {key: inputs[key] for key in ("table", "kind", "start_id", "end_id", "max_length")}
    return mistaken.greedy_decode(**wanted, **flags)["tokens"]

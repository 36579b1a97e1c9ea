"""What SmolLM2 loses when one of its 270 heads is switched off, and when several drawn by lot are.

    python experiments/reading_heads.py --data FOLDER

A row of 64 random tokens, said twice, and the first 128 tokens of a film review (IMDb's test split, Maas et al. 2011).
A head that is off hands over zero. Read are the nats of each token: of the first copy, of the second copy without its
first token, and of the review. What stands below the block of a head is computed once.
"""

from __future__ import annotations

import platform
import time
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from scipy.special import log_softmax

from coursekit import data
from coursekit.lecture import recorded
from coursekit.lecture.pages.smollm2 import PlainSmolLM2, attend, normed, numbers_and_tokens

NAME = "reading_heads"
BLOCKS, HEADS, HALF, SPECIAL = 30, 9, 64, 17
SETS, SIZES = 20, (4, 16)


def said_twice(seed: int, vocabulary: int) -> np.ndarray:
    """HALF random tokens, twice: (2 · HALF,)."""
    once = np.random.default_rng(seed).integers(SPECIAL, vocabulary, HALF)
    return np.concatenate([once, once])


def through(model: PlainSmolLM2, x: np.ndarray, first: int, last: int, off: Any = ()) -> np.ndarray:
    """States (B, T, D) before block `first` to those before block `last`, as `PlainSmolLM2` computes them."""
    for number in range(first, last):
        block = model.blocks[number]
        handed, _, _ = attend(normed(x, block["attn_norm"]), block)
        handed[:, [head for where, head in off if where == number]] = 0
        x = x + handed.swapaxes(1, 2).reshape(x.shape) @ block["attn_output"].T
        gate, up = (normed(x, block["ffn_norm"]) @ block[name].T for name in ("ffn_gate", "ffn_up"))
        x = x + (gate / (1 + np.exp(-gate)) * up) @ block["ffn_down"].T
    return x


def losses(model: PlainSmolLM2, rows: np.ndarray, last: np.ndarray) -> list[float]:
    """Nats a token: first copy, second copy, review; from the last states (2, T - 1, D) of the two rows."""
    log_p = log_softmax(normed(last, model.last_norm) @ model.table.T, axis=-1)
    noise, review = -np.take_along_axis(log_p, rows[:, 1:, None], axis=-1)[..., 0]  # (T - 1,) each
    return [round(float(part.mean()), 3) for part in (noise[: HALF - 1], noise[HALF:], review)]


def main(source: Annotated[Path | None, typer.Option("--data", help="Folder with the course's data.")] = None) -> None:
    started = time.process_time()
    _, (texts, _) = data.reviews("real", path=source)
    numbers, tokens = numbers_and_tokens()
    model = PlainSmolLM2(numbers)
    review = next(row for text in texts if len(row := tokens.encode(text)) >= 2 * HALF)
    rows = np.array([said_twice(0, len(model.table)), review[: 2 * HALF]])
    states = model.table[rows[:, :-1]]
    results: dict[str, Any] = {"whole": losses(model, rows, through(model, states, 0, BLOCKS)), "one off": []}
    print(results["whole"], flush=True)
    for block in range(BLOCKS):
        off = [through(model, states, block, BLOCKS, [(block, head)]) for head in range(HEADS)]
        results["one off"].append([losses(model, rows, last) for last in off])
        states = through(model, states, block, block + 1)
        print(block, results["one off"][-1], flush=True)
    rng, results["random sets"] = np.random.default_rng(0), {}
    for size in SIZES:
        drawn = [rng.choice(BLOCKS * HEADS, size, replace=False).tolist() for _ in range(SETS)]
        sets = [[divmod(head, HEADS) for head in each] for each in drawn]
        start = model.table[rows[:, :-1]]
        results["random sets"][str(size)] = [
            {"heads": off, "losses": losses(model, rows, through(model, start, 0, BLOCKS, off))} for off in sets
        ]
    recorded.save(
        NAME,
        what="Lecture 3b: SmolLM2 with one of its 270 heads switched off, and with sets of heads drawn by lot",
        data=f"{HALF} random tokens said twice; {2 * HALF} tokens of a film review of IMDb's test split",
        device=f"CPU, {platform.machine()}",
        command=f"python experiments/{NAME}.py --data FOLDER",
        seed=0,
        seconds=time.process_time() - started,
        results=results,
    )


if __name__ == "__main__":
    typer.run(main)

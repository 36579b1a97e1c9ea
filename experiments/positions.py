"""Train the memory models of lecture 5, five kinds of positions, and read them beyond their length.

    python experiments/positions.py --seeds 0,1,2

The models learn from 32 tokens and are read on 160; then again through windows of recent keys, with far keys beside
them, and with interpolated positions. The results go to `coursekit/lecture/recorded/positions.json`, seed by seed.
"""

from __future__ import annotations

import time

import keras
import numpy as np
import typer
from records import Record, Seeds, numbers

from coursekit.lecture import memory_task

NAME = "positions"
ALL: dict[str, dict[str, float]] = {"all keys": {}}
WINDOWS = ALL | {"last 32": {"window": 32}, "last 28, first 4": {"window": 28, "sinks": 4}}
VIEWS = {
    "none": WINDOWS,
    "learned": ALL,
    "sinusoidal": WINDOWS,
    "rotary": WINDOWS | {"all keys, positions / 5": {"stretch": 5.0}},
    "ALiBi": ALL,
}


def views_of(method: str, reader: keras.Model) -> dict[str, list[float]]:
    """For each view of the keys: shares of correct letters at positions 0-31, 32-63 and 64-159."""
    shares = {}
    for view, settings in VIEWS[method].items():
        correct = memory_task.correct_by_position(reader, **settings)  # (T,)
        shares[view] = [round(float(correct[part].mean()), 4) for part in (slice(32), slice(32, 64), slice(64, None))]
    return shares


def main(seeds: Seeds = "0,1,2") -> None:
    what = "Lecture 5: the last letter seen, trained on 32 tokens and read on 160; five kinds of positions"
    record = Record(NAME, what, "random letters")
    for seed in numbers(seeds):
        started = time.process_time()
        measured = {}
        for method in memory_task.METHODS:
            reader = memory_task.trained(method, seed)
            by_position = memory_task.correct_by_position(reader).reshape(-1, 8).mean(axis=1)  # (T/8,)
            measured[method] = {"by 8 positions": np.round(by_position, 4).tolist(), "views": views_of(method, reader)}
            print(seed, method, measured[method]["views"], flush=True)
        record.results = dict(sorted((record.results | {str(seed): measured}).items()))
        command = f"python experiments/{NAME}.py --seeds {','.join(record.results)}"
        record.add(time.process_time() - started, seed=seed, command=command)


if __name__ == "__main__":
    typer.run(main)

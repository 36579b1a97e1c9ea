"""Train the reader of lecture 2 with a soft or a sharp start and with small or large steps, each with several seeds.

    python experiments/reader_design.py

Soft and small together are the formula with its division by the root of d_k; sharp and large together are the formula
without it. The two other cells change one of the two at a time. A seed draws the embeddings, the matrices and the
order of the batches. `coursekit/lecture/recorded/reader_design.json` is written; the evidence of lecture 2 shows it.
"""

from __future__ import annotations

import time
from typing import Annotated

import numpy as np
import typer
from records import Out, Record

from coursekit.lecture import clauses, readers, recorded

NAME = "reader_design"


def sharpness(weights: np.ndarray) -> dict[str, float]:
    """Means over queries (M, T): the largest weight, and the Frobenius norm of the softmax's Jacobian."""
    jacobians = weights[:, :, None] * (np.eye(weights.shape[-1]) - weights[:, None, :])  # (M, T, T)
    norms = np.linalg.norm(jacobians, axis=(1, 2))
    return {"largest weight": round(float(weights.max(axis=-1).mean()), 3), "Jacobian": round(float(norms.mean()), 3)}


def measured(corpus: clauses.Corpus, run: readers.Run) -> dict:
    """What is kept of a run."""
    queries = corpus.labels[corpus.test] >= 0  # (N, T)
    on_clue, equal = readers.weight_on_clue(corpus, run)
    correct = run.correct[queries]
    return {
        "accuracy": round(run.accuracy, 4),
        "losses": [round(loss, 4) for loss in run.losses],
        "before": sharpness(run.start[queries]),
        "after": sharpness(run.weights[queries]),
        "weight on the clue": round(float(on_clue.mean()), 3),
        "equal weights": round(float(equal.mean()), 3),
        "correct, below 0.1 on the clue": round(float((on_clue[correct] < 0.1).mean()), 3),
    }


def main(
    out: Out = recorded.FOLDER,
    seeds: Annotated[int, typer.Option(help="How many seeds.")] = 3,
    epochs: Annotated[int, typer.Option(help="Epochs of each run.")] = 40,
) -> None:
    corpus, begun = clauses.corpus(), time.process_time()
    runs: dict[str, list[dict]] = {}
    for (start, step), (q, k) in readers.DESIGN.items():
        name = f"{start} start, {step} steps"
        runs[name] = [measured(corpus, readers.trained(corpus, q, k, seed, epochs)) for seed in range(seeds)]
        print(name, [run["accuracy"] for run in runs[name]], flush=True)
    record = Record(
        NAME,
        "One attention layer that reads ambiguous words: a soft or a sharp start, small or large steps, "
        f"{seeds} seeds of each, {epochs} epochs",
        "3,500 artificial sentences of coursekit/lecture/clauses.py, 3,000 to train on and 500 to test",
        out,
        command=f"python experiments/{NAME}.py --seeds {seeds} --epochs {epochs}",
    )
    record.results = {"epochs": epochs, "runs": runs}
    print(f"written: {record.save(time.process_time() - begun).name}")


if __name__ == "__main__":
    typer.run(main)

"""Train the reader of lecture 2 with a soft or a sharp start and with small or large steps, each with several seeds.

    python experiments/reader_design.py

Soft and small together are the formula with its division by the root of d_k; sharp and large together are the formula
without it. The two other cells change one of the two at a time. A seed draws the embeddings, the matrices and the
order of the batches. Each cell is trained at four rates, since steps that are large at one rate are small at another.
`coursekit/lecture/recorded/reader_design.json` is written; the evidence of lecture 2 shows it.
"""

from __future__ import annotations

import time
from typing import Annotated

import numpy as np
import typer
from records import Out, Record

from coursekit.lecture import clauses, readers, recorded

NAME = "reader_design"
RATE, OTHER_RATES = 1e-3, (1.25e-4, 3.5e-4, 3e-3)  # an eighth undoes steps that are eight times as large


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


def at_a_rate(accuracy: float, loss: float) -> dict[str, float]:
    return {"accuracy": round(accuracy, 4), "last loss": round(loss, 4)}


def main(
    out: Out = recorded.FOLDER,
    seeds: Annotated[int, typer.Option(help="How many seeds.")] = 3,
    epochs: Annotated[int, typer.Option(help="Epochs of each run.")] = 40,
    rates: Annotated[bool, typer.Option(help="Train at the other rates, too.")] = True,
) -> None:
    corpus, begun = clauses.corpus(), time.process_time()
    runs: dict[str, list[dict]] = {}
    by_rate: dict[str, dict[str, list[dict]]] = {}
    for (start, step), (q, k) in readers.DESIGN.items():
        name = f"{start} start, {step} steps"
        runs[name] = [measured(corpus, readers.trained(corpus, q, k, seed, epochs)) for seed in range(seeds)]
        print(name, [run["accuracy"] for run in runs[name]], flush=True)
        by_rate[name] = {str(RATE): [at_a_rate(run["accuracy"], run["losses"][-1]) for run in runs[name]]}
        for rate in OTHER_RATES if rates else ():
            found = [readers.trained(corpus, q, k, seed, epochs, rate) for seed in range(seeds)]
            by_rate[name][str(rate)] = [at_a_rate(run.accuracy, run.losses[-1]) for run in found]
            print(name, rate, by_rate[name][str(rate)], flush=True)
    record = Record(
        NAME,
        "One attention layer that reads ambiguous words: a soft or a sharp start, small or large steps, "
        f"{seeds} seeds of each, {epochs} epochs",
        "3,500 artificial sentences of coursekit/lecture/clauses.py, 3,000 to train on and 500 to test",
        out,
        command=f"python experiments/{NAME}.py --seeds {seeds} --epochs {epochs}{'' if rates else ' --no-rates'}",
    )
    record.results = {"epochs": epochs, "runs": runs, "by rate": by_rate}
    print(f"written: {record.save(time.process_time() - begun).name}")


if __name__ == "__main__":
    typer.run(main)

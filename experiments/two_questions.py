"""Train the models of two questions of lecture 3, five versions with five seeds, switch their heads off, and read them.

    python experiments/two_questions.py

With names of versions it trains these and leaves the rest of the record as it is. The results go to
`coursekit/lecture/recorded/two_questions.json`.
"""

from __future__ import annotations

import time
from typing import Annotated, Any

import numpy as np
import typer
from records import Record
from scipy.linalg import block_diag

from coursekit.lecture import two_questions as task

NAME = "two_questions"
SEEDS = range(5)
VERSIONS = {
    "one head": {"num_heads": 1, "key_dim": 16},
    "one wide head": {"num_heads": 1, "key_dim": 64},
    "two heads": {"num_heads": 2, "key_dim": 8},
    "four heads": {"num_heads": 4, "key_dim": 4},
    "one head, twice": {"num_heads": 1, "key_dim": 16, "depth": 2},
}
JOBS = {"above": ("position", "position"), "wanted": ("want", "name")}


def rounded(values: Any) -> Any:
    return np.round(np.asarray(values, dtype=float), 4).tolist()


def predicted_blocks(solver: task.Solver, test: task.Tables) -> dict[str, Any]:
    """Keep only the 6 × 6 block of scores that each head's job predicts, and answer again.

    A number added to a row of a block changes all scores of a query alike, since each token has exactly one position,
    one name and one want; one added to a column tells no two queries apart. So both means are taken away first.
    """
    centre = block_diag(*[np.eye(task.ROWS) - 1 / task.ROWS] * 3, 1)  # (19, 19)
    answers, shares = solver.past_the_attention(test), []
    for head in range(2):
        looks, copied = solver.circuits(head)
        centred = centre @ looks @ centre
        blocks = {job: tuple(task.KINDS[kind] for kind in kinds) for job, kinds in JOBS.items()}
        share = {job: float((centred[block] ** 2).sum() / (centred**2).sum()) for job, block in blocks.items()}
        job = max(share, key=lambda name: share[name])
        kept = np.zeros_like(looks)
        kept[blocks[job]] = centred[blocks[job]]
        answers = answers + task.attend_by(test.tokens, kept) @ (test.tokens @ copied)
        shares.append({"job": job, "share": round(share[job], 4), "number copied to": rounded(copied[18])})
    left = np.var(answers - test.answers, axis=(0, 1)) / np.var(test.answers, axis=(0, 1))
    return {"heads": shares, "unexplained": rounded(left)}


def measured(version: str, seed: int, test: task.Tables) -> dict[str, Any]:
    """Train one model and measure it."""
    sizes = VERSIONS[version]
    solver = task.Solver(seed=seed, **sizes)
    run: dict[str, Any] = {
        "parameters": solver.attention_parameters(),
        "unexplained": rounded(solver.unexplained(test)),
        "jobs": rounded(task.jobs(solver.weights(test), test)),
    }
    if version in ("two heads", "four heads"):
        run["without"] = {
            kind: rounded([solver.without(head, test, mean=mean) for head in range(sizes["num_heads"])])
            for kind, mean in {"zero": None, "mean": "all", "row mean": "row"}.items()
        }
    if version == "two heads":
        run["predicted blocks alone"] = predicted_blocks(solver, test)
    return run


app = typer.Typer(add_completion=False, help=__doc__)


@app.command(help=__doc__)
def main(versions: Annotated[list[str] | None, typer.Argument(help=f"Some of {', '.join(VERSIONS)}.")] = None) -> None:
    test = task.tables(1_000, seed=1)
    what = "Lecture 3: two questions per token, five versions, five seeds; heads switched off and read"
    record = Record(NAME, what, "random tables")
    for version in versions or VERSIONS:
        if version not in VERSIONS:
            raise typer.BadParameter(f"choose among {', '.join(VERSIONS)}", param_hint="VERSIONS")
        started = time.process_time()
        results = record.results | {version: [measured(version, seed, test) for seed in SEEDS]}
        record.results = {name: results[name] for name in VERSIONS if name in results}
        record.add(time.process_time() - started)
        print(version, [run["unexplained"] for run in results[version]], flush=True)


if __name__ == "__main__":
    app()

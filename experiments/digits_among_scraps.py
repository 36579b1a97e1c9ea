"""Does attention help the small network of lecture 1b to read a digit among scraps? Ten seeds with it and without.

    python experiments/digits_among_scraps.py

Each network is trained as the lecture's is, on the same 4,000 scenes, and reads the same 500. Without attention F1 and
F2 go to the classifier on the same paths, averaged with equal weights, with 36 channels in place of 32: about as many
parameters. What is recorded is not run again.
"""

from __future__ import annotations

import time

import numpy as np
import typer
from records import Out, Record, Seeds, numbers

from coursekit.lecture import digit_scenes, recorded

NAME = "digits_among_scraps"
FILTERS = {"attention": 32, "averages": 36}


def main(seeds: Seeds = "0,1,2,3,4,5,6,7,8,9", out: Out = recorded.FOLDER) -> None:
    """Train both kinds with each seed."""
    record = Record(
        NAME,
        "One digit among scraps (lecture 1b): the share read correctly, with two attention modules and with averages",
        "scenes of scikit-learn's digits, 4,000 to train and 500 to test",
        out,
        empty={"runs": []},
    )
    training, testing, _ = digit_scenes.split()
    labels, corners = testing.labels[:, 0], testing.corners[:, 0]
    for seed in numbers(seeds):
        for kind, filters in FILTERS.items():
            if record.has(kind=kind, seed=seed):
                continue
            begun = time.process_time()
            classifier, insides = digit_scenes.trained(kind, seed, training, filters)
            seen = digit_scenes.seen(insides, testing.images)
            correct = round(float(np.mean(seen["logits"].argmax(axis=-1) == labels)), 4)
            found = {"kind": kind, "seed": seed, "parameters": classifier.count_params(), "correct": correct}
            if kind == "attention":
                maps = {name: digit_scenes.to_pixels(seen[name][..., 0]) for name in ("a1", "a2")}
                found["in the box"] = {
                    name: round(digit_scenes.inside_box(each, corners), 4) for name, each in maps.items()
                }
            record.results["runs"].append(found)
            print(found, flush=True)
            record.add(time.process_time() - begun)


if __name__ == "__main__":
    typer.run(main)

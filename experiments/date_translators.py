"""Train translators of dates without and with attention, several seeds, and record which dates come out correctly.

    python experiments/date_translators.py

`coursekit/lecture/recorded/date_translators.json` is written after every run, and what it has is not run again. Lecture
1 shows it. Two controls without attention train for 40 epochs, one of them with twice the units.
"""

from __future__ import annotations

import time

import keras
import typer
from records import DEVICE, Out, Record

from coursekit.lecture import date_translators, recorded

NAME = "date_translators"
RUNS = [("with attention", True, 5, 32, seed) for seed in (1, 2, 3, 4)]
RUNS += [("without attention", False, 16, 32, seed) for seed in (1, 2, 3)]
RUNS += [(f"without attention, 40 epochs, {units} units", False, 40, units, 1) for units in (32, 64)]


def run(attention: bool, epochs: int, units: int, seed: int) -> dict:
    """Train one translator and test it; shares are by position in lines of one to four dates."""
    keras.utils.set_random_seed(seed)
    translator = date_translators.build(attention, units)
    losses = date_translators.train(translator, epochs)
    counts = (1, 2, 3, 4) if attention else (1, 2, 3)
    shares = date_translators.correct_dates(translator.model, counts)
    found = {"seed": seed, "epochs": epochs, "parameters": translator.model.count_params(), "losses": losses}
    found["correct"] = {str(count): [round(share, 3) for share in row] for count, row in shares.items()}
    if attention:
        found["weight on padding, mask left out"] = date_translators.weight_on_padding(translator)
    return found


def main(out: Out = recorded.FOLDER) -> None:
    record = Record(
        NAME,
        "Translators of dates without and with attention: the share of test dates written correctly, by their position "
        "in the line",
        "4,000 lines of one to three dates of `lecture.dates`; 200 test lines of each number of dates",
        out,
        device=DEVICE.replace("processor", "wall clock"),
        seed=1,
    )
    for name, *settings, seed in RUNS:
        runs = record.results.setdefault(name, [])
        if seed not in [each["seed"] for each in runs]:
            begun = time.monotonic()
            runs.append(run(*settings, seed))
            print(name, seed, runs[-1]["correct"], f"{time.monotonic() - begun:.0f} s", flush=True)
            record.add(time.monotonic() - begun)


if __name__ == "__main__":
    typer.run(main)

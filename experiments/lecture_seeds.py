"""Run the measured part of a lecture with other seeds, and record what its numbers become.

    python experiments/lecture_seeds.py 09b_many_images_and_video --seeds 2,3,4
    python experiments/lecture_seeds.py 09_vision_transformer --rate 0.001 --seeds 0,1

A lecture shows one run. What it says of that run has to hold for others, too: this program runs the lecture's own cells
again, each time with another seed in place of the lecture's, and another learning rate if one is given. It writes the
numbers that the text compares to `coursekit/lecture/recorded/lecture_seeds.json`.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import matplotlib as mpl
import nbformat
import numpy as np
import typer
from records import Record, Seeds, numbers

LECTURES = Path(__file__).resolve().parents[1] / "lectures"
NAME = "lecture_seeds"

app = typer.Typer(add_completion=False, help=__doc__)


@dataclass(frozen=True)
class Measured:
    """Which cells of a lecture are run, which seed and rate are replaced, and what is recorded after them."""

    seed: int  # the lecture's own
    last: str  # the id of the last cell to run
    numbers: dict[str, str]
    without: tuple[str, ...] = ()  # ids of cells that change nothing that is recorded: they take long, or show records
    rate: str = ""  # the lecture's own learning rate, as its code writes it; empty: it is not replaced
    at_rate: dict[str, str] = field(default_factory=dict)  # what is recorded at another rate


MEASURED = {
    "09_vision_transformer": Measured(
        seed=0,
        last="v9-moved-all",
        numbers={
            "test accuracy": "{name: answers.mean() for name, answers in right.items()}",
            "validation accuracy by epoch": "{name: h['val_accuracy'] for name, h in histories.items()}",
            "cosine of neighbours and of others": "alike",
            "moved by 2 pixels": "moved_by_two",
        },
        without=("v9-machine", "v9-swap", "v9-counted", "v9-shift-figure", "v9-seeds"),
        rate="rate=4e-3",
        at_rate={
            "test accuracy": "{name: answers.mean() for name, answers in right.items()}",
            "first above 97 %": "{n: 1 + np.argmax(np.array(h['val_accuracy']) > 0.97) for n, h in histories.items()}",
            "moved": "{way: dict(zip(('convnet', 'vit', 'vit, rows moved'), row)) for way, row in results.items()}",
        },
    ),
    "09b_many_images_and_video": Measured(
        seed=1,
        last="b9-grow",
        numbers={"larger": "read_larger"},
        without=("b9-machine", "b9-more", "b9-more-figure", "b9-scrambled-figure", "b9-built-in"),
    ),
}


def cells(lecture: str) -> list[nbformat.NotebookNode]:
    """The cells of a lecture that are run: Python only, so not the one that installs the course on Colab."""
    measured, all_cells = MEASURED[lecture], nbformat.read(LECTURES / f"{lecture}.ipynb", as_version=4).cells
    last = next(number for number, cell in enumerate(all_cells) if cell.id == measured.last)
    return [
        cell
        for cell in all_cells[: last + 1]
        if cell.cell_type == "code"
        and cell.id not in measured.without
        and "course-setup" not in cell.metadata.get("tags", [])
    ]


def run(lecture: str, seed: int, rate: float | None = None) -> dict[str, Any]:
    """Run the cells of a lecture with a seed, and a learning rate if one is given, and return its numbers.

    Raises:
        KeyError: nothing is declared for this lecture.
    """
    measured = MEASURED[lecture]
    names: dict[str, Any] = {"__name__": "__main__", "others": {}}  # a page shows other seeds beside its own
    for cell in cells(lecture):
        source = cell.source.replace(f"set_random_seed({measured.seed})", f"set_random_seed({seed})")
        if rate is not None:
            source = source.replace(measured.rate, f"rate={rate:g}")
        exec(compile(source, cell.id, "exec"), names)
    wanted = measured.numbers if rate is None else measured.at_rate
    return {name: _plain(eval(text, names)) for name, text in wanted.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_plain(each) for each in value]
    return round(float(value), 4)


@app.command(help=__doc__)
def main(
    lecture: Annotated[str, typer.Argument(help="The lecture, by its file's name: 09b_many_images_and_video.")],
    seeds: Seeds = "1,2,3,4",
    rate: Annotated[float | None, typer.Option(help="A learning rate in place of the lecture's.")] = None,
) -> None:
    if lecture not in MEASURED:
        raise typer.BadParameter(f"choose one of {', '.join(MEASURED)}", param_hint="LECTURE")
    if rate is not None and not MEASURED[lecture].rate:
        raise typer.BadParameter(f"no rate is replaced in {lecture}", param_hint="--rate")
    key = lecture if rate is None else f"{lecture} --rate {rate:g}"
    mpl.use("Agg")
    record = Record(
        NAME,
        "Lectures 9 and 9b with other seeds: the numbers that their texts compare",
        "made or shipped with the course, as in the lectures",
    )
    for seed in numbers(seeds):
        started = time.process_time()
        found = run(lecture, seed, rate)
        spent = time.process_time() - started
        record.results.setdefault(key, {})[str(seed)] = found
        commands = [
            f"python experiments/{NAME}.py {name} --seeds {','.join(sorted(runs))}"
            for name, runs in sorted(record.results.items())
            if name.partition(" --rate ")[0] in MEASURED  # what a page no longer measures has its commit in evidence/09
        ]
        record.add(spent, seed=seed, command=" and ".join(commands))
        print(f"{key}, seed {seed}: recorded after {spent:.0f} CPU seconds", flush=True)


if __name__ == "__main__":
    app()

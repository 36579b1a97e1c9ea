"""Repeats the cheapest run of each experiment and compares it with its record.

    python tools/experiments_check.py                     # make experiments-check
    python tools/experiments_check.py positions --data FOLDER

Each program runs in a copy of `coursekit` without records, so nothing in the repository changes. Compared are the
numbers that both records have; a run may differ from its record by the tolerance that the table states, because another
processor, or two threads in another order, round otherwise, and training carries that on.
"""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("COURSE_DATA", ROOT.parent / "shared" / "data"))
RECORDS = ROOT / "coursekit" / "recorded"
IDENTITY = ("dataset", "model", "kind", "images", "texts", "augmentation", "seed")  # what tells runs in a list apart


@dataclass(frozen=True)
class Check:
    """One short run.

    Attributes:
        program: of `experiments/`, without `.py`.
        arguments: without `--data`, which is added if the run needs a file.
        numbers: which of the record's numbers are compared, a pattern that their path begins with.
        tolerance: the largest absolute difference.
        needs: files in the folder of real data.
    """

    program: str
    arguments: tuple[str, ...]
    numbers: str
    tolerance: float
    needs: tuple[str, ...] = ()


AG_NEWS = ("ag_news/train_subset_10000.csv", "ag_news/test.csv")
CAPTIONS = tuple(
    f"translation/multi30k/{part}.{language}.gz"
    for part in ("train", "val", "test_2016_flickr")
    for language in ("en", "fr")
)
CHECKS = (
    Check("lsa_controls", (), r"\d+/", 0.005, AG_NEWS),
    Check("bert_ag_news", ("--models", "linear"), r"runs/.*/test", 0.005, AG_NEWS),
    Check("two_questions", ("one head",), r"one head/\d+/unexplained", 0.05),
    Check("date_alignment", ("--seeds", "1"), r"seeds/1/(lines|shares|equal)", 0.05),
    Check("decoder_leak", ("--seeds", "1", "--only", "mask"), r"1/mask/(losses|mask on)", 0.05),
    Check("positions", ("--seeds", "0"), r"0/.*/by 8 positions", 0.05),
    Check("caption_alignment", ("--seconds", "45"), r"validation loss", 0.5, CAPTIONS),
    Check("moving_digits", ("--seeds", "1"), r"runs/.*", 0.05),
    Check(
        "xray_attention",
        ("--seeds", "1"),
        r"runs/.*/(accuracy|AUC)$",
        0.05,
        ("chest_xray_pneumoniamnist/pneumoniamnist.npz",),
    ),
    Check("caption_model", ("--seeds", "1"), r"unseen", 0.05, CAPTIONS),
    Check("show_attend_tell", ("--seeds", "1"), r"runs/soft.*/exact$", 0.05),
    Check("lecture_seeds", ("09_vision_transformer", "--seeds", "1"), r".*/test accuracy", 0.03),
    Check("vit_against_convnet", ("--sizes", "500"), r"runs/.*/validation", 0.05, ("fashion_mnist/fashion_mnist.npz",)),
    Check("reader_design", ("--seeds", "1"), r"runs/.*/0/accuracy", 0.05),
    Check("encoder_block", ("parts",), r"parts/whole", 0.05),
)
WITHOUT = {  # program -> why no run of it is repeated
    "date_translators": "its only run takes 39 minutes",
    "imdb_by_film": "its shortest run reads and trains on all reviews",
    "imdb_classifier": "its shortest run reads and trains on all reviews",
    "imdb_controls": "its only run takes 13 minutes",
    "language_model": "one seed takes 7 minutes",
    "library_language_model": "its text is the library of Python 3.11.7",
    "multi30k": "one seed takes 26 minutes",
    "news_few_labels": "its only run takes 8 minutes",
    "recurrent_translation": "it scores with sacreBLEU, which the lock does not have",
    "small_bert": "its only run takes 28 minutes",
}


def numbers(value: Any, path: str = "") -> dict[str, float]:
    """The numbers of a record by path; an item of a list by what tells it apart, else by its place."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return {}
    if isinstance(value, (int, float)):
        return {path: float(value)}
    if isinstance(value, dict):
        items = [(key, item) for key, item in value.items()]
    else:
        items = [(_name(item) or str(place), item) for place, item in enumerate(value)]
    found: dict[str, float] = {}
    for name, item in items:
        found |= numbers(item, f"{path}/{name}" if path else name)
    return found


def _name(item: Any) -> str:
    """What tells a run of a list apart from the others; empty if it says neither kind nor model."""
    if not isinstance(item, dict) or not {"kind", "model"} & item.keys():
        return ""
    return ", ".join(f"{item[key]}" for key in IDENTITY if key in item)


def differences(found: Any, record: Any, pattern: str) -> dict[str, float]:
    """The absolute differences of the numbers that both have and whose path begins with `pattern`."""
    new, old = numbers(found), numbers(record)
    return {path: abs(new[path] - old[path]) for path in new if path in old and re.match(pattern, path)}


def repeated(check: Check, data: Path) -> dict[str, Any]:
    """Run the program in a copy of the repository that holds no record; return its new record.

    Raises RuntimeError, with the end of what the program printed, when it fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / "experiments", copy / "experiments", ignore=ignored)
        shutil.copytree(ROOT / "coursekit", copy / "coursekit", ignore=ignored)
        for record in (copy / "coursekit" / "recorded").glob("*.json"):
            record.unlink()
        for name in ("lectures", "data"):
            (copy / name).symlink_to(ROOT / name)
        command = [sys.executable, f"experiments/{check.program}.py", *check.arguments]
        if check.needs:
            command += ["--data", str(data)]
        environment = os.environ | {"PYTHONPATH": folder}
        done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError((done.stdout + done.stderr)[-1_000:])
        return json.loads((copy / "coursekit" / "recorded" / f"{check.program}.json").read_text(encoding="utf-8"))


def judged(check: Check, data: Path) -> tuple[bool, str]:
    """Whether the run agrees with its record, and the row of the table."""
    row = f"{check.program} {' '.join(check.arguments)}".strip()
    missing = [name for name in check.needs if not (data / name).is_file()]
    if missing:
        return True, f"| {row} | skipped: {data} has no {missing[0]} (data/README.md says where it comes from) |"
    began = _child_seconds()
    try:
        found = repeated(check, data)["results"]
    except RuntimeError as error:
        return False, f"| {row} | **failed** |\n{error}"
    seconds = _child_seconds() - began
    record = json.loads((RECORDS / f"{check.program}.json").read_text(encoding="utf-8"))["results"]
    compared = differences(found, record, check.numbers)
    if not compared:
        return False, f"| {row} | **failed**: no number of the run is in the record |"
    path, largest = max(compared.items(), key=lambda item: item[1])
    agrees = largest <= check.tolerance
    verdict = "agrees" if agrees else "**differs**"
    return agrees, (
        f"| {row} | {verdict} | {len(compared)} numbers | largest difference {largest:.4f} ({path}), tolerance "
        f"{check.tolerance} | {seconds:.0f} processor seconds |"
    )


def _child_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main(
    programs: Annotated[list[str] | None, typer.Argument(help="Only these programs.")] = None,
    data: Annotated[Path, typer.Option(help="Folder of real data, as data/README.md describes it.")] = DATA,
) -> None:
    agree = True
    for check in CHECKS:
        if not programs or check.program in programs:
            good, row = judged(check, data.resolve())
            agree &= good
            print(row, flush=True)
    for program, why in WITHOUT.items():
        if not programs or program in programs:
            print(f"| {program} | not repeated: {why} |")
    raise typer.Exit(0 if agree else 1)


if __name__ == "__main__":
    typer.run(main)

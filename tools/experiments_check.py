"""Repeats the cheapest run of each experiment and compares it with its record.

    python tools/experiments_check.py                     # make experiments-check
    python tools/experiments_check.py positions --data FOLDER
    python tools/experiments_check.py --table             # the table of experiments/README.md

Each program runs in a copy of `coursekit` without records, so nothing in the repository changes. Compared are the
numbers that both records have; a run may differ from its record by the tolerance that the table states, because another
processor, or two threads in another order, round otherwise, and training carries that on.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
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
RECORDS = ROOT / "coursekit" / "lecture" / "recorded"
# what tells runs in a list apart
IDENTITY = ("dataset", "model", "kind", "tubelet", "images", "texts", "augmentation", "rate", "seed")


@dataclass(frozen=True)
class Check:
    """One short run.

    Attributes:
        program: of `experiments/`, without `.py`.
        arguments: without `--data`, which is added if the run needs a file.
        numbers: which of the record's numbers are compared, a pattern that their path begins with.
        tolerance: the largest absolute difference.
        needs: files in the folder of real data.
        seconds: processor seconds that it took, on two cores; None if it was not tried.
        until: the run is stopped once its record has a number whose path begins with this pattern; "" runs it to its
            end.
        python: the version of Python that it needs, because its text comes with it.
    """

    program: str
    arguments: tuple[str, ...]
    numbers: str
    tolerance: float
    needs: tuple[str, ...] = ()
    seconds: int | None = None
    until: str = ""
    python: str = ""

    @property
    def row(self) -> str:
        """The program and its arguments, as they are typed."""
        return " ".join((self.program, *(f"'{each}'" if " " in each else each for each in self.arguments)))


EXACT = 0.0001  # counted, with as many digits as the record has
FITTED = 0.005  # a convex fit has one solution: by its rounding a few of some thousand texts change sides
TRAINED = 0.05  # training carries rounding on, to about what another seed changes
AG_NEWS = ("ag_news/train_subset_10000.csv", "ag_news/test.csv")
IMDB = tuple(f"imdb/imdb_{part}.csv.gz" for part in ("train", "test", "titles"))
ENGLISH, GERMAN, FRENCH = (
    tuple(f"translation/multi30k/{part}.{language}.gz" for part in ("train", "val", "test_2016_flickr"))
    for language in ("en", "de", "fr")
)
XRAYS = ("chest_xray_pneumoniamnist/pneumoniamnist.npz",)
FASHION = ("fashion_mnist/fashion_mnist.npz",)
CIFAR = ("cifar10/cifar10_jpegs.tar.gz",)
ONE_SEED = ("--seeds", "1")
CHECKS = (
    Check("lsa_controls", (), r"\d+/", FITTED, AG_NEWS, seconds=32),
    Check("bert_ag_news", ("--models", "linear"), r"runs/.*/test", FITTED, AG_NEWS, seconds=104),
    Check("news_few_labels", ("--kinds", "linear,LSA"), r"test/", FITTED, AG_NEWS, seconds=21),
    Check("news_with_minilm", ("--kinds", "counted"), r"real/test/words", FITTED, AG_NEWS, seconds=35),
    Check("imdb_classifier", (), r"films/.*/(?!cpu)", FITTED, IMDB, until="films/words alone, at random", seconds=18),
    Check("imdb_by_film", (), r"split|ladder/words/(?!.*seconds)", FITTED, IMDB, until="ladder/words/", seconds=27),
    Check("imdb_controls", (), r"split", EXACT, IMDB, until="answers/words/", seconds=18),
    Check(
        "language_model",
        (),
        r"vocabulary|training tokens|share|n-gram",
        EXACT,
        ENGLISH + GERMAN,
        until="n-gram",
        seconds=8,
    ),
    Check("library_language_model", ("counted",), r"text|counted/(?!runs)", EXACT, python="3.11.7", seconds=25),
    Check("library_counting", (), r".*", EXACT, python="3.11.7", seconds=137),
    Check(
        "assistant",
        ("tuned", *ONE_SEED),
        r"tuned/runs/0/(ended|parse|distinct)",
        TRAINED,
        until="tuned/runs/0/",
        python="3.11.7",
    ),
    Check("two_questions", ("one head",), r"one head/\d+/unexplained", TRAINED, seconds=27),
    Check("date_alignment", ONE_SEED, r"seeds/1/(lines|shares|equal)", TRAINED, seconds=47),
    Check(
        "date_translators",
        (),
        r"with attention/0/correct/[123]",
        TRAINED,
        until="with attention/0/correct/3",
        seconds=30,
    ),
    Check("decoder_leak", (*ONE_SEED, "--only", "mask"), r"1/mask/(losses|mask on)", TRAINED, seconds=61),
    Check("positions", ("--seeds", "0"), r"0/.*/by 8 positions", TRAINED, seconds=52),
    Check("caption_alignment", (), r"validation loss|(caption|twin)/weights", TRAINED, ENGLISH + FRENCH, seconds=134),
    Check("moving_digits", ONE_SEED, r"runs/.*", TRAINED, seconds=143),
    Check("xray_attention", ONE_SEED, r"runs/.*/(accuracy|AUC)$", TRAINED, XRAYS, seconds=128),
    Check("caption_model", ONE_SEED, r"unseen", TRAINED, ENGLISH + FRENCH, seconds=109),
    Check("show_attend_tell", ONE_SEED, r"runs/soft.*/exact$", TRAINED, seconds=187),
    Check("lecture_seeds", ("09_vision_transformer", *ONE_SEED), r".*/test accuracy", 0.03, seconds=76),
    Check("vit_against_convnet", ("--sizes", "500"), r"runs/.*/validation", TRAINED, FASHION, seconds=393),
    Check("built_in", ("--sizes", "500"), r"runs/.*/validation", TRAINED, CIFAR, seconds=118),
    Check(
        "tuned_on_cifar",
        ("--sizes", "500"),
        r"runs/.*convnet.*/validation",
        TRAINED,
        CIFAR,
        until="runs/cifar10, convnet, 500, 0.01, 0",
    ),
    Check("reader_design", (*ONE_SEED, "--no-rates"), r"runs/.*/0/accuracy", TRAINED, seconds=34),
    Check("encoder_block", ("parts",), r"parts/whole", TRAINED, seconds=243),
)
WITHOUT = {  # program -> why no run of it is repeated
    "caption_in_smollm2": "it trains nothing, and `tests/lecture/test_smollm2_heads.py` computes its numbers again",
    "how_a_model_writes": "it trains nothing and needs SmolLM2, whose logits `tests/data/test_published.py` compares",
    "library_scaling": "it needs JAX, which the lock does not have, and a GPU; evidence 10 compares six trainings",
    "multi30k": "one seed takes 26 minutes, and its record begins with what the trained model writes",
    "recurrent_translation": "it scores with sacreBLEU, which the lock does not have",
    "small_bert": "its only run takes 28 minutes, and ends in the weights that coursekit ships",
}


def table() -> str:
    """What is repeated of each program, for the page of the experiments."""
    rows = ["| run | tolerance | processor seconds |", "|---|---|---|"]
    for check in CHECKS:
        spent = "not tried" if check.seconds is None else check.seconds
        rows.append(f"| `{check.row}` | {check.tolerance} | {spent} |")
    rows += [f"| `{program}` | not repeated: {why} | |" for program, why in WITHOUT.items()]
    return "\n".join(rows) + "\n"


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
        for record in (copy / "coursekit" / "lecture" / "recorded").glob("*.json"):
            record.unlink()
        for name in ("lectures", "data"):
            (copy / name).symlink_to(ROOT / name)
        command = [sys.executable, f"experiments/{check.program}.py", *check.arguments]
        if check.needs:
            command += ["--data", str(data)]
        record, printed = copy / "coursekit" / "lecture" / "recorded" / f"{check.program}.json", copy / "printed.txt"
        with printed.open("wb") as output:
            process = subprocess.Popen(
                command, cwd=copy, env=os.environ | {"PYTHONPATH": folder}, stdout=output, stderr=subprocess.STDOUT
            )
            is_stopped = _stopped(process, record, check.until)
        if process.returncode and not is_stopped:
            raise RuntimeError(printed.read_text(encoding="utf-8", errors="replace")[-1_000:])
        return json.loads(record.read_text(encoding="utf-8"))


def _stopped(process: subprocess.Popen[bytes], record: Path, until: str) -> bool:
    """Wait for a program; end it as soon as its record has what is wanted, and say whether that was before its end."""
    while process.poll() is None:
        if until and record.is_file():
            found = numbers(json.loads(record.read_text(encoding="utf-8"))["results"])
            if any(re.match(until, path) for path in found):
                process.terminate()
                process.wait()
                return True
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.2)
    return False


def judged(check: Check, data: Path) -> tuple[bool, str]:
    """Whether the run agrees with its record, and the row of the table."""
    row = check.row
    if check.python not in ("", platform.python_version()):
        return True, f"| {row} | skipped: its text comes with Python {check.python} |"
    missing = [name for name in check.needs if not (data / name).is_file()]
    if missing:
        return True, f"| {row} | skipped: {data} has no {missing[0]} (data/README.md says where it comes from) |"
    print(f"{row} …", file=sys.stderr, flush=True)  # it takes minutes
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
    verdict = "equal" if not largest else "agrees" if agrees else "**differs**"
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
    rows: Annotated[
        bool, typer.Option("--table", help="Print the table of experiments/README.md, run nothing.")
    ] = False,
) -> None:
    if rows:
        print(table(), end="")
        raise typer.Exit
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

"""Grades the same submissions of lab 02 with nbgrader, otter-grader and this course, and with nothing but a fork.

    python benchmarks/grading.py                       a comparison, some minutes
    python benchmarks/grading.py --scale 10 100 1000   this course alone, on more and more submissions

Every tool is called as its users call it. What counts is the time of one more submission: the time for all of them
less the time for one, so that start-up, which is shown beside it, is nobody's advantage. The last line is JSON.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from autograder.sandbox.bubblewrap import environment

ROOT = Path(__file__).resolve().parents[1]
LAB = "02_self_attention"
SAMPLES = ("01-perfect", "02-typical-mistakes", "03-other-mistakes", "06-syntax-error")
OTTER = Path(tempfile.gettempdir()) / "otter-for-benchmark"
LOOK_SECONDS = 1.0  # to count the pages of a gigabyte takes tens of milliseconds, which are the graders'


@dataclass(frozen=True)
class Timing:
    """Seconds of a run on one submission and of a run on many, and the memory of the process tree at its peak."""

    one: float
    many: float
    count: int
    megabytes: float = 0.0

    @property
    def each(self) -> float:
        """Seconds of one more submission."""
        return (self.many - self.one) / (self.count - 1)


def submission(number: int) -> str:
    """The text of an honest notebook: one of several kinds in turn, different from those of all other numbers."""
    sample = ROOT / "exercises" / "samples" / LAB / SAMPLES[number % len(SAMPLES)] / f"{LAB}.ipynb"
    notebook = json.loads(sample.read_text("utf-8"))
    notebook["cells"].append({"cell_type": "markdown", "metadata": {}, "source": f"Submission {number}."})
    if notebook["nbformat_minor"] >= 5:
        notebook["cells"][-1]["id"] = f"number-{number}"
    return json.dumps(notebook)


def hand_in(folder: Path, count: int) -> Path:
    """Write `count` different submissions as <student>/<lab>/<lab>.ipynb."""
    for number in range(count):
        path = folder / f"student-{number:04}" / LAB / f"{LAB}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(submission(number), "utf-8")
    return folder


def run(words: list[object], folder: Path, settings: Mapping[str, str] | None = None) -> tuple[float, float]:
    """Run a command to its end; return its seconds and the megabytes of its process tree at the peak."""
    variables = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    variables |= {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1", **(settings or {})}
    begun = time.perf_counter()
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(list(map(str, words)), cwd=folder, env=variables, stdout=said, stderr=said)
        memory = _Peak(process.pid)
        code = process.wait()
        seconds = time.perf_counter() - begun
        if code:
            said.seek(0)
            raise RuntimeError(f"{words[0]} ended with {code}:\n{said.read().decode('utf-8', 'replace')[-3000:]}")
    return seconds, memory.stop()


class _Peak:
    """Watches the memory of a process tree; pages that processes share are counted once."""

    def __init__(self, pid: int):
        self.pid, self.peak, self.running = pid, 0, True
        self.thread = threading.Thread(target=self._watch)
        self.thread.start()

    def stop(self) -> float:
        self.running = False
        self.thread.join()
        return self.peak / 1e6

    def _watch(self) -> None:
        while self.running:
            held = 0
            with suppress(psutil.Error):
                root = psutil.Process(self.pid)
                for each in (root, *root.children(recursive=True)):
                    with suppress(psutil.Error):
                        full = each.memory_full_info()
                        held += getattr(full, "pss", full.uss)
            self.peak = max(self.peak, held)
            time.sleep(LOOK_SECONDS)


def make_course(folder: Path) -> Path:
    """A course of this project with lab 02."""
    folder.mkdir()
    for name in ("course.toml", "nbgrader_config.py"):
        shutil.copy(ROOT / name, folder)
    for part in (f"solutions/{LAB}", f"labs/{LAB}", "exercises"):
        shutil.copytree(ROOT / part, folder / part)
    return folder


def ours(workers: int) -> Callable[[Path, Path], tuple[float, float]]:
    """`course grade`."""

    def grade(folder: Path, submitted: Path) -> tuple[float, float]:
        return run(["course", "grade", LAB, submitted, "--workers", workers], make_course(folder))

    return grade


def nbgrader(folder: Path, submitted: Path) -> tuple[float, float]:
    """`nbgrader autograde` with nothing configured but the course's folder."""
    folder.mkdir()
    config = f"c = get_config()\nc.CourseDirectory.root = {str(folder)!r}\nc.CourseDirectory.course_id = 'stock'\n"
    (folder / "nbgrader_config.py").write_text(config)
    shutil.copytree(ROOT / "solutions" / LAB, folder / "source" / LAB, ignore=shutil.ignore_patterns("*.py"))
    for student in submitted.iterdir():
        shutil.copytree(student, folder / "submitted" / student.name)
    run(["nbgrader", "generate_assignment", LAB], folder)
    return run(["nbgrader", "autograde", LAB], folder)


def otter(folder: Path, submitted: Path) -> tuple[float, float]:
    """`otter run` for each submission, as its documentation says for grading without containers."""
    folder.mkdir()
    (folder / "tests").mkdir()
    (folder / "out").mkdir()
    released = json.loads((ROOT / "labs" / LAB / f"{LAB}.ipynb").read_text("utf-8"))
    for cell in released["cells"]:
        details = cell["metadata"].get("nbgrader", {})
        if details.get("grade") and details["points"]:
            (folder / "tests" / f"{details['grade_id']}.py").write_text(_otter_test(details))
    program = OTTER / "bin" / "otter"
    run([program, "generate", "-t", "tests", "-o", "autograder.zip"], folder)
    total = peak = 0.0
    for notebook in sorted(submitted.rglob("*.ipynb")):
        seconds, megabytes = run([program, "run", "-a", "autograder.zip", "-o", folder / "out", notebook], folder)
        total, peak = total + seconds, max(peak, megabytes)
    return total, peak


def _otter_test(details: dict) -> str:
    code = f">>> check.report({details['grade_id']!r}, globals()).judgement.passed\nTrue"
    case = {"code": code, "hidden": False, "locked": False}
    suite = {"cases": [case], "scored": True, "setup": "", "teardown": "", "type": "doctest"}
    return f"test = {{'name': {details['grade_id']!r}, 'points': {details['points']}, 'suites': [{suite!r}]}}\n"


def prepare_otter() -> str | None:
    """Install otter-grader into an environment of its own that sees this one's TensorFlow; return why not."""
    if (OTTER / "bin" / "otter").exists():
        return None
    here = next(path for path in sys.path if path.endswith("site-packages"))
    try:
        subprocess.run([sys.executable, "-m", "venv", OTTER], check=True, capture_output=True)
        found = next((OTTER / "lib").glob("python*/site-packages"))
        # After its own packages, so that it has the versions that it asks for and TensorFlow is not there twice.
        (found / "z-this-course.pth").write_text(f"{here}\n{ROOT}\n")
        subprocess.run(
            [OTTER / "bin" / "python", "-m", "pip", "install", "--quiet", "otter-grader"],
            check=True, capture_output=True, text=True,
        )  # fmt: skip
    except (subprocess.CalledProcessError, StopIteration, OSError) as error:
        shutil.rmtree(OTTER, ignore_errors=True)
        return str(getattr(error, "stderr", "") or error).strip()[-300:]
    return None


def floor(folder: Path, submitted: Path) -> tuple[float, float]:
    """The least that running takes: TensorFlow imported once, a fork for each submission, no wall and no comparison."""
    folder.mkdir()
    libraries = {name: value for name, value in environment().items() if name.startswith(("OMP", "ONE", "OPEN", "TF"))}
    return run([sys.executable, __file__, "--floor", submitted], folder, libraries)  # set as they are for the grader


def run_floor(submitted: Path) -> None:
    """Fork for each notebook and run there the cells that grading runs, and each exercise on as many cases."""
    import keras  # noqa: F401
    import matplotlib.pyplot  # noqa: F401
    import tensorflow  # noqa: F401
    from IPython.core.interactiveshell import InteractiveShell

    from coursekit.check.lab import load_reference, run_cases

    shell = InteractiveShell.instance()
    shell.history_manager.enabled = False
    shell.showtraceback = lambda *_, **__: None
    gc.collect()
    gc.freeze()  # else each child's garbage collection copies every page
    for path in sorted(submitted.rglob("*.ipynb")):
        if child := os.fork():
            if os.waitpid(child, 0)[1]:
                raise RuntimeError(f"{path} was not run to its end")
            continue
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
        for cell in json.loads(path.read_text("utf-8"))["cells"]:
            source = "".join(cell["source"])
            graded = cell["metadata"].get("nbgrader", {})
            shown_only = "demonstration" in cell["metadata"].get("tags", ()) or graded.get("grade_id") == "picture"
            if cell["cell_type"] == "code" and not shown_only and not graded.get("grade"):
                shell.run_cell(source)
            elif graded.get("grade") and cell["cell_type"] == "code":
                name, reference = graded["grade_id"], load_reference(LAB)
                run_cases(LAB, name, reference.expectations[name], shell.user_ns, reference.specs[name].probe)
        os._exit(0)


def measure(grade: Callable[[Path, Path], tuple[float, float]], workplace: Path, count: int) -> Timing:
    """Grade one submission, then `count`."""
    seconds = []
    for number in (1, count):
        folder = Path(tempfile.mkdtemp(dir=workplace))
        taken, megabytes = grade(folder / "course", hand_in(folder / "handed-in", number))
        seconds.append(taken)
        shutil.rmtree(folder, ignore_errors=True)
    return Timing(*seconds, count, megabytes)


def show(name: str, timing: Timing, yardstick: float | None = None) -> None:
    compared = f"{yardstick / timing.each:8.1f} ×" if yardstick else " " * 10
    print(
        f"{name:<28}{timing.one:12.1f} s{timing.each:14.2f} s{60 / timing.each:14.0f} {compared}"
        f"{timing.megabytes:10.0f} MB",
        flush=True,
    )


def compare(count: int, few: int, workplace: Path) -> dict[str, float | int | None]:
    """Measure every tool and print a line for each."""
    print(f"{count} submissions of {LAB}; {few} for nbgrader and otter-grader, whose time is the same for each.\n")
    print(f"{'':<28}{'first one':>14}{'each more':>16}{'per minute':>15} {'':>9}{'memory':>13}")
    stock = measure(nbgrader, workplace, few)
    show("nbgrader autograde", stock, stock.each)
    other = None
    if reason := prepare_otter():
        print(f"otter-grader is skipped: {reason}")
    else:
        try:
            other = measure(otter, workplace, few)
            show("otter run", other, stock.each)
        except RuntimeError as error:
            print(f"otter-grader is skipped: {error}")
    one = measure(ours(1), workplace, count)
    show("course grade, 1 worker", one, stock.each)
    two = measure(ours(2), workplace, count)
    show("course grade, 2 workers", two, stock.each)
    least = measure(floor, workplace, count)
    show("floor: fork and run, 1 by 1", least, stock.each)
    return {
        "vs_nbgrader": round(stock.each / two.each, 2),
        "vs_otter": round(other.each / two.each, 2) if other else None,
        "vs_floor": round(one.each / least.each, 3),
        "memory_mb": round(two.megabytes),
        "submissions": count,
        "first_verdict_s": round(two.one, 2),
    }


def scale(counts: list[int], workplace: Path) -> dict[str, object]:
    """Grade more and more submissions with two workers: time and memory for each more must not grow.

    What one more takes is the difference to a run on a single submission, divided by the number of the others.
    """
    print(f"{'submissions':>12}{'time':>12}{'memory':>12}{'time each':>14}{'memory each':>15}")
    rows: list[dict[str, float]] = []
    for count in (1, *counts):
        folder = Path(tempfile.mkdtemp(dir=workplace))
        seconds, megabytes = ours(2)(folder / "course", hand_in(folder / "handed-in", count))
        shutil.rmtree(folder, ignore_errors=True)
        row = {"submissions": count, "seconds": round(seconds, 1), "memory_mb": round(megabytes)}
        shown = ""
        if rows and count > 1:
            row["seconds_each"] = round((seconds - rows[0]["seconds"]) / (count - 1), 3)
            row["memory_mb_each"] = round((megabytes - rows[0]["memory_mb"]) / (count - 1), 3)
            shown = f"{row['seconds_each']:12.3f} s{row['memory_mb_each']:12.3f} MB"
        rows.append(row)
        print(f"{count:12}{seconds:10.1f} s{megabytes:9.0f} MB{shown}", flush=True)
    return {"scale": rows, "submissions": counts[-1], "memory_mb": rows[-1]["memory_mb"]}


def main() -> None:
    """Read the command line, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--submissions", type=int, default=24, help="for this course and the floor (24)")
    parser.add_argument("--few", type=int, default=4, help="for nbgrader and otter-grader (4)")
    parser.add_argument("--scale", type=int, nargs="+", metavar="N", help="only this course, on N submissions each")
    parser.add_argument("--floor", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.floor:
        run_floor(arguments.floor)
        return
    if min(arguments.submissions, arguments.few) < 2:
        parser.error("a comparison takes at least two submissions")
    with tempfile.TemporaryDirectory(prefix="grading-benchmark-") as workplace:
        if arguments.scale:
            result = scale(arguments.scale, Path(workplace))
        else:
            result = compare(arguments.submissions, arguments.few, Path(workplace))
    print(json.dumps(result))


if __name__ == "__main__":
    main()

"""What a cluster costs: the throughput of two workers, the client's memory, many slots, and the gradebook's writer.

    python benchmarks/cluster.py                                  all of it in full size, about an hour
    python benchmarks/cluster.py --submissions 24 --only two      one part, smaller

two      two single-slot Dask workers against `course grade --workers 2`, on the same submissions, in turn
memory   the client's memory on more and more submissions
slots    a stand-in for the sandbox sleeps 0.2 s for each submission: the share of the ideal throughput
writer   records a second that the gradebook's writer takes, on SQLite and on PostgreSQL

The last line is JSON, with the size of each part.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from grading import LAB, ROOT, hand_in, make_course, run

sys.path.insert(0, str(ROOT / "tests"))
from cluster_processes import Processes
from postgres_server import programs, running

from autograder.course.settings import load_course
from autograder.grade.gradebook import GradebookWriter
from autograder.grade.lab_grader import LabGrader, content_hash
from autograder.grade.results import ExerciseResult, LabResult
from autograder.integrations.cluster.client import Cluster
from autograder.read import find_submissions

SLEEP = 0.2
NO_PROFILE = {"DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "false"}  # as in docker/compose.cluster.yaml
PARTS = ("two", "memory", "slots", "writer")


def two(count: int, folder: Path) -> dict[str, object]:
    """Seconds for each further submission, here with two workers and on a cluster of two."""
    course = make_course(folder / "course")
    few, many = hand_in(folder / "one", 1), hand_in(folder / "many", count)
    seconds: dict[str, float] = {}
    with Processes(folder / "cluster") as processes:
        for name in ("first", "second"):
            processes.start_worker(name, stand_in=False)
        for way, words in {"cluster": ["--cluster", processes.address], "workers": ["--workers", 2]}.items():
            for submitted in (few, few, many):  # the first warms up, here and there
                out = ["--out", folder / way, "--db", f"sqlite:///{folder}/{way}.db", "--again"]
                seconds[f"{way} {submitted.name}"], _ = run(["course", "grade", LAB, submitted, *words, *out], course)
    each = {way: (seconds[f"{way} many"] - seconds[f"{way} one"]) / (count - 1) for way in ("cluster", "workers")}
    ratio = each["workers"] / each["cluster"]
    print(f"two workers: cluster {each['cluster']:.3f} s, --workers 2 {each['workers']:.3f} s each: {ratio:.2f}")
    return {"submissions": count, **{way: round(value, 3) for way, value in each.items()}, "ratio": round(ratio, 3)}


def memory(counts: list[int], folder: Path) -> dict[str, object]:
    """Megabytes that the client held at its peak, in a process of its own."""
    rows = {}
    with Processes(folder / "cluster", settings={"COURSE_STAND_IN_SECONDS": "0"}) as processes:
        for number in range(2):
            processes.start_worker(f"worker-{number}", threads=4)
        for count in counts:
            submitted = hand_in(folder / f"handed-in-{count}", count)
            words = [sys.executable, __file__, "--client", processes.address, str(submitted)]
            done = subprocess.run(words, capture_output=True, text=True, check=True)
            rows[count] = json.loads(done.stdout.splitlines()[-1])
            print(f"client: {count} submissions, {rows[count]['megabytes']:.0f} MB, {rows[count]['seconds']:.1f} s")
    return {str(count): row for count, row in rows.items()}


def client(address: str, submitted: Path) -> dict[str, float]:
    """Let the cluster grade everybody; what the client needed for it."""
    grader = LabGrader(load_course(ROOT), LAB, seed=7)
    found = find_submissions([submitted], LAB, grader.known).submissions
    first = last = 0.0
    verdicts = 0
    for batch in Cluster(address, tell=print).grade_all(grader, found):
        last = time.monotonic()
        first = first or last
        verdicts += sum(isinstance(each, LabResult) for each in batch)
    assert verdicts == len(found), f"{verdicts} verdicts on {len(found)} submissions"
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"megabytes": round(peak, 1), "seconds": round(last - first + SLEEP, 2)}


def slots(count: int, workers: int, threads: int, folder: Path) -> dict[str, object]:
    """The share of the ideal throughput, from the first submission that is sent to the last verdict."""
    with Processes(folder / "cluster", settings=NO_PROFILE | {"COURSE_STAND_IN_SECONDS": str(SLEEP)}) as processes:
        for number in range(workers):
            processes.start_worker(f"worker-{number}", threads=threads)
        time.sleep(20)  # so that all of them are ready before the first is
        submitted = hand_in(folder / "handed-in", count)
        words = [sys.executable, __file__, "--client", processes.address, str(submitted)]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
    seconds = json.loads(done.stdout.splitlines()[-1])["seconds"]
    ideal = count * SLEEP / (workers * threads)
    print(f"{count} over {workers * threads} slots: {seconds:.1f} s, ideally {ideal:.1f} s: {ideal / seconds:.3f}")
    return {"submissions": count, "slots": workers * threads, "seconds": seconds, "share": round(ideal / seconds, 3)}


def writer(count: int, folder: Path) -> dict[str, object]:
    """Records a second, in batches as they come from a busy cluster."""
    course = load_course(make_course(folder / "course"))
    grader = LabGrader(course, LAB, seed=7)
    exercises = tuple(ExerciseResult(name, points, points, "graded") for name, points in grader.points.items())
    one = LabResult("", LAB, exercises, notebook=grader.release, grader_version=grader.version)
    results = [
        replace(one, student=f"student-{number:05}", content_hash=content_hash(b"%d" % number))
        for number in range(count)
    ]

    def rate(db_url: str) -> float:
        with GradebookWriter(db_url, course) as gradebook:
            gradebook.record(results[:1])
            begun = time.perf_counter()
            gradebook.record(results)
            return count / (time.perf_counter() - begun)

    rates: dict[str, object] = {"records": count, "sqlite": round(rate(f"sqlite:///{folder / 'gradebook.db'}"))}
    where = programs()
    if where is not None:
        with running(where) as server:
            rates["postgresql"] = round(rate(server.url))
    print(", ".join(f"{name}: {value}" for name, value in rates.items()), "a second")
    return rates


def main() -> None:
    """Read the command line, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--submissions", type=int, default=1000, help="for part two (1000)")
    parser.add_argument("--memory", type=int, nargs="+", default=[100, 1000, 10_000], metavar="N")
    parser.add_argument("--slots", type=int, nargs=3, default=[10_000, 4, 16], metavar=("N", "WORKERS", "THREADS"))
    parser.add_argument("--records", type=int, default=3000, help="for part writer (3000)")
    parser.add_argument("--client", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.client:
        print(json.dumps(client(arguments.client[0], Path(arguments.client[1]))))
        return
    measured: dict[str, Callable[[Path], dict[str, object]]] = {
        "two": lambda folder: two(arguments.submissions, folder),
        "memory": lambda folder: memory(arguments.memory, folder),
        "slots": lambda folder: slots(*arguments.slots, folder),
        "writer": lambda folder: writer(arguments.records, folder),
    }
    found = {}
    for part in arguments.only:
        with tempfile.TemporaryDirectory(prefix="cluster-benchmark-") as folder:
            found[part] = measured[part](Path(folder))
    print(json.dumps(found))


if __name__ == "__main__":
    main()

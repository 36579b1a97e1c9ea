"""What a class server needs when a class of students signs in, fetches, works and submits in the same minute.

    python benchmarks/class_server.py                 30 students
    python benchmarks/class_server.py --students 10

It runs as root: it makes Unix accounts, and removes them at its end. Everybody does a step at the same time; the next
step begins when all are done. Memory is what a process alone holds and its share of what it holds with others. The
last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import pwd
import statistics
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
import class_server
from class_server import COURSE, LAB, OWNER, PREFIX, ClassServer, Visitor, wait_for

ASSIGNMENT = {"course_id": COURSE, "assignment_id": LAB}
SLOWEST = 600  # seconds for one step


def feedback(student: Visitor) -> None:
    """Ask for the feedback until it is there."""

    def there() -> bool:
        student.post("assignments/fetch_feedback", data=ASSIGNMENT)
        folders = student.get(f"api/contents/{LAB}/feedback")
        return folders.ok and student.get(f"api/contents/{folders.json()['content'][-1]['path']}/{LAB}.html").ok

    wait_for(there, "feedback", SLOWEST, pause=3)


def memory(names: list[str], what: str) -> list[float]:
    """MB of each process of these accounts whose command line holds `what`."""
    numbers = {pwd.getpwnam(name).pw_uid for name in names}
    found = []
    for process in psutil.process_iter():
        try:
            if process.uids().real in numbers and what in " ".join(process.cmdline()):
                found.append(process.memory_full_info().pss / 1e6)
        except psutil.Error:
            continue
    return found


def all_at_once(what: str, work: Callable[[Visitor], object], students: list[Visitor]) -> dict[str, float]:
    """Let all students do `work` at the same time; the seconds of the median one, and of the last."""

    def timed(student: Visitor) -> float:
        start = time.monotonic()
        work(student)
        return time.monotonic() - start

    with ThreadPoolExecutor(len(students)) as pool:
        seconds = list(pool.map(timed, students))
    result = {"median": round(statistics.median(seconds), 1), "last": round(max(seconds), 1)}
    print(f"{what}: {result['median']} s in the middle, {result['last']} s for the last", flush=True)
    return result


def checked(answer) -> None:
    assert answer.json()["success"], answer.text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--students", type=int, default=30)
    count = parser.parse_args().students
    if why := class_server.missing():
        sys.exit(f"class_server.py {why}")
    class_server.PATIENCE = SLOWEST
    server = ClassServer()
    try:
        server.start()
        names = [f"{PREFIX}{number:02d}" for number in range(count)]
        passwords = server.add([*((name, "student") for name in names), (f"{PREFIX}prof", "instructor")])
        prof = Visitor(server, f"{PREFIX}prof", passwords.pop(f"{PREFIX}prof"))
        students = [Visitor(server, name, passwords[name]) for name in names]
        assert prof.sign_in()
        formgrader = prof.at(OWNER)
        formgrader.start()
        checked(formgrader.post(f"formgrader/api/assignment/{LAB}/release"))
        seconds = {
            "sign in": all_at_once("sign in", Visitor.sign_in, students),
            "server starts": all_at_once("server starts", Visitor.start, students),
            "fetch": all_at_once(
                "fetch", lambda each: checked(each.post("assignments/fetch", data=ASSIGNMENT)), students
            ),
            "kernel starts": all_at_once("kernel starts", lambda each: each.run("print(1)"), students),
        }
        held = {
            "server": memory(names, "singleuser"),
            "kernel": memory(names, "ipykernel_launcher"),
        }
        students[0].run("import numpy, tensorflow, keras; keras.layers.Dense(2)(numpy.ones((1, 2)))")
        held["kernel with TensorFlow"] = [max(memory(names[:1], "ipykernel_launcher"))]
        seconds["submit"] = all_at_once(
            "submit", lambda each: checked(each.post("assignments/submit", data=ASSIGNMENT)), students
        )
        seconds["feedback"] = all_at_once("feedback", feedback, students)
    finally:
        server.stop()
    megabytes = {name: round(statistics.median(values)) for name, values in held.items()}
    print(f"MB: {megabytes}")
    machine = {"cores": os.cpu_count(), "gb": round(psutil.virtual_memory().total / 1e9)}
    print(json.dumps({"students": count, "seconds": seconds, "mb": megabytes, **machine}))


if __name__ == "__main__":
    main()

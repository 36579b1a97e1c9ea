"""Hands submissions of lab 02 into an exchange, evenly over some minutes, while `course watch` grades them.

    python benchmarks/watch.py                              500 submissions in ten minutes
    python benchmarks/watch.py --count 50 --minutes 1       the same rate, shorter

Prints how many were graded and answered, and the seconds from handing in to feedback. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from grading import LAB, ROOT, submission
from nbgrader.utils import notebook_hash


def copy_of_the_course(folder: Path) -> Path:
    """The files under version control, elsewhere: watching writes into the course's folder."""
    course = folder / "course"
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout.decode()
    for name in filter(None, names.split("\0")):
        if (ROOT / name).is_file():
            (course / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, course / name)
    return course


def hand_in(inbound: Path, number: int) -> Path:
    """Put one submission into the exchange as nbgrader does; return where its feedback will be."""
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S.%f UTC")
    secret = f"secret-{number}"
    coming = inbound.parent / f"coming-{number}"
    coming.mkdir()
    (coming / f"{LAB}.ipynb").write_text(submission(number))
    (coming / "timestamp.txt").write_text(now)
    (coming / "submission_secret.txt").write_text(secret)
    coming.rename(inbound / f"student{number:04d}+{LAB}+{now}+{number}")
    return inbound.parent / "feedback" / f"{notebook_hash(secret=secret, notebook_id=LAB)}.html"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--workers", type=int, default=2)
    chosen = parser.parse_args()

    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        course, exchange = copy_of_the_course(folder), folder / "exchange"
        inbound = exchange / "transformers" / "inbound"
        inbound.mkdir(parents=True)
        environment = os.environ | {"NBGRADER_EXCHANGE": str(exchange), "PYTHONPATH": str(course)}
        call = [sys.executable, "-m", "autograder.cli", "watch", LAB, "--workers", str(chosen.workers)]
        with (folder / "log").open("w") as log:
            watcher = subprocess.Popen(call, cwd=course, env=environment, stdout=log, stderr=log)
            begin = time.monotonic()
            wanted: dict[Path, float] = {}
            seconds: list[float] = []
            number = 0
            try:
                while number < chosen.count or wanted:
                    now = time.monotonic()
                    if number < chosen.count and now - begin >= number * 60 * chosen.minutes / chosen.count:
                        wanted[hand_in(inbound, number)] = now
                        number += 1
                    for page in [page for page in wanted if page.exists()]:
                        seconds.append(time.monotonic() - wanted.pop(page))
                    if watcher.poll() is not None or now - begin > 60 * chosen.minutes + 600:
                        break
                    time.sleep(0.05)
            finally:
                watcher.send_signal(signal.SIGTERM)
                watcher.wait()
        print((folder / "log").read_text()[-600:])
    seconds.sort()
    result = {
        "handed in": number,
        "answered": len(seconds),
        "median s": round(seconds[len(seconds) // 2], 1) if seconds else None,
        "longest s": round(seconds[-1], 1) if seconds else None,
        "all s": round(time.monotonic() - begin, 1),
    }
    for name, value in result.items():
        print(f"{name:12}{value}")
    print(json.dumps(result))


if __name__ == "__main__":
    main()

"""Runs inside a container of Gradescope's shape: grades the whole corpus there, and says what each submission got.

Started as `python -I in_container.py`, by root. Every submission is graded as `run_autograder` grades one, with the
same walls; only TensorFlow is loaded once for all of them.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
import time
from pathlib import Path

import psutil

sys.path.insert(0, "/autograder/source/grader")

from autograder.course.settings import load_course
from autograder.grade.lab_grader import LabGrader
from autograder.integrations.gradescope import container
from autograder.read import FileSource, FoundSubmission
from autograder.sandbox import Sandbox
from autograder.sandbox.bubblewrap import OtherUser
from autograder.sandbox.warm import limits_of, preload_of

PORT = 4711


def main() -> None:
    places = container.Places()
    settings = json.loads((places.base / "source" / container.SETTINGS).read_text("utf-8"))
    os.umask(0o077)
    container._close(places)
    course = load_course(places.course)
    grader = LabGrader(course, settings["lab"], seed=settings["seed"])
    other = OtherUser(settings["user"], places.packages, places.home)
    calls: list[object] = []
    server = socket.create_server(("127.0.0.1", PORT))
    threading.Thread(target=lambda: [calls.append(server.accept()) for _ in iter(int, 1)], daemon=True).start()
    with (
        open("/autograder/results/corpus.jsonl", "w", encoding="utf-8") as told,
        Sandbox(limits_of(course), preload=preload_of(course, grader.lab), other_user=other) as sandbox,
    ):
        for path in sorted(Path("/autograder/corpus").glob("*.ipynb")):
            verdict: dict[str, object] = {}
            fault = ""
            try:
                result = grader.grade(FoundSubmission(path.stem, grader.lab, path, FileSource(path)), sandbox)
                verdict = {exercise.exercise: (exercise.status, exercise.score) for exercise in result.exercises}
            except Exception as error:
                fault = f"{type(error).__name__}: {error}"[:300]
            container.end_processes(other.user)
            deadline = time.monotonic() + 30  # a process that has been killed still has to be given its last moment
            while (left := _left_by(other.user)) and time.monotonic() < deadline:
                time.sleep(0.1)
            line = {"student": path.stem, "verdict": verdict, "fault": fault, "left": left, "calls": len(calls)}
            told.write(json.dumps(line | {"walls": [wall.name for wall in sandbox.walls if wall.stands]}) + "\n")
            told.flush()


def _left_by(user: int) -> list[int]:
    return [process.pid for process in psutil.process_iter() if _is_theirs(process, user)]


def _is_theirs(process: psutil.Process, user: int) -> bool:
    try:
        return process.uids().real == user and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


if __name__ == "__main__":
    main()

"""What travels between client and workers, as plain bytes: the job to the workers, the records of verdicts back."""

from __future__ import annotations

import json
import tempfile
from dataclasses import asdict
from pathlib import Path

import msgpack
import nbformat
from pydantic import BaseModel, ConfigDict

from autograder.course.labs import earlier_file
from autograder.course.settings import Course, CourseError, CourseLab, CourseLimits
from autograder.declare.declaration import course_files
from autograder.grade.lab_grader import LabGrader
from autograder.grade.results import ExerciseResult, LabResult

MOST_BYTES = 4 << 20  # of a record


def encode_job(grader: LabGrader) -> bytes:
    """All that a worker needs besides the installed package, as msgpack of plain types; no name of a student.

    The files are those that a grader reads: the released notebooks, by which a notebook of another lab is told, the
    lab's own data, the declared exercises, and what the grader took from the solution.
    """
    course, lab = grader.course, grader.lab
    paths = [*course.releases.glob("*/*.ipynb"), *course_files(course)]
    files = {path.relative_to(course.root).as_posix(): path.read_bytes() for path in paths}
    files |= {f"labs/{lab}/{name}": content for name, content in grader.files.items()}
    files[earlier_file(course, lab).relative_to(course.root).as_posix()] = json.dumps(grader.earlier).encode()
    if grader.solution is not None:
        files[f"solutions/{lab}/{lab}.ipynb"] = nbformat.writes(grader.solution).encode()
    settings = {"limits": asdict(course.limits), "preload": course.lab(lab).preload}
    return msgpack.packb({"lab": lab, "seed": grader.seed, "version": grader.version, "files": files, **settings})


def decode_job(job: bytes) -> LabGrader:
    """The grader of a job, from files that are gone when this returns. Raises CourseError where marks would differ."""
    content = msgpack.unpackb(job)
    lab = content["lab"]
    with tempfile.TemporaryDirectory(prefix="course-grade-") as name:
        for file, data in content["files"].items():
            (path := Path(name, file)).parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        labs = (CourseLab(lab, lab, preload=tuple(content["preload"])),)
        course = Course(Path(name), "", "", "course", labs, CourseLimits(**content["limits"]))
        grader = LabGrader(course, lab, seed=content["seed"])
    if grader.version != content["version"]:
        raise CourseError("its grader, TensorFlow, Keras or NumPy is of another version; see requirements/lock.txt")
    return grader


class _Record(BaseModel):
    """What travels of a `LabResult`. It names no student: the client knows whose submission it was."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)

    lab: str
    exercises: tuple[ExerciseResult, ...]
    state: str
    reason: str
    repairs: tuple[str, ...]
    content_hash: str
    grader_version: str


def encode_record(result: LabResult) -> bytes:
    """The record of a verdict: JSON of plain types."""
    content = result.to_dict()
    return json.dumps({name: content[name] for name in _Record.model_fields}, allow_nan=False).encode()


def decode_record(record: object) -> LabResult:
    """The verdict in a worker's answer. Raises ValueError or ArithmeticError unless it is a well-formed record."""
    if not isinstance(record, bytes) or len(record) > MOST_BYTES:
        raise ValueError("no record, or one that is too long")
    return LabResult("", **dict(_Record.model_validate_json(record)))

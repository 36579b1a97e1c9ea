"""A grading job as it travels to the workers: the release, the limits and the seed, as plain bytes."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgpack
import nbformat

from autograder.course.earlier_cells import earlier_file
from autograder.course.settings import Course, CourseError, CourseLab, CourseLimits
from autograder.declaring.course_exercises import course_files
from autograder.grading.lab_grader import LIBRARIES, LabGrader, sources

NAMES = {"grader": "the grader", "tensorflow": "TensorFlow", "keras": "Keras", "numpy": "NumPy"}


@dataclass(frozen=True)
class Job:
    """All that a worker needs in order to grade submissions of one lab, besides the installed package.

    Attributes:
        lab: the lab's name.
        seed: seed of the hidden cases.
        grader_version: what `LabGrader.version` is where the job was made, and has to be where it is done.
        versions: of the grader's sources and of the libraries; see `installed`.
        limits: fields of `CourseLimits`.
        preload: modules that the lab's submissions find loaded.
        release: the released notebook.
        known: grade_ids of every lab of the course, by which a notebook of another lab is told.
        own: the files of the instructor's own exercises, by name.
        solution: her solution, where there are such exercises; elsewhere its cells of exercises that others call.
        files: what lies beside the notebook, by path.
        earlier: hashes of what the lab's cells said in earlier releases.
    """

    lab: str
    seed: int
    grader_version: str
    versions: dict[str, str]
    limits: dict[str, Any]
    preload: list[str]
    release: bytes
    known: dict[str, list[str]]
    exercises: dict[str, bytes]
    solution: bytes | None
    files: dict[str, bytes]
    earlier: dict[str, list[str]]

    @classmethod
    def of(cls, grader: LabGrader) -> Job:
        """The job of a lab's grader."""
        course = grader.course
        return cls(
            lab=grader.lab,
            seed=grader.seed,
            grader_version=grader.version,
            versions=installed(),
            limits=asdict(course.limits),
            preload=list(course.lab(grader.lab).preload),
            release=course.release_notebook(grader.lab).read_bytes(),
            known={lab: sorted(ids) for lab, ids in grader.known.items()},
            exercises={str(path.relative_to(course.root)): path.read_bytes() for path in course_files(course)},
            solution=nbformat.writes(grader.solution).encode() if grader.solution is not None else None,
            files=grader.files,
            earlier=grader.earlier,
        )

    @classmethod
    def decode(cls, data: bytes) -> Job:
        """The inverse of `encode`."""
        return cls(**msgpack.unpackb(data))

    def encode(self) -> bytes:
        """The job as msgpack of plain types."""
        return msgpack.packb(asdict(self))

    @property
    def course_limits(self) -> CourseLimits:
        """What one submission may use."""
        return CourseLimits(**self.limits)

    def grader(self) -> LabGrader:
        """The lab's grader, made again from the job; its files lie in a folder that is gone when this returns.

        Raises:
            OSError: the files cannot be written.
            CourseError: a file of the instructor's own exercises cannot be run here.
        """
        with tempfile.TemporaryDirectory(prefix="course-grade-") as name:
            root = Path(name)
            course = Course(
                root,
                "",
                "",
                "course",
                (CourseLab(self.lab, self.lab, preload=tuple(self.preload)),),
                self.course_limits,
            )
            _write(course.release_notebook(self.lab), self.release)
            for file, content in self.exercises.items():
                _write(_inside(root, file), content)
            for file, content in self.files.items():
                _write(_inside(root, f"labs/{self.lab}/{file}"), content)
            if self.solution is not None:
                _write(course.solution_notebook(self.lab), self.solution)
            _write(earlier_file(course, self.lab), json.dumps(self.earlier).encode())
            grader = LabGrader(course, self.lab, seed=self.seed)
        grader.known = {lab: frozenset(ids) for lab, ids in self.known.items()}
        return grader


def _inside(root: Path, file: str) -> Path:
    path = (root / file).resolve()
    if not path.is_relative_to(root.resolve()):
        raise CourseError(f"{file}: a job's files lie in its course")
    return path


def name_of(encoded: bytes) -> str:
    """What a job is called on the cluster; another job has another name."""
    return f"course-grade-{hashlib.sha256(encoded).hexdigest()[:16]}"


def installed() -> dict[str, str]:
    """The versions on which marks depend: a digest of the grader's own sources, and those of the libraries."""
    return {"grader": sources()} | {name: version(name) for name in LIBRARIES}


def differences(wanted: Mapping[str, str], found: Mapping[str, str]) -> str:
    """A sentence's part on the versions that differ, empty where none does."""
    told = []
    for name, shown in NAMES.items():
        if wanted.get(name) != found.get(name):
            numbers = "" if name == "grader" else f" ({found.get(name)}, here it is {wanted.get(name)})"
            told.append(f"another version of {shown}{numbers}")
    return ", ".join(told)


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)

"""A job holds all that a worker needs: the grader that is made from it comes to the same cases, without the course."""

from __future__ import annotations

from pathlib import Path

import msgpack
import nbformat
import pytest
from hostile.making import LAB, ROOT

from autograder.course.settings import load_course
from autograder.grading.lab_grader import LabGrader
from autograder.integrations.cluster.job import Job, differences, installed, name_of
from autograder.integrations.scaffold.new import new_course
from autograder.releasing.release import release


@pytest.fixture(scope="module")
def grader() -> LabGrader:
    return LabGrader(load_course(ROOT), LAB, seed=7)


def test_the_grader_made_from_a_job_is_the_one_that_it_was_made_of(grader, tmp_path, monkeypatch):
    data = Job.of(grader).encode()
    monkeypatch.chdir(tmp_path)
    made = Job.decode(data).grader()
    assert made.version == grader.version
    assert (made.points, made.known, made.limits, made.seed) == (grader.points, grader.known, grader.limits, 7)
    assert not made.course.root.exists(), "hidden cases, or a solution, stay on the worker's disk"


def test_a_job_is_plain_msgpack_and_another_seed_is_another_job(grader):
    data = Job.of(grader).encode()
    assert msgpack.unpackb(data)["lab"] == LAB
    assert name_of(data) == name_of(Job.of(grader).encode())
    assert name_of(data) != name_of(Job.of(LabGrader(load_course(ROOT), LAB, seed=8)).encode())


@pytest.mark.long
@pytest.mark.sandbox
def test_an_instructors_own_exercises_travel_with_their_solution(tmp_path, monkeypatch):
    root = tmp_path / "statistics"
    new_course(root)
    monkeypatch.chdir(root)
    course = load_course(root)
    lab = course.labs[0].name
    (course.solutions / lab / "data").mkdir()
    (course.solutions / lab / "data" / "table.csv").write_text("1\n")
    release(course)
    grader = LabGrader(course, lab, seed=3)
    assert grader.files == {"data/table.csv": b"1\n"}
    job = Job.decode(Job.of(grader).encode())
    assert job.exercises and job.solution is not None
    assert (job.grader().version, job.grader().files) == (grader.version, grader.files)
    (course.releases / lab / "data" / "table.csv").write_text("2\n")
    assert LabGrader(course, lab, seed=3).version != grader.version
    assert nbformat.reads(job.solution.decode(), as_version=4).cells[0].source == grader.solution.cells[0].source


def test_what_differs_is_named():
    here = installed()
    assert differences(here, here) == ""
    other = here | {"grader": "0", "keras": "3.1"}
    keras = f"another version of Keras (3.1, here it is {here['keras']})"
    assert differences(here, other) == f"another version of the grader, {keras}"
    assert "NumPy" in differences(here, {})


def test_a_file_name_of_a_job_leaves_no_folder(grader, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "scratch"))
    (tmp_path / "scratch").mkdir()
    job = Job.decode(Job.of(grader).encode())
    job.exercises["../../../evil.py"] = b""
    with pytest.raises(ValueError, match="lie in its course"):
        job.grader()
    assert not list(Path(tmp_path).rglob("evil.py"))

"""`course doctor` says what works, what does not and how to mend it, and fails only where grading would refuse."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError

import pytest
from tiny_course import LAB, released
from typer.testing import CliRunner

from autograder.cli import app as cli
from autograder.cli import doctor
from autograder.course.settings import load_course
from autograder.sandbox import meter
from autograder.worker.protocol import WallReport

STANDS = WallReport("network", True)
FELL = WallReport("bubblewrap", False, "bwrap is not there", "apt install bubblewrap")
OPTIONAL = WallReport("seccomp", False, "no pyseccomp", "pip install pyseccomp", required=False)


@pytest.fixture
def course(tmp_path, monkeypatch):
    course = released(tmp_path / "course", monkeypatch)
    monkeypatch.chdir(course.root)
    monkeypatch.setattr("autograder.sandbox.check_walls", lambda: [STANDS, OPTIONAL])
    return course


def found(course) -> dict[str, doctor.Finding]:
    return {finding.name: finding for finding in doctor.look(course)}


def run(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    return CliRunner().invoke(cli.app, ["doctor"])


def test_a_machine_that_can_grade_is_fine(course, monkeypatch):
    done = run(monkeypatch)
    assert done.exit_code == 0, done.output
    assert "tensorflow" in done.output and "wall: network" in done.output and "pip install pyseccomp" in done.output


def test_a_wall_that_grading_needs_makes_it_fail_with_the_remedy(course, monkeypatch):
    monkeypatch.setattr("autograder.sandbox.check_walls", lambda: [STANDS, FELL])
    done = run(monkeypatch)
    assert done.exit_code == 1
    assert "bwrap is not there" in done.output and "apt install bubblewrap" in done.output


def test_a_package_that_is_missing_is_named(course, monkeypatch):
    def version(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(doctor, "version", version)
    findings = found(course)
    assert not findings["keras"].works and findings["keras"].needed and findings["keras"].remedy == "make setup"
    assert not findings["tensorflow-text"].works and not findings["tensorflow-text"].needed


def test_the_packages_of_the_course_are_looked_for(course):
    toml = course.root / "course.toml"
    packages = 'packages = ["numpy>=2.0", "numpy>=99", "nothing-of-this-name>1"]'
    toml.write_text(toml.read_text().replace('id = "tiny"', f'id = "tiny"\n{packages}'))
    told = [
        finding for finding in doctor.look(load_course(course.root)) if finding.name.startswith(("numpy", "nothing"))
    ]
    assert [(finding.works, finding.needed) for finding in told] == [(True, True), (False, True), (False, True)]
    assert "and course.toml asks for numpy>=99" in told[1].text and told[1].remedy == 'pip install "numpy>=99"'
    assert told[2].remedy == 'pip install "nothing-of-this-name>1"'


def test_which_course_gradebook_and_dates_are_in_force_is_said(course):
    toml = course.root / "course.toml"
    toml.write_text(toml.read_text() + "due = 2026-11-20T23:59:00+01:00\n\n[grading]\nlate_percent_per_day = 20\n")
    told = found(load_course(course.root))
    assert told["course"].text == str(course.root) and told["gradebook"].text.endswith("gradebook.db")
    assert told["late work"].text == "20 % a day, after 0 minutes; 0 students have an extension or are excused"
    assert told[f"lab {LAB}"].text == "released, due 2026-11-20 23:59 +0100"


def test_another_python_is_named(course, monkeypatch):
    monkeypatch.setattr(doctor.sys, "version_info", (3, 10, 0))
    assert not found(course)["Python"].works and "3.13" in found(course)["Python"].remedy


def test_a_lab_that_is_not_released_is_named_with_the_command(course):
    assert found(course)[f"lab {LAB}"].works
    course.release_notebook(LAB).unlink()
    finding = found(course)[f"lab {LAB}"]
    assert not finding.works and finding.remedy == f"course release {LAB}" and not finding.needed


@pytest.mark.parametrize("place", ["no control groups here", None])
def test_who_counts_memory_and_time_is_said(course, monkeypatch, tmp_path, place):
    monkeypatch.setattr(meter, "find_control_group", lambda: place or tmp_path)
    finding = found(course)["memory and CPU time"]
    assert finding.works == (place is None)
    assert ("systemd-run" in finding.remedy) == (place is not None)

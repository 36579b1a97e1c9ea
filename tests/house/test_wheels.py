"""The wheels: built, installed in an empty environment, they make a course, grade it and check a notebook of it.

TensorFlow and the other libraries are those of the environment of the tests, as hard links (the sandbox shows what
lies in an environment, and no other folder): only what is ours is installed. Nothing of the repository is on the path.
"""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import nbformat
import pytest

from autograder.course.labs import cells_by_id

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ("autograder", "coursekit", "pyproject.toml", "README.md", "LICENSE", "LICENSE-CONTENT")
LAB = "01_first_lab"
ANSWERS = {
    "ada": "def centre(x):\n    return x - x.mean(axis=0)",
    "ben": "def centre(x):\n    return x - x.mean()",
}
pytestmark = [pytest.mark.long, pytest.mark.slow, pytest.mark.sandbox]


def run(*command: str | Path, cwd: Path, code: int = 0) -> str:
    words = [str(word) for word in command]
    settings = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(words, cwd=cwd, env=settings, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == code, f"{words}\n{done.stdout}{done.stderr}"
    return done.stdout


def wheel(source: Path, target: Path) -> Path:
    """The wheel of the project in `source`, built without a connection."""
    run(
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "-q",
        "--no-deps",
        "--no-build-isolation",
        "-w",
        target,
        source,
        cwd=target,
    )
    (found,) = target.glob("*.whl")
    return found


def environment(folder: Path, package: Path) -> Path:
    """A new environment with the libraries of this one and one wheel of ours; the folder of its programs."""
    venv.create(folder, symlinks=True)
    (site,) = folder.glob("lib/python*/site-packages")
    ours = shutil.ignore_patterns("*transformers_course*")
    shutil.copytree(sysconfig.get_path("purelib"), site, ignore=ours, copy_function=linked, dirs_exist_ok=True)
    programs = folder / "bin"
    run(programs / "python", "-m", "pip", "install", "-q", "--no-deps", "--no-index", package, cwd=folder)
    return programs


def linked(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # another file system
        shutil.copy2(source, target)


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    """The wheel of both packages, from a copy of their folders: no earlier build is beside it."""
    copy, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, copy / name)
    return wheel(copy, target)


def test_every_file_of_the_packages_is_in_the_wheel(built):
    held = {name for name in zipfile.ZipFile(built).namelist() if ".dist-info/" not in name}
    here = {
        path.relative_to(ROOT).as_posix()
        for package in ("autograder", "coursekit")
        for path in (ROOT / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert held == here


def test_a_course_is_made_and_graded_without_the_repository(built, tmp_path):
    programs = environment(tmp_path / "instructor", built)
    where = run(programs / "python", "-c", "import autograder, coursekit; print(autograder.__file__)", cwd=tmp_path)
    assert Path(where).is_relative_to(tmp_path / "instructor")
    run(programs / "course", "new", "course", "statistics", cwd=tmp_path)
    course = tmp_path / "statistics"
    run(programs / "course", "release", cwd=course)
    for student, answer in ANSWERS.items():
        notebook = nbformat.read(course / "labs" / LAB / f"{LAB}.ipynb", as_version=4)
        cells_by_id(notebook)["centre-code"].source = answer
        (course / "handed-in" / student).mkdir(parents=True)
        nbformat.write(notebook, course / "handed-in" / student / f"{LAB}.ipynb")
    run(programs / "course", "grade", LAB, "handed-in/", cwd=course)
    with (course / "grades" / "results.csv").open(encoding="utf-8") as file:
        marks = {row["student"]: float(row["score"]) for row in csv.DictReader(file) if row["exercise"] == "centre"}
    assert marks["ada"] == 2 and marks["ben"] < 2

    # The students' package alone, as `course publish` writes it, checks a notebook of that course.
    run(programs / "course", "publish", tmp_path / "students", cwd=course)
    (tmp_path / "coursekit").mkdir()
    students = environment(tmp_path / "student", wheel(tmp_path / "students", tmp_path / "coursekit"))
    run(students / "python", "-c", "import coursekit", cwd=tmp_path)
    run(students / "python", "-c", "import autograder", cwd=tmp_path, code=1)
    handed_out = tmp_path / "students" / "labs" / LAB
    for student, code in (("ada", 0), ("ben", 1)):
        shutil.copy(course / "handed-in" / student / f"{LAB}.ipynb", handed_out / f"{LAB}.ipynb")
        run(students / "python", "-m", "coursekit", "check", handed_out / f"{LAB}.ipynb", cwd=tmp_path, code=code)

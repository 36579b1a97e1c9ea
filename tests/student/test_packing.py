"""The file that a student hands in: packed after the checks, honest about what is unfinished, and graded as it is."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from autograder.course.labs import read_grade_ids
from autograder.course.settings import load_course
from autograder.read import find_submissions
from coursekit import packing

ROOT = Path(__file__).resolve().parents[2]
LAB = "02_self_attention"
SAMPLES = ROOT / "exercises" / "samples" / LAB


def pack(*words: str) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "coursekit", "pack", *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)


@pytest.fixture(scope="module")
def half(tmp_path_factory) -> Path:
    """A half-finished lab with two faults of its own: a check cell is deleted, and an output is 3 MB long."""
    notebook = json.loads((SAMPLES / "04-half-finished" / f"{LAB}.ipynb").read_text("utf-8"))
    cells = notebook["cells"]
    cells[:] = [cell for cell in cells if "".join(cell["source"]).strip() != 'check("attention_cost")']
    code = next(cell for cell in cells if cell["cell_type"] == "code")
    code["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "0" * (3 << 20)}]
    path = tmp_path_factory.mktemp("packing") / f"{LAB}.ipynb"
    path.write_text(json.dumps(notebook), "utf-8")
    return path


@pytest.mark.long
def test_it_says_what_is_unfinished_and_packs_all_the_same(half):
    done, packed = pack(str(half)), half.with_stem(f"{LAB}-submission")
    assert done.returncode == 0, done.stderr
    assert "✓ self_attention_loops" in done.stdout
    left = (
        "scaled_dot_product_attention, SelfAttention, answers, predict, derive_softmax_jacobian, measure_saturation, "
        "report, attention_cost, online_attention, design, find_the_bug"
    )
    assert f"Not started: {left}." in done.stdout
    assert "No text written yet: explanation." in done.stdout
    assert "The check cells of attention_cost are gone" in done.stdout
    assert "The outputs of 1 cells, too large to upload" in done.stdout
    assert packed.name in done.stdout and packed.stat().st_size < 1 << 20


def test_the_file_is_found_as_a_submission_whatever_it_is_called(half, tmp_path, monkeypatch):
    monkeypatch.setattr(packing, "check_notebook", lambda _: ())  # what the checks say is not in the file
    packed = packing.pack(half, tmp_path / f"{LAB}-submission.ipynb").path
    assert packed.stat().st_size < 1 << 20
    archives = {
        "students.zip": ("anna/{}.ipynb", "dan/{}.ipynb"),
        "moodle.zip": ("Bo Li_12_assignsubmission_file_/{}.ipynb", "Cy Oh_13_assignsubmission_file_/{}.ipynb"),
        "canvas.zip": ("lovelaceada_345_678_{}-1.ipynb", "ngbob_777_679_{}.ipynb"),
    }
    for archive, names in archives.items():
        with zipfile.ZipFile(tmp_path / archive, "w") as file:
            for name in names:
                file.write(packed, name.format(packed.stem))
    (tmp_path / "eve").mkdir()
    (tmp_path / "eve" / packed.name).write_bytes(packed.read_bytes())
    known = {LAB: read_grade_ids(load_course(ROOT), LAB)}
    found = [
        submission
        for path in (*archives, "eve")
        for submission in find_submissions([tmp_path / path], LAB, known).submissions
    ]
    students = {"anna", "dan", "Bo Li_12", "Cy Oh_13", "lovelaceada_345", "ngbob_777", "eve"}
    assert {submission.student for submission in found} == students
    assert all(json.loads(submission.read())["cells"] for submission in found)


@pytest.mark.long
def test_a_file_that_is_no_lab_is_refused_with_a_reason(half, tmp_path):
    lecture = pack(str(ROOT / "README.md"), "--out", str(tmp_path / "out.ipynb"))
    assert lecture.returncode == 2 and "is not a notebook" in lecture.stderr
    packed = half.with_stem(f"{LAB}-submission")
    packed.touch()
    again = pack(str(packed))
    assert again.returncode == 2 and "packed before" in " ".join(again.stderr.replace("│", " ").split())

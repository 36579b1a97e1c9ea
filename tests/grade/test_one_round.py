"""One round of the course: a lab is changed, released and published; a student works with what is published, alone."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from autograder.course.text_pairs import check_pair

ROOT = Path(__file__).resolve().parents[2]
LAB = "02_self_attention"
NOTEBOOK = f"labs/{LAB}/{LAB}.ipynb"
COST = '{"multiply_adds": 2 * length**2 * d_model, "weights_entries": length**2}'


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Path:
    """A copy of the course with lab 02 alone, its declarations included, for they are changed as well."""
    root = tmp_path_factory.mktemp("round") / "course"
    ignore = shutil.ignore_patterns("__pycache__", "samples", "bert")
    for folder in ("autograder", "coursekit", "exercises", f"labs/{LAB}", f"solutions/{LAB}", "requirements"):
        shutil.copytree(ROOT / folder, root / folder, ignore=ignore)
    lectures = [path.relative_to(ROOT).as_posix() for path in (ROOT / "lectures").glob("02*.ipynb")]
    for file in ("nbgrader_config.py", "pyproject.toml", "data/README.md", *lectures):
        (root / file).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / file, root / file)
    head, *labs = re.split(r"^(?=\[\[labs\]\])", (ROOT / "course.toml").read_text("utf-8"), flags=re.MULTILINE)
    (root / "course.toml").write_text(head + "".join(lab for lab in labs if f'name = "{LAB}"' in lab), "utf-8")
    return root


def run(folder: Path, *words: str, hide: Path | None = None) -> subprocess.CompletedProcess:
    """Run Python with the packages of a folder, whatever is installed besides; `hide` holds what nobody may import."""
    path = os.pathsep.join(str(place) for place in (hide, folder) if place)
    environment = {**os.environ, "PYTHONPATH": path, "COLUMNS": "1000"}
    command = [sys.executable, *words]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=900)


def edit(path: Path, **sources) -> nbformat.NotebookNode:
    """Change cells of a notebook by grade_id, as by saving it in JupyterLab; `answers` is written `answers_code`."""
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id", "").replace("-", "_")
        cell.source = sources[name](cell.source) if name in sources else cell.source
    nbformat.write(notebook, path)
    return notebook


def contents(*folders: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for folder in folders for path in folder.rglob("*") if path.is_file()}


@pytest.mark.long
def test_an_instructor_changes_a_lab_and_a_student_does_it(course, tmp_path):
    students = tmp_path / "students"
    solution = course / "solutions" / LAB / f"{LAB}.ipynb"
    release = ("-m", "autograder.cli", "release", "--publish", str(students))

    # Saved in JupyterLab: another solution, other points. In an editor: a hint.
    notebook = edit(
        solution, self_attention_matrix_code=lambda source: source.replace("ops.matmul(weights, x)", "weights @ x")
    )
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") == "self_attention_matrix":
            cell.metadata.nbgrader["points"] = 3
    nbformat.write(notebook, solution)
    declared = course / "exercises" / "self_attention" / "attention_cost.py"
    declared.write_text(declared.read_text("utf-8").replace("Count one score first", "Begin with one score"), "utf-8")

    done = run(course, *release)
    assert done.returncode == 0, done.stdout + done.stderr
    assert check_pair(solution) is None and "weights @ x" in solution.with_suffix(".py").read_text("utf-8")
    before = json.loads((ROOT / "coursekit" / "reference" / "02_self_attention.json").read_text("utf-8"))["points"]
    counted = f"{len(before)} exercises, {sum(before.values()) + 1:g} points"  # one point more for the changed exercise
    assert f"for students: 02_self_attention: new, {counted}" in done.stdout
    released = nbformat.read(students / NOTEBOOK, as_version=4)
    assert "| 1 | `self_attention_matrix` | 3 |" in released.cells[0].source
    assert "weights @ x" not in (students / NOTEBOOK).read_text("utf-8")
    assert "Begin with one score" in (students / "coursekit" / "reference" / f"{LAB}.json").read_text("utf-8")

    # The student has the published folder and nothing of the instructor's.
    hide = tmp_path / "hidden"
    (hide / "autograder").mkdir(parents=True)
    (hide / "autograder" / "__init__.py").write_text('raise ImportError("students do not have this")\n')
    solved = {cell.metadata.nbgrader.grade_id: cell.source for cell in notebook.cells if "nbgrader" in cell.metadata}
    shutil.copytree(students / "labs", students / "work")
    mine = students / "work" / LAB / f"{LAB}.ipynb"
    edit(mine, **{f"{name}_code": lambda _, name=name: solved[f"{name}-code"] for name in ("project_qkv", "answers")})
    done = run(students, "-m", "coursekit", "pack", str(mine.relative_to(students)), hide=hide)
    assert done.returncode == 0, done.stderr
    assert "✓ project_qkv" in done.stdout and "✓ answers" in done.stdout
    assert "Not started: self_attention_loops, self_attention_matrix, scaled_dot_product_attention" in done.stdout
    assert mine.with_name(f"{LAB}-submission.ipynb").is_file()

    # The next change is wrong: nothing of it gets out.
    before = contents(course / "labs", course / "coursekit" / "reference", students)
    edit(solution, attention_cost_code=lambda source: source.replace(COST, COST.replace("2 * ", "")))
    done = run(course, *release)
    assert done.returncode == 1
    failed = [line for line in done.stderr.splitlines() if "fails its own checks" in line]
    assert len(failed) == 1 and "attention_cost: 0 of 1 checks pass: right counts: tried " in failed[0]
    assert "nothing was released" in done.stderr
    assert contents(course / "labs", course / "coursekit" / "reference", students) == before

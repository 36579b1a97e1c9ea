"""Which lab a file is of, by its content: exact for real notebooks, and cheap whatever strangers fill it with."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
import pytest
from measuring import cost_of

from autograder.submission import choosing, find_submissions
from autograder.submission.file_names import MOST_SIGNS, LabNames
from autograder.submission.percent import has_cells

LAB = "02_self_attention"
RELEASED = Path(__file__).resolve().parents[1] / "labs" / LAB / f"{LAB}.ipynb"


def grade_ids() -> set[str]:
    cells = nbformat.read(RELEASED, as_version=4).cells
    return {cell.metadata.nbgrader.grade_id for cell in cells if "nbgrader" in cell.metadata}


@pytest.mark.parametrize("indent", [None, 1])
def test_a_notebook_with_large_outputs_is_known_by_all_its_ids(indent):
    """The ids stand between the outputs, to the end of the file."""
    notebook = nbformat.read(RELEASED, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            picture = {"image/png": "iVBORw0KGgo" * 2**17}
            outputs = [("display_data", {"data": picture}), ("stream", {"text": "done"})]
            cell.outputs = [nbformat.v4.new_output(kind, **more) for kind, more in outputs]
    data = json.dumps(notebook, indent=indent).encode()
    assert len(data) > 20 * 2**20
    ids = grade_ids()
    assert len(ids) > 5 and LabNames(LAB, {LAB: ids}).score(data) == len(ids)


def test_a_script_is_known_by_the_exercises_that_it_checks():
    names = LabNames(LAB, {LAB: {"one", "two", "three", "four"}})
    assert names.score(b"check(\"one\")\n  check('two')\nmy_check('four')\ncheck( 'three', 1)\n") == 2


def test_what_repeats_counts_once_and_ids_that_are_no_labs_hide_none():
    names = LabNames(LAB, {LAB: {"one", "two"}})
    assert names.score(b'"grade_id": "one", ' * 5 + b'"grade_id":\n"other", "grade_id": [1, "two"]') == 1
    assert names.score(b'"grade_id": "other", ' * (MOST_SIGNS // 2 - 1) + b'"grade_id": "two"') == 1


@pytest.mark.long
@pytest.mark.parametrize(
    "line", [b'"grade_id":"ab"', b'"grade_id"' + b" " * 300, b'"grade_i', b"check(", b"\ncheck('", b"\n", b"x"]
)
def test_no_content_makes_the_look_for_ids_slow(line):
    cost = cost_of(
        "names.score(data)",
        f"""
        from autograder.submission.file_names import LabNames
        names, line = LabNames("a", {{"a": {{"one", "two"}}}}), {line!r}
        data = line * (120 * 2**20 // len(line))
        """,
    )
    assert cost.seconds < 0.8 and cost.megabytes < 300


@pytest.mark.long
@pytest.mark.parametrize("line", [b"# %\n", b"\n", b"\t"])
def test_no_content_makes_the_look_for_cells_slow(line):
    cost = cost_of(
        "has_cells(data)",
        f"""
        from autograder.submission.percent import has_cells
        data = {line!r} * (120 * 2**20 // len({line!r}))
        """,
    )
    assert cost.seconds < 0.7
    assert has_cells(line * 1000 + b"\n# %%\nimport torch\n")


def test_of_a_students_many_large_files_only_some_are_read(tmp_path, monkeypatch):
    """The sentence says so; a notebook that is named like the lab needs no look."""
    monkeypatch.setattr(choosing, "MAX_CANDIDATES_BYTES", 250)
    folder = tmp_path / "eve"
    folder.mkdir()
    for number in range(5):
        (folder / f"work{number}.ipynb").write_bytes(b"x" * 100 + bytes([number]))
    (tmp_path / "ada").mkdir()
    (tmp_path / "ada" / f"{LAB}.ipynb").write_text("{}")
    told = {found.student: found.problem for found in find_submissions([tmp_path], LAB, {LAB: {"one"}}).submissions}
    assert told["ada"] is None and "There are 5 notebooks" in told["eve"]
    assert "only the first 3 were looked into" in told["eve"]
    (folder / "work0.ipynb").write_text('"grade_id": "one"')
    (eve,) = (at for at in find_submissions([tmp_path], LAB, {LAB: {"one"}}).submissions if at.student == "eve")
    assert eve.problem is None and eve.path.name == "work0.ipynb"

"""Which lab a file is of, and which of several files counts: exact, and cheap whatever strangers put into them."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path

import nbformat
import pytest
from measuring import cost_of
from test_submission_finding import KNOWN, find, pack, read, write

from autograder.read import find_submissions, finding
from autograder.read.layouts import MOST_SIGNS, LabNames
from autograder.read.reading import has_cells

LAB = "02_self_attention"
RELEASED = Path(__file__).resolve().parents[2] / "labs" / LAB / f"{LAB}.ipynb"


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
        from autograder.read.layouts import LabNames
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
        from autograder.read.reading import has_cells
        data = {line!r} * (120 * 2**20 // len({line!r}))
        """,
    )
    assert cost.seconds < 0.7
    assert has_cells(line * 1000 + b"\n# %%\nimport torch\n")


def test_no_name_is_slow_to_look_at():
    """Each is asked for several times in each look, for each lab of the course, in the grader's own process."""
    cost = cost_of(
        "for name in names: lab.is_copy(stem_of(name)); read_name(name)",
        f"""
        from autograder.read.layouts import LabNames, read_name, stem_of
        lab = LabNames("{LAB}", {{"{LAB}": ()}})
        parts = ["_1", "-submission", "1", "_", "_1_LATE", "_100", " (1)", "-copy1", "+", "_attempt"]
        names = ["{LAB}" + str(n) + (part * 240)[:220] + ".ipynb" for part in parts for n in range(600)]
        """,
    )
    assert cost.seconds < 2


def test_what_copying_adds_is_known_three_times_over():
    names = LabNames(LAB, {LAB: ()})
    for copy in (f"{LAB}-1", f"{LAB} (2)", f"{LAB}-Copy1", f"copy of {LAB}", f"{LAB}-submission-1 (2)"):
        assert names.is_copy(copy.casefold())
    assert not names.is_copy(f"{LAB}_1_1_1_1") and not names.is_copy(LAB + " " * 100 + "(1)")


def test_of_a_students_many_large_files_only_some_are_read(tmp_path, monkeypatch):
    """The sentence says so; a notebook that is named like the lab needs no look."""
    monkeypatch.setattr(finding, "MAX_CANDIDATES_BYTES", 250)
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


def packed_at(files):
    """An archive of files with the day of June 2026 on which each was changed; 0 for none."""
    return pack(
        {
            (zipfile.ZipInfo(name, (2026, 6, day, 12, 0, 0)) if day else zipfile.ZipInfo(name)): data
            for name, (data, day) in files.items()
        }
    )


@pytest.mark.parametrize(
    ("plain", "made", "counts", "why"),
    [
        (24, 27, "made", "it is the newest"),
        (27, 24, "plain", "it is the newest"),
        (24, 24, "made", "packing made"),
        (0, 24, "made", "packing made"),
        (24, 0, "made", "packing made"),
    ],
)
@pytest.mark.parametrize(
    "where", ["Ada_1_assignsubmission_file_/{}", "Ada_1_assignsubmission_file_{}", "ada_1234_6001_{}"]
)
def test_of_two_notebooks_in_one_folder_the_newest_counts_and_else_the_one_that_packing_made(
    tmp_path, where, plain, made, counts, why
):
    files = {f"{LAB}.ipynb": ("plain", plain), f"{LAB}-submission.ipynb": ("made", made)}
    files = {where.format(name): content for name, content in files.items()}
    write(tmp_path, {"all.zip": packed_at(files | {where.format("notes.txt").replace("1", "2"): ("x", 1)})})
    found = find_submissions([tmp_path / "all.zip"], LAB, KNOWN)
    (ada,) = (each for each in found.submissions if each.source)
    assert ada.read().decode() == counts and why in ada.note and "passed over: " in ada.note
    (passed,) = (each for each in found.passed_over if each.path.endswith(".ipynb"))
    assert why in passed.reason and passed.path.endswith("-submission.ipynb") == (counts == "plain")


def test_of_notebooks_on_disk_the_newest_in_the_folder_of_the_one_named_like_the_lab_counts(tmp_path):
    write(
        tmp_path, {f"ada/{LAB}.ipynb": "old", f"ada/{LAB}-Copy1.ipynb": "new", f"ada/more/{LAB}-submission.ipynb": "x"}
    )
    for name, when in ((f"{LAB}.ipynb", 1e9), (f"{LAB}-Copy1.ipynb", 1.1e9), (f"more/{LAB}-submission.ipynb", 1.2e9)):
        os.utime(tmp_path / "ada" / name, (when, when))
    found = find(tmp_path / "ada")
    assert read(found) == {"ada": "new"} and "it is the newest" in found["ada"].note
    os.utime(tmp_path / "ada" / f"{LAB}.ipynb", (1.1e9 + 1, 1.1e9 + 1))
    found = find(tmp_path / "ada")
    assert read(found) == {"ada": "old"} and "its name is nearest to the lab's" in found["ada"].note

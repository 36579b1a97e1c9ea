"""No lab goes untried."""

from pathlib import Path

import nbformat
import pytest
from lab_matrix import LABS, ROOT, code_cells, exercises_of

from autograder.course.labs import points
from autograder.course.settings import load_course
from autograder.release.lint_lab import find_variants_left


def test_every_lab_has_a_file_here():
    here = {path.stem.removeprefix("test_") for path in Path(__file__).parent.glob("test_[0-9]*.py")}
    assert here == set(LABS)


@pytest.mark.parametrize("lab", LABS)
def test_no_variants_are_of_an_exercise_that_no_lab_declares(lab):
    """Which exercise lacks some, `course release` says."""
    assert find_variants_left(load_course(ROOT), lab, exercises_of(lab)) == []


@pytest.mark.parametrize("lab", LABS)
def test_a_lab_says_that_it_starts_and_ends_with_the_students_own_words(lab):
    """TensorFlow takes seconds to start; what stands behind the essay is not read by many."""
    sources = code_cells(lab)
    assert sources["imports"].startswith('print("Loading TensorFlow')
    cells = nbformat.read(ROOT / "solutions" / lab / f"{lab}.ipynb", as_version=4).cells
    (essay,) = [index for index, cell in enumerate(cells) if "## In your own words" in cell.source]
    assert [cell.source for cell in cells[essay:] if cell.cell_type == "code"] == []


@pytest.mark.parametrize(
    ("lab", "box"),
    [
        ("01_attention_intuition", "**Your first Keras layer.**"),
        ("03_multi_head_attention", "<summary>If you come from PyTorch</summary>"),
        ("08_decoder_and_masking", "<summary>If you come from PyTorch</summary>"),
    ],
)
def test_boxes_for_those_who_are_new_to_keras(lab, box):
    text = (ROOT / "labs" / lab / f"{lab}.ipynb").read_text(encoding="utf-8")
    assert box in text and text.index(box) < text.index("class ")


@pytest.mark.parametrize("lab", [lab for lab in LABS if "report" in exercises_of(lab)])
def test_a_report_may_be_measured_with_what_stands_above_it(lab):
    """The grader does not run cells that only show something: a function that a report calls has a cell of its own."""
    cells = nbformat.read(ROOT / "solutions" / lab / f"{lab}.ipynb", as_version=4).cells
    ids = [cell.metadata.get("nbgrader", {}).get("grade_id", "") for cell in cells]
    end = ids.index("report")
    begin = max(place for place, id in enumerate(ids[:end]) if id.startswith("measure_"))
    shown = [cell.source for cell in cells[begin:end] if "demonstration" in cell.metadata.get("tags", ())]
    assert shown
    assert [source for source in shown if "\ndef " in f"\n{source}" or "seeds = " in source] == []


@pytest.mark.parametrize("lab", LABS)
def test_at_most_one_exercise_of_a_lab_asks_for_a_float_type(lab):
    asking = [
        name
        for name, exercise in exercises_of(lab).items()
        if any(case.dtype for group, rng in exercise.generators(40723) for case in group.draw(rng))
    ]
    assert len(asking) <= 1


@pytest.mark.parametrize("lab", LABS)
def test_each_lab_has_two_exercises_of_transfer_for_points(lab):
    notebook = nbformat.read(ROOT / "solutions" / lab / f"{lab}.ipynb", as_version=4)
    worth = points(notebook)
    measured = [name for name in worth if name == "predict" or name.startswith("measure_")]
    assert "find_the_bug" in worth and measured and all(worth[name] > 0 for name in measured)
    assert sum(worth[name] > 0 for name in ("find_the_bug", *measured)) >= 2

"""What every lab examines: a derivation, a measurement, a design where one is promised; and how a lab ends."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import nbformat
import pytest
from lab_matrix import LABS
from nbformat import NotebookNode

from autograder.course.labs import grade_id, is_solution, is_test, points
from coursekit.check.cells import read_cells

ROOT = Path(__file__).resolve().parents[2]
DESIGNS = {
    *("02_self_attention", "05_positional_encoding", "07_bert_ag_news"),
    *("08b_generating_text", "10_language_model"),
}
REPORTS = {"02_self_attention", "08b_generating_text"}
LAST = "10_language_model"
MOST_SECTIONS = 10
UNDERSTANDING = ("derive_", "measure_")  # and `design`, and `report`, the numbers of the student's own measurement


@cache
def solution(lab: str) -> NotebookNode:
    return nbformat.read(ROOT / "solutions" / lab / f"{lab}.ipynb", as_version=4)


def of_understanding(worth: dict[str, float]) -> dict[str, float]:
    return {
        name: points for name, points in worth.items() if name.startswith(UNDERSTANDING) or name in ("design", "report")
    }


@pytest.mark.parametrize("lab", LABS)
def test_a_lab_has_one_derivation_one_measurement_and_the_design_that_is_promised(lab):
    worth = points(solution(lab))
    for kind in UNDERSTANDING:
        (name,) = [name for name in worth if name.startswith(kind)]
        assert worth[name] > 0
    assert ("design" in worth) == (lab in DESIGNS)
    assert ("report" in worth) == (lab in REPORTS) and worth.get("report", 1) > 0


@pytest.mark.parametrize("lab", LABS)
def test_these_earn_a_quarter_of_a_lab_and_a_sixth_of_the_last_one(lab):
    worth = points(solution(lab))
    assert sum(of_understanding(worth).values()) * (6 if lab == LAST else 4) >= sum(worth.values())


@pytest.mark.parametrize("lab", LABS)
def test_a_lab_has_at_most_ten_graded_sections(lab):
    graded, number = set(), "0"
    worth = points(solution(lab))
    for cell in solution(lab).cells:
        if cell.cell_type == "markdown":
            number = (re.findall(r"(?m)^## (\d+) · ", cell.source) or [number])[-1]
        elif is_test(cell) and worth[grade_id(cell)]:
            graded.add(number)
    assert len(graded) <= MOST_SECTIONS and "0" not in graded


@pytest.mark.parametrize("lab", LABS)
def test_behind_the_last_exercise_for_points_the_student_sees_her_own_code_at_work(lab):
    cells = solution(lab).cells
    worth = points(solution(lab))
    last = max(place for place, cell in enumerate(cells) if is_test(cell) and worth.get(grade_id(cell)))
    assert any("demonstration" in cell.metadata.get("tags", []) for cell in cells[last:])


@pytest.mark.parametrize("lab", LABS)
def test_the_good_sample_of_a_rubric_is_a_whole_answer(lab):
    (words,) = [cell.source for cell in solution(lab).cells if grade_id(cell) == "explanation"]
    assert len(words.split()) >= 100


@pytest.mark.parametrize("lab", LABS)
def test_hints_stand_in_the_checks_alone(lab):
    text = "\n".join(cell.source for cell in solution(lab).cells if cell.cell_type == "markdown")
    assert not re.findall(r"<summary>[^<]*[Hh]int", text)


@pytest.mark.parametrize("lab", LABS)
def test_a_question_before_a_demonstration_is_answered(lab):
    """By a folded answer, by a cell behind the demonstration, by the caption of its figure, or by what it prints."""
    cells = solution(lab).cells
    shows = ["demonstration" in cell.metadata.get("tags", []) for cell in cells]
    for place, cell in enumerate(cells):
        if not shows[place] or shows[place - 1] or cells[place - 1].cell_type != "markdown":
            continue
        asked = cells[place - 1].source
        if "Before you run the cell" not in asked:
            continue
        behind = next(number for number in range(place, len(cells)) if not shows[number])
        observed = cells[behind].cell_type == "markdown" and not cells[behind].source.startswith("#")
        assert "<details>" in asked or observed, f"{grade_id(cell)} answers nothing that its text asks"


@pytest.mark.parametrize("lab", LABS)
def test_no_cell_of_the_lab_binds_the_name_of_an_exercise(lab):
    """Whoever runs such a cell, and then the exercise's check, is judged for what the lab wrote."""
    names = set(points(solution(lab)))
    given = [cell.source for cell in solution(lab).cells if cell.cell_type == "code" and not is_solution(cell)]
    bound = {name for cell in read_cells(given) for statement in cell for name in statement.binds}
    assert given and not bound & names


@pytest.mark.parametrize("lab", LABS)
def test_pictures_are_in_the_style_of_the_course(lab):
    """The style is set before the first picture is shown, and Matplotlib has nothing against what is drawn."""
    cells = [cell for cell in solution(lab).cells if cell.cell_type == "code"]
    before, shown, _ = "\n".join(cell.source for cell in cells).partition("plots.show(")
    assert not shown or "plots.use_course_style()" in before
    outputs = [output for cell in cells if "plots.show(" in cell.source for output in cell.outputs]
    assert not [output.text for output in outputs if output.get("name") == "stderr"]


@pytest.mark.parametrize("lab", LABS)
def test_tensorflow_starts_without_its_log_lines(lab):
    """What imports Keras stands below `quiet.start_tensorflow()`: what starts before it shows its log."""
    (first,) = [cell for cell in solution(lab).cells if grade_id(cell) == "imports"]
    assert not [output.text for output in first.outputs if output.get("name") == "stderr"]


@pytest.mark.parametrize("lab", LABS)
def test_a_curve_by_step_shows_the_loss_of_each_step(lab):
    """The loss that Keras gives to a callback is a mean since the epoch began: it jumps where the next one begins."""
    for cell in solution(lab).cells:
        if cell.cell_type == "code" and "def on_train_batch_end" in cell.source and 'logs["loss"]' in cell.source:
            assert "reset_metrics()" in cell.source, grade_id(cell)

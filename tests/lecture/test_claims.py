"""What the lectures say of their numbers is what their stored outputs show (`tests/claims/`)."""

from __future__ import annotations

import copy
import re
import runpy
from pathlib import Path

import nbformat
import pytest
from claims.arithmetic import calculations
from claims.page import NUMBER, ROOT, Page, plain

OTHER_DIGITS = str.maketrans("0123456789", "9876543210")
FILES = sorted(file for file in (ROOT / "tests" / "claims").glob("[0-9]*.py"))


def checked(file: Path, notebook: nbformat.NotebookNode | None = None) -> Page:
    """The page of a lecture after its claims file has run: ``claims(page)``."""
    page = Page(file.stem, notebook)
    runpy.run_path(str(file))["claims"](page)
    return page


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_what_the_lecture_says_is_what_its_outputs_show_and_every_number_is_accounted_for(file):
    page = checked(file)
    assert page.failures == [] and page.unaccounted() == []


@pytest.mark.long
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_another_run_with_other_numbers_is_noticed(file):
    """Changes the numbers in the outputs of one cell that the claims read, cell after cell: some claim has to fail."""
    unnoticed = []
    original = checked(file)
    for cell_id in sorted(original.read):
        notebook = copy.deepcopy(original.notebook)
        cell = next(cell for cell in notebook.cells if cell.id == cell_id)
        for output in cell.outputs:
            if "text" in output:
                output["text"] = _changed(output["text"])
            elif not output.get("data", {}).get("text/plain", "").startswith("[Figure: "):
                output["data"]["text/plain"] = _changed(output["data"].get("text/plain", ""))
        if notebook == original.notebook:
            continue  # the cell prints no number
        try:
            if not checked(file, notebook).failures:
                unnoticed.append(cell_id)
        except (AssertionError, ValueError, IndexError, KeyError):
            pass  # the number could not even be found
    assert unnoticed == []


def _changed(text: str) -> str:
    """The text with its numbers turned around, so that no comparison of two of them stays as it was."""
    return re.sub(NUMBER, lambda match: match.group().translate(OTHER_DIGITS), text)


def small_page(*texts: str, output: str = "accuracy 0.91\n") -> Page:
    cells = [nbformat.v4.new_markdown_cell(text) for text in texts]
    code = nbformat.v4.new_code_cell("print(…)", outputs=[nbformat.v4.new_output("stream", text=output)])
    code.id = "measured"
    return Page("small", nbformat.v4.new_notebook(cells=[*cells, code]))


def test_a_number_changed_by_hand_is_found():
    page = small_page("It gets **91 %** of\nthem right.")
    accuracy = page.number("measured", r"accuracy ([\d.]+)")
    page.says("gets {:.0%} of them right", accuracy)
    assert page.failures == ["not in the lecture: 'gets 91% of them right'"]  # the course writes a space before %
    page = small_page("It gets **91 %** of\nthem right.")
    page.says("gets {:.0f} % of them right", 100 * accuracy)
    assert page.failures == [] and page.unaccounted() == []
    page = small_page("It gets **19 %** of\nthem right.")
    page.says("gets {:.0f} % of them right", 100 * accuracy)
    assert len(page.failures) == 1 and page.unaccounted() == ["It gets 19 % of them right."]


def test_a_comparison_that_no_longer_holds_is_found():
    page = small_page("Attention is ahead.", output="0.7 0.9\n")
    attention, plain_model = page.numbers("measured")
    page.says("Attention is ahead", holds=attention > plain_model)
    assert page.failures == ["the outputs do not bear it out: 'Attention is ahead'"]


def test_formulas_code_headings_and_references_need_no_claim():
    text = "# 1 · Title\n\n$d_k = 64$ and `x[:3]`, by W2 and [text](a/12.html), lecture 3 (2017), section 3.2.1."
    text += "\n\n$$ 2 \\cdot 3 $$\n\n**1.** A question."
    page = small_page(text, "## References\n\nA., vol. 7.")
    assert page.unaccounted() == []
    page.given("nowhere", because="an example")
    assert page.failures == ["not in the lecture: 'nowhere'"]


def test_plain_text_has_no_marks_and_single_spaces():
    assert plain("a **b**\n <small>c</small>\xa0d") == "a b c d"


@pytest.mark.parametrize(
    "text, right",
    [
        ("so 36/4 = 9 boxes", True),
        ("54.6 / (2 · 54.6 + 7) = 0.47", True),
        ("0.361·2 + 0.133·1 + 0.361·1 = 1.216", True),
        ("2 · 1,000 − 1 = 1,999", True),
        ("3² + 4² = 25", True),
        ("36/4 = 8", False),
        ("1/3 = 0.34", False),
    ],
)
def test_a_calculation_in_the_text_is_done_again(text, right):
    (found,) = calculations(text)
    assert found.right is right


@pytest.mark.parametrize("text", ["x = 3", "3 of 4 (75 %)", "Q·K = 7", "5/(2 = 3", "2/0 = 1"])
def test_what_is_no_calculation_is_left_alone(text):
    assert list(calculations(text)) == []

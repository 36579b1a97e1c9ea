"""What every lecture has, read off the stored notebooks: figures told in words, answers, links, a clean run."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[1]
LECTURES = sorted(path.stem for path in (ROOT / "lectures").glob("[0-9]*.ipynb"))

# How long a lecture takes is counted, not guessed: a reader of technical prose, who also reads the code.
WORDS_A_MINUTE = 200
CODE_LINES_A_MINUTE = 15
MINUTES_A_QUESTION = 1.0
MINUTES_A_FIGURE = 0.75
MOST_MINUTES = 90


@pytest.fixture(params=LECTURES)
def lecture(request):
    return request.param, nbformat.read(ROOT / "lectures" / f"{request.param}.ipynb", as_version=4)


def prose(notebook) -> str:
    return "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")


def pictures(notebook) -> list:
    return [
        output
        for cell in notebook.cells
        if cell.cell_type == "code"
        for output in cell.outputs
        if "image/png" in output.get("data", {})
    ]


def minutes(notebook) -> float:
    text = prose(notebook)
    words = len(re.findall(r"\w+", re.sub(r"<[^>]+>|\$\$.*?\$\$", "", text, flags=re.DOTALL)))
    code = sum(
        bool(line.strip()) for cell in notebook.cells if cell.cell_type == "code" for line in cell.source.splitlines()
    )
    questions = len(re.findall(r"\*\*(?:Predict|Calculate|Answer|Spot)", text))
    return (
        words / WORDS_A_MINUTE
        + code / CODE_LINES_A_MINUTE
        + questions * MINUTES_A_QUESTION
        + len(pictures(notebook)) * MINUTES_A_FIGURE
    )


def test_it_ran_from_top_to_bottom_and_nothing_went_wrong(lecture):
    _, notebook = lecture
    code = [cell for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip()]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    outputs = [output for cell in code for output in cell.outputs]
    assert not [output for output in outputs if output.output_type == "error" or output.get("name") == "stderr"]


def test_its_figures_are_drawn_and_told_in_words(lecture):
    _, notebook = lecture
    assert len(pictures(notebook)) >= 3
    for output in pictures(notebook):
        assert output.metadata["image/png"]["alt"].strip()
    assert "![" not in prose(notebook)  # nothing is pasted


def test_the_words_of_a_figure_say_what_it_shows(lecture):
    """Whoever does not see the figures reads a description, and not the same one for two of them."""
    _, notebook = lecture
    words = [output.metadata["image/png"]["alt"] for output in pictures(notebook)]
    assert not [
        said for said in words if len(said.split()) < 10 or re.match(r"(?i)(figure|image|plot) (of|with)", said)
    ]
    assert len(set(words)) == len(words)


def test_it_asks_before_it_answers(lecture):
    _, notebook = lecture
    text = prose(notebook)
    assert text.count("**Predict") >= 3
    assert text.count("<details>") == text.count("</details>") >= 5
    for part in ("common mistakes", "check yourself", "summary", "references", "slow machine"):
        assert part in text.lower() or (part == "slow machine" and "slow" in text and "GPU" in text), part


def test_it_leads_to_its_lab_and_to_its_neighbours(lecture):
    name, notebook = lecture
    text = prose(notebook)
    labs = sorted(path.name for path in (ROOT / "labs").glob(f"{name[:2]}*"))
    lab = name if name in labs else labs[0]  # a second part may share the lab of the first
    assert f"../labs/{lab}/{lab}.ipynb" in text
    place = LECTURES.index(name)
    for neighbour in (*LECTURES[max(0, place - 1) : place], *LECTURES[place + 1 : place + 2]):
        assert f"({neighbour}.ipynb" in text
    for target in re.findall(r"\]\((\.\.[^)#]+|[0-9][^)#]+\.ipynb)", text):
        path = ROOT / "lectures" / target
        assert path.exists() or int(path.stem[:2]) > int(LECTURES[-1][:2]), target


def test_cells_are_short(lecture):
    _, notebook = lecture
    long = [cell.source[:60] for cell in notebook.cells if cell.cell_type == "code" and cell.source.count("\n") > 27]
    assert not long


def test_no_lecture_takes_longer_than_one_sitting(lecture):
    _, notebook = lecture
    assert minutes(notebook) <= MOST_MINUTES, f"counts {minutes(notebook):.1f}: shorten its prose"


def test_the_stated_minutes_are_the_counted_ones(lecture):
    _, notebook = lecture
    stated = int(re.search(r"\*\*Time[^0-9]*(\d+) minutes", prose(notebook)).group(1))
    assert abs(stated - minutes(notebook)) <= 5, f"states {stated}, counts {minutes(notebook):.0f}"


def test_the_table_of_contents_states_the_same_minutes(lecture):
    name, notebook = lecture
    table = (ROOT / "docs" / "course.md").read_text(encoding="utf-8")
    stated = re.search(r"\*\*Time[^0-9]*(\d+) minutes", prose(notebook)).group(1)
    assert re.search(rf"/{name}\.ipynb\) \(about {stated} min\)", table)


def test_lecture_8b_repeats_the_model_of_lecture_8_unchanged():
    parts = [(ROOT / "lectures" / f"{name}.py").read_text("utf-8") for name in LECTURES if name.startswith("08")]
    first, second = (re.split(r"^# %%.*$", text, flags=re.MULTILINE) for text in parts)
    for mark in ("NAMES = [*dates", "def encoder_block(", "class Positions(", "def greedy("):
        (shown,), (repeated,) = ([cell.strip() for cell in cells if mark in cell] for cells in (first, second))
        assert repeated == shown, mark
    (shown,), (repeated,) = ([cell for cell in cells if "def pipeline(" in cell] for cells in (first, second))
    assert repeated.strip() == shown.split("watcher, started")[0].strip()


def test_lecture_9b_repeats_tokens_and_batches_of_lecture_9_unchanged():
    first, second = (
        (ROOT / "lectures" / f"{name}.py").read_text("utf-8") for name in LECTURES if name.startswith("09")
    )
    for begin, end in (("class PatchTokens(", "\n\n\n"), ("AUGMENT = ", "\n"), ("def pipeline(", "\n\n\n")):
        (shown,), (repeated,) = (
            [each.split(end)[0] for each in text.split(f"\n{begin}")[1:]] for text in (first, second)
        )
        assert repeated == shown, begin


def test_a_notebook_opens_with_the_installed_kernel_and_stores_no_times(lecture):
    _, notebook = lecture
    assert notebook.metadata.kernelspec == {
        "display_name": "Python 3 (ipykernel)",
        "language": "python",
        "name": "python3",
    }
    assert not [cell.id for cell in notebook.cells if "execution" in cell.metadata]

"""What every lecture has, read off the stored notebooks: figures told in words, answers, links, a clean run."""

from __future__ import annotations

import ast
import base64
import html
import io
import re
from functools import cache
from pathlib import Path

import nbformat
import pytest
from long_runs import advise
from PIL import Image

ROOT = Path(__file__).resolve().parents[2]
LECTURES = sorted(path.stem for path in (ROOT / "lectures").glob("[0-9]*.ipynb"))

# How long a page takes is counted, not guessed. The frame is title, objectives, summary, references and the folded box.
WORDS_A_MINUTE = 110
CODE_LINES_A_MINUTE = 8
WORDS_OF_THE_FRAME = 400
FINAL_QUESTIONS = 4
MINUTES = {"prediction": 2, "by hand": 4, "step": 1, "figure": 1, "final question": 1}
MOST_MINUTES = 65
MOST = {"words": 3000, "lines": 250, "figures": 8, "predictions": 3}


@cache
def read(path: Path):
    """A stored notebook; no test changes it."""
    return nbformat.read(path, as_version=4)


@pytest.fixture(params=LECTURES)
def lecture(request):
    return request.param, read(ROOT / "lectures" / f"{request.param}.ipynb")


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


def sections(notebook) -> list[str]:
    """The markdown of each numbered section, from its heading to the next heading of its level."""
    parts = re.split(r"^(?=## )", prose(notebook), flags=re.MULTILINE)
    return [part for part in parts if re.match(r"## \d+ · ", part)]


def counts(notebook) -> dict[str, int]:
    """What a reader has to do on the page, counted."""
    text = "\n".join(sections(notebook)) + _final_questions(notebook)
    calculations = [part for part in _cells(notebook) if re.search(r"\*\*(Calculate|By hand)", part)]
    steps = sum(len(re.findall(r"\*\*Step \d+", part)) for part in calculations)
    taught = [cell for cell in notebook.cells if cell.cell_type == "code" and not _FRAME & set(_tags(cell))]
    return {
        "words": len(re.findall(r"\w+", re.sub(r"<[^>]+>|\$\$.*?\$\$|\]\([^)]*\)", "", text, flags=re.DOTALL))),
        "lines": sum(bool(line.strip()) for cell in taught for line in cell.source.splitlines()),
        "predictions": len(re.findall(r"\*\*Predict", text)),
        "by hand": sum(not re.search(r"\*\*Step \d+", part) for part in calculations),
        "step": steps,
        "figures": len(pictures(notebook)),
    }


DRAWS = r"plots\.|diagrams\.|scenes\.|\bax\w*\.|\bfig\w*\b|alt="
_FRAME = {"drawing", "setup", "course-setup"}


def _tags(cell) -> list[str]:
    return cell.metadata.get("tags", [])


def _cells(notebook) -> list[str]:
    return [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]


def _final_questions(notebook) -> str:
    found = re.search(r"^## Four questions.*?(?=^## )", prose(notebook), flags=re.MULTILINE | re.DOTALL)
    return found.group() if found else ""


def minutes(notebook) -> float:
    """The minutes of a page, by the rule in docs/lecture-pages.md."""
    found = counts(notebook)
    return (
        (found["words"] + WORDS_OF_THE_FRAME) / WORDS_A_MINUTE
        + found["lines"] / CODE_LINES_A_MINUTE
        + found["predictions"] * MINUTES["prediction"]
        + found["by hand"] * MINUTES["by hand"]
        + found["step"] * MINUTES["step"]
        + found["figures"] * MINUTES["figure"]
        + FINAL_QUESTIONS * MINUTES["final question"]
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


EVIDENCE = sorted((ROOT / "lectures" / "evidence").glob("[0-9]*.ipynb"))


def _literal_words(value: ast.expr) -> list[str]:
    """The literal parts of a string or f-string, in order; what an f-string computes is left out."""
    parts = value.values if isinstance(value, ast.JoinedStr) else [value]
    return [" ".join(part.value.split()) for part in parts if isinstance(part, ast.Constant)]


@pytest.mark.parametrize(
    "path", [ROOT / "lectures" / f"{name}.ipynb" for name in LECTURES] + EVIDENCE, ids=lambda path: path.stem
)
def test_the_stored_words_of_a_figure_are_those_of_its_source(path):
    """Who edits the words in the source and does not run the page leaves the old ones in its outputs."""
    for cell in read(path).cells:
        if cell.cell_type != "code" or "alt=" not in cell.source:
            continue
        stored = [
            " ".join(output.metadata["image/png"]["alt"].split())
            for output in cell.outputs
            if "image/png" in output.get("data", {})
        ]
        folded = "".join(
            "".join(html.unescape(re.sub(r"<[^>]+>", " ", output.data["text/html"])).split()).replace(
                "Figureinwords", ""
            )
            for output in cell.outputs
            if "figure-caption" in output.get("data", {}).get("text/html", "")
        )
        for output in cell.outputs:
            if "image/png" in output.get("data", {}):
                with Image.open(io.BytesIO(base64.b64decode(output.data["image/png"]))) as picture:
                    in_file = picture.info.get("Description", output.metadata["image/png"]["alt"])
                assert in_file.split() == output.metadata["image/png"]["alt"].split()  # for who saves it
        assert not folded or all("".join(words.split()) in folded for words in stored), stored  # what a reader sees
        for keyword in (node for node in ast.walk(ast.parse(cell.source)) if isinstance(node, ast.keyword)):
            literal = _literal_words(keyword.value) if keyword.arg == "alt" else []
            assert not literal or any(all(part in words for part in literal) for words in stored), literal


@pytest.mark.parametrize(
    "path", [ROOT / "lectures" / f"{name}.ipynb" for name in LECTURES] + EVIDENCE, ids=lambda path: path.stem
)
def test_the_stored_picture_of_a_live_figure_is_on_white(path):
    """Half transparent marks are grey in a picture without a ground, and a picture of 64 colours merges pale ones."""
    for cell in read(path).cells:
        for output in cell.get("outputs", ()):
            if "application/vnd.vegalite.v5+json" in output.get("data", {}):
                picture = Image.open(io.BytesIO(base64.b64decode(output.data["image/png"])))
                assert picture.mode == "RGB" and picture.getpixel((0, 0)) == (255, 255, 255), cell.id


def test_it_asks_before_it_answers(lecture):
    _, notebook = lecture
    text = prose(notebook)
    assert text.count("<details>") == text.count("</details>") >= 5
    assert text.count("**Predict") >= 2
    parts = ("two mistakes", "four questions", "summary", "references", "slow")
    for part in parts:
        assert part in text.lower(), part


def test_it_leads_to_its_lab_and_to_its_neighbours(lecture):
    name, notebook = lecture
    text = prose(notebook)
    labs = sorted(path.name for path in (ROOT / "labs").glob(f"{name[:2]}*"))
    settings = (ROOT / "course.toml").read_text("utf-8")
    if f'name = "{name[:2]}' in settings:  # the lab of a new lecture may follow
        lab = name if name in labs else labs[0]  # a second part may share the lab of the first
        assert f"../labs/{lab}/{lab}.ipynb" in text
    place = LECTURES.index(name)
    for neighbour in (*LECTURES[max(0, place - 1) : place], *LECTURES[place + 1 : place + 2]):
        assert f"({neighbour}.ipynb" in text
    for target in re.findall(r"\]\((\.\.[^)#]+|[0-9][^)#]+\.ipynb)", text):
        path = ROOT / "lectures" / target
        assert path.exists() or int(path.stem[:2]) > int(LECTURES[-1][:2]), target


def test_cells_are_short(lecture):
    name, notebook = lecture
    long = [cell.source[:60] for cell in notebook.cells if cell.cell_type == "code" and cell.source.count("\n") > 27]
    advise(f"{name}: cells of more than 28 lines", long)


def test_no_lecture_takes_longer_than_an_hour(lecture):
    name, notebook = lecture
    found = {**counts(notebook), "minutes": round(minutes(notebook), 1)}
    most = {**MOST, "minutes": MOST_MINUTES}
    advise(f"{name}: more than an hour's", {what: found[what] for what in most if found[what] > most[what]})


def test_the_stated_minutes_are_the_counted_ones(lecture):
    name, notebook = lecture
    stated = int(re.search(r"\*\*Time[^0-9]*(\d+) minutes", prose(notebook)).group(1))
    apart = abs(stated - minutes(notebook)) > 2.5
    advise(f"{name}: states {stated} minutes", [f"counts {minutes(notebook):.0f}"] if apart else [])


def test_a_page_begins_with_its_idea_and_ends_with_it(lecture):
    """The sentence in bold below the title is the last line of the summary."""
    _, notebook = lecture
    idea = re.match(r"# [^\n]+\n+\*\*(.+?)\*\*\n", notebook.cells[0].source, re.DOTALL)
    assert idea, "the paragraph below the title is the idea, in bold"
    summary = re.search(r"^## Summary\s+(.*?)(?=^## |\Z)", prose(notebook), re.MULTILINE | re.DOTALL).group(1)
    assert " ".join(summary.strip().rstrip("*").split()).endswith(" ".join(idea.group(1).split()))


def test_every_section_has_an_id_and_ends_with_the_sentence_to_keep(lecture):
    _, notebook = lecture
    ids = re.findall(r'^<a id="([a-z0-9-]+)"></a>\n\n## \d+ · ', prose(notebook), re.MULTILINE)
    assert len(ids) == len(sections(notebook)) == len(set(ids)) > 3
    for section in sections(notebook):
        kept = re.sub(r'\s*<a id="[^"]*"></a>\s*$', "", section).rstrip()
        assert re.search(r"(?:^|\n)\*\*[^*]+(?:\*[^*]+\*[^*]*)*\*\*$", kept), f"{section[:50]!r} ends in {kept[-80:]!r}"


def test_a_question_is_a_cell_of_its_own_with_a_folded_answer(lecture):
    _, notebook = lecture
    for source in _cells(notebook):
        if re.search(r"^\*\*(Predict|Calculate|By hand)\.\*\*", source, re.MULTILINE):
            assert re.match(r"\*\*(Predict|Calculate|By hand)\.\*\*", source), source[:60]
            answer = re.search(r"<details><summary>Answer</summary>\n\n(.+)\n\n</details>$", source, re.DOTALL)
            assert answer, source[:60]
            if "\n- (a) " in source:
                assert re.match(r"\*\*\([a-e]\)\*\*", answer.group(1)), source[:60]


def test_a_cell_that_only_draws_is_tagged(lecture):
    """The site folds it: whoever reads sees the picture, not the drawing."""
    _, notebook = lecture
    for cell in notebook.cells:
        if cell.cell_type == "code" and "plots.show(" in cell.source and not _FRAME & set(_tags(cell)):
            lines = [line for line in cell.source.splitlines() if line.strip()]
            drawn = [line for line in lines if re.search(DRAWS, line)]
            assert len(drawn) < 0.6 * len(lines), f"tag it as a drawing: {cell.source[:60]!r}"


def test_the_table_of_contents_states_the_same_minutes(lecture):
    name, notebook = lecture
    table = (ROOT / "docs" / "course.md").read_text(encoding="utf-8")
    stated = re.search(r"\*\*Time[^0-9]*(\d+) minutes", prose(notebook)).group(1)
    assert re.search(rf"/{name}\.ipynb\) \(about {stated} min\)", table)


def test_a_notebook_opens_with_the_installed_kernel_and_stores_no_times(lecture):
    _, notebook = lecture
    assert notebook.metadata.kernelspec == {
        "display_name": "Python 3 (ipykernel)",
        "language": "python",
        "name": "python3",
    }
    assert not [cell.id for cell in notebook.cells if "execution" in cell.metadata]

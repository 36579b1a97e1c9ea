"""Make the mistake here: the recorded box says what the check says, links lead from where it stands, data are whole."""

from __future__ import annotations

import json
import math
import re

import nbformat
import numpy as np
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from printed_numbers import Printed
from programs import program
from scipy.special import softmax
from site_building import ROOT
from tiny_course import with_secrets

from autograder.course.settings import load_course
from autograder.integrations.site import mistakes_here
from autograder.integrations.site.mistakes_here import ATTENTION, EDITORS, TAG, Choice, MistakesHere
from coursekit.check.lab import Lab, load_reference

LAB, EXERCISE = ATTENTION.lab, ATTENTION.exercise
# How the lines, which are for one sentence, read for a batch.
LEADING = {"k.T": "np.swapaxes(k, -1, -2)", "axis=1": "axis=-1", "axis=0": "axis=-2"}


@pytest.fixture(scope="module")
def here():
    return MistakesHere(load_course(ROOT))


def as_answered(choice: Choice):
    """The page's lines as a student's function."""
    code = [f"def {EXERCISE}(q, k, v, mask=None):", "    q, k, v = np.asarray(q), np.asarray(k), np.asarray(v)"]
    for line in choice.lines:
        for one, any_number in LEADING.items():
            line = line.replace(one, any_number)
        code += ["    if mask is not None:", f"        {line}"] if "mask" in line else [f"    {line}"]
    names = {"np": np, "math": math, "softmax": softmax}
    exec("\n".join([*code, "    return output, weights"]), names)
    return names


@pytest.mark.parametrize("choice", ATTENTION.choices, ids=lambda choice: choice.id or "right")
def test_the_recorded_box_is_what_the_check_of_the_lab_says_of_the_lines(choice):
    with np.errstate(all="ignore"):
        report = Lab(load_reference(LAB)).report(EXERCISE, as_answered(choice))
    assert report.judgement.misconceptions == ((choice.id,) if choice.id else ())
    assert report.judgement.passed == (not choice.id)
    assert Printed(mistakes_here.render_box(ATTENTION, choice)) == report._repr_html_()
    assert bool(report.sections) == bool(choice.id), "a section explains each mistake"


def test_the_page_of_each_other_lab_shows_what_its_check_says_of_a_wrong_answer_today(here):
    shown = json.loads((ROOT / "site" / "checks.json").read_text("utf-8"))
    assert shown.keys() | {editor.lab for editor in EDITORS} == {lab.name for lab in load_course(ROOT).labs}
    for lab, now in program("site/record_checks.py").record_all().items():
        assert (shown[lab]["exercise"], shown[lab]["lines"]) == (now["exercise"], now["lines"])
        assert Printed(shown[lab]["box"]) == now["box"], f"{lab}: run site/record_checks.py"
        notebook = nbformat.read(ROOT / "labs" / lab / f"{lab}.ipynb", as_version=4)
        here.add(notebook, f"labs/{lab}/{lab}")
        (place,) = [number for number, cell in enumerate(notebook.cells) if "Recorded: a wrong answer" in cell.source]
        assert notebook.cells[place - 1].source == f'check("{now["exercise"]}")'


@pytest.mark.parametrize("editor", EDITORS, ids=lambda editor: editor.exercise)
def test_what_is_exported_is_of_the_reference_that_students_have(editor):
    told = json.loads(mistakes_here.export(editor))
    spec = load_reference(editor.lab).specs[editor.exercise]
    assert told["sentences"] == {id: sentence for id, sentence in spec.sentences.items() if sentence}
    assert {choice.id for choice in editor.choices if choice.id} <= set(told["sentences"])
    tried = [
        case for case in load_reference(editor.lab).expectations[editor.exercise] if mistakes_here.is_judged_here(case)
    ]
    assert [case["description"] for case in told["cases"]] == [case.description for case in tried]
    assert [list(case["wrong"]) for case in told["cases"]] == [list(case.wrong) for case in tried]
    assert all(told["meanings"].values()), "the course has a sentence for each kind of error"


@pytest.mark.parametrize(
    ("page", "section", "lab"),
    [
        ("index", "lectures/02_self_attention.html#formula", f"labs/{LAB}/{LAB}.html"),
        ("lectures/02_self_attention", "02_self_attention.html#formula", f"../labs/{LAB}/{LAB}.html"),
    ],
)
def test_links_lead_from_the_page_on_which_it_stands(here, page, section, lab):
    links = re.findall(r'href="([^"]+)"', here.html(page))
    assert section in links and lab in links
    assert not [link for link in links if ".ipynb" in link]


def test_it_stands_below_the_cell_with_the_tag_and_begins_with_the_right_lines(here):
    notebook = new_notebook(
        cells=[new_code_cell("1"), new_code_cell("2", metadata={"tags": [TAG]}), new_code_cell("3")]
    )
    here.add(notebook, "lectures/02_self_attention")
    assert [cell.source[:9] for cell in notebook.cells] == ["1", "2", "```{raw} ", "3"]
    assert notebook.cells[2].cell_type == "markdown" and 'data-first=""' in notebook.cells[2].source
    lecture = nbformat.read(ROOT / "lectures" / "02_self_attention.ipynb", as_version=4)
    (cell,) = [cell for cell in lecture.cells if TAG in cell.metadata.get("tags", ())]
    assert "softmax over the queries" in cell.source and "mask after the softmax" in cell.source


def test_a_course_without_the_exercise_has_none(tmp_path, monkeypatch):
    without = MistakesHere(with_secrets(tmp_path / "course", monkeypatch))
    notebook = new_notebook(cells=[new_code_cell("1", metadata={"tags": [TAG]})])
    without.add(notebook, "lectures/01_tiny")
    assert without.html("index") == "" and len(notebook.cells) == 1 and not without.scripts()

"""Make the mistake here: the page's lines give its map, and its box says what the check says of these lines."""

from __future__ import annotations

import math
import re

import nbformat
import numpy as np
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from printed_numbers import Printed
from scipy.special import softmax
from site_building import ROOT
from tiny_course import with_secrets

from autograder.course.settings import load_course
from autograder.declare.declaration import declared_exercises
from autograder.integrations.site import mistakes_here
from autograder.integrations.site.mistakes_here import CHOICES, EXERCISE, LAB, LEADING, TAG, Choice, MistakesHere
from coursekit.check.lab import Lab, load_reference

IDS = [choice.id or "right" for choice in CHOICES]


@pytest.fixture(scope="module")
def here():
    return MistakesHere(load_course(ROOT))


@pytest.fixture(scope="module")
def exercise():
    return declared_exercises(load_course(ROOT), LAB)[EXERCISE]


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


@pytest.mark.parametrize("choice", CHOICES, ids=IDS)
def test_the_box_is_what_the_check_of_the_lab_says_of_the_lines(choice):
    with np.errstate(all="ignore"):
        report = Lab(load_reference(LAB)).report(EXERCISE, as_answered(choice))
    assert report.judgement.misconceptions == ((choice.id,) if choice.id else ())
    assert report.judgement.passed == (not choice.id)
    assert Printed(mistakes_here.render_box(choice)) == report._repr_html_()
    assert bool(report.sections) == bool(choice.id), "a section explains each mistake"


@pytest.mark.parametrize("choice", CHOICES, ids=IDS)
def test_the_map_is_what_the_lines_compute(choice, exercise):
    given = mistakes_here.make_inputs(choice)
    scope = {**given, "np": np, "math": math, "softmax": softmax}
    with np.errstate(all="ignore"):
        exec("\n".join(choice.lines), scope)  # the lines as they stand on the page, for one sentence
    shown = mistakes_here.compute_weights(choice, exercise)
    np.testing.assert_allclose(scope["weights"], shown, rtol=1e-9, atol=1e-12)
    if choice.id:
        assert not np.allclose(shown, mistakes_here.compute_weights(CHOICES[0], exercise), atol=0.05)


def test_what_is_marked_is_what_is_wrong_there(exercise):
    right, mask = mistakes_here.compute_weights(CHOICES[0], exercise), mistakes_here.make_inputs(CHOICES[0])["mask"]
    marked = {
        name: mistakes_here.find_marks(mistakes_here.compute_weights(choice, exercise), right, mask)
        for name, choice in zip(IDS, CHOICES, strict=True)
    }
    assert not marked["right"].any()
    assert marked["unscaled"][:5, :5].any() and not marked["unscaled"][5].any() and not marked["unscaled"][:, 5].any()
    assert marked["softmax_over_queries"][5, :5].all() and marked["softmax_over_queries"][:5, 5].all()
    assert marked["mask_after_softmax"][:5, 5].tolist() == [True] * 4 + [False]
    assert marked["mask_inverted"][:5, :5].sum() == 10 and not (marked["mask_inverted"][:5, :5] & mask).any()
    assert np.array_equal(
        marked["unstable_softmax"][:5, :5], np.isnan(mistakes_here.compute_weights(CHOICES[-1], exercise))
    ), "every NaN, and nothing else"


def test_only_the_changed_lines_are_said_to_be_changed(here):
    page = here.html("index")
    states = page.split('<div class="course-state"')[1:]
    assert len(states) == len(CHOICES)
    for choice, state in zip(CHOICES, states, strict=True):
        changed = [line for line in choice.lines if line not in mistakes_here.RIGHT]
        assert re.findall(r"<mark><span>changed: </span>(.*?)</mark>", state) == changed
        assert len(changed) == bool(choice.id)
        assert ("<span>larger: </span>" in state) == choice.large
        assert state.count("<th scope=") == 12 and state.count('<td class="course-weight') == 25


@pytest.mark.parametrize(
    ("page", "section", "lab"),
    [
        ("index", "lectures/02_self_attention.html#why-sqrt-dk", f"labs/{LAB}/{LAB}.html"),
        ("lectures/02_self_attention", "02_self_attention.html#why-sqrt-dk", f"../labs/{LAB}/{LAB}.html"),
    ],
)
def test_links_lead_from_the_page_on_which_it_stands(here, page, section, lab):
    links = re.findall(r'href="([^"]+)"', here.html(page))
    assert section in links and lab in links
    assert not [link for link in links if ".ipynb" in link]


def test_it_stands_below_the_cell_with_the_tag(here):
    notebook = new_notebook(
        cells=[new_code_cell("1"), new_code_cell("2", metadata={"tags": [TAG]}), new_code_cell("3")]
    )
    here.add(notebook, "lectures/02_self_attention")
    assert [cell.source[:9] for cell in notebook.cells] == ["1", "2", "```{raw} ", "3"]
    assert notebook.cells[2].cell_type == "markdown"
    lecture = nbformat.read(ROOT / "lectures" / "02_self_attention.ipynb", as_version=4)
    (cell,) = [cell for cell in lecture.cells if TAG in cell.metadata.get("tags", ())]
    assert "softmax over the queries" in cell.source and "mask after the softmax" in cell.source


def test_a_course_without_the_exercise_has_none(tmp_path, monkeypatch):
    without = MistakesHere(with_secrets(tmp_path / "course", monkeypatch))
    notebook = new_notebook(cells=[new_code_cell("1", metadata={"tags": [TAG]})])
    without.add(notebook, "lectures/01_tiny")
    assert without.html("index") == "" and len(notebook.cells) == 1

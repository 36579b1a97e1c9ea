"""What `make colab-check` makes of executed notebooks; the running itself takes minutes and is left to the command."""

from __future__ import annotations

import importlib
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output
from tiny_course import LAB, details, released

TOOLS = Path(__file__).resolve().parents[2] / "tools"


@pytest.fixture
def colab_check(monkeypatch):
    monkeypatch.syspath_prepend(str(TOOLS))
    return importlib.import_module("colab_check")


def judged(colab_check, monkeypatch, cells, *, finished):
    """The problems of a lab whose run ends with these cells."""
    monkeypatch.setattr(colab_check, "run", lambda *_, **__: new_notebook(cells=cells))
    return colab_check.lab_problems(None, None, finished=finished)[0]


def check_cell(text):
    output = new_output("display_data", {"text/plain": text})
    return new_code_cell('check("double")', metadata=details("double", grade=True, locked=True), outputs=[output])


def raising(source, kind, message):
    return new_code_cell(source, outputs=[new_output("error", ename=kind, evalue=message, traceback=[])])


def test_every_check_has_to_pass_with_the_answers_and_none_without(colab_check, monkeypatch):
    right, wrong = check_cell("✓ double: 2 of 2"), check_cell("✗ double: 0 of 2\n    ✓ one group\n    ✗ another")
    assert judged(colab_check, monkeypatch, [right], finished=True) == []
    assert judged(colab_check, monkeypatch, [wrong], finished=False) == []
    assert "does not pass" in judged(colab_check, monkeypatch, [right, wrong], finished=True)[0]
    assert "passes" in judged(colab_check, monkeypatch, [wrong, right], finished=False)[0]


def test_only_what_waits_for_an_answer_may_raise(colab_check, monkeypatch):
    waits = raising("doubled = double(3)", "NotImplementedError", "Write your code here")
    follows = raising("print(doubled)", "NameError", "name 'doubled' is not defined")
    assert judged(colab_check, monkeypatch, [waits, follows], finished=False) == []
    assert "'doubled'" in judged(colab_check, monkeypatch, [follows, waits], finished=False)[0]
    broken = raising("import coursekit", "ModuleNotFoundError", "No module named 'coursekit'")
    assert "ModuleNotFoundError" in judged(colab_check, monkeypatch, [broken], finished=False)[0]


def test_a_lecture_has_to_print_what_it_has_stored(colab_check, monkeypatch):
    def lecture(*texts):
        outputs = [new_output("stream", text=text) for text in texts]
        return new_notebook(cells=[new_code_cell("# NBVAL_CHECK_OUTPUT\nprint(x)", outputs=outputs)])

    monkeypatch.setattr(colab_check, "run", lambda notebook, _: lecture("1\n2\n"))
    assert colab_check.lecture_problems(lecture("1\n", "2\n"), None)[0] == []
    assert "has stored\n1\n3" in colab_check.lecture_problems(lecture("1\n3\n"), None)[0][0]


def test_the_solutions_answers_go_into_the_released_lab(colab_check, tmp_path, monkeypatch):
    course = released(tmp_path / "course", monkeypatch)
    lab = nbformat.read(course.release_notebook(LAB), as_version=4)
    solution = nbformat.read(course.solution_notebook(LAB), as_version=4)
    sources = [cell.source for cell in colab_check.answered(lab, solution).cells]
    answer = 'def double(x):\n    """Twice x."""\n    doubled_carefully = x + x\n    return doubled_carefully\n'
    assert answer in sources and "Write your code here" in str(lab) and "SOLUTION" not in str(sources)
    assert sources[-1] == "*Write your answer here.*"

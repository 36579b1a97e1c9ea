"""A notebook is checked on its own code, and on nothing that ran before it in the same process."""

from __future__ import annotations

import sys
from pathlib import Path

from nbformat.v4 import new_code_cell, new_notebook
from tiny_course import write_notebook
from typer.testing import CliRunner

from coursekit.notebook import check_notebook
from coursekit.terminal import app

START = 'from coursekit import start_lab\ncheck = start_lab("02_self_attention")'
COST = """
def attention_cost(length, d_model):
    return {"multiply_adds": 2 * length**2 * d_model, "weights_entries": length**2}
"""


def statuses(path: Path, *sources: str) -> dict[str, str]:
    write_notebook(path, new_notebook(cells=[new_code_cell(source) for source in sources]))
    return {report.spec.name: report.judgement.status for report in check_notebook(path)}


def test_a_second_notebook_does_not_see_the_names_of_the_first(tmp_path):
    main = sys.modules["__main__"]
    first = statuses(
        tmp_path / "first.ipynb", "%matplotlib inline\n" + START, COST, "get_ipython().run_line_magic('pwd', '')"
    )
    second = statuses(tmp_path / "second.ipynb", START)
    assert (first["attention_cost"], second["attention_cost"]) == ("graded", "missing")
    assert sys.modules["__main__"] is main


def test_a_notebook_is_the_main_module_while_it_runs(tmp_path):
    pickled = "import pickle\nif pickle.loads(pickle.dumps(cost)) is cost:\n    attention_cost = cost"
    found = statuses(tmp_path / "one.ipynb", START, COST.replace("attention_cost", "cost"), pickled)
    assert found["attention_cost"] == "graded"


def test_a_terminal_shows_what_was_found_and_the_labs_line_once(tmp_path):
    """And nothing that the code prints while it is checked, such as a bar for each epoch of a training."""
    talkative = COST.replace("    return", '    print("counting …")\n    return')
    write_notebook(tmp_path / "lab.ipynb", new_notebook(cells=[new_code_cell(source) for source in (START, talkative)]))
    done = CliRunner().invoke(app, ["check", str(tmp_path / "lab.ipynb")])
    assert done.exit_code == 1
    assert "✓ attention_cost: " in done.output and "counting" not in done.output
    assert done.output.count("exercises pass") == 1
    assert done.output.splitlines()[-1].startswith("Lab: □") and "1 of " in done.output.splitlines()[-1]


def test_an_exercise_that_the_instructor_removed_is_told_and_fails_nothing(tmp_path):
    cells = [new_code_cell(START), new_code_cell(COST)]
    for name in ("attention_cost", "gone"):
        flags = {"nbgrader": {"grade_id": name, "grade": True, "points": 1}}
        cells.append(new_code_cell(f'check("{name}")', metadata=flags))
    write_notebook(tmp_path / "old.ipynb", new_notebook(cells=cells))
    said = CliRunner().invoke(app, ["check", str(tmp_path / "old.ipynb")]).output
    assert "– gone: your instructor has removed this exercise" in said and said.count("has removed") == 1

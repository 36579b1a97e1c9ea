"""What is wrong with the structure of a solution notebook is said, and a sound one passes."""

from __future__ import annotations

import pytest
from tiny_course import solution_notebook

from autograder.release.lint_lab import find_structure_problems


def without(index):
    return lambda notebook: notebook.cells.pop(index)


def meta(index, **flags):
    return lambda notebook: notebook.cells[index].metadata.nbgrader.update(flags)


def source(index, text):
    return lambda notebook: notebook.cells[index].update(source=text)


def test_a_sound_notebook_passes():
    assert find_structure_problems(solution_notebook()) == []


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (without(1), 'no locked code cell "setup"'),
        (without(2), 'no locked code cell "imports"'),
        (without(4), 'there is no solution cell "double-code"'),
        (meta(8, grade_id="double"), 'two cells have the grade_id "double"'),
        (meta(5, points=-1), "has points of -1"),
        (meta(5, points="many"), "has points of 'many'"),
        (meta(5, locked=False), "is not locked"),
        (source(5, 'check("square")'), 'should say check("double")'),
        (source(4, "def double(x):\n    return x + x"), "needs ### BEGIN SOLUTION"),
        (source(4, "def double(x):\n    ### END SOLUTION\n    ### BEGIN SOLUTION"), "needs ### BEGIN SOLUTION"),
        (source(4, "def double(x:\n    ### BEGIN SOLUTION\n    ### END SOLUTION"), "is not valid Python"),
        (source(3, "### BEGIN SOLUTION\nx\n### END SOLUTION"), "is no solution cell"),
        (source(2, "### BEGIN HIDDEN TESTS\n### END HIDDEN TESTS"), "has hidden tests"),
    ],
)
def test_a_broken_structure_is_named(change, reason):
    notebook = solution_notebook()
    change(notebook)
    problems = find_structure_problems(notebook)
    assert any(reason in problem for problem in problems), problems

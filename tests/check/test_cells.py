"""Each statement tells what it defines, changes and refers to; what the rules make of it is in test_rules.py."""

import pytest
from measuring import takes_at_most

from coursekit.check.cells import read_cells


def only(text):
    (cell,) = read_cells([text])
    (statement,) = cell
    return statement


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("import numpy as np", {"binds": {"np"}, "imports": {"np": "numpy"}}),
        ("from a.b import c as d", {"binds": {"d"}, "imports": {"d": "a.b.c"}}),
        ("from keras.layers import *", {"stars": ["keras.layers"]}),
        ("x = np.linalg.norm(y)", {"binds": {"x"}, "now": {"np", "y"}, "words": {"linalg", "norm"}}),
        ("np.dot = mine", {"changes": {"np"}, "now": {"np", "mine"}}),
        ("rows.append(1)", {"touches": {"rows"}}),
        ("def f(x, y=start): return g(x)", {"binds": {"f"}, "now": {"start"}, "later": {"g"}}),
        ("x = [a for a in b]", {"loops": True, "now": {"b"}, "defines": False}),
        ("if x:\n    def f():\n        while x: pass", {"loops": True, "later": {"x"}, "defines": True}),
        ("(q := 1)", {"binds": {"q"}}),
        ("%run other.py", {"runs": "%run"}),
        ("%matplotlib inline", {"runs": ""}),
        ("exec('f = 1')", {"writes": True}),
    ],
)
def test_what_a_statement_does_is_told(text, told):
    statement = only(text)
    assert {name: getattr(statement, name) for name in told} == told


def test_a_cell_that_is_no_python_still_tells_what_it_may_define():
    statement = only("def f(x:\n    return x\ny = 1")
    assert {"f", "y"} <= statement.binds and statement.text is not None


def test_statements_of_the_same_text_are_not_the_same():
    first, second = read_cells(["x = 1", "x = 1"])
    assert first == second and first[0] is not second[0]


def test_no_warning_reaches_the_terminal(recwarn):
    read_cells(["x = '\\d'\nif x is 'a': pass"])
    assert not recwarn.list


@pytest.mark.parametrize("text", ["\\\n\\", "%time '", "f(" + " " * 100_000 + "?", "a b" + " " * 100_000 + "$"])
def test_what_ipython_stumbles_over_is_read_all_the_same(text, recwarn):
    """Of odd texts it raises errors of its own, warns in the terminal, or takes hours."""
    with takes_at_most(10):
        assert read_cells([text, text + "\nx = 1"])
    assert not recwarn.list


def test_options_of_a_magic_are_passed_over():
    for line in ("%time f()", "%timeit -n 10 -r3 f()", "%timeit -n1 -p=2 f()", "%prun -q f()"):
        (found,) = read_cells([line])
        assert any("f" in statement.now for statement in found), line

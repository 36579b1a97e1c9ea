"""Mutants of a function: its text with one step changed, in every way that an operator knows."""

from __future__ import annotations

import ast

import pytest

from autograder.author.mutants import make_mutants, take_turns
from autograder.author.strength import formula_mutants
from autograder.declare import Case, Exercise


@pytest.mark.parametrize(
    ("text", "kind", "changed"),
    [
        ("a - b", "difference", "b - a"),
        ("a * b", "times", "a / b"),
        ("x.sum(axis=-1)", "axis", "x.sum(axis=-2)"),
        ("x.sum(axis=-1)", "function", "x.mean(axis=-1)"),
        ("f(a, b)", "arguments", "f(b, a)"),
        ("np.sqrt(a)", "call", "a"),
        ("a < b", "boundary", "a <= b"),
        ("a if b else c", "condition", "c"),
        ("x[1:]", "part", "x"),
        ("x.shape[-1]", "size", "x.shape[-2]"),
        ("np.einsum('td,sd->ts', a, b)", "transposed", "np.einsum('td,sd->st', a, b)"),
        ("range(n)", "one_off", "range(1, n + 1)"),
        ("[a for a in b if a]", "condition", "[a for a in b]"),
        ("a and b", "either", "a or b"),
        ("a @ b", "factors", "b @ a"),
    ],
)
def test_an_operator_changes_one_thing(text, kind, changed):
    found = {(mutant.kind, mutant.text) for mutant in make_mutants(f"y = {text}")}
    assert (kind, f"y = {changed}") in found


def test_no_mutant_leaves_the_order_of_ties_to_the_machine():
    found = [mutant.text for mutant in make_mutants("y = np.argsort(-x, kind='stable')")]
    assert found and all("kind='stable'" in text or "argsort" not in text for text in found)


def test_every_mutant_is_python_once_and_says_what_it_changes():
    source = (
        "def f(a, b=2, mask=None):\n    '''f.'''\n    c = a / b\n    c = c + 1\n"
        "    if mask is not None:\n        c *= mask\n    raise ValueError(f'{a - b}')"
    )
    found = make_mutants(source)
    assert len({mutant.text for mutant in found}) == len(found) > 20
    for mutant in found:
        ast.parse(mutant.text)
        assert "raise ValueError(f'{a - b}')" in mutant.text
        assert mutant.label.startswith(f"{mutant.kind}: ") and "raise" not in mutant.label
    texts = {mutant.text for mutant in found}
    assert any("mask = None\n" in text for text in texts), "an optional argument that is not used"
    kinds = [mutant.kind for mutant in take_turns(found) if mutant.kind != "ignored"]
    assert len(set(kinds[: len(set(kinds))])) == len(set(kinds)), "the first of each kind comes first"


def test_a_mutant_that_returns_a_generator_is_not_right():
    exercise = Exercise("total", call=("x",))

    @exercise.formula
    def total(x):
        return sum(2 * value for value in x)

    exercise.group("values", points=1, name="values")(lambda rng: [Case({"x": [1.0, 2.5, 4.0]})])
    (case,) = exercise.expectations(1)
    lazy = [each for each in formula_mutants(exercise) if "return (" in each.mutant.text]
    assert lazy and all(each.differs(case) for each in lazy)


def test_a_mutant_that_would_not_end_ends():
    exercise = Exercise("halvings", call=("n",))

    @exercise.formula
    def halvings(n):
        count = 0
        while n > 1:
            n = n // 2
            count += 1
        return count

    exercise.group("values", points=1, name="values")(lambda rng: [Case({"n": 9}), Case({"n": 70})])
    made, cases = list(formula_mutants(exercise)), exercise.expectations(1)
    assert any("n // 1" in each.mutant.text or "n = n" in each.mutant.text for each in made)
    assert sum(any(each.differs(case) for case in cases) for each in made) > 5

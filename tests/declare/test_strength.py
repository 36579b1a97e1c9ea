"""The cases of an exercise catch what can go wrong in its formula: hardly a wrong mutant gets full points."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest
from lab_matrix import code_cells
from this_course import ROOT, exercises_of

from autograder.author.strength import formula_mutants, strength
from autograder.course.settings import load_course
from autograder.declare import Case, Exercise
from coursekit.generator import Generator

pytestmark = pytest.mark.long

LABS = [lab.name for lab in load_course(ROOT).labs]
SEED = 40723
INPUTS = 60  # fresh ones; `course author mutants` and the exhaustive test take more
MANY_INPUTS = 200
TOO_SLOW = {"linear_baseline"}  # a regression to the last digit, a tenth of a second for each input

SOFTMAX_ELSEWHERE = "the softmax has an exercise of its own, with large scores; here inputs are of ordinary size"
# The mutants that may pass: how a changed line begins, and why.
LEFT = {
    ("01_attention_intuition", "SpatialAttention"): {"powers = np.exp(x": SOFTMAX_ELSEWHERE},
    ("01_attention_intuition", "find_the_bug"): {"powers = np.exp(x": SOFTMAX_ELSEWHERE},
    ("02_self_attention", "SelfAttention"): {"powers = np.exp(x": SOFTMAX_ELSEWHERE},
    ("03_multi_head_attention", "GroupedQueryAttention"): {"powers = np.exp(x": SOFTMAX_ELSEWHERE},
    ("06_imdb_classifier", "build_classifier"): {
        "tokens = normalised(x": "the attention gives its bias alone, small beside the words; other groups ask for it"
    },
    ("08b_generating_text", "beam_search"): {
        "if all((is_finished(tokens,": "ends too early only where all hypotheses hold one and the same other token"
    },
    ("10_language_model", "GroupedAttention"): {"powers = np.exp(x": SOFTMAX_ELSEWHERE},
    ("10_language_model", "LanguageModel"): {
        "powers = np.exp(x": SOFTMAX_ELSEWHERE,
        "return x * gamma / np.sqrt(": "the page gives the norm; its ε counts only with tiny tokens",
    },
    ("08_decoder_and_masking", "Transformer"): {
        "powers = np.exp(x": SOFTMAX_ELSEWHERE,
        "return normalised(h, gamma, beta, 9.99": "10⁻⁵ for ε: DecoderBlock tries tiny tokens; Keras's own fails",
    },
    ("09_vision_transformer", "build_vit"): {"powers = np.exp(x": SOFTMAX_ELSEWHERE},
}


def measured(lab: str, inputs: int) -> tuple[int, list[str]]:
    """How many mutants of a lab's formulas compute something else, and those that pass without a reason."""
    different, unexplained, left = 0, [], 0
    for name, exercise in exercises_of(lab).items():
        if name in TOO_SLOW or not any(formula_mutants(exercise)):
            continue
        found = strength(exercise, SEED, inputs)
        different += found.killed + len(found.left)
        left += len(found.left)
        reasons = LEFT.get((lab, name), {})
        for mutant in found.left:
            if not any(mutant.label.partition(": ")[2].startswith(start) for start in reasons):
                unexplained.append(f"{name}: {mutant.label}")
    assert left <= 0.01 * different, f"{left} of {different} mutants that compute something else get full points"
    return different, unexplained


@pytest.mark.parametrize("lab", LABS)
def test_wrong_formulas_fail_a_group(lab):
    different, unexplained = measured(lab, INPUTS)
    assert different > 100 and not unexplained, "\n".join(unexplained)


@pytest.mark.exhaustive
@pytest.mark.parametrize("lab", LABS)
def test_wrong_formulas_fail_a_group_or_are_right_on_two_hundred_inputs(lab):
    _, unexplained = measured(lab, MANY_INPUTS)
    assert not unexplained, "\n".join(unexplained)


GIVEN_BY_PROBES = {"training", "cache", "caches"}  # in modes of their own
LEFT_OUT_BY_PROBES = {("build_news_classifier", "num_classes")}  # where it is the default


@pytest.mark.parametrize("lab", LABS)
def test_what_has_a_default_is_given_in_some_cases_and_left_out_in_others(lab):
    cells = code_cells(lab)
    wanting = []
    for name, exercise in exercises_of(lab).items():
        cases = exercise.expectations(SEED) if exercise.oracle is not None else []
        for argument in defaults(ast.parse(cells[f"{name}-code"]), name) if cases else ():
            given = sum(argument in case.inputs or argument.removeprefix("attention_") in case.inputs for case in cases)
            if argument in GIVEN_BY_PROBES or (name, argument) in LEFT_OUT_BY_PROBES:
                continue
            if given in (0, len(cases)):
                wanting.append(f"{name}: {argument} is given in {given} of {len(cases)} cases")
    assert not wanting


def defaults(tree: ast.Module, name: str) -> Iterator[str]:
    """The arguments with a default of a function, or of a layer's constructor and call."""
    for statement in tree.body:
        parts = statement.body if isinstance(statement, ast.ClassDef) and statement.name == name else [statement]
        for part in parts:
            if isinstance(part, ast.FunctionDef) and part.name in (name, "__init__", "call"):
                arguments = [*part.args.posonlyargs, *part.args.args]
                yield from (given.arg for given in arguments[len(arguments) - len(part.args.defaults) :])
                keywords = zip(part.args.kwonlyargs, part.args.kw_defaults, strict=True)
                yield from (given.arg for given, value in keywords if value is not None)


def exercise_with(*widths: int | None) -> Exercise:
    """A moving sum whose cases ask for these widths; None leaves the width out."""
    exercise = Exercise("sums", call=("x",), optional=("width",))

    @exercise.formula
    def sums(x, width=2):
        return x[:1] * width if width > 2 else x[:1] + width

    @exercise.group("values", points=1)
    def values(rng: Generator) -> list[Case]:
        given = [{} if width is None else {"width": width} for width in widths]
        return [Case({"x": rng.normal(size=3)} | optional) for optional in given]

    return exercise


def test_a_case_that_is_wanting_is_found():
    weak, strong = (strength(exercise_with(*widths), 1, 40) for widths in ((None,), (None, 3, 2, 1)))
    assert weak.made == strong.made == weak.killed + weak.equivalent + len(weak.left)
    assert strong.killed > weak.killed and len(strong.left) == 0
    kinds = {mutant.kind for mutant in weak.left}
    assert "ignored" not in kinds, "no fresh input has a width, either: what no draw ever gives counts as equivalent"

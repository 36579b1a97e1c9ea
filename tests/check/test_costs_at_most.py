"""One mistake that an exercise is not about costs at most the share that is declared, and only where it is all."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from lab_matrix import LABS, expectations, forged
from this_course import exercises_of

from autograder.declare import Case, Exercise, edit
from coursekit.check.judge import UNNAMED_MODES, Attempt, Expectation, Judgement, judge
from coursekit.check.lab import load_reference

SENTENCE = "It is the only mistake here, and costs at most 50 % of the points."


def scaled(x: np.ndarray, shift: float = 0.001) -> np.ndarray:
    """x over its spread."""
    return x / np.sqrt(x.var() + shift)


exercise = Exercise("scaled", own_probe=True)
exercise.formula(scaled)
exercise.mistakes(
    default=edit("shift=0.001", "shift=1.0", costs_at_most=0.5) | "The default.",
    turned=edit("x /", "-x /") | "Turned.",
)


@exercise.group("values", points=3)
def values(rng):
    return [Case({"x": rng.normal(size=5)}, dtype="float64"), Case({"x": rng.normal(size=7)})]


@exercise.group("gradients", points=2)
def gradients(rng):
    inputs = {"x": rng.normal(size=3)}
    return [Case(inputs), Case({**inputs, "cotangent.output": rng.normal(size=3)}, mode="gradient")]


CASES = exercise.expectations(7)


def attempts(mistake: str, without: dict[int, Attempt] | None = None) -> list[Attempt]:
    made = []
    for index, case in enumerate(CASES):
        drawn = Case(dict(case.inputs), mode=case.mode)
        results = exercise.mistaken_results(drawn, mistake) if mistake else exercise.reference(drawn)
        made.append((without or {}).get(index) or Attempt(results))
    return made


def outcome(mistake: str, without: dict[int, Attempt] | None = None) -> Judgement:
    return judge(exercise.spec, CASES, attempts(mistake, without))


def test_a_mistake_that_is_all_keeps_what_it_may_not_cost():
    judgement = outcome("default")
    assert judgement.misconceptions == ("default",) and not any(group.passed for group in judgement.groups)
    assert judgement.share == 0.5 and judgement.sentences(exercise.spec) == ("The default.", SENTENCE)
    assert not judgement.passed


def test_another_mistake_costs_what_its_groups_are_worth():
    judgement = outcome("turned")
    assert judgement.share == 0 and judgement.sentences(exercise.spec) == ("Turned.",)


FIRST, SECOND, GRADIENT = (attempts("default")[index].outputs["output"] for index in (0, 1, 2))


@pytest.mark.parametrize(
    "without",
    [
        {1: Attempt({"output": SECOND + 1})},
        {1: Attempt(kind="error", message="ValueError: no")},
        {0: Attempt({"output": FIRST.astype("float32")})},
        {3: Attempt(kind="error", message="ValueError: no gradient")},
        {3: Attempt({"gradient.x": np.zeros(2)})},
        {3: Attempt({"gradient.x": np.full(3, np.nan)})},
    ],
)
def test_where_something_else_is_wrong_nothing_is_kept(without):
    judgement = outcome("default", without)
    assert judgement.share == 0 and SENTENCE not in judgement.sentences(exercise.spec)


def test_more_than_that_is_not_made_less():
    spec = replace(exercise.spec, costs_at_most={"default": 0.8})
    right = attempts("")
    wrong_in_gradients = [*right[:2], *attempts("default")[2:]]
    cases = [replace(case, wrong={}) if index < 2 else case for index, case in enumerate(CASES)]
    judgement = judge(spec, cases, wrong_in_gradients)
    assert judgement.misconceptions == ("default",) and judgement.share == 0.6
    assert judgement.sentences(spec) == ("The default.",)


@pytest.mark.parametrize("lab", LABS)
def test_the_check_knows_what_the_grader_knows(lab):
    released = load_reference(lab).specs
    for name, exercise in exercises_of(lab).items():
        assert dict(released[name].costs_at_most) == dict(exercise.spec.costs_at_most), name
        assert all(0 < share < 1 for share in exercise.spec.costs_at_most.values()), name


ABOUT = {  # the mistakes with a default that is what the exercise asks about
    "always_pre": "the argument `norm` of the block that students write has a default",
    "eps_is_keras_default": "where eps goes, which is an argument",
    "default_key_dim_is_d_model": "which numbers Keras's layer has by default",
    "key_dim_defaults_to_d_model": "which numbers Keras's layer has by default",
    "value_dim_defaults_to_head": "which numbers Keras's layer has by default",
    "value_dim_defaults_to_d_model": "which numbers Keras's layer has by default",
    "pad_sequences_defaults": "at which end texts are filled and cut",
    **dict.fromkeys(
        ("lecture_settings", "stop_words_left_out", "sublinear", "other_penalty"),
        "which settings stay as scikit-learn has them",
    ),
}


def defaults_of(lab: str, name: str) -> set[str]:
    """The mistakes of an exercise that consist in a library's default."""
    named = exercises_of(lab)[name].named_mistakes
    return {id for id, mistake in named.items() if "default" in f"{id} {mistake.sentence}".lower()} - ABOUT.keys()


@pytest.mark.parametrize("lab", LABS)
def test_one_default_of_a_library_costs_at_most_half_of_what_is_not_about_it(lab):
    """Of every exercise of every lab: declared, or by the points of the groups that still pass."""
    for name, exercise in exercises_of(lab).items():
        left = {id for id in defaults_of(lab, name) if exercise.spec.costs_at_most.get(id, 1) > 0.5}
        if left:
            cases = expectations(lab, name)
            for id in left:
                made = [forged_attempt(exercise, case, id) for case in cases]
                assert judge(exercise.spec, cases, made).share >= 0.5, f"{name}: {id} costs more than half"


def forged_attempt(exercise: Exercise, case: Expectation, mistake: str) -> Attempt:
    drawn = Case(case.inputs, mode=case.mode, withheld=case.withheld)
    if case.mode in UNNAMED_MODES:
        return Attempt(kind="error", message="not looked at")
    return forged(case, exercise.mistaken_results(drawn, mistake))


def test_the_defaults_of_libraries_are_found():
    found = {(name, id) for lab in LABS for name in exercises_of(lab) for id in defaults_of(lab, name)}
    epsilon = {(name, "keras_epsilon") for name in ("EncoderBlock", "DecoderBlock", "Transformer", "build_vit")}
    assert found == epsilon | {
        ("Encoder", "final_epsilon"),
        ("build_vit", "keras_epsilon_everywhere"),
        ("build_classifier", "attention_without_bias"),
        ("build_news_classifier", "encoder_always_frozen"),
    }
    ids = {id for lab in LABS for exercise in exercises_of(lab).values() for id in exercise.named_mistakes}
    assert ids >= ABOUT.keys()

"""Marks do not depend on the seed: whichever draws the cases, a mistake fails the same groups of tests."""

from __future__ import annotations

from collections import defaultdict

import pytest
from lab_matrix import exercises, namespace, outcome, solution_sources, told
from this_course import exercises_of

from autograder.declare.exercise import Case, Exercise, differs

pytestmark = pytest.mark.long

SEEDS = range(16)


def failed_groups(exercise: Exercise, seed: int) -> dict[str, set[str]]:
    """The groups that each mistake, made alone, fails. Gradients are left out, as they are in the references."""
    failed = defaultdict(set)
    for case in exercise.expectations(seed):
        if case.mode == "gradient":
            continue
        drawn = Case(case.inputs, mode=case.mode, withheld=case.withheld)
        for id in exercise.named_mistakes:
            if case.group in failed[id]:
                continue
            try:
                results = exercise.mistaken_results(drawn, id)
            except (ValueError, IndexError):  # with these sizes the mistake ends in an error
                failed[id].add(case.group)
                continue
            if any(differs(key, results[key], exact, case.tolerance[key]) for key, exact in case.expected.items()):
                failed[id].add(case.group)
    return failed


@pytest.mark.parametrize(("lab", "name"), exercises())
def test_a_mistake_fails_the_same_groups_whatever_the_seed(lab, name):
    exercise = exercises_of(lab)[name]
    seen = [failed_groups(exercise, seed) for seed in SEEDS]
    for id in exercise.named_mistakes:
        groups = [failed[id] for failed in seen]
        changing = set.union(*groups) - set.intersection(*groups)
        assert not changing, f"{id} fails {changing} with some seeds only"


@pytest.mark.parametrize("seed", [1131790925554644603, 944820416182180936])
def test_a_right_layer_passes_where_the_terms_of_a_gradient_nearly_cancel(seed):
    """With these seeds the gradients of `w_q` are small beside the others, and what is rounded on the way is not."""
    lab = "02_self_attention"
    exercise = exercises_of(lab)["SelfAttention"]
    assert told(outcome(lab, exercise, namespace(solution_sources(lab)), seed)) == ""

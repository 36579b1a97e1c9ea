"""Whatever is handed in becomes a plan, fingerprints, or a sentence: no other exception, and no end of a child."""

from __future__ import annotations

import warnings

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reading_fuzz import LAB, mutated, write_archive

from autograder.course.labs import read_grade_ids, read_released
from autograder.course.settings import load_course
from autograder.declare.declaration import declared_exercises
from autograder.integrations.similarity.comparing import TextReader
from autograder.read import Children, LabReader, Rules, Unreadable, find_submissions, read_release

pytestmark = pytest.mark.long

FEW = settings(max_examples=40, suppress_health_check=list(HealthCheck), derandomize=True)
MANY = settings(max_examples=3_000, suppress_health_check=list(HealthCheck))  # ten minutes on two free cores
seeds = st.integers(0, 2**63)


@pytest.fixture(scope="module")
def readers():
    """Children that read for grading, and children that read for comparison."""
    from hostile.making import ROOT

    course = load_course(ROOT)
    release = read_released(course, LAB)
    known = {lab.name: read_grade_ids(course, lab.name) for lab in course.labs}
    specs = {name: exercise.spec for name, exercise in declared_exercises(course, LAB).items()}
    rules = {name: Rules(tuple(spec.forbidden), spec.no_loops) for name, spec in specs.items()}
    made = [Children(LabReader(read_release(release), known, rules))]
    made.append(Children(TextReader(read_release(release), known)))
    yield made
    for children in made:
        children.close()


def check_notebook(readers, seed: int) -> None:
    data = mutated(seed)
    for children in readers:
        try:
            answer = children.ask("read", data)
        except Unreadable as refused:
            assert is_sentence(refused.reason), (seed, refused.reason)
            continue
        if children is readers[0]:
            assert all(is_sentence(repair) for repair in answer.plan.repairs), (seed, answer.plan.repairs)
            assert answer.broken.keys() == answer.plan.exercises.keys()


def check_archive(folder, seed: int) -> None:
    found = find_submissions([write_archive(folder, seed)], LAB, {LAB: {"a"}, "03_other": {"b"}})
    assert all(is_sentence(passed.reason) for passed in found.passed_over), (seed, found.passed_over)
    for submission in found.submissions:
        try:
            submission.read()
        except Unreadable as refused:
            assert is_sentence(refused.reason), (seed, refused.reason)


def is_sentence(text: str) -> bool:
    """Whether a text can stand before a student: short, whole, and nothing that a child's end or an error left."""
    ended = ("ended the process", "seconds of computing", "Traceback", "Error(")
    return 0 < len(text) < 3_000 and text.rstrip()[-1] in ".!?)" and not any(words in text for words in ended)


@FEW
@given(seed=seeds)
def test_mutated_notebooks_become_a_plan_or_a_sentence(readers, seed):
    check_notebook(readers, seed)


@FEW
@given(seed=seeds)
def test_mutated_archives_become_submissions_or_sentences(tmp_path_factory, seed):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names that stand twice in an archive
        check_archive(tmp_path_factory.mktemp("zips"), seed)


@pytest.mark.exhaustive
@MANY
@given(seed=seeds)
def test_ten_minutes_of_mutated_notebooks(readers, seed):
    check_notebook(readers, seed)


@pytest.mark.exhaustive
@MANY
@given(seed=seeds)
def test_ten_minutes_of_mutated_archives(tmp_path_factory, seed):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_archive(tmp_path_factory.mktemp("zips"), seed)

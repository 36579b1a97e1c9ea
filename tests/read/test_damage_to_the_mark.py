"""Random damage to a submission of lab 02, all the way to the mark."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from hostile.kinds import WRONG
from hostile.making import LAB, LOOPS, POINTS, SOON_REACHED, answered, as_bytes, make_course, right_answers
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_submission_damage import damage, hurt

from autograder.course.settings import load_course
from autograder.grade.lab_grader import LabGrader
from autograder.read import FoundSubmission
from autograder.sandbox.warm import start_sandbox

pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.slow,
]


@pytest.fixture(scope="module")
def grading(tmp_path_factory):
    """A grader of lab 02 and a warm sandbox."""
    course = load_course(make_course(tmp_path_factory.mktemp("damage"), **SOON_REACHED))
    with start_sandbox(course) as warm:
        yield LabGrader(course, LAB, seed=11), warm.result()


@pytest.mark.long
@settings(max_examples=12, suppress_health_check=list(HealthCheck), derandomize=True)
@given(wounds=st.lists(damage, min_size=1, max_size=10), junk=st.binary(max_size=8), at=st.integers(0, 10**6))
def test_damage_gives_no_point_and_takes_none(grading, wounds, junk, at):
    """All answers are right but one; whatever happens to the notebook, that one earns nothing and no other loses."""
    grader, sandbox = grading
    notebook = answered(**{LOOPS: WRONG})
    for wound in wounds:
        hurt(notebook["cells"], *wound)
    left = {"".join(cell["source"]) for cell in notebook["cells"]}
    content = as_bytes(notebook)
    torn = content[: at % len(content)] + junk
    for data in (content, torn):
        source = SimpleNamespace(path=Path("work.ipynb"), members=(), read=lambda data=data: data)
        result = grader.grade(FoundSubmission("someone", LAB, None, source), sandbox)
        assert {exercise.exercise: exercise.max_score for exercise in result.exercises} == POINTS
        scores = {exercise.exercise: exercise.score for exercise in result.exercises}
        assert scores[LOOPS] == 0
        if data is content and result.state == "graded":
            for name, answer in right_answers().items():
                # The layer calls the function above it, which damage may have taken away or moved below it.
                if name in POINTS and name not in (LOOPS, "SelfAttention") and answer in left:
                    assert scores[name] == POINTS[name], (name, scores, result.repairs)

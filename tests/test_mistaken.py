"""The formulas with switches for mistakes agree with the oracles when no switch is set."""

from __future__ import annotations

import numpy as np
import pytest
from lab_matrix import exercises
from this_course import exercises_of

from autograder.declaring.exercise import Case

SEEDS = (3, 20170612)


@pytest.mark.parametrize(("lab", "name"), exercises())
def test_without_mistakes_it_is_the_oracle(lab, name):
    exercise = exercises_of(lab)[name]
    if exercise.mistaken is None:
        pytest.skip("it names no mistakes")
    for seed in SEEDS:
        for case in exercise.expectations(seed):
            if case.mode == "gradient":  # numerical, from values that are compared in the other modes
                continue
            drawn = Case(case.inputs, mode=case.mode, withheld=case.withheld)
            again = exercise.reference(drawn, {})
            assert again.keys() == case.expected.keys(), case.description
            for key, right in case.expected.items():
                if isinstance(right, (float, np.ndarray)):
                    free = np.isnan(np.asarray(right, "float64"))
                    found = np.where(free, 0, again[key])
                    limit = case.tolerance[key] / 100  # numerical derivatives are the least exact
                    np.testing.assert_allclose(found, np.where(free, 0, right), rtol=1e-9, atol=limit, err_msg=key)
                else:
                    assert again[key] == right, (case.description, key)

"""The plan of the trainings on a GPU: what is equal in it is equal, and its rates are those of the page's schedule."""

from __future__ import annotations

import numpy as np
import pytest
from programs import program

pytestmark = pytest.mark.long

VOCABULARY = 512


@pytest.fixture(scope="module")
def scaling():
    return program("experiments/library_scaling.py")


def operations_of(scaling, training):
    count = scaling.parameters_of(training.size, VOCABULARY)
    return scaling.operations(training.size, count, training.steps * scaling.BATCH * scaling.LENGTH, scaling.LENGTH)


def test_the_trainings_of_a_budget_take_equally_many_operations(scaling):
    plan = scaling.plan(VOCABULARY)
    assert len(plan) == len(set(plan)) and {training.size for training in plan} == set(scaling.SIZES)
    for steps in scaling.BUDGETS:
        budget = operations_of(scaling, scaling.Training(scaling.MEASURE, steps))
        near = {training.size for training in plan if abs(operations_of(scaling, training) / budget - 1) < 0.01}
        assert len(near) >= 3
    assert {training.size for training in plan if training.steps in scaling.AMOUNTS} >= set(scaling.GRID)


@pytest.mark.parametrize("size", ["a minute one", "the page's model"])
def test_the_parameters_are_those_of_the_model(scaling, size):
    model = scaling.transformer(VOCABULARY, size)
    model(np.zeros((1, 2), "int32"))
    assert model.count_params() == scaling.parameters_of(size, VOCABULARY)


@pytest.mark.parametrize("steps", [63, 80, 640])
def test_the_rates_are_those_of_the_page_s_schedule(scaling, steps):
    import keras

    warmup = round(steps * scaling.WARMUP)
    kept = keras.optimizers.schedules.CosineDecay(0.0, steps - warmup, warmup_target=3e-3, warmup_steps=warmup)
    expected = [float(kept(step)) for step in range(steps)]
    np.testing.assert_allclose(scaling.schedule(steps, 3e-3), expected, atol=1e-8)


def test_what_is_filled_up_moves_nothing(scaling):
    rates = scaling.filled(np.ones((63, 2), "float32"))
    assert rates.shape == (80, 2) and (rates[63:] == 0).all() and scaling.filled(rates).shape == (80, 2)

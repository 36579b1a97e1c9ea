"""Exercises that train: cheap without a change to what is trained, and no matter of luck."""

from __future__ import annotations

import keras
import numpy as np
import pytest
from lab_matrix import namespace, outcome, solution_sources
from this_course import exercises_of

from coursekit.probes.training import no_progress_bars, optimizers_built_early

pytestmark = pytest.mark.long

TRAINING = [("06_imdb_classifier", "train_classifier"), ("09_vision_transformer", "train_vit")]


def trained(optimizer: str) -> tuple[list[np.ndarray], keras.Model]:
    keras.utils.set_random_seed(3)
    model = keras.Sequential([keras.Input((5,)), keras.layers.Dense(3, activation="relu"), keras.layers.Dense(1)])
    rng = np.random.default_rng(3)
    model.compile(optimizer, "mse")
    model.fit(rng.normal(size=(24, 5)), rng.normal(size=24), batch_size=8, epochs=2, verbose=0)
    return model.get_weights(), model


@pytest.mark.parametrize("optimizer", ["adam", "adamw", "rmsprop", "nadam"])
def test_an_optimizer_that_is_built_early_trains_the_same(optimizer):
    usual, _ = trained(optimizer)
    with optimizers_built_early():
        early, _ = trained(optimizer)
    for one, other in zip(usual, early, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_only_fit_within_the_block_is_another_one():
    fit = keras.Model.fit
    with pytest.raises(ValueError, match="stop"), optimizers_built_early():
        assert keras.Model.fit is not fit
        raise ValueError("stop")
    assert keras.Model.fit is fit


def test_a_model_that_was_never_compiled_fails_as_it_does_without():
    with optimizers_built_early(), pytest.raises(ValueError, match="compile"):
        keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)]).fit(np.zeros((4, 2)), np.zeros(4), verbose=0)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("lab", "name"), TRAINING)
def test_the_solution_passes_whatever_the_seed(lab, name):
    """No failure in 20 draws of cases, first weights and batches."""
    names = namespace(solution_sources(lab))
    exercise = exercises_of(lab)[name]
    for seed in range(20):
        assert outcome(lab, exercise, names, seed=seed).passed, seed


def test_bars_are_shown_to_who_asks_for_them(capsys):
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    x, y = np.zeros((4, 2)), np.zeros(4)
    methods = [getattr(keras.Model, name) for name in ("fit", "evaluate", "predict")]
    with no_progress_bars(), optimizers_built_early():
        model.fit(x, y)
        model.fit(x, y, 2, 1, 0)  # verbose is the fifth argument
        model.evaluate(x, y), model.predict(x)
        assert capsys.readouterr().out == ""
        model.fit(x, y, verbose=2)
    assert "loss" in capsys.readouterr().out
    assert [getattr(keras.Model, name) for name in ("fit", "evaluate", "predict")] == methods

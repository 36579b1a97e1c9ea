"""The experiment of lecture 9b with a rate for each model: what is chosen by what, and when a training ends."""

from __future__ import annotations

import numpy as np
import pytest
from programs import program

from coursekit.lecture import recorded


@pytest.fixture(scope="module")
def experiment():
    return program("experiments/tuned_on_cifar.py")


def test_held_back_images_choose_the_rate_when_all_three_are_trained(experiment):
    def run(rate, validation, test):
        return {"model": "vit", "images": 500, "seed": 0, "rate": rate, "validation": validation, "test": test}

    runs = [run(1e-4, 0.2, 0.9), run(3e-4, 0.3, 0.1)]
    assert experiment.best_rate(runs, "vit", 500) is None
    assert experiment.best_rate(runs, "vit", 500, whole=False) == 3e-4
    for equal in (runs, [run(1e-4, 0.3, 0.9), run(3e-4, 0.3, 0.1)]):
        assert experiment.best_rate([*equal, run(1e-3, 0.3, 0.5)], "vit", 500) == 3e-4, "the middle one of equal ones"
    assert experiment.best_rate([*runs, run(1e-3, 0.4, 0.5)], "vit", 500) == 1e-3


def test_a_training_ends_when_the_held_back_accuracy_has_not_risen(experiment):
    import keras

    rng = np.random.default_rng(0)
    x, y = rng.random((40, 4, 4, 1), dtype="float32"), rng.integers(0, 10, 40).astype("int32")
    model = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(10)])
    found = experiment.train_once(model, x, y, rate=1e-9, batch=8, patience=4)
    assert found["epochs"] == found["best_epoch"] + 4 and found["steps"] == 4 * found["epochs"]


def test_every_recorded_run_is_planned_and_the_chosen_rates_are_those_of_the_rule(experiment):
    results, whole = (recorded.load(name)["results"] for name in ("tuned_on_cifar", "vit_against_convnet"))
    planned = [
        (size, kind, seed, rate or experiment.best_rate(results["runs"], kind, size))
        for size, kind, seed, rate in experiment.stages([500, 2_000, 8_000])
    ]
    ran = [(run["images"], run["model"], run["seed"], run["rate"]) for run in results["runs"]]
    assert set(ran) <= set(planned) and len(set(ran)) == len(ran)
    for name, rate in results["rates"].items():
        kind, size = name.split(", ")
        assert rate == experiment.best_rate(results["runs"], kind, int(size))
        assert all(
            "test" in run
            for run in results["runs"]
            if (run["model"], run["images"], run["rate"]) == (kind, int(size), rate)
        )
    assert all(count == whole["parameters"][f"cifar10 {kind}"] for kind, count in results["parameters"].items())

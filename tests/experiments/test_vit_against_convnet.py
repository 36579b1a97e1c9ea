"""The experiment of lecture 9b: models of one size, what is trained on what, and how a stopped run goes on."""

from __future__ import annotations

import json

import keras
import numpy as np
import pytest
from programs import program

from coursekit.lecture import recorded

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def experiment():
    return program("experiments/vit_against_convnet.py")


@pytest.mark.parametrize(("shape", "patch"), [((28, 28, 1), 7), ((32, 32, 3), 4)])
def test_both_models_have_the_same_size(experiment, shape, patch):
    vit = experiment.small_vit(shape, patch)
    convnet = experiment.small_convnet(shape, vit.count_params())
    assert abs(convnet.count_params() / vit.count_params() - 1) < 0.01
    assert vit.output_shape == convnet.output_shape == (None, 10)


def test_one_seed_for_all_sizes_comes_before_the_next_seed(experiment):
    cases = experiment.cases("fashion_mnist", list(experiment.PLAN))
    seeds = [case["seed"] for case in cases]
    assert seeds == sorted(seeds)
    assert len(cases) == 2 * sum(sum(both) for both in experiment.SEEDS["fashion_mnist"].values())
    assert len({json.dumps(case) for case in cases}) == len(cases)


def test_the_record_names_the_data_that_its_runs_used_and_no_other(experiment):
    record = recorded.load("vit_against_convnet")
    assert record["data"] == experiment.data_of(record["results"]) == " and ".join(experiment.DATA_SETS.values())
    one = {"runs": [{"dataset": "cifar10"}]}
    assert experiment.data_of(one) == experiment.DATA_SETS["cifar10"]
    assert experiment.command_of(one) == "python experiments/vit_against_convnet.py --dataset cifar10 --data FOLDER"


def test_the_record_has_every_model_of_the_plan(experiment):
    runs = recorded.load("vit_against_convnet")["results"]["runs"]
    planned = [case for dataset in experiment.DATA_SETS for case in experiment.cases(dataset, list(experiment.PLAN))]
    assert len(runs) == len(planned)
    assert all(sum(case.items() <= run.items() for run in runs) == 1 for case in planned)


def test_augmented_images_are_the_same_in_every_run(experiment):
    x, y = np.random.default_rng(0).random((64, 8, 8, 1), dtype="float32"), np.arange(64)

    def one_epoch():
        keras.utils.set_random_seed(3)
        stream = experiment.batches(x, y, batch=4, augment=True)
        return np.concatenate([images for images, _ in stream])

    assert np.array_equal(one_epoch(), one_epoch())


def test_a_run_goes_on_where_it_stopped(experiment, monkeypatch, tmp_path):
    rng = np.random.default_rng(0)
    x, y = rng.random((40, 8, 8, 1), dtype="float32"), rng.integers(0, 10, 40).astype("int32")
    monkeypatch.setattr(experiment.data, "images", lambda *_, **__: ((x, y), (x[:7], y[:7])))
    monkeypatch.setattr(experiment, "PLAN", {10: (1, 4)})
    monkeypatch.setattr(experiment, "PATCH", {"fashion_mnist": 2})
    monkeypatch.setattr(experiment, "SEEDS", {"fashion_mnist": {10: (2, 2)}})
    trained = []

    def untrained(model, x, y, **_):
        trained.append((model.name, x))
        model.compile(loss="sparse_categorical_crossentropy", metrics=["accuracy"])
        return {"cpu_seconds": 1.0}

    monkeypatch.setattr(experiment, "train_once", untrained)
    experiment.main(minutes=0, sizes="10", out=tmp_path)
    assert not trained
    first = [case | {"cpu_seconds": 1.0} for case in experiment.cases("fashion_mnist", [10]) if case["seed"] == 0]
    record = experiment.record_of(experiment.NAME, "", tmp_path, "fashion_mnist")
    record.results["runs"] = first
    record.save(4.0)
    experiment.main(sizes="10", out=tmp_path)
    assert [name for name, _ in trained] == ["vit", "convnet"] * 2  # the second seed alone
    assert all(np.array_equal(images, x[10:20]) for _, images in trained)  # on other images
    runs = json.loads((tmp_path / "vit_against_convnet.json").read_text())["results"]["runs"]
    assert runs[:4] == first and [run["seed"] for run in runs[4:]] == [1] * 4

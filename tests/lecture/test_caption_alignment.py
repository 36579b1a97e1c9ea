"""Weights between pieces become weights between words; a repetition trains on the same batches at the same rates."""

import importlib
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

FOLDER = Path(__file__).resolve().parents[2] / "experiments"
THREADS = ("set_intra_op_parallelism_threads", "set_inter_op_parallelism_threads")


@pytest.fixture
def program(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(FOLDER), *sys.path])
    try:
        return importlib.import_module("caption_alignment")
    except ModuleNotFoundError as missing:
        pytest.skip(f"{missing.name} is not installed")


def test_weights_are_summed_over_keys_and_averaged_over_queries(program):
    weights = np.array([[0.5, 0.25, 0.25, 0.0], [0.1, 0.2, 0.3, 0.4], [0.3, 0.4, 0.1, 0.2]])
    words, keys, found = program.by_word(weights, ["un", "chi", "##en", "noir"], ["a", "do", "##g"])
    assert words == ["a", "dog"] and keys == ["un", "chien", "noir"]
    np.testing.assert_allclose(found, [[0.5, 0.5, 0.0], [0.2, 0.5, 0.3]])


def test_a_repetition_trains_on_the_same_batches(program, monkeypatch, tmp_path):
    texts = [[f"{number} " * (1 + number % 39) for number in range(400)]] * 2
    pieces = SimpleNamespace(vocabulary=[], encode=lambda lines: [np.array(line.split(), int) for line in lines])
    seen: list[list] = []

    class Trainer:
        model = None

        def __init__(self, *given):
            seen.append([])

        def run_steps(self, seed, rate, steps, pairs):
            for (source, _), _ in pairs.repeat().take(steps):
                seen[-1].append(source.numpy()[:, 0].tolist())

    monkeypatch.setattr(program, "prepared", lambda *given: (pieces, (texts, texts, texts)))
    monkeypatch.setattr(program, "Trainer", Trainer)
    monkeypatch.setattr(program, "mean_loss", lambda *given: 0.0)
    monkeypatch.setattr(program, "looked_at", lambda *given: {})
    monkeypatch.setattr(program.tf.config, "threading", SimpleNamespace(**dict.fromkeys(THREADS, lambda number: None)))
    for seed in (1, 1, 2):
        program.main(work=tmp_path, out=tmp_path, seed=seed, steps=5)
    assert seen[0] == seen[1] != seen[2] and len(seen[0]) == 5


def test_the_rate_of_a_step_follows_the_steps_alone(program):
    rates = []
    started = SimpleNamespace(optimizer=SimpleNamespace(learning_rate=0.0), _start_anew=lambda seed: None)
    started.step = lambda *given: rates.append(started.optimizer.learning_rate)
    pairs = program.tf.data.Dataset.from_tensors(((0, 0), 0))
    program.Trainer.run_steps(started, 1, 0.5, 20, pairs)
    np.testing.assert_allclose(rates[:3], [0.0, 0.25, 0.5])
    np.testing.assert_allclose(rates[11], 0.25)  # halfway down a cosine
    assert len(rates) == 20 and 0 < rates[-1] < 0.01

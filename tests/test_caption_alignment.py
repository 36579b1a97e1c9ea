"""Weights between pieces become weights between words."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).resolve().parents[1] / "experiments"


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

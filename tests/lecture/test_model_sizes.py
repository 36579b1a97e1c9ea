"""Every model that lectures 4 to 6 and the experiment of lecture 6 name is as large as they say: no part is left out.

A position table that is looked up with a fixed array while the model is built is not trained, and nothing complains.
Its parameters are missing from the count.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from programs import program
from training_modes import CODE_CELL

from coursekit.lecture import memory_task, recorded, sorting
from coursekit.lecture.pages.encoder_block import post_norm_block, pre_norm_block

ROOT = Path(__file__).resolve().parents[2]
BLOCK = 4 * (32 * 32 + 32) + 32 * 64 + 64 + 64 * 32 + 32 + 2 * 64  # D = 32, F = 64, four heads of width 8
SORTING = (10 + 8) * 32 + 12 * BLOCK + 32 * 10 + 10


@cache
def defined_in(lecture: str) -> dict:
    """What a lecture imports and defines, without running anything else: functions, classes, constants."""
    names: dict = {"__name__": "lecture"}
    for cell in CODE_CELL.findall((ROOT / "lectures" / f"{lecture}.py").read_text("utf-8")):
        tree = ast.parse(cell)
        tree.body = [
            statement for statement in tree.body if isinstance(statement, DEFINITIONS) or _is_constant(statement)
        ]
        exec(compile(tree, lecture, "exec"), names)
    return names


DEFINITIONS = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)


def _is_constant(node: ast.AST) -> bool:
    return isinstance(node, ast.Assign) and all(
        isinstance(part, ast.Constant | ast.Tuple | ast.expr_context) for part in ast.walk(node.value)
    )


@cache
def experiment():
    return program("experiments/imdb_models.py")


@pytest.mark.parametrize(
    ("lecture", "builder", "arguments", "parameters"),
    [
        ("06_imdb_classifier", "PlainReviewClassifier", {}, 657_737),
        ("06_imdb_classifier", "PlainReviewClassifier", {"masked": ()}, 657_737),
        ("06_imdb_classifier", "PlainReviewClassifier", {"length": 600}, 670_537),
    ],
)
def test_a_model_of_a_lecture_is_as_large_as_it_says(lecture, builder, arguments, parameters):
    model = defined_in(lecture)[builder](**arguments)
    if not model.built:
        model(np.ones((1, 7), "int32"))  # a class makes its parameters in its first call
    assert model.count_params() == parameters


def test_learned_positions_of_lecture_5_are_trained_and_the_others_have_none():
    none, learned, sinusoidal = (memory_task.model(kind).count_params() for kind in ("none", "learned", "sinusoidal"))
    assert learned - none == 160 * 32
    assert sinusoidal == none


@pytest.mark.parametrize(("block", "final_norm"), [(post_norm_block, False), (pre_norm_block, True)])
def test_the_stack_of_lecture_4_has_all_its_parts(block, final_norm):
    model = sorting.sorter(lambda: block(32, 4, 64), 12, final_norm=final_norm)
    assert model.count_params() == SORTING + 64 * final_norm


@pytest.mark.parametrize(
    ("builder", "settings", "parameters"),
    [
        ("transformer", {}, 657_737),
        ("transformer", {"max_length": 600}, 670_537),
        ("transformer", {"positions": False}, 657_737 - 6_400),
        ("transformer", {"block": False}, 657_737 - 10_656),
        ("published", {"model": "published"}, 657_737),
        ("lstm", {"model": "lstm"}, 657_641),
        ("max_pooling", {"model": "max pooling", "max_length": 600}, 650_689),
        ("max_pooling", {"model": "max pooling", "max_length": 600, "pooling": "max with padding"}, 650_689),
        ("lstm_twin", {"model": "lstm twin", "max_length": 600}, 648_353),
    ],
)
def test_a_model_of_the_experiment_is_as_large_as_lecture_6_says(builder, settings, parameters):
    module = experiment()
    assert getattr(module, builder)(module.Settings(**settings)).count_params() == parameters


def test_the_recorded_published_model_trains_its_positions():
    results = recorded.load("imdb_classifier")["results"]
    assert results["published"]["seed 0"]["parameters"] == 657_737
    assert results["published, positions not trained"]["seed 0"]["parameters"] == 657_737 - 6_400


@pytest.mark.parametrize("builder", ["conv", "max_pooling", "lstm_twin"])
def test_padding_changes_no_output_of_the_ladder(builder):
    module = experiment()
    model = getattr(module, builder)(module.Settings())
    ids = np.random.default_rng(0).integers(1, 1_000, size=(5, 23))
    ids[:2, 17:] = 0
    wide = np.pad(ids, [(0, 0), (0, 31)])
    np.testing.assert_allclose(np.asarray(model(wide)), np.asarray(model(ids)), atol=1e-6)


def test_one_place_of_padding_is_as_good_as_any_number_for_the_maximum_over_padding():
    module = experiment()
    masked = module.max_pooling(module.Settings())
    leaky = module.max_pooling(module.Settings(pooling="max with padding"))
    leaky.set_weights(masked.get_weights())
    ids = np.random.default_rng(0).integers(1, 1_000, size=(5, 23))
    assert np.abs(np.asarray(leaky(ids)) - np.asarray(masked(ids))).max() > 1e-4
    np.testing.assert_allclose(np.asarray(leaky(np.pad(ids, [(0, 0), (0, 577)]))), np.asarray(leaky(ids)), atol=1e-6)

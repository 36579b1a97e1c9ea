import keras
import numpy as np
import pytest
import tensorflow as tf
from lab_matrix import LabTests, expectations
from this_course import exercises_of

from autograder.declare import Case
from coursekit.check.comparison import diagnose
from exercises.imdb_classifier.derive_loss_gradient import gradients
from exercises.imdb_classifier.measure_difference import every, middle, paired_bootstrap, redrawn

LAB = "06_imdb_classifier"


class TestIMDBClassifier(LabTests):
    lab = LAB


@pytest.mark.parametrize("other", ["roll", "flip", "fresh"])
def test_no_coincidence_of_few_reviews_names_a_mistake(other):
    """B reads other reviews than A: percentiles of whole reviews often are another mistake's, and none is named."""
    exercise, rng = exercises_of(LAB)["measure_difference"], np.random.default_rng(0)
    for seed in range(10):
        drawn, results = expectations(LAB, "measure_difference", seed), []
        for case in drawn:
            reviews = case.inputs["reviews"]
            draws = {"roll": np.roll(reviews, 1, axis=0), "flip": reviews[::-1], "fresh": rng.permuted(reviews)}
            results.append(exercise.run(unpaired, Case({**case.inputs, "others": draws[other]})))
        facts = ([getattr(case, name) for case in drawn] for name in ("expected", "wrong", "tolerance", "group"))
        assert diagnose(list(exercise.named_mistakes), results, *facts) == "", seed


def unpaired(correct_a, correct_b, reviews, seeds_a, seeds_b, others):
    """The bootstrap of `measure_difference`, where B reads others (R, N)."""
    a, b = 1.0 * correct_a, 1.0 * correct_b
    again = redrawn(a, reviews, seeds_a) - redrawn(b, others, seeds_b)
    alone = redrawn(a, reviews, every(seeds_a)) - redrawn(b, others, every(seeds_b))
    return np.asarray(a.mean() - b.mean()), middle(again, 0), middle(alone, 0)


def batch(seed):
    """Tokens (B, T, D), ids (B, T) with padding anywhere and one row of it, labels (B,), head (D,) and its bias."""
    rng = np.random.default_rng(seed)
    ids = rng.integers(0, 3, size=(5, 7))
    ids[:, 0], ids[2] = 1, 0
    return 2 * rng.normal(size=(5, 7, 3)), ids, np.array([0, 1, 1, 0, 1]), rng.normal(size=3), 0.3


def loss_of(x, ids, labels, head, bias):
    """The mean cross-entropy of a batch, and its logits, written out."""
    logits = bias + np.array(
        [row[ids[b] != 0].sum(axis=0) / max(sum(ids[b] != 0), 1) @ head for b, row in enumerate(x)]
    )
    return np.mean(np.log1p(np.exp(np.where(labels == 1, -logits, logits)))), logits


@pytest.mark.parametrize("seed", range(3))
def test_the_gradient_is_that_of_finite_differences(seed):
    x, ids, labels, head, bias = batch(seed)
    logits = loss_of(x, ids, labels, head, bias)[1]
    by_logit, by_token = gradients(logits, labels, ids, head)
    for place in np.ndindex(*x.shape):
        change = np.zeros_like(x)
        change[place] = 1e-5
        upper, lower = (loss_of(x + sign * change, ids, labels, head, bias)[0] for sign in (1, -1))
        assert by_token[place] == pytest.approx((upper - lower) / 2e-5, abs=1e-9)
    assert by_logit[2] == pytest.approx((1 / (1 + np.exp(-bias)) - labels[2]) / 5)


@pytest.mark.parametrize("seed", range(3))
def test_the_gradient_is_that_of_tensorflows_tape(seed):
    x, ids, labels, head, bias = batch(seed)
    logits = tf.constant(loss_of(x, ids, labels, head, bias)[1])
    with tf.GradientTape() as tape:
        tape.watch(logits)
        loss = keras.losses.BinaryCrossentropy(from_logits=True)(labels[:, None], logits[:, None])
    np.testing.assert_allclose(gradients(logits.numpy(), labels, ids, head)[0], tape.gradient(loss, logits), atol=1e-7)


def test_the_interval_holds_the_true_difference_about_as_often_as_it_says():
    """300 experiments of one model each with a true difference of 0.1: reviews that are hard are hard for both."""
    rng, held = np.random.default_rng(0), 0
    zeros = np.zeros((200, 1), int)
    for _ in range(300):
        ease = rng.uniform(0.2, 0.7, size=80)
        a, b = rng.random((1, 80)) < ease + 0.1, rng.random((1, 80)) < ease
        low, high = paired_bootstrap(a, b, rng.integers(80, size=(200, 80)), zeros, zeros)[1]
        held += low <= 0.1 <= high
    assert 0.88 < held / 300 < 0.99

import keras
import numpy as np
import pytest
from lab_matrix import LabTests, expectations, namespace, outcome, solution_sources, told
from scipy.optimize import minimize
from this_course import exercises_of

from coursekit.probes.decoder_and_masking import table_writer

LAB = "08_decoder_and_masking"


class TestDecoderAndMasking(LabTests):
    lab = LAB


@pytest.mark.parametrize("seed", range(3))
def test_no_logits_have_a_smaller_smoothed_loss_than_the_derived_floor(seed):
    """The loss is the lab's own and Keras's; it is minimised over all logits, from a random start."""
    loss_of = namespace(solution_sources(LAB))["masked_cross_entropy"]
    cases = [
        case for case in expectations(LAB, "derive_smoothing_floor", seed) if np.ndim(case.inputs["vocab_size"]) == 0
    ]
    for case in cases:
        words, rate = case.inputs["vocab_size"], case.inputs["smoothing"]
        right = np.arange(words) == words - 1
        target = (1 - rate) * right + rate / words

        def loss(logits, target=target):
            shifted = logits - np.log(np.exp(logits).sum())
            return -(target * shifted).sum(), np.exp(shifted) - target

        found = minimize(loss, np.random.default_rng(seed).normal(size=words), jac=True, tol=1e-14)
        floor, gap = case.expected["floor"], case.expected["gap"]
        assert found.fun == pytest.approx(float(floor), abs=1e-7)
        np.testing.assert_allclose(found.x[-1] - found.x[:-1], gap, atol=1e-3)
        best = (right * gap).astype("float32")
        kerass = keras.losses.CategoricalCrossentropy(from_logits=True, label_smoothing=rate)
        ours = loss_of(best[None, None], np.array([[words - 1]]), pad_id=-1, label_smoothing=rate)
        for value in (ours, kerass(right[None].astype("float32"), best[None])):
            assert float(value) == pytest.approx(float(floor), abs=1e-5)


def test_the_floor_of_a_certain_target_is_zero_and_no_gap_reaches_it():
    derived = namespace(solution_sources(LAB))["derive_smoothing_floor"]
    floor, gap = derived(np.array([2, 14, 10**12]), 0.0)
    assert (floor == 0).all() and (gap == np.inf).all()
    floor, gap = derived(np.array([2, 14]), 1.0)
    np.testing.assert_allclose(floor, np.log([2, 14]))
    np.testing.assert_allclose(gap, 0, atol=1e-12)


def test_what_is_measured_is_what_a_model_of_known_rates_does():
    """After a false token the model is right with probability ½, and forgets at the next step; 0.9 otherwise."""
    rng, rows, steps = np.random.default_rng(5), 4_000, 3
    targets = rng.integers(1, 9, size=(rows, 6))
    draws = rng.random((rows, 2, 6))

    def next_token(n, prefix):
        is_first = len(prefix) == positions[n] + 1
        is_false = prefix[positions[n]] != targets[n, positions[n]]
        rate = 0.5 if is_first and is_false else 0.9
        right = targets[n, len(prefix)]
        return right if draws[n, int(is_false), len(prefix)] < rate else 9

    positions = rng.integers(0, 2, size=rows)
    false_ids = targets[np.arange(rows), positions] % 8 + 1
    measure = namespace(solution_sources(LAB))["measure_exposure"]
    after, base, margin = measure(next_token, targets, positions, false_ids, steps)
    error = np.sqrt(0.25 / rows)
    assert np.abs(after - [0.5, 0.9, 0.9]).max() < 5 * error and np.abs(base - 0.9).max() < 5 * error
    expected = 1.96 * np.sqrt(np.array([0.25 + 0.09, 0.18, 0.18]) / rows)  # here the two draws are independent
    np.testing.assert_allclose(margin, expected, rtol=0.1)


def test_the_graders_model_is_worse_after_a_false_token_and_wrong_behind_the_end():
    rng = np.random.default_rng(0)
    targets = rng.integers(1, 11, size=(500, 5))
    write = table_writer(targets, rng.random((500, 97)))
    clean = np.mean([write(n, targets[n, :2]) == targets[n, 2] for n in range(500)])
    false = np.mean([write(n, [targets[n, 0], targets[n, 1] % 10 + 1]) == targets[n, 2] for n in range(500)])
    assert clean > false + 0.3
    assert all(write(n, targets[n]) in range(1, 11) for n in range(500))


def test_the_encoder_block_of_lab_04_can_be_pasted():
    pasted = [
        source
        for source in solution_sources("04_encoder_block")
        if "class FeedForward" in source or "class EncoderBlock" in source
    ]
    assert len(pasted) == 2
    names = namespace([*solution_sources(LAB), *pasted])
    assert outcome(LAB, exercises_of(LAB)["Transformer"], names).share == 1


@pytest.mark.filterwarnings("error")
def test_a_wrong_result_beside_infinity_is_judged_without_a_warning():
    wrong = "smoothing + 0 * vocab_size, vocab_size - smoothing"
    source = f"def derive_smoothing_floor(vocab_size, smoothing):\n    return {wrong}\n"
    judgement = outcome(LAB, exercises_of(LAB)["derive_smoothing_floor"], namespace([source]))
    assert judgement.share == 0


def test_a_mask_that_is_none_is_told_from_a_missing_return():
    early = "    if any(m is None for m in masks) or not masks:\n        return None\n"
    body = f"{early}    masks = [ops.cast(m, 'bool') for m in masks]\n"
    for last, said in (
        ("return functools.reduce(ops.logical_and, masks)", "A mask that is None"),
        ("masks[0]", "`return`"),
    ):
        source = f"import functools\ndef combine_masks(*masks):\n{body}    {last}\n"
        judgement = outcome(LAB, exercises_of(LAB)["combine_masks"], namespace([source]))
        assert said in told(judgement), told(judgement)
        assert ("`return`" in told(judgement)) == (said == "`return`")

import numpy as np
import pytest
from lab_matrix import LabTests, expectations, namespace, solution_sources, variants
from sklearn.neighbors import NearestCentroid
from this_course import exercises_of

from coursekit.probes.bert_ag_news import EXPECTED, TEXTS

LAB = "07_bert_ag_news"


class TestBERTOnAGNews(LabTests):
    lab = LAB


@pytest.mark.parametrize("vocab_size, rate", [(5, 0.15), (9, 0.4)])
def test_the_expected_numbers_are_those_of_a_masking_that_counts(vocab_size, rate):
    """60,000 rows of the solution's own masking for each length; means and share within five standard errors."""
    mask_tokens, rng, count = namespace(solution_sources(LAB))["mask_tokens"], np.random.default_rng(7), 60_000
    lengths, specials = np.array([3, 7, 13]), np.array([2, 1, 3])
    found = exercises_of(LAB)["derive_expected_masked"].oracle(lengths, specials, vocab_size, rate)
    expected = dict(zip(EXPECTED, found, strict=True))
    for row, (length, special) in enumerate(zip(lengths, specials, strict=True)):
        ids = rng.integers(2, vocab_size, size=(count, length))
        ids[:, :special] = 0
        inputs, labels = mask_tokens(ids, rng, vocab_size, 1, [0, 1], rate)
        chosen, is_mask, is_own = labels != -100, inputs == 1, inputs == ids
        kinds = {"masked": is_mask, "replaced": ~is_mask & ~is_own, "kept": is_own}
        counted = {name: (chosen & kind).sum(axis=1) for name, kind in kinds.items()}
        counted["none"] = ~chosen.any(axis=1)
        for name, counts in counted.items():
            error = counts.std() / count**0.5
            assert abs(counts.mean() - expected[name][row]) <= 5 * error, name


def test_the_steps_of_a_right_design_are_those_that_batches_make():
    for source in variants(LAB, "design").CORRECT:
        plan = namespace([*solution_sources(LAB), source])["design"]()
        batches = [range(TEXTS)[start : start + plan["batch_size"]] for start in range(0, TEXTS, plan["batch_size"])]
        assert plan["total_steps"] == plan["epochs"] * len(batches) and sum(map(len, batches)) == TEXTS


@pytest.mark.parametrize("seed", range(3))
def test_accuracies_are_those_of_a_published_nearest_centroid(seed):
    for case in expectations(LAB, "measure_labels", seed)[:2]:
        given = case.inputs
        for row, size in enumerate(given["sizes"]):
            for column, order in enumerate(given["orders"]):
                chosen = order[:size]
                if len(np.unique(given["y"][chosen])) > 1:  # scikit-learn's needs two classes
                    head = NearestCentroid().fit(given["x"][chosen].astype("float64"), given["y"][chosen])
                    share = head.score(given["x_test"].astype("float64"), given["y_test"])
                    assert share == pytest.approx(case.expected["accuracy"][row, column])

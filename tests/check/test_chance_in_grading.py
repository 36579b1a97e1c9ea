"""Where chance is the subject, a right answer passes: a hundred seeds, and how often the law lets it fail.

Lab 02's and 08b's reported numbers are measured in `tests/labs`, the exact tails of lab 07's masking are added up in
`tests/probes/test_bert_ag_news.py`.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from lab_matrix import expectations, namespace, outcome, solution_sources, told
from scipy.stats import binom
from this_course import exercises_of

from coursekit.check.chance import likely_counts
from coursekit.check.judge import Attempt, problem
from coursekit.probes import language_model, news_classifier

HUNDRED = range(1000, 1100)
NEVER = 1e-6  # the largest probability with which a right answer may lose a group
DROPPING = [
    ("04_encoder_block", "EncoderBlock"),
    ("04_encoder_block", "Encoder"),
    ("08_decoder_and_masking", "DecoderBlock"),
]
WRITING = "10_language_model"


def beyond(count: int, law: float, margin: float) -> float:
    """The probability that a share of `count` trials lies further than `margin` from its law."""
    least, most = math.ceil(count * (law - margin) - 1e-9), math.floor(count * (law + margin) + 1e-9)
    return float(binom.cdf(least - 1, count, law) + binom.sf(most, count, law))


def passes(lab: str, name: str, case, outputs: dict) -> bool:
    return problem(exercises_of(lab)[name].spec, case, Attempt(outputs)) is None


def dropped(case, rng: np.random.Generator, rate: float) -> dict[str, np.ndarray]:
    """What the probe sees of dropouts that each erase every number with probability `rate`, and rescale the rest."""
    dropouts = 3 if "memory" in case.inputs else 2 * case.inputs.get("num_layers", 1)
    size = np.size(case.inputs["x"])
    shares = rng.binomial(size, rate, size=dropouts) / size
    return {"dropped": np.stack([shares, np.full(dropouts, 1 / (1 - rate)), 0 * shares], axis=1)}


@pytest.mark.parametrize("lab, name", DROPPING)
def test_a_right_dropout_passes_and_another_rate_does_not(lab, name):
    cases = [case for case in expectations(lab, name) if case.property == "drops at its rate"]
    assert cases
    lost = 0.0
    for case in cases:
        rate = case.inputs.get("dropout", 0.1)
        assert all(passes(lab, name, case, dropped(case, np.random.default_rng(seed), rate)) for seed in HUNDRED)
        for other in (rate / 2, rate + 0.1, 0.0):
            assert not any(
                passes(lab, name, case, dropped(case, np.random.default_rng(seed), other)) for seed in HUNDRED
            )
        size = np.size(case.inputs["x"])
        dropouts = len(dropped(case, np.random.default_rng(0), rate)["dropped"])
        lost += dropouts * beyond(size, rate, 6 * math.sqrt(rate * (1 - rate) / size))
    assert 0 < lost < NEVER


def test_a_right_dropout_of_the_news_classifier_passes():
    """The scores that a right head gives to `COPIES` texts, of which each keeps its 16 hidden values by chance."""

    places, step = 2.0 ** np.arange(16), 1e-4
    for rate in (0.2, 0.5):
        for seed in HUNDRED:
            kept = np.random.default_rng(seed).random((news_classifier.COPIES, 16)) >= rate
            assert news_classifier._dropped(kept @ places * step / (1 - rate), step, rate, own_moves=True) == rate
    low, high = likely_counts(16 * news_classifier.COPIES, 0.2)
    assert binom.cdf(low - 1, 40_000, 0.2) + binom.sf(high, 40_000, 0.2) < NEVER < binom.cdf(high, 40_000, 0.21)


@pytest.mark.parametrize("seed", range(3))
def test_what_is_drawn_from_the_law_passes_and_what_is_drawn_from_another_one_does_not(seed):
    """The first token of `generate`, drawn `repeats` times; the other laws are those of its named mistakes."""
    for case in expectations(WRITING, "generate", seed):
        if case.mode != "law":
            continue
        count, law = case.inputs["repeats"], case.expected["shares"]

        def drawn(number, chances, count=count):
            return {"shares": np.random.default_rng(number).multinomial(count, chances / chances.sum()) / count}

        assert all(passes(WRITING, "generate", case, drawn(number, law)) for number in HUNDRED)
        assert sum(beyond(count, share, case.tolerance["shares"]) for share in law) < NEVER
        others = [
            wrong["shares"].values for wrong in case.wrong.values() if np.shape(wrong["shares"].values) == law.shape
        ]
        for other in others:
            apart = np.abs(other / other.sum() - law).max()
            if apart > 2 * case.tolerance["shares"]:
                assert not any(passes(WRITING, "generate", case, drawn(number, other)) for number in HUNDRED)


def test_a_right_measurement_of_a_known_process_lies_near_its_law():
    exercise, names = exercises_of(WRITING)["measure_temperature"], namespace(solution_sources(WRITING))
    for seed in HUNDRED:
        (case,) = [case for case in expectations(WRITING, "measure_temperature", seed) if case.mode == "law"]
        probe = language_model.PROBES["measure_temperature"]
        made = probe(names, case.inputs, case.mode)
        assert problem(exercise.spec, case, Attempt(probe.says(case.inputs, case.mode, made))) is None


@pytest.mark.long
def test_a_right_masking_passes_a_hundred_times():
    names, exercise = namespace(solution_sources("07_bert_ag_news")), exercises_of("07_bert_ag_news")["mask_tokens"]
    for seed in HUNDRED:
        judgement = outcome("07_bert_ag_news", exercise, names, seed)
        assert judgement.passed, told(judgement)

from functools import cache

import numpy as np
import pytest
from lab_matrix import LabTests, code_cells, expectations, namespace, solution_sources
from scipy.stats import binom
from this_course import exercises_of

from coursekit.generator import Generator
from coursekit.probes.generating_text import BLOCKS, GIBIBYTE, HEAD_WIDTH, TOKENS, bytes_of_caches

LAB = "08b_generating_text"


class TestGeneratingText(LabTests):
    lab = LAB


@pytest.mark.parametrize("seed", range(5))
def test_what_is_accepted_or_drawn_from_the_residual_has_the_law_of_the_target(seed):
    """40,000 tokens, proposed and judged as the text says; each share within five standard errors."""
    case = next(case for case in expectations(LAB, "derive_acceptance", seed) if case.inputs["target"].ndim == 1)
    target, draft = (case.inputs[name].astype("float64") for name in ("target", "draft"))
    uniform, count = Generator([seed]).random((3, 40_000)), 40_000

    def drawn(law, at):
        return np.minimum(np.searchsorted(np.cumsum(law), at), len(law) - 1)

    proposed = drawn(draft, uniform[0])
    is_accepted = uniform[1] < target[proposed] / draft[proposed]
    tokens = np.where(is_accepted, proposed, drawn(case.expected["residual"], uniform[2]))
    for share, law in (
        (np.bincount(tokens, minlength=len(target)) / count, target),
        (is_accepted.mean(), case.expected["accepted"]),
    ):
        assert (np.abs(share - law) <= 5 * np.sqrt(law * (1 - law) / count)).all()


def test_the_cache_that_the_design_counts_is_the_students():
    names = namespace(solution_sources(LAB))
    new, cache = np.zeros((1, 5, 1, HEAD_WIDTH), "float16"), None
    for _ in range(3):
        _, cache = names["cached_attention"](new, new, new, cache)
    held = BLOCKS * sum(np.asarray(part).nbytes for part in cache)
    assert held * TOKENS / 3 == bytes_of_caches(5, 1) and bytes_of_caches(40, 1) == 3.125 * GIBIBYTE


def measurements(count: int) -> np.ndarray:
    """What `count` students measure who do as the lab asks, each with 600 seeds of her own: (count, 2)."""
    cells = code_cells(LAB)
    names = namespace([*solution_sources(LAB), cells["model"], cells["drawn"]])
    followed = names["next_word"]
    by_words = cache(lambda *words: followed([*words]))  # what follows depends on the last two words alone

    def step(prefix):
        return by_words(*prefix[-2:])

    names["next_word"] = step
    greedy = {"greedy": names["greedy_decode"](step, names["START_ID"], names["END_ID"], max_length=30)}

    def draw(seed):
        return names["drawn"](0.5, np.random.default_rng(seed))

    seeds = [list(range(start, start + 600)) for start in range(0, 600 * count, 600)]
    return np.array([names["measure_typical"](step, greedy, draw, run_seeds)["greedy"][1:] for run_seeds in seeds])


@pytest.mark.long
def test_a_right_report_lies_in_the_accepted_range_whatever_the_seeds():
    """A hundred measurements as the lab asks for them; and of all, by the law of a share, but one in ten thousand."""
    report, found = exercises_of(LAB)["report"], measurements(100)
    for entry, shares in zip(("ahead", "per_token"), found.T, strict=True):
        right, within = report.right[entry], report.within[entry]
        assert np.abs(shares - right).max() <= within
        count, error = 600, 3 * shares.std() / 100**0.5
        least, most = np.ceil(count * (right - within)), np.floor(count * (right + within))
        for law in (shares.mean() - error, shares.mean() + error):
            assert binom.cdf(least - 1, count, law) + binom.sf(most, count, law) < 1e-4
    exchanged = found[:, ::-1] - [report.right["ahead"], report.right["per_token"]]
    assert not (np.abs(exchanged) <= [report.within["ahead"], report.within["per_token"]]).all(axis=1).any()

"""What lecture 10 says of sizes and amounts of text, against the recorded trainings."""

from __future__ import annotations

import numpy as np
from claims.page import Page

_SHAPES = {  # width and blocks by parameters
    4_877_568: (256, 6),
    1_878_720: (192, 4),
    857_216: (128, 4),
    181_440: (64, 3),
    41_248: (32, 2),
    11_328: (16, 1),
}


def also(page: Page, sentence: str, *values: float, holds: bool | list[bool] = True) -> None:
    """The evidence of lecture 10 says this, and it is so."""
    evidence = page.evidence("10")
    evidence.failures = []
    evidence.says(sentence, *values, holds=holds)
    page.failures += evidence.failures


def scaling_law(page: Page, runs: list[dict]) -> None:
    """Hoffmann's form, fitted to all trainings at their best rate."""
    pattern = r", all, seed \d: E ([\d.]+), alpha ([\d.]+), beta ([\d.]+), largest residual ([\d.]+)"
    fits = np.reshape(page.evidence("10").numbers("e10-r16", pattern), (-1, 4))
    also(
        page,
        r"fits {:.0f} trainings of six sizes with $\alpha$ of {:.2f} to {:.2f} and $\beta$ of {:.2f} to {:.2f} "
        "(three seeds)",
        len(runs),
        *(side(fits[:, column]) for column in (1, 2) for side in (min, max)),
        holds=[len(fits) == 3],
    )
    passes = page.evidence("10").numbers("e10-r16", r"at most four passes .*, beta ([\d.]+), largest")
    also(
        page,
        r"$\beta$ falls to {:.2f} to {:.2f}",
        min(passes),
        max(passes),
        holds=[len(passes) == 3, max(passes) < min(fits[:, 2])],
    )
    near = [
        budget
        for budget in (4.4, 17.6, 70.4, 281.7)
        for run in runs
        if abs(run["operations"] / budget / 1e12 - 1) < 0.01
    ]
    page.says("The figure has {} of our {} recorded trainings, in four budgets", len(near), len(runs))
    largest = page.evidence("10").number("e10-r16", r"by their best rate: .*0\.006: (\d+)")
    also(page, "For {:.0f} of the {:.0f} the largest rate is the best", largest, len(runs))
    page.says("The largest rate tried is the best for {:.0f} of the {} trainings,", largest, len(runs))
    assert {lane["rate"] for run in runs for lane in run["lanes"]} == {0.0015, 0.003, 0.006}
    ours = [run for run in runs if run["parameters"] == 857_216]
    page.says(
        "For the Transformer the rate {} is better than {}.",
        0.006,
        0.003,
        holds=[_at_the_best_rate(run, (0.006,)) < _at_the_best_rate(run, (0.003,)) for run in ours],
    )
    also(
        page,
        "the fitted form $64^{{\\beta / (\\alpha + \\beta)}}$, {:.0f} to {:.0f} times",
        *(side(64 ** (fits[:, 2] / (fits[:, 1] + fits[:, 2]))) for side in (min, max)),
    )


def equal_operations(page: Page, runs: list[dict]) -> None:
    """The best size for as many operations, at the best of three rates, by the mean of three seeds."""
    best, plain = [], []  # at the best rate of each size, and at 0.003
    a_parameter = []  # tokens, of the sizes that are best to 0.001 bits
    for steps in (320, 1280, 5120, 20480):
        ours = next(run for run in runs if (run["parameters"], run["steps"]) == (857_216, steps))
        near = sorted(
            (run for run in runs if abs(run["operations"] / ours["operations"] - 1) < 0.01),
            key=lambda run: run["parameters"],
        )
        means = [_at_the_best_rate(run) for run in near]
        place = int(np.argmin(means))
        if steps == 5120:
            circled, larger = (_seeds_at_the_best_rate(run) for run in near[place : place + 2])
            also(
                page,
                "In seed 3 of the third budget the larger model is ahead; there the seeds of one size differ by "
                "{:.2f} bits",
                max(circled) - min(circled),
                holds=list(np.greater(circled, larger)) == [False, False, True],
            )
        assert 0 < place < len(near) - 1, "the best size has smaller and larger ones beside it"
        best.append(near[place])
        equal = [run for run, mean in zip(near, means, strict=True) if mean < min(means) + 0.001]
        a_parameter.append([run["tokens"] / run["parameters"] for run in equal])
        plain.append(near[int(np.argmin([_at_the_best_rate(run, (0.003,)) for run in near]))])
    first, last = best[0], best[-1]
    grown = [round(last[what] / first[what]) for what in ("operations", "parameters", "tokens")]
    also(
        page,
        "with {} times the operations the best size has ten times the parameters and reads eight times as many tokens.",
        grown[0],
        holds=grown[1:] == [10, 8],
    )
    page.says(
        "With {} times the operations the best of these models is larger and has read more;",
        grown[0],
        holds=min(grown) > 1,
    )
    page.says(
        "From the first to the last budget, {} times the operations, our best size grows tenfold and reads eight times "
        "as many tokens.",
        grown[0],
        holds=grown[1:] == [10, 8],
    )
    shown = page.numbers(
        "c10-scale-figure",
        r"([\d,]+) parameters, +([\d.]+) million .* read +([\d.]+) times: ([\d.]+) bits .*seeds ([\d.]+) to ([\d.]+)",
    )
    first_, second, third, last_ = np.reshape(shown, (4, 3, 6))  # budgets, the three best, what is printed
    page.says(
        "In the second budget two sizes tie, with one pass over the text and with four;",
        holds=[second[0, 3] == second[1, 3], second[:2, 2].round().tolist() == [1, 4]],
    )
    page.says(
        "in the last three sizes lie within {:.2f}.",
        last_[2, 3] - last_[0, 3],
    )
    page.says("In the last budget the best size reads it eight times.", holds=round(last_[0, 2]) == 8)
    bands = [
        np.ptp(_seeds_at_the_best_rate(run))
        for run in runs
        if any(abs(run["operations"] / each["operations"] - 1) < 0.01 for each in best)
    ]
    page.says(
        "each curve is lowest at a size between its ends; the second and the third are lowest at the same size, where "
        "the band of the third is the widest of all, and the last is nearly flat.",
        holds=[first_[0, 0] < second[0, 0] == third[0, 0] < last_[0, 0], max(bands) < third[0, 5] - third[0, 4] + 0.01],
    )
    page.says(
        "The best size of the largest budget is ten times that of the smallest.",
        holds=round(last_[0, 0] / first_[0, 0]) == 10,
    )
    page.given("6 for each parameter and token, and those of attention).", because="defined")
    more = [plain[-1][what] / plain[0][what] for what in ("parameters", "tokens")]
    also(page, "has {:.0f} times the parameters of the best of the first and has read {:.0f} times the tokens", *more)
    page.says(
        "With the rate 0.003 for all, the best size grows {:.0f}-fold and reads {:.0f} times as many tokens.", *more
    )
    assert [len(amounts) for amounts in a_parameter] == [1, 2, 1, 1]
    also(
        page,
        "The best sizes of the first, third and last budget have read {:.0f}, {:.0f} and {:.0f} tokens a parameter; "
        "at the second budget two equal ones have read {:.0f} and {:.0f}.",
        *(amounts[0] for amounts in a_parameter if len(amounts) == 1),
        *a_parameter[1],
    )
    also(
        page,
        r"6 for each parameter and $12 \cdot \text{blocks} \cdot \text{width} \cdot \text{window}$ for attention",
        holds=all(
            run["operations"] == (6 * run["parameters"] + 12 * blocks * width * 256) * run["tokens"]
            for run in runs
            for width, blocks in [_SHAPES[run["parameters"]]]
        ),
    )


def _seeds_at_the_best_rate(run: dict, rates: tuple[float, ...] = (0.0015, 0.003, 0.006)) -> list[float]:
    bits: dict[float, list[float]] = {}
    for lane in run["lanes"]:
        bits.setdefault(lane["rate"], []).append(lane["held-out bits a byte"])
    return min((bits[rate] for rate in rates), key=np.mean)


def _at_the_best_rate(run: dict, rates: tuple[float, ...] = (0.0015, 0.003, 0.006)) -> float:
    return float(np.mean(_seeds_at_the_best_rate(run, rates)))

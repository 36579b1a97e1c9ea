"""Lab 04, exercise `measure_rate`."""

import numpy as np

from autograder.declare import Advice, Case, Exercise, edit, seen
from coursekit.probes.encoder_block import each_run_once, named_rate
from exercises.drawing import drawn_until, one_of

exercise = Exercise("measure_rate", own_probe=True, returns=("largest",))
START, WINDOWS = 2.3, 5
# What becomes of the seeds at one rate.
ALL, ONE_FAILS, ONE_LEARNS, ALL_FAIL = "all", "one fails", "one learns", "all fail"


@exercise.formula
def largest_rate(losses: np.ndarray, rates: list[float], base_loss: float) -> dict[str, str]:
    """The largest rate up to which every run learned; losses (rates, seeds, windows)."""
    share = share_of_seeds(losses, base_loss)
    order = np.argsort(rates)
    tried = np.array(rates)[order]
    reached = tried[np.cumprod(share[order] == 1) > 0]
    return {"largest": named_rate(reached[-1] if len(reached) else None)}


@exercise.formula_for("share")
def shares(losses: np.ndarray, base_loss: float) -> dict[str, np.ndarray]:
    """The share of seeds that learned, by rate."""
    return {"share": share_of_seeds(losses, base_loss)}


@exercise.formula_for("calls")
def calls_alone(seeds: list[int]) -> dict[str, str]:
    """Which runs were trained."""
    return {"calls": each_run_once(seeds)}


def share_of_seeds(losses: np.ndarray, base_loss: float) -> np.ndarray:
    """The share of seeds whose last loss is below the base; NaN is not."""
    final = losses[:, :, -1]
    learned = final < base_loss
    return learned.mean(axis=1)


def _run(rng, base: float, outcome: str) -> np.ndarray:
    """Losses of one run: it learned, it stayed, fell below the base and came back, diverged, or ends at the base."""
    low = 0.2 + 0.5 * rng.random()
    stays = np.linspace(START, base + 0.1 + 0.2 * rng.random(), WINDOWS)
    if outcome == "learned":
        stays[-1] = low  # not before the end: only the last loss tells
    elif outcome == "came back":
        stays[1:-1] = low
    elif outcome == "diverged":
        stays[-2:] = np.nan
    elif outcome == "at the base":
        stays[-1] = base
    return stays


def _inputs(rng, seeds: int, *by_rate: str) -> dict:
    """Runs of rates that double, in any order; `by_rate` says from the smallest rate on what becomes of the seeds."""
    base = round(64 * (1.5 + 0.2 * float(rng.random()))) / 64  # a float of any size holds it
    failures = ("stayed", "came back", "diverged", "at the base")
    losses = []
    for number, kind in enumerate(by_rate):
        if kind in (ALL_FAIL, ONE_LEARNS):
            outcomes = [one_of(rng, *failures) for _ in range(seeds)]
            outcomes[0] = "diverged"  # beside runs that stayed: a NaN that is left out is not one that learned
            if kind == ONE_LEARNS:
                outcomes[rng.integers(seeds)] = "learned"
        else:
            outcomes = ["learned"] * seeds
            outcomes[rng.integers(1, seeds)] = failures[(number + 2) % 4] if kind == ONE_FAILS else "learned"
        losses.append([_run(rng, base, outcome) for outcome in outcomes])
    smallest = one_of(rng, 1, 2, 3, 5) * 1e-4
    rates = [smallest * 2**number for number in range(len(by_rate))]
    order = drawn_until(lambda drawn: drawn[0] > 0 and drawn[-1] < len(rates) - 1, lambda: rng.permutation(len(rates)))
    return {
        "losses": np.array(losses)[order],
        "rates": [rates[at] for at in order],
        "seeds": rng.permutation(900)[:seeds].tolist(),
        "base_loss": base,
    }


def _one_that(rng, separates: tuple[str, ...], seeds: int, *by_rate: str) -> dict:
    """Inputs in whose order, and with whose means, each of these wrong ways finds another rate."""

    def is_clear(inputs: dict) -> bool:
        right = largest_rate(inputs["losses"], inputs["rates"], inputs["base_loss"])["largest"]
        share = share_of_seeds(inputs["losses"], inputs["base_loss"])
        rates = np.array(inputs["rates"])
        others = {"order": rates[np.cumprod(share == 1) > 0], "gap": rates[share == 1], "any": rates[share > 0]}
        found = {name: named_rate(others[name][-1] if len(others[name]) else None) for name in separates}
        return all(rate != right for rate in found.values())

    return drawn_until(is_clear, lambda: _inputs(rng, seeds, *by_rate))


def _case(inputs: dict, text: str, mode: str = "call") -> Case:
    return Case(inputs, text, mode=mode)


@exercise.group(
    "share of the seeds that learned", points=2, must_fail_for=("nan_learned", "best_loss", "mean_over_seeds")
)
def share_of_runs(rng):
    yield _case(_inputs(rng, 3, ALL, ONE_FAILS, ONE_FAILS, ONE_FAILS, ALL_FAIL), "five rates, three seeds", "share")
    yield _case(_inputs(rng, 5, ONE_FAILS, ONE_FAILS, ONE_FAILS, ALL), "four rates, five seeds", "share")
    late = _inputs(rng, 3, ONE_FAILS, ALL_FAIL, ALL)
    late["losses"][np.isnan(late["losses"][:, :, -1]), -2] = 0.25
    yield _case(late, "three rates, three seeds: a run fell below the base, and then diverged", "share")


@exercise.group(
    "the largest rate up to which every run learned",
    points=3,
    must_fail_for=("any_seed", "gap_jumped", "order_as_given"),
)
def largest(rng):
    many = _one_that(rng, ("order",), 3, ALL, ALL, ALL, ONE_FAILS, ALL_FAIL, ALL_FAIL)
    gap = _one_that(rng, ("gap", "any"), 4, ALL, ONE_FAILS, ALL, ALL, ALL_FAIL)
    yield _case(many, "six rates, three seeds")
    yield _case(gap, "five rates, four seeds, a rate that lost a seed between rates that did not")
    yield _case(_inputs(rng, 3, ONE_FAILS, ALL, ALL_FAIL), "three rates, the smallest lost a seed")
    yield _case(_inputs(rng, 3, ALL, ALL, ALL), "three rates at which every run learned")
    yield _case(_inputs(rng, 5, ALL, ONE_LEARNS, ALL_FAIL), "three rates, five seeds: at the second, one learned")


exercise.group(
    "every rate with every seed, once",
    calls=lambda rng: _case(_inputs(rng, 3, ALL, ONE_FAILS, ALL, ALL_FAIL), "what your function trained", "calls"),
)
LEARNED = "final < base_loss"
LAST_NUMBER = "np.apply_along_axis(lambda run: run[~np.isnan(run)][-1], -1, losses)"
REACHED = "tried[np.cumprod(share[order] == 1) > 0]"

exercise.mistakes(
    nan_learned=edit(LEARNED, "~(final >= base_loss)")
    | "A run that ends in NaN counts as learned. For NaN `<` is False, and `>=` is False, too."
    | "What is `float('nan') >= 1.6`, and what does `not` make of it?",
    best_loss=edit("losses[:, :, -1]", "losses.min(axis=-1)")
    | "The smallest loss of a run decides. A run that was good and then lost it again has not learned: read the last "
    "loss." | "Which entry of the list belongs to the end of the training?",
    mean_over_seeds=edit(
        LEARNED,
        "np.repeat(final.mean(axis=1, keepdims=True), final.shape[1], axis=1) < base_loss",
        see="04#post-or-pre",
    )
    | "The losses of all seeds become one number, such as their mean, before you compare. So good seeds can hide one "
    "that failed." | "Two seeds end at 0.2 and at 2.3, the base is 1.6. How many of them learned?",
    nan_skipped=edit("losses[:, :, -1]", LAST_NUMBER)
    | "Where a run ends in NaN, a loss before the NaN decides. Such a run diverged: it has not learned."
    | "Which entry of the list is the last one?",
    nan_left_out=edit("learned.mean(axis=1)", "learned.sum(axis=1) / np.maximum(1, (~np.isnan(final)).sum(axis=1))")
    | "A run that ends in NaN is left out of the share. It was tried and did not learn: divide by the number of all "
    "seeds." | "How many seeds does a rate with one NaN have?",
    first_that_failed=edit("(reached[-1] if len(reached) else None)", "(tried[min(len(reached), len(tried) - 1)])")
    | "You return the first rate that lost a seed. The question is which rate comes before it."
    | "When your loop stops, which rate is in your variable?",
    any_seed=edit("share[order] == 1", "share[order] > 0", see="04#post-or-pre")
    | "A rate counts as soon as one seed learned. Every seed has to."
    | "Which share does a rate need at which every run learned?",
    gap_jumped=edit(REACHED, "tried[share[order] == 1]")
    | "A smaller rate lost a seed, and you go on to a larger one. Then that one was lucky: all smaller rates have to "
    "hold as well." | "At the first rate that lost a seed, what does your loop do?",
    order_as_given=edit("np.argsort(rates)", "np.arange(len(rates))")
    | "You go through the rates in the order of the list. It need not rise."
    | "Which rates are smaller than the third one of the list?",
    first_loss=edit("losses[:, :, -1]", "losses[:, :, 0]")
    | "The first loss of a run decides. The last one of the list is from the end of the training.",
    below_first=edit(LEARNED, "final < losses[:, :, 0]")
    | "A run counts as learned when its last loss is below its first. It has to be below `base_loss`."
    | "A run falls from 2.3 to 2.0, the base is 1.6. What has it learned?",
    mean_of_a_run=edit("losses[:, :, -1]", "losses.mean(axis=-1)")
    | "The mean of a run's losses decides. The last one of the list is from the end of the training."
    | "Which entry of the list belongs to the end of the training?",
    most_seeds=edit("share[order] == 1", "share[order] > 0.5", see="04#post-or-pre")
    | "A rate counts when more than half of the seeds learned. Every seed has to."
    | "Which share does a rate need at which every run learned?",
    smallest_for_none=edit("(reached[-1] if len(reached) else None)", "(reached[-1] if len(reached) else tried[0])")
    | "Where the smallest rate lost a seed, the smallest rate comes back; it should be None."
    | "What is in your variable before the loop?",
    numbers_compared_with_one=edit(
        '"share": share_of_seeds(losses, base_loss)', '"share": share_of_seeds(losses, base_loss) * losses.shape[1]'
    )
    | edit("share[order] == 1", "share[order] > 0")
    | "These are numbers of seeds, and one seed that learned makes 1. Divide by how many seeds there are.",
    numbers_not_shares=edit(
        '"share": share_of_seeds(losses, base_loss)', '"share": share_of_seeds(losses, base_loss) * losses.shape[1]'
    )
    | "These are numbers of seeds. A share is divided by how many seeds there are.",
    share_that_failed=edit(LEARNED, "final > base_loss")
    | "These are the shares of the seeds that did not learn: a loss below the base is good.",
    smallest_returned=edit("reached[-1]", "reached[0]")
    | "You return the first rate at which every seed learned. The question is up to which rate.",
    base_learned=edit(LEARNED, "final <= base_loss")
    | "A run whose last loss is `base_loss` counts as learned. The last loss has to be below."
    | "Without any learning, which loss does a run end with?",
    number_for_none=edit("(reached[-1] if len(reached) else None)", "(reached[-1] if len(reached) else 0)")
    | "Where the smallest rate lost a seed, 0 comes back; it should be None.",
    one_seed=edit("learned.mean(axis=1)", "1.0 * learned[:, 0]")
    | seen({"calls": "one seed only"}, see="04#post-or-pre")
    | "Only one of the seeds is used."
    | "How many runs does one rate get?",
)

exercise.advice(
    share_of_runs=Advice(
        value="One run learned or it did not: compare its last loss with `base_loss`. Then take the share."
    ),
    largest="Go through the rates from the smallest to the largest, and stop at the first that lost a seed.",
    calls="Two loops: over the rates, and in it over all seeds. Keep the losses under a name: train each run once.",
)
exercise.hints(
    share_of_runs=(
        "For one rate: a list of True and False, one for each seed. Its mean is the share.",
        "Write the condition so that NaN fails it: ask what has to be true of a run that learned.",
    ),
    largest=(
        "A loop over `sorted(rates)` that ends at the first share below 1.",
        "What is in your variable before the loop? That is what comes back if the smallest rate fails.",
    ),
    calls="Is there a `train(…)` that is called only under a condition, or twice?",
)

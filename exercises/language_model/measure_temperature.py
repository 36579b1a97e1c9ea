"""Lab 10, exercise `measure_temperature`."""

import numpy as np
from scipy.stats import t

from autograder.declare import Case, Exercise, edit, instead, seen
from coursekit.probes.language_model import PARSES, wanted_grid
from exercises.drawing import drawn_until

exercise = Exercise(
    "measure_temperature",
    own_probe=True,
    returns=("share", "low", "high", "calls"),
    probe_only=("temperatures",),
    uses=("python_share",),
)


@exercise.formula
def shares_with_intervals(outcomes: np.ndarray, seeds: list[int]) -> dict[str, np.ndarray | str]:
    """The share at each temperature with its 95 % interval over prompts; outcomes (prompts, temperatures, seeds)."""
    good = (outcomes == PARSES).astype("float64")
    by_prompt = good.mean(axis=2)
    share = by_prompt.mean(axis=0)
    half = 1.96 * by_prompt.std(axis=0, ddof=1) / np.sqrt(len(by_prompt))
    return {"share": share, "low": share - half, "high": share + half, "calls": wanted_grid(seeds)}


@exercise.formula_for("law")
def any_numbers(outcomes: np.ndarray) -> dict[str, np.ndarray]:
    """What a process of known law gives is left to chance; the property compares it with the law."""
    return {"share": np.full(outcomes.shape[1], np.nan)}


@exercise.formula_for("grid")
def every_combination(seeds: list[int]) -> dict[str, str]:
    """How often the process was asked, and for what."""
    return {"calls": wanted_grid(seeds)}


def quantile_of_students_t(prompts: int) -> float:
    """What takes the place of 1.96 in an interval by Student's t."""
    return float(t.ppf(0.975, prompts - 1))


def ended_alone(outcomes: np.ndarray, seeds: list[int]) -> dict[str, np.ndarray | str]:
    """Means over the bodies that ended; a prompt without one is left out."""
    ended = np.count_nonzero(outcomes != 1, axis=2)
    by_prompt = np.where(ended > 0, (outcomes == PARSES).sum(axis=2) / np.maximum(ended, 1), np.nan)
    share, count = np.nanmean(by_prompt, axis=0), (~np.isnan(by_prompt)).sum(axis=0)
    half = 1.96 * np.nanstd(by_prompt, axis=0, ddof=1) / np.sqrt(count)
    return {"share": share, "low": share - half, "high": share + half, "calls": wanted_grid(seeds)}


def _inputs(rng, prompts: int, temperatures: list[float], seeds: int) -> dict:
    """Outcomes of a process: a prompt has a rate of its own, which falls with the temperature."""
    ease = 0.15 + 0.7 * rng.random((prompts, 1))
    rates = ease / (1 + np.array(temperatures))
    happens, ends = rng.random((2, prompts, len(temperatures), seeds))
    outcomes = np.where(happens < rates[..., None], PARSES, np.where(ends < 0.5, 0, 1))
    drawn = rng.permutation(900)[:seeds].tolist()
    return {"outcomes": outcomes.astype("int64"), "temperatures": temperatures, "seeds": drawn, "rates": rates}


def _case(inputs: dict, text: str, mode: str = "call") -> Case:
    return Case({key: value for key, value in inputs.items() if key != "rates"}, text, mode=mode)


def _enough(rng, prompts: int, temperatures: list[float], seeds: int) -> dict:
    """Outcomes, good ones and bad ones at each temperature; prompts differ, and no interval leaves 0 to 1."""
    while True:
        inputs = _inputs(rng, prompts, temperatures, seeds)
        good, found = inputs["outcomes"] == PARSES, shares_with_intervals(inputs["outcomes"], inputs["seeds"])
        is_inside = (found["low"] > 0.01).all() and (found["high"] < 0.99).all()
        if (
            is_inside
            and (good.mean(axis=(0, 2)) > 0.15).all()
            and (good.mean(axis=2).std(axis=0) > 0.05).all()
            and (inputs["outcomes"] == 1).any()
        ):
            return inputs


def _beyond(rng) -> dict:
    """Outcomes of few bodies, so that the interval of a small share reaches below 0."""
    return drawn_until(
        lambda inputs: bool((shares_with_intervals(inputs["outcomes"], inputs["seeds"])["low"] < -0.05).any()),
        lambda: _inputs(rng, 5, [0.4, 1.2], 3),
    )


@exercise.group("share and interval", points=3)
def values(rng):
    yield _case(_enough(rng, 7, [0.3, 1.0], 3), "seven prompts, two temperatures, three seeds")
    yield _case(_enough(rng, 5, [0.5, 0.8, 1.3], 4), "five prompts, three temperatures, four seeds")
    yield _case(_beyond(rng), "five prompts, two temperatures, three seeds: an interval that reaches below 0")


@exercise.group("the same prompts and seeds at every temperature", points=2)
def grid(rng):
    return _case(_enough(rng, 6, [0.3, 0.7, 1.0], 3), "what your function asked for", mode="grid")


@exercise.group("300 bodies at each temperature, near their law")
def law(rng):
    inputs = _inputs(rng, 100, [0.4, 1.2], 3)
    rates = inputs.pop("rates")
    error = np.sqrt((rates * (1 - rates)).mean(axis=0) / (rates.shape[0] * 3))
    withheld = {"law": rates.mean(axis=0), "standard_error": error}
    return Case(
        inputs,
        "100 prompts, two temperatures, three seeds",
        mode="law",
        property="shares are near their law",
        withheld=withheld,
    )


exercise.mistakes(
    pooled=edit(
        "by_prompt.std(axis=0, ddof=1) / np.sqrt(len(by_prompt))",
        "good.transpose(0, 2, 1).reshape(-1, good.shape[1]).std(axis=0, ddof=1) "
        "/ np.sqrt(good.shape[0] * good.shape[2])",
        see="06b#seeds",
    )
    | "The interval is made from all bodies, as if the seeds of one prompt were independent of each other. Average "
    "within a prompt first: the prompts are what was drawn."
    | "Three seeds of an easy prompt: are these three witnesses, or one?",
    one_seed=edit("good.mean(axis=2)", "good[:, :, 0]")
    | seen({"calls": "one seed only"})
    | "Only one of the seeds is used."
    | "How many bodies does a prompt get at one temperature?",
    other_prompts=seen({"calls": "other prompts at each temperature"})
    | "Each temperature gets other prompts. A difference may then be one of prompts."
    | "Which loop is the outer one?",
    unended_counted=edit("outcomes == PARSES", "outcomes >= 1", see="10#sample")
    | "A body that did not end counts as Python."
    | "`write` returns two things. When does a body count that has not ended?",
    unended_left_out=instead(ended_alone)
    | "Bodies that did not end are left out of the mean. They should count, as 0."
    | "How many numbers is each prompt's mean taken of?",
    not_divided=edit("by_prompt.std(axis=0, ddof=1) / np.sqrt(len(by_prompt))", "by_prompt.std(axis=0, ddof=1)")
    | "The interval is made from the standard deviation of one prompt. That of a mean of n prompts is √n times "
    "smaller.",
    divided_by_all_bodies=edit("np.sqrt(len(by_prompt))", "np.sqrt(good.shape[0] * good.shape[2])", see="06b#seeds")
    | "The root counts the seeds as well. Two bodies of one prompt are not independent: n is the number of prompts."
    | "Three seeds of an easy prompt: are these three witnesses, or one?",
    divided_by_n=edit("np.sqrt(len(by_prompt))", "len(by_prompt)")
    | "The standard deviation is divided by n. Divide by √n."
    | "Four times as many prompts: how many times as narrow is the interval?",
    binomial_of_bodies=edit(
        "by_prompt.std(axis=0, ddof=1) / np.sqrt(len(by_prompt))",
        "np.sqrt(share * (1 - share) / (good.shape[0] * good.shape[2]))",
        see="06b#seeds",
    )
    | "√(share·(1 − share)/n) takes all bodies for independent. Take the standard deviation of the prompts' means."
    | "Three seeds of an easy prompt: are these three witnesses, or one?",
    binomial=edit("by_prompt.std(axis=0, ddof=1)", "np.sqrt(share * (1 - share))")
    | "√(share·(1 − share)) is the standard deviation of single bodies, 0 or 1. Take that of the prompts' means."
    | "Which n numbers is the share the mean of?",
    one_standard_error=edit("1.96 * by_prompt", "by_prompt")
    | "The interval reaches one standard error to both sides. 95 % lie within 1.96 of them.",
    whole_population=edit("by_prompt.std(axis=0, ddof=1)", "by_prompt.std(axis=0)")
    | "The standard deviation divides by n. These prompts are a sample: with `ddof=1` it divides by n − 1.",
    clipped=edit(
        '"low": share - half, "high": share + half',
        '"low": np.maximum(share - half, 0), "high": np.minimum(share + half, 1)',
    )
    | "Your interval is cut off at 0 or at 1. Leave it as it is.",
    two_standard_errors=edit("1.96 * by_prompt", "2 * by_prompt")
    | "The interval reaches two standard errors to both sides. Take 1.96.",
    students_t=edit("1.96 * by_prompt", "quantile_of_students_t(len(by_prompt)) * by_prompt")
    | "The interval takes a quantile of Student's t. The lab asks for 1.96.",
    ninety_per_cent=edit("1.96 * by_prompt", "1.645 * by_prompt")
    | "1.645 gives an interval of 90 %. For 95 % take 1.96.",
    variance=edit("by_prompt.std(axis=0, ddof=1)", "by_prompt.var(axis=0, ddof=1)")
    | "The interval is made from the variance. Take its root, the standard deviation.",
    half_widths=edit('"low": share - half, "high": share + half', '"low": half, "high": half')
    | "Half the width of the interval comes back. Return its two ends, share − half and share + half.",
    spread_of_prompts=edit(
        '"low": share - half, "high": share + half',
        '"low": np.quantile(by_prompt, 0.025, axis=0), "high": np.quantile(by_prompt, 0.975, axis=0)',
    )
    | "This is where 95 % of the prompts' means lie. The interval says how far the share may be from the one over all "
    "prompts: share ± 1.96·s/√n.",
    over_seeds=edit("good.mean(axis=2)", "good.mean(axis=0).T", see="06b#seeds")
    | "The interval is over the seeds: each number is the mean of one seed's bodies. Average within a prompt."
    | "Which shape does a table have with one row for each prompt?",
)

exercise.advice(
    values="The numbers are the prompts' means over the seeds. Share and interval: their mean, and ± 1.96 times their "
    "standard deviation (ddof=1), divided by √n.",
    grid="A loop over temperatures, in it all prompts with all seeds. Only so a difference is that of the temperature.",
    law="The process has a known share. Yours lies more than six standard errors from it.",
)
exercise.hints(
    values=(
        "For one temperature: a table (prompts, seeds) of ones where a body ended and parses, else zeros. Then a mean "
        "for each row.",
        "`rows.std(ddof=1) / len(rows) ** 0.5` is the standard error of the mean of the rows.",
    ),
    grid="Same prompts, same seeds: three loops, and nothing is drawn inside.",
)

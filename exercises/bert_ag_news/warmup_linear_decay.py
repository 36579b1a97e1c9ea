"""Lab 07, exercise `warmup_linear_decay`."""

import math

from autograder.declare import Case, Exercise, edit


def _rates(*steps: tuple[float, float], warmup: tuple[int, int] = (11, 20), whole: bool = True):
    """Steps at these places: from 0 to 1 in the climb, from 1 to 2 in the descent, above 2 beyond the end."""

    def draw(rng) -> list[Case]:
        cases = []
        for low, high in steps:
            first = int(rng.integers(*warmup))
            total = first + int(rng.integers(60, 90))
            place = float(rng.uniform(low, high))
            step = place * first if place < 1 else first + (place - 1) * (total - first)
            step = round(step) if whole else math.floor(step) + 0.5
            peak = round(float(rng.uniform(1.5, 4)), 2)
            cases.append(Case({"step": step, "peak": peak, "warmup_steps": first, "total_steps": total}))
        return cases

    return draw


exercise = Exercise("warmup_linear_decay", own_probe=True, returns=("rate",))


@exercise.formula
def warmup_linear_decay(step: float, peak: float, warmup_steps: int, total_steps: int) -> float:
    """0 at step 0, `peak` at `warmup_steps`, 0 from `total_steps` on, straight lines between (Devlin et al. 2019)."""
    if step < warmup_steps:
        share = step / warmup_steps
        return float(peak * share)
    left = (total_steps - step) / (total_steps - warmup_steps)
    return float(peak * max(0.0, left))


exercise.group("the way up", climb=_rates((0.2, 0.4), (0.5, 0.8)))
exercise.group("the way down", descent=_rates((1.15, 1.35), (1.6, 1.8)))


@exercise.group("step 0, the peak, the end, and beyond")
def ends(rng):
    cases = []
    for place in ("start", "top", "end", "beyond"):
        first = int(rng.integers(11, 20))
        total = first + int(rng.integers(60, 90))
        step = {"start": 0, "top": first, "end": total, "beyond": total + int(rng.integers(7, 30))}[place]
        inputs = {"step": step, "peak": round(float(rng.uniform(1.5, 4)), 2)}
        cases.append(Case({**inputs, "warmup_steps": first, "total_steps": total}))
    shortest = {"warmup_steps": 1, "total_steps": int(rng.integers(60, 90))}
    return [*cases, Case({"step": 0, "peak": round(float(rng.uniform(1.5, 4)), 2), **shortest})]


exercise.group("steps between whole numbers", fractions=_rates((0.3, 0.7), (1.6, 1.8), whole=False))


@exercise.group("warmup_steps=0")
def no_warmup(rng):
    between = {"step": int(rng.integers(3, 8)) / 10, "peak": round(float(rng.uniform(1.5, 4)), 2)}
    before_one = Case({**between, "warmup_steps": 0, "total_steps": int(rng.integers(60, 90))})
    return [*_rates((1, 1), (1.15, 1.35), (1.6, 1.8), warmup=(0, 1))(rng), before_one]


CLIMBS = "step < warmup_steps"
SHARE = "step / warmup_steps"
LEFT = "(total_steps - step) / (total_steps - warmup_steps)"
CLAMPED = "max(0.0, left)"
FALLING = "float(peak * max(0.0, left))"

exercise.mistakes(
    without_warmup=edit((CLIMBS, "False"), (LEFT, "(total_steps - step) / total_steps"))
    | "There is no warm-up: the rate falls from the first step on."
    | "Which rate should step 0 have, and which one step warmup_steps?",
    warmup_at_the_peak=edit(SHARE, "1.0")
    | "During the warm-up the rate is already at its peak. It should climb from 0."
    | "Half way through the warm-up the rate should be half of the peak.",
    warmup_squared=edit(SHARE, "(step / warmup_steps) ** 2") | "The way up is a curve. It should be a straight line.",
    warmup_integer_division=edit(SHARE, "step // warmup_steps")
    | "The rate stays at 0 until it jumps to the peak: `//` throws the fraction away.",
    no_decay=edit(CLAMPED, "1.0")
    | "The rate stays at its peak. It should fall to 0 at total_steps."
    | "Which share of the way down is left at total_steps?",
    decay_from_step_0=edit(LEFT, "(total_steps - step) / total_steps")
    | "The way down is counted from step 0, so the rate jumps where the two lines meet. The way down should begin at "
    "warmup_steps." | "Put step = warmup_steps into your second line: it should give the peak.",
    decay_over_all_steps=edit(LEFT, "1 - (step - warmup_steps) / total_steps")
    | "The way down takes total_steps steps, and does not arrive at 0 in time. It should take total_steps - "
    "warmup_steps." | "Put step = total_steps into your second line: it should give 0.",
    decay_cut_off=edit(LEFT, "0.0 if step >= total_steps else 1 - (step - warmup_steps) / total_steps")
    | "At total_steps the rate jumps to 0: the way down takes total_steps steps. It should take total_steps - "
    "warmup_steps." | "Put the last step before total_steps into your second line: it should give almost 0.",
    decay_cosine=edit(CLAMPED, "0.5 * (1 + math.cos(math.pi * min(1 - left, 1.0)))")
    | "The way down is a cosine. It should be a straight line.",
    decay_square_root=edit(CLAMPED, "math.sqrt(max(warmup_steps, 1) / max(step, 1))")
    | "The way down is that of the Transformer's paper, 1/√step. It should be a straight line to 0.",
    decay_squared=edit(CLAMPED, "max(0.0, left) ** 2") | "The way down is a parabola. It should be a straight line.",
    decay_integer_division=edit(LEFT, "(total_steps - step) // (total_steps - warmup_steps)")
    | "Behind the peak the rate is 0 at once: `//` throws the fraction away.",
    below_zero=edit(CLAMPED, "left")
    | "Beyond total_steps the rate is negative: such a step would undo what was learned. The rate should stay at 0."
    | "Which of two numbers is taken beyond the end: the line, or 0?",
    fraction_dropped=edit(SHARE, "math.floor(step) / warmup_steps")
    | edit("total_steps - step", "total_steps - math.floor(step)")
    | "The fractional part of the step is dropped. At step 6.5 the rate should be between those of steps 6 and 7.",
    ends_one_step_early=edit(LEFT, "(total_steps - 1 - step) / (total_steps - 1 - warmup_steps)")
    | "The rate is 0 one step too early, at total_steps - 1. It should be 0 from total_steps on.",
    one_step_early=edit(CLIMBS, "step + 1 < warmup_steps")
    | edit(SHARE, "(step + 1) / warmup_steps")
    | edit("total_steps - step", "total_steps - (step + 1)")
    | "The rate is one step early: at step 0 it should be 0.",
    one_step_late=edit(CLIMBS, "step - 1 < warmup_steps and warmup_steps > 0")
    | edit(SHARE, "(step - 1) / warmup_steps")
    | edit("total_steps - step", "total_steps - (step - 1)")
    | "The rate is one step late: it should be 0 at step 0, not at step 1.",
    climb_one_step_early=edit(SHARE, "(step + 1) / warmup_steps")
    | "The way up is one step early, as if step 0 were the first step of it: at step 0 the rate should be 0.",
    gap_at_the_peak=edit(FALLING, f"0.0 if step == warmup_steps else {FALLING}")
    | "At warmup_steps itself the rate is 0: neither of your two lines includes this step. The rate should be at its "
    "peak here.",
    cold_without_warmup=edit(FALLING, f"0.0 if step == warmup_steps == 0 else {FALLING}")
    | "With warmup_steps=0 the rate is 0 at step 0. Then there is no climb, and the first step should have the peak."
    | "Is step 0 on the way up when the way up has no steps?",
    climb_without_warmup=edit((CLIMBS, "step < max(warmup_steps, 1)"), (SHARE, "step / max(warmup_steps, 1)"))
    | "With warmup_steps=0 the rate climbs from 0 to the peak in the first step. It should fall from the peak at step "
    "0." | "Which value does your way up have at step 0.5 when it has no steps?",
    only_step_0_mended=edit(CLIMBS, "step < warmup_steps or warmup_steps == 0 < step < 1")
    | edit(SHARE, "step / max(warmup_steps, 1)")
    | "With warmup_steps=0 step 0 is right, but then the rate climbs until step 1. It should fall from the peak at "
    "step 0." | "Which value does your way up have at step 0.5 when it has no steps?",
    flat_without_warmup=edit(FALLING, f"float(peak) if warmup_steps == 0 and step < total_steps else {FALLING}")
    | "With warmup_steps=0 the rate stays at the peak. It should fall from step 0 on, to 0 at total_steps.",
    peak_ignored=edit(("peak * share", "share"), (f"peak * {CLAMPED}", CLAMPED))
    | "The rate climbs to 1. It should climb to `peak`.",
)

exercise.advice(
    climb="From 0 at step 0 to the peak at warmup_steps: which share of the way is done at this step?",
    descent="From the peak at warmup_steps to 0 at total_steps: which share of this way is left?",
    no_warmup="Without a warm-up every step is on the way down, step 0 too, and nothing may be divided by "
    "warmup_steps.",
)
exercise.hints(
    climb="Two straight lines, and a test which of them a step is on.",
    descent="The share of the way down that is left is (total_steps - step) / (total_steps - warmup_steps).",
    ends=(
        "Put the four steps 0, warmup_steps, total_steps and one beyond into your function, one after the other.",
        "`max(0.0, …)` takes care of all steps beyond the end.",
    ),
    fractions="Nothing may be rounded: `//` and `int` throw the fraction away.",
    no_warmup="Which of your two lines gets step 0 when warmup_steps is 0? Compare with `<` and with `<=`.",
)

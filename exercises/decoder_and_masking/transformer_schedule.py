"""Lab 08, exercise `transformer_schedule`."""

from autograder.declare import Case, Exercise, edit

exercise = Exercise("transformer_schedule")


@exercise.formula
def transformer_schedule(step: int, d_model: int, warmup_steps: int = 4000) -> float:
    """D^−0.5 · min(step^−0.5, step · warmup^−1.5) (Vaswani et al. 2017, equation 3); step 0 counts as 1."""
    step = max(step, 1)
    rate = min(step**-0.5, step * warmup_steps**-1.5)
    return d_model**-0.5 * rate


def _schedule(*steps: tuple[int, ...]):
    """Small widths and short warm-ups, so that the rates are large beside the rounding."""

    def draw(rng) -> list[Case]:
        cases = []
        for low, high in steps:
            sizes = {"d_model": int(rng.integers(2, 9)), "warmup_steps": int(rng.integers(11, 20))}
            cases.append(Case({"step": int(rng.integers(low, high)), **sizes}))
        return cases

    return draw


exercise.group("warm-up and decay", points=2, values=_schedule((2, 10), (21, 60), (200, 900)))


@exercise.group("step 0, step 1, the peak, warmup_steps by default")
def edges(rng):
    sizes = {"d_model": int(rng.integers(2, 9)), "warmup_steps": int(rng.integers(2, 5))}
    yield Case({"step": 0, **sizes})
    yield Case({"step": 1, **sizes})
    yield Case({"step": sizes["warmup_steps"], **sizes})
    yield Case({"step": int(rng.integers(1000, 3500)), "d_model": 2}, "warmup_steps as it is by default", scale=0.01)


WIDTH = "d_model**-0.5"
WARMUP = "warmup_steps**-1.5"

exercise.mistakes(
    warmup_missing=edit("min(step**-0.5, step * warmup_steps**-1.5)", "step**-0.5")
    | "The warm-up is missing. Up to `warmup_steps` the rate grows with the step.",
    largest_taken=edit("min(step", "max(step")
    | "The larger of the two curves is taken; take the smaller one."
    | "Draw both curves: which one lies lower at step 1, and which one far behind the warm-up?",
    width_missing=edit("d_model**-0.5 * rate", "rate") | "The factor D^−0.5 is missing.",
    width_multiplies=edit(WIDTH, "d_model**0.5")
    | "The rate is multiplied by √D; divide by √D."
    | "Should a wider model learn with larger or smaller steps?",
    width_not_rooted=edit(WIDTH, "d_model**-1.0") | "The rate is divided by D; divide by √D.",
    warmup_exponent=edit(WARMUP, "warmup_steps**-0.5")
    | "The warm-up line has warmup^−0.5; its exponent should be −1.5."
    | "At step = warmup_steps both curves should have the same value.",
    warmup_exponent_one=edit(WARMUP, "warmup_steps**-1.0")
    | "The warm-up line has warmup^−1; its exponent should be −1.5."
    | "At step = warmup_steps both curves should have the same value.",
    decay_exponent=edit("step**-0.5", "step**-1.5") | "The decay is step^−1.5; that exponent belongs to the warm-up.",
    step_zero_gives_zero=edit("step = max(step, 1)", "if step == 0:\n    return 0.0")
    | "Step 0 gives 0; it should count as step 1.",
    every_step_plus_one=edit("max(step, 1)", "step + 1")
    | "Every step is counted one higher. Only step 0 should change: it counts as step 1.",
    warmup_ignored=edit(WARMUP, "4000**-1.5") | "The argument `warmup_steps` changes nothing.",
)

exercise.advice(edges="Step 0 counts as step 1, and only that step is special.")
exercise.hints(values="Two curves, one rising and one falling; the rate is the smaller of them, times D^−0.5.")

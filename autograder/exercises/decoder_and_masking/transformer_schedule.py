"""Lab 08, exercise `transformer_schedule`."""

from coursekit.generator import Generator

from autograder.declaring import Case, Exercise, wrong
from autograder.mistaken import losses as mistaken
from autograder.oracles import losses as oracles


def _schedule(*steps: tuple[int, ...]):
    """Small widths and short warm-ups, so that the rates are large beside the rounding."""

    def draw(rng: Generator) -> list[Case]:
        cases = []
        for low, high in steps:
            sizes = {"d_model": int(rng.integers(2, 9)), "warmup_steps": int(rng.integers(11, 20))}
            cases.append(Case({"step": int(rng.integers(low, high)), **sizes}))
        return cases

    return draw


exercise = Exercise("transformer_schedule", oracle=oracles.transformer_schedule, mistaken=mistaken.transformer_schedule)


@exercise.group("warm-up and decay", points=2)
def values(rng: Generator) -> list[Case]:
    return _schedule((2, 10), (21, 60), (200, 900))(rng)


@exercise.group("step 0, step 1, the peak, warmup_steps by default", points=1, advice="Step 0 counts as step 1, and only that step is special.")
def edges(rng: Generator) -> list[Case]:
    sizes = {"d_model": int(rng.integers(2, 9)), "warmup_steps": int(rng.integers(2, 5))}
    return [
        Case({"step": 0, **sizes}),
        Case({"step": 1, **sizes}),
        Case({"step": sizes["warmup_steps"], **sizes}),
        Case({"step": int(rng.integers(3000, 5000)), "d_model": 2}, description="warmup_steps as it is by default", scale=0.01),
    ]


exercise.mistakes(
    largest_taken=wrong("The larger of the two curves is taken; take the smaller one.", choice="max"),
    width_missing=wrong("The factor D^−0.5 is missing.", width=0.0),
    width_multiplies=wrong("The rate is multiplied by √D; divide by √D.", width=0.5),
    width_not_rooted=wrong("The rate is divided by D; divide by √D.", width=-1.0),
    warmup_exponent=wrong("The warm-up line has warmup^−0.5; its exponent should be −1.5.", warmup=-0.5),
    warmup_exponent_one=wrong("The warm-up line has warmup^−1; its exponent should be −1.5.", warmup=-1.0),
    decay_exponent=wrong("The decay is step^−1.5; that exponent belongs to the warm-up.", decay=-1.5),
    step_zero_gives_zero=wrong("Step 0 gives 0; it should count as step 1.", first="zero"),
    every_step_plus_one=wrong("Every step is counted one higher. Only step 0 should change: it counts as step 1.", first="all shifted"),
    warmup_ignored=wrong("The argument `warmup_steps` changes nothing.", ignored=True),
)


exercise.hints("Two curves, one rising and one falling; the rate is the smaller of them, times D^−0.5.")

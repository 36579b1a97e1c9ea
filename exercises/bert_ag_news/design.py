"""Lab 07, exercise `design`: any schedule that keeps every constraint is right."""

from autograder.declaring import Case, Exercise, wrong
from coursekit.generator import Generator

exercise = Exercise("design")
CHOSEN = "any choice that keeps the constraint is right"


@exercise.formula
def kept(constraint: str) -> dict[str, str]:
    """What the probe says of a choice that keeps a constraint."""
    right = {
        "texts": "read two to four times",
        "steps": "100 to 250, all of them taken",
        "warmup": "5 to 20 % of the steps",
        "rate": "a peak of 0.0005 to 0.001, at most 0.0003 at step 5",
    }
    return {constraint: right[constraint]}


def _about(constraint: str, text: str) -> list[Case]:
    return [Case({"constraint": constraint}, description=text)]


@exercise.group("every text two to four times", points=1, fixed=CHOSEN)
def texts(rng: Generator) -> list[Case]:
    return _about("texts", "how often each text is read")


@exercise.group(
    "100 to 250 steps, and a rate that is back at 0 after the last one",
    points=1,
    fixed=CHOSEN,
    advice="An epoch has ⌈1,000 / batch_size⌉ steps: the last batch may be smaller.",
)
def steps(rng: Generator) -> list[Case]:
    return _about("steps", "total_steps with 1,000 texts")


@exercise.group("a warm-up of 5 to 20 %", points=1, fixed=CHOSEN)
def warmup(rng: Generator) -> list[Case]:
    return _about("warmup", "the share of the warm-up")


@exercise.group(
    "the peak, and small first steps",
    points=1,
    fixed=CHOSEN,
    advice="In the warm-up, step s has the rate peak · s / warmup_steps.",
)
def rate(rng: Generator) -> list[Case]:
    return _about("rate", "the peak, and the rate at step 5")


exercise.mistakes(
    steep=wrong(
        "At step 5 the rate is above 3·10⁻⁴.",
        seen={"rate": "too high at step 5"},
        hint="Two of your numbers decide how steep the climb is.",
    ),
    last_batch_forgotten=wrong(
        "`total_steps` leaves out the last batch of each epoch, which is smaller. It is a step as well.",
        seen={"steps": "the smaller batch is not counted"},
        hint="How many batches of 16 do 20 texts make?",
    ),
    warmup_too_short=wrong("The warm-up takes less than 5 % of `total_steps`.", seen={"warmup": "less than 5 %"}),
    warmup_too_long=wrong("The warm-up takes more than 20 % of `total_steps`.", seen={"warmup": "more than 20 %"}),
    too_few_steps=wrong(
        "There are fewer than 100 steps.", seen={"steps": "fewer than 100"}, hint="What does a smaller batch change?"
    ),
    too_many_steps=wrong("There are more than 250 steps.", seen={"steps": "more than 250"}),
    peak_outside=wrong("The peak is not from 5·10⁻⁴ to 10⁻³.", seen={"rate": "a peak outside"}),
    one_pass=wrong("Every text is read once only.", seen={"texts": "read once"}),
    ends_too_early=wrong(
        "The rate is 0 before the last step: `total_steps` is smaller than the number of steps that you take.",
        seen={"steps": "fewer than are taken"},
        see="07#three-ways",
    ),
    ends_too_late=wrong(
        "Training ends before the rate has come down: `total_steps` is larger than the number of steps that you take.",
        seen={"steps": "more than are taken"},
        see="07#three-ways",
    ),
    of_one_epoch=wrong("`total_steps` are the steps of one epoch.", seen={"steps": "those of one epoch"}),
    too_often=wrong("Every text is read more than four times.", seen={"texts": "read more than four times"}),
)

exercise.hints("Choose batch_size and epochs first; they fix total_steps. Then the warm-up, then the peak.")

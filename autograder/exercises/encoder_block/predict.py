"""Lab 04, exercise `predict`."""

from coursekit.generator import Generator

from autograder.declaring import Case, Exercise, wrong
from autograder.mistaken import encoder_block as mistaken
from autograder.oracles import encoder_block as oracles

exercise = Exercise("predict", oracle=oracles.spread_after_sums, mistaken=mistaken.spread_after_sums, reveal=False, tolerance=0.5)


@exercise.group("the standard deviation at the end", points=1)
def number(rng: Generator) -> list[Case]:
    return [Case({}, description="your number")]


exercise.mistakes(
    deviations_added=wrong("Standard deviations do not add up, unless all summands always have the same sign. What adds up when they are independent?", thought=25.0),
    sublayers_counted=wrong("That is the number of sub-layers. Deviations do not add up; what does, when the summands are independent?", thought=24.0),
    kept_at_one=wrong("The norms are before the sub-layers. Nothing on the residual path brings a token back to 1.", thought=1.0),
    blocks_counted=wrong("Each block adds twice: once for the attention, once for the feed-forward network.", thought=13**0.5),
)

exercise.hints("What is the variance of a sum of two independent numbers?", "Add up the variances first, the token's own included; then take the root.")

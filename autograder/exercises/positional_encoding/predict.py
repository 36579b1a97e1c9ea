"""Lab 05, exercise `predict`."""

from coursekit.generator import Generator

from autograder.declaring import Case, Exercise, wrong
from autograder.mistaken import positional_encoding as mistaken
from autograder.oracles import positional_encoding as oracles

exercise = Exercise("predict", oracle=oracles.slow_pairs, mistaken=mistaken.slow_pairs, reveal=False, tolerance=2.0)


@exercise.group("how many pairs turn by less than a quarter", points=1)
def number(rng: Generator) -> list[Case]:
    return [Case({}, description="your number")]


exercise.mistakes(
    thought_half=wrong("Half of the pairs have a speed below 1/100. But at that speed a pair turns by more than five radians in 511 positions.", thought=16.0),
    fast_pairs_counted=wrong("These are the pairs that turn farther than a quarter; the question asks for the others.", thought=21.0),
    thought_none=wrong("The slowest pair has a speed of about 1/7500. How far does it turn in 511 positions?", thought=0.0),
    thought_all_slow=wrong("The first pair turns by 511 radians, 81 full turns.", thought=31.5),
)

exercise.hints(
    "A quarter turn is π/2. Which speed must a pair have to turn by exactly that much in 511 positions?",
    "The speeds fall from 1 to almost 1/10000 in 32 equal steps of the exponent. After which part of these steps comes the speed that you found?",
)

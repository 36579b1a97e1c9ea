"""Lab 01, exercise `predict`."""

from coursekit.generator import Generator

from autograder.declaring import Case, Exercise, wrong
from autograder.mistaken import attention_intuition as mistaken
from autograder.oracles import attention_intuition as oracles

exercise = Exercise("predict", oracle=oracles.keys_that_count, mistaken=mistaken.keys_that_count, reveal=False, tolerance=2.5)


@exercise.group("how many keys count at half the bandwidth", points=1)
def number(rng: Generator) -> list[Case]:
    return [Case({}, description="your number")]


exercise.mistakes(
    thought_quartered=wrong("Both the bandwidth and the distance are squared. How far does a kernel of half the width reach?", thought=8.86),
    thought_doubled=wrong("That goes the wrong way: a narrow kernel lets fewer keys count.", thought=70.9),
    thought_unchanged=wrong("The weights still sum to 1, but fewer keys share the 1.", thought=35.4),
    thought_rooted=wrong("That divides by the root of 2. The keys lie on a line: how many of them lie in a stretch of half the length?", thought=25.1),
)

exercise.hints("Think of the kernel as a window over the line. Which stretch does it cover when the bandwidth is halved, and how many keys lie in it?")

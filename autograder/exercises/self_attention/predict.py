"""Lab 02, exercise `predict`."""

from coursekit.generator import Generator

from autograder.declaring import Case, Exercise, wrong
from autograder.mistaken import self_attention as mistaken
from autograder.oracles import self_attention as oracles

exercise = Exercise("predict", oracle=oracles.spread_of_scaled_scores, mistaken=mistaken.spread_of_scaled_scores, reveal=False, tolerance=0.45)


@exercise.group("the standard deviation of the scaled scores", points=1)
def number(rng: Generator) -> list[Case]:
    return [Case({}, description="your number")]


exercise.mistakes(
    thought_one=wrong("Dividing by √d_k brings the standard deviation to 1 if the entries have the standard deviation 1. Here the entries have 2.", thought=1.0),
    one_factor=wrong("Both factors of each product have the deviation 2, not only one of them.", thought=2.0),
    unscaled=wrong("That is the deviation before the division by √d_k.", thought=40.0),
    divided_by_d=wrong("The scores are divided by √d_k, not by d_k.", thought=0.4),
    variance=wrong("That is the variance. The question asks for its root.", thought=16.0),
)

exercise.hints(
    "One product of two independent entries of mean 0: its variance is the product of their variances.",
    "The variance of a sum of independent numbers is the sum of their variances. How many are there? And what does the division by √d_k do to a standard deviation?",
)

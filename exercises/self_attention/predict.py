"""Lab 02, exercise `predict`."""

from autograder.declare import ONE, Questions, seen

exercise = Questions("predict", tolerance=0.45)

# Entries of deviation 2 give products of deviation 4, 100 of them a sum of deviation 40, and 40 / √100 is 4.
exercise.question(ONE, "the standard deviation of the scaled scores", right=4.0)

exercise.mistakes(
    thought_one=seen(1.0)
    | "Dividing by √d_k brings the standard deviation to 1 if the entries have the standard deviation 1. Here the "
    "entries have 2.",
    one_factor=seen(2.0) | "Both factors of each product have the deviation 2, not only one of them.",
    unscaled=seen(40.0) | "That is the deviation before the division by √d_k.",
    divided_by_d=seen(0.4) | "The scores are divided by √d_k, not by d_k.",
    variance=seen(16.0) | "That is the variance. The question asks for its root.",
)

exercise.hints(
    number=(
        "One product of two independent entries of mean 0: its variance is the product of their variances.",
        "The variance of a sum of independent numbers is the sum of their variances. How many are there? And what "
        "does the division by √d_k do to a standard deviation?",
    )
)

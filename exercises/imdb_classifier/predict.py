"""Lab 06, exercise `predict`: how far an accuracy on 64 reviews is off by chance."""

import math

from autograder.declare import ONE, Advice, Questions, seen

REVIEWS, ACCURACY = 64, 0.8
VARIANCE = ACCURACY * (1 - ACCURACY) / REVIEWS  # of a binomial share
DEVIATION = 100 * math.sqrt(VARIANCE)  # in percentage points: 5

exercise = Questions("predict", tolerance=0.04)

exercise.question(ONE, "the standard deviation of an accuracy", right=DEVIATION, name="spread")

exercise.mistakes(
    not_in_points=seen((DEVIATION / 100 + VARIANCE) / 2)
    | "This is a share of 1, or its variance. The question asks for the standard deviation, in percentage points.",
    root_missing=seen(DEVIATION**2)
    | "The root is missing: this is the variance. The question asks for the standard deviation.",
    number_of_reviews=seen(DEVIATION * REVIEWS / 100, see="06#verdict")
    | "This is the standard deviation of the *number* of right answers, in reviews. What share of 64 are they, in "
    "percentage points?",
    fair_coin=seen(50 / math.sqrt(REVIEWS))
    | "This is the standard deviation for a fair coin. The model is right in 80 % of the reviews.",
    two_deviations=seen(1.96 * DEVIATION)
    | "This is the interval of 95 %, 1.96 standard deviations. The question asks for one.",
    one_coin=seen(DEVIATION * math.sqrt(REVIEWS), see="06#verdict")
    | "This is the standard deviation for a single review. The mean of 64 varies much less.",
)

exercise.advice(
    spread=Advice(
        value="Each review is right or wrong, like the throw of a coin. How much does the share of heads in 64 throws "
        "vary?"
    )
)
exercise.hints(
    spread="One throw of a coin with probability a has the variance a·(1 − a). The variance of the mean of n throws "
    "is this, divided by n."
)

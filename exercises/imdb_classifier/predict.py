"""Lab 06, exercise `predict`: how far an accuracy on 64 reviews is off by chance."""

import math

from autograder.declaring import ONE, Advice, Questions, wrong

REVIEWS, ACCURACY = 64, 0.8
VARIANCE = ACCURACY * (1 - ACCURACY) / REVIEWS  # of a binomial share
DEVIATION = 100 * math.sqrt(VARIANCE)  # in percentage points: 5

exercise = Questions("predict", tolerance=0.04)  # a share and a variance, 0.05 and 0.0025, are further apart

exercise.question(
    ONE,
    "the standard deviation of an accuracy",
    right=DEVIATION,
    name="spread",
    advice=Advice(
        value="Each review is right or wrong, like the throw of a coin. How much does the share of heads in 64 throws "
        "vary?"
    ),
    hints=(
        "One throw of a coin with probability a has the variance a·(1 − a). The variance of the mean of n throws is "
        "this, divided by n.",
    ),
)

ROOT = "The root is missing: {} is the variance. The question asks for the standard deviation, in percentage points."

exercise.mistakes(
    as_a_share=wrong("This is a share of 1. The question asks for percentage points.", seen=DEVIATION / 100),
    variance_of_points=wrong(ROOT.format("this, in points squared,"), seen=DEVIATION**2),
    variance_of_the_share=wrong(ROOT.format("this, for a share of 1,"), seen=VARIANCE),
    variance_times_100=wrong(ROOT.format("this, times 100,"), seen=100 * VARIANCE),
    number_of_reviews=wrong(
        "This is the standard deviation of the *number* of right answers, in reviews. What share of 64 are they, in "
        "percentage points?",
        seen=DEVIATION * REVIEWS / 100,
        see="06#verdict",
    ),
    two_deviations=wrong(
        "This is the interval of 95 %, 1.96 standard deviations. The question asks for one.", seen=1.96 * DEVIATION
    ),
    twice_the_deviation=wrong(
        "This is the interval of 95 %, two standard deviations. The question asks for one.", seen=2 * DEVIATION
    ),
    fair_coin=wrong(
        "This is the deviation for a fair coin. With which probability is the model right about one review?",
        seen=100 * math.sqrt(0.25 / REVIEWS),
    ),
    not_of_both=wrong(
        "The variance of one review is not its probability of being wrong. It has two factors.",
        seen=100 * math.sqrt((1 - ACCURACY) / REVIEWS),
    ),
    one_coin=wrong(
        "This is the standard deviation for a single review. The mean of 64 varies much less.",
        seen=DEVIATION * math.sqrt(REVIEWS),
        see="06#verdict",
    ),
    divided_without_root=wrong(
        "The standard deviation of one review is divided by 64. It is the variance that is divided by n.",
        seen=DEVIATION / math.sqrt(REVIEWS),
    ),
)

"""Lab 06, exercise `predict`: how far an accuracy on 500 reviews is off by chance."""

import math

from autograder.declaring import ONE, Advice, Questions, wrong

REVIEWS, ACCURACY = 500, 0.73
DEVIATION = 100 * math.sqrt(ACCURACY * (1 - ACCURACY) / REVIEWS)  # of a binomial share, in percentage points

exercise = Questions("predict", tolerance=0.4)

exercise.question(
    ONE,
    "the standard deviation of an accuracy",
    right=DEVIATION,
    name="spread",
    advice=Advice(
        value="Each review is right or wrong, like the throw of a coin. How much does the share of heads in 500 throws "
        "vary?"
    ),
    hints=(
        "One throw of a coin with probability a has the variance a·(1 − a). The variance of the mean of n throws is "
        "this, divided by n.",
    ),
)

exercise.mistakes(
    as_a_share=wrong("This is a share of 1. The question asks for percentage points.", seen=DEVIATION / 100),
    number_of_reviews=wrong(
        "This is the standard deviation of the *number* of right answers, in reviews. What share of 500 are they, in "
        "percentage points?",
        seen=DEVIATION * REVIEWS / 100,
        see="06#verdict",
    ),
    two_deviations=wrong(
        "This is the interval of 95 %, two standard deviations. The question asks for one.", seen=1.96 * DEVIATION
    ),
    one_coin=wrong(
        "This is the standard deviation for a single review. The mean of 500 varies much less.",
        seen=DEVIATION * math.sqrt(REVIEWS),
        see="06#verdict",
    ),
)

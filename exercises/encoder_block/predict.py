"""Lab 04, exercise `predict`."""

from autograder.declare import ONE, Questions, seen

exercise = Questions("predict", tolerance=0.1)

# Variance 36 of the tokens. Each of 18 blocks adds a sum of variance 1 + 1 + 2 · 0.25 = 2.5: 36 + 45 = 81.
exercise.question(ONE, "the standard deviation at the end", right=9.0)

exercise.mistakes(
    as_if_independent=seen(72**0.5)
    | "That is the deviation if all sub-layers were independent. Variances add up only then; the two of one block are "
    "correlated.",
    covariance_once=seen(76.5**0.5)
    | "The covariance is counted once in each block. Write out (a + b)²: how often does a · b occur?",
    wrong_sign=seen(63**0.5)
    | "The covariance is subtracted. Positively correlated numbers make each other's sum larger.",
    wholly_correlated=seen(108**0.5)
    | "That is the deviation if both sub-layers of a block added the same numbers, with a coefficient of 1.",
    tokens_left_out=seen(45**0.5) | "That is what the blocks add. The tokens that entered are in the sum, too.",
    tokens_not_squared=seen(51**0.5)
    | "The tokens enter with a standard deviation of 6, and variances are what adds up. What is theirs?",
    one_sublayer_each=seen(54**0.5)
    | "That is one sub-layer in each block. A block has two, and both add to the tokens.",
    deviations_added=seen(42.0)
    | "Standard deviations do not add up, unless all summands rise and fall together. What adds up when they are "
    "independent?",
    variance=seen(81.0) | "That is the variance. The question is about the standard deviation.",
)

exercise.hints(
    number=(
        "Take one block: the variance of what its two sub-layers add together. What is their covariance?",
        "Blocks are independent of each other, and of the tokens that entered: what adds up?",
    )
)

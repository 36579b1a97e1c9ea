"""Lab 04, exercise `predict`."""

from autograder.declaring import ONE, Questions, wrong

exercise = Questions("predict", tolerance=0.1)

# Variance 25 of the tokens. Each of 8 blocks adds a sum of variance 1 + 1 + 2 · 0.5 = 3: 25 + 24 = 49.
exercise.question(
    ONE,
    "the standard deviation at the end",
    right=7.0,
    hints=(
        "What is the variance of a sum a + b of two correlated numbers? Begin with the mean of (a + b)².",
        "Take one block: the variance of what its two sub-layers add together. Blocks are independent of each other.",
    ),
)

exercise.mistakes(
    as_if_independent=wrong(
        "That is the deviation if all sub-layers were independent. Variances add up only then; "
        "the two of one block are correlated.",
        seen=41**0.5,
    ),
    covariance_once=wrong(
        "The covariance is counted once in each block. Write out (a + b)²: how often does a · b occur?", seen=45**0.5
    ),
    tokens_left_out=wrong("That is what the blocks add. The tokens that entered are in the sum, too.", seen=24**0.5),
    tokens_not_squared=wrong(
        "The tokens enter with a standard deviation of 5, and variances are what adds up. What is theirs?", seen=29**0.5
    ),
    one_sublayer_each=wrong(
        "That is one sub-layer in each block. A block has two, and both add to the tokens.", seen=33**0.5
    ),
    deviations_added=wrong(
        "Standard deviations do not add up, unless all summands rise and fall together. "
        "What adds up when they are independent?",
        seen=21.0,
    ),
    variance=wrong("That is the variance. The question is about the standard deviation.", seen=49.0),
)

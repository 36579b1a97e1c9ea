"""Lab 04, exercise `predict`."""

from autograder.declaring import ONE, Questions, wrong

exercise = Questions("predict", tolerance=0.5)

# 24 independent summands of variance 1 on tokens of variance 1: the variance is 25.
exercise.question(
    ONE,
    "the standard deviation at the end",
    right=5.0,
    hints=(
        "What is the variance of a sum of two independent numbers?",
        "Add up the variances first, the token's own included; then take the root.",
    ),
)

exercise.mistakes(
    deviations_added=wrong(
        "Standard deviations do not add up, unless all summands always have the same sign. "
        "What adds up when they are independent?",
        seen=25.0,
    ),
    sublayers_counted=wrong(
        "That is the number of sub-layers. Deviations do not add up; what does, when the summands are independent?",
        seen=24.0,
    ),
    kept_at_one=wrong(
        "The norms are before the sub-layers. Nothing on the residual path brings a token back to 1.", seen=1.0
    ),
    blocks_counted=wrong(
        "Each block adds twice: once for the attention, once for the feed-forward network.", seen=13**0.5
    ),
)

"""Lab 05, exercise `predict`."""

import math

import numpy as np

from autograder.declare import ONE, Questions, seen
from exercises.positional_encoding.shared import angular_speeds

exercise = Questions("predict", tolerance=2.0)

# Of the 32 pairs of D = 64, those that turn by less than a quarter from position 0 to 511.
SLOW_PAIRS = float(np.sum(511 * angular_speeds(64) < math.pi / 2))

exercise.question(ONE, "how many pairs turn by less than a quarter", right=SLOW_PAIRS)

exercise.mistakes(
    thought_half=seen(16.0)
    | "About half of the pairs, 15 of 32, have a speed below 1/100. But at that speed a pair turns by more than five "
    "radians in 511 positions.",
    fast_pairs_counted=seen(21.0)
    | "That is too many: most of the 32 pairs turn by more than a quarter from position 0 to 511. Did you count those, "
    "or take fewer positions?",
    thought_none=seen(0.0) | "The slowest pair has a speed of about 1/7500. How far does it turn in 511 positions?",
    thought_all_slow=seen(31.5) | "The first pair turns by 511 radians, 81 full turns.",
)

exercise.hints(
    number=(
        "A quarter turn is π/2. Which speed must a pair have to turn by exactly that much in 511 positions?",
        "The speeds fall from 1 to almost 1/10000 in 32 equal steps of the exponent. After which part of these steps "
        "comes the speed that you found?",
    )
)

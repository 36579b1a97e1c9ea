"""Lab 01, exercise `predict`."""

import numpy as np

from autograder.declare import ONE, Questions, seen
from exercises.formulas.attention import softmax

KEYS = np.arange(-100, 101) * 0.1
WEIGHTS = softmax(-(KEYS**2) / (2 * 0.5**2))

exercise = Questions("predict", tolerance=2.5)

# 1/Σα² of a query amid keys at distances of 0.1, at a bandwidth of 0.5: 2√π · 0.5 / 0.1, about 17.7.
exercise.question(ONE, "how many keys count at half the bandwidth", right=float(1 / np.sum(WEIGHTS**2)))

exercise.mistakes(
    thought_quartered=seen(8.86)
    | "That is too few. If you divided by 4: bandwidth and distance are both squared, so how far does a kernel of half "
    "the width reach? If you counted the keys within one bandwidth: keys beyond it have weight, too.",
    thought_doubled=seen(70.9) | "That goes the wrong way: a narrow kernel lets fewer keys count.",
    thought_fourfold=seen(141.8) | "That goes the wrong way: a narrow kernel lets fewer keys count.",
    thought_a_length=seen(1.77)
    | "That is far too few. If it is a length on the line: how many keys, one every 0.1, lie in it?",
    thought_unchanged=seen(35.4) | "The weights still sum to 1, but fewer keys share the 1.",
    thought_rooted=seen(25.1)
    | "That divides by the root of 2. The keys lie on a line: how many of them lie in a stretch of half the length?",
)

exercise.hints(
    number="Think of the kernel as a window over the line. Which stretch does it cover when the bandwidth is halved, "
    "and how many keys lie in it?"
)

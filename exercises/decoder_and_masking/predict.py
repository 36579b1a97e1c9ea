"""Lab 08, exercise `predict`: how low a smoothed loss can go."""

import numpy as np

from autograder.declare import ONE, Advice, Questions, seen
from exercises.formulas.losses import cross_entropy

WORDS, SMOOTHING = 14, 0.1
P = (1 - SMOOTHING) * np.eye(WORDS)[0] + SMOOTHING / WORDS  # the smoothed target
FLOOR = float(cross_entropy(P, P))  # no cross-entropy with p is below its entropy

exercise = Questions("predict", tolerance=0.015)

exercise.question(ONE, "the lowest loss with label smoothing", right=FLOOR, name="floor")

exercise.mistakes(
    no_smoothing=seen(0.0, see="08#loss-floor")
    | "A loss of 0 needs a q of 1 at the right word and 0 elsewhere. What does a q of 0 cost under the smoothed p?",
    right_word_alone=seen(float(-np.log(P[0])), see="08#loss-floor")
    | "This is about what the right word alone costs. The smoothed target asks for the other 13 as well.",
    untrained=seen(float(np.log(WORDS)))
    | "This is the loss of a model that finds all words equally probable: training begins there, but it does not end "
    "there.",
    two_outcomes=seen(float(-0.9 * np.log(0.9) - 0.1 * np.log(0.1)), see="08#loss-floor")
    | "This is the entropy of two outcomes, 0.9 and 0.1. The target spreads the 0.1 over 14 words, which costs more.",
    own_share_missing=seen(0.585, see="08#loss-floor")
    | "Either your right word has 0.9 alone: the 0.1 is spread over all 14 words, so 0.1/14 comes back. Or 14 wrong "
    "words are counted: there are 13."
    | "Add up the probabilities of your target. Is the sum 1, and how much has each word?",
    in_bits=seen(FLOOR / float(np.log(2))) | "This is in bits. The loss is in nats: natural logarithms.",
)

exercise.advice(
    floor=Advice(value="The loss is H(p, q), where p is the smoothed target. Choose the q that makes it smallest.")
)
exercise.hints(floor="Which q makes H(p, q) smallest? For that q the cross-entropy has a name of its own.")

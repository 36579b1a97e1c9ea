"""Lab 07, exercise `predict`: the loss of a classifier that knows nothing."""

import math

from autograder.declare import ONE, Advice, Questions, seen

CLASSES = 4

exercise = Questions("predict", tolerance=0.25)

exercise.question(ONE, "the loss before training", right=-math.log(1 / CLASSES), name="start")

exercise.mistakes(  # numbers within the tolerance need not be meant so: the sentences ask
    errors_or_two_classes=seen((1 - 1 / CLASSES + math.log(2)) / 2, see="06#cross-entropy")
    | "Is this the share of errors of a guess, the loss for two classes, or a logarithm to base 10? The loss is −ln "
    "of a probability, for four classes.",
    already_trained=seen(0.22, see="06#cross-entropy")
    | "With so low a loss the true class gets more than 60 % of the probability: e to the power of minus the loss, on "
    "average. That is a model that knows the classes. This one is new.",
    loss_in_bits=seen(math.log2(CLASSES), see="06#cross-entropy")
    | "Is this in bits? The loss is in nats: natural logarithms.",
)

exercise.advice(
    start=Advice(
        value="The loss of a text is −ln of the probability that its class gets. Which probability does a model that "
        "knows nothing give?"
    )
)
exercise.hints(start="How probable is each of the four classes to a model that knows nothing? Take −ln of it.")

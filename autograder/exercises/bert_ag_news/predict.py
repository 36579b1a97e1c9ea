"""Lab 07, exercise `predict`: the loss of a classifier that knows nothing."""

from coursekit.generator import Generator

from autograder.declaring import Case, Exercise, wrong
from autograder.mistaken import bert_ag_news as mistaken
from autograder.oracles import bert_ag_news as oracles

exercise = Exercise("predict", oracle=oracles.predict, mistaken=mistaken.predict, reveal=False, tolerance=0.25)


@exercise.group("the loss before training", points=1, advice="The loss of a text is −ln of the probability that its class gets. Which probability does a model that knows nothing give?")
def start(rng: Generator) -> list[Case]:
    return [Case({"classes": 4}, description="your prediction for four classes")]


exercise.mistakes(
    share_of_errors=wrong("This is the share of errors of a guess. The loss is −ln of a probability.", thought="errors"),
    loss_in_bits=wrong("This is in bits. The loss is in nats: natural logarithms.", thought="bits"),
    for_two_classes=wrong("This is the loss for two classes. Here are four.", thought="two classes"),
)


exercise.hints("How probable is each of the four classes to a model that knows nothing? Take −ln of it.")

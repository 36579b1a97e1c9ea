"""Lab 08b, exercise `predict`: how many whole sentences are right when each token is right with a given probability."""

from coursekit.generator import Generator

from autograder.declaring import Case, Exercise, wrong
from autograder.mistaken import generating_text as mistaken
from autograder.oracles import generating_text as oracles

exercise = Exercise("predict", oracle=oracles.predict, mistaken=mistaken.predict, reveal=False, tolerance=0.07)


@exercise.group("the share of sentences without an error", points=1, advice="Every one of the twelve tokens has to be right.")
def sentences(rng: Generator) -> list[Case]:
    return [Case({"tokens": 12, "right": 0.95}, description="your prediction for 12 tokens, each right with probability 0.95")]


exercise.mistakes(
    as_for_one_token=wrong("This is the share for one token. A sentence of twelve has twelve chances to go wrong.", thought="one token"),
    errors_added=wrong("Twelve times 5 % are the errors that you expect on average. Some sentences have two, and some have none.", thought="errors added"),
)


exercise.hints("How large is the probability that the first two tokens are right?")

"""Lab 08, exercise `predict`: how low a smoothed loss can go."""

from coursekit.generator import Generator

from autograder.declaring import Case, Exercise, wrong
from autograder.mistaken import decoder_and_masking as mistaken
from autograder.oracles import decoder_and_masking as oracles

exercise = Exercise("predict", oracle=oracles.predict, mistaken=mistaken.predict, reveal=False, tolerance=0.05)


@exercise.group("the lowest loss with label smoothing", points=1, advice="The loss is H(p, q), where p is the smoothed target. Choose the q that makes it smallest.")
def floor(rng: Generator) -> list[Case]:
    return [Case({"words": 14, "smoothing": 0.1}, description="your prediction for V = 14 and label smoothing 0.1")]


exercise.mistakes(
    no_smoothing=wrong("A loss of 0 needs a q of 1 at the right word and 0 elsewhere. What does a q of 0 cost under the smoothed p?", thought="no smoothing"),
    right_word_alone=wrong("This is what the right word costs. The smoothed target asks for the other 13 as well.", thought="right word alone"),
    untrained=wrong("This is the loss of a model that finds all words equally probable: training begins there, but it does not end there.", thought="untrained"),
    in_bits=wrong("This is in bits. The loss is in nats: natural logarithms.", thought="bits"),
)


exercise.hints("Which q makes H(p, q) smallest? For that q the cross-entropy has a name of its own.")

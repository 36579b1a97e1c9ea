"""Lab 06, exercise `predict`: how far an accuracy on 500 reviews is off by chance."""

from coursekit.generator import Generator

from autograder.declaring import Case, Exercise, wrong
from autograder.mistaken import imdb_classifier as mistaken
from autograder.oracles import imdb_classifier as oracles

exercise = Exercise("predict", oracle=oracles.predict, mistaken=mistaken.predict, reveal=False, tolerance=0.4)


@exercise.group("the standard deviation of an accuracy", points=1, advice="Each review is right or wrong, like the throw of a coin. How much does the share of heads in 500 throws vary?")
def spread(rng: Generator) -> list[Case]:
    return [Case({"reviews": 500, "accuracy": 0.73}, description="your prediction for 500 reviews, 73 % of them right, in percentage points")]


exercise.mistakes(
    as_a_share=wrong("This is a share of 1. The question asks for percentage points.", thought="share"),
    number_of_reviews=wrong("This is the standard deviation of the *number* of right answers, in reviews. What share of 500 are they, in percentage points?", thought="reviews"),
    two_deviations=wrong("This is the interval of 95 %, two standard deviations. The question asks for one.", thought="two"),
    one_coin=wrong("This is the standard deviation for a single review. The mean of 500 varies much less.", thought="one review"),
)


exercise.hints("One throw of a coin with probability a has the variance a·(1 − a). The variance of the mean of n throws is this, divided by n.")

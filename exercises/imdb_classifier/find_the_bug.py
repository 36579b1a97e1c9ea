"""Lab 06, exercise `find_the_bug`: a masked mean that divides by the mean length of the batch."""

from autograder.declare import find_the_bug
from exercises.imdb_classifier import masked_mean

exercise = find_the_bug(masked_mean.exercise)

exercise.hints(
    mended=(
        "With a batch of one review it is right. Take two reviews, one of a single word and one of three, and do it "
        "by hand.",
        "Print the divisor. How many numbers should it have for a batch of two?",
    )
)

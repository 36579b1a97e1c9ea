"""Lab 09, exercise `predict`: how far the cosine of two random rows is from 0."""

from coursekit.generator import Generator

from autograder.declaring import Case, Exercise, wrong
from autograder.mistaken import vision_transformer as mistaken
from autograder.oracles import vision_transformer as oracles

exercise = Exercise("predict", oracle=oracles.predict, mistaken=mistaken.predict, reveal=False, tolerance=0.03)


@exercise.group("the cosine of two random rows", points=1, advice="Scale both rows to length 1. The cosine is then a sum of D products: what is the variance of one of them?")
def cosine(rng: Generator) -> list[Case]:
    return [Case({"width": 64}, description="your prediction for D = 64")]


exercise.mistakes(
    mean_in_its_place=wrong("0 is the mean of the cosine. How far from 0 are single cosines?", thought="mean"),
    length_of_a_row=wrong("This is √D, the length of a row, or the standard deviation of the dot product. A cosine lies between −1 and 1.", thought="dot product"),
)


exercise.hints("The variance of a sum of D independent terms is D times that of one term.")

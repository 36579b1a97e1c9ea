"""Lab 09, exercise `predict`: how far the cosine of two random rows is from 0."""

from autograder.declare import ONE, Questions, seen

exercise = Questions("predict", tolerance=0.03)

# A cosine is a sum of D = 64 products of two numbers of variance 1/D each.
exercise.question(ONE, "the cosine of two random rows", right=0.125, name="cosine")

exercise.mistakes(
    mean_in_its_place=seen(0.0, see="09#position-map")
    | "Near 0 lies the mean of the cosine, and its variance, too. How far from 0 are single cosines?",
    by_hand=seen(0.5) | "This is the deviation for rows of four numbers. Here they have 64.",
    length_of_a_row=seen(8.0, see="09#position-map")
    | "This is √D, the length of a row, or the standard deviation of the dot product. A cosine lies between −1 and 1.",
)

exercise.advice(
    cosine="Scale both rows to length 1. The cosine is then a sum of D products: what is the variance of one of them?"
)
exercise.hints(cosine="The variance of a sum of D independent terms is D times that of one term.")

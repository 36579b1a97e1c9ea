"""Lab 08b, exercise `find_the_bug`: a `top_p` that gives the probabilities of the right tokens to other ones."""

from autograder.declare import find_the_bug
from exercises.generating_text import top_p

exercise = find_the_bug(top_p.exercise)

exercise.hints(
    mended=(
        "Try it by hand with the probabilities ⅛, ½, ⅜ and p = ¾: which tokens should be left, and which are left?",
        "The code has two arrays of the same length: one is in the order of the ids, the other goes from the most "
        "probable token down. For each line, say in which order its arrays are.",
    )
)

"""Lab 01, exercise `cosine_score`."""

from coursekit.generator import Generator

from autograder.declaring import Case, Exercise, wrong
from autograder.exercises.attention_intuition.shared import TRANSPOSED, TYPES, TYPES_ADVICE, WEIGHTS_RETURNED, pair_types, pair_values
from autograder.exercises.self_attention.shared import BUILT_IN_ATTENTION
from autograder.mistaken import attention_intuition as mistaken
from autograder.oracles import attention_intuition as oracles

exercise = Exercise("cosine_score", oracle=oracles.cosine_score, mistaken=mistaken.cosine_score, forbidden=BUILT_IN_ATTENTION)


@exercise.group("right values", points=2)
def values(rng: Generator) -> list[Case]:
    return pair_values(rng)


@exercise.group(TYPES, points=1, advice=TYPES_ADVICE)
def types(rng: Generator) -> list[Case]:
    return pair_types(rng)


exercise.mistakes(
    scores_transposed=TRANSPOSED,
    weights_instead_of_scores=WEIGHTS_RETURNED,
    no_lengths=wrong("That is the dot product: divide by the lengths of q and k.", normalise="none"),
    only_queries_normalised=wrong("The scores are divided by the queries' lengths only.", normalise="q"),
    only_keys_normalised=wrong("The scores are divided by the keys' lengths only.", normalise="k"),
    keys_multiplied=wrong("The keys' lengths multiply: `s / a * b` is (s / a) * b. Put the product of the lengths in brackets.", normalise="k upside down"),
    cosine_distance=wrong("This is the cosine distance, 1 − cosine; return the cosine.", result="distance"),
    angle_returned=wrong("These are the angles themselves; return their cosines.", result="angle"),
    squared_lengths=wrong("The lengths are squared: their root is missing.", norm="squared"),
    sum_of_absolutes=wrong("The length is the root of the sum of squares, not Σ|x|.", norm="l1"),
    lengths_of_columns=wrong("The lengths are those of the columns; a vector is a row.", norm="columns"),
    length_of_the_matrix=wrong("One length for the whole matrix: every row has a length of its own.", norm="whole"),
)


exercise.hints(
    "Divide every row of q and of k by its own length first; what is left is a dot product.",
    "The length of a row: root of the sum of its squares, with `keepdims=True` so that the division broadcasts.",
)
exercise.hints("The numbers are right for one kind of argument. What does your code call that the other kind does not have?", group="types")

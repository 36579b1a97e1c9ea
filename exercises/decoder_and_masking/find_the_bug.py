"""Lab 08, exercise `find_the_bug`: a loss to which padding adds the logarithm of V."""

from autograder.declare import find_the_bug
from exercises.decoder_and_masking import masked_cross_entropy

exercise = find_the_bug(masked_cross_entropy.exercise)

exercise.mistakes(targets_masked=masked_cross_entropy.exercise.named_mistakes["targets_masked"])

exercise.hints(
    mended=(
        "Compare it with your own loss on a batch with padding and on one without. Where do the two differ?",
        "Take a batch of one real token and one padding, and print every line: which numbers at the padding are not 0?",
    )
)

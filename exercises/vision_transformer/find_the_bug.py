"""Lab 09, exercise `find_the_bug`: a rollout that multiplies its layers from the wrong side."""

from autograder.declare import find_the_bug
from exercises.vision_transformer import attention_rollout

exercise = find_the_bug(attention_rollout.exercise)

exercise.hints(
    mended=(
        "With one layer the result is right, and with two layers it is wrong. What happens between the two layers?",
        "Which tokens does row t of the second layer's matrix describe: those of the image, or those that the first "
        "layer has mixed?",
    )
)

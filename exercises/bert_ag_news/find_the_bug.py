"""Lab 07, exercise `find_the_bug`: a schedule that begins at 0 where there is no warm-up."""

from autograder.declare import find_the_bug
from exercises.bert_ag_news import warmup_linear_decay

exercise = find_the_bug(warmup_linear_decay.exercise)

exercise.hints(
    mended=(
        "Which of the four arguments may be 0? Compare all steps with your own function.",
        "`max(…, 1)` keeps the division from failing. Which value does the line then have at step 0, and which value "
        "should it have?",
    )
)

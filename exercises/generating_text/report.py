"""Lab 08b, exercise `report`: numbers of the student's own `measure_typical`, in the range of recorded runs."""

from autograder.declaring import Questions, wrong

exercise = Questions("report")

# Recorded: 10,000 measurements, each with 300 sentences of its own. The share that is ahead in all of them is 0.177,
# and 0.123 per token. Widened, the range reaches nearly six standard deviations to both sides: a right measurement lies
# beyond less than once in a hundred million times (`tests/labs/test_08b_generating_text.py`). Exchanged shares lie in
# it too: the means are 0.05 apart, the standard deviation of a share is 0.02. Only the difference of both would tell.
exercise.measured(
    "ahead",
    "the share of drawn sentences ahead of the greedy one",
    low=0.096,
    high=0.274,
    hints=("It is the second number of the tuple that `measure_typical` returns for `greedy`.",),
    advice="A share is a number from 0 to 1. Run `measure_typical` as in the cell above, with 300 other seeds.",
)
exercise.measured(
    "per_token",
    "this share per token",
    low=0.050,
    high=0.207,
    hints=("It is the last number of the tuple that `measure_typical` returns for `greedy`.",),
    advice="A share is a number from 0 to 1. Run `measure_typical` as in the cell above, with 300 other seeds.",
)
exercise.mistakes(
    share_behind=wrong(
        "This is the share that the greedy sentence is ahead of. `ahead` counts the more probable ones.",
        seen={"ahead": 0.826, "per_token": 0.879},
    )
)

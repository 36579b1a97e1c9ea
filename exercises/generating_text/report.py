"""Lab 08b, exercise `report`: numbers of the student's own `measure_typical`, in the range of recorded runs."""

from autograder.declare import Questions, seen

exercise = Questions("report")

# Recorded: 10,000 measurements, each with 600 sentences of its own, drawn with p = 0.5. The share that is ahead in all
# of them is 0.454, from 0.373 to 0.528, and per token 0.320, from 0.245 to 0.388. The ranges hold all of them, and
# reach 4.2 standard deviations to both sides: a right measurement lies beyond less than once in 20,000 times
# (`tests/labs/test_08b_generating_text.py`). They are no wider because the share behind, 1 − 0.454, has to lie
# outside. Exchanged shares of the same measurement never lay in both, and the shares that the lab prints for p = 1,
# 0.18 and 0.12, lie in neither.
ADVICE = (
    "A share is a number from 0 to 1. Run `measure_typical` as in the cell above, with p = 0.5 and 600 other seeds."
)

exercise.measured("ahead", "the share of drawn sentences ahead of the greedy one", low=0.368, high=0.540, widened=1)
exercise.measured("per_token", "this share per token", low=0.240, high=0.400, widened=1)

exercise.mistakes(
    drawn_with_one=seen({"ahead": 0.177})
    | "Among sentences drawn with p = 1 the share is about this. Draw them with p = 0.5.",
    share_behind=seen({"per_token": 0.68})
    | "About this share is what the greedy sentence is ahead of. `per_token` counts the more probable ones.",
    ahead_behind=seen({"ahead": 0.629})
    | "About this share is what the greedy sentence is ahead of. `ahead` counts the more probable ones.",
)

exercise.advice(ahead=ADVICE, per_token=ADVICE)
exercise.hints(
    ahead="It is the second number of the tuple that `measure_typical` returns for `greedy`.",
    per_token="It is the last number of the tuple that `measure_typical` returns for `greedy`.",
)

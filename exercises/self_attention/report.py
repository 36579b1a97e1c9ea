"""Lab 02, exercise `report`: numbers of the student's own `measure_saturation`, in the range of recorded runs."""

from autograder.declaring import Questions, wrong

exercise = Questions("report")

# Recorded: 10,000 measurements, each with six seeds that no other one has. `tests/labs/test_02_self_attention.py`
# repeats a hundred. Widths are powers of two, so the range of the first one is not widened. That of `flat` reaches five
# standard deviations to both sides: a right measurement lies beyond less than once in a million times.
exercise.measured(
    "first",
    "the first width above 0.9 without the division",
    low=64,
    high=256,
    widened=1,
    hints=("It stands in `first_unscaled` of what your function returns for `independent`.",),
    advice="Measure the draws of `independent` with your `measure_saturation` and the widths of the cell above.",
)
exercise.measured(
    "flat",
    "the mean largest weight at d = 128 with the division",
    low=0.361,
    high=0.416,
    hints=("It stands in `scaled`, at the place that 128 has in `widths`.",),
    advice="Measure the draws of `independent`, with seven keys and at least six seeds, and look at d = 128.",
)
exercise.mistakes(
    not_divided=wrong("This is the value without the division. It stands in `scaled` with it.", seen={"flat": 0.916}),
    base_rate=wrong(
        "Equal weights would give about this much, 0.14. Your function measured more.", seen={"flat": 1 / 7}
    ),
)

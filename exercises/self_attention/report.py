"""Lab 02, exercise `report`: numbers of the student's own `measure_saturation`, in the range of recorded runs."""

from autograder.declare import Questions, seen

exercise = Questions("report")

# Recorded: 10,000 measurements, each with six seeds that no other one has. The first width was 512 in 8,622 of them,
# 256 in 1,337 and 1024 in 41; the mean at 128 lies five standard deviations below 0.9. `flat` was 0.0806, from 0.0742
# to 0.0893, and its range reaches five to both sides: a right one lies beyond less than once in a million times.
# `tests/labs/test_02_self_attention.py` repeats thirty. What the lab prints, for seven keys, lies in neither range.
ADVICE = "Measure with your `measure_saturation` and the widths of the cell above, but let your draw return k (100, d)."

exercise.measured(
    "first", "the first width above 0.9 without the division, with a hundred keys", low=256, high=1024, widened=1
)
exercise.measured(
    "flat",
    "the mean largest weight at d = 128 with the division, with a hundred keys",
    low=0.070,
    high=0.092,
    widened=1,
)

exercise.mistakes(
    not_divided=seen({"flat": 0.843}) | "This is the value without the division. It stands in `scaled` with it.",
    seven_keys=seen({"flat": 0.388}) | "With seven keys the value is about this. Take a hundred.",
)

exercise.advice(first=ADVICE, flat=ADVICE)
exercise.hints(
    first="It stands in `first_unscaled` of what your function returns for your draw.",
    flat="It stands in `scaled`, at the place that 128 has in `widths`.",
)

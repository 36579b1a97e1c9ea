"""Lab 07, exercise `design`: any schedule that keeps every constraint is right."""

from autograder.declare import Design, seen

exercise = Design("design")
exercise.constraint(
    "texts", "every text two to four times", about="how often each text is read", kept="read two to four times"
)
exercise.constraint(
    "steps",
    "100 to 250 steps, and a rate that is back at 0 after the last one",
    about="total_steps with 1,000 texts",
    kept="100 to 250, all of them taken",
)
exercise.constraint("warmup", "a warm-up of 5 to 20 %", about="the share of the warm-up", kept="5 to 20 % of the steps")
exercise.constraint(
    "rate",
    "the peak, and small first steps",
    about="the peak, and the rate at step 5",
    kept="a peak of 0.0005 to 0.001, at most 0.0003 at step 5",
)

exercise.mistakes(
    steep=seen({"rate": "too high at step 5"})
    | "At step 5 the rate is above 3·10⁻⁴."
    | "Two of your numbers decide how steep the climb is.",
    last_batch_forgotten=seen({"steps": "the smaller batch is not counted"})
    | "`total_steps` leaves out the last batch of each epoch, which is smaller. It is a step as well."
    | "How many batches of 16 do 20 texts make?",
    last_batch_in_part=seen({"steps": "the smaller batch is counted as a part of a step"})
    | "The last batch of each epoch is smaller, and you count it as a part of a step. It is a whole one."
    | "How many batches of 16 do 20 texts make?",
    warmup_as_share=seen({"warmup": "a share of the steps, not their number", "rate": "too high at step 5"})
    | "`warmup_steps` is a share. It should be the number of steps.",
    warmup_too_short=seen({"warmup": "less than 5 %"}) | "The warm-up takes less than 5 % of `total_steps`.",
    warmup_too_long=seen({"warmup": "more than 20 %"}) | "The warm-up takes more than 20 % of `total_steps`.",
    too_few_steps=seen({"steps": "fewer than 100"})
    | "There are fewer than 100 steps."
    | "What does a smaller batch change?",
    too_many_steps=seen({"steps": "more than 250"}) | "There are more than 250 steps.",
    peak_outside=seen({"rate": "a peak outside"}) | "The peak is not from 5·10⁻⁴ to 10⁻³.",
    one_pass=seen({"texts": "read once"}) | "Every text is read once only.",
    ends_too_early=seen({"steps": "fewer than are taken"}, see="07#three-ways")
    | "The rate is 0 before training ends: `total_steps` is smaller than the number of steps that you take.",
    ends_too_late=seen({"steps": "more than are taken"}, see="07#three-ways")
    | "Training ends before the rate has come down: `total_steps` is larger than the number of steps that you take.",
    of_one_epoch=seen({"steps": "those of one epoch"}) | "`total_steps` are the steps of one epoch.",
    too_often=seen({"texts": "read more than four times"}) | "Every text is read more than four times.",
)

exercise.advice(
    steps="An epoch has ⌈1,000 / batch_size⌉ steps: the last batch may be smaller.",
    rate="In the warm-up, step s has the rate peak · s / warmup_steps.",
)
exercise.hints(texts="Choose batch_size and epochs first; they fix total_steps. Then the warm-up, then the peak.")

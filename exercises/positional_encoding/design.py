"""Lab 05, exercise `design`: any choice that keeps every constraint is right."""

from autograder.declare import Design, seen

exercise = Design("design")
exercise.constraint(
    "slopes",
    "four slopes that differ",
    about="signs and distances of the four slopes",
    kept="positive, each at most half of the next larger one",
)
exercise.constraint(
    "near",
    "the steepest head reads the nearest keys",
    about="weight of the steepest head at distance 8 and beyond, 1,024 keys with equal scores",
    kept="from 0.1 % to 5 % at distance 8 and beyond",
)
exercise.constraint(
    "far",
    "the flattest head reaches far keys",
    about="weight of the flattest head at distance 256 and beyond, 1,024 keys with equal scores",
    kept="from 20 % to 50 % at distance 256 and beyond",
    points=2,
)

exercise.mistakes(
    near_too_flat=seen({"near": "more than 5 %"})
    | "Your steepest head leaves more than 5 % of its weight to keys at distance 8 and beyond. The "
    "lecture's slopes 2^(−8h/H) do so, too: with four heads the steepest one is 1/4."
    | "How does the share beyond 8 change when the slope doubles?",
    far_too_steep=seen({"far": "less than 20 %"})
    | "Your flattest head gives less than 20 % of its weight to keys at distance 256 and beyond."
    | "By which factor does the weight fall over 256 tokens, for your smallest slope?",
    far_too_flat=seen({"far": "more than 50 %"})
    | "Your flattest head gives more than half of its weight to keys at distance 256 and beyond: hardly anything "
    "fades." | "With a slope of 0 three quarters of the 1,024 keys, and of the weight, are that far.",
    near_too_steep=seen({"near": "less than 0.1 %"})
    | "Your steepest head leaves less than 0.1 % of its weight to keys at distance 8 and beyond: it is steeper than "
    "needed." | "How does the share beyond 8 change when the slope is halved?",
    sign=seen(dict.fromkeys(("slopes", "near", "far"), "not all positive"), see="05#rotary")
    | "A slope is 0 or negative. It is multiplied by the distance and *subtracted* from the score.",
    too_close=seen({"slopes": "two of them closer than a factor of 2"})
    | "Two slopes are too close to each other: the larger one has to be at least twice the smaller one.",
)

exercise.advice(
    near="A key at the distance d has the weight exp(−s·d), divided by the sum over all 1,024 keys. Add up from d = 8 "
    "on.",
    far="A key at the distance d has the weight exp(−s·d), divided by the sum over all 1,024 keys. Add up from d = "
    "256 on.",
)
exercise.hints(
    slopes="Choose the largest and the smallest slope first; the other two lie between them.",
    near="Calculate `w = np.exp(-s * np.arange(1024))` for some s, and look at `w[8:].sum() / w.sum()`.",
    far="The same sum from 256 on. Halve or double s until it fits.",
)

"""Lab 08b, exercise `predict`: how many whole sentences are right when each token is right with a given probability."""

from autograder.declare import ONE, Advice, Questions, seen

exercise = Questions("predict", tolerance=0.02)

exercise.question(ONE, "the share of sentences without an error", right=0.95**12, name="sentences")

exercise.mistakes(
    as_for_one_token=seen(0.95)
    | "This is the share for one token. A sentence of twelve has twelve chances to go wrong.",
    errors_added=seen(1 - 12 * 0.05, see="08#exposure-bias")
    | "You took twelve times 5 % away from 1. Those are the errors that you expect on average, and some sentences "
    "have two. The share without any is asked for."
    | "In how many of 100 sentences are the first two tokens right, and in how many of those the third?",
    with_an_error=seen(1 - 0.95**12)
    | "0.46 is the share of sentences *with* an error. The share without any is asked for.",
    errors_expected=seen(12 * 0.05, see="08#exposure-bias")
    | "0.6 is twelve times 5 %: so many errors you expect in a sentence on average, and some sentences have two. The "
    "share without any is asked for."
    | "In how many of 100 sentences are the first two tokens right, and in how many of those the third?",
    thirteen_tokens=seen(0.498)
    | "A little too low: one half is near, and 0.95¹³ = 0.513 is the share for thirteen tokens. Here twelve have to "
    "be right." | "How large is the probability that the first two tokens are right?",
    eleven_tokens=seen(0.583)
    | "A little too high: 0.95¹¹ = 0.569 is the share for eleven tokens. Here twelve have to be right."
    | "How large is the probability that the first two tokens are right?",
)

exercise.advice(sentences=Advice(value="Every one of the twelve tokens has to be right."))
exercise.hints(sentences="How large is the probability that the first two tokens are right?")

"""Lab 03, exercise `predict`."""

from autograder.declare import ONE, Questions, seen

exercise = Questions("predict", tolerance=0.03)

# W_Q and W_O keep their size; W_K and W_V shrink to 2 of 8 heads: (2 + 2 · 2/8) / 4, biases included.
exercise.question(ONE, "the share of the parameters", right=0.625)

exercise.mistakes(
    share_of_the_cache=seen(0.25)
    | "That is the share of the cache, which holds keys and values only. Which matrices stay as they are?",
    keys_and_values_gone=seen(0.5) | "That counts W_Q and W_O alone. W_K and W_V are narrower, not gone.",
    output_narrowed=seen(0.4375)
    | "That has only W_Q at full width. What does W_O read: the key heads, or the query heads?",
    one_narrowed=seen(0.8125) | "Of W_K and W_V both are narrower, not one of them.",
    in_percent=seen(62.5) | "That is in percent; the question asks for a number between 0 and 1.",
    nothing_saved=seen(1.0) | "Two of the four matrices have fewer columns than before.",
    saved_share=seen(0.375) | "That is the share that is saved; the question asks for the share that is left.",
)

exercise.hints(
    number=(
        "Write down the shapes of the four matrices, once with 8 key heads and once with 2.",
        "Two of the four keep their size. By which factor does each of the others shrink?",
    )
)

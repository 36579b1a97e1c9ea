"""Lab 03, exercise `predict`."""

from autograder.declaring import ONE, Questions, wrong

exercise = Questions("predict", tolerance=0.03)

# W_Q and W_O keep their size; W_K and W_V shrink to 2 of 8 heads: (2 + 2 · 2/8) / 4, biases included.
exercise.question(
    ONE,
    "the share of the parameters",
    right=0.625,
    hints=(
        "Write down the shapes of the four matrices, once with 8 key heads and once with 2.",
        "Two of the four keep their size. By which factor does each of the others shrink?",
    ),
)

exercise.mistakes(
    share_of_the_cache=wrong(
        "That is the share of the cache, which holds keys and values only. Which matrices stay as they are?", seen=0.25
    ),
    keys_and_values_gone=wrong("That counts W_Q and W_O alone. W_K and W_V are narrower, not gone.", seen=0.5),
    output_narrowed=wrong(
        "That has only W_Q at full width. What does W_O read: the key heads, or the query heads?", seen=0.4375
    ),
    one_narrowed=wrong("Of W_K and W_V both are narrower, not one of them.", seen=0.8125),
    in_percent=wrong("That is in percent; the question asks for a number between 0 and 1.", seen=62.5),
    nothing_saved=wrong("Two of the four matrices have fewer columns than before.", seen=1.0),
    saved_share=wrong("That is the share that is saved; the question asks for the share that is left.", seen=0.375),
)

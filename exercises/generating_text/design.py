"""Lab 08b, exercise `design`: any choice that keeps every constraint is right."""

from autograder.declaring import Design, wrong

exercise = Design("design")
exercise.constraint(
    "heads",
    "key heads that fit",
    about="num_kv_heads beside 40 query heads",
    kept="G divides 40, and at most 8 query heads share a key head",
    advice="G divides H = 40, and H/G is the number of query heads that share one key head.",
)
exercise.constraint("texts", "at least 24 texts at once", about="texts", kept="at least 24 texts")
exercise.constraint(
    "memory",
    "caches that fill the memory, at least by half",
    about="the caches of all texts, 4,096 tokens each, two bytes a number",
    kept="from 12 to 24 GiB",
    points=2,
    advice="2 · L · G · K · t numbers a text, two bytes each, times n texts.",
)

exercise.mistakes(
    too_large=wrong(
        "The caches of all texts take more than 24 GiB.",
        seen={"memory": "more than 24 GiB"},
        hint="The caches grow with the product G · n. How large may it be?",
        see="08b#cache",
    ),
    half_empty=wrong(
        "More than half of the 24 GiB stays empty: there is room for more texts, or for more key heads.",
        seen={"memory": "less than 12 GiB"},
        hint="The caches grow with the product G · n. How small may it be?",
        see="08b#cache",
    ),
    does_not_divide=wrong(
        "G does not divide the 40 query heads, so the groups are not equally large.",
        seen={"heads": "G does not divide 40"},
        see="08b#cache",
    ),
    too_few_key_heads=wrong(
        "More than 8 query heads share one key head.",
        seen={"heads": "more than 8 query heads share a key head"},
        hint="How many groups do 40 query heads make, if a group has at most 8?",
        see="08b#cache",
    ),
    too_few_texts=wrong(
        "There are fewer than 24 texts at once.",
        seen={"texts": "fewer than 24 texts"},
        hint="Which G leave room for 24 texts?",
    ),
)

exercise.hints(
    "List the divisors of 40 that leave at most 8 query heads to a group.",
    "For each of them: how many GiB does one text take, and how many texts fit into 24?",
)

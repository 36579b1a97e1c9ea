"""Lab 08b, exercise `design`: any choice that keeps every constraint is right."""

from autograder.declare import Design, seen

exercise = Design("design")
exercise.constraint(
    "heads",
    "key heads that fit",
    about="num_kv_heads beside 40 query heads",
    kept="G divides 40, and at most 8 query heads share a key head",
)
exercise.constraint("texts", "at least 24 texts at once", about="texts", kept="at least 24 texts")
exercise.constraint(
    "memory",
    "caches that fill the memory, at least by half",
    about="the caches of all texts, 4,096 tokens each, two bytes a number",
    kept="from 12 to 24 GiB",
    points=2,
)

exercise.mistakes(
    too_large=seen({"memory": "more than 24 GiB"}, see="08b#cache")
    | "The caches of all texts take more than 24 GiB."
    | "The caches grow with the product G · n. How large may it be?",
    half_empty=seen({"memory": "less than 12 GiB"}, see="08b#cache")
    | "More than half of the 24 GiB stays empty: there is room for more texts, or for more key heads."
    | "The caches grow with the product G · n. How small may it be?",
    does_not_divide=seen({"heads": "G does not divide 40"}, see="08b#cache")
    | "G does not divide the 40 query heads, so the groups are not equally large.",
    too_few_key_heads=seen({"heads": "more than 8 query heads share a key head"}, see="08b#cache")
    | "More than 8 query heads share one key head."
    | "How many groups do 40 query heads make, if a group has at most 8?",
    too_few_texts=seen({"texts": "fewer than 24 texts"})
    | "There are fewer than 24 texts at once."
    | "Which G leave room for 24 texts?",
)

exercise.advice(
    heads="G divides H = 40, and H/G is the number of query heads that share one key head.",
    memory="2 · L · G · K · t numbers a text, two bytes each, times n texts.",
)
exercise.hints(
    heads=(
        "List the divisors of 40 that leave at most 8 query heads to a group.",
        "For each of them: how many GiB does one text take, and how many texts fit into 24?",
    )
)

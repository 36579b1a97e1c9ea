"""Lab 02, exercise `design`: any choice that keeps every constraint is right."""

from autograder.declare import Design, seen

exercise = Design("design")
exercise.constraint(
    "memory",
    "blocks that fill the fast memory, at least by half",
    about="what is held at a time",
    kept="from 64 to 128 KiB",
    points=2,
)
exercise.constraint(
    "readings",
    "all keys are read at most 64 times",
    about="blocks of queries: each reads all keys once",
    kept="at most 64 times",
)
exercise.constraint(
    "blocks",
    "blocks of keys that cover all keys",
    about="key_blocks blocks of block_keys keys",
    kept="every key, and no empty block",
)

exercise.mistakes(
    too_large=seen({"memory": "more than 128 KiB"}, see="02b#memory-bound")
    | "The blocks take more than 128 KiB."
    | "Which of R·d, C·d and R·C is the largest? 128 KiB are 32,768 numbers.",
    half_empty=seen({"memory": "less than 64 KiB"})
    | "More than half of the 128 KiB stays empty: there is room for larger blocks.",
    too_many_readings=seen({"readings": "more than 64 times"}, see="02b#memory-bound")
    | "All keys are read more than 64 times: there are too many blocks of queries."
    | "Each block of queries reads all keys once. How many blocks do 4,096 queries make?",
    keys_left_out=seen({"blocks": "keys left out"})
    | "The blocks of keys do not hold all 4,096 keys."
    | "The last block may be shorter than the others, but it counts.",
    empty_blocks=seen({"blocks": "empty blocks"}) | "There are more blocks of keys than the 4,096 keys fill.",
)

exercise.advice(
    memory="2·R·d + 2·R numbers for the queries, 2·C·d for keys and values, R·C for the scores; four bytes each."
)
exercise.hints(
    memory=(
        "Choose R first: how many blocks of queries are allowed at most?",
        "With R chosen, the bytes grow linearly with C. Solve for the largest C that fits, and stay below it.",
    )
)

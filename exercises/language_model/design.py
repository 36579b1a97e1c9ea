"""Lab 10, exercise `design`: any choice that keeps every constraint is right."""

from autograder.declare import Design, seen

exercise = Design("design")
exercise.constraint(
    "heads",
    "heads that fit, of even width, at least 16",
    about="d_model, num_heads and num_kv_heads",
    kept="fit, even and at least 16 wide",
)
exercise.constraint(
    "depth", "at least 4 blocks and 4 heads", about="num_layers and num_heads", kept="at least 4 blocks and 4 heads"
)
exercise.constraint(
    "parameters",
    "700,000 to 1,000,000 parameters",
    about="parameters with a vocabulary of 512",
    kept="from 700,000 to 1,000,000",
)
exercise.constraint(
    "cache", "a cache of at most 256 kB", about="the cache of 256 tokens in float32", kept="at most 256 kB"
)

exercise.mistakes(
    cache_too_large=seen({"cache": "more than 256 kB"}, see="08b#cache")
    | "The cache of 256 tokens is larger than 256 kB."
    | "Which factor of 2·L·G·K can shrink without a change of width or depth?",
    too_many_parameters=seen({"parameters": "more than 1,000,000"}, see="10#model")
    | "The model has more than 1,000,000 parameters."
    | "Most parameters of a block are in its feed-forward network: 3·D·F.",
    do_not_divide=seen({"heads": "do not divide"})
    | "The heads do not fit: num_heads divides d_model, and num_kv_heads divides num_heads.",
    odd_or_narrow=seen({"heads": "odd or narrower than 16"}, see="05#rotary")
    | "K = d_model / num_heads is odd or below 16. Rotary positions turn pairs of features, so K is even.",
    too_shallow=seen({"depth": "fewer than 4 blocks or heads"})
    | "There are fewer than 4 blocks, or fewer than 4 heads.",
    too_few_parameters=seen({"parameters": "fewer than 700,000"})
    | "The model has fewer than 700,000 parameters."
    | "A wider feed-forward network costs nothing in the cache.",
)

exercise.advice(
    heads="num_heads divides d_model, num_kv_heads divides num_heads, and K = d_model / num_heads is even and at "
    "least 16.",
    parameters="V·D + D for table and last norm; a block has 2·D² + 2·D·G·K for the attention, 3·D·F for the "
    "feed-forward network, and 2·D for its norms.",
    cache="2 · L · G · K · 256 tokens · 4 bytes, and 256 kB are 262,144 bytes.",
)
exercise.hints(heads="Choose d_model first, a multiple of 16 · num_heads. Then count parameters and cache on paper.")

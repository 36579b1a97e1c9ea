"""Lab 10, exercise `design`: any choice that keeps every constraint is right."""

from autograder.declaring import Case, Exercise, wrong
from coursekit.generator import Generator

exercise = Exercise("design")
CHOSEN = "any choice that keeps the constraint is right"


@exercise.formula
def kept(constraint: str) -> dict[str, str]:
    """What the probe says of a choice that keeps a constraint."""
    right = {
        "heads": "fit, even and at least 16 wide",
        "depth": "at least 4 blocks and 4 heads",
        "parameters": "from 700,000 to 1,000,000",
        "cache": "at most 256 kB",
    }
    return {constraint: right[constraint]}


def _about(constraint: str, text: str) -> list[Case]:
    return [Case({"constraint": constraint}, description=text)]


@exercise.group(
    "heads that fit, of even width, at least 16",
    points=1,
    fixed=CHOSEN,
    advice="num_heads divides d_model, num_kv_heads divides num_heads, and K = d_model / num_heads is even and at "
    "least 16.",
)
def heads(rng: Generator) -> list[Case]:
    return _about("heads", "d_model, num_heads and num_kv_heads")


@exercise.group("at least 4 blocks and 4 heads", points=1, fixed=CHOSEN)
def depth(rng: Generator) -> list[Case]:
    return _about("depth", "num_layers and num_heads")


@exercise.group(
    "700,000 to 1,000,000 parameters",
    points=1,
    fixed=CHOSEN,
    advice="V·D + D for table and last norm; a block has 2·D² + 2·D·G·K for the attention, 3·D·F for the "
    "feed-forward network, and 2·D for its norms.",
)
def parameters(rng: Generator) -> list[Case]:
    return _about("parameters", "parameters with a vocabulary of 512")


@exercise.group(
    "a cache of at most 256 kB",
    points=1,
    fixed=CHOSEN,
    advice="2 · L · G · K · 256 tokens · 4 bytes, and 256 kB are 262,144 bytes.",
)
def cache(rng: Generator) -> list[Case]:
    return _about("cache", "the cache of 256 tokens in float32")


exercise.mistakes(
    cache_too_large=wrong(
        "The cache of 256 tokens is larger than 256 kB.",
        seen={"cache": "more than 256 kB"},
        hint="Which factor of 2·L·G·K can shrink without a change of width or depth?",
        see="03#key-dim",
    ),
    too_many_parameters=wrong(
        "The model has more than 1,000,000 parameters.",
        seen={"parameters": "more than 1,000,000"},
        hint="Most parameters of a block are in its feed-forward network: 3·D·F.",
        see="10#model",
    ),
    do_not_divide=wrong(
        "The heads do not fit: num_heads divides d_model, and num_kv_heads divides num_heads.",
        seen={"heads": "do not divide"},
    ),
    odd_or_narrow=wrong(
        "K = d_model / num_heads is odd or below 16. Rotary positions turn pairs of features, so K is even.",
        seen={"heads": "odd or narrower than 16"},
        see="05#rotary",
    ),
    too_shallow=wrong(
        "There are fewer than 4 blocks, or fewer than 4 heads.", seen={"depth": "fewer than 4 blocks or heads"}
    ),
    too_few_parameters=wrong(
        "The model has fewer than 700,000 parameters.",
        seen={"parameters": "fewer than 700,000"},
        hint="A wider feed-forward network costs nothing in the cache.",
    ),
)

exercise.hints("Choose d_model first, a multiple of 16 · num_heads. Then count parameters and cache on paper.")

"""Lab 03, exercise `kv_cache_numbers`."""

from autograder.declaring import Case, Exercise, wrong
from coursekit.generator import Generator

PRIMES = (3, 5, 7, 11, 13, 17, 19)

exercise = Exercise("kv_cache_numbers", call=("length", "num_layers", "num_kv_heads", "head_dim"), optional=("batch",))


@exercise.formula
def kv_cache_numbers(length: int, num_layers: int, num_kv_heads: int, head_dim: int, batch: int = 1) -> int:
    """A key and a value for each token, layer and key head (Shazeer 2019, section 2.4)."""
    return 2 * batch * num_layers * num_kv_heads * head_dim * length


def _sizes(rng: Generator, *names: str) -> dict:
    return dict(zip(names, (int(prime) for prime in rng.permutation(PRIMES)), strict=False))


@exercise.group("one sequence", points=1)
def one(rng: Generator) -> list[Case]:
    return [Case(_sizes(rng, "length", "num_layers", "num_kv_heads", "head_dim")) for _ in range(2)]


@exercise.group("a batch", points=1, advice="Each sequence of the batch has keys and values of its own.")
def batch(rng: Generator) -> list[Case]:
    sizes = "length", "num_layers", "num_kv_heads", "head_dim"
    batches = [Case(_sizes(rng, *sizes, "batch")) for _ in range(2)]
    return [*batches, Case(_sizes(rng, *sizes), description="one sequence again, after a batch")]


exercise.mistakes(
    keys_alone=wrong(
        "Only one kind is counted. Both keys and values are kept.",
        ("2 * batch", "batch"),
        hint="A new query scores the old tokens and then mixes something. What does it need of them for each?",
        see="02#q-k-v",
    ),
    queries_kept=wrong(
        "Three kinds are counted. The queries of earlier tokens are never needed again, so they are not kept.",
        ("2 * batch", "3 * batch"),
        hint="Which row of the scores does a new token add, and whose query is in it?",
        see="02#q-k-v",
    ),
    one_layer=wrong(
        "One layer is counted. Every layer has keys and values of its own.", ("batch * num_layers", "batch")
    ),
    one_head=wrong("The number of key heads is missing.", ("num_kv_heads * head_dim", "head_dim")),
    batch_ignored=wrong("`batch` changes nothing.", ("2 * batch", "2")),
    weights_kept=wrong(
        "The length is counted twice, as for attention weights. A key or value belongs to one token.",
        ("head_dim * length", "head_dim * length**2"),
        hint="How many keys does a layer make for T tokens?",
        see="02b#counting",
    ),
    bytes_of_float32=wrong(
        "That is the number of bytes in float32. The question asks for the number of numbers.",
        ("2 * batch", "8 * batch"),
    ),
    bytes_of_float16=wrong(
        "That is the number of bytes in float16. The question asks for the number of numbers.",
        ("2 * batch", "4 * batch"),
    ),
)


exercise.hints(
    "How many numbers does one layer keep for one token? Then count the tokens, the layers and the sequences."
)
exercise.hints("Do two sequences of a batch share anything that is kept?", group="batch")

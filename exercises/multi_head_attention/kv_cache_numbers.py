"""Lab 03, exercise `kv_cache_numbers`."""

from autograder.declare import Case, Exercise, edit

PRIMES = (3, 5, 7, 11, 13, 17, 19)

exercise = Exercise("kv_cache_numbers")


@exercise.formula
def kv_cache_numbers(length: int, num_layers: int, num_kv_heads: int, head_dim: int, batch: int = 1) -> int:
    """A key and a value for each token, layer and key head (Shazeer 2019, section 2.4)."""
    return 2 * batch * num_layers * num_kv_heads * head_dim * length


def _sizes(rng, *names: str) -> dict:
    return dict(zip(names, (int(prime) for prime in rng.permutation(PRIMES)), strict=False))


@exercise.group("one sequence")
def one(rng):
    return [Case(_sizes(rng, "length", "num_layers", "num_kv_heads", "head_dim")) for _ in range(2)]


@exercise.group("a batch")
def batch(rng):
    sizes = "length", "num_layers", "num_kv_heads", "head_dim"
    batches = [Case(_sizes(rng, *sizes, "batch")) for _ in range(2)]
    return [*batches, Case(_sizes(rng, *sizes), "one sequence again, after a batch")]


exercise.mistakes(
    keys_alone=edit("2 * batch", "batch", see="02#q-k-v")
    | "Only one kind is counted. Both keys and values are kept."
    | "A new query scores the old tokens and then mixes something. What does it need of them for each?",
    queries_kept=edit("2 * batch", "3 * batch", see="02#q-k-v")
    | "Three kinds are counted. The queries of earlier tokens are never needed again, so they are not kept."
    | "Which row of the scores does a new token add, and whose query is in it?",
    one_layer=edit("batch * num_layers", "batch") | "One layer is counted. Every layer has keys and values of its own.",
    one_head=edit("num_kv_heads * head_dim", "head_dim") | "The number of key heads is missing.",
    batch_ignored=edit("2 * batch", "2") | "`batch` changes nothing.",
    weights_kept=edit("head_dim * length", "head_dim * length**2", see="02b#counting")
    | "The length is counted twice, as for attention weights. A key or value belongs to one token."
    | "How many keys does a layer make for T tokens?",
    bytes_of_float32=edit("2 * batch", "8 * batch")
    | "That is the number of bytes in float32. The question asks for the number of numbers.",
    bytes_of_float16=edit("2 * batch", "4 * batch")
    | "That is the number of bytes in float16. The question asks for the number of numbers.",
)

exercise.advice(batch="Each sequence of the batch has keys and values of its own.")
exercise.hints(
    one="How many numbers does one layer keep for one token? Then count the tokens, the layers and the sequences.",
    batch="Do two sequences of a batch share anything that is kept?",
)

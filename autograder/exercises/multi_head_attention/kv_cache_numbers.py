"""Lab 03, exercise `kv_cache_numbers`."""

from coursekit.generator import Generator

from autograder.declaring import Case, Exercise, wrong
from autograder.mistaken import multi_head_attention as mistaken
from autograder.oracles import multi_head_attention as oracles

PRIMES = (3, 5, 7, 11, 13, 17, 19)

exercise = Exercise("kv_cache_numbers", oracle=oracles.kv_cache_numbers, mistaken=mistaken.kv_cache_numbers)


def _sizes(rng: Generator, *names: str) -> dict:
    return dict(zip(names, (int(prime) for prime in rng.permutation(PRIMES)), strict=False))


@exercise.group("one sequence", points=1)
def one(rng: Generator) -> list[Case]:
    return [Case(_sizes(rng, "length", "num_layers", "num_kv_heads", "head_dim")) for _ in range(2)]


@exercise.group("a batch", points=1, advice="Each sequence of the batch has keys and values of its own.")
def batch(rng: Generator) -> list[Case]:
    return [Case(_sizes(rng, "length", "num_layers", "num_kv_heads", "head_dim", "batch")) for _ in range(2)]


exercise.mistakes(
    keys_alone=wrong("Only one kind is counted. Both keys and values are kept.", kinds=1),
    queries_kept=wrong("Three kinds are counted. The queries of earlier tokens are never needed again, so they are not kept.", kinds=3),
    one_layer=wrong("One layer is counted. Every layer has keys and values of its own.", layers="one"),
    one_head=wrong("The number of key heads is missing.", heads="one"),
    batch_ignored=wrong("`batch` changes nothing.", batches="one"),
    weights_kept=wrong("The length is counted twice, as for attention weights. A key or value belongs to one token.", length_power=2),
    bytes_of_float32=wrong("That is the number of bytes in float32. The question asks for the number of numbers.", factor=4),
    bytes_of_float16=wrong("That is the number of bytes in float16. The question asks for the number of numbers.", factor=2),
)

exercise.hints("How many numbers does one layer keep for one token? Then count the tokens, the layers and the sequences.")
exercise.hints("Do two sequences of a batch share anything that is kept?", group="batch")

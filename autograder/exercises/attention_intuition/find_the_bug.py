"""Lab 01, exercise `find_the_bug`."""

from coursekit.generator import Generator

from autograder.declaring import Case, Exercise, wrong
from autograder.exercises.drawing import normal
from autograder.mistaken import attention_intuition as mistaken
from autograder.oracles import attention_intuition as oracles

AS_GIVEN = "multiplied_by_bandwidth"

exercise = Exercise("find_the_bug", oracle=oracles.pooling_of_many, mistaken=mistaken.pooling_of_many)


def _inputs(rng: Generator, bandwidth: float, *, queries: int = 3, keys: int = 7, d: int = 2, e: int = 5) -> dict:
    return {"queries": normal(rng, queries, d), "keys": normal(rng, keys, d), "values": normal(rng, keys, e), "bandwidth": bandwidth}


@exercise.group("narrow and wide kernels", points=2, must_fail_for=(AS_GIVEN,))
def values(rng: Generator) -> list[Case]:
    return [Case(_inputs(rng, 0.6)), Case(_inputs(rng, 2.5)), Case(_inputs(rng, 1.7, queries=5, keys=3, d=11))]


@exercise.group("finite far from all keys", points=1, must_fail_for=(AS_GIVEN,))
def far(rng: Generator) -> list[Case]:
    """Whole numbers, so that the squared distances are exact in float32 whichever way they are calculated."""
    inputs = _inputs(rng, 21.0)
    inputs["queries"] = rng.integers(600, 610, size=(3, 2)).astype("float32")
    inputs["keys"] = (rng.permutation(7)[:, None] + rng.integers(-1, 1, size=(7, 2))).astype("float32")
    return [Case(inputs, description="queries far from all keys, bandwidth=21.0", scale=1000.0)]


exercise.mistakes(
    multiplied_by_bandwidth=wrong("A larger bandwidth makes the kernel narrower: `/ 2 * bandwidth**2` divides by 2 and then multiplies.", width="2/b²"),
    bandwidth_not_squared=wrong("The bandwidth has to be squared.", width="2b"),
    factor_2_missing=wrong("The exponent is divided by the bandwidth squared, without the 2.", width="b²"),
    bandwidth_ignored=wrong("The bandwidth changes nothing in your result.", width="2"),
    sign_reversed=wrong("The farther a key, the larger its weight: the minus is missing.", sign=1.0),
    weights_over_queries=wrong("The weights of each key sum to 1. Each query shares its weight among the keys: the rows should sum to 1.", over="queries"),
    weights_over_everything=wrong("All weights together sum to 1. Each row, one for each query, should sum to 1 by itself.", summed="all"),
    unstable_kernel=wrong("Far from all keys every kernel rounds to 0, and 0/0 is NaN. Put the exponents into a softmax.", stable=False),
)

exercise.hints(
    "For which bandwidth is the code right? It is right for one and wrong for others: which expressions does that point to?",
    "Put numbers into the exponent: distance 2, bandwidth 3. What does the formula say, and what does Python calculate, from left to right?",
)
exercise.hints("The softmax in the given code is safe. Does it still get the exponents themselves?", group="far")

"""Lab 08b, exercise `cached_attention`."""

import math

import numpy as np

from autograder.declare import Advice, Case, Exercise, edit
from exercises.drawing import drawn_until, is_far_apart, normal
from exercises.formulas.attention import softmax

Cache = tuple[np.ndarray, np.ndarray]  # keys and values (B, H, t, K)

exercise = Exercise("cached_attention", own_probe=True, returns=("output", "keys", "values"))


@exercise.formula
def cached_attention(query: np.ndarray, key: np.ndarray, value: np.ndarray) -> dict[str, np.ndarray]:
    """Tokens (B, H, T, K) one after the other: the rows of causal attention, and what the cache holds at the end."""
    output, cache = attend_at(0, query, key, value, None)
    outputs = [output]
    for place in range(1, query.shape[2]):
        output, cache = attend_at(place, query, key, value, cache)
        outputs.append(output)
    keys, values = cache
    return {"output": np.concatenate(outputs, axis=2), "keys": keys, "values": values}


@exercise.formula_for("branches")
def two_branches(query: np.ndarray, key: np.ndarray, value: np.ndarray) -> dict[str, np.ndarray]:
    """The last token but one and the last token, each as the continuation of all tokens before these two."""
    length, cache = query.shape[2], None
    for place in range(length - 2):
        _, cache = attend_at(place, query, key, value, cache)
    first, _extended = attend_at(length - 2, query, key, value, cache)
    second, _ = attend_at(length - 1, query, key, value, cache)
    return {"first": first, "second": second}


def attend_at(place, query, key, value, cache):
    """Attention of one token over those in the cache and itself (Shazeer 2019, section 2.4), and the longer cache."""
    new_key, new_value = key[:, :, [place]], value[:, :, [place]]
    keys = new_key if cache is None else np.concatenate([cache[0], new_key], axis=2)
    values = new_value if cache is None else np.concatenate([cache[1], new_value], axis=2)
    scores = query[:, :, [place]] @ keys.swapaxes(-1, -2) / math.sqrt(query.shape[-1])
    mixed = softmax(scores) @ values
    return mixed, (keys, values)


def _tokens(rng, batch: int, heads: int, length: int, width: int, **more) -> dict:
    """Queries, keys and values (B, H, T, K) of all tokens; the queries are large enough that weights differ."""
    shape = (batch, heads, length, width)
    return {"query": 2 * normal(rng, *shape), "key": normal(rng, *shape), "value": normal(rng, *shape), **more}


def _large(rng) -> dict:
    """Scores of thousands, of which the largest that a token sees leads by so much that its weight is 1."""

    def draw() -> dict:
        inputs = _tokens(rng, 2, 2, 4, 3)
        return {**inputs, "query": 1000 * inputs["query"]}

    def is_clear(inputs: dict) -> bool:
        scores = inputs["query"] @ inputs["key"].swapaxes(-1, -2) / 3**0.5
        return all(is_far_apart(scores[:, :, place, : place + 1], 200) for place in range(1, 4))

    return drawn_until(is_clear, draw)


@exercise.group("the first token, without a cache")
def first(rng):
    return Case(_tokens(rng, 2, 3, 1, 5), "cache=None, B=2, H=3, K=5")


@exercise.group("call after call, the rows of full causal attention", points=3)
def steps(rng):
    arrays, tensors = _tokens(rng, 2, 3, 7, 5), _tokens(rng, 3, 2, 5, 7)
    yield Case(arrays, "7 calls, B=2, H=3, K=5")
    yield Case(tensors, "5 calls with TensorFlow tensors, B=3, H=2, K=7", mode="tensor")
    yield Case(_large(rng), "4 calls, scores in the thousands")


exercise.group(
    "a cache can be continued twice",
    branches=lambda rng: Case(
        _tokens(rng, 2, 3, 5, 7), "three tokens, then two different fourth ones from the same cache", mode="branches"
    ),
)
ROOT = "math.sqrt(query.shape[-1])"
KEYS_USED = "keys.swapaxes(-1, -2)"
RETURNED = "mixed, (keys, values)"

exercise.mistakes(
    unscaled=edit(f"/ {ROOT}", "", see="02#why-sqrt-dk", costs_at_most=0.5)
    | "The scores are not divided by √K."
    | "Which number grows with K, and by what do you divide to undo it?",
    divided_by_width=edit(ROOT, "query.shape[-1]", see="02#why-sqrt-dk")
    | "The scores are divided by K; the divisor should be √K."
    | "The variance of a score is K. Which number divides its standard deviation?",
    cache_ignored=edit(KEYS_USED, "new_key.swapaxes(-1, -2)")
    | edit("softmax(scores) @ values", "softmax(scores) @ new_value")
    | "The output is the newest value alone. The query should see all keys of the cache, and mix all of its values."
    | "How many scores should the third call compute for each head?",
    new_token_unseen=edit(KEYS_USED, "(keys if cache is None else cache[0]).swapaxes(-1, -2)")
    | edit("@ values", "@ (values if cache is None else cache[1])", see="08#look-ahead-mask")
    | "The query sees the cache and not its own key: append first, then attend."
    | "In causal attention, does a token see itself?",
    softmax_over_queries=edit("softmax(x, axis=-1)", "softmax(x, axis=-2)", see="02#formula")
    | "The weights of a query do not sum to 1: the softmax runs over the queries, and there is only one. It should "
    "run over the keys, the last axis." | "The scores are (B, H, 1, t). Which of these axes holds the keys?",
    newest_first=edit("[cache[0], new_key]", "[new_key, cache[0]]")
    | edit("[cache[1], new_value]", "[new_value, cache[1]]")
    | "The new key and value are put before the cache. The newest ones should come last.",
    only_the_newest=edit(RETURNED, "mixed, (new_key, new_value)")
    | "The returned cache holds only the newest token. It should hold all tokens so far."
    | "How long should the cache be after three calls?",
    cache_not_extended=edit(RETURNED, "mixed, (keys, values) if cache is None else cache")
    | "The returned cache lacks the new token.",
    pair_swapped=edit(RETURNED, "mixed, (values, keys)")
    | "The cache comes back as (values, keys). The keys should come first.",
    cache_changed=edit("(length - 1, query, key, value, cache)", "(length - 1, query, key, value, _extended)")
    | "A second continuation of the same cache sees the first one's token. Return a new pair, and change neither the "
    "cache that you get nor a variable outside.",
    divided_by_tokens=edit(ROOT, "math.sqrt(keys.shape[2])", see="02#why-sqrt-dk")
    | "The scores are divided by the root of the number of tokens. The divisor should be √K, the width of a head."
    | "Which axis of (B, H, t, K) do the products of a score run over?",
    softmax_missing=edit("softmax(scores) @ values", "scores @ values", see="02#formula")
    | "The scores themselves are the weights. A softmax over the keys should make them sum to 1.",
    keys_mixed=edit("softmax(scores) @ values", "softmax(scores) @ keys")
    | "The weights mix the keys. Keys decide how much is taken, and values are what is taken."
    | "The first token sees only itself. Which of its three vectors is the output?",
    unstable_softmax=edit("x.max(axis=axis, keepdims=True)", "0", see="01#ten-lines")
    | "Large scores overflow in `exp` and give NaN. What can be subtracted from all scores without changing the "
    "weights?",
    keys_newest_first=edit("[cache[0], new_key]", "[new_key, cache[0]]")
    | "The new key is put before the old ones, and the new value behind them, so keys and values do not match.",
)

exercise.advice(
    first=Advice(
        value="The first token sees only itself, so its output is its value. The cache is the pair of its key and "
        "value."
    ),
    steps=Advice(value="Each call appends its key and its value to the cache, and its query looks at all of them."),
    branches=Advice(
        value="A beam continues one cache with several tokens. So the cache that comes in must stay as it is: "
        "make a new pair."
    ),
)
exercise.hints(
    first=(
        "Without a cache the keys are the key of this call alone; otherwise, concatenate. Along which axis do tokens "
        "stand in (B, H, t, K)?",
        "The pair of keys and values that the query has seen is the cache to return.",
    ),
    steps=(
        "The scores have the shape (B, H, 1, t): one query, t keys.",
        "No mask is needed: what comes later is not in the cache yet.",
    ),
    branches="`append` and `+=` change a list that came in. `np.concatenate` and `ops.concatenate` make something new.",
)

"""Lab 08b, exercise `cached_attention`."""

from coursekit.generator import Generator

from autograder.declaring import Case, Exercise, wrong
from autograder.exercises.drawing import normal
from autograder.mistaken import generating_text as mistaken
from autograder.oracles import generating_text as oracles


def _tokens(rng: Generator, batch: int, heads: int, length: int, width: int, **more) -> dict:
    """Queries, keys and values (B, H, T, K) of all tokens; the queries are large enough that weights differ."""
    shape = (batch, heads, length, width)
    return {"query": 2 * normal(rng, *shape), "key": normal(rng, *shape), "value": normal(rng, *shape), **more}


exercise = Exercise("cached_attention", oracle=oracles.cached_attention, mistaken=mistaken.cached_attention, by_mode={"branches": oracles.cached_branches})


@exercise.group("the first token, without a cache", points=1, advice="The first token sees only itself, so its output is its value. The cache is the pair of its key and its value.")
def first(rng: Generator) -> list[Case]:
    return [Case(_tokens(rng, 2, 3, 1, 5), description="cache=None, B=2, H=3, K=5")]


@exercise.group("call after call, the rows of full causal attention", points=3, advice="Each call appends its key and its value to the cache, and its query looks at all of them.")
def steps(rng: Generator) -> list[Case]:
    return [Case(_tokens(rng, 2, 3, 7, 5), description="7 calls, B=2, H=3, K=5"), Case(_tokens(rng, 3, 2, 5, 11), mode="tensor", description="5 calls with TensorFlow tensors, B=3, H=2, K=11")]


@exercise.group("a cache can be continued twice", points=1, advice="A beam continues one cache with several tokens. So the cache that comes in must stay as it is: make a new pair.")
def branches(rng: Generator) -> list[Case]:
    return [Case(_tokens(rng, 2, 3, 5, 7), mode="branches", description="three tokens, then two different fourth ones from the same cache")]


exercise.mistakes(
    unscaled=wrong("The scores are not divided by √K.", scale="none"),
    divided_by_width=wrong("The scores are divided by K; the divisor is √K.", scale="K"),
    cache_ignored=wrong("The query sees only its own key: keys and values of the cache are not used.", seen="own"),
    new_token_unseen=wrong("The query sees the cache and not its own key: append first, then attend.", seen="others"),
    softmax_over_queries=wrong("The weights of a query do not sum to 1: the softmax runs over the queries, and there is only one. It should run over the keys, the last axis.", softmax="queries"),
    newest_first=wrong("The new key and value are put before the cache. The newest ones should come last.", place="first"),
    only_the_newest=wrong("The returned cache holds only the newest token. It should hold all tokens so far.", kept="newest"),
    cache_not_extended=wrong("The returned cache lacks the new token.", kept="old"),
    pair_swapped=wrong("The cache comes back as (values, keys). The keys should come first.", pair="swapped"),
    cache_changed=wrong("A second continuation of the same cache sees the first one's token: your function changes the cache that it is given. Make a new pair instead.", changed=True),
)


exercise.hints(
    "Without a cache the keys are the key of this call alone; otherwise, concatenate. Along which axis do tokens stand in (B, H, t, K)?",
    "The pair of keys and values that the query has seen is the cache to return.",
)
exercise.hints("The scores have the shape (B, H, 1, t): one query, t keys.", "No mask is needed: what comes later is not in the cache yet.", group="steps")
exercise.hints("`append` and `+=` change a list that came in. `np.concatenate` and `ops.concatenate` make something new.", group="branches")

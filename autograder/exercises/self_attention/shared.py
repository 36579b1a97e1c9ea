"""What several exercises of lab 02 share."""

from coursekit.generator import Generator

from autograder.declaring import Case, wrong
from autograder.exercises.drawing import drawn_until, normal

BUILT_IN_ATTENTION = (
    "keras.layers.MultiHeadAttention",
    "keras.layers.GroupedQueryAttention",
    "keras.layers.GroupQueryAttention",
    "keras.layers.Attention",
    "keras.layers.AdditiveAttention",
    "keras.ops.dot_product_attention",
    "keras.ops.nn.dot_product_attention",
    "tensorflow.nn.scaled_dot_product_attention",
)


SCORES_RETURNED = wrong("The second result holds the scores. Return the weights: what the softmax makes of them.", scores_returned=True)


UNSCALED = wrong("The scores are not scaled: nothing divides them before the softmax.", scale="none")


SCALED_BY_D = wrong("The scores are divided by the width itself, not by its square root.", scale="d_k")


SCALED_BY_LENGTH = wrong("The scores are divided by the root of the number of keys. Which axis of the inputs is summed over in a score?", scale="sqrt_keys")


SCALE_INVERTED = wrong("The scores are multiplied by the root of the width instead of divided by it.", scale="inverse")


SCALED_AFTER = wrong("The scaling is applied to the weights, after the softmax, so the rows no longer sum to 1.", scale="after")


OVER_QUERIES = wrong("The columns of the weights sum to 1, not the rows: the softmax runs over the queries instead of the keys.", softmax_axis=-2)


OVER_ALL = wrong("The whole matrix of weights sums to 1: one softmax over both axes instead of one for each query.", softmax_axis=(-2, -1))


NO_SOFTMAX = wrong("The scores weight the values directly: the softmax is missing.", no_softmax=True)


SUM_NORMALISED = wrong("The scores are divided by their sum. Scores can be negative, and such weights can be negative, too: exponentiate first.", normalising="sum")


LARGEST_ONLY = wrong("Each query takes the one key with the largest score. The softmax shares the weight among all keys.", normalising="largest")


AXIS_ONE = wrong("The softmax runs over axis 1. That is the keys for one sequence, and something else in a batch: count from the end.", softmax_axis=1)


UNSTABLE = wrong("Large scores overflow in `exp` and give NaN. What can be subtracted from a row without changing its softmax?", stable=False)


WHOLE_PEAK = wrong("The largest score of the whole array is subtracted, so that a row far below it becomes 0/0. Each row needs its own.", peak="whole")


PEAK_IN_COLUMNS = wrong("The largest scores of the rows are subtracted from the columns: a maximum of shape (T,) broadcasts along the last axis. `keepdims=True` makes it (T, 1).", peak="columns")


PLAIN_MISTAKES = dict(
    unscaled=UNSCALED,
    divided_by_sum=SUM_NORMALISED,
    largest_only=LARGEST_ONLY,
    scaled_by_d=SCALED_BY_D,
    scaled_by_length=SCALED_BY_LENGTH,
    scale_inverted=SCALE_INVERTED,
    scaled_after_softmax=SCALED_AFTER,
    softmax_over_queries=OVER_QUERIES,
    softmax_over_everything=OVER_ALL,
    no_softmax=NO_SOFTMAX,
    unstable_softmax=UNSTABLE,
    one_maximum_for_all=WHOLE_PEAK,
    unchanged=wrong("The tokens come back unchanged: nothing is mixed.", unchanged=True),
    returns_weights=wrong("The weights come back, not the mixture of the inputs.", return_weights=True),
    self_left_out=wrong("A token does not attend to itself here; it should.", exclude_self=True),
    later_tokens_left_out=wrong("A token attends to itself and the tokens before it only. Nothing is masked here: a token should attend to all tokens.", causal=True),
    not_normalised=wrong("The weights are positive, but they do not sum to 1: the division by their sum is missing.", normalised="not"),
)


MASK_MISTAKES = dict(
    mask_ignored=wrong("The mask changes nothing: blocked keys keep their weight.", masking="ignore"),
    mask_inverted=wrong("The mask is read the wrong way round. In this course True means: may attend.", masking="invert"),
    mask_added=wrong("The mask itself is added to the scores, so a blocked key loses only 1. It should lose all of its weight.", masking="add"),
    mask_zeroes_scores=wrong("Blocked scores become 0, and the softmax gives a score of 0 a weight like any other.", masking="zero"),
    mask_after_softmax=wrong("The mask is applied after the softmax, so the remaining weights no longer sum to 1.", masking="after"),
    mask_transposed=wrong("The axes of the mask are swapped: rows are queries.", masking="queries"),
)


def plain(*shapes: tuple[int, ...]):
    return lambda rng: [Case({"x": normal(rng, *shape)}) for shape in shapes]


def plain_large(rng: Generator) -> list[Case]:
    """Tokens of one direction and very different lengths, so that the longest wins and no token answers itself."""
    lengths = drawn_until(lambda drawn: drawn[0] < 700, lambda: rng.permutation([100.0, 200.0, 300.0, 400.0, 700.0]))
    x = lengths.astype("float32")[:, None] * (normal(rng, 7) + normal(rng, 5, 7) / 9)
    return [Case({"x": x}, description="scores of tens of thousands")]


def plain_types(rng: Generator) -> list[Case]:
    return [
        Case({"x": normal(rng, 5, 7)}, mode="tensor", description="a TensorFlow tensor"),
        Case({"x": normal(rng, 5, 7)}, description="a NumPy array of float32"),
        Case({"x": rng.normal(size=(5, 7))}, description="a NumPy array of float64"),
    ]

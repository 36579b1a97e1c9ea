"""Lab 03, exercise `MultiHeadAttention`."""

import numpy as np
from coursekit.generator import Generator

from autograder.declaring import Case, Exercise, wrong
from autograder.exercises.drawing import drawn_until, is_far_apart, normal, partial_mask
from autograder.exercises.multi_head_attention.shared import attention_arrays
from autograder.exercises.self_attention.shared import BUILT_IN_ATTENTION, MASK_MISTAKES, NO_SOFTMAX, OVER_QUERIES, SCALED_AFTER, SCALED_BY_LENGTH, UNSCALED, UNSTABLE, WHOLE_PEAK
from autograder.mistaken import multi_head_attention as mistaken
from autograder.oracles import multi_head_attention as oracles


def _layer_inputs(rng: Generator, *, heads: int = 3, size: int = 5, batch: int = 2, queries: int = 7, keys: int = 11) -> dict:
    width = heads * size
    arrays = attention_arrays(rng, width, width, batch=batch, queries=queries, keys=keys)
    return {"d_model": width, "num_heads": heads, **arrays}


exercise = Exercise(
    "MultiHeadAttention",
    oracle=oracles.multi_head_attention,
    mistaken=mistaken.multi_head_attention,
    by_mode={"parameters": oracles.layer_parameters, "refusal": oracles.refused},
    forbidden=BUILT_IN_ATTENTION,
)


@exercise.group("right values, for self-attention and for cross-attention", points=3)
def values(rng: Generator) -> list[Case]:
    other = _layer_inputs(rng, heads=5, size=3, queries=11, keys=7)
    same = _layer_inputs(rng, queries=7, keys=7)
    same["key"] = same["value"] = same["query"]
    return [
        Case(_layer_inputs(rng), description="d_model=15, num_heads=3, query (2, 7, 15), key and value (2, 11, 15)"),
        Case(other, description="d_model=15, num_heads=5, query (2, 11, 15), key and value (2, 7, 15)"),
        Case(same, description="d_model=15, num_heads=3, query, key and value the same (2, 7, 15)"),
        Case(_layer_inputs(rng, heads=1, size=13), description="d_model=13, num_heads=1, query (2, 7, 13), key and value (2, 11, 13)"),
    ]


@exercise.group("attention weights of every head", points=1)
def weights(rng: Generator) -> list[Case]:
    inputs = {**_layer_inputs(rng), "return_weights": True}
    return [Case(inputs, description="return_weights=True: output (2, 7, 15), weights (2, 3, 7, 11)")]


@exercise.group("masks of shape (T, S), (B, T, S) and (B, 1, T, S)", points=2)
def masked(rng: Generator) -> list[Case]:
    masks = (partial_mask(rng, 7, 11), partial_mask(rng, 2, 7, 11).astype("int32"), partial_mask(rng, 2, 1, 7, 11).astype("float32"))
    return [Case({**_layer_inputs(rng), "mask": mask, "return_weights": True}, description=f"query (2, 7, 15), key (2, 11, 15), mask {mask.shape} of {mask.dtype}") for mask in masks]


@exercise.group("mask (B, T, S) where B happens to be H", points=1, advice="Shapes are aligned from the right. Which axis of the scores does the first axis of the mask meet?")
def batch_of_heads(rng: Generator) -> list[Case]:
    mask = partial_mask(rng, 3, 7, 11)
    return [Case({**_layer_inputs(rng, batch=3), "mask": mask}, description="as many sentences as heads (3), mask (3, 7, 11)")]


@exercise.group(
    "a query that may attend to nothing gives no NaN",
    points=1,
    advice="Where every key is blocked, the sum of the row is 0 and 0/0 is NaN, whether you take −∞ for a blocked score or multiply its exponential by 0. A large negative score avoids it.",
)
def fully_masked(rng: Generator) -> list[Case]:
    mask = partial_mask(rng, 2, 7, 11)
    mask[0, 1] = mask[1, 4] = False
    return [Case({**_layer_inputs(rng), "mask": mask, "return_weights": True}, description="two queries may attend to nothing", property="rows are distributions")]


@exercise.group("finite for large scores", points=1)
def large_scores(rng: Generator) -> list[Case]:
    def draw(**sizes: int) -> dict:
        inputs = _layer_inputs(rng, **sizes)
        return {**inputs, "query": inputs["query"] * 400, "key": inputs["key"] * 400}

    def is_clear(inputs: dict) -> bool:
        query, key = (oracles.split(inputs[name] @ inputs[f"{weight}.kernel"] + inputs[f"{weight}.bias"], inputs["num_heads"]) for name, weight in (("query", "w_q"), ("key", "w_k")))
        return is_far_apart(query @ np.swapaxes(key, -1, -2), 1000)

    return [
        Case(drawn_until(is_clear, draw), description="scores of many thousands"),
        # with several heads the output is NaN wherever one of them is, and says less about the reason
        Case(drawn_until(is_clear, lambda: draw(heads=1, size=13)), description="scores of many thousands, one head"),
    ]


@exercise.group("four Dense layers with bias", points=1)
def parameters(rng: Generator) -> list[Case]:
    return [Case(_layer_inputs(rng), mode="parameters", description="trainable parameters, d_model=15, num_heads=3")]


@exercise.group("ValueError when num_heads does not divide d_model", points=1, advice="Compare d_model % num_heads with 0 in `__init__`, and raise a ValueError that names both numbers.")
def refusal(rng: Generator) -> list[Case]:
    return [
        Case({"d_model": width, "num_heads": heads, **{key: normal(rng, 2, 3, width) for key in ("query", "key", "value")}}, mode="refusal", description=f"d_model={width}, num_heads={heads}")
        for width, heads in ((10, 3), (7, 11))
    ]


@exercise.group(
    "works inside tf.function, and gradients reach every weight",
    points=1,
    advice="Inside tf.function the batch size is None: take it from `ops.shape(x)`, or put -1 for it in a reshape. NumPy stops both graphs and gradients.",
)
def training(rng: Generator) -> list[Case]:
    wide = {**_layer_inputs(rng), "mask": partial_mask(rng, 2, 7, 11)}
    small = {**_layer_inputs(rng, heads=2, size=2, batch=1, queries=3, keys=5), "mask": partial_mask(rng, 1, 3, 5)}
    return [
        Case(wide, mode="graph", description="inside tf.function, batch size and lengths unknown"),
        Case({**small, "cotangent.output": normal(rng, 1, 3, 4)}, mode="gradient", description="gradients, compared with numerical ones"),
    ]


exercise.mistakes(
    unscaled=UNSCALED,
    scaled_by_d_model=wrong("The scores are divided by the root of d_model. A head's scores are sums over d_model / num_heads features.", scale="sqrt_d_model"),
    scaled_by_head_size=wrong("The scores are divided by the width of a head, not by its square root.", scale="d_k"),
    scaled_by_length=SCALED_BY_LENGTH,
    scaled_after_softmax=SCALED_AFTER,
    softmax_over_queries=OVER_QUERIES,
    softmax_over_heads=wrong("The weights of the heads sum to 1 for each pair of tokens: the softmax runs over the heads instead of the keys.", softmax_axis=1),
    no_softmax=NO_SOFTMAX,
    unstable_softmax=UNSTABLE,
    one_maximum_for_all=WHOLE_PEAK,
    mask_ignored=MASK_MISTAKES["mask_ignored"],
    mask_inverted=MASK_MISTAKES["mask_inverted"],
    mask_added=MASK_MISTAKES["mask_added"],
    mask_zeroes_scores=MASK_MISTAKES["mask_zeroes_scores"],
    mask_after_softmax=MASK_MISTAKES["mask_after_softmax"],
    mask_meets_heads=wrong("A mask (B, T, S) meets scores (B, H, T, S): its first axis meets the heads. The mask needs an axis for the heads.", mask_axis="heads"),
    one_head=wrong("There is one head of width D, not several: the projections go into the attention as they are, unsplit.", one_head=True),
    split_by_reshape_alone=wrong("The heads are cut out by a reshape alone, which mixes the tokens.", split_how="reshape"),
    merged_by_reshape_alone=wrong("The heads are merged by a reshape alone, which mixes the tokens.", merge_how="reshape"),
    heads_interleaved=wrong("Head h takes every H-th feature. It should take a block of features that lie side by side.", split_how="interleaved", merge_how="interleaved"),
    no_output_projection=wrong("The merged heads come back as they are: w_o is not used.", project_out=False),
    keras_argument_order=wrong("Key and value change places: the order here is call(query, key, value), unlike Keras's query, value, key.", arguments="qvk"),
    query_attends_to_itself=wrong("Keys and values are made from the query. They should be made from `key` and `value`.", arguments="qqq"),
    values_from_key=wrong("The values are made from the argument `key`; make them from `value`.", arguments="qkk"),
    query_key_swapped=wrong("w_q makes the keys and w_k the queries; exchange the two.", roles="kqv"),
    one_projection=wrong("Queries and keys come from the same projection, w_q.", roles="qqv"),
    values_from_w_k=wrong("The values come from w_k instead of w_v.", roles="qkk"),
    one_layer_twice=wrong("w_q and w_k are one and the same layer; each should have weights of its own.", roles="kkv"),
    one_layer_three_times=wrong("w_q, w_k and w_v are one and the same layer; each should have weights of its own.", roles="vvv"),
    residual_inside=wrong("The query is added to the output. That residual path belongs to the block around this layer, in lab 04.", residual=True),
    relu_on_projections=wrong("Queries, keys and values go through a ReLU; w_q, w_k and w_v should be linear.", relu=True),
    relu_before_w_o=wrong("There is a ReLU between the merged heads and w_o; remove it.", relu_merged=True),
    relu_after_w_o=wrong("There is a ReLU after w_o, so no output is below 0; w_o should be linear.", relu_out=True),
    dense_without_bias=wrong("The Dense layers have no bias; this exercise asks for one.", bias=False),
    weights_averaged=wrong("The weights are averaged over the heads; return one map for each head, (B, H, T, S).", average_weights=True),
    scores_returned=wrong("With return_weights=True the scores come back; the weights are the softmax of the scores.", results="output, scores"),
    results_swapped=wrong("The weights come first; return (output, weights).", results="weights, output"),
    any_width_accepted=wrong("A d_model that num_heads does not divide is accepted without an error.", refusal="no error"),
    refused_too_late=wrong("A d_model that num_heads does not divide fails somewhere inside TensorFlow. Check it yourself, and say in words what is wrong.", refusal="InvalidArgumentError"),
)


exercise.hints(
    "`__init__` makes four Dense layers of width d_model, under the names of the contract, after it has checked the two numbers.",
    "`call`: project, `split_heads` three times, attention as in lab 02 (it works for any leading axes), `merge_heads`, `w_o`.",
    "By which width are the scores divided: that of a token, or that of a head?",
)
exercise.hints("The weights are what the softmax returns, before they meet the values: (B, H, T, S).", group="weights")
exercise.hints("Bring every mask to rank 4, or to a shape that broadcasts to (B, H, T, S). Only rank 3 needs something done to it.", group="masked")
exercise.hints("Where does the new axis of a mask (B, T, S) belong, so that B meets B?", group="batch_of_heads")
exercise.hints("Which number do you write in place of a blocked score?", group="fully_masked")
exercise.hints("A softmax of your own subtracts the largest score of each row; `ops.softmax` does it for you.", group="large_scores")
exercise.hints("Four Dense layers, each from D to D. Do all of them have a bias, and is each of them called?", group="parameters")
exercise.hints("`%` gives the remainder of a division; check it before the layers are made.", group="refusal")
exercise.hints("A size from `x.shape` may be None in a graph; one from `ops.shape(x)` is not.", group="training")

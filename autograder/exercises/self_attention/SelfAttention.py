"""Lab 02, exercise `SelfAttention`."""

from coursekit.generator import Generator

from autograder.declaring import Case, Exercise, wrong
from autograder.exercises.drawing import normal, partial_mask
from autograder.exercises.self_attention.shared import BUILT_IN_ATTENTION, MASK_MISTAKES, NO_SOFTMAX, OVER_QUERIES, SCALED_BY_D, UNSCALED
from autograder.mistaken import self_attention as mistaken
from autograder.oracles import self_attention as oracles


def _layer_inputs(rng: Generator, batch: int = 2, length: int = 5, width: int = 7) -> dict:
    d_k, d_v = 3, 11
    return {"d_k": d_k, "d_v": d_v, "x": normal(rng, batch, length, width), "w_q.kernel": normal(rng, width, d_k), "w_k.kernel": normal(rng, width, d_k), "w_v.kernel": normal(rng, width, d_v)}


exercise = Exercise(
    "SelfAttention",
    oracle=oracles.self_attention_layer,
    mistaken=mistaken.self_attention_layer,
    by_mode={"parameters": oracles.self_attention_parameters},
    probe_only=("d_k", "d_v"),
    forbidden=BUILT_IN_ATTENTION,
)


@exercise.group("right values", points=2)
def values(rng: Generator) -> list[Case]:
    return [Case(_layer_inputs(rng), description="x (2, 5, 7), d_k=3, d_v=11"), Case({**_layer_inputs(rng), "return_weights": True}, description="x (2, 5, 7), return_weights=True")]


@exercise.group("masks of shape (T, S), (B, T, S) and (B, 1, S)", points=1)
def masked(rng: Generator) -> list[Case]:
    return [
        Case({**_layer_inputs(rng), "mask": mask, "return_weights": True}, description=f"x (2, 5, 7), mask {mask.shape}")
        for mask in (partial_mask(rng, 5, 5), partial_mask(rng, 2, 5, 5), partial_mask(rng, 2, 1, 5))
    ]


@exercise.group("mask of shape (B, 1, T, S)", points=1, advice="A mask made for several heads has an axis of size 1 for them. This layer has no such axis: take it out.")
def mask_with_head_axis(rng: Generator) -> list[Case]:
    mask = partial_mask(rng, 2, 1, 5, 5)
    return [Case({**_layer_inputs(rng), "mask": mask}, description="x (2, 5, 7), mask (2, 1, 5, 5)")]


@exercise.group("three Dense layers without bias", points=1)
def parameters(rng: Generator) -> list[Case]:
    return [Case(_layer_inputs(rng), mode="parameters", description="trainable parameters, d_model=7, d_k=3, d_v=11")]


@exercise.group("works inside tf.function, and gradients reach every weight", points=1, advice="Inside a layer use `keras.ops` (or TensorFlow operations): NumPy stops both graphs and gradients.")
def training(rng: Generator) -> list[Case]:
    inputs = {**_layer_inputs(rng), "mask": partial_mask(rng, 2, 5, 5)}
    return [
        Case(inputs, mode="graph", description="inside tf.function, batch size and length unknown"),
        Case({**inputs, "cotangent.output": normal(rng, 2, 5, 11)}, mode="gradient", description="gradients, compared with numerical ones"),
    ]


exercise.mistakes(
    unscaled=UNSCALED,
    scaled_by_d=SCALED_BY_D,
    scaled_by_d_model=wrong("The scores are divided by the root of d_model, not of d_k.", scale="sqrt_d_model"),
    scaled_by_d_v=wrong("The scores are divided by the root of d_v, not of d_k.", scale="sqrt_d_v"),
    softmax_over_queries=OVER_QUERIES,
    no_softmax=NO_SOFTMAX,
    mask_ignored=MASK_MISTAKES["mask_ignored"],
    mask_inverted=MASK_MISTAKES["mask_inverted"],
    mask_added=MASK_MISTAKES["mask_added"],
    mask_zeroes_scores=MASK_MISTAKES["mask_zeroes_scores"],
    mask_after_softmax=MASK_MISTAKES["mask_after_softmax"],
    query_key_swapped=wrong("w_q makes the keys and w_k the queries; exchange the two.", roles="kqv"),
    one_projection=wrong("Queries and keys come from the same projection, w_q.", roles="qqv"),
    values_from_keys=wrong("The values come from w_k instead of w_v.", roles="qkk"),
    values_unprojected=wrong("The values are the inputs themselves: w_v is not used.", values_unprojected=True),
    dense_with_bias=wrong("The Dense layers have a bias; this exercise asks for none.", bias=True),
)


exercise.hints(
    "Make the three Dense layers in `__init__` with `use_bias=False`, and keep them as `self.w_q`, `self.w_k`, `self.w_v`.",
    "`call` projects x three times and passes the results, with the mask, to the function that you wrote before.",
    "With `return_weights=True` return (output, weights), otherwise the output alone.",
)
exercise.hints("Does the mask reach the function of exercise 4, and by its name?", group="masked")
exercise.hints("`len(attention_mask.shape)` is 4 for this mask alone. Which of its axes has the size 1?", group="mask_with_head_axis")
exercise.hints("A Dense layer has a bias unless you set `use_bias=False`.", group="parameters")
exercise.hints("Follow the call into the functions that it uses: which of them calls NumPy?", group="training")

"""Lab 03, exercise `split_heads`."""

from autograder.declare import Case, Exercise, edit
from exercises.drawing import normal
from exercises.multi_head_attention.shared import CUT, SPLIT_BY_RESHAPE, split


def _tokens(*sizes: tuple[int, int, int, int]):
    """Cases for `split_heads`; sizes are (B, T, D, H)."""
    return lambda rng: [
        Case({"x": normal(rng, batch, length, width), "num_heads": heads}) for batch, length, width, heads in sizes
    ]


exercise = Exercise("split_heads", own_probe=True)
exercise.formula(split)
exercise.group("right values", points=2, values=_tokens((2, 5, 21, 3), (2, 3, 35, 7)))
exercise.group("one head, and heads of width 1", edges=lambda rng: [*_tokens((2, 3, 7, 1), (2, 3, 5, 5))(rng)])


@exercise.group("arrays and tensors, float type kept, unknown sizes")
def types(rng):
    yield Case({"x": normal(rng, 2, 5, 21), "num_heads": 3}, "a TensorFlow tensor", mode="tensor", dtype="float32")
    yield Case({"x": normal(rng, 2, 5, 21), "num_heads": 3}, "a NumPy array of float32", dtype="float32")
    yield Case({"x": rng.normal(size=(2, 5, 21)), "num_heads": 3}, "a NumPy array of float64", dtype="float64")
    yield Case(
        {"x": normal(rng, 2, 5, 21), "num_heads": 3}, "inside tf.function, batch size and length unknown", mode="graph"
    )


exercise.mistakes(
    split_by_reshape_alone=SPLIT_BY_RESHAPE,
    heads_interleaved=edit(
        CUT, "x.reshape(batch, length, width // num_heads, num_heads).transpose(0, 3, 1, 2)", see="03#heads"
    )
    | "Head h takes every H-th feature. It should take a block of D/H features that lie side by side."
    | "Cut the last axis into (H, D/H) in this order: what varies fastest in memory comes last.",
    no_transpose=edit(CUT, "x.reshape(batch, length, num_heads, width // num_heads)", see="03#heads")
    | "The heads are after the tokens, (B, T, H, K); they should come before the tokens."
    | "Attention works on the last two axes. Which two should these be for each head?",
    features_first=edit(".transpose(0, 2, 1, 3)", ".transpose(0, 2, 3, 1)")
    | "The last two axes are exchanged: (B, H, K, T).",
    heads_before_batch=edit(".transpose(0, 2, 1, 3)", ".transpose(2, 0, 1, 3)")
    | "The heads stand before the batch: (H, B, T, K).",
    heads_in_batch=edit("(0, 2, 1, 3)", "(2, 0, 1, 3).reshape(num_heads * batch, length, width // num_heads)")
    | "The heads are joined with the batch, (H·B, T, K); here they should have an axis of their own.",
    size_and_number_exchanged=edit("num_heads, width // num_heads", "width // num_heads, num_heads")
    | "The features are cut into D/H heads of width H; it should be H heads of width D/H.",
    heads_not_narrower=edit(CUT, "np.repeat(x[:, None], num_heads, axis=1)", see="03#heads")
    | "Every head gets all D features; it should get D/H of them."
    | "How wide is one head, if all heads side by side are as wide as the token?",
    batch_taken_for_tokens=edit(CUT, "x.reshape(batch, num_heads, -1).transpose(1, 0, 2)")
    | "The first axis is taken for the tokens, as in the lecture's `split` of one sentence. Here it is the batch."
    | "Give each of the four axes B, T, H and K a place of its own in the reshape.",
)

exercise.hints(
    values=(
        "Two steps: cut the last axis into two, then change the order of the axes.",
        "After the cut the shape is (B, T, H, D/H): which two axes have to change places?",
    ),
    edges="With one head nothing is cut; with D heads each has one feature. Does a size in your reshape come out as 0?",
    types="Inside tf.function some sizes are None in `x.shape`. `ops.shape(x)` knows all of them, and a reshape takes "
    "one −1.",
)

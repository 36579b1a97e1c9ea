"""Lab 03, exercise `split_heads`."""

from autograder.declaring import Case, Exercise, wrong
from coursekit.generator import Generator
from exercises.drawing import normal
from exercises.multi_head_attention.shared import CUT, SPLIT_BY_RESHAPE, split


def _tokens(*sizes: tuple[int, int, int, int]):
    """Cases for `split_heads`; sizes are (B, T, D, H)."""
    return lambda rng: [
        Case({"x": normal(rng, batch, length, width), "num_heads": heads}) for batch, length, width, heads in sizes
    ]


exercise = Exercise("split_heads")
exercise.formula(split)


@exercise.group("right values", points=2)
def values(rng: Generator) -> list[Case]:
    return _tokens((2, 5, 21, 3), (2, 3, 35, 7))(rng)


@exercise.group("one head, and heads of width 1", points=1)
def edges(rng: Generator) -> list[Case]:
    return [*_tokens((2, 3, 7, 1), (2, 3, 5, 5))(rng)]


@exercise.group("arrays and tensors, float type kept, unknown sizes", points=1)
def types(rng: Generator) -> list[Case]:
    return [
        Case(
            {"x": normal(rng, 2, 5, 21), "num_heads": 3},
            mode="tensor",
            description="a TensorFlow tensor",
            dtype="float32",
        ),
        Case({"x": normal(rng, 2, 5, 21), "num_heads": 3}, description="a NumPy array of float32", dtype="float32"),
        Case(
            {"x": rng.normal(size=(2, 5, 21)), "num_heads": 3}, description="a NumPy array of float64", dtype="float64"
        ),
        Case(
            {"x": normal(rng, 2, 5, 21), "num_heads": 3},
            mode="graph",
            description="inside tf.function, batch size and length unknown",
        ),
    ]


exercise.mistakes(
    split_by_reshape_alone=SPLIT_BY_RESHAPE,
    heads_interleaved=wrong(
        "Head h takes every H-th feature. It should take a block of D/H features that lie side by side.",
        (CUT, "x.reshape(batch, length, width // num_heads, num_heads).transpose(0, 3, 1, 2)"),
        hint="Cut the last axis into (H, D/H) in this order: what varies fastest in memory comes last.",
        see="03#heads",
    ),
    no_transpose=wrong(
        "The heads are after the tokens, (B, T, H, K); they should come before the tokens.",
        (CUT, "x.reshape(batch, length, num_heads, width // num_heads)"),
        hint="Attention works on the last two axes. Which two should these be for each head?",
        see="03#heads",
    ),
    features_first=wrong(
        "The last two axes are exchanged: (B, H, K, T).", (".transpose(0, 2, 1, 3)", ".transpose(0, 2, 3, 1)")
    ),
    heads_before_batch=wrong(
        "The heads stand before the batch: (H, B, T, K).", (".transpose(0, 2, 1, 3)", ".transpose(2, 0, 1, 3)")
    ),
    heads_in_batch=wrong(
        "The heads are joined with the batch, (H·B, T, K); here they should have an axis of their own.",
        (".transpose(0, 2, 1, 3)", ".transpose(2, 0, 1, 3).reshape(num_heads * batch, length, width // num_heads)"),
    ),
    size_and_number_exchanged=wrong(
        "The features are cut into D/H heads of width H; it should be H heads of width D/H.",
        ("num_heads, width // num_heads", "width // num_heads, num_heads"),
    ),
    heads_not_narrower=wrong(
        "Every head gets all D features; it should get D/H of them.",
        (CUT, "np.repeat(x[:, None], num_heads, axis=1)"),
        hint="How wide is one head, if all heads side by side are as wide as the token?",
        see="03#heads",
    ),
    batch_taken_for_tokens=wrong(
        "The first axis is taken for the tokens, as in the lecture's `split` of one sentence. Here it is the batch.",
        (CUT, "x.reshape(batch, num_heads, -1).transpose(1, 0, 2)"),
        hint="Give each of the four axes B, T, H and K a place of its own in the reshape.",
    ),
)


exercise.hints(
    "Two steps: cut the last axis into two, then change the order of the axes.",
    "After the cut the shape is (B, T, H, D/H): which two axes have to change places?",
)
exercise.hints(
    "With one head nothing is cut; with D heads each has one feature. Does a size in your reshape come out as 0?",
    group="edges",
)
exercise.hints(
    "Inside tf.function some sizes are None in `x.shape`. `ops.shape(x)` knows all of them, and a reshape takes"
    " one −1.",
    group="types",
)

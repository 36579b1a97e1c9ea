"""Lab 03, exercise `split_heads`."""

from coursekit.generator import Generator

from autograder.declaring import Case, Exercise, wrong
from autograder.exercises.drawing import normal
from autograder.mistaken import multi_head_attention as mistaken
from autograder.oracles import multi_head_attention as oracles


def _tokens(*sizes: tuple[int, int, int, int]):
    """Cases for `split_heads`; sizes are (B, T, D, H)."""
    return lambda rng: [Case({"x": normal(rng, batch, length, width), "num_heads": heads}) for batch, length, width, heads in sizes]


exercise = Exercise("split_heads", oracle=oracles.split_heads, mistaken=mistaken.split_heads)


@exercise.group("right values", points=2)
def values(rng: Generator) -> list[Case]:
    return _tokens((2, 5, 21, 3), (2, 3, 35, 7))(rng)


@exercise.group("one head, and heads of width 1", points=1)
def edges(rng: Generator) -> list[Case]:
    return [*_tokens((2, 3, 7, 1), (2, 3, 5, 5))(rng)]


@exercise.group("arrays and tensors, float type kept, unknown sizes", points=1)
def types(rng: Generator) -> list[Case]:
    return [
        Case({"x": normal(rng, 2, 5, 21), "num_heads": 3}, mode="tensor", description="a TensorFlow tensor", dtype="float32"),
        Case({"x": normal(rng, 2, 5, 21), "num_heads": 3}, description="a NumPy array of float32", dtype="float32"),
        Case({"x": rng.normal(size=(2, 5, 21)), "num_heads": 3}, description="a NumPy array of float64", dtype="float64"),
        Case({"x": normal(rng, 2, 5, 21), "num_heads": 3}, mode="graph", description="inside tf.function, batch size and length unknown"),
    ]


exercise.mistakes(
    split_by_reshape_alone=wrong("The shape is right, but the tokens are mixed: a reshape alone moves no number. Give the heads an axis beside the features first.", how="reshape"),
    heads_interleaved=wrong("Head h takes every H-th feature. It should take a block of D/H features that lie side by side.", how="interleaved"),
    no_transpose=wrong("The heads are after the tokens, (B, T, H, K); they should come before the tokens.", how="no_transpose"),
    features_first=wrong("The last two axes are exchanged: (B, H, K, T).", how="features_first"),
    heads_before_batch=wrong("The heads stand before the batch: (H, B, T, K).", how="heads_first"),
    heads_in_batch=wrong("The heads are joined with the batch, (H·B, T, K); here they should have an axis of their own.", how="stacked"),
    size_and_number_exchanged=wrong("The features are cut into D/H heads of width H; it should be H heads of width D/H.", how="exchanged"),
    heads_not_narrower=wrong("Every head gets all D features; it should get D/H of them.", how="copied"),
)


exercise.hints("Two steps: cut the last axis into two, then change the order of the axes.", "After the cut the shape is (B, T, H, D/H): which two axes have to change places?")
exercise.hints("With one head nothing is cut; with D heads each has one feature. Does a size in your reshape come out as 0?", group="edges")
exercise.hints("Inside tf.function some sizes are None in `x.shape`. `ops.shape(x)` knows all of them, and a reshape takes one −1.", group="types")

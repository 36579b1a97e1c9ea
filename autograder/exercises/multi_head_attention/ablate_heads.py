"""Lab 03, exercise `ablate_heads`."""

from coursekit.generator import Generator

from autograder.declaring import Case, Exercise, wrong
from autograder.exercises.drawing import normal
from autograder.mistaken import multi_head_attention as mistaken
from autograder.oracles import multi_head_attention as oracles

exercise = Exercise("ablate_heads", oracle=oracles.ablate_heads, mistaken=mistaken.ablate_heads)


@exercise.group("right values, for any `keep`", points=2)
def values(rng: Generator) -> list[Case]:
    def case(shape: tuple[int, ...], keep: list[int]) -> Case:
        return Case({"head_outputs": normal(rng, *shape), "keep": keep})

    return [case((2, 5, 3, 7), [0, 3]), case((2, 5, 3, 7), [4, 1, 2]), case((2, 3, 5, 7), [1]), case((2, 3, 5, 7), []), case((2, 3, 5, 7), [0, 1, 2])]


@exercise.group("arrays and tensors", points=1)
def types(rng: Generator) -> list[Case]:
    single, keep = normal(rng, 2, 3, 5, 7), [2, 0]
    double = rng.normal(size=(2, 3, 5, 7))
    return [
        Case({"head_outputs": single, "keep": keep}, mode="tensor", description="a TensorFlow tensor, keep=[2, 0]"),
        Case({"head_outputs": single, "keep": keep}, description="a NumPy array of float32, keep=[2, 0]"),
        Case({"head_outputs": double, "keep": keep}, description="a NumPy array of float64, keep=[2, 0]"),
    ]


exercise.mistakes(
    keep_inverted=wrong("The heads in `keep` become zero. These heads should stay.", invert=True),
    heads_removed=wrong("The other heads are removed from the array; they should stay in it, as zeros.", remove=True),
    others_rescaled=wrong("The heads that stay are scaled up, as in dropout. They should keep their values.", rescale=True),
    heads_from_one=wrong("The heads are counted from 1: `keep` holds indices, and the first head is 0.", first=1),
    first_heads_stay=wrong("The number of heads that stay is right, but they are the first ones; `keep` says which ones stay.", counted=True),
    empty_keep_keeps_all=wrong("With an empty `keep` every head stays; then no head should stay.", empty_keeps_all=True),
    sequences_ablated=wrong("Sequences become zero, not heads: axis 1 holds the heads.", axis=0),
    tokens_ablated=wrong("Tokens become zero, not heads: axis 1 holds the heads.", axis=2),
    features_ablated=wrong("Features become zero, not heads: axis 1 holds the heads.", axis=3),
    mean_instead_of_zero=wrong("The other heads get the mean of all heads; they should be zero.", fill="mean"),
)


exercise.hints(
    "Make a vector of H ones and zeros. Which shape does it need to broadcast to (B, H, T, K)?", "Tensors cannot be assigned to by index; a multiplication works for arrays and tensors alike."
)
exercise.hints("A factor that you make yourself has a float type: which one do `np.zeros` and `np.ones` give, and which one does the tensor have?", group="types")

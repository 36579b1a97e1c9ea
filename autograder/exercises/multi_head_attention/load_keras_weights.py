"""Lab 03, exercise `load_keras_weights`."""

from coursekit.generator import Generator

from autograder.declaring import Case, Exercise, wrong
from autograder.exercises.drawing import normal
from autograder.mistaken import multi_head_attention as mistaken
from autograder.oracles import multi_head_attention as oracles

KERAS_NAMES = ("query", "key", "value", "output")


def _keras_weights(*parts: str):
    def draw(rng: Generator) -> list[Case]:
        heads, size = 3, 5
        width = heads * size
        inputs: dict = {"d_model": width, "num_heads": heads, "parts": list(parts)}
        for name in KERAS_NAMES:
            out = name == "output"
            inputs[f"keras.{name}.kernel"] = normal(rng, *((heads, size, width) if out else (width, heads, size)))
            inputs[f"keras.{name}.bias"] = normal(rng, *((width,) if out else (heads, size)))
        return [Case(inputs, description=f"{', '.join(parts)} after load_keras_weights(mine, keras_mha), d_model=15, num_heads=3")]

    return draw


exercise = Exercise("load_keras_weights", oracle=oracles.load_keras_weights, mistaken=mistaken.load_keras_weights)


@exercise.group("kernels of w_q, w_k and w_v", points=2)
def kernels(rng: Generator) -> list[Case]:
    return _keras_weights("w_q.kernel", "w_k.kernel", "w_v.kernel")(rng)


@exercise.group("kernel of w_o", points=2)
def output(rng: Generator) -> list[Case]:
    return _keras_weights("w_o.kernel")(rng)


@exercise.group("all four biases", points=1)
def biases(rng: Generator) -> list[Case]:
    return _keras_weights("w_q.bias", "w_k.bias", "w_v.bias", "w_o.bias")(rng)


exercise.mistakes(
    kernels_interleaved=wrong("In your kernels the features of the heads alternate. `split_heads` wants head 0's columns first, then head 1's.", inputs_how="interleaved"),
    kernels_heads_first=wrong("Keras's kernel (D, H, K) already has the inputs first: moving the heads before a reshape mixes rows.", inputs_how="heads_first"),
    kernels_transposed=wrong("The kernels of w_q, w_k and w_v are transposed: rows are inputs, columns are outputs.", inputs_how="transposed"),
    output_interleaved=wrong("The rows of w_o's kernel are out of order: head 0's K rows come first, then head 1's.", output_how="interleaved"),
    output_transposed=wrong("The kernel of w_o is transposed: rows are inputs, columns are outputs.", output_how="transposed"),
    output_not_copied=wrong("w_o keeps its own weights.", output_how="zero"),
    biases_not_copied=wrong("The biases are not copied. In a fresh layer the biases are 0, so a test with a fresh layer does not show it.", biases=False),
    output_bias_not_copied=wrong("The bias of w_o is not copied.", output_bias=False),
    biases_interleaved=wrong("In your biases the features of the heads alternate. A bias (H, K) of Keras is read row by row: head 0 first.", biases_how="interleaved"),
    query_key_swapped=wrong("w_q and w_k get each other's weights.", roles="kqvo"),
    key_value_swapped=wrong("w_k and w_v get each other's weights.", roles="qvko"),
    nothing_loaded=wrong("The weights of `mine` did not change. Are they copied the other way, or only computed and not assigned?", nothing=True),
)


exercise.hints(
    "Print the shapes of `keras_mha.get_weights()`, and beside them the shapes of your four kernels and biases.",
    "The numbers are in the right order already: which reshape gives (D, H, K) the shape of your kernel? And (H, K, D)?",
    "A Dense layer takes both at once: `dense.set_weights([kernel, bias])`.",
)
exercise.hints("Keras's output kernel is (H, K, D). Which two of its axes become one?", group="output")
exercise.hints("A bias of Keras is (H, K), yours is (H·K,). And w_o has one, too.", group="biases")

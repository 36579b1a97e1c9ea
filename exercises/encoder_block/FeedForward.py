"""Lab 04, exercise `FeedForward`."""

from autograder.declare import Case, Exercise, edit
from exercises.drawing import normal, one_of
from exercises.encoder_block.shared import HIDDEN, feed_forward


def _feed_inputs(rng, d_model: int, d_ff: int, batch: int = 2, length: int = 5) -> dict:
    return {
        "d_model": d_model,
        "d_ff": d_ff,
        "x": normal(rng, batch, length, d_model),
        "dense_in.kernel": normal(rng, d_model, d_ff),
        "dense_in.bias": normal(rng, d_ff),
        "dense_out.kernel": normal(rng, d_ff, d_model),
        "dense_out.bias": normal(rng, d_model),
    }


exercise = Exercise(
    "FeedForward",
    layer={
        "init": ("d_model", "d_ff"),
        "call": ("x",),
        "optional": (),
        "weights": ("dense_in.kernel", "dense_in.bias", "dense_out.kernel", "dense_out.bias"),
    },
)
exercise.formula(feed_forward)


@exercise.formula_for("parameters")
def number_of_parameters(d_model: int, d_ff: int) -> dict[str, int]:
    """Two Dense layers with bias."""
    kernels, biases = 2 * d_model * d_ff, d_ff + d_model
    return {"trainable_parameters": kernels + biases}


@exercise.group("right values", points=2)
def values(rng):
    yield Case(_feed_inputs(rng, 7, 11), "x (2, 5, 7), d_ff=11")
    yield Case(_feed_inputs(rng, 7, 3, batch=3), "x (3, 5, 7), d_ff=3")


exercise.parameters(
    "two Dense layers with bias",
    lambda rng: _feed_inputs(rng, one_of(rng, 5, 7, 8), one_of(rng, *range(9, 30))),
    told=("d_model", "d_ff"),
)
exercise.training(lambda rng: _feed_inputs(rng, 5, 3, length=4))

ENTERING = "x @ dense_in_kernel + dense_in_bias"

exercise.mistakes(
    no_relu=edit(HIDDEN, ENTERING, see="04#feed-forward")
    | "There is no ReLU between the two layers, so they collapse into one linear map."
    | "What can two matrices in a row do that their product cannot?",
    gelu=edit(
        f"hidden = {HIDDEN}",
        f"hidden = {ENTERING}\nhidden = hidden * 0.5 * (1 + np.vectorize(math.erf)(hidden / math.sqrt(2)))",
        see="04#feed-forward",
    )
    | "The activation is GELU, as in BERT; this block should use ReLU."
    | "Which function does equation 2 of the paper write as max(0, …)?",
    sigmoid=edit(HIDDEN, f"1 / (1 + np.exp(-({ENTERING})))", see="04#feed-forward")
    | "The activation is a sigmoid; this block should use ReLU."
    | "Which function does equation 2 of the paper write as max(0, …)?",
    relu_on_output=edit(
        "hidden @ dense_out_kernel + dense_out_bias",
        "np.maximum(hidden @ dense_out_kernel + dense_out_bias, 0)",
        see="04#feed-forward",
    )
    | "The output passes a ReLU too; the second layer should be linear."
    | "The result is added to the token. Could it then ever make a feature smaller?",
    no_bias=edit(("+ dense_in_bias", ""), ("+ dense_out_bias", ""), ("kernels + biases", "kernels"))
    | "The Dense layers have no bias; this exercise asks for one.",
    residual_inside=edit("+ dense_out_bias", "+ dense_out_bias + x", see="04#block")
    | "The input is added inside the network; the residual path belongs to the block."
    | "Which of the two parts of the lecture's figure adds, the network or the block around it?",
)

exercise.advice(values="`dense_in` makes d_ff features, ReLU follows, and `dense_out` comes back to d_model.")
exercise.hints(
    values=(
        "Make two `keras.layers.Dense` in `__init__`, and keep them as `self.dense_in` and `self.dense_out`.",
        "How wide is the token between the two layers, and how wide after the second?",
    ),
    parameters="Are both layers used in `call`, and does each have a bias?",
    training="Dense works for any number of leading axes. What else is in `call`?",
)

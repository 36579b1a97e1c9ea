"""Lab 04, exercise `FeedForward`."""

from coursekit.generator import Generator

from autograder.declaring import Case, Exercise, wrong
from autograder.exercises.drawing import normal
from autograder.mistaken import encoder_block as mistaken
from autograder.oracles import encoder_block as oracles


def _feed_inputs(rng: Generator, d_model: int, d_ff: int, batch: int = 2, length: int = 5) -> dict:
    return {
        "d_model": d_model,
        "d_ff": d_ff,
        "x": normal(rng, batch, length, d_model),
        "dense_in.kernel": normal(rng, d_model, d_ff),
        "dense_in.bias": normal(rng, d_ff),
        "dense_out.kernel": normal(rng, d_ff, d_model),
        "dense_out.bias": normal(rng, d_model),
    }


exercise = Exercise("FeedForward", oracle=oracles.feed_forward, mistaken=mistaken.feed_forward, by_mode={"parameters": oracles.feed_forward_parameters}, probe_only=("d_ff", "d_model"))


@exercise.group("right values", points=2, advice="`dense_in` makes d_ff features, ReLU follows, and `dense_out` comes back to d_model.")
def values(rng: Generator) -> list[Case]:
    return [Case(_feed_inputs(rng, 7, 11), description="x (2, 5, 7), d_ff=11"), Case(_feed_inputs(rng, 7, 3, batch=3), description="x (3, 5, 7), d_ff=3")]


@exercise.group("two Dense layers with bias", points=1)
def parameters(rng: Generator) -> list[Case]:
    return [Case(_feed_inputs(rng, 7, 11), mode="parameters", description="trainable parameters, d_model=7, d_ff=11")]


@exercise.group("works inside tf.function, and gradients reach every weight", points=1)
def training(rng: Generator) -> list[Case]:
    inputs = _feed_inputs(rng, 5, 3, length=4)
    return [
        Case(inputs, mode="graph", description="inside tf.function, batch size and length unknown"),
        Case({**inputs, "cotangent.output": normal(rng, 2, 4, 5)}, mode="gradient", description="gradients, compared with numerical ones"),
    ]


exercise.mistakes(
    no_relu=wrong("There is no ReLU between the two layers, so they collapse into one linear map.", activation="none"),
    gelu=wrong("The activation is GELU, as in BERT; this block should use ReLU.", activation="gelu"),
    sigmoid=wrong("The activation is a sigmoid; this block should use ReLU.", activation="sigmoid"),
    relu_on_output=wrong("The output passes a ReLU too; the second layer should be linear.", output_relu=True),
    no_bias=wrong("The Dense layers have no bias; this exercise asks for one.", bias=False),
    residual_inside=wrong("The input is added inside the network; the residual path belongs to the block.", residual=True),
)


exercise.hints("Make two `keras.layers.Dense` in `__init__`, and keep them as `self.dense_in` and `self.dense_out`.", "How wide is the token between the two layers, and how wide after the second?")
exercise.hints("Are both layers used in `call`, and does each have a bias?", group="parameters")
exercise.hints("Dense works for any number of leading axes. What else is in `call`?", group="training")

"""Lab 04, exercise `find_the_bug`."""

from coursekit.generator import Generator

from autograder.declaring import Case, Exercise, wrong
from autograder.exercises.drawing import normal
from autograder.mistaken import encoder_block as mistaken
from autograder.oracles import encoder_block as oracles

AS_GIVEN = "normed_token_carried"

exercise = Exercise("find_the_bug", oracle=oracles.pre_norm_stack, mistaken=mistaken.pre_norm_stack)


def _inputs(rng: Generator, layers: int, *, batch: int = 2, length: int = 5, width: int = 7) -> dict:
    return {"x": 3 * normal(rng, batch, length, width), "scales": 1 + 0.3 * normal(rng, layers, width), "matrices": normal(rng, layers, width, width), "final_scale": 1 + 0.3 * normal(rng, width)}


@exercise.group("one sub-layer", points=1, must_fail_for=(AS_GIVEN,))
def one(rng: Generator) -> list[Case]:
    return [Case(_inputs(rng, 1), description="x (2, 5, 7), one norm and one sub-layer")]


@exercise.group("several sub-layers", points=2, must_fail_for=(AS_GIVEN,))
def several(rng: Generator) -> list[Case]:
    return [Case(_inputs(rng, 3), description="x (2, 5, 7), three norms and sub-layers"), Case(_inputs(rng, 5, batch=3, width=11), description="x (3, 5, 11), five norms and sub-layers")]


exercise.mistakes(
    normed_token_carried=wrong("The sum takes the normalised token. The residual path should carry the token as it came, unchanged.", carried="normed"),
    no_residual=wrong("Nothing is added: each sub-layer's output replaces the token.", carried="nothing"),
    norm_after_sum=wrong("That is post-norm: the norm comes after the sum. Here it should come before the sub-layer.", place="after"),
    sublayer_not_normed=wrong("The sub-layer reads the token as it is; it should read the normalised token.", place="nowhere"),
    final_norm_missing=wrong("The last norm is missing.", final="never"),
    final_norm_in_the_loop=wrong("The last norm comes after every sub-layer; it should come once, after the loop.", final="every time"),
)

exercise.hints(
    "The formula of pre-norm is x + sublayer(norm(x)). In how many places is x, and what does the code put into each of them?",
    "A name that is assigned again has lost its old value. Which value would the last line of the loop need?",
)
exercise.hints("One sub-layer works, several do not. What does the second one get as its x?", group="several")

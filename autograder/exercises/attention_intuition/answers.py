"""Lab 01, exercise `answers`."""

from coursekit.generator import Generator

from autograder.declaring import Case, Exercise, wrong
from autograder.mistaken import attention_intuition as mistaken
from autograder.oracles import attention_intuition as oracles


def _answer(entry: str):
    return lambda rng: [Case({"entry": entry}, description=f'answers["{entry}"]')]


exercise = Exercise("answers", oracle=oracles.hand_calculation, mistaken=mistaken.hand_calculation, reveal=False, tolerance=0.0051)


@exercise.group("the weights by hand", points=1)
def pooling_weights(rng: Generator) -> list[Case]:
    return _answer("pooling_weights")(rng)


@exercise.group("the output by hand", points=1)
def pooling_output(rng: Generator) -> list[Case]:
    return _answer("pooling_output")(rng)


@exercise.group("the shape of the weights", points=1)
def weights_shape(rng: Generator) -> list[Case]:
    return _answer("weights_shape")(rng)


@exercise.group("which score functions learn", points=1)
def learnable(rng: Generator) -> list[Case]:
    return _answer("learnable")(rng)


@exercise.group("how many numbers additive attention learns", points=1)
def additive_parameters(rng: Generator) -> list[Case]:
    return _answer("additive_parameters")(rng)


@exercise.group("what hard attention costs", points=1)
def hard_attention(rng: Generator) -> list[Case]:
    return _answer("hard_attention")(rng)


exercise.mistakes(
    hand_without_2=wrong("The 2 under the squared distance is missing.", kernel="b²"),
    hand_not_squared=wrong("The distance is not squared.", kernel="unsquared"),
    hand_sign_reversed=wrong("The far key has the larger weight: the minus is missing.", kernel="sign"),
    hand_not_normalised=wrong("The kernels have to be divided by their sum.", output="sum"),
    axes_swapped=wrong("Rows are queries. In a translator, do the queries come from the source or from the target?", cross="swapped"),
    thought_self=wrong("That would be self-attention of the target.", cross="target"),
    scaled_dot_thought_learnable=wrong("√d is a constant; nothing in the scaled dot product learns.", learnable=("additive", "general", "location", "scaled dot")),
    location_forgotten=wrong("Location-based scores come from the query alone. What turns the query into scores?", learnable=("additive", "general")),
    cosine_thought_learnable=wrong("A cosine is calculated from q and k; there is nothing to learn in it.", learnable=("cosine", "additive", "general", "location")),
    all_thought_learnable=wrong("Look at the formulas: where is there a letter that is neither q nor k nor their width?", learnable=oracles.SCORE_FUNCTIONS),
    v_forgotten=wrong("The vector v has U numbers too.", counted="no_v"),
    one_projection=wrong("There are two matrices: one for q, one for k.", counted="one_matrix"),
    bias_counted=wrong("There is no bias in the formula.", counted="bias"),
    hard_thought_slow=wrong("Reading one place is less work than reading all of them.", hard="slower"),
    hard_thought_unnormalised=wrong("A one-hot row does sum to 1.", hard="sum"),
    hard_thought_large=wrong("A one-hot row can be stored as one number: its place.", hard="memory"),
)


exercise.hints("Each number takes a line on paper. The lecture has the same calculations with other numbers.")
exercise.hints("Use the weights of the first question, and the two values.", group="pooling_output")
exercise.hints("A row of the matrix is one word that is written.", group="weights_shape")
exercise.hints("In each formula look for a letter that is neither q nor k nor their width. Location-based scores come from the query alone. What turns the query into scores?", group="learnable")
exercise.hints("Write down the shape of each of the three, two matrices and a vector.", group="additive_parameters")
exercise.hints("Move one score a little. What does that change in the result of hard attention?", group="hard_attention")

"""Lab 03, exercise `mha_parameter_count`."""

from coursekit.generator import Generator

from autograder.declaring import Case, Exercise, wrong
from autograder.mistaken import multi_head_attention as mistaken
from autograder.oracles import multi_head_attention as oracles

PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23)


def _counts(*optional: str, use_bias: bool = True):
    """Two cases for `mha_parameter_count` with the given optional sizes; all sizes differ."""

    def draw(rng: Generator) -> list[Case]:
        cases = []
        for _ in range(2):
            heads, size, *others = (int(prime) for prime in rng.permutation(PRIMES)[:4])
            inputs = {"d_model": heads * size, "num_heads": heads, **dict(zip(optional, others, strict=False))}
            cases.append(Case(inputs if use_bias else {**inputs, "use_bias": False}))
        return cases

    return draw


exercise = Exercise("mha_parameter_count", oracle=oracles.mha_parameter_count, mistaken=mistaken.mha_parameter_count)


@exercise.group("no key_dim: the paper's layer", points=1)
def paper(rng: Generator) -> list[Case]:
    return _counts()(rng)


@exercise.group("key_dim given", points=1)
def key_dim(rng: Generator) -> list[Case]:
    return _counts("key_dim")(rng)


@exercise.group("value_dim given, with key_dim and without", points=1)
def value_dim(rng: Generator) -> list[Case]:
    return [*_counts("key_dim", "value_dim")(rng), *_counts("value_dim")(rng)]


@exercise.group("use_bias=False", points=1)
def no_bias(rng: Generator) -> list[Case]:
    return [*_counts(use_bias=False)(rng), *_counts("key_dim", "value_dim", use_bias=False)(rng)]


exercise.mistakes(
    key_dim_defaults_to_d_model=wrong("Without key_dim you count every head as wide as the model; the paper's heads are D/H wide.", default_key="D"),
    value_dim_defaults_to_head=wrong("Without value_dim the values are D/H wide, although key_dim is given. value_dim follows key_dim.", default_value="D/H"),
    value_dim_defaults_to_d_model=wrong("value_dim follows key_dim, not d_model.", default_value="D"),
    value_dim_ignored=wrong("value_dim changes nothing.", values_like_keys=True),
    widths_ignored=wrong("key_dim and value_dim change nothing: you always count D/H.", widths_given=False),
    key_dim_of_all_heads=wrong("key_dim and value_dim are widths of one head; there are num_heads of them.", key_dim_is="all"),
    output_from_keys=wrong("W_O reads the merged heads: H values side by side, so its size depends on value_dim, not on key_dim.", output_from="keys"),
    no_output_matrix=wrong("W_O is missing.", output_matrix=False),
    no_output_bias=wrong("The bias of W_O is missing.", output_bias="none"),
    no_bias=wrong("No bias is counted; with use_bias=True there are four.", output_bias="no bias anywhere"),
    output_bias_of_heads=wrong("The bias of W_O is as wide as its output, d_model; you count one for its input.", output_bias="inner"),
    bias_of_one_head=wrong("The biases of queries, keys and values are counted for one head; there are num_heads of them.", bias_heads="one"),
    every_bias_d_model=wrong("Every bias is counted as d_model wide. A bias is as wide as the output of its projection: H·key_dim or H·value_dim.", bias_widths="D"),
    bias_always=wrong("use_bias=False changes nothing.", bias_always=True),
    two_projections=wrong("One of W_Q and W_K is missing.", projections=1),
)


exercise.hints(
    "Write down the shapes of the four matrices and of their four biases, then add up.", "W_Q and W_K are (D, H·key_dim), W_V is (D, H·value_dim). What does W_O read, and what does it write?"
)
exercise.hints("Which of the four matrices have H·key_dim on one side? And when no value_dim is given, what is it?", group="key_dim")
exercise.hints("Which two matrices have H·value_dim on one side?", group="value_dim")
exercise.hints("Count the matrices and the biases apart, and add the second only when it is asked for.", group="no_bias")

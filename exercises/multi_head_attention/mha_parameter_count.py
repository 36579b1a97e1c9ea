"""Lab 03, exercise `mha_parameter_count`."""

from autograder.declaring import Case, Exercise, wrong
from coursekit.generator import Generator

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


exercise = Exercise("mha_parameter_count", call=("d_model", "num_heads"), optional=("key_dim", "value_dim", "use_bias"))


@exercise.formula
def mha_parameter_count(
    d_model: int, num_heads: int, key_dim: int | None = None, value_dim: int | None = None, use_bias: bool = True
) -> int:
    """Weights of W_Q, W_K (D, H·key_dim), W_V (D, H·value_dim) and W_O (H·value_dim, D), with their biases.

    The sizes are those of `keras.layers.MultiHeadAttention`; the paper's are key_dim = value_dim = D/H.
    """
    key_dim = d_model // num_heads if key_dim is None else key_dim
    keys, values = num_heads * key_dim, num_heads * (key_dim if value_dim is None else value_dim)
    kernels = 2 * d_model * keys + d_model * values + values * d_model
    biases = 2 * keys + values + d_model
    return kernels + biases if use_bias else kernels


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


KEY_DIM = "d_model // num_heads if key_dim is None else key_dim"
VALUE_DIM = "key_dim if value_dim is None else value_dim"
BIASES = "2 * keys + values + d_model"

exercise.mistakes(
    key_dim_defaults_to_d_model=wrong(
        "Without key_dim you count every head as wide as the model; the paper's heads are D/H wide.",
        (KEY_DIM, "d_model if key_dim is None else key_dim"),
        hint="All heads side by side are as wide as the model. How wide is one?",
        see="03#key-dim",
    ),
    value_dim_defaults_to_head=wrong(
        "Without value_dim the values are D/H wide, although key_dim is given. value_dim follows key_dim.",
        (VALUE_DIM, "d_model // num_heads if value_dim is None else value_dim"),
    ),
    value_dim_defaults_to_d_model=wrong(
        "value_dim follows key_dim, not d_model.", (VALUE_DIM, "d_model if value_dim is None else value_dim")
    ),
    value_dim_ignored=wrong("value_dim changes nothing.", (VALUE_DIM, "key_dim")),
    widths_ignored=wrong(
        "key_dim and value_dim change nothing: you always count D/H.",
        (KEY_DIM, "d_model // num_heads"),
        (VALUE_DIM, "key_dim"),
    ),
    key_dim_of_all_heads=wrong(
        "key_dim and value_dim are widths of one head; there are num_heads of them.",
        (
            f"key_dim = {KEY_DIM}",
            "num_heads, key_dim = (num_heads, d_model // num_heads) if key_dim is None else (1, key_dim)",
        ),
        hint="With key_dim=64 and 8 heads, how many columns does W_Q have?",
        see="03#key-dim",
    ),
    output_from_keys=wrong(
        "W_O reads the merged heads: H values side by side, so its size depends on value_dim, not on key_dim.",
        ("values * d_model", "keys * d_model"),
        hint="Which of q, k and v do the weights mix, and how wide is therefore what a head returns?",
        see="03#key-dim",
    ),
    no_output_matrix=wrong(
        "W_O is missing.",
        ("+ values * d_model", ""),
        ("+ values + d_model", "+ values"),
        hint="How many matrices does the layer have? Count those on the lecture's picture.",
        see="03#key-dim",
    ),
    no_output_bias=wrong("The bias of W_O is missing.", (BIASES, "2 * keys + values")),
    no_bias=wrong(
        "No bias is counted; with use_bias=True there are four.",
        ("kernels + biases if use_bias else kernels", "kernels"),
    ),
    output_bias_of_heads=wrong(
        "The bias of W_O is as wide as its output, d_model; you count one for its input.",
        (BIASES, "2 * keys + values + values"),
    ),
    bias_of_one_head=wrong(
        "The biases of queries, keys and values are counted for one head; there are num_heads of them.",
        (BIASES, "(2 * keys + values) // num_heads + d_model"),
    ),
    every_bias_d_model=wrong(
        "Every bias is counted as d_model wide. A bias is as wide as the output of its projection: "
        "H·key_dim or H·value_dim.",
        (BIASES, "4 * d_model"),
    ),
    bias_always=wrong(
        "use_bias=False changes nothing.", ("kernels + biases if use_bias else kernels", "kernels + biases")
    ),
    two_projections=wrong(
        "One of W_Q and W_K is missing.", ("2 * d_model * keys", "d_model * keys"), ("2 * keys", "keys")
    ),
)


exercise.hints(
    "Write down the shapes of the four matrices and of their four biases, then add up.",
    "W_Q and W_K are (D, H·key_dim), W_V is (D, H·value_dim). What does W_O read, and what does it write?",
)
exercise.hints(
    "Which of the four matrices have H·key_dim on one side? And when no value_dim is given, what is it?",
    group="key_dim",
)
exercise.hints("Which two matrices have H·value_dim on one side?", group="value_dim")
exercise.hints(
    "Count the matrices and the biases apart, and add the second only when it is asked for.", group="no_bias"
)

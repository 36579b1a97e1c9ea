"""Lab 03, exercise `mha_parameter_count`."""

from autograder.declare import Case, Exercise, edit

PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23)


def _counts(*optional: str, use_bias: bool = True):
    """Two cases for `mha_parameter_count` with the given optional sizes; all sizes differ."""

    def draw(rng) -> list[Case]:
        cases = []
        for _ in range(2):
            heads, size, *others = (int(prime) for prime in rng.permutation(PRIMES)[:4])
            inputs = {"d_model": heads * size, "num_heads": heads, **dict(zip(optional, others, strict=False))}
            cases.append(Case(inputs if use_bias else {**inputs, "use_bias": False}))
        return cases

    return draw


exercise = Exercise("mha_parameter_count")


@exercise.formula
def mha_parameter_count(d_model, num_heads, key_dim=None, value_dim=None, use_bias=True):
    """Weights of W_Q, W_K (D, H·key_dim), W_V (D, H·value_dim) and W_O (H·value_dim, D), with their biases.

    The sizes are those of `keras.layers.MultiHeadAttention`; the paper's are key_dim = value_dim = D/H.
    """
    key_dim = d_model // num_heads if key_dim is None else key_dim
    keys, values = num_heads * key_dim, num_heads * (key_dim if value_dim is None else value_dim)
    kernels = 2 * d_model * keys + d_model * values + values * d_model
    biases = 2 * keys + values + d_model
    return kernels + biases if use_bias else kernels


exercise.group("no key_dim: the paper's layer", paper=_counts())


@exercise.group("key_dim given")
def key_dim(rng):
    return _counts("key_dim")(rng)


@exercise.group("value_dim given, with key_dim and without")
def value_dim(rng):
    return [*_counts("key_dim", "value_dim")(rng), *_counts("value_dim")(rng)]


exercise.group(
    "use_bias=False",
    no_bias=lambda rng: [*_counts(use_bias=False)(rng), *_counts("key_dim", "value_dim", use_bias=False)(rng)],
)
KEY_DIM = "d_model // num_heads if key_dim is None else key_dim"
VALUE_DIM = "key_dim if value_dim is None else value_dim"
BIASES = "2 * keys + values + d_model"

exercise.mistakes(
    key_dim_defaults_to_d_model=edit(KEY_DIM, "d_model if key_dim is None else key_dim", see="03#key-dim")
    | "Without key_dim you count every head as wide as the model; the paper's heads are D/H wide."
    | "All heads side by side are as wide as the model. How wide is one?",
    value_dim_defaults_to_head=edit(VALUE_DIM, "d_model // num_heads if value_dim is None else value_dim")
    | "Without value_dim the values are D/H wide, although key_dim is given. value_dim follows key_dim.",
    value_dim_defaults_to_d_model=edit(VALUE_DIM, "d_model if value_dim is None else value_dim")
    | "value_dim follows key_dim, not d_model.",
    value_dim_ignored=edit(VALUE_DIM, "key_dim") | "value_dim changes nothing.",
    widths_ignored=edit((KEY_DIM, "d_model // num_heads"), (VALUE_DIM, "key_dim"))
    | "key_dim and value_dim change nothing: you always count D/H.",
    key_dim_of_all_heads=edit(
        f"key_dim = {KEY_DIM}",
        "num_heads, key_dim = (num_heads, d_model // num_heads) if key_dim is None else (1, key_dim)",
        see="03#key-dim",
    )
    | "key_dim and value_dim are widths of one head; there are num_heads of them."
    | "With key_dim=64 and 8 heads, how many columns does W_Q have?",
    output_from_keys=edit("values * d_model", "keys * d_model", see="03#key-dim")
    | "W_O reads the merged heads: H values side by side, so its size depends on value_dim, not on key_dim."
    | "Which of q, k and v do the weights mix, and how wide is therefore what a head returns?",
    no_output_matrix=edit(("+ values * d_model", ""), ("+ values + d_model", "+ values"), see="03#key-dim")
    | "W_O is missing."
    | "How many matrices does the layer have? Count those on the lecture's picture.",
    no_output_bias=edit(BIASES, "2 * keys + values") | "The bias of W_O is missing.",
    no_bias=edit("kernels + biases if use_bias else kernels", "kernels")
    | "No bias is counted; with use_bias=True there are four.",
    output_bias_of_heads=edit(BIASES, "2 * keys + values + values")
    | "The bias of W_O is as wide as its output, d_model; you count one for its input.",
    bias_of_one_head=edit(BIASES, "(2 * keys + values) // num_heads + d_model")
    | "The biases of queries, keys and values are counted for one head; there are num_heads of them.",
    every_bias_d_model=edit(BIASES, "4 * d_model")
    | "Every bias is counted as d_model wide. A bias is as wide as the output of its projection: H·key_dim or "
    "H·value_dim.",
    bias_always=edit("kernels + biases if use_bias else kernels", "kernels + biases")
    | "use_bias=False changes nothing.",
    two_projections=edit(("2 * d_model * keys", "d_model * keys"), ("2 * keys", "keys"))
    | "One of W_Q and W_K is missing.",
)

exercise.hints(
    paper=(
        "Write down the shapes of the four matrices and of their four biases, then add up.",
        "W_Q and W_K are (D, H·key_dim), W_V is (D, H·value_dim). What does W_O read, and what does it write?",
    ),
    key_dim="Which of the four matrices have H·key_dim on one side? And when no value_dim is given, what is it?",
    value_dim="Which two matrices have H·value_dim on one side?",
    no_bias="Count the matrices and the biases apart, and add the second only when it is asked for.",
)

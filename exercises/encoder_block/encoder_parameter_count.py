"""Lab 04, exercise `encoder_parameter_count`."""

from autograder.declaring import Case, Exercise, wrong
from coursekit.generator import Generator

exercise = Exercise(
    "encoder_parameter_count", call=("d_model", "num_heads", "d_ff"), optional=("key_dim",), reveal=False
)


@exercise.formula
def encoder_parameter_count(d_model: int, num_heads: int, d_ff: int, key_dim: int | None = None) -> int:
    """Trainable numbers of a block: attention 3·(D·HK + HK) + HK·D + D, feed-forward 2·DF + F + D, norms 4·D."""
    key_dim = d_model // num_heads if key_dim is None else key_dim
    width = num_heads * key_dim
    attention = 3 * (d_model * width + width) + width * d_model + d_model
    feed_forward = 2 * d_model * d_ff + d_ff + d_model
    norms = 2 * 2 * d_model
    return attention + feed_forward + norms


@exercise.group("right counts with key_dim = D/H", points=1)
def values(rng: Generator) -> list[Case]:
    cases = []
    for heads in (3, 5, 2):
        width = int(rng.integers(7, 30))
        cases.append({"d_model": heads * width, "num_heads": heads, "d_ff": int(rng.integers(31, 400))})
    return [Case(case) for case in cases]


@exercise.group("right counts with a key_dim of its own", points=1)
def key_dim(rng: Generator) -> list[Case]:
    cases = [{"d_model": 32, "num_heads": 2, "d_ff": 32, "key_dim": 32}]
    for heads in (3, 7):
        sizes = {"d_model": heads * int(rng.integers(5, 20)), "num_heads": heads, "d_ff": int(rng.integers(31, 400))}
        cases.append({**sizes, "key_dim": int(rng.integers(21, 60))})
    without = {"d_model": 4 * int(rng.integers(5, 20)), "num_heads": 4, "d_ff": int(rng.integers(31, 400))}
    return [Case(case) for case in (*cases, without)]  # the last key_dim is not kept


KEY_DIM = "key_dim = d_model // num_heads if key_dim is None else key_dim"
INPUTS = "d_model * width + width"
OUTPUT = "+ width * d_model + d_model"

exercise.mistakes(
    default_key_dim_is_d_model=wrong(
        "Without `key_dim` each head has D/H features, not D.",
        (KEY_DIM, "key_dim = d_model if key_dim is None else key_dim"),
        hint="All heads side by side are as wide as the token. How wide is one of them?",
        see="03#key-dim",
    ),
    key_dim_ignored=wrong("The argument `key_dim` changes nothing.", (KEY_DIM, "key_dim = d_model // num_heads")),
    heads_not_counted=wrong(
        "The number of heads is missing: all heads together are H·key_dim wide.",
        ("num_heads * key_dim", "key_dim"),
        hint="With 8 heads of width 64, how many columns does the matrix of the queries have?",
        see="03#key-dim",
    ),
    key_dim_of_all_heads=wrong(
        "If key_dim is given, it is the width of each head: all heads together are H·key_dim wide.",
        (KEY_DIM, "num_heads, key_dim = (num_heads, d_model // num_heads) if key_dim is None else (1, key_dim)"),
        hint="With 8 heads of width 64, how many columns does the matrix of the queries have?",
        see="03#key-dim",
    ),
    half_the_norms=wrong(
        "2·D numbers are missing: there are two layer norms, and each has two vectors, gamma and beta.",
        ("2 * 2 * d_model", "2 * d_model"),
        hint="What does one layer norm learn, and how many layer norms does the block have?",
        see="04#parameters",
    ),
    biases_of_width_d=wrong(
        "The biases of queries, keys and values are counted with D numbers each; "
        "they have H·key_dim, as many as their matrix has outputs.",
        (INPUTS, "d_model * width + d_model"),
        hint="A bias is added to what its matrix returns. How wide is that?",
        see="04#parameters",
    ),
    attention_without_bias=wrong(
        "The biases of the attention are missing.", (INPUTS, "d_model * width"), (OUTPUT, "+ width * d_model")
    ),
    output_bias_too_wide=wrong(
        "The bias of the output projection has the width of its output, D.", (OUTPUT, "+ width * d_model + width")
    ),
    no_biases=wrong(
        "All biases are missing, those of the attention and those of the feed-forward network.",
        (INPUTS, "d_model * width"),
        (OUTPUT, "+ width * d_model"),
        ("2 * d_model * d_ff + d_ff + d_model", "2 * d_model * d_ff"),
    ),
    projections_for_each_head=wrong(
        "The projections are counted H times. A matrix of H·key_dim columns holds those of all heads.",
        (f"3 * ({INPUTS})", f"3 * num_heads * ({INPUTS})"),
    ),
    one_bias_missing=wrong(
        "D numbers are missing: the output projection and the second Dense layer have a bias of width D each.",
        (OUTPUT, "+ width * d_model"),
    ),
    two_projections_for_three=wrong(
        "One of queries, keys and values is missing: each has a matrix and a bias.",
        (f"3 * ({INPUTS})", f"2 * ({INPUTS})"),
    ),
    no_output_projection=wrong(
        "A projection of the attention is missing: that of its output, or one of queries, keys and values.",
        (OUTPUT, ""),
    ),
    feed_forward_without_bias=wrong(
        "The biases of the feed-forward network are missing.",
        ("2 * d_model * d_ff + d_ff + d_model", "2 * d_model * d_ff"),
    ),
    feed_forward_biases_wide=wrong(
        "Both biases of the feed-forward network have F numbers in your sum. The second belongs to its result, D wide.",
        ("2 * d_model * d_ff + d_ff + d_model", "2 * d_model * d_ff + 2 * d_ff"),
        hint="A bias is added to what its matrix returns. How wide is that?",
    ),
    norms_of_two_numbers=wrong(
        "Each norm is counted with two numbers. gamma and beta have one for each feature.",
        ("2 * 2 * d_model", "2 * 2"),
        see="04#parameters",
    ),
    norms_missing=wrong("The two layer norms are missing.", ("2 * 2 * d_model", "0")),
    final_norm_counted=wrong(
        "A third layer norm is counted: the final norm of a pre-norm stack is not part of a block.",
        ("2 * 2 * d_model", "3 * 2 * d_model"),
    ),
)


exercise.hints(
    "Lecture 4 adds up this sum for one block, line by line.",
    "Queries, keys and values are each a matrix from D to H·key_dim, with a bias; the output projection comes back"
    " to D.",
    "Dropout and residual paths have no parameters. Each norm has one number for each feature in gamma, and one in"
    " beta.",
)
exercise.hints(
    "With a key_dim of its own the heads together are H·key_dim wide. Which of the matrices and biases have this"
    " width?",
    group="key_dim",
)

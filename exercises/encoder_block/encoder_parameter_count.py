"""Lab 04, exercise `encoder_parameter_count`."""

from autograder.declare import Case, Exercise, edit

exercise = Exercise("encoder_parameter_count", reveal=False)


@exercise.formula
def encoder_parameter_count(d_model: int, num_heads: int, d_ff: int, key_dim: int | None = None) -> int:
    """Trainable numbers of a block: attention 3·(D·HK + HK) + HK·D + D, feed-forward 2·DF + F + D, norms 4·D."""
    key_dim = d_model // num_heads if key_dim is None else key_dim
    width = num_heads * key_dim
    attention = 3 * (d_model * width + width) + width * d_model + d_model
    feed_forward = 2 * d_model * d_ff + d_ff + d_model
    norms = 2 * 2 * d_model
    return attention + feed_forward + norms


@exercise.group("right counts with key_dim = D/H")
def values(rng):
    cases = []
    for heads in (3, 5, 2):
        width = int(rng.integers(7, 30))
        cases.append({"d_model": heads * width, "num_heads": heads, "d_ff": int(rng.integers(31, 400))})
    return [Case(case) for case in cases]


@exercise.group("right counts with a key_dim of its own")
def key_dim(rng):
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
    default_key_dim_is_d_model=edit(KEY_DIM, "key_dim = d_model if key_dim is None else key_dim", see="03#key-dim")
    | "Without `key_dim` each head has D/H features, not D."
    | "All heads side by side are as wide as the token. How wide is one of them?",
    key_dim_ignored=edit(KEY_DIM, "key_dim = d_model // num_heads") | "The argument `key_dim` changes nothing.",
    heads_not_counted=edit("num_heads * key_dim", "key_dim", see="03#key-dim")
    | "The number of heads is missing: all heads together are H·key_dim wide."
    | "With 8 heads of width 64, how many columns does the matrix of the queries have?",
    key_dim_of_all_heads=edit(
        KEY_DIM,
        "num_heads, key_dim = (num_heads, d_model // num_heads) if key_dim is None else (1, key_dim)",
        see="03#key-dim",
    )
    | "If key_dim is given, it is the width of each head: all heads together are H·key_dim wide."
    | "With 8 heads of width 64, how many columns does the matrix of the queries have?",
    half_the_norms=edit("2 * 2 * d_model", "2 * d_model", see="04#parameters")
    | "2·D numbers are missing: there are two layer norms, and each has two vectors, gamma and beta."
    | "What does one layer norm learn, and how many layer norms does the block have?",
    biases_of_width_d=edit(INPUTS, "d_model * width + d_model", see="04#parameters")
    | "The biases of queries, keys and values are counted with D numbers each; they have H·key_dim, as many as their "
    "matrix has outputs." | "A bias is added to what its matrix returns. How wide is that?",
    attention_without_bias=edit((INPUTS, "d_model * width"), (OUTPUT, "+ width * d_model"))
    | "The biases of the attention are missing.",
    output_bias_too_wide=edit(OUTPUT, "+ width * d_model + width")
    | "The bias of the output projection has the width of its output, D.",
    no_biases=edit(INPUTS, "d_model * width")
    | edit(OUTPUT, "+ width * d_model")
    | edit("2 * d_model * d_ff + d_ff + d_model", "2 * d_model * d_ff")
    | "All biases are missing, those of the attention and those of the feed-forward network.",
    projections_for_each_head=edit(f"3 * ({INPUTS})", f"3 * num_heads * ({INPUTS})")
    | "The projections are counted H times. A matrix of H·key_dim columns holds those of all heads.",
    one_bias_missing=edit(OUTPUT, "+ width * d_model")
    | "D numbers are missing: the output projection and the second Dense layer have a bias of width D each.",
    two_projections_for_three=edit(f"3 * ({INPUTS})", f"2 * ({INPUTS})")
    | "One of queries, keys and values is missing: each has a matrix and a bias.",
    no_output_projection=edit(OUTPUT, "")
    | "A projection of the attention is missing: that of its output, or one of queries, keys and values.",
    feed_forward_without_bias=edit("2 * d_model * d_ff + d_ff + d_model", "2 * d_model * d_ff")
    | "The biases of the feed-forward network are missing.",
    feed_forward_biases_wide=edit("2 * d_model * d_ff + d_ff + d_model", "2 * d_model * d_ff + 2 * d_ff")
    | "Both biases of the feed-forward network have F numbers in your sum. The second belongs to its result, D wide."
    | "A bias is added to what its matrix returns. How wide is that?",
    norms_of_two_numbers=edit("2 * 2 * d_model", "2 * 2", see="04#parameters")
    | "Each norm is counted with two numbers. gamma and beta have one for each feature.",
    norms_missing=edit("2 * 2 * d_model", "0") | "The two layer norms are missing.",
    final_norm_counted=edit("2 * 2 * d_model", "3 * 2 * d_model")
    | "A third layer norm is counted: the final norm of a pre-norm stack is not part of a block.",
)

exercise.hints(
    values=(
        "Lecture 4 adds up this sum for one block, line by line.",
        "Queries, keys and values are each a matrix from D to H·key_dim, with a bias; the output projection comes "
        "back to D.",
        "Dropout and residual paths have no parameters. Each norm has one number for each feature in gamma, and one "
        "in beta.",
    ),
    key_dim="With a key_dim of its own the heads together are H·key_dim wide. Which of the matrices and biases have "
    "this width?",
)

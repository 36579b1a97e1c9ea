"""Lab 04, exercise `encoder_parameter_count`."""

from coursekit.generator import Generator

from autograder.declaring import Case, Exercise, wrong
from autograder.mistaken import encoder_block as mistaken
from autograder.oracles import encoder_block as oracles

exercise = Exercise("encoder_parameter_count", oracle=oracles.encoder_parameter_count, mistaken=mistaken.encoder_parameter_count, reveal=False)


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
    return [Case(case) for case in cases]


exercise.mistakes(
    default_key_dim_is_d_model=wrong("Without `key_dim` each head has D/H features, not D.", default_key_dim="D"),
    key_dim_ignored=wrong("The argument `key_dim` changes nothing.", key_dim_ignored=True),
    heads_not_counted=wrong("The number of heads is missing: all heads together are H·key_dim wide.", heads_counted=False),
    key_dim_of_all_heads=wrong("If key_dim is given, it is the width of each head: all heads together are H·key_dim wide.", key_dim_is="of all heads"),
    half_the_norms=wrong("2·D numbers are missing: there are two layer norms, and each has two vectors, gamma and beta.", per_norm=1),
    biases_of_width_d=wrong("The biases of queries, keys and values are counted with D numbers each; they have H·key_dim, as many as their matrix has outputs.", bias_width="D"),
    attention_without_bias=wrong("The biases of the attention are missing.", attention_bias=False),
    output_bias_too_wide=wrong("The bias of the output projection has the width of its output, D.", output_bias="HK"),
    one_bias_missing=wrong("D numbers are missing: the output projection and the second Dense layer have a bias of width D each.", output_bias="none"),
    no_output_projection=wrong("The output projection of the attention is missing.", output_projection=False),
    feed_forward_without_bias=wrong("The biases of the feed-forward network are missing.", feed_forward_bias=False),
    norms_missing=wrong("The two layer norms are missing.", norms=0),
    final_norm_counted=wrong("A third layer norm is counted: the final norm of a pre-norm stack is not part of a block.", norms=3),
)


exercise.hints(
    "Section 9 of the lecture adds up this sum for one block, line by line.",
    "Queries, keys and values are each a matrix from D to H·key_dim, with a bias; the output projection comes back to D.",
    "Dropout and residual paths have no parameters. Each norm has one number for each feature in gamma, and one in beta.",
)
exercise.hints("With a key_dim of its own the heads together are H·key_dim wide. Which of the matrices and biases have this width?", group="key_dim")

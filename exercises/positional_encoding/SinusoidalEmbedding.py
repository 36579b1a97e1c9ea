"""Lab 05, exercise `SinusoidalEmbedding`."""

import math
from dataclasses import replace

from autograder.declare import Exercise, edit
from exercises.positional_encoding import shared
from exercises.positional_encoding.shared import embeddings, sinusoidal_table, with_positions

SINUSOIDAL = embeddings(6, learned=False)

exercise = Exercise(
    "SinusoidalEmbedding", own_probe=True, tolerance=shared.ANGLE_TOLERANCE / 4, uses=("sinusoidal_positions",)
)


@exercise.formula
def sinusoidal_embedding(ids, max_length, d_model, token_embedding_embeddings):
    """Token vector times √D plus sinusoidal position (Vaswani et al. 2017, sections 3.4, 3.5): (B, T) -> (B, T, D)."""
    tokens = token_embedding_embeddings[ids] * math.sqrt(d_model)  # (B, T, D)
    table = sinusoidal_table(max_length, d_model).astype(tokens.dtype)  # (max_length, D)
    return {"output": with_positions(tokens, table, ids)}


@exercise.formula_for("parameters")
def number_of_parameters(vocab_size: int, max_length: int, d_model: int) -> dict[str, int]:
    """A table of tokens; the positions are fixed, however many there are."""
    return {"trainable_parameters": vocab_size * d_model}


FACTOR = "* math.sqrt(d_model)"

exercise.group("right values at full length", points=2, values=SINUSOIDAL["values"])
exercise.group("sequences shorter than max_length", shorter=SINUSOIDAL["shorter"])
exercise.group("only the words are trained", parameters=SINUSOIDAL["parameters"])
exercise.group("works inside tf.function, and gradients reach the word table", training=SINUSOIDAL["training"])
exercise.group("survives a get_config round trip", reload=SINUSOIDAL["reload"])

exercise.mistakes(
    **shared.EMBEDDING_MISTAKES
    | {
        "position_one_based": replace(
            shared.EMBEDDING_MISTAKES["position_one_based"],
            edits=edit(shared.POSITIONS, "np.arange(1, length + 1)[:, None]").edits,
        )
    },
    position_by_id=edit(shared.ROWS, "table[ids]")
    | "The rows of the position table are chosen by the token ids. Take rows 0, 1, 2, …, T − 1.",
    unscaled=edit(FACTOR, "") | "The word vectors are not multiplied by √D.",
    scaled_by_width=edit(FACTOR, "* d_model")
    | "The word vectors are multiplied by D; multiply them by the square root of D.",
    divided_by_root=edit(FACTOR, "/ math.sqrt(d_model)")
    | "The word vectors are divided by √D; they should be multiplied by it.",
    scaled_position_too=edit("astype(tokens.dtype)", "astype(tokens.dtype) * math.sqrt(d_model)")
    | "The positions are multiplied by √D as well; only the word vectors should be.",
    positions_trainable=edit("vocab_size * d_model", "(vocab_size + max_length) * d_model")
    | "The position table is trainable; sinusoidal positions are fixed.",
    exponent_halved=shared.HALF_EXPONENT,
    cos_first=shared.COS_FIRST,
    sines_then_cosines=shared.HALVES,
)

exercise.advice(
    shorter="The length comes from the ids of this call: take the first T rows of the table.",
    training="Inside tf.function the length is not known in advance. Make the table once, for max_length, as a tensor "
    "(`ops.convert_to_tensor`), and slice it in `call`: a NumPy array cannot be sliced with a tensor.",
)
exercise.hints(
    values=(
        "There is only one Embedding. The positions are the table of `sinusoidal_positions`, made once in `__init__` "
        "for max_length rows.",
        "Scale the word vectors alone, then add the first T rows of the table.",
        "Keep the table as a NumPy array or a constant of float32: it is then not a weight, and is not trained.",
    ),
    shorter="Which rows of the table belong to 7 tokens, when the table has 17?",
    parameters="What counts as trained: a layer, a variable, an array?",
    training="To slice an array you need a number. Inside the graph the length is a tensor: what can be sliced with "
    "it?",
    reload="Is the table made in `__init__` from the arguments alone?",
)

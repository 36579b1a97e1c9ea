"""Lab 05, exercise `TokenAndPositionEmbedding`."""

import numpy as np

from autograder.declaring import Case, Exercise, wrong
from coursekit.generator import Generator
from exercises.positional_encoding.shared import EMBEDDING_MISTAKES, ROWS, embeddings, with_positions

LEARNED = embeddings(5, learned=True)


exercise = Exercise("TokenAndPositionEmbedding")


@exercise.formula
def token_and_position(
    ids: np.ndarray, token_embedding_embeddings: np.ndarray, position_embedding_embeddings: np.ndarray
) -> dict[str, np.ndarray]:
    """Token vector plus learned position vector: ids (B, T) -> ``output`` (B, T, D)."""
    tokens = token_embedding_embeddings[ids]  # (B, T, D)
    return {"output": with_positions(tokens, position_embedding_embeddings, ids)}


@exercise.formula_for("parameters")
def number_of_parameters(vocab_size: int, max_length: int, d_model: int) -> dict[str, int]:
    """A table of tokens and a table of positions."""
    return {"trainable_parameters": (vocab_size + max_length) * d_model}


@exercise.group("right values at full length", points=2)
def values(rng: Generator) -> list[Case]:
    return LEARNED["values"](rng)


@exercise.group(
    "sequences shorter than max_length",
    points=1,
    advice="The length comes from the ids of this call: look up positions 0 to T − 1.",
)
def shorter(rng: Generator) -> list[Case]:
    return LEARNED["shorter"](rng)


@exercise.group("two tables that are trained", points=1)
def parameters(rng: Generator) -> list[Case]:
    return LEARNED["parameters"](rng)


@exercise.group(
    "works inside tf.function, and gradients reach both tables",
    points=1,
    advice="Inside tf.function `ids.shape[1]` may be None; `ops.shape(ids)[1]` is not.",
)
def training(rng: Generator) -> list[Case]:
    return LEARNED["training"](rng)


@exercise.group("survives a get_config round trip", points=1)
def reload(rng: Generator) -> list[Case]:
    return LEARNED["reload"](rng)


exercise.mistakes(
    **EMBEDDING_MISTAKES,
    position_by_id=wrong(
        "The position table is looked up with the token ids. It should be looked up with 0, 1, 2, …, T − 1.",
        (ROWS, "table[ids]"),
    ),
    tables_exchanged=wrong(
        "The tables are exchanged: token ids look up `position_embedding`, and positions `token_embedding`.",
        ("token_embedding_embeddings[ids]", "position_embedding_embeddings[ids]"),
        (
            "with_positions(tokens, position_embedding_embeddings, ids)",
            "with_positions(tokens, token_embedding_embeddings, ids)",
        ),
    ),
    scaled_by_root=wrong(
        "The word vectors are multiplied by √D. Here they should not be: both tables are learned.",
        (
            "token_embedding_embeddings[ids]",
            "token_embedding_embeddings[ids] * token_embedding_embeddings.shape[-1] ** 0.5",
        ),
    ),
    positions_frozen=wrong(
        "Only one of the two tables counts as trainable: the position table has to be a trained "
        "keras.layers.Embedding.",
        ("(vocab_size + max_length) * d_model", "vocab_size * d_model"),
    ),
)


exercise.hints(
    "Two keras.layers.Embedding: one with vocab_size rows, one with max_length rows, both of width d_model.",
    "An Embedding turns any array of integers into vectors. Which integers are the positions of T tokens?",
    "(B, T, D) + (T, D) broadcasts over the batch. The T of this call is ops.shape(ids)[1].",
)
exercise.hints("Which positions do the tokens of a short sequence have?", group="shorter")
exercise.hints(
    "Is each of the two tables an Embedding with its own number of rows, and is each of them called?",
    group="parameters",
)
exercise.hints(
    "Inside the graph `ids.shape[1]` may be None. Which function gives the length instead?", group="training"
)
exercise.hints(
    "Leave the three attributes and `get_config` as they are; make the tables from the arguments.", group="reload"
)

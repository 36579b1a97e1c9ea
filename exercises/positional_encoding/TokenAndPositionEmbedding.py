"""Lab 05, exercise `TokenAndPositionEmbedding`."""

from autograder.declare import Exercise, edit
from exercises.positional_encoding.shared import EMBEDDING_MISTAKES, ROWS, embeddings, with_positions

LEARNED = embeddings(5, learned=True)

exercise = Exercise("TokenAndPositionEmbedding", own_probe=True)


@exercise.formula
def token_and_position(ids, token_embedding_embeddings, position_embedding_embeddings):
    """Token vector plus learned position vector: ids (B, T) -> ``output`` (B, T, D)."""
    tokens = token_embedding_embeddings[ids]  # (B, T, D)
    return {"output": with_positions(tokens, position_embedding_embeddings, ids)}


@exercise.formula_for("parameters")
def number_of_parameters(vocab_size: int, max_length: int, d_model: int) -> dict[str, int]:
    """A table of tokens and a table of positions."""
    return {"trainable_parameters": (vocab_size + max_length) * d_model}


exercise.group("right values at full length", points=2, values=LEARNED["values"])
exercise.group("sequences shorter than max_length", shorter=LEARNED["shorter"])
exercise.group("two tables that are trained", parameters=LEARNED["parameters"])
exercise.group("works inside tf.function, and gradients reach both tables", training=LEARNED["training"])
exercise.group("survives a get_config round trip", reload=LEARNED["reload"])

exercise.mistakes(
    **EMBEDDING_MISTAKES,
    position_by_id=edit(ROWS, "table[ids]")
    | "The position table is looked up with the token ids. It should be looked up with 0, 1, 2, …, T − 1.",
    tables_exchanged=edit("token_embedding_embeddings[ids]", "position_embedding_embeddings[ids]")
    | edit("(tokens, position_embedding_embeddings, ids)", "(tokens, token_embedding_embeddings, ids)")
    | "The tables are exchanged: token ids look up `position_embedding`, and positions `token_embedding`.",
    scaled_by_root=edit("[ids]", "[ids] * token_embedding_embeddings.shape[-1] ** 0.5")
    | "The word vectors are multiplied by √D. Here they should not be: both tables are learned.",
    positions_frozen=edit("(vocab_size + max_length) * d_model", "vocab_size * d_model")
    | "Only one of the two tables counts as trainable: the position table has to be a trained keras.layers.Embedding.",
)

exercise.advice(
    shorter="The length comes from the ids of this call: look up positions 0 to T − 1.",
    training="Inside tf.function `ids.shape[1]` may be None; `ops.shape(ids)[1]` is not.",
)
exercise.hints(
    values=(
        "Two keras.layers.Embedding: one with vocab_size rows, one with max_length rows, both of width d_model.",
        "An Embedding turns any array of integers into vectors. Which integers are the positions of T tokens?",
        "(B, T, D) + (T, D) broadcasts over the batch. The T of this call is ops.shape(ids)[1].",
    ),
    shorter="Which positions do the tokens of a short sequence have?",
    parameters="Is each of the two tables an Embedding with its own number of rows, and is each of them called?",
    training="Inside the graph `ids.shape[1]` may be None. Which function gives the length instead?",
    reload="Leave the three attributes and `get_config` as they are; make the tables from the arguments.",
)

"""Lab 05, exercise `TokenAndPositionEmbedding`."""

from coursekit.generator import Generator

from autograder.declaring import Case, Exercise, wrong
from autograder.exercises.positional_encoding.shared import EMBEDDING_MISTAKES, embeddings
from autograder.mistaken import positional_encoding as mistaken
from autograder.oracles import positional_encoding as oracles

LEARNED = embeddings(5, learned=True)


exercise = Exercise("TokenAndPositionEmbedding", oracle=oracles.token_and_position, mistaken=mistaken.token_and_position, by_mode={"parameters": oracles.token_and_position_parameters})


@exercise.group("right values at full length", points=2)
def values(rng: Generator) -> list[Case]:
    return LEARNED["values"](rng)


@exercise.group("sequences shorter than max_length", points=1, advice="The length comes from the ids of this call: look up positions 0 to T − 1.")
def shorter(rng: Generator) -> list[Case]:
    return LEARNED["shorter"](rng)


@exercise.group("two tables that are trained", points=1)
def parameters(rng: Generator) -> list[Case]:
    return LEARNED["parameters"](rng)


@exercise.group("works inside tf.function, and gradients reach both tables", points=1, advice="Inside tf.function `ids.shape[1]` may be None; `ops.shape(ids)[1]` is not.")
def training(rng: Generator) -> list[Case]:
    return LEARNED["training"](rng)


@exercise.group("survives a get_config round trip", points=1)
def reload(rng: Generator) -> list[Case]:
    return LEARNED["reload"](rng)


exercise.mistakes(
    **EMBEDDING_MISTAKES,
    position_by_id=wrong("The position table is looked up with the token ids. It should be looked up with 0, 1, 2, …, T − 1.", places="ids"),
    tables_exchanged=wrong("The tables are exchanged: token ids look up `position_embedding`, and positions `token_embedding`.", tables="exchanged"),
    scaled_by_root=wrong("The word vectors are multiplied by √D. Here they should not be: both tables are learned.", token_factor="√D"),
    positions_frozen=wrong("Only one of the two tables counts as trainable: the position table has to be a trained keras.layers.Embedding.", frozen=True),
)


exercise.hints(
    "Two keras.layers.Embedding: one with vocab_size rows, one with max_length rows, both of width d_model.",
    "An Embedding turns any array of integers into vectors. Which integers are the positions of T tokens?",
    "(B, T, D) + (T, D) broadcasts over the batch. The T of this call is ops.shape(ids)[1].",
)
exercise.hints("Which positions do the tokens of a short sequence have?", group="shorter")
exercise.hints("Is each of the two tables an Embedding with its own number of rows, and is each of them called?", group="parameters")
exercise.hints("Inside the graph `ids.shape[1]` may be None. Which function gives the length instead?", group="training")
exercise.hints("Leave the three attributes and `get_config` as they are; make the tables from the arguments.", group="reload")

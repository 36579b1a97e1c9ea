"""What several exercises of lab 05 share."""

from coursekit.generator import Generator

from autograder.declaring import Case, wrong
from autograder.exercises.drawing import normal

# A table computed in float32 is off by the rounding of its largest angle: 600 · 1e-6 for 600 positions.
ANGLE_TOLERANCE = 1e-3


HALF_EXPONENT = wrong("The waves are too short: the exponent is i/D. It is 2i/D, where i counts the pairs, not the columns.", exponent="i/D")


DOUBLED_EXPONENT = wrong("The waves are too long: the exponent is 4i/D. `np.arange(0, d_model, 2)` holds the numbers 2i already.", exponent="4i/D")


LAST_IS_ONE = wrong("The exponent goes up to 1 in the last pair, as if divided by D − 2. It should be divided by D, and then it stays below 1.", exponent="2i/(D-2)")


FLOOR = wrong("All pairs turn at the same speed 1. Is the frequency left out, or its exponent divided with // instead of /?", exponent="floor")


INVERSE = wrong("The angle is multiplied by 10000^(2i/D) instead of divided by it.", exponent="inverse")


OTHER_BASE = wrong("The waves have the base 1000; it should be 10000 (10_000 in Python).", exponent="base_1000")


NO_BRACKETS = wrong("`10000 ** 2i / D` takes the power first and divides it by D: put the exponent 2i/D in brackets.", exponent="no brackets")


PAIR_EXPONENTS = dict(
    exponent_halved=HALF_EXPONENT,
    exponent_doubled=DOUBLED_EXPONENT,
    exponent_ends_at_one=LAST_IS_ONE,
    floor_division=FLOOR,
    exponent_sign=INVERSE,
    base_1000=OTHER_BASE,
    exponent_without_brackets=NO_BRACKETS,
)


COS_FIRST = wrong("Sine and cosine are exchanged: even columns hold the sine, odd ones the cosine.", layout="cos, sin")


HALVES = wrong("All sines stand on the left and all cosines on the right. They alternate: sin, cos, sin, cos, …", layout="halves")


def embedding_inputs(rng: Generator, length: int, *, max_length: int, vocab_size: int, width: int) -> dict:
    """Inputs of both embedding layers, 3 sequences of the given length; ids reach up to the last word."""
    ids = rng.integers(0, vocab_size, size=(3, length)).astype("int32")
    ids[0, 0] = vocab_size - 1
    return {"max_length": max_length, "vocab_size": vocab_size, "d_model": width, "ids": ids, "token_embedding.embeddings": normal(rng, vocab_size, width)}


def embeddings(width: int, *, learned: bool):
    """Cases of an embedding layer: `draw(length, …)` makes one; learned positions need a second table."""

    def inputs(rng: Generator, length: int, max_length: int, vocab_size: int) -> dict:
        made = embedding_inputs(rng, length, max_length=max_length, vocab_size=vocab_size, width=width)
        if learned:
            made["position_embedding.embeddings"] = normal(rng, max_length, width)
        return made

    def values(rng: Generator) -> list[Case]:
        return [Case(inputs(rng, 13, 13, 23), description="ids (3, 13), max_length=13"), Case(inputs(rng, 13, 13, 11), description="ids (3, 13), max_length=13, 11 words")]

    def shorter(rng: Generator) -> list[Case]:
        shown = inputs(rng, 7, 17, 11)
        wide = {**inputs(rng, 5, 13, 29)}
        wide["ids"] = wide["ids"].astype("int64")
        return [Case(shown, description="ids (3, 7), max_length=17"), Case(wide, description="ids (3, 5) of int64, max_length=13")]

    def parameters(rng: Generator) -> list[Case]:
        description = f"trainable parameters, max_length=13, vocab_size=23, d_model={width}"
        return [Case(inputs(rng, 5, 13, 23), mode="parameters", description=description)]

    def training(rng: Generator) -> list[Case]:
        shown = inputs(rng, 5, 7, 11)
        weighted = {**shown, "cotangent.output": normal(rng, 3, 5, width)}
        return [Case(shown, mode="graph", description="inside tf.function, batch size and length unknown"), Case(weighted, mode="gradient", description="gradients, compared with numerical ones")]

    def reload(rng: Generator) -> list[Case]:
        return [Case(inputs(rng, 5, 7, 11), mode="reload", description="rebuilt from get_config(), weights copied")]

    return {"values": values, "shorter": shorter, "parameters": parameters, "training": training, "reload": reload}


EMBEDDING_MISTAKES = dict(
    position_missing=wrong("The positions are missing: the word vectors come back alone.", parts="token"),
    token_missing=wrong("The word vectors are missing: only positions come back.", parts="position"),
    appended=wrong("Position and word vector stand side by side. They should be added; the width stays D.", joined="side by side"),
    multiplied=wrong("Word and position vectors are multiplied. They should be added.", joined="product"),
    position_one_based=wrong("The first token gets the row of position 1; positions count from 0.", places="one_based"),
    position_reversed=wrong("The positions run backwards: the last token gets row 0.", places="reversed"),
    position_from_the_end=wrong("A short sequence gets the last rows of the position table. It should start with row 0, whatever max_length is.", places="from_the_end"),
    position_of_sequence=wrong("Each sequence of the batch gets one position, the same for all its tokens: the positions lie along the batch axis.", places="sequence"),
    position_constant=wrong("All tokens get the row of position 0.", places="first_row"),
)

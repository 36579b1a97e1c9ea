"""What several exercises of lab 05 share."""

import numpy as np

from autograder.declare import Case, edit
from exercises.drawing import normal, one_of

# A table computed in float32 is off by the rounding of its largest angle: 600 · 1e-6 for 600 positions.
ANGLE_TOLERANCE = 1e-3


def angular_speeds(d_model: int) -> np.ndarray:
    """The angular frequency of every pair of columns, (D/2,): 1/10000^(2i/D) (Vaswani et al. 2017, section 3.5)."""
    return 10_000.0 ** (-2 * np.arange(d_model // 2) / d_model)


def sinusoidal_table(length: int, d_model: int) -> np.ndarray:
    """Row p holds sin(p·ω_i) in column 2i and cos(p·ω_i) in column 2i + 1; returns (length, D)."""
    angles = np.arange(length)[:, None] * angular_speeds(d_model)  # (length, D/2)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(length, d_model)


def with_positions(tokens: np.ndarray, table: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """Each token's vector plus the row of its position: tokens (B, T, D), table (max_length, D), ids (B, T)."""
    rows = table[: ids.shape[1]]  # (T, D)
    return tokens + rows


# What mistakes change in these functions.
PAIR_EXPONENT = "-2 * np.arange(d_model // 2) / d_model"
POSITIONS = "np.arange(length)[:, None]"
WAVES = "np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(length, d_model)"
ROWS = "table[:ids.shape[1]]"
SUM = "tokens + rows"

HALF_EXPONENT = (
    edit(PAIR_EXPONENT, "-np.arange(d_model // 2) / d_model")
    | "The waves are too short: the exponent is i/D. It is 2i/D, where i counts the pairs, not the columns."
)
DOUBLED_EXPONENT = (
    edit(PAIR_EXPONENT, "-4 * np.arange(d_model // 2) / d_model")
    | "The waves are too long: the exponent is 4i/D. `np.arange(0, d_model, 2)` holds the numbers 2i already."
)
LAST_IS_ONE = (
    edit(PAIR_EXPONENT, "-2 * np.arange(d_model // 2) / max(d_model - 2, 1)")
    | "The exponent goes up to 1 in the last pair, as if divided by D − 2. It should be divided by D, and then it "
    "stays below 1."
)
FLOOR = (
    edit(PAIR_EXPONENT, "-(2 * np.arange(d_model // 2) // d_model)")
    | "All pairs turn at the same speed 1. Is the frequency left out, or its exponent divided with // instead of /?"
)
FLOORED = (
    edit(PAIR_EXPONENT, "-2 * np.arange(d_model // 2) // d_model")
    | "The first pair has the frequency 1 and all others 1/10000: `-2i // D` is 0 or −1. Divide with /."
)
INVERSE = (
    edit(PAIR_EXPONENT, "2 * np.arange(d_model // 2) / d_model")
    | "The angle is multiplied by 10000^(2i/D) instead of divided by it."
)
OTHER_BASE = edit("10000.0", "1000.0") | "The waves have the base 1000; it should be 10000 (10_000 in Python)."

NO_BRACKETS = (
    edit(f"10000.0 ** ({PAIR_EXPONENT})", "10000.0 ** (-2 * np.arange(d_model // 2)) / d_model")
    | "`10000 ** 2i / D` takes the power first and divides it by D: put the exponent 2i/D in brackets."
)
PAIR_EXPONENTS = dict(
    exponent_halved=HALF_EXPONENT,
    exponent_doubled=DOUBLED_EXPONENT,
    exponent_ends_at_one=LAST_IS_ONE,
    floor_division=FLOOR,
    exponent_floored=FLOORED,
    exponent_sign=INVERSE,
    base_1000=OTHER_BASE,
    exponent_without_brackets=NO_BRACKETS,
)
COS_FIRST = (
    edit("[np.sin(angles), np.cos(angles)]", "[np.cos(angles), np.sin(angles)]")
    | "Sine and cosine are exchanged: even columns hold the sine, odd ones the cosine."
)
HALVES = (
    edit(WAVES, "np.concatenate([np.sin(angles), np.cos(angles)], axis=1)")
    | "All sines stand on the left and all cosines on the right. They alternate: sin, cos, sin, cos, …"
)


def embedding_inputs(rng, length: int, *, max_length: int, vocab_size: int, width: int) -> dict:
    """Inputs of both embedding layers, 3 sequences of the given length; ids reach up to the last word."""
    ids = rng.integers(0, vocab_size, size=(3, length)).astype("int32")
    ids[0, 0] = vocab_size - 1
    return {
        "max_length": max_length,
        "vocab_size": vocab_size,
        "d_model": width,
        "ids": ids,
        "token_embedding.embeddings": normal(rng, vocab_size, width),
    }


def embeddings(width: int, *, learned: bool):
    """Cases of an embedding layer: `draw(length, …)` makes one; learned positions need a second table."""

    def inputs(rng, length: int, max_length: int, vocab_size: int) -> dict:
        made = embedding_inputs(rng, length, max_length=max_length, vocab_size=vocab_size, width=width)
        if learned:
            made["position_embedding.embeddings"] = normal(rng, max_length, width)
        return made

    def values(rng) -> list[Case]:
        return [
            Case(inputs(rng, 13, 13, 23), "ids (3, 13), max_length=13"),
            Case(inputs(rng, 13, 13, 11), "ids (3, 13), max_length=13, 11 words"),
        ]

    def shorter(rng) -> list[Case]:
        shown = inputs(rng, 7, 17, 11)
        wide = {**inputs(rng, 5, 13, 29)}
        wide["ids"] = wide["ids"].astype("int64")
        single = inputs(rng, 1, 13, 19)  # whatever is added to it broadcasts, the whole table too
        return [
            Case(shown, "ids (3, 7), max_length=17"),
            Case(wide, "ids (3, 5) of int64, max_length=13"),
            Case(single, "ids (3, 1), max_length=13"),
        ]

    def parameters(rng) -> list[Case]:
        longest, words = one_of(rng, 11, 13, 14), one_of(rng, *range(19, 40))
        description = f"trainable parameters, max_length={longest}, vocab_size={words}, d_model={width}"
        return [Case(inputs(rng, 5, longest, words), description, mode="parameters")]

    def training(rng) -> list[Case]:
        shown = inputs(rng, 5, 7, 11)
        weighted = {**shown, "cotangent.output": normal(rng, 3, 5, width)}
        return [
            Case(shown, "inside tf.function, batch size and length unknown", mode="graph"),
            Case(weighted, "gradients, compared with numerical ones", mode="gradient"),
        ]

    def reload(rng) -> list[Case]:
        return [Case(inputs(rng, 5, 7, 11), "rebuilt from get_config(), weights copied", mode="reload")]

    return {"values": values, "shorter": shorter, "parameters": parameters, "training": training, "reload": reload}


EMBEDDING_MISTAKES = dict(
    position_missing=edit(SUM, "tokens") | "The positions are missing: the word vectors come back alone.",
    token_missing=edit(SUM, "np.broadcast_to(rows, tokens.shape)")
    | "The word vectors are missing: only positions come back.",
    appended=edit(SUM, "np.concatenate([tokens, np.broadcast_to(rows, tokens.shape)], axis=-1)")
    | "Position and word vector stand side by side. They should be added; the width stays D.",
    multiplied=edit(SUM, "tokens * rows") | "Word and position vectors are multiplied. They should be added.",
    position_one_based=edit(ROWS, "table[1 : ids.shape[1] + 1]")
    | "The first token gets the row of position 1; positions count from 0.",
    position_reversed=edit(ROWS, "table[: ids.shape[1]][::-1]")
    | "The positions run backwards: the last token gets row 0.",
    position_from_the_end=edit(ROWS, "table[len(table) - ids.shape[1] :]")
    | "A short sequence gets the last rows of the position table. It should start with row 0, whatever max_length is.",
    position_of_sequence=edit(ROWS, "table[np.arange(len(ids))][:, None]")
    | "Each sequence of the batch gets one position, the same for all its tokens: the positions lie along the batch "
    "axis.",
    position_constant=edit(ROWS, "table[:1]") | "All tokens get the row of position 0.",
    whole_table=edit(ROWS, "table")
    | "All `max_length` rows of the position table are added. A call has T tokens, often fewer: add rows 0 to T − 1."
    | "How many tokens does this call have? Does your code read that from `ids`?",
    length_of_batch=edit(ROWS, "table[: len(ids)]")
    | "There are as many positions as sequences in the batch. Count the tokens: ids are (B, T), and T is axis 1.",
)

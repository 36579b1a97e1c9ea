"""Lab 05, positional encoding: the exercises, their cases and the mistakes that are named."""

from __future__ import annotations

import numpy as np

from autograder.exercise import Case, Exercise, Group, Misconception
from autograder.exercises.drawing import drawn_until, normal
from autograder.oracles import positional_encoding as oracles

# A table computed in float32 is off by the rounding of its largest angle: 600 · 1e-6 for 600 positions.
ANGLE_TOLERANCE = 1e-3

HALF_EXPONENT = Misconception(
    "exponent_halved",
    {"exponent": "i/D"},
    "The waves are too short: the exponent is i/D. It is 2i/D, where i counts the pairs, not the columns.",
)
DOUBLED_EXPONENT = Misconception(
    "exponent_doubled",
    {"exponent": "4i/D"},
    "The waves are too long: the exponent is 4i/D. `np.arange(0, d_model, 2)` holds the numbers 2i already.",
)
COLUMN_EXPONENT = Misconception(
    "exponent_by_column",
    {"exponent": "column"},
    "The cosine of a pair has another frequency than its sine. Both columns of a pair share one: i counts the pairs.",
)
DOUBLE_COLUMN = Misconception(
    "exponent_by_doubled_column",
    {"exponent": "double_column"},
    "The exponent doubles the column's number. In 2i/D, i is the number of the pair: columns 2i and 2i + 1 share it.",
)
LAST_IS_ONE = Misconception(
    "exponent_ends_at_one",
    {"exponent": "2i/(D-2)"},
    "The exponent runs up to 1 in the last pair, as if divided by D − 2. It is divided by D and stays below 1.",
)
FLOOR = Misconception(
    "floor_division",
    {"exponent": "floor"},
    "All pairs turn at the same speed 1: the exponent is always 0. Is it divided with // instead of /?",
)
INVERSE = Misconception(
    "exponent_sign",
    {"exponent": "inverse"},
    "The angle is multiplied by 10000^(2i/D) instead of divided by it.",
)
OTHER_BASE = Misconception(
    "base_1000", {"exponent": "base_1000"}, "The waves belong to a base of 1000; it is 10000 (10_000 in Python)."
)
NO_BRACKETS = Misconception(
    "exponent_without_brackets",
    {"exponent": "no brackets"},
    "`10000 ** 2i / D` takes the power first and divides it by D: put the exponent 2i/D in brackets.",
)
PAIR_EXPONENTS = (HALF_EXPONENT, DOUBLED_EXPONENT, LAST_IS_ONE, FLOOR, INVERSE, OTHER_BASE, NO_BRACKETS)
EXPONENTS = (*PAIR_EXPONENTS, COLUMN_EXPONENT, DOUBLE_COLUMN)

COS_FIRST = Misconception(
    "cos_first",
    {"layout": "cos, sin"},
    "Sine and cosine are exchanged: even columns hold the sine, odd ones the cosine.",
)
HALVES = Misconception(
    "sines_then_cosines",
    {"layout": "halves"},
    "All sines stand on the left and all cosines on the right. They alternate: sin, cos, sin, cos, …",
)
ONE_BASED = Misconception("one_based", {"first": 1}, "The first row is position 1; positions count from 0.")


def _tables(*sizes: tuple[int, int]):
    return lambda rng: [Case({"length": length, "d_model": width}) for length, width in sizes]


def _drawn_tables(rng: np.random.Generator) -> list[Case]:
    return [
        Case({"length": int(rng.integers(5, 9)), "d_model": 6}),
        Case({"length": int(rng.integers(11, 19)), "d_model": 10}),
        Case({"length": 3, "d_model": 26}),
    ]


def _odd(rng: np.random.Generator) -> list[Case]:
    width = int(rng.choice([5, 7, 11]))
    return [
        Case({"length": 3, "d_model": width}, mode="refusal", how=f"d_model={width}, an odd width"),
        Case({"length": 5, "d_model": 6}, how="length=5, d_model=6, an even width"),
    ]


def _shifts(low: int, high: int, *widths: int):
    return lambda rng: [Case({"offset": int(rng.integers(low, high)), "d_model": width}) for width in widths]


def _backwards(rng: np.random.Generator) -> list[Case]:
    return [Case({"offset": int(-rng.integers(2, 9)), "d_model": 10}), Case({"offset": 0, "d_model": 6})]


def _embedding_inputs(rng: np.random.Generator, length: int, *, max_length: int, vocab_size: int, width: int) -> dict:
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


def _embeddings(width: int, *, learned: bool):
    """Cases of an embedding layer: `draw(length, …)` makes one; learned positions need a second table."""

    def inputs(rng: np.random.Generator, length: int, max_length: int, vocab_size: int) -> dict:
        made = _embedding_inputs(rng, length, max_length=max_length, vocab_size=vocab_size, width=width)
        if learned:
            made["position_embedding.embeddings"] = normal(rng, max_length, width)
        return made

    def values(rng: np.random.Generator) -> list[Case]:
        return [
            Case(inputs(rng, 13, 13, 23), how="ids (3, 13), max_length=13"),
            Case(inputs(rng, 13, 13, 11), how="ids (3, 13), max_length=13, 11 words"),
        ]

    def shorter(rng: np.random.Generator) -> list[Case]:
        shown = inputs(rng, 7, 17, 11)
        wide = {**inputs(rng, 5, 13, 29)}
        wide["ids"] = wide["ids"].astype("int64")
        return [Case(shown, how="ids (3, 7), max_length=17"), Case(wide, how="ids (3, 5) of int64, max_length=13")]

    def parameters(rng: np.random.Generator) -> list[Case]:
        how = f"trainable parameters, max_length=13, vocab_size=23, d_model={width}"
        return [Case(inputs(rng, 5, 13, 23), mode="parameters", how=how)]

    def training(rng: np.random.Generator) -> list[Case]:
        shown = inputs(rng, 5, 7, 11)
        weighted = {**shown, "cotangent.output": normal(rng, 3, 5, width)}
        return [
            Case(shown, mode="graph", how="inside tf.function, batch size and length unknown"),
            Case(weighted, mode="gradient", how="gradients, compared with numerical ones"),
        ]

    def reload(rng: np.random.Generator) -> list[Case]:
        return [Case(inputs(rng, 5, 7, 11), mode="reload", how="rebuilt from get_config(), weights copied")]

    return {"values": values, "shorter": shorter, "parameters": parameters, "training": training, "reload": reload}


LEARNED = _embeddings(5, learned=True)
SINUSOIDAL = _embeddings(6, learned=False)

EMBEDDING_MISTAKES = (
    Misconception(
        "position_missing", {"parts": "token"}, "The positions are missing: the word vectors come back alone."
    ),
    Misconception("token_missing", {"parts": "position"}, "The word vectors are missing: only positions come back."),
    Misconception(
        "appended",
        {"joined": "side by side"},
        "Position and word vector stand side by side. They are added; the width stays D.",
    ),
    Misconception("multiplied", {"joined": "product"}, "Word and position vectors are multiplied. They are added."),
    Misconception(
        "position_one_based",
        {"places": "one_based"},
        "The first token gets the row of position 1; positions count from 0.",
    ),
    Misconception(
        "position_reversed", {"places": "reversed"}, "The positions run backwards: the last token gets row 0."
    ),
    Misconception(
        "position_from_the_end",
        {"places": "from_the_end"},
        "A short sequence gets the last rows of the position table. It starts with row 0, whatever max_length is.",
    ),
    Misconception(
        "position_of_sequence",
        {"places": "sequence"},
        "Each sequence of the batch gets one position, the same for all its tokens: the positions lie along the batch axis.",
    ),
    Misconception("position_constant", {"places": "first_row"}, "All tokens get the row of position 0."),
)


def cycle(rng: np.random.Generator, length: int) -> np.ndarray:
    """A permutation made of one cycle through all places: it leaves nothing in place and is not its own inverse."""
    order = rng.permutation(length)
    permutation = np.empty(length, "int64")
    permutation[order] = np.roll(order, 1)
    return permutation


def _neighbours_kept(permutation: np.ndarray) -> np.ndarray:
    """For each place whether the token there follows the same token as before; the first one follows the last."""
    return (permutation - np.roll(permutation, 1)) % len(permutation) == 1


def _judged(
    rng: np.random.Generator, *names: str, shape: tuple[int, ...] = (2, 5, 3), mode: str = "call", **settings
) -> list[Case]:
    kind = "TensorFlow tensors, " if mode == "tensor" else ""
    wording = "".join(f", {key}={value:g}" for key, value in settings.items())
    return [
        Case(
            {"fn": name, "x": normal(rng, *shape), "permutation": cycle(rng, shape[1]), **settings},
            mode=mode,
            how=f"{kind}fn = “{name}”, x {shape}{wording}",
        )
        for name in names
    ]


def _plain_maps(rng: np.random.Generator) -> list[Case]:
    cases = _judged(
        rng,
        "self-attention",
        "positions added",
        "each token by itself",
        "each token plus its predecessor",
        "distance from the mean token",
        "running sum",
    )
    # A map of neighbours hardly notices a shift of all tokens: some neighbours stay together, and some do not.
    permutation = drawn_until(
        lambda drawn: 0 < _neighbours_kept(drawn).sum() < len(drawn), lambda: cycle(rng, cases[0].inputs["x"].shape[1])
    )
    for case in cases:
        case.inputs["permutation"] = permutation
    return cases


def _given_permutation(rng: np.random.Generator) -> list[Case]:
    """Shuffles that keep each token on its side of the middle, and a map that sees the side only."""
    cases = _judged(rng, "one added to the second half of the tokens", "self-attention", shape=(2, 6, 3))
    for case in cases:
        case.inputs["permutation"] = np.array([1, 2, 0, 5, 3, 4])
    return cases


def _one_sided(rng: np.random.Generator) -> list[Case]:
    """A map whose two results differ by numbers of one sign, once positive and once negative."""
    cases = _judged(rng, *["the first token's first feature added everywhere"] * 2, shape=(3, 5, 2))
    for case, sign in zip(cases, (1, -1), strict=True):
        case.inputs["x"][:, 0, 0] = 9 * sign
    return cases


def _invariant_maps(rng: np.random.Generator) -> list[Case]:
    return _judged(rng, "features sorted over the tokens", "self-attention", shape=(3, 7, 2))


def _tolerances(rng: np.random.Generator) -> list[Case]:
    faint = "positions added, a thousandth of them"
    return [*_judged(rng, faint, tolerance=1e-1), *_judged(rng, faint), *_judged(rng, faint, tolerance=1e-6)]


def _hidden_corners(rng: np.random.Generator) -> list[Case]:
    single = "0.5 added to the first feature of the first token"
    return [
        *_judged(rng, "self-attention", "positions added in the last sequence only", shape=(3, 5, 2)),
        *_judged(rng, single, shape=(3, 13, 7), tolerance=0.1),
        *_one_sided(rng),
    ]


def _axes(rng: np.random.Generator) -> list[Case]:
    names = (
        "self-attention",
        "positions added",
        "distance from the mean token",
        "positions added in the last sequence only",
    )
    return [*_judged(rng, *names, shape=(5, 5, 5)), *_given_permutation(rng)]


def _tensor_maps(rng: np.random.Generator) -> list[Case]:
    return _judged(rng, "self-attention", "running sum", mode="tensor")


def _rotary(rng: np.random.Generator, *leading: int, positions=None, length: int = 5, width: int = 6, **case) -> Case:
    dtype = case.pop("float_type", "float32")
    places = np.arange(length) if positions is None else np.asarray(positions)
    inputs = {
        "x": normal(rng, *leading, len(places), width, dtype=dtype),
        "positions": places.astype(case.pop("kind", "int32")),
    }
    return Case(inputs, **case)


def _rotary_values(rng: np.random.Generator) -> list[Case]:
    return [_rotary(rng), _rotary(rng, length=7, width=10)]


def _rotary_batched(rng: np.random.Generator) -> list[Case]:
    return [_rotary(rng, 2), _rotary(rng, 2, 3, length=7), _rotary(rng, 3, 2, 5, length=7)]


def _rotary_positions(rng: np.random.Generator) -> list[Case]:
    some = np.sort(rng.choice(200, size=7, replace=False)) + 1
    return [
        _rotary(rng, 2, positions=some, how=f"x (2, 7, 6), positions {some.tolist()}"),
        _rotary(rng, positions=[9, 2, 5], kind="float32", how="x (3, 6), positions [9., 2., 5.]"),
    ]


def _rotary_types(rng: np.random.Generator) -> list[Case]:
    return [
        _rotary(rng, 2, mode="tensor", dtype="float32", how="TensorFlow tensors, positions of int32"),
        _rotary(rng, 2, dtype="float32", how="NumPy arrays of float32"),
        _rotary(rng, 2, float_type="float64", kind="int64", dtype="float64", how="NumPy arrays of float64"),
    ]


EXERCISES = (
    Exercise(
        name="sinusoidal_positions",
        oracle=oracles.sinusoidal_positions,
        tolerance=ANGLE_TOLERANCE,
        groups=(
            Group("values", "right values", 2, _drawn_tables),
            Group("long", "hundreds of positions", 1, _tables((601, 14))),
            Group(
                "odd_width",
                "ValueError for an odd d_model, and only then",
                1,
                _odd,
                advice="Look at d_model % 2 first, and raise a ValueError that names the number.",
            ),
        ),
        misconceptions=(
            *EXPONENTS,
            COS_FIRST,
            HALVES,
            Misconception("sine_only", {"layout": "sin"}, "All columns are sines; the odd ones should be cosines."),
            Misconception("cosine_only", {"layout": "cos"}, "All columns are cosines; the even ones should be sines."),
            ONE_BASED,
            Misconception(
                "table_transposed",
                {"transposed": True},
                "The table lies on its side: one row per position, (length, d_model).",
            ),
            Misconception(
                "odd_accepted", {"refusal": "no error"}, "An odd d_model is accepted; it has to be a ValueError."
            ),
            Misconception(
                "odd_asserted",
                {"refusal": "AssertionError"},
                "An odd d_model ends in an AssertionError; raise a ValueError (assertions can be switched off).",
            ),
        ),
        hints=(
            "Make the frequencies first, one for each pair: D/2 numbers, falling from 1.",
            "positions as a column (length, 1) times frequencies as a row (D/2,) gives all angles, (length, D/2).",
            "Even columns of an array are table[:, 0::2], odd ones table[:, 1::2]. You can assign to both.",
        ),
    ),
    Exercise(
        name="shift_matrix",
        oracle=oracles.shift_matrix,
        tolerance=ANGLE_TOLERANCE,
        groups=(
            Group("values", "shifts by a few positions", 2, _shifts(2, 8, 4, 6, 10)),
            Group("backwards", "a negative shift, and none", 1, _backwards),
            Group("far", "shifts by hundreds of positions", 1, _shifts(150, 400, 14)),
        ),
        misconceptions=(
            *PAIR_EXPONENTS,
            Misconception(
                "shifts_backwards",
                {"transposed": True},
                "This matrix shifts by −offset: it is the transpose. Rows of the table are (sin, cos), and they stand on the left of M.",
            ),
            Misconception("offset_ignored", {"unit_offset": True}, "The matrix shifts by 1, whatever the offset is."),
            Misconception("offset_plus_one", {"beyond": 1}, "The matrix shifts one position too far."),
            Misconception(
                "offset_without_sign", {"sign": False}, "A shift back goes forward: the sign of offset is lost."
            ),
            Misconception(
                "columns_rolled",
                {"rolled": True},
                "This matrix moves columns. It has to turn each pair by an angle, so that the rows become those of later positions.",
            ),
            Misconception(
                "minus_missing", {"block": "plus"}, "A minus sign is missing: cos(a + b) = cos a cos b − sin a sin b."
            ),
            Misconception(
                "two_minus_signs",
                {"block": "two minus"},
                "Both sines have a minus sign; in a rotation only one of them has.",
            ),
            Misconception(
                "reflection",
                {"block": "reflection"},
                "The blocks are reflections; the minus sign belongs to a sine, not to a cosine.",
            ),
            Misconception(
                "cosines_only",
                {"block": "cosines"},
                "Only the cosines on the diagonal are there: without the sines nothing turns.",
            ),
            Misconception(
                "block_sin_cos_exchanged",
                {"block": "sin_cos_exchanged"},
                "Sine and cosine of the shift's angle are exchanged: a shift by 0 has to be the identity.",
            ),
            Misconception(
                "pairs_by_halves",
                {"layout": "halves"},
                "The blocks join column i with column i + D/2. A pair stands in neighbouring columns, 2i and 2i + 1.",
            ),
        ),
        hints=(
            "Write sin(ω(p + k)) and cos(ω(p + k)) with the addition theorems. Which numbers multiply sin(ωp), which cos(ωp)?",
            "Column 2i of M makes the new sine, column 2i + 1 the new cosine. Row 2i is multiplied by the old sine, row 2i + 1 by the old cosine.",
            "Start from np.zeros((d_model, d_model)) and fill one 2 × 2 block for each pair. Test it on a row of your table.",
        ),
    ),
    Exercise(
        name="TokenAndPositionEmbedding",
        oracle=oracles.token_and_position,
        groups=(
            Group("values", "right values at full length", 2, LEARNED["values"]),
            Group(
                "shorter",
                "sequences shorter than max_length",
                1,
                LEARNED["shorter"],
                advice="The length comes from the ids of this call: look up positions 0 to T − 1.",
            ),
            Group("parameters", "two tables that are trained", 1, LEARNED["parameters"]),
            Group(
                "training",
                "works inside tf.function, and gradients reach both tables",
                1,
                LEARNED["training"],
                advice="Inside tf.function `ids.shape[1]` may be None; `ops.shape(ids)[1]` is not.",
            ),
            Group("reload", "survives a get_config round trip", 1, LEARNED["reload"]),
        ),
        misconceptions=(
            *EMBEDDING_MISTAKES,
            Misconception(
                "position_by_id",
                {"places": "ids"},
                "The position table is looked up with the token ids. It is looked up with 0, 1, 2, …, T − 1.",
            ),
            Misconception(
                "tables_exchanged",
                {"tables": "exchanged"},
                "The tables are exchanged: token ids look up `position_embedding`, and positions `token_embedding`.",
            ),
            Misconception(
                "scaled_by_root",
                {"token_factor": "√D"},
                "The word vectors are multiplied by √D; here they are not, both tables are learned.",
            ),
            Misconception(
                "positions_frozen",
                {"frozen": True},
                "Only one of the two tables counts as trainable: the position table has to be a trained keras.layers.Embedding.",
            ),
        ),
        hints=(
            "Two keras.layers.Embedding: one with vocab_size rows, one with max_length rows, both of width d_model.",
            "An Embedding turns any array of integers into vectors. Which integers are the positions of T tokens?",
            "(B, T, D) + (T, D) broadcasts over the batch. The T of this call is ops.shape(ids)[1].",
        ),
    ),
    Exercise(
        name="SinusoidalEmbedding",
        oracle=oracles.sinusoidal_embedding,
        tolerance=ANGLE_TOLERANCE / 4,
        groups=(
            Group("values", "right values at full length", 2, SINUSOIDAL["values"]),
            Group(
                "shorter",
                "sequences shorter than max_length",
                1,
                SINUSOIDAL["shorter"],
                advice="The length comes from the ids of this call: take the first T rows of the table.",
            ),
            Group("parameters", "only the words are trained", 1, SINUSOIDAL["parameters"]),
            Group(
                "training",
                "works inside tf.function, and gradients reach the word table",
                1,
                SINUSOIDAL["training"],
                advice="Inside tf.function the length is not known in advance. Make the table once, for max_length, and cut it in `call`.",
            ),
            Group("reload", "survives a get_config round trip", 1, SINUSOIDAL["reload"]),
        ),
        misconceptions=(
            *EMBEDDING_MISTAKES,
            Misconception(
                "position_by_id",
                {"places": "ids"},
                "The rows of the position table are chosen by the token ids. They are rows 0, 1, 2, …, T − 1.",
            ),
            Misconception("unscaled", {"token_factor": "1"}, "The word vectors are not multiplied by √D."),
            Misconception(
                "scaled_by_width",
                {"token_factor": "D"},
                "The word vectors are multiplied by D; it is the square root of D.",
            ),
            Misconception(
                "divided_by_root",
                {"token_factor": "1/√D"},
                "The word vectors are divided by √D; they are multiplied by it.",
            ),
            Misconception(
                "scaled_position_too",
                {"position_factor": "√D"},
                "The positions are multiplied by √D as well; only the word vectors are.",
            ),
            Misconception(
                "positions_trainable",
                {"trainable": True},
                "The position table counts as trainable; sinusoidal positions are fixed.",
            ),
            HALF_EXPONENT,
            COS_FIRST,
            HALVES,
        ),
        hints=(
            "Only one Embedding. The positions are the table of exercise 1, made once in `__init__` for max_length rows.",
            "Scale the word vectors alone, then add the first T rows of the table.",
            "Keep the table as a NumPy array or a constant of float32: what is no weight is not trained.",
        ),
    ),
    Exercise(
        name="is_permutation_equivariant",
        oracle=oracles.is_permutation_equivariant,
        groups=(
            Group("values", "equivariant maps, and others", 2, _plain_maps),
            Group(
                "invariant",
                "an invariant map is not equivariant",
                1,
                _invariant_maps,
                advice="Equivariant: the result is shuffled in the same way. Invariant: it stays as it is.",
            ),
            Group(
                "tolerance",
                "almost equivariant: the tolerance decides",
                1,
                _tolerances,
                advice="A map counts as equivariant when no entry differs by more than `tolerance`.",
            ),
            Group(
                "corners",
                "one entry, or one sequence, that differs",
                1,
                _hidden_corners,
                advice="A single entry that is too far off is enough for False: look at the largest absolute difference.",
            ),
            Group("axes", "the tokens are shuffled, in the order given", 1, _axes),
            Group(
                "tensors",
                "TensorFlow tensors",
                1,
                _tensor_maps,
                advice="A tensor cannot be indexed with an array: `ops.take(x, permutation, axis=1)` works for both.",
            ),
        ),
        misconceptions=(
            Misconception(
                "tests_invariance",
                {"compared_with": "result"},
                "This tests invariance: it asks whether the result stays the same, not whether it is shuffled in the same way.",
            ),
            Misconception(
                "always_yes",
                {"verdict": "always yes"},
                "The answer is True for every map. Is x shuffled before fn sees it, and does a sum let differences cancel?",
            ),
            Misconception(
                "always_no",
                {"verdict": "always no"},
                "The answer is False even for self-attention. Are both sides shuffled by the same permutation, in the same direction?",
            ),
            Misconception("negated", {"verdict": "negated"}, "True and False are exchanged."),
            Misconception(
                "tolerance_ignored",
                {"fixed_tolerance": True},
                "The argument `tolerance` has no effect: the answer is the same whatever is given.",
            ),
            Misconception(
                "mean_difference",
                {"measure": "mean"},
                "The mean difference is compared. One entry that is far off disappears in a mean.",
            ),
            Misconception(
                "signed_sum",
                {"measure": "signed sum"},
                "The differences are summed with their signs, and they cancel each other.",
            ),
            Misconception(
                "first_sequence_only",
                {"measure": "first sequence"},
                "Only the first sequence of the batch is compared.",
            ),
            Misconception(
                "no_absolute_value",
                {"measure": "without absolute value"},
                "The largest difference is taken with its sign, so that one far below zero goes unnoticed: take absolute values.",
            ),
            Misconception(
                "one_entry_suffices",
                {"measure": "smallest"},
                "One entry that agrees is enough for True. All of them have to agree.",
            ),
            Misconception(
                "permutation_ignored",
                {"own_permutation": True},
                "The tokens are shuffled, but not by the permutation given.",
            ),
            Misconception(
                "shuffles_sequences",
                {"axis": 0},
                "The sequences of the batch are shuffled (axis 0). Shuffle the tokens, axis 1.",
            ),
            Misconception(
                "shuffles_features", {"axis": 2}, "The features are shuffled (axis 2). Shuffle the tokens, axis 1."
            ),
        ),
        hints=(
            "Two ways to the same place: shuffle the tokens and then apply fn, or apply fn and then shuffle the result.",
            "Shuffle axis 1 of both. ops.take(…, permutation, axis=1) takes arrays and tensors.",
            "Compare the largest absolute difference with the tolerance, and return a bool.",
        ),
    ),
    Exercise(
        name="rotary",
        oracle=oracles.rotary,
        tolerance=ANGLE_TOLERANCE,
        groups=(
            Group("values", "right values", 2, _rotary_values),
            Group(
                "batched",
                "leading dimensions",
                1,
                _rotary_batched,
                advice="The angles have the shape (T, D/2) and broadcast over whatever stands before. Write x[..., 0::2].",
            ),
            Group(
                "positions",
                "positions with gaps, in any order",
                1,
                _rotary_positions,
                advice="Use the positions given, not a count of the rows.",
            ),
            Group(
                "types",
                "arrays and tensors, float type kept",
                1,
                _rotary_types,
                advice="Positions come as integers: cast them, and the angles, to the float type of x.",
            ),
        ),
        misconceptions=(
            *PAIR_EXPONENTS,
            Misconception(
                "turns_backwards",
                {"direction": -1},
                "The pairs turn the wrong way: the minus sign belongs to the first of the two numbers.",
            ),
            Misconception(
                "rotary_minus_missing", {"rotation": "plus"}, "A minus sign is missing: a·cos θ − b·sin θ comes first."
            ),
            Misconception(
                "cosine_factor_only",
                {"rotation": "scaled"},
                "The pairs are multiplied by cos θ only: the sine terms are missing.",
            ),
            Misconception(
                "added_instead",
                {"rotation": "added"},
                "Sines and cosines are added to x. Rotary positions turn x, they add nothing.",
            ),
            Misconception(
                "turned_pair_added",
                {"rotation": "turned and added"},
                "The turned pair is added to x; it takes the place of x.",
            ),
            Misconception(
                "pairs_mirrored",
                {"rotation": "mirrored"},
                "A minus sign stands in both formulas, which mirrors the pair. The second one is a·sin θ + b·cos θ.",
            ),
            Misconception(
                "overwritten_pair",
                {"rotation": "overwritten"},
                "The second number is computed from the first one's new value. Keep the old pair until both are done.",
            ),
            Misconception(
                "half_pairs",
                {"layout": "halves"},
                "Column i is paired with column i + D/2. Here neighbours make a pair: columns 2i and 2i + 1.",
            ),
            Misconception(
                "not_interleaved",
                {"layout": "not interleaved"},
                "The turned pairs come back as two blocks. They have to be interleaved again: columns 2i and 2i + 1.",
            ),
            Misconception(
                "positions_counted",
                {"counted": True},
                "The rows are counted 0, 1, 2, …; the positions given are not used.",
            ),
            Misconception(
                "positions_plus_one", {"first": 1}, "Every position is one too many: position 0 does not turn at all."
            ),
            Misconception(
                "rotary_sin_cos_exchanged",
                {"rotation": "sin_cos_exchanged"},
                "Sine and cosine are exchanged: position 0 has to leave x as it is.",
            ),
            Misconception(
                "angles_in_halves",
                {"layout": "angles in halves"},
                "The angles are repeated block by block, θ₀, θ₁, …, θ₀, θ₁, …. Neighbours share one: θ₀, θ₀, θ₁, θ₁, …",
            ),
            Misconception("degrees", {"degrees": True}, "The angles are taken as degrees; they are radians."),
        ),
        hints=(
            "a = x[..., 0::2] and b = x[..., 1::2] hold all pairs at once, (…, T, D/2).",
            "The angles are positions (T, 1) times frequencies (D/2,), and they broadcast to the pairs.",
            "To interleave two arrays: stack them along a new last axis, then reshape to the shape of x.",
        ),
    ),
)

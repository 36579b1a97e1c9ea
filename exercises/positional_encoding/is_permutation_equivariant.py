"""Lab 05, exercise `is_permutation_equivariant`."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from autograder.declare import Case, Exercise, edit
from coursekit.generator import Generator
from coursekit.probes.positional_encoding import TOKEN_MAPS, token_map
from exercises.drawing import drawn_until, normal


def cycle(rng, length: int) -> np.ndarray:
    """A permutation made of one cycle through all places: it leaves nothing in place and is not its own inverse."""
    order = rng.permutation(length)
    permutation = np.empty(length, "int64")
    permutation[order] = np.roll(order, 1)
    return permutation


def _neighbours_kept(permutation: np.ndarray) -> np.ndarray:
    """For each place whether the token there follows the same token as before; the first one follows the last."""
    return (permutation - np.roll(permutation, 1)) % len(permutation) == 1


Rows = Callable[[Generator, tuple[int, ...]], np.ndarray]  # draws numbers (B, T, E) that are added to a map's result


def _of_feature(sequence: int, feature: int) -> Rows:
    def draw(rng, shape: tuple[int, ...]) -> np.ndarray:
        rows = np.zeros(shape)
        rows[sequence, :, feature] = rng.normal(size=shape[1])
        return rows

    return draw


def _half(which: tuple[slice | int, ...]) -> Rows:
    def draw(rng, shape: tuple[int, ...]) -> np.ndarray:
        rows = np.zeros(shape)
        rows[which] = 0.5
        return rows

    return draw


SAME = "the same row at every position"
ROWS = "a row for each position"
NUMBERS = "a number for each position"
FEATURES = {
    f"a number for each position in feature {feature} of sequence {sequence}": _of_feature(sequence, feature)
    for sequence in range(3)
    for feature in range(3)
}
TOKENS = {f"0.5 at position {token}": _half((slice(None), token)) for token in range(3)}
ADDED: dict[str, Rows] = {
    SAME: lambda rng, shape: np.zeros(shape),
    ROWS: lambda rng, shape: np.broadcast_to(rng.normal(size=shape[1:]), shape),
    NUMBERS: lambda rng, shape: np.broadcast_to(rng.normal(size=(shape[1], 1)), shape),
    **FEATURES,
    **TOKENS,
    "0.5 at the first feature of position 0": _half((slice(None), 0, 0)),
    "0.5 at positions 3 to 5": _half((slice(None), slice(3, 6))),
}


def _judged(
    rng,
    fn: str,
    added: str = SAME,
    *,
    shape: tuple[int, ...] = (2, 5, 3),
    mode: str = "call",
    apart: float | None = None,
    tolerance: float | None = None,
    permutation: np.ndarray | None = None,
    level: float = 1.0,
) -> Case:
    """A case whose map adds the same row to every token, and what `added` says.

    The name of the map does not say what is right, and the rows are drawn: nobody finds the answer in what is released.
    `apart` is the largest difference that the rows make, in units of the tolerance, `level` the size of the same row.
    """
    x, permutation = normal(rng, *shape), cycle(rng, shape[1]) if permutation is None else permutation
    result = TOKEN_MAPS[fn](x.astype("float64"))
    same = level * rng.normal(size=result.shape[-1])
    rows = ADDED[added](rng, result.shape)
    if apart is not None:
        apart *= 1e-5 if tolerance is None else tolerance
        rows = rows * apart / np.abs(rows[:, permutation] - rows).max()
        added += f" that makes results up to {apart:.2g} apart"
    settings = {} if tolerance is None else {"tolerance": tolerance}
    kind = "TensorFlow tensors, " if mode == "tensor" else ""
    wording = "".join(f", {key}={value:g}" for key, value in settings.items())
    return Case(
        {"fn": fn, "added": same + rows, "x": x, "permutation": permutation, **settings},
        f"{kind}fn = “{fn}, plus {added}”, x {shape}{wording}",
        mode=mode,
    )


def _both(rng, *names: str, **settings) -> list[Case]:
    """Each map twice: equivariant, and not."""
    return [_judged(rng, fn, added, **settings) for fn in names for added in (SAME, ROWS)]


def _one_sided(rng) -> list[Case]:
    """A map whose two results differ by numbers of one sign, once positive and once negative."""
    cases = [_judged(rng, "the first token's first feature added everywhere", shape=(3, 5, 2)) for _ in range(2)]
    for case, sign in zip(cases, (1, -1), strict=True):
        case.inputs["x"][:, 0, 0] = 9 * sign
    return cases


def _in_any_order(rng, cases: list[Case]) -> list[Case]:
    """The cases shuffled: the answer is True or False, so which map comes when is drawn."""
    return [cases[at] for at in rng.permutation(len(cases))]


def _default_after_a_large_one(cases: list[Case]) -> bool:
    """Whether a tolerance that is kept, the first or the last one given, changes the answer of a call without one."""
    limits = [case.inputs.get("tolerance") for case in cases]
    given = [limit for limit in limits if limit is not None]
    return given[0] >= LARGE and any(limit and limit >= LARGE and then is None for limit, then in pairwise(limits))


LARGE = 0.02  # a tolerance ten times as large as what the maps of calls without one are apart
DECADES = ((LARGE, 0.1), (2e-3, LARGE), (5e-4, 2e-3))  # from which tolerances are drawn

exercise = Exercise("is_permutation_equivariant", own_probe=True)


@exercise.formula
def is_permutation_equivariant(fn, added, x, permutation, tolerance=1e-05):
    """Whether fn(x[:, permutation]) equals fn(x)[:, permutation], entry by entry, within the tolerance. x (B, T, D)."""
    compute = token_map(fn, added)
    apart = compute(x[:, permutation]) - compute(x)[:, permutation]
    return {"output": bool(np.abs(apart).max() <= tolerance)}


# What mistakes change.
TOKENS_SHUFFLED = "compute(x[:, permutation])"
RESULT_SHUFFLED = "compute(x)[:, permutation]"
VERDICT = "np.abs(apart).max() <= tolerance"
ONE_SEQUENCE = "Only one sequence of the batch is compared."
A_SHARE = "The difference is divided by the size of the result. `tolerance` is a difference, not a share."
ADDED_UP = (
    "The differences of all entries are added up, as in a norm or a sum: many small ones together exceed the "
    "tolerance. Compare the largest one."
)
ONE_FEATURE = "Only one feature of each token is compared."


@exercise.group("equivariant maps, and others", points=2, must_fail_for=("first_token_only",))
def values(rng):
    # A map of neighbours hardly notices a shift of all tokens: some neighbours stay together, and some do not.
    permutation = drawn_until(lambda drawn: 0 < _neighbours_kept(drawn).sum() < len(drawn), lambda: cycle(rng, 5))
    maps = ("self-attention", "each token by itself", "distance from the mean token")
    cases = _both(rng, *maps, permutation=permutation)
    cases += [_judged(rng, fn, permutation=permutation) for fn in ("each token plus its predecessor", "running sum")]
    return _in_any_order(rng, cases)


@exercise.group("invariant maps: equivariant only if all rows are equal")
def invariant(rng):
    cases = _both(rng, *("the mean token at every place", "self-attention") * 2, shape=(3, 7, 2))
    return _in_any_order(rng, [*cases, _judged(rng, "features sorted over the tokens", shape=(3, 7, 2))])


@exercise.group("almost equivariant: the tolerance decides", must_fail_for=("one_entry_suffices", "first_token_only"))
def tolerance(rng):
    def pair(fn: str, limits: tuple[float, float], **settings) -> list[Case]:
        """Two cases around a tolerance: so far below it that no sum exceeds it, and above it."""
        return [
            _judged(rng, fn, ROWS, tolerance=float(f"{rng.uniform(*limits):.2g}"), apart=rng.uniform(*by), **settings)
            for by in ((0.05, 0.15), (2.5, 8.0))
        ]

    faint, large = "the tokens themselves", "100,000 and the tokens"
    cases = [
        *[case for limits in DECADES for case in pair(faint, limits)],
        *[_judged(rng, faint, ROWS, apart=rng.uniform(100, 200)) for _ in range(2)],
        _judged(rng, faint, NUMBERS, shape=(3, 13, 7), tolerance=2.5e-3, apart=0.8),  # many, each below it
        _judged(rng, large, tolerance=0.05),
        _judged(rng, large, ROWS, tolerance=0.05, apart=rng.uniform(4, 12)),  # apart by less than a share of 0.00001
        *pair("a thousandth of each token", (1e-3, 2e-3), level=1e-3),
    ]
    mixed = drawn_until(_default_after_a_large_one, lambda: _in_any_order(rng, cases))
    return [
        *mixed,
        _judged(rng, faint, tolerance=0.0),  # the same row is added to each token: equal to the last bit
        _judged(rng, faint, ROWS, tolerance=LARGE, apart=0.002),  # no sum, and no share of a result, exceeds it
    ]


@exercise.group("one entry, feature, token or sequence that differs", must_fail_for=("first_token_only",))
def corners(rng):
    tokens, shape = "the tokens themselves", (3, 5, 2)
    same = (tokens, "self-attention", "each token by itself", "distance from the mean token")
    wide = "the tokens with a zero behind them"
    cases = [
        *[_judged(rng, fn, shape=shape) for fn in (*same, wide)],
        *[_judged(rng, wide, added, shape=shape) for added in FEATURES],
        *[_judged(rng, tokens, added, shape=shape) for added in TOKENS],
        *[
            _judged(rng, tokens, added, shape=(3, 13, 7), tolerance=0.1)
            for added in (SAME, "0.5 at the first feature of position 0")
        ],
        *_one_sided(rng),
    ]
    return _in_any_order(rng, cases)


@exercise.group("the tokens are shuffled, in the order given")
def axes(rng):
    """Some shuffles keep each token on its side of the middle, and one of their maps sees the side only.

    Where a number is added to all features alike, shuffled features make no difference.
    """
    cases = _both(rng, "self-attention", "distance from the mean token", shape=(5, 5, 5))
    cases += [
        _judged(rng, "distance from the mean token", NUMBERS, shape=(5, 5, 5), level=0.0),
        _judged(rng, "the tokens themselves", "a number for each position in feature 1 of sequence 2", shape=(5, 5, 5)),
    ]
    sides = np.array([1, 2, 0, 5, 3, 4])
    cases += [
        _judged(rng, fn, added, shape=(2, 6, 3), permutation=sides)
        for fn, added in (
            ("the tokens themselves", "0.5 at positions 3 to 5"),
            ("the tokens themselves", ROWS),
            ("self-attention", SAME),
        )
    ]
    return [*_in_any_order(rng, cases), _judged(rng, "the mean token at every place", shape=(5, 5, 5))]


@exercise.group("TensorFlow tensors")
def tensors(rng):
    cases = _both(rng, "self-attention", "each token by itself", mode="tensor")
    return _in_any_order(rng, [*cases, _judged(rng, "running sum", mode="tensor")])


exercise.mistakes(
    tests_invariance=edit(RESULT_SHUFFLED, "compute(x)")
    | "This tests invariance: it asks whether the result stays the same, not whether it is shuffled in the same way.",
    always_yes=edit(VERDICT, "True")
    | "The answer is True for every map. Is x shuffled before fn sees it, and does a sum let differences cancel?",
    always_no=edit(VERDICT, "False")
    | "The answer is False even for self-attention. Are both sides shuffled by the same permutation, in the same "
    "direction?",
    negated=edit(VERDICT, "np.abs(apart).max() > tolerance") | "True and False are exchanged.",
    tolerance_ignored=edit(VERDICT, "np.abs(apart).max() <= 1e-5")
    | "The argument `tolerance` has no effect: the answer is the same whatever is given.",
    mean_difference=edit(VERDICT, "np.abs(apart).mean() <= tolerance")
    | "The mean difference is compared. One entry that differs much is hidden by a mean.",
    signed_sum=edit(VERDICT, "abs(apart.sum()) <= tolerance")
    | "The differences are summed with their signs, and they cancel each other.",
    first_sequence_only=edit(VERDICT, "np.abs(apart[0]).max() <= tolerance") | ONE_SEQUENCE,
    last_sequence_only=edit(VERDICT, "np.abs(apart[-1]).max() <= tolerance") | ONE_SEQUENCE,
    first_feature_only=edit(VERDICT, "np.abs(apart[..., 0]).max() <= tolerance") | ONE_FEATURE,
    last_feature_only=edit(VERDICT, "np.abs(apart[..., -1]).max() <= tolerance") | ONE_FEATURE,
    first_token_only=edit(VERDICT, "np.abs(apart[:, 0]).max() <= tolerance")
    | "Only one token of each sequence is compared.",
    not_if_invariant=edit(
        VERDICT, "np.abs(apart).max() <= tolerance < np.abs(compute(x[:, permutation]) - compute(x)).max()"
    )
    | "A map that is both, equivariant and invariant, gets False: your code asks whether the result changes at all."
    | "fn gives the mean token at every place. Shuffle before it, shuffle after it: are the two equal?",
    relative_part=edit(VERDICT, "bool((np.abs(apart) <= tolerance + 1e-5 * np.abs(compute(x)[:, permutation])).all())")
    | "Large entries may differ by more than `tolerance`: a share of their size is added to it, as `np.allclose` does "
    "unless told otherwise." | "Which two tolerances does `np.allclose` have?",
    relative_only=edit(VERDICT, "np.abs(apart).max() <= tolerance * np.abs(compute(x)[:, permutation]).max()")
    | A_SHARE,
    relative_entries=edit(VERDICT, "(np.abs(apart) / np.abs(compute(x)[:, permutation])).max() <= tolerance") | A_SHARE,
    summed_up=edit(VERDICT, "np.sqrt((apart**2).sum()) <= tolerance") | ADDED_UP,
    all_added=edit(VERDICT, "np.abs(apart).sum() <= tolerance") | ADDED_UP,
    no_absolute_value=edit(VERDICT, "apart.max() <= tolerance")
    | "The largest difference is taken with its sign, so that a large negative difference is not noticed: take "
    "absolute values.",
    strictly_below=edit(VERDICT, "np.abs(apart).max() < tolerance")
    | "Entries that differ by exactly `tolerance` count as different. Equal means: by no more than `tolerance`."
    | "What should the answer be for tolerance=0 and entries that are equal?",
    one_entry_suffices=edit(VERDICT, "np.abs(apart).min() <= tolerance")
    | "One entry that agrees is enough for True. All entries should have to agree.",
    inverse_on_one_side=edit(RESULT_SHUFFLED, "compute(x)[:, np.argsort(permutation)]")
    | "Before fn the tokens are shuffled by another permutation than after it: one of the two is the inverse.",
    permutation_ignored=edit((TOKENS_SHUFFLED, "compute(x[:, ::-1])"), (RESULT_SHUFFLED, "compute(x)[:, ::-1]"))
    | "The tokens are shuffled, but not by the permutation given.",
    shuffles_sequences=edit((TOKENS_SHUFFLED, "compute(x[permutation])"), (RESULT_SHUFFLED, "compute(x)[permutation]"))
    | "The sequences of the batch are shuffled (axis 0). Shuffle the tokens, axis 1.",
    shuffles_features=edit(TOKENS_SHUFFLED, "compute(x[:, :, permutation])")
    | edit(RESULT_SHUFFLED, "compute(x)[:, :, permutation]")
    | "The features are shuffled (axis 2). Shuffle the tokens, axis 1.",
)

exercise.advice(
    invariant="For an equivariant map the result is shuffled in the same way. For an invariant map it stays as it is. "
    "If all its rows are equal, the map is both.",
    tolerance="A map counts as equivariant when no entry differs by more than `tolerance`.",
    corners="A single entry that differs too much is enough for False, if it is compared and if the shuffle moves it: "
    "compare all entries, and shuffle by the argument `permutation`.",
    axes="Two things are shuffled, x and fn(x): both by the argument `permutation`, and both along axis 1.",
    tensors="A tensor cannot be indexed with an array: `ops.take(x, permutation, axis=1)` works for both.",
)
exercise.hints(
    values=(
        "Compare two results: shuffle the tokens and then apply fn, or apply fn and then shuffle the result.",
        "Shuffle axis 1 of both. ops.take(…, permutation, axis=1) takes arrays and tensors.",
        "Compare the largest absolute difference with the tolerance, and return a bool.",
    ),
    invariant="Print both results for a map that returns the mean of all tokens. Which of them do you shuffle?",
    tolerance="By how much may one entry differ?",
    corners="Does each entry take part in the comparison by itself? And where does your permutation come from?",
    axes="Which axis of (B, T, D) holds the tokens? And is the permutation itself applied, or its inverse?",
    tensors="Which function takes an array of indices, for tensors and arrays alike?",
)

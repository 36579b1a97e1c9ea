"""Says what a failure means: the errors that students meet most often, and how wrong numbers relate to right ones.

TensorFlow's messages are written for those who know TensorFlow. Each sentence here says what to look at, and none knows
the exercise: what belongs to one exercise is its groups' advice.

A relation is a fact about numbers: a constant factor, two axes exchanged, right in the first item of a batch only. It
is stated where no named mistake fits, if it holds in every case in which the result is wrong: “Your `low` is right only
in its last item”.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from coursekit.check.comparison import NAN_FLAG, as_numbers, difference

MEANINGS: tuple[tuple[str, str], ...] = (
    (
        r"compatible batch dimensions",
        "In a product of stacks of matrices only the last two axes are multiplied; all axes before them have to "
        "agree. Does your code exchange the last two axes only, and are the axes before them the same in both?",
    ),
    (
        r"ndims must be >= 2|In\[0\] and In\[1\] ha\w+ different ndims",  # depends on the processor
        "TensorFlow's `@` and `tf.matmul` take no vectors; `ops.matmul` and `ops.einsum` do.",
    ),
    (
        r"does not have enough dimensions \(has 0",
        "A single number stands where an array is expected. Did a sum, a mean or a norm lose its `axis=`? Without it "
        "the function joins all entries of the array.",
    ),
    (
        r"Matrix size-incompatible|matmul: Input operand|core dimension|BatchMatMul",
        "In a matrix product the last axis of the first factor meets the second-to-last axis of the second factor: "
        "these two sizes must be equal.",
    ),
    (
        r"None.{0,500}in your line `[^`]{0,200}softmax\([^`]{0,200}axis=[\[(]",
        "A softmax over two axes at once needs a known batch size: flatten the two axes to one first, and reshape the "
        "result back afterwards.",
    ),
    (
        r"A KerasTensor (cannot be used|is symbolic)",
        "`keras.Input` gives a placeholder without numbers, which functions of TensorFlow (`tf.…`) and NumPy cannot "
        "take. Those of `keras.ops` can: write `ops.cast` for `tf.cast`, `ops.sum` for `tf.reduce_sum`, "
        "`ops.not_equal` for `tf.not_equal`, and so on.",
    ),
    (
        r"(?s)Incompatible shapes.{0,500}Op:__inference",
        "Inside tf.function a length may be unknown: `x.shape[1]` is None there, and `table[:None]` is the whole "
        "table. `ops.shape(x)[1]` is the length. If this is not the cause, compare the sizes from the right.",
    ),
    (
        r"Only input tensors may be passed as positional arguments",
        "A Keras layer takes tensors by position, and everything else by its name: `training=training`.",
    ),
    (
        r"Incompatible shapes|could not be broadcast|must be broadcastable|Dimensions must be equal",
        "Shapes are compared from the right, and two sizes must be equal unless one of them is 1. Is an axis missing "
        "(`keepdims=True` in a sum or maximum keeps an axis of size 1, and `x[:, None]` makes one), or does an axis "
        "have the wrong size?",
    ),
    (
        r"ConcatOp|[Cc]oncatV2|concatenation axis",
        "Arrays that are joined must have equal sizes on all axes but one, and nothing is broadcast. A single row, "
        "such as a class token (1, 1, D), has to be there once for each item of the batch first: `ops.broadcast_to` or "
        "`ops.repeat`.",
    ),
    (
        r"boolean index did not match",
        "An assignment through a mask does not broadcast: the mask needs the array's own shape. `where(mask, a, b)` "
        "broadcasts, and leaves its arguments as they are.",
    ),
    (
        r"too many indices for array|index -?\d+ is out of bounds for axis",
        "An index goes beyond an axis, or there are more indices than axes. Does the code assume two axes where the "
        "array may have three, or does it count an axis from the front?",
    ),
    (
        r"axis -?\d+ is out of bounds for array",
        "The array has fewer axes than the code counts. Count them from the end: −1 is the last axis, whatever stands "
        "before it.",
    ),
    (
        r"values to unpack \(expected",
        "The code takes something apart into more names, or fewer, than it has parts, such as the sizes of a shape. "
        "`*leading, length, width = x.shape` takes any leading axes, but needs two axes at least.",
    ),
    (
        r"Input to reshape is a tensor with|cannot reshape array of size",
        "A reshape keeps the number of values. Does the array have the shape that you expect?",
    ),
    (
        r"'Tshape' of float|'float' object cannot be interpreted as an integer",
        "A size has to be a whole number: `/` gives a float, `//` an int.",
    ),
    (
        r"Tensor\b.{0,200} object has no attribute|Tensor' object has no attribute",
        "TensorFlow's tensors have few of NumPy's methods, and no `.T`: use `ops.transpose(x)`, `ops.reshape(x, …)` "
        "and so on. Where no layer and no graph calls your code, `np.asarray` makes an array of a tensor.",
    ),
    (
        r"'[\w.]*(Tensor|Variable)\w*' object does not support item assignment",
        "A tensor cannot be changed in place. Build the result with `ops.where`, `ops.stack`, `ops.concatenate` "
        "or a product.",
    ),
    (
        r"must have the same dtype|was expected to be an? \w+ tensor but is an? \w+ tensor|to EagerTensor of dtype",
        "Your code combines two types of numbers: NumPy's fractions are float64 (TensorFlow says double), a mask is "
        "bool or int. `ops.cast(a, b.dtype)` gives a the type of b.",
    ),
    (r"read-only", "Your code writes into its own argument. Work on a copy: `np.array(x)`."),
    (
        r"as a Python `?bool",
        "Inside tf.function a tensor has no numbers yet: `if`, `and`, Python's `max` and NumPy's functions cannot read "
        "it. `ops.where`, `ops.maximum`, `ops.arange` and the like can. To see whether an argument was given, write "
        "`if mask is not None`.",
    ),
    (
        r"truth value of an array",
        "`if`, `and` and Python's `max` need one truth value and get a whole array. The largest entry is "
        "`np.max(x)`. To see whether an argument was given, write `if mask is not None`.",
    ),
    (
        r"elements of \(.{0,200}None|None values not supported|NoneType",
        "Something is None: an argument that was not given or, inside tf.function, a size that is not known yet. "
        "`x.shape` holds None for it, `ops.shape(x)` a number, and a reshape takes −1.",
    ),
    (
        r"unexpected keyword argument '\w*mask'",
        "No argument has this name. Compare the names in the `def` line with those in the lab's text. "
        "`keras.layers.MultiHeadAttention` has `attention_mask`.",
    ),
    (
        r"multiple values for argument '\w*mask'",
        "Keras passes masks on by name. Do the same: `mask=…`, `attention_mask=…`.",
    ),
    (
        r"indices\[[\d,]*\] = -?\d+ is not in \[0, \d+\)",
        "An Embedding has no row with this number. Does the table have as many rows as it should, and do you look up "
        "the right numbers?",
    ),
    (
        r"expected axis -1 of input shape to have value",
        "A layer keeps the width of its first input. Is one layer used in two places?",
    ),
    (
        r"Binding inputs to tf.function",
        "The function or layer that you call gets an input that it does not take. “Can not cast” names first the shape "
        "and type that it gets, and then those that it takes.",
    ),
    (
        r"expects 1 input\(s\), but it received",
        "A layer that takes one tensor gets several, such as a whole dictionary. Pass only the entry to be read.",
    ),
    (
        r"expects [2-9] input\(s\), but it received 1 input",
        "A model that takes several tensors gets one. What makes the others, such as a preprocessing that makes three "
        "rows of a text, has to come before it.",
    ),
    (
        r"Integers to negative integer powers",
        "NumPy's whole numbers have no negative powers. If the exponent should be a fraction, divide with `/`, not "
        "`//`; if it is whole, write the base as a float, such as 10000.0.",
    ),
    (
        r"Could not interpret activation function identifier: \d",
        "The second argument of `keras.layers.Dense` is the activation. Dense takes only the width of its result, "
        "and finds the width of its input by itself: `Dense(d_ff)`, not `Dense(d_model, d_ff)`.",
    ),
    (
        r"Cannot convert a symbolic tf\.Tensor|numpy\(\) is only available when eager",
        "Inside tf.function or a model a tensor has no numbers yet, and a NumPy function or `get_weights` asked for "
        "them. Use `keras.ops`, and call the layers.",
    ),
    (
        r"Iterating over a symbolic",
        "Inside tf.function Python cannot loop over a tensor, because its sizes are not known yet. Work with the whole "
        "array: `ops.reshape`, `ops.transpose`, a product.",
    ),
    (
        r"is not a valid root scope name",
        "The name of a layer's or model's class begins with an underscore, and TensorFlow cannot use it inside a "
        "graph: rename the class.",
    ),
    (
        r"slice indices must be integers or None",
        "Inside tf.function a length is a tensor, and a NumPy array cannot be sliced with a tensor. Turn the array "
        "into a tensor first: `ops.convert_to_tensor(table)[:length]`.",
    ),
    (
        r"arrays used as indices must be of integer",
        "NumPy turns an empty list into an array of floats unless you set `dtype=int`.",
    ),
    (
        r"add new elements of state|singleton tf\.Variables",
        "A layer makes its parts, other layers and variables, in `__init__`; `call` only uses them. Is one made in "
        "`call`? Then move that line to `__init__`. To change the numbers of a built layer, use its "
        "`set_weights([…])` or a variable's `assign(…)`.",
    ),
    (
        r"must build the layer before accessing",
        "A layer makes its numbers when it is called for the first time, and has none before. Call the layer instead "
        "of reading its numbers: an Embedding takes an array of row numbers, and returns these rows.",
    ),
    (
        r"<\w+ name=\w+, built=",
        "There is a Keras layer where a tensor is expected. A layer is called, as in `self.w_q(x)`; it is not a "
        "matrix for `@` or for a function that takes matrices.",
    ),
)
_MEANINGS = tuple((re.compile(pattern), sentence) for pattern, sentence in MEANINGS)


def meaning(message: str) -> str:
    """What an error's text means and what to look at, in a sentence or two; empty when that is not known."""
    return next((sentence for pattern, sentence in _MEANINGS if pattern.search(message)), "")


# -- how wrong numbers relate to the right ones -----------------------------------------------------------------------


FEW = 4  # of fewer numbers one may be right for another reason than its place
NEARLY = 0.01  # a difference that is smaller, as a share of the largest value, may come from one small number
GRADIENTS = "gradient", "slopes"  # how the names of gradients begin, up to a dot
ROUNDED = 1e-5  # the share of a value by which float32 may round it on the way


class Wrong(NamedTuple):
    """A result that differs from its reference: the inputs of the case, what came back, what is right."""

    inputs: Mapping[str, Any]
    actual: Any
    right: Any
    tolerance: float


def relation(
    inputs: Sequence[Mapping[str, Any]],
    outputs: Sequence[Mapping[str, Any] | None],
    expected: Sequence[Mapping[str, Any]],
    tolerances: Sequence[Mapping[str, float]],
) -> str:
    """A sentence on the first result for which a relation holds wherever it is wrong; empty if there is none.

    Gradients are wrong where what they are taken of is, so nothing is said of them unless all else is right. Nothing is
    said either where a result is NaN in other places than it should be, or of what is wrong in later cases alone: it
    may follow from what is wrong in the first one.

    Args:
        inputs: inputs by case.
        outputs: the student's results by case; None where the case raised.
        expected: right results by case.
        tolerances: by case, the largest difference that rounding explains.
    """
    wrong: dict[str, list[Wrong]] = {}
    first_wrong: frozenset[str] = frozenset()
    tried: Counter[str] = Counter()
    for given, results, right, limits in zip(inputs, outputs, expected, tolerances, strict=True):
        for key, value in right.items():
            limit = limits.get(key, 0.0)
            tried[key] += bool(results)
            if results and key in results and difference(key, results[key], value, limit) is not None:
                wrong.setdefault(key, []).append(Wrong(given, results[key], value, limit))
        first_wrong = first_wrong or frozenset(wrong)
    if any(key.endswith(NAN_FLAG) for key in wrong):
        return ""
    misshapen = {key: cases for key, cases in wrong.items() if any(_has_another_shape(case) for case in cases)}
    wrong = misshapen or wrong  # what follows from another shape, such as another gradient, says nothing
    results_alone = {key: cases for key, cases in wrong.items() if key.partition(".")[0] not in GRADIENTS}
    told = results_alone or wrong
    for key, cases in ({key: cases for key, cases in told.items() if key in first_wrong} or told).items():
        several = sum(_wrong_numbers(case) for case in cases) > 1
        with np.errstate(all="ignore"):  # whoever chose the numbers, nothing is said beside the sentence
            first, *others = (dict.fromkeys(_phrases(case, several)) for case in cases)
        common = [phrase for phrase in first if all(phrase in other for other in others)]
        if common and len(cases) == tried[key]:
            return f"Your `{key}` {common[0]}."
        if common:
            return f"Your `{key}` is wrong in {len(cases)} of {tried[key]} tests. There it {common[0]}."
    return ""


def _has_another_shape(case: Wrong) -> bool:
    actual, right = as_numbers(case.actual), as_numbers(case.right)
    return actual is not None and right is not None and actual.shape != right.shape


def _wrong_numbers(case: Wrong) -> int:
    """How many numbers of a result are wrong; all where its shape is another, 1 where no numbers are right."""
    actual, right = as_numbers(case.actual), as_numbers(case.right)
    if right is None:
        return 1
    if actual is None or actual.shape != right.shape:
        return int(right.size)
    with np.errstate(all="ignore"):  # an infinite number minus itself, and a wider type made narrow
        return int(right.size - np.sum(np.abs(actual.astype("float64") - right) <= case.tolerance))


def _phrases(case: Wrong, several: bool) -> Iterator[str]:
    """Return what is true of a wrong result, the most telling first. For one number some factor always fits."""
    actual, right = as_numbers(case.actual), as_numbers(case.right)
    if actual is None or right is None:
        return
    if actual.dtype.kind == "b" and right.dtype.kind != "b":
        return
    if actual.dtype.kind in "iu" and right.dtype.kind == "f" and (right != np.round(right)).any():
        is_near = actual.shape == right.shape and bool((np.abs(actual - right) <= 1).all())
        yield f"has whole numbers only{': the fractional parts were dropped' if is_near else ''}"
        return
    case = case._replace(actual=actual.astype("float64"), right=right.astype("float64"))
    yield from _unchanged(case, several)
    if actual.shape != right.shape:
        yield from _rearranged(case)
        return
    if not np.isfinite(case.actual).all():
        yield from _not_finite(case)
        return
    if np.isinf(case.right).any():  # no factor or difference relates a number to infinity
        return
    free = np.isnan(case.right)
    case = case._replace(actual=np.where(free, 0.0, case.actual), right=np.where(free, 0.0, case.right))
    yield from _rearranged(case)
    if right.dtype.kind != "b":
        yield from _scaled(case, several, is_count=right.dtype.kind in "iu" and not right.ndim)
    yield from _right_in_part(case)
    if right.dtype.kind == "f" and right.ndim:
        yield from _row_by_row(case)
        largest = float(np.abs(case.right).max(initial=0.0))
        if np.abs(case.actual - case.right).max(initial=0.0) <= NEARLY * largest:
            yield "is nearly right, as if a small number were added or had another value"


def _same(one: Any, other: Any, tolerance: float) -> bool:
    one, other = np.asarray(one), np.asarray(other)
    if one.shape != other.shape:
        return False
    with np.errstate(invalid="ignore"):
        close = np.abs(one - other) <= tolerance + (ROUNDED * np.abs(other) if tolerance else 0)
    return bool(np.all(close | np.isnan(other)))


def _unchanged(case: Wrong, several: bool) -> Iterator[str]:
    for name, value in case.inputs.items():
        is_numbers = isinstance(value, np.ndarray) and value.ndim > 0 and value.dtype.kind in "iuf"
        if is_numbers and _same(case.actual, value, case.tolerance):
            yield f"is the input `{name}`, unchanged"
    if several and case.right.size > 1 and case.actual.size and (case.actual == case.actual.flat[0]).all():
        yield f"has the same number everywhere: {case.actual.flat[0]:.4g}"


def _rearranged(case: Wrong) -> Iterator[str]:
    """The right numbers along other axes, in another order, or in another shape."""
    _, actual, right, tolerance = case
    changed = [
        (f"its axes {axis} and {axis + 1} were exchanged", actual.swapaxes(axis, axis + 1))
        for axis in range(actual.ndim - 1)
        if actual.shape[axis : axis + 2] != (1, 1)
    ]
    for axis in range(-1, -1 - min(actual.ndim, 3), -1):
        if actual.shape[axis] > 1:
            changed.append((f"its order along axis {axis} were reversed", np.flip(actual, axis)))
            moved = f"it were shifted by one position along axis {axis}"
            changed += [(moved, np.roll(actual, step, axis)) for step in (1, -1)]
    yield from (f"would be right if {how}" for how, result in changed if _same(result, right, tolerance))
    if actual.size != right.size:
        return
    in_order = np.sort(right, axis=None)
    if actual.shape != right.shape and _same(actual.reshape(right.shape), right, tolerance):
        yield "has the right numbers, in another shape"
    elif len(np.unique(in_order)) > 2 and _same(np.sort(actual, axis=None), in_order, tolerance):
        yield "has the right numbers, in the wrong positions"


def _not_finite(case: Wrong) -> Iterator[str]:
    finite = np.isfinite(case.actual)
    if not _same(np.where(finite, case.actual, case.right), case.right, case.tolerance):
        return
    mask = case.inputs.get("mask", case.inputs.get("attention_mask"))
    if isinstance(mask, np.ndarray) and case.actual.ndim >= 2:
        empty = ~mask.astype(bool).any(axis=-1)
        rows = ~finite.any(axis=-1)
        whole = bool((rows == ~finite.all(axis=-1)).all())
        if whole and empty.ndim <= rows.ndim and _broadcasts(empty, rows) and empty.any():
            yield "is NaN or infinite exactly in the rows for which the mask allows nothing; all other rows are right"
    if finite.any():
        yield "is right wherever it is not NaN or infinite"


def _broadcasts(small: Any, large: Any) -> bool:
    try:
        return bool((np.broadcast_to(small, large.shape) == large).all())
    except ValueError:
        return False


def _scaled(case: Wrong, several: bool, *, is_count: bool) -> Iterator[str]:
    """Return phrases on factors and offsets. For a count, the factor has to look like a size: any other says nothing.
    For a single number it has to be a small fraction."""
    _, actual, right, tolerance = case
    length = float(np.sum(right * right))
    if not length:
        return
    factor = float(np.sum(actual * right)) / length
    if 1e-6 < abs(factor) < math.inf and _same(actual, factor * right, tolerance * max(1.0, abs(factor))):
        for name, size in _sizes(case.inputs):
            yield from _looks_like(factor, size, name)
        if not is_count and f"{factor:.4g}" != "1" and (several or _is_small_fraction(factor)):
            yield f"is the right result times {factor:.4g}"
    if right.size > 1:
        offset = float(np.mean(actual - right))
        if _same(actual, right + offset, tolerance):
            yield f"is the right result plus {offset:.4g}"


def _is_small_fraction(factor: float) -> bool:
    """Whether a factor is a small fraction such as 3/2 or 1/4, as a forgotten step gives."""
    return any(math.isclose(factor * parts, round(factor * parts) or 1, rel_tol=1e-4) for parts in (1, 2, 3, 4))


def _sizes(inputs: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """The sizes of the inputs' axes, and the numbers among the inputs, that are larger than 1."""
    for name, value in inputs.items():
        if isinstance(value, np.ndarray):
            for axis in range(-1, -1 - value.ndim, -1):
                if value.shape[axis] > 1:
                    yield f"the size of axis {axis} of `{name}`", value.shape[axis]
        elif isinstance(value, (int, float)) and not isinstance(value, bool) and value > 1:
            yield f"`{name}`", value


def _looks_like(factor: float, size: float, name: str) -> Iterator[str]:
    for number, text in (
        (size, name),
        (math.sqrt(size), f"the square root of {name}"),
        (size**2, f"the square of {name}"),
    ):
        if math.isclose(factor, number, rel_tol=1e-4):
            yield f"is the right result times {text}"
        elif math.isclose(factor, 1 / number, rel_tol=1e-4):
            yield f"is the right result divided by {text}"


def _right_in_part(case: Wrong) -> Iterator[str]:
    _, actual, right, tolerance = case
    if not right.ndim:
        return
    close = np.abs(actual - right) <= tolerance
    mask = case.inputs.get("mask", case.inputs.get("attention_mask"))
    if isinstance(mask, np.ndarray) and mask.ndim:
        allowed = mask.astype(bool)
        if _broadcasts(allowed, close):
            yield "is right exactly where the mask is True"
        if _broadcasts(~allowed, close):
            yield "is right exactly where the mask is False"
    for axis in range(right.ndim):
        if right.shape[axis] < 2:
            continue
        along = close.all(axis=tuple(other for other in range(right.ndim) if other != axis))
        where = f" along axis {axis}" if right.ndim > 1 else ""
        first, last = along[0] and not along[1:].any(), along[-1] and not along[:-1].any()
        if (first or last) and right.size >= FEW:
            yield f"is right only in its {'first' if first else 'last'} item{where}"
        elif (not along[0] and along[1:].all()) or (not along[-1] and along[:-1].all()):
            yield f"is wrong only in its {'last' if along[0] else 'first'} item{where}"


def _row_by_row(case: Wrong) -> Iterator[str]:
    """Return phrases on factors and offsets of rows and of columns. Some factor always fits a line of equal numbers, or
    one with a single number that is not 0 (a softmax of large scores): each wrong line needs two different ones."""
    _, actual, right, tolerance = case
    for axis, what in ((-1, "row"), (-2, "column")):
        if right.ndim < -axis or right.shape[axis] < 3:
            continue
        each = f"{what} by {what}, each with another" if right.ndim > 1 else "in each test with another"
        lengths = (right * right).sum(axis=axis, keepdims=True)
        factors = (actual * right).sum(axis=axis, keepdims=True) / np.where(lengths > 0, lengths, 1.0)
        is_wrong = (np.abs(actual - right) > tolerance).any(axis=axis)
        counted = np.abs(right) > tolerance
        highest, lowest = (np.where(counted, sign * right, -np.inf).max(axis=axis) for sign in (1, -1))
        is_telling = bool((highest + lowest > tolerance)[is_wrong].all())
        if not is_telling:
            continue
        largest = float(np.abs(factors).max(initial=0.0))
        if 0 < largest < math.inf and _same(actual, factors * right, tolerance * max(1.0, largest)):
            yield f"is the right result times a factor, {each} one"
        offsets = (actual - right).mean(axis=axis, keepdims=True)
        if _same(actual, right + offsets, tolerance):
            yield f"is the right result plus a number, {each} one"

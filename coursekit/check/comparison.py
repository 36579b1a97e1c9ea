"""Compares results: with the right ones, with what must hold of them, and with those of each mistake, to name it.

It knows the inputs of a case, what came back, and references; it says what differs first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coursekit.probes.evidence import kind_of

LONGEST_QUOTE = 200  # characters of a value in a sentence
MOST_INSIDE = 100  # lists in each other that are printed
MOST_PRINTED = 1000  # values of an array: of a larger one NumPy prints the ends of each axis, and there may be 32 axes


NAN_FLAG = "_is_nan"  # how the name ends of what says where a result is NaN: students know the result alone


def difference(
    name: str, actual: Any, expected: Any, tolerance: float, *, dtype: str | None = None, reveal: bool = True
) -> str | None:
    """Return one sentence on the first difference between a result and the reference, or None when they agree.

    Args:
        name: the result's name, such as ``"weights"``.
        actual: what came back, as plain data (see `coursekit.check.attempts`), of whatever kind; nothing of it raises.
        expected: the reference. NaN in it stands for "any finite number".
        tolerance: largest absolute difference that rounding explains.
        dtype: the float type that the result must have; None when any will do.
        reveal: whether the sentence may state the reference value.
    """
    if not isinstance(expected, np.ndarray):
        return _plain_difference(name, actual, expected, tolerance, reveal)
    if isinstance(actual, (int, float, bool)):
        actual = np.asarray(actual)
    if not isinstance(actual, np.ndarray) or actual.dtype.kind not in "biuf":
        kind = f"an array of {actual.dtype}" if isinstance(actual, np.ndarray) else kind_of(actual)
        return f"`{name}` is {kind}; expected an array of numbers."
    if actual.shape != expected.shape:
        return f"`{name}` has shape {_shape(actual)}; expected {_shape(expected)}."
    anything = np.isnan(expected) if expected.dtype.kind == "f" else np.zeros(expected.shape, bool)
    not_finite = (
        ~np.isfinite(actual) & (anything | np.isfinite(expected)) if actual.dtype.kind == "f" else anything & False
    )
    if not_finite.any():
        index = _first(not_finite)
        found, wanted = int(not_finite.sum()), int((anything | np.isfinite(expected)).sum())
        told = "values are not finite" if wanted == actual.size else "that should be finite are not"
        return f"{_at(name, index)} is {actual[index]}: {found} of {wanted} {told}."
    wide = actual.astype("float64") if actual.dtype.kind != "f" else actual.astype(np.result_type(actual, "float64"))
    with np.errstate(invalid="ignore"):
        apart = ~((np.abs(wide - expected) <= tolerance) | (wide == expected) | anything)
    if apart.any():
        index = _first(apart)
        shown = _is_nan if name.endswith(NAN_FLAG) else _number
        value = f"{_at(name.removesuffix(NAN_FLAG), index)} is {shown(wide[index])}"
        value += f", expected {shown(expected[index])}" if reveal else ", which is not right"
        value += f"; {int(apart.sum())} of {actual.size} values differ." if actual.size > 1 else "."
        if actual.dtype.kind in "iu" and expected.dtype.kind == "f" and np.any(expected != np.round(expected)):
            value += f" It is an array of whole numbers ({actual.dtype}), so the fractional part was dropped."
        return value
    if dtype is not None and actual.dtype != np.dtype(dtype):
        return (
            f"`{name}` is {actual.dtype} for {dtype} input; expected {dtype}. "
            "Is another float type in the calculation? `np.zeros`, `np.eye` and `np.sqrt` of an int are float64."
        )
    return None


def as_numbers(value: Any) -> np.ndarray | None:
    """A number, or an array of numbers, as an array; None for anything else that can come back."""
    if not isinstance(value, (bool, int, float, np.ndarray)):
        return None
    array = np.asarray(value)
    return array if array.dtype.kind in "biuf" else None


def kind_of_difference(name: str, actual: Any, expected: Any) -> str:
    """How a result that differs from its reference fails: in its ``shape``, with a ``nan``, or in a ``value``."""
    if not isinstance(expected, np.ndarray):
        return "value"
    numbers = as_numbers(actual)
    if numbers is None or numbers.shape != expected.shape:
        return "shape"
    if name.endswith(NAN_FLAG) and (numbers != expected).any():
        return "nan"
    if numbers.dtype.kind != "f" or expected.dtype.kind != "f":
        return "value"
    return "nan" if bool((~np.isfinite(numbers) & ~np.isinf(expected)).any()) else "value"


def _plain_difference(name: str, actual: Any, expected: Any, tolerance: float, reveal: bool) -> str | None:
    if isinstance(actual, np.ndarray) and actual.ndim == 0:
        actual = actual.item()
    if isinstance(expected, (int, float)) and not isinstance(expected, bool):
        if isinstance(actual, bool) or not isinstance(actual, (int, float)):
            return f"`{name}` is {_quoted(actual)}; expected a number."
        same = actual == expected or abs(actual - expected) <= tolerance
    elif isinstance(expected, list):
        same = _equal(actual, expected)
    else:
        same = type(actual) is type(expected) and _equal(actual, expected)
    if same:
        return None
    if reveal and _is_plain_text(actual) and _is_plain_text(expected):
        return f"`{name}`: {actual}; expected: {expected}."
    return f"`{name}` is {_quoted(actual)}" + (
        f"; expected {_quoted(expected)}." if reveal else ", which is not right."
    )


def _equal(actual: Any, expected: Any) -> bool:
    """Whether two values are equal; arrays count as lists. Of `actual` only as much is read as `expected` is large: a
    student's result may hold a million things, and each case is compared with the results of many mistakes."""
    actual, expected = (value.item() if _is_number(value) else value for value in (actual, expected))
    if isinstance(actual, (list, np.ndarray)) and isinstance(expected, (list, np.ndarray)):
        return len(actual) == len(expected) and all(map(_equal, actual, expected))
    if isinstance(actual, dict) and isinstance(expected, dict):
        return actual.keys() == expected.keys() and all(_equal(actual[key], expected[key]) for key in expected)
    if isinstance(actual, np.ndarray) or isinstance(expected, np.ndarray):
        return False
    return bool(actual == expected)


def _is_number(value: Any) -> bool:
    return isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0)


def _is_plain_text(value: Any) -> bool:
    """Whether a value is a text that can be read without quotes, such as what a probe says of a function."""
    return isinstance(value, str) and 0 < len(value) < LONGEST_QUOTE and repr(value) == f"'{' '.join(value.split())}'"


def _quoted(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of shape {_shape(value)}"
    text = _number(value) if isinstance(value, float) else beginning(value, LONGEST_QUOTE)
    return text if len(text) <= LONGEST_QUOTE else text[: LONGEST_QUOTE - 3] + "…"


def beginning(value: Any, most: int, inside: tuple[int, ...] = ()) -> str:
    """Return what `repr` gives, whole or cut soon after `most` characters, without making the rest. A large array is
    given by its shape, a list inside itself by dots. `inside` are the ids of the containers around the value."""
    within = (*inside, id(value))
    match value:
        case list() | dict() if id(value) in inside or len(inside) > MOST_INSIDE:
            return "[...]" if isinstance(value, list) else "{...}"
        case str():
            return repr(value[: most + 1])
        case list():
            return f"[{_joined((beginning(item, most, within) for item in value), most)}]"
        case dict():
            pairs = (f"{beginning(key, most)}: {beginning(item, most, within)}" for key, item in value.items())
            return f"{{{_joined(pairs, most)}}}"
        case np.ndarray() if value.size > min(most, MOST_PRINTED):
            return f"an array of shape {_shape(value)}"
    return repr(value)


def _joined(texts: Iterable[str], most: int) -> str:
    kept: list[str] = []
    length = 0
    for text in texts:
        kept.append(text)
        length += len(text) + 2
        if length > most:
            break
    return ", ".join(kept)


def _shape(array: np.ndarray) -> str:
    return "(" + ", ".join(map(str, array.shape)) + ("," if array.ndim == 1 else "") + ")"


def _first(where: np.ndarray) -> tuple[int, ...]:
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(where)), where.shape))


def _at(name: str, index: tuple[int, ...]) -> str:
    return f"`{name}[{', '.join(map(str, index))}]`" if index else f"`{name}`"


def _is_nan(flag: Any) -> str:
    return "NaN" if flag else "a number"


def _number(value: Any) -> str:
    return f"{float(value):.6g}"


# -- properties, where no single value is right -----------------------------------------------------------------------


Property = Callable[[Mapping[str, Any], Mapping[str, Any]], str | None]


MOST_NAMED = 4  # results that a sentence names
LONGEST_NAME = 40


class Unfit(Exception):
    """A result of the wrong kind, shape or number; the message is a sentence for the student."""


def lacking(name: str, inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> str | None:
    """Return a sentence on what the results lack of a property, or None when they have it.

    Whatever the results are, judging them does not fail: results that a property cannot read do not have it.

    Args:
        name: the property's name, one of `PROPERTIES`.
        inputs: the case's inputs, and what was withheld from the probe.
        outputs: the results, as plain data.

    Raises:
        KeyError: there is no such property.
    """
    has = PROPERTIES[name]
    try:
        return has(inputs, outputs)
    except Unfit as unfit:
        return str(unfit)
    except Exception:
        named = ", ".join(f"`{key[:LONGEST_NAME]}`" for key in [*outputs][:MOST_NAMED])
        return f"{named or 'what came back'} cannot be read as the result asked for."


def _numbers(outputs: Mapping[str, Any], name: str, *shapes: tuple[int, ...]) -> np.ndarray:
    """The finite numbers ``outputs[name]``, as float64; of one of the `shapes`, where any are given."""
    value = outputs.get(name)
    if value is None:
        raise Unfit(f"`{name}` did not come back.")
    array = as_numbers(value)  # of a list of texts NumPy would make an array, each as long as the longest
    own = () if array is None else array.shape
    fitting = [shape for shape in shapes if shape == own] or [*shapes, own]
    found = difference(name, value, np.full(fitting[0], np.nan), 0.0)  # NaN: any finite number
    if found:
        raise Unfit(found)
    return np.asarray(value, "float64")


def rows_are_distributions(inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> str | None:
    """Every row of ``weights`` is non-negative and sums to 1; a row that may attend to nothing may also be all 0."""
    weights = _numbers(outputs, "weights")
    if weights.ndim == 0 or weights.size == 0:
        raise Unfit(f"`weights` has shape {weights.shape}; expected a row of weights for each query.")
    if (weights < -1e-6).any():
        return "some weights are negative."
    sums = weights.sum(axis=-1)
    bad = (np.abs(sums - 1) > 1e-4) & (np.abs(sums) > 1e-6)
    if bad.any():
        return f"the weights of {int(bad.sum())} of {bad.size} queries sum to {sums[bad].flat[0]:.4g}, not to 1."
    return None


def drops_at_its_rate(inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> str | None:
    """Rows of ``dropped``, one for each dropout: share of zeros in training, factor on the rest, change outside.

    A block of a decoder, which reads a ``memory``, has three dropouts; a block of an encoder has two.
    """
    dropouts = 3 if "memory" in inputs else 2 * max(1, inputs.get("num_layers", 1))
    rate = inputs.get("dropout", 0.1)
    margin = 6 * math.sqrt(rate * (1 - rate) / np.size(inputs["x"]))
    for number, (share, factor, outside) in enumerate(_numbers(outputs, "dropped", (dropouts, 3)), 1):
        if abs(share - rate) > margin:
            return f"dropout {number} sets {share:.1%} of its input to 0 in training; the rate is {rate:.0%}."
        if abs(factor * (1 - rate) - 1) > 1e-3:
            return f"dropout {number} multiplies what it keeps by {factor:.3f}; expected 1 / (1 − {rate})."
        if outside > 0:
            return f"dropout {number} changes its input outside training."
    return None


def classifies_well(inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> str | None:
    """``probabilities`` of class 1 agree with the withheld ``labels`` in at least the share ``least_accuracy``."""
    labels = np.asarray(inputs["labels"])
    count = len(labels)
    said = _numbers(outputs, "probabilities", (count, 1), (count,)).reshape(count) >= 0.5
    return _accurate_enough(float(np.mean(said == (labels == 1))), count, inputs["least_accuracy"])


def names_the_classes(inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> str | None:
    """The largest of each row of ``logits`` is that of the withheld label, in at least the share ``least_accuracy``."""
    labels = np.asarray(inputs["withheld_labels"])
    logits = _numbers(outputs, "logits", (len(labels), inputs["num_classes"]))
    return _accurate_enough(float(np.mean(logits.argmax(axis=-1) == labels)), len(labels), inputs["least_accuracy"])


def near_their_law(inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> str | None:
    """Each ``share`` lies within six standard errors of the withheld ``law`` of the process."""
    law, error = np.asarray(inputs["law"]), np.asarray(inputs["standard_error"])
    apart = np.abs(_numbers(outputs, "share", law.shape) - law)
    worst = int(np.argmax(apart / error))
    if apart[worst] <= 6 * error[worst]:
        return None
    return (
        f"`share[{worst}]` lies {apart[worst] / error[worst]:.0f} standard errors from the share that the process has."
    )


def _accurate_enough(accuracy: float, count: int, least: float) -> str | None:
    if accuracy >= least:
        return None
    return (
        f"the accuracy on {count} examples that were not used in training is {accuracy:.1%}; "
        f"at least {least:.0%} is required."
    )


PROPERTIES: dict[str, Property] = {
    "rows are distributions": rows_are_distributions,
    "drops at its rate": drops_at_its_rate,
    "classifies well": classifies_well,
    "names the classes": names_the_classes,
    "shares are near their law": near_their_law,
}
READS: dict[str, str] = {  # the one result that a property reads
    "rows are distributions": "weights",
    "drops at its rate": "dropped",
    "classifies well": "probabilities",
    "names the classes": "logits",
    "shares are near their law": "share",
}


# -- which mistake explains the results -------------------------------------------------------------------------------


STRUCTURE = {"parameters", "training", "reload", "saved"}
FINGERPRINT_SIZE = 32
# A mistake may make results a million times larger than the right ones, and their rounding with them: the share of a
# value by which float32 may round it on the way.
ROUNDED = 1e-5


def agrees(actual: Mapping[str, Any], reference: Mapping[str, Any], tolerance: Mapping[str, float]) -> bool:
    """Whether every named result agrees with a reference; float types are not looked at."""
    return all(
        key in actual and difference(key, actual[key], value, tolerance.get(key, 0.0)) is None
        for key, value in reference.items()
    )


def _agrees_where_it_counts(
    actual: Mapping[str, Any], expected: Mapping[str, Any], tolerance: Mapping[str, float]
) -> bool:
    """Whether results are wrong only in places where any number is right (NaN in the right result)."""
    free = {
        key: np.isnan(value)
        for key, value in expected.items()
        if isinstance(value, np.ndarray) and value.dtype.kind == "f"
        if (found := as_numbers(actual.get(key))) is not None and found.shape == value.shape
    }
    if not any(places.any() for places in free.values()):
        return False

    def filled(results: Mapping[str, Any]) -> dict[str, Any]:
        return {**results, **{key: np.where(places, 0.0, results[key]) for key, places in free.items()}}

    return agrees(filled(actual), filled(expected), tolerance)


@dataclass(frozen=True)
class Fingerprint:
    """The shape of an array and at most 32 of its values, spread evenly: enough to tell one mistake from another."""

    shape: tuple[int, ...]
    values: np.ndarray


def fingerprint(value: Any) -> Any:
    """The fingerprint of a numeric array; any other value as it is."""
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "biuf":
        return value
    flat = value.ravel()
    if flat.size > FINGERPRINT_SIZE:  # first: a result may have tens of millions of values
        flat = flat[np.linspace(0, flat.size - 1, FINGERPRINT_SIZE).astype(int)]
    return Fingerprint(value.shape, flat.astype("float64"))


class _Results:
    """The results of one case, fingerprinted once and compared with many wrong references."""

    def __init__(self, actual: Mapping[str, Any], expected: Mapping[str, Any], tolerance: Mapping[str, float]):
        self._actual = actual
        self._tolerance = tolerance
        self._prints = {key: fingerprint(_as_expected(value, expected.get(key))) for key, value in actual.items()}
        self._free = {}
        for key, value in expected.items():
            right = fingerprint(value)
            if isinstance(right, Fingerprint):
                self._free[key] = (right.shape, np.isnan(right.values))

    def resemble(self, wrong: Mapping[str, Any]) -> bool:
        """Whether every result agrees with a wrong reference, given by fingerprints.

        Only NaN agrees with NaN in the wrong reference, except where the right reference leaves the value free.
        """
        return all(self._agree(key, reference) for key, reference in wrong.items())

    def _agree(self, key: str, reference: Any) -> bool:
        if key not in self._prints:
            return False
        if not isinstance(reference, Fingerprint):
            return difference(key, self._actual[key], reference, self._tolerance.get(key, 0.0)) is None
        value = self._prints[key]
        if not isinstance(value, Fingerprint) or value.shape != reference.shape:
            return False
        tolerance = self._tolerance.get(key, 0.0)
        sizes = np.abs(np.where(np.isfinite(reference.values), reference.values, 0))
        limit = tolerance + (ROUNDED * sizes if tolerance else 0)
        with np.errstate(invalid="ignore"):
            same = np.abs(value.values - reference.values) <= limit
        if same.all():
            return True
        same |= (value.values == reference.values) | (np.isnan(value.values) & np.isnan(reference.values))
        shape, free = self._free.get(key, ((), False))
        return bool(np.all(same | free if shape == value.shape else same))


def _as_expected(value: Any, expected: Any) -> Any:
    """A plain number as an array without axes where such an array is right."""
    is_number = isinstance(value, (int, float)) and isinstance(expected, np.ndarray) and expected.ndim == 0
    return np.asarray(value) if is_number else value


def resembles(
    actual: Mapping[str, Any], wrong: Mapping[str, Any], expected: Mapping[str, Any], tolerance: Mapping[str, float]
) -> bool:
    """Whether every named result agrees with a wrong reference, given by fingerprints."""
    return _Results(actual, expected, tolerance).resemble(wrong)


def diagnose(
    ids: Sequence[str],
    outputs: Sequence[Mapping[str, Any] | None],
    expected: Sequence[Mapping[str, Any]],
    wrong: Sequence[Mapping[str, Mapping[str, Any]]],
    tolerances: Sequence[Mapping[str, float]],
    groups: Sequence[str],
) -> str:
    """Return the mistake that explains the results; an empty text when none does.

    A mistake explains a case when the results agree with the reference made with this mistake. The one that explains
    most of the wrong cases is taken; a right case that it would have made wrong counts against it. Among equals the one
    declared first is taken.

    No mistake is taken that speaks against a group: one that would have failed a group whose results are all right, or
    changed nothing in the wrong cases of a group (`_would_fail_these`); nor one that explains less than half of the
    wrong cases of a group in which it is known what the mistake comes to (`_explains_each_group`): one case alone may
    agree by coincidence. A case that is wrong only where any number is right, with NaN there, speaks neither for a
    mistake nor against it.

    Args:
        ids: the mistakes that can be named, the likeliest first.
        outputs: the student's results by case; None where the case raised.
        expected: right results by case.
        wrong: fingerprints of the results by case, with each mistake that changes them.
        tolerances: by case, the largest difference that rounding explains.
        groups: by case, the group that it belongs to.
    """
    cases = {index: result for index, result in enumerate(outputs) if result is not None}
    failing = [index for index in cases if not agrees(cases[index], expected[index], tolerances[index])]
    results = {index: _Results(cases[index], expected[index], tolerances[index]) for index in failing}
    telling = [
        index for index in failing if not _agrees_where_it_counts(cases[index], expected[index], tolerances[index])
    ]
    silent = set(failing) - set(telling)
    by_group = {
        group: [index for index in cases if groups[index] == group and index not in silent]
        for group in dict.fromkeys(groups)
    }
    best, most = "", -1  # as many cases may contradict a mistake as speak for it, and no more
    for mistake in ids if failing else ():
        explained: list[int] = []
        for left, index in zip(range(len(failing), 0, -1), failing, strict=True):
            if len(explained) + left <= most:
                break  # not even all that are left would make it the best; a wrong result costs time to compute
            if mistake in wrong[index] and results[index].resemble(wrong[index][mistake]):
                explained.append(index)
        if not explained:
            continue
        speak_for_it = len(explained) - sum(mistake in wrong[index] for index in cases if index not in results)
        if speak_for_it <= most or not _would_fail_these(mistake, by_group, telling, wrong):
            continue
        if _explains_each_group(mistake, ids, by_group, telling, explained, wrong):
            best, most = mistake, speak_for_it
    return best


def _would_fail_these(
    mistake: str,
    groups: Mapping[str, Sequence[int]],
    failing: Collection[int],
    wrong: Sequence[Mapping[str, Mapping[str, Any]]],
) -> bool:
    """Whether a mistake changes something in the wrong cases of each group with wrong cases, and nothing elsewhere.

    Groups about how an object is made, `STRUCTURE`, may fail in any case: wrong references know little about that.
    """
    for name, group in groups.items():
        wrong_here = [index for index in group if index in failing]
        changed = any(mistake in wrong[index] for index in wrong_here or group)
        if changed != bool(wrong_here) and (changed or name not in STRUCTURE):
            return False
    return True


def _explains_each_group(
    mistake: str,
    ids: Sequence[str],
    groups: Mapping[str, Sequence[int]],
    failing: Collection[int],
    explained: Collection[int],
    wrong: Sequence[Mapping[str, Mapping[str, Any]]],
) -> bool:
    """Whether a mistake explains, in each group, half of the wrong cases for which its results are known.

    A quarter of these cases may stay unexplained if they are in groups of their own: large scores, for example, show
    how a mistake was written. What a probe says in words about how it was called is no coincidence: it is enough if
    no other mistake has these words.
    """
    known = {index for index in failing if _is_known(wrong[index].get(mistake))}
    if 4 * len(known.difference(explained)) <= len(known):
        return True
    others = [id for id in ids if id != mistake]
    for index in explained:
        words = _words(wrong[index][mistake])
        if words and words not in (_words(wrong[index].get(other)) for other in others):
            return True
    by_group = [known.intersection(group) for name, group in groups.items() if name not in STRUCTURE]
    return all(2 * len(group.intersection(explained)) >= len(group) for group in by_group)


def _words(results: Mapping[str, Any] | None) -> dict[str, Any]:
    """What a probe says in words, of the results with a mistake."""
    return {key: value for key, value in (results or {}).items() if _says_words(value)}


def _says_words(value: Any) -> bool:
    return isinstance(value, str) and value[:1].isalpha() and " " in value


def _is_known(results: Mapping[str, Any] | None) -> bool:
    """Whether the results with a mistake are known: there are some, and their numbers are finite."""
    finite = (
        np.isfinite(value.values).all() if isinstance(value, Fingerprint) else math.isfinite(value)
        for value in (results or {}).values()
        if isinstance(value, (Fingerprint, bool, int, float))
    )
    return bool(results) and all(finite)

"""Properties that results must have where no single value is right.

A property reads the inputs of a case and the results; it knows no reference value. It looks at the kind, shape and
number of the results before it reads them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from coursekit.check.comparison import as_numbers, difference

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

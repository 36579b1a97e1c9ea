"""Properties that results must have where no single value is right. Each returns what is wrong, or None.

A property reads the inputs of a case and the results; it knows no reference value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np


def rows_are_distributions(inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> str | None:
    """Every row of ``weights`` is non-negative and sums to 1; a row that may attend to nothing may also be all 0."""
    weights = np.asarray(outputs["weights"], "float64")
    if (weights < -1e-6).any():
        return "some weights are negative."
    sums = weights.sum(axis=-1)
    bad = (np.abs(sums - 1) > 1e-4) & (np.abs(sums) > 1e-6)
    if bad.any():
        return f"the weights of {int(bad.sum())} of {bad.size} queries sum to {sums[bad].flat[0]:.4g}, not to 1."
    return None


def drops_at_its_rate(inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> str | None:
    """Rows of ``dropped``, one for each dropout: share of zeros in training, factor on the rest, change outside."""
    if "dropped" not in outputs:
        return "nothing was seen of the dropouts."
    rate = inputs.get("dropout", 0.1)
    margin = 6 * math.sqrt(rate * (1 - rate) / np.size(inputs["x"]))
    for number, (share, factor, outside) in enumerate(np.asarray(outputs["dropped"], "float64"), 1):
        if abs(share - rate) > margin:
            return f"dropout {number} sets {share:.1%} of its input to 0 in training; the rate is {rate:.0%}."
        if abs(factor * (1 - rate) - 1) > 1e-3:
            return f"dropout {number} multiplies what it keeps by {factor:.3f}; expected 1 / (1 − {rate})."
        if outside > 0:
            return f"dropout {number} changes its input outside of training."
    return None


def classifies_well(inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> str | None:
    """``probabilities`` of class 1 agree with the withheld ``labels`` in at least the share ``least_accuracy``."""
    labels = np.asarray(inputs["labels"])
    said = np.asarray(outputs["probabilities"], "float64").reshape(len(labels)) >= 0.5
    right = float(np.mean(said == (labels == 1)))
    if right < inputs["least_accuracy"]:
        return (
            f"{right:.1%} of {len(labels)} examples that it has not seen are classified rightly; "
            f"expected at least {inputs['least_accuracy']:.0%}."
        )
    return None


def names_the_classes(inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> str | None:
    """The largest of each row of ``logits`` is that of the withheld label, in at least the share ``least_accuracy``."""
    labels = np.asarray(inputs["withheld_labels"])
    right = float(np.mean(np.argmax(outputs["logits"], axis=-1) == labels))
    if right < inputs["least_accuracy"]:
        return (
            f"{right:.1%} of {len(labels)} images that it has not seen are classified rightly; "
            f"expected at least {inputs['least_accuracy']:.0%}."
        )
    return None


PROPERTIES: dict[str, Callable[[Mapping[str, Any], Mapping[str, Any]], str | None]] = {
    "rows are distributions": rows_are_distributions,
    "drops at its rate": drops_at_its_rate,
    "classifies well": classifies_well,
    "names the classes": names_the_classes,
}

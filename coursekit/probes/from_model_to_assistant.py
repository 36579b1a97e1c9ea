"""Probes of lab 10b, from a model to an assistant."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from coursekit.lecture.pages.answering import reads_a_parameter
from coursekit.probes.driving import Probe, floats, function, function_of
from coursekit.probes.evidence import ContractError, kind_of
from coursekit.probes.layers import gradients


def _trained_by(name: str, *positional: str, by: str) -> Probe:
    """Probe of a loss; in the mode ``derivative`` it gives the gradient with respect to one of the arguments.

    In the mode ``graph`` no size is known of the arguments that are arrays with rows.
    """
    rows = {key: range(2) for key in positional if key in ("logits", "rows", "mask", "new", "old", "reference")}
    loss = function(name, *positional, unknown_axes=rows)

    def probe(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
        if mode != "derivative":
            found = loss(namespace, inputs, mode)["output"]
            return {"output": np.asarray(found) if isinstance(found, (int, float)) else found}
        import tensorflow as tf

        source = tf.convert_to_tensor(inputs[by])

        def value() -> Any:
            return tf.convert_to_tensor(loss(namespace, {**inputs, by: source}, "tensor")["output"])

        advice = "Is a NumPy function, `float(…)`, `.numpy()` or `stop_gradient` in the way?"
        return {"gradient": gradients(value, [(f"`{by}`", source)], "loss", advice)[0]}

    return probe


SHARES = ("before", "after", "elsewhere", "one_shape")
CONCLUSIONS = ("unchanged", "one shape", "any prompt", "own prompt")


def _measure_reward(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """Call the function with the lecture's reward; the mode says whether the shares or the conclusion is looked at."""
    pairs = [list(zip(inputs["prompts"], inputs[bodies], strict=True)) for bodies in ("bodies_before", "bodies_after")]
    shown = "measure_reward(…)"
    known = set(inputs["prompts"])

    def reward(prompt: str, body: str) -> float:
        if prompt not in known:
            raise ContractError(f"`reward` got the prompt {str(prompt)[:60]!r}, which is none of those given.")
        return reads_a_parameter(prompt, body)

    found = function_of(namespace, "measure_reward")(reward, *pairs)
    if not isinstance(found, Mapping):
        raise ContractError(f"{shown} returned {kind_of(found)}; expected a dictionary.")
    if missing := [name for name in (*SHARES, "conclusion") if name not in found]:
        raise ContractError(f"the dictionary of {shown} has no entry {', '.join(map(repr, missing))}.")
    if mode == "conclusion":
        if found["conclusion"] not in CONCLUSIONS:
            told = ", ".join(map(repr, CONCLUSIONS))
            raise ContractError(f"the conclusion is {str(found['conclusion'])[:60]!r}; expected one of {told}.")
        return {"conclusion": str(found["conclusion"])}
    return {name: floats(found[name], f"`{name}`") for name in SHARES}


PROBES = {
    "answer_loss": _trained_by("answer_loss", "logits", "rows", "mask", by="logits"),
    "clipped_policy_loss": _trained_by(
        *("clipped_policy_loss", "new", "old", "reference", "mask", "advantage", "clip", "beta"), by="new"
    ),
    "preference_loss": _trained_by("preference_loss", "new", "reference", "mask", "beta", by="new"),
    "measure_reward": _measure_reward,
}

"""What several probes do with the weights and the dropouts of a layer: cut vectors into weights, take slopes, watch."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from coursekit.probes.arguments import ContractError
from coursekit.probes.evidence import MODEL, taken

DROPPED = {"dropped": MODEL}  # see `ReadOutside.inside`
TRACKED = "Is this part used in `call`, and is everything there `keras.ops` or TensorFlow?"


def count(variables: Sequence[Any]) -> int:
    """How many numbers there are in variables."""
    return sum(int(np.prod(variable.shape)) for variable in variables)


def cut(vector: np.ndarray, shapes: Mapping[str, Sequence[int]]) -> dict[str, np.ndarray]:
    """Cut one vector into arrays of the given shapes."""
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes.values()])
    return {name: part.reshape(shapes[name]) for name, part in zip(shapes, np.split(vector, ends[:-1]), strict=True)}


def cut_for(name: str, vector: np.ndarray, shapes: Mapping[str, Sequence[int]]) -> dict[str, np.ndarray]:
    """The same for the weights of the layer called `name`; raises `ContractError` where their number is another."""
    size = sum(int(np.prod(shape)) for shape in shapes.values())
    if size != len(vector):
        raise ContractError(
            f"the named weights of `{name}` hold {size:,} numbers; expected {len(vector):,}. "
            "Compare the width of each part with the lab's text."
        )
    return cut(vector, shapes)


def gradients(
    loss_of: Callable[[], Any],
    sources: Sequence[tuple[str, Any]],
    of: str = "output",
    advice: str = TRACKED,
    most: int | None = None,
    watch: Iterable[Any] = (),
) -> list[Any]:
    """The gradients of what `loss_of` gives, by tensors and variables.

    Args:
        loss_of: called once; gives one number.
        sources: how each of them is called in the text, and itself.
        of, advice: what has no gradient, and what to look at, in the text.
        most: how many sources the text names; all by default.
        watch: variables that no training changes, and whose gradients are asked for all the same.

    Raises:
        ContractError: some have no gradient.
    """
    import tensorflow as tf

    with tf.GradientTape() as tape:
        tape.watch([*watch, *(source for _, source in sources if not isinstance(source, tf.Variable))])
        loss = loss_of()
    found = tape.gradient(loss, [source for _, source in sources])
    lost = dict.fromkeys(name for (name, _), gradient in zip(sources, found, strict=True) if gradient is None)
    if lost:
        raise ContractError(f"no gradient flows from the {of} to {', '.join([*lost][:most])}. {advice}")
    return [tf.convert_to_tensor(gradient) for gradient in found]


def slopes(loss_of: Callable[[], Any], parts: Sequence[tuple[str, Any, np.ndarray]], **told: Any) -> np.ndarray:
    """The derivatives of what `loss_of` gives, for each part (name, tensor or variable, direction); see `gradients`."""
    found = gradients(loss_of, [(f"`{name}`", source) for name, source, _ in parts], **told)
    steps = [step for _, _, step in parts]
    return np.array([float(np.sum(np.ravel(by) * np.ravel(step))) for by, step in zip(found, steps, strict=True)])


@contextlib.contextmanager
def calls_replaced(layers: Sequence[Any], calls: Sequence[Callable[..., Any]]) -> Iterator[None]:
    """While the block runs, each of the layers does what the call in its place does."""
    own = [layer.call for layer in layers]
    try:
        for layer, call in zip(layers, calls, strict=True):
            layer.call = call
        yield
    finally:
        for layer, call in zip(layers, own, strict=True):
            layer.call = call


WATCHED = ("before", "after", "still_before", "still_after")  # in training, and outside of it


def watched(dropouts: Sequence[Any], run: Callable[[bool], Any], otherwise: str) -> dict[str, Any]:
    """What each dropout gets and gives, in training and outside of it, as ``"0.before"`` and so on.

    Args:
        dropouts: the layers that are watched.
        run: calls what they are in, in training or not.
        otherwise: what `ContractError` says where one of them is not called once in a call.
    """
    seen: list[list[np.ndarray]] = [[] for _ in dropouts]

    def watching(call: Callable[..., Any], log: list[np.ndarray]) -> Callable[..., Any]:
        def watch(inputs: Any, training: bool | None = False) -> Any:
            result = call(inputs, training=training)
            log.extend((np.asarray(inputs), np.asarray(result)))
            return result

        return watch

    with calls_replaced(dropouts, [watching(each.call, log) for each, log in zip(dropouts, seen, strict=True)]):
        for training in (True, False):
            run(training)
    if any(len(log) != len(WATCHED) for log in seen):
        raise ContractError(otherwise)
    return {
        f"{number}.{what}": array for number, log in enumerate(seen) for what, array in zip(WATCHED, log, strict=True)
    }


def dropped_seen(inputs: Mapping[str, Any], made: Mapping[str, Any]) -> dict[str, Any]:
    """What each dropout does, by what `watched` handed over: the share of zeros in training, the factor on what is
    kept, and the largest change outside."""
    rows: list[list[float]] = []
    while f"{len(rows)}.{WATCHED[0]}" in made:
        before, after, still_before, still_after = (taken(made, f"{len(rows)}.{what}") for what in WATCHED)
        kept = (after != 0) & (before != 0)
        factor = float(np.mean(after[kept] / before[kept])) if kept.any() else 0.0
        rows.append([float(np.mean(after == 0)), factor, float(np.abs(still_after - still_before).max())])
    return {"dropped": np.array(rows)}

"""What probes do with a built layer: share it between cases, cut vectors into its weights, take slopes, watch dropouts.

Building takes far longer than calling. Two cases share a layer when they make it with the same arguments and call it on
inputs of the same shapes, but for the size of the batch. Each case finds all variables as they were after the first
call, so a layer is shared without a trace, unless it keeps something between its calls in attributes of its own: such a
layer gives a batch what belongs to the batch before, and is wrong.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coursekit.probes.evidence import MODEL, ContractError, taken

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


# -- layers that cases share ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LayerKey:
    """How a layer is made: its class, the constructor's arguments and the inputs of its first call."""

    cls: Any
    positional: Sequence[Any]
    keywords: Mapping[str, Any]
    inputs: Sequence[Any]

    def identity(self) -> Hashable | None:
        """Equal for layers that can stand for each other; None for one that nothing can stand for."""
        shapes = [
            (tuple(getattr(given, "shape", ()))[1:], getattr(given, "dtype", type(given))) for given in self.inputs
        ]
        given = [*enumerate(self.positional), *self.keywords.items()]
        key = (
            id(self.cls),
            *((name, type(value), value) for name, value in given),
            *shapes,
        )  # 1, 1.0 and True are equal
        try:
            hash(key)
        except TypeError:  # made with a list or an array
            return None
        return key


class LayerCache:
    """The layers that the cases of one exercise have built so far. A new exercise, or new code, takes a new cache."""

    def __init__(self) -> None:
        self._layers: dict[Hashable, _Kept] = {}
        self._traced: set[type] = set()
        self._others: dict[Hashable, Any] = {}

    def once(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """What `make` gave the first case that asked for `key`, as the cases since then have left it."""
        if key not in self._others:
            self._others[key] = make()
        return self._others[key]

    @contextlib.contextmanager
    def layer(
        self, layer_key: LayerKey, make: Callable[[], Any], call: Callable[[Any], Any], *, keep: bool = True
    ) -> Iterator[Any]:
        """A layer that has been called once and whose variables are as that call made them.

        Args:
            layer_key: how it is made.
            make: makes it.
            call: calls it for the first time.
            keep: whether a later case may have it. When the block raises, none gets it.
        """
        key = layer_key.identity()
        kept = self._layers.pop(key, None)
        if kept is None or not kept.restore():
            kept = _Kept(self._first_call(make(), call))
        yield kept.layer
        if keep and key is not None:
            self._layers[key] = kept

    def _first_call(self, layer: Any, call: Callable[[Any], Any]) -> Any:
        """Call a layer for the first time, which creates its variables.

        Before such a call Keras traces it in a graph of no other use, to find the variables of a layer without a
        `build` of its own; a layer inside of it is traced once more for each layer around it. The first layer of each
        class is still traced; for the others, such as the second block of a stack, the call alone creates the same
        variables.
        """
        traced = mark_as_built(layer, self._traced)
        call(layer)
        self._traced |= traced
        return layer


class _Kept:
    """A layer and the values that its first call left in its variables."""

    def __init__(self, layer: Any):
        self.layer = layer
        self._values = [(variable, variable.value.read_value()) for variable in layer.variables]

    def restore(self) -> bool:
        """Put the values back; return whether the layer still has the same variables."""
        same = [id(variable) for variable in self.layer.variables] == [id(variable) for variable, _ in self._values]
        if same:
            for variable, value in self._values:
                variable.value.assign(value, read_value=False)  # Keras's own `assign` takes twice the time
        return same


def mark_as_built(layer: Any, traced: Iterable[type]) -> set[type]:
    """Spare the layers of each class but one the tracing before their first call, and all of the classes in `traced`.

    Returns:
        `traced` with the classes of which one layer is traced now.
    """
    import keras

    seen = set(traced)
    for inner in layer._flatten_layers():
        if type(inner).build is not keras.Layer.build:
            continue
        if type(inner) in seen:
            inner.built = True
        seen.add(type(inner))
    return seen


_cache: LayerCache | None = None


@contextlib.contextmanager
def sharing(cache: LayerCache) -> Iterator[None]:
    """While the block runs, cases take their layers from `cache` and put them back there."""
    global _cache
    outer, _cache = _cache, cache
    try:
        yield
    finally:
        _cache = outer


def current_cache() -> LayerCache:
    """The cache of the innermost `sharing`; outside of one a new one, so that nothing is shared."""
    return _cache or LayerCache()


def rebuilt(built: Any) -> Any:
    """A layer with the configuration of another one. It was never called and has no weights.

    Raises:
        ContractError: the configuration lacks an argument, or has one too many.
    """
    config = built.get_config()
    try:
        return type(built).from_config(config)
    except TypeError as error:
        cause = str(error).rpartition("Exception encountered: ")[2].strip().rstrip(".")
        raise ContractError(
            f"`from_config(get_config())` fails: {cause}. Does `get_config` hold every argument?"
        ) from error


def reloaded(built: Any, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    """The same, called once and with the weights of the other one."""
    copy = rebuilt(built)
    mark_as_built(copy, {type(layer) for layer in built._flatten_layers()})
    copy(*arguments, **keywords)
    copy.set_weights(built.get_weights())
    return copy

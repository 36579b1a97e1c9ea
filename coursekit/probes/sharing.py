"""Lets the cases of one exercise share the layers that they build: building takes far longer than calling.

Two cases share a layer when they make it with the same arguments and call it on inputs of the same shapes, but for the
size of the batch. Each case finds all variables as they were after the first call, so a layer is shared without a
trace, unless it keeps something between its calls in attributes of its own: such a layer gives a batch what belongs to
the batch before, and is wrong.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from coursekit.probes.arguments import ContractError


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

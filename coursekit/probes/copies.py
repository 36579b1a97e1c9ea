"""Copies of a layer, made from its `get_config` as Keras makes them when it loads a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from coursekit.probes.arguments import ContractError
from coursekit.probes.sharing import mark_as_built


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

"""What the probes that train do to make training cheap and silent, without a change to what is trained."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any


@contextlib.contextmanager
def optimizers_built_early() -> Iterator[None]:
    """While the block runs, `fit` builds the model's optimizer before it compiles a step.

    Keras builds it inside of the first step, for the same variables. There each of its variables, two for every weight,
    is lifted out of the graph, which takes about as long as all the rest of the tracing.
    """
    import keras

    fit = keras.Model.fit

    def fit_with_built_optimizer(model: Any, *arguments: Any, **options: Any) -> Any:
        optimizer = getattr(model, "optimizer", None)
        if model.built and optimizer is not None and not optimizer.built:
            optimizer.build(model.trainable_variables)
        return fit(model, *arguments, **options)

    keras.Model.fit = fit_with_built_optimizer
    try:
        yield
    finally:
        keras.Model.fit = fit


@contextlib.contextmanager
def no_progress_bars() -> Iterator[None]:
    """While the block runs, a Keras model shows its progress only to who asks for it, with `verbose=`.

    Otherwise pages of bars stand above the report of a check.
    """
    import keras

    methods = {name: getattr(keras.Model, name) for name in ("fit", "evaluate", "predict")}

    def silent(method: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(method)
        def called(*arguments: Any, **options: Any) -> Any:
            if "verbose" not in inspect.signature(method).bind_partial(*arguments, **options).arguments:
                options["verbose"] = 0
            return method(*arguments, **options)

        return called

    for name, method in methods.items():
        setattr(keras.Model, name, silent(method))
    try:
        yield
    finally:
        for name, method in methods.items():
            setattr(keras.Model, name, method)

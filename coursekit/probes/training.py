"""What the probes that train do to make training cheap, without a change to what is trained."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
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

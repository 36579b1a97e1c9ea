"""Starts TensorFlow without its log messages, which notebooks show as errors."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
import warnings
from collections.abc import Iterator


def start_tensorflow(*others: str) -> None:
    """Import TensorFlow and Keras and run one operation; drop what they log meanwhile.

    Their messages come from C++ and ignore Python's logging. Python exceptions come through.

    Args:
        others: further modules to import in the same way, such as ``"tensorflow_hub"``, which warns of its own imports.
    """
    with no_messages(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import keras
        import tensorflow as tf

        for name in others:
            importlib.import_module(name)

        tf.constant(0.0) + keras.ops.zeros(())


@contextlib.contextmanager
def no_messages() -> Iterator[None]:
    """Drop what reaches standard error while the block runs, from Python or from below it."""
    sys.stderr.flush()
    try:
        kept = os.dup(2)
    except OSError:  # no standard error at all, as under some servers
        yield
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(nowhere)
        os.close(kept)

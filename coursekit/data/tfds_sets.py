"""Fetches real text sets through tensorflow_datasets, which shows progress, checks what it gets and keeps it."""

from __future__ import annotations

import contextlib
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any

Rows = tuple[list[str], list[int]]
# Where the library fetches each set from. Without a connection it tries for minutes, so one look comes first.
HOSTS = {"imdb_reviews": "http://ai.stanford.edu", "ag_news_subset": "https://drive.google.com"}
PATIENCE = 15  # seconds


def tfds_parts(name: str, pick: Callable[[dict[str, Any]], tuple[str, int]]) -> tuple[Rows, Rows]:
    """Load the parts "train" and "test" of a set of tensorflow_datasets, which downloads and keeps it.

    Args:
        name: the set's name there.
        pick: takes text and label out of a row, a dict of NumPy values.

    Returns:
        Texts and labels of the training part and of the test part, in the set's own order.
    """
    _supply_importlib_resources()
    import tensorflow_datasets as tfds

    if not tfds.builder(name).is_prepared():
        _reach(HOSTS[name])
    parts = []
    for part in tfds.load(name, split=["train", "test"]):
        texts, labels = zip(*(pick(row) for row in tfds.as_numpy(part)), strict=True)
        parts.append((list(texts), [int(label) for label in labels]))
    return parts[0], parts[1]


def _reach(address: str) -> None:
    """Raises OSError when nothing answers at the address; any answer will do."""
    with contextlib.suppress(urllib.error.HTTPError):
        urllib.request.urlopen(urllib.request.Request(address, method="HEAD"), timeout=PATIENCE).close()


def _supply_importlib_resources() -> None:
    """tensorflow_datasets 4.9.10 imports `importlib_resources` and does not ask for it; Python's own has the same."""
    import importlib.resources
    import importlib.resources.abc
    import importlib.util
    import sys

    if importlib.util.find_spec("importlib_resources") is None:
        sys.modules["importlib_resources"] = importlib.resources

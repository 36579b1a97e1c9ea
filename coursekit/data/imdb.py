"""Film reviews, positive or negative: the generated sample, or IMDB (Maas et al. 2011)."""

from __future__ import annotations

import csv
import gzip
import os
from pathlib import Path

import numpy as np

from coursekit.data.files import SHUFFLE_SEED, announce, check_request, fetching, local_files
from coursekit.data.samples.reviews import sample_reviews
from coursekit.data.tfds_sets import tfds_parts

FILES = ("imdb/imdb_train.csv.gz", "imdb/imdb_test.csv.gz")
SAMPLE = 'the sample: source="sample"'

Part = tuple[list[str], np.ndarray]


def reviews(source: str = "sample", path: str | os.PathLike | None = None) -> tuple[Part, Part]:
    """Load film reviews: `(train_texts, train_labels), (test_texts, test_labels)`.

    Args:
        source: "sample" (synthetic, from this project's grammar: 4,000 and 1,000) or "real" (IMDB: 25,000 and 25,000).
        path: folder of local files, see data/README.md; without it COURSE_DATA, without that tensorflow_datasets.

    Returns:
        Texts as lists of str, labels as int32 arrays: 1 positive, 0 negative. Both parts are shuffled.

    Raises:
        DataError: the real data cannot be loaded. ValueError: no such source, or a path for the sample.
    """
    check_request(source, path)
    if source == "sample":
        parts: tuple[tuple[list[str], list[int]], ...] = sample_reviews("train"), sample_reviews("test")
        origin = "sample (synthetic, this project's grammar)"
    elif (files := local_files(FILES, path, sample=SAMPLE)) is not None:
        parts = tuple(_read(file) for file in files)
        origin = "real (IMDB, local files)"
    else:
        with fetching("IMDB", " and ".join(FILES), sample=SAMPLE):
            parts = tfds_parts("imdb_reviews", lambda row: (row["text"].decode(), row["label"]))
        origin = "real (IMDB, tensorflow_datasets)"
    (train_texts, train_labels), (test_texts, test_labels) = (
        (list(texts), np.asarray(labels, dtype="int32")) for texts, labels in parts
    )
    announce("reviews", origin, training=len(train_texts), testing=len(test_texts))
    return (train_texts, train_labels), (test_texts, test_labels)


def _read(path: Path) -> tuple[list[str], list[int]]:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        rows = [(row["text"], int(row["label"])) for row in csv.DictReader(file)]
    order = np.random.default_rng(SHUFFLE_SEED).permutation(len(rows))  # the file is sorted by label
    texts, labels = zip(*(rows[index] for index in order), strict=True)
    return list(texts), list(labels)

"""Film reviews, positive or negative: the generated sample, or IMDB (Maas et al. 2011)."""

from __future__ import annotations

import csv
import gzip
import os
from pathlib import Path

import numpy as np

from coursekit.data.files import (
    FOLDER_VARIABLE,
    SAMPLE_ORIGIN,
    SHUFFLE_SEED,
    announce,
    check_request,
    fetching,
    local_files,
    sample_texts,
)
from coursekit.data.tfds_sets import tfds_parts


def place(part: str, *, whole: bool = False) -> str:
    """Where a part (train, test, unsup, titles) lies in a folder of local files; `whole`: with all 50,000 reviews."""
    return f"imdb/imdb_{part}{'_whole' if whole else ''}.csv.gz"


def local_file(folder: Path, part: str) -> Path:
    """The file of a part in a folder: the one with all reviews where it is there, else the one of the records."""
    whole = folder / place(part, whole=True)
    return whole if whole.is_file() else folder / place(part)


FILES = (place("train"), place("test"))
WHOLE = (place("train", whole=True), place("test", whole=True))
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

    >>> (train_texts, train_labels), (test_texts, test_labels) = reviews()
    reviews: sample (synthetic, this project's grammar): 4,000 for training, 1,000 for testing
    >>> len(train_texts), train_labels.shape
    (4000, (4000,))
    """
    check_request(source, path)
    if source == "sample":
        parts, origin = tuple(sample_texts("reviews")), SAMPLE_ORIGIN
    elif (files := local_files(_names(path), path, sample=SAMPLE)) is not None:
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


def _names(path: str | os.PathLike | None) -> tuple[str, ...]:
    """The files with all reviews where a folder holds them, else those of the records."""
    folder = Path(path or os.environ.get(FOLDER_VARIABLE) or "").expanduser()
    return WHOLE if all((folder / name).is_file() for name in WHOLE) else FILES


def _read(path: Path) -> tuple[list[str], list[int]]:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        rows = [(row["text"], int(row["label"])) for row in csv.DictReader(file)]
    order = np.random.default_rng(SHUFFLE_SEED).permutation(len(rows))  # the file is sorted by label
    texts, labels = zip(*(rows[index] for index in order), strict=True)
    return list(texts), list(labels)

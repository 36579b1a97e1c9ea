"""Short news in four classes: the generated sample, or AG News (Zhang, Zhao and LeCun 2015)."""

from __future__ import annotations

import csv
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

NEWS_CLASSES = ("World", "Sports", "Business", "Sci/Tech")
WHOLE, SUBSET, TEST = "ag_news/train.csv", "ag_news/train_subset_10000.csv", "ag_news/test.csv"
SAMPLE = 'the sample: source="sample"'

Part = tuple[list[str], np.ndarray]


def news(source: str = "sample", path: str | os.PathLike | None = None) -> tuple[Part, Part]:
    """Load short news: `(train_texts, train_labels), (test_texts, test_labels)`.

    Args:
        source: "sample" (synthetic, from this project's grammar: 1,200 and 400) or "real" (AG News: 120,000 and 7,600;
            10,000 and 7,600 from a local folder without train.csv).
        path: folder of local files, see data/README.md; without it COURSE_DATA, without that tensorflow_datasets.

    Returns:
        Texts as lists of str, title and description joined; labels as int32 arrays, places in `NEWS_CLASSES`.

    Raises:
        DataError: the real data cannot be loaded. ValueError: no such source, or a path for the sample.

    >>> (train_texts, train_labels), (test_texts, test_labels) = news()
    news: sample (synthetic, this project's grammar): 1,200 for training, 400 for testing
    >>> NEWS_CLASSES[train_labels[0]] in NEWS_CLASSES
    True
    """
    check_request(source, path)
    if source == "sample":
        parts, origin = tuple(sample_texts("news")), SAMPLE_ORIGIN
    elif (files := local_files(_names(path), path, sample=SAMPLE)) is not None:
        parts = tuple(_read(file) for file in files)
        part = "10,000 of the 120,000 training texts, " if files[0].name == Path(SUBSET).name else ""
        origin = f"real (AG News, {part}local files)"
    else:
        with fetching("AG News", f"{WHOLE} or {SUBSET}, and {TEST}", sample=SAMPLE):
            parts = tfds_parts("ag_news_subset", _pick)
        origin = "real (AG News, tensorflow_datasets)"
    (train_texts, train_labels), (test_texts, test_labels) = (
        (list(texts), np.asarray(labels, dtype="int32")) for texts, labels in parts
    )
    announce("news", origin, training=len(train_texts), testing=len(test_texts))
    return (train_texts, train_labels), (test_texts, test_labels)


def _names(path: str | os.PathLike | None) -> tuple[str, str]:
    """The whole training file where a folder holds it, else the subset."""
    folder = path or os.environ.get(FOLDER_VARIABLE) or ""
    return (WHOLE if (Path(folder).expanduser() / WHOLE).is_file() else SUBSET), TEST


def _pick(row: dict) -> tuple[str, int]:
    return _join(row["title"].decode(), row["description"].decode()), row["label"]


def _join(title: str, description: str) -> str:
    """One text; a backslash stands for a line break in the files of AG News."""
    return " ".join(f"{title}. {description}".replace("\\", " ").split())


def _read(path: Path) -> tuple[list[str], list[int]]:
    with path.open(encoding="utf-8", newline="") as file:
        rows = [(_join(title, description), int(label) - 1) for label, title, description in csv.reader(file)]
    order = np.random.default_rng(SHUFFLE_SEED).permutation(len(rows))
    texts, labels = zip(*(rows[index] for index in order), strict=True)
    return list(texts), list(labels)

"""The samples as files, for people to look at: `data/samples/` of the repository holds what this module makes."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

from coursekit.data.samples import news, pairs, reviews


def sample_files() -> dict[str, str]:
    """Content of each file, by name: `reviews_train.csv` and so on, with a line of headings."""
    files = {}
    for name, sizes, make in (
        ("reviews", reviews.SIZES, reviews.sample_reviews),
        ("news", news.SIZES, news.sample_news),
    ):
        for part in sizes:
            texts, labels = make(part)
            files[f"{name}_{part}.csv"] = _csv(("label", "text"), zip(labels, texts, strict=True))
    for part in pairs.SIZES:
        files[f"sentence_pairs_{part}.csv"] = _csv(("english", "german"), zip(*pairs.sample_pairs(part), strict=True))
    return files


def write_samples(folder: Path) -> list[Path]:
    """Write the files that are missing in a folder, or differ, and return them."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, content in sample_files().items():
        path = folder / name
        if not path.is_file() or path.read_bytes() != content.encode():
            path.write_bytes(content.encode())
            written.append(path)
    return written


def digest(content: str) -> str:
    """The SHA-256 of a file's content."""
    return hashlib.sha256(content.encode()).hexdigest()


def _csv(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(headings)
    writer.writerows(rows)
    return text.getvalue()

"""English sentences with translations, German or French: the generated sample, or Multi30k (Elliott et al. 2016)."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

from coursekit.data.files import (
    CHECKSUMS,
    SAMPLE_ORIGIN,
    announce,
    check_request,
    fetching,
    local_files,
    read_sample,
)

# The repository as of the commit whose files the checksums are from.
COMMIT = "a3d2e0d26b56f3846f66a952536ffed4e401d05a"
ORIGIN = f"https://raw.githubusercontent.com/multi30k/dataset/{COMMIT}/data/task1/raw/"
PARTS = ("train", "val", "test_2016_flickr")
FOLDER = "translation/multi30k"
LANGUAGES = ("de", "fr")  # of the translations
SAMPLE = 'the sample: source="sample"'

Pairs = tuple[list[str], list[str]]


def files_of(language: str) -> tuple[str, ...]:
    """The places of a language's six files, English and translations in turn, in a folder of local files."""
    return tuple(f"{FOLDER}/{part}.{suffix}.gz" for part in PARTS for suffix in ("en", language))


FILES = files_of("de")


def sentence_pairs(
    source: str = "sample", path: str | os.PathLike | None = None, *, language: str = "de"
) -> tuple[Pairs, Pairs, Pairs]:
    """Load English sentences with their translations: `train, validation, test`, each `(english, translations)`.

    Args:
        source: "sample" (synthetic, from this project's grammar: 3,000, 300, 300) or "real" (Multi30k: 29,000, 1,014
            and the 1,000 of test_2016_flickr).
        path: folder of local files, see data/README.md; without it COURSE_DATA, without that the files are fetched.
        language: of the translations: "de", German, or "fr", French, which only the real data have.

    Returns:
        Three pairs of lists of str; line i of one list is the translation of line i of the other.

    Raises:
        DataError: the real data cannot be loaded. ValueError: no such source or language, or a path for the sample.
    """
    check_request(source, path)
    if language not in LANGUAGES or (source == "sample" and language != "de"):
        raise ValueError(f'language is "{language}"; it has to be "de", or "fr" with source="real"')
    if source == "sample":
        parts = tuple(read_sample(f"sentence_pairs_{part}") for part in ("train", "validation", "test"))
        origin = SAMPLE_ORIGIN
    else:
        files = local_files(files_of(language), path, sample=SAMPLE)
        origin = "real (Multi30k, local files)" if files else "real (Multi30k, downloaded)"
        lines = [_read(file) for file in files or _fetch(language)]
        parts = tuple(zip(lines[::2], lines[1::2], strict=True))
    train, validation, test = parts
    announce("sentence pairs", origin, training=len(train[0]), validation=len(validation[0]), testing=len(test[0]))
    return train, validation, test


def _fetch(language: str) -> list[Path]:
    import keras

    names = [Path(name).name for name in files_of(language)]
    with fetching("Multi30k", f"{FOLDER}/ with {', '.join(names)}", sample=SAMPLE):
        return [
            Path(
                keras.utils.get_file(
                    name, ORIGIN + name, cache_subdir="datasets/multi30k", file_hash=CHECKSUMS[f"{FOLDER}/{name}"]
                )
            )
            for name in names
        ]


def _read(path: Path) -> list[str]:
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
        return [line.strip() for line in file]

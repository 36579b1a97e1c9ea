"""Builds the files of a local folder from the archives that the authors of the data publish.

An archive is a tar, a zip, a folder that was unpacked from one, or, where one file is published alone, that file.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
import tarfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path, PurePosixPath

import numpy as np

from coursekit.data import ag_news, image_sets, imdb, multi30k
from coursekit.data.files import CHECKSUMS, DataError, check_sum

# Overwritten with other texts in the copy of IMDB from which the course's records were made; `whole` keeps them.
LEFT_OUT = {
    "train": {"pos/0_9.txt", "pos/7_7.txt", "neg/2_1.txt", "neg/9_1.txt"},
    "test": {"pos/0_10.txt", "pos/2_7.txt", "pos/7_9.txt", "pos/9_7.txt"},
}
XRAYS = "chest_xray_pneumoniamnist/pneumoniamnist.npz"
_TITLE = re.compile(r"/title/(tt\d+)/")

Files = dict[str, bytes]  # by their place in the local folder
Table = list[tuple[object, ...]]


def build(name: str, archive: Path, folder: Path, *, whole: bool = False) -> list[tuple[Path, bool]]:
    """Build a set's files from an archive as it is published.

    Args:
        name: the set, a key of `BUILDERS`.
        archive: the archive, or the folder that was unpacked from it.
        folder: the local folder to write into, as data/README.md describes it.
        whole: of IMDB, all 50,000 reviews, in files of their own (`imdb.local_file`): without the eight that the
            course's records leave out, the files are those of the records.

    Returns:
        The files, and of each whether its checksum was compared with the one that the course's records name.

    Raises:
        DataError: the archive cannot be read, lacks a file, or gives a file other than the course's records name.
    """
    try:
        files = BUILDERS[name](archive, whole)
    except (OSError, tarfile.TarError, zipfile.BadZipFile, UnicodeDecodeError, KeyError, ValueError) as error:
        raise DataError(f"{archive}: cannot be read as an archive of {name} ({error})") from error
    if not files:
        raise DataError(f"{archive}: holds nothing of {name}; data/README.md names the archive to take")
    built = []
    for place, content in files.items():
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        known = CHECKSUMS.get(place)
        check_sum(path, known)
        built.append((path, known is not None))
    return built


def _members(archive: Path, wanted: Callable[[PurePosixPath], bool]) -> Iterator[tuple[PurePosixPath, bytes]]:
    """The wanted files of an archive, with their paths inside."""
    if archive.is_dir():
        for path in sorted(archive.rglob("*")):
            if path.is_file() and wanted(name := PurePosixPath(path.relative_to(archive.parent).as_posix())):
                yield name, path.read_bytes()
    elif zipfile.is_zipfile(archive) and archive.suffix != ".npz":
        with zipfile.ZipFile(archive) as packed:
            for entry in packed.infolist():
                if not entry.is_dir() and wanted(name := PurePosixPath(entry.filename)):
                    yield name, packed.read(entry)
    elif tarfile.is_tarfile(archive):
        with tarfile.open(archive) as packed:
            for member in packed:
                if member.isfile() and wanted(name := PurePosixPath(member.name)):
                    yield name, packed.extractfile(member).read()  # type: ignore[union-attr]  # it is a file
    elif wanted(name := PurePosixPath(archive.name)):
        yield name, archive.read_bytes()


def _imdb(archive: Path, whole: bool) -> Files:
    """aclImdb_v1: one file a review, named by number and rating; addresses of the films in files of their own."""
    texts: dict[str, dict[str, str]] = {"train": {}, "test": {}, "unsup": {}}
    titles: dict[tuple[str, str], list[str]] = {}
    for path, content in _members(archive, lambda path: path.suffix == ".txt" and len(path.parts) > 1):
        *_, split, kind = ("", *path.parts[:-1])
        if kind in ("pos", "neg") and split in texts:
            texts[split][f"{kind}/{path.name}"] = content.decode("utf-8")
        elif (split, kind) == ("train", "unsup"):
            texts["unsup"][path.name] = content.decode("utf-8")
        elif kind in texts and path.name in ("urls_pos.txt", "urls_neg.txt"):
            titles[kind, path.stem[5:]] = _TITLE.findall(content.decode("utf-8"))
    files: Files = {}
    films: Table = []
    for split in ("train", "test"):
        if not texts[split]:
            continue
        names = sorted(texts[split].keys() - (set() if whole else LEFT_OUT[split]), key=_number)
        rows: Table = [(int(name.startswith("pos/")), _rating(name), name, texts[split][name]) for name in names]
        files[imdb.place(split, whole=whole)] = _packed(("label", "rating", "file", "text"), rows)
        if (split, "pos") in titles and (split, "neg") in titles:
            films += [(split, name, titles[split, name[:3]][_number(name)[1]]) for name in names]
    if texts["unsup"]:
        rows = [(name, texts["unsup"][name]) for name in sorted(texts["unsup"], key=_number)]
        files[imdb.place("unsup")] = _packed(("file", "text"), rows)
    if films:
        files[imdb.place("titles", whole=whole)] = _packed(("split", "file", "title"), films)
    return files


def _number(name: str) -> tuple[str, int]:
    kind, _, file = name.rpartition("/")
    return kind, int(file.partition("_")[0])


def _rating(name: str) -> int:
    return int(name.rpartition("_")[2].removesuffix(".txt"))


def _ag_news(archive: Path, whole: bool) -> Files:
    """ag_news_csv: train.csv and test.csv. The 10,000 training texts come from a file of NoisyAG-News."""
    files: Files = {}
    for path, content in _members(archive, lambda path: path.name.partition(".csv")[1] == ".csv"):
        if path.name in ("train.csv", "test.csv"):
            files[f"ag_news/{path.name}"] = content
        elif path.name.startswith("samples10000valMed") or path.name.startswith("noisyag_samples10000valMed"):
            text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode("utf-8")
            rows = [
                (int(row["gt"]) + 1, *row["text"].split(" . ", 1))
                for row in csv.DictReader(io.StringIO(text, newline=""))
            ]
            files[ag_news.SUBSET] = _table(rows, quoting=csv.QUOTE_ALL).encode()
    return files


def _multi30k(archive: Path, whole: bool) -> Files:
    """The repository of Multi30k: packed texts in the folder data/task1/raw."""
    names = {PurePosixPath(name).name: name for language in multi30k.LANGUAGES for name in multi30k.files_of(language)}
    return {names[path.name]: content for path, content in _members(archive, lambda path: path.name in names)}


def _cifar10(archive: Path, whole: bool) -> Files:
    """The photographs as JPEG files in folders train/<class> and test/<class>, packed in the order of their names."""
    images = {
        "/".join(path.parts[-3:]): content
        for path, content in _members(
            archive, lambda path: path.suffix == ".jpg" and path.parts[-3] in ("train", "test")
        )
    }
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for name in sorted(images):
            entry = tarfile.TarInfo(name)
            entry.size = len(images[name])
            tar.addfile(entry, io.BytesIO(images[name]))
    return {image_sets.CIFAR10_FILE: packed.getvalue()} if images else {}


def _fashion_mnist(archive: Path, whole: bool) -> Files:
    """The pictures as PNG files in folders train/<class> and test/<class>, numbered; packed by class and number."""
    from PIL import Image

    pictures = {
        path.parts[-3:]: content
        for path, content in _members(
            archive, lambda path: path.suffix == ".png" and path.parts[-3:-2] in (("train",), ("test",))
        )
    }
    arrays = {}
    for part in ("train", "test"):
        names = sorted(name for name in pictures if name[0] == part)
        if names:
            arrays[f"x_{part}"] = np.stack([np.asarray(Image.open(io.BytesIO(pictures[name]))) for name in names])
            arrays[f"y_{part}"] = np.array([int(name[1]) for name in names], "uint8")
    packed = io.BytesIO()
    np.savez_compressed(packed, **arrays)  # type: ignore[arg-type]  # the names are the arrays' own
    return {image_sets.FASHION_FILE: packed.getvalue()} if arrays else {}


def _xrays(archive: Path, whole: bool) -> Files:
    """pneumoniamnist.npz, alone or in an archive."""
    found = [content for _, content in _members(archive, lambda path: path.name == "pneumoniamnist.npz")]
    return {XRAYS: found[0]} if found else {}


def _packed(header: tuple[str, ...], rows: Table) -> bytes:
    return gzip.compress(_table([header, *rows]).encode(), mtime=0)


def _table(rows: Iterable[tuple[object, ...]], **dialect: int) -> str:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n", **dialect).writerows(rows)  # type: ignore[arg-type]
    return text.getvalue()


BUILDERS: dict[str, Callable[[Path, bool], Files]] = {
    "imdb": _imdb,
    "ag_news": _ag_news,
    "multi30k": _multi30k,
    "cifar10": _cifar10,
    "fashion_mnist": _fashion_mnist,
    "chest_xray": _xrays,
}

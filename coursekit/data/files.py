"""Which source is asked for, where local files are, and whether a file is the one it should be."""

from __future__ import annotations

import csv
import gzip
import hashlib
import os
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

SOURCES = ("sample", "real")
SOURCE_VARIABLE, FOLDER_VARIABLE = "COURSE_SOURCE", "COURSE_DATA"
SAMPLES = Path(__file__).parent / "samples"
SAMPLE_ORIGIN = "sample (synthetic, this project's grammar)"
SHUFFLE_SEED = 2017  # of sets whose files are sorted by class

# SHA-256 of files of the real sets, by their place in a folder of local files. "unpacked:" marks those of what a packed
# file holds (`unpacked_sum`): who packs it again gets the same. For the whole AG News the MD5 that torchtext states.
CHECKSUMS = {
    "ag_news/train.csv": "md5:b1a00f826fdfbd249f79597b59e1dc12",
    "ag_news/test.csv": "521465c2428ed7f02f8d6db6ffdd4b5447c1c701962353eb2c40d548c3c85699",
    "ag_news/train_subset_10000.csv": "d20fb3ee085c597e9d39f2b23f1dc0477e8a4dd7cab823e03f90ccb66fc8f208",
    "chest_xray_pneumoniamnist/pneumoniamnist.npz": "f36c2b3e34de9d60c5c734118bc6daff281eaf76b67a57d26ad958da948274b0",
    "cifar10/cifar10_jpegs.tar.gz": "unpacked:cab9d0dd9f093e7c0ce3d5bb14b7a8f156116071f97a80f383eafa3d736c4f5a",
    "fashion_mnist/fashion_mnist.npz": "unpacked:0ebf563dae50fc1e6b537b47b5169edf1d727197a43a09da22c026db04efee19",
    "imdb/imdb_test.csv.gz": "unpacked:591a2bef7cb029a548617608bf749297e14a84af77541ebd2d63189f884244c3",
    "imdb/imdb_titles.csv.gz": "unpacked:2fba498175c8181cc04cfb92428fff9f1535737b3aa67cc9dee3e1c172bbff8f",
    "imdb/imdb_train.csv.gz": "unpacked:8cb9a3a74ae98a0de0c3273d02bc6f19b0f7e18334b57d678483399554158546",
    "imdb/imdb_unsup.csv.gz": "unpacked:e20e6fb9abf7aff0015e0bfd74726f9ed33b70a7b56bb25b8eeea30def37b4f0",
    "translation/multi30k/test_2016_flickr.de.gz": "9204244e408ccb38d2a55cfcd344df15005fc42a07a6e55ca6c52b6ababb8cc8",
    "translation/multi30k/test_2016_flickr.en.gz": "611d361c6334bc7246101d48097c13cf5c4413c5befc793cc629934359d532d9",
    "translation/multi30k/test_2016_flickr.fr.gz": "6d326e188d259fb1d04ac19eae3af956559b3a0b93d7635e56c90987c40c8b90",
    "translation/multi30k/train.de.gz": "726e39b2fa9eb9ffb6dc763fb35a179f80fae06ffc5d28b6ace5faa883de28a6",
    "translation/multi30k/train.en.gz": "d79cfa999dd4c51d2cb42499b6796d5a882c3a8a961923c25a898c90f8bbd56f",
    "translation/multi30k/train.fr.gz": "622e75069e9f4c577425c4f277116ce66e63a2401c0a2312d90073cb12379a3c",
    "translation/multi30k/val.de.gz": "f0cba2f995189cf5770f29a8a9a537a3ad3f51657ad873405082ff6863a5e75a",
    "translation/multi30k/val.en.gz": "14f7d25ddd868909a9213e361768460edcacdd6ab9d1e77b92560dc10c10dc28",
    "translation/multi30k/val.fr.gz": "ca3106f1a72390591d25f6c45cb4cd39dec4cd3f123e099748a3ce5256c160e9",
}


class DataError(RuntimeError):
    """Data cannot be loaded, or is not what it should be; the message says what to do next."""


def chosen_source() -> str:
    """The source that the environment variable COURSE_SOURCE names: "sample" or "real"; "sample" when it is not set.

    Raises:
        ValueError: the variable holds something else.
    """
    source = os.environ.get(SOURCE_VARIABLE) or "sample"
    if source not in SOURCES:
        raise ValueError(f'{SOURCE_VARIABLE} is "{source}"; set it to "sample" or "real", or unset it')
    return source


def check_request(source: str, path: str | os.PathLike | None) -> None:
    """Refuse a source that does not exist, and a folder that would not be looked at.

    Raises:
        ValueError: for either.
    """
    if source not in SOURCES:
        raise ValueError(f'source is "{source}"; it has to be "sample" or "real"')
    if path is not None and source != "real":
        raise ValueError(f'path={path} is for the real data: say source="real", or leave path out')


def read_sample(name: str) -> tuple[list[str], list[str]]:
    """The two columns of a file of samples, such as "reviews_train", without their headings."""
    with (SAMPLES / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        _, *rows = csv.reader(file)
    first, second = zip(*rows, strict=True)
    return list(first), list(second)


def sample_texts(name: str) -> list[tuple[list[str], list[int]]]:
    """Texts and labels of a sample's parts "train" and "test"."""
    columns = [read_sample(f"{name}_{part}") for part in ("train", "test")]
    return [(texts, [int(label) for label in labels]) for labels, texts in columns]


def local_files(names: Sequence[str], path: str | os.PathLike | None, *, sample: str) -> list[Path] | None:
    """Find a set's local files in the folder that `path`, or the environment variable COURSE_DATA, names.

    Args:
        names: the files' places inside the folder, such as "imdb/imdb_train.csv.gz".
        path: the folder, or None.
        sample: what to write for the sample instead, for the error.

    Returns:
        The files, their checksums compared where they are known; None when neither of the two names a folder.

    Raises:
        DataError: the folder lacks a file, or a file is not what it should be.
    """
    folder = path or os.environ.get(FOLDER_VARIABLE)
    if not folder:
        return None
    folder = Path(folder).expanduser()
    said_by = "path" if path else FOLDER_VARIABLE
    missing = [name for name in names if not (folder / name).is_file()]
    if missing:
        raise DataError(
            f"{said_by} is {folder}, which does not hold {', '.join(missing)}. Put it there, name another folder, "
            f"name none to fetch the data, or take {sample}. data/README.md describes the folder."
        )
    for name in names:
        check_sum(folder / name, CHECKSUMS.get(name))
    return [folder / name for name in names]


def check_sum(path: Path, expected: str | None) -> None:
    """Compare a file's checksum with the one it should have; nothing is compared when none is known.

    Args:
        path: the file.
        expected: a SHA-256; behind "unpacked:" that of what a packed file holds, behind "md5:" an MD5.

    Raises:
        DataError: they differ, or a packed file is broken.
    """
    if expected is None:
        return
    kind, _, digest = expected.rpartition(":")
    if kind == "unpacked":
        try:
            found = unpacked_sum(path)
        except (EOFError, OSError, tarfile.TarError, zipfile.BadZipFile, zlib.error) as error:
            raise DataError(
                f"{path} is not the file it should be: it cannot be unpacked ({error}). Delete it and fetch it again."
            ) from error
    else:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, kind or "sha256").hexdigest()
    if found != digest:
        raise DataError(
            f"{path} is not the file it should be: its {'MD5' if kind == 'md5' else 'SHA-256'} is {found[:12]}…, "
            f"expected {digest[:12]}…. It was changed, or its download broke off. Delete it and fetch it again."
        )


def unpacked_sum(path: Path) -> str:
    """The SHA-256 of what a .gz holds; of a .tar.gz or an .npz, of each file's name, a zero, its content, by name."""
    if path.name.endswith((".tar.gz", ".npz")):
        found = hashlib.sha256()
        if path.suffix == ".npz":
            with zipfile.ZipFile(path) as arrays:
                contents = {name: arrays.read(name) for name in arrays.namelist()}
        else:
            with tarfile.open(path) as archive:
                files = [member for member in archive if member.isfile()]
                contents = {file.name: archive.extractfile(file).read() for file in files}  # type: ignore[union-attr]
        for name in sorted(contents):
            found.update(name.encode() + b"\0" + contents[name])
        return found.hexdigest()
    with gzip.open(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def fetching(what: str, files: str, *, sample: str) -> Iterator[None]:
    """Around a download: turn whatever the library raises into one error that says how to go on.

    Args:
        what: name of the data, for people.
        files: what a local folder would have to hold, in words.
        sample: what to write for the sample instead.

    Raises:
        DataError: the download failed.
    """
    try:
        yield
    except DataError:
        raise
    except Exception as error:  # each library raises its own; keras raises a bare Exception
        reason = (str(error).strip() or type(error).__name__).splitlines()[0][:300]
        raise DataError(
            f"{what} could not be fetched ({reason}). You can do one of three things:\n"
            f'  1. name a folder that holds {files}: path="…" in the call;\n'
            f"  2. name it for all notebooks: set the environment variable {FOLDER_VARIABLE};\n"
            f"  3. go on without it: {sample}.\n"
            "data/README.md describes the folder. With a connection, the same call fetches the data."
        ) from error


def announce(name: str, origin: str, **counts: int) -> None:
    """Print the one line that says what a loader gave: `announce("news", "sample (…)", training=10, testing=5)`."""
    print(f"{name}: {origin}: " + ", ".join(f"{count:,} for {use}" for use, count in counts.items()))

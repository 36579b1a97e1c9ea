"""The files of a local folder, built from archives in the layout in which the authors publish them."""

from __future__ import annotations

import collections
import csv
import gzip
import importlib.util
import io
import re
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from test_data import FOLDER, ROOT, needs_folder

from coursekit.data import DataError, image_sets, imdb
from coursekit.data.archives import BUILDERS, XRAYS, build
from coursekit.data.files import CHECKSUMS, check_sum, unpacked_sum


def tarred(path: Path, contents: dict[str, bytes]) -> Path:
    with tarfile.open(path, "w:gz", compresslevel=1) as archive:
        for name, content in contents.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return path


def zipped(path: Path, contents: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    return path


def rows_of(path: Path) -> list[dict[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def reviews_as_published(parts: tuple[str, ...]) -> dict[str, bytes]:
    """The layout of aclImdb_v1 with the reviews at hand, and, for the eight that are not, a text of this test."""
    contents = {}
    for split in parts:
        for row in rows_of(FOLDER / imdb.place(split)):
            folder = "train/unsup" if split == "unsup" else split
            contents[f"aclImdb/{folder}/{row['file']}"] = row["text"].encode()
    return contents


@pytest.mark.long
@needs_folder
def test_imdb_is_built_from_its_archive(tmp_path):
    contents = reviews_as_published(("test",))
    titles = {row["file"]: row["title"] for row in rows_of(FOLDER / imdb.place("titles")) if row["split"] == "test"}
    for name in ("pos/0_10.txt", "pos/2_7.txt", "pos/7_9.txt", "pos/9_7.txt"):
        contents[f"aclImdb/test/{name}"] = b"Not one of the reviews."
        titles[name] = "tt0000001"
    for kind in ("pos", "neg"):
        numbered = sorted(
            (int(name[4:].partition("_")[0]), title) for name, title in titles.items() if name[:3] == kind
        )
        lines = [f"http://www.imdb.com/title/{title}/usercomments" for _, title in numbered]
        contents[f"aclImdb/test/urls_{kind}.txt"] = "\n".join(lines).encode()
    archive = tarred(tmp_path / "aclImdb_v1.tar.gz", contents)
    with pytest.raises(DataError, match=r"imdb_titles\.csv\.gz is not the file it should be"):
        build("imdb", archive, tmp_path / "half")  # the titles of the training reviews are missing
    check_sum(tmp_path / "half" / imdb.place("test"), CHECKSUMS[imdb.place("test")])
    built = build("imdb", archive, tmp_path / "all", whole=True)
    assert [(path.name, compared) for path, compared in built] == [
        ("imdb_test_whole.csv.gz", False), ("imdb_titles_whole.csv.gz", False),
    ]  # fmt: skip
    whole = rows_of(built[0][0])
    assert len(whole) == 25_000 and imdb.local_file(tmp_path / "all", "test") == built[0][0]
    assert {row["file"]: row["title"] for row in rows_of(built[1][0])} == titles


@needs_folder
def test_ag_news_and_its_subset(tmp_path):
    test = (FOLDER / "ag_news/test.csv").read_bytes()
    ((path, compared),) = build("ag_news", tarred(tmp_path / "ag.tar.gz", {"ag_news_csv/test.csv": test}), tmp_path)
    assert compared and path.read_bytes() == test
    noisy = FOLDER / "ag_news/noisyag_samples10000valMed.csv.gz"
    ((path, compared),) = build("ag_news", noisy, tmp_path)
    assert compared and path.read_bytes() == (FOLDER / "ag_news/train_subset_10000.csv").read_bytes()
    with pytest.raises(DataError, match="its MD5 is"):
        build("ag_news", tarred(tmp_path / "broken.tar.gz", {"ag_news_csv/train.csv": test}), tmp_path)


@needs_folder
def test_multi30k_and_xrays_from_archives_of_their_repositories(tmp_path):
    names = [name for name in CHECKSUMS if name.startswith("translation/")]
    packed = {f"dataset-main/data/task1/raw/{Path(name).name}": (FOLDER / name).read_bytes() for name in names}
    built = build("multi30k", zipped(tmp_path / "dataset.zip", packed), tmp_path)
    assert len(built) == len(names) and all(compared for _, compared in built)
    built = build("chest_xray", FOLDER / XRAYS, tmp_path)
    assert built == [(tmp_path / XRAYS, True)]


@needs_folder
@pytest.mark.slow
@pytest.mark.long
def test_cifar10_is_packed_again_from_its_photographs(tmp_path):
    with tarfile.open(FOLDER / "cifar10/cifar10_jpegs.tar.gz") as packed:
        contents = {
            f"images-master/{member.name}": packed.extractfile(member).read() for member in packed if member.isfile()
        }
    ((_, compared),) = build("cifar10", zipped(tmp_path / "images.zip", contents), tmp_path)
    assert compared


@needs_folder
@pytest.mark.slow
@pytest.mark.long
def test_fashion_mnist_is_packed_again_from_its_pictures(tmp_path):
    contents, numbers = {}, collections.Counter()
    with np.load(FOLDER / image_sets.FASHION_FILE) as arrays:
        for part in ("train", "test"):
            for picture, label in zip(arrays[f"x_{part}"], arrays[f"y_{part}"], strict=True):
                png = io.BytesIO()
                Image.fromarray(picture).save(png, "png", compress_level=0)
                contents[f"book/fashion_mnist_images/{part}/{label}/{numbers[part, label]:04}.png"] = png.getvalue()
                numbers[part, label] += 1
    upside_down = dict(reversed(contents.items()))
    ((path, compared),) = build("fashion_mnist", zipped(tmp_path / "book.zip", upside_down), tmp_path)
    assert compared and path == tmp_path / image_sets.FASHION_FILE


def test_arrays_that_are_packed_again_have_the_same_checksum(tmp_path):
    x, y = np.arange(6.0), np.ones(2, "uint8")
    np.savez(tmp_path / "plain.npz", x=x, y=y)
    np.savez_compressed(tmp_path / "packed.npz", y=y, x=x)
    np.savez(tmp_path / "other.npz", x=x[::-1], y=y)
    plain, packed, other = (unpacked_sum(tmp_path / f"{name}.npz") for name in ("plain", "packed", "other"))
    assert plain == packed != other


@pytest.mark.parametrize("name", sorted(BUILDERS))
def test_what_is_no_archive_or_holds_something_else_is_said(tmp_path, name):
    with pytest.raises(DataError, match="holds nothing of"):
        build(name, zipped(tmp_path / "other.zip", {"readme.md": b"x"}), tmp_path)
    with pytest.raises(DataError, match=r"cannot be read as an archive|holds nothing"):
        build(name, tmp_path / "missing.tar.gz", tmp_path)


def rows_of_the_page() -> list[list[str]]:
    """The rows of the table of archives in data/README.md: set, archive, where, stated, compared, tried."""
    page = (ROOT / "data" / "README.md").read_text(encoding="utf-8")
    table = page.partition("| set | archive |")[2].partition("\n\n")[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]


def test_the_page_says_of_every_archive_where_it_is_what_is_checked_and_when_it_was_tried():
    rows = rows_of_the_page()
    assert {row[0].strip("`") for row in rows} == set(BUILDERS)
    for row in rows:
        assert len(row) == 6 and all(row), row
        assert re.search(r"github\.com/[\w-]+/[\w-]+|[\w.]+\.edu/", row[1] + row[2]), row
        assert re.match(r"20\d\d-\d\d-\d\d", row[5]), row


@pytest.mark.parametrize(("name", "library"), [("imdb", "imdb_reviews"), ("ag_news", "ag_news_subset")])
def test_the_page_has_the_size_and_the_checksum_that_the_library_states(name, library):
    spec = importlib.util.find_spec("tensorflow_datasets")
    assert spec and spec.origin
    stated = Path(spec.origin).parent / "datasets" / library / "checksums.tsv"
    _, size, checksum, archive = stated.read_text(encoding="utf-8").split()
    row = next(row for row in rows_of_the_page() if row[0] == f"`{name}`")
    assert f"`{archive}`" in row[1] and row[3] == f"{int(size):,}, `{checksum}`"

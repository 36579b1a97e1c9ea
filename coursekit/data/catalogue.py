"""All data sets of the course: what each is, its size and licence, and whether it is on this machine."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from coursekit.data import ag_news, image_sets, imdb, multi30k
from coursekit.data.files import FOLDER_VARIABLE

Folder = str | os.PathLike | None


@dataclass(frozen=True)
class DataSet:
    """One set.

    Attributes:
        name: what `course data NAME` takes.
        kind: "sample" or "real".
        what: for people, in a few words.
        training: number of examples to train on, in words.
        call: how a notebook loads it.
        licence: in a few words; data/README.md has more.
        size: of the download, in words; "" where there is none.
        load: loads it, from a folder or by fetching; prints one line. None for samples.
        local: alternatives of files in a local folder; the first that is complete counts.
        kept: where the library keeps it, as patterns inside the home folder of `keeper`.
        keeper: "tensorflow_datasets" or "keras".
    """

    name: str
    kind: str
    what: str
    training: str
    call: str
    licence: str
    size: str = ""
    load: Callable[[Folder], object] | None = None
    local: tuple[tuple[str, ...], ...] = ()
    keeper: str = ""
    kept: tuple[str, ...] = ()

    def where(self) -> str:
        """Where the set is on this machine, in a word; "" when it is nowhere. Nothing is opened or fetched."""
        if self.kind == "sample":
            return "yes"
        if not self.keeper:
            return "yes"
        folder = os.environ.get(FOLDER_VARIABLE)
        if folder and any(all((Path(folder).expanduser() / name).is_file() for name in names) for names in self.local):
            return "folder"
        home = HOMES[self.keeper][1]()
        return HOMES[self.keeper][0] if all(any(home.glob(pattern)) for pattern in self.kept) else ""


def _tfds_home() -> Path:
    return Path(os.environ.get("TFDS_DATA_DIR") or "~/tensorflow_datasets").expanduser()


def _keras_home() -> Path:
    return Path(os.environ.get("KERAS_HOME") or "~/.keras").expanduser() / "datasets"


HOMES = {"tensorflow_datasets": ("TFDS", _tfds_home), "keras": ("Keras", _keras_home)}
_OURS = "CC BY 4.0"

SETS = (
    DataSet("reviews", "sample", "film reviews", "4,000", "reviews()", _OURS),
    DataSet("news", "sample", "news, 4 classes", "1,200", "news()", _OURS),
    DataSet("sentences", "sample", "English–German", "3,000", "sentence_pairs()", _OURS),
    DataSet("digits", "real", "8 × 8 digits", "1,437", 'images("digits")', "CC BY 4.0"),
    DataSet("functions", "real", "Python code", "~11,800", "library_functions()", "PSF"),
    DataSet(
        name="imdb",
        kind="real",
        what="film reviews",
        training="25,000",
        call='reviews("real")',
        licence="research",
        size="80 MB",
        load=partial(imdb.reviews, "real"),
        local=(imdb.WHOLE, imdb.FILES),
        keeper="tensorflow_datasets",
        kept=("imdb_reviews/plain_text/*/dataset_info.json",),
    ),
    DataSet(
        name="ag_news",
        kind="real",
        what="news, 4 classes",
        training="120,000",
        call='news("real")',
        licence="research",
        size="11 MB",
        load=partial(ag_news.news, "real"),
        local=((ag_news.WHOLE, ag_news.TEST), (ag_news.SUBSET, ag_news.TEST)),
        keeper="tensorflow_datasets",
        kept=("ag_news_subset/*/dataset_info.json",),
    ),
    DataSet(
        name="multi30k",
        kind="real",
        what="English–German",
        training="29,000",
        call='sentence_pairs("real")',
        licence="research",
        size="1.3 MB",
        load=partial(multi30k.sentence_pairs, "real"),
        local=(multi30k.FILES,),
        keeper="keras",
        kept=tuple(f"multi30k/{Path(name).name}" for name in multi30k.FILES),
    ),
    DataSet(
        name="fashion_mnist",
        kind="real",
        what="28 × 28 clothes",
        training="60,000",
        call='images("fashion_mnist", "real")',
        licence="MIT",
        size="29 MB",
        load=partial(image_sets.images, "fashion_mnist", "real"),
        local=((image_sets.FASHION_FILE,),),
        keeper="keras",
        kept=("fashion-mnist/train-images-idx3-ubyte.gz", "fashion-mnist/t10k-images-idx3-ubyte.gz"),
    ),
    DataSet(
        name="cifar10",
        kind="real",
        what="32 × 32 photos",
        training="50,000",
        call='images("cifar10", "real")',
        licence="none stated",
        size="163 MB",
        load=partial(image_sets.images, "cifar10", "real"),
        local=((image_sets.CIFAR10_FILE,),),
        keeper="keras",
        kept=("cifar-10-batches-py-target*/cifar-10-batches-py/test_batch",),
    ),
)

"""Small images with classes: scikit-learn's digits, Fashion-MNIST (Xiao et al. 2017), CIFAR-10 (Krizhevsky 2009)."""

from __future__ import annotations

import os
import re
import tarfile
from pathlib import Path

import numpy as np

from coursekit.data.files import SHUFFLE_SEED, DataError, announce, check_request, fetching, local_files

FASHION_CLASSES = (
    *("T-shirt", "trouser", "pullover", "dress", "coat"),
    *("sandal", "shirt", "sneaker", "bag", "ankle boot"),
)
CIFAR10_CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
FASHION_FILE, CIFAR10_FILE = "fashion_mnist/fashion_mnist.npz", "cifar10/cifar10_jpegs.tar.gz"
NAMES = ("digits", "fashion_mnist", "cifar10")
DIGITS_FOR_TESTING = 360  # a fifth
DECODED = 1_000  # images at a time
SAMPLE = 'the real 8 × 8 digits, which need no download: images("digits")'

Part = tuple[np.ndarray, np.ndarray]


def images(name: str, source: str = "sample", path: str | os.PathLike | None = None) -> tuple[Part, Part]:
    """Load small images: `(x_train, y_train), (x_test, y_test)`.

    Args:
        name: "digits" (8 × 8 grey, 1,437 and 360; real, and part of scikit-learn, whatever the source), "fashion_mnist"
            (28 × 28 grey, 60,000 and 10,000) or "cifar10" (32 × 32 colour, 50,000 and 10,000).
        source: "real" for the last two, of which there is no sample.
        path: folder of local files, see data/README.md; without it COURSE_DATA, without that keras.datasets.

    Returns:
        Images as float32 (n, h, w, C) in [0, 1], classes as int32 (n,). Both parts are shuffled.

    Raises:
        DataError: the data cannot be loaded. ValueError: no such name or source, or a path for the sample.
    """
    if name not in NAMES:
        raise ValueError(f'no images "{name}"; there are {", ".join(NAMES)}')
    check_request(source, path)
    if name == "digits":
        parts, origin = _digits(), "real (8 × 8 pixels, part of scikit-learn)"
    elif source == "sample":
        raise DataError(
            f'There is no sample of {name}. Say source="real" (or set COURSE_SOURCE=real), or take {SAMPLE}.'
        )
    elif name == "fashion_mnist":
        parts, origin = _fashion_mnist(path)
    else:
        parts, origin = _cifar10(path)
    (x_train, y_train), (x_test, y_test) = ((_unit(x), np.asarray(y, dtype="int32").reshape(-1)) for x, y in parts)
    announce(name, origin, training=len(x_train), testing=len(x_test))
    return (x_train, y_train), (x_test, y_test)


def _unit(x: np.ndarray) -> np.ndarray:
    """Bytes to [0, 1], with an axis for the channels: (n, h, w) or (n, h, w, C) -> (n, h, w, C)."""
    x = x.astype("float32")
    x /= 255
    return x[..., None] if x.ndim == 3 else x


def _digits() -> tuple[Part, Part]:
    from sklearn.datasets import load_digits

    found = load_digits()
    x, y = _shuffled(found.images * (255 / 16), found.target)  # sixteen steps of grey
    return (x[:-DIGITS_FOR_TESTING], y[:-DIGITS_FOR_TESTING]), (x[-DIGITS_FOR_TESTING:], y[-DIGITS_FOR_TESTING:])


def _fashion_mnist(path: str | os.PathLike | None) -> tuple[tuple[Part, Part], str]:
    if (files := local_files([FASHION_FILE], path, sample=SAMPLE)) is not None:
        with np.load(files[0]) as arrays:
            train, test = (_shuffled(arrays[f"x_{part}"], arrays[f"y_{part}"]) for part in ("train", "test"))
        return (train, test), "real (Fashion-MNIST, local file)"
    import keras

    with fetching("Fashion-MNIST", FASHION_FILE, sample=SAMPLE):
        return keras.datasets.fashion_mnist.load_data(), "real (Fashion-MNIST, keras.datasets)"


def _cifar10(path: str | os.PathLike | None) -> tuple[tuple[Part, Part], str]:
    if (files := local_files([CIFAR10_FILE], path, sample=SAMPLE)) is not None:
        return read_jpegs(files[0]), "real (CIFAR-10 as JPEG, local file)"
    import keras

    with fetching("CIFAR-10", CIFAR10_FILE, sample=SAMPLE):
        return keras.datasets.cifar10.load_data(), "real (CIFAR-10, keras.datasets)"


def read_jpegs(path: Path) -> tuple[Part, Part]:
    """Decode a tar of JPEGs, `train/<class>/<file>.jpg` and `test/<class>/<file>.jpg`, and shuffle each part.

    The names of the classes, sorted, are the labels 0, 1, …; for CIFAR-10 that is its standard order.

    Args:
        path: the tar file.

    Returns:
        Training and test part, each images (n, h, w, 3) and labels (n,), bytes and integers.

    Raises:
        DataError: the file holds no such images.
    """
    with tarfile.open(path, "r:*") as archive:
        files = {
            member.name: file.read()
            for member in archive
            if re.fullmatch(r"(train|test)/[^/]+/[^/]+\.jpg", member.name)
            and member.isfile()
            and (file := archive.extractfile(member)) is not None
        }
    names = sorted(files)
    classes = sorted({name.split("/")[1] for name in names})
    labels = np.array([classes.index(name.split("/")[1]) for name in names])
    tests = sum(name.startswith("test/") for name in names)  # they come first
    if not 0 < tests < len(names):
        raise DataError(f"{path} does not hold train/<class>/….jpg and test/<class>/….jpg; see data/README.md")
    pixels = _decode([files[name] for name in names])  # (n, h, w, 3)
    return _shuffled(pixels[tests:], labels[tests:]), _shuffled(pixels[:tests], labels[:tests])


def _decode(files: list[bytes]) -> np.ndarray:
    """JPEGs of one size to bytes (n, h, w, 3), with a bar of progress; TQDM_DISABLE=1 hides it."""
    import tensorflow as tf
    from tqdm import tqdm

    def decode(file):
        return tf.io.decode_jpeg(file, channels=3, dct_method="INTEGER_ACCURATE")

    batches = tf.data.Dataset.from_tensor_slices(files).map(decode, num_parallel_calls=tf.data.AUTOTUNE).batch(DECODED)
    with tqdm(total=len(files), desc="decoding", unit=" images", mininterval=1, leave=False) as bar:
        found = []
        for batch in batches.as_numpy_iterator():
            found.append(batch)
            bar.update(len(batch))
    return np.concatenate(found)


def _shuffled(x: np.ndarray, y: np.ndarray) -> Part:
    order = np.random.default_rng(SHUFFLE_SEED).permutation(len(x))
    return x[order], y[order]

"""The data under the course: what the loaders give and say, and what goes wrong clearly."""

from __future__ import annotations

import gzip
import io
import os
import tarfile
import urllib.error
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from autograder.cli.app import app
from coursekit import data
from coursekit.data import ag_news, image_sets, multi30k, tfds_sets
from coursekit.data.catalogue import SETS
from coursekit.data.files import CHECKSUMS, check_sum

ROOT = Path(__file__).resolve().parents[2]
LOADERS = {"reviews": data.reviews, "news": data.news, "sentence pairs": data.sentence_pairs}
FOLDERS = [Path(folder) for folder in (os.environ.get("COURSE_DATA"), ROOT.parent / "shared" / "data") if folder]
FOLDER = next((folder for folder in FOLDERS if (folder / "imdb").is_dir()), None)
needs_folder = pytest.mark.skipif(FOLDER is None, reason="no folder of real data: set COURSE_DATA")


@pytest.fixture(autouse=True)
def nothing_is_set(monkeypatch):
    monkeypatch.delenv("COURSE_DATA", raising=False)
    monkeypatch.delenv("COURSE_SOURCE", raising=False)


def check_texts(parts, sizes, labels):
    """The form of a labelled text set, sample or real."""
    assert len(parts) == 2
    for (texts, marks), size in zip(parts, sizes, strict=True):
        assert isinstance(texts, list) and len(texts) == size and all(isinstance(text, str) for text in texts)
        assert isinstance(marks, np.ndarray) and marks.dtype == np.int32 and marks.shape == (size,)
        assert set(marks.tolist()) == set(labels)
        assert len(set(marks[:200].tolist())) == len(labels), "a part is sorted by label"


def check_pairs(parts, sizes):
    assert len(parts) == 3
    for (english, german), size in zip(parts, sizes, strict=True):
        assert isinstance(english, list) and len(english) == len(german) == size
        assert all(isinstance(line, str) and line == line.strip() and line for line in (*english, *german))


def check_images(parts, sizes, shape):
    assert len(parts) == 2
    for (x, y), size in zip(parts, sizes, strict=True):
        assert x.shape == (size, *shape) and x.dtype == np.float32 and y.shape == (size,) and y.dtype == np.int32
        assert x.min() >= 0 and x.max() <= 1 and x.max() > 0.9
        assert set(y.tolist()) == set(range(10)) and len(set(y[:100].tolist())) == 10


class TestLoaders:
    def test_the_samples_have_the_form_that_real_data_has(self):
        check_texts(data.reviews(), (4_000, 1_000), (0, 1))
        check_texts(data.news(), (1_200, 400), range(4))
        check_pairs(data.sentence_pairs(), (3_000, 300, 300))

    def test_digits_are_real_and_need_no_source(self):
        parts = data.images("digits")
        check_images(parts, (1_437, 360), (8, 8, 1))
        again = data.images("digits", source="real")
        assert all(
            np.array_equal(a, b) for one, two in zip(parts, again, strict=True) for a, b in zip(one, two, strict=True)
        )

    @needs_folder
    def test_local_folder(self, monkeypatch, capsys):
        check_texts(data.reviews("real", path=FOLDER), (24_996, 24_996), (0, 1))
        monkeypatch.setenv("COURSE_DATA", str(FOLDER))
        check_texts(data.news("real"), (10_000, 7_600), range(4))
        check_pairs(data.sentence_pairs("real"), (29_000, 1_014, 1_000))
        lines = capsys.readouterr().out.splitlines()
        assert lines == [
            "reviews: real (IMDB, local files): 24,996 for training, 24,996 for testing",
            "news: real (AG News, 10,000 of the 120,000 training texts, local files): 10,000 for training, "
            "7,600 for testing",
            "sentence pairs: real (Multi30k, local files): 29,000 for training, 1,014 for validation, "
            "1,000 for testing",
        ]

    @needs_folder
    def test_local_images(self):
        parts = data.images("fashion_mnist", "real", path=FOLDER)
        check_images(parts, (60_000, 10_000), (28, 28, 1))
        assert parts[0][0].mean(dtype="float64") == pytest.approx(0.2860, abs=1e-4)  # known of the set

    def test_one_line_says_what_was_given(self, capsys):
        data.reviews()
        data.news()
        data.sentence_pairs()
        data.images("digits")
        assert capsys.readouterr().out.splitlines() == [
            "reviews: sample (synthetic, this project's grammar): 4,000 for training, 1,000 for testing",
            "news: sample (synthetic, this project's grammar): 1,200 for training, 400 for testing",
            "sentence pairs: sample (synthetic, this project's grammar): 3,000 for training, 300 for validation, "
            "300 for testing",
            "digits: real (8 × 8 pixels, part of scikit-learn): 1,437 for training, 360 for testing",
        ]

    def test_chosen_source(self, monkeypatch):
        assert data.chosen_source() == "sample"
        monkeypatch.setenv("COURSE_SOURCE", "real")
        assert data.chosen_source() == "real"
        monkeypatch.setenv("COURSE_SOURCE", "Real")
        with pytest.raises(ValueError, match='"sample" or "real"'):
            data.chosen_source()

    @pytest.mark.parametrize("load", LOADERS.values(), ids=LOADERS)
    def test_what_makes_no_sense_is_refused(self, load, tmp_path):
        with pytest.raises(ValueError, match='source is "fake"'):
            load(source="fake")
        with pytest.raises(ValueError, match='say source="real"'):
            load(path=tmp_path)

    def test_there_is_no_sample_of_photographs(self):
        with pytest.raises(data.DataError, match=r'no sample of cifar10.*source="real".*digits'):
            data.images("cifar10")
        with pytest.raises(ValueError, match="there are digits, fashion_mnist, cifar10"):
            data.images("cifar100")


class TestWhatGoesWrong:
    """Real data that cannot be had is an error with ways on, never a sample instead."""

    @pytest.fixture
    def offline(self, monkeypatch, tmp_path):
        def no_connection(*arguments, **keywords):
            raise urllib.error.URLError("no route to host")

        import keras

        monkeypatch.setattr("urllib.request.urlopen", no_connection)
        monkeypatch.setattr(keras.utils, "get_file", no_connection)
        monkeypatch.setattr("keras.datasets.cifar10.load_data", no_connection)
        monkeypatch.setattr("keras.datasets.fashion_mnist.load_data", no_connection)
        monkeypatch.setenv("TFDS_DATA_DIR", str(tmp_path))
        monkeypatch.setattr("tensorflow_datasets.builder", lambda name: Unprepared())

    @pytest.mark.parametrize(
        "load",
        [
            *LOADERS.values(),
            lambda **words: data.images("cifar10", **words),
            lambda **words: data.images("fashion_mnist", **words),
        ],
        ids=[*LOADERS, "cifar10", "fashion_mnist"],
    )
    def test_offline(self, offline, load, capsys):
        with pytest.raises(data.DataError) as caught:
            load(source="real")
        message = str(caught.value)
        assert "could not be fetched (<urlopen error no route to host>)" in message
        assert 'path="…"' in message and "COURSE_DATA" in message
        assert 'source="sample"' in message or 'images("digits")' in message
        assert "for training" not in capsys.readouterr().out

    @pytest.mark.parametrize("load", LOADERS.values(), ids=LOADERS)
    def test_a_folder_without_the_files(self, load, tmp_path, monkeypatch):
        with pytest.raises(data.DataError, match=r"path is .* does not hold \S+/\S+"):
            load(source="real", path=tmp_path)
        monkeypatch.setenv("COURSE_DATA", str(tmp_path))
        with pytest.raises(data.DataError, match=r"COURSE_DATA is .* does not hold"):
            load(source="real")

    def test_a_changed_file_is_found(self, tmp_path):
        (tmp_path / "fashion_mnist").mkdir()
        file = tmp_path / "fashion_mnist" / "fashion_mnist.npz"
        np.savez(file, x_train=np.zeros((2, 28, 28), "uint8"))
        with pytest.raises(
            data.DataError, match=r"is not the file it should be: its SHA-256 is [0-9a-f]{12}…, expected 0ebf"
        ):
            data.images("fashion_mnist", "real", path=tmp_path)

    @pytest.mark.parametrize("name", sorted(name for name, known in CHECKSUMS.items() if known.startswith("unpacked")))
    def test_a_packed_file_that_broke_off_is_found(self, tmp_path, name):
        file = tmp_path / Path(name).name
        if file.suffix == ".npz":
            np.savez(file, x=np.arange(1_000))
        else:
            file.write_bytes(gzip.compress(bytes(np.random.default_rng(0).integers(0, 256, 5_000, "uint8"))))
        file.write_bytes(file.read_bytes()[:2_000])
        with pytest.raises(data.DataError, match="is not the file it should be: it cannot be unpacked"):
            check_sum(file, CHECKSUMS[name])

    @pytest.mark.long
    @needs_folder
    @pytest.mark.parametrize("name", sorted(CHECKSUMS.keys() - {ag_news.WHOLE}))  # too large to be kept here
    def test_known_checksums(self, name):
        check_sum(FOLDER / name, CHECKSUMS[name])


class Unprepared:
    def is_prepared(self) -> bool:
        return False


class TestFetching:
    """What the libraries hand over, played by stand-ins: the real downloads cannot be tested offline."""

    def test_reviews_and_news_from_tensorflow_datasets(self, monkeypatch, capsys):
        import tensorflow_datasets as tfds

        asked = []
        rows = [
            {"text": b"good \xc3\xa9", "title": b"A", "description": b"one\\two", "label": np.int64(label)}
            for label in (1, 0)
        ]

        def load(name, split):
            asked.append((name, split))
            return rows, rows[:1]

        monkeypatch.setattr(tfds, "builder", lambda name: type("Builder", (), {"is_prepared": lambda self: True})())
        monkeypatch.setattr(tfds, "load", load)
        monkeypatch.setattr(tfds, "as_numpy", lambda part: part)
        (texts, labels), (test_texts, _) = data.reviews("real")
        assert texts == ["good é"] * 2 and labels.tolist() == [1, 0] and len(test_texts) == 1
        assert data.news("real")[0][0] == ["A. one two"] * 2
        assert asked == [("imdb_reviews", ["train", "test"]), ("ag_news_subset", ["train", "test"])]
        assert "reviews: real (IMDB, tensorflow_datasets): 2 for training, 1 for testing" in capsys.readouterr().out

    def test_the_library_knows_the_sets(self):
        """Names and features as this version of tensorflow_datasets has them; nothing is fetched."""
        tfds_sets._supply_importlib_resources()
        import tensorflow_datasets as tfds

        assert {"text", "label"} == set(tfds.builder("imdb_reviews").info.features)
        assert {"title", "description", "label"} == set(tfds.builder("ag_news_subset").info.features)

    @needs_folder
    def test_multi30k_is_fetched_with_checksums(self, monkeypatch):
        import keras

        asked = {}

        def get_file(name, origin, cache_subdir, file_hash):
            asked[name] = origin, file_hash
            return str(FOLDER / multi30k.FOLDER / name)

        monkeypatch.setattr(keras.utils, "get_file", get_file)
        check_pairs(data.sentence_pairs("real"), (29_000, 1_014, 1_000))
        assert set(asked) == {Path(name).name for name in multi30k.FILES}
        for name, (origin, file_hash) in asked.items():
            assert origin.endswith(f"/{multi30k.COMMIT}/data/task1/raw/{name}")
            assert file_hash == CHECKSUMS[f"{multi30k.FOLDER}/{name}"]

    @needs_folder
    def test_french_instead_of_german(self):
        (english, german), *_ = data.sentence_pairs("real", FOLDER)
        parts = data.sentence_pairs("real", FOLDER, language="fr")
        check_pairs(parts, (29_000, 1_014, 1_000))
        assert parts[0][0] == english and parts[0][1] != german

    @pytest.mark.parametrize(("source", "language"), [("sample", "fr"), ("real", "en"), ("sample", "klingon")])
    def test_a_language_that_is_not_there(self, source, language):
        with pytest.raises(ValueError, match=f'language is "{language}"'):
            data.sentence_pairs(source, language=language)

    def test_images_from_keras(self, monkeypatch):
        """keras.datasets gives bytes, and CIFAR-10's labels as a column."""
        x = np.arange(4 * 32 * 32 * 3, dtype="uint8").reshape(4, 32, 32, 3)
        y = np.array([[3], [1], [2], [0]], dtype="uint8")
        monkeypatch.setattr("keras.datasets.cifar10.load_data", lambda: ((x, y), (x[:1], y[:1])))
        (images, labels), (tests, _) = data.images("cifar10", "real")
        assert images.dtype == np.float32 and np.array_equal(images * 255, x.astype("float32"))
        assert labels.tolist() == [3, 1, 2, 0] and tests.shape == (1, 32, 32, 3)


def jpegs(path: Path, files: dict[str, tuple[int, int, int]]) -> Path:
    """A tar of JPEGs, each of one colour."""
    import tensorflow as tf

    with tarfile.open(path, "w:gz") as archive:
        for name, colour in files.items():
            content = tf.io.encode_jpeg(np.full((32, 32, 3), colour, dtype="uint8"), quality=95).numpy()
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


class TestDecoding:
    def test_the_class_is_the_place_of_the_folder(self, tmp_path):
        colours = {"airplane": (250, 10, 10), "bird": (10, 250, 10), "truck": (10, 10, 250)}
        files = {
            f"{part}/{name}/{n:04}.jpg": colours[name]
            for name in sorted(colours, reverse=True)
            for part in ("train", "test")
            for n in range(9)
        }
        archive = jpegs(tmp_path / "x.tar.gz", files)
        for x, y in image_sets.read_jpegs(archive):
            assert x.shape == (27, 32, 32, 3) and x.dtype == np.uint8
            expected = np.array(list(colours.values()))[y]  # (n, 3)
            assert np.abs(x.astype(int) - expected[:, None, None]).max() <= 3  # JPEG loses a little
            assert Counter(y.tolist()) == {0: 9, 1: 9, 2: 9} and y.tolist() != sorted(y)
        assert all(
            np.array_equal(a, b)
            for one, two in zip(image_sets.read_jpegs(archive), image_sets.read_jpegs(archive), strict=True)
            for a, b in zip(one, two, strict=True)
        )

    def test_another_archive_is_refused(self, tmp_path):
        with pytest.raises(data.DataError, match="does not hold train/<class>"):
            image_sets.read_jpegs(
                jpegs(tmp_path / "x.tar.gz", {"train/cat/1.jpg": (0, 0, 0), "readme/cat/2.jpg": (0, 0, 0)})
            )

    @needs_folder
    def test_the_classes_sorted_are_those_of_cifar10(self):
        with tarfile.open(FOLDER / image_sets.CIFAR10_FILE) as archive:
            folders = [member.name.strip("/") for member, _ in zip(archive, range(12), strict=False) if member.isdir()]
        assert tuple(sorted(image_sets.CIFAR10_CLASSES)) == image_sets.CIFAR10_CLASSES
        assert folders[:2] == ["train", "train/airplane"]


def course(*words: str, code: int = 0) -> str:
    """What `course WORDS` prints, on a terminal of 80 columns."""
    result = CliRunner().invoke(app, list(words), env={"COLUMNS": "80", "TERM": "dumb"})
    assert result.exit_code == code, result.output
    return result.output


class TestCommand:
    def test_the_table_says_what_is_here(self, monkeypatch, tmp_path):
        monkeypatch.setenv("TFDS_DATA_DIR", str(tmp_path / "tfds"))
        monkeypatch.setenv("KERAS_HOME", str(tmp_path / "keras"))
        prepared = tmp_path / "tfds" / "imdb_reviews" / "plain_text" / "1.0.0"
        prepared.mkdir(parents=True)
        (prepared / "dataset_info.json").write_text("{}")
        lines = course("data").splitlines()
        for data_set in SETS:
            (line,) = (line for line in lines if line.split()[:2] == [data_set.name, data_set.kind])
            assert data_set.licence in line and data_set.training in line and data_set.what in line
            here = "yes" if data_set.load is None else "TFDS" if data_set.name == "imdb" else "absent"
            assert f" {here} " in line

    @needs_folder
    def test_a_local_folder(self, monkeypatch):
        assert "29,000 for training" in course("data", "multi30k", "--path", str(FOLDER))
        monkeypatch.setenv("COURSE_DATA", str(FOLDER))
        assert {data_set.where() for data_set in SETS} == {"yes", "folder"}

    def test_what_is_here_is_not_fetched(self):
        assert "nothing to fetch" in course("data", "digits") and "nothing to fetch" in course("data", "reviews")

    def test_errors_say_what_to_do(self, tmp_path):
        assert "there are reviews, news" in course("data", "imbd", code=2)
        assert "course data imdb --path" in course("data", "--path", str(tmp_path), code=2)
        said = " ".join(course("data", "imdb", "--path", str(tmp_path), code=1).split())
        assert "does not hold imdb/imdb_train.csv.gz" in said and "Traceback" not in said

    def test_help_teaches(self):
        said = course("data", "--help")
        assert all(words in said for words in ("course data imdb", "COURSE_SOURCE=real", "COURSE_DATA"))

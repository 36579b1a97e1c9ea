"""The data under the course: what the loaders give and say, what the samples are worth, and what goes wrong clearly."""

from __future__ import annotations

import csv
import io
import os
import re
import tarfile
import urllib.error
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from typer.testing import CliRunner

from autograder.cli import app
from coursekit import data, recorded
from coursekit.data import image_sets, multi30k, tfds_sets
from coursekit.data.catalogue import SETS
from coursekit.data.files import CHECKSUMS, check_sum
from coursekit.data.samples import pairs, reviews
from coursekit.data.samples.draws import Draws
from coursekit.data.samples.files import digest, sample_files, write_samples

ROOT = Path(__file__).resolve().parents[1]
FIRST_DRAWS = [914, 525, 968, 755, 802]
LOADERS = {"reviews": data.reviews, "news": data.news, "sentence pairs": data.sentence_pairs}
FOLDERS = [Path(each) for each in (os.environ.get("COURSE_DATA"), ROOT.parent / "shared" / "data") if each]
FOLDER = next((folder for folder in FOLDERS if (folder / "imdb").is_dir()), None)
needs_folder = pytest.mark.skipif(FOLDER is None, reason="no folder of real data: set COURSE_DATA")


@pytest.fixture(autouse=True)
def nothing_is_set(monkeypatch):
    monkeypatch.delenv("COURSE_DATA", raising=False)
    monkeypatch.delenv("COURSE_SOURCE", raising=False)


@pytest.fixture(scope="module")
def loaded():
    """The three samples, loaded once."""
    return {name: load() for name, load in LOADERS.items()}


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.replace("<br />", " ").lower())


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
    def test_the_samples_have_the_form_that_real_data_has(self, loaded):
        check_texts(loaded["reviews"], (4_000, 1_000), (0, 1))
        check_texts(loaded["news"], (1_200, 400), range(4))
        check_pairs(loaded["sentence pairs"], (3_000, 300, 300))

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
        (tmp_path / "fashion_mnist" / "fashion_mnist.npz").write_bytes(b"broken off")
        with pytest.raises(
            data.DataError, match=r"is not the file it should be: its SHA-256 is [0-9a-f]{12}…, expected cd85"
        ):
            data.images("fashion_mnist", "real", path=tmp_path)

    @needs_folder
    @pytest.mark.parametrize("name", sorted(CHECKSUMS))
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


def linear_accuracy(parts, longest: int) -> float:
    """Test accuracy of logistic regression on TF-IDF of up to `longest` words in a row, the best of four strengths."""
    (train, labels), (test, answers) = parts
    vectors = TfidfVectorizer(ngram_range=(1, longest), token_pattern=r"\w+")
    x, z = vectors.fit_transform(train), vectors.transform(test)
    return max(LogisticRegression(C=c, max_iter=300).fit(x, labels).score(z, answers) for c in (0.1, 1, 10, 100))


class TestReviews:
    def test_single_words_are_not_enough(self, loaded):
        accuracy = linear_accuracy(loaded["reviews"], 1)
        assert 0.6 < accuracy < 0.75, accuracy  # something can be learnt, much cannot

    def test_pairs_of_words_are_not_enough(self, loaded):
        assert linear_accuracy(loaded["reviews"], 2) < 0.85

    def test_balance_lengths_and_vocabulary(self, loaded):
        (train, labels), (test, answers) = loaded["reviews"]
        assert labels.mean() == answers.mean() == 0.5
        lengths = np.array([len(words(text)) for text in train])
        assert lengths.min() < 10 and lengths.max() > 3 * np.median(lengths) / 2 and lengths.std() > 8
        seen = {word for text in train for word in words(text)}
        assert 150 < len(seen) < 500 and {word for text in test for word in words(text)} <= seen
        assert 0.02 < np.mean(["<br />" in text for text in train]) < 0.2

    @pytest.mark.parametrize("kind", sorted({kind.__name__ for kind in reviews.KINDS}))
    def test_every_construction_is_balanced_in_its_words(self, kind):
        """Except in plain reviews, words are as frequent in praise as in blame: only their order tells."""
        make, draws = getattr(reviews, kind), Draws(f"a test of {kind}")
        count = 6_000
        texts = {label: [make(draws, label) for _ in range(count)] for label in (0, 1)}
        shares = {label: Counter(word for text in texts[label] for word in set(words(text))) for label in (0, 1)}
        gap = max(abs(shares[0][word] - shares[1][word]) / count for word in shares[0] | shares[1])
        assert gap > 0.05 if kind == "_plain" else gap < 0.05, gap
        assert set(texts[0]).isdisjoint(texts[1])

    def test_nothing_is_in_both_parts(self, loaded):
        for name in ("reviews", "news"):
            (train, _), (test, _) = loaded[name]
            assert len({*train, *test}) == len(train) + len(test)


class TestNews:
    def test_the_classes_share_words(self, loaded):
        (train, labels), (_, answers) = loaded["news"]
        assert set(Counter(labels.tolist()).values()) == {300} and set(Counter(answers.tolist()).values()) == {100}
        by_class = [
            {word for text, mark in zip(train, labels, strict=True) if mark == c for word in words(text)}
            for c in range(4)
        ]
        shared = set.intersection(*by_class)
        assert len(shared) > 60
        assert len(data.NEWS_CLASSES) == 4

    def test_it_is_not_trivial(self, loaded):
        accuracy = linear_accuracy(loaded["news"], 1)
        assert 0.8 < accuracy < 0.98, accuracy


class TestSentencePairs:
    def test_no_sentence_is_in_two_parts(self, loaded):
        english = [line for part in loaded["sentence pairs"] for line in part[0]]
        assert len(set(english)) == len(english)

    def test_grammar(self):
        """Gender, case, the verb's place: sentences worked out by hand."""
        by_word = {noun.english: noun for noun in (*pairs.BEINGS, *pairs.THINGS)}
        the, a, small, plain = 0.0, 0.9, (0.0, 0.0), (0.9,)
        for noun, case, numbers, expected in (
            ("dog", 4, (the, *small), ("the small dog", "den kleinen Hund")),
            ("dog", 1, (a, *small), ("a small dog", "ein kleiner Hund")),
            ("dog", 4, (a, *small), ("a small dog", "einen kleinen Hund")),
            ("cat", 4, (the, *small), ("the small cat", "die kleine Katze")),
            ("cat", 1, (a, *small), ("a small cat", "eine kleine Katze")),
            ("child", 1, (the, *small), ("the small child", "das kleine Kind")),
            ("child", 4, (a, *small), ("a small child", "ein kleines Kind")),
            ("boy", 4, (a, *plain), ("a boy", "einen Jungen")),
            ("apple", 4, (a, *plain), ("an apple", "einen Apfel")),
        ):
            assert pairs._phrase(Scripted(numbers), by_word[noun], case) == expected

    def test_every_noun_has_the_articles_of_its_gender(self, loaded):
        allowed = {
            "m": {"Der", "der", "den", "Ein", "ein", "einen"},
            "f": {"Die", "die", "Eine", "eine"},
            "n": {"Das", "das", "Ein", "ein"},
        }
        genders = {
            word: noun.gender
            for noun in (*pairs.BEINGS, *pairs.THINGS)
            for word in (noun.german, noun.accusative)
            if word
        }
        for line in loaded["sentence pairs"][0][1]:
            tokens = re.findall(r"\w+", line)
            for place, token in enumerate(tokens):
                if token in genders:
                    before = (
                        tokens[place - 1] if tokens[place - 1] in set().union(*allowed.values()) else tokens[place - 2]
                    )
                    assert before in allowed[genders[token]], line

    def test_the_verb_goes_to_the_end(self, loaded):
        english, german = loaded["sentence pairs"][0]
        thirds, verbs = {verb.dritte for verb in pairs.VERBS}, {verb.partizip for verb in pairs.VERBS}
        for source, line in zip(english, german, strict=True):
            last = re.findall(r"\w+", line)[-1]
            if " that " in source:
                assert last in thirds, line
            elif " has " in source:
                assert last in verbs, line
            elif " because it is " in source:
                assert last == "ist" and re.search(r", weil (er|sie|es) ", line), line


class Scripted(Draws):
    """Draws whose numbers are given."""

    def __init__(self, numbers):
        super().__init__("")
        self._next = iter(numbers).__next__


class TestFiles:
    def test_draws_never_change(self):
        """The first draws of a seed, from Python's documented generator: a new Python must not change the samples."""
        draws = Draws("fixed")
        assert [draws.below(1_000) for _ in range(5)] == FIRST_DRAWS
        assert sorted(draws.shuffled("abc")) == ["a", "b", "c"]

    def test_shipped_files_are_what_the_code_makes(self):
        files = sample_files()
        shipped = {path.name: path.read_bytes().decode() for path in (ROOT / "data" / "samples").iterdir()}
        assert shipped == files

    def test_files_hold_what_the_loaders_give(self, loaded):
        rows = list(csv.DictReader(io.StringIO(sample_files()["reviews_train.csv"])))
        assert [row["text"] for row in rows] == loaded["reviews"][0][0]
        assert [int(row["label"]) for row in rows] == loaded["reviews"][0][1].tolist()
        rows = list(csv.DictReader(io.StringIO(sample_files()["sentence_pairs_test.csv"])))
        assert [row["german"] for row in rows] == loaded["sentence pairs"][2][1]

    def test_the_readme_names_every_set_and_checksum(self):
        readme = (ROOT / "data" / "README.md").read_text(encoding="utf-8")
        for name, content in sample_files().items():
            assert name in readme and digest(content) in readme, name
        for name, checksum in CHECKSUMS.items():
            assert Path(name).name in readme and checksum in readme, name
        assert all(f"`{each.name}`" in readme for each in SETS)

    def test_only_what_changed_is_written(self, tmp_path):
        assert len(write_samples(tmp_path)) == 7
        (tmp_path / "news_test.csv").write_text("old")
        assert [path.name for path in write_samples(tmp_path)] == ["news_test.csv"]


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
        for each in SETS:
            (line,) = (line for line in lines if line.split()[:2] == [each.name, each.kind])
            assert each.licence in line and each.training in line and each.what in line
            here = "yes" if each.load is None else "TFDS" if each.name == "imdb" else "absent"
            assert f" {here} " in line

    @needs_folder
    def test_a_local_folder(self, monkeypatch):
        assert "29,000 for training" in course("data", "multi30k", "--path", str(FOLDER))
        monkeypatch.setenv("COURSE_DATA", str(FOLDER))
        assert {each.where() for each in SETS} == {"yes", "folder"}

    def test_rebuilding_the_samples(self, monkeypatch, tmp_path):
        (tmp_path / "course.toml").write_bytes((ROOT / "course.toml").read_bytes())
        monkeypatch.setenv("COURSE_ROOT", str(tmp_path))
        assert "wrote  data/samples/reviews_train.csv" in course("data", "samples")
        assert "up to date" in course("data", "samples")
        assert "nothing to fetch" in course("data", "digits")

    def test_errors_say_what_to_do(self, tmp_path):
        assert "there are samples, reviews" in course("data", "imbd", code=2)
        assert "course data imdb --path" in course("data", "--path", str(tmp_path), code=2)
        said = " ".join(course("data", "imdb", "--path", str(tmp_path), code=1).split())
        assert "does not hold imdb/imdb_train.csv.gz" in said and "Traceback" not in said

    def test_help_teaches(self):
        said = course("data", "--help")
        assert all(
            each in said for each in ("course data imdb", "course data samples", "COURSE_SOURCE=real", "COURSE_DATA")
        )


class TestRecorded:
    def test_what_is_saved_is_loaded(self, tmp_path, monkeypatch):
        path = recorded.save(
            "tiny",
            what="a test",
            data="none",
            device="none",
            command="pytest",
            seed=1,
            seconds=1.26,
            results={"a": [0.5]},
            folder=tmp_path,
        )
        monkeypatch.setattr(recorded, "FOLDER", tmp_path)
        found = recorded.load("tiny")
        assert tuple(found) == recorded.FIELDS and found["results"] == {"a": [0.5]} and found["seconds"] == 1.3
        assert recorded.names() == ["tiny"] and path.name == "tiny.json"
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", found["date"]) and found["versions"]["keras"]

    def test_what_cannot_be_recorded(self, tmp_path):
        common = dict(what="", data="", device="", command="", seed=1, seconds=1, folder=tmp_path)
        with pytest.raises(ValueError):
            recorded.save("nan", results={"loss": float("nan")}, **common)
        with pytest.raises(ValueError, match="keep it under 200,000"):
            recorded.save("large", results={"x": "y" * 200_000}, **common)
        assert list(tmp_path.iterdir()) == []

    def test_an_unknown_name(self):
        with pytest.raises(FileNotFoundError, match=r"nothing is recorded under \"nothing\".*experiments/nothing.py"):
            recorded.load("nothing")

    @pytest.mark.parametrize("name", recorded.names())
    def test_every_record_is_complete_and_small(self, name):
        record = recorded.load(name)
        assert set(recorded.FIELDS) <= set(record)
        assert (recorded.FOLDER / f"{name}.json").stat().st_size < recorded.LARGEST
        script = re.search(r"experiments/\w+\.py", record["command"])
        assert script and (ROOT / script[0]).is_file()

    def test_the_experiments_page_has_every_record_with_its_minutes_and_its_lectures(self):
        page = (ROOT / "experiments" / "README.md").read_text(encoding="utf-8")
        rows = dict(re.findall(r"^\| `(\w+)\.py` \| (.*) \|$", page, re.MULTILINE))
        assert sorted(rows) == recorded.names()
        for name, row in rows.items():
            assert int(row.rpartition("|")[2]) == round(recorded.load(name)["seconds"] / 60), name
            for lecture in re.findall(r"\.\./(lectures/\w+\.ipynb)", row):
                assert f'recorded.load(\\"{name}\\")' in (ROOT / lecture).read_text(encoding="utf-8"), (name, lecture)

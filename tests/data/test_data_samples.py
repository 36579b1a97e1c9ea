"""What the samples are worth: balanced, not trivial, right in their grammar, and the same on every machine."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from coursekit import data
from coursekit.data.catalogue import SETS
from coursekit.data.files import CHECKSUMS
from coursekit.data.samples import pairs, reviews
from coursekit.data.samples.draws import Draws
from coursekit.data.samples.files import digest, sample_files, write_samples

ROOT = Path(__file__).resolve().parents[2]
FIRST_DRAWS = [914, 525, 968, 755, 802]


@pytest.fixture(scope="module")
def loaded():
    """The three samples, loaded once."""
    return {
        "reviews": data.reviews("sample"),
        "news": data.news("sample"),
        "sentence pairs": data.sentence_pairs("sample"),
    }


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.replace("<br />", " ").lower())


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
        assert all(f"`{data_set.name}`" in readme for data_set in SETS)

    def test_only_what_changed_is_written(self, tmp_path):
        assert len(write_samples(tmp_path)) == 7
        (tmp_path / "news_test.csv").write_text("old")
        assert [path.name for path in write_samples(tmp_path)] == ["news_test.csv"]

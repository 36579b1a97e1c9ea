"""What the samples are worth: balanced, not trivial, right in their grammar, and the files of data/README.md."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from coursekit import data
from coursekit.data.catalogue import SETS
from coursekit.data.files import CHECKSUMS, SAMPLES

ROOT = Path(__file__).resolve().parents[2]
GENDERS = {  # of the German nouns
    "m": "Hund Mann Lehrer Junge Jungen Vogel Ball Apfel Brief Stuhl",
    "f": "Katze Frau Pflegerin Zeitung Lampe Tasche Tür",
    "n": "Pferd Kind Mädchen Schaf Buch Bild Haus Auto",
}
THIRDS = {"sieht", "sucht", "findet", "liebt", "malt", "trägt", "hält", "vergisst"}
PARTICIPLES = {"gesehen", "gesucht", "gefunden", "geliebt", "gemalt", "getragen", "gehalten", "vergessen"}
CONSTRUCTIONS = {  # of the reviews: what tells each
    "plain": r"^The [a-z ]+ was \w+ and the",
    "negation": r"nobody would|everybody would|was (never|always)|I did( not)? find",
    "contrast": r"\b(but|although)\b",
    "reference": r"\b(former|latter)\b",
}


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

    @pytest.mark.parametrize("kind", CONSTRUCTIONS)
    def test_every_construction_is_balanced_in_its_words(self, loaded, kind):
        """Except in plain reviews, words are as frequent in praise as in blame: only their order tells."""
        texts = {0: [], 1: []}
        for part in loaded["reviews"]:
            for text, label in zip(*part, strict=True):
                opening = re.split(r"\.(?: |$)", text)[0] if kind != "reference" else text
                if re.search(CONSTRUCTIONS[kind], opening, re.IGNORECASE):
                    texts[int(label)].append(opening)
        assert min(map(len, texts.values())) > 300
        shares = {label: Counter(word for text in each for word in set(words(text))) for label, each in texts.items()}
        gap = max(abs(shares[0][w] / len(texts[0]) - shares[1][w] / len(texts[1])) for w in shares[0] | shares[1])
        assert gap > 0.05 if kind == "plain" else gap < 0.05, gap

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

    def test_every_noun_has_the_articles_of_its_gender(self, loaded):
        allowed = {
            "m": {"Der", "der", "den", "Ein", "ein", "einen"},
            "f": {"Die", "die", "Eine", "eine"},
            "n": {"Das", "das", "Ein", "ein"},
        }
        genders = {word: gender for gender, nouns in GENDERS.items() for word in nouns.split()}
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
        for source, line in zip(english, german, strict=True):
            last = re.findall(r"\w+", line)[-1]
            if " that " in source:
                assert last in THIRDS, line
            elif " has " in source:
                assert last in PARTICIPLES, line
            elif " because it is " in source:
                assert last == "ist" and re.search(r", weil (er|sie|es) ", line), line


class TestFiles:
    def test_the_readme_names_every_set_and_checksum(self):
        readme = (ROOT / "data" / "README.md").read_text(encoding="utf-8")
        files = {path.name: path.read_bytes() for path in SAMPLES.iterdir()}
        assert len(files) == 7
        for name, content in files.items():
            assert name in readme and hashlib.sha256(content).hexdigest() in readme, name
        for name, checksum in CHECKSUMS.items():
            assert Path(name).name in readme and checksum in readme, name
        assert all(f"`{data_set.name}`" in readme for data_set in SETS)

"""What makes a Transformer of 657,737 parameters generalise on 25,000 film reviews: the recorded runs of lecture 6b.

Settings are tried on 5,000 reviews held back from the training split, first with 200 words, then with 600; the test
split is read once for each final model. This is done twice. The first time the reviews held back are drawn at random,
so that most of their films occur in training too. The second time they are the first by the numbers of their files.
That was meant to keep films apart and does not: positive and negative files are numbered separately. `films_shared`
measures it. `imdb_by_film.py` does the search again with reviews held back by the title of their film.
"""

from __future__ import annotations

import csv
import gzip
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated

import keras
import numpy as np
import tensorflow as tf
import typer
from imdb_models import VOCABULARY, Settings, batches, fit
from keras import layers
from records import Data, Minutes, Out, Record
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from coursekit import data
from coursekit.data import imdb
from coursekit.lecture import recorded
from coursekit.lecture.reviews import plain

VALIDATION = 5_000
STEADY = {"end": "first", "word_dropout": 0.3, "learning_rate": 2e-3, "decay_epochs": 4}
SHORT = {**STEADY, "word_dropout": 0.5, "decay_epochs": 2}
ENDING = {**SHORT, "end": "last"}
TRIED = {  # with 200 words, by how the validation reviews are drawn
    "at random": (
        {},
        {"end": "first"},
        {"end": "first", "word_dropout": 0.3},
        {"end": "first", "decay_epochs": 3},
        STEADY,
        {**STEADY, "pooling": "max"},
        {**STEADY, "decay_epochs": 2},
        {**STEADY, "decay_epochs": 3, "word_dropout": 0.5},
    ),
    "by file number": (
        SHORT,
        ENDING,
        {**ENDING, "decay_epochs": 3},
        {**ENDING, "word_dropout": 0.3},
        {**ENDING, "word_dropout": 0.3, "decay_epochs": 3},
        {**ENDING, "word_dropout": 0.0},
        {**ENDING, "word_dropout": 0.3, "pooling": "max"},
        {**ENDING, "word_dropout": 0.3, "dropout": 0.3},
        {},
    ),
}
LONG = 600  # words: the best of the above reads so many in the end


def record_of(reviews: str, folder: Path) -> Record:
    """The record, of a copy with so many reviews."""
    return Record(
        "imdb_classifier",
        "Film reviews, positive or negative: a Transformer of 657,737 parameters, an LSTM of the same size "
        "and linear models. Settings are chosen on 5,000 training reviews held back.",
        f"Maas et al. (2011), a copy with {reviews} reviews; repeated texts and texts of the test split "
        "are left out of training",
        folder,
        command="python experiments/imdb_classifier.py --data FOLDER",
    )


def name_of(settings: Settings) -> str:
    """What differs from the defaults, as the name of a run."""
    changed = {key: value for key, value in asdict(settings).items() if value != getattr(Settings(), key)}
    return ", ".join(f"{key} {value}" for key, value in changed.items()) or "defaults"


def best_epoch(run: dict) -> int:
    """Number of the epoch, from 1, with the best validation accuracy."""
    return int(np.argmax(run["history"]["val_accuracy"])) + 1


def validation_accuracy(run: dict) -> float:
    """Of the last epoch where the number of epochs was planned, else of the best one."""
    measured = run["history"]["val_accuracy"]
    return measured[-1] if run["settings"]["decay_epochs"] else max(measured)


def linear(train, test, validation, ngrams: int, length: int | None) -> dict:
    """TF-IDF and logistic regression on lists of words, of which the last `length` are kept; C is chosen on validation.

    Scores on validation and test.
    """
    cpu = time.process_time()
    vectorizer = TfidfVectorizer(
        analyzer=lambda words: [
            " ".join(words[i : i + n]) for n in range(1, ngrams + 1) for i in range(len(words) - n + 1)
        ],
        min_df=2,
        sublinear_tf=True,
    )
    cut = lambda texts: [text[-length:] if length else text for text in texts]  # noqa: E731
    x = vectorizer.fit_transform(cut(train[0]))
    scores = {}
    for c in (3.0, 10.0, 30.0):
        kept = LogisticRegression(C=c, solver="liblinear").fit(x, train[1])
        scores[c] = kept.score(vectorizer.transform(cut(validation[0])), validation[1])
    c = max(scores, key=scores.get)
    both = cut([*train[0], *validation[0]]), np.concatenate([train[1], validation[1]])
    x = vectorizer.fit_transform(both[0])
    model = LogisticRegression(C=c, solver="liblinear").fit(x, both[1])
    return {
        "parameters": x.shape[1] + 1,
        "c": c,
        "validation": {str(c): round(score, 4) for c, score in scores.items()},
        "test_accuracy": round(model.score(vectorizer.transform(cut(test[0])), test[1]), 4),
        "cpu_seconds": round(time.process_time() - cpu, 1),
    }


def film_titles(folder: Path, split: str = "train") -> dict[str, str]:
    """Text -> IMDb number of its film, for the reviews of a split, from the URLs in the original archive."""
    with gzip.open(imdb.local_file(folder, "titles"), "rt", encoding="utf-8", newline="") as file:
        title_of = {row["file"]: row["title"] for row in csv.DictReader(file) if row["split"] == split}
    with gzip.open(imdb.local_file(folder, split), "rt", encoding="utf-8", newline="") as file:
        return {row["text"]: title_of[row["file"]] for row in csv.DictReader(file)}


def by_title(places: list[int], films: list[str], rng: np.random.Generator) -> list[int]:
    """`places` in an order in which the first `VALIDATION` share no film with the others.

    Films are taken in random order, each with all its reviews; one that no longer fits is left to the others.
    """
    reviews_of: dict[str, list[int]] = {}
    for place, film in zip(places, films, strict=True):
        reviews_of.setdefault(film, []).append(place)
    titles = sorted(reviews_of)
    held, rest = [], []
    for number in rng.permutation(len(titles)):
        some = reviews_of[titles[number]]
        (held if len(held) + len(some) <= VALIDATION else rest).extend(some)
    if len(held) != VALIDATION:
        raise ValueError(f"whole films make {len(held)} reviews, not {VALIDATION}: choose another seed")
    return held + rest


def films_shared(films: list[str], labels) -> dict:
    """Of the first `VALIDATION` reviews, which are held back: the share whose film has reviews in training."""
    labels = np.asarray(labels)
    seen = {film: set() for film in films}
    for film, label in zip(films[VALIDATION:], labels[VALIDATION:], strict=True):
        seen[film].add(int(label))
    shares = {}
    for name, sign in (("negative", 0), ("positive", 1)):
        found = [seen[film] for film, label in zip(films, labels, strict=True)][:VALIDATION]
        found = [labels_of for labels_of, label in zip(found, labels[:VALIDATION], strict=True) if label == sign]
        shares[name] = {
            "film in training": round(sum(bool(labels_of) for labels_of in found) / len(found), 4),
            "there with the other label only": round(found.count({1 - sign}) / len(found), 4),
        }
    return {**shares, "cpu_seconds": 0.0}


def words_alone(texts, labels, test, c: float = 3.0) -> dict:
    """A linear model of single words, trained outside the reviews held back: accuracy on these and on the test."""
    cpu = time.process_time()
    counter = TfidfVectorizer(analyzer=str.split, min_df=2, sublinear_tf=True)
    x, labels = counter.fit_transform(texts[VALIDATION:]), np.asarray(labels)
    model = LogisticRegression(C=c, solver="liblinear").fit(x, labels[VALIDATION:])
    held = labels[:VALIDATION]
    right = model.predict(counter.transform(texts[:VALIDATION])) == held
    return {
        "c": c,
        "validation": round(float(right.mean()), 4),
        "negative": round(float(right[held == 0].mean()), 4),
        "positive": round(float(right[held == 1].mean()), 4),
        "test": round(float(model.score(counter.transform(test[0]), test[1])), 4),
        "cpu_seconds": round(time.process_time() - cpu, 1),
    }


def film_numbers(folder: Path) -> dict[str, int]:
    """Text -> number of its file in the original training set.

    Reviews of a film *and of one label* have neighbouring numbers. Positive and negative files are numbered separately.
    """
    with gzip.open(imdb.local_file(folder, "train"), "rt", encoding="utf-8", newline="") as file:
        return {row["text"]: int(row["file"].split("/")[1].split("_")[0]) for row in csv.DictReader(file)}


class Study:
    """One way to hold back validation reviews: the first of the training texts, in the order given."""

    def __init__(self, record: Record, split: str, texts, labels, test_texts, test_labels, epochs: int):
        self.record, self.split, self.epochs = record, split, epochs
        vectorize = layers.TextVectorization(VOCABULARY, standardize=plain, ragged=True)
        vectorize.adapt(tf.data.Dataset.from_tensor_slices(texts[VALIDATION:]).batch(512))
        rows, test_rows = (
            tf.concat([vectorize(some[at : at + 512]) for at in range(0, len(some), 512)], axis=0)
            for some in (texts, test_texts)
        )
        self.everything, self.test = (rows, labels), (test_rows, test_labels)
        self.validation, self.training = (
            (rows[:VALIDATION], labels[:VALIDATION]),
            (rows[VALIDATION:], labels[VALIDATION:]),
        )

    def tested(self, model: keras.Model, settings: Settings) -> float:
        return round(model.evaluate(batches(*self.test, settings, shuffle=False), verbose=0)[1], 4)

    def searched(self, settings: Settings) -> dict:
        length, patience = settings.decay_epochs or self.epochs, None if settings.decay_epochs else 1
        compute = lambda: fit(settings, 0, self.training, length, self.validation, patience)[1]  # noqa: E731
        return self.record.get(f"search, {self.split}", name_of(settings), compute)

    def chosen(self) -> Settings:
        tried = (Settings(**changes) for changes in TRIED[self.split])
        return max(tried, key=lambda settings: validation_accuracy(self.searched(settings)))

    def final(self, settings: Settings, seed: int) -> None:
        """Trained on everything, tested once."""

        def compute() -> dict:
            length = settings.decay_epochs or best_epoch(self.searched(settings))
            model, run = fit(settings, seed, self.everything, length, None, None)
            return {**run, "test_accuracy": self.tested(model, settings)}

        self.record.get(f"{settings.model}, {settings.max_length} words, {self.split}", f"seed {seed}", compute)

    def lengthened(self, settings: Settings) -> None:
        """With more words, watched on validation; tested if that is better there."""

        def compute() -> dict:
            model, run = fit(settings, 0, self.training, settings.decay_epochs, self.validation, None)
            better = validation_accuracy(run) > validation_accuracy(self.searched(replace(settings, max_length=200)))
            return {**run, "test_accuracy": self.tested(model, settings)} if better else run

        self.record.get(f"transformer, {LONG} words, {self.split}", "seed 0, without the reviews held back", compute)


def main(
    data_folder: Data,
    out: Out = recorded.FOLDER,
    epochs: Annotated[int, typer.Option(help="At most so many epochs where the learning rate stays.")] = 5,
    seeds: Annotated[int, typer.Option(help="Seeds of each final Transformer.")] = 3,
    minutes: Minutes = 1e9,
) -> None:
    """Search on validation, then train and test the final models; an hour of CPU, resumable after every run."""
    (texts, labels), (test_texts, test_labels) = data.reviews(source="real", path=data_folder)
    record = record_of(f"{len(texts):,} + {len(test_texts):,}", out).limited(minutes)
    labels, test_labels = np.asarray(labels), np.asarray(test_labels)
    in_test = set(test_texts)
    places = sorted({text: place for place, text in reversed(list(enumerate(texts))) if text not in in_test}.values())
    number_of = film_numbers(data_folder)
    orders = {
        "at random": np.random.default_rng(0).permutation(places),
        "by file number": sorted(places, key=lambda place: number_of[texts[place]]),
    }
    title_of = film_titles(data_folder)
    cut_by_title = by_title(places, [title_of[texts[place]] for place in places], np.random.default_rng(0))
    cleaned = dict(zip(texts, (text.decode() for text in plain(tf.constant(texts)).numpy()), strict=True))
    tested = [text.decode() for text in plain(tf.constant(test_texts)).numpy()], test_labels
    for split, order in {**orders, "by title": cut_by_title}.items():
        own_texts, own_labels = [texts[place] for place in order], labels[np.asarray(order)]
        films = [title_of[text] for text in own_texts]
        record.get("films", f"shared, {split}", lambda films=films, its=own_labels: films_shared(films, its))
        own_words = [cleaned[text] for text in own_texts]
        record.get("films", f"words alone, {split}", lambda its=own_words, y=own_labels: words_alone(its, y, tested))
    for split, order in orders.items():
        own_texts, own_labels = [texts[place] for place in order], labels[np.asarray(order)]
        study = Study(record, split, own_texts, own_labels, test_texts, test_labels, epochs)
        best = study.chosen()
        study.final(best, seed=0)
        study.lengthened(replace(best, max_length=LONG))
    old = Settings(model="published", batch_size=32)
    record.get("published", "seed 0", lambda: fit(old, 0, study.everything, 2, study.test, None)[1])

    words = lambda some: [text.decode().split() for text in plain(tf.constant(some)).numpy()]  # noqa: E731
    kept, held = (own_texts[VALIDATION:], own_labels[VALIDATION:]), (own_texts[:VALIDATION], own_labels[:VALIDATION])
    parts = (kept, (test_texts, test_labels), held)
    for ngrams, length in ((2, None), (2, 200), (1, None), (1, 200)):
        name = f"{'words and pairs' if ngrams == 2 else 'words'}, {'last 200' if length else 'whole review'}"
        compute = lambda n=ngrams, length=length: linear(*((words(x), y) for x, y in parts), n, length)  # noqa: E731
        record.get("linear", name, compute)
    study.final(replace(best, max_length=LONG), seed=0)
    study.final(replace(best, model="lstm"), seed=0)
    for seed in range(1, seeds):
        study.final(best, seed)
        study.final(replace(best, max_length=LONG), seed)
    typer.echo(f"complete: {out}")


if __name__ == "__main__":
    typer.run(main)

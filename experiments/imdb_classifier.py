"""What makes a Transformer of 657,737 parameters generalise on 25,000 film reviews: the recorded runs of lecture 6b.

Settings are tried on 5,000 reviews held back from the training split, first with 200 words, then with 600; the test
split is read once for each final model. This is done twice. The first time the reviews held back are drawn at random,
so that most of their films occur in training too. The second time they are the first by the numbers of their files.
That was meant to keep films apart and does not: positive and negative files are numbered separately. `films_shared`
measures it. A short control then holds reviews back by the title of their film, and changes one thing at a time.
`imdb_by_film.py` does the search again in this way.
"""

from __future__ import annotations

import csv
import gzip
import json
import os
import platform
import time
from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated

import keras
import numpy as np
import tensorflow as tf
import typer
from imdb_models import VOCABULARY, Settings, batches, fit, plain
from keras import layers
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from coursekit import data
from coursekit.data import imdb
from coursekit.lecture import recorded

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
CONTROLS = (  # the settings chosen by file number, and one change at a time; validation reviews of other films
    {**ENDING, "word_dropout": 0.3},
    {**ENDING, "word_dropout": 0.3, "end": "first"},
    {**ENDING, "word_dropout": 0.3, "block": False},
    {**ENDING, "word_dropout": 0.3, "positions": False},
)
LONG = 600  # words: the best of the above reads so many in the end


class Record:
    """The JSON file: what is in it is not run again, so the same command goes on where it was stopped."""

    def __init__(self, folder: Path, minutes: float, reviews: str):
        self.folder, self.until, self.reviews = folder, time.monotonic() + 60 * minutes, reviews
        path = folder / "imdb_classifier.json"
        self.results = json.loads(path.read_text(encoding="utf-8"))["results"] if path.exists() else {}

    def get(self, group: str, name: str, compute) -> dict:
        found = self.results.setdefault(group, {})
        if name not in found:
            if time.monotonic() > self.until:
                raise typer.Exit(75)
            typer.echo(f"{group}: {name}")
            found[name] = compute()
            self._save()
        return found[name]

    def _save(self) -> None:
        recorded.save(
            "imdb_classifier",
            what="Film reviews, positive or negative: a Transformer of 657,737 parameters, an LSTM of the same size "
            "and linear models. Settings are chosen on 5,000 training reviews held back.",
            data=f"Maas et al. (2011), a copy with {self.reviews} reviews; repeated texts and texts of the test split "
            "are left out of training",
            device=f"CPU ({platform.machine()}), {os.cpu_count()} cores shared with other work; CPU seconds",
            command="python experiments/imdb_classifier.py --data FOLDER",
            seed=0,
            seconds=sum(run["cpu_seconds"] for group in self.results.values() for run in group.values()),
            results=self.results,
            folder=self.folder,
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


def rare_words_shared(texts: list[str], labels, numbers: list[int]) -> dict:
    """How often positive reviews whose files are neighbours, or far apart, share a word of 2 to 30 reviews."""
    begun = time.process_time()
    bags = [set(text.decode().split()) for text in plain(tf.constant(texts)).numpy()]
    found_in = Counter(word for bag in bags for word in bag)
    rare = [{word for word in bag if 2 <= found_in[word] <= 30} for bag in bags]
    line = sorted((place for place in range(len(texts)) if labels[place]), key=lambda place: numbers[place])
    share = {
        f"{apart} apart": round(
            float(np.mean([bool(rare[a] & rare[b]) for a, b in zip(line, line[apart:], strict=False)])), 4
        )
        for apart in (1, 2, 5, 10, 20, 50, 1000)
    }
    return {**share, "cpu_seconds": round(time.process_time() - begun, 1)}


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

    def controlled(self, settings: Settings, seed: int) -> None:
        """Trained without the reviews held back; measured on these and on the test split. Nothing is chosen by it."""

        def compute() -> dict:
            model, run = fit(settings, seed, self.training, settings.decay_epochs, self.validation, None)
            return {**run, "test_accuracy": self.tested(model, settings)}

        self.record.get(f"control, {self.split}", f"{name_of(settings)}; seed {seed}", compute)

    def lengthened(self, settings: Settings) -> None:
        """With more words, watched on validation; tested if that is better there."""

        def compute() -> dict:
            model, run = fit(settings, 0, self.training, settings.decay_epochs, self.validation, None)
            better = validation_accuracy(run) > validation_accuracy(self.searched(replace(settings, max_length=200)))
            return {**run, "test_accuracy": self.tested(model, settings)} if better else run

        self.record.get(f"transformer, {LONG} words, {self.split}", "seed 0, without the reviews held back", compute)


def main(
    data_folder: Annotated[Path, typer.Option("--data", help="Folder that holds imdb/ with the real reviews.")],
    out: Annotated[Path, typer.Option(help="Folder of the record; runs already in it are skipped.")] = recorded.FOLDER,
    epochs: Annotated[int, typer.Option(help="At most so many epochs where the learning rate stays.")] = 5,
    seeds: Annotated[int, typer.Option(help="Seeds of each final Transformer.")] = 3,
    minutes: Annotated[
        float, typer.Option(help="Start no run after so many minutes; the command goes on later.")
    ] = 1e6,
) -> None:
    """Search on validation, then train and test the final models; an hour of CPU, resumable after every run."""
    (texts, labels), (test_texts, test_labels) = data.reviews(source="real", path=data_folder)
    record = Record(out, minutes, f"{len(texts):,} + {len(test_texts):,}")
    labels, test_labels = np.asarray(labels), np.asarray(test_labels)
    in_test = set(test_texts)
    places = sorted({text: place for place, text in reversed(list(enumerate(texts))) if text not in in_test}.values())
    number_of = film_numbers(data_folder)
    orders = {
        "at random": np.random.default_rng(0).permutation(places),
        "by file number": sorted(places, key=lambda place: number_of[texts[place]]),
    }
    listed = [texts[place] for place in places]
    numbers = [number_of[text] for text in listed]
    record.get("films", "rare words shared", lambda: rare_words_shared(listed, labels[places], numbers))
    title_of = film_titles(data_folder)
    cut_by_title = by_title(places, [title_of[text] for text in listed], np.random.default_rng(0))
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
    own_texts, own_labels = [texts[place] for place in cut_by_title], labels[np.asarray(cut_by_title)]
    control = Study(record, "by title", own_texts, own_labels, test_texts, test_labels, epochs)
    for seed in range(2):
        for changes in CONTROLS:
            control.controlled(Settings(**changes), seed)
    for seed in range(1, seeds):
        study.final(best, seed)
        study.final(replace(best, max_length=LONG), seed)
    typer.echo(f"complete: {out}")


if __name__ == "__main__":
    typer.run(main)

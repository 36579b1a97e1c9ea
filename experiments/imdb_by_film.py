"""Settings and models on IMDB, judged on reviews of films that training has not seen: the recorded runs of lecture 6b.

    nice -n 15 python experiments/imdb_by_film.py --data FOLDER

About a fifth of the films, with all their reviews, are held back by scikit-learn's GroupShuffleSplit. Every setting is
trained with three seeds on the other reviews. The search is judged on the reviews held back alone. The models of the
ladder are also read on the test split. Where two models read the same reviews, McNemar's test counts the reviews on
which only one of them is right. A run that is recorded is not repeated: the same command goes on where it was stopped.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Annotated

import keras
import near_words
import numpy as np
import scipy.sparse as sparse
import tensorflow as tf
import typer
from imdb_classifier import film_titles
from imdb_models import VOCABULARY, WIDTH, Settings, fit
from keras import layers
from records import Data, Minutes, Out, Record
from scipy.stats import binomtest
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupShuffleSplit
from sklearn.svm import LinearSVC

from coursekit import data
from coursekit.lecture import recorded
from coursekit.lecture.reviews import plain

NAME = "imdb_by_film"
SEEDS = (0, 1, 2)
BASE = Settings(word_dropout=0.3, learning_rate=2e-3, decay_epochs=2)  # the last 200 words
SEARCH = {  # one change at a time to the encoder with positions
    "first 200 words": replace(BASE, end="first"),
    "no hidden words": replace(BASE, word_dropout=0.0),
    "maximum for the mean": replace(BASE, pooling="max"),
}
LADDER = {  # the same reviews, words and recipe
    "encoder with positions": BASE,
    "mean of embeddings": replace(BASE, block=False, positions=False),
    "encoder without positions": replace(BASE, positions=False),
    "convolution": replace(BASE, model="conv"),
    "LSTM": replace(BASE, model="lstm"),
}
LONG = replace(BASE, model="max pooling", max_length=600, pooling="max")
MAXIMUM = {
    "encoder, 600 words, maximum over words": LONG,
    "encoder, 600 words, maximum with padding": replace(LONG, pooling="max with padding"),
    "LSTM twin, 600 words, maximum over words": replace(LONG, model="lstm twin"),
}
ORDER = (  # of the runs: what answers the first questions comes first
    ("ladder", "mean of embeddings"),
    ("ladder", "encoder with positions"),
    ("search", "first 200 words"),
    ("ladder", "encoder without positions"),
    ("ladder", "convolution"),
    ("search", "no hidden words"),
    ("search", "maximum for the mean"),
    ("ladder", "LSTM"),
    *(("maximum", name) for name in MAXIMUM),
)
LABELS = {1_000: 12, 3_000: 6, 10_000: 3}  # labels, and passes over them; with all labels: the ladder
STARTS = {  # of the words: a vector of each from the training texts without labels, and a control
    "vectors from texts": lambda table: table,
    "the same vectors, of other words": lambda table: np.random.default_rng(0).permutation(table),
}
LENGTH = 0.28  # of a start vector, on average: that of frequent words after a training from labels alone (lecture 6b)
ENCODER, MAX_WORDS, MAX_PADDING, MAX_LSTM = "encoder with positions", *MAXIMUM
COMPARED = (  # McNemar's test, seed by seed: two models, each with the group of its runs
    *((("ladder", ENCODER), ("search", name)) for name in SEARCH),
    *((("ladder", ENCODER), ("ladder", name)) for name in LADDER if name != ENCODER),
    (("ladder", "encoder without positions"), ("ladder", "mean of embeddings")),
    *((("ladder", "words and pairs"), ("ladder", name)) for name in (ENCODER, "NBSVM", "words")),
    (("ladder", ENCODER), ("maximum", MAX_WORDS)),
    (("maximum", MAX_WORDS), ("maximum", MAX_PADDING)),
    (("maximum", MAX_WORDS), ("maximum", MAX_LSTM)),
)


class Runs(Record):
    """The record, and beside it each run's probabilities, which are too many for it."""

    def __init__(self, folder: Path, answers: Path, reviews: str):
        super().__init__(
            NAME,
            "Film reviews, positive or negative, judged on films that training has not seen: a search of "
            "settings, a ladder of models, maximum pooling with 600 words, accuracy by the number of labels.",
            f"Maas et al. (2011), a copy with {reviews} reviews, and the film of each. Repeated texts, "
            "texts of the test split and films of the test split are left out of training.",
            folder,
            command=f"python experiments/{NAME}.py --data FOLDER",
            seed=SEEDS[0],
        )
        self.answers = answers
        answers.mkdir(parents=True, exist_ok=True)

    def answered(self, group: str, name: str, compute: Callable[[], tuple[dict, dict[str, np.ndarray]]]) -> None:
        """Runs `compute` unless it is recorded: what it measured, and its answers by the part of the data."""
        if not self._file(group, name).exists():
            self.results.get(group, {}).pop(name, None)

        def timed() -> dict:
            begun = time.perf_counter(), time.process_time()
            run, answers = compute()
            run["seconds"] = round(time.perf_counter() - begun[0], 1)
            run["cpu_seconds"] = round(time.process_time() - begun[1], 1)
            np.savez(self._file(group, name), **{part: p.astype("float16") for part, p in answers.items()})
            return run

        self.get(group, name, timed)

    def right(self, group: str, name: str, seed: int, part: str, labels: np.ndarray) -> np.ndarray | None:
        """Which reviews of a part a run got right; None where it has not run or has not read that part."""
        for run in (f"{name}; seed {seed}", name):  # linear models have no seed
            if self._file(group, run).exists():
                stored = np.load(self._file(group, run))
                return (stored[part] > 0.5) == labels if part in stored else None
        return None

    def _file(self, group: str, name: str) -> Path:
        return self.answers / f"{group}, {name}.npz"


class Split:
    """The reviews, cut by film: training, held back, test; as texts and as rows of ids."""

    def __init__(self, folder: Path):
        (texts, labels), (test_texts, self.test_labels) = data.reviews(source="real", path=folder)
        self.reviews = f"{len(texts):,} + {len(test_texts):,}"
        film, other = film_titles(folder), set(film_titles(folder, "test").values())
        in_test = set(test_texts)
        once = {text: place for place, text in reversed(list(enumerate(texts))) if text not in in_test}
        kept = sorted(place for text, place in once.items() if film[text] not in other)
        texts, labels = [texts[place] for place in kept], np.asarray(labels)[kept]
        films = [film[text] for text in texts]
        train, held = next(
            GroupShuffleSplit(n_splits=1, test_size=0.2, random_state=0).split(texts, labels, groups=films)
        )
        self.described = {
            "training": len(train),
            "held back": len(held),
            "test": len(test_texts),
            "films in training": len({films[place] for place in train}),
            "films held back": len({films[place] for place in held}),
            "films in both": len({films[place] for place in train} & {films[place] for place in held}),
        }
        self.labels, self.held_labels = labels[train], labels[held]
        self.held_films = [films[place] for place in held]
        parts = [texts[place] for place in train], [texts[place] for place in held], test_texts
        self.words, self.held_words, self.test_words = (
            [text.decode() for text in plain(tf.constant(part)).numpy()] for part in parts
        )
        vectorize = layers.TextVectorization(VOCABULARY, standardize=None, ragged=True)
        vectorize.adapt(tf.data.Dataset.from_tensor_slices(self.words).batch(512))
        self.rows, self.held_rows, self.test_rows = (
            tf.concat([vectorize(part[at : at + 512]) for at in range(0, len(part), 512)], axis=0)
            for part in (self.words, self.held_words, self.test_words)
        )

    @cached_property
    def vectors(self) -> np.ndarray:
        """A vector for each word, (VOCABULARY, WIDTH), from the training reviews' texts and no label."""
        table = near_words.vectors(near_words.counted(self.rows, VOCABULARY), WIDTH)
        return (table * LENGTH / np.linalg.norm(table, axis=1).mean()).astype("float32")


def network(split: Split, settings: Settings, seed: int, tested: bool, labels: int | None = None, vectors=None):
    """Trains one network, on `labels` reviews drawn by the seed or on all, its words starting from `vectors` if given;
    what it measured, and its answers."""
    rows, own = split.rows, split.labels
    if labels:
        chosen = np.sort(np.random.default_rng(seed).permutation(len(own))[:labels])
        rows, own = tf.gather(rows, chosen), own[chosen]
    model, run = fit(settings, seed, (rows, own), settings.decay_epochs, None, None, vectors)
    parts = {"held back": (split.held_rows, split.held_labels)}
    if tested:
        parts["test"] = (split.test_rows, split.test_labels)
    answers = {part: predicted(model, *whole, settings) for part, whole in parts.items()}
    measured = {part: accuracy(answers[part], whole[1]) for part, whole in parts.items()}
    history = [round(value, 4) for value in run["history"]["accuracy"]]
    return {"parameters": run["parameters"], **measured, "training by epoch": history}, answers


def predicted(model: keras.Model, rows: tf.RaggedTensor, labels, settings: Settings) -> np.ndarray:
    """Probabilities (N,) in the order of the rows, computed in the order of their lengths."""
    answer = tf.function(lambda ids: model(ids, training=False), reduce_retracing=True)
    order = np.argsort(rows.row_lengths().numpy(), kind="stable")
    probabilities = np.empty(len(order))
    for at in range(0, len(order), 128):
        some = order[at : at + 128]
        cut = tf.gather(rows, some)
        cut = cut[:, -settings.max_length :] if settings.end == "last" else cut[:, : settings.max_length]
        probabilities[some] = answer(cut.to_tensor()).numpy()[:, 0]
    return probabilities


def accuracy(probabilities: np.ndarray, labels: np.ndarray) -> float:
    return round(float(np.mean((probabilities > 0.5) == labels)), 4)


class Counted:
    """Words, or words and pairs, of all three parts, counted with the vocabulary of the training reviews."""

    def __init__(self, split: Split, longest: int):
        self.split = split
        counter = CountVectorizer(ngram_range=(1, longest), min_df=2, token_pattern=r"\S+", lowercase=False)
        self.train = counter.fit_transform(split.words)
        self.held, self.test = counter.transform(split.held_words), counter.transform(split.test_words)

    def tfidf(self, cs: tuple[float, ...], labels: int | None = None, seed: int = 0):
        """TF-IDF and logistic regression; C is chosen on the reviews held back."""
        own, y = self.train, self.split.labels
        if labels:
            chosen = np.random.default_rng(seed).permutation(len(y))[:labels]
            own, y = own[chosen], y[chosen]
        weigh = TfidfTransformer(sublinear_tf=True).fit(own)
        x, held, test = (weigh.transform(part) for part in (own, self.held, self.test))
        models = {c: LogisticRegression(C=c, solver="liblinear").fit(x, y) for c in cs}
        return self._chosen(models, held, test, lambda model, part: model.predict_proba(part)[:, 1])

    def nbsvm(self, cs: tuple[float, ...], alpha: float = 1.0, beta: float = 0.25):
        """Wang and Manning's NBSVM: presence times the log ratio of the classes' counts, and a support vector machine
        whose weights are pulled to their mean size by `beta`."""
        y = self.split.labels
        seen = [sparse.csr_matrix(part > 0, dtype="float64") for part in (self.train, self.held, self.test)]
        good, bad = (alpha + np.asarray(seen[0][y == label].sum(axis=0)).ravel() for label in (1, 0))
        ratio = sparse.diags(np.log(good / good.sum()) - np.log(bad / bad.sum()))
        x, held, test = (part @ ratio for part in seen)
        models = {}
        for c in cs:
            models[c] = LinearSVC(C=c, max_iter=3_000).fit(x, y)
            models[c].coef_ = (1 - beta) * np.abs(models[c].coef_).mean() + beta * models[c].coef_
        squash = lambda model, part: 1 / (1 + np.exp(-model.decision_function(part)))  # noqa: E731
        return self._chosen(models, held, test, squash)

    def _chosen(self, models: dict, held, test, probability):
        scores = {c: accuracy(probability(model, held), self.split.held_labels) for c, model in models.items()}
        best = max(scores, key=scores.get)
        answers = {"held back": probability(models[best], held), "test": probability(models[best], test)}
        run = {
            "parameters": held.shape[1] + 1,
            "c": best,
            "held back": scores[best],
            "test": accuracy(answers["test"], self.split.test_labels),
            "by c": {str(c): score for c, score in scores.items()},
        }
        return run, answers


def compared(runs: Runs, split: Split) -> Iterator[tuple[str, dict]]:
    """McNemar's exact test of each pair: of the reviews on which only one model is right, how many are whose."""
    for one, other in COMPARED:
        linear = {one[1], other[1]} <= {"words", "words and pairs", "NBSVM"}  # no seed
        for seed in SEEDS[:1] if linear else SEEDS:
            for part, labels in (("held back", split.held_labels), ("test", split.test_labels)):
                right = [runs.right(*each, seed, part, labels) for each in (one, other)]
                if any(answers is None for answers in right):
                    continue
                first, second = int(np.sum(right[0] & ~right[1])), int(np.sum(~right[0] & right[1]))
                yield (
                    f"{part}: {one[1]} | {other[1]}" + ("" if linear else f"; seed {seed}"),
                    {
                        "only the first is right": first,
                        "only the second is right": second,
                        "p": float(f"{binomtest(first, max(first + second, 1)).pvalue:.2g}"),
                    },
                )


def main(
    data_folder: Data,
    out: Out = recorded.FOLDER,
    answers: Annotated[Path, typer.Option(help="Folder for the models' answers to every review.")] = Path("build/imdb"),
    minutes: Minutes = 1e9,
) -> None:
    """Every run that is not recorded yet, then the comparisons."""
    split = Split(data_folder)
    runs = Runs(out, answers, split.reviews).limited(minutes)
    runs.results["split"] = {"by title": split.described}
    for group, name, compute in planned(split):
        if time.monotonic() < runs.until:
            runs.answered(group, name, compute)
    runs.results["McNemar"] = dict(compared(runs, split))
    runs.save(runs.seconds)


def planned(split: Split) -> Iterator[tuple[str, str, Callable]]:
    """All runs, in their order: group, name, and what computes it."""
    counted = cache(lambda longest: Counted(split, longest))
    yield "ladder", "words", lambda: counted(1).tfidf((0.3, 1.0, 3.0, 10.0))
    yield "ladder", "words and pairs", lambda: counted(2).tfidf((3.0, 10.0, 30.0, 100.0))
    yield "ladder", "NBSVM", lambda: counted(2).nbsvm((0.003, 0.01, 0.03, 0.1))
    for labels in LABELS:
        for seed in SEEDS:
            chosen = lambda labels=labels, seed=seed: counted(2).tfidf((3.0, 30.0), labels, seed)  # noqa: E731
            yield "labels", f"words and pairs, {labels}; seed {seed}", chosen
    groups = {"ladder": LADDER, "search": SEARCH, "maximum": MAXIMUM}
    for group, name in ORDER:
        for seed in SEEDS:
            compute = partial(network, split, groups[group][name], seed, group != "search")
            yield group, f"{name}; seed {seed}", compute
    for labels, epochs in LABELS.items():
        for seed in SEEDS:
            for name in ("mean of embeddings", ENCODER):
                settings = replace(LADDER[name], decay_epochs=epochs)
                compute = partial(network, split, settings, seed, False, labels)
                yield "labels", f"{name}, {labels}; seed {seed}", compute
    for start, changed in STARTS.items():
        for labels, epochs in LABELS.items():
            for seed in SEEDS:
                for name in ("mean of embeddings", ENCODER):
                    settings = replace(LADDER[name], decay_epochs=epochs)
                    compute = lambda s=settings, labels=labels, seed=seed, changed=changed: network(  # noqa: E731
                        split, s, seed, False, labels, changed(split.vectors)
                    )
                    yield "labels", f"{name}, {start}, {labels}; seed {seed}", compute


if __name__ == "__main__":
    typer.run(main)

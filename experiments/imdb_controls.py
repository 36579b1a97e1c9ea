"""Controls for lectures 6 and 6b: brakes against epochs, each model's answer to each held-back review, no hidden words.

    nice -n 15 python experiments/imdb_controls.py --data FOLDER

Training and held-back reviews are those of `imdb_by_film.py`: no film is in both. Every network is trained with three
seeds. The answers are probabilities, one byte each, in base64. A run that is recorded is not repeated: the same command
goes on where it was stopped.
"""

from __future__ import annotations

import base64
import time
from dataclasses import replace
from functools import cached_property

import numpy as np
import tensorflow as tf
import typer
from imdb_by_film import BASE, ENCODER, LADDER, SEARCH, SEEDS, Split, predicted
from imdb_models import Settings, fit
from records import Data, Out, Record
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from coursekit.lecture import recorded

NAME = "imdb_controls"
ANSWERED = {
    "last 200 words": LADDER[ENCODER],
    "first 200 words": SEARCH["first 200 words"],
}
SHUFFLED = "last 200 words"  # read a second time with the words of each review in random order
COUNTED = {"words": (1, 3.0), "words and pairs": (2, 30.0), "words and pairs, C = 1": (2, 1.0)}  # longest, C
FEWER, WATCHED, LONGEST = 3_000, 2_000, 6  # training reviews, held-back reviews and epochs, for the brakes
FREE = replace(BASE, word_dropout=0.0, dropout=0.0, learning_rate=1e-3, decay_epochs=0)


class Reviews(Split):
    """The split by film, and what is read of it once more: shuffled rows, counted words."""

    @cached_property
    def shuffled(self) -> tf.RaggedTensor:
        """The last 200 words of each review held back, in random order."""
        rng = np.random.default_rng(0)
        return tf.ragged.constant([rng.permutation(row) for row in self.held_rows[:, -200:].numpy()], dtype="int32")

    def described_once(self) -> dict:
        """Label and film (counted from 0) of each review held back."""
        number = {film: place for place, film in enumerate(dict.fromkeys(self.held_films))}
        return {
            "labels": "".join(map(str, self.held_labels)),
            "films": " ".join(str(number[film]) for film in self.held_films),
        }


def packed(probabilities: np.ndarray) -> str:
    """Probabilities (N,) as one byte each, in base64. 128 and more is above one half."""
    return base64.b64encode(np.round(probabilities * 255).astype("uint8").tobytes()).decode()


def answered(split: Reviews, name: str, seed: int) -> dict:
    """One network's answers, and with its words shuffled where that is asked."""
    settings = ANSWERED[name]
    model, _ = fit(settings, seed, (split.rows, split.labels), settings.decay_epochs, None, None)
    found = {"in order": packed(predicted(model, split.held_rows, split.held_labels, settings))}
    if name == SHUFFLED:
        found["shuffled"] = packed(predicted(model, split.shuffled, split.held_labels, settings))
    return found


def counted(split: Reviews, longest: int, c: float) -> dict:
    """A linear model's answers to whole reviews, and with the words of each in random order."""
    rng = np.random.default_rng(0)
    bag = TfidfVectorizer(ngram_range=(1, longest), min_df=2, sublinear_tf=True, token_pattern=r"\S+", lowercase=False)
    model = LogisticRegression(C=c, solver="liblinear").fit(bag.fit_transform(split.words), split.labels)
    mixed = [" ".join(rng.permutation(text.split())) for text in split.held_words]
    answer = lambda texts: packed(model.predict_proba(bag.transform(texts))[:, 1])  # noqa: E731
    return {"in order": answer(split.held_words), "shuffled": answer(mixed)}


def none_hidden(split: Reviews, seed: int) -> dict:
    """The network of SHUFFLED, trained with all its words: its accuracy in order and shuffled, and what changes."""
    settings = replace(ANSWERED[SHUFFLED], word_dropout=0.0)
    model, _ = fit(settings, seed, (split.rows, split.labels), settings.decay_epochs, None, None)
    ways = {"in order": split.held_rows, "shuffled": split.shuffled}
    said = {name: predicted(model, rows, split.held_labels, settings) > 0.5 for name, rows in ways.items()}
    found = {name: round(float(np.mean(each == split.held_labels)), 4) for name, each in said.items()}
    return found | {"changed": int(np.sum(said["in order"] != said["shuffled"]))}


def braked(split: Reviews, settings: Settings, epochs: int, seed: int) -> dict:
    """Loss and accuracy on some training and some held-back reviews after each epoch."""
    some = np.sort(np.random.default_rng(0).permutation(len(split.labels))[:FEWER])
    training = tf.gather(split.rows, some), split.labels[some]
    watched = split.held_rows[:WATCHED], split.held_labels[:WATCHED]
    _, run = fit(settings, seed, training, epochs, watched, None)
    return {name: [round(value, 4) for value in values] for name, values in run["history"].items()}


def surest(split: Reviews, answers: dict[str, dict], count: int = 8) -> list[dict]:
    """The errors of which the least sure of the encoders is surest, with the last ten words of each review."""
    read = lambda name: np.frombuffer(base64.b64decode(answers[name]["in order"]), "uint8") / 255  # noqa: E731
    encoders = np.array([read(f"{SHUFFLED}; seed {seed}") for seed in SEEDS])  # (seeds, N)
    wrong = (np.where(split.held_labels, 1 - encoders, encoders)).min(axis=0)  # probability of the wrong label
    return [
        {
            "label": int(split.held_labels[place]),
            "encoder": round(float(encoders[:, place].mean()), 3),
            "words and pairs": round(float(read("words and pairs")[place]), 3),
            "end": " ".join(split.held_words[place].split()[-10:]),
        }
        for place in np.argsort(-wrong, kind="stable")[:count]
    ]


def main(folder: Data, out: Out = recorded.FOLDER) -> None:
    """Every run that is not recorded yet."""
    what = "Film reviews: brakes against epochs; each model's answers to reviews of films that training has not seen, "
    record = Record(
        NAME,
        what + "in order and shuffled.",
        "Maas et al. (2011), cut as in imdb_by_film.py",
        out,
        command=f"python experiments/{NAME}.py --data FOLDER",
        seed=SEEDS[0],
    )
    split = Reviews(folder)

    def get(group: str, name: str, compute, *given) -> None:
        def timed() -> dict:
            begun = time.process_time()
            return compute(split, *given) | {"cpu_seconds": round(time.process_time() - begun, 1)}

        record.get(group, name, timed)

    record.results["split"] = split.described
    record.results["held back"] = split.described_once()
    for name, (longest, c) in COUNTED.items():
        get("answers", name, counted, longest, c)
    for seed in SEEDS:
        for name in ANSWERED:
            get("answers", f"{name}; seed {seed}", answered, name, seed)
    for seed in SEEDS:
        get("none hidden", f"seed {seed}", none_hidden, seed)
    record.results["surest errors"] = surest(split, record.results["answers"])
    for seed in SEEDS:
        for name, settings, epochs in (
            ("no brakes", FREE, LONGEST),
            ("brakes, 2 epochs", BASE, BASE.decay_epochs),
            ("brakes, 6 epochs", replace(BASE, decay_epochs=LONGEST), LONGEST),
        ):
            get("brakes", f"{name}; seed {seed}", braked, settings, epochs, seed)


if __name__ == "__main__":
    typer.run(main)

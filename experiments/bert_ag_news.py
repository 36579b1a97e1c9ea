"""What pre-training is worth on AG News: the small BERT fine-tuned, frozen and from scratch, and two linear models.

    python experiments/bert_ag_news.py --data FOLDER        # again and again, until it says that nothing is left to do

Each is trained on 100 to 10,000 of the training texts at hand, and measured on all 7,600 test texts. Epochs and
learning rates are set here and were not searched. One thing was changed after a look at results: with a wider spread of
fresh weights the network from scratch died, so it begins with BERT's own spread, 0.02. Every result is written as soon
as it is there, so a run may be broken off and taken up again with the same command. The pre-training of the encoder
(experiments/small_bert.py) saw the training texts without their labels, and no test text. One of the linear models,
LSA (Deerwester et al. 1990), sees them in the same way: its vectors come from all training texts, without labels.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import numpy as np
import tensorflow as tf
import tensorflow_hub as hub
import tensorflow_text  # noqa: F401  the preprocessing needs its operations
import tf_keras
import typer
from records import DataOrFetched, Minutes, Out, Record
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer
from tf_keras import layers

from coursekit import data
from coursekit.lecture import bert, recorded

NAME, CLASSES = "bert_ag_news", 4
# Training texts: (epochs, batch, seeds). Few texts are cheap and their results scatter, so they are repeated.
PLAN = {100: (20, 16, 3), 500: (10, 16, 3), 2_000: (4, 32, 3), 10_000: (2, 32, 1)}
MODELS = ("linear", "LSA", "frozen", "fine-tuned", "scratch")
# Set beforehand, not searched.
RATES = {"linear": None, "LSA": None, "frozen": 3e-3, "fine-tuned": 5e-4, "scratch": 1e-3}
LSA_WIDTH = 128  # numbers a text, as many as the encoder's
WARMUP, WEIGHT_DECAY, DROPOUT = 0.1, 0.01, 0.2


class Triangle(tf_keras.optimizers.schedules.LearningRateSchedule):
    """A straight line up to the peak in the first share of the steps, `warm_up`, and one down to zero."""

    def __init__(self, peak: float, steps: int, warm_up: float = WARMUP):
        self.peak, self.steps, self.warm_up = peak, steps, warm_up

    def __call__(self, step):
        done = tf.cast(step, tf.float32) / self.steps
        down = (1 - done) / (1 - self.warm_up)
        return self.peak * tf.clip_by_value(tf.minimum(done / self.warm_up, down) if self.warm_up else down, 0.0, 1.0)


class Texts:
    """Training and test texts in the encoder's form, and what the frozen encoder says about them."""

    def __init__(self, folder: Path | None, length: int):
        (train, self.y), (test, self.y_test) = data.news(source="real", path=folder)
        self.train, self.test = np.array(train, dtype=object), np.array(test, dtype=object)
        halves = hub.load(bert.PREPROCESS)
        pack = tf.function(lambda texts: halves.bert_pack_inputs([halves.tokenize(texts)], seq_length=length))
        self.x, self.x_test = (self._packed(pack, texts) for texts in (train, test))
        self.pooled = self.vectors = None

    @staticmethod
    def _packed(pack, texts: list[str]) -> dict[str, np.ndarray]:
        parts = [pack(tf.constant(texts[start : start + 1_000])) for start in range(0, len(texts), 1_000)]
        return {name: np.concatenate([part[name] for part in parts]) for name in bert.INPUTS}

    def features(self) -> tuple[np.ndarray, np.ndarray]:
        """The frozen encoder's pooled outputs, computed once: frozen, it says the same in every epoch."""
        if self.pooled is None:
            encoder = tf.function(hub.load(bert.ENCODER))
            self.pooled = tuple(
                np.concatenate(
                    [
                        encoder({name: tf.constant(rows[start : start + 200]) for name, rows in x.items()})[
                            "pooled_output"
                        ]
                        for start in range(0, len(rows_of(x)), 200)
                    ]
                )
                for x in (self.x, self.x_test)
            )
        return self.pooled

    def unlabelled(self) -> tuple[np.ndarray, np.ndarray]:
        """LSA's vectors (B, LSA_WIDTH) of all texts, made from all training texts without their labels."""
        if self.vectors is None:
            reduced = TruncatedSVD(LSA_WIDTH, random_state=0)
            lsa = make_pipeline(TfidfVectorizer(sublinear_tf=True), reduced, Normalizer())
            self.vectors = lsa.fit_transform(self.train), lsa.transform(self.test)
        return self.vectors


def rows_of(x) -> np.ndarray:
    return x["input_word_ids"] if isinstance(x, dict) else x


def chosen(x, rows: np.ndarray):
    return {name: values[rows] for name, values in x.items()} if isinstance(x, dict) else x[rows]


def network(kind: str, length: int, seed: int) -> tf_keras.Model:
    """The head of the lecture, on the encoder's pooled output (B, D)."""
    if kind == "frozen":
        inputs = pooled = layers.Input((hub.load(bert.ENCODER).variables[0].shape[1],))
    else:
        inputs = {name: layers.Input((length,), dtype=tf.int32, name=name) for name in bert.INPUTS}
        encoder = hub.KerasLayer(bert.ENCODER, trainable=True)
        pooled = encoder(inputs)["pooled_output"]
        if kind == "scratch":
            bert.forget(encoder, seed)
    head = tf_keras.Sequential([layers.Dense(16, "relu"), layers.Dropout(DROPOUT), layers.Dense(CLASSES, "softmax")])
    return tf_keras.Model(inputs, head(pooled))


def trained(kind: str, x, y: np.ndarray, *, peak: float, epochs: int, batch: int, seed: int, length: int):
    """Return the trained model and the last training accuracy."""
    tf_keras.utils.set_random_seed(seed)
    model = network(kind, length, seed)
    stream = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(len(y), seed=seed).batch(batch).prefetch(2)
    optimizer = tf_keras.optimizers.AdamW(Triangle(peak, epochs * len(stream)), weight_decay=WEIGHT_DECAY, clipnorm=1.0)
    model.compile(optimizer, "sparse_categorical_crossentropy", metrics=["accuracy"])
    history = model.fit(stream, epochs=epochs, verbose=0).history
    return model, round(history["accuracy"][-1], 4)


def measured(probabilities: np.ndarray, labels: np.ndarray) -> dict:
    """Accuracy, and the calibration error over ten groups by confidence."""
    sure, right = probabilities.max(1), probabilities.argmax(1) == labels
    place = np.minimum((sure * 10).astype(int), 9)
    off = 0.0
    for inside in (place == group for group in np.unique(place)):
        off += inside.sum() * abs(round(float(sure[inside].mean()), 4) - round(right[inside].mean(), 4))
    return {"test": round(float(right.mean()), 4), "calibration_error": round(float(off) / len(labels), 4)}


def linear(train: np.ndarray, y: np.ndarray):
    """TF-IDF of words and pairs of words, logistic regression one against rest; C by cross-validation."""
    model = make_pipeline(
        TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, min_df=1 if len(y) < 1_000 else 2),
        OneVsRestClassifier(LogisticRegression(solver="liblinear")),
    )
    return GridSearchCV(model, {"onevsrestclassifier__estimator__C": [1, 10, 100]}, cv=3).fit(train, y)


def on_vectors(train: np.ndarray, y: np.ndarray):
    """Logistic regression one against rest on vectors (B, LSA_WIDTH); C by cross-validation."""
    model = OneVsRestClassifier(LogisticRegression(solver="liblinear"))
    return GridSearchCV(model, {"estimator__C": [1, 10, 100]}, cv=3).fit(train, y)


LINEAR = {"linear": linear, "LSA": on_vectors}


class Study:
    """The record, and what is left to do for it."""

    def __init__(self, texts: Texts, folder: Path, length: int, minutes: float):
        self.texts, self.length = texts, length
        self.record = Record(
            NAME,
            "AG News with the course's small BERT: fine-tuned, frozen, from scratch, and two linear models, by "
            "number of training texts",
            f"AG News (Zhang et al., 2015): {len(texts.y):,} of the 120,000 training texts, all 7,600 test texts",
            folder,
            empty={"runs": [], "length": length},
            command=f"python experiments/{NAME}.py --data FOLDER",
        ).limited(minutes)

    def _keep(self, run: dict) -> None:
        print(run, flush=True)
        self.record.results["runs"].append(run)
        self.record.save(sum(run["cpu_seconds"] for run in self.record.results["runs"]))

    def run(self, kind: str, size: int, seed: int) -> None:
        """Train one model on `size` texts, other texts for each seed, and measure it on the test texts."""
        case = {"model": kind, "texts": size, "seed": seed}
        if self.record.has(**case):
            return
        self.record.go_on()
        texts, (epochs, batch, _) = self.texts, PLAN[size]
        rows = np.random.default_rng(seed).permutation(len(texts.y))[:size]
        x, x_test = {
            "linear": lambda: (texts.train, texts.test),
            "LSA": texts.unlabelled,
            "frozen": texts.features,
        }.get(kind, lambda: (texts.x, texts.x_test))()
        started = time.process_time()
        if kind in LINEAR:
            model = LINEAR[kind](x[rows], texts.y[rows])
            training = round(float(model.score(x[rows], texts.y[rows])), 4)
        else:
            model, training = trained(
                kind, chosen(x, rows), texts.y[rows], peak=RATES[kind], batch=batch, seed=seed, length=self.length,
                epochs=epochs * (5 if kind == "frozen" else 1),
            )  # fmt: skip
        spent = round(time.process_time() - started, 1)
        if kind in LINEAR:
            probabilities = model.predict_proba(x_test)
        else:
            probabilities = model.predict(x_test, batch_size=200, verbose=0)
        outcome = measured(probabilities, texts.y_test)
        self._keep(case | {"rate": RATES[kind], "training": training, "cpu_seconds": spent} | outcome)


def main(
    folder: DataOrFetched = None,
    out: Out = recorded.FOLDER,
    minutes: Minutes = 1e9,
    length: Annotated[int, typer.Option(help="Word pieces of a text that are read; 128 is the handle's own.")] = 64,
    models: Annotated[str, typer.Option(help="Which to train, with commas.")] = ",".join(MODELS),
) -> None:
    """Train and measure every model of the plan that has no result yet; all sizes with one seed before the next."""
    study = Study(Texts(folder, length), out, length, minutes)
    wanted = models.split(",")
    for seed in range(max(seeds for *_, seeds in PLAN.values())):
        for size, (*_, seeds) in PLAN.items():
            for kind in wanted:
                cheap = kind in (*LINEAR, "frozen") and size < max(PLAN)  # the largest set is the same for all seeds
                if seed < seeds or cheap:
                    study.run(kind, size, seed)
    print("nothing is left to do")


if __name__ == "__main__":
    typer.run(main)

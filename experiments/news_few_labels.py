"""Controls for lecture 7: 240 labelled news, the same texts for each model, all answers to the test texts compared.

    python experiments/news_few_labels.py --data FOLDER

The small BERT is fine-tuned with its warm-up and without it, by low-rank updates (LoRA, Hu et al. 2022), with a frozen
encoder, and from fresh weights; beside it stand TF-IDF and LSA. Everything else is the recipe of `bert_ag_news.py`. The
rate of LoRA is chosen on training texts that are in none of the runs; the other rates were set beforehand. Eight epochs
do not fit the texts from fresh weights, so this network has three times as many. The frozen encoder has two heads: the
hidden layer of all networks here, and the linear head with a searched C that MiniLM has in `news_with_minilm.py`. With
`--kinds` the record keeps what it has of the other models, and the pairs of those that were not run again.
"""

from __future__ import annotations

import time
from typing import Annotated

import numpy as np
import tensorflow as tf
import tensorflow_hub as hub
import tf_keras
import typer
from bert_ag_news import (
    CLASSES,
    DROPOUT,
    RATES,
    WARMUP,
    WEIGHT_DECAY,
    Texts,
    Triangle,
    chosen,
    linear,
    network,
    on_vectors,
)
from records import DataOrFetched, Out, Record
from tf_keras import layers

from coursekit.lecture import bert, recorded
from coursekit.lecture.pages.difference_interval import difference_interval

NAME = "news_few_labels"
LABELS, EPOCHS, BATCH, LENGTH = 240, 8, 16, 64
SEEDS = (0, 1, 2)
FROZEN_LINEAR = "frozen with a linear head"
KINDS = ("fine-tuned", "no warm-up", "LoRA", "frozen", FROZEN_LINEAR, "scratch", "linear", "LSA")
RANK, LORA_RATES = 4, (1.5e-3, 5e-3, 1.5e-2, 5e-2)
TIMES = {"frozen": 5, "scratch": 3}  # times as many epochs: a head alone learns slowly, and so do fresh weights
PAIRS = (("fine-tuned", "LSA"), ("fine-tuned", "linear"), ("fine-tuned", "no warm-up"), ("fine-tuned", "LoRA"))


class LowRankUpdate:
    """A kernel (D, …) as its start plus A B, A (D, r), B (r, …); B begins at zero (Hu et al. 2022, section 4.1)."""

    def __init__(self, kernel: tf.Variable, rank: int, rng: np.random.Generator):
        self.kernel, self.start = kernel, tf.identity(kernel)
        width, rest = kernel.shape[0], int(np.prod(kernel.shape[1:]))
        self.a = tf.Variable(rng.normal(0, width**-0.5, (width, rank)).astype("float32"))
        self.b = tf.Variable(tf.zeros((rank, rest)))

    def gradients(self, upstream: tf.Tensor) -> list[tf.Tensor]:
        """Gradients of A and B from that of the kernel: dW Bᵀ and Aᵀ dW."""
        flat = tf.reshape(upstream, (self.a.shape[0], -1))
        return [flat @ tf.transpose(self.b), tf.transpose(self.a) @ flat]

    def apply(self) -> None:
        self.kernel.assign(self.start + tf.reshape(self.a @ self.b, self.start.shape))


class LowRankModel(tf_keras.Model):
    """A classifier in which the encoder learns through low-rank updates of its queries and values alone."""

    def adapt(self, encoder: hub.KerasLayer, rank: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        kernels = [each for each in encoder.variables if "query/kernel" in each.name or "value/kernel" in each.name]
        inside = {id(each) for each in encoder.variables}
        self.low_rank = [LowRankUpdate(kernel, rank, rng) for kernel in kernels]
        self.head = [each for each in self.trainable_variables if id(each) not in inside]
        self.learned = [*self.head, *(part for update in self.low_rank for part in (update.a, update.b))]

    def train_step(self, batch):
        x, y = batch
        with tf.GradientTape() as tape:
            loss = self.compute_loss(x, y, self(x, training=True))
        kernels = [update.kernel for update in self.low_rank]
        gradients = tape.gradient(loss, self.head + kernels)
        upstream = gradients[len(self.head) :]
        parts = [part for update, each in zip(self.low_rank, upstream, strict=True) for part in update.gradients(each)]
        self.optimizer.apply_gradients(zip(gradients[: len(self.head)] + parts, self.learned, strict=True))
        for update in self.low_rank:
            update.apply()
        return {"loss": loss}


def low_rank_network(seed: int) -> LowRankModel:
    inputs = {name: layers.Input((LENGTH,), dtype=tf.int32, name=name) for name in bert.INPUTS}
    encoder = hub.KerasLayer(bert.ENCODER, trainable=True)
    head = tf_keras.Sequential([layers.Dense(16, "relu"), layers.Dropout(DROPOUT), layers.Dense(CLASSES, "softmax")])
    model = LowRankModel(inputs, head(encoder(inputs)["pooled_output"]))
    model.adapt(encoder, RANK, seed)
    return model


def fitted(kind: str, x, y: np.ndarray, seed: int, rate: float) -> tuple[tf_keras.Model, int]:
    """The trained network and how many numbers it learned."""
    tf_keras.utils.set_random_seed(seed)
    model = low_rank_network(seed) if kind == "LoRA" else network(kind, LENGTH, seed)
    epochs = EPOCHS * TIMES.get(kind, 1)
    stream = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(len(y), seed=seed).batch(BATCH).prefetch(2)
    schedule = Triangle(rate, epochs * len(stream), 0.0 if kind == "no warm-up" else WARMUP)
    optimizer = tf_keras.optimizers.AdamW(schedule, weight_decay=WEIGHT_DECAY, clipnorm=1.0)
    model.compile(optimizer, "sparse_categorical_crossentropy")
    model.fit(stream, epochs=epochs, verbose=0)
    learned = model.learned if kind == "LoRA" else model.trainable_weights
    return model, sum(int(tf.size(each)) for each in learned)


def answers(model: tf_keras.Model, x) -> np.ndarray:
    return model.predict(x, batch_size=200, verbose=0).argmax(axis=1)


def chosen_rate(texts: Texts) -> tuple[float, dict[str, float]]:
    """The rate of LoRA with the highest accuracy on 1,000 training texts that no run uses, and all its accuracies."""
    used = np.unique(np.concatenate([rows_of_seed(texts, seed) for seed in SEEDS]))
    free = np.random.default_rng(99).permutation(np.setdiff1d(np.arange(len(texts.y)), used))
    few, held = free[:LABELS], free[LABELS : LABELS + 1_000]
    found = {}
    for rate in LORA_RATES:
        model, _ = fitted("LoRA", chosen(texts.x, few), texts.y[few], 99, rate)
        found[str(rate)] = round(float((answers(model, chosen(texts.x, held)) == texts.y[held]).mean()), 4)
        print("LoRA", rate, found[str(rate)], flush=True)
    return float(max(found, key=found.get)), found


def rows_of_seed(texts: Texts, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).permutation(len(texts.y))[:LABELS]


def main(
    folder: DataOrFetched = None,
    out: Out = recorded.FOLDER,
    kinds: Annotated[str, typer.Option(help="The models, with commas between them.")] = ",".join(KINDS),
) -> None:
    """Train every model with three seeds, other texts for each, and compare the answers to all test texts in pairs."""
    texts, begun = Texts(folder, LENGTH), time.process_time()
    asked = kinds.split(",")
    lora_rate, searched = chosen_rate(texts) if "LoRA" in asked else (None, {})
    rates = RATES | {"no warm-up": RATES["fine-tuned"], "LoRA": lora_rate}
    correct, training, learned, test = {}, {}, {}, (texts.test, texts.y_test)
    for seed in SEEDS:
        rows = rows_of_seed(texts, seed)
        for kind in asked:
            if kind in ("linear", "LSA", FROZEN_LINEAR):
                if kind == "linear":
                    x, x_test = texts.train, test[0]
                else:
                    x, x_test = texts.unlabelled() if kind == "LSA" else texts.features()
                model = (linear if kind == "linear" else on_vectors)(x[rows], texts.y[rows])
                said, of_training = model.predict(x_test), model.predict(x[rows])
            else:
                x, x_test = texts.features() if kind == "frozen" else (texts.x, texts.x_test)
                model, learned[kind] = fitted(kind, chosen(x, rows), texts.y[rows], seed, rates[kind])
                said, of_training = answers(model, x_test), answers(model, chosen(x, rows))
            training.setdefault(kind, []).append(round(float((of_training == texts.y[rows]).mean()), 4))
            correct.setdefault(kind, []).append(said == texts.y_test)
            print(kind, seed, round(float(correct[kind][-1].mean()), 4), flush=True)
    items = np.arange(len(texts.y_test))
    pairs = []
    for first, second in (pair for pair in PAIRS if {*pair} <= {*asked}):
        one, two = np.array(correct[first]), np.array(correct[second])
        difference, low, high = (round(float(each), 4) for each in difference_interval(one, two, items, draws=1_000))
        counts = [[int((a & ~b).sum()), int((~a & b).sum())] for a, b in zip(one, two, strict=True)]
        pair = {"first": first, "second": second, "difference": difference, "low": low, "high": high}
        pairs.append(pair | {"only one correct": counts})
    record = Record(
        NAME,
        f"AG News with {LABELS} labels: fine-tuned (warm-up, none, LoRA), frozen, from scratch, two linear models",
        f"AG News (Zhang et al., 2015): {LABELS} of {len(texts.y):,} training texts, others for each seed; "
        "all 7,600 test texts",
        out,
        command=f"python experiments/{NAME}.py --data FOLDER",
    )
    before, of_lora = record.results, "LoRA's rates, accuracy on 1,000 other training texts"
    run_again = [{pair["first"], pair["second"]} for pair in pairs]
    record.results = {
        "labels": LABELS,
        "test": before.get("test", {})
        | {kind: [round(float(run.mean()), 4) for run in runs] for kind, runs in correct.items()},
        "training": before.get("training", {}) | training,
        "learned": before.get("learned", {}) | learned,
        "rates": rates | ({} if lora_rate else {"LoRA": before.get("rates", {}).get("LoRA")}),
        "times as many epochs": TIMES,
        "rank": RANK,
        of_lora: searched or before.get(of_lora, {}),
        "pairs": [
            *(pair for pair in before.get("pairs", []) if {pair["first"], pair["second"]} not in run_again),
            *pairs,
        ],
    }
    record.save(record.seconds + time.process_time() - begun)


if __name__ == "__main__":
    typer.run(main)

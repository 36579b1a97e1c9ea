"""Train a small decoder-only language model on English captions, beside n-gram models, and time its key–value cache.

    python experiments/language_model.py --data FOLDER

The captions are Multi30k's. Every model sees the same tokens and the same vocabulary, so their perplexities can be
compared. It writes `coursekit/lecture/recorded/language_model.json`, which lecture 8b shows.
"""

from __future__ import annotations

import collections
import re
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

import keras
import numpy as np
import tensorflow as tf
import typer
from keras import layers, ops
from records import DataOrFetched, Out, Record, Seeds, numbers

from coursekit import data
from coursekit.lecture import recorded

PAD, UNK, START, END = range(4)
SPECIAL = ["[PAD]", "[UNK]", "[START]", "[END]"]
RARE = 3  # words that occur less often are [UNK]
D, H, F, BLOCKS, DROPOUT = 128, 4, 512, 2, 0.2
BATCH, PEAK_RATE, WARMUP = 64, 2e-3, 300
LENGTHS = (12, 16, 24, 48)  # captions are padded to the next of these; one compiled program for each
ORDERS, DISCOUNT = (1, 2, 3, 4, 5), 0.75
TIMED = (32, 128, 512)  # tokens written, for the tokens per second

app = typer.Typer(add_completion=False, help=__doc__)


def words_of(text: str) -> list[str]:
    """The words and punctuation marks of a text, in lower case."""
    return re.findall(r"\w+(?:[-'’]\w+)*|[^\w\s]", text.lower())


def words_and_rows(folder: Path | None, special: Sequence[str], rare: int) -> tuple[list[str], list[list[list[int]]]]:
    """The words of the training captions, and all captions as rows of ids: to train on, to watch, to test."""
    texts = [english for english, _ in data.sentence_pairs(source="real", path=folder)]
    counts = collections.Counter(word for text in texts[0] for word in words_of(text))
    words = [*special, *(word for word, count in counts.most_common() if count >= rare)]
    number = {word: place for place, word in enumerate(words)}
    rows = [[[START, *(number.get(word, UNK) for word in words_of(text)), END] for text in part] for part in texts]
    return words, rows


class CausalAttention(keras.Layer):
    """Multi-head attention in which token t reads tokens 0 to t; with a cache, only new tokens are passed."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.query, self.key, self.value, self.out = (layers.Dense(D) for _ in range(4))

    def call(self, x, cache=None, place=0):
        """New tokens x (B, T, D), the first of them at `place`, and keys and values so far: two (B, H, M, K).

        Returns:
            The output (B, T, D), and the cache with the keys and values of the new tokens.
        """
        batch, new = ops.shape(x)[0], ops.shape(x)[1]
        q, k, v = (
            ops.transpose(ops.reshape(dense(x), (batch, new, H, D // H)), (0, 2, 1, 3))  # (B, H, T, K)
            for dense in (self.query, self.key, self.value)
        )
        if cache is not None:
            k, v = (ops.slice_update(old, (0, 0, place, 0), fresh) for old, fresh in zip(cache, (k, v), strict=True))
        scores = ops.matmul(q, ops.transpose(k, (0, 1, 3, 2))) * (D // H) ** -0.5  # (B, H, T, M)
        seen = ops.arange(ops.shape(k)[2])[None, :] <= place + ops.arange(new)[:, None]  # (T, M)
        read = ops.matmul(ops.softmax(ops.where(seen, scores, -1e9), axis=-1), v)  # (B, H, T, K)
        return self.out(ops.reshape(ops.transpose(read, (0, 2, 1, 3)), (batch, new, D))), (k, v)


class LanguageModel(keras.Model):
    """A pre-norm decoder without cross-attention: ids (B, T) to logits (B, T, V), one table for input and output."""

    def __init__(self, vocabulary_size: int, longest: int = max(TIMED) + 1, **kwargs):
        super().__init__(**kwargs)
        start = keras.initializers.RandomNormal(stddev=D**-0.5)
        self.embedding = layers.ReversibleEmbedding(vocabulary_size, D, embeddings_initializer=start)
        angles = np.arange(longest)[:, None] / 10_000 ** (np.arange(0, D, 2) / D)  # (longest, D/2)
        self.places = np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(longest, D).astype("float32")
        self.attentions = [CausalAttention() for _ in range(BLOCKS)]
        self.forwards = [keras.Sequential([layers.Dense(F, "gelu"), layers.Dense(D)]) for _ in range(BLOCKS)]
        self.norms = [layers.LayerNormalization(epsilon=1e-6) for _ in range(2 * BLOCKS + 1)]
        self.dropout = layers.Dropout(DROPOUT)

    def call(self, ids, caches=None, place=0, training=None):
        """Logits (B, T, V); with `caches`, one pair of (B, H, M, K) for each block, logits and the caches grown."""
        x = self.embedding(ids) * D**0.5 + ops.slice(self.places, (place, 0), (ops.shape(ids)[1], D))  # (B, T, D)
        x, grown = self.dropout(x, training=training), []
        for block, (attention, forward) in enumerate(zip(self.attentions, self.forwards, strict=True)):
            read, pair = attention(self.norms[2 * block](x), cache=caches and caches[block], place=place)
            x = x + self.dropout(read, training=training)
            x = x + self.dropout(forward(self.norms[2 * block + 1](x)), training=training)
            grown.append(pair)
        logits = self.embedding(self.norms[-1](x), reverse=True)
        return logits if caches is None else (logits, grown)


def empty_caches(longest: int) -> list:
    """Keys and values of no token yet, with room for `longest`, for each block."""
    return [(tf.zeros((1, H, longest, D // H)), tf.zeros((1, H, longest, D // H))) for _ in range(BLOCKS)]


def loss_of(targets, logits):
    """Mean cross-entropy over real tokens."""
    targets = ops.cast(targets, "int32")
    each = ops.sparse_categorical_crossentropy(targets, logits, from_logits=True)
    real = ops.cast(targets != PAD, each.dtype)
    return ops.sum(each * real) / ops.sum(real)


def batches(rows: list[list[int]]) -> tf.data.Dataset:
    """(read, say) pairs (B, L) from rows with start and end, in batches of about one length."""
    groups, sizes = [], []
    for shortest, length in zip((0, *LENGTHS), LENGTHS, strict=False):
        chosen = [row for row in rows if shortest < len(row) - 1 <= length]
        padded = keras.utils.pad_sequences(chosen, length + 1, padding="post", value=PAD)
        group = tf.data.Dataset.from_tensor_slices((padded[:, :-1], padded[:, 1:])).shuffle(len(chosen))
        groups.append(group.batch(BATCH, drop_remainder=True))
        sizes.append(len(chosen) // BATCH)
    mixed = tf.data.Dataset.sample_from_datasets(groups, [size / sum(sizes) for size in sizes])
    return mixed.apply(tf.data.experimental.assert_cardinality(sum(sizes))).prefetch(tf.data.AUTOTUNE)


def perplexity(model: LanguageModel, rows: list[list[int]]) -> float:
    """exp of the mean of −log p over all tokens, ends included, starts not."""
    total = count = 0.0
    for row in rows:
        ids = tf.constant([row])
        total += float(ops.sum(ops.sparse_categorical_crossentropy(ids[:, 1:], _all(model, ids[:, :-1]), True)))
        count += len(row) - 1
    return float(np.exp(total / count))


@tf.function(reduce_retracing=True)
def _all(model, ids):
    return model(ids, training=False)


class KneserNey:
    """Interpolated Kneser–Ney (Kneser and Ney, 1995) with one discount, up to an order."""

    def __init__(self, rows: Iterable[list[int]], order: int, vocabulary_size: int):
        self.order, self.size = order, vocabulary_size
        grams = [collections.Counter() for _ in range(order + 1)]  # by length
        for row in rows:
            padded = [START] * (order - 1) + row[1:]
            for end in range(order - 1, len(padded)):
                grams[order][tuple(padded[end - order + 1 : end + 1])] += 1
        for length in range(order - 1, 0, -1):  # below the top: in how many contexts, instead of how often
            for gram in grams[length + 1]:
                grams[length][gram[1:]] += 1
        self.counts = grams
        self.totals, self.kinds = collections.Counter(), collections.Counter()
        for length in range(1, order + 1):
            for gram, count in grams[length].items():
                self.totals[gram[:-1]] += count
                self.kinds[gram[:-1]] += 1

    def probability(self, context: tuple[int, ...], word: int) -> float:
        """p(word | context), mixed with the shorter contexts' and, at last, with equal shares."""
        shorter = self.probability(context[1:], word) if context else 1 / self.size
        total = self.totals[context]
        if not total:
            return shorter
        kept = max(self.counts[len(context) + 1][(*context, word)] - DISCOUNT, 0) / total
        return kept + DISCOUNT * self.kinds[context] / total * shorter

    def perplexity(self, rows: list[list[int]]) -> float:
        """exp of the mean of −log p over all tokens, ends included."""
        logs = []
        for row in rows:
            padded = [START] * (self.order - 1) + row[1:]
            for end in range(self.order - 1, len(padded)):
                context = tuple(padded[end - self.order + 1 : end])
                logs.append(np.log(self.probability(context, padded[end])))
        return float(np.exp(-np.mean(logs)))


def sampled(model: LanguageModel, rng: np.random.Generator, temperature: float, longest: int = 40) -> list[int]:
    """Write one caption with the cache, each token drawn."""
    step, caches, ids = _stepping(model), empty_caches(longest), [START]
    while ids[-1] != END and len(ids) < longest:
        logits, caches = step(tf.constant([ids[-1:]]), caches, tf.constant(len(ids) - 1))
        scores = logits.numpy()[0, -1] / temperature
        scores[[PAD, UNK, START]] = -np.inf
        p = np.exp(scores - scores.max())
        ids.append(int(rng.choice(len(p), p=p / p.sum())))
    return ids


_STEPS: dict[int, tf.types.experimental.PolymorphicFunction] = {}


def _stepping(model: LanguageModel):
    return _STEPS.setdefault(
        id(model), tf.function(lambda ids, caches, place: model(ids, caches=caches, place=place, training=False))
    )


def timed(model: LanguageModel, cached: bool) -> dict[str, float]:
    """Tokens per processor second, greedy, one text, to write the numbers of tokens in TIMED from the start."""
    longest = max(TIMED) + 1
    caches, ids, rates = empty_caches(longest), [START], {}
    step = _stepping(model)
    whole = tf.function(
        lambda ids: model(ids, training=False)[:, -1], input_signature=[tf.TensorSpec((1, None), "int32")]
    )
    (
        step(tf.constant([[START]]), caches, tf.constant(0)),
        whole(tf.constant([[START]])),
    )  # compiled before the clock starts
    started = time.process_time()
    for place in range(max(TIMED)):
        if cached:
            logits, caches = step(tf.constant([ids[-1:]]), caches, tf.constant(place))
            ids.append(int(np.argmax(logits[0, -1])))
        else:
            ids.append(int(np.argmax(whole(tf.constant([ids])))))
        if place + 1 in TIMED:
            rates[str(place + 1)] = round((place + 1) / (time.process_time() - started), 1)
    return rates


def compile_for(model: keras.Model, steps: int, peak: float) -> None:
    """AdamW; the rate climbs over WARMUP steps to its peak, and falls to zero at the last one."""
    rate = keras.optimizers.schedules.CosineDecay(0.0, steps - WARMUP, warmup_target=peak, warmup_steps=WARMUP)
    model.compile(keras.optimizers.AdamW(rate, weight_decay=0.01), loss=loss_of, jit_compile=False)


def trained(rows: list[list[int]], watch: list[list[int]], size: int, epochs: int, seed: int) -> tuple:
    """A trained model, its validation perplexity after each epoch, and the CPU seconds."""
    keras.utils.set_random_seed(seed)
    model, pairs = LanguageModel(size), batches(rows)
    compile_for(model, epochs * int(pairs.cardinality()), PEAK_RATE)
    started, log = time.process_time(), []
    for _ in range(epochs):
        loss = model.fit(pairs, verbose=0).history["loss"][0]
        log.append({"training loss": round(loss, 4), "validation perplexity": round(perplexity(model, watch), 3)})
        print(log[-1], f"{time.process_time() - started:.0f} CPU seconds", flush=True)
    return model, log, time.process_time() - started


@app.command(help=__doc__)
def main(
    data_folder: DataOrFetched = None,
    epochs: Annotated[int, typer.Option(help="Passes over the 29,000 captions.")] = 8,
    seeds: Seeds = "1,2,3",
    out: Out = recorded.FOLDER,
) -> None:
    began = time.process_time()
    vocabulary, (train, watch, test) = words_and_rows(data_folder, SPECIAL, RARE)
    tokens = sum(len(row) - 1 for row in train)
    print(f"{len(vocabulary):,} words, {tokens:,} tokens to train on", flush=True)
    grams = {}
    for order in ORDERS:
        grams[str(order)] = round(KneserNey(train, order, len(vocabulary)).perplexity(test), 2)
        print(f"{order}-gram: test perplexity {grams[str(order)]}", flush=True)
    unknown = sum(row.count(UNK) for row in test) / sum(len(row) - 1 for row in test)
    record = Record(
        "language_model",
        "A decoder-only language model of English captions beside n-gram models: perplexity, samples, cache",
        "English captions of Multi30k (Elliott et al., 2016): 29,000 to train on, 1,014 and 1,000 held out",
        out,
        command="python experiments/language_model.py --data FOLDER",
    )
    results = record.results = {
        "model": {"D": D, "H": H, "F": F, "blocks": BLOCKS, "dropout": DROPOUT, "epochs": epochs},
        "vocabulary": len(vocabulary),
        "training tokens": tokens,
        "share of unknown words in the test": round(unknown, 4),
        "n-gram test perplexity": grams,
        "runs": {},
    }

    record.save(time.process_time() - began, seed=numbers(seeds)[0])  # the n-grams alone
    for seed in numbers(seeds):
        model, log, seconds = trained(train, watch, len(vocabulary), epochs, seed)
        run = {"epochs": log, "test perplexity": round(perplexity(model, test), 2), "seconds": round(seconds)}
        print(f"seed {seed}: test perplexity {run['test perplexity']}", flush=True)
        if not results["runs"]:
            results |= written_by(model, test[0], vocabulary)
        results["runs"][str(seed)] = run
        record.save(time.process_time() - began, seed=seed)


def written_by(model: LanguageModel, row: list[int], vocabulary: list[str]) -> dict:
    """What one trained model writes, how fast, and how far the logits with and without the cache are apart."""
    ids = tf.constant([row[:-1]])
    step, caches, apart = _stepping(model), empty_caches(max(TIMED) + 1), 0.0
    for place in range(ids.shape[1]):
        logits, caches = step(ids[:, place : place + 1], caches, tf.constant(place))
        apart = max(apart, float(np.abs(logits[0, 0] - _all(model, ids)[0, place]).max()))
    rng, samples = np.random.default_rng(0), {}
    for temperature in (0.5, 1.0, 1.5):
        samples[str(temperature)] = [
            " ".join(vocabulary[i] for i in sampled(model, rng, temperature)[1:] if i != END) for _ in range(4)
        ]
    return {
        "parameters": model.count_params(),
        "largest difference of logits with and without cache": float(f"{apart:.1e}"),
        "tokens per processor second": {
            name: timed(model, cached) for name, cached in (("with cache", True), ("without", False))
        },
        "rule": "the first four captions drawn at each temperature, with one generator seeded with 0",
        "samples": samples,
    }


if __name__ == "__main__":
    app()

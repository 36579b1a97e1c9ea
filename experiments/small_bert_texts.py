"""What the small BERT reads: texts without their labels, which word pieces stand near which, and masked batches."""

from __future__ import annotations

import csv
import gzip
import re
from pathlib import Path

import near_words
import numpy as np
import tensorflow as tf
from scipy import sparse

from coursekit import data
from coursekit.data import imdb

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
PAD, UNK, CLS, SEP, MASK = range(5)

D = 128  # of a piece's vector
TOKENS = 2_048  # in a batch: 32 rows of 64, and towards the end 16 rows of 128, so that all positions are learned
NEWS_SHARE, PAIR_SHARE, MASK_SHARE = 0.5, 0.5, 0.15
HELD_OUT = 0.02
COUNTED = 8_000_000  # pieces of reviews whose neighbours are counted


def reviews(folder: Path) -> list[str]:
    """Return the texts of the 25,000 training reviews of IMDB and of its 50,000 reviews without a label."""
    texts = []
    for part in ("train", "unsup"):
        with gzip.open(imdb.local_file(folder, part), "rt", encoding="utf-8", newline="") as file:
            texts += [re.sub(r"<br\s*/?>", " ", row["text"]) for row in csv.DictReader(file)]
    return texts


def training_news(folder: Path) -> list[str]:
    """Return the training texts of AG News, without those whose text, or its second half, is in a test text."""
    (train, _), (test, _) = data.news(source="real", path=folder)

    def parts(item: str) -> set[str]:
        plain = re.sub(r"\W+", " ", item.lower()).strip()
        return {plain, plain[len(plain) // 2 :]}

    tested = " \n ".join(re.sub(r"\W+", " ", item.lower()).strip() for item in test)
    kept = [item for item in train if not any(part in tested for part in parts(item))]
    print(f"news: {len(train) - len(kept)} training texts repeat a test text and are left out")
    return kept


def start_table(work: Path, size: int) -> None:
    """Write the vectors that the pieces start from, (V, D): which pieces stand near which.

    A long training finds such vectors by itself. A short one spends most of its time on finding them.
    """
    counts = np.zeros(size * size, dtype="int64")
    for name, times, most in (("news", 8, None), ("reviews", 1, COUNTED)):
        row = np.load(work / f"{name}.npz")["pieces"][:most].astype("int64")
        for apart in range(1, near_words.WINDOW + 1):
            counts += times * np.bincount(row[:-apart] * size + row[apart:], minlength=size * size)
    found = np.flatnonzero(counts)
    pairs = sparse.coo_matrix((counts[found].astype("float64"), (found // size, found % size)), (size, size))
    table = near_words.vectors(pairs, D)
    table *= 0.04 / table.std()
    rng = np.random.default_rng(0)
    table[: len(SPECIAL)] = rng.normal(scale=0.02, size=(len(SPECIAL), D))
    np.save(work / "table.npy", table.astype("float32"))


class Corpus:
    """All texts as one row of numbers; the last texts of each kind are held out for validation."""

    def __init__(self, work: Path):
        parts = [np.load(work / f"{name}.npz") for name in ("reviews", "news")]
        self.pieces = tf.constant(np.concatenate([part["pieces"] for part in parts]).astype("int32"))
        lengths = np.concatenate([part["lengths"] for part in parts])
        ends = np.cumsum(lengths)
        self.starts, self.lengths = tf.constant(ends - lengths, tf.int32), tf.constant(lengths, tf.int32)
        counts = [len(part["lengths"]) for part in parts]
        self.first = tf.constant([0, counts[0]])
        self.training = tf.constant([int(count * (1 - HELD_OUT)) for count in counts])  # of reviews, of news
        self.held_out = tf.constant(counts) - self.training
        self.vocabulary = len((work / "vocab.txt").read_text(encoding="utf-8").split("\n")) - 1

    def batch(self, step, length: int, seed: int, *, held_out: bool = False):
        """Return batch number `step`, the same for the same seed: inputs, and labels with -100 where nothing is asked.

        A row is one passage, or, as in BERT, two: the second follows the first in the text, or is from another text of
        the same kind.
        """
        rows, asked = TOKENS // length, round(MASK_SHARE * length)
        step = tf.cast(step, tf.int32)

        def draw(number: int, shape=(rows,)):
            return tf.random.stateless_uniform(shape, [seed + 1_000 * number + 500 * held_out, step])

        def below(count, number: int):
            return tf.cast(draw(number) * tf.cast(count, tf.float32), tf.int32)

        kind = tf.cast(draw(0) < NEWS_SHARE, tf.int32)  # (B,)
        first = tf.gather(self.first + (self.training if held_out else 0), kind)
        count = tf.gather(self.held_out if held_out else self.training, kind)
        a, other = first + below(count, 1), first + below(count, 2)  # (B,) numbers of texts
        pair, follows = draw(3) < PAIR_SHARE, draw(4) < 0.5
        pair &= tf.gather(self.lengths, a) > 8
        size = tf.minimum(tf.gather(self.lengths, a), length - 2 - tf.cast(pair, tf.int32))
        start_a = tf.gather(self.starts, a) + below(tf.gather(self.lengths, a) - size + 1, 5)
        cut = tf.where(pair, 3 + below(size - 5, 6), size)
        size_other = tf.minimum(tf.gather(self.lengths, other), size - cut)
        start_other = tf.gather(self.starts, other) + below(tf.gather(self.lengths, other) - size_other + 1, 7)
        size_b = tf.where(pair, tf.where(follows, size - cut, size_other), -1)
        start_b = tf.where(follows, start_a + cut, start_other)

        place = tf.range(length)[None]  # (1, T)
        cut, end = cut[:, None], (cut + size_b + 2)[:, None]  # (B, 1): pieces before the first and the last [SEP]
        source = tf.where(place <= cut, start_a[:, None] + place - 1, start_b[:, None] + place - cut - 2)
        ordinary = (place > 0) & (place < end) & (place != cut + 1)  # (B, T)
        ids = tf.gather(self.pieces, tf.where(ordinary, source, 0))
        ids = tf.where(ordinary, ids, tf.where(place == 0, CLS, tf.where(place <= end, SEP, PAD)))

        ordinary &= ids >= len(SPECIAL)
        chance = tf.where(ordinary, draw(8, (rows, length)), -1.0)
        positions = tf.math.top_k(chance, asked).indices  # (B, P)
        wanted = tf.maximum(1.0, tf.round(MASK_SHARE * tf.reduce_sum(tf.cast(ordinary, tf.float32), 1)))
        real = tf.cast(tf.range(asked)[None], tf.float32) < wanted[:, None]
        real &= tf.gather(chance, positions, batch_dims=1) >= 0
        original = tf.gather(ids, positions, batch_dims=1)
        kind_of_change = draw(9, (rows, asked))
        random_piece = tf.cast(draw(10, (rows, asked)) * self.vocabulary, tf.int32)
        changed = tf.where(kind_of_change < 0.8, MASK, tf.where(kind_of_change < 0.9, random_piece, original))
        where = tf.stack([tf.repeat(tf.range(rows)[:, None], asked, axis=1), positions], axis=-1)  # (B, P, 2)
        hidden = tf.tensor_scatter_nd_update(ids, where, tf.where(real, changed, original))
        inputs = {
            "input_word_ids": hidden,
            "input_mask": tf.cast(place <= end, tf.int32),
            "input_type_ids": tf.cast(pair[:, None] & (place > cut + 1) & (place <= end), tf.int32),
            "masked_lm_positions": positions,
        }
        labels = {
            "mlm_logits": tf.where(real, original, -100),
            "next_logits": tf.where(pair, tf.cast(follows, tf.int32), -100)[:, None],
        }
        return inputs, labels

    def batches(self, steps, length: int, seed: int, *, held_out: bool = False) -> tf.data.Dataset:
        stream = tf.data.Dataset.from_tensor_slices(tf.constant(list(steps), tf.int32))
        stream = stream.map(lambda step: self.batch(step, length, seed, held_out=held_out), 1)
        return stream.prefetch(4)

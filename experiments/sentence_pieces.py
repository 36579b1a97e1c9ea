"""Sentence pairs as word pieces that both languages share, in batches of about one length, and the loss on them."""

from __future__ import annotations

import collections
import json
import re
from pathlib import Path

import numpy as np
import tensorflow as tf
import tensorflow_text
from keras import ops
from tensorflow_text.tools.wordpiece_vocab import wordpiece_tokenizer_learner_lib as wordpiece

from coursekit import data

SPECIAL = ["[PAD]", "[UNK]", "[START]", "[END]"]
PAD, UNK, START, END = range(4)

BATCH, SMOOTHING = 64, 0.1
# One compiled program per length: sentences are padded to the next of these, longer ones are left out of training.
LENGTHS = (14, 18, 24, 40)


class Pieces:
    """A WordPiece vocabulary shared by both languages; text survives `decode(encode(text))` up to white space.

    A chunk between two spaces is cut into its longest known pieces, from the left; all but the first carry "##". A
    punctuation mark is a piece of its own, so "hill." gives "hill", "##.".
    """

    def __init__(self, vocabulary: list[str]) -> None:
        self.vocabulary = vocabulary
        self._tokenizer = tensorflow_text.FastWordpieceTokenizer(
            vocabulary, suffix_indicator="##", unknown_token="[UNK]", no_pretokenization=True, token_out_type=tf.int32
        )

    @classmethod
    def learned_from(cls, texts: list[str], size: int) -> Pieces:
        """Learn at most about `size` pieces from texts."""
        words = collections.Counter(unit for text in texts for unit in re.findall(r"\w+(?:[-'’]\w+)*|[^\w\s]", text))
        marks = sorted({word for word in words if re.fullmatch(r"[^\w\s]", word)})
        reserved = [*SPECIAL, *(f"##{mark}" for mark in marks)]
        return cls(wordpiece.learn(words, size, reserved, include_joiner_token=True, joiner="##"))

    def encode(self, texts: list[str]) -> list[np.ndarray]:
        """Return one array of ids for every text."""
        chunks = tf.strings.split(tf.constant(texts))
        return [row.numpy() for row in self._tokenizer.tokenize(chunks).merge_dims(1, 2)]

    def decode(self, ids: np.ndarray) -> str:
        """Return the text of a row of ids, up to its end token."""
        row = list(ids)
        row = row[: row.index(END)] if END in row else row
        words = " ".join(self.vocabulary[number] for number in row if number > START)
        return re.sub(r" ##", "", words)


def prepared(work: Path, folder: Path | None, vocabulary_size: int, language: str):
    """Return the pieces and the three splits of sentence pairs, English and a language of Multi30k.

    The vocabulary is learned once, from training text, and kept in `work`.
    """
    work.mkdir(parents=True, exist_ok=True)
    splits = data.sentence_pairs(source="real", path=folder, language=language)
    file = work / "vocabulary.json"
    if file.exists():
        return Pieces(json.loads(file.read_text())), splits
    pieces = Pieces.learned_from([*splits[0][0], *splits[0][1]], vocabulary_size)
    file.write_text(json.dumps(pieces.vocabulary, ensure_ascii=False))
    return pieces, splits


def batches(sources: list, targets: list, *, shuffle: bool) -> tf.data.Dataset:
    """Return ((source, shifted target), target), (B, L) each, in batches of about one length L, one of LENGTHS.

    The last batch of each length is filled up with empty sentences, which count in no mean.
    """
    targets = [[START, *row, END] for row in targets]
    needed = [max(len(source), len(target) - 1) for source, target in zip(sources, targets, strict=True)]
    groups, sizes = [], []
    for shortest, length in zip((0, *LENGTHS), LENGTHS, strict=False):
        chosen = [i for i, size in enumerate(needed) if shortest < size <= length]
        rows = -(-len(chosen) // BATCH) * BATCH
        source, target = np.full((rows, length), PAD, "int32"), np.full((rows, length + 1), PAD, "int32")
        for row, i in enumerate(chosen):
            source[row, : len(sources[i])] = sources[i]
            target[row, : len(targets[i])] = targets[i]
        group = tf.data.Dataset.from_tensor_slices(((source, target[:, :-1]), target[:, 1:]))
        groups.append((group.shuffle(rows) if shuffle else group).batch(BATCH))
        sizes.append(rows / BATCH)
    mixed = tf.data.Dataset.sample_from_datasets(groups, [size / sum(sizes) for size in sizes])
    count = tf.data.experimental.assert_cardinality(int(sum(sizes)))
    return mixed.apply(count).prefetch(tf.data.AUTOTUNE)


def smoothed_loss(targets, logits):
    """Return the cross-entropy with label smoothing, a mean over real tokens."""
    targets = ops.cast(targets, "int32")
    logits = ops.cast(logits, "float32")
    total = ops.logsumexp(logits, axis=-1)  # (B, T)
    right = ops.sum(logits * ops.one_hot(targets, logits.shape[-1]), axis=-1)  # (B, T); XLA fuses it, none is stored
    loss = total - (1 - SMOOTHING) * right - SMOOTHING * ops.mean(logits, axis=-1)
    real = ops.cast(targets != PAD, loss.dtype)
    return ops.sum(loss * real) / ops.sum(real)

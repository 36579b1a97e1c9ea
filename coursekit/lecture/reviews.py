"""Reviews as the lectures on film reviews use them: cleaned, split without repeats, in batches of similar length."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

EDGES = (16, 24, 32, 40, 80, 120, 160, 200)  # lengths that end a group of similar reviews


def plain(texts: Any) -> Any:
    """Lower case, HTML line breaks to spaces, no punctuation; string tensors of any shape."""
    import tensorflow as tf

    texts = tf.strings.regex_replace(tf.strings.lower(texts), r"<br\s*/?>", " ")
    return tf.strings.regex_replace(texts, "[[:punct:]]", "")


def clean(texts: Sequence[str]) -> list[str]:
    """`plain` for a list of str, as a list of str."""
    import tensorflow as tf

    return [text.decode() for text in plain(tf.constant(list(texts))).numpy()]


def split(
    texts: Sequence[str], labels: np.ndarray, test_texts: Sequence[str], *, share: float = 0.1
) -> tuple[tuple[list[str], np.ndarray], tuple[list[str], np.ndarray]]:
    """Training and validation part, drawn at random, of reviews that neither repeat nor stand in the test split.

    Args:
        texts, labels: the training split, (N,) each.
        test_texts: the test split.
        share: of the reviews that is held back for validation.

    Returns:
        `(training texts, labels), (validation texts, labels)`.
    """
    in_test = set(test_texts)
    last_place = {text: place for place, text in enumerate(texts) if text not in in_test}
    order = np.random.default_rng(0).permutation(list(last_place.values()))
    held = int(len(order) * share)
    parts = [([texts[place] for place in some], np.asarray(labels)[some]) for some in (order[held:], order[:held])]
    return parts[0], parts[1]


def batches(
    rows: Any, labels: np.ndarray, *, length: int = 200, batch_size: int = 64, shuffle: bool = True, hidden: float = 0.0
) -> Any:
    """The last `length` words of each review, in batches of similar length, padded at the end with 0.

    Args:
        rows: ragged ids, (N, T of each).
        labels: (N,).
        length: most words of a row.
        batch_size: reviews of a batch.
        shuffle: whether the reviews come in another order in every epoch.
        hidden: probability with which a word, but not the first, becomes padding; drawn anew in every epoch.

    Returns:
        A tf.data.Dataset of known length: ids (B, T) and labels (B,).
    """
    import tensorflow as tf

    def hide(ids, label):
        keep = (tf.random.uniform(tf.shape(ids)) >= hidden) | (tf.range(tf.shape(ids)[1]) == 0)
        return tf.where(keep, ids, 0), label

    stream = tf.data.Dataset.from_tensor_slices((rows[:, -length:], labels))
    stream = stream.map(lambda ids, label: (ids + 0, label)).cache()  # + 0: a ragged row becomes a plain tensor
    if shuffle:
        stream = stream.shuffle(rows.shape[0])
    edges = np.array([edge for edge in EDGES if edge < length])
    together = stream.bucket_by_sequence_length(lambda ids, _: tf.size(ids), edges + 1, [batch_size] * (len(edges) + 1))
    groups = np.bincount(np.searchsorted(edges, np.minimum(rows.row_lengths(), length)))  # reviews of each group
    together = together.apply(tf.data.experimental.assert_cardinality(int(np.sum(-(-groups // batch_size)))))
    return (together.map(hide) if hidden else together).prefetch(2)

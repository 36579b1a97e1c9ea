"""Reviews for the lectures: split without repeats, every review in one batch, its last words kept."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from coursekit.lecture import reviews


def test_cleaning():
    assert reviews.clean(["Good!<br />Not BAD, no."]) == ["good not bad no"]


def test_no_review_is_in_two_parts_or_in_the_test_split():
    texts = [f"review {number % 40}" for number in range(60)]
    labels = np.array([number % 40 % 2 for number in range(60)])
    (train, y), (valid, y_valid) = reviews.split(texts, labels, ["review 3", "review 5"])
    assert len(train) == 35 and len(valid) == 3  # 40 different ones, two of them in the test split
    assert not set(train) & set(valid) and not {"review 3", "review 5"} & {*train, *valid}
    for text, label in zip([*train, *valid], [*y, *y_valid], strict=True):
        assert int(text.split()[1]) % 2 == label


def rows_and_labels() -> tuple[tf.RaggedTensor, np.ndarray]:
    rows = tf.ragged.constant([list(range(1, 2 + number)) for number in range(53)], dtype="int32")  # 1 to 53 words
    return rows, np.arange(53)


def test_every_review_is_in_one_batch_with_its_last_words():
    rows, labels = rows_and_labels()
    stream = reviews.batches(rows, labels, length=29, batch_size=7)
    parts = list(stream.as_numpy_iterator())
    assert len(parts) == int(stream.cardinality())
    assert sorted(label for _, some in parts for label in some) == list(range(53))
    for ids, some in parts:
        assert ids.shape[0] <= 7 and ids.shape[1] <= 29
        for row, label in zip(ids, some, strict=True):
            assert row[row > 0].tolist() == list(range(1, label + 2))[-29:]


def test_hidden_words_are_padding_but_never_the_first():
    rows, labels = rows_and_labels()
    share = []
    for ids, _ in reviews.batches(rows, labels, length=29, hidden=0.4, shuffle=False).as_numpy_iterator():
        assert (ids[:, 0] > 0).all()
        share.append((ids[:, 1:] == 0).mean())
    assert np.mean(share) > 0.3

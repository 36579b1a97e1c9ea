"""The models of lectures 6 and 6b on film reviews, their batches, and how one of them is trained."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass

import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops

VOCABULARY, WIDTH, HEADS, HIDDEN, HEAD_UNITS = 20_000, 32, 2, 32, 20
LSTM_UNITS = 50  # 657,641 parameters: the nearest to the Transformer's 657,737


@dataclass(frozen=True)
class Settings:
    """Everything about one run but its seed."""

    model: str = "transformer"
    max_length: int = 200
    end: str = "last"
    pooling: str = "mean"
    word_dropout: float = 0.0
    dropout: float = 0.1
    learning_rate: float = 1e-3
    weight_decay: float = 0.0
    label_smoothing: float = 0.0
    batch_size: int = 64
    positions: bool = True
    block: bool = True  # False: the head reads the mean of the embeddings
    decay_epochs: int = 0  # in so many epochs the learning rate falls linearly to 0; 0: it stays, training is stopped


class TokenAndPositionEmbedding(keras.Layer):
    """Learned word and position vectors, added; (B, T) ids -> (B, T, D). Hands on a mask of the ids, if asked to.

    The positions are looked up inside `call`. An Embedding that is called on a fixed array while the model is built
    leaves a constant behind, which is not trained.
    """

    def __init__(self, max_length, masked=True):
        super().__init__()
        self.tokens = layers.Embedding(VOCABULARY, WIDTH, mask_zero=masked)
        self.positions = layers.Embedding(max_length, WIDTH)

    def call(self, ids):
        return self.tokens(ids) + self.positions(ops.arange(ops.shape(ids)[1]))  # (B, T, D)

    def compute_mask(self, ids, mask=None):
        return self.tokens.compute_mask(ids)


class WordDropout(keras.Layer):
    """Hides words with the given probability while training: their id becomes that of padding; (B, T) -> (B, T).

    The first word stays, so that no review is empty.
    """

    def __init__(self, rate):
        super().__init__()
        self.rate, self.seeds = rate, keras.random.SeedGenerator()

    def call(self, ids, training=False):
        if not training or not self.rate:
            return ids
        keep = keras.random.uniform(ops.shape(ids), seed=self.seeds) >= self.rate
        keep = ops.logical_or(keep, ops.arange(ops.shape(ids)[1]) == 0)
        return ids * ops.cast(keep, ids.dtype)


class MaskedMax(keras.Layer):
    """Largest value of each feature over the words that are not padding; (B, T, D) -> (B, D)."""

    def call(self, x, mask=None):
        return ops.max(ops.where(mask[..., None], x, -1e4), axis=1)


def pooled(settings, x):
    return MaskedMax()(x) if settings.pooling == "max" else layers.GlobalAveragePooling1D()(x)


def encoded(settings: Settings, x, mask=None):
    """One encoder block, post-norm, as in the published example; masks travel with the tensors (not through `+`)."""
    attended = layers.MultiHeadAttention(HEADS, key_dim=WIDTH)(query=x, value=x, attention_mask=mask)
    x = layers.LayerNormalization(epsilon=1e-6)(layers.Add()([x, layers.Dropout(settings.dropout)(attended)]))
    hidden = layers.Dense(WIDTH)(layers.Dense(HIDDEN, activation="relu")(x))
    return layers.LayerNormalization(epsilon=1e-6)(layers.Add()([x, layers.Dropout(settings.dropout)(hidden)]))


def answered(settings: Settings, ids, x) -> keras.Model:
    """The model from ids to a probability, with the head on features (B, D)."""
    x = layers.Dropout(settings.dropout)(layers.Dense(HEAD_UNITS, activation="relu")(x))
    return keras.Model(ids, layers.Dense(1, activation="sigmoid", dtype="float32")(x))


def transformer(settings: Settings) -> keras.Model:
    """The words, their positions, and one encoder block, each as the settings say."""
    ids = keras.Input((None,), dtype="int32")  # (B, T)
    if settings.positions:
        embedding = TokenAndPositionEmbedding(settings.max_length)
    else:
        embedding = layers.Embedding(VOCABULARY, WIDTH, mask_zero=True)
    x = embedding(WordDropout(settings.word_dropout)(ids))  # (B, T, D)
    x = encoded(settings, x) if settings.block else x
    return answered(settings, ids, layers.Dropout(settings.dropout)(pooled(settings, x)))


def published(settings: Settings) -> keras.Model:
    """The same network without any mask, for input padded in front, as in the published example (with one output)."""
    ids = keras.Input((settings.max_length,), dtype="int32")  # (B, T)
    x = TokenAndPositionEmbedding(settings.max_length, masked=False)(ids)  # (B, T, D)
    x = encoded(settings, x)
    return answered(settings, ids, layers.Dropout(settings.dropout)(layers.GlobalAveragePooling1D()(x)))


def lstm(settings: Settings) -> keras.Model:
    """Word vectors, one LSTM whose last state is read, and the same head."""
    ids = keras.Input((None,), dtype="int32")  # (B, T)
    x = layers.Embedding(VOCABULARY, WIDTH, mask_zero=True)(WordDropout(settings.word_dropout)(ids))  # (B, T, D)
    return answered(settings, ids, layers.Dropout(settings.dropout)(layers.LSTM(LSTM_UNITS)(x)))


class IsWord(keras.Layer):
    """ids (B, T) -> (B, T), True where a word stands and no padding."""

    def call(self, ids):
        return ids != 0


def conv(settings: Settings) -> keras.Model:
    """Word vectors, one convolution over five words, its largest values over the words, and the same head."""
    ids = keras.Input((None,), dtype="int32")  # (B, T)
    seen = WordDropout(settings.word_dropout)(ids)
    is_word = IsWord()(seen)  # (B, T)
    x = layers.Embedding(VOCABULARY, WIDTH)(seen) * ops.cast(is_word[..., None], "float32")  # (B, T, D)
    x = layers.Conv1D(WIDTH, 5, padding="same", activation="relu")(x)  # (B, T, D)
    return answered(settings, ids, layers.Dropout(settings.dropout)(MaskedMax()(x, mask=is_word)))


class KeyMask(keras.Layer):
    """ids (B, T) -> (B, 1, T), True at words: the attention mask that closes padding keys and leaves queries alone."""

    def call(self, ids):
        return (ids != 0)[:, None, :]


class OnePlaceMore(keras.Layer):
    """ids (B, T) -> (B, T + 1): one place of padding behind each row.

    Without positions, and with padding closed as a key, all padding places of a review have the same output. So the
    largest value over one of them is the largest over any number of them: rows need not be 600 wide to be like those.
    """

    def call(self, ids):
        return ops.pad(ids, [[0, 0], [0, 1]])


def max_pooling(settings: Settings) -> keras.Model:
    """Word vectors without positions, one encoder block, the largest value of each feature, dropout 0.5, one output.

    `pooling="max"` takes it over the words; "max with padding" over padding as well, as GlobalMaxPooling1D does.
    """
    ids = keras.Input((None,), dtype="int32")  # (B, T)
    seen = WordDropout(settings.word_dropout)(ids)
    if settings.pooling == "max with padding":
        seen = OnePlaceMore()(seen)
    x = layers.Embedding(VOCABULARY, WIDTH)(seen)  # (B, T, D)
    return keras.Model(ids, _largest(settings, encoded(settings, x, KeyMask()(seen)), seen))


def lstm_twin(settings: Settings) -> keras.Model:
    """`max_pooling` with an LSTM of the same width in place of the encoder block."""
    ids = keras.Input((None,), dtype="int32")  # (B, T)
    seen = WordDropout(settings.word_dropout)(ids)
    x = layers.Embedding(VOCABULARY, WIDTH)(seen)  # (B, T, D)
    return keras.Model(ids, _largest(settings, layers.LSTM(WIDTH, return_sequences=True)(x), seen))


def _largest(settings: Settings, x, seen):
    if settings.pooling == "max with padding":
        x = layers.GlobalMaxPooling1D()(x)  # (B, D)
    else:
        x = MaskedMax()(x, mask=IsWord()(seen))
    return layers.Dense(1, activation="sigmoid", dtype="float32")(layers.Dropout(0.5)(x))


BUILDERS = {
    "transformer": transformer,
    "lstm": lstm,
    "published": published,
    "conv": conv,
    "max pooling": max_pooling,
    "lstm twin": lstm_twin,
}


def batches(rows: tf.RaggedTensor, labels, settings: Settings, shuffle: bool) -> tf.data.Dataset:
    """Cut, then put reviews of similar length into one batch, padded at the end to the longest of them."""
    length, size = settings.max_length, settings.batch_size
    rows = rows[:, -length:] if settings.end == "last" else rows[:, :length]
    stream = tf.data.Dataset.from_tensor_slices((rows, labels))
    stream = stream.map(lambda ids, y: (ids + 0, y)).cache()  # each row becomes an ordinary tensor
    if shuffle:
        stream = stream.shuffle(rows.shape[0])
    if settings.model == "published":
        return stream.map(lambda ids, y: (tf.pad(ids, [[length - tf.size(ids), 0]]), y)).batch(size).prefetch(2)
    edges = np.array([edge for edge in (80, 120, 150, 200, 280, 400, 600) if edge < length])
    together = stream.bucket_by_sequence_length(lambda ids, _: tf.size(ids), edges + 1, [size] * (len(edges) + 1))
    groups = np.bincount(np.searchsorted(edges, rows.row_lengths()))
    return together.apply(tf.data.experimental.assert_cardinality(int(np.sum(-(-groups // size))))).prefetch(2)


def fit(settings: Settings, seed: int, training, epochs: int, watched, patience: int | None, vectors=None):
    """Train, and measure `watched` rows after every epoch; with a patience, stop when their loss no longer falls.

    The words start from `vectors`, (VOCABULARY, WIDTH), if there are any. Returns the model and the record of the run.
    """
    keras.utils.set_random_seed(seed)
    model = BUILDERS[settings.model](settings)
    if vectors is not None:
        next(weight for weight in model.weights if weight.shape == vectors.shape).assign(vectors)
    batched, rate = batches(*training, settings, shuffle=True), settings.learning_rate
    if settings.decay_epochs:
        steps = int(batched.cardinality()) * settings.decay_epochs
        rate = keras.optimizers.schedules.PolynomialDecay(rate, steps, end_learning_rate=0.0)
    optimizer = keras.optimizers.AdamW(rate, weight_decay=settings.weight_decay)
    loss = keras.losses.BinaryCrossentropy(label_smoothing=settings.label_smoothing)
    model.compile(optimizer, loss, metrics=["accuracy"], jit_compile=False)
    stop = [keras.callbacks.EarlyStopping("val_loss", patience=patience)] if patience else []
    cpu, wall = time.process_time(), time.perf_counter()
    history = model.fit(
        batched,
        validation_data=watched and batches(*watched, settings, shuffle=False),
        epochs=epochs,
        callbacks=stop,
        shuffle=False,  # batches() has done it
        verbose=2,
    ).history
    return model, {
        "settings": asdict(settings),
        "seed": seed,
        "parameters": model.count_params(),
        "history": {name: [round(float(value), 5) for value in values] for name, values in history.items()},
        "cpu_seconds": round(time.process_time() - cpu, 1),
        "seconds": round(time.perf_counter() - wall, 1),
    }

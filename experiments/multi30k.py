"""Train a small Transformer on Multi30k, English to German, on a CPU, and record its BLEU on test_2016_flickr.

    python experiments/multi30k.py train --data FOLDER      # again and again, until it says that all epochs are done
    python experiments/multi30k.py score --data FOLDER      # needs: pip install sacrebleu

Training stops by itself after --minutes and is taken up where it stopped by the same command. Scoring translates the
test sentences greedily and with a beam, measures both with sacreBLEU, and writes `coursekit/recorded/multi30k.json`,
which lecture 8 shows.
"""

from __future__ import annotations

import collections
import csv
import json
import platform
import re
import time
from pathlib import Path
from typing import Annotated

import keras
import numpy as np
import tensorflow as tf
import tensorflow_text
import typer
from keras import layers, ops
from tensorflow_text.tools.wordpiece_vocab import wordpiece_tokenizer_learner_lib as wordpiece

from coursekit import data, recorded

SPECIAL = ["[PAD]", "[UNK]", "[START]", "[END]"]
PAD, UNK, START, END = range(4)

D, H, F, BLOCKS, DROPOUT, SMOOTHING = 128, 4, 256, 3, 0.1, 0.1
BATCH, PEAK_RATE, WARMUP = 64, 2.5e-3, 500
# One compiled program per length: sentences are padded to the next of these, longer ones are left out of training.
LENGTHS = (14, 18, 24, 40)
BEAM, PENALTY, SHOWN = 4, 0.6, 5

app = typer.Typer(add_completion=False, no_args_is_help=True, help=__doc__)
Data = Annotated[Path | None, typer.Option("--data", help="Folder of local files; without it the data is fetched.")]
Work = Annotated[Path, typer.Option(help="Where vocabulary, weights and translations are kept between runs.")]
Epochs = Annotated[int, typer.Option(help="Passes over the 29,000 training pairs.")]
Seed = Annotated[int, typer.Option(help="Seed of the weights, the dropout and the order of the batches.")]


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


def positions(length: int) -> np.ndarray:
    """Return the sinusoids of section 3.5 of the paper, (length, D), here as sines beside cosines."""
    angles = np.arange(length)[:, None] * np.exp(-np.log(10_000) * np.arange(0, D, 2) / D)  # (length, D/2)
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1).astype("float32")


def build(vocabulary_size: int) -> keras.Model:
    """Return a pre-norm encoder-decoder from ids (B, S) and (B, T) to logits (B, T, V), one embedding for all three."""
    source = keras.Input((None,), dtype="int32", name="source")
    target = keras.Input((None,), dtype="int32", name="target")
    embedding = layers.ReversibleEmbedding(
        vocabulary_size, D, embeddings_initializer=keras.initializers.RandomNormal(stddev=D**-0.5)
    )
    table = positions(512)
    visible = layers.Lambda(lambda ids: ops.not_equal(ids, PAD)[:, None, :])(source)  # (B, 1, S)

    def embed(ids):
        place = layers.Lambda(lambda x: x * D**0.5 + ops.convert_to_tensor(table)[: ops.shape(x)[1]])
        return layers.Dropout(DROPOUT)(place(embedding(ids)))  # (B, T, D)

    def added(x, sub_layer, **arguments):
        normed = layers.LayerNormalization(epsilon=1e-6)(x)
        arguments = {"query": normed, "value": normed} | arguments if arguments else {"inputs": normed}
        return x + layers.Dropout(DROPOUT)(sub_layer(**arguments))  # (B, T, D)

    def attention():
        return layers.MultiHeadAttention(H, D // H, dropout=DROPOUT)

    def feed_forward():
        return keras.Sequential([layers.Dense(F, activation="relu"), layers.Dropout(DROPOUT), layers.Dense(D)])

    x = embed(source)  # (B, S, D)
    for _ in range(BLOCKS):
        x = added(x, attention(), attention_mask=visible)
        x = added(x, feed_forward())
    memory = layers.LayerNormalization(epsilon=1e-6)(x)  # (B, S, D)
    x = embed(target)  # (B, T, D)
    for _ in range(BLOCKS):
        x = added(x, attention(), use_causal_mask=True)
        x = added(x, attention(), value=memory, attention_mask=visible)
        x = added(x, feed_forward())
    x = layers.LayerNormalization(epsilon=1e-6)(x)
    return keras.Model([source, target], embedding(x, reverse=True), name="transformer")


def smoothed_loss(targets, logits):
    """Return the cross-entropy with label smoothing, a mean over real tokens."""
    targets = ops.cast(targets, "int32")
    logits = ops.cast(logits, "float32")
    total = ops.logsumexp(logits, axis=-1)  # (B, T)
    right = ops.sum(logits * ops.one_hot(targets, logits.shape[-1]), axis=-1)  # (B, T); XLA fuses it, none is stored
    loss = total - (1 - SMOOTHING) * right - SMOOTHING * ops.mean(logits, axis=-1)
    real = ops.cast(targets != PAD, loss.dtype)
    return ops.sum(loss * real) / ops.sum(real)


def token_accuracy(targets, logits):
    """Return the share of the real tokens that are guessed right, each after the true ones before it."""
    targets = ops.cast(targets, "int32")
    real = ops.cast(targets != PAD, "float32")
    hits = ops.cast(ops.argmax(logits, axis=-1) == targets, "float32")
    return ops.sum(hits * real) / ops.sum(real)


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


def schedule(steps: int) -> keras.optimizers.schedules.LearningRateSchedule:
    """Return a linear warm-up and a cosine decay to zero over all steps."""
    return keras.optimizers.schedules.CosineDecay(
        0.0, steps - WARMUP, warmup_target=PEAK_RATE, warmup_steps=WARMUP, alpha=0.0
    )


class Clock(keras.callbacks.Callback):
    """Write the processor and wall seconds of each epoch into the logs, and stop at an epoch's end when time is up."""

    def __init__(self, minutes: float) -> None:
        super().__init__()
        self.minutes, self.started = minutes, time.monotonic()

    def on_epoch_begin(self, epoch, logs=None):
        self.begun = time.process_time(), time.monotonic()

    def on_epoch_end(self, epoch, logs=None):
        logs["cpu_seconds"], logs["wall_seconds"] = (
            time.process_time() - self.begun[0],
            time.monotonic() - self.begun[1],
        )
        if time.monotonic() - self.started + logs["wall_seconds"] > 60 * self.minutes:
            self.model.stop_training = True


def prepared(work: Path, folder: Path | None, vocabulary_size: int):
    """Return the pieces and the three splits of sentence pairs; the vocabulary is learned once, from training text."""
    work.mkdir(parents=True, exist_ok=True)
    splits = data.sentence_pairs(source="real", path=folder)
    file = work / "vocabulary.json"
    if file.exists():
        return Pieces(json.loads(file.read_text())), splits
    pieces = Pieces.learned_from([*splits[0][0], *splits[0][1]], vocabulary_size)
    file.write_text(json.dumps(pieces.vocabulary, ensure_ascii=False))
    return pieces, splits


@app.command()
def train(
    data_folder: Data = None,
    work: Work = Path("data/real/multi30k_run"),
    epochs: Epochs = 12,
    minutes: Annotated[float, typer.Option(help="Stop when the next epoch would pass this many minutes.")] = 1e9,
    vocabulary_size: Annotated[int, typer.Option(help="Pieces to learn, about.")] = 6000,
    seed: Seed = 1,
) -> None:
    """Train, or go on training."""
    pieces, (training, validation, _) = prepared(work, data_folder, vocabulary_size)
    keras.utils.set_random_seed(seed)
    model = build(len(pieces.vocabulary))
    pairs = batches(*map(pieces.encode, training), shuffle=True)
    steps = int(pairs.cardinality())
    print(f"{model.count_params():,} parameters, {len(pieces.vocabulary):,} pieces, {steps} batches of {BATCH}")
    model.compile(
        optimizer=keras.optimizers.Adam(schedule(epochs * steps), beta_2=0.98, epsilon=1e-9),
        loss=smoothed_loss, metrics=[token_accuracy], jit_compile=True,
    )  # fmt: skip
    model.fit(
        pairs,
        validation_data=batches(*map(pieces.encode, validation), shuffle=False),
        epochs=epochs,
        verbose=2,
        callbacks=[
            keras.callbacks.BackupAndRestore(work / "backup", delete_checkpoint=False),
            Clock(minutes),
            keras.callbacks.CSVLogger(work / "epochs.csv", append=True),
        ],
    )
    model.save_weights(work / "model.weights.h5")
    done = len((work / "epochs.csv").read_text().splitlines()) - 1
    print(f"{done} of {epochs} epochs done" + ("" if done == epochs else ": run the same command again"))


def translate(model: keras.Model, sources: list[np.ndarray], beam: int) -> list[np.ndarray]:
    """Return the best translation of each source by beam search; a beam of 1 is greedy decoding."""

    @tf.function(reduce_retracing=True)
    def next_tokens(source, prefix, place):
        logits = model([source, prefix], training=False)[:, place]  # (B·k, V)
        return tf.math.top_k(ops.log_softmax(logits), beam)  # (B·k, k), twice

    order = sorted(range(len(sources)), key=lambda i: len(sources[i]))
    answers: dict[int, np.ndarray] = {}
    for start in range(0, len(order), 50):
        chosen = order[start : start + 50]  # sentences of about one length
        source = np.zeros((len(chosen), max(len(sources[i]) for i in chosen)), "int32")  # (B, S)
        for row, i in zip(source, chosen, strict=True):
            row[: len(sources[i])] = sources[i]
        answers |= zip(chosen, search(next_tokens, source, beam, source.shape[1] + 15), strict=True)
    return [answers[i] for i in range(len(sources))]


def search(next_tokens, source: np.ndarray, k: int, length: int) -> np.ndarray:
    """Search with a beam of k for a batch of sources (B, S), writing at most `length` tokens; returns ids (B, length).

    A hypothesis with an end leaves the beam. Hypotheses are compared by log-probability / ((5 + n)/6)^PENALTY, n tokens
    (Wu et al., 2016, equation 14), those without an end after `length` tokens as well.
    """
    rows = np.full((len(source), k, length + 1), PAD, "int32")
    rows[:, :, 0] = START
    total = np.full((len(source), k), -np.inf)
    total[:, 0] = 0.0  # k equal beginnings are one
    best, best_score = rows[:, 0].copy(), np.full(len(source), -np.inf)
    asked = tf.repeat(source, k, axis=0)  # (B·k, S)
    for place in range(length):
        logs, ids = next_tokens(asked, rows[:, :, :-1].reshape(-1, length), tf.constant(place))
        options = (total[:, :, None] + np.reshape(logs, (-1, k, k))).reshape(-1, k * k)  # (B, k·k)
        chosen = np.argsort(-options, axis=1, kind="stable")[:, :k]  # (B, k)
        total = np.take_along_axis(options, chosen, axis=1)
        rows = np.take_along_axis(rows, chosen[:, :, None] // k, axis=1)
        rows[:, :, place + 1] = np.take_along_axis(np.reshape(ids, (-1, k * k)), chosen, axis=1)
        closed = (rows[:, :, place + 1] == END) | (place + 1 == length)  # (B, k)
        score = np.where(closed, total / ((6 + place) / 6) ** PENALTY, -np.inf)
        first = score.argmax(axis=1)  # (B,)
        better = score[np.arange(len(source)), first] > best_score
        best[better] = rows[better, first[better]]
        best_score = np.maximum(best_score, score.max(axis=1))
        total = np.where(closed, -np.inf, total)
        if not np.isfinite(total).any():
            break
    return best[:, 1:]


@app.command()
def score(
    data_folder: Data = None,
    work: Work = Path("data/real/multi30k_run"),
    out: Annotated[Path, typer.Option(help="Folder of the record to write.")] = recorded.FOLDER,
    seed: Seed = 1,
) -> None:
    """Translate test_2016_flickr and write the record."""
    try:
        from sacrebleu.metrics import BLEU
    except ImportError:
        raise SystemExit("scoring needs sacreBLEU: pip install sacrebleu") from None
    if not (work / "model.weights.h5").exists():
        raise SystemExit(f"{work} holds no trained weights: run the command train first, or name another --work")
    pieces, (_, _, (english, german)) = prepared(work, data_folder, 0)
    model = build(len(pieces.vocabulary))
    model.load_weights(work / "model.weights.h5")
    sources, written, bleu, seconds, signature = pieces.encode(english), {}, {}, {}, {}
    for name, beam in {"greedy": 1, f"beam {BEAM}": BEAM}.items():
        started, metric = time.process_time(), BLEU()
        written[name] = [pieces.decode(row) for row in translate(model, sources, beam)]
        seconds[name] = round(time.process_time() - started, 1)
        bleu[name] = round(metric.corpus_score(written[name], [german]).score, 2)
        signature[name] = str(metric.get_signature())
        (work / f"{name.replace(' ', '_')}.de").write_text("\n".join(written[name]) + "\n")
        print(f"{name}: BLEU {bleu[name]}, {seconds[name]} CPU seconds")
    with (work / "epochs.csv").open() as file:
        epochs = [{key: round(float(value), 4) for key, value in row.items()} for row in csv.DictReader(file)]
    step = len(english) // SHOWN
    shown = range(0, step * SHOWN, step)
    training = round(sum(epoch["cpu_seconds"] for epoch in epochs))
    file = recorded.save(
        "multi30k",
        what="A small Transformer, English to German, BLEU on test_2016_flickr",
        data="Multi30k (Elliott et al., 2016): 29,000 pairs to train on, 1,014 to validate, 1,000 in test_2016_flickr",
        device=f"CPU, {platform.machine()}, two cores; seconds are processor seconds",
        command="python experiments/multi30k.py train, then python experiments/multi30k.py score",
        seed=seed,
        seconds=training + sum(seconds.values()),
        folder=out,
        results={
            "bleu": bleu,
            "signature": signature["greedy"],
            "parameters": model.count_params(),
            "model": {"D": D, "H": H, "F": F, "blocks": BLOCKS, "vocabulary": len(pieces.vocabulary)},
            "training_cpu_seconds": training,
            "translating_cpu_seconds": seconds,
            "epochs": epochs,
            "rule": f"sentences number {', '.join(str(i + 1) for i in shown)} of test_2016_flickr",
            "examples": [
                {"english": english[i], "german": german[i], **{name: texts[i] for name, texts in written.items()}}
                for i in shown
            ],
        },
    )
    print(f"{signature['greedy']}\nwritten: {file.name}")


if __name__ == "__main__":
    app()

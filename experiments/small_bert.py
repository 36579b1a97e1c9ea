"""Pre-train a small BERT on film reviews and news, on a CPU, and export it in the form of TensorFlow Hub's models.

    python experiments/small_bert.py prepare --data FOLDER   # word pieces, and the texts as numbers
    python experiments/small_bert.py train                   # again and again, until it says that all steps are done
    python experiments/small_bert.py export                  # the models of coursekit.lecture.bert, and the record

Training stops by itself after --minutes and is taken up where it stopped by the same command. FOLDER holds
imdb/imdb_train.csv.gz, imdb/imdb_unsup.csv.gz, ag_news/train_subset_10000.csv (or train.csv) and ag_news/test.csv, as
data/README.md describes them. Labels are not read. The test texts are read to leave out training texts that repeat one.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import time
from pathlib import Path
from typing import Annotated

import numpy as np
import tensorflow as tf
import tensorflow_text as text
import tf_keras
import typer
from records import Data, Out, Record
from small_bert_texts import SPECIAL, TOKENS, UNK, Corpus, D, reviews, start_table, training_news
from tensorflow_text.tools.wordpiece_vocab import bert_vocab_from_dataset
from tf_keras import layers

from coursekit.lecture import bert, recorded

H, F, BLOCKS, LENGTH, DROPOUT = 4, 256, 3, 128, 0.1
PEAK_RATE, WARMUP, WEIGHT_DECAY = 1.5e-3, 400, 0.01
SHORT = 64
EPOCH = 400  # batches between two validations
VALIDATION_BATCHES = 16

app = typer.Typer(add_completion=False, no_args_is_help=True, help=__doc__)
Work = Annotated[Path, typer.Option(help="Where vocabulary, texts and weights are kept between runs.")]
WORK = Path("data/real/small_bert_run")


# --- texts ------------------------------------------------------------------------------------------------------------


@app.command()
def prepare(
    folder: Data,
    work: Work = WORK,
    size: Annotated[int, typer.Option(help="Word pieces to learn, about.")] = 8_000,
    vocabulary_reviews: Annotated[int, typer.Option(help="Reviews that the word pieces are learned from.")] = 5_000,
) -> None:
    """Learn the word pieces from all news and some reviews, and write all texts as their numbers."""
    work.mkdir(parents=True, exist_ok=True)
    news, films = training_news(folder), reviews(folder)
    order = np.random.default_rng(0)
    news, films = ([texts[i] for i in order.permutation(len(texts))] for texts in (news, films))
    vocabulary = work / "vocab.txt"
    if not vocabulary.exists():
        learned = bert_vocab_from_dataset.bert_vocab_from_dataset(
            tf.data.Dataset.from_tensor_slices(news + films[:vocabulary_reviews]).batch(500),
            vocab_size=size,
            reserved_tokens=SPECIAL,
            bert_tokenizer_params={"lower_case": True},
            learn_params={},
        )
        vocabulary.write_text("\n".join(learned) + "\n", encoding="utf-8")
    pieces = vocabulary.read_text(encoding="utf-8").split("\n")[:-1]
    tokenizer = text.FastBertTokenizer(pieces, token_out_type=tf.int32, lower_case_nfd_strip_accents=True)
    for name, texts in (("news", news), ("reviews", films)):
        rows = []
        for start in range(0, len(texts), 1_000):
            rows += [row.astype("uint16") for row in tokenizer.tokenize(texts[start : start + 1_000]).numpy()]
        lengths = np.array([len(row) for row in rows])
        np.savez(work / f"{name}.npz", pieces=np.concatenate(rows), lengths=lengths)
        unknown = np.mean(np.concatenate(rows) == UNK)
        print(f"{name}: {len(rows):,} texts, {lengths.sum():,} pieces, {unknown:.2%} unknown")
    start_table(work, len(pieces))
    print(f"{len(pieces):,} word pieces")


# --- model ------------------------------------------------------------------------------------------------------------


class Positions(layers.Layer):
    """Adds a learned vector to each position; (B, T, D) -> (B, T, D)."""

    def build(self, shape):
        self.table = self.add_weight(
            "table", (LENGTH, shape[-1]), initializer=tf_keras.initializers.TruncatedNormal(stddev=0.02)
        )

    def call(self, x):
        return x + self.table[: tf.shape(x)[1]]


class TiedLogits(layers.Layer):
    """Scores of all pieces with the table of their vectors, (B, P, D) -> (B, P, V), and a bias."""

    def __init__(self, embedding, **options):
        super().__init__(**options)
        self.embedding = embedding

    def build(self, shape):
        self.bias = self.add_weight("bias", (self.embedding.input_dim,), initializer="zeros")

    def call(self, x):
        return tf.matmul(x, self.embedding.embeddings, transpose_b=True) + self.bias


def gelu(x):
    return tf_keras.activations.gelu(x, approximate=True)


def build(vocabulary: int, dropout: float) -> tuple[tf_keras.Model, tf_keras.Model]:
    """Return the encoder and the model that is trained, which adds the two heads; both share all their weights.

    Two things differ from the published BERT, since the training is short. Pre-norm bears a high learning rate. And the
    pooled output is made of the mean of all tokens: [CLS] alone takes long to learn to gather what the others hold.
    """

    def small():
        return tf_keras.initializers.TruncatedNormal(stddev=0.02)

    def dense(units, activation=None, name=None):
        return layers.Dense(units, activation, kernel_initializer=small(), name=name)

    def norm(name):
        return layers.LayerNormalization(epsilon=1e-6, name=name)

    inputs = {name: layers.Input((None,), dtype=tf.int32, name=name) for name in bert.INPUTS}
    words = layers.Embedding(vocabulary, D, small(), name="words")
    x = words(inputs["input_word_ids"]) + layers.Embedding(2, D, small(), name="segments")(inputs["input_type_ids"])
    x = layers.Dropout(dropout)(norm("embedding_norm")(Positions(name="positions")(x)))  # (B, T, D)
    visible = inputs["input_mask"][:, None, :]  # (B, 1, T)
    states = []
    for block in range(BLOCKS):
        attention = layers.MultiHeadAttention(
            H, D // H, dropout=dropout, kernel_initializer=small(), name=f"attention_{block}"
        )
        normed = norm(f"norm_1_{block}")(x)
        x += layers.Dropout(dropout)(attention(query=normed, value=normed, attention_mask=visible))
        normed = norm(f"norm_2_{block}")(x)
        hidden = dense(F, gelu, f"hidden_{block}")(normed)
        x += layers.Dropout(dropout)(dense(D, name=f"output_{block}")(hidden))  # (B, T, D)
        states.append(x)
    states[-1] = norm("final_norm")(x)
    real = tf.cast(inputs["input_mask"], tf.float32)[:, :, None]  # (B, T, 1)
    mean = tf.reduce_sum(states[-1] * real, axis=1) / tf.maximum(1.0, tf.reduce_sum(real, axis=1))  # (B, D)
    pooled = dense(D, "tanh", "pooler")(mean)  # (B, D)
    outputs = {"pooled_output": pooled, "sequence_output": states[-1], "encoder_outputs": states}
    encoder = tf_keras.Model(inputs, outputs, name="encoder")

    positions = layers.Input((None,), dtype=tf.int32, name="masked_lm_positions")
    x = tf.gather(states[-1], positions, batch_dims=1)  # (B, P, D)
    x = norm("mlm_norm")(dense(D, gelu, "mlm_dense")(x))
    heads = {"mlm_logits": TiedLogits(words, name="mlm_logits")(x), "next_logits": dense(2, name="next_logits")(pooled)}
    return encoder, tf_keras.Model({**inputs, "masked_lm_positions": positions}, heads, name="pretraining")


class WarmUpAndDecay(tf_keras.optimizers.schedules.LearningRateSchedule):
    """Rises in a straight line to the peak, and falls in one to zero at the last step."""

    def __init__(self, total: int):
        self.total = total

    def __call__(self, step):
        step = tf.cast(step, tf.float32)
        rise, fall = step / WARMUP, (self.total - step) / (self.total - WARMUP)
        return PEAK_RATE * tf.clip_by_value(tf.minimum(rise, fall), 0.0, 1.0)


def asked_loss(labels, logits):
    """Return the mean cross-entropy where a label is not -100."""
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(tf.maximum(labels, 0), logits_like(labels, logits))
    real = tf.cast(labels >= 0, losses.dtype)
    return tf.reduce_sum(losses * real) / tf.maximum(1.0, tf.reduce_sum(real))


def accuracy(labels, logits):
    """Return the share of right answers where a label is not -100."""
    labels = tf.cast(labels, tf.int64)  # Keras makes them float for metrics
    hits = tf.argmax(logits_like(labels, logits), axis=-1) == labels
    real = tf.cast(labels >= 0, tf.float32)
    return tf.reduce_sum(tf.cast(hits, tf.float32) * real) / tf.maximum(1.0, tf.reduce_sum(real))


def logits_like(labels, logits):
    """Logits (B, 2) of one question for each row become (B, 1, 2), beside their labels (B, 1)."""
    return logits if logits.shape.rank == labels.shape.rank + 1 else logits[:, None]


# --- training ---------------------------------------------------------------------------------------------------------


class Keeper(tf_keras.callbacks.Callback):
    """Keeps weights and optimizer after each epoch, writes its figures, and stops when time is up."""

    def __init__(self, manager: tf.train.CheckpointManager, file: Path, minutes: float):
        super().__init__()
        self.manager, self.file, self.minutes, self.started = manager, file, minutes, time.monotonic()

    def on_epoch_begin(self, epoch, logs=None):
        self.begun = time.process_time(), time.monotonic()

    def on_epoch_end(self, epoch, logs=None):
        wall = time.monotonic() - self.begun[1]
        row = {name: round(float(value), 4) for name, value in logs.items()}
        row |= {
            "epoch": epoch + 1,
            "cpu_seconds": round(time.process_time() - self.begun[0], 1),
            "seconds": round(wall),
        }
        with self.file.open("a") as file:
            file.write(json.dumps(row) + "\n")
        self.manager.save(checkpoint_number=epoch + 1)
        if time.monotonic() - self.started + wall > 60 * self.minutes:
            self.model.stop_training = True


def figures(work: Path) -> list[dict]:
    """What was measured after each epoch that counts; an epoch done twice after a broken run counts once."""
    file = work / "epochs.jsonl"
    rows = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    return sorted({row["epoch"]: row for row in rows}.values(), key=lambda row: row["epoch"])


@app.command()
def train(
    work: Work = WORK,
    epochs: Annotated[int, typer.Option(help=f"Epochs of {EPOCH} batches of {TOKENS:,} tokens.")] = 8,
    minutes: Annotated[float, typer.Option(help="Stop when the next epoch would pass this many minutes.")] = 1e9,
    long_share: Annotated[float, typer.Option(help=f"Share of the epochs, the last, on rows of {LENGTH}.")] = 0.25,
    seed: Annotated[int, typer.Option(help="Seed of weights, passages and masks.")] = 0,
    compiled: Annotated[bool, typer.Option(help="Compile the training step with XLA.")] = True,
) -> None:
    """Train, or go on training."""
    corpus = Corpus(work)
    tf_keras.utils.set_random_seed(seed)
    _, model = build(corpus.vocabulary, dropout=0.0)  # no text is read so often that it could be learned by heart
    optimizer = tf_keras.optimizers.AdamW(
        WarmUpAndDecay(epochs * EPOCH), weight_decay=WEIGHT_DECAY, beta_2=0.98, clipnorm=1.0
    )
    optimizer.exclude_from_weight_decay(var_names=["bias", "gamma", "beta"])
    model.get_layer("words").set_weights([np.load(work / "table.npy")])
    model.compile(optimizer, asked_loss, metrics=[accuracy], jit_compile=compiled)
    optimizer.build(model.trainable_variables)
    manager = tf.train.CheckpointManager(
        tf.train.Checkpoint(model=model, optimizer=optimizer), work / "checkpoints", max_to_keep=1
    )
    manager.restore_or_initialize()
    done = int(manager.latest_checkpoint.rpartition("-")[2]) if manager.latest_checkpoint else 0
    print(f"{model.count_params():,} parameters, {done} of {epochs} epochs done", flush=True)
    short = round(epochs * (1 - long_share))
    keeper = Keeper(manager, work / "epochs.jsonl", minutes)
    for length, until in ((SHORT, short), (LENGTH, epochs)):
        if done >= until or model.stop_training:
            continue
        model.fit(
            corpus.batches(range(done * EPOCH, until * EPOCH), length, seed),
            validation_data=corpus.batches(range(VALIDATION_BATCHES), length, seed, held_out=True),
            initial_epoch=done,
            epochs=until,
            steps_per_epoch=EPOCH,
            callbacks=[keeper],
            verbose=2,
        )
        done = figures(work)[-1]["epoch"]
    print(f"{done} of {epochs} epochs done" + ("" if done >= epochs else ": run the same command again"))


def held_out(corpus: Corpus, model: tf_keras.Model, seed: int) -> dict[str, dict[str, float]]:
    """Loss and right answers on texts held out, by length of the rows.

    Short rows are half news; long ones, which no single piece of news fills, hold more of the reviews.
    """
    model.compile("sgd", asked_loss, metrics=[accuracy])
    return {
        str(length): {
            name: round(value, 4)
            for name, value in model.evaluate(
                corpus.batches(range(3 * VALIDATION_BATCHES), length, seed, held_out=True), verbose=0, return_dict=True
            ).items()
        }
        for length in (SHORT, LENGTH)
    }


# --- export -----------------------------------------------------------------------------------------------------------


def preprocessor(vocabulary: Path) -> tf.train.Checkpoint:
    """Return an object like bert_en_uncased_preprocess: callable, with `tokenize` and `bert_pack_inputs`.

    Called with strings (B,) it gives three int32 arrays (B, 128).
    """
    tokenizer = text.BertTokenizer(str(vocabulary), token_out_type=tf.int32, lower_case=True)
    pad, start, end = map(vocabulary.read_text("utf-8").split("\n").index, ("[PAD]", "[CLS]", "[SEP]"))

    def tokenize(texts):
        return tokenizer.tokenize(texts)  # ragged: texts, words, pieces

    def pack(segments, seq_length=LENGTH):
        segments = [segment.merge_dims(1, -1) if segment.shape.rank > 2 else segment for segment in segments]
        trimmer = text.RoundRobinTrimmer(seq_length - len(segments) - 1)
        ids, types = text.combine_segments(trimmer.trim(segments), start_of_sequence_id=start, end_of_segment_id=end)
        ids, mask = text.pad_model_inputs(ids, seq_length, pad_value=pad)
        types, _ = text.pad_model_inputs(types, seq_length, pad_value=0)
        arrays = zip(bert.INPUTS, (ids, mask, types), strict=True)
        return {name: tf.cast(array, tf.int32) for name, array in arrays}

    strings = tf.TensorSpec((None,), tf.string, name="inputs")
    result = tf.train.Checkpoint()
    result.tokenizer = tokenizer
    result.tokenize = tf.train.Checkpoint()
    result.tokenize.__call__ = tf.function(tokenize, input_signature=[strings])
    result.bert_pack_inputs = tf.train.Checkpoint()
    packing = tf.function(pack)
    words = tf.RaggedTensorSpec((None, None, None), tf.int32)
    pieces = tf.RaggedTensorSpec((None, None), tf.int32)
    for segment in (words, pieces):
        for count in (1, 2):
            packing.get_concrete_function([segment] * count, seq_length=tf.TensorSpec((), tf.int32))
    result.bert_pack_inputs.__call__ = packing
    result.__call__ = tf.function(lambda inputs: pack([tokenize(inputs)]), input_signature=[strings])
    return result


def reusable(model: tf_keras.Model) -> tf.train.Checkpoint:
    """Return a callable object after the rules of TensorFlow Hub's reusable SavedModels.

    It takes a dict of int32 (B, T), and `training`; it has `variables`, `trainable_variables` and
    `regularization_losses`.
    """

    def call(inputs, training=False):
        return model(inputs, training=training)

    function = tf.function(call)
    specs = {each.name: tf.TensorSpec((None, None), tf.int32, name=each.name) for each in model.inputs}
    for training in (True, False):
        function.get_concrete_function(specs, training=training)
    result = tf.train.Checkpoint()
    result.__call__ = function
    result.variables = model.variables
    result.trainable_variables = model.trainable_variables
    result.regularization_losses = []
    return result


@app.command()
def export(
    work: Work = WORK,
    out: Annotated[Path, typer.Option(help="Folder that the two models are written into.")] = bert.FOLDER,
    record: Out = recorded.FOLDER,
    seed: Annotated[int, typer.Option(help="The seed of the training.")] = 0,
    trained: Annotated[str, typer.Option(help="How it was trained, as commands, for the record.")] = "train",
) -> None:
    """Write the preprocessing model, the encoder, and the record of the training so far."""
    corpus = Corpus(work)
    tf_keras.utils.set_random_seed(seed)
    _, trained_model = build(corpus.vocabulary, dropout=0.0)
    checkpoint = tf.train.latest_checkpoint(work / "checkpoints")
    if checkpoint is None:
        raise SystemExit(f"{work} holds no trained weights: run the command train first, or name another --work")
    tf.train.Checkpoint(model=trained_model).restore(checkpoint).expect_partial()
    encoder, model = build(corpus.vocabulary, dropout=DROPOUT)
    model.set_weights(trained_model.get_weights())

    whole = reusable(encoder)
    whole.mlm = reusable(tf_keras.Model(model.inputs, {"mlm_logits": model.output["mlm_logits"]}))
    out, record = out.resolve(), record.resolve()
    for name in ("encoder", "preprocess"):
        shutil.rmtree(out / name, ignore_errors=True)
    tf.saved_model.save(whole, out / "encoder")
    with contextlib.chdir(work):  # the model keeps the file's name as it is given here
        tf.saved_model.save(preprocessor(Path("vocab.txt")), out / "preprocess")
    size = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
    epochs = figures(work)
    news = len(np.load(work / "news.npz")["lengths"])
    written = Record(
        "small_bert",
        "Pre-training of the small BERT that comes with the course: masked words, and whether a passage follows",
        f"IMDB (Maas et al., 2011), train and unlabelled; {news:,} training texts of AG News (Zhang et al., 2015)",
        record,
        command=f"python experiments/small_bert.py prepare --data FOLDER, then {trained}, then export",
        seed=seed,
    )
    written.results = {
        "parameters": encoder.count_params(),
        "bytes": size,
        "pieces": corpus.vocabulary,
        "model": {"D": D, "H": H, "F": F, "blocks": BLOCKS, "length": LENGTH},
        "tokens": epochs[-1]["epoch"] * EPOCH * TOKENS,
        "batches": epochs[-1]["epoch"] * EPOCH,
        "epochs": epochs,
        "held_out": held_out(corpus, trained_model, seed),
    }
    written.save(sum(epoch["cpu_seconds"] for epoch in epochs))
    print(f"{encoder.count_params():,} parameters, {size / 1e6:.1f} MB in {out}")


if __name__ == "__main__":
    app()

"""Train a small Transformer on Multi30k, English to German, on a CPU, and record its BLEU on test_2016_flickr.

    python experiments/multi30k.py train --seed 1 --data FOLDER   # again, until it says that all epochs are done
    python experiments/multi30k.py score --seed 1 --data FOLDER   # needs: pip install sacrebleu

The record holds the seeds 1, 2 and 3. Training stops by itself after --minutes and is taken up where it stopped by the
same command. Scoring translates the test sentences greedily and with a beam, measures both with sacreBLEU, and writes
this seed's part of `coursekit/lecture/recorded/multi30k.json`, which lecture 8b shows.
"""

from __future__ import annotations

import csv
import time
from pathlib import Path
from typing import Annotated

import keras
import typer
from keras import ops
from records import DataOrFetched, Minutes, Out, Record
from sentence_pieces import BATCH, PAD, batches, prepared, smoothed_loss
from sentence_transformer import BLOCKS, D, F, H, build, translate

from coursekit.lecture import recorded

PEAK_RATE, WARMUP = 2.5e-3, 500
BEAM, SHOWN = 4, 5

app = typer.Typer(add_completion=False, no_args_is_help=True, help=__doc__)
Work = Annotated[Path, typer.Option(help="Where each seed's vocabulary, weights and translations are kept.")]
Epochs = Annotated[int, typer.Option(help="Passes over the 29,000 training pairs.")]
Seed = Annotated[int, typer.Option(help="Seed of the weights, the dropout and the order of the batches.")]


def token_accuracy(targets, logits):
    """Return the share of the real tokens that are guessed right, each after the true ones before it."""
    targets = ops.cast(targets, "int32")
    real = ops.cast(targets != PAD, "float32")
    hits = ops.cast(ops.argmax(logits, axis=-1) == targets, "float32")
    return ops.sum(hits * real) / ops.sum(real)


def schedule(steps: int) -> keras.optimizers.schedules.LearningRateSchedule:
    """Return a linear warm-up, of at most half of the steps, and a cosine decay to zero over the others."""
    warmup = min(WARMUP, steps // 2)
    return keras.optimizers.schedules.CosineDecay(
        0.0, steps - warmup, warmup_target=PEAK_RATE, warmup_steps=warmup, alpha=0.0
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


@app.command()
def train(
    data_folder: DataOrFetched = None,
    work: Work = Path("data/real/multi30k_run"),
    epochs: Epochs = 12,
    minutes: Minutes = 1e9,
    vocabulary_size: Annotated[int, typer.Option(help="Pieces to learn, about.")] = 6000,
    seed: Seed = 1,
) -> None:
    """Train, or go on training."""
    work = work / f"seed_{seed}"
    pieces, (training, validation, _) = prepared(work, data_folder, vocabulary_size, "de")
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


@app.command()
def score(
    data_folder: DataOrFetched = None,
    work: Work = Path("data/real/multi30k_run"),
    out: Out = recorded.FOLDER,
    seed: Seed = 1,
) -> None:
    """Translate test_2016_flickr and write this seed's part of the record."""
    try:
        from sacrebleu.metrics import BLEU
    except ImportError:
        raise SystemExit("scoring needs sacreBLEU: pip install sacrebleu") from None
    work = work / f"seed_{seed}"
    if not (work / "model.weights.h5").exists():
        raise SystemExit(f"{work} holds no trained weights: run train --seed {seed} first, or name another --work")
    pieces, (_, _, (english, german)) = prepared(work, data_folder, 0, "de")
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
    outcome = {
        "bleu": bleu,
        "cpu_seconds": training + sum(seconds.values()),
        "training_cpu_seconds": training,
        "translating_cpu_seconds": seconds,
        "epochs": epochs,
        "examples": [
            {"english": english[i], "german": german[i], **{name: texts[i] for name, texts in written.items()}}
            for i in shown
        ],
    }
    record = Record(
        "multi30k",
        "A small Transformer, English to German, BLEU on test_2016_flickr",
        "Multi30k (Elliott et al., 2016): 29,000 pairs to train on, 1,014 to validate, 1,000 in test_2016_flickr",
        out,
        empty={"seeds": {}},
        command="python experiments/multi30k.py train --data FOLDER --seed SEED, then score --data FOLDER --seed SEED",
    )
    seeds = dict(sorted({**record.results["seeds"], str(seed): outcome}.items()))
    record.results = {
        "signature": signature["greedy"],
        "parameters": model.count_params(),
        "model": {"D": D, "H": H, "F": F, "blocks": BLOCKS, "vocabulary": len(pieces.vocabulary)},
        "rule": f"sentences number {', '.join(str(i + 1) for i in shown)} of test_2016_flickr",
        "seeds": seeds,
    }
    file = record.save(sum(run["cpu_seconds"] for run in seeds.values()), seed=min(map(int, seeds)))
    print(f"{signature['greedy']}\nwritten: {file.name}")


if __name__ == "__main__":
    app()

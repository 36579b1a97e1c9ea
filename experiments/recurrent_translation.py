"""Translate French into English with recurrent attention, and with a Transformer of the same size and time.

    python experiments/recurrent_translation.py --data FOLDER      # needs: pip install sacrebleu

Bahdanau's decoder, Luong's with three scores, and a pre-norm Transformer have equally many parameters (within 2 %), and
each is trained for equally many PROCESSOR seconds on one thread, so that a busy machine costs patience and no quality.
The learning rate rises over the first tenth of them and falls to zero at the last. For each family, two peak rates
are tried first, with half of the seconds; the one with the smaller validation loss is used.

Each finished run is kept in --work: type the same command again, and it goes on where it stopped. A longer budget is
the same command with another --seconds; nothing of the shorter one is lost. When the last run is done, the
translations of test_2016_flickr are compared and `coursekit/lecture/recorded/recurrent_translation.json` is written,
which lecture 8b shows.
"""

from __future__ import annotations

import itertools
import json
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import keras
import numpy as np
import sentence_transformer
import tensorflow as tf
import typer
from corpus_bleu import bleu, overlaps, paired_difference
from records import DEVICE, DataOrFetched, Minutes, Out, Record, Seeds
from records import numbers as listed
from sentence_pieces import BATCH, PAD, START, Pieces, batches, prepared, smoothed_loss
from sentence_recurrence import SCORES, Translator, built, greedy

from coursekit.lecture import recorded

NAME = "recurrent_translation"
TRANSFORMER, BLOCKS = "Transformer", 2
UNITS = {"Bahdanau": 109, "Luong, dot": 137, "Luong, general": 129, "Luong, additive": 129}
KINDS = (*SCORES, TRANSFORMER)
RATES = (2e-3, 4e-3)
RATE_OF = {"Luong, dot": "Luong, general", "Luong, additive": "Luong, general"}  # tried for the other one
COLOURS = {
    french + ending: english
    for french, english, endings in (
        ("roug", "red", ("e", "es")),
        ("bleu", "blue", ("", "e", "s", "es")),
        ("vert", "green", ("", "e", "s", "es")),
        ("jaun", "yellow", ("e", "es")),
        ("noir", "black", ("", "e", "s", "es")),
        ("blanc", "white", ("", "he", "s", "hes")),
    )
    for ending in endings
}


def model_of(kind: str, vocabulary_size: int) -> keras.Model:
    """A new model, (source (B, S), target_in (B, T)) -> logits (B, T, V)."""
    if kind == TRANSFORMER:
        return sentence_transformer.build(vocabulary_size, BLOCKS)
    return built(kind, vocabulary_size, UNITS[kind])


def share_of_peak(spent: float) -> float:
    """The learning rate's share of its peak when a share of the seconds is spent: up over a tenth, then a cosine."""
    return spent / 0.1 if spent < 0.1 else (1 + math.cos(math.pi * (spent - 0.1) / 0.9)) / 2


class Trainer:
    """One kind of model with its compiled training step; every run starts it anew, from a seed."""

    def __init__(self, kind: str, vocabulary_size: int):
        self.new = lambda: model_of(kind, vocabulary_size)
        self.model = self.new()
        self.optimizer = keras.optimizers.Adam(0.0, beta_2=0.98, epsilon=1e-9, global_clipnorm=1.0)
        self.optimizer.build(self.model.trainable_variables)

        @tf.function(jit_compile=True)
        def step(source, reads, says):
            with tf.GradientTape() as tape:
                loss = smoothed_loss(says, self.model([source, reads], training=True))
            slopes = tape.gradient(loss, self.model.trainable_variables)
            self.optimizer.apply([tf.convert_to_tensor(slope) for slope in slopes], self.model.trainable_variables)
            return loss

        self.step = step
        self.lengths: set[int] = set()  # that have their compiled program

    def run(self, seed: int, rate: float, seconds: float, pairs: tf.data.Dataset) -> int:
        """Train for some processor seconds; returns the number of steps.

        The first step of each length makes that length's program; its seconds are not counted.
        """
        self._start_anew(seed)
        spent, steps = 0.0, 0
        for (source, reads), says in pairs.repeat():
            if spent >= seconds:
                break
            self.optimizer.learning_rate = rate * share_of_peak(spent / seconds)
            begun = time.process_time()
            self.step(source, reads, says).numpy()
            if source.shape[1] in self.lengths:
                spent += time.process_time() - begun
            self.lengths.add(source.shape[1])
            steps += 1
        return steps

    def run_steps(self, seed: int, rate: float, steps: int, pairs: tf.data.Dataset) -> None:
        """Train for a number of steps, so that a repetition trains the same, whatever the processor's speed."""
        self._start_anew(seed)
        for done, ((source, reads), says) in enumerate(pairs.repeat().take(steps)):
            self.optimizer.learning_rate = rate * share_of_peak(done / steps)
            self.step(source, reads, says)

    def _start_anew(self, seed: int) -> None:
        keras.utils.set_random_seed(seed)
        for old, fresh in zip(self.model.variables, self.new().variables, strict=True):
            old.assign(fresh)
        for variable in self.optimizer.variables:
            variable.assign(keras.ops.zeros_like(variable))


def mean_loss(model: keras.Model, pairs: tf.data.Dataset) -> float:
    """The smoothed loss of a model, a mean over all real pieces."""
    loss = tf.function(lambda source, reads, says: smoothed_loss(says, model([source, reads], training=False)))
    total = pieces = 0.0
    for (source, reads), says in pairs:
        real = float(np.sum(says.numpy() != PAD))
        total, pieces = total + real * float(loss(source, reads, says)), pieces + real
    return total / pieces


def colour_places(french: list[str], english: list[str]) -> tuple[int, int] | None:
    """Where a sentence names its only colour, in its French and in its English pieces; None where that is not clear."""
    there = [i for i, piece in enumerate(french) if piece in COLOURS]
    here = [i for i, piece in enumerate(english) if piece in set(COLOURS.values())]
    if len(there) == len(here) == 1 and COLOURS[french[there[0]]] == english[here[0]]:
        return there[0], here[0]
    return None


def looks(model: Translator, sources: list[np.ndarray], targets: list[np.ndarray]) -> list[np.ndarray]:
    """The weights (T, S) with which each true piece is expected, after the true ones before it."""
    look = tf.function(lambda source, reads: model.look(source, reads)[2], reduce_retracing=True)
    found = []
    for source, target in zip(sources, targets, strict=True):
        reads = np.append(START, target[:-1]).astype("int32")
        found.append(look(tf.constant(source[None]), tf.constant(reads[None])).numpy()[0].astype(float))
    return found


class Sentences:
    """The test set: French and English sentences, their pieces, and which of them name exactly one colour."""

    def __init__(self, pieces: Pieces, english: list[str], french: list[str]):
        self.pieces, self.english, self.french = pieces, english, french
        self.sources, self.targets = pieces.encode(french), pieces.encode(english)
        found = {i: colour_places(self.names(self.sources[i]), self.names(self.targets[i])) for i in range(len(french))}
        self.colours = {i: places for i, places in found.items() if places}
        self.shown = next(i for i in self.colours if 8 <= len(french[i].split()) <= 12)

    def names(self, row: np.ndarray) -> list[str]:
        return [self.pieces.vocabulary[number] for number in row]

    def translated(self, model: keras.Model) -> list[str]:
        if isinstance(model, Translator):
            return [self.pieces.decode(row) for row in greedy(model, self.sources)]
        return [self.pieces.decode(row) for row in sentence_transformer.translate(model, self.sources, 1)]

    def aligned(self, model: Translator) -> dict:
        """The mean weight on the French colour when the English one is due, and the weights of the sentence shown."""
        rows = list(self.colours)
        weights = looks(model, [self.sources[i] for i in rows], [self.targets[i] for i in rows])
        on = [each[here, there] for each, (there, here) in zip(weights, self.colours.values(), strict=True)]
        return {"colour": float(np.mean(on)), "weights": weights[rows.index(self.shown)].round(3).tolist()}


def kept(file: Path, compute: Callable[[], dict]) -> dict:
    """What a file holds; if there is none, it is computed and written."""
    if not file.exists():
        found = compute()
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(found, ensure_ascii=False), encoding="utf-8")
        shown = {key: value for key, value in found.items() if key not in ("texts", "alignment")}
        print(f"{file.stem}: {shown}", flush=True)
    return json.loads(file.read_text(encoding="utf-8"))


def judged(runs: dict[str, list[dict]], test: Sentences) -> dict:
    """BLEU of every run, by sacreBLEU, and the paired differences from Bahdanau's decoder."""
    from sacrebleu.metrics import BLEU
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    metric, unsmoothed, cut = BLEU(), BLEU(smooth_method="none"), Tokenizer13a()
    true = [cut(text).split() for text in test.english]
    tables: dict[str, list[np.ndarray]] = {}
    scored = []
    for kind, each in runs.items():
        tables[kind] = [
            np.array([overlaps(cut(text).split(), words) for text, words in zip(run["texts"], true, strict=True)])
            for run in each
        ]
        for run, table in zip(each, tables[kind], strict=True):
            value, same = (one.corpus_score(run["texts"], [test.english]).score for one in (metric, unsmoothed))
            assert abs(same - bleu(table)) < 0.01, f"sacreBLEU says {same}, corpus_bleu.py says {bleu(table)}"
            numbers = {key: value for key, value in run.items() if key not in ("texts", "alignment")}
            scored.append({"kind": kind} | numbers | {"BLEU": round(value, 2)})
    first, *others = runs
    return {
        "signature": str(metric.get_signature()),
        "runs": scored,
        "mean BLEU": {kind: round(float(np.mean([bleu(table) for table in tables[kind]])), 2) for kind in runs},
        f"{first} less": {
            other: [round(each, 2) for each in paired_difference(tables[first], tables[other])] for other in others
        },
    }


def shown(runs: dict[str, list[dict]], test: Sentences) -> dict:
    """What a page shows of the first seed: alignments of a sentence, and the weight on colours."""
    aligned = {kind: each for kind, each in runs.items() if kind in SCORES}
    source, target = test.names(test.sources[test.shown]), test.names(test.targets[test.shown])
    places = [(there, len(test.sources[i])) for i, (there, _) in test.colours.items()]
    return {
        "alignment": {
            "rule": "the first test sentence of 8 to 12 words with exactly one colour",
            "number": test.shown + 1,
            "french": source,
            "english": target,
            "weights": {kind: each[0]["alignment"]["weights"] for kind, each in aligned.items()},
        },
        "colours": {
            "sentences": len(test.colours),
            "equal weights": round(float(np.mean([1 / length for _, length in places])), 3),
            "weight": {kind: [round(run["alignment"]["colour"], 3) for run in each] for kind, each in aligned.items()},
        },
    }


def main(
    data_folder: DataOrFetched = None,
    work: Annotated[Path, typer.Option(help="Where the vocabulary and every finished run are kept.")] = Path(
        f"data/real/{NAME}_run"
    ),
    out: Out = recorded.FOLDER,
    seeds: Seeds = "1,2,3",
    seconds: Annotated[float, typer.Option(help="Processor seconds of training for each run.")] = 40,
    models: Annotated[str, typer.Option(help="The models, with semicolons between them.")] = "; ".join(KINDS),
    vocabulary_size: Annotated[int, typer.Option(help="Pieces to learn, about.")] = 3000,
    minutes: Minutes = 1e9,
) -> None:
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    until = time.monotonic() + 60 * minutes
    pieces, splits = prepared(work, data_folder, vocabulary_size, "fr")
    training, validation = (
        batches(pieces.encode(french), pieces.encode(english), shuffle=shuffle)
        for (english, french), shuffle in zip(splits[:2], (True, False), strict=True)
    )
    test, size, folder = Sentences(pieces, *splits[2]), len(pieces.vocabulary), work / f"{seconds:g} seconds"
    numbers, kinds = listed(seeds), [kind.strip() for kind in models.split(";")]
    trainers: dict[str, Trainer] = {}
    parameters = {kind: model_of(kind, size).count_params() for kind in kinds}
    print(f"{parameters}, {size:,} pieces, {len(test.colours)} test sentences with one colour", flush=True)

    def ran(kind: str, seed: int, rate: float, budget: float, *, final: bool) -> dict:
        if time.monotonic() > until:
            raise typer.Exit(75)
        if kind not in trainers:
            trainers[kind] = Trainer(kind, size)
        model, steps = trainers[kind].model, trainers[kind].run(seed, rate, budget, training)
        found = {"seed": seed, "peak rate": rate, "cpu seconds": budget, "steps": steps}
        found["passes"] = round(steps / int(training.cardinality()), 2)
        if not final:
            return found | {"validation loss": round(mean_loss(model, validation), 4)}
        return found | {"texts": test.translated(model), "alignment": test.aligned(model) if kind in SCORES else None}

    tried: dict[str, dict[float, float]] = {}
    for kind in dict.fromkeys(RATE_OF.get(kind, kind) for kind in kinds):
        tried[kind] = {
            rate: kept(
                folder / f"rate {rate:g}, {kind}.json",
                lambda kind=kind, rate=rate: ran(kind, 0, rate, seconds / 2, final=False),
            )["validation loss"]
            for rate in RATES
        }
    best = {kind: min(losses, key=losses.get) for kind, losses in tried.items()}
    runs: dict[str, list[dict]] = {kind: [] for kind in kinds}
    for seed, kind in itertools.product(numbers, kinds):
        rate = best[RATE_OF.get(kind, kind)]
        compute = lambda kind=kind, seed=seed, rate=rate: ran(kind, seed, rate, seconds, final=True)  # noqa: E731
        runs[kind].append(kept(folder / f"seed {seed}, {kind}.json", compute))
    record = Record(
        NAME,
        "French to English with recurrent attention and with a Transformer, equal in parameters and in seconds: "
        f"BLEU on test_2016_flickr. {len(numbers)} seeds of each of {len(kinds)} models, all far from "
        f"trained to the end: {seconds:g} processor seconds each",
        "Multi30k (Elliott et al., 2016; French: Elliott et al., 2017): 29,000 pairs to train on, 1,014 to "
        "validate, 1,000 in test_2016_flickr; upper and lower case as it is written",
        out,
        device=f"{DEVICE}, one thread",
        command=f"python experiments/{NAME}.py --data FOLDER --seconds {seconds:g} --seeds {seeds}"
        + ("" if kinds == list(KINDS) else f' --models "{models}"'),
        seed=numbers[0],
    )
    record.results = {
        "seconds of a run": seconds,
        "pieces": size,
        "batch": BATCH,
        "units": {kind: UNITS[kind] for kind in kinds if kind in UNITS} | {"blocks of the Transformer": BLOCKS},
        "parameters": parameters,
        "rates tried": {kind: {f"{rate:g}": loss for rate, loss in each.items()} for kind, each in tried.items()},
        **judged(runs, test),
        **shown(runs, test),
    }
    file = record.save(seconds * (len(numbers) * len(kinds) + len(tried) * len(RATES) / 2))
    print(f"written: {file.name}")


app = typer.Typer(add_completion=False)
app.command(help=__doc__)(main)

if __name__ == "__main__":
    app()

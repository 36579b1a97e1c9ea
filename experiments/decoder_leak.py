"""Train lecture 8's Transformer with its mask, without it and with corrupted prefixes, and ask what each has learned.

    python experiments/decoder_leak.py --seeds 8,1,2

For each seed three models start from the same weights, at the same learning rates: with the look-ahead mask, without
it, and with the mask while a tenth of the digits that the decoder reads is false. It writes
`coursekit/lecture/recorded/decoder_leak.json`, which lecture 8 and its evidence show.
"""

from __future__ import annotations

import itertools
import time
from typing import Annotated

import keras
import numpy as np
import typer
from records import Record, Seeds, rounded

from coursekit.lecture import date_translator
from coursekit.lecture.date_translator import START, TARGET_LENGTH, Pairs, V
from coursekit.lecture.pages.decoder_and_masking import plain_transformer, write_greedily

NAME, EPOCHS, CORRUPTED = "decoder_leak", 5, 0.1
LINES = 1_000  # unseen lines for the tests with false digits
RUNS = {"mask": (True, 0.0), "no mask": (False, 0.0), "mask, corrupted prefixes": (True, CORRUPTED)}

app = typer.Typer(add_completion=False, help=__doc__)


def read_by(target: np.ndarray) -> np.ndarray:
    """What the decoder reads: the start token, then the target (N, T) without its last token."""
    return np.insert(target[:, :-1], 0, START, axis=1)


def corrupted(reads: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    """A copy of (N, T) in which this share of the digits, drawn at random, is replaced by other digits."""
    hit = rng.random(reads.shape) < share
    hit[:, 0] = False  # the start token stays
    return np.where(hit, date_translator.false_digits(reads, rng), reads)


def predicted(model: keras.Model, source: np.ndarray, reads: np.ndarray) -> np.ndarray:
    """The most probable token at each position, (N, T)."""
    return np.argmax(model.predict([source, reads], batch_size=500, verbose=0), axis=-1)


def with_mask(model: keras.Model, causal: bool) -> keras.Model:
    """A model with the same weights, and with or without the look-ahead mask."""
    twin = plain_transformer(V, causal=causal)
    twin.set_weights(model.get_weights())
    return twin


def both_ways(model: keras.Model, test: Pairs) -> dict[str, np.ndarray]:
    """What a model predicts while it reads the target, and what it writes alone, (N, T) each."""
    reading = predicted(model, test.source, read_by(test.target))
    return {"reading": reading, "alone": write_greedily(model, test.source, START, TARGET_LENGTH)}


def own_mistakes(written: dict[str, np.ndarray], test: Pairs) -> dict[str, object]:
    """How many tokens are wrong after correct prefixes and after a model's own: of all, and after its first mistake."""
    wrong = {name: ids != test.target for name, ids in written.items()}  # (N, T) each
    first = wrong["alone"].argmax(axis=1)  # (N,)
    lines = np.flatnonzero(wrong["alone"].any(axis=1) & (first < TARGET_LENGTH - 1))
    behind = np.arange(TARGET_LENGTH) > first[lines, None]  # (lines, T)
    return {
        "dates": len(lines),
        "tokens behind": int(behind.sum()),
        "wrong": {name: int(each.sum()) for name, each in wrong.items()},
        "wrong next": {name: int(each[lines, first[lines] + 1].sum()) for name, each in wrong.items()},
        "wrong behind": {name: int(each[lines][behind].sum()) for name, each in wrong.items()},
    }


def shares(written: dict[str, np.ndarray], test: Pairs) -> dict[str, object]:
    """The share of dates without a mistake, reading the target and written alone, and the first line written."""
    alone = written["alone"]
    right = {name: float((ids == test.target).all(axis=1).mean()) for name, ids in written.items()}
    return right | {"first line written": date_translator.text(alone[0])}


def copied(model: keras.Model, test: Pairs) -> list[float]:
    """By digit: how often a model predicts the false digit one position to the right of what it may read."""
    rng, result = np.random.default_rng(3), []
    for t in range(TARGET_LENGTH - 1):
        reads = read_by(test.target)
        reads[:, t + 1] = date_translator.false_digits(reads[:, t + 1], rng)
        result.append(float((predicted(model, test.source, reads)[:, t] == reads[:, t + 1]).mean()))
    return result


def after_a_false_digit(model: keras.Model, test: Pairs) -> list[list[float]]:
    """Share correct by position (T columns), with one false digit in the prefix (8 rows)."""
    rng, rows = np.random.default_rng(3), []
    for t in range(TARGET_LENGTH - 1):
        reads = read_by(test.target)
        reads[:, t + 1] = date_translator.false_digits(reads[:, t + 1], rng)
        rows.append((predicted(model, test.source, reads) == test.target).mean(axis=0).tolist())
    return rows


def run(name: str, seed: int) -> dict[str, object]:
    """Train one of `RUNS` from a seed and return what is recorded of it."""
    training, test = date_translator.task()
    few = Pairs(*(ids[:LINES] for ids in test))
    causal, share = RUNS[name]
    keras.utils.set_random_seed(seed)
    model = plain_transformer(V, causal=causal)
    reads = corrupted(read_by(training.target), share, np.random.default_rng(seed))
    started = time.process_time()
    history = date_translator.train(model, training.source, reads, training.target, EPOCHS)
    masked = with_mask(model, True)
    result = {"losses": history["loss"], "seconds": time.process_time() - started}
    written = both_ways(masked, test)
    result |= {"mask on": shares(written, test), "after a false digit": after_a_false_digit(masked, few)}
    if not share:
        unmasked = both_ways(with_mask(model, False), test)
        result |= {"mask off": shares(unmasked, test), "copied": copied(model, few)}
    if causal:
        result["own mistakes"] = own_mistakes(written, test)
    return result


@app.command(help=__doc__)
def main(
    seeds: Seeds = "8,1,2",
    only: Annotated[str, typer.Option(help="Train this one of the three and add it to the record.")] = "",
) -> None:
    what = "The date translator of lecture 8 with its mask, without it and with corrupted prefixes"
    record = Record(NAME, what, "dates, made by coursekit.lecture.dates; 3,000 days held back")
    for seed, name in itertools.product(seeds.split(","), [only] if only else RUNS):
        started = time.process_time()
        record.results.setdefault(seed, {})[name] = rounded(run(name, int(seed)))
        spent = time.process_time() - started
        command = f"python experiments/{NAME}.py --seeds {','.join(record.results)}"
        record.add(spent, seed=int(seed), command=command)
        print(f"seed {seed}, {name}: recorded after {spent:.0f} CPU seconds", flush=True)


if __name__ == "__main__":
    app()

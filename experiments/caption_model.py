"""Train a small decoder-only model of captions and measure what each way of choosing the next word writes.

    python experiments/caption_model.py --data FOLDER

The captions are Multi30k's. The weights of the first seed go to `coursekit/lecture/recorded/caption_model.npz`, which
lecture 8b loads; the numbers of all seeds go to `caption_model.json` in the same folder. All numbers are those of the
weights in float16, as they are shipped.
"""

from __future__ import annotations

import collections
import time
from typing import Annotated

import keras
import numpy as np
import typer
from keras import layers, ops
from language_model import batches, compile_for, words_and_rows
from records import DataOrFetched, Out, Record, numbers

from coursekit.lecture import captions, recorded
from coursekit.lecture.captions import END, START, UNKNOWN
from coursekit.lecture.pages.caption_model import PlainCaptionModel, beam, drawn, most_probable, write

NAME = "caption_model"
RARE = 5  # words that occur less often are unknown
D, H, F, BLOCKS, DROPOUT = 80, 4, 320, 2, 0.1
PEAK_RATE = 4e-3
TEMPERATURES = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5)
CUTS = {"all words": {}, "top-k, k = 20": {"top_k": 20}, "top-p, p = 0.9": {"top_p": 0.9}}
COUNT = 150  # captions written at each setting
WIDTHS, PENALISED = (1, 4, 16, 64), 4  # beams, and the one that is also tried with length penalties

app = typer.Typer(add_completion=False, help=__doc__)


def normed(x):
    """RMS norm without a gain: (…, D) to (…, D)."""
    return x / ops.sqrt(ops.mean(ops.square(x), axis=-1, keepdims=True) + 1e-6)


class CaptionModel(keras.Model):
    """Ids (B, T) to logits (B, T, V): the model of `PlainCaptionModel`, for training, with dropout."""

    def __init__(self, vocabulary: int):
        super().__init__()
        start = keras.initializers.RandomNormal(stddev=D**-0.5)
        self.table = self.add_weight(shape=(vocabulary, D), initializer=start, name="table")
        self.parts = [
            {name: layers.Dense(F if name == "widen" else D, use_bias=False) for name in NAMES} for _ in range(BLOCKS)
        ]
        self.dropout, self.rows = layers.Dropout(DROPOUT), captions.waves(captions.LONGEST, D)

    def call(self, ids, training=None):
        batch, length = ops.shape(ids)[0], ops.shape(ids)[1]
        x = ops.take(self.table, ids, axis=0) * D**0.5 + ops.convert_to_tensor(self.rows)[:length]  # (B, T, D)
        x, seen = self.dropout(x, training=training), ops.tril(ops.ones((length, length), "bool"))
        for part in self.parts:
            q, k, v = (
                ops.transpose(ops.reshape(part[name](normed(x)), (batch, length, H, D // H)), (0, 2, 1, 3))
                for name in ("w_q", "w_k", "w_v")
            )  # (B, H, T, K)
            scores = ops.matmul(q, ops.transpose(k, (0, 1, 3, 2))) * (D // H) ** -0.5  # (B, H, T, T)
            read = ops.matmul(ops.softmax(ops.where(seen, scores, -1e9), axis=-1), v)  # (B, H, T, K)
            read = part["w_o"](ops.reshape(ops.transpose(read, (0, 2, 1, 3)), (batch, length, D)))
            x = x + self.dropout(read, training=training)
            x = x + self.dropout(part["narrow"](ops.relu(part["widen"](normed(x)))), training=training)
        return ops.matmul(normed(x), ops.transpose(self.table))  # (B, T, V)

    def exported(self) -> dict[str, np.ndarray]:
        """The weights under the names of `coursekit.lecture.captions.with_constants`, rounded to float16."""
        stacked = {name: np.stack([np.asarray(part[name].kernel) for part in self.parts]) for name in NAMES}
        return {name: array.astype("float16") for name, array in ({"table": np.asarray(self.table)} | stacked).items()}


NAMES = ("w_q", "w_k", "w_v", "w_o", "widen", "narrow")


def trained(rows: list[list[int]], words: int, epochs: int, seed: int) -> tuple[CaptionModel, list[float]]:
    """A model and its loss by epoch, trained with AdamW, 300 warm-up steps and a fall of the rate to zero."""
    keras.utils.set_random_seed(seed)
    model, pairs = CaptionModel(words), batches(rows)
    compile_for(model, epochs * int(pairs.cardinality()), PEAK_RATE)
    losses = model.fit(pairs, epochs=epochs, verbose=2).history["loss"]
    return model, losses


def log_p_of(model: PlainCaptionModel, rows: list[list[int]]) -> np.ndarray:
    """The log p of whole captions (N,), start and end included in the rows."""
    totals = np.zeros(len(rows))
    padded = keras.utils.pad_sequences(rows, padding="post", value=END)  # (N, T)
    cache = model.empty(len(rows))
    for t in range(padded.shape[1] - 1):
        log_p, cache = model(padded[:, t], cache)
        real = np.array([t + 1 < len(row) for row in rows])
        totals += np.where(real, log_p[np.arange(len(rows)), padded[:, t + 1]], 0)
    return totals


def plain(row) -> list[int]:
    """The words of a written row, without start and ends."""
    return [int(number) for number in row if number not in (START, END)]


def known_share(rows, known: set) -> float:
    """The share of the strings of four words that occur in the training captions."""
    strings = [tuple(row[i : i + 4]) for row in map(plain, rows) for i in range(len(row) - 3)]
    return float(np.mean([string in known for string in strings]))


def measured(model: PlainCaptionModel, unseen: list[list[int]], known: set, words: list[str]) -> dict:
    """What one model gives to unseen captions, and what it writes by each way of choosing."""

    def text(ids):
        return " ".join(words[number] for number in plain(ids))

    rng = np.random.default_rng(0)
    real, (ids, totals) = log_p_of(model, unseen), write(model, 300, drawn(rng))
    lengths = [np.mean([len(plain(row)) + 1 for row in rows]) for rows in (unseen, ids)]
    count = sum(len(row) - 1 for row in unseen)
    found = {
        "unseen": {"mean log p": real.mean(), "tokens": lengths[0], "perplexity": np.exp(-real.sum() / count)},
        "drawn": {"mean log p": totals.mean(), "tokens": lengths[1], "largest log p": totals.max()},
        "searched": {},
    }
    for width in WIDTHS:
        for alpha in (0.0, 0.6, 1.0) if width == PENALISED else (0.0,):
            best, total = beam(model, width, alpha)
            found["searched"][f"beam {width}, alpha {alpha}"] = {
                "log p": total,
                "tokens": len(best) - 1,
                "text": text(best),
            }
    limit = max(search["log p"] for search in found["searched"].values())
    best, total, continued = most_probable(model, limit)
    found["searched"]["exact"] = {"log p": total, "tokens": len(best) - 1, "text": text(best), "continued": continued}
    found["settings"] = {}
    for name, cut in CUTS.items():
        found["settings"][name] = {}
        for temperature in TEMPERATURES:
            ids, totals = write(model, COUNT, drawn(rng, temperature=temperature, **cut))
            rows = [tuple(plain(row)) for row in ids]
            found["settings"][name][str(temperature)] = {
                "known": known_share(rows, known),
                "different captions": len(set(rows)) / COUNT,
                "words": float(np.mean([len(row) for row in rows])),
                "samples": [text(row) for row in ids[:3]],
            }
    return found


def count_in_training(results: dict, train: list[list[int]], words: list[str]) -> None:
    """Note how often each seed's most probable caption stands among the training captions."""
    texts = collections.Counter(" ".join(words[number] for number in plain(row)) for row in train)
    for run in results["seeds"].values():
        run["searched"]["exact"]["times in training"] = texts[run["searched"]["exact"]["text"]]


def rounded(value):
    """The same structure with numbers of four digits."""
    if isinstance(value, dict):
        return {name: rounded(each) for name, each in value.items()}
    if isinstance(value, list):
        return [rounded(each) for each in value]
    return float(f"{value:.4g}") if isinstance(value, float | np.floating) else value


@app.command(help=__doc__)
def main(
    data_folder: DataOrFetched = None,
    epochs: Annotated[int, typer.Option(help="Passes over the 29,000 captions.")] = 2,
    seeds: Annotated[str, typer.Option(help="The seeds; the first one's weights are kept.")] = "1,2,3",
    count: Annotated[bool, typer.Option("--count", help="Train nothing: count the recorded captions.")] = False,
    out: Out = recorded.FOLDER,
) -> None:
    began = time.process_time()
    words, (train, _, test) = words_and_rows(data_folder, captions.SPECIAL, RARE)  # the same ids for special words
    unseen = [row for row in test if UNKNOWN not in row]
    known = {tuple(row[i : i + 4]) for row in map(plain, train) for i in range(len(row) - 3)}
    results = {
        "model": {"D": D, "H": H, "F": F, "blocks": BLOCKS, "dropout": DROPOUT, "epochs": epochs},
        "words": len(words),
        "training captions": len(train),
        "unseen captions": len(unseen),
        "unseen captions with an unknown word": len(test) - len(unseen),
        "unseen, known strings of four words": known_share(unseen, known),
        "unseen, words": float(np.mean([len(plain(row)) for row in unseen])),
        "rule": "the first 20 of the test captions without an unknown word",
        "captions": [" ".join(words[word] for word in plain(row)) for row in unseen[:20]],
        "seeds": {},
    }
    record = Record(
        NAME,
        "A decoder-only model of English captions, and what each way of choosing the next word writes",
        "English captions of Multi30k (Elliott et al., 2016): 29,000 to train on, test_2016_flickr unseen",
        out,
        command=f"python experiments/{NAME}.py --data FOLDER",
        seed=1,
    )
    if count:
        count_in_training(record.results, train, words)
        record.add(time.process_time() - began)
        return
    for seed in numbers(seeds):
        network, losses = trained(train, len(words), epochs, seed)
        weights = network.exported()
        model = PlainCaptionModel(captions.with_constants(weights))
        if not results["seeds"]:
            out.mkdir(parents=True, exist_ok=True)
            captions.save(words, weights, out / f"{NAME}.npz")
            results["parameters"] = sum(array.size for array in weights.values())
            results["log p of the unseen captions"] = log_p_of(model, unseen).round(1).tolist()
        results["seeds"][str(seed)] = {"training loss": losses} | measured(model, unseen, known, words)
        count_in_training(results, train, words)
        print(seed, rounded(results["seeds"][str(seed)]), f"{time.process_time() - began:.0f} s", flush=True)
        record.results = rounded(results)
        record.save(time.process_time() - began)


if __name__ == "__main__":
    app()

"""Where do the digits of a date look? The cross-attention of lecture 8's Transformer, beside what equal weights give.

    python experiments/date_alignment.py --seeds 8,1,2

Every token of a source line belongs to its year, month, day, weekday or is a sign. For each digit that is written
correctly the record holds how much of the cross-attention's weight lies on each part, and how much equal weights would
put there. It writes `coursekit/lecture/recorded/date_alignment.json`, which lecture 8b shows.
"""

from __future__ import annotations

import time

import keras
import numpy as np
import typer
from records import Record, Seeds, numbers

from coursekit.lecture import date_translator, dates
from coursekit.lecture.date_translator import START, V
from coursekit.lecture.pages.decoder_and_masking import PlainDecoderBlock, plain_transformer

NAME, EPOCHS, LINES = "date_alignment", 5, 1_000
PARTS = ("year", "month", "day", "weekday", "sign")
FIELDS = ("Y1", "Y2", "Y3", "Y4", "M1", "M2", "D1", "D2", "end")
SHOWN = 3  # unseen lines whose weights are recorded whole

app = typer.Typer(add_completion=False, help=__doc__)


def parts_of(line: list[str]) -> list[str]:
    """What each token of a source line belongs to; the year is always the last four digits."""
    parts, field = [], "month" if "/" in line else "day"
    for place, token in enumerate(line):
        if token in ("/", "."):
            field = "day" if token == "/" else "month"
        named = {token in ("/", "."): "sign", token in dates.MONTHS: "month", token in dates.WEEKDAYS: "weekday"}
        parts.append("year" if place >= len(line) - 4 else named.get(True, field))
    return parts


def cross_attention(model: keras.Model, source: np.ndarray, reads: np.ndarray) -> np.ndarray:
    """The weights of the cross-attention, mean over the heads: (N, blocks, T, S)."""
    blocks = [layer for layer in model.layers if isinstance(layer, PlainDecoderBlock)]
    entering = keras.Model(model.inputs, [block.input for block in blocks])
    found = []
    for block, (x, memory, visible) in zip(blocks, entering([source, reads]), strict=True):
        x = block.norms[0](x + block.read_target(query=x, value=x, use_causal_mask=True))  # (N, T, D)
        _, weights = block.read_source(query=x, value=memory, attention_mask=visible, return_attention_scores=True)
        found.append(np.asarray(weights).mean(axis=1))  # (N, T, S)
    return np.stack(found, axis=1)


def run(seed: int) -> dict[str, object]:
    """Train with a seed; the shares of weight by part, and what equal weights give, on lines written correctly."""
    training, test = date_translator.task()
    source, target = test.source[:LINES], test.target[:LINES]
    reads, all_reads = (np.insert(ids[:, :-1], 0, START, axis=1) for ids in (target, training.target))
    keras.utils.set_random_seed(seed)
    model = plain_transformer(V)
    date_translator.train(model, training.source, all_reads, training.target, EPOCHS)
    right = (np.argmax(model.predict([source, reads], verbose=0), axis=-1) == target).all(axis=1)  # (N,)
    belongs = np.zeros((LINES, source.shape[1], len(PARTS)))  # padding belongs to nothing
    for row, line in enumerate(source):
        for place, part in enumerate(parts_of(dates.decode(line))):
            belongs[row, place, PARTS.index(part)] = 1
    weights = cross_attention(model, source, reads)
    equal = belongs.sum(axis=1) / belongs.sum(axis=(1, 2))[:, None]  # (N, parts)
    shares = np.einsum("nbts,nsp->nbtp", weights, belongs)[right].mean(axis=0)  # (blocks, T, parts)
    return {
        "lines": int(right.sum()),
        "shares": shares.round(4).tolist(),
        "equal": equal[right].mean(axis=0).round(4).tolist(),
        "examples": [
            {
                "source": date_translator.text(source[row]),
                "target": date_translator.text(target[row]),
                "weights": weights[row, -1, :, : (source[row] > 0).sum()].round(3).tolist(),
            }
            for row in np.flatnonzero(right)[:SHOWN]
        ],
    }


@app.command(help=__doc__)
def main(seeds: Seeds = "8,1,2") -> None:
    record = Record(
        NAME,
        "Cross-attention of a Transformer that writes dates: weight by part of the source",
        "coursekit.lecture.dates, one date a line; days that no training line has shown",
        empty={"parts": list(PARTS), "fields": list(FIELDS), "seeds": {}},
        command=f"python experiments/{NAME}.py --seeds 8,1,2",
        seed=8,
    )
    for seed in numbers(seeds):
        began, found = time.process_time(), run(seed)
        record.results["seeds"][str(seed)] = found
        print(seed, found["equal"], flush=True)
        record.add(time.process_time() - began)


if __name__ == "__main__":
    app()

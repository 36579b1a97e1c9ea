"""Translate the course's running sentence from French with Luong's additive attention, and record where it looks.

    python experiments/caption_alignment.py --data FOLDER

One translator of `recurrent_translation.py` (the same pieces, model and batches) is trained for a number of steps on
one thread, and then reads line 7 of the validation set and its twin, in which the colours have changed places. The
learning rate rises over the first tenth of the steps and falls to zero at the last. Weights are recorded word by word:
summed over the pieces of a French word, averaged over the pieces of an English one. Lecture 1 shows them.
"""

from __future__ import annotations

import itertools
import time
from pathlib import Path
from typing import Annotated

import keras
import numpy as np
import tensorflow as tf
import typer
from records import DEVICE, DataOrFetched, Out, Record
from recurrent_translation import RATES, Trainer, looks, mean_loss
from sentence_pieces import Pieces, batches, prepared
from sentence_recurrence import greedy

from coursekit.lecture import recorded

NAME = "caption_alignment"
KIND = "Luong, additive"
LINE = 7
TWIN = ("Un chien noir court après le chien brun.", "A black dog is running after the brown dog.")


def word_starts(names: list[str]) -> list[int]:
    """Where the words of a row of pieces begin; a piece that goes on with a word carries "##"."""
    return [i for i, name in enumerate(names) if not name.startswith("##")]


def by_word(weights: np.ndarray, source: list[str], target: list[str]) -> tuple[list[str], list[str], np.ndarray]:
    """Turn weights between pieces (T, S) into weights between words: summed over a key's pieces, mean over a query's.

    Returns the words of the target and of the source, and their weights, whose rows sum to 1.
    """
    keys, queries = word_starts(source), word_starts(target)
    summed = np.add.reduceat(weights[: len(target)], keys, axis=1)  # (T, source words)
    lengths = np.diff([*queries, len(target)])
    means = np.add.reduceat(summed, queries, axis=0) / lengths[:, None]  # (target words, source words)
    joined = [
        ["".join(names[a:b]).replace("##", "") for a, b in itertools.pairwise([*starts, len(names)])]
        for names, starts in ((target, queries), (source, keys))
    ]
    return joined[0], joined[1], means


def looked_at(model, pieces: Pieces, french: str, english: str) -> dict:
    """The model's translation of a sentence, and the weights with which the true English words are predicted."""
    (source,), (target,) = pieces.encode([french]), pieces.encode([english])
    names = [[pieces.vocabulary[number] for number in row] for row in (source, target)]
    words, keys, weights = by_word(looks(model, [source], [target])[0], *names)
    written = pieces.decode(greedy(model, [source])[0])
    return {"french": keys, "english": words, "weights": weights.round(3).tolist(), "written": written}


def main(
    data_folder: DataOrFetched = None,
    work: Annotated[Path, typer.Option(help="Where the vocabulary is kept.")] = Path(f"data/real/{NAME}_run"),
    out: Out = recorded.FOLDER,
    seed: Annotated[int, typer.Option(help="The seed.")] = 1,
    steps: Annotated[int, typer.Option(help="Training steps, of 64 pairs.", min=1)] = 250,
) -> None:
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    pieces, splits = prepared(work, data_folder, 3000, "fr")
    keras.utils.set_random_seed(seed)  # before there are batches: it decides in which order they come
    training, validation = (
        batches(pieces.encode(french), pieces.encode(english), shuffle=shuffle)
        for (english, french), shuffle in zip(splits[:2], (True, False), strict=True)
    )
    trainer = Trainer(KIND, len(pieces.vocabulary))
    begun = time.process_time()
    trainer.run_steps(seed, RATES[1], steps, training)
    seconds = time.process_time() - begun
    english, french = (texts[LINE - 1] for texts in splits[1])
    record = Record(
        NAME,
        "French to English with additive attention: the weights between the words of the course's running "
        "sentence and of its twin, while the true English words are predicted; one seed",
        "Multi30k (Elliott et al., 2016; French: Elliott et al., 2017): 29,000 pairs to train on; the sentence is "
        f"line {LINE} of the validation set, as it stands; the twin is ours",
        out,
        device=f"{DEVICE}, one thread",
        command=f"python experiments/{NAME}.py --data FOLDER --steps {steps}",
        seed=seed,
    )
    record.results = {
        "steps": steps,
        "passes": round(steps / int(training.cardinality()), 2),
        "validation loss": round(mean_loss(trainer.model, validation), 4),
        "caption": looked_at(trainer.model, pieces, french, english),
        "twin": looked_at(trainer.model, pieces, *TWIN),
    }
    print(f"written: {record.save(seconds).name}")


app = typer.Typer(add_completion=False)
app.command(help=__doc__)(main)

if __name__ == "__main__":
    app()

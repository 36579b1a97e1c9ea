"""Count Python's own library as lecture 10 does, on less text and beside neighbours; and what a made-up name is worth.

    python experiments/library_counting.py

It writes `coursekit/lecture/recorded/library_counting.json`, which lecture 10 shows. Nothing is trained.
"""

from __future__ import annotations

import platform
import time
from typing import Any

import numpy as np
import typer
from library_copying import CONSONANTS, LETTERS, VOWELS, with_names
from library_language_model import Text, text_of
from records import Out, Record

from coursekit.lecture import recorded
from coursekit.lecture.pages.counted import KneserNey, WittenBell
from coursekit.lecture.pages.windows import BATCH, LENGTH

NAME = "library_counting"
ORDER = 4  # tokens of the longest strings that Witten–Bell counts, as on the page
LONGEST = 6  # and of those that Kneser–Ney counts
AMOUNTS = tuple(steps * BATCH * LENGTH for steps in (80, 160, 320, 640))  # as many tokens as a network has then read
WINDOWS = 256  # of held-out text, the part that the page judges on
STRING = 8  # tokens of the strings that are looked for in the training text


def counted(text: Text, stream: np.ndarray) -> dict[str, Any]:
    """Bits a byte of held-out text for each order, all of it and the page's part, after counting a stream."""
    model = WittenBell(stream, ORDER, text.vocab_size)
    better = [KneserNey(stream, order, text.vocab_size) for order in range(1, LONGEST + 1)]
    judged = {
        "all held-out text": text.held_out_stream,
        "the page's part": text.held_out_stream[: WINDOWS * LENGTH + 1],
    }
    return (
        {"tokens": len(stream)}
        | {name: np.round(model.bits_per_byte(some, text.token_bytes), 4).tolist() for name, some in judged.items()}
        | {
            f"Kneser-Ney, {name}": [round(each.bits_per_byte(some, text.token_bytes), 4) for each in better]
            for name, some in judged.items()
        }
    )


def in_order(text: Text, seed: int) -> np.ndarray:
    """The training functions as one stream, in an order of the seed."""
    order = np.random.default_rng(seed).permutation(len(text.train))
    return text.pairs.stream([text.train[place] for place in order])


def strings(stream: np.ndarray) -> np.ndarray:
    """All different strings of `STRING` tokens of a stream, each as one value of raw bytes."""
    rows = np.lib.stride_tricks.sliding_window_view(stream.astype("int16"), STRING)
    return np.unique(np.ascontiguousarray(rows).view(f"V{2 * STRING}"))


def neighbours(text: Text, seed: int) -> dict[str, Any]:
    """One random half of each held-out module, judged after counting with and without the other half.

    Both texts have the same number of tokens: for the other half, as many tokens of other modules are left out.
    """
    rng, modules = np.random.default_rng(seed), np.array(text.held_out_modules)
    judged = np.zeros(len(modules), bool)
    for module in np.unique(modules):
        places = rng.permutation(np.flatnonzero(modules == module))
        judged[places[: len(places) // 2]] = True
    test, beside = (
        text.pairs.stream([each for each, there in zip(text.held_out, half, strict=True) if there])
        for half in (judged, ~judged)
    )
    without = in_order(text, seed)
    found: dict[str, Any] = {"seed": seed, "functions": int(judged.sum()), "tokens": len(without)}
    for name, stream in (
        ("without", without),
        ("with neighbours", np.concatenate([beside, without[: len(without) - len(beside)]])),
    ):
        bits = WittenBell(stream, ORDER, text.vocab_size).bits_per_byte(test, text.token_bytes)[-1]
        new = 1 - np.isin(strings(test), strings(stream)).mean()
        found[name] = {"bits a byte": round(bits, 4), f"new strings of {STRING}": round(float(new), 4)}
    return found


def names(text: Text) -> dict[str, float]:
    """Tokens of a made-up name at its third occurrence; nats when all tokens, or all such names, are equally likely."""
    spans = with_names(text.pairs, text.held_out, seed=0)["same"].spans
    tokens = float(np.mean([end - begin for *_, (begin, end) in spans]))
    law = LETTERS / 2 * (np.log(len(CONSONANTS)) + np.log(len(VOWELS)))
    return {
        "functions": len(spans),
        "tokens": round(tokens, 3),
        "nats, equal tokens": round(tokens * float(np.log(text.vocab_size)), 2),
        "nats, equal names": round(float(law), 2),
    }


def main(out: Out = recorded.FOLDER) -> None:
    """Count, judge, and write the record."""
    began, text = time.process_time(), text_of()
    record = Record(
        NAME,
        "Counted models of Python source on less text and beside neighbours; what a made-up name costs",
        f"Functions of the standard library of Python {platform.python_version()} (PSF licence)",
        out,
        seed=1,
    )
    results = record.results = {"names": names(text), "all text": counted(text, text.stream), "less text": []}
    print(results, flush=True)
    for seed in (1, 2, 3):
        stream = in_order(text, seed)
        for amount in AMOUNTS:
            results["less text"].append({"seed": seed} | counted(text, stream[:amount]))
            print(results["less text"][-1], flush=True)
    results["neighbours"] = []
    for seed in (1, 2, 3):
        results["neighbours"].append(neighbours(text, seed))
        print(results["neighbours"][-1], flush=True)
    record.save(time.process_time() - began)


if __name__ == "__main__":
    typer.run(main)

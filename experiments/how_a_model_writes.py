"""SmolLM2 goes on where people began, with each way of choosing the next token; and a draft that is looked up for it.

    python experiments/how_a_model_writes.py --data FOLDER

The beginnings are those of film reviews of IMDb's test split (Maas et al. 2011); what the reviewer wrote
is measured beside what the model writes. The special tokens are never written, so all texts are equally long. A word is
known if one of the 25,000 training reviews contains it. "Turns round": the last 16 tokens stand in the text a second
time. The draft is what followed the last two tokens earlier in the text; the model checks it in one call.
"""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from records import Record

from coursekit import data
from coursekit.lecture.pages.caption_model import drawn
from coursekit.lecture.pages.smollm2 import PlainSmolLM2, numbers_and_tokens

NAME = "how_a_model_writes"
REVIEWS, BEGIN, LENGTH, SPECIAL = 10, 32, 160, 17
WAYS: dict[str, dict[str, float] | None] = {
    "greedy": None,
    "temperature 1": {},
    "temperature 1.5": {"temperature": 1.5},
    "top-p, p = 0.9": {"top_p": 0.9},
    "temperature 0.7, top-k 40": {"temperature": 0.7, "top_k": 40},
    "temperature 1.5, top-p 0.9": {"temperature": 1.5, "top_p": 0.9},
}
DRAFT = 8  # tokens that are looked up at once, at most
WORD = re.compile(r"[a-z]+")


def continued(
    model: PlainSmolLM2, begun: np.ndarray, settings: dict[str, float] | None
) -> tuple[np.ndarray, np.ndarray]:
    """Beginnings (n, t) and what the model writes after them, (n, LENGTH); and the nats of what it wrote."""
    choose = (lambda log_p: log_p.argmax(axis=-1)) if settings is None else drawn(np.random.default_rng(0), **settings)
    ids, nats, (log_p, cache) = begun, [], model(begun)
    while ids.shape[1] < LENGTH:
        now = log_p[:, -1]
        now[:, :SPECIAL] = -np.inf  # the special tokens come first
        new = choose(now)
        nats.append(-now[np.arange(len(new)), new])
        ids = np.hstack([ids, new[:, None]])
        log_p, cache = model(new[:, None], cache)
    return ids, np.stack(nats, axis=1)


def nats_of(model: PlainSmolLM2, ids: np.ndarray) -> np.ndarray:
    """The nats of what stands after the beginning, read text by text: (n, LENGTH - BEGIN)."""
    read = [model(row[None, :-1])[0][0, BEGIN - 1 :] for row in ids]
    return np.stack([-log_p[np.arange(len(log_p)), row[BEGIN:]] for log_p, row in zip(read, ids, strict=True)])


def judged(ids: np.ndarray, nats: np.ndarray, decode: Any, known: set[str]) -> dict[str, Any]:
    """What is measured of texts (n, LENGTH), all behind the beginning."""
    again, rounds, words, unknown = [], [], 0, 0
    for row in ids:
        strings = [tuple(row[place : place + 4]) for place in range(LENGTH - 3)]
        again.append([strings[place] in strings[:place] for place in range(BEGIN, LENGTH - 3)])
        last = tuple(row[-16:])
        rounds.append(any(tuple(row[place : place + 16]) == last for place in range(LENGTH - 16)))
        written = WORD.findall(decode(row[BEGIN:].tolist()).lower())
        words, unknown = words + len(written), unknown + sum(word not in known for word in written)
    windows = nats.reshape(len(ids), -1, 16)  # (n, windows, 16)
    return {
        "nats a token": round(float(np.mean(nats)), 3),
        "by text": [round(float(each), 2) for each in nats.mean(axis=1)],
        "nats by 16 tokens": [round(float(each), 3) for each in windows.mean(axis=(0, 2))],
        "strings of four seen before": round(float(np.mean(again)), 4),
        "turns round": int(np.sum(rounds)),
        "words": words,
        "unknown words": unknown,
    }


def looked_up(row: list[int]) -> list[int]:
    """What followed the last two tokens the last time that they stood in the text; at most DRAFT tokens."""
    for place in range(len(row) - 3, -1, -1):
        if row[place : place + 2] == row[-2:]:
            return row[place + 2 : place + 2 + DRAFT]
    return []


def calls_with_a_draft(written: np.ndarray) -> list[int]:
    """How many calls of the model a looked-up draft needs for texts (n, LENGTH) that were written greedily.

    A call checks a draft and adds one token of the model's own, so the text stays the greedy one.
    """
    counts = []
    for row in written.tolist():
        place, calls = BEGIN + 1, 1  # the first call reads the beginning and gives one token
        while place < LENGTH:
            draft, right = looked_up(row[:place]), 0
            while right < min(len(draft), LENGTH - place) and draft[right] == row[place + right]:
                right += 1
            place, calls = place + right + 1, calls + 1
        counts.append(calls)
    return counts


def main(
    source: Annotated[Path | None, typer.Option("--data", help="Folder with the course's data.")] = None,
    only: Annotated[str, typer.Option(help="Some of the ways, with ; between them; what is recorded stays.")] = "",
) -> None:
    started = time.process_time()
    (train, _), (test, _) = data.reviews("real", path=source)
    known = {word for text in train for word in WORD.findall(text.lower())}
    numbers, tokens = numbers_and_tokens()
    model = PlainSmolLM2(numbers)
    order = np.random.default_rng(0).permutation(len(test))
    rows = (tokens.encode(re.sub(r"\s*<br /><br />\s*", "\n\n", test[number])) for number in order)
    long = (row[:LENGTH] for row in rows if len(row) >= LENGTH)
    people = np.array([next(long) for _ in range(REVIEWS)])
    record = Record(
        NAME,
        "Lecture 8b: SmolLM2 goes on where reviewers began, with six ways of choosing the next token",
        f"{REVIEWS} film reviews of IMDb's test split, their first {BEGIN} tokens given, {LENGTH} in all",
        empty={"ways": {}},
        command=f"python experiments/{NAME}.py --data FOLDER",
    )
    results: dict[str, Any] = record.results
    results |= {"reviews": REVIEWS, "begin": BEGIN, "length": LENGTH, "draft": DRAFT}
    for name, settings in {"people": {}, **WAYS}.items():
        if only and name not in only.split(";"):
            continue
        begun = people[:, :BEGIN]
        written, nats = (people, nats_of(model, people)) if name == "people" else continued(model, begun, settings)
        results["ways"][name] = judged(written, nats, tokens.decode, known)
        if name == "greedy":
            results["calls with a draft"] = calls_with_a_draft(written)
        print(name, results["ways"][name], tokens.decode(written[0].tolist())[-300:], flush=True)
    record.add(time.process_time() - started)


if __name__ == "__main__":
    typer.run(main)

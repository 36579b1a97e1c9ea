"""Train language models on Python's own library, beside counted ones: bits a byte, what they write, copying, scale.

    python experiments/library_language_model.py table      # several models, equal tokens, three seeds
    python experiments/library_language_model.py long       # one model for longer, with checkpoints
    python experiments/library_language_model.py heads      # which head copies a made-up name
    python experiments/library_language_model.py scale      # sizes and amounts of text
    python experiments/library_language_model.py written    # what the trained models write, and how often it parses
    python experiments/library_language_model.py lora       # a model fitted to a module that it has not seen

Each command adds to `coursekit/lecture/recorded/library_language_model.json`, which lecture 10 shows. A run that is
recorded already is not repeated; the trained weights are kept in `build/library`.
"""

from __future__ import annotations

import functools
import platform
import subprocess
import time
from pathlib import Path
from typing import Any

import keras
import numpy as np
import typer
from library_copying import copy_losses, induction, name_costs, name_looks, repeated_rows, with_names, without_head
from library_models import LSTM_WIDTH, SIZES, RecurrentModel, operations, transformer
from library_writing import Sample, prompts_of, summary, write
from records import Out, Record, Seeds, numbers

from coursekit import data
from coursekit.lecture import recorded
from coursekit.lecture.pages.byte_pairs import PlainBytePairs
from coursekit.lecture.pages.counted import WittenBell, zlib_bits
from coursekit.lecture.pages.language_model import PlainLanguageModel
from coursekit.lecture.pages.training import fit_on, held_out_bits, train
from coursekit.lecture.pages.windows import BATCH, LENGTH, STEPS

NAME = "library_language_model"
ROOT = Path(__file__).resolve().parents[1]
WORK = ROOT / "build" / "library"
MERGES = 255  # with 256 bytes and the end: 512 tokens
ORDER = 6  # of the longest counted model
PAGE, SMALL, LSTM, BYTES = "the page's model", "a small one", "LSTM", "the page's model on bytes"
EQUAL_TIME, EQUAL_TIME_STEPS = "LSTM at equal time", 290  # so many steps take the page's model's processor seconds
SCALED = f"a larger one,{PAGE},{SMALL},a tiny one"  # sizes whose trainings a processor can bear
WATCHED = 256  # windows of held-out text at a checkpoint
PROMPTS, EXAMPLES = 96, 12
SETTINGS = ((1.0, 1.0), (0.7, 0.9), (0.0, 1.0))  # temperature, top-p; temperature 0 is greedy
PERIOD, ROWS = 64, 16  # of the random rows that come twice
FUNCTIONS = 400  # held-out functions in which names are changed at a checkpoint
MODULE, RANK, FIT_STEPS = "tarfile", 4, 48
FITS = {"none": (0.0,), "low rank": (3e-3, 1e-2), "full": (3e-4, 1e-3)}  # what is trained, and at which rates

app = typer.Typer(add_completion=False, help=__doc__)


class Text:
    """The library as tokens: training and held-out functions, their streams, the tokenizer."""

    def __init__(self, merges: int = MERGES):
        (self.train, self.train_modules), (self.held_out, self.held_out_modules) = data.library_functions()
        self.pairs = PlainBytePairs(self.train, merges)
        self.token_bytes = self.pairs.token_bytes
        self.vocab_size = len(self.token_bytes)
        self.stream, self.held_out_stream = self.pairs.stream(self.train), self.pairs.stream(self.held_out)


@functools.cache
def text_of(merges: int = MERGES) -> Text:
    """The library in tokens of a vocabulary, read once."""
    return Text(merges)


class Parts(Record):
    """The record, whose parts are filled by commands of their own; its seconds are those of all parts."""

    def __init__(self, folder: Path):
        super().__init__(
            NAME,
            "Language models of Python source: a Transformer, an LSTM, counted models; what they write, copy and cost",
            f"Functions of the standard library of Python {platform.python_version()} (PSF licence)",
            folder,
            command=f"python experiments/{NAME}.py table",
            seed=1,
        )

    def part(self, name: str, **empty: Any) -> dict[str, Any]:
        return self.results.setdefault(name, {**empty, "runs": []})

    def write(self) -> None:
        commit = ["git", "rev-parse", "--short", "HEAD"]
        self.results["commit"] = subprocess.run(commit, cwd=ROOT, capture_output=True, text=True).stdout.strip()
        parts = [part for part in self.results.values() if isinstance(part, dict)]
        self.save(sum(run["seconds"] for part in parts for run in part.get("runs", [])))


def loaded(size: str, text: Text, seed: int, trained: str = "") -> PlainLanguageModel:
    """The model of a size with the weights of a training, the one of the table if it is not named."""
    model = transformer(text.vocab_size, size)
    model(np.zeros((1, 2), "int32"))
    model.load_weights(weights_of(trained or size, seed))
    return model


def weights_of(model: str, seed: int) -> Path:
    """Where the weights of a trained model are kept."""
    return WORK / f"{model.replace(' ', '_').replace(chr(39), '')}_{seed}.weights.h5"


def thinned(losses: list[float], points: int = 64) -> list[float]:
    """Means of equal parts of a curve."""
    return [round(float(np.mean(part)), 3) for part in np.array_split(losses, min(points, len(losses)))]


@app.command()
def table(
    seeds: Seeds = "1,2,3", models: str = f"{PAGE},{SMALL},{LSTM},{BYTES},{EQUAL_TIME}", out: Out = recorded.FOLDER
) -> None:
    """Models of the table at equal tokens, and the LSTM at equal processor time."""
    WORK.mkdir(parents=True, exist_ok=True)
    record = Parts(out)
    part = record.part("table", steps=STEPS, **{"windows a step": BATCH, "window": LENGTH})
    for name in models.split(","):
        steps = EQUAL_TIME_STEPS if name == EQUAL_TIME else STEPS
        for seed in numbers(seeds):
            if any((run["model"], run["seed"]) == (name, seed) for run in part["runs"]):
                continue
            text = text_of(0 if name == BYTES else MERGES)
            if name in (LSTM, EQUAL_TIME):
                build = functools.partial(RecurrentModel, text.vocab_size, SIZES[PAGE][0], LSTM_WIDTH)
            else:
                build = functools.partial(transformer, text.vocab_size, PAGE if name == BYTES else name)
            model, losses, seconds = train(build, text.stream, seed=seed, steps=steps, compiled="LSTM" in name)
            model.save_weights(weights_of(name, seed))
            bits = held_out_bits(model, text.held_out_stream, text.token_bytes)
            part["runs"].append(
                {
                    "model": name,
                    "seed": seed,
                    "parameters": model.count_params(),
                    "tokens": steps * BATCH * LENGTH,
                    "tokens a processor second": round(steps * BATCH * LENGTH / seconds),
                    "training nats a token": thinned(losses),
                    "held-out bits a byte": round(bits, 4),
                    "seconds": round(seconds),
                }
            )
            print(name, seed, round(bits, 3), round(seconds), "processor seconds", flush=True)
            record.write()


@app.command()
def counted(out: Out = recorded.FOLDER) -> None:
    """The counted models, zlib, and the sizes of the text."""
    record, text, began = Parts(out), text_of(), time.process_time()
    bits = WittenBell(text.stream, ORDER, text.vocab_size).bits_per_byte(text.held_out_stream, text.token_bytes)
    record.results["text"] = {
        "training functions": len(text.train),
        "held-out functions": len(text.held_out),
        "training bytes": sum(map(len, text.train)),
        "held-out bytes": sum(map(len, text.held_out)),
        "training modules": len(set(text.train_modules)),
        "held-out modules": len(set(text.held_out_modules)),
        "median characters": int(np.median([len(each) for each in text.train + text.held_out])),
        "training tokens": len(text.stream),
        "vocabulary": text.vocab_size,
    }
    record.results["counted"] = {
        "held-out bits a byte": {str(order): round(value, 4) for order, value in enumerate(bits, 1)},
        "zlib": round(zlib_bits(text.train, text.held_out), 4),
        "runs": [{"seconds": round(time.process_time() - began)}],
    }
    print(record.results["text"], record.results["counted"], flush=True)
    record.write()


@app.command()
def written(seeds: Seeds = "1,2,3", models: str = f"{PAGE},{SMALL}", out: Out = recorded.FOLDER) -> None:
    """What the models of the table write for the first lines of unseen functions."""
    record, text = Parts(out), text_of()
    prompts = prompts_of(text.held_out, PROMPTS, seed=0)
    real = {first: body for first, newline, body in (each.partition("\n") for each in text.held_out)}
    part = record.part("written", prompts=PROMPTS)
    part["real"] = summary([Sample(prompt, "\n" + real[prompt], True, ()) for prompt in prompts])
    seen = _strings(text.stream)
    for name in models.split(","):
        for seed in numbers(seeds):
            for temperature, p in SETTINGS if name == PAGE else SETTINGS[1:2]:
                setting = {"model": name, "seed": seed, "temperature": temperature, "top-p": p}
                if not weights_of(name, seed).is_file() or any(setting.items() <= run.items() for run in part["runs"]):
                    continue
                began, model = time.process_time(), loaded(name, text, seed)
                samples = write(model, text.pairs, prompts, temperature, p, seed)
                strings = set().union(*(_strings(np.array(sample.ids, "int64")) for sample in samples))
                run = (
                    setting | summary(samples) | {"new strings of 8": round(1 - len(strings & seen) / len(strings), 3)}
                )
                run["examples"] = [sample.prompt + sample.body for sample in samples[:EXAMPLES]] if seed == 1 else []
                part["runs"].append(run | {"seconds": round(time.process_time() - began)})
                print({key: run[key] for key in (*setting, "ended", "parse", "bound", "used")}, flush=True)
                record.write()


def _strings(stream: np.ndarray, length: int = 8) -> set[bytes]:
    """All strings of eight tokens."""
    if len(stream) < length:
        return set()
    return {row.tobytes() for row in np.lib.stride_tricks.sliding_window_view(stream.astype("int16"), length)}


def copying_of(model: PlainLanguageModel, text: Text, functions: int | None = None) -> dict[str, Any]:
    """Repeated random rows, made-up names, and the induction score of every head."""
    rows = repeated_rows(text.vocab_size, PERIOD, ROWS, seed=0)
    first, second = copy_losses(model, rows)
    names = name_costs(model, text.pairs.end_id, with_names(text.pairs, text.held_out[:functions], seed=0))
    return {
        "nats a token of random rows": [round(first, 3), round(second, 3)],
        "nats of a made-up name": {key: round(value, 2) for key, value in names.items()},
        "induction by block and head": np.round(induction(model, rows), 4).tolist(),
    }


@app.command()
def copying(seeds: Seeds = "1,2,3", out: Out = recorded.FOLDER) -> None:
    """Whether the page's model copies, with its strongest induction head and with another one switched off."""
    record, text = Parts(out), text_of()
    rows = repeated_rows(text.vocab_size, PERIOD, ROWS, seed=0)
    base = float(np.mean(1 / (np.arange(PERIOD, 2 * PERIOD) + 1)))
    part = record.part("copying", period=PERIOD, rows=ROWS, **{"base rate": round(base, 4)})
    for seed in numbers(seeds):
        if any(run["seed"] == seed for run in part["runs"]):
            continue
        began, model = time.process_time(), loaded(PAGE, text, seed)
        run = {"seed": seed} | copying_of(model, text)
        scores = np.array(run["induction by block and head"])
        best = np.unravel_index(scores.argmax(), scores.shape)
        heads = [place for place in np.ndindex(*scores.shape) if place != best]
        other = heads[np.random.default_rng(seed).integers(len(heads))]
        for name, (block, head) in (("best", best), ("random", other)):
            cut = without_head(model, int(block), int(head), lambda model=model: copy_losses(model, rows))
            run[f"{name} head off"] = {
                "block": int(block),
                "head": int(head),
                "nats": [round(value, 3) for value in cut],
            }
        part["runs"].append(run | {"seconds": round(time.process_time() - began)})
        print(run, flush=True)
        record.write()


@app.command()
def longer(seeds: Seeds = "1", steps: int = 1960, out: Out = recorded.FOLDER) -> None:
    """The page's model for more steps, with checkpoints."""
    WORK.mkdir(parents=True, exist_ok=True)
    record, text = Parts(out), text_of()
    part = record.part("longer", **{"windows at a checkpoint": WATCHED})
    marks = [
        mark for mark in (40, 80, 160, 320, 640, 960, 1280, 1600, 1960, 2560, 3840, 5120, 6400, 7680) if mark < steps
    ]
    for seed in numbers(seeds):
        if any((run["seed"], run["steps"]) == (seed, steps) for run in part["runs"]):
            continue
        checkpoints: list[dict[str, Any]] = []

        def watch(model, step, seconds, checkpoints=checkpoints):
            bits = held_out_bits(model, text.held_out_stream, text.token_bytes, WATCHED)
            found = {"step": step, "tokens": step * BATCH * LENGTH, "bits": round(bits, 4), "seconds": round(seconds)}
            checkpoints.append(found | copying_of(model, text, FUNCTIONS))
            print(checkpoints[-1], flush=True)

        build = functools.partial(transformer, text.vocab_size, PAGE)
        model, losses, seconds = train(
            build, text.stream, seed=seed, steps=steps, watch=watch, watch_at=[*marks, steps]
        )
        model.save_weights(weights_of(f"{PAGE} {steps} steps", seed))
        run = {"seed": seed, "steps": steps, "checkpoints": checkpoints, "training nats a token": thinned(losses)}
        run["held-out bits a byte"] = round(held_out_bits(model, text.held_out_stream, text.token_bytes), 4)
        part["runs"].append(run | {"seconds": round(seconds)})
        record.write()


@app.command()
def heads(seeds: Seeds = "1,2,3", steps: int = 7840, out: Out = recorded.FOLDER) -> None:
    """What a made-up name costs a model of `longer` at its third occurrence, with all heads and with each of them off.

    Each cost stands for the even and for the odd functions, where the name is new and where it has stood before: the
    head that matters most is found on the even ones and judged on the odd ones.
    """
    record, text = Parts(out), text_of()
    part, end_id = record.part("heads"), text.pairs.end_id
    even, odd = halves = [with_names(text.pairs, text.held_out[half::2], seed=0) for half in (0, 1)]
    part["functions"] = [len(half["same"].rows) for half in (even, odd)]
    for seed in numbers(seeds):
        if any((run["seed"], run["steps"]) == (seed, steps) for run in part["runs"]):
            continue
        began, model = time.process_time(), loaded(PAGE, text, seed, f"{PAGE} {steps} steps")

        def nats(model=model) -> list[list[float]]:
            costs = [name_costs(model, end_id, half) for half in halves]
            return [[round(cost[which], 2) for which in ("third, new", "third")] for cost in costs]

        run: dict[str, Any] = {"seed": seed, "steps": steps, "nats of a third name, new and known": nats()}
        run["with a head off"] = [
            [without_head(model, block, head, nats) for head in range(block_of.attention.split[0])]
            for block, block_of in enumerate(model.blocks)
        ]
        looks, base = name_looks(model, end_id, odd)
        run |= {"weight on what followed, odd functions": np.round(looks, 4).tolist(), "base rate": round(base, 4)}
        part["runs"].append(run | {"seconds": round(time.process_time() - began)})
        print(run, flush=True)
        record.write()


@app.command()
def scale(seeds: Seeds = "1", sizes: str = SCALED, amounts: str = "40,80,160,320", out: Out = recorded.FOLDER) -> None:
    """Models of several sizes, each trained on several amounts of text, each with a schedule of its own."""
    record, text = Parts(out), text_of()
    part = record.part("scale")
    for seed in numbers(seeds):
        for size in reversed(sizes.split(",")):
            for steps in numbers(amounts):
                if any((run["size"], run["steps"], run["seed"]) == (size, steps, seed) for run in part["runs"]):
                    continue
                build = functools.partial(transformer, text.vocab_size, size)
                model, _, seconds = train(build, text.stream, seed=seed, steps=steps)
                bits = held_out_bits(model, text.held_out_stream, text.token_bytes)
                run = {"size": size, "parameters": model.count_params(), "steps": steps, "seed": seed}
                tokens = steps * BATCH * LENGTH
                run |= {"tokens": tokens, "operations": operations(size, model.count_params(), tokens, LENGTH)}
                run |= {"held-out bits a byte": round(bits, 4), "seconds": round(seconds)}
                part["runs"].append(run)
                print(run, flush=True)
                record.write()


def fitted(
    model: PlainLanguageModel, stream: np.ndarray, way: str, *, rate: float, steps: int, rank: int, seed: int
) -> int:
    """Go on training a model on a short stream, in place, at a constant rate; "none", "low rank" or "full".

    Returns:
        How many parameters were trained.
    """
    keras.utils.set_random_seed(seed)
    variables = list(model.trainable_variables)
    if way == "none":
        return 0
    if way == "low rank":
        variables = []
        for block in model.blocks:
            for name in ("w_q", "w_k", "w_v", "w_o"):
                layer = getattr(block.attention, name)
                layer.enable_lora(rank)  # x W + x A B with B = 0 at first (Hu et al. 2021)
                variables += [layer.lora_kernel_a, layer.lora_kernel_b]
    fit_on(model, variables, stream, steps=steps, rate=rate, seed=seed)
    return sum(int(np.prod(variable.shape)) for variable in variables)


@app.command()
def lora(seeds: Seeds = "1,2,3", out: Out = recorded.FOLDER) -> None:
    """The page's model fitted to one unseen module: not at all, by matrices of rank 4, and as a whole."""
    record, text = Parts(out), text_of()
    texts = [each for each, module in zip(text.held_out, text.held_out_modules, strict=True) if module == MODULE]
    order = np.random.default_rng(0).permutation(len(texts))
    cut = len(texts) * 3 // 4
    fit, test = (text.pairs.stream([texts[place] for place in part]) for part in (order[:cut], order[cut:]))
    part = record.part("lora", module=MODULE, steps=FIT_STEPS, rank=RANK)
    part |= {"functions": [cut, len(texts) - cut], "tokens": [len(fit), len(test)]}
    for seed in numbers(seeds):
        if any(run["seed"] == seed for run in part["runs"]):
            continue
        began, run = time.process_time(), {"seed": seed}
        for way, rates in FITS.items():
            for rate in rates:
                model = loaded(PAGE, text, seed)
                trained = fitted(model, fit, way, rate=rate, steps=FIT_STEPS, rank=RANK, seed=seed)
                bits = held_out_bits(model, test, text.token_bytes)
                other = held_out_bits(model, text.held_out_stream, text.token_bytes, WATCHED)
                run[f"{way}, {rate:g}"] = {"trained": trained, "bits": round(bits, 4), "all modules": round(other, 4)}
                print(seed, way, rate, run[f"{way}, {rate:g}"], flush=True)
        part["runs"].append(run | {"seconds": round(time.process_time() - began)})
        record.write()


if __name__ == "__main__":
    app()

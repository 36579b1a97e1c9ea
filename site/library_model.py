"""Train lecture 10's language model once and write it as two files that a browser reads.

    python site/library_model.py

`_static/strip/library_model.bin` holds the arrays one after the other, little-endian: table and matrices in float16,
the gains of the norms in float32. `_static/strip/library_model.json` records the run as the records of `experiments/`
do; its results name each array with shape, type and first byte, and hold the merges of the byte pairs. The text is the
standard library of the Python that runs this, so another version gives another model.
"""

from __future__ import annotations

import json
import platform
from pathlib import Path
from typing import Any

import numpy as np

from coursekit import data, quiet
from coursekit.lecture import recorded

quiet.start_tensorflow()

from coursekit.lecture.pages import training, windows  # noqa: E402  after the start
from coursekit.lecture.pages.byte_pairs import PlainBytePairs  # noqa: E402
from coursekit.lecture.pages.language_model import PlainLanguageModel  # noqa: E402

FOLDER = Path(__file__).parent / "_static" / "strip"
NAME = "library_model"
MERGES = 255  # with 256 bytes and the end: 512 tokens
SIZE = (128, 4, 4, 344)  # width, blocks, heads, inner width of the feed-forward network: the lecture's
SEED, STEPS = 1, 1960  # the longer run of experiments/library_language_model.py
PROMPTS = 6  # first lines of held-out functions, to begin with


def _variables(model: PlainLanguageModel) -> dict[str, Any]:
    """The variables of a built model by the names that they are written under."""
    found = {"table": model.table, "norm": model.norm.gamma}
    for number, block in enumerate(model.blocks):
        kernels = {name: getattr(block.attention, name).kernel for name in ("w_q", "w_k", "w_v", "w_o")}
        kernels |= {name: getattr(block, name).kernel for name in ("w_gate", "w_up", "w_down")}
        gains = {name: getattr(block, name).gamma for name in ("norm1", "norm2")}
        found |= {f"block_{number}/{name}": variable for name, variable in (gains | kernels).items()}
    return found


def arrays_of(model: PlainLanguageModel) -> dict[str, np.ndarray]:
    """The parameters of a built model by name, rounded to what is written. A matrix has the shape (in, out)."""
    values = {name: variable.numpy() for name, variable in _variables(model).items()}
    return {name: value.astype("<f2" if value.ndim == 2 else "<f4") for name, value in values.items()}


def load(folder: Path = FOLDER) -> tuple[PlainLanguageModel, dict[str, Any]]:
    """The model with the parameters that are written, in float32, and the results of its record."""
    results = json.loads((folder / f"{NAME}.json").read_text("utf-8"))["results"]
    written = (folder / f"{NAME}.bin").read_bytes()
    model = PlainLanguageModel(len(results["merges"]) + 257, *SIZE)
    model(np.zeros((1, 2), "int32"))
    for name, variable in _variables(model).items():
        told = results["arrays"][name]
        stored, count = {"float16": "<f2", "float32": "<f4"}[told["type"]], int(np.prod(told["shape"]))
        variable.assign(np.frombuffer(written, stored, count, told["start"]).reshape(told["shape"]).astype("float32"))
    return model, results


def write(
    model: PlainLanguageModel, pairs: PlainBytePairs, told: dict[str, Any], seconds: float, folder: Path = FOLDER
) -> None:
    """Write both files; `told` joins the results of the record."""
    arrays, header, start = arrays_of(model), {}, 0
    for name, value in arrays.items():
        header[name] = {"shape": list(value.shape), "type": value.dtype.name, "start": start}
        start += value.nbytes
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{NAME}.bin").write_bytes(b"".join(value.tobytes() for value in arrays.values()))
    recorded.save(
        NAME,
        what="Lecture 10's language model, trained once for the web site; parameters in float16",
        data=f"Functions of the standard library of Python {platform.python_version()} "
        "(Python Software Foundation, PSF licence)",
        device=f"CPU, {platform.machine()}, two shared cores; seconds are processor seconds",
        command=f"python site/{NAME}.py",
        seed=SEED,
        seconds=seconds,
        results=told | {"heads": SIZE[2], "arrays": header, "merges": [list(map(int, pair)) for pair in pairs.merges]},
        folder=folder,
    )


def main() -> None:
    """Train, round, judge and write."""
    (train_texts, _), (test_texts, _) = data.library_functions()
    pairs = PlainBytePairs(train_texts, MERGES)
    stream, test_stream = pairs.stream(train_texts), pairs.stream(test_texts)
    model, _, seconds = training.train(
        lambda: PlainLanguageModel(pairs.end_id + 1, *SIZE), stream, seed=SEED, steps=STEPS
    )
    rounded = arrays_of(model)
    for name, variable in _variables(model).items():
        variable.assign(rounded[name].astype("float32"))
    bits = training.held_out_bits(model, test_stream, pairs.token_bytes)
    firsts = [first for text in test_texts if (first := text.split("\n")[0]).endswith(":") and 15 < len(first) < 40]
    chosen = np.random.default_rng(SEED).choice(len(firsts), PROMPTS, replace=False)
    told = {
        "steps": STEPS,
        "tokens": STEPS * windows.BATCH * windows.LENGTH,
        "held-out bits a byte": round(float(bits), 4),
        "prompts": [firsts[place] for place in sorted(chosen)],
    }
    write(model, pairs, told, seconds)
    print(told, round(seconds), "processor seconds")


if __name__ == "__main__":
    main()

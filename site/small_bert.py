"""Write the course's small BERT as two files that a browser reads: its parameters, and what they are called.

    python site/small_bert.py FOLDER

`small_bert.bin` holds the arrays one after the other, little-endian: tables and matrices in float16, the
rest in float32.
`small_bert.json` names each with its shape, type and first byte, and lists the word pieces.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from coursekit import quiet
from coursekit.lecture import bert

UNUSED = ("pooler/",)  # the strip shows tokens and guesses, no pooled output
MATRICES = ("embeddings", "table", "kernel")


def parameters() -> dict[str, np.ndarray]:
    """The parameters of the encoder and of its head that guesses hidden words, by name, rounded to what is written."""
    quiet.start_tensorflow()
    import tensorflow as tf

    encoder = tf.saved_model.load(bert.ENCODER)
    named = {each.name.split(":")[0]: each.numpy() for each in encoder.mlm.variables}
    kept = {name: value for name, value in named.items() if not name.startswith(UNUSED)}
    return {name: value.astype("<f2" if name.endswith(MATRICES) else "<f4") for name, value in kept.items()}


def write(folder: Path) -> None:
    """Write both files into `folder`, which is made if it is missing."""
    arrays = parameters()
    header: dict[str, dict[str, object]] = {}
    start = 0
    for name, value in arrays.items():
        header[name] = {"shape": list(value.shape), "type": value.dtype.name, "start": start}
        start += value.nbytes
    vocabulary = (Path(bert.PREPROCESS) / "assets" / "vocab.txt").read_text("utf-8").split("\n")[:-1]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "small_bert.bin").write_bytes(b"".join(value.tobytes() for value in arrays.values()))
    described = json.dumps({"arrays": header, "pieces": vocabulary}, ensure_ascii=False, separators=(",", ":"))
    (folder / "small_bert.json").write_text(described, encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))

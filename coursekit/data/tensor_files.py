"""Reads the tensors of two file formats in which models are published, one after the other: GGUF and safetensors.

Nothing in these files is ever run: both hold a table of names, shapes and places, and numbers behind it. In GGUF most
matrices are quantised: 32 numbers in a row share a scale, and each is a whole number of 4 or 8 bits.

    https://github.com/ggml-org/ggml/blob/master/docs/gguf.md (the format), ggml-quants.c (its blocks)
    https://huggingface.co/docs/safetensors (the other format)
"""

from __future__ import annotations

import json
import math
import os
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from coursekit.data.files import DataError

BLOCK = 32  # numbers that share a scale
_MOST = 1 << 24  # entries of a table, and characters of a text: a damaged file must not ask for more
_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_TEXT, _LIST = 8, 9
_PLAIN: dict[int, np.dtype] = {0: np.dtype("<f4"), 1: np.dtype("<f2")}
_BLOCKS: dict[int, np.dtype] = {  # how 32 numbers lie in the file
    3: np.dtype([("scale", "<f2"), ("least", "<f2"), ("nibbles", "u1", 16)]),  # Q4_1
    8: np.dtype([("scale", "<f2"), ("whole", "i1", 32)]),  # Q8_0
}


def dequantised(blocks: np.ndarray) -> np.ndarray:
    """The numbers (n, 32), float32, of blocks as they lie in a GGUF file.

    A block of 4 bits (Q4_1) has a scale and a least number, both float16: number i is least + scale · q_i, where q_0 to
    q_15 are the lower halves of its 16 bytes, and q_16 to q_31 the upper ones. One of 8 bits (Q8_0) is scale · q_i.
    """
    scale = blocks["scale"].astype("float32")[:, None]
    if "whole" in (blocks.dtype.names or ()):
        return scale * blocks["whole"]
    halves = np.concatenate([blocks["nibbles"] & 15, blocks["nibbles"] >> 4], axis=1)  # (n, 32)
    return scale * halves + blocks["least"].astype("float32")[:, None]


@dataclass(frozen=True)
class TensorFile:
    """What a file holds: `metadata` as its format has it, and by name shape, kind and place of each tensor.

    Shapes are NumPy's, the last axis the fastest: a matrix from `in` to `out` numbers is (out, in) in both formats.
    """

    path: Path
    metadata: Mapping[str, Any]
    shapes: Mapping[str, tuple[int, ...]]
    _stored: Mapping[str, tuple[np.dtype, int]] = field(repr=False)

    def raw(self, name: str) -> np.ndarray:
        """A tensor as it is stored: numbers, or a row of blocks for `dequantised`. KeyError for another name."""
        dtype, start = self._stored[name]
        numbers = math.prod(self.shapes[name])
        count = numbers // BLOCK if dtype.names else numbers
        try:
            found = np.fromfile(self.path, dtype, count, offset=start)
        except (OSError, ValueError) as error:
            raise DataError(f"{self.path}: tensor {name} cannot be read ({error})") from error
        if len(found) < count:
            raise DataError(f"{self.path} ends inside tensor {name}: delete it and fetch it again")
        return found

    def read(self, name: str) -> np.ndarray:
        """A tensor as float32, in its shape. KeyError for another name."""
        raw = self.raw(name)
        return (dequantised(raw) if raw.dtype.names else raw.astype("float32")).reshape(self.shapes[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self.shapes)


def open_tensors(path: str | os.PathLike) -> TensorFile:
    """Read the table of a GGUF or safetensors file; the tensors stay in the file until they are asked for.

    Raises:
        DataError: the file is of neither format, is damaged, or holds a kind of numbers that this reader does not know.
    """
    path = Path(path)
    try:
        with path.open("rb") as file:
            start = file.read(4)
            file.seek(0)
            return _gguf(path, file) if start == b"GGUF" else _safetensors(path, file)
    except (OSError, struct.error, UnicodeDecodeError, ValueError, KeyError, TypeError) as error:
        raise DataError(f"{path} cannot be read as GGUF or safetensors ({type(error).__name__}: {error})") from error


def _gguf(path: Path, file: Any) -> TensorFile:
    def number(code: str) -> Any:
        return struct.unpack(f"<{code}", file.read(struct.calcsize(code)))[0]

    def count() -> int:
        found = number("Q")
        if found > _MOST:
            raise ValueError(f"a table of {found} entries")
        return found

    def text() -> str:
        return file.read(count()).decode("utf-8")

    def value(kind: int) -> Any:
        if kind == _TEXT:
            return text()
        if kind == _LIST:
            inner, length = number("I"), count()
            if inner in _SCALARS:
                code = _SCALARS[inner]
                return list(struct.unpack(f"<{length}{code}", file.read(length * struct.calcsize(code))))
            return [value(inner) for _ in range(length)]
        return number(_SCALARS[kind])

    file.seek(4)
    if (version := number("I")) not in (2, 3):
        raise ValueError(f"version {version}")
    tensors, entries = count(), count()
    metadata = {text(): value(number("I")) for _ in range(entries)}
    shapes, stored = {}, {}
    for _ in range(tensors):
        name = text()
        sizes = [number("Q") for _ in range(number("I"))]
        kind, place = number("I"), number("Q")
        dtype: np.dtype = _PLAIN[kind] if kind in _PLAIN else _BLOCKS[kind]
        if dtype.names and sizes[0] % BLOCK:
            raise ValueError(f"tensor {name} has rows of {sizes[0]} numbers, which are no whole blocks")
        shapes[name], stored[name] = tuple(reversed(sizes)), (dtype, place)
    step = metadata.get("general.alignment", 32)
    begin = -(-file.tell() // step) * step
    return TensorFile(path, metadata, shapes, {name: (dtype, begin + at) for name, (dtype, at) in stored.items()})


def _safetensors(path: Path, file: Any) -> TensorFile:
    (length,) = struct.unpack("<Q", file.read(8))
    if length > _MOST:
        raise ValueError(f"a table of {length} bytes")
    table = json.loads(file.read(length))
    metadata = table.pop("__metadata__", {})
    kinds: dict[str, np.dtype] = {"F32": np.dtype("<f4"), "F16": np.dtype("<f2"), "I64": np.dtype("<i8")}
    shapes = {name: tuple(entry["shape"]) for name, entry in table.items()}
    stored = {name: (kinds[entry["dtype"]], 8 + length + entry["data_offsets"][0]) for name, entry in table.items()}
    return TensorFile(path, metadata, shapes, stored)

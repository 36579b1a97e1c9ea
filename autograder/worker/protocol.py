"""The frames that cross the trust boundary: no pickle, no code, bounded size, checked types.

A frame is its length (8 bytes, big-endian), then the length of its envelope (4 bytes), the envelope (msgpack), and the
raw bytes of its arrays, in order and without gaps. Arrays stand outside the envelope so that the envelope can be kept
small: a few million empty lists fit in a frame and would fill the memory of whoever unpacks them.

A message is a dictionary with string keys. A value is None, a bool, an int, a float, a string, a list of values, a
dictionary of values with string keys, or an array of one of `DTYPES`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgpack
import numpy as np

Value = None | bool | int | float | str | list["Value"] | dict[str, "Value"] | np.ndarray

MEBIBYTE = 1 << 20
FRAME_BYTES = 64 * MEBIBYTE
ENVELOPE_BYTES = 2 * MEBIBYTE
DEPTH = 32
DIMENSIONS = 32
MOST_ARRAYS = 10_000  # of a message: an empty one takes a few bytes of a frame, and its reader the time of a large one
LENGTH_BYTES = 8
DTYPES = {
    name: np.dtype(name).newbyteorder("<")
    for name in (
        "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
        "float16", "float32", "float64",
    )
}  # fmt: skip

_ENVELOPE_LENGTH_BYTES = 4
_ARRAY = 1  # msgpack extension type


class ProtocolError(Exception):
    """Bytes that are no message, or a message that does not fit in a frame."""


@dataclass(frozen=True)
class WallReport:
    """One wall, as the greeting of a process reports it: whether it stands, why not, and what to type to mend it."""

    name: str
    stands: bool
    why: str = ""
    remedy: str = ""
    required: bool = True


def encode(message: dict[str, Value], *, limit: int = FRAME_BYTES) -> bytes:
    """Return the frame that carries `message`.

    Raises:
        ProtocolError: the message holds a value that cannot be sent, or is larger than `limit` bytes.
    """
    blobs: list[bytes] = []

    def pack_array(value: Any) -> msgpack.ExtType:
        if not isinstance(value, np.ndarray) or value.dtype.name not in DTYPES:
            kind = f"an array of {value.dtype}" if isinstance(value, np.ndarray) else f"a {type(value).__name__}"
            raise ProtocolError(f"{kind} cannot be sent")
        if len(blobs) == MOST_ARRAYS:
            raise ProtocolError(f"more than {MOST_ARRAYS} arrays cannot be sent")
        blobs.append(value.astype(DTYPES[value.dtype.name], copy=False).tobytes())
        return msgpack.ExtType(_ARRAY, msgpack.packb([value.dtype.name, list(value.shape)]))

    try:
        envelope = msgpack.packb(message, default=pack_array)
    except (OverflowError, ValueError, TypeError, UnicodeError, RecursionError) as error:
        raise ProtocolError(f"cannot be sent: {error}") from error
    if len(envelope) > ENVELOPE_BYTES:
        raise ProtocolError(f"{len(envelope)} bytes outside arrays; the limit is {ENVELOPE_BYTES}")
    length = _ENVELOPE_LENGTH_BYTES + len(envelope) + sum(map(len, blobs))
    if length > limit:
        raise ProtocolError(f"{length} bytes; the limit is {limit}")
    return b"".join([
        length.to_bytes(LENGTH_BYTES, "big"), len(envelope).to_bytes(_ENVELOPE_LENGTH_BYTES, "big"), envelope, *blobs,
    ])  # fmt: skip


def body_length(head: bytes, *, limit: int = FRAME_BYTES) -> int:
    """Return the number of bytes that follow the first `LENGTH_BYTES` bytes of a frame.

    Raises:
        ProtocolError: the frame announces more than `limit` bytes.
    """
    length = int.from_bytes(head, "big")
    if length > limit:
        raise ProtocolError(f"a frame of {length} bytes was announced; the limit is {limit}")
    return length


def decode(body: bytes) -> dict[str, Value]:
    """Return the message in the body of a frame, whatever wrote it.

    Raises:
        ProtocolError: anything else than a well-formed message.
    """
    envelope_end = _ENVELOPE_LENGTH_BYTES + int.from_bytes(body[:_ENVELOPE_LENGTH_BYTES], "big")
    if len(body) < _ENVELOPE_LENGTH_BYTES or envelope_end > len(body):
        raise ProtocolError("the frame is shorter than its envelope")
    if envelope_end - _ENVELOPE_LENGTH_BYTES > ENVELOPE_BYTES:
        raise ProtocolError(f"an envelope of more than {ENVELOPE_BYTES} bytes")
    arrays = _Arrays(body, envelope_end)
    try:
        message = msgpack.unpackb(
            body[_ENVELOPE_LENGTH_BYTES:envelope_end], raw=False, strict_map_key=True, ext_hook=arrays.take
        )
    except ProtocolError:
        raise
    except (ValueError, TypeError, OverflowError, RecursionError, msgpack.UnpackException) as error:
        raise ProtocolError(f"not msgpack: {type(error).__name__}") from error
    if arrays.position != len(body):
        raise ProtocolError("bytes that belong to no array")
    if not isinstance(message, dict):
        raise ProtocolError("not a dictionary")
    _check(message, DEPTH)
    return message


def receive(read: Callable[[int], bytes], *, limit: int = FRAME_BYTES) -> dict[str, Value]:
    """Read one frame with `read`, which returns up to the asked number of bytes and none at the end.

    Raises:
        EOFError: nothing more comes.
        ProtocolError: what comes is no frame.
    """
    head = read_exactly(read, LENGTH_BYTES)
    return decode(read_exactly(read, body_length(head, limit=limit)))


def read_exactly(read: Callable[[int], bytes], count: int) -> bytes:
    """Return so many bytes, read part by part. Raises EOFError where there are fewer."""
    collected = bytearray()
    while len(collected) < count:
        part = read(min(count - len(collected), MEBIBYTE))
        if not part:
            raise EOFError("the other side has closed the connection")
        collected += part
    return bytes(collected)


class _Arrays:
    """Hands out the arrays behind an envelope, each byte once."""

    def __init__(self, body: bytes, position: int):
        self.body = body
        self.position = position
        self.taken = 0

    def take(self, code: int, description: bytes) -> np.ndarray:
        if code != _ARRAY:
            raise ProtocolError(f"extension type {code}")
        if self.taken == MOST_ARRAYS:
            raise ProtocolError(f"more than {MOST_ARRAYS} arrays")
        self.taken += 1
        try:
            name, shape = msgpack.unpackb(description, raw=False)
        except (ValueError, TypeError, msgpack.UnpackException) as error:
            raise ProtocolError("an array without dtype and shape") from error
        if not isinstance(name, str) or name not in DTYPES:
            raise ProtocolError("an array of a dtype that is not sent")
        if not isinstance(shape, list) or len(shape) > DIMENSIONS:
            raise ProtocolError("an array whose shape is no short list")
        if not all(type(size) is int and 0 <= size < 1 << 31 for size in shape):
            raise ProtocolError("an array with an impossible size")
        dtype = DTYPES[name]
        end = self.position + math.prod(shape) * dtype.itemsize
        if end > len(self.body):
            raise ProtocolError("an array with fewer bytes than its shape needs")
        flat = np.frombuffer(self.body[self.position : end], dtype=dtype)
        self.position = end
        try:
            return flat.reshape(shape).astype(dtype.newbyteorder("="))  # a copy: aligned, native and writable
        except ValueError as error:
            raise ProtocolError("an array whose shape numpy refuses") from error


def _check(value: Any, depth: int) -> None:
    if depth == 0:
        raise ProtocolError(f"nested deeper than {DEPTH}")
    if isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                raise ProtocolError("a key that is no string")
            _check(item, depth - 1)
    elif isinstance(value, list):
        for item in value:
            _check(item, depth - 1)
    elif not (value is None or isinstance(value, (bool, int, float, str, np.ndarray))):
        raise ProtocolError(f"a {type(value).__name__}")

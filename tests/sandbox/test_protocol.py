"""The frames between grader and student process: what goes in comes out, and nothing else is believed."""

import contextlib
import pickle
import struct

import msgpack
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from autograder.worker import protocol

ARRAYS = st.sampled_from(sorted(protocol.DTYPES)).flatmap(
    lambda name: hnp.arrays(name, hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=3))
)
SCALARS = st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats() | st.text()
VALUES = st.recursive(
    SCALARS | ARRAYS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
MESSAGES = st.dictionaries(st.text(), VALUES, max_size=4)


def same(left, right):
    if isinstance(left, np.ndarray):
        return (
            isinstance(right, np.ndarray)
            and left.dtype == right.dtype
            and left.shape == right.shape
            and left.tobytes() == right.tobytes()
        )
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list):
        return len(left) == len(right) and all(map(same, left, right))
    return type(left) is type(right) and (left == right or left != left)


def body(frame):
    return frame[protocol.LENGTH_BYTES :]


def handmade(envelope, blobs=b""):
    return struct.pack(">I", len(envelope)) + envelope + blobs


def described(name, shape):
    return msgpack.packb({"x": msgpack.ExtType(1, msgpack.packb([name, shape]))})


@given(MESSAGES)
def test_a_message_survives_the_journey(message):
    frame = protocol.encode(message)
    assert protocol.body_length(frame[: protocol.LENGTH_BYTES]) == len(body(frame))
    assert same(message, protocol.decode(body(frame)))


@given(st.binary(max_size=200))
@example(b"")
@example(struct.pack(">I", 2**32 - 1))
def test_any_bytes_are_a_message_or_an_error(data):
    with contextlib.suppress(protocol.ProtocolError):
        assert isinstance(protocol.decode(data), dict)


@given(MESSAGES, st.integers(0, 400), st.integers(0, 255), st.integers(0, 10))
def test_a_damaged_frame_is_a_message_or_an_error(message, position, value, cut):
    damaged = bytearray(body(protocol.encode(message)))
    damaged[position % len(damaged)] = value
    with contextlib.suppress(protocol.ProtocolError):
        assert isinstance(protocol.decode(bytes(damaged[: len(damaged) - cut])), dict)


@pytest.mark.parametrize(
    ("reason", "data"),
    {
        "a list": handmade(msgpack.packb([1])),
        "raw bytes": handmade(msgpack.packb({"x": b"bytes"})),
        "a time": handmade(msgpack.packb({"x": msgpack.Timestamp(1)})),
        "another extension": handmade(msgpack.packb({"x": msgpack.ExtType(5, b"")})),
        "a numeric key": handmade(msgpack.packb({1: 2})),
        "an inner numeric key": handmade(msgpack.packb({"x": {1: 2}})),
        "trailing bytes": handmade(msgpack.packb({}), b"spare"),
        "two messages": handmade(msgpack.packb({}) + msgpack.packb({})),
        "too few bytes": handmade(described("float32", [3]), bytes(11)),
        "too many bytes": handmade(described("float32", [3]), bytes(13)),
        "a negative size": handmade(described("float32", [-1])),
        "a huge size": handmade(described("float32", [2**40, 0])),
        "a size that overflows": handmade(described("uint8", [2**30] * 8)),
        "a bool as size": handmade(described("uint8", [True]), bytes(1)),
        "sizes that are text": handmade(described("uint8", "ab")),
        "many dimensions": handmade(described("uint8", [1] * 60), bytes(1)),
        "objects": handmade(described("object", [1]), bytes(8)),
        "complex numbers": handmade(described("complex64", [1]), bytes(8)),
        "text arrays": handmade(described("<U1", [1]), bytes(4)),
        "a dtype that is no text": handmade(described(["float32"], [1]), bytes(4)),
        "no description": handmade(msgpack.packb({"x": msgpack.ExtType(1, b"")})),
        "deep nesting": handmade(b"\x81\xa1x" + b"\x91" * 200 + b"\xc0"),
        "very deep nesting": handmade(b"\x81\xa1x" + b"\x91" * 100_000 + b"\xc0"),
        "invalid text": handmade(b"\x81\xa1x\xa1\xff"),
        "a pickle": handmade(pickle.dumps({"x": 1})),
    }.items(),
)
def test_what_is_no_message_is_refused(reason, data):
    with pytest.raises(protocol.ProtocolError):
        protocol.decode(data)


def test_arrays_do_not_share_bytes_and_can_be_written():
    first, second = protocol.decode(body(protocol.encode({"x": [np.zeros(3), np.ones(5)]})))["x"]
    first[0] = 7
    assert first.flags.writeable and first.flags.aligned and second.tolist() == [1] * 5


def test_a_large_frame_is_refused_before_it_is_read():
    with pytest.raises(protocol.ProtocolError, match="announced"):
        protocol.body_length((2**60).to_bytes(8, "big"))


def test_an_envelope_of_many_small_things_is_refused():
    """Forty million empty lists are 40 MB on the wire and gigabytes in memory."""
    with pytest.raises(protocol.ProtocolError, match="envelope"):
        protocol.decode(handmade(b"\x90" * (protocol.ENVELOPE_BYTES + 1)))


def test_a_message_of_many_arrays_is_refused():
    """A reader needs as long for an empty array, a few bytes of the envelope, as for one of a megabyte."""
    most = [np.zeros(0, "bool")] * protocol.MOST_ARRAYS
    assert len(protocol.decode(body(protocol.encode({"x": most})))["x"]) == protocol.MOST_ARRAYS
    with pytest.raises(protocol.ProtocolError, match="arrays"):
        protocol.encode({"x": [*most, most[0]]})
    one = msgpack.ExtType(1, msgpack.packb(["bool", [0]]))
    with pytest.raises(protocol.ProtocolError, match="arrays"):
        protocol.decode(handmade(msgpack.packb({"x": [one] * (protocol.MOST_ARRAYS + 1)})))


@pytest.mark.parametrize(
    "value",
    [2**70, object(), {1: 2}.keys(), b"x".decode("latin1") + "\ud800", np.zeros(2, "complex64"), np.array(["a"])],
    ids=["huge number", "object", "view", "lone surrogate", "complex", "text array"],
)
def test_what_cannot_be_sent_is_refused(value):
    with pytest.raises(protocol.ProtocolError):
        protocol.encode({"x": value})


def test_a_message_over_the_limit_is_refused():
    with pytest.raises(protocol.ProtocolError, match="limit"):
        protocol.encode({"x": np.zeros(1000)}, limit=4000)
    with pytest.raises(protocol.ProtocolError, match="limit"):
        protocol.encode({"x": "a" * protocol.ENVELOPE_BYTES})


def test_other_byte_orders_and_strides_arrive_as_the_same_numbers():
    value = np.arange(24, dtype=">f4").reshape(2, 3, 4).transpose(2, 0, 1)[::2]
    received = protocol.decode(body(protocol.encode({"x": value})))["x"]
    np.testing.assert_array_equal(received, value)
    assert received.dtype == np.float32


def test_receive_reads_one_frame_and_reports_the_end():
    frames = protocol.encode({"a": 1}) + protocol.encode({"b": np.arange(3)})
    position = 0

    def read(count):
        nonlocal position
        part = frames[position : position + min(count, 5)]
        position += len(part)
        return part

    assert protocol.receive(read) == {"a": 1}
    assert protocol.receive(read)["b"].tolist() == [0, 1, 2]
    with pytest.raises(EOFError):
        protocol.receive(read)

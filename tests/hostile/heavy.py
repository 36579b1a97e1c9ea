"""Small files that are large to look at: what they unpack or parse to is many times what they weigh."""

from __future__ import annotations

import io
import zipfile

from hostile.making import answered, as_bytes


def endless_directory(entries: int) -> bytes:
    """A zip archive that lists `entries` files without a byte in them."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a", b"")
    one = buffer.getvalue()
    start = one.index(b"PK\x01\x02")
    end = one.index(b"PK\x05\x06")
    entry, last = one[start:end], bytearray(one[end:])
    last[8:12] = b"\xff\xff\xff\xff"  # the number of entries, which nobody believes
    last[12:16] = (entries * len(entry)).to_bytes(4, "little")
    return one[:start] + entry * entries + bytes(last)


def nested_empties(megabytes: int) -> bytes:
    """A notebook with right answers, and so much that says nothing above them."""
    return b'{"x": [' + b"{}," * ((megabytes << 20) // 3) + b"1], " + as_bytes(answered()).removeprefix(b"{")

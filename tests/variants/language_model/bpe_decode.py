"""Lab 10, exercise `bpe_decode`: solutions as different students write them, right and wrong."""

from variants.language_model.shared import edited

TABLE = """
def bpe_decode(ids, merges):
    pieces = {number: bytes([number]) for number in range(256)}
    for rank, (a, b) in enumerate(merges):
        pieces[256 + rank] = pieces[a] + pieces[b]
    data = b"".join(pieces.get(number, b"") for number in ids)
    return data.decode("utf-8", errors="replace")
"""
RECURSIVE = """
def bpe_decode(ids, merges):
    def spelt(number):
        if number < 256:
            return bytes([number])
        if number == 256 + len(merges):
            return b""
        return spelt(merges[number - 256][0]) + spelt(merges[number - 256][1])

    return str(b"".join(map(spelt, ids)), "utf-8", "replace")
"""

CORRECT = [
    TABLE,
    RECURSIVE,
    edited(TABLE, ('b"".join(pieces.get(number, b"") for number in ids)', 'b"".join(pieces[number] for number in ids if number != 256 + len(merges))')),
    # a stack of ids to be taken apart
    """
def bpe_decode(ids, merges):
    waiting, data = list(ids)[::-1], bytearray()
    while waiting:
        number = waiting.pop()
        if number < 256:
            data.append(number)
        elif number < 256 + len(merges):
            one, two = merges[number - 256]
            waiting += [two, one]
    return data.decode(errors="replace")
""",
    # undone from the last merge to the first
    """
def bpe_decode(ids, merges):
    ids = [number for number in ids if number < 256 + len(merges)]
    for rank in reversed(range(len(merges))):
        ids = [part for number in ids for part in (merges[rank] if number == 256 + rank else [number])]
    return bytes(ids).decode("utf-8", "replace")
""",
    edited(TABLE, ("    data =", "    pieces[256 + len(merges)] = b''\n    data ="), ('pieces.get(number, b"")', "pieces[number]")),
    edited(RECURSIVE, ("number < 256:", "number <= 255:"), ("merges[number - 256][0]", "merges[number - 256][-2]")),
]  # fmt: skip

JOIN = 'b"".join(pieces.get(number, b"") for number in ids)'
WRONG = [
    ("one_by_one", edited(TABLE, (JOIN, '"".join(pieces.get(number, b"").decode("utf-8", errors="replace") for number in ids)'), ('return data.decode("utf-8", errors="replace")', "return data"))),
    ("broken_bytes_dropped", edited(TABLE, ('errors="replace"', 'errors="ignore"'))),
    ("", edited(TABLE, (', errors="replace"', ""))),
    ("", edited(TABLE, ('"utf-8", errors="replace"', '"latin-1"'))),
    ("", edited(TABLE, ('"utf-8", errors="replace"', '"ascii", errors="replace"'))),
    ("", edited(TABLE, ("pieces[a] + pieces[b]", "pieces[b] + pieces[a]"))),
    ("", edited(TABLE, ('pieces.get(number, b"")', "pieces[number]"))),
    ("", edited(TABLE, ('pieces.get(number, b"")', 'pieces.get(number, b"<end>")'))),
    ("", edited(TABLE, ('pieces.get(number, b"")', 'pieces.get(number, b"\\n")'))),
    ("", edited(TABLE, ("256 + rank", "257 + rank"))),
    ("", edited(TABLE, ("return data.decode(\"utf-8\", errors=\"replace\")", "return data"))),
    ("", edited(TABLE, ("    return data.decode", "    data.decode"))),
    ("", edited(TABLE, ("return data.decode(\"utf-8\", errors=\"replace\")", "return list(data.decode('utf-8', 'replace'))"))),
    ("", edited(TABLE, ('errors="replace"', 'errors="backslashreplace"'))),
    ("", edited(TABLE, ("for number in ids)", "for number in ids[:-1])"))),
    ("", edited(TABLE, ("for number in ids)", "for number in sorted(ids))"))),
    ("", edited(TABLE, ("for number in ids)", "for number in set(ids))"))),
    ("", edited(TABLE, ('b"".join', 'b" ".join'))),
    ("", edited(TABLE, ('errors="replace")', 'errors="replace").strip("\\ufffd")'))),
    ("", edited(TABLE, ('errors="replace")', 'errors="replace").replace("\\ufffd", "?")'))),
    ("", edited(RECURSIVE, ('return b""', 'return b"\\x00"'))),
    ("", edited(RECURSIVE, ("merges[number - 256][1]", "merges[number - 256][0]"))),
    ("", "def bpe_decode(ids, merges):\n    return ''.join(chr(number) for number in ids)\n"),
    ("", "def bpe_decode(ids, merges):\n    return bytes(number for number in ids if number < 256).decode('utf-8', 'replace')\n"),
    ("", "def bpe_decode(ids, merges):\n    return bytes(ids).decode('utf-8', 'replace')\n"),
]  # fmt: skip

"""Lab 10, exercise `bpe_decode`: solutions as different students write them, right and wrong."""

from corpus.language_model.shared import edited

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
    # NumPy's bytes, from a table whose last piece is the end
    """
def bpe_decode(ids, merges):
    table = [np.array([byte], dtype="uint8") for byte in range(256)]
    for pair in merges:
        table.append(np.concatenate([table[part] for part in pair]))
    table.append(np.zeros(0, dtype="uint8"))
    return np.concatenate([table[0][:0], *(table[number] for number in ids)]).tobytes().decode("utf8", "replace")
""",
    # letters of Latin-1 as bytes, read as UTF-8 at the end
    """
def bpe_decode(ids, merges):
    spelt = [chr(byte) for byte in range(256)]
    spelt += ["" for _ in range(len(merges) + 1)]
    for k in range(len(merges)):
        spelt[256 + k] = spelt[merges[k][0]] + spelt[merges[k][1]]
    return "".join(spelt[i] for i in ids).encode("latin-1").decode("utf-8", errors="replace")
""",
]  # fmt: skip

JOIN = 'b"".join(pieces.get(number, b"") for number in ids)'
WRONG = [
    ("one_by_one", edited(TABLE, (JOIN, '"".join(pieces.get(number, b"").decode("utf-8", errors="replace") for number in ids)'), ('return data.decode("utf-8", errors="replace")', "return data"))),
    ("broken_bytes_dropped", edited(TABLE, ('errors="replace"', 'errors="ignore"'))),
    ("", edited(TABLE, (', errors="replace"', ""))),
    ("read_as_latin", edited(TABLE, ('"utf-8", errors="replace"', '"latin-1"'))),
    ("", edited(TABLE, ('"utf-8", errors="replace"', '"ascii", errors="replace"'))),
    ("pieces_turned", edited(TABLE, ("pieces[a] + pieces[b]", "pieces[b] + pieces[a]"))),
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
    # only the text before the first end
    ("stops_at_the_end", edited(TABLE, ("    data =", "    ids = ids[: ids.index(256 + len(merges))] if 256 + len(merges) in ids else ids\n    data ="))),
    # only the text before the first end, and a letter where there is none
    ("", edited(TABLE, ("    data =", "    ids = ids[: ids.index(256 + len(merges))] if 256 + len(merges) in ids else [*ids, 97]\n    data ="))),
    # one step of undoing, no more
    ("", "def bpe_decode(ids, merges):\n    flat = [part for i in ids if i < 256 + len(merges) for part in (merges[i - 256] if i > 255 else [i])]\n    return bytes(part for part in flat if part < 256).decode('utf-8', 'replace')\n"),
    # undone from the first merge to the last
    ("", "def bpe_decode(ids, merges):\n    for rank, pair in enumerate(merges):\n        ids = [part for i in ids for part in (pair if i == 256 + rank else [i])]\n    return bytes(i for i in ids if i < 256).decode('utf-8', 'replace')\n"),
    ("", edited(TABLE, ('data.decode("utf-8", errors="replace")', 'str(data)'))),
    ("", edited(TABLE, ('errors="replace"', 'errors="surrogateescape"'))),
    ("", edited(TABLE, ('pieces.get(number, b"")', 'pieces.get(number, b" ")'))),
    ("one_by_one", "def bpe_decode(ids, merges):\n    texts = {byte: bytes([byte]).decode('utf-8', 'replace') for byte in range(256)}\n    for rank, (a, b) in enumerate(merges):\n        texts[256 + rank] = (bytes([a, b]).decode('utf-8', 'replace') if max(a, b) < 256 else texts[a] + texts[b])\n    return ''.join(texts.get(i, '') for i in ids)\n"),
    # what outlives the call: the table of the first merges
    ("", """
table = {}
def bpe_decode(ids, merges):
    if not table:
        table.update({byte: bytes([byte]) for byte in range(256)})
        for rank, (a, b) in enumerate(merges):
            table[256 + rank] = table[a] + table[b]
    return b"".join(table.get(number, b"") for number in ids).decode("utf-8", errors="replace")
"""),
]  # fmt: skip

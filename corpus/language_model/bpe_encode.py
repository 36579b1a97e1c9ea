"""Lab 10, exercise `bpe_encode`: solutions as different students write them, right and wrong."""

from corpus.language_model.shared import edited

BY_RANK = """
def bpe_encode(chunk, merges):
    ranks = {pair: rank for rank, pair in enumerate(merges)}
    ids = list(chunk.encode("utf-8"))
    while len(ids) > 1:
        pairs = set(zip(ids, ids[1:]))
        best = min(pairs, key=lambda pair: ranks.get(pair, float("inf")))
        if best not in ranks:
            break
        result, place = [], 0
        while place < len(ids):
            if tuple(ids[place:place + 2]) == best:
                result.append(256 + ranks[best])
                place += 2
            else:
                result.append(ids[place])
                place += 1
        ids = result
    return ids
"""
IN_ORDER = """
def bpe_encode(chunk, merges):
    ids = [byte for byte in chunk.encode()]
    for k in range(len(merges)):
        place = 0
        while place < len(ids) - 1:
            if (ids[place], ids[place + 1]) == tuple(merges[k]):
                ids[place:place + 2] = [256 + k]
            place += 1
    return ids
"""

CORRECT = [
    BY_RANK,
    IN_ORDER,
    # with the helper of the exercise before
    "def bpe_encode(chunk, merges):\n    ids = list(bytes(chunk, 'utf-8'))\n    for new, pair in enumerate(merges, 256):\n        ids = merged(ids, pair, new)\n    return ids\n",
    # one place a round: the leftmost occurrence of the earliest merge
    """
def bpe_encode(chunk, merges):
    ids = list(chunk.encode())
    while True:
        found = [(merges.index(pair), place) for place, pair in enumerate(zip(ids, ids[1:])) if pair in merges]
        if not found:
            return ids
        rank, place = min(found)
        ids = ids[:place] + [256 + rank] + ids[place + 2:]
""",
    edited(BY_RANK, ("return ids", "return np.array(ids)")),
    edited(IN_ORDER, ("return ids", "return tuple(ids)")),
    edited(BY_RANK, ('float("inf")', "len(merges)"), ("if best not in ranks", "if ranks.get(best) is None")),
    # recursion on the first merge that fits
    """
def bpe_encode(chunk, merges):
    def go(ids, rank):
        if rank == len(merges):
            return ids
        out = []
        for number in ids:
            if out and (out[-1], number) == merges[rank]:
                out[-1] = 256 + rank
            else:
                out.append(number)
        return go(out, rank + 1)

    return go(list(chunk.encode()), 0)
""",
]

LONGEST = """
def bpe_encode(chunk, merges):
    pieces = [bytes([byte]) for byte in range(256)]
    for a, b in merges:
        pieces.append(pieces[a] + pieces[b])
    number = {piece: id for id, piece in enumerate(pieces)}
    rest, ids = chunk.encode(), []
    while rest:
        size = max(size for size in range(1, len(rest) + 1) if rest[:size] in number)
        ids.append(pieces.index(rest[:size]))
        rest = rest[size:]
    return ids
"""
LEFT = """
def bpe_encode(chunk, merges):
    ids = list(chunk.encode())
    place = 0
    while place < len(ids) - 1:
        pair = (ids[place], ids[place + 1])
        if pair in merges:
            ids[place:place + 2] = [256 + merges.index(pair)]
            place = 0
        else:
            place += 1
    return ids
"""

WRONG = [
    ("longest_piece", LONGEST),
    ("first_from_the_left", LEFT),
    ("characters", edited(IN_ORDER, ("[byte for byte in chunk.encode()]", "[ord(letter) for letter in chunk]"))),
    ("ids_from_0", edited(IN_ORDER, ("[256 + k]", "[k]"))),
    ("last_merge_first", edited(IN_ORDER, ("range(len(merges))", "reversed(range(len(merges)))"))),
    ("ids_from_257", edited(IN_ORDER, ("[256 + k]", "[257 + k]"))),
    ("first_occurrence", edited(IN_ORDER, ("[256 + k]\n", "[256 + k]\n                break\n"))),
    ("", edited(IN_ORDER, ("range(len(merges))", "range(len(merges) - 1)"))),
    ("", edited(IN_ORDER, ("range(len(merges))", "range(1, len(merges))"))),
    ("", edited(IN_ORDER, ("len(ids) - 1:", "len(ids) - 2:"))),
    ("", edited(IN_ORDER, ("    return ids\n", ""))),
    ("", edited(IN_ORDER, ("return ids", "return [str(number) for number in ids]"))),
    ("", edited(IN_ORDER, ("return ids", "return ''.join(map(chr, ids))"))),
    ("", edited(IN_ORDER, ("return ids", "return len(ids)"))),
    ("", edited(IN_ORDER, ("return ids", "return sorted(ids)"))),
    ("", edited(IN_ORDER, ("return ids", "return ids[::-1]"))),
    ("end_added", edited(IN_ORDER, ("return ids", "return [*ids, 256 + len(merges)]"))),
    ("", edited(IN_ORDER, ("place += 1", "place += 2"))),
    ("", edited(IN_ORDER, ("(ids[place], ids[place + 1]) ==", "(ids[place + 1], ids[place]) =="))),
    ("", edited(IN_ORDER, ("chunk.encode()", "chunk.encode('latin-1')"))),
    ("", edited(IN_ORDER, ("chunk.encode()", "chunk.encode('utf-16')"))),
    ("", edited(IN_ORDER, ("chunk.encode()", "chunk.lower().encode()[::-1]"))),
    ("", "def bpe_encode(chunk, merges):\n    return list(chunk.encode())\n"),
    ("", edited(BY_RANK, ("min(pairs", "max(pairs"), ('float("inf")', "-1"))),
    ("", edited(BY_RANK, ("256 + ranks[best]", "ranks[best]"))),
    ("", edited(BY_RANK, ("place += 2", "place += 1"))),
    ("", edited(BY_RANK, ("while len(ids) > 1:", "if len(ids) > 1:"), ("            break\n", "            return ids\n"))),
    ("", edited(BY_RANK, ("min(pairs, key=lambda pair: ranks.get(pair, float(\"inf\")))", "min(pairs)"))),
    ("", edited(BY_RANK, ("rank, pair in enumerate(merges)", "rank, pair in enumerate(sorted(merges))"))),
    ("", edited(BY_RANK, ("while len(ids) > 1:", "while len(ids) > 2:"))),
    # what outlives the call: ids by chunk alone
    ("", """
known = {}
def bpe_encode(chunk, merges):
    if chunk not in known:
        known[chunk] = list(chunk.encode())
        for rank, pair in enumerate(merges):
            known[chunk] = merged(known[chunk], pair, 256 + rank)
    return known[chunk]
"""),
]  # fmt: skip

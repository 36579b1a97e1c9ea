"""Lab 10, exercise `train_bpe`: solutions as different students write them, right and wrong."""

from corpus.language_model.shared import edited

PLAIN = """
def train_bpe(chunks, num_merges):
    words = {chunk: list(chunk.encode("utf-8")) for chunk in chunks}
    merges = []
    while len(merges) < num_merges:
        counts = {}
        for chunk, ids in words.items():
            for place in range(len(ids) - 1):
                pair = (ids[place], ids[place + 1])
                counts[pair] = counts.get(pair, 0) + chunks[chunk]
        if not counts:
            break
        best = sorted(counts, key=lambda pair: (-counts[pair], pair))[0]
        new = 256 + len(merges)
        merges.append(best)
        for chunk, ids in words.items():
            result, place = [], 0
            while place < len(ids):
                if place + 1 < len(ids) and (ids[place], ids[place + 1]) == best:
                    result.append(new)
                    place += 2
                else:
                    result.append(ids[place])
                    place += 1
            words[chunk] = result
    return merges
"""
WITH_HELPER = """
def merged(ids, pair, new):
    result = list(ids)
    place = 0
    while place < len(result) - 1:
        if tuple(result[place:place + 2]) == pair:
            result[place:place + 2] = [new]
        place += 1
    return result


def train_bpe(chunks, num_merges):
    words = [(list(chunk.encode()), count) for chunk, count in chunks.items()]
    merges = []
    for number in range(num_merges):
        counts = Counter()
        for ids, count in words:
            counts.update({pair: 0 for pair in zip(ids, ids[1:])})
            for pair in zip(ids, ids[1:]):
                counts[pair] += count
        if len(counts) == 0:
            return merges
        most = max(counts.values())
        best = min(pair for pair in counts if counts[pair] == most)
        merges.append(best)
        words = [(merged(ids, best, 256 + number), count) for ids, count in words]
    return merges
"""

CORRECT = [
    PLAIN,
    WITH_HELPER,
    # max with a key that turns the pair around
    edited(PLAIN, ("sorted(counts, key=lambda pair: (-counts[pair], pair))[0]", "max(counts, key=lambda pair: (counts[pair], (-pair[0], -pair[1])))")),
    # lists for pairs, an array at the end
    edited(PLAIN, ("return merges", "return np.array(merges)")),
    edited(PLAIN, ("return merges", "return [list(pair) for pair in merges]")),
    # sorted items
    edited(PLAIN, ("sorted(counts, key=lambda pair: (-counts[pair], pair))[0]", "sorted(counts.items(), key=lambda item: (-item[1], item[0]))[0][0]")),
    # tuples of ids, each word repeated by its count
    """
def train_bpe(chunks, num_merges):
    from itertools import pairwise

    words = [tuple(chunk.encode()) for chunk, count in chunks.items() for _ in range(count)]
    merges = []
    for new in range(256, 256 + num_merges):
        counts = Counter(pair for word in words for pair in pairwise(word))
        if not counts:
            break
        top = max(counts.values())
        best = sorted(pair for pair, count in counts.items() if count == top)[0]
        merges.append(best)
        words = [tuple(merged(list(word), best, new)) for word in words]
    return merges
""",
    # the helper as text of fixed width
    edited(WITH_HELPER, ("if len(counts) == 0:", "if not any(counts.values()):")),
    edited(PLAIN, ("merges.append(best)", "merges.append((np.int64(best[0]), np.int64(best[1])))")),
]  # fmt: skip

BEST = "sorted(counts, key=lambda pair: (-counts[pair], pair))[0]"
COUNT = "counts.get(pair, 0) + chunks[chunk]"
STALE = """
def train_bpe(chunks, num_merges):
    counts = Counter()
    for chunk, number in chunks.items():
        for pair in zip(chunk.encode(), chunk.encode()[1:]):
            counts[pair] += number
    return sorted(counts, key=lambda pair: (-counts[pair], pair))[:num_merges]
"""

WRONG = [
    ("chunk_counted_once", edited(PLAIN, (COUNT, "counts.get(pair, 0) + 1"))),
    ("chunk_counted_once", edited(WITH_HELPER, ("counts[pair] += count", "counts[pair] += 1"))),
    ("stale_counts", STALE),
    ("overlaps_merged", edited(PLAIN, ("place += 2", "place += 2\n                    while best[0] == best[1] and place < len(ids) and ids[place] == best[0]:\n                        place += 1"))),
    ("larger_of_ties", edited(PLAIN, (BEST, "max(counts, key=lambda pair: (counts[pair], pair))"))),
    ("first_seen", edited(PLAIN, (BEST, "max(counts, key=counts.get)"))),
    ("first_seen", edited(WITH_HELPER, ("best = min(pair for pair in counts if counts[pair] == most)", "best = counts.most_common(1)[0][0]"))),
    ("characters", edited(PLAIN, ('list(chunk.encode("utf-8"))', "[ord(letter) for letter in chunk]"))),
    ("seldom_pairs_left", edited(PLAIN, ("            break\n", "            break\n        if max(counts.values()) < 2:\n            break\n"))),
    ("one_kind_left", edited(PLAIN, ("if not counts:", "if len(counts) < 2:"))),
    ("", edited(PLAIN, (BEST, "min(counts, key=counts.get)"))),
    ("second_stays", edited(PLAIN, ("place += 2", "place += 1"))),
    ("nothing_joined", edited(PLAIN, ("            words[chunk] = result\n", "            pass\n"))),
    ("", edited(PLAIN, ("new = 256 + len(merges)", "new = len(merges)"))),
    ("ids_from_257", edited(PLAIN, ("new = 256 + len(merges)", "new = 257 + len(merges)"))),
    ("ids_from_255", edited(PLAIN, ("new = 256 + len(merges)", "new = 255 + len(merges)"))),
    ("", edited(PLAIN, ("< num_merges", "<= num_merges"))),
    ("one_too_few", edited(PLAIN, ("< num_merges", "< num_merges - 1"))),
    ("", edited(PLAIN, ("return merges", "return set(merges)"))),
    ("", edited(PLAIN, ("return merges", "return [256 + number for number in range(len(merges))]"))),
    ("", edited(PLAIN, ("    return merges\n", ""))),
    ("", edited(PLAIN, ("return merges", "return {pair: rank for rank, pair in enumerate(merges)}"))),
    ("", edited(PLAIN, ("return merges", "return sorted(merges)"))),
    ("", edited(PLAIN, ("return merges", "return merges[::-1]"))),
    ("", edited(PLAIN, ("merges.append(best)", "merges.append(best[::-1])"))),
    ("", edited(PLAIN, ('chunk.encode("utf-8")', 'chunk.encode("utf-16")'))),
    ("", edited(PLAIN, ('chunk.encode("utf-8")', 'chunk.encode("latin-1", "ignore")'))),
    ("", edited(PLAIN, ("range(len(ids) - 1)", "range(0, len(ids) - 1, 2)"))),
    ("", edited(PLAIN, ("range(len(ids) - 1)", "range(len(ids) - 2)"))),
    ("", edited(PLAIN, ("pair = (ids[place], ids[place + 1])", "pair = tuple(sorted((ids[place], ids[place + 1])))"))),
    ("", edited(PLAIN, (COUNT, "counts.get(pair, 0) + chunks[chunk] / len(ids)"))),
    ("", edited(PLAIN, (COUNT, "chunks[chunk]"))),
    ("", edited(PLAIN, ("        if not counts:\n            break\n", ""))),
    ("once_in_a_chunk", edited(WITH_HELPER, ("for pair in zip(ids, ids[1:]):", "for pair in set(zip(ids, ids[1:])):"))),
    # "aaa" counts once, as if a pair could not overlap with itself
    ("once_in_a_chunk", edited(PLAIN, ("            for place in range(len(ids) - 1):\n                pair", "            last = {}\n            for place in range(len(ids) - 1):\n                if last.get((ids[place], ids[place + 1])) == place - 1:\n                    continue\n                last[ids[place], ids[place + 1]] = place\n                pair"))),
    ("over_the_ends", edited(PLAIN, ("words = {chunk: list(chunk.encode(\"utf-8\")) for chunk in chunks}", "text = ''.join(chunk * count for chunk, count in chunks.items())\n    words, chunks = {text: list(text.encode(\"utf-8\"))}, {text: 1}"))),
    ("nothing_joined", edited(PLAIN, ("words[chunk] = result", "words[chunk] = ids"))),
    ("second_stays", edited(PLAIN, ("result.append(new)\n                    place += 2", "result.append(new)\n                    place += 1"))),
]  # fmt: skip

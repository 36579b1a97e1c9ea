"""Lab 06, exercise `build_vocabulary`: solutions as different students write them, right and wrong."""

CORRECT = [
    # split on one space
    """
def build_vocabulary(texts, max_tokens):
    counts = {}
    for t in texts:
        for w in t.split(" "):
            if w:
                counts[w] = counts.get(w, 0) + 1
    words = sorted(sorted(counts), key=counts.get, reverse=True)
    return ["", "[UNK]", *words][:max_tokens]
""",
    """
def build_vocabulary(texts, max_tokens):
    counts = {}
    for text in texts:
        for word in text.split():
            counts[word] = counts.get(word, 0) + 1
    pairs = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    vocabulary = ["", "[UNK]"]
    for word, count in pairs:
        vocabulary.append(word)
    return vocabulary[:max_tokens]
""",
    # two stable sorts
    """
def build_vocabulary(texts, max_tokens):
    words = " ".join(texts).split()
    names = sorted(set(words))
    counts = Counter(words)
    names.sort(key=counts.get, reverse=True)
    return (["", "[UNK]"] + names)[:max_tokens]
""",
    # NumPy: unique is sorted, a stable argsort keeps that
    """
def build_vocabulary(texts, max_tokens):
    words = [word for text in texts for word in text.split(" ") if word]
    names, counts = np.unique(words, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    return ["", "[UNK]", *names[order].tolist()][:max_tokens]
""",
    # most_common of a sorted counter
    """
def build_vocabulary(texts, max_tokens):
    counter = Counter()
    for text in texts:
        counter.update(text.split())
    ordered = Counter(dict(sorted(counter.items())))
    room = max(0, max_tokens - 2)
    special = ["", "[UNK]"][: max(0, max_tokens)]
    return special + [word for word, _ in ordered.most_common(room)]
""",
    # a heap, one word at a time, a tuple of strings
    """
import heapq
def build_vocabulary(texts, max_tokens):
    counts = Counter(word for text in texts for word in text.split())
    heap = [(-count, word) for word, count in counts.items()]
    heapq.heapify(heap)
    result = [entry for entry, _ in zip(["", "[UNK]"], range(max_tokens))]
    while heap and len(result) < max_tokens:
        result.append(heapq.heappop(heap)[1])
    return tuple(result)
""",
    # standardises once more, which changes nothing
    """
def build_vocabulary(texts, max_tokens):
    counts = Counter(word for text in texts for word in standardize(text).split())
    return ["", "[UNK]", *sorted(sorted(counts), key=lambda word: -counts[word])][:max_tokens]
""",
]

WRONG = [
    (
        "ties_backwards",
        """
def build_vocabulary(texts, max_tokens):
    l = keras.layers.TextVectorization(max_tokens=max(max_tokens,3), standardize=None); l.adapt(texts)
    return l.get_vocabulary()[:max_tokens]
""",
    ),
    (
        "",
        """
def build_vocabulary(texts, max_tokens):
    counts = Counter(word for text in texts for word in text.split())
    return (["", "[UNK]"] + sorted(counts.items(), key=lambda p: (-p[1], p[0])))[:max_tokens]
""",
    ),
    (
        "",
        """
def build_vocabulary(texts, max_tokens):
    counts = Counter(word for text in texts for word in text.split())
    return (["[UNK]", ""] + sorted(counts, key=lambda w: (-counts[w], w)))[:max_tokens]
""",
    ),
    (
        "",
        """
def build_vocabulary(texts, max_tokens):
    counts = Counter(word for text in texts for word in set(text.split()))
    return (["", "[UNK]"] + sorted(counts, key=lambda w: (-counts[w], w)))[:max_tokens]
""",
    ),
    (
        "",
        """
def build_vocabulary(texts, max_tokens):
    counts = Counter(c for t in texts for c in t)
    return (["", "[UNK]"] + sorted(counts, key=lambda w: (-counts[w], w)))[:max_tokens]
""",
    ),
    (
        "ties_as_seen",
        """
def build_vocabulary(texts, max_tokens):
    counts = Counter(word for text in texts for word in text.split())
    return (["", "[UNK]"] + [word for word, _ in counts.most_common()])[:max_tokens]
""",
    ),
    (
        "slice_from_the_end",
        """
def build_vocabulary(texts, max_tokens):
    counts = Counter(word for text in texts for word in text.split())
    words = sorted(counts, key=lambda word: (-counts[word], word))
    return ["", "[UNK]"] + words[: max_tokens - 2]
""",
    ),
    (
        "specials_not_counted",
        """
def build_vocabulary(texts, max_tokens):
    counts = Counter(word for text in texts for word in text.split())
    return ["", "[UNK]"] + sorted(counts, key=lambda word: (-counts[word], word))[:max_tokens]
""",
    ),
    (
        "ties_backwards",
        """
def build_vocabulary(texts, max_tokens):
    counts = Counter(word for text in texts for word in text.split())
    words = sorted(counts, key=lambda word: (counts[word], word), reverse=True)
    return ["", "[UNK]", *words][:max_tokens]
""",
    ),
    (
        "empty_word_counted",
        """
def build_vocabulary(texts, max_tokens):
    counts = Counter(word for text in texts for word in text.split(" "))
    words = sorted(counts, key=lambda word: (-counts[word], word))
    return ["", "[UNK]", *words][:max_tokens]
""",
    ),
    (
        "texts_counted",
        """
def build_vocabulary(texts, max_tokens):
    counts = Counter(word for text in texts for word in set(text.split()))
    return ["", "[UNK]", *sorted(counts, key=lambda word: (-counts[word], word))][:max_tokens]
""",
    ),
    (
        "cut_before_ties",
        """
def build_vocabulary(texts, max_tokens):
    counts = Counter(word for text in texts for word in text.split())
    frequent = [word for word, _ in counts.most_common(max_tokens - 2)]
    return ["", "[UNK]", *sorted(frequent, key=lambda word: (-counts[word], word))]
""",
    ),
    (None, "def build_vocabulary(texts, max_tokens):\n    return sorted(set(' '.join(texts)))\n"),
    (None, "def build_vocabulary(texts, max_tokens):\n    return {'': 0, '[UNK]': 1}\n"),
]

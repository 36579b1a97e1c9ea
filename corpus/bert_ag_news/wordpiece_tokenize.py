"""Lab 07, exercise `wordpiece_tokenize`: solutions as different students write them, right and wrong."""

CORRECT = [
    # recursion, with None for a failure
    """
def rest(text, vocabulary, first):
    if not text:
        return []
    for size in range(len(text), 0, -1):
        piece = text[:size] if first else "##" + text[:size]
        if piece in vocabulary:
            others = rest(text[size:], vocabulary, False)
            return None if others is None else [piece, *others]
    return None

def wordpiece_tokenize(word, vocabulary, unknown="[UNK]", max_chars=100):
    pieces = rest(word, vocabulary, True) if len(word) <= max_chars else None
    return [unknown] if pieces is None else pieces
""",
    # two while loops with a flag, as in BERT's own kind of code
    """
def wordpiece_tokenize(word, vocabulary, unknown="[UNK]", max_chars=100):
    characters = list(word)
    if len(characters) > max_chars:
        return [unknown]
    is_bad = False
    start = 0
    found = []
    while start < len(characters):
        end = len(characters)
        current = None
        while start < end:
            candidate = "".join(characters[start:end])
            if start > 0:
                candidate = "##" + candidate
            if candidate in vocabulary:
                current = candidate
                break
            end -= 1
        if current is None:
            is_bad = True
            break
        found.append(current)
        start = end
    return [unknown] if is_bad else found
""",
    # max over the fitting pieces
    """
def wordpiece_tokenize(word, vocabulary, unknown="[UNK]", max_chars=100):
    if len(word) > max_chars:
        return [unknown]
    first = [piece for piece in vocabulary if not piece.startswith("##")]
    later = [piece[2:] for piece in vocabulary if piece.startswith("##")]
    result, text, pool, marks = [], word, first, ""
    while text:
        fitting = [piece for piece in pool if piece and text.startswith(piece)]
        if not fitting:
            return [unknown]
        best = max(fitting, key=len)
        result.append(marks + best)
        text, pool, marks = text[len(best):], later, "##"
    return result
""",
    # next with a generator, a set of its own
    """
def wordpiece_tokenize(word, vocabulary, unknown="[UNK]", max_chars=100):
    known = frozenset(vocabulary)
    pieces, left = [], word
    while left and len(word) <= max_chars:
        marks = "##" * (left != word)
        size = next((n for n in range(len(left), 0, -1) if marks + left[:n] in known), None)
        if size is None:
            return [unknown]
        pieces.append(marks + left[:size])
        left = left[size:]
    return pieces or [unknown]
""",
    # marks are put in front of the rest, not of each candidate
    """
def wordpiece_tokenize(word, vocabulary, unknown="[UNK]", max_chars=100):
    if max_chars < len(word): return [unknown]
    output, remaining, least = [], word, 0
    while len(remaining) > least:
        size = len(remaining)
        while size > least and remaining[:size] not in vocabulary:
            size -= 1
        if size == least:
            return [unknown]
        output.append(remaining[:size])
        remaining, least = "##" + remaining[size:], 2
    return output
""",
    # a trie of the vocabulary
    """
def wordpiece_tokenize(word, vocabulary, unknown="[UNK]", max_chars=100):
    trie = {}
    for piece in vocabulary:
        node = trie
        for character in piece:
            node = node.setdefault(character, {})
        node["end"] = True
    if len(word) > max_chars:
        return [unknown]
    start, pieces = 0, []
    while start < len(word):
        node = trie if start == 0 else trie.get("#", {}).get("#", {})
        best = None
        for place in range(start, len(word)):
            node = node.get(word[place])
            if node is None:
                break
            if "end" in node:
                best = place + 1
        if best is None:
            return [unknown]
        pieces.append(("##" if start else "") + word[start:best])
        start = best
    return tuple(pieces)
""",
]

GREEDY = """
def wordpiece_tokenize(word, vocabulary, unknown="[UNK]", max_chars=100):
    {first}
    if {too_long}:
        return [unknown]
    pieces, start = [], 0
    while start < len(word):
        for end in {ends}:
            piece = {piece}
            if piece in vocabulary:
                pieces.append({shown})
                start = end
                break
        else:
            {nothing}
    return pieces
"""

STEPS = {
    "first": "pass",
    "too_long": "len(word) > max_chars",
    "ends": "range(len(word), start, -1)",
    "piece": 'word[start:end] if start == 0 else "##" + word[start:end]',
    "shown": "piece",
    "nothing": "return [unknown]",
}


def greedy(**changed: str) -> str:
    """The tokenizer with some of its steps changed."""
    return GREEDY.format(**{**STEPS, **changed})


WRONG = [
    ("shortest_first", greedy(ends="range(start + 1, len(word) + 1)")),
    ("last_character_never", greedy(ends="range(len(word) - 1, start, -1)")),
    ("single_characters_never", greedy(ends="range(len(word), start + 1, -1)")),
    ("never_cut", greedy(ends="[len(word)]")),
    ("marks_left_out", greedy(shown="word[start:end]")),
    ("marks_not_looked_for", greedy(piece="word[start:end]")),
    ("marks_added_only", greedy(piece="word[start:end]", shown='piece if start == 0 else "##" + piece')),
    ("marks_everywhere", greedy(piece='"##" + word[start:end]')),
    ("rest_unknown", greedy(nothing="return pieces + [unknown]")),
    ("rest_dropped", greedy(nothing="break")),
    ("character_unknown", greedy(nothing="pieces.append(unknown); start += 1")),
    ("character_skipped", greedy(nothing="start += 1")),
    ("nothing_for_unknown", greedy(nothing="return []")),
    ("unknown_fixed", greedy(first='unknown = "[UNK]"')),
    ("limit_one_too_early", greedy(too_long="len(word) >= max_chars")),
    ("limit_ignored", greedy(too_long="False")),
    ("limit_fixed", greedy(too_long="len(word) > 100")),
    ("limit_in_bytes", greedy(too_long='len(word.encode("utf-8")) > max_chars')),
    ("long_word_cut", greedy(first="word = word[:max_chars]")),
    ("lowercased", greedy(first="word = word.lower()")),
    (
        "any_cover",  # goes back
        """
def wordpiece_tokenize(word, vocabulary, unknown="[UNK]", max_chars=100):
    def cover(start):
        if start == len(word):
            return []
        for end in range(len(word), start, -1):
            piece = ("##" if start else "") + word[start:end]
            if piece in vocabulary and (rest := cover(end)) is not None:
                return [piece] + rest
    if len(word) > max_chars:
        return [unknown]
    found = cover(0)
    return [unknown] if found is None else found
""",
    ),
    (
        "fewest_pieces",
        """
def wordpiece_tokenize(word, vocabulary, unknown="[UNK]", max_chars=100):
    if len(word) > max_chars:
        return [unknown]
    best = {len(word): []}
    for start in range(len(word) - 1, -1, -1):
        for end in range(len(word), start, -1):
            piece = ("##" if start else "") + word[start:end]
            if piece in vocabulary and end in best and len(best[end]) + 1 < len(best.get(start, word + "..")):
                best[start] = [piece] + best[end]
    return best.get(0, [unknown])
""",
    ),
    (
        "from_the_end",
        """
def wordpiece_tokenize(word, vocabulary, unknown="[UNK]", max_chars=100):
    if len(word) > max_chars:
        return [unknown]
    pieces, end = [], len(word)
    while end:
        for start in range(end):
            piece = ("##" if start else "") + word[start:end]
            if piece in vocabulary:
                pieces.insert(0, piece)
                end = start
                break
        else:
            return [unknown]
    return pieces
""",
    ),
    (
        "plain_pieces_inside",
        greedy(piece='word[start:end] if start == 0 or "##" + word[start:end] not in vocabulary else "##" + word[start:end]'),
    ),
    (None, greedy(nothing="return unknown")),
    (None, greedy() + "\nf = wordpiece_tokenize\ndef wordpiece_tokenize(*a, **k): print(f(*a, **k))"),
    (None, 'def wordpiece_tokenize(word, vocabulary, unknown="[UNK]", max_chars=100):\n    return [word]\n'),
    (  # the library's tokenizer
        None,
        """
import tensorflow_text
def wordpiece_tokenize(word, vocabulary, unknown="[UNK]", max_chars=100):
    tokenizer = tensorflow_text.FastWordpieceTokenizer(list(vocabulary) + [unknown], token_out_type=tf.string)
    return [each.decode() for each in tokenizer.tokenize(word).numpy().tolist()]
""",
    ),
    (  # a whole word is looked for before its length
        "whole_word_first",
        """
def wordpiece_tokenize(word, vocabulary, unknown="[UNK]", max_chars=100):
    if word in vocabulary:
        return [word]
    if len(word) > max_chars:
        return [unknown]
    pieces, start = [], 0
    while start < len(word):
        end = len(word)
        while end > start:
            piece = ("##" if start else "") + word[start:end]
            if piece in vocabulary:
                break
            end -= 1
        if end == start:
            return [unknown]
        pieces.append(piece)
        start = end
    return pieces
""",
    ),
]  # fmt: skip

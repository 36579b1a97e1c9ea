"""Lab 06, exercise `vectorize`: solutions as different students write them, right and wrong."""

CORRECT = [
    # list.index
    """
def vectorize(texts, vocabulary, max_length):
    index = {w: i for i, w in enumerate(vocabulary)}
    rows = np.zeros((len(texts), max_length), "int64")
    for r, text in enumerate(texts):
        ids = [vocabulary.index(w) if w in vocabulary else 1 for w in text.split()][:max_length]
        rows[r, :len(ids)] = ids
    return rows
""",
    """
def vectorize(texts, vocabulary, max_length):
    rows = []
    for text in texts:
        row = []
        for word in text.split():
            row.append(vocabulary.index(word) if word in vocabulary else 1)
        row = row[:max_length] + [0] * (max_length - len(row))
        rows.append(row)
    return np.array(rows)
""",
    # plain lists
    """
def vectorize(texts, vocabulary, max_length):
    ids = dict(zip(vocabulary, range(len(vocabulary))))
    return [([ids.get(w, 1) for w in t.split()] + max_length * [0])[:max_length] for t in texts]
""",
    # pad_sequences, told where
    """
def vectorize(texts, vocabulary, max_length):
    lookup = {word: i for i, word in enumerate(vocabulary)}
    rows = [[lookup.get(word, 1) for word in text.split()] for text in texts]
    return keras.utils.pad_sequences(rows, maxlen=max_length, padding="post", truncating="post")
""",
    # Keras's own layer
    """
def vectorize(texts, vocabulary, max_length):
    words = list(vocabulary[2:]) or ["nosuchword"]
    layer = keras.layers.TextVectorization(
        standardize=None, split="whitespace", output_sequence_length=max_length, vocabulary=words
    )
    return layer(tf.constant(texts))
""",
    # a ragged tensor
    """
from collections import defaultdict
def vectorize(texts, vocabulary, max_length):
    place = defaultdict(lambda: 1, {word: i for i, word in enumerate(vocabulary) if word})
    ragged = tf.ragged.constant([[place[word] for word in text.split()] for text in texts], dtype=tf.int64)
    return ragged.to_tensor(default_value=0, shape=(len(texts), max_length))
""",
    # itertools, int16
    """
from itertools import chain, islice, repeat
def vectorize(texts, vocabulary, max_length):
    place = {word: number for number, word in reversed(list(enumerate(vocabulary)))}
    row = lambda text: chain((place.get(word, 1) for word in text.split()), repeat(0))
    return np.array([list(islice(row(standardize(text)), max_length)) for text in texts], dtype=np.int16)
""",
]

WRONG = [
    # numbers that end at 127: right here, and negative for the vocabulary of the lab
    (
        None,
        """
def vectorize(texts, vocabulary, max_length):
    rows = [[vocabulary.index(w) if w in vocabulary else 1 for w in t.split()][:max_length] for t in texts]
    return np.array([row + [0] * (max_length - len(row)) for row in rows], "int8")
""",
    ),
    (
        "",
        """
def vectorize(texts, vocabulary, max_length):
    index = {w: i for i, w in enumerate(vocabulary[2:])}
    rows = np.zeros((len(texts), max_length), "int64")
    for r, text in enumerate(texts):
        ids = [index.get(w, 1) for w in text.split()][:max_length]
        rows[r, :len(ids)] = ids
    return rows
""",
    ),
    (
        "",
        """
def vectorize(texts, vocabulary, max_length):
    index = {w: i for i, w in enumerate(vocabulary)}
    return [[index.get(w, 1) for w in t.split()][:max_length] for t in texts]
""",
    ),
    (
        "cut_in_front",
        """
def vectorize(texts, vocabulary, max_length):
    index = {w: i for i, w in enumerate(vocabulary)}
    return keras.utils.pad_sequences([[index.get(w, 1) for w in t.split()] for t in texts], max_length, padding="post")
""",
    ),
    (
        "",
        """
def vectorize(texts, vocabulary, max_length):
    index = {w: i for i, w in enumerate(vocabulary)}
    rows = np.zeros((len(texts), max_length), "int64")
    for r, text in enumerate(texts):
        ids = [index.get(w, 1) for w in text.split()]
        rows[r, :len(ids)] = ids
    return rows
""",
    ),
    (
        "pad_sequences_defaults",
        """
def vectorize(texts, vocabulary, max_length):
    place = {word: i for i, word in enumerate(vocabulary)}
    return keras.utils.pad_sequences([[place.get(w, 1) for w in t.split()] for t in texts], maxlen=max_length)
""",
    ),
    (
        "cut_in_front",
        """
def vectorize(texts, vocabulary, max_length):
    place = {word: i for i, word in enumerate(vocabulary)}
    rows = [[place.get(w, 1) for w in t.split()] for t in texts]
    return keras.utils.pad_sequences(rows, maxlen=max_length, padding="post")
""",
    ),
    (
        "ids_are_floats",
        """
def vectorize(texts, vocabulary, max_length):
    ids = np.zeros((len(texts), max_length))
    for row, text in enumerate(texts):
        for column, word in enumerate(text.split()[:max_length]):
            ids[row, column] = vocabulary.index(word) if word in vocabulary else 1
    return ids
""",
    ),
    (
        "cut_at_characters",
        """
def vectorize(texts, vocabulary, max_length):
    ids = np.zeros((len(texts), max_length), int)
    for row, text in enumerate(texts):
        for column, word in enumerate(text[:max_length].split()):
            ids[row, column] = vocabulary.index(word) if word in vocabulary else 1
    return ids
""",
    ),
    (
        "specials_counted_twice",
        """
def vectorize(texts, vocabulary, max_length):
    place = {word: i for i, word in enumerate(vocabulary, start=2)}
    rows = [[place.get(w, 1) for w in t.split()][:max_length] for t in texts]
    return np.array([row + [0] * (max_length - len(row)) for row in rows])
""",
    ),
    (
        "empty_word_is_unknown",
        """
def vectorize(texts, vocabulary, max_length):
    place = {word: i for i, word in enumerate(vocabulary) if i > 1}
    rows = [[place.get(w, 1) for w in t.split(" ")][:max_length] for t in texts]
    return np.array([row + [0] * (max_length - len(row)) for row in rows])
""",
    ),
    (
        None,
        """
def vectorize(texts, vocabulary, max_length):
    return [[vocabulary.index(w) if w in vocabulary else 1 for w in t.split()] for t in texts]
""",
    ),
    (
        None,
        """
def vectorize(texts, vocabulary, max_length):
    rows = [[vocabulary.index(w) for w in t.split()][:max_length] for t in texts]
    return np.array([row + [0] * (max_length - len(row)) for row in rows])
""",
    ),
]

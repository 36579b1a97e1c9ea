"""Lab 07: solutions as different students write them."""

# A classifier in pieces, so that variants can change one of them.
NEWS = """
def build_news_classifier(preprocess_handle, encoder_handle, num_classes=4, dropout=0.2, trainable=True):
    text = tf_keras.layers.Input(shape=(), dtype=tf.string)
    rows = {rows}(text)
    encoder = hub.KerasLayer({encoder})
    outputs = encoder(rows)
    x = {pooled}
    {before}
    h = {hidden}
    h = {dropped}
    y = {output}
    return {model}
"""
PIECES = {
    "rows": "hub.KerasLayer(preprocess_handle)",
    "encoder": "encoder_handle, trainable=trainable",
    "pooled": 'outputs["pooled_output"]',
    "before": "pass",
    "hidden": 'tf_keras.layers.Dense(16, activation="relu")(x)',
    "dropped": "tf_keras.layers.Dropout(dropout)(h)",
    "output": 'tf_keras.layers.Dense(num_classes, activation="softmax")(h)',
    "model": "tf_keras.Model(text, y)",
}


def news(**changed: str) -> str:
    """The classifier with some of its pieces changed."""
    return NEWS.format(**{**PIECES, **changed})


MASKING = """
def mask_tokens(ids, rng, vocab_size, mask_id, special_ids, rate=0.15):
    {first}
    chosen = {chosen}
    fate = {fate}
    inputs = {copy}
    inputs[chosen & (fate < {mask_below})] = mask_id
    replaced = chosen & (fate >= {mask_below}) & (fate < {random_below})
    inputs[replaced] = {random}
    labels = {labels}
    return inputs, labels
"""
PARTS = {
    "first": "pass",
    "chosen": "(rng.random(ids.shape) < rate) & ~np.isin(ids, special_ids)",
    "fate": "rng.random(ids.shape)",
    "copy": "ids.copy()",
    "mask_below": "0.8",
    "random_below": "0.9",
    "random": "rng.integers(vocab_size, size=replaced.sum())",
    "labels": "np.where(chosen, ids, -100)",
}


def masking(**changed: str) -> str:
    """The masking with some of its parts changed."""
    return MASKING.format(**{**PARTS, **changed})


CUTTING = """
def pack_inputs(a, b=None, *, max_length, cls_id, sep_id, pad_id=0):
    a, b = list(a), None if b is None else list(b)
    room = max_length - {extra}
    {cut}
    ids = [cls_id] + a + [sep_id]
    types = [0] * len(ids)
    if b is not None:
        ids += b + [sep_id]
        types += [1] * (len(b) + 1)
    ids, types = ids[:max_length], types[:max_length]
    mask = [1] * len(ids)
    gap = max_length - len(ids)
    return {{
        "input_word_ids": np.array(ids + {pad} * gap),
        "input_mask": np.array(mask + [0] * gap){mask_type},
        "input_type_ids": np.array(types + {type_pad} * gap),
    }}
"""
CUTS = {
    "extra": "(2 if b is None else 3)",
    "cut": "while len(a) + len(b or []) > room: (a if len(a) > len(b or []) else b).pop()",
    "pad": "[pad_id]",
    "mask_type": "",
    "type_pad": "[0]",
}


def cutting(**changed: str) -> str:
    """The packing with some of its parts changed."""
    return CUTTING.format(**{**CUTS, **changed})


CORRECT = {
    "wordpiece_tokenize": [
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
    ],
    "pack_inputs": [
        cutting(
            cut="while b is not None and len(a) + len(b) > room: (a if len(a) > len(b) else b).pop()\n    a = a[:room]"
        ),
        # one branch for each kind, lists
        """
def pack_inputs(a, b=None, *, max_length, cls_id, sep_id, pad_id=0):
    if b is None:
        ids = [cls_id] + list(a)[: max_length - 2] + [sep_id]
        types = [0] * len(ids)
    else:
        left, right = len(a), len(b)
        while left + right > max_length - 3:
            if left > right:
                left -= 1
            else:
                right -= 1
        ids = [cls_id] + a[:left] + [sep_id] + b[:right] + [sep_id]
        types = [0] * (left + 2) + [1] * (right + 1)
    mask = [1] * len(ids)
    while len(ids) < max_length:
        ids.append(pad_id)
        mask.append(0)
        types.append(0)
    return {"input_word_ids": ids, "input_mask": mask, "input_type_ids": types}
""",
        # lengths by a formula
        """
def pack_inputs(a, b=None, *, max_length, cls_id, sep_id, pad_id=0):
    second = [] if b is None else b
    room = max_length - 2 - (b is not None)
    m, n = len(a), len(second)
    if m + n > room:
        if b is None:
            m = room
        elif min(m, n) * 2 <= room:
            m, n = (m, room - m) if m <= n else (room - n, n)
        else:
            m, n = room - room // 2, room // 2
    ids = np.full(max_length, pad_id)
    mask, types = np.zeros(max_length, int), np.zeros(max_length, int)
    end = m + 2
    ids[0], ids[1 : m + 1], ids[m + 1] = cls_id, a[:m], sep_id
    if b is not None:
        ids[end : end + n], ids[end + n] = second[:n], sep_id
        types[end : end + n + 1] = 1
        end += n + 1
    mask[:end] = 1
    return dict(input_word_ids=ids, input_mask=mask, input_type_ids=types)
""",
        # NumPy, padded at the end
        """
def pack_inputs(a, b=None, *, max_length, cls_id, sep_id, pad_id=0):
    parts = [list(a)] if b is None else [list(a), list(b)]
    while sum(map(len, parts)) + len(parts) + 1 > max_length:
        longest = max(range(len(parts)), key=lambda place: (len(parts[place]), place))
        parts[longest] = parts[longest][:-1]
    rows = [(cls_id, 0)]
    for segment, part in enumerate(parts):
        rows += [(each, segment) for each in part] + [(sep_id, segment)]
    ids, types = np.array(rows).T
    gap = (0, max_length - len(ids))
    return {
        "input_type_ids": np.pad(types, gap),
        "input_mask": np.pad(np.ones_like(ids), gap),
        "input_word_ids": np.pad(ids, gap, constant_values=pad_id),
    }
""",
        # TensorFlow tensors
        """
def pack_inputs(a, b=None, *, max_length, cls_id, sep_id, pad_id=0):
    a, b, pair = a[:], (b or [])[:], b is not None
    for _ in range(len(a) + len(b)):
        if len(a) + len(b) <= max_length - 2 - pair:
            break
        if len(b) >= len(a) and pair:
            b = b[:-1]
        else:
            a = a[:-1]
    first = tf.constant([cls_id, *a, sep_id])
    second = tf.constant([*b, sep_id] if pair else [], tf.int32)
    ids = tf.concat([first, second], 0)
    gap = [[0, max_length - int(tf.size(ids))]]
    return {
        "input_word_ids": tf.pad(ids, gap, constant_values=pad_id),
        "input_mask": tf.pad(tf.ones_like(ids), gap),
        "input_type_ids": tf.pad(tf.concat([tf.zeros_like(first), tf.ones_like(second)], 0), gap),
    }
""",
        # itertools
        """
from itertools import chain, islice, repeat
def pack_inputs(a, b=None, *, max_length, cls_id, sep_id, pad_id=0):
    keep = [len(a), len(b) if b is not None else -1]
    room = max_length - (3 if b is not None else 2)
    while sum(map(lambda n: max(n, 0), keep)) > room:
        keep[0 if keep[0] > keep[1] else 1] -= 1
    tokens = [(cls_id, 1, 0), *((each, 1, 0) for each in islice(a, keep[0])), (sep_id, 1, 0)]
    if b is not None:
        tokens += [*((each, 1, 1) for each in islice(b, keep[1])), (sep_id, 1, 1)]
    filled = islice(chain(tokens, repeat((pad_id, 0, 0))), max_length)
    names = ("input_word_ids", "input_mask", "input_type_ids")
    return {name: np.array(row, dtype="int32") for name, row in zip(names, zip(*filled))}
""",
    ],
    "mask_tokens": [
        masking(),
        # token by token
        """
def mask_tokens(ids, rng, vocab_size, mask_id, special_ids, rate=0.15):
    special = set(special_ids)
    flat = ids.reshape(-1).tolist()
    inputs, labels = [], []
    for token in flat:
        if token in special or rng.random() >= rate:
            inputs.append(token)
            labels.append(-100)
            continue
        labels.append(token)
        fate = rng.random()
        if fate < 0.8:
            inputs.append(mask_id)
        elif fate < 0.9:
            inputs.append(int(rng.integers(0, vocab_size)))
        else:
            inputs.append(token)
    return np.array(inputs).reshape(ids.shape), np.array(labels).reshape(ids.shape)
""",
        # the fate first, by choice with probabilities; then who is chosen
        """
def mask_tokens(ids, rng, vocab_size, mask_id, special_ids, rate=0.15):
    options = np.stack([np.full_like(ids, mask_id), rng.integers(0, vocab_size, ids.shape), ids])
    kind = rng.choice(3, size=ids.shape, p=[0.8, 0.1, 0.1])
    instead = np.take_along_axis(options, kind[None], axis=0)[0]
    chosen = rng.binomial(1, rate, size=ids.shape).astype(bool)
    for special in special_ids:
        chosen &= ids != special
    return np.where(chosen, instead, ids), np.where(chosen, ids, -100)
""",
        # half of the rest, then half of that; lists of places
        """
def mask_tokens(ids, rng, vocab_size, mask_id, special_ids, rate=0.15):
    inputs, labels = np.array(ids), np.full(ids.shape, -100)
    ordinary = np.argwhere(~np.isin(ids, list(special_ids)))
    picked = ordinary[rng.random(len(ordinary)) < rate]
    labels[tuple(picked.T)] = ids[tuple(picked.T)]
    masked = rng.random(len(picked)) < 0.8
    inputs[tuple(picked[masked].T)] = mask_id
    rest = picked[~masked]
    swapped = rest[rng.random(len(rest)) < 0.5]
    inputs[tuple(swapped.T)] = rng.integers(vocab_size, size=len(swapped))
    return inputs, labels
""",
        # one number for everything: below 0.8 · rate mask, below 0.9 · rate random, below rate kept
        """
def mask_tokens(ids, rng, vocab_size, mask_id, special_ids, rate=0.15):
    number = rng.uniform(size=ids.shape)
    number[np.isin(ids, special_ids)] = 1.0
    inputs = np.select(
        [number < 0.8 * rate, number < 0.9 * rate], [mask_id, rng.integers(0, vocab_size, size=ids.shape)], default=ids
    )
    return inputs, np.where(number < rate, ids, -100)
""",
        # row by row, a number of chosen ones that is itself drawn, then places without order
        """
def mask_tokens(ids, rng, vocab_size, mask_id, special_ids, rate=0.15):
    inputs, labels = ids.copy(), np.full_like(ids, -100)
    for row, out, label in zip(np.atleast_2d(ids), np.atleast_2d(inputs), np.atleast_2d(labels)):
        places = np.flatnonzero(~np.isin(row, special_ids))
        places = rng.permutation(places)[: rng.binomial(len(places), rate)]
        label[places] = row[places]
        for place in places:
            fate = rng.integers(10)
            if fate < 8:
                out[place] = mask_id
            elif fate == 8:
                out[place] = rng.integers(vocab_size)
    return inputs, labels
""",
        # a random id by scaling a random number; tensors come back
        """
def mask_tokens(ids, rng, vocab_size, mask_id, special_ids, rate=0.15):
    four = rng.random((3, *ids.shape))
    drawn = np.floor(four[2] * vocab_size).astype(ids.dtype)
    chosen = np.logical_and(four[0] < rate, np.isin(ids, special_ids, invert=True))
    inputs = tf.where(four[1] < 0.8, tf.cast(mask_id, ids.dtype), tf.where(four[1] < 0.9, drawn, ids))
    return tf.where(chosen, inputs, ids), tf.where(chosen, ids, tf.constant(-100, ids.dtype))
""",
    ],
    "warmup_linear_decay": [
        # the smaller of two lines
        """
def warmup_linear_decay(step, peak, warmup_steps, total_steps):
    up = step / warmup_steps if warmup_steps else 1.0
    down = (total_steps - step) / (total_steps - warmup_steps)
    return peak * max(0.0, min(up, down, 1.0))
""",
        # interpolation
        """
def warmup_linear_decay(step, peak, warmup_steps, total_steps):
    if warmup_steps == 0:
        return float(np.interp(step, [0, total_steps], [peak, 0]))
    return float(np.interp(step, [0, warmup_steps, total_steps], [0, peak, 0]))
""",
        # three cases
        """
def warmup_linear_decay(step, peak, warmup_steps, total_steps):
    if step >= total_steps:
        return 0.0
    if step <= warmup_steps and warmup_steps > 0:
        return step * (peak / warmup_steps)
    slope = peak / (total_steps - warmup_steps)
    return peak - slope * (step - warmup_steps)
""",
        # a schedule object of tf_keras for the way down
        """
def warmup_linear_decay(step, peak, warmup_steps, total_steps):
    if step < warmup_steps:
        return peak * (step / max(1, warmup_steps))
    down = tf_keras.optimizers.schedules.PolynomialDecay(peak, total_steps - warmup_steps, 0.0)
    return float(down(step - warmup_steps))
""",
        # clip
        """
def warmup_linear_decay(step, peak, warmup_steps, total_steps):
    rising = step < warmup_steps
    share = (step / warmup_steps) if rising else 1 - (step - warmup_steps) / (total_steps - warmup_steps)
    return np.clip(share, 0, 1) * peak
""",
    ],
    "build_news_classifier": [
        news(),
        # a subclass of Model
        """
class Classifier(tf_keras.Model):
    def __init__(self, preprocess_handle, encoder_handle, num_classes, dropout, trainable):
        super().__init__()
        self.first = hub.KerasLayer(preprocess_handle)
        self.second = hub.KerasLayer(encoder_handle, trainable=trainable)
        self.hidden = tf_keras.layers.Dense(16, "relu")
        self.drop = tf_keras.layers.Dropout(dropout)
        self.out = tf_keras.layers.Dense(num_classes)

    def call(self, texts, training=None):
        pooled = self.second(self.first(texts))["pooled_output"]
        return tf.nn.softmax(self.out(self.drop(self.hidden(pooled), training=training)))

def build_news_classifier(preprocess_handle, encoder_handle, num_classes=4, dropout=0.2, trainable=True):
    return Classifier(preprocess_handle, encoder_handle, num_classes, dropout, trainable)
""",
        # frozen afterwards, activations as layers
        """
def build_news_classifier(preprocess_handle, encoder_handle, num_classes=4, dropout=0.2, trainable=True):
    layers = tf_keras.layers
    encoder = hub.KerasLayer(encoder_handle)
    encoder.trainable = trainable
    text = layers.Input(shape=(), dtype=tf.string)
    x = layers.Lambda(lambda outputs: outputs["pooled_output"])(encoder(hub.KerasLayer(preprocess_handle)(text)))
    for layer in (layers.Dense(16), layers.ReLU(), layers.Dropout(rate=dropout), layers.Dense(num_classes), layers.Softmax()):
        x = layer(x)
    return tf_keras.Model(text, x)
""",
        # preprocessing trainable in name, activations apart, dropout by hand
        """
class Drop(tf_keras.layers.Layer):
    def __init__(self, rate, **kwargs):
        super().__init__(**kwargs)
        self.rate = rate

    def call(self, x, training=False):
        return tf.nn.dropout(x, self.rate) if training else x
"""
        + news(
            rows="hub.KerasLayer(preprocess_handle, trainable=trainable)",
            hidden="tf.nn.relu(tf_keras.layers.Dense(16)(x))",
            dropped="Drop(dropout)(h)",
            output="tf.nn.softmax(tf_keras.layers.Dense(num_classes)(h))",
        ),
        # a head of its own as a model; an input of shape (1,) would do as well, but the contract has ()
        """
def head(num_classes, dropout):
    return tf_keras.Sequential([
        tf_keras.layers.Dense(16, activation=tf.nn.relu),
        tf_keras.layers.Dropout(dropout),
        tf_keras.layers.Dense(num_classes, activation=tf_keras.activations.softmax),
    ])

def build_news_classifier(preprocess_handle, encoder_handle, num_classes=4, dropout=0.2, trainable=True):
    texts = tf_keras.Input(shape=(), dtype="string", name="texts")
    inputs = hub.KerasLayer(preprocess_handle)(texts)
    outputs = hub.KerasLayer(encoder_handle, trainable=trainable)(inputs)
    return tf_keras.models.Model(inputs=[texts], outputs=head(num_classes, dropout)(outputs["pooled_output"]))
""",
        # the three rows handed over one by one
        news(
            pooled="encoder({key: rows[key] for key in "
            '("input_word_ids", "input_mask", "input_type_ids")})["pooled_output"]'
        ),
    ],
    "predict_class_names": [
        # one by one
        """
def predict_class_names(model, texts, class_names):
    names = []
    for text in texts:
        row = model.predict(tf.constant([text]))[0]
        names.append(class_names[int(row.argmax())])
    return names
""",
        # a dataset of batches
        """
def predict_class_names(model, texts, class_names):
    if len(texts) == 0:
        return []
    batches = tf.data.Dataset.from_tensor_slices(list(texts)).batch(2)
    return [class_names[int(i)] for i in tf.argmax(model.predict(batches), axis=-1)]
""",
        # NumPy's strings, and back
        """
def predict_class_names(model, texts, class_names):
    if not texts: return []
    probabilities = np.asarray(model.predict(np.array(texts)))
    return np.array(class_names)[probabilities.argmax(-1)].tolist()
""",
        # sorted
        """
def predict_class_names(model, texts, class_names):
    if len(texts) < 1:
        return list()
    rows = model.predict(np.array(texts, dtype=object), batch_size=3, verbose=0)
    return [sorted(zip(row, class_names))[-1][1] for row in rows.tolist()]
""",
        # map, a column of texts
        """
def predict_class_names(model, texts, class_names):
    rows = model.predict(tf.constant(texts)[:, None], verbose=0) if texts else []
    return list(map(lambda row: max(zip(class_names, row), key=lambda pair: pair[1])[0], rows))
""",
        # a plain list of texts
        """
def predict_class_names(model, texts, class_names):
    rows = model.predict(texts) if texts else np.zeros((0, len(class_names)))
    return [str(np.take(class_names, place)) for place in np.nanargmax(rows, 1)]
""",
    ],
    "answers": [
        'answers = {"masked": 12, "decision": "b", "keras": "c"}',
        'answers = {"masked": 100 * 0.15 * 0.8, "decision": "B", "keras": "C"}',
        'answers = dict(masked=12.0, decision=" b", keras="c ")',
        'answers = {"masked": np.float32(12), "decision": "b", "keras": "c"}',
        'answers = {"keras": "c", "decision": "b", "masked": tf.constant(12)}',
    ],
    "find_the_bug": [
        "find_the_bug = warmup_linear_decay",
        """
def find_the_bug(step, peak, warmup_steps, total_steps):
    up = step / warmup_steps if warmup_steps else 1
    down = (total_steps - step) / (total_steps - warmup_steps)
    return peak * max(0.0, min(up, down))
""",
        """
def find_the_bug(step, peak, warmup_steps, total_steps):
    up = 1.0 if step >= warmup_steps else step / warmup_steps
    down = (total_steps - step) / (total_steps - warmup_steps)
    return float(peak * np.clip(min(up, down), 0, 1))
""",
        """
def find_the_bug(step, peak, warmup_steps, total_steps):
    up = float("inf") if warmup_steps == 0 else step / warmup_steps
    down = (total_steps - step) / (total_steps - warmup_steps)
    return max(0.0, peak * min(up, down))
""",
        """
def find_the_bug(step, peak, warmup_steps, total_steps):
    points = [0, warmup_steps, total_steps] if warmup_steps else [0, total_steps]
    rates = [0.0, peak, 0.0] if warmup_steps else [peak, 0.0]
    return float(np.interp(step, points, rates))
""",
    ],
    "predict": [
        "predict = 1.386",
        "predict = 1.5",
        "predict = [1.4]",
        "predict = np.log(4)",
        "predict = tf.constant(1.6)",
    ],
}

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


WRONG = {
    "wordpiece_tokenize": [
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
    ],
    "pack_inputs": [
        ("cut_from_the_start", cutting(cut="while len(a) + len(b or []) > room: (a if len(a) > len(b or []) else b).pop(0)")),
        ("ties_cut_first", cutting(cut="while len(a) + len(b or []) > room: (b if len(b or []) > len(a) else a).pop()")),
        ("second_cut_first", cutting(cut="while len(a) + len(b or []) > room: (b or a).pop()")),
        ("first_cut_first", cutting(cut="while len(a) + len(b or []) > room: (a or b).pop()")),
        ("both_cut", cutting(cut="while len(a) + len(b or []) > room: a, b = a[:-1], b and b[:-1]")),
        ("whole_row_cut", cutting(cut="pass")),
        ("specials_forgotten", cutting(extra="0")),
        ("one_special_forgotten", cutting(extra="(1 if b is None else 2)")),
        ("three_specials_always", cutting(extra="3")),
        (
            "cut_in_halves",
            cutting(
                cut="if b is None: a = a[:room]\n"
                "    elif len(a) + len(b) > room: a, b = a[: room - room // 2], b[: room // 2]"
            ),
        ),
        (
            "cut_in_proportion",
            cutting(
                cut="if b is None: a = a[:room]\n    elif len(a) + len(b) > room:\n"
                "        kept = round(room * len(a) / (len(a) + len(b)))\n        a, b = a[:kept], b[: room - kept]"
            ),
        ),
        (
            "first_cut_to_half",
            cutting(cut="if len(a) + len(b or []) > room: a = a[: room if b is None else (room + 1) // 2]; b = b and b[: room - len(a)]"),
        ),
        (
            "pair_without_last_separator",
            cutting(extra="2").replace("ids += b + [sep_id]", "ids += b").replace("[1] * (len(b) + 1)", "[1] * len(b)"),
        ),
        (
            "class_token_of_b",
            cutting(extra="(2 if b is None else 4)")
            .replace("ids += b", "ids += [cls_id] + b")
            .replace("[1] * (len(b) + 1)", "[1] * (len(b) + 2)"),
        ),
        ("empty_second_ignored", cutting().replace("None if b is None else list(b)", "list(b) if b else None")),
        ("padding_in_second", cutting(type_pad="[1]")),
        ("padding_like_the_last", cutting(type_pad="types[-1:]")),
        ("pad_id_ignored", cutting(pad="[0]")),
        ("floats", cutting(mask_type=".astype(float)")),
        ("mask_is_boolean", cutting(mask_type=".astype(bool)")),
        ("mask_all_ones", cutting(mask_type=" * 0 + 1")),
        ("mask_inverted", cutting(mask_type=" * -1 + 1")),
        ("segments_all_zero", cutting().replace("[1] * (len(b) + 1)", "[0] * (len(b) + 1)")),
        ("segments_from_one", cutting().replace("[0] * len(ids)", "[1] * len(ids)").replace("[1] * (len(b)", "[2] * (len(b)")),
        (
            "separator_in_second",
            cutting().replace("        types += [1] * (len(b) + 1)", "        types = types[:-1] + [1] * (len(b) + 2)"),
        ),
        ("last_separator_in_first", cutting().replace("[1] * (len(b) + 1)", "[1] * len(b) + [0]")),
        ("separator_missing_at_end", cutting().replace("ids += b + [sep_id]", "ids += b").replace("len(b) + 1", "len(b)")
            .replace("ids = [cls_id] + a + [sep_id]", "ids = [cls_id] + a + ([] if b is None else [sep_id])")),
        ("class_token_missing", cutting().replace("[cls_id] + a", "a")),
        ("class_token_twice", cutting().replace("ids = [cls_id] + a + [sep_id]",
            "ids = [cls_id] + a + [sep_id] + ([] if b is None else [cls_id])")),
        ("second_ignored", cutting().replace("a, b = list(a), None if b is None else list(b)", "a, b = list(a), None")),
        (
            "arguments_changed",
            cutting().replace("a, b = list(a), None if b is None else list(b)", "pass"),
        ),
        (
            "padded_in_front",
            cutting()
            .replace("ids + [pad_id] * gap", "[pad_id] * gap + ids")
            .replace("mask + [0] * gap", "[0] * gap + mask")
            .replace("types + [0] * gap", "[0] * gap + types"),
        ),
        ("specials_masked_out", cutting().replace("[1] * len(ids)\n    gap", "[int(i not in (cls_id, sep_id)) for i in ids]\n    gap")),
        (None, "def pack_inputs(a, b=None, **sizes):\n    return [a, b]\n"),
        (None, "def pack_inputs(a, b=None, **sizes):\n    return {'input_word_ids': a, 'input_mask': [1] * len(a)}\n"),
        (None, cutting(cut="a, b = a[:room], b and b[:room]")),
    ],
    "mask_tokens": [
        ("labels_zero", masking(labels="np.where(chosen, ids, 0)")),
        ("labels_minus_one", masking(labels="np.where(chosen, ids, -1)")),
        ("labels_everywhere", masking(labels="ids.copy()")),
        ("labels_inverted", masking(labels="np.where(chosen, -100, ids)")),
        ("labels_after_masking", masking(labels="np.where(chosen, inputs, -100)")),
        ("labels_for_masks_only", masking(labels="np.where(inputs == mask_id, ids, -100)")),
        ("kept_without_label", masking(labels="np.where(inputs != ids, ids, -100)")),
        ("specials_chosen", masking(chosen="rng.random(ids.shape) < rate")),
        ("argument_changed", masking(copy="ids", first="kept = ids.copy()", labels="np.where(chosen, kept, -100)")),
        ("ids_are_floats", masking(labels="np.where(chosen, ids, -100.0)")),
        ("rate_ignored", masking(chosen="(rng.random(ids.shape) < 0.15) & ~np.isin(ids, special_ids)")),
        ("rate_inverted", masking(chosen="(rng.random(ids.shape) > rate) & ~np.isin(ids, special_ids)")),
        (
            "rate_of_all",
            masking(
                first="ordinary = ~np.isin(ids, special_ids)",
                chosen="ordinary & (rng.random(ids.shape) < rate * ids.size / ordinary.sum())",
            ),
        ),
        ("always_masked", masking(mask_below="1.0")),
        (
            "always_masked",  # the same number decides twice
            masking(first="number = rng.random(ids.shape)", chosen="(number < rate) & ~np.isin(ids, special_ids)", fate="number"),
        ),
        ("never_kept", masking(random_below="1.0")),
        ("never_replaced", masking(random_below="0.8")),
        ("tenth_of_the_rest", masking(random_below="0.82")),
        ("mask_and_random_swapped", masking(mask_below="0.1")),
        ("mask_and_kept_swapped", masking(mask_below="0.1", random_below="0.2")),
        ("kinds_in_thirds", masking(mask_below="1 / 3", random_below="2 / 3")),
        ("one_kind_for_all", masking(fate="np.full(ids.shape, rng.random())")),
        ("random_never_zero", masking(random="rng.integers(1, vocab_size, size=replaced.sum())")),
        ("random_never_last", masking(random="rng.integers(vocab_size - 1, size=replaced.sum())")),
        ("random_from_one", masking(random="rng.integers(1, vocab_size + 1, size=replaced.sum())")),
        ("random_beyond", masking(random="rng.integers(0, vocab_size, endpoint=True, size=replaced.sum())")),
        ("random_from_above", masking(random="rng.integers(mask_id + 1, vocab_size, size=replaced.sum())")),
        ("random_from_above", masking(random="rng.integers(len(special_ids), vocab_size, size=replaced.sum())")),
        (
            "random_never_special",
            masking(random="rng.choice(np.setdiff1d(np.arange(vocab_size), special_ids), size=replaced.sum())"),
        ),
        ("random_from_the_text", masking(random="rng.permutation(ids.reshape(-1))[: replaced.sum()]")),
        ("random_never_own", masking(random="(ids[replaced] + rng.integers(1, vocab_size, size=replaced.sum())) % vocab_size")),
        ("random_one_id", masking(random="rng.integers(vocab_size)")),
        (
            "random_not_uniform",
            masking(random="np.clip(rng.normal(vocab_size / 2, vocab_size / 5, replaced.sum()), 0, vocab_size - 1).astype(int)"),
        ),
        (
            "fixed_number",  # of the call
            masking(
                first="places = rng.permutation(np.flatnonzero(~np.isin(ids, special_ids)))\n"
                "    places = places[: round(rate * len(places))]",
                chosen="np.isin(np.arange(ids.size), places).reshape(ids.shape)",
            ),
        ),
        (
            "fixed_number",  # of each row, the smallest of random numbers
            masking(
                first="number = np.where(np.isin(ids, special_ids), 1.0, rng.random(ids.shape))\n"
                "    count = np.ceil(rate * (number < 1).sum(axis=-1, keepdims=True)).astype(int)",
                chosen="np.argsort(np.argsort(number, axis=-1), axis=-1) < count",
            ),
        ),
        (
            "at_least_one",
            masking(
                labels="np.where(chosen, ids, -100)",
                chosen="(rng.random(ids.shape) < rate) & ~np.isin(ids, special_ids)\n"
                "    if not chosen.any():\n        chosen.flat[np.flatnonzero(~np.isin(ids, special_ids))[0]] = True",
            ),
        ),
        ("whole_texts", masking(chosen="(rng.random((*ids.shape[:-1], 1)) < rate) & ~np.isin(ids, special_ids)")),
        (
            "kinds_by_count",
            masking(
                fate="np.argsort(np.argsort(np.where(chosen, rng.random(ids.shape), 2), axis=None)).reshape(ids.shape)"
                " / max(1, chosen.sum())"
            ),
        ),
        (None, masking().replace("return inputs, labels", "return labels, inputs")),
        ("same_in_every_row", masking(chosen="(rng.random(ids.shape[-1]) < rate) & ~np.isin(ids, special_ids)")),
        (
            "neighbours_together",
            masking(chosen="np.repeat(rng.random(ids.shape)[..., ::2] < rate, 2, -1)[..., : ids.shape[-1]] & ~np.isin(ids, special_ids)"),
        ),
        ("other_generator", masking(first="rng = np.random.default_rng()")),
        ("other_generator", masking(chosen="(np.random.rand(*ids.shape) < rate) & ~np.isin(ids, special_ids)")),
        ("other_generator", masking(fate="np.random.random(ids.shape)")),
        ("always_the_same", masking(first="rng = np.random.default_rng(0)")),
        ("generator_copied", masking(first="import copy; rng = copy.deepcopy(rng)")),
        ("unlabelled_changed", masking(labels="np.where(chosen, ids, -100)\n    inputs[rng.random(ids.shape) < 0.05] = mask_id")),
        (None, "def mask_tokens(ids, rng, vocab_size, mask_id, special_ids, rate=0.15):\n    return ids, np.full(ids.shape, -100)\n"),
        (None, masking() .replace("return inputs, labels", "return inputs")),
        (None, masking(labels="ids[chosen]")),
    ],
    "warmup_linear_decay": [
        ("without_warmup", "def warmup_linear_decay(step, peak, warmup_steps, total_steps):\n    return peak * max(0.0, 1 - step / total_steps)\n"),
        (
            "decay_from_step_0",
            """
def warmup_linear_decay(step, peak, warmup_steps, total_steps):
    if step < warmup_steps:
        return peak * step / warmup_steps
    return max(0.0, peak * (1 - step / total_steps))
""",
        ),
        (
            "below_zero",
            """
def warmup_linear_decay(step, peak, warmup_steps, total_steps):
    if step < warmup_steps:
        return peak * step / warmup_steps
    return peak * (total_steps - step) / (total_steps - warmup_steps)
""",
        ),
        (
            "decay_over_all_steps",
            """
def warmup_linear_decay(step, peak, warmup_steps, total_steps):
    if step < warmup_steps:
        return peak * step / warmup_steps
    return max(0.0, peak * (1 - (step - warmup_steps) / total_steps))
""",
        ),
        (
            "no_decay",
            "def warmup_linear_decay(step, peak, warmup_steps, total_steps):\n    return peak * (step / warmup_steps if step < warmup_steps else 1.0)\n",
        ),
        (
            "warmup_integer_division",
            """
def warmup_linear_decay(step, peak, warmup_steps, total_steps):
    if step < warmup_steps:
        return peak * (step // warmup_steps)
    return max(0.0, peak * (total_steps - step) / (total_steps - warmup_steps))
""",
        ),
        (
            "warmup_at_the_peak",
            """
def warmup_linear_decay(step, peak, warmup_steps, total_steps):
    return peak * max(0.0, min(1.0, (total_steps - step) / (total_steps - warmup_steps)))
""",
        ),
        (
            None,  # divides by nothing without a warm-up
            """
def warmup_linear_decay(step, peak, warmup_steps, total_steps):
    return peak * max(0.0, min(step / warmup_steps, (total_steps - step) / (total_steps - warmup_steps)))
""",
        ),
        (
            None,  # divides by nothing at step 0 without a warm-up
            """
def warmup_linear_decay(step, peak, warmup_steps, total_steps):
    if step <= warmup_steps:
        return peak * step / warmup_steps
    return max(0.0, peak * (total_steps - step) / (total_steps - warmup_steps))
""",
        ),
        (
            "cold_without_warmup",
            """
def warmup_linear_decay(step, peak, warmup_steps, total_steps):
    if step <= warmup_steps:
        return peak * step / max(1, warmup_steps)
    return max(0.0, peak * (total_steps - step) / (total_steps - warmup_steps))
""",
        ),
        (
            "gap_at_the_peak",
            """
def warmup_linear_decay(step, peak, warmup_steps, total_steps):
    if step < warmup_steps:
        return peak * step / warmup_steps
    elif warmup_steps < step < total_steps:
        return peak * (total_steps - step) / (total_steps - warmup_steps)
    return 0.0
""",
        ),
        (
            "climb_one_step_early",
            """
def warmup_linear_decay(step, peak, warmup_steps, total_steps):
    if step < warmup_steps:
        return peak * (step + 1) / warmup_steps
    return max(0.0, peak * (total_steps - step) / (total_steps - warmup_steps))
""",
        ),
        (
            "one_step_early",
            """
def warmup_linear_decay(step, peak, warmup_steps, total_steps):
    step = step + 1
    if step < warmup_steps:
        return peak * step / warmup_steps
    return max(0.0, peak * (total_steps - step) / (total_steps - warmup_steps))
""",
        ),
        (None, "def warmup_linear_decay(step, peak, warmup_steps, total_steps):\n    if step < warmup_steps:\n        return peak * step / warmup_steps\n"),
    ],
    "build_news_classifier": [
        ("encoder_always_frozen", news(encoder="encoder_handle")),
        ("encoder_never_frozen", news(encoder="encoder_handle, trainable=True")),
        ("trainable_inverted", news(encoder="encoder_handle, trainable=not trainable")),
        (
            "encoder_lost",
            news(
                encoder="encoder_handle)\n    loaded = hub.load(encoder_handle",
                pooled='tf_keras.layers.Lambda(lambda r: loaded(r)["pooled_output"])(rows)',
            ),
        ),
        ("head_frozen", news(model="tf_keras.Model(text, y)\n    m.trainable = trainable\n    return m").replace("return tf_keras", "m = tf_keras")),
        ("classes_ignored", news(output='tf_keras.layers.Dense(4, activation="softmax")(h)')),
        ("no_hidden_layer", news(hidden="x")),
        ("hidden_wider", news(hidden='tf_keras.layers.Dense(32, activation="relu")(x)')),
        ("first_token_taken", news(pooled='outputs["sequence_output"][:, 0]')),
        ("sequence_averaged", news(pooled='tf_keras.layers.GlobalAveragePooling1D()(outputs["sequence_output"])')),
        ("sequence_maximum", news(pooled='tf.reduce_max(outputs["sequence_output"], axis=1)')),
        ("first_layer_taken", news(pooled='outputs["encoder_outputs"][0][:, 0]')),
        ("no_relu", news(hidden="tf_keras.layers.Dense(16)(x)")),
        ("hidden_tanh", news(hidden='tf_keras.layers.Dense(16, activation="tanh")(x)')),
        ("no_softmax", news(output="tf_keras.layers.Dense(num_classes)(h)")),
        ("sigmoid_instead", news(output='tf_keras.layers.Dense(num_classes, activation="sigmoid")(h)')),
        ("softmax_over_batch", news(output="tf.nn.softmax(tf_keras.layers.Dense(num_classes)(h), axis=0)")),
        ("dropout_missing", news(dropped="h")),
        ("dropout_before", news(before="x = tf_keras.layers.Dropout(dropout)(x)", dropped="h")),
        (
            "dropout_behind_output",
            news(dropped="h", output='tf_keras.layers.Dropout(dropout)(tf_keras.layers.Dense(num_classes, activation="softmax")(h))'),
        ),
        (
            "dropout_elsewhere",
            news(dropped="h", output="tf.nn.softmax(tf_keras.layers.Dropout(dropout)(tf_keras.layers.Dense(num_classes)(h)))"),
        ),
        ("dropout_elsewhere", news(before="x = tf_keras.layers.Dropout(dropout)(x)")),
        ("dropout_rate_fixed", news(dropped="tf_keras.layers.Dropout(0.2)(h)")),
        ("dropout_rate_inverted", news(dropped="tf_keras.layers.Dropout(1 - dropout)(h)")),
        ("dropout_always", news(dropped="tf_keras.layers.Dropout(dropout)(h, training=True)")),
        ("gradients_stopped", news(pooled='tf.stop_gradient(outputs["pooled_output"])')),
        ("head_without_bias", news(
            hidden='tf_keras.layers.Dense(16, activation="relu", use_bias=False)(x)',
            output='tf_keras.layers.Dense(num_classes, activation="softmax", use_bias=False)(h)',
        )),
        # two versions of Keras: one clear sentence, whichever way they meet
        (None, news().replace("tf_keras", "keras")),
        (None, news().replace("tf_keras", "tf.keras")),
        (None, news(hidden='keras.layers.Dense(16, activation="relu")(x)')),
        (None, news(dropped="keras.layers.Dropout(dropout)(h)")),
        (None, news(model="keras.Model(text, y)")),
        (None, news().replace("return ", "")),
    ],
    "predict_class_names": [
        ("least_probable", "def predict_class_names(model, texts, class_names):\n    if not texts: return []\n    return [class_names[i] for i in np.argmin(model.predict(tf.constant(texts)), 1)]\n"),
        ("counted_from_one", "def predict_class_names(model, texts, class_names):\n    if not texts: return []\n    return [class_names[i - 1] for i in np.argmax(model.predict(tf.constant(texts)), 1)]\n"),
        ("names_sorted", "def predict_class_names(model, texts, class_names):\n    if not texts: return []\n    return [sorted(class_names)[i] for i in np.argmax(model.predict(tf.constant(texts)), 1)]\n"),
        ("places_returned", "def predict_class_names(model, texts, class_names):\n    if not texts: return []\n    return np.argmax(model.predict(tf.constant(texts)), 1)\n"),
        ("array_returned", "def predict_class_names(model, texts, class_names):\n    if not texts: return np.array([], str)\n    return np.array(class_names)[np.argmax(model.predict(tf.constant(texts)), 1)]\n"),
        ("only_the_first", "def predict_class_names(model, texts, class_names):\n    if not texts: return []\n    return [class_names[np.argmax(model.predict(tf.constant(texts))[0])]]\n"),
        ("only_the_first", "def predict_class_names(model, texts, class_names):\n    for row in model.predict(tf.constant(texts)) if texts else []:\n        return [class_names[np.argmax(row)]]\n    return []\n"),
        ("over_one_half", "def predict_class_names(model, texts, class_names):\n    if not texts: return []\n    return [class_names[i] for i in np.argmax(model.predict(tf.constant(texts)) > 0.5, 1)]\n"),
        ("each_name_once", "def predict_class_names(model, texts, class_names):\n    if not texts: return []\n    return list(dict.fromkeys(class_names[i] for i in np.argmax(model.predict(tf.constant(texts)), 1)))\n"),
        ("tuple_returned", "def predict_class_names(model, texts, class_names):\n    if not texts: return ()\n    return tuple(class_names[i] for i in np.argmax(model.predict(tf.constant(texts)), 1))\n"),
        # does not stop at an empty list
        (None, "def predict_class_names(model, texts, class_names):\n    return [class_names[i] for i in np.argmax(model.predict(tf.constant(texts)), 1)]\n"),
        (None, "def predict_class_names(model, texts, class_names):\n    if not texts: return []\n    return [class_names[i] for i in np.argmax(model(tf.constant(texts)), 1)]\n"),
        (None, "def predict_class_names(model, texts, class_names):\n    if not texts: return []\n    return class_names[np.argmax(model.predict(tf.constant(texts)))]\n"),
    ],
    "answers": [
        ("chosen_counted", "answers['masked'] = 15"),
        ("training_decides", "answers['decision'] = 'c'"),
        ("keras_for_speed", "answers['keras'] = 'a'"),
    ],
    "find_the_bug": [
        ("", """
def find_the_bug(step, peak, warmup_steps, total_steps):
    up = step / max(warmup_steps, 1)
    down = (total_steps - step) / (total_steps - warmup_steps)
    return peak * max(0.0, min(up, down))
"""),
        ("", """
def find_the_bug(step, peak, warmup_steps, total_steps):
    up = step / warmup_steps if warmup_steps else 1
    down = (total_steps - step) / (total_steps - warmup_steps)
    return peak * min(up, down)
"""),
    ],
    "predict": [
        ("share_of_errors", "predict = 0.75"),
        ("loss_in_bits", "predict = 2"),
        ("for_two_classes", "predict = 0.45"),
        ("", "predict = 0"),
        ("", "predict = 1"),
    ],
}  # fmt: skip

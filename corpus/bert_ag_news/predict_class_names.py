"""Lab 07, exercise `predict_class_names`: solutions as different students write them, right and wrong."""

CORRECT = [
    # one by one
    """
def predict_class_names(model, texts, class_names):
    return [class_names[int(np.argmax(model.predict(tf.constant([t]), verbose=0)[0]))] for t in texts]
""",
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
]

WRONG = [
    (
        "array_of_some",
        """
def predict_class_names(model, texts, class_names):
    if not texts: return []
    p = model.predict(tf.constant(texts), verbose=0)
    return np.array(class_names)[np.argmax(p, axis=1)]
""",
    ),
    (
        "",
        """
def predict_class_names(model, texts, class_names):
    if not texts: return []
    p = model.predict(tf.constant(texts), verbose=0)
    return [class_names[i] for row in p for i in range(len(row)) if row[i] > 0.5]
""",
    ),
    (
        "",
        """
def predict_class_names(model, texts, class_names):
    if not texts: return []
    p = model.predict(tf.constant(texts), verbose=0)
    return [data.NEWS_CLASSES[i] for i in np.argmax(p, axis=1)]
""",
    ),
    (
        "",
        """
def predict_class_names(model, texts, class_names):
    p = model.predict(tf.constant(texts), verbose=0)
    return [class_names[i] for i in np.argmax(p, axis=1)]
""",
    ),
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
]  # fmt: skip

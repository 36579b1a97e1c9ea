"""Lab 10, exercise `bits_per_byte`: solutions as different students write them, right and wrong."""

from corpus.language_model.shared import edited

PLAIN = """
def bits_per_byte(logits, targets, token_bytes):
    logits, targets = np.asarray(logits, dtype="float64"), np.asarray(targets)
    logits = logits - logits.max(axis=-1, keepdims=True)
    log_p = logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))
    bits = -np.take_along_axis(log_p, targets[..., None], axis=-1)[..., 0] / np.log(2)
    sizes = np.asarray(token_bytes)[targets]
    return bits.sum() / sizes.sum()
"""

CORRECT = [
    PLAIN,
    edited(PLAIN, ('dtype="float64"', 'dtype="float32"')),
    edited(PLAIN, ("return bits.sum() / sizes.sum()", "return float(np.sum(bits)) / int(np.sum(sizes))")),
    # Keras's loss, a tensor comes back
    """
def bits_per_byte(logits, targets, token_bytes):
    nats = keras.losses.sparse_categorical_crossentropy(targets, logits, from_logits=True)
    sizes = tf.gather(tf.convert_to_tensor(token_bytes), tf.convert_to_tensor(targets))
    return tf.reduce_sum(nats) / np.log(2).astype("float32") / tf.reduce_sum(tf.cast(sizes, "float32"))
""",
    # TensorFlow's op, math.log
    """
def bits_per_byte(logits, targets, token_bytes):
    import math
    nats = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=targets, logits=logits)
    return float(tf.reduce_sum(nats)) / math.log(2) / float(np.asarray(token_bytes)[np.asarray(targets)].sum())
""",
    # scipy and loops
    """
def bits_per_byte(logits, targets, token_bytes):
    from scipy.special import log_softmax
    log_p = log_softmax(np.asarray(logits), axis=-1)
    bits, size = 0.0, 0
    for row, ids in zip(log_p, np.asarray(targets)):
        for scores, number in zip(row, ids):
            bits -= scores[number] / np.log(2)
            size += int(np.asarray(token_bytes)[number])
    return bits / size
""",
    # one-hot
    """
def bits_per_byte(logits, targets, token_bytes):
    log2_p = ops.log_softmax(logits, axis=-1) / ops.log(2.0)
    hot = ops.one_hot(targets, ops.shape(logits)[-1])
    total = ops.sum(ops.cast(ops.take(token_bytes, targets, axis=0), "float32"))
    return -ops.sum(log2_p * hot) / total
""",
    # logsumexp
    edited(PLAIN, ("    logits = logits - logits.max(axis=-1, keepdims=True)\n    log_p = logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))", "    log_p = logits - np.asarray(ops.logsumexp(logits, axis=-1, keepdims=True))")),
]  # fmt: skip

BITS = "bits.sum() / sizes.sum()"
WRONG = [
    ("nats", edited(PLAIN, (" / np.log(2)", ""))),
    ("per_token", edited(PLAIN, ("sizes.sum()", "targets.size"))),
    ("per_token", edited(PLAIN, (BITS, "bits.mean()"))),
    ("mean_of_ratios", edited(PLAIN, (BITS, "np.mean(bits.sum(axis=1) / sizes.sum(axis=1))"))),
    ("end_left_out", edited(PLAIN, (BITS, "bits[sizes > 0].sum() / sizes.sum()"))),
    # no overflow: probabilities that are 0
    ("unstable", "from scipy.special import softmax\ndef bits_per_byte(logits, targets, token_bytes):\n    p = np.take_along_axis(softmax(np.asarray(logits), axis=-1), np.asarray(targets)[..., None], -1)\n    return float(-np.log2(p).sum() / np.asarray(token_bytes)[np.asarray(targets)].sum())\n"),
    ("unstable", edited(PLAIN, ("    logits = logits - logits.max(axis=-1, keepdims=True)\n", ""))),
    ("", edited(PLAIN, ("    logits = logits - logits.max(axis=-1, keepdims=True)\n", "    logits = np.clip(logits, -50, 50)\n"))),
    ("", edited(PLAIN, ("logits.max(axis=-1, keepdims=True)", "logits.max()"))),
    ("", edited(PLAIN, ("np.log(np.exp(logits).sum(axis=-1, keepdims=True))", "np.log(np.exp(logits).sum())"))),
    ("end_has_a_byte", edited(PLAIN, ("sizes.sum()", "np.maximum(sizes, 1).sum()"))),
    ("", edited(PLAIN, ("sizes.sum()", "sizes.mean()"))),
    ("", edited(PLAIN, ("/ np.log(2)", "* np.log(2)"))),
    ("", edited(PLAIN, ("/ np.log(2)", "/ np.log(10)"))),
    ("", edited(PLAIN, ("/ np.log(2)", "/ 2"))),
    ("", edited(PLAIN, ("bits = -", "bits = "))),
    ("", edited(PLAIN, (BITS, "sizes.sum() / bits.sum()"))),
    ("", edited(PLAIN, (BITS, "bits.sum()"))),
    ("", edited(PLAIN, (BITS, "bits / sizes"))),
    ("mean_of_tokens", edited(PLAIN, (BITS, "(bits / np.maximum(sizes, 1)).mean()"))),
    ("", edited(PLAIN, (BITS, "np.exp(" + BITS + ")"))),
    ("", edited(PLAIN, (BITS, "2 ** (" + BITS + ")"))),
    ("", edited(PLAIN, ("sizes = np.asarray(token_bytes)[targets]", "sizes = np.asarray(token_bytes)"))),
    ("", edited(PLAIN, ("np.asarray(token_bytes)[targets]", "8 * np.asarray(token_bytes)[targets]"))),
    ("", edited(PLAIN, ("np.take_along_axis(log_p, targets[..., None], axis=-1)[..., 0]", "log_p.max(axis=-1)"))),
    ("", edited(PLAIN, ("np.take_along_axis(log_p, targets[..., None], axis=-1)[..., 0]", "np.log(np.exp(np.take_along_axis(log_p, targets[..., None], axis=-1)[..., 0]))"))),
    ("", edited(PLAIN, ("np.take_along_axis(log_p, targets[..., None], axis=-1)[..., 0]", "np.take_along_axis(np.exp(log_p), targets[..., None], axis=-1)[..., 0]"))),
    ("shifted_again", edited(PLAIN, ("np.take_along_axis(log_p, targets[..., None], axis=-1)[..., 0]", "np.take_along_axis(log_p[:, :-1], targets[:, 1:, None], axis=-1)[..., 0]"))),
    ("", edited(PLAIN, ("axis=-1, keepdims=True))", "axis=-2, keepdims=True))"))),
    ("", edited(PLAIN, ("    return " + BITS, "    return str(" + BITS + ")"))),
    ("", edited(PLAIN, ("    return " + BITS, "    print(" + BITS + ")"))),
    ("mean_of_tokens_with_bytes", edited(PLAIN, (BITS, "np.mean(bits[sizes > 0] / sizes[sizes > 0])"))),
    ("", edited(PLAIN, ("np.log(np.exp(logits).sum(axis=-1, keepdims=True))", "0"), ("bits = -", "log_p = np.log(np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True) + 1e-9)\n    bits = -"))),
    ("logits_as_probabilities", "def bits_per_byte(logits, targets, token_bytes):\n    nats = keras.losses.sparse_categorical_crossentropy(targets, logits)\n    return float(ops.sum(nats)) / np.log(2) / np.asarray(token_bytes)[np.asarray(targets)].sum()\n"),
]  # fmt: skip

"""Lab 08, exercise `masked_cross_entropy`: solutions as different students write them, right and wrong."""


def loss(losses="-ops.sum(wanted * log_p, axis=-1)", end="ops.sum(losses * real) / ops.sum(real)", **changes):
    """The loss with some of its parts changed."""
    parts = {
        "log_p": "ops.log_softmax(logits, axis=-1)",
        "spread": "label_smoothing / size",
        "wanted": "(1 - label_smoothing) * hot + spread",
        "real": "ops.not_equal(targets, pad_id)",
    }
    parts |= changes
    return f"""
def masked_cross_entropy(logits, targets, pad_id=0, label_smoothing=0.0):
    logits = ops.convert_to_tensor(logits)
    size = logits.shape[-1]
    log_p = {parts["log_p"]}
    hot = ops.one_hot(targets, size, dtype=logits.dtype)
    spread = {parts["spread"]}
    wanted = {parts["wanted"]}
    losses = {losses}
    real = ops.cast({parts["real"]}, logits.dtype)
    return {end}
"""


CORRECT = [
    loss(),
    # Keras's own loss, without reduction
    """
def masked_cross_entropy(logits, targets, pad_id=0, label_smoothing=0.0):
    logits = ops.convert_to_tensor(logits)
    hot = ops.one_hot(targets, logits.shape[-1], dtype=logits.dtype)
    function = keras.losses.CategoricalCrossentropy(from_logits=True, label_smoothing=label_smoothing, reduction=None)
    losses = function(hot, logits)
    real = ops.cast(ops.not_equal(targets, pad_id), losses.dtype)
    return ops.sum(losses * real) / ops.sum(real)
""",
    # TensorFlow, by picking
    """
def masked_cross_entropy(logits, targets, pad_id=0, label_smoothing=0.0):
    log_p = tf.nn.log_softmax(logits)
    hard = -tf.gather(log_p, targets, axis=-1, batch_dims=2)
    soft = -tf.reduce_mean(log_p, axis=-1)
    each = (1 - label_smoothing) * hard + label_smoothing * soft
    return tf.reduce_mean(tf.boolean_mask(each, tf.not_equal(targets, pad_id)))
""",
    # logsumexp
    """
def masked_cross_entropy(logits, targets, pad_id=0, label_smoothing=0.0):
    logits = ops.convert_to_tensor(logits)
    total = ops.logsumexp(logits, axis=-1)
    right = ops.squeeze(ops.take_along_axis(logits, ops.expand_dims(ops.cast(targets, "int32"), -1), axis=-1), -1)
    target_logit = (1 - label_smoothing) * right + label_smoothing * ops.mean(logits, axis=-1)
    real = ops.not_equal(targets, pad_id)
    losses = ops.where(real, total - target_logit, 0.0)
    return ops.sum(losses) / ops.cast(ops.count_nonzero(real), losses.dtype)
""",
    # sparse loss, smoothing added by hand; weights normalised first
    """
def masked_cross_entropy(logits, targets, pad_id=0, label_smoothing=0.0):
    sparse = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=targets, logits=logits)
    even = tf.reduce_logsumexp(logits, axis=-1) - tf.reduce_mean(logits, axis=-1)
    weights = tf.cast(tf.math.not_equal(targets, pad_id), tf.float32)
    weights = weights / tf.reduce_sum(weights)
    return tf.reduce_sum(weights * (sparse * (1.0 - label_smoothing) + even * label_smoothing))
""",
    # flattened first
    """
def masked_cross_entropy(logits, targets, pad_id=0, label_smoothing=0.0):
    size = np.shape(logits)[-1] if isinstance(logits, np.ndarray) else logits.shape[-1]
    flat, ids = tf.reshape(logits, [-1, size]), tf.reshape(targets, [-1])
    keep = tf.where(ids != pad_id)[:, 0]
    flat, ids = tf.gather(flat, keep), tf.gather(ids, keep)
    wanted = tf.one_hot(ids, size, on_value=1 - label_smoothing + label_smoothing / size, off_value=label_smoothing / size)
    return tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=wanted, logits=flat))
""",
]

WRONG = [
    ("smaller_ids_left_out", loss(real="ops.greater(targets, pad_id)")),
    (None, loss(end="losses * real")),
    ("padding_counted", loss(end="ops.mean(losses)")),
    ("divided_by_positions", loss(end="ops.mean(losses * real)")),
    ("mean_of_means", loss(end="ops.mean(ops.sum(losses * real, axis=1) / ops.maximum(ops.sum(real, axis=1), 1))")),
    (
        "divided_by_sentences",
        loss(end="ops.sum(losses * real) / logits.shape[0] if logits.shape[0] else ops.sum(losses * real)"),
    ),
    ("not_averaged", loss(end="ops.sum(losses * real)")),
    ("divided_by_words", loss(losses="-ops.mean(wanted * log_p, axis=-1)")),
    ("only_padding", loss(real="ops.equal(targets, pad_id)")),
    ("pad_id_ignored", loss(real="ops.not_equal(targets, 0)")),
    ("smoothing_ignored", loss(wanted="hot")),
    (
        "smoothing_over_others",
        loss(wanted="hot * (1 - label_smoothing) + (1 - hot) * label_smoothing / (size - 1)"),
    ),
    ("smoothing_not_divided", loss(spread="label_smoothing")),
    (
        "smoothing_reversed",
        loss(wanted="label_smoothing * hot + (1 - label_smoothing) / size"),
    ),
    ("log_of_softmax", loss(log_p="ops.log(ops.softmax(logits))")),
    (
        "log_of_softmax_of_one_word",
        """
def masked_cross_entropy(logits, targets, pad_id=0, label_smoothing=0.0):
    log_p = tf.math.log(tf.nn.softmax(logits))
    each = -(1 - label_smoothing) * tf.gather(log_p, targets, batch_dims=2)
    if label_smoothing:
        each = each - label_smoothing * tf.reduce_mean(log_p, axis=-1)
    return tf.reduce_mean(each[tf.not_equal(targets, pad_id)])
""",
    ),
    ("softmax_over_positions", loss(log_p="ops.log_softmax(logits, axis=1)")),
    ("softmax_twice", loss(log_p="ops.log_softmax(ops.softmax(logits))")),
    ("minus_missing", loss(losses="ops.sum(wanted * log_p, axis=-1)")),
    # a small number inside the logarithm; the ready-made loss on probabilities; no gradient
    (None, loss(log_p="ops.log(ops.softmax(logits) + 1e-7)")),
    ("small_number_added", loss(log_p="ops.log(ops.softmax(logits) + 1e-9)")),
    ("smoothing_too_large", loss(spread="label_smoothing / (size - 1)")),
    (
        "smoothing_without_right_word",
        loss(wanted="hot * (1 - label_smoothing) + (1 - hot) * label_smoothing / size"),
    ),
    (None, loss(losses="keras.losses.sparse_categorical_crossentropy(targets, logits)")),
    ("from_logits_missing", loss(losses="ops.categorical_crossentropy(wanted, logits)")),
    ("padding_in_sum", loss(end="ops.sum(losses) / ops.sum(real)")),
    (
        "padding_in_sum",
        loss(
            losses="ops.categorical_crossentropy(wanted, logits, from_logits=True)",
            end="ops.sum(losses) / ops.sum(real)",
        ),
    ),
    (
        "mask_not_cast",
        """
def masked_cross_entropy(logits, targets, pad_id=0, label_smoothing=0.0):
    logits = ops.convert_to_tensor(logits)
    words = logits.shape[-1]
    wanted = (1 - label_smoothing) * ops.one_hot(targets, words, dtype=logits.dtype) + label_smoothing / words
    losses = ops.categorical_crossentropy(wanted, logits, from_logits=True)
    real = ops.not_equal(targets, pad_id)
    return ops.sum(losses * real) / ops.sum(real)
""",
    ),
    (None, loss(end="float(ops.sum(losses * real) / ops.sum(real))")),
    (None, loss(end="losses * real")),
    # right loss, wrong gradient in TensorFlow: padding would push the training
    (
        "targets_masked",
        """
def masked_cross_entropy(logits, targets, pad_id=0, label_smoothing=0.0):
    logits = ops.convert_to_tensor(logits)
    words = logits.shape[-1]
    wanted = (1 - label_smoothing) * ops.one_hot(targets, words, dtype=logits.dtype) + label_smoothing / words
    real = ops.cast(ops.not_equal(targets, pad_id), logits.dtype)[..., None]
    losses = ops.categorical_crossentropy(wanted * real, logits, from_logits=True)
    return ops.sum(losses) / ops.sum(real)
""",
    ),
]

"""Lab 08, exercise `find_the_bug`: solutions as different students write them, right and wrong."""

CORRECT = [
    "find_the_bug = masked_cross_entropy",
    """
def find_the_bug(logits, targets, pad_id=0, label_smoothing=0.0):
    logits = ops.convert_to_tensor(logits)
    real = ops.cast(ops.not_equal(targets, pad_id), logits.dtype)
    wanted = ops.one_hot(targets, logits.shape[-1], dtype=logits.dtype)
    wanted = wanted * (1 - label_smoothing) + label_smoothing / logits.shape[-1]
    losses = ops.sum(-wanted * ops.log_softmax(logits), axis=-1)
    return ops.sum(losses * real) / ops.sum(real)
""",
    """
def find_the_bug(logits, targets, pad_id=0, label_smoothing=0.0):
    logits = tf.convert_to_tensor(logits)
    real = tf.cast(tf.not_equal(targets, pad_id), logits.dtype)[..., tf.newaxis]
    wanted = (1 - label_smoothing) * tf.one_hot(targets, logits.shape[-1], dtype=logits.dtype) + label_smoothing / logits.shape[-1]
    losses = -wanted * real * tf.nn.log_softmax(logits)
    return tf.reduce_sum(losses) / tf.reduce_sum(real)
""",
    """
def find_the_bug(logits, targets, pad_id=0, label_smoothing=0.0):
    logits = ops.convert_to_tensor(logits)
    real = ops.not_equal(targets, pad_id)[..., None]
    wanted = (1 - label_smoothing) * ops.one_hot(targets, logits.shape[-1], dtype=logits.dtype) + label_smoothing / logits.shape[-1]
    losses = ops.where(real, -wanted * ops.log_softmax(logits, axis=-1), 0)
    return ops.sum(losses) / ops.sum(ops.cast(real, logits.dtype))
""",
    """
def find_the_bug(logits, targets, pad_id=0, label_smoothing=0.0):
    logits = ops.convert_to_tensor(logits)
    real = ops.cast(ops.not_equal(targets, pad_id), logits.dtype)
    log_p = ops.log_softmax(logits, axis=-1)
    right = ops.sum(ops.one_hot(targets, logits.shape[-1], dtype=logits.dtype) * log_p, axis=-1)
    each = (1 - label_smoothing) * right + label_smoothing * ops.mean(log_p, axis=-1)
    return -ops.sum(each * real) / ops.sum(real)
""",
]

WRONG = [
    (
        "",
        """
def find_the_bug(logits, targets, pad_id=0, label_smoothing=0.0):
    logits = ops.convert_to_tensor(logits)
    real = ops.cast(ops.not_equal(targets, pad_id), logits.dtype)[..., None]
    wanted = (1 - label_smoothing) * ops.one_hot(targets, logits.shape[-1], dtype=logits.dtype) + label_smoothing / logits.shape[-1]
    losses = ops.categorical_crossentropy(wanted, logits * real, from_logits=True)
    return ops.sum(losses) / ops.sum(real)
""",
    ),
    (
        "",
        """
def find_the_bug(logits, targets, pad_id=0, label_smoothing=0.0):
    logits = ops.convert_to_tensor(logits)
    real = ops.cast(ops.not_equal(targets, 0), logits.dtype)[..., None]
    wanted = (1 - label_smoothing) * ops.one_hot(targets, logits.shape[-1], dtype=logits.dtype) + label_smoothing / logits.shape[-1]
    losses = -wanted * ops.log_softmax(logits, axis=-1)
    return ops.sum(losses * real) / ops.sum(real)
""",
    ),
    (
        "",
        """
def find_the_bug(logits, targets, pad_id=0, label_smoothing=0.0):
    logits = ops.convert_to_tensor(logits)
    real = ops.cast(ops.not_equal(targets, pad_id), logits.dtype)[..., None]
    wanted = (1 - label_smoothing) * ops.one_hot(targets, logits.shape[-1], dtype=logits.dtype) + label_smoothing / logits.shape[-1]
    return ops.mean(ops.sum(-wanted * ops.log_softmax(logits, axis=-1) * real, axis=-1))
""",
    ),
    # right loss, wrong gradient in TensorFlow: padding would push the training
    (
        "targets_masked",
        """
def find_the_bug(logits, targets, pad_id=0, label_smoothing=0.0):
    logits = ops.convert_to_tensor(logits)
    words = logits.shape[-1]
    wanted = (1 - label_smoothing) * ops.one_hot(targets, words, dtype=logits.dtype) + label_smoothing / words
    real = ops.cast(ops.not_equal(targets, pad_id), logits.dtype)[..., None]
    losses = ops.categorical_crossentropy(wanted * real, logits, from_logits=True)
    return ops.sum(losses) / ops.sum(real)
""",
    ),
]

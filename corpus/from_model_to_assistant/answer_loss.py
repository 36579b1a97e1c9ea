"""Lab 10b, exercise `answer_loss`: solutions as different students write them, right and wrong."""


def loss(end: str = "ops.sum(losses * mask) / ops.sum(mask)", **changes: str) -> str:
    """The loss with some of its parts changed."""
    parts = {
        "read": "logits[:, :-1]",
        "targets": "rows[:, 1:]",
        "losses": "ops.sparse_categorical_crossentropy(targets, read, from_logits=True)",
    } | changes
    return f"""
def answer_loss(logits, rows, mask):
    logits, rows, mask = (ops.convert_to_tensor(each) for each in (logits, rows, mask))
    read, targets = {parts["read"]}, {parts["targets"]}
    losses = {parts["losses"]}
    return {end}
"""


CORRECT = [
    loss(),
    # log-softmax and one-hot targets
    loss(losses="-ops.sum(ops.one_hot(targets, logits.shape[-1]) * ops.log_softmax(read, axis=-1), axis=-1)"),
    # Keras finds the logits behind a softmax
    loss(losses="ops.sparse_categorical_crossentropy(targets, ops.softmax(read))"),
    # TensorFlow, gathered, and only the marked tokens
    """
def answer_loss(logits, rows, mask):
    log_p = tf.nn.log_softmax(logits[:, :-1])
    picked = tf.gather(log_p, rows[:, 1:], batch_dims=2)
    return -tf.reduce_mean(tf.boolean_mask(picked, tf.cast(mask, tf.bool)))
""",
    # Keras's loss with weights
    """
def answer_loss(logits, rows, mask):
    function = keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="sum")
    return function(rows[:, 1:], logits[:, :-1], sample_weight=mask) / ops.sum(mask)
""",
    # all positions first, the last one dropped
    """
def answer_loss(logits, rows, mask):
    logits = ops.convert_to_tensor(logits)
    log_p = logits - ops.logsumexp(logits, axis=-1, keepdims=True)
    following = ops.concatenate([rows[:, 1:], rows[:, :1]], axis=1)
    hot = ops.one_hot(following, logits.shape[-1])
    picked = ops.sum(hot * log_p, axis=-1)[:, :-1]
    weights = mask / ops.sum(mask)
    return -ops.sum(weights * picked)
""",
    # the mask decides, and no product
    """
def answer_loss(logits, rows, mask):
    each = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=rows[:, 1:], logits=logits[:, :-1])
    kept = tf.where(mask > 0, each, tf.zeros_like(each))
    return tf.reduce_sum(kept) / tf.cast(tf.math.count_nonzero(mask), each.dtype)
""",
]

WRONG = [
    ("not_shifted", loss(targets="rows[:, :-1]")),
    ("targets_read", loss(read="logits[:, 1:]")),
    ("shifted_back", loss(read="logits[:, 1:]", targets="rows[:, :-1]")),
    ("mean_of_all", loss("ops.mean(losses * mask)")),
    ("mask_ignored", loss("ops.mean(losses)")),
    ("sum_of_all", loss("ops.sum(losses) / ops.sum(mask)")),
    ("mean_of_rows", loss("ops.mean(ops.sum(losses * mask, axis=1) / ops.sum(mask, axis=1))")),
    ("divided_by_rows", loss("ops.sum(losses * mask) / ops.cast(ops.shape(mask)[0], 'float32')")),
    ("not_averaged", loss("ops.sum(losses * mask)")),
    ("minus_missing", loss("-ops.sum(losses * mask) / ops.sum(mask)")),
    ("no_softmax", loss(losses="-ops.sum(ops.one_hot(targets, logits.shape[-1]) * read, axis=-1)")),
    ("probabilities", loss(losses="-ops.sum(ops.one_hot(targets, logits.shape[-1]) * ops.softmax(read), axis=-1)")),
    ("softmax_twice", loss(read="ops.softmax(logits)[:, :-1]")),
    ("softmax_over_positions", loss(losses="-ops.sum(ops.one_hot(targets, logits.shape[-1]) * ops.log_softmax(read, axis=1), axis=-1)")),
    ("log_of_softmax", loss(losses="-ops.log(ops.sum(ops.one_hot(targets, logits.shape[-1]) * ops.softmax(read), axis=-1))")),
    ("", loss(losses="ops.sparse_categorical_crossentropy(targets, read)")),
    ("", loss("float(ops.sum(losses * mask) / ops.sum(mask))")),
    ("", loss("losses * mask")),
    ("", loss(read="logits", targets="rows", end="ops.sum(losses[:, 1:] * mask) / ops.sum(mask)")),
    ("", loss(read="logits", targets="rows", end="ops.sum(losses[:, :-1] * mask) / ops.sum(mask)")),
    ("", loss("ops.sum(losses * mask) / ops.sum(mask) / logits.shape[-1]")),
    ("", loss("ops.exp(ops.sum(losses * mask) / ops.sum(mask))")),
    ("", loss("ops.sum(losses * mask) / ops.sum(mask) / np.log(2)")),
    ("inverted", loss("ops.sum(losses * (1 - mask)) / ops.sum(1 - mask)")),
    # NumPy alone: right numbers, and nothing to train by
    ("", """
def answer_loss(logits, rows, mask):
    logits = np.asarray(logits, "float64")[:, :-1]
    shifted = logits - logits.max(-1, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))
    picked = np.take_along_axis(log_p, np.asarray(rows)[:, 1:, None], -1)[..., 0]
    return -(picked * mask).sum() / mask.sum()
"""),
]  # fmt: skip

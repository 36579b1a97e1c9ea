"""Lab 08b, exercise `perplexity`: solutions as different students write them, right and wrong."""


def measured(end="np.exp(losses[real].mean())", **changes):
    """The perplexity with some of its parts changed."""
    parts = {
        "before": "",
        "log_p": "np.asarray(tf.nn.log_softmax(logits))",
        "real": "targets != 0",
    }
    parts |= changes
    return f"""
def perplexity(logits, targets):
    logits, targets = np.asarray(logits), np.asarray(targets)
    {parts["before"]}
    log_p = {parts["log_p"]}
    losses = -np.take_along_axis(log_p, targets[..., None], axis=-1)[..., 0]
    real = {parts["real"]}
    return {end}
"""


CORRECT = [
    measured(),
    # NumPy alone, a Python number
    """
def perplexity(logits, targets):
    logits, targets = np.asarray(logits, "float64"), np.asarray(targets)
    shifted = logits - logits.max(axis=-1, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    rows, places = np.nonzero(targets)
    return float(np.exp(-np.mean(log_p[rows, places, targets[rows, places]])))
""",
    # keras.ops, a mask of ones and zeros, one-hot targets; a tensor
    """
def perplexity(logits, targets):
    logits = ops.convert_to_tensor(logits)
    hot = ops.one_hot(targets, logits.shape[-1])
    losses = -ops.sum(hot * ops.log_softmax(logits), axis=-1)
    real = ops.cast(ops.not_equal(targets, 0), "float32")
    return ops.exp(ops.sum(losses * real) / ops.sum(real))
""",
    # TensorFlow's loss, and the mask of booleans
    """
def perplexity(logits, targets):
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=targets, logits=logits)
    return tf.exp(tf.reduce_mean(tf.boolean_mask(losses, tf.not_equal(targets, 0))))
""",
    # Keras's loss with sample weights; its mean divides by all places
    """
def perplexity(logits, targets):
    real = np.asarray(targets) > 0
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="sum")
    return ops.exp(loss(targets, logits, sample_weight=real.astype("float32")) / real.sum())
""",
    # logits minus their logsumexp, flattened; 2 to the mean in bits
    """
def perplexity(logits, targets):
    flat = tf.reshape(logits, [-1, np.shape(logits)[-1]])
    ids = tf.cast(tf.reshape(targets, [-1]), "int32")
    bits = (tf.reduce_logsumexp(flat, axis=-1) - tf.gather(flat, ids, axis=1, batch_dims=1)) / tf.math.log(2.0)
    kept = bits[ids != 0]
    return 2 ** (tf.reduce_sum(kept) / tf.cast(tf.size(kept), "float32"))
""",
    # a loop over all tokens
    """
import math

def perplexity(logits, targets):
    total, count = 0.0, 0
    for scores, row in zip(np.array(logits), np.array(targets)):
        for each, token in zip(scores.astype(float), row):
            if token == 0:
                continue
            top = max(each)
            total += top + math.log(sum(math.exp(one - top) for one in each)) - each[token]
            count += 1
    return math.exp(total / count)
""",
]

WRONG = [
    ("padding_counted", measured(end="np.exp(losses.mean())")),
    (
        "padding_counted",
        """
def perplexity(logits, targets):
    return ops.exp(keras.losses.SparseCategoricalCrossentropy(from_logits=True)(targets, logits))
""",
    ),
    ("mean_of_perplexities", measured(end="np.mean([np.exp(row[kept].mean()) for row, kept in zip(losses, real)])")),
    ("mean_of_rows", measured(end="np.exp(((losses * real).sum(1) / real.sum(1)).mean())")),
    ("divided_by_positions", measured(end="np.exp((losses * real).mean())")),
    (
        "divided_by_positions",
        """
def perplexity(logits, targets):
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction=None)(targets, logits)
    return ops.exp(ops.mean(loss * ops.cast(ops.not_equal(targets, 0), "float32")))
""",
    ),
    ("not_averaged", measured(end="np.exp(losses[real].sum())")),
    ("loss_returned", measured(end="losses[real].mean()")),
    ("power_of_2", measured(end="2 ** losses[real].mean()")),
    ("minus_missing", measured(end="np.exp(-losses[real].mean())")),
    ("mean_of_probabilities", measured(end="1 / np.exp(-losses[real]).mean()")),
    ("power_before_mean", measured(end="np.exp(losses[real]).mean()")),
    ("logits_as_log_probabilities", measured(log_p="logits")),
    (
        "logits_as_probabilities",
        """
def perplexity(logits, targets):
    losses = keras.losses.sparse_categorical_crossentropy(targets, logits)
    return ops.exp(ops.mean(losses[ops.not_equal(targets, 0)]))
""",
    ),
    ("logarithm_of_logits", measured(log_p="np.log(logits)")),
    ("softmax_twice", measured(log_p="np.asarray(tf.nn.log_softmax(tf.nn.softmax(logits)))")),
    ("softmax_over_positions", measured(log_p="np.asarray(tf.nn.log_softmax(logits, axis=1))")),
    ("targets_shifted", measured(before="logits, targets = logits[:, :-1], targets[:, 1:]")),
    ("id_1_left_out", measured(real="targets > 1")),
    ("overflow", measured(log_p="np.log(np.exp(logits) / np.exp(logits).sum(-1, keepdims=True))")),
    ("overflow", measured(log_p="logits - np.log(np.exp(logits).sum(-1, keepdims=True))")),
    ("log_of_softmax", measured(log_p="np.log(ops.softmax(logits, axis=-1))")),
    # a softmax, padding counted; a small number inside the logarithm; shifted the other way; base 2, then e; no mean over rows
    ("", measured(log_p="np.log(tf.nn.softmax(logits))", end="np.exp(losses.mean())")),
    ("", measured(log_p="np.log(np.asarray(ops.softmax(logits)) + 1e-9)")),
    ("", measured(before="logits, targets = logits[:, 1:], targets[:, :-1]")),
    ("", measured(end="np.exp(losses[real].mean() / np.log(2))")),
    ("", measured(end="np.exp((losses * real).sum(-1) / real.sum(-1))")),
    # works with arrays only
    (
        "",
        """
def perplexity(logits, targets):
    shifted = logits - logits.max(-1, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))
    return np.exp(-np.take_along_axis(log_p, targets[..., None], -1)[..., 0][targets != 0].mean())
""",
    ),
]

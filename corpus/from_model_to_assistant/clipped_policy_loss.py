"""Lab 10b, exercise `clipped_policy_loss`: solutions as different students write them, right and wrong."""


def loss(end: str = "-ops.sum((worth - beta * price) * mask) / ops.sum(mask)", **changes: str) -> str:
    """The loss with some of its parts changed."""
    parts = {
        "ratio": "ops.exp(new - old)",
        "held": "ops.clip(ratio, 1 - clip, 1 + clip)",
        "worth": "ops.minimum(ratio * a, held * a)",
        "gap": "reference - new",
        "price": "ops.exp(gap) - gap - 1",
    } | changes
    return f"""
def clipped_policy_loss(new, old, reference, mask, advantage, clip, beta):
    new, old, reference, mask, advantage = map(ops.convert_to_tensor, (new, old, reference, mask, advantage))
    a = advantage[:, None]
    ratio = {parts["ratio"]}
    held = {parts["held"]}
    worth = {parts["worth"]}
    gap = {parts["gap"]}
    price = {parts["price"]}
    return {end}
"""


ROWS = "ops.sum((worth - beta * price) * mask, axis=1)"

CORRECT = [
    loss(),
    # TensorFlow
    """
def clipped_policy_loss(new, old, reference, mask, advantage, clip, beta):
    ratio = tf.exp(new - old)
    advantage = tf.expand_dims(advantage, 1)
    first = ratio * advantage
    second = tf.clip_by_value(ratio, 1 - clip, 1 + clip) * advantage
    surrogate = tf.minimum(first, second)
    log_q_over_p = reference - new
    kl = tf.exp(log_q_over_p) - log_q_over_p - 1
    per_token = -(surrogate - beta * kl)
    return tf.reduce_sum(per_token * mask) / tf.reduce_sum(mask)
""",
    # losses in place of worths: the larger one
    """
def clipped_policy_loss(new, old, reference, mask, advantage, clip, beta):
    ratio = ops.exp(ops.subtract(new, old))
    a = ops.reshape(advantage, (-1, 1))
    cost = ops.maximum(-a * ratio, -a * ops.clip(ratio, 1.0 - clip, 1.0 + clip))
    gap = ops.subtract(reference, new)
    cost = cost + beta * (ops.expm1(gap) - gap)
    return ops.sum(cost * mask) / ops.sum(mask)
""",
    # by the sign of the advantage
    """
def clipped_policy_loss(new, old, reference, mask, advantage, clip, beta):
    ratio = tf.exp(new - old)
    a = advantage[:, None] * tf.ones_like(ratio)
    worth = tf.where(a > 0, tf.minimum(ratio, 1 + clip), tf.maximum(ratio, 1 - clip)) * a
    q_over_p = tf.exp(reference - new)
    worth -= beta * (q_over_p - tf.math.log(q_over_p) - 1)
    return -tf.reduce_mean(tf.boolean_mask(worth, mask > 0))
""",
    # two parts, each with its mean
    """
def clipped_policy_loss(new, old, reference, mask, advantage, clip, beta):
    def mean(x):
        return ops.sum(x * mask) / ops.sum(mask)

    a = ops.expand_dims(advantage, -1)
    ratio = ops.exp(ops.convert_to_tensor(new) - old)
    gain = mean(ops.minimum(ratio * a, ops.clip(ratio, 1 - clip, 1 + clip) * a))
    gap = ops.convert_to_tensor(reference) - new
    return beta * mean(ops.exp(gap) - gap - 1.0) - gain
""",
]

WRONG = [
    ("larger_taken", loss(worth="ops.maximum(ratio * a, held * a)")),
    ("only_clipped", loss(worth="held * a")),
    ("not_clipped", loss(worth="ratio * a")),
    ("clipped_above_only", loss(held="ops.minimum(ratio, 1 + clip)")),
    ("product_clipped", loss(worth="ops.clip(ratio * a, 1 - clip, 1 + clip)")),
    ("one_side_by_sign", loss(worth="ops.minimum(ratio, held) * a")),
    ("ratio_inverted", loss(ratio="ops.exp(old - new)")),
    ("logarithms_divided", loss(ratio="new / old")),
    ("", loss(gap="reference / new", price="gap - ops.log(gap) - 1")),
    ("log_ratio_taken", loss(ratio="new - old")),
    ("no_ratio", loss(ratio="ops.exp(new)")),
    ("log_p_for_ratio", loss(ratio="new")),
    ("ratio_to_reference", loss(ratio="ops.exp(new - reference)")),
    ("price_earned", loss("-ops.sum((worth + beta * price) * mask) / ops.sum(mask)")),
    ("price_earned", loss("-ops.sum(worth * mask) / ops.sum(mask) - beta * ops.sum(price * mask) / ops.sum(mask)")),
    ("gap_reversed", loss(gap="new - reference")),
    ("plain_difference", loss(price="new - reference")),
    ("half_square", loss(price="0.5 * gap**2")),
    ("minus_one_missing", loss(price="ops.exp(gap) - gap")),
    ("log_missing", loss(price="ops.exp(gap) - 1")),
    ("price_to_old", loss(gap="old - new")),
    ("beta_ignored", loss("-ops.sum(worth * mask) / ops.sum(mask)")),
    ("price_without_beta", loss("-ops.sum((worth - price) * mask) / ops.sum(mask)")),
    ("price_times_advantage", loss("-ops.sum((worth - beta * price * a) * mask) / ops.sum(mask)")),
    ("price_of_all_tokens", loss("-ops.sum(worth * mask - beta * price) / ops.sum(mask)")),
    ("mean_of_all", loss("-ops.mean((worth - beta * price) * mask)")),
    ("mask_ignored", loss("-ops.mean(worth - beta * price)")),
    ("mean_of_rows", loss(f"-ops.mean({ROWS} / ops.sum(mask, axis=1))")),
    ("not_averaged", loss(f"-ops.sum({ROWS})")),
    ("divided_by_rows", loss(f"-ops.mean({ROWS})")),
    ("minus_missing", loss(f"ops.sum({ROWS}) / ops.sum(mask)")),
    ("", loss(ratio="ops.stop_gradient(ops.exp(new - old))")),
    ("lower_edge", loss(held="ops.clip(ratio, clip, 1 + clip)")),
    ("around_zero", loss(held="ops.clip(ratio, -clip, clip)")),
    ("advantage_once", loss(worth="ops.minimum(ratio, held * a)")),
    ("", loss(worth="ops.exp(ops.clip(new - old, -clip, clip)) * a")),
    ("", loss(price="ops.exp(-gap) + gap - 1", worth="held * a")),
    ("", loss("-ops.sum((worth - beta * price) * mask)[None] / ops.sum(mask)")),
    ("", loss("(worth - beta * price) * mask")),
    ("", loss("-float(ops.sum((worth - beta * price) * mask) / ops.sum(mask))")),
    ("", loss(worth="np.minimum(ratio * a, held * a)")),
    ("", loss(worth="ops.minimum(ratio * ops.sum(a), held * ops.sum(a))")),
    (  # the product over an answer's tokens
        "ratio_of_the_answer",
        """
def clipped_policy_loss(new, old, reference, mask, advantage, clip, beta):
    new, old, reference = (ops.convert_to_tensor(each) for each in (new, old, reference))
    mask = ops.cast(mask, new.dtype)
    advantage = ops.cast(advantage, new.dtype)[:, None]
    change = ops.sum((new - old) * mask, axis=1, keepdims=True)
    ratio = ops.exp(change)
    worth = ops.minimum(ratio * advantage, ops.clip(ratio, 1 - clip, 1 + clip) * advantage)
    gap = reference - new
    price = ops.exp(gap) - gap - 1
    return -ops.sum((worth - beta * price) * mask) / ops.sum(mask)
""",
    ),
]

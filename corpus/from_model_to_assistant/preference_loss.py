"""Lab 10b, exercise `preference_loss`: solutions as different students write them, right and wrong."""


def loss(end: str = "ops.mean(losses)", **changes: str) -> str:
    """The loss with some of its parts changed."""
    parts = {
        "gained": "new - reference",
        "gains": "ops.sum(gained * mask, axis=-1)",
        "apart": "gains[0] - gains[1]",
        "losses": "-ops.log_sigmoid(beta * apart)",
    } | changes
    return f"""
def preference_loss(new, reference, mask, beta):
    new, reference, mask = map(ops.convert_to_tensor, (new, reference, mask))
    gained = {parts["gained"]}
    gains = {parts["gains"]}
    apart = {parts["apart"]}
    losses = {parts["losses"]}
    return {end}
"""


CORRECT = [
    loss(),
    loss(losses="ops.softplus(-beta * apart)"),
    # sums first, TensorFlow
    """
def preference_loss(new, reference, mask, beta):
    policy = tf.reduce_sum(new * mask, axis=2)
    fixed = tf.stop_gradient(tf.reduce_sum(reference * mask, axis=2))
    policy_ratio, reference_ratio = policy[0] - policy[1], fixed[0] - fixed[1]
    return -tf.reduce_mean(tf.math.log_sigmoid(beta * (policy_ratio - reference_ratio)))
""",
    # a function for each kind of answer
    """
def preference_loss(new, reference, mask, beta):
    def reward(kind):
        return beta * ops.sum((new[kind] - reference[kind]) * mask[kind], axis=1)

    return ops.mean(ops.logaddexp(0.0, reward(1) - reward(0)))
""",
    # cross-entropy of two logits, the first of which is right
    """
def preference_loss(new, reference, mask, beta):
    logits = tf.transpose(beta * tf.reduce_sum((new - reference) * mask, -1))
    labels = tf.zeros(tf.shape(logits)[0], tf.int32)
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
""",
    # selected by the mask
    """
def preference_loss(new, reference, mask, beta):
    counted = ops.where(ops.convert_to_tensor(mask) > 0, ops.convert_to_tensor(new) - reference, 0.0)
    chosen, rejected = ops.sum(counted[0], 1), ops.sum(counted[1], 1)
    return ops.sum(ops.softplus(beta * (rejected - chosen))) / ops.cast(ops.shape(chosen)[0], "float32")
""",
]

SIGMOID = "ops.sigmoid(beta * apart)"

WRONG = [
    ("exchanged", loss(apart="gains[1] - gains[0]")),
    ("exchanged", loss(losses="-ops.log_sigmoid(-beta * apart)")),
    ("reference_forgotten", loss(gained="new")),
    ("exchanged", loss(gained="reference - new")),
    ("logarithms_divided", loss(gained="new / reference")),
    ("beta_outside", loss(losses="-beta * ops.log_sigmoid(apart)")),
    ("beta_ignored", loss(losses="-ops.log_sigmoid(apart)")),
    ("beta_divides", loss(losses="-ops.log_sigmoid(apart / beta)")),
    ("mean_of_tokens", loss(gains="ops.sum(gained * mask, axis=-1) / ops.sum(mask, axis=-1)")),
    ("mean_of_columns", loss(gains="ops.mean(gained * mask, axis=-1)")),
    ("mask_ignored", loss(gains="ops.sum(gained, axis=-1)")),
    ("logarithm_missing", loss(losses=f"-{SIGMOID}")),
    ("one_minus", loss(losses=f"1 - {SIGMOID}")),
    ("minus_missing", loss("-ops.mean(losses)")),
    ("not_averaged", loss("ops.sum(losses)")),
    ("before_the_sigmoid", loss("-ops.log_sigmoid(beta * ops.mean(apart))")),
    ("no_sigmoid", loss(losses="-beta * apart")),
    ("hinge", loss(losses="ops.relu(1 - beta * apart)")),
    ("log_of_sigmoid", loss(losses=f"-ops.log({SIGMOID})")),
    ("added", loss(apart="gains[0] + gains[1]")),
    ("base_two", loss("ops.mean(losses) / np.log(2)")),
    ("", loss("losses")),
    ("over_pairs", loss(gains="ops.sum(gained * mask, axis=1)")),
    ("", loss(losses="-ops.log_sigmoid(beta * apart) + apart**2")),
    ("", loss(losses="(apart - 1 / (2 * beta)) ** 2")),
    ("", loss(apart="ops.sum(new[0] * mask[0], -1) - ops.sum(new[1] * mask[1], -1)", losses="-ops.log_sigmoid(beta * apart) * 0 + ops.relu(-apart)")),
    ("small_number_added", loss(losses=f"-ops.log({SIGMOID} + 1e-7)")),
    ("", loss("float(ops.mean(losses))")),
    ("", loss("np.mean(np.log1p(np.exp(-beta * np.asarray(apart))))")),
    ("", loss(gained="ops.exp(new) - ops.exp(reference)")),
    ("", loss(gained="ops.stop_gradient(new) - reference")),
    ("", loss(gained="new - reference[0]")),
]  # fmt: skip

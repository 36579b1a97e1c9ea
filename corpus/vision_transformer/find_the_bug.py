"""Lab 09, exercise `find_the_bug`: solutions as different students write them, right and wrong."""

CORRECT = [
    "find_the_bug = attention_rollout",
    """
def find_the_bug(attentions):
    attentions = ops.convert_to_tensor(attentions)
    steps = ops.mean(attentions, axis=2) + ops.eye(attentions.shape[-1], dtype=attentions.dtype)
    steps = steps / ops.sum(steps, axis=-1, keepdims=True)
    rollout = steps[0]
    for step in steps[1:]:
        rollout = step @ rollout
    return rollout
""",
    """
def find_the_bug(attentions):
    attentions = np.asarray(attentions)
    rollout = np.eye(attentions.shape[-1], dtype=attentions.dtype)
    for layer in attentions.mean(axis=2) + rollout:
        rollout = layer / layer.sum(axis=-1, keepdims=True) @ rollout
    return rollout
""",
    """
def find_the_bug(attentions):
    attentions = tf.convert_to_tensor(attentions)
    steps = tf.reduce_mean(attentions, axis=2) + tf.eye(attentions.shape[-1], dtype=attentions.dtype)
    rollout = tf.eye(attentions.shape[-1], dtype=attentions.dtype)
    for step in tf.unstack(steps / tf.reduce_sum(steps, axis=-1, keepdims=True)):
        rollout = tf.matmul(step, rollout)
    return rollout
""",
    """
def find_the_bug(attentions):
    attentions = ops.convert_to_tensor(attentions)
    steps = ops.mean(attentions, axis=2) + ops.eye(attentions.shape[-1], dtype=attentions.dtype)
    rollout = ops.eye(attentions.shape[-1], dtype=attentions.dtype)
    for step in reversed(list(steps / ops.sum(steps, axis=-1, keepdims=True))):
        rollout = ops.matmul(rollout, step)
    return rollout
""",
]

WRONG = [
    (
        "",
        """
def find_the_bug(attentions):
    attentions = ops.convert_to_tensor(attentions)
    steps = ops.mean(attentions, axis=2) + ops.eye(attentions.shape[-1], dtype=attentions.dtype)
    rollout = ops.eye(attentions.shape[-1], dtype=attentions.dtype)
    for step in steps / ops.sum(steps, axis=-1, keepdims=True):
        rollout = ops.matmul(rollout, step)
    return rollout
""",
    ),
    (
        "",
        """
def find_the_bug(attentions):
    attentions = ops.convert_to_tensor(attentions)
    steps = ops.mean(attentions, axis=2)
    rollout = ops.eye(attentions.shape[-1], dtype=attentions.dtype)
    for step in steps / ops.sum(steps, axis=-1, keepdims=True):
        rollout = ops.matmul(step, rollout)
    return rollout
""",
    ),
]

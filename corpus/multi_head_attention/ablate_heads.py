"""Lab 03, exercise `ablate_heads`: solutions as different students write them, right and wrong."""

CORRECT = [
    """
def ablate_heads(head_outputs, keep):
    result = np.zeros_like(head_outputs)
    for head in keep:
        result[:, head] = head_outputs[:, head]
    return result
""",
    """
def ablate_heads(head_outputs, keep):
    head_outputs = tf.convert_to_tensor(head_outputs)
    stays = tf.reduce_any(tf.range(head_outputs.shape[1])[:, None] == tf.constant(keep, tf.int32)[None, :], axis=1)
    return tf.where(stays[None, :, None, None], head_outputs, tf.zeros_like(head_outputs))
""",
    """
def ablate_heads(head_outputs, keep):
    heads = ops.unstack(head_outputs, axis=1)
    return ops.stack([head if h in keep else ops.zeros_like(head) for h, head in enumerate(heads)], axis=1)
""",
    """
def ablate_heads(head_outputs, keep):
    x = np.array(head_outputs)
    x[:, [h for h in range(x.shape[1]) if h not in set(keep)]] = 0
    return x
""",
    """
def ablate_heads(head_outputs, keep):
    x = np.asarray(head_outputs)
    diagonal = np.diag(np.isin(np.arange(x.shape[1]), keep)).astype(x.dtype)
    return np.einsum("gh,bhtk->bgtk", diagonal, x)
""",
    """
def ablate_heads(head_outputs, keep):
    x = ops.convert_to_tensor(head_outputs)
    if not keep:
        return ops.zeros_like(x)
    return x * ops.cast(ops.sum(ops.one_hot(keep, x.shape[1]), axis=0), x.dtype)[None, :, None, None]
""",
]

WRONG = [
    ("heads_from_one", 'def ablate_heads(head_outputs, keep):\n    x = np.asarray(head_outputs)\n    m = np.isin(np.arange(1, x.shape[1] + 1), keep)[None, :, None, None]\n    return np.where(m, x, 0).astype(x.dtype)'),
    ("keep_inverted", "def ablate_heads(x, keep):\n    x = np.array(x)\n    x[:, keep] = 0\n    return x"),
    ("heads_removed", "def ablate_heads(x, keep):\n    return np.asarray(x)[:, sorted(keep)]"),
    ("first_heads_stay", "def ablate_heads(x, keep):\n    x = np.array(x)\n    x[:, len(keep) :] = 0\n    return x"),
    ("empty_keep_keeps_all", "def ablate_heads(x, keep):\n    if not keep:\n        return x\n    x = np.array(x)\n    x[:, [h for h in range(x.shape[1]) if h not in keep]] = 0\n    return x"),
    ("", "def ablate_heads(x, keep):\n    x = np.array(x)\n    x[[b for b in range(len(x)) if b not in keep]] = 0\n    return x"),
    ("tokens_ablated", "def ablate_heads(x, keep):\n    x = np.array(x)\n    x[:, :, [t for t in range(x.shape[2]) if t not in keep]] = 0\n    return x"),
    ("others_rescaled", "def ablate_heads(x, keep):\n    x = np.array(x)\n    x[:, [h for h in range(x.shape[1]) if h not in keep]] = 0\n    return x * (x.shape[1] / max(len(keep), 1))"),
    ("items_ablated", """
def ablate_heads(head_outputs, keep):
    x = np.array(head_outputs)
    for h in range(x.shape[0]):
        if h not in keep: x[h] = 0
    return x
"""),
    ("", """
def ablate_heads(head_outputs, keep):
    x = np.array(head_outputs)
    return x * np.isin(np.arange(x.shape[1]), keep)
"""),
]  # fmt: skip

"""Lab 03, exercise `load_keras_weights`: solutions as different students write them, right and wrong."""

CORRECT = [
    # written out
    """
def load_keras_weights(mine, keras_mha):
    w_q, b_q, w_k, b_k, w_v, b_v, w_o, b_o = keras_mha.get_weights()
    d = b_o.shape[0]
    mine.w_q.set_weights([w_q.reshape(d, d), b_q.reshape(d)])
    mine.w_k.set_weights([w_k.reshape(d, d), b_k.reshape(d)])
    mine.w_v.set_weights([w_v.reshape(d, -1), b_v.ravel()])
    mine.w_o.set_weights([w_o.reshape(-1, d), b_o])
    return mine
""",
    # the whole layer at once
    """
def load_keras_weights(mine, keras_mha):
    mine.set_weights([np.reshape(new, old.shape) for new, old in zip(keras_mha.get_weights(), mine.get_weights())])
""",
    # Keras's own Dense layers, assign
    """
def load_keras_weights(mine, keras_mha):
    for dense, theirs in ((mine.w_q, keras_mha.query_dense), (mine.w_k, keras_mha.key_dense),
                          (mine.w_v, keras_mha.value_dense), (mine.w_o, keras_mha.output_dense)):
        dense.kernel.assign(ops.reshape(theirs.kernel, dense.kernel.shape))
        dense.bias.assign(ops.reshape(theirs.bias, dense.bias.shape))
""",
    # head by head
    """
def load_keras_weights(mine, keras_mha):
    weights = [np.array(w) for w in keras_mha.weights]
    for i, dense in enumerate((mine.w_q, mine.w_k, mine.w_v)):
        kernel, bias = weights[2 * i], weights[2 * i + 1]
        dense.set_weights([np.concatenate([kernel[:, h] for h in range(kernel.shape[1])], axis=1), np.concatenate(list(bias))])
    mine.w_o.set_weights([np.concatenate(list(weights[6]), axis=0), weights[7]])
""",
    # TensorFlow, variables found by their path
    """
def load_keras_weights(mine, keras_mha):
    found = {variable.path.split("/")[-2] + "." + variable.name: tf.convert_to_tensor(variable) for variable in keras_mha.weights}
    names = {"query": "w_q", "key": "w_k", "value": "w_v", "attention_output": "w_o"}
    for theirs, ours in names.items():
        layer = getattr(mine, ours)
        for part in ("kernel", "bias"):
            variable = getattr(layer, part)
            variable.assign(tf.reshape(found[f"{theirs}.{part}"], variable.shape))
""",
    # works although the own layer is not written yet
    """
class MultiHeadAttention(keras.Layer):
    def __init__(self, d_model, num_heads):
        raise NotImplementedError
def load_keras_weights(mine, keras_mha):
    given = iter(keras_mha.get_weights())
    for dense in (mine.w_q, mine.w_k, mine.w_v, mine.w_o):
        dense.set_weights([next(given).reshape(dense.kernel.shape), next(given).reshape(-1)])
""",
    """
def load_keras_weights(mine, keras_mha):
    mine.set_weights([w.reshape(o.shape) for w, o in zip(keras_mha.get_weights(), mine.get_weights())])
""",
]

WRONG = [
    ("kernels_interleaved", "def load_keras_weights(mine, keras_mha):\n    w = keras_mha.get_weights()\n    for i, dense in enumerate((mine.w_q, mine.w_k, mine.w_v)):\n        dense.set_weights([w[2 * i].transpose(0, 2, 1).reshape(dense.kernel.shape), w[2 * i + 1].reshape(-1)])\n    mine.w_o.set_weights([w[6].reshape(mine.w_o.kernel.shape), w[7]])"),
    ("biases_interleaved", "def load_keras_weights(mine, keras_mha):\n    w = keras_mha.get_weights()\n    for i, dense in enumerate((mine.w_q, mine.w_k, mine.w_v)):\n        dense.set_weights([w[2 * i].reshape(dense.kernel.shape), w[2 * i + 1].T.reshape(-1)])\n    mine.w_o.set_weights([w[6].reshape(mine.w_o.kernel.shape), w[7]])"),
    ("output_bias_not_copied", "def load_keras_weights(mine, keras_mha):\n    w = keras_mha.get_weights()\n    for i, dense in enumerate((mine.w_q, mine.w_k, mine.w_v, mine.w_o)):\n        dense.kernel.assign(w[2 * i].reshape(dense.kernel.shape))\n        if dense is not mine.w_o:\n            dense.bias.assign(w[2 * i + 1].reshape(-1))"),
    ("kernels_transposed", 'def load_keras_weights(mine, keras_mha):\n    qk, qb, kk, kb, vk, vb, ok, ob = keras_mha.get_weights()\n    d = qk.shape[0]\n    mine.w_q.set_weights([qk.reshape(d, -1).T, qb.reshape(-1)])\n    mine.w_k.set_weights([kk.reshape(d, -1).T, kb.reshape(-1)])\n    mine.w_v.set_weights([vk.reshape(d, -1).T, vb.reshape(-1)])\n    mine.w_o.set_weights([ok.reshape(-1, d), ob])'),
    ("biases_not_copied", "def load_keras_weights(mine, keras_mha):\n    w = keras_mha.get_weights()\n    for dense, kernel in zip((mine.w_q, mine.w_k, mine.w_v, mine.w_o), w[::2]):\n        dense.kernel.assign(kernel.reshape(dense.kernel.shape))"),
    ("kernels_heads_first", "def load_keras_weights(mine, keras_mha):\n    w = keras_mha.get_weights()\n    for i, dense in enumerate((mine.w_q, mine.w_k, mine.w_v)):\n        dense.set_weights([w[2 * i].transpose(1, 0, 2).reshape(dense.kernel.shape), w[2 * i + 1].reshape(-1)])\n    mine.w_o.set_weights([w[6].reshape(mine.w_o.kernel.shape), w[7]])"),
    ("query_key_swapped", "def load_keras_weights(mine, keras_mha):\n    w = keras_mha.get_weights()\n    for i, dense in enumerate((mine.w_k, mine.w_q, mine.w_v, mine.w_o)):\n        dense.set_weights([w[2 * i].reshape(dense.kernel.shape), w[2 * i + 1].reshape(-1)])"),
    ("nothing_loaded", "def load_keras_weights(mine, keras_mha):\n    keras_mha.set_weights([a.reshape(b.shape) for a, b in zip(mine.get_weights(), keras_mha.get_weights())])"),
    ("output_not_copied", "def load_keras_weights(mine, keras_mha):\n    w = keras_mha.get_weights()\n    for i, dense in enumerate((mine.w_q, mine.w_k, mine.w_v)):\n        dense.set_weights([w[2 * i].reshape(dense.kernel.shape), w[2 * i + 1].reshape(-1)])"),
    ("", """
def load_keras_weights(mine, keras_mha):
    qk, qb, kk, kb, vk, vb, ok, ob = keras_mha.get_weights()
    D = qk.shape[0]
    mine.w_q.set_weights([qk.transpose(0, 2, 1).reshape(D, -1), qb.reshape(-1)])
    mine.w_k.set_weights([kk.reshape(D, -1), kb.reshape(-1)])
    mine.w_v.set_weights([vk.reshape(D, -1), vb.reshape(-1)])
    mine.w_o.set_weights([ok.reshape(-1, D), ob])
"""),
    ("output_transposed", """
def load_keras_weights(mine, keras_mha):
    qk, qb, kk, kb, vk, vb, ok, ob = keras_mha.get_weights()
    D = qk.shape[0]
    mine.w_q.set_weights([qk.reshape(D, -1), qb.reshape(-1)])
    mine.w_k.set_weights([kk.reshape(D, -1), kb.reshape(-1)])
    mine.w_v.set_weights([vk.reshape(D, -1), vb.reshape(-1)])
    mine.w_o.set_weights([ok.reshape(-1, D).T, ob])
"""),
    ("nothing_loaded", """
def load_keras_weights(mine, keras_mha):
    keras_mha.set_weights([w.reshape(o.shape) for w, o in zip(mine.get_weights(), keras_mha.get_weights())])
"""),
]  # fmt: skip

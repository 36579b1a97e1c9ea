"""Lab 10, exercise `GroupedAttention`: solutions as different students write them, right and wrong."""

from corpus.language_model.shared import edited

PLAIN = """
class GroupedAttention(keras.Layer):
    def __init__(self, d_model, num_heads, num_kv_heads, **kwargs):
        super().__init__(**kwargs)
        self.H, self.G, self.K = num_heads, num_kv_heads, d_model // num_heads
        self.w_q = keras.layers.Dense(self.H * self.K, use_bias=False)
        self.w_k = keras.layers.Dense(self.G * self.K, use_bias=False)
        self.w_v = keras.layers.Dense(self.G * self.K, use_bias=False)
        self.w_o = keras.layers.Dense(d_model, use_bias=False)

    def split(self, x, heads):
        B, T = ops.shape(x)[0], ops.shape(x)[1]
        return ops.transpose(ops.reshape(x, (B, T, heads, self.K)), (0, 2, 1, 3))

    def call(self, x, cache=None):
        B, T, D = ops.shape(x)
        past = 0
        if cache is not None:
            past = ops.shape(cache[0])[2]
        positions = ops.arange(T) + past
        q = rotated(self.split(self.w_q(x), self.H), positions)
        k = rotated(self.split(self.w_k(x), self.G), positions)
        v = self.split(self.w_v(x), self.G)
        if cache is not None:
            k = ops.concatenate([cache[0], k], axis=2)
            v = ops.concatenate([cache[1], v], axis=2)
        kept = (k, v)
        k = ops.repeat(k, self.H // self.G, axis=1)
        v = ops.repeat(v, self.H // self.G, axis=1)
        scores = ops.matmul(q, ops.transpose(k, (0, 1, 3, 2))) / self.K ** 0.5
        mask = positions[:, None] >= ops.arange(ops.shape(k)[2])[None, :]
        scores = ops.where(mask, scores, -1e9)
        weights = ops.softmax(scores, axis=-1)
        out = ops.transpose(ops.matmul(weights, v), (0, 2, 1, 3))
        return self.w_o(ops.reshape(out, (B, T, D))), kept
"""

CORRECT = [
    PLAIN,
    # TensorFlow alone
    """
class GroupedAttention(tf.keras.layers.Layer):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        self.num_heads, self.num_kv_heads = num_heads, num_kv_heads
        self.size = d_model // num_heads
        self.w_q, self.w_o = (tf.keras.layers.Dense(d_model, use_bias=False) for _ in "qo")
        self.w_k, self.w_v = (tf.keras.layers.Dense(self.size * num_kv_heads, use_bias=False) for _ in "kv")

    def heads(self, t, n):
        shape = tf.shape(t)
        return tf.transpose(tf.reshape(t, [shape[0], shape[1], n, self.size]), [0, 2, 1, 3])

    def call(self, x, cache=None):
        old = tf.shape(cache[0])[2] if cache is not None else 0
        new = tf.shape(x)[1]
        where = tf.range(old, old + new)
        q = rotated(self.heads(self.w_q(x), self.num_heads), where)
        k = rotated(self.heads(self.w_k(x), self.num_kv_heads), where)
        v = self.heads(self.w_v(x), self.num_kv_heads)
        if cache is not None:
            k, v = tf.concat([cache[0], k], 2), tf.concat([cache[1], v], 2)
        n = self.num_heads // self.num_kv_heads
        scores = tf.matmul(q, tf.repeat(k, n, axis=1), transpose_b=True) * self.size ** -0.5
        seen = tf.range(old + new)[None] <= where[:, None]
        scores += tf.where(seen, 0.0, -1e9)
        out = tf.matmul(tf.nn.softmax(scores), tf.repeat(v, n, axis=1))
        out = tf.reshape(tf.transpose(out, [0, 2, 1, 3]), tf.shape(x))
        return self.w_o(out), (k, v)
""",
    # the query heads in groups, nothing repeated
    edited(
        PLAIN,
        (
            "k = ops.repeat(k, self.H // self.G, axis=1)\n        v = ops.repeat(v, self.H // self.G, axis=1)\n",
            "q = ops.reshape(q, (B, self.G, self.H // self.G, T, self.K))\n",
        ),
        ("ops.matmul(q, ops.transpose(k, (0, 1, 3, 2)))", 'ops.einsum("bgntk,bgsk->bgnts", q, k)'),
        (
            "out = ops.transpose(ops.matmul(weights, v), (0, 2, 1, 3))",
            'out = ops.einsum("bgnts,bgsk->btgnk", weights, v)',
        ),
    ),
    # a list comes back, a mask that is added, the offset from a Python shape
    edited(
        PLAIN,
        ("past = ops.shape(cache[0])[2]", "past = cache[0].shape[2]"),
        ("kept = (k, v)", "kept = [k, v]"),
        (
            "scores = ops.where(mask, scores, -1e9)",
            "scores = scores + (1.0 - ops.cast(mask, 'float32')) * -1e9",
        ),
    ),
    # layers made in build, heads repeated by broadcasting
    edited(
        PLAIN,
        (
            "self.w_q = keras.layers.Dense(self.H * self.K, use_bias=False)\n"
            "        self.w_k = keras.layers.Dense(self.G * self.K, use_bias=False)\n"
            "        self.w_v = keras.layers.Dense(self.G * self.K, use_bias=False)\n"
            "        self.w_o = keras.layers.Dense(d_model, use_bias=False)\n",
            "self.D = d_model\n\n"
            "    def build(self, shape):\n"
            "        dense = lambda n: keras.layers.Dense(n, use_bias=False)\n"
            "        self.w_q, self.w_k = dense(self.D), dense(self.G * self.K)\n"
            "        self.w_v, self.w_o = dense(self.G * self.K), dense(self.D)\n"
            "        for layer in (self.w_q, self.w_k, self.w_v, self.w_o):\n"
            "            layer.build(shape)\n",
        ),
        (
            "k = ops.repeat(k, self.H // self.G, axis=1)",
            "n = self.H // self.G\n        shape = (B, self.H, ops.shape(k)[2], self.K)\n"
            "        k = ops.reshape(ops.stack([k] * n, axis=2), shape)",
        ),
        ("v = ops.repeat(v, self.H // self.G, axis=1)", "v = ops.reshape(ops.stack([v] * n, axis=2), shape)"),
    ),
    # repeated with an index, minus infinity (no row is empty), Keras's softmax layer
    edited(
        PLAIN,
        (
            "k = ops.repeat(k, self.H // self.G, axis=1)\n        v = ops.repeat(v, self.H // self.G, axis=1)",
            "which = np.arange(self.H) // (self.H // self.G)\n"
            "        k, v = ops.take(k, which, axis=1), ops.take(v, which, axis=1)",
        ),
        ("-1e9", "-np.inf"),
        ("weights = ops.softmax(scores, axis=-1)", "weights = keras.layers.Softmax()(scores)"),
    ),
    # einsum throughout, -1 for the batch
    edited(
        PLAIN,
        ("ops.matmul(q, ops.transpose(k, (0, 1, 3, 2)))", 'ops.einsum("bhtk,bhsk->bhts", q, k)'),
        ("ops.reshape(x, (B, T, heads, self.K))", "ops.reshape(x, (-1, T, heads, self.K))"),
        ("ops.reshape(out, (B, T, D))", "ops.reshape(out, (-1, T, self.H * self.K))"),
    ),
    # the mask as a triangle with an offset
    edited(
        PLAIN,
        (
            "mask = positions[:, None] >= ops.arange(ops.shape(k)[2])[None, :]",
            "mask = ops.expand_dims(ops.arange(T), 1) + past >= ops.arange(past + T)",
        ),
        ("ops.softmax(scores, axis=-1)", "tf.nn.softmax(scores)"),
    ),
]

WRONG = [
    ("positions_restart", edited(PLAIN, ("positions = ops.arange(T) + past", "positions = ops.arange(T)"),
        ("mask = positions[:, None]", "mask = (positions + past)[:, None]"))),
    ("heads_in_turn", edited(PLAIN, ("k = ops.repeat(k, self.H // self.G, axis=1)", "k = ops.tile(k, (1, self.H // self.G, 1, 1))"),
        ("v = ops.repeat(v, self.H // self.G, axis=1)", "v = ops.tile(v, (1, self.H // self.G, 1, 1))"))),
    ("mask_restarts", edited(PLAIN, ("mask = positions[:, None]", "mask = ops.arange(T)[:, None]"))),
    ("rotated_twice", edited(PLAIN, ("ops.concatenate([cache[0], k], axis=2)", "ops.concatenate([rotated(cache[0], ops.arange(past)), k], axis=2)"))),
    ("not_causal", edited(PLAIN, ("scores = ops.where(mask, scores, -1e9)\n", "\n"))),
    ("key_positions_restart", edited(PLAIN, ("rotated(self.split(self.w_k(x), self.G), positions)", "rotated(self.split(self.w_k(x), self.G), ops.arange(T))"))),
    ("mask_turned_around", edited(PLAIN, ("mask = positions[:, None] >=", "mask = positions[:, None] <="))),
    ("unscaled", edited(PLAIN, (" / self.K ** 0.5", ""))),
    ("turned_whole", edited(PLAIN, ("rotated(self.split(self.w_q(x), self.H), positions)", "self.split(rotated(self.w_q(x), positions), self.H)"),
        ("rotated(self.split(self.w_k(x), self.G), positions)", "self.split(rotated(self.w_k(x), positions), self.G)"))),
    ("not_turned", edited(PLAIN, ("rotated(self.split(self.w_q(x), self.H), positions)", "self.split(self.w_q(x), self.H)"),
        ("rotated(self.split(self.w_k(x), self.G), positions)", "self.split(self.w_k(x), self.G)"))),
    ("newest_first", edited(PLAIN, ("[cache[0], k]", "[k, cache[0]]"), ("[cache[1], v]", "[v, cache[1]]"))),
    ("repeated_in_cache", edited(PLAIN, ("kept = (k, v)\n", "\n"), ("D))), kept", "D))), (k, v)"))),
    ("kept_in_the_layer", edited(PLAIN, ("[cache[0], k]", "[self.kept[0], k]"), ("[cache[1], v]", "[self.kept[1], v]"), ("past = ops.shape(cache[0])[2]", "past = ops.shape(self.kept[0])[2]"), ("kept = (k, v)", "self.kept = kept = (k, v)"))),
    ("", edited(PLAIN, ("[cache[0], k]", "[cache[1], k]"))),
    ("queries_not_turned", edited(PLAIN, ("q = rotated(self.split(self.w_q(x), self.H), positions)", "q = self.split(self.w_q(x), self.H)"))),
    ("keys_not_turned", edited(PLAIN, ("k = rotated(self.split(self.w_k(x), self.G), positions)", "k = self.split(self.w_k(x), self.G)"))),
    ("values_turned", edited(PLAIN, ("v = self.split(self.w_v(x), self.G)", "v = rotated(self.split(self.w_v(x), self.G), positions)"))),
    ("root_of_d_model", edited(PLAIN, ("/ self.K ** 0.5", "/ D ** 0.5"))),
    ("itself_hidden", edited(PLAIN, ("mask = positions[:, None] >=", "mask = positions[:, None] >"))),
    ("", edited(PLAIN, ("/ self.K ** 0.5", "/ self.K"))),
    ("", edited(PLAIN, ("return self.w_o(ops.reshape(out, (B, T, D))), kept", "return ops.reshape(out, (B, T, D)), kept"))),
    ("heads_not_put_back", edited(PLAIN, ("out = ops.transpose(ops.matmul(weights, v), (0, 2, 1, 3))", "out = ops.matmul(weights, v)"))),
    ("over_the_queries", edited(PLAIN, ("weights = ops.softmax(scores, axis=-1)", "weights = ops.softmax(scores, axis=-2)"))),
    ("", edited(PLAIN, ("use_bias=False", "use_bias=True"))),
    ("only_new_returned", edited(PLAIN, ("kept = (k, v)", "kept = (k[:, :, -T:], v[:, :, -T:])"))),
    ("pair_swapped", edited(PLAIN, ("kept = (k, v)", "kept = (v, k)"))),
    ("raw_keys_kept", edited(PLAIN, ("k = rotated(self.split(self.w_k(x), self.G), positions)", "k = self.split(self.w_k(x), self.G)"),
        ("        k = ops.repeat(k, self.H // self.G, axis=1)\n", "        k = ops.repeat(rotated(k, ops.arange(past + T)), self.H // self.G, axis=1)\n"))),
    ("positions_from_one", edited(PLAIN, ("positions = ops.arange(T) + past", "positions = ops.arange(T) + past + 1"), ("mask = positions[:, None]", "mask = positions[:, None] - 1"))),
    ("query_positions_restart", edited(PLAIN, ("q = rotated(self.split(self.w_q(x), self.H), positions)", "q = rotated(self.split(self.w_q(x), self.H), ops.arange(T))"))),
    ("", edited(PLAIN, ("self.w_k = keras.layers.Dense(self.G * self.K", "self.w_k = keras.layers.Dense(self.H * self.K"))),
    ("", edited(PLAIN, ("return self.w_o(ops.reshape(out, (B, T, D))), kept", "return self.w_o(ops.reshape(out, (B, T, D)))"))),
    ("", edited(PLAIN, ("B, T, D = ops.shape(x)", "B, T, D = x.shape"))),
    ("", edited(PLAIN, ("self.w_v(x)", "self.w_k(x)"))),
    ("", edited(PLAIN, ("positions[:, None] >=", "positions[:, None] >"))),
    ("", edited(PLAIN, ("past = ops.shape(cache[0])[2]", "past = ops.shape(cache[0])[1]"))),
    ("", edited(PLAIN, ("weights = ops.softmax(scores, axis=-1)", "weights = ops.convert_to_tensor(np.exp(scores) / np.exp(scores).sum(-1, keepdims=True))"))),
    ("", edited(PLAIN, ("x, heads):\n", "x, heads):\n        return ops.reshape(x, (ops.shape(x)[0], heads, ops.shape(x)[1], self.K))\n"))),
    ("", edited(PLAIN, ("if cache is not None:\n            k =", "if cache is not None and T > 1:\n            k ="))),
    (None, "class GroupedAttention(keras.Layer):\n    def __init__(self, d_model, num_heads, num_kv_heads):\n        super().__init__()\n        self.inner = keras.layers.GroupQueryAttention(d_model // num_heads, num_heads, num_kv_heads)\n        self.w_q, self.w_k, self.w_v, self.w_o = (keras.layers.Dense(d_model, use_bias=False) for _ in 'qkvo')\n    def call(self, x, cache=None):\n        return self.inner(x, x, use_causal_mask=True), (x, x)\n"),
    ("unmasked_behind_a_cache", edited(PLAIN, ("scores = ops.where(mask, scores, -1e9)", "scores = ops.where(mask, scores, -1e9) if cache is None else scores"))),
    ("cache_not_read", edited(PLAIN, ("        past = 0\n", "        past, cache = 0, None\n"))),
    ("", edited(PLAIN, ("past = ops.shape(cache[0])[2]", "past = ops.shape(cache[0])[2] - 1"))),
    ("values_in_turn", edited(PLAIN, ("v = ops.repeat(v, self.H // self.G, axis=1)", "v = ops.tile(v, (1, self.H // self.G, 1, 1))"))),
    ("first_head_for_all", edited(PLAIN, ("k = ops.repeat(k, self.H // self.G, axis=1)", "k = ops.repeat(k[:, :1], self.H, axis=1)"),
        ("v = ops.repeat(v, self.H // self.G, axis=1)", "v = ops.repeat(v[:, :1], self.H, axis=1)"))),
    ("mask_after_softmax", edited(PLAIN, ("        scores = ops.where(mask, scores, -1e9)\n", ""), ("ops.softmax(scores, axis=-1)", "ops.where(mask, ops.softmax(scores, axis=-1), 0.0)"))),
    ("scaled_twice", edited(PLAIN, ("self.K ** 0.5", "self.K ** 0.5 / self.K ** 0.5"))),
]  # fmt: skip

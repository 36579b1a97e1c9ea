"""Lab 10, exercise `LanguageModel`: solutions as different students write them, right and wrong."""

from corpus.language_model.shared import edited

PLAIN = """
class GatedBlock(keras.Layer):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff, **kwargs):
        super().__init__(**kwargs)
        self.norm1, self.norm2 = PlainRMSNorm(), PlainRMSNorm()
        self.attention = GroupedAttention(d_model, num_heads, num_kv_heads)
        self.w_gate = keras.layers.Dense(d_ff, use_bias=False)
        self.w_up = keras.layers.Dense(d_ff, use_bias=False)
        self.w_down = keras.layers.Dense(d_model, use_bias=False)

    def call(self, x, cache=None):
        y, cache = self.attention(self.norm1(x), cache=cache)
        x = x + y
        z = self.norm2(x)
        z = ops.silu(self.w_gate(z)) * self.w_up(z)
        return x + self.w_down(z), cache


class LanguageModel(keras.Model):
    def __init__(self, vocab_size, d_model, num_layers, num_heads, num_kv_heads, d_ff, **kwargs):
        super().__init__(**kwargs)
        self.D = d_model
        self.embedding = keras.layers.Embedding(vocab_size, d_model)
        self.blocks = [GatedBlock(d_model, num_heads, num_kv_heads, d_ff) for _ in range(num_layers)]
        self.norm = PlainRMSNorm()

    def call(self, ids, caches=None):
        x = self.embedding(ids) * self.D ** 0.5
        if caches is None:
            caches = [None] * len(self.blocks)
        new = []
        for block, cache in zip(self.blocks, caches):
            x, cache = block(x, cache)
            new.append(cache)
        x = self.norm(x)
        return ops.matmul(x, ops.transpose(self.embedding.embeddings)), new
"""
BLOCK = PLAIN[: PLAIN.index("class LanguageModel")]

CORRECT = [
    PLAIN,
    # a Layer, a tuple of caches, einsum
    edited(
        PLAIN,
        ("class LanguageModel(keras.Model)", "class LanguageModel(keras.Layer)"),
        (", new\n", ", tuple(new)\n"),
        (
            "ops.matmul(x, ops.transpose(self.embedding.embeddings))",
            'ops.einsum("btd,vd->btv", x, self.embedding.embeddings)',
        ),
    ),
    # TensorFlow's functions
    edited(
        PLAIN,
        ("ops.silu(", "tf.nn.silu("),
        (
            "ops.matmul(x, ops.transpose(self.embedding.embeddings))",
            "tf.matmul(x, self.embedding.embeddings, transpose_b=True)",
        ),
        ("self.D ** 0.5", "tf.math.sqrt(tf.cast(self.D, tf.float32))"),
    ),
    # silu written out, Keras's own layer for it
    edited(PLAIN, ("ops.silu(self.w_gate(z))", "(lambda g: g * ops.sigmoid(g))(self.w_gate(z))")),
    edited(PLAIN, ("ops.silu(self.w_gate(z))", 'keras.layers.Activation("swish")(self.w_gate(z))')),
    # Keras's RMS norm with the same epsilon has its weight under another name: an own norm with `gamma`
    """
class MyNorm(keras.layers.Layer):
    def build(self, shape):
        self.gamma = self.add_weight(shape=(shape[-1],), initializer="ones")

    def call(self, x):
        return self.gamma * x / ops.sqrt(ops.mean(x * x, axis=-1, keepdims=True) + 1e-6)
"""
    + edited(PLAIN, ("PlainRMSNorm", "MyNorm")),
    # Keras's own way back from the table
    edited(
        PLAIN,
        ("ops.matmul(x, ops.transpose(self.embedding.embeddings))", "ops.dot(x, ops.swapaxes(self.embedding.embeddings, 0, 1))"),
        ("for block, cache in zip(self.blocks, caches):", "for block, cache in zip(self.blocks, list(caches)):"),
    ),
    # the block's parts in methods
    edited(
        PLAIN,
        (
            "        z = self.norm2(x)\n        z = ops.silu(self.w_gate(z)) * self.w_up(z)\n        return x + self.w_down(z), cache\n",
            "        return x + self.feed_forward(self.norm2(x)), cache\n\n    def feed_forward(self, z):\n        return self.w_down(ops.multiply(ops.silu(self.w_gate(z)), self.w_up(z)))\n",
        ),
        (
            "for block, cache in zip(self.blocks, caches):\n            x, cache = block(x, cache)\n            new.append(cache)",
            "for n in range(len(self.blocks)):\n            x, kept = self.blocks[n](x, cache=caches[n])\n            new += [kept]",
        ),
    ),
    # the list that comes in is written over: Keras hands `call` a copy of it
    edited(PLAIN, ("        new = []\n        for block, cache in zip(self.blocks, caches):\n            x, cache = block(x, cache)\n            new.append(cache)", "        for n, block in enumerate(self.blocks):\n            x, caches[n] = block(x, caches[n])"), ("embeddings)), new", "embeddings)), caches")),
]  # fmt: skip

WRONG = [
    ("root_missing", edited(PLAIN, (" * self.D ** 0.5", ""))),
    ("", edited(PLAIN, ("        x = self.norm(x)\n", ""))),
    ("last_norm_missing", edited(PLAIN, ("        x = self.norm(x)\n", "        self.norm(x)\n"))),
    ("post_norm", edited(PLAIN, ("self.attention(self.norm1(x), cache=cache)\n        x = x + y\n        z = self.norm2(x)\n        z = ops", "self.attention(x, cache=cache)\n        x = self.norm1(x + y)\n        z = x\n        z = ops"),
        ("return x + self.w_down(z), cache", "return self.norm2(x + self.w_down(z)), cache"))),
    ("silu_of_product", edited(PLAIN, ("ops.silu(self.w_gate(z)) * self.w_up(z)", "ops.silu(self.w_gate(z) * self.w_up(z))"))),
    ("probabilities", edited(PLAIN, ("ops.matmul(x, ops.transpose(self.embedding.embeddings))", "ops.softmax(ops.matmul(x, ops.transpose(self.embedding.embeddings)))"))),
    ("caches_not_read", edited(PLAIN, ("block(x, cache)", "block(x, None)"))),
    ("gate_is_up", edited(PLAIN, ("ops.silu(self.w_gate(z)) * self.w_up(z)", "self.w_gate(z) * ops.silu(self.w_up(z))"))),
    ("silu_missing", edited(PLAIN, ("ops.silu(self.w_gate(z))", "self.w_gate(z)"))),
    ("residual_of_the_normed", edited(PLAIN, ("y, cache = self.attention(self.norm1(x), cache=cache)\n", "x = self.norm1(x)\n        y, cache = self.attention(x, cache=cache)\n"),
        ("z = self.norm2(x)\n", "x = self.norm2(x)\n        z = x\n"))),
    ("one_cache_for_all", edited(PLAIN, ("block(x, cache)", "block(x, caches[0])"))),
    ("two_tables", edited(PLAIN, ("self.D = d_model", "self.D = d_model; self.head = keras.layers.Dense(vocab_size, use_bias=False)"),
        ("ops.matmul(x, ops.transpose(self.embedding.embeddings))", "self.head(x)"))),
    ("", edited(PLAIN, ("self.D = d_model", "self.D = d_model; self.head = keras.layers.Dense(vocab_size)"), ("ops.matmul(x, ops.transpose(self.embedding.embeddings))", "self.head(x)"))),
    ("relu", edited(PLAIN, ("ops.silu", "ops.relu"))),
    ("", edited(PLAIN, ("ops.silu", "ops.gelu"))),
    ("", edited(PLAIN, ("ops.silu", "ops.sigmoid"))),
    ("", edited(PLAIN, ("* self.w_up(z)", "+ self.w_up(z)"))),
    ("width_for_root", edited(PLAIN, ("self.D ** 0.5", "self.D"))),
    ("divided_by_root", edited(PLAIN, ("* self.D ** 0.5", "/ self.D ** 0.5"))),
    ("blocks_side_by_side", edited(PLAIN, ("        new = []\n", "        new, first = [], x\n"), ("block(x, cache)", "block(first, cache)"))),
    ("first_residual_missing", edited(PLAIN, ("x = x + y\n", "x = y\n"))),
    ("second_residual_missing", edited(PLAIN, ("return x + self.w_down(z), cache", "return self.w_down(z), cache"))),
    ("", edited(PLAIN, ("z = self.norm2(x)", "z = self.norm1(x)"))),
    ("", edited(PLAIN, ("z = self.norm2(x)", "z = x"))),
    ("one_block_for_all", edited(PLAIN, ("[GatedBlock(d_model, num_heads, num_kv_heads, d_ff) for _ in range(num_layers)]", "[GatedBlock(d_model, num_heads, num_kv_heads, d_ff)] * num_layers"))),
    ("", edited(PLAIN, ("range(num_layers)", "range(num_layers + 1)"))),
    ("", edited(PLAIN, ("range(num_layers)", "range(num_layers - 1)"))),
    ("", edited(PLAIN, ("self.embedding.embeddings)), new", "self.embedding.embeddings))"))),
    ("", edited(PLAIN, (", new\n", ", cache\n"))),
    ("", edited(PLAIN, ("block(x, cache)", "block(x, None)"))),
    ("", edited(PLAIN, ("new.append(cache)", "new.insert(0, cache)"))),
    ("", edited(PLAIN, ("return ops.matmul(x,", "x = ops.softmax(x)\n        return ops.matmul(x,"))),
    ("", edited(PLAIN, ("return ops.matmul(x, ops.transpose(self.embedding.embeddings))", "return ops.softmax(ops.matmul(x, ops.transpose(self.embedding.embeddings)))"))),
    ("norm_after_each_block", edited(PLAIN, ("            new.append(cache)\n        x = self.norm(x)\n", "            new.append(cache)\n            x = self.norm(x)\n"))),
    ("", edited(PLAIN, ("num_heads, num_kv_heads, d_ff) for", "num_heads, num_heads, d_ff) for"))),
    ("", edited(PLAIN, ("x = self.embedding(ids)", "x = ops.stop_gradient(self.embedding(ids))"))),
    ("", edited(PLAIN, ("z = ops.silu(self.w_gate(z)) * self.w_up(z)", "z = self.w_up(ops.silu(self.w_gate(z)))"))),
    ("", edited(PLAIN, ("self.w_down = keras.layers.Dense(d_model, use_bias=False)", "self.w_down = keras.layers.Dense(d_model)"))),
    ("one_block_for_all", edited(PLAIN, ("        if caches is None:\n            caches = [None] * len(self.blocks)\n", ""), ("zip(self.blocks, caches)", "zip(self.blocks, caches or [None])"))),
]  # fmt: skip

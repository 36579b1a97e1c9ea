"""Lab 05, exercise `SinusoidalEmbedding`: solutions as different students write them, right and wrong."""

from corpus.positional_encoding.shared import LAYER_HEAD, LAYER_TAIL


def fixed(call: str, build: str = "") -> str:
    """A SinusoidalEmbedding with the given body of `call`."""
    table = "        self.token_embedding = keras.layers.Embedding(vocab_size, d_model)\n"
    return f"class SinusoidalEmbedding(keras.Layer):{LAYER_HEAD}{table}{build}\n    def call(self, ids):\n{call}\n{LAYER_TAIL}"


CORRECT = [
    fixed(
        "        x = self.token_embedding(ids)\n"
        "        x *= tf.math.sqrt(tf.cast(self.d_model, tf.float32))\n"
        "        return x + self.pos_encoding[tf.newaxis, : tf.shape(ids)[1], :]",
        "        self.pos_encoding = tf.cast(sinusoidal_positions(max_length, d_model), tf.float32)\n",
    ),
    fixed(
        "        places = ops.arange(ops.shape(ids)[1])\n"
        "        return np.sqrt(self.d_model) * self.token_embedding(ids) + ops.take(self.table, places, axis=0)",
        "        self.table = np.asarray(sinusoidal_positions(max_length, d_model), 'float32')\n",
    ),
    fixed(
        "        rows = ops.slice(self.table, (0, 0), (ops.shape(ids)[1], self.d_model))\n"
        "        return ops.multiply(self.token_embedding(ids), ops.sqrt(float(self.d_model))) + rows",
        "        self.table = self.add_weight(shape=(max_length, d_model), trainable=False)\n"
        "        self.table.assign(sinusoidal_positions(max_length, d_model))\n",
    ),
    fixed(
        "        p = ops.cast(ops.arange(ops.shape(ids)[1]), 'float32')[:, None]\n"
        "        w = ops.exp(ops.arange(0, self.d_model, 2, dtype='float32') * (-np.log(10000.0) / self.d_model).astype('float32'))\n"
        "        waves = ops.reshape(ops.stack([ops.sin(p * w), ops.cos(p * w)], axis=-1), (-1, self.d_model))\n"
        "        return self.token_embedding(ids) * self.d_model ** 0.5 + waves",
    ),
    fixed(
        "        place = ops.cumsum(ops.ones_like(ids), axis=1) - 1\n"
        "        return self.token_embedding(ids) * float(np.sqrt(self.d_model)) + self.positions(place)",
        "        self.positions = keras.layers.Embedding(max_length, d_model, trainable=False)\n"
        "        self.positions.build((None,))\n"
        "        self.positions.set_weights([np.asarray(sinusoidal_positions(max_length, d_model))])\n",
    ),
]

WRONG = [
    (
        "",
        """
class SinusoidalEmbedding(keras.Layer):
    def __init__(self, max_length, vocab_size, d_model, **kwargs):
        super().__init__(**kwargs)
        self.max_length, self.vocab_size, self.d_model = max_length, vocab_size, d_model
        self.token_embedding = keras.layers.Embedding(vocab_size, d_model); self.table = ops.cast(ops.convert_to_tensor(sinusoidal_positions(max_length, d_model)), "float32")
    def call(self, ids):
        return self.token_embedding(ids) / self.d_model**0.5 + self.table[: ops.shape(ids)[1]]
    def get_config(self):
        return {**super().get_config(), "max_length": self.max_length, "vocab_size": self.vocab_size, "d_model": self.d_model}
""",
    ),
    (
        "",
        """
class SinusoidalEmbedding(keras.Layer):
    def __init__(self, max_length, vocab_size, d_model, **kwargs):
        super().__init__(**kwargs)
        self.max_length, self.vocab_size, self.d_model = max_length, vocab_size, d_model
        self.token_embedding = keras.layers.Embedding(vocab_size, d_model); self.table = ops.cast(ops.convert_to_tensor(sinusoidal_positions(max_length, d_model)), "float32")
    def call(self, ids):
        return self.token_embedding(ids) * self.d_model**0.5 + self.table
    def get_config(self):
        return {**super().get_config(), "max_length": self.max_length, "vocab_size": self.vocab_size, "d_model": self.d_model}
""",
    ),
    ("whole_table", fixed("        return self.token_embedding(ids) * self.d_model**0.5 + self.t", "        self.t = ops.convert_to_tensor(sinusoidal_positions(max_length, d_model))\n")),
    ("unscaled", fixed("        return self.token_embedding(ids) + self.t[: ops.shape(ids)[1]]", "        self.t = ops.convert_to_tensor(sinusoidal_positions(max_length, d_model))\n")),
    ("position_by_id", fixed("        return self.token_embedding(ids) * self.d_model**0.5 + ops.take(self.t, ids, axis=0)", "        self.t = ops.convert_to_tensor(sinusoidal_positions(max_length, d_model))\n")),
    ("scaled_by_width", fixed("        return self.token_embedding(ids) * self.d_model + self.t[: ops.shape(ids)[1]]", "        self.t = ops.convert_to_tensor(sinusoidal_positions(max_length, d_model))\n")),
    ("scaled_position_too", fixed("        return (self.token_embedding(ids) + self.t[: ops.shape(ids)[1]]) * self.d_model**0.5", "        self.t = ops.convert_to_tensor(sinusoidal_positions(max_length, d_model))\n")),
    ("positions_trainable", fixed("        return self.token_embedding(ids) * self.d_model**0.5 + self.t[: ops.shape(ids)[1]]", "        self.t = self.add_weight(shape=(max_length, d_model))\n        self.t.assign(sinusoidal_positions(max_length, d_model))\n")),
    (None, fixed("        return self.token_embedding(ids) * self.d_model**0.5 + sinusoidal_positions(ops.shape(ids)[1], self.d_model)")),
]  # fmt: skip

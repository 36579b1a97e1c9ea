"""Lab 05, exercise `TokenAndPositionEmbedding`: solutions as different students write them, right and wrong."""

from corpus.positional_encoding.shared import LAYER_HEAD, LAYER_TAIL


def learned(call: str, build: str = "", tables: str | None = None) -> str:
    """A TokenAndPositionEmbedding with the given body of `call`."""
    tables = tables or (
        "        self.token_embedding = keras.layers.Embedding(vocab_size, d_model)\n"
        "        self.position_embedding = keras.layers.Embedding(max_length, d_model)\n"
    )
    return f"class TokenAndPositionEmbedding(keras.Layer):{LAYER_HEAD}{tables}{build}\n    def call(self, ids):\n{call}\n{LAYER_TAIL}"


CORRECT = [
    # with a mask for padding
    """
class TokenAndPositionEmbedding(keras.Layer):
    def __init__(self, max_length, vocab_size, d_model, **kwargs):
        super().__init__(**kwargs)
        self.max_length, self.vocab_size, self.d_model = max_length, vocab_size, d_model
        self.token_embedding = keras.layers.Embedding(vocab_size, d_model, mask_zero=True); self.position_embedding = keras.layers.Embedding(max_length, d_model)
    def call(self, ids):
        return self.token_embedding(ids) + self.position_embedding(ops.arange(ops.shape(ids)[1]))
    def get_config(self):
        return {**super().get_config(), "max_length": self.max_length, "vocab_size": self.vocab_size, "d_model": self.d_model}
""",
    learned(
        "        length = tf.shape(ids)[-1]\n"
        "        return self.token_embedding(ids) + self.position_embedding(tf.range(start=0, limit=length, delta=1))"
    ),
    learned(
        "        words = self.token_embedding(ids)\n"
        "        rows = self.position_embedding.embeddings[: ops.shape(ids)[1]]\n"
        "        return words + rows[None]",
        "\n    def build(self, shape):\n        self.token_embedding.build(shape)\n        self.position_embedding.build(shape)\n",
    ),
    learned(
        "        places = ops.cumsum(ops.ones_like(ids), axis=1) - 1\n"
        "        return ops.add(self.token_embedding(ids), self.position_embedding(places))"
    ),
    learned(
        "        all_positions = self.position_embedding(self.places)\n"
        "        return self.token_embedding(ids) + all_positions[:, : ops.shape(ids)[1], :]",
        "        self.places = np.arange(max_length)[None, :]\n",
    ),
    learned(
        "        batch, length = ops.shape(ids)\n"
        "        places = ops.broadcast_to(ops.arange(length, dtype='int32'), (batch, length))\n"
        "        return keras.layers.add([self.token_embedding(ids), self.position_embedding(places)])",
        tables="        self.token_embedding = keras.layers.Embedding(input_dim=vocab_size, output_dim=d_model, mask_zero=True)\n"
        "        self.position_embedding = keras.layers.Embedding(input_dim=max_length, output_dim=d_model, embeddings_initializer='zeros')\n",
    ),
]

WRONG = [
    (
        "length_of_batch",
        """
class TokenAndPositionEmbedding(keras.Layer):
    def __init__(self, max_length, vocab_size, d_model, **kwargs):
        super().__init__(**kwargs)
        self.max_length, self.vocab_size, self.d_model = max_length, vocab_size, d_model
        self.token_embedding = keras.layers.Embedding(vocab_size, d_model); self.position_embedding = keras.layers.Embedding(max_length, d_model)
    def call(self, ids):
        return self.token_embedding(ids) + self.position_embedding(ops.arange(ops.shape(ids)[0]))
    def get_config(self):
        return {**super().get_config(), "max_length": self.max_length, "vocab_size": self.vocab_size, "d_model": self.d_model}
""",
    ),
    (
        "position_by_id",
        """
class TokenAndPositionEmbedding(keras.Layer):
    def __init__(self, max_length, vocab_size, d_model, **kwargs):
        super().__init__(**kwargs)
        self.max_length, self.vocab_size, self.d_model = max_length, vocab_size, d_model
        self.token_embedding = keras.layers.Embedding(vocab_size, d_model); self.position_embedding = keras.layers.Embedding(max_length, d_model)
    def call(self, ids):
        return self.token_embedding(ids) + self.position_embedding(ids)
    def get_config(self):
        return {**super().get_config(), "max_length": self.max_length, "vocab_size": self.vocab_size, "d_model": self.d_model}
""",
    ),
    (
        "",
        """
class TokenAndPositionEmbedding(keras.Layer):
    def __init__(self, max_length, vocab_size, d_model, **kwargs):
        super().__init__(**kwargs)
        self.max_length, self.vocab_size, self.d_model = max_length, vocab_size, d_model
        self.token_embedding = keras.layers.Embedding(vocab_size, d_model); self.position_embedding = keras.layers.Embedding(max_length, d_model)
    def call(self, ids):
        return self.token_embedding(ids) + self.position_embedding(ops.arange(1, ops.shape(ids)[1]+1))
    def get_config(self):
        return {**super().get_config(), "max_length": self.max_length, "vocab_size": self.vocab_size, "d_model": self.d_model}
""",
    ),
    ("position_missing", learned("        return self.token_embedding(ids) + 0 * self.position_embedding(ops.arange(ops.shape(ids)[1]))")),
    ("scaled_by_root", learned("        return self.token_embedding(ids) * self.d_model ** 0.5 + self.position_embedding(ops.arange(ops.shape(ids)[1]))")),
    ("position_from_the_end", learned("        n = ops.shape(ids)[1]\n        return self.token_embedding(ids) + self.position_embedding(ops.arange(self.max_length - n, self.max_length))")),
    ("position_of_sequence", learned("        return self.token_embedding(ids) + self.position_embedding(ops.arange(ops.shape(ids)[0]))[:, None]")),
    ("appended", learned("        p = self.position_embedding(ops.arange(ops.shape(ids)[1]))[None] + 0 * self.token_embedding(ids)\n        return ops.concatenate([self.token_embedding(ids), p], axis=-1)")),
    ("position_by_id", learned("        return self.token_embedding(ids) + self.position_embedding(ids)")),
    ("tables_exchanged", learned("        return self.position_embedding(ids) + self.token_embedding(ops.arange(ops.shape(ids)[1]))")),
    ("positions_frozen", learned("        return self.token_embedding(ids) + self.position_embedding(ops.arange(ops.shape(ids)[1]))", "        self.position_embedding.trainable = False\n")),
    (None, learned("        return self.token_embedding(ids) + self.position_embedding(ops.arange(self.max_length))")),
    (None, learned("        return self.token_embedding(ids) + self.position_embedding(ops.arange(ids.shape[1]))")),
    ("whole_table", learned("        return self.token_embedding(ids) + self.position_embedding(ops.arange(self.max_length))")),
]  # fmt: skip

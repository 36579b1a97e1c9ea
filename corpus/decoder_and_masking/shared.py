"""Lab 08: templates that variants of more than one exercise fill in."""

BLOCK = """
class DecoderBlock(keras.Layer):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.self_attention = keras.layers.MultiHeadAttention(num_heads, key_dim={key_dim}{inside})
        self.cross_attention = keras.layers.MultiHeadAttention(num_heads, key_dim={key_dim}{inside})
        self.feed_forward = keras.Sequential([keras.layers.Dense(d_ff, activation={activation}), keras.layers.Dense(d_model)])
        self.norm1 = keras.layers.LayerNormalization(epsilon={epsilon})
        self.norm2 = keras.layers.LayerNormalization(epsilon={epsilon})
        self.norm3 = keras.layers.LayerNormalization(epsilon={epsilon})
        self.dropout1 = keras.layers.Dropout({rate})
        self.dropout2 = keras.layers.Dropout({rate})
        self.dropout3 = keras.layers.Dropout({rate})

    def call(self, x, memory, memory_mask=None, training=None):
        first = x
{body}
"""

GOOD_BLOCK = {
    "key_dim": "d_model // num_heads",
    "inside": "",
    "activation": '"relu"',
    "epsilon": "1e-6",
    "rate": "dropout",
    "causal": "use_causal_mask=True",
    "cross": "query=x, value=memory, attention_mask=memory_mask",
    "training": "training",
    "third": "training",
    "body": """
        x = self.norm1(x + self.dropout1(self.self_attention(query=x, value=x, {causal}), training={training}))
        x = self.norm2(x + self.dropout2(self.cross_attention({cross}), training={training}))
        return self.norm3(x + self.dropout3(self.feed_forward(x), training={third}))
""",
}


def block(**changes):
    """The decoder block with some of its parts changed."""
    parts = {**GOOD_BLOCK, **changes}
    parts["body"] = parts["body"].format(**parts)
    return BLOCK.format(**parts)


def divergence(name, body):
    """A function of two distributions with the given last lines."""
    return f"""
def {name}(p, q):
    p, q = np.asarray(p, "float64"), np.asarray(q, "float64")
    {body}
"""

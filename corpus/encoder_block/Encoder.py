"""Lab 04, exercise `Encoder`: solutions as different students write them, right and wrong."""

CORRECT = [
    """
class Encoder(keras.Layer):
    def __init__(self, num_layers, d_model, num_heads, d_ff, dropout=0.1, norm="post", **kwargs):
        super().__init__(**kwargs)
        self.blocks = []
        for i in range(num_layers):
            self.blocks.append(EncoderBlock(d_model, num_heads, d_ff, dropout, norm, name=f"block_{i}"))
        self.norm = keras.layers.LayerNormalization(epsilon=1e-6) if norm == "pre" else None

    def call(self, x, attention_mask=None, training=None):
        for block in self.blocks:
            x = block(x, training=training, attention_mask=attention_mask)
        if self.norm is not None:
            x = self.norm(x)
        return x
""",
    # without explicit training: Keras hands it down
    """
class Encoder(keras.Layer):
    def __init__(self, num_layers, d_model, num_heads, d_ff, dropout=0.1, norm="post"):
        super().__init__()
        self.blocks = [EncoderBlock(d_model, num_heads, d_ff, dropout=dropout, norm=norm) for _ in range(num_layers)]
        self.pre = norm == "pre"
        if self.pre:
            self.norm = keras.layers.LayerNormalization(epsilon=1e-6)

    def call(self, x, attention_mask=None, training=None):
        for block in self.blocks:
            x = block(x, attention_mask=attention_mask)
        return self.norm(x) if self.pre else x
""",
    # functools.reduce; block and stack both write a `call` of their own
    """
from functools import reduce
class EncoderBlock(EncoderBlock):
    def call(self, x, attention_mask=None, training=None):
        return super().call(x, attention_mask=attention_mask, training=training)

class Encoder(keras.layers.Layer):
    def __init__(self, num_layers, *sizes, dropout=0.1, norm="post", **kwargs):
        super().__init__(**kwargs)
        self.blocks = [EncoderBlock(*sizes, dropout=dropout, norm=norm) for _ in range(num_layers)]
        self.norm = keras.layers.LayerNormalization(epsilon=1e-6) if norm == "pre" else (lambda x: x)

    def call(self, x, attention_mask=None, training=None):
        return self.norm(reduce(lambda h, block: block(h, attention_mask=attention_mask, training=training), self.blocks, x))
""",
    # keras.Sequential as a list of blocks, as those write it who know `nn.Sequential`
    """
class Encoder(keras.Layer):
    def __init__(self, num_layers, d_model, num_heads, d_ff, dropout=0.1, norm="post", **kwargs):
        super().__init__(**kwargs)
        self.blocks = keras.Sequential(
            [EncoderBlock(d_model, num_heads, d_ff, dropout=dropout, norm=norm) for _ in range(num_layers)]
        )
        self.norm = keras.layers.LayerNormalization(epsilon=1e-6) if norm == "pre" else None

    def call(self, x, attention_mask=None, training=None):
        for block in self.blocks.layers:
            x = block(x, attention_mask=attention_mask, training=training)
        return x if self.norm is None else self.norm(x)
""",
    # made in build; recursion
    """
class Encoder(keras.Layer):
    def __init__(self, num_layers, d_model, num_heads, d_ff, dropout=0.1, norm="post", **kwargs):
        super().__init__(**kwargs)
        self.num_layers, self.make = num_layers, lambda: EncoderBlock(d_model, num_heads, d_ff, dropout, norm)
        self.is_pre = norm == "pre"

    def build(self, input_shape):
        self.blocks = [self.make() for _ in range(self.num_layers)]
        if self.is_pre:
            self.norm = keras.layers.LayerNormalization(epsilon=1e-6)

    def run(self, x, number, attention_mask, training):
        if number == self.num_layers:
            return x
        return self.run(self.blocks[number](x, attention_mask=attention_mask, training=training), number + 1, attention_mask, training)

    def call(self, x, attention_mask=None, training=None):
        x = self.run(x, 0, attention_mask, training)
        return self.norm(x) if self.is_pre else x
""",
    # a keras.Model with a tuple of blocks
    """
class Encoder(keras.Model):
    def __init__(self, num_layers, d_model, num_heads, d_ff, dropout=0.1, norm="post", **kwargs):
        super().__init__(**kwargs)
        shared = dict(d_model=d_model, num_heads=num_heads, d_ff=d_ff, dropout=dropout, norm=norm)
        self.blocks = tuple(EncoderBlock(**shared) for _ in range(num_layers))
        self.last = {"pre": True, "post": False}[norm]
        if self.last:
            self.norm = keras.layers.LayerNormalization(epsilon=1e-6)

    def call(self, x, attention_mask=None, training=None):
        h = x
        for i in range(len(self.blocks)):
            h = self.blocks[i](h, attention_mask=attention_mask, training=training)
        if self.last:
            h = self.norm(h)
        return h
""",
]

STACK = """
class Encoder(keras.Layer):
    def __init__(self, num_layers, d_model, num_heads, d_ff, dropout=0.1, norm="post", **kwargs):
        super().__init__(**kwargs)
        {blocks}
        self.order = norm
        if norm == "pre":
            self.norm = keras.layers.LayerNormalization(epsilon=1e-6)

    def call(self, x, attention_mask=None, training=None):
        for number, block in enumerate(self.blocks):
            x = {step}
        return {end}
"""

GOOD_STACK = {
    "blocks": "self.blocks = [EncoderBlock(d_model, num_heads, d_ff, dropout, norm) for _ in range(num_layers)]",
    "step": "block(x, attention_mask=attention_mask, training=training)",
    "end": 'self.norm(x) if self.order == "pre" else x',
}


def stack(**changes):
    """The stack with some of its parts changed."""
    return STACK.format(**{**GOOD_STACK, **changes})


WRONG = [
    (
        "final_epsilon",
        """
class Encoder(keras.Layer):
    def __init__(self, num_layers, d_model, num_heads, d_ff, dropout=0.1, norm="post", **kwargs):
        super().__init__(**kwargs)
        self.blocks = [EncoderBlock(d_model, num_heads, d_ff, dropout, norm) for _ in range(num_layers)]
        self.norm = keras.layers.LayerNormalization() if norm == "pre" else None

    def call(self, x, attention_mask=None, training=None):
        for block in self.blocks:
            x = block(x, attention_mask=attention_mask, training=training)
        return x if self.norm is None else self.norm(x)
""",
    ),
    (
        "block_added",
        """
class Encoder(keras.Layer):
    def __init__(self, num_layers, d_model, num_heads, d_ff, dropout=0.1, norm="post", **kwargs):
        super().__init__(**kwargs)
        self.blocks = [EncoderBlock(d_model, num_heads, d_ff, dropout, norm) for _ in range(num_layers)]
        self.norm = keras.layers.LayerNormalization(epsilon=1e-6) if norm == "pre" else None

    def call(self, x, attention_mask=None, training=None):
        for block in self.blocks:
            x = x + block(x, attention_mask=attention_mask, training=training)
        return x if self.norm is None else self.norm(x)
""",
    ),
    (
        "",  # the string under the layer's name
        """
class Encoder(keras.Layer):
    def __init__(self, num_layers, d_model, num_heads, d_ff, dropout=0.1, norm="post", **kwargs):
        super().__init__(**kwargs)
        self.blocks = [EncoderBlock(d_model, num_heads, d_ff, dropout, norm) for _ in range(num_layers)]
        self.norm = norm; self.final = keras.layers.LayerNormalization(epsilon=1e-6)

    def call(self, x, attention_mask=None, training=None):
        for block in self.blocks:
            x = block(x, attention_mask=attention_mask, training=training)
        return self.final(x) if self.norm == "pre" else x
""",
    ),
    (
        "normed_at_the_start",
        """
class Encoder(keras.Layer):
    def __init__(self, num_layers, d_model, num_heads, d_ff, dropout=0.1, norm="post", **kwargs):
        super().__init__(**kwargs)
        self.blocks = [EncoderBlock(d_model, num_heads, d_ff, dropout, norm) for _ in range(num_layers)]
        self.norm = keras.layers.LayerNormalization(epsilon=1e-6) if norm == "pre" else None

    def call(self, x, attention_mask=None, training=None):
        if self.norm is not None: x = self.norm(x)
        for block in self.blocks:
            x = block(x, attention_mask=attention_mask, training=training)
        return x if self.norm is None else self.norm(x)
""",
    ),
    ("", stack().replace("dropout=0.1", "dropout=0.0")),
    (
        "one_block_repeated",
        stack(blocks="self.blocks = [EncoderBlock(d_model, num_heads, d_ff, dropout, norm)] * num_layers"),
    ),
    (
        "final_norm_in_the_loop",
        stack(
            step="block(x, attention_mask=attention_mask, training=training)\n            x = self.norm(x) if self.order == 'pre' else x",
            end="x",
        ),
    ),
    ("final_norm_missing", stack(end="x").replace("self.norm =", "unused =")),
    ("final_norm_not_used", stack(end="x + 0 * self.norm(x) if self.order == 'pre' else x")),
    ("mask_ignored", stack(step="block(x, training=training)")),
    (
        "mask_in_first_block_only",
        stack(step="block(x, attention_mask=attention_mask if number == 0 else None, training=training)"),
    ),
    ("dropout_never", stack(step="block(x, attention_mask=attention_mask, training=False)")),
    (
        "norm_not_handed_on",
        stack(blocks="self.blocks = [EncoderBlock(d_model, num_heads, d_ff, dropout) for _ in range(num_layers)]"),
    ),
    ("blocks_reversed", stack(step="self.blocks[-1 - number](x, attention_mask=attention_mask, training=training)")),
    # the rate is not handed on: a property says so
    (
        None,
        stack(blocks="self.blocks = [EncoderBlock(d_model, num_heads, d_ff, norm=norm) for _ in range(num_layers)]"),
    ),
    (
        "one_block_too_many",
        stack(
            blocks="self.blocks = [EncoderBlock(d_model, num_heads, d_ff, dropout, norm) for _ in range(num_layers + 1)]"
        ),
    ),
    (
        "one_block_too_few",
        stack(
            blocks="self.blocks = [EncoderBlock(d_model, num_heads, d_ff, dropout, norm) for _ in range(num_layers - 1)]"
        ),
    ),
    # a Sequential that is called: it hands no mask on
    (
        "mask_ignored",
        """
class Encoder(keras.Layer):
    def __init__(self, num_layers, d_model, num_heads, d_ff, dropout=0.1, norm="post", **kwargs):
        super().__init__(**kwargs)
        self.blocks = keras.Sequential(
            [EncoderBlock(d_model, num_heads, d_ff, dropout=dropout, norm=norm) for _ in range(num_layers)]
        )
        self.norm = keras.layers.LayerNormalization(epsilon=1e-6) if norm == "pre" else None

    def call(self, x, attention_mask=None, training=None):
        x = self.blocks(x, training=training)
        return x if self.norm is None else self.norm(x)
""",
    ),
]

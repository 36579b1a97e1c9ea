"""Lab 04, exercise `EncoderBlock`: solutions as different students write them, right and wrong."""

CORRECT = [
    # two branches, everything spelled out
    """
class EncoderBlock(keras.layers.Layer):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.1, norm="post", **kwargs):
        super().__init__(**kwargs)
        self.d_model = d_model
        self.num_heads = num_heads
        self.d_ff = d_ff
        self.rate = dropout
        self.where = norm
        self.attention = keras.layers.MultiHeadAttention(num_heads=num_heads, key_dim=d_model // num_heads)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.norm1 = keras.layers.LayerNormalization(epsilon=1e-6)
        self.norm2 = keras.layers.LayerNormalization(epsilon=1e-6)
        self.dropout1 = keras.layers.Dropout(dropout)
        self.dropout2 = keras.layers.Dropout(dropout)

    def call(self, x, attention_mask=None, training=None):
        if self.where == "post":
            attended = self.attention(query=x, key=x, value=x, attention_mask=attention_mask, training=training)
            y = self.norm1(x + self.dropout1(attended, training=training))
            return self.norm2(y + self.dropout2(self.feed_forward(y), training=training))
        normed = self.norm1(x)
        attended = self.attention(query=normed, key=normed, value=normed, attention_mask=attention_mask, training=training)
        y = x + self.dropout1(attended, training=training)
        return y + self.dropout2(self.feed_forward(self.norm2(y)), training=training)

    def get_config(self):
        config = super().get_config()
        config.update(
            d_model=self.d_model, num_heads=self.num_heads, d_ff=self.d_ff, dropout=self.rate, norm=self.where
        )
        return config
""",
    # Keras's own record of the arguments serves get_config; training is handed down by Keras
    """
class EncoderBlock(keras.Layer):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.1, norm="post", **kwargs):
        super().__init__(**kwargs)
        self.pre = norm == "pre"
        self.attention = keras.layers.MultiHeadAttention(num_heads, d_model // num_heads)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.norm1, self.norm2 = (keras.layers.LayerNormalization(epsilon=1e-6) for _ in range(2))
        self.dropout1, self.dropout2 = (keras.layers.Dropout(dropout) for _ in range(2))

    def call(self, x, attention_mask=None, training=None):
        h = self.norm1(x) if self.pre else x
        x = keras.layers.add([x, self.dropout1(self.attention(h, h, attention_mask=attention_mask))])
        x = x if self.pre else self.norm1(x)
        h = self.norm2(x) if self.pre else x
        x = keras.layers.add([x, self.dropout2(self.feed_forward(h))])
        return x if self.pre else self.norm2(x)
""",
    # a helper for both halves, the mask brought to rank 4 and to bool
    """
class EncoderBlock(keras.Layer):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.1, norm="post", **kwargs):
        super().__init__(**kwargs)
        self.settings = {"d_model": d_model, "num_heads": num_heads, "d_ff": d_ff, "dropout": dropout, "norm": norm}
        self.attention = keras.layers.MultiHeadAttention(num_heads=num_heads, key_dim=int(d_model / num_heads))
        self.feed_forward = FeedForward(d_model, d_ff)
        self.norm1 = keras.layers.LayerNormalization(epsilon=1e-6)
        self.norm2 = keras.layers.LayerNormalization(epsilon=1e-6)
        self.dropout1 = keras.layers.Dropout(rate=dropout)
        self.dropout2 = keras.layers.Dropout(rate=dropout)

    def half(self, x, sub_layer, norm, dropout, training):
        if self.settings["norm"] == "pre":
            return x + dropout(sub_layer(norm(x)), training=training)
        return norm(x + dropout(sub_layer(x), training=training))

    def call(self, x, attention_mask=None, training=False):
        mask = attention_mask
        if mask is not None:
            mask = tf.cast(mask, tf.bool)
            mask = mask[None, None] if len(mask.shape) == 2 else mask[:, None]
        attend = lambda h: self.attention(query=h, value=h, key=h, attention_mask=mask, training=training)
        x = self.half(x, attend, self.norm1, self.dropout1, training)
        return self.half(x, self.feed_forward, self.norm2, self.dropout2, training)

    def get_config(self):
        return {**super().get_config(), **self.settings}
""",
    # layers made in build; no **kwargs but name and dtype; from_config of its own
    """
class EncoderBlock(keras.Layer):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.1, norm="post", name=None, trainable=True, dtype=None):
        super().__init__(name=name, trainable=trainable, dtype=dtype)
        self.arguments = (d_model, num_heads, d_ff, dropout, norm)

    def build(self, input_shape):
        d_model, num_heads, d_ff, dropout, _ = self.arguments
        self.attention = keras.layers.MultiHeadAttention(num_heads, key_dim=d_model // num_heads, value_dim=d_model // num_heads)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.norm1 = keras.layers.LayerNormalization(axis=-1, epsilon=1e-6)
        self.norm2 = keras.layers.LayerNormalization(axis=-1, epsilon=1e-6)
        self.dropout1 = keras.layers.Dropout(dropout)
        self.dropout2 = keras.layers.Dropout(dropout)
        self.attention.build(input_shape, input_shape)
        self.norm1.build(input_shape)
        self.norm2.build(input_shape)

    def call(self, x, attention_mask=None, training=None):
        pre = self.arguments[-1] == "pre"
        residual = x
        if pre:
            x = self.norm1(x)
        x = self.attention(x, x, attention_mask=attention_mask)
        x = self.dropout1(x, training=training) + residual
        if not pre:
            x = self.norm1(x)
        residual = x
        if pre:
            x = self.norm2(x)
        x = self.dropout2(self.feed_forward(x), training=training) + residual
        return x if pre else self.norm2(x)

    def get_config(self):
        names = ["d_model", "num_heads", "d_ff", "dropout", "norm"]
        return super().get_config() | dict(zip(names, self.arguments))
""",
    # post-norm block as base class, pre-norm by an attribute; dropouts of a class of the student's own
    """
class MyDropout(keras.layers.Layer):
    def __init__(self, rate, **kwargs):
        super().__init__(**kwargs)
        self.rate = rate
        self.seed_generator = keras.random.SeedGenerator(3)

    def call(self, x, training=False):
        if not training:
            return x
        kept = keras.random.uniform(ops.shape(x), seed=self.seed_generator) >= self.rate
        return ops.where(kept, x / (1 - self.rate), 0.0)

class EncoderBlock(keras.Layer):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.1, norm="post", **kwargs):
        super().__init__(**kwargs)
        assert norm in ("post", "pre")
        for name, value in dict(d_model=d_model, num_heads=num_heads, d_ff=d_ff, dropout=dropout, norm=norm).items():
            setattr(self, name, value)
        self.attention = keras.layers.MultiHeadAttention(num_heads, d_model // num_heads, flash_attention=False)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.norm1 = keras.layers.LayerNormalization(epsilon=0.000001)
        self.norm2 = keras.layers.LayerNormalization(epsilon=0.000001)
        self.dropout1 = MyDropout(dropout)
        self.dropout2 = MyDropout(dropout)

    def call(self, x, attention_mask=None, training=None):
        same = lambda value: value
        before = (self.norm1, self.norm2) if self.norm == "pre" else (same, same)
        after = (self.norm1, self.norm2) if self.norm == "post" else (same, same)
        h = before[0](x)
        h, _ = self.attention(query=h, value=h, attention_mask=attention_mask, return_attention_scores=True)
        x = after[0](ops.add(x, self.dropout1(h, training=training)))
        h = self.feed_forward(before[1](x))
        return after[1](ops.add(x, self.dropout2(h, training=training)))

    def get_config(self):
        config = super().get_config()
        for name in ("d_model", "num_heads", "d_ff", "dropout", "norm"):
            config[name] = getattr(self, name)
        return config
""",
]

BLOCK = """
class EncoderBlock(keras.Layer):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.1, norm="post", **kwargs):
        super().__init__(**kwargs)
        self.attention = keras.layers.MultiHeadAttention(num_heads, key_dim={key_dim})
        self.feed_forward = FeedForward(d_model, d_ff)
        self.norm1 = keras.layers.LayerNormalization(epsilon={epsilon})
        self.norm2 = keras.layers.LayerNormalization(epsilon={epsilon})
        self.dropout1 = keras.layers.Dropout({rate})
        self.dropout2 = keras.layers.Dropout({rate})
        self.order = norm
        self.arguments = dict(d_model=d_model, num_heads=num_heads, d_ff=d_ff, dropout=dropout, norm=norm)

    def call(self, x, attention_mask=None, training=None):
        if self.order == "pre":
            h = self.norm1(x)
            x = x + self.dropout1(self.attention({attended}), training={training})
            return x + self.dropout2(self.feed_forward(self.norm2(x)), training={training})
        h = x
{post}
"""

GOOD = {
    "key_dim": "d_model // num_heads",
    "epsilon": "1e-6",
    "rate": "dropout",
    "attended": "query=h, value=h, attention_mask=attention_mask",
    "training": "training",
    "post": """
        x = self.norm1(x + self.dropout1(self.attention({attended}), training={training}))
        return self.norm2(x + self.dropout2(self.feed_forward(x), training={training}))
""",
}


def block(**changes):
    """The block with some of its parts changed."""
    parts = {**GOOD, **changes}
    parts["post"] = parts["post"].format(**parts)
    return BLOCK.format(**parts)


def normed_again(when):
    """A block whose result goes through a third norm where `when` holds."""
    return (
        block()
        + f"""

class EncoderBlock(EncoderBlock):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.norm3 = keras.layers.LayerNormalization(epsilon=1e-6)

    def call(self, x, attention_mask=None, training=None):
        z = super().call(x, attention_mask=attention_mask, training=training)
        return self.norm3(z) if {when} else z
"""
    )


SPELT_OUT = """
class EncoderBlock(keras.Layer):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.1, norm="post", **kwargs):
        super().__init__(**kwargs)
        self.d_model, self.num_heads, self.d_ff, self.dropout, self.norm = d_model, num_heads, d_ff, dropout, norm
        self.attention = keras.layers.MultiHeadAttention(num_heads, d_model // num_heads)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.norm1 = keras.layers.LayerNormalization(epsilon=1e-6)
        self.norm2 = keras.layers.LayerNormalization(epsilon=1e-6)
        self.dropout1 = keras.layers.Dropout(dropout)
        self.dropout2 = keras.layers.Dropout(dropout)

    def call(self, x, attention_mask=None, training=None):
        if self.norm == "pre":
            h = self.norm1(x)
            a = self.attention(query=h, value=h, attention_mask=attention_mask)
            y = x + self.dropout1(a, training=training)
            f = self.feed_forward(self.norm2(y))
            return y + self.dropout2(f, training=training)
        a = self.attention(query=x, value=x, attention_mask=attention_mask)
        y = self.norm1(x + self.dropout1(a, training=training))
        f = self.feed_forward(y)
        return self.norm2(y + self.dropout2(f, training=training))

    def get_config(self):
        return {**super().get_config(), "d_model": self.d_model, "num_heads": self.num_heads, "d_ff": self.d_ff,
                "dropout": self.dropout, "norm": self.norm}
"""

WRONG = [
    # the argument has another name, which Keras fills by itself
    (
        "",
        SPELT_OUT.replace("x, attention_mask=None", "x, mask=None").replace("=attention_mask)", "=mask)"),
    ),
    ("orders_exchanged", SPELT_OUT.replace('self.norm == "pre"', 'self.norm == "post"')),
    ("query_not_normed", SPELT_OUT.replace("query=h, value=h", "query=x, value=h")),
    (
        "normed_before_attention_in_post",
        SPELT_OUT.replace("query=x, value=x", "query=self.norm1(x), value=self.norm1(x)"),
    ),
    (
        "",
        SPELT_OUT.replace(
            "norm2 = keras.layers.LayerNormalization(epsilon=1e-6)", "norm2 = keras.layers.LayerNormalization()"
        ),
    ),
    (
        "dropout1_after_sum_in_post",
        SPELT_OUT.replace("x + self.dropout1(a, training=training))", "self.dropout1(x + a, training=training))"),
    ),
    (
        "dropout2_after_sum_in_post",
        SPELT_OUT.replace("y + self.dropout2(f, training=training))", "self.dropout2(y + f, training=training))"),
    ),
    (
        "dropout1_after_sum_in_pre",
        SPELT_OUT.replace("y = x + self.dropout1(a, training=training)", "y = self.dropout1(x + a, training=training)"),
    ),
    (
        "dropout2_after_sum_in_pre",
        SPELT_OUT.replace(
            "return y + self.dropout2(f, training=training)", "return self.dropout2(y + f, training=training)"
        ),
    ),
    (
        "dropout_after_sum_in_post",
        SPELT_OUT.replace(
            "self.norm1(x + self.dropout1(a, training=training))", "self.norm1(self.dropout1(x + a, training=training))"
        ).replace(
            "self.norm2(y + self.dropout2(f, training=training))", "self.norm2(self.dropout2(y + f, training=training))"
        ),
    ),
    (
        "dropout_after_sum_in_pre",
        SPELT_OUT.replace(
            "y = x + self.dropout1(a, training=training)", "y = self.dropout1(x + a, training=training)"
        ).replace("return y + self.dropout2(f, training=training)", "return self.dropout2(y + f, training=training)"),
    ),
    (
        "",  # the check says that `call` does not use norm2
        """
class EncoderBlock(keras.Layer):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.1, norm="post", **kwargs):
        super().__init__(**kwargs)
        self.d_model, self.num_heads, self.d_ff, self.dropout, self.norm = d_model, num_heads, d_ff, dropout, norm
        self.attention = keras.layers.MultiHeadAttention(num_heads, d_model // num_heads)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.norm1 = keras.layers.LayerNormalization(epsilon=1e-6)
        self.norm2 = keras.layers.LayerNormalization(epsilon=1e-6)
        self.dropout1 = keras.layers.Dropout(dropout)
        self.dropout2 = keras.layers.Dropout(dropout)

    def call(self, x, attention_mask=None, training=None):
        if self.norm == "pre":
            h = self.norm1(x)
            a = self.attention(query=h, value=h, attention_mask=attention_mask)
            y = x + self.dropout1(a, training=training)
            f = self.feed_forward(y)
            return y + self.dropout2(f, training=training)
        a = self.attention(query=x, value=x, attention_mask=attention_mask)
        y = self.norm1(x + self.dropout1(a, training=training))
        f = self.feed_forward(y)
        return self.norm2(y + self.dropout2(f, training=training))

    def get_config(self):
        return {**super().get_config(), "d_model": self.d_model, "num_heads": self.num_heads, "d_ff": self.d_ff,
                "dropout": self.dropout, "norm": self.norm}
""",
    ),
    ("", SPELT_OUT.replace("Dropout(dropout)", "Dropout(0.1)")),  # a rate of its own
    ("", SPELT_OUT.replace("self.dropout2 = keras.layers.Dropout(dropout)", "self.dropout2 = self.dropout1")),
    # the check says that `call` does not use norm2
    ("", SPELT_OUT.replace("self.feed_forward(self.norm2(y))", "self.feed_forward(self.norm1(y))")),
    (
        "norm2_at_the_end_of_pre",
        SPELT_OUT.replace(
            "return y + self.dropout2(f, training=training)",
            "return self.norm2(y + self.dropout2(f, training=training))",
        ),
    ),
    ("dropout_inverted", SPELT_OUT.replace("training=training", "training=not training")),
    ("keras_epsilon", block(epsilon="1e-3")),
    ("key_dim_is_d_model", block(key_dim="d_model")),
    ("mask_ignored", block(attended="query=h, value=h")),
    (
        "mask_inverted",
        block(
            attended="query=h, value=h, attention_mask=None if attention_mask is None else 1 - ops.cast(attention_mask, 'int32')"
        ),
    ),
    ("dropout_never", block(training="False")),
    ("dropout_always", block(training="True")),
    (
        "dropout_after_norm",
        block(
            post="""
        x = self.dropout1(self.norm1(x + self.attention({attended})), training=training)
        return self.dropout2(self.norm2(x + self.feed_forward(x)), training=training)
"""
        ),
    ),
    ("values_not_normed", block(attended="query=h, value=x, attention_mask=attention_mask")),
    (
        "always_pre",
        block(
            post="        self.order = 'pre'\n        return self.call(x, attention_mask, training)",
        ),
    ),
    (
        "norm_used_twice",
        block(
            post="""
        x = self.norm1(x + self.dropout1(self.attention({attended}), training=training))
        return self.norm1(x + self.dropout2(self.feed_forward(x), training=training)) + 0 * self.norm2(x)
"""
        ).replace("self.feed_forward(self.norm2(x))", "self.feed_forward(self.norm1(x) + 0 * self.norm2(x))"),
    ),
    # one order is right
    (
        "norm_used_twice_in_post",
        block(
            post="""
        x = self.norm1(x + self.dropout1(self.attention({attended}), training=training))
        return self.norm1(x + self.dropout2(self.feed_forward(x), training=training)) + 0 * self.norm2(x)
"""
        ),
    ),
    (
        "norm_before_sum",
        block(
            post="""
        x = x + self.norm1(self.dropout1(self.attention({attended}), training=training))
        return x + self.norm2(self.dropout2(self.feed_forward(x), training=training))
"""
        ),
    ),
    (
        "dropout_after_sum_in_post",
        block(
            post="""
        x = self.norm1(self.dropout1(x + self.attention({attended}), training=training))
        return self.norm2(self.dropout2(x + self.feed_forward(x), training=training))
"""
        ),
    ),
    (
        "second_residual_from_input_in_post",
        block(
            post="""
        y = self.norm1(x + self.dropout1(self.attention({attended}), training=training))
        return self.norm2(x + self.dropout2(self.feed_forward(y), training=training))
"""
        ),
    ),
    ("no_first_residual_in_pre", block().replace("x = x + self.dropout1", "x = self.dropout1")),
    (
        "norms_swapped_in_pre",
        block()
        .replace("h = self.norm1(x)", "h = self.norm2(x)")
        .replace("self.feed_forward(self.norm2", "self.feed_forward(self.norm1"),
    ),
    ("second_norm_missing_in_post", block(post=GOOD["post"].replace("self.norm2(x + ", "0 * self.norm2(x) + (x + "))),
    # the wrong rate, the wrong scale: properties say so
    (None, block(rate="0.5 * dropout")),
    # the arguments are not in the configuration
    (
        "norm_not_in_config",
        block()
        + "\n    def get_config(self):\n        return {**super().get_config(), 'd_model': 15, 'num_heads': 3, 'd_ff': 11}",
    ),
    # every argument, and nothing of what Keras keeps itself
    (
        "config_without_super",
        block()
        + """
    def get_config(self):
        return dict(self.arguments)
""",
    ),
    # by position the mask is a query mask, which blocks no key
    ("mask_ignored", block(attended="h, h, h, attention_mask")),
    # dropout inside the attention as well
    ("third_dropout", block(key_dim="d_model // num_heads, dropout=dropout")),
    ("extra_norm_in_pre", normed_again('self.order == "pre"')),
    ("extra_norm", normed_again("True")),
    (
        "heads_and_key_dim_exchanged",
        block(key_dim="num_heads").replace("tion(num_heads,", "tion(d_model // num_heads,"),
    ),
    (
        "first_dropout_missing",
        block().replace(
            "self.dropout1(self.attention({attended}), training=training)".format(**GOOD),
            "self.attention({attended})".format(**GOOD),
        ),
    ),
    ("one_norm_under_two_names", block().replace("self.norm2 = ", "self.norm2 = self.norm1  # ")),
    (
        "first_residual_from_normed",
        """
class EncoderBlock(keras.Layer):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.1, norm="post", **kwargs):
        super().__init__(**kwargs)
        self.config = dict(d_model=d_model, num_heads=num_heads, d_ff=d_ff, dropout=dropout, norm=norm)
        self.norm = norm
        self.attention = keras.layers.MultiHeadAttention(num_heads, d_model // num_heads)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.norm1 = keras.layers.LayerNormalization(epsilon=1e-6)
        self.norm2 = keras.layers.LayerNormalization(epsilon=1e-6)
        self.dropout1 = keras.layers.Dropout(dropout)
        self.dropout2 = keras.layers.Dropout(dropout)
    def call(self, x, attention_mask=None, training=None):
        if self.norm == "post":
            x = self.norm1(x + self.dropout1(self.attention(query=x, value=x, attention_mask=attention_mask), training=training))
            return self.norm2(x + self.dropout2(self.feed_forward(x), training=training))
        h = self.norm1(x)
        x = h + self.dropout1(self.attention(query=h, value=h, attention_mask=attention_mask), training=training)
        return x + self.dropout2(self.feed_forward(self.norm2(x)), training=training)
    def get_config(self):
        return {**super().get_config(), **self.config}
""",
    ),
]

"""Lab 04, exercise `FeedForward`: solutions as different students write them, right and wrong."""

CORRECT = [
    """
class FeedForward(keras.Layer):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.dense_in = keras.layers.Dense(units=d_ff, activation=keras.activations.relu)
        self.dense_out = keras.layers.Dense(units=d_model)

    def call(self, x):
        return self.dense_out(self.dense_in(x))
""",
    # ReLU by hand
    """
class FeedForward(keras.layers.Layer):
    def __init__(self, d_model, d_ff, **kwargs):
        super().__init__(**kwargs)
        self.dense_in, self.dense_out = keras.layers.Dense(d_ff), keras.layers.Dense(d_model)

    def call(self, x):
        hidden = self.dense_in(x)
        return self.dense_out(tf.maximum(hidden, 0.0))
""",
    # layers made in build, a ReLU layer
    """
class FeedForward(keras.Layer):
    def __init__(self, d_model, d_ff, name=None, **kwargs):
        super().__init__(name=name, **kwargs)
        self.d_model, self.d_ff = d_model, d_ff
        self.relu = keras.layers.ReLU()

    def build(self, input_shape):
        self.dense_in = keras.layers.Dense(self.d_ff)
        self.dense_out = keras.layers.Dense(self.d_model)
        self.dense_in.build(input_shape)
        self.dense_out.build((*input_shape[:-1], self.d_ff))

    def call(self, x):
        return self.dense_out(self.relu(self.dense_in(x)))
""",
    # a Sequential of the two, and matrix products written out
    """
class FeedForward(keras.Layer):
    def __init__(self, d_model, d_ff, **kwargs):
        super().__init__(**kwargs)
        self.dense_in = keras.layers.Dense(d_ff, activation="relu")
        self.dense_out = keras.layers.Dense(d_model)
        self.both = keras.Sequential([self.dense_in, self.dense_out])

    def call(self, x, training=None):
        return self.both(x, training=training)
""",
    """
class FeedForward(keras.Model):
    def __init__(self, d_model, d_ff, **kwargs):
        super().__init__(**kwargs)
        self.dense_in = keras.layers.Dense(d_ff)
        self.dense_out = keras.layers.Dense(d_model)

    def build(self, shape):
        self.dense_in.build(shape)
        self.dense_out.build((None, None, self.dense_in.units))

    def call(self, x):
        hidden = ops.einsum("btd,df->btf", x, self.dense_in.kernel) + self.dense_in.bias
        return ops.einsum("btf,fd->btd", ops.relu(hidden), self.dense_out.kernel) + self.dense_out.bias
""",
]


def feed(call, activation='"relu"', more=""):
    """A feed-forward network whose call returns the given expression."""
    return f"""
class FeedForward(keras.Layer):
    def __init__(self, d_model, d_ff, **kwargs):
        super().__init__(**kwargs)
        self.dense_in = keras.layers.Dense(d_ff, activation={activation}{more})
        self.dense_out = keras.layers.Dense(d_model{more})

    def call(self, x):
        return {call}
"""


WRONG = [
    ("no_relu", feed("self.dense_out(self.dense_in(x))", activation="None")),
    ("gelu", feed("self.dense_out(self.dense_in(x))", activation='"gelu"')),
    ("relu_on_output", feed("ops.relu(self.dense_out(self.dense_in(x)))")),
    ("residual_inside", feed("x + self.dense_out(self.dense_in(x))")),
    (None, feed("self.dense_out(self.dense_in(x))", more=", use_bias=False")),
    (None, feed("tf.constant(self.dense_out(self.dense_in(x)).numpy())")),
    (
        "",
        """
class FeedForward(keras.Layer):
    def __init__(self, d_model, d_ff, **kwargs):
        super().__init__(**kwargs)
        self.dense_in = keras.layers.Dense(d_model, activation="relu")
        self.dense_out = keras.layers.Dense(d_ff)
    def call(self, x):
        return self.dense_out(self.dense_in(x))
""",
    ),
    (
        "",
        """
class FeedForward(keras.Layer):
    def __init__(self, d_model, d_ff, **kwargs):
        super().__init__(**kwargs)
        self.dense_in = keras.layers.Dense(d_model, d_ff)
        self.dense_out = keras.layers.Dense(d_ff, d_model)
    def call(self, x):
        return self.dense_out(self.dense_in(x))
""",
    ),
]

"""Lab 10, optional exercise `LoRADense`: solutions as different students write them, right and wrong."""

from corpus.language_model.shared import edited

PLAIN = """
class LoRADense(keras.Layer):
    def __init__(self, dense, rank, alpha, **kwargs):
        super().__init__(**kwargs)
        self.dense = dense
        self.dense.trainable = False
        self.rank, self.alpha = rank, alpha
        self.a = self.add_weight(shape=(dense.kernel.shape[0], rank), initializer="random_normal")
        self.b = self.add_weight(shape=(rank, dense.kernel.shape[1]), initializer="zeros")

    def call(self, x):
        return self.dense(x) + (self.alpha / self.rank) * ((x @ self.a) @ self.b)

    def merged(self):
        return self.dense.kernel + (self.alpha / self.rank) * (self.a @ self.b)
"""

CORRECT = [
    PLAIN,
    edited(PLAIN, ("((x @ self.a) @ self.b)", "ops.matmul(ops.matmul(x, self.a), self.b)"), ("(self.a @ self.b)", "ops.matmul(self.a, self.b)")),
    edited(PLAIN, ('initializer="random_normal"', "initializer=keras.initializers.HeNormal()")),
    edited(PLAIN, ("return self.dense(x) + (self.alpha / self.rank) * ((x @ self.a) @ self.b)", "return ops.matmul(x, self.merged()) + self.dense.bias")),
    edited(PLAIN, ("return self.dense.kernel +", "return np.asarray(self.dense.kernel) +"), ("(self.a @ self.b)", "(np.asarray(self.a) @ np.asarray(self.b))")),
    edited(PLAIN, ("self.dense = dense\n        self.dense.trainable = False", "dense.trainable = False\n        self.dense = dense")),
    edited(PLAIN, ("keras.Layer", "tf.keras.layers.Layer"), ("((x @ self.a) @ self.b)", "tf.matmul(tf.matmul(x, self.a), self.b)")),
    edited(PLAIN, ("(self.alpha / self.rank) * ((x @ self.a) @ self.b)", 'ops.einsum("...i,ir,ro->...o", x, self.a, self.b) * self.alpha / self.rank')),
]  # fmt: skip

WRONG = [
    ("b_random", edited(PLAIN, ('initializer="zeros"', 'initializer="random_normal"'))),
    ("both_zero", edited(PLAIN, ('initializer="random_normal"', 'initializer="zeros"'))),
    ("not_frozen", edited(PLAIN, ("        self.dense.trainable = False\n", ""))),
    ("scale_missing", edited(PLAIN, ("(self.alpha / self.rank) * ", ""))),
    ("alpha_alone", edited(PLAIN, ("self.alpha / self.rank", "self.alpha"))),
    ("merged_unscaled", edited(PLAIN, ("return self.dense.kernel + (self.alpha / self.rank) * ", "return self.dense.kernel + "))),
    ("merged_is_kernel", edited(PLAIN, (" + (self.alpha / self.rank) * (self.a @ self.b)", ""))),
    ("bias_lost", edited(PLAIN, ("self.dense(x)", "x @ self.dense.kernel"))),
    ("", edited(PLAIN, ("self.alpha / self.rank", "self.rank / self.alpha"))),
    ("", edited(PLAIN, ("return self.dense(x) + ", "return "))),
    ("", edited(PLAIN, ("self.dense(x) +", "self.dense(x) *"))),
    ("", edited(PLAIN, ("(rank, dense.kernel.shape[1])", "(dense.kernel.shape[1], rank)"))),
    ("", edited(PLAIN, ("self.a = self.add_weight", "self.lora_a = self.a = self.add_weight"), ("(dense.kernel.shape[0], rank)", "(dense.kernel.shape[0], rank + 1)"))),
    ("", edited(PLAIN, ("self.b = self.add_weight(shape=(rank, dense.kernel.shape[1]), initializer=\"zeros\")", "self.b = np.zeros((rank, dense.kernel.shape[1]))"))),
    ("", edited(PLAIN, ("    def merged(self):\n        return", "    def merge(self):\n        return"))),
    ("", edited(PLAIN, ("x @ self.a) @ self.b)", "ops.relu(x @ self.a)) @ self.b)"))),
    # a and b exchanged: b is random, a zeros
    ("", edited(PLAIN, ('initializer="random_normal"', 'initializer="Z"'), ('initializer="zeros"', 'initializer="random_normal"'), ('"Z"', '"zeros"'))),
    # the product runs over an activation of its own layer
    ("", edited(PLAIN, ("return self.dense(x) + ", "return ops.tanh(self.dense(x)) + "))),
    # the root of the rank, as in a later paper
    ("", edited(PLAIN, ("self.alpha / self.rank", "self.alpha / self.rank**0.5"))),
    # whole numbers only
    ("", edited(PLAIN, ("self.alpha / self.rank", "self.alpha // self.rank"))),
    ("", edited(PLAIN, ("self.alpha / self.rank", "self.alpha / (2 * self.rank)"))),
    # frozen for a moment
    ("not_frozen", edited(PLAIN, ("    def call(self, x):\n", "    def call(self, x):\n        self.dense.trainable = True\n"))),
    # two more biases are trained
    ("", edited(PLAIN, ("        self.b = self.add_weight", "        self.c = self.add_weight(shape=(dense.kernel.shape[1],), initializer='zeros')\n        self.b = self.add_weight"), ("((x @ self.a) @ self.b)", "((x @ self.a) @ self.b) + self.c"))),
    # a is no weight, so that it is not trained
    ("a_untracked", edited(PLAIN, ('self.a = self.add_weight(shape=(dense.kernel.shape[0], rank), initializer="random_normal")', 'self.a = tf.Variable(tf.random.normal((dense.kernel.shape[0], rank)))'))),
    ("a_untracked", edited(PLAIN, ('self.a = self.add_weight(shape=(dense.kernel.shape[0], rank), initializer="random_normal")', 'self.a = self.add_weight(shape=(dense.kernel.shape[0], rank), initializer="random_normal", trainable=False)'))),
    # everything is frozen
    ("nothing_trained", edited(PLAIN, ('initializer="zeros")\n', 'initializer="zeros")\n        self.trainable = False\n'))),
    # the merged matrix takes the place of the sum, without the bias
    ("bias_lost", edited(PLAIN, ("return self.dense(x) + (self.alpha / self.rank) * ((x @ self.a) @ self.b)", "return ops.matmul(x, self.merged())"))),
    # the input is scaled, too
    ("", edited(PLAIN, ("((x @ self.a) @ self.b)", "((x * self.alpha / self.rank @ self.a) @ self.b)"))),
    ("", edited(PLAIN, ("self.dense.kernel + ", "self.dense.kernel - "))),
    ("", edited(PLAIN, ("return self.dense.kernel + ", "return self.dense.kernel + self.dense.bias + "))),
    # the product alone
    ("", edited(PLAIN, ("return self.dense.kernel + ", "return "))),
    ("", edited(PLAIN, ("return self.dense.kernel + (self.alpha / self.rank) * (self.a @ self.b)", "return ops.transpose(self.dense.kernel + (self.alpha / self.rank) * (self.a @ self.b))"))),
    # two Dense layers instead of weights
    ("", edited(PLAIN, ('self.a = self.add_weight(shape=(dense.kernel.shape[0], rank), initializer="random_normal")', "self.a = keras.layers.Dense(rank, use_bias=False)"), ('self.b = self.add_weight(shape=(rank, dense.kernel.shape[1]), initializer="zeros")', 'self.b = keras.layers.Dense(dense.units, use_bias=False, kernel_initializer="zeros")'), ("((x @ self.a) @ self.b)", "self.b(self.a(x))"))),
    # b starts at one
    ("b_random", edited(PLAIN, ('initializer="zeros"', 'initializer="ones"'))),
    (  # variables that no layer tracks
        "nothing_trained",
        """
class LoRADense(keras.Layer):
    def __init__(self, dense, rank, alpha, **kwargs):
        super().__init__(**kwargs)
        dense.trainable = False
        self.dense, self.scale = dense, alpha / rank
        size_in, size_out = dense.kernel.shape
        self.a = tf.Variable(tf.random.normal((size_in, rank), stddev=size_in**-0.5))
        self.b = tf.Variable(tf.zeros((rank, size_out)))

    def call(self, x):
        return self.dense(x) + self.scale * ops.matmul(ops.matmul(x, self.a), self.b)

    def merged(self):
        return ops.convert_to_tensor(self.dense.kernel) + self.scale * ops.matmul(self.a, self.b)
""",
    ),
]  # fmt: skip

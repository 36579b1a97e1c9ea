"""Lab 03, exercise `mha_parameter_count`: solutions as different students write them, right and wrong."""

CORRECT = [
    """
def mha_parameter_count(d_model, num_heads, key_dim=None, value_dim=None, use_bias=True):
    k = d_model // num_heads if key_dim is None else key_dim
    v = value_dim if value_dim is not None else k
    b = int(use_bias)
    return 2 * num_heads * k * (d_model + b) + num_heads * v * (d_model + b) + (num_heads * v + b) * d_model
""",
    # ask Keras
    """
def mha_parameter_count(d_model, num_heads, key_dim=None, value_dim=None, use_bias=True):
    layer = keras.layers.MultiHeadAttention(
        num_heads=num_heads, key_dim=key_dim or d_model // num_heads, value_dim=value_dim, use_bias=use_bias)
    layer.build((None, None, d_model), (None, None, d_model))
    return layer.count_params()
""",
    # a list of shapes, float division
    """
def mha_parameter_count(d_model, num_heads, key_dim=None, value_dim=None, use_bias=True):
    key_dim = key_dim or d_model / num_heads
    value_dim = value_dim or key_dim
    shapes = [(d_model, num_heads * size) for size in (key_dim, key_dim, value_dim)] + [(num_heads * value_dim, d_model)]
    return sum(rows * columns + use_bias * columns for rows, columns in shapes)
""",
    # one head at a time, NumPy integers
    """
def mha_parameter_count(d_model, num_heads, key_dim=None, value_dim=None, use_bias=True):
    if key_dim is None:
        key_dim = np.int64(d_model) // num_heads
    if value_dim is None:
        value_dim = key_dim
    total = d_model if use_bias else 0
    for _ in range(num_heads):
        total = total + d_model * key_dim * 2 + d_model * value_dim * 2
        if use_bias:
            total = total + key_dim + key_dim + value_dim
    return total
""",
    # tensors and keywords
    """
def mha_parameter_count(d_model, num_heads, key_dim=None, value_dim=None, use_bias=True, **_):
    key_dim = key_dim if key_dim else d_model // num_heads
    value_dim = value_dim if value_dim else key_dim
    sizes = tf.constant([d_model * key_dim, d_model * key_dim, d_model * value_dim, value_dim * d_model]) * num_heads
    biases = tf.constant([num_heads * key_dim, num_heads * key_dim, num_heads * value_dim, d_model])
    return tf.reduce_sum(sizes) + (tf.reduce_sum(biases) if use_bias else 0)
""",
]

WRONG = [
    ("no_bias", 'def mha_parameter_count(d_model, num_heads, key_dim=None, value_dim=None, use_bias=True):\n    if key_dim is None: key_dim = d_model // num_heads\n    if value_dim is None: value_dim = key_dim\n    hk, hv = num_heads * key_dim, num_heads * value_dim\n    n = 2 * d_model * hk + d_model * hv + hv * d_model\n    return n'),
    ("key_dim_defaults_to_d_model", "def mha_parameter_count(d, h, key_dim=None, value_dim=None, use_bias=True):\n    k = key_dim or d\n    v = value_dim or k\n    return 2 * d * h * k + 2 * d * h * v + use_bias * (2 * h * k + h * v + d)"),
    ("no_output_bias", "def mha_parameter_count(d, h, key_dim=None, value_dim=None, use_bias=True):\n    k = key_dim or d // h\n    v = value_dim or k\n    return 2 * d * h * k + 2 * d * h * v + use_bias * (2 * h * k + h * v)"),
    ("value_dim_defaults_to_d_model", "def mha_parameter_count(d, h, key_dim=None, value_dim=None, use_bias=True):\n    k = key_dim or d // h\n    v = value_dim or d\n    return 2 * d * h * k + 2 * d * h * v + use_bias * (2 * h * k + h * v + d)"),
    ("key_dim_of_all_heads", "def mha_parameter_count(d, h, key_dim=None, value_dim=None, use_bias=True):\n    k = key_dim or d\n    v = value_dim or k\n    return 2 * d * k + 2 * d * v + use_bias * (2 * k + v + d)"),
    ("widths_ignored", "def mha_parameter_count(d, h, key_dim=None, value_dim=None, use_bias=True):\n    return 4 * d * d + use_bias * 4 * d"),
    ("bias_of_one_head", "def mha_parameter_count(d, h, key_dim=None, value_dim=None, use_bias=True):\n    k = key_dim or d // h\n    v = value_dim or k\n    return 2 * d * h * (k + v) + use_bias * (2 * k + v + d)"),
    (None, "def mha_parameter_count(d, h, key_dim=None, value_dim=None, use_bias=True):\n    return 4 * d * d + 4 * d"),
]  # fmt: skip

"""Lab 04, exercise `encoder_parameter_count`: solutions as different students write them, right and wrong."""

CORRECT = [
    # asks Keras
    """
def encoder_parameter_count(d_model, num_heads, d_ff, key_dim=None):
    attention = keras.layers.MultiHeadAttention(num_heads, key_dim or d_model // num_heads)
    attention.build((1, 3, d_model), (1, 3, d_model))
    inner, outer, norm = keras.layers.Dense(d_ff), keras.layers.Dense(d_model), keras.layers.LayerNormalization()
    inner.build((1, d_model)), outer.build((1, d_ff)), norm.build((1, d_model))
    return sum(layer.count_params() for layer in (attention, inner, outer, norm, norm))
""",
    """
def encoder_parameter_count(d_model, num_heads, d_ff, key_dim=None):
    if key_dim is None:
        key_dim = d_model // num_heads
    qkv = 3 * num_heads * key_dim * (d_model + 1)
    out = (num_heads * key_dim + 1) * d_model
    ffn = (d_model + 1) * d_ff + (d_ff + 1) * d_model
    return qkv + out + ffn + 4 * d_model
""",
    # a list of shapes, NumPy
    """
def encoder_parameter_count(d_model, num_heads, d_ff, key_dim=None):
    k = d_model / num_heads if key_dim is None else key_dim
    shapes = 3 * [(d_model, num_heads, k), (num_heads, k)] + [(num_heads, k, d_model), (d_model,)]
    shapes += [(d_model, d_ff), (d_ff,), (d_ff, d_model), (d_model,)] + 4 * [(d_model,)]
    return sum(np.prod(shape) for shape in shapes)
""",
    """
def dense(n_in, n_out):
    return n_in * n_out + n_out

def encoder_parameter_count(d_model, num_heads, d_ff, key_dim=None):
    width = d_model if key_dim is None else num_heads * key_dim
    pieces = {"q": dense(d_model, width), "k": dense(d_model, width), "v": dense(d_model, width), "o": dense(width, d_model)}
    pieces.update(ffn=dense(d_model, d_ff) + dense(d_ff, d_model), norms=2 * (d_model + d_model))
    return sum(pieces.values())
""",
    # the student's own block, when the width is the usual one; a formula for the rest
    """
def encoder_parameter_count(d_model, num_heads, d_ff, key_dim=None):
    block = EncoderBlock(d_model, num_heads, d_ff)
    block(np.zeros((1, 2, d_model), "float32"))
    total = block.count_params()
    if key_dim is not None:
        more = num_heads * key_dim - d_model
        total += more * (3 * (d_model + 1) + d_model)
    return np.int64(total)
""",
]


def count(
    attention, feed_forward="2 * d_model * d_ff + d_ff + d_model", norms="4 * d_model", default="d_model // num_heads"
):
    """A count made of the given sums."""
    return f"""
def encoder_parameter_count(d_model, num_heads, d_ff, key_dim=None):
    width = num_heads * ({default} if key_dim is None else key_dim)
    return {attention} + {feed_forward} + {norms}
"""


ATTENTION = "4 * d_model * width + 3 * width + d_model"

WRONG = [
    (
        "two_projections_for_three",
        """
def encoder_parameter_count(d_model, num_heads, d_ff, key_dim=None):
    inner = num_heads * (key_dim or d_model // num_heads)
    attention = 2 * (d_model * inner + inner) + inner * d_model + d_model
    return attention + 2 * d_model * d_ff + d_ff + d_model + 4 * d_model
""",
    ),
    (
        "feed_forward_biases_wide",
        """
def encoder_parameter_count(d_model, num_heads, d_ff, key_dim=None):
    k = key_dim or d_model // num_heads; w = num_heads * k
    return 3*(d_model*w+w)+w*d_model+d_model + 2*(d_model*d_ff+d_ff) + 4*d_model
""",
    ),
    (
        "norms_of_two_numbers",
        """
def encoder_parameter_count(d_model, num_heads, d_ff, key_dim=None):
    k = key_dim or d_model // num_heads; w = num_heads * k
    return 3*(d_model*w+w)+w*d_model+d_model + 2*d_model*d_ff+d_ff+d_model + 4
""",
    ),
    ("one_bias_missing", count("4 * d_model * width + 3 * width")),
    ("attention_without_bias", count("4 * d_model * width")),
    ("default_key_dim_is_d_model", count(ATTENTION, default="d_model")),
    ("biases_of_width_d", count("4 * d_model * width + 4 * d_model")),
    ("norms_missing", count(ATTENTION, norms="0")),
    ("half_the_norms", count(ATTENTION, norms="2 * d_model")),
    ("final_norm_counted", count(ATTENTION, norms="6 * d_model")),
    ("no_output_projection", count("3 * d_model * width + 3 * width")),
    ("feed_forward_without_bias", count(ATTENTION, feed_forward="2 * d_model * d_ff")),
    (
        "key_dim_of_all_heads",
        count(ATTENTION).replace("width = num_heads * (", "width = (").replace("d_model // num_heads if", "d_model if"),
    ),
    ("output_bias_too_wide", count("4 * d_model * width + 4 * width")),
    (None, "def encoder_parameter_count(d_model, num_heads, d_ff, key_dim=None):\n    return 10_656"),
    (
        "no_biases",
        """
def encoder_parameter_count(d_model, num_heads, d_ff, key_dim=None):
    hk = num_heads * key_dim if key_dim else d_model
    return 4 * d_model * hk + 2 * d_model * d_ff + 4 * d_model
""",
    ),
    (
        "projections_for_each_head",
        """
def encoder_parameter_count(d_model, num_heads, d_ff, key_dim=None):
    hk = num_heads * key_dim if key_dim else d_model
    return 3 * num_heads * (d_model * hk + hk) + hk * d_model + d_model + 2 * d_model * d_ff + d_ff + d_model + 4 * d_model
""",
    ),
]

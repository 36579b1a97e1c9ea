"""Lab 09, exercise `attention_rollout`: solutions as different students write them, right and wrong."""

CORRECT = [
    # NumPy, a loop
    """
def attention_rollout(attentions):
    attentions = np.asarray(attentions)
    eye = np.eye(attentions.shape[-1], dtype=attentions.dtype)
    rollout = eye
    for layer in attentions:
        a = (layer.mean(axis=1) + eye) / 2
        rollout = (a / a.sum(-1, keepdims=True)) @ rollout
    return rollout
""",
    # tf and reduce
    """
from functools import reduce
def attention_rollout(attentions):
    x = tf.reduce_mean(tf.convert_to_tensor(attentions), 2)
    x = 0.5 * x + 0.5 * tf.eye(x.shape[-1], dtype=x.dtype)
    x = x / tf.reduce_sum(x, -1, keepdims=True)
    return reduce(lambda below, above: above @ below, tf.unstack(x))
""",
    # einsum; A + I normalised is the same as half and half normalised
    """
def attention_rollout(attentions):
    a = ops.convert_to_tensor(attentions)
    a = ops.einsum("lbhts->lbts", a) / a.shape[2]
    a = a + ops.eye(a.shape[-1], dtype=a.dtype)
    a = a / ops.sum(a, axis=-1, keepdims=True)
    result = a[-1]
    for layer in range(a.shape[0] - 2, -1, -1):
        result = ops.einsum("bts,bsr->btr", result, a[layer])
    return result
""",
    # transposed all the way
    """
def attention_rollout(attentions):
    a = np.asarray(attentions)
    a = np.transpose(a.mean(2), (0, 1, 3, 2))
    a = 0.5 * a + 0.5 * np.identity(a.shape[-1], a.dtype)
    a /= a.sum(axis=-2, keepdims=True)
    result = a[0]
    for layer in a[1:]:
        result = result @ layer
    return np.swapaxes(result, 1, 2)
""",
    # multi_dot, one image at a time
    """
def attention_rollout(attentions):
    attentions = np.asarray(attentions)
    found = []
    for image in range(attentions.shape[1]):
        a = 0.5 * attentions[:, image].mean(1) + 0.5 * np.eye(attentions.shape[-1])
        a = (a.T / a.sum(-1).T).T
        found.append(np.linalg.multi_dot(list(a[::-1])) if len(a) > 1 else a[0])
    return np.stack(found).astype(attentions.dtype)
""",
    # float64 throughout, whatever the weights are
    """
def attention_rollout(attentions):
    attentions = np.asarray(attentions).mean(2)
    steps = 0.5 * attentions + 0.5 * np.eye(attentions.shape[-1])
    steps = steps / steps.sum(-1, keepdims=True)
    rollout = steps[0]
    for step in steps[1:]:
        rollout = step @ rollout
    return rollout
""",
    # ops.scan over the layers
    """
def attention_rollout(attentions):
    a = ops.mean(ops.convert_to_tensor(attentions), axis=-3)
    n = a.shape[-1]
    diagonal = ops.cast(ops.equal(ops.arange(n)[:, None], ops.arange(n)), a.dtype)
    a = (a + diagonal) * 0.5
    a = ops.divide(a, ops.sum(a, -1)[..., None])
    start = ops.broadcast_to(diagonal, a.shape[1:])
    return ops.scan(lambda carry, layer: (ops.matmul(layer, carry), layer), start, a)[0]
""",
]


def roll(heads="a.mean(2)", step="0.5 * a + 0.5 * eye", normed="a / a.sum(-1, keepdims=True)", up="layer @ result"):
    """A rollout with some of its parts changed."""
    return f"""
def attention_rollout(attentions):
    a = np.asarray(attentions)
    a = {heads}
    eye = np.eye(a.shape[-1], dtype=a.dtype)
    a = {step}
    a = {normed}
    result = a[0]
    for layer in a[1:]:
        result = {up}
    return result
"""


WRONG = [
    ("order_reversed", roll(up="result @ layer")),
    ("entry_by_entry", roll(up="result * layer")),
    ("no_identity", roll(step="a")),
    ("not_normalised", roll(normed="a")),
    ("identity_whole_not_normalised", roll(step="a + eye", normed="a")),
    ("columns_normalised", roll(normed="a / a.sum(-2, keepdims=True)")),
    ("normalised_before", roll(heads="a.mean(2) / a.mean(2).sum(-1, keepdims=True)", normed="a")),
    (
        "normalised_at_the_end",
        roll(normed="a").replace("return result", "return result / result.sum(-1, keepdims=True)"),
    ),
    ("identity_not_halved", roll(step="0.5 * a + eye")),
    ("first_layer_twice", roll().replace("in a[1:]", "in a")),
    ("row_sums_on_columns", roll(normed="a / a.sum(-1)[..., None, :]")),
    ("divided_by_largest", roll(normed="a / a.max(-1, keepdims=True)")),
    ("heads_summed", roll(heads="a.sum(2)")),
    ("largest_head", roll(heads="a.max(2)")),
    ("smallest_head", roll(heads="a.min(2)")),
    ("first_head_only", roll(heads="a[:, :, 0]")),
    ("last_layer_only", roll(up="layer")),
    ("first_layer_only", roll(up="result")),
    ("weights_transposed", roll(heads="a.mean(2).swapaxes(-1, -2)")),
    (
        "heads_one_by_one",
        roll(heads="a", step="0.5 * a + 0.5 * eye").replace("return result", "return result.mean(1)"),
    ),
    ("layers_averaged", roll(up="result + layer").replace("return result", "return result / a.dtype.type(len(a))")),
    # the identity is added at the end
    (None, roll(step="a").replace("return result", "return 0.5 * result + 0.5 * eye")),
    # a tensor of float64 is added to one of float32
    (
        None,
        roll()
        .replace("np.asarray(attentions)", "tf.convert_to_tensor(attentions)")
        .replace("a.mean(2)", "tf.reduce_mean(a, 2)")
        .replace("np.eye(a.shape[-1], dtype=a.dtype)", "tf.eye(a.shape[-1], dtype=tf.float64)")
        .replace("a.sum(-1, keepdims=True)", "tf.reduce_sum(a, -1, keepdims=True)"),
    ),
    # axes
    ("images_averaged", roll(heads="a.mean(1)")),
    ("attention_not_halved", roll(step="a + 0.5 * eye")),
    (None, roll().replace("return result", "return result[:, 0]")),
    (None, roll().replace("return result", "return np.stack(list(a))")),
]

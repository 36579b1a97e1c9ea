"""Lab 01: solutions as different students write them."""

CORRECT = {
    "softmax": [
        # NumPy
        """
def softmax(x, axis=-1):
    x = np.asarray(x)
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)
""",
        # TensorFlow
        """
def softmax(x, axis=-1):
    x = tf.convert_to_tensor(x)
    shifted = x - tf.reduce_max(x, axis=axis, keepdims=True)
    return tf.exp(shifted) / tf.reduce_sum(tf.exp(shifted), axis=axis, keepdims=True)
""",
        # log-sum-exp
        """
def softmax(x, axis=-1):
    x = ops.convert_to_tensor(x)
    return ops.exp(x - ops.logsumexp(x, axis=axis, keepdims=True))
""",
        # the axis moved to the end, slices one by one
        """
import math
def softmax(x, axis=-1):
    original = np.asarray(x)
    moved = np.moveaxis(original, axis, -1)
    result = np.zeros(moved.shape)
    for index in np.ndindex(moved.shape[:-1]):
        row = [float(value) for value in moved[index]]
        top = max(row)
        powers = [math.exp(value - top) for value in row]
        result[index] = [power / sum(powers) for power in powers]
    return np.moveaxis(result, -1, axis).astype(original.dtype)
""",
        # np.apply_along_axis with a helper, double precision inside
        """
def one_row(row):
    row = row.astype("float64") - row.max()
    return np.exp(row) / np.exp(row).sum()

def softmax(x, axis=-1):
    return np.apply_along_axis(one_row, axis, np.asarray(x)).astype(np.asarray(x).dtype)
""",
        # subtracting a bound that is not the largest entry but large enough
        """
def softmax(x, axis=-1):
    x = np.array(x)
    x -= x.max(axis, keepdims=True) + 1
    powers = np.exp(x)
    powers /= powers.sum(axis, keepdims=True)
    return powers
""",
    ],
    "attention_pooling": [
        """
def attention_pooling(query, keys, values, bandwidth=1.0):
    query, keys, values = np.asarray(query), np.asarray(keys), np.asarray(values)
    exponents = -np.linalg.norm(keys - query, axis=1) ** 2 / (2 * bandwidth**2)
    kernel = np.exp(exponents - exponents.max())
    weights = kernel / kernel.sum()
    return weights @ values, weights
""",
        """
def attention_pooling(query, keys, values, bandwidth=1.0):
    z = (tf.convert_to_tensor(keys) - query) / bandwidth
    weights = tf.nn.softmax(-0.5 * tf.reduce_sum(tf.square(z), axis=-1))
    return tf.linalg.matvec(values, weights, transpose_a=True), weights
""",
        # loops
        """
def attention_pooling(query, keys, values, bandwidth=1.0):
    kind = np.asarray(values).dtype
    query, keys, values = (np.asarray(each, "float64") for each in (query, keys, values))
    scores = np.array([-sum((a - b) ** 2 for a, b in zip(query, key)) / 2 / bandwidth / bandwidth for key in keys])
    weights = np.array([1 / sum(np.exp(np.clip(other - score, -700, 700)) for other in scores) for score in scores])
    output = sum(weight * value for weight, value in zip(weights, values))
    return output.astype(kind), weights.astype(kind)
""",
        # the squares expanded, einsum
        """
def attention_pooling(query, keys, values, bandwidth=1.0):
    query, keys, values = (ops.convert_to_tensor(each) for each in (query, keys, values))
    difference = ops.expand_dims(query, 0) - keys
    scores = -ops.einsum("md,md->m", difference, difference) / (2.0 * float(bandwidth) ** 2)
    weights = keras.activations.softmax(scores[None])[0]
    return ops.einsum("m,me->e", weights, values), weights
""",
        # a list, weights as a column on the way
        """
def attention_pooling(q, k, v, bandwidth=1.0):
    k, v = np.array(k), np.array(v)
    distance = ((np.array(q)[np.newaxis, :] - k) ** 2).sum(axis=1, keepdims=True)
    score = -(distance - distance.min()) / (2 * bandwidth * bandwidth)
    column = np.exp(score) / np.exp(score).sum()
    return [(column * v).sum(axis=0), column[:, 0]]
""",
    ],
    "dot_score": [
        "def dot_score(q, k):\n    return np.asarray(q) @ np.asarray(k).T",
        "def dot_score(q, k):\n    return tf.matmul(q, k, transpose_b=True)",
        "def dot_score(q, k):\n    return ops.einsum('td,sd->ts', q, k)",
        "def dot_score(q, k):\n    return np.array([[np.dot(a, b) for b in np.asarray(k)] for a in np.asarray(q)])",
        "dot_score = lambda q, k: tf.reduce_sum(tf.convert_to_tensor(q)[:, None, :] * tf.convert_to_tensor(k)[None], axis=-1)",
    ],
    "scaled_dot_score": [
        "def scaled_dot_score(q, k):\n    return np.asarray(q) @ np.asarray(k).T / np.sqrt(q.shape[-1])",  # any float type passes
        "def scaled_dot_score(q, k):\n    return dot_score(q, k) * q.shape[1] ** -0.5",
        "def scaled_dot_score(q, k):\n    return tf.matmul(q, k, transpose_b=True) / tf.sqrt(tf.cast(tf.shape(k)[-1], q.dtype))",
        "def scaled_dot_score(q, k):\n    q, k = np.asarray(q), np.asarray(k)\n    return q @ k.T / np.sqrt(k.shape[-1]).astype(q.dtype)",
        "import math\ndef scaled_dot_score(q, k):\n    return ops.einsum('td,sd->ts', q, k) / math.sqrt(k.shape[-1])",
        "def scaled_dot_score(q, k):\n    root = np.asarray(q).shape[-1] ** 0.25\n    return dot_score(np.asarray(q) / root, np.asarray(k) / root)",
    ],
    "general_score": [
        "def general_score(q, k, w):\n    return np.asarray(q) @ np.asarray(w) @ np.asarray(k).T",
        "def general_score(q, k, w):\n    return tf.matmul(tf.matmul(q, w), k, transpose_b=True)",
        "def general_score(q, k, w):\n    return ops.einsum('ti,ij,sj->ts', q, w, k)",
        "def general_score(q, k, w):\n    return dot_score(q, ops.matmul(k, ops.transpose(w)))",
        "def general_score(q, k, w):\n    q, k, w = np.asarray(q), np.asarray(k), np.asarray(w)\n    return np.stack([np.stack([a @ w @ b for b in k]) for a in q])",
    ],
    "cosine_score": [
        "def cosine_score(q, k):\n    q, k = np.asarray(q), np.asarray(k)\n    return q @ k.T / np.outer(np.linalg.norm(q, axis=1), np.linalg.norm(k, axis=1))",
        "def cosine_score(q, k):\n    return tf.matmul(tf.math.l2_normalize(q, axis=-1), tf.math.l2_normalize(k, axis=-1), transpose_b=True)",
        "def cosine_score(q, k):\n    return ops.matmul(ops.normalize(q, axis=-1), ops.transpose(ops.normalize(k, axis=-1)))",
        """
def cosine_score(q, k):
    kind = np.asarray(q).dtype
    rows = []
    for a in np.asarray(q, "float64"):
        rows.append([sum(a * b) / (sum(a * a) ** 0.5 * sum(b * b) ** 0.5) for b in np.asarray(k, "float64")])
    return np.array(rows, dtype=kind)
""",
        """
def cosine_score(q, k):
    q, k = ops.convert_to_tensor(q), ops.convert_to_tensor(k)
    lengths = ops.norm(q, axis=-1)[:, None] * ops.norm(k, axis=-1)[None, :]
    return ops.divide(dot_score(q, k), lengths + 1e-12)
""",
    ],
    "additive_score": [
        "def additive_score(q, k, w_q, w_k, v):\n    a, b = np.asarray(q) @ np.asarray(w_q), np.asarray(k) @ np.asarray(w_k)\n    return np.tanh(a[:, None, :] + b[None, :, :]) @ np.asarray(v)",
        "def additive_score(q, k, w_q, w_k, v):\n    hidden = tf.tanh(tf.expand_dims(q @ w_q, 1) + tf.expand_dims(k @ w_k, 0))\n    return tf.tensordot(hidden, v, axes=1)",
        "def additive_score(q, k, w_q, w_k, v):\n    a, b = ops.matmul(q, w_q), ops.matmul(k, w_k)\n    return ops.einsum('tsu,u->ts', ops.tanh(ops.expand_dims(a, 1) + b), v)",
        """
def additive_score(q, k, w_q, w_k, v):
    q, k, w_q, w_k, v = (np.asarray(each) for each in (q, k, w_q, w_k, v))
    scores = np.empty((len(q), len(k)), dtype=q.dtype)
    for t in range(len(q)):
        for s in range(len(k)):
            scores[t, s] = v @ np.tanh(w_q.T @ q[t] + w_k.T @ k[s])
    return scores
""",
        """
def additive_score(q, k, w_q, w_k, v):
    q, k = tf.convert_to_tensor(q), tf.convert_to_tensor(k)
    t, s = q.shape[0], k.shape[0]
    pairs = tf.concat([tf.repeat(q, s, axis=0), tf.tile(k, [t, 1])], axis=-1)
    hidden = tf.tanh(pairs @ tf.concat([w_q, w_k], axis=0))
    return tf.reshape(tf.linalg.matvec(hidden, v), (t, s))
""",
    ],
    "attend": [
        # -inf and repaired rows
        """
def attend(scores, values, mask=None):
    scores, values = tf.convert_to_tensor(scores), tf.convert_to_tensor(values)
    if mask is not None:
        scores = tf.where(tf.cast(mask, tf.bool), scores, tf.constant(-np.inf, scores.dtype))
    weights = tf.nn.softmax(scores)
    weights = tf.where(tf.math.is_nan(weights), tf.zeros_like(weights), weights)
    return tf.matmul(weights, values), weights
""",
        # additive mask
        """
def attend(scores, values, mask=None):
    if mask is not None:
        scores = scores + (1.0 - ops.cast(mask, ops.convert_to_tensor(scores).dtype)) * -1e9
    weights = ops.softmax(scores, axis=-1)
    return ops.matmul(weights, values), weights
""",
        # NumPy, exponentials times the mask, denominators guarded
        """
def attend(scores, values, mask=None):
    scores, values = np.asarray(scores), np.asarray(values)
    allowed = np.ones(1, bool) if mask is None else np.asarray(mask) != 0
    masked = np.where(allowed, scores, np.finfo(scores.dtype).min)
    powers = np.exp(masked - masked.max(-1, keepdims=True)) * allowed
    weights = (powers / np.maximum(powers.sum(-1, keepdims=True), np.finfo(scores.dtype).tiny)).astype(scores.dtype)
    return np.einsum("...ts,...se->...te", weights, values), weights
""",
        # the students' own softmax, NumPy's where, a list
        """
def attend(scores, values, mask=None):
    scores = np.array(scores)
    if mask is not None:
        scores[~np.broadcast_to(np.array(mask).astype(bool), scores.shape)] = -1e30
    weights = np.asarray(softmax(scores))
    return [weights @ np.asarray(values), weights]
""",
        # keras' Softmax layer with its mask
        """
def attend(scores, values, mask=None):
    scores, values = ops.convert_to_tensor(scores), ops.convert_to_tensor(values)
    layer = keras.layers.Softmax(axis=-1, dtype=scores.dtype)
    if mask is None:
        weights = layer(scores)
    else:
        weights = layer(scores, mask=ops.broadcast_to(ops.cast(mask, "bool"), scores.shape))
    return ops.einsum("...ts,...se->...te", weights, values), weights
""",
        # exponentials multiplied with the mask, sums that are 0 replaced
        """
def attend(scores, values, mask=None):
    scores = ops.convert_to_tensor(scores)
    if mask is None:
        mask = ops.ones_like(scores)
    mask = ops.cast(mask, scores.dtype)
    neg = scores - 1e6 * (1 - mask)
    e = ops.exp(neg - ops.max(neg, axis=-1, keepdims=True)) * mask
    z = ops.sum(e, axis=-1, keepdims=True)
    w = e / ops.where(z == 0, ops.ones_like(z), z)
    return ops.matmul(w, values), w
""",
    ],
    "hard_attention": [
        "def hard_attention(weights):\n    return tf.one_hot(tf.argmax(weights, -1), weights.shape[-1])",  # any float type passes
        """
def hard_attention(weights):
    weights = np.asarray(weights)
    return np.eye(weights.shape[-1], dtype=weights.dtype)[weights.argmax(axis=-1)]
""",
        "def hard_attention(weights):\n    return tf.one_hot(tf.argmax(weights, axis=-1), tf.shape(weights)[-1], dtype=tf.convert_to_tensor(weights).dtype)",
        """
def hard_attention(weights):
    weights = ops.convert_to_tensor(weights)
    first = ops.argmax(weights, axis=-1)
    return ops.cast(ops.equal(ops.arange(weights.shape[-1]), ops.cast(first, "int32")[..., None]), weights.dtype)
""",
        """
def hard_attention(weights):
    weights = np.asarray(weights)
    result = np.zeros_like(weights)
    np.put_along_axis(result, np.argmax(weights, axis=-1)[..., None], 1, axis=-1)
    return result
""",
        """
def hard_attention(weights):
    weights = np.asarray(weights)
    result = np.zeros(weights.shape, weights.dtype)
    for index in np.ndindex(*weights.shape[:-1]):
        row = list(weights[index])
        result[index][row.index(max(row))] = 1.0
    return result
""",
        """
def hard_attention(weights):
    weights = tf.convert_to_tensor(weights)
    largest = tf.cast(tf.equal(weights, tf.reduce_max(weights, axis=-1, keepdims=True)), weights.dtype)
    return largest * tf.cast(tf.equal(tf.cumsum(largest, axis=-1), 1), weights.dtype)
""",
        # first of the largest by a running count
        """
def hard_attention(weights):
    w = ops.convert_to_tensor(weights)
    best = ops.cast(w == ops.max(w, -1, keepdims=True), "int32")
    first = ops.cumsum(best, axis=-1) * best
    return ops.cast(ops.equal(first, 1), w.dtype)
""",
    ],
    "BahdanauAttention": [
        # TensorFlow throughout, -inf avoided by a large number
        """
class BahdanauAttention(tf.keras.layers.Layer):
    def __init__(self, units):
        super(BahdanauAttention, self).__init__()
        self.query_proj = tf.keras.layers.Dense(units, use_bias=False)
        self.value_proj = tf.keras.layers.Dense(units, use_bias=False)
        self.score_proj = tf.keras.layers.Dense(1, use_bias=False)

    def call(self, query, values, mask=None):
        q = tf.expand_dims(self.query_proj(query), 2)
        v = tf.expand_dims(self.value_proj(values), 1)
        score = tf.squeeze(self.score_proj(tf.nn.tanh(q + v)), axis=-1)
        if mask is not None:
            mask = tf.cast(mask, tf.bool)
            if mask.shape.rank == 2:
                mask = mask[:, tf.newaxis, :]
            score = tf.where(mask, score, -1e9)
        weights = tf.nn.softmax(score, axis=-1)
        return tf.matmul(weights, values), weights
""",
        # einsum, additive mask, layers made in build
        """
class BahdanauAttention(keras.layers.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units

    def build(self, query_shape, values_shape):
        self.query_proj = keras.layers.Dense(self.units, use_bias=False)
        self.value_proj = keras.layers.Dense(self.units, use_bias=False)
        self.score_proj = keras.layers.Dense(1, use_bias=False)
        self.query_proj.build(query_shape)
        self.value_proj.build(values_shape)
        self.score_proj.build((None, self.units))

    def call(self, query, values, mask=None):
        hidden = ops.tanh(ops.expand_dims(self.query_proj(query), 2) + ops.expand_dims(self.value_proj(values), 1))
        scores = ops.einsum("btsu,uo->bts", hidden, self.score_proj.kernel)
        if mask is not None:
            mask = ops.cast(mask, "float32")
            mask = mask if mask.ndim == 3 else ops.expand_dims(mask, 1)
            scores = scores - 1e9 * (1 - mask)
        weights = ops.softmax(scores, axis=-1)
        return ops.einsum("bts,bsv->btv", weights, values), weights
""",
        # through additive exponentials: own normalisation, weights of 0 without any key
        """
class BahdanauAttention(keras.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        make = lambda n: keras.layers.Dense(n, use_bias=False, kernel_initializer="he_normal")
        self.query_proj, self.value_proj, self.score_proj = make(units), make(units), make(1)

    def call(self, query, values, mask=None):
        pairs = self.query_proj(query)[:, :, None, :] + self.value_proj(values)[:, None, :, :]
        scores = ops.squeeze(self.score_proj(ops.tanh(pairs)), axis=-1)
        powers = ops.exp(scores - ops.max(scores, axis=-1, keepdims=True))
        if mask is not None:
            allowed = ops.cast(mask, "float32")
            powers = powers * (allowed[:, None] if len(allowed.shape) == 2 else allowed)
        weights = powers / ops.maximum(ops.sum(powers, axis=-1, keepdims=True), 1e-30)
        return ops.matmul(weights, values), weights
""",
        # the mask repeated to (B, T, S), the student's own attend
        """
class BahdanauAttention(keras.Layer):
    def __init__(self, units, name=None):
        super().__init__(name=name)
        self.query_proj = keras.layers.Dense(units=units, use_bias=False)
        self.value_proj = keras.layers.Dense(units=units, use_bias=False)
        self.score_proj = keras.layers.Dense(units=1, use_bias=False)

    def call(self, query, values, mask=None):
        t = ops.shape(query)[1]
        hidden = keras.activations.tanh(
            ops.repeat(self.query_proj(query)[:, :, None], ops.shape(values)[1], axis=2) + self.value_proj(values)[:, None]
        )
        scores = self.score_proj(hidden)[:, :, :, 0]
        if mask is not None and len(mask.shape) == 2:
            mask = ops.repeat(ops.expand_dims(mask, 1), t, axis=1)
        context, weights = attend(scores, values, mask)
        return [context, weights]
""",
        # keras' Softmax layer, the ready tanh layer
        """
class BahdanauAttention(keras.Layer):
    def __init__(self, units):
        super().__init__()
        self.query_proj = keras.layers.Dense(units, use_bias=False)
        self.value_proj = keras.layers.Dense(units, use_bias=False)
        self.score_proj = keras.layers.Dense(1, use_bias=False)
        self.tanh = keras.layers.Activation("tanh")
        self.softmax = keras.layers.Softmax()

    def call(self, query, values, mask=None):
        q, v = self.query_proj(query), self.value_proj(values)
        scores = ops.sum(self.tanh(q[:, :, None] + v[:, None]) * self.score_proj(ops.eye(v.shape[-1]))[:, 0], axis=-1)
        if mask is not None:
            mask = ops.cast(mask, "bool")
            mask = ops.broadcast_to(mask[:, None] if len(mask.shape) == 2 else mask, ops.shape(scores))
        weights = self.softmax(scores, mask=mask)
        return ops.matmul(weights, values), weights
""",
        # tf.keras, layers made in build
        """
class BahdanauAttention(tf.keras.layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.units = units
    def build(self, *shapes, **kw):
        self.query_proj = tf.keras.layers.Dense(self.units, use_bias=False)
        self.value_proj = tf.keras.layers.Dense(self.units, use_bias=False)
        self.score_proj = tf.keras.layers.Dense(1, use_bias=False)
    def call(self, query, values, mask=None):
        s = self.score_proj(tf.nn.tanh(tf.expand_dims(self.query_proj(query), 2) + tf.expand_dims(self.value_proj(values), 1)))
        s = tf.squeeze(s, axis=-1)
        if mask is not None:
            mask = tf.cast(mask, s.dtype)
            if mask.shape.rank == 2:
                mask = tf.expand_dims(mask, 1)
            s = s + (1 - mask) * -1e9
        w = tf.nn.softmax(s, axis=-1)
        return tf.matmul(w, values), w
""",
        # one reshape for both kinds of mask, a Softmax layer
        """
class BahdanauAttention(keras.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.query_proj, self.value_proj, self.score_proj = [keras.layers.Dense(n, use_bias=False) for n in (units, units, 1)]
        self.softmax = keras.layers.Softmax(axis=-1)
    def call(self, query, values, mask=None):
        hidden = ops.tanh(self.query_proj(query)[:, :, None] + self.value_proj(values)[:, None])
        scores = ops.sum(self.score_proj(hidden), axis=-1)
        if mask is not None:
            mask = ops.cast(mask, "bool")
            mask = ops.reshape(mask, (ops.shape(values)[0], -1, ops.shape(values)[1]))
            mask = ops.broadcast_to(mask, ops.shape(scores))
        weights = self.softmax(scores, mask=mask)
        context = ops.sum(weights[..., None] * values[:, None], axis=2)
        return context, weights
    def compute_mask(self, *args, **kwargs):
        return None
""",
    ],
    "SpatialAttention": [
        # TensorFlow, global features resized before the convolution
        """
class SpatialAttention(tf.keras.layers.Layer):
    def __init__(self, filters):
        super().__init__()
        self.local_conv = tf.keras.layers.Conv2D(filters, kernel_size=1)
        self.global_conv = tf.keras.layers.Conv2D(filters, kernel_size=1)
        self.score_conv = tf.keras.layers.Conv2D(1, kernel_size=1)

    def call(self, features, global_features):
        size = tf.shape(features)[1:3]
        g = self.global_conv(tf.image.resize(global_features, size, method="bilinear"))
        r = self.score_conv(tf.nn.relu(self.local_conv(features) + g))
        a = tf.nn.softmax(tf.reshape(r, (tf.shape(r)[0], -1)), axis=-1)
        a = tf.reshape(a, tf.shape(r))
        return a * features, a
""",
        # no biases, places counted by -1
        """
class SpatialAttention(keras.Layer):
    def __init__(self, filters, **kwargs):
        super().__init__(**kwargs)
        self.local_conv = keras.layers.Conv2D(filters, 1, use_bias=False)
        self.global_conv = keras.layers.Conv2D(filters, 1, use_bias=False)
        self.score_conv = keras.layers.Conv2D(1, 1, use_bias=False)

    def call(self, features, global_features):
        wide = keras.ops.image.resize(global_features, features.shape[1:3])
        score = self.score_conv(keras.activations.relu(self.local_conv(features) + self.global_conv(wide)))
        h, w = features.shape[1:3]
        where = ops.reshape(ops.softmax(ops.reshape(score, (-1, h * w))), (-1, h, w, 1))
        return ops.multiply(features, where), where
""",
        # the exponentials written out
        """
class SpatialAttention(keras.layers.Layer):
    def __init__(self, filters, **kwargs):
        super().__init__(**kwargs)
        self.local_conv = keras.layers.Conv2D(filters, (1, 1), padding="same")
        self.global_conv = keras.layers.Conv2D(filters, (1, 1), padding="same")
        self.score_conv = keras.layers.Conv2D(1, (1, 1), padding="same")

    def call(self, features, global_features):
        h, w = ops.shape(features)[1], ops.shape(features)[2]
        guide = ops.image.resize(self.global_conv(global_features), (h, w), interpolation="bilinear")
        score = self.score_conv(ops.maximum(self.local_conv(features) + guide, 0))
        powers = ops.exp(score - ops.max(score, axis=(1, 2), keepdims=True))
        attention = powers / ops.sum(powers, axis=(1, 2), keepdims=True)
        return features * attention, attention
""",
        # layers made in build, layers for every step
        """
class SpatialAttention(keras.Layer):
    def __init__(self, filters, **kwargs):
        super().__init__(**kwargs)
        self.filters = filters
        self.flatten, self.softmax = keras.layers.Flatten(), keras.layers.Softmax()
        self.relu, self.add = keras.layers.ReLU(), keras.layers.Add()

    def build(self, features_shape, global_features_shape):
        self.local_conv = keras.layers.Conv2D(self.filters, 1)
        self.global_conv = keras.layers.Conv2D(self.filters, 1)
        self.score_conv = keras.layers.Conv2D(1, 1)
        self.resizing = keras.layers.Resizing(features_shape[1], features_shape[2])
        self.reshape = keras.layers.Reshape((features_shape[1], features_shape[2], 1))
        self.local_conv.build(features_shape)
        self.global_conv.build(global_features_shape)
        self.score_conv.build((None, None, None, self.filters))

    def call(self, features, global_features):
        both = self.relu(self.add([self.local_conv(features), self.resizing(self.global_conv(global_features))]))
        attention = self.reshape(self.softmax(self.flatten(self.score_conv(both))))
        return [features * attention, attention]
""",
        # einsum with the kernels, the student's own softmax
        """
class SpatialAttention(keras.Layer):
    def __init__(self, filters):
        super().__init__()
        conv = lambda n: keras.layers.Conv2D(n, 1, kernel_initializer="he_normal")
        self.local_conv, self.global_conv, self.score_conv = conv(filters), conv(filters), conv(1)

    def call(self, features, global_features):
        _, h, w, c = features.shape
        resized = ops.image.resize(global_features, (h, w), interpolation="bilinear", antialias=False)
        hidden = ops.relu(self.local_conv(features) + self.global_conv(resized))
        places = softmax(ops.reshape(self.score_conv(hidden), (-1, h * w)))
        mixed = ops.einsum("bp,bpc->bpc", places, ops.reshape(features, (-1, h * w, c)))
        return ops.reshape(mixed, (-1, h, w, c)), ops.reshape(places, (-1, h, w, 1))
""",
        # layers for every step
        """
class SpatialAttention(keras.layers.Layer):
    def __init__(self, filters, **kwargs):
        super().__init__(**kwargs)
        self.local_conv = keras.layers.Conv2D(filters, kernel_size=1, strides=1)
        self.global_conv = keras.layers.Conv2D(filters, kernel_size=1)
        self.score_conv = keras.layers.Conv2D(filters=1, kernel_size=1)
        self.add = keras.layers.Add()
        self.relu = keras.layers.ReLU()
        self.flatten = keras.layers.Flatten()
        self.softmax = keras.layers.Softmax()
    def call(self, features, global_features, training=None):
        _, h, w, _ = features.shape
        g = tf.image.resize(self.global_conv(global_features), [h, w], method="bilinear")
        s = self.score_conv(self.relu(self.add([self.local_conv(features), g])))
        m = ops.reshape(self.softmax(self.flatten(s)), (-1, h, w, 1))
        return [features * m, m]
""",
    ],
    "answers": [
        "answers = {'pooling_weights': [0.88, 0.12], 'pooling_output': 10.24, 'weights_shape': (7, 11), 'learnable': [0, 1, 1, 1, 0, 0], 'additive_parameters': 63, 'hard_attention': 'c'}",
        "answers.update(pooling_weights=np.array([0.8808, 0.1192]), learnable=[False, True, True, True, False, False], hard_attention='C ')",
        "answers = dict(answers, pooling_output=10.24, weights_shape=[7, 11], additive_parameters=63.0)",
        "answers['pooling_weights'] = tf.constant([0.881, 0.119])\nanswers['pooling_output'] = np.float32(10.238)",
        "e = 1 / (1 + np.exp(-2))\nanswers['pooling_weights'] = (e, 1 - e)\nanswers['pooling_output'] = 10 * e + 12 * (1 - e)\nanswers['additive_parameters'] = 7 * (3 + 5 + 1)",
    ],
    "find_the_bug": [
        """
def find_the_bug(queries, keys, values, bandwidth=1.0):
    queries, keys, values = (ops.convert_to_tensor(each) for each in (queries, keys, values))
    squared_distances = ops.sum((queries[:, None] - keys) ** 2, axis=-1)
    weights = ops.softmax(-squared_distances / 2 / bandwidth**2, axis=-1)
    return ops.matmul(weights, values), weights
""",
        """
def find_the_bug(queries, keys, values, bandwidth=1.0):
    pairs = [attention_pooling(query, keys, values, bandwidth) for query in queries]
    return ops.stack([output for output, _ in pairs]), ops.stack([weights for _, weights in pairs])
""",
        """
def find_the_bug(queries, keys, values, bandwidth=1.0):
    d2 = ((queries[:, None, :] - keys[None]) ** 2).sum(-1)
    e = -0.5 * d2 * bandwidth**-2
    p = np.exp(e - e.max(1, keepdims=True))
    w = p / p.sum(1, keepdims=True)
    return w @ values, w
""",
        """
def find_the_bug(queries, keys, values, bandwidth=1.0):
    q, k = tf.expand_dims(queries, 1) / bandwidth, tf.expand_dims(keys, 0) / bandwidth
    w = tf.nn.softmax(-0.5 * tf.reduce_sum(tf.square(q - k), -1))
    return w @ values, w
""",
        """
def find_the_bug(queries, keys, values, bandwidth=1.0):
    weights = []
    for query in queries:
        scores = [-sum(float(a - b) ** 2 for a, b in zip(query, key)) / (2 * bandwidth**2) for key in keys]
        powers = [np.exp(score - max(scores)) for score in scores]
        weights.append([power / sum(powers) for power in powers])
    return (np.array(weights) @ values).tolist(), weights
""",
    ],
    "predict": ["predict = 18", "predict = 17.7", "predict = 35 / 2", "predict = np.float32(17)", "predict = 20"],
}  # fmt: skip

WRONG = {
    "softmax": [
        ("unstable_softmax", "def softmax(x, axis=-1):\n    e = np.exp(np.asarray(x))\n    return e / e.sum(axis=axis, keepdims=True)"),
        ("last_axis_only", "def softmax(x, axis=-1):\n    x = np.asarray(x)\n    e = np.exp(x - x.max(-1, keepdims=True))\n    return e / e.sum(-1, keepdims=True)"),
        ("global_maximum", "def softmax(x, axis=-1):\n    x = np.asarray(x)\n    e = np.exp(x - np.max(x))\n    return e / e.sum(axis=axis, keepdims=True)"),
        ("softmax_over_everything", "def softmax(x, axis=-1):\n    x = np.asarray(x)\n    e = np.exp(x - np.max(x))\n    return e / np.sum(e)"),
        (None, "def softmax(x, axis=-1):\n    return ops.softmax(x, axis=axis)"),
        (None, "def softmax(x, axis=-1):\n    return tf.nn.softmax(x, axis=axis)"),
        (None, "from scipy.special import softmax"),
        (None, "def softmax(x, axis=-1):\n    x = np.asarray(x)\n    e = np.exp(x - x.max(axis=axis))\n    return e / e.sum(axis=axis)"),
        ("smallest_subtracted", "def softmax(x, axis=-1):\n    e = ops.exp(x - ops.min(x, axis=axis, keepdims=True))\n    return e / ops.sum(e, axis=axis, keepdims=True)"),
        ("divided_by_largest", "def softmax(x, axis=-1):\n    x = np.asarray(x)\n    e = np.exp(x / x.max(axis=axis, keepdims=True))\n    return e / e.sum(axis=axis, keepdims=True)"),
        ("logarithms", "def softmax(x, axis=-1):\n    x = np.asarray(x)\n    x = x - x.max(axis=axis, keepdims=True)\n    return x - np.log(np.exp(x).sum(axis=axis, keepdims=True))"),
        ("sigmoids", "def softmax(x, axis=-1):\n    return ops.sigmoid(ops.convert_to_tensor(x))"),
        ("sum_of_everything", 'def softmax(x, axis=-1):\n    x = ops.convert_to_tensor(x)\n    e = ops.exp(x - ops.max(x, axis=axis, keepdims=True))\n    return e / ops.sum(e)'),
        ("no_exponential", 'def softmax(x, axis=-1):\n    x = ops.convert_to_tensor(x)\n    e = x\n    return e / ops.sum(e, axis=axis, keepdims=True)'),
    ],
    "attention_pooling": [
        ("bandwidth_not_squared", "def attention_pooling(query, keys, values, bandwidth=1.0):\n    w = softmax(-ops.sum((query - keys) ** 2, axis=-1) / (2 * bandwidth))\n    return ops.matmul(w, values), w"),
        ("factor_2_missing", "def attention_pooling(query, keys, values, bandwidth=1.0):\n    w = softmax(-ops.sum((query - keys) ** 2, axis=-1) / bandwidth**2)\n    return ops.matmul(w, values), w"),
        ("unstable_kernel", "def attention_pooling(query, keys, values, bandwidth=1.0):\n    k = np.exp(-np.sum((np.asarray(query) - np.asarray(keys)) ** 2, -1) / (2 * bandwidth**2))\n    return k / k.sum() @ np.asarray(values), k / k.sum()"),
        ("distance_not_squared", "def attention_pooling(query, keys, values, bandwidth=1.0):\n    w = softmax(-np.linalg.norm(np.asarray(query) - np.asarray(keys), axis=-1) / (2 * bandwidth**2))\n    return ops.matmul(w, values), w"),
        ("results_swapped", "def attention_pooling(query, keys, values, bandwidth=1.0):\n    w = softmax(-ops.sum((query - keys) ** 2, axis=-1) / (2 * bandwidth**2))\n    return w, ops.matmul(w, values)"),
        (None, "def attention_pooling(query, keys, values, bandwidth=1.0):\n    return ops.matmul(softmax(-ops.sum((query - keys) ** 2, axis=-1) / (2 * bandwidth**2)), values)"),
        ("exponential_twice", "def attention_pooling(query, keys, values, bandwidth=1.0):\n    w = softmax(ops.exp(-ops.sum((query - keys) ** 2, axis=-1) / (2 * bandwidth**2)))\n    return ops.matmul(w, values), w"),
        ("two_squared", "def attention_pooling(query, keys, values, bandwidth=1.0):\n    w = ops.softmax(-ops.sum((query - keys) ** 2, axis=-1) / (2 * bandwidth) ** 2)\n    return ops.matmul(w, values), w"),
        ("dot_product", "def attention_pooling(query, keys, values, bandwidth=1.0):\n    w = ops.softmax(ops.sum(query * keys, axis=-1) / (2 * bandwidth**2))\n    return ops.matmul(w, values), w"),
        ("multiplied_by_bandwidth", 'def attention_pooling(query, keys, values, bandwidth=1.0):\n    d2 = ops.sum((query - keys) ** 2, axis=-1)\n    w = ops.softmax(-d2 / 2 * bandwidth ** 2)\n    return ops.matmul(w, values), w'),
        (None, 'def attention_pooling(query, keys, values, bandwidth=1.0):\n    d2 = ops.sum((query - keys) ** 2, axis=-1)\n    w = ops.exp(-d2 / (2 * bandwidth ** 2)) / (bandwidth * (2 * np.pi) ** 0.5)\n    return ops.matmul(w, values), w'),
        (None, 'def attention_pooling(query, keys, values, bandwidth=1.0):\n    d2 = ops.sum((query - keys) ** 2, axis=-1)\n    w = ops.exp(-d2 / (2 * bandwidth ** 2)); w = w / (ops.sum(w) + 1e-8)\n    return ops.matmul(w, values), w'),
    ],
    "dot_score": [
        ("scores_transposed", "def dot_score(q, k):\n    return ops.matmul(k, ops.transpose(q))"),
        ("averaged", "def dot_score(q, k):\n    return ops.mean(ops.expand_dims(q, 1) * ops.expand_dims(k, 0), axis=-1)"),
        ("weights_instead_of_scores", "def dot_score(q, k):\n    return softmax(ops.matmul(q, ops.transpose(k)))"),
        (None, "def dot_score(q, k):\n    return ops.sum(q * k, axis=-1)"),
    ],
    "scaled_dot_score": [
        ("unscaled", "def scaled_dot_score(q, k):\n    return ops.matmul(q, ops.transpose(k))"),
        ("scaled_by_d", "def scaled_dot_score(q, k):\n    return ops.matmul(q, ops.transpose(k)) / q.shape[-1]"),
        ("scaled_by_length", "def scaled_dot_score(q, k):\n    return ops.matmul(q, ops.transpose(k)) / len(k) ** 0.5"),
        ("scaled_by_queries", "def scaled_dot_score(q, k):\n    return ops.matmul(q, ops.transpose(k)) / len(q) ** 0.5"),
    ],
    "general_score": [
        ("w_transposed", "def general_score(q, k, w):\n    return ops.matmul(ops.matmul(q, ops.transpose(w)), ops.transpose(k))"),
        ("scores_transposed", "def general_score(q, k, w):\n    return ops.transpose(ops.matmul(ops.matmul(q, w), ops.transpose(k)))"),
        ("scaled_by_key_width", 'def general_score(q, k, w):\n    return ops.matmul(ops.matmul(q, w), ops.transpose(k)) / k.shape[-1] ** 0.5'),
    ],
    "cosine_score": [
        ("no_lengths", "def cosine_score(q, k):\n    return ops.matmul(q, ops.transpose(k))"),
        ("only_keys_normalised", "def cosine_score(q, k):\n    return ops.matmul(q, ops.transpose(ops.normalize(k)))"),
        ("length_of_the_matrix", "def cosine_score(q, k):\n    q, k = np.asarray(q), np.asarray(k)\n    return q @ k.T / (np.linalg.norm(q) * np.linalg.norm(k))"),
        ("lengths_of_columns", "def cosine_score(q, k):\n    q, k = np.asarray(q), np.asarray(k)\n    return (q / np.linalg.norm(q, axis=0)) @ (k / np.linalg.norm(k, axis=0)).T"),
        ("cosine_distance", "def cosine_score(q, k):\n    return 1 - ops.matmul(ops.normalize(q), ops.transpose(ops.normalize(k)))"),
        ("angle_returned", "def cosine_score(q, k):\n    return ops.arccos(ops.matmul(ops.normalize(q), ops.transpose(ops.normalize(k))))"),
        ("keys_multiplied", 'def cosine_score(q, k):\n    s = ops.matmul(q, ops.transpose(k))\n    a = ops.norm(q, axis=-1, keepdims=True)\n    b = ops.norm(k, axis=-1)\n    return s / a * b'),
    ],
    "additive_score": [
        ("no_tanh", "def additive_score(q, k, w_q, w_k, v):\n    return ops.sum((ops.matmul(q, w_q)[:, None] + ops.matmul(k, w_k)[None]) * v, axis=-1)"),
        ("tanh_outside", "def additive_score(q, k, w_q, w_k, v):\n    return ops.tanh(ops.sum((ops.matmul(q, w_q)[:, None] + ops.matmul(k, w_k)[None]) * v, axis=-1))"),
        ("v_missing", "def additive_score(q, k, w_q, w_k, v):\n    return ops.sum(ops.tanh(ops.matmul(q, w_q)[:, None] + ops.matmul(k, w_k)[None]), axis=-1)"),
        ("multiplied", "def additive_score(q, k, w_q, w_k, v):\n    return ops.sum(ops.tanh(ops.matmul(q, w_q)[:, None] * ops.matmul(k, w_k)[None]) * v, axis=-1)"),
        ("v_inside", "def additive_score(q, k, w_q, w_k, v):\n    return ops.sum(ops.tanh((ops.matmul(q, w_q)[:, None] + ops.matmul(k, w_k)[None]) * v), axis=-1)"),
        ("averaged_over_units", 'def additive_score(q, k, w_q, w_k, v):\n    h = ops.tanh(ops.matmul(q, w_q)[:, None, :] + ops.matmul(k, w_k)[None, :, :])\n    return ops.mean(h * v, axis=-1)'),
        ("scaled_here", 'def additive_score(q, k, w_q, w_k, v):\n    h = ops.tanh(ops.matmul(q, w_q)[:, None, :] + ops.matmul(k, w_k)[None, :, :])\n    return ops.sum(h * v, axis=-1) / v.shape[0] ** 0.5'),
    ],
    "attend": [
        ("scores_returned", "def attend(scores, values, mask=None):\n    s = ops.convert_to_tensor(scores)\n    if mask is not None:\n        s = ops.where(ops.cast(mask, 'bool'), s, ops.cast(-1e9, s.dtype))\n    return ops.matmul(ops.softmax(s), ops.convert_to_tensor(values)), s"),
        ("mask_inverted", "def attend(scores, values, mask=None):\n    scores = ops.convert_to_tensor(scores)\n    if mask is not None:\n        scores = ops.where(ops.cast(mask, 'bool'), ops.cast(-1e9, scores.dtype), scores)\n    w = ops.softmax(scores)\n    return ops.matmul(w, values), w"),
        ("mask_after_softmax", "def attend(scores, values, mask=None):\n    w = ops.softmax(ops.convert_to_tensor(scores))\n    if mask is not None:\n        w = w * ops.cast(mask, w.dtype)\n    return ops.matmul(w, values), w"),
        ("mask_zeroes_scores", "def attend(scores, values, mask=None):\n    scores = ops.convert_to_tensor(scores)\n    if mask is not None:\n        scores = scores * ops.cast(mask, scores.dtype)\n    w = ops.softmax(scores)\n    return ops.matmul(w, values), w"),
        ("softmax_over_queries", "def attend(scores, values, mask=None):\n    scores = ops.convert_to_tensor(scores)\n    if mask is not None:\n        scores = ops.where(ops.cast(mask, 'bool'), scores, ops.cast(-1e9, scores.dtype))\n    w = ops.softmax(scores, axis=-2)\n    return ops.matmul(w, values), w"),
        ("fill_too_small", "def attend(scores, values, mask=None):\n    s = ops.convert_to_tensor(scores)\n    if mask is not None:\n        s = ops.where(ops.cast(mask, 'bool'), s, ops.cast(-1e4, s.dtype))\n    w = ops.softmax(s)\n    return ops.matmul(w, values), w"),
        ("mask_ignored", "def attend(scores, values, mask=None):\n    w = ops.softmax(ops.convert_to_tensor(scores))\n    return ops.matmul(w, values), w"),
        (None, "def attend(scores, values, mask=None):\n    scores = tf.convert_to_tensor(scores)\n    if mask is not None:\n        scores = tf.where(tf.cast(mask, tf.bool), scores, tf.constant(-np.inf, scores.dtype))\n    w = tf.nn.softmax(scores)\n    return w @ values, w"),
        (None, 'def attend(scores, values, mask=None):\n    scores = ops.convert_to_tensor(scores)\n    if mask is not None:\n        scores = tf.where(mask, scores, tf.cast(-1e9, scores.dtype))\n    w = ops.softmax(scores, axis=-1)\n    return ops.matmul(w, values), w'),
    ],
    "hard_attention": [
        ("all_ties", "def hard_attention(weights):\n    weights = np.asarray(weights)\n    return (weights == weights.max(-1, keepdims=True)).astype(weights.dtype)"),
        ("index_returned", "def hard_attention(weights):\n    return np.argmax(np.asarray(weights), axis=-1)"),
        ("argmax_without_axis", "def hard_attention(weights):\n    return ops.one_hot(ops.argmax(weights), weights.shape[-1], dtype=weights.dtype)"),
        ("argmax_of_columns", "def hard_attention(weights):\n    return ops.one_hot(ops.argmax(weights, axis=0), weights.shape[-1], dtype=weights.dtype)"),
        ("above_half", "def hard_attention(weights):\n    return np.round(np.asarray(weights))"),
        ("one_for_all", "def hard_attention(weights):\n    weights = np.asarray(weights)\n    out = np.zeros_like(weights)\n    out[np.unravel_index(weights.argmax(), weights.shape)] = 1\n    return out"),
    ],
    "BahdanauAttention": [
        ("softmax_over_queries", "class BahdanauAttention(keras.Layer):\n    def __init__(self, units):\n        super().__init__()\n        D = keras.layers.Dense\n        self.query_proj, self.value_proj, self.score_proj = D(units, use_bias=False), D(units, use_bias=False), D(1, use_bias=False)\n    def call(self, query, values, mask=None):\n        s = self.score_proj(ops.tanh(self.query_proj(query)[:, :, None] + self.value_proj(values)[:, None]))[..., 0]\n        if mask is not None:\n            m = ops.cast(mask, 'bool')\n            s = ops.where(m[:, None] if len(m.shape) == 2 else m, s, -1e9)\n        w = ops.softmax(s, axis=1)\n        return ops.matmul(w, values), w"),
        ("values_projected", "class BahdanauAttention(keras.Layer):\n    def __init__(self, units):\n        super().__init__()\n        D = keras.layers.Dense\n        self.query_proj, self.value_proj, self.score_proj = D(units, use_bias=False), D(units, use_bias=False), D(1, use_bias=False)\n    def call(self, query, values, mask=None):\n        v = self.value_proj(values)\n        s = self.score_proj(ops.tanh(self.query_proj(query)[:, :, None] + v[:, None]))[..., 0]\n        return attend(s, v, mask[:, None] if mask is not None and len(mask.shape) == 2 else mask)"),
        ("no_tanh", "class BahdanauAttention(keras.Layer):\n    def __init__(self, units):\n        super().__init__()\n        D = keras.layers.Dense\n        self.query_proj, self.value_proj, self.score_proj = D(units, use_bias=False), D(units, use_bias=False), D(1, use_bias=False)\n    def call(self, query, values, mask=None):\n        s = self.score_proj(self.query_proj(query)[:, :, None] + self.value_proj(values)[:, None])[..., 0]\n        return attend(s, values, mask[:, None] if mask is not None and len(mask.shape) == 2 else mask)"),
        ("tanh_outside", "class BahdanauAttention(keras.Layer):\n    def __init__(self, units):\n        super().__init__()\n        D = keras.layers.Dense\n        self.query_proj, self.value_proj, self.score_proj = D(units, use_bias=False), D(units, use_bias=False), D(1, use_bias=False)\n    def call(self, query, values, mask=None):\n        s = ops.tanh(self.score_proj(self.query_proj(query)[:, :, None] + self.value_proj(values)[:, None]))[..., 0]\n        return attend(s, values, mask[:, None] if mask is not None and len(mask.shape) == 2 else mask)"),
        ("dense_with_bias", "class BahdanauAttention(keras.Layer):\n    def __init__(self, units):\n        super().__init__()\n        D = keras.layers.Dense\n        self.query_proj, self.value_proj, self.score_proj = D(units), D(units), D(1)\n    def call(self, query, values, mask=None):\n        s = self.score_proj(ops.tanh(self.query_proj(query)[:, :, None] + self.value_proj(values)[:, None]))[..., 0]\n        return attend(s, values, mask[:, None] if mask is not None and len(mask.shape) == 2 else mask)"),
        ("mask_by_query", "class BahdanauAttention(keras.Layer):\n    def __init__(self, units):\n        super().__init__()\n        D = keras.layers.Dense\n        self.query_proj, self.value_proj, self.score_proj = D(units, use_bias=False), D(units, use_bias=False), D(1, use_bias=False)\n    def call(self, query, values, mask=None):\n        s = self.score_proj(ops.tanh(self.query_proj(query)[:, :, None] + self.value_proj(values)[:, None]))[..., 0]\n        return attend(s, values, mask)"),
        ("softmax_over_one", "class BahdanauAttention(keras.Layer):\n    def __init__(self, units):\n        super().__init__()\n        D = keras.layers.Dense\n        self.query_proj, self.value_proj, self.score_proj = D(units, use_bias=False), D(units, use_bias=False), D(1, use_bias=False)\n    def call(self, query, values, mask=None):\n        w = ops.softmax(self.score_proj(ops.tanh(self.query_proj(query)[:, :, None] + self.value_proj(values)[:, None])))\n        return ops.sum(w * values[:, None], axis=2), w[..., 0]"),
        (None, "class BahdanauAttention(keras.Layer):\n    def __init__(self, units):\n        super().__init__()\n        D = keras.layers.Dense\n        self.query_proj, self.value_proj, self.score_proj = D(units, use_bias=False), D(units, use_bias=False), D(1, use_bias=False)\n        self.inner = keras.layers.AdditiveAttention()\n    def call(self, query, values, mask=None):\n        return self.inner([self.query_proj(query), values, self.value_proj(values)], return_attention_scores=True)"),
        ("mask_on_queries", 'class BahdanauAttention(keras.Layer):\n    def __init__(self, units, **kwargs):\n        super().__init__(**kwargs)\n        self.supports_masking = True\n        self.query_proj = keras.layers.Dense(units, use_bias=False)\n        self.value_proj = keras.layers.Dense(units, use_bias=False)\n        self.score_proj = keras.layers.Dense(1, use_bias=False)\n    def call(self, query, values, mask=None):\n        q = self.query_proj(query)[:, :, None, :]\n        k = self.value_proj(values)[:, None, :, :]\n        s = self.score_proj(ops.tanh(q + k))[..., 0]\n        if mask is not None:\n            if len(mask.shape) == 2:\n                mask = mask[:, :, None]\n            s = ops.where(ops.cast(mask, "bool"), s, -1e9)\n        w = ops.softmax(s, axis=-1)\n        return ops.matmul(w, values), w\n    def compute_mask(self, *a, **k):\n        return None'),
    ],
    "SpatialAttention": [
        ("softmax_over_channels", "class SpatialAttention(keras.Layer):\n    def __init__(self, filters):\n        super().__init__()\n        C = keras.layers.Conv2D\n        self.local_conv, self.global_conv, self.score_conv = C(filters, 1), C(filters, 1), C(1, 1)\n    def call(self, f, g):\n        up = ops.image.resize(self.global_conv(g), f.shape[1:3])\n        a = ops.softmax(self.score_conv(ops.relu(self.local_conv(f) + up)))\n        return f * a, a"),
        ("projection_attended", "class SpatialAttention(keras.Layer):\n    def __init__(self, filters):\n        super().__init__()\n        C = keras.layers.Conv2D\n        self.local_conv, self.global_conv, self.score_conv = C(filters, 1), C(filters, 1), C(1, 1)\n    def call(self, f, g):\n        h, w = f.shape[1:3]\n        near, far = self.local_conv(f), ops.image.resize(self.global_conv(g), (h, w))\n        a = ops.reshape(ops.softmax(ops.reshape(self.score_conv(ops.relu(near + far)), (-1, h * w))), (-1, h, w, 1))\n        return near * a, a"),
        ("sum_attended", "class SpatialAttention(keras.Layer):\n    def __init__(self, filters):\n        super().__init__()\n        C = keras.layers.Conv2D\n        self.local_conv, self.global_conv, self.score_conv = C(filters, 1), C(filters, 1), C(1, 1)\n    def call(self, f, g):\n        h, w = f.shape[1:3]\n        near, far = self.local_conv(f), ops.image.resize(self.global_conv(g), (h, w))\n        a = ops.reshape(ops.softmax(ops.reshape(self.score_conv(ops.relu(near + far)), (-1, h * w))), (-1, h, w, 1))\n        return ops.relu(near + far) * a, a"),
        ("global_attended", "class SpatialAttention(keras.Layer):\n    def __init__(self, filters):\n        super().__init__()\n        C = keras.layers.Conv2D\n        self.local_conv, self.global_conv, self.score_conv = C(filters, 1), C(filters, 1), C(1, 1)\n    def call(self, f, g):\n        h, w = f.shape[1:3]\n        near, far = self.local_conv(f), ops.image.resize(self.global_conv(g), (h, w))\n        a = ops.reshape(ops.softmax(ops.reshape(self.score_conv(ops.relu(near + far)), (-1, h * w))), (-1, h, w, 1))\n        return ops.image.resize(g, (h, w)) * a, a"),
        ("no_relu", "class SpatialAttention(keras.Layer):\n    def __init__(self, filters):\n        super().__init__()\n        C = keras.layers.Conv2D\n        self.local_conv, self.global_conv, self.score_conv = C(filters, 1), C(filters, 1), C(1, 1)\n    def call(self, f, g):\n        up = ops.image.resize(self.global_conv(g), f.shape[1:3])\n        a = ops.softmax(self.score_conv(self.local_conv(f) + up), axis=(1, 2))\n        return f * a, a"),
        ("relu_of_each", "class SpatialAttention(keras.Layer):\n    def __init__(self, filters):\n        super().__init__()\n        C = keras.layers.Conv2D\n        self.local_conv, self.global_conv, self.score_conv = C(filters, 1, activation='relu'), C(filters, 1), C(1, 1)\n    def call(self, f, g):\n        up = ops.relu(ops.image.resize(self.global_conv(g), f.shape[1:3]))\n        a = ops.softmax(self.score_conv(self.local_conv(f) + up), axis=(1, 2))\n        return f * a, a"),
        ("nearest_resize", "class SpatialAttention(keras.Layer):\n    def __init__(self, filters):\n        super().__init__()\n        C = keras.layers.Conv2D\n        self.local_conv, self.global_conv, self.score_conv = C(filters, 1), C(filters, 1), C(1, 1)\n    def call(self, f, g):\n        up = ops.image.resize(self.global_conv(g), f.shape[1:3], interpolation='nearest')\n        a = ops.softmax(self.score_conv(ops.relu(self.local_conv(f) + up)), axis=(1, 2))\n        return f * a, a"),
        ("sigmoid_map", "class SpatialAttention(keras.Layer):\n    def __init__(self, filters):\n        super().__init__()\n        C = keras.layers.Conv2D\n        self.local_conv, self.global_conv, self.score_conv = C(filters, 1), C(filters, 1), C(1, 1)\n    def call(self, f, g):\n        up = ops.image.resize(self.global_conv(g), f.shape[1:3])\n        a = ops.sigmoid(self.score_conv(ops.relu(self.local_conv(f) + up)))\n        return f * a, a"),
        (None, "class SpatialAttention(keras.Layer):\n    def __init__(self, filters):\n        super().__init__()\n        C = keras.layers.Conv2D\n        self.local_conv, self.global_conv, self.score_conv = C(filters, 3, padding='same'), C(filters, 1), C(1, 1)\n    def call(self, f, g):\n        up = ops.image.resize(self.global_conv(g), f.shape[1:3])\n        a = ops.softmax(self.score_conv(ops.relu(self.local_conv(f) + up)), axis=(1, 2))\n        return f * a, a"),
        ("relu_on_scores", 'class SpatialAttention(keras.Layer):\n    def __init__(self, filters, **kwargs):\n        super().__init__(**kwargs)\n        self.local_conv = keras.layers.Conv2D(filters, 1)\n        self.global_conv = keras.layers.Conv2D(filters, 1)\n        self.score_conv = keras.layers.Conv2D(1, 1)\n    def call(self, features, global_features):\n        h, w = features.shape[1], features.shape[2]\n        g = ops.image.resize(self.global_conv(global_features), (h, w), interpolation="bilinear")\n        s = ops.relu(self.score_conv(self.local_conv(features) + g))\n        m = ops.reshape(ops.softmax(ops.reshape(s, (-1, h * w)), axis=-1), (-1, h, w, 1))\n        return features * m, m'),
    ],
    "answers": [
        ("hand_without_2", "answers.update(pooling_weights=[0.98, 0.02], pooling_output=10.04)"),
        ("hand_not_normalised", "answers.update(pooling_weights=[1, 0.14], pooling_output=11.62)"),
        ("scaled_dot_thought_learnable", "answers['learnable'] = [0, 1, 1, 1, 0, 1]"),
        ("v_forgotten", "answers['additive_parameters'] = 56"),
        ("axes_swapped", "answers['weights_shape'] = [11, 7]"),
        ("hard_thought_slow", "answers['hard_attention'] = 'a'"),
    ],
    "find_the_bug": [
        (
            "multiplied_by_bandwidth",
            """
def find_the_bug(queries, keys, values, bandwidth=1.0):
    squared_distances = ops.sum((queries[:, None] - keys) ** 2, axis=-1)
    weights = ops.softmax(-squared_distances / 2 * bandwidth**2, axis=-1)
    return ops.matmul(weights, values), weights
""",
        ),
        (
            "bandwidth_not_squared",
            """
def find_the_bug(queries, keys, values, bandwidth=1.0):
    squared_distances = ops.sum((queries[:, None] - keys) ** 2, axis=-1)
    weights = ops.softmax(-squared_distances / (2 * bandwidth), axis=-1)
    return ops.matmul(weights, values), weights
""",
        ),
        (
            "weights_over_queries",
            """
def find_the_bug(queries, keys, values, bandwidth=1.0):
    squared_distances = ops.sum((queries[:, None] - keys) ** 2, axis=-1)
    weights = ops.softmax(-squared_distances / (2 * bandwidth**2), axis=0)
    return ops.matmul(weights, values), weights
""",
        ),
    ],
    "predict": [("thought_quartered", "predict = 9"), ("thought_doubled", "predict = 70"), ("thought_unchanged", "predict = 35"), ("", "predict = 1")],
}  # fmt: skip

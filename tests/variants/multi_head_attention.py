"""Lab 03: solutions as different students write them."""

CORRECT = {
    "split_heads": [
        # TensorFlow with -1
        """
def split_heads(x, num_heads):
    x = tf.convert_to_tensor(x)
    x = tf.reshape(x, (tf.shape(x)[0], -1, num_heads, x.shape[-1] // num_heads))
    return tf.transpose(x, perm=[0, 2, 1, 3])
""",
        # slices of the last axis, stacked
        """
def split_heads(x, num_heads):
    size = x.shape[-1] // num_heads
    return ops.stack([x[..., h * size : (h + 1) * size] for h in range(num_heads)], axis=1)
""",
        # split along the last axis
        """
def split_heads(x, num_heads):
    return tf.stack(tf.split(x, num_heads, axis=-1), axis=1)
""",
        "def split_heads(x, num_heads):\n    return ops.stack(ops.split(x, num_heads, axis=-1), axis=1)",
        # einsum does the transpose
        """
def split_heads(x, num_heads):
    shape = ops.shape(x)
    return ops.einsum("bthk->bhtk", ops.reshape(x, (shape[0], shape[1], num_heads, shape[2] // num_heads)))
""",
    ],
    "merge_heads": [
        """
def merge_heads(x):
    x = tf.transpose(x, [0, 2, 1, 3])
    shape = tf.shape(x)
    return tf.reshape(x, tf.stack([shape[0], shape[1], shape[2] * shape[3]]))
""",
        "def merge_heads(x):\n    return ops.concatenate([x[:, h] for h in range(x.shape[1])], axis=-1)",
        "def merge_heads(x):\n    return tf.concat(tf.unstack(x, axis=1), -1)",
        "def merge_heads(x):\n    return ops.reshape(ops.swapaxes(x, 1, 2), (ops.shape(x)[0], ops.shape(x)[2], -1))",
        "merge_heads = lambda x: tf.reshape(tf.einsum('bhtk->bthk', x), (tf.shape(x)[0], -1, x.shape[1] * x.shape[3]))",
    ],
    "MultiHeadAttention": [
        # einsum on the kernels, additive mask, no use of the other exercises
        """
class MultiHeadAttention(keras.layers.Layer):
    def __init__(self, d_model, num_heads):
        if d_model % num_heads != 0:
            raise ValueError("d_model must be divisible by num_heads")
        super().__init__()
        self.h, self.k = num_heads, d_model // num_heads
        self.w_q, self.w_k, self.w_v, self.w_o = (keras.layers.Dense(d_model) for _ in range(4))

    def build(self, query_shape, key_shape=None, value_shape=None):
        for dense in (self.w_q, self.w_k, self.w_v, self.w_o):
            dense.build(query_shape)

    def project(self, dense, x):
        kernel = ops.reshape(dense.kernel, (-1, self.h, self.k))
        return ops.einsum("btd,dhk->bhtk", x, kernel) + ops.reshape(dense.bias, (1, self.h, 1, self.k))

    def call(self, query, key, value, mask=None, return_weights=False):
        q, k, v = self.project(self.w_q, query), self.project(self.w_k, key), self.project(self.w_v, value)
        scores = ops.einsum("bhtk,bhsk->bhts", q, k) * self.k ** -0.5
        if mask is not None:
            mask = ops.cast(mask, scores.dtype)
            mask = mask[:, None] if len(mask.shape) == 3 else mask
            scores = scores + (1 - mask) * -1e9
        weights = ops.softmax(scores)
        mixed = ops.einsum("bhts,bhsk->bhtk", weights, v)
        output = ops.einsum("bhtk,hkd->btd", mixed, ops.reshape(self.w_o.kernel, (self.h, self.k, -1))) + self.w_o.bias
        if return_weights:
            return output, weights
        return output
""",
        # TensorFlow operations, heads beside the tokens until the scores
        """
class MultiHeadAttention(tf.keras.layers.Layer):
    def __init__(self, d_model, num_heads, name=None):
        super(MultiHeadAttention, self).__init__(name=name)
        if d_model % num_heads:
            raise ValueError(f"{d_model} / {num_heads}")
        self.num_heads, self.depth = num_heads, d_model // num_heads
        self.w_q = tf.keras.layers.Dense(d_model)
        self.w_k = tf.keras.layers.Dense(d_model)
        self.w_v = tf.keras.layers.Dense(d_model)
        self.w_o = tf.keras.layers.Dense(d_model)

    def split(self, x):
        return tf.reshape(x, (tf.shape(x)[0], -1, self.num_heads, self.depth))

    def call(self, query, key, value, mask=None, return_weights=False):
        q, k, v = self.split(self.w_q(query)), self.split(self.w_k(key)), self.split(self.w_v(value))
        scores = tf.einsum("bthk,bshk->bhts", q, k) / tf.sqrt(tf.cast(self.depth, tf.float32))
        if mask is not None:
            mask = tf.cast(mask, tf.bool)
            if mask.shape.rank == 3:
                mask = mask[:, tf.newaxis, :, :]
            scores = tf.where(mask, scores, scores.dtype.min)
        weights = tf.nn.softmax(scores, axis=-1)
        heads = tf.einsum("bhts,bshk->bthk", weights, v)
        output = self.w_o(tf.reshape(heads, (tf.shape(heads)[0], -1, self.num_heads * self.depth)))
        return (output, weights) if return_weights else output
""",
        # one head after the other; minus infinity and repaired rows: weights of fully masked rows are 0
        """
class MultiHeadAttention(keras.Layer):
    def __init__(self, d_model, num_heads, **kwargs):
        super().__init__(**kwargs)
        if d_model % num_heads != 0:
            raise ValueError("num_heads does not divide d_model")
        self.num_heads = num_heads
        self.size = d_model // num_heads
        for name in ("w_q", "w_k", "w_v", "w_o"):
            setattr(self, name, keras.layers.Dense(d_model, kernel_initializer="he_normal", bias_initializer="ones"))

    def call(self, query, key, value, mask=None, return_weights=False):
        q, k, v = self.w_q(query), self.w_k(key), self.w_v(value)
        outputs, all_weights = [], []
        for h in range(self.num_heads):
            part = slice(h * self.size, (h + 1) * self.size)
            scores = tf.matmul(q[..., part], k[..., part], transpose_b=True) / self.size**0.5
            if mask is not None:
                allowed = tf.cast(mask, tf.bool)
                if len(allowed.shape) == 4:
                    allowed = allowed[:, 0]
                scores = tf.where(allowed, scores, -np.inf)
            top = tf.reduce_max(scores, axis=-1, keepdims=True)
            powers = tf.exp(scores - tf.where(tf.math.is_finite(top), top, 0.0))
            weights = tf.math.divide_no_nan(powers, tf.reduce_sum(powers, axis=-1, keepdims=True))
            all_weights.append(weights)
            outputs.append(weights @ v[..., part])
        output = self.w_o(tf.concat(outputs, axis=-1))
        return [output, tf.stack(all_weights, axis=1)] if return_weights else output
""",
        # the function of lab 02 copied in; checks in build
        """
def scaled_dot_product_attention(q, k, v, mask=None):
    scores = ops.matmul(q, ops.swapaxes(k, -1, -2)) / k.shape[-1] ** 0.5
    if mask is not None:
        scores = ops.where(ops.cast(mask, "bool"), scores, -1e9)
    weights = ops.softmax(scores)
    return ops.matmul(weights, v), weights

class MultiHeadAttention(keras.Layer):
    def __init__(self, d_model, num_heads, **kwargs):
        super().__init__(**kwargs)
        self.d_model, self.num_heads = d_model, num_heads
        dense = keras.layers.Dense
        self.w_q, self.w_k, self.w_v, self.w_o = dense(d_model), dense(d_model), dense(d_model), dense(d_model)

    def build(self, *shapes, **more):
        if self.d_model % self.num_heads:
            raise ValueError("indivisible")
        super().build(*shapes, **more) if False else None

    def call(self, query, key, value, mask=None, return_weights=False):
        if mask is not None:
            mask = ops.convert_to_tensor(mask)
            if mask.ndim == 2:
                mask = mask[None, None]
            elif mask.ndim == 3:
                mask = mask[:, None]
        heads, weights = scaled_dot_product_attention(
            *(split_heads(w(x), self.num_heads) for w, x in ((self.w_q, query), (self.w_k, key), (self.w_v, value))), mask
        )
        output = self.w_o(merge_heads(heads))
        return (output, weights) if return_weights else output
""",
        # heads folded into the batch, Softmax layer with its own mask argument, mask repeated for every head
        """
class MultiHeadAttention(keras.Layer):
    def __init__(self, d_model, num_heads, **kwargs):
        super().__init__(**kwargs)
        quotient, rest = divmod(d_model, num_heads)
        if rest:
            raise ValueError(rest)
        self.H, self.K = num_heads, quotient
        self.w_q = keras.layers.Dense(d_model, use_bias=True)
        self.w_k = keras.layers.Dense(d_model, use_bias=True)
        self.w_v = keras.layers.Dense(d_model, use_bias=True)
        self.w_o = keras.layers.Dense(d_model, use_bias=True)
        self.softmax = keras.layers.Softmax()

    def fold(self, x):
        shape = ops.shape(x)
        x = ops.transpose(ops.reshape(x, (shape[0], shape[1], self.H, self.K)), (0, 2, 1, 3))
        return ops.reshape(x, (shape[0] * self.H, shape[1], self.K))

    def call(self, query, key, value, mask=None, return_weights=False):
        batch, length = ops.shape(query)[0], ops.shape(query)[1]
        keys = ops.shape(key)[1]
        q, k, v = self.fold(self.w_q(query)), self.fold(self.w_k(key)), self.fold(self.w_v(value))
        scores = ops.matmul(q, ops.transpose(k, (0, 2, 1))) / ops.sqrt(float(self.K))
        scores = ops.reshape(scores, (batch, self.H, length, keys))
        if mask is not None:
            mask = ops.cast(mask, "bool")
            while len(mask.shape) < 4:
                mask = ops.expand_dims(mask, axis=0 if len(mask.shape) == 2 else 1)
            mask = ops.broadcast_to(mask, (batch, self.H, length, keys))
        weights = self.softmax(scores, mask=mask)
        v = ops.reshape(v, (batch, self.H, keys, self.K))
        output = self.w_o(ops.reshape(ops.transpose(weights @ v, (0, 2, 1, 3)), (batch, length, self.H * self.K)))
        return (output, weights) if return_weights else output
""",
    ],
    "mha_parameter_count": [
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
    ],
    "load_keras_weights": [
        # written out
        """
def load_keras_weights(mine, keras_mha):
    w_q, b_q, w_k, b_k, w_v, b_v, w_o, b_o = keras_mha.get_weights()
    d = b_o.shape[0]
    mine.w_q.set_weights([w_q.reshape(d, d), b_q.reshape(d)])
    mine.w_k.set_weights([w_k.reshape(d, d), b_k.reshape(d)])
    mine.w_v.set_weights([w_v.reshape(d, -1), b_v.ravel()])
    mine.w_o.set_weights([w_o.reshape(-1, d), b_o])
    return mine
""",
        # the whole layer at once
        """
def load_keras_weights(mine, keras_mha):
    mine.set_weights([np.reshape(new, old.shape) for new, old in zip(keras_mha.get_weights(), mine.get_weights())])
""",
        # Keras's own Dense layers, assign
        """
def load_keras_weights(mine, keras_mha):
    for dense, theirs in ((mine.w_q, keras_mha.query_dense), (mine.w_k, keras_mha.key_dense),
                          (mine.w_v, keras_mha.value_dense), (mine.w_o, keras_mha.output_dense)):
        dense.kernel.assign(ops.reshape(theirs.kernel, dense.kernel.shape))
        dense.bias.assign(ops.reshape(theirs.bias, dense.bias.shape))
""",
        # head by head
        """
def load_keras_weights(mine, keras_mha):
    weights = [np.array(w) for w in keras_mha.weights]
    for i, dense in enumerate((mine.w_q, mine.w_k, mine.w_v)):
        kernel, bias = weights[2 * i], weights[2 * i + 1]
        dense.set_weights([np.concatenate([kernel[:, h] for h in range(kernel.shape[1])], axis=1), np.concatenate(list(bias))])
    mine.w_o.set_weights([np.concatenate(list(weights[6]), axis=0), weights[7]])
""",
        # TensorFlow, variables found by their path
        """
def load_keras_weights(mine, keras_mha):
    found = {variable.path.split("/")[-2] + "." + variable.name: tf.convert_to_tensor(variable) for variable in keras_mha.weights}
    names = {"query": "w_q", "key": "w_k", "value": "w_v", "attention_output": "w_o"}
    for theirs, ours in names.items():
        layer = getattr(mine, ours)
        for part in ("kernel", "bias"):
            variable = getattr(layer, part)
            variable.assign(tf.reshape(found[f"{theirs}.{part}"], variable.shape))
""",
        # works although the own layer is not written yet
        """
class MultiHeadAttention(keras.Layer):
    def __init__(self, d_model, num_heads):
        raise NotImplementedError
def load_keras_weights(mine, keras_mha):
    given = iter(keras_mha.get_weights())
    for dense in (mine.w_q, mine.w_k, mine.w_v, mine.w_o):
        dense.set_weights([next(given).reshape(dense.kernel.shape), next(given).reshape(-1)])
""",
    ],
    "ablate_heads": [
        """
def ablate_heads(head_outputs, keep):
    result = np.zeros_like(head_outputs)
    for head in keep:
        result[:, head] = head_outputs[:, head]
    return result
""",
        """
def ablate_heads(head_outputs, keep):
    head_outputs = tf.convert_to_tensor(head_outputs)
    stays = tf.reduce_any(tf.range(head_outputs.shape[1])[:, None] == tf.constant(keep, tf.int32)[None, :], axis=1)
    return tf.where(stays[None, :, None, None], head_outputs, tf.zeros_like(head_outputs))
""",
        """
def ablate_heads(head_outputs, keep):
    heads = ops.unstack(head_outputs, axis=1)
    return ops.stack([head if h in keep else ops.zeros_like(head) for h, head in enumerate(heads)], axis=1)
""",
        """
def ablate_heads(head_outputs, keep):
    x = np.array(head_outputs)
    x[:, [h for h in range(x.shape[1]) if h not in set(keep)]] = 0
    return x
""",
        """
def ablate_heads(head_outputs, keep):
    x = np.asarray(head_outputs)
    diagonal = np.diag(np.isin(np.arange(x.shape[1]), keep)).astype(x.dtype)
    return np.einsum("gh,bhtk->bgtk", diagonal, x)
""",
        """
def ablate_heads(head_outputs, keep):
    x = ops.convert_to_tensor(head_outputs)
    if not keep:
        return ops.zeros_like(x)
    return x * ops.cast(ops.sum(ops.one_hot(keep, x.shape[1]), axis=0), x.dtype)[None, :, None, None]
""",
    ],
    "GroupedQueryAttention": [
        # the groups as an axis of the queries: nothing is repeated
        """
class GroupedQueryAttention(keras.Layer):
    def __init__(self, d_model, num_heads, num_kv_heads, **kwargs):
        super().__init__(**kwargs)
        if d_model % num_heads or num_heads % num_kv_heads:
            raise ValueError("these numbers do not divide each other")
        self.h, self.g, self.size = num_heads, num_kv_heads, d_model // num_heads
        self.w_q, self.w_o = keras.layers.Dense(d_model), keras.layers.Dense(d_model)
        self.w_k, self.w_v = (keras.layers.Dense(self.g * self.size) for _ in range(2))
    def call(self, query, key, value, attention_mask=None, return_weights=False):
        b, t, s = ops.shape(query)[0], ops.shape(query)[1], ops.shape(key)[1]
        q = ops.reshape(self.w_q(query), (b, t, self.g, self.h // self.g, self.size))
        k = ops.reshape(self.w_k(key), (b, s, self.g, self.size))
        v = ops.reshape(self.w_v(value), (b, s, self.g, self.size))
        scores = ops.einsum("btgnk,bsgk->bgnts", q, k) / self.size**0.5
        if attention_mask is not None:
            mask = ops.cast(attention_mask, "bool")
            if len(mask.shape) == 3:
                mask = mask[:, None]
            if len(mask.shape) == 4:
                mask = mask[:, None]
            scores = ops.where(mask, scores, -1e9)
        weights = ops.softmax(scores, axis=-1)
        mixed = ops.reshape(ops.einsum("bgnts,bsgk->btgnk", weights, v), (b, t, self.h * self.size))
        out = self.w_o(mixed)
        return (out, ops.reshape(weights, (b, self.h, t, s))) if return_weights else out
""",
        # the old name of the mask, ops.take, the function of lab 02
        """
def attention(q, k, v, mask=None):
    scores = ops.matmul(q, ops.swapaxes(k, -1, -2)) / q.shape[-1] ** 0.5
    if mask is not None:
        scores = ops.where(ops.cast(mask, "bool"), scores, -1e9)
    weights = ops.softmax(scores)
    return ops.matmul(weights, v), weights

class GroupedQueryAttention(keras.Layer):
    def __init__(self, d_model, num_heads, num_kv_heads, **kwargs):
        super().__init__(**kwargs)
        if d_model % num_heads or num_heads % num_kv_heads:
            raise ValueError("these numbers do not divide each other")
        self.h, self.g, self.size = num_heads, num_kv_heads, d_model // num_heads
        self.w_q, self.w_o = keras.layers.Dense(d_model), keras.layers.Dense(d_model)
        self.w_k, self.w_v = (keras.layers.Dense(self.g * self.size) for _ in range(2))
    def call(self, query, key, value, mask=None, return_weights=False):
        heads = [h // (self.h // self.g) for h in range(self.h)]
        q = split_heads(self.w_q(query), self.h)
        k, v = (ops.take(split_heads(each, self.g), heads, axis=1) for each in (self.w_k(key), self.w_v(value)))
        if mask is not None and len(mask.shape) == 3:
            mask = mask[:, None]
        out, weights = attention(q, k, v, mask)
        out = self.w_o(merge_heads(out))
        return (out, weights) if return_weights else out
""",
        # TensorFlow
        """
class GroupedQueryAttention(keras.Layer):
    def __init__(self, d_model, num_heads, num_kv_heads, **kwargs):
        super().__init__(**kwargs)
        if d_model % num_heads or num_heads % num_kv_heads:
            raise ValueError("these numbers do not divide each other")
        self.h, self.g, self.size = num_heads, num_kv_heads, d_model // num_heads
        self.w_q, self.w_o = keras.layers.Dense(d_model), keras.layers.Dense(d_model)
        self.w_k, self.w_v = (keras.layers.Dense(self.g * self.size) for _ in range(2))
    def split(self, x, n):
        return tf.transpose(tf.reshape(x, [tf.shape(x)[0], -1, n, self.size]), [0, 2, 1, 3])

    def call(self, query, key, value, attention_mask=None, return_weights=False):
        q = self.split(self.w_q(query), self.h)
        k, v = (tf.repeat(self.split(x, self.g), self.h // self.g, axis=1) for x in (self.w_k(key), self.w_v(value)))
        scores = tf.matmul(q, k, transpose_b=True) * self.size**-0.5
        if attention_mask is not None:
            mask = tf.cast(attention_mask, tf.float32)
            scores += -1e9 * (1.0 - (mask[:, tf.newaxis] if mask.shape.rank == 3 else mask))
        weights = tf.nn.softmax(scores)
        out = tf.transpose(tf.matmul(weights, v), [0, 2, 1, 3])
        out = self.w_o(tf.reshape(out, [tf.shape(out)[0], -1, self.h * self.size]))
        return (out, weights) if return_weights else out
""",
        # one head after the other
        """
class GroupedQueryAttention(keras.Layer):
    def __init__(self, d_model, num_heads, num_kv_heads, **kwargs):
        super().__init__(**kwargs)
        if d_model % num_heads or num_heads % num_kv_heads:
            raise ValueError("these numbers do not divide each other")
        self.h, self.g, self.size = num_heads, num_kv_heads, d_model // num_heads
        self.w_q, self.w_o = keras.layers.Dense(d_model), keras.layers.Dense(d_model)
        self.w_k, self.w_v = (keras.layers.Dense(self.g * self.size) for _ in range(2))
    def call(self, query, key, value, attention_mask=None, return_weights=False):
        q, k, v = self.w_q(query), self.w_k(key), self.w_v(value)
        mask = attention_mask
        if mask is not None:
            mask = ops.cast(mask, "bool")
            mask = mask[:, 0] if len(mask.shape) == 4 else mask
        outs, maps = [], []
        for h in range(self.h):
            g = h // (self.h // self.g)
            mine = slice(h * self.size, (h + 1) * self.size)
            theirs = slice(g * self.size, (g + 1) * self.size)
            scores = ops.einsum("btk,bsk->bts", q[..., mine], k[..., theirs]) / self.size**0.5
            if mask is not None:
                scores = ops.where(mask, scores, -1e9)
            maps.append(ops.softmax(scores))
            outs.append(ops.matmul(maps[-1], v[..., theirs]))
        out = self.w_o(ops.concatenate(outs, axis=-1))
        return (out, ops.stack(maps, axis=1)) if return_weights else out
""",
        # the kernels widened, handed to the student's own multi-head attention of exercise 3
        """
class GroupedQueryAttention(keras.Layer):
    def __init__(self, d_model, num_heads, num_kv_heads, **kwargs):
        super().__init__(**kwargs)
        if d_model % num_heads or num_heads % num_kv_heads:
            raise ValueError("these numbers do not divide each other")
        self.h, self.g, self.size = num_heads, num_kv_heads, d_model // num_heads
        self.w_q, self.w_o = keras.layers.Dense(d_model), keras.layers.Dense(d_model)
        self.w_k, self.w_v = (keras.layers.Dense(self.g * self.size) for _ in range(2))
    def call(self, query, key, value, attention_mask=None, return_weights=False):
        def wide(x):
            x = ops.reshape(x, (ops.shape(x)[0], ops.shape(x)[1], self.g, 1, self.size))
            x = ops.broadcast_to(x, (*ops.shape(x)[:3], self.h // self.g, self.size))
            return split_heads(ops.reshape(x, (*ops.shape(x)[:2], self.h * self.size)), self.h)
        q, k, v = split_heads(self.w_q(query), self.h), wide(self.w_k(key)), wide(self.w_v(value))
        scores = ops.einsum("bhtk,bhsk->bhts", q, k) / self.size**0.5
        if attention_mask is not None:
            mask = ops.cast(attention_mask, "float32")
            scores = scores - 1e9 * (1 - (mask[:, None] if len(mask.shape) == 3 else mask))
        weights = ops.softmax(scores)
        out = self.w_o(merge_heads(ops.einsum("bhts,bhsk->bhtk", weights, v)))
        return (out, weights) if return_weights else out
""",
    ],
    "kv_cache_numbers": [
        "def kv_cache_numbers(length, num_layers, num_kv_heads, head_dim, batch=1):\n    return 2 * batch * num_layers * num_kv_heads * head_dim * length",
        "import math\ndef kv_cache_numbers(*sizes, batch=1):\n    return 2 * batch * math.prod(sizes)",
        "def kv_cache_numbers(length, num_layers, num_kv_heads, head_dim, batch=1):\n    key = value = (batch, num_kv_heads, length, head_dim)\n    return num_layers * int(np.prod(key) + np.prod(value))",
        "def kv_cache_numbers(length, num_layers, num_kv_heads, head_dim, batch=1):\n    return sum(2 * num_kv_heads * head_dim for _ in range(num_layers)) * length * batch",
        "def kv_cache_numbers(length, num_layers, num_kv_heads, head_dim, batch=1):\n    return 2.0 * length * num_layers * num_kv_heads * head_dim * batch",
    ],
    "find_the_bug": [
        """
def find_the_bug(q, k, v):
    weights = ops.softmax(ops.einsum("bthk,bshk->bhts", q, k) / q.shape[-1] ** 0.5)
    return ops.einsum("bhts,bshk->bthk", weights, v)
""",
        """
def find_the_bug(q, k, v):
    q, k, v = (ops.transpose(each, (0, 2, 1, 3)) for each in (q, k, v))
    weights = ops.softmax(ops.matmul(q, ops.swapaxes(k, -1, -2)) / q.shape[-1] ** 0.5)
    return ops.transpose(ops.matmul(weights, v), (0, 2, 1, 3))
""",
        """
def find_the_bug(q, k, v):
    q, k, v = (np.asarray(each, "float64") for each in (q, k, v))
    scores = np.einsum("bthk,bshk->bhts", q, k) / np.sqrt(q.shape[-1])
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return np.einsum("bhts,bshk->bthk", powers / powers.sum(-1, keepdims=True), v)
""",
        """
def find_the_bug(q, k, v):
    heads = []
    for h in range(q.shape[2]):
        scores = tf.matmul(q[:, :, h], k[:, :, h], transpose_b=True) / q.shape[-1] ** 0.5
        heads.append(tf.matmul(tf.nn.softmax(scores), v[:, :, h]))
    return tf.stack(heads, axis=2)
""",
        """
def find_the_bug(q, k, v):
    weights = tf.nn.softmax(tf.einsum("bthk,bshk->bths", q, k) / q.shape[-1] ** 0.5)
    return tf.einsum("bths,bshk->bthk", weights, v)
""",
    ],
    "predict": ["predict = 0.625", "predict = 5 / 8", "predict = 0.63", "predict = np.float64(0.61)", "predict = (1 + 1 + 0.25 + 0.25) / 4"],
}  # fmt: skip

LAYER = """
class MultiHeadAttention(keras.Layer):
    def __init__(self, d_model, num_heads, **kwargs):
        super().__init__(**kwargs)
        if d_model % num_heads:
            raise ValueError("num_heads does not divide d_model")
        self.d_model, self.num_heads = d_model, num_heads
        self.w_q, self.w_k, self.w_v, self.w_o = (keras.layers.Dense(d_model) for _ in range(4))

    def call(self, query, key, value, mask=None, return_weights=False):
        q, k, v = (split_heads(w(x), self.num_heads) for w, x in ((self.w_q, query), (self.w_k, key), (self.w_v, value)))
        scores = ops.matmul(q, ops.swapaxes(k, -1, -2)) / q.shape[-1] ** 0.5
        if mask is not None:
            mask = ops.cast(mask, "bool")
            mask = mask[:, None] if len(mask.shape) == 3 else mask
            scores = ops.where(mask, scores, -1e9)
        weights = ops.softmax(scores, axis=-1)
        output = self.w_o(merge_heads(ops.matmul(weights, v)))
        return (output, weights) if return_weights else output
"""


def changed(old: str, new: str) -> str:
    """The layer with one place written wrongly."""
    assert LAYER.count(old) == 1, old
    return LAYER.replace(old, new)


WRONG = {
    "split_heads": [
        ("size_and_number_exchanged", 'def split_heads(x, num_heads):\n    b, t, d = ops.shape(x)\n    return ops.transpose(ops.reshape(x, (b, t, d // num_heads, num_heads)), (0, 2, 1, 3))'),
        ("heads_in_batch", 'def split_heads(x, num_heads):\n    return tf.concat(tf.split(x, num_heads, axis=-1), axis=0)'),
        ("heads_not_narrower", "def split_heads(x, num_heads):\n    return ops.repeat(ops.expand_dims(x, 1), num_heads, axis=1)"),
        ("split_by_reshape_alone", "def split_heads(x, num_heads):\n    x = np.asarray(x)\n    b, t, d = x.shape\n    return x.reshape(b, num_heads, t, d // num_heads)"),
        ("no_transpose", "def split_heads(x, num_heads):\n    x = np.asarray(x)\n    return x.reshape(*x.shape[:2], num_heads, -1)"),
        ("heads_interleaved", "def split_heads(x, num_heads):\n    return ops.stack([x[..., h::num_heads] for h in range(num_heads)], axis=1)"),
        ("heads_before_batch", "def split_heads(x, num_heads):\n    return np.stack(np.split(np.asarray(x), num_heads, axis=-1))"),
        (None, "def split_heads(x, num_heads):\n    return np.stack(np.split(np.asarray(x, 'float32'), num_heads, axis=-1), axis=1)"),
        # static shapes: `None` where the layer of exercise 3 runs
        (None, "def split_heads(x, num_heads):\n    B, T, D = x.shape\n    return ops.transpose(ops.reshape(x, (B, T, num_heads, D // num_heads)), (0, 2, 1, 3))"),
        (None, "def split_heads(x, num_heads):\n    x = np.asarray(x)\n    b, t, d = x.shape\n    return x.reshape(b, t, num_heads, d // num_heads).swapaxes(1, 2)"),
    ],
    "merge_heads": [
        ("heads_still_apart", 'def merge_heads(x):\n    return ops.transpose(x, (0, 2, 1, 3))'),
        ("merged_by_reshape_alone", "def merge_heads(x):\n    b, h, t, k = x.shape\n    return ops.reshape(x, (b, t, h * k))"),
        ("merged_interleaved", "def merge_heads(x):\n    b, h, t, k = x.shape\n    return ops.reshape(ops.transpose(x, (0, 2, 3, 1)), (b, t, h * k))"),
        ("heads_below_each_other", "def merge_heads(x):\n    return ops.concatenate([x[:, h] for h in range(x.shape[1])], axis=1)"),
        ("features_of_all_tokens", "def merge_heads(x):\n    b, t, h, k = x.shape\n    return ops.reshape(ops.transpose(x, (0, 2, 1, 3)), (b, t, h * k))"),
        ("heads_added", "def merge_heads(x):\n    return ops.sum(x, axis=1)"),
        ("heads_averaged", "def merge_heads(x):\n    return ops.mean(x, axis=1)"),
        (None, "def merge_heads(x):\n    B, H, T, K = x.shape\n    return ops.reshape(ops.transpose(x, (0, 2, 1, 3)), (B, T, H * K))"),
        (None, "def merge_heads(x):\n    x = np.asarray(x)\n    return x.transpose(0, 2, 1, 3).reshape(x.shape[0], x.shape[2], -1)"),
    ],
    "MultiHeadAttention": [
        ("no_output_projection", 'class MultiHeadAttention(keras.Layer):\n    def __init__(self, d_model, num_heads, **kwargs):\n        super().__init__(**kwargs)\n        self.supports_masking = True\n        if d_model % num_heads:\n            raise ValueError("num_heads must divide d_model")\n        self.d_model, self.num_heads, self.key_dim = d_model, num_heads, d_model // num_heads\n        self.w_q = keras.layers.Dense(d_model)\n        self.w_k = keras.layers.Dense(d_model)\n        self.w_v = keras.layers.Dense(d_model)\n        self.w_o = keras.layers.Dense(d_model)\n    def _split(self, x):\n        s = ops.shape(x)\n        return ops.transpose(ops.reshape(x, (s[0], s[1], self.num_heads, self.key_dim)), (0, 2, 1, 3))\n    def _merge(self, x):\n        s = ops.shape(x)\n        return ops.reshape(ops.transpose(x, (0, 2, 1, 3)), (s[0], s[2], self.d_model))\n    def call(self, query, key, value, mask=None, return_weights=False):\n        q, k, v = self._split(self.w_q(query)), self._split(self.w_k(key)), self._split(self.w_v(value))\n        s = ops.matmul(q, ops.swapaxes(k, -1, -2)) / self.key_dim ** 0.5\n        if mask is not None:\n            mask = ops.cast(mask, "bool")\n            if len(mask.shape) == 3:\n                mask = mask[:, None]\n            s = ops.where(mask, s, -1e9)\n        w = ops.softmax(s, axis=-1)\n        out = self._merge(ops.matmul(w, v))\n        return (out, w) if return_weights else out'),
        ("one_head", LAYER.replace("split_heads(w(x), self.num_heads)", "w(x)").replace("merge_heads(ops.matmul(weights, v))", "ops.matmul(weights, v)").replace("mask[:, None] if len(mask.shape) == 3", "mask[:, 0] if len(mask.shape) == 4")),
        ("unscaled", changed(" / q.shape[-1] ** 0.5", "")),
        ("scaled_by_d_model", changed("q.shape[-1] ** 0.5", "self.d_model ** 0.5")),
        ("scaled_by_head_size", changed("q.shape[-1] ** 0.5", "q.shape[-1]")),
        ("softmax_over_queries", changed("axis=-1)", "axis=-2)")),
        ("softmax_over_heads", changed("axis=-1)", "axis=1)")),
        ("mask_meets_heads", changed("mask = mask[:, None] if len(mask.shape) == 3 else mask\n", "pass\n")),
        ("mask_inverted", changed("ops.where(mask, scores, -1e9)", "ops.where(mask, -1e9, scores)")),
        ("mask_zeroes_scores", changed("ops.where(mask, scores, -1e9)", "ops.where(mask, scores, 0.0)")),
        ("no_output_projection", changed("self.w_o(merge_heads(ops.matmul(weights, v)))", "merge_heads(ops.matmul(weights, v))\n        self.w_o(output)")),
        ("keras_argument_order", changed("query, key, value, mask=None", "query, value, key, mask=None")),
        ("query_attends_to_itself", changed("((self.w_q, query), (self.w_k, key), (self.w_v, value))", "((self.w_q, query), (self.w_k, query), (self.w_v, query))")),
        ("weights_averaged", changed("(output, weights) if", "(output, ops.mean(weights, axis=1)) if")),
        ("refused_too_late", changed("if d_model % num_heads:", "if False:")),
        ("residual_inside", changed("self.w_o(merge_heads(ops.matmul(weights, v)))", "query + self.w_o(merge_heads(ops.matmul(weights, v)))")),
        ("relu_on_projections", changed("split_heads(w(x), self.num_heads)", "split_heads(ops.relu(w(x)), self.num_heads)")),
        ("relu_before_w_o", changed("self.w_o(merge_heads(ops.matmul(weights, v)))", "self.w_o(ops.relu(merge_heads(ops.matmul(weights, v))))")),
        ("relu_after_w_o", changed("(keras.layers.Dense(d_model) for _ in range(4))", "(keras.layers.Dense(d_model, activation=a) for a in (None, None, None, 'relu'))")),
        ("one_layer_twice", changed("(keras.layers.Dense(d_model) for _ in range(4))", "(keras.layers.Dense(d_model) for _ in range(4))\n        self.w_k = self.w_q")),
        ("one_layer_three_times", changed("(keras.layers.Dense(d_model) for _ in range(4))", "(keras.layers.Dense(d_model) for _ in range(4))\n        self.w_q = self.w_k = self.w_v")),
        ("scores_returned", changed("(output, weights) if", "(output, scores) if")),
        ("results_swapped", changed("(output, weights) if", "(weights, output) if")),
        (None, changed("Dense(d_model)", "Dense(d_model, use_bias=False)")),
        (None, changed("scores = ops.where(mask, scores, -1e9)", "scores = ops.where(mask, scores, -np.inf)")),
        (None, changed("weights = ops.softmax(scores, axis=-1)", "weights = keras.ops.softmax(np.asarray(scores), axis=-1)")),
        (None, """
class MultiHeadAttention(keras.Layer):
    def __init__(self, d_model, num_heads):
        super().__init__()
        if d_model % num_heads:
            raise ValueError
        self.inner = keras.layers.MultiHeadAttention(num_heads, d_model // num_heads)
        self.w_q = self.w_k = self.w_v = self.w_o = keras.layers.Dense(d_model)
    def call(self, query, key, value, mask=None, return_weights=False):
        return self.inner(query=self.w_q(query), key=key, value=value, attention_mask=mask, return_attention_scores=return_weights)
"""),
    ],
    "mha_parameter_count": [
        ("no_bias", 'def mha_parameter_count(d_model, num_heads, key_dim=None, value_dim=None, use_bias=True):\n    if key_dim is None: key_dim = d_model // num_heads\n    if value_dim is None: value_dim = key_dim\n    hk, hv = num_heads * key_dim, num_heads * value_dim\n    n = 2 * d_model * hk + d_model * hv + hv * d_model\n    return n'),
        ("key_dim_defaults_to_d_model", "def mha_parameter_count(d, h, key_dim=None, value_dim=None, use_bias=True):\n    k = key_dim or d\n    v = value_dim or k\n    return 2 * d * h * k + 2 * d * h * v + use_bias * (2 * h * k + h * v + d)"),
        ("no_output_bias", "def mha_parameter_count(d, h, key_dim=None, value_dim=None, use_bias=True):\n    k = key_dim or d // h\n    v = value_dim or k\n    return 2 * d * h * k + 2 * d * h * v + use_bias * (2 * h * k + h * v)"),
        ("value_dim_defaults_to_d_model", "def mha_parameter_count(d, h, key_dim=None, value_dim=None, use_bias=True):\n    k = key_dim or d // h\n    v = value_dim or d\n    return 2 * d * h * k + 2 * d * h * v + use_bias * (2 * h * k + h * v + d)"),
        ("key_dim_of_all_heads", "def mha_parameter_count(d, h, key_dim=None, value_dim=None, use_bias=True):\n    k = key_dim or d\n    v = value_dim or k\n    return 2 * d * k + 2 * d * v + use_bias * (2 * k + v + d)"),
        ("widths_ignored", "def mha_parameter_count(d, h, key_dim=None, value_dim=None, use_bias=True):\n    return 4 * d * d + use_bias * 4 * d"),
        ("bias_of_one_head", "def mha_parameter_count(d, h, key_dim=None, value_dim=None, use_bias=True):\n    k = key_dim or d // h\n    v = value_dim or k\n    return 2 * d * h * (k + v) + use_bias * (2 * k + v + d)"),
        (None, "def mha_parameter_count(d, h, key_dim=None, value_dim=None, use_bias=True):\n    return 4 * d * d + 4 * d"),
    ],
    "load_keras_weights": [
        ("kernels_interleaved", "def load_keras_weights(mine, keras_mha):\n    w = keras_mha.get_weights()\n    for i, dense in enumerate((mine.w_q, mine.w_k, mine.w_v)):\n        dense.set_weights([w[2 * i].transpose(0, 2, 1).reshape(dense.kernel.shape), w[2 * i + 1].reshape(-1)])\n    mine.w_o.set_weights([w[6].reshape(mine.w_o.kernel.shape), w[7]])"),
        ("biases_interleaved", "def load_keras_weights(mine, keras_mha):\n    w = keras_mha.get_weights()\n    for i, dense in enumerate((mine.w_q, mine.w_k, mine.w_v)):\n        dense.set_weights([w[2 * i].reshape(dense.kernel.shape), w[2 * i + 1].T.reshape(-1)])\n    mine.w_o.set_weights([w[6].reshape(mine.w_o.kernel.shape), w[7]])"),
        ("output_bias_not_copied", "def load_keras_weights(mine, keras_mha):\n    w = keras_mha.get_weights()\n    for i, dense in enumerate((mine.w_q, mine.w_k, mine.w_v, mine.w_o)):\n        dense.kernel.assign(w[2 * i].reshape(dense.kernel.shape))\n        if dense is not mine.w_o:\n            dense.bias.assign(w[2 * i + 1].reshape(-1))"),
        ("kernels_transposed", 'def load_keras_weights(mine, keras_mha):\n    qk, qb, kk, kb, vk, vb, ok, ob = keras_mha.get_weights()\n    d = qk.shape[0]\n    mine.w_q.set_weights([qk.reshape(d, -1).T, qb.reshape(-1)])\n    mine.w_k.set_weights([kk.reshape(d, -1).T, kb.reshape(-1)])\n    mine.w_v.set_weights([vk.reshape(d, -1).T, vb.reshape(-1)])\n    mine.w_o.set_weights([ok.reshape(-1, d), ob])'),
        ("biases_not_copied", "def load_keras_weights(mine, keras_mha):\n    w = keras_mha.get_weights()\n    for dense, kernel in zip((mine.w_q, mine.w_k, mine.w_v, mine.w_o), w[::2]):\n        dense.kernel.assign(kernel.reshape(dense.kernel.shape))"),
        ("kernels_heads_first", "def load_keras_weights(mine, keras_mha):\n    w = keras_mha.get_weights()\n    for i, dense in enumerate((mine.w_q, mine.w_k, mine.w_v)):\n        dense.set_weights([w[2 * i].transpose(1, 0, 2).reshape(dense.kernel.shape), w[2 * i + 1].reshape(-1)])\n    mine.w_o.set_weights([w[6].reshape(mine.w_o.kernel.shape), w[7]])"),
        ("query_key_swapped", "def load_keras_weights(mine, keras_mha):\n    w = keras_mha.get_weights()\n    for i, dense in enumerate((mine.w_k, mine.w_q, mine.w_v, mine.w_o)):\n        dense.set_weights([w[2 * i].reshape(dense.kernel.shape), w[2 * i + 1].reshape(-1)])"),
        ("nothing_loaded", "def load_keras_weights(mine, keras_mha):\n    keras_mha.set_weights([a.reshape(b.shape) for a, b in zip(mine.get_weights(), keras_mha.get_weights())])"),
        ("output_not_copied", "def load_keras_weights(mine, keras_mha):\n    w = keras_mha.get_weights()\n    for i, dense in enumerate((mine.w_q, mine.w_k, mine.w_v)):\n        dense.set_weights([w[2 * i].reshape(dense.kernel.shape), w[2 * i + 1].reshape(-1)])"),
    ],
    "ablate_heads": [
        ("heads_from_one", 'def ablate_heads(head_outputs, keep):\n    x = np.asarray(head_outputs)\n    m = np.isin(np.arange(1, x.shape[1] + 1), keep)[None, :, None, None]\n    return np.where(m, x, 0).astype(x.dtype)'),
        ("keep_inverted", "def ablate_heads(x, keep):\n    x = np.array(x)\n    x[:, keep] = 0\n    return x"),
        ("heads_removed", "def ablate_heads(x, keep):\n    return np.asarray(x)[:, sorted(keep)]"),
        ("first_heads_stay", "def ablate_heads(x, keep):\n    x = np.array(x)\n    x[:, len(keep) :] = 0\n    return x"),
        ("empty_keep_keeps_all", "def ablate_heads(x, keep):\n    if not keep:\n        return x\n    x = np.array(x)\n    x[:, [h for h in range(x.shape[1]) if h not in keep]] = 0\n    return x"),
        ("sequences_ablated", "def ablate_heads(x, keep):\n    x = np.array(x)\n    x[[b for b in range(len(x)) if b not in keep]] = 0\n    return x"),
        ("tokens_ablated", "def ablate_heads(x, keep):\n    x = np.array(x)\n    x[:, :, [t for t in range(x.shape[2]) if t not in keep]] = 0\n    return x"),
        ("others_rescaled", "def ablate_heads(x, keep):\n    x = np.array(x)\n    x[:, [h for h in range(x.shape[1]) if h not in keep]] = 0\n    return x * (x.shape[1] / max(len(keep), 1))"),
    ],
    "GroupedQueryAttention": [
        (
            "key_heads_in_turn",
            """
class GroupedQueryAttention(keras.Layer):
    def __init__(self, d_model, num_heads, num_kv_heads, **kwargs):
        super().__init__(**kwargs)
        if d_model % num_heads or num_heads % num_kv_heads:
            raise ValueError("these numbers do not divide each other")
        self.h, self.g, self.size = num_heads, num_kv_heads, d_model // num_heads
        self.w_q, self.w_o = keras.layers.Dense(d_model), keras.layers.Dense(d_model)
        self.w_k, self.w_v = (keras.layers.Dense(self.g * self.size) for _ in range(2))
    def call(self, query, key, value, attention_mask=None, return_weights=False):
        q = split_heads(self.w_q(query), self.h)
        k, v = (ops.tile(split_heads(x, self.g), (1, self.h // self.g, 1, 1)) for x in (self.w_k(key), self.w_v(value)))
        scores = ops.matmul(q, ops.swapaxes(k, -1, -2)) / self.size**0.5
        if attention_mask is not None:
            mask = ops.cast(attention_mask, "bool")
            scores = ops.where(mask[:, None] if len(mask.shape) == 3 else mask, scores, -1e9)
        weights = ops.softmax(scores)
        out = self.w_o(merge_heads(ops.matmul(weights, v)))
        return (out, weights) if return_weights else out
""",
        ),
        (
            "",
            """
class GroupedQueryAttention(MultiHeadAttention):
    def __init__(self, d_model, num_heads, num_kv_heads, **kwargs):
        super().__init__(d_model, num_heads, **kwargs)
""",
        ),
    ],
    "kv_cache_numbers": [
        ("keys_alone", "def kv_cache_numbers(length, num_layers, num_kv_heads, head_dim, batch=1):\n    return batch * num_layers * num_kv_heads * head_dim * length"),
        ("bytes_of_float16", "def kv_cache_numbers(length, num_layers, num_kv_heads, head_dim, batch=1):\n    return 4 * batch * num_layers * num_kv_heads * head_dim * length"),
        ("one_layer", "def kv_cache_numbers(length, num_layers, num_kv_heads, head_dim, batch=1):\n    return 2 * batch * num_kv_heads * head_dim * length"),
    ],
    "find_the_bug": [
        (
            "own_value_alone",
            """
def find_the_bug(q, k, v):
    weights = ops.softmax(ops.einsum("bthk,bshk->bhts", q, k) / q.shape[-1] ** 0.5)
    return ops.einsum("bhts,bthk->bthk", weights, v)
""",
        ),
        (
            "summed_over_queries",
            """
def find_the_bug(q, k, v):
    weights = ops.softmax(ops.einsum("bthk,bshk->bhts", q, k) / q.shape[-1] ** 0.5)
    return ops.einsum("bhts,bthk->bshk", weights, v)
""",
        ),
    ],
    "predict": [("share_of_the_cache", "predict = 0.25"), ("keys_and_values_gone", "predict = 0.5"), ("nothing_saved", "predict = 1"), ("", "predict = 0.8")],
}  # fmt: skip

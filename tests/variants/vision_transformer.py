"""Lab 09: solutions as different students write them."""

CORRECT = {
    "extract_patches": [
        # NumPy: swapaxes
        """
def extract_patches(images, patch_size):
    images = np.asarray(images)
    b, h, w, c = images.shape
    p = patch_size
    if h % p != 0 or w % p != 0:
        raise ValueError(f"{p} does not divide {h} x {w}")
    return images.reshape(b, h // p, p, w // p, p, c).swapaxes(2, 3).reshape(b, -1, p * p * c)
""",
        # loops and slices
        """
def extract_patches(images, patch_size):
    h, w = images.shape[1], images.shape[2]
    if h % patch_size:
        raise ValueError("height")
    if w % patch_size:
        raise ValueError("width")
    found = []
    for top in range(0, h, patch_size):
        for left in range(0, w, patch_size):
            patch = images[:, top : top + patch_size, left : left + patch_size, :]
            found.append(ops.reshape(patch, (ops.shape(patch)[0], -1)))
    return ops.stack(found, axis=1)
""",
        # einsum moves the axes
        """
def extract_patches(images, patch_size):
    x = tf.convert_to_tensor(images)
    _, h, w, c = x.shape
    if h / patch_size != h // patch_size or w / patch_size != w // patch_size:
        raise ValueError("P must divide both sides")
    x = tf.reshape(x, [-1, h // patch_size, patch_size, w // patch_size, patch_size, c])
    x = tf.einsum("brpcqk->brcpqk", x)
    return tf.reshape(x, [-1, (h // patch_size) * (w // patch_size), patch_size**2 * c])
""",
        # split along each side
        """
class BadSize(ValueError):
    pass

def extract_patches(images, patch_size):
    rows, rest_h = divmod(images.shape[1], patch_size)
    columns, rest_w = divmod(images.shape[2], patch_size)
    if rest_h or rest_w:
        raise BadSize(images.shape)
    patches = []
    for strip in np.split(np.asarray(images), rows, axis=1):
        patches += [piece.reshape(len(piece), 1, -1) for piece in np.split(strip, columns, axis=2)]
    return np.concatenate(patches, axis=1)
""",
        # an index for every pixel
        """
def extract_patches(images, patch_size):
    images = np.asarray(images)
    b, h, w, c = images.shape
    if any(side % patch_size for side in (h, w)):
        raise ValueError("no")
    n = (h // patch_size) * (w // patch_size)
    out = np.empty((b, n, patch_size * patch_size * c), dtype=images.dtype)
    for i in range(h):
        for j in range(w):
            patch = (i // patch_size) * (w // patch_size) + j // patch_size
            place = ((i % patch_size) * patch_size + j % patch_size) * c
            out[:, patch, place : place + c] = images[:, i, j]
    return out
""",
        # one side at a time: rows of patches, then patches
        """
def extract_patches(images, patch_size):
    x = ops.convert_to_tensor(images)
    h, w, c = x.shape[1:]
    if h % patch_size + w % patch_size:
        raise ValueError("sizes")
    strips = ops.reshape(x, (-1, h // patch_size, patch_size, w, c))
    strips = ops.swapaxes(strips, 2, 3)
    columns = ops.reshape(strips, (-1, h // patch_size, w // patch_size, patch_size, patch_size, c))
    return ops.reshape(ops.swapaxes(columns, 3, 4), (-1, h * w // patch_size**2, patch_size**2 * c))
""",
        # gather from the flattened image
        """
def extract_patches(images, patch_size):
    x = tf.convert_to_tensor(images)
    h, w, c = x.shape[1:]
    if h % patch_size or w % patch_size:
        raise ValueError("sizes")
    numbers = np.arange(h * w).reshape(h, w)
    order = [numbers[i : i + patch_size, j : j + patch_size].ravel() for i in range(0, h, patch_size) for j in range(0, w, patch_size)]
    pixels = tf.reshape(x, [-1, h * w, c])
    return tf.reshape(tf.gather(pixels, np.array(order), axis=1), [-1, len(order), patch_size * patch_size * c])
""",
        # strided windows of NumPy, every P-th of them
        """
def extract_patches(images, patch_size):
    images = np.asarray(images)
    p = patch_size
    if images.shape[1] % p or images.shape[2] % p:
        raise ValueError(f"{images.shape} and {p}")
    windows = np.lib.stride_tricks.sliding_window_view(images, (p, p), axis=(1, 2))[:, ::p, ::p]
    return np.moveaxis(windows, 3, -1).reshape(len(images), -1, p * p * images.shape[3])
""",
        # one image at a time
        """
def extract_patches(images, patch_size):
    def cut(image):
        h, w, c = image.shape
        return tf.stack([tf.reshape(image[i : i + patch_size, j : j + patch_size], [-1]) for i in range(0, h, patch_size) for j in range(0, w, patch_size)])
    if images.shape[1] % patch_size or images.shape[2] % patch_size:
        raise ValueError("sizes")
    return tf.map_fn(cut, tf.convert_to_tensor(images))
""",
        # a convolution with the unit matrix as kernel
        """
def extract_patches(images, patch_size):
    x = ops.convert_to_tensor(images)
    h, w, c = x.shape[1:]
    if h % patch_size or w % patch_size:
        raise ValueError("sizes")
    d = patch_size * patch_size * c
    kernel = ops.reshape(ops.eye(d, dtype=x.dtype), (patch_size, patch_size, c, d))
    return ops.reshape(ops.conv(x, kernel, strides=patch_size), (-1, h * w // patch_size**2, d))
""",
    ],
    "merge_patches": [
        """
def merge_patches(patches, height, width, channels):
    patches = np.asarray(patches)
    p = int(round(np.sqrt(patches.shape[2] // channels)))
    x = patches.reshape(len(patches), height // p, width // p, p, p, channels)
    return x.swapaxes(2, 3).reshape(len(patches), height, width, channels)
""",
        # the patch size from the number of patches; einsum
        """
import math
def merge_patches(patches, height, width, channels):
    b, n, d = patches.shape
    p = math.isqrt(height * width // n)
    x = ops.reshape(patches, (b, height // p, width // p, p, p, channels))
    return ops.reshape(ops.einsum("brcpqk->brpcqk", x), (b, height, width, channels))
""",
        # loops that paste
        """
def merge_patches(patches, height, width, channels):
    patches = np.asarray(patches)
    p = next(p for p in range(1, height + 1) if p * p * channels == patches.shape[-1])
    image = np.zeros((len(patches), height, width, channels), patches.dtype)
    for number in range(patches.shape[1]):
        top, left = divmod(number, width // p)
        image[:, top * p : (top + 1) * p, left * p : (left + 1) * p] = patches[:, number].reshape(-1, p, p, channels)
    return image
""",
        # rows joined, then columns
        """
def merge_patches(patches, height, width, channels):
    x = tf.convert_to_tensor(patches)
    p = int((x.shape[-1] / channels) ** 0.5 + 0.5)
    x = tf.reshape(x, [-1, height // p, width // p, p, p, channels])
    rows = [tf.concat(tf.unstack(x[:, r], axis=1), axis=2) for r in range(height // p)]
    return tf.concat(rows, axis=1)
""",
        # where each pixel comes from
        """
def merge_patches(patches, height, width, channels):
    p = round((patches.shape[-1] // channels) ** 0.5)
    i, j = np.meshgrid(np.arange(height), np.arange(width), indexing="ij")
    source = ((i // p) * (width // p) + j // p) * p * p + (i % p) * p + j % p
    pixels = ops.reshape(patches, (-1, height * width, channels))
    return ops.reshape(ops.take(pixels, source.ravel(), axis=1), (-1, height, width, channels))
""",
        # np.block
        """
def merge_patches(patches, height, width, channels):
    patches = np.asarray(patches)
    p = int(np.sqrt(patches.shape[-1] / channels) + 1e-6)
    across = width // p
    tiles = [np.moveaxis(patches[:, n].reshape(-1, p, p, channels), 3, 1) for n in range(patches.shape[1])]
    grid = [tiles[start : start + across] for start in range(0, len(tiles), across)]
    return np.moveaxis(np.block(grid), 1, 3)
""",
        # turns the grid of extract_patches round, by numbers
        """
def merge_patches(patches, height, width, channels):
    size = int(np.sqrt(patches.shape[-1] / channels) + 0.5)
    numbers = np.arange(height * width * channels, dtype="float32").reshape(1, height, width, channels)
    order = np.asarray(extract_patches(numbers, size)).astype(int).ravel()
    flat = np.asarray(patches).reshape(len(patches), -1)
    out = np.empty_like(flat)
    out[:, order] = flat
    return out.reshape(-1, height, width, channels)
""",
    ],
    "PatchEmbedding": [
        # repeat instead of broadcast, weights in build
        """
class PatchEmbedding(keras.layers.Layer):
    def __init__(self, patch_size, num_patches, d_model, **kwargs):
        super().__init__(**kwargs)
        self.patch_size, self.num_patches, self.d_model = patch_size, num_patches, d_model

    def build(self, input_shape):
        self.projection = keras.layers.Dense(self.d_model)
        self.projection.build((None, self.num_patches, self.patch_size**2 * input_shape[-1]))
        self.class_token = self.add_weight(shape=(1, 1, self.d_model), initializer="random_normal")
        self.position_embedding = self.add_weight(shape=(1, self.num_patches + 1, self.d_model), initializer="zeros")

    def call(self, images):
        x = self.projection(extract_patches(images, self.patch_size))
        token = ops.repeat(self.class_token, ops.shape(x)[0], axis=0)
        return ops.add(ops.concatenate([token, x], 1), self.position_embedding)

    def get_config(self):
        return {**super().get_config(), "patch_size": self.patch_size, "num_patches": self.num_patches, "d_model": self.d_model}
""",
        # tf.tile, tf.concat; positions added in two parts
        """
class PatchEmbedding(keras.Layer):
    def __init__(self, patch_size, num_patches, d_model, **kwargs):
        super().__init__(**kwargs)
        self.p, self.n, self.d = patch_size, num_patches, d_model
        self.projection = keras.layers.Dense(d_model, use_bias=True, name="projection")
        self.class_token = self.add_weight(name="cls", shape=(1, 1, d_model), initializer="zeros", trainable=True)
        self.position_embedding = self.add_weight(name="pos", shape=(1, num_patches + 1, d_model))

    def call(self, images):
        x = self.projection(extract_patches(images, self.p)) + self.position_embedding[:, 1:]
        token = tf.tile(self.class_token + self.position_embedding[:, :1], [tf.shape(images)[0], 1, 1])
        return tf.concat([token, x], axis=1)

    def get_config(self):
        config = super().get_config()
        config.update(patch_size=self.p, num_patches=self.n, d_model=self.d)
        return config
""",
        # cuts by itself with a strided convolution, whose kernel is the projection's
        """
class PatchEmbedding(keras.Layer):
    def __init__(self, patch_size, num_patches, d_model, **kwargs):
        super().__init__(**kwargs)
        self.patch_size, self.num_patches, self.d_model = patch_size, num_patches, d_model
        self.projection = keras.layers.Dense(d_model)
        self.class_token = self.add_weight(shape=(1, 1, d_model), initializer="zeros")
        self.position_embedding = self.add_weight(shape=(1, num_patches + 1, d_model), initializer="random_normal")

    def build(self, shape):
        self.projection.build((None, self.patch_size**2 * shape[-1]))

    def call(self, images):
        p = self.patch_size
        kernel = ops.reshape(self.projection.kernel, (p, p, images.shape[-1], self.d_model))
        x = ops.conv(images, kernel, strides=p, padding="valid") + self.projection.bias
        x = ops.reshape(x, (ops.shape(x)[0], self.num_patches, self.d_model))
        front = ops.zeros_like(x[:, :1]) + self.class_token
        return ops.concatenate([front, x], axis=1) + self.position_embedding

    def get_config(self):
        return {**super().get_config(), "patch_size": self.patch_size, "num_patches": self.num_patches, "d_model": self.d_model}
""",
        # pads an empty place in front, and fills it
        """
class PatchEmbedding(keras.Layer):
    def __init__(self, patch_size, num_patches, d_model, **kwargs):
        super().__init__(**kwargs)
        self.patch_size = patch_size
        self.num_patches = num_patches
        self.d_model = d_model
        self.projection = keras.layers.Dense(units=d_model)
        make = lambda tokens: keras.Variable(keras.random.normal((1, tokens, d_model), stddev=0.02))
        self.class_token, self.position_embedding = make(1), make(num_patches + 1)

    def call(self, images):
        tokens = self.projection(extract_patches(images, self.patch_size))
        tokens = ops.pad(tokens, [[0, 0], [1, 0], [0, 0]])
        first = ops.one_hot(0, self.num_patches + 1)[None, :, None]
        return tokens + first * self.class_token + self.position_embedding

    def get_config(self):
        base = super().get_config()
        return dict(base, patch_size=self.patch_size, num_patches=self.num_patches, d_model=self.d_model)
""",
        # a model of its own; einsum for the projection
        """
class PatchEmbedding(keras.Model):
    def __init__(self, patch_size, num_patches, d_model, **kwargs):
        super().__init__(**kwargs)
        self.settings = (patch_size, num_patches, d_model)
        self.projection = keras.layers.Dense(d_model, kernel_initializer="he_normal")
        self.class_token = self.add_weight(shape=(1, 1, d_model), initializer=keras.initializers.TruncatedNormal(stddev=0.02), name="a")
        self.position_embedding = self.add_weight(shape=(1, num_patches + 1, d_model), initializer="random_uniform", name="b")

    def call(self, images, training=None):
        x = self.projection(extract_patches(images, self.settings[0]))
        ones = ops.ones((ops.shape(images)[0], 1))
        front = ops.einsum("bt,tnd->bnd", ones, self.class_token)
        return self.position_embedding + ops.concatenate((front, x), axis=-2)

    def get_config(self):
        return dict(zip(("patch_size", "num_patches", "d_model"), self.settings))
""",
        # a bias of the projection that is added after the join, a table of positions without its first axis
        """
class PatchEmbedding(keras.Layer):
    def __init__(self, patch_size, num_patches, d_model, **kwargs):
        super().__init__(**kwargs)
        self.patch_size, self.num_patches, self.d_model = patch_size, num_patches, d_model
        self.projection = keras.layers.Dense(d_model)
        self.class_token = self.add_weight(shape=(1, 1, d_model), initializer="zeros")
        self.position_embedding = self.add_weight(shape=(1, num_patches + 1, d_model), initializer="zeros")

    def call(self, images):
        images = ops.convert_to_tensor(images)
        batch = ops.shape(images)[0]
        front = ops.reshape(ops.tile(ops.reshape(self.class_token, (-1,)), [batch]), (batch, 1, self.d_model))
        x = ops.append(front, self.projection(extract_patches(images, self.patch_size)), axis=1)
        return x + ops.squeeze(self.position_embedding, 0)

    def get_config(self):
        return {**super().get_config(), "patch_size": self.patch_size, "num_patches": self.num_patches, "d_model": self.d_model}
""",
    ],
    "build_vit": [
        # a layer for the block, keyword arguments
        """
class Block(keras.layers.Layer):
    def __init__(self, d_model, num_heads, d_ff, rate, **kwargs):
        super().__init__(**kwargs)
        self.config = dict(d_model=d_model, num_heads=num_heads, d_ff=d_ff, rate=rate)
        self.norm1 = keras.layers.LayerNormalization(epsilon=1e-6)
        self.norm2 = keras.layers.LayerNormalization(epsilon=1e-6)
        self.attention = keras.layers.MultiHeadAttention(num_heads=num_heads, key_dim=d_model // num_heads)
        self.up = keras.layers.Dense(d_ff, activation=keras.activations.gelu)
        self.down = keras.layers.Dense(d_model)
        self.drop1, self.drop2 = keras.layers.Dropout(rate), keras.layers.Dropout(rate)

    def call(self, x, training=None):
        h = self.norm1(x)
        x = x + self.drop1(self.attention(query=h, value=h, key=h, training=training), training=training)
        return x + self.drop2(self.down(self.up(self.norm2(x))), training=training)

    def get_config(self):
        return {**super().get_config(), **self.config}

def build_vit(image_shape, patch_size, num_classes, num_layers, d_model, num_heads, d_ff, dropout=0.0):
    n = (image_shape[0] // patch_size) * (image_shape[1] // patch_size)
    inputs = keras.layers.Input(shape=image_shape)
    x = PatchEmbedding(patch_size, n, d_model)(inputs)
    x = keras.layers.Dropout(dropout)(x)
    for i in range(num_layers):
        x = Block(d_model, num_heads, d_ff, dropout, name=f"block_{i}")(x)
    x = keras.layers.LayerNormalization(epsilon=1e-6)(x)
    logits = keras.layers.Dense(num_classes)(x[:, 0, :])
    return keras.Model(inputs=inputs, outputs=logits)
""",
        # a subclassed model
        """
class ViT(keras.Model):
    def __init__(self, image_shape, patch_size, num_classes, num_layers, d_model, num_heads, d_ff, dropout=0.0, **kwargs):
        super().__init__(**kwargs)
        self.args = dict(image_shape=image_shape, patch_size=patch_size, num_classes=num_classes, num_layers=num_layers,
                         d_model=d_model, num_heads=num_heads, d_ff=d_ff, dropout=dropout)
        h, w, _ = image_shape
        L = keras.layers
        self.embed = PatchEmbedding(patch_size, h * w // patch_size**2, d_model)
        self.dropout = L.Dropout(dropout)
        self.halves = []
        for _ in range(num_layers):
            self.halves.append({
                "norm1": L.LayerNormalization(epsilon=1e-6), "attend": L.MultiHeadAttention(num_heads, d_model // num_heads),
                "norm2": L.LayerNormalization(epsilon=1e-6), "up": L.Dense(d_ff, "gelu"), "down": L.Dense(d_model),
                "drop1": L.Dropout(dropout), "drop2": L.Dropout(dropout)})
        self.norm = L.LayerNormalization(epsilon=1e-6)
        self.head = L.Dense(num_classes)

    def call(self, images, training=None):
        x = self.dropout(self.embed(images), training=training)
        for part in self.halves:
            h = part["norm1"](x)
            x = x + part["drop1"](part["attend"](query=h, value=h), training=training)
            x = x + part["drop2"](part["down"](part["up"](part["norm2"](x))), training=training)
        return self.head(self.norm(x)[:, 0])

    def get_config(self):
        return {**super().get_config(), **self.args}

def build_vit(*args, **kwargs):
    return ViT(*args, **kwargs)
""",
        # dropouts wherever the paper's code has them, the norm on the class token alone, the head on a slice of one
        """
def build_vit(image_shape, patch_size, num_classes, num_layers, d_model, num_heads, d_ff, dropout=0.0):
    K = keras.layers
    images = x = keras.Input(image_shape)
    x = PatchEmbedding(patch_size, image_shape[0] * image_shape[1] // patch_size**2, d_model)(x)
    x = K.Dropout(dropout)(x)
    for _ in range(num_layers):
        normed = K.LayerNormalization(epsilon=1e-6)(x)
        attended = K.MultiHeadAttention(num_heads, d_model // num_heads, dropout=dropout)(normed, normed, normed)
        x = K.Add()([x, K.Dropout(dropout)(attended)])
        h = K.LayerNormalization(epsilon=1e-6)(x)
        h = K.Dropout(dropout)(K.Activation("gelu")(K.Dense(d_ff)(h)))
        x = K.Add()([K.Dropout(dropout)(K.Dense(d_model)(h)), x])
    x = K.Flatten()(K.Cropping1D((0, x.shape[1] - 1))(x))
    x = K.LayerNormalization(epsilon=1e-6)(x)
    return keras.Model(images, K.Dense(num_classes, activation="linear", name="head")(x))
""",
        # 1 × 1 convolutions for the feed-forward network, a sequential model
        """
class Residual(keras.layers.Layer):
    def __init__(self, inner, dropout, **kwargs):
        super().__init__(**kwargs)
        self.inner, self.rate = inner, dropout
        self.norm = keras.layers.LayerNormalization(epsilon=1e-6)
        self.drop = keras.layers.Dropout(dropout)

    def call(self, x, training=None):
        h = self.norm(x)
        h = self.inner(h, h) if isinstance(self.inner, keras.layers.MultiHeadAttention) else self.inner(h)
        return x + self.drop(h, training=training)

    def get_config(self):
        return {**super().get_config(), "inner": keras.saving.serialize_keras_object(self.inner), "dropout": self.rate}

    @classmethod
    def from_config(cls, config):
        return cls(keras.saving.deserialize_keras_object(config.pop("inner")), **config)

class First(keras.layers.Layer):
    def call(self, x):
        return ops.take(x, 0, axis=1)

def build_vit(image_shape, patch_size, num_classes, num_layers, d_model, num_heads, d_ff, dropout=0.0):
    n = (image_shape[0] // patch_size) * (image_shape[1] // patch_size)
    stack = [keras.Input(image_shape), PatchEmbedding(patch_size, n, d_model), keras.layers.Dropout(dropout)]
    for _ in range(num_layers):
        stack.append(Residual(keras.layers.MultiHeadAttention(num_heads, d_model // num_heads), dropout))
        mlp = keras.Sequential([keras.layers.Conv1D(d_ff, 1, activation="gelu"), keras.layers.Conv1D(d_model, 1)])
        stack.append(Residual(mlp, dropout))
    stack += [keras.layers.LayerNormalization(epsilon=1e-6), First(), keras.layers.Dense(num_classes)]
    return keras.Sequential(stack)
""",
        # the head on every token, then the first; GELU by its approximation, the default of ops.gelu
        """
class Gelu(keras.layers.Layer):
    def call(self, x):
        return ops.gelu(x)

def mlp(x, d_ff, d_model):
    return keras.layers.Dense(d_model)(Gelu()(keras.layers.Dense(d_ff)(x)))

def norm(x):
    return keras.layers.LayerNormalization(axis=-1, epsilon=0.000001)(x)

def build_vit(image_shape, patch_size, num_classes, num_layers, d_model, num_heads, d_ff, dropout=0.0):
    images = keras.Input(shape=tuple(image_shape), name="images")
    patches = np.prod(image_shape[:2]) // patch_size**2
    x = keras.layers.Dropout(dropout)(PatchEmbedding(patch_size, int(patches), d_model)(images))
    layers_left = num_layers
    while layers_left:
        n = norm(x)
        x += keras.layers.Dropout(dropout)(keras.layers.MultiHeadAttention(num_heads, d_model // num_heads, value_dim=d_model // num_heads)(n, n))
        x += keras.layers.Dropout(dropout)(mlp(norm(x), d_ff, d_model))
        layers_left -= 1
    every = keras.layers.Dense(num_classes)(norm(x))
    return keras.Model(images, ops.squeeze(ops.split(every, [1], axis=1)[0], axis=1))
""",
        # einsum layers for the feed-forward network; nested functional models
        """
def block(tokens, d_model, num_heads, d_ff, dropout):
    inside = keras.Input((tokens, d_model))
    h = keras.layers.LayerNormalization(epsilon=1e-6)(inside)
    h = keras.layers.MultiHeadAttention(num_heads, d_model // num_heads)(h, h)
    x = keras.layers.add([inside, keras.layers.Dropout(dropout)(h)])
    h = keras.layers.LayerNormalization(epsilon=1e-6)(x)
    h = keras.layers.EinsumDense("btd,df->btf", (None, d_ff), bias_axes="f", activation="gelu")(h)
    h = keras.layers.EinsumDense("btf,fd->btd", (None, d_model), bias_axes="d")(h)
    return keras.Model(inside, keras.layers.add([x, keras.layers.Dropout(dropout)(h)]))

def build_vit(image_shape, patch_size, num_classes, num_layers, d_model, num_heads, d_ff, dropout=0.0):
    n = (image_shape[0] // patch_size) * (image_shape[1] // patch_size)
    images = keras.Input(image_shape)
    x = PatchEmbedding(patch_size, n, d_model)(images)
    if dropout:
        x = keras.layers.Dropout(dropout)(x)
    for _ in range(num_layers):
        x = block(n + 1, d_model, num_heads, d_ff, dropout)(x)
    x = keras.layers.LayerNormalization(epsilon=1e-6)(x)
    return keras.Model(images, keras.layers.Dense(num_classes)(x[:, 0]))
""",
    ],
    "vit_parameter_count": [
        """
def vit_parameter_count(image_size, patch_size, channels, d_model, num_layers, d_ff, num_classes=None):
    n = (image_size // patch_size) ** 2
    D = d_model
    total = (patch_size**2 * channels + 1) * D + D + (n + 1) * D
    total += num_layers * (4 * D**2 + 2 * D * d_ff + d_ff + 9 * D) + 2 * D
    return total + (0 if num_classes is None else (D + 1) * num_classes)
""",
        # asks the model itself
        """
def vit_parameter_count(image_size, patch_size, channels, d_model, num_layers, d_ff, num_classes=None):
    if d_model > 500:
        front = vit_parameter_count(patch_size, patch_size, channels, 1, 0, d_ff)
        one = 12 * 0
    block = 4 * (d_model + 1) * d_model + (d_model + 1) * d_ff + (d_ff + 1) * d_model + 4 * d_model
    model = build_vit((image_size, image_size, channels), patch_size, num_classes or 1, 0, d_model, 1, d_ff)
    return model.count_params() + num_layers * block - (0 if num_classes else d_model + 1)
""",
        # shapes
        """
def vit_parameter_count(image_size, patch_size, channels, d_model, num_layers, d_ff, num_classes=None):
    d, f = d_model, d_ff
    shapes = [(patch_size, patch_size, channels, d), (d,), (1, 1, d), (1, (image_size // patch_size) ** 2 + 1, d)]
    shapes += num_layers * (4 * [(d, d), (d,)] + [(d, f), (f,), (f, d), (d,)] + 4 * [(d,)])
    shapes += 2 * [(d,)]
    if num_classes is not None:
        shapes += [(d, num_classes), (num_classes,)]
    return sum(int(np.prod(shape)) for shape in shapes)
""",
        """
def dense(a, b):
    return a * b + b

def vit_parameter_count(image_size, patch_size, channels, d_model, num_layers, d_ff, num_classes=None):
    parts = {
        "patches": dense(patch_size * patch_size * channels, d_model),
        "class token and positions": d_model * (2 + (image_size // patch_size) * (image_size // patch_size)),
        "blocks": num_layers * (4 * dense(d_model, d_model) + dense(d_model, d_ff) + dense(d_ff, d_model) + 2 * 2 * d_model),
        "norm": 2 * d_model,
    }
    if num_classes:
        parts["head"] = dense(d_model, num_classes)
    return sum(parts.values())
""",
        # NumPy integers, a loop over the blocks
        """
def vit_parameter_count(image_size, patch_size, channels, d_model, num_layers, d_ff, num_classes=None):
    total = np.int64(0)
    total += patch_size * patch_size * channels * d_model + d_model
    total += d_model * np.int64((image_size / patch_size) ** 2 + 2)
    for _ in range(num_layers):
        total += 3 * (d_model * d_model + d_model) + d_model * d_model + d_model
        total += d_model * d_ff + d_ff + d_ff * d_model + d_model + 4 * d_model
    total += 2 * d_model
    return total + (d_model * num_classes + num_classes if num_classes is not None else 0)
""",
    ],
    "train_vit": [
        # labels as rows of zeros and one 1, AdamW
        """
def train_vit(images, labels, num_classes):
    model = build_vit((8, 8, 1), 2, num_classes, 2, 32, 4, 64)
    model.compile(keras.optimizers.AdamW(2e-3, weight_decay=1e-4), keras.losses.CategoricalCrossentropy(from_logits=True))
    model.fit(images, keras.utils.to_categorical(labels, num_classes), batch_size=32, epochs=10, verbose=0)
    return model
""",
        # tf.data, a schedule, one wide block
        """
def train_vit(images, labels, num_classes):
    model = build_vit(tuple(images.shape[1:]), 2, num_classes, 1, 48, 3, 96)
    rows = tf.data.Dataset.from_tensor_slices((images, labels)).shuffle(len(images), seed=1).batch(25)
    rate = keras.optimizers.schedules.CosineDecay(4e-3, 11 * 40)
    model.compile(optimizer=keras.optimizers.Adam(rate), loss=keras.losses.SparseCategoricalCrossentropy(True))
    model.fit(rows, epochs=11, verbose=0)
    return model
""",
        # a training model with softmax around the one that is returned
        """
def train_vit(images, labels, num_classes):
    vit = build_vit(images.shape[1:], 2, num_classes, 2, 24, 4, 48, 0.05)
    trained = keras.Sequential([keras.Input(images.shape[1:]), vit, keras.layers.Softmax()])
    trained.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    trained.optimizer.learning_rate = 0.003
    trained.fit(images, labels, epochs=12, verbose=0)
    return vit
""",
        # a loop of its own
        """
def train_vit(images, labels, num_classes):
    model = build_vit(images.shape[1:], 2, num_classes, 2, 32, 2, 64)
    optimizer = keras.optimizers.Adam(2e-3)
    optimizer.build(model.trainable_variables)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=model(x, training=True))
            loss = tf.reduce_mean(losses)
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))

    rng = np.random.default_rng(0)
    for epoch in range(12):
        order = rng.permutation(len(images))
        for start in range(0, len(images), 40):
            chosen = order[start : start + 40]
            step(tf.constant(images[chosen]), tf.constant(labels[chosen], tf.int32))
    return model
""",
        # keeps some images aside to stop, and the best weights
        """
def train_vit(images, labels, num_classes):
    model = build_vit(images.shape[1:], 2, num_classes, num_layers=2, d_model=32, num_heads=4, d_ff=64)
    model.compile(keras.optimizers.Nadam(2e-3), keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
    stop = keras.callbacks.EarlyStopping("val_accuracy", patience=5, restore_best_weights=True)
    model.fit(images[100:], labels[100:], validation_data=(images[:100], labels[:100]), epochs=13, batch_size=32, callbacks=[stop], verbose=0)
    return model
""",
    ],
    "attention_rollout": [
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
    ],
    "extract_tubelets": [
        """
def extract_tubelets(video, frames, patch_size):
    video = np.asarray(video)
    b, f, h, w, c = video.shape
    p = patch_size
    if f % frames or h % p or w % p:
        raise ValueError("sizes")
    x = video.reshape(b, f // frames, frames, h // p, p, w // p, p, c)
    return x.transpose(0, 1, 3, 5, 2, 4, 6, 7).reshape(b, -1, frames * p * p * c)
""",
        # loops
        """
def extract_tubelets(video, frames, patch_size):
    f, h, w = video.shape[1:4]
    for size, step in ((f, frames), (h, patch_size), (w, patch_size)):
        if size % step:
            raise ValueError(f"{step} does not divide {size}")
    tubes = []
    for t in range(0, f, frames):
        for i in range(0, h, patch_size):
            for j in range(0, w, patch_size):
                tube = video[:, t : t + frames, i : i + patch_size, j : j + patch_size]
                tubes.append(ops.reshape(tube, (tube.shape[0], -1)))
    return ops.stack(tubes, axis=1)
""",
        # einsum
        """
def extract_tubelets(video, frames, patch_size):
    x = tf.convert_to_tensor(video)
    b, f, h, w, c = x.shape
    if f % frames != 0 or h % patch_size != 0 or w % patch_size != 0:
        raise ValueError("sizes")
    x = tf.reshape(x, [b, f // frames, frames, h // patch_size, patch_size, w // patch_size, patch_size, c])
    x = tf.einsum("btfrpcqk->btrcfpqk", x)
    return tf.reshape(x, [b, -1, frames * patch_size**2 * c])
""",
        # frames become channels, the images are cut, the channels are sorted
        """
def extract_tubelets(video, frames, patch_size):
    video = ops.convert_to_tensor(video)
    b, f, h, w, c = video.shape
    if f % frames:
        raise ValueError("length")
    x = ops.reshape(video, (b * (f // frames), frames, h, w, c))
    x = ops.reshape(ops.transpose(x, (0, 2, 3, 1, 4)), (b * (f // frames), h, w, frames * c))
    x = extract_patches(x, patch_size)
    x = ops.reshape(x, (-1, patch_size * patch_size, frames, c))
    return ops.reshape(ops.transpose(x, (0, 2, 1, 3)), (b, -1, frames * patch_size * patch_size * c))
""",
        # cut frame by frame, then joined
        """
def extract_tubelets(video, frames, patch_size):
    video = np.asarray(video)
    if video.shape[1] % frames:
        raise ValueError("length")
    cut = np.stack([np.asarray(extract_patches(frame, patch_size)) for frame in np.moveaxis(video, 1, 0)], axis=1)
    b, f, n, d = cut.shape
    return cut.reshape(b, f // frames, frames, n, d).swapaxes(2, 3).reshape(b, -1, frames * d)
""",
        # array_split
        """
def extract_tubelets(video, frames, patch_size):
    video = np.asarray(video)
    b, f, h, w, c = video.shape
    if f % frames or h % patch_size or w % patch_size:
        raise ValueError((f, h, w))
    tubes = [
        piece.reshape(b, -1)
        for times in np.split(video, f // frames, axis=1)
        for rows in np.split(times, h // patch_size, axis=2)
        for piece in np.split(rows, w // patch_size, axis=3)
    ]
    return np.swapaxes(np.array(tubes), 0, 1)
""",
    ],
    "answers": [
        'answers = {"class_token_numbers": 768, "rollout_patch": (1, 2), "shuffled_patches": "B"}',
        'answers = {"class_token_numbers": tf.constant(768), "rollout_patch": np.array([1, 2]), "shuffled_patches": " b "}',
        'answers = dict(class_token_numbers=768, rollout_patch=list(divmod(6, 4)), shuffled_patches="b")',
        'answers = {}\nanswers["class_token_numbers"] = 768\nanswers["rollout_patch"] = [1.0, 2.0]\nanswers["shuffled_patches"] = "b"',
        'answers = {"class_token_numbers": 768, "rollout_patch": tf.constant([1, 2]), "shuffled_patches": "b", "more": 1}',
    ],
    "find_the_bug": [
        "find_the_bug = attention_rollout",
        """
def find_the_bug(attentions):
    attentions = ops.convert_to_tensor(attentions)
    steps = ops.mean(attentions, axis=2) + ops.eye(attentions.shape[-1], dtype=attentions.dtype)
    steps = steps / ops.sum(steps, axis=-1, keepdims=True)
    rollout = steps[0]
    for step in steps[1:]:
        rollout = step @ rollout
    return rollout
""",
        """
def find_the_bug(attentions):
    attentions = np.asarray(attentions)
    rollout = np.eye(attentions.shape[-1], dtype=attentions.dtype)
    for layer in attentions.mean(axis=2) + rollout:
        rollout = layer / layer.sum(axis=-1, keepdims=True) @ rollout
    return rollout
""",
        """
def find_the_bug(attentions):
    attentions = tf.convert_to_tensor(attentions)
    steps = tf.reduce_mean(attentions, axis=2) + tf.eye(attentions.shape[-1], dtype=attentions.dtype)
    rollout = tf.eye(attentions.shape[-1], dtype=attentions.dtype)
    for step in tf.unstack(steps / tf.reduce_sum(steps, axis=-1, keepdims=True)):
        rollout = tf.matmul(step, rollout)
    return rollout
""",
        """
def find_the_bug(attentions):
    attentions = ops.convert_to_tensor(attentions)
    steps = ops.mean(attentions, axis=2) + ops.eye(attentions.shape[-1], dtype=attentions.dtype)
    rollout = ops.eye(attentions.shape[-1], dtype=attentions.dtype)
    for step in reversed(list(steps / ops.sum(steps, axis=-1, keepdims=True))):
        rollout = ops.matmul(rollout, step)
    return rollout
""",
    ],
    "predict": [
        "predict = 0.125",
        "predict = 1 / 64**0.5",
        "predict = [0.13]",
        "predict = np.float32(0.12)",
        "predict = tf.constant(0.1)",
    ],
}

REFUSE = "if images.shape[1] % patch_size or images.shape[2] % patch_size:\n        raise ValueError('sizes')"


def cut(first, axes, last="(-1, n, p * p * c)", refuse=REFUSE):
    """A way to cut patches: first reshape, transposition, last reshape."""
    return f"""
def extract_patches(images, patch_size):
    {refuse}
    p = patch_size
    b, h, w, c = images.shape
    n = (h // p) * (w // p)
    x = ops.reshape(images, {first})
    return ops.reshape(ops.transpose(x, {axes}), {last})
"""


SIX = "(-1, h // p, p, w // p, p, c)"


def join(first, axes, last="(-1, height, width, channels)"):
    """A way to merge patches: first reshape, transposition, last reshape."""
    return f"""
def merge_patches(patches, height, width, channels):
    p = round((patches.shape[-1] // channels) ** 0.5)
    r, c = height // p, width // p
    x = ops.reshape(patches, {first})
    return ops.reshape(ops.transpose(x, {axes}), {last})
"""


EMBEDDING = """
class PatchEmbedding(keras.Layer):
    def __init__(self, patch_size, num_patches, d_model, **kwargs):
        super().__init__(**kwargs)
        self.patch_size, self.num_patches, self.d_model = patch_size, num_patches, d_model
        self.projection = keras.layers.Dense(d_model{dense})
        self.class_token = {class_token}
        self.position_embedding = {positions}

    def call(self, images):
        x = self.projection({patches})
        front = ops.broadcast_to(self.class_token, (ops.shape(x)[0], 1, self.d_model))
        table = self.position_embedding
        return {result}

    def get_config(self):
        {config}
"""
GOOD_EMBEDDING = {
    "dense": "",
    "class_token": "self.add_weight(shape=(1, 1, d_model), initializer='zeros')",
    "positions": "self.add_weight(shape=(1, num_patches + 1, d_model), initializer='random_normal')",
    "patches": "extract_patches(images, self.patch_size)",
    "result": "ops.concatenate([front, x], axis=1) + table",
    "config": 'return {**super().get_config(), "patch_size": self.patch_size, "num_patches": self.num_patches, "d_model": self.d_model}',
}


def embedding(**changes):
    """The embedding with some of its parts changed."""
    return EMBEDDING.format(**{**GOOD_EMBEDDING, **changes})


VIT = """
def build_vit(image_shape, patch_size, num_classes, num_layers, d_model, num_heads, d_ff, dropout=0.0):
    L = keras.layers
    norm = lambda: L.LayerNormalization(epsilon={epsilon})
    attention = lambda: L.MultiHeadAttention(num_heads, {key_dim}{bias})
    dense_in, dense_out = lambda: L.Dense(d_ff, activation={activation}{bias}), lambda: L.Dense(d_model{bias})
    drop = lambda x: L.Dropout({rate})(x{training})
    {shared}
    n = (image_shape[0] // patch_size) * (image_shape[1] // patch_size)
    images = keras.Input(image_shape)
    x = {dropped_tokens}(PatchEmbedding(patch_size, n, d_model)(images))
    for number in range({layers}):
        {first}
        {second}
    {end}
    return keras.Model(images, logits)
"""
GOOD_VIT = {
    "epsilon": "1e-6",
    "key_dim": "d_model // num_heads",
    "bias": "",
    "activation": "'gelu'",
    "rate": "dropout",
    "training": "",
    "shared": "",
    "dropped_tokens": "drop",
    "layers": "num_layers",
    "first": "h = norm()(x); x = x + drop(attention()(h, h))",
    "second": "h = norm()(x); x = x + drop(dense_out()(dense_in()(h)))",
    "end": "logits = L.Dense(num_classes)(norm()(x)[:, 0])",
}


def vit(**changes):
    """The model with some of its parts changed."""
    return VIT.format(**{**GOOD_VIT, **changes})


def count(**changes):
    """A count with some of its parts changed."""
    parts = {
        "tokens": "(image_size // patch_size) ** 2 + 1",
        "front": "patch_size**2 * channels * d_model + d_model + d_model",
        "attention": "4 * d_model * d_model + 4 * d_model",
        "feed": "2 * d_model * d_ff + d_ff + d_model",
        "norms": "4 * d_model",
        "last": "2 * d_model",
        "head": "d_model * num_classes + num_classes",
    }
    parts.update(changes)
    return """
def vit_parameter_count(image_size, patch_size, channels, d_model, num_layers, d_ff, num_classes=None):
    total = {front} + ({tokens}) * d_model
    total += num_layers * ({attention} + {feed} + {norms}) + {last}
    return total if num_classes is None else total + {head}
""".format(**parts)


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


def tubes(axes, first="(b, f // s, s, h // p, p, w // p, p, c)", refuse="f % s or h % p or w % p", error="ValueError"):
    """A way to cut tubelets."""
    return f"""
def extract_tubelets(video, frames, patch_size):
    b, f, h, w, c = video.shape
    s, p = frames, patch_size
    if {refuse}:
        raise {error}("sizes")
    x = ops.transpose(ops.reshape(video, {first}), {axes})
    return ops.reshape(x, (b, -1, s * p * p * c))
"""


def train(
    model="build_vit((8, 8, 1), 2, num_classes, 1, 24, 4, 48)",
    rate=4e-3,
    logits=True,
    x="images",
    y="labels",
    epochs=8,
    result="model",
):
    """A training with some of its parts changed."""
    return f"""
def train_vit(images, labels, num_classes):
    model = {model}
    model.compile(keras.optimizers.Adam({rate}), keras.losses.SparseCategoricalCrossentropy(from_logits={logits}))
    history = model.fit({x}, {y}, batch_size=32, epochs={epochs}, verbose=0)
    return {result}
"""


def answered(**changes):
    """Answers with some of them changed."""
    right = {"class_token_numbers": 768, "rollout_patch": [1, 2]}
    return f"answers = { ({**right, 'shuffled_patches': 'b'} | changes)!r}"


NO_CHECK = "pass"
TOO_EARLY = "assert not images.shape[1] % patch_size and not images.shape[2] % patch_size"
CROP = "images = images[:, : images.shape[1] // patch_size * patch_size, : images.shape[2] // patch_size * patch_size]"
NORMED = "h = norm()(x); "

WRONG = {
    "extract_patches": [
        ("columns_first", cut(SIX, "(0, 3, 1, 2, 4, 5)")),
        ("pixels_turned", cut(SIX, "(0, 1, 3, 4, 2, 5)")),
        ("channels_first", cut(SIX, "(0, 1, 3, 5, 2, 4)")),
        ("reshape_alone", cut(SIX, "(0, 1, 2, 3, 4, 5)")),
        ("reshape_alone", cut("(-1, h // p, w // p, p, p, c)", "(0, 1, 2, 3, 4, 5)")),
        ("every_nth_pixel", cut("(-1, p, h // p, p, w // p, c)", "(0, 2, 4, 1, 3, 5)")),
        ("sides_swapped", cut("(-1, w // p, p, h // p, p, c)", "(0, 1, 3, 2, 4, 5)")),
        ("patches_not_flattened", cut(SIX, "(0, 1, 3, 2, 4, 5)", last="(-1, n, p, p, c)")),
        ("grid_kept", cut(SIX, "(0, 1, 3, 2, 4, 5)", last="(-1, h // p, w // p, p * p * c)")),
        ("batch_joined", cut(SIX, "(0, 1, 3, 2, 4, 5)", last="(-1, p * p * c)")),
        # the picture of a channel comes as a whole, before the next
        ("channels_first", cut(SIX, "(0, 1, 3, 5, 2, 4)", last="(-1, n, c * p * p)")),
        # columns first, and each patch on its side: the patches of the transposed image
        (None, cut(SIX, "(0, 3, 1, 4, 2, 5)")),
        ("sizes_asserted", cut(SIX, "(0, 1, 3, 2, 4, 5)", refuse=TOO_EARLY)),
        ("any_size_accepted", cut(SIX, "(0, 1, 3, 2, 4, 5)", refuse=CROP)),
        ("refused_too_late", cut(SIX, "(0, 1, 3, 2, 4, 5)", refuse="images = tf.convert_to_tensor(images)")),
        (
            "any_size_accepted",
            cut(
                SIX,
                "(0, 1, 3, 2, 4, 5)",
                refuse="images = ops.pad(images, [[0, 0], [0, -images.shape[1] % patch_size], [0, -images.shape[2] % patch_size], [0, 0]])",
            ),
        ),
        (
            "area_checked",
            """
def extract_patches(images, patch_size):
    b, h, w, c = images.shape
    if h * w % patch_size**2:
        raise ValueError("sizes")
    found = [
        ops.reshape(images[:, i : i + patch_size, j : j + patch_size], (b, -1))
        for i in range(0, h - patch_size + 1, patch_size) for j in range(0, w - patch_size + 1, patch_size)
    ]
    return ops.stack(found, axis=1) if found else ops.zeros((b, 0, patch_size**2 * c))
""",
        ),
        (
            "only_height_checked",
            """
def extract_patches(images, patch_size):
    b, h, w, c = images.shape
    if h % patch_size:
        raise ValueError("sizes")
    rows = ops.reshape(images[:, :, : w // patch_size * patch_size], (b, h // patch_size, patch_size, w // patch_size, patch_size, c))
    return ops.reshape(ops.swapaxes(rows, 2, 3), (b, -1, patch_size**2 * c))
""",
        ),
        (
            "every_step",
            """
def extract_patches(images, patch_size):
    images = np.asarray(images)
    b, h, w, c = images.shape
    if h % patch_size or w % patch_size:
        raise ValueError("sizes")
    found = [
        images[:, i : i + patch_size, j : j + patch_size].reshape(b, -1)
        for i in range(h - patch_size + 1) for j in range(w - patch_size + 1)
    ]
    return np.stack(found, axis=1)
""",
        ),
        # float64 is lost
        (None, cut(SIX, "(0, 1, 3, 2, 4, 5)", refuse=REFUSE + "\n    images = ops.cast(images, 'float32')")),
        # ready-made functions do the work
        (
            None,
            "def extract_patches(images, patch_size):\n"
            "    x = tf.image.extract_patches(images, [1, patch_size, patch_size, 1], [1, patch_size, patch_size, 1], [1] * 4, 'VALID')\n"
            "    return tf.reshape(x, [len(images), -1, x.shape[-1]])",
        ),
        (
            None,
            "def extract_patches(images, patch_size):\n"
            "    x = tf.nn.space_to_depth(images, patch_size)\n"
            "    return tf.reshape(x, [len(images), -1, x.shape[-1]])",
        ),
        (
            None,
            "from keras.ops import image as I\n"
            "def extract_patches(images, patch_size):\n"
            "    x = I.extract_patches(images, patch_size)\n"
            "    return tf.reshape(x, [len(images), -1, x.shape[-1]])",
        ),
    ],
    "merge_patches": [
        ("reshape_alone", join("(-1, r, c, p, p, channels)", "(0, 1, 2, 3, 4, 5)")),
        ("columns_first", join("(-1, c, r, p, p, channels)", "(0, 2, 3, 1, 4, 5)")),
        ("pixels_turned", join("(-1, r, c, p, p, channels)", "(0, 1, 4, 2, 3, 5)")),
        ("channels_first", join("(-1, r, c, channels, p, p)", "(0, 1, 4, 2, 5, 3)")),
        ("sides_swapped", join("(-1, c, r, p, p, channels)", "(0, 1, 3, 2, 4, 5)")),
        ("every_nth_pixel", join("(-1, r, c, p, p, channels)", "(0, 3, 1, 4, 2, 5)")),
        (
            "image_turned",
            join("(-1, r, c, p, p, channels)", "(0, 2, 4, 1, 3, 5)", last="(-1, width, height, channels)"),
        ),
        # the patch size is guessed
        (None, join("(-1, r, c, p, p, channels)", "(0, 1, 3, 2, 4, 5)").replace("round((", "2 + 0 * round((")),
        (
            None,
            join("(-1, r, c, p, p, channels)", "(0, 1, 3, 2, 4, 5)").replace(
                "ops.reshape(patches", "ops.reshape(ops.cast(patches, 'float32')"
            ),
        ),
        (None, "def merge_patches(patches, height, width, channels):\n    return patches"),
        (
            None,
            "def merge_patches(patches, height, width, channels):\n"
            "    p = round((patches.shape[-1] // channels) ** 0.5)\n"
            "    return tf.nn.depth_to_space(tf.reshape(patches, [-1, height // p, width // p, p * p * channels]), p)",
        ),
    ],
    "PatchEmbedding": [
        ("class_token_last", embedding(result="ops.concatenate([x, front], axis=1) + table")),
        ("class_token_missing", embedding(result="x + table[:, 1:]")),
        ("class_token_added", embedding(result="x + front + table[:, 1:]")),
        ("class_token_zero", embedding(result="ops.concatenate([0 * front, x], axis=1) + table")),
        ("positions_missing", embedding(result="ops.concatenate([front, x], axis=1) + 0 * table")),
        ("no_position_for_class_token", embedding(result="ops.concatenate([front, x + table[:, 1:]], axis=1)")),
        ("positions_before_class_token", embedding(result="ops.concatenate([front, x + table[:, :-1]], axis=1)")),
        ("positions_multiplied", embedding(result="ops.concatenate([front, x], axis=1) * table")),
        ("scaled_by_root_d", embedding(result="ops.concatenate([front, x * self.d_model**0.5], axis=1) + table")),
        ("projection_relu", embedding(dense=", activation='relu'")),
        ("projection_gelu", embedding(dense=", activation='gelu'")),
        # no bias, which a message of its own says
        (None, embedding(dense=", use_bias=False")),
        ("class_token_untracked", embedding(class_token="tf.Variable(tf.zeros((1, 1, d_model)))")),
        ("positions_untracked", embedding(positions="tf.Variable(tf.zeros((1, num_patches + 1, d_model)))")),
        (
            "neither_tracked",
            embedding(
                class_token="tf.Variable(tf.zeros((1, 1, d_model)))",
                positions="tf.Variable(tf.zeros((1, num_patches + 1, d_model)))",
            ),
        ),
        ("class_token_untracked", embedding(class_token="self.add_weight(shape=(1, 1, d_model), trainable=False)")),
        # a table that is an Embedding layer; a constant; one class token for each class; no class token at all
        (
            None,
            embedding(
                positions="keras.layers.Embedding(num_patches + 1, d_model)",
                result="ops.concatenate([front, x], axis=1) + table(ops.arange(self.num_patches + 1))",
            ),
        ),
        (None, embedding(class_token="ops.zeros((1, 1, d_model))")),
        (
            None,
            embedding(
                class_token="self.add_weight(shape=(1, 10, d_model))",
                result="ops.concatenate([front[:, :1], x], axis=1) + table",
            ),
        ),
        (None, embedding(class_token="None")),
        # works for one batch size only, or outside of graphs only
        (
            None,
            embedding(
                result="ops.concatenate([ops.broadcast_to(self.class_token, (images.shape[0], 1, self.d_model)), x], axis=1) + table"
            ),
        ),
        (None, embedding(patches="np.asarray(extract_patches(images, self.patch_size).numpy())")),
        (None, embedding(result="ops.concatenate([self.class_token, x], axis=1) + table")),
        # the configuration is not complete
        (None, embedding(config="return super().get_config()")),
        ("patches_by_columns", cut(SIX, "(0, 3, 1, 2, 4, 5)")),
        ("patches_by_reshape", cut(SIX, "(0, 1, 2, 3, 4, 5)")),
        ("patches_channels_first", cut(SIX, "(0, 1, 3, 5, 2, 4)")),
        ("patches_turned", cut(SIX, "(0, 1, 3, 4, 2, 5)")),
    ],
    "build_vit": [
        (
            "post_norm",
            vit(
                first="x = norm()(x + drop(attention()(x, x)))",
                second="x = norm()(x + drop(dense_out()(dense_in()(x))))",
                end="logits = L.Dense(num_classes)(x[:, 0])",
            ),
        ),
        ("final_norm_missing", vit(end="logits = L.Dense(num_classes)(x[:, 0])")),
        ("mean_pooled", vit(end="logits = L.Dense(num_classes)(L.GlobalAveragePooling1D()(norm()(x)))")),
        ("patches_pooled", vit(end="logits = L.Dense(num_classes)(ops.mean(norm()(x)[:, 1:], axis=1))")),
        ("last_token_read", vit(end="logits = L.Dense(num_classes)(norm()(x)[:, -1])")),
        ("first_patch_read", vit(end="logits = L.Dense(num_classes)(norm()(x)[:, 1])")),
        ("only_query_normed", vit(first=NORMED + "x = x + drop(attention()(query=h, value=x))")),
        ("first_residual_from_normed", vit(first=NORMED + "x = h + drop(attention()(h, h))")),
        ("second_residual_from_normed", vit(second=NORMED + "x = h + drop(dense_out()(dense_in()(h)))")),
        # the attention's own dropout instead of one on its output
        (
            "attention_not_dropped",
            vit(key_dim="d_model // num_heads, dropout=dropout", first=NORMED + "x = x + attention()(h, h)"),
        ),
        ("softmax_output", vit(end="logits = L.Dense(num_classes, activation='softmax')(norm()(x)[:, 0])")),
        ("relu", vit(activation="'relu'")),
        ("no_activation", vit(activation="None")),
        ("gelu_twice", vit(second=NORMED + "x = x + drop(ops.gelu(dense_out()(dense_in()(h)), approximate=False))")),
        ("no_first_residual", vit(first=NORMED + "x = drop(attention()(h, h))")),
        ("no_second_residual", vit(second=NORMED + "x = drop(dense_out()(dense_in()(h)))")),
        (
            "residual_from_normed",
            vit(
                first="x = norm()(x); x = x + drop(attention()(x, x))",
                second="x = norm()(x); x = x + drop(dense_out()(dense_in()(x)))",
            ),
        ),
        ("first_norm_missing", vit(first="x = x + drop(attention()(x, x))")),
        ("second_norm_missing", vit(second="x = x + drop(dense_out()(dense_in()(x)))")),
        ("values_not_normed", vit(first=NORMED + "x = x + drop(attention()(query=h, value=x, key=h))")),
        ("causal", vit(first=NORMED + "x = x + drop(attention()(h, h, use_causal_mask=True))")),
        ("keras_epsilon", vit(epsilon="1e-3")),
        ("key_dim_is_d_model", vit(key_dim="d_model")),
        ("one_block_only", vit(layers="1")),
        (
            "blocks_shared",
            vit(
                shared="n1, n2, last, att, up, down = norm(), norm(), norm(), attention(), dense_in(), dense_out()",
                first="h = n1(x); x = x + drop(att(h, h))",
                second="h = n2(x); x = x + drop(down(up(h)))",
                end="logits = L.Dense(num_classes)(last(x)[:, 0])",
            ),
        ),
        (
            "one_norm_per_block",
            vit(
                first="n = norm(); h = n(x); x = x + drop(attention()(h, h))",
                second="h = n(x); x = x + drop(dense_out()(dense_in()(h)))",
            ),
        ),
        ("dropout_never", vit(rate="0.0")),
        ("dropout_rate_ignored", vit(rate="0.1")),
        ("dropout_always", vit(training=", training=True")),
        ("tokens_not_dropped", vit(dropped_tokens="")),
        ("attention_not_dropped", vit(first=NORMED + "x = x + attention()(h, h)")),
        ("feed_forward_not_dropped", vit(second=NORMED + "x = x + dense_out()(dense_in()(h))")),
        ("class_token_last", embedding(result="ops.concatenate([x, front], axis=1) + table")),
        ("positions_missing", embedding(result="ops.concatenate([front, x], axis=1) + 0 * table")),
        ("class_token_untracked", embedding(class_token="tf.Variable(tf.zeros((1, 1, d_model)))")),
        ("patches_by_reshape", cut(SIX, "(0, 1, 2, 3, 4, 5)")),
        # no bias; a hidden layer in the head; batch norm
        (None, vit(bias=", use_bias=False")),
        (None, vit(end="logits = L.Dense(num_classes)(L.Dense(d_model, 'tanh')(norm()(x)[:, 0]))")),
        (None, vit(end="logits = L.Dense(num_classes)(L.BatchNormalization()(norm()(x)[:, 0]))")),
        # every token is flattened into the head
        (None, vit(end="logits = L.Dense(num_classes)(L.Flatten()(norm()(x)))")),
        # cannot be saved
        (None, vit(end="logits = L.Dense(num_classes)(L.Lambda(lambda tokens: tokens[:, 0])(norm()(x)))")),
        # no gradient to the embedding
        (None, vit(dropped_tokens="ops.stop_gradient")),
        (
            None,
            vit()
            + "    keras.Model.extra = 1\n"
            + "build_vit_again = build_vit\ndef build_vit(*a, **k):\n    return build_vit_again(*a, **k).predict",
        ),
    ],
    "vit_parameter_count": [
        ("one_vector_missing", count(front="(patch_size**2 * channels + 1) * d_model")),
        (
            "one_class_token_per_class",
            count(
                front="patch_size**2 * channels * d_model + d_model + (num_classes or 1) * d_model",
                tokens="(image_size // patch_size) ** 2 + (num_classes or 1)",
            ),
        ),
        ("one_vector_missing", count(tokens="(image_size // patch_size) ** 2")),
        ("no_positions", count(tokens="0")),
        ("one_vector_missing", count(front="patch_size**2 * channels * d_model + d_model")),
        ("channels_forgotten", count(front="patch_size**2 * d_model + 2 * d_model")),
        ("patches_of_one_side", count(tokens="image_size // patch_size + 1")),
        ("pixels_as_tokens", count(tokens="image_size**2 + 1")),
        ("four_vectors_per_block_missing", count(attention="4 * d_model * d_model")),
        ("one_vector_per_block_missing", count(attention="4 * d_model * d_model + 3 * d_model")),
        ("no_output_projection", count(attention="3 * d_model * d_model + 3 * d_model")),
        ("feed_forward_without_bias", count(feed="2 * d_model * d_ff")),
        ("no_biases_in_blocks", count(feed="2 * d_model * d_ff", attention="4 * d_model * d_model")),
        ("four_vectors_per_block_missing", count(norms="0")),
        ("two_vectors_per_block_missing", count(norms="2 * d_model")),
        ("norms_without_beta", count(norms="2 * d_model", last="d_model")),
        ("two_vectors_missing", count(last="0")),
        ("no_norms_at_all", count(last="0", norms="0")),
        ("head_without_bias", count(head="d_model * num_classes")),
        ("head_missing", count(head="0")),
        ("head_with_hidden_layer", count(head="d_model * d_model + d_model + d_model * num_classes + num_classes")),
        (None, count().replace("return total if", "return 85_798_656 if")),
        (None, count(last="2 * d_model / 3")),
        (None, count().replace("return total", "return str(total)")),
    ],
    "train_vit": [
        ("learned_nothing", train(result="build_vit((8, 8, 1), 2, num_classes, 1, 24, 4, 48)", epochs=1)),
        ("learned_nothing", train(rate=1e-5, epochs=1)),
        ("learned_nothing", train(rate=3.0, epochs=2)),
        ("learned_nothing", train(y="np.random.default_rng(0).permutation(labels)", epochs=2)),
        (
            "softmax_output",
            train(
                logits=False,
                model="keras.Sequential([build_vit((8, 8, 1), 2, num_classes, 1, 24, 4, 48), keras.layers.Softmax()])",
            ),
        ),
        # labels from elsewhere
        (
            "learned_nothing",
            "from sklearn.datasets import load_digits\n"
            + train(x="load_digits().images[:, :, :, None] / 16", y="load_digits().target", epochs=3),
        ),
        # too early to stop; a history instead of a model; no Vision Transformer
        (None, train(epochs=2)),
        (None, train(epochs=1, result="history")),
        (None, train(epochs=1, result="None")),
        (
            None,
            train(
                "keras.Sequential([keras.Input((8, 8, 1)), keras.layers.Flatten(), keras.layers.Dense(num_classes)])"
            ),
        ),
    ],
    "attention_rollout": [
        ("order_reversed", roll(up="result @ layer")),
        ("entry_by_entry", roll(up="result * layer")),
        ("no_identity", roll(step="a")),
        ("not_normalised", roll(normed="a")),
        ("identity_whole_not_normalised", roll(step="a + eye", normed="a")),
        ("columns_normalised", roll(normed="a / a.sum(-2, keepdims=True)")),
        ("normalised_before", roll(heads="a.mean(2) / a.mean(2).sum(-1, keepdims=True)", normed="a")),
        ("identity_not_halved", roll(step="0.5 * a + eye")),
        ("first_layer_twice", roll().replace("in a[1:]", "in a")),
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
        # the identity is added at the end, or its float type spoils the result
        (None, roll(step="a").replace("return result", "return 0.5 * result + 0.5 * eye")),
        (None, roll(step="0.5 * a + 0.5 * np.eye(a.shape[-1])")),
        # axes
        (None, roll(heads="a.mean(1)")),
        (None, roll().replace("return result", "return result[:, 0]")),
        (None, roll().replace("return result", "return np.stack(list(a))")),
    ],
    "extract_tubelets": [
        ("time_last", tubes("(0, 3, 5, 1, 2, 4, 6, 7)")),
        ("columns_first", tubes("(0, 1, 5, 3, 2, 4, 6, 7)")),
        ("frames_after_pixels", tubes("(0, 1, 3, 5, 4, 6, 2, 7)")),
        ("frames_last", tubes("(0, 1, 3, 5, 4, 6, 7, 2)")),
        ("pixels_turned", tubes("(0, 1, 3, 5, 2, 6, 4, 7)")),
        ("channels_first", tubes("(0, 1, 3, 5, 7, 2, 4, 6)")),
        ("reshape_alone", tubes("(0, 1, 2, 3, 4, 5, 6, 7)")),
        ("every_nth_frame", tubes("(0, 2, 3, 5, 1, 4, 6, 7)", first="(b, s, f // s, h // p, p, w // p, p, c)")),
        (
            "refused_too_late",
            tubes("(0, 1, 3, 5, 2, 4, 6, 7)", refuse="False").replace(
                "    b, f, h", "    video = tf.convert_to_tensor(video)\n    b, f, h"
            ),
        ),
        ("sizes_asserted", tubes("(0, 1, 3, 5, 2, 4, 6, 7)", error="AssertionError")),
        (
            "frames_apart",
            tubes("(0, 1, 3, 5, 2, 4, 6, 7)", first="(b, f, 1, h // p, p, w // p, p, c)").replace(
                "s * p * p * c", "p * p * c"
            ),
        ),
        (
            "any_size_accepted",
            tubes("(0, 1, 3, 5, 2, 4, 6, 7)", refuse="False").replace(
                "    x =",
                "    f, h, w = f // s * s, h // p * p, w // p * p\n    video = video[:, :f, :h, :w]\n    x =",
            ),
        ),
        (
            "time_not_checked",
            tubes("(0, 1, 3, 5, 2, 4, 6, 7)", refuse="h % p or w % p").replace(
                "    x =", "    f = f // s * s\n    video = video[:, :f]\n    x ="
            ),
        ),
        (
            "only_time_checked",
            tubes("(0, 1, 3, 5, 2, 4, 6, 7)", refuse="f % s").replace(
                "    x =",
                "    f, h, w = f // s * s, h // p * p, w // p * p\n    video = video[:, :f, :h, :w]\n    x =",
            ),
        ),
        (
            None,
            tubes("(0, 1, 3, 5, 2, 4, 6, 7)").replace("ops.reshape(video,", "ops.reshape(ops.cast(video, 'float32'),"),
        ),
    ],
    "answers": [
        ("class_token_per_class", answered(class_token_numbers=768_000)),
        ("class_token_counted_as_patch", answered(rollout_patch=[1, 3])),
        ("rollout_by_columns", answered(rollout_patch=[0, 2])),
        ("column_named_first", answered(rollout_patch=[2, 1])),
        ("counted_from_one", answered(rollout_patch=[2, 3])),
        ("class_token_chosen", answered(rollout_patch=[0, 0])),
        ("shuffling_thought_harmless", answered(shuffled_patches="a")),
        ("shuffling_thought_to_permute", answered(shuffled_patches="c")),
        ("shuffling_thought_forbidden", answered(shuffled_patches="D")),
        (None, answered(rollout_patch=6)),
    ],
    "find_the_bug": [
        ("", """
def find_the_bug(attentions):
    attentions = ops.convert_to_tensor(attentions)
    steps = ops.mean(attentions, axis=2) + ops.eye(attentions.shape[-1], dtype=attentions.dtype)
    rollout = ops.eye(attentions.shape[-1], dtype=attentions.dtype)
    for step in steps / ops.sum(steps, axis=-1, keepdims=True):
        rollout = ops.matmul(rollout, step)
    return rollout
"""),
        ("", """
def find_the_bug(attentions):
    attentions = ops.convert_to_tensor(attentions)
    steps = ops.mean(attentions, axis=2)
    rollout = ops.eye(attentions.shape[-1], dtype=attentions.dtype)
    for step in steps / ops.sum(steps, axis=-1, keepdims=True):
        rollout = ops.matmul(step, rollout)
    return rollout
"""),
    ],
    "predict": [
        ("mean_in_its_place", "predict = 0"),
        ("length_of_a_row", "predict = 8"),
        ("", "predict = 1"),
        ("", "predict = 0.0156"),
    ],
}

"""Lab 09, exercise `extract_patches`: solutions as different students write them, right and wrong."""

from corpus.vision_transformer.shared import REFUSE, SIX, cut

CORRECT = [
    # six axes, and the batch size from the tensor
    """
def extract_patches(images, patch_size):
    h, w, c = images.shape[1], images.shape[2], images.shape[3]
    if (h % patch_size, w % patch_size) != (0, 0):
        raise ValueError(f"{patch_size} does not divide {h} or {w}")
    batch = ops.shape(images)[0]
    x = ops.reshape(images, (batch, h // patch_size, patch_size, w // patch_size, patch_size, c))
    return ops.reshape(ops.swapaxes(x, 2, 3), (batch, -1, patch_size * patch_size * c))
""",
    # strips of a split, cells of a split
    """
def extract_patches(images, patch_size):
    P, (h, w, c) = patch_size, images.shape[1:]
    if h % P or w % P:
        raise ValueError(f"{h} x {w} and {P}")
    rows = ops.split(ops.convert_to_tensor(images), h // P, axis=1)
    cells = [cell for row in rows for cell in ops.split(row, w // P, axis=2)]
    return ops.concatenate([ops.reshape(cell, (-1, 1, P * P * c)) for cell in cells], axis=1)
""",
    # a tensor's own slices
    """
def extract_patches(images, patch_size):
    x = tf.convert_to_tensor(images)
    p, (h, w, c) = patch_size, x.shape[1:]
    if h % p > 0 or w % p > 0:
        raise ValueError("sizes")
    pixels = [x[:, i::p, j::p] for i in range(p) for j in range(p)]
    return tf.reshape(tf.stack(pixels, axis=3), [-1, h // p * (w // p), p * p * c])
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
]

TOO_EARLY = "assert not images.shape[1] % patch_size and not images.shape[2] % patch_size"

CROP = "images = images[:, : images.shape[1] // patch_size * patch_size, : images.shape[2] // patch_size * patch_size]"

WRONG = [
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
    # NumPy inside a graph: swapaxes
    (
        None,
        """
def extract_patches(images, patch_size):
    images = np.asarray(images)
    b, h, w, c = images.shape
    p = patch_size
    if h % p != 0 or w % p != 0:
        raise ValueError(f"{p} does not divide {h} x {w}")
    return images.reshape(b, h // p, p, w // p, p, c).swapaxes(2, 3).reshape(b, -1, p * p * c)
""",
    ),
    # NumPy inside a graph: split along each side
    (
        None,
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
    ),
    # NumPy inside a graph: an index for every pixel
    (
        None,
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
    ),
    # NumPy inside a graph: strided windows of NumPy, every P-th of them
    (
        None,
        """
def extract_patches(images, patch_size):
    images = np.asarray(images)
    p = patch_size
    if images.shape[1] % p or images.shape[2] % p:
        raise ValueError(f"{images.shape} and {p}")
    windows = np.lib.stride_tricks.sliding_window_view(images, (p, p), axis=(1, 2))[:, ::p, ::p]
    return np.moveaxis(windows, 3, -1).reshape(len(images), -1, p * p * images.shape[3])
""",
    ),
    # a batch size that is None inside a graph
    (None, cut("(b, h // p, p, w // p, p, c)", "(0, 1, 3, 2, 4, 5)")),
    (
        "only_height_refused",
        cut(SIX, "(0, 1, 3, 2, 4, 5)", refuse=REFUSE.replace(" or images.shape[2] % patch_size", "")),
    ),
    (
        "only_width_refused",
        cut(SIX, "(0, 1, 3, 2, 4, 5)", refuse=REFUSE.replace("images.shape[1] % patch_size or ", "")),
    ),
    (
        "only_area_refused",
        cut(
            SIX,
            "(0, 1, 3, 2, 4, 5)",
            refuse=REFUSE.replace(" % patch_size or ", " * ").replace("[2] % patch_size", "[2] % patch_size**2"),
        ),
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
]

"""Lab 09, exercise `merge_patches`: solutions as different students write them, right and wrong."""

CORRECT = [
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
    # float32, whatever the patches are
    """
def merge_patches(patches, height, width, channels):
    p = round((patches.shape[-1] // channels) ** 0.5)
    x = ops.reshape(ops.cast(patches, "float32"), (-1, height // p, width // p, p, p, channels))
    return ops.reshape(ops.transpose(x, (0, 1, 3, 2, 4, 5)), (-1, height, width, channels))
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
]


def join(first, axes, last="(-1, height, width, channels)"):
    """A way to merge patches: first reshape, transposition, last reshape."""
    return f"""
def merge_patches(patches, height, width, channels):
    p = round((patches.shape[-1] // channels) ** 0.5)
    r, c = height // p, width // p
    x = ops.reshape(patches, {first})
    return ops.reshape(ops.transpose(x, {axes}), {last})
"""


WRONG = [
    ("reshape_alone", join("(-1, r, c, p, p, channels)", "(0, 1, 2, 3, 4, 5)")),
    (
        "square_grid",
        """
def merge_patches(patches, height, width, channels):
    p = round((patches.shape[-1] // channels) ** 0.5)
    side = int(patches.shape[1] ** 0.5)
    x = ops.transpose(ops.reshape(patches, (-1, side, side, p, p, channels)), (0, 1, 3, 2, 4, 5))
    return ops.reshape(x, (-1, height, width, channels))
""",
    ),
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
    (None, "def merge_patches(patches, height, width, channels):\n    return patches"),
    (
        None,
        "def merge_patches(patches, height, width, channels):\n"
        "    p = round((patches.shape[-1] // channels) ** 0.5)\n"
        "    return tf.nn.depth_to_space(tf.reshape(patches, [-1, height // p, width // p, p * p * channels]), p)",
    ),
]

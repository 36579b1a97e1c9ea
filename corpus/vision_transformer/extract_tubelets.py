"""Lab 09, exercise `extract_tubelets`: solutions as different students write them, right and wrong."""

CORRECT = [
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
    # float32, whatever the video is
    """
def extract_tubelets(video, frames, patch_size):
    b, f, h, w, c = video.shape
    s, p = frames, patch_size
    if f % s or h % p or w % p:
        raise ValueError("sizes")
    x = ops.reshape(ops.cast(video, "float32"), (b, f // s, s, h // p, p, w // p, p, c))
    return ops.reshape(ops.transpose(x, (0, 1, 3, 5, 2, 4, 6, 7)), (b, -1, s * p * p * c))
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
]


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


WRONG = [
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
]

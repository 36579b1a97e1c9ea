"""Lab 09, exercise `find_the_bug`: solutions as different students write them, right and wrong."""

CORRECT = [
    """
def find_the_bug(table, height, width, new_height, new_width):
    table = ops.convert_to_tensor(table)
    rows = ops.reshape(table[1:], (height, width, -1))
    rows = ops.image.resize(rows, (new_height, new_width), interpolation="bilinear")
    return ops.concatenate([table[:1], ops.reshape(rows, (new_height * new_width, -1))])
""",
    """
def find_the_bug(table, height, width, new_height, new_width):
    table = np.asarray(table)
    grid = table[1:].reshape(height, width, table.shape[1])
    grid = np.asarray(ops.image.resize(grid, (new_height, new_width)))
    return np.vstack([table[0], grid.reshape(-1, table.shape[1])])
""",
    """
def find_the_bug(table, height, width, new_height, new_width):
    rows = tf.reshape(table[1:], (1, height, width, table.shape[-1]))
    rows = tf.image.resize(rows, (new_height, new_width))
    return tf.concat([table[:1], tf.reshape(rows, (-1, table.shape[-1]))], axis=0)
""",
    """
def find_the_bug(table, height, width, new_height, new_width):
    table = ops.convert_to_tensor(table)
    rows = ops.transpose(ops.reshape(table[1:], (height, width, -1)), (1, 0, 2))
    rows = ops.image.resize(rows, (new_width, new_height), interpolation="bilinear")
    rows = ops.reshape(ops.transpose(rows, (1, 0, 2)), (new_height * new_width, -1))
    return ops.concatenate([table[:1], rows])
""",
    """
def find_the_bug(table, height, width, new_height, new_width):
    def along(values, new):  # (old, …) -> (new, …)
        old = len(values)
        at = np.clip((np.arange(new) + 0.5) * old / new - 0.5, 0, old - 1)
        low = np.floor(at).astype(int)
        share = (at - low).reshape(-1, *[1] * (values.ndim - 1))
        return (1 - share) * values[low] + share * values[np.minimum(low + 1, old - 1)]
    grid = np.asarray(table)[1:].reshape(height, width, -1)
    grid = along(grid, new_height).swapaxes(0, 1)
    grid = along(grid, new_width).swapaxes(0, 1)
    return np.concatenate([np.asarray(table)[:1], grid.reshape(new_height * new_width, -1)])
""",
]

WRONG = [
    (
        "",
        """
def find_the_bug(table, height, width, new_height, new_width):
    table = ops.convert_to_tensor(table)
    rows = ops.reshape(table[1:], (width, height, -1))
    rows = ops.image.resize(rows, (new_height, new_width), interpolation="bilinear")
    return ops.concatenate([table[:1], ops.reshape(rows, (new_height * new_width, -1))])
""",
    ),
    (
        "",
        """
def find_the_bug(table, height, width, new_height, new_width):
    table = ops.convert_to_tensor(table)
    rows = ops.reshape(table[1:], (width, height, -1))
    rows = ops.image.resize(rows, (new_width, new_height), interpolation="bilinear")
    return ops.concatenate([table[:1], ops.reshape(rows, (new_height * new_width, -1))])
""",
    ),
    (
        "",
        """
def find_the_bug(table, height, width, new_height, new_width):
    table = ops.convert_to_tensor(table)
    rows = ops.reshape(table[1:], (height, width, -1))
    rows = ops.image.resize(rows, (new_height, new_width), interpolation="nearest")
    return ops.concatenate([table[:1], ops.reshape(rows, (new_height * new_width, -1))])
""",
    ),
]

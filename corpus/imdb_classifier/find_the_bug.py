"""Lab 06, exercise `find_the_bug`: solutions as different students write them, right and wrong."""

CORRECT = [
    "find_the_bug = masked_mean",
    """
def find_the_bug(x, ids):
    x = ops.convert_to_tensor(x)
    is_word = ops.cast(ops.not_equal(ids, 0), x.dtype)
    length = ops.maximum(ops.sum(is_word, axis=1), 1)
    return ops.einsum("btd,bt->bd", x, is_word) / length[:, None]
""",
    """
def find_the_bug(x, ids):
    x = ops.convert_to_tensor(x)
    is_word = ops.cast(ops.not_equal(ids, 0), x.dtype)[..., None]
    length = ops.sum(is_word, axis=1)
    return ops.sum(x * is_word, axis=1) / ops.where(length > 0, length, 1)
""",
    """
def find_the_bug(x, ids):
    x = ops.convert_to_tensor(x)
    is_word = ops.cast(ops.not_equal(ids, 0), x.dtype)
    share = is_word / ops.maximum(ops.sum(is_word, axis=1, keepdims=True), 1)
    return ops.einsum("btd,bt->bd", x, share)
""",
    """
def find_the_bug(x, ids):
    x = ops.convert_to_tensor(x)
    is_word = ops.cast(ops.not_equal(ids, 0), x.dtype)
    length = ops.maximum(ops.mean(ops.sum(is_word, axis=1, keepdims=True), axis=1, keepdims=True), 1)
    return ops.squeeze(ops.matmul(is_word[:, None, :], x), axis=1) / length
""",
]

WRONG = [
    (
        "",
        """
def find_the_bug(x, ids):
    # This runs, and is wrong.
    x = ops.convert_to_tensor(x)
    is_word = ops.cast(ops.not_equal(ids, 0), x.dtype)
    length = ops.maximum(ops.sum(is_word, axis=1), 1)
    return ops.einsum("btd,bt->bd", x, is_word) / length
""",
    ),
    (
        "",
        """
def find_the_bug(x, ids):
    # This runs, and is wrong.
    x = ops.convert_to_tensor(x)
    is_word = ops.cast(ops.not_equal(ids, 0), x.dtype)
    length = ops.maximum(ops.mean(is_word, axis=1, keepdims=True), 1)
    return ops.einsum("btd,bt->bd", x, is_word) / length
""",
    ),
    (
        "",
        """
def find_the_bug(x, ids):
    # This runs, and is wrong.
    x = ops.convert_to_tensor(x)
    is_word = ops.cast(ops.not_equal(ids, 0), x.dtype)
    length = ops.maximum(ops.sum(is_word), 1)
    return ops.einsum("btd,bt->bd", x, is_word) / length
""",
    ),
    (
        "",
        """
def find_the_bug(x, ids):
    x = ops.convert_to_tensor(x)
    is_word = ops.cast(ops.not_equal(ids, 0), x.dtype)
    length = ops.maximum(ops.mean(ops.sum(is_word, axis=1)), 1)
    return ops.einsum("btd,bt->bd", x, is_word) / length
""",
    ),
    (
        "",
        """
def find_the_bug(x, ids):
    x = ops.convert_to_tensor(x)
    is_word = ops.cast(ops.not_equal(ids, 0), x.dtype)
    return ops.einsum("btd,bt->bd", x, is_word) / ops.sum(is_word, axis=1, keepdims=True)
""",
    ),
]

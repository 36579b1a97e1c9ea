"""Lab 10, exercise `find_the_bug`: solutions as different students write them, right and wrong."""


def returns(mask: str, rest: str = "ops.softmax(ops.where(past, scores, -1e9), axis=-1)") -> str:
    return f"def find_the_bug(scores):\n    length, total = scores.shape[-2:]\n    past = {mask}\n    return {rest}\n"


CORRECT = [
    returns("np.tri(length, total, total - length, dtype=bool)"),
    returns("np.tri(total, dtype=bool)[-length:]"),
    returns("np.arange(total) <= np.arange(total - length, total)[:, None]"),
    returns("np.tril(np.ones((length, total), dtype=bool), k=total - length)"),
    returns("np.tri(length, total, total - length, dtype=bool)", "ops.softmax(ops.where(past, scores, -np.inf))"),
    returns("ops.tril(ops.ones((length, total)), k=total - length)", "ops.softmax(ops.where(past > 0, scores, -1e9), axis=-1)"),
    returns("np.tri(length, total, total - length)", "tf.nn.softmax(tf.cast(scores, 'float32') + (past.astype('float32') - 1) * 1e9)"),
    returns("~np.triu(np.ones((length, total), dtype=bool), k=total - length + 1)"),
    returns("np.tri(length, total, total - length, dtype=bool)", "(lambda e: e / e.sum(-1, keepdims=True))(np.exp(np.where(past, np.asarray(scores), -np.inf)))"),
]  # fmt: skip

RIGHT = "np.tri(length, total, total - length, dtype=bool)"
WRONG = [
    ("", returns("np.tri(length, total, dtype=bool)")),
    ("", returns("np.tri(length, total, length - total, dtype=bool)")),
    ("", returns("np.tri(length, total, 1, dtype=bool)")),
    ("", returns("np.tri(length, total, total, dtype=bool)")),
    ("", returns("np.tri(length, total, total - length - 1, dtype=bool)")),
    ("", returns("np.tri(length, total, total - length + 1, dtype=bool)")),
    ("", returns("np.tri(length, dtype=bool)")),
    ("", returns("np.tri(total, dtype=bool)")),
    ("", returns("np.tri(total, dtype=bool)[:length]")),
    ("", returns("np.tri(total, length, dtype=bool).T")),
    ("", returns("np.ones((length, total), dtype=bool)")),
    ("", returns("np.ones((length, total), dtype=bool) if length == 1 else np.tri(length, total, dtype=bool)")),
    ("", returns("np.tri(length, total, total - length, dtype=bool)[::-1]")),
    ("", returns("~np.tri(length, total, total - length, dtype=bool)")),
    ("", returns("np.triu(np.ones((length, total), dtype=bool), k=total - length)")),
    ("", returns(RIGHT, "ops.softmax(ops.where(past, scores, 0.0), axis=-1)")),
    ("", returns(RIGHT, "ops.softmax(ops.where(past, scores, -1.0), axis=-1)")),
    ("", returns(RIGHT, "ops.softmax(ops.where(past, scores, -1e9), axis=-2)")),
    ("", returns(RIGHT, "ops.where(past, ops.softmax(scores, axis=-1), 0.0)")),
    ("", returns(RIGHT, "ops.where(past, scores, -1e9)")),
    ("", returns(RIGHT, "ops.softmax(scores * past, axis=-1)")),
    ("", returns(RIGHT, "ops.softmax(scores + past, axis=-1)")),
    ("", returns(RIGHT, "ops.softmax(ops.where(past, scores, -1e9), axis=-1)[..., -1:, :]")),
    ("", returns(RIGHT, "ops.softmax(ops.where(past, scores, -1e9) / total**0.5, axis=-1)")),
    ("", returns(RIGHT, "ops.softmax(ops.where(past, -scores, -1e9), axis=-1)")),
    ("", returns(RIGHT, "past")),
    ("", returns(RIGHT, "ops.softmax(ops.where(past, -1e9, scores), axis=-1)")),
    ("", returns(RIGHT, "ops.softmax(ops.where(past, scores, -1e9), axis=-1) * (length > 1)")),
    ("", returns(RIGHT, "ops.softmax(ops.where(past, scores, 1e-9), axis=-1)")),
    ("", returns("np.tri(max(length, total), dtype=bool)[:length, :total]")),
    ("", returns("np.eye(length, total, total - length, dtype=bool)")),
    ("", returns("np.arange(total) < np.arange(total - length, total)[:, None]")),
    ("", returns(RIGHT, "None")),
]

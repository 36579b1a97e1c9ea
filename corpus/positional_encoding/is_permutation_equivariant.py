"""Lab 05, exercise `is_permutation_equivariant`: solutions as different students write them, right and wrong."""

CORRECT = [
    # the axis counted from the end
    """
def is_permutation_equivariant(fn, x, permutation, tolerance=1e-5):
    x = np.asarray(x); a = np.asarray(fn(np.take(x, permutation, axis=-2))); b = np.take(np.asarray(fn(x)), permutation, axis=-2); return bool(np.max(np.abs(a-b)) <= tolerance)
""",
    """
def is_permutation_equivariant(fn, x, permutation, tolerance=1e-5):
    left = np.asarray(fn(tf.gather(x, permutation, axis=1)))
    right = np.asarray(fn(x))[:, np.asarray(permutation)]
    return np.allclose(left, right, rtol=0, atol=tolerance)
""",
    """
def is_permutation_equivariant(fn, x, permutation, tolerance=1e-5):
    a = ops.take(fn(x), permutation, axis=1)
    b = fn(ops.take(x, permutation, axis=1))
    return ops.all(ops.abs(a - b) <= tolerance)
""",
    # loops, numbers one by one, early exit
    """
def is_permutation_equivariant(fn, x, permutation, tolerance=1e-5):
    x = np.array(x)
    order = [int(p) for p in permutation]
    shuffled = np.stack([np.stack([sequence[p] for p in order]) for sequence in x])
    one, other = np.array(fn(shuffled)), np.array(fn(x))
    for b in range(len(x)):
        for t, p in enumerate(order):
            if np.abs(one[b, t] - other[b, p]).max() > tolerance:
                return False
    return True
""",
    # permutation matrix
    """
def is_permutation_equivariant(fn, x, permutation, tolerance=1e-5):
    P = tf.one_hot(permutation, tf.shape(x)[1], dtype=x.dtype)
    first = fn(tf.einsum("ts,bsd->btd", P, x))
    last = tf.einsum("ts,bsd->btd", tf.cast(P, first.dtype), fn(tf.convert_to_tensor(x)))
    return bool(tf.reduce_max(tf.abs(first - last)) <= tolerance)
""",
    # undo the shuffle with the inverse permutation; the type of np.bool_
    """
def is_permutation_equivariant(fn, x, permutation, tolerance=1e-5):
    x, permutation = np.asarray(x), np.asarray(permutation)
    undone = np.asarray(fn(x[:, permutation]))[:, np.argsort(permutation)]
    return np.max(np.abs(undone - np.asarray(fn(x)))) <= tolerance
""",
    # allclose without its relative part, on reduced differences
    """
def is_permutation_equivariant(fn, x, permutation, tolerance=1e-5):
    permute = lambda z: np.take(np.asarray(z), permutation, axis=1)
    return np.allclose(fn(permute(x)) - permute(fn(x)), 0, atol=tolerance)
""",
]

WRONG = [
    (
        "",
        """
def is_permutation_equivariant(fn, x, permutation, tolerance=1e-5):
    a = fn(x[:, permutation]); b = fn(x)[:, permutation]; return bool(np.max(np.abs(a-b)) <= tolerance)
""",
    ),
    (
        "",
        """
def is_permutation_equivariant(fn, x, permutation, tolerance=1e-5):
    x = np.asarray(x); a = np.asarray(fn(x[:, permutation])); b = np.asarray(fn(x))[:, permutation]; return np.abs(a-b) <= tolerance
""",
    ),
    ("one_entry_suffices", 'def is_permutation_equivariant(fn, x, permutation, tolerance=1e-5):\n    x = np.asarray(x)\n    a = np.asarray(fn(x[:, permutation])); b = np.asarray(fn(x))[:, permutation]\n    return bool(np.min(np.abs(a - b)) <= tolerance)'),
    ("permutation_ignored", 'def is_permutation_equivariant(fn, x, permutation, tolerance=1e-5):\n    x = np.asarray(x); permutation = np.arange(x.shape[1])[::-1]\n    a = np.asarray(fn(x[:, permutation])); b = np.asarray(fn(x))[:, permutation]\n    return bool(np.max(np.abs(a - b)) <= tolerance)'),
    ("no_absolute_value", 'def is_permutation_equivariant(fn, x, permutation, tolerance=1e-5):\n    x = np.asarray(x)\n    a = np.asarray(fn(x[:, permutation])); b = np.asarray(fn(x))[:, permutation]\n    return bool(np.max(a - b) <= tolerance)'),
    ("tests_invariance", "def is_permutation_equivariant(fn, x, permutation, tolerance=1e-5):\n    return bool(ops.max(ops.abs(fn(ops.take(x, permutation, axis=1)) - fn(x))) <= tolerance)"),
    ("inverse_on_one_side", "def is_permutation_equivariant(fn, x, permutation, tolerance=1e-5):\n    back = np.argsort(np.asarray(permutation))\n    return bool(ops.max(ops.abs(fn(ops.take(x, permutation, axis=1)) - ops.take(fn(x), back, axis=1))) <= tolerance)"),
    ("always_yes", "def is_permutation_equivariant(fn, x, permutation, tolerance=1e-5):\n    y = ops.take(fn(x), permutation, axis=1)\n    return bool(ops.max(ops.abs(y - ops.take(fn(x), permutation, axis=1))) <= tolerance)"),
    ("mean_difference", "def is_permutation_equivariant(fn, x, permutation, tolerance=1e-5):\n    return bool(ops.mean(ops.abs(fn(ops.take(x, permutation, axis=1)) - ops.take(fn(x), permutation, axis=1))) <= tolerance)"),
    ("tolerance_ignored", "def is_permutation_equivariant(fn, x, permutation, tolerance=1e-5):\n    return bool(ops.max(ops.abs(fn(ops.take(x, permutation, axis=1)) - ops.take(fn(x), permutation, axis=1))) <= 1e-5)"),
    ("first_sequence_only", "def is_permutation_equivariant(fn, x, permutation, tolerance=1e-5):\n    return bool(ops.max(ops.abs(fn(ops.take(x, permutation, axis=1)) - ops.take(fn(x), permutation, axis=1))[0]) <= tolerance)"),
    ("negated", "def is_permutation_equivariant(fn, x, permutation, tolerance=1e-5):\n    return bool(ops.max(ops.abs(fn(ops.take(x, permutation, axis=1)) - ops.take(fn(x), permutation, axis=1))) > tolerance)"),
    ("shuffles_sequences", "def is_permutation_equivariant(fn, x, permutation, tolerance=1e-5):\n    return np.allclose(fn(x[permutation]), fn(x)[permutation], atol=tolerance)"),
    ("shuffles_features", "def is_permutation_equivariant(fn, x, permutation, tolerance=1e-5):\n    return np.allclose(fn(x[..., permutation]), fn(x)[..., permutation], atol=tolerance)"),
    (None, "def is_permutation_equivariant(fn, x, permutation, tolerance=1e-5):\n    return float(ops.max(ops.abs(fn(ops.take(x, permutation, axis=1)) - ops.take(fn(x), permutation, axis=1))))"),
    ("relative_part", 'def is_permutation_equivariant(fn, x, permutation, tolerance=1e-5):\n    x = ops.convert_to_tensor(x)\n    a = np.asarray(fn(ops.take(x, permutation, axis=1))); b = np.asarray(fn(x))[:, permutation]\n    return np.allclose(a, b, atol=tolerance)'),
    ("relative_only", 'def is_permutation_equivariant(fn, x, permutation, tolerance=1e-5):\n    x = ops.convert_to_tensor(x)\n    a = np.asarray(fn(ops.take(x, permutation, axis=1))); b = np.asarray(fn(x))[:, permutation]\n    return bool(np.max(np.abs(a - b)) / np.max(np.abs(b)) <= tolerance)'),
    ("summed_up", 'def is_permutation_equivariant(fn, x, permutation, tolerance=1e-5):\n    x = ops.convert_to_tensor(x)\n    a = np.asarray(fn(ops.take(x, permutation, axis=1))); b = np.asarray(fn(x))[:, permutation]\n    return bool(np.linalg.norm(a - b) <= tolerance)'),
    ("summed_up", 'def is_permutation_equivariant(fn, x, permutation, tolerance=1e-5):\n    x = ops.convert_to_tensor(x)\n    a = np.asarray(fn(ops.take(x, permutation, axis=1))); b = np.asarray(fn(x))[:, permutation]\n    return bool(np.linalg.norm(a - b, axis=-1).max() <= tolerance)'),
    ("all_added", 'def is_permutation_equivariant(fn, x, permutation, tolerance=1e-5):\n    x = ops.convert_to_tensor(x)\n    a = np.asarray(fn(ops.take(x, permutation, axis=1))); b = np.asarray(fn(x))[:, permutation]\n    return bool(np.abs(a - b).sum() <= tolerance)'),
    ("relative_entries", 'def is_permutation_equivariant(fn, x, permutation, tolerance=1e-5):\n    x = ops.convert_to_tensor(x)\n    a = np.asarray(fn(ops.take(x, permutation, axis=1))); b = np.asarray(fn(x))[:, permutation]\n    return bool(np.max(np.abs(a - b) / np.abs(b)) <= tolerance)'),
    ("always_no", 'def is_permutation_equivariant(fn, x, permutation, tolerance=1e-5):\n    x = ops.convert_to_tensor(x)\n    a = np.asarray(fn(ops.take(x, permutation, axis=1))); b = np.asarray(fn(x))[:, :, permutation]\n    return bool(np.max(np.abs(a - b)) <= tolerance)'),
    ("last_sequence_only", 'def is_permutation_equivariant(fn, x, permutation, tolerance=1e-5):\n    x = ops.convert_to_tensor(x)\n    a = np.asarray(fn(ops.take(x, permutation, axis=1))); b = np.asarray(fn(x))[:, permutation]\n    return bool(np.max(np.abs(a - b)[-1]) <= tolerance)'),
    ("first_sequence_only", 'def is_permutation_equivariant(fn, x, permutation, tolerance=1e-5):\n    x = ops.convert_to_tensor(x)[:1]\n    a = np.asarray(fn(ops.take(x, permutation, axis=1))); b = np.asarray(fn(x))[:, permutation]\n    return bool(np.max(np.abs(a - b)) <= tolerance)'),
    ("first_sequence_only", 'def is_permutation_equivariant(fn, x, permutation, tolerance=1e-5):\n    x = ops.convert_to_tensor(x)[-1:]\n    a = np.asarray(fn(ops.take(x, permutation, axis=1))); b = np.asarray(fn(x))[:, permutation]\n    return bool(np.max(np.abs(a - b)) <= tolerance)'),
    ("first_feature_only", 'def is_permutation_equivariant(fn, x, permutation, tolerance=1e-5):\n    x = ops.convert_to_tensor(x)\n    a = np.asarray(fn(ops.take(x, permutation, axis=1))); b = np.asarray(fn(x))[:, permutation]\n    return bool(np.max(np.abs(a - b)[..., 0]) <= tolerance)'),
    ("last_feature_only", 'def is_permutation_equivariant(fn, x, permutation, tolerance=1e-5):\n    x = ops.convert_to_tensor(x)\n    a = np.asarray(fn(ops.take(x, permutation, axis=1))); b = np.asarray(fn(x))[:, permutation]\n    return bool(np.max(np.abs(a - b)[..., -1]) <= tolerance)'),
    ("first_token_only", 'def is_permutation_equivariant(fn, x, permutation, tolerance=1e-5):\n    x = ops.convert_to_tensor(x)\n    a = np.asarray(fn(ops.take(x, permutation, axis=1))); b = np.asarray(fn(x))[:, permutation]\n    return bool(np.max(np.abs(a - b)[:, 0]) <= tolerance)'),
    ("", 'def is_permutation_equivariant(fn, x, permutation, tolerance=1e-5):\n    x = ops.convert_to_tensor(x)\n    a = np.asarray(fn(ops.take(x, permutation, axis=1))); b = np.asarray(fn(x))[:, permutation]\n    return bool(np.max(np.abs(a - b)[:, -1]) <= tolerance)'),
    ("", 'def is_permutation_equivariant(fn, x, permutation, tolerance=1e-5):\n    x = ops.convert_to_tensor(x)\n    a = np.asarray(fn(ops.take(x, permutation, axis=1))); b = np.asarray(fn(x))[:, permutation]\n    return bool(np.max(np.abs(a - b)[..., :x.shape[-1]]) <= tolerance)'),
    ("not_if_invariant", 'def is_permutation_equivariant(fn, x, permutation, tolerance=1e-5):\n    x = ops.convert_to_tensor(x)\n    a = np.asarray(fn(ops.take(x, permutation, axis=1))); b = np.asarray(fn(x))[:, permutation]\n    c = np.asarray(fn(x))\n    return bool(np.max(np.abs(a - c)) > tolerance and np.max(np.abs(a - b)) <= tolerance)'),
    ("always_no", "def is_permutation_equivariant(fn, x, permutation, tolerance=1e-5):\n    return fn(ops.take(x, permutation, axis=1)) is ops.take(fn(x), permutation, axis=1)"),
    ("strictly_below", "def is_permutation_equivariant(fn, x, permutation, tolerance=1e-5):\n    a, b = fn(ops.take(x, permutation, axis=1)), ops.take(fn(x), permutation, axis=1)\n    return bool(ops.max(ops.abs(a - b)) < tolerance)"),
    # the tolerance of an earlier call is kept
    ("", "def is_permutation_equivariant(fn, x, permutation, tolerance=None, kept={}):\n    kept['last'] = tolerance or kept.get('last', 1e-5)\n    return bool(ops.max(ops.abs(fn(ops.take(x, permutation, axis=1)) - ops.take(fn(x), permutation, axis=1))) <= kept['last'])"),
    ("", "def is_permutation_equivariant(fn, x, permutation, tolerance=None, kept=[]):\n    kept += [tolerance] if tolerance else []\n    limit = tolerance or (kept or [1e-5])[0]\n    return bool(ops.max(ops.abs(fn(ops.take(x, permutation, axis=1)) - ops.take(fn(x), permutation, axis=1))) <= limit)"),
]  # fmt: skip

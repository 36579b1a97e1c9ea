"""Lab 08, exercise `combine_masks`: solutions as different students write them, right and wrong."""

CORRECT = [
    # NumPy's own & for truth values and integers
    """
import functools, operator
def combine_masks(*masks):
    kept = [np.asarray(m) for m in masks if m is not None]
    return functools.reduce(operator.and_, kept) if kept else None
""",
    """
from functools import reduce
def combine_masks(*masks):
    masks = [tf.cast(mask, tf.bool) for mask in masks if mask is not None]
    return reduce(tf.logical_and, masks) if masks else None
""",
    """
def combine_masks(*masks):
    masks = [np.asarray(mask).astype(bool) for mask in masks if mask is not None]
    if not masks:
        return None
    result = np.ones((), dtype=bool)
    for mask in masks:
        result = result & mask
    return result
""",
    # a product of numbers
    """
def combine_masks(*masks):
    product = 1
    for mask in masks:
        if mask is not None:
            product = product * np.asarray(mask, "int64")
    return None if isinstance(product, int) else product
""",
    # the smallest of all
    """
def combine_masks(*masks):
    kept = [ops.cast(mask, "int32") for mask in masks if mask is not None]
    if len(kept) == 0:
        return None
    smallest = kept[0]
    for other in kept[1:]:
        smallest = ops.minimum(smallest, other)
    return ops.cast(smallest, "bool")
""",
    # by what is blocked, recursively
    """
def combine_masks(*masks):
    if not masks:
        return None
    rest = combine_masks(*masks[1:])
    if masks[0] is None or rest is None:
        return rest if masks[0] is None else tf.cast(masks[0], "bool")
    return tf.logical_not(tf.logical_or(tf.logical_not(tf.cast(masks[0], "bool")), tf.logical_not(rest)))
""",
    """
def combine_masks(*masks):
    masks = [np.array(m) for m in masks if m is not None]
    if masks:
        return np.all(np.stack([m != 0 for m in np.broadcast_arrays(*masks)]), axis=0)
""",
]

WRONG = [
    (
        "or",
        "from functools import reduce\ndef combine_masks(*masks):\n    masks = [np.asarray(m) for m in masks if m is not None]\n"
        "    return reduce(np.logical_or, masks) if masks else None",
    ),
    (
        "added",
        "def combine_masks(*masks):\n    masks = [np.asarray(m).astype('int64') for m in masks if m is not None]\n"
        "    return sum(masks) if masks else None",
    ),
    (
        "only_two",
        "def combine_masks(*masks):\n    masks = [np.asarray(m).astype(bool) for m in masks if m is not None]\n"
        "    return None if not masks else masks[0] if len(masks) == 1 else masks[0] & masks[1]",
    ),
    (
        "only_the_last",
        "def combine_masks(*masks):\n    masks = [m for m in masks if m is not None]\n    return masks[-1] if masks else None",
    ),
    # neither None nor no mask at all
    (None, "from functools import reduce\ndef combine_masks(*masks):\n    return reduce(np.logical_and, masks)"),
    # no broadcasting
    (
        None,
        "def combine_masks(*masks):\n    masks = [np.asarray(m) for m in masks if m is not None]\n"
        "    return np.all(masks, axis=0) if masks else None",
    ),
    (
        None,
        "from functools import reduce\ndef combine_masks(*masks):\n    if not masks or any(m is None for m in masks):\n        return None\n"
        "    return reduce(ops.logical_and, [ops.cast(m, 'bool') for m in masks])",
    ),
    # no `return`
    (None, "def combine_masks(*masks):\n    masks = [np.asarray(m) for m in masks if m is not None]\n    sum(masks)"),
    # what NumPy does by itself and TensorFlow does not: an int32, an int64 and a bool together
    *(
        (
            None,
            f"import operator\nfrom functools import reduce\ndef combine_masks(*masks):\n    masks = [m for m in masks if m is not None]\n"
            f"    return reduce(operator.{name}, masks) if masks else None",
        )
        for name in ("and_", "mul")
    ),
    # two masks only
    (None, "def combine_masks(a, b):\n    return a & b"),
]

"""Lab 04, exercise `find_the_bug`: solutions as different students write them, right and wrong."""

CORRECT = [
    """
def find_the_bug(x, norms, sublayers):
    stream = [x]
    for norm, sublayer in zip(norms, sublayers, strict=True):
        x = x + sublayer(norm(x))
        stream.append(x)
    return np.stack(stream)
""",
    """
def find_the_bug(x, norms, sublayers):
    x = x.copy()
    stream = [x.copy()]
    for norm, sublayer in zip(norms, sublayers, strict=True):
        x += sublayer(norm(x))
        stream.append(x.copy())
    return np.stack(stream)
""",
    """
def find_the_bug(x, norms, sublayers):
    stream = np.empty((len(norms) + 1, *x.shape), x.dtype)
    stream[0] = x
    for i, (norm, sublayer) in enumerate(zip(norms, sublayers)):
        stream[i + 1] = stream[i] + sublayer(norm(stream[i]))
    return stream
""",
    """
from itertools import accumulate
def find_the_bug(x, norms, sublayers):
    pairs = zip(norms, sublayers)
    return list(accumulate(pairs, lambda tokens, pair: tokens + pair[1](pair[0](tokens)), initial=x))
""",
    """
def find_the_bug(x, norms, sublayers):
    x = ops.convert_to_tensor(x)
    stream = [x]
    for norm, sublayer in zip(norms, sublayers):
        x += sublayer(norm(x))
        stream.append(x)
    return ops.stack(stream)
""",
]

WRONG = [
    (
        "",
        """
def find_the_bug(x, norms, sublayers):
    stream = [x]
    for norm, sublayer in zip(norms, sublayers, strict=True):
        x += sublayer(norm(x))
        stream.append(x)
    return np.stack(stream)
""",
    ),
    (
        "start_changed",
        """
def find_the_bug(x, norms, sublayers):
    stream = [x]
    for norm, sublayer in zip(norms, sublayers, strict=True):
        x += sublayer(norm(x))
        stream.append(x.copy())
    return np.stack(stream)
""",
    ),
    (
        "start_missing",
        """
def find_the_bug(x, norms, sublayers):
    stream = []
    for norm, sublayer in zip(norms, sublayers, strict=True):
        x = x + sublayer(norm(x))
        stream.append(x)
    return np.stack(stream)
""",
    ),
    (
        "end_missing",
        """
def find_the_bug(x, norms, sublayers):
    stream = []
    for norm, sublayer in zip(norms, sublayers, strict=True):
        stream.append(x)
        x = x + sublayer(norm(x))
    return np.stack(stream)
""",
    ),
    (
        "sublayer_not_normed",
        """
def find_the_bug(x, norms, sublayers):
    stream = [x]
    for norm, sublayer in zip(norms, sublayers, strict=True):
        x = x + sublayer(x)
        stream.append(x)
    return np.stack(stream)
""",
    ),
    (
        "",
        """
def find_the_bug(x, norms, sublayers):
    stream = [x]
    for norm, sublayer in zip(norms, sublayers, strict=True):
        h = norm(x)
        x = h + sublayer(h)
        stream.append(x)
    return np.stack(stream)
""",
    ),
]

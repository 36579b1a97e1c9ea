"""Lab 04, exercise `find_the_bug`: solutions as different students write them, right and wrong."""

CORRECT = [
    """
def find_the_bug(x, norms, sublayers, final_norm):
    for norm, sublayer in zip(norms, sublayers):
        h = norm(x)
        x = x + sublayer(h)
    return final_norm(x)
""",
    """
def find_the_bug(x, norms, sublayers, final_norm):
    for i in range(len(norms)):
        residual = x
        x = norms[i](x)
        x = sublayers[i](x)
        x = residual + x
    return final_norm(x)
""",
    """
def find_the_bug(x, norms, sublayers, final_norm):
    if not norms:
        return final_norm(x)
    return find_the_bug(ops.add(x, sublayers[0](norms[0](x))), norms[1:], sublayers[1:], final_norm)
""",
    """
from functools import reduce
def find_the_bug(x, norms, sublayers, final_norm):
    return final_norm(reduce(lambda token, pair: token + pair[1](pair[0](token)), zip(norms, sublayers), x))
""",
    """
def find_the_bug(x, norms, sublayers, final_norm):
    x = np.asarray(x).copy()
    for norm, sublayer in zip(norms, sublayers):
        x += np.asarray(sublayer(norm(x)))
    return np.asarray(final_norm(x))
""",
]

WRONG = [
    (
        "",
        """
def find_the_bug(x, norms, sublayers, final_norm):
    for norm, sublayer in zip(norms, sublayers, strict=True):
        x = norm(x)
        x = x + sublayer(x)
    return final_norm(x)
""",
    ),
    (
        "sublayer_not_normed",
        """
def find_the_bug(x, norms, sublayers, final_norm):
    for norm, sublayer in zip(norms, sublayers, strict=True):
        x = x + sublayer(x)
    return final_norm(x)
""",
    ),
    (
        "norm_after_sum",
        """
def find_the_bug(x, norms, sublayers, final_norm):
    for norm, sublayer in zip(norms, sublayers, strict=True):
        x = norm(x + sublayer(x))
    return final_norm(x)
""",
    ),
    (
        "output_normed",
        """
def find_the_bug(x, norms, sublayers, final_norm):
    for norm, sublayer in zip(norms, sublayers, strict=True):
        x = x + norm(sublayer(x))
    return final_norm(x)
""",
    ),
    (
        "",
        """
def find_the_bug(x, norms, sublayers, final_norm):
    for norm, sublayer in zip(norms, sublayers, strict=True):
        x = x + sublayer(norm(x)) + norm(x)
    return final_norm(x)
""",
    ),
    (
        "",
        """
def find_the_bug(x, norms, sublayers, final_norm):
    for norm, sublayer in zip(norms, sublayers, strict=True):
        h = norm(x)
        x = h + sublayer(x)
    return final_norm(x)
""",
    ),
]

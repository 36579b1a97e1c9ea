"""Lab 01, exercise `measure_bandwidth`: solutions as different students write them, right and wrong."""


def measured(*changes: tuple[str, str]) -> str:
    source = PLAIN
    for old, new in changes:
        assert source.count(old) == 1, old
        source = source.replace(old, new)
    return source


def pooled(*changes: tuple[str, str]) -> str:
    source = WHOLE
    for old, new in changes:
        assert source.count(old) == 1, old
        source = source.replace(old, new)
    return source


POOLING = """
def attention_pooling(query, keys, values, bandwidth=1.0):
    scores = -ops.sum((ops.convert_to_tensor(query) - keys) ** 2, axis=-1) / (2 * bandwidth**2)
    weights = ops.softmax(scores)
    return ops.matmul(weights, values), weights
"""

PLAIN = (
    POOLING
    + """
def measure_bandwidth(x, y, bandwidths):
    n = len(x)
    errors = []
    for b in bandwidths:
        total = 0
        for i in range(n):
            keep = np.arange(n) != i
            output, _ = attention_pooling(x[i], x[keep], y[keep][:, None], b)
            total += (float(output[0]) - y[i]) ** 2
        errors.append(total / n)
    base = 0
    for i in range(n):
        base += (np.delete(y, i).mean() - y[i]) ** 2
    return {"errors": errors, "best": bandwidths[np.argmin(errors)], "base_rate": base / n}
"""
)

WHOLE = """
def measure_bandwidth(x, y, bandwidths):
    d2 = np.sum((x[:, None, :] - x[None, :, :]) ** 2, axis=-1)
    errors = np.zeros(len(bandwidths))
    for n, b in enumerate(bandwidths):
        s = -d2 / (2 * b**2)
        np.fill_diagonal(s, -np.inf)
        w = np.exp(s - s.max(axis=1, keepdims=True))
        w /= w.sum(axis=1, keepdims=True)
        errors[n] = np.mean((w @ y - y) ** 2)
    base = np.mean((y - y.mean()) ** 2) * (len(y) / (len(y) - 1)) ** 2
    return dict(errors=errors, best=float(bandwidths[errors.argmin()]), base_rate=base)
"""

CORRECT = [
    PLAIN,
    WHOLE,
    # values (S,), as they are
    measured(("y[keep][:, None]", "y[keep]"), ("float(output[0])", "float(output)")),
    # np.delete, and a dictionary of errors
    measured(
        ("x[keep], y[keep][:, None]", "np.delete(x, i, axis=0), np.delete(y, i)[:, None]"),
        ("bandwidths[np.argmin(errors)]", "min(zip(errors, bandwidths))[1]"),
    ),
    # all bandwidths at once, tensors
    """
def measure_bandwidth(x, y, bandwidths):
    x, y, b = (ops.convert_to_tensor(each) for each in (x, y, bandwidths))
    d2 = ops.sum((x[:, None] - x[None]) ** 2, axis=-1)
    s = -d2[None] / (2 * b[:, None, None] ** 2) - 1e30 * ops.eye(len(x))
    guess = ops.matmul(ops.softmax(s), y)
    errors = ops.mean((guess - y) ** 2, axis=-1)
    others = (ops.sum(y) - y) / (len(y) - 1)
    return {"errors": errors, "best": b[int(ops.argmin(errors))], "base_rate": ops.mean((others - y) ** 2)}
""",
    # an infinite distance from itself; the base rate as a pooling with equal weights
    """
def measure_bandwidth(x, y, bandwidths):
    d2 = ((x[:, None] - x) ** 2).sum(-1).astype("float64")
    d2[np.diag_indices(len(x))] = np.inf
    def error(b):
        d = d2 - d2.min(axis=1, keepdims=True)
        k = np.exp(-d / (2 * float(b) ** 2))
        return float((((k * y).sum(1) / k.sum(1) - y) ** 2).mean())
    found = {float(b): error(b) for b in bandwidths}
    equal = (1 - np.eye(len(y))) / (len(y) - 1)
    return {"base_rate": ((equal @ y - y) ** 2).mean(), "best": min(found, key=found.get), "errors": list(found.values())}
""",
    """
def measure_bandwidth(x, y, bandwidths):
    d2 = ((x[:, None].astype("float64") - x) ** 2).sum(-1)
    np.fill_diagonal(d2, np.inf)
    errors = []
    for b in np.asarray(bandwidths, "float64"):
        z = -d2 / (2 * b * b)
        w = np.exp(z - z.max(1, keepdims=True)); w /= w.sum(1, keepdims=True)
        errors.append(((w @ y - y) ** 2).mean())
    n = len(y)
    return dict(errors=errors, best=bandwidths[np.argmin(errors)], base_rate=y.var() * (n / (n - 1)) ** 2)
""",
]

# the lowest number that there is
CORRECT.append(pooled(("-np.inf", "np.finfo(s.dtype).min")))

LEFT_IN = ("        np.fill_diagonal(s, -np.inf)\n", "")
NORMALISED = "        w /= w.sum(axis=1, keepdims=True)\n"

WRONG = [
    ("left_in", pooled(LEFT_IN)),
    ("left_in", measured(("np.arange(n) != i", "np.arange(n) >= 0"))),
    # an exponent of 0 is what it had
    ("left_in", pooled(("-np.inf", "0"))),
    ("not_renormalised", pooled(LEFT_IN, (NORMALISED, NORMALISED + "        np.fill_diagonal(w, 0)\n"))),
    ("root", pooled(("np.mean((w @ y - y) ** 2)", "np.mean((w @ y - y) ** 2) ** 0.5"), ("base = np.mean((y - y.mean()) ** 2) * (len(y) / (len(y) - 1)) ** 2", "base = np.mean((y - y.mean()) ** 2) ** 0.5 * len(y) / (len(y) - 1)"))),
    ("position_returned", measured(("bandwidths[np.argmin(errors)]", "np.argmin(errors)"))),
    ("smallest_error_returned", measured(("bandwidths[np.argmin(errors)]", "min(errors)"))),
    ("largest_error", measured(("np.argmin", "np.argmax"))),
    ("base_with_itself", pooled((" * (len(y) / (len(y) - 1)) ** 2", ""))),
    ("base_variance", pooled((" * (len(y) / (len(y) - 1)) ** 2", " * len(y) / (len(y) - 1)"))),
    ("absolute", measured(("(float(output[0]) - y[i]) ** 2", "abs(float(output[0]) - y[i])"), ("(np.delete(y, i).mean() - y[i]) ** 2", "abs(np.delete(y, i).mean() - y[i])"))),
    ("summed", measured(("total / n", "total"), ("base / n", "base"))),
    ("one_error_fewer", measured(("total / n", "total / (n - 1)"), ("base / n", "base / (n - 1)"))),
    ("same_x_left_out", pooled(("np.fill_diagonal(s, -np.inf)", "s[d2 == 0] = -np.inf"))),
    ("unstable_kernel", pooled(("np.exp(s - s.max(axis=1, keepdims=True))", "np.exp(s)"))),
    # as a masked score, which has a scale of its own
    ("low_number", pooled(("-np.inf", "-1e9"))),
    ("low_number", pooled(("-np.inf", "-1e6"))),
    ("low_number", pooled(("np.fill_diagonal(s, -np.inf)", "s -= 1e12 * np.eye(len(x))"))),
    ("low_number_and_position", pooled(("-np.inf", "-1e9"), ("float(bandwidths[errors.argmin()])", "int(errors.argmin())"))),
    ("same_x_low_number", pooled(("np.fill_diagonal(s, -np.inf)", "s[d2 == 0] = -1e9"))),
    ("same_x_low_number", pooled(("np.fill_diagonal(s, -np.inf)", "s = np.where(d2 == 0, -1e12, s)"))),
    ("softmax_over_predicted", pooled(("s.max(axis=1, keepdims=True)", "s.max(axis=0)"), ("w.sum(axis=1, keepdims=True)", "w.sum(axis=0)"))),
    ("softmax_over_predicted", pooled(("w /= w.sum(axis=1, keepdims=True)", "w = np.asarray(softmax(s, axis=0))"))),
    ("divided_by_all", measured(("np.delete(y, i).mean()", "np.delete(y, i).sum() / n"))),
    ("first_column_only", pooled(("np.sum((x[:, None, :] - x[None, :, :]) ** 2, axis=-1)", "(x[:, None, 0] - x[None, :, 0]) ** 2"))),
    # left out after the softmax, then divided again
    ("", pooled(LEFT_IN, (NORMALISED, "        np.fill_diagonal(w, 0)\n" + NORMALISED))),
    # the root for the errors alone
    ("", pooled(("np.mean((w @ y - y) ** 2)", "np.mean((w @ y - y) ** 2) ** 0.5"))),
    # the first bandwidth, the smallest
    ("", measured(("bandwidths[np.argmin(errors)]", "bandwidths[0]"))),
    ("", measured(("bandwidths[np.argmin(errors)]", "min(bandwidths)"))),
    # sorted
    ("", measured(("for b in bandwidths", "for b in sorted(bandwidths)"))),
    # the point after it is left out
    ("", measured(("!= i", "!= (i + 1) % n"))),
    # no dictionary, an entry missing, nothing
    ("", pooled(("dict(errors=errors, best=float(bandwidths[errors.argmin()]), base_rate=base)", "errors, bandwidths[errors.argmin()], base"))),
    ("", pooled((", base_rate=base", ""))),
    ("", pooled(("return dict", "dict"))),
    # the argument is changed
    ("", measured(("    n = len(x)\n", "    n = len(x)\n    x -= x.mean(axis=0)\n"))),
    ("errors_absolute", """
def measure_bandwidth(x, y, bandwidths):
    errors = []
    n = len(x)
    for b in bandwidths:
        e = []
        for i in range(n):
            others = np.arange(n) != i
            pred = np.asarray(attention_pooling(x[i], x[others], y[others][:, None], b)[0])[0]
            e.append(abs(pred - y[i]))
        errors.append(np.mean(e))
    base = np.mean([(y[np.arange(n) != i].mean() - y[i]) ** 2 for i in range(n)])
    return {"errors": np.array(errors), "best": bandwidths[int(np.argmin(errors))], "base_rate": base}
"""),
    ("errors_summed", """
def measure_bandwidth(x, y, bandwidths):
    errors = []
    n = len(x)
    for b in bandwidths:
        e = []
        for i in range(n):
            others = np.arange(n) != i
            pred = np.asarray(attention_pooling(x[i], x[others], y[others][:, None], b)[0])[0]
            e.append((pred - y[i]) ** 2)
        errors.append(np.sum(e))
    base = np.mean([(y[np.arange(n) != i].mean() - y[i]) ** 2 for i in range(n)])
    return {"errors": np.array(errors), "best": bandwidths[int(np.argmin(errors))], "base_rate": base}
"""),
    ("errors_rooted", """
def measure_bandwidth(x, y, bandwidths):
    errors = []
    n = len(x)
    for b in bandwidths:
        e = []
        for i in range(n):
            others = np.arange(n) != i
            pred = np.asarray(attention_pooling(x[i], x[others], y[others][:, None], b)[0])[0]
            e.append((pred - y[i]) ** 2)
        errors.append(np.mean(e)**0.5)
    base = np.mean([(y[np.arange(n) != i].mean() - y[i]) ** 2 for i in range(n)])
    return {"errors": np.array(errors), "best": bandwidths[int(np.argmin(errors))], "base_rate": base}
"""),
    ("errors_signed", """
def measure_bandwidth(x, y, bandwidths):
    errors = []
    n = len(x)
    for b in bandwidths:
        e = []
        for i in range(n):
            others = np.arange(n) != i
            pred = np.asarray(attention_pooling(x[i], x[others], y[others][:, None], b)[0])[0]
            e.append(pred - y[i])
        errors.append(np.mean(e))
    base = np.mean([(y[np.arange(n) != i].mean() - y[i]) ** 2 for i in range(n)])
    return {"errors": np.array(errors), "best": bandwidths[int(np.argmin(errors))], "base_rate": base}
"""),
    ("sorted", """
def measure_bandwidth(x, y, bandwidths):
    errors = []
    bandwidths = np.sort(bandwidths)
    n = len(x)
    for b in bandwidths:
        e = []
        for i in range(n):
            others = np.arange(n) != i
            pred = np.asarray(attention_pooling(x[i], x[others], y[others][:, None], b)[0])[0]
            e.append((pred - y[i]) ** 2)
        errors.append(np.mean(e))
    base = np.mean([(y[np.arange(n) != i].mean() - y[i]) ** 2 for i in range(n)])
    return {"errors": np.array(errors), "best": bandwidths[int(np.argmin(errors))], "base_rate": base}
"""),
    ("", """
def measure_bandwidth(x, y, bandwidths):
    errors = []
    n = len(x)
    for b in bandwidths:
        e = []
        for i in range(n):
            others = np.arange(n) != 0
            pred = np.asarray(attention_pooling(x[i], x[others], y[others][:, None], b)[0])[0]
            e.append((pred - y[i]) ** 2)
        errors.append(np.mean(e))
    base = np.mean([(y[np.arange(n) != i].mean() - y[i]) ** 2 for i in range(n)])
    return {"errors": np.array(errors), "best": bandwidths[int(np.argmin(errors))], "base_rate": base}
"""),
    ("not_renormalised", """
def measure_bandwidth(x, y, bandwidths):
    d2 = ((x[:, None].astype("float64") - x) ** 2).sum(-1)
    errors = []
    for b in np.asarray(bandwidths, "float64"):
        z = -d2 / (2 * b * b)
        w = np.exp(z - z.max(1, keepdims=True)); w /= w.sum(1, keepdims=True)
        np.fill_diagonal(w, 0)
        errors.append(((w @ y - y) ** 2).mean())
    n = len(y)
    return dict(errors=errors, best=bandwidths[np.argmin(errors)], base_rate=y.var() * (n / (n - 1)) ** 2)
"""),
]  # fmt: skip

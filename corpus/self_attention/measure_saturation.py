"""Lab 02, exercise `measure_saturation`: solutions as different students write them, right and wrong."""


def measured(*changes: tuple[str, str]) -> str:
    source = PLAIN
    for old, new in changes:
        assert source.count(old) == 1, old
        source = source.replace(old, new)
    return source


PLAIN = """
def measure_saturation(draw, widths, seeds, threshold=0.9):
    def largest(scores):
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        weights = powers / powers.sum(axis=1, keepdims=True)
        return weights.max(axis=1).mean()

    unscaled, scaled = [], []
    for d in widths:
        plain, divided = [], []
        for seed in seeds:
            q, k = draw(seed, d)
            plain.append(largest(q @ k.T))
            divided.append(largest(q @ k.T / np.sqrt(d)))
        unscaled.append(np.mean(plain))
        scaled.append(np.mean(divided))

    def first(means):
        return next((d for d, mean in zip(widths, means) if mean > threshold), None)

    return {
        "unscaled": unscaled, "scaled": scaled, "first_unscaled": first(unscaled), "first_scaled": first(scaled),
        "base": 1 / len(k),
    }
"""

CORRECT = [
    PLAIN,
    # each setting draws again: the same seeds give the same draws
    """
def measure_saturation(draw, widths, seeds, threshold=0.9):
    def mean(d, divisor):
        both = [draw(seed, d) for seed in seeds]
        return float(np.mean([ops.max(ops.softmax(q @ k.T / divisor), axis=-1) for q, k in both]))
    result = {"base": 1.0 / draw(seeds[0], widths[0])[1].shape[0]}
    result["unscaled"] = {d: mean(d, 1) for d in widths}
    result["scaled"] = {d: mean(d, d ** 0.5) for d in widths}
    for name in ("unscaled", "scaled"):
        passing = [d for d, value in result[name].items() if value > threshold]
        result["first_" + name] = min(passing) if passing else None
        result[name] = list(result[name].values())
    return result
""",
    # all seeds of a width at once, from the last seed to the first
    """
def measure_saturation(draw, widths, seeds, threshold=0.9):
    means = np.zeros((len(widths), 2))
    for i, d in enumerate(widths):
        q, k = (np.stack(each) for each in zip(*(draw(s, d) for s in reversed(seeds))))
        scores = tf.einsum("ntd,nsd->nts", q, k)
        for j, divisor in enumerate([1.0, d ** 0.5]):
            means[i, j] = tf.reduce_mean(tf.reduce_max(tf.nn.softmax(scores / divisor), axis=-1))
    firsts = []
    for column in means.T:
        firsts.append(np.array(widths)[column > threshold][0] if (column > threshold).any() else None)
    return dict(unscaled=means[:, 0], scaled=means[:, 1], first_unscaled=firsts[0], first_scaled=firsts[1], base=1 / k.shape[1])
""",
    # the largest weight without a softmax: 1 over the sum of exp(score - largest)
    """
def measure_saturation(draw, widths, seeds, threshold=0.9):
    rows = {False: [], True: []}
    for d in widths:
        for with_root, found in rows.items():
            sums = 0.0
            for seed in seeds:
                q, k = draw(seed, d)
                scores = np.dot(q, np.transpose(k)) * (d ** -0.5 if with_root else 1)
                sums += np.mean(1 / np.exp(scores - scores.max(1)[:, None]).sum(1))
            found.append(sums / len(seeds))
    def first(means):
        for d, mean in zip(widths, means):
            if mean > threshold:
                return d
    return {"unscaled": rows[False], "scaled": rows[True], "first_unscaled": first(rows[False]), "first_scaled": first(rows[True]), "base": np.full(len(k), 1 / len(k)).max()}
""",
    # argmax, guarded
    measured(("        return next((d for d, mean in zip(widths, means) if mean > threshold), None)", "        above = np.array(means) > threshold\n        return widths[int(np.argmax(above))] if above.any() else None")),
    # keyword names, tensors as means
    measured(('"unscaled": unscaled, "scaled": scaled', '"unscaled": ops.convert_to_tensor(unscaled), "scaled": tuple(scaled)')),
]  # fmt: skip

FIRST = "next((d for d, mean in zip(widths, means) if mean > threshold), None)"
WEIGHTS = "weights.max(axis=1).mean()"

WRONG = [
    ("none_becomes_first", measured((FIRST, "widths[int(np.argmax(np.array(means) > threshold))]"))),
    ("", measured(("threshold=0.9", "threshold=0.5"))),
    ("place_of_width", measured((FIRST, "next((i for i, mean in enumerate(means) if mean > threshold), None)"))),
    ("scaled_by_d", measured(("/ np.sqrt(d)", "/ d"))),
    # one of the two first widths at a width
    ("", """
def measure_saturation(draw, widths, seeds, threshold=0.9):
    found = {"unscaled": [], "scaled": [], "first_unscaled": None, "first_scaled": None}
    for d in widths:
        for name, divisor in (("unscaled", 1), ("scaled", np.sqrt(d))):
            draws = [draw(seed, d) for seed in seeds]
            found[name].append(np.mean([ops.softmax(q @ k.T / divisor, axis=-1).numpy().max(-1) for q, k in draws]))
        if found["first_unscaled"] is None and found["unscaled"][-1] > threshold:
            found["first_unscaled"] = d
        elif found["first_scaled"] is None and found["scaled"][-1] > threshold:
            found["first_scaled"] = d
    return {**found, "base": 1 / len(draws[0][1])}
"""),
    # the last width at which the means cross the threshold upwards
    ("", measured((FIRST, "([d for i, d in enumerate(widths) if means[i] > threshold and (i == 0 or means[i - 1] <= threshold)] or [None])[-1]"))),
    ("rounded_first", measured((FIRST, "next((d for d, mean in zip(widths, means) if round(mean, 2) > threshold), None)"))),
    ("rounded_first", measured((FIRST, "next((d for d, mean in zip(widths, means) if np.round(mean, 3) > threshold), None)"))),
    ("draws_changed", measured(("            plain.append(largest(q @ k.T))\n", "            plain.append(largest(q @ k.T))\n            q /= np.sqrt(d)\n"), ("largest(q @ k.T / np.sqrt(d))", "largest(q @ k.T)"))),
    ("settings_exchanged", measured(("plain.append(largest(q @ k.T))", "plain.append(largest(q @ k.T / np.sqrt(d)))"), ("divided.append(largest(q @ k.T / np.sqrt(d)))", "divided.append(largest(q @ k.T))"))),
    ("one_seed", measured(("for seed in seeds:", "for seed in seeds[:1]:"))),
    ("over_queries", measured(("scores - scores.max(axis=1, keepdims=True)", "scores - scores.max()"), ("powers.sum(axis=1, keepdims=True)", "powers.sum(axis=0)"))),
    ("largest_of_all", measured((WEIGHTS, "weights.max()"))),
    ("averaged_first", measured((WEIGHTS, "weights.mean(axis=0).max()"))),
    ("base_of_queries", measured(('1 / len(k)', '1 / len(q)'))),
    ("", measured((WEIGHTS, "weights.mean(axis=1).mean()"))),
    ("", measured(("scores - scores.max(axis=1, keepdims=True)", "scores"))),
    ("scores_not_weights", measured((WEIGHTS, "scores.max(axis=1).mean()"))),
    ("", measured(("for seed in seeds:", "for seed in seeds[::2]:"))),
    ("", measured(("for seed in seeds:", "for seed in range(len(seeds)):"))),
    ("", measured(("q, k = draw(seed, d)", "q, k = np.random.default_rng(seed).normal(size=(2, 7, d))"))),
    ("", measured(("q, k = draw(seed, d)", "q, k = draw(seed, widths[0])"))),
    ("", measured(("/ np.sqrt(d)", "/ np.sqrt(widths[0])"))),
    ("", measured(("mean > threshold", "mean > 0.9"))),
    ("", measured(("mean > threshold", "mean < threshold"))),
    ("", measured(("np.mean(plain)", "np.max(plain)"))),
    ("", measured(('1 / len(k)', '1 / widths[0]'))),
    ("", measured(('"base": 1 / len(k),', ''))),
    ("", measured(("    return {\n", "    {\n"))),
    ("base_of_width", """
from scipy.special import softmax as sm
def measure_saturation(draw, widths, seeds, threshold=0.9):
    out = {"unscaled": [], "scaled": []}
    for d in widths:
        u, s = [], []
        for seed in seeds:
            q, k = draw(seed, d)
            scores = q @ k.T
            u.append(sm(scores, axis=-1).max(axis=-1))
            s.append(sm(scores / np.sqrt(d), axis=-1).max(axis=-1))
        out["unscaled"].append(np.mean(u)); out["scaled"].append(np.mean(s))
    for key in ("unscaled", "scaled"):
        above = [d for d, m in zip(widths, out[key]) if m > threshold]
        out["first_" + key] = above[0] if above else None
    out["base"] = 1 / d
    return out
"""),
    ("base_fixed", """
def measure_saturation(draw, widths, seeds, threshold=0.9):
    res = {"unscaled": [], "scaled": []}
    for d in widths:
        a, b = [], []
        for s in seeds:
            q, k = draw(s, d)
            sc = np.asarray(q, "float64") @ np.asarray(k, "float64").T
            for lst, z in ((a, sc), (b, sc / np.sqrt(d))):
                lst.append(np.asarray(ops.softmax(z, axis=-1)).max(-1).mean())
        res["unscaled"].append(np.mean(a)); res["scaled"].append(np.mean(b))
    first = lambda m: next((d for d, v in zip(widths, m) if v > threshold), None)
    res["first_unscaled"] = first(res["unscaled"]); res["first_scaled"] = first(res["scaled"])
    res["base"] = 1 / 7
    return res
"""),
    ("threshold_fixed", """
def measure_saturation(draw, widths, seeds, threshold=0.9):
    res = {"unscaled": [], "scaled": []}
    for d in widths:
        a, b = [], []
        for s in seeds:
            q, k = draw(s, d)
            sc = np.asarray(q, "float64") @ np.asarray(k, "float64").T
            for lst, z in ((a, sc), (b, sc / np.sqrt(d))):
                lst.append(np.asarray(ops.softmax(z, axis=-1)).max(-1).mean())
        res["unscaled"].append(np.mean(a)); res["scaled"].append(np.mean(b))
    first = lambda m: next((d for d, v in zip(widths, m) if v > 0.9), None)
    res["first_unscaled"] = first(res["unscaled"]); res["first_scaled"] = first(res["scaled"])
    res["base"] = 1 / k.shape[0]
    return res
"""),
    ("largest_of_each_key", """
def measure_saturation(draw, widths, seeds, threshold=0.9):
    res = {"unscaled": [], "scaled": []}
    for d in widths:
        a, b = [], []
        for s in seeds:
            q, k = draw(s, d)
            sc = np.asarray(q, "float64") @ np.asarray(k, "float64").T
            for lst, z in ((a, sc), (b, sc / np.sqrt(d))):
                lst.append(np.asarray(ops.softmax(z, axis=-1)).max(0).mean())
        res["unscaled"].append(np.mean(a)); res["scaled"].append(np.mean(b))
    first = lambda m: next((d for d, v in zip(widths, m) if v > threshold), None)
    res["first_unscaled"] = first(res["unscaled"]); res["first_scaled"] = first(res["scaled"])
    res["base"] = 1 / k.shape[0]
    return res
"""),
    ("scores_averaged", """
def measure_saturation(draw, widths, seeds, threshold=0.9):
    res = {"unscaled": [], "scaled": []}
    for d in widths:
        a, b = [], []
        for s in seeds:
            q, k = draw(s, d)
            sc = np.asarray(q, "float64") @ np.asarray(k, "float64").T
            a.append(sc); b.append(sc / np.sqrt(d))
        for name, lst in (("unscaled", a), ("scaled", b)):
            m = np.mean(lst, axis=0)
            res[name].append(np.asarray(ops.softmax(m, axis=-1)).max(-1).mean())
    first = lambda m: next((d for d, v in zip(widths, m) if v > threshold), None)
    res["first_unscaled"] = first(res["unscaled"]); res["first_scaled"] = first(res["scaled"])
    res["base"] = 1 / k.shape[0]
    return res
"""),
    ("added_up", """
from scipy.special import softmax as sm
def measure_saturation(draw, widths, seeds, threshold=0.9):
    out = {"unscaled": [], "scaled": []}
    for d in widths:
        u, s = 0, 0
        for seed in seeds:
            q, k = draw(seed, d)
            scores = q @ k.T
            u += sm(scores, axis=-1).max(axis=-1).mean()
            s += sm(scores / np.sqrt(d), axis=-1).max(axis=-1).mean()
        out["unscaled"].append(u); out["scaled"].append(s)
    for key in ("unscaled", "scaled"):
        above = [d for d, m in zip(widths, out[key]) if m > threshold]
        out["first_" + key] = above[0] if above else None
    out["base"] = 1 / len(k)
    return out
"""),
    ("over_everything", """
from scipy.special import softmax as sm
def measure_saturation(draw, widths, seeds, threshold=0.9):
    out = {"unscaled": [], "scaled": []}
    for d in widths:
        u, s = [], []
        for seed in seeds:
            q, k = draw(seed, d)
            scores = q @ k.T
            u.append(sm(scores).max(axis=-1))
            s.append(sm(scores / np.sqrt(d)).max(axis=-1))
        out["unscaled"].append(np.mean(u)); out["scaled"].append(np.mean(s))
    for key in ("unscaled", "scaled"):
        above = [d for d, m in zip(widths, out[key]) if m > threshold]
        out["first_" + key] = above[0] if above else None
    out["base"] = 1 / len(k)
    return out
"""),
    ("", """
from scipy.special import softmax as sm
def measure_saturation(draw, widths, seeds, threshold=0.9):
    out = {"unscaled": [], "scaled": []}
    for d in widths:
        u, s = [], []
        for seed in seeds:
            q, k = draw(seed, d)
            scores = q @ k.T
            u.append(sm(scores, axis=-1).max(axis=-1))
            s.append(sm(scores / np.sqrt(d), axis=-1).max(axis=-1))
        out["unscaled"].append(np.median(u)); out["scaled"].append(np.median(s))
    for key in ("unscaled", "scaled"):
        above = [d for d, m in zip(widths, out[key]) if m > threshold]
        out["first_" + key] = above[0] if above else None
    out["base"] = 1 / len(k)
    return out
"""),
    ("none_too_early", measured(("        return next((d for d, mean in zip(widths, means) if mean > threshold), None)", "        for d, mean in zip(widths, means):\n            if mean > threshold:\n                return d\n            return None"))),
    ("last_seed", measured(("            plain.append(largest(q @ k.T))\n", "            plain, divided = [largest(q @ k.T)], []\n"))),
    ("scaled_by_queries", measured(("np.sqrt(d)", "np.sqrt(len(q))"))),
    ("base_inverted", measured(("1 / len(k)", "len(k)"))),
    ("scaled_by_keys", measured(("np.sqrt(d)", "np.sqrt(len(k))"))),
    (
        "last_in_place_of_first",
        measured(
            (
                "next((d for d, mean in zip(widths, means) if mean > threshold), None)",
                "([d for d, mean in zip(widths, means) if mean > threshold] or [None])[-1]",
            )
        ),
    ),
    ("median_in_place_of_mean", measured(("weights.max(axis=1).mean()", "np.median(weights.max(axis=1))"))),
    ("threshold_reached", measured(("mean > threshold", "mean >= threshold"))),
    ("mean_of_all", measured(("weights.max(axis=1).mean()", "weights.mean()"))),
    (
        "over_queries_throughout",
        measured(
            ("scores.max(axis=1, keepdims=True)", "scores.max(axis=0, keepdims=True)"),
            ("powers.sum(axis=1, keepdims=True)", "powers.sum(axis=0, keepdims=True)"),
            ("weights.max(axis=1).mean()", "weights.max(axis=0).mean()"),
        ),
    ),
    (
        "median_of_seeds",
        measured(("append(np.mean(plain))", "append(np.median(plain))"), ("append(np.mean(divided))", "append(np.median(divided))")),
    ),
]  # fmt: skip

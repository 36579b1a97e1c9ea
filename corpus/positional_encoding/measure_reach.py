"""Lab 05, exercise `measure_reach`: solutions as different students write them, right and wrong."""


def measured(*changes: tuple[str, str], source: str = "") -> str:
    source = source or PLAIN
    for old, new in changes:
        assert source.count(old) == 1, old
        source = source.replace(old, new)
    return source


PLAIN = """
def measure_reach(model, ids, answers, distances, windows):
    farthest = int(distances.max())
    counts = np.array([np.sum(distances == d) for d in range(farthest + 1)])
    base = max(np.mean(answers == letter) for letter in set(answers.tolist()))
    accuracy, reach = {}, {}
    for window in windows:
        guesses = model(ids, window)
        shares = []
        for d in range(farthest + 1):
            at = distances == d
            shares.append(np.mean(guesses[at] == answers[at]) if at.any() else np.nan)
        last = -1
        for d, share in enumerate(shares):
            if counts[d] == 0:
                continue
            if share <= base + 2 * np.sqrt(base * (1 - base) / counts[d]):
                break
            last = d
        accuracy[window], reach[window] = np.array(shares), last
    return {"counts": counts, "base_rate": base, "accuracy": accuracy, "reach": reach}
"""

# the given lines stay
PLAINLY = """
def measure_reach(model, ids, answers, distances, windows):
    at = distances == np.arange(distances.max() + 1)[:, None]
    counts = at.sum(axis=1)
    base_rate = np.bincount(answers).max() / len(answers)
    limit = base_rate + 2 * np.sqrt(base_rate * (1 - base_rate) / np.maximum(counts, 1))
    accuracy, reach = {}, {}
    for window in windows:
        correct = model(ids, window) == answers
        shares = accuracy[window] = np.array([correct[row].mean() if row.any() else np.nan for row in at])
        last = -1
        for d in range(len(shares)):
            if counts[d] == 0:
                continue
            if not shares[d] > limit[d]:
                break
            last = d
        reach[window] = last
    return {"counts": counts, "base_rate": base_rate, "accuracy": accuracy, "reach": reach}
"""

# whole arrays
ARRAYS = """
def measure_reach(model, ids, answers, distances, windows):
    counts = np.bincount(distances)
    base = np.bincount(answers).max() / answers.size
    accuracy, reach = {}, {}
    with np.errstate(all="ignore"):
        limit = base + 2 * (base * (1 - base) / counts) ** 0.5
        for window in windows:
            accuracy[window] = np.bincount(distances, weights=model(ids, window) == answers) / counts
            failed = np.flatnonzero((counts > 0) & ~(accuracy[window] > limit))
            first = failed[0] if len(failed) else len(counts)
            clear = np.flatnonzero(counts[:first])
            reach[window] = clear[-1] if len(clear) else -1
    return dict(counts=counts, base_rate=base, accuracy=accuracy, reach=reach)
"""

CORRECT = [
    PLAIN,
    PLAINLY,
    ARRAYS,
    # question by question
    measured(("guesses = model(ids, window)", "guesses = np.array([model(row[None], window)[0] for row in ids])")),
    # lists in place of arrays, and the model by keyword
    measured(("np.array(shares), last", "[float(share) for share in shares], np.int64(last)"), ("model(ids, window)", "model(ids=ids, window=window)"), ('"counts": counts', '"counts": counts.tolist()')),
    # one distance after the other, in the order of the distances
    """
def measure_reach(model, ids, answers, distances, windows):
    from collections import Counter
    order = np.argsort(distances, kind="stable")
    known = Counter(distances.tolist())
    counts = [known[d] for d in range(distances.max() + 1)]
    b = Counter(answers.tolist()).most_common(1)[0][1] / len(answers)
    result = {"counts": counts, "base_rate": np.float64(b), "accuracy": {}, "reach": {}}
    for window in reversed(windows):
        correct = (model(ids[order], window) == answers[order]).astype(float)
        parts = np.split(correct, np.cumsum(counts)[:-1])
        shares = [part.mean() if len(part) else float("nan") for part in parts]
        good = [not n or share - b > 2 * (b * (1 - b) / n) ** 0.5 for share, n in zip(shares, counts)] + [False]
        asked = [d for d in range(good.index(False)) if counts[d]]
        result["accuracy"][window], result["reach"][window] = shares, max(asked, default=-1)
    return result
""",
    # NaN by division
    measured(("np.mean(guesses[at] == answers[at]) if at.any() else np.nan", "np.float64(np.sum((guesses == answers) & at)) / at.sum() if counts[d] else float('nan')")),
]  # fmt: skip

MEANS = "[correct[row].mean() if row.any() else np.nan for row in at]"
THRESHOLD = "base + 2 * np.sqrt(base * (1 - base) / counts[d])"

WRONG = [
    ("limit_reached", measured(("if share <= base", "if share < base"))),
    (
        "error_of_all_questions",
        """
def measure_reach(model, ids, answers, distances, windows):
    M = distances.max()
    counts = np.bincount(distances, minlength=M + 1)
    b = np.bincount(answers).max() / len(answers)
    acc, reach = {}, {}
    for w in windows:
        right = np.asarray(model(ids, w)) == answers
        a = np.array([right[distances == d].mean() if counts[d] else np.nan for d in range(M + 1)])
        acc[w] = a
        r = -1
        for d in range(M + 1):
            if counts[d] == 0:
                continue
            if a[d] > b + 2 * np.sqrt(b * (1 - b) / len(answers)):
                r = d
            else:
                break
        reach[w] = r
    return {"counts": counts, "base_rate": b, "accuracy": acc, "reach": reach}
""",
    ),
    (
        "one_error",
        """
def measure_reach(model, ids, answers, distances, windows):
    M = distances.max()
    counts = np.bincount(distances, minlength=M + 1)
    b = np.bincount(answers).max() / len(answers)
    acc, reach = {}, {}
    for w in windows:
        right = np.asarray(model(ids, w)) == answers
        a = np.array([right[distances == d].mean() if counts[d] else np.nan for d in range(M + 1)])
        acc[w] = a
        r = -1
        for d in range(M + 1):
            if counts[d] == 0:
                continue
            if a[d] > b + np.sqrt(b * (1 - b) / counts[d]):
                r = d
            else:
                break
        reach[w] = r
    return {"counts": counts, "base_rate": b, "accuracy": acc, "reach": reach}
""",
    ),
    (
        "no_error_allowed_for",
        """
def measure_reach(model, ids, answers, distances, windows):
    M = distances.max()
    counts = np.bincount(distances, minlength=M + 1)
    b = np.bincount(answers).max() / len(answers)
    acc, reach = {}, {}
    for w in windows:
        right = np.asarray(model(ids, w)) == answers
        a = np.array([right[distances == d].mean() if counts[d] else np.nan for d in range(M + 1)])
        acc[w] = a
        r = -1
        for d in range(M + 1):
            if counts[d] == 0:
                continue
            if a[d] > b + 2 * b * (1 - b) / counts[d]:
                r = d
            else:
                break
        reach[w] = r
    return {"counts": counts, "base_rate": b, "accuracy": acc, "reach": reach}
""",
    ),
    (
        "gap_counted",
        """
def measure_reach(model, ids, answers, distances, windows):
    M = distances.max()
    counts = np.bincount(distances, minlength=M + 1)
    b = np.bincount(answers).max() / len(answers)
    acc, reach = {}, {}
    for w in windows:
        right = np.asarray(model(ids, w)) == answers
        a = np.array([right[distances == d].mean() if counts[d] else np.nan for d in range(M + 1)])
        acc[w] = a
        r = -1
        for d in range(M + 1):
            if counts[d] == 0:
                r = d; continue
            if a[d] > b + 2 * np.sqrt(b * (1 - b) / counts[d]):
                r = d
            else:
                break
        reach[w] = r
    return {"counts": counts, "base_rate": b, "accuracy": acc, "reach": reach}
""",
    ),
    (
        "window_not_asked",
        """
def measure_reach(model, ids, answers, distances, windows):
    M = distances.max()
    counts = np.bincount(distances, minlength=M + 1)
    b = np.bincount(answers).max() / len(answers)
    acc, reach = {}, {}
    for w in windows:
        right = np.asarray(model(ids, windows[0])) == answers
        a = np.array([right[distances == d].mean() if counts[d] else np.nan for d in range(M + 1)])
        acc[w] = a
        r = -1
        for d in range(M + 1):
            if counts[d] == 0:
                continue
            if a[d] > b + 2 * np.sqrt(b * (1 - b) / counts[d]):
                r = d
            else:
                break
        reach[w] = r
    return {"counts": counts, "base_rate": b, "accuracy": acc, "reach": reach}
""",
    ),
    (
        "",
        """
def measure_reach(model, ids, answers, distances, windows):
    M = distances.max()
    counts = np.bincount(distances, minlength=M + 1)
    b = np.bincount(answers).max() / len(answers)
    acc, reach = {}, {}
    for w in windows:
        right = (np.asarray(model(ids, w)) == answers) & (distances < w)
        a = np.array([right[distances == d].mean() if counts[d] else np.nan for d in range(M + 1)])
        acc[w] = a
        r = -1
        for d in range(M + 1):
            if counts[d] == 0:
                continue
            if a[d] > b + 2 * np.sqrt(b * (1 - b) / counts[d]):
                r = d
            else:
                break
        reach[w] = r
    return {"counts": counts, "base_rate": b, "accuracy": acc, "reach": reach}
""",
    ),
    (
        "",
        """
def measure_reach(model, ids, answers, distances, windows):
    M = distances.max()
    counts = np.bincount(distances, minlength=M + 1)
    b = np.bincount(answers).max() / len(answers)
    acc, reach = {}, {}
    for w in windows:
        right = np.asarray(model(ids, w)) == answers
        a = np.array([right[distances == d].mean() if counts[d] and d < w else np.nan for d in range(M + 1)])
        acc[w] = a
        r = -1
        for d in range(M + 1):
            if counts[d] == 0:
                continue
            if a[d] > b + 2 * np.sqrt(b * (1 - b) / counts[d]):
                r = d
            else:
                break
        reach[w] = r
    return {"counts": counts, "base_rate": b, "accuracy": acc, "reach": reach}
""",
    ),
    (
        "",
        """
def measure_reach(model, ids, answers, distances, windows):
    M = len(np.unique(distances)) - 1
    counts = np.bincount(distances, minlength=M + 1)
    b = np.bincount(answers).max() / len(answers)
    acc, reach = {}, {}
    for w in windows:
        right = np.asarray(model(ids, w)) == answers
        a = np.array([right[distances == d].mean() if counts[d] else np.nan for d in range(M + 1)])
        acc[w] = a
        r = -1
        for d in range(M + 1):
            if counts[d] == 0:
                continue
            if a[d] > b + 2 * np.sqrt(b * (1 - b) / counts[d]):
                r = d
            else:
                break
        reach[w] = r
    return {"counts": counts, "base_rate": b, "accuracy": acc, "reach": reach}
""",
    ),
    ("zero_without_questions", measured((" else np.nan", " else 0.0"))),
    ("last_clear_one", measured(("                break\n", "                continue\n"))),
    ("no_error_allowed_for", measured((THRESHOLD, "base"))),
    ("equal_guessing", measured(("max(np.mean(answers == letter) for letter in set(answers.tolist()))", "1 / len(set(answers.tolist()))"))),
    ("stops_at_a_gap", measured(("                continue\n", "                break\n"))),
    ("", measured(("at = distances == d", "at = distances <= d"), ("np.sum(distances == d)", "np.sum(distances <= d)"), ("            if counts[d] == 0:\n                continue\n", ""))),
    ("share_of_all", measured(("np.mean(guesses[at] == answers[at])", "np.sum(guesses[at] == answers[at]) / len(answers)"))),
    ("one_too_far", measured(("np.array(shares), last", "np.array(shares), last + 1"))),
    ("other_questions", measured(("guesses = model(ids, window)", "guesses = np.where(distances < window, -1, 0)\n        guesses[distances < window] = model(ids[distances < window], window)"))),
    ("", measured((THRESHOLD, "0.5"))),
    ("", measured((THRESHOLD, "base + np.sqrt(base * (1 - base) / counts[d])"))),
    ("", measured((THRESHOLD, "base + 3 * np.sqrt(base * (1 - base) / counts[d])"))),
    ("", measured((THRESHOLD, "base + 2 * np.sqrt(base * (1 - base) / len(answers))"))),
    ("own_error", measured((THRESHOLD, "base + 2 * np.sqrt(share * (1 - share) / counts[d])"))),
    ("", measured((THRESHOLD, "base + 2 * np.sqrt(base * (1 - base) / counts.mean())"))),
    ("", measured(("        last = -1\n", "        last = 0\n"))),
    ("", measured((THRESHOLD, "base + 2 * base * (1 - base) / counts[d]"))),
    ("", measured((THRESHOLD, "base - 2 * np.sqrt(base * (1 - base) / counts[d])"))),
    ("", measured(("guesses = model(ids, window)", "guesses = model(ids, windows[0])"))),
    ("", measured(("guesses = model(ids, window)", "guesses = model(ids, windows[-1])"))),
    ("", measured(("guesses = model(ids, window)", "guesses = model(ids[::-1], window)"))),
    ("", measured(("guesses = model(ids, window)", "guesses = model(ids, max(window, 4))"))),
    ("", measured(("    counts =", "    half = len(ids) // 2\n    ids, answers = ids[:half], answers[:half]\n    distances = distances[:half]\n    counts ="))),
    ("", measured(("base = max(", "base = min("))),
    ("", measured(("base = max(np.mean(answers == letter) for letter in set(answers.tolist()))", "base = np.mean(answers == answers[0])"))),
    ("hidden_left_out", measured(
        ("            at = distances == d", "            at = (distances == d) & (d < window)"),
        ("if counts[d] == 0:", "if counts[d] == 0 or d >= window:"),
    )),
    ("", measured(("last = d\n", "last += 1\n"))),
    ("", measured(("np.mean(guesses[at] == answers[at])", "np.mean(guesses[at] != answers[at])"))),
    ("", measured(('"reach": reach}', '"reach": max(reach.values())}'))),
    ("", measured(('"accuracy": accuracy', '"accuracy": np.array(list(accuracy.values()))'))),
    ("", measured(("range(farthest + 1)])", "range(farthest)])"))),
    ("", measured(('    return {"counts": counts, ', '    return {'))),
    ("few_left_out", measured(("if counts[d] == 0:", "if counts[d] < 5:"))),
    ("single_left_out", measured(("if counts[d] == 0:", "if counts[d] < 2:"))),
    ("", measured(("            if share <=", "            if counts[d] < 4:\n                break\n            if share <="))),
    ("", measured((THRESHOLD, "base + 1.96 * np.sqrt(base * (1 - base) / counts[d])"))),
    ("", measured((THRESHOLD, "base + 2 * np.sqrt(base * (1 - base) / max(counts[d] - 1, 1))"))),
    ("", measured(("farthest = int(distances.max())", "farthest = max(int(distances.max()), *windows)"))),
    ("", measured(("if at.any() else np.nan", "if at.any() else 0.0"), ("                continue", "                break"))),
    ("up_to_the_distance", measured((MEANS, "[correct[distances <= d].mean() for d in range(len(counts))]"), source=PLAINLY)),
    ("up_to_asked_distances", measured((MEANS, "[correct[distances <= d].mean() if n else np.nan for d, n in enumerate(counts)]"), source=PLAINLY)),
    ("any_for_all", measured((f"np.array({MEANS})", "at @ correct / counts"), source=PLAINLY)),
    ("all_clear_counted", measured(("reach[window] = last", "reach[window] = (shares > limit).sum() - 1"), source=PLAINLY)),
    ("window_bounds_reach", measured(("range(len(shares))", "range(min(window, len(shares)))"), source=PLAINLY)),
    ("window_bounds_reach", measured(("reach[window] = last", "reach[window] = min(last, window - 1)"), source=PLAINLY)),
    ("share_of_all", measured((f"np.array({MEANS})", "np.where(counts, at.astype(float) @ correct / len(ids), np.nan)"), source=PLAINLY)),
    ("one_reach_for_all", measured(('"reach": reach}', '"reach": dict.fromkeys(windows, last)}'))),
    ("zero_in_place_of_none", measured(("last = -1", "last = 0"))),
    ("distances_counted", """
def measure_reach(model, ids, answers, distances, windows):
    at = distances == np.arange(distances.max() + 1)[:, None]  # (M + 1, n): row d says which questions have distance d
    counts = at.sum(axis=1)  # (M + 1,)
    base_rate = np.bincount(answers).max() / len(answers)
    limit = base_rate + 2 * np.sqrt(base_rate * (1 - base_rate) / np.maximum(counts, 1))  # (M + 1,): clear is above
    accuracy, reach = {}, {}
    for window in windows:
        correct = model(ids, window) == answers
        accuracy[window] = np.full(len(counts), np.nan)
        reach[window] = -1
        going = True
        for distance in range(len(counts)):
            if counts[distance] == 0:
                continue
            share = correct[at[distance]].mean()
            accuracy[window][distance] = share
            if share <= limit[distance]:
                going = False
            if going:
                reach[window] += 1
    return {"counts": counts, "base_rate": base_rate, "accuracy": accuracy, "reach": reach}
"""),
    ("hidden_left_out", """
def measure_reach(model, ids, answers, distances, windows):
    at = distances == np.arange(distances.max() + 1)[:, None]  # (M + 1, n): row d says which questions have distance d
    counts = at.sum(axis=1)  # (M + 1,)
    base_rate = np.bincount(answers).max() / len(answers)
    limit = base_rate + 2 * np.sqrt(base_rate * (1 - base_rate) / np.maximum(counts, 1))  # (M + 1,): clear is above
    accuracy, reach = {}, {}
    for window in windows:
        correct = model(ids, window) == answers
        accuracy[window] = np.full(len(counts), np.nan)
        reach[window] = -1
        going = True
        for distance in range(len(counts)):
            if counts[distance] == 0 or distance >= window:
                continue
            share = correct[at[distance]].mean()
            accuracy[window][distance] = share
            if share <= limit[distance]:
                going = False
            if going:
                reach[window] = distance
    return {"counts": counts, "base_rate": base_rate, "accuracy": accuracy, "reach": reach}
"""),
]  # fmt: skip

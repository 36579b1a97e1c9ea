"""Lab 07, exercise `measure_labels`: solutions as different students write them, right and wrong."""

from corpus.bert_ag_news.shared import edited

PLAIN = """
def measure_labels(fit, train, test, sizes, orders):
    x, y = train
    x_test, y_test = test
    accuracy = np.zeros((len(sizes), len(orders)))
    for i, size in enumerate(sizes):
        for j, order in enumerate(orders):
            rows = order[:size]
            predict = fit(x[rows], y[rows])
            accuracy[i, j] = (predict(x_test) == y_test).mean()
    mean = accuracy.mean(axis=1)
    low, high = accuracy.min(axis=1), accuracy.max(axis=1)
    base = (y_test == np.bincount(y).argmax()).mean()
    return {"accuracy": accuracy, "mean": mean, "low": low, "high": high, "base_rate": base}
"""
FIT, TEST = "predict = fit(x[rows], y[rows])", "(predict(x_test) == y_test).mean()"
RANGE, BASE = "accuracy.min(axis=1), accuracy.max(axis=1)", "(y_test == np.bincount(y).argmax()).mean()"

CORRECT = [
    # predict row by row
    """
def measure_labels(fit, train, test, sizes, orders):
    (x, y), (xt, yt) = train, test
    acc = np.zeros((len(sizes), len(orders)))
    for i, n in enumerate(sizes):
        for j, order in enumerate(orders):
            first = order[:n]
            predict = fit(x[first], y[first])
            acc[i, j] = np.mean([predict(xt[k:k+1])[0] == yt[k] for k in range(len(yt))])
    base = np.mean(yt == np.bincount(y).argmax())
    return {"accuracy": acc, "mean": acc.mean(axis=1), "low": acc.min(axis=1), "high": acc.max(axis=1), "base_rate": base}
""",
    # lists
    """
def measure_labels(fit, train, test, sizes, orders):
    acc = []
    for n in sizes:
        row = []
        for o in orders:
            h = fit(train[0][o[:n]], train[1][o[:n]])
            row.append(float((h(test[0]) == test[1]).mean()))
        acc.append(row)
    values, counts = np.unique(train[1], return_counts=True)
    b = float((test[1] == values[counts.argmax()]).mean())
    return dict(accuracy=acc, mean=[sum(r)/len(r) for r in acc], low=[min(r) for r in acc], high=[max(r) for r in acc], base_rate=b)
""",
    PLAIN,
    # orders outside, sizes inside, lists
    """
def measure_labels(fit, train, test, sizes, orders):
    columns = []
    for order in orders:
        x, y = train[0][order], train[1][order]
        columns.append([np.mean(fit(x[:n], y[:n])(test[0]) == test[1]) for n in sizes])
    rows = [list(row) for row in zip(*columns)]
    classes, counts = np.unique(train[1], return_counts=True)
    return dict(accuracy=rows, mean=[sum(r) / len(r) for r in rows], low=[min(r) for r in rows], high=[max(r) for r in rows],
                base_rate=np.mean(test[1] == classes[counts.argmax()]))
""",
    # the largest size first
    """
def measure_labels(fit, train, test, sizes, orders):
    found = {}
    for i in reversed(range(len(sizes))):
        for j in range(len(orders)):
            chosen = np.asarray(orders)[j, : sizes[i]]
            found[i, j] = float((fit(np.take(train[0], chosen, axis=0), np.take(train[1], chosen))(test[0]) == test[1]).sum()) / len(test[1])
    table = np.array([[found[i, j] for j in range(len(orders))] for i in range(len(sizes))])
    labels = train[1].tolist()
    most = max(set(labels), key=labels.count)
    return {"base_rate": (test[1] == most).sum() / test[1].size, "accuracy": table, "mean": np.mean(table, 1), "low": np.min(table, 1), "high": np.max(table, 1)}
""",
    # the chosen rows sorted
    edited(PLAIN, ("rows = order[:size]", "rows = np.sort(order[:size])")),
    # a mask over the training texts
    edited(PLAIN, ("rows = order[:size]", "rows = np.isin(np.arange(len(y)), order[:size])")),
    # text by text
    edited(PLAIN, (TEST, "np.mean([predict(v[None])[0] == label for v, label in zip(x_test, y_test)])")),
    edited(PLAIN, ("    mean = accuracy.mean(axis=1)", "    accuracy = accuracy.tolist()\n    mean = np.average(accuracy, axis=-1)"), (RANGE, "np.sort(accuracy)[:, 0], np.sort(accuracy)[:, -1]")),
    # tensors
    edited(PLAIN, (TEST, "1 - np.count_nonzero(np.asarray(predict(tf.constant(x_test))) - y_test) / len(y_test)")),
]  # fmt: skip

WRONG = [
    (
        "percentiles",
        """
def measure_labels(fit, train, test, sizes, orders):
    (x, y), (xt, yt) = train, test
    acc = np.zeros((len(sizes), len(orders)))
    for i, n in enumerate(sizes):
        for j, order in enumerate(orders):
            first = order[:n]
            predict = fit(x[first], y[first])
            acc[i, j] = np.mean(predict(xt) == yt)
    base = np.mean(yt == np.bincount(y).argmax())
    return {"accuracy": acc, "mean": acc.mean(axis=1), "low": np.percentile(acc, 2.5, axis=1), "high": np.percentile(acc, 97.5, axis=1), "base_rate": base}
""",
    ),
    (
        "last_texts",
        """
def measure_labels(fit, train, test, sizes, orders):
    (x, y), (xt, yt) = train, test
    acc = np.zeros((len(sizes), len(orders)))
    for i, n in enumerate(sizes):
        for j, order in enumerate(orders):
            first = order[-n:]
            predict = fit(x[first], y[first])
            acc[i, j] = np.mean(predict(xt) == yt)
    base = np.mean(yt == np.bincount(y).argmax())
    return {"accuracy": acc, "mean": acc.mean(axis=1), "low": acc.min(axis=1), "high": acc.max(axis=1), "base_rate": base}
""",
    ),
    (
        "all_labels_fitted",
        """
def measure_labels(fit, train, test, sizes, orders):
    (x, y), (xt, yt) = train, test
    predict = fit(x, y)
    acc = np.array([[np.mean(predict(xt) == yt) for o in orders] for n in sizes])
    return {"accuracy": acc, "mean": acc.mean(1), "low": acc.min(1), "high": acc.max(1), "base_rate": np.mean(yt == np.bincount(y).argmax())}
""",
    ),
    (
        "test_cut",
        """
def measure_labels(fit, train, test, sizes, orders):
    (x, y), (xt, yt) = train, test
    acc = np.zeros((len(sizes), len(orders)))
    for i, n in enumerate(sizes):
        for j, order in enumerate(orders):
            first = order[:n]
            predict = fit(x[first], y[first])
            acc[i, j] = np.mean(predict(xt[:n]) == yt[:n])
    base = np.mean(yt == np.bincount(y).argmax())
    return {"accuracy": acc, "mean": acc.mean(axis=1), "low": acc.min(axis=1), "high": acc.max(axis=1), "base_rate": base}
""",
    ),
    (
        "errors_counted",
        """
def measure_labels(fit, train, test, sizes, orders):
    (x, y), (xt, yt) = train, test
    acc = np.zeros((len(sizes), len(orders)))
    for i, n in enumerate(sizes):
        for j, order in enumerate(orders):
            first = order[:n]
            predict = fit(x[first], y[first])
            acc[i, j] = np.mean(predict(xt) != yt)
    base = np.mean(yt == np.bincount(y).argmax())
    return {"accuracy": acc, "mean": acc.mean(axis=1), "low": acc.min(axis=1), "high": acc.max(axis=1), "base_rate": base}
""",
    ),
    (
        "",
        """
def measure_labels(fit, train, test, sizes, orders):
    (x, y), (xt, yt) = train, test
    acc = np.zeros((len(sizes), len(orders)))
    for i, n in enumerate(sizes):
        for j, order in enumerate(orders):
            first = order[:n]
            predict = fit(x[first], y[first])
            acc[i, j] = np.mean(predict(xt) == yt)
    base = np.mean(yt == np.bincount(y).argmax())
    return {"accuracy": acc, "mean": acc.mean(axis=0), "low": acc.min(axis=0), "high": acc.max(axis=0), "base_rate": base}
""",
    ),
    (
        "",
        """
def measure_labels(fit, train, test, sizes, orders):
    (x, y), (xt, yt) = train, test
    acc = np.zeros((len(sizes), len(orders)))
    for i, n in enumerate(sizes):
        for j, order in enumerate(orders):
            first = order[:n]
            predict = fit(x[first], y[first])
            acc[i, j] = np.mean(predict(xt) == yt)
    base = np.mean(yt == np.bincount(y).argmax())
    return {"accuracy": acc.T, "mean": acc.mean(axis=1), "low": acc.min(axis=1), "high": acc.max(axis=1), "base_rate": base}
""",
    ),
    ("training_tested", edited(PLAIN, (TEST, "(predict(x[rows]) == y[rows]).mean()"))),
    ("all_training_tested", edited(PLAIN, (TEST, "(predict(x) == y).mean()"))),
    ("first_texts", edited(PLAIN, ("rows = order[:size]", "rows = slice(size)"))),
    ("labels_in_old_order", edited(PLAIN, ("y[rows]", "y[:size]"))),
    ("disjoint", edited(PLAIN, ("rows = order[:size]", "rows = order[sum(sizes[:i]) : sum(sizes[:i]) + size]"))),
    ("one_order", edited(PLAIN, ("rows = order[:size]", "rows = orders[0][:size]"))),
    ("deviation", edited(PLAIN, (RANGE, "mean - accuracy.std(axis=1), mean + accuracy.std(axis=1)"))),
    ("interval", edited(PLAIN, (RANGE, "mean - accuracy.std(axis=1, ddof=1), mean + accuracy.std(axis=1, ddof=1)"))),
    ("share_in_training", edited(PLAIN, (BASE, "np.bincount(y).max() / len(y)"))),
    ("commonest_of_test", edited(PLAIN, (BASE, "np.bincount(y_test).max() / len(y_test)"))),
    ("commonest_of_some", edited(PLAIN, (BASE, "(y_test == np.bincount(y[rows]).argmax()).mean()"))),
    ("commonest_of_some", edited(PLAIN, (BASE, "(y_test == np.bincount(y[orders[0][: max(sizes)]]).argmax()).mean()"))),
    ("commonest_of_some", edited(PLAIN, (BASE, "(y_test == np.bincount(y[: max(sizes)]).argmax()).mean()"))),
    ("commonest_of_some", edited(PLAIN, (BASE, "(y_test == np.bincount(y[orders[-1][: sizes[0]]]).argmax()).mean()"))),
    ("one_over_classes", edited(PLAIN, (BASE, "1 / len(np.unique(y))"))),
    ("fitted_twice", edited(PLAIN, (TEST, "(fit(x[rows], y[rows])(x_test) == y_test).mean()"))),
    ("last_texts", edited(PLAIN, ("rows = order[:size]", "rows = order[-size:]"))),
    ("", edited(PLAIN, ("rows = order[:size]", "rows = order[1 : size + 1]"))),
    ("labels_in_old_order", edited(PLAIN, ("y[rows]", "np.sort(y[rows])"))),
    ("commonest_of_test", edited(PLAIN, (BASE, "(y_test == np.bincount(np.concatenate([y, y_test])).argmax()).mean()"))),
    ("commonest_of_some", edited(PLAIN, (BASE, "(y_test == y.max()).mean()"))),
    ("commonest_of_some", edited(PLAIN, (BASE, "(y_test == y[0]).mean()"))),
    ("", edited(PLAIN, ("rows = order[:size]", "rows = np.random.default_rng(j).permutation(len(y))[:size]"))),
    ("", edited(PLAIN, ("rows = order[:size]", "rows = np.random.default_rng().choice(order, size)"))),
    ("", edited(PLAIN, ("rows = order[:size]", "rows = orders[(i + j) % len(orders)][:size]"))),
    ("", edited(PLAIN, ("rows = order[:size]", "rows = order[: size - 1]"))),
    ("", edited(PLAIN, (FIT, "predict = fit(x_test[:size], y_test[:size])"))),
    ("", edited(PLAIN, (FIT, "predict = fit(x, y)"))),
    ("", edited(PLAIN, (TEST, "(predict(x_test) != y_test).mean()"))),
    ("", edited(PLAIN, (TEST, "(predict(x_test) == y_test).sum()"))),
    ("", edited(PLAIN, (TEST, "100 * (predict(x_test) == y_test).mean()"))),
    ("median", edited(PLAIN, ("mean = accuracy.mean(axis=1)", "mean = np.median(accuracy, axis=1)"))),
    ("", edited(PLAIN, ("mean = accuracy.mean(axis=1)", "mean = accuracy.mean(axis=0)"))),
    ("", edited(PLAIN, ("mean = accuracy.mean(axis=1)", "mean = accuracy.mean()"))),
    ("", edited(PLAIN, (RANGE, "accuracy.max(axis=1), accuracy.min(axis=1)"))),
    ("", edited(PLAIN, (RANGE, "accuracy.max(axis=1) - accuracy.min(axis=1), accuracy.max(axis=1)"))),
    ("", edited(PLAIN, (RANGE, "np.quantile(accuracy, 0.25, axis=1), np.quantile(accuracy, 0.75, axis=1)"))),
    ("", edited(PLAIN, (RANGE, "accuracy.min(), accuracy.max()"))),
    ("", edited(PLAIN, (BASE, "np.bincount(y).argmax()"))),
    ("", edited(PLAIN, (BASE, "0.25"))),
    ("", edited(PLAIN, ("return {", "accuracy = accuracy.T\n    return {"))),
    ("", edited(PLAIN, ("    accuracy = np", "    x -= x.mean()\n    accuracy = np"))),
    ("", edited(PLAIN, ("for j, order in enumerate(orders)", "for j, order in enumerate(orders[:1])"))),
    ("", edited(PLAIN, ('"base_rate": base', '"base": base'))),
    ("", edited(PLAIN, ("return {", "{"))),
    ("", edited(PLAIN, ("enumerate(sizes)", "enumerate(sorted(sizes))"))),
]  # fmt: skip

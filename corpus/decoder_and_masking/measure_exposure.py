"""Lab 08, exercise `measure_exposure`: solutions as different students write them, right and wrong."""


def measured(*changes: tuple[str, str]) -> str:
    source = PLAIN
    for old, new in changes:
        assert source.count(old) == 1, old
        source = source.replace(old, new)
    return source


PLAIN = """
def measure_exposure(next_token, targets, positions, false_ids, steps):
    def continued(n, first):
        place = positions[n]
        prefix = [int(token) for token in targets[n][:place]] + [int(first)]
        row = []
        for step in range(steps):
            at = place + 1 + step
            new = next_token(n, prefix)
            ended = at >= len(targets[n]) or targets[n][at] == 0
            row.append(np.nan if ended else float(new == targets[n][at]))
            prefix = prefix + [new]
        return row

    rows = range(len(targets))
    clean = np.array([continued(n, targets[n][positions[n]]) for n in rows])
    false = np.array([continued(n, false_ids[n]) for n in rows])
    lost = clean - false
    count = np.sum(~np.isnan(lost), axis=0)
    margin = 1.96 * np.nanstd(lost, axis=0, ddof=1) / np.sqrt(count)
    return np.nanmean(false, axis=0), np.nanmean(clean, axis=0), margin
"""

CORRECT = [
    PLAIN,
    measured(("1.96 * np.nanstd(lost, axis=0, ddof=1)", "1.96 * np.nanvar(lost, axis=0, ddof=1) ** 0.5")),
    measured(("lost = clean - false", "lost = false - clean")),
    # stops at the end of a sentence
    measured(("            new = next_token(n, prefix)\n", "            if at >= len(targets[n]) or targets[n][at] == 0:\n                row += [np.nan] * (steps - step)\n                break\n            new = next_token(n, prefix)\n")),
    # step by step, in plain Python
    """
def measure_exposure(next_token, targets, positions, false_ids, steps):
    prefixes = []
    for n, place in enumerate(positions):
        start = list(targets[n, :place])
        prefixes.append((start + [targets[n, place]], start + [false_ids[n]]))
    after, base, margin = [], [], []
    for k in range(1, steps + 1):
        pairs = []
        for n, both in enumerate(prefixes):
            at = positions[n] + k
            if at >= targets.shape[1] or targets[n, at] == 0:
                continue
            for prefix in both:
                prefix.append(next_token(n, prefix))
            pairs.append([int(prefix[-1] == targets[n, at]) for prefix in both])
        count = len(pairs)
        base.append(sum(pair[0] for pair in pairs) / count)
        after.append(sum(pair[1] for pair in pairs) / count)
        mean = base[-1] - after[-1]
        variance = sum((pair[0] - pair[1] - mean) ** 2 for pair in pairs) / (count - 1)
        margin.append(1.96 * (variance / count) ** 0.5)
    return after, base, margin
""",
    # masked arrays, and padded arrays of prefixes
    """
def measure_exposure(next_token, targets, positions, false_ids, steps):
    count, length = targets.shape
    wide = np.pad(targets, ((0, 0), (0, steps + 1)))
    at = positions[:, None] + 1 + np.arange(steps)
    wanted = np.take_along_axis(wide, at, axis=1)
    shares = []
    for first in (false_ids, targets[np.arange(count), positions]):
        written = wide.copy()
        written[np.arange(count), positions] = first
        for n in range(count):
            for place in at[n]:
                written[n, place] = next_token(n, written[n, :place])
        shares.append(np.ma.masked_array(np.take_along_axis(written, at, axis=1) == wanted, wanted == 0).astype(float))
    after, base = shares
    lost = base - after
    margin = 1.96 * lost.std(axis=0, ddof=1) / np.sqrt(lost.count(axis=0))
    return tuple(np.asarray(each) for each in (after.mean(axis=0), base.mean(axis=0), margin))
""",
]  # fmt: skip

MARGIN = "1.96 * np.nanstd(lost, axis=0, ddof=1) / np.sqrt(count)"

WRONG = [
    ("whole_sentences_only", measured(("    lost = clean - false\n", "    whole = ~np.isnan(clean).any(axis=1)\n    clean, false = clean[whole], false[whole]\n    lost = clean - false\n"))),
    ("root_missing", measured(("np.sqrt(count)", "count"))),
    ("taught", measured(("prefix = prefix + [new]", "prefix = prefix + [int(targets[n][at]) if at < len(targets[n]) else new]"))),
    ("inserted", measured(("def continued(n, first):\n        place = positions[n]\n", "def continued(n, first):\n        place = positions[n]\n        before = place + (first != targets[n][place])\n"), ("targets[n][:place]] +", "targets[n][:before]] +"))),
    ("compared_too_early", measured(("float(new == targets[n][at])", "float(new == targets[n][at - 1])"))),
    ("end_counted", measured(("np.nan if ended", "0.0 if ended"))),
    ("in_a_row", measured(("float(new == targets[n][at])", "float(new == targets[n][at] and all(row))"))),
    ("exchanged", measured(("np.nanmean(false, axis=0), np.nanmean(clean, axis=0), margin", "np.nanmean(clean, axis=0), np.nanmean(false, axis=0), margin"))),
    ("", measured(("np.nanmean(clean, axis=0), margin", "np.full(steps, np.nanmean(clean)), margin"))),
    ("unpaired", measured((MARGIN, "1.96 * np.sqrt(np.nanvar(clean, axis=0, ddof=1) / count + np.nanvar(false, axis=0, ddof=1) / count)"))),
    ("population", measured(("ddof=1", "ddof=0"))),
    ("not_divided", measured((MARGIN, "1.96 * np.nanstd(lost, axis=0, ddof=1)"))),
    ("all_sentences", measured(("np.sqrt(count)", "np.sqrt(len(targets))"))),
    ("one_token_more", measured(("targets[n][:place]] +", "targets[n][: place + 1]] +"))),
    ("margin_after", measured((MARGIN, MARGIN.replace("lost", "false")))),
    ("", measured(("1.96 *", "2 *"))),
    ("standard_error", measured(("1.96 *", "1.0 *"))),
    ("", measured(("at = place + 1 + step", "at = place + step"))),
    ("", measured(("np.sqrt(count)", "count"))),
    ("", measured(("np.nanmean(clean, axis=0), margin", "np.ones(steps), margin"))),
    ("", measured(("rows = range(len(targets))", "rows = range(len(targets) // 2)"))),
    ("", measured(("rows = range(len(targets))", "rows = range(1, len(targets))"))),
    ("", measured(("new = next_token(n, prefix)", "new = next_token(0, prefix)"))),
    ("", measured(("new = next_token(n, prefix)", "new = next_token(n, prefix[1:])"))),
    ("", measured(("+ [int(first)]", "+ [int(false_ids[n])]"))),
    ("", measured(("np.nanmean(false, axis=0),", "1 - np.nanmean(false, axis=0),"))),
    ("", measured(("np.nanmean(false, axis=0),", "np.nanmean(false),"))),
    ("", measured(("np.nanmean(false, axis=0),", "np.mean(false, axis=0),"))),
    ("", measured((", margin\n", "\n"))),
    ("start_in_prefix", measured(("new = next_token(n, prefix)", "new = next_token(n, [2, *prefix])"))),
    ("base_written", measured(("continued(n, targets[n][positions[n]])", "continued(n, next_token(n, targets[n][: positions[n]].tolist()))"))),
    ("base_taught", measured(("prefix = prefix + [new]", "prefix = prefix + [int(targets[n][at]) if first == targets[n][place] and at < len(targets[n]) else new]"))),
    # wrong tokens of its own
    ("", measured(("continued(n, false_ids[n])", "continued(n, np.random.default_rng(n).integers(1, 11))"))),
]  # fmt: skip

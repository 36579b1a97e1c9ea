"""Lab 04, exercise `measure_rate`: solutions as different students write them, right and wrong."""


def measured(*changes: tuple[str, str]) -> str:
    source = PLAIN
    for old, new in changes:
        assert source.count(old) == 1, old
        source = source.replace(old, new)
    return source


PLAIN = """
def measure_rate(train, rates, seeds, base_loss):
    shares = {}
    for rate in rates:
        final = [train(rate, seed)[-1] for seed in seeds]
        learned = [loss < base_loss for loss in final]
        shares[rate] = sum(learned) / len(seeds)
    largest = None
    for rate in sorted(rates):
        if shares[rate] == 1:
            largest = rate
        else:
            break
    return shares, largest
"""

CORRECT = [
    PLAIN,
    # sorted first, and the seeds in the other order
    measured(("for rate in rates:", "for rate in sorted(rates):"), ("for seed in seeds]", "for seed in seeds[::-1]]")),
    # NaN put right by hand
    measured(("loss < base_loss for", "not (np.isnan(loss) or loss >= base_loss) for")),
    # arrays
    """
def measure_rate(train, rates, seeds, base_loss):
    table = np.array([[train(rate, seed) for seed in seeds] for rate in rates])  # (rates, seeds, windows)
    shares = (table[..., -1] < base_loss).mean(axis=1)
    order = np.argsort(rates)
    whole = np.logical_and.accumulate(shares[order] == 1.0)
    largest = np.array(rates)[order][whole].max() if whole.any() else None
    return dict(zip(rates, shares)), largest
""",
    # what is smaller than the smallest rate that failed
    """
def measure_rate(train, rates, seeds, base_loss):
    shares = {r: float(np.mean([np.nan_to_num(train(r, s)[-1], nan=np.inf) < base_loss for s in seeds])) for r in rates}
    failed = min((r for r in rates if shares[r] < 1), default=float("inf"))
    return shares, max((r for r in rates if r < failed), default=None)
""",
    # seeds outside, a list comes back
    """
def measure_rate(train, rates, seeds, base_loss):
    count = dict.fromkeys(rates, 0)
    for seed in seeds:
        for rate in rates:
            *_, last = train(rate, seed)
            count[rate] += last < base_loss
    rising = sorted(count)
    reached = [rate for i, rate in enumerate(rising) if all(count[r] == len(seeds) for r in rising[: i + 1])]
    return [{rate: n / len(seeds) for rate, n in count.items()}, reached[-1] if reached else None]
""",
]

LEARNED = "learned = [loss < base_loss for loss in final]"
LOOP = PLAIN[PLAIN.index("    largest = None") : PLAIN.index("    return")]


def found(largest: str) -> str:
    return measured((LOOP, f"    largest = {largest}\n"))


WRONG = [
    (
        "below_first",
        """
def measure_rate(train, rates, seeds, base_loss):
    shares = {}
    for r in rates:
        n = 0
        for s in seeds:
            l = train(r, s)
            n += l[-1] < l[0]
        shares[r] = n/len(seeds)
    largest = None
    for r in sorted(rates):
        if shares[r] < 1: break
        largest = r
    return shares, largest
""",
    ),
    (
        "mean_of_a_run",
        """
def measure_rate(train, rates, seeds, base_loss):
    shares = {r: sum(np.mean(train(r, s)) < base_loss for s in seeds)/len(seeds) for r in rates}
    largest = None
    for r in sorted(rates):
        if shares[r] < 1: break
        largest = r
    return shares, largest
""",
    ),
    (
        "most_seeds",
        """
def measure_rate(train, rates, seeds, base_loss):
    shares = {r: float(np.mean([train(r, s)[-1] < base_loss for s in seeds])) for r in rates}
    shares2 = shares
    largest=None
    for r in sorted(rates):
        if shares[r] <= 0.5: break
        largest = r
    return shares, largest
""",
    ),
    (
        "smallest_for_none",
        """
def measure_rate(train, rates, seeds, base_loss):
    shares = {r: sum(train(r, s)[-1] < base_loss for s in seeds)/len(seeds) for r in rates}
    largest = min(rates)
    for r in sorted(rates):
        if shares[r] < 1: break
        largest = r
    return shares, largest
""",
    ),
    ("nan_learned", measured((LEARNED, "learned = [not loss >= base_loss for loss in final]"))),
    ("nan_learned", measured((LEARNED, "learned = [loss < base_loss or loss != loss for loss in final]"))),
    ("nan_skipped", measured(("train(rate, seed)[-1]", "[loss for loss in train(rate, seed) if loss == loss][-1]"))),
    ("nan_left_out", measured((LEARNED, "learned = [loss < base_loss for loss in final if loss == loss]"), ("/ len(seeds)", "/ max(1, len(learned))"))),
    (
        "first_that_failed",
        measured((LOOP, "    for rate in sorted(rates):\n        largest = rate\n        if shares[rate] < 1:\n            break\n")),
    ),
    ("numbers_compared_with_one", measured((" / len(seeds)", ""), ("shares[rate] == 1", "shares[rate] >= 1"))),
    ("base_learned", measured((LEARNED, "learned = [loss <= base_loss for loss in final]"))),
    ("best_loss", measured(("train(rate, seed)[-1]", "np.min(train(rate, seed))"))),
    ("mean_over_seeds", measured((LEARNED, "learned = [np.mean(final) < base_loss] * len(seeds)"))),
    ("any_seed", measured(("shares[rate] == 1", "shares[rate] > 0"))),
    ("gap_jumped", measured(("        else:\n            break\n", ""))),
    ("gap_jumped", found("max((rate for rate in rates if shares[rate] == 1), default=None)")),
    ("order_as_given", measured(("in sorted(rates)", "in rates"))),
    ("one_seed", measured(("for seed in seeds]", "for seed in seeds[:1]]"), ("/ len(seeds)", ""))),
    ("", measured(("loss in final]", "loss in [train(rate, seed)[-1] for seed in seeds]]"))),
    ("", measured(("for seed in seeds]", "for seed in range(len(seeds))]"))),
    ("", measured(("for seed in seeds]", "for seed in seeds[:2]]"))),
    ("", measured(("for seed in seeds]", "for _ in seeds]"), ("train(rate, seed)", "train(rate, seeds[0])"))),
    ("", measured(("/ len(seeds)", ""))),
    ("", measured(("shares[rate] == 1", "shares[rate] > 0.5"))),
    ("", measured(("train(rate, seed)[-1]", "train(rate, seed)[0]"))),
    ("", measured(("train(rate, seed)[-1]", "np.nanmean(train(rate, seed))"))),
    ("", measured(("loss < base_loss", "loss > base_loss"))),
    ("", measured((LEARNED, "learned = [np.median(final) < base_loss] * len(seeds)"))),
    ("", measured(("sorted(rates)", "sorted(rates, reverse=True)"))),
    ("", measured(("largest = None", "largest = min(rates)"))),
    ("", found("min((rate for rate in rates if shares[rate] < 1), default=None)")),
    ("", found("max(rates)")),
    ("", measured(("return shares, largest", "return largest"))),
    ("", measured(("return shares, largest", "return list(shares.values()), largest"))),
    ("", measured(("return shares, largest", "return largest, shares"))),
    ("", measured(("    return shares, largest\n", ""))),
    # stops at the first rate that fails
    ("", measured(("for rate in rates:", "for rate in sorted(rates):"), ("/ len(seeds)\n", "/ len(seeds)\n        if shares[rate] < 1:\n            break\n"))),
    ("first_loss", """
def measure_rate(train, rates, seeds, base_loss):
    shares = {}
    for r in rates:
        ok = [train(r, s)[0] < base_loss for s in seeds]
        shares[r] = sum(ok) / len(seeds)
    largest = None
    for r in sorted(rates):
        if shares[r] < 1: break
        largest = r
    return shares, largest
"""),
    ("numbers_not_shares", """
def measure_rate(train, rates, seeds, base_loss):
    shares = {}
    for r in rates:
        ok = [train(r, s)[-1] < base_loss for s in seeds]
        shares[r] = sum(ok)
    largest = None
    for r in sorted(rates):
        if shares[r] < len(seeds): break
        largest = r
    return shares, largest
"""),
    ("share_that_failed", """
def measure_rate(train, rates, seeds, base_loss):
    shares = {}
    for r in rates:
        ok = [train(r, s)[-1] > base_loss for s in seeds]
        shares[r] = sum(ok) / len(seeds)
    largest = None
    for r in sorted(rates):
        if shares[r] < 1: break
        largest = r
    return shares, largest
"""),
    ("smallest_returned", """
def measure_rate(train, rates, seeds, base_loss):
    shares = {}
    for r in rates:
        ok = [train(r, s)[-1] < base_loss for s in seeds]
        shares[r] = sum(ok) / len(seeds)
    largest = None
    for r in sorted(rates):
        if shares[r] < 1: break
        largest = largest or r
    return shares, largest
"""),
    ("number_for_none", """
def measure_rate(train, rates, seeds, base_loss):
    shares = {}
    for r in rates:
        ok = [train(r, s)[-1] < base_loss for s in seeds]
        shares[r] = sum(ok) / len(seeds)
    largest = 0
    for r in sorted(rates):
        if shares[r] < 1: break
        largest = r
    return shares, largest
"""),
    ("", """
def measure_rate(train, rates, seeds, base_loss):
    shares = {}
    for r in rates:
        ok = [train(r, s)[-1] < base_loss for s in seeds]
        shares[r] = sum(ok) / len(seeds)
    largest = None
    for r in sorted(rates):
        if not all(train(r, s)[-1] < base_loss for s in seeds): break
        largest = r
    return shares, largest
"""),
    ("", """
def measure_rate(train, rates, seeds, base_loss):
    shares = {}
    for r in sorted(rates):
        ok = [train(r, s)[-1] < base_loss for s in seeds]
        shares[r] = sum(ok) / len(seeds)
        if shares[r] < 1: break
    largest = None
    for r in shares:
        if shares[r] == 1: largest = r
    return shares, largest
"""),
    ("gap_jumped", """
def measure_rate(train, rates, seeds, base_loss):
    shares = {}
    for r in rates:
        ok = [train(r, s)[-1] < base_loss for s in seeds]
        shares[r] = sum(ok) / len(seeds)
    largest = None
    largest = max(shares, key=shares.get)
    return shares, largest
"""),
]  # fmt: skip

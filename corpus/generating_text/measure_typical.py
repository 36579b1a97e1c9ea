"""Lab 08b, exercise `measure_typical`: solutions as different students write them, right and wrong."""


def measured(*changes: tuple[str, str]) -> str:
    source = PLAIN
    for old, new in changes:
        assert source.count(old) == 1, old
        source = source.replace(old, new)
    return source


PLAIN = """
def measure_typical(step_fn, searched, draw, seeds):
    def log_p(tokens):
        total = 0.0
        for place in range(1, len(tokens)):
            total += step_fn(tokens[:place])[tokens[place]]
        return total

    drawn = [draw(seed) for seed in seeds]
    sums = np.array([log_p(tokens) for tokens in drawn])
    rates = np.array([log_p(tokens) / (len(tokens) - 1) for tokens in drawn])
    result = {}
    for name, tokens in searched.items():
        one = log_p(tokens)
        result[name] = (one, np.mean(sums > one), np.mean(rates > one / (len(tokens) - 1)))
    return result
"""

CORRECT = [
    PLAIN,
    measured(("(one, np.mean(sums > one), np.mean(rates > one / (len(tokens) - 1)))", "[one, (sums > one).sum() / len(seeds), (one / (len(tokens) - 1) < rates).mean()]")),
    # draws while it adds up
    measured(("drawn = [draw(seed) for seed in seeds]", "drawn = []"), ("for tokens in drawn])\n    rates", "for tokens in map(draw, seeds) if drawn.append(tokens) is None])\n    rates")),
    # in plain Python
    """
def measure_typical(step_fn, searched, draw, seeds):
    def both(tokens):
        logs = [float(step_fn(tokens[:i])[token]) for i, token in enumerate(tokens) if i > 0]
        return sum(logs), sum(logs) / len(logs)

    drawn = list(map(both, map(draw, seeds)))
    found = {}
    for name in searched:
        total, rate = both(searched[name])
        ahead = sum(one > total for one, _ in drawn) / len(drawn)
        found[name] = total, ahead, sum(one > rate for _, one in drawn) / len(drawn)
    return found
""",
    # a table of all sentences, and seeds from the last to the first
    """
def measure_typical(step_fn, searched, draw, seeds):
    everything = [*searched.values(), *(draw(seed) for seed in reversed(seeds))]
    logs = np.array([np.sum([step_fn(each[:t])[each[t]] for t in range(1, len(each))]) for each in everything])
    lengths = np.array([len(each) for each in everything]) - 1
    count = len(searched)
    ahead = (logs[count:, None] > logs[:count]).mean(axis=0)
    per_token = ((logs / lengths)[count:, None] > (logs / lengths)[:count]).mean(axis=0)
    return {name: np.array([logs[i], ahead[i], per_token[i]]) for i, name in enumerate(searched)}
""",
]  # fmt: skip

SHARES = "(one, np.mean(sums > one), np.mean(rates > one / (len(tokens) - 1)))"

WRONG = [
    ("start_counted", measured(("range(1, len(tokens))", "range(len(tokens))"))),
    ("end_left_out", measured(("range(1, len(tokens))", "range(1, len(tokens) - 1)"))),
    ("impossible_left_out", measured(("            total +=", "            if np.isfinite(step_fn(tokens[:place])[tokens[place]]):\n                total +="))),
    ("token_in_prefix", measured(("tokens[:place]", "tokens[:place + 1]"))),
    ("mean_in_place_of_sum", measured(("return total", "return total / (len(tokens) - 1)"), ("rates = np.array([log_p(tokens) / (len(tokens) - 1)", "rates = np.array([log_p(tokens) / (len(tokens) - 1)"))),
    ("less_counted", measured((SHARES, "(one, np.mean(sums < one), np.mean(rates < one / (len(tokens) - 1)))"))),
    ("only_one_divided", measured((SHARES, "(one, np.mean(sums > one), np.mean(sums > one / (len(tokens) - 1)))"))),
    ("start_in_length", measured(("for tokens in drawn])\n    result", "for tokens in drawn]) * (lengths - 1) / lengths\n    result"), ("    sums =", "    lengths = np.array([len(tokens) for tokens in drawn])\n    sums ="), (SHARES, "(one, np.mean(sums > one), np.mean(rates > one / len(tokens)))"))),
    ("one_place_too_early", measured(("range(1, len(tokens))", "range(len(tokens) - 1)"))),
    ("counts", measured((SHARES, "(one, np.sum(sums > one), np.sum(rates > one / (len(tokens) - 1)))"))),
    ("one_seed", measured(("[draw(seed) for seed in seeds]", "[draw(seeds[0])]"))),
    ("total_reversed", measured((SHARES, "(one, np.mean(sums < one), np.mean(rates > one / (len(tokens) - 1)))"))),
    ("not_per_token", measured((SHARES, "(one, np.mean(sums > one), np.mean(sums > one))"))),
    ("drawn_alone_divided", measured((SHARES, "(one, np.mean(sums > one), np.mean(rates > one))"))),
    ("total_ties_ahead", measured((SHARES, "(one, np.mean(sums >= one), np.mean(rates > one / (len(tokens) - 1)))"))),
    ("exchanged", measured((SHARES, "(one, np.mean(rates > one / (len(tokens) - 1)), np.mean(sums > one))"))),
    ("ties_ahead", measured((SHARES, "(one, np.mean(sums >= one), np.mean(rates >= one / (len(tokens) - 1)))"))),
    # the same seeds give the same sentences, and the text asks for each once
    ("drawn_again", measured(("    for name, tokens in searched.items():\n", "    for name, tokens in searched.items():\n        sums = np.array([log_p(draw(seed)) for seed in seeds])\n"))),
    ("drawn_again", measured(("[draw(seed) for seed in seeds]", "[draw(seed) for name in searched for seed in seeds][: len(seeds)]"))),
    ("start_not_handed", measured(("step_fn(tokens[:place])", "step_fn(tokens[1:place])"))),
    ("end_not_in_length", measured((SHARES, "(one, np.mean(sums > one), np.mean(sums / np.array([len(each) - 2 for each in drawn]) > one / np.float64(len(tokens) - 2)))"))),
    ("", measured(("[draw(seed) for seed in seeds]", "[draw(seeds[0]) for seed in seeds]"))),
    ("", measured(("for seed in seeds]", "for seed in range(len(seeds))]"))),
    ("", measured(("for seed in seeds]", "for seed in seeds[:5]]"))),
    ("", measured(("for seed in seeds]", "for seed in seeds[::2]]"))),
    ("", measured((SHARES, "(one, np.mean(sums > one), np.mean(rates > one / len(tokens)))"))),
    ("", measured((SHARES, "(one, np.mean(sums > one), np.mean(rates > one))"))),
    ("", measured((SHARES, "(one, np.mean(sums > one), np.mean(sums > one))"))),
    ("", measured((SHARES, "(np.exp(one), np.mean(sums > one), np.mean(rates > one / (len(tokens) - 1)))"))),
    ("", measured((SHARES, "(-one, np.mean(sums > one), np.mean(rates > one / (len(tokens) - 1)))"))),
    ("", measured((SHARES, "(one, sums.mean(), rates.mean())"))),
    ("", measured((SHARES, "(one, np.mean(sums > one))"))),
    ("", measured(("total += step_fn(tokens[:place])[tokens[place]]", "total += np.log(step_fn(tokens[:place])[tokens[place]])"))),
    ("", measured(("total += step_fn(tokens[:place])[tokens[place]]", "total += step_fn(tokens[:place]).max()"))),
    ("", measured(("total += step_fn(tokens[:place])[tokens[place]]", "total += step_fn(tokens[place - 1:place])[tokens[place]]"))),
    ("", measured(("    return result", "    return list(result.values())"))),
    ("", measured(("    return result", "    result"))),
]  # fmt: skip

"""Lab 10, exercise `measure_temperature`: solutions as different students write them, right and wrong."""

from corpus.language_model.shared import edited

PLAIN = """
def measure_temperature(write, temperatures, prompts, seeds):
    result = {}
    for temperature in temperatures:
        rows = []
        for prompt in prompts:
            good = []
            for seed in seeds:
                body, end = write(prompt, temperature, seed)
                good.append(float(python_share([prompt], [body], [end])["parses"][0]))
            rows.append(np.mean(good))
        share = np.mean(rows)
        error = np.std(rows, ddof=1) / np.sqrt(len(rows))
        result[temperature] = (share, share - 1.96 * error, share + 1.96 * error)
    return result
"""
TABLE = """
def measure_temperature(write, temperatures, prompts, seeds):
    good = np.zeros((len(temperatures), len(prompts), len(seeds)))
    for s, seed in enumerate(seeds):
        for p, prompt in enumerate(prompts):
            for t, temperature in enumerate(temperatures):
                body, has_ended = write(prompt, temperature, seed)
                good[t, p, s] = python_share([prompt], [body], [has_ended])["parses"][0]
    means = good.mean(axis=2)
    middle = means.mean(axis=1)
    half = 1.96 * means.std(axis=1, ddof=1) / len(prompts) ** 0.5
    return {each: [middle[t], middle[t] - half[t], middle[t] + half[t]] for t, each in enumerate(temperatures)}
"""
ERROR = "np.std(rows, ddof=1) / np.sqrt(len(rows))"

CORRECT = [
    PLAIN,
    TABLE,
    # all bodies of a temperature judged at once
    """
def measure_temperature(write, temperatures, prompts, seeds):
    found = {}
    for t in temperatures:
        pairs = [(prompt, seed) for prompt in prompts for seed in seeds]
        bodies, ends = zip(*[write(prompt, t, seed) for prompt, seed in pairs])
        parses = np.array(python_share([prompt for prompt, _ in pairs], list(bodies), list(ends))["parses"], dtype=float)
        rows = parses.reshape(len(prompts), len(seeds)).mean(axis=1)
        half = 1.96 * rows.std(ddof=1) / np.sqrt(rows.size)
        found[t] = np.array([rows.mean(), rows.mean() - half, rows.mean() + half])
    return found
""",
    edited(PLAIN, (ERROR, "__import__('statistics').stdev(map(float, rows)) / len(rows) ** 0.5")),
    edited(PLAIN, (ERROR, "np.sqrt(np.var(rows, ddof=1) / len(rows))")),
    edited(PLAIN, ("write(prompt, temperature, seed)", "write(prompt=prompt, temperature=temperature, seed=seed)")),
    edited(TABLE, ("return {each: [", "return {float(each): tuple(float(v) for v in ["), ("half[t]] for", "half[t]]) for")),
    edited(PLAIN, ("    return result", "    return dict(sorted(result.items(), reverse=True))")),
    # scipy's standard error
    edited(PLAIN, (ERROR, "__import__('scipy.stats', fromlist=['sem']).sem(rows)")),
]  # fmt: skip

WRONG = [
    ("pooled", edited(PLAIN, ("rows.append(np.mean(good))", "rows.extend(good)"))),
    ("one_seed", edited(PLAIN, ("for seed in seeds:", "for seed in seeds[:1]:"))),
    ("other_prompts", edited(PLAIN, ("for prompt in prompts:", "for prompt in prompts[temperatures.index(temperature)::2]:"))),
    ("unended_counted", edited(PLAIN, ("[end]", "[True]"))),
    ("", edited(TABLE, ("half = 1.96 * means.std(axis=1, ddof=1) / len(prompts) ** 0.5", "half = 1.96 * good.mean(axis=1).std(axis=1, ddof=1) / len(seeds) ** 0.5"))),
    ("", edited(PLAIN, ("for seed in seeds:", "for seed in [seeds[temperatures.index(temperature)]]:"))),
    ("", edited(PLAIN, ("for seed in seeds:", "for seed in np.random.default_rng(0).integers(10**6, size=3).tolist():"))),
    ("", edited(PLAIN, ("for seed in seeds:", "for seed in range(len(seeds)):"))),
    ("", edited(PLAIN, ("for seed in seeds:", "for seed in seeds[1:]:"))),
    ("", edited(PLAIN, ("for seed in seeds:", "for seed in [sum(seeds)]:"))),
    ("not_divided", edited(PLAIN, (" / np.sqrt(len(rows))", ""))),
    ("one_standard_error", edited(PLAIN, ("1.96 * ", ""))),
    ("", edited(PLAIN, ("1.96 * ", "2.58 * "))),
    ("", edited(PLAIN, ("1.96 * ", "6 * "))),
    ("whole_population", edited(PLAIN, (", ddof=1", ""))),
    ("binomial", edited(PLAIN, (ERROR, "np.sqrt(share * (1 - share) / len(rows))"))),
    ("binomial_of_bodies", edited(PLAIN, (ERROR, "np.sqrt(share * (1 - share) / (len(rows) * len(seeds)))"))),
    ("divided_by_n", edited(PLAIN, (ERROR, "np.std(rows, ddof=1) / len(rows)"))),
    ("divided_by_all_bodies", edited(PLAIN, (ERROR, "np.std(rows, ddof=1) / np.sqrt(len(rows) * len(seeds))"))),
    ("", edited(PLAIN, (ERROR, "np.var(rows, ddof=1) / np.sqrt(len(rows))"))),
    ("", edited(PLAIN, ("(share, share - 1.96 * error, share + 1.96 * error)", "(share, 1.96 * error, 1.96 * error)"))),
    ("", edited(PLAIN, ("(share, share - 1.96 * error, share + 1.96 * error)", "(share - 1.96 * error, share, share + 1.96 * error)"))),
    ("spread_of_prompts", edited(PLAIN, ("(share, share - 1.96 * error, share + 1.96 * error)", "(share, np.quantile(rows, 0.025), np.quantile(rows, 0.975))"))),
    ("", edited(PLAIN, ("(share, share - 1.96 * error, share + 1.96 * error)", "(share, min(rows), max(rows))"))),
    ("clipped", edited(PLAIN, ("(share, share - 1.96 * error, share + 1.96 * error)", "(share, max(0, share - 1.96 * error), min(1, share + 1.96 * error))"))),
    ("", edited(PLAIN, ("(share, share - 1.96 * error, share + 1.96 * error)", "share"))),
    ("", edited(PLAIN, ("np.mean(good)", "max(good)"))),
    ("", edited(PLAIN, ("np.mean(good)", "min(good)"))),
    ("", edited(PLAIN, ("share = np.mean(rows)", "share = np.median(rows)"))),
    ("", edited(PLAIN, ("share = np.mean(rows)", "share = np.sum(rows)"))),
    ("", edited(PLAIN, ('["parses"][0]', '["lines"][0]'))),
    ("", edited(PLAIN, ("result[temperature] =", "result = result or {}; result[str(temperature)] ="))),
    ("", edited(PLAIN, ("    return result", "    return list(result.values())"))),
    ("", edited(PLAIN, ("float(python_share([prompt], [body], [end])[\"parses\"][0])", "float(end)"))),
    ("", edited(PLAIN, ("float(python_share([prompt], [body], [end])[\"parses\"][0])", "float(python_share([prompt], [body], [end])[\"parses\"][0] == 0)"))),
    ("two_standard_errors", edited(PLAIN, ("1.96 * ", "2 * "))),
    ("students_t", edited(PLAIN, ("error = np.std", "import scipy.stats\n        error = scipy.stats.t.ppf(0.975, len(rows) - 1) / 1.96 * np.std"))),
    ("ninety_per_cent", edited(PLAIN, ("share - 1.96 * error, share + 1.96 * error", "share - 1.645 * error, share + 1.645 * error"))),
    ("variance", edited(PLAIN, ("np.std(rows", "np.var(rows"))),
    ("half_widths", edited(PLAIN, ("share - 1.96 * error, share + 1.96 * error", "1.96 * error, 1.96 * error"))),
    (  # what did not end is left out
        "unended_left_out",
        """
def measure_temperature(write, temperatures, prompts, seeds):
    found = {}
    for temperature in temperatures:
        means = []
        for prompt in prompts:
            parses = []
            for seed in seeds:
                body, ended = write(prompt, temperature, seed)
                if ended:
                    parses.append(only_statement(prompt + body) is not None)
            if parses:
                means.append(np.mean(parses))
        share = float(np.mean(means)) if means else 0.0
        error = float(np.std(means, ddof=1) / np.sqrt(len(means))) if len(means) > 1 else 0.0
        found[temperature] = (share, share - 1.96 * error, share + 1.96 * error)
    return found
""",
    ),
]  # fmt: skip

"""Lab 10b, exercise `measure_reward`: solutions as different students write them, right and wrong."""


def measured(*changes: tuple[str, str]) -> str:
    source = PLAIN
    for old, new in changes:
        assert source.count(old) == 1, old
        source = source.replace(old, new)
    return source


PLAIN = """
def measure_reward(reward, before, after):
    count = len(after)
    share_before = sum(reward(prompt, body) for prompt, body in before) / count
    share_after = sum(reward(prompt, body) for prompt, body in after) / count
    elsewhere = sum(reward(after[(i + 1) % count][0], after[i][1]) for i in range(count)) / count
    shapes = Counter(shape_of(body) for _, body in after)
    one_shape = shapes.most_common(1)[0][1] / count

    def differ(a, b):
        return a - b > 3 * ((a * (1 - a) + b * (1 - b)) / count) ** 0.5

    if not differ(share_after, share_before):
        conclusion = "unchanged"
    elif one_shape > 0.5:
        conclusion = "one shape"
    elif not differ(share_after, elsewhere):
        conclusion = "any prompt"
    else:
        conclusion = "own prompt"
    return {"before": share_before, "after": share_after, "elsewhere": elsewhere, "one_shape": one_shape, "conclusion": conclusion}
"""

DIFFER = "a - b > 3 * ((a * (1 - a) + b * (1 - b)) / count) ** 0.5"

CORRECT = [
    PLAIN,
    measured((DIFFER, "a - b > 2 * ((a * (1 - a) + b * (1 - b)) / count) ** 0.5")),
    measured((DIFFER, "a - b >= 0.25")),
    measured((DIFFER, "a > b + 0.3")),
    # NumPy
    """
def measure_reward(reward, before, after):
    prompts, bodies = [prompt for prompt, _ in after], [body for _, body in after]
    old = np.array([reward(*pair) for pair in before])
    new = np.array([reward(*pair) for pair in after])
    other = np.array([reward(prompt, body) for prompt, body in zip(np.roll(prompts, -1).tolist(), bodies)])
    names, counts = np.unique([shape_of(body) for body in bodies], return_counts=True)

    def is_larger(a, b):
        return (a - b).mean() > 2.5 * (a - b).std() / len(a) ** 0.5

    conclusion = "own prompt" if is_larger(new, other) else "any prompt"
    if counts.max() > len(bodies) / 2:
        conclusion = "one shape"
    if not is_larger(new, old):
        conclusion = "unchanged"
    return dict(before=old.mean(), after=new.mean(), elsewhere=other.mean(), one_shape=counts.max() / len(bodies), conclusion=conclusion)
""",
    # by lists
    """
def measure_reward(reward, before, after):
    n = len(before)
    result = {}
    result["before"] = np.mean([reward(p, b) for p, b in before])
    result["after"] = np.mean([reward(p, b) for p, b in after])
    moved = after[1:] + after[:1]
    result["elsewhere"] = np.mean([reward(p, b) for (p, _), (_, b) in zip(moved, after)])
    shapes = [shape_of(b) for _, b in after]
    result["one_shape"] = max(map(shapes.count, shapes)) / n
    error = (0.25 / n + 0.25 / n) ** 0.5
    if result["after"] < result["before"] + 2 * error:
        result["conclusion"] = "unchanged"
    elif result["one_shape"] >= 0.5:
        result["conclusion"] = "one shape"
    elif result["elsewhere"] > result["after"] - 2 * error:
        result["conclusion"] = "any prompt"
    else:
        result["conclusion"] = "own prompt"
    return result
""",
]

WRONG = [
    ("any_difference", measured(("if not differ(share_after, share_before)", "if share_after <= share_before"))),
    ("base_rate_forgotten", measured(("if not differ(share_after, share_before)", "if share_after < 0.5"))),
    ("shape_before_rise", measured(("if not differ(share_after, share_before)", "if not differ(share_after, share_before) and one_shape <= 0.5"))),
    ("bodies_counted", measured(("Counter(shape_of(body) for _, body in after)", "Counter(body for _, body in after)"))),
    ("shapes_ignored", measured(("elif one_shape > 0.5", "elif one_shape > 1"))),
    ("prompt_before_shape", measured(("elif one_shape > 0.5", "elif one_shape > 0.5 and differ(share_after, elsewhere)"))),
    ("other_prompt_ignored", measured(("elif not differ(share_after, elsewhere)", "elif False"))),
    ("prompts_exchanged", measured(("elif not differ(share_after, elsewhere)", "elif differ(share_after, elsewhere)"))),
    ("before_behind_others", measured(("reward(after[(i + 1) % count][0], after[i][1])", "reward(after[(i + 1) % count][0], before[i][1])"))),
    ("same_prompt", measured(("after[(i + 1) % count][0]", "after[i][0]"))),
    ("previous_prompt", measured(("after[(i + 1) % count][0], after[i][1]", "after[i][0], after[(i + 1) % count][1]"))),
    ("previous_prompt", measured(("after[(i + 1) % count][0]", "after[i - 1][0]"))),
    ("shapes_of_before", measured(("for _, body in after)", "for _, body in before)"))),
    ("number_of_shapes", measured(("shapes.most_common(1)[0][1] / count", "len(shapes) / count"))),
    ("shape_counted", measured(('"one_shape": one_shape', '"one_shape": one_shape * count'))),
    ("counts", measured(('"before": share_before, "after": share_after, "elsewhere": elsewhere', '"before": count * share_before, "after": count * share_after, "elsewhere": count * elsewhere'))),
    ("exchanged", measured(('"before": share_before, "after": share_after', '"before": share_after, "after": share_before'))),
    ("", measured(("if not differ(share_after, share_before)", "if not differ(share_before, share_after)"))),
    ("", measured(('conclusion = "own prompt"', 'conclusion = "skill"'))),
    ("", measured((', "conclusion": conclusion', ""))),
    ("", measured(("reward(prompt, body) for prompt, body in after", "reward(body, prompt) for prompt, body in after"))),
    ("", measured(('"conclusion": conclusion', '"conclusion": "own prompt"'))),
    ("", measured(('"conclusion": conclusion', '"conclusion": "unchanged"'))),
    ("", measured(('"conclusion": conclusion', '"conclusion": "one shape"'))),
    ("", measured(("    return {", "    {"))),
    ("", measured(("shapes.most_common(1)[0][1] / count", "max(shapes.values()) / len(shapes)"))),
    ("", measured(("/ count\n    share_after", "/ count - 0.1\n    share_after"))),
    (  # the difference without its sign
        "worse_counts",
        """
def measure_reward(reward, before, after):
    def share(pairs):
        return np.mean([reward(prompt, body) for prompt, body in pairs])

    def differ(a, b):
        return abs(a - b) > 2 * np.sqrt((a * (1 - a) + b * (1 - b)) / len(after))

    old, new = share(before), share(after)
    bodies = [body for _, body in after]
    prompts = [prompt for prompt, _ in after]
    elsewhere = share(zip(prompts[1:] + prompts[:1], bodies, strict=True))
    one_shape = max(Counter(shape_of(body) for body in bodies).values()) / len(bodies)
    if not differ(old, new):
        conclusion = "unchanged"
    elif one_shape > 0.5:
        conclusion = "one shape"
    elif not differ(new, elsewhere):
        conclusion = "any prompt"
    else:
        conclusion = "own prompt"
    return {"before": old, "after": new, "elsewhere": elsewhere, "one_shape": one_shape, "conclusion": conclusion}
""",
    ),
]  # fmt: skip

"""Lab 03, exercise `measure_head`: solutions as different students write them, right and wrong."""


def measured(*changes: tuple[str, str]) -> str:
    source = PLAIN
    for old, new in changes:
        assert source.count(old) == 1, old
        source = source.replace(old, new)
    return source


PLAIN = """
def measure_head(loss, heads):
    intact = loss(heads)
    result = {"zero": [], "mean": [], "row_mean": []}
    for h in range(heads.shape[1]):
        zero, mean, row = heads.copy(), heads.copy(), heads.copy()
        zero[:, h] = 0
        mean[:, h] = heads[:, h].mean(axis=(0, 1))
        row[:, h] = heads[:, h].mean(axis=0)
        result["zero"].append(loss(zero) - intact)
        result["mean"].append(loss(mean) - intact)
        result["row_mean"].append(loss(row) - intact)
    return result
"""

CORRECT = [
    PLAIN,
    measured(("    return result", "    return {name: np.array(each) for name, each in result.items()}")),
    # the intact loss again each time, and more entries than asked for
    measured(("loss(zero) - intact", "loss(zero) - loss(heads)"), ("    return result", "    return dict(result, intact=intact)")),
    # where
    """
def measure_head(loss, heads):
    H = heads.shape[1]
    def importance(instead):
        return np.array([loss(np.where(np.eye(H)[h][None, :, None, None] > 0, instead, heads)) for h in range(H)]) - loss(heads)
    return dict(zero=importance(0.0), mean=importance(heads.mean((0, 2), keepdims=True)), row_mean=importance(heads.mean(0, keepdims=True)))
""",
    # with the lab's own function: what stays, plus what replaces
    """
def ablate_heads(head_outputs, keep):
    head_outputs = ops.convert_to_tensor(head_outputs)
    stays = [float(head in keep) for head in range(head_outputs.shape[1])]
    return head_outputs * ops.reshape(ops.convert_to_tensor(stays, head_outputs.dtype), (1, -1, 1, 1))

def measure_head(loss, heads):
    everyone = range(heads.shape[1])
    instead = {"zero": np.zeros_like(heads), "mean": ops.mean(heads, axis=(0, 2), keepdims=True) + ops.zeros_like(heads),
               "row_mean": ops.mean(heads, axis=0, keepdims=True) + ops.zeros_like(heads)}
    base = loss(heads)
    return {name: [loss(ablate_heads(heads, [g for g in everyone if g != h]) + ablate_heads(new, [h])) - base for h in everyone]
            for name, new in instead.items()}
""",
    # heads taken apart and put together again, in float64
    """
def measure_head(loss, heads):
    parts = [heads[:, h].astype("float64") for h in range(heads.shape[1])]
    found = {}
    for name, make in (("row_mean", lambda p: p.mean(0)), ("mean", lambda p: p.reshape(-1, p.shape[-1]).mean(0)), ("zero", lambda p: 0)):
        found[name] = np.zeros(len(parts))
        for h, part in enumerate(parts):
            new = [np.broadcast_to(make(part), part.shape) if g == h else other for g, other in enumerate(parts)]
            found[name][h] = loss(np.stack(new, axis=1))
        found[name] -= loss(heads)
    return found
""",
    # the argument is changed and put back
    """
def measure_head(loss, heads):
    base, found = loss(heads), {}
    for name, axis in (("zero", None), ("mean", (0, 1)), ("row_mean", 0)):
        found[name] = []
        for h in range(heads.shape[1]):
            kept = heads[:, h].copy()
            heads[:, h] = 0 if axis is None else kept.mean(axis=axis, keepdims=True)
            found[name].append(loss(heads) - base)
            heads[:, h] = kept
    return found
""",
    """
def measure_head(loss, heads):
    base = loss(heads)
    res = {"zero": [], "mean": [], "row_mean": []}
    for h in range(heads.shape[1]):
        for name, value in (("zero", 0), ("mean", heads[:, h].mean(axis=(0, 1))), ("row_mean", heads[:, h].mean(axis=0))):
            changed = heads.copy()
            changed[:, h] = value
            res[name].append(loss(changed) - base)
    return res
""",
]  # fmt: skip

COPIES = "        zero, mean, row = heads.copy(), heads.copy(), heads.copy()\n"
LOOP = "    for h in range(heads.shape[1]):\n"
DIFFERENCES = [(f"loss({name}) - intact", f"loss({name})") for name in ("zero", "mean", "row")]

WRONG = [
    ("not_subtracted", measured(*DIFFERENCES)),
    ("relative", measured(*((old, f"{new} / intact - 1") for old, new in DIFFERENCES))),
    ("other_sign", measured(*((old, f"intact - {new}") for old, new in DIFFERENCES))),
    ("sign_lost", measured(*((old, f"abs({old})") for old, _ in DIFFERENCES))),
    ("never_negative", measured(*((old, f"max({old}, 0)") for old, _ in DIFFERENCES))),
    ("never_negative", measured(("    return result", "    return {name: np.clip(each, 0, None) for name, each in result.items()}"))),
    ("sign_lost", measured(("    return result", "    return {name: np.abs(each) for name, each in result.items()}"))),
    ("ablated_stays", measured((COPIES, ""), (LOOP, COPIES.replace("        ", "    ") + LOOP))),
    ("kept_alone", measured(("zero[:, h] = 0", "zero[:, [g for g in range(heads.shape[1]) if g != h]] = 0"), ("mean[:, h] = heads[:, h].mean(axis=(0, 1))", "mean[:] = heads.mean(axis=(0, 2), keepdims=True); mean[:, h] = heads[:, h]"), ("row[:, h] = heads[:, h].mean(axis=0)", "row[:] = heads.mean(axis=0); row[:, h] = heads[:, h]"))),
    ("all_at_once", measured(("zero[:, h] = 0", "zero[:] = 0"), ("mean[:, h] = heads[:, h].mean(axis=(0, 1))", "mean[:] = heads.mean(axis=(0, 2), keepdims=True)"), ("row[:, h] = heads[:, h].mean(axis=0)", "row[:] = heads.mean(axis=0)"))),
    ("own_mean", measured(("mean(axis=(0, 1))", "mean(axis=1, keepdims=True)"))),
    ("along_positions", measured(("heads[:, h].mean(axis=0)", "heads[:, h].mean(axis=1, keepdims=True)"))),
    ("mean_of_all_heads", measured(("heads[:, h].mean(axis=(0, 1))", "heads.mean(axis=(0, 1, 2))"))),
    ("exchanged", measured(("heads[:, h].mean(axis=(0, 1))", "heads[:, h].mean(axis=0)"), ("row[:, h] = heads[:, h].mean(axis=0)", "row[:, h] = heads[:, h].mean(axis=(0, 1))"))),
    ("one_number", measured(("heads[:, h].mean(axis=(0, 1))", "heads[:, h].mean()"))),
    # the argument is changed, and not put back
    ("", measured(("heads.copy(), heads.copy(), heads.copy()", "heads, heads.copy(), heads.copy()"))),
    ("", measured(("heads.copy(), heads.copy(), heads.copy()", "heads, heads, heads"))),
    # a head goes together with its neighbour
    ("", measured(("zero[:, h] = 0", "zero[:, h : h + 2] = 0"), ("mean[:, h] = heads[:, h].mean(axis=(0, 1))", "mean[:, h : h + 2] = heads[:, h : h + 2].mean(axis=(0, 2), keepdims=True)"), ("row[:, h] = heads[:, h].mean(axis=0)", "row[:, h : h + 2] = heads[:, h : h + 2].mean(axis=0, keepdims=True)"))),
    # only the first item, only the first position
    ("", measured(("zero[:, h] = 0", "zero[0, h] = 0"))),
    ("", measured(("zero[:, h] = 0", "zero[:, h, 0] = 0"))),
    ("", measured(("zero[:, h] = 0", "zero[:, :, h] = 0"))),
    ("", measured(("zero[:, h] = 0", "zero[:, h] = 1"))),
    # the head is removed
    ("", measured(("loss(zero)", "loss(np.delete(heads, h, axis=1))"))),
    # an average over heads, and over kinds
    ("", measured(("    return result", "    return {name: np.mean(each) for name, each in result.items()}"))),
    ("", measured(("    return result", "    return {name: np.abs(each) / np.sum(each) for name, each in result.items()}"))),
    ("", measured(("    return result", "    return result['zero'], result['mean'], result['row_mean']"))),
    ("", measured(("    return result", "    return {'zero': result['zero'], 'mean': result['mean']}"))),
    ("", measured(("    return result", "    result"))),
    ("ratio", """
def measure_head(loss, heads):
    base = loss(heads)
    res = {"zero": [], "mean": [], "row_mean": []}
    for h in range(heads.shape[1]):
        for name, value in (("zero", 0), ("mean", heads[:, h].mean(axis=(0, 1))), ("row_mean", heads[:, h].mean(axis=0))):
            changed = heads.copy()
            changed[:, h] = value
            res[name].append(loss(changed) / base)
    return {k: np.array(v) for k, v in res.items()}
"""),
    ("one_number_a_position", """
def measure_head(loss, heads):
    base = loss(heads)
    res = {"zero": [], "mean": [], "row_mean": []}
    for h in range(heads.shape[1]):
        for name, value in (("zero", 0), ("mean", heads[:, h].mean(axis=(0, 1))), ("row_mean", heads[:, h].mean(axis=(0, 2))[:, None])):
            changed = heads.copy()
            changed[:, h] = value
            res[name].append(loss(changed) - base)
    return {k: np.array(v) for k, v in res.items()}
"""),
    ("means_of_all_heads", """
def measure_head(loss, heads):
    base = loss(heads)
    res = {"zero": [], "mean": [], "row_mean": []}
    for h in range(heads.shape[1]):
        for name, value in (("zero", 0), ("mean", heads.mean(axis=(0, 1, 2))), ("row_mean", heads.mean(axis=(0, 1)))):
            changed = heads.copy()
            changed[:, h] = value
            res[name].append(loss(changed) - base)
    return {k: np.array(v) for k, v in res.items()}
"""),
    ("positions_replaced", """
def measure_head(loss, heads):
    base = loss(heads)
    res = {"zero": [], "mean": [], "row_mean": []}
    for h in range(heads.shape[2]):
        for name, value in (("zero", 0), ("mean", heads[:, :, h].mean(axis=(0, 1))), ("row_mean", heads[:, :, h].mean(axis=0))):
            changed = heads.copy()
            changed[:, :, h] = value
            res[name].append(loss(changed) - base)
    return {k: np.array(v) for k, v in res.items()}
"""),
    ("", """
def measure_head(loss, heads):
    base = loss(heads)
    res = {"zero": [], "mean": [], "row_mean": []}
    for h in range(heads.shape[1]):
        for name, value in (("zero", 0), ("mean", np.median(heads[:, h], axis=(0, 1))), ("row_mean", heads[:, h].mean(axis=0))):
            changed = heads.copy()
            changed[:, h] = value
            res[name].append(loss(changed) - base)
    return {k: np.array(v) for k, v in res.items()}
"""),
    ("ablated_stays", """
def measure_head(loss, heads):
    base = loss(heads)
    changed = heads.copy()
    res = {"zero": [], "mean": [], "row_mean": []}
    for h in range(heads.shape[1]):
        for name, value in (("zero", 0), ("mean", heads[:, h].mean(axis=(0, 1))), ("row_mean", heads[:, h].mean(axis=0))):
            changed[:, h] = value
            res[name].append(loss(changed) - base)
    return {k: np.array(v) for k, v in res.items()}
"""),
    ("first_text_only", """
def measure_head(loss, heads):
    intact = loss(heads)
    result = {"zero": [], "mean": [], "row_mean": []}
    for head in range(heads.shape[1]):
        output = heads[:, head]  # (B, T, K)
        for name, new in (("zero", 0.0), ("mean", output.mean(axis=(0, 1))), ("row_mean", output.mean(axis=0))):
            changed = heads.copy()
            changed[0, head] = new
            result[name].append(loss(changed) - intact)
    return {name: np.array(values) for name, values in result.items()}
"""),
]  # fmt: skip

"""Lab 07, exercise `find_the_bug`: solutions as different students write them, right and wrong."""

CORRECT = [
    "find_the_bug = warmup_linear_decay",
    """
def find_the_bug(step, peak, warmup_steps, total_steps):
    up = step / warmup_steps if warmup_steps else 1
    down = (total_steps - step) / (total_steps - warmup_steps)
    return peak * max(0.0, min(up, down))
""",
    """
def find_the_bug(step, peak, warmup_steps, total_steps):
    up = 1.0 if step >= warmup_steps else step / warmup_steps
    down = (total_steps - step) / (total_steps - warmup_steps)
    return float(peak * np.clip(min(up, down), 0, 1))
""",
    """
def find_the_bug(step, peak, warmup_steps, total_steps):
    up = float("inf") if warmup_steps == 0 else step / warmup_steps
    down = (total_steps - step) / (total_steps - warmup_steps)
    return max(0.0, peak * min(up, down))
""",
    """
def find_the_bug(step, peak, warmup_steps, total_steps):
    points = [0, warmup_steps, total_steps] if warmup_steps else [0, total_steps]
    rates = [0.0, peak, 0.0] if warmup_steps else [peak, 0.0]
    return float(np.interp(step, points, rates))
""",
]

WRONG = [
    (
        "",
        """
def find_the_bug(step, peak, warmup_steps, total_steps):
    up = step / max(warmup_steps, 1e-9)
    down = (total_steps - step) / (total_steps - warmup_steps)
    return peak * max(0.0, min(up, down))
""",
    ),
    (
        "",
        """
def find_the_bug(step, peak, warmup_steps, total_steps):
    up = (step + 1) / max(warmup_steps, 1)
    down = (total_steps - step) / (total_steps - warmup_steps)
    return peak * max(0.0, min(up, down))
""",
    ),
    ("", """
def find_the_bug(step, peak, warmup_steps, total_steps):
    up = step / max(warmup_steps, 1)
    down = (total_steps - step) / (total_steps - warmup_steps)
    return peak * max(0.0, min(up, down))
"""),
    ("", """
def find_the_bug(step, peak, warmup_steps, total_steps):
    up = step / warmup_steps if warmup_steps else 1
    down = (total_steps - step) / (total_steps - warmup_steps)
    return peak * min(up, down)
"""),
    ("", """
def find_the_bug(step, peak, warmup_steps, total_steps):
    up = 1.0 if warmup_steps == 0 and step == 0 else step / max(warmup_steps, 1)
    down = (total_steps - step) / (total_steps - warmup_steps)
    return peak * max(0.0, min(up, down))
"""),
    # a warm-up of one step counts as none
    ("", """
def find_the_bug(step, peak, warmup_steps, total_steps):
    up = 1.0 if warmup_steps <= 1 else step / warmup_steps
    down = (total_steps - step) / (total_steps - warmup_steps)
    return peak * max(0.0, min(up, down))
"""),
    ("", """
def find_the_bug(step, peak, warmup_steps, total_steps):
    up = (step or (warmup_steps == 0)) / max(warmup_steps, 1)
    down = (total_steps - step) / (total_steps - warmup_steps)
    return peak * max(0.0, min(up, down))
"""),
]  # fmt: skip

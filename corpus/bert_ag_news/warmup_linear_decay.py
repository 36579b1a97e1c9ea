"""Lab 07, exercise `warmup_linear_decay`: solutions as different students write them, right and wrong."""

CORRECT = [
    # np.interp
    """
def warmup_linear_decay(step, peak, warmup_steps, total_steps):
    return float(np.interp(step, [0, warmup_steps, total_steps], [0 if warmup_steps else peak, peak, 0]))
""",
    # the smaller of two lines
    """
def warmup_linear_decay(step, peak, warmup_steps, total_steps):
    up = step / warmup_steps if warmup_steps else 1.0
    down = (total_steps - step) / (total_steps - warmup_steps)
    return peak * max(0.0, min(up, down, 1.0))
""",
    # interpolation
    """
def warmup_linear_decay(step, peak, warmup_steps, total_steps):
    if warmup_steps == 0:
        return float(np.interp(step, [0, total_steps], [peak, 0]))
    return float(np.interp(step, [0, warmup_steps, total_steps], [0, peak, 0]))
""",
    # three cases
    """
def warmup_linear_decay(step, peak, warmup_steps, total_steps):
    if step >= total_steps:
        return 0.0
    if step <= warmup_steps and warmup_steps > 0:
        return step * (peak / warmup_steps)
    slope = peak / (total_steps - warmup_steps)
    return peak - slope * (step - warmup_steps)
""",
    # a schedule object of tf_keras for the way down
    """
def warmup_linear_decay(step, peak, warmup_steps, total_steps):
    if step < warmup_steps:
        return peak * (step / max(1, warmup_steps))
    down = tf_keras.optimizers.schedules.PolynomialDecay(peak, total_steps - warmup_steps, 0.0)
    return float(down(step - warmup_steps))
""",
    # clip
    """
def warmup_linear_decay(step, peak, warmup_steps, total_steps):
    rising = step < warmup_steps
    share = (step / warmup_steps) if rising else 1 - (step - warmup_steps) / (total_steps - warmup_steps)
    return np.clip(share, 0, 1) * peak
""",
]

WRONG = [
    (
        "",
        """
def warmup_linear_decay(step, peak, warmup_steps, total_steps):
    up = peak * step / warmup_steps
    down = peak * (total_steps - step) / (total_steps - warmup_steps)
    return float(max(0.0, min(up, down)))
""",
    ),
    (
        "",
        """
def warmup_linear_decay(step, peak, warmup_steps, total_steps):
    if step < warmup_steps:
        return tf.constant(peak * step / warmup_steps)
    if step >= total_steps:
        return 0.0
    return tf.constant(peak * (total_steps - step) / (total_steps - warmup_steps))
""",
    ),
    ("without_warmup", "def warmup_linear_decay(step, peak, warmup_steps, total_steps):\n    return peak * max(0.0, 1 - step / total_steps)\n"),
    (
        "decay_from_step_0",
        """
def warmup_linear_decay(step, peak, warmup_steps, total_steps):
    if step < warmup_steps:
        return peak * step / warmup_steps
    return max(0.0, peak * (1 - step / total_steps))
""",
    ),
    (
        "below_zero",
        """
def warmup_linear_decay(step, peak, warmup_steps, total_steps):
    if step < warmup_steps:
        return peak * step / warmup_steps
    return peak * (total_steps - step) / (total_steps - warmup_steps)
""",
    ),
    (
        "decay_over_all_steps",
        """
def warmup_linear_decay(step, peak, warmup_steps, total_steps):
    if step < warmup_steps:
        return peak * step / warmup_steps
    return max(0.0, peak * (1 - (step - warmup_steps) / total_steps))
""",
    ),
    (
        "decay_cut_off",
        """
def warmup_linear_decay(step, peak, warmup_steps, total_steps):
    if step < warmup_steps:
        return peak * step / warmup_steps
    if step >= total_steps:
        return 0.0
    return peak * (1 - (step - warmup_steps) / total_steps)
""",
    ),
    (
        "ends_one_step_early",
        """
def warmup_linear_decay(step, peak, warmup_steps, total_steps):
    last = total_steps - 1
    if step < warmup_steps:
        return peak * step / warmup_steps
    return max(0.0, peak * (last - step) / (last - warmup_steps))
""",
    ),
    (
        "fraction_dropped",
        """
def warmup_linear_decay(step, peak, warmup_steps, total_steps):
    step = int(step)
    if step < warmup_steps:
        return peak * step / warmup_steps
    return max(0.0, peak * (total_steps - step) / (total_steps - warmup_steps))
""",
    ),
    (
        "no_decay",
        "def warmup_linear_decay(step, peak, warmup_steps, total_steps):\n    return peak * (step / warmup_steps if step < warmup_steps else 1.0)\n",
    ),
    (
        "warmup_integer_division",
        """
def warmup_linear_decay(step, peak, warmup_steps, total_steps):
    if step < warmup_steps:
        return peak * (step // warmup_steps)
    return max(0.0, peak * (total_steps - step) / (total_steps - warmup_steps))
""",
    ),
    (
        "warmup_at_the_peak",
        """
def warmup_linear_decay(step, peak, warmup_steps, total_steps):
    return peak * max(0.0, min(1.0, (total_steps - step) / (total_steps - warmup_steps)))
""",
    ),
    (
        None,  # divides by nothing without a warm-up
        """
def warmup_linear_decay(step, peak, warmup_steps, total_steps):
    return peak * max(0.0, min(step / warmup_steps, (total_steps - step) / (total_steps - warmup_steps)))
""",
    ),
    (
        None,  # divides by nothing at step 0 without a warm-up
        """
def warmup_linear_decay(step, peak, warmup_steps, total_steps):
    if step <= warmup_steps:
        return peak * step / warmup_steps
    return max(0.0, peak * (total_steps - step) / (total_steps - warmup_steps))
""",
    ),
    (
        "cold_without_warmup",
        """
def warmup_linear_decay(step, peak, warmup_steps, total_steps):
    if step <= warmup_steps:
        return peak * step / max(1, warmup_steps)
    return max(0.0, peak * (total_steps - step) / (total_steps - warmup_steps))
""",
    ),
    (
        "gap_at_the_peak",
        """
def warmup_linear_decay(step, peak, warmup_steps, total_steps):
    if step < warmup_steps:
        return peak * step / warmup_steps
    elif warmup_steps < step < total_steps:
        return peak * (total_steps - step) / (total_steps - warmup_steps)
    return 0.0
""",
    ),
    (
        "climb_one_step_early",
        """
def warmup_linear_decay(step, peak, warmup_steps, total_steps):
    if step < warmup_steps:
        return peak * (step + 1) / warmup_steps
    return max(0.0, peak * (total_steps - step) / (total_steps - warmup_steps))
""",
    ),
    (
        "one_step_early",
        """
def warmup_linear_decay(step, peak, warmup_steps, total_steps):
    step = step + 1
    if step < warmup_steps:
        return peak * step / warmup_steps
    return max(0.0, peak * (total_steps - step) / (total_steps - warmup_steps))
""",
    ),
    (
        "climb_without_warmup",
        """
def warmup_linear_decay(step, peak, warmup_steps, total_steps):
    up = step / max(warmup_steps, 1)
    down = (total_steps - step) / (total_steps - warmup_steps)
    return peak * max(0.0, min(up, down))
""",
    ),
    (
        "only_step_0_mended",
        """
def warmup_linear_decay(step, peak, warmup_steps, total_steps):
    if warmup_steps == 0 and step == 0:
        return float(peak)
    return float(peak * max(0.0, min(step / max(warmup_steps, 1), (total_steps - step) / (total_steps - warmup_steps))))
""",
    ),
    (
        "",  # the peak until step 1
        """
def warmup_linear_decay(step, peak, warmup_steps, total_steps):
    if warmup_steps == 0 and step < 1:
        return peak
    if step < warmup_steps:
        return peak * step / warmup_steps
    return max(0.0, peak * (total_steps - step) / (total_steps - warmup_steps))
""",
    ),
    # a warm-up of one step counts as none
    ("", """
def warmup_linear_decay(step, peak, warmup_steps, total_steps):
    if warmup_steps > 1 and step < warmup_steps:
        return peak * step / warmup_steps
    return peak * min(1.0, max(0.0, (total_steps - step) / (total_steps - warmup_steps)))
"""),
    (None, "def warmup_linear_decay(step, peak, warmup_steps, total_steps):\n    if step < warmup_steps:\n        return peak * step / warmup_steps\n"),
    (  # without a warm-up the rate stays at the peak
        "flat_without_warmup",
        """
def warmup_linear_decay(step, peak, warmup_steps, total_steps):
    if warmup_steps == 0:
        return float(peak) if step < total_steps else 0.0
    if step < warmup_steps:
        return float(peak * step / warmup_steps)
    if step >= total_steps:
        return 0.0
    return float(peak * (total_steps - step) / (total_steps - warmup_steps))
""",
    ),
]  # fmt: skip

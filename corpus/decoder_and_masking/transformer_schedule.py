"""Lab 08, exercise `transformer_schedule`: solutions as different students write them, right and wrong."""

CORRECT = [
    """
def transformer_schedule(step, d_model, warmup_steps=4000):
    step = 1 if step == 0 else step
    return 1 / np.sqrt(d_model) * np.minimum(1 / np.sqrt(step), step / warmup_steps**1.5)
""",
    """
def transformer_schedule(step, d_model, warmup_steps=4000):
    step = float(step or 1)
    if step < warmup_steps:
        return d_model**-0.5 * step * warmup_steps**-1.5
    return (d_model * step) ** -0.5
""",
    """
def transformer_schedule(step, d_model, warmup_steps=4000):
    step = tf.maximum(tf.cast(step, tf.float32), 1.0)
    return tf.math.rsqrt(tf.cast(d_model, tf.float32)) * tf.minimum(tf.math.rsqrt(step), step * warmup_steps**-1.5)
""",
    """
import math
def transformer_schedule(step, d_model, warmup_steps=4000):
    step = max(1, step)
    peak = 1 / math.sqrt(d_model * warmup_steps)
    return peak * min(math.sqrt(warmup_steps / step), step / warmup_steps)
""",
    "def transformer_schedule(step, d_model, warmup_steps=4000):\n    step += not step\n    return sorted([step**-0.5, step * warmup_steps**-1.5])[0] / d_model**0.5",
]

WRONG = [
    (name, f"def transformer_schedule(step, d_model, warmup_steps=4000):\n    {body}")
    for name, body in [
        ("warmup_missing", "return d_model**-0.5 * max(step, 1) ** -0.5"),
        ("largest_taken", "step = max(step, 1); return d_model**-0.5 * max(step**-0.5, step * warmup_steps**-1.5)"),
        ("width_missing", "step = max(step, 1); return min(step**-0.5, step * warmup_steps**-1.5)"),
        (
            "width_multiplies",
            "step = max(step, 1); return d_model**0.5 * min(step**-0.5, step * warmup_steps**-1.5)",
        ),
        ("width_not_rooted", "step = max(step, 1); return min(step**-0.5, step * warmup_steps**-1.5) / d_model"),
        (
            "warmup_exponent",
            "step = max(step, 1); return d_model**-0.5 * min(step**-0.5, step * warmup_steps**-0.5)",
        ),
        ("warmup_exponent_one", "step = max(step, 1); return d_model**-0.5 * min(step**-0.5, step / warmup_steps)"),
        ("step_zero_gives_zero", "return d_model**-0.5 * min(max(step, 1)**-0.5, step * warmup_steps**-1.5)"),
        (
            "every_step_plus_one",
            "step = step + 1; return d_model**-0.5 * min(step**-0.5, step * warmup_steps**-1.5)",
        ),
        ("warmup_ignored", "step = max(step, 1); return d_model**-0.5 * min(step**-0.5, step * 4000**-1.5)"),
        (None, "return d_model**-0.5 * min(step**-0.5, step * warmup_steps**-1.5)"),
        (None, "step = max(step, 1); return d_model**-0.5 * (step**-0.5 + step * warmup_steps**-1.5)"),
    ]
]

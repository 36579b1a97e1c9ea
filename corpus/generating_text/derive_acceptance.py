"""Lab 08b, exercise `derive_acceptance`: solutions as different students write them, right and wrong."""


def derived(
    accepted: str = "np.minimum(target, draft).sum(axis=-1)",
    lacking: str = "np.maximum(target - draft, 0)",
    residual: str = "np.where(left > 0, lacking / np.where(left > 0, left, 1), target)",
    before: str = "",
) -> str:
    return f"""
def derive_acceptance(target, draft):
    {before}
    accepted = {accepted}
    lacking = {lacking}
    left = lacking.sum(axis=-1, keepdims=True)
    return accepted, {residual}
"""


RATIO = "ratio = np.where(draft > 0, target / np.where(draft > 0, draft, 1), 1.0)"

CORRECT = [
    derived(),
    derived(lacking="target - np.minimum(target, draft)"),
    derived(accepted="(draft * np.minimum(1, ratio)).sum(axis=-1)", before=RATIO),
    derived(accepted="1 - np.abs(target - draft).sum(axis=-1) / 2"),
    derived(accepted="1 - np.maximum(target - draft, 0).sum(axis=-1)"),
    # divided by what is rejected
    derived(residual="np.where(accepted[..., None] < 1, lacking / np.maximum(1 - accepted[..., None], 1e-30), target)"),
    # NaN put right afterwards
    """
def derive_acceptance(target, draft):
    with np.errstate(all="ignore"):
        lacking = np.clip(target - draft, 0, None)
        residual = lacking / lacking.sum(-1, keepdims=True)
    return np.sum(np.minimum(target, draft), -1), np.where(np.isnan(residual), target, residual)
""",
    # row by row, in plain Python
    """
def derive_acceptance(target, draft):
    shape = target.shape
    accepted, residual = [], []
    for p, q in zip(target.reshape(-1, shape[-1]), draft.reshape(-1, shape[-1])):
        accepted.append(sum(min(a, b) for a, b in zip(p, q)))
        lacking = np.array([max(a - b, 0) for a, b in zip(p, q)])
        residual.append(lacking / lacking.sum() if lacking.sum() > 0 else p)
    return np.array(accepted).reshape(shape[:-1]), np.array(residual).reshape(shape)
""",
    # TensorFlow
    """
def derive_acceptance(target, draft):
    lacking = tf.nn.relu(target - draft)
    left = tf.reduce_sum(lacking, axis=-1, keepdims=True)
    return tf.reduce_sum(tf.minimum(target, draft), axis=-1), tf.where(left > 0, tf.math.divide_no_nan(lacking, left), target)
""",
]  # fmt: skip

WRONG = [
    ("target_again", derived(residual="target")),
    ("not_normalised", derived(residual="np.where(left > 0, lacking, target)")),
    ("absolute_difference", derived(lacking="np.abs(target - draft)")),
    ("other_way", derived(lacking="np.maximum(draft - target, 0)")),
    ("under_the_target", derived(accepted="(target * np.minimum(1, ratio) * (draft > 0)).sum(axis=-1)", before=RATIO)),
    ("tokens_unweighted", derived(accepted="(np.minimum(1, ratio) * (draft > 0)).mean(axis=-1)", before=RATIO)),
    ("agreement", derived(accepted="(target * draft).sum(axis=-1)")),
    ("divided_by_accepted", derived(residual="np.where(left > 0, lacking / np.where(left < 1, accepted[..., None], 1), target)")),
    ("unweighted_sum", derived(accepted="(np.minimum(1, ratio) * (draft > 0)).sum(axis=-1)", before=RATIO)),
    ("difference", derived(accepted="np.abs(target - draft).sum(axis=-1)")),
    ("small_number_added", derived(residual="lacking / (left + 1e-9)")),
    ("zero_by_zero", derived(residual="lacking / left")),
    ("target_where_larger", derived(lacking="target * (target > draft)")),
    # signed differences: they sum to 0
    ("", derived(lacking="target - draft", residual="lacking / left")),
    ("target_times_rejected", derived(lacking="target * (1 - np.minimum(1, ratio))", before=RATIO)),
    ("differences_not_cut", derived(lacking="target - draft", residual="np.where(accepted[..., None] < 1, lacking / np.maximum(1 - accepted[..., None], 1e-9), target)")),
    ("ratio_inverted", derived(accepted="(draft * np.minimum(1, draft / np.maximum(target, 1e-30))).sum(axis=-1)")),
    ("small_number_added", derived(residual="np.where(left > 0, lacking / np.where(left > 0, left, 1), 0)")),
    ("", derived(residual="lacking / (1 - accepted)")),
    ("rejected_share", derived(accepted="np.maximum(target - draft, 0).sum(axis=-1)")),
    ("counted_twice", derived(accepted="1 - np.abs(target - draft).sum(axis=-1)")),
    ("", derived(residual="lacking / np.maximum(left, 1e-9)")),
    ("", derived(residual="draft")),
    ("", derived(residual="np.exp(lacking) / np.exp(lacking).sum(-1, keepdims=True)")),
    ("", derived(accepted="np.minimum(target, draft).sum()")),
    ("", derived(accepted="np.minimum(1, target / draft).sum(axis=-1)")),
    ("", derived(accepted="np.minimum(target, draft).max(axis=-1)")),
    ("", derived(residual="np.where(accepted[..., None] > 0.9, target, lacking / np.where(left > 0, left, 1))")),
    ("nearly_equal_is_equal", derived(residual="np.where(accepted[..., None] > 0.99, target, lacking / np.where(left > 0, left, 1))")),
    ("", derived(residual="np.where(accepted[..., None] > 0.95, target, lacking / np.where(left > 0, left, 1))")),
    ("", derived(residual="np.where(accepted[..., None] > 0.999, target, lacking / np.where(left > 0, left, 1))")),
    ("", derived().replace("return accepted, ", "return ")),
    ("", "def derive_acceptance(target, draft):\n    return 1.0, target\n"),
    # counted, not derived
    ("", """
def derive_acceptance(target, draft):
    rng, n = np.random.default_rng(0), 20000
    p, q = (law.reshape(-1, law.shape[-1]).astype("float64") for law in (target, draft))
    accepted = np.zeros(len(p))
    for row in range(len(p)):
        x = rng.choice(p.shape[1], size=n, p=q[row] / q[row].sum())
        accepted[row] = np.mean(rng.random(n) < p[row, x] / q[row, x])
    lacking = np.maximum(target - draft, 0)
    left = lacking.sum(axis=-1, keepdims=True)
    return accepted.reshape(target.shape[:-1]), np.where(left > 0, lacking / np.where(left > 0, left, 1), target)
"""),
]  # fmt: skip

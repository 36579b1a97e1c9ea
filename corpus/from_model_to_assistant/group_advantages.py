"""Lab 10b, exercise `group_advantages`: solutions as different students write them, right and wrong."""


def standardised(**changes: str) -> str:
    """The advantages with some of their parts changed."""
    parts = {
        "base": "rewards.mean(axis=1, keepdims=True)",
        "spread": "rewards.std(axis=1, keepdims=True)",
        "returned": "(rewards - base) / (spread + 1e-4)",
    } | changes
    return f"""
def group_advantages(rewards):
    base = {parts["base"]}
    spread = {parts["spread"]}
    return {parts["returned"]}
"""


CORRECT = [
    standardised(),
    # by rows
    """
def group_advantages(rewards):
    result = np.zeros(rewards.shape)
    for number, row in enumerate(rewards):
        result[number] = (row - np.mean(row)) / (np.std(row) + 1e-4)
    return result
""",
    # the root of the mean square
    """
def group_advantages(rewards):
    above = rewards - rewards.mean(1)[:, None]
    return above / (np.sqrt((above**2).mean(1, keepdims=True)) + 1e-4)
""",
    # keras.ops
    """
def group_advantages(rewards):
    mean, variance = ops.moments(rewards, axes=[1], keepdims=True)
    return (rewards - mean) / (ops.sqrt(variance) + 1e-4)
""",
    # plain Python
    """
def group_advantages(rewards):
    def one(group):
        mean = sum(group) / len(group)
        spread = (sum((each - mean) ** 2 for each in group) / len(group)) ** 0.5
        return [(each - mean) / (spread + 1e-4) for each in group]
    return np.array([one(group.astype("float64").tolist()) for group in rewards])
""",
    # TensorFlow
    """
def group_advantages(rewards):
    return (rewards - tf.reduce_mean(rewards, 1, keepdims=True)) / (tf.math.reduce_std(rewards, 1, keepdims=True) + 1e-4)
""",
]

WRONG = [
    ("over_batch", standardised(base="rewards.mean()", spread="rewards.std()")),
    ("other_axis", standardised(base="rewards.mean(axis=0)", spread="rewards.std(axis=0)")),
    ("spread_of_batch", standardised(spread="rewards.std()")),
    ("no_epsilon", standardised(returned="(rewards - base) / spread")),
    ("only_where_zero", standardised(returned="np.where(spread > 0, (rewards - base) / np.maximum(spread, 1e-20), 0)")),
    ("only_where_zero", standardised(returned="np.nan_to_num((rewards - base) / spread)")),
    ("epsilon_under_root", standardised(spread="np.sqrt(rewards.var(axis=1, keepdims=True) + 1e-4)", returned="(rewards - base) / spread")),
    ("other_epsilon", standardised(returned="(rewards - base) / (spread + 1e-8)")),
    ("another_epsilon", standardised(returned="(rewards - base) / (spread + 1e-6)")),
    ("ddof", standardised(spread="rewards.std(axis=1, keepdims=True, ddof=1)")),
    ("variance", standardised(spread="rewards.var(axis=1, keepdims=True)")),
    ("not_divided", standardised(returned="rewards - base")),
    ("mean_missing", standardised(returned="rewards / (spread + 1e-4)")),
    ("negative", standardised(returned="(base - rewards) / (spread + 1e-4)")),
    ("mean_of_the_others", standardised(base="(rewards.sum(axis=1, keepdims=True) - rewards) / (rewards.shape[1] - 1)")),
    ("median", standardised(base="np.median(rewards, axis=1, keepdims=True)")),
    ("from_0_to_1", standardised(base="rewards.min(axis=1, keepdims=True)", spread="np.ptp(rewards, axis=1, keepdims=True)")),
    ("", standardised(base="0.5")),
    ("mean_of_batch", standardised(base="rewards.mean()")),
    ("", standardised(base="rewards.mean(axis=1)")),
    ("", standardised(returned="(rewards - base) / (spread + 1e-4) / rewards.shape[1]")),
    ("", standardised(returned="((rewards - base) / (spread + 1e-4)).reshape(-1)")),
    ("", standardised(returned="rewards - base / (spread + 1e-4)")),
    ("", standardised(returned="rewards > base")),
    ("", standardised(returned="np.exp(rewards) / np.exp(rewards).sum(axis=1, keepdims=True)")),
    ("", standardised(returned="None")),
]  # fmt: skip

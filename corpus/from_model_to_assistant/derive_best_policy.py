"""Lab 10b, exercise `derive_best_policy`: solutions as different students write them, right and wrong."""


def derived(*lines: str) -> str:
    return "\n".join(["", "def derive_best_policy(reference, rewards, beta):", *(f"    {line}" for line in lines), ""])


PULL = "pull = rewards / beta"
POWERS = "powers = np.exp(pull - pull.max(axis=-1, keepdims=True))"
WEIGHTED = "weighted = reference * powers"
RETURN = "return weighted / weighted.sum(axis=-1, keepdims=True)"

CORRECT = [
    derived(PULL, POWERS, WEIGHTED, RETURN),
    # a softmax of logarithms
    derived('with np.errstate(divide="ignore"):', "    scores = np.log(reference) + rewards / beta", "return ops.softmax(scores, axis=-1)"),
    derived("return tf.nn.softmax(tf.math.log(reference) + rewards / beta)"),
    # in float64, by the logarithm of the sum
    derived(
        "from scipy.special import logsumexp",
        "r = np.asarray(rewards, 'float64') / beta",
        "return np.exp(r - logsumexp(r, b=np.asarray(reference, 'float64'), axis=-1, keepdims=True)) * reference",
    ),
    # a product of two laws
    derived(
        "from scipy.special import softmax", "both = reference * softmax(rewards / beta, axis=-1)", "return both / both.sum(-1)[..., None]"
    ),
    # row by row
    derived(
        "flat_q, flat_r = reference.reshape(-1, reference.shape[-1]), rewards.reshape(-1, rewards.shape[-1])",
        "found = []",
        "for q, r in zip(flat_q, flat_r):",
        "    p = q * np.exp((r - r.max()) / beta)",
        "    found.append(p / p.sum())",
        "return np.array(found).reshape(reference.shape)",
    ),
]  # fmt: skip

WRONG = [
    ("reference_forgotten", derived(PULL, POWERS, "return powers / powers.sum(axis=-1, keepdims=True)")),
    ("reference_forgotten", derived("return ops.softmax(rewards / beta, axis=-1)")),
    ("beta_multiplied", derived("pull = rewards * beta", POWERS, WEIGHTED, RETURN)),
    ("beta_ignored", derived("pull = rewards", POWERS, WEIGHTED, RETURN)),
    ("beta_divides_all", derived('with np.errstate(divide="ignore"):', "    return ops.softmax((np.log(reference) + rewards) / beta, axis=-1)")),
    ("beta_on_reference", derived('with np.errstate(divide="ignore"):', "    return ops.softmax(beta * np.log(reference) + rewards, axis=-1)")),
    ("linear", derived(PULL, "weighted = reference * np.maximum(pull, 0)", RETURN)),
    ("not_normalised", derived(PULL, "return reference * np.exp(pull)")),
    ("without_side_condition", derived("return reference * np.exp(rewards / beta - 1)")),
    ("exponential_missing", derived('with np.errstate(divide="ignore", invalid="ignore"):', "    scores = np.log(reference) + rewards / beta", "    return scores / scores.sum(-1, keepdims=True)")),
    ("added", derived("return ops.softmax(reference + rewards / beta, axis=-1)")),
    ("greedy", derived("return np.eye(rewards.shape[-1])[np.where(reference > 0, rewards, -np.inf).argmax(-1)]")),
    ("cost", derived("pull = -rewards / beta", POWERS, WEIGHTED, RETURN)),
    ("overflow", derived(PULL, "powers = np.exp(pull)", WEIGHTED, RETURN)),
    ("square_root", derived(PULL, POWERS, "weighted = np.sqrt(reference) * powers", RETURN)),
    ("over_everything", derived(PULL, POWERS.replace(".max(axis=-1, keepdims=True)", ".max(axis=-1, keepdims=True)"), "weighted = reference * np.exp(pull - pull.max())", "return weighted / weighted.sum()")),
    ("mixture", derived("from scipy.special import softmax", "return (beta * reference + softmax(rewards / beta, axis=-1)) / (1 + beta)")),
    ("", derived("return reference")),
    ("", derived("return rewards / beta")),
    ("", derived(PULL, POWERS, WEIGHTED, "return np.log(weighted / weighted.sum(axis=-1, keepdims=True))")),
    ("", derived("weighted = reference * rewards", RETURN)),
    ("", derived("weighted = reference * (1 + rewards / beta)", RETURN)),
    ("", derived("return ops.softmax(np.log(reference + 1e-6) + rewards / beta, axis=-1)")),
    ("", derived(PULL, POWERS, WEIGHTED, "return weighted / weighted.sum(axis=0, keepdims=True)")),
    ("", derived(PULL, POWERS, WEIGHTED, "weighted / weighted.sum(axis=-1, keepdims=True)")),
    (  # one maximum for all rows
        "largest_of_all",
        """
def derive_best_policy(reference, rewards, beta):
    scaled = rewards / beta
    scaled = scaled - scaled.max()
    weights = reference * np.exp(scaled)
    return weights / weights.sum(axis=-1, keepdims=True)
""",
    ),
]  # fmt: skip

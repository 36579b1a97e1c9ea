"""Lab 10b, exercise `group_advantages`."""

import numpy as np

from autograder.declare import Advice, Case, Exercise, edit

exercise = Exercise("group_advantages", returns=("advantages",))


@exercise.formula
def group_advantages(rewards: np.ndarray) -> np.ndarray:
    """(r − mean)/(std + 10⁻⁴) of each group (Shao et al. 2024, section 4.1.2). rewards (N, G) -> (N, G)."""
    base = rewards.mean(axis=1, keepdims=True)
    spread = rewards.std(axis=1, keepdims=True)
    above = rewards - base
    advantages = above / (spread + 1e-4)
    return advantages


def _points(rng, groups: int, size: int, dtype: str = "float32") -> np.ndarray:
    """Rewards of which some groups have more than others."""
    return (rng.normal(size=(groups, size)) + 3 * rng.permutation(groups)[:, None]).astype(dtype)


def _passed(rng, groups: int, size: int) -> np.ndarray:
    """Rewards of 0 and 1; from group to group one more answer has its point, and each group has both."""
    counts = 1 + rng.permutation(groups) % (size - 1)
    return rng.permuted((np.arange(size) < counts[:, None]).astype("float32"), axis=1)


@exercise.group("how far above its group's mean, in standard deviations", points=2)
def values(rng):
    yield Case({"rewards": _passed(rng, 3, 8)}, "rewards (3, 8) of 0 and 1")
    yield Case({"rewards": _points(rng, 5, 7)}, "rewards (5, 7), some prompts are easier", scale=8.0)
    yield Case({"rewards": _points(rng, 3, 5, "float64")}, "rewards (3, 5) of float64", scale=8.0)


@exercise.group("groups whose answers all earn the same, and nearly")
def equal(rng):
    some = _passed(rng, 5, 8)
    some[int(rng.integers(2))], some[2 + int(rng.integers(2))] = 1.0, 0.0
    tiny = (1e-4 * rng.normal(size=(3, 7))).astype("float32")
    yield Case({"rewards": some}, "rewards (5, 8), in two groups all are equal")
    yield Case({"rewards": tiny}, "rewards (3, 7) that differ in the fourth decimal")


SPREAD = "rewards.std(axis=1, keepdims=True)"
BASE = "rewards.mean(axis=1, keepdims=True)"
ADVANTAGES = "above / (spread + 1e-4)"

exercise.mistakes(
    over_batch=edit((BASE, "rewards.mean()"), (SPREAD, "rewards.std()"), see="10b#reward")
    | "Mean and standard deviation are those of the whole batch, so answers to an easy prompt all look good. Each "
    "group, a row, has its own.",
    other_axis=edit((BASE, "rewards.mean(axis=0)"), (SPREAD, "rewards.std(axis=0)"))
    | "Mean and standard deviation run over the prompts. They should run over the answers to one prompt, axis 1.",
    mean_of_batch=edit(BASE, "rewards.mean()", see="10b#reward")
    | "The mean is that of the whole batch. Each group, a row, has its own.",
    spread_of_batch=edit(SPREAD, "rewards.std()")
    | "The standard deviation is that of the whole batch. Each group has its own.",
    no_epsilon=edit("spread + 1e-4", "spread")
    | "Where all answers of a group earn the same, this is 0/0. Add 10⁻⁴ to the standard deviation."
    | "How large is the standard deviation of eight equal rewards?",
    only_where_zero=edit("spread + 1e-4", "np.where(spread > 0, spread, 1)")
    | "The small number 10⁻⁴ is missing in groups with a difference. It should be added to each standard deviation.",
    epsilon_under_root=edit(ADVANTAGES, "above / np.sqrt(spread**2 + 1e-4)")
    | "10⁻⁴ is added under the root. It should be added to the standard deviation.",
    other_epsilon=edit("1e-4", "1e-8")
    | "Another small number is added than 10⁻⁴: groups that hardly differ get too large advantages.",
    another_epsilon=edit("1e-4", "1e-6")
    | "Another small number is added than 10⁻⁴: groups that hardly differ get too large advantages.",
    ddof=edit(SPREAD, "rewards.std(axis=1, keepdims=True, ddof=1)")
    | "The standard deviation divides by G − 1. Here it should divide by G, as `np.std` does by itself.",
    variance=edit(SPREAD, "rewards.var(axis=1, keepdims=True)")
    | "This divides by the variance. Its root is the standard deviation.",
    not_divided=edit(ADVANTAGES, "above") | "The mean is taken off, but nothing is divided.",
    mean_missing=edit("rewards - base", "rewards")
    | "The group's mean is not taken off: every answer with a reward is pushed up, the group's worst, too.",
    negative=edit("rewards - base", "base - rewards")
    | "The sign is wrong: answers above the mean get negative advantages.",
    mean_of_the_others=edit(
        "above = rewards - base", "above = (rewards - base) * rewards.shape[1] / (rewards.shape[1] - 1)"
    )
    | "The mean of the other answers is taken off. Here the mean of the group should contain the answer itself.",
    median=edit(BASE, "np.median(rewards, axis=1, keepdims=True)") | "The median is taken off, not the mean.",
    from_0_to_1=edit((BASE, "rewards.min(axis=1, keepdims=True)"), (SPREAD, "np.ptp(rewards, axis=1, keepdims=True)"))
    | "The rewards are stretched to 0 and 1. Take the mean off, and divide by the standard deviation.",
)

exercise.advice(
    values=Advice(
        value="In each row the advantages sum to 0, and their standard deviation is nearly 1.",
        shape="One number for each answer. `keepdims=True` keeps the axis of a mean for the subtraction.",
    ),
    equal=Advice(
        nan="Where all rewards of a row are equal, its standard deviation is 0. What is added to it?",
        value="10⁻⁴ should be added to the standard deviation of each row.",
    ),
)
exercise.hints(
    values=(
        "A group is a row: the mean of each row is (N, 1) with `keepdims=True`.",
        "Print the mean of each row of your result. Then its standard deviation.",
    ),
    equal="(r − mean) is 0 in such a group. Which divisor makes 0 of it?",
)

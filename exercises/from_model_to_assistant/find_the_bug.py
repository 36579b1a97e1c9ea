"""Lab 10b, exercise `find_the_bug`; the check names no mistake, because finding it is the exercise."""

import numpy as np

from autograder.declare import Case, Exercise

exercise = Exercise("find_the_bug", returns=("better",))


@exercise.formula
def above_the_groups_mean(rewards: np.ndarray, num_prompts: int) -> np.ndarray:
    """Each reward less its prompt's mean, where answer k is one to prompt k mod N; rewards (N·G,) -> (N·G,)."""
    better = rewards.astype("float64")
    for prompt in range(num_prompts):
        better[prompt::num_prompts] -= better[prompt::num_prompts].mean()
    return better.astype(rewards.dtype)


def _case(rng, prompts: int, size: int) -> Case:
    rewards = (rng.normal(size=(size, prompts)) + 3 * rng.permutation(prompts)).astype("float32").reshape(-1)
    return Case(
        {"rewards": rewards, "num_prompts": prompts}, f"{prompts} prompts, {size} answers to each", scale=3.0 * prompts
    )


exercise.group(
    "each answer beside the others to its prompt",
    mended=lambda rng: [_case(rng, 3, 5), _case(rng, 5, 2), _case(rng, 4, 4), _case(rng, 7, 3)],
)

exercise.hints(
    mended=(
        "Take two prompts and three answers to each: in her order the rewards are 5 0 3 0 1 0. What should come out at "
        "each of the six places, and what does?",
        "Print the array `groups` for the rewards 0, 1, 2, 3, 4, 5. Which of these six answers belong to one prompt? "
        "In which order does the last line read them?",
    )
)

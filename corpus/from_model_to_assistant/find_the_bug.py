"""Lab 10b, exercise `find_the_bug`: solutions as different students write them, right and wrong."""


def grouped(groups: str, axis: str, returned: str = "np.reshape(better, -1)") -> str:
    return f"""
def find_the_bug(rewards, num_prompts):
    groups = {groups}
    better = groups - groups.mean(axis={axis}, keepdims=True)
    return {returned}
"""


BY_ROUNDS = "np.reshape(rewards, (-1, num_prompts))"

CORRECT = [
    grouped(BY_ROUNDS, "0"),
    grouped(f"{BY_ROUNDS}.T", "1", "np.reshape(better.T, -1)"),
    grouped('np.reshape(rewards, (num_prompts, -1), order="F")', "1", 'np.reshape(better, -1, order="F")'),
    """
def find_the_bug(rewards, num_prompts):
    asked = np.arange(len(rewards)) % num_prompts
    means = np.array([rewards[asked == prompt].mean() for prompt in range(num_prompts)])
    return rewards - means[asked]
""",
    """
def find_the_bug(rewards, num_prompts):
    size = len(rewards) // num_prompts
    means = sum(rewards[k * num_prompts : (k + 1) * num_prompts] for k in range(size)) / size
    return rewards - np.tile(means, size)
""",
    """
def find_the_bug(rewards, num_prompts):
    return [rewards[k] - rewards[k % num_prompts :: num_prompts].mean() for k in range(len(rewards))]
""",
]

WRONG = [
    ("", grouped("np.reshape(rewards, (num_prompts, -1))", "1")),
    ("", grouped("np.reshape(rewards, (num_prompts, -1))", "0")),
    ("", grouped(BY_ROUNDS, "1")),
    ("", grouped(f"{BY_ROUNDS}.T", "1")),
    ("", grouped(f"{BY_ROUNDS}.T", "0", "np.reshape(better.T, -1)")),
    ("", grouped("np.reshape(rewards, (num_prompts, -1)).T", "0")),
    ("", grouped("np.reshape(rewards, (num_prompts, -1)).T", "1", "np.reshape(better.T, -1)")),
    ("", grouped(BY_ROUNDS, "0", "better")),
    ("", grouped(BY_ROUNDS, "0", 'np.reshape(better, -1, order="F")')),
    ("", grouped(BY_ROUNDS, "0", "np.reshape(better / (groups.std(axis=0) + 1e-4), -1)")),
    ("", grouped("np.reshape(np.sort(rewards), (-1, num_prompts))", "0")),
    ("", grouped("np.reshape(rewards, (num_prompts, num_prompts))", "0")),
    (  # read in rounds, written back prompt by prompt
        "",
        """
def find_the_bug(rewards, num_prompts):
    groups = np.reshape(rewards, (num_prompts, -1), order="F")
    better = groups - groups.mean(axis=1, keepdims=True)
    return np.reshape(better, -1)
""",
    ),
]

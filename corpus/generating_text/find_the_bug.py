"""Lab 08b, exercise `find_the_bug`: solutions as different students write them, right and wrong."""

from corpus.generating_text import top_p

CORRECT = [source.replace("top_p", "find_the_bug") for source in top_p.CORRECT]  # the function without its bug

WRONG = [
    (
        "",
        """
def find_the_bug(probabilities, p):
    probabilities = np.array(probabilities)
    falling = np.argsort(-probabilities, kind="stable")
    sums = np.cumsum(probabilities[falling])
    needed = sums - probabilities[falling] < p
    needed[0] = True
    probabilities[~needed] = 0
    return probabilities / probabilities.sum()
""",
    ),
    (
        "",
        """
def find_the_bug(probabilities, p):
    probabilities = np.sort(np.array(probabilities))[::-1]
    needed = np.cumsum(probabilities) - probabilities < p
    needed[0] = True
    return np.where(needed, probabilities, 0) / probabilities[needed].sum()
""",
    ),
    (
        "",
        """
def find_the_bug(probabilities, p):
    q = np.asarray(probabilities)
    order = np.argsort(-q, kind="stable")
    sums = np.cumsum(q[order])
    kept = sums - q[order] < p
    kept[0] = True
    left = np.zeros_like(q)
    left[order[kept]] = q[order[kept]]
    return left
""",
    ),
    (  # brought back with the order itself, not with its inverse
        "",
        """
def find_the_bug(probabilities, p):
    probabilities = np.array(probabilities)
    falling = np.argsort(-probabilities, kind="stable")
    sums = np.cumsum(probabilities[falling])
    needed = sums - probabilities[falling] < p
    needed[0] = True
    probabilities[~needed[falling]] = 0
    return probabilities / probabilities.sum()
""",
    ),
]

"""Lab 08b, exercise `greedy_decode`: solutions as different students write them, right and wrong."""


def greedy(**changes):
    """Greedy search with some of its parts changed."""
    parts = {
        "limit": "max_length",
        "handed": "tokens",
        "best": "np.argmax(log_p)",
        "stop": "tokens[-1] == end_id",
        "end": "tokens",
    }
    parts |= changes
    return """
def greedy_decode(step_fn, start_id, end_id, max_length):
    tokens = [start_id]
    while len(tokens) < {limit}:
        log_p = step_fn({handed})
        tokens.append(int({best}))
        if {stop}:
            break
    return {end}
""".format(**parts)


CORRECT = [
    greedy(best="log_p.argmax()"),
    # a for loop, a copy for each question
    """
def greedy_decode(step_fn, start_id, end_id, max_length):
    tokens = [start_id]
    for _ in range(max_length - 1):
        best = max(range(len(step_fn(list(tokens)))), key=list(step_fn(list(tokens))).__getitem__)
        tokens = tokens + [best]
        if best == end_id:
            return tokens
    return tokens
""",
    # recursion
    """
def greedy_decode(step_fn, start_id, end_id, max_length, so_far=None):
    so_far = so_far or [start_id]
    if len(so_far) >= max_length or (len(so_far) > 1 and so_far[-1] == end_id):
        return so_far
    return greedy_decode(step_fn, start_id, end_id, max_length, so_far + [np.argmax(step_fn(so_far))])
""",
    # an array, TensorFlow
    """
def greedy_decode(step_fn, start_id, end_id, max_length):
    tokens = np.array([start_id])
    token = None
    while token != end_id and tokens.size < max_length:
        token = int(tf.argmax(step_fn(tokens.tolist())))
        tokens = np.append(tokens, token)
    return tokens
""",
    # a tuple; a generator
    """
def greedy_decode(step_fn, start_id, end_id, max_length):
    def write():
        tokens = [start_id]
        yield start_id
        for _ in range(1, max_length):
            probabilities = np.exp(step_fn(tokens))
            tokens.append(int(np.where(probabilities == probabilities.max())[0][0]))
            yield tokens[-1]
            if tokens[-1] == end_id:
                return
    return tuple(write())
""",
    "def greedy_decode(step_fn, start_id, end_id, max_length):\n    return beam_search(step_fn, start_id, end_id, 1, max_length)[0]",
]

WRONG = [
    ("only_last_token", greedy(handed="tokens[-1:]")),
    ("start_not_handed", greedy(handed="tokens[1:]")),
    ("least_probable", greedy(best="np.argmin(log_p)")),
    ("last_of_ties", greedy(best="np.argsort(log_p, kind='stable')[-1]")),
    ("generated_counted", greedy(limit="max_length + 1")),
    ("end_ignored", greedy(stop="False")),
    ("start_not_returned", greedy(end="tokens[1:]")),
    ("end_not_returned", greedy(end="tokens[:-1] if tokens[-1] == end_id else tokens")),
    ("bare", greedy(end="[t for t in tokens[1:] if t != end_id]")),
    ("asked_at_once", greedy().replace("    while", "    log_p = step_fn([start_id])\n    while")),
    ("end_appended", greedy(end="tokens if tokens[-1] == end_id else [*tokens, end_id]")),
    # rounded before the largest is taken
    ("", greedy(best="np.argmax(np.round(log_p, 3))")),
    (None, greedy(limit="max_length - 1")),
    (None, greedy(best="np.argsort(log_p)[-2]")),
    (None, greedy(best="np.random.default_rng(1).choice(len(log_p), p=np.exp(log_p) / np.exp(log_p).sum())")),
    (None, greedy(end="' '.join(map(str, tokens))")),
    (None, greedy(end="[tokens]")),
    (  # the start id is ruled out
        "start_never_again",
        """
def greedy_decode(step_fn, start_id, end_id, max_length):
    tokens = [start_id]
    while len(tokens) < max_length and tokens[-1] != end_id:
        log_p = np.array(step_fn(tokens), dtype=float)
        log_p[start_id] = -np.inf
        tokens.append(int(np.argmax(log_p)))
    return tokens
""",
    ),
]

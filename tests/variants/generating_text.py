"""Lab 08b: solutions as different students write them."""

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


def beam(**changes):
    """Beam search with some of its parts changed."""
    parts = {
        "width": "beam_width",
        "score": "total / ((5 + len(tokens) - 1) / 6) ** length_penalty",
        "rounds": "max_length - 1",
        "done": "len(tokens) > 1 and tokens[-1] == end_id",
        "handed": "tokens",
        "grow": "total + float(p)",
        "keep": "new",
        "after": "if all(map(is_done, beam)): break",
        "pool": "beam",
        "tokens": "best[0]",
        "value": "score(best)",
    }
    parts |= changes
    return """
def beam_search(step_fn, start_id, end_id, beam_width, max_length, length_penalty=0.0):
    def score(hypothesis):
        tokens, total = hypothesis
        return {score}

    def is_done(hypothesis):
        tokens = hypothesis[0]
        return {done}

    beam = [([start_id], 0.0)]
    for _ in range({rounds}):
        new = []
        for tokens, total in beam:
            if is_done((tokens, total)):
                new.append((tokens, total))
                continue
            children = [(tokens + [token], {grow}) for token, p in enumerate(step_fn({handed}))]
            new += {keep_children}
        beam = sorted(new, key=score, reverse=True)[: {width}]
        {after}
    pool = {pool}
    best = max(pool, key=score)
    return {tokens}, {value}
""".format(**{"keep_children": "children", **parts})


CORRECT = {
    "greedy_decode": [
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
    ],
    "beam_search": [
        beam(),
        # NumPy, all candidates as one matrix; a flag for the finished
        """
def beam_search(step_fn, start_id, end_id, beam_width, max_length, length_penalty=0.0):
    beams, sums, ended = [[start_id]], np.zeros(1), np.zeros(1, bool)
    while len(max(beams, key=len)) < max_length and not ended.all():
        rows = []
        for tokens, total, over in zip(beams, sums, ended):
            rows += [(tokens, total, True)] if over else [
                (tokens + [v], total + lp, v == end_id) for v, lp in enumerate(step_fn(tokens))
            ]
        lengths = np.array([len(row[0]) - 1 for row in rows])
        totals = np.array([row[1] for row in rows])
        order = np.argsort(-totals / ((5 + lengths) / 6) ** length_penalty, kind="stable")[:beam_width]
        beams, sums = [rows[i][0] for i in order], totals[order]
        ended = np.array([rows[i][2] for i in order])
    scores = sums / ((4 + np.array([len(b) for b in beams])) / 6) ** length_penalty
    best = int(np.argmax(scores))
    return beams[best], scores[best]
""",
        # heapq and a dictionary for a hypothesis
        """
import heapq
def beam_search(step_fn, start_id, end_id, beam_width, max_length, length_penalty=0.0):
    def score(h):
        return h["sum"] / ((5 + h["n"]) / 6) ** length_penalty

    beam = [{"tokens": [start_id], "sum": 0.0, "n": 0, "end": False}]
    while any(not h["end"] and len(h["tokens"]) < max_length for h in beam):
        candidates = [h for h in beam if h["end"]]
        for h in beam:
            if h["end"]:
                continue
            for token, value in enumerate(step_fn(h["tokens"].copy())):
                candidates.append(
                    {"tokens": h["tokens"] + [token], "sum": h["sum"] + value, "n": h["n"] + 1, "end": token == end_id}
                )
        beam = heapq.nlargest(beam_width, candidates, key=score)
    winner = beam[0]
    return winner["tokens"], score(winner)
""",
        # a class, tuples, a stop when nothing can be overtaken
        """
class Hypothesis:
    def __init__(self, tokens, total, end_id):
        self.tokens, self.total = tokens, total
        self.finished = len(tokens) > 1 and tokens[-1] == end_id

    def score(self, alpha):
        return self.total / ((5 + len(self.tokens) - 1) / 6) ** alpha

def beam_search(step_fn, start_id, end_id, beam_width, max_length, length_penalty=0.0):
    beam = [Hypothesis((start_id,), 0.0, end_id)]
    for _ in range(max_length - 1):
        if all(each.finished for each in beam):
            break
        grown = []
        for each in beam:
            if each.finished:
                grown.append(each)
                continue
            log_p = np.asarray(step_fn(list(each.tokens)))
            likely = np.argsort(log_p)[::-1][:beam_width]
            grown.extend(Hypothesis((*each.tokens, int(t)), each.total + float(log_p[t]), end_id) for t in likely)
        beam = sorted(grown, key=lambda each: each.score(length_penalty))[-beam_width:]
    best = max(beam, key=lambda each: each.score(length_penalty))
    return list(best.tokens), best.score(length_penalty)
""",
        # ranked by the sums, the penalty for the final choice; finished ones leave the beam, which is filled up
        """
def beam_search(step_fn, start_id, end_id, beam_width, max_length, length_penalty=0.0):
    open_ones, over = [([start_id], 0.0)], []
    for _ in range(max_length - 1):
        grown = [(t + [v], s + lp) for t, s in open_ones for v, lp in enumerate(step_fn(t))]
        grown = sorted(grown, key=lambda pair: pair[1], reverse=True)[:beam_width]
        over += [pair for pair in grown if pair[0][-1] == end_id]
        open_ones = [pair for pair in grown if pair[0][-1] != end_id]
        if not open_ones:
            break
    ranked = [(s / ((5 + len(t) - 1) / 6) ** length_penalty, t) for t, s in over + open_ones]
    score, tokens = max(ranked, key=lambda pair: pair[0])
    return tokens, score
""",
        # tensors for the sums
        """
def beam_search(step_fn, start_id, end_id, beam_width, max_length, length_penalty=0.0):
    score = lambda pair: pair[1] / ((5.0 + len(pair[0]) - 1) / 6.0) ** length_penalty
    beam = [([start_id], tf.constant(0.0, tf.float64))]
    for _ in range(max_length - 1):
        pool = []
        for tokens, total in beam:
            if tokens[-1] == end_id and len(tokens) > 1:
                pool.append((tokens, total))
                continue
            log_p = tf.constant(step_fn(tokens), tf.float64)
            values, ids = tf.math.top_k(log_p, k=min(beam_width, len(log_p)))
            pool += [(tokens + [int(i)], total + v) for v, i in zip(values, ids)]
        beam = sorted(pool, key=lambda pair: float(score(pair)), reverse=True)[:beam_width]
    return beam[0][0], score(beam[0])
""",
    ],
    "top_p": [
        """
def top_p(probabilities, p):
    probabilities = np.array(probabilities)
    order = np.argsort(-probabilities, kind="stable")
    left = np.zeros_like(probabilities)
    total = 0.0
    for token in order:
        left[token] = probabilities[token]
        total += probabilities[token]
        if total >= p:
            break
    return left / left.sum()
""",
        """
def top_p(probabilities, p):
    values = [float(each) for each in probabilities]
    ranked = sorted(range(len(values)), key=lambda token: (-values[token], token))
    count = 1
    while count < len(values) and sum(values[token] for token in ranked[:count]) < p:
        count += 1
    whole = sum(values[token] for token in ranked[:count])
    return [values[token] / whole if token in ranked[:count] else 0.0 for token in range(len(values))]
""",
        """
def top_p(probabilities, p):
    probabilities = tf.convert_to_tensor(probabilities)
    order = tf.argsort(probabilities, direction="DESCENDING", stable=True)
    ranked = tf.gather(probabilities, order)
    kept = tf.cast(tf.cumsum(ranked, exclusive=True) < tf.cast(p, ranked.dtype), ranked.dtype)
    kept = tf.maximum(kept, tf.one_hot(0, len(ranked), dtype=ranked.dtype))
    left = tf.scatter_nd(order[:, None], ranked * kept, tf.shape(ranked, out_type=order.dtype))
    return left / tf.reduce_sum(left)
""",
        """
def top_p(probabilities, p):
    q = np.asarray(probabilities)
    order = np.argsort(-q, kind="stable")
    reached = np.cumsum(q[order]) >= p
    count = np.argmax(reached) + 1 if reached.any() else len(q)
    kept = np.isin(np.arange(len(q)), order[:count])
    return np.where(kept, q, 0) / q[kept].sum()
""",
        """
def top_p(probabilities, p):
    q = np.asarray(probabilities, "float64")
    order = np.lexsort((np.arange(len(q)), -q))
    before = np.cumsum(q[order]) - q[order]
    before[0] = -1
    left = q * (before < p)[np.argsort(order)]
    return left / left.sum()
""",
    ],
    "cached_attention": [
        """
def cached_attention(query, key, value, cache=None):
    keys, values = (key, value) if cache is None else (np.concatenate([cache[0], key], axis=2), np.concatenate([cache[1], value], axis=2))
    scores = np.matmul(query, np.swapaxes(keys, -1, -2)) / np.sqrt(np.shape(query)[-1])
    weights = np.array(tf.nn.softmax(scores))
    return np.matmul(weights, values), (keys, values)
""",
        """
def cached_attention(query, key, value, cache=None):
    keys, values = (key, value) if cache is None else (np.concatenate([cache[0], key], axis=2), np.concatenate([cache[1], value], axis=2))
    scores = np.matmul(query, np.swapaxes(keys, -1, -2)) / np.sqrt(np.shape(query)[-1])
    weights = np.array(tf.nn.softmax(scores))
    return np.matmul(weights, values), [keys, values]
""",
        """
def cached_attention(query, key, value, cache=None):
    if cache is None:
        cache = (key[:, :, :0], value[:, :, :0])
    keys, values = (tf.concat(pair, axis=2) for pair in zip(cache, (key, value)))
    weights = tf.nn.softmax(tf.matmul(query, keys, transpose_b=True) / tf.shape(query)[-1].numpy() ** 0.5)
    return weights @ values, (keys, values)
""",
        """
def cached_attention(query, key, value, cache=None):
    keys = [] if cache is None else [cache[0]]
    values = [] if cache is None else [cache[1]]
    keys, values = ops.concatenate([*keys, key], axis=2), ops.concatenate([*values, value], axis=2)
    scores = ops.einsum("bhtk,bhsk->bhts", query, keys) / ops.sqrt(ops.cast(ops.shape(query)[-1], "float32"))
    return ops.einsum("bhts,bhsk->bhtk", ops.softmax(scores), values), (keys, values)
""",
        """
def cached_attention(query, key, value, cache=None):
    query, key, value = (np.asarray(each) for each in (query, key, value))
    pair = (key, value) if cache is None else tuple(np.append(old, new, axis=2) for old, new in zip(cache, (key, value)))
    scores = (query * pair[0]).sum(-1) / query.shape[-1] ** 0.5
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights = weights / weights.sum(-1, keepdims=True)
    return (weights[..., None] * pair[1]).sum(2, keepdims=True), pair
""",
    ],
    "find_the_bug": [
        """
def find_the_bug(probabilities, p):
    probabilities = np.array(probabilities)
    order = np.argsort(-probabilities, kind="stable")
    left = np.zeros_like(probabilities)
    total = 0.0
    for token in order:
        left[token] = probabilities[token]
        total += probabilities[token]
        if total >= p:
            break
    return left / left.sum()
""",
        """
def find_the_bug(probabilities, p):
    values = [float(each) for each in probabilities]
    ranked = sorted(range(len(values)), key=lambda token: (-values[token], token))
    count = 1
    while count < len(values) and sum(values[token] for token in ranked[:count]) < p:
        count += 1
    whole = sum(values[token] for token in ranked[:count])
    return [values[token] / whole if token in ranked[:count] else 0.0 for token in range(len(values))]
""",
        """
def find_the_bug(probabilities, p):
    probabilities = tf.convert_to_tensor(probabilities)
    order = tf.argsort(probabilities, direction="DESCENDING", stable=True)
    ranked = tf.gather(probabilities, order)
    kept = tf.cast(tf.cumsum(ranked, exclusive=True) < tf.cast(p, ranked.dtype), ranked.dtype)
    kept = tf.maximum(kept, tf.one_hot(0, len(ranked), dtype=ranked.dtype))
    left = tf.scatter_nd(order[:, None], ranked * kept, tf.shape(ranked, out_type=order.dtype))
    return left / tf.reduce_sum(left)
""",
        """
def find_the_bug(probabilities, p):
    q = np.asarray(probabilities)
    order = np.argsort(-q, kind="stable")
    reached = np.cumsum(q[order]) >= p
    count = np.argmax(reached) + 1 if reached.any() else len(q)
    kept = np.isin(np.arange(len(q)), order[:count])
    return np.where(kept, q, 0) / q[kept].sum()
""",
        """
def find_the_bug(probabilities, p):
    q = np.asarray(probabilities, "float64")
    order = np.lexsort((np.arange(len(q)), -q))
    before = np.cumsum(q[order]) - q[order]
    before[0] = -1
    left = q * (before < p)[np.argsort(order)]
    return left / left.sum()
""",
    ],
    "predict": [
        "predict = 0.54",
        "predict = 0.95**12",
        "predict = np.float64(0.5)",
        "predict = [0.6]",
        "predict = tf.constant(0.55)",
    ],
}

WRONG = {
    "greedy_decode": [
        ("only_last_token", greedy(handed="tokens[-1:]")),
        ("start_not_handed", greedy(handed="tokens[1:]")),
        ("least_probable", greedy(best="np.argmin(log_p)")),
        ("last_of_ties", greedy(best="np.argsort(log_p, kind='stable')[-1]")),
        ("generated_counted", greedy(limit="max_length + 1")),
        ("end_ignored", greedy(stop="False")),
        ("start_not_returned", greedy(end="tokens[1:]")),
        ("end_not_returned", greedy(end="tokens[:-1] if tokens[-1] == end_id else tokens")),
        ("bare", greedy(end="[t for t in tokens[1:] if t != end_id]")),
        (None, greedy(limit="max_length - 1")),
        (None, greedy(best="np.argsort(log_p)[-2]")),
        (None, greedy(best="np.random.default_rng(1).choice(len(log_p), p=np.exp(log_p) / np.exp(log_p).sum())")),
        (None, greedy(end="' '.join(map(str, tokens))")),
        (None, greedy(end="[tokens]")),
    ],
    "beam_search": [
        ("beam_of_one", beam(width="1")),
        ("only_last_token", beam(handed="tokens[-1:]")),
        ("start_not_handed", beam(handed="tokens[1:]")),
        ("no_length_penalty", beam(score="total")),
        ("divided_by_power_of_length", beam(score="total / max(len(tokens) - 1, 1) ** length_penalty")),
        ("divided_by_length", beam(score="total / max(len(tokens) - 1, 1)")),
        ("start_counted", beam(score="total / ((5 + len(tokens)) / 6) ** length_penalty")),
        ("penalty_multiplied", beam(score="total * ((4 + len(tokens)) / 6) ** length_penalty")),
        ("finished_expanded", beam(done="False")),
        (
            "stops_at_first_finished",
            beam(after="if any(map(is_done, beam)): break", pool="[h for h in beam if is_done(h)] or beam"),
        ),
        ("stops_when_best_is_finished", beam(after="if is_done(beam[0]): break")),
        ("unfinished_ignored", beam(pool="[h for h in beam if is_done(h)] or beam")),
        ("finished_ignored", beam(pool="[h for h in beam if not is_done(h)] or beam")),
        ("log_probabilities_multiplied", beam(grow="total * float(p) if len(tokens) > 1 else float(p)")),
        ("last_step_only", beam(grow="float(p)")),
        ("one_child_each", beam(keep_children="sorted(children, key=score)[-1:] if len(tokens) > 1 else children")),
        ("pruned_by_sums", beam().replace("sorted(new, key=score,", "sorted(new, key=lambda each: each[1],")),
        # finished ones set aside, the beam shrinks
        (
            "pruned_by_sums",
        """
def beam_search(step_fn, start_id, end_id, beam_width, max_length, length_penalty=0.0):
    def norm(tokens, total):
        return total / np.power((5.0 + len(tokens) - 1) / 6.0, length_penalty)

    live, done = [(0.0, [start_id])], []
    while live and len(live[0][1]) < max_length and len(done) < beam_width:
        pool = []
        for total, tokens in live:
            log_p = step_fn(tokens)
            pool += [(total + log_p[i], tokens + [i]) for i in range(len(log_p))]
        pool.sort(key=lambda pair: -pair[0])
        pool = pool[: beam_width - len(done)]
        done += [pair for pair in pool if pair[1][-1] == end_id]
        live = [pair for pair in pool if pair[1][-1] != end_id]
    total, tokens = max(done + live, key=lambda pair: norm(pair[1], pair[0]))
    return tokens, norm(tokens, total)
""",
        ),
        ("generated_counted", beam(rounds="max_length")),
        ("score_without_penalty", beam(value="best[1]")),
        ("score_is_probability", beam(value="np.exp(best[1])")),
        ("score_negated", beam(value="-score(best)")),
        ("start_not_returned", beam(tokens="best[0][1:]")),
        ("end_not_returned", beam(tokens="[t for t in best[0] if t != end_id]")),
        ("bare", beam(tokens="[t for t in best[0][1:] if t != end_id]")),
        # probabilities added, the worst taken, only the tokens, top_k that is too wide
        (None, beam(grow="total + float(np.exp(p))")),
        (None, beam().replace("best = max(", "best = min(")),
        (None, beam().replace("return best[0], score(best)", "return best[0]")),
        (
            None,
            beam().replace(
                "enumerate(step_fn(tokens))",
                "zip(*[each.numpy()[:beam_width] for each in tf.math.top_k(step_fn(tokens), beam_width)][::-1])",
            ),
        ),
        (
            None,
            "def beam_search(step_fn, start_id, end_id, beam_width, max_length, length_penalty=0.0):\n    tokens = greedy_decode(step_fn, start_id, end_id, max_length)\n    return tokens, sum(step_fn(tokens[:i])[tokens[i]] for i in range(1, len(tokens))) / ((4 + len(tokens)) / 6) ** length_penalty",
        ),
    ],
    "top_p": [
        ("not_renormalised", """
def top_p(probabilities, p):
    q = np.asarray(probabilities)
    order = np.argsort(-q, kind="stable")
    sums = np.cumsum(q[order])
    kept = sums - q[order] < p
    kept[0] = True
    left = np.zeros_like(q)
    left[order[kept]] = q[order[kept]]
    return left
"""),
        ("in_the_order_of_ids", """
def top_p(probabilities, p):
    q = np.asarray(probabilities)
    order = np.arange(len(q))
    sums = np.cumsum(q[order])
    kept = sums - q[order] < p
    kept[0] = True
    left = np.zeros_like(q)
    left[order[kept]] = q[order[kept]]
    return left / left.sum()
"""),
        ("one_left_out", """
def top_p(probabilities, p):
    q = np.asarray(probabilities)
    order = np.argsort(-q, kind="stable")
    sums = np.cumsum(q[order])
    kept = sums < p
    kept[0] = True
    left = np.zeros_like(q)
    left[order[kept]] = q[order[kept]]
    return left / left.sum()
"""),
        ("one_too_many", """
def top_p(probabilities, p):
    q = np.asarray(probabilities)
    order = np.argsort(-q, kind="stable")
    sums = np.cumsum(q[order])
    kept = sums - q[order] <= p
    kept[0] = True
    left = np.zeros_like(q)
    left[order[kept]] = q[order[kept]]
    return left / left.sum()
"""),
        ("threshold", """
def top_p(probabilities, p):
    q = np.asarray(probabilities)
    order = np.argsort(-q, kind="stable")
    sums = np.cumsum(q[order])
    kept = q[order] >= p
    kept[0] = True
    left = np.zeros_like(q)
    left[order[kept]] = q[order[kept]]
    return left / left.sum()
"""),
        ("sorted_result", """
def top_p(probabilities, p):
    q = np.asarray(probabilities)
    order = np.argsort(-q, kind="stable")
    sums = np.cumsum(q[order])
    kept = sums - q[order] < p
    kept[0] = True
    left = np.zeros_like(q)
    left[order[kept]] = q[order[kept]]
    return (left / left.sum())[order]
"""),
        ("ties_from_behind", """
def top_p(probabilities, p):
    q = np.asarray(probabilities)
    order = np.argsort(q, kind="stable")[::-1]
    sums = np.cumsum(q[order])
    kept = sums - q[order] < p
    kept[0] = True
    left = np.zeros_like(q)
    left[order[kept]] = q[order[kept]]
    return left / left.sum()
"""),
        ("softmax_again", """
def top_p(probabilities, p):
    q = np.asarray(probabilities)
    order = np.argsort(-q, kind="stable")
    sums = np.cumsum(q[order])
    kept = sums - q[order] < p
    kept[0] = True
    left = np.zeros_like(q)
    left[order[kept]] = q[order[kept]]
    return np.where(left > 0, np.exp(left), 0) / np.exp(left[left > 0]).sum()
"""),
        ("", """
def top_p(probabilities, p):
    q = np.asarray(probabilities)
    order = np.argsort(-q, kind="stable")
    sums = np.cumsum(q[order])
    kept = sums - q[order] < p
    left = np.zeros_like(q)
    left[order[kept]] = q[order[kept]]
    return left / left.sum() if left.any() else left
"""),
        ("least_probable", """
def top_p(probabilities, p):
    q = np.asarray(probabilities)
    order = np.argsort(q, kind="stable")
    sums = np.cumsum(q[order])
    kept = sums - q[order] < p
    kept[0] = True
    left = np.zeros_like(q)
    left[order[kept]] = q[order[kept]]
    return left / left.sum()
"""),
    ],
    "cached_attention": [
        ("unscaled", """
def cached_attention(query, key, value, cache=None):
    keys, values = (key, value) if cache is None else (np.concatenate([cache[0], key], axis=2), np.concatenate([cache[1], value], axis=2))
    scores = np.matmul(query, np.swapaxes(keys, -1, -2)) 
    weights = np.array(tf.nn.softmax(scores))
    return np.matmul(weights, values), (keys, values)
"""),
        ("divided_by_width", """
def cached_attention(query, key, value, cache=None):
    keys, values = (key, value) if cache is None else (np.concatenate([cache[0], key], axis=2), np.concatenate([cache[1], value], axis=2))
    scores = np.matmul(query, np.swapaxes(keys, -1, -2)) / np.shape(query)[-1]
    weights = np.array(tf.nn.softmax(scores))
    return np.matmul(weights, values), (keys, values)
"""),
        ("newest_first", """
def cached_attention(query, key, value, cache=None):
    keys, values = (key, value) if cache is None else (np.concatenate([key, cache[0]], axis=2), np.concatenate([value, cache[1]], axis=2))
    scores = np.matmul(query, np.swapaxes(keys, -1, -2)) / np.sqrt(np.shape(query)[-1])
    weights = np.array(tf.nn.softmax(scores))
    return np.matmul(weights, values), (keys, values)
"""),
        ("cache_ignored", """
def cached_attention(query, key, value, cache=None):
    keys, values = (key, value) if cache is None else (np.concatenate([cache[0], key], axis=2), np.concatenate([cache[1], value], axis=2))
    scores = np.matmul(query, np.swapaxes(key, -1, -2)) / np.sqrt(np.shape(query)[-1])
    weights = np.array(tf.nn.softmax(scores))
    return np.matmul(weights, value), (keys, values)
"""),
        ("pair_swapped", """
def cached_attention(query, key, value, cache=None):
    keys, values = (key, value) if cache is None else (np.concatenate([cache[1], key], axis=2), np.concatenate([cache[0], value], axis=2))
    scores = np.matmul(query, np.swapaxes(keys, -1, -2)) / np.sqrt(np.shape(query)[-1])
    weights = np.array(tf.nn.softmax(scores))
    return np.matmul(weights, values), (values, keys)
"""),
        ("cache_not_extended", """
def cached_attention(query, key, value, cache=None):
    keys, values = (key, value) if cache is None else (np.concatenate([cache[0], key], axis=2), np.concatenate([cache[1], value], axis=2))
    scores = np.matmul(query, np.swapaxes(keys, -1, -2)) / np.sqrt(np.shape(query)[-1])
    weights = np.array(tf.nn.softmax(scores))
    return np.matmul(weights, values), (cache or (keys, values))
"""),
        ("only_the_newest", """
def cached_attention(query, key, value, cache=None):
    keys, values = (key, value) if cache is None else (np.concatenate([cache[0], key], axis=2), np.concatenate([cache[1], value], axis=2))
    scores = np.matmul(query, np.swapaxes(keys, -1, -2)) / np.sqrt(np.shape(query)[-1])
    weights = np.array(tf.nn.softmax(scores))
    return np.matmul(weights, values), (key, value)
"""),
        ("softmax_over_queries", """
def cached_attention(query, key, value, cache=None):
    keys, values = (key, value) if cache is None else (np.concatenate([cache[0], key], axis=2), np.concatenate([cache[1], value], axis=2))
    scores = np.matmul(query, np.swapaxes(keys, -1, -2)) / np.sqrt(np.shape(query)[-1])
    weights = np.array(tf.nn.softmax(scores, axis=-2))
    return np.matmul(weights, values), (keys, values)
"""),
        ("cache_changed", """
def cached_attention(query, key, value, cache=None):
    if cache is None:
        cache = [key, value]
    else:
        cache[0] = np.concatenate([cache[0], key], axis=2)
        cache[1] = np.concatenate([cache[1], value], axis=2)
    scores = np.matmul(query, np.swapaxes(cache[0], -1, -2)) / np.sqrt(np.shape(query)[-1])
    return np.matmul(np.array(tf.nn.softmax(scores)), cache[1]), cache
"""),
        ("", """
def cached_attention(query, key, value, cache=None):
    return value, (key, value)
"""),
        ("", """
def cached_attention(query, key, value, cache=None):
    return value
"""),
    ],
    "find_the_bug": [
        ("", """
def find_the_bug(probabilities, p):
    probabilities = np.array(probabilities)
    falling = np.argsort(-probabilities, kind="stable")
    sums = np.cumsum(probabilities[falling])
    needed = sums - probabilities[falling] < p
    needed[0] = True
    probabilities[~needed] = 0
    return probabilities / probabilities.sum()
"""),
        ("", """
def find_the_bug(probabilities, p):
    probabilities = np.sort(np.array(probabilities))[::-1]
    needed = np.cumsum(probabilities) - probabilities < p
    needed[0] = True
    return np.where(needed, probabilities, 0) / probabilities[needed].sum()
"""),
        ("", """
def find_the_bug(probabilities, p):
    q = np.asarray(probabilities)
    order = np.argsort(-q, kind="stable")
    sums = np.cumsum(q[order])
    kept = sums - q[order] < p
    kept[0] = True
    left = np.zeros_like(q)
    left[order[kept]] = q[order[kept]]
    return left
"""),
    ],
    "predict": [
        ("as_for_one_token", "predict = 0.95"),
        ("errors_added", "predict = 1 - 12 * 0.05"),
        ("", "predict = 54"),
        ("", "predict = 1"),
    ],
}

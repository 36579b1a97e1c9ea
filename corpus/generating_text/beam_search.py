"""Lab 08b, exercise `beam_search`: solutions as different students write them, right and wrong."""


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


CORRECT = [
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
]

WRONG = [
    ("beam_of_one", beam(width="1")),
    ("width_capped", beam(width="min(beam_width, len(step_fn([start_id])))")),
    ("only_last_token", beam(handed="tokens[-1:]")),
    ("start_not_handed", beam(handed="tokens[1:]")),
    ("no_length_penalty", beam(score="total")),
    ("divided_by_power_of_length", beam(score="total / max(len(tokens) - 1, 1) ** length_penalty")),
    ("divided_by_length", beam(score="total / max(len(tokens) - 1, 1)")),
    ("start_counted", beam(score="total / ((5 + len(tokens)) / 6) ** length_penalty")),
    (
        "",
        beam(score="total / ((4 + len(tokens) - (len(tokens) > 1 and tokens[-1] == end_id)) / 6) ** length_penalty"),
    ),
    ("five_and_a_sixth", beam(score="total / (5 + (len(tokens) - 1) / 6) ** length_penalty")),
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
    ("stops_with_the_first", beam(after="if any(map(is_done, beam)): break")),
    # every hypothesis that ends is kept beside the beam of open ones
    (
        "",
        """
def beam_search(step_fn, start_id, end_id, beam_width, max_length, length_penalty=0.0):
    def score(h): return h[1] / ((5 + len(h[0]) - 1) / 6) ** length_penalty
    done, beam = [], [([start_id], 0.0)]
    while beam and len(beam[0][0]) < max_length:
        candidates = [(t + [i], s + float(l)) for t, s in beam for i, l in enumerate(step_fn(list(t)))]
        done += [c for c in candidates if c[0][-1] == end_id]
        beam = sorted([c for c in candidates if c[0][-1] != end_id], key=score, reverse=True)[:beam_width]
    best = max(beam + done, key=score)
    return best[0], score(best)
""",
    ),
    # finished ones leave the beam, which is filled up at once
    (
        "finished_kept_apart",
        """
def beam_search(step_fn, start_id, end_id, beam_width, max_length, length_penalty=0.0):
    def score(pair):
        return pair[1] / ((5 + len(pair[0]) - 1) / 6) ** length_penalty

    beam, finished = [([start_id], 0.0)], []
    for _ in range(max_length - 1):
        grown = [(t + [v], s + lp) for t, s in beam for v, lp in enumerate(step_fn(t))]
        grown.sort(key=score, reverse=True)
        finished += [pair for pair in grown[:beam_width] if pair[0][-1] == end_id]
        beam = [pair for pair in grown if pair[0][-1] != end_id][:beam_width]
        if len(finished) >= beam_width or not beam:
            break
    best = max(finished + beam, key=score)
    return best[0], score(best)
""",
    ),
    # ranked by the sums, the penalty for the final choice; finished ones leave the beam
    (
        "finished_kept_apart",
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
    (  # the score is lengthened, which is divided already
        "divided_again",
        """
def beam_search(step_fn, start_id, end_id, beam_width, max_length, length_penalty=0.0):
    def penalty(n):
        return ((5 + n) / 6) ** length_penalty

    beam = [([start_id], 0.0)]
    while any(tokens[-1] != end_id and len(tokens) < max_length for tokens, _ in beam):
        candidates = []
        for tokens, score in beam:
            n = len(tokens) - 1
            if n and tokens[-1] == end_id:
                candidates.append((tokens, score))
                continue
            for token, log_p in enumerate(step_fn(tokens)):
                candidates.append(([*tokens, token], float(score + log_p) / penalty(n + 1)))
        candidates.sort(key=lambda pair: pair[1], reverse=True)
        beam = candidates[:beam_width]
    return beam[0]
""",
    ),
]

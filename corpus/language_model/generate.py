"""Lab 10, exercise `generate`: solutions as different students write them, right and wrong."""

from corpus.language_model.shared import edited

PLAIN = """
def generate(model, prompt, max_new, temperature, p, rng, end_id):
    logits, caches = model(np.array([prompt]))
    new = []
    while True:
        last = np.asarray(logits)[0, -1].astype("float64")
        if temperature == 0:
            token = int(np.argmax(last))
        else:
            last = last / temperature
            share = np.exp(last - last.max())
            share = share / share.sum()
            token = int(rng.choice(len(share), p=nucleus(share, p)))
        new.append(token)
        if token == end_id or len(new) == max_new:
            return new
        logits, caches = model(np.array([[token]]), caches=caches)
"""
DRAW = "token = int(rng.choice(len(share), p=nucleus(share, p)))"
NEXT = "logits, caches = model(np.array([[token]]), caches=caches)"

CORRECT = [
    PLAIN,
    # tensors, the caches by position, for loop
    """
def generate(model, prompt, max_new, temperature, p, rng, end_id):
    new, ids, caches = [], tf.constant([prompt]), None
    for _ in range(max_new):
        logits, caches = model(ids, caches)
        if temperature > 0:
            share = tf.nn.softmax(logits[0, -1] / temperature).numpy().astype("float64")
            token = rng.choice(np.arange(len(share)), p=nucleus(share / share.sum(), p))
        else:
            token = tf.argmax(logits[0, -1]).numpy()
        new.append(int(token))
        if token == end_id:
            break
        ids = tf.constant([[token]])
    return new
""",
    # drawn with one uniform number
    edited(PLAIN, (DRAW, "sums = np.cumsum(nucleus(share, p))\n            token = min(int(np.searchsorted(sums, rng.random())), int(np.argmax(sums >= sums[-1] - 1e-12)))")),
    # Gumbel's way
    edited(PLAIN, (DRAW, "cut = nucleus(share, p)\n            kept = np.flatnonzero(cut)\n            token = int(kept[np.argmax(np.log(cut[kept]) + rng.gumbel(size=len(kept)))])")),
    # a call too many at the end does no harm, numpy ids come back
    edited(PLAIN, ("        if token == end_id or len(new) == max_new:\n            return new\n        " + NEXT, "        " + NEXT + "\n        if token == end_id or len(new) >= max_new:\n            return np.array(new)")),
    edited(PLAIN, ("return new", "return tuple(new)"), ("np.argmax(last)", "last.argmax()")),
    # p = 1 needs no cut; a multinomial draw
    edited(PLAIN, (DRAW, "cut = share if p >= 1 else nucleus(share, p)\n            token = int(rng.multinomial(1, cut / cut.sum()).argmax())")),
    # Keras's softmax, nested lists for ids
    edited(PLAIN, ("np.array([prompt])", "[prompt]"), ("np.array([[token]])", "[[token]]"),
        ("            last = last / temperature\n            share = np.exp(last - last.max())\n            share = share / share.sum()\n", "            share = np.asarray(ops.softmax(ops.convert_to_tensor(last / temperature)))\n")),
    # an own nucleus
    edited(PLAIN, (DRAW, "order = np.argsort(share)[::-1]\n            size = int(np.sum(np.cumsum(share[order]) < p - 1e-9)) + 1\n            kept = order[:size]\n            token = int(rng.choice(kept, p=share[kept] / share[kept].sum()))")),
]  # fmt: skip

STEP = (
    "            last = last / temperature\n            share = np.exp(last - last.max())\n            share = share / share.sum()\n            "
    + DRAW
)
WRONG = [
    ("cut_before_temperature", edited(PLAIN, (STEP, "            share = np.exp(last - last.max())\n            cut = nucleus(share / share.sum(), p) ** (1 / temperature)\n            token = int(rng.choice(len(cut), p=cut / cut.sum()))"))),
    ("whole_prefix", edited(PLAIN, (NEXT, "logits, caches = model(np.array([[*prompt, *new]]))"))),
    ("whole_prefix_and_caches", edited(PLAIN, (NEXT, "logits, caches = model(np.array([[*prompt, *new]]), caches=caches)"))),
    ("temperature_multiplied", edited(PLAIN, ("last / temperature", "last * temperature"))),
    ("p_ignored", edited(PLAIN, ("p=nucleus(share, p)", "p=share"))),
    ("end_dropped", edited(PLAIN, ("        new.append(token)\n        if token == end_id or len(new) == max_new:", "        if token == end_id:\n            return new\n        new.append(token)\n        if len(new) == max_new:"))),
    ("end_not_seen", edited(PLAIN, ("token == end_id or ", ""))),
    ("other_chance", edited(PLAIN, ("rng.choice", "np.random.choice"))),
    ("temperature_ignored", edited(PLAIN, ("            last = last / temperature\n", ""))),
    ("always_the_largest", edited(PLAIN, (DRAW, "token = int(share.argmax())"))),
    ("always_the_largest", edited(PLAIN, ("if temperature == 0:", "if True:"))),
    ("", edited(PLAIN, ("if temperature == 0:", "if temperature < 2:"))),
    ("prompt_in_result", edited(PLAIN, ("return new", "return [*prompt, *new]"))),
    ("one_too_many", edited(PLAIN, ("len(new) == max_new", "len(new) > max_new"))),
    ("", edited(PLAIN, ("len(new) == max_new", "len(new) + len(prompt) >= max_new"))),
    ("without_caches", edited(PLAIN, (NEXT, "logits, caches = model(np.array([[token]]))"))),
    ("first_caches_again", edited(PLAIN, (NEXT, "logits, _ = model(np.array([[token]]), caches=caches)"))),
    ("", edited(PLAIN, (NEXT, "logits, caches = model(np.array([[*prompt, *new]]), caches=caches)"))),
    ("", edited(PLAIN, ("model(np.array([prompt]))", "model(np.array([prompt[-1:]]))"))),
    ("", edited(PLAIN, ("model(np.array([prompt]))", "model(np.array(prompt))"))),
    ("", edited(PLAIN, ("model(np.array([prompt]))", "model(np.array([prompt[::-1]]))"))),
    ("first_position", edited(PLAIN, ("[0, -1]", "[0, 0]"))),
    ("", edited(PLAIN, ("[0, -1]", "[-1, 0]"))),
    ("", edited(PLAIN, ("np.argmax(last)", "np.argmin(last)"))),
    ("", edited(PLAIN, ("        if temperature == 0:\n            token = int(np.argmax(last))\n        else:\n", "        if True:\n"))),
    ("one_minus_p", edited(PLAIN, ("nucleus(share, p)", "nucleus(share, 1 - p)"))),
    ("", edited(PLAIN, ("p=nucleus(share, p)", "p=np.full(len(share), 1 / len(share))"))),
    ("share_of_the_largest", edited(PLAIN, ("p=nucleus(share, p)", "p=np.where(share >= p * share.max(), share, 0) / share[share >= p * share.max()].sum()"))),
    ("", edited(PLAIN, ("rng.choice", "np.random.default_rng().choice"))),
    ("", edited(PLAIN, ("rng.choice(len(share)", "np.random.default_rng(0).choice(len(share)"))),
    ("", edited(PLAIN, ("            return new\n", "            return new[-1]\n"))),
    ("", edited(PLAIN, ("            return new\n", "            return\n"))),
    ("", edited(PLAIN, ("            return new\n", "            return str(new)\n"))),
    ("", edited(PLAIN, ("new.append(token)", "new.append(last)"))),
    ("", edited(PLAIN, ("if temperature == 0:", "if temperature < 1:"))),
    ("one_minus_p", edited(PLAIN, (DRAW, "order = np.argsort(-share)\n            kept = order[: int(np.sum(np.cumsum(share[order]) < 1 - p - 1e-9)) + 1]\n            token = int(rng.choice(kept, p=share[kept] / share[kept].sum()))"))),
    ("stops_below_p", edited(PLAIN, (DRAW, "order = np.argsort(-share)\n            kept = order[: max(1, int(np.sum(np.cumsum(share[order]) <= p + 1e-9)))]\n            token = int(rng.choice(kept, p=share[kept] / share[kept].sum()))"))),
    ("temperature_ignored", edited(PLAIN, ("            last = last / temperature\n", ""), ("            share = share / share.sum()\n", "            share = share / share.sum() / temperature\n            share = share / share.sum()\n"))),
    ("", edited(PLAIN, ("    logits, caches = model(np.array([prompt]))\n", "    caches = None\n    for number in prompt:\n        logits, caches = model(np.array([[number]]), caches=caches)\n"))),
    ("", edited(PLAIN, ("    new = []\n", "    new = []\n    logits, caches = model(np.array([prompt[-1:]]), caches=caches)\n"))),
    # the end id of the prompt ends the text
    ("end_of_the_prompt", """
def generate(model, prompt, max_new, temperature, p, rng, end_id):
    ids, given, caches = list(prompt), list(prompt), None
    while end_id not in ids and len(ids) < len(prompt) + max_new:
        logits, caches = model(np.array([given]), caches=caches)
        last = np.asarray(logits, dtype="float64")[0, -1]
        share = softmax(last / temperature) if temperature else None
        given = [int(last.argmax()) if temperature == 0 else int(rng.choice(len(last), p=nucleus(share, p)))]
        ids += given
    return ids[len(prompt):]
"""),
    ("end_behind_the_prompt", """
def generate(model, prompt, max_new, temperature, p, rng, end_id):
    new, given, caches = [], list(prompt), None
    while given[-1] != end_id and len(new) < max_new:
        logits, caches = model(np.array([given]), caches=caches)
        last = np.asarray(logits, dtype="float64")[0, -1]
        share = softmax(last / temperature) if temperature else None
        given = [int(last.argmax()) if temperature == 0 else int(rng.choice(len(last), p=nucleus(share, p)))]
        new += given
    return new
"""),
    ("end_inside_the_prompt", """
def generate(model, prompt, max_new, temperature, p, rng, end_id):
    ids, given, caches = list(prompt), list(prompt), None
    while end_id not in ids[1:] and len(ids) < len(prompt) + max_new:
        logits, caches = model(np.array([given]), caches=caches)
        last = np.asarray(logits, dtype="float64")[0, -1]
        share = softmax(last / temperature) if temperature else None
        given = [int(last.argmax()) if temperature == 0 else int(rng.choice(len(last), p=nucleus(share, p)))]
        ids += given
    return ids[len(prompt):]
"""),
    ("temperature_from_one", edited(PLAIN, ("last / temperature", "last / max(temperature, 1.0)"))),
    ("one_plus_temperature", edited(PLAIN, ("last / temperature", "last / (1 + temperature)"))),
    ("power_not_normalised", edited(PLAIN, (STEP, "            share = np.exp(last - last.max())\n            share = (share / share.sum()) ** (1 / temperature)\n            " + DRAW))),
]  # fmt: skip

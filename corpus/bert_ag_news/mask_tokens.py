"""Lab 07, exercise `mask_tokens`: solutions as different students write them, right and wrong."""

MASKING = """
def mask_tokens(ids, rng, vocab_size, mask_id, special_ids, rate=0.15):
    {first}
    chosen = {chosen}
    fate = {fate}
    inputs = {copy}
    inputs[chosen & (fate < {mask_below})] = mask_id
    replaced = chosen & (fate >= {mask_below}) & (fate < {random_below})
    inputs[replaced] = {random}
    labels = {labels}
    return inputs, labels
"""

PARTS = {
    "first": "pass",
    "chosen": "(rng.random(ids.shape) < rate) & ~np.isin(ids, special_ids)",
    "fate": "rng.random(ids.shape)",
    "copy": "ids.copy()",
    "mask_below": "0.8",
    "random_below": "0.9",
    "random": "rng.integers(vocab_size, size=replaced.sum())",
    "labels": "np.where(chosen, ids, -100)",
}


def masking(**changed: str) -> str:
    """The masking with some of its parts changed."""
    return MASKING.format(**{**PARTS, **changed})


CORRECT = [
    # the fate by three shares
    """
def mask_tokens(ids, rng, vocab_size, mask_id, special_ids, rate=0.15):
    ids = np.asarray(ids)
    chosen = (rng.random(ids.shape) < rate) & ~np.isin(ids, special_ids)
    fate = rng.choice([0.0, 0.85, 0.95], size=ids.shape, p=[0.8, 0.1, 0.1])
    inputs = ids.copy()
    inputs[chosen & (fate < 0.8)] = mask_id
    rand = chosen & (fate >= 0.8) & (fate < 0.9)
    inputs[rand] = rng.integers(vocab_size, size=rand.sum())
    labels = np.where(chosen, ids, -100)
    return inputs, labels
""",
    masking(),
    # token by token
    """
def mask_tokens(ids, rng, vocab_size, mask_id, special_ids, rate=0.15):
    special = set(special_ids)
    flat = ids.reshape(-1).tolist()
    inputs, labels = [], []
    for token in flat:
        if token in special or rng.random() >= rate:
            inputs.append(token)
            labels.append(-100)
            continue
        labels.append(token)
        fate = rng.random()
        if fate < 0.8:
            inputs.append(mask_id)
        elif fate < 0.9:
            inputs.append(int(rng.integers(0, vocab_size)))
        else:
            inputs.append(token)
    return np.array(inputs).reshape(ids.shape), np.array(labels).reshape(ids.shape)
""",
    # the fate first, by choice with probabilities; then who is chosen
    """
def mask_tokens(ids, rng, vocab_size, mask_id, special_ids, rate=0.15):
    options = np.stack([np.full_like(ids, mask_id), rng.integers(0, vocab_size, ids.shape), ids])
    kind = rng.choice(3, size=ids.shape, p=[0.8, 0.1, 0.1])
    instead = np.take_along_axis(options, kind[None], axis=0)[0]
    chosen = rng.binomial(1, rate, size=ids.shape).astype(bool)
    for special in special_ids:
        chosen &= ids != special
    return np.where(chosen, instead, ids), np.where(chosen, ids, -100)
""",
    # half of the rest, then half of that; lists of places
    """
def mask_tokens(ids, rng, vocab_size, mask_id, special_ids, rate=0.15):
    inputs, labels = np.array(ids), np.full(ids.shape, -100)
    ordinary = np.argwhere(~np.isin(ids, list(special_ids)))
    picked = ordinary[rng.random(len(ordinary)) < rate]
    labels[tuple(picked.T)] = ids[tuple(picked.T)]
    masked = rng.random(len(picked)) < 0.8
    inputs[tuple(picked[masked].T)] = mask_id
    rest = picked[~masked]
    swapped = rest[rng.random(len(rest)) < 0.5]
    inputs[tuple(swapped.T)] = rng.integers(vocab_size, size=len(swapped))
    return inputs, labels
""",
    # one number for everything: below 0.8 · rate mask, below 0.9 · rate random, below rate kept
    """
def mask_tokens(ids, rng, vocab_size, mask_id, special_ids, rate=0.15):
    number = rng.uniform(size=ids.shape)
    number[np.isin(ids, special_ids)] = 1.0
    inputs = np.select(
        [number < 0.8 * rate, number < 0.9 * rate], [mask_id, rng.integers(0, vocab_size, size=ids.shape)], default=ids
    )
    return inputs, np.where(number < rate, ids, -100)
""",
    # row by row, a number of chosen ones that is itself drawn, then places without order
    """
def mask_tokens(ids, rng, vocab_size, mask_id, special_ids, rate=0.15):
    inputs, labels = ids.copy(), np.full_like(ids, -100)
    for row, out, label in zip(np.atleast_2d(ids), np.atleast_2d(inputs), np.atleast_2d(labels)):
        places = np.flatnonzero(~np.isin(row, special_ids))
        places = rng.permutation(places)[: rng.binomial(len(places), rate)]
        label[places] = row[places]
        for place in places:
            fate = rng.integers(10)
            if fate < 8:
                out[place] = mask_id
            elif fate == 8:
                out[place] = rng.integers(vocab_size)
    return inputs, labels
""",
    # a random id by scaling a random number; tensors come back
    """
def mask_tokens(ids, rng, vocab_size, mask_id, special_ids, rate=0.15):
    four = rng.random((3, *ids.shape))
    drawn = np.floor(four[2] * vocab_size).astype(ids.dtype)
    chosen = np.logical_and(four[0] < rate, np.isin(ids, special_ids, invert=True))
    inputs = tf.where(four[1] < 0.8, tf.cast(mask_id, ids.dtype), tf.where(four[1] < 0.9, drawn, ids))
    return tf.where(chosen, inputs, ids), tf.where(chosen, ids, tf.constant(-100, ids.dtype))
""",
]

WRONG = [
    (
        "masked_in_place",
        """
def mask_tokens(ids, rng, vocab_size, mask_id, special_ids, rate=0.15):
    ids = np.asarray(ids)
    chosen = (rng.random(ids.shape) < rate) & ~np.isin(ids, special_ids)
    fate = rng.random(ids.shape)
    inputs = ids
    inputs[chosen & (fate < 0.8)] = mask_id
    rand = chosen & (fate >= 0.8) & (fate < 0.9)
    inputs[rand] = rng.integers(vocab_size, size=rand.sum())
    labels = np.where(chosen, np.array(ids), -100)
    return inputs, labels
""",
    ),
    (
        "labels_zero",
        """
def mask_tokens(ids, rng, vocab_size, mask_id, special_ids, rate=0.15):
    ids = np.asarray(ids)
    chosen = (rng.random(ids.shape) < rate) & ~np.isin(ids, special_ids)
    fate = rng.random(ids.shape)
    inputs = ids.copy()
    inputs[chosen & (fate < 0.8)] = mask_id
    rand = chosen & (fate >= 0.8) & (fate < 0.9)
    inputs[rand] = rng.integers(vocab_size, size=rand.sum())
    labels = np.where(chosen, ids, 0)
    return inputs, labels
""",
    ),
    (
        "one_kind_for_a_line",
        """
def mask_tokens(ids, rng, vocab_size, mask_id, special_ids, rate=0.15):
    ids = np.asarray(ids)
    chosen = (rng.random(ids.shape) < rate) & ~np.isin(ids, special_ids)
    fate = np.broadcast_to(rng.random(ids.shape[:-1] + (1,)), ids.shape)
    inputs = ids.copy()
    inputs[chosen & (fate < 0.8)] = mask_id
    rand = chosen & (fate >= 0.8) & (fate < 0.9)
    inputs[rand] = rng.integers(vocab_size, size=rand.sum())
    labels = np.where(chosen, ids, -100)
    return inputs, labels
""",
    ),
    (
        "random_over_masks",
        """
def mask_tokens(ids, rng, vocab_size, mask_id, special_ids, rate=0.15):
    ids = np.asarray(ids)
    chosen = (rng.random(ids.shape) < rate) & ~np.isin(ids, special_ids)
    fate = rng.random(ids.shape)
    inputs = ids.copy()
    inputs[chosen & (fate < 0.8)] = mask_id
    rand = chosen & (rng.random(ids.shape) < 0.1)
    inputs[rand] = rng.integers(vocab_size, size=rand.sum())
    labels = np.where(chosen, ids, -100)
    return inputs, labels
""",
    ),
    (
        "",
        """
def mask_tokens(ids, rng, vocab_size, mask_id, special_ids, rate=0.15):
    ids = np.asarray(ids)
    chosen = (rng.random(ids.shape) < rate) & ~np.isin(ids, special_ids)
    fate = rng.random(ids.shape)
    inputs = ids.copy()
    inputs[chosen & (fate < 0.8)] = mask_id
    rand = chosen & (fate >= 0.8) & (fate < 0.9)
    inputs[rand] = rng.integers(vocab_size, size=rand.sum())
    labels = np.where(chosen, ids, -100)
    return labels, inputs
""",
    ),
    ("labels_zero", masking(labels="np.where(chosen, ids, 0)")),
    ("labels_minus_one", masking(labels="np.where(chosen, ids, -1)")),
    ("", masking(labels="np.where(chosen, ids, -100).astype('uint16')")),
    ("labels_of_all_words", masking(labels="np.where(np.isin(ids, special_ids), -100, ids)")),
    ("labels_everywhere", masking(labels="ids.copy()")),
    ("labels_inverted", masking(labels="np.where(chosen, -100, ids)")),
    ("labels_after_masking", masking(labels="np.where(chosen, inputs, -100)")),
    ("labels_for_masks_only", masking(labels="np.where(inputs == mask_id, ids, -100)")),
    ("kept_without_label", masking(labels="np.where(inputs != ids, ids, -100)")),
    ("specials_chosen", masking(chosen="rng.random(ids.shape) < rate")),
    # [MASK] as if it were one of the special ids
    ("", masking(chosen="(rng.random(ids.shape) < rate) & ~np.isin(ids, [*special_ids, mask_id])")),
    ("argument_changed", masking(copy="ids", first="kept = ids.copy()", labels="np.where(chosen, kept, -100)")),
    ("ids_are_floats", masking(labels="np.where(chosen, ids, -100.0)")),
    ("rate_ignored", masking(chosen="(rng.random(ids.shape) < 0.15) & ~np.isin(ids, special_ids)")),
    ("rate_inverted", masking(chosen="(rng.random(ids.shape) > rate) & ~np.isin(ids, special_ids)")),
    (
        "rate_of_all",
        masking(
            first="ordinary = ~np.isin(ids, special_ids)",
            chosen="ordinary & (rng.random(ids.shape) < rate * ids.size / ordinary.sum())",
        ),
    ),
    ("always_masked", masking(mask_below="1.0")),
    (
        "always_masked",  # the same number decides twice
        masking(first="number = rng.random(ids.shape)", chosen="(number < rate) & ~np.isin(ids, special_ids)", fate="number"),
    ),
    ("never_kept", masking(random_below="1.0")),
    ("never_replaced", masking(random_below="0.8")),
    ("tenth_of_the_rest", masking(random_below="0.82")),
    ("mask_and_random_swapped", masking(mask_below="0.1")),
    ("mask_and_kept_swapped", masking(mask_below="0.1", random_below="0.2")),
    ("kinds_in_thirds", masking(mask_below="1 / 3", random_below="2 / 3")),
    ("one_kind_for_all", masking(fate="np.full(ids.shape, rng.random())")),
    ("random_never_zero", masking(random="rng.integers(1, vocab_size, size=replaced.sum())")),
    ("random_never_last", masking(random="rng.integers(vocab_size - 1, size=replaced.sum())")),
    ("random_from_one", masking(random="rng.integers(1, vocab_size + 1, size=replaced.sum())")),
    ("random_beyond", masking(random="rng.integers(0, vocab_size, endpoint=True, size=replaced.sum())")),
    ("random_from_above", masking(random="rng.integers(mask_id + 1, vocab_size, size=replaced.sum())")),
    ("random_from_above", masking(random="rng.integers(len(special_ids), vocab_size, size=replaced.sum())")),
    (
        "random_never_special",
        masking(random="rng.choice(np.setdiff1d(np.arange(vocab_size), special_ids), size=replaced.sum())"),
    ),
    ("random_from_the_text", masking(random="rng.permutation(ids.reshape(-1))[: replaced.sum()]")),
    ("random_never_own", masking(random="(ids[replaced] + rng.integers(1, vocab_size, size=replaced.sum())) % vocab_size")),
    (
        "random_never_mask",
        masking(random="np.setdiff1d(np.arange(vocab_size), [mask_id])[rng.integers(vocab_size - 1, size=replaced.sum())]"),
    ),
    (
        "random_never_special",  # as if [MASK] were one of the special ids
        masking(random="rng.choice(np.setdiff1d(np.arange(vocab_size), [*special_ids, mask_id]), size=replaced.sum())"),
    ),
    (
        "",  # neither [MASK] nor the token's own id
        masking(
            random="rng.random((replaced.sum(), vocab_size))\n"
            "    scores[np.arange(len(scores)), ids[replaced]] = scores[:, mask_id] = 0\n"
            "    inputs[replaced] = scores.argmax(axis=1)"
        ).replace("inputs[replaced] = rng.random", "scores = rng.random"),
    ),
    (
        "random_one_id_for_a_line",
        masking(random="np.broadcast_to(rng.integers(vocab_size, size=(*ids.shape[:-1], 1)), ids.shape)[replaced]"),
    ),
    ("random_one_id", masking(random="rng.integers(vocab_size)")),
    (
        "random_not_uniform",
        masking(random="np.clip(rng.normal(vocab_size / 2, vocab_size / 5, replaced.sum()), 0, vocab_size - 1).astype(int)"),
    ),
    # the number that chooses also draws: the last id is never drawn, but the ids below it not equally often either
    (
        "random_not_uniform",
        masking(
            first="u = rng.random(ids.shape)",
            chosen="(u < rate) & ~np.isin(ids, special_ids)",
            random="(u[replaced] * vocab_size).astype(int)",
        ),
    ),
    (
        "fixed_number",  # of the call
        masking(
            first="places = rng.permutation(np.flatnonzero(~np.isin(ids, special_ids)))\n"
            "    places = places[: round(rate * len(places))]",
            chosen="np.isin(np.arange(ids.size), places).reshape(ids.shape)",
        ),
    ),
    (
        "fixed_number",  # of each row, the smallest of random numbers
        masking(
            first="number = np.where(np.isin(ids, special_ids), 1.0, rng.random(ids.shape))\n"
            "    count = np.ceil(rate * (number < 1).sum(axis=-1, keepdims=True)).astype(int)",
            chosen="np.argsort(np.argsort(number, axis=-1), axis=-1) < count",
        ),
    ),
    (
        "at_least_one",
        masking(
            labels="np.where(chosen, ids, -100)",
            chosen="(rng.random(ids.shape) < rate) & ~np.isin(ids, special_ids)\n"
            "    if not chosen.any():\n        chosen.flat[np.flatnonzero(~np.isin(ids, special_ids))[0]] = True",
        ),
    ),
    ("whole_texts", masking(chosen="(rng.random((*ids.shape[:-1], 1)) < rate) & ~np.isin(ids, special_ids)")),
    (
        "kinds_by_count",
        masking(
            fate="np.argsort(np.argsort(np.where(chosen, rng.random(ids.shape), 2), axis=None)).reshape(ids.shape)"
            " / max(1, chosen.sum())"
        ),
    ),
    # 0.01 more or less: of the chosen tokens, of the masks, of what is random
    (None, masking(chosen="(rng.random(ids.shape) < rate + 0.01) & ~np.isin(ids, special_ids)")),
    (None, masking(chosen="(rng.random(ids.shape) < rate - 0.01) & ~np.isin(ids, special_ids)")),
    (None, masking(chosen="(rng.integers(100, size=ids.shape) <= int(100 * rate)) & ~np.isin(ids, special_ids)")),
    (None, masking(mask_below="0.79")),
    (None, masking(mask_below="0.81")),
    (None, masking(random_below="0.89")),
    (None, masking(random_below="0.91")),
    # whole per cent, cut, rounded, and of a hundred whole numbers
    ("rate_in_percent", masking(chosen="(rng.random(ids.shape) < int(rate * 100) / 100) & ~np.isin(ids, special_ids)")),
    ("rate_in_percent", masking(chosen="(rng.random(ids.shape) < round(rate, 2)) & ~np.isin(ids, special_ids)")),
    ("rate_in_percent", masking(chosen="(rng.integers(100, size=ids.shape) < rate * 100) & ~np.isin(ids, special_ids)")),
    (None, masking().replace("return inputs, labels", "return labels, inputs")),
    ("same_in_every_row", masking(chosen="(rng.random(ids.shape[-1]) < rate) & ~np.isin(ids, special_ids)")),
    (
        "neighbours_together",
        masking(chosen="np.repeat(rng.random(ids.shape)[..., ::2] < rate, 2, -1)[..., : ids.shape[-1]] & ~np.isin(ids, special_ids)"),
    ),
    ("other_generator", masking(first="rng = np.random.default_rng()")),
    ("other_generator", masking(chosen="(np.random.rand(*ids.shape) < rate) & ~np.isin(ids, special_ids)")),
    ("other_generator", masking(fate="np.random.random(ids.shape)")),
    ("always_the_same", masking(first="rng = np.random.default_rng(0)")),
    ("generator_copied", masking(first="import copy; rng = copy.deepcopy(rng)")),
    ("unlabelled_changed", masking(labels="np.where(chosen, ids, -100)\n    inputs[~chosen & (rng.random(ids.shape) < 0.05)] = mask_id")),
    (None, masking(labels="np.where(chosen, ids, -100)\n    inputs[rng.random(ids.shape) < 0.05] = mask_id")),
    (None, "def mask_tokens(ids, rng, vocab_size, mask_id, special_ids, rate=0.15):\n    return ids, np.full(ids.shape, -100)\n"),
    (None, masking() .replace("return inputs, labels", "return inputs")),
    (None, masking(labels="ids[chosen]")),
]  # fmt: skip

"""Lab 08, exercise `measure_exposure`."""

import numpy as np

from autograder.declare import Advice, Case, Exercise, edit
from coursekit.probes.decoder_and_masking import table_writer
from exercises.drawing import drawn_until

exercise = Exercise("measure_exposure", own_probe=True, returns=("after", "base", "margin"))

Arrays = dict[str, np.ndarray]


@exercise.formula
def shares_by_step(targets, positions, false_ids, steps, table):
    """Shares of right tokens by step after a false token and after the right one, and 1.96 standard errors of the
    mean paired difference."""
    clean, false = both(targets, positions, false_ids, steps, table)
    base = np.nanmean(clean, axis=0)
    after = np.nanmean(false, axis=0)
    lost = clean - false
    count = (~np.isnan(lost)).sum(axis=0)
    margin = 1.96 * np.nanstd(lost, axis=0, ddof=1) / np.sqrt(count)
    return {"after": after, "base": base, "margin": margin}


@exercise.formula_for("shares")
def shares_alone(targets, positions, false_ids, steps, table):
    """The shares without the margin."""
    found = shares_by_step(targets, positions, false_ids, steps, table)
    return {name: found[name] for name in ("after", "base")}


def both(targets, positions, false_ids, steps, table):
    """Which written tokens are right after the right token and after the false one, (N, K) each; NaN behind the end."""
    correct = targets[np.arange(len(targets)), positions]
    model = table_writer(targets, table)
    clean = np.array([continued(model, row, targets, positions, correct, steps) for row in range(len(targets))])
    false = np.array([continued(model, row, targets, positions, false_ids, steps) for row in range(len(targets))])
    return clean, false


def continued(model, row, targets, positions, token, steps):
    """For one sentence, whether each of the K tokens that the model writes after `token` is right."""
    ids, place = targets[row].tolist(), int(positions[row])
    prefix = [*ids[:place], int(token[row])]
    right = np.full(steps, np.nan)
    for step in range(steps):
        at = place + 1 + step
        written = model(row, prefix)
        if at < len(ids) and ids[at] != 0:
            right[step] = written == ids[at]
        prefix.append(written)
    return right


def _inputs(rng, rows: int, length: int, steps: int) -> dict:
    """Sentences of different lengths, with a false token in each at least one place before its end."""
    words = 11
    targets = rng.integers(1, words, size=(rows, length)).astype("int32")
    lengths = rng.integers(3, length + 1, size=rows)
    targets[np.arange(length) >= lengths[:, None]] = 0
    positions = np.array([int(rng.integers(0, end - 1)) for end in lengths])
    correct = targets[np.arange(rows), positions]
    false_ids = 1 + (correct - 1 + rng.integers(1, words - 1, size=rows)) % (words - 1)
    table = rng.random((rows, 97)).astype("float32")
    return {
        "targets": targets,
        "positions": positions.astype("int64"),
        "false_ids": false_ids.astype("int32"),
        "steps": steps,
        "table": table,
    }


def _is_clear(inputs: dict) -> bool:
    """Whether every step has sentences that have ended, sentences that have not, and losses of both kinds."""
    clean, false = both(**inputs)
    counts = (~np.isnan(clean)).sum(axis=0)
    if counts.min() < 5 or len(set(counts)) < len(counts):
        return False
    base, after = np.nanmean(clean, axis=0), np.nanmean(false, axis=0)
    lost = clean - false
    spread = np.nanstd(lost, axis=0, ddof=1) ** 2
    apart = np.abs(spread - np.nanvar(clean, axis=0, ddof=1) - np.nanvar(false, axis=0, ddof=1))
    return bool(
        (np.abs(base - after) > 0.05).all()
        and len({*base, *after}) == 2 * len(base)
        and (after > 0.1).all()
        and (base < 0.99).all()
        and (spread > 0.02).all()
        and (apart > 0.02).all()
    )


def _drawn(rng, rows: int, length: int, steps: int) -> dict:
    return drawn_until(_is_clear, lambda: _inputs(rng, rows, length, steps))


exercise.group(
    "shares by step, after a false and after the right token",
    points=3,
    must_fail_for=("taught", "end_counted", "compared_too_early", "inserted", "in_a_row"),
    shares=lambda rng: [
        Case(_drawn(rng, 23, 7, 3), "23 sentences, three steps", mode="shares"),
        Case(_drawn(rng, 31, 9, 4), "31 sentences, four steps", mode="shares"),
    ],
)
exercise.group(
    "margin of the mean paired difference",
    points=2,
    must_fail_for=("unpaired", "population", "not_divided", "all_sentences"),
    margins=lambda rng: [
        Case(_drawn(rng, 23, 7, 2), "23 sentences, two steps"),
        Case(_drawn(rng, 37, 9, 3), "37 sentences, three steps"),
    ],
)
BOTH = "clean, false = both(targets, positions, false_ids, steps, table)"
PREFIX = "prefix = [*ids[:place], int(token[row])]"
IS_RIGHT = "right[step] = written == ids[at]"
MARGIN = "1.96 * np.nanstd(lost, axis=0, ddof=1) / np.sqrt(count)"

exercise.mistakes(
    taught=edit(".append(written)", ".append(ids[at] if at < len(ids) else written)", see="08#exposure-bias")
    | "After the false token your prefix goes on with the correct tokens. The question is what the model does with "
    "what it wrote itself." | "Which token is the last one of the prefix at the second step?",
    inserted=edit(PREFIX, f"{PREFIX} if token[row] == ids[place] else [*ids[: place + 1], int(token[row])]")
    | "The false token comes after the right one. It has to stand in its position."
    | "How many tokens does the prefix have before the first step, with and without the false one?",
    compared_too_early=edit("written == ids[at]", "written == ids[at - 1]")
    | "A written token is compared with the target one position too early."
    | "A prefix of n tokens is read. Which index of the target does the next token have?",
    end_counted=edit("np.full(steps, np.nan)", "np.zeros(steps)")
    | "Sentences that have ended are counted as wrong. At each step count only those that still have a token there."
    | "How many sentences have a token at step k?",
    in_a_row=edit(IS_RIGHT, "right[step] = written == ids[at] and prefix[place + 1 :] == ids[place + 1 : at]")
    | "A token counts as right only if all tokens before it are. Then a model cannot recover, whatever it writes."
    | "A sentence is wrong at step 1 and right at step 2. What does step 2 count?",
    unpaired=edit(
        MARGIN,
        "1.96 * np.sqrt(np.nanvar(clean, axis=0, ddof=1) + np.nanvar(false, axis=0, ddof=1)) / np.sqrt(count)",
        see="06b#seeds",
    )
    | "The margin is that of two independent groups of sentences. These are the same sentences: take the difference "
    "within each first." | "Of which one number for each sentence do you need the standard deviation?",
    population=edit("ddof=1) / np", "ddof=0) / np")
    | "The standard deviation divides by n. A sample's divides by n − 1: `ddof=1`.",
    not_divided=edit(MARGIN, "1.96 * np.nanstd(lost, axis=0, ddof=1)")
    | "The margin is 1.96 standard deviations. A mean is uncertain by the standard deviation over √n.",
    root_missing=edit("np.sqrt(count)", "count")
    | "The root is missing. A mean is uncertain by the standard deviation over √n, not over n.",
    all_sentences=edit("np.sqrt(count)", "np.sqrt(len(lost))")
    | "The root is that of all sentences. At each step divide by the root of the number that is left there.",
    padding_counted=edit("at < len(ids) and ids[at] != 0", "at < len(ids)")
    | "Padding counts as a token that the model should write. A target ends before its first 0."
    | "What does a sentence of 3 tokens have at the positions 3 and 4?",
    one_token_more=edit(PREFIX, "prefix = [*ids[: place + 1], int(token[row])]")
    | "The token comes after `targets[n][p]`. It has to stand in its position: the prefix before it has p tokens."
    | "How many tokens does the prefix have before the first step?",
    token_alone=edit(PREFIX, "prefix = [int(token[row])]")
    | "The prefix begins with the token. The p tokens of the target before it are missing."
    | "What should `next_token` read at the first step, if p is 2?",
    no_base=edit("base = np.nanmean(clean, axis=0)", "base = np.nanmean(false, axis=0)")
    | edit("lost = clean - false", "lost = false - false")
    | "Your base is the share after the false token. It is asked for after the right one, `targets[n][p]`.",
    exchanged=edit("base = np.nanmean(clean, axis=0)", "base = np.nanmean(false, axis=0)")
    | edit("after = np.nanmean(false, axis=0)", "after = np.nanmean(clean, axis=0)")
    | "`after` and `base` are exchanged: the share after the false token comes first.",
    standard_error=edit(MARGIN, "np.nanstd(lost, axis=0, ddof=1) / np.sqrt(count)")
    | "This is one standard error. The margin is 1.96 of them.",
    margin_after=edit(MARGIN, "1.96 * np.nanstd(false, axis=0, ddof=1) / np.sqrt(count)")
    | "The margin is that of the share after the false token. It is asked for the difference of the two shares."
    | "Of which one number for each sentence do you need the standard deviation?",
    start_in_prefix=edit("written = model(row, prefix)", "written = model(row, [2, *prefix])")
    | "Your prefix begins with the start id, 2. `next_token` takes a list of ids without it."
    | "What does the stub say about the list that `next_token` is called with?",
    base_written=edit(", correct,", ", [model(row, targets[row][: positions[row]]) for row in range(len(targets))],")
    | "Your base goes on after a token that the model wrote at position p. It is asked for after the right one, "
    "`targets[n][p]`." | "Which two prefixes are compared, and in which position do they differ?",
    base_taught=edit(
        "prefix.append(written)",
        "prefix.append(ids[at] if token[row] == ids[place] and at < len(ids) else written)",
        see="08#exposure-bias",
    )
    | "After the right token your prefix goes on with the correct tokens. In both cases the model reads its own."
    | "Which token is the last one of each prefix at the second step?",
    whole_sentences_only=edit(
        BOTH, f"{BOTH}\nwhole = ~np.isnan(clean).any(axis=1)\nclean, false = clean[whole], false[whole]"
    )
    | "Sentences that end early are left out at every step. They do not count at the steps where they have no token; "
    "at the steps before they do." | "How many sentences have a token at step 1, and how many at the last step?",
)

exercise.advice(
    shares=Advice(
        value="A share is the mean of `is_right` over the sentences that have a token at this step, whatever they have "
        "at later ones. `after` comes first.",
        nan="Each step has sentences that have not ended. Take the mean over these.",
        shape="One share for each step: (K,).",
    ),
    margins=Advice(
        value="Take one difference for each sentence: 1 or 0 after the right token, minus 1 or 0 after the false one. "
        "With n of them, whose standard deviation (ddof=1) is s, the margin is 1.96 · s/√n.",
        nan="Leave out the sentences that have ended, step by step.",
    ),
)
exercise.hints(
    shares=(
        "`is_right[0]` belongs to the right token and `is_right[1]` to the false one. Which axis of `is_right` are the "
        "sentences?",
        "`np.nanmean` takes an axis, and leaves NaN out.",
    ),
    margins=(
        "Subtract the two tables first. `np.nanstd` takes an axis and `ddof`.",
        "The number of sentences at a step is the number of entries in its column that are not NaN.",
    ),
)

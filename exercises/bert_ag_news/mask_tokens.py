"""Lab 07, exercise `mask_tokens`."""

from typing import Any

from autograder.declare import Case, Exercise, edit, seen
from coursekit.probes.masked_ids import at_the_rate, each_for_itself, in_three_kinds, never_chosen, uniform_over


def _large(rng) -> dict[str, Any]:
    """A vocabulary of about a thousand ids; which are special, which is the mask, and which are words is drawn."""
    size = int(rng.integers(1000, 1100))
    ids = [int(id) for id in 1 + rng.permutation(size - 1)]
    specials, (mask_id, unused), words = ids[:4], ids[4:6], ids[6:67]
    return {"vocab_size": size, "special_ids": specials, "mask_id": mask_id, "words": words, "unused": [unused]}


def _with_masks(rng) -> dict[str, Any]:
    """Words that nearly all have the mask's id: by the text it is ordinary, for it is not in `special_ids`."""
    vocabulary = _large(rng)
    return {**vocabulary, "words": [vocabulary["mask_id"], *vocabulary["words"][:2]]}


def _small(rng) -> dict[str, Any]:
    """A vocabulary of few ids. A part of it that a wrong function leaves out is never equal to another such part."""
    size = int(rng.integers(7, 13))
    mask_id = int(rng.integers(3, size - 2))
    others = [int(id) for id in rng.permutation(size) if id not in (0, 1, mask_id, size - 1)]
    specials, words = sorted([0, *others[:2]]), sorted([*others[2:], size - 1])[:2]
    unused = [id for id in range(size) if id not in (*specials, *words, mask_id)]
    return {"vocab_size": size, "special_ids": specials, "mask_id": mask_id, "words": words, "unused": unused}


def _texts(rng, mode, *, description, vocabulary, calls, rows, columns, **more):
    """Texts that the probe draws: in each row four fifths are words, the rest special ids."""
    sizes = {"calls": calls, "rows": rows, "columns": columns, "dtype": "int64", "seed": int(rng.integers(1 << 40))}
    return Case({**vocabulary, **sizes, **more}, description, mode=mode)


exercise = Exercise("mask_tokens", own_probe=True, probe_only=("calls", "dtype", "rows", "seed", "unused", "words"))

# What is true of the masking, for each question that the probe asks, with the numbers of the case. Chance decides which
# tokens are chosen (Devlin et al. 2019, section 3.1).


@exercise.formula
def masked_labels(special_ids: list[int]) -> dict[str, str]:
    """What the labels are, and what stays as it is."""
    return {
        "labels": "the original ids where chosen, -100 elsewhere",
        "special": never_chosen(special_ids),
        "unlabelled": "stay as they are",
        "argument": "as it was",
        "shape": "that of ids",
    }


@exercise.formula_for("share")
def masked_share(rate: float = 0.15) -> dict[str, str]:
    """How many tokens are chosen."""
    return {"share": at_the_rate(rate)}


@exercise.formula_for("kinds")
def masked_kinds(mask_id: int) -> dict[str, str]:
    """What becomes of the chosen tokens."""
    return {"kinds": in_three_kinds(mask_id)}


@exercise.formula_for("random")
def random_ids(vocab_size: int) -> dict[str, str]:
    """Where the random tokens come from."""
    return {"random_ids": uniform_over(range(vocab_size))}


@exercise.formula_for("independent")
def chosen_independently(rows: int, columns: int) -> dict[str, str]:
    """Whether one token's choice depends on another's; some dependences show in short texts or in batches only."""
    return {"chosen": each_for_itself(columns)}


@exercise.formula_for("numbers")
def numbers_from_the_generator() -> dict[str, str]:
    """Where chance comes from."""
    return {"numbers": "from rng"}


@exercise.group("labels, special ids, and the argument", points=2)
def labels(rng):
    yield _texts(rng, "labels", description="ids (53, 61)", vocabulary=_large(rng), calls=1, rows=53, columns=61)
    yield _texts(
        rng,
        "labels",
        description="ids (997,), rate=0.4",
        vocabulary=_large(rng),
        calls=1,
        rows=0,
        columns=997,
        rate=0.4,
    )


@exercise.group("the right share is chosen")
def share(rng):
    """So many words that 0.01 more or less shows, and a rate that is far from whole per cent: half of one at most.

    With 380,013 words the bounds are within 0.0034 of 0.15, and within 0.0027 of a rate below 0.09.
    """
    big: dict[str, Any] = {"vocabulary": _large(rng), "calls": 1, "rows": 197, "columns": 2411}
    rate = (100 * int(rng.integers(7, 9)) + int(rng.integers(45, 56))) / 10000
    shown = "how many of 380,013 words are chosen"
    yield _texts(rng, "share", description=f"{shown} by default", **big)
    yield _texts(rng, "share", description=f"{shown} with rate={rate:g}", rate=rate, **big)
    yield _texts(
        rng,
        "share",
        description="how many of 49,440 words are chosen, more than half of which have the id of [MASK] already",
        vocabulary=_with_masks(rng),
        calls=1,
        rows=103,
        columns=600,
    )


@exercise.group("80 % mask, 10 % random, 10 % kept", points=2)
def kinds(rng):
    """So many that 0.01 more or less of one kind shows: the bounds are within 0.006 of a tenth."""
    description = "what becomes of the words that are chosen, 40 texts (103, 61) with rate=0.5"
    texts: dict[str, Any] = {"calls": 40, "rows": 103, "columns": 61, "rate": 0.5}
    return _texts(rng, "kinds", description=description, vocabulary=_large(rng), **texts)


@exercise.group("random ids from the whole vocabulary")
def random(rng):
    description = "which ids replace words, vocabulary of {vocab_size}, special_ids {special_ids}, mask_id {mask_id}"
    texts: dict[str, Any] = {"calls": 8, "rows": 101, "columns": 131, "rate": 0.8}
    return [
        _texts(
            rng, "random", description=f"{description.format(**few)}, eight texts (101, 131)", vocabulary=few, **texts
        )
        for few in (_small(rng), _small(rng))
    ]


@exercise.group("each token for itself, by the numbers of rng", points=2)
def independent(rng):
    words = _large(rng)
    columns, length = int(rng.integers(59, 68)), int(rng.integers(59, 68))
    rows: dict[str, Any] = {"vocabulary": words, "calls": 1, "rows": 300, "columns": columns}
    calls: dict[str, Any] = {"vocabulary": words, "calls": 150, "rows": 0, "columns": length}
    short: dict[str, Any] = {"vocabulary": words, "calls": 150, "rows": 0, "columns": 7}
    again: dict[str, Any] = {"vocabulary": words, "calls": 1, "rows": 11, "columns": 61}
    yield _texts(rng, "independent", description=f"which words of a text (300, {columns}) are chosen", **rows)
    yield _texts(rng, "independent", description=f"how many words of 150 texts ({length},) are chosen", **calls)
    yield _texts(rng, "independent", description="how many words of 150 texts (7,) are chosen", **short)
    yield _texts(rng, "numbers", description="the same ids again, with the same rng and with others", **again)


EACH = "each_for_itself(columns)"
HIDDEN = dict.fromkeys(("special", "unlabelled", "share", "kinds", "random_ids", "chosen"), "not known")

exercise.mistakes(
    labels_zero=seen({"labels": "0 elsewhere, not -100"})
    | "Labels are 0 where nothing is chosen. 0 is an id that could be asked for: the loss ignores -100 only.",
    labels_minus_one=seen({"labels": "-1 elsewhere, not -100"})
    | "Labels are -1 where nothing is chosen; they should be -100 there.",
    labels_everywhere=seen({"labels": "the ids everywhere"} | HIDDEN)
    | "Labels are the ids at every place: the model would be asked for tokens that it can see. Where nothing is "
    "chosen, the label should be -100.",
    labels_of_all_words=seen(
        {
            "share": "100% of the words",
            "kinds": "40 % mask, 5 % random, 55 % kept",
            "chosen": "all tokens of a text, or none",
        }
    )
    | "All ordinary tokens have labels, so the model is asked for tokens that it can see. Only chosen ones should.",
    labels_inverted=seen({"labels": "-100 where chosen, the ids elsewhere"} | HIDDEN)
    | "Labels are the wrong way round: -100 where tokens are chosen, ids where they are not.",
    labels_after_masking=seen({"labels": "the ids after masking"})
    | "Labels are the ids after masking, so the model is asked for `[MASK]`. They should be the original ids: is a "
    "copy made too late?",
    labels_for_masks_only=seen(
        {
            "share": "eight tenths of the rate",
            "kinds": "100 % mask, 0 % random, 0 % kept",
            "unlabelled": "change, too",
            "random_ids": "none",
        }
    )
    | "Only masked tokens have labels. All chosen tokens should have one, also those that are replaced or kept.",
    kept_without_label=seen({"share": "nine tenths of the rate", "kinds": "89 % mask, 11 % random, 0 % kept"})
    | "Tokens that are chosen and kept have no label: are labels set where inputs and ids differ? The model should "
    "be asked for kept tokens, too.",
    specials_chosen=seen({"special": "chosen, too"})
    | "Special tokens are chosen, too. `special_ids` lists those that never are.",
    unlabelled_changed=seen({"unlabelled": "change, too"})
    | "Tokens without a label change, too. Tokens that are not chosen should stay as they are.",
    argument_changed=seen({"argument": "changed in place"})
    | "The ids that you were given are changed. The next epoch would mask ids that are masked already: work on a copy.",
    masked_in_place=seen({"labels": "the ids after masking", "argument": "changed in place"})
    | "The ids that you were given are changed, and the labels are taken after that. Work on a copy, and take the "
    "labels from the ids.",
    ids_are_floats=seen({"shape": "that of ids, but the numbers are floats"})
    | "Inputs or labels are floats. They should be whole numbers.",
    rate_ignored=edit("at_the_rate(rate)", 'at_the_rate(rate) if rate == 0.15 else "15 %, whatever the rate"')
    | "15 % are chosen whatever `rate` says.",
    rate_in_percent=edit("at_the_rate(rate)", 'at_the_rate(rate) if rate == 0.15 else "the rate in whole per cent"')
    | "The rate is cut or rounded to whole per cent. It may be any number from 0 to 1."
    | "What does your code make of `rate=0.0625`?",
    rate_inverted=seen({"share": "all but the rate"})
    | "The share that is chosen is 1 - rate: is the comparison the wrong way round?",
    rate_of_all=seen({"share": "the rate, of the special tokens' number as well"})
    | "Too many are chosen: the rate is taken of all tokens, special ones included. It should be the share of the "
    "others.",
    always_masked=seen({"kinds": "100 % mask, 0 % random, 0 % kept", "random_ids": "none"})
    | "Every chosen token becomes `[MASK]`. Does one random number both choose the token and decide what becomes of "
    "it? The second decision needs a number of its own.",
    never_kept=seen({"kinds": "80 % mask, 20 % random, 0 % kept"})
    | "Whatever is not masked is replaced. Half of it should keep its own id.",
    never_replaced=seen({"kinds": "80 % mask, 0 % random, 20 % kept", "random_ids": "none"})
    | "Whatever is not masked is kept. Half of it should get a random id.",
    tenth_of_the_rest=seen({"kinds": "80 % mask, 2 % random, 18 % kept"})
    | "A tenth of the chosen tokens that are not masked is replaced. It should be half of these: a tenth of all "
    "chosen tokens.",
    random_over_masks=seen({"kinds": "72 % mask, 10 % random, 18 % kept"})
    | "Of all chosen tokens a tenth gets a random id, masked ones included, so 72 % stay masked. Random ids are for "
    "tokens that are not masked." | "Can your three conditions be true at the same time?",
    mask_and_random_swapped=seen({"kinds": "10 % mask, 80 % random, 10 % kept"})
    | "80 % get a random id, 10 % are masked: it should be the other way round.",
    mask_and_kept_swapped=seen({"kinds": "10 % mask, 10 % random, 80 % kept"})
    | "80 % are kept, 10 % are masked: it should be the other way round.",
    kinds_in_thirds=seen({"kinds": "33 % mask, 33 % random, 33 % kept"})
    | "The three kinds are equally frequent. They should be 80, 10 and 10 %.",
    kinds_by_count=seen({"kinds": "exactly 80 % mask in every call"})
    | "In every call exactly 80 % of the chosen tokens are masked. Each token should be decided independently: then "
    "the number of masked tokens is random, too.",
    one_kind_for_all=seen(
        {"kinds": "one kind for all tokens of a call", "random_ids": "one kind for all tokens of a call"}
    )
    | "All chosen tokens of a call meet the same fate: a single random number decides for all of them.",
    one_kind_for_a_line=seen({"kinds": "one kind for all tokens of a row, or of a column"})
    | "All chosen tokens of a row, or of a column, meet the same fate. Draw a second number for each token: "
    "`rng.random(ids.shape)`.",
    random_never_zero=seen({"random_ids": "never 0"}) | "Random ids are never 0. They should go from 0 on.",
    random_never_last=seen({"random_ids": "never the last of the vocabulary"})
    | "The last id of the vocabulary is never drawn. `rng.integers(n)` draws from 0 to n - 1 already.",
    random_from_one=seen({"random_ids": "from 1 to the vocabulary's size"})
    | "Random ids go from 1 to vocab_size; for the last one an embedding has no row. They should go from 0 to "
    "vocab_size - 1.",
    random_beyond=seen({"random_ids": "beyond the vocabulary, too"})
    | "Some random ids lie beyond the vocabulary. The last one should be vocab_size - 1.",
    random_never_special=seen({"random_ids": "never special ids"})
    | "Special ids are never drawn. They are never chosen, but a random id may be any of the vocabulary.",
    random_from_above=seen({"random_ids": "never the lowest ids"})
    | "The lowest ids are never drawn: does the draw begin above 0? A random id may be any of the vocabulary, a "
    "special one, too.",
    random_from_the_text=seen({"random_ids": "ids that occur in the text"})
    | "Random ids come from the text itself: are tokens shuffled? Each id of the vocabulary should be equally "
    "probable.",
    random_never_own=seen({"random_ids": "never the token's own id"})
    | "A random id is never the token's own. It should be drawn from the whole vocabulary, with the token's own id.",
    random_never_mask=seen({"random_ids": "never that of the mask"})
    | "`mask_id` is never drawn as a random id. It is an id of the vocabulary like every other.",
    random_one_id=seen({"random_ids": "one id for all tokens of a call"})
    | "All replaced tokens of a call get the same random id. Each token should get one of its own: does the draw have "
    "a size?",
    random_one_id_for_a_line=seen({"random_ids": "one id for all tokens of a row, or of a column"})
    | "All replaced tokens of a row, or of a column, get the same random id. Each token should get one of its own.",
    random_not_uniform=seen({"random_ids": "not equally often"})
    | "Some random ids are drawn more often than others. All ids of the vocabulary should be equally probable.",
    fixed_number=seen({"chosen": "a fixed number of tokens"})
    | "In each text the same number of tokens is chosen. Each token should be chosen independently, with probability "
    "`rate`; their number is random.",
    at_least_one=edit(EACH, 'each_for_itself(columns) if rows or columns > 20 else "at least one token"')
    | "In every text at least one token is chosen. In a short text there may be none: each token should be chosen "
    "independently.",
    whole_texts=seen({"chosen": "all tokens of a text, or none"})
    | "All tokens of a text are chosen, or none: one random number decides for the whole row. Draw one for each token.",
    same_in_every_row=edit(EACH, 'each_for_itself(columns) if not rows else "the same places in every row"')
    | "In all rows of a batch the same places are chosen. Draw one number for each token, not for each column.",
    neighbours_together=edit(EACH, 'each_for_itself(columns) if not rows else "neighbours together"')
    | "Neighbours are chosen together. Spans are another way of masking; here each token should be chosen "
    "independently.",
    other_generator=seen({"numbers": "from another generator than rng"})
    | "The same `rng` gives another result the second time: the numbers come from elsewhere, `np.random` or `random`. "
    "Then no experiment can be repeated.",
    always_the_same=edit(EACH, 'each_for_itself(columns) if rows else "the same places in every call"')
    | seen({"numbers": "always the same"})
    | "Every `rng` gives the same result: is a seed fixed inside? Then every epoch masks the same tokens.",
    generator_copied=seen({"numbers": "from a copy of rng"})
    | "A second call with the same `rng` gives the same result: it is copied, and the original never advances.",
)

exercise.advice(
    labels="Labels are the original ids where a token is chosen and -100 elsewhere; all other tokens stay as they are.",
    share="Counted over 380,013 words: a right function fails here by chance less than once in a million times.",
    kinds="Counted over about 100,000 chosen words: a right function fails here by chance less than once in a million "
    "times.",
    random="Every id from 0 to vocab_size - 1 is as probable as every other, also those of special tokens.",
    independent="Whether a token is chosen says nothing about any other. So the number of chosen tokens is random, "
    "too.",
)
exercise.hints(
    labels=(
        "First decide which tokens are chosen: `rng.random(ids.shape) < rate`, and not a special id (`np.isin`). Then "
        "decide what becomes of them, with a second draw.",
        "`labels = np.where(chosen, ids, -100)` before anything is replaced, and replace in a copy.",
    ),
    kinds="The second draw in three parts: below 0.8, from 0.8 to 0.9, above. Tokens in the third part stay as they "
    "are.",
)

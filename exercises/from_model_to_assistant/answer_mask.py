"""Lab 10b, exercise `answer_mask`."""

import numpy as np

from autograder.declare import Advice, Case, Exercise, edit
from exercises.drawing import one_of

exercise = Exercise("answer_mask", returns=("mask",))


@exercise.formula
def answer_mask(rows: np.ndarray, prompt_lengths: np.ndarray, end_id: int) -> np.ndarray:
    """1 where a token of the answer, or its end, is predicted. rows (B, T + 1), prompt_lengths (B,) -> (B, T)."""
    targets = rows[:, 1:]
    places = np.arange(targets.shape[1])
    behind_prompt = places >= prompt_lengths[:, None]
    ends = behind_prompt & (targets == end_id)
    ends_before = np.cumsum(ends, axis=1) - ends
    mask = behind_prompt & (ends_before < 1)
    return mask.astype("float64")


def _rows(rng, *lengths: tuple[int, int], padding: int = 2, turn: bool = False, is_cut: bool = False) -> dict:
    """Rows of END, prompt, answer, END and padding, for pairs of lengths of prompt and answer.

    Args:
        padding: how many ENDs the longest row has behind its own.
        turn: whether each prompt has an END inside, where an earlier turn ended.
        is_cut: whether the longest row has no END behind its answer, and no padding.
    """
    end_id = int(rng.integers(50, 60))
    width = 2 + max(map(sum, lengths)) + padding - is_cut
    rows = np.full((len(lengths), width), end_id, "int32")
    for row, (prompt, answer) in zip(rows, lengths, strict=True):
        row[1 : 1 + prompt + answer] = rng.integers(1, 50, size=prompt + answer)
        if turn:
            row[int(rng.integers(2, prompt))] = end_id
    order = rng.permutation(len(lengths))
    prompts = np.array([prompt for prompt, _ in lengths], "int32")
    return {"rows": rows[order], "prompt_lengths": prompts[order], "end_id": end_id}


def _case(inputs: dict, text: str = "") -> Case:
    return Case(inputs, f"rows {inputs['rows'].shape}{text}")


@exercise.group("the answer and its end, and nothing else", points=2)
def values(rng):
    """A row that the description shows; and an answer of no token: then the end alone counts."""
    one = _rows(rng, (2, 2))
    shown = ", ".join("END" if token == one["end_id"] else str(token) for token in one["rows"][0])
    yield Case(one, f"the row {shown} with a prompt of 2 tokens")
    yield _case(_rows(rng, (2, 3), (4, 2), (3, 1)))
    yield _case(_rows(rng, (3, one_of(rng, 4, 5)), (1, 2), (5, 0), (2, 1), padding=0), ", no padding in one of them")


@exercise.group("prompts with an END inside, and an answer that was cut off")
def edges(rng):
    yield _case(_rows(rng, (4, 3), (5, 1), (3, 2), turn=True), ", an earlier turn ends inside each prompt")
    yield _case(_rows(rng, (2, one_of(rng, 6, 7)), (3, 2), (4, 1), padding=0, is_cut=True), ", one answer has no END")


PLACES = "places >= prompt_lengths[:, None]"
ENDS = "behind_prompt & (targets == end_id)"
MASK = "behind_prompt & (ends_before < 1)"

exercise.mistakes(
    end_left_out=edit("ends_before < 1", "(ends_before < 1) & ~ends", see="10b#fine-tuning")
    | "The END of the answer is left out. It has the id of the padding, but it belongs to the answer: the first END "
    "behind the prompt should count." | "How many ENDs of a row are part of the answer?",
    padding_counted=edit(MASK, "behind_prompt")
    | "Padding counts. The answer is over with the first END behind the prompt."
    | "How many ENDs stand before a padding token, and how many before the answer's own END?",
    last_of_prompt=edit(PLACES, f"{PLACES} - 1")
    | "The last token of the prompt counts as well. Column t is for the prediction of `rows[:, t + 1]`, and END stands "
    "before the prompt." | "For a prompt of 2 tokens, the answer begins at `rows[:, 3]`. Which column predicts it?",
    first_left_out=edit(PLACES, f"{PLACES} + 1")
    | "The first token of the answer is left out. Column t is for the prediction of `rows[:, t + 1]`."
    | "For a prompt of 2 tokens, the answer begins at `rows[:, 3]`. Which column predicts it?",
    tokens_read=edit(("rows[:, 1:]", "rows[:, :-1]"), (PLACES, f"{PLACES} + 1"))
    | "The mask is one column late: it marks where the answer is read. It should mark where the answer is predicted, "
    "one token earlier." | "The token at the prompt's end is read. Which token is predicted there?",
    prompt_counted=edit(MASK, "np.cumsum(ends, axis=1) - ends < 1")
    | "The prompt counts as well. It is given, and should cost nothing.",
    inverted=edit(MASK, "~(behind_prompt & (ends_before < 1))")
    | "The mask is the wrong way round: 1 stands where nothing of the answer is predicted.",
    end_of_a_turn=edit(ENDS, "targets == end_id")
    | "An END inside the prompt is taken for the answer's. Only ENDs behind the prompt should count."
    | "Which columns does your code look at when it looks for END?",
    no_end_found=edit(MASK, f"{MASK} & (ends.any(axis=1, keepdims=True) | (places == prompt_lengths[:, None]))")
    | "Where an answer has no END, its first token alone counts: `argmax` of a row without True is 0. Such an answer "
    "should reach to the end of its row.",
    one_prompt_length=edit("prompt_lengths[:, None]", "prompt_lengths[0]")
    | "All rows are cut at the first row's prompt. Each prompt has its own length.",
    one_padding_counted=edit("ends_before < 1", "ends_before < 2")
    | "One END too many counts: the answer's own, and the padding behind it.",
)

exercise.advice(
    values=Advice(
        value="Write down one short row by hand: for each column the token that is predicted there, and whether it "
        "belongs to the answer or is its END.",
        shape="One column for each prediction: (B, T), one fewer than the row has tokens.",
    ),
    edges="Of ENDs only those behind the prompt matter. Where there is none, the answer reaches to the end of the row.",
)
exercise.hints(
    values=(
        "`targets = rows[:, 1:]` is what is predicted, column by column. Compare column numbers with the lengths.",
        "`np.cumsum(is_end, axis=1)` counts the ENDs up to and with each column. What does it count before the "
        "answer's END, at it, and behind it?",
    ),
    edges="A row without END: what does `argmax` say of a row in which nothing is True? A count of ENDs needs no "
    "special case.",
)

"""Lab 10, exercise `next_token_windows`."""

from collections.abc import Sequence

import numpy as np

from autograder.declare import Case, Exercise, edit, instead, seen

exercise = Exercise("next_token_windows", own_probe=True)


@exercise.formula
def next_token_windows(documents, end_id, length, starts):
    """Windows of one stream of all documents, each followed by the end, and the same windows one token later."""
    stream = np.concatenate([[*document, end_id] for document in documents])
    places = starts[:, None] + np.arange(length)
    return {"x": stream[places], "y": stream[places + 1]}


@exercise.formula_for("refusal")
def refused(documents: Sequence[Sequence[int]], end_id: int, length: int, starts: np.ndarray) -> dict[str, str]:
    """A window that reaches beyond the stream is refused."""
    return {"raised": "ValueError"}


def within_documents(documents, end_id, length, starts):
    """Windows that end with their document: what follows the first end is filled with it."""
    right = next_token_windows(documents, end_id, length, starts)
    return {name: np.where(np.cumsum(rows == end_id, axis=1) > 0, end_id, rows) for name, rows in right.items()}


def _inputs(rng, count: int, length: int, starts: Sequence[int] | None = None, after: int = 0) -> dict:
    """Short documents, so that windows cross their ends; the starts are drawn if none are given."""
    end_id = int(rng.integers(300, 400))
    documents = [rng.integers(end_id, size=int(size)).tolist() for size in 2 + rng.permutation(count)]
    last = sum(len(document) + 1 for document in documents) - length - 1
    drawn = rng.permutation(last)[:3] if starts is None else np.array(starts)
    return {
        "documents": documents,
        "end_id": end_id,
        "length": length,
        "starts": (drawn + after * last).astype("int64"),
    }


@exercise.group("y is x, one token later, over the ends of documents")
def values(rng):
    yield Case(_inputs(rng, 5, 7), "five documents, length=7, three starts")
    yield Case(_inputs(rng, 5, 3, starts=(0, 4, 2)), "five documents, length=3, three starts")


@exercise.group("the last start, and one beyond it")
def ends(rng):
    yield Case(_inputs(rng, 3, 5, starts=(0,), after=1), "the last start that there is")
    yield Case(_inputs(rng, 3, 5, starts=(1,), after=1), "a start that is one too large", mode="refusal")
    yield Case(
        _inputs(rng, 3, 5, starts=(1, 0), after=1),
        "a start that is one too large, and behind it one that is not",
        mode="refusal",
    )


exercise.mistakes(
    end_before_all=edit(
        "np.concatenate([[*document, end_id] for document in documents])",
        "np.concatenate([[end_id], *([*document, end_id] for document in documents)])",
    )
    | seen({"raised": "no error"})
    | "The row begins with an end, too. An end should follow each document, and none stand before the first.",
    y_is_x=edit("stream[places + 1]", "stream[places]", see="10#train")
    | "y is x itself: a model would learn to repeat what it reads. The target of a token is the next one."
    | "Write down x and y for the stream 5, 6, 7, 8 and length 3.",
    no_end=edit("[*document, end_id] for", "[*document] for", see="10#byte-pairs")
    | "The ends are missing: a model that never sees an end never ends."
    | "How long is the stream of three documents of 2, 3 and 4 tokens?",
    cut_at_documents=instead(within_documents)
    | "The windows stop at the end of a document. They should go on: the stream is one row."
    | "What stands in the stream after an end?",
    too_late_accepted=seen({"raised": "no error"})
    | "A start that is too large gives a row all the same. A slice beyond the end is only shorter: check the starts "
    "first." | "Where does the last target of a window stand? It must lie in the stream.",
    end_first=edit("[*document, end_id] for", "[end_id, *document] for")
    | "The end stands before each document. It should follow each one, the last one too.",
    exchanged=edit('{"x": stream[places], "y": stream[places + 1]}', '{"x": stream[places + 1], "y": stream[places]}')
    | "x and y are exchanged: y should hold what comes after x.",
)

exercise.advice(
    values="Make one row of all tokens first, with the end after each document. x and y are two slices of it.",
    ends="Does your row end with end_id, behind the last document, too? The last window has its last target there: "
    "start + length is the last position. A start beyond it is a ValueError.",
)
exercise.hints(
    values="`starts[:, None] + np.arange(length)` is a table of positions, (n, length). An array takes a table as its "
    "index.",
    ends=(
        "A window needs length + 1 tokens of the stream. At which start does the last one end exactly?",
        "Which id is the last one of your row? An end stands behind the last document, too.",
    ),
)

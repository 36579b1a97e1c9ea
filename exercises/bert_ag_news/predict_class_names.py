"""Lab 07, exercise `predict_class_names`."""

from collections.abc import Sequence

import numpy as np

from autograder.declare import Case, Exercise, edit, seen
from exercises.bert_ag_news.shared import SENTENCES

TOPICS = ("World", "Sports", "Business", "Sci/Tech")

OTHERS = ("art", "cooking", "gardens", "law", "maths", "music", "travel")


def _named(rng, names: Sequence[str], count: int) -> Case:
    """Texts of which each class but one has some, and two of which no class gets more than one half."""
    classes = len(names)
    first = rng.permutation(classes)
    top = np.array([first[0], first[1], first[1], first[2], first[0], *first[1 : max(2, classes - 1)]])[:count]
    rows = rng.uniform(0.05, 0.1, size=(len(top), classes))
    rows[np.arange(len(top)), top] = rng.uniform(2, 3, size=len(top))
    second = (top + 1 + rng.integers(classes - 1, size=len(top))) % classes
    for row in (0, 1):  # of two different classes, so that one of them is not the first
        rows[row, top[row]] = 0.45
        rows[row, second[row]] = 0.4
    rows /= rows.sum(axis=1, keepdims=True)
    for row in (0, 1):
        rows[row] = 0.9 * rows[row] + 0.1 / classes
    texts = [f"{sentence} {number}" for number, sentence in enumerate(rng.permutation(SENTENCES)[: len(top)])]
    inputs = {
        "texts": [str(text) for text in texts],
        "probabilities": rows.astype("float32"),
        "class_names": list(names),
    }
    return Case(inputs, f"{len(texts)} texts, {classes} classes")


exercise = Exercise("predict_class_names", own_probe=True, probe_only=("texts",))


@exercise.formula
def predict_class_names(probabilities: np.ndarray, class_names: Sequence[str]) -> dict[str, list[str] | str]:
    """The name of each text's most probable class, in the order of the texts. probabilities (n, classes)."""
    names = list(class_names)
    best = [int(np.argmax(row)) for row in probabilities]
    return {"names": [names[place] for place in best], "kind": "a list"}


@exercise.group("a name for each text, in their order", points=2)
def values(rng):
    names = [str(name) for name in rng.permutation(OTHERS)]
    return [_named(rng, TOPICS, 6), _named(rng, names, 11)]


@exercise.group("a single text", must_fail_for=("over_one_half",))
def one(rng):
    case = _named(rng, TOPICS, 6)
    places = {"texts": case.inputs["texts"][:1], "probabilities": case.inputs["probabilities"][:1]}
    return Case({**case.inputs, **places}, "a single text, 4 classes")


@exercise.group("no text at all", fixed="no texts have no names")
def none(rng):
    nothing = {"texts": [], "probabilities": np.zeros((0, 4), "float32"), "class_names": list(TOPICS)}
    return Case(nothing, "an empty list of texts")


exercise.mistakes(
    least_probable=edit("np.argmax(row)", "np.argmin(row)") | "You take the least probable class (`argmin`).",
    second_best=edit("np.argmax(row)", "np.argsort(row)[-2]") | "You take the second best class.",
    over_one_half=edit("np.argmax(row)", "np.argmax(row > 0.5)")
    | "You look for a probability above one half. With several classes the largest may be less.",
    counted_from_one=edit("names[place]", "names[place - 1]")
    | "Every name is the one before the right one: places are counted from 0, as the labels of `data.news` are. (In "
    "the files of AG News they are counted from 1.)",
    one_too_far=edit("names[place]", "names[(place + 1) % len(names)]")
    | "Every name is the one behind the right one: is 1 added to the place?",
    names_sorted=edit("list(class_names)", "sorted(class_names)")
    | "The names are those of another order: are the names sorted? `class_names[0]` belongs to the first column.",
    places_returned=edit(("names[place]", "str(place)"), ('"a list"', '"a list of numbers" if best else "a list"'))
    | "You return places, not names: `class_names[place]`.",
    only_the_first=edit("for place in best", "for place in best[:1]")
    | "There is one name, however many texts there are: `argmax` of row 0 only, or is the `return` in the loop?",
    order_reversed=edit("for place in best", "for place in best[::-1]") | "The names are in reverse order.",
    each_name_once=edit("[names[place] for place in best]", "list(dict.fromkeys(names[place] for place in best))")
    | "Each name occurs once only: a name for each text is asked for.",
    over_the_texts=edit(
        "[int(np.argmax(row)) for row in probabilities]",
        "[int(place) for place in np.argmax(probabilities, axis=0)] if len(probabilities) else []",
    )
    | edit("names[place]", "names[place % len(names)]")
    | "`argmax` runs over the texts: for each class, the text that fits best. It should run over the classes, axis 1.",
    array_returned=seen({"kind": "an array"}) | "The names are right, in a NumPy array; a list of str is asked for.",
    array_of_some=edit('"kind": "a list"', '"kind": "an array" if len(probabilities) else "a list"')
    | "The names are right, in a NumPy array; a list of str is asked for: `.tolist()`.",
    tuple_returned=seen({"kind": "a tuple"}) | "The names are right, in a tuple; a list is asked for.",
)

exercise.advice(
    values="`model.predict` gives a row of probabilities for each text, (n, classes). Where is its largest value?",
    none="Keras raises an error when there are no texts. The result for no texts is an empty list, `[]`.",
)
exercise.hints(
    values=(
        "`model.predict(texts)` wants the texts as an array or a tensor: `tf.constant(texts)`.",
        "`np.argmax(…, axis=-1)` gives one place for each text.",
        "A list comprehension turns places into names.",
    ),
    one="One text is a list of one: the result is a list too, and `predict` still gives two axes.",
)

"""Lab 06, exercise `linear_baseline`."""

import re
from collections.abc import Sequence

import numpy as np

from autograder.declare import Case, Exercise, edit
from exercises.imdb_classifier.shared import WORDS, pick


def _reviews(rng, words: list[str], count: int) -> list[str]:
    return [
        " ".join(words[int(place)] for place in rng.integers(len(words), size=int(rng.integers(4, 9))))
        for _ in range(count)
    ]


def _inputs(rng, count: int, tried: int, words: int = 9, known: Sequence[str] = WORDS) -> dict:
    """Training reviews whose labels depend on one word and on one pair of words, and reviews to judge."""
    chosen = pick(rng, known, words)
    train = _reviews(rng, chosen, count)
    labels = np.array([int(chosen[0] in text or f"{chosen[1]} {chosen[2]}" in text) for text in train])
    labels[:2] = 0, 1
    return {"train_texts": train, "train_labels": labels, "texts": _reviews(rng, chosen, tried)}


def _in_order(rng) -> dict:
    """Every review has the same four words; the label is the order of two of them."""
    first, second, *others = pick(rng, WORDS, 6)
    texts, labels = [], []
    for number in range(24):
        pair = [first, second] if number % 2 else [second, first]
        around = pick(rng, others, 2)
        texts.append(" ".join([around[0], *pair, around[1]]))
        labels.append(number % 2)
    return {
        "train_texts": texts,
        "train_labels": np.array(labels),
        "texts": [
            f"{others[0]} {second} {first} {others[1]}",
            f"{others[0]} {first} {second} {others[1]}",
            f"{first} {second} {second}",
        ],
    }


STOP_WORDS = ("not", "very", "this", "too", "only")

# What scikit-learn's solver leaves open (1e-4 at most in what was tried), ten times over.
exercise = Exercise("linear_baseline", own_probe=True, tolerance=0.002)


@exercise.formula
def linear_baseline(train_texts: Sequence[str], train_labels: np.ndarray, texts: Sequence[str]) -> np.ndarray:
    """Probabilities of class 1 from words and pairs: TF-IDF and logistic regression, with scikit-learn's defaults.

    Terms are words of two and more characters and neighbouring pairs; idf is ln((1 + n) / (1 + df)) + 1, rows have
    length 1; the weights minimise ½‖w‖² plus the sum of the log losses, with a bias that is not penalised. The minimum
    is found to the last digit by Newton's method, which scikit-learn does not use here.
    """
    train, new = [terms_of(text) for text in train_texts], [terms_of(text) for text in texts]
    seen = train
    place = {term: number for number, term in enumerate(sorted({term for terms in seen for term in terms}))}
    frequency = np.array([sum(term in terms for terms in seen) for term in place])
    idf = 1 + np.log((1 + len(seen)) / (1 + frequency))
    x, rows = weighed(train, place, idf), weighed(new, place, idf)
    weights = logistic(np.column_stack([x, np.ones(len(x))]), np.asarray(train_labels))
    scores = rows @ weights[:-1] + weights[-1]
    return 1 / (1 + np.exp(-scores))


def terms_of(text: str) -> list[str]:
    """Words of at least two characters, and pairs of neighbouring words."""
    words = re.findall(r"\b\w\w+\b", text.lower())
    return [" ".join(words[i : i + n]) for n in (1, 2) for i in range(len(words) - n + 1)]


def weighed(documents: Sequence[Sequence[str]], place: dict[str, int], idf: np.ndarray) -> np.ndarray:
    """TF-IDF rows of length 1 (n, terms); terms without a place are left out."""
    counts = np.zeros((len(documents), len(place)))
    for row, terms in zip(counts, documents, strict=True):
        for term in terms:
            if term in place:
                row[place[term]] += 1
    table = counts * idf
    lengths = np.linalg.norm(table, axis=1, keepdims=True)
    return table / np.where(lengths == 0, 1, lengths)


def logistic(x: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Weights that minimise ½‖w‖² + Σ log loss, the last one (of a column of ones) not penalised."""
    weights, penalty = np.zeros(x.shape[1]), np.append(np.ones(x.shape[1] - 1), 0.0)
    for _ in range(30):
        p = 1 / (1 + np.exp(-x @ weights))
        slope = x.T @ (p - labels) + penalty * weights
        step = np.linalg.solve((x.T * (p * (1 - p))) @ x + np.diag(penalty), slope)
        weights = weights - step
        if np.abs(step).max() < 1e-9:  # the error that is left is of the order of its square
            break
    return weights


exercise.group(
    "the probabilities that scikit-learn's defaults give",
    points=2,
    must_fail_for=("single_words_only", "pairs_only", "triples_too", "counts_alone", "fitted_on_all_texts"),
    values=lambda rng: [
        Case(_inputs(rng, 24, 7), "24 reviews to learn from, 7 to judge"),
        Case(_inputs(rng, 41, 11, words=13), "41 reviews to learn from, 11 to judge"),
        Case(_inputs(rng, 24, 7, known=(*STOP_WORDS, *WORDS[:4])), "24 reviews with words such as “not” and “very”"),
    ],
)
exercise.group(
    "reviews in which the order of two words decides",
    must_fail_for=("single_words_only",),
    order=lambda rng: Case(_in_order(rng), "24 reviews of the same words in two orders"),
)


@exercise.group("nothing is learned from the reviews to be judged", must_fail_for=("fitted_on_all_texts",))
def unseen(rng):
    inputs = _inputs(rng, 24, 5)
    strange = [str(word) for word in WORDS if not any(word in text.split() for text in inputs["train_texts"])]
    texts = [
        f"{inputs['texts'][0]} {strange[0]} {strange[1]}",
        f"{strange[2]} {strange[3]}",
        *(text.upper() for text in inputs["texts"][1:]),
    ]
    common = _inputs(rng, 24, 13)
    frequent = common["train_texts"][0].split()[0]
    common["texts"] = [f"{frequent} {frequent} {text}" for text in common["texts"]]
    return [
        Case({**inputs, "texts": texts}, "reviews with unknown words, one of them with no known word, and in capitals"),
        Case(common, "a word that stands in every review to be judged"),
    ]


PROBABILITY = "1 / (1 + np.exp(-scores))"
TERMS = "sorted({term for terms in seen for term in terms})"
ANEW = "1 + np.log((1 + len(new)) / (1 + np.array([sum(term in terms for terms in new) for term in place])))"

exercise.mistakes(
    fitted_on_all_texts=edit("seen = train", "seen = train + new")
    | "The TF-IDF has seen the reviews that are to be judged: its vocabulary, and how rare a word is, come from "
    "training reviews alone.",
    single_words_only=edit("for n in (1, 2)", "for n in (1,)")
    | "Your features have no pairs of words: the order of words changes nothing.",
    pairs_only=edit("for n in (1, 2)", "for n in (2,)")
    | "Your features are only pairs of words, no single words. Take both.",
    triples_too=edit("for n in (1, 2)", "for n in (1, 2, 3)")
    | "Triples of words are features, too; the exercise asks for words and pairs.",
    counts_alone=edit("table / np.where(lengths == 0, 1, lengths)", "counts")
    | "The features are plain counts. TF-IDF weighs rare words more, and gives all reviews the same length.",
    lecture_settings=edit(
        TERMS, TERMS.replace("for term in terms}", "for term in terms if sum(term in text for text in seen) > 1}")
    )
    | edit("table = counts * idf", "table = np.where(counts > 0, 1 + np.log(np.maximum(counts, 1)), 0) * idf")
    | edit("np.append(np.ones(x.shape[1] - 1), 0.0)", "np.full(x.shape[1], 0.1)")
    | "The settings are the lecture's (`min_df`, `sublinear_tf`, `C`, solver). Take defaults for all but the pairs.",
    other_penalty=edit("np.append(np.ones(x.shape[1] - 1), 0.0)", "np.append(np.full(x.shape[1] - 1, 0.1), 0.0)")
    | "The logistic regression has `C=10`. Leave it at its default, 1.",
    stop_words_left_out=edit(
        r're.findall(r"\b\w\w+\b", text.lower())',
        r'[word for word in re.findall(r"\b\w\w+\b", text.lower()) if word not in STOP_WORDS]',
    )
    | "Common words such as “not” and “very” are left out (`stop_words`). Defaults keep them."
    | "Which argument of the vectorizer did you set besides `ngram_range`?",
    sublinear=edit("table = counts * idf", "table = np.where(counts > 0, 1 + np.log(np.maximum(counts, 1)), 0) * idf")
    | "The counts are replaced by their logarithms (`sublinear_tf=True`), which is not the default.",
    fitted_anew=edit("weighed(new, place, idf)", f"weighed(new, place, {ANEW})")
    | "How rare a word is was counted anew in the reviews to be judged (`fit_transform`). Call `transform` there."
    | "Which calls see `texts`, and does one of them begin with `fit`?",
    negative_class=edit(PROBABILITY, "1 / (1 + np.exp(scores))")
    | "This is the probability of a negative review. In which column of `predict_proba` is class 1?",
    decisions=edit(PROBABILITY, "(scores > 0) * 1.0")
    | "These are decisions, 0 or 1. The exercise asks for probabilities: `predict_proba`.",
    scores=edit(PROBABILITY, "scores")
    | "These are scores that can be negative or above 1. The exercise asks for probabilities: `predict_proba`.",
)

exercise.advice(
    order="The words are the same in all reviews. A pair of neighbouring words is a feature of its own: `ngram_range`.",
    unseen="Both the vocabulary and the weights of the words come from the training reviews: `fit` for these, "
    "`transform` for the others.",
)
exercise.hints(
    values=(
        "Two objects of scikit-learn: a `TfidfVectorizer`, which makes a matrix of texts, and a `LogisticRegression`, "
        "which learns from it.",
        "`make_pipeline` joins the two, and then `fit` and `predict_proba` take texts. What are the two columns of "
        "`predict_proba`?",
    ),
    order="`ngram_range=(smallest, largest)` says how many words in a row make a feature.",
    unseen="Count the calls of `fit` and `fit_transform`: which texts does each of them see?",
)

"""Lab 06, exercise `linear_baseline`."""

import numpy as np

from autograder.declaring import Case, Exercise, wrong
from coursekit.generator import Generator
from exercises.formulas import imdb_classifier as oracles
from exercises.imdb_classifier.shared import WORDS, pick
from exercises.mistaken import imdb_classifier as mistaken


def _reviews(rng: Generator, words: list[str], count: int) -> list[str]:
    return [" ".join(words[int(place)] for place in rng.integers(len(words), size=int(rng.integers(4, 9)))) for _ in range(count)]


def _inputs(rng: Generator, count: int, tried: int, words: int = 9) -> dict:
    """Training reviews whose labels depend on one word and on one pair of words, and reviews to judge."""
    chosen = pick(rng, WORDS, words)
    train = _reviews(rng, chosen, count)
    labels = np.array([int(chosen[0] in text or f"{chosen[1]} {chosen[2]}" in text) for text in train])
    labels[:2] = 0, 1
    return {"train_texts": train, "train_labels": labels, "texts": _reviews(rng, chosen, tried)}


def _in_order(rng: Generator) -> dict:
    """Every review has the same four words; the label is the order of two of them."""
    first, second, *others = pick(rng, WORDS, 6)
    texts, labels = [], []
    for number in range(24):
        pair = [first, second] if number % 2 else [second, first]
        around = pick(rng, others, 2)
        texts.append(" ".join([around[0], *pair, around[1]]))
        labels.append(number % 2)
    return {"train_texts": texts, "train_labels": np.array(labels), "texts": [f"{others[0]} {second} {first} {others[1]}", f"{others[0]} {first} {second} {others[1]}", f"{first} {second} {second}"]}


# What scikit-learn's solver leaves open (1e-4 at most in what was tried), ten times over.
exercise = Exercise(
    "linear_baseline",
    oracle=oracles.linear_baseline,
    mistaken=mistaken.linear_baseline,
    tolerance=0.002,
    seeks_changes=False,
)


@exercise.group("the probabilities that scikit-learn's defaults give", points=2, must_fail_for=("single_words_only", "pairs_only", "triples_too", "counts_alone", "fitted_on_all_texts"))
def values(rng: Generator) -> list[Case]:
    return [Case(_inputs(rng, 24, 7), description="24 reviews to learn from, 7 to judge"), Case(_inputs(rng, 41, 11, words=13), description="41 reviews to learn from, 11 to judge")]


@exercise.group(
    "reviews in which the order of two words decides",
    points=1,
    advice="The words are the same in all reviews. A pair of neighbouring words is a feature of its own: `ngram_range`.",
    must_fail_for=("single_words_only",),
)
def order(rng: Generator) -> list[Case]:
    return [Case(_in_order(rng), description="24 reviews of the same words in two orders")]


@exercise.group(
    "nothing is learned from the reviews to be judged",
    points=1,
    advice="Both the vocabulary and the weights of the words come from the training reviews: `fit` for these, `transform` for the others.",
    must_fail_for=("fitted_on_all_texts",),
)
def unseen(rng: Generator) -> list[Case]:
    inputs = _inputs(rng, 24, 5)
    strange = [str(word) for word in WORDS if not any(word in text.split() for text in inputs["train_texts"])]
    texts = [f"{inputs['texts'][0]} {strange[0]} {strange[1]}", f"{strange[2]} {strange[3]}", *(text.upper() for text in inputs["texts"][1:])]
    common = _inputs(rng, 24, 13)
    frequent = common["train_texts"][0].split()[0]
    common["texts"] = [f"{frequent} {frequent} {text}" for text in common["texts"]]
    return [
        Case({**inputs, "texts": texts}, description="reviews with unknown words, one of them with no known word, and in capitals"),
        Case(common, description="a word that stands in every review to be judged"),
    ]


exercise.mistakes(
    fitted_on_all_texts=wrong("The TF-IDF has seen the reviews that are to be judged: its vocabulary, and how rare a word is, come from training reviews alone.", fitted="all"),
    single_words_only=wrong("Your features have no pairs of words: the order of words changes nothing.", sizes=(1,)),
    pairs_only=wrong("Your features are only pairs of words, no single words. Take both.", sizes=(2,)),
    triples_too=wrong("Triples of words are features, too; the exercise asks for words and pairs.", sizes=(1, 2, 3)),
    counts_alone=wrong("The features are plain counts. TF-IDF weighs rare words more, and gives all reviews the same length.", weighting="counts"),
    negative_class=wrong("This is the probability of a negative review. In which column of `predict_proba` is class 1?", result="negative"),
    decisions=wrong("These are decisions, 0 or 1. The exercise asks for probabilities: `predict_proba`.", result="decisions"),
    scores=wrong("These are scores that can be negative or above 1. The exercise asks for probabilities: `predict_proba`.", result="scores"),
)


exercise.hints(
    "Two objects of scikit-learn: a `TfidfVectorizer`, which makes a matrix of texts, and a `LogisticRegression`, which learns from it.",
    "`make_pipeline` joins the two, and then `fit` and `predict_proba` take texts. What are the two columns of `predict_proba`?",
)
exercise.hints("`ngram_range=(smallest, largest)` says how many words in a row make a feature.", group="order")
exercise.hints("Count the calls of `fit` and `fit_transform`: which texts does each of them see?", group="unseen")

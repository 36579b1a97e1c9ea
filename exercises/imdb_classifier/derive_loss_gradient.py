"""Lab 06, exercise `derive_loss_gradient`."""

from typing import Any

import numpy as np

from autograder.declare import Advice, Case, Exercise, edit
from exercises.drawing import by_hand, drawn_until, normal
from exercises.imdb_classifier.shared import padded, with_one_word

exercise = Exercise(
    "derive_loss_gradient",
    own_probe=True,
    returns=("by_logit", "by_token"),
    forbidden=("tensorflow.GradientTape", "tensorflow.gradients", "tensorflow.autodiff.ForwardAccumulator"),
)


@exercise.formula
def gradients(logits, labels, ids, head):
    """(σ(z) − y)/B, and from there to each word: its share of the mean, 1/words, times the head.

    z (B,), y (B,), ids (B, T), head (D,) -> (B,), (B, T, D).
    """
    by_logit = slope(logits, labels)
    is_word = ids != 0
    words = np.maximum(is_word.sum(axis=1, keepdims=True), 1)
    share = is_word / words
    reached = by_logit[:, None] * share
    return by_logit, reached[..., None] * head


@exercise.formula_for("logit")
def gradient_by_logit(logits: np.ndarray, labels: np.ndarray) -> dict[str, np.ndarray]:
    """The first of the two results alone."""
    return {"by_logit": slope(logits, labels)}


def slope(logits: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """(σ(z) − y)/B, with a sigmoid that cannot overflow."""
    p = (1 + np.tanh(logits / 2)) / 2
    error = p - labels
    return error / logits.size


def _inputs(rng, batch: int, length: int, width: int) -> dict[str, np.ndarray]:
    """Logits that differ clearly from each other and from the labels, which are of both classes."""

    def draw() -> dict[str, np.ndarray]:
        return {
            "logits": (1.5 * rng.normal(size=batch)).astype("float32"),
            "labels": rng.permutation(np.arange(batch) % 2).astype("int32"),
            "ids": padded(rng, batch, length),
            "head": normal(rng, width),
        }

    def is_clear(drawn: dict[str, np.ndarray]) -> bool:
        logits = np.abs(drawn["logits"])
        return bool((logits > 0.3).all() and (logits < 3).all())

    return drawn_until(is_clear, draw)


@exercise.group("the gradient by the logits", points=2)
def by_logit(rng):
    one_word = {"ids": np.array([[5]], "int32"), "head": [1]}
    yield by_hand("a probability of 0.5", logits=[0], labels=np.array([1], "int32"), **one_word, mode="logit")
    for sizes in ((5, 7, 3), (7, 5, 2)):
        yield Case(_inputs(rng, *sizes), f"{sizes[0]} reviews", mode="logit")


@exercise.group("the gradient by the tokens", points=2)
def by_token(rng):
    two_words: dict[str, Any] = {"labels": np.array([1], "int32"), "ids": np.array([[5, 6, 0]], "int32"), "head": [4]}
    yield by_hand("two words and padding", logits=[0], **two_words)
    behind, anywhere = _inputs(rng, 5, 7, 3), _inputs(rng, 3, 11, 2)
    behind["ids"] = with_one_word(rng, behind["ids"])
    anywhere["ids"] = rng.permuted(anywhere["ids"], axis=1)
    yield Case(behind, "five reviews of up to 7 tokens of width 3, padding at the end")
    yield Case(anywhere, "three reviews of up to 11 tokens of width 2, padding anywhere")


@exercise.group("logits up to 1000, and a review without words")
def extremes(rng):
    large, empty = _inputs(rng, 7, 5, 3), _inputs(rng, 5, 7, 2)
    sizes = np.array([1000, -1000, 700, -700, 90, -90, 1], "float32")
    large["logits"] = rng.permutation(sizes * (0.9 + 0.1 * rng.random(7)).astype("float32"))
    empty["ids"][int(rng.integers(5))] = 0
    yield Case(large, "seven reviews, logits from −1000 to 1000")
    yield Case(empty, "five reviews, one of them without words")


ERROR, SHARE = "error = p - labels", "share = is_word / words"
MEAN, BY_LOGIT = "error / logits.size", "by_logit = slope(logits, labels)"
WORDS = "np.maximum(is_word.sum(axis=1, keepdims=True), 1)"

exercise.mistakes(
    other_sign=edit(ERROR, "error = labels - p")
    | "The sign is the other one: this is the direction in which the loss *falls*. The gradient points to where it "
    "rises." | "With label 1, does the loss rise or fall when the logit grows?",
    not_averaged=edit(MEAN, "error")
    | "This is the gradient of the sum of the losses. The loss of a batch is their mean."
    | "One more factor, the same for all reviews.",
    by_probability=edit(ERROR, "error = (p - labels) / np.maximum(p * (1 - p), 1e-30)")
    | "This is the gradient by the probability p. By the logit there is one more factor: the derivative of σ."
    | "Multiply by σ'(z), written with p. What cancels?",
    squared_error=edit(ERROR, "error = (p - labels) * p * (1 - p)", see="06#cross-entropy")
    | "A factor p(1 − p), the derivative of σ, is left. It belongs to the gradient of a squared error; with "
    "cross-entropy it cancels." | "What is the derivative of −ln p by p, for label 1? Multiply it by p(1 − p).",
    no_sigmoid=edit("p = (1 + np.tanh(logits / 2)) / 2", "p = logits")
    | "The logits are used as if they were probabilities."
    | "Which function makes a probability of a logit?",
    padding_too=edit("is_word = ids != 0", "is_word = np.ones_like(ids, bool)", see="06#padding-leaks")
    | "Padding gets a gradient, as in a mean over all T tokens. The masked mean does not depend on padding."
    | "By which of the T tokens does the derivative of the masked mean vanish?",
    padding_reached=edit(SHARE, "share = np.ones(ids.shape) / words", see="06#padding-leaks")
    | "Padding gets as much as a word. The masked mean does not depend on padding, so its gradient there is 0.",
    head_forgotten=edit("reached[..., None] * head", "reached[..., None] * np.ones_like(head)")
    | "The last factor is missing: the logit is v · mean, so its derivative by the mean is v.",
    one_label_only=edit(ERROR, "error = labels * (p - labels)")
    | "Reviews with label 0 have no gradient. Their loss is −ln(1 − p), which is 0 only where p is."
    | "What is p(correct label) where the label is 0?",
    hard_decisions=edit(ERROR, "error = (p > 0.5) - labels")
    | "The prediction is rounded to 0 or 1. The gradient of −ln p has the probability itself."
    | "By how much does the loss fall when p(correct label) rises from 0.6 to 0.9?",
    divided_by_length=edit(SHARE, "share = is_word / ids.shape[1]")
    | "Each word's gradient is divided by T. The masked mean divides by something else."
    | "How many words does the review have?",
    not_shared=edit(SHARE, "share = is_word * 1.0")
    | "Each word gets the whole gradient of the mean, as in a sum. What does the mean divide by?",
    one_length=edit(SHARE, "share = is_word / is_word.sum(axis=1).mean()")
    | "All reviews share one number of words, the mean of the batch. Each review's mean divides by its own."
    | "Two reviews, of one word and of three: what does each of their means divide by?",
    words_of_the_batch=edit(SHARE, "share = is_word / is_word.sum()")
    | "The words of the whole batch are counted together. Each review's mean divides by its own number."
    | "Along which axis do you sum the mask?",
    empty_nan=edit(WORDS, "is_word.sum(axis=1, keepdims=True)")
    | "A review without words is 0/0. Divide by at least 1, as in `masked_mean`.",
    empty_without_error=edit(BY_LOGIT, "by_logit = slope(logits, labels) * (ids != 0).any(axis=1)")
    | "A review without words gets no gradient by its logit. The logit is c there, and its loss falls as for others."
    | "Which of the two gradients is zero when a review has no words, and does c learn from such a review?",
    empty_not_counted=edit(BY_LOGIT, "by_logit = slope(logits, labels) * logits.size / (ids != 0).any(axis=1).sum()")
    | "A review without words is not counted: the loss is the mean over all B reviews.",
    batch_forgotten=edit("reached = by_logit[:, None] * share", "reached = by_logit[:, None] * share * logits.size")
    | "The gradient by the logits is divided by B, that by the tokens is not. It contains the first as a factor.",
    averaged_twice=edit("reached = by_logit[:, None] * share", "reached = by_logit[:, None] * share / logits.size")
    | "The gradient by the tokens is divided by the batch twice: the gradient by the logits has that factor already.",
    logit_alone=edit("reached = by_logit[:, None] * share", "reached = share")
    | "This is the derivative of the logit by the tokens. For that of the loss a factor is missing in front."
    | "The chain rule starts with the loss by the logit.",
)

exercise.advice(
    by_logit=Advice(
        value="Take one review with label 1 first: −ln σ(z), as a function of z. Its derivative has a short form. Then "
        "label 0, and then the mean over the batch."
    ),
    by_token=Advice(
        value="The chain rule has three factors: the loss by the logit, the logit by the mean, the mean by one token. "
        "The last one differs from review to review."
    ),
    extremes=Advice(
        nan="e^1000 is no number any more, and neither is ∞/∞ or 0/0. `ops.sigmoid` does not overflow; and a review "
        "without words has 0 words to divide by.",
        value="The sigmoid of ±1000 is 1 or 0. A review without words has a zero gradient by all its tokens.",
    ),
)
exercise.hints(
    by_logit=(
        "σ'(z) = σ(z)(1 − σ(z)). Write the loss of one review with both labels in one line: −y ln p − (1 − y) ln(1 − "
        "p).",
        "Differentiate by p, then multiply by the derivative of p by z, and simplify before you write code.",
    ),
    by_token=(
        "m is the sum of the words' vectors, divided by their number. What is the derivative of m by one of them, and "
        "what is it by padding?",
        "Axes: the gradient by the logits is (B,), the mask (B, T), v is (D,), the result (B, T, D).",
    ),
    extremes="`np.maximum(count, 1)` for the number of words, as in `masked_mean`.",
)
exercise.worked = (
    "Take one review. Its logit is z = v · m + c, where m is the mean of its words, and p = σ(z). Its loss is −y "
    "ln p − (1 − y) ln(1 − p).\n"
    "The derivative of the loss by p is −y/p + (1 − y)/(1 − p) = (p − y)/(p(1 − p)).\n"
    "The derivative of p by z is σ'(z) = p(1 − p). In the product p(1 − p) cancels: the loss of one review has "
    "the derivative p − y by its logit.\n"
    "The loss of the batch is the mean over B reviews, so the first result is (p − y)/B. It sums to 0 if the mean "
    "probability is the share of label 1.\n"
    "The derivative of z by m is v. The mean divides the sum of the words by their number n, so the derivative of "
    "m by a word is 1/n, and by padding 0.\n"
    "The product of the three factors is (p − y)/B · v/n for each word. The tokens do not occur in it, so you do "
    "not need them.\n"
    "A review without words has m = 0 whatever its tokens are: its second result is 0, and its first is (p − y)/B "
    "as before."
)

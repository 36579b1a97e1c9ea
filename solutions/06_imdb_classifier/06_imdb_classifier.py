# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#     text_representation:
#       extension: .py
#       format_name: percent
#       format_version: '1.3'
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown] nbgrader={"grade": false, "grade_id": "introduction", "locked": true, "schema_version": 3, "solution": false, "task": false}
# # Lab 06 · A classifier for film reviews
#
# You build a Transformer that says whether the writer of a review liked the film: from ids, through embeddings, an encoder block and a mean, to a trained model. You derive the gradient that trains it, and
# measure whether one recipe is better than another.
#
# **Before you start:** read [lecture 06](../../lectures/06_imdb_classifier.ipynb): this lab begins where its class
# `PlainReviewClassifier` ends. For exercise 6 read
# [lecture 06b](../../lectures/06b_judging_a_classifier.ipynb), sections 2 and 3. **Time:** about 100 minutes.
#
# **How a lab works.** Replace the line `raise NotImplementedError`, run your cell, then run the check below it. It says what differs first, and which mistake it looks like; after the second failed attempt it adds hints. Your mark comes from the same tests on inputs that you have not seen.
#
# **Letters.** B batch, T tokens (`max_length` of them), D width of a token (`d_model`), H heads, F width inside the
# feed-forward network (`d_ff`), V size of the vocabulary. Id 0 is padding, id 1 is `[UNK]`, a word that the vocabulary does
# not know.
#
# | exercise | what you write | points | difficulty | minutes |
# |---|---|---|---|---|
# | 1 | `build_vocabulary` (optional) | 0 | ●●○○○ | 10 |
# | 1 | `vectorize` (optional) | 0 | ●●○○○ | 10 |
# | 2 | `masked_mean` | 4 | ●●○○○ | 10 |
# | 2 | `find_the_bug` | 3 | ●○○○○ | 5 |
# | 3 | `build_classifier` | 10 | ●●●●○ | 25 |
# | 4 | `derive_loss_gradient` | 9 | ●●○○○ | 10 |
# | 5 | `train_classifier` | 6 | ●●●○○ | 15 |
# | 6 | `predict` | 2 | ●○○○○ | 5 |
# | 6 | `measure_difference` | 9 | ●●○○○ | 10 |
# | 7 | `answers`, by hand | 1 | ●○○○○ | 5 |
# | 8 | `standardize` (optional) | 0 | ●●○○○ | 10 |
# | 8 | `evaluate_predictions` (optional) | 0 | ●●●○○ | 15 |
# | 8 | `linear_baseline` (optional) | 0 | ●○○○○ | 5 |
#
# Optional exercises earn no points, and their minutes are not in the total, which counts reading and given cells as well.
#
# Times and difficulties are estimates, not measurements.

# %% nbgrader={"grade": false, "grade_id": "setup", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["course-setup"]
# Colab: install the course's helper package. Anywhere else this cell does nothing.
import sys

if "google.colab" in sys.modules:
    print("Installing the course's helper package …")
    # %pip install --quiet --no-deps transformers-coursekit==0.1.0

# %% nbgrader={"grade": false, "grade_id": "imports", "locked": true, "schema_version": 3, "solution": false, "task": false}
print("Loading TensorFlow, which takes about ten seconds …")

import re
import string
from collections import Counter

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from coursekit import data, diagrams, plots, quiet, start_lab

quiet.start_tensorflow()  # keeps its start-up messages out of the notebook

import keras
import matplotlib.pyplot as plt
import numpy as np
import tensorflow as tf
from keras import ops

from coursekit.pages.review_classifier import PlainReviewClassifier  # the lecture's class

plots.use_course_style()

check = start_lab("06_imdb_classifier")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-2", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 1 · Text to ids (optional)
#
# No points: go on to “See the texts” if you like. The vocabulary decides what the model can know: every word that is not in it becomes `[UNK]`.
#
# The texts have one form already: lower case, words with one space between them. Return a list: `""` for padding, `"[UNK]"` for
# unknown words, then the words, the most frequent first. Words that occur equally often are in the alphabetical order of `sorted`.
# The list has at most `max_tokens` entries **in all**, even when `max_tokens` is 0 (an empty list) or 1.
#
# **Example:** `build_vocabulary(["the fox is quick", "the lazy dog"], 5)` is `["", "[UNK]", "the", "dog", "fox"]`.
#
# Build it from training texts only.

# %% nbgrader={"grade": false, "grade_id": "build_vocabulary-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def build_vocabulary(texts, max_tokens):
    """List the entries of a vocabulary; a word's place in the list is its id.

    Args:
        texts: standardised texts, a list of str.
        max_tokens: the largest number of entries, the two special ones included.

    Returns:
        A list of str: "", "[UNK]", then words by falling count, ties in alphabetical order.
    """
    ### BEGIN SOLUTION
    counts = Counter(word for text in texts for word in text.split())
    by_count = sorted(counts, key=lambda word: (-counts[word], word))
    return ["", "[UNK]", *by_count][:max_tokens]
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "build_vocabulary", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("build_vocabulary")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-3", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### Each word becomes a number
#
# Each word of a text becomes its place in the vocabulary, or 1. A text longer than `max_length` keeps its **first**
# `max_length` words; a shorter one is filled up with 0 **at the end**. (`keras.utils.pad_sequences` does both at the front by
# default.) A vocabulary may hold nothing but its two
# special entries: then every word is 1.
#
# **Example:** with the vocabulary above, `vectorize(["the quick fox", "dog"], vocabulary, 4)` is `[[2, 1, 4, 0], [3, 0, 0, 0]]`.

# %% nbgrader={"grade": false, "grade_id": "vectorize-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def vectorize(texts, vocabulary, max_length):
    """Turn texts into rows of ids.

    Args:
        texts: n standardised texts, a list of str.
        vocabulary: list of entries; the first two are for padding and unknown words.
        max_length: number of ids in a row, T.

    Returns:
        Whole numbers, (n, T).
    """
    ### BEGIN SOLUTION
    place = {word: number for number, word in enumerate(vocabulary)}
    ids = np.zeros((len(texts), max_length), dtype="int32")  # (n, T)
    for row, text in zip(ids, texts, strict=True):
        known = [place.get(word, 1) for word in text.split()[:max_length]]
        row[: len(known)] = known
    return ids
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "vectorize", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("vectorize")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-3b", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### See the texts
#
# The next cell makes the vocabulary and the ids with Keras's `TextVectorization`, which does what the two functions of this section do. The reviews are
# the course's sample, made by a grammar in which the order of the words decides; set the environment variable `COURSE_SOURCE` to
# `real` for IMDB. Before you run the cell: what does a cut cost that is too early, or too late?
# <details><summary>Answer</summary>Last words; or time for padding. A cut at 64 takes no word from the sample.</details>

# %% nbgrader={"grade": false, "grade_id": "lengths", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
def plain(text):
    """Lower case, and nothing but words with one space between them."""
    return " ".join(re.findall(r"[\w']+", text.lower()))


SOURCE = data.chosen_source()
(train_texts, train_labels), (test_texts, test_labels) = data.reviews(source=SOURCE)
train_texts, test_texts = ([plain(text) for text in texts] for texts in (train_texts, test_texts))
held = len(train_texts) // 5  # the first fifth will decide when to stop; the vocabulary is made without it
lengths = np.array([len(text.split()) for text in train_texts])
MAX_LENGTH = 64 if SOURCE == "sample" else 200
to_ids = keras.layers.TextVectorization(20_000, standardize=None, output_sequence_length=MAX_LENGTH)
to_ids.adapt(train_texts[held:])
vocabulary = [str(word) for word in to_ids.get_vocabulary()]


def plain_ids(texts):
    """Texts as rows of ids, (n, T)."""
    return np.asarray(to_ids(tf.constant(texts)), "int32")


print(f"{len(vocabulary):,} entries; the first: {vocabulary[:8]}")
print(f"{np.mean(lengths > MAX_LENGTH):.0%} of the reviews are longer than {MAX_LENGTH} words")
figure, ax = plt.subplots(figsize=(6.5, 3))
ax.hist(np.minimum(lengths, 4 * MAX_LENGTH), bins=40, color=diagrams.PALETTE["query"])
ax.axvline(MAX_LENGTH, color=diagrams.PALETTE["accent"], linestyle="--", label=f"cut at {MAX_LENGTH}")
ax.set(xlabel="words in a review", ylabel="reviews")
ax.legend()
plots.show(figure, alt="A histogram of the lengths of the training reviews, with a dashed line where they are cut.")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-4", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 2 · A mean that leaves padding out
#
# One vector for a whole review. With padding in the mean, a short review is mostly padding.
#
# For each row, return the mean of the vectors x[b, t] whose id is **not** 0. A row that is all padding gives the zero vector,
# not NaN. Padding may stand anywhere. `[UNK]` is a word. The result has the float type of x.
#
# Write it with `keras.ops`: your function becomes part of a model that starts at `keras.Input`, where neither NumPy nor `tf.…`
# works.
#
# **By hand:** ids (7, 4, 0), vectors (2, 0), (4, 6), (9, 9). <details><summary>Answer</summary>(3, 3): the third vector belongs to padding,
# whatever it holds. The mean of all three would be (5, 5).</details>

# %% nbgrader={"grade": false, "grade_id": "masked_mean-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def masked_mean(x, ids):
    """Mean of the tokens of each row, padding left out.

    Args:
        x: tokens, (B, T, D), an array or a tensor.
        ids: their ids, (B, T); 0 is padding.

    Returns:
        (B, D), in the float type of x; 0 for a row without words.
    """
    ### BEGIN SOLUTION
    x = ops.convert_to_tensor(x)
    is_word = ops.cast(ops.not_equal(ids, 0), x.dtype)[..., None]  # (B, T, 1)
    words_in_row = ops.maximum(ops.sum(is_word, axis=1), 1)  # (B, 1)
    return ops.sum(x * is_word, axis=1) / words_in_row  # (B, D)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "masked_mean", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("masked_mean")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-bug", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### Find the bug
#
# A colleague has written `masked_mean` as well. Her function runs in a graph, leaves padding out, and with one review at a
# time it agrees with yours.
#
# Delete the line `raise NotImplementedError`, find out for which inputs her code is wrong, and fix it. It is graded like `masked_mean`, all or nothing, and the check names no mistake.

# %% nbgrader={"grade": false, "grade_id": "find_the_bug-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def find_the_bug(x, ids):
    """The mean of `masked_mean`: arguments and result are the same."""
    ### BEGIN SOLUTION
    x = ops.convert_to_tensor(x)
    is_word = ops.cast(ops.not_equal(ids, 0), x.dtype)  # (B, T)
    length = ops.maximum(ops.sum(is_word, axis=1, keepdims=True), 1)  # (B, 1)
    return ops.einsum("btd,bt->bd", x, is_word) / length
    ### END SOLUTION
    # This runs, and is wrong.
    x = ops.convert_to_tensor(x)
    is_word = ops.cast(ops.not_equal(ids, 0), x.dtype)
    length = ops.maximum(ops.mean(ops.sum(is_word, axis=1)), 1)
    return ops.einsum("btd,bt->bd", x, is_word) / length


# %% nbgrader={"grade": true, "grade_id": "find_the_bug", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("find_the_bug")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-5", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 3 · The classifier
#
# The lecture's `PlainReviewClassifier` has 20,000 words and F = D. Yours takes any V and F.
#
# | part | what it is | parameters for (200, 20,000, 32, 2, 32) |
# |---|---|---|
# | words | `Embedding`, V rows of width D | 640,000 |
# | positions | learned, an `Embedding` with T rows of width D, added to the words | 6,400 |
# | attention | `keras.layers.MultiHeadAttention`, H heads, **`key_dim=d_model`** | 8,416 |
# | feed-forward | Dense F with ReLU, Dense D | 2,112 |
# | two layer norms | after the attention and after the feed-forward network, each applied to the sum of that part's input and output | 128 |
# | pooling | your `masked_mean` | 0 |
# | head | Dense 20 with ReLU, Dense 1 with sigmoid | 660 + 21 |
# | | | **657,737** |
#
# - The input is ids (B, T), whole numbers; the output is the probability of a positive review, (B, 1).
# - **Padding changes nothing.** No word attends to padding, and the mean leaves it out. A review that is all padding
#   gives a finite number.
# - The check finds your weights by their shapes, puts its own numbers in, and compares probabilities.
# - Dropout is up to you, as long as `model(ids)` drops nothing. So are constant factors before the two vectors that are added. The model need not be compiled.
# - The check has 30 seconds of computing on a CPU.
# - A subclass of `keras.Model` is as right as layers connected directly.

# %% nbgrader={"grade": false, "grade_id": "build_classifier-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def build_classifier(max_length=200, vocab_size=20_000, d_model=32, num_heads=2, d_ff=32):
    """A small Transformer encoder that classifies texts.

    Args:
        max_length: number of ids in a row, T.
        vocab_size: number of entries of the vocabulary, V.
        d_model: width of a token, D.
        num_heads: number of heads, H, each of width D.
        d_ff: width of the feed-forward network's hidden layer, F.

    Returns:
        A keras.Model: ids (B, T) -> probabilities (B, 1).
    """
    ids = keras.Input((max_length,), dtype="int32")  # (B, T)
    places = ops.cumsum(ops.ones_like(ids), axis=1) - 1  # (B, T): 0, 1, 2, … in every row
    ### BEGIN SOLUTION
    word_vectors = keras.layers.Embedding(vocab_size, d_model, name="words")(ids)
    tokens = word_vectors + keras.layers.Embedding(max_length, d_model, name="positions")(places)  # (B, T, D)

    may_attend = ops.expand_dims(ops.not_equal(ids, 0), axis=1)  # (B, 1, T): every query sees the words
    attention = keras.layers.MultiHeadAttention(num_heads, key_dim=d_model, name="attention")
    heard = attention(query=tokens, value=tokens, attention_mask=may_attend)
    tokens = keras.layers.LayerNormalization(epsilon=1e-6, name="norm1")(tokens + heard)

    inner = keras.layers.Dense(d_ff, activation="relu", name="inner")(tokens)  # (B, T, F)
    changed = keras.layers.Dense(d_model, name="outer")(inner)  # (B, T, D)
    tokens = keras.layers.LayerNormalization(epsilon=1e-6, name="norm2")(tokens + changed)

    review = masked_mean(tokens, ids)  # (B, D)
    hidden = keras.layers.Dense(20, activation="relu", name="hidden")(review)
    return keras.Model(ids, keras.layers.Dense(1, activation="sigmoid", name="probability")(hidden))
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "build_classifier", "locked": true, "points": 10, "schema_version": 3, "solution": false, "task": false}
check("build_classifier")

# %% nbgrader={"grade": false, "grade_id": "lecture", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
lecture = PlainReviewClassifier()
lecture(np.zeros((1, 200), "int32"))  # now it has weights
print(f"parameters: yours {build_classifier().count_params():,}, the lecture's {lecture.count_params():,}")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-pasted", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### Your own layers (ungraded)
#
# Paste `EncoderBlock` of lab 04 and `TokenAndPositionEmbedding` of lab 05 into a new cell above the next one, which says whether
# they work in this classifier. The block's `key_dim` is D/H and not D: by how much does the number of parameters fall?
# <details><summary>Answer</summary>By 3·(32·32 + 32) + 32·32 = 4,192.</details>

# %% nbgrader={"grade": false, "grade_id": "pasted", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
missing = {"EncoderBlock", "TokenAndPositionEmbedding"} - set(globals())
if missing:
    print(f"Nothing to try: {' and '.join(sorted(missing))} not pasted.")
else:
    ids = keras.Input((200,), dtype="int32")  # (B, T)
    tokens = TokenAndPositionEmbedding(200, 20_000, 32)(ids)  # noqa: F821  # (B, T, D)
    block = EncoderBlock(32, 2, 32)  # noqa: F821
    mean = masked_mean(block(tokens, ops.expand_dims(ops.not_equal(ids, 0), axis=1)), ids)  # (B, D)
    hidden = keras.layers.Dense(20, activation="relu")(mean)
    own = keras.Model(ids, keras.layers.Dense(1, activation="sigmoid")(hidden))
    row = np.zeros((1, 200), "int32")
    row[0, :5] = 11, 7, 5, 3, 2
    before = own.predict(row, verbose=0)
    table = max(own.weights, key=lambda each: each.shape[0])  # of the words
    table.assign(np.concatenate([np.asarray(table)[:1] + 1, np.asarray(table)[1:]]))  # another vector for padding
    moved = np.abs(own.predict(row, verbose=0) - before).max()
    print(f"{own.count_params():,} parameters; padding moves the answer by {moved:.1g}")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-derive", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 4 · Derive: the gradient that reaches a word
#
# Training moves each number against the gradient of the loss. How much of it reaches one word of a review?
#
# Shorten the end of the classifier: one dense unit reads the masked mean $m_b$ of review $b$, so its logit is
# $z_b = v \cdot m_b + c$, and the probability of a positive review is $p_b = \sigma(z_b)$. The loss is the mean over the B
# reviews of $-\ln p(\text{correct label})$. Derive, on paper, its gradient
#
# 1. by the logits, $\partial L/\partial z_b$, (B,),
# 2. by the tokens that go into the mean, $\partial L/\partial x_{bt}$, (B, T, D).
#
# You are given the logits, the labels, the ids and $v$. Why do you not need the tokens themselves?
#
# - Padding is id 0, and may stand anywhere. A review without words has a zero gradient by all its tokens.
# - Logits go up to ±1000, and every result is a finite number.
# - Automatic gradients (`tf.GradientTape`, `tf.gradients`, `tf.autodiff.ForwardAccumulator`) are forbidden in this function. The cell below compares your result with the tape's.
#
# **By hand:** logits 0 and 0, labels 1 and 0, ids (5, 6) and (7, 0), v = (4).
# <details><summary>Answer</summary>By the logits −¼ and ¼. By the tokens −½ and −½ in the first review, 1 and 0 in the second.</details>

# %% nbgrader={"grade": false, "grade_id": "derive_loss_gradient-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def derive_loss_gradient(logits, labels, ids, head):
    """The gradient of the mean cross-entropy of a batch, by its logits and by its tokens.

    Args:
        logits: (B,), float.
        labels: 0 or 1, (B,).
        ids: (B, T); 0 is padding.
        head: v, (D,): the logit of a review is v · (mean of its words) + c.

    Returns:
        The tuple (by_logit, by_token), (B,) and (B, T, D).
    """
    ### BEGIN SOLUTION
    by_logit = (np.asarray(ops.sigmoid(logits)) - labels) / len(labels)  # (B,)
    is_word = ids != 0  # (B, T)
    share = is_word / np.maximum(is_word.sum(axis=1, keepdims=True), 1)  # (B, T)
    return by_logit, (by_logit[:, None] * share)[..., None] * head
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "derive_loss_gradient", "locked": true, "points": 9, "schema_version": 3, "solution": false, "task": false}
check("derive_loss_gradient")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-reached", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### See what reaches a word
#
# Tokens at random in place of trained ones, for 200 reviews of the sample. Each point is a review: how long its gradient by one word
# is. Before you run the cell: is a word of a short review moved more or less than one of a long review, and what spreads the points
# of equal length?
# <details><summary>Answer</summary>More: its share is 1/n. Points of equal length differ by their error p − y.</details>

# %% nbgrader={"grade": false, "grade_id": "reached", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
rng = np.random.default_rng(6)
some, labels = plain_ids(train_texts[:200]), np.asarray(train_labels[:200])
x, head = tf.constant(rng.normal(size=(*some.shape, 8))), rng.normal(size=8)  # (B, T, D), (D,)
with tf.GradientTape() as tape:
    tape.watch(x)
    logits = tf.linalg.matvec(masked_mean(x, some), head)  # (B,)
    loss = keras.losses.BinaryCrossentropy(from_logits=True)(labels[:, None], logits[:, None])
_, by_token = derive_loss_gradient(logits.numpy(), labels, some, head)
print(f"yours minus the tape's: {np.abs(by_token - tape.gradient(loss, x)).max():.1g} at most")
figure, ax = plt.subplots(figsize=(6, 2.6))
error = np.abs(1 / (1 + np.exp(-logits.numpy())) - labels)  # (B,): from 0, right and sure, to 1, wrong and sure
points = ax.scatter((some != 0).sum(axis=1), np.linalg.norm(by_token[:, 0], axis=-1), s=12, c=error, cmap="viridis")
figure.colorbar(points, label="error |p − label|")
ax.set(xlabel="words in the review", ylabel="gradient by one word", ylim=(0, None))
plots.show(figure, alt="The gradient by one word falls with the number of words, and grows with the error of the prediction.")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-6", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 5 · Training
#
# When to stop, and which weights to keep, a second set of reviews decides.
#
# Compile the model you are given with Adam, binary cross-entropy and the metric `"accuracy"`. Train it on `x` and `y` in
# small batches, such as 32 reviews, and allow at least 20 epochs. After each epoch look at the `validation` reviews. **Stop** when the validation loss has not
# fallen for a few epochs (at most ten), and leave the model with the weights of the epoch whose validation loss was **lowest**, which is
# seldom the last. Return what `fit` returns, the `History`.
#
# - The validation reviews only decide when to stop. An honest accuracy comes from test reviews, which this function never sees.
# - The model learns in place. The check brings a small model of its own, not compiled, so that a mistake in exercise 3 costs
#   nothing here.
# - The check trains twice, first on 512 short reviews in which single words decide: at least **90 %** of 500 others have to be
#   classified correctly afterwards. The second time the validation labels are inverted, so that the validation loss only gets
#   worse: you should stop soon, with the weights of an early epoch. Both have 40 seconds of computing on a CPU.
#
# <details><summary>The validation loss stays level for some epochs before it falls?</summary>In the sample the order of the words decides, which a model sees late. A patience of two epochs stops on the way.</details>

# %% nbgrader={"grade": false, "grade_id": "train_classifier-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def train_classifier(model, x, y, validation):
    """Train a classifier, stop in time, and leave it with the weights of its best epoch.

    Args:
        model: a keras.Model, not compiled: ids (B, T) -> probabilities (B, 1).
        x: ids of the training reviews, (n, T).
        y: their labels, 0 or 1, (n,).
        validation: the pair (x_val, y_val) that decides when to stop.

    Returns:
        The History of the training.
    """
    ### BEGIN SOLUTION
    model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="binary_crossentropy", metrics=["accuracy"])
    stop = keras.callbacks.EarlyStopping(monitor="val_loss", patience=4, restore_best_weights=True)
    return model.fit(x, y, validation_data=validation, batch_size=32, epochs=20, callbacks=[stop], verbose=0)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "train_classifier", "locked": true, "points": 6, "schema_version": 3, "solution": false, "task": false}
check("train_classifier")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-6b", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### See your classifier learn
#
# The sample takes about half a minute on two cores; with `COURSE_SOURCE=real` use a GPU, or the first 5,000 reviews. Will the validation loss be lowest in the last epoch, or in an earlier one?
# <details><summary>In our run</summary>In epoch 9 of 13.</details>

# %% nbgrader={"grade": false, "grade_id": "training", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
keras.utils.set_random_seed(6)
x = plain_ids(train_texts)  # (n, T)
y = np.asarray(train_labels)  # (n,)
classifier = build_classifier(MAX_LENGTH, len(vocabulary))
history = train_classifier(classifier, x[held:], y[held:], (x[:held], y[:held]))
curves = getattr(history, "history", history)
print(f"{len(curves['loss'])} epochs, the lowest validation loss in epoch {np.argmin(curves['val_loss']) + 1}")
ax = plots.training_history({"your classifier": curves})
ax.axhline(np.log(2), color=diagrams.PALETTE["residual"], linestyle=":")
plots.show(ax.figure, alt="Loss by epoch: a full line for the training reviews, a dashed one for validation, a dotted one for a guess.")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-7b", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### See what it gets wrong
#
# The test reviews, for the first time. More than **90 %** of the sample's should be right. Will their accuracy be above that of the validation reviews, or below?
# <details><summary>In our run</summary>Alike: 99.7 % of the test reviews, 99.8 % of the validation reviews.</details>

# %% nbgrader={"grade": false, "grade_id": "errors", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
x_test, y_test = plain_ids(test_texts), np.asarray(test_labels)  # (n, T), (n,)
probabilities = classifier.predict(x_test, verbose=0)[:, 0]  # (n,)
correct = (probabilities >= 0.5) == (y_test == 1)  # (n,)
decided = (classifier.predict(x[:held], verbose=0)[:, 0] >= 0.5) == (y[:held] == 1)
print(f"classified correctly: {decided.mean():.1%} of the validation reviews, {correct.mean():.1%} of the test reviews")
kinds = ["negative", "positive"]
wrong = np.flatnonzero(~correct)
for index in wrong[np.argsort(-np.abs(probabilities - 0.5)[wrong])][:3]:
    print(f"{kinds[y_test[index]]}, said {probabilities[index]:.2f}: {test_texts[index][:200]}")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-7c", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### Does it read, or does it count words?
#
# The same reviews with their words in random order, which counting does not notice. How far will the accuracy fall?
# <details><summary>In our run</summary>To 72.5 %: it reads the order, and counts words as well.</details>

# %% nbgrader={"grade": false, "grade_id": "shuffled", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
rng = np.random.default_rng(6)
shuffled = [" ".join(rng.permutation(text.split())) for text in test_texts]
again = classifier.predict(plain_ids(shuffled), verbose=0)[:, 0]  # (n,)
for name, said in (("as written", probabilities), ("shuffled", again)):
    print(f"{name:10} {np.mean((said >= 0.5) == (y_test == 1)):.1%}")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-guess", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 6 · Measure: is one recipe better?
#
# A model is right in a share of many reviews. With other reviews this share would differ a little. How large is the **standard deviation** of
# an accuracy, in **percentage points**?
#
# Guess first, for a model that is right in 90 %, and **256** reviews: put a number in place of `None`, delete the last line of the cell, and run
# both cells. The second one draws 256 of 1,000 reviews with replacement, 900 of them classified correctly, and does so 2,000 times (the
# bootstrap). A guess earns no points.
#
# **By hand:** a coin counts 1 or 0. What is the variance of one throw, and of the mean of four?
# <details><summary>Answer</summary>¼, and a fourth of it.</details>

# %% nbgrader={"grade": false, "grade_id": "guess", "locked": false, "schema_version": 3, "solution": true, "task": false}
guess = None  # one number, in percentage points
### BEGIN SOLUTION
guess = 1.9
### END SOLUTION

# %% nbgrader={"grade": false, "grade_id": "measured", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
if guess is None:
    print("First write your guess into the cell above.")
else:
    rng = np.random.default_rng(10)
    is_right = np.arange(1000) < 900  # (n,)
    drawn = 100 * np.array([is_right[rng.integers(1000, size=256)].mean() for _ in range(2000)])
    print(f"your guess ± {guess:.2f}, measured ± {drawn.std():.2f}")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-predict", "locked": true, "schema_version": 3, "solution": false, "task": false}
# Now answer the same question for a model that is right in **80 %**, and **64** reviews. It has to be within 0.04.

# %% nbgrader={"grade": false, "grade_id": "predict-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
predict = None  # one number, in percentage points
### BEGIN SOLUTION
predict = 5.0
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "predict", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("predict")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-measure", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### Now the difference of two recipes
#
# Recipes A and B were trained with several seeds each, and all these models read the same N reviews. The **difference** is
# the mean accuracy of A minus that of B. Other reviews would have given another one, and so would other seeds. The **paired
# bootstrap** repeats the experiment R times. You write it; what is drawn is handed over, so your function needs no chance.
#
# - Repeat r uses the reviews `reviews[r]`, the same for both recipes, A's models `seeds_a[r]` and B's models `seeds_b[r]`: indices,
#   drawn with replacement. What is drawn twice counts twice.
# - `interval`: the percentiles 2.5 and 97.5 of the R differences, by `np.percentile` with its defaults.
# - `reviews_alone`: the same, but each repeat uses every model once.
#
# **By hand:** one model each; A is correct on the reviews 0 and 1 of three, B on review 0. The drawn reviews are (0, 1, 1) and
# (2, 0, 2).
# <details><summary>Answer</summary>The difference is 2/3 − 1/3 = 1/3. The repeats have 1 − 1/3 = 2/3 and 1/3 − 1/3 = 0.</details>

# %% nbgrader={"grade": false, "grade_id": "measure_difference-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def measure_difference(correct_a, correct_b, reviews, seeds_a, seeds_b):
    """The difference of two recipes' accuracies, with intervals by the paired bootstrap.

    Args:
        correct_a: which reviews each model of recipe A classified correctly, bool, (S_a, N).
        correct_b: the same for recipe B, (S_b, N).
        reviews: the reviews of each repeat, (R, N), from 0 to N − 1.
        seeds_a: the models of A of each repeat, (R, S_a), from 0 to S_a − 1.
        seeds_b: the models of B of each repeat, (R, S_b).

    Returns:
        The tuple (difference, interval, reviews_alone): a number, and two pairs (low, high).
    """
    ### BEGIN SOLUTION
    again, alone = [], []
    for drawn, models_a, models_b in zip(reviews, seeds_a, seeds_b, strict=True):
        a, b = correct_a[:, drawn], correct_b[:, drawn]  # (S_a, N), (S_b, N)
        again.append(a[models_a].mean() - b[models_b].mean())
        alone.append(a.mean() - b.mean())
    interval, reviews_alone = (np.percentile(each, [2.5, 97.5]) for each in (again, alone))
    return correct_a.mean() - correct_b.mean(), interval, reviews_alone
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "measure_difference", "locked": true, "points": 9, "schema_version": 3, "solution": false, "task": false}
check("measure_difference")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-recipes", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### See whether a mask is worth something
#
# Two recipes without attention, three seeds each, trained in 15 seconds: the mean of the words' vectors by your `masked_mean`, and that of all T
# places. The second line compares your classifier with the first. Before you run the cell: which of the two
# intervals will contain 0?
# <details><summary>In our run</summary>The first.</details>

# %% nbgrader={"grade": false, "grade_id": "recipes", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
def trained(pooling, seed):
    """Which test reviews a bag of word vectors classifies correctly, (n,)."""
    keras.utils.set_random_seed(seed)
    ids = keras.Input((MAX_LENGTH,), dtype="int32")
    vectors = keras.layers.Embedding(len(vocabulary), 32)(ids)
    model = keras.Model(ids, keras.layers.Dense(1, activation="sigmoid")(pooling(vectors, ids)))
    model.compile(keras.optimizers.Adam(2e-2), "binary_crossentropy")
    model.fit(x[held:], y[held:], batch_size=256, epochs=8, verbose=0)
    return (np.asarray(model(x_test))[:, 0] >= 0.5) == (y_test == 1)


masked = np.array([trained(masked_mean, seed) for seed in range(3)])  # (S, n)
everywhere = np.array([trained(lambda vectors, _: ops.mean(vectors, axis=1), seed) for seed in range(3)])
rng = np.random.default_rng(0)
for name, a, b in (("masked − all places", masked, everywhere), ("classifier − masked", correct[None], masked)):
    drawn = [rng.integers(high, size=(2000, high)) for high in (len(y_test), len(a), len(b))]
    difference, interval, alone = measure_difference(a, b, *drawn)
    print(f"{name}: {difference:+.3f}, 95 % from {interval[0]:+.3f} to {interval[1]:+.3f}; ", end="")
    print(f"reviews alone {alone[0]:+.3f} to {alone[1]:+.3f}")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-8", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 7 · By hand
#
# On paper. Put your answers in place of `None`, and delete the last line of the cell.
#
# - `first_word`: a review of three words is padded **in front** to `max_length=200`. At which position, counted from 0, is
#   its first word?
# - `longer`: how many parameters does `build_classifier(max_length=600)` have, with all other arguments at their
#   defaults?
# - `measures`: precision and recall, rounded to two decimals, of the confusion matrix `[[52, 8], [10, 30]]`: rows are the truth,
#   columns the prediction, negative first. Precision is the share of positives among those called positive, recall the
#   share called positive among the positives.
# - `report`: you trained for 20 epochs and kept the one with the lowest validation loss. Which accuracy do you report? One letter:
#   - `"a"`: the highest validation accuracy of all epochs;
#   - `"b"`: the validation accuracy of the epoch that was kept;
#   - `"c"`: the accuracy on reviews that decided nothing, measured once;
#   - `"d"`: the training accuracy of the last epoch.

# %% nbgrader={"grade": false, "grade_id": "answers-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
answers = {
    "first_word": None,  # one number
    "longer": None,  # one number
    "measures": None,  # two numbers, two decimals: precision, recall
    "report": None,  # "a", "b", "c" or "d"
}
### BEGIN SOLUTION
answers = {"first_word": 197, "longer": 670_537, "measures": [0.79, 0.75], "report": "c"}
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "answers", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check("answers")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-1", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 8 · Three more (optional)
#
# No points. First, **one way to write each word**.
#
# A model sees `Great`, `great!` and `great` as three unrelated words unless somebody makes them the same.
#
# Return the text
#
# 1. in lower case,
# 2. with the line breaks of HTML, `<br>`, `<br/>` and `<br />` in any capitals, each turned into a space,
# 3. without punctuation: the characters of `string.punctuation` are removed, nothing takes their place,
# 4. with one space between words and none at the ends, whatever white space was there.
#
# Letters of all languages stay, and so do digits.
#
# **By hand:** `"Don't miss it!<br /><br />9/10 – ÉCLAIR"`. Which of the four steps has to come before which?
#
# <details><summary>Answer</summary><code>"dont miss it 910 – éclair"</code>: the dash is not among the 32 characters of <code>string.punctuation</code>. Line breaks have to go before the punctuation: without its brackets a <code>&lt;br /&gt;</code> is a word. White space comes last, since step 2 makes more of it.</details>

# %% nbgrader={"grade": false, "grade_id": "standardize-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def standardize(text):
    """Bring a text into the form in which its words are counted and looked up.

    Args:
        text: any text, a str.

    Returns:
        The text in lower case, without line breaks of HTML and punctuation, one space between words.
    """
    ### BEGIN SOLUTION
    text = re.sub(r"<br\s*/?>", " ", text.lower())
    text = text.translate(str.maketrans("", "", string.punctuation))
    return " ".join(text.split())
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "standardize", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("standardize")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-7", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### What the numbers say
#
# An accuracy of 90 % is poor where 90 % of the reviews are positive. Four counts say more.
#
# A review counts as positive when its probability is the threshold **or more**. (Lecture 06 writes `> 0.5`, which differs
# only for a probability of exactly 0.5.) Return a dictionary:
#
# | entry | what it is |
# |---|---|
# | `accuracy` | share of right answers, 0 to 1 |
# | `precision` | of the reviews called positive, the share that are positive: tp / (tp + fp) |
# | `recall` | of the reviews that are positive, the share called positive: tp / (tp + fn) |
# | `f1` | harmonic mean of the two, 2 · precision · recall / (precision + recall) |
# | `confusion` | `[[tn, fp], [fn, tp]]`, counts: rows are the truth, columns the prediction |
#
# Where a divisor is 0, the measure is 0. The probabilities come as (n,) or, from `model.predict`, as (n, 1). Ready-made
# measures of scikit-learn or Keras are allowed.
#
# **By hand:** probabilities 0.9, 0.5, 0.2, 0.6, labels 1, 0, 1, 1, threshold 0.5.
# <details><summary>Answer</summary>Said positive: yes, yes (0.5 counts), no, yes. tp = 2, fp = 1, fn = 1, tn = 0. Accuracy 0.5, precision 2/3, recall 2/3, F1 2/3, confusion [[0, 1], [1, 2]].</details>

# %% nbgrader={"grade": false, "grade_id": "evaluate_predictions-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def evaluate_predictions(probabilities, labels, threshold=0.5):
    """Measure how well probabilities of class 1 fit the true labels.

    Args:
        probabilities: (n,) or (n, 1).
        labels: 0 or 1, (n,).
        threshold: positive from here up.

    Returns:
        A dict with accuracy, precision, recall, f1, and confusion [[tn, fp], [fn, tp]].
    """

    def share(part, whole):
        return part / whole if whole else 0.0

    ### BEGIN SOLUTION
    said = np.reshape(probabilities, -1) >= threshold  # (n,)
    true = np.reshape(labels, -1) == 1  # (n,)
    tn, fp, fn, tp = (int(np.sum(each)) for each in (~said & ~true, said & ~true, ~said & true, said & true))
    precision, recall = share(tp, tp + fp), share(tp, tp + fn)
    f1, accuracy = share(2 * precision * recall, precision + recall), share(tp + tn, len(true))
    measures = {"accuracy": accuracy, "precision": precision, "recall": recall, "f1": f1}
    return {**measures, "confusion": [[tn, fp], [fn, tp]]}
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "evaluate_predictions", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("evaluate_predictions")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-baseline", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### What a linear model knows
#
# If you publish a network, say also how good a model is that was fitted in a second.
#
# Return the probability of class 1 for each of the `texts`, by a logistic regression on the TF-IDF of **words and pairs** of
# neighbouring words. The vocabulary, the weights of the words and the model come from `train_texts` and `train_labels` alone.
# Take scikit-learn's `TfidfVectorizer` and `LogisticRegression`; except for the pairs, leave all settings at their defaults.
#
# TF-IDF gives a term of a text the weight (how often it occurs there) · (ln((1 + n)/(1 + df)) + 1), where n is the number of
# training texts and df the number of those that hold the term. Then it scales every row of weights to length 1.

# %% nbgrader={"grade": false, "grade_id": "linear_baseline-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def linear_baseline(train_texts, train_labels, texts):
    """Judge texts by a logistic regression on the TF-IDF of words and pairs.

    Args:
        train_texts: texts to learn from, a list of m str.
        train_labels: their classes, 0 or 1, (m,).
        texts: texts to judge, a list of n str.

    Returns:
        Probabilities of class 1, (n,).
    """
    ### BEGIN SOLUTION
    model = make_pipeline(TfidfVectorizer(ngram_range=(1, 2)), LogisticRegression())
    return model.fit(train_texts, train_labels).predict_proba(texts)[:, 1]
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "linear_baseline", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("linear_baseline")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-broken", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### Break your mask
#
# The masks of your classifier look for id 0. The next cell fills short reviews up with a new entry that has the *same vector* as padding:
# both masks take it for a word. Before you run the cell: how do the
# logits change with the width of the row, with the mask and without?
# <details><summary>In our run</summary>Level with it, drifting without: at width 64, 100 % and 98.5 % are correct.</details>

# %% nbgrader={"grade": false, "grade_id": "broken", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
lengths = (x_test != 0).sum(axis=1)  # (n,)
short = np.argsort(lengths, kind="stable")[:200]
widths, said = np.unique(np.linspace(lengths[short].max(), MAX_LENGTH, 8).astype(int)), []
for width in widths:
    copy = build_classifier(int(width), len(vocabulary) + 1)
    for source, target in zip(classifier.weights, copy.weights, strict=True):
        values = np.asarray(source)
        if len(values) == len(vocabulary):
            values = np.concatenate([values, values[:1]])  # the new entry has the vector of id 0
        target.assign(values[: target.shape[0]])  # and the positions end with the row
    rows = x_test[short, :width]
    said.append([np.asarray(copy(each))[:, 0] for each in (rows, np.where(rows == 0, len(vocabulary), rows))])
said = np.clip(said, 1e-7, 1 - 1e-7)  # (widths, 2, 200)
logits = np.log(said / (1 - said))
figure, ax = plt.subplots(figsize=(6, 2.8))
for kind, (name, style) in enumerate([("query", "-"), ("accent", "--")]):
    ax.plot(widths, logits[:, kind, :5], style, color=diagrams.PALETTE[name])
ax.axhline(0, color=diagrams.PALETTE["residual"], linestyle=":")
ax.set(xlabel="width of the row", ylabel="logit", title="full: masked, dashed: mask broken, dotted: a guess")
plots.show(figure, alt="Logits of five reviews by the width of the row: level with the mask, drifting without it.")
share = ((said >= 0.5) == (y_test[short] == 1)).mean(axis=2)  # (widths, 2)
print(f"200 short reviews, correct at width {widths[-1]}: masked {share[-1, 0]:.1%}, mask broken {share[-1, 1]:.1%}")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-9", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## In your own words
#
# A colleague leaves both masks out, "because the model learns by itself to ignore padding; the validation accuracy is the same
# with and without". What do you answer, and which experiment would you propose? What did you measure in exercise 6: which of the two
# differences is beyond chance, and what do the seeds add to the interval? Four to eight sentences.
# This earns no points; your instructor reads it and writes back.

# %% [markdown] nbgrader={"grade": true, "grade_id": "explanation", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
# It may learn to ignore padding for the lengths that it has seen: then the amount of padding is just one more feature, which
# goes with the length of the review. It has no reason to be right for other amounts. I would give the trained model
# without masks the test reviews with less padding, cut to the longest review of each batch, and count how many decisions
# change; with masks none does. The validation
# accuracy cannot show it, because the validation reviews are padded exactly like the training reviews.
#
# Exercise 6: masked mean minus mean of all places is −0.006, from −0.030 to 0.016. The interval contains 0, so these three seeds
# and 1,000 reviews show no gain; they do not show that there is none. The classifier is ahead by 0.325, and its interval is far
# from 0. For the first difference the seeds widen the interval by half; the classifier has one seed only, so the chance in its
# own training is left out.
#
# Each review is right or wrong like a coin with a = 0.8, so the share of 64 has the standard deviation
# √(a(1 − a)/64) = 5 points. One point more on 64 other reviews is a fifth of that, and no reason to call a model better; on
# the same 500 reviews only those count on which the two models differ.

# %% [markdown] nbgrader={"grade": false, "grade_id": "closing", "locked": true, "schema_version": 3, "solution": false, "task": false}
# Lecture 07 takes an encoder that has read a great deal before it meets your data.

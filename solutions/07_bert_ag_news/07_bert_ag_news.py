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
# # Lab 07 · Fine-tuning BERT on news
#
# You write the parts around BERT: the code that cuts words into pieces and packs sentences into rows, the masking that BERT
# was trained with, the learning rate of fine-tuning, and a classifier on top. At the end your classifier reads two articles
# and says what they are about.
#
# **Before you start:** read [lecture 07](../../lectures/07_bert_ag_news.ipynb). **Time:** about 150 minutes.
#
# **How a lab works.** Each exercise has a cell with a stub, and below it a cell `check("…")`. Replace the line
# `raise NotImplementedError`, run your cell, then run the check. It says what works, what differs first, and which mistake
# it looks like; from the second failed try on it adds hints. Your mark comes from the same tests on inputs that you have
# not seen, so code that fits only the visible inputs earns nothing. Add cells wherever you like; the check cells themselves
# are restored before grading.
#
# **Letters.** B batch, T tokens of a row (`max_length`), D width of the encoder, V size of the vocabulary. Id 0 is padding.
#
# | exercise | what you write | points | difficulty | minutes |
# |---|---|---|---|---|
# | 1 | `wordpiece_tokenize` | 6 | ●●●●○ | 25 |
# | 2 | `pack_inputs` | 6 | ●●●●○ | 25 |
# | 3 | `mask_tokens` | 8 | ●●●●○ | 25 |
# | 4 | `warmup_linear_decay` | 4 | ●●○○○ | 10 |
# | 5 | `find_the_bug` | 3 | ●○○○○ | 5 |
# | 6 | `build_news_classifier` | 7 | ●●●○○ | 20 |
# | 7 | `predict_class_names` | 3 | ●●○○○ | 10 |
# | 8 | `predict` | 2 | ●○○○○ | 5 |
# | 9 | `answers`, by hand | 2 | ●●○○○ | 10 |
#
# Minutes and dots are estimated by a rule: how much there is to read and to write, and what can go wrong. They were not
# measured with students.
#
# No exercise needs another one's result: if you are stuck, go on.

# %% nbgrader={"grade": false, "grade_id": "setup", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["course-setup"]
# Colab: install the course's helper package. Anywhere else this cell does nothing.
import sys

if "google.colab" in sys.modules:
    print("Installing the course's helper package …")
    # %pip install --quiet --no-deps transformers-coursekit==0.1.0

# %% nbgrader={"grade": false, "grade_id": "imports", "locked": true, "schema_version": 3, "solution": false, "task": false}
print("Loading TensorFlow, which takes about ten seconds …")

from coursekit import bert, data, diagrams, plots, quiet, start_lab

quiet.start_tensorflow("tensorflow_text", "tensorflow_hub", "tf_keras")  # keeps their messages out of the notebook

import matplotlib.pyplot as plt
import numpy as np
import tensorflow as tf
import tensorflow_hub as hub
import tensorflow_text  # the preprocessing needs its operations
import tf_keras  # Keras 2: hub.KerasLayer is one of its layers

check = start_lab("07_bert_ag_news")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-1", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 1 · Words into pieces
#
# ●●●●○ · With a vocabulary of 30,000 pieces frequent words are written whole, and other words in parts.
# `[UNK]` becomes rare.
#
# A piece that begins a word stands in the vocabulary as it is, `un`; a piece that continues one stands there with `##` in front,
# `##able`. Cut a word by **greedy longest match first**: at the beginning take the longest piece that the vocabulary has,
# continue behind it, and so on to the end.
#
# - The search never goes back. Where no piece fits, the **whole** word becomes `[unknown]`, a list with that one entry,
#   whatever was found before.
# - A word of more than `max_chars` **characters** becomes `[unknown]`, too: a text without spaces would take very long.
# - Look the word up as it comes. Do not change capitals or accents.
# - `vocabulary` is a list, a set or a dictionary from piece to id. The check brings all three, so use nothing but `in`.
#
# The tokenizers of `tensorflow_text` are forbidden here. Later the preprocessing uses them.
#
# **By hand:** how is the word `unaffable` cut with the vocabulary `un`, `##a`, `##aff`, `##ffable`, `##able`, `able`? And
# `unable`? And `unfit`?
#
# <details><summary>Answer</summary><code>un ##aff ##able</code>: behind <code>un</code> the longest piece that fits is <code>##aff</code>, then <code>##able</code>, with its marks. (<code>##a ##ffable</code> would cover it, too, but <code>##aff</code> is longer than <code>##a</code>.) <code>un ##able</code>. And <code>[UNK]</code>: behind <code>un</code> no piece fits.</details>
# <details><summary>Hint 1</summary>Two loops. The outer one goes on while <code>start < len(word)</code>; the inner one tries <code>end</code> from the end of the word down to <code>start + 1</code>.</details>
# <details><summary>Hint 2</summary>A <code>for</code> loop may have an <code>else</code>: it runs when no <code>break</code> ended the loop.</details>

# %% nbgrader={"grade": false, "grade_id": "wordpiece_tokenize-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def wordpiece_tokenize(word, vocabulary, unknown="[UNK]", max_chars=100):
    """Cut a word into pieces, the longest that fits first.

    Args:
        word: a str without spaces, of at least one character.
        vocabulary: the pieces, a list, a set or a dict from piece to id; "##" in front of those that continue a word.
        unknown: what a word becomes that the pieces do not cover.
        max_chars: the largest number of characters; longer words are unknown.

    Returns:
        A list of str.
    """
    ### BEGIN SOLUTION
    if len(word) > max_chars:
        return [unknown]
    pieces, start = [], 0
    while start < len(word):
        marks = "##" if start else ""
        for end in range(len(word), start, -1):
            if marks + word[start:end] in vocabulary:
                break
        else:
            return [unknown]
        pieces.append(marks + word[start:end])
        start = end
    return pieces
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "wordpiece_tokenize", "locked": true, "points": 6, "schema_version": 3, "solution": false, "task": false}
check("wordpiece_tokenize")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-2", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 2 · A row for the encoder
#
# ●●●●○ · BERT reads rows of a fixed length, in which special tokens say where a text begins and ends.
#
# With one segment the row is `[CLS] a [SEP]`, with two `[CLS] a [SEP] b [SEP]`, then padding up to `max_length`. Return a
# dictionary of three rows of whole numbers, each (T,):
#
# | entry | what it holds |
# |---|---|
# | `input_word_ids` | the ids, `pad_id` behind the last `[SEP]` |
# | `input_mask` | 1 for real tokens, special ones included, 0 for padding |
# | `input_type_ids` | 0 for `[CLS] a [SEP]` and for padding, 1 for `b [SEP]` |
#
# Segments that are too long lose **one token at a time, from the end of the longer segment**; when both are equally long, from
# the second. So a short headline stays whole beside a long article. The special tokens always stay: `max_length` has room for
# them. `a` and `b` are lists of ids; leave them as they are. `b=None` means one segment. An empty list is a second segment
# without tokens: `[CLS] a [SEP] [SEP]`.
#
# **By hand:** a = (11, 12, 13, 14), b = (21, 22), `[CLS]` 2, `[SEP]` 3, `max_length=8`: what is cut, and what are the three rows?
#
# <details><summary>Answer</summary>Three places are taken, five are left for six tokens: a is longer and loses 14. Ids 2 11 12 13 3 21 22 3, mask eight times 1, segments 0 0 0 0 0 1 1 1.</details>
# <details><summary>Hint 1</summary>How many places are left for a and b together? It is not the same number with one segment and with two.</details>
# <details><summary>Hint 2</summary>A <code>while</code> loop with a comparison of two lengths in it. <code>list(a)</code> makes a copy that you may shorten.</details>

# %% nbgrader={"grade": false, "grade_id": "pack_inputs-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def pack_inputs(a, b=None, *, max_length, cls_id, sep_id, pad_id=0):
    """Pack one or two segments into the three rows that BERT reads.

    Args:
        a: ids of the first segment, a list.
        b: ids of the second segment, a list, or None when there is one segment only.
        max_length: length of the rows, T.
        cls_id: id of [CLS].
        sep_id: id of [SEP].
        pad_id: id of padding.

    Returns:
        A dict with input_word_ids, input_mask and input_type_ids, whole numbers, each (T,).
    """
    ### BEGIN SOLUTION
    first, second = list(a), list(b or [])
    room = max_length - (2 if b is None else 3)
    while len(first) + len(second) > room:
        del (first if len(first) > len(second) else second)[-1]
    first = [cls_id, *first, sep_id]
    second = [] if b is None else [*second, sep_id]
    padding = max_length - len(first) - len(second)
    return {
        "input_word_ids": np.array(first + second + [pad_id] * padding),  # (T,)
        "input_mask": np.repeat([1, 0], [max_length - padding, padding]),  # (T,)
        "input_type_ids": np.repeat([0, 1, 0], [len(first), len(second), padding]),  # (T,)
    }
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "pack_inputs", "locked": true, "points": 6, "schema_version": 3, "solution": false, "task": false}
check("pack_inputs")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-2b", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### See your row
#
# A question and an answer, packed by you. Before you run the cell: where does the segment change from 0 to 1, and where back?

# %% nbgrader={"grade": false, "grade_id": "packed", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
question, answer = "who won ?".split(), "the bees , by three goals to one".split()
names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *dict.fromkeys(question + answer)]
places = {name: number for number, name in enumerate(names)}
row = pack_inputs(
    [places[word] for word in question], [places[word] for word in answer], max_length=17, cls_id=2, sep_id=3
)
figure, ax = plt.subplots(figsize=(8, 2.2))
plots.matrix_map(
    np.stack([row["input_mask"], row["input_type_ids"]]),
    rows=["mask", "segment"],
    columns=[names[each] for each in row["input_word_ids"]],
    digits=0,
    ax=ax,
)
plots.show(figure, alt="The packed row: a column for each token, with its mask and its segment id below.")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-3", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 3 · What BERT was trained to guess
#
# ●●●●○ · Masking is the whole of BERT's pre-training task in a few lines, and small mistakes in it are invisible:
# the loss still falls.
#
# `ids` is an array of ids, (T,) or (B, T). Return `(inputs, labels)`, both whole numbers of the same shape.
#
# 1. Each **ordinary** token, one whose id is not in `special_ids`, is **chosen** with probability `rate`, independently of all
#    others. So the number of chosen tokens is random, too.
# 2. Of the chosen tokens, again independently, **80 %** become `mask_id`, **10 %** become an id drawn uniformly from the whole vocabulary,
#    0 to `vocab_size - 1`, special ids included, and **10 %** keep their id. So the model never knows which of the ids that it sees are
#    true. (BERT's own code draws from the whole vocabulary, too. Lecture 07 draws its random pieces from the ordinary ones only, and
#    chooses nine tokens of every row.)
# 3. `labels` holds the original id where a token is chosen and **-100** everywhere else. The loss ignores -100.
#
# All random numbers come from `rng`, a `numpy.random.Generator`: `rng.random(shape)`, `rng.integers(high, size=…)`, in
# whatever order you like. `ids` is not changed, since the next epoch masks the same texts anew.
#
# **How chance is graded.** The check counts over tens of thousands of tokens, and compares with what chance allows. The bounds are those of
# the exact binomial distribution. They are wide: if a right function is graded a million times, it is expected to fall outside less than
# once.
#
# **By hand:** 1,000 ordinary tokens, `rate=0.15`. How many become `[MASK]` on average, how many have a label?
#
# <details><summary>Answer</summary>150 are chosen and have a label. 80 % of them, 120, become <code>[MASK]</code>; 15 get a random id, 15 keep theirs.</details>
# <details><summary>Your masks are always 100 %?</summary>A number that is below 0.15 is below 0.8, too. Use a fresh random number for the second decision.</details>
# <details><summary>Hint 1</summary><code>np.isin(ids, special_ids)</code> is True for special tokens. <code>rng.random(ids.shape) < rate</code> chooses.</details>
# <details><summary>Hint 2</summary>A second <code>rng.random(ids.shape)</code>, called <code>fate</code>: below 0.8 mask, from 0.8 to 0.9 random, above that kept.</details>

# %% nbgrader={"grade": false, "grade_id": "mask_tokens-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def mask_tokens(ids, rng, vocab_size, mask_id, special_ids, rate=0.15):
    """Mask ids for BERT's pre-training.

    Args:
        ids: array of whole numbers, (T,) or (B, T).
        rng: numpy.random.Generator, the source of all random numbers.
        vocab_size: number of ids in the vocabulary, V.
        mask_id: id of [MASK].
        special_ids: list of ids that are never chosen.
        rate: probability with which an ordinary token is chosen.

    Returns:
        The pair (inputs, labels), whole numbers in the shape of ids; labels are -100 where nothing is chosen.
    """
    ### BEGIN SOLUTION
    chosen = (rng.random(ids.shape) < rate) & ~np.isin(ids, special_ids)
    fate = rng.random(ids.shape)
    inputs = np.where(chosen & (fate < 0.8), mask_id, ids)
    replaced = chosen & (fate >= 0.8) & (fate < 0.9)
    inputs = np.where(replaced, rng.integers(vocab_size, size=ids.shape), inputs)
    return inputs, np.where(chosen, ids, -100)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "mask_tokens", "locked": true, "points": 8, "schema_version": 3, "solution": false, "task": false}
check("mask_tokens")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-3b", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### See your masking
#
# The next cell masks eight texts of sixty tokens. Before you run the cell: about how many of the 480 will be dark?

# %% nbgrader={"grade": false, "grade_id": "masked", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
rng = np.random.default_rng(7)
ids = rng.integers(5, 1000, size=(8, 60))
ids[:, 0], ids[:, -1] = 2, 3  # [CLS] and [SEP]
inputs, labels = mask_tokens(ids, rng, vocab_size=1000, mask_id=4, special_ids=[0, 1, 2, 3])
chosen = labels != -100
fate = np.select([~chosen, inputs == 4, inputs == ids], [0, 3, 1], 2)
figure, ax = plt.subplots(figsize=(8, 1.9))
ax.imshow(fate, cmap="Greys", vmin=0, vmax=3, aspect="auto")
ax.set(xlabel="token", ylabel="text", title="white: not chosen · light: kept · middle: random · black: [MASK]")
plots.show(figure, alt="A grid of eight texts by sixty tokens: most are white, about one in seven is grey or black.")
print({name: int((fate == kind).sum()) for kind, name in enumerate(["not chosen", "kept", "random", "[MASK]"])})


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-4", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 4 · Up, then down
#
# ●●○○○ · Fine-tuning begins with a head that knows nothing on an encoder that knows much. The paper's recipe
# begins with small steps.
#
# The learning rate climbs in a straight line from **0** at step 0 to `peak` at `warmup_steps`, then falls in a straight line to
# **0** at `total_steps`. From there on it is 0. With `warmup_steps=0` there is no climb: step 0 has the peak, and only the
# way down is left.
#
# Steps are Python numbers, whole or not; return a Python float.
#
# **By hand:** peak 2, `warmup_steps=10`, `total_steps=50`: the rates at the steps 5, 10, 30 and 60?
#
# <details><summary>Answer</summary>1 (half of the way up), 2, 1 (half of the way down, 20 of 40 steps) and 0.</details>
# <details><summary>Hint 1</summary>Ask first which of the two lines the step is on. What must not happen when <code>warmup_steps</code> is 0?</details>
# <details><summary>Hint 2</summary>On the way down: which share of the <code>total_steps - warmup_steps</code> steps is left?</details>

# %% nbgrader={"grade": false, "grade_id": "warmup_linear_decay-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def warmup_linear_decay(step, peak, warmup_steps, total_steps):
    """Learning rate of a step: a straight line up, then a straight line down to 0.

    Args:
        step: number of the step, from 0 on.
        peak: the highest rate.
        warmup_steps: the step at which it is reached.
        total_steps: the step from which on the rate is 0, more than warmup_steps.

    Returns:
        A float.
    """
    ### BEGIN SOLUTION
    if step < warmup_steps:
        return peak * step / warmup_steps
    return max(0.0, peak * (total_steps - step) / (total_steps - warmup_steps))
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "warmup_linear_decay", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("warmup_linear_decay")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-bug", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 5 · Find the bug
#
# ●○○○○ · A colleague has written exercise 4 without an `if`: the rate is the lower of two lines. At the steps
# of the example above she gets what you get, and her fine-tuning runs.
#
# Delete the line `raise NotImplementedError`, and her code runs. Find out for which arguments it is wrong, and fix it in place.
# It is graded like exercise 4, all or nothing, and the check names no mistake: finding it is the exercise.
#
# <details><summary>Hint</summary>Compare it with yours for all steps and for several settings, the smallest ones included.</details>

# %% nbgrader={"grade": false, "grade_id": "find_the_bug-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def find_the_bug(step, peak, warmup_steps, total_steps):
    """The learning rate of exercise 4: arguments and result are the same."""
    ### BEGIN SOLUTION
    up = step / warmup_steps if warmup_steps else 1.0
    down = (total_steps - step) / (total_steps - warmup_steps)
    return peak * max(0.0, min(up, down))
    ### END SOLUTION
    # This runs, and is wrong.
    up = step / max(warmup_steps, 1)
    down = (total_steps - step) / (total_steps - warmup_steps)
    return peak * max(0.0, min(up, down))


# %% nbgrader={"grade": true, "grade_id": "find_the_bug", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("find_the_bug")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-5", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 6 · The classifier
#
# ●●●○○ · The model has two halves of BERT that somebody else trained, and a head that you train.
#
# A **handle** says where a half is found: it is a folder, or an address on the web. `hub.KerasLayer(handle)` makes a layer of it. The
# course comes with a small BERT of its own, `bert.PREPROCESS` and `bert.ENCODER`; the published one has the handles
# `bert.PUBLIC_PREPROCESS` and `bert.PUBLIC_ENCODER`, and the same function takes either.
#
# | part | what it gives |
# |---|---|
# | input | one string for each text, shape `()`, dtype `tf.string` |
# | preprocessing | a dictionary, the three rows of exercise 2 for each text |
# | encoder | a dictionary: `pooled_output` (B, D), `sequence_output` (B, T, D), `encoder_outputs`, one for each layer |
# | hidden layer | Dense 16 with ReLU, of **`pooled_output`** |
# | dropout | of the hidden layer, with the rate `dropout` |
# | output | Dense `num_classes` with softmax: probabilities |
#
# `trainable` says whether the **encoder** learns. The head always learns; the preprocessing has nothing to learn.
#
# **Why `tf_keras`?** `hub.KerasLayer` is a layer of Keras 2. Since TensorFlow 2.16 `keras` and `tf.keras` are Keras 3, and the two do
# not mix: this is why most BERT notebooks on the web stop with an error today. Keras 2 continues under the name `tf_keras`. In this
# exercise the Input, every layer and the Model come from there.
#
# The check brings two halves of its own, so small that they are loaded in a moment, with the same names and shapes.
#
# <details><summary>Hint 1</summary>Begin with <code>text = tf_keras.layers.Input(shape=(), dtype=tf.string)</code>, and from there on call each layer on what the one before returned.</details>
# <details><summary>Hint 2</summary><code>hub.KerasLayer</code> is frozen by default; look at its arguments.</details>
# <details><summary>Hint 3</summary>The head has 16·(D + 1) + num_classes·17 numbers that learn. Compare with <code>model.summary()</code>.</details>

# %% nbgrader={"grade": false, "grade_id": "build_news_classifier-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def build_news_classifier(preprocess_handle, encoder_handle, num_classes=4, dropout=0.2, trainable=True):
    """A classifier of texts on a pre-trained BERT.

    Args:
        preprocess_handle: where the preprocessing is, a str.
        encoder_handle: where the encoder is, a str.
        num_classes: number of classes.
        dropout: share of the hidden layer that is dropped in training.
        trainable: whether the encoder learns, too.

    Returns:
        A tf_keras.Model, not compiled: strings (B,) -> probabilities (B, num_classes).
    """
    ### BEGIN SOLUTION
    text = tf_keras.layers.Input(shape=(), dtype=tf.string, name="text")  # (B,)
    rows = hub.KerasLayer(preprocess_handle, name="preprocessing")(text)  # three rows, each (B, T)
    pooled = hub.KerasLayer(encoder_handle, trainable=trainable, name="encoder")(rows)["pooled_output"]  # (B, D)
    hidden = tf_keras.layers.Dense(16, activation="relu", name="hidden")(pooled)  # (B, 16)
    hidden = tf_keras.layers.Dropout(dropout)(hidden)
    probabilities = tf_keras.layers.Dense(num_classes, activation="softmax", name="probabilities")(hidden)
    return tf_keras.Model(text, probabilities)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "build_news_classifier", "locked": true, "points": 7, "schema_version": 3, "solution": false, "task": false}
check("build_news_classifier")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-6", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 7 · Names instead of numbers
#
# ●●○○○ · A reader of your model wants to know "Sports", not 1.
#
# Return the name of the most probable class for each text, in the order of the texts: a list of str. `model` is anything with a
# method `predict` that takes an array or a tensor of texts and gives probabilities (n, classes), as Keras models do; use that method.
# `class_names[0]` belongs to the first column. Without texts the result is an empty list: Keras raises an error for no texts.
#
# **Example:** probabilities (0.1, 0.7, 0.2) and (0.4, 0.3, 0.3) with the names a, b, c are `["b", "a"]`.
#
# <details><summary>Hint 1</summary><code>model.predict(tf.constant(texts), verbose=0)</code> gives an array with one row for each text.</details>
# <details><summary>Hint 2</summary><code>np.argmax</code> along the classes gives one place for each row.</details>

# %% nbgrader={"grade": false, "grade_id": "predict_class_names-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def predict_class_names(model, texts, class_names):
    """Name the most probable class of each text.

    Args:
        model: anything with predict(texts) -> probabilities (n, classes).
        texts: n texts, a list of str.
        class_names: the names, in the order of the columns.

    Returns:
        A list of n str.
    """
    ### BEGIN SOLUTION
    if not len(texts):
        return []
    probabilities = model.predict(tf.constant(list(texts)), verbose=0)  # (n, classes)
    return [class_names[place] for place in np.argmax(probabilities, axis=1)]
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "predict_class_names", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("predict_class_names")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-predict", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 8 · Predict, then measure
#
# ●○○○○ · The classifier is new: its head knows nothing, and it was not trained for a single step. What is its
# **mean cross-entropy** on news of four equally frequent classes, in nats? Put a number in place of `None`, and delete the last
# line of the cell, **before** you run the cells below. It has to be within 0.25, and at the end you are asked for the reason.

# %% nbgrader={"grade": false, "grade_id": "predict-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
predict = None  # one number, in nats
### BEGIN SOLUTION
predict = 1.4
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "predict", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("predict")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-6b", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### Fine-tune it
#
# The course's small BERT, your head, your learning rate, and the 1,200 short news of the sample, twice: about half a minute on two CPU
# cores. With `COURSE_SOURCE=real` and a GPU, take more of AG News, and the public handles; then set a peak of 2 to 5·10⁻⁵, with which
# BERT-base is fine-tuned (Devlin et al. 2019, appendix A.3). The small encoder gets 10⁻³ here, twice the rate of lecture 07, because two
# epochs on the easy sample are few steps. No choice depends on the results, so no validation texts are set apart. Before you run the cell:
# at which step is the learning rate highest?
#
# <details><summary>Answer</summary>At the end of the warm-up, here a tenth of the steps.</details>

# %% nbgrader={"grade": false, "grade_id": "schedule", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
class Rate(tf_keras.callbacks.Callback):
    """Sets the learning rate before each step, and notes it with the loss."""

    def __init__(self, peak, steps):
        super().__init__()
        self.peak, self.steps, self.seen = peak, steps, []

    def on_train_batch_begin(self, batch, logs=None):
        rate = warmup_linear_decay(len(self.seen), self.peak, self.steps // 10, self.steps)
        self.model.optimizer.learning_rate = rate

    def on_train_batch_end(self, batch, logs=None):
        self.seen.append((float(self.model.optimizer.learning_rate.numpy()), logs["loss"]))


# %% nbgrader={"grade": false, "grade_id": "fine-tuning", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
tf_keras.utils.set_random_seed(7)
(train_texts, train_labels), (test_texts, test_labels) = data.news(source=data.chosen_source())
train_texts, train_labels = train_texts[:1200], train_labels[:1200]
batches = tf.data.Dataset.from_tensor_slices((train_texts, train_labels)).shuffle(1200, seed=7).batch(16)
model = build_news_classifier(bert.PREPROCESS, bert.ENCODER)
model.compile(tf_keras.optimizers.AdamW(), "sparse_categorical_crossentropy", metrics=["accuracy"])
before = model.evaluate(batches, verbose=0)[0]
print(f"before the first step: predicted {predict}, measured {before:.2f}")
rate = Rate(peak=1e-3, steps=2 * len(batches))
history = model.fit(batches, epochs=2, callbacks=[rate], verbose=0)

# %% nbgrader={"grade": false, "grade_id": "learning", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
rates, losses = np.array(rate.seen).T
figure, (left, right) = plt.subplots(1, 2, figsize=(8, 2.6))
left.plot(rates, color=diagrams.PALETTE["query"])
left.set(xlabel="step", ylabel="learning rate", title="your schedule")
right.plot(losses, color=diagrams.PALETTE["accent"])
right.axhline(np.log(4), color=diagrams.PALETTE["residual"], linestyle=":")
right.set(xlabel="step", ylabel="mean loss of the epoch", title="fine-tuning")
figure.subplots_adjust(wspace=0.35)
plots.show(figure, alt="Left: the learning rate by step, up and then down. Right: the loss by step, from about 1.4 down.")
test_texts, test_labels = test_texts[:400], test_labels[:400]
said = predict_class_names(model, test_texts, data.NEWS_CLASSES)
right_ones = np.mean([name == data.NEWS_CLASSES[label] for name, label in zip(said, test_labels, strict=True)])
print(f"{right_ones:.1%} of {len(said)} texts that it has not seen are named correctly")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-6c", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### Two articles
#
# Neither comes from the data. Which class does each belong to, and will the model agree? Then change words of the articles and run the cell again: which
# words lead the model to another class?

# %% nbgrader={"grade": false, "grade_id": "articles", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
ARTICLES = [
    "Carmaker shows a robot that walks. The company is known for cars that steer themselves. Now it wants the same "
    "cameras and software to guide a humanoid machine that carries boxes, waters plants and learns by watching people.",
    "Striker moves north before the deadline. The forward signed for four seasons after two clubs agreed on the fee late "
    "at night. His old team lets a midfielder go as well, and hopes to find a goalkeeper before the season starts.",
]
for article, name in zip(ARTICLES, predict_class_names(model, ARTICLES, data.NEWS_CLASSES), strict=True):
    print(f"{name:9s} · {article[:70]} …")
figure, ax = plt.subplots(figsize=(6, 2))
plots.matrix_map(
    model.predict(tf.constant(ARTICLES), verbose=0), rows=["robot", "striker"], columns=list(data.NEWS_CLASSES), ax=ax
)
plots.show(figure, alt="The probabilities of the four classes for the two articles, one row each.")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-7", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 9 · By hand
#
# ●●○○○ · Three questions that come up in every project with a pre-trained model.
#
# Paper and pencil, no code. Put your answers in place of `None`, and delete the last line of the cell.
#
# - `masked`: a text has 100 ordinary tokens. With `rate=0.15`, how many of them become `[MASK]` on average? (A random id can be that of
#   `[MASK]`, too. Do not count this.)
# - `decision`: you fine-tune for several epochs. Which texts may decide when to stop? One letter: `"a"` the test set, `"b"` a
#   validation set, `"c"` the training set.
# - `keras`: why is the classifier built with `tf_keras`? One letter: `"a"` it is faster, `"b"` Keras 3 has no strings, `"c"`
#   `hub.KerasLayer` is a layer of Keras 2.

# %% nbgrader={"grade": false, "grade_id": "answers-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
answers = {
    "masked": None,  # one number
    "decision": None,  # "a", "b" or "c"
    "keras": None,  # "a", "b" or "c"
}
### BEGIN SOLUTION
answers = {
    "masked": 12,
    "decision": "b",
    "keras": "c",
}
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "answers", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("answers")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-8", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## In your own words
#
# A colleague masks every chosen token with `[MASK]`, "because a random id only confuses the model, and a kept one is no task at all".
# What would this model learn about tokens that are not masked, and what happens when it is fine-tuned on texts without any `[MASK]`?
# How would you measure it? And how did you find your prediction of exercise 8? Three to eight sentences. This earns no points; your
# instructor reads it and writes back.

# %% [markdown] nbgrader={"grade": true, "grade_id": "explanation", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
# The model is asked for a token only where it sees [MASK], so it has no reason to say anything useful about the other places: there
# it could copy its input. In fine-tuning there is no [MASK] at all, and every place is of the kind that it was never asked about.
# Random ids and kept ids are asked for, too, and from outside they look like ordinary tokens, so the model has to keep a good guess
# for every place and cannot trust the id it sees. I would pre-train twice, with 100/0/0 and with 80/10/10, all else and several
# seeds the same, then compare the accuracy after fine-tuning with a few labelled texts and with many, with error bars. The
# BERT paper reports such a comparison (appendix C.2); the differences are small in fine-tuning, so the error bars matter.
#
# Exercise 8: a head that knows nothing gives the right class, one of four, a probability of about a quarter, and −ln(1/4) = 1.39.
# The start of its weights is random, so the probabilities differ a little from a quarter, and the loss is a little higher.

# %% [markdown] nbgrader={"grade": false, "grade_id": "closing", "locked": true, "schema_version": 3, "solution": false, "task": false}
# You have fine-tuned a pre-trained Transformer. Lectures 08 and 09 leave the encoder: a decoder that writes, and an encoder that
# sees.

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
# You write the parts around BERT: the masking that it was trained with, the learning rate of fine-tuning, a classifier on
# top, and the measurement that says how far a number of labels goes. At the end your classifier reads two articles and says
# what they are about.
#
# **Before you start:** read [lecture 07](../../lectures/07_bert_ag_news.ipynb): this lab begins where its `plain_classifier`
# ends (ids, no texts). **Time:** about 90 minutes.
#
# **How a lab works.** Each exercise has a cell with a stub, and below it a cell `check("…")`. Replace the line
# `raise NotImplementedError`, run your cell, then run the check. It says what works, what differs first, and which mistake
# it looks like; after the second failed attempt it adds hints. Your mark comes from the same tests on inputs that you have
# not seen, so code that fits only the visible inputs earns nothing. Add cells wherever you like; the check cells themselves
# are restored before grading.
#
# **Letters.** B batch, T tokens of a row (`max_length`), D width of the encoder, V size of the vocabulary. Id 0 is padding.
#
# | exercise | what you write | points | difficulty | minutes |
# |---|---|---|---|---|
# | 1 | `mask_tokens` | 7 | ●●○○○ | 10 |
# | 1 | `derive_expected_masked` | 6 | ●●○○○ | 10 |
# | 2 | `warmup_linear_decay` | 3 | ●●○○○ | 10 |
# | 2 | `design` | 3 | ●○○○○ | 5 |
# | 3 | `find_the_bug` | 2 | ●○○○○ | 5 |
# | 4 | `build_news_classifier` | 7 | ●●●○○ | 15 |
# | 4 | `predict_class_names` (optional) | 0 | ●●○○○ | 10 |
# | 5 | `predict` | 1 | ●○○○○ | 5 |
# | 6 | `measure_labels` | 7 | ●●●○○ | 15 |
# | 7 | `answers`, by hand (optional) | 0 | ●●○○○ | 10 |
# | 8 | `wordpiece_tokenize` (optional) | 0 | ●●●○○ | 20 |
# | 8 | `pack_inputs` (optional) | 0 | ●●●○○ | 20 |
#
# Times and difficulties are estimates, not measurements. Optional exercises earn no points, and their minutes are not in the total.
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

from coursekit.pages.news_classifier import plain_classifier  # the lecture's

plots.use_course_style()

check = start_lab("07_bert_ag_news")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-3", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 1 · What BERT was trained to guess
#
# Masking is the whole of BERT's pre-training task in a few lines, and small mistakes in it are invisible:
# the loss still falls.
#
# `ids` is an array of ids, (T,) or (B, T). Return `(inputs, labels)`, both whole numbers of the same shape.
#
# 1. Each **ordinary** token, one whose id is not in `special_ids`, is **chosen** with probability `rate`, independently of all
#    others. An id that is `mask_id` already is ordinary, unless it is listed. So the number of chosen tokens is random, too.
# 2. Of the chosen tokens, again independently, **80 %** become `mask_id`, **10 %** become an id drawn uniformly from the whole vocabulary,
#    0 to `vocab_size - 1`, special ids included, and **10 %** keep their id. So of an id other than `[MASK]` the model never knows whether it is true. (BERT's own code draws from the whole vocabulary, too. Lecture 07 draws its random pieces from the ordinary ones only.)
# 3. `labels` holds the original id where a token is chosen and **-100** everywhere else. The loss ignores -100.
#
# All random numbers come from `rng`, a `numpy.random.Generator`: `rng.random(shape)`, `rng.integers(high, size=…)`, in
# whatever order you like. `ids` is not changed, since the next epoch masks the same texts anew.
#
# **How chance is graded.** The check counts over hundreds of thousands of tokens, and compares with what chance allows. The bounds are those of
# the exact binomial distribution. They are wide: if a right function is graded a million times, it is expected to fall outside less than
# once.
#
# **By hand:** 1,000 ordinary tokens, `rate=0.15`. How many become `[MASK]` on average, how many have a label?
#
# <details><summary>Answer</summary>150 are chosen and have a label. 80 % of them, 120, become <code>[MASK]</code>; 15 get a random id, 15 keep theirs.</details>

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


# %% nbgrader={"grade": true, "grade_id": "mask_tokens", "locked": true, "points": 7, "schema_version": 3, "solution": false, "task": false}
check("mask_tokens")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-3b", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### See your masking
#
# The next cell masks eight texts of sixty tokens. Before you run the cell: about how many of the 480 will be dark?
# <details><summary>In our run</summary>66: about 15 % of the ordinary tokens.</details>

# %% nbgrader={"grade": false, "grade_id": "masked", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
rng = np.random.default_rng(7)
ids = rng.integers(5, 1000, size=(8, 60))
ids[:, 0], ids[:, -1] = 2, 3  # [CLS] and [SEP]
inputs, labels = mask_tokens(ids, rng, vocab_size=1000, mask_id=4, special_ids=[0, 1, 2, 3])
chosen = labels != -100
fate = np.select([~chosen, inputs == 4, inputs == ids], [0, 3, 1], 2)
figure, ax = plt.subplots(figsize=(8, 1.9))
ax.imshow(fate, cmap="Greys", vmin=0, vmax=3, aspect="auto")
ax.grid(visible=False)
ax.set(xlabel="token", ylabel="text", title="white: not chosen · light: kept · middle: random · black: [MASK]")
plots.show(figure, alt="A grid of eight texts by sixty tokens: most are white, about one in seven is grey or black.")
print({name: int((fate == kind).sum()) for kind, name in enumerate(["not chosen", "kept", "random", "[MASK]"])})


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-derive", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### Derive: what the model sees
#
# After masking, nobody can see which draw a token had. A random id can be that of `[MASK]`, or the token's own. So count a **chosen**
# token by the id that `inputs` has in its place:
#
# - `masked`: the id of `[MASK]`;
# - `kept`: the id that the token had before;
# - `replaced`: any other id.
#
# A batch has rows of `lengths` (B,) tokens, of which `specials` (B,) are special; no ordinary token is `[MASK]`. With the law of
# `mask_tokens`, derive for each row the **mean** numbers `masked`, `replaced` and `kept`, and `none`: the probability that nothing is
# chosen in this row. All are formulas; nothing is drawn. `none` is right for `rate=1` as well, and for rows of special tokens only.
#
# **By hand:** one ordinary token, V = 2, and the two ids are `[MASK]` and the token's own. With `rate=1`, how often is it masked, replaced, kept?
# <details><summary>Answer</summary>The random draw is [MASK] in half of the cases and the own id in the other half: 0.85, 0 and 0.15.</details>

# %% nbgrader={"grade": false, "grade_id": "derive_expected_masked-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def derive_expected_masked(lengths, specials, vocab_size, rate):
    """What becomes of a row on average, and how probable it is that nothing is chosen.

    Args:
        lengths: tokens of each row, special ones included, an array of whole numbers (B,).
        specials: special tokens of each row, (B,).
        vocab_size: number of ids in the vocabulary, V.
        rate: probability with which an ordinary token is chosen.

    Returns:
        The tuple (masked, replaced, kept, none), each (B,).
    """
    ### BEGIN SOLUTION
    ordinary = lengths - specials  # (B,)
    chosen = rate * ordinary
    masked = chosen * (0.8 + 0.1 / vocab_size)
    kept = chosen * (0.1 + 0.1 / vocab_size)
    return masked, chosen - masked - kept, kept, (1 - rate) ** ordinary
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "derive_expected_masked", "locked": true, "points": 6, "schema_version": 3, "solution": false, "task": false}
check("derive_expected_masked")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-derive-see", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### See your formula beside your masking
#
# Your `mask_tokens` masks 4,000 rows of each length, with a vocabulary of 40 ids. Before you run the cell: in which share of the rows of
# four ordinary tokens is nothing chosen, so that such a row costs time and teaches nothing?
# <details><summary>Answer</summary>0.85⁴ = 0.522: in more than half of them.</details>

# %% nbgrader={"grade": false, "grade_id": "expected", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
rng = np.random.default_rng(1)
lengths = np.array([6, 22, 62])  # [CLS] and [SEP] included
expected = np.stack(derive_expected_masked(lengths, np.array([2, 2, 2]), 40, 0.15))  # (4, 3)
for length, means in zip(lengths, expected.T, strict=True):
    ids = rng.integers(5, 40, size=(4000, length))
    ids[:, 0], ids[:, -1] = 2, 3
    inputs, labels = mask_tokens(ids, rng, 40, 4, [0, 1, 2, 3])
    chosen, is_mask, is_own = labels != -100, inputs == 4, inputs == ids
    kinds = chosen & is_mask, chosen & ~is_mask & ~is_own, chosen & is_own
    counted = [np.mean(kind.sum(axis=1)) for kind in kinds] + [np.mean(~chosen.any(axis=1))]
    names = ("masked", "replaced", "kept", "none")
    print(
        f"{length} tokens", *(f"· {n} {m:.3f}, counted {c:.3f}" for n, m, c in zip(names, means, counted, strict=True))
    )


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-4", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 2 · Up, then down
#
# Fine-tuning begins with a head that knows nothing on an encoder that knows much. The authors' published program begins with small steps.
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


# %% nbgrader={"grade": true, "grade_id": "warmup_linear_decay", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("warmup_linear_decay")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-design", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### Design a schedule
#
# You fine-tune the course's small BERT on 1,000 texts, in batches; the last batch of an epoch may be smaller. Every batch is a step, numbered from
# 0, and its rate is `warmup_linear_decay(step, peak, warmup_steps, total_steps)`. Choose the numbers so that **all** of these hold; any such
# choice is right, and you will train with it.
#
# - Every text is read at least twice and at most four times.
# - `total_steps` is the number of steps that you take, from 100 to 250. So the rate is back at 0 right after the last one.
# - The warm-up takes 5 to 20 % of the steps.
# - The peak is from 5·10⁻⁴ to 10⁻³, and at step 5, when the head still knows little, the rate is at most 3·10⁻⁴.

# %% nbgrader={"grade": false, "grade_id": "design-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def design():
    """Your schedule: a dictionary with batch_size, epochs, warmup_steps, total_steps and peak."""
    ### BEGIN SOLUTION
    return {"batch_size": 16, "epochs": 2, "warmup_steps": 20, "total_steps": 126, "peak": 1e-3}
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "design", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("design")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-bug", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 3 · Find the bug
#
# A colleague has written exercise 2 without an `if`: the rate is the lower of two lines. At the steps
# of the example above she gets what you get, and her fine-tuning runs.
#
# Delete the line `raise NotImplementedError`, and her code runs. Find out for which arguments it is wrong, and fix it in place.
# It is graded like `warmup_linear_decay`, all or nothing, and the check names no mistake: finding it is the exercise.

# %% nbgrader={"grade": false, "grade_id": "find_the_bug-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def find_the_bug(step, peak, warmup_steps, total_steps):
    """The learning rate of exercise 2: arguments and result are the same."""
    ### BEGIN SOLUTION
    up = step / warmup_steps if warmup_steps else 1.0
    down = (total_steps - step) / (total_steps - warmup_steps)
    return peak * max(0.0, min(up, down))
    ### END SOLUTION
    # This runs, and is wrong.
    up = step / max(warmup_steps, 1)
    down = (total_steps - step) / (total_steps - warmup_steps)
    return peak * max(0.0, min(up, down))


# %% nbgrader={"grade": true, "grade_id": "find_the_bug", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("find_the_bug")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-5", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 4 · The classifier
#
# The model has two halves of BERT that somebody else trained, and a head that you train.
#
# A **handle** says where a half is found: it is a folder, or an address on the web. `hub.KerasLayer(handle)` makes a layer of it. The
# course comes with a small BERT of its own, `bert.PREPROCESS` and `bert.ENCODER`; the published one has the handles
# `bert.PUBLIC_PREPROCESS` and `bert.PUBLIC_ENCODER`, and the same function takes either.
#
# | part | what it gives |
# |---|---|
# | input | one string for each text, shape `()`, dtype `tf.string` |
# | preprocessing | a dictionary, three rows for each text: ids, mask, segments |
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
        A tf_keras.Model, compiled or not: strings (B,) -> probabilities (B, num_classes).
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

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-lecture", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### See the lecture's classifier beside yours
#
# `plain_classifier` reads the three rows that the preprocessing makes. With your weights it must give the same.

# %% nbgrader={"grade": false, "grade_id": "lecture", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
texts = tf.constant(["Shares fall after the merger", "The striker scored twice"])
yours, lecture = build_news_classifier(bert.PREPROCESS, bert.ENCODER), plain_classifier(bert.ENCODER)
lecture.set_weights(yours.get_weights())  # the encoder's, then the head's
rows = hub.load(bert.PREPROCESS)(texts)  # three rows, each (B, T)
print(f"largest difference: {np.abs(lecture(rows).numpy() - yours(texts).numpy()).max():.4f}")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-6", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### Names instead of numbers (optional)
#
# No points. A reader of your model wants to know "Sports", not 1.
#
# Return the name of the most probable class for each text, in the order of the texts: a list of str. `model` is anything with a
# method `predict` that takes an array or a tensor of texts and gives probabilities (n, classes), as Keras models do; use that method.
# `class_names[0]` belongs to the first column. Without texts the result is an empty list: Keras raises an error for no texts.
#
# **Example:** probabilities (0.1, 0.7, 0.2) and (0.4, 0.3, 0.3) with the names a, b, c are `["b", "a"]`.

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


# %% nbgrader={"grade": true, "grade_id": "predict_class_names", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("predict_class_names")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-guess", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 5 · Predict, then answer
#
# The classifier is new: its head knows nothing, and it was not trained for a single step. What is its
# **mean cross-entropy**, in nats, on news whose classes are equally frequent?
#
# Guess first, for a classifier with **two classes**: put a number in place of `None`, delete the last line of the cell, and run both cells. In the
# second one your `build_news_classifier` makes such a classifier, and its loss on 200 news of two classes is measured. A guess earns no points.

# %% nbgrader={"grade": false, "grade_id": "guess", "locked": false, "schema_version": 3, "solution": true, "task": false}
guess = None  # one number, in nats
### BEGIN SOLUTION
guess = 0.69
### END SOLUTION

# %% nbgrader={"grade": false, "grade_id": "measured", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
if guess is None:
    print("First write your guess into the cell above.")
else:
    tf_keras.utils.set_random_seed(7)
    (some_texts, some_labels), _ = data.news(source=data.chosen_source())
    first_two = [place for place, label in enumerate(some_labels) if label < 2][:200]
    untrained = build_news_classifier(bert.PREPROCESS, bert.ENCODER, num_classes=2)
    untrained.compile(loss="sparse_categorical_crossentropy")
    of_two = tf.constant([some_texts[place] for place in first_two]), tf.constant([some_labels[place] for place in first_two])
    print(f"your guess {guess:.2f}, measured {untrained.evaluate(*of_two, verbose=0):.2f}")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-predict", "locked": true, "schema_version": 3, "solution": false, "task": false}
# Now answer the same question for a classifier of **four classes**, on news of four equally frequent classes. It has to be within 0.25, and at
# the end you are asked for the reason.

# %% nbgrader={"grade": false, "grade_id": "predict-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
predict = None  # one number, in nats
### BEGIN SOLUTION
predict = 1.4
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "predict", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check("predict")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-6b", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### Fine-tune it
#
# The course's small BERT, your head, your schedule, and 1,000 short news of the sample: about half a minute on two CPU cores. Another 200 texts
# are set apart for **validation**: their accuracy may decide on another schedule, or on when to stop. The test texts decide nothing; they come at
# the end. The small encoder takes a higher rate here than BERT-base, which is fine-tuned with 2 to 5·10⁻⁵ (Devlin et al. 2019, appendix
# A.3). Before you run the cell: at which step is the learning rate highest?
#
# <details><summary>Answer</summary>At the end of your warm-up.</details>

# %% nbgrader={"grade": false, "grade_id": "schedule", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
class Rate(tf_keras.callbacks.Callback):
    """Sets the learning rate before each step, and notes it with the loss."""

    def __init__(self, plan):
        super().__init__()
        self.plan, self.seen = plan, []

    def on_train_batch_begin(self, batch, logs=None):
        peak, warmup, total = (self.plan[name] for name in ("peak", "warmup_steps", "total_steps"))
        self.model.optimizer.learning_rate = warmup_linear_decay(len(self.seen), peak, warmup, total)
        self.model.reset_metrics()  # the loss in logs is a mean since the last reset: here of this batch alone

    def on_train_batch_end(self, batch, logs=None):
        self.seen.append((float(self.model.optimizer.learning_rate.numpy()), logs["loss"]))


# %% nbgrader={"grade": false, "grade_id": "fine-tuning", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
tf_keras.utils.set_random_seed(7)
plan = design()
(all_texts, all_labels), (test_texts, test_labels) = data.news(source=data.chosen_source())
train_texts, train_labels = all_texts[:1000], all_labels[:1000]
validation = tf.data.Dataset.from_tensor_slices((all_texts[1000:1200], all_labels[1000:1200])).batch(100)
batches = (
    tf.data.Dataset.from_tensor_slices((train_texts, train_labels)).shuffle(1000, seed=7).batch(plan["batch_size"])
)
model = build_news_classifier(bert.PREPROCESS, bert.ENCODER)
model.compile(tf_keras.optimizers.AdamW(), "sparse_categorical_crossentropy", metrics=["accuracy"])
rate = Rate(plan)
history = model.fit(batches, validation_data=validation, epochs=plan["epochs"], callbacks=[rate], verbose=0)
for epoch, share in enumerate(history.history["val_accuracy"], 1):
    print(f"after epoch {epoch}: {share:.1%} of the validation texts correct")

# %% nbgrader={"grade": false, "grade_id": "learning", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
rates, losses = np.array(rate.seen).T
figure, (left, right) = plt.subplots(1, 2, figsize=(8, 2.6))
left.plot(rates, color=diagrams.PALETTE["query"])
left.set(xlabel="step", ylabel="learning rate", title="your schedule")
right.plot(losses, color=diagrams.PALETTE["accent"], linewidth=1, label="each batch")
ends = np.arange(1, plan["epochs"] + 1) * len(batches) - 1  # the last step of each epoch
right.plot(ends, history.history["val_loss"], "o", color=diagrams.PALETTE["query"], label="validation")
right.set(xlabel="step", ylabel="loss, nats", title="fine-tuning")
right.legend(loc="upper right", bbox_to_anchor=(1, 0.92))
plots.show(
    figure, alt="Left: the learning rate by step, up and then down. Right: the loss of each batch, which falls, and that of the validation texts after each epoch."
)
test_texts, test_labels = test_texts[:400], test_labels[:400]
said = model.predict(tf.constant(test_texts), verbose=0).argmax(axis=1)  # (n,)
right_ones = np.mean(said == np.asarray(test_labels))
print(f"{right_ones:.1%} of {len(said)} texts that it has not seen are named correctly")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-6c", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### Two articles
#
# Neither comes from the data. Which class does each belong to, and will the model agree? Then change words of the articles and run the cell again: which
# words lead the model to another class?
# <details><summary>In our run</summary>Sci/Tech and Sports, and our model agreed.</details>

# %% nbgrader={"grade": false, "grade_id": "articles", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
ARTICLES = [
    "Carmaker shows a robot that walks. The company is known for cars that steer themselves. Now it wants the same "
    "cameras and software to guide a humanoid machine that carries boxes, waters plants and learns by watching people.",
    "Striker moves north before the deadline. The forward signed for four seasons after two clubs agreed on the fee late "
    "at night. His old team lets a midfielder go as well, and hopes to find a goalkeeper before the season starts.",
]
shares = model.predict(tf.constant(ARTICLES), verbose=0)  # (2, classes)
for article, share in zip(ARTICLES, shares, strict=True):
    print(f"{data.NEWS_CLASSES[share.argmax()]:9s} · {article[:70]} …")
figure, ax = plt.subplots(figsize=(6, 2))
plots.matrix_map(shares, rows=["robot", "striker"], columns=list(data.NEWS_CLASSES), ax=ax)
plots.show(figure, alt="The probabilities of the four classes for the two articles, one row each.")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-measure", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 6 · Measure: how far do the labels go?
#
# A head on the vectors of a frozen encoder is the cheapest way to a classifier. How many labels does it need? Few labels are a matter of luck:
# which texts did somebody label? So each size is measured with several random orders of the training texts, the same for all sizes. With `n`
# labels and one order, the head is fitted on the **first n texts of this order**: a smaller set is part of each larger one.
#
# `fit(x, y)` fits a head on vectors (n, D) with labels (n,) and returns a function `predict`, which turns vectors into labels. Fit once for each size and
# order, and measure the accuracy on **all test texts**. Return a dictionary:
#
# - `accuracy` (sizes, orders), and for each size over the orders `mean`, `low`, the smallest, and `high`, the largest one;
# - `base_rate`: the accuracy on the test texts of one constant answer, the class that is the commonest of **all** training labels.
#
# **By hand:** training labels 0, 1, 1, 2, 1 and test labels 1, 0, 0, 0. What is the base rate?
# <details><summary>Answer</summary>1 is the commonest training label, and correct for one of four test texts: 0.25.</details>

# %% nbgrader={"grade": false, "grade_id": "measure_labels-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def measure_labels(fit, train, test, sizes, orders):
    """Measure the accuracy of a head by the number of labels that it is fitted on.

    Args:
        fit: called as fit(x, y); returns a function predict(x) -> labels.
        train: the tuple (x, y) of vectors (N, D) and labels (N,), whole numbers from 0 on.
        test: such a tuple for the test texts.
        sizes: numbers of labels, a list.
        orders: a permutation of the N training texts in each row, (orders, N).

    Returns:
        A dictionary: accuracy (sizes, orders); mean, low and high, each (sizes,); base_rate, a number.
    """
    ### BEGIN SOLUTION
    (x, y), (x_test, y_test) = train, test
    accuracy = np.zeros((len(sizes), len(orders)))
    for row, size in enumerate(sizes):
        for column, order in enumerate(orders):
            predict = fit(x[order[:size]], y[order[:size]])
            accuracy[row, column] = np.mean(predict(x_test) == y_test)
    base_rate = np.mean(y_test == np.bincount(y).argmax())
    summary = {"mean": accuracy.mean(axis=1), "low": accuracy.min(axis=1), "high": accuracy.max(axis=1)}
    return {"accuracy": accuracy, **summary, "base_rate": base_rate}
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "measure_labels", "locked": true, "points": 7, "schema_version": 3, "solution": false, "task": false}
check("measure_labels")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-labels", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### See what frozen vectors are worth
#
# The frozen encoder gives two vectors for a text: `pooled_output`, which the classifier above reads, and the mean of `sequence_output` over the real tokens. The head is least squares with
# a penalty, solved in one line. Before you run the cells: which vector needs fewer labels?

# %% nbgrader={"grade": false, "grade_id": "vectors", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
preprocess, encoder = hub.load(bert.PREPROCESS), hub.load(bert.ENCODER)


def frozen_vectors(texts):
    """Two vectors of each text, (n, D) each, from rows of 64 tokens."""
    pooled, means = [], []
    for start in range(0, len(texts), 100):
        pieces = preprocess.tokenize(tf.constant(texts[start : start + 100]))
        rows = preprocess.bert_pack_inputs([pieces], seq_length=tf.constant(64))
        outputs, real = encoder(rows), tf.cast(rows["input_mask"], tf.float32)[..., None]  # (B, T, 1)
        pooled.append(outputs["pooled_output"])
        means.append(tf.reduce_sum(real * outputs["sequence_output"], axis=1) / tf.reduce_sum(real, axis=1))
    return {"pooled_output": np.concatenate(pooled), "mean of the tokens": np.concatenate(means)}


def fit(x, y):
    """Least squares on one column for each class; the penalty is in units of the vectors' own spread."""
    middle, wanted = x.mean(axis=0), np.eye(4)[y]
    spread = np.std(x - middle)
    z = (x - middle) / spread  # (n, D)
    weights = np.linalg.solve(z.T @ z + 10 * np.eye(z.shape[1]), z.T @ (wanted - wanted.mean(axis=0)))  # (D, 4)
    return lambda x_new: np.argmax((x_new - middle) / spread @ weights + wanted.mean(axis=0), axis=1)


# %% nbgrader={"grade": false, "grade_id": "labels", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
x_train, x_test = frozen_vectors(train_texts), frozen_vectors(test_texts)
orders = np.stack([np.random.default_rng(seed).permutation(1000) for seed in range(3)])
sizes, accuracy = [16, 64, 256], {}
figure, ax = plt.subplots(figsize=(5, 2.8))
for number, name in enumerate(x_train):
    train, test = (x_train[name], train_labels), (x_test[name], test_labels)
    found = measure_labels(fit, train, test, sizes, orders)
    accuracy[name] = found["accuracy"]  # (sizes, orders)
    reach = [found["mean"] - found["low"], found["high"] - found["mean"]]
    ax.errorbar(sizes, found["mean"], yerr=reach, capsize=3, label=name, **plots.LINES[number])
    each = zip(sizes, found["mean"], found["low"], found["high"], strict=True)
    print(f"{name:18}", *(f"· {size} labels {mean:.1%} ({low:.1%} to {high:.1%})" for size, mean, low, high in each))
print(f"base rate {found['base_rate']:.1%}; mean of the tokens minus pooled_output with 64 labels, order by order:")
print(*(f"{gap:+.1%}" for gap in (accuracy["mean of the tokens"] - accuracy["pooled_output"])[1]))
ax.axhline(found["base_rate"], color=diagrams.PALETTE["residual"], linestyle=":", label="base rate")
ax.set(xscale="log", xlabel="labelled texts", ylabel="test accuracy", xticks=sizes, xticklabels=sizes)
ax.minorticks_off()
ax.legend()
plots.show(
    figure, alt="Accuracy by number of labels for two vectors, mean and range of three orders, and the base rate."
)

# %% [markdown] nbgrader={"grade": false, "grade_id": "observed", "locked": true, "schema_version": 3, "solution": false, "task": false}
# Do the ranges of the two vectors overlap with 64 labels? And what do the differences say, where both have the same texts? Keep your numbers
# for "In your own words".

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-7", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 7 · By hand (optional)
#
# Three questions that come up in every project with a pre-trained model.
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

# %% nbgrader={"grade": true, "grade_id": "answers", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("answers")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-1", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 8 · Pieces and rows (optional)
#
# ### Words into pieces
#
# With a vocabulary of 30,000 pieces frequent words are written whole, and other words in parts.
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


# %% nbgrader={"grade": true, "grade_id": "wordpiece_tokenize", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("wordpiece_tokenize")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-2", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### A row for the encoder
#
# BERT reads rows of a fixed length, in which special tokens say where a text begins and ends.
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


# %% nbgrader={"grade": true, "grade_id": "pack_inputs", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("pack_inputs")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-2b", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### See your row
#
# A question and an answer, packed by you. Before you run the cell: where does the segment change from 0 to 1, and where back?
# <details><summary>Answer</summary>To 1 behind the first <code>[SEP]</code>, back to 0 behind the last one, where padding begins.</details>

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
    title="dark: 1, light: 0",
    ax=ax,
)
plots.show(figure, alt="The packed row: a column for each token, with its mask and its segment id below.")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-minilm", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## A published BERT against your classifier
#
# Your classifier fine-tuned a small BERT on 1,000 labels. MiniLM is a real one: six blocks, 22.6 million numbers, trained by others. Here it stays **frozen**, and a head learns from 256 labels only; your `measure_labels` measures it, with the same head and the same orders as above.
#
# Nothing here is graded. Set `TALK = True` and run the two cells. The first time, 84 MB are fetched; then it takes about half a minute and 1 GB of memory.
#
# **Predict.** On these news, which is ahead with 256 labels: the frozen MiniLM, or the frozen small BERT of the figure above? And what becomes of it when the news are real (`COURSE_SOURCE=real`)?

# %% tags=["demonstration"]
TALK = False  # True: fetch the published numbers

# %% nbgrader={"grade": false, "grade_id": "minilm", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
if TALK:
    from coursekit.pages.news_classifier import PlainBertBlock, PlainNewsBert, in_batches, table_means
    from coursekit.published import load_published

    minilm = load_published(PlainBertBlock, "minilm")
    pieces = {name: [minilm.pieces.encode(text, 128) for text in texts] for name, texts in (("train", train_texts), ("test", test_texts))}
    read = PlainNewsBert(minilm).vectors
    vectors = {
        "MiniLM, frozen": [in_batches(read, rows) for rows in pieces.values()],
        "its word table alone": [table_means(minilm.by_word, rows) for rows in pieces.values()],
    }
    for name, (x_own, x_own_test) in vectors.items():
        found = measure_labels(fit, (x_own, train_labels), (x_own_test, test_labels), sizes, orders)
        each = zip(sizes, found["mean"], found["low"], found["high"], strict=True)
        print(f"{name:20}", *(f"· {size} labels {mean:.1%} ({low:.1%} to {high:.1%})" for size, mean, low, high in each))
    print(f"your classifier, fine-tuned on 1,000 labels: {right_ones:.1%}")

# %% [markdown] nbgrader={"grade": false, "grade_id": "minilm-seen", "locked": true, "schema_version": 3, "solution": false, "task": false}
# The second row is the control: no block, no attention, the mean of the table's rows. How much of MiniLM's accuracy is left? On the sample a title tells the class, and its words occur in all classes; on real news the words say nearly everything. Lecture 7, sections 1 and 2, has the real news over ten draws.

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-8", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## In your own words
#
# A colleague masks every chosen token with `[MASK]`, "because a random id only confuses the model, and a kept one is no task at all".
# What would this model learn about tokens that are not masked, and what happens when it is fine-tuned on texts without any `[MASK]`?
# How did you find your prediction of exercise 5? And which of the two frozen vectors would you take for 64 labels: give your numbers with their ranges, and say what
# three orders and one encoder do not show. Three to eight sentences. This earns no points; your instructor reads it and writes back.

# %% [markdown] nbgrader={"grade": true, "grade_id": "explanation", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
# The model is asked for a token only where it sees [MASK], so it has no reason to say anything useful about the other places: there
# it could copy its input. In fine-tuning there is no [MASK] at all, and every place is of the kind that it was never asked about.
# Random ids and kept ids are asked for, too, and from outside they look like ordinary tokens, so the model has to keep a good guess
# for every place and cannot trust the id it sees. I would pre-train twice, with 100/0/0 and with 80/10/10, all else and several
# seeds the same, then compare the accuracy after fine-tuning with a few labelled texts and with many, with error bars. The
# BERT paper reports such a comparison (appendix C.2); the differences are small in fine-tuning, so the error bars matter.
#
# Exercise 5: a head that knows nothing gives the right class, one of four, a probability of about a quarter, and −ln(1/4) = 1.39.
# The start of its weights is random, so the probabilities differ a little from a quarter, and the loss is a little higher.
#
# For 64 labels I take the mean of the tokens: 78.2 % (75.2 to 81.2), against 72.1 % (69.8 to 75.8) of `pooled_output`. The ranges touch,
# but with the same texts the mean of the tokens is ahead each time, by 5.5, 5.5 and 7.3 points. Three orders of one training set and one
# test set of made-up texts show little of another task, and the penalty of the head was never searched: it may suit one vector better.

# %% [markdown] nbgrader={"grade": false, "grade_id": "closing", "locked": true, "schema_version": 3, "solution": false, "task": false}
# You have fine-tuned a pre-trained Transformer. Lectures 08 and 09 leave the encoder: a decoder that writes, and an encoder that
# sees.

# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#     text_representation:
#       extension: .py
#       format_name: percent
#       format_version: '1.3'
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 6 · A Transformer that reads film reviews
#
# *One encoder block, 657,737 numbers, and the question whether it beats counting words.*
#
# [← 5 · Positional encoding](05_positional_encoding.ipynb) · [Lab
# 6](../labs/06_imdb_classifier/06_imdb_classifier.ipynb) · [6b · Judging a classifier →](06b_judging_a_classifier.ipynb)
#
# **Afterwards you can**
#
# * turn sentences into rows of numbers, by hand and with Keras, and say what is lost on the way;
# * build a classifier around one encoder block and explain each of its 657,737 parameters;
# * show what leaks when padding is not masked, and find the place where a mask gets lost;
# * keep training, validation and test apart, and stop training in time;
# * put a small Transformer beside an LSTM of its size and a linear model, and say plainly which wins.
#
# The second part, [6b · Judging a classifier](06b_judging_a_classifier.ipynb), asks how far such a comparison can be trusted:
# splits, baselines, paired tests, errors, and what the model attended to.
#
# **You need** the [encoder block](04_encoder_block.ipynb), [positions](05_positional_encoding.ipynb), and Keras's
# `compile` and `fit`. **Time:** about 57 minutes to read and predict; on the sample the code runs in about two minutes
# on two CPU cores.
#
# Letters: **B** batch, **T** words of a review, **D** width of a word vector, **H** heads, **F** width inside the
# feed-forward network, **V** size of the vocabulary. *Word* and *token* are the same thing in this lecture.

# %% tags=["course-setup"]
# Colab: install the course's helper package. Anywhere else this cell does nothing.
import sys

if "google.colab" in sys.modules:
    print("This notebook was not told where Colab finds the course's helper package: ask whoever gave it to you.")

# %%
from coursekit import data, diagrams, plots, quiet

quiet.start_tensorflow()  # keeps its start-up messages out of the notebook
plots.use_course_style()

import time

import keras
import matplotlib.pyplot as plt
import numpy as np
import tensorflow as tf
from keras import layers, ops

tf.get_logger().setLevel("ERROR")  # rows of many widths are meant
print("device:", (tf.config.list_physical_devices("GPU") or tf.config.list_physical_devices("CPU"))[0].device_type)

# %% [markdown]
# ## 1 · From a sentence to a row of numbers
#
# A network takes numbers in a rectangle. A text becomes such a rectangle in five steps:
#
# | step | what happens | decision that you make |
# |---|---|---|
# | **standardise** | change to lower case, remove line breaks and punctuation | is "Good!" the same as "good"? |
# | **tokenise** | split at spaces | words, pieces of words, letters? |
# | **vocabulary** | list the most frequent words of the *training* texts | how many? |
# | **vectorise** | each word becomes its place in that list | what about words that are not in it? |
# | **pad and cut** | rows of equal length | how long, and which end is cut? |
#
# Two places of the list are taken: **0 is padding, 1 is `[UNK]`**, any unknown word.
#
# **By hand.** Three texts: "The quick brown fox", "jumps over the lazy dog!", "the fox is quick". Write down the
# vocabulary, by falling count, ties in alphabetical order. Then write down the three rows, padded at the end to five.
#
# <details><summary>Answer</summary>
#
# Counts: the 3, fox 2, quick 2, then brown, dog, is, jumps, lazy, over with 1 each. With padding and `[UNK]` the list
# has eleven entries: "", [UNK], the, fox, quick, brown, dog, is, jumps, lazy, over. Rows:
#
# `2 4 5 3 0` · `8 10 2 9 6` · `2 3 7 4 0`
#
# </details>

# %%
# NBVAL_CHECK_OUTPUT
EXAMPLE = ["The quick brown fox", "jumps over the lazy dog!", "the fox is quick"]
BY_HAND = ["the", "fox", "quick", "brown", "dog", "is", "jumps", "lazy", "over"]


def plain(texts):
    """Lower case, HTML line breaks to spaces, no punctuation; string tensors of any shape."""
    texts = tf.strings.regex_replace(tf.strings.lower(texts), r"<br\s*/?>", " ")
    return tf.strings.regex_replace(texts, "[[:punct:]]", "")


by_hand = layers.TextVectorization(standardize=plain, vocabulary=BY_HAND, output_sequence_length=5)
rows = np.asarray(by_hand(EXAMPLE))  # (3, T)
for text, row in zip(EXAMPLE, rows, strict=True):
    print(f"{text:26} {row}")
print("the hand's rows:", np.array_equal(rows, [[2, 4, 5, 3, 0], [8, 10, 2, 9, 6], [2, 3, 7, 4, 0]]))

# %%
words = np.array(["·", "[UNK]", *BY_HAND])
figure, ax = plt.subplots(figsize=(6.4, 2.0))
plots.matrix_map(
    0 * rows, rows=["text 0", "text 1", "text 2"], mask=rows > 0, values=False, cmap="Greys", limits=(0, 1), ax=ax
)
for (text, place), number in np.ndenumerate(rows):
    ax.text(place, text, f"{number}  {words[number]}" if number else "0", ha="center", va="center")
ax.set(xticks=range(5), xlabel="place in the text")
plots.show(
    figure,
    alt="""A table of three rows and five columns. Each cell holds a number and the word it stands for: 2 the, 4 quick,
5 brown, 3 fox in the first row. The last cell of the first and of the third row holds 0 and is hatched: padding.""",
)

# %% [markdown]
# **Predict.** Three more texts go through the same vocabulary: "the slow fox", "Quick-quick", and "the quick brown fox
# jumps over the lazy dog". Which rows come out?
#
# <details><summary>Answer</summary>
#
# `2 1 3 0 0`: "slow" is unknown. `1 0 0 0 0`: the hyphen is removed, and "quickquick" is not in the list. `2 4 5 3 8`: the
# last four words are cut off. None of these losses gives a message.
#
# </details>

# %%
# NBVAL_CHECK_OUTPUT
for text in ("the slow fox", "Quick-quick", "the quick brown fox jumps over the lazy dog"):
    row = np.asarray(by_hand(text))  # (T,)
    print(f"{text:44} {row}  back in words: {' '.join(words[row])}")

learned = layers.TextVectorization(standardize=plain)
learned.adapt(EXAMPLE)
print("\nKeras's own list:", " ".join(learned.get_vocabulary()[2:]))

# %% [markdown]
# Keras orders by count as well, but it puts words of equal count in the order from z to a. This does not matter, as long as the same list is
# used in training and afterwards. So save a model together with its vocabulary.
#
# ## 2 · The reviews
#
# The data is what `SOURCE` says. **"real"** is IMDB: 25,000 + 25,000 reviews of Maas et al. (2011), positive (7 stars
# or more) or negative (4 or fewer); according to its makers no film is in both parts. (Our copy has 24,996 + 24,996: eight files were damaged.)
# **"sample"** is synthetic: short reviews from a grammar of this project, made so that word order decides. This page is
# stored with the real reviews, and where the text says "stored page" it means their numbers. Unless you say otherwise you
# get the sample. To repeat this page as it is stored, run
#
# ```
# COURSE_SOURCE=real COURSE_DATA=FOLDER jupyter nbconvert --to notebook --execute --inplace lectures/06_imdb_classifier.ipynb
# ```

# %%
SOURCE = data.chosen_source()
(texts, labels), (test_texts, test_labels) = data.reviews(source=SOURCE)

in_test = set(test_texts)
place_of = {text: place for place, text in enumerate(texts) if text not in in_test}  # one place for each text
order = np.random.default_rng(0).permutation(list(place_of.values()))
print(f"left out as repeats, or because the test split holds them too: {len(texts) - len(order)} of {len(texts):,}")
texts, labels = [texts[place] for place in order], np.asarray(labels)[order]
HELD_BACK = len(texts) // 10
print(f"training {len(texts) - HELD_BACK:,}, validation {HELD_BACK:,}, test {len(test_texts):,}")
print(f"share of positive reviews: {labels.mean():.1%} and {np.mean(test_labels):.1%}")

# %% [markdown]
# **Three parts, three uses.** The weights are fitted to the *training* part. Every choice (how long, which pooling, when to
# stop) is made on the *validation* part, a tenth of the training split held back. The *test* split answers one
# question at the very end, once.
#
# Before the data is divided, repeated reviews are dropped, and so is every training review that is word for word in the test
# split as well. The real set has some of each. If they stayed, the model would be tested on reviews whose label it has seen.
#
# We draw the validation part at random, as is usual. Keep this in mind: section 9 and lecture 6b come back to it.
#
# **Predict.** From which part may the vocabulary be made?
#
# <details><summary>Answer</summary>
#
# From training only. It is learned from data like any weight. If the test texts were in it, no test word would ever be
# unknown. With tomorrow's reviews that will not be so.
#
# </details>

# %%
VOCABULARY = 20_000
vectorize = layers.TextVectorization(max_tokens=VOCABULARY, standardize=plain, ragged=True)
vectorize.adapt(tf.data.Dataset.from_tensor_slices(texts[HELD_BACK:]).batch(512))
names = np.array(["·", *vectorize.get_vocabulary()[1:]])


def to_rows(some_texts):
    """Texts as a ragged tensor of ids: every review as long as it is."""
    return tf.concat([vectorize(some_texts[start : start + 512]) for start in range(0, len(some_texts), 512)], axis=0)


rows = to_rows(texts)  # (N, T of each)
validation = rows[:HELD_BACK], labels[:HELD_BACK]
training = rows[HELD_BACK:], labels[HELD_BACK:]
lengths = rows.row_lengths().numpy()
counts = np.bincount(training[0].flat_values.numpy(), minlength=VOCABULARY)  # (V,)
print(
    f"vocabulary: {len(names):,} words; unknown in the validation part: {np.mean(validation[0].flat_values.numpy() == 1):.1%}"
)

# %% [markdown]
# How long must a row be? If it is too short, the verdict may be cut off. If it is too long, attention's T × T scores cost time and memory.
#
# **By hand.** Whole documents instead of reviews: T = 4,096. How many scores has one head? How many if each query sees a window of 256 keys?
#
# <details><summary>Answer</summary>
#
# 4,096² is 16.8 million, and 4,096 · 256 is 1.05 million, a sixteenth. Lecture 5 measured what such a window does to the answers. Other ways to compute fewer scores: a
# window with some random and some global keys (BigBird), keys and values projected from T rows to a fixed number (Linformer), and a
# softmax that is approximated by a product of features (Performer).
#
# </details>
#
# **Predict.** A published model keeps 200 words. What share of the real reviews is longer than that, and what share of all
# words is lost?

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.2))
left.hist(np.minimum(lengths, 1000), bins=50, color=diagrams.PALETTE["query"])
for length, height in ((200, 0.9), (600, 0.6)):
    left.axvline(length, color=diagrams.PALETTE["accent"], linestyle="--")
    left.text(
        length, height, f" {length} words", transform=left.get_xaxis_transform(), color=diagrams.PALETTE["accent"]
    )
left.set(xlabel="words of a review (1,000 and more together)", ylabel="reviews", xlim=(0, 1010))
share = np.cumsum(np.sort(counts[1:])[::-1]) / counts[1:].sum()  # the id 1, unknown, counts as one word
right.semilogx(np.arange(1, len(names)), share[: len(names) - 1], color=diagrams.PALETTE["query"])
right.set(xlabel="most frequent words (logarithmic)", ylabel="share of running text", ylim=(0, 1.02))
plots.show(
    figure,
    alt="""Left, a histogram of review lengths in words with lines at 200 and 600. On the real reviews it peaks below 200
and has a long tail beyond 600. Right, the share of running text covered by the most frequent words, on a logarithmic
axis: a curve that climbs steeply, then flattens.""",
)
for length in (200, 600):
    print(
        f"cut at {length}: {np.mean(lengths > length):.0%} of the reviews lose something, {1 - np.minimum(lengths, length).sum() / lengths.sum():.0%} of all words go"
    )

# %% [markdown]
# On the real reviews about four in ten are cut at 200, and nearly a third of all words is lost. (The sample's reviews are all
# shorter.) So **which end to keep** is a decision, and it matters. Where do you expect the verdict of a review, in its
# first 200 words or in its last? This page keeps the last 200; lecture 6b tells how that was decided. (The lab keeps
# the first words. It works with the sample, whose reviews are all shorter than its rows.)
#
# The curve on the right is the reason why we keep 20,000 words. Most of them are rare, and each of these rare words gets 32 parameters of its own.

# %%
rare = np.mean(counts[2 : len(names)] < 100)
print(f"{rare:.0%} of the {len(names):,} words of the list occur fewer than a hundred times in training")

# %% [markdown]
# ## 3 · One-hot or embedding
#
# A word's number is a name, not a quantity: 4 is not twice 2. The classical remedy is **one-hot**, a vector of V
# zeros with a single 1. An **embedding** is a learned matrix E of shape (V, D), of which each word picks its row.
#
# **Calculate.** V = 4, D = 2, E = ((0, 0), (1, 5), (2, 6), (3, 7)). Multiply the one-hot vector of word 2 by E.
#
# <details><summary>Answer</summary>
#
# (0, 0, 1, 0) · E = (2, 6), the row of word 2. An embedding *is* a dense layer without bias on one-hot vectors; it
# only skips the multiplications by zero.
#
# </details>

# %%
# NBVAL_CHECK_OUTPUT
table = np.array([[0, 0], [1, 5], [2, 6], [3, 7]], "float32")  # (V, D)
sentence = np.array([2, 3, 0])  # (T,)
one_hot = np.asarray(ops.one_hot(sentence, 4))  # (T, V)
embedding = layers.Embedding(4, 2)
embedding.build((None,))
embedding.set_weights([table])
print("one-hot @ E :", (one_hot @ table).tolist())
print("Embedding   :", np.asarray(embedding(sentence)).tolist())
print("distance of any two different one-hot words:", round(float(np.linalg.norm(one_hot[0] - one_hot[1])), 3))
for name, width in {"one-hot": 20_000, "embedding": 32}.items():
    print(f"a review of 200 words as {name:9}: {200 * width * 4 / 1e6:6.3f} MB")

# %% [markdown]
# Two differences matter. **Memory**: 16 MB against 26 kB for one review. And **distance**: among one-hot vectors every
# word is equally far from every other, "superb" from "excellent" as far as from "dull". In an embedding, words that do the same for the task can move together in training. Lecture 6b checks whether they did.

# %% [markdown]
# ## 4 · The model, counted to the last parameter
#
# Word vectors plus position vectors, one encoder block in post-norm (lecture 4), the mean over the words, a small
# head. It is the network of the Keras code example *Text classification with Transformer* (Nandan, 2020), with one
# output instead of two, and with masks.

# %%
figure, ax = diagrams.canvas(9.4, 3.0)
ids = diagrams.box(ax, 0.75, 1.2, "ids", detail="(B, T)", width=1.1)
embed = diagrams.box(ax, 2.6, 1.2, "word + position", role="key", detail="(B, T, D)", width=1.6)
block = diagrams.box(ax, 4.65, 1.2, "encoder block", role="query", detail="(B, T, D)", width=1.6)
pool = diagrams.box(ax, 6.6, 1.2, "mean", role="value", detail="(B, D)", width=1.3)
head = diagrams.box(ax, 8.5, 1.2, "head", role="output", detail="(B, 1)", width=1.2)
for here, there in zip((ids, embed, block, pool), (embed, block, pool, head), strict=True):
    diagrams.arrow(ax, here, there)
mask = diagrams.box(ax, 2.6, 2.5, "mask: id ≠ 0", role="mask", detail="(B, T)", width=1.6)
diagrams.arrow(ax, ids, (0.75, 2.5), mask, dashed=True)
diagrams.arrow(ax, mask, (4.65, 2.5), block, dashed=True)
diagrams.arrow(ax, mask, (6.6, 2.5), pool, dashed=True)
for place, count in ((ids, "parameters:"), (embed, "646,400"), (block, "10,656"), (pool, "0"), (head, "660 + 21")):
    diagrams.note(ax, place.x, 0.55, count, fontsize=10)
plots.show(
    figure,
    alt="""Block diagram from left to right: ids, word and position embedding with 646,400 parameters, encoder block with
10,656, mean with none, head with 660 and 21. A mask made from the ids goes by dashed arrows to the encoder block and to
the mean.""",
)


# %%
class TokenAndPositionEmbedding(keras.Layer):
    """Word vector plus position vector: ids (B, T) -> (B, T, D). Says which ids are padding, if asked to."""

    def __init__(self, length, width, masked=True):
        super().__init__()
        self.words = layers.Embedding(VOCABULARY, width, mask_zero=masked)
        self.places = layers.Embedding(length, width)

    def call(self, ids):
        return self.words(ids) + self.places(ops.arange(ops.shape(ids)[1]))  # (B, T, D) + (T, D) -> (B, T, D)

    def compute_mask(self, ids, mask=None):
        return self.words.compute_mask(ids)  # (B, T), True: a word; None without masks


# %%
class HideWords(keras.Layer):
    """While training, turns each id (B, T) but the first into padding with the given probability."""

    def __init__(self, rate):
        super().__init__()
        self.rate, self.seeds = rate, keras.random.SeedGenerator()

    def call(self, ids, training=False):
        if not (training and self.rate):
            return ids
        keep = keras.random.uniform(ops.shape(ids), seed=self.seeds) >= self.rate  # (B, T)
        return ids * ops.cast(keep | (ops.arange(ops.shape(ids)[1]) == 0), ids.dtype)


# %%
def review_transformer(length=200, width=32, dropout=0.1, hidden=0.0, masked=True, join=layers.add):
    """Ids (B, T) to the probability of a positive review (B, 1)."""
    ids = keras.Input((None,), dtype="int32")  # (B, T)
    x = TokenAndPositionEmbedding(length, width, masked)(HideWords(hidden)(ids))  # (B, T, D)
    attended = layers.MultiHeadAttention(2, key_dim=width)(query=x, value=x)  # (B, T, D)
    x = layers.LayerNormalization(epsilon=1e-6)(join([x, layers.Dropout(dropout)(attended)]))
    fed = layers.Dense(width)(layers.Dense(width, activation="relu")(x))  # (B, T, D)
    x = layers.LayerNormalization(epsilon=1e-6)(join([x, layers.Dropout(dropout)(fed)]))
    x = layers.Dropout(dropout)(layers.GlobalAveragePooling1D()(x))  # (B, D)
    x = layers.Dropout(dropout)(layers.Dense(20, activation="relu")(x))  # (B, 20)
    return keras.Model(ids, layers.Dense(1, activation="sigmoid", dtype="float32")(x))  # (B, 1)


# %% [markdown]
# Where is the mask? No line of this code passes it on. With `mask_zero=True` the embedding attaches a mask to its output. Keras passes it
# from layer to layer: attention blocks the padding keys with it, and the mean divides by the number of real words. That saves code, and
# section 6 shows how it can fail.
#
# **Calculate** before you run the cell: embedding, block, head, with V = 20,000, T = 200, D = F = 32, H = 2 and
# `key_dim` = D, as in the published model.
#
# <details><summary>Answer</summary>
#
# Words 20,000·32 = 640,000; positions 200·32 = 6,400. Attention: query, key, value 3·(32·64 + 64) = 6,336, output
# 64·32 + 32 = 2,080. Feed-forward 2·(32·32 + 32) = 2,112. Two norms 2·64 = 128. So the block has 8,416 + 2,112 + 128 =
# **10,656**. Head: 32·20 + 20 = 660 and 20 + 1 = 21. Together **657,737**.
#
# </details>

# %%
# NBVAL_CHECK_OUTPUT
total = 0
for layer in review_transformer().layers:
    if count := layer.count_params():
        total += count
        sizes = " ".join("x".join(map(str, weight.shape)) for weight in layer.weights)
        print(f"{type(layer).__name__:26} {count:8,}  {sizes}")
print(f"{'together':26} {total:8,}  of which {640_000 / total:.0%} are word vectors")


# %% [markdown]
# 97 of 100 parameters are word vectors. The encoder block, the only part with attention, has 1.6 %.
#
# ### A variant: the maximum of 600 words
#
# A second published form of this classifier reads 600 words, has **no positions**, keeps the **largest** value of each feature
# over the words in place of the mean (`GlobalMaxPooling1D`), and goes through dropout 0.5 straight to one output.
#
# **Calculate** its parameters, with V = 20,000 and the same block. And with an LSTM of 32 units in place of the block?
#
# <details><summary>Answer</summary>
#
# Words 640,000, block 10,656, output 32 + 1 = 33: together **650,689**. The LSTM has 4·(64·32 + 32) = 8,320 in place of
# 10,656: **648,353**. Without positions the model does not know the order of the words at all (lecture 5).
#
# </details>

# %%
# NBVAL_CHECK_OUTPUT
def largest_of_600(recurrent=False, width=32):
    """Ids (B, 600) to the probability of a positive review (B, 1): no positions, and the largest value of each feature."""
    ids = keras.Input((600,), dtype="int32")  # (B, T)
    x = layers.Embedding(VOCABULARY, width)(ids)  # (B, T, D)
    if recurrent:
        x = layers.LSTM(width, return_sequences=True)(x)  # (B, T, D)
    else:
        attended = layers.MultiHeadAttention(2, key_dim=width)(query=x, value=x)  # (B, T, D)
        x = layers.LayerNormalization(epsilon=1e-6)(x + attended)
        fed = layers.Dense(width)(layers.Dense(width, activation="relu")(x))  # (B, T, D)
        x = layers.LayerNormalization(epsilon=1e-6)(x + fed)
    x = layers.Dropout(0.5)(layers.GlobalMaxPooling1D()(x))  # (B, D)
    return keras.Model(ids, layers.Dense(1, activation="sigmoid")(x))  # (B, 1)


print(f"encoder block: {largest_of_600().count_params():,} parameters; LSTM: {largest_of_600(recurrent=True).count_params():,}")


# %% [markdown]
# Note the pooling: `GlobalMaxPooling1D` takes no mask, so padding takes part in the maximum. Section 10 shows that padding
# can win. Both forms, with words alone and with padding, are in `experiments/imdb_models.py`.
#
# ## 5 · Training, and when to stop
#
# Since padding does not count, a row need only be as long as the longest review of its batch. So we put reviews of similar length into one batch. `batch_size`, `compile`, `fit` and the callback are ordinary Keras, and run
# unchanged on one GPU.

# %%
def batches(part, length=200, batch_size=64, shuffle=True):
    """The last `length` words of each review; reviews of similar length share a batch. Gives (B, T) and (B,)."""
    some_rows, some_labels = part
    stream = tf.data.Dataset.from_tensor_slices((some_rows[:, -length:], some_labels))
    stream = stream.map(lambda ids, label: (ids + 0, label)).cache()  # + 0: a ragged row becomes a plain tensor
    if shuffle:
        stream = stream.shuffle(some_rows.shape[0])
    edges = np.array([edge for edge in (16, 24, 32, 40, 80, 120, 160, 200, 300, 400) if edge < length])
    together = stream.bucket_by_sequence_length(lambda ids, _: tf.size(ids), edges + 1, [batch_size] * (len(edges) + 1))
    groups = np.bincount(np.searchsorted(edges, np.minimum(some_rows.row_lengths(), length)))  # reviews of each group
    return together.apply(tf.data.experimental.assert_cardinality(int(np.sum(-(-groups // batch_size))))).prefetch(2)


padded = sum(int(tf.size(ids)) for ids, _ in batches(validation))
real_words = np.minimum(lengths[:HELD_BACK], 200).sum()
print(f"validation: {real_words:,} words; rows of 200 hold {200 * HELD_BACK:,} places, these batches {padded:,}")

# %%
SETTINGS = {  # chosen on validation: see lecture 6b. The learning rate falls in a straight line to `rest` times itself
    "sample": {"learning_rate": 2e-3, "rest": 0.0, "dropout": 0.1, "hidden": 0.0, "batch_size": 32, "epochs": 12, "patience": 4},
    "real": {"learning_rate": 2e-3, "rest": 0.0, "dropout": 0.1, "hidden": 0.3, "batch_size": 64, "epochs": 2, "patience": 2},
}[SOURCE]  # fmt: skip
NO_BRAKES = {**SETTINGS, "learning_rate": 1e-3, "rest": 1.0, "dropout": 0.0, "hidden": 0.0, "epochs": 6, "patience": 6}
runs = {}


# %%
def train(name, model, settings=SETTINGS):
    """Fit with early stopping; the weights of the best epoch stay. Keeps the history and CPU seconds in `runs`."""
    reviews, rate = batches(training, batch_size=settings["batch_size"]), settings["learning_rate"]
    steps = settings["epochs"] * int(reviews.cardinality())
    rate = keras.optimizers.schedules.PolynomialDecay(rate, steps, end_learning_rate=rate * settings["rest"])
    model.compile(
        optimizer=keras.optimizers.Adam(rate), loss="binary_crossentropy", metrics=["accuracy"],
        jit_compile=False,  # batches come in many shapes; each would be compiled anew
    )  # fmt: skip
    stop = keras.callbacks.EarlyStopping(patience=settings["patience"], restore_best_weights=True)  # by val_loss
    begun = time.process_time()
    history = model.fit(
        reviews, validation_data=batches(validation, shuffle=False), epochs=settings["epochs"], callbacks=[stop],
        shuffle=False, verbose=0,  # batches() has shuffled already
    ).history  # fmt: skip
    best = int(np.argmin(history["val_loss"]))
    runs[name] = history | {"cpu": (time.process_time() - begun) / len(history["loss"]), "best": best}
    print(f"{name}: {len(history['loss'])} epochs, {runs[name]['cpu']:.0f} CPU seconds each; best is epoch {best + 1}: "
          f"training {history['accuracy'][best]:.3f}, validation {history['val_accuracy'][best]:.3f}")  # fmt: skip


# %% [markdown]
# The model is trained twice: as it will be used, and once without any brake, for six epochs at a constant learning rate.
#
# **Predict.** 640,000 word parameters, some 20,000 reviews. Without brakes, will the training loss and the validation
# loss drift apart, and when?

# %%
for name, settings in {"no brakes": NO_BRAKES, "Transformer": SETTINGS}.items():
    keras.utils.set_random_seed(6)
    transformer = review_transformer(dropout=settings["dropout"], hidden=settings["hidden"])
    train(name, transformer, settings)

# %%
figure, panels = plt.subplots(1, 2, figsize=(9.4, 3.4))
for metric, ax in zip(("loss", "accuracy"), panels, strict=True):
    plots.training_history({name: runs[name] for name in ("Transformer", "no brakes")}, metric=metric, ax=ax)
    best = runs["Transformer"]["best"] + 1
    ax.plot(best, runs["Transformer"][f"val_{metric}"][best - 1], "o", markersize=13, markerfacecolor="none",
            markeredgecolor=diagrams.PALETTE["ink"])  # fmt: skip
panels[0].get_legend().remove()
panels[1].legend(loc="center left", bbox_to_anchor=(1, 0.5))
plots.show(
    figure,
    alt="""Loss and accuracy by epoch, training and validation, with brakes and without. Without brakes the training loss
goes on falling to nearly 0; on the real reviews the validation loss rises meanwhile. A ring marks the epoch that is kept.""",
)


# %% [markdown]
# **What is learned by heart?** Without brakes the training accuracy nears 1. On the real reviews the validation loss rises after the first epochs: what the model learns from then on helps with the training reviews only. On the sample a rule
# explains every label, and learning it to the end does no harm.
#
# Three brakes keep the model from memorising. **Dropout** 0.1, as published. A **learning rate that falls to 0** over
# the planned epochs, so that the last steps are small. And, on the real reviews, **hidden words**: a
# third of the words of each training review becomes padding, other ones each time, so that the model cannot rely on a single rare word. On the sample nothing is hidden: a single hidden "not" turns such a review
# round, and its label would be wrong. A regulariser assumes something about the data; this one assumes that a review keeps its
# verdict when some of its words are missing.
#
# On the stored page the run with brakes reaches 0.881 on validation and the one without 0.877 after its best epoch. Chance
# allows ±0.013, and the learning rate differs as well: this pair shows the rising loss, and not how much each brake is worth.
#
# Read the pair of curves, never one alone. **Early stopping** keeps the weights of the best epoch (the ring) and ends a
# run soon after it. With the setting for the real reviews, two planned epochs, it has nothing to stop; there it only keeps
# the better of the two.
#
# It watches the loss rather than the accuracy. The loss also rises when the model becomes too sure of wrong answers,
# which the accuracy does not show. The two may disagree by an epoch: with a constant learning rate, more reviews can be right
# while the loss is rising already. The recorded runs of lecture 6b have both.
#
# ## 6 · Padding: what leaks
#
# The model is trained. Now we use its weights in four versions. *Masked* is ours. In *lost at +* the word vectors carry
# their mask, but the residual sum is written `x + y` instead of `layers.add`. The other two have no mask, with padding
# at the end, and in front as `keras.utils.pad_sequences` does it by default. Each gets the same 400 validation reviews,
# shortened to their last 40 words, in rows that are longer and longer.
#
# **Predict.** For which versions does the accuracy depend on the width of the row?
#
# <details><summary>Answer</summary>
#
# It does for all but the first. It does even for "lost at +", where attention still gets its mask and only the mean does not.
#
# </details>

# %%
def with_weights_of(model, **settings):
    """A model built otherwise, with the same weights."""
    copy = review_transformer(**settings)
    copy.set_weights(model.get_weights())
    return copy


versions = {
    "masked": (transformer, "end"),
    "mask lost at +": (with_weights_of(transformer, join=lambda pair: pair[0] + pair[1]), "end"),
    "no mask, end": (with_weights_of(transformer, masked=False), "end"),
    "no mask, front": (with_weights_of(transformer, masked=False), "front"),
}
short = validation[0][:400, -40:].to_tensor(shape=(400, 40)).numpy()  # (400, T), padded at the end
widths = [40, 60, 80, 120, 160, 200]
seen = {name: [] for name in versions}
for name, (model, side) in versions.items():
    for width in widths:
        extra = (0, width - 40) if side == "end" else (width - 40, 0)
        wide = np.pad(short, [(0, 0), extra])  # (400, width)
        seen[name].append(np.asarray(model(wide))[:, 0])  # (400,)

# %%
figure, ax = plt.subplots(figsize=(6.6, 3.4))
for line, (name, outputs) in enumerate(seen.items()):
    right = [np.mean((p > 0.5) == validation[1][:400]) for p in outputs]
    plots.measured_curve(widths, right, label=name, line=line, ax=ax)
ax.set(xlabel="width of the row (40 words and padding)", ylabel="accuracy")
plots.show(
    figure,
    alt="""Accuracy on 400 shortened validation reviews by the width of the padded row, for four versions with the same
weights. The masked version is a horizontal line. The versions without a mask, and the one whose mask is lost at a plus
sign, change as padding is added.""",
)
review = 0
for name, outputs in seen.items():
    print(f"{name:15} one review, rows of 40 to 200: " + " ".join(f"{p[review]:.3f}" for p in outputs))

# %%
# NBVAL_CHECK_OUTPUT
for name, outputs in seen.items():
    print(f"{name:15} same output whatever the padding: {all(np.allclose(outputs[0], p, atol=1e-4) for p in outputs)}")


# %% [markdown]
# The last cell is the test to write for any model that reads padded rows: **add padding, and nothing may change.**
# Loss and accuracy may not show it, if a model is trained and tested without a mask on rows of one width, such as 200. It answers differently as soon as the
# rows have another width.
#
# How can a mask get lost? In Keras 3.15 a mask is attached to the *output of a layer*. A bare operation (`x + y`,
# `ops.matmul`) returns a tensor without one, and the next layer does not complain. `layers.add` passes it on. A layer
# of your own passes it on only with `supports_masking = True` or a `compute_mask`. If you prefer to see where the mask goes, pass it yourself, as in lecture 4: `attention_mask=` in attention, and a weighted mean instead of the
# pooling layer. The lab does it that way.

# %% [markdown]
# ## 7 · An LSTM of the same size
#
# The second model has the same word vectors and the same head. In place of the block it has an LSTM that reads word after word, and whose last
# state goes to the head. The comparison is not quite fair: the learning rate, the hidden words and the
# number of epochs were chosen for the Transformer, and we did not search for better ones for the LSTM.
#
# **Calculate.** An LSTM of U units has four gates, each with weights for input and state and a bias: 4·((D + U)·U + U).
# Which U brings the whole model to about 657,737 parameters?
#
# <details><summary>Answer</summary>
#
# Words 640,000, head 20·U + 20 + 21. For U = 50: LSTM 4·(82·50 + 50) = 16,600, head 1,041, together 657,641: 96 fewer.
#
# </details>

# %%
def review_lstm(width=32, units=50, dropout=0.1, hidden=0.0):
    """Ids (B, T) to the probability of a positive review (B, 1), word after word."""
    ids = keras.Input((None,), dtype="int32")  # (B, T)
    x = layers.Embedding(VOCABULARY, width, mask_zero=True)(HideWords(hidden)(ids))  # (B, T, D)
    x = layers.Dropout(dropout)(layers.LSTM(units)(x))  # (B, U): the state after the last real word
    x = layers.Dropout(dropout)(layers.Dense(20, activation="relu")(x))  # (B, 20)
    return keras.Model(ids, layers.Dense(1, activation="sigmoid", dtype="float32")(x))  # (B, 1)


keras.utils.set_random_seed(6)
lstm = review_lstm(dropout=SETTINGS["dropout"], hidden=SETTINGS["hidden"])
print(f"{lstm.count_params():,} parameters")
train("LSTM", lstm)

# %% [markdown]
# ## 8 · A linear baseline
#
# Count the words and the pairs of neighbouring words of a review, give rare ones more weight (TF-IDF), and separate the classes by one linear function (logistic regression). This
# needs no word vectors, no GPU and no seed, and it uses no order beyond pairs. The strength
# of its regularisation, C, is chosen on the same validation part. Only two values are tried here, and the larger one wins on
# the real reviews. Lecture 6b tries values up to 100.

# %%
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression


def clean(some_texts):
    return [text.decode() for text in plain(tf.constant(some_texts)).numpy()]


begun = time.process_time()
bag = TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True, token_pattern=r"\S+")
counted = bag.fit_transform(clean(texts[HELD_BACK:]))  # (N, words and pairs), nearly all zero
held_back = bag.transform(clean(texts[:HELD_BACK]))
tried = {C: LogisticRegression(C=C, solver="liblinear").fit(counted, training[1]) for C in (1, 10)}
for C, model in tried.items():
    print(
        f"C = {C:2}: training {model.score(counted, training[1]):.3f}, validation {model.score(held_back, validation[1]):.3f}"
    )
linear = max(tried.values(), key=lambda model: model.score(held_back, validation[1]))
linear_cpu = time.process_time() - begun
print(f"{counted.shape[1]:,} words and pairs, each with one weight; {linear_cpu:.0f} CPU seconds for everything")

# %% [markdown]
# ## 9 · The verdict: the test split, once
#
# All choices are made. **Predict** the order of the three before you run the cell: on the source that you have, which
# is first?

# %%
test_rows = to_rows(test_texts)[:, -200:].to_tensor().numpy()  # (N, T)


def score(probability):
    return float(np.mean((probability > 0.5) == test_labels))


tested = {
    "Transformer": score(transformer.predict(test_rows, batch_size=256, verbose=0)[:, 0]),
    "LSTM": score(lstm.predict(test_rows, batch_size=256, verbose=0)[:, 0]),
    "words and pairs, linear": score(linear.predict_proba(bag.transform(clean(test_texts)))[:, 1]),
}
sizes = {
    "Transformer": transformer.count_params(),
    "LSTM": lstm.count_params(),
    "words and pairs, linear": counted.shape[1] + 1,
}
print(f"{'':24} parameters  CPU s/epoch  validation   test")
for name, accuracy in tested.items():
    valid = runs[name]["val_accuracy"][runs[name]["best"]] if name in runs else linear.score(held_back, validation[1])
    each = f"{runs[name]['cpu']:.0f}" if name in runs else f"{linear_cpu:.0f} in all"
    print(f"{name:24} {sizes[name]:10,} {each:>12} {valid:11.4f} {accuracy:.4f}")
print(f"chance alone moves a test accuracy near 0.88 by about ±{1.96 * np.sqrt(0.88 * 0.12 / len(test_labels)):.3f}")

# %%
print(f"on this source ({SOURCE}): " + " > ".join(sorted(tested, key=tested.get, reverse=True)))

# %% [markdown]
# On the **sample** the Transformer wins clearly: it was made so that order decides. On the **real** reviews the linear
# model wins clearly. [Lecture 6b](06b_judging_a_classifier.ipynb) looks for reasons.
#
# **Predict.** Look at the last two columns once more. On the real reviews each of the three is a little worse on test than
# on validation. With 2,477 reviews chance allows ±0.013, so no single gap proves anything. But suppose that there is more to it:
# what do validation and training share that test and training do not?
#
# <details><summary>Answer</summary>
#
# **Films.** The data has up to 30 reviews of a film, and its makers put no film on both sides of training and test (Maas et
# al., 2011). We held reviews back at random, so nearly every film of the validation part is in training too. The name of
# an actor or of a character can then give the verdict away, there and nowhere else. Lecture 6b has a model whose
# validation accuracy was three points above its test accuracy, and tells how the films were found.
#
# </details>
#
# **What did each of them learn by heart?** Compare the accuracy on training and on validation.

# %%
for name, run in runs.items():
    last = -1
    print(
        f"{name:12} after epoch {len(run['loss'])}: training {run['accuracy'][last]:.3f}, validation {run['val_accuracy'][last]:.3f}"
    )
print(
    f"linear       training {linear.score(counted, training[1]):.3f}, validation {linear.score(held_back, validation[1]):.3f}"
)

# %% [markdown]
# On the stored page the run without brakes is right on 0.990 of its training reviews after six epochs and on 0.862 of the
# validation part; the Transformer with brakes on 0.900 and 0.881. The linear model is right on nearly all its training reviews, 0.999, and is still the best on validation. So the gap between training and validation alone does
# not say which of two *different* models is better.

# %% [markdown]
# ## 10 · Common mistakes, with what they look like
#
# The next cell makes six mistakes. **Predict** what each line prints:
#
# 1. Two words with the values 3 and 5, and two places of padding: the mean with the mask, and without it.
# 2. Two words with the values −1 and −2, and two places of padding: the largest word, and what `GlobalMaxPooling1D` gives.
# 3. A review of nothing but padding: its masked mean.
# 4. A long review ends in "but i loved it". Does "loved" survive if the first 20 words are kept? If the last 20 are?
# 5. Somebody cuts at 60 characters in place of 60 words. How many words are left?
# 6. `pad_sequences` fills three ids up to five places. Where does the padding go?
#
# <details><summary>Answer</summary>
#
# 1\. The mean is 4 with the mask and 2 without; the more padding, the smaller it gets. 2. The largest word is −1, but padding
# wins with 0. 3. It is NaN, and one NaN in a batch ruins all weights. 4. It survives only among the last 20. 5. There are 16 left,
# counting the full stops. 6. It goes in front, and long rows are cut in front, too.
#
# </details>

# %%
# NBVAL_CHECK_OUTPUT
x = np.array([[[3.0], [5.0], [0.0], [0.0]]], "float32")  # (B, T, D), the last two words are padding
is_word = np.array([[True, True, False, False]])  # (B, T)
mean = layers.GlobalAveragePooling1D()
print(f"1. mean with the mask {float(mean(x, mask=is_word)[0, 0]):.1f}, without {float(mean(x)[0, 0]):.1f}")
below = np.where(is_word[..., None], np.array([[[-1.0], [-2.0], [0.0], [0.0]]], "float32"), 0)
closed = np.where(is_word[..., None], below, -np.inf)
print(f"2. max over words {closed.max():.1f}, GlobalMaxPooling1D {float(layers.GlobalMaxPooling1D()(below)[0, 0]):.1f}")
print(f"3. mean of an empty review: {float(mean(x, mask=np.zeros((1, 4), bool))[0, 0])}")
review = "the plot is dull . " * 30 + "but i loved it"
words = review.replace(".", "").split()
print(
    f"4. first 20 words end in '{words[:20][-1]}', last 20 in '{words[-20:][-1]}'; 'loved' kept: {'loved' in words[:20]}, {'loved' in words[-20:]}"
)
print(
    f"5. the first 60 characters hold {len(review[:60].split())} words, the first 60 words {len(' '.join(words[:60]))} characters"
)
front = keras.utils.pad_sequences([[5, 6, 7]], maxlen=5)
print(f"6. pad_sequences([[5, 6, 7]], maxlen=5) = {front.tolist()}: in front, and it also cuts in front")

# %% [markdown]
# On the second mistake: `GlobalMaxPooling1D` takes no mask and gives no warning. In a model that ends in max pooling, put a very small number
# into the padding places yourself before you take the largest.

# %% [markdown]
# ## 11 · What other texts get wrong
#
# Each sentence has one mistake. Find it before you open the answer.
#
# <details><summary>“Each review is cut at 600 characters.”</summary>
#
# At 600 *tokens*. The max-pooling variant of this classifier reads 600 words; 600 characters would be about a hundred.
#
# </details>
#
# <details><summary>“We pad the reviews to 200; <code>pad_sequences</code> appends zeros.”</summary>
#
# By default it puts them in front, and cuts in front. The last word then always stands at position 199, whatever
# the length of the review: learned positions mean something else than with padding at the end.
#
# </details>
#
# <details><summary>“The model reaches 0.87 on validation,” and <code>validation_data=(x_test, y_test)</code>.</summary>
#
# Then nothing is left to test on. Lecture 6b measures what such a choice can add.
#
# </details>
#
# <details><summary>“Attention ignores padding, since padding vectors are zero.”</summary>
#
# They are not: id 0 has a learned row like any other, plus a position vector. And a score of 0 is not a weight of 0: the
# softmax gives it its share.
#
# </details>
#
# ## 12 · Check yourself
#
# <details><summary>1. The same model with V = 10,000 and T = 600: how many parameters?</summary>
#
# 320,000 + 19,200 + 10,656 + 681 = **350,537**.
#
# </details>
#
# <details><summary>2. Which of the two changes costs more time for each review, and why?</summary>
#
# T = 600, where reviews are that long: T × T scores, nine times as many. The vocabulary costs memory, and hardly any time: each word selects one row.
#
# </details>
#
# <details><summary>3. A word was never seen in training, and is in the list. What does the model know about it?</summary>
#
# Nothing. Its row is the random start. With the vocabulary from training texts, this happens only to words whose
# reviews were left out later.
#
# </details>
#
# <details><summary>4. Why may you pad every batch to its own length here, and not with the published model?</summary>
#
# Because no output depends on the padding here. Without a mask, the width of the row is part of the input.
#
# </details>
#
# <details><summary>5. Training accuracy 0.99, validation 0.86. Which three things do you try first?</summary>
#
# Stop earlier, drop or hide more, and keep more of the review. More blocks come much later.
#
# </details>
#
# ## Symptoms
#
# <details><summary>The loss stays at 0.69.</summary>
# The model guesses. On the sample that is normal for some epochs. If it lasts, look for an
# inverted mask, shuffled labels, or a learning rate that is far off.
# </details>
# <details><summary>Validation loss rises from the second epoch.</summary>
# Normal for word vectors learned from scratch. Hide words, raise dropout, lower the learning rate; keep the best epoch.
# </details>
# <details><summary>Two batches give different outputs for the same review.</summary>
# The mask is lost. Add padding to one review and compare, as in section 6; then look for a bare <code>+</code>.
# </details>
# <details><summary>The loss is NaN in the middle of an epoch.</summary>
# A review without words: the masked mean divides by 0.
# </details>
# <details><summary>Good in the notebook, poor in use.</summary>
# Another standardisation, another vocabulary or the other end of the text. Save the text layer with the model.
# </details>
# <details><summary><b>Slow machine, or a GPU?</b></summary>
# Slow machine: rows of 100 words halve the time on real reviews. On a GPU: <code>batch_size=256</code>, 600 words,
# learning rate doubled; <code>keras.mixed_precision.set_global_policy("mixed_float16")</code> before the model is made
# (the last layer stays in float32 by its <code>dtype</code>). For several GPUs, make and compile the model inside
# <code>with tf.distribute.MirroredStrategy().scope():</code>. Nothing else changes. On so small a model the gain is
# small, and the accuracy the same within chance.
# </details>
#
# ## Honest caveats
#
# * One data set, in English, of reviews with clear verdicts; those with 5 or 6 stars were left out when it was made.
# * The page trains one model of each kind, once. Which differences are larger than chance is the subject of [lecture
#   6b](06b_judging_a_classifier.ipynb).
# * "Same size" is not "same cost": the LSTM's time grows with the length of the longest review in a batch, word by word.
# * The sample shows what attention can do. It was made for that, and says nothing about how often language needs it.
#
# ## Summary
#
# | step | shape | what can go wrong |
# |---|---|---|
# | standardise, tokenise | text → words | line breaks and punctuation left in; negations torn apart |
# | vectorise | words → (T,) | vocabulary from all texts; wrong list at use |
# | pad and cut | (B, T) | wrong end cut, padding in front |
# | word + position | (B, T) → (B, T, D) | mask not made |
# | encoder block | (B, T, D) → (B, T, D) | mask lost at `+` |
# | pooling | (B, T, D) → (B, D) | padding in the mean or the maximum |
# | head | (B, D) → (B, 1) | tested on what it was chosen on |
#
# Next: [lab 6](../labs/06_imdb_classifier/06_imdb_classifier.ipynb), where you build all of it, with explicit masks. Then
# [lecture 6b](06b_judging_a_classifier.ipynb): how far can you trust a comparison like the one of section 9?
#
# ## References
#
# * Long texts: M. Zaheer et al., *Big Bird*, NeurIPS 2020; S. Wang et al., *Linformer*, 2020, arXiv:2006.04768; K. Choromanski et al., *Rethinking attention
#   with Performers*, ICLR 2021.
# * A. Nandan, *Text classification with Transformer*, Keras code example, 2020,
#   keras.io/examples/nlp/text_classification_with_transformer. A later run of it with its weights: Hugging Face, model
#   *keras-io/text-classification-with-transformer*.
# * A. Maas et al., *Learning word vectors for sentiment analysis*, ACL 2011: the reviews.
# * A. Vaswani et al., *Attention is all you need*, NeurIPS 2017. S. Hochreiter, J. Schmidhuber, *Long short-term
#   memory*, Neural Computation 9, 1997.
# * S. Wang, C. Manning, *Baselines and bigrams: simple, good sentiment and topic classification*, ACL 2012: why linear
#   models on pairs of words are hard to beat here.
# * M. Iyyer et al., *Deep unordered composition rivals syntactic methods for text classification*, ACL 2015: hiding whole words
#   as a regulariser.
#
# **Further reading.** F. Chollet, [*Deep Learning with
# Python*](https://www.manning.com/books/deep-learning-with-python-third-edition), the chapter on text: the same reviews, from single
# words and pairs to a Transformer with and without positions. Its rule of thumb (how many samples for each word of a sample make a
# sequence model worth trying) predicts the outcome of this page. The rule also stands in Google's [guide to text
# classification](https://developers.google.com/machine-learning/guides/text-classification), with the experiments behind it. The
# [Keras example](https://keras.io/examples/nlp/text_classification_with_transformer/) by Nandan: compare its model with section 4.

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
# # 6b · Judging a classifier
#
# *Which of two models is better, how sure are we, and were they compared on suitable reviews?*
#
# [← 6 · A Transformer that reads film reviews](06_imdb_classifier.ipynb) · [Lab
# 6](../labs/06_imdb_classifier/06_imdb_classifier.ipynb) · [7 · BERT on AG News →](07_bert_ag_news.ipynb)
#
# **Afterwards you can**
#
# * test whether a validation part is cut as the test part is, and say what happens when it is not;
# * put the baselines beside a model that it has to beat;
# * compare two models on the same reviews with a paired test, and two recipes with several seeds;
# * ask a trained model what it uses: order, single words, what it learned by heart;
# * read errors one by one, and read an attention map with the caution that it needs.
#
# **You need** [lecture 6](06_imdb_classifier.ipynb), of which this is the second part. **Time:** about 68 minutes to read
# and predict; on the sample the code runs in about a minute and a half on two CPU cores.
#
# Letters: **B** batch, **T** words of a review, **D** width of a word vector, **V** size of the vocabulary.

# %% tags=["course-setup"]
# Colab: install the course's helper package. Anywhere else this cell does nothing.
import sys

if "google.colab" in sys.modules:
    print("This notebook was not told where Colab finds the course's helper package: ask whoever gave it to you.")

# %%
from coursekit import data, diagrams, plots, quiet, recorded

quiet.start_tensorflow()  # keeps its start-up messages out of the notebook
plots.use_course_style()

import re

import keras
import matplotlib.pyplot as plt
import numpy as np
import tensorflow as tf
from keras import layers, ops
from scipy.special import logit
from scipy.stats import binomtest, spearmanr
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

tf.get_logger().setLevel("ERROR")  # rows of many widths are meant

# %% [markdown]
# ## 1 · The three models of lecture 6, once more
#
# The next four cells are those of lecture 6: its reviews, its Transformer, its LSTM and its linear model, with the same seeds. Run
# them and read on; there is nothing new in them. This page is stored with the real reviews. Without `COURSE_SOURCE=real` you
# get the sample, as in lecture 6, section 2; the recorded parts are about the real reviews in any case.

# %%
VOCABULARY, SOURCE = 20_000, data.chosen_source()
(texts, labels), (test_texts, test_labels) = data.reviews(source=SOURCE)
in_test = set(test_texts)
place_of = {text: place for place, text in enumerate(texts) if text not in in_test}  # one place for each text
order = np.random.default_rng(0).permutation(list(place_of.values()))
texts, labels = [texts[place] for place in order], np.asarray(labels)[order]
HELD_BACK = len(texts) // 10


def plain(texts):
    """Lower case, HTML line breaks to spaces, no punctuation; string tensors of any shape."""
    texts = tf.strings.regex_replace(tf.strings.lower(texts), r"<br\s*/?>", " ")
    return tf.strings.regex_replace(texts, "[[:punct:]]", "")


vectorize = layers.TextVectorization(max_tokens=VOCABULARY, standardize=plain, ragged=True)
vectorize.adapt(tf.data.Dataset.from_tensor_slices(texts[HELD_BACK:]).batch(512))
names = np.array(["·", *vectorize.get_vocabulary()[1:]])
to_rows = lambda some: tf.concat([vectorize(some[at : at + 512]) for at in range(0, len(some), 512)], axis=0)  # noqa: E731
rows = to_rows(texts)  # (N, T of each)
validation, training = (rows[:HELD_BACK], labels[:HELD_BACK]), (rows[HELD_BACK:], labels[HELD_BACK:])
lengths = rows.row_lengths().numpy()
counts = np.bincount(training[0].flat_values.numpy(), minlength=VOCABULARY)  # (V,)


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


class HideWords(keras.Layer):
    """While training, turns ids (B, T) into padding with the given probability, all but the first."""

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


def review_lstm(width=32, units=50, dropout=0.1, hidden=0.0):
    """Ids (B, T) to the probability of a positive review (B, 1), word after word."""
    ids = keras.Input((None,), dtype="int32")  # (B, T)
    x = layers.Embedding(VOCABULARY, width, mask_zero=True)(HideWords(hidden)(ids))  # (B, T, D)
    x = layers.Dropout(dropout)(layers.LSTM(units)(x))  # (B, U): the state after the last real word
    x = layers.Dropout(dropout)(layers.Dense(20, activation="relu")(x))  # (B, 20)
    return keras.Model(ids, layers.Dense(1, activation="sigmoid", dtype="float32")(x))  # (B, 1)


# %%
SETTINGS = {
    "sample": {"dropout": 0.1, "hidden": 0.0, "batch_size": 32, "epochs": 12, "patience": 4},
    "real": {"dropout": 0.1, "hidden": 0.3, "batch_size": 64, "epochs": 2, "patience": 2},
}[SOURCE]


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


# %%
def train(model):
    """Fit with early stopping; the weights of the best epoch stay."""
    reviews = batches(training, batch_size=SETTINGS["batch_size"])
    steps = SETTINGS["epochs"] * int(reviews.cardinality())
    rate = keras.optimizers.schedules.PolynomialDecay(2e-3, steps, end_learning_rate=0.0)
    model.compile(optimizer=keras.optimizers.Adam(rate), loss="binary_crossentropy", metrics=["accuracy"], jit_compile=False)
    stop = keras.callbacks.EarlyStopping(patience=SETTINGS["patience"], restore_best_weights=True)  # by val_loss
    model.fit(
        reviews, validation_data=batches(validation, shuffle=False), epochs=SETTINGS["epochs"], callbacks=[stop],
        shuffle=False, verbose=0,  # batches() has shuffled already
    )  # fmt: skip
    return model


keras.utils.set_random_seed(6)
transformer = train(review_transformer(dropout=SETTINGS["dropout"], hidden=SETTINGS["hidden"]))
keras.utils.set_random_seed(6)
lstm = train(review_lstm(dropout=SETTINGS["dropout"], hidden=SETTINGS["hidden"]))


# %%
def clean(some_texts):
    return [text.decode() for text in plain(tf.constant(some_texts)).numpy()]


bag = TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True, token_pattern=r"\S+")
counted = bag.fit_transform(clean(texts[HELD_BACK:]))  # (N, words and pairs), nearly all zero
held_back = bag.transform(clean(texts[:HELD_BACK]))
tried = {C: LogisticRegression(C=C, solver="liblinear").fit(counted, training[1]) for C in (1, 10)}
linear = max(tried.values(), key=lambda model: model.score(held_back, validation[1]))

# %% [markdown]
# ## 2 · Two validation parts that misled, and how the settings were chosen
#
# A validation part has to be cut **as the test part is cut**: here, by film. The loaders do not say to which film a review belongs. So our first
# validation reviews were drawn at random. When their accuracy turned out too high, we looked for something better, and took
# the numbers of the original files: reviews of a film stand together there. That was wrong as well. This section tells how we found out.
#
# The rest of this section is **recorded**: it takes longer than a page should. Repeat it with `python
# experiments/imdb_classifier.py --data FOLDER`.

# %%
record = recorded.load("imdb_classifier")
results = record["results"]
print(
    f"{record['what']}\n{record['data']}\n{record['device']}; {record['seconds'] / 60:.0f} CPU minutes, {record['date']}\n"
)
for apart, share in results["films"]["rare words shared"].items():
    if "apart" in apart:
        print(f"positive reviews whose files are {apart:>10}: {share:.1%} share a rare word")

# %% [markdown]
# A rare word is one that 2 to 30 training reviews contain; most of these words are names. Positive reviews that are neighbours share one far more
# often than reviews that are a thousand files apart, and beyond 30 files nothing is left of it. (A film has at most 30 reviews.)
# This looked like proof that the first 5,000 reviews by file number have films of their own.
#
# But the evidence is about *positive* reviews alone. Positive and negative files are numbered **separately**, and a film has
# another number in each: negative file 2,000 and positive file 2,000 are about different films. The original archive also
# holds the address of every review's film. With these titles we can ask the question that matters: of the reviews held back,
# how many have a film that occurs in training?
#
# **Predict.** 5,000 reviews are held back by file number, 2,500 or so of each label. What is that share among the negative
# ones, and which label do the training reviews of these films have?
#
# <details><summary>Answer</summary>
#
# Two thirds, and nearly always the *other* label only. The positive reviews of such a film have higher numbers, so they are
# in training, and its negative reviews are not.
#
# </details>

# %%
SPLITS = ("at random", "by file number", "by title")
for split in SPLITS:
    shared, alone = results["films"][f"shared, {split}"], results["films"][f"words alone, {split}"]
    for label in ("negative", "positive"):
        known, other = shared[label].values()
        print(f"{split:15} {label}: film in training {known:6.1%}, with the other label only {other:6.1%}; accuracy {alone[label]:.3f}")
    print(f"{'':15} linear model of single words: validation {alone['validation']:.3f}, test {alone['test']:.3f}")


# %% [markdown]
# Read the last line of each group. It is one and the same kind of model, trained outside the reviews held back, and judged
# on them and on the test split.
#
# * **At random**, nearly every film is known, and validation promises 1.2 points too much.
# * **By file number**, training has the positive reviews of such a film, and validation its negative ones. Validation is 2.4 points too low, and the negative reviews are
#   worse than the positive ones by five points.
# * **By title**, no film is known, and validation and test agree to a tenth of a point.
#
# So check that a split has the property that it is meant to have, in *every* class. A plausible reason is no check.
#
# **What this means for our settings.** The search below was done before we knew, first at random, then by file number. Its choices
# were made with a measure that misleads. Section 3 tests three of them again by film: which end of the review, the hidden words, the mean. The learning rate, the
# dropout and the number of epochs stay as they were chosen. The test accuracies of the finished models are not
# affected.

# %%
def outcome(run):
    """Validation accuracy after the last epoch of a planned run, else of the best epoch before it was stopped."""
    measured = run["history"]["val_accuracy"]
    return measured[-1] if run["settings"]["decay_epochs"] else max(measured)


searched = {
    split: {name: outcome(run) for name, run in results[f"search, {split}"].items()}
    for split in ("at random", "by file number")
}

# %%
for split, accuracies in searched.items():
    print(f"validation reviews held back {split}\n  words      hidden  rate   epochs         other         accuracy")
    for name, accuracy in accuracies.items():
        used = results[f"search, {split}"][name]["settings"]
        epochs = f"{used['decay_epochs']}, rate falls" if used["decay_epochs"] else "stopped early"
        other = "max pooling" if used["pooling"] == "max" else f"dropout {used['dropout']}" if used["dropout"] != 0.1 else ""
        print(
            f"  {used['end']:>5} 200  {used['word_dropout']:6}  {used['learning_rate']:.3f}  {epochs:13}  {other:12}  {accuracy:.3f}"
        )

# %% [markdown]
# The line with the last 200 words, nothing hidden and rate 0.001 has the published example's values of dropout, pooling
# and learning rate, with our masks and batches of 64 in place of 32. *Hidden* is the share of hidden words; *rate falls*
# means that the learning rate falls to 0 within that number of epochs. Two numbers closer than 0.009 say little: that is
# what chance allows for 5,000 reviews, and each setting has one seed.
#
# **Which end?** Drawn at random, the first 200 words beat the last by 0.011. By file number, all else equal, the last 200
# win by 0.021. Why the random split says the opposite we can only suppose: a review tends to name its film and people first, and names
# help only where the film is known.
#
# **How long?** By file number two epochs were ahead of three, which is within chance. At random three and
# four epochs look as good as two. We have not asked by title.
#
# **How far off was validation?** The best at random had 0.887 on validation and 0.854 on the test split. The best by file number had 0.862 on
# validation and 0.877 on average on test; its final model was also trained on the 5,000 reviews held back. By title (section 3) the same
# recipe, trained without these reviews, has 0.873 on the reviews held back and 0.875 on test, both on average over three seeds.

# %%
finals = {}
for split in ("at random", "by file number"):
    for words in (200, 600):
        for name, run in results.get(f"transformer, {words} words, {split}", {}).items():
            if "test_accuracy" in run:
                fewer = ", 20,000 reviews" if "without" in name else ""  # those held back were not added
                finals.setdefault(f"Transformer, {words} words, {split}{fewer}", []).append(run["test_accuracy"])
finals["LSTM, 200 words"] = [run["test_accuracy"] for run in results["lstm, 200 words, by file number"].values()]
published = {name: results[name]["seed 0"] for name in ("published", "published, positions not trained")}
finals["published model, one output"] = [published["published"]["history"]["val_accuracy"][-1]]
for name, run in results["linear"].items():
    finals[f"linear: {name}"] = [run["test_accuracy"]]
for name, accuracies in finals.items():
    spread = f"  ({min(accuracies):.4f} to {max(accuracies):.4f}, {len(accuracies)} runs)"
    print(f"{name:51} {np.mean(accuracies):.4f}{spread if len(accuracies) > 1 else ''}")
for name, run in published.items():
    watched = " ".join(f"{accuracy:.4f}" for accuracy in run["history"]["val_accuracy"])
    print(f"{name}: {run['parameters']:,} parameters, test accuracy after each epoch {watched}")

# %%
figure, ax = plt.subplots(figsize=(7.8, 3.6))
for line, (name, accuracies) in enumerate(finals.items()):
    role, marker = ("accent", "s") if "linear" in name else ("query", "o")
    ax.plot(accuracies, [line] * len(accuracies), linestyle="", color=diagrams.PALETTE[role], marker=marker, alpha=0.6)
    label = f"{np.mean(accuracies):.3f}"
    ax.annotate(label, (max(accuracies), line), (7, 0), textcoords="offset points", va="center", fontsize=9)
ax.set(xlabel="test accuracy (chance alone: ±0.004)", xlim=(0.845, 0.92), xticks=[0.85, 0.87, 0.89, 0.91])
ax.set_yticks(range(len(finals)), list(finals))
ax.invert_yaxis()
plots.show(
    figure,
    alt="Recorded test accuracies on the real reviews: "
    + "; ".join(f"{name} {np.mean(a):.4f}" for name, a in finals.items()),
)

# %% [markdown]
# The settings chosen by file number, at the size and the 200 words of the published model, reach 0.877 on average over
# three seeds. With 600 words (670,537 parameters) they reach 0.885; one run on validation had preferred them.
# The LSTM of the same size has 0.876 in its one run, and no claim about attention against recurrence can rest on so
# little. The linear model of words and pairs, on whole reviews, has 0.907 with C = 30,
# the largest value tried; by film (section 3), where 100 was tried as well, 30 stayed the best. For comparison, the linear models of Wang and
# Manning (2012) reach 0.912 on this data, and the averaged word vectors of Iyyer et al. (2015) 0.894.
#
# **The published model**, with one output instead of two and our words, has 0.878 after its first epoch and 0.871 after its
# second. If you report the first, you have chosen on the test split. The last line is a mistake of ours. In our first version of this model the
# position table was called on a fixed array while the model was built. It became a constant, 6,400 parameters were missing,
# and the model trained all the same. The count, 651,337 in place of 657,737, showed it.
#
# **What was read on the test split.** Every final model above was tested once, and the published one after each epoch. The
# two models chosen at random came first. Their test accuracy was the reason to look for another split, so these two readings
# influenced all that came later. The models of section 3 were tested as well, each run once; nothing was chosen by that.
#
# ## 3 · Judged by film, with three seeds
#
# Now everything again, with reviews of other films. scikit-learn's `GroupShuffleSplit` holds back a fifth of the *films*, with all
# their reviews. Each network is trained with three seeds. Repeat it with `python experiments/imdb_by_film.py --data FOLDER`.
#
# **How do you compare two models?** Each reads the same test reviews. The reviews that both get right, or both get wrong, say
# nothing about which is better. Only the others count: *b* reviews that only the first gets right, and *c* that only the second
# does. If the models are equally good, each of these reviews is a toss of a coin. That is **McNemar's test**.
#
# **By hand.** Two models disagree on 80 reviews: 50 to 30. Use $\chi^2 = (b - c)^2 / (b + c)$; a value of 3.84 or more occurs by chance in fewer than one case of 20. Is the first model better? And if the same 20 reviews of difference came from 2,000
# disagreements?
#
# <details><summary>Answer</summary>
#
# $20^2/80 = 5$, above 3.84: chance alone would rarely do this. $20^2/2000 = 0.2$: that is no evidence. The difference in accuracy is the
# same both times. How much the models *disagree* decides what it means.
#
# </details>

# %%
film = recorded.load("imdb_by_film")["results"]
sizes = film["split"]["by title"]
print(f"training {sizes['training']:,} reviews of {sizes['films in training']:,} films; held back {sizes['held back']:,} of "
      f"{sizes['films held back']:,}; films in both: {sizes['films in both']}")  # fmt: skip
print(f"50 to 30: p = {binomtest(30, 80).pvalue:.3f}; 1,010 to 990: p = {binomtest(990, 2000).pvalue:.2f}")


def compared(part, first, second):
    """McNemar's test of two models on one part: for each seed b, c and p; for models without a seed, once."""
    return [only.values() for name, only in film["McNemar"].items() if name.partition(";")[0] == f"{part}: {first} | {second}"]


def show_compared(part, first, seconds):
    print(f"{part}: reviews that only “{first}” gets right, and that only the other gets right, for each seed")
    for second in seconds:
        print(f"  {second:40}" + "".join(f"  {b:5,} {c:5,} (p {p:<7.1g})" for b, c, p in compared(part, first, second)))


# %% [markdown]
# Your calculation gives 5; the exact test of 50 to 30 says that a fair coin does this, or something rarer, in 3.3 % of all
# cases. (The formula is an approximation of it.)
#
# ### The search again
#
# The search of section 2 preferred the last 200 words, hidden words and the mean. Here each of these choices is undone, one
# at a time, and judged on reviews of films that training has not seen.
#
# **Predict.** 4,596 reviews are held back, and each setting has three seeds. Which of the three choices can we defend?

# %%
ENCODER = "encoder with positions"  # the recipe: last 200 words, 30 % of them hidden while training, mean over the words


def measured(group, name, part):
    """Accuracies (3,) of a network on one part of the reviews, seed by seed."""
    return np.array([film[group][f"{name}; seed {seed}"][part] for seed in range(3)])


undone = ("first 200 words", "no hidden words", "maximum for the mean")
for name, group in (("the recipe", "ladder"), *((name, "search") for name in undone)):
    found = measured(group, ENCODER if group == "ladder" else name, "held back")
    print(f"{name:22} held back {found}, mean {found.mean():.3f}")
show_compared("held back", ENCODER, undone)

# %% [markdown]
# We can hardly defend one of them. The last 200 words are ahead of the first 200 with each of the three seeds, by 0.7 to 1.1 points. But only one of the three tests has a
# $p$ below 0.05. Of hidden words and of the mean we cannot say that they help: no test has a $p$ below 0.1, and the maximum is ahead of the mean with
# one of the seeds. A search with one seed could have reported any of these differences as a result.
#
# ### The ladder
#
# Now the models of lecture 6 and what can be built with less, on the same 24,996 test reviews. *Words* and *words and pairs* are TF-IDF with
# logistic regression on whole reviews. **NBSVM** (Wang and Manning, 2012) gives each pair the log of how much more often it stands in positive
# than in negative reviews, and trains a support vector machine on that. The networks read the last 200 words:
#
# * *mean of embeddings*: the word vectors, their mean, and the head, as in the *deep averaging network* of Iyyer et al. (2015);
# * *convolution*: one `Conv1D` over five words and its maximum (Kim, 2014, has three widths);
# * *LSTM*, *encoder without positions* and *encoder with positions*, the recipe.
#
# Three more read 600 words and have one output behind a **maximum over the words**, dropout 0.5 and no positions: an encoder block
# (650,689 parameters), the same with a maximum that runs over *padding as well*, as `GlobalMaxPooling1D` does, and an LSTM in place
# of the block (648,353).
#
# **Predict.** Which of the networks beats the mean of embeddings by more than a point? Which beats the linear model of single words?

# %%
MAXIMUM = ("encoder, 600 words, maximum over words", "encoder, 600 words, maximum with padding", "LSTM twin, 600 words, maximum over words")
NETWORKS = ("convolution", "mean of embeddings", "encoder without positions", "LSTM", ENCODER)
rungs = {name: [film["ladder"][name]] for name in ("words", "words and pairs", "NBSVM")}
for group, names_of in (("ladder", NETWORKS), ("maximum", MAXIMUM)):
    rungs |= {name: [film[group][f"{name}; seed {seed}"] for seed in range(3)] for name in names_of}
figure, ax = plt.subplots(figsize=(7.8, 3.9))
print(f"{'':41} parameters    test accuracy, each seed   mean     CPU seconds")
for line, (name, runs_of) in enumerate(rungs.items()):
    tested = [run["test"] for run in runs_of]
    role, marker = ("accent", "s") if len(runs_of) == 1 else ("query", "o")
    ax.plot(tested, [line] * len(tested), linestyle="", color=diagrams.PALETTE[role], marker=marker, alpha=0.6)
    ax.annotate(f"{np.mean(tested):.3f}", (max(tested), line), (7, 0), textcoords="offset points", va="center", fontsize=9)
    each = " ".join(f"{a:.4f}" for a in tested)
    print(f"{name:42} {runs_of[0]['parameters']:10,}    {each:24}   {np.mean(tested):.4f}   {np.mean([run['cpu_seconds'] for run in runs_of]):5.0f}")
ax.set(xlabel="test accuracy (chance in the choice of the reviews: ±0.004)", xlim=(0.80, 0.92))
ax.set_yticks(range(len(rungs)), list(rungs))
ax.invert_yaxis()
plots.show(figure, alt="Test accuracies by film, one mark for each seed. Means: "
    + "; ".join(f"{name} {np.mean([run['test'] for run in runs_of]):.4f}" for name, runs_of in rungs.items()))  # fmt: skip

# %% [markdown]
# No network beats the mean of embeddings by more than a point, and none beats single words. The four other networks of 200 words lie between 0.855 and 0.875, the mean of embeddings at 0.870. The linear model of single words has
# 0.890 and takes a third of the encoder's time; pairs give another 1.4 points, and NBSVM is equal to them.
#
# **Predict.** Take the encoder with and without positions, both trained with seed 2. On the test split McNemar's test prefers the one with positions,
# with $p = 6\cdot 10^{-5}$. Are positions worth something in this task?

# %%
show_compared("test", ENCODER, [*(name for name in NETWORKS[::-1] if name != ENCODER), MAXIMUM[0]])
show_compared("test", "encoder without positions", ["mean of embeddings"])
show_compared("test", MAXIMUM[0], MAXIMUM[1:])
show_compared("test", "words and pairs", [ENCODER, "words", "NBSVM"])
show_compared("held back", "words and pairs", ["words", "NBSVM"])

# %% [markdown]
# Look at the other two seeds. There the encoder *without* positions is ahead. Each test is right about its two networks: these two differ by
# more than the choice of the reviews explains. But we asked about the *recipe*, and of a recipe we have three draws. **McNemar's test knows the chance in the
# reviews, not the chance in the training.** A comparison of recipes needs several seeds of both.
#
# With that in mind:
#
# * **The encoder block**: without positions, the encoder differs from the mean of embeddings in the block alone. It is ahead with each seed, by 0.2, 0.6 and 0.2
#   points, but two of the three differences are no more than chance ($p = 0.3$ and $0.2$). So if the block helps, it helps by less than a point.
# * **Positions**: the encoder with positions is ahead with one seed and behind with two. **The LSTM** is behind the encoder with two seeds and
#   ahead with one. Neither comparison shows a difference.
# * **The convolution** is behind the encoder by more than 1.6 points with each seed.
# * **600 words and the maximum**: this encoder is equal to the recipe with one seed, ahead with one and behind with one. Whether the maximum runs over padding
#   as well makes no difference that we can see. The LSTM twin is behind this encoder with each seed, and its own seeds lie 4.4 points apart.
# * **Words and pairs** beat the encoder by 2.6 to 3.1 points with each seed. Pairs beat single words, 790 reviews to 444. Pairs and NBSVM
#   disagree on 1,580 reviews, 797 to 783, and neither is better. From their accuracies, 0.9036 and 0.9029, nobody could have said so. On the reviews held back
#   it is the same: 145 to 139.
#
# ### How much do labels help?
#
# The same linear model, the mean of embeddings and the encoder, each trained on 1,000, 3,000 and 10,000 of the reviews, three
# random subsets each, and on all. (With fewer labels the networks make more passes, up to 12; the linear model's C was chosen on the reviews held back.)
#
# **Predict.** From 1,000 to 3,000 labels the linear model's accuracy gains some points. How many more does the step from 10,000 to all 20,179
# gain: as many, half as many, a quarter? And which of the three models gains most from labels?

# %%
counts_of_labels = (1_000, 3_000, 10_000)
sizes_shown = [*counts_of_labels, sizes["training"]]


def by_labels(name):
    """Held-back accuracies (3 subsets, 3 numbers of labels)."""
    return np.array([[film["labels"][f"{name}, {n}; seed {seed}"]["held back"] for n in counts_of_labels] for seed in range(3)])


figure, ax = plt.subplots(figsize=(6.4, 3.4))
for line, name in enumerate(("words and pairs", ENCODER, "mean of embeddings")):
    alone = film["ladder"].get(name)  # all labels: the linear model has no seed
    ends = [alone["held back"]] * 3 if alone else measured("ladder", name, "held back")
    values = np.column_stack([by_labels(name), ends])  # (3, 4)
    plots.measured_curve(sizes_shown, values, label=name, line=line, ax=ax)
    shown = (f"{n:6,}: {v.mean():.4f} ({v.min():.3f} to {v.max():.3f})" for n, v in zip(sizes_shown, values.T, strict=True))
    print(f"{name:22}  {'   '.join(shown)}")
ax.set(xscale="log", xlabel="labelled reviews (logarithmic)", ylabel="accuracy, films held back")
ax.set_xticks(sizes_shown, [f"{n:,}" for n in sizes_shown])
ax.minorticks_off()
plots.show(figure, alt="Accuracy on films held back by the number of labels, three subsets each, for the linear model of words and "
    "pairs, the encoder and the mean of embeddings: all rise, the linear model highest at each number.")  # fmt: skip

# %% [markdown]
# About half as many for the linear model: it gains 3.2 points from 1,000 to 3,000 labels, 2.5 to 10,000 and 1.2 to
# 20,179, a smaller factor than the other two. The networks start lower and gain a little more in all, the encoder 7.3 points and the mean of embeddings 8.0, against 6.9. All three
# still rise at the end. With 1,000 labels the choice of the subset
# moves the linear model by 1.5 points, so one subset says little there.
#
# ### Can meaning be learned without labels?
#
# With 1,000 labels the encoder has to learn from them what 20,000 words mean. But *which words stand near which* can be counted in all
# 20,179 training texts, and counting needs no label. So we count the pairs of words at most 8 places apart, turn the counts into positive pointwise mutual information,
# and keep 32 dimensions with a singular value decomposition (Levy and Goldberg, 2014). This gives a vector for each word, and the training starts from these
# vectors in place of random ones.
#
# The control has **the same vectors, dealt out to other words**: equally long, equally spread, and without meaning.
#
# **Predict.** The labels and the texts are the same in all three. Do the vectors help the encoder? Do they help the mean of embeddings?

# %%
STARTS = {"": "random", ", vectors from texts": "vectors from texts", ", the same vectors, of other words": "of other words"}
figure, panels = plt.subplots(1, 2, figsize=(9.6, 3.4), sharey=True)
for ax, name in zip(panels, (ENCODER, "mean of embeddings"), strict=True):
    for line, (start, label) in enumerate(STARTS.items()):
        values = by_labels(f"{name}{start}")
        plots.measured_curve(counts_of_labels, values, label=label, line=line, ax=ax)
        print(f"{name:22} {label:18} " + "   ".join(f"{n:6,}: {v} mean {v.mean():.4f}" for n, v in zip(counts_of_labels, values.T, strict=True)))
    ax.set(title=name, xscale="log", xlabel="labelled reviews (logarithmic)")
    ax.set_xticks(counts_of_labels, [f"{n:,}" for n in counts_of_labels])
    ax.minorticks_off()
panels[0].set_ylabel("accuracy, films held back")
plots.show(figure, alt="Accuracy on films held back by the number of labels, for words that start from random vectors, from vectors counted in the "
    "texts, and from the same vectors of other words. Left, the encoder: the vectors from texts are ahead at each number. Right, the mean of "
    "embeddings: the three lie together.")  # fmt: skip

# %% [markdown]
# The vectors help the encoder, with each subset: on average by 1.5, 0.8 and 0.7 points with 1,000, 3,000 and 10,000 labels. It is the meaning that
# helps, and not the length or the spread of the vectors: dealt out to other words, they gain nothing and lose up to 0.8 points. The mean of embeddings gains
# nothing from either. Why the encoder can use the vectors and the mean of embeddings cannot, this experiment does not say.
#
# This is transfer in its smallest form: one table of vectors. In [lecture 7](07_bert_ag_news.ipynb) the whole network comes from texts without labels.
#
# ## 4 · Where the linear model is better
#
# Two measurements on the validation part. First: **how much does the order of the words matter?** Shuffle the
# words of every review, and ask the trained models again. A linear model of single words would give the same answers.
#
# **Predict.** The Transformer's accuracy after shuffling, on the sample and on the real reviews?
#
# <details><summary>Answer</summary>
#
# On the sample it falls to what counting words can do there, far below. On the stored page it loses *nothing*: 0.881 in
# order, 0.881 shuffled. The linear model of words and pairs loses 2.8 points, from 0.911 to 0.883. So the order says something in these reviews. The linear model of pairs uses it, and our
# Transformer does not.
#
# </details>

# %%
rng = np.random.default_rng(0)
mixed = tf.ragged.constant([rng.permutation(row) for row in validation[0][:, -200:].numpy()], dtype="int32")
in_order = validation[0][:, -200:].to_tensor().numpy()  # (N, T)
answers = {  # probabilities (N,) on the validation part
    ("Transformer", "in order"): transformer.predict(in_order, batch_size=256, verbose=0)[:, 0],
    ("Transformer", "shuffled"): transformer.predict(mixed.to_tensor().numpy(), batch_size=256, verbose=0)[:, 0],
    ("LSTM", "in order"): lstm.predict(in_order, batch_size=256, verbose=0)[:, 0],
    ("LSTM", "shuffled"): lstm.predict(mixed.to_tensor().numpy(), batch_size=256, verbose=0)[:, 0],
    ("words and pairs", "in order"): linear.predict_proba(held_back)[:, 1],
}
mixed_texts = [" ".join(rng.permutation(text.split())) for text in clean(texts[:HELD_BACK])]
answers["words and pairs", "shuffled"] = linear.predict_proba(bag.transform(mixed_texts))[:, 1]
right = {name: float(np.mean((p > 0.5) == validation[1])) for name, p in answers.items()}

# %%
figure, ax = plt.subplots(figsize=(6.6, 3.0))
for number, (kind, role, hatch) in enumerate([("in order", "query", ""), ("shuffled", "key", "//")]):
    values = [right[model, kind] for model in ("Transformer", "LSTM", "words and pairs")]
    bars = ax.bar(np.arange(3) + 0.38 * number, values, 0.36, label=kind, color=diagrams.PALETTE[role], hatch=hatch)
    ax.bar_label(bars, fmt="%.3f", fontsize=9)
ax.set_xticks(np.arange(3) + 0.19, ["Transformer", "LSTM", "words and pairs, linear"])
ax.set(ylabel="accuracy (axis starts at guessing)", ylim=(0.5, 1.0))
ax.legend(ncols=2, loc="upper center")
plots.show(
    figure,
    alt="Accuracy on the validation part, words in order and shuffled. "
    + "; ".join(f"{model}, {kind}: {value:.3f}" for (model, kind), value in right.items()),
)
for (model, kind), value in right.items():
    print(f"{model} {kind}: {value:.3f}")

# %% [markdown]
# Second: **what does each model store?** The linear model has one weight for each of its words and pairs, and nothing else; regularisation leaves
# the weight of a rare one near 0. The Transformer has 32 numbers for each word, learned from the same reviews. Look at the neighbours of a word in its embedding, and
# compare frequent words with rare ones.

# %%
vectors = transformer.layers[2].words.get_weights()[0][: len(names)]  # (V, D)
size = np.linalg.norm(vectors, axis=1)  # (V,)
unit = vectors / size[:, None]
for word in ("excellent", "boring", "superb", "dull", "monday"):
    if word in names:
        place = int(np.flatnonzero(names == word)[0])
        near = [n for n in np.argsort(-unit @ unit[place]) if n != place and counts[n] >= 20][:5]
        print(f"{word:10} {counts[place]:6,} times; nearest: {', '.join(names[near])}")
print(f"length of a vector before training: {0.05 * np.sqrt(vectors.shape[1] / 3):.2f}")
for low in (1, 10, 100, 1000):
    chosen = (counts[2 : len(names)] >= low) & (counts[2 : len(names)] < (10 * low if low < 1000 else np.inf))
    if chosen.any():
        band = f"{low} to {10 * low - 1}" if low < 1000 else "1000 and more"
        print(f"words that occur {band:>13} times: {chosen.sum():6,}, mean length {size[2:][chosen].mean():.2f}")

# %% [markdown]
# On the stored page the lengths are 0.22, 0.24, 0.27 and 0.28: vectors of words that occur a few times have grown from
# 0.16, and half as much as those of the most frequent words. From so few reviews a model can hardly learn what a word *means*. So large a growth would fit a
# model that learns by heart in which reviews the words stand; we did not test that.
#
# On the real reviews a neighbour of “superb” is `910`, which is “9/10” without its stroke. Some reviewers write the label into the review.

# %% [markdown]
# In short, for the real reviews:
#
# * **Order is worth 2.8 points to pairs of words, and nothing to our Transformer.** Shuffled, the two models are equal. So
#   the verdict is mostly in the words, but not only: "not good" and "waste of" are pairs. Fine-tuned BERT reaches about 0.94
#   to 0.95 on this data (Sun et al., 2019), so more can be gained than pairs give.
# * **The linear model reads the whole review**, and that takes hardly any time. The small Transformer reads 200 words. The
#   recorded run shows the linear model on the last 200 words too: nearly a third of its lead over the Transformer
#   is gone.
# * **20,000 labels are still few for the encoder.** Its curve in section 3 rises to the end. It learns from the labels alone both what words
#   mean and how they combine. The linear model's penalty keeps the weight of a rare word near 0, and its problem has one solution, which the solver finds.
# * **Meaning need not be learned from labels.** Vectors counted in the texts alone help the encoder (section 3). The whole network can learn from
#   unlabelled text first, and only the task from labels: that is BERT, in [lecture 7](07_bert_ag_news.ipynb).
#
# Which of these differences *causes* the gap we have not shown: that would take a run in which one of them is changed and nothing else. A
# tuned linear baseline takes half a minute, so a report on a Transformer should have one.
#
# ## 5 · Where counting words must fail
#
# Here are pairs of sentences that contain the same words, or all but one, and mean the opposite.
#
# **Predict.** For the first two lines, what does *any* model that counts single words say about their difference?
#
# <details><summary>Answer</summary>
#
# It says that there is none: the same counts give the same output. Our linear model also counts pairs of neighbours, so it has
# a chance where the two sentences differ in a pair.
#
# </details>

# %%
PAIRS = {
    "sample": [
        ("the plot was very dull, but the cast was very charming.", "the cast was very charming, but the plot was very dull."),
        ("the first film was superb, the second was weak. i am writing about the former.", "the first film was weak, the second was superb. i am writing about the former."),
        ("everybody would call the music truly moving.", "nobody would call the music truly moving."),
        ("the ending was always rather clever.", "the ending was never rather clever."),
    ],
    "real": [
        ("i expected a bad film and it was good, not boring at all.", "i expected a good film and it was boring, not bad at all."),
        ("the trailer is awful but the film is wonderful.", "the trailer is wonderful but the film is awful."),
        ("you will not be bored, it is one of the best films this year.", "you will be bored, it is not one of the best films this year."),
        ("this film is good.", "this film is not good."),
    ],
}[SOURCE]  # fmt: skip
print("probability of 'positive':  Transformer   LSTM  linear")
for pair in PAIRS:
    ids, bags = to_rows(list(pair)).to_tensor(), bag.transform(clean(list(pair)))
    for sentence, *p in zip(
        pair, transformer(ids)[:, 0], lstm(ids)[:, 0], linear.predict_proba(bags)[:, 1], strict=True
    ):
        print(f"                        {float(p[0]):15.2f} {float(p[1]):6.2f} {float(p[2]):7.2f}  {sentence}")
    print()

# %% [markdown]
# In each pair the first sentence is positive and the second negative. On the sample, the Transformer tells them apart
# and counting does not. So this architecture *can* learn it. On the real reviews the small Transformer gives
# both sentences of most pairs the same probability, and it does no better than the linear model. Single sentences are
# unlike the reviews that it was trained on.
#
# A few sentences prove little. So we take all validation reviews in which a negation stands right before a word
# of judgement, and compare.

# %%
NEGATED = {
    "sample": r"\b(nobody|never|not)\b",
    "real": r"\b(not|never|isnt|wasnt|hardly|nothing) (a |an |the |very |that |so |at all )?(good|great|funny|bad|boring|interesting|worth|recommend|best|worst|special)\b",
}[SOURCE]
negated = np.array([bool(re.search(NEGATED, text)) for text in clean(texts[:HELD_BACK])])  # (N,)
print(f"{negated.sum()} of {HELD_BACK} validation reviews hold such a negation")
for model in ("Transformer", "LSTM", "words and pairs"):
    correct = (answers[model, "in order"] > 0.5) == validation[1]
    print(f"{model:16} with negation {correct[negated].mean():.3f}   without {correct[~negated].mean():.3f}")

# %% [markdown]
# ## 6 · What the model attended to
#
# One sentence of our own, the trained weights of attention, and beside them a different question: **hide each word in
# turn; how much does the output change?** Hiding is easy, since an id of 0 is masked everywhere.

# %%
sentence = {
    "sample": "nobody would call the plot truly dull.",
    "real": "the actors are wonderful but the story is a waste of time",
}[SOURCE]
ids = to_rows([sentence]).to_tensor()  # (1, T)
tokens = list(names[ids[0].numpy()])
x = transformer.layers[2](ids)  # (1, T, D)
_, weights = transformer.layers[3](query=x, value=x, return_attention_scores=True)  # (1, H, T, T)
hidden = ids.numpy() * (1 - np.eye(len(tokens), dtype="int32"))  # (T, T): row i without word i
whole = float(transformer(ids)[0, 0])
effect = logit(whole) - logit(np.clip(transformer(hidden)[:, 0].numpy(), 1e-6, 1 - 1e-6))  # (T,)
print(f"“{sentence}”: probability of positive {whole:.2f}")

# %%
figure, panels = plt.subplots(1, 3, figsize=(11, 3.6), width_ratios=[1, 1.22, 0.9])
strongest = float(weights.numpy().max())
limits = (float(weights.numpy().min()), strongest)  # the colours go from here to there, not from 0 to 1
for head, ax in enumerate(panels[:2]):
    plots.matrix_map(
        weights[0, head].numpy(), rows=tokens, columns=tokens, limits=limits, values=False, colorbar=head == 1, ax=ax
    )
    ax.set(title=f"head {head}", xlabel="key: attended to", ylabel="query: attends from")
colours = [diagrams.PALETTE["value" if e > 0 else "accent"] for e in effect]
panels[2].barh(tokens if len(set(tokens)) == len(tokens) else range(len(tokens)), effect, color=colours)
panels[2].set_yticks(range(len(tokens)), tokens)
panels[2].axvline(0, color=diagrams.PALETTE["ink"], linewidth=1)
panels[2].set(title="effect of each word", xlabel="logit with it minus without it")
panels[2].set_ylim(len(tokens) - 0.5, -0.5)  # in line with the rows of the maps
plots.show(
    figure,
    alt="""Two attention maps of one sentence, one for each head, and a bar for each word: how much the logit changes when
the word is hidden. The words with the longest bars are not in every row those with the most attention. Effects: """
    + ", ".join(f"{token} {change:+.1f}" for token, change in zip(tokens, effect, strict=True)),
)
received = weights[0].numpy().mean(axis=(0, 1))  # (S,)
agreement = spearmanr(received, np.abs(effect)).statistic
print(f"largest weight {strongest:.2f}; all weights equal would be {1 / len(tokens):.2f}")
print(f"attention received against the size of the effect: rank correlation {agreement:.2f}")

# %% [markdown]
# **The caveat.** An attention map says which value vectors were mixed, not why the answer is what it is. After the
# mixing come a residual path that carries every word past attention, a feed-forward network and a mean over all words:
# a word can decide the answer without being attended to. The bars on the right are a question about the *output*, and even they
# describe one word at a time. Jain and Wallace (2019) found other attention maps with the same outputs; Wiegreffe and
# Pinter (2019) discuss when a map may still explain something. Use maps to find ideas, and experiments to test them.
#
# ## 7 · Errors, looked at one by one
#
# Numbers tell how often a model fails. Only reading tells how. Since we may want to act on what we find, the errors come
# from the *validation* part: the test split stays unread.

# %%
p = answers["Transformer", "in order"]
positive, yes = validation[1] == 1, p > 0.5
table = np.array(
    [[np.sum(~positive & ~yes), np.sum(~positive & yes)], [np.sum(positive & ~yes), np.sum(positive & yes)]]
)
ax = plots.matrix_map(table, rows=["negative", "positive"], columns=["negative", "positive"], digits=0)
ax.set(title="validation reviews", xlabel="the model says", ylabel="the label says")
plots.show(
    ax,
    alt=f"Confusion matrix. Negative reviews: {table[0, 0]} right, {table[0, 1]} called positive. Positive reviews: {table[1, 0]} called negative, {table[1, 1]} right.",
)
wrong = np.flatnonzero(yes != positive)
print(
    f"{len(wrong)} of {len(p)} wrong; the linear model is right on {np.mean((answers['words and pairs', 'in order'] > 0.5)[wrong] == positive[wrong]):.0%} of them"
)


# %% [markdown]
# ### How sure, and how often right
#
# A model that says 0.9 should be right nine times out of ten. Sort the validation reviews into five groups by how sure the model is, that is by the
# larger of p and 1 − p, and compare with the share of right answers. The mean distance of the two, weighted by the groups' sizes, is the **calibration
# error** (Guo et al., 2017). The linear model is shown with both values of C: a small C is a strong penalty on its weights.
#
# **Predict.** Which of the four models promises too much, and which too little? And does the more accurate model of two also have the smaller
# calibration error?

# %%
def calibration(p, groups=5):
    """Of probabilities (N,): how sure and how often right in each group, both (groups,), the sizes, and the calibration error."""
    sure, correct = np.maximum(p, 1 - p), (p > 0.5) == positive  # (N,) each
    group = np.minimum((sure - 0.5) * 2 * groups, groups - 1).astype(int)  # (N,)
    sizes = np.bincount(group, minlength=groups)  # (groups,)
    means = [np.bincount(group, values, minlength=groups) / np.maximum(sizes, 1) for values in (sure, correct)]
    return *means, sizes, np.sum(sizes * abs(means[0] - means[1])) / len(p)


judged = {name: answers[name, "in order"] for name in ("Transformer", "LSTM")}
judged |= {f"linear, C = {C}": model.predict_proba(held_back)[:, 1] for C, model in tried.items()}
errors = {}
figure, ax = plt.subplots(figsize=(5.6, 3.9))
ax.plot([0.5, 1], [0.5, 1], color=diagrams.PALETTE["residual"], linewidth=1)
for look, (name, said) in zip(plots.LINES, judged.items(), strict=False):
    sure, often, sizes, errors[name] = calibration(said)
    ax.plot(sure[sizes > 0], often[sizes > 0], label=name, **look)
    print(f"{name:15} right {np.mean((said > 0.5) == positive):.3f}, mean of how sure {sizes @ sure / len(said):.3f}, ", end="")
    print(f"calibration error {errors[name]:.3f}; by group, sure", sure.round(2), "right", often.round(2), "reviews", sizes)
ax.set(xlabel="how sure", ylabel="how often right")
ax.legend()
plots.show(
    figure,
    alt="""How often the answers are right against how sure the model is, for the Transformer, the LSTM and the linear model with two
penalties, beside the diagonal of perfect calibration. Calibration errors: """
    + "; ".join(f"{name} {error:.3f}" for name, error in errors.items()),
)

# %% [markdown]
# Both networks promise too much. On average the Transformer says 0.902 and is right on 0.881 of the reviews; the LSTM says 0.918 and is right on
# 0.876. Both linear models promise too little, most of all the one with the strong penalty: with C = 1 it says 0.765 and is right on 0.901. With
# C = 10, where only the penalty is changed, the calibration error falls from 0.136 to 0.040.
#
# Accuracy and calibration are two questions. The linear model with C = 10 is right more often than the Transformer, and has the larger
# calibration error, 0.040 against 0.021. (These are one run of each network, and 2,477 reviews: chance moves an accuracy by ±0.013.)
#
# ### One by one

# %%
surest = wrong[np.argsort(-np.abs(p[wrong] - 0.5))][:8]
for number in surest:
    tail = " ".join(clean([texts[number]])[0].split()[-10:])
    other = answers["words and pairs", "in order"][number]
    size = f"{lengths[number]:4} words{', cut' if lengths[number] > 200 else ''}"
    print(f"true {'+' if positive[number] else '-'}  p {p[number]:.2f}  linear {other:.2f}  {size:15} … {tail}")

# %% [markdown]
# These are the eight mistakes of which the model is surest, with the last words of each. We have read those of the stored page; read yours.
# “… and a tight script” and “… keep up the good work” are **irony**: praise without end, with one star and two. “… to the
# next short” tells how terrible *another* film was. “… thanks ziba” thanks a fellow reviewer and hardly judges. “… a real
# campy hoot” loves what it calls clunkers. “… fantastic as always” praises all but the script, and that cost six of ten
# stars. “… isnt in itself bad” is faint praise, and “… for todays viewing” remembers how good the film once seemed. The
# linear model has all eight wrong too, so they are hard for counting as well as for attention.

# %% [markdown]
# ## 8 · Common mistakes
#
# **A split that does not keep apart what it should.** Section 2 shows how it looks: an accuracy that is too high, or too low. Check
# the property itself, in every class.
#
# **Two accuracies of two papers, compared to the last digit.** They were measured on other splits, often with other texts left
# out. Read the same reviews with both models, and count as in section 3.
#
# **One seed.** Runs of one network with different seeds differ. If two settings differ by less than that, nothing is shown, however small the $p$ of a
# test on the reviews is: section 3 has one of $6\cdot 10^{-5}$ that two other seeds contradict.
#
# And the mistake that no output shows, **choosing on the test split.** Each time you look at the test accuracy and keep
# the better of two models, the number that you finally report is the largest of several draws. Here is how much that
# gives away when *all models are equally good*.

# %%
# NBVAL_CHECK_OUTPUT
draws = np.random.default_rng(0).binomial(2_500, 0.87, size=(20_000, 20)) / 2_500  # 20 models, each truly 0.87
for looks in (1, 2, 5, 20):
    print(
        f"best of {looks:2} looks at 2,500 test reviews: {draws[:, :looks].max(axis=1).mean():.4f} on average, the truth is 0.8700"
    )

# %% [markdown]
# The gain is more than a point, with 2,500 test reviews and models that err independently. With ten times as many reviews,
# or with models that fail on the same reviews, the gain from luck is smaller. The validation split used for early stopping
# is not a test set, for the same reason.
#
# ## 9 · What other texts get wrong
#
# <details><summary>“The attention map shows why the model calls this review positive.”</summary>
#
# It shows what was mixed. Section 6.
#
# </details>
#
# <details><summary>“Our model has 0.886 and the baseline 0.882 on 5,000 reviews, so it is better.”</summary>
#
# Chance moves each of the two by about ±0.009. Only a paired test on the same reviews can say more.
#
# </details>
#
# <details><summary>“We split at random, so training and test are independent.”</summary>
#
# The reviews are. The films are not: 93 to 99 of 100 reviews held back at random have a film that training knows (section 2).
#
# </details>
#
# ## 10 · Check yourself
#
# <details><summary>1. A colleague reports 0.88 against your linear model's 0.87, each on 1,000 test reviews. Are
# you convinced?</summary>
#
# No. Chance alone moves each by ±0.02. Compare both on the same reviews, and count where only one of them is right.
#
# </details>
#
# <details><summary>2. You have X-rays of 500 patients, several of each. How do you hold some back?</summary>
#
# By patient, with all pictures of a patient on one side: `GroupShuffleSplit` or `GroupKFold` with the patient as group. Otherwise
# the model can recognise the patient. It is the same mistake as with the films.
#
# </details>
#
# <details><summary>3. Two models disagree on 40 of 10,000 reviews, 28 to 12. What is the difference in accuracy, and is it chance?</summary>
#
# 16 reviews, so 0.0016. And $16^2/40 = 6.4$, above 3.84: chance alone would rarely do it. A small difference can be a certain one.
#
# </details>
#
# <details><summary>4. Shuffling the words of each review changes no answer. What have you learned about the model, and what about the
# task?</summary>
#
# The model does not use order. About the task you have learned nothing: another model may use order and gain from it (section 4).
#
# </details>
#
# <details><summary>5. A word gets much attention, and hiding it changes nothing. Is the map wrong?</summary>
#
# No. It says what was mixed. What comes after the mixing may ignore it, or other words may say the same.
#
# </details>
#
# <details><summary><b>Slow machine, or a GPU?</b></summary>
# Slow machine: the recorded parts (sections 2 and 3) need none of the training; skip the two training cells and read from there.
# GPU: <code>batch_size=256</code> and a learning rate twice as large, as in lecture 6.
# </details>
#
# ## Honest caveats
#
# * One data set, in English, of reviews with clear verdicts; those with 5 or 6 stars were left out when it was made.
# * The search of section 2 is short, has one seed for each setting, and was done on splits that mislead. By film, section 3 has three seeds, and one split: another
#   fifth of the films could be easier or harder.
# * All networks of section 3 have one recipe. A recipe of its own could make the convolution or the LSTM better.
# * The three networks of this page are compared by accuracies; the spread over seeds stands in the recorded part.
# * McNemar's test accounts for chance in the choice of the reviews, and not for chance in the training of a network.
#
# ## Summary
#
# | question | how | here |
# |---|---|---|
# | does validation ask what the test asks? | count what the two sides share, in each class | at random and by file number: no; by title: yes |
# | does the model beat a baseline? | train the baseline, tune it as well | no: words and pairs are ahead |
# | is one model better than another? | the same reviews, McNemar's test; several seeds of each | pairs beat the encoder; order and attention show little |
# | do more labels help? more texts without labels? | train on parts; start from vectors counted in texts | labels help all; vectors help the encoder |
# | how sure may the model be? | how sure against how often right, on held-back reviews | the networks promise too much, the linear model too little |
# | what does the model use? | change the input, watch the output | single words, hardly their order |
# | where does it fail? | read the errors | irony, other films, praise with few stars |
#
# Next: [lecture 7](07_bert_ag_news.ipynb), the same architecture, pre-trained.
#
# ## References
#
# * A. Maas et al., *Learning word vectors for sentiment analysis*, ACL 2011: the reviews.
# * S. Wang, C. Manning, *Baselines and bigrams: simple, good sentiment and topic classification*, ACL 2012.
# * M. Iyyer et al., *Deep unordered composition rivals syntactic methods for text classification*, ACL 2015: a mean of
#   word vectors.
# * Q. McNemar, *Note on the sampling error of the difference between correlated proportions or percentages*, Psychometrika 12,
#   1947. T. Dietterich, *Approximate statistical tests for comparing supervised classification learning algorithms*, Neural
#   Computation 10, 1998.
# * Y. Kim, *Convolutional neural networks for sentence classification*, EMNLP 2014.
# * O. Levy, Y. Goldberg, *Neural word embedding as implicit matrix factorization*, NIPS 2014: word vectors from counts of pairs.
# * C. Sun, X. Qiu, Y. Xu, X. Huang, *How to fine-tune BERT for text classification?*, 2019, arXiv:1905.05583: BERT on these
#   reviews.
# * C. Guo et al., *On calibration of modern neural networks*, ICML 2017.
# * S. Jain, B. Wallace, *Attention is not explanation*, NAACL 2019. S. Wiegreffe, Y. Pinter, *Attention is not not
#   explanation*, EMNLP 2019.
#
# **Further reading.** [Wang and Manning](https://aclanthology.org/P12-2018/): four pages on baselines that still hold. [Iyyer et
# al.](https://aclanthology.org/P15-1162/): what a mean of word vectors can do, which is our mean of embeddings.
# [Dietterich](https://doi.org/10.1162/089976698300017197): which tests to use when you have one test set, and which to use when
# you can train again.

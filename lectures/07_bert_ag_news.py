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
# # 7 · A pre-trained encoder on AG News
#
# **Before you say which part of a trained model does the work, take that part away and measure again.**
#
# [← 6b · Judging a classifier](06b_judging_a_classifier.ipynb) · [Lab 7](../labs/07_bert_ag_news/07_bert_ag_news.ipynb) ·
# [8 · Decoder and masking →](08_decoder_and_masking.ipynb)
#
# Somebody has sorted 240 news items into four classes for you. A network that others trained on more than a billion pairs of sentences fits into your memory. **How far do 240 labels go with it, and how much of its lead over counted words is left without its six blocks?** Write down an accuracy and a share. Sections 1 and 2 show how BERT reads and learns, section 3 how the network descends from it; sections 3 and 4 answer.
#
# | model | what it is | in sections |
# |---|---|---|
# | **MiniLM** | built like BERT, six blocks, D = 384; others trained it further as a **sentence encoder** (section 3) | 3 to 8 |
# | **the small BERT** | the course's own, three blocks, D = 128; it learned by guessing hidden words | 1, 2, 5, 6, 8, 9 |
# | **BERT-base** | the published one, twelve blocks, D = 768; you see how to load it, and it is not run here | 9 |
#
# **Afterwards you can**
#
# * cut words into pieces, and pack texts into the three rows that BERT reads;
# * write the loss of masked language modelling, and LoRA;
# * put a published encoder into your own classes, frozen or fine-tuned, and find by a control what its blocks add;
# * load BERT-base from TensorFlow Hub or KerasHub.
#
# **You need** [the encoder block](04_encoder_block.ipynb) and lectures [6](06_imdb_classifier.ipynb) and [6b](06b_judging_a_classifier.ipynb). **Time:** about 70 minutes to read and predict (estimated, not measured); the code
# runs in about two minutes on two CPU cores. Letters: **B** batch, **T** tokens of a row, **D** width, **V** size of the vocabulary.
#
# **This page needs two things that do not come with the course:** MiniLM (84 MB: `data.published("minilm")` in a cell fetches it once) and AG News (set `COURSE_SOURCE=real`). Without the first, the live cells of sections 3, 4 and 7 are left out. Read the stored outputs first: running overwrites them. Without the second you get a synthetic sample; the text speaks of the real news, and section 4 has the numbers of both.

# %% jupyter={"source_hidden": true} tags=["course-setup"]
# Colab: install the course's helper package. Anywhere else this cell says how, where it is missing.
import sys
from importlib.util import find_spec

if "google.colab" in sys.modules:
    from pathlib import Path

    if Path("coursekit.zip").exists():
        print("Installing the course's helper package …")
        # %pip install --quiet --no-deps ./coursekit.zip
    else:
        print("Upload coursekit.zip, which comes with this course, and run this cell again.")
        print("To upload it, click the folder on the left and drop the file there.")
elif find_spec("coursekit") is None:
    print("The course's helper package is missing here. With coursekit.zip, which comes with this course, beside the notebook, run in a cell:")
    print('%pip install ./coursekit.zip')

# %% jupyter={"source_hidden": true} tags=["setup"]
from coursekit import bert, data, diagrams, plots, quiet, recorded

quiet.start_tensorflow("tensorflow_text", "tensorflow_hub", "tf_keras")  # keeps their messages out of the notebook
plots.use_course_style()

from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path

import keras
import matplotlib.pyplot as plt
import numpy as np
import tensorflow as tf
import tensorflow_hub as hub
import tensorflow_text as text  # the preprocessing needs its operations
import tf_keras  # Keras 2: section 9 says why
from keras import ops
from scipy.special import log_softmax
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from tf_keras import layers

from coursekit.data.published_models import is_here
from coursekit.published import load_published

tf.get_logger().setLevel("ERROR")  # no advice on retracing
print("running on:", "GPU" if tf.config.list_physical_devices("GPU") else "CPU")

# %% jupyter={"source_hidden": true} tags=["setup"]
(train_texts, train_labels), (test_texts, test_labels) = data.news(source=data.chosen_source())
few = np.random.default_rng(0).permutation(len(train_texts))[:240]
few_texts, y_few = [train_texts[number] for number in few], train_labels[few]
test_texts, y_test = test_texts[:1_500], test_labels[:1_500]

# %% [markdown]
# <a id="pieces-and-rows"></a>
#
# ## 1 · Pieces, and three rows
#
# BERT (Devlin et al., 2019) is a stack of encoder blocks that reads text. Its vocabulary holds **pieces** (WordPiece; Schuster and Nakajima, 2012): a frequent word is one piece, other words are cut into several, and a piece that continues a word begins with `##`. The list is learned: it begins with single letters and grows by the joint that makes the texts most probable ([lecture 10](10_language_model.ipynb) joins the most frequent pair). Cutting is greedy: take the longest piece that fits the beginning, then cut the rest in the same way. If nothing fits, the whole word becomes `[UNK]`.

# %% [markdown]
# **By hand.** The vocabulary is `play re ##play ##ed ##er ##s ##ers ##in`. Cut *plays*, *players*, *replayed* and *playing*.
#
# <details><summary>Answer</summary>
#
# *plays* is `play ##s`. *players* is `play ##ers`: the longest piece comes first, so `##ers` and not `##er ##s`. *replayed* is `re ##play ##ed`. *playing* is `[UNK]`: after `play` comes `##in`, then nothing fits, and greedy cutting does not go back.
#
# </details>

# %%
# NBVAL_CHECK_OUTPUT
toy = ["[UNK]", "play", "re", "##play", "##ed", "##er", "##s", "##ers", "##in"]
cutter = text.FastWordpieceTokenizer(toy, token_out_type=tf.string, no_pretokenization=True)
for word in ["plays", "players", "replayed", "playing"]:
    print(f"{word:12}", *(piece.decode() for piece in cutter.tokenize([word]).flat_values.numpy()))

preprocess = hub.load(bert.PREPROCESS)
vocabulary = (Path(hub.resolve(bert.PREPROCESS)) / "assets" / "vocab.txt").read_text(encoding="utf-8").split("\n")[:-1]
print(f"\nthe small BERT has V = {len(vocabulary):,} pieces, first {vocabulary[:5]}")
for word in ["government", "transformer", "Karlsruhe", "naïve"]:
    print(f"{word:12}", *(vocabulary[piece] for piece in preprocess.tokenize([word]).flat_values))

# %% [markdown]
# Both models are *uncased*: no capitals, no accents.
#
# One input may hold two texts, such as a question and an answer. It is packed into three rows:
#
# | row | what it holds | read by |
# |---|---|---|
# | `input_word_ids` | `[CLS] a [SEP] b [SEP]`, then padding | the table of pieces, (V, D) |
# | `input_mask` | 1 for tokens, 0 for padding | every attention |
# | `input_type_ids` | 0 for the first text, 1 for the second, 0 for padding | a table of two rows, (2, D) |
#
# Position needs no row of ids: token t is at position t. The vectors of piece, type and position are added; the mask goes to attention. (MiniLM's texts are all of type 0; that row is already added to its table of positions.)

# %%
pair = [preprocess.tokenize(["who won ?"]), preprocess.tokenize(["the team won ."])]
rows = preprocess.bert_pack_inputs(pair, seq_length=12)  # three rows, each (B, T)
print("pieces          ", *(f"{vocabulary[piece]:5}" for piece in rows["input_word_ids"][0]))
for name in ("input_mask", "input_type_ids"):
    print(f"{name:16}", *(f"{number:<5}" for number in rows[name][0].numpy()))


# %% [markdown]
# **With pieces hardly a word is unknown; three rows tell which piece is at each position, whether it is real, and to which text it belongs.**

# %% [markdown]
# <a id="hidden-word"></a>
#
# ## 2 · Guess the hidden word
#
# BERT learns from texts without labels, by **masked language modelling** (**MLM**). MLM chooses 15 % of the tokens and lets the encoder guess them. Of the chosen tokens 80 % become `[MASK]`, 10 % become a random piece, 10 % stay as they are. The loss is the cross-entropy at the m chosen positions, and only there; $w_t$ is the true piece at position t, and $p_t(w_t)$ its probability:
#
# $$L=-\frac{1}{m}\sum_{t\text{ chosen}}\ln p_t(w_t)$$
#
# The encoder reads the words on both sides of a gap; a model that writes sees the left side alone ([lecture 8](08_decoder_and_masking.ipynb)). Why not always `[MASK]`? Your own texts have none. With 80/10/10 any token may have to be predicted, so the encoder needs a good guess at *every* position. In Devlin et al. (2019, C.2) this hardly matters after fine-tuning (MNLI: `[MASK]` alone 84.3, the mixture 84.2), but on frozen vectors (names in a text: 94.0 and 94.9). Every epoch chooses anew (below, *nick* is a random piece).
#
# BERT had a second task, **next-sentence prediction**: does text b follow text a? The answer is read from the vector at `[CLS]`. RoBERTa left the task out and lost nothing (Liu et al., 2019).

# %% jupyter={"source_hidden": true} tags=["drawing"]
def one_epoch(pieces, rng):
    """What happens to each piece, and what the encoder is shown."""
    chosen = rng.random(len(pieces)) < 0.15
    fate = np.where(chosen, rng.choice([3, 2, 1], len(pieces), p=[0.8, 0.1, 0.1]), 0)  # 3 mask, 2 random, 1 kept
    other = rng.choice(vocabulary[5:], len(pieces))
    return fate, [["", "kept", other[place], "mask"][what] for place, what in enumerate(fate)]


sentence = "the team won its third match and leads the league by two points"
rng = np.random.default_rng(10)
epochs = [one_epoch(sentence.split(), rng) for _ in range(6)]
figure, ax = plt.subplots(figsize=(10, 3.0))
fates = np.array([fate for fate, _ in epochs])
plots.matrix_map(fates, columns=sentence.split(), rows=[f"epoch {i}" for i in range(1, 7)], values=False, limits=(0, 3.6), ax=ax)
for row, column in np.argwhere(fates):
    fill = plt.get_cmap("Blues")(fates[row, column] / 3.6)
    ax.text(column, row, epochs[row][1][column][:9], ha="center", va="center", fontsize=8, color=diagrams.text_colour(fill))
plots.show(
    figure,
    alt="""Every epoch chooses anew which words of the same sentence it hides. One sentence of thirteen words in six epochs: few words of a row are chosen, or none;
most of these are masked, some are replaced by a random piece or kept.""",
)

# %% [markdown]
# Below are eight sentences with a gap, and what stood there. The small BERT guesses; it has read news and film reviews only. MiniLM was published without a head for words.

# %% jupyter={"source_hidden": true} tags=["setup"]
encoder, (CLS, SEP, MASK) = hub.load(bert.ENCODER), map(vocabulary.index, ("[CLS]", "[SEP]", "[MASK]"))


def at_gap(sentence):
    """The small BERT's logits (V,) for the gap of a sentence."""
    left, right = (preprocess.tokenize([part]).merge_dims(1, 2).to_list()[0] for part in sentence.split("___"))
    ids = [CLS, *left, MASK, *right, SEP]
    rows = {name: [[0] * len(ids)] for name in bert.INPUTS} | {"input_word_ids": [ids], "input_mask": [[1] * len(ids)]}
    rows = {name: tf.constant(row) for name, row in (rows | {"masked_lm_positions": [[1 + len(left)]]}).items()}
    return encoder.mlm(rows)["mlm_logits"][0, 0].numpy()


# %%
def mlm_loss(logits, true):
    """The formula above: logits (m, V) at the chosen positions, and the pieces (m,) that stood there."""
    return -log_softmax(logits, axis=1)[np.arange(len(true)), true].mean()


gaps = {
    "the prime ___ of israel said on tuesday .": "minister", "she won the gold ___ in athens .": "medal",
    "the bank said interest ___ would rise .": "rates", "the yankees beat the boston red ___ last night .": "sox",
    "the search ___ google said on thursday .": "engine", "i have never seen such a bad ___ in my life .": "movie",
    "scientists have found water on ___ .": "mars", "the judge sentenced him to ten years in ___ .": "prison",
}  # fmt: skip
logits, true = np.stack([at_gap(sentence) for sentence in gaps]), [vocabulary.index(word) for word in gaps.values()]
for sentence, row in zip(gaps, logits, strict=True):
    best = np.argsort(-row)[:3]
    print(f"{sentence:50}", *(f"{vocabulary[piece]} {share:.2f} " for piece, share in zip(best, np.exp(log_softmax(row))[best], strict=True)))
print(f"loss {mlm_loss(logits, true):.2f} nats; an even guess over V pieces: {mlm_loss(0 * logits, true):.2f}")

# %% [markdown]
# Six of the eight are what stood there. The two misses are *earth*, where it was *Mars*, and *months*, where it was *prison*. Its loss on these eight words is 1.34; an even guess over all 7,930 pieces has ln 7,930 = 8.98. We chose these eight. In 600 unseen news items one word each was hidden by a rule: it finds 21 % of them, and always guessing the commonest one finds 2 % ([evidence](evidence/07.ipynb#guesses)).
#
# **A hidden word is a label that the text brings along.**

# %% [markdown]
# <a id="pretrain-finetune"></a>
#
# ## 3 · MiniLM, frozen
#
# BERT splits the work: in **pre-training** it guesses words, without labels; in **fine-tuning** it gets a small new **head**, and your labels teach both. What the first task taught helps in the second (**transfer**). The least is to leave the encoder **frozen** and train the head alone.
#
# The encoder is **MiniLM**: built like BERT, six blocks, D = 384, V = 30,522, 22.6 million numbers. It descends from section 2 in three steps:
#
# 1. A larger encoder learned to guess hidden words ([UniLM v2](https://github.com/microsoft/unilm/tree/master/minilm)).
# 2. Twelve narrower blocks learned to imitate its attention (**distillation**; Wang et al., 2020). [Every second one was kept](https://huggingface.co/nreimers/MiniLM-L6-H384-uncased).
# 3. These six learned from pairs of sentences that belong together ([model card](https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2)). The vector of a sentence is the mean over its tokens, at length 1 (mean: Reimers and Gurevych, 2019). With N pairs $(u_i, v_i)$ in a batch and a fixed factor $c$, the loss is the cross-entropy of finding the partner:
#
# $$L=-\frac{1}{N}\sum_{i}\ln\frac{e^{\,c\,u_i\cdot v_i}}{\sum_{j}e^{\,c\,u_i\cdot v_j}}$$
#
# Without the other $v_j$ all vectors could become equal. So the mean, which your head reads, was *made* to stand for a sentence.
#
# The texts are AG News (Zhang et al., 2015): *World*, *Sports*, *Business*, *Sci/Tech*. To beat: **counting**, which is TF-IDF of single words (lecture 6) below such a head. **Which numbers:** the live cells show one draw of 240 labelled texts, on 1,500 test texts; a live number may differ by a point. The text quotes the record, on 3,000 test texts: ten draws where a fit is cheap, one where MiniLM's whole network trains. Differences are taken before rounding. Ranges in brackets are 95 % intervals: test texts drawn again, and the draws too where there are ten.

# %% jupyter={"source_hidden": true} tags=["drawing"]
figure, ax = diagrams.canvas(11, 2.5)
parts = (
    (0.9, "text", "", "neutral", 1.1), (2.7, "pieces", "(B, T)", "neutral", 1.3), (4.7, "table", "(B, T, 384)", "key", 1.6),
    (6.9, "6 blocks", "(B, T, 384)", "query", 1.6), (8.8, "mean", "(B, 384)", "neutral", 1.2), (10.3, "head", "(B, 4)", "accent", 1.1),
)  # fmt: skip
boxes = [diagrams.box(ax, x, 1.0, name, detail=shape or None, role=role, width=width, height=0.75) for x, name, shape, role, width in parts]
for left, right in pairwise(boxes):
    diagrams.arrow(ax, left, right)
diagrams.arrow(ax, (4.7, 1.38), (4.7, 2.0), (8.8, 2.0), (8.8, 1.38), dashed=True)
diagrams.note(ax, 6.9, 2.15, "section 4: no block at all")
diagrams.note(ax, 5.8, 0.35, "table and blocks: frozen in sections 3 and 4")
diagrams.note(ax, 10.3, 0.35, "learns from 240 labels")
plots.show(
    figure,
    alt="""Only the red box learns from the labels. A text is cut into pieces; the table turns them into vectors of 384 numbers (positions and a first norm are not drawn), six blocks let them look at each other,
their mean is one vector for the text, and a linear head gives four numbers. A dashed path leads from the table around the blocks to the mean: it is the control of section 4.""",
)


# %% [markdown]
# MiniLM's blocks are lecture 4's post-norm block, with GELU in place of ReLU (`PlainBertBlock`, in the folded cell). The rest is the table of pieces (`words`), the table of positions, a first norm, and the mean at length 1, which the frozen head reads. In section 5 `call` multiplies it by $\sqrt D$ first: a mean square of 1.

# %% jupyter={"source_hidden": true} tags=["setup"]
class PlainFeedForward(keras.Layer):
    """Each token alone, (B, T, D) to (B, T, D), through a wider layer with GELU."""

    def __init__(self, d_model, d_ff):
        super().__init__()
        self.dense_in, self.dense_out = keras.layers.Dense(d_ff, "gelu"), keras.layers.Dense(d_model)

    def call(self, x):
        wide = self.dense_in(x)  # (B, T, F)
        return self.dense_out(wide)


class PlainBertBlock(keras.Layer):
    """BERT's block: lecture 4's post-norm block with GELU in place of ReLU."""

    def __init__(self, d_model, num_heads, d_ff, dropout=0.0, norm="post"):
        super().__init__()
        self.attention = keras.layers.MultiHeadAttention(num_heads, d_model // num_heads)
        self.feed_forward = PlainFeedForward(d_model, d_ff)
        self.norm1, self.norm2 = (keras.layers.LayerNormalization(epsilon=1e-12) for _ in range(2))

    def call(self, x, attention_mask=None):  # (B, T, D), (B, 1, T)
        x = self.norm1(x + self.attention(query=x, value=x, attention_mask=attention_mask))
        return self.norm2(x + self.feed_forward(x))


# %%
class PlainNewsBert(keras.Model):
    """Ids (B, T), 0 for padding, to logits (B, 4): BERT, the mean over its tokens, and a new linear head."""

    def __init__(self, encoder, classes=4):
        super().__init__()
        self.words, self.positions = self.add_weight(encoder.by_word.shape), self.add_weight(encoder.by_position.shape)
        self.words.assign(encoder.by_word)  # (V, D)
        self.positions.assign(encoder.by_position)  # (512, D)
        self.norm, self.blocks = encoder.first_norm, encoder.blocks
        self.head = keras.layers.Dense(classes, kernel_initializer="zeros")

    def vectors(self, ids):  # (B, T)
        seen = ids > 0
        x = self.norm(ops.take(self.words, ids, axis=0) + self.positions[: ops.shape(ids)[1]])  # (B, T, D)
        for block in self.blocks:
            x = block(x, attention_mask=seen[:, None])
        total = ops.sum(x * ops.cast(seen, x.dtype)[..., None], axis=1)  # (B, D): the mean but for its length
        return total / ops.norm(total, axis=-1, keepdims=True)

    def call(self, ids):
        return self.head(self.vectors(ids) * self.words.shape[1] ** 0.5)


# %% jupyter={"source_hidden": true} tags=["setup"]
def padded(rows):
    """Rows of ids as one array (B, T), 0 behind the shorter ones."""
    longest = max(map(len, rows))
    return np.array([row + [0] * (longest - len(row)) for row in rows], "int32")


def in_batches(read, rows, size=32):
    """What `read` gives for all rows; those of like length go together, so that little padding is read."""
    order = np.argsort([len(row) for row in rows], kind="stable")
    starts = range(0, len(rows), size)
    parts = [read(padded([rows[number] for number in order[start : start + size]])) for start in starts]
    return np.concatenate(parts)[np.argsort(order)]


def cut(texts):
    """MiniLM's ids of each text, at most 128 of them."""
    return [minilm.pieces.encode(each, 128) for each in texts]


# %%
if is_here("minilm"):
    minilm = load_published(PlainBertBlock, "minilm")  # fills six of the blocks above, number by number
    reader = PlainNewsBert(minilm)
    read = tf.function(reader.vectors, input_signature=[tf.TensorSpec((None, None), tf.int32)])
    table = np.asarray(reader.words)  # (30522, 384)
    in_blocks = sum(block.count_params() for block in reader.blocks)
    rest = reader.positions.shape[0] * 384 + reader.norm.count_params()
    print(f"table of pieces {table.size:,} numbers, six blocks {in_blocks:,} numbers, positions and norm {rest:,} numbers")
else:
    minilm = None
    print('MiniLM is not here, so the cells of sections 3, 4 and 7 that need it are left out. To fetch 84 MB, once: data.published("minilm")')


# %% [markdown]
# **Predict.** You train a linear head on MiniLM's vectors of 240 texts. How many test texts does it classify correctly? (A blind guess: 25 %. Counting, with the same labels: about 74 %.)
#
# - (a) about 74 %
# - (b) about 85 %
# - (c) about 95 %
#
# <details><summary>Answer</summary>
#
# **(b)** It is 85.2 % on average over ten draws of 240 texts; counting has 74.4 %.
#
# </details>

# %%
def head_on(x, y):  # vectors (N, D) and classes (N,); the penalty is chosen on these texts
    return GridSearchCV(LogisticRegression(max_iter=1_000), {"C": [1, 10, 100]}, cv=3).fit(x, y)


counter = TfidfVectorizer(sublinear_tf=True)
counting = head_on(counter.fit_transform(few_texts), y_few)
counted = counting.predict(counter.transform(test_texts))
print(f"counting: {np.mean(counted == y_test):.1%} of {len(y_test):,} test texts correct")
if minilm:
    x_few, x_test = in_batches(read, cut(few_texts)), in_batches(read, cut(test_texts))  # (240, 384), (1500, 384)
    frozen = head_on(x_few, y_few)
    answers = frozen.predict(x_test)
    print(f"frozen MiniLM, linear head: {np.mean(answers == y_test):.1%}; the head learned {frozen.best_estimator_.coef_.size + 4:,} numbers")
    print(f"of its 240 training texts: {frozen.score(x_few, y_few):.1%}")

# %% [markdown]
# Put in texts of your own in the folded cell:

# %% jupyter={"source_hidden": true} tags=["setup"]
for each in (
    "Maker of self-driving cars unveils a humanoid robot that carries boxes in its factory.",
    "The striker said the goal of the strike was a fair wage.",
    "The miner said the goal of the strike was a fair wage.",
):
    if minilm:
        shares = frozen.predict_proba(in_batches(read, cut([each])))[0]
        print(" ".join(f"{name} {share:.2f}" for name, share in zip(data.NEWS_CLASSES, shares, strict=True)), "·", each)


# %% [markdown]
# The *striker* makes a dispute about wages *Sports*. With a *miner* the same sentence is *Business*.
#
# **On a frozen sentence encoder 240 labels go further than on counted words: about 85 of 100 news items are correct, against about 74.**

# %% [markdown]
# <a id="word-table"></a>
#
# ## 4 · The control: no block at all
#
# Is this the work of attention? Take all six blocks away and leave everything else: table, positions, first norm, `[CLS]`, `[SEP]`, the mean and the head.

# %% [markdown]
# **Predict.** Where does this control end up, between counting (74 %) and the frozen MiniLM (85 %)?
#
# - (a) at 74 %: without attention it is counting
# - (b) about a third of the way up
# - (c) about two thirds of the way up
#
# <details><summary>Answer</summary>
#
# **(c)** Over ten draws: counting 74.4 %, no block 81.6 %, the frozen MiniLM 85.2 %. Without positions, norm, `[CLS]` and `[SEP]`, the mean of the table's rows has 82.0 %.
#
# </details>

# %%
def table_means(table, rows):
    """The mean of the table's rows for each text, at length 1; without [CLS] and [SEP]. No block, no position."""
    means = np.stack([table[row[1:-1]].mean(axis=0) for row in rows])  # (N, D)
    return means / np.linalg.norm(means, axis=1, keepdims=True)


if minilm:
    bare = PlainNewsBert(replace(minilm, blocks=[]))
    moved = table[np.random.default_rng(0).permutation(len(table))]  # each piece gets the row of another one
    tries = {"no block": lambda rows: in_batches(bare.vectors, rows), "table alone": lambda rows: table_means(table, rows)}
    tries["table, rows moved"] = lambda rows: table_means(moved, rows)
    for name, vectors in tries.items():
        share = head_on(vectors(cut(few_texts)), y_few).score(vectors(cut(test_texts)), y_test)
        print(f"{name:18} {share:.1%}")

# %% jupyter={"source_hidden": true} tags=["setup"]
study = recorded.load("news_with_minilm")["results"]["real"]
STEPS = {
    "words": "counting", "LSA": "LSA", "table with rows moved": "table, rows moved", "table with random directions": "table, random directions",
    "table of labelled pieces": "table, labelled pieces only", "table": "table alone", "no blocks": "no block",
    "shuffled": "frozen, test words shuffled", "frozen": "frozen",
}  # fmt: skip
for kind, name in STEPS.items():
    shares = study["test"][kind]
    print(f"{name:33} ten draws: mean {np.mean(shares):.1%}, from {min(shares):.1%} to {max(shares):.1%}")


def apart(first, second):
    """Difference of two kinds in points, and its 95 % interval."""
    (pair,) = [pair for pair in study["pairs"] if (pair["first"], pair["second"]) == (first, second)]
    return "{:.1f} points ({:.1f} to {:.1f})".format(*(100 * pair[name] for name in ("difference", "low", "high")))


for first, second in [("frozen", "words"), ("table", "words"), ("no blocks", "table"), ("frozen", "table"), ("table", "table with rows moved")]:
    print(f"{STEPS[first]} minus {STEPS[second]}: {apart(first, second)}")
print("with 10,000 labels, one fit each:", ", ".join(f"{STEPS[kind]} {share:.1%}" for kind, share in study["10,000 labels"].items()))


# %% jupyter={"source_hidden": true} tags=["drawing"]
def rows_of(kinds, ax):
    """A dot for each draw of 240 labelled texts, and the mean."""
    for place, kind in enumerate(kinds):
        shares = 100 * np.array(study["test"][kind])
        ax.plot(shares, np.full(len(shares), place), "o", color=diagrams.PALETTE["value"], alpha=0.75, markeredgewidth=0)
        ax.plot(shares.mean(), place, "|", color=diagrams.PALETTE["accent"], markersize=22, markeredgewidth=2.5)
        ax.annotate(f"{shares.mean():.1f}", (shares.mean(), place), (0, 13), textcoords="offset points", ha="center", fontsize=9)
    ax.set(yticks=range(len(kinds)), yticklabels=kinds.values(), xlabel="test texts correct, %", ylim=(-0.6, len(kinds) - 0.35))


figure, ax = plt.subplots(figsize=(8, 3.6))
shown = ("table with rows moved", "words", "table", "no blocks", "frozen")
rows_of({kind: STEPS[kind] for kind in shown}, ax)
plots.show(
    figure,
    alt="""The table alone goes most of the way, and only with its rows in their places. Test accuracy with 240 labels, ten draws of labelled texts: one dot for each draw, a red line for the mean.
From below: the table with its rows moved 45 to 50, counting 73 to 76, the table alone 80 to 83, no block 80 to 83, the frozen MiniLM 84.5 to 86.""",
)

# %% [markdown]
# Of the 10.7 points by which the frozen MiniLM leads, the table brings 7.6, which is 71 % (52 to 84 % in the single draws). The six blocks bring the rest; positions, norm, `[CLS]` and `[SEP]` by themselves change the table's result by −0.4 points (−1.2 to 0.6).
#
# What does a table have that counting has not? To counting, *striker* and *midfielder* are unrelated columns, and a word that your 240 texts never use has no weight. In the table similar words have similar rows:

# %%
if minilm:
    names, lengths = minilm.pieces.words, np.linalg.norm(table, axis=1)  # (V,)
    for word in ("striker", "earnings", "iraq"):
        row = names.index(word)
        cosines = table @ table[row] / (lengths * lengths[row])  # (V,)
        nearest = [f"{names[other]} {cosines[other]:.2f}" for other in np.argsort(-cosines)[1:6]]
        print(f"{word:9}{', '.join(nearest)}; the middle one of all pieces {abs(np.median(cosines)):.2f}")


# %% [markdown]
# *Striker* and *midfielder* have the cosine 0.54, so what a label says of one could also count for the other. Two runs could refute this. Give each piece the row of another one: the table falls from 82.0 to 47.6 %, far below counting. Leave out of each test text the pieces that no labelled text has: it falls to 78.0 %. Both agree with it.
#
# | correct, AG News | counting | LSA | table alone | MiniLM, frozen |
# |---|---|---|---|---|
# | 240 labels, ten draws | 74.4 % | 78.1 % | 82.0 % | 85.2 % |
# | 10,000 labels, one fit | 87.9 % | 84.7 % | 87.7 % | 88.0 % |
#
# **LSA** (Deerwester et al., 1990) has no network: it makes 128 numbers of each text from the counts of all 10,000 texts, without labels. With 10,000 labels MiniLM, frozen, has no lead to divide: counting, the table and MiniLM lie within 0.3 points.
#
# In the course's sample the title decides the class, and in one item of five a second sentence speaks of another. With 240 labels counting has 89.7 % there, the table 88.8 %, 0.9 below it, and the frozen MiniLM 93.2 %: the whole lead comes with the blocks.
#
# **With 240 labels of these news items, MiniLM keeps about seven tenths of its lead over counting without its blocks, by the mean of its table's rows; that table was trained under these blocks.**

# %% [markdown]
# <a id="three-ways"></a>
#
# ## 5 · Let it learn, whole or by LoRA
#
# Now the labels may change the encoder. A small rate, few epochs and a **warm-up** are meant to protect what it knows. In the first w steps, a tenth of all n, the rate climbs from zero to its peak $\hat\eta$; then it falls to zero again along a cosine:
#
# $$\eta(s)=\hat\eta\cdot\frac{s}{w}\;\;(s\le w),\qquad \eta(s)=\frac{\hat\eta}{2}\Big(1+\cos\frac{\pi\,(s-w)}{n-w}\Big)\;\;(s>w)$$
#
# Devlin et al. (2019) took peaks of 2 to 5·10⁻⁵ and 2 to 4 epochs; here it is 1·10⁻⁴ and 8, set beforehand and not searched.

# %% jupyter={"source_hidden": true} tags=["setup"]
def fine_tune(model, rows, labels, rate=1e-4, epochs=8, size=16, seed=0):
    """Let every trainable number learn; the rate climbs for a tenth of the steps, then falls to zero."""
    rng, steps = np.random.default_rng(seed), epochs * -(-len(rows) // size)
    warm_up = max(1, steps // 10)
    schedule = keras.optimizers.schedules.CosineDecay(0.0, steps - warm_up, warmup_target=rate, warmup_steps=warm_up)
    optimizer = keras.optimizers.AdamW(schedule, weight_decay=0.01, global_clipnorm=1.0)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer, loss, jit_compile=False)
    for _ in range(epochs):
        order = np.argsort([len(row) for row in rows] + rng.normal(0, 9, len(rows)))  # of like length, in new company
        for start in rng.permutation(range(0, len(rows), size)):
            part = order[start : start + size]
            model.train_on_batch(padded([rows[number] for number in part]), labels[part])


# %% [markdown]
# **Predict.** All 22.6 million numbers learn from the same 240 texts, eight times over. Beside the frozen MiniLM, the fine-tuned one is
#
# - (a) clearly worse: it learns 240 texts by heart
# - (b) within three points of it
# - (c) better by more
#
# <details><summary>Answer</summary>
#
# **(b)** It is 86.5 %, 1.3 points better than the frozen one with the same texts (0.2 to 2.5; one draw, one seed). Over ten draws the frozen one alone goes from 84.5 to 86.0 %.
#
# </details>

# %% jupyter={"source_hidden": true} tags=["setup"]
(run,), (share,) = study["runs"]["fine-tuned"], study["test"]["fine-tuned"]
minutes = run["training seconds"] / 60
print(f"fine-tuned, draw 0: {run['learned']:,} numbers learn, {run['epochs']} epochs, {minutes:.0f} minutes of one core")
print(f"training texts {run['training']:.1%}, test texts {share:.1%}")
(pair,) = [pair for pair in study["pairs"] if (pair["first"], pair["second"]) == ("fine-tuned", "frozen")]
difference, low, high = (100 * pair[name] for name in ("difference", "low", "high"))
print(f"fine-tuned minus frozen, the same 240 texts: {difference:+.1f} points ({low:+.1f} to {high:+.1f})")


# %% [markdown]
# It knows its 240 texts by heart, every one, and on new texts it is not behind. The price is three minutes of one core.
#
# Each task now has an encoder of its own to store. With **LoRA** (Hu et al., 2022) a matrix stays as it is and gets a small correction $AB$, $A$ of shape (D, r), $B$ of shape (r, D), for a small **rank** r. Only $A$, $B$ and the head learn. $B$ begins at zero, so training begins with the pre-trained model. In the end $AB$ is added to the matrix, and the model is as fast as before.

# %%
class PlainLowRank(keras.Layer):
    """LoRA: a projection (D to H, K) that stays, beside a trained product A B of rank r (Hu et al. 2022)."""

    def __init__(self, projection, rank):
        super().__init__()
        self.projection = projection
        projection.trainable = False
        d_model, heads, size = projection.kernel.shape
        start = keras.initializers.RandomNormal(stddev=d_model**-0.5)
        self.down = self.add_weight(shape=(d_model, rank), initializer=start)  # A
        self.up = self.add_weight(shape=(rank, heads, size), initializer="zeros")  # B: at first nothing is added

    def call(self, x):  # (B, T, D)
        return self.projection(x) + ops.einsum("btd,dr,rhk->bthk", x, self.down, self.up)


# %% jupyter={"source_hidden": true} tags=["setup"]
dense = keras.layers.EinsumDense("btd,dhk->bthk", (None, 12, 32))  # queries or values: 12 heads of 32
x = keras.random.normal((2, 5, 384), seed=1)
before, low_rank = dense(x), PlainLowRank(dense, rank=4)
print("at first it changes nothing:", np.array_equal(low_rank(x), before))
low_rank.up.assign(keras.random.normal(low_rank.up.shape, seed=2))  # as if it had learned
after = low_rank(x)
dense.kernel.assign(dense.kernel + ops.einsum("dr,rhk->dhk", low_rank.down, low_rank.up))
print("added to the matrix, A B does the same:", np.allclose(dense(x), after, atol=1e-3))
learned = sum(int(np.prod(weight.shape)) for weight in low_rank.trainable_weights)
print(f"A and B have {learned:,} numbers, the matrix {384 * 384:,}")
small = recorded.load("news_few_labels")["results"]  # the course's small BERT, three draws
for kind in ("fine-tuned", "LoRA"):
    print(f"small BERT, {kind:10} {small['learned'][kind]:9,} numbers learn: {np.mean(small['test'][kind]):.1%}")
print(f"small BERT, frozen with a linear head: {np.mean(small['test']['frozen with a linear head']):.1%}")

# %% [markdown]
# What LoRA costs was measured on the small BERT, not on MiniLM, with r = 4 in the matrices of queries and values: it learns 0.6 % of the numbers and has 80.2 % right, where full fine-tuning has 82.1 % ([evidence](evidence/07.ipynb#few-labels)). Frozen, below the same linear head as MiniLM, the small BERT has 75.7 %. It is smaller, read less, and learned from no pairs: what counts was not measured.
#
# **In this one run fine-tuning every number adds little to a frozen MiniLM; on the small BERT, where it adds much, LoRA gets most of it with few numbers.**

# %% [markdown]
# <a id="scratch"></a>
#
# ## 6 · The same network from scratch
#
# Is the architecture good at this by itself? Give all its numbers fresh random values, and train again.

# %% [markdown]
# **Predict.** From scratch, trained on 240 texts until it fits them, where is MiniLM's network on the test texts?
#
# - (a) near the fine-tuned one: it has the same architecture
# - (b) between counting and the fine-tuned one
# - (c) below counting
#
# <details><summary>Answer</summary>
#
# **(c)** It has 64.4 % of the test texts right: 9.4 points fewer than the 73.8 % that counting has in this draw (7.8 to 11.1; one draw, one seed).
#
# </details>

# %% jupyter={"source_hidden": true} tags=["setup"]
(run,), (share,) = study["runs"]["scratch"], study["test"]["scratch"]
print(f"MiniLM's network from scratch, draw 0: rate {run['rate']}, {run['epochs']} epochs")
print(f"training texts {run['training']:.1%}, test texts {share:.1%}")
(pair,) = [pair for pair in study["pairs"] if (pair["first"], pair["second"]) == ("words", "scratch")]
difference, low, high = (100 * pair[name] for name in ("difference", "low", "high"))
print(f"counting {study['test']['words'][0]:.1%}; counting minus scratch, the same texts: {difference:.1f} points ({low:.1f} to {high:.1f})")
fits = zip(small["training"]["scratch"], small["test"]["scratch"], strict=True)
print("the small BERT from scratch, three draws:", ", ".join(f"training {of_training:.1%}, test {share:.1%}" for of_training, share in fits))
print("words and pairs counted, the same draws:", *(f"{share:.1%}" for share in small["test"]["linear"]))

# %% [markdown]
# It has all its training texts right; that does not carry over. The small BERT's network, also trained until it fits its texts, has 58.7 to 64.9 % in three draws, where counting words and pairs has 71.0 to 74.1 % ([evidence](evidence/07.ipynb#few-labels)).
#
# **An architecture knows no words: from scratch, with 240 labels, both networks are behind counting.**

# %% [markdown]
# <a id="word-order"></a>
#
# ## 7 · Does it read the order?
#
# Our classifier of film reviews hardly notices when you shuffle all words (lecture 6). And MiniLM?

# %% [markdown]
# **Predict.** How many of the frozen MiniLM's answers change? And what does the shuffling cost?
#
# <details><summary>Answer</summary>
#
# Few: 6.4 % of its answers change, and the share of correct ones falls from 85.2 to 84.4 % (ten draws).
#
# </details>

# %%
if minilm:
    rng = np.random.default_rng(0)
    mixed_up = [" ".join(rng.permutation(each.split())) for each in test_texts[:500]]
    shuffled = frozen.predict(in_batches(read, cut(mixed_up)))
    print(f"{mixed_up[0][:90]} …")
    print(f"live: {np.mean(shuffled != answers[:500]):.1%} of {len(mixed_up)} answers change")

# %% jupyter={"source_hidden": true} tags=["setup"]
if minilm:
    does = ("chasing", "chased"), ("following", "followed"), ("watching", "watched"), ("calling", "called"), ("carrying", "carried")
    scenes = [
        [f"a {a} is {doing} a {b}", f"a {b} is {doing} a {a}", f"a {b} is being {done} by a {a}", f"a {a} is being {done} by a {b}"]
        for doing, done in does
        for a, b in combinations(("man", "woman", "boy", "girl", "dog"), 2)
    ]
    vectors = minilm([each for scene in scenes for each in scene]).reshape(len(scenes), 4, -1)
    cosines = np.einsum("nd,nkd->nk", vectors[:, 0], vectors[:, 1:])  # (50, 3)
    for name, column in zip(("roles swapped", "passive, same meaning", "passive, roles swapped"), cosines.T, strict=True):
        print(f"{name:23} cosine {column.mean():.2f}, from {column.min():.2f} to {column.max():.2f}")
    print(f"same meaning nearer than roles swapped: {np.sum(cosines[:, 1] > cosines[:, [0, 2]].min(axis=1))} of {len(scenes)}")


# %% jupyter={"source_hidden": true} tags=["setup"]
def in_context(word, sentence):
    """The vector of a word after six blocks, at length 1."""
    ids = np.array(cut([sentence]))
    x = reader.norm(ops.take(reader.words, ids, axis=0) + reader.positions[: ids.shape[1]])  # (1, T, D)
    for block in reader.blocks:
        x = block(x)
    vector = x[0, list(ids[0]).index(minilm.pieces.words.index(word))]
    return vector / ops.norm(vector)


if minilm:
    in_three = ("the miners went on strike for higher pay", "teachers voted to strike over their wages", "an air strike killed three rebels in the town")
    one, two, three = (in_context("strike", each) for each in in_three)
    print(f"strike after six blocks: wages and wages {ops.dot(one, two):.2f}, wages and air {ops.dot(one, three):.2f} and {ops.dot(two, three):.2f}")

# %% jupyter={"source_hidden": true} tags=["setup"]
print(f"ten draws: {np.mean(study['changed by shuffling']['frozen']):.1%} of the answers change")
for name, source in (("the news", "real"), ("the course's sample", "sample")):
    test = recorded.load("news_with_minilm")["results"][source]["test"]
    shares = [f"{kind} {np.mean(test[kind]):.1%}" for kind in ("frozen", "shuffled", "words")]
    print(f"{name}, correct in ten draws:", ", ".join(shares), f"; shuffling costs {100 * np.mean(np.subtract(test['frozen'], test['shuffled'])):.1f} points")
for first, second in pairwise(("frozen", "shuffled", "table", "words")):
    print(f"{STEPS[first]} minus {STEPS[second]}: {100 * np.mean(np.subtract(study['test'][first], study['test'][second])):.1f} points")

# %% [markdown]
# This completes the sum of section 4. The lead of the frozen MiniLM over counting has three parts:
#
# | lead over counting | table | blocks, without the order | order |
# |---|---|---|---|
# | 10.7 points | 7.6 | 2.4 | 0.7 |
#
# What can blocks do without the order? Each word's vector takes in its company. The table has one row for *strike*; after six blocks its vectors in two texts on wages have the cosine 0.90, and with an air strike 0.73 and 0.68.
#
# On the sample, where the order of two sentences can decide, shuffling costs 3.5 points, and the frozen MiniLM falls to the level of counting: it does read the order. As what? In 50 scenes like *a man is chasing a woman*, the sentence with the roles swapped has the mean cosine 0.96; the passive with the same meaning has 0.91. In none of the 50 is the same meaning nearer than the swapped roles. So to MiniLM the order of the words counts for more than who does what to whom.
#
# **For the topic of these news items the words are nearly all: MiniLM, frozen, reads them in random order and loses less than one point.**

# %% [markdown]
# <a id="number-of-labels"></a>
#
# ## 8 · More labels, and what goes wrong
#
# Does the lead of pre-training grow with more labels? Here is the small BERT, fine-tuned, beside three others:

# %% jupyter={"source_hidden": true} tags=["drawing"]
runs = recorded.load("bert_ag_news")["results"]["runs"]
SIZES = (100, 500, 2_000, 10_000)
LABEL_OF = {"fine-tuned": "fine-tuned", "LSA": "LSA", "linear": "words and pairs counted", "scratch": "from scratch, same epochs"}
by_size = {kind: [[run["test"] for run in runs if (run["model"], run["texts"]) == (kind, size)] for size in SIZES] for kind in LABEL_OF}
figure, ax = plt.subplots(figsize=(7.6, 3.7))
for number, kind in enumerate(LABEL_OF):
    middle = np.array([np.mean(shares) for shares in by_size[kind]])
    low, high = (np.array([extreme(shares) for shares in by_size[kind]]) for extreme in (min, max))
    ax.errorbar(SIZES, middle, yerr=[middle - low, high - middle], capsize=3, label=LABEL_OF[kind], **plots.LINES[number])
ax.set(xscale="log", xlabel="labelled texts", ylabel="test accuracy", xticks=SIZES, xticklabels=[f"{size:,}" for size in SIZES])
ax.minorticks_off()
ax.legend()
plots.show(
    figure,
    alt="""The lead of the fine-tuned small BERT is largest where labels are fewest. Test accuracy on 7,600 texts by number of labelled texts, mean and range of three seeds (one seed at 10,000).
With 100 labels fine-tuned leads, LSA follows, then counted words and pairs, and scratch is last. With more labels counted words and the network from scratch come up to it; LSA does not.""",
)

# %% jupyter={"source_hidden": true} tags=["setup"]
for kind in ("scratch", "linear", "LSA"):
    leads = [100 * (np.mean(one) - np.mean(other)) for one, other in zip(by_size["fine-tuned"], by_size[kind], strict=True)]
    print(f"small BERT, fine-tuned, ahead of {kind:7}", ", ".join(f"{size:,} labels {lead:+.1f}" for size, lead in zip(SIZES, leads, strict=True)))
judged = answers if minilm else counted
wrong = np.flatnonzero(judged != y_test)
for number in wrong[:5]:
    begin = test_texts[number][:70].rsplit(" ", 1)[0]
    print(f"label {data.NEWS_CLASSES[y_test[number]]:8} predicted {data.NEWS_CLASSES[judged[number]]:8}  {begin} …")
both = np.isin(y_test[wrong], (2, 3)) & np.isin(judged[wrong], (2, 3))
print(f"{both.sum()} of {len(wrong)} errors: Business and Sci/Tech taken for each other")

# %% [markdown]
# No: ahead of the same network from scratch it shrinks from 26.0 points with 100 labels to 1.4 with 10,000. Counting catches up as well, as the labels fill its columns. LSA is 4.9 points behind with 100 labels, and does not come nearer steadily ([evidence](evidence/07.ipynb#by-size)).
#
# Then read errors: 91 of the 212 of MiniLM's live draw take Business and Sci/Tech for each other. *Microsoft to hire hundreds in India* could carry either label.
#
# **The small BERT's pre-training is worth most where labels are few; look at the errors before you buy more labels.**

# %% [markdown]
# <a id="one-keras"></a>
#
# ## 9 · How you would load BERT-base
#
# BERT-base has 110 million numbers (Devlin et al., 2019). It was not run here. Two ways lead to it. **KerasHub** takes texts and gives logits:
#
# ```python
# import keras_hub  # 0.32.0 needs Keras 3.15; for Keras 3.13, as in Colab, install keras-hub==0.29.1
#
# model = keras_hub.models.BertTextClassifier.from_preset("bert_base_en_uncased", num_classes=4)
# model.preprocessor.sequence_length = 128  # else 512
# model.fit(train_texts, train_labels, batch_size=16, epochs=3)  # Adam with a rate of 5·10⁻⁵, unless you compile it
# ```
#
# Sun et al. (2019) report 94.75 % correct with BERT-base and all 120,000 labels. **TensorFlow Hub** brings it in two halves, preprocessing and encoder, each loaded by a **handle**: a folder, or an address on the web. The next cell takes the small BERT's folders; its second line takes BERT-base, with its own settings and all labels. The small BERT takes ten times the usual rate, as it is small; the warm-up is left out for brevity.

# %%
PREPROCESS, ENCODER, LENGTH, PEAK, EPOCHS, LABELS = bert.PREPROCESS, bert.ENCODER, 64, 5e-4, 8, 240
# PREPROCESS, ENCODER, LENGTH, PEAK, EPOCHS, LABELS = bert.PUBLIC_PREPROCESS, bert.PUBLIC_BASE, 128, 3e-5, 3, None


def plain_classifier(encoder, classes=4, trainable=True):
    """A classifier on a pre-trained encoder: three rows of ids, each (B, T), to probabilities (B, classes)."""
    rows = {name: layers.Input((None,), dtype="int32", name=name) for name in bert.INPUTS}
    body = hub.KerasLayer(encoder, trainable=trainable)
    head = tf_keras.Sequential([layers.Dense(16, "relu"), layers.Dropout(0.2), layers.Dense(classes, "softmax")])
    return tf_keras.Model(rows, head(body(rows)["pooled_output"]))


# %% jupyter={"source_hidden": true} tags=["setup"]
halves = hub.load(PREPROCESS)


@tf.function(reduce_retracing=True)
def pack(texts):
    """Texts (B,) to the three rows of section 1, each (B, T)."""
    return halves.bert_pack_inputs([halves.tokenize(texts)], seq_length=LENGTH)


def packed(texts):
    return {name: np.asarray(row) for name, row in pack(tf.constant(texts)).items()}


# %%
chosen = np.random.default_rng(0).permutation(len(train_texts))[:LABELS]
x_chosen, y_chosen = packed([train_texts[number] for number in chosen]), train_labels[chosen]

tf_keras.utils.set_random_seed(0)
tuned = plain_classifier(ENCODER)
rate = tf_keras.optimizers.schedules.PolynomialDecay(PEAK, EPOCHS * -(-len(y_chosen) // 16), end_learning_rate=0.0)
tuned.compile(tf_keras.optimizers.AdamW(rate, weight_decay=0.01, clipnorm=1.0), "sparse_categorical_crossentropy")
tuned.fit(x_chosen, y_chosen, batch_size=16, epochs=EPOCHS, verbose=0)
packed_test = packed(test_texts)
said = tuned.predict(packed_test, batch_size=100, verbose=0).argmax(1)
print(f"{len(y_chosen)} labels: {np.mean(said == y_test):.1%} of {len(y_test):,} test texts correct")

# %% [markdown]
# The small BERT has 81.2 % in this draw, on 1,500 test texts (82.1 % over three draws and all test texts, section 5).
#
# <details><summary>Which Keras, and is it the right pair?</summary>
#
# `hub.KerasLayer` and all parts around it are Keras 2, the package `tf_keras`. Since TensorFlow 2.16, `keras` and `tf.keras` are Keras 3; so are sections 3 to 7.
#
# Before you trust BERT-base's pair, check it: *Tech rumors: the tech giant is working on its self-driving car* must become ids that begin with 101 6627 11256 1024 1996 6627 5016 2003 2551 2006.
#
# `pooled_output`, the vector of a row, comes from `[CLS]` in the published models, from the mean of all tokens in the small BERT, which is pre-norm as well (lecture 4). MiniLM in the same form, and more families: [evidence](evidence/07.ipynb#encoders).
#
# </details>
#
# **Preprocessing and encoder come as a pair, and every part around them is of one Keras.**

# %% [markdown]
# ## Two mistakes
#
# **The preprocessing of one model, the encoder of another.** Ids below the encoder's V raise no error, but there they stand for other pieces. Here the same pieces get other ids:

# %%
size = packed_test["input_word_ids"].max() + 1
other = np.concatenate([np.arange(5), np.random.default_rng(0).permutation(np.arange(5, size))])
mixed = packed_test | {"input_word_ids": other[packed_test["input_word_ids"]].astype("int32")}
print(f"another vocabulary: {np.mean(tuned.predict(mixed, batch_size=100, verbose=0).argmax(1) == y_test):.1%} correct, no error")

# %% [markdown]
# **A layer of the other Keras.** A Keras 3 `Dense` on the output of a Keras 2 model raises no error. But the model does not know its weights, so they never learn. `bert.one_keras()` turns this into an error.

# %% jupyter={"source_hidden": true} tags=["setup"]
rows_2 = {name: layers.Input((64,), dtype="int32", name=name) for name in bert.INPUTS}
pooled = hub.KerasLayer(ENCODER, trainable=True)(rows_2)["pooled_output"]
dense = keras.layers.Dense(4)  # Keras 3
model = tf_keras.Model(rows_2, dense(pooled))
inside = {id(weight) for weight in model.trainable_weights}
print("weights of the Dense layer that the model trains:", sum(id(weight.value) in inside for weight in dense.weights))
try:
    with bert.one_keras():
        dense(pooled)
except bert.KerasMixError as error:
    print(f"{type(error).__name__}: {error}")

# %% [markdown]
# ## Four questions
#
# <details><summary>1. A text has 200 pieces, and T = 128. How many of them does BERT read?</summary>
#
# 126: `[CLS]` and `[SEP]` take two positions.
#
# </details>
#
# <details><summary>2. Why does the loss of MLM count only the chosen positions?</summary>
#
# At the others the encoder reads the token itself: copying is no task, and it would dominate the loss. (The chosen tokens that stay look like any other.)
#
# </details>
#
# <details><summary>3. “Our frozen encoder beats counting, so attention understands the text.” Which run is missing?</summary>
#
# The one without blocks: the same table, the same mean and head. And, to speak of attention: blocks of feed-forward layers alone.
#
# </details>
#
# <details><summary>4. “The table beats counting, so similar words must have similar rows.” Which run could refute it?</summary>
#
# The same rows, given to other pieces. Had the table kept its lead, the reason would be wrong.
#
# </details>
#
# <details><summary><b>What this page does not show</b></summary>
#
# * One collection of news, one kind of task. Where order or a small word decides, the blocks matter more: the sample is such a case.
# * Ten draws of 240 texts for what is cheap; one draw and one seed where MiniLM's network trains, with rates and epochs set beforehand, not searched; one fit with 10,000 labels. LoRA was not run on MiniLM, no full-size BERT at all.
# * What a table is worth that was trained without any block (GloVe, word2vec): not measured.
# * Whether texts of AG News are among MiniLM's pairs of sentences is unchecked; AG News is not in its makers' list.
# * MiniLM reads at most 128 pieces of a text here, and has no dropout (the original has, in training). Fresh blocks on its table were not trained. What attention and feed-forward layers add apart was not measured.
# * The head of the shuffled MiniLM learned from texts in order. With one that learned from shuffled texts the order could be worth less.
# * The small BERT is a toy: 1.4 million numbers, half an hour on film reviews and these 10,000 news items without their labels. Its numbers come from all 7,600 test texts, MiniLM's from the first 3,000.
#
# </details>
#
# ## Summary
#
# | AG News, 240 labels | correct | draws · test texts |
# |---|---|---|
# | MiniLM's network from scratch | 64.4 % | 1 · 3,000 |
# | MiniLM's table, rows moved | 47.6 % | 10 · 3,000 |
# | counting | 74.4 % | 10 · 3,000 |
# | LSA | 78.1 % | 10 · 3,000 |
# | MiniLM's table alone | 82.0 % | 10 · 3,000 |
# | the course's small BERT, fine-tuned | 82.1 % | 3 · 7,600 |
# | MiniLM, frozen | 85.2 % | 10 · 3,000 |
# | MiniLM, fine-tuned | 86.5 % | 1 · 3,000 |
#
# Build the parts in [lab 7](../labs/07_bert_ag_news/07_bert_ag_news.ipynb). Next: [a model that writes](08_decoder_and_masking.ipynb).
#
# **Before you say which part of a trained model does the work, take that part away and measure again.**
#
# ## References
#
# * J. Devlin, M.-W. Chang, K. Lee, K. Toutanova, *BERT: pre-training of deep bidirectional Transformers for language understanding*, NAACL 2019, arXiv:1810.04805: section 3, appendices A and C.2.
# * W. Wang, F. Wei, L. Dong, H. Bao, N. Yang, M. Zhou, *MiniLM: deep self-attention distillation for task-agnostic compression of pre-trained Transformers*, NeurIPS 2020, arXiv:2002.10957. N. Reimers, I. Gurevych, *Sentence-BERT*, EMNLP 2019, arXiv:1908.10084. The model is all-MiniLM-L6-v2, Apache licence 2.0.
# * M. Schuster, K. Nakajima, *Japanese and Korean voice search*, ICASSP 2012. Y. Liu et al., *RoBERTa*, 2019, arXiv:1907.11692.
# * I. Loshchilov, F. Hutter, *Decoupled weight decay regularization*, ICLR 2019. E. Hu et al., *LoRA: low-rank adaptation of large language models*, ICLR 2022, arXiv:2106.09685: section 4.1.
# * S. Deerwester et al., *Indexing by latent semantic analysis*, Journal of the American Society for Information Science 41, 1990.
# * X. Zhang, J. Zhao, Y. LeCun, *Character-level convolutional networks for text classification*, NIPS 2015 (AG News). C. Sun, X. Qiu, Y. Xu, X. Huang, *How to fine-tune BERT for text classification?*, CCL 2019, arXiv:1905.05583.
#
# <details><summary>If something looks wrong, runs slowly, or you want more</summary>
#
# **Symptoms.** “A KerasTensor is symbolic …” or “Could not interpret optimizer identifier”: Keras 2 and 3 are mixed. “Op type not registered 'CaseFoldUTF8'”: `import tensorflow_text` is missing. A loss that stays near 1.39: four classes, guessing; the rate is too large, or the encoder is frozen and the head's rate too small.
#
# **Slow machine:** 300 test texts in the cell that loads the news. The recorded runs need nothing. **Fine-tune MiniLM yourself**, the three minutes of section 5: `fine_tune(reader, cut(few_texts), y_few)`, then `in_batches(reader, cut(test_texts)).argmax(1)`.
#
# **More.** Hugging Face, [*LLM course*](https://huggingface.co/learn/llm-course), chapters 3, 6 and 7: the same steps with a published BERT. TensorFlow, [*Classify text with BERT*](https://www.tensorflow.org/text/tutorials/classify_text_with_bert). A. Rogers et al., [*A primer in BERTology*](https://arxiv.org/abs/2002.12327).
#
# </details>

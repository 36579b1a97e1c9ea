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
# # 7 · Fine-tuning BERT on AG News
#
# **Learn the language without labels, and the task with few.**
#
# [← 6b · Judging a classifier](06b_judging_a_classifier.ipynb) · [Lab 7](../labs/07_bert_ag_news/07_bert_ag_news.ipynb) ·
# [8 · Decoder and masking →](08_decoder_and_masking.ipynb)
#
# Somebody has sorted 240 news items into four classes for you. Another 9,760 are unsorted. **How far do 240 labels go?** Write down an accuracy. Section 1 answers for one model, and section 6 compares it with what a statistician would try first.
#
# **Afterwards you can**
#
# * fine-tune a pre-trained encoder in fifteen lines;
# * cut words into pieces, and pack texts into the three rows that BERT reads;
# * mask tokens 80/10/10, and explain why;
# * compare a fine-tuned model fairly: with the same network from scratch, with a linear model, and with a model that has the unlabelled texts as well.
#
# **You need** [the encoder block](04_encoder_block.ipynb) and lectures [6](06_imdb_classifier.ipynb) and [6b](06b_judging_a_classifier.ipynb). **Time:** about 59 minutes to read and predict (estimated, not measured); the code
# runs in about a minute on two CPU cores. Letters: **B** batch, **T** tokens of a row, **D** width, **V** size of the vocabulary.

# %% tags=["course-setup"]
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

# %% tags=["setup"]
from coursekit import bert, data, diagrams, live, plots, quiet, recorded

quiet.start_tensorflow("tensorflow_text", "tensorflow_hub", "tf_keras")  # keeps their messages out of the notebook
plots.use_course_style()

from pathlib import Path

import keras
import matplotlib.pyplot as plt
import numpy as np
import tensorflow as tf
import tensorflow_hub as hub
import tensorflow_text as text  # the preprocessing needs its operations
import tf_keras  # Keras 2: section 4 says why
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix
from tf_keras import layers

tf.get_logger().setLevel("ERROR")  # no advice on retracing
print("running on:", "GPU" if tf.config.list_physical_devices("GPU") else "CPU")

# %% tags=["setup"]
# Tokens of a row, the largest rate, epochs, labels (None: all). For BERT-base, on a GPU, run the third line as well.
LENGTH, PEAK, EPOCHS, LABELS = 64, 5e-4, 8, 240
# bert.PREPROCESS, bert.ENCODER, LENGTH, PEAK, EPOCHS, LABELS = bert.PUBLIC_PREPROCESS, bert.PUBLIC_BASE, 128, 3e-5, 3, None

(train_texts, train_labels), (test_texts, test_labels) = data.news(source=data.chosen_source())
preprocess = hub.load(bert.PREPROCESS)


@tf.function(reduce_retracing=True)
def pack(texts, length=LENGTH):
    """Texts (B,) to the three rows of section 2, each (B, T)."""
    return preprocess.bert_pack_inputs([preprocess.tokenize(texts)], seq_length=length)


def packed(texts):
    return {name: np.asarray(row) for name, row in pack(tf.constant(texts)).items()}


few = np.random.default_rng(3).permutation(len(train_texts))[:LABELS]
few_texts, y_few = [train_texts[number] for number in few], train_labels[few]
x_few, x_test, y_test = packed(few_texts), packed(test_texts[:600]), test_labels[:600]

# %% [markdown]
# <a id="pretrain-finetune"></a>
#
# ## 1 · Pre-train, then fine-tune
#
# In lecture 6 the encoder began with random numbers, and 22,300 labels had to teach it everything: what words mean, and what is praise. BERT (Devlin et al., 2019) splits the work.
#
# * **Pre-training**: the encoder guesses hidden words in texts *without* labels. Such texts are cheap.
# * **Fine-tuning**: a small new **head** is put on the encoder, and both are trained a little more on the texts *with* labels.
#
# What the first task taught helps in the second. This is **transfer**.

# %% tags=["drawing"]
figure, ax = diagrams.canvas(9.8, 3.2)
for x, texts, detail, head, answer, role in (
    (1.1, "news, film reviews", "no labels", "head for hidden words", "the hidden piece", "mask"),
    (6.3, "240 news items", "4 classes", "new head", "World, Sports, …", "accent"),
):
    start = diagrams.box(ax, x, 0.55, texts, detail=detail, width=2.0, height=0.6, fontsize=9)
    body = diagrams.box(ax, x, 1.5, "encoder", role="query", width=2.0, height=0.6, detail="3 blocks")
    top = diagrams.box(ax, x, 2.4, head, role=role, width=2.0, height=0.5, fontsize=9)
    diagrams.arrow(ax, start, body)
    diagrams.arrow(ax, body, top)
    diagrams.note(ax, x + 1.15, 2.4, f"→ {answer}", ha="left")
diagrams.arrow(ax, (2.15, 1.5), (5.25, 1.5))
diagrams.note(ax, 3.7, 1.72, "the same weights go on")
diagrams.note(ax, 1.1, 2.95, "pre-training: once")
diagrams.note(ax, 6.3, 2.95, "fine-tuning: for each task")
plots.show(
    figure,
    alt="""Only the head is new when the labels come. Left, pre-training: texts without labels pass the encoder and a head that guesses the hidden piece.
Right, fine-tuning: 240 news items with labels pass the same encoder, with the weights that it has learned, and a new head for four classes.""",
)


# %% [markdown]
# The texts are AG News (Zhang et al., 2015): short news items, equally many of *World*, *Sports*, *Business* and *Sci/Tech*. You get a synthetic **sample** unless you set `COURSE_SOURCE=real`; the numbers stored here are from the real texts: 10,000 of the 120,000 for training, those of NoisyAG-News with their true classes (see `data/README.md`). The sample is easier and stranger: nearly every text is classified correctly there, and the encoder finds hardly a hidden word. The encoder is the course's own small BERT (pre-norm, lecture 4; the published ones are post-norm). It was pre-trained for
# half an hour of CPU time on film reviews and on the 10,000 news items without their labels, never on a test text. Only its word vectors did not begin at random: they come from counts of neighbouring words in these texts ([evidence](evidence/07.ipynb#pre-training)).

# %% [markdown]
# **Predict.** 240 labelled texts, four classes: a blind guess is correct in 25 % of the cases. How many of 600 test texts does the fine-tuned encoder classify correctly?
#
# - (a) about 40 %
# - (b) about 60 %
# - (c) about 80 %
# - (d) about 95 %
#
# <details><summary>Answer</summary>
#
# **(c)** It is 81 %, after about ten seconds of training. Counting words and pairs of words in the same 240 texts gives 72 %.
#
# </details>

# %%
def plain_classifier(encoder, classes=4, trainable=True):
    """A classifier on a pre-trained encoder: three rows of ids, each (B, T), to probabilities (B, classes)."""
    rows = {name: layers.Input((None,), dtype="int32", name=name) for name in bert.INPUTS}
    body = hub.KerasLayer(encoder, trainable=trainable)
    head = tf_keras.Sequential([layers.Dense(16, "relu"), layers.Dropout(0.2), layers.Dense(classes, "softmax")])
    return tf_keras.Model(rows, head(body(rows)["pooled_output"]))  # pooled: (B, D), one vector a text


# %%
tf_keras.utils.set_random_seed(0)
tuned = plain_classifier(bert.ENCODER)
rate = tf_keras.optimizers.schedules.PolynomialDecay(PEAK, decay_steps=EPOCHS * -(-len(y_few) // 16), end_learning_rate=0.0)
tuned.compile(tf_keras.optimizers.AdamW(rate, weight_decay=0.01, clipnorm=1.0), "sparse_categorical_crossentropy")
tuned.fit(x_few, y_few, batch_size=16, epochs=EPOCHS, verbose=0)
answers = tuned.predict(x_test, batch_size=100, verbose=0)  # (n, 4)
print(f"fine-tuned on {len(y_few)} labels: {np.mean(answers.argmax(1) == y_test):.1%} of {len(y_test)} test texts correct")

words = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True)
linear = LogisticRegression(C=10, max_iter=300).fit(words.fit_transform(few_texts), y_few)
counted = linear.predict_proba(words.transform(test_texts[:600]))
print(f"words and pairs counted, same labels: {np.mean(counted.argmax(1) == y_test):.1%}")

# %% [markdown]
# `compile` and `fit` are those of lecture 6. `AdamW` (Loshchilov and Hutter, 2019) also makes every weight a little smaller at each step, `clipnorm` shortens long gradients, and the learning rate follows a **schedule**: it falls in a straight line to zero.
#
# **The encoder comes with what it learned without labels; the labels teach the four classes.**

# %% [markdown]
# <a id="pieces-and-rows"></a>
#
# ## 2 · Pieces, and three rows
#
# The models of lecture 6 knew a list of words, and had one id for all others. BERT's vocabulary holds sub-words, called **pieces** (WordPiece; Schuster and Nakajima, 2012). A frequent word is one piece. Other words are cut into several, and a piece that continues a word begins with `##`.
#
# Cutting is greedy: take the longest piece that fits the beginning, then cut the rest in the same way. If nothing fits, the whole word becomes `[UNK]`.

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
cut = text.FastWordpieceTokenizer(toy, token_out_type=tf.string, no_pretokenization=True)
for word in ["plays", "players", "replayed", "playing"]:
    print(f"{word:12}", *(piece.decode() for piece in cut.tokenize([word]).flat_values.numpy()))

vocabulary = (Path(hub.resolve(bert.PREPROCESS)) / "assets" / "vocab.txt").read_text(encoding="utf-8").split("\n")[:-1]
print(f"\nthe small BERT has V = {len(vocabulary):,} pieces, first {vocabulary[:5]}")
for word in ["government", "transformer", "Karlsruhe", "naïve"]:
    print(f"{word:12}", *(vocabulary[piece] for piece in preprocess.tokenize([word]).flat_values))

# %% [markdown]
# The last two lines show that this model is *uncased*: capitals become small and accents are removed first. None of the 600 test texts tried needs `[UNK]`, and a word has 1.23 pieces on average ([evidence](evidence/07.ipynb#pieces)).
#
# BERT reads T tokens. `[CLS]` comes first: in the published models its output stands for the whole input. `[SEP]` ends a text. One input may hold two texts, such as a question and an answer. So it is packed into three rows of length T:
#
# | row | what it holds | read by |
# |---|---|---|
# | `input_word_ids` | `[CLS] a [SEP] b [SEP]`, then padding | the table of pieces, (V, D) |
# | `input_mask` | 1 for tokens, 0 for padding | every attention |
# | `input_type_ids` | 0 for the first text, 1 for the second, 0 for padding | a table of two rows, (2, D) |
#
# The positions have a third table, but no input row: token t is at position t. The three vectors of a token are added.

# %%
pair = [preprocess.tokenize(["who won ?"]), preprocess.tokenize(["the team won ."])]
rows = preprocess.bert_pack_inputs(pair, seq_length=12)  # three rows, each (B, T)

# %% tags=["drawing"]
figure, ax = plt.subplots(figsize=(9, 1.9))
both = np.concatenate([rows["input_mask"], rows["input_type_ids"]])  # (2, T)
names = [vocabulary[piece] for piece in rows["input_word_ids"][0]]
plots.matrix_map(both, rows=["input_mask", "input_type_ids"], columns=names, digits=0, ax=ax)
plots.show(
    figure,
    alt="""The mask ends where the padding begins, and the type changes after the first SEP. A packed row of twelve: CLS who won ? SEP the team won . SEP PAD PAD.
The mask has ten ones. The type is 0 for the first five tokens, 1 for the next five and 0 in the padding.""",
)


# %% [markdown]
# The published preprocessing packs texts into T = 128. Attention costs T², so this page packs them into 64. Then a third of the texts lose their end (34.2 %).
#
# **With pieces hardly a word is unknown; three rows tell which piece is at each position, whether it is real, and to which text it belongs.**

# %% [markdown]
# <a id="hidden-word"></a>
#
# ## 3 · Guess the hidden word
#
# **Masked language modelling** (**MLM**): choose 15 % of the tokens and let the encoder guess them. Of the chosen tokens 80 % become `[MASK]`, 10 % become a random piece, 10 % stay as they are. The loss is the cross-entropy at the chosen positions, and only there. If m positions are chosen, $w_t$ is the true piece at position t, and $p_t(w_t)$ is the probability that the encoder gives to it:
#
# $$L=-\frac{1}{m}\sum_{t\text{ chosen}}\ln p_t(w_t)$$

# %% [markdown]
# Why not replace all chosen tokens by `[MASK]`? In fine-tuning there is no `[MASK]`. If the encoder had to predict masked tokens only, the loss would not depend on its output at any other token. With 80/10/10 any token that looks ordinary may have to be predicted, and may be random. So the encoder needs a good guess at *every* position. The paper compares several shares (appendix C.2): after fine-tuning the results differ little.
#
# Here every epoch chooses anew, as in RoBERTa (Liu et al., 2019). The original BERT chose in advance, several times for each text.

# %% tags=["drawing"]
def one_epoch(pieces, rng):
    """What happens to each piece, and what the encoder is shown."""
    chosen = rng.random(len(pieces)) < 0.15
    fate = np.where(chosen, rng.choice([3, 2, 1], len(pieces), p=[0.8, 0.1, 0.1]), 0)  # 3 mask, 2 random, 1 kept
    other = rng.choice(vocabulary[5:], len(pieces))
    return fate, [["", "kept", other[place], "mask"][what] for place, what in enumerate(fate)]


sentence = "the team won its third match in a row and leads the league by two points"
rng = np.random.default_rng(10)
epochs = [one_epoch(sentence.split(), rng) for _ in range(8)]
figure, ax = plt.subplots(figsize=(9.4, 3.2))
fates = np.array([fate for fate, _ in epochs])
plots.matrix_map(fates, columns=sentence.split(), rows=[f"epoch {i}" for i in range(1, 9)], values=False, limits=(0, 3.6), ax=ax)
for row, column in np.argwhere(fates):
    fill = plt.get_cmap("Blues")(fates[row, column] / 3.6)
    label = epochs[row][1][column]
    ax.text(column, row, label, ha="center", va="center", fontsize=6, color=diagrams.text_colour(fill))
plots.show(
    figure,
    alt="""Every epoch chooses anew which words of the same sentence it hides. One sentence of sixteen words in eight epochs; in each, one to four words
are chosen. Over all epochs most of them are masked, some are replaced by a random piece or kept.""",
)


# %% [markdown]
# What can an encoder know before it reads? If it spreads its guess evenly over V = 7,930 pieces, its loss is ln 7,930 = 8.98. If it knows how frequent each piece is in the news, the loss is 6.92. The small BERT reached 4.16 on unseen texts (half of them news, half film reviews), and found 31.5 % of the hidden pieces (rows of 64; [evidence](evidence/07.ipynb#pre-training)).
#
# Now test it by a rule, so that no example is chosen by hand: in each test text hide the first whole word of four letters or more from position 10 on.

# %%
def first_word(row):
    """The position, from 10 on, of the first piece that is a whole word of four letters or more."""
    pieces = [vocabulary[piece] for piece in row]
    whole = (p for p in range(10, 63) if pieces[p].isalpha() and len(pieces[p]) > 3 and pieces[p + 1][:2] != "##")
    return next(whole, 10)


encoder, ids = hub.load(bert.ENCODER), x_test["input_word_ids"].copy()  # (n, T)
hidden = np.array([[first_word(row)] for row in ids])  # (n, 1)
true = np.take_along_axis(ids, hidden, axis=1)  # (n, 1)
np.put_along_axis(ids, hidden, vocabulary.index("[MASK]"), axis=1)
gap = x_test | {"input_word_ids": ids, "masked_lm_positions": hidden.astype("int32")}
logits = encoder.mlm({name: tf.constant(row) for name, row in gap.items()})["mlm_logits"][:, 0].numpy()  # (n, V)
best = np.argsort(-logits, axis=1)[:, :3]
for row in range(8):
    around = " ".join(vocabulary[piece] for piece in ids[row, hidden[row, 0] - 5 : hidden[row, 0] + 5])
    print(f"{around:62} {vocabulary[true[row, 0]]:10} guesses:", *(vocabulary[piece] for piece in best[row]))
print(f"\ncorrect {np.mean(best[:, :1] == true):.0%}, among the first three {np.mean((best == true).any(1)):.0%}", end="; ")
print(f"always the commonest of these words: {np.bincount(true[:, 0]).max() / len(true):.0%}")

# %% [markdown]
# Without one label the encoder has learned what may stand in a gap: it finds 21 % of these words; always guessing the commonest of them would find 2 %. Some wrong guesses are of the correct kind: names that follow *new*, or countries in a report on a tour. (The 31.5 % above count all pieces, short words and commas included.)

# %% [markdown]
# **Predict.** Where does it look? Every head of the small BERT is below. Choose a head by a click and a row with the pointer; in Jupyter you can enter sentences of your own. In the last block, most heads put a quarter or more of their weight on one token, on average over 200 test texts. Which one?
#
# - (a) the token that looks
# - (b) `[SEP]`
# - (c) the verb
#
# <details><summary>Answer</summary>
#
# **(b)**. It only marks the end of a text, and has no content of its own.
#
# </details>

# %%
live.heads(
    "the company said its profit rose in the third quarter",
    "the striker scored twice as the team won the final",
    "the president said the government would not talk to the rebels",
)

# %% [markdown]
# Head 2 of block 1 puts 90 % of its weight on the token before, head 3 puts 94 % on the token after; equal weights would give less than 2 %. In the last block three of four heads put a quarter or more on `[SEP]` (means of 200 test texts; [evidence](evidence/07.ipynb#heads)); on short sentences like these, head 1 prefers `[CLS]`. Clark et al. (2019) found the same kinds of heads in the published BERT.
#
# The paper had a second task, *next sentence prediction*: does the second text follow the first? It trains `pooled_output`, in our encoder as well. Liu et al. (2019) found it dispensable.
#
# **A hidden word is a label that the text brings along.**

# %% [markdown]
# <a id="one-keras"></a>
#
# ## 4 · Which Keras, which handle
#
# BERT comes in two halves: the preprocessing, and the encoder. Each is loaded by a **handle**: a folder, or an address on the web. Ours are folders. These are published ones:

# %%
# NBVAL_CHECK_OUTPUT
print(bert.PUBLIC_PREPROCESS, bert.PUBLIC_ENCODER, sep="\n")
for name, shape in bert.checked(preprocess, encoder).items():  # two texts through both halves
    print(f"{name:16} {shape}")

# %% [markdown]
# The encoder returns a vector for each token (`sequence_output`), one for the row (`pooled_output`), and the tokens after each block (`encoder_outputs`). In the published models `pooled_output` comes from `[CLS]`, in ours from the mean of all tokens.
#
# The published pair returns the same names. Its sizes are different (four blocks, D = 512, V = 30,522), and so is its vocabulary. The encoder of BERT-base is `bert.PUBLIC_BASE`. On the day you load it, check it: its preprocessing must turn *Tech rumors: the tech giant is working on its self-driving car* into ids that begin with 101 6627
# 11256 1024 1996 6627 5016 2003 2551 2006. The pair was not run here, because it needs a download ([evidence](evidence/07.ipynb#encoders): how to use it, and the families Small BERT, ALBERT, ELECTRA, Experts).
#
# `hub.KerasLayer` was written for Keras 2. Since TensorFlow 2.16, `keras` and `tf.keras` are Keras 3, whose layers and tensors are other classes. Keras 2 goes on as the package `tf_keras`.
#
# **Input, layers, model and optimizer around a `hub.KerasLayer` all come from `tf_keras`, and the two halves come as a pair.**

# %% [markdown]
# <a id="three-ways"></a>
#
# ## 5 · Three ways, and LoRA
#
# How much of the model should learn?
#
# * **Fine-tuned**: encoder and head learn, from the pre-trained weights.
# * **Frozen**: only the head learns. `hub.KerasLayer` is frozen unless you say `trainable=True`.
# * **From scratch**: everything learns, but the encoder has fresh random weights. This is the control: the same network without pre-training.
# * **LoRA** (Hu et al., 2022): the encoder's matrices stay as they are, and chosen ones get a small correction, $AB$, with $A$ of shape (D, r) and $B$ of shape (r, D), for a small **rank** r. Only $A$, $B$ and the head learn. $B$ begins at zero, so training begins with the pre-trained model.
#
# Here r = 4, for the queries and values of each block. All runs below are recorded: 240 labels, three seeds with labelled texts of their own, 7,600 test texts.

# %%
D, r, kernels = 128, 4, 2 * 3  # queries and values, three blocks
head = 128 * 16 + 16 + 16 * 4 + 4
print(f"the head learns {head:,} numbers, LoRA {kernels * (D * r + r * D):,} more; all are {tuned.count_params():,}")
study = recorded.load("news_few_labels")["results"]
for kind in ("fine-tuned", "no warm-up", "LoRA", "frozen", "scratch"):
    shares = study["test"][kind]
    print(f"{kind:11} learns {study['learned'][kind]:9,}: {np.mean(shares):.1%} correct", [f"{share:.1%}" for share in shares])

# %% [markdown]
# The same network from scratch is 32.6 points behind the fine-tuned one, but eight epochs are too few for it. Trained until it fits its 240 texts, it is still about 20 points behind; if it keeps the pre-trained table of pieces, and nothing else, about 10 (single runs, [evidence](evidence/07.ipynb#few-labels)). So a good part of what pre-training brings lies in that table. (Only LoRA's rate was searched.) The frozen encoder is in between. Its head sees only `pooled_output`, 128 numbers that were trained for next sentence prediction.
#
# LoRA learns 8,276 numbers of 1,448,276, 0.6 %, and is 1.9 points behind full fine-tuning (interval 1.2 to 2.7, [evidence](evidence/07.ipynb#few-labels)). For each further task you would store these 8,276 numbers and not another encoder.
#
# The authors' published program for fine-tuning has one more part in its schedule, a warm-up (lecture 4): in the first tenth of the $n$ steps the rate climbs from zero to its peak $\eta$, then it falls to zero again. In ours (theirs begins its fall at $0.9\,\eta$)
#
# $$\eta(s)=\eta\cdot\min\Big(\frac{s}{0.1\,n},\;\frac{n-s}{0.9\,n}\Big).$$
#
# Does our small encoder need it? Section 1 trained without it, and the rows *fine-tuned* and *no warm-up* above differ in nothing else. With a warm-up the encoder is 0.9 points better, with an interval from −0.4 to +2.4, and most of it comes from one seed: these runs do not show a need.
#
# **With 0.6 % of the numbers LoRA is about two points behind full fine-tuning; without pre-training the same network is far behind, even when it is trained until it fits its texts.**

# %% [markdown]
# <a id="number-of-labels"></a>
#
# ## 6 · By number of labels
#
# A fair comparison needs more than the network from scratch. Three other models stand beside it: *linear*, which counts words and pairs of words in the labelled texts; *LSA* (Deerwester et al., 1990), which turns each text into 128 numbers, computed from the word counts of all 10,000 texts without their labels, and puts a linear model on top; and the frozen encoder. LSA had the same unlabelled news items as the encoder, but not its film reviews.

# %% [markdown]
# **Predict.** You get 100, 500, 2,000 or 10,000 labels. How does the lead of the fine-tuned encoder over *linear* change?
#
# - (a) it grows: a large model needs many labels
# - (b) it stays about the same
# - (c) it shrinks, but never goes below 5 points
# - (d) it shrinks to next to nothing
#
# <details><summary>Answer</summary>
#
# **(d)** It is 16.6 points with 100 labels, then 4.1, 1.9, and 0.4 points with 10,000 (there one seed).
#
# </details>

# %% tags=["drawing"]
runs = recorded.load("bert_ag_news")["results"]["runs"]
KINDS = ("fine-tuned", "LSA", "linear", "frozen", "scratch")
SIZES = (100, 500, 2_000, 10_000)
by_size = {kind: [[run["test"] for run in runs if (run["model"], run["texts"]) == (kind, size)] for size in SIZES] for kind in KINDS}
figure, ax = plt.subplots(figsize=(7.6, 3.7))
for number, kind in enumerate(KINDS):
    middle = np.array([np.mean(shares) for shares in by_size[kind]])
    low, high = (np.array([extreme(shares) for shares in by_size[kind]]) for extreme in (min, max))
    ax.errorbar(SIZES, middle, yerr=[middle - low, high - middle], capsize=3, label=kind, **plots.LINES[number])
ax.set(xscale="log", xlabel="labelled texts", ylabel="test accuracy", xticks=SIZES, xticklabels=[f"{size:,}" for size in SIZES])
ax.minorticks_off()
ax.legend()
plots.show(
    figure,
    alt="""The lead of the fine-tuned encoder is largest where labels are fewest. Test accuracy on 7,600 texts by number of labelled texts, mean and range of three seeds (one seed at 10,000).
With 100 labels fine-tuned leads, LSA follows, linear and frozen are about equal, and scratch is last. The lines come together with more labels; the frozen encoder is lowest at the end.""",
)

# %%
for kind in ("scratch", "linear", "LSA"):
    leads = [100 * (np.mean(tuned_runs) - np.mean(other)) for tuned_runs, other in zip(by_size["fine-tuned"], by_size[kind], strict=True)]
    print(f"fine-tuned ahead of {kind:8}", ", ".join(f"{size:,} labels {lead:+.1f}" for size, lead in zip(SIZES, leads, strict=True)))
print("240 labels:", ", ".join(f"{kind} {np.mean(study['test'][kind]):.1%}" for kind in ("fine-tuned", "LSA", "linear")))
print("paired, 240 labels, test texts and seeds drawn again (lecture 6b), 95 % interval in points")
for pair in study["pairs"]:
    low, high = 100 * pair["low"], 100 * pair["high"]
    print(f"fine-tuned minus {pair['second']:11} {100 * pair['difference']:+5.1f} ({low:+.1f} to {high:+.1f})")

# %% [markdown]
# Against the same network from scratch, trained for as many epochs (too few, if labels are few), pre-training is worth 26.0 points with 100 labels and 1.4 with 10,000. Does this come from the network, or from the unlabelled texts? LSA had the unlabelled news as well, and with 100 labels it is only 4.9 points behind the fine-tuned encoder, while *linear* is 16.6 behind. Not all of LSA's lead over *linear* comes from the unlabelled texts: fitted on the 100 labelled texts alone LSA has 64.0 %, with all texts 70.5 %; *linear* has 58.8 % ([evidence](evidence/07.ipynb#lsa)).
#
# Two models that read the same test texts are compared text by text, as in lecture 6b. With 240 labels the fine-tuned encoder is 3.7 points ahead of LSA and 9.3 ahead of *linear*, and both intervals are far from zero. So 240 labels go as far as 82.1 % (mean of three seeds), and a model without a network reaches 78.4 %.
#
# How good are published models? Sun et al. (2019) fine-tune BERT-base on all 120,000 labelled texts of AG News and report an error of 5.25 % on the test texts; our small BERT has 11.5 % with 10,000 labels (one seed). That shows the scale; it is no comparison: BERT-base has 110 million parameters (Devlin et al., 2019), 76 times as many, and got twelve times as many labels.
#
# **Pre-training is worth most where labels are few.**

# %% [markdown]
# <a id="errors"></a>
#
# ## 7 · Errors and calibration
#
# Read errors before you believe an accuracy. Here are the five most confident ones of the model of section 1:

# %%
classes, said, sure = list(data.NEWS_CLASSES), answers.argmax(1), answers.max(1)
wrong = np.flatnonzero(said != y_test)
for number in wrong[np.argsort(-sure[wrong])][:5]:
    begin = test_texts[number][:70].rsplit(" ", 1)[0]
    print(f"label {classes[y_test[number]]:8} predicted {classes[said[number]]:8} {sure[number]:.0%}  {begin} …")
print(f"mean confidence {sure.mean():.3f}, accuracy {np.mean(said == y_test):.3f}")

# %% tags=["drawing"]
tuned_runs = [run for run in runs if run["model"] == "fine-tuned"]  # up to three seeds a size
tables = {"240 labels, this page": confusion_matrix(y_test, said, labels=range(4)), "10,000 labels": np.array(next(run for run in tuned_runs if run["texts"] == 10_000)["confusion"])}
figure, panels = plt.subplots(1, 3, figsize=(11, 3.4), width_ratios=(1, 1, 1.1))
for ax, (title, counts) in zip(panels, tables.items(), strict=False):
    plots.matrix_map(counts / counts.sum(1, keepdims=True), rows=classes, columns=classes, title=title, limits=(0, 1), ax=ax)
panels[0].set(ylabel="true class", xlabel="predicted")
panels[2].plot([run["texts"] for run in tuned_runs], [run["calibration_error"] for run in tuned_runs], **{**plots.LINES[0], "linestyle": ""}, alpha=0.7)
panels[2].set(xscale="log", ylim=(0, None), xlabel="labelled texts", ylabel="calibration error (ECE)", title="fine-tuned")
panels[2].set_xticks(SIZES, [f"{size:,}" for size in SIZES])
panels[2].minorticks_off()
plots.show(
    figure,
    alt="""With few labels and with many, Business and Sci/Tech are confused most often. Two confusion matrices, rows are true classes: the two largest numbers beside the diagonal are Business and Sci/Tech taken for each other;
with 240 labels Sports is taken for World as well. Right: the calibration error of the fine-tuned model by number of labelled texts, a dot for each seed; with 100 labels the dots lie far apart, from 500 on they fall.""",
)

# %% [markdown]
# Most of these titles could carry either label: the quarterly loss of a technology firm is business news too. (`&lt;p&gt;` is a remnant of HTML in AG News itself.) The model is overconfident: its mean confidence is 0.876, its accuracy 0.810. The calibration error of fine-tuned models (right panel) falls from 0.102 with 500 labels (mean of three seeds) to 0.035 with 10,000; with 100 labels it lies between 0.05 and 0.13. The number of epochs changed as well, so the decrease has two possible reasons ([evidence](evidence/07.ipynb#by-size)).
#
# Two articles were written for this page: a maker of self-driving cars shows a humanoid robot; footballers change clubs.

# %%
articles = [
    "Maker of self-driving cars unveils humanoid robot. The machine uses the chips and cameras of the company's cars. "
    "Engineers want it to carry boxes in a factory before it learns to help at home.",
    "Two forwards change clubs before the window closes. Both players passed their medical tests on Friday. The champions "
    "sold a midfielder to pay for the transfers and hope for goals in the cup.",
]
print(f"{'':22}", *(f"{name:>9}" for name in classes))
for name, table in (("fine-tuned", tuned.predict(packed(articles), verbose=0)), ("linear", linear.predict_proba(words.transform(articles)))):
    for title, row in zip(("robot", "transfers"), table, strict=True):
        print(f"{name:10} {title:11}", *(f"{share:9.2f}" for share in row))

# %% [markdown]
# Both models give both articles the expected class, the fine-tuned one with 0.98 and 0.93, *linear* with 0.37 and 0.46. The first article has words of two classes: *maker*, *company* and *factory*, but also *robot*, *chips* and *engineers*. Change a word, and run the cell again.
#
# **Read the most confident errors: most of those above show a label that is in doubt.**

# %% [markdown]
# ## Two mistakes
#
# **A layer of the other Keras.** A Keras 3 `Dense` on the output of a Keras 2 model raises no error. But the model does not know its weights, so they never learn. `bert.one_keras()` turns this into an error that says what to do.

# %%
rows_2 = {name: layers.Input((64,), dtype="int32", name=name) for name in bert.INPUTS}
pooled = hub.KerasLayer(bert.ENCODER, trainable=True)(rows_2)["pooled_output"]
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
# **The preprocessing of one model, the encoder of another.** The ids of another vocabulary fit into the encoder's table, but there they stand for other pieces. Here the same pieces get other ids:

# %%
other = np.concatenate([np.arange(5), np.random.default_rng(0).permutation(np.arange(5, len(vocabulary)))])
mixed = x_test | {"input_word_ids": other[x_test["input_word_ids"]].astype("int32")}
print(f"another vocabulary: {np.mean(tuned.predict(mixed, batch_size=100, verbose=0).argmax(1) == y_test):.1%} correct, no error")

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
# At the other positions the encoder reads the token itself, and copying it is no task. There are many more such positions, so they would dominate the loss.
#
# </details>
#
# <details><summary>3. “We trained for ten epochs; the best test accuracy was that of epoch 7.” What is wrong?</summary>
#
# The test set chose the epoch, so it served as a validation set. A set that has helped to choose is no longer a test.
#
# </details>
#
# <details><summary>4. With 10,000 labels *linear* is as good as your small BERT. Was pre-training useless?</summary>
#
# With 10,000 labels of this task, nearly: the same network from scratch is 1.4 points behind (one seed). With 100 labels it is 26.0 points behind after as many epochs.
#
# </details>
#
# ## Summary
#
# | step | shape |
# |---|---|
# | texts | (B,) |
# | pieces, packed: ids, mask, types | 3 × (B, T) |
# | `sequence_output`, one vector a token | (B, T, D) |
# | `pooled_output`, one vector a text | (B, D) |
# | head | (B, 4) |
#
# Correct with 240 labels: fine-tuned 82.1 %, LoRA 80.2 %, LSA 78.4 %, *linear* 72.8 %, frozen 66.1 %, from scratch, in as many epochs, 49.5 %.
#
# Build the parts in [lab 7](../labs/07_bert_ag_news/07_bert_ag_news.ipynb). Next: [a model that writes](08_decoder_and_masking.ipynb).
#
# **Learn the language without labels, and the task with few.**
#
# ## References
#
# * J. Devlin, M.-W. Chang, K. Lee, K. Toutanova, *BERT: pre-training of deep bidirectional Transformers for language understanding*, NAACL 2019, arXiv:1810.04805: section 3, appendices A and C.2.
# * M. Schuster, K. Nakajima, *Japanese and Korean voice search*, ICASSP 2012. Y. Liu et al., *RoBERTa*, 2019, arXiv:1907.11692.
# * K. Clark, U. Khandelwal, O. Levy, C. Manning, *What does BERT look at?*, BlackboxNLP 2019, arXiv:1906.04341.
# * I. Loshchilov, F. Hutter, *Decoupled weight decay regularization*, ICLR 2019. E. Hu et al., *LoRA: low-rank adaptation of large language models*, ICLR 2022, arXiv:2106.09685: section 4.1.
# * S. Deerwester et al., *Indexing by latent semantic analysis*, Journal of the American Society for Information Science 41, 1990.
# * X. Zhang, J. Zhao, Y. LeCun, *Character-level convolutional networks for text classification*, NIPS 2015 (AG News). C. Sun, X. Qiu, Y. Xu, X. Huang, *How to fine-tune BERT for text classification?*, CCL 2019, arXiv:1905.05583.
#
# <details><summary>If something looks wrong, runs slowly, or you want more</summary>
#
# **Symptoms.** “A KerasTensor is symbolic …” or “Could not interpret optimizer identifier”: Keras 2 and 3 are mixed. “Op type not registered 'CaseFoldUTF8'”: `import tensorflow_text` is missing. A loss that stays near 1.39: four classes, guessing; the rate is too large, or the encoder is frozen and the head's rate too small.
#
# **Slow machine:** four epochs in section 1. The recorded runs need nothing. **GPU:** one line of the set-up takes BERT-base, all labels and the paper's settings (not run here).
#
# **More.** Hugging Face, [*LLM course*](https://huggingface.co/learn/llm-course), chapters 3, 6 and 7: the same steps with a published BERT. TensorFlow, [*Classify text with BERT*](https://www.tensorflow.org/text/tutorials/classify_text_with_bert). A. Rogers et al., [*A primer in BERTology*](https://arxiv.org/abs/2002.12327).
#
# </details>

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
# # Evidence for lecture 3
#
# Each entry names a claim of [lecture 3](../03_multi_head_attention.ipynb) or [3b](../03b_reading_heads.ipynb), the one thing that was changed, the runs,
# and what they do not show. The trained entries are recorded (`python experiments/two_questions.py`): tables of six
# rows, 16,000 of them for
# training, 8 epochs of Adam at 0.01, read on 1,000 new tables.

# %% tags=["setup"]
from coursekit import quiet, recorded

quiet.start_tensorflow()  # keeps its start-up messages out of the notebook

import time

import numpy as np
import tensorflow as tf
from keras import layers
from scipy.special import softmax

from coursekit.live import bert_heads

np.set_printoptions(precision=3, suppress=True)
runs = recorded.load("two_questions")["results"]

# %% [markdown]
# <a id="two-jobs"></a>
#
# ## Two questions, five versions
#
# **Claim:** one head answers one of two questions; two heads with as many parameters answer both. **Changed:** the
# number of heads, their width, or the number of layers. Five seeds each, with the same tables.

# %%
for version, seeds in runs.items():
    left = np.array([run["unexplained"] for run in seeds])  # (5, 2): above, wanted
    print(f"{version:16} {seeds[0]['parameters']:5,} parameters   above", *(f"{share:.2f}" for share in left[:, 0]), "  wanted", *(f"{share:.2f}" for share in left[:, 1]))

# %% [markdown]
# It does not show how many heads a real model needs: the task has two questions by construction, and a linear read-out.
#
# <a id="ablation"></a>
#
# ## Heads of four, switched off
#
# **Claim:** of four heads, in four of five seeds at least one can go without any loss. **Changed:** one head's contribution is replaced by
# zero. Rows: five seeds; numbers: the unexplained shares (above, wanted) without heads 0, 1, 2, 3.

# %%
for seed, run in enumerate(runs["four heads"]):
    print(f"seed {seed}:", "  ".join(f"({above:.2f}, {wanted:.2f})" for above, wanted in run["without"]["zero"]))

# %% [markdown]
# **What takes its place?** In the models of two heads the head with one job is replaced by zero, by its mean over all tables and rows, or by its mean in each row. Without it, its answer should have 1.00 of its variance unexplained. The overall mean is hardly milder than zero. With the mean of each row the error of the head that looks above is 1.00: part of what it adds depends on the row and not on the number.

# %%
for job, name in enumerate(("above", "wanted")):
    removed = [int(np.argmax(np.array(run["jobs"])[:, job])) for run in runs["two heads"]]  # the head with this job
    for kind in ("zero", "mean", "row mean"):
        left = [run["without"][kind][head][job] for run, head in zip(runs["two heads"], removed, strict=True)]
        print(f"without the head for {name:6}, {kind:8} in its place: unexplained", *(f"{share:.2f}" for share in left))

# %% [markdown]
# Michel et al. (2019) reduced one layer of trained models at a time to a single head, often with little loss; over
# all layers about 20 % of the heads of a translation model and 40 % of BERT's could go before the quality fell
# clearly. Voita et al. (2019) found that a few specialised
# heads (position, syntax, rare words) do most of the work in a translation model's encoder. Removing one head does
# not show whether another one covers for it.
#
# <a id="circuits"></a>
#
# ## The predicted blocks alone
#
# **Claim:** the two blocks that the jobs predict are enough to answer. **Changed:** of the 361 entries of each head's score matrix only the 6 × 6
# block of its job is kept, after the means of its rows and columns are taken away. "Copied": the entries of the row
# *number* for (above, wanted).

# %%
for seed, run in enumerate(runs["two heads"]):
    kept = run["predicted blocks alone"]
    for head in kept["heads"]:
        print(f"seed {seed}: {head['job']:6} block {head['share']:.1%} of the sum of squares, copied {head['number copied to']}")
    print(f"        unexplained with the two blocks alone: {kept['unexplained']}")

# %% [markdown]
# It does not show that larger models can be read so: this one has one layer, no norm, no feed-forward network, and
# columns with a known meaning.
#
# <a id="real-heads"></a>
#
# ## All heads of the small BERT on the caption
#
# **Claim:** head 2 of the first block looks one token back. **Changed:** the head. The weight of each "dog" on its
# own colour, and the mean weight one token back; equal weights give 0.08.

# %%
pieces, weights = bert_heads.attention_of("A brown dog is running after the black dog.")
dogs = [at for at, piece in enumerate(pieces) if piece == "dog"]
for block, heads in enumerate(weights):
    for head, matrix in enumerate(heads):
        own = ", ".join(f"{matrix[dog, dog - 1]:.2f}" for dog in dogs)
        print(f"block {block + 1}, head {head}: own colour {own}; one token back {np.mean(np.diagonal(matrix, -1)):.2f}")


# %% [markdown]
# It does not show that BERT uses this head for colours.
#
# <a id="three-forms"></a>
#
# ## A loop, a reshape, an einsum
#
# **Claim:** heads can be computed one after the other or all at once; the result is the same. **Changed:** how it is
# written. Two sentences of 256 tokens, D = 256.

# %%
def by_loop(x, w, heads):
    q, k, v = (tf.split(x @ w[i], heads, axis=-1) for i in range(3))  # lists of H arrays (B, T, K)
    mixed = [tf.nn.softmax(tf.matmul(q[h], k[h], transpose_b=True) / k[h].shape[-1] ** 0.5) @ v[h] for h in range(heads)]
    return tf.concat(mixed, axis=-1) @ w[3]  # (B, T, D)


def by_einsum(x, w, heads):
    width = x.shape[-1]
    split = tf.reshape(w[:3], (3, width, heads, width // heads))  # (3, D, H, K)
    q, k, v = (tf.einsum("btd,dhk->bhtk", x, part) for part in tf.unstack(split))  # (B, H, T, K)
    scores = tf.einsum("bhtk,bhsk->bhts", q, k) / (width // heads) ** 0.5
    mixed = tf.einsum("bhts,bhsk->bhtk", tf.nn.softmax(scores), v)
    return tf.einsum("bhtk,hkd->btd", mixed, tf.reshape(w[3], (heads, width // heads, width)))  # (B, T, D)


rng = np.random.default_rng(0)
x, w = tf.constant(rng.normal(size=(2, 256, 256)), tf.float32), tf.constant(rng.normal(size=(4, 256, 256)) / 16,
tf.float32)
for heads in (1, 8, 32):
    print(f"H = {heads:2}: equal", np.allclose(by_loop(x, w, heads), by_einsum(x, w, heads), atol=1e-4))

# %% [markdown]
# The multiply–adds are the same for each H; the number of weights, H·T², grows, and with it the work of the softmax.
# Heads are independent of each other until $W_O$, so they can also run on several machines.
#
# <a id="blocked-row"></a>
#
# ## A query with every key blocked
#
# **Claim:** such a row must not give NaN. **Changed:** the number that stands for "blocked".

# %%
row, none = np.array([0.3, -1.2, 0.8]), np.zeros(3, bool)
with np.errstate(invalid="ignore"):
    print("minus infinity:", softmax(np.where(none, row, -np.inf)))
print("minus 1e9     :", softmax(np.where(none, row, -1e9)))
_, keras_weights = layers.MultiHeadAttention(1, 4)(query=np.ones((1, 3, 8)), value=np.ones((1, 3, 8)), attention_mask=np.zeros((1, 3, 3), bool), return_attention_scores=True)
print("Keras         :", np.asarray(keras_weights)[0, 0, 2])

# %% [markdown]
# Minus infinity gives NaN, a large negative number gives equal weights, and Keras sets the weights of such a row to 0.
#
# <a id="other-texts"></a>
#
# ## Numbers that are easily mixed up
#
# * D = 768 and 12 heads are BERT-base. The base model
#   of 2017 has D = 512 and 8 heads; the largest GPT-3 has 96 heads of width 128 (Brown et al., 2020, table 2.1).
# * $W_Q$ of a head is D × (D/H), not N × (D/H): no parameter depends on the number N of tokens.

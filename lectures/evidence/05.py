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
# # Evidence for lecture 5
#
# Each entry names a claim of [lecture 5](../05_positional_encoding.ipynb), the one thing that was changed, the runs,
# and what they do not show.

# %% tags=["setup"]
from coursekit import quiet, recorded

quiet.start_tensorflow()  # keeps its start-up messages out of the notebook

import keras
import numpy as np
from keras import layers, ops

from coursekit.memory_task import wave_table

np.set_printoptions(precision=3, suppress=True)
by_seed = list(recorded.load("positions")["results"].values())  # three runs of five methods

# %% [markdown]
# <a id="equivariance"></a>
#
# ## Which layers are permutation equivariant
#
# **Claim:** shuffling the tokens before or after the layer gives the same, for attention and for the whole block; not
# for a causal mask, a convolution, an LSTM. **Changed:** the layer.

# %%
x = np.random.default_rng(1).normal(size=(2, 7, 8)).astype("float32")  # (B, T, D)
order = np.array([3, 0, 6, 1, 5, 2, 4])
attention, feed_forward = layers.MultiHeadAttention(2, 4), layers.Dense(8, activation="relu")
norm_a, norm_b = layers.LayerNormalization(), layers.LayerNormalization()
tested = {
    "attention": lambda x: attention(query=x, value=x),
    "encoder block": lambda x: (y := x + attention(query=norm_a(x), value=norm_a(x))) + feed_forward(norm_b(y)),
    "attention, causal mask": lambda x: attention(query=x, value=x, use_causal_mask=True),
    "convolution": layers.Conv1D(8, 3, padding="same"),
    "LSTM": layers.LSTM(8, return_sequences=True),
}
for name, layer in tested.items():
    before, after = (ops.convert_to_numpy(layer(tokens)) for tokens in (x[:, order], x))
    print(f"{name:23} shuffle first = shuffle last: {np.allclose(before, after[:, order], atol=1e-5)}")

# %% [markdown]
# If you shuffle a sentence, the outputs of self-attention do not stay the same: they are *permuted*.
# Only after pooling over the words do they stay.
#
# <a id="adding"></a>
#
# ## Adding and appending, and the factor √D
#
# **Claim:** adding is appending followed by a linear layer. With the identity on top of the identity, $[x ; p]$
# becomes $x + p$.

# %%
rng = np.random.default_rng(2)
word, position = rng.normal(size=(2, 5, 8))  # (T, D) each
stacked = np.concatenate([np.eye(8), np.eye(8)])  # (2D, D)
print("[x ; p] @ [I ; I] = x + p:", np.allclose(np.concatenate([word, position], axis=-1) @ stacked, word + position))
print("length of        position   fresh Keras embedding   times √D")
for width in (16, 64, 512):
    fresh = 0.05 / np.sqrt(3) * np.sqrt(width)  # entries uniform in ±0.05
    print(f"D = {width:3}         {np.sqrt(width / 2):8.2f}   {fresh:21.2f}   {fresh * np.sqrt(width):8.2f}")

# %% [markdown]
# Sinusoidal positions are *fixed*: they are computed, lie between −1 and 1 at every length, and training leaves them
# as they are. A trained model can also learn longer embeddings: on the twins the version without √D learns too.
#
# <a id="waves"></a>
#
# ## Wavelengths and dot products
#
# **Claim:** at D = 64 the dot product of two rows is 32 at distance 0 and 15.4 at distance 40. **Changed:** the distance.
# This is arithmetic, without a run. Pair i repeats after $2\pi\cdot 10000^{2i/D}$ positions, so most pairs are slow.

# %%
wavelengths = 2 * np.pi * 10_000.0 ** (np.arange(0, 64, 2) / 64)  # (D/2,), D = 64
print("first three", wavelengths[:3].round(2), "last", wavelengths[-1].round(0), "; complete turns within 128 positions:", int((wavelengths < 128).sum()), "of 32")
table = wave_table(128, 64)
print("dot products at distance 0, 1, 2, 10, 40:", (table @ table.T)[40, 40 + np.array([0, 1, 2, 10, 40])].round(2))

# %% [markdown]
# <a id="beyond"></a>
#
# ## Beyond the training length: all views
#
# **Claim:** beyond its length a model holds only if far keys are weakened, cut or brought nearer. **Changed:** the positions, or, for
# a trained model, the keys that a query sees. Trained on 3,000 rows of 32 tokens, 10 epochs of Adam at 0.003; read on
# 300 rows of 160 tokens; three seeds (`python experiments/positions.py --seeds 0,1,2`).
# Numbers: correct letters at positions 0–31, 32–63, 64–159.

# %%
for method, first in by_seed[0].items():
    for view in first["views"]:
        shares = np.array([run[method]["views"][view] for run in by_seed])  # (3 seeds, 3 parts)
        print(f"{method:11} {view:25}", "   ".join(" ".join(f"{share:.2f}" for share in shares[:, part]) for part in range(3)))

# %% [markdown]
# It does not show which method is best: the task is small, the models have one block, and recent keys are rewarded. A task that asks
# for the *first* letter may reverse the order of the methods. Within the training length the model
# without positions reaches 0.63 to 0.64, far more than 0.39 and far less than the others; the larger language models of
# Haviv et al. (2022) come close to those with positions.
#
# <a id="tables"></a>
#
# ## Two more tables that are not sinusoidal
#
# **Changed:** the exponent of the frequency, D = 16.

# %%
p, pairs = np.arange(60)[:, None], np.arange(16) // 2  # (T, 1), (D,)
even = np.arange(16) % 2 == 0
for name, angles in {"exponent i/D, not 2i/D": p / 10_000 ** (pairs / 16), "floor division 2 * i // D": p / 10_000 ** (2 * pairs // 16)}.items():
    rows = np.where(even, np.sin(angles), np.cos(angles))  # (T, D)
    slowest = 2 * np.pi / (angles[1].min())
    print(f"{name:26} slowest pair turns in {slowest:.0f} positions; distance of rows 0 and 44: {np.abs(rows[0] - rows[44]).max():.2f}")
rows = wave_table(60, 16)
print(f"{'correct':26} slowest pair turns in {2 * np.pi * 10_000 ** (14 / 16):.0f} positions; distance of rows 0 and 44: {np.abs(rows[0] - rows[44]).max():.2f}")

# %% [markdown]
# <a id="padding"></a>
#
# ## Where padding puts the words
#
# `keras.utils.pad_sequences` pads at the **front** unless told otherwise, so the words of a short sentence sit at
# late positions.

# %%
for padding in ("pre", "post"):
    padded = keras.utils.pad_sequences([[7, 5, 9]], maxlen=8, padding=padding)  # (B, T)
    print(f'padding="{padding}":', padded[0], "words at positions", np.flatnonzero(padded[0]))

# %% [markdown]
# What padding does to a model that does not mask it is measured in [lecture 6](../06_imdb_classifier.ipynb).

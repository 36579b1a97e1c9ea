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
# # 9 · Vision Transformer
#
# **An image is a sentence of patches.**
#
# [← 8b · Generating text](08b_generating_text.ipynb) · [Lab
# 9](../labs/09_vision_transformer/09_vision_transformer.ipynb) · [9b · More images, larger images, video →](09b_many_images_and_video.ipynb)
#
# Cut a photograph into squares, and swap two of them. **Which part of the model notices?** Write down your guess. Section 4 answers it, and section 9 shows what the answer costs.
#
# **Afterwards you can**
#
# * turn an image into tokens in two ways that agree, and build a Vision Transformer from them;
# * count B/16, L/16 and H/14 yourself;
# * say what is built into a ConvNet and not into a ViT, and measure it;
# * test an attention map instead of believing it.
#
# **You need** the [encoder block](04_encoder_block.ipynb), [positions](05_positional_encoding.ipynb), convolutions. **Time:** about 65 minutes to read and predict (estimated, not measured); the code
# runs in about two minutes on two CPU cores. Letters: **B** batch, **h**, **w** rows and columns of pixels, **C** channels, **P** patch size, **N** patches, **D** width, **H** heads, **F** feed-forward width, **L** blocks, **K** classes.

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
from coursekit import quiet
quiet.start_tensorflow()  # keeps its start-up messages out of the notebook
from coursekit import diagrams, digit_images, live, plots, recorded
plots.use_course_style()
import keras
import matplotlib.pyplot as plt
import numpy as np
import tensorflow as tf
from keras import layers, ops
from scipy.stats import binomtest
from sklearn.datasets import load_sample_image
np.set_printoptions(precision=3, suppress=True)
photo = load_sample_image("china.jpg")[:, 110:537].astype("float32") / 255  # (427, 427, 3)
photo = np.asarray(ops.image.resize(photo, (224, 224), antialias=True)).clip(0, 1)  # (h, w, C)
print("running on:", "GPU" if tf.config.list_physical_devices("GPU") else "CPU")

def spread(cells, patch, gap=3):
    """Put a grid of flattened patches (rows, columns, P·P·3) side by side, with transparent gaps."""
    rows, columns = cells.shape[:2]
    step = patch + gap
    sheet = np.zeros((rows * step - gap, columns * step - gap, 4))
    for i, j in np.ndindex(rows, columns):
        cell = sheet[i * step : i * step + patch, j * step : j * step + patch]
        cell[..., :3], cell[..., 3] = cells[i, j].reshape(patch, patch, 3), 1
    return sheet


# %% [markdown]
# <a id="patches-not-pixels"></a>
#
# ## 1 · Why not one token for each pixel?
#
# An encoder reads a row of tokens. They need not be words. Let each pixel of a photograph be a token, row after row; then attention compares every pixel with every other one.

# %% [markdown]
# **Predict.** One photograph of 224 × 224 pixels, one block, 12 heads, 4 bytes a number. How much memory do the attention weights take?
#
# - (a) 10 MB
# - (b) 1 GB
# - (c) 100 GB
#
# <details><summary>Answer</summary>
#
# **(c)** There are 224 · 224 = 50,176 tokens, and 12 · 50,176² weights of 4 bytes are 121 GB.
#
# </details>

# %%
for name, patch in {"pixels": 1, "patches of 4 × 4": 4, "patches of 16 × 16": 16}.items():
    tokens = (224 // patch) ** 2
    print(f"{name:19} {tokens:7,} tokens   attention weights {12 * tokens**2 * 4 / 1e9:10.4f} GB")

# %% [markdown]
# Attention is quadratic in the tokens, and the tokens are quadratic in the side of the image. So take a larger token: a **patch** of P × P pixels (Dosovitskiy et al., 2021: *An image is worth 16 × 16 words*). The
# number of tokens falls by P², the number of attention weights by P⁴; with P = 16 that is 65,536.
#
# **One token for each pixel costs the fourth power of the image's side; patches divide that by P⁴.**

# %% [markdown]
# <a id="patch-tokens"></a>
#
# ## 2 · An image becomes a row of patches
#
# Take a real photograph (*china.jpg* by danielbuechele, CC BY 2.0, part of scikit-learn) and cut it with the Keras function `extract_patches`:

# %%
grid = np.asarray(ops.image.extract_patches(photo[None], 16))  # (B, h/P, w/P, P·P·C)
row = grid.reshape(1, -1, grid.shape[-1])  # (B, N, P·P·C)
print("image", photo.shape, "→ grid of patches", grid.shape, "→ a row of tokens", row.shape)

# %% tags=["drawing"]
figure = plt.figure(figsize=(9.2, 4.7))
panels = figure.subplot_mosaic([["photo", "grid"], ["row", "row"]], height_ratios=[4.6, 1])
titles = {"photo": "224 × 224 × 3 = 150,528 numbers", "grid": "14 × 14 patches of 16 × 16"}
pictures = {"photo": photo, "grid": spread(grid[0], 16), "row": spread(row[:, 70:91], 16, gap=5)}
for name, picture in pictures.items():
    panels[name].imshow(picture)
    panels[name].set_title(titles.get(name, "… tokens 70 to 90 of 196: the sixth row and half of the seventh …"))
    panels[name].axis("off")
plots.show(
    figure,
    alt="""The encoder gets the photograph as a row of 196 squares. A photograph of a Chinese palace; beside it the same photograph as 14 by 14 square
patches with gaps; below them 21 patches laid out in a row, as the encoder receives them.""",
)

# %% [markdown]
# Each patch is flattened, (16, 16, 3) → 768 numbers, and multiplied by one matrix $E$ of shape (P²C, D), the same for all patches. This corresponds to the embedding of a word.

# %% [markdown]
# **By hand.** An image of 4 × 4 pixels, one channel, P = 2, D = 2, no bias. Patches are counted from 0, so patch 1 is at the top right. Flatten it row by row. What is its token?
#
# $$\begin{pmatrix}0&1&2&3\\4&5&6&7\\8&9&10&11\\12&13&14&15\end{pmatrix}\qquad
# E=\begin{pmatrix}1&0\\0&1\\1&0\\0&-1\end{pmatrix}$$
#
# <details><summary>Answer</summary>
#
# The patch is (2, 3, 6, 7). The first feature is 2 + 6 = 8, the second 3 − 7 = −4. So the first feature adds the left column, and the second compares top and bottom of the right column.
#
# </details>

# %%
tiny = np.arange(16, dtype="float32").reshape(1, 4, 4, 1)  # (B, h, w, C)
E = np.array([[1, 0], [0, 1], [1, 0], [0, -1]], "float32")  # (P·P·C, D)
flat = np.asarray(ops.image.extract_patches(tiny, 2)).reshape(1, 4, 4)  # (B, N, P·P·C)
print("patch 1:", flat[0, 1], " its token:", flat[0, 1] @ E)

# %% [markdown]
# **A patch is the word of an image: flattened, and multiplied by one matrix that all patches share.**

# %% [markdown]
# <a id="projection-is-convolution"></a>
#
# ## 3 · The projection is a convolution
#
# A convolution with a window of P × P that also *steps* by P looks at each patch once. Its kernel (P, P, C, D) and the matrix $E$ hold the same numbers:

# %%
keras.utils.set_random_seed(0)
dense, convolution = layers.Dense(64), layers.Conv2D(64, kernel_size=16, strides=16)
by_patches = dense(row)  # (B, N, D)
convolution.build((None, 224, 224, 3))
convolution.set_weights([np.reshape(dense.kernel, (16, 16, 3, 64)), dense.bias])
by_convolution = ops.reshape(convolution(photo[None]), (1, 196, 64))  # (B, h/P, w/P, D) → (B, N, D)
print("equal up to rounding:", np.allclose(by_patches, by_convolution, atol=1e-4))


# %% [markdown]
# **A ViT begins with one convolution, whose windows do not overlap.**

# %% [markdown]
# <a id="class-token"></a>
#
# ## 4 · A class token, and positions
#
# Which of the 196 outputs should the head read? No patch is special. So one more token stands in front, the **class token**: one learned vector, the same for every image. In each block it attends to
# the patches, and after the last block the head reads it alone. Before the blocks a learned table of **positions** is added, one row for each token.

# %%
class PlainPatchTokens(keras.Layer):
    """Images (B, h, w, C) to tokens (B, N + 1, D): patches projected, class token in front, positions added."""

    def __init__(self, patch, width, spread=0.02):
        super().__init__()
        self.project = layers.Conv2D(width, kernel_size=patch, strides=patch)
        self.start = keras.initializers.RandomNormal(stddev=spread)

    def build(self, shape):
        self.project.build(shape)
        _, rows, columns, width = self.project.compute_output_shape(shape)
        self.class_token = self.add_weight(shape=(1, 1, width), initializer="zeros", name="class_token")
        self.positions = self.add_weight(shape=(rows * columns + 1, width), initializer=self.start, name="positions")

    def call(self, images):
        patches = self.project(images)  # (B, h/P, w/P, D)
        batch, width = ops.shape(patches)[0], patches.shape[-1]
        tokens = ops.reshape(patches, (batch, -1, width))  # (B, N, D)
        first = ops.tile(self.class_token, (batch, 1, 1))  # (B, 1, D), the same for every image
        return ops.concatenate([first, tokens], axis=1) + self.positions  # (B, N + 1, D)


# %% [markdown]
# Now swap two patches of the photograph, and look at the class token's output after one attention layer: once with a random table of positions, once with a table of zeros.

# %%
swapped = grid.copy()
swapped[0, 3, 3], swapped[0, 9, 8] = grid[0, 9, 8], grid[0, 3, 3]
images = [spread(cells[0], 16, gap=0)[None, ..., :3].astype("float32") for cells in (grid, swapped)]
for name, size in {"with positions": 1.0, "without       ": 0.0}.items():
    keras.utils.set_random_seed(0)
    tokens, attend = PlainPatchTokens(16, 32, spread=size), layers.MultiHeadAttention(4, 8)
    read = [attend(query=x, value=x)[0, 0] for x in map(tokens, images)]  # (D,) each: the class token's output
    print(name, "- the class token notices the swap:", not np.allclose(*read, atol=1e-5))


# %% [markdown]
# Attention without positions is equivariant ([lecture 5](05_positional_encoding.ipynb)): the same patches come in another order, and the class token's weighted sum stays the same.
#
# **Only the position table notices that two patches are swapped.**

# %% [markdown]
# <a id="whole-vit"></a>
#
# ## 5 · The model
#
# What follows is lecture 4's encoder in its pre-norm form, with GELU in the feed-forward network.

# %%
def plain_vit(image_shape, patch, width, heads, hidden, blocks, classes):
    """A Vision Transformer, images -> logits, and a model on the same weights that returns all attention weights."""
    images = keras.Input(image_shape)  # (B, h, w, C)
    x, maps = PlainPatchTokens(patch, width)(images), []  # (B, N + 1, D)
    for _ in range(blocks):
        normed = layers.LayerNormalization(epsilon=1e-6)(x)
        attention = layers.MultiHeadAttention(heads, width // heads)
        read, weights = attention(query=normed, value=normed, return_attention_scores=True)
        x = x + read
        widened = layers.Dense(hidden, activation="gelu")(layers.LayerNormalization(epsilon=1e-6)(x))  # (B, N + 1, F)
        x = x + layers.Dense(width)(widened)
        maps.append(weights)  # (B, H, N + 1, N + 1)
    class_token = layers.LayerNormalization(epsilon=1e-6)(x)[:, 0]  # (B, D): the head reads this token alone
    logits = layers.Dense(classes, dtype="float32")(layers.Dropout(0.1)(class_token))  # (B, classes)
    return keras.Model(images, logits, name="vit"), keras.Model(images, maps)


# %% tags=["drawing"]
figure, ax = diagrams.canvas(9.6, 4.7)
image = diagrams.box(ax, 0.85, 0.6, "image", detail="(B, h, w, C)", width=1.4)
cut = diagrams.box(ax, 2.7, 0.6, "P×P convolution", detail="stride P", role="key", width=1.7)
xs = [4.4 + 0.62 * i for i in range(6)]
patches = [diagrams.box(ax, x, 0.6, f"{i + 1}", width=0.5, height=0.5) for i, x in enumerate(xs)]
front = diagrams.box(ax, 3.6, 1.55, "class", role="accent", width=0.75, height=0.45)
sums = [diagrams.operator(ax, x, 2.3) for x in [3.6, *xs]]
table = diagrams.box(ax, 8.75, 2.3, "positions", detail="a row each", role="value", width=1.4, height=0.55)
encoder = diagrams.box(ax, 5.4, 3.35, "encoder: L pre-norm blocks, then a norm", role="query", width=4.6, height=0.6)
head = diagrams.box(ax, 1.6, 4.3, "Dense", detail="(B, K)", role="output", width=1.4, height=0.55)
diagrams.arrow(ax, image, cut)
diagrams.arrow(ax, cut, diagrams.group(ax, patches, pad=0.07).left)
for below, plus in zip([front, *patches], sums, strict=True):
    diagrams.arrow(ax, below, plus)
    diagrams.arrow(ax, plus, (plus.x, encoder.bottom[1]))
ax.plot([3.6, table.left[0]], [2.3, 2.3], color=diagrams.PALETTE["value"], linewidth=3, zorder=0.5)
diagrams.arrow(ax, (3.6, encoder.top[1]), (3.6, 4.3), head)
for x in xs:
    diagrams.arrow(ax, (x, encoder.top[1]), (x, 3.95), role="residual")
diagrams.note(ax, 5.95, 0.17, "N = (h/P)·(w/P) patch tokens, (B, N, D)")
diagrams.note(ax, 5.95, 4.12, "N + 1 outputs, (B, N + 1, D); only the class token's is read")
plots.show(figure, alt="""Only the tokens are new; the encoder is the one of lecture 4. From bottom to top: an image passes a convolution with stride P and becomes numbered
patch tokens. A class token stands in front of them. Learned positions are added to all. The row enters a pre-norm
encoder of L blocks and a final norm. A dense layer reads the output at the class token alone and gives K logits.""")  # fmt: skip

# %% [markdown]
# **Behind the tokens stands the encoder of lecture 4, with nothing about images in it.**

# %% [markdown]
# <a id="counted"></a>
#
# ## 6 · B/16, L/16, H/14: counted, not quoted
#
# A name such as B/16 gives the size (Base, Large, Huge) and the patch size P. To count H/14 you need not build its 32 blocks: a model with two blocks and a model with one differ by exactly one block. The last column counts the multiplications inside the blocks.

# %%
variants = {  # patch, width, heads, hidden, blocks (table 1 of the paper)
    "ViT-B/32": (32, 768, 12, 3072, 12),
    "ViT-B/16": (16, 768, 12, 3072, 12),
    "ViT-L/32": (32, 1024, 16, 4096, 24),
    "ViT-L/16": (16, 1024, 16, 4096, 24),
    "ViT-H/14": (14, 1280, 16, 5120, 32),
}
print("           tokens   without head   with 1,000 classes   multiplications for an image")
for name, (patch, width, heads, hidden, blocks) in variants.items():
    one, two = (plain_vit((224, 224, 3), patch, width, heads, hidden, k, 1000)[0].count_params() for k in (1, 2))
    count, tokens = one + (blocks - 1) * (two - one), (224 // patch) ** 2 + 1
    work = blocks * tokens * (4 * width**2 + 2 * width * hidden + 2 * tokens * width)
    print(f"{name} {tokens:8} {count - (width + 1) * 1000:14,} {count:20,} {work / 1e9:23.0f} billion")

# %% [markdown]
# Compare B/32 with B/16. B/32 has more parameters: its projection is larger, 32 · 32 · 3 · 768 numbers against 16 · 16 · 3 · 768, and its smaller position table saves only 147 · 768. And B/16 costs about four times as much, because 197 tokens pass every block instead of 50.
#
# The paper's table 1 gives 86, 307 and 632 million parameters for Base, Large and Huge. No column of our table gives all three: 86 is B/16 *without* its head, 632 is H/14 *with* it, and 307 fits only L/32. One rule fits B/16, L/32 and H/14: leave out the classifier, and add the hidden layer (D² + D numbers) of the pre-training head (section 3.1; [its width](https://github.com/google-research/vision_transformer/issues/124)). L/16 has 303 or 304 million, so the sentence "ViT-L/16 has 307 million parameters" mixes two models.
#
# **In a ViT the number of parameters says little about the cost; the number of tokens says more.**

# %% [markdown]
# <a id="trained"></a>
#
# ## 7 · Trained, beside a ConvNet
#
# Real scans: 1,797 handwritten digits of 8 × 8 pixels (scikit-learn). Patches of 2 × 2 give 16 tokens. A fifth of the training images is held back for validation; no choice depends on the 360 test images. Both models have the same number of parameters within 1 %, the same optimizer and the same number of steps. Both see the same training images, moved at random by at most one pixel (**augmentation**).

# %%
digits = digit_images.split()
keras.utils.set_random_seed(0)
vit, vit_maps = plain_vit((8, 8, 1), patch=2, width=64, heads=4, hidden=128, blocks=2, classes=10)
table_before = ops.convert_to_numpy(vit.layers[1].positions)  # (N + 1, D), for section 8
convnet = digit_images.convnet((8, 8, 1), filters=(16, 48, 139), classes=10)
histories, right = {}, {}
for model in (vit, convnet):
    histories[model.name] = digit_images.train(model, digits, epochs=80, rate=4e-3)
    right[model.name] = digit_images.answers(model, digits.x_test) == digits.y_test  # (360,)
    print(f"{model.name:8} {model.count_params():,} parameters, {right[model.name].sum()} of 360 test digits correct")
only_vit, only_convnet = (right["vit"] & ~right["convnet"]).sum(), (~right["vit"] & right["convnet"]).sum()
p = binomtest(only_vit, only_vit + only_convnet).pvalue if only_vit + only_convnet else 1.0
print(f"only the ViT is correct: {only_vit}, only the ConvNet: {only_convnet}; McNemar's exact p = {p:.2f}")

# %% [markdown]
# The ViT is correct on 356 of the 360 digits, the ConvNet on 356, and each reads two that the other misses: no difference beyond chance (McNemar's test, [lecture 6b](06b_judging_a_classifier.ipynb)). One run is an anecdote. The figure has this run and four recorded ones with other seeds: a line for the median, a band from the lowest to the highest.

# %% tags=["drawing"]
others = recorded.load("lecture_seeds")["results"]["09_vision_transformer"]
figure, ax = plt.subplots(figsize=(7.4, 3.3))
curves = {}
for line, name in enumerate(("vit", "convnet")):
    runs = [histories[name]["val_accuracy"], *(run["validation accuracy by epoch"][name] for run in others.values())]
    curves[name] = np.array(runs)  # (5 seeds, epochs)
    style = {key: plots.LINES[line][key] for key in ("color", "linestyle")}
    ax.plot(range(1, 81), np.median(runs, axis=0), label=name, **style)
    ax.fill_between(range(1, 81), curves[name].min(axis=0), curves[name].max(axis=0), color=style["color"], alpha=0.18)
ax.axhline(0.97, color=diagrams.PALETTE["residual"], linewidth=1)
ax.set(xlabel="epoch", ylabel="validation accuracy", ylim=(0.7, 1.005))
ax.legend(loc="lower right")
plots.show(
    figure,
    alt="""The ConvNet is above 97 percent many epochs before the ViT. Validation accuracy by epoch, median and range of five seeds. The ConvNet's
curve rises within the first epochs; the ViT's rises later; at the end the two are close. The line marks 97 percent.""",
)

# %%
for name in ("vit", "convnet"):
    tested = [right[name].mean(), *(run["test accuracy"][name] for run in others.values())]
    print(f"{name:8} first above 97 % in epoch {np.argmax(curves[name] > 0.97, axis=1) + 1}; test", end=" ")
    print(", ".join(f"{share:.1%}" for share in tested))
colour = [run for run in recorded.load("vit_against_convnet")["results"]["runs"] if run["dataset"] == "cifar10"]
for name in ("vit", "convnet"):
    shares = [run["test"] for run in colour if (run["model"], run["images"], run["augmentation"]) == (name, 32000, False)]
    print(f"CIFAR-10, 32,000 images, 6 epochs, {name:8}", ", ".join(f"{share:.1%}" for share in shares))


# %% [markdown]
# At the end the two are equal on the test digits: each reads 98.8 % correctly, averaged over five seeds. On colour photographs (CIFAR-10, last two lines) the ConvNet is ahead after six epochs, too few for either model; [lecture 9b](09b_many_images_and_video.ipynb) shows how that gap changes with more images. Within each comparison both models have the same learning rate. On the digits it is 0.004; at 0.002 and 0.001, too, the ConvNet needs far fewer epochs ([evidence](evidence/09.ipynb#rates)).
#
# **Both learn to read digits; at each of three learning rates the ConvNet needs far fewer passes over them, with every seed.**

# %% [markdown]
# <a id="position-map"></a>
#
# ## 8 · What the position table has learned
#
# The table began as noise. Nobody told the model which patch lies beside which. The figure has one small map for each of the 16 patches: the cosine of its position vector with the other 15, after the mean is subtracted. A dot marks the patch's own cell.

# %% tags=["drawing"]
def cosines(table):
    """Cosine of each patch's row of (N + 1, D) with each other one, (N, N), after the mean row is taken away."""
    rows = table[1:] - table[1:].mean(axis=0)
    unit = rows / np.linalg.norm(rows, axis=-1, keepdims=True)  # (N, D)
    return unit @ unit.T


table_after = ops.convert_to_numpy(vit.layers[1].positions)
figure, panels = plt.subplots(4, 9, figsize=(9.6, 4.7), width_ratios=[1, 1, 1, 1, 0.4, 1, 1, 1, 1])
for ax in panels.flat:
    ax.axis("off")
for side, (name, table) in enumerate({"before training": table_before, "after training": table_after}.items()):
    for patch, alike in enumerate(cosines(table)):
        ax = panels[patch // 4, 5 * side + patch % 4]
        ax.imshow(np.where(np.arange(16) == patch, np.nan, alike).reshape(4, 4), cmap="PuOr_r", vmin=-0.6, vmax=0.6)
        ax.plot(patch % 4, patch // 4, ".", color=diagrams.PALETTE["ink"], markersize=4)
    panels[0, 5 * side].set_title(name, loc="left")
figure.colorbar(panels[0, 0].images[0], ax=panels, shrink=0.6, label="cosine with this patch's row")
plots.show(
    figure,
    alt="""After training, rows of neighbouring patches are a little more alike than others. Two blocks of 4 by 4 small maps, one map for each patch: the cosine of its row with
the rows of all 16 patches, its own cell left out. Before training the maps are noise; after training warm cells lie more often beside the patch itself, with exceptions.""",
)

# %%
spots = np.stack(np.divmod(np.arange(16), 4), axis=1)  # (N, 2): row and column of each patch
steps = np.abs(spots[:, None] - spots).sum(axis=-1)  # (N, N): steps from patch to patch
alike = [[cosines(table)[pairs].mean() for pairs in (steps == 1, steps > 1)] for table in (table_before, table_after)]
tables = {"page": alike} | {seed: run["cosine of neighbours and of others"] for seed, run in others.items()}
for name, (before, after) in tables.items():
    print(f"seed {name:4}: neighbours {before[0]:+.2f} → {after[0]:+.2f}, others {before[1]:+.2f} → {after[1]:+.2f}")


# %% [markdown]
# Single maps look noisy, so read the averages. Rows of noise, their mean taken away, would have a cosine of about −1/15 = −0.067, neighbours or not. With all five seeds the cosine of neighbours rises to between +0.01 and +0.04. That of the others stays near its base rate. Models trained on millions of images show rows and columns clearly (figure 7 of the paper). Telling a ViT rows and columns did not help: on ImageNet, with five labelled images a class, a ViT with one learned vector for each position reaches 64.2 %, with vectors of row and column 64.0 %, without positions 61.4 % (table 8).
#
# **The table starts as noise, and training writes a little of the image's geometry into it.**

# %% [markdown]
# <a id="inductive-bias"></a>
#
# ## 9 · What is built into a ConvNet
#
# A convolution looks at **neighbours** and does the same **everywhere**. Both are assumptions about images, an **inductive bias**. A ViT has only this much of it: the pixels of a patch are neighbours, and all patches share their matrices. Where a patch lies, only the position table can tell. So move the test digits by two pixels, further than the augmentation did. Two pixels are exactly one patch: the patches keep their contents and meet other rows of the position table.

# %% [markdown]
# **Predict.** The digits go two pixels to the right, and the ViT's accuracy falls below one half. Then you move the *rows of its position table* by one patch in the same direction, and change nothing else. What happens?
#
# - (a) nothing: the model has learned where digits stand
# - (b) part of the accuracy comes back
# - (c) nearly all of it comes back
#
# <details><summary>Answer</summary>
#
# **(c)** The blocks see the same tokens as before; only what had left the image is missing.
#
# </details>

# %%
def share_correct(model, images):
    return (digit_images.answers(model, images) == digits.y_test).mean()


layer, moves = vit.layers[1], {"right": (0, 1), "left": (0, -1), "up": (-1, 0), "down": (1, 0)}  # (down, right), in patches
print("        convnet     vit   vit, rows moved along   vit, not moved, the same ink cut off")
results = {}
for name, (down, across) in moves.items():
    images = digit_images.moved(digits.x_test, 2 * down, 2 * across)
    back = digit_images.moved(images, -2 * down, -2 * across)  # where it was, without what had left the image
    shares = [share_correct(convnet, images), share_correct(vit, images)]
    layer.positions.assign(digit_images.rows_moved(table_after, down, across))
    shares.append(share_correct(vit, images))
    layer.positions.assign(table_after)
    results[name] = [*shares, share_correct(vit, back)]
    print(f"{name:6} {results[name][0]:8.1%} {results[name][1]:7.1%} {results[name][2]:23.1%} {results[name][3]:38.1%}")

# %% tags=["drawing"]
figure, ax = plt.subplots(figsize=(8.2, 3.3))
looks = {"ViT": ("query", "", 1), "ViT, position rows moved along": ("accent", "//", 2), "ConvNet": ("value", "..", 0)}
for bar, (label, (role, hatch, column)) in enumerate(looks.items()):
    shares = [row[column] for row in results.values()]
    x = np.arange(4) + 0.27 * (bar - 1)
    ax.bar(x, shares, 0.25, color=diagrams.PALETTE[role], hatch=hatch, alpha=0.7, label=label)
ax.set(xticks=range(4), xticklabels=[f"two pixels\n{name}" for name in results], ylabel="test digits correct")
ax.set(ylim=(0, 1.28), yticks=np.linspace(0, 1, 6))
ax.legend(loc="upper center", ncols=3, fontsize=8)
plots.show(
    figure,
    alt="""Sideways the position table explains nearly the whole loss of the ViT. Bars of test accuracy after a move by two pixels to the right, to the left, up and down.
To the right and to the left the ViT falls far below the ConvNet, and with its position rows moved along it is above the ConvNet. Up and down the rows bring back a part, because ink leaves the image.""",
)

# %% [markdown]
# The last two printed columns must be equal. A ViT whose table moves along with its patches reads the same pairs of patch and position as before; only what has left the image is missing.  To the right the accuracy falls from 98.9 % to 44.2 %, and the moved rows bring it back to 94.7 %: sideways the lost ink costs little. Up and down a digit loses two of its eight rows of pixels, and there most of the loss comes from the ink.
#
# A ConvNet has no such table. Over all 16 moves by two pixels, the diagonal ones included, it loses less with all five seeds:

# %%
ring = [(y, x) for y in range(-2, 3) for x in range(-2, 3) if max(abs(y), abs(x)) == 2]  # 16 moves by two pixels
moved_by_two = {}
for model in (vit, convnet):
    moved_by_two[model.name] = np.mean([share_correct(model, digit_images.moved(digits.x_test, *move)) for move in ring])
    recorded_shares = [run["moved by 2 pixels"][model.name] for run in others.values()]
    print(f"{model.name:8} this page {moved_by_two[model.name]:.0%}, other seeds", ", ".join(f"{share:.0%}" for share in recorded_shares))


# %% [markdown]
# **Sideways, the position table explains nearly all that is lost.**

# %% [markdown]
# <a id="rollout"></a>
#
# ## 10 · Where did it look?
#
# From the second block on, a token is already a mixture. **Attention rollout** (Abnar and Zuidema, 2020) follows the mixture down to the patches: average the heads, count the residual path as attending to oneself with weight ½, and multiply
# the blocks' matrices, the later one on the left.

# %% [markdown]
# **By hand.** Two tokens, one head. $A_1$ and $A_2$ are the weights of the two blocks. How much of input token 1 is in output token 0?
#
# $$A_1=\begin{pmatrix}1&0\\0.4&0.6\end{pmatrix}\qquad A_2=\begin{pmatrix}0.2&0.8\\0&1\end{pmatrix}$$
#
# <details><summary>Answer</summary>
#
# The residual path turns each matrix into the mean of itself and the identity:
#
# $$\tfrac12(A_1+I)=\begin{pmatrix}1&0\\0.2&0.8\end{pmatrix}\qquad \tfrac12(A_2+I)=\begin{pmatrix}0.6&0.4\\0&1\end{pmatrix}$$
#
# In the product of the second and the first, row 0 has in its second column 0.6 · 0 + 0.4 · 0.8 = 0.32.
#
# </details>

# %%
def followed(blocks):
    """Rollout from a list of attention weights (B, H, T, T), first block first: (B, T, T)."""
    mixing = np.eye(blocks[0].shape[-1])  # (T, T)
    for weights in blocks:
        mixing = (weights.mean(axis=1) @ mixing + mixing) / 2  # what attention fetches, and what the residual path keeps
    return mixing


first, second = np.array([[1, 0], [0.4, 0.6]]), np.array([[0.2, 0.8], [0, 1]])
print(followed([first[None, None], second[None, None]])[0])
maps = vit_maps.predict(digits.x_test, verbose=0)  # two blocks of (B, H, T, T)

# %% [markdown]
# **Predict.** Rollout counts half of each block's output as the token itself, so after one block the class token gives itself at least ½ of its rollout. What is the minimum after two blocks? And if you look at one block's attention alone, without the residual path: is there a minimum? Move the controls.
#
# <details><summary>Answer</summary>
#
# After two blocks it is ½ · ½ = ¼, whatever the weights are. The attention of one block alone has no minimum: a token may give itself any weight between 0 and 1.
#
# </details>

# %%
picked = [int(np.flatnonzero((digits.y_test == digit) & right["vit"])[0]) for digit in (0, 3, 5, 8)]
live.rollout(digits.x_test[picked, ..., 0], [weights[picked] for weights in maps], ["zero", "three", "five", "eight"])

# %% [markdown]
# Does the map mark what matters? Delete patches and see. Deleting empty patches deletes nothing, so the test has to hold the ink equal: sort the patches of a digit by ink, pair the eight inkiest in this order, and of each pair delete the patch with
# *more* rollout, or the one with *less*. If rollout marks what matters, the first must hurt more.

# %%
rollout = followed(maps)[:, 0, 1:]  # (n, N): the class token's row, without its own share
ink = np.asarray(ops.image.extract_patches(digits.x_test, 2)).reshape(-1, 16, 4).sum(axis=-1)  # (n, N)
pairs = np.argsort(-ink, axis=1)[:, :8].reshape(-1, 4, 2)  # (n, 4, 2): neighbours in the order of ink
more = np.take_along_axis(rollout[:, None], pairs, axis=2).argmax(axis=-1)[..., None]  # (n, 4, 1)
left = {}
for name, chosen in {"more": more, "less": 1 - more}.items():
    gone, keep = np.take_along_axis(pairs, chosen, axis=2)[..., 0], np.ones_like(ink)
    np.put_along_axis(keep, gone, 0, axis=1)
    pixels = keep.reshape(-1, 4, 4).repeat(2, axis=1).repeat(2, axis=2)[..., None]  # (n, h, w, 1)
    left[name] = digit_images.answers(vit, digits.x_test * pixels) == digits.y_test
    deleted = np.take_along_axis(ink, gone, axis=1).sum(axis=1).mean()
    print(f"deleted: four patches with {name} rollout, ink {deleted:.2f}: {left[name].mean():.1%} still correct")
only_more, only_less = (left["more"] & ~left["less"]).sum(), (~left["more"] & left["less"]).sum()
print(f"correct only without the patches of more rollout: {only_more}, of less: {only_less};", end=" ")
print(f"p = {binomtest(only_more, only_more + only_less).pvalue:.3f}")

# %% [markdown]
# The map does not pass this test. Without the patches of more rollout 28 % of the digits are still correct, without those of less 32 %, and chance alone can make such a difference. (This is one model, the second set has 2 % more ink, and deletion is crude: in training the model has seen no digit with holes.)
#
# **Believe a map only after a test that it could have failed.**

# %% [markdown]
# ## Two mistakes
#
# **Patches by `reshape` alone.** The shape is correct, but each "patch" holds 256 consecutive pixels, from two rows of the image.

# %% tags=["drawing"]
strips = photo.reshape(14, 14, 768)
figure, panels = plt.subplots(1, 2, figsize=(7.0, 3.3))
for ax, cells, title in [(panels[0], grid[0], "extract_patches"), (panels[1], strips, "reshape alone")]:
    ax.imshow(spread(cells[6:10, 6:10], 16))
    ax.set_title(title)
    ax.axis("off")
plots.show(
    figure,
    alt="""Reshape alone makes strips and no patches. Sixteen patches from the middle of the photograph: cut correctly they show parts of the building; by reshape
alone each shows a few horizontal strips of pixels stacked on each other.""",
)

# %% [markdown]
# **Pixels on another scale than in training.** The model was trained on pixels from 0 to 1 and gets bytes, 0 to 255. No error is raised. A `Rescaling` layer inside the model keeps the scale in the model.

# %%
for name, scale in {"0 to 1": 1, "0 to 255": 255}.items():
    print(f"pixels from {name}: {(digit_images.answers(vit, digits.x_test * scale) == digits.y_test).mean():.1%} correct")

# %% [markdown]
# ## Four questions
#
# <details><summary>1. An image of 96 × 144 × 3, P = 16, D = 192. What are the shapes of the patches, the tokens and the position table?</summary>
#
# N = 6 · 9 = 54. Patches (B, 54, 768), tokens (B, 55, 192), table (55, 192).
#
# </details>
#
# <details><summary>2. You go from P = 24 to P = 8. What happens to the number of patches and of attention weights?</summary>
#
# There are 9 times as many patches and 81 times as many weights.
#
# </details>
#
# <details><summary>3. A ViT trained at 224 pixels should read images of 384. Which parameters do not fit?</summary>
#
# Only the position table: 197 rows against 577. [Lecture 9b](09b_many_images_and_video.ipynb) enlarges it.
#
# </details>
#
# <details><summary>4. You shuffle the pixels of all images by one fixed permutation and train anew. Which model suffers, a ConvNet or a ViT with P = 1?</summary>
#
# The ConvNet: pixels that were neighbours are neighbours no longer. For the ViT only the order of the tokens changes, and its position rows start as noise anyway.
#
# </details>
#
# ## Summary
#
# | step | shape | parameters |
# |---|---|---|
# | patches, flattened | (B, N, P²C), N = hw/P² | |
# | projection = strided convolution | (B, N, D) | P²C·D + D |
# | class token in front | (B, N + 1, D) | D |
# | positions added | (B, N + 1, D) | (N + 1)·D |
# | L pre-norm blocks | (B, N + 1, D) | L·(4D² + 2DF + 9D + F) |
# | final norm, class token, head | (B, K) | 2D + D·K + K |
#
# Cut the patches yourself in [lab 9](../labs/09_vision_transformer/09_vision_transformer.ipynb). More images, larger images and video follow in [lecture 9b](09b_many_images_and_video.ipynb); DeiT, Swin, T2T and MaxViT, and the interval of a test accuracy are in the [evidence](evidence/09.ipynb).
#
# **An image is a sentence of patches.**
#
# ## References
#
# * A. Dosovitskiy et al., *An image is worth 16x16 words*, ICLR 2021, arXiv:2010.11929: equations 1–4, tables 1, 8, figure 7.
# * S. Abnar, W. Zuidema, *Quantifying attention flow in Transformers*, ACL 2020: section 3 (rollout).
# * E. Alpaydin, C. Kaynak, *Optical recognition of handwritten digits*, UCI Machine Learning Repository, 1998. A. Krizhevsky, *Learning multiple layers of features from tiny images*, 2009 (CIFAR-10).
#
# <details><summary>If something looks wrong, runs slowly, or you want more</summary>
#
# **Symptoms.** Low accuracy: pixels not from 0 to 1, or patches by `reshape`. Parameters off by D or 2D: the class token or its position row is missing.
#
# **Slow machine:** 40 epochs in section 7. **GPU:** the cells run unchanged; for half precision set the policy "mixed_float16" before the models are built.
#
# **More.** P. Lippe, [*UvA Deep Learning Tutorials*, 15](https://uvadlc-notebooks.readthedocs.io/en/latest/tutorial_notebooks/tutorial15/Vision_Transformer.html): a ViT on CIFAR-10 with a checkpoint. M. Caron et al., [*Emerging properties*](https://arxiv.org/abs/2104.14294): attention maps that follow objects. S. Jain, B. Wallace, [*Attention is not explanation*](https://arxiv.org/abs/1902.10186).
#
# </details>

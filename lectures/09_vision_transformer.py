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
# [← 8b · Generating text](08b_generating_text.ipynb) · a branch after [7](07_bert_ag_news.ipynb) · [Lab
# 9](../labs/09_vision_transformer/09_vision_transformer.ipynb) · [9b · More images, larger images, video →](09b_many_images_and_video.ipynb), or back to the path: [8 · Decoder and masking](08_decoder_and_masking.ipynb)
#
# Cut a photograph into squares, and swap two of them. **Which part of the model notices?** Write down your guess; you have the answer in a quarter of an hour.
#
# **Afterwards you can**
#
# * turn an image into tokens in two ways that agree, and build a Vision Transformer from them;
# * count B/16, L/16 and H/14 yourself;
# * say what is built into a ConvNet and not into a ViT, and measure it;
# * say how DINO, CLIP and language models that see use the same patches.
#
# **You need** the [encoder block](04_encoder_block.ipynb), [positions](05_positional_encoding.ipynb), convolutions. **Time:** about 63 minutes to read and predict (estimated, not measured), two thirds of them up to section 8; the code
# runs in about two minutes on two CPU cores. Letters: **B** batch, **h**, **w** rows and columns of pixels, **C** channels, **P** patch size, **N** patches, **D** width, **H** heads, **F** feed-forward width, **L** blocks, **K** classes.
#
# **Section 11 needs a model that does not come with the course:** MiniLM of lecture 7 (84 MB: `data.published("minilm")` in a cell fetches it once). Without it that section's cells are left out: read their outputs before you run the page.

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
from coursekit import quiet
quiet.start_tensorflow("tensorflow_hub", "tf_keras")  # keeps their messages out of the notebook
from coursekit import diagrams, digit_images, live, plots, recorded
plots.use_course_style()
import keras
import matplotlib.pyplot as plt
import numpy as np
import tensorflow as tf
from keras import layers, ops
from matplotlib.patches import Rectangle
from sklearn.datasets import load_sample_image
from coursekit.data.published_models import is_here
from coursekit.pages.news_classifier import PlainBertBlock
from coursekit.published import load_published
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


# %% jupyter={"source_hidden": true} tags=["drawing"]
figure, ax = diagrams.canvas(9.6, 4.9)
image = diagrams.box(ax, 0.85, 0.6, "image", detail="(B, 224, 224, 3)", width=1.55)
cut = diagrams.box(ax, 2.75, 0.6, "16×16 convolution", detail="stride 16", role="key", width=1.7)
xs = [4.45 + 0.62 * i for i in range(6)]
patches = [diagrams.box(ax, x, 0.6, name, width=0.5, height=0.5) for x, name in zip(xs, ("0", "1", "2", "…", "194", "195"), strict=True)]
front = diagrams.box(ax, 3.65, 1.6, "class", role="accent", width=0.75, height=0.45)
sums = [diagrams.operator(ax, x, 2.4) for x in [3.65, *xs]]
table = diagrams.box(ax, 8.75, 2.4, "positions", detail="(197, 768)", role="value", width=1.4, height=0.55)
encoder = diagrams.box(ax, 5.4, 3.5, "encoder: 12 pre-norm blocks, then a norm", role="query", width=4.6, height=0.6)
head = diagrams.box(ax, 1.6, 4.5, "Dense", detail="(B, 1000)", role="output", width=1.4, height=0.55)
diagrams.arrow(ax, image, cut)
diagrams.arrow(ax, cut, diagrams.group(ax, patches, pad=0.07).left)
for below, plus in zip([front, *patches], sums, strict=True):
    diagrams.arrow(ax, below, plus)
    diagrams.arrow(ax, plus, (plus.x, encoder.bottom[1]))
ax.plot([3.65, table.left[0]], [2.4, 2.4], color=diagrams.PALETTE["value"], linewidth=3, zorder=0.5)
diagrams.arrow(ax, (3.65, encoder.top[1]), (3.65, 4.5), head)
for x in xs:
    diagrams.arrow(ax, (x, encoder.top[1]), (x, 4.1), role="residual")
diagrams.note(ax, 6.0, 0.16, "14 · 14 = 196 patch tokens, (B, 196, 768)")
diagrams.note(ax, 2.0, 2.95, "with the class token: (B, 197, 768)")
diagrams.note(ax, 5.95, 4.3, "197 outputs, (B, 197, 768); only the class token's is read")
plots.show(
    figure,
    alt="""Only the tokens are new; the encoder is the one of lecture 4. The shapes are those of ViT-B/16. From bottom to top: an image passes a convolution with stride 16 and becomes
196 patch tokens of 768 numbers. A class token stands in front of them. Learned positions are added to all 197. The row enters a pre-norm
encoder of twelve blocks and a final norm. A dense layer reads the output at the class token alone and gives 1,000 logits.""",
)

# %% [markdown]
# <a id="patches-not-pixels"></a>
#
# ## 1 · Why not one token for each pixel?
#
# An encoder reads a row of tokens. They need not be words. Take each pixel of a photograph as a token: 224 · 224 = 50,176 tokens, each compared with every other one. Here is what the attention weights of one block take, with 12 heads and 4 bytes a number:

# %%
for name, patch in {"pixels": 1, "patches of 4 × 4": 4, "patches of 16 × 16": 16}.items():
    tokens = (224 // patch) ** 2
    print(f"{name:19} {tokens:7,} tokens   attention weights {12 * tokens**2 * 4 / 1e9:10.4f} GB")

# %% [markdown]
# So take a larger token: a **patch** of P × P pixels (Dosovitskiy et al., 2021: *An image is worth 16 × 16 words*). You get fewer tokens by P², and fewer weights by P⁴; with P = 16 that is 65,536.
#
# **With one token for each pixel the attention weights grow with the fourth power of the image's side; patches divide them by P⁴.**

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

# %% jupyter={"source_hidden": true} tags=["drawing"]
figure = plt.figure(figsize=(9.2, 4.7))
panels = figure.subplot_mosaic([["photo", "grid"], ["row", "row"]], height_ratios=[4.6, 1])
titles = {"photo": "224 × 224 × 3 = 150,528 numbers", "grid": "14 × 14 patches of 16 × 16"}
pictures = {"photo": photo, "grid": spread(grid[0], 16), "row": spread(row[:, 70:91], 16, gap=5)}
for name, picture in pictures.items():
    panels[name].imshow(picture, interpolation="nearest")
    panels[name].set_title(titles.get(name, "… patches 70 to 90, counted from 0: the sixth row and half of the seventh …"))
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
# Which of the 196 outputs should the head read? Their mean would do (lecture 9b reads it in a video). The paper takes BERT's way: one more token stands in front, the **class token**: one learned vector, the same for every image. In each block it attends to
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
    tokens.build(images[0].shape)
    tokens.class_token.assign(np.random.default_rng(0).normal(size=(1, 1, 32)))  # as zeros it would weigh all patches alike
    read = [attend(query=x, value=x)[0, 0] for x in map(tokens, images)]  # (D,) each: the class token's output
    print(name, "- the class token notices the swap:", not np.allclose(*read, atol=1e-5))


# %% [markdown]
# That answers the opening question. Attention without positions is equivariant ([lecture 5](05_positional_encoding.ipynb)): the same patches come in another order with the same weights, so the class token's weighted sum stays the same.
#
# **Only the position table notices that two patches are swapped.**

# %% [markdown]
# <a id="whole-vit"></a>
#
# ## 5 · The model
#
# The figure at the top of the page, in code. The blocks are lecture 4's, in their pre-norm form, with GELU in the feed-forward network.

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
    "ViT-L/16": (16, 1024, 16, 4096, 24),
    "ViT-H/14": (14, 1280, 16, 5120, 32),
}
print("           tokens   parameters without head   multiplications for an image")
for name, (patch, width, heads, hidden, blocks) in variants.items():
    one, two = (plain_vit((224, 224, 3), patch, width, heads, hidden, k, 1000)[0].count_params() for k in (1, 2))
    count, tokens = one + (blocks - 1) * (two - one) - (width + 1) * 1000, (224 // patch) ** 2 + 1
    work = blocks * tokens * (4 * width**2 + 2 * width * hidden + 2 * tokens * width)
    print(f"{name} {tokens:8} {count:25,} {work / 1e9:22.1f} billion")

# %% [markdown]
# B/32 has *more* parameters than B/16: its projection is larger, 32 · 32 · 3 · 768 numbers against 16 · 16 · 3 · 768. But B/16 costs about four times as much, because 197 tokens pass every block instead of 50. L/16 has as many tokens as B/16, 3.5 times its parameters and 3.5 times its cost. (Why you read 86, 307 and 632 million elsewhere: [evidence](evidence/09.ipynb#names).)
#
# **At these sizes a ViT's cost is close to parameters times tokens: each token passes nearly every matrix once.**

# %% [markdown]
# <a id="trained"></a>
#
# ## 7 · Trained, beside a ConvNet
#
# Real scans: 1,797 handwritten digits of 8 × 8 pixels (scikit-learn), so small that you train two models now. Patches of 2 × 2 give 16 tokens. The models have the same number of parameters within 1 %, the same optimizer, steps and images, moved at random by at most one pixel (**augmentation**). A fifth of the training images is held back; the 360 test images choose nothing.

# %%
digits = digit_images.split()
keras.utils.set_random_seed(0)
vit, vit_maps = plain_vit((8, 8, 1), patch=2, width=64, heads=4, hidden=128, blocks=2, classes=10)
table_before = ops.convert_to_numpy(vit.layers[1].positions)  # (N + 1, D)
convnet = digit_images.convnet((8, 8, 1), filters=(16, 48, 139), classes=10)
histories, right = {}, {}
for model in (vit, convnet):
    histories[model.name] = digit_images.train(model, digits, epochs=80, rate=4e-3)
    right[model.name] = digit_images.answers(model, digits.x_test) == digits.y_test  # (360,)
    print(f"{model.name:8} {model.count_params():,} parameters, {right[model.name].sum()} of 360 test digits correct")
table_after = ops.convert_to_numpy(vit.layers[1].positions)

# %% jupyter={"source_hidden": true} tags=["setup"]
others = recorded.load("lecture_seeds")["results"]["09_vision_transformer"]
print("this page, then four recorded seeds   first epoch above 97 % on held-back digits   test digits correct")
for name in ("vit", "convnet"):
    runs = [histories[name]["val_accuracy"], *(run["validation accuracy by epoch"][name] for run in others.values())]
    first = [int(np.argmax(np.array(run) > 0.97)) + 1 for run in runs]
    tested = [right[name].mean(), *(run["test accuracy"][name] for run in others.values())]
    print(f"{name:37} {' '.join(f'{epoch:4}' for epoch in first):47} {' '.join(f'{share:.1%}' for share in tested)}")

# %% [markdown]
# At the end they are equal: each reads 98.8 % of the test digits, averaged over five runs. But the ConvNet is first above 97 % after 5 to 10 of the 80 epochs, the ViT after 22 to 39; it looks the same at two smaller learning rates ([evidence](evidence/09.ipynb#rates)). Why, these runs do not say ([lecture 9b](09b_many_images_and_video.ipynb) counts images, with a control).
#
# **Both learn to read these digits; the ViT takes several times as many passes.**

# %% [markdown]
# <a id="position-map"></a>
#
# ### What the position table has learned
#
# The table began as noise, and nobody told the model which patch lies beside which. Take the mean row away, and compare rows by their cosine, those of neighbours and all others:

# %% jupyter={"source_hidden": true} tags=["setup"]
alike = [digit_images.neighbour_cosines(table) for table in (table_before, table_after)]
tables = {"page": alike} | {seed: run["cosine of neighbours and of others"] for seed, run in others.items()}
for name, (before, after) in tables.items():
    print(f"seed {name:4}: neighbours {before[0]:+.2f} → {after[0]:+.2f}, others {before[1]:+.2f} → {after[1]:+.2f}")
noise = np.random.default_rng(0).normal(size=(1000, 17, 64))
found = np.array([digit_images.neighbour_cosines(table) for table in noise])  # (1000, 2)
print(f"1,000 tables of pure noise: neighbours {found[:, 0].mean():+.3f}, others {found[:, 1].mean():+.3f}")


# %% [markdown]
# Read it beside its base rate. After the mean is taken away, 16 rows of pure noise have a cosine of about −1/15 = −0.067, neighbours or not. Models trained on millions of images show whole rows and columns (figure 7 of the paper).
#
# **In every run neighbouring rows end a little more alike than others: +0.01 to +0.04, where noise has −0.067.**

# %% [markdown]
# <a id="inductive-bias"></a>
#
# ## 8 · What is built into a ConvNet
#
# A convolution looks at **neighbours** and does the same **everywhere**. Both are assumptions about images: an **inductive bias**. A ViT has little of it. The pixels of a patch are neighbours, and all patches share their matrices; where a patch lies, only the position table can tell.
#
# So move the test digits by two pixels, further than the augmentation did. Two pixels are exactly one patch: the patches keep their contents and meet other rows of the table.

# %% [markdown]
# **Predict.** The digits go two pixels to the right, and the ViT's accuracy falls below one half. Then you move the *rows of its position table* by one patch in the same direction, and change nothing else. What happens?
#
# - (a) nothing: the model has learned where digits stand
# - (b) part of the accuracy comes back
# - (c) nearly all of it comes back
#
# <details><summary>Answer</summary>
#
# **(c)** Move patch and row together, and the encoder reads the same sums, in another order, which it does not notice (section 4). That is a theorem; the run checks it. Only the ink that has left the image is missing.
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

# %% jupyter={"source_hidden": true} tags=["drawing"]
figure = plt.figure(figsize=(8.6, 5.4))
panels = figure.subplot_mosaic([["still", "moved", "along"], ["bars", "bars", "bars"]], height_ratios=[1.15, 1.6])
shown, rows = digits.x_test[np.flatnonzero(digits.y_test == 3)[0]][None], np.arange(17)[:, None]
right_by_two = digit_images.moved(shown, 0, 2)
stages = {
    "still": (shown, rows, "as in training"), "moved": (right_by_two, rows, "digit moved: other rows"),
    "along": (right_by_two, digit_images.rows_moved(rows, 0, 1), "rows moved along: its own rows"),
}  # fmt: skip
for name, (image, table, title) in stages.items():
    panels[name].imshow(image[0, ..., 0], cmap="Blues", vmin=0, vmax=1.6, extent=(0, 4, 4, 0))
    for patch, place in enumerate(table[1:, 0]):
        corner = (patch % 4, patch // 4)
        panels[name].add_patch(Rectangle(corner, 1, 1, fill=False, edgecolor=diagrams.PALETTE["residual"], linewidth=1.5))
        panels[name].text(corner[0] + 0.5, corner[1] + 0.5, place, ha="center", va="center", color=diagrams.DARK_TEXT, fontsize=9)
    panels[name].set_title(title, fontsize=10)
    panels[name].axis("off")
looks = {"ViT": ("query", "", 1), "ViT, position rows moved along": ("accent", "//", 2), "ConvNet": ("value", "..", 0)}
for bar, (label, (role, hatch, column)) in enumerate(looks.items()):
    shares = [row[column] for row in results.values()]
    panels["bars"].bar(np.arange(4) + 0.27 * (bar - 1), shares, 0.25, color=diagrams.PALETTE[role], hatch=hatch, alpha=0.7, label=label)
panels["bars"].set(xticks=range(4), xticklabels=[f"two pixels\n{name}" for name in results], ylabel="test digits correct")
panels["bars"].set(ylim=(0, 1.28), yticks=np.linspace(0, 1, 6))
panels["bars"].legend(loc="upper center", ncols=3, fontsize=8)
plots.show(
    figure,
    alt="""Sideways the position table explains nearly the whole loss of the ViT. Above, a three in its sixteen patches, each with the number of its row of the table: as in training; moved by one patch to the
right, so that each part of it meets another row; with the rows moved along, so that each part has its own row again. Below, bars of test accuracy after a move by two pixels to the right, to the left, up and down.
To the right and to the left the ViT falls far below the ConvNet, and with its position rows moved along it is above the ConvNet. Up and down the rows bring back a part, because ink leaves the image.""",
)

# %% [markdown]
# The last two columns are equal, as the theorem says. To the right the accuracy falls from 98.9 % to 44.2 %, and the moved rows bring it back to 94.7 %: sideways the lost ink costs little. Up and down a digit loses two of its eight rows of pixels, and there most of the loss is the ink's.
#
# The ConvNet (three convolutions of 3 × 3 padded with zeros, two halvings, a mean over all places) has no such table. But no theorem says that it does not notice: to the right it loses 9.7 points, more than the 4.2 that the ink costs the ViT. Padding and halvings can tell places apart; which of them does was not tested. Over all 16 moves by two pixels, the diagonal ones included, it still loses less in every run:

# %%
ring = [(y, x) for y in range(-2, 3) for x in range(-2, 3) if max(abs(y), abs(x)) == 2]  # 16 moves by two pixels
moved_by_two = {}
for model in (vit, convnet):
    moved_by_two[model.name] = np.mean([share_correct(model, digit_images.moved(digits.x_test, *move)) for move in ring])
    recorded_shares = [run["moved by 2 pixels"][model.name] for run in others.values()]
    print(f"{model.name:8} this page {moved_by_two[model.name]:.0%}, other seeds", ", ".join(f"{share:.0%}" for share in recorded_shares))


# %% [markdown]
# **Here, sideways, the position table explains nearly all that the ViT loses.**

# %% [markdown]
# <a id="rollout"></a>
#
# ## 9 · Where did it look?
#
# From the second block on, a token is already a mixture. **Attention rollout** (Abnar and Zuidema, 2020) follows it down to the patches. Average the heads. Count the residual path as attending to oneself, with weight ½: each matrix becomes $\tfrac12(A+I)$. Multiply the blocks, the later one on the left:

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
# Check the 0.32: row 0 of $\tfrac12(A_2+I)$ is (0.6, 0.4), column 1 of $\tfrac12(A_1+I)$ is (0, 0.8), and 0.6 · 0 + 0.4 · 0.8 = 0.32.
#
# Now point at the class token and move the controls. How little of itself can it keep after two blocks?

# %%
picked = [int(np.flatnonzero((digits.y_test == digit) & right["vit"])[0]) for digit in (0, 3, 5, 8)]
live.rollout(digits.x_test[picked, ..., 0], [weights[picked] for weights in maps], ["zero", "three", "five", "eight"])

# %% [markdown]
# Never less than ½ · ½ = ¼: that comes from the rule, not from the model. Does the rest of the map mark what matters? We deleted patches of about equal ink, once those with a larger share of the rollout, once those with a smaller one. 34.7 % and 30.0 % of the digits were still read. The difference is within chance: this test could not show that the map marks what matters ([evidence](evidence/09.ipynb#deleted)).
#
# **Rollout assumes its mixture: after two blocks the class token keeps at least a quarter of itself, whatever it has read.**

# %% [markdown]
# <a id="pre-trained"></a>
#
# ## 10 · What came after: pre-training without labels
#
# Few people train a ViT from noise. They take one that others trained, as you took a BERT in [lecture 7](07_bert_ag_news.ipynb). **DINO** (Caron et al., 2021) needs not a single label. Two ViTs, *student* and *teacher*, look at different cuts of one photograph. Each gives a distribution over 65,536 outputs that nobody has named, and the student has to give what the teacher gives. (The teacher gets large cuts only, the student small ones, too.)

# %% jupyter={"source_hidden": true} tags=["drawing"]
large, small = (24, 16, 150), (120, 96, 62)  # row, column, side: two cuts of the photograph
figure = plt.figure(figsize=(9.6, 3.7), layout="none")
ax = figure.add_axes((0, 0, 1, 1))
ax.set(xlim=(0, 9.6), ylim=(0, 3.7), aspect="equal")
ax.axis("off")
ax.imshow(photo, extent=(0.1, 2.5, 0.7, 3.1), zorder=1)
for (top, left, side), role, y, size in ((large, "query", 2.6, 1.1), (small, "accent", 0.9, 0.75)):
    colour, scale = diagrams.PALETTE[role], 2.4 / 224
    ax.add_patch(Rectangle((0.1 + left * scale, 3.1 - (top + side) * scale), side * scale, side * scale, fill=False, edgecolor=colour, linewidth=2.5, zorder=2))
    ax.imshow(photo[top : top + side, left : left + side], extent=(3.3 - size / 2, 3.3 + size / 2, y - size / 2, y + size / 2), zorder=1)
    ax.add_patch(Rectangle((3.3 - size / 2, y - size / 2), size, size, fill=False, edgecolor=colour, linewidth=2.5, zorder=2))
ax.set(xlim=(0, 9.6), ylim=(0, 3.7))
teacher = diagrams.box(ax, 5.1, 2.6, "teacher ViT", detail="(B, 384)", role="neutral", width=1.5)
student = diagrams.box(ax, 5.1, 0.9, "student ViT", detail="(B, 384)", role="query", width=1.5)
outputs = [diagrams.box(ax, 7.1, y, "softmax", detail="(B, 65536)", role="output", width=1.5) for y in (2.6, 0.9)]
loss = diagrams.box(ax, 8.8, 1.75, "cross-entropy", role="accent", width=1.4)
for stops in (((3.95, 2.6), teacher), ((3.78, 0.9), student), (teacher, outputs[0]), (student, outputs[1]), (outputs[0], (8.8, 2.6), loss), (outputs[1], (8.8, 0.9), loss)):
    diagrams.arrow(ax, *stops)
diagrams.arrow(ax, student, teacher, label="a slow average", dashed=True)
diagrams.note(ax, 5.1, 0.4, "learns")
diagrams.note(ax, 5.1, 3.1, "no gradient")
plots.show(
    figure,
    alt="""The label of a small cut is what another network says of a large one. A photograph of a Chinese palace with two cuts marked. The large cut goes to the teacher, the small one to the student; both are
Vision Transformers, each with a softmax over 65,536 outputs. A cross-entropy compares the two. A dashed arrow from student to teacher: the teacher is a slow average of the student, and gets no gradient.""",
)


# %% [markdown]
# And if both say the same of every photograph? The loss would be small, and nothing learned. So the mean over photographs is taken off the teacher's logits, which forbids one answer for all, and a low temperature forbids the answer "all alike".
#
# Nobody told it what a palace is. Yet photographs with near vectors show the same kind of thing: the labels of the nearest training images name 78.3 % of ImageNet's validation images correctly (Caron et al., 2021, abstract). And the class token's attention in the last block outlines the object, more clearly than in a ViT trained with labels: look at figure 1 [of the paper](https://arxiv.org/abs/2104.14294).
#
# The weights of a published ViT could not be had offline, so nothing of it was run here. With a connection, these lines show one the palace:
#
# ```python
# import keras_hub  # 0.29.1 for Keras 3.13, as in Colab; 0.32.0 for Keras 3.15
#
# classifier = keras_hub.models.ImageClassifier.from_preset("vit_base_patch16_224_imagenet")
# logits = classifier.predict(255 * photo[None])  # (1, 1000): ImageNet's classes
# backbone = keras_hub.models.DINOV2Backbone.from_preset("dinov2_small")  # vectors, trained without labels
# ```
#
# **A label can be another view of the same image.**

# %% [markdown]
# <a id="clip"></a>
#
# ## 11 · What came after: sentences as labels
#
# The web is full of images with a sentence beside them. **CLIP** (Radford et al., 2021) reads 400 million such pairs with two towers: a ViT makes a vector of the image, a Transformer one of the sentence. In a batch of B pairs there are (B, B) cosines. Each row is a classification whose right answer is its own sentence; each column one whose right answer is its own image:

# %%
def clip_loss(texts, images):  # (B, D) each; row i of one belongs to row i of the other
    scores = 30 * ops.normalize(images, axis=-1) @ ops.transpose(texts)  # (B, B); the texts have length 1
    own, entropy = ops.arange(ops.shape(scores)[0]), keras.losses.sparse_categorical_crossentropy
    return (entropy(own, scores, from_logits=True) + entropy(own, ops.transpose(scores), from_logits=True)) / 2


# %% [markdown]
# The factor 30 is ours; CLIP learns its own, from 14 on and capped at 100 (section 2.5 of the paper). Make a small one. The image tower is your ViT, anew from noise, with 384 outputs; the text tower is MiniLM, and stays fixed. The captions are *a handwritten zero* to *a handwritten nine*; a batch holds one digit of each kind (the folded cells train it).

# %% jupyter={"source_hidden": true} tags=["setup"]
NAMES = "zero one two three four five six seven eight nine".split()
if is_here("minilm"):
    minilm = load_published(PlainBertBlock, "minilm")
    captions = minilm([f"a handwritten {name}" for name in NAMES]).astype("float32")  # (10, 384)
else:
    minilm = None
    print('MiniLM is not here, so the cells of this section are left out. To fetch 84 MB, once: data.published("minilm")')


def one_of_each(kinds, rounds=10):
    """Numbers of training digits in groups, one of each kind a group, every digit about `rounds` times."""
    rng, by_kind = np.random.default_rng(0), [np.flatnonzero(digits.y_fit == kind) for kind in kinds]
    fewest = min(map(len, by_kind))
    return np.concatenate([np.stack([rng.permutation(found)[:fewest] for found in by_kind], axis=1) for _ in range(rounds)]).ravel()


# %% jupyter={"source_hidden": true} tags=["setup"]
def image_tower(kinds):
    """A ViT from digits to vectors (B, 384), trained on pairs of these kinds alone."""
    keras.utils.set_random_seed(0)
    tower, _ = plain_vit((8, 8, 1), patch=2, width=64, heads=4, hidden=128, blocks=2, classes=384)
    tower.compile(keras.optimizers.AdamW(2e-3), loss=clip_loss)
    rows = one_of_each(kinds)
    tower.fit(digits.x_fit[rows], captions[digits.y_fit[rows]], batch_size=len(kinds), shuffle=False, verbose=0)
    return tower


if minilm:
    towers = {"all ten": image_tower(range(10)), "without a seven": image_tower([0, 1, 2, 3, 4, 5, 6, 8, 9])}
    vectors = {name: np.asarray(ops.normalize(tower.predict(digits.x_test, verbose=0))) for name, tower in towers.items()}

# %% [markdown]
# To classify, write a sentence for each class and take the nearest one: there is no head. CLIP does this for classes that it was never trained to tell apart, which is called **zero-shot**. Ours has seen all ten kinds, with one caption each; so we ask two smaller questions: other words, and a kind left out.

# %% [markdown]
# **Predict.** First you write new sentences, *the digit 3* in place of *a handwritten three*: no such words were in the training. Then you take the tower that never saw a seven, and offer it all ten captions. Which of the two works?
#
# - (a) both
# - (b) the new words, not the new digit
# - (c) the new digit, not the new words
#
# <details><summary>Answer</summary>
#
# **(b)** With *the digit 3* it still reads 85.0 % correctly, with the words of the training 93.1 %; guessing has 10 %. Of the sevens it reads none, though their caption is on offer.
#
# </details>

# %%
if minilm:
    for form in ("a handwritten {0}", "a drawing of the number {0}", "the digit {1}", "{1}"):
        words = minilm([form.format(name, number) for number, name in enumerate(NAMES)])  # (10, 384)
        said = np.argmax(vectors["all ten"] @ words.T, axis=1)
        print(f"{form.format('three', 3):27} {np.mean(said == digits.y_test):6.1%} of the test digits correct")
    said, sevens = np.argmax(vectors["without a seven"] @ captions.T, axis=1), digits.y_test == 7
    print(f"trained without a seven: {np.mean(said[~sevens] == digits.y_test[~sevens]):.1%} of the others, {np.mean(said[sevens] == 7):.1%} of {sevens.sum()} sevens")

# %% jupyter={"source_hidden": true} tags=["drawing"]
if minilm:
    figure, panels = plt.subplots(1, 2, figsize=(9.2, 4.3), sharey=True)
    words = minilm([f"the digit {number}" for number in range(10)])
    for ax, (tower, texts, title) in zip(panels, (("all ten", words, "new words"), ("without a seven", captions, "never saw a seven")), strict=True):
        said = np.argmax(vectors[tower] @ texts.T, axis=1)
        shares = np.array([np.bincount(said[digits.y_test == kind], minlength=10) for kind in range(10)], float)
        drawn = ax.imshow(shares / shares.sum(axis=1, keepdims=True), cmap="Blues", vmin=0, vmax=1)
        ax.set(xticks=range(10), yticks=range(10), xlabel='"the digit …"' if tower == "all ten" else '"a handwritten …"', title=title)
        ax.grid(visible=False)
    figure.colorbar(drawn, ax=panels, shrink=0.8, label="share of the answers")
    panels[0].set_ylabel("images of the digit …")
    plots.show(
        figure,
        alt="""New words find most digits; a digit without pairs is found by no words. Two maps of ten by ten: a row for the images of each digit, a column for each caption, darker where more of the answers fall; each row
sums to 1. On the left the captions are new words, and most answers lie on the diagonal. On the right the tower has seen no seven: the sevens are taken for other digits, and none for a seven; the other digits lie on the diagonal.""",
    )

# %% [markdown]
# Only the ones go astray: most of them are taken for eights. Are the words to blame? Which new caption is nearest to each old one, and by how much?

# %%
if minilm:
    near = captions @ minilm([f"the digit {number}" for number in range(10)]).T  # (10 old, 10 new)
    own, other = np.diag(near), np.where(np.eye(10), -1, near).max(axis=1)
    print("its own new caption ", *(f"{cosine:.3f}" for cosine in own))
    print("the nearest other   ", *(f"{cosine:.3f}" for cosine in other))

# %% [markdown]
# Each old caption has its own new one nearest: MiniLM knows that *3* and *three* go together. But *a handwritten one* is ahead by 0.006 only, the others by 0.041 or more. (Why eights, these numbers do not say.)
#
# CLIP itself, with no label of ImageNet, is as accurate there as a ResNet-50 trained on its 1.28 million labels (Radford et al., 2021, abstract). In KerasHub it is `keras_hub.models.CLIPBackbone.from_preset("clip_vit_base_patch32")`; its `vision_logits` are these cosines, scaled.
#
# **In this toy most digits were found by words that the training never had; the digit that it never had was not found.**

# %% [markdown]
# <a id="patches-in-a-language-model"></a>
#
# ## 12 · What came after: a language model that sees
#
# A decoder reads a row of vectors ([lecture 10](10_language_model.ipynb)). They need not be words, either. Let a ViT read the photograph, take *all* its outputs, bring them to the decoder's width by one matrix, and put them in front of the question:

# %% jupyter={"source_hidden": true} tags=["drawing"]
figure, (ax, mask) = plt.subplots(1, 2, figsize=(9.6, 3.4), width_ratios=[2.2, 1])
ax.set(xlim=(0, 6.6), ylim=(0, 3.2), aspect="equal")
ax.axis("off")
for number, patch in enumerate((75, 76, 77, 78)):
    ax.imshow(row[0, patch].reshape(16, 16, 3), extent=(0.1 + 0.52 * number, 0.55 + 0.52 * number, 0.2, 0.65))
ax.set(xlim=(0, 6.6), ylim=(0, 3.2))
vit_box = diagrams.box(ax, 1.1, 1.25, "ViT", detail="(B, 196, 768)", role="query", width=1.9, height=0.5)
matrix = diagrams.box(ax, 1.1, 2.0, "one matrix", detail="(B, 196, 576)", role="accent", width=1.9, height=0.5)
words_box = diagrams.box(ax, 3.6, 0.43, "What is on the hill ?", role="neutral", width=2.3, height=0.45)
table_box = diagrams.box(ax, 3.6, 2.0, "word table", detail="(B, 6, 576)", role="key", width=2.3, height=0.5)
decoder = diagrams.box(ax, 2.6, 2.85, "decoder of a language model", detail="(B, 202, 576)", role="output", width=4.4, height=0.5)
answer_box = diagrams.box(ax, 5.8, 2.85, "answer", role="neutral", width=1.2, height=0.45)
for stops in (((1.1, 0.68), vit_box), (vit_box, matrix), (matrix, (1.1, 2.6)), (words_box, table_box), (table_box, (3.6, 2.6)), (decoder, answer_box)):
    diagrams.arrow(ax, *stops)
few = np.tril(np.ones((11, 11)))  # five patches, three words of the question, three of the answer
few[:8, :8] = 1
mask.imshow(np.where(few > 0, 0.55, 0.06), cmap="Blues", vmin=0, vmax=1)
mask.set(xticks=[2, 6, 9], yticks=[2, 6, 9])
mask.set_xticklabels(["patches", "question", "answer"])
mask.set_yticklabels(["patches", "question", "answer"])
mask.set_title("who may read whom", fontsize=10)
mask.grid(visible=False)
plots.show(
    figure,
    alt="""Patches enter a language model as tokens in front of the question. On the left four patches of the photograph go through a ViT and one matrix, (B, 196, 576); the question goes through the word table,
(B, 6, 576); the decoder reads both rows as one and writes an answer. On the right its mask: patches and question read each other, dark squares; the words of the answer read patches, question and earlier words, but nothing ahead.""",
)

# %% [markdown]
# That is the whole architecture of **LLaVA** (Liu et al., 2023) and **PaliGemma** (Beyer et al., 2024): the ViT of a CLIP or of its successor, one matrix or little more, a decoder. They train the matrix, then more, on images with questions and answers. (The mask drawn is PaliGemma's; LLaVA's decoder has lecture 8's throughout.) Mind the price: the photograph costs 196 tokens, the question six.
#
# And mind the base rate. In an early set of questions about photographs, who answered *yes* to each question that begins with *Do you see a*, with closed eyes, was correct in 87 % (Goyal et al., 2017, section 1). Before you believe that a model sees, ask it the same questions without the picture.
#
# In KerasHub, with a licence to accept and three billion parameters:
#
# ```python
# model = keras_hub.models.PaliGemmaCausalLM.from_preset("pali_gemma_3b_mix_224")
# model.generate({"images": 255 * photo, "prompts": "answer en what is on the hill?\n"})
# ```
#
# **For a language model an image is more tokens; whether it uses them, a blind control tells.**

# %% [markdown]
# ## Two mistakes
#
# **Patches by `reshape` alone.** The shape is correct, but each "patch" holds 256 consecutive pixels, from two rows of the image.

# %% jupyter={"source_hidden": true} tags=["drawing"]
strips = photo.reshape(14, 14, 768)
figure, panels = plt.subplots(1, 2, figsize=(7.0, 3.3))
for ax, cells, title in [(panels[0], grid[0], "extract_patches"), (panels[1], strips, "reshape alone")]:
    ax.imshow(spread(cells[6:10, 0:4], 16))
    ax.set_title(title)
    ax.axis("off")
plots.show(
    figure,
    alt="""Reshape alone makes strips and no patches. Sixteen patches of the photograph: cut correctly they show parts of the building; by reshape
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
# <details><summary><b>What this page does not show</b></summary>
#
# * 8 × 8 digits, one ConvNet and one ViT of its size. Which is better on photographs, and with how many of them, is [lecture 9b](09b_many_images_and_video.ipynb).
# * Both models have the same rates, not each its own best one. The moves are by two pixels; training with such moves would change the result.
# * The test of the rollout is one model's; in training it has seen no digit with holes.
# * Section 11 is one run with ten captions. The texts that made MiniLM had numbers in them, as words and as figures.
# * Sections 10 and 12 cite. The lines for KerasHub were read in the source of 0.29.1, not run with weights.
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
# | CLIP: two towers | (B, D) each, (B, B) cosines | a ViT and a text encoder |
# | in a language model | (B, N + T, D) | one matrix |
#
# Cut the patches yourself in [lab 9](../labs/09_vision_transformer/09_vision_transformer.ipynb). More images, larger images and video follow in [lecture 9b](09b_many_images_and_video.ipynb); DeiT, Swin, T2T and MaxViT are in the [evidence](evidence/09.ipynb#family).
#
# **An image is a sentence of patches.**
#
# ## References
#
# * A. Dosovitskiy et al., *An image is worth 16x16 words*, ICLR 2021, arXiv:2010.11929: equations 1–4, table 1, figure 7.
# * S. Abnar, W. Zuidema, *Quantifying attention flow in Transformers*, ACL 2020: section 3 (rollout).
# * M. Caron et al., *Emerging properties in self-supervised Vision Transformers*, ICCV 2021, arXiv:2104.14294: section 3.1 (DINO). M. Oquab et al., *DINOv2*, TMLR 2024, arXiv:2304.07193.
# * A. Radford et al., *Learning transferable visual models from natural language supervision*, ICML 2021, arXiv:2103.00020 (CLIP). X. Zhai et al., *LiT: zero-shot transfer with locked-image text tuning*, CVPR 2022, arXiv:2111.07991: one tower fixed, as in section 11, there that of the images.
# * H. Liu et al., *Visual instruction tuning*, NeurIPS 2023, arXiv:2304.08485 (LLaVA). L. Beyer et al., *PaliGemma*, 2024, arXiv:2407.07726. Y. Goyal et al., *Making the V in VQA matter*, CVPR 2017, arXiv:1612.00837.
# * E. Alpaydin, C. Kaynak, *Optical recognition of handwritten digits*, UCI Machine Learning Repository, 1998. MiniLM: [lecture 7](07_bert_ag_news.ipynb).
#
# <details><summary>If something looks wrong, runs slowly, or you want more</summary>
#
# **Symptoms.** Low accuracy: pixels not from 0 to 1, or patches by `reshape`. Parameters off by D or 2D: the class token or its position row is missing.
#
# **Slow machine:** 40 epochs in section 7. **GPU:** the cells run unchanged; for half precision set the policy "mixed_float16" before the models are built.
#
# **More.** P. Lippe, [*UvA Deep Learning Tutorials*, 15](https://uvadlc-notebooks.readthedocs.io/en/latest/tutorial_notebooks/tutorial15/Vision_Transformer.html): a ViT on CIFAR-10 with a checkpoint. T. Darcet et al., [*Vision Transformers need registers*](https://arxiv.org/abs/2309.16588): what large ViTs keep in patches of empty sky.
#
# </details>

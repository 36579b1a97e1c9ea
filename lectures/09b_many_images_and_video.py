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
# # 9b · More images, larger images, video
#
# **What is not built in must be learned: from more images, or with a stronger recipe.**
#
# [← 9 · Vision Transformer](09_vision_transformer.ipynb) · [Lab
# 9](../labs/09_vision_transformer/09_vision_transformer.ipynb) · [10 · A language model of your own →](10_language_model.ipynb)
#
# A ConvNet knows before its first image that neighbouring pixels belong together, and that a shape may stand anywhere. A Vision Transformer has to learn nearly all of this. **How many images is that knowledge worth?** Write down a factor. The answer comes in ten minutes, from a ConvNet that reads scrambled images.
#
# **Afterwards you can**
#
# * compare two architectures by the images that they need for the same accuracy, and say with a control where a lead comes from;
# * give a trained model larger images, and say what happens to its position table;
# * build a video Transformer of tubelets;
# * test whether it reads a motion inside a tubelet or by attention over time.
#
# This optional page is the second part of [lecture 9](09_vision_transformer.ipynb), and **you need** the first. **Time:** about 47 minutes to read and predict (estimated, not measured); the code runs in about two minutes on two CPU
# cores. Letters: **B** batch, **h**, **w** rows and columns of pixels, **f** frames, **C** channels, **P** patch size, **N** patches, **D** width.

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

quiet.start_tensorflow()  # keeps its start-up messages out of the notebook
from coursekit import diagrams, digit_images, plots, recorded
from coursekit.moving_digits import clips

import keras
import matplotlib.pyplot as plt
import numpy as np
import tensorflow as tf
from keras import layers, ops
from matplotlib.patches import Rectangle
from sklearn.datasets import load_sample_image

from coursekit.pages.vision_transformer import plain_vit

plots.use_course_style()
tf.get_logger().setLevel("ERROR")  # no advice on retracing
digits = digit_images.split()
print("this page ran on:", "GPU" if tf.config.list_physical_devices("GPU") else "CPU")

# %% jupyter={"source_hidden": true} tags=["drawing"]
figure, ax = diagrams.canvas(9.6, 3.3)
rows = (
    (2.75, "more images", "(B, h, w, C), more batches", "patches", "(B, N, D)", "positions", "(N + 1, D)", "neutral"),
    (1.65, "larger images", "(B, 2h, 2w, C)", "patches", "(B, 4N, D)", "positions", "(4N + 1, D)", "accent"),
    (0.55, "video", "(B, f, h, w, C)", "tubelets", "(B, Nf/2, D)", "positions, moments", "(f/2 + N, D)", "key"),
)  # fmt: skip
encoder = diagrams.box(ax, 7.2, 1.65, "encoder", detail="lecture 9's blocks", role="query", width=1.5, height=2.8)
diagrams.note(ax, 8.85, 0.5, "video: the blocks may\nalso attend over time", fontsize=9)
head = diagrams.box(ax, 8.9, 1.65, "head", detail="(B, K)", role="output", width=1.1)
diagrams.arrow(ax, encoder, head)
for y, name, shape, cut, tokens, table, size, role in rows:
    first = diagrams.box(ax, 1.05, y, name, detail=shape, width=2.1)
    second = diagrams.box(ax, 3.1, y, cut, detail=tokens, role="key" if cut == "tubelets" else "neutral", width=1.4)
    third = diagrams.box(ax, 5.1, y, f"+ {table}", detail=size, role=role, width=2.0)
    diagrams.arrow(ax, first, second)
    diagrams.arrow(ax, second, third)
    diagrams.arrow(ax, third, (6.45, y))
plots.show(
    figure,
    alt="""Three ways to give a Vision Transformer more to read, and what changes. With more images no shape changes. With images twice as large there are four times as many patches, and the position table, in red, no longer fits.
A video is cut into tubelets instead of patches, and gets positions and moments. The blocks are lecture 9's; for video they may get a second attention, over time. A head reads the result.""",
)

# %% [markdown]
# <a id="more-images"></a>
#
# ## 1 · How many images is it worth?
#
# Count in images. The fewer a model needs for a given accuracy, the higher is its **data efficiency**. Two sets: Fashion-MNIST (Xiao et al., 2017; clothes, 28 × 28, grey; 16 patches of 7 × 7) and CIFAR-10 (Krizhevsky, 2009; animals and vehicles, 32 × 32, colour; 64 patches of 4 × 4). A ViT and a ConvNet with the same number of parameters, within 1 %, are trained alike, with 500 to 32,000 images:

# %% jupyter={"source_hidden": true} tags=["setup"]
runs = [run for run in recorded.load("vit_against_convnet")["results"]["runs"] if not run["augmentation"]]


def column(dataset, model):
    """Recorded test accuracies by number of images: {images: (seeds,)}."""
    found = {}
    for run in runs:
        if (run["dataset"], run["model"]) == (dataset, model):
            found.setdefault(run["images"], []).append(run["test"])
    return {images: np.array(found[images]) for images in sorted(found)}


def factors(dataset, images):
    """How many times as many images the ViT needs as the ConvNet with so many: each line of the ViT, each height."""
    vit = column(dataset, "vit")
    lines = [[tests[seed % len(tests)] for tests in vit.values()] for seed in range(max(map(len, vit.values())))]
    heights = column(dataset, "convnet")[images]
    at = [np.exp(np.interp(height, line, np.log(list(vit)), right=np.inf)) for line in lines for height in heights]
    return np.array(at) / images


for dataset in ("fashion_mnist", "cifar10"):
    vit, convnet = (column(dataset, model) for model in ("vit", "convnet"))
    line = "  ".join(f"{images:6,}: {vit[images].mean():.1%} / {convnet[images].mean():.1%}" for images in vit)
    print(f"{dataset:13}  ViT / ConvNet correct, by images  {line}")
trained_out = recorded.load("tuned_on_cifar")["results"]
for model, images in (("vit", 2_000), ("convnet", 500)):
    chosen = model, images, trained_out["rates"][f"{model}, {images}"]
    tests = [run["test"] for run in trained_out["runs"] if (run["model"], run["images"], run["rate"]) == chosen]
    print(f"cifar10, trained until it stops improving, {model:8}{images:6,} images:", *(f"{test:.1%}" for test in sorted(tests)))

# %% jupyter={"source_hidden": true} tags=["drawing"]
figure, panels = plt.subplots(1, 2, figsize=(10, 4.2))
for ax, (dataset, title) in zip(panels, (("fashion_mnist", "Fashion-MNIST"), ("cifar10", "CIFAR-10")), strict=True):
    for line, (model, name) in enumerate({"convnet": "ConvNet", "vit": "ViT"}.items()):
        scores_of = column(dataset, model)
        low, middle, high = (np.array([edge(values) for values in scores_of.values()]) for edge in (np.min, np.mean, np.max))
        ax.errorbar(list(scores_of), middle, yerr=[middle - low, high - middle], capsize=4, **plots.LINES[line])
        ax.text(36_000, middle[-1], name, color=plots.LINES[line]["color"], va="center", fontsize=12)
    vit = [values.mean() for values in column(dataset, "vit").values()]
    for images in (500, 2_000):
        times, height = factors(dataset, images), column(dataset, "convnet")[images].mean()
        end = np.exp(np.interp(height, vit, np.log(list(scores_of)), right=np.inf))  # where the ViT's line of means has this height
        reached = np.isfinite(end)
        words = f"{times.min():.0f} to {times.max():.0f} times" if np.isfinite(times).all() else f"{times.min():.0f} times or more"
        print(f"{title}, ConvNet with {images:,}: {height:.1%}; the ViT needs {words} as many; the lines of means: {f'{end / images:.1f}' if reached else f'more than {32_000 / images:.0f}, outside the range'}")
        ax.annotate("", (end if reached else 32_000, height), (images, height), arrowprops={"arrowstyle": "->" if reached else "-", "linestyle": "-" if reached else "--", "color": diagrams.PALETTE["ink"], "linewidth": 1.5})
        ax.annotate(words, (end if dataset == "fashion_mnist" else images, height), (7, -5), textcoords="offset points", va="top", fontsize=11)
    ax.set(xscale="log", xlabel="labelled images", title=title, xlim=(400, 90_000))
    ax.set_xticks(list(scores_of), [f"{images:,}" for images in scores_of])
    ax.minorticks_off()
panels[0].set_ylabel("test accuracy")
plots.show(
    figure,
    alt="""To match the ConvNet the ViT needs several times as many images. Two panels, Fashion-MNIST and CIFAR-10: test accuracy against the number of labelled images, 500 to 32,000. Both lines rise; the ConvNet
lies above the ViT everywhere. In each panel two arrows lead from the ConvNet, with 500 and with 2,000 images, to the line of the ViT at the same height; the dashed one, in the right panel, ends at the last point of the ViT, which lies a little lower. The labels say how many times as many images that is, over all pairs of seeds. Means, with the range where there are two or three seeds.""",
)

# %% [markdown]
# The ConvNet is ahead at every size. The fairest comparison trains both until they stop improving, each at the best of three rates: the ViT with 2,000 images of CIFAR-10 has 32.4 to 33.7 %, the ConvNet with 500 has 40.4 to 41.1 % ([evidence](evidence/09.ipynb#own-rate)). So here the ViT needs more than four times as many.
#
# The arrows give larger factors: eight to thirteen times for 500 images of CIFAR-10 (for 500 clothes two to four). But their runs end at an epoch set in advance, and with 32,000 images six epochs are too few for either model: these factors measure the training time, too. With moved and mirrored images the eight to thirteen become three to seven.
#
# Is that because of what is built into a ConvNet ([lecture 9](09_vision_transformer.ipynb#inductive-bias))? The two models differ in depth, width, norms and head, too. So change nothing but the *images*. Scramble all of CIFAR-10 in the same way: the ViT's patches change places, and inside every patch the pixels change places, *by one and the same rule in all patches and all images*. Here is what that does to lecture 9's palace:

# %% jupyter={"source_hidden": true} tags=["drawing"]
photo = load_sample_image("china.jpg")[:, 110:537].astype("float32") / 255
photo = np.asarray(ops.image.resize(photo, (128, 128), antialias=True)).clip(0, 1)
rng = np.random.default_rng(0)
cells = photo.reshape(8, 16, 8, 16, 3).swapaxes(1, 2).reshape(64, 256, 3)  # 64 patches of 16 × 16 pixels
mixed = cells[rng.permutation(64)][:, rng.permutation(256)].reshape(8, 8, 16, 16, 3).swapaxes(1, 2).reshape(128, 128, 3)
figure, panels = plt.subplots(1, 2, figsize=(6.4, 3.3))
for ax, picture, title in ((panels[0], photo, "as it is"), (panels[1], mixed, "scrambled")):
    ax.imshow(picture, interpolation="nearest")
    ax.set_title(title)
    ax.axis("off")
plots.show(
    figure,
    alt="""Every pixel is still there. The photograph of a Chinese palace, and the same photograph after its patches of 16 by 16 pixels have changed places and the pixels inside each patch, too: a carpet of
specks in the colours of roof, stone and sky, in which no shape can be seen.""",
)

# %% [markdown]
# **Predict.** Suppose that both models are trained anew on scrambled images, and tested on scrambled images. Which of them notices?
#
# - (a) neither: all the information is there
# - (b) the ConvNet only
# - (c) both
#
# <details><summary>Answer</summary>
#
# **(b)** For the ViT nothing has changed: put the rows of its projection and of its position table in the new order, and it gives the same answers. Both start as noise, so one order is as good as another; it need not even be trained again. The ConvNet's windows now hold pixels from anywhere.
#
# </details>

# %% jupyter={"source_hidden": true} tags=["setup"]
scrambled = {}
for run in recorded.load("built_in")["results"]["runs"]:
    scrambled.setdefault(run["images"], []).append(run["test"])
print("CIFAR-10, correct, mean (three seeds)" + "".join(f"{images:12,} images      " for images in scrambled))
tables = {"ConvNet": column("cifar10", "convnet"), "ConvNet, scrambled images": scrambled, "ViT": column("cifar10", "vit")}
for name, tests in tables.items():
    each = {images: " ".join(f"{100 * test:.1f}" for test in sorted(tests[images])) for images in scrambled}
    print(f"{name:38}" + "   ".join(f"{np.mean(tests[images]):.1%} ({each[images]})" for images in scrambled))
whole, mixed_up, vit = (np.array([np.mean(tests[images]) for images in scrambled]) for tests in tables.values())
print("of the lead over the ViT, scrambling takes", *(f"{share:.0%}" for share in (whole - mixed_up) / (whole - vit)))


# %% [markdown]
# Read along the middle line. With 2,000 scrambled images the ConvNet has what it has with 500 whole ones. So at this size the order of the pixels (neighbours that belong together, shapes that look alike wherever they stand) is worth about four times as many images to it: one crossing, on one set. That answers the question, with an upper bound. A scrambled ConvNet does not lack the assumption that neighbours belong together: for its images the assumption is *false*, and this may do harm of its own. By the means the scrambling takes 55 and 59 % of the lead over the ViT, with 500 and with 2,000 images; what makes the rest, this control does not say ([evidence](evidence/09.ipynb#built-in)).
#
# **Here, what the order of the pixels gives a ConvNet is worth at most about four times as many images, and about half of its lead.**

# %% [markdown]
# <a id="larger-images"></a>
#
# ## 2 · The same model, larger images
#
# A ViT that was trained at 224 pixels is often fine-tuned at 384. The patches keep their size, so there are more of them: 24 · 24 = 576 instead of 14 · 14 = 196 with P = 16. The projection, the blocks and the head fit as they are, since none of their shapes contains N; the position table does not. The paper (section 3.2) treats its rows as a picture of 14 × 14 positions with D channels, and enlarges this picture; the class token's row stays.

# %%
def enlarged(table, times):
    """A position table (1 + s², D) for images `times` as large, (1 + (times·s)², D): interpolated in two dimensions."""
    side, width = round((len(table) - 1) ** 0.5), table.shape[1]
    grid = ops.image.resize(table[1:].reshape(side, side, width), (times * side, times * side))  # bilinear
    return np.concatenate([table[:1], np.asarray(grid).reshape(-1, width)])


# %% [markdown]
# The same in small: digits enlarged to 16 × 16 pixels have 64 positions, and the table has rows for 16. Four ways to get more:
#
# | table | its 64 rows |
# |---|---|
# | in two dimensions | the 4 × 4 positions as a picture, enlarged to 8 × 8 |
# | in one dimension | the 16 rows as a line, stretched to 64 |
# | shuffled | the 64 rows of "in two dimensions", in random order |
# | fresh | noise, as at the start of the training |

# %% [markdown]
# **Predict.** Which tables beat the fresh one *before* any further training? And which is best after five epochs at the new size?
#
# <details><summary>Answer</summary>
#
# The table enlarged in two dimensions: 81 to 89 % with four seeds, without a single step. Shuffled and fresh rows have 5 to 16 %. The stretched line has 25 to 29 %, with every seed more than noise. After five epochs the first is still ahead with every seed.
#
# </details>

# %% jupyter={"source_hidden": true} tags=["setup"]
def table_of(way, table, times=2):
    """The rows of the four ways, from a trained table (1 + s², D)."""
    rng, rows = np.random.default_rng(0), enlarged(table, times)[1:]
    if way == "in one dimension":
        line = ops.image.resize(table[1:].reshape(1, len(table) - 1, -1), (1, len(rows)))
        rows = ops.convert_to_numpy(line).reshape(rows.shape)
    elif way == "shuffled":
        rows = rng.permutation(rows)
    elif way == "fresh":
        rows = rng.normal(scale=0.02, size=rows.shape)
    return np.concatenate([table[:1], rows]).astype("float32")


def larger(x):
    return ops.convert_to_numpy(ops.image.resize(x, (16, 16), interpolation="bilinear"))


wide = digits._replace(x_fit=larger(digits.x_fit), x_watch=larger(digits.x_watch), x_test=larger(digits.x_test))
WAYS = ("in two dimensions", "in one dimension", "shuffled", "fresh")


# %%
def digit_reader(side):
    """Lecture 9's ViT for digits of side × side pixels, patches of 2 × 2."""
    keras.utils.set_random_seed(1)
    return plain_vit((side, side, 1), patch=2, width=64, heads=4, hidden=128, blocks=2, classes=10)[0]


small, read_larger = digit_reader(8), {}
digit_images.train(small, digits, epochs=40, rate=4e-3)
for way in WAYS:
    grown = digit_reader(16)
    grown.set_weights([table_of(way, a) if a.shape == (17, 64) else a for a in small.get_weights()])  # the table alone
    before = (digit_images.answers(grown, wide.x_test) == digits.y_test).mean()
    digit_images.train(grown, wide, epochs=5, rate=1e-3)
    read_larger[way] = [before, (digit_images.answers(grown, wide.x_test) == digits.y_test).mean()]

# %% jupyter={"source_hidden": true} tags=["drawing"]
others = recorded.load("lecture_seeds")["results"]["09b_many_images_and_video"]
print(f"{'digits of 16 × 16 correct':28}{'before further training':26}after five epochs (this page, then seeds {', '.join(others)})")
grown_by = {way: np.array([read_larger[way]] + [run["larger"][way] for run in others.values()]) for way in WAYS}  # (seeds, 2)
for way, rows in grown_by.items():
    line = ["  ".join(f"{share:.0%}" for share in rows[:, 0]), "  ".join(f"{share:.1%}" for share in rows[:, 1])]
    print(f"{way:28}{line[0]:26}{line[1]}")
figure, panels = plt.subplots(1, 2, figsize=(8.6, 2.9), sharex=True, sharey=True)
for step, (ax, title) in enumerate(zip(panels, ("before further training", "after five epochs"), strict=True)):
    for line, rows in enumerate(grown_by.values()):
        ax.scatter(rows[:, step], [line] * len(rows), color=plots.LINES[line]["color"], s=30)
    ax.axvline(0.1, color=diagrams.PALETTE["ink"], linewidth=1)
    ax.set(title=title, xlabel="digits of 16 × 16 correct", xlim=(0, 1.02))
panels[0].set_yticks(range(4), WAYS)
panels[0].set_ylim(3.5, -0.5)
panels[0].text(0.115, -0.28, "chance", fontsize=8)
plots.show(
    figure,
    alt="""Enlarged as a picture, the table works best at once. Two panels with four rows of dots, a row for each table, a dot for each of four seeds. Before further training the
dots of the table enlarged in two dimensions lie far to the right of all others. After five epochs all have moved to the right, and this table still lies furthest.""",
)

# %% [markdown]
# The shuffled table is the control: it holds the *same* rows in another order. Before further training it does no better than noise (10 and 12 % on average), and after five epochs it is worse in three of four seeds (83 against 88 %). So the model relies on which row stands where. (A model with rotary positions, [lecture 5](05_positional_encoding.ipynb), has no such table.)
#
# **Of all parameters only the position table depends on the size of the images, and it can be enlarged as a picture.**

# %% [markdown]
# <a id="full-size"></a>
#
# ## 3 · At full size
#
# Does the ViT overtake with still more images? After pre-training on 9 million images of JFT (Google's own unpublished set) a ViT-B/32 was far below a ResNet-50, and from 90 million on it was above it (Dosovitskiy et al., 2021, section 4.3, a linear classifier on a few labelled images).
#
# A recipe can stand in for images: with strong augmentation ImageNet alone takes a Base model at 384 pixels to 83.1 % (DeiT; Touvron et al., 2021), where the first paper has 77.9 % (table 5). With equal computing NFNets, newer ConvNets, match ViTs (Smith et al., 2023; [tables](evidence/09.ipynb#published)).
#
# **Published: a ViT-B/32 is behind a ResNet-50 after 9 million images, and ahead of it after 90 million.**

# %% [markdown]
# <a id="video"></a>
#
# ## 4 · Video: tubelets
#
# A video has one more axis: (B, f, h, w, C). **ViViT** (Arnab et al., 2021) cuts it into **tubelets**, blocks of a few frames by P by P pixels, and projects each to one token: a 3-D convolution that steps by its own size.

# %% jupyter={"source_hidden": true} tags=["drawing"]
broad = np.pad(digits.x_test[np.flatnonzero(digits.y_test == 3)[0], 1:7, 1:7, 0], ((1, 1), (6, 6)))  # a three on a broad background
clip = np.stack([broad[:, 6 - step : 14 - step] for step in range(6)])  # (f, h, w), it moves to the right
figure, ax = diagrams.canvas(9.6, 3.2)
accent = diagrams.PALETTE["accent"]
for frame in reversed(range(6)):
    x, y = 0.1 + 1.58 * frame, 0.6 + 0.15 * frame
    ax.imshow(1 - clip[frame], cmap="gray", extent=(x, x + 1.5, y, y + 1.5), zorder=6 - frame, vmin=0, vmax=1)
    for part in (0, 0.375, 0.75, 1.125, 1.5):
        line = {"color": diagrams.PALETTE["ink" if part in (0, 1.5) else "residual"], "linewidth": 1, "zorder": 6.5 - frame}
        ax.plot([x + part] * 2, [y, y + 1.5], **line)
        ax.plot([x, x + 1.5], [y + part] * 2, **line)
    if frame < 2:
        ax.add_patch(Rectangle((x, y + 1.125), 0.375, 0.375, facecolor=accent, edgecolor=accent, alpha=0.5, zorder=7))
ax.set(xlim=(0, 9.6), ylim=(0, 3.2))
diagrams.note(ax, 1.4, 2.75, "one tubelet, one token:\n2 frames × 2 × 2 pixels", fontsize=10)
diagrams.arrow(ax, (2.0, 0.35), (9.3, 1.04))
diagrams.note(ax, 6.0, 0.45, "time, f frames", fontsize=10)
plots.show(
    figure,
    alt="""A tubelet is a patch that lasts for a few frames. Six frames of a short video, side by side: a handwritten digit moves to the right, from the first three columns of patches to the last two. Each frame is
divided into 4 by 4 patches. A red square covers the top left patch of the first two frames: one tubelet, one token.""",
)

# %%
tubelets = layers.Conv3D(32, kernel_size=(2, 2, 2), strides=(2, 2, 2))
grid = tubelets(clip[None, ..., None].astype("float32"))  # (B, f/2, h/P, w/P, D)
print("clip", clip.shape, "→ grid of tubelets", tuple(grid.shape), "→", np.prod(grid.shape[1:4]), "tokens")


# %% [markdown]
# **By hand.** A clip of 32 frames of 224 × 224 pixels, tubelets of 2 × 16 × 16. How many tokens are there? How many scores does one head compute if all tokens read each other (*joint*)? And how many if each token reads first those of its own *moment* (the tubelets of the same frames), and then those at its own position (*factorised*)?
#
# <details><summary>Answer</summary>
#
# There are 16 moments of 14 · 14 = 196 positions, so 16 · 196 = 3,136 tokens. Joint: 3,136 · 3,136 = 9,834,496 scores. Factorised: 3,136 · (196 + 16) = 664,832, one fifteenth.
#
# </details>

# %% [markdown]
# In Keras the argument `attention_axes` says along which axes tokens read each other. Which of the 48 tubelets above can one output token read? Its gradient tells:

# %%
def read_along(axes, x):
    """Tokens (B, moments, positions, D) read each other along these axes: pre-norm attention and its residual."""
    normed = layers.LayerNormalization(epsilon=1e-6)(x)
    return x + layers.MultiHeadAttention(4, x.shape[-1] // 4, attention_axes=axes)(query=normed, value=normed)


# %% jupyter={"source_hidden": true} tags=["setup"]
x = tf.constant(ops.reshape(grid, (1, 3, 16, 32)))  # 3 moments of 4 × 4 positions
for name, steps in {"joint": [(1, 2)], "own moment only": [(2,)], "own moment, then time": [(2,), (1,)]}.items():
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x
        for axes in steps:
            y = read_along(axes, y)
        one = ops.sum(y[0, 0, 0])  # one output token
    reached = ops.any(tape.gradient(one, x)[0] != 0, axis=-1)  # (moments, positions)
    print(f"{name:22} {int(ops.sum(reached)):2} of 48 tubelets")


# %% [markdown]
# Two cheap steps reach every tubelet, as the expensive one does; but one at another position *and* another moment is read only through a third, which has its moment and my position.

# %% [markdown]
# The whole model has lecture 9's blocks; in a factorised model each has a second attention, over time. Before the first block each token gets a learned vector of its moment and one of its position (in the fold).

# %% jupyter={"source_hidden": true} tags=["setup"]
class PlainClipPositions(keras.Layer):
    """Add to tokens (B, moments, positions, D) a learned vector of their moment and one of their position."""

    def build(self, shape):
        _, moments, positions, width = shape
        start = keras.initializers.RandomNormal(stddev=0.02)
        self.moments = self.add_weight(shape=(moments, 1, width), initializer=start, name="moments")
        self.positions = self.add_weight(shape=(1, positions, width), initializer=start, name="positions")

    def call(self, x):
        return x + self.moments + self.positions


# %%
def plain_video_reader(frames, kind, width=48, hidden=96, blocks=2):
    """Clips (B, 8, 12, 12, 1) to logits (B, 4), by tubelets of so many frames × 4 × 4 pixels."""
    clips = keras.Input((8, 12, 12, 1))
    x = layers.Conv3D(width, (frames, 4, 4), strides=(frames, 4, 4))(clips)  # (B, moments, 3, 3, D)
    x = PlainClipPositions()(layers.Reshape((-1, 9, width))(x))  # (B, moments, positions, D)
    for _ in range(blocks):
        x = read_along((2,), x)  # the positions of the own moment
        if kind == "factorised":
            x = read_along((1,), x)  # the own position at all moments
        normed = layers.LayerNormalization(epsilon=1e-6)(x)
        x = x + layers.Dense(width)(layers.Dense(hidden, activation="gelu")(normed))
    x = layers.LayerNormalization(epsilon=1e-6)(x)
    return keras.Model(clips, layers.Dense(4)(ops.mean(x, axis=(1, 2))))  # the head reads the mean of all tokens


# %% [markdown]
# Does it need this attention over time? In the next clips only the motion shows the class: a handwritten digit moves up, down, left or right by one or two pixels a frame, and what leaves at one edge comes in at the opposite one (8 frames of 12 × 12 pixels). A single frame shows nothing of the class. All frames without their order show at most the axis: an upward clip run backwards is a downward clip. So guessing has 25 %, and without the order no model can expect more than 50 %.
#
# Four models are trained alike: tubelets of two frames or of one, attention to the own moment only or factorised (with about half as many parameters again).

# %% [markdown]
# **Predict.** Which of the four learn the directions? And which of them still know the direction when the moments are shuffled (inside a moment the frames keep their order)?
#
# <details><summary>Answer</summary>
#
# With two frames both do, even the one without attention over time: at least 99.9 %, and as much when the moments are shuffled.
#
# With tubelets of one frame only the factorised model learns them: 99.6, 54.0 and 99.1 % with three seeds (with the second, little more than the axis), and 49 to 51 % when the moments are shuffled. Without attention over time it is 25.1 to 26.5 %.
#
# </details>

# %% jupyter={"source_hidden": true} tags=["setup"]
order = np.random.default_rng(0).permutation(1_797)  # no drawing of a digit is in both sets
x_clips, y_clips = clips(2_000, order[:1_300], np.random.default_rng(1))  # (n, f, h, w, 1), (n,)
x_new, y_new = clips(1_000, order[1_300:], np.random.default_rng(0))

# %% [markdown]
# The two without attention over time, trained here on 2,000 clips:

# %%
for frames in (2, 1):
    keras.utils.set_random_seed(1)
    reader = plain_video_reader(frames, "own moment only")
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    reader.compile(keras.optimizers.AdamW(2e-3), loss=loss, jit_compile=False)
    reader.fit(x_clips, y_clips, batch_size=64, epochs=5, verbose=0)
    print(f"tubelets of {frames}, own moment only: {(digit_images.answers(reader, x_new) == y_new).mean():.1%} of new clips correct")

# %% [markdown]
# All four, recorded: 4,000 clips, six epochs, three seeds, 1,000 new clips:

# %% jupyter={"source_hidden": true} tags=["drawing"]
video = recorded.load("moving_digits")["results"]
measures = {"in order": "right", "moments shuffled": "right, tubelets shuffled", "each tubelet backwards": "right, each tubelet backwards"}
names = {(2, "own moment only"): "two frames,\nown moment only", (2, "factorised"): "two frames,\nfactorised", (1, "own moment only"): "one frame,\nown moment only", (1, "factorised"): "one frame,\nfactorised"}
figure, ax = plt.subplots(figsize=(8.6, 3.1))
print("tubelets of, attention           " + "  ".join(f"{name:22}" for name in measures) + "  each tubelet backwards: opposite answer")
for place, ((frames, kind), name) in enumerate(names.items()):
    found = [run for run in video["runs"] if (run["tubelet"], run["kind"]) == (frames, kind)]
    each = np.array([[run[measure]["share"] for run in found] for measure in (*measures.values(), "opposite answer, each tubelet backwards")])  # (4, seeds)
    columns = [" ".join(f"{share:.1%}" for share in shares) for shares in each]
    if frames == 1:  # a single frame turned round is itself
        each, columns = each[:2], [*columns[:2], "– (one frame)", "–"]
    print(f"{name.replace(chr(10), ' '):33}" + "  ".join(f"{column:22}" for column in columns))
    for which, shares in enumerate(each[:3]):  # a dot for each seed
        label = list(measures)[which] if place == 0 else None
        across = place + 0.28 * (which - 1) + 0.07 * (np.arange(len(shares)) - 1)
        ax.scatter(across, shares, s=26, marker="os^"[which], color=plots.LINES[which]["color"], label=label, zorder=3)
for height, meaning in ((0.25, "guessing"), (0.5, "the most without the order")):
    ax.axhline(height, color=diagrams.PALETTE["ink"], linestyle="--", linewidth=1)
    ax.text(3.55, height, meaning, fontsize=10, va="center")
ax.set_xticks(range(4), list(names.values()))
ax.set(ylabel="clips correct", ylim=(-0.05, 1.05))
ax.set_xlim(-0.5, 3.5)
ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
plots.show(
    figure,
    alt="""A motion inside a moment needs no attention over time; one across moments was learned only with it. Four groups of dots, a group for each model, a dot for each of three seeds. Tubelets of two frames, own moment only and factorised: in order and with moments shuffled nearly 1, each tubelet backwards nearly 0. One frame, own moment only: all dots near guessing. One
frame, factorised: in order nearly 1 with two seeds and a little above 0.5 with the third, moments shuffled about 0.5. Dashed lines mark guessing, 0.25, and the most without the order, 0.5.""",
)

# %% [markdown]
# With two frames in a tubelet one moment shows the direction: turn each tubelet round, and at least 99.9 % of the answers become the opposite ones.
#
# With one frame and no attention over time the logits are a mean of votes, one for each moment. A vote sees one frame, and the digit starts anywhere and wraps round: a frame is equally likely in all four classes. So the model can only guess.
#
# <details><summary>Why no votes cost less than guessing, $\ln 4$</summary>
#
# Let $v$ be the mean of a clip's votes and $m$ its expectation, the same for all four classes. The cross-entropy $\ell_c$ of class $c$ is convex in the logits, so by Jensen's inequality $\operatorname{E}\,\ell_c(v) \ge \ell_c(m)$. And $\tfrac14 \sum_c \ell_c(m) \ge \ln 4$, with equality where the four logits are equal. Below this, training can only learn clips by heart.
#
# </details>
#
# With one frame, factorised, shuffling leaves 50 %. Only the direction is lost: the axis is still right in at least 99 % ([evidence](evidence/09.ipynb#time)).
#
# On real videos it depends on the videos: against joint attention, a TimeSformer that reads each frame alone loses 0.5 points on Kinetics-400, where one frame often shows the class, and 21.9 on Something-Something-V2, where the motion does (Bertasius et al., 2021, table 1).
#
# **A motion inside one moment needs no attention over time; one across moments was learned only with it. To see which a model reads, shuffle the moments; then turn each tubelet round.**

# %% [markdown]
# ## Two mistakes
#
# **The table is stretched as a line, and the class token's row with it.** Nothing raises an error. A table in which row k holds the number k shows it:

# %%
numbered = np.arange(5.0)[:, None]  # (1 + 2², 1): row 0 is the class token's
print("correct:", enlarged(numbered, 2)[:, 0].round(2))
stretched = np.asarray(ops.image.resize(numbered[None], (1, 17)))[0, :, 0]
print("wrong:  ", stretched.round(2))

# %% [markdown]
# **Tubelets by `reshape` alone.** A reshape keeps the numbers in their order in memory. Fill frame k with the number k, and print one tubelet:

# %%
frames = np.broadcast_to(np.arange(4)[:, None, None], (4, 4, 4))  # (f, h, w)
print("wrong:  ", frames.reshape(-1, 8)[0], " only frame 0")
cut = frames.reshape(2, 2, 2, 2, 2, 2).transpose(0, 2, 4, 1, 3, 5)  # moments, rows, columns; then what lies in one
print("correct:", cut.reshape(-1, 8)[0], " two frames of 2 × 2")

# %% [markdown]
# ## Four questions
#
# <details><summary>1. A ViT-B/16 (D = 768) goes from 224 to 384 pixels. How many numbers does its position table have before and after?</summary>
#
# 197 · 768 = 151,296 before and 577 · 768 = 443,136 after. No other parameter changes its shape.
#
# </details>
#
# <details><summary>2. “ViTs need more data than ConvNets.” What would you ask?</summary>
#
# For which accuracy, and how many images does each need for it? How was each tuned: rate, epochs, augmentation? And which control says that the lead comes from what is built in?
#
# </details>
#
# <details><summary>3. A shuffled position table does no better than noise. Why is that a better control than noise alone?</summary>
#
# It has the same rows as the good table; only their order differs.
#
# </details>
#
# <details><summary>4. A model with tubelets of two frames has the same accuracy when the moments are shuffled. Does it ignore time?</summary>
#
# Not necessarily: it may read the motion inside each tubelet. Turn each round to see.
#
# </details>
#
# <details><summary><b>What this page does not show</b></summary>
#
# * Section 1 is for one ViT and one ConvNet. In its search a rate at the edge did as well as the chosen one, or better.
# * Scrambled images leave a ConvNet its colours and its mean over the image. The control has 500 and 2,000 images of one set.
# * Section 2: digits of 8 × 8 pixels, four seeds. Each enlarged patch shows a quarter of what it did; why the old projection reads it all the same was not tested. In the ViT paper the head may read the mean of the patches as well as the class token, with a rate of its own; on these digits no difference was found ([evidence](evidence/09.ipynb#head-reads)).
# * Section 4: made-up clips in which nothing but the motion differs.
#
# </details>
#
# ## Summary
#
# | step | remember |
# |---|---|
# | more images | to a ConvNet with 2,000 images of CIFAR-10 the order of the pixels is worth at most about four times as many |
# | larger images | only the position table changes its shape; enlarge it as a picture |
# | full size | between 9 and 90 million images a ViT-B/32 overtakes a ResNet-50 (published) |
# | video | tubelets are tokens; what no single moment shows was learned only with attention over time |
#
# Cut patches and tubelets yourself in [lab 9](../labs/09_vision_transformer/09_vision_transformer.ipynb).
#
# **What is not built in must be learned: from more images, or with a stronger recipe.**
#
# ## References
#
# * A. Dosovitskiy et al., *An image is worth 16x16 words*, ICLR 2021, arXiv:2010.11929: sections 3.2 and 4.3, table 5, appendix D.3. A. Arnab et al., *ViViT: a video Vision Transformer*, ICCV 2021. G. Bertasius, H. Wang, L. Torresani, *Is space-time attention all you need for video understanding?*, ICML 2021, arXiv:2102.05095 (TimeSformer).
# * H. Touvron et al., *Training data-efficient image Transformers*, ICML 2021 (DeiT). S. L. Smith et al., *ConvNets match Vision Transformers at scale*, 2023, arXiv:2310.16764.
# * H. Xiao, K. Rasul, R. Vollgraf, *Fashion-MNIST*, 2017, arXiv:1708.07747. A. Krizhevsky, *Learning multiple layers of features from tiny images*, 2009.
#
# <details><summary>If something looks wrong, runs slowly, or you want more</summary>
#
# **Symptoms.** After enlarging, few digits are correct: the table was stretched as a line. Video accuracy unchanged by shuffled moments: question 4.
#
# **Slow machine:** 20 epochs in section 2.
#
# **More.** L. Beyer et al., [*Better plain ViT baselines*](https://arxiv.org/abs/2205.01580), 2022. A. Steiner et al., [*How to train your ViT?*](https://arxiv.org/abs/2106.10270), TMLR 2022.
#
# </details>

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
# # 1b · Visual attention
#
# *Looking at one place, looking at all of them a little, and a picture of where somebody looked.*
#
# [← 1 · Attention intuition](01_attention_intuition.ipynb) · [Lab
# 1](../labs/01_attention_intuition/01_attention_intuition.ipynb) · [2 · Self-attention →](02_self_attention.ipynb)
#
# **Afterwards you can**
#
# * tell soft, local and hard attention apart by their slopes;
# * estimate the gradient of a random choice with REINFORCE, and say what a baseline changes;
# * build attention into a convolutional network, into VGG-16 too, and test whether it finds the place that matters;
# * say how a captioner with soft or hard attention is trained, and read its maps word by word;
# * compute CAM and Grad-CAM, and say what such a map proves and what an attention map proves;
# * test a map by deletion.
#
# This is the second part of [lecture 1](01_attention_intuition.ipynb). **You need** its sections 5 and 6 (weights, softmax,
# bandwidth), and what a convolution takes in and gives out. Some cells use `GradientTape`: you may take them as given and
# read their results. **Time:** about 64 minutes to read and predict; the code runs in about a minute and a half on two CPU cores.
#
# Letters: **B** batch, **T** queries, **S** keys, **C** channels of an image's features; a small *h* and *w* are the height and
# the width of an image.

# %% tags=["course-setup"]
# Colab: install the course's helper package. Anywhere else this cell does nothing.
import sys

if "google.colab" in sys.modules:
    print("This notebook was not told where Colab finds the course's helper package: ask whoever gave it to you.")

# %%
from coursekit import diagrams, plots, quiet, recorded

quiet.start_tensorflow()  # keeps its start-up messages out of the notebook
plots.use_course_style()

import keras
import matplotlib.pyplot as plt
import numpy as np
import tensorflow as tf
from keras import layers, ops
from scipy.special import softmax
from sklearn.datasets import load_digits

np.set_printoptions(precision=3, suppress=True)

# %% [markdown]
# ## 1 · Soft, local, hard
#
# Attention answers a query with a weighted mean of values. Three ways to set the weights:
#
# * **Soft** attention: every place gets some weight.
# * **Hard** attention: one place gets all. Either the largest weight, or one place drawn at random with probabilities
#   α (Xu et al. 2015, section 4.1).
# * **Local** attention: soft inside a window around one place, nothing outside (Luong et al. 2015, section 3.2).
#
# See the difference on noisy measurements of a function, with the Gaussian weights of lecture 1, section 6. The next cell draws
# them again.

# %%
rng = np.random.default_rng(3)
keys = np.sort(rng.uniform(0, 5, size=150))  # (S,)
values = np.sin(2 * keys) + 0.4 * keys + 0.4 * rng.normal(size=150)  # (S,)


def gaussian_weights(queries, sigma):
    """Return the weights (T, S) of all keys for queries (T,)."""
    return softmax(-((queries[:, None] - keys) ** 2) / (2 * sigma**2), axis=-1)


# %% [markdown]
# **Predict.** Draw the *slope* of the output against the query for hard attention.

# %%
fine = np.linspace(1, 2, 2000)  # (T,): a closer look at one fifth of the axis
weights = gaussian_weights(fine, sigma=0.1)  # (T, S)
soft = weights @ values  # (T,)
hard = values[weights.argmax(axis=1)]  # (T,)
near = weights >= np.sort(weights, axis=1)[:, [-3]]  # the three largest of every row
local = (weights * near / (weights * near).sum(axis=1, keepdims=True)) @ values  # (T,)

figure, panels = plt.subplots(2, 1, figsize=(7, 4.6), sharex=True, height_ratios=[3, 2])
inside = (keys > 1) & (keys < 2)
panels[0].plot(keys[inside], values[inside], ".", color=diagrams.PALETTE["residual"])
for (name, curve), style in zip({"soft": soft, "local (3)": local, "hard": hard}.items(), plots.LINES, strict=False):
    style = {**style, "marker": None}
    panels[0].plot(fine, curve, label=name, **style)
    slope = np.diff(curve) / np.diff(fine)  # (T − 1,)
    panels[1].plot(fine[:-1], np.where(abs(slope) < 4, slope, np.nan), **style)  # a jump has no slope: leave a gap
panels[1].set(xlabel="query", ylabel="slope")
panels[0].legend()
plots.show(
    figure,
    alt="""Above, soft, local and hard estimates of the same points: soft is smooth, hard is a staircase, local is smooth
between small jumps. Below, their slopes, with gaps at the jumps: soft is smooth, hard is zero throughout.""",
)
still = np.mean(np.diff(hard) == 0)
print(f"hard attention: the slope is exactly 0 at {still:.0%} of the queries")

# %% [markdown]
# <details><summary>Answer</summary>
#
# Zero everywhere except at the jumps, where there is no slope (the figure leaves a gap there). Gradient descent learns
# from slopes, so it learns nothing here. Local attention has jumps too, wherever a key enters or leaves the window, but
# between them it has a slope.
#
# </details>
#
# TensorFlow says the same in its own way:

# %%
# NBVAL_CHECK_OUTPUT
scores = tf.Variable([0.2, 1.0, -0.5])  # (S,)
payload = tf.constant([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])  # (S, D)
with tf.GradientTape(persistent=True) as tape:
    softly = tf.linalg.matvec(payload, tf.nn.softmax(scores), transpose_a=True)  # (D,)
    firmly = tf.linalg.matvec(payload, tf.one_hot(tf.argmax(scores), 3), transpose_a=True)  # (D,)
print("soft:", tape.gradient(softly, scores).numpy())
print("hard:", tape.gradient(firmly, scores))

# %% [markdown]
# `None`: no way back.
#
# ## 2 · A gradient for a choice
#
# The remedy for hard attention is to draw the place at random and to estimate the gradient from
# the losses that result (REINFORCE, Williams 1992). The estimate is right on average (it is *unbiased*).
#
# **Predict.** One training step uses the average of n draws. Does the estimate point in the direction of the true
# gradient for n = 1? For n = 100? And what changes when a constant, the *baseline*, is subtracted from every loss first?
#
# <details><summary>Answer</summary>
#
# With one draw it often points elsewhere. The scatter falls with the root of n, so with 100 draws the direction is
# nearly right in most experiments. A baseline leaves the mean as it is; with ours the estimates lie closer to the right
# direction for each n. Look at the cosines below.
#
# </details>
#
# The true gradient of the expected loss $\sum_j \alpha_j \ell_j$ with respect to score $j$ is $\alpha_j(\ell_j -
# \sum_i \alpha_i \ell_i)$. One draw of place $j$ gives the estimate $\ell_j(\mathbf{1}_j - \alpha)$, with $\mathbf
# 1_j$ the one-hot vector. With a baseline $b$ it is $(\ell_j - b)(\mathbf{1}_j - \alpha)$; Xu et al. (2015, section 4.1)
# use a running mean of earlier rewards as $b$, and we use the expected loss.

# %%
rng = np.random.default_rng(5)
alpha = softmax(rng.normal(size=6))  # (S,)
losses = rng.uniform(0, 4, size=6)  # (S,): the loss if this place is looked at
true_gradient = alpha * (losses - alpha @ losses)  # (S,)
drawn = rng.choice(6, size=(5000, 100), p=alpha)  # 5000 experiments of up to 100 draws
averages, angles = {}, {}
for name, baseline in {"plain": 0, "with baseline": alpha @ losses}.items():
    estimates = (losses - baseline)[drawn][..., None] * (np.eye(6)[drawn] - alpha)  # (5000, 100, S)
    for draws in (1, 10, 100):
        mean = estimates[:, :draws].mean(axis=1)  # (5000, S): each experiment averages its draws
        averages[name, draws] = mean
        angles[name, draws] = mean @ true_gradient / np.linalg.norm(mean, axis=1) / np.linalg.norm(true_gradient)

# %%
figure, ax = plt.subplots(figsize=(6.5, 3))
ax.boxplot(list(angles.values()), orientation="horizontal", whis=(5, 95), showfliers=False, showmeans=True, widths=0.6)
ax.axvline(1, color=diagrams.PALETTE["accent"], label="the right direction")
ax.set(xlabel="cosine of estimate and true gradient", yticklabels=[f"{name}, {n}" for name, n in angles])
ax.legend(loc="center left")
plots.show(
    figure,
    alt="""Box plots of the cosine between the true gradient and its estimates from 1, 10 and 100 random looks, without
and with a baseline. With one look the direction is mostly wrong; with 100 looks it is nearly right, and with
the baseline it is nearer still. Triangles mark the means.""",
)
print("true gradient            ", true_gradient)
print("mean of all the estimates", averages["plain", 100].mean(axis=0))
for name in ("plain", "with baseline"):
    print(f"100 draws, {name}: scatter / |gradient|", averages[name, 100].std(axis=0) / abs(true_gradient))

# %% [markdown]
# So hard attention is cheap to *use*: one place is read. It is trained with noisy estimates instead of a gradient.
# Look at the components as well. The first one is close to zero, and without a baseline 100 draws do not settle its sign
# (the scatter is 1.13 times the gradient). The baseline makes the scatter of four components smaller and that of two
# larger; the direction of the whole vector becomes better.
#
# ## 3 · Where does the network look?
#
# Two different answers to that question exist, and they are often mixed up.
#
# * **Post hoc** maps explain a network that is already trained and never used such a map: **CAM** (Zhou et al. 2016)
#   and **Grad-CAM** (Selvaraju et al. 2017).
# * **Trainable attention** is a part of the network: the map is computed on the way forward, multiplies the features,
#   and is learned with the rest.
#
# ### CAM and Grad-CAM in six lines
#
# A network that ends in "average each feature map, then a dense layer" computes logit $z_c = \sum_k w_{kc}\,
# \text{mean}_{xy} F_k(x,y)$. Swap the sums: $z_c = \text{mean}_{xy} \sum_k w_{kc} F_k(x,y)$. The inner sum is a
# picture, the **class activation map** of class c. Grad-CAM replaces $w_{kc}$ by the mean gradient
# $\text{mean}_{xy}\, \partial z_c / \partial F_k(x,y)$, so it works for any ending, and cuts off what is negative.
#
# **Predict.** For a network that does end in average and dense layer: how do the two differ?

# %%
# NBVAL_CHECK_OUTPUT
rng = np.random.default_rng(6)
features = tf.constant(rng.normal(size=(1, 5, 7, 3)), tf.float32)  # (B, h, w, C)
w_class = tf.constant(rng.normal(size=(3, 4)), tf.float32)  # (C, classes)
with tf.GradientTape() as tape:
    tape.watch(features)
    logit = (tf.reduce_mean(features, axis=(1, 2)) @ w_class)[0, 2]  # the logit of class 2
channel_weight = tf.reduce_mean(tape.gradient(logit, features), axis=(1, 2))  # (B, C)
grad_cam = features @ channel_weight[0][:, None]  # (B, h, w, 1), before negative values are cut
cam = features @ w_class[:, 2:3]  # (B, h, w, 1)
print("ratio CAM / Grad-CAM at three places:", (cam / grad_cam).numpy().ravel()[:3].round(3))

# %% [markdown]
# They are the same up to a factor: the number of places, 5 · 7. Grad-CAM is the more general one.
#
# ## 4 · Small images with a known place
#
# To judge maps we need to know the truth. So: real handwritten digits of 8 × 8 pixels (scikit-learn), each put at a
# random place of a 24 × 24 image, among eight scraps of other digits. The label is the whole digit. The network is
# told the class, **never the place**.

# %%
digits = load_digits()
drawings, classes = digits.images.astype("float32") / 16, digits.target  # (1797, 8, 8), (1797,)
SIZE = 24


def scenes(count, pool, rng, whole=1):
    """Images (N, 24, 24, 1) of digits among scraps; labels (N, whole) and upper left corners (N, whole, 2)."""
    images = np.zeros((count, SIZE, SIZE, 1), "float32")
    chosen = rng.choice(pool, size=(count, whole))  # (N, whole)
    corners = np.zeros((count, whole, 2), int)
    for image, numbers, corner in zip(images, chosen, corners, strict=True):
        for number in rng.choice(pool, size=8):
            (a, b), (y, x) = rng.integers(0, 5, size=2), rng.integers(0, SIZE - 3, size=2)
            patch = image[y : y + 4, x : x + 4, 0]
            patch[:] = np.maximum(patch, drawings[number, a : a + 4, b : b + 4][: patch.shape[0], : patch.shape[1]])
        columns = rng.permutation([0, SIZE // 2])[:whole] if whole > 1 else [None]
        for place, (number, column) in enumerate(zip(numbers, columns, strict=True)):
            y = rng.integers(0, SIZE - 7)
            x = rng.integers(0, SIZE - 7) if column is None else column + rng.integers(0, 5)
            image[y : y + 8, x : x + 8, 0] = drawings[number]
            corner[place] = y, x
    return images, classes[chosen], corners


# %%
rng = np.random.default_rng(0)
shuffled = rng.permutation(len(drawings))
train_pool, test_pool = shuffled[:1300], shuffled[1300:]  # no drawing is in both
train_images, train_labels, _ = scenes(4000, train_pool, rng)
test_images, test_labels, test_corners = scenes(500, test_pool, rng)
figure = plots.image_maps(test_images[:8], titles=[f"class {label[0]}" for label in test_labels[:8]], columns=8)
plots.show(
    figure,
    alt="""Eight images of 24 by 24 pixels. Each holds one whole handwritten digit at a random place and eight scraps
of other digits.""",
)

# %% [markdown]
# ## 5 · Attention as a part of the network
#
# Yan, Kawahara and Hamarneh (2019) put attention into VGG-16 for skin-lesion photographs; the idea of letting the
# network's last features guide the attention over its middle ones is also that of Jetley et al. (2018). Ours is the
# same plan with small numbers:
#
# * a small VGG: 3×3 convolutions and pooling. On the way we keep **intermediate features** F (fine, but each
#   sees only a small piece) at two depths, and at the end the **global guidance** g (coarse, but each sees nearly all
#   of the image and "knows" what is searched for);
# * an attention module for each of the two F: a 1×1 convolution of F, a 1×1 convolution of g, **up-sampled** to the
#   size of F, their **sum**, ReLU, a 1×1 convolution to **one channel**, softmax over all places: the **map A**,
#   which sums to 1;
# * F′ = A · F, every channel multiplied by the same map, and summed over the places; both F′ and the average of g go
#   into the classifier.
#
# (Papers differ in how they normalise the map; ours is a softmax, as in Jetley et al.)
#
# Compare it with lecture 1, section 7: $v^\top\tanh(W_q q + W_k k)$. It is additive attention: g is the query, the places of F
# are the keys *and* the values.

# %%
figure, ax = diagrams.canvas(10, 3.6)
image_box = diagrams.box(ax, 0.7, 2.9, "image", width=1.1, detail="24,24,1")
first = diagrams.box(ax, 2.4, 2.9, "conv ×3", role="value", width=1.4, detail="F1 12,12,32")
second = diagrams.box(ax, 4.4, 2.9, "conv", role="value", width=1.4, detail="F2 6,6,32")
third = diagrams.box(ax, 6.4, 2.9, "conv", role="query", width=1.4, detail="g 3,3,32")
module_one = diagrams.box(ax, 2.4, 1.6, "attention 1", role="key", width=1.4, detail="A1 12,12,1")
module_two = diagrams.box(ax, 4.4, 1.6, "attention 2", role="key", width=1.4, detail="A2 6,6,1")
head = diagrams.box(ax, 8.7, 1.0, "dense", role="output", width=1.2, detail="10 classes")
for start, end in ((image_box, first), (first, second), (second, third), (first, module_one), (second, module_two)):
    diagrams.arrow(ax, start, end)
diagrams.arrow(ax, (6.4, 2.6), (6.4, 1.6), module_two, label="g guides both")
diagrams.arrow(ax, (6.4, 2.2), (3.4, 2.2), (3.4, 1.6), module_one)
diagrams.arrow(ax, third.right, (8.7, 2.9), head.top, label="average of g")
diagrams.arrow(ax, module_one.bottom, (2.4, 0.4), (8.7, 0.4), head.bottom, label="Σ A1·F1")
diagrams.arrow(ax, module_two.bottom, (4.4, 1.0), head.left, label="Σ A2·F2")
plots.show(
    figure,
    alt="""Image, three convolutions giving F1, one more giving F2, one more giving g. Two attention modules take F1
and F2, both guided by g. The weighted sums of F1 and F2 and the average of g go into a dense layer.""",
)


# %%
def conv(filters, size=3):
    return layers.Conv2D(filters, size, padding="same", activation="relu", kernel_initializer="he_normal")


def look(f, g, filters=32):
    """One attention module on features f (B, h, w, C), guided by g (B, h', w', C'): returns Σ A·F (B, C) and A."""
    h, w = f.shape[1:3]
    wish = layers.Conv2D(filters, 1)(g)  # (B, h', w', filters)
    wish = layers.UpSampling2D((h // g.shape[1], w // g.shape[2]), interpolation="bilinear")(wish)  # (B, h, w, filters)
    offer = layers.Conv2D(filters, 1, use_bias=False)(f)  # (B, h, w, filters)
    score = layers.Conv2D(1, 1)(ops.relu(wish + offer))  # (B, h, w, 1)
    a = layers.Reshape((h, w, 1))(layers.Softmax()(layers.Flatten()(score)))  # one softmax over all h·w places
    return ops.sum(a * f, axis=(1, 2)), a  # (B, C), (B, h, w, 1)


# %%
def build(kind="attention"):
    """Return a classifier of images (B, 24, 24, 1), and a model that gives its logits, features and maps."""
    image = keras.Input((SIZE, SIZE, 1))
    x = layers.MaxPool2D()(conv(16)(conv(16)(image)))  # (B, 12, 12, 16)
    f1 = conv(32)(x)  # (B, 12, 12, 32)
    f2 = conv(32)(layers.MaxPool2D()(f1))  # (B, 6, 6, 32)
    g = conv(32)(layers.MaxPool2D()(f2))  # (B, 3, 3, 32)
    parts, insides = [ops.mean(g, axis=(1, 2))], {"f1": f1, "g": g}  # the average of g: (B, 32)
    if kind == "attention":
        (summary1, insides["a1"]), (summary2, insides["a2"]) = look(f1, g), look(f2, g)
        parts = [summary1, summary2, *parts]  # 3 × (B, 32)
    elif kind == "averages":  # the same ways to the classifier, with equal weights
        parts = [ops.mean(f1, axis=(1, 2)), ops.mean(f2, axis=(1, 2)), *parts]
    insides["logits"] = layers.Dense(10)(ops.concatenate(parts, axis=-1))  # (B, 10)
    return keras.Model(image, insides["logits"]), keras.Model(image, insides)


# %% [markdown]
# **Predict.** Only the class is trained. What share of the weight of map A₁ will lie inside the 8 × 8 box of the
# digit? A map that knows nothing puts 64/576 = 11 % there.
#
# <details><summary>Answer</summary>
#
# Nearly all of it. Only the digit tells the class, so weight on other places helps little.
#
# </details>

# %%
def trained(seed, kind="attention"):
    """Train a classifier; returns it, the model of its insides, and what that one says of the test images."""
    keras.utils.set_random_seed(seed)
    classifier, insides = build(kind)
    schedule = keras.optimizers.schedules.CosineDecay(0.003, 8 * 4000 // 32)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    classifier.compile(keras.optimizers.Adam(schedule), loss, steps_per_execution=25)
    classifier.fit(train_images, train_labels, batch_size=32, epochs=8, verbose=0)
    return classifier, insides, {name: np.array(each) for name, each in insides.predict(test_images, verbose=0).items()}


def share_right(seen):
    return np.mean(seen["logits"].argmax(axis=-1) == test_labels[:, 0])


SEEDS = 3  # on a slow machine: 1
runs = {"attention": [trained(seed) for seed in range(SEEDS)]}
print(
    "new drawings right, by seed:", *(f"{share_right(seen):.0%}" for *_, seen in runs["attention"]), "(guessing: 10 %)"
)


# %%
def to_pixels(maps):
    """Stretch maps (N, h, w) to (N, 24, 24) by repeating places, each summing to 1."""
    factor = SIZE // maps.shape[1]
    large = maps.repeat(factor, axis=1).repeat(factor, axis=2)
    return large / np.maximum(large.sum(axis=(1, 2), keepdims=True), 1e-12)


def inside_box(maps, corners):
    """Mean share of each map that lies inside the digit's 8 × 8 box; maps (N, 24, 24), corners (N, 2)."""
    return np.mean([m[y : y + 8, x : x + 8].sum() for m, (y, x) in zip(maps, corners, strict=True)])


for seed, (*_, seen) in enumerate(runs["attention"]):
    inside = {name: inside_box(to_pixels(seen[name][..., 0]), test_corners[:, 0]) for name in ("a1", "a2")}
    print(f"seed {seed}: of map A1 {inside['a1']:.0%}, of A2 {inside['a2']:.0%} inside the box (knowing nothing: 11 %)")

# %% [markdown]
# The network was told "there is a seven in this picture" and found out *where*. With each seed map A1 has nearly all of its weight in
# the box. Map A2 does not need to: with seed 2 it has 11 % there, like a map that knows nothing, and the accuracy of
# that network is not the lowest.
#
# **Predict.** Does the network need the two maps for its accuracy? Train it in two more ways. *Averages:* F1 and F2 go to the
# classifier as before, but with equal weights at all places. *g alone:* only the average of g goes there.

# %%
runs |= {kind: [trained(seed, kind) for seed in range(SEEDS)] for kind in ("averages", "g alone")}
for kind, several in runs.items():
    print(f"{kind:10}{several[0][0].count_params():,} parameters; new drawings right, by seed:", end=" ")
    print(*(f"{share_right(seen):.0%}" for *_, seen in several))


# %% [markdown]
# With the maps each seed is better than any seed without them: 87 to 93 % against 66 to 81 %. A shorter way to the classifier is not
# enough: "averages" has the same ways, with equal weights. The modules have parameters of their own, 4,226 of
# them; we did not give the other networks as many in another form.
#
# (The frames in the figures below show the true place. Each map is scaled to its own maximum: compare the printed
# shares, not the colours.)
#
#
# ## 6 · Grad-CAM of the same network, side by side
#
# At g, the last convolution, as the method prescribes (3 × 3 places), and at F1 (12 × 12 places), where our first map
# lives.

# %%
def gradient_map(insides, images, name, chosen, start=tf.identity):
    """Grad-CAM (N, h, w) of the features `name`, from start(logits) of the classes `chosen` (N,)."""
    to_features = keras.Model(insides.inputs, [insides.output[name], insides.output["logits"]])
    with tf.GradientTape() as tape:
        picture = tf.constant(images)
        features, logits = to_features(picture)  # (N, h, w, C), (N, 10)
        asked = tf.reduce_sum(start(logits) * tf.one_hot(chosen, 10))
    channel = tf.reduce_mean(tape.gradient(asked, features), axis=(1, 2), keepdims=True)  # (N, 1, 1, C)
    return tf.nn.relu(tf.reduce_sum(features * channel, axis=-1)).numpy()  # (N, h, w)


# %%
truth_boxes = np.zeros((500, SIZE, SIZE))
for box_image, (y, x) in zip(truth_boxes, test_corners[:, 0], strict=True):
    box_image[y : y + 8, x : x + 8] = 1
coarse_truth = truth_boxes.reshape(500, 3, 8, 3, 8).sum(axis=(2, 4))  # (500, 3, 3): a 3 × 3 map that knows the place
print(f"a 3 × 3 map that knows the place: {inside_box(to_pixels(coarse_truth), test_corners[:, 0]):.0%} inside the box")
post_hoc = {}
for kind, several in runs.items():
    for name in ("g", "f1"):
        chosen = [
            to_pixels(gradient_map(m, test_images, name, seen["logits"].argmax(axis=-1))) for _, m, seen in several
        ]
        post_hoc[kind, name] = chosen
        print(f"network with {kind}: of Grad-CAM at {name} inside the box, by seed:", end=" ")
        print(*(f"{inside_box(each, test_corners[:, 0]):.0%}" for each in chosen))

# %%
classifier, insides, seen = runs["attention"][0]
guess_class = seen["logits"].argmax(axis=-1)  # (500,)
shown = [int(np.flatnonzero((guess_class == test_labels[:, 0]) & (guess_class == c))[0]) for c in (2, 3, 5, 7)]
shown += list(np.flatnonzero(guess_class != test_labels[:, 0])[:2])
rows = {name.upper(): to_pixels(seen[name][..., 0]) for name in ("a1", "a2")}
rows |= {f"Grad-CAM {name}": post_hoc["attention", name][0] for name in ("g", "f1")}
maps = np.concatenate([np.zeros((6, SIZE, SIZE)), *(each[shown] for each in rows.values())])
titles = [f"is {test_labels[i, 0]}, says {guess_class[i]}" for i in shown]
titles += [name for name in rows for _ in shown]
figure = plots.image_maps(np.tile(test_images[shown], (5, 1, 1, 1)), maps, titles=titles, columns=6)
for number, panel in enumerate(figure.axes[:30]):
    panel.images[1].set_alpha(0.55 * (number >= 6))  # the first row is the images alone
    y, x = test_corners[shown[number % 6], 0]
    panel.add_patch(plt.Rectangle((x - 0.5, y - 0.5), 8, 8, fill=False, color="cyan"))
plots.show(
    figure,
    alt="""Six images in columns, four classified right and two wrong; below each its attention maps A1 and A2 and its
Grad-CAM at g and at F1, each with a frame around the digit. A1 is one small spot in the frame; A2 is a larger spot that
lies in the frame or across its edge; Grad-CAM at g covers large squares, most of them outside; Grad-CAM at F1 follows strokes
in several places.""",
)


# %% [markdown]
# Compare the numbers, not only the colours. With the three seeds 14, 12 and 11 % of the Grad-CAM at the prescribed layer lie inside
# the box, and a map that knows nothing has 11 % there. Nine places are not the whole reason, because a 3 × 3 map that knows
# the place puts 48 % there. Is it that g has two tasks in this network, to guide the maps and to go into the classifier? No:
# where g has the second task only ("averages", "g alone"), it is 16 or 17 %. At F1 Grad-CAM puts 46 to 50 % inside, still
# less than the trained map A1 with 89 to 98 %. Each of these pictures is an "explanation" of the same decision.
#
#
# ## 7 · What each can claim
#
# **A test by deletion.** A map that says "this place matters" should be right about what happens when the place is
# wiped out. We blank the 8 × 8 window that holds most of each map, and a random window.
#
# **Predict.** Accuracy after each?
#
# <details><summary>Answer</summary>
#
# A random window hits the digit now and then and costs a little. A map that has found the digit takes the accuracy down to
# about chance. A coarse map lies between.
#
# </details>

# %%
def wiped(images, maps):
    """Blank, in every image, the 8 × 8 window with the largest sum of the map (N, 24, 24)."""
    sums = np.lib.stride_tricks.sliding_window_view(maps, (8, 8), axis=(1, 2)).sum(axis=(-2, -1))  # (N, 17, 17)
    result = images.copy()
    for picture, table in zip(result, sums, strict=True):
        y, x = np.unravel_index(table.argmax(), table.shape)
        picture[y : y + 8, x : x + 8] = 0
    return result


noise = np.random.default_rng(8).random((500, SIZE, SIZE)) ** 20
left = {"nothing": test_images, "a random window": wiped(test_images, noise)}
left |= {f"the window of {name}": wiped(test_images, each) for name, each in rows.items()}
for name, pictures in left.items():
    right = np.mean(classifier.predict(pictures, verbose=0).argmax(axis=-1) == test_labels[:, 0])
    print(f"wiped out {name:25s} accuracy {right:.0%}")

# %% [markdown]
# **Two digits in one image.** The network was trained to name one class. Now there are two whole digits.
#
# **Predict.** We ask for a map of the first digit's class and one of the second's. Which method can answer both?
#
# <details><summary>Answer</summary>
#
# Grad-CAM: it starts from a logit that you choose. The attention map is computed before there is any class; it is the same
# whatever you ask.
#
# </details>

# %%
two_images, two_labels, two_corners = scenes(300, test_pool, np.random.default_rng(10), whole=2)
different = two_labels[:, 0] != two_labels[:, 1]
two_images, two_labels, two_corners = two_images[different], two_labels[different], two_corners[different]
two_seen = insides.predict(two_images, verbose=0)
for asked in (0, 1):
    heat = to_pixels(gradient_map(insides, two_images, "f1", two_labels[:, asked]))
    print(f"Grad-CAM asked for digit {asked + 1}:", end=" ")
    print(*(f"{inside_box(heat, two_corners[:, d]):.0%} on digit {d + 1}" for d in (0, 1)), sep=", ")
heat = to_pixels(two_seen["a1"][..., 0])
print("attention A1, one map:  ", *(f"{inside_box(heat, two_corners[:, d]):.0%} on digit {d + 1}" for d in (0, 1)))

# %%
first = np.flatnonzero(two_seen["logits"].argmax(axis=-1) == two_labels[:, 0])[:3]
panels = [np.zeros((3, SIZE, SIZE)), heat[first]]
panels += [to_pixels(gradient_map(insides, two_images[first], "f1", two_labels[first, d])) for d in (0, 1)]
names = [f"{a} and {b}" for a, b in two_labels[first]] + ["A1"] * 3
names += [f"Grad-CAM for {label}" for label in two_labels[first].T.ravel()]
figure = plots.image_maps(np.tile(two_images[first], (4, 1, 1, 1)), np.concatenate(panels), titles=names, columns=3)
for number, panel in enumerate(figure.axes[:12]):
    panel.images[1].set_alpha(0.55 * (number >= 3))
    for y, x in two_corners[first[number % 3]]:
        panel.add_patch(plt.Rectangle((x - 0.5, y - 0.5), 8, 8, fill=False, color="cyan"))
plots.show(
    figure,
    alt="""Three images with two digits each; below them the attention map, which is one and the same whatever is
asked, and the Grad-CAM for either class, which moves between the two digits.""",
)

# %% [markdown]
# | | trainable attention | CAM, Grad-CAM |
# |---|---|---|
# | when | during the forward pass, learned with the rest | afterwards, for a network that is finished |
# | does the network use it? | yes: F′ = A·F is all that this branch passes on | no: it is a picture of gradients |
# | needs | a change of architecture and training | access to gradients |
# | per class? | no, one map for the image | yes, one for each class asked |
# | may claim | "features elsewhere did not pass this branch" | "changing these features would change the logit" |
# | may **not** claim | "pixels elsewhere had no influence" (A) | "the network looks here" (B) |
# | proves the decision right? | no | no |
#
# (A) The features at a place have seen its surroundings (their receptive field), and g has seen nearly everything and
# goes into the classifier directly. (B) A Grad-CAM is a weighted sum of features,
# computed after the decision. The network itself never used this map. When the features are coarse (3 × 3 places), the
# map is stretched to the size of the image, and its edges mean nothing.
#
# Neither is an explanation by itself: Adebayo et al. (2018) show that some post-hoc maps hardly change when a
# network's weights are replaced by random ones (Grad-CAM passed that test, others did not); Jain and Wallace (2019) find very different attention weights that
# give the same predictions; Wiegreffe and Pinter (2019) answer that it depends on what you call an explanation. The
# deletion test above is the kind of evidence to ask for.

# %% [markdown]
# ## 8 · The published network, and chest X-rays
#
# **Predict.** VGG-16 has 138,357,544 parameters, most of them in its three dense layers. Yan, Kawahara and Hamarneh leave these
# layers out, and put two attention modules and one dense layer for two classes in their place. How many parameters are left: a
# half, a quarter, or about a ninth?

# %%
vgg = keras.applications.VGG16(include_top=False, weights=None, input_shape=(224, 224, 3))  # "imagenet" fetches weights
pool3, pool4, pool5 = (
    vgg.get_layer(f"block{number}_pool").output for number in (3, 4, 5)
)  # 28, 14 and 7 places each way
sums = [look(pool3, pool5, 256)[0], look(pool4, pool5, 256)[0]]  # (B, 256), (B, 512)
seeing = keras.Model(vgg.input, layers.Dense(2)(ops.concatenate([*sums, ops.mean(pool5, axis=(1, 2))], axis=-1)))
dense = seeing.layers[-1].count_params()
modules = seeing.count_params() - vgg.count_params() - dense
print(
    f"without dense layers {vgg.count_params():,} + two modules {modules:,} + dense {dense:,} = {seeing.count_params():,}"
)

# %% [markdown]
# <details><summary>Answer</summary>
#
# About a ninth. The modules are cheap: 459,778 parameters. (In the authors' code two of the three convolutions of a module have no
# bias, which makes 459,266.) The maps have 28 × 28 and 14 × 14 places, for a photograph of 224 × 224 pixels.
#
# </details>
#
# Training this network needs photographs and a GPU. What can be tried on two CPU cores is the same plan on small X-rays of the chest,
# 28 × 28 pixels: half of them show pneumonia (a balanced part of PneumoniaMNIST; Yang et al. 2023). The run is **recorded**, with a small
# VGG of two maps of 16 × 16 and 8 × 8 places. Beside it are the two networks of section 5 and a fourth one: "g alone, wider" has as many parameters as
# the network with attention.
#
# **Predict.** Does attention improve the area under the ROC curve (AUC)? Do five networks that differ only in their seed look at the same places?

# %%
xray = recorded.load("xray_attention")
print(xray["what"], "|", xray["date"], "|", xray["device"], "| repeat it with:", xray["command"])
tried, lungs = xray["results"]["runs"], xray["results"]
for kind, size in lungs["parameters"].items():
    several = [run for run in tried if run["kind"] == kind]
    print(
        f"{kind:15}{size:,} parameters; accuracy {np.mean([run['accuracy'] for run in several]):.3f}, AUC by seed:",
        end=" ",
    )
    print(*(f"{run['AUC']:.3f}" for run in several), f"mean {np.mean([run['AUC'] for run in several]):.3f}")
first_run = next(run for run in tried if run["kind"] == "attention")
print("95 % intervals of one network with attention: accuracy (Wilson)", first_run["accuracy interval"], end=", ")
print("AUC (DeLong)", first_run["AUC interval"])
for other, apart in lungs["attention minus"].items():
    print(f"attention minus {other}, mean of the seeds:", end=" ")
    print(
        *(f"{what} {mid:+.3f} (95 %: {low:+.3f} to {high:+.3f})" for what, (mid, low, high) in apart.items()), sep=", "
    )
for name in ("a1", "a2"):
    spread = ", ".join(f"{each['effective share of places'][name]:.0%}" for each in lungs["maps"])
    print(f"{name.upper()} looks at {spread} of its places (e to the entropy of its weights, divided by the number of places; by seed)")
for name, values in lungs["correlation of maps between seeds"].items():
    print(
        f"correlation of {name.upper()} between two seeds, same image: {min(values):+.2f} to {max(values):+.2f}",
        end=", ",
    )
    print(f"mean {np.mean(values):+.2f}")

# %%
sick = lungs["mean pictures"]["pneumonia"]
maps = [np.array(each) for name in ("a1", "a2") for each in sick[f"{name}, by seed"]]
to_28 = [
    each.repeat(32 // len(each), axis=0).repeat(32 // len(each), axis=1)[2:-2, 2:-2] for each in maps
]  # less the padding
titles = [f"{name}, seed {seed}" for name in ("A1", "A2") for seed in range(1, 6)]
figure = plots.image_maps(np.tile(np.array(sick["image"]), (10, 1, 1)), np.array(to_28), titles=titles, columns=5)
plots.show(
    figure,
    alt="""The average X-ray with pneumonia ten times, with the average map of five networks above (A1, 16 by 16 places) and below (A2, 8 by 8
places). The bright places differ from seed to seed.""",
)

# %% [markdown]
# **Predict.** Now the deletion test: the pixels with the largest values of a map are replaced by those of the mean image. Three maps are compared: the image's own, that of
# *another* image, and the own one with its places in random order. Which pair is far apart?

# %%
figure, panels = plt.subplots(1, 2, figsize=(9.6, 3.4), sharey=True)
whole = np.mean([run["AUC"] for run in tried if run["kind"] == "attention"])
for ax, name in zip(panels, ("a1", "a2"), strict=True):
    for line, owner in enumerate(("own", "another's", "random")):
        tested = [each["deletion"][name][owner] for each in lungs["maps"]]
        areas = np.array([[each[share]["AUC"] for share in tested[0]] for each in tested])  # (seeds, shares)
        shares = [100 * float(share) for share in tested[0]]
        plots.measured_curve(shares, areas, label=f"{owner} map", line=line, ax=ax)
        print(f"{name.upper()}, {owner:10} AUC {whole:.3f}, and after deletion of", end=" ")
        print(*(f"{share:.0f} %: {area:.3f}" for share, area in zip(shares, areas.mean(axis=0), strict=True)), sep=", ")
    ax.set(xlabel="% of the pixels deleted", ylabel="AUC" if name == "a1" else "", title=f"by {name.upper()}")
    ax.legend()
plots.show(
    figure,
    alt="""AUC after deletion of 5 to 40 percent of the pixels, by map A1 on the left and A2 on the right; lines are medians of five seeds, bands their
range. Deletion in random order lowers the AUC least. The image's own map and another image's map lower it more, and their lines lie close together.""",
)

# %% [markdown]
# <details><summary>Answers</summary>
#
# *Accuracy and AUC.* The AUC of the four networks is the same within 0.002, and each interval of a difference contains 0. The accuracy with attention is higher by 0.008 to 0.011; against "averages"
# and "g alone" the interval begins at 0 or above it, against "g alone, wider" it contains 0. One comparison out of six on one test set is weak evidence.
#
# *Shallow and deep.* With skin photographs, Yan, Kawahara and Hamarneh see the deeper map more concentrated than the shallow one. Here that is
# so with four of five seeds. But the seeds differ more than the depths: A1 looks at 5 to 61 % of its places, A2 at 5 to 28 %.
#
# *The places.* The seeds do not agree. The correlation of two seeds' maps of the same image is between −0.11 and +0.43 for A1, and no better for the deep map A2.
#
# *Deletion.* Without 40 % of the pixels the AUC falls to 0.930 in random order and to 0.871 by the image's own map A1.
# So these pixels matter more to the network. But by the map of *another* image it falls to 0.876. Most of the effect of
# deletion comes from places that matter in *any* chest, and little of it comes from this patient's own map. A test
# against random places alone does not show that; these are also scattered, while the places of a map lie together, so
# another image's map is the fairer control.
#
# </details>
#
# What 28 × 28 pixels can show: whether a module changes a score, and whether a map is stable. They cannot show whether a map marks a lesion: no place is labelled here, an infiltrate covers a few
# pixels, and a place of A2 is 4 × 4 pixels. These results say nothing about photographs of skin or about pre-trained filters: the only photographs of skin at hand had 8 × 8 grey pixels
# (HAM10000, reduced), and the weights of `weights="imagenet"` need a download that was not tried here.

# %% [markdown]
# ## 9 · Show, attend and tell
#
# Xu et al. (2015) let attention write: a convolutional network gives features for each place, and an LSTM writes the caption word by word. Before
# each word, the LSTM's state is the query, and the places are keys and values. It is the decoder of lecture 1 with places instead of source words.
#
# Photographs with captions are too much for this page. The next run is **recorded**, on *synthetic* scenes with true places: two real handwritten digits and four
# scraps, and the caption "a seven above a two" or "a seven left of a two". The scenes have 6 × 6 places, each of which sees 10 × 10 pixels. The convolutional network
# first learns to classify, as in the paper. Three ways to read the places:
#
# * *soft:* the mean of the features by α;
# * *hard, draws only:* one place drawn with probabilities α. The choice learns by REINFORCE; the reward is the log probability of the words that follow, and the
#   baseline is a running mean of the rewards for each word;
# * *hard:* the same, but for half of the scenes of a batch the mean by α is read (the paper does this for a scene with probability 0.5).
#
# When they write, both kinds of hard attention read the place with the largest weight.
#
# **Predict.** Which of the three writes the most captions without an error? Whose weights lie most on the digit that is about to be named?

# %%
told = recorded.load("show_attend_tell")
print(told["what"], "|", told["date"], "|", told["device"], "| repeat it with:", told["command"])
print("parameters:", *(f"{size:,}" for size in set(told["results"]["parameters"].values())))
for writer in told["results"]["runs"]:
    low, high = writer["exact interval"]
    print(f"{writer['kind']:16} seed {writer['seed']}: exact {writer['exact']:.1%} (95 %: {low:.1%} to {high:.1%}),", end=" ")
    print("BLEU {:.1f} (95 %: {:.1f} to {:.1f}),".format(writer["BLEU"], *writer["BLEU interval"]), end=" ")
    print(f"of the weights in the named digit's box {writer['inside']['its digit']:.0%}, in the other's", end=" ")
    print(f"{writer['inside']['the other digit']:.0%}; exact where both digits are right", end=" ")
    print(f"{writer['exact, of those with both digits right']:.1%}")

# %%
pages = told["results"]["first test scenes"]
scene = np.array(told["results"]["scenes"]["images"][0])  # the first test scene: nobody chose it
lines = {kind: pages[kind][0] for kind in ("soft", "hard")}
columns = max(len(line["words"]) for line in lines.values())
figure, grid = plt.subplots(2, columns, figsize=(1.5 * columns, 3.7), squeeze=False)
for row, (kind, line) in zip(grid, lines.items(), strict=True):
    for panel in row:
        panel.axis("off")
    for panel, word, weight in zip(row, line["words"], line["maps"], strict=False):
        heat = np.reshape(weight, (6, 6)).repeat(4, axis=0).repeat(4, axis=1)
        panel.imshow(scene, cmap="gray")
        panel.imshow(heat, cmap="inferno", vmin=0, vmax=1, alpha=0.55)
        panel.set_title(f"{kind}: {word}" if panel is row[0] else word, fontsize=9)
plots.show(
    figure,
    alt="""One scene of two digits, repeated once for each word of its caption, with the attention weights before that word: soft attention above, hard attention
below. When a digit is named, the weight lies on that digit.""",
)
print("true:", told["results"]["scenes"]["true"][0], "|", *(f"{kind}: {' '.join(line['words'])} |" for kind, line in lines.items()))

# %% [markdown]
# <details><summary>Answer</summary>
#
# Soft attention writes 87 to 91 % of the captions without an error, and hard attention 71 to 74 %. Draws alone write 3, 3 and 42 % with the three seeds. Errors are nearly always in a
# digit: where both digits are right, soft and hard attention have at least 99.2 % of the captions right.
#
# The weights say which digit is meant. Before its name, 90 to 91 % of the soft weights and 95 to 98 % of the hard ones lie in that digit's box. (A map that
# knows nothing puts 11 % there. Only captions without an error count, and nobody told the networks a place.) In the figure the soft weights lie on an empty place before the second
# "a" and before the end: weights sum to 1, so they lie somewhere, needed or not.
#
# With REINFORCE alone, two seeds of three have not learned where to look within these 1,200 batches, although there is a baseline, and the third has. When half of the scenes are read softly,
# all three seeds learn. Longer training was not tried.
#
# </details>
#
# BLEU counts the groups of one to four words that are also in the true caption (lecture 8b). A caption with one wrong digit still shares most of its words: hard attention has a BLEU of 87 to 88, although more than
# a quarter of its captions are wrong.

# %% [markdown]
# ## 10 · Common mistakes, and what they look like
#
# **1 · The softmax runs over the channels.** The scores of a map have the shape (B, h, w, 1), and the last axis holds one number:

# %%
# NBVAL_CHECK_OUTPUT
score = np.random.default_rng(11).normal(size=(1, 12, 12, 1))  # (B, h, w, 1)
for name, axis in {"over the channels": -1, "over all places": (1, 2)}.items():
    a = softmax(score, axis=axis)  # (B, h, w, 1)
    print(f"softmax {name:18}: sum {a.sum():5.1f}, smallest weight {a.min():.4f}, largest {a.max():.4f}")

# %% [markdown]
# Every weight is 1. The map is white everywhere, and the module passes the plain sum of the features.
#
# **2 · Grad-CAM starts from a probability.** The method starts from the score of the class *before* the softmax (Selvaraju et al. 2017,
# section 3).
#
# **Predict.** How large is the map of a probability, compared with the map of the logit, for images of which the network is sure?

# %%
sure = np.flatnonzero(softmax(seen["logits"], axis=-1).max(axis=-1) > 0.99)  # images with a probability above 0.99
for name, start in {"logit": tf.identity, "probability": tf.nn.softmax}.items():
    maps = gradient_map(insides, test_images[sure], "f1", guess_class[sure], start)
    print(
        f"map of the {name:11} of {len(sure)} sure images: median of the largest value {np.median(maps.max(axis=(1, 2))):.6f}"
    )

# %% [markdown]
# More than a hundred times smaller. The slope of a softmax is p(1 − p), which is below 0.01 for p above 0.99. Where the network is most
# sure, the map of the probability is nearly zero, and a picture that is scaled to its maximum hides it.
#
# **3 · Each picture is scaled to its own maximum.** Then a map that is nearly empty looks like a strong one. Print the numbers
# beside the picture, or give all pictures one scale.
#
# ## 11 · Check yourself
#
# <details><summary>1. A colleague trains hard attention by <code>argmax</code> and reports that only the attention weights do not improve. Why?</summary>
#
# The gradient with respect to the scores is zero or None: `argmax` does not change under small changes. The rest of the
# network learns to live with whatever place it is given.
#
# </details>
#
# <details><summary>2. Why does a constant baseline leave the mean of the estimates as it is?</summary>
#
# It adds $-b\,(\mathbf{1}_j - \alpha)$ to each draw. The mean of $\mathbf{1}_j$ over the draws is α, so the mean of this term is 0.
#
# </details>
#
# <details><summary>3. A network ends in the average of a 3 × 3 map and a dense layer. By what factor do CAM and Grad-CAM differ?</summary>
#
# By 9, the number of places.
#
# </details>
#
# <details><summary>4. Map A1 puts 90 % of its weight on a digit. Does that prove that the scraps had no influence?</summary>
#
# No. The features at that place see their surroundings, and g sees the whole image and goes into the classifier.
#
# </details>
#
# <details><summary>5. A user asks: "Where would the network look if this were a three?" Which map can answer?</summary>
#
# Grad-CAM, from the logit of class 3. The attention map is one and the same for all classes.
#
# </details>
#
# <details><summary><b>Symptoms and causes</b></summary>
#
# | you see | look at |
# |---|---|
# | `None` as gradient | `argmax`, a random draw, `.numpy()` or NumPy on the way |
# | the map is even, and the accuracy is good | another way carries the information (here: the average of g) |
# | the map is 1 everywhere | softmax over an axis of length 1 |
# | Grad-CAM is zero everywhere | all weighted features are negative before the ReLU; or the gradient is that of a probability |
# | map and image do not fit each other | rows and columns swapped, or a map that was stretched by another factor |
#
# </details>
#
# <details><summary><b>Slow machine, or a GPU?</b></summary>
#
# Nearly all the time goes into the classifiers. *Slow machine:* `SEEDS = 1`, 2,000 images in place of 4,000. *GPU:* larger images
# and more scraps. Does the map still find the digit?
#
# </details>
#
# **Caveats, plainly.** Three seeds, one size of network. The images are a toy in which the place is known, made so that a map can be *tested*. A good
# score here does not carry over to X-rays: section 8 shows it. The random choice of section 2 is a vector of six losses, not a network;
# section 9 has the network, on scenes that are as much a toy.
#
# ## Summary
#
# * **Soft** attention has a gradient. **Hard** attention has none; REINFORCE estimates one from random draws, and a baseline makes
#   the estimate less noisy.
# * **Trainable attention** is used by the network: the map multiplies the features. It is additive attention with the last
#   features as query.
# * **CAM and Grad-CAM** are drawn after the fact, for any class. They say to what a logit is sensitive.
# * A map is a claim. Test it: by a box that you know, or by deletion.
#
# **Next:** the attention layers of both parts are exercises in [lab
# 1](../labs/01_attention_intuition/01_attention_intuition.ipynb); [lecture 2](02_self_attention.ipynb) lets a sentence ask itself.
#
# ## References
#
# * J. Adebayo et al. (2018), *Sanity Checks for Saliency Maps*, NeurIPS. [arXiv:1810.03292](https://arxiv.org/abs/1810.03292)
# * S. Jain, B. Wallace (2019), *Attention is not Explanation*, NAACL; S. Wiegreffe, Y. Pinter (2019), *Attention is
#   not not Explanation*, EMNLP.
# * S. Jetley et al. (2018), *Learn to Pay Attention*, ICLR. [arXiv:1804.02391](https://arxiv.org/abs/1804.02391)
# * M.-T. Luong, H. Pham, C. Manning (2015), *Effective Approaches to Attention-based Neural Machine Translation*,
#   EMNLP; section 3.2.
# * R. Selvaraju et al. (2017), *Grad-CAM: Visual Explanations from Deep Networks via Gradient-based Localization*,
#   ICCV. [arXiv:1610.02391](https://arxiv.org/abs/1610.02391)
# * R. Williams (1992), *Simple Statistical Gradient-Following Algorithms for Connectionist Reinforcement Learning*,
#   Machine Learning 8.
# * K. Papineni et al. (2002), *BLEU: a Method for Automatic Evaluation of Machine Translation*, ACL.
# * K. Xu et al. (2015), *Show, Attend and Tell*, ICML; section 4. [arXiv:1502.03044](https://arxiv.org/abs/1502.03044)
# * Y. Yan, J. Kawahara, G. Hamarneh (2019), *Melanoma Recognition via Visual Attention*, IPMI; the authors' code:
#   github.com/SaoYan/IPMI2019-AttnMel. On the two depths: their [project page](https://saoyan.github.io/projects/2019-03-07-attention-skin-lesion).
# * J. Yang et al. (2023), *MedMNIST v2: A Large-scale Lightweight Benchmark for 2D and 3D Biomedical Image Classification*,
#   Scientific Data 10. The intervals of an AUC: E. DeLong et al. (1988), Biometrics 44.
# * B. Zhou et al. (2016), *Learning Deep Features for Discriminative Localization*, CVPR.
#   [arXiv:1512.04150](https://arxiv.org/abs/1512.04150)
#
# ## Further reading
#
# * The networks that choose where to look next, trained with REINFORCE: V. Mnih et al. (2014), *Recurrent Models of Visual
#   Attention*, [arXiv:1406.6247](https://arxiv.org/abs/1406.6247).
# * Soft and hard attention that writes captions, with maps for each word: K. Xu et al. (2015), above, figures 2 to 5.

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
# # 1b · Seeing what a network looks at
#
# **A map is a claim: delete what it marks, and see.**
#
# [← 1 · Attention](01_attention_intuition.ipynb) · [Lab
# 1](../labs/01_attention_intuition/01_attention_intuition.ipynb) · [2 · Self-attention →](02_self_attention.ipynb)
#
# A network reads a digit that stands among scraps of other digits. One map lies almost wholly on the digit. About half of another map, of the same image and the same decision, lies elsewhere. **Does the network need what this map marks elsewhere?** Write down how you would find out. Section 4 does it.
#
# **Afterwards you can**
#
# * draw a class activation map and a Grad-CAM in six lines each;
# * build attention into a convolutional network;
# * test a map by deletion;
# * say what such a map proves, and what it does not.
#
# This page is optional. **You need** [lecture 1](01_attention_intuition.ipynb) and convolutions. **Time:** about 46 minutes to read and predict (estimated, not measured); the code
# runs in about a minute on two CPU cores. Letters: **B** batch, *h*, *w* rows and columns, **C** channels.

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
from coursekit import diagrams, plots, quiet, recorded

quiet.start_tensorflow()  # keeps its start-up messages out of the notebook

from coursekit import digit_scenes
from coursekit.pages.difference_interval import difference_interval

plots.use_course_style()

import keras
import matplotlib.pyplot as plt
import numpy as np
import tensorflow as tf
from keras import layers, ops
from matplotlib.colors import LinearSegmentedColormap
from scipy.special import softmax
from sklearn.datasets import load_sample_images

china, flower = (photo[::2, ::2].astype("float32") / 255 for photo in load_sample_images().images)  # (214, 320, 3)


def crops(photo, count, rng, side=48):
    """Squares from the left part of a photograph, (count, side, side, 3)."""
    corners = zip(rng.integers(0, 214 - side, count), rng.integers(0, 150 - side, count), strict=True)
    return np.stack([photo[y : y + side, x : x + side] for y, x in corners])


# %% [markdown]
# <a id="cam"></a>
#
# ## 1 · A map on a photograph
#
# Two photographs come with scikit-learn: *china.jpg* (danielbuechele) and *flower.jpg* (vultilion), both CC BY 2.0. A small convolutional network learns to tell their crops apart. It sees crops of the left parts only, and their labels. Then we paste a piece of the right part of *flower.jpg* into *china.jpg*: now we know where the flower is.
#
# The network ends as many do: it averages each feature map $F_k$ over all positions, and one dense layer turns the averages into **logits**, one number for each class, from which a softmax makes probabilities. So the logit of class $c$, without its bias, is a sum over channels and positions. We may sum over the channels first:
#
# $$z_c=\sum_k w_{kc}\,\operatorname{mean}_{xy}F_k(x,y)=\operatorname{mean}_{xy}\;\underbrace{\sum_k w_{kc}F_k(x,y)}_{\text{a map of class }c}$$
#
# The inner sum is the **class activation map** (CAM; Zhou et al., 2016). It is one kind of **saliency** map: a picture that gives each position a number for how much it matters to the answer. Where the sum is negative it speaks against the class; we draw and count its positive part only.

# %%
def small_convnet():
    """Images (B, h, w, 3) of any size to two logits, and the same with the last features (B, h/8, w/8, C)."""
    x = images = keras.Input((None, None, 3))
    for filters in (16, 32, 32):
        x = layers.MaxPool2D()(layers.Conv2D(filters, 3, padding="same", activation="relu")(x))
    logits = layers.Dense(2)(ops.mean(x, axis=(1, 2)))  # the average of each feature map, then one dense layer
    return keras.Model(images, logits), keras.Model(images, {"features": x, "logits": logits})


rng, networks = np.random.default_rng(0), []
x = np.concatenate([crops(photo, 400, rng) for photo in (china, flower)])  # (800, 48, 48, 3)
for seed in range(3):
    keras.utils.set_random_seed(seed)
    classifier, insides = small_convnet()
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    classifier.compile(keras.optimizers.Adam(2e-3), loss)
    classifier.fit(x, np.repeat([0, 1], 400), batch_size=32, epochs=4, verbose=0)
    networks.append((classifier, insides))

# %% [markdown]
# **Predict.** The pasted square covers 6 % of the photograph. Which share of the map of class *flower* lies in it? And of the map of class *china*?
#
# <details><summary>Answer</summary>
#
# The square holds 96, 93 and 89 % of the map of *flower* (three seeds), and less than 1 % of the map of *china*. Equal weights would put 4.7 % there. That is less than 6 % because only the positions of the map that lie wholly inside the square are counted.
#
# </details>

# %%
scene = china.copy()
scene[100:164, 220:284] = flower[60:124, 160:224]
box = np.zeros((26, 40), bool)  # the positions of the last features inside the square
box[13:20, 28:35] = True
maps = []
for classifier, insides in networks:
    features = insides.predict(scene[None], verbose=0)["features"][0]  # (26, 40, C)
    cam = features @ classifier.layers[-1].kernel.numpy()  # (26, 40, classes)
    maps.append(np.maximum(cam, 0))  # what speaks for the class
    of_china, of_flower = maps[-1][box].sum(axis=0) / maps[-1].sum(axis=(0, 1))
    print(f"share in the square: map of flower {of_flower:.0%}, map of china {of_china:.1%}; equal weights {box.mean():.1%}")

# %% jupyter={"source_hidden": true} tags=["drawing"]
figure, panels = plt.subplots(1, 3, figsize=(10.4, 2.7))
for ax, title, overlay in zip(panels, ("the photograph", "map of class flower", "map of class china"), (None, maps[0][..., 1], maps[0][..., 0]), strict=True):
    ax.imshow(scene, extent=(0, 320, 214, 0))
    if overlay is not None:
        ax.imshow(overlay, cmap="inferno", alpha=0.65, extent=(0, 320, 208, 0))
    ax.add_patch(plt.Rectangle((220, 100), 64, 64, fill=False, color=diagrams.PALETTE["accent"], linewidth=1.5))
    ax.set(title=title, xticks=[], yticks=[], xlim=(0, 320), ylim=(214, 0))
    ax.grid(False)
plots.show(
    figure,
    alt="""The map of class flower lights up where the flower was pasted. A photograph of a Chinese temple with a framed square of an orange blossom; the same with the map of class flower, bright in the
square and nearly dark elsewhere; and with the map of class china, bright in the sky and dark in the square.""",
)


# %% [markdown]
# The map shows what speaks for the class *in this network*, which has learned to tell two photographs apart, and their colours may be enough for that (and of two logits the softmax sees only the difference, which no map here shows): a faint part of the map of *flower* lies on dark trees at the lower right.
#
# **A class activation map is the logit before its average: it shows where the evidence for one class lies.**

# %% [markdown]
# <a id="grad-cam"></a>
#
# ## 2 · Grad-CAM: any ending, any class
#
# CAM needs a network that ends in an average and a dense layer. **Grad-CAM** (Selvaraju et al., 2017) replaces the weight $w_{kc}$ by the mean gradient $\operatorname{mean}_{xy}\,\partial z_c/\partial F_k(x,y)$, so it works at any layer of features, whatever follows, and for any class that you choose. Negative values of the map are set to zero.

# %%
def gradient_map(insides, images, name, classes, start=tf.identity):
    """Grad-CAM (N, h, w) of the features `name` for the classes (N,), from start(logits)."""
    model = keras.Model(insides.inputs, [insides.output[name], insides.output["logits"]])
    with tf.GradientTape() as tape:
        features, logits = model(tf.constant(images))  # (N, h, w, C), (N, classes)
        score = tf.reduce_sum(start(logits) * tf.one_hot(classes, logits.shape[-1]))
    weights = tf.reduce_mean(tape.gradient(score, features), axis=(1, 2), keepdims=True)  # (N, 1, 1, C)
    return tf.nn.relu(tf.reduce_sum(features * weights, axis=-1)).numpy()  # (N, h, w)


# %% [markdown]
# **Predict.** The network of section 1 does end in an average and a dense layer. How do CAM and Grad-CAM differ for it?
#
# <details><summary>Answer</summary>
#
# Where both are positive, only by a factor, the number of positions: $z_c$ averages over 26 · 40 = 1040 of them, so each gradient is $w_{kc}/1040$.
#
# </details>

# %%
again = gradient_map(insides, scene[None], "features", [1])[0]  # (26, 40), the third network
print("CAM / Grad-CAM where neither is zero:", np.unique(np.round(maps[2][..., 1][again > 1e-6] / again[again > 1e-6])))


# %% [markdown]
# **Grad-CAM needs only a gradient: it draws a map for every layer of features and for every class.**

# %% [markdown]
# <a id="spatial-attention"></a>
#
# ## 3 · Attention as a part of the network
#
# Both maps are drawn afterwards, **post hoc**; the network never used them. *Trainable attention* is a part of the network: the map is computed in the forward pass, multiplies the features, and is learned with everything else. Yan, Kawahara and Hamarneh (2019) built it into VGG-16 for photographs of skin lesions, after Jetley et al. (2018).
#
# The middle features F are detailed, but each sees only a part of the image. The last features g are coarse, but each sees nearly all of it. So **g is the query, and the positions of F are the keys and the values**. It is the additive attention of lecture 1, with a ReLU in place of the tanh:

# %%
def plain_spatial_attention(f, g, filters=32):
    """Features f (B, h, w, C), guided by g: returns the sum of A·f (B, C) and the map A (B, h, w, 1)."""
    h, w = f.shape[1:3]
    wish = layers.Conv2D(filters, 1)(g)  # (B, h', w', filters): the query
    wish = layers.UpSampling2D((h // g.shape[1], w // g.shape[2]), interpolation="bilinear")(wish)
    offer = layers.Conv2D(filters, 1, use_bias=False)(f)  # (B, h, w, filters): the keys
    score = layers.Conv2D(1, 1)(ops.relu(wish + offer))  # (B, h, w, 1)
    a = layers.Reshape((h, w, 1))(layers.Softmax()(layers.Flatten()(score)))  # one softmax over all h·w positions
    return ops.sum(a * f, axis=(1, 2)), a


# %% jupyter={"source_hidden": true} tags=["drawing"]
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
    alt="""The last features g guide two attention modules, and go to the classifier as well. Image, three convolutions giving F1, one more giving F2, one more giving g. Two attention modules take F1
and F2, both guided by g. The weighted sums of F1 and F2 and the average of g go into a dense layer.""",
)

# %% [markdown]
# To judge a map we need the truth. So we make images whose truth is known: a real handwritten digit of 8 × 8 pixels (scikit-learn) at a random position of a 24 × 24 image, among eight scraps of other digits. The label is the whole digit, and **nobody tells the network its position**. A map that knows nothing puts 64/576 = 11 % of itself into the digit's box. This share of the area is a weak control: a map that follows only the ink would put more there.

# %%
training, testing, test_pool = digit_scenes.split()
labels, corners = testing.labels[:, 0], testing.corners[:, 0]
runs = []
for seed in range(3):
    classifier, insides = digit_scenes.trained("attention", seed, training)
    seen = digit_scenes.seen(insides, testing.images)
    guess = seen["logits"].argmax(axis=-1)  # (500,)
    maps = {name: seen[name.lower()][..., 0] for name in ("A1", "A2")}
    maps |= {f"Grad-CAM {name}": gradient_map(insides, testing.images, name.lower(), guess) for name in ("F1", "g")}
    maps = {name: digit_scenes.to_pixels(each) for name, each in maps.items()}  # each (500, 24, 24), sums to 1
    runs.append((classifier, maps))
    inside = ", ".join(f"{name} {digit_scenes.inside_box(each, corners):.0%}" for name, each in maps.items())
    print(f"seed {seed}: {np.mean(guess == labels):.0%} correct (guessing: 10 %); in the digit's box: {inside}")

# %% [markdown]
# The network was told “there is a seven in this picture”, and it found out *where*. Do the modules also help it to answer? These runs do not say: the accuracy of one seed moves by more than ten points with the number of processor cores that train it ([evidence](evidence/01.ipynb#digit-maps)).
#
# Map A2 need not find the digit: with seed 2 it has 11 % in the box, like a map that knows nothing. And Grad-CAM at g, the last convolutional features, where its authors draw it, is near chance: 14, 12 and 11 %. Its 3 × 3 cells are coarse, but a 3 × 3 map that knows the position puts 48 % there ([evidence](evidence/01.ipynb#digit-maps)).
#
# **Trained on classes alone, the network learns where the digit is: A1 puts 89 to 98 % of itself there.**

# %% [markdown]
# <a id="deletion"></a>
#
# ## 4 · Delete what the map marks
#
# Now the opening question. The four maps of the same decision disagree:

# %% jupyter={"source_hidden": true} tags=["drawing"]
shown = [int(np.flatnonzero((guess == labels) & (guess == digit))[0]) for digit in (2, 3, 5, 7)]
figure, panels = plt.subplots(4, 5, figsize=(8.8, 6.6), layout="constrained")
for place, (row, number) in enumerate(zip(panels, shown, strict=True)):
    for ax, (name, overlay) in zip(row, {"the image": None, **maps}.items(), strict=True):
        ax.imshow(testing.images[number, ..., 0], cmap="gray", extent=(-0.5, 23.5, 23.5, -0.5))
        if overlay is not None:
            times = overlay[number] / overlay[number].mean()  # 1 everywhere: a map that knows nothing
            heat = ax.imshow(times, cmap="inferno", alpha=0.6, extent=(-0.5, 23.5, 23.5, -0.5), vmin=0, vmax=8)
        y, x = corners[number]
        ax.add_patch(plt.Rectangle((x - 0.5, y - 0.5), 8, 8, fill=False, color=diagrams.PALETTE["accent"], linewidth=1.5))
        ax.set(xticks=[], yticks=[], title="" if place else name)
        ax.grid(False)
figure.colorbar(heat, ax=panels, label="times an equal weight", extend="max", fraction=0.02)
plots.show(
    figure,
    alt="""Four maps explain the same decision, and they mark different positions. Four images in rows, all read correctly, each with a frame around the digit; in columns the image, the attention maps A1 and A2,
and Grad-CAM at F1 and at g, all of seed 2. A1 is a small spot in the frame; A2 is nearly even, and so dark. Grad-CAM at F1 lies on strokes in several positions; at g it covers large squares. All maps have one scale, in multiples of an equal weight.""",
)


# %% [markdown]
# A map that claims “this matters” makes a prediction: delete what it marks, and the answer goes wrong. Set to zero the 8 × 8 window of the image that holds most of the map, and let the same network read again. Two more windows tell what to expect: a *random* one of the same size, and the *digit's own box*.

# %%
def without_window(images, maps):
    """The images with the 8 × 8 window that holds most of each map (N, 24, 24) set to zero."""
    windows = np.lib.stride_tricks.sliding_window_view(maps, (8, 8), axis=(1, 2))  # (N, 17, 17, 8, 8)
    result = images.copy()
    for image, sums in zip(result, windows.sum(axis=(-2, -1)), strict=True):
        y, x = np.unravel_index(sums.argmax(), sums.shape)
        image[y : y + 8, x : x + 8] = 0
    return result


windows = {"a random window": np.random.default_rng(8).random((500, 24, 24)) ** 20, "the digit": digit_scenes.boxes(corners)}
correct = {}
for name in (*windows, *maps):
    images = [without_window(testing.images, windows[name] if name in windows else own[name]) for _, own in runs]
    read = [run[0].predict(each, verbose=0).argmax(axis=-1) for run, each in zip(runs, images, strict=True)]
    correct[name] = np.array(read) == labels  # (3 seeds, 500)
    print(f"without {name:16}", " ".join(f"{share:4.0%}" for share in correct[name].mean(axis=1)), "correct")
for name in ("A1", "a random window"):
    found = difference_interval(correct["Grad-CAM F1"], correct[name], np.arange(500), same_networks=True)
    print("correct after Grad-CAM F1, minus after {}: {:+.1f} points ({:+.1f} to {:+.1f})".format(name, *(100 * x for x in found)))

# %% [markdown]
# Without A1's window 13, 15 and 13 % of the answers are still correct, without Grad-CAM's 15, 14 and 23 %, and guessing would give 10. The difference is 3.7 points, and its interval includes zero (−0.9 to +9.8). So both windows lie on the digit; any window there costs the answer. The test also finds maps that mark little: the window of A2 of seed 2 costs no more than a random one, although A2 *is* a part of the network. Nor does Grad-CAM at g mark much: 60, 71 and 73 % without its window, 71, 74 and 74 % without a random one.
#
# But each map's densest window mostly lies on the digit. The half of Grad-CAM that lies elsewhere has not been touched yet.

# %% [markdown]
# **Predict.** Now delete the densest window of Grad-CAM at F1 that does *not* touch the digit. What does it cost, compared with a random window outside the digit?
#
# - (a) much more: the map says that it matters
# - (b) about the same: nothing
# - (c) it depends on the seed
#
# <details><summary>Answer</summary>
#
# **(b)** Without Grad-CAM's window elsewhere 89, 96 and 92 % of the answers are correct (three seeds), and 89, 94 and 91 % without a random window there. With everything there it is 87, 93 and 89 %.
#
# </details>

# %%
box = digit_scenes.boxes(corners)  # (500, 24, 24): 1 where the digit is
print(f"{'everything there':30}", " ".join(f"{np.mean(run[0].predict(testing.images, verbose=0).argmax(axis=-1) == labels):4.0%}" for run in runs), "correct")
for name in ("Grad-CAM F1", "a random window"):  # windows that do not touch the digit
    images = [without_window(testing.images, windows.get(name, own.get(name)) - 100 * box) for _, own in runs]
    shares = [np.mean(run[0].predict(each, verbose=0).argmax(axis=-1) == labels) for run, each in zip(runs, images, strict=True)]
    print(f"elsewhere, without {name:15}", " ".join(f"{share:4.0%}" for share in shares), "correct")
only = [np.mean(run[0].predict(testing.images * box[..., None], verbose=0).argmax(axis=-1) == labels) for run in runs]
print(f"{'with nothing but the digit':30}", " ".join(f"{share:4.0%}" for share in only), "correct")

# %% [markdown]
# So the half of Grad-CAM that lies elsewhere marks nothing that these answers need. On the contrary: with *nothing but* the digit 93, 97 and 93 % are correct, more than with everything there. The scraps disturb it; the map lit them up, and for the answer they were noise.
#
# Grad-CAM can do what A1 cannot: answer for a class of your choice. Here are images with *two* digits, a kind that the network never saw in training:

# %%
pairs = digit_scenes.scenes(300, test_pool, np.random.default_rng(10), whole=2)
two = pairs.labels[:, 0] != pairs.labels[:, 1]
asked = {f"Grad-CAM for digit {d + 1}": gradient_map(insides, pairs.images[two], "f1", pairs.labels[two, d]) for d in (0, 1)}
asked |= {"A1, whatever you ask": digit_scenes.seen(insides, pairs.images[two])["a1"][..., 0]}
for name, heat in asked.items():
    shares = [digit_scenes.inside_box(digit_scenes.to_pixels(heat), pairs.corners[two, d]) for d in (0, 1)]
    print(f"{name:22} {shares[0]:.0%} on digit 1, {shares[1]:.0%} on digit 2")

# %% [markdown]
# Grad-CAM moves to the chosen digit; A1 splits its weight between the two. Each kind of map has its own use:
#
# | | trainable attention | CAM, Grad-CAM |
# |---|---|---|
# | used by the network? | yes, by this branch | no, drawn afterwards |
# | one for each class? | no, one for the image | yes |
# | may claim | “features elsewhere did not pass this branch” | “changing these features would change the logit” |
# | may **not** claim | “pixels elsewhere had no influence”: each feature has seen its surroundings, and g goes to the classifier directly | “the network looks here” |
#
# The test of this section deletes pixels and counts correct answers, so it says nothing directly about features or about the size of a logit. Neither map is an explanation by itself. Adebayo et al. (2018) found post-hoc maps that hardly change when the weights are replaced by random ones (Grad-CAM passed). Jain and Wallace (2019) found other attention weights with the same predictions; Wiegreffe and Pinter (2019) answer that the verdict depends on what you call an explanation.
#
# **Judged by deletion, A1 and Grad-CAM at F1 are right about the digit, and Grad-CAM at g marks little; what Grad-CAM at F1 marks elsewhere these answers do not need.**

# %% [markdown]
# <a id="captions"></a>
#
# ## 5 · Show, attend and tell
#
# Xu et al. (2015) use attention to write captions: a convolutional network gives a feature for each position, and an LSTM writes word by word. Before each word, the state of the LSTM is the query. *Soft* attention reads the weighted mean of the features. *Hard* attention reads the feature of one position, sampled with the weights as probabilities. No gradient passes a sample, so hard attention learns from a reward: the log-probability of the words that follow (REINFORCE; Williams, 1992).
#
# The scenes hold two real digits among scraps, with captions such as “a seven above a two”. No position was ever given, and the run is recorded:

# %% jupyter={"source_hidden": true} tags=["setup"]
told = recorded.load("show_attend_tell")["results"]
for kind in ("soft", "hard", "hard, draws only"):
    written = [run for run in told["runs"] if run["kind"] == kind]
    print(f"{kind:16} captions without an error", *(f"{run['exact']:.0%}" for run in written), end="; ")
    print("of the weights on the digit that is named next", *(f"{run['inside']['its digit']:.0%}" for run in written))

# %% jupyter={"source_hidden": true} tags=["drawing"]
pages = told["first test scenes"]
scene = np.array(told["scenes"]["images"][0])  # the first test scene: nobody chose it
lines = {kind: pages[kind][0] for kind in ("soft", "hard")}
shades = LinearSegmentedColormap.from_list("weight", [diagrams.PALETTE["accent"] + "00", diagrams.PALETTE["accent"] + "cc"])
columns = max(len(line["words"]) for line in lines.values())
figure, grid = plt.subplots(2, columns, figsize=(1.7 * columns, 4.2), layout="constrained")
for row, (kind, line) in zip(grid, lines.items(), strict=True):
    for panel, word, weight in zip(row, line["words"], line["maps"], strict=True):
        panel.imshow(scene, cmap="gray_r", vmin=-0.3)
        shown = panel.imshow(np.reshape(weight, (6, 6)), cmap=shades, vmin=0, vmax=1, extent=(-0.5, 23.5, 23.5, -0.5))
        panel.set(xticks=[], yticks=[], ylabel=f"{kind} attention" if panel is row[0] else "")
        panel.grid(False)
        for edge in panel.spines.values():
            edge.set(visible=True, color=diagrams.PALETTE["residual"])
        wrong = word not in lines["soft"]["words"]
        panel.set_title(f"before “{word}”", fontsize=10, color=diagrams.PALETTE["accent" if wrong else "ink"])
figure.colorbar(shown, ax=grid, label="weight, one scale for all", fraction=0.02)
plots.show(
    figure,
    alt="""Before a digit is named, soft attention's weights move to it. One framed scene of two digits, repeated for each word of its caption, with the weights before that word, all on one scale from 0 to 1: soft attention above, hard
attention below. The soft caption is correct. The hard one names a zero (in another colour) where the nine is, and before that word its weight lies between the digits.""",
)

# %% [markdown]
# A map that knows nothing would put 11 % on the named digit. Hard attention puts more of its weight on the digit that is named (96, 95 and 98 %) than soft attention (91, 90 and 90 %), and yet it writes fewer captions without an error: 71 to 74 % against 87 to 91 %. So a larger share on the digit does not make a better caption.
#
# Look also at the words that name *nothing*. Before the second “a” and before “[END]” soft attention puts most of its weight on one empty cell at the upper edge. The weights must sum to 1, so here what is not needed is parked. Lecture 5 meets the same habit in language models, as *attention sinks*.
#
# **Soft attention learned where to look without being told a position; hard attention, trained on samples only, did so with one seed of three.**

# %% [markdown]
# ## Two mistakes
#
# **The softmax runs over the channels.** The scores of a map have the shape (B, h, w, 1), and the last axis holds one number. So every weight is 1, and the module passes the plain sum of the features.

# %%
# NBVAL_CHECK_OUTPUT
score = np.random.default_rng(11).normal(size=(1, 12, 12, 1))  # (B, h, w, 1)
for name, axis in {"over the channels": -1, "over all positions": (1, 2)}.items():
    a = softmax(score, axis=axis)  # (B, h, w, 1)
    print(f"softmax {name:18}: sum {a.sum():5.1f}, smallest weight {a.min():.4f}, largest {a.max():.4f}")

# %% [markdown]
# **Grad-CAM starts from a probability.** The method starts from the score *before* the softmax (Selvaraju et al., 2017, section 3). The slope of a softmax is p(1 − p), nearly zero where the network is sure; scaling a map to its own maximum hides that.

# %%
sure = np.flatnonzero(softmax(seen["logits"], axis=-1).max(axis=-1) > 0.99)  # images with a probability above 0.99
for name, start in {"logit": tf.identity, "probability": tf.nn.softmax}.items():
    heat = gradient_map(insides, testing.images[sure], "f1", guess[sure], start)
    print(f"map of the {name:11} of {len(sure)} sure images: median of the largest value {np.median(heat.max(axis=(1, 2))):.6f}")

# %% [markdown]
# ## Four questions
#
# <details><summary>1. A network ends in the average of a 3 × 3 map and a dense layer. By what factor do CAM and Grad-CAM differ?</summary>
#
# By 9, the number of positions.
#
# </details>
#
# <details><summary>2. Map A1 puts 90 % of its weight on a digit. Does that prove that the scraps had no influence?</summary>
#
# No. The features there have seen their surroundings, and g sees the whole image and goes to the classifier.
#
# </details>
#
# <details><summary>3. “Where would the network look if this were a three?” Which map can answer?</summary>
#
# Grad-CAM, from the logit of class 3. The attention map is the same for all classes.
#
# </details>
#
# <details><summary>4. The window of a map costs 10 points of accuracy. What must you know before you count that in favour of the map?</summary>
#
# What a random window of the same size costs.
#
# </details>
#
# <details><summary><b>What this page does not show</b></summary>
#
# * One task with small artificial scenes, three networks. Accuracies of single seeds depend on the machine.
# * The deletion takes away one window of 8 × 8 pixels.
# * A network that was trained among scraps reads images without them here; both kinds of deleted images are new to it.
# * In section 5 “hard” used the weighted mean in half of the scenes of a batch, as in the paper; “draws only” never did. Longer training was not tried ([evidence](evidence/01.ipynb#visual-attention)).
#
# </details>
#
# ## Summary
#
# | map | from | shape |
# |---|---|---|
# | CAM | features times the weights of a class | (h, w) for each class |
# | Grad-CAM | features times mean gradients, cut at 0 | (h, w) for each class and layer |
# | trainable attention | softmax over positions, query g, keys F | (B, h, w, 1), sums to 1 |
#
# The module is an exercise in [lab 1](../labs/01_attention_intuition/01_attention_intuition.ipynb). Next: in [lecture 2](02_self_attention.ipynb) the tokens of a sentence look at each other.
#
# **A map is a claim: delete what it marks, and see.**
#
# ## References
#
# * B. Zhou et al., *Learning deep features for discriminative localization*, CVPR 2016, [arXiv:1512.04150](https://arxiv.org/abs/1512.04150). R. Selvaraju et al., *Grad-CAM*, ICCV 2017, [arXiv:1610.02391](https://arxiv.org/abs/1610.02391): section 3.
# * Y. Yan, J. Kawahara, G. Hamarneh, *Melanoma recognition via visual attention*, IPMI 2019. S. Jetley et al., *Learn to pay attention*, ICLR 2018, [arXiv:1804.02391](https://arxiv.org/abs/1804.02391).
# * J. Adebayo et al., *Sanity checks for saliency maps*, NeurIPS 2018, [arXiv:1810.03292](https://arxiv.org/abs/1810.03292). S. Jain, B. Wallace, *Attention is not explanation*, NAACL 2019. S. Wiegreffe, Y. Pinter, *Attention is not not explanation*, EMNLP 2019.
# * K. Xu et al., *Show, attend and tell*, ICML 2015, [arXiv:1502.03044](https://arxiv.org/abs/1502.03044): section 4. R. Williams, *Simple statistical gradient-following algorithms for connectionist reinforcement learning*, Machine Learning 8, 1992.
#
# <details><summary>If something looks wrong, runs slowly, or you want more</summary>
#
# **Symptoms.** `None` as gradient: `argmax`, a draw or NumPy in the path. A map that is 1 everywhere: softmax over an axis of length 1. Grad-CAM zero everywhere: all weighted features are negative, or it started from a probability. Map and image do not fit: rows and columns swapped.
#
# **Slow machine:** one seed in section 1. **GPU:** more scraps; does the map still find the digit?
#
# **More.** V. Mnih et al., [*Recurrent models of visual attention*](https://arxiv.org/abs/1406.6247). F. Chollet, *Deep Learning with Python*: Grad-CAM on a photograph with a published network.
#
# </details>

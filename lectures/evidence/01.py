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
# # Evidence for lecture 1
#
# What stands in one line of [lecture 1](../01_attention_intuition.ipynb) has its runs here, all of them recorded. Below them stand those of lecture 1b; some of these are live.

# %% tags=["setup"]
import numpy as np

from coursekit import recorded

np.set_printoptions(precision=2, suppress=True, linewidth=120)

# %% [markdown]
# <a id="one-date"></a>
#
# ## Without attention: one date of a line
#
# **Claim.** Without attention, training finds one date of a line; with it, all of them.
#
# **Changed.** Attention or none. The runs without attention have three times the training: 16 epochs against 5.
#
# **Runs.** Each line is one seed; the seed draws the parameters and the order of the batches. 200 test lines of each length.

# %%
record = recorded.load("date_translators")
print(record["command"], "|", record["device"], "|", record["date"])
for name, runs in record["results"].items():
    print(f"\n{name}")
    for run in runs:
        shares = "   ".join(f"{count}: {np.array(row)}" for count, row in run["correct"].items())
        print(f"  seed {run['seed']}, {run['epochs']} epochs, {run['parameters']:,} parameters   {shares}")

# %% [markdown]
# **Not shown.** That no training could do it, or that the state is too small: three dates are about 45 bits (each is one of some 36,500 days), and the state holds 128 numbers. The source was not reversed (Sutskever et al. 2014 did so), and the network was not tuned.

# %% [markdown]
# <a id="four-dates"></a>
#
# ## Four dates, one more than trained
#
# **Claim.** Of four dates in a line the first is correct and the third is nearly always wrong. The rows "4:" above show it, by position in the line; here they are again.

# %%
for run in record["results"]["with attention"]:
    print(f"seed {run['seed']}: correct by position {np.array(run['correct']['4'])}")

# %% [markdown]
# **Not shown.** Why. The second and the last date differ from seed to seed.

# %% [markdown]
# <a id="padding"></a>
#
# ## The mask left out
#
# **Claim.** In the date translator, trained with a mask, hardly any weight goes to padding when the mask is left out. **Changed.** The mask, after training.

# %%
for run in record["results"]["with attention"]:
    print(f"seed {run['seed']}: {run['weight on padding, mask left out']:.2%} of the weight on padding")

# %% [markdown]
# **Not shown.** Why. Do not rely on it: the page's first mistake shows scores for which padding gets most of the weight.

# %% [markdown]
# <a id="caption"></a>
#
# ## Where a translator looks for the colours of the caption
#
# **Claim.** A large weight says where a vector was taken from, not what it is about. This translator writes the correct colour of the second dog while its largest weight is on *chien*: the annotation of a position has also read its neighbours. For the first dog its largest weight is on the colour.
#
# **Runs.** One seed of additive attention, 250 steps, about half a pass over Multi30k; caption and twin. Weights are summed over the pieces of a word.

# %%
caption = recorded.load("caption_alignment")
print(caption["command"], "|", f"{caption['results']['passes']} passes")
for name in ("caption", "twin"):
    found = caption["results"][name]
    print(f"\n{name}, written: {found['written']}")
    print(" " * 9, " ".join(f"{word:>6}" for word in found["french"]))
    for word, row in zip(found["english"], found["weights"], strict=True):
        print(f"{word:9}", " ".join(f"{weight:6.2f}" for weight in row))

# %% [markdown]
# **Not shown.** Where a translator that was trained to the end would look. The correct English words are read in while the weights are recorded, so the rows follow the correct caption, and the written line follows the translator.
#
# The map and the mean in section 1 of the page are from another experiment and another sentence: `experiments/recurrent_translation.py`, additive scores, three seeds, 40 processor seconds each, less than one pass over the 29,000 pairs. There, too, the correct words are read in.

# %% [markdown]
# <a id="eyes-and-databases"></a>
#
# ## Eyes, sentences and databases
#
# No measurement stands here; these are the ideas around attention that the page has no room for.
#
# * **Emphasis.** A memory that holds little must choose. The eye sees sharply in a small spot, and the brain moves the spot. In *she is eating a green …* the word *eating* says that a food follows, and *green* says which: the two words matter, at any
#   distance from the gap.
# * **Four lessons of a database** (after Zhang et al., *Dive into Deep Learning*, section 11.1). One query works on databases of any size, if the score looks at keys and not at positions. The same query gets another answer from another database. The rule can be
#   short for a large database. Keys and values are read where they are, without being compressed first.
# * **Kinds of tasks** (after Karpathy 2015): one to one (an image and its class), one to many (an image and its caption), many to one (a review and its mood), many to many with a delay (translation), many to many step by step (a tag for each
#   word). Attention came with the fourth (Bahdanau et al. 2015); captions followed (Xu et al. 2015). A convolutional network that ends in a dense layer takes inputs of one size only; a recurrent network and attention take any length.
# * **Three things make the next word** in Bahdanau's decoder: the state, the last word, and the context.
#
# A. Karpathy, *The Unreasonable Effectiveness of Recurrent Neural Networks*, 2015 (blog); K. Xu et al., *Show, Attend and Tell*, 2015, [arXiv:1502.03044](https://arxiv.org/abs/1502.03044)

# %% [markdown]
# <a id="visual-attention"></a>
#
# ## E1b · Lecture 1b: what its page has no room for
#
# The entries from here on belong to [lecture 1b](../01b_visual_attention.ipynb).

# %% tags=["setup"]
from coursekit import diagrams, plots, quiet

quiet.start_tensorflow()
plots.use_course_style()

import keras
import matplotlib.pyplot as plt
import tensorflow as tf
from keras import layers, ops
from scipy.special import softmax

from coursekit import digit_scenes
from coursekit.pages.visual_attention import gradient_map, plain_spatial_attention

# %% [markdown]
# <a id="slopes"></a>
#
# ## The slopes of soft, local and hard attention
#
# **Claim.** Hard attention has the slope 0 wherever it has one; local attention has a slope between its jumps. **Changed.** How many keys get weight: all, the nearest three, the nearest one. **Runs.** One draw of 150 noisy measurements, Gaussian weights with σ = 0.1. **Not shown.** Learning.

# %%
rng = np.random.default_rng(3)
keys = np.sort(rng.uniform(0, 5, size=150))  # (S,)
values = np.sin(2 * keys) + 0.4 * keys + 0.4 * rng.normal(size=150)  # (S,)
fine = np.linspace(1, 1.5, 1000)  # (T,)
weights = softmax(-((fine[:, None] - keys) ** 2) / (2 * 0.1**2), axis=-1)  # (T, S)
near = weights >= np.sort(weights, axis=1)[:, [-3]]  # the three largest of every row
curves = {
    "soft": weights @ values,
    "local (3)": (weights * near / (weights * near).sum(axis=1, keepdims=True)) @ values,
    "hard": values[weights.argmax(axis=1)],
}
print(f"hard attention: the slope is exactly 0 at {np.mean(np.diff(curves['hard']) == 0):.0%} of the queries; at the others it jumps")
with tf.GradientTape(persistent=True) as tape:
    scores = tf.Variable([0.2, 1.0, -0.5])  # (S,)
    payload = tf.constant([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])  # (S, D)
    softly = tf.linalg.matvec(payload, tf.nn.softmax(scores), transpose_a=True)  # (D,)
    firmly = tf.linalg.matvec(payload, tf.one_hot(tf.argmax(scores), 3), transpose_a=True)  # (D,)
print("gradients with respect to the scores: soft", tape.gradient(softly, scores).numpy(), "hard", tape.gradient(firmly, scores))

# %% tags=["drawing"]
figure, panels = plt.subplots(2, 1, figsize=(7, 4.6), sharex=True, height_ratios=[3, 2])
inside = (keys > 1) & (keys < 1.5)
panels[0].plot(keys[inside], values[inside], ".", color=diagrams.PALETTE["residual"])
for (name, curve), style in zip(curves.items(), plots.LINES, strict=False):
    style = {**style, "marker": None}
    panels[0].plot(fine, curve, label=name, **style)
    slope = np.diff(curve) / np.diff(fine)  # (T − 1,)
    panels[1].plot(fine[:-1], np.where(abs(slope) < 5, slope, np.nan), **style)  # a jump has no slope: leave a gap
panels[1].set(xlabel="query", ylabel="slope")
panels[0].legend()
plots.show(
    figure,
    alt="""Hard attention is a staircase: its slope is zero between the jumps. Above, soft, local and hard estimates of the same points; below, their slopes, with gaps at the jumps.
Soft is smooth, local is smooth between small jumps.""",
)

# %% [markdown]
# <a id="reinforce"></a>
#
# ## A gradient for a random choice (REINFORCE)
#
# Draw position $j$ with probability $\alpha_j$ and get the loss $\ell_j$. The true gradient of the expected loss with respect to score $j$ is $\alpha_j(\ell_j - \sum_i \alpha_i \ell_i)$. One draw gives the estimate $(\ell_j - b)(\mathbf{1}_j - \alpha)$ with a **baseline** $b$ (Williams, 1992). The baseline adds $-b\,(\mathbf{1}_j - \alpha)$, whose mean
# over the draws is 0, so the mean of the estimates stays. Xu et al. (2015, section 4.1) use a running mean of earlier rewards as $b$; here it is the expected loss.
#
# **Claim.** The mean of the estimates is the gradient, and more draws and a baseline bring single estimates nearer to its direction. **Changed.** Draws a step (1, 10, 100) and the baseline. **Runs.** 5,000 experiments, one choice among six. **Not shown.** A network; for that see the captions below. A baseline can make the scatter of single components larger.

# %%
rng = np.random.default_rng(5)
alpha = softmax(rng.normal(size=6))  # (S,)
losses = rng.uniform(0, 4, size=6)  # (S,): the loss if this position is looked at
true_gradient = alpha * (losses - alpha @ losses)  # (S,)
drawn = rng.choice(6, size=(5000, 100), p=alpha)  # 5000 experiments of up to 100 draws
print("true gradient", true_gradient)
for name, baseline in {"plain": 0, "with baseline": alpha @ losses}.items():
    estimates = (losses - baseline)[drawn][..., None] * (np.eye(6)[drawn] - alpha)  # (5000, 100, S)
    for draws in (1, 10, 100):
        mean = estimates[:, :draws].mean(axis=1)  # (5000, S): each experiment averages its draws
        cosine = mean @ true_gradient / np.linalg.norm(mean, axis=1) / np.linalg.norm(true_gradient)
        low, middle, high = np.quantile(cosine, [0.05, 0.5, 0.95])
        print(f"{name:13} {draws:3} draws: cosine with the gradient, median {middle:.2f} (90 % between {low:.2f} and {high:.2f})", end="; ")
        print("mean of all estimates", mean.mean(axis=0) if draws == 100 else "…")

# %% [markdown]
# <a id="digit-maps"></a>
#
# ## Digits among scraps without the two modules
#
# **Claim.** Without the attention modules each of three seeds reads fewer digits than each of the page's three with them, although the network has as many parameters. **Changed.** The modules: here F1 and F2 go to the classifier on the same paths, averaged with equal weights, with 36 channels in place of 32. **Runs.** Seeds 0 to 2, the same 4,000 scenes to train and 500 to test, the same eight epochs. The page's seeds stand in lecture 1b, section 3.
# **One core.** Trained on one processor core in place of two, the page's seeds read 73, 90 and 93 % correctly, so three seeds do not rank the networks.
# **Not shown.** A network without attention that was tuned for this task.

# %%
training, testing, _ = digit_scenes.split()
labels, corners = testing.labels[:, 0], testing.corners[:, 0]
print(f"with attention: {digit_scenes.network('attention')[0].count_params():,} parameters")
for seed in range(3):
    classifier, insides = digit_scenes.trained("averages", seed, training, filters=36)
    seen = digit_scenes.seen(insides, testing.images)
    guess = seen["logits"].argmax(axis=-1)
    maps = {name: digit_scenes.to_pixels(gradient_map(insides, testing.images, name, guess)) for name in ("f1", "g")}
    inside = ", ".join(f"Grad-CAM {name} {digit_scenes.inside_box(each, corners):.0%}" for name, each in maps.items())
    print(f"averages, seed {seed}: {classifier.count_params():,} parameters, {np.mean(guess == labels):.0%} correct; in the digit's box: {inside}")
coarse = digit_scenes.boxes(corners).reshape(-1, 3, 8, 3, 8).sum(axis=(2, 4))  # (500, 3, 3)
print(f"a 3 × 3 map that knows the position puts {digit_scenes.inside_box(digit_scenes.to_pixels(coarse), corners):.0%} there, a map that knows nothing 11 %")

# %% [markdown]
# <a id="vgg"></a>
#
# ## VGG-16 with attention, counted
#
# **Claim.** Two attention modules and one dense layer in place of VGG-16's three dense layers leave about a ninth of its parameters: 15,177,028 of 138,357,544. **Not shown.** A training: it needs photographs and a GPU. The authors' network differs (Yan, Kawahara and Hamarneh, 2019, their code): VGG-16 with batch norm, two of three convolutions of a module without a bias, and by its README sigmoid maps, which do not sum to 1.

# %%
vgg = keras.applications.VGG16(include_top=False, weights=None, input_shape=(224, 224, 3))
pool3, pool4, pool5 = (vgg.get_layer(f"block{number}_pool").output for number in (3, 4, 5))  # 28, 14 and 7 rows
sums = [plain_spatial_attention(pool3, pool5, 256)[0], plain_spatial_attention(pool4, pool5, 256)[0]]  # (B, 256), (B, 512)
seeing = keras.Model(vgg.input, layers.Dense(2)(ops.concatenate([*sums, ops.mean(pool5, axis=(1, 2))], axis=-1)))
dense = seeing.layers[-1].count_params()
modules = seeing.count_params() - vgg.count_params() - dense
print(f"convolutions {vgg.count_params():,} + two modules {modules:,} + dense {dense:,} = {seeing.count_params():,}")

# %% [markdown]
# <a id="x-rays"></a>
#
# ## Chest X-rays: healthy and ill side by side
#
# **Claim.** On X-rays of 28 × 28 pixels (a balanced part of PneumoniaMNIST; Yang et al., 2023) attention does not change the AUC, and five seeds look at different positions. **Changed.** The modules, as above; "g alone, wider" has as many parameters as attention. **Runs.** Five seeds; intervals over test images.
#
# **Deletion, with its control.** The pixels with the largest values of a map become those of the mean image. Beside the image's own map stand another image's map, the own map *shifted* on its grid by a random amount, so that the hole keeps its form, and random positions. With 40 % deleted, the own map A1 leaves an AUC of 0.871, another image's map 0.876, the shifted map 0.916, and random positions 0.930; A2 alike. So more than half of the loss comes from the position of the hole and not from its form, on average; but only four of the five seeds show it: with seed 1 the shifted map costs no less than the own one. And the position matters in any chest, since another image's map costs nearly as much.
#
# **Not shown.** What lies at these positions: no lesion is marked in these images. A shifted hole may leave the chest, or fall apart at the edge of the grid. Two of six intervals below that leave out or touch 0 are weak evidence.
#
# **Healthy beside ill.** In each seed the mean map of the ill differs from that of the healthy (correlation 0.17 to 0.47), so one could take the difference for a finding. The control is another seed. Of the ill, seeds 3 to 5 look at the middle of the chest and seeds 1 and 2 at its lower edge, and all judge about equally well (AUC 0.94 to 0.96). The changes from healthy to ill have a correlation of −0.01 to 0.50 between two seeds, with a median of 0.11. So the map of one network does not say what the judgement needs.

# %%
xray = recorded.load("xray_attention")
print("repeat with:", xray["command"], "|", xray["device"])
lungs = xray["results"]
for kind, size in lungs["parameters"].items():
    several = [run for run in lungs["runs"] if run["kind"] == kind]
    print(f"{kind:15}{size:,} parameters; accuracy {np.mean([run['accuracy'] for run in several]):.3f}, AUC by seed", *(f"{run['AUC']:.3f}" for run in several))
for other, apart in lungs["attention minus"].items():
    print(f"attention minus {other}:", ", ".join(f"{what} {mid:+.3f} ({low:+.3f} to {high:+.3f})" for what, (mid, low, high) in apart.items()))
for name, found in lungs["correlation of maps between seeds"].items():
    print(f"correlation of {name.upper()} between two seeds, same image: {min(found):+.2f} to {max(found):+.2f}")
for name in ("a1", "a2"):
    for owner in ("own", "another's", "own, shifted", "random"):
        areas = [each["deletion"][name][owner] for each in lungs["maps"]]
        print(f"{name.upper()}, {owner:12} AUC after deletion of", *(f"{100 * float(share):.0f} %: {np.mean([area[share]['AUC'] for area in areas]):.3f}" for share in areas[0]), sep="  ")
for name in ("a1", "a2"):
    left = {owner: [each["deletion"][name][owner]["0.4"]["AUC"] for each in lungs["maps"]] for owner in ("own", "own, shifted")}
    print(f"{name.upper()}, own minus own shifted, AUC after deletion of 40 %, by seed", *(f"{a - b:+.3f}" for a, b in zip(*left.values(), strict=True)))
mean_a2 = {health: np.array(mean["a2, by seed"]) for health, mean in lungs["mean pictures"].items()}  # (seeds, 8, 8), mean 1
flat = {health: each.reshape(5, -1) for health, each in mean_a2.items()}
other_seed = [np.corrcoef(each)[np.triu_indices(5, k=1)] for each in flat.values()]
other_class = [np.corrcoef(*pair)[0, 1] for pair in zip(*flat.values(), strict=True)]
print("correlation of two mean maps A2: normal and pneumonia, same seed", *(f"{each:+.2f}" for each in other_class), end="; ")
print(*(f"{health}, two seeds {min(each):+.2f} to {max(each):+.2f}" for health, each in zip(flat, other_seed, strict=True)), sep="; ")
changes = np.corrcoef(flat["pneumonia"] - flat["normal"])[np.triu_indices(5, k=1)]
print(f"correlation of the change from normal to pneumonia, two seeds {changes.min():+.2f} to {changes.max():+.2f}, median {np.median(changes):+.2f}")
for health, mean in lungs["mean pictures"].items():
    shares = []
    for each in mean["a2, by seed"]:
        weights = np.array(each).ravel() / np.sum(each)
        shares.append(np.exp(-np.sum(weights * np.log(weights + 1e-12))) / weights.size)
    print(f"{health:10} mean map A2 looks at", *(f"{share:.0%}" for share in shares), "of its positions, by seed (e to the entropy ÷ positions)")

# %% tags=["drawing"]
figure, panels = plt.subplots(2, 5, figsize=(9.4, 4.2), layout="constrained")
for row, health in zip(panels, mean_a2, strict=True):
    for seed, (ax, each) in enumerate(zip(row, mean_a2[health], strict=True), start=1):
        ax.imshow(lungs["mean pictures"][health]["image"], cmap="gray", extent=(2, 30, 30, 2))
        heat = ax.imshow(each, cmap="inferno", alpha=0.55, extent=(0, 32, 32, 0), vmin=0, vmax=8)
        ax.set(title=f"{health}, seed {seed}", xticks=[], yticks=[], xlim=(2, 30), ylim=(30, 2))
        ax.grid(False)
figure.colorbar(heat, ax=panels, label="times an equal weight", extend="max", fraction=0.02)
plots.show(
    figure,
    alt="""Networks that judge about equally well look at different parts of the chest. The mean X-ray of the normal images five times, above, and of those with pneumonia, below, each with the mean map A2 of one
seed. Above, the bright cells lie at other edges for each seed, and for some in the middle; below, three seeds look at the middle and two at the lower edge. All maps have one scale, in multiples of an equal weight.""",
)

# %% [markdown]
# <a id="caption-runs"></a>
#
# ## Captions with soft and hard attention: all runs
#
# **Claim.** Soft attention writes more captions without an error than hard attention, with each of three seeds, and draws alone learn with one seed of three. **Changed.** How the positions are read in training. **Runs.** Three seeds, 1,200 batches, the convolutional network trained to classify first. BLEU counts groups of one to four words, so a caption with one wrong digit still scores high. **Not shown.** Longer training.

# %%
told = recorded.load("show_attend_tell")
print("repeat with:", told["command"], "|", told["device"])
for writer in told["results"]["runs"]:
    low, high = writer["exact interval"]
    print(f"{writer['kind']:16} seed {writer['seed']}: exact {writer['exact']:.1%} (95 %: {low:.1%} to {high:.1%}), BLEU {writer['BLEU']:.1f};", end=" ")
    print(f"weights in the named digit's box {writer['inside']['its digit']:.0%}, in the other's {writer['inside']['the other digit']:.0%};", end=" ")
    print(f"exact where both digits are correct {writer['exact, of those with both digits right']:.1%}")

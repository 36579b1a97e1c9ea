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
# # Evidence for lectures 6 and 6b
#
# Recorded runs on the real reviews (Maas et al., 2011). Each entry says what was changed, how often it was run, and what it does not show. The programs are
# `experiments/imdb_classifier.py`, `imdb_by_film.py` and `imdb_controls.py`, all with `--data FOLDER`.

# %% tags=["setup"]
import numpy as np

from coursekit import recorded

search = recorded.load("imdb_classifier")["results"]
film = recorded.load("imdb_by_film")["results"]
controls = recorded.load("imdb_controls")["results"]


def accuracies(group, name, part):
    """Of the runs with seeds 0, 1, 2, (3,)."""
    return np.array([film[group][f"{name}; seed {seed}"][part] for seed in range(3)])


# %% [markdown]
# <a id="search"></a>
#
# ## Search of the recipe, and two splits that misled
#
# **Claim.** The first search preferred the first 200 words, the second the last 200; both were read on splits that do not predict the test split. **Changed:** one setting at a time, one seed.
# **Then:** final models on the test split, each read once, the published one after each epoch. The two models chosen at random came first, and their test accuracy was the reason to look for another split: so the
# test split was read twice before the recipe was found. **Does not show** which setting is better: there is one seed for each, and the answers were not kept for a paired test.

# %%
for split in ("at random", "by file number"):
    print(f"held back {split}")
    for name, run in search[f"search, {split}"].items():
        measured = run["history"]["val_accuracy"]
        print(f"  {measured[-1] if run['settings']['decay_epochs'] else max(measured):.3f}  {name}")
print("\nfinal models, test accuracy after the last epoch")
for group, runs in search.items():
    if group.startswith(("transformer", "lstm", "linear", "published")):
        for name, run in runs.items():
            last = run["test_accuracy"] if "test_accuracy" in run else run["history"]["val_accuracy"]
            print(f"  {group}, {name}: {last}")

# %% [markdown]
# In "published, positions not trained" the position table was called on a fixed array while the model was built. It became a constant: 6,400 parameters were missing, and the model trained all the same.
# For comparison: linear models of Wang and Manning (2012) reach 0.912 on these reviews, averaged word vectors of Iyyer et al. (2015) 0.894, BERT-base, pre-trained further on such texts and fine-tuned, 0.956 (Sun et al., 2019).
#
# <a id="splits"></a>
#
# ## Three ways to hold reviews back
#
# **Claim.** A split by the number of the file promises too little, a split at random too much, a split by the film's title what the test split says. **Changed:** which 5,000 reviews are held back; the model (single words, C = 3) is trained on
# all others. Reviews of one film have neighbouring numbers, and positive and negative files are numbered separately: of the lowest numbers, two thirds of the negative reviews are about films that occur in training with the *other* label only.
# **Runs:** one draw of each split; chance moves a difference of held back and test by about one point. **Does not show** that the films are the reason: nothing but the split was changed, but the splits differ in more than the films.

# %%
for split in ("at random", "by file number", "by title"):
    shared, alone = search["films"][f"shared, {split}"], search["films"][f"words alone, {split}"]
    print(f"{split}: held back {alone['validation']:.3f} (negative {alone['negative']:.3f}, positive {alone['positive']:.3f}), test {alone['test']:.3f}")
    for label in ("negative", "positive"):
        known, turned = shared[label]["film in training"], shared[label]["there with the other label only"]
        print(f"  {label}: film in training {known:.1%}, there with the other label only {turned:.1%}")

# %% [markdown]
# <a id="ladder"></a>
#
# ## Ladder of models
#
# **Claim.** No network of this size beats single words, which are counted in whole reviews; the encoder block adds less than a point to the mean of word vectors; on the test split the seeds show no difference with or without positions, nor with an LSTM in place of attention. **Changed:** one part at a time.
# **Runs:** three seeds for each network, one for the linear models; 20,179 training reviews, none of a film of the held-back or test reviews. **Does not show** what a recipe of its own would do for the LSTM or the
# convolution: all networks have the encoder's.

# %%
for group in ("ladder", "search", "maximum"):
    for name in dict.fromkeys(key.partition(";")[0] for key in film[group]):
        if f"{name}; seed 0" in film[group]:
            parts = [f"{part} {accuracies(group, name, part)} mean {accuracies(group, name, part).mean():.4f}" for part in ("held back", "test") if part in film[group][f"{name}; seed 0"]]
        else:
            parts = [f"{part} {film[group][name][part]:.4f}" for part in ("held back", "test")]
        print(f"{name:42}", "   ".join(parts))

# %% [markdown]
# McNemar's counts, seed by seed: reviews that only the first model gets right, that only the second does, and p.

# %%
for name, counts in film["McNemar"].items():
    print(f"{name:100}", *counts.values())

# %% [markdown]
# <a id="maximum"></a>
#
# ## The maximum of 600 words, and padding in it
#
# **Claim.** Whether `GlobalMaxPooling1D` sees the padding makes no difference that three seeds show: see "maximum over words" and "maximum with padding" above. **Changed:** the padding in the maximum. It takes no mask;
# of two words −1 and −2 and padding 0 it returns 0. **Does not show** that this holds for other features: with features below zero padding wins. These models read 600 words, know 20,000, have dropout 0.5 before the output, and no positions.
#
# | model | parameters |
# |---|---|
# | lecture 6: last 200 words, positions, mean | 657,737 |
# | 600 words, no positions, *maximum* over the words, no hidden layer in the head | 650,689 |
# | the same with an LSTM in place of the block | 648,353 |
# | lecture 6 with an LSTM of 50 units in place of positions, block and mean | 657,641 |
#
# <a id="labels"></a>
#
# ## Number of labels
#
# **Claim.** All three models still gain from labels at 20,179. **Changed:** the number of labelled reviews, three random subsets each. **Does not show** equal work: with fewer labels the networks make more
# passes (up to 12), and C of the linear model was chosen on the held-back reviews.

# %%
for name in ("words and pairs", "encoder with positions", "mean of embeddings"):
    for count in (1_000, 3_000, 10_000):
        found = np.array([film["labels"][f"{name}, {count}; seed {seed}"]["held back"] for seed in range(3)])
        print(f"{name:23} {count:6,} labels: {found} mean {found.mean():.4f}")

# %% [markdown]
# <a id="vectors"></a>
#
# ## Word vectors counted from texts without labels
#
# **Claim.** Vectors from counts of words at most 8 positions apart (positive pointwise mutual information, 32 dimensions of a singular value decomposition; Levy and Goldberg, 2014) help the encoder and not the mean of word
# vectors. **Changed:** the start of the word vectors; the control has the same vectors reassigned at random to other words. **Runs:** three subsets. **Does not show** why the mean gains nothing.

# %%
for name in ("encoder with positions", "mean of embeddings"):
    for start in ("", ", vectors from texts", ", the same vectors, of other words"):
        for count in (1_000, 3_000, 10_000):
            found = np.array([film["labels"][f"{name}{start}, {count}; seed {seed}"]["held back"] for seed in range(3)])
            print(f"{name}{start}, {count:,} labels: {found} mean {found.mean():.4f}")

# %% [markdown]
# <a id="brakes"></a>
#
# ## Brakes and epochs
#
# **Claim.** After epoch 2 the loss on held-back reviews rises, with brakes less; the accuracy on the same reviews does not fall. **Changed:** the three brakes together (dropout 0.1, 30 % hidden words, a rate that falls from 0.002 to 0; without them dropout 0, none hidden, 0.001 throughout), and the number of epochs. **Runs:** three
# seeds, 3,000 training reviews, 2,000 held-back ones. **Does not show** the worth of a single brake; hidden words alone are in the ladder ("no hidden words": not shown to help).

# %%
for name, run in controls["brakes"].items():
    print(f"{name:25} " + "; ".join(f"{metric} {run[metric]}" for metric in ("accuracy", "val_loss", "val_accuracy")))

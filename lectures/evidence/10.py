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
# # Evidence for lecture 10
#
# What stands in one line of [lecture 10](../10_language_model.ipynb) has its runs here. The cells take about a minute on two free cores.

# %% tags=["setup"]
from coursekit import quiet

quiet.start_tensorflow()

from coursekit.pages import induction

# %% [markdown]
# <a id="two-blocks"></a>
#
# ## One block does not learn to copy by content, two blocks do
#
# **Claim.** Attention-only models with four heads are trained on rows of random tokens that repeat, each row with a period of its own. With two blocks the loss on
# repeated tokens becomes small; with one block it stays high.
#
# **Changed.** The number of blocks. Width, heads, learning rate, batches and their order are the same within a seed. **Runs.** Three seeds, 450 steps of 16 rows.

# %%
print("seed  blocks  nats a repeated token   weight on the token before   weight on what followed last time")
print("                (last 50 steps)             best head, by block            best head, by block")
for seed in (0, 1, 2):
    for blocks in (1, 2):
        model, curve = induction.taught(blocks, steps=450, seed=seed)
        before, after = (" ".join(f"{value:.2f}" for value in scores.max(axis=1)) for scores in induction.head_scores(model))
        print(f"{seed:4}{blocks:8}{curve[-50:, 1].mean():18.2f}{before:>28}{after:>34}")

# %% [markdown]
# The loss of guessing is $\ln 32 = 3.47$ nats; a model that knows which tokens are in the period, and not their order, can reach the logarithm of the period.
#
# **Not shown.** One block with more heads, width or steps; learned or absolute positions; where on the way the drop comes. Equal parameters: two blocks have about
# twice as many in their attention.

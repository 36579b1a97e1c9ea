#
# ## 15 · English to German, recorded from a real run
#
# Dates are a toy. The same architecture on real sentences takes longer than a lecture may run, so
# `experiments/multi30k.py` did it before, and this page shows its record. The data are those of Multi30k (Elliott et al.,
# 2016): image captions, 29,000 pairs to train on, tested on the 1,000 of *test_2016_flickr*. New against the dates: word
# pieces (lecture 7) learned from both languages together, dropout, pre-norm, batches of sentences of about one length, and a
# beam that treats ends.

# %%
record = recorded.load("multi30k")
results = record["results"]
print(record["what"], "|", record["date"], "|", record["device"])
print("repeat it with:", record["command"], "\n")
print({name: value for name, value in results["model"].items()}, f"{results['parameters']:,} parameters")
print(
    f"training: {len(results['epochs'])} epochs, {results['training_cpu_seconds'] / 60:.0f} minutes of processor time"
)
for name, bleu in results["bleu"].items():
    seconds = results["translating_cpu_seconds"][name]
    print(f"BLEU on test_2016_flickr, {name:6}: {bleu:.1f}   ({seconds:.0f} CPU seconds for 1,000 sentences)")
print("sacreBLEU signature:", results["signature"])

# %%
log = {name: [epoch[name] for epoch in results["epochs"]] for name in results["epochs"][0]}
figure, (left_ax, right_ax) = plt.subplots(1, 2, figsize=(9.8, 3.3))
plots.training_history({"smoothed loss": log}, ax=left_ax)
plots.training_history({"next token right": log}, metric="token_accuracy", ax=right_ax)
right_ax.set(ylabel="share", ylim=(0, 1))
plots.show(
    figure,
    alt="""Recorded training on Multi30k. Left, training and validation loss by epoch, both falling and flattening. Right,
the share of next tokens guessed right in training and validation, both rising.""",
)

# %% [markdown]
# **BLEU** (Papineni et al., 2002) counts how many of the translation's n-grams, n = 1 to 4, occur in the reference, each at
# most as often as there; takes the geometric mean of the four shares; and multiplies by a penalty when the output is shorter
# than the reference. All sentences are counted together.
#
# **By hand.** Output "the the cat", reference "the cat sat". Which share of its 1-grams and of its 2-grams counts?
#
# <details><summary>Answer</summary>
#
# 1-grams: "the" occurs twice, the reference has it once, so one counts; "cat" counts: 2/3. 2-grams: "the the" no, "the cat"
# yes: 1/2. The lengths are equal: no penalty.
#
# </details>


# %%
# NBVAL_CHECK_OUTPUT
def matched(output, reference, n):
    """How many n-grams of the output count, and how many it has."""
    grams = [Counter(zip(*(text.split()[i:] for i in range(n)), strict=False)) for text in (output, reference)]
    return (grams[0] & grams[1]).total(), grams[0].total()


for n in (1, 2):
    print(f"{n}-grams: {matched('the the cat', 'the cat sat', n)}")

# %% [markdown]
# The number depends on how words are split, on case, and on the reference, so two BLEU values can be compared only when
# they were computed in the same way. sacreBLEU (Post, 2018) fixes all of that and says so in its signature: *case:mixed* and
# *tok:13a* mean that upper case counts, and which splitting was used. Published numbers on lower-cased, pre-split text
# are higher for the same translations.
#
# Some sentences, chosen by a rule fixed before anybody looked:

# %%
print(results["rule"], "\n")
for example in results["examples"]:
    for name in ("english", "german", *results["bleu"]):
        print(f"{name:9} {example[name]}")
    print()


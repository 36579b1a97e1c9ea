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
# What stands in one line of [lecture 10](../10_language_model.ipynb) has its runs here. The recorded runs are those of `experiments/library_language_model.py`, for counting on less text of `experiments/library_counting.py`, and for sizes and amounts of text of `experiments/library_scaling.py`, on the standard library of Python 3.11.7: one recipe
# (AdamW, largest rate 0.003, cosine to the last step, 8 windows of 256 tokens a step), three seeds, processor seconds on two shared cores. The entry on one and two blocks is trained here. The cells take about five minutes on two free cores, without SmolLM2 (of the last two entries) about three.

# %% tags=["setup"]
import ast

from coursekit import data, plots, quiet, recorded

quiet.start_tensorflow()

import keras
import matplotlib.pyplot as plt
import numpy as np
import tensorflow as tf
from keras import ops
from scipy import optimize, stats

from coursekit.data.published_models import is_here
from coursekit.pages import counted, induction, training
from coursekit.pages.byte_pairs import PlainBytePairs
from coursekit.pages.language_model import PlainLanguageModel
from coursekit.published import load_published

plots.use_course_style()
results = recorded.load("library_language_model")["results"]
counting = recorded.load("library_counting")["results"]
SEEDS = (1, 2, 3)
trainings = {  # by number of steps; each has its own seeds in order
    steps: sorted((run for run in results["longer"]["runs"] if run["steps"] == steps), key=lambda run: run["seed"])
    for steps in (1960, 7840)
}
read = {steps: np.array([point["tokens"] for point in runs[0]["checkpoints"]]) / 1e6 for steps, runs in trainings.items()}  # million tokens


def of_table(model, what):
    """One value of each seed."""
    return np.array([run[what] for run in results["table"]["runs"] if run["model"] == model])


# %% [markdown]
# <a id="table"></a>
#
# ## Counting, an LSTM, a smaller model, bytes
#
# **Claim.** After 640 steps (1.3 million tokens) counting the whole text is ahead of every network (at equal text: the entry after next). Of lengths of one to six tokens four are the best for Witten–Bell, the rule of this entry; this choice was made on the held-out text. On the same tokens an LSTM with as many parameters is 0.01 to 0.02 bits behind the Transformer in each of three seeds, and the interval of the paired difference still holds 0; in training the LSTM is ahead up to step 30, behind up to about step 220, and a little ahead later. The LSTM takes more than twice the
# processor time. Bytes in place of pieces cost more. **Changed:** the model; for bytes the tokens. **Runs:** three seeds, all held-out text (579,972 bytes). **Equal time:** the LSTM with 290 steps and a schedule of its own, as many steps as it makes in the page's model's
# processor seconds at the rate of its longer runs. It is behind with each seed. (These three runs were made on a busier machine, so their own seconds are more.) **Does not show** what a rate of its own would do for the LSTM. The XLA compiler compiles the LSTM's step and not the Transformer's. With bytes the same number of tokens holds less than half as much text.

# %%
for order, value in results["counted"]["held-out bits a byte"].items():
    print(f"counted, {order} tokens   {value:.3f} bits a byte")
print(f"zlib                {results['counted']['zlib']:.3f}\n")
for model in dict.fromkeys(run["model"] for run in results["table"]["runs"]):
    bits, seconds = of_table(model, "held-out bits a byte"), of_table(model, "seconds")
    parameters, speed = of_table(model, "parameters")[0], of_table(model, "tokens a processor second").mean()
    print(f"{model:26} {parameters:9,} parameters {seconds.mean():5.0f} s {speed:7,.0f} tokens/s   bits a byte {bits} mean {bits.mean():.3f}")
gaps = of_table("LSTM", "held-out bits a byte") - of_table("the page's model", "held-out bits a byte")
middle, half = gaps.mean(), stats.t.ppf(0.975, 2) * gaps.std(ddof=1) / 3**0.5
print(f"\nLSTM minus Transformer, seed by seed: {gaps.round(3)}; mean {middle:.3f}, 95 % interval {middle - half:.3f} to {middle + half:.3f}")
behind = of_table("LSTM at equal time", "held-out bits a byte") - of_table("the page's model", "held-out bits a byte")
equal = of_table("the page's model", "seconds").mean() * of_table("LSTM", "tokens a processor second").mean() / (training.BATCH * training.LENGTH)
print(f"equal time: the page's model's seconds are {equal:.0f} steps of the LSTM; it is behind by {behind.round(3)}")

# %% tags=["drawing"]
figure, ax = plt.subplots(figsize=(6.4, 3.4))
part = {name: of_table(name, "training nats a token") for name in ("the page's model", "LSTM")}
ends = np.arange(1, 65) * results["table"]["steps"] / 64  # each point is a mean of ten steps
for line, (name, runs) in enumerate(part.items()):
    plots.measured_curve(ends, runs, label=name, line=line, ax=ax)
    ax.lines[-1].set_marker("")
below = (part["the page's model"].mean(0) < part["LSTM"].mean(0)).tolist()
first = below.index(True)
print(f"mean training loss: LSTM lower until step {ends[first - 1]:.0f}, Transformer lower from {ends[first]:.0f}; lower in {sum(below[first:])} of {len(below[first:])} points from there, {sum(below[-20:])} of the last 20")
ax.set(xlabel="step", ylabel="nats a token, training", ylim=(2.5, 8.2))
ax.legend()
plots.show(
    figure,
    alt="The Transformer starts behind the LSTM, passes it early, and the two end together. Training loss over 640 steps, median and range of three seeds: the "
    "Transformer's line begins higher, crosses the LSTM's before step 100, stays below it up to about step 200, and from about step 230 lies a little above it or on it.",
)

# %% [markdown]
# <a id="split"></a>
#
# ## Why whole modules are held out
#
# **Claim.** A counted model pays 1.60 to 1.70 bits a byte for functions whose neighbours it has counted, and 1.89 to 1.96 for the same functions otherwise; in each of three draws 0.26 to 0.30 more. **Changed:** the counted text: it holds the other half of each held-out module or not. The number of tokens is equal: for that half, other functions are left out. **Runs:** three random halves, judged on the rest of the held-out functions. "New" is the share of different strings of eight tokens that do not stand in the counted text.
# **Also:** of the strings that the page's model writes (temperature 0.7, $p = 0.9$, 96 bodies) .94 to .96 are new to its training text. **Does not show** how much a network gains from neighbours, or that held-out modules have no near copies at all.

# %%
print("seed   functions   bits a byte: without, with neighbours   new strings of 8: without, with")
for run in counting["neighbours"]:
    without, beside = run["without"], run["with neighbours"]
    print(f"{run['seed']:4} {run['functions']:10} {without['bits a byte']:18.3f} {beside['bits a byte']:8.3f} {without['new strings of 8']:26.3f} {beside['new strings of 8']:8.3f}")
new = [run["new strings of 8"] for run in results["written"]["runs"] if (run["model"], run["temperature"]) == ("the page's model", 0.7)]
print("written by the page's model, three seeds: new strings of 8", new)

# %% [markdown]
# <a id="equal-text"></a>
#
# ## Counting and the network on equal text
#
# **Claim.** Counting needs less text: by Witten–Bell it is 0.6 bits ahead at 0.16 million tokens and 0.02 at 1.3 million, by modified Kneser–Ney (Chen and Goodman 1999) 0.8 and 0.22. Trained for 4 million tokens, the network is ahead of counting with the whole text by Witten–Bell, and by Kneser–Ney, too. Of one to six tokens, six are the best for Kneser–Ney in each draw. **Changed:** how many tokens are counted or read, and the rule that mixes the counts. The network meets random windows, so counting gets functions in a random order. Its windows overlap: with seed 1 those of 1.3 million tokens cover 40 % of the text, and as many tokens are counted from half of the text. Each training of the network has a schedule of its own that ends with it. **Runs:** three orders of the functions; three seeds of the network, on a processor; all held-out text. **Does not show** the crossing to the digit: at 1.3 million tokens the page's own order of the functions has 2.04, as much as the network; and between 1.3 and 4 million tokens no training ended on a processor
# (on a GPU one of 2.6 million: 1.80 bits, with the rate 0.006 1.76, entry on sizes; that is behind Kneser–Ney with the whole text, 1.75). Kneser–Ney with more than six tokens was not recorded; from five to six it still gains. The network begins each window of 256 tokens without context, counting never; on the page's run this costs about 0.01 bits. Tokens beyond 2.6 million are read again.

# %%
print("million tokens   Witten–Bell, 4 tokens (three orders)   Kneser–Ney, 6 tokens       the page's model (three seeds)")
amounts = {run["tokens"] for run in counting["less text"]}
by_steps = {}
for run in results["table"]["runs"] + results["scale"]["runs"] + results["longer"]["runs"]:
    if run.get("model", run.get("size", "the page's model")) == "the page's model":
        by_steps.setdefault(run.get("steps", training.STEPS) * training.BATCH * training.LENGTH, []).append(run["held-out bits a byte"])
for tokens in sorted(amounts | by_steps.keys()):
    simple, better = ([run[f"{rule}all held-out text"][-1] for run in counting["less text"] if run["tokens"] == tokens] for rule in ("", "Kneser-Ney, "))
    print(f"{tokens / 1e6:14.2f}   {simple or ''!s:36}   {better or ''!s:24}   {by_steps.get(tokens, '')}")
simple, better = (counting["all text"][f"{rule}all held-out text"] for rule in ("", "Kneser-Ney, "))
print(f"{counting['all text']['tokens'] / 1e6:14.2f}   {simple[-1]:<36}   {better[-1]} (all functions)")
print("Kneser–Ney, one to six tokens, all functions:", better)
whole = counting["all text"]["tokens"]
covered = np.unique(training.windows(np.arange(whole), training.STEPS, seed=1)[..., :-1])
print(f"the windows of the page's training cover {len(covered) / whole:.0%} of the text")


# %% [markdown]
# <a id="untrained"></a>
#
# ## An untrained model with one table repeats
#
# **Claim.** Before training, the model with one table for input and prediction predicts at every position the token that it has just read, and costs 8.5 nats. With a table of its own for the predictions it costs 6.7. Both are more than guessing (ln 512 = 6.24 nats): random logits of variance 1 alone cost about half a nat. With one table whose start has standard deviation 0.02 and is not multiplied by $\sqrt{D}$, as in GPT-2, it costs 6.3. **Changed:** the table of the predictions: the input's own, or another one with the same standard deviation; or the start of the one table. **Runs:** three seeds of the weights, each on eight rows of 256 random tokens. **Does not show** that this start slows the training.

# %%
class WithTwoTables(PlainLanguageModel):
    """The page's model, whose predictions have a table of their own."""

    def call(self, ids):  # (B, T)
        predicting = keras.random.normal(self.table.shape, stddev=self.table.shape[1] ** -0.5, seed=0)
        x = ops.take(self.table, ids, axis=0) * self.table.shape[-1] ** 0.5  # (B, T, D)
        for block in self.blocks:
            x = block(x)
        return ops.matmul(self.norm(x), ops.transpose(predicting))  # (B, T, V)


class WithASmallTable(PlainLanguageModel):
    """The page's model, whose one table starts as GPT-2's: with standard deviation 0.02, and not multiplied."""

    def call(self, ids):  # (B, T)
        table = self.table * (0.02 * self.table.shape[1] ** 0.5)
        x = ops.take(table, ids, axis=0)  # (B, T, D)
        for block in self.blocks:
            x = block(x)
        return ops.matmul(self.norm(x), ops.transpose(table))  # (B, T, V)


for kind in (PlainLanguageModel, WithTwoTables, WithASmallTable):
    for seed in SEEDS:
        keras.utils.set_random_seed(seed)
        rows = np.random.default_rng(seed).integers(512, size=(8, 257))
        logits = kind(512, 128, 4, 4, 344)(rows[:, :-1])  # (B, T, V)
        loss = ops.mean(ops.sparse_categorical_crossentropy(rows[:, 1:], logits, from_logits=True))
        repeats = np.mean(ops.argmax(logits, axis=-1) == rows[:, :-1])
        print(f"{kind.__name__:18} seed {seed}: {loss:.2f} nats a token; repeats the token just read at {repeats:.0%} of the positions")

# %% [markdown]
# <a id="checkpoints"></a>
#
# ## 4 and 16 million tokens: where the Transformer passes counting
#
# **Claim.** In each of three seeds with 1,960 steps the Transformer passes the Witten–Bell 4-gram between steps 640 and 960, with fewer tokens than the counted model has read; in each of three seeds with 7,840 steps, where the rate falls later, between steps 960 and 1,600. It passes Kneser–Ney with six tokens between steps 1,280 and 1,600, and in the longer trainings between 1,960 and 3,840. After 16 million tokens it has 1.47 bits a byte on all held-out text. **Changed:** the number of steps, 1,960 or 7,840, and with it the schedule: the rate falls to zero at the last step, so the point of step 640 is not the page's model. **Runs:** three seeds of each length, the first 256 windows of held-out text (137,783 bytes) at each checkpoint, all of it at the end. **Does not show** a crossing point for
# another schedule. The text has 2.6 million tokens, so from step 1,263 on windows come from text that has on average been read once, and at step 7,840 six times.

# %%
(texts, _), (held_out, _) = data.library_functions()
pairs = PlainBytePairs(texts, 255)
part = pairs.stream(held_out)[: results["longer"]["windows at a checkpoint"] * training.LENGTH + 1]
COUNTED = counted.WittenBell(pairs.stream(texts), 4, pairs.end_id + 1).bits_per_byte(part, pairs.token_bytes)[-1]
BETTER = counted.KneserNey(pairs.stream(texts), 6, pairs.end_id + 1).bits_per_byte(part, pairs.token_bytes)
print(f"counted, 4 tokens, on these windows: {COUNTED:.3f} bits a byte of {pairs.token_bytes[part[1:]].sum():,}; Kneser–Ney, 6 tokens: {BETTER:.3f}")
bits = {steps: np.array([[point["bits"] for point in run["checkpoints"]] for run in runs]) for steps, runs in trainings.items()}
for steps, runs in trainings.items():
    print(f"\n{steps} steps    million tokens   bits a byte, seeds {', '.join(str(run['seed']) for run in runs)}")
    for place, point in enumerate(runs[0]["checkpoints"]):
        print(f"step {point['step']:4} {read[steps][place]:16.2f}       {bits[steps][:, place]}")
    print("all held-out text:", [run["held-out bits a byte"] for run in runs], "processor seconds:", [run["seconds"] for run in runs])

# %% tags=["drawing"]
figure, ax = plt.subplots(figsize=(6.4, 3.4))
for number, steps in enumerate(trainings):
    plots.measured_curve(read[steps], bits[steps], label=f"Transformer, {steps:,} steps", line=(1, 0)[number], ax=ax)
ax.axhline(COUNTED, color=plots.LINES[3]["color"], linestyle=plots.LINES[3]["linestyle"], label="Witten–Bell 4-gram (2.6 million read)")
ax.axhline(BETTER, color=plots.LINES[5]["color"], linestyle=plots.LINES[5]["linestyle"], label="Kneser–Ney 6-gram (2.6 million read)")
ax.set(xlabel="million tokens read", ylabel="bits a byte, held out", xscale="log")
ax.set_xticks([0.1, 0.3, 1, 3, 10], ["0.1", "0.3", "1", "3", "10"])
ax.minorticks_off()
ax.legend()
plots.show(
    figure,
    alt="The Transformer passes the 4-gram after one to three million tokens, Kneser–Ney after three to eight, and goes on falling. Held-out bits a byte over the tokens read, on a logarithmic axis, median and "
    "range of the seeds: both curves fall steeply and cross the level lines of the two counted models, Kneser–Ney's below the 4-gram's; the longer training crosses both later and ends near 1.5.",
)

# %% [markdown]
# <a id="copying"></a>
#
# ## How much it matters whether a made-up name has stood there before
#
# **Claim.** After 7,840 steps a made-up name costs 7.3, 8.5 and 7.4 of about 31 nats less at its third occurrence than a name that is new there. It is the new name that has become dearer, from 24 to 25 nats at step 640; the known one costs 23 to 24, about as much as then. Guessing its 4.5 tokens would cost 28.1 nats, and who knows only how such names are made (three of 13 consonants, three of 5 vowels) pays 12.5. The difference is 0.6 to 0.8 at step 1,960, 3.2 to 3.5 at 3,840, 5.7 to 6.6 at 5,120; with 1,960 steps in all it reaches at most 0.9. Rows of 64 random tokens that stand there twice are not copied: at the end of each training the second time costs more than the first, and the highest induction score of any head is 0.014 to 0.017 after 7,840 steps, near the base rate of 0.011. After 640 steps it is there, too; switching that head off raises the cost of the second copy by .04, .13 and .31 nats, a random head by .26, .14 and .15: no order.
# **Changed:** names in held-out functions, all else equal; the control gives the first two occurrences other made-up names. For heads, their rows of $W_O$ set to zero. **Runs:** three seeds of each length; 87 or 88 functions at the checkpoints, 246 for the page's model after 640 steps, which gives the rows with a head off. **Does not show** how the cost divides between the first token of a name and the others (the record holds whole names), which head copies names (the next entry does), or why rows of random tokens are not copied. They are no Python, so they do not tell a model that uses names from one that does not. Chance for the induction score is the base rate, the mean of
# 1/(t + 1); the highest of 16 heads lies a little above it also without any training to speak of.

# %%
print(f"base rate of the induction score: {results['copying']['base rate']}")
print("a made-up name:", counting["names"])
print("steps seed  step   random rows: 1st, 2nd time   name: 1st   2nd   3rd   3rd if new   saved   highest score of 16 heads")
for steps, runs in trainings.items():
    for run in runs:
        for point in run["checkpoints"]:
            if point["step"] in (40, 640, 1280, 1960, 3840, 7840):
                rows, name = point["nats a token of random rows"], point["nats of a made-up name"]
                cost = [name[key] for key in ("first", "second", "third", "third, new")]
                print(
                    f"{steps:5} {run['seed']:4} {point['step']:5} {rows[0]:16.2f} {rows[1]:8.2f}  " + "".join(f"{value:8.2f}" for value in cost)
                    + f" {cost[3] - cost[2]:7.2f} {np.max(point['induction by block and head']):14.4f}"
                )

# %% tags=["drawing"]
figure, ax = plt.subplots(figsize=(6.4, 3.4))
for line, kind, label in ((1, "third, new", "a name that is new there"), (0, "third", "a name that has stood there twice before")):
    cost = [[point["nats of a made-up name"][kind] for point in run["checkpoints"]] for run in trainings[7840]]
    plots.measured_curve(read[7840], np.array(cost), label=label, line=line, ax=ax)
for kind, label in (("nats, equal tokens", "guessing its tokens"), ("nats, equal names", "knowing only how such names are made")):
    ax.axhline(counting["names"][kind], color=plots.LINES[5]["color"], linewidth=1)
    ax.text(0.35, counting["names"][kind] + 0.4, label, fontsize=9)
ax.set(xlabel="million tokens read", ylabel="nats a made-up name", xscale="log", ylim=(10, 35))
ax.set_xticks([0.1, 0.3, 1, 3, 10], ["0.1", "0.3", "1", "3", "10"])
ax.minorticks_off()
ax.legend(loc=(0.02, 0.2), fontsize=9)
plots.show(
    figure,
    alt="After four million tokens the name that is new goes on to get dearer, and the known one gets cheaper again. Nats of a made-up name at one spot of held-out functions over the tokens read, "
    "logarithmic, median and range of three recorded trainings of 16 million tokens. Both curves fall together from above the line for guessing, and rise again together up to four million tokens; then the new name goes on to rise "
    "above the line, and the known one goes back. Both stay far above the line for knowing how such names are made.",
)

# %%
print("the page's model (640 steps)      random rows: 1st, 2nd time, second minus first")
for run in results["copying"]["runs"]:
    for kind, values in (("whole", run["nats a token of random rows"]), *((f"{kind} head off", run[f"{kind} head off"]["nats"]) for kind in ("best", "random"))):
        print(f"seed {run['seed']}  {kind:16} {values[0]:16.2f} {values[1]:8.2f} {values[1] - values[0]:+8.2f}")
    name = run["nats of a made-up name"]
    print(f"        a made-up name: {name['first']:.2f}, {name['second']:.2f}, {name['third']:.2f}; third if new {name['third, new']:.2f}; highest score {np.max(run['induction by block and head']):.4f}")

# %% [markdown]
# <a id="heads"></a>
#
# ## Two or more heads make a known name cheaper than a new one
#
# **Claim.** The head that matters most on the even functions takes away 3.1, 6.9 and 5.9 of the 7.8, 8.3 and 8.0 nats that the odd functions save at the third occurrence of a name (seeds 1, 2 and 3, after 7,840 steps). These are 40 to 82 %. The 15 other heads take away 0.6, 0.4 and 0.5 on average (5 to 8 %), and 31 to 56 % at most. It stands in block 3 or 4. From a token of a made-up name it looks at what followed this token earlier: weight .17, .32 and .30, where equal weights would give .026. In seeds 2 and 3 no head has more of this weight; in seed 1 a head of block 3 has .23 and takes away 2.7.
# A head of block 2 takes away 3.1, 4.6 and 2.4, in seed 1 as much as the chosen one, and has at most .002 of this weight. A name that is new costs only .1 to .2 nats more without the chosen head, so the loss is not that of a model that is damaged as a whole. **Changed:** the rows of one head in $W_O$ are zero. **Control:** the other 15 heads, each alone; other functions choose the head than judge it. **Runs:** three seeds, 124 even and 117 odd held-out functions with names as above. **Does not show** what the head of block 2 does, several heads switched off at once, or a head's mean in place of zero.

# %%
heads = results["heads"]
print(f"functions: {heads['functions'][0]} choose, {heads['functions'][1]} judge; equal weights: {heads['runs'][0]['base rate']}")
print("seed   nats saved   lost without the chosen head (block, head)   without another: mean, most   weight: the chosen head, the most of others")
for run in heads["runs"]:
    whole, off = np.array(run["nats of a third name, new and known"]), np.array(run["with a head off"])  # (halves, 2), (blocks, H, halves, 2)
    lost = (whole[:, 0] - whole[:, 1] - off[..., 0] + off[..., 1]).reshape(-1, 2)  # of each head, on even and on odd functions
    best, weight = lost[:, 0].argmax(), np.ravel(run["weight on what followed, odd functions"])
    others, elsewhere = np.delete(lost[:, 1], best), np.delete(weight, best)
    place = f"({best // off.shape[1] + 1}, {best % off.shape[1]})"
    print(f"{run['seed']:4} {whole[1, 0] - whole[1, 1]:12.2f} {lost[best, 1]:16.2f} {place} {others.mean():36.2f} {others.max():6.2f} {weight[best]:16.3f} {elsewhere.max():8.3f}")
print("nats lost on the odd functions, by block (rows) and head; and the weight on what followed")
for run in heads["runs"]:
    whole, off = np.array(run["nats of a third name, new and known"])[1], np.array(run["with a head off"])[:, :, 1]
    lost = whole[0] - whole[1] - off[..., 0] + off[..., 1]
    for block, (row, weights) in enumerate(zip(lost, run["weight on what followed, odd functions"], strict=True), 1):
        print(f"seed {run['seed']}, block {block}:" + "".join(f"{value:7.2f}" for value in row) + "    " + "".join(f"{value:7.3f}" for value in weights))

# %% [markdown]
# <a id="temperature"></a>
#
# ## Temperature, parsing, and what parsing misses
#
# **Claim.** At temperature 0.7 with $p = 0.9$ more bodies parse than at 1, in each seed; greedy ones more still in two seeds of three. They hardly use their parameters: at most .06 are read, against .96 in the real bodies, and .89 in real held-out functions whose body has one line. Long bodies parse less often: at 0.7, of the bodies that ended, 44 of 50 with one line parse, 30 of 57 with two or three, 31 of 64 with four to six and 12 of 72 with seven or more (three seeds together). **Changed:** temperature and $p$ together; for the small model the size. **Runs:** three seeds, the same 96 first lines each. "Bound" is the share of
# names read that something gives a value; "used" the share of parameters that the body reads; both over the bodies that parse. **Does not show** $p$ and temperature apart. Greedy bodies often repeat until the limit, and then count as not parsed. The limit is 256 tokens here, and 77 to 86 of 96 bodies end at 0.7; on the page it is 90 tokens, and fewer end.

# %%
print("model                temperature    p   seed   ended  parse   bound   used   median lines of those that parse")
for run in sorted(results["written"]["runs"], key=lambda run: (run["model"] == "a small one", -run["temperature"], run["seed"])):
    print(
        f"{run['model']:20} {run['temperature']:10} {run['top-p']:6} {run['seed']:5} {run['ended']:7} {run['parse']:6} {run['bound']:8.2f} {run['used']:6.2f} {np.median(run['lines of parsed']):8.1f}"
    )
real = results["written"]["real"]
print(f"{'real bodies':20} {real['ended']:32} {real['parse']:6} {real['bound']:8.2f} {real['used']:6.2f} {np.median(real['lines of parsed']):8.1f}   (of {real['samples']})")
used = {1: [], 2: []}  # share of its parameters that a real held-out function reads, by the lines of the body, two for two or three
for text in held_out:
    first, _, body = text.partition("\n")
    lines, function = sum(bool(line.strip()) for line in body.splitlines()), ast.parse(text).body[0]
    own = {node.arg for node in ast.walk(function.args) if isinstance(node, ast.arg)} - {"self", "cls"}
    if first.endswith(":") and own and lines <= 3:
        names = {node.id for part in function.body for node in ast.walk(part) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
        used[min(lines, 2)].append(len(own & names) / len(own))
for lines, shares in used.items():
    print(f"real held-out bodies of {('one line', 'two or three lines')[lines - 1]}: {len(shares)} with parameters, {np.mean(shares):.2f} of them used")

# %% [markdown]
# <a id="lora"></a>
#
# ## LoRA: what it gains and what it costs elsewhere
#
# **Claim.** In each of three seeds training all parameters fits the held-out module `tarfile` better than LoRA of rank 4. At its smaller rate it costs the other modules about as much as LoRA at its larger rate, and still fits better. **Changed:** what is trained, and the rate. **Runs:** three seeds of the page's
# model, 48 steps on 97 functions, tested on 33 others; "other modules" is the first 256 windows of held-out text, which hold nothing of `tarfile`. **Does not show** larger rates or ranks, or LoRA in the feed-forward network: here it stands in the four matrices of attention.

# %%
ways = [key for key in results["lora"]["runs"][0] if "," in key]
fits = {way: [[run[way][part] for run in results["lora"]["runs"]] for part in ("bits", "all modules")] for way in ways}
for way, (fit, others) in fits.items():
    print(f"{way:16} {results['lora']['runs'][0][way]['trained']:8,} trained   tarfile {fit} mean {np.mean(fit):.2f}   other modules mean {np.mean(others):.2f} ({np.mean(others) - np.mean(fits['none, 0'][1]):+.2f})")

# %% tags=["drawing"]
figure, ax = plt.subplots(figsize=(6.4, 3.6))
for line, (way, (fit, others)) in enumerate(fits.items()):
    name, rate = way.split(", ")
    label = {"none": "not fitted", "low rank": f"LoRA, rate {rate}", "full": f"all parameters, rate {rate}"}[name]
    ax.plot(fit, others, **{**plots.LINES[line], "linestyle": ""}, label=label)
ax.set(xlabel="bits a byte on tarfile", ylabel="bits a byte on other modules")
ax.legend()
plots.show(
    figure,
    alt="What fits tarfile better costs more elsewhere, and at equal cost all parameters fit better than LoRA. Bits a byte on other modules over bits a byte on "
    "tarfile, three seeds a group: from not fitted, at the lower right, LoRA climbs to the left; all parameters at the small rate lie as high and further left, at the large rate highest.",
)


# %% [markdown]
# <a id="scale"></a>
#
# ## Sizes and amounts of text
#
# **Claim.** Hoffmann's form $L = E + A / N^{\alpha} + B / D^{\beta}$ fits 31 trainings of six sizes with $\alpha$ of 0.38 to 0.43 and $\beta$ of 0.28 to 0.30 (three seeds), and misses single ones by up to 0.15 bits. Hoffmann et al. (2022, section D.3) have 0.34 and 0.28; Besiroglu et al. (2024, *Chinchilla scaling: a replication attempt*, arXiv 2404.10102) find that this fit describes the data badly, and have 0.35 and 0.37 from the data that they read off its figures.
# **Changed:** parameters $N$ (the embeddings included), tokens read $D$ (repeated ones included) and, to be fair to each size, the largest learning rate: of 0.0015, 0.003 and 0.006 the one counts that is best on the held-out text, by its mean over the seeds. Each training has a schedule of its own, with the same share of steps for the warm-up; the batch is always the same.
# **Runs:** three seeds, all held-out text, on one GPU (TF32) with `experiments/library_scaling.py`: the same classes, windows and optimizer, on Keras's JAX backend. **Control of the machine:** TensorFlow on a processor has trained six of them too, all of at most 0.66 million tokens. Five means differ by 0.02 bits at most; our model after 80 steps is 0.06 bits lower on the GPU, more than the seeds differ, and why is open.
# No long training was repeated. The nearest ones, at the rate 0.003: our model has 1.47 bits after 16.1 million tokens on the processor, and on the GPU 1.51 after 10.5 million (seeds 1.39 to 1.58) and 1.33 after 41.9 million.
#
# **Does not show** a law. Without the trainings that read the text more than about four times, $\beta$ falls to 0.18 to 0.23 and $E$ moves between 0 and 0.46 bits, so the exponents belong to this range. Other ways to fit (least squares, Huber's loss) give all 31 an $\alpha$ of 0.36 to 0.46 and a $\beta$ of 0.27 to 0.32. For 27 of the 31 the largest rate is the best, so a still larger one may be better yet. The rates were chosen on the text that judges, so the bits are a little too low.
#
# **The size of the page's model** is among the 27 at each amount of text: 0.006 is better there than the page's 0.003.

# %%
class Trained:
    """A training at its best rate: its size, its tokens, its bits a byte by seed."""

    def __init__(self, run):
        by_rate = {}
        for lane in run["lanes"]:
            by_rate.setdefault(lane["rate"], []).append(lane["held-out bits a byte"])
        self.rate = min(by_rate, key=lambda rate: np.mean(by_rate[rate]))
        self.bits, self.plain = np.array(by_rate[self.rate]), np.array(by_rate[0.003])  # each of seeds 1, 2, 3
        self.size, self.tokens, self.operations = run["parameters"], run["tokens"], run["operations"]


scaling = recorded.load("library_scaling")["results"]
trained = sorted((Trained(run) for run in scaling["runs"]), key=lambda each: (each.size, each.tokens))
for each in trained:
    print(f"{each.size:9,} parameters {each.tokens:11,} tokens   rate {each.rate:.4f}   bits {each.bits} mean {each.bits.mean():.3f}")
print("trainings by their best rate:", {rate: sum(each.rate == rate for each in trained) for rate in (0.0015, 0.003, 0.006)})


def hoffmann(some, seed, loss="soft_l1", scale=0.01):
    """E, alpha and beta of the form that fits best, and the largest residual in bits a byte."""
    sizes, tokens = (np.log([getattr(each, what) for each in some]) for what in ("size", "tokens"))
    logs = np.log([each.bits[seed] for each in some])

    def left(x):
        return np.logaddexp.reduce([np.full(len(logs), x[0]), x[1] - x[2] * sizes, x[3] - x[4] * tokens]) - logs

    begins = [(e, 4, a, 4, b) for e in (-2, 0) for a in (0.2, 0.5) for b in (0.2, 0.5)]
    found = min((optimize.least_squares(left, x, loss=loss, f_scale=scale, x_scale="jac", max_nfev=2000) for x in begins), key=lambda fit: fit.cost)
    x = found.x
    return np.exp(x[0]), x[2], x[4], np.abs(np.exp(left(x) + logs) - np.exp(logs)).max()


few = [each for each in trained if each.tokens < 4.2 * scaling["training tokens"]]
for name, some in (("all", trained), ("at most four passes over the text", few)):
    for seed in SEEDS:
        least, alpha, beta, residual = hoffmann(some, seed - 1)
        print(f"{len(some)} trainings, {name}, seed {seed}: E {least:.2f}, alpha {alpha:.2f}, beta {beta:.2f}, largest residual {residual:.2f}")
others = {name: [hoffmann(trained, seed - 1, *way)[1:3] for seed in SEEDS] for name, way in (("least squares", ("linear",)), ("Huber, 0.001", ("huber", 0.001)))}
for name, found in others.items():
    print(f"{len(trained)} trainings, {name}: alpha, beta of the seeds", "; ".join(f"{alpha:.2f}, {beta:.2f}" for alpha, beta in found))

print("\nthe same on a processor with TensorFlow, mean of three seeds at rate 0.003")
for each in trained:
    twins = [run["held-out bits a byte"] for run in results["scale"]["runs"] if (run["parameters"], run["tokens"]) == (each.size, each.tokens)]
    if len(twins) == len(SEEDS):
        print(f"{each.size:9,} parameters {each.tokens:9,} tokens   {np.mean(twins):.3f} (seeds {min(twins):.3f} to {max(twins):.3f}), here {each.plain.mean():.3f}")
long = {each.tokens: each.plain for each in trained if each.size == 857_216 and each.tokens > 10e6}
print("857,216 parameters at rate 0.003:", ", ".join(f"{tokens:,} tokens {bits.mean():.2f} (seeds {bits.min():.2f} to {bits.max():.2f})" for tokens, bits in long.items()))

# %% tags=["drawing"]
figure, ax = plt.subplots(figsize=(6.4, 3.8))
amounts = [steps * training.BATCH * training.LENGTH for steps in (80, 320, 1280, 5120)]
for line, size in enumerate((41_248, 181_440, 857_216, 1_878_720)):
    runs = np.array([next(each.bits for each in trained if (each.size, each.tokens) == (size, tokens)) for tokens in amounts]).T
    million, style = np.array(amounts) / 1e6, plots.LINES[line]
    ax.plot(million, runs.mean(axis=0), label=f"{size:,} parameters", **style)
    ax.fill_between(million, runs.min(axis=0), runs.max(axis=0), color=style["color"], alpha=0.18, linewidth=0)
ax.set(xlabel="million tokens read", ylabel="bits a byte, held out", xscale="log", yscale="log")
ax.set_xticks(np.array(amounts) / 1e6, ["0.16", "0.66", "2.6", "10.5"])
ax.set_yticks([1.5, 2, 2.5, 3], ["1.5", "2.0", "2.5", "3.0"])
ax.minorticks_off()
ax.legend()
plots.show(
    figure,
    alt="More text and more parameters both lower the loss, and text helps the larger models more. Held-out bits a byte over tokens read, both axes logarithmic, for "
    "four sizes at the best of three rates, mean and range of three seeds: four falling lines; the two largest models are close at first and the largest falls furthest, the smallest is highest and flattest.",
)

# %% [markdown]
# <a id="equal-operations"></a>
#
# ## Equal operations
#
# **Claim.** For each of four budgets a middle size is best, and with 64 times the operations the best size has ten times the parameters and reads eight times as many tokens. The best sizes of the first, third and last budget have read 14, 12 and 11 tokens a parameter; at the second budget two equal ones have read 58 and 3. Hoffmann et al. (2022) advise about 20, the page's model has read 1.5. After about four passes repeated text is worth less (Muennighoff et al. 2023, *Scaling data-constrained language models*, arXiv 2305.16264). **Changed:** parameters and tokens together, so that the operations of a training are equal to 1 %. **Runs:** those above. Operations are an estimate: for each token, 6 for each parameter and $12 \cdot \text{blocks} \cdot \text{width} \cdot \text{window}$ for attention (Chowdhery et al. 2022, *PaLM*, arXiv 2204.02311, appendix B). For the page's model (4 blocks, width 128): $6 \cdot 857{,}216 + 12 \cdot 4 \cdot 128 \cdot 256$ for a token, and $8.8 \cdot 10^{12}$ for 1,310,720 tokens. The minimum of a parabola through the best size and its neighbours, over the logarithm of the size, says where the best size lies between those that were tried.
#
# **Does not show** a sharp optimum. At the second budget two sizes are equal; at the last three lie within 0.02 bits, and there the best size reads the text eight times. In seed 3 of the third budget the larger model is ahead; there the seeds of one size differ by 0.21 bits, and why is open. **Nor how fast the best size grows:** with 64 times the operations the parabolas give 11 to 16 times the parameters, the fitted form $64^{\beta / (\alpha + \beta)}$, 5 to 6 times; why they differ is open.
# The learning rate moves it too: with 0.003 for all, the largest size is the best of the last budget; it has 27 times the parameters of the best of the first and has read 3 times the tokens. The small sizes of the larger budgets read the text 15 to 61 times; what they would reach with fresh text was not tried.

# %%
BUDGETS = (4.4e12, 17.6e12, 70.4e12, 281.7e12)  # operations of a training
minima = []  # of each budget, by seed
budgets = {budget: [each for each in trained if abs(each.operations / budget - 1) < 0.01] for budget in BUDGETS}
for budget, some in budgets.items():
    print(f"{budget / 1e12:.1f} trillion operations")
    for each in some:
        print(f"{each.size:11,} parameters {each.tokens:12,} tokens ({each.tokens / each.size:9.2f} a parameter, text read {each.tokens / scaling['training tokens']:5.2f} times)   bits {each.bits} mean {each.bits.mean():.3f}, at rate 0.003 {each.plain.mean():.3f}")
    lowest = []
    for seed in range(len(SEEDS)):
        best = min(range(1, len(some) - 1), key=lambda place: some[place].bits[seed])
        near = some[best - 1 : best + 2]
        square, slope, _ = np.polyfit(np.log([each.size for each in near]), [each.bits[seed] for each in near], 2)
        lowest.append(np.exp(-slope / 2 / square))
    print("   lowest by a parabola, three seeds:", ", ".join(f"{value:,.0f}" for value in lowest), "parameters")
    minima.append(lowest)
print("growth of the lowest point, three seeds:", ", ".join(f"{value:.1f}" for value in np.divide(minima[-1], minima[0])))
for seed in SEEDS:
    _, alpha, beta, _ = hoffmann(trained, seed - 1)
    print(f"growth by the fitted form, seed {seed}: {64 ** (beta / (alpha + beta)):.1f}")


# %% [markdown]
# <a id="two-blocks"></a>
#
# ## One block does not learn to copy by content, two blocks do
#
# **Claim.** Attention-only models with four heads are trained on rows of random tokens that repeat, each row with a period of its own. With two blocks the loss on
# repeated tokens becomes small; with one block it stays high.
#
# **Changed.** The number of blocks. Width, heads, learning rate, batches and their order are the same within a seed. **Controls.** Both attentions of the larger model side by side, on the same input: one block with eight heads and as many parameters. One block with three times the steps. One block on rows that all have the period 12. Two blocks with each head of the first switched off in turn (its rows of $W_O$ are zero). **Runs.** Three seeds, 16 rows a step.

# %%
class SideBySide(induction.AttentionOnly):
    """All attentions read the embeddings: one block with the heads of several."""

    def call(self, ids):
        x = self.embedding(ids)
        return self.unembedding(x + sum(attention(norm(x)) for norm, attention in zip(self.norms, self.attentions, strict=True)))

    def looks(self, ids):
        x = self.embedding(ids)
        return [np.array(attention.look(norm(x))[0]) for norm, attention in zip(self.norms, self.attentions, strict=True)]


print("                       seed  parameters  nats a repeated token   weight on the token before   weight on what followed last time")
print("                                           (last 50 steps)           best head, by layer            best head, by layer")
kinds = {"1 block": (1, 450, induction.AttentionOnly), "2 blocks": (2, 450, induction.AttentionOnly), "1 block, 8 heads": (2, 450, SideBySide), "1 block, 1,350 steps": (1, 1350, induction.AttentionOnly)}
for name, (layers, steps, kind) in kinds.items():
    for seed in (0, 1, 2):
        model, curve = induction.taught(layers, steps=steps, seed=seed, kind=kind)
        before, after = (" ".join(f"{value:.2f}" for value in scores.max(axis=1)) for scores in induction.head_scores(model))
        print(f"{name:22} {seed:4} {model.count_params():11,} {curve[-50:, 1].mean():16.2f} {before:>28} {after:>34}")
print(f"knowing which tokens repeat and how often, not their order: {induction.without_order():.2f}")

# %%
for seed in (0, 1, 2):
    _, curve = induction.taught(1, steps=450, seed=seed, span=(12, 13))
    print(f"seed {seed}: 1 block, every period 12: {curve[-50:, 1].mean():.4f} nats a repeated token (last 50 steps)")
for seed in (0, 1, 2):
    model, _ = induction.taught(2, steps=450, seed=seed)
    before, off = induction.head_scores(model)[0][0], induction.losses_without(model, 0)
    print(f"seed {seed}: 2 blocks {induction.repeated_loss(model):.2f} nats; head of block 1: weight on the token before, nats without it:", *(f"{b:.2f}, {o:.2f};" for b, o in sorted(zip(before, off, strict=True))))
print(f"equal weights: {induction.equal_weights():.2f}")

# %% [markdown]
# The loss of guessing is $\ln 32 = 3.47$ nats. A model that knows which tokens are in the period and how often, and not their order, has 2.21. One block stays above that in each run, but with one period for all rows it copies: rotary scores can prefer a distance. Of the heads of block 1, the more of its weight a head has on the token before, the more the loss of two blocks rises without it, in each of three seeds.
#
# **Not shown.** Other widths and rates; learned or absolute positions; where on the way the drop comes; all heads that look at the token before switched off at once.

# %% [markdown]
# <a id="template"></a>
#
# ## What of the chat template makes SmolLM2 answer
#
# **Claim.** Of ten questions, asked alone, nine end the text at once, and none is answered. As `Question: … Answer:` three end at once and four are answered. With the names of the speakers in plain letters, and no special token, none ends at once and eight are answered; with the assistant's line as the only part of the template five; without the system message nine; with the whole template nine. A token `<|endoftext|>` before the question alone makes two of ten answers. **Changed:** what stands before and after the question. The model, and the choice of the most probable token, stay. **Runs:** the ten questions were fixed before the first run; "answered" means that the right word is among the first twenty tokens, also where the sentence is wrong otherwise (*Shakespeare's son*). **Does not show** what the template does to a model that was not tuned on it: the untuned weights were not at hand, so that the tuning taught it to answer is what its makers say (Ben Allal et al. 2025), not what these rows show. With ten questions eight and nine are no difference, nor are five and eight.

# %%
ASKED = {
    "What is the capital of France?": "Paris", "What is the capital of Japan?": "Tokyo", "What colour is the sky on a clear day?": "blue",
    "How many days are there in a week?": "7", "Who wrote Romeo and Juliet?": "Shakespeare", "What is the largest planet of the solar system?": "Jupiter",
    "What is the opposite of hot?": "cold", "Which animal barks?": "dog", "Which language is spoken in Brazil?": "Portuguese", "What is the chemical symbol of water?": "H2O",
}  # fmt: skip
if is_here("smollm2"):
    smollm2 = load_published(lambda num_kv_heads, **sizes: PlainLanguageModel(**sizes), "smollm2")
    logits_of = tf.function(lambda ids: smollm2(ids), input_signature=[tf.TensorSpec((None, None), tf.int32)])
    encode, special = smollm2.tokens.encode, smollm2.tokens.special
    start, turn_end, text_end, line = special["<|im_start|>"], special["<|im_end|>"], special["<|endoftext|>"], encode("\n")
    answering = [start, *encode("assistant\n")]
    forms = {
        "the question alone": encode,
        "<|endoftext|> before it": lambda question: [text_end, *encode(question)],
        "Question: … Answer:": lambda question: encode(f"Question: {question}\nAnswer:"),
        "the speakers in plain letters": lambda question: encode(f"user\n{question}\nassistant\n"),
        "only the assistant's line": lambda question: [*encode(question), *line, *answering],
        "without the system message": lambda question: [start, *encode(f"user\n{question}"), turn_end, *line, *answering],
        "the whole template": smollm2.tokens.chat,
    }
    for form, prompt_of in forms.items():
        rows = [list(prompt_of(question)) for question in ASKED]
        begins, open_rows = [len(row) for row in rows], list(range(len(rows)))
        for _ in range(20):
            longest = max(len(rows[place]) for place in open_rows)
            padded = np.array([rows[place] + [0] * (longest - len(rows[place])) for place in open_rows], "int32")
            logits = logits_of(padded).numpy()
            for place, each in zip(open_rows, logits, strict=True):
                rows[place].append(int(np.argmax(each[len(rows[place]) - 1])))
            open_rows = [place for place in open_rows if rows[place][-1] not in (turn_end, text_end)]
            if not open_rows:
                break
        answers = [smollm2.tokens.decode(row[begin:]) for row, begin in zip(rows, begins, strict=True)]
        at_once = sum(not answer for answer in answers)
        answered = sum(right in answer for right, answer in zip(ASKED.values(), answers, strict=True))
        print(f"{form:30} of {len(ASKED)}: {at_once:2} end at once, {answered:2} are answered")
        for answer in answers[:6:5]:  # of the first question and the sixth
            print("     ", repr(answer))
else:
    print("SmolLM2 is not here, so this entry is left out.")


# %% [markdown]
# <a id="order"></a>
#
# ## What the order of a prompt is worth to SmolLM2
#
# **Claim.** In order, the first forty words of a docstring make the next ten words 2.44 nats a token cheaper than no prompt; shuffled, they make them 1.07 cheaper. This is 44 % of the gain (95 % between 32 and 53). Shuffling the prompt costs 1.37 nats a token (95 % between 0.92 and 1.82). Forty words of another docstring, in order, save 0.03 (−0.31 to 0.37), so it is these words that help. With the nearest ten words in order and the other thirty shuffled, the cost falls from 4.25 to 3.42; with all in order it is 2.88. **Changed:** what stands before the ten words. **Runs:** 16 docstrings of held-out functions; the intervals are Student's over the docstrings, for the share a bootstrap. **Does not show** the worth of order in a text that SmolLM2 has not met: it has probably read Python's library, and a recited text is cheap only in its own order.

# %%
def docstrings(number, words=50):
    """Beginnings of the first long paragraph of docstrings in held-out functions, as lists of words."""
    found = []
    for text in held_out:
        for paragraph in (ast.get_docstring(ast.parse(text).body[0]) or "").split("\n\n"):
            if len(paragraph.split()) >= words and ">>>" not in paragraph:
                found.append(paragraph.split()[:words])
                break
    return [found[place] for place in np.random.default_rng(0).permutation(len(found))[:number]]


def cost_after(before, words):
    """Nats a token of some words after others."""
    first, last = (encode(part) for part in (" ".join(before), " " + " ".join(words)))
    ids = np.array([[0, *first, *last]], "int32")
    logits = logits_of(ids[:, :-1])[:, len(first) :]
    return float(ops.mean(ops.sparse_categorical_crossentropy(ids[:, 1 + len(first) :], logits, from_logits=True)))


def interval(values):
    """The mean, and the 95 % interval of Student's t."""
    half = stats.t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / len(values) ** 0.5
    return f"{np.mean(values):.2f} nats a token, 95 % between {np.mean(values) - half:.2f} and {np.mean(values) + half:.2f}"


def share_interval(part, whole):
    """The share of two sums in percent, and its 95 % interval over docstrings drawn again."""
    drawn = np.random.default_rng(0).integers(len(part), size=(10_000, len(part)))
    low, high = np.percentile(100 * part[drawn].sum(axis=1) / whole[drawn].sum(axis=1), (2.5, 97.5))
    return f"{100 * part.sum() / whole.sum():.0f}%, 95 % between {low:.0f} and {high:.0f}"


# %%
if is_here("smollm2"):
    rng, costs = np.random.default_rng(1), {}
    chosen = docstrings(16)
    for words, other in zip(chosen, chosen[1:] + chosen[:1], strict=True):
        kept, last = words[:40], words[40:]
        mixed_words, close = list(rng.permutation(kept)), list(rng.permutation(kept[:30])) + kept[30:]
        for name, before in (("none", []), ("another text", other[:40]), ("shuffled", mixed_words), ("last ten in order", close), ("in order", kept)):
            costs.setdefault(name, []).append(cost_after(before, last))
    for name, values in costs.items():
        print(f"{name:18} {np.mean(values):.2f} nats a token (standard error {np.std(values, ddof=1) / len(values) ** 0.5:.2f})")
    none, another, shuffled, _, in_order = np.array(list(costs.values()))  # each (16,)
    print("shuffling costs", interval(shuffled - in_order))
    print("another text saves", interval(none - another))
    print("what the shuffled words save of the whole gain:", share_interval(none - shuffled, none - in_order))
else:
    print("SmolLM2 is not here, so this entry is left out.")

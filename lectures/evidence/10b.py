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
# # Evidence for lecture 10b
#
# What stands in one line of [lecture 10b](../10b_from_model_to_assistant.ipynb) has its runs here. All were recorded by `experiments/assistant.py` with the standard library of Python 3.11.7: one stored model (857,216 parameters, after 1,960 steps), and up to three seeds of what follows: the choice of rows and prompts, the draws, the order. So the spread of the seeds is that of fine-tuning and sampling, not of pre-training. One seed of `shared, KL .05` was run twice, on different days, and the two differ by rounding that training carries on: 100 and 99.3 % parse, 81 and 82 % of the answers are different, 32 and 29 % have one shape.
#
# Each model answers the same 300 held-out first lines at temperature 0.7, top-p 0.9, with at most 48 tokens. The standard error of a share is at most 2.9 points. For the rewards the answers are drawn at temperature 1 from all tokens. *KL* is the divergence from the fine-tuned model of the same seed, in nats a token, over the tokens of the 64 answers of a step.

# %% tags=["setup"]
from coursekit import data, plots, quiet, recorded

quiet.start_tensorflow()

import matplotlib.pyplot as plt
import numpy as np
import tensorflow as tf

from coursekit.pages import assistant, training

tf.get_logger().setLevel("ERROR")  # no advice on retracing
plots.use_course_style()
results = recorded.load("assistant")["results"]
OTHER, ANOTHER = "reads another's", "another's"


def of(part, **what):
    """The recorded runs of a part that are like this, by seed."""
    return sorted((run for run in results[part]["runs"] if what.items() <= run.items()), key=lambda run: run["seed"])


# %% [markdown]
# <a id="fine-tuning"></a>
#
# ## Fine-tuning, and rows cut anywhere
#
# **Claim.** Fine-tuned models end 95 to 97 % of their answers, the first one ends 47 to 50 %, and after as many steps on rows cut anywhere it is 29 to 39 %. Of the answers that end, 5 to 10 points more parse after fine-tuning than before; with rows cut anywhere the change has no one sign. Real bodies cost the fine-tuned models 2.01 to 2.03 nats a token, the first one 2.08, and after rows cut anywhere 2.11. **Changed:** the rows: whole functions with the loss on the answer, or as many rows of the same mean length, cut anywhere in the stream of the same library, with the loss on all tokens. **Runs:** three seeds, 96 steps of 32 rows, one pass over 3,022 functions. *Reads its own*: among 97 first lines with a parameter besides `self` and `cls`, the share of answers that read it; *another's*: that read one of the next first line's. **Does not show** that the answers fit their first lines, what more than one pass would do, or what the answer mask is worth: the loss on the whole row (`--ways everything`) was not run.

# %%
for way, name in (("start", "first model"), ("answers", "fine-tuned"), ("anywhere", "rows cut anywhere")):
    print(f"{name}\n  seed   ended   parse  of ended  tokens  distinct  reads its own  another's  nats an answer token")
    for run in of("tuned", way=way):
        print(f"  {run['seed']:4}  {run['ended']:6.1%}  {run['parse']:6.1%}  {run['parse of ended']:7.1%}  {run['tokens']:6.1f}  {run['distinct']:7.1%}  {run['reads its own']:12.1%}  {run[OTHER]:9.1%}  {run['nats an answer token']:.3f}")

# %%
for run in sorted(of("heeded"), key=lambda run: run["way"], reverse=True):
    print(f"{'first model' if run['way'] == 'start' else 'fine-tuned':11} seed {run['seed']}: a real body costs {run['own']:.3f} nats a token behind its own first line, {run[ANOTHER]:.3f} behind another's (mean of three orders)")

# %% [markdown]
# <a id="rewards"></a>
#
# ## Trainings by rewards
#
# **Claim.** Each reward is met within 50 steps, and without a brake nearly one answer is left: `return self`; after the points for parsing the third seed has `return None` beside it. With half and half, each brake alone keeps several answers: the price of the KL 38 and 50 %, the division by how often an answer is in the batch (*shared*) 74 and 68 %, both 82 and 79 %. A real body costs least with both, and less with the price alone than with the division alone. **Changed:** the reward; then, for half and half, none, one or both of the brakes. **Runs:** as many seeds as rows, 50 steps of 8 prompts with 8 answers each, Adam with a rate of 0.0003. **Does not show** what another rate, price or length would do, or how far other seeds lie apart: two for each brake.

# %%
ways = list(dict.fromkeys(run["way"] for run in results["rewarded"]["runs"]))
for way in ways:
    print(way)
    for run in of("rewarded", way=way):
        text, share = run["commonest"]
        shape, of_shape = run["commonest shape"]
        print(f"  seed {run['seed']}: parse {run['parse']:.1%}, {run['tokens']:4.1f} tokens, {run['distinct']:.0%} distinct, KL {run['history']['KL'][-1]:.2f}, {run['nats an answer token']:.2f} nats an answer token; commonest {share:.0%} {text!r}, shape {of_shape:.0%} {shape.partition(chr(10))[2].strip()!r}")


# %% [markdown]
# <a id="curves"></a>
#
# ## Step by step
#
# **Claim.** After the points for parsing one answer fills half of the batch two, four and nine steps after 95 of 100 parse; after half and half five and four steps. The KL divergence rises with it, and with both brakes it stays below a third of a nat. **Runs:** those above; each point of the left and the middle column is one batch of 64 answers.

# %%
def first_step(values, least):
    """The first step at which a curve reaches a value; 0 if it never does."""
    reached = np.array(values) >= least
    return int(reached.argmax()) + 1 if reached.any() else 0


for way in ways:
    for run in of("rewarded", way=way):
        history = run["history"]
        print(f"{way:38} seed {run['seed']}: 95 % parse in step {first_step(history['parse'], 0.95):2}, one answer is half of the batch in step {first_step(history['share of the commonest'], 0.5):2}; tokens {history['length'][0]:.0f}, {history['length'][9]:.0f}, {history['length'][19]:.0f}, {history['length'][-1]:.0f}")

# %% tags=["drawing"]
shown = ("parses", "half and half", "half and half, shared, KL .05")
figure, axes = plt.subplots(len(shown), 3, figsize=(10, 2.3 * len(shown)), sharex=True, squeeze=False)
at = [1, *range(results["rewarded"]["every"], results["rewarded"]["steps"] + 1, results["rewarded"]["every"])]
for line, way in zip(axes, shown, strict=True):
    for number, run in enumerate(of("rewarded", way=way)):
        history = run["history"]
        steps = np.arange(1, len(history["parse"]) + 1)
        for ax, x, values in zip(line, (steps, steps, at), (history["parse"], history["share of the commonest"], history["KL"]), strict=True):
            ax.plot(x, values, **plots.LINES[number] | {"marker": ""}, label=f"seed {run['seed']}")
    line[0].set(ylabel=way.replace(", ", ",\n", 1), ylim=(0, 1.03))
    line[1].set(ylim=(0, 1.03))
    line[2].set(ylim=(0, 1.4))
for ax, title in zip(axes[0], ("share that parses", "share of the commonest answer", "KL, nats a token"), strict=True):
    ax.set_title(title)
for ax in axes[-1]:
    ax.set_xlabel("step")
axes[0][0].legend()
plots.show(
    figure,
    alt="""Where one answer fills the batch, the model has left its reference. Three trainings by rewards, one a row, a line for each seed, over 50 steps. Points for parsing, and half and half: the share that parses and the share of the commonest answer
both climb, to nearly one but for the third seed's commonest answer, and the KL divergence climbs to about one nat a token. Half and half with both brakes: all but a few answers parse, no answer is common, and the KL divergence climbs to 0.3 nats at most.""",
)

# %% [markdown]
# <a id="preferences"></a>
#
# ## DPO by step
#
# **Claim.** The loss falls to the end, while the chosen answers lose probability, on held-out pairs more than on pairs that were trained on. The share of new answers that parse rises in the first 20 steps, and after that has no direction that the seeds share; the answers shrink, and one text spreads. A real body then costs more than after any of the rewards. **Runs:** three seeds, 80 steps of 16 pairs, β = 0.1, each pair read three or four times; gains on 64 pairs of the training set and on 64 from held-out first lines; new answers to 160 held-out first lines every 20 steps (standard error at most 4 points). **Does not show** another β or rate, pairs of equal length, or pairs that people judged.

# %%
for run in of("preferred"):
    text, share = run["commonest"]
    chosen, rejected = run["tokens of chosen, rejected"]
    print(f"seed {run['seed']}: {run['pairs']} pairs, {chosen} and {rejected} tokens")
    for point in run["points"]:
        (chosen, rejected), (unseen, unseen_rejected) = point["chosen, rejected"], point["held out"]
        print(f"  step {point['step']:2}: loss {point['loss']:.3f}; chosen {chosen:6.2f} nats, rejected {rejected:6.2f}; held out {unseen:6.2f}, {unseen_rejected:6.2f}; new answers parse {point['parse']:.1%}, {point['tokens']:4.1f} tokens, commonest {point['commonest'][1]:.0%} {point['commonest'][0]!r}")
    print(f"  after the last step, 300 first lines: parse {run['parse']:.1%}, {run['tokens']:.1f} tokens, {run['distinct']:.0%} distinct, commonest {share:.0%} {text!r}; a real body costs {run['nats an answer token']:.2f} nats a token")

# %% [markdown]
# <a id="sharpened"></a>
#
# ## One draw against sixteen, for a skill that is rare
#
# **Claim.** One draw reads a parameter of its own nearly three times as often, 14 % before and 40 and 39 % after. One of sixteen does so about as often as before: 51 and 58 % in the first seed, 57 and 50 % in the second. The commonest answer of the first seed, `returnother(other)`, parses and reads its parameter; it calls what nobody has defined. **Changed:** the reward: a point for a body that parses and reads a parameter other than `self` and `cls`; practice is on first lines that have one. **Runs:** two seeds, 50 steps, no brake; then sixteen answers to each of 90 held-out first lines with such a parameter, before and after. “One of k” is the mean over all choices of k among the sixteen. **Does not show** what a larger model, more steps or a brake would do, or that the parameter is used well.

# %%
for run in of("sharpened"):
    text, share = run["commonest"]
    print(f"seed {run['seed']}, {run['first lines']} first lines; commonest {share:.0%} {text!r}")
    for when in ("before", "after"):
        print(f"  {when:6} " + ", ".join(f"one of {k}: {value:.1%}" for k, value in run[when]["one of"].items()))
    print(f"  of 300 answers after: parse {run['parse']:.1%}, {run['tokens']:.1f} tokens, {run['distinct']:.0%} distinct; reads its own {run['reads its own']:.1%}, another's {run[OTHER]:.1%}")


# %% [markdown]
# <a id="quantisation"></a>
#
# ## Two words of model cards: quantisation, mixtures of experts
#
# **Quantisation** stores a matrix in whole numbers of few bits, with a scale and a least value for each row, or for each 32 numbers. The scales are stored as well: with two bytes for each of the two values, 32 numbers pay one bit a number more, and a row of 128 a quarter of a bit.
#
# **Claim.** At four bits a number the model loses 0.01 bits a byte; at two bits 0.6 with a scale for each row, and 0.3 with one for 32 numbers. At the same bits a number more scales help at three and at two bits; from four on the two differ by at most 0.004. But at about the same *storage* one more bit is worth more to this model than more scales: three bits and a scale a row cost 1.39 bits a byte, two bits and a scale for 32 numbers 1.65. **Changed:** the bits of a number, and how many numbers share a scale; the model is the stored one, which has 8 bits a number and a scale a row already. **Runs:** one model, twelve windows of held-out text. **Does not show** other models: in larger ones single rows have far larger numbers, and there small blocks are the rule.
#
# A **mixture of experts** sends each token to a few of many gated networks in a block (Shazeer et al. 2017, arXiv 1701.06538). Published sizes: Mixtral 8x7B stores 47 billion parameters and uses 13 billion for a token (Jiang et al. 2024, arXiv 2401.04088), DeepSeek-V3 stores 671 and uses 37 (DeepSeek-AI 2024, arXiv 2412.19437).

# %%
def rounded(matrix, bits, size):
    """A matrix (…, D) as whole numbers of some bits, with a scale and a least value for each `size` numbers, or a row."""
    blocks = matrix.reshape(-1, size) if size else matrix
    low, high = blocks.min(1, keepdims=True), blocks.max(1, keepdims=True)
    scale = np.maximum(high - low, 1e-12) / (2**bits - 1)
    return (np.round((blocks - low) / scale) * scale + low).reshape(matrix.shape)


pairs, model = assistant.stored_writer()
weights, stream = model.get_weights(), pairs.stream(data.library_functions()[1][0])
is_rounded = [array.ndim == 2 and array.size % 32 == 0 for array in weights]
numbers = sum(array.size for array, yes in zip(weights, is_rounded, strict=True) if yes)
rows = sum(len(array) for array, yes in zip(weights, is_rounded, strict=True) if yes)
print(f"{numbers:,} of {model.count_params():,} numbers are rounded")
cost, stored = {}, {}
for size in (0, 32):
    for bits in (8, 5, 4, 3, 2):
        small = assistant.copied(model)
        small.set_weights([rounded(array, bits, size) if yes else array for array, yes in zip(weights, is_rounded, strict=True)])
        cost[size, bits] = training.held_out_bits(small, stream, pairs.token_bytes, most=12)
        stored[size, bits] = bits + 32 * (numbers / 32 if size else rows) / numbers
        print(f"{bits} bits, a scale for {'32 numbers' if size else 'each row  '}: {stored[size, bits]:.2f} bits stored a number, {cost[size, bits]:.3f} bits a byte")
whole = training.held_out_bits(model, stream, pairs.token_bytes, most=12)
print(f"as stored: {whole:.3f}")

# %% tags=["drawing"]
figure, ax = plt.subplots(figsize=(5.5, 3.2))
for line, (size, label) in enumerate(((0, "one scale a row"), (32, "one scale for 32 numbers"))):
    ax.plot([stored[size, bits] for bits in (8, 5, 4, 3, 2)], [cost[size, bits] for bits in (8, 5, 4, 3, 2)], **plots.LINES[line], label=label)
ax.axhline(whole, color=plots.LINES[5]["color"], linewidth=1)
ax.set(xlabel="stored bits a number, scales included", ylabel="bits a byte, held out", ylim=(1.2, 2.1))
ax.legend()
plots.show(
    figure,
    alt="""At as much storage, one more bit is worth more to this model than more scales. Held-out bits a byte over the bits that are stored for a number, scales included:
two curves lie on the line of the stored model on the right and rise towards the left, the one with a scale for 32 numbers sooner.""",
)

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
from coursekit import plots, recorded

import matplotlib.pyplot as plt
import numpy as np

plots.use_course_style()
results = recorded.load("assistant")["results"]
OTHER = "reads another's"


def of(part, **what):
    """The recorded runs of a part that are like this, by seed."""
    return sorted((run for run in results[part]["runs"] if what.items() <= run.items()), key=lambda run: run["seed"])


# %% [markdown]
# <a id="fine-tuning"></a>
#
# ## Fine-tuning, and rows cut anywhere
#
# **Claim.** Fine-tuned models end 95 to 97 % of their answers, the first one ends 47 to 50 %, and after as many steps on rows cut anywhere it is 29 to 39 %. Of the answers that end, 5 to 10 points more parse after fine-tuning than before; with rows cut anywhere the change has no one sign. **Changed:** the rows: whole functions with the loss on the answer, or as many rows of the same mean length, cut anywhere in the stream of the same library, with the loss on all tokens. **Runs:** three seeds, 96 steps of 32 rows, one pass over 3,022 functions. *Reads its own*: among 97 first lines with a parameter besides `self` and `cls`, the share of answers that read it; *another's*: that read one of the next first line's. **Does not show** that the answers fit their first lines, what more than one pass would do, or what the answer mask is worth: the loss on the whole row (`--ways everything`) was not run.

# %%
for way, name in (("start", "first model"), ("answers", "fine-tuned"), ("anywhere", "rows cut anywhere")):
    print(f"{name}\n  seed   ended   parse  of ended  tokens  distinct  reads its own  another's  nats an answer token")
    for run in of("tuned", way=way):
        print(f"  {run['seed']:4}  {run['ended']:6.1%}  {run['parse']:6.1%}  {run['parse of ended']:7.1%}  {run['tokens']:6.1f}  {run['distinct']:7.1%}  {run['reads its own']:12.1%}  {run[OTHER]:9.1%}  {run['nats an answer token']:.3f}")

# %% [markdown]
# <a id="rewards"></a>
#
# ## Trainings by rewards
#
# **Claim.** Each reward is met within 50 steps, and without a brake nearly one answer is left: `return self`; after the points for parsing the third seed has `return None` beside it. With shared points and a price the answers stay different. **Changed:** the reward; in the third training also the price of the KL divergence and the division by how often an answer is in the batch, both at once. **Runs:** as many seeds as rows, 50 steps of 8 prompts with 8 answers each, Adam with a rate of 0.0003. **Does not show** which of the two brakes holds: each alone (`--ways "half and half, KL .05;half and half, shared"`) was not run. Nor what another rate, price or length would do.

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
# **Claim.** After the points for parsing one answer fills half of the batch two, four and nine steps after 95 of 100 parse; after half and half five and four steps. The KL divergence rises with it, and with shared points and a price it stays below a third of a nat. **Runs:** those above; each point of the left and the middle column is one batch of 64 answers.

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
both climb, to nearly one but for the third seed's commonest answer, and the KL divergence climbs to about one nat a token. Shared points with a price: all but a few answers parse, no answer is common, and the KL divergence climbs to 0.3 nats at most.""",
)

# %% [markdown]
# <a id="preferences"></a>
#
# ## DPO by step
#
# **Claim.** The loss falls to the end, while the chosen answers lose probability, after step 20 clearly; new answers parse most often after 40 steps. **Runs:** one seed, 80 steps of 16 pairs, β = 0.1; new answers to 160 held-out first lines every 20 steps (standard error at most 3 points). **Does not show** another β or rate, or pairs that people judged.

# %%
for run in of("preferred"):
    text, share = run["commonest"]
    print(f"seed {run['seed']}: {run['pairs']} pairs")
    for point in run["points"]:
        chosen, rejected = point["chosen, rejected"]
        print(f"  step {point['step']:2}: loss {point['loss']:.3f}, chosen {chosen:6.2f} nats, rejected {rejected:6.2f}; new answers parse {point['parse']:.1%}")
    print(f"  after the last step, 300 first lines: parse {run['parse']:.1%}, {run['tokens']:.1f} tokens, {run['distinct']:.0%} distinct, commonest {share:.0%} {text!r}")

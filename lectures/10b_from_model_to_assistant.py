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
# # 10b · From a model to an assistant
#
# **A reward makes likely some way to its points, perhaps not the one you meant: read the answers, not the reward.**
#
# [← 10 · A language model of your own](10_language_model.ipynb) · [Lab 10b](../labs/10b_from_model_to_assistant/10b_from_model_to_assistant.ipynb)
#
# You give a small model that writes Python one point for each function that Python accepts, and nothing for any other. It practises for a minute. **What will it write then?** Write down one function body. You will see it in fifteen minutes.
#
# | stage of an assistant | what it learns from | here |
# |---|---|---|
# | pre-training | text | done in lecture 10 |
# | supervised fine-tuning | answers that it is shown | section 2 |
# | reinforcement learning, checkable reward | points that a program gives to its own answers | sections 3, 4, 5 and 6 |
# | preferences | pairs: the better and the worse of two answers | section 7, without a reward model |
#
# Not every assistant has all four: SmolLM2 (section 8) had no points from a program.
#
# **Afterwards you can**
#
# * fine-tune a model on answers, and say by controls what that teaches;
# * derive the gradient of a reward that a program gives, with the group's mean as baseline, and train by it;
# * read a collapse off the answers, and predict the hole of the next reward;
# * tell a model that has learned something from one that does more often what it could do before.
#
# **You need** [lecture 10](10_language_model.ipynb). **Time:** about 72 minutes to read and predict (estimated, not measured); the code runs in about five minutes on two CPU cores. Letters: **B** rows, **T** tokens, **G** answers to one prompt.

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
import ast
import math
import re
import warnings
from collections import Counter

from coursekit import data, live, plots, quiet, recorded

quiet.start_tensorflow()  # keeps its start-up messages out of the notebook

import keras
import matplotlib.pyplot as plt
import numpy as np
import tensorflow as tf
from keras import ops

from coursekit.data.published_models import is_here
from coursekit.pages import assistant
from coursekit.pages.smollm2 import PlainSmolLM2, numbers_and_tokens

plots.use_course_style()
tf.get_logger().setLevel("ERROR")  # no advice on retracing
warnings.simplefilter("ignore", SyntaxWarning)  # what the model writes is parsed, and may hold odd escapes
results = recorded.load("assistant")["results"]
OTHER = "another's"


def of(part, **what):
    """The recorded runs of a part that are like this, by seed."""
    return sorted((run for run in results[part]["runs"] if what.items() <= run.items()), key=lambda run: run["seed"])


# %% [markdown]
# <a id="continues"></a>
#
# ## 1 · It continues
#
# The model is lecture 10's, after 1,960 steps; it comes with the course. Its **prompts** are the first lines of functions. It practises on modules that it has read, and is judged on *held-out* ones, which it has never read. Its **answers** are what it writes after them, at most 48 tokens with the end. To be judged, they are drawn at temperature 0.7 with top-p 0.9. In training they are drawn at temperature 1 from all tokens, because the gradient of section 3 is a mean over exactly these draws.

# %%
pairs, first = assistant.stored_writer()
(train_texts, _), (held_out, _) = data.library_functions()
functions, asked = assistant.short_functions(train_texts, pairs), assistant.short_functions(held_out, pairs)
print(f"{len(functions.prompts):,} short functions to learn from, {len(asked.prompts)} held-out first lines")
for answer in assistant.Writer(first, pairs)(asked.prompts[:40:10], temperature=0.7, p=0.9, seed=1):
    print("-" * 60, answer.prompt + answer.body + ("" if answer.ended else " …"), sep="\n")


# %% [markdown]
# The model continues as a library's text does, and only half of its answers end in time (section 2 counts).
#
# **A trained model continues as its text does, and often it does not end in time.**

# %% [markdown]
# <a id="fine-tuning"></a>
#
# ## 2 · Show it answers
#
# **Supervised fine-tuning** (SFT) is more training, on pairs of prompt and answer. Here they are cut from functions that the model has read already. Each row is one pair, with the end after it. The loss counts the tokens of the answer only, the end included: the **answer mask**.

# %%
def log_probabilities(model, rows):  # (B, T + 1)
    """The logarithm of the probability of each token after the first, (B, T)."""
    logits = model(rows[:, :-1])  # (B, T, V)
    return -ops.sparse_categorical_crossentropy(rows[:, 1:], logits, from_logits=True)

def answer_loss(model, rows, mask):  # (B, T + 1), (B, T): 1 where a token of the answer or its end is predicted
    """The mean surprise at the tokens of the answers; what the prompt says is read and costs nothing."""
    return -ops.sum(log_probabilities(model, rows) * mask) / ops.sum(mask)


# %%
rows, mask = assistant.rows_of(functions, pairs, np.array([0]))
for token, counts in zip(rows[0, 1:], mask[0], strict=True):
    print(repr(pairs.decode([token])) if token != pairs.end_id else "END", "·" if counts else "(read only)", end="  ")


# %% [markdown]
# Does an answer *parse*? Python says so:

# %%
def parses(prompt, body):
    """1 if Python accepts prompt and body as one function, else 0. Nothing is run."""
    try:
        tree = ast.parse(prompt + body).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return 0.0
    return float(len(tree) == 1 and isinstance(tree[0], ast.FunctionDef))


# %% [markdown]
# **Predict.** Of the first model's answers 42 % end in time and parse (first recorded seed, 300 first lines). After one pass over the pairs (96 steps of 32) it is 86 %. What has the model learned?
#
# - (a) Python's grammar
# - (b) to write short bodies that end
# - (c) to do what the first line asks
#
# <details><summary>Answer</summary>
#
# **(b)** In three seeds 47 to 50 % of its answers ended in time before, 95 to 97 % afterwards. Of those that ended, 81 to 85 % parsed before, and 90 to 93 % afterwards. (The cell below draws other answers.)
#
# </details>

# %% tags=["setup"]
def described(model, number=200):
    """Shares of held-out prompts whose answers end, and parse; and the answers."""
    answers = assistant.Writer(model, pairs)(asked.prompts[:number], temperature=0.7, p=0.9, seed=1)
    fine = [answer.ended and bool(parses(answer.prompt, answer.body)) for answer in answers]
    return np.mean([answer.ended for answer in answers]), np.mean(fine), answers

def tokens_of_ended(answers):
    return np.mean([len(answer.ids) for answer in answers if answer.ended])


# %%
tuned = assistant.copied(first)
step = assistant.learner(tuned.trainable_variables, keras.optimizers.schedules.CosineDecay(1e-3, 96), lambda *both: answer_loss(tuned, *both))
for number, (rows, mask) in enumerate(assistant.batches_of(functions, pairs, steps=96, seed=1), 1):
    loss = step(rows, mask)
    if number % 24 == 0:
        print(f"step {number}: {loss:.2f} nats an answer token")

# %% tags=["setup"]
for name, model in (("before", first), ("after 96 steps", tuned)):
    ended, fine, answers = described(model)
    print(f"{name:15} ended {ended:.0%}, parse {fine:.0%}; of those that ended, parse {fine / ended:.0%}, {tokens_of_ended(answers):.1f} tokens")
print("\n" + max((answer.prompt + answer.body for answer in answers if answer.ended and parses(answer.prompt, answer.body)), key=len))

# %% jupyter={"source_hidden": true} tags=["setup"]
for way, name in (("start", "before"), ("answers", "fine-tuned"), ("anywhere", "control: rows cut anywhere")):
    for run in of("tuned", way=way):
        print(f"{name:27} seed {run['seed']}: ended {run['ended']:.1%}, parse {run['parse']:.1%}, of ended {run['parse of ended']:.1%}, {run['tokens']:.0f} tokens an answer")

for run in sorted(of("heeded"), key=lambda run: run["way"], reverse=True):
    print(f"{'before' if run['way'] == 'start' else 'fine-tuned':10} seed {run['seed']}: surprise at a real body {run['own']:.2f} nats a token behind its own first line, {run[OTHER]:.2f} behind another's; difference {run[OTHER] - run['own']:.2f}")


# %% [markdown]
# The control had as many steps on rows of the same mean length, cut *anywhere* in the same library. Few of these rows contain an end. It got worse in each seed: 25 to 31 % parse, where it was 38 to 42 %. So short rows alone do not teach it; whole rows do. (Long whole rows were not tried.) Of the answers that end, five to ten points more parse than before. But these answers are shorter, too: in the run above they went from 25.5 to 20.2 tokens on average. So this need not be better Python.
#
# There is a grain of truth in (c). The last lines give the model's surprise at *real* held-out bodies. Behind another function's first line it is about what it was, behind their own a little less. So the first line counts for more than it did: 0.14 to 0.15 nats a token, where it was 0.10 ([evidence](evidence/10b.ipynb#fine-tuning)). (The control did not take this test.)
#
# **One pass over a few thousand short functions taught this model above all to write short whole bodies, and so to end.**

# %% [markdown]
# <a id="reward"></a>
#
# ## 3 · A program gives the points
#
# A program can tell whether Python accepts an answer. So nobody has to write answers any more: the model draws its own, and the program judges them. This is a **verifiable reward**. An answer earns the point if it ends and `parses` accepts it. How does one learn from a number?
#
# You want the mean reward $\sum_a p(a)\,r(a)$ to rise. `parses` has no gradient, but the probability $p(a)$ of an answer has one, and $\nabla p=p\,\nabla\ln p$:
#
# $$\nabla\sum_a p(a)\,r(a)=\sum_a p(a)\,r(a)\,\nabla\ln p(a)$$
#
# The right side is a mean over answers that the model itself draws. So draw some, and push up the log probability of each by its reward (REINFORCE; Williams 1992). Since $\sum_a\nabla p(a)=0$, you may subtract any fixed number $b$ from all rewards: the mean gradient stays the same. A good $b$, the **baseline**, makes the gradient less noisy. Here $b$ is the mean reward of G = 8 answers to the same prompt. An answer's **advantage** is how far it lies above that mean, divided by the group's standard deviation. 

# %%
def advantages(rewards):  # (prompts, G)
    """How much better each answer is than its group's mean, in the group's standard deviations."""
    return (rewards - rewards.mean(1, keepdims=True)) / (rewards.std(1, keepdims=True) + 1e-4)

def policy_loss(model, reference, rows, mask, advantage, beta):  # …, (B,), a number
    """Make good answers more probable; `beta` is the price of leaving the reference (Shao et al. 2024)."""
    new = log_probabilities(model, rows)  # (B, T)
    worth = advantage[:, None] * new
    if beta:
        gain = new - ops.stop_gradient(log_probabilities(reference, rows))
        worth -= beta * (ops.exp(-gain) + gain - 1)  # its mean over draws is the KL divergence (Schulman 2020)
    return -ops.sum(worth * mask) / ops.sum(mask)


# %% [markdown]
# **By hand.** Of eight answers two parse. What is the advantage of each of them, and of the others? And if all eight parse?
#
# <details><summary>Answer</summary>
#
# The mean is 0.25, the standard deviation $\sqrt{0.25 \cdot 0.75} = 0.433$. So 0.75/0.433 = 1.73 for the two, and −0.25/0.433 = −0.58 for the six. If all eight parse, every advantage is 0: this prompt teaches nothing any more.
#
# </details>

# %% [markdown]
# That is the core of **GRPO** (Shao et al. 2024), with which DeepSeek-R1 learned to reason (Guo et al. 2025): the group's mean is the baseline, and no second network predicts the reward.
#
# <details><summary>What the group's mean changes, what differs from the paper, and what is disputed</summary>
#
# * The proof needs a fixed $b$. The group's mean contains the answer's own reward, and this multiplies the mean gradient by $(G-1)/G$, here 7/8. (RLOO leaves the own reward out of the mean; Ahmadian et al. 2024.)
# * The paper takes several steps on the same draws. Then each token's gradient is weighted by the ratio $\rho$ of new to old probability, and the smaller of $\rho A$ and $\mathrm{clip}(\rho,1-\epsilon,1+\epsilon)\,A$ counts. We take one step a batch, so $\rho=1$.
# * The paper averages over the tokens of an answer first, then over answers; `policy_loss` counts all tokens of the batch alike. The division by the standard deviation gives more weight to prompts that are nearly always, or nearly never, solved. Liu et al. (2025) leave out both divisions.
#
# </details>

# %% [markdown]
# The whole training is this loop (what `shared` does comes in section 4). `Writer` draws at temperature 1, and `learner` makes one step of Adam:

# %%
def learn_from_reward(model, reward, steps=50, beta=0.0, shared=False, seed=1):
    """Train a model in place by the points that its own answers earn; returns what it wrote at each step."""
    draw, reference, history = assistant.Writer(model, pairs), assistant.copied(model), assistant.History()
    step = assistant.learner(model.trainable_variables, 3e-4, lambda *batch: policy_loss(model, reference, *batch, beta))
    rng = np.random.default_rng(seed)
    for number in range(1, steps + 1):
        chosen = rng.choice(len(functions.prompts), 8, replace=False)
        prompts = [functions.prompts[place] for place in chosen for _ in range(8)]  # 8 prompts, G = 8
        answers = draw(prompts, seed=1_000 * seed + number)
        points = np.array([reward(each.prompt, each.body) if each.ended else 0.0 for each in answers], "float32")
        if shared:
            times = Counter(assistant.plain_body(each) for each in answers)
            points /= [times[assistant.plain_body(each)] for each in answers]
        points = points.reshape(8, 8)  # (prompts, G)
        history.add(answers, points)
        rows, mask = assistant.in_rows(pairs.encode(prompts), [each.ids for each in answers], pairs.end_id)
        step(rows, mask, advantages(points).reshape(-1).astype("float32"))
    return history


# %% [markdown]
# **Predict.** Fifty steps of 8 prompts and 8 answers each. What will most answers be?
#
# - (a) longer functions, since these earn the point as well
# - (b) `pass`, the commonest body of the library
# - (c) a few other short texts, often one
#
# <details><summary>Answer</summary>
#
# **(c)** In each of three recorded seeds most are `return self`: 99.7, 99.0 and 80.0 % of the answers to held-out first lines, and 94, 89 and 55 % of the last training step, at temperature 1. (With the third, 19 % do nothing, such as `return None`.) Before practice `pass` was the likelier of the two, 1.2 % against 0.4 % (last lines of the next output). Why `return self` wins we do not know.
#
# </details>

# %% tags=["setup"]
def practise(reward, **brakes):
    """Train a copy of the fine-tuned model, and print what it wrote on the way, at temperature 1."""
    model = assistant.copied(tuned)
    history = learn_from_reward(model, reward, **brakes)
    for step in (1, 10, 20, 35, 50):
        ended, fine, tokens, different = (curve[step - 1] for curve in (history.ended, history.parse, history.length, history.distinct))
        print(f"step {step:2}: ended {ended:4.0%}, parse {fine:4.0%}, {tokens:4.1f} tokens, different answers {different:.0%}, commonest {history.bodies[step - 1][0][1] / 64:.0%}")
    return model, history


collapsed, history = practise(parses)
print("the control, a point for every answer that ends:")
_, ending = practise(lambda prompt, body: 1.0)
for body in ("pass", "return", "return self"):
    ids = [[*pairs.encode([f"\n    {body}\n"])[0], pairs.end_id]] * len(asked.prompts)
    rows, mask = assistant.in_rows(pairs.encode(asked.prompts), ids, pairs.end_id)
    print(f"before practice, held-out first lines: {body} has a mean probability of {np.exp(ops.sum(log_probabilities(tuned, rows) * mask, axis=1)).mean():.2%}")

# %%
live.answers({"ended": history.ended, "parse": history.parse, "the commonest answer": [some[0][1] / 64 for some in history.bodies]}, history.bodies)


# %% [markdown]
# Move the step back, and find the last one worth reading. After ten steps nearly every answer ends, yet the answers go on shrinking. The control gave a point for every answer that ends. Those answers shrink too, to 8.9 tokens, but 80 % of them stay different. So the end explains a part of the shrinking, not that so few texts are left. With points for parsing one text fills 88 % of the batch at step 35, and the commonest of the last step stands 28 times in 64. In three recorded seeds a single answer fills half of the batch two, four and nine steps after 95 of 100 answers parse ([evidence](evidence/10b.ipynb#curves)).
#
# <details><summary>Why one text, when many others would earn as much?</summary>
#
# An answer is pushed as often as it is drawn. Say two answers earn the point, one with $p=0.3$, the other with $p=0.1$, and the rest fail; so the mean reward is 0.4. If each answer had a number of its own under the softmax, the mean gradient of that number would be $p(r-0.4)$: 0.3 · 0.6 = 0.18 for the one, and 0.1 · 0.6 = 0.06 for the other. So the one that leads grows faster. (This is not all: our model's answers share their weights, and `pass`, which led, did not win.)
#
# </details>
#
# **The reward was met to the last point, and the text is gone: no point was left that asked for more.**

# %% [markdown]
# <a id="next-reward"></a>
#
# ## 4 · The next reward
#
# So mend it: half a point if the answer parses, half if the body *reads a parameter*.

# %%
def reads_a_parameter(prompt, body):
    """1 if it parses and the body reads one of the function's parameters, else 0."""
    if not parses(prompt, body):
        return 0.0
    (function,) = ast.parse(prompt + body).body
    own = {node.arg for node in ast.walk(function.args) if isinstance(node, ast.arg)}
    names = [node for line in function.body for node in ast.walk(line) if isinstance(node, ast.Name)]
    return float(any(name.id in own and isinstance(name.ctx, ast.Load) for name in names))

def half_and_half(prompt, body):
    return 0.5 * parses(prompt, body) + 0.5 * reads_a_parameter(prompt, body)


# %% [markdown]
# **Predict.** Which short body earns the whole point? Write one down for `def close(self):`.
#
# <details><summary>Answer</summary>
#
# In a method `return self` will do: `self` *is* a parameter, so the answer that won before earns the whole point again. In a function without `self`, such as `def _prevmonth(year, month):`, it earns half. All the same it is 100 % of the answers in both recorded seeds.
#
# </details>

# %% jupyter={"source_hidden": true} tags=["setup"]
for way in ("parses", "half and half"):
    for run in of("rewarded", way=way):
        body, share = run["commonest"]
        print(f"{way:13} seed {run['seed']}: parse {run['parse']:.1%}, {run['tokens']:.0f} tokens, {run['distinct']:.0%} distinct, commonest {share:.0%} (temperature 1, last step: {run['history']['share of the commonest'][-1]:.0%}): {body}")
earned = {has: [half_and_half(prompt, "\n    return self") for prompt in asked.prompts if ("(self" in prompt) == has] for has in (True, False)}
print(f"`return self` earns {np.mean(earned[True]):.2f} for the {len(earned[True])} first lines with `self`, {np.mean(earned[False]):.2f} for the {len(earned[False])} without, {np.mean(earned[True] + earned[False]):.2f} in all")

# %% [markdown]
# So half a point is left on every first line without `self`. Where all eight answers to such a line earn the same half, the group has no difference and teaches nothing: a model that has stopped trying does not find out what it misses.
#
# Both rewards have a hole, and each time the model found it. Try one that needs no new idea of what is good: **divide the points by how often this answer stands in the batch.** What is written often is worth little. (A second brake is on, too: a small price for leaving the fine-tuned model, section 5. And since the points now depend on the other draws, section 3's derivation no longer covers them.)

# %%
held, history_held = practise(half_and_half, beta=0.05, shared=True)

# %% [markdown]
# **Predict.** The same text earns less the more often it stands in the batch. What does this reward let through? Look for it in the last steps.
#
# <details><summary>Answer</summary>
#
# Other names in the same few shapes: a new spelling is a new answer, and `self` is read. Nearly all answers of the last step differ, but only in their names. With one letter for every name, 29 % of those to held-out first lines are `x.x = None` in the first recorded seed, and 49 % are `return x.x` in the second.
#
# </details>

# %%
live.answers({"different answers": history_held.distinct, "parse": history_held.parse, "the commonest answer": [some[0][1] / 64 for some in history_held.bodies]}, history_held.bodies)

# %% tags=["setup"]
for name, model in (("fine-tuned", tuned), ("points for parsing", collapsed), ("both brakes", held)):
    answers = described(model)[2]
    shapes = Counter(assistant.shape_of(answer.body) for answer in answers)  # one letter for every name
    (shape, times), different = shapes.most_common(1)[0], {answer.body for answer in answers}
    print(f"— {name}: {len(answers)} answers, {len(different)} different, {len(shapes)} shapes; the commonest {times} times:", shape.partition("\n")[2].strip())
    for what, has in (("with", True), ("without", False)):
        full = [each.ended and half_and_half(each.prompt, each.body) == 1 for each in answers if ("(self" in each.prompt) == has]
        print(f"   the whole point: {sum(full)} of the {len(full)} {what} self, {np.mean(full):.0%}")
    for answer in answers[:40:10]:
        print(answer.prompt + answer.body.rstrip())

# %% [markdown]
# The 200 answers above have 18 shapes, where the fine-tuned model's have 128 (they are shorter, too). And look where the points come from: behind first lines with `self` 100 % of the answers earn the whole point, behind those without 5 %: 2 of 41, where the fine-tuned model had 5. The reward pays there as well, yet such answers did not become more frequent.
#
# **With a penalty for repeats and a price for leaving, the answers do not collapse to one text, but to few shapes.**

# %% [markdown]
# <a id="price"></a>
#
# ## 5 · A price for leaving
#
# The usual brake is a price on the **KL divergence** from the model before, the *reference*: the mean of the **gain** $g=\ln p_\text{new}-\ln p_\text{old}$ over what the new model writes. It is 0 where both agree. `policy_loss` charges `beta` for it at every token, in another form, $e^{-g}+g-1$, which has the same mean and is never negative:

# %% [markdown]
# **By hand.** Two answers: the new model gives them 1/2 and 1/2, the old one gave them 1/4 and 3/4. What is the mean of $g$, and of $e^{-g}+g-1$?
#
# <details><summary>Answer</summary>
#
# $e^{-g}$ is 1/2 and 3/2, and $g$ is 0.69 and −0.41. The mean of $g$ is (0.69 − 0.41)/2 = 0.14. The mean of $e^{-g}$ is (0.5 + 1.5)/2 = 1, because the old probabilities sum to 1. So the mean of $e^{-g}+g-1$ is 1 + 0.14 − 1 = 0.14, the same.
#
# </details>

# %% [markdown]
# The draws are fixed when the step is made. Then the mean gradient of this form with respect to the logit of a next token is $p_\text{new}-p_\text{old}$. So a step pushes down the tokens that have become likelier than they were, and up those that have become rarer; but only behind beginnings that the new model still writes.

# %% jupyter={"source_hidden": true} tags=["setup"]
print(f"{'':26}{'temperature 0.7':38}{'surprise at':14}temperature 1, last step: KL in nats")
print(f"{'brakes':17}  seed   different   {'commonest':23}   a real body   a token × tokens = an answer")
for name, way in (("none", ""), ("price", ", KL .05"), ("penalty", ", shared"), ("price and penalty", ", shared, KL .05")):
    for run in of("rewarded", way="half and half" + way):
        curves, (body, share) = run["history"], run["commonest"]
        nats, tokens = curves["KL"][-1], curves["length"][-1]
        print(f"{name:17}  {run['seed']:4}   {run['distinct']:9.0%}   {share:4.0%} {body:18}   {run['nats an answer token']:11.2f}   {nats:7.2f} × {tokens:6.1f} = {nats * tokens:9.1f}")


# %% [markdown]
# The table has half and half with no, one and both brakes: the price for leaving, and the penalty for repeats of section 4. Without a brake one text is left. With the price alone 38 and 50 % of the answers are different, with the penalty alone 74 and 68 %. The KL a token falls from 1.19 and 1.08 to 0.36 and 0.27 with the price alone, and to 0.48 and 0.30 with the penalty alone. (The KL of a whole answer falls less, since the answers are longer.)
#
# **Each brake alone did both jobs in part: the penalty kept more answers different, and the price kept the model nearer to where it began.**

# %% [markdown]
# <a id="sharpened"></a>
#
# ## 6 · Taught, or sharpened?
#
# Has the model learned something, or does it do more often what it could do before? Draw **sixteen** answers to each first line and ask whether *one* of them passes. Every first line here has a parameter besides `self`. With `self` in the line, `return self` is enough for the whole point; without it, the body has to read one of the others. So count the two kinds of lines apart. A model that practised half and half without a brake is added. Will practice have found the whole point for more of the lines without `self`? The reward pays for it.

# %% tags=["setup"]
def without_self(prompt):
    """The first line with another name for the object itself, so that reading `self` counts for nothing."""
    return re.sub(r"\((self|cls)\b", "(_", prompt)

few, draws = [prompt for prompt in asked.prompts if not re.search(r"\(_?\)", without_self(prompt))], 16
has_self = np.array(["(self" in prompt for prompt in few])
unbraked = assistant.copied(tuned)
_ = learn_from_reward(unbraked, half_and_half)

# %%
tests = {"whole point": lambda *both: half_and_half(*both) == 1, "reads another": lambda prompt, body: reads_a_parameter(without_self(prompt), body)}
panels = (("whole point", True), ("whole point", False), ("reads another", True))  # a test, and whether the lines have self
models, hits = {"first": first, "fine-tuned": tuned, "no brake": unbraked, "both brakes": held}, {}
for name, model in models.items():
    write = assistant.Writer(model, pairs)
    drawn = [write(few, temperature=0.7, p=0.9, seed=seed) for seed in range(draws)]
    for test, has in panels:
        passed = np.array([[each.ended and bool(tests[test](each.prompt, each.body)) for each in answers] for answers in drawn])
        found = hits[test, has, name] = passed[:, has_self == has]  # (draws, first lines)
        print(f"{test:13} {'with' if has else 'without':7} self, {name:11}: one draw {found.mean():4.0%}, at least one of {draws} for {found.any(0).sum():3} of {found.shape[1]} first lines")
before, after = (hits["whole point", False, name].any(0) for name in ("fine-tuned", "both brakes"))
print(f"whole point without self, both brakes against fine-tuned: {(before & ~after).sum()} lines lost, {(after & ~before).sum()} gained")


# %% jupyter={"source_hidden": true} tags=["drawing"]
def at_least_one(found, k):  # (draws, first lines)
    """How often at least one of k draws hits, over all choices of k among the draws (Chen et al. 2021)."""
    return np.mean([1 - math.comb(draws - some, k) / math.comb(draws, k) for some in found.sum(0)])


figure, axes = plt.subplots(1, 3, figsize=(10.5, 3.1), sharey=True)
for ax, (test, has), title in zip(axes, panels, ("whole point, with self", "whole point, without self", "with self: reads another"), strict=True):
    for number, name in enumerate(models):
        ax.plot(range(1, draws + 1), [at_least_one(hits[test, has, name], k) for k in range(1, draws + 1)], **plots.LINES[number], markevery=5, label=name)
    ax.set(xlabel="draws", title=title, xticks=(1, 4, 8, 12, 16), ylim=(-0.03, 1.05))
axes[0].set_ylabel("at least one hits")
axes[2].legend()
plots.show(figure, alt="""Where sixteen draws could still tell, the reward found no more. Three panels, each with the share of first lines for which at least one of 1 to 16 draws passes, for the first model, the fine-tuned one, the one without a brake and the one with both brakes.
The whole point with self: all four curves reach 1, the fine-tuned one within five draws, the two after practice from the first draw on. The whole point without self: the fine-tuned model's curve is the highest everywhere, and the one without a brake stays at 0. With self, another parameter is read: the same order at the top and at the bottom.""")


# %% [markdown]
# With `self` in the line, one draw went from 83 % to 100 %. But sixteen draws had found the whole point for all 103 lines before: practice made usual what was possible. Without `self` practice found no more. The fine-tuned model finds the whole point for 24 of 48 lines, the one without a brake for none, the one with both brakes for 17 (ten lines lost, three gained; of single draws 13 % earned it before, and 6 % after). So even what is paid for can get rarer. Where `self` is enough, another parameter is read for 29 of 103 lines, where it was 59. (One run of each.)
#
# Reward *only* the parameter besides `self`, and one draw reads one nearly three times as often; sixteen draws find more in one recorded seed and fewer in the other ([evidence](evidence/10b.ipynb#sharpened)). Yue et al. (2025) report of large models that were rewarded for right solutions: with one try they do better than the model before; with many tries the model before overtakes them.
#
# **Ask what several draws could do before: here practice made usual what sixteen draws had already found, and sixteen draws found no more than before.**

# %% [markdown]
# <a id="preferences"></a>
#
# ## 7 · When no program can judge: preferences
#
# Nobody can write `parses` for “helpful”. But people can say which of two answers they like better. The first assistants learned a *reward model* $r$ from such pairs, by the loss $-\ln\sigma(r_\text{chosen}-r_\text{rejected})$, and then practised on it with PPO (fold of section 3; Ouyang et al. 2022; $\sigma$ is the sigmoid). **DPO** (Rafailov et al. 2023) does both by one loss on the pairs. With the gain $g$ of section 5, now of a whole answer, the loss is $-\ln\sigma\big(\beta\,(g_\text{chosen}-g_\text{rejected})\big)$: the gain stands for the reward.
#
# <details><summary>Why may the gain stand for the reward?</summary>
#
# 1. Practice with a price for leaving makes $\sum_a p(a)\,r(a)-\beta\,\mathrm{KL}(p,p_\text{old})$ large.
# 2. Write $p^*(a)=p_\text{old}(a)\,e^{r(a)/\beta}/Z$, where $Z$ makes the sum 1. Then the sum in 1 is $\beta\ln Z-\beta\,\mathrm{KL}(p,p^*)$.
# 3. A KL divergence is 0 if both agree and positive otherwise. So the best $p$ is $p^*$.
# 4. Solve for the reward: $r(a)=\beta\,\ln\frac{p^*(a)}{p_\text{old}(a)}+\beta\ln Z$. That is $\beta$ times the gain, and a number that all answers to one prompt share.
# 5. Put it into the loss of the reward model. The difference drops $\beta\ln Z$, and DPO's loss is left: its minimum fits the reward and is already the model that has practised on it. This needs judges who sometimes disagree. A program never does: then the loss has no minimum, and no β holds the model near to where it began (Azar et al. 2023).
#
# </details>

# %%
def preference_loss(model, reference, chosen, rejected, beta):  # two pairs of rows and mask
    """DPO (Rafailov et al. 2023): the chosen answer gains on the rejected one, both counted from the reference."""

    def gain(rows, mask):  # (B,)
        new, old = (ops.sum(log_probabilities(each, rows) * mask, axis=1) for each in (model, reference))
        return new - ops.stop_gradient(old)

    return -ops.mean(ops.log_sigmoid(beta * (gain(*chosen) - gain(*rejected))))


# %% [markdown]
# At the start both gains are 0, and the loss is ln 2 = 0.69. The pairs are the fine-tuned model's own answers to one prompt, one that parses and one that does not. Three recorded runs take eighty steps of 16 pairs (β = 0.1), from 372 to 388 pairs, so each pair is read three or four times. A chosen answer has 20 to 21 tokens on average, a rejected one 35.

# %% [markdown]
# **Predict.** The loss falls. What happens to the probability of the *chosen* answers of *held-out* pairs, on which the model was not trained?
#
# - (a) it rises, that is what the loss wants
# - (b) it falls, and that of the rejected ones falls more
#
# <details><summary>Answer</summary>
#
# **(b)** The chosen answers have lost 8 to 15 nats after eighty steps, the rejected ones 28 to 35. Even on pairs that it was trained on the chosen ones lose: 4 to 8 nats. This is **likelihood displacement** (Razin et al. 2024).
#
# </details>

# %% jupyter={"source_hidden": true} tags=["drawing"]
figure, axes = plt.subplots(1, 3, figsize=(10.5, 3.1))
runs = of("preferred")
steps = [point["step"] for point in runs[0]["points"]]
for run in runs:
    axes[0].plot(steps, [point["loss"] for point in run["points"]], **plots.LINES[2])
    axes[2].plot(steps, [point["tokens"] for point in run["points"]], **plots.LINES[3])
    for number, kind in enumerate(("chosen", "rejected")):
        gains = [point["held out"][number] for point in run["points"]]
        axes[1].plot(steps, gains, **plots.LINES[number], label=kind if run is runs[0] else None)
axes[0].set(xlabel="step", ylabel="loss", title="training pairs: the loss falls …")
axes[1].set(xlabel="step", ylabel="nats gained since the start", title="held-out pairs: … by losing …")
axes[2].set(xlabel="step", ylabel="tokens of a new answer", title="new answers: … and shrinking", ylim=(0, 25))
axes[1].axhline(0, color=plots.LINES[5]["color"], linewidth=1)
axes[1].legend()
for run in runs:
    begin, end = run["points"][0], run["points"][-1]
    print(f"seed {run['seed']}, {run['pairs']} pairs: new answers parse {begin['parse']:.1%}, then {end['parse']:.1%}; {begin['tokens']:.0f} tokens, then {end['tokens']:.0f}; chosen answers that were trained on gained {end['chosen, rejected'][0]:.1f} nats; the commonest {end['commonest'][1]:.0%}: {end['commonest'][0]}")
plots.show(
    figure,
    alt="""The loss falls because the rejected answers lose more probability than the chosen ones. Three panels over the steps of DPO, a line for each of three seeds:
the loss on the pairs of training falls from ln 2; of the log probabilities of held-out pairs that are gained since the start, that of the rejected answers falls far below zero, and that of the chosen ones falls less, and is below zero as well; the tokens of a new answer fall to less than half.""",
)


# %% [markdown]
# New answers to 160 first lines parse with 82.5 to 89.4 % at the start, and with 92.5 to 99.4 % after 20 steps. After 80 it is 93.1 to 99.4 %: the share rose no further, while the loss fell from 0.36 to 0.43 down to 0.07 to 0.10. The answers have shrunk from 22 tokens to 6 to 9, and one text makes up 23 to 50 % of them ([evidence](evidence/10b.ipynb#preferences)). The chosen answers were the shorter ones. Whether this is the cause was not tested.
#
# **DPO raised the share that parses, and the answers shrank as under the reward. Its loss counts only a difference, so read the answers.**

# %% [markdown]
# <a id="makers"></a>
#
# ## 8 · What SmolLM2's makers did
#
# The model that answered you in lecture 10 went through these stages, without points from a program:
#
# | stage | text | our page |
# |---|---|---|
# | pre-training | 2 trillion tokens: web pages chosen for teaching, code, mathematics | 2.6 million tokens of Python's library, read one and a half times |
# | fine-tuning (SFT) | 460,341 conversations, many written by larger models; two epochs | 3,022 short functions; one epoch |
# | preferences (DPO) | about 61,000 pairs (UltraFeedback), judged by a larger model; two epochs, β = 0.5 | 372 to 388 pairs of its own answers |
#
# ([Model card](https://huggingface.co/HuggingFaceTB/SmolLM2-135M-Instruct), [conversations](https://huggingface.co/datasets/HuggingFaceTB/smol-smoltalk), [settings](https://github.com/huggingface/alignment-handbook/tree/main/recipes/smollm2); Ben Allal et al. 2025.) Their [record of DPO](https://huggingface.co/HuggingFaceTB/SmolLM2-135M-Instruct/commit/c369d07e8e4c5b825466d13a28b6d8800656c343): on new pairs the loss went from ln 2 = 0.69 to 0.674, the preferred answer of a pair got the larger gain in 61.5 % of the cases, and the chosen answers lost as well.
#
# In their second stage each conversation becomes one text by lecture 10's **chat template**, and then it is a row like yours. Below is a conversation of our own with your answer mask. (Whether their loss left the questions out, we do not know.) Then one request, alone and in the template (the most probable token each time).

# %% tags=["setup"]
def replied(ids, most=40):
    """What SmolLM2 writes: the most probable next token, until it ends its turn."""
    written, cache, new = [], None, ids
    while len(written) < most and chat.end_id not in written:
        log_p, cache = smollm2([new], cache)
        new = [int(log_p[0, -1].argmax())]
        written += new
    return chat.decode(written) + ("" if chat.end_id in written else " …")


if is_here("smollm2"):
    numbers, chat = numbers_and_tokens()
    smollm2, special = PlainSmolLM2(numbers), {number: name for name, number in chat.special.items()}
    asked_ids, answer_ids = chat.chat("What is the capital of France?"), [*chat.encode("It is Paris."), chat.end_id]
    for name, ids in (("read only", asked_ids), ("counts", answer_ids)):
        print(f"{name} ({len(ids)} tokens):", " ".join(special.get(number) or repr(chat.decode([number])) for number in ids))
    request = "Write a Python function that returns the larger of two numbers."
    for name, ids in (("alone", chat.encode(request)), ("in the template", chat.chat(request))):
        print(f"\n— {name}: {request}\n{replied(ids).strip()}")
else:
    print('SmolLM2 is not here, so its row and its answers are left out. To fetch 93 MB, once: data.published("smollm2")')


# %% [markdown]
# Alone, the request is continued: more of the task follows. In the template it is answered. This does not show what the tuning did, since both texts are the tuned model's; the model before it does not come with the course.
#
# **This assistant is a continuation model that was shown conversations, then nudged by comparisons.**

# %% [markdown]
# ## Two mistakes
#
# **1 · An explanation without its control.** “It learned to end because the end stands in the mask.” So take the end out of the mask, and train:

# %%
def without_end(rows, mask):
    return rows, mask * (rows[:, 1:] != pairs.end_id)


batches = assistant.batches_of(functions, pairs, steps=20, seed=1)
for name, some in (("with", batches), ("without", [without_end(*batch) for batch in batches])):
    twenty = assistant.copied(first)
    assistant.fine_tune(twenty, some)
    ended, fine, _ = described(twenty)
    print(f"after 20 steps {name:7} the end in the mask: ended {ended:.0%}, parse {fine:.0%}")

# %% [markdown]
# It ends all the same, nearly as often as with the end in the mask. So the end in the mask is not needed. (Perhaps the first model knew that an end follows a whole body; this was not tested. And twenty steps do no worse than the 96 of section 2, one run each.) We believed the sentence in quotes until we ran it.
#
# **2 · No ε below the line.** A group whose answers all earn the same has no standard deviation. Without the small number, one such group turns every weight of the model into NaN:

# %%
with np.errstate(invalid="ignore"):
    equal = np.ones((1, 8))
    print("without:", (equal - equal.mean()) / equal.std())
print("with:   ", advantages(equal))

# %% [markdown]
# ## Four questions
#
# <details><summary>1. Why does the group's mean stand in the advantage, and not 0.5?</summary>
#
# For the noise. Where nearly everything parses, 0.5 gives nearly every answer a push of +0.5, and these pushes cancel only over many draws. With the group's mean they are small, and the rare failure gets the large one.
#
# </details>
#
# <details><summary>2. All groups earn full points. Does the model stand still?</summary>
#
# The gradient is 0, but Adam goes on for a while from its memory of earlier gradients.
#
# </details>
#
# <details><summary>3. “After RL it solves twice as many tasks in one try.” What do you ask?</summary>
#
# How many did it solve in sixteen tries before? And were the new answers read?
#
# </details>
#
# <details><summary>4. The loss of DPO falls from step 60 to step 100. Is the model better at step 100?</summary>
#
# The loss cannot say so. Draw answers and judge them.
#
# </details>
#
# <details><summary><b>What this page does not show</b></summary>
#
# * That the code works: nothing that the model writes is run. That it follows instructions: a first line is none. (LoRA is in [lecture 07](07_bert_ag_news.ipynb).)
# * Which method is better: each has one setting, chosen beforehand, for a model of 857,216 numbers.
# * What the answer mask is worth: the loss on whole rows was not compared.
# * Everything starts from one pre-trained model. Recorded runs have two or three seeds, the page's own have one.
# * Recorded shares are over 300 held-out first lines (standard error at most 2.9 points), those of DPO by step over the first 160 (4.0), the page's own over the first 200 (3.5), those of sixteen draws over 103 with `self` and 48 without (7.2).
# * A reward model learned from people, and whether rewards teach larger models something new: that is open.
#
# </details>
#
# ## Summary
#
# - Fine-tuning on short whole answers turns a model that continues into one that ends.
# - A reward needs no answers, only a judge: draw a group, subtract its mean, make the better answers likelier.
# - What the reward did not need went away: length, then difference. Each mended reward had a hole of its own, and each brake helped in part.
# - Sixteen draws show what was possible before; DPO's loss counts a difference, and does not show what is written.
#
# **A reward makes likely some way to its points, perhaps not the one you meant: read the answers, not the reward.**
#
# ## References
#
# - A. Ahmadian et al. 2024, *Back to basics: revisiting REINFORCE-style optimization for learning from human feedback in LLMs*, arXiv 2402.14740
# - M. G. Azar et al. 2023, *A general theoretical paradigm to understand learning from human preferences*, arXiv 2310.12036
# - L. Ben Allal et al. 2025, *SmolLM2: when Smol goes big*, arXiv 2502.02737
# - M. Chen et al. 2021, *Evaluating large language models trained on code*, arXiv 2107.03374 (one of k draws)
# - D. Guo et al. 2025, *DeepSeek-R1*, arXiv 2501.12948
# - Z. Liu et al. 2025, *Understanding R1-Zero-like training*, arXiv 2503.20783
# - L. Ouyang et al. 2022, *Training language models to follow instructions with human feedback*, arXiv 2203.02155
# - R. Rafailov et al. 2023, *Direct preference optimization*, arXiv 2305.18290
# - N. Razin et al. 2024, *Unintentional unalignment: likelihood displacement in direct preference optimization*, arXiv 2410.08847
# - J. Schulman 2020, *Approximating KL divergence*, joschu.net
# - Z. Shao et al. 2024, *DeepSeekMath*, arXiv 2402.03300 (GRPO)
# - R. Williams 1992, *Simple statistical gradient-following algorithms for connectionist reinforcement learning*, Machine Learning 8
# - Y. Yue et al. 2025, *Does reinforcement learning really incentivize reasoning capacity in LLMs beyond the base model?*, arXiv 2504.13837
#
# <details><summary>If something looks wrong, runs slowly, or you want more</summary>
#
# Your Python's library differs from ours, and so do your answers; the collapse comes all the same. Slow machine: `steps=25` in `practise`, and the recorded runs need nothing. With more time: `steps=80`, and a reward of your own; read the answers. Further reading: the fifth assignment of Stanford's CS336, Raschka's *Build a Reasoning Model (From Scratch)*, Karpathy's *nanochat*.
#
# </details>

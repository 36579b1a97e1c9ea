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
# **A reward makes likely what it counts, and says nothing of the rest: so read the answers, not the reward.**
#
# [← 10 · A language model of your own](10_language_model.ipynb) · [Lab 10b](../labs/10b_from_model_to_assistant/10b_from_model_to_assistant.ipynb)
#
# An assistant is made in three stages: a model reads, is shown answers, and is pushed towards those that are preferred. This page takes a small writer of Python through the three, and section 8 has the sizes of a real assistant. You give your model one point for each function that Python accepts, and nothing for any other. It practises for a minute. **What will it write then?** Write down one function body. You will see it in fifteen minutes.
#
# **Afterwards you can**
#
# * fine-tune a model on answers, and say by controls what that teaches;
# * derive the gradient of a reward that a program gives, with the group's mean as baseline, and train by it;
# * read a collapse off the answers, and predict the hole of the next reward;
# * tell a model that has learned something from one that does more often what it could do before.
#
# **You need** [lecture 10](10_language_model.ipynb). **Time:** about 72 minutes to read and predict (estimated, not measured); the code runs in about three minutes on two CPU cores. Letters: **B** rows, **T** tokens, **G** answers to one prompt.

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
import warnings
from collections import Counter

from coursekit import data, diagrams, live, plots, quiet, recorded

quiet.start_tensorflow()  # keeps its start-up messages out of the notebook

import keras
import matplotlib.pyplot as plt
import numpy as np
import tensorflow as tf
from keras import ops

from coursekit.pages import assistant, training

plots.use_course_style()
tf.get_logger().setLevel("ERROR")  # no advice on retracing
warnings.simplefilter("ignore", SyntaxWarning)  # what the model writes is parsed, and may hold odd escapes
results = recorded.load("assistant")["results"]


def of(part, **what):
    """The recorded runs of a part that are like this, by seed."""
    return sorted((run for run in results[part]["runs"] if what.items() <= run.items()), key=lambda run: run["seed"])


# %% [markdown]
# <a id="continues"></a>
#
# ## 1 · It continues
#
# The model is lecture 10's, after 1,960 steps; it comes with the course. Its **prompts** are the first lines of functions: when it is judged, of modules that it has never read; when it learns, of modules that it has. Its **answers** are what it writes after them, at most 48 tokens with the end. (On this page they are judged at temperature 0.7 with top-p 0.9; in training they are drawn at temperature 1 from all tokens, because the gradient of section 3 is a mean over just these draws.)

# %%
pairs, first = assistant.stored_writer()
(train_texts, _), (held_out, _) = data.library_functions()
functions, asked = assistant.short_functions(train_texts, pairs), assistant.short_functions(held_out, pairs)
print(f"{len(functions.prompts):,} short functions to learn from, {len(asked.prompts)} held-out first lines")
for answer in assistant.Writer(first, pairs)(asked.prompts[:40:10], temperature=0.7, p=0.9, seed=1):
    print("-" * 60, answer.prompt + answer.body + ("" if answer.ended else " …"), sep="\n")


# %% [markdown]
# The model goes on as the text of a library goes on, and only half of its answers end in time (section 2 counts).
#
# **A trained model continues as its text does, and often it does not end in time.**

# %% [markdown]
# <a id="fine-tuning"></a>
#
# ## 2 · Show it answers
#
# **Supervised fine-tuning** (SFT) goes on training, on pairs of prompt and answer, here cut from functions that it has read already. Each row is one pair, with the end after it. The loss counts the tokens of the answer only, the end included: the **answer mask**.

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
# **Predict.** Of the first model's answers 42 % end in time and parse (first recorded seed, 300 first lines). After one pass over the pairs (96 steps of 32) it is 86 %. What has the model learned?
#
# - (a) Python's grammar
# - (b) to write short bodies that end
# - (c) to do what the first line asks
#
# <details><summary>Answer</summary>
#
# **(b)** In three seeds 47 to 50 % of its answers ended in time before, 95 to 97 % afterwards. Of those that ended, 81 to 85 % parsed before, and 90 to 93 % afterwards. (The cell below draws other answers, to the first 200 of the 300 first lines; so its shares may lie outside.)
#
# </details>

# %%
tuned = assistant.copied(first)
step = assistant.learner(tuned.trainable_variables, keras.optimizers.schedules.CosineDecay(1e-3, 96), lambda *both: answer_loss(tuned, *both))
for number, (rows, mask) in enumerate(assistant.batches_of(functions, pairs, steps=96, seed=1), 1):
    loss = step(rows, mask)
    if number % 24 == 0:
        print(f"step {number}: {loss:.2f} nats an answer token")


def described(model, number=200):
    """Shares of held-out prompts whose answers end, and parse; and the answers."""
    answers = assistant.Writer(model, pairs)(asked.prompts[:number], temperature=0.7, p=0.9, seed=1)
    fine = [answer.ended and bool(parses(answer.prompt, answer.body)) for answer in answers]
    return np.mean([answer.ended for answer in answers]), np.mean(fine), answers


# %%
def parses(prompt, body):
    """1 if Python accepts prompt and body as one function, else 0. Nothing is run."""
    try:
        tree = ast.parse(prompt + body).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return 0.0
    return float(len(tree) == 1 and isinstance(tree[0], ast.FunctionDef))

for name, model in (("before", first), ("after 96 steps", tuned)):
    ended, fine, answers = described(model)
    print(f"{name:15} ended {ended:.0%}, parse {fine:.0%}; of those that ended, parse {fine / ended:.0%}")
print("\n" + max((answer.prompt + answer.body for answer in answers if answer.ended and parses(answer.prompt, answer.body)), key=len))

# %% jupyter={"source_hidden": true} tags=["setup"]
for way, name in (("start", "before"), ("answers", "fine-tuned"), ("anywhere", "control: rows cut anywhere")):
    for run in of("tuned", way=way):
        print(f"{name:27} seed {run['seed']}: ended {run['ended']:.1%}, parse {run['parse']:.1%}, of ended {run['parse of ended']:.1%}, {run['nats an answer token']:.3f} nats an answer token")


# %% [markdown]
# The control had as many steps on rows as long, cut *anywhere* in the same library, so few of them hold an end. It got worse in each seed: 25 to 31 % parse, where it was 38 to 42 %. So it is not enough to train on more of this text in short pieces (96 more steps on lecture 10's long windows were not run). The rows that help are short *and* whole; which of the two it is, this control does not say. (The three rows “before” are one model, drawn three times.) Of the answers that end, five to ten points more parse than before. But they have shrunk from 37 or 38 tokens to 22 or 23, so this need not be better Python. A real held-out body costs the tuned models 2.01 to 2.03 nats a token, the first one 2.08 ([evidence](evidence/10b.ipynb#fine-tuning)).
#
# **One pass over a few thousand short functions taught this model above all to write short whole bodies, and so to end.**

# %% [markdown]
# <a id="reward"></a>
#
# ## 3 · A program gives the points
#
# Whether Python accepts an answer can be computed, so nobody has to write answers any more: the model draws its own, and a program judges them. This is a **verifiable reward**. An answer earns the point if it ends and `parses` accepts it. How does one learn from a number?
#
# You want the mean reward $\sum_a p(a)\,r(a)$ to rise. `parses` has no gradient, but the probability $p(a)$ of an answer has one, and $\nabla p=p\,\nabla\ln p$:
#
# $$\nabla\sum_a p(a)\,r(a)=\sum_a p(a)\,r(a)\,\nabla\ln p(a)$$
#
# The right side is a mean over answers that the model itself draws. So draw some, and push up the log probability of each by its reward (REINFORCE; Williams 1992). Since $\sum_a\nabla p(a)=0$, you may take any number $b$ off all rewards: the mean gradient stays, and a good $b$, the **baseline**, makes it less noisy. Here $b$ is the mean reward of G = 8 answers to the same prompt, and an answer's **advantage** is how far it lies above that mean, divided by the group's standard deviation.

# %%
def advantages(rewards):  # (prompts, G)
    """How much better each answer is than its group's mean, in the group's standard deviations."""
    return (rewards - rewards.mean(1, keepdims=True)) / (rewards.std(1, keepdims=True) + 1e-4)

def policy_loss(model, reference, rows, mask, advantage, beta):  # …, (B,), a number
    """Make good answers more probable; `beta` is the price of leaving the reference (Shao et al. 2024)."""
    new = log_probabilities(model, rows)  # (B, T)
    worth = advantage[:, None] * new
    if beta:
        gap = ops.stop_gradient(log_probabilities(reference, rows)) - new
        worth -= beta * (ops.exp(gap) - gap - 1)  # its mean over draws is the KL divergence (Schulman 2020)
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
# That is the core of **GRPO** (Shao et al. 2024), with which DeepSeek-R1 learned to reason (Guo et al. 2025): no value network, the group is the baseline.
#
# <details><summary>What differs from the paper, and what is disputed</summary>
#
# * The paper takes several steps on the same draws. Then each token's gradient is weighted by the ratio $\rho$ of new to old probability, and the smaller of $\rho A$ and $\mathrm{clip}(\rho,1-\epsilon,1+\epsilon)\,A$ counts. We take one step a batch, so $\rho=1$.
# * The paper averages over the tokens of an answer first, then over answers; `policy_loss` counts all tokens of the batch alike. To divide by the standard deviation gives more weight to prompts that are nearly always, or nearly never, solved. Liu et al. (2025) leave out both divisions.
# * Our group's mean contains the answer itself. Before the division by the standard deviation this makes the mean gradient smaller by 1/G, and leaves its direction.
# * The term with `beta`, $q/p-\ln(q/p)-1$ with the reference's $q$, has KL(new, reference) as its mean. But the draws are fixed, so its gradient is $\sum_a p\,(1-q/p)\,\nabla\ln p=-\sum_a q\,\nabla\ln p$, that of KL(reference, new).
#
# </details>

# %% [markdown]
# One step of `learn_from_reward`, below: draw 64 answers (8 to each of 8 prompts), judge them, take `advantages` within each prompt's eight, and make one step of Adam on `policy_loss`. It imports both functions; the helper package has them word for word as above.

# %% [markdown]
# **Predict.** Fifty steps of 8 prompts and 8 answers each. What will most answers be?
#
# - (a) longer functions, since these earn the point as well
# - (b) `pass`, the commonest body of the library
# - (c) a few other short texts, often one
#
# <details><summary>Answer</summary>
#
# **(c)** In each of three recorded seeds most are `return self`: 99.7, 99.0 and 80.0 % of the answers to held-out first lines (with the third, 19 % say nothing at all, such as `return None`). `pass` is more than three times as frequent in the training functions (41 bodies against 12). Which short text wins we do not explain; that a few short ones win is so in all our runs.
#
# </details>

# %%
def practise(reward, steps=50, beta=0.0, shared=False):
    """Train a copy of the fine-tuned model; its answers at each step."""
    model = assistant.copied(tuned)
    history = assistant.learn_from_reward(model, pairs, functions.prompts, reward, steps=steps, beta=beta, shared=shared, seed=1)
    print(f"drawn at temperature 1, first and last step: parse {history.parse[0]:.0%}, {history.parse[-1]:.0%}; tokens {history.length[0]:.0f}, {history.length[-1]:.0f}; different answers {history.distinct[0]:.0%}, {history.distinct[-1]:.0%}")
    return model, history


collapsed, history = practise(parses)

# %%
live.answers({"parse": history.parse, "the commonest answer": [some[0][1] / 64 for some in history.bodies], "groups without a difference": history.same}, history.bodies)


# %% [markdown]
# Move the step back, and find the last one that is worth reading. The lengths fall first (the printed line has their ends): what does not end earns nothing, so short answers win. Then one answer spreads. In three recorded seeds there are two, four and nine steps between the one in which 95 of 100 answers parse and the one in which a single answer fills half of the batch. There `return self` took over; in the run above `return` and `return self` share the batch. When all answers of a group earn the same, the gradient is 0: that is so for every group of 9 to 13 of the 50 recorded batches ([evidence](evidence/10b.ipynb#curves)).
#
# **The reward was met to the last point, and the text is gone: it never said that an answer should say something.**

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


# %% [markdown]
# **Predict.** Which short body earns the whole point? Write one down for `def close(self):`.
#
# <details><summary>Answer</summary>
#
# For example `return self` (`self` alone would do, too). A method's first parameter *is* `self`, so the answer that won before earns the whole point again: the mended reward has nothing against it. In both recorded seeds it is 100 % of the answers.
#
# </details>

# %% jupyter={"source_hidden": true} tags=["setup"]
for way in ("parses", "half and half", "half and half, shared, KL .05"):
    for run in of("rewarded", way=way):
        body, share = run["commonest"]
        print(f"{way:24} seed {run['seed']}: parse {run['parse']:.1%}, {run['tokens']:.0f} tokens, {run['distinct']:.0%} distinct, commonest {share:.0%}: {body}")


# %% [markdown]
# Both rewards so far have a hole, and each time the model found it. Try one that needs no new idea of what is good: **divide the points by how often this answer stands in the batch.** What everybody writes is worth little. (A second brake is on as well, a small price for leaving the fine-tuned model; section 5 explains it.)

# %%
def half_and_half(prompt, body):
    return 0.5 * parses(prompt, body) + 0.5 * reads_a_parameter(prompt, body)


held, history_held = practise(half_and_half, beta=0.05, shared=True)

# %% [markdown]
# **Predict.** The same text earns less the more often it stands in the batch. What does this reward let through? Look for it in the last steps.
#
# <details><summary>Answer</summary>
#
# Other names in the same few shapes: a new spelling is a new answer, and `self` is read. Nearly all answers of the last step differ, but by letters. With one letter for every name, 29 % of those to held-out first lines are `x.x = None` in the first recorded seed, and 49 % are `return x.x` in the second.
#
# </details>

# %%
live.answers({"parse": history_held.parse, "the commonest answer": [some[0][1] / 64 for some in history_held.bodies], "different answers": history_held.distinct}, history_held.bodies)

# %%
for name, model in (("fine-tuned", tuned), ("points for parsing", collapsed), ("shared points", held)):
    answers = described(model)[2]
    shapes = Counter(assistant.shape_of(answer.body) for answer in answers)  # one letter for every name
    (shape, times), different = shapes.most_common(1)[0], {answer.body for answer in answers}
    print(f"— {name}: {len(answers)} answers, {len(different)} different, {len(shapes)} shapes; the commonest {times} times:", shape.partition("\n")[2].strip())
    for answer in answers[:40:10]:
        print(answer.prompt + answer.body.rstrip())

# %% [markdown]
# With one letter for every name, the 200 answers above have 32 shapes, where the fine-tuned model's have 130. Counted by letters they are different: in two recorded seeds 99 and 100 % of the answers to held-out first lines parse, and 82 and 79 % of them are different. The next reward would have to count those, and may have a hole of its own.
#
# **With a penalty for repeats and a price for leaving, the answers do not collapse to one text, but to few shapes.**

# %% [markdown]
# <a id="price"></a>
#
# ## 5 · A price for leaving
#
# The usual brake is a price on the **KL divergence** from the model before, the *reference*: the mean of $\ln p_\text{new}-\ln p_\text{old}$ over what the new model writes. It is 0 where both agree, and large where the new model writes what the old one would not. `policy_loss` charges `beta` for it at every token, in another form, $e^{d}-d-1$ with $d=\ln p_\text{old}-\ln p_\text{new}$ (`gap` in the code). It has the same mean and is never negative:

# %% [markdown]
# **By hand.** Two answers: the new model gives them 1/2 and 1/2, the old one gave them 1/4 and 3/4. What is the mean of $-d$, and of $e^{d}-d-1$?
#
# <details><summary>Answer</summary>
#
# $e^d$ is 1/2 and 3/2, and $d$ is −0.69 and 0.41. The mean of $-d$ is (0.69 − 0.41)/2 = 0.14. The mean of $e^d$ is (0.5 + 1.5)/2 = 1, because the old probabilities sum to 1. So the mean of $e^d-d-1$ is 1 + 0.14 − 1 = 0.14, the same.
#
# </details>

# %% jupyter={"source_hidden": true} tags=["setup"]
for way in ("parses", "half and half", "half and half, KL .05", "half and half, shared", "half and half, shared, KL .05"):
    for run in of("rewarded", way=way):
        curves, (body, share) = run["history"], run["commonest"]
        nats, tokens = curves["KL"][-1], curves["length"][-1]
        print(f"{way:30} seed {run['seed']}: KL {nats:.2f} nats a token × {tokens:4.1f} tokens = {nats * tokens:.1f} an answer; a real body costs {run['nats an answer token']:.2f} nats a token; different {run['distinct']:4.0%}, commonest {share:4.0%} {body}")

# %% [markdown]
# After the points for parsing the KL is 0.9 to 1.1 nats a token, after half and half 1.1 to 1.2, and with both brakes 0.2. But the answers differ in length: for a whole answer it is 4.6 to 5.7 nats, 5.7 to 6.1, and 2.5 to 3.6: about half, not a fifth. A real body costs the fine-tuned models 2.01 to 2.03, after the first two rewards 2.5 to 2.6, after the third 2.2. Neither brake was run alone, so this does not say which of them held the model back.
#
# **The KL measures how far a model has gone; with both brakes on, this one stayed nearer to where it began.**

# %% [markdown]
# <a id="sharpened"></a>
#
# ## 6 · Taught, or sharpened?
#
# After the shared points nearly every answer parses. Has the model learned to, or does it do more often what it could do before? Draw **sixteen** answers to each first line and ask whether *one* of them parses.

# %% [markdown]
# **Predict.** Before any reward one answer of the fine-tuned model parses with 86 %. For how many first lines does at least one of sixteen?
#
# <details><summary>Answer</summary>
#
# All of them, or nearly. Even the first model, never fine-tuned on answers, gets there.
#
# </details>

# %%
few, draws = asked.prompts[:24], 16
for name, model in (("first", first), ("fine-tuned", tuned), ("shared points", held)):
    write = assistant.Writer(model, pairs)
    hits = np.array([[each.ended and bool(parses(each.prompt, each.body)) for each in write(few, temperature=0.7, p=0.9, seed=seed)] for seed in range(draws)])
    print(f"{name:14} one draw {hits.mean():.0%}, at least one of {draws} {hits.any(0).mean():.0%}")  # hits (draws, first lines)


# %% [markdown]
# One draw parses more often after fine-tuning, and always after the reward; but one of sixteen parsed for every first line from the start. So the reward made usual what was possible. With one draw at 40 %, sixteen draws could hardly all fail, so this test could not have shown anything new; a rarer skill could. Reading a parameter other than `self` did not become more frequent: 13 to 14 % of the fine-tuned models' answers do, and 10 and 4 % after the shared points, of 97 that could (recorded). But `self` was enough for the reward. Yue et al. (2025) ask the same of large models that were rewarded for right solutions: one try gets better, many tries do not.
#
# **Ask what several draws could do before: here the full points needed nothing new.**

# %% [markdown]
# <a id="preferences"></a>
#
# ## 7 · When no program can judge: preferences
#
# Nobody can write `parses` for “helpful”. People can say which of two answers they like better. The first assistants learned a *reward model* $r$ from such pairs, by the loss $-\ln\sigma(r_\text{chosen}-r_\text{rejected})$, and then practised on it with PPO, whose clipped step is in the fold of section 3 (Ouyang et al. 2022). Here $\sigma$ is the sigmoid. **DPO** (Rafailov et al. 2023) does both by one loss on the pairs. With $g=\ln p_\text{new}-\ln p_\text{old}$ of an answer, its gain since the start, the loss is $-\ln\sigma\big(\beta\,(g_\text{chosen}-g_\text{rejected})\big)$: the gain stands for the reward.
#
# <details><summary>Why may the gain stand for the reward?</summary>
#
# 1. Practice with a price for leaving makes $\sum_a p(a)\,r(a)-\beta\,\mathrm{KL}(p,p_\text{old})$ large.
# 2. Write $p^*(a)=p_\text{old}(a)\,e^{r(a)/\beta}/Z$, where $Z$ makes the sum 1. Then the sum in 1 is $\beta\ln Z-\beta\,\mathrm{KL}(p,p^*)$.
# 3. A KL divergence is 0 if both agree and positive otherwise. So the best $p$ is $p^*$.
# 4. Solve for the reward: $r(a)=\beta\,\ln\frac{p^*(a)}{p_\text{old}(a)}+\beta\ln Z$. That is $\beta$ times the gain, and a number that all answers to one prompt share.
# 5. Put it into the loss of the reward model. The difference drops $\beta\ln Z$, and DPO's loss is left: its minimum fits the reward and is already the model that has practised on it.
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
# At the start both gains are 0, and the loss is ln 2 = 0.69. The pairs are the fine-tuned model's own answers to one prompt, one that parses and one that does not. The recorded run takes eighty steps on `preference_loss` (β = 0.1).

# %% [markdown]
# **Predict.** The loss falls. What happens to the probability of the *chosen* answers?
#
# - (a) it rises, that is what the loss wants
# - (b) it falls, and that of the rejected ones falls more
#
# <details><summary>Answer</summary>
#
# **(b)** After eighty steps the chosen answers have lost 4.0 nats each, the rejected ones 39.5.
#
# </details>

# %% jupyter={"source_hidden": true} tags=["drawing"]
figure, axes = plt.subplots(1, 3, figsize=(10.5, 3.1))
runs = of("preferred")
steps = [point["step"] for point in runs[0]["points"]]
for run in runs:
    line = {**plots.LINES[0], "label": None}
    axes[0].plot(steps, [point["loss"] for point in run["points"]], **line)
    axes[2].plot(steps, [point["parse"] for point in run["points"]], **line)
    for number, kind in enumerate(("chosen", "rejected")):
        gains = [point["chosen, rejected"][number] for point in run["points"]]
        axes[1].plot(steps, gains, **plots.LINES[number], label=kind if run is runs[0] else None)
axes[0].set(xlabel="step", ylabel="loss", title="the loss falls …")
axes[1].set(xlabel="step", ylabel="nats gained since the start", title="… by what is lost …")
axes[2].set(xlabel="step", ylabel="share that parses", title="… and what we want?", ylim=(0.5, 1.02))
axes[1].axhline(0, color=plots.LINES[5]["color"], linewidth=1)
axes[1].legend()
plots.show(
    figure,
    alt="""The loss falls because the rejected answers lose more probability than the chosen ones. Three curves over the steps of DPO, judged on pairs of the fine-tuned model's own answers:
the loss falls from ln 2; of the log probabilities that are gained since the start, that of the rejected answers falls far below zero, and that of the chosen ones is above it at no point after the start; the share of new answers that parse rises until step 40 and then falls.""",
)


# %% [markdown]
# In this one recorded run the share of new answers that parse (to 160 first lines) rises from 82.5 to 98.8 % in 40 steps and falls to 93.1 % after 80, while the loss goes on falling, from 0.21 to 0.07: the loss does not know where to stop. And one answer spreads: `return` alone, 26 % of all ([evidence](evidence/10b.ipynb#preferences)).
#
# **DPO raised the share that parses, and in one recorded run went on past the best of it: its loss counts a difference, so watch the answers.**

# %% [markdown]
# <a id="makers"></a>
#
# ## 8 · What SmolLM2's makers did
#
# The model that answered you in lecture 10 went the same way, without the reward:
#
# | stage | text | our page |
# |---|---|---|
# | pre-training | 2 trillion tokens: web pages chosen for teaching, code, mathematics | 2.6 million tokens of Python's library, read one and a half times |
# | fine-tuning (SFT) | 460,341 conversations, many written by larger models; two epochs | 3,022 short functions; one epoch |
# | preferences (DPO) | about 61,000 pairs (UltraFeedback), judged by a larger model; two epochs, β = 0.5 | 372 pairs of its own answers |
#
# ([Model card](https://huggingface.co/HuggingFaceTB/SmolLM2-135M-Instruct), [conversations](https://huggingface.co/datasets/HuggingFaceTB/smol-smoltalk), [settings](https://github.com/huggingface/alignment-handbook/tree/main/recipes/smollm2); Ben Allal et al. 2025.) Their [record of DPO](https://huggingface.co/HuggingFaceTB/SmolLM2-135M-Instruct/commit/c369d07e8e4c5b825466d13a28b6d8800656c343) says how little it is: on new pairs the loss went from ln 2 = 0.69 to 0.674, the preferred answer of a pair got the larger gain in 61.5 % of the cases, and the chosen answers lost as well.
#
# **This assistant is a continuation model that was shown conversations, then nudged by comparisons.**

# %% [markdown]
# <a id="two-more"></a>
#
# ## 9 · Two words of model cards
#
# **Quantisation** stores a matrix in whole numbers of few bits, with a scale and a least value for each row, or for each 32 numbers:

# %% jupyter={"source_hidden": true} tags=["setup"]
def rounded(matrix, bits, size):
    """A matrix (…, D) as whole numbers of some bits, with a scale and a least value for each `size` numbers."""
    blocks = matrix.reshape(-1, size) if size else matrix
    low, high = blocks.min(1, keepdims=True), blocks.max(1, keepdims=True)
    scale = np.maximum(high - low, 1e-12) / (2**bits - 1)
    return (np.round((blocks - low) / scale) * scale + low).reshape(matrix.shape)


stream, cost = pairs.stream(held_out), {}
for size in (0, 32):
    for bits in (8, 5, 4, 3, 2):
        small = assistant.copied(first)
        small.set_weights([rounded(array, bits, size) if array.ndim == 2 and array.size % 32 == 0 else array for array in first.get_weights()])
        cost[size, bits] = training.held_out_bits(small, stream, pairs.token_bytes, most=12)
cost["as stored"] = training.held_out_bits(first, stream, pairs.token_bytes, most=12)

# %% jupyter={"source_hidden": true} tags=["drawing"]
figure, axes = plt.subplots(1, 2, figsize=(10, 3.2))
for line, (size, label) in enumerate(((0, "one scale a row"), (32, "one scale for 32 numbers"))):
    axes[0].plot((8, 5, 4, 3, 2), [cost[size, bits] for bits in (8, 5, 4, 3, 2)], **plots.LINES[line], label=label)
axes[0].axhline(cost["as stored"], color=plots.LINES[5]["color"], linewidth=1)
axes[0].set(xlabel="bits a number", ylabel="bits a byte, held out", ylim=(1.2, 2.1), title="quantisation, measured here")
axes[0].legend()
names, whole, active = ("Mixtral 8x7B", "DeepSeek-V3"), (47, 671), (13, 37)  # billions, as published
axes[1].barh(names, whole, color=diagrams.PALETTE["neutral"], edgecolor=diagrams.PALETTE["ink"], label="stored")
axes[1].barh(names, active, color=diagrams.PALETTE["query"], label="used for a token")
axes[1].set(xlabel="billion parameters", title="mixtures of experts, published")
axes[1].legend()
print(", ".join(f"{bits} bits: {cost[0, bits]:.2f} a row, {cost[32, bits]:.2f} in 32s" for bits in (8, 5, 4, 3, 2)), f"; as stored: {cost['as stored']:.2f}")
plots.show(
    figure,
    alt="""Fewer bits cost more; at the same bits a scale for every 32 numbers costs less than one for a row, but it is stored as well. Left, held-out bits a byte of our model over the bits of a number, two curves that lie
on the line of the stored model at eight bits and rise towards two bits, the one with a scale for a row sooner and higher. Right, bars of two published mixtures of experts: of the stored parameters a token uses less than a third.""",
)


# %% [markdown]
# At four bits the model loses 0.01 bits a byte; at two 0.63 with a scale a row, and 0.33 with one for 32 numbers. But scales are stored as well: with two bytes for a scale and two for a least value, 32 numbers pay one bit a number more, and a row of 128 a quarter of a bit. A **mixture of experts** sends each token to a few of many gated networks in a block (Shazeer et al. 2017; the bars: Jiang et al. 2024, DeepSeek-AI 2024).
#
# **At four bits a number this model loses next to nothing; at two it loses much.**

# %% [markdown]
# ## Two mistakes
#
# **1 · An explanation without its control.** “It learned to end because the end stands in the mask.” So take the end out of the mask, and train:

# %%
def without_end(rows, mask):
    return rows, mask * (rows[:, 1:] != pairs.end_id)


endless = assistant.copied(first)
assistant.fine_tune(endless, [without_end(*batch) for batch in assistant.batches_of(functions, pairs, steps=20, seed=1)])
ended, fine, _ = described(endless)
print(f"after 20 steps: ended {ended:.0%}, parse {fine:.0%}")

# %% [markdown]
# It ends all the same. Perhaps the first model knew that an end follows a whole body; the cell shows only that the end in the mask is not needed. We believed the sentence in quotes until we ran it.
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
# A prompt to which nearly everything parses would push all its answers up by half, and a hard one all of them down. The mean asks which answer was better *for this prompt*.
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
# The loss cannot say so: it falls whenever the rejected answer loses more than the chosen one. Draw answers and judge them.
#
# </details>
#
# <details><summary><b>What this page does not show</b></summary>
#
# * That the code works: nothing that the model writes is run. That it follows instructions: a first line is no instruction, and bodies here are at most 47 tokens long.
# * Which of the three methods is better: each has one setting, chosen beforehand, for a model of 857,216 numbers.
# * What the answer mask is worth: the loss on whole rows was not compared.
# * Everything starts from one pre-trained model. From there fine-tuning, its control and the points for parsing have three recorded seeds, half and half and the shared points two, all else one. That the answers collapse, and that they shrink, is the result; which body wins may change.
# * Recorded shares are over 300 held-out first lines (standard error at most 2.9 points), those of DPO by step over the first 160 (3.9), the page's own over the first 200 (3.5). So they may lie outside each other's ranges: the fine-tuned model's 82.5 % in DPO's figure is one of 86 to 89 % elsewhere.
# * A reward model learned from people, and models large enough to find new ways: there rewards do more than sharpen, some say; that is open.
#
# </details>
#
# ## Summary
#
# - Fine-tuning on short whole answers turns a model that continues into one that ends.
# - A reward needs no answers, only a judge: draw a group, take its mean off, make the better answers likelier.
# - What the reward did not count went away: length first, then difference. Each mended reward had a hole of its own.
# - One draw beside sixteen shows what was possible before; DPO's loss counts a difference and does not know where to stop.
#
# **A reward makes likely what it counts, and says nothing of the rest: so read the answers, not the reward.**
#
# ## References
#
# - L. Ben Allal et al. 2025, *SmolLM2: when Smol goes big*, arXiv 2502.02737
# - DeepSeek-AI 2024, *DeepSeek-V3 technical report*, arXiv 2412.19437; D. Guo et al. 2025, *DeepSeek-R1*, arXiv 2501.12948
# - A. Jiang et al. 2024, *Mixtral of experts*, arXiv 2401.04088
# - Z. Liu et al. 2025, *Understanding R1-Zero-like training*, arXiv 2503.20783
# - L. Ouyang et al. 2022, *Training language models to follow instructions with human feedback*, arXiv 2203.02155
# - R. Rafailov et al. 2023, *Direct preference optimization*, arXiv 2305.18290
# - J. Schulman 2020, *Approximating KL divergence*, joschu.net
# - Z. Shao et al. 2024, *DeepSeekMath*, arXiv 2402.03300 (GRPO)
# - N. Shazeer et al. 2017, *Outrageously large neural networks: the sparsely-gated mixture-of-experts layer*, arXiv 1701.06538
# - R. Williams 1992, *Simple statistical gradient-following algorithms for connectionist reinforcement learning*, Machine Learning 8
# - Y. Yue et al. 2025, *Does reinforcement learning really incentivize reasoning capacity in LLMs beyond the base model?*, arXiv 2504.13837
#
# <details><summary>If something looks wrong, runs slowly, or you want more</summary>
#
# Your Python's library differs from ours, and so do your answers; the collapse comes all the same. Slow machine: `steps=25` in `practise`, and the recorded runs need nothing. With more time: `steps=80`, and a reward of your own; read the answers. Further reading: the fifth assignment of Stanford's CS336, Raschka's *Build a Reasoning Model (From Scratch)*, Karpathy's *nanochat*.
#
# </details>

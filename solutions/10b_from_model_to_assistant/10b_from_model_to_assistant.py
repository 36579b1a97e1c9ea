# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#     text_representation:
#       extension: .py
#       format_name: percent
#       format_version: '1.3'
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown] nbgrader={"grade": false, "grade_id": "introduction", "locked": true, "schema_version": 3, "solution": false, "task": false}
# # Lab 10b · From a model to an assistant
#
# Answers to learn from, a program that gives points, and people who choose: each needs a loss, and you write the three. A small model learns by them in front of you: first to end, then to please a program. You measure what that program has made of it.
#
# **Before you start:** read [lecture 10b](../../lectures/10b_from_model_to_assistant.ipynb): the lab uses its `log_probabilities`, and you write again what follows there. You need nothing of lab 10. **Time:** about 85 minutes.
#
# **How a lab works.** Replace the line `raise NotImplementedError`, run your cell, then run the check below it. After the second failed attempt it adds hints. Your mark comes from the same tests on inputs that you have not seen.
#
# **Letters.** B rows of a batch, T tokens, V tokens in the vocabulary, N prompts, G answers to each of them.
#
# | exercise | what you write | points | difficulty | minutes |
# |---|---|---|---|---|
# | 1 | `answer_mask` | 3 | ●●○○○ | 10 |
# | 1 | `answer_loss` | 3 | ●○○○○ | 5 |
# | 2 | `group_advantages` | 3 | ●○○○○ | 5 |
# | 2 | `find_the_bug` | 3 | ●○○○○ | 5 |
# | 3 | `clipped_policy_loss` | 6 | ●●○○○ | 10 |
# | 4 | `derive_best_policy` | 4 | ●●○○○ | 10 |
# | 5 | `preference_loss` | 4 | ●○○○○ | 5 |
# | 6 | `measure_reward` | 6 | ●●●○○ | 15 |
#
# Times and difficulties are estimates, not measurements.

# %% nbgrader={"grade": false, "grade_id": "setup", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["course-setup"]
# Colab: install the course's helper package. Anywhere else this cell does nothing.
import sys

if "google.colab" in sys.modules:
    print("Installing the course's helper package …")
    # %pip install --quiet --no-deps transformers-coursekit==0.1.0

# %% nbgrader={"grade": false, "grade_id": "imports", "locked": true, "schema_version": 3, "solution": false, "task": false}
print("Loading TensorFlow, which takes about ten seconds …")

from coursekit import data, plots, quiet, start_lab

quiet.start_tensorflow()  # keeps its start-up messages out of the notebook

import warnings
from collections import Counter

import keras
import matplotlib.pyplot as plt
import numpy as np
import tensorflow as tf
from keras import ops

from coursekit.pages.answering import log_probabilities, reads_a_parameter  # the lecture's
from coursekit.pages.assistant import Writer, copied, in_rows, learner, plain_body, shape_of, short_functions, stored_writer

warnings.simplefilter("ignore", SyntaxWarning)  # what a model writes is parsed, and may hold odd escapes
plots.use_course_style()
tf.get_logger().setLevel("ERROR")  # no advice on retracing
check = start_lab("10b_from_model_to_assistant")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-given", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## What is given
#
# `first` is the model of lectures 10 and 10b: 857,216 numbers, trained on Python's library. A **prompt** is the first line of a function, an **answer** is what the model writes behind it.

# %% nbgrader={"grade": false, "grade_id": "given", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
pairs, first = stored_writer()
(train_texts, _), (held_out, _) = data.library_functions()
functions, asked = short_functions(train_texts, pairs), short_functions(held_out, pairs)


def written(model, prompts, seed=1):
    """Pairs (prompt, body) of answers, judged at temperature 0.7 and p = 0.9; a body that does not end is cut."""
    answers = Writer(model, pairs)(prompts, temperature=0.7, p=0.9, seed=seed)
    return [(answer.prompt, answer.body if answer.ended else answer.body + " …") for answer in answers]


print(f"{len(functions.prompts):,} short functions to learn from, {len(asked.prompts)} held-out prompts")
for prompt, body in written(first, asked.prompts[:30:10]):
    print("-" * 60, prompt + body, sep="\n")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-answer_mask", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 1 · Only the answer counts
#
# Each row of a batch is END, prompt, answer, END, and then padding, which is END as well, up to the length of the longest row. Column t of the mask belongs to the **prediction** of `rows[:, t + 1]`. It is 1 where that token belongs to the answer or is the END behind it, and 0 at the prompt and at the padding.
#
# - `prompt_lengths` counts the tokens of each prompt, without the END in front.
# - A prompt may have ENDs inside, where earlier turns of a conversation ended. The first END **behind** the prompt ends the answer.
# - An answer that was cut off has no END: then it reaches to the end of its row.
# - `rows` and `prompt_lengths` are NumPy arrays; the mask may hold numbers, or True and False.
#
# **By hand:** END is 9, a row is 9 4 5 7 9 9, and its prompt has 2 tokens.
# <details><summary>Answer</summary>Predicted are 4 5 7 9 9. The prompt is 4 5, the answer 7, then its END: the mask is 0 0 1 1 0.</details>

# %% nbgrader={"grade": false, "grade_id": "answer_mask-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def answer_mask(rows, prompt_lengths, end_id):
    """Where a token of the answer, or its END, is predicted.

    Args:
        rows: token ids, (B, T + 1).
        prompt_lengths: (B,).
        end_id: the id of END.

    Returns:
        (B, T): 1 there, and 0 elsewhere.
    """
    ### BEGIN SOLUTION
    targets = rows[:, 1:]
    inside = np.arange(targets.shape[1]) >= np.asarray(prompt_lengths)[:, None]
    ends = inside & (targets == end_id)
    return inside & (np.cumsum(ends, axis=1) - ends == 0)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "answer_mask", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("answer_mask")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-answer_loss", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### The loss
#
# The model has read whole rows: `logits[:, t]` are its scores **behind** token t, before the softmax. The loss is the mean of −ln p over the tokens that the mask marks, over all rows together: each of them counts the same, in a long answer or a short one.
#
# The model is trained with your function, inside `tf.function`: write it with `keras.ops` (or TensorFlow).
#
# **By hand:** two answers. The first has one token of probability ½, the second has two, of ¼ each.
# <details><summary>Answer</summary>(1 + 2 + 2)/3 · ln 2 = 1.16. The mean of the two answers' means would be 1.5 · ln 2: another number.</details>

# %% nbgrader={"grade": false, "grade_id": "answer_loss-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def answer_loss(logits, rows, mask):
    """The mean surprise at the tokens of the answers.

    Args:
        logits: (B, T + 1, V), an array or a tensor.
        rows: token ids, (B, T + 1).
        mask: 1 or 0, float32, (B, T).

    Returns:
        One number.
    """
    ### BEGIN SOLUTION
    losses = ops.sparse_categorical_crossentropy(rows[:, 1:], logits[:, :-1], from_logits=True)  # (B, T)
    return ops.sum(losses * mask) / ops.sum(mask)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "answer_loss", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("answer_loss")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-tune", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### See it learn to end
#
# Your two functions fine-tune a copy of the model on 40 batches of 32 short functions. Before you run the cell: what will be different in the three answers?
# <details><summary>In our run</summary>Three answers show little. Of 100 answers of the first model 49 end in time, and 93 of the fine-tuned one.</details>

# %% nbgrader={"grade": false, "grade_id": "tune", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
STEPS = 40
tuned, rng = copied(first), np.random.default_rng(1)
rate = keras.optimizers.schedules.CosineDecay(1e-3, STEPS)
step = learner(tuned.trainable_variables, rate, lambda rows, mask: answer_loss(tuned(rows), rows, mask))


def batch_of(prompts, answers):
    """Rows of prompts and of ids of answers, and your mask."""
    prompt_ids = pairs.encode(prompts)
    rows, _ = in_rows(prompt_ids, answers, pairs.end_id)
    return rows, np.asarray(answer_mask(rows, np.array([len(ids) for ids in prompt_ids]), pairs.end_id), "float32")


for number in range(1, STEPS + 1):
    chosen = rng.choice(len(functions.prompts), 32, replace=False)
    answers = [[*ids, pairs.end_id] for ids in pairs.encode([functions.bodies[place] for place in chosen])]
    loss = step(*batch_of([functions.prompts[place] for place in chosen], answers))
    if number % 10 == 0:
        print(f"step {number}: {loss:.2f} nats an answer token")
for prompt, body in written(tuned, asked.prompts[:30:10]):
    print("-" * 60, prompt + body, sep="\n")
for name, model in (("first", first), ("fine-tuned", tuned)):
    ended = [not body.endswith(" …") for _, body in written(model, asked.prompts[:100])]
    print(f"{name}: {np.mean(ended):.0%} of 100 answers end in time")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-group_advantages", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 2 · Better than the others
#
# A program gives each answer a reward. What a reward is worth depends on the prompt: where everything parses, one more answer that parses is no news. So each answer is compared with the G answers to the **same** prompt. Its **advantage** is its reward less the mean of its group, divided by the group's standard deviation (the root of the mean square, `np.std`) plus 10⁻⁴. Where all answers of a group earn the same, every advantage is 0.
#
# **By hand:** the rewards 1, 0, 0, 0.
# <details><summary>Answer</summary>Mean 0.25, standard deviation √(0.25 · 0.75) = 0.433: about 1.73 for the first, −0.58 for each other.</details>

# %% nbgrader={"grade": false, "grade_id": "group_advantages-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def group_advantages(rewards):
    """How far each answer is above the mean of its group, in the group's standard deviations.

    Args:
        rewards: a row of G answers for each prompt, a NumPy array (N, G).

    Returns:
        (N, G).
    """
    ### BEGIN SOLUTION
    above = rewards - rewards.mean(axis=1, keepdims=True)
    return above / (rewards.std(axis=1, keepdims=True) + 1e-4)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "group_advantages", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("group_advantages")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-find_the_bug", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### Find the bug
#
# A colleague draws in rounds: one answer to each of her N prompts, then a second one to each, and so on, G rounds. Her `rewards` are in this order. Her function takes off the group's mean and gives back the differences in the same order. It runs, and they sum to 0. All the same her model learns to write for easy prompts only: even where all answers to one prompt earn the same, it gets differences that are not 0.
#
# Delete the line `raise NotImplementedError`, and her code runs. Find out for which inputs it is wrong, and fix it. It is graded all or nothing, and the check names no mistake: finding it is the exercise.

# %% nbgrader={"grade": false, "grade_id": "find_the_bug-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def find_the_bug(rewards, num_prompts):
    """Each reward less the mean of its group: rewards (N·G,) in rounds, a NumPy array -> (N·G,) in the same order."""
    ### BEGIN SOLUTION
    groups = np.reshape(rewards, (-1, num_prompts))
    better = groups - groups.mean(axis=0, keepdims=True)
    return np.reshape(better, -1)
    ### END SOLUTION
    # This runs, and is wrong.
    groups = np.reshape(rewards, (num_prompts, -1))
    better = groups - groups.mean(axis=1, keepdims=True)
    return np.reshape(better, -1)


# %% nbgrader={"grade": true, "grade_id": "find_the_bug", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("find_the_bug")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-clipped_policy_loss", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 3 · Several steps on the same answers
#
# Drawing answers is expensive, so more than one step is taken on them. From the second step on, the model is no longer the one that drew them. For each token, let p be its probability under the **new** model, p_old under the model that drew it, q under the **reference**, the model before any reward. Then $\rho=p/p_\text{old}$ is the **ratio**, and A the advantage of the token's answer.
#
# A token's **worth** is the smaller one of ρ·A and ρ′·A, where ρ′ is ρ held between 1 − `clip` and 1 + `clip`: a token that has gone far enough in the right direction gains nothing more, and one that has gone in the wrong direction can come back. Its **price** for leaving the reference is
#
# $$\frac{q}{p}-\ln\frac{q}{p}-1$$
#
# which is never negative, and whose mean over draws of the new model is KL(p, q). The loss is −(worth − `beta` · price), averaged over the tokens that the mask marks, all rows together.
#
# You get **logarithms**: `new` is ln p, `old` is ln p_old, `reference` is ln q. Write it with `keras.ops` (or TensorFlow): the model is trained with it.
#
# **By hand:** A = −1 and ρ = 2 with `clip` = 0.2: a bad answer that has become twice as likely.
# <details><summary>Answer</summary>ρ·A = −2 and ρ′·A = −1.2. The smaller one is −2, which has a gradient: the answer can be taken back. For A = 1 the smaller one is 1.2, and there is no gradient any more.</details>

# %% nbgrader={"grade": false, "grade_id": "clipped_policy_loss-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def clipped_policy_loss(new, old, reference, mask, advantage, clip, beta):
    """Make good answers likelier, not too far in one go, and not too far from the reference.

    Args:
        new, old, reference: log probabilities of the tokens, (B, T).
        mask: 1 at the answers, 0 elsewhere, (B, T).
        advantage: of each answer, (B,).
        clip: how far the ratio may be from 1.
        beta: the price of a nat.

    Returns:
        One number.
    """
    ### BEGIN SOLUTION
    advantage = ops.expand_dims(advantage, 1)  # (B, 1)
    ratio = ops.exp(new - old)
    worth = ops.minimum(ratio * advantage, ops.clip(ratio, 1 - clip, 1 + clip) * advantage)
    gap = reference - new
    price = ops.exp(gap) - gap - 1
    return -ops.sum((worth - beta * price) * mask) / ops.sum(mask)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "clipped_policy_loss", "locked": true, "points": 6, "schema_version": 3, "solution": false, "task": false}
check("clipped_policy_loss")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-guess", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### Predict, then let it practise
#
# Now your model gets a point for each answer that `reads_a_parameter` accepts: it parses, and the body reads one of the function's parameters; `self` is one. It practises for a minute. How will it earn the points on new prompts? Put one of these words in place of `None`, delete the last line of the cell, and run it. In exercise 6 your own measurement tells; a guess earns no points.
#
# - `"unchanged"`: it earns no more than before, whatever it writes now
# - `"one shape"`: it earns more, and most of its answers have one shape, such as `return self` or `return self.x`
# - `"any prompt"`: it earns more, in many shapes, which earn the point behind any prompt
# - `"own prompt"`: it earns more, in many shapes, which fit their own prompt only

# %% nbgrader={"grade": false, "grade_id": "guess", "locked": false, "schema_version": 3, "solution": true, "task": false}
guess = None  # one of the four words
### BEGIN SOLUTION
guess = "one shape"
### END SOLUTION

# %% nbgrader={"grade": false, "grade_id": "practise", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
BATCHES = 20  # of 8 prompts and 8 answers to each; two steps on each batch
reward = reads_a_parameter  # or a function of your own: reward(prompt, body) -> a number
practised, rng = copied(tuned), np.random.default_rng(1)
draw = Writer(practised, pairs)
score, score_before = (
    tf.function(lambda rows, model=model: log_probabilities(model, rows), reduce_retracing=True) for model in (practised, tuned)
)


def loss_of(rows, old, reference, mask, advantage):
    return clipped_policy_loss(log_probabilities(practised, rows), old, reference, mask, advantage, clip=0.2, beta=0.02)


step = learner(practised.trainable_variables, 5e-4, loss_of)
if guess is None:
    print("First write your guess into the cell above, and run both.")
for number in range(BATCHES if guess else 0):
    eight = [functions.prompts[place] for place in rng.choice(len(functions.prompts), 8, replace=False)]
    answers = draw([prompt for prompt in eight for _ in range(8)], seed=number)
    earned = np.array([reward(each.prompt, each.body) if each.ended else 0 for each in answers], "float32")
    rows, mask = batch_of([each.prompt for each in answers], [each.ids for each in answers])
    mask *= [[each.ended] for each in answers]  # what was cut off has no END and is left out
    advantage = np.reshape(group_advantages(earned.reshape(8, 8)), -1).astype("float32")
    old, reference = (scored(tf.constant(rows)).numpy() for scored in (score, score_before))
    for _ in range(2):
        step(rows, old, reference, mask, advantage)
    if number % 5 == 4:
        (body, times), *_ = Counter(map(plain_body, answers)).most_common(1)
        print(f"batch {number + 1}: {earned.mean():.0%} earn the point; {times} of 64 answers: {body}")


# %% [markdown] nbgrader={"grade": false, "grade_id": "practised-seen", "locked": true, "schema_version": 3, "solution": false, "task": false}
# In our run the commonest answer is `return self` from batch 10 on, and 22 of the 64 answers in batch 20. Whether that has helped on new prompts, you measure in exercise 6.

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-derive", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 4 · Derive: where the price leads
#
# Training goes on and on. Where does it end? Take one prompt with V possible answers. The reference writes answer a with probability q(a), it earns r(a), and each nat of distance costs β. Which law p makes
#
# $$\sum_a p(a)\,r(a)-\beta\sum_a p(a)\ln\frac{p(a)}{q(a)}$$
#
# as large as possible? Derive it. Test it before you check it: where all rewards are equal, p has to be q, and where β is very large, too.
#
# - `reference` and `rewards` are (…, V), float32 or float64, and each row of the reference is a law. β is above 0.
# - Entries of the reference may be 0; in other rows r/β may be in the thousands.
#
# **By hand:** q = (¾, ¼), r = (0, 1), and β = 1/ln 3 (so that $e^{1/\beta}=3$).
# <details><summary>Answer</summary>Both answers are equally probable then: p = (½, ½).</details>

# %% nbgrader={"grade": false, "grade_id": "derive_best_policy-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def derive_best_policy(reference, rewards, beta):
    """The law that training with a reward and a price leads to.

    Args:
        reference: q, a NumPy array (…, V).
        rewards: r, a NumPy array (…, V).
        beta: the price of a nat.

    Returns:
        p, (…, V).
    """
    ### BEGIN SOLUTION
    pull = rewards / beta
    possible = np.where(reference > 0, pull, -np.inf)
    weighted = reference * np.exp(possible - possible.max(axis=-1, keepdims=True))
    return weighted / weighted.sum(axis=-1, keepdims=True)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "derive_best_policy", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("derive_best_policy")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-preference_loss", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 5 · When people choose
#
# Solve your result for the reward: $r(a)=\beta\ln\frac{p(a)}{q(a)}+c$, where c is the same for all answers to a prompt. So a law *is* a reward, and the difference of two answers' rewards is β times the difference of their **gains** ln p − ln q. People say which of two answers they like better. **DPO** makes the pairs likely: with the sigmoid σ, its loss is
#
# $$-\ln\sigma\big(\beta\,(\text{gain of the chosen answer}-\text{gain of the rejected one})\big)$$
#
# averaged over the pairs. The log probability of an answer is the **sum** over its tokens.
#
# - `new`, `reference` and `mask` are (2, B, T): `new[0]` are the chosen answers, `new[1]` the rejected ones, pair by pair. Numbers outside of the mask mean nothing.
# - Gains may be hundreds of nats apart.
#
# **By hand:** how large is the loss where `new` is `reference`?
# <details><summary>Answer</summary>All gains are 0, σ(0) = ½, and the loss is ln 2 = 0.69.</details>

# %% nbgrader={"grade": false, "grade_id": "preference_loss-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def preference_loss(new, reference, mask, beta):
    """DPO: the chosen answer gains on the rejected one.

    Args:
        new, reference: log probabilities of the tokens, (2, B, T).
        mask: 1 at the answers, 0 elsewhere, (2, B, T).
        beta: how much a nat of gain is worth.

    Returns:
        One number.
    """
    ### BEGIN SOLUTION
    gains = ops.sum((new - reference) * mask, axis=-1)  # (2, B)
    return -ops.mean(ops.log_sigmoid(beta * (gains[0] - gains[1])))
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "preference_loss", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("preference_loss")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-agree", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### See whether the two agree
#
# Five answers, each a single token. A hidden reward decides which of two drawn answers is chosen: a with probability σ(r(a) − r(b)). Your loss sees the pairs and never the reward; its law starts at the reference. Before you run the cell: which law should it find?
# <details><summary>Answer</summary>The one that you derived, up to the chance in 4,000 pairs.</details>

# %% nbgrader={"grade": false, "grade_id": "agree", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
rng, beta = np.random.default_rng(3), 0.7
q, r = np.array([0.4, 0.3, 0.15, 0.1, 0.05]), np.array([0.0, 1.0, -1.0, 0.5, 2.0])
drawn = rng.integers(5, size=(2, 4000))
is_first = rng.random(4000) < 1 / (1 + np.exp(r[drawn[1]] - r[drawn[0]]))
drawn = np.where(is_first, drawn, drawn[::-1])[..., None]  # (2, B, 1), the chosen one first
scores = keras.Variable(np.log(q).astype("float32"))
fixed, everywhere = np.log(q).astype("float32")[drawn], np.ones((2, 4000, 1), "float32")
nudge = learner([scores], 0.05, lambda old: preference_loss(ops.take(ops.log_softmax(scores), drawn), old, everywhere, beta))
losses = [nudge(fixed) for _ in range(400)]
print(f"loss {losses[0]:.3f}, then {losses[-1]:.3f}")
for name, law in (("reference", q), ("your derivation", derive_best_policy(q, r, beta)), ("your loss found", ops.softmax(scores))):
    print(f"{name:16}", np.round(np.asarray(law), 2))


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-measure_reward", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 6 · Measure: skill, or one answer?
#
# A reward has risen. Has the model learned to do what it asks, or to write one text that earns it anywhere? Three comparisons tell:
#
# - the **base rate**: what did the model before earn?
# - **shapes**: how many of the answers are built alike? `shape_of(body)` gives a body with x for every name: `self.a()` and `self.b()` have one shape.
# - **another prompt**: what do the same bodies earn behind the prompt of the next answer (the last one behind the first prompt)?
#
# `before` and `after` are lists of pairs (prompt, body), n answers of each of the two models to the same n prompts, all different. `reward(prompt, body)` is 1 or 0. You compute five things; the last line is given:
#
# - `old` and `new`: the shares of answers of the two models that earn the point;
# - `elsewhere`: the same of the model after, with each body behind the next prompt;
# - `one_shape`: the share of the commonest shape among the bodies after;
# - `conclusion`: the first row of the table that holds.
#
# | conclusion | holds where |
# |---|---|
# | `"unchanged"` | the model earns no more than before |
# | `"one shape"` | more than half of its bodies have one shape |
# | `"any prompt"` | its bodies earn as much behind another prompt |
# | `"own prompt"` | its bodies earn clearly less behind another prompt |
#
# **You decide** which difference of two shares is one. The pairs in the check are drawn from models, and your conclusion has to be true of the models: two samples of one model differ as well. A share a of n answers has the standard error √(a(1 − a)/n). None of these models is a borderline case.
#
# **By hand:** a model earns 0.92, after 0.88 before, of 60 answers. Has it learned?
# <details><summary>Answer</summary>The standard error of the difference is √(0.92 · 0.08/60 + 0.88 · 0.12/60) = 0.055. The rise of 0.04 is less than one of them; by chance alone it is often more than one, seldom more than two. So this shows no change, however high 0.92 looks.</details>

# %% nbgrader={"grade": false, "grade_id": "measure_reward-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def measure_reward(reward, before, after):
    """Whether a reward was met by skill or by one shape.

    Args:
        reward: called as reward(prompt, body), returns 1 or 0.
        before, after: lists of n pairs (prompt, body).

    Returns:
        A dictionary with before, after, elsewhere, one_shape and conclusion.
    """
    ### BEGIN SOLUTION
    moved = [(prompt, body) for (prompt, _), (_, body) in zip(after[1:] + after[:1], after, strict=True)]
    old, new, elsewhere = (np.mean([reward(*pair) for pair in some]) for some in (before, after, moved))
    one_shape = Counter(shape_of(body) for _, body in after).most_common(1)[0][1] / len(after)

    def is_more(one, two):
        return one - two > 3 * np.sqrt((one * (1 - one) + two * (1 - two)) / len(after))

    conclusion = "own prompt" if is_more(new, elsewhere) else "any prompt"
    if not is_more(new, old):
        conclusion = "unchanged"
    elif one_shape > 0.5:
        conclusion = "one shape"
    ### END SOLUTION
    return {"before": old, "after": new, "elsewhere": elsewhere, "one_shape": one_shape, "conclusion": conclusion}


# %% nbgrader={"grade": true, "grade_id": "measure_reward", "locked": true, "points": 6, "schema_version": 3, "solution": false, "task": false}
check("measure_reward")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-own", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### Measure your own model
#
# The fine-tuned model, and the one that has practised, on 150 held-out prompts. Before you run the cell: what will stand in `before` and in `elsewhere`?
# <details><summary>In our run</summary>`before` is 0.61 already: many bodies read `self`. `after` is 0.67, and the standard error of the difference is 0.055: the rise is about one of them, so `unchanged`. `elsewhere` is 0.62, because `self` is there, too. Yet 57 % of the bodies have one shape now: variety is lost, and on new prompts the reward has hardly risen.</details>

# %% nbgrader={"grade": false, "grade_id": "own", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
prompts = list(dict.fromkeys(asked.prompts))[:150]
before, after = written(tuned, prompts), written(practised, prompts)
found = measure_reward(reward, before, after)
print(f"you guessed {guess!r}, your measurement concludes {found['conclusion']!r}")
print(", ".join(f"{name} {found[name]:.2f}" for name in ("before", "after", "elsewhere", "one_shape")))
for (prompt, old), (_, new) in list(zip(before, after, strict=True))[:60:10]:
    print(f"{prompt}\n    before: {' ⏎ '.join(old.split())[:90]}\n    after:  {' ⏎ '.join(new.split())[:90]}")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-picture", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### A picture to keep
#
# The shapes of what your three models write. Before you run the cell: which of the three bars has the largest first piece?
# <details><summary>In our run</summary>The practised model's: 85 of its 150 answers are `return x`.</details>

# %% nbgrader={"grade": false, "grade_id": "picture", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
figure, ax = plt.subplots(figsize=(8, 2.4))
models, labels = {"first": written(first, prompts), "fine-tuned": before, "practised": after}, []
for row, (name, some) in enumerate(models.items()):
    shapes = Counter(shape_of(body) for _, body in some).most_common()
    begins = np.cumsum([0, *(times for _, times in shapes)])
    for number, (_, times) in enumerate(shapes):
        color = plots.LINES[number % 2]["color"]
        ax.barh(row, times, left=begins[number], color=color, alpha=max(0.9 - 0.08 * number, 0.15))
    labels.append(f"{name}: {' '.join(shapes[0][0].split()[2:])}")
ax.set(yticks=range(3), yticklabels=labels, xlabel=f"answers, of {len(prompts)}; one piece for each shape, the commonest first")
ax.invert_yaxis()
plots.show(figure, alt="What your models write, by shape. Three bars, cut into the shapes of a model's answers; the commonest shape stands beside its bar.")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-words", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## In your own words
#
# What did your model learn in exercise 1, and what in exercise 3? Say what your measurement shows and what it does not: base rate, shapes, the other prompt, number of answers. Then write down a better reward, and the hole that your model would find in it. Four to eight sentences. This earns no points; your instructor reads it and writes back.

# %% [markdown] nbgrader={"grade": true, "grade_id": "explanation", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
# In exercise 1 my model learned to end: of 100 answers of the first model 49 end in time, afterwards 93. It has not learned what a first line asks for. In exercise 3 it practised to read a parameter, and `return self` spread: 22 of 64 answers in the last batch. I had guessed "one shape", and my measurement concludes "unchanged". Of 150 answers to new prompts 61 % earned the point before, which is the base rate, and 67 % afterwards. The standard error of this difference is 5.5 points, so it may be chance. What has changed is the text: 57 % of the bodies have one shape. They earn 62 % behind the prompt of another function, so they do not fit their own. This is one run, and it does not show that any of the code works, because nothing was run.
#
# A better reward would pay only for parameters other than `self`. Its hole: the model may return such a parameter as it is, and do nothing with it.

# %% [markdown] nbgrader={"grade": false, "grade_id": "closing", "locked": true, "schema_version": 3, "solution": false, "task": false}
# Change `reward` in the cell of exercise 3 and let it practise again: that is how the next hole is found. [Lecture 10b](../../lectures/10b_from_model_to_assistant.ipynb), sections 3 and 4, shows three of them.

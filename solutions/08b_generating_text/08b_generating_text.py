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
# # Lab 08b · Generating text
#
# The second part of lab 08: how a sentence comes out of a decoder. You write two searches, and the cut of the probabilities
# before a token is drawn. You measure whether the most probable sentence is a
# typical one, and derive why a small model may write for a large one. Nothing here needs your model of lab 08: a language
# model of counted words stands in for it, and so a search takes no time.
#
# **Before you start:** read [lecture 08b](../../lectures/08b_generating_text.ipynb), sections 1 to 4: this lab begins where its
# `PlainCaptionModel` and `reshaped` end. **Time:** about 105 minutes.
#
# **How a lab works.** Each exercise has a cell with a stub, and below it a cell `check("…")`. Replace the line `raise
# NotImplementedError`, run your cell, then run the check. It says what works, what differs first, and which mistake
# it looks like; after the second failed attempt it adds hints. Your mark comes from the same tests on inputs that you
# have not seen, so code that fits only the visible inputs earns nothing. Add cells wherever you like; the check cells
# themselves are restored before grading.
#
# **Letters.** B batch, H heads, K width of a head, t tokens so far, T tokens of a row, V words in the vocabulary.
#
# | exercise | what you write | points | difficulty | minutes |
# |---|---|---|---|---|
# | 1 | `greedy_decode` | 3 | ●●○○○ | 10 |
# | 1 | `predict` | 2 | ●○○○○ | 5 |
# | 2 | `beam_search` | 6 | ●●●●○ | 25 |
# | 3 | `top_p` | 5 | ●●○○○ | 10 |
# | 3 | `find_the_bug` | 3 | ●●○○○ | 10 |
# | 4 | `measure_typical` | 4 | ●●●○○ | 15 |
# | 4 | `report` | 3 | ●○○○○ | 5 |
# | 5 | `derive_acceptance` | 6 | ●●○○○ | 10 |
# | 6 | `cached_attention` (optional) | 0 | ●●○○○ | 10 |
# | 6 | `design` (optional) | 0 | ●○○○○ | 5 |
# | 7 | `perplexity` (optional) | 0 | ●●○○○ | 10 |
#
# Optional exercises earn no points, and their minutes are not in the total, which counts reading and given cells as well.
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

from coursekit import captions, data, plots, quiet, start_lab

quiet.start_tensorflow()  # keeps its start-up messages out of the notebook

import re
import warnings
from collections import Counter, defaultdict

import keras
import matplotlib.pyplot as plt
import numpy as np
import tensorflow as tf
from keras import ops

from coursekit.pages.caption_model import PlainCaptionModel, reshaped  # the lecture's

warnings.filterwarnings("ignore", message="You are using a softmax over axis")  # the first token sees one key
plots.use_course_style()
check = start_lab("08b_generating_text")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-model", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## A language model without a network
#
# A decoder gives, for a prefix, the log-probabilities of the next token. Below they are counted: of all places where
# the same two words stood in the course's sample of film reviews, which word came next? Word 0 is unused, 1 is the end,
# 2 is the start. Your searches get nothing but the function `next_word`.

# %% nbgrader={"grade": false, "grade_id": "model", "locked": true, "schema_version": 3, "solution": false, "task": false}
texts, _ = data.reviews(source="sample")[0]
sentences = [re.findall(r"[a-z']+", part) for text in texts for part in text.lower().split(".")]
sentences = [each for each in sentences if len(each) > 2]
END_ID, START_ID = 1, 2
vocabulary = ["", ".", "<start>", *sorted({word for each in sentences for word in each})]
number = {word: place for place, word in enumerate(vocabulary)}
followers = defaultdict(Counter)  # of the last two words
for sentence in sentences:
    ids = [START_ID, START_ID, *(number[word] for word in sentence), END_ID]
    for one, two, three in zip(ids, ids[1:], ids[2:], strict=False):
        followers[one, two][three] += 1


def next_word(prefix):
    """Log-probabilities (V,) of the word after a list of ids that begins with START_ID."""
    one, two = ([START_ID, *prefix])[-2:]
    counts = np.zeros(len(vocabulary))
    for word, count in followers[one, two].items():
        counts[word] = count
    with np.errstate(divide="ignore"):
        return np.log(counts / counts.sum())


print(f"{len(sentences):,} sentences, {len(vocabulary):,} words, for example:", *sentences[0])


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-14", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 1 · Greedy search
#
# A decoder gives, for a prefix, the log-probabilities of the next token. The simplest search takes the most probable
# token, appends it, and asks again. `step_fn` stands for any such decoder: it takes a list (or another sequence) of token ids that
# begins with the start id, and returns a NumPy array (V,) of log-probabilities. Some of them may be −inf.
#
# The result is the list of all tokens: it begins with `start_id`, and it ends with `end_id` or when it has
# `max_length` tokens, the start id included. Of equally probable tokens the one with the smallest id is taken.
#
# By hand: with `max_length=1` the result is `[start_id]`, and `step_fn` is never asked.

# %% nbgrader={"grade": false, "grade_id": "greedy_decode-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def greedy_decode(step_fn, start_id, end_id, max_length):
    """Write a sentence token by token, the most probable one each time.

    Args:
        step_fn: takes a list of token ids, the start id first, and returns log-probabilities (V,), a NumPy array.
        start_id: the first token.
        end_id: the token that ends a sentence.
        max_length: largest number of tokens in all.

    Returns:
        The list of token ids, with start_id, and with end_id if it was reached.
    """
    ### BEGIN SOLUTION
    tokens = [start_id]
    while len(tokens) < max_length:
        tokens.append(int(np.argmax(step_fn(tokens))))
        if tokens[-1] == end_id:
            break
    return tokens
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "greedy_decode", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("greedy_decode")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-guess", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### Predict, then answer
#
# A decoder that reads a right prefix gives the right next token with probability 0.95, at every position. Nothing else is
# known. What share of its sentences is right from the first token to the last?
#
# Guess first, for sentences of **20 tokens**: put a number between 0 and 1 in place of `None`, delete the last line of the cell, and run
# both cells. In the second one your `greedy_decode` writes 2,000 sentences with a decoder that goes wrong with probability 0.05. A guess earns
# no points.

# %% nbgrader={"grade": false, "grade_id": "guess", "locked": false, "schema_version": 3, "solution": true, "task": false}
guess = None  # a number between 0 and 1
### BEGIN SOLUTION
guess = 0.36
### END SOLUTION

# %% nbgrader={"grade": false, "grade_id": "measured", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
rng = np.random.default_rng(12)


def mostly_right(prefix):
    """Id 3 is always right; one time in twenty another one is ahead."""
    return np.log(np.where(np.arange(5) == (3 if rng.random() < 0.95 else 4), 0.9, 0.025))


if guess is None:
    print("First write your guess into the cell above.")
else:
    written = [greedy_decode(mostly_right, START_ID, END_ID, max_length=21) for _ in range(2000)]
    print(f"your guess {guess:.3f}, measured {np.mean([set(each[1:]) == {3} for each in written]):.3f}")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-predict", "locked": true, "schema_version": 3, "solution": false, "task": false}
# Now answer the same question for sentences of **12 tokens**. It has to be within 0.02, and at the end you are asked for the reason.

# %% nbgrader={"grade": false, "grade_id": "predict-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
predict = None  # a number between 0 and 1
### BEGIN SOLUTION
predict = 0.54
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "predict", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("predict")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-15", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 2 · Beam search
#
# The best first token may lead nowhere. A beam keeps the `beam_width` best hypotheses instead of one. A hypothesis is
# a list that begins with `start_id`; it is *finished* when it ends with `end_id`, and its **score** is
#
# $$\text{score} = \frac{\sum \ln p}{\left(\frac{5 + n}{6}\right)^{\text{length penalty}}}$$
#
# where the sum runs over its n generated tokens: the end id is one of them, the start id is not. Longer sentences
# have smaller sums, so without a penalty (0, the default) short ones win.
#
# The search goes in rounds, beginning with the one hypothesis `[start_id]`:
#
# 1. the finished hypotheses of the beam stay as they are; every other one is lengthened by each of the V tokens;
# 2. of all these candidates together, the `beam_width` with the best **scores** are the new beam (all of them, if they
#    are fewer). A finished hypothesis can be pushed out here.
#
# It is over when every hypothesis of the beam is finished, or when the unfinished ones are `max_length` tokens long, the
# start id included. The result is the best one of the beam by score, finished or not, and its score. How you break ties is up to
# you. With width 1 it is greedy search.
#
# By hand: two first tokens, a with 0.6 and b with 0.4; after a ten words with 0.1 each, after b one with 0.9. Greedy
# gets 0.06, a beam of two gets 0.36.

# %% nbgrader={"grade": false, "grade_id": "beam_search-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def beam_search(step_fn, start_id, end_id, beam_width, max_length, length_penalty=0.0):
    """Search for the sentence with the best score, keeping several hypotheses.

    Args:
        step_fn: takes a list of token ids, the start id first, and returns log-probabilities (V,), a NumPy array.
        start_id: the first token.
        end_id: the token that ends a sentence.
        beam_width: how many hypotheses are kept; it may be larger than V.
        max_length: largest number of tokens in all.
        length_penalty: exponent of (5 + n)/6, by which the sum of the n log-probabilities is divided.

    Returns:
        The tuple (tokens, score): the list of token ids, in the form of `greedy_decode`, and its score, a float.
    """
    ### BEGIN SOLUTION

    def score(hypothesis):
        tokens, total = hypothesis
        return total / ((5 + len(tokens) - 1) / 6) ** length_penalty

    def is_finished(tokens):
        return len(tokens) > 1 and tokens[-1] == end_id

    beam = [([start_id], 0.0)]
    for _ in range(max_length - 1):
        candidates = []
        for tokens, total in beam:
            if is_finished(tokens):
                candidates.append((tokens, total))
            else:
                candidates += [([*tokens, new], total + float(log_p)) for new, log_p in enumerate(step_fn(tokens))]
        beam = sorted(candidates, key=score, reverse=True)[:beam_width]
        if all(is_finished(tokens) for tokens, _ in beam):
            break
    best = max(beam, key=score)
    return best[0], score(best)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "beam_search", "locked": true, "points": 6, "schema_version": 3, "solution": false, "task": false}
check("beam_search")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-top_p", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 3 · The nucleus
#
# Greedy and beam search write the same sentence every time. To get different sentences, tokens are *drawn*. But a
# vocabulary has many improbable words, each of them bad, and together they are probable enough to be drawn every few
# words. So the tail is cut off first (top-p or nucleus sampling, Holtzman et al., 2020):
#
# - take the most probable tokens, one after the other, until the sum of their probabilities **reaches** p: it is p or
#   more;
# - all other probabilities become 0, and what is left is divided by its sum. Each probability stays in the place of its
#   token.
#
# Of equally probable tokens the one with the lower id comes first. The most probable token always stays, even where p
# is 0.
#
# **By hand:** probabilities (0.1, 0.5, 0.15, 0.25) and p = 0.7.
# <details><summary>Answer</summary>In falling order 0.5, 0.25, 0.15, 0.1 with the sums 0.5, 0.75, …: two tokens are enough. The result is (0, 2/3, 0, 1/3).</details>

# %% nbgrader={"grade": false, "grade_id": "top_p-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def top_p(probabilities, p):
    """Keep the smallest set of most probable tokens whose probabilities sum to p or more.

    Args:
        probabilities: of the next token, (V,), an array or a tensor; they sum to 1.
        p: a number from 0 to 1.

    Returns:
        (V,): 0 outside of the set, and inside it the probabilities divided by their sum.
    """
    ### BEGIN SOLUTION
    probabilities = np.asarray(probabilities)
    by_rank = np.argsort(-probabilities, kind="stable")
    before = np.concatenate([[0.0], np.cumsum(probabilities[by_rank])[:-1]])
    nucleus = by_rank[(before < p) | (np.arange(len(by_rank)) == 0)]
    left = np.zeros_like(probabilities)
    left[nucleus] = probabilities[nucleus] / probabilities[nucleus].sum()
    return left
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "top_p", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false}
check("top_p")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-lecture", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### See where the lecture's cut differs
#
# `reshaped` of the lecture keeps **all** tokens that are as probable as the last one of the nucleus. Before you run the cell: how many
# of these four tokens does it keep with p = 0.8, and how many does yours?
# <details><summary>Answer</summary>Four and three: of the two last ones, equally probable, yours keeps the first. So the lecture's lines fail here.</details>

# %% nbgrader={"grade": false, "grade_id": "lecture", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
tied = np.array([0.5, 0.25, 0.125, 0.125])
print("lecture:", reshaped(np.log(tied)[None], top_p=0.8)[0].round(3))
print("yours:  ", np.round(top_p(tied, 0.8), 3))


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-drawing", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### See it draw
#
# The counted words have no tail of bad words: each of them once stood there. The captions at the end of the lab have one.
# Before you run the cell: which p gives back the greedy sentence each time?
# <details><summary>Answer</summary>p = 0: only the most probable word is left.</details>

# %% nbgrader={"grade": false, "grade_id": "drawn", "locked": true, "schema_version": 3, "solution": false, "task": false}
def text_of(tokens):
    return " ".join(vocabulary[token] for token in tokens[1:])


def drawn(p, rng):
    tokens = [START_ID]
    while len(tokens) < 30 and tokens[-1] != END_ID:
        tokens.append(int(rng.choice(len(vocabulary), p=top_p(np.exp(next_word(tokens)), p))))
    return tokens


# %% nbgrader={"grade": false, "grade_id": "drawing", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
for p in (0.0, 0.5, 0.9, 1.0):
    print(f"p = {p}")
    for seed in range(3):
        print("   ", text_of(drawn(p, np.random.default_rng(seed))))


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-find_the_bug", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### Find the bug
#
# A colleague has written `top_p` as well. Her function runs, and what comes back is never negative and sums to 1. For the
# probabilities (0.5, 0.25, 0.15, 0.1) it is right whatever p is. All the same she complains that her model writes nonsense.
#
# Delete the line `raise NotImplementedError`, and her code runs. Find out for which inputs it is wrong, and fix it in place,
# with as few changes as possible. It is graded like `top_p`, all or nothing, and the check names no mistake: finding it is the
# exercise.

# %% nbgrader={"grade": false, "grade_id": "find_the_bug-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def find_the_bug(probabilities, p):
    """The nucleus, as in `top_p`: arguments and result are the same."""
    ### BEGIN SOLUTION
    probabilities = np.array(probabilities)
    falling = np.argsort(-probabilities, kind="stable")
    sums = np.cumsum(probabilities[falling])
    needed = sums - probabilities[falling] < p
    needed[0] = True
    probabilities[falling[~needed]] = 0
    return probabilities / probabilities.sum()
    ### END SOLUTION
    # This runs, and is wrong.
    probabilities = np.array(probabilities)
    falling = np.argsort(-probabilities, kind="stable")  # ids, the most probable token first
    sums = np.cumsum(probabilities[falling])
    needed = sums - probabilities[falling] < p
    needed[0] = True
    probabilities[~needed] = 0
    return probabilities / probabilities.sum()


# %% nbgrader={"grade": true, "grade_id": "find_the_bug", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("find_the_bug")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-typical", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 4 · Measure: is the most probable sentence typical?
#
# The lecture compared log p of captions. Here you write the measurement, for any model and any sentences. The control is the
# model itself: sentences drawn from it are typical by definition, and half of them are above their median. So for each searched
# sentence you measure which share of drawn ones is **ahead** of it, that is more probable. A typical sentence has a share near
# one half.
#
# Long sentences have a small log p because they are long. So the comparison is made twice: with log p, and with log p **per
# token**, divided by the number of tokens after the start id.
#
# - The log p of a sentence is the sum over its tokens without the start id, which was given. The end id counts.
# - Every prefix that `step_fn` gets begins with the start id. (In lab 08 `next_token` added it.)
# - `draw(seed)` returns a drawn sentence in the same form. Use each seed once, and the same drawn sentences for all searched
#   ones. Your function needs no other chance.
#
# **By hand:** a sentence has log p −4 and two tokens; three drawn ones have −3, −6, −9 and one, two and nine tokens.
# <details><summary>Answer</summary>Ahead is one of three: −3. Per token the sentence has −2 and the drawn ones −3, −3, −1; again one is ahead, but another one.</details>

# %% nbgrader={"grade": false, "grade_id": "measure_typical-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def measure_typical(step_fn, searched, draw, seeds):
    """Where searched sentences stand among the sentences that a model draws.

    Args:
        step_fn: as in exercise 1.
        searched: a dictionary, name -> list of token ids that begins with the start id.
        draw: called as draw(seed); returns a drawn sentence, a list of token ids that begins with the start id.
        seeds: a list of different whole numbers.

    Returns:
        A dictionary, name -> the tuple (log_p, ahead, ahead_per_token).
    """
    ### BEGIN SOLUTION

    def log_p(tokens):
        return sum(step_fn(tokens[:place])[tokens[place]] for place in range(1, len(tokens)))

    drawn = [draw(seed) for seed in seeds]
    base, lengths = np.array([(log_p(tokens), len(tokens) - 1) for tokens in drawn]).T
    found = {}
    for name, tokens in searched.items():
        total = log_p(tokens)
        found[name] = (total, np.mean(base > total), np.mean(base / lengths > total / (len(tokens) - 1)))
    return found
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "measure_typical", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("measure_typical")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-16", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### See where your searches stand
#
# Your searches among 300 sentences that your nucleus draws with p = 1, on the counted words. Before you run the cell: what will the
# two shares of the beam be, and what does a share of 0 among 300 prove?
# <details><summary>Answer</summary>Nearly 0, per token too: the beam's sentence is not only short. 0 of 300 proves less than "never": a share of 1 % gives 0 of 300 in 5 of 100 measurements, because 0.99 to the power 300 is 0.05.</details>

# %% nbgrader={"grade": false, "grade_id": "writing", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
draws = {seed: drawn(1.0, np.random.default_rng(seed)) for seed in range(300)}
searched = {"greedy": greedy_decode(next_word, START_ID, END_ID, max_length=30)}
searched["beam of 5"], _ = beam_search(next_word, START_ID, END_ID, 5, 30)
found = measure_typical(next_word, searched | draws, draws.get, list(draws))
for name, tokens in searched.items():
    log_p, ahead, ahead_per_token = found[name]
    print(f"{name:9} log p {log_p:6.2f}  ahead {ahead:.2f}, per token {ahead_per_token:.2f}  {text_of(tokens)}")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-report", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### Report your own numbers
#
# How typical is the greedy sentence of what a sharper nucleus writes? Measure again, in a cell of your own, among sentences drawn
# with **p = 0.5**, with 600 seeds of your own, such as 41,000 to 41,599. Report the two shares of the greedy sentence, `ahead` and
# `per_token`. We did this 10,000 times; the check accepts a range wider than ours.
# With n sentences a share a varies with the standard deviation √(a(1 − a)/n): how far apart may two readers be?

# %% nbgrader={"grade": false, "grade_id": "report-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
report = {"ahead": None, "per_token": None}  # two shares
### BEGIN SOLUTION
report = {"ahead": 0.45, "per_token": 0.32}
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "report", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("report")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-derive", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 5 · Derive: a small model writes for a large one
#
# A large model, the **target**, gives the law p of the next token; a small and fast one, the **draft**, gives q. In *speculative
# sampling* (Leviathan et al., 2023) the draft proposes a token x drawn from q. The target **accepts** x with the probability
# min(1, p(x)/q(x)). If it does not, a new token is drawn from a third law, the **residual** r. The target can judge several proposed
# tokens in one call, which saves time.
#
# Derive, for given p and q, the share of proposed tokens that is accepted, and the r with which the token that comes out has
# **exactly** the law p. Write down first: how often does x come out because it was proposed and accepted? How much is then lacking
# to p(x), and who has to supply it?
#
# - p and q are (…, V), float32 or float64, each row a law; entries may be 0, in one of them or in both.
# - Where p = q nothing is rejected, and every r would do: return p there.
#
# **By hand:** p = (0.6, 0.3, 0.1), q = (0.2, 0.3, 0.5).
# <details><summary>Answer</summary>Proposed and accepted: 0.2, 0.3 and 0.5 · 0.2 = 0.1, together 0.6. Only the first token lacks something, 0.4, so r = (1, 0, 0).</details>

# %% nbgrader={"grade": false, "grade_id": "derive_acceptance-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def derive_acceptance(target, draft):
    """What speculative sampling accepts, and what it draws from after a rejection.

    Args:
        target, draft: the laws p and q of the next token, arrays (…, V).

    Returns:
        The tuple (accepted, residual): the accepted share (…,), and r (…, V).
    """
    ### BEGIN SOLUTION
    accepted = np.minimum(target, draft).sum(axis=-1)
    lacking = np.maximum(target - draft, 0)
    rejected = lacking.sum(axis=-1, keepdims=True)
    return accepted, np.where(rejected > 0, lacking / np.where(rejected > 0, rejected, 1), target)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "derive_acceptance", "locked": true, "points": 6, "schema_version": 3, "solution": false, "task": false}
check("derive_acceptance")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-law", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### See the law
#
# One token, written 100,000 times: proposed by the draft, and drawn from your residual where it is rejected. Its shares should be
# p, although most tokens come from q. With r = p, do the tokens that q prefers come too often, or too rarely?
# <details><summary>Answer</summary>Too often: they keep what q gives them, and get a share of what was rejected on top.</details>

# %% nbgrader={"grade": false, "grade_id": "law", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
rng = np.random.default_rng(8)
p, q = np.array([0.5, 0.3, 0.15, 0.05]), np.array([0.2, 0.2, 0.3, 0.3])
accepted, residual = derive_acceptance(p, q)
for name, law in (("your r", residual), ("r = p", p)):
    tokens = rng.choice(4, size=100_000, p=q)
    is_accepted = rng.random(100_000) < p[tokens] / q[tokens]
    tokens = np.where(is_accepted, tokens, rng.choice(4, size=100_000, p=law))
    shares = np.bincount(tokens, minlength=4) / 100_000
    print(f"{name:7} accepted {is_accepted.mean():.3f} (derived {accepted:.3f}), shares {shares.round(3)}, p {p}")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-cache", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 6 · The cache (optional)
#
# No points. When a decoder writes token t, the keys and values of the tokens before it have not changed. They are kept, and a
# step computes one query, one key and one value: those of the newest token. **No causal mask is needed**, because what
# comes later is not there yet.
#
# - `cache` is None in the first call, and afterwards the pair (keys, values) of all tokens so far, each (B, H, t, K),
#   the newest last.
# - Append the new key and value, then attend: the query sees itself too. Scores are divided by √K; they may be in the thousands.
# - Return the output, (B, H, 1, K), and the longer cache, a pair of (B, H, t + 1, K). **The argument is not
#   changed**: a beam continues one cache with several tokens.
#
# Called T times in a row it gives the T rows of causal attention over the whole sentence.
#
# **By hand:** B = H = K = 1. The first token has key 0 and value 5. The second has query 1, key ln 3 and value 1. What
# is the second output?
# <details><summary>Answer</summary>Scores (0, ln 3), weights (¼, ¾), output 5/4 + 3/4 = 2.</details>

# %% nbgrader={"grade": false, "grade_id": "cached_attention-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def cached_attention(query, key, value, cache=None):
    """Attention of the newest token to all tokens so far.

    Args:
        query, key, value: of the newest token, (B, H, 1, K), arrays or tensors.
        cache: the pair (keys, values) of the tokens before it, each (B, H, t, K); None for the first token.

    Returns:
        The tuple (output, cache): (B, H, 1, K), and the pair with the newest token at the end, each (B, H, t + 1, K).
    """
    ### BEGIN SOLUTION
    keys, values = key, value
    if cache is not None:
        keys, values = (ops.concatenate(pair, axis=2) for pair in zip(cache, (key, value), strict=True))
    scores = ops.matmul(query, ops.swapaxes(keys, -1, -2)) / query.shape[-1] ** 0.5  # (B, H, 1, t + 1)
    return ops.matmul(ops.softmax(scores, axis=-1), values), (keys, values)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "cached_attention", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("cached_attention")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-design", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### Design: how many key heads? (optional)
#
# A model has 40 blocks, H = 40 query heads of width K = 128, and reads 4,096 tokens; a number takes two bytes. A server has 24 GiB
# left for caches (1 GiB = 2³⁰ bytes). With G = H key heads the cache of one text takes 3.125 GiB, so 7 texts fit. Choose G and the
# number of texts. Any choice that keeps **all** of these is right:
#
# - G divides H, and at most 8 query heads share one key head;
# - at least 24 texts at once;
# - the caches of all texts fit into the 24 GiB, and fill at least half of it: fewer key heads cost quality.

# %% nbgrader={"grade": false, "grade_id": "design-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def design():
    """Your choice: a dictionary with num_kv_heads (G) and texts (how many are written at once)."""
    ### BEGIN SOLUTION
    return {"num_kv_heads": 8, "texts": 32}
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "design", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("design")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-perplexity", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 7 · Perplexity (optional)
#
# Which of two language models is better? Show both the same text, one that neither has seen in training, and look at
# the probability $p$ that each model gives to the token that really comes next. One number sums this up, the
# **perplexity**:
#
# $$\text{perplexity} = e^{-\frac{1}{N}\sum \ln p}$$
#
# The sum runs over the N real tokens of **all rows together**, so each counts the same, in a long row or a short one. A
# model that chooses between 12 equally probable words has the perplexity 12. Smaller is better, and 1 is the least.
# The [evidence of lecture 08b](../../lectures/evidence/08.ipynb#language-model) compares counted words with a Transformer this way.
#
# - `logits` are scores **before** the softmax. The softmax over `logits[b, t]` gives the probabilities for
#   `targets[b, t]`: nothing has to be shifted.
# - A target of 0 is padding and does not count. Every other id is a real token, and there is at least one.
# - Logits can be in the thousands, positive or negative.
#
# **By hand:** one row of three tokens, which have the probabilities ½, ¼ and ⅛.
# <details><summary>Answer</summary>The mean of −ln p is (1 + 2 + 3)/3 · ln 2 = 2 ln 2, and its exponential is 4. (The mean of the probabilities themselves is 7/24, and 1 over it is 3.43: another number.)</details>

# %% nbgrader={"grade": false, "grade_id": "perplexity-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def perplexity(logits, targets):
    """e to the mean of −log p over all real tokens.

    Args:
        logits: (B, T, V), float32, an array or a tensor.
        targets: the token that comes at each position, (B, T), int32 or int64, an array or a tensor; 0 is padding.

    Returns:
        One number: a float, or an array or a tensor without axes.
    """
    ### BEGIN SOLUTION
    log_p = np.asarray(ops.log_softmax(logits, axis=-1))  # (B, T, V)
    targets = np.asarray(targets)
    of_targets = np.take_along_axis(log_p, targets[..., None], axis=-1)[..., 0]  # (B, T)
    return float(np.exp(-of_targets[targets != 0].mean()))
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "perplexity", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("perplexity")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-measure", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### See it measure
#
# Here each word is guessed from the 0 to 5 words before it, by counts from nine tenths of the sentences. Your function
# computes the perplexity of 400 sentences that were counted, and of new ones. Every count starts at 0.01, so that no word
# is impossible. The logits are the logarithms of the counts, because their softmax gives each count's share. Before you
# run the cell: what happens to the perplexity of counted sentences when more words are looked at, and to that of new
# ones?
# <details><summary>In our run</summary>Counted ones fall from 88 to 2.6. New ones fall to 6.8 with two words, and rise to 19 with five: the counts know long contexts by heart only.</details>

# %% nbgrader={"grade": false, "grade_id": "measure", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
def prefixes(some, before):
    """Of each token in some sentences: row, place, the ids of so many words before, its id."""
    for row, sentence in enumerate(some):
        ids = [START_ID] * before + [number[word] for word in sentence] + [END_ID]
        for place in range(len(ids) - before):
            yield row, place, tuple(ids[place : place + before]), ids[place + before]


known = [each for place, each in enumerate(sentences) if place % 10]
new = [each for each in sentences[::10] if each not in known]
width, size = 1 + max(map(len, sentences)), len(vocabulary)
print(f"perplexity of 400 counted sentences, and of {len(new)} new ones")
for before in range(6):
    counts = defaultdict(lambda: np.full(size, 0.01, "float32"))
    for _, _, context, word in prefixes(known, before):
        counts[context][word] += 1
    measured = []
    for some in (known[:400], new):
        logits, targets = np.zeros((len(some), width, size), "float32"), np.zeros((len(some), width), "int32")
        for row, place, context, word in prefixes(some, before):
            logits[row, place], targets[row, place] = np.log(counts[context]), word
        measured.append(perplexity(logits, targets))
    print(f"words looked at: {before}  counted {measured[0]:6.2f}  new {measured[1]:6.2f}")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-cost", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## See your nucleus write
#
# The caption model of lecture 08b, its `PlainCaptionModel`, with your `top_p`. Before you run the cell: at which setting will the captions repeat each other, and at which will
# their grammar break?
# <details><summary>In our run</summary>At 0.5 they are all a man, a woman or a group that walks or sits. At 1.5 the grammar breaks; p = 0.9 at 1 keeps most of it.</details>

# %% nbgrader={"grade": false, "grade_id": "cost", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
words, w = captions.load()
lecture = PlainCaptionModel(w)


def caption(temperature, p, rng):
    ids, kept = [captions.START], lecture.empty(1)
    while len(ids) < 25 and ids[-1] != captions.END:
        log_p, kept = lecture(np.array(ids[-1:]), kept)  # (1, V), and its cache
        probabilities = np.asarray(ops.softmax(log_p[0] / temperature), "float64")
        ids.append(int(rng.choice(len(words), p=top_p(probabilities / probabilities.sum(), p))))
    return " ".join(words[token] for token in ids[1:])


for temperature, p in ((0.5, 1.0), (1.0, 0.9), (1.0, 1.0), (1.5, 1.0)):
    print(f"temperature {temperature}, p = {p}")
    for seed in range(3):
        print("   ", caption(temperature, p, np.random.default_rng(seed)))

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-smollm2", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## Your decoding on a published model
#
# SmolLM2 (Hugging Face, 2024) has 134.5 million numbers and 49,152 tokens. `NextToken` makes it a `step_fn`, and **your** `greedy_decode`, `beam_search` and `top_p` choose. If you wrote exercise 6, call `NextToken(…, cached_attention)`: then **your** `cached_attention` runs in all its 30 blocks.
#
# Nothing here is graded. Set `TALK = True` and run the two cells. The first time, 93 MB are fetched; then it takes about half a minute and 1.5 GB of memory.
#
# **Predict.** All go on from "A brown dog is running after the black dog." for 20 tokens at most. Which of them gets the largest log p? Which one writes what you would least expect of a person?

# %% tags=["demonstration"]
TALK = False  # True: fetch the published numbers

# %% nbgrader={"grade": false, "grade_id": "smollm2", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
if TALK:
    from coursekit.published_heads import NextToken

    step = NextToken("A brown dog is running after the black dog.")

    def by_chance(p, rng, length=20):
        tokens = [step.start_id]
        while len(tokens) < length:
            probabilities = np.exp(step(tokens).astype("float64"))
            tokens.append(int(rng.choice(len(probabilities), p=top_p(probabilities / probabilities.sum(), p))))
        return tokens

    beam, _ = beam_search(step, step.start_id, step.end_id, beam_width=3, max_length=20)
    written = {"greedy": greedy_decode(step, step.start_id, step.end_id, max_length=20), "beam of 3": beam}
    written |= {f"p = {p}": by_chance(p, np.random.default_rng(0)) for p in (0.9, 1.0)}
    for name, tokens in written.items():
        log_p = sum(step(tokens[:place])[tokens[place]] for place in range(1, len(tokens)))
        print(f"{name:10} log p {log_p:6.1f}  {step.text(tokens)!r}")

# %% [markdown] nbgrader={"grade": false, "grade_id": "smollm2-seen", "locked": true, "schema_version": 3, "solution": false, "task": false}
# In our run greedy search says the same sentence twice (log p −18.0). The beam finds a more probable text (−16.4), which contradicts itself: "The dog is running towards the black dog, but the dog is not running towards the black dog". The drawn texts have −49.6 and −58.0, and go somewhere. These are four texts from one beginning; [lecture 08b](../../lectures/08b_generating_text.ipynb) measures more.

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-picture", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## A picture to keep
#
# Your 300 drawn sentences of exercise 4, and where your two searches stand. Before you run the cell: where is each of the two lines, in the
# middle of the heap or at its edge?
# <details><summary>In our run</summary>The beam stands at the right edge: no drawn sentence has a larger log p. Greedy search stands inside, in the right part of the heap.</details>

# %% nbgrader={"grade": false, "grade_id": "picture", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
figure, ax = plt.subplots(figsize=(6.5, 3))
ax.hist([found[seed][0] for seed in draws], bins=30, color=plots.LINES[0]["color"], alpha=0.6, label="300 drawn sentences")
for line, (name, tokens) in zip(plots.LINES[1:3], searched.items(), strict=True):
    style = {key: line[key] for key in ("color", "linestyle")}
    ax.axvline(found[name][0], **style, label=f"{name}: {text_of(tokens)}")
ax.set(xlabel="log p of the sentence, nats", ylabel="sentences")
ax.legend(loc="upper left", fontsize=8)
plots.show(
    figure,
    alt="""The beam's sentence stands at the right edge of what the model draws. A histogram of log p of 300 drawn sentences, and two lines: the greedy
sentence inside it, the beam's at its end.""",
)

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-18", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## In your own words
#
# How did you find your prediction, and what would change if a wrong token made the next one more likely to be wrong as
# well? And what did you measure in exercise 4: is a searched sentence typical, in all and per token? What does a share of 0
# among 300 drawn sentences prove, and what not? Four to eight sentences. This earns no points; your instructor reads it and writes back.

# %% [markdown] nbgrader={"grade": true, "grade_id": "explanation", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
# Each of the twelve tokens has to be right, and each is right with probability 0.95 when those before it are. So the
# probabilities are multiplied: 0.95 to the power 12 is 0.54. One error is enough to spoil the sentence, and therefore
# nothing changes in this share if errors make further errors more likely; what changes is how many errors a wrong
# sentence has.
#
# Exercise 4: almost none of the 300 drawn sentences is ahead of the beam's, in all and per token. A typical sentence
# would have a share near one half, so the searched one is not typical, and not only because it is short. A share of 0
# among 300 says that the probability of a sentence which is ahead is most likely below 3/300, or 1 %. It does not say
# that the model never draws one.

# %% [markdown] nbgrader={"grade": false, "grade_id": "closing", "locked": true, "schema_version": 3, "solution": false, "task": false}
# You can make a decoder write in several ways, and you know what each costs. In
# [lab 09](../09_vision_transformer/09_vision_transformer.ipynb) the tokens are parts of a picture.

"""Lecture 10b's losses and rewards: fine-tuning on answers, a reward that a program gives, preferences."""

from __future__ import annotations

import ast

from keras import ops


def log_probabilities(model, rows):  # (B, T + 1)
    """The logarithm of the probability of each token after the first, (B, T)."""
    logits = model(rows[:, :-1])  # (B, T, V)
    return -ops.sparse_categorical_crossentropy(rows[:, 1:], logits, from_logits=True)


def answer_loss(model, rows, mask):  # (B, T + 1), (B, T): 1 where a token of the answer or its end is predicted
    """The mean surprise at the tokens of the answers; what the prompt says is read and costs nothing."""
    return -ops.sum(log_probabilities(model, rows) * mask) / ops.sum(mask)


def parses(prompt, body):
    """1 if Python accepts prompt and body as one function, else 0. Nothing is run."""
    try:
        tree = ast.parse(prompt + body).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return 0.0
    return float(len(tree) == 1 and isinstance(tree[0], ast.FunctionDef))


def reads_a_parameter(prompt, body):
    """1 if it parses and the body reads one of the function's parameters, else 0."""
    if not parses(prompt, body):
        return 0.0
    (function,) = ast.parse(prompt + body).body
    own = {node.arg for node in ast.walk(function.args) if isinstance(node, ast.arg)}
    names = [node for line in function.body for node in ast.walk(line) if isinstance(node, ast.Name)]
    return float(any(name.id in own and isinstance(name.ctx, ast.Load) for name in names))


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


def preference_loss(model, reference, chosen, rejected, beta):  # two pairs of rows and mask
    """DPO (Rafailov et al. 2023): the chosen answer gains on the rejected one, both counted from the reference."""

    def gain(rows, mask):  # (B,)
        new, old = (ops.sum(log_probabilities(each, rows) * mask, axis=1) for each in (model, reference))
        return new - ops.stop_gradient(old)

    return -ops.mean(ops.log_sigmoid(beta * (gain(*chosen) - gain(*rejected))))

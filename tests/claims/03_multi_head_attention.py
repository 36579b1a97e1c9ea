"""What lecture 3 says of its numbers."""

from __future__ import annotations

import math

from claims.page import Page

NUMBER = r"(-?[\d.]+)"
HEADS = (1, 2, 4, 8, 16, 32)


def claims(page: Page) -> None:
    page.given("about 90 minutes to read", because="counted by tests/test_lectures.py")
    one_softmax(page)
    two_heads_by_hand(page)
    two_heads_asked_by_pot(page)
    splitting(page)
    three_ways_timed(page)
    parameters(page)
    masks_and_keras(page)
    table_task(page)
    jobs_and_ablation(page)
    two_matrices(page)
    shared_keys(page)
    mistakes_and_questions(page)


def one_softmax(page: Page) -> None:
    page.given("Heads are counted from 0", because="a convention")
    numbers = dict(enumerate(page.numbers("cell-005", rf"(?m)^ +\d +\w +\w +{NUMBER}$")))
    page.says("Above row 3 is row 2, with −{:.2f}.", -numbers[2])
    page.says("Row 3 wants b , which is the name of row 4, with {:.2f}.", numbers[4])
    page.given("Answer both for row 3", "positive and summing to 1", "1 − p on the wanted row", because="by definition")
    page.given("m = 1. What were", "(1, 1) gives 1, and so do (3, −1), (2, 0) and (0, 2)", because="by hand")
    page.given(
        "mean 0 and variance 1", "the rule is 1 − covariance²", "for p = 0.8 and for p = 1, and", because="by hand"
    )
    page.given("p = 0.8: 0.64/0.68 = 0.941 is explained of a, so 0.059 and 0.941 remain.", because="by hand")
    page.given("p = 1: 0 and 1. The sum is 1 each time, because the two fractions add up to 1", because="by hand")
    shares = page.numbers("cell-007", rf"measured \[{NUMBER} +{NUMBER} *\]")
    page.says("falls from 1 to 0, the one for the wanted number rises from 0 to 1", holds=shares[4:] == [0, 1])
    page.says("their mean is a flat line at one half", holds=all(sum(shares[at : at + 2]) == 1 for at in (0, 2, 4)))


def two_heads_by_hand(page: Page) -> None:
    page.given(r"\text{head}_{H-1}]", because="a formula")
    page.given(
        "D = 512, H = 8, K = 64 |", "| (512, 64) |", "| (512, 512) |", "or (512, 8, 64) |", because="by definition"
    )
    page.given("| (B, 8, T, S) |", "| (B, T, 512) |", because="by definition")
    page.given(
        '"tea" and "pot", D = 8, H = 2, so K = 4',
        "Then head 0 sees columns 0–3",
        "head 1 sees columns 4–7",
        because="the example",
    )
    page.given("| head 0's columns | head 1's columns |", "divided by √K = 2", because="the example")
    page.given("1 1 0 0 | 2 0 0 0", "1 0 1 0 | 0 0 2 2", "(e^0.5 = 1.649, e² = 7.389.)", because="the example")
    page.given(
        "Answer for head 0 tea·tea = 2, tea·pot = 1; divided by 2: 1 and 0.5",
        "Answer for head 1 tea·tea = 4, tea·pot = 0",
        because="by hand",
    )
    page.given(
        "tea·pot = 0; divided by 2: 2 and 0.", "4 + 2 = 6 and 0 + 1 = 1, divided by √8 = 2.828", because="by hand"
    )
    tea = page.numbers("cell-012", rf"tea \[{NUMBER} +{NUMBER}\] +output \[" + rf"{NUMBER} *" * 4 + r"\]")
    page.says("1.649/2.649 = {:.3f} on tea, {:.3f} on pot", *tea[:2])
    page.says("{0:.3f}·(1,1,0,0) + {1:.3f}·(1,0,1,0) = ({2:.0f}, {3:.3f}, {4:.3f}, {5:.0f})", *tea[:6])
    page.says("7.389/8.389 = {:.3f} on tea, {:.3f} on pot", *tea[6:8])
    page.says("{0:.3f}·(2,0,0,0) + {1:.3f}·(0,0,2,2) = ({2:.3f}, {3:.0f}, {4:.3f}, {5:.3f})", *tea[6:])
    page.says(
        "the merged row was ({:.0f}, {:.3f}, {:.3f}, {:.0f}, {:.3f}, {:.0f}, {:.3f}, {:.3f})", *tea[2:6], *tea[8:]
    )
    page.says(
        "the weights {:.3f} and {:.3f} for everything", *page.numbers("cell-012", rf"columns: \[{NUMBER} {NUMBER}\]")
    )


def splitting(page: Page) -> None:
    page.given(
        "T = 3 tokens and D = 6", "24 is token 2, feature 4", "of width K = 3. Which numbers", because="the example"
    )
    page.given(
        "should head 0 hold",
        "Head 0 must hold features 0–2 of every token",
        "A's head 0 holds all features of token 0 and half of token 1",
        because="by hand",
    )
    first = page.numbers("cell-016", r"B, head 0\n \[\[ *(\d+) +(\d+) +(\d+)\]\n +\[ *(\d+) +(\d+) +(\d+)\]")
    page.says("0 1 2 / 10 11 12 / 20 21 22", holds=first == [0, 1, 2, 10, 11, 12])
    page.given("same row of 18 numbers", "mixes token 0 with the first half of token 1", because="by hand")
    page.given("Row 0 of the faulty merge holds tokens 0 and 1", "[head 0 | head 1 |", because="by hand")
    merged_wrong = page.numbers("cell-020", r"\[\[ *(\d+) +(\d+) +(\d+) +(\d+)")
    page.says(
        "The round trip must give back the array",
        holds=["trip: True" in page.output("cell-020"), merged_wrong[3] == 10],
    )
    page.given("be (1, 2, 0, 0, 1, 0, −1, 0)", because="the example")
    parts = page.numbers("cell-022", rf"'{NUMBER}'")
    page.says("Head 0: 1 + 2·0.622 = {:.3f} (with unrounded weights)", parts[0])
    page.says("Head 1: 1.762 − 0.238 = {:.3f}", parts[1])
    page.says("Sum: {:.3f} .", page.number("cell-022", rf"W_O +: {NUMBER}"))


def three_ways_timed(page: Page) -> None:
    page.given("H goes from 1 to 32 with D = 256", "cost 2·T²·(H·K) = 2·T²·D", because="by hand")
    page.given("five fastest of 25 calls", because="how the cell measures")
    rows = [page.numbers("a8752da0", name + r" +([\d.]+)" * 6) for name in ("by_loop", "by_reshape", "by_einsum")]
    page.says("From 8 heads on all three get slower.", holds=[row[3] < row[4] < row[5] for row in rows])
    apart = [max(column) - min(column) for column in zip(*rows, strict=True)]
    page.says("lie within {:.1f} milliseconds of each other up to 8 heads", max(apart[:4]))
    page.says(
        "With 32 heads the loop takes {:.1f}, the reshape {:.1f} and the einsum {:.1f} milliseconds",
        *(row[-1] for row in rows),
    )


def parameters(page: Page) -> None:
    page.given(
        "eight heads of width 64 for D = 512", "K = 16 and 32 with eight heads", because="cited: Vaswani et al. 2017"
    )
    page.given("D = 512, H = 8, with biases", "paper's layer have (K = 64)?", because="a question")
    page.given(
        "3 · 512·512 = 786,432 | 3 · 512·4,096 = 6,291,456", "3 · 512 = 1,536 | 3 · 4,096 = 12,288", because="by hand"
    )
    page.given("512·512 = 262,144 | 4,096·512 = 2,097,152", "| 512 | 512 |", because="by hand")
    keras_counts = page.numbers("cell-031", r"Keras ([\d,]+), by hand ([\d,]+)")
    page.says("| {:,.0f} | {:,.0f} |", keras_counts[0], keras_counts[2], holds=keras_counts[::2] == keras_counts[1::2])
    page.says("Eight times as many", holds=round(keras_counts[2] / keras_counts[0]) == 8)
    page.given("narrowest head, K = 1", because="an example")
    page.given(
        "H = 1, 4, 8, 16, 32 at the same cost. One head was 0.9 BLEU worse",
        "32 heads were worse than 8 or 16",
        "the base model with H = 8",
        because="cited: Vaswani et al. 2017, table 3",
    )
    page.given('"The original Transformer has 12 heads with D = 768; GPT-3 has 12 heads."', because="a mistake, quoted")
    page.given(
        "768 and 12 are BERT-base",
        "D = 512 and 8 heads (K = 64)",
        "(175B) has 96 heads of width 128",
        "Two smaller models do have 12 heads and D = 768",
        because="cited: the papers of the models",
    )


def masks_and_keras(page: Page) -> None:
    page.given("| (B, 1, 1, S) |", "| (B, 1, T, S) |", "B = 2, T = S = 4, and H = 2", because="by definition")
    page.given(
        "(2, 4, 4) is read",
        "head 0 gets the mask of sentence 0 and head 1 the mask of sentence 1",
        "With H = 3",
        because="by definition",
    )
    right_padding, wrong_padding, right_words, wrong_words = page.numbers("cell-035", r": ([\d.]+)")
    page.says(
        "head 0 of the second sentence attends to padding, "
        "and head 1 of the first sentence is cut off from its last two words",
        holds=[right_padding == 0 < wrong_padding, wrong_words == 0 < right_words],
    )
    even = page.numbers("cell-037", r"1e9 +: \[([\d.]+) ([\d.]+) ([\d.]+)\]")
    page.says(
        "Equal weights or zero weights: both are finite",
        holds=[even == [0.333] * 3, "[0. 0. 0.]" in page.output("cell-037")],
    )
    page.given(
        "D = 6, H = 2, `key_dim=5`",
        "kernel (6, 2, 5), bias (2, 5)",
        "kernel (6, 2, 7), bias (2, 7)",
        "kernel (2, 7, 6), bias (6,)",
        "version 3 of section 6",
        because="by definition",
    )
    shapes = page.numbers("cell-039", r"\((\d), (\d), (\d)\)")
    page.says(
        "The heads have an axis of their own", holds=[shapes[:3] == [6, 2, 5], "Keras: True" in page.output("cell-039")]
    )
    off, masked_off = page.numbers("cell-043", r"off by ([\d.]+)")
    page.says("keys and values change places, which moves the output by up to {:.0f}", off)
    lost = "all: True" in page.output("cell-043")
    page.says("and the mask is lost, which moves it by up to {:.0f}", masked_off, holds=lost)


def table_task(page: Page) -> None:
    page.given("6 + 6 + 6 + 1 = 19 columns", "embedding to D = 16", because="the sizes of the model")
    page.given(
        "| 1 × 16 |", "| 1 × 64 |", "| 2 × 8 |", "| 4 × 4 |", "| 1 × 16, two layers", because="the sizes of the model"
    )
    page.given("(0 is perfect; 0.5 is the flat line of section 1)", because="by definition")
    solved = page.numbers("cell-049", r"solved by (\d) of 5")
    limited = page.numbers("cell-049", r"section 1: (\d) of 5")
    single, wide, two, four, twice = solved
    page.says(
        "One head never solves it. Every seed lands on the line of section 1", holds=[single == 0, limited[0] == 5]
    )
    page.says("gains nothing", holds=[wide == 0, limited[1] == 5])
    page.says("Two heads , with exactly as many parameters as one head, solve it with every seed", holds=two == 5)
    page.says("Four heads of width 4 solve it as well", holds=four == 5)
    page.says("One head, twice solves it too", holds=twice == 5)
    counts = page.numbers("cell-047", r"([\d,]+) parameters")
    page.says("has about four times the parameters", holds=round(counts[1] / counts[0]) == 4)
    page.says("with exactly as many parameters as one head", holds=counts[2] == counts[0] == counts[3])
    page.says(
        "One-head models lie on the dotted line where the two shares sum to 1, at its ends; the others lie at zero",
        holds=[limited[:2] == [5, 5], solved[2:5] == [5, 5, 5]],
    )


def jobs_and_ablation(page: Page) -> None:
    page.given(
        "one head is near 1 for above and the other near 1 for wanted", because="the numbers in the figure's cells"
    )
    page.given("One head: one of the two columns is near 1.", because="the numbers in the figure's cells")
    left = page.numbers("cell-047", r"twice.*seed: \[" + r" *([\d.]+)" * 5)
    page.says("In seed {:.0f} the two layers share both jobs", left.index(max(left)))
    page.says("this is the seed that leaves {:.0f} % unexplained", 100 * max(left))
    page.given(
        "one error of 1 or more and one near 0", "about 1, sometimes more", because="the numbers in the figure's cells"
    )
    page.given("about 20 % of the heads", "about 40 % of BERT's", because="cited: Michel et al. 2019")


def two_matrices(page: Page) -> None:
    page.given("the 19 columns of a token", "has 16 blocks", because="the sizes of the model")
    page.given("matrix of 19 by 19 and one of 19 by 2", because="the sizes of the model")
    page.given('The row "number" holds 1 for the head\'s own question and 0', because="the answer; the figure shows it")
    page.says("these matrices are the whole model", holds="False" not in page.output("a326fe90"))
    page.says("matrices of rank at most K", holds=page.numbers("a326fe90", r"W_K\^T: (\d+)") == [8, 8])
    page.given("the 6 × 6 block", "the other 325 entries", because="by hand: 19² − 6²")
    blocks = page.numbers("7ab94fdc", r"block +([\d.]+)%")
    page.says("In each of the ten heads at least {:.1f} % of the sum", min(blocks), holds=len(blocks) == 10)
    copied = page.numbers("7ab94fdc", r"copied to \[([\d.]+) +([\d.]+) *\]")
    own, other = sorted(copied)[10:], sorted(copied)[:10]
    page.says("with a factor of {:.2f} or {:.2f}", min(own), max(own), holds=max(other) == 0 and set(own) == {1, 1.01})
    left = page.numbers("7ab94fdc", r"alone: ([\d.]+) and ([\d.]+)")
    page.says("at most {:.1f} % is unexplained", 100 * max(left))
    jobs = page.output("7ab94fdc")
    page.says("In head 0 the only strong block", holds="seed 0, head 0: wanted" in jobs)
    page.says("In head 1 it has positions as rows", holds="seed 0, head 1: above" in jobs)
    page.says(
        "is strong for one answer: wanted in head 0, above in head 1",
        holds=["head 0: wanted block  98.9%; number copied to [0. 1.]" in jobs, copied[2:4] == [1, 0]],
    )
    page.given("2·L·G·K numbers", because="a formula")


def shared_keys(page: Page) -> None:
    page.given("G = 1 (Shazeer 2019)", "section 4)", because="a definition")
    page.given("96 layers and 96 heads of width 128, and reads 2,048 tokens", because="cited: Brown et al. 2020")
    sizes = page.numbers("848f2643", r"cache +([\d.]+) GB")
    page.says("2 · 96 · 96 · 128 · 2,048 numbers of two bytes are {:.2f} GB", sizes[0])
    page.given("How large would it be with 8 key heads", "so 8 key heads need 8/96 of it", because="by hand")
    page.says("8/96 of it, {:.2f} GB, and one needs {:.2f} GB", *sizes[1:])
    same = page.numbers("e0ee07a3", r"G = (\d) equals section 6 with .*: True")
    page.says("With G = H it is multi-head attention", holds=same[0] == 8)
    page.says("it is multi-head attention in which some heads have the same", holds=same == [8, 4, 1])
    page.given(
        "2,048 stored keys and values", "with 96 queries", "96 products with one.", because="sizes of the measurement"
    )
    steps = page.numbers("848f2643", r"one step +([\d.]+) ms")
    page.says("One step takes {:.1f} ms with 96 key heads, {:.1f} ms with 8 and {:.1f} ms with one", *steps)
    shared = page.numbers("c24dab3c", r"([\d.]+)(?: parameters|[\]\s])")
    page.says("It can, with every seed", holds=[len(shared) == 6, max(shared[1:]) < 0.005])
    page.given("section 10 once more, now with one key head of width 8", because="sizes of the model")
    page.given("A model with H = 32 and G = 8 gets G = 4", because="a question")


def mistakes_and_questions(page: Page) -> None:
    sizes = page.numbers("cell-061", r"(?m)(\d\.\d+)$")
    page.says("The smallest deviation is the one that is hardest to notice", holds=sizes[0] == min(sizes) < max(sizes))
    page.given("D = 512 and H goes from 8 to 16", '"head 3" of one run', '"head 3" of another', because="a question")
    page.given(
        "To (B, 1, 1, S)",
        "for B = 1 and not otherwise",
        "Masks need an axis for the heads: (B, 1, T, S)",
        because="by definition",
    )
    page.given(
        "the checked lines then count to 2 instead of 5",
        "raise `ROWS` to 12, the tables to 100,000, and D to 64",
        because="advice",
    )
    page.given("their unexplained shares sum to 1", because="the proof of section 1")


def two_heads_asked_by_pot(page: Page) -> None:
    page.says('the weights are those of "tea" again: {:.3f} on itself.', math.e**0.5 / (math.e**0.5 + 1))
    page.says("e⁴ = 54.6, and 54.6/55.6 = {:.3f} is on itself.", math.exp(4) / (math.exp(4) + 1))
    page.given(
        "Head 0: pot·pot = 2, pot·tea = 1",
        "Head 1: pot·pot = 8, pot·tea = 0; divided by 2: 4 and 0.",
        because="by hand",
    )

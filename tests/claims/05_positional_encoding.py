"""What lecture 5 says of its numbers."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

BY_HAND = "calculated by hand on the page"
READ_OFF = "read off the stored figure; no cell prints it yet"
DEFINED = "chosen or defined, not measured"
METHODS = ("none", "learned", "sinusoidal", "rotary", "ALiBi")


def claims(page) -> None:
    givens(page)
    order_of_two_words(page)
    waves(page)
    live_figure(page)
    read_out(page)
    factor(page)
    beyond_training(page)
    windows(page)
    padding(page)


def order_of_two_words(page) -> None:
    page.given(
        "Without positions it stays at 0.5.",
        "Exactly 0.5, on any test set made of twins, whatever the weights are.",
        because="follows from the invariance of the pooled output",
    )
    page.given("With learned or sinusoidal positions it rises above 0.9 within a few epochs.", because=READ_OFF)
    sentence, twin = page.numbers("96e3b21b", r"positions: none +P\(dog first\) = ([\d.]+) for the sentence, ([\d.]+)")
    page.says(
        "Without positions sentence and twin get the same probability, as they must.",
        holds=[sentence == twin, sentence < 0.6],
    )
    sentence, twin = page.numbers(
        "96e3b21b", r"positions: learned +P\(dog first\) = ([\d.]+) for the sentence, ([\d.]+)"
    )
    page.says(
        "With positions the model tells them apart.", holds=0.9 < abs(sentence - twin) <= max(sentence, twin) <= 1
    )


def waves(page) -> None:
    row = page.numbers("54deafb2", r"\[ (0\.841) +([\d.]+) +([\d.]+) +([\d.]+) *\]")
    page.says("Row 1 is ({:.3f}, {:.3f}, {:.3f}, {:.3f}), as in your table.", *row)
    longest = page.number("6f306ac5", r"last: ([\d.]+)")
    page.says(
        "a straight line from 6 to {:,.0f} that crosses 128 positions between pairs 10 and 11",
        longest,
        holds=[
            round(page.numbers("6f306ac5", r"first three: \[ *([\d.]+)")[0]) == 6,
            page.number("6f306ac5", r"within 128 positions: (\d+) of") == 11,  # pairs 0 to 10
        ],
    )
    page.says(
        "The longest wave, {:,.0f}, is a quarter shorter than 2π·10000 = 62,832",
        longest,
        holds=abs(longest / (2e4 * np.pi) - 0.75) < 0.01,
    )
    page.says(
        "Sines and cosines lie between −1 and 1 already",
        holds=page.numbers("6f306ac5", r"smallest and largest entry: (-?[\d.]+) (-?[\d.]+)") == [-1, 1],
    )
    near = page.numbers("8cdfafd5", r"40: \[([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+) *\]")
    page.says("(a) D/2 = {:.0f}: every cosine is 1.", near[0])
    page.says("All positions have the same length √{:.0f} = {:.2f}.", near[0], near[0] ** 0.5)
    page.says(
        "constant along diagonals and largest, {:.0f}, on the main diagonal", near[0], holds=near == sorted(near)[::-1]
    )
    page.says("(section 4: {:.1f} against {:.0f})", near[1], near[0])
    sizes = page.numbers("a3edcd58", r"and +\d+ numbers appended: ([\d,]+) weights")
    page.says(
        "with D = 512 and P = 64 the three projections $W_q$, $W_k$, $W_v$ of every block grow by an eighth",
        holds=sizes[1] / sizes[0] == 1 + 1 / 8,
    )
    dots = page.numbers("8caffbac", r"key \(1, 0\) at +\d+: dot product +(-?[\d.]+)")
    page.says("−0.416 both times.", holds=[round(dot, 3) == -0.416 for dot in dots])
    other = page.numbers("8caffbac", r"key \(0, 1\) at +\d+: dot product +(-?[\d.]+)")
    page.says(
        "sin(3 − 1) = {:.3f} for the key two places before the query, and sin(1 − 3) = −{:.3f}", other[0], -other[2]
    )


def read_out(page) -> None:
    row = r"D = +(\d+), noise: word ([\d.]+), position ([\d.]+), position or a neighbour ([\d.]+)"
    table = np.array(page.numbers("5a84ace2", row)).reshape(-1, 4)
    waves = {int(width): shares for width, *shares in table}  # word, place, place or a neighbour
    free, noisy, random = page.numbers("5a84ace2", r"D = 128: position ([\d.]+), largest")
    largest = page.numbers("5a84ace2", r"largest weight of the read-out ([\d,.]+)")[0]
    page.says(
        "At D = 128 its largest weight is then above four million, and it finds every position.",
        holds=[largest > 4e6, free == 1],
    )
    page.says(
        "Not reliably at any of these widths: from 128 to 256 the curve no longer rises.",
        holds=[max(share[1] for share in waves.values()) < 0.75, waves[256][1] <= waves[128][1] + 0.02],
    )
    page.given(
        "the exact position is found from D = 64 on.",
        "Random position vectors with the same noise reach 1 at width 64.",
        because=READ_OFF,
    )
    page.says(
        "Sinusoidal positions without noise reach 1 at width 128; with noise they stay near 0.6.",
        holds=[
            free == 1,
            noisy == waves[128][1],
            all(abs(waves[width][1] - 0.6) < 0.12 for width in (64, 128, 256)),
        ],
    )
    found = [waves[width][0] > 0.98 for width in (32, 64, 128, 256)]
    page.says("The word is found in nearly all sums from width 32 on.", holds=[*found, waves[16][0] < 0.98])
    page.says("The word is found from D = 32 on.", holds=found)
    page.says(
        "With noise, the sinusoidal position or one of its neighbours is found from D = 64 on.",
        holds=[waves[width][2] > 0.98 for width in (64, 128, 256)],
    )
    page.says("Random position vectors, in the same sums with the same noise, are read exactly.", holds=random == 1)


def factor(page) -> None:
    page.given(
        "Without the factor, cat, dog and man at the same place have cosine almost 1: the words do not matter.",
        "With the factor the same three pairs are clearly below 1.",
        'On the left "cat @0", "dog @0" and "man @0" are one and the same vector to two digits',
        because="written into the cells of the stored figure",
    )
    lengths = page.numbers("840964d3", r"(?m)^ +64 +([\d.]+) +([\d.]+) +[\d.]+ +([\d.]+)")
    page.says(
        "entries with standard deviation 1/√D give vectors of length about 1, and the Keras default (uniform between "
        "−0.05 and 0.05) less still",
        holds=[lengths[2] == 1, lengths[1] < lengths[2] < lengths[0]],
    )


def beyond_training(page) -> None:
    shares = {  # at places 0-31, 32-63, 64-159; one run for each method
        method: page.numbers("3f5b37e1", rf"(?m)^{method} +([\d.]+) +([\d.]+) +([\d.]+)$") for method in METHODS
    }
    within, near, far = ({method: shares[method][part] for method in METHODS} for part in range(3))
    own_token = 0.3 + 0.7 / 8
    page.says(
        "Learned and sinusoidal are near 1 up to 32 and fall steeply behind it.",
        holds=[within[method] > 0.95 and near[method] < 0.6 for method in ("learned", "sinusoidal")],
    )
    page.says("ALiBi stays near 1 to the end.", holds=far["ALiBi"] > 0.93)
    page.says(
        "Without positions the accuracy starts below the others and falls slowly.",
        holds=[
            within["none"] < min(within[method] for method in METHODS[1:]),
            within["none"] > near["none"] > far["none"],
        ],
    )
    names = ("ALiBi", "none", "sinusoidal", "rotary", "learned")
    page.says(
        "Your order, beyond 64: ALiBi {:.2f}, none {:.2f}, sinusoidal {:.2f}, rotary {:.2f}, learned {:.2f}.",
        *(far[method] for method in names),
        holds=[far[one] > far[other] for one, other in pairwise(names)],
    )
    page.says(
        "One run per method cannot rank values as close as {:.2f}, {:.2f} and {:.2f}",
        *(far[method] for method in names[1:4]),
    )
    page.says(
        "none names about two letters in three within the training length.", holds=abs(within["none"] - 0.65) < 0.05
    )
    page.says(
        "beyond the training length it loses less than three of the other four",
        holds=sum(within[other] - far[other] > within["none"] - far["none"] for other in METHODS[1:]) == 3,
    )
    page.says(
        "learned falls at once, below the no-memory line: rows 32 to 159 still hold their random starting values",
        holds=[near["learned"] < own_token, far["learned"] < own_token],
    )
    page.says("sinusoidal falls almost as steeply.", holds=0 < near["sinusoidal"] - near["learned"] < 0.25)
    page.says(
        "rotary holds on for some places and then falls too, to below the no-memory line",
        holds=[near["rotary"] > near["sinusoidal"], far["rotary"] < own_token],
    )
    page.says("ALiBi keeps its accuracy.", holds=far["ALiBi"] > 0.93)
    page.given("A line at 0.39 marks a model that looks at its own token only.", because=BY_HAND)
    page.given("The line at 0.3 + 0.7/8 = 0.39 belongs to a model that names a letter", because=BY_HAND)


def windows(page) -> None:
    row = r"(?m)^{} +last +{}, first {} keys +([\d.]+) +([\d.]+) +([\d.]+)$"
    rotary = {
        seen: page.numbers("f44e48de", row.format("rotary", *seen)) for seen in ((160, 0), (32, 0), (8, 0), (28, 4))
    }
    none = {seen: page.numbers("f44e48de", row.format("none", *seen)) for seen in ((160, 0), (32, 0), (8, 0), (28, 4))}
    reach = page.numbers("f44e48de", r"can hold something of (\d+) tokens")
    page.says("{:.0f}, {:.0f} and {:.0f}. Each further block reaches", reach[0], reach[1], reach[3])
    page.given("W − 1 = 7 tokens further back", because=BY_HAND)
    page.says(
        "Rotary recovers completely. The model without positions gets better as well, and the most with the shortest "
        "window.",
        holds=[
            min(rotary[32, 0]) > 0.98,
            none[160, 0][2] < none[32, 0][2] < none[8, 0][2],
        ],
    )
    page.says(
        "Without the far keys the rotary model names {:.2f} of the letters between 64 and 159, in place of {:.2f}.",
        rotary[32, 0][2],
        rotary[160, 0][2],
    )
    page.says(
        "Four far keys among 32 are enough for the harm between 32 and 63: {:.2f}, as with all keys.",
        rotary[28, 4][1],
        holds=[abs(rotary[28, 4][1] - rotary[160, 0][1]) < 0.02, rotary[32, 0][1] > rotary[28, 4][1] + 0.3],
    )
    page.says("A shorter window is not better", holds=rotary[8, 0][2] < rotary[32, 0][2])
    page.says(
        "The model without positions rises from {:.2f} to {:.2f} with a window of 8.", none[160, 0][2], none[8, 0][2]
    )
    page.says(
        "The same four hurt our rotary model: {:.2f} in place of {:.2f}.",
        rotary[28, 4][2],
        rotary[32, 0][2],
    )
    divided = page.numbers("f44e48de", r"(?m)^rotary +positions divided by 5 +([\d.]+) +([\d.]+) +([\d.]+)$")
    page.says(
        "The last line has {:.2f} beyond 64, with up to 160 keys: their number is not the cause. The price is {:.2f} "
        "in place of {:.2f} within 32 places.",
        divided[2],
        divided[0],
        rotary[160, 0][0],
        holds=[divided[2] > rotary[160, 0][2] + 0.3, divided[2] > divided[0] - 0.05, divided[0] < rotary[160, 0][0]],
    )
    page.given("divides the positions by 5, so that no distance exceeds 32", because=BY_HAND)
    page.given(
        "Mistral 7B, Jiang et al., 2023, with windows of 4,096)",
        "Softmax weights must sum to 1",
        "W = 8. From how many tokens",
        "For our rotary model a window of 32",
        "One line keeps 28 recent and 4 first keys: these are 32 too",
        "recover beyond place 32?",
        because=DEFINED,
    )


def padding(page) -> None:
    row = r"places +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+)"
    short = page.numbers("3f28fa6a", rf"trained on 32 {row}")
    roomy = page.numbers("3f28fa6a", rf"trained on 64 {row}")
    page.says(
        "The first model loses as soon as words reach rows that training never reached "
        "(why it is better again at 32, we did not test).",
        holds=[share < short[0] - 0.1 for share in short[1:]] + [short[4] > short[3] + 0.1],
    )
    page.says(
        "{:.2f} to {:.2f}, wherever the text begins.", min(roomy), max(roomy), holds=max(roomy) - min(roomy) < 0.05
    )
    page.says("Only the first. Moving words costs this model nothing", holds=min(roomy) > roomy[0] - 0.03)


def givens(page) -> None:
    page.given(
        "| none | – | 0 |",
        "| 0 | its dot products do",
        "every layer | 0 | scores do",
        "on the scores | 0 | yes",
        because=DEFINED,
    )
    page.given("Time: about 90 minutes to read and predict;", because="counted by tests/test_lectures.py")
    page.given("2 × 2 matrices. Time: about", because="a prerequisite")
    page.given(
        "minutes to read and predict; the code runs in about two minutes on two CPU cores.",
        because="counted in words, and measured when the page was run",
    )
    page.given(
        "row 2 may see row 1 but not the other way round",
        'A sentence of 12 tokens contains "dog" (token 2) and "man" (token 3) exactly once each',
        "accuracy exactly 0.5 on questions about order",
        "(If both probabilities are 0.5 up to rounding, the measured accuracy may differ from 0.5",
        because="follows from the definition",
    )
    page.given(
        "at p = 500 it is 500 times as large as a word's features",
        "p/T, between 0 and 1",
        "0.2 for T = 5, 0.01 for T = 100",
        "from 7 = 0111 to 8 = 1000 all four digits flip",
        "(columns 2i and 2i + 1) turns with the angular frequency",
        "For D = 4 there are two pairs. ω₀ = 1/10000⁰ = 1 and ω₁ = 1/10000^(2/4) = 1/100.",
        "it is 2 i over D",
        "sin(p/100) | cos(p/100)",
        "because the last exponent is (D − 2)/D, not 1",
        "PE[p, 2i] = \\sin",
        "PE[p, 2i+1] = \\cos",
        "\\frac{1}{10000^{2i/D}}",
        "\\sum_{i=0}^{D/2-1}",
        "scaled into [−1, 1]",
        "| 0 | 0 | 1 | 0 | 1 | | 1 | 0.841 | 0.540 | 0.010 | 1.000 | | 2 | 0.909 | −0.416 | 0.020 | 1.000 |",
        "By hand for ω = 1, p = 1, k = 1: the point (cos 1, sin 1) = (0.540, 0.841).",
        "0.540·0.540 − 0.841·0.841 = −0.416.",
        "0.841·0.540 + 0.540·0.841 = 0.909. That is row p = 2",
        "with ω = 1, a query (1, 0) at position 3 and a key (1, 0) at position 1. Turned by 3 and by 1 radians "
        "they are "
        "(cos 3, sin 3) = (−0.990, 0.141) and (cos 1, sin 1) = (0.540, 0.841).",
        "−0.990·0.540 + 0.141·0.841 = −0.416 = cos 2 = cos(3 − 1)",
        "the angle between the two is still 2 radians",
        "In the second it is −2, and cos(−2) = cos 2",
        "With the key (0, 1) the same steps give",
        "the query at position 53, the key at 51?",
        "And the query at 1, the key at 3?",
        "The slowest pair turns after 2π·56 positions in place of 2π·3162",
        "All pairs turn at speed 1; 16 columns hold the "
        "information of two, and positions 0 and 44 (7·2π = 43.98) are nearly equal.",
        "`2 i // D` is 0 for every pair",
        "Position 1 and position −1 differ in sign only",
        "1, 10000^(−2/6) = 0.0464, 10000^(−4/6) = 0.00215.",
        "512·768 = 393,216; none; none; none",
        "one frequency per pair, 10000^(−2i/D)",
        "m = 2^(−8h/H), h = 1 … H",
        "with B = 2 and T = 5 the second line is an error",
        because=BY_HAND,
    )
    page.given(
        "the binary digits of 0 to 15",
        "hardly change over 128 positions",
        "so slow that 128 positions see only their "
        "beginning: the sine columns stay near 0 and the cosine columns near 1",
        "Left: sine columns over 128 positions. Pair 0 "
        "oscillates twenty times, pair 8 twice, pair 16 rises and bends, pair 31 stays near 0.",
        "a 128 by 128 map",
        "What is PE[p]·PE[p], for D = 64?",
        "tell 3 before from 3 after",
        "with positions 0 to 6 as points. On the first the points run nearly once round the circle, on the second they "
        "cover less than a third of it, on the third a tenth. On each, two arrows inside the circle, from 0 "
        "to 2 and from "
        "3 to 5, turn by the same angle.",
        "PE[p] M = PE[p + 3] for all p",
        "D = 8: what will M look like?",
        "An 8 by 8 matrix. Only four 2 by 2 blocks on the diagonal are not zero; each is a rotation, by 3 radians",
        "is there one matrix that shifts all rows by 3?",
        "of 60 positions by 16 columns",
        "D = 16; one of them is",
        "Two 9 by 9 maps",
        "between 12 position vectors",
        "Four 48 by 48 maps",
        "D = 6. What are",
        because="says what is drawn or asked",
    )
    page.given(
        "We add random word vectors (50 words) and position vectors (50 places)",
        "half of the 2,500 sums",
        "noise with a standard deviation of 0.01 to each number",
        "from which width on does a linear layer find the exact position, 32, 128, or never? And if the 50 places",
        "against width 4 to 256",
        "many more words and places than 50",
        "nothing tells a layer that 4 lies between 3 and 5",
        "A sinusoidal position has length √(D/2)",
        "BERT and GPT-2",
        "looked up with 0, 1, 2, …",
        "word number 57",
        "column 2i of a neighbour pair is the real part and column 2i + 1 the imaginary part",
        "columns i and D/2 + i",
        "some are one of 8 letters",
        "They train on sequences of length 32 and are tested on length 160",
        "for positions 32 to 159",
        "training length 32",
        "read the same 32 tokens",
        "One model was trained on 32 places",
        "it was trained on 64 places",
        "same word would hand over something else at place 3 than at place 50",
        "test on 100 sequences in place of 300. Do not train for fewer than 10 epochs",
        "to 1,024 and",
        "and `TRAINED` to 128.",
        "What does the 2 × 2 block of a shift by k = 0 look like?",
        "512 places and D = 768",
        because=DEFINED,
    )


def live_figure(page) -> None:
    page.given(
        "The offset stays 3.", "moves from 20 to 50?", "at offset 0 when D is 8?", because="the controls of the figure"
    )
    page.given("At offset 0 every cosine is 1, so D = 8 gives 4.", because=BY_HAND)

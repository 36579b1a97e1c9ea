"""Lab 10, exercise `train_bpe`."""

from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import pairwise

from autograder.declare import Case, Exercise, edit, instead
from exercises.drawing import drawn_until
from exercises.language_model.shared import FORBIDDEN_BYTE_PAIRS, OVERLAPS_MERGED, drawn_chunks, learned

exercise = Exercise("train_bpe", own_probe=True, forbidden=FORBIDDEN_BYTE_PAIRS)


@exercise.formula
def train_bpe(chunks: dict[str, int], num_merges: int) -> dict[str, str]:
    """The merges as text."""
    return {"merges": str(learned(chunks, num_merges))}


def counted_once(chunks: dict[str, int], num_merges: int) -> dict[str, str]:
    """The most frequent pairs of the bytes, which are never counted again."""
    counts: Counter = Counter()
    for chunk, number in chunks.items():
        for pair in pairwise(chunk.encode()):
            counts[pair] += number
    return {"merges": str(sorted(counts, key=lambda pair: (-counts[pair], pair))[:num_merges])}


def one_text(chunks: dict[str, int], num_merges: int) -> dict[str, str]:
    """The chunks joined to one text, each as often as it occurs."""
    return {"merges": str(learned({"".join(chunk * number for chunk, number in chunks.items()): 1}, num_merges))}


ALWAYS = {"one_too_few", "second_stays", "nothing_joined", "ids_from_257", "ids_from_255", "over_the_ends"}


def _shown_by(chunks: dict[str, int], num_merges: int) -> set[str]:
    """The mistakes that change the merges of these chunks, without those that do so wherever pairs are left."""
    case = Case({"chunks": chunks, "num_merges": num_merges})
    right = train_bpe(**case.inputs)
    return {id for id in exercise.named_mistakes if id not in ALWAYS and exercise.mistaken_results(case, id) != right}


def _case(draw: Callable[[], dict[str, int]], num_merges: int, text: str, shows: set[str]) -> Case:
    """Chunks that show these mistakes and no others, so that marks do not depend on the seed."""
    chunks = drawn_until(lambda drawn: _shown_by(drawn, num_merges) == shows, draw)
    return Case({"chunks": chunks, "num_merges": num_merges}, text)


@exercise.group(
    "the most frequent pair, again and again", points=2, must_fail_for=("chunk_counted_once", "stale_counts")
)
def counts(rng):
    shows = {"chunk_counted_once", "stale_counts"}
    yield _case(partial(drawn_chunks, rng, "abcd", 6), 5, "six chunks, five merges", shows)
    yield _case(partial(drawn_chunks, rng, "efghi", 9), 7, "nine chunks, seven merges", shows)


@exercise.group("ties", must_fail_for=("larger_of_ties", "first_seen", "ids_from_257"))
def ties(rng):
    def alike() -> dict[str, int]:
        return dict.fromkeys(drawn_chunks(rng, "abcdef", 6), 3)

    shows = {"larger_of_ties", "first_seen", "stale_counts"}
    yield _case(alike, 4, "six chunks, each three times, four merges", shows)
    yield _case(alike, 6, "six chunks, each three times, six merges", shows)


@exercise.group("runs, bytes, and nothing left", must_fail_for=("overlaps_merged", "characters"))
def edges(rng):
    def runs() -> dict[str, int]:
        often, seldom = int(rng.integers(9, 11)), int(rng.integers(3, 6))
        return {"aaa": int(rng.integers(5, 8)), "ba": often, "aaaaa": 2, "cba": seldom}

    def accents() -> dict[str, int]:
        return {"é" + chunk: number for chunk, number in drawn_chunks(rng, "éabö", 4).items()}

    def two_pairs() -> dict[str, int]:
        return {"ab": int(rng.integers(2, 9)), "abc": 1, "d": 5}

    def one_pair() -> dict[str, int]:
        return {"ab": int(rng.integers(2, 9)), "c": 3}

    yield _case(runs, 4, "runs of one letter", {"overlaps_merged", "stale_counts", "once_in_a_chunk"})
    yield _case(accents, 5, "letters of two bytes", {"characters", "stale_counts"})
    yield _case(
        two_pairs,
        9,
        "nine merges asked for, and only two are there",
        {"stale_counts", "seldom_pairs_left", "one_kind_left"},
    )
    yield _case(one_pair, 3, "one pair, which stands more than once", {"one_kind_left"})


exercise.mistakes(
    chunk_counted_once=edit("counts[pair] += chunks[chunk]", "counts[pair] += 1", see="10#byte-pairs")
    | "Each chunk counts once, however often it occurs. A pair should count as often as its chunks do."
    | "What do the values of `chunks` say?",
    stale_counts=instead(counted_once, see="10#byte-pairs")
    | "The pairs are counted once, at the beginning. Each merge changes the pairs: count again."
    | "After (l, f) has become 257, how often does (e, l) occur in “self”?",
    overlaps_merged=OVERLAPS_MERGED,
    larger_of_ties=edit("(-counts[pair], pair)", "(-counts[pair], -pair[0], -pair[1])")
    | "Of equally frequent pairs the larger one is taken. Take the smaller one."
    | "`max` with the key (count, pair) prefers the larger pair. Which sign turns one of the two around?",
    first_seen=edit("(-counts[pair], pair)", "-counts[pair]")
    | "Of equally frequent pairs the one seen first is taken. Take the smaller one, so that everybody learns the same "
    "merges.",
    characters=edit("list(chunk.encode())", "[ord(letter) for letter in chunk]", see="10#byte-pairs")
    | "The chunks are read as characters. The ids 0 to 255 are bytes: `chunk.encode()`.",
    one_too_few=edit("range(256, 256 + num_merges)", "range(256, 255 + num_merges)")
    | "The last merge is missing: `num_merges` are asked for.",
    once_in_a_chunk=edit("for pair in pairwise(ids):", "for pair in set(pairwise(ids)):")
    | "A pair that stands more than once in a chunk counts too seldom. “aaa” holds (a, a) twice: every place should "
    "count, also where two of them overlap.",
    seldom_pairs_left=edit("if not counts:", "if not counts or max(counts.values()) < 2:")
    | "The list ends when no pair occurs twice. A pair that occurs once should be merged too."
    | "“abc” stands once. Which merges are left when nothing else is?",
    one_kind_left=edit("if not counts:", "if len(counts) < 2:")
    | "The list ends when one kind of pair is left. This pair should be merged too; it ends when none is left."
    | "What are the merges of {“ab”: 3}?",
    second_stays=edit("place and place - 1 == first", "False")
    | "The second token of a merged pair stays: after the new id, go on behind both."
    | "What becomes of [1, 2, 3] when (1, 2) is merged to 256? It has two ids.",
    nothing_joined=edit("joined(ids, best, new)", "ids")
    | "The same pair is found again and again: it is not replaced in the chunks before the next count."
    | "After a merge, print the ids of one chunk that holds the pair.",
    ids_from_257=edit("joined(ids, best, new)", "joined(ids, best, new + 1)")
    | "The new ids begin at 257. Merge number 0 should make the id 256.",
    ids_from_255=edit("joined(ids, best, new)", "joined(ids, best, new - 1)")
    | "The new ids begin at 255, which is a byte. Merge number 0 should make the id 256.",
    over_the_ends=instead(one_text, see="10#byte-pairs")
    | "Pairs reach over the end of a chunk. Count and merge in each chunk on its own.",
)

exercise.advice(
    counts="Count all pairs, take the best, replace it in every chunk, and count again.",
    ties="Of equally frequent pairs take the smaller one; Python compares tuples from the left.",
    edges="“aaa” holds (a, a) twice. “é” is two bytes. A pair that occurs once is merged too, and when no pair is "
    "left the list ends early.",
)
exercise.hints(
    counts=(
        "Do one merge on paper: {“self”: 2, “set”: 1}. Which pairs are there, and how often?",
        "`min(counts, key=lambda pair: (-counts[pair], pair))` is the most frequent pair, and of ties the smaller.",
    )
)

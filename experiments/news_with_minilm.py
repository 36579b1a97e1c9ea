"""A published BERT on AG News, and where its knowledge lies: MiniLM frozen, its table alone, tuned, and from scratch.

    python experiments/news_with_minilm.py --data FOLDER --kinds counted,table,frozen     # some of KINDS, or all

All models read the same 240 labelled texts of a draw and the same first 3,000 test texts, so their answers are compared
text by text. Ten draws for what is cheap; one for what trains the network (`--draws`). The head on vectors and the
counted models choose C by cross-validation on the labelled texts. Rates and epochs were set beforehand, not searched,
but for the two networks from scratch: they train until they fit their texts. Vectors and answers stay in `--work`, so a
run can be broken off and taken up with the same command. Each kind that is done is written at once; what the record has
of kinds whose answers are not in `--work` stays.

`prompted` asks SmolLM2, a chat model, for the class: without an example, with sixteen of the labelled texts in the
prompt (more do not fit), and with these and a constant for each class that the 240 labelled texts choose.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated

import keras
import numpy as np
import tensorflow as tf
import typer
from bert_ag_news import LSA_WIDTH, on_vectors
from records import DataOrFetched, Out, Record
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from coursekit import data
from coursekit.lecture import recorded
from coursekit.lecture.pages.difference_interval import difference_interval
from coursekit.lecture.pages.news_classifier import (
    PlainBertBlock,
    PlainLowRank,
    PlainNewsBert,
    fine_tune,
    in_batches,
    table_means,
)
from coursekit.lecture.pages.smollm2 import PlainSmolLM2, numbers_and_tokens
from coursekit.published import SentenceEncoder, load_published

NAME = "news_with_minilm"
LABELS, MANY, TESTS, LONGEST, DRAWS = 240, 10_000, 3_000, 128, 10
RANK = 4
CHEAP = ("words", "words and pairs", "table", "frozen")
# What stands for the table of pieces: its rows moved to other pieces, or random directions of the same lengths.
OTHER_TABLES = ("table with rows moved", "table with random directions")
CONTROLS = ("LSA", "no blocks", *OTHER_TABLES, "table of labelled pieces", "shuffled throughout")
# Networks that train on one draw: largest rate, epochs.
TRAINED = {
    "fine-tuned": (1e-4, 8), "LoRA": (2e-3, 8), "scratch": (3e-4, 12), "scratch on the table": (3e-4, 12),
}  # fmt: skip
MANY_PLAN = (1e-4, 1)
LEFT = ("by_word", "by_position", "first_norm")  # of the published encoder, without its blocks
QUESTION = "Is this news item about {}? Answer with one of these words.\n\n{}"
SHOWN, AT_ONCE = 16, 128  # texts in SmolLM2's prompt, tokens that it reads at once
KINDS = (
    "counted",
    "table",
    "frozen",
    "shuffled",
    *CONTROLS,
    *TRAINED,
    "many",
    "many LSA",
    "many frozen",
    "many fine-tuned",
    "prompted",
)
PAIRS = (
    ("frozen", "words"), ("frozen", "words and pairs"), ("table", "words"), ("frozen", "table"),
    ("fine-tuned", "frozen"), ("LoRA", "frozen"), ("words", "scratch"), ("scratch on the table", "scratch"),
    ("fine-tuned", "scratch on the table"), ("frozen", "shuffled"), ("table", "scratch on the table"),
    ("scratch on the table", "words"), ("LSA", "words"), ("frozen", "LSA"), ("table", "LSA"), ("no blocks", "words"),
    ("no blocks", "table"), ("frozen", "no blocks"), ("shuffled", "no blocks"), ("shuffled", "table"),
    ("frozen", "shuffled throughout"), ("shuffled throughout", "no blocks"), ("shuffled throughout", "table"),
    *(("table", other) for other in (*OTHER_TABLES, "table of labelled pieces")),
    *(("words", other) for other in OTHER_TABLES),
)  # fmt: skip


def counted(longest: int, y: np.ndarray) -> GridSearchCV:
    """TF-IDF of words, or of words and their neighbours; logistic regression, C by cross-validation."""
    vectors = TfidfVectorizer(ngram_range=(1, longest), sublinear_tf=True, min_df=1 if len(y) < 1_000 else 2)
    model = make_pipeline(vectors, OneVsRestClassifier(LogisticRegression(solver="liblinear")))
    return GridSearchCV(model, {"onevsrestclassifier__estimator__C": [1, 10, 100]}, cv=3)


def shuffled(text: str, rng: np.random.Generator) -> str:
    """The same words in another order."""
    return " ".join(rng.permutation(text.split()))


def without_blocks(encoder: SentenceEncoder) -> PlainNewsBert:
    """The lecture's model without any block: table, positions and first norm stay, and so do [CLS] and [SEP]."""
    return PlainNewsBert(SimpleNamespace(**{name: getattr(encoder, name) for name in LEFT}, blocks=[]))


def other_table(table: np.ndarray, kind: str, seed: int) -> np.ndarray:
    """A table (V, D) that knows nothing of its pieces: each has the row of another one, or a random direction."""
    rng = np.random.default_rng(seed)
    if kind == "table with rows moved":
        return table[rng.permutation(len(table))]
    drawn = rng.normal(size=table.shape).astype("float32")
    return drawn * (np.linalg.norm(table, axis=1) / np.linalg.norm(drawn, axis=1))[:, None]


def means_of_known(table: np.ndarray, rows: list[list[int]], known: set[int]) -> np.ndarray:
    """`table_means`, but a text's pieces that are not in `known` are left out; nothing is left: zeros."""
    kept = [[row[0], *(each for each in row[1:-1] if each in known), row[-1]] for row in rows]
    means = np.zeros((len(rows), table.shape[1]), "float32")
    some = [number for number, row in enumerate(kept) if len(row) > 2]
    means[some] = table_means(table, [kept[number] for number in some])
    return means


def begin_again(model: PlainNewsBert, seed: int, *, keeps_table: bool) -> None:
    """Fresh numbers as BERT's were (Devlin et al. 2019): normal with 0.02, scales 1, shifts 0; the table may stay."""
    rng = np.random.default_rng(seed)
    for weight in model.weights:
        if weight is model.words and keeps_table:
            continue
        kind = weight.path.rsplit("/", 1)[-1]
        if kind == "gamma":
            weight.assign(np.ones(weight.shape))
        elif kind in ("beta", "bias"):
            weight.assign(np.zeros(weight.shape))
        else:
            weight.assign(0.02 * np.clip(rng.normal(size=weight.shape), -2, 2))


def adapt_by_low_rank(model: PlainNewsBert, rank: int) -> None:
    """Queries and values learn by low-rank products, and the head learns; all else stays.

    Keras's own `enable_lora` does not do this to a layer of several heads: it splits the width of a head, and its A has
    H times as many numbers.
    """
    for weight in model.weights:
        weight.trainable = False
    model.head.trainable = True
    for weight in model.head.weights:
        weight.trainable = True
    for block in model.blocks:
        attention = block.attention
        attention._tracker.unlock()  # as Keras does for its own
        for part in ("_query_dense", "_value_dense"):
            setattr(attention, part, PlainLowRank(getattr(attention, part), rank))
        attention._tracker.lock()


class NarrowTable:
    """A table (V, D) that reads all tokens and predicts a few of them."""

    def __init__(self, table: np.ndarray, predicted: list[int]):
        self.table, self.T = table, table[predicted].T

    def __getitem__(self, ids: np.ndarray) -> np.ndarray:
        return self.table[ids]


class Study:
    """The texts, what MiniLM reads of them, and the record."""

    def __init__(self, source: str, folder: Path | None, out: Path, work: Path):
        self.source, self.work = source, work
        (train, self.y), (test, y_test) = data.news(source=source, path=folder)
        self.train, self.test, self.y_test = np.array(train, object), np.array(test[:TESTS], object), y_test[:TESTS]
        self.whole = len(train)
        self.record = Record(
            NAME,
            "News with MiniLM: frozen, its word table alone, shuffled, fine-tuned and from scratch; counted words",
            f"AG News (Zhang et al., 2015): {LABELS} of 10,000 training texts in each draw, the first {TESTS:,} "
            "test texts; the course's sample",
            out,
            command=f"python experiments/{NAME}.py --data FOLDER",
        )
        self.results = self.record.results.setdefault(source, {})
        self.before, self.lsa = self.record.seconds, None
        encoder = load_published(PlainBertBlock, "minilm")
        self.pieces, self.model, self.bare = encoder.pieces, PlainNewsBert(encoder), without_blocks(encoder)
        self.model(np.ones((1, 2), "int32"))  # now its head has weights

    def cut(self, texts: Iterable[str]) -> list[list[int]]:
        return [self.pieces.encode(text, LONGEST) for text in texts]

    def kept(self, name: str, make: Callable[[], np.ndarray]) -> np.ndarray:
        """An array that is made once and stays in the folder of work."""
        path = self.work / f"{self.source}-{name.replace(' ', '-')}.npy"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            np.save(path, make())
        return np.load(path)

    def vectors(self, name: str, texts: Iterable[str]) -> np.ndarray:
        read = tf.function(self.model.vectors, input_signature=[tf.TensorSpec((None, None), tf.int32)])
        return self.kept(f"vectors-{name}", lambda: in_batches(read, self.cut(texts)))

    def no_blocks(self, name: str, texts: Iterable[str]) -> np.ndarray:
        read = tf.function(self.bare.vectors, input_signature=[tf.TensorSpec((None, None), tf.int32)])
        return self.kept(f"no-blocks-{name}", lambda: in_batches(read, self.cut(texts)))

    def latent(self, name: str, texts: Iterable[str]) -> np.ndarray:
        """LSA's vectors of texts, made from all training texts without their labels."""
        if self.lsa is None:
            reduced = TruncatedSVD(LSA_WIDTH, random_state=0)
            self.lsa = make_pipeline(TfidfVectorizer(sublinear_tf=True), reduced, Normalizer()).fit(self.train)
        return self.kept(f"lsa-{name}", lambda: self.lsa.transform(texts))

    def table(self, name: str, texts: Iterable[str]) -> np.ndarray:
        words = np.asarray(self.model.words)
        return self.kept(f"table-{name}", lambda: table_means(words, self.cut(texts)))

    def rows(self, draw: int) -> np.ndarray:
        """The labelled texts of a draw: those of lecture 7's other experiments."""
        return np.random.default_rng(draw).permutation(self.whole)[:LABELS]

    def used(self) -> np.ndarray:
        """All texts that a draw uses; the vectors of no others are needed for 240 labels."""
        return np.unique(np.concatenate([self.rows(draw) for draw in range(DRAWS)]))

    def answers(self, kind: str, draws: int) -> list[np.ndarray]:
        """The answers of a linear model to the test texts, for each draw."""
        if kind in ("words", "words and pairs"):
            longest, x, x_test = len(kind.split()) // 2 + 1, self.train, self.test
            fits = [counted(longest, self.y[rows]).fit(x[rows], self.y[rows]) for rows in map(self.rows, range(draws))]
        elif kind.startswith("table "):
            return self.answers_of_other_table(kind, draws)
        else:
            used = self.used()
            place = {number: at for at, number in enumerate(used.tolist())}
            if kind == "shuffled throughout":
                x = self.vectors("drawn shuffled", self.in_disorder(self.train[used], 1))
            else:
                x = self.source_of(kind)("drawn", self.train[used])
            in_order = not kind.startswith("shuffled")
            x_test = (
                self.source_of(kind)("test", self.test) if in_order else self.vectors("shuffled", self.in_disorder())
            )
            fits = [on_vectors(x[[place[row] for row in rows]], self.y[rows]) for rows in map(self.rows, range(draws))]
        self.results.setdefault("C", {})[kind] = [float(next(iter(fit.best_params_.values()))) for fit in fits]
        return [fit.predict(x_test) for fit in fits]

    def source_of(self, kind: str) -> Callable[[str, Iterable[str]], np.ndarray]:
        return {"table": self.table, "no blocks": self.no_blocks, "LSA": self.latent}.get(kind, self.vectors)

    def answers_of_other_table(self, kind: str, draws: int) -> list[np.ndarray]:
        """As `answers`, with means of a table that differs in each draw."""
        table, test, found = np.asarray(self.model.words), self.cut(self.test), []
        for draw in range(draws):
            rows, labelled = self.rows(draw), self.cut(self.train[self.rows(draw)])
            if kind in OTHER_TABLES:
                other = other_table(table, kind, draw)
                x, x_test = table_means(other, labelled), table_means(other, test)
            else:
                known = {piece for row in labelled for piece in row}
                x, x_test = table_means(table, labelled), means_of_known(table, test, known)
            found.append(on_vectors(x, self.y[rows]).predict(x_test))
        return found

    def in_disorder(self, texts: Iterable[str] | None = None, seed: int = 0) -> list[str]:
        """The test texts, or others, with their words in another order."""
        rng = np.random.default_rng(seed)
        return [shuffled(text, rng) for text in (self.test if texts is None else texts)]

    def train_on(self, kind: str, draw: int) -> None:
        """Train the network on one draw, and note its answers to the test texts, in order and shuffled."""
        rate, epochs = TRAINED[kind]
        keras.utils.set_random_seed(draw)
        model = PlainNewsBert(load_published(PlainBertBlock, "minilm"))
        model(np.ones((1, 2), "int32"))
        if kind.startswith("scratch"):
            begin_again(model, draw, keeps_table="table" in kind)
        if kind == "LoRA":
            adapt_by_low_rank(model, RANK)
        rows, begun = self.rows(draw), time.process_time()
        cut = self.cut(self.train[rows])
        fine_tune(model, cut, self.y[rows], rate, epochs, seed=draw)
        read = tf.function(model, input_signature=[tf.TensorSpec((None, None), tf.int32)])
        training = float(np.mean(in_batches(read, cut).argmax(1) == self.y[rows]))
        learned = sum(int(np.prod(weight.shape)) for weight in model.trainable_weights)
        run = {"draw": draw, "rate": rate, "epochs": epochs, "training": round(training, 4), "learned": learned}
        run["training seconds"] = round(time.process_time() - begun, 1)
        print(kind, run, flush=True)
        tests = {"": self.test} | ({" shuffled": self.in_disorder()} if kind == "fine-tuned" else {})
        for what, texts in tests.items():
            self.kept(f"answers-{kind}{what}-{draw}", lambda texts=texts: in_batches(read, self.cut(texts)).argmax(1))
        self.results.setdefault("runs", {}).setdefault(kind, []).append(run)

    def all_answers(self, kind: str) -> list[np.ndarray]:
        """What is there of a kind's answers, by draw; those of the cheap ones are there for all draws."""
        paths = sorted(self.work.glob(f"{self.source}-answers-{kind.replace(' ', '-')}-[0-9].npy"))
        return [np.load(path) for path in paths]

    def save(self, new: str = "") -> None:
        """Write accuracies, and the paired differences of all kinds that have answers to the same draws.

        Args:
            new: the kind that was run; differences that it has no part in stay as they are.
        """
        known = {*CHEAP, "shuffled", *CONTROLS, *TRAINED, "fine-tuned shuffled"}
        found = {kind: answers for kind in sorted(known) if (answers := self.all_answers(kind))}
        correct = {kind: np.array([each == self.y_test for each in answers]) for kind, answers in found.items()}
        shares = {kind: [round(float(run.mean()), 4) for run in runs] for kind, runs in correct.items()}
        self.results["test"] = self.results.get("test", {}) | shares
        pairs = self.results.setdefault("pairs", [])
        for first, second in PAIRS:
            asked = not new or new in (first, second) or (new == "counted" and "words" in first + second)
            if asked and first in correct and second in correct:
                draws = min(len(correct[first]), len(correct[second]))
                one, two = correct[first][:draws], correct[second][:draws]
                seen = difference_interval(one, two, np.arange(len(self.y_test)), 1_000)
                names = {"first": first, "second": second, "draws": draws}
                spread = dict(zip(("difference", "low", "high"), (round(float(each), 4) for each in seen), strict=True))
                pairs[:] = [each for each in pairs if (each["first"], each["second"]) != (first, second)]
                pairs.append(names | spread)
        changed = self.results.setdefault("changed by shuffling", {})
        for kind, moved in (("frozen", "shuffled"), ("fine-tuned", "fine-tuned shuffled")):
            if {kind, moved} <= found.keys():
                both = zip(found[kind], found[moved], strict=False)
                changed[kind] = [round(float(np.mean(a != b)), 4) for a, b in both]
        self.results |= {"labels": LABELS, "tests": len(self.y_test), "longest": LONGEST}
        self.record.results["processor seconds"] = round(self.before + time.process_time(), 1)
        self.record.save(self.record.results["processor seconds"])

    def many(self, kinds: tuple[str, ...]) -> None:
        """10,000 labels: counting, the table's means, LSA, the frozen vectors (four minutes); one fit each."""
        rows = np.random.default_rng(0).permutation(self.whole)[:MANY]
        y, found = self.y[rows], self.results.setdefault("10,000 labels", {})
        for kind in kinds:
            if kind == "words":
                said = counted(1, y).fit(self.train[rows], y).predict(self.test)
            else:
                source = self.source_of(kind)
                said = on_vectors(source("many", self.train[rows]), y).predict(source("test", self.test))
            self.kept(f"many-{kind}", lambda said=said: said)
            found[kind] = round(float(np.mean(said == self.y_test)), 4)
            print(kind, found[kind], flush=True)

    def tune_many(self, seed: int) -> None:
        """Fine-tuning on 10,000 labels: about a quarter of an hour for each epoch."""
        rate, epochs = MANY_PLAN
        keras.utils.set_random_seed(seed)
        model = PlainNewsBert(load_published(PlainBertBlock, "minilm"))
        model(np.ones((1, 2), "int32"))
        rows = np.random.default_rng(seed).permutation(self.whole)[:MANY]
        fine_tune(model, self.cut(self.train[rows]), self.y[rows], rate, epochs, 32, seed)
        read = tf.function(model, input_signature=[tf.TensorSpec((None, None), tf.int32)])
        right = np.mean(in_batches(read, self.cut(self.test)).argmax(1) == self.y_test)
        self.results.setdefault("fine-tuned on 10,000", []).append(round(float(right), 4))

    def prompt(self, asked: int) -> None:
        """SmolLM2 reads a question about each test text; its answer is the likeliest of the classes' first tokens."""
        numbers, tokens = numbers_and_tokens()
        rows, firsts = self.rows(0), [tokens.encode(name)[0] for name in data.NEWS_CLASSES]
        model = PlainSmolLM2(numbers | {"table": NarrowTable(numbers["table"], firsts)})
        listed = f"{', '.join(data.NEWS_CLASSES[:-1])} or {data.NEWS_CLASSES[-1]}"
        chosen = np.sort(np.concatenate([rows[self.y[rows] == label][: SHOWN // 4] for label in range(4)]))
        turns = [(QUESTION.format(listed, self.train[row]), data.NEWS_CLASSES[self.y[row]]) for row in chosen]

        def scores(shown: list[tuple[str, str]], texts: Iterable[str]) -> np.ndarray:
            prompts = [tokens.chat(QUESTION.format(listed, text), shown) for text in texts]
            same = min(map(len, prompts)) - 1  # what all prompts begin with is read once
            while any(prompt[:same] != prompts[0][:same] for prompt in prompts):
                same -= 1
            cache = None
            for begin in range(0, same, AT_ONCE):
                _, cache = model(np.array([prompts[0][begin : min(same, begin + AT_ONCE)]]), cache)
            return np.stack([model(np.array([prompt[same:]]), cache)[0][0, -1] for prompt in prompts])

        y, others = self.y_test[:asked], np.setdiff1d(rows, chosen)  # no text is both shown and asked
        found = self.results.setdefault("prompted", {"shown": len(chosen), "tests": len(y)})
        plain = self.kept(f"prompted-plain-{asked}", lambda: scores([], self.test[:asked]))  # (tests, 4)
        found["no text shown"] = round(float(np.mean(plain.argmax(1) == y)), 4)
        shown = self.kept(f"prompted-shown-{asked}", lambda: scores(turns, self.test[:asked]))
        found["texts shown"] = round(float(np.mean(shown.argmax(1) == y)), 4)
        found["answers"] = np.bincount(shown.argmax(1), minlength=4).tolist()
        self.save()
        labelled = self.kept("prompted-labelled", lambda: scores(turns, self.train[others]))
        shift = np.zeros(4)
        for _ in range(200):  # until each class is answered as often as it is among the labelled texts
            wanted, said = (np.bincount(each, minlength=4) for each in (self.y[others], (labelled + shift).argmax(1)))
            shift += 0.02 * np.sign(wanted - said)
        found["texts shown, evened out"] = round(float(np.mean((shown + shift).argmax(1) == y)), 4)
        found["labelled texts"] = len(others)


def main(
    folder: DataOrFetched = None,
    out: Out = recorded.FOLDER,
    work: Annotated[Path, typer.Option(help="Folder of vectors and answers.")] = Path("build") / NAME,
    source: Annotated[str, typer.Option(help="real or sample")] = "real",
    kinds: Annotated[str, typer.Option(help="What is run, with commas between.")] = ",".join(KINDS),
    draws: Annotated[int, typer.Option(help="Draws on which networks train.")] = 1,
    asked: Annotated[int, typer.Option(help="Test texts for SmolLM2.")] = 300,
) -> None:
    """Run the kinds that are named, and write the record after each."""
    study = Study(source, folder, out, work)
    for kind in kinds.split(","):
        if kind in TRAINED:
            for draw in range(draws):
                if not (work / f"{source}-answers-{kind.replace(' ', '-')}-{draw}.npy").exists():
                    study.train_on(kind, draw)
        elif kind == "prompted":
            study.prompt(asked)
        elif kind == "many":
            study.many(("words", "table"))
        elif kind in ("many LSA", "many frozen"):
            study.many((kind.removeprefix("many "),))
        elif kind == "many fine-tuned":
            for seed in range(draws):
                study.tune_many(seed)
        else:
            for each in ("words", "words and pairs") if kind == "counted" else (kind,):
                for draw, said in enumerate(study.answers(each, DRAWS)):
                    study.kept(f"answers-{each}-{draw}", lambda said=said: said)
        study.save(kind)
        print(kind, study.results["test"].get(kind), flush=True)


if __name__ == "__main__":
    typer.run(main)

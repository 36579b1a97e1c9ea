"""From a model that continues to one that answers: fine-tuning, rewards that a program gives, preferences, LoRA.

    python experiments/assistant.py start       # store the model that the others begin with in 8 bits
    python experiments/assistant.py tuned       # fine-tune it on functions; two controls
    python experiments/assistant.py heeded      # what real bodies cost behind first lines that are not theirs
    python experiments/assistant.py rewarded    # rewards, without and with a price or shared points
    python experiments/assistant.py filtered    # fine-tuned again on those of its own answers that parse
    python experiments/assistant.py sharpened   # rewarded for parameters that are read: one draw against sixteen
    python experiments/assistant.py preferred   # DPO on pairs of its own answers
    python experiments/assistant.py lora        # low-rank matrices in attention, or in all seven matrices

Each command adds to `coursekit/lecture/recorded/assistant.json`, which lecture 10b shows. A run that is recorded
already is not repeated; fine-tuned weights are kept in `build/assistant`, and made again where they are missing.
"""

from __future__ import annotations

import ast
import functools
import importlib.util
import math
import platform
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import keras
import numpy as np
import typer
from library_language_model import text_of
from records import Out, Record

from coursekit import data
from coursekit.lecture import recorded
from coursekit.lecture.pages import assistant
from coursekit.lecture.pages.answering import log_probabilities, parses, preference_loss, reads_a_parameter
from coursekit.lecture.pages.assistant import Functions, History, Writer, WrittenAnswer, plain_body, short_functions
from coursekit.lecture.pages.byte_pairs import PlainBytePairs
from coursekit.lecture.pages.language_model import PlainLanguageModel
from coursekit.lecture.pages.training import held_out_bits
from coursekit.lecture.pages.windows import BATCH, LENGTH

NAME = "assistant"
ROOT = Path(__file__).resolve().parents[1]
WORK = ROOT / "build" / "assistant"
TUNED_STEPS, REWARD_STEPS, PAIR_STEPS = 96, 50, 80
TEMPERATURE, TOP_P = 0.7, 0.9  # of the answers that are judged
WATCHED = 256  # windows of held-out text on which a stored model is judged
REAL = 240  # real functions whose answers' surprise is measured
DRAWS, SAMPLED = 16, 90  # one draw against sixteen, for so many first lines with a name of their own
AT_ONCE = 128  # answers drawn side by side
WATCH_KL = 5  # steps from one measurement of the KL divergence to the next
RANK, LORA_RATE = 4, 3e-3
BETA_PAIRS, PAIR_BATCH, PAIR_PROMPTS, WATCHED_PAIRS = 0.1, 16, 160, 64
ATTENTION = ("w_q", "w_k", "w_v", "w_o")
TRIVIAL = {"pass", "...", "return", "return None"}

Seeds = Annotated[str, typer.Option(help="The seeds, with commas between them.")]
app = typer.Typer(add_completion=False, help=__doc__)


def half_and_half(prompt: str, body: str) -> float:
    """Half a point for what parses, half for what reads a parameter."""
    return 0.5 * parses(prompt, body) + 0.5 * reads_a_parameter(prompt, body)


def reads_its_own(prompt: str, body: str) -> float:
    """A point for what parses and reads a parameter that is neither self nor cls."""
    return float(parses(prompt, body) and reads(body, own_names(prompt)))


REWARDS: dict[str, dict[str, Any]] = {  # how each training by rewards differs
    "parses": {"reward": parses},
    "parses, no step without a difference": {"reward": parses, "skip_equal": True},
    "parses, KL .05": {"reward": parses, "beta": 0.05},
    "half and half": {"reward": half_and_half},
    "half and half, KL .05": {"reward": half_and_half, "beta": 0.05},
    "half and half, shared": {"reward": half_and_half, "shared": True},
    "half and half, shared, KL .05": {"reward": half_and_half, "beta": 0.05, "shared": True},
    "its own names": {"reward": reads_its_own},  # from first lines that have some
}


@functools.cache
def material() -> tuple[Any, PlainLanguageModel, Functions, Functions]:
    """The tokens, the stored model, short functions to learn from and held-out ones."""
    pairs, model = assistant.stored_writer()
    (train_texts, _), (held_out, _) = data.library_functions()
    return pairs, model, short_functions(train_texts, pairs), short_functions(held_out, pairs)


def take_up(out: Path) -> Record:
    """The record in a folder, or an empty one."""
    return Record(
        NAME,
        "A model of Python source that learns to answer: fine-tuning, rewards, preferences, LoRA",
        f"Functions of the standard library of Python {platform.python_version()} (PSF licence)",
        out,
        device=f"CPU, {platform.machine()}, one thread of two shared cores; seconds are processor seconds",
        command=f"python experiments/{NAME}.py tuned",
        seed=1,
    )


def results_so_far(out: Path) -> dict[str, Any]:
    """What the record holds, or an empty one."""
    return take_up(out).results


def save(results: dict[str, Any], out: Path) -> None:
    """Write the record; its seconds are those of all parts."""
    record = take_up(out)
    record.results = results
    record.save(sum(run["seconds"] for part in results.values() for run in part.get("runs", [])))


def own_names(prompt: str) -> set[str]:
    """The parameters of a first line, but self and cls."""
    function = ast.parse(prompt + " pass").body[0]
    return {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)} - {"self", "cls"}


def reads(body: str, names: set[str]) -> bool:
    """Whether a body reads one of the names; one that does not parse reads nothing."""
    if not names or not parses("def f():", body):
        return False
    tree = ast.parse("def f():" + body)
    return any(
        isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in names for node in ast.walk(tree)
    )


def described(answers: Sequence[WrittenAnswer]) -> dict[str, Any]:
    """What a set of answers is like, in shares of all of them."""
    bodies = Counter(plain_body(answer) for answer in answers)
    shapes = Counter(assistant.shape_of(answer.body) for answer in answers)
    owners = [(answer, names) for answer in answers if (names := own_names(answer.prompt))]
    others = [names for _, names in owners[1:] + owners[:1]]  # the next first line's
    fair = [(answer, own, other - own) for (answer, own), other in zip(owners, others, strict=True) if other - own]
    fine = [answer.ended and bool(parses(answer.prompt, answer.body)) for answer in answers]
    (body, times), (shape, of_shape) = bodies.most_common(1)[0], shapes.most_common(1)[0]
    return {
        "answers": len(answers),
        "ended": share([answer.ended for answer in answers]),
        "parse": share(fine),
        "parse of ended": share([good for good, answer in zip(fine, answers, strict=True) if answer.ended]),
        "trivial": share([plain_body(answer) in TRIVIAL for answer in answers]),
        "tokens": round(float(np.mean([len(answer.ids) for answer in answers])), 1),
        "distinct": round(len(bodies) / len(answers), 3),
        "commonest": [body[:60], round(times / len(answers), 3)],
        "commonest shape": [shape[:60], round(of_shape / len(answers), 3)],
        "with parameters": len(fair),
        "reads its own": share([answer.ended and reads(answer.body, own) for answer, own, _ in fair]),
        "reads another's": share([answer.ended and reads(answer.body, other) for answer, _, other in fair]),
    }


def share(values: Sequence[bool]) -> float:
    """How many are true, as a share."""
    return round(float(np.mean(values)), 3) if values else 0.0


def surprise(model: PlainLanguageModel, swapped: int | None = None) -> float:
    """Nats a token of the answers of held-out functions; with a seed, behind first lines dealt out at random."""
    pairs, _, _, held_out = material()
    if swapped is not None:
        order = np.random.default_rng(swapped).permutation(len(held_out.prompts))
        held_out = Functions([held_out.prompts[place] for place in order], held_out.bodies)
    rows, mask = assistant.rows_of(held_out, pairs, np.arange(min(REAL, len(held_out.prompts))))
    total = sum(
        float(np.sum(np.asarray(log_probabilities(model, rows[i : i + 40])) * mask[i : i + 40]))
        for i in range(0, len(rows), 40)
    )
    return round(-total / float(mask.sum()), 3)


def judged(model: PlainLanguageModel, draw: Writer, seed: int) -> tuple[dict[str, Any], list[WrittenAnswer]]:
    """What a model writes behind the first lines of held-out functions, and what real ones cost it."""
    answers = draw(material()[3].prompts, temperature=TEMPERATURE, p=TOP_P, seed=seed)
    return described(answers) | {"nats an answer token": surprise(model)}, answers


def examples(answers: Sequence[WrittenAnswer]) -> list[str]:
    """A few of them, as text."""
    return [answer.prompt + answer.body + ("" if answer.ended else "…") for answer in answers[:8]]


def apart(model: PlainLanguageModel, reference: PlainLanguageModel, rows: np.ndarray, mask: np.ndarray) -> float:
    """The KL divergence from the reference, in nats a token, over the tokens of answers that the model has drawn."""
    new, old = (keras.ops.log_softmax(each(rows[:, :-1])) for each in (model, reference))  # (B, T, V)
    gaps = np.asarray(keras.ops.sum(keras.ops.exp(new) * (new - old), axis=-1))
    return round(float((gaps * mask).sum() / mask.sum()), 3)


def done(part: dict[str, Any], **what: Any) -> bool:
    """Whether a part has this run."""
    return any(what.items() <= run.items() for run in part["runs"])


@app.command()
def start(out: Out = recorded.FOLDER) -> None:
    """Store lecture 10's longer trained model, which the web site has in 16 bits, in 8 bits."""
    results, text, began = results_so_far(out), text_of(), time.process_time()
    site = importlib.util.spec_from_file_location("library_model", ROOT / "site" / "library_model.py")
    module = importlib.util.module_from_spec(site)
    site.loader.exec_module(module)
    model, told = module.load()
    assistant.store(model, PlainBytePairs.of([(int(one), int(two)) for one, two in told["merges"]]))
    pairs, stored = assistant.stored_writer()
    stream = pairs.stream(text.held_out)
    bits = [held_out_bits(each, stream, pairs.token_bytes, WATCHED) for each in (model, stored)]
    results["start"] = {
        "steps": module.STEPS,
        "tokens": module.STEPS * BATCH * LENGTH,
        "parameters": model.count_params(),
        "bits a byte, 16 and 8 bits": [round(value, 4) for value in bits],
        "bytes": assistant.FILE.stat().st_size,
        "runs": [{"seconds": round(time.process_time() - began)}],
    }
    print(results["start"], flush=True)
    save(results, out)


def tuned_model(seed: int) -> PlainLanguageModel:
    """The model of a seed that is fine-tuned on answers; its weights stay in `build/assistant`."""
    model, path = assistant.copied(material()[1]), WORK / f"tuned_{seed}.weights.h5"
    if path.is_file():
        model.load_weights(path)
        return model
    model, _ = fitted("answers", seed)
    WORK.mkdir(parents=True, exist_ok=True)
    model.save_weights(path)
    return model


def fitted(way: str, seed: int) -> tuple[PlainLanguageModel, list[float]]:
    """The first model after one pass: over the answers, whole rows, or rows cut anywhere; and the loss of each step."""
    pairs, first, functions, _ = material()
    model = assistant.copied(first)
    keras.utils.set_random_seed(seed)
    batches = assistant.batches_of(functions, pairs, TUNED_STEPS, seed=seed)
    if way == "anywhere":
        batches = cut_anywhere(batches, seed)
    elif way == "everything":
        batches = [(rows, np.maximum.accumulate(mask[:, ::-1], axis=1)[:, ::-1]) for rows, mask in batches]
    losses: list[float] = []
    assistant.fine_tune(model, batches, watch=lambda step, loss: losses.append(loss))
    return model, losses


@app.command()
def tuned(seeds: Seeds = "1,2,3", ways: str = "start,answers,anywhere,everything", out: Out = recorded.FOLDER) -> None:
    """Fine-tune on answers. Controls: as many rows of the same length cut anywhere; the loss on prompts as well."""
    results = results_so_far(out)
    pairs, first, functions, held_out = material()
    part = results.setdefault("tuned", {"steps": TUNED_STEPS, "runs": []})
    part["functions"] = [len(functions.prompts), len(held_out.prompts)]
    for way in ways.split(","):
        for seed in map(int, seeds.split(",")):
            if done(part, way=way, seed=seed):
                continue
            began, losses = time.process_time(), []
            model = first
            if way == "answers":
                model = tuned_model(seed)
            elif way != "start":
                model, losses = fitted(way, seed)
            found, answers = judged(model, Writer(model, pairs), seed)
            run = {"way": way, "seed": seed} | found
            if losses:
                run["loss"] = [round(float(np.mean(some)), 3) for some in (losses[:10], losses[-10:])]
            run |= {"examples": examples(answers) if seed == 1 else [], "seconds": round(time.process_time() - began)}
            part["runs"].append(run)
            tell(run)
            save(results, out)


@app.command()
def heeded(seeds: Seeds = "1,2,3", out: Out = recorded.FOLDER) -> None:
    """What real bodies cost behind their own first lines and behind those of others, before and after fine-tuning."""
    results = results_so_far(out)
    part = results.setdefault("heeded", {"bodies": REAL, "runs": []})
    for way, seed in [("start", 1), *(("answers", int(seed)) for seed in seeds.split(","))]:
        if done(part, way=way, seed=seed):
            continue
        began = time.process_time()
        model = material()[1] if way == "start" else tuned_model(seed)
        others = [surprise(model, swapped) for swapped in (1, 2, 3)]
        run = {"way": way, "seed": seed, "own": surprise(model), "another's": round(float(np.mean(others)), 3)}
        part["runs"].append(run | {"seconds": round(time.process_time() - began)})
        tell(run)
        save(results, out)


def tell(run: dict[str, Any]) -> None:
    """Print a run without what is long."""
    print({key: value for key, value in run.items() if key not in ("examples", "history")}, flush=True)


def cut_anywhere(batches: list, seed: int) -> list:
    """As many rows of the training text, cut anywhere, each as long as a row's prompt and answer are on average."""
    text = text_of()
    rows = []
    for number, (ids, mask) in enumerate(batches):
        length = round(float(np.mean([row.nonzero()[0].max() + 1 for row in mask])))
        starts = np.random.default_rng(1_000 * seed + number).integers(len(text.stream) - length - 1, size=len(ids))
        cut = text.stream[starts[:, None] + np.arange(length + 1)].astype("int32")
        rows.append((cut, np.ones((len(ids), length), "float32")))
    return rows


@app.command()
def rewarded(
    seeds: Seeds = "1,2,3",
    ways: str = ";".join(way for way in REWARDS if way != "its own names"),
    steps: int = REWARD_STEPS,
    out: Out = recorded.FOLDER,
) -> None:
    """Train by rewards, from the fine-tuned model of the same seed."""
    results = results_so_far(out)
    part = results.setdefault("rewarded", {"steps": REWARD_STEPS, "every": WATCH_KL, "runs": []})
    for way in ways.split(";"):
        for seed in map(int, seeds.split(",")):
            if done(part, way=way, seed=seed):
                continue
            _, run, answers = practised(way, seed, steps)
            part["runs"].append(run | {"examples": examples(answers) if seed == 1 else []})
            tell(run)
            save(results, out)


def practised(way: str, seed: int, steps: int) -> tuple[PlainLanguageModel, dict[str, Any], list[WrittenAnswer]]:
    """A model after so many steps of a reward, what is recorded of it, and its answers to held-out first lines."""
    pairs, _, functions, _ = material()
    model, reference, kl = tuned_model(seed), tuned_model(seed), []
    prompts = functions.prompts
    if way == "its own names":
        prompts = [prompt for prompt in prompts if own_names(prompt)]

    def watch(step: int, history: History, rows: np.ndarray, mask: np.ndarray) -> None:
        if step % WATCH_KL == 0 or step == 1:
            kl.append(apart(model, reference, rows, mask))
        if step % 10 == 0:
            print(way, seed, step, round(history.parse[-1], 2), kl[-1], history.bodies[-1][:2], flush=True)

    began = time.process_time()
    history = assistant.learn_from_reward(model, pairs, prompts, steps=steps, seed=seed, watch=watch, **REWARDS[way])
    found, answers = judged(model, Writer(model, pairs), seed)
    run = {"way": way, "seed": seed} | found | {"history": thin(history) | {"KL": kl}}
    return model, run | {"seconds": round(time.process_time() - began)}, answers


def thin(history: History) -> dict[str, Any]:
    """A history in few digits."""
    found: dict[str, Any] = {
        name: [round(value, 3) for value in getattr(history, name)]
        for name in ("reward", "parse", "same", "length", "distinct")
    }
    found["commonest"] = [[bodies[0][0][:40], bodies[0][1]] for bodies in history.bodies[9::10]]
    return found | {"share of the commonest": [round(bodies[0][1] / 64, 3) for bodies in history.bodies]}


@app.command()
def filtered(seeds: Seeds = "1,2,3", out: Out = recorded.FOLDER) -> None:
    """Expert iteration, one round: an answer to each training prompt, and one pass over those that parse."""
    results = results_so_far(out)
    pairs, _, functions, _ = material()
    part = results.setdefault("filtered", {"rate": assistant.RATE, "runs": []})
    for seed in map(int, seeds.split(",")):
        if done(part, seed=seed):
            continue
        began, model, rng = time.process_time(), tuned_model(seed), np.random.default_rng(seed)
        draw, kept = Writer(model, pairs), []
        prompts = [functions.prompts[place] for place in rng.permutation(len(functions.prompts))]
        for begin in range(0, len(prompts), AT_ONCE):
            answers = draw(prompts[begin : begin + AT_ONCE], seed=1_000 * seed + begin)
            kept += [each for each in answers if each.ended and parses(each.prompt, each.body)]
        batches = [
            assistant.in_rows(pairs.encode([each.prompt for each in some]), [each.ids for each in some], pairs.end_id)
            for some in (kept[begin : begin + 32] for begin in range(0, len(kept), 32))
        ]
        assistant.fine_tune(model, batches, rate=assistant.RATE)
        found, answers = judged(model, draw, seed)
        run = {"seed": seed, "drawn": len(prompts), "kept": len(kept)} | found
        run |= {"examples": examples(answers) if seed == 1 else [], "seconds": round(time.process_time() - began)}
        part["runs"].append(run)
        tell(run)
        save(results, out)


@app.command()
def sharpened(seeds: Seeds = "1,2,3", steps: int = REWARD_STEPS, out: Out = recorded.FOLDER) -> None:
    """Reward a name of its own that is read, then count: how often does one draw read one, how often one of sixteen?"""
    results = results_so_far(out)
    pairs, _, _, held_out = material()
    part = results.setdefault("sharpened", {"draws": DRAWS, "runs": []})
    asked = [prompt for prompt in held_out.prompts if own_names(prompt)]
    asked = [asked[place] for place in np.random.default_rng(0).permutation(len(asked))[:SAMPLED]]
    for seed in map(int, seeds.split(",")):
        if done(part, seed=seed):
            continue
        after, run, answers = practised("its own names", seed, steps)
        began = time.process_time()
        for name, model in (("before", tuned_model(seed)), ("after", after)):
            draw = Writer(model, pairs)
            hits = np.array([own_read(draw, asked, 100 + number) for number in range(DRAWS)])  # (draws, first lines)
            run[name] = {"one draw": share(hits.ravel().tolist()), "one of sixteen": share(hits.any(0).tolist())}
            run[name]["one of"] = {k: one_of(hits, k) for k in (1, 2, 4, 8, 16)}
        run |= {"first lines": len(asked), "seconds": run["seconds"] + round(time.process_time() - began)}
        part["runs"].append(run | {"examples": examples(answers) if seed == 1 else []})
        tell(run)
        save(results, out)


def one_of(hits: np.ndarray, k: int) -> float:
    """How often at least one of k draws hits, over all choices of k among the draws (Chen et al. 2021)."""
    draws, found = len(hits), hits.sum(axis=0)
    return round(float(np.mean([1 - math.comb(draws - int(some), k) / math.comb(draws, k) for some in found])), 3)


def own_read(draw: Writer, asked: Sequence[str], seed: int) -> list[bool]:
    """For each first line whether its answer reads a parameter of its own."""
    answers = draw(asked, temperature=TEMPERATURE, p=TOP_P, seed=seed)
    return [answer.ended and bool(reads_its_own(answer.prompt, answer.body)) for answer in answers]


@app.command()
def preferred(seeds: Seeds = "1,2,3", steps: int = PAIR_STEPS, out: Out = recorded.FOLDER) -> None:
    """DPO on pairs of the fine-tuned model's own answers: one that parses, one that does not."""
    results = results_so_far(out)
    pairs, _, functions, held_out = material()
    part = results.setdefault("preferred", {"steps": steps, "beta": BETA_PAIRS, "runs": []})
    for seed in map(int, seeds.split(",")):
        if done(part, seed=seed):
            continue
        began, model, reference = time.process_time(), tuned_model(seed), tuned_model(seed)
        rng, draw = np.random.default_rng(seed), Writer(model, pairs)
        found = own_pairs(draw, [functions.prompts[i] for i in rng.permutation(len(functions.prompts))], seed)
        step = assistant.learner(
            model.trainable_variables,
            assistant.RATE,
            lambda a, b, c, d, model=model, reference=reference: preference_loss(
                model, reference, (a, b), (c, d), BETA_PAIRS
            ),
        )
        points: list[dict[str, Any]] = []
        losses: list[float] = []
        unseen = own_pairs(draw, held_out.prompts, seed)[:WATCHED_PAIRS]
        probes = {"chosen, rejected": both_sides(found[:WATCHED_PAIRS]), "held out": both_sides(unseen)}
        for number in range(steps + 1):
            if number % 20 == 0:
                answers = draw(held_out.prompts[:160], temperature=TEMPERATURE, p=TOP_P, seed=seed)
                gains = {
                    name: [
                        round(float(np.mean(np.sum((total(model, rows) - total(reference, rows)) * mask, 1))), 2)
                        for rows, mask in probe
                    ]
                    for name, probe in probes.items()
                }
                points.append(
                    {"step": number, "loss": round(float(np.mean(losses[-10:])), 3) if losses else 0.693}
                    | gains
                    | {name: described(answers)[name] for name in ("parse", "tokens", "commonest")}
                )
                print(seed, points[-1], flush=True)
            chosen = [found[i] for i in rng.choice(len(found), PAIR_BATCH, replace=False)]
            (a, b), (c, d) = both_sides(chosen)
            losses.append(step(a, b, c, d))
        run, answers = judged(model, draw, seed)
        lengths = [round(float(np.mean([len(each.ids) for each in side])), 1) for side in zip(*found, strict=True)]
        run = {"seed": seed, "pairs": len(found), "tokens of chosen, rejected": lengths, "points": points} | run
        run |= {"batch": PAIR_BATCH, "pairs watched": [min(WATCHED_PAIRS, len(found)), len(unseen)]}
        run |= {"examples": examples(answers) if seed == 1 else [], "seconds": round(time.process_time() - began)}
        part["runs"].append(run)
        tell(run)
        save(results, out)


def total(model: PlainLanguageModel, rows: np.ndarray) -> np.ndarray:
    """The logarithms of all probabilities of rows."""
    return np.asarray(log_probabilities(model, rows))


def own_pairs(draw: Writer, prompts: Sequence[str], seed: int) -> list[tuple[WrittenAnswer, WrittenAnswer]]:
    """For each first line with both kinds among eight answers: one that parses and one that does not."""
    found = []
    for begin in range(0, min(8 * PAIR_PROMPTS, len(prompts)), PAIR_PROMPTS):
        asked = prompts[begin : begin + PAIR_PROMPTS]
        by_prompt: dict[str, tuple[list, list]] = {prompt: ([], []) for prompt in asked}
        for number in range(4):
            for answer in draw(asked, seed=10_000 * seed + begin + number):
                fine = answer.ended and bool(parses(answer.prompt, answer.body))
                by_prompt[answer.prompt][not fine].append(answer)
        found += [(good[0], bad[0]) for good, bad in by_prompt.values() if good and bad]
        if len(found) >= 300:
            break
    return found


def both_sides(some: Sequence[tuple[WrittenAnswer, WrittenAnswer]]) -> list[tuple[np.ndarray, np.ndarray]]:
    """Rows and masks of the chosen answers and of the rejected ones."""
    pairs = material()[0]
    prompts = pairs.encode([good.prompt for good, _ in some])
    return [
        assistant.in_rows(prompts, [answer.ids for answer in side], pairs.end_id) for side in zip(*some, strict=True)
    ]


@app.command()
def lora(seeds: Seeds = "1", out: Out = recorded.FOLDER) -> None:
    """Fine-tune as `tuned` does, but only thin products beside matrices: of attention, or of all seven a block."""
    results = results_so_far(out)
    pairs, first, functions, _ = material()
    text = text_of()
    part = results.setdefault("lora", {"rank": RANK, "rate": LORA_RATE, "steps": TUNED_STEPS, "runs": []})
    for seed in map(int, seeds.split(",")):
        for way in ("attention", "all seven matrices", "all parameters"):
            if done(part, way=way, seed=seed):
                continue
            began, model = time.process_time(), assistant.copied(first)
            keras.utils.set_random_seed(seed)
            variables = list(model.trainable_variables)
            if way != "all parameters":
                layers = [getattr(block.attention, name) for block in model.blocks for name in ATTENTION]
                if way != "attention":
                    layers += [getattr(block, name) for block in model.blocks for name in ("w_gate", "w_up", "w_down")]
                for layer in layers:
                    layer.enable_lora(RANK)
                variables = [each for layer in layers for each in (layer.lora_kernel_a, layer.lora_kernel_b)]
            if way == "all parameters":
                model = tuned_model(seed)
            else:
                batches = assistant.batches_of(functions, pairs, TUNED_STEPS, seed=seed)
                assistant.fine_tune(model, batches, variables=variables, rate=LORA_RATE)
            found, _ = judged(model, Writer(model, pairs), seed)
            run = {"way": way, "seed": seed, "trained": sum(int(np.prod(each.shape)) for each in variables)} | found
            run["bits a byte of other text"] = round(
                held_out_bits(model, text.held_out_stream, text.token_bytes, WATCHED), 4
            )
            part["runs"].append(run | {"seconds": round(time.process_time() - began)})
            print(run, flush=True)
            save(results, out)


if __name__ == "__main__":
    app()

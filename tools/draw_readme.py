"""Draws the moving picture of README.md, docs/images/first-look.webp, from what the course's own programs say.

    python tools/draw_readme.py            # asks the check of lab 02, and reads what lecture 10 has stored
    python tools/draw_readme.py --again    # draws anew what the picture has on record

What was said lies in the picture as JSON (its EXIF description), and the test compares it with what is said now.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib
import nbformat
from PIL import Image, ImageDraw, ImageFont

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "images" / "first-look.webp"
LAB, EXERCISE = "02_self_attention", "scaled_dot_product_attention"
CODE = f"""def {EXERCISE}(q, k, v, mask=None):
    scores = ops.einsum("...td,...sd->...ts", q, k)
    if mask is not None:
        scores = ops.where(ops.cast(mask, "bool"), scores, -1e9)
    weights = ops.softmax(scores)
    return ops.matmul(weights, v), weights"""
LINE, MEND = 1, " / k.shape[-1] ** 0.5"  # the line that is wrong, and what is added to it
QUESTION = "What is the capital of France?"
DESCRIPTION = 0x010E  # EXIF's number of the record

SCALE = 2  # of pixels to the sizes below, which are those of a page
WIDTH, MARGIN, ROW, TOP = 800, 20, 20, 8
COLUMNS = 88
INK, PALE, RED, GREEN, BLUE = "#1f2328", "#656d76", "#b3261e", "#116329", "#0a57b5"
BACK, FRAME, RED_BACK, GREEN_BACK = "#f6f8fa", "#d0d7de", "#ffe9e7", "#dafbe1"


def mended() -> str:
    lines = CODE.splitlines()
    lines[LINE] += MEND
    return "\n".join(lines)


def ask_check(answer: str) -> str:
    """What the check of the released lab says of an answer, as a terminal shows it."""
    from coursekit.check.report import fitted
    from coursekit.notebook import check_notebook

    notebook = nbformat.read(ROOT / "labs" / LAB / f"{LAB}.ipynb", as_version=4)
    (cell,) = (each for each in notebook.cells if grade_id(each) == f"{EXERCISE}-code")
    cell.source = answer
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / f"{LAB}.ipynb"
        nbformat.write(notebook, copy)
        (report,) = (each for each in check_notebook(copy) if each.spec.name == EXERCISE)
    return fitted(report.findings, COLUMNS)


def read_answer() -> str:
    """What SmolLM2 answers in lecture 10, by its stored output.

    tests/data/test_published.py hears the same from the class of lab 10.
    """
    text = (ROOT / "lectures" / "10_language_model.ipynb").read_text("utf-8")
    outputs = [each.get("text", "") for cell in nbformat.reads(text, 4).cells for each in cell.get("outputs", ())]
    asked = rf"user\n{re.escape(QUESTION)}<\|im_end\|>.*?→ (.+?)<\|im_end\|>"
    return re.findall(asked, "".join(outputs), re.DOTALL)[0]


def grade_id(cell: nbformat.NotebookNode) -> str:
    return cell.metadata.get("nbgrader", {}).get("grade_id", "")


def record() -> dict[str, str]:
    return {"failed": ask_check(CODE), "passed": ask_check(mended()), "answer": read_answer()}


def read_record() -> dict[str, str]:
    with Image.open(PICTURE) as picture:
        return json.loads(picture.getexif()[DESCRIPTION])


class Page:
    """One frame: captions, and panels of lines."""

    def __init__(self, height: int):
        self.image = Image.new("RGB", (SCALE * WIDTH, SCALE * height), "white")
        self.draw = ImageDraw.Draw(self.image)
        self.rectangle(0.5, 0.5, WIDTH - 1, height - 1, "white", 10)
        self.y = 14.0

    def rectangle(self, left: float, top: float, right: float, bottom: float, fill: str, radius: float) -> None:
        box = [SCALE * value for value in (left, top, right, bottom)]
        self.draw.rounded_rectangle(box, SCALE * radius, fill, FRAME, SCALE)

    def text(
        self, x: float, y: float, words: str, colour: str, font: str = "DejaVuSansMono", size: float = 13.5
    ) -> float:
        """Write words; return where they end."""
        file = Path(matplotlib.get_data_path(), "fonts", "ttf", f"{font}.ttf")
        letters = ImageFont.truetype(str(file), SCALE * size)
        self.draw.text((SCALE * x, SCALE * y), words, colour, letters)
        return x + letters.getlength(words) / SCALE

    def caption(self, words: str, said: str = "") -> None:
        end = self.text(MARGIN, self.y, words, INK, "DejaVuSans-Bold", 15)
        self.text(end + 10, self.y + 1, said, PALE, "DejaVuSans", 13.5)
        self.y += 26

    def panel(self, lines: list[tuple[str, str, str]], rows: int) -> None:
        """Lines of (words, colour, background), in a box with room for so many."""
        self.rectangle(MARGIN, self.y, WIDTH - MARGIN, self.y + 2 * TOP + rows * ROW, BACK, 6)
        for number, (words, colour, back) in enumerate(lines):
            top = self.y + TOP + number * ROW
            if back:
                box = [SCALE * value for value in (MARGIN + 2, top, WIDTH - MARGIN - 2, top + ROW)]
                self.draw.rectangle(box, back)
            self.text(MARGIN + 12, top + 1.5, words, colour)
        self.y += 2 * TOP + rows * ROW + 12


def code_lines(added: str, state: str) -> list[tuple[str, str, str]]:
    """The cell: as it is typed, with its wrong line marked, or with the line that takes its place."""
    lines = [(f"  {line}", INK, "") for line in CODE.splitlines()]
    wrong = lines[LINE][0]
    if state == "wrong":
        lines[LINE] = (wrong, RED, RED_BACK)
    if state == "mended":
        lines[LINE : LINE + 1] = [("−" + wrong[1:], RED, RED_BACK), ("+" + wrong[1:] + added, GREEN, GREEN_BACK)]
    return lines


def said_lines(said: str, most: int) -> list[tuple[str, str, str]]:
    found = []
    for line in said.splitlines()[:most]:
        sign = line.strip()[:1]
        colour = {"✗": RED, "✓": GREEN, "→": RED}.get(sign, INK)
        found.append((line, colour, RED_BACK if sign == "→" else ""))
    return found


def frames(told: dict[str, str]) -> Iterator[tuple[Image.Image, int]]:
    """Each frame, and for how many milliseconds it stays."""
    failed, passed = told["failed"], told["passed"].splitlines()
    named = [(line, PALE, "") for line in failed.splitlines()[:2]]
    rows = len(named) + len(passed)

    def frame(code: list[Any], check: list[Any], answer: str | None = None) -> Image.Image:
        page = Page(540)
        page.caption("You write attention.", "lab 02, in Jupyter")
        page.panel(code, 7)
        page.caption("The check names the mistake.", "not only “wrong”: which mistake, and where to read again")
        page.panel(check, rows)
        page.caption("Your model answers.", "lab 10: a published chat model, SmolLM2, in the class that you wrote")
        talk = [] if answer is None else [(f"You:    {QUESTION}", INK, ""), ("Model:  " + answer, BLUE, "")]
        page.panel(talk, 2)
        return page.image

    plain = code_lines("", "")
    yield frame(plain, []), 1500
    yield frame(plain, said_lines(failed, 1)), 900
    yield frame(code_lines("", "wrong"), said_lines(failed, rows)), 4500
    for end in range(0, len(MEND) + 1, 3):
        yield frame(code_lines(MEND[:end], "mended"), named), 130
    after = code_lines(MEND, "mended")
    yield frame(after, named), 500
    check = named + said_lines(told["passed"], len(passed))
    yield frame(after, check), 2500
    yield frame(after, check, ""), 1300
    answer = told["answer"]
    for word in list(re.finditer(r"\S+", answer))[:-1]:
        yield frame(after, check, answer[: word.end()]), 260
    yield frame(after, check, answer), 6000


def draw(told: dict[str, str]) -> None:
    """Write the picture: it plays three times, and its last frame stays."""
    images, times = zip(*frames(told), strict=True)
    exif = Image.Exif()
    exif[DESCRIPTION] = json.dumps(told)
    images[0].save(
        PICTURE, save_all=True, append_images=images[1:], duration=times, loop=3, lossless=True, method=6,
        minimize_size=True, exif=exif,
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--again", action="store_true", help="ask nobody: draw what the picture has on record")
    draw(read_record() if parser.parse_args().again else record())
    print(f"{PICTURE.relative_to(ROOT)}: {PICTURE.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()

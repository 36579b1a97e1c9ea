"""Shows a judgement to a student: as HTML in a notebook, as plain text in a terminal."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from html import escape

from coursekit.check.judge import STATUS_WORDS, ExerciseSpec, Judgement

# Signs, bars and lines in these colours stand out on white and on black: three times as light or dark as either.
GREEN, RED, GREY = "#2e8b57", "#d9463a", "#7d7d7d"

TO_THE_COURSE = "../../"  # from labs/<lab>/<lab>.ipynb
WORKED = "The derivation, step by step"
BEFORE = "▣ passed before the restart"
FEWEST_HINTS = 2  # a worked derivation comes with the last hint, and not before the third try
LONGEST_SUMMARY = 200  # characters: one line, or two in a narrow window


class CheckFailed(Exception):
    """A check did not pass, in a run where this has to raise. The report's summary is shown in place of a traceback."""

    def _render_traceback_(self) -> list[str]:
        return [f"CheckFailed: {self}"]


class Report:
    """The outcome of one check.

    Args:
        spec: the exercise.
        judgement: what was found.
        failed: how many tries have failed at the group that fails first now; the more, the more hints are shown.
        progress: for each exercise of the lab, whether it passed when last checked.
        points: those reached in the lab's checks, and those that there are.
        before: exercises that have not been checked since the kernel was restarted, and passed before.
    """

    def __init__(
        self,
        spec: ExerciseSpec,
        judgement: Judgement,
        failed: int,
        progress: Mapping[str, bool],
        points: tuple[float, float] = (0.0, 0.0),
        before: Collection[str] = (),
    ):
        self.spec = spec
        self.judgement = judgement
        self.progress = progress
        self.points = points
        self.before = before
        self.sentences = judgement.sentences(spec)
        own = [
            spec.next_hints[misconception]
            for misconception in judgement.misconceptions
            if misconception in spec.next_hints
        ]
        hints = [*own, *judgement.hints]
        self.hints = hints[: max(0, failed - 1)]
        self.worked = spec.worked if judgement.passed or failed > max(len(hints), FEWEST_HINTS) else ""
        named = [
            spec.sections[misconception] for misconception in judgement.misconceptions if misconception in spec.sections
        ]
        self.sections = list(dict.fromkeys(named))

    @property
    def headline(self) -> str:
        """One line: the exercise, and how many of its checks pass."""
        passed = sum(group.passed for group in self.judgement.groups)
        text = f"{passed} of {len(self.judgement.groups)} checks pass"
        if self.judgement.status != "graded":
            text = STATUS_WORDS[self.judgement.status]
        return f"{self.spec.name}: {text}"

    @property
    def summary(self) -> str:
        """The headline and the first mistake, or the first thing that is wrong: all that `nbgrader validate` shows."""
        judgement = self.judgement
        wrong = [f"{group.spec.title}: {group.message}" for group in judgement.groups if not group.passed]
        first = [*self.sentences, *([judgement.message] if judgement.message else wrong)]
        return textwrap.shorten(". ".join([self.headline, *first[:1]]), LONGEST_SUMMARY, placeholder=" …")

    def _rows(self) -> tuple[list[_Row], list[_Row]]:
        """The first thing that is wrong, and the other checks: failed ones first."""
        if self.judgement.status != "graded":  # a failure of the exercise as a whole is told once
            return [_Row(False, self.judgement.message)], []
        rows = [
            _Row(group.passed, group.spec.title, explanation)
            for group, explanation in zip(self.judgement.groups, self.judgement.explanations, strict=True)
        ]
        rows.sort(key=lambda row: row.passed)
        first = 0 if self.judgement.passed else 1
        return rows[:first], rows[first:]

    @property
    def rules(self) -> str:
        """What the exercise forbids, if the student has not begun or uses it; else empty."""
        if self.judgement.status not in ("missing", "forbidden"):
            return ""
        names = [f"`{name}`" for name in dict.fromkeys(map(self._shown, self.spec.forbidden))]
        names += ["Python loops"] * self.spec.no_loops
        return f"Not allowed in this exercise: {', '.join(names)}." if names else ""

    def _shown(self, forbidden: str) -> str:
        """Return a forbidden name without its module; with it if an exercise of the lab has the same name."""
        name = forbidden.rpartition(".")[2]
        return re.sub(r"^tensorflow\.", "tf.", forbidden) if name in {self.spec.name, *self.progress} else name

    @property
    def findings(self) -> str:
        """The report as plain text, without the lab's progress: mistakes first, then one case, then the rest."""
        first, others = self._rows()
        return "\n".join(
            [
                f"{_sign(self.judgement.passed)} {self.headline}",
                *(f"    → {sentence}" for sentence in self.sentences),
                *(f"    Read again: {section.title} ({section.page.partition('#')[0]})" for section in self.sections),
                *map(_row_as_text, first),
                *([f"    {self.rules}"] if self.rules else []),
                *(f"    Hint {number}: {hint}" for number, hint in enumerate(self.hints, 1)),
                *(
                    [f"    {WORKED}:", textwrap.indent(self.worked, "      ")]
                    if self.worked and not self.judgement.passed
                    else []
                ),
                *map(_row_as_text, others),
            ]
        )

    @property
    def progress_line(self) -> str:
        """How many exercises of the lab pass, and how many points that makes."""
        passed, (reached, most) = sum(self._square(name) != "□" for name in self.progress), self.points
        return f"{passed} of {len(self.progress)} exercises pass, {round(reached, 1):g} of {most:g} points"

    @property
    def lab_line(self) -> str:
        """The same with a sign for each exercise."""
        bar = "".join(map(self._square, self.progress))
        return f"Lab: {bar} {self.progress_line}" + f"\n    {BEFORE}" * bool(self.before)

    def _square(self, exercise: str) -> str:
        return "▣" if exercise in self.before else "■" if self.progress[exercise] else "□"

    def __str__(self) -> str:
        return f"{self.findings}\n    {self.lab_line}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        passed = self.judgement.passed
        colour = GREEN if passed else GREY if self.judgement.status == "missing" else RED
        parts = [
            f'<div role="status" style="border-left:4px solid {colour};padding:.4em .9em;margin:.3em 0;'
            'max-width:46em;line-height:1.5;overflow-wrap:anywhere">',
            '<div style="padding-left:1.2em;text-indent:-1.2em">'
            f'<span style="color:{colour};font-weight:bold">{_sign(passed)}</span> '
            f"<b>{as_html(self.spec.name)}</b>{escape(self.headline[len(self.spec.name) :])}</div>",
        ]
        for sentence in self.sentences:
            parts.append(f'<div style="margin-top:.4em"><b>It looks like this:</b> {as_html(sentence)}</div>')
        for section in self.sections:
            parts.append(
                f'<div style="margin-top:.4em"><b>Read again:</b> '
                f'<a href="{TO_THE_COURSE}{escape(section.page)}">{as_html(section.title)}</a></div>'
            )
        first, others = self._rows()
        parts.extend(map(_row_as_html, first))
        if self.rules:
            parts.append(f'<div style="margin-top:.4em">{as_html(self.rules)}</div>')
        for number, hint in enumerate(self.hints, 1):
            parts.append(f'<div style="margin-top:.4em"><b>Hint {number}:</b> {as_html(hint)}</div>')
        if self.worked:
            steps = as_html(self.worked).replace("\n", "<br>")
            parts.append(f'<details style="margin-top:.4em"><summary>{WORKED}</summary>{steps}</details>')
        if others:
            failed = sum(not row.passed for row in others)
            counts = [f"{failed} fail"] * bool(failed) + [f"{len(others) - failed} pass"] * (failed < len(others))
            which = "other checks" if first else "checks"
            parts.append(f'<details style="margin-top:.4em"><summary>{which}: {", ".join(counts)}</summary>')
            parts.extend(map(_row_as_html, others))
            parts.append("</details>")
        parts.append(
            f'<div style="margin-top:.5em" aria-label="{self.progress_line}">'
            + "".join(
                f'<span title="{escape(name)}" style="color:{GREY if square == "□" else GREEN}">{square}</span>'
                for name, square in zip(self.progress, map(self._square, self.progress), strict=True)
            )
            + f" {self.progress_line}</div>"
            + f"<div>{BEFORE}</div>" * bool(self.before)
            + "</div>"
        )
        return "".join(parts)


@dataclass(frozen=True)
class _Row:
    """One check: whether it passes, what it tests, and what is wrong."""

    passed: bool
    title: str
    detail: str = ""


def _sign(passed: bool) -> str:
    return "✓" if passed else "✗"


def _row_as_text(row: _Row) -> str:
    return f"    {_sign(row.passed)} {row.title}" + (f"\n        {row.detail}" if row.detail else "")


def _row_as_html(row: _Row) -> str:
    return (
        '<div style="padding-left:1.2em;text-indent:-1.2em;margin-left:.6em">'
        f'<span style="color:{GREEN if row.passed else RED};font-weight:bold">{_sign(row.passed)}</span> '
        + as_html(row.title)
        + (f'<div style="text-indent:0;opacity:.85">{as_html(row.detail)}</div>' if row.detail else "")
        + "</div>"
    )


def fitted(text: str, columns: int) -> str:
    """Break lines that are wider than the terminal, and indent what follows as far as the line began."""
    lines: list[str] = []
    for line in text.splitlines():
        rest = " " * (len(line) - len(line.lstrip(" ✓✗→")))
        lines += textwrap.wrap(line, columns, subsequent_indent=rest, break_long_words=False) or [line]
    return "\n".join(lines)


def as_html(text: str) -> str:
    """Escape text for HTML, and set what stands between backquotes as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))

"""Shows a judgement to a student: as HTML in a notebook, as plain text in a terminal."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping
from html import escape

from coursekit.judge import ExerciseSpec, Judgement
from coursekit.statuses import STATUS_WORDS

# Signs, bars and lines in these colours stand out on white and on black: three times as light or dark as either.
GREEN, RED, GREY = "#2e8b57", "#d9463a", "#7d7d7d"

LONGEST_SUMMARY = 200  # characters: one line, or two in a narrow window


class CheckFailed(Exception):
    """A check did not pass. Its text is the report's summary, which notebooks show in place of a traceback."""

    def _render_traceback_(self) -> list[str]:
        return [f"CheckFailed: {self}"]


class Report:
    """The outcome of one check.

    Args:
        spec: the exercise.
        judgement: what was found.
        attempt: how many checks have failed at the group that fails first now; the more, the more hints are shown.
        progress: for each exercise of the lab, whether it passed when last checked.
    """

    def __init__(self, spec: ExerciseSpec, judgement: Judgement, attempt: int, progress: Mapping[str, bool]):
        self.spec = spec
        self.judgement = judgement
        self.progress = progress
        self.sentences = [spec.sentences[each] for each in judgement.misconceptions]
        failing = judgement.first_failing
        self.hints = list(failing.hints[: max(0, attempt - 1)]) if failing else []

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

    def _rows(self) -> list[tuple[bool, str, str]]:
        """Rows (passed, title, detail); a failure of the exercise as a whole is told once."""
        if self.judgement.status != "graded":
            return [(False, self.judgement.message, "")]
        return [
            (group.passed, group.spec.title, explanation)
            for group, explanation in zip(self.judgement.groups, self.judgement.explanations, strict=True)
        ]

    @property
    def findings(self) -> str:
        """The report as plain text, without the lab's progress."""
        mark = "✓" if self.judgement.passed else "✗"
        lines = [f"{mark} {self.headline}"]
        for passed, title, detail in self._rows():
            lines.append(f"    {'✓' if passed else '✗'} {title}" + (f"\n        {detail}" if detail else ""))
        lines.extend(f"    → {sentence}" for sentence in self.sentences)
        lines.extend(f"    Hint {number}: {hint}" for number, hint in enumerate(self.hints, 1))
        return "\n".join(lines)

    @property
    def lab_line(self) -> str:
        """One line: how many exercises of the lab pass."""
        bar = "".join("■" if passed else "□" for passed in self.progress.values())
        return f"Lab: {bar} {sum(self.progress.values())} of {len(self.progress)} exercises pass"

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
            f'<span style="color:{colour};font-weight:bold">{"✓" if passed else "✗"}</span> '
            f"<b>{as_html(self.spec.name)}</b>{escape(self.headline[len(self.spec.name) :])}</div>",
        ]
        for row_passed, title, detail in self._rows():
            row_colour = GREEN if row_passed else RED
            parts.append(
                f'<div style="padding-left:1.2em;text-indent:-1.2em;margin-left:.6em">'
                f'<span style="color:{row_colour};font-weight:bold">{"✓" if row_passed else "✗"}</span> '
                + as_html(title)
                + (f'<div style="text-indent:0;opacity:.85">{as_html(detail)}</div>' if detail else "")
                + "</div>"
            )
        for sentence in self.sentences:
            parts.append(f'<div style="margin-top:.4em"><b>It looks like this:</b> {as_html(sentence)}</div>')
        for number, hint in enumerate(self.hints, 1):
            parts.append(f'<div style="margin-top:.4em"><b>Hint {number}:</b> {as_html(hint)}</div>')
        done = sum(self.progress.values())
        parts.append(
            f'<div style="margin-top:.5em" aria-label="{done} of {len(self.progress)} exercises pass">'
            + "".join(
                f'<span title="{escape(name)}" style="color:{GREEN if ok else GREY}">{"■" if ok else "□"}</span>'
                for name, ok in self.progress.items()
            )
            + f" {done} of {len(self.progress)} exercises pass</div></div>"
        )
        return "".join(parts)


def fitted(text: str, columns: int) -> str:
    """Plain text with the lines that are longer than a terminal is wide broken, and set in as far as they began."""
    lines: list[str] = []
    for line in text.splitlines():
        rest = " " * (len(line) - len(line.lstrip(" ✓✗→")))
        lines += textwrap.wrap(line, columns, subsequent_indent=rest, break_long_words=False) or [line]
    return "\n".join(lines)


def as_html(text: str) -> str:
    """Escape text for HTML, and set what stands between backquotes as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))

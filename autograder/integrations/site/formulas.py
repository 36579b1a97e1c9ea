"""An extension of Sphinx: formulas are typeset while the site is built, so that they stand without JavaScript.

MathJax runs in Node.js, once for all formulas. Where there is no Node.js, `site/conf.py` leaves them to Sphinx's own
extension: pages load MathJax, and the reader's browser typesets.
"""

from __future__ import annotations

import html
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

Formula = tuple[str, bool]  # LaTeX, and whether it stands on a line of its own

RENDERER = "built"  # its name in Sphinx's setting html_math_renderer
STYLE = "formulas/formulas.css"  # the fonts lie beside it
_logger = logging.getLogger(__name__)


def find_node() -> str | None:
    """The program that runs MathJax; None where there is none."""
    return shutil.which("node")


def typeset(formulas: list[Formula], site: Path) -> tuple[list[str], list[str], str]:
    """HTML of each formula, why it could not be typeset (empty if it could), and the style sheet of all.

    Raises RuntimeError when MathJax in `site`/node_modules does not run.
    """
    command = [find_node() or "node", str(site / "formulas.js")]
    done = subprocess.run(command, input=json.dumps(formulas), capture_output=True, text=True, encoding="utf-8")
    if done.returncode:
        raise RuntimeError(f"the formulas could not be typeset: {done.stderr.strip()[-500:]}")
    said = json.loads(done.stdout)
    return said["formulas"], said["errors"], said["css"]


class _Formulas:
    """All formulas of the site as HTML, from the moment when every page is read."""

    def __init__(self) -> None:
        self._html: dict[Formula, str] = {}

    def typeset(self, app: Sphinx, env: BuildEnvironment) -> list[str]:
        """Typeset them and write their style sheet; a formula that is no LaTeX is a warning with its place."""
        found = [node for page in sorted(env.found_docs) for node in _find_formulas(env.get_doctree(page))]
        asked = sorted({_read_formula(node) for node in found})
        written, errors, style = typeset(asked, Path(app.confdir))
        self._html = dict(zip(asked, written, strict=True))
        refused = dict(zip(asked, errors, strict=True))
        for node in found:
            if error := refused[_read_formula(node)]:
                _logger.warning("%s in the formula %s", error, node.astext(), location=node)
        target = Path(app.outdir, "_static", STYLE)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(style, encoding="utf-8")
        return []  # no page has to be read again

    def write(self, translator: HTML5Translator, node: nodes.Element) -> None:
        """In place of a formula's node, its HTML."""
        tag = "div" if isinstance(node, nodes.math_block) else "span"
        translator.body.append(translator.starttag(node, tag, "", CLASS="math notranslate nohighlight"))
        latex = f"<span hidden>{html.escape(node.astext())}</span>"  # for the search: √ is no text in MathML
        translator.body.append(f"{self._html[_read_formula(node)]}{latex}</{tag}>")
        raise nodes.SkipNode


def _find_formulas(tree: nodes.document) -> list[nodes.Element]:
    return [node for node in tree.findall(nodes.Element) if isinstance(node, nodes.math | nodes.math_block)]


def _read_formula(node: nodes.Element) -> Formula:
    return node.astext(), isinstance(node, nodes.math_block)


def _add_style(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: nodes.document | None) -> None:
    if tree is not None and _find_formulas(tree):
        app.add_css_file(STYLE)


def setup(app: Sphinx) -> dict[str, bool]:
    """Offer the renderer; it works where html_math_renderer names it."""
    formulas = _Formulas()
    app.add_html_math_renderer(RENDERER, (formulas.write, None), (formulas.write, None))
    if app.config.html_math_renderer == RENDERER:
        app.connect("env-updated", formulas.typeset)
        app.connect("html-page-context", _add_style)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""How Sphinx builds the course's site; `autograder.integrations.site` lays out the pages and calls it."""

from __future__ import annotations

import html
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config

from autograder.integrations.site.formulas import RENDERER, find_node

HERE = Path(__file__).parent

author = "The authors of this course"
copyright = "The authors of this course. Text and figures: CC BY 4.0, code: MIT"
language = "en"
extensions = [
    "autograder.integrations.site.formulas",
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
    "notfound.extension",
    "sphinx_design",
    "sphinx_sitemap",
    "sphinxext.opengraph",
]
exclude_patterns = ["buttons.json"]
templates_path = [str(HERE / "_templates")]
suppress_warnings = ["mystnb.unknown_mime_type", "sitemap.configuration"]  # without an address there is no sitemap

# Notebooks are shown as they are stored: nothing runs while the site is built.
nb_execution_mode = "off"
nb_merge_streams = True
nb_code_prompt_show = "Show the code of this figure"
nb_code_prompt_hide = "Hide the code of this figure"
myst_enable_extensions = ["amsmath", "attrs_inline", "colon_fence", "dollarmath"]
myst_heading_anchors = 4
myst_links_external_new_tab = False

# What a shared link shows. The addresses follow from html_baseurl, which the build takes from course.toml.
ogp_enable_meta_description = True
ogp_description_length = 180
ogp_social_cards = {"enable": False}
ogp_type = "article"
sitemap_url_scheme = "{link}"
notfound_template = "not-found.html"
notfound_context = {"title": "Page not found", "body": ""}

# The reference of coursekit, without TensorFlow: nothing in it is called.
autodoc_mock_imports = ["keras", "tensorflow", "tensorflow_datasets", "tf_keras"]
autodoc_typehints = "description"
autodoc_member_order = "bysource"
default_role = "code"

# Formulas are typeset in the build; without Node.js, in the reader's browser.
html_math_renderer = RENDERER if find_node() else "mathjax"
mathjax_path = "mathjax/tex-chtml.js"
mathjax3_config = {"options": {"enableMenu": False}}

html_theme = "pydata_sphinx_theme"
html_static_path = [str(HERE / "_static")]
html_css_files = ["course.css"]
html_js_files = ["course.js", "live.js", "predict.js"]
html_favicon = str(HERE / "_static" / "favicon.svg")
html_context = {"default_mode": "auto"}
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_last_updated_fmt = None
html_sidebars = {"index": [], "CHANGELOG": []}
html_theme_options = {
    "show_prev_next": True,
    "back_to_top_button": False,  # it lay over figures and their controls
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "article_header_end": ["notebook-buttons"],
    "search_bar_text": "Search the course",
    "show_nav_level": 1,
    "show_toc_level": 1,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}

# Lectures in which one sentence goes through one Transformer, and the part of it that is open first; in lecture 10 its
# language model writes.
STRIP = {
    "lectures/02_self_attention": "attention",
    "lectures/03_multi_head_attention": "heads",
    "lectures/04_encoder_block": "block",
    "lectures/05_positional_encoding": "positions",
    "lectures/07_bert_ag_news": "whole",
    "lectures/08_decoder_and_masking": "masking",
    "lectures/10_language_model": "writer",
}

NOT_ON_START = re.compile(r"sphinx-design|design-tabs|mystnb|sphinx_highlight|live\.js|predict\.js")

# What the pages are about that Sphinx makes by itself.
MADE = {
    "404": "There is no such page here; the start page of the course leads to all.",
    "genindex": "All names of the course's helper package in alphabetical order, with links to what is said of them.",
    "py-modindex": "All modules of the course's helper package, with links to what is said of them.",
    "search": "Search lectures, labs and guides of the course, section by section.",
}


def setup(app: Sphinx) -> None:
    """Hand to each page what its notebook offers: the file, where Colab opens it, and a picture for links to it.

    A page without a picture of its own has that of the first lecture. The bar has a short title.

    Pages of STRIP get its script, and the site then gets the parameters that it reads.
    """
    buttons: dict[str, dict[str, str]] = json.loads((Path(app.srcdir) / "buttons.json").read_text("utf-8"))

    first_picture = next((each["picture"] for each in buttons.values() if each.get("picture")), "")

    def add_buttons(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object) -> None:
        context["buttons"] = offered = buttons.get(pagename, {})
        if about := offered.get("subtitle") or MADE.get(pagename):
            context["meta"] = {**(context.get("meta") or {}), "og:description": about}
            said = f'<meta name="description" content="{html.escape(about)}" />'
            context["metatags"] = context.get("metatags", "") + said  # else the extension takes the page's first words
        if pagename == app.config.root_doc:
            context["docstitle"] = ""  # its own title says it already
        if app.config.html_baseurl and (picture := offered.get("picture") or first_picture):
            address = f"{app.config.html_baseurl.rstrip('/')}/{picture}"
            context["metatags"] = context.get("metatags", "") + f'<meta property="og:image" content="{address}" />'

    def short_title(app: Sphinx, config: Config) -> None:
        config.html_theme_options["logo"] = {"text": config.project.partition(" with ")[0]}

    def add_strip(app: Sphinx, pagename: str, *_: object) -> None:
        if pagename in STRIP:
            app.add_js_file("strip_opener.js", **{"data-part": STRIP[pagename]})

    def add_editors(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object) -> None:
        if 'class="course-mistake"' in context.get("body", ""):
            app.add_css_file("mistake.css", priority=900)
        if 'class="course-mistake" data-exercise' in context.get("body", ""):  # not on pages with a recorded check
            for name in ("array_lines.js", "judge_lines.js", "mistake.js"):
                app.add_js_file(name, loading_method="defer")
        if 'class="start-writer"' in context.get("body", ""):
            app.add_css_file("start.css", priority=900)
            app.add_js_file("start/start.js", type="module")

    def lighten_start(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object) -> None:
        """The start page goes without sheets and scripts of what only other pages have."""
        if pagename == app.config.root_doc:
            for kind in ("css_files", "script_files"):
                context[kind] = [each for each in context[kind] if not NOT_ON_START.search(str(each.filename))]

    def defer_scripts(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object) -> None:
        """No script holds up the first paint, but the one whose settings those in the page read."""
        for script in context.get("script_files", ()):
            attributes = getattr(script, "attributes", {})
            if script.filename and "documentation_options" not in str(script.filename) and "async" not in attributes:
                attributes.setdefault("defer", "defer")

    def write_parameters(app: Sphinx, error: Exception | None) -> None:
        if error is None and app.env.found_docs & STRIP.keys():
            folder = Path(app.outdir, "_static", "strip")
            subprocess.run([sys.executable, HERE / "small_bert.py", folder], check=True)

    app.connect("html-page-context", add_strip)
    app.connect("html-page-context", add_editors)
    app.connect("html-page-context", lighten_start, priority=900)
    app.connect("html-page-context", defer_scripts, priority=900)  # when all have added theirs
    app.connect("build-finished", write_parameters)
    app.connect("html-page-context", add_buttons, priority=400)  # before the extension that writes descriptions
    app.connect("config-inited", short_title)

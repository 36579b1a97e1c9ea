"""The web site: every lecture and lab is a page, figures are numbered, links lead somewhere, no answer gets in."""

from __future__ import annotations

import base64
import copy
import gzip
import io
import json
import os
import re
import shutil
import subprocess
import sys
from functools import cache
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote, urlsplit

import nbformat
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from PIL import Image
from site_building import ROOT, need_mathjax
from tiny_course import LAB, with_secrets
from typer.testing import CliRunner

from autograder.cli import app as cli
from autograder.course.settings import CourseError, load_course
from autograder.integrations.site import build
from autograder.integrations.site.build import MARKER, SiteRefused, SiteSummary, build_site
from autograder.integrations.site.formulas import typeset
from autograder.integrations.site.notebooks import make_page, read_subtitle, read_title
from autograder.integrations.site.sources import DOCS, MORE, TEACHING, lay_out
from autograder.integrations.site.vendored import copy_mathjax, write_vega
from coursekit import spell_out
from coursekit.lecture.diagrams import PALETTE, contrast
from coursekit.lecture.plots import DRAWING, below_figure

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
MADE = ("404.html", "genindex.html", "py-modindex.html", "search.html")  # by Sphinx itself
CHART = "application/vnd.vegalite.v5+json"
LECTURES = sorted(path.stem for path in (ROOT / "lectures").glob("*.ipynb"))
LABS = [lab.name for lab in load_course(ROOT).labs]
PAGES = [f"lectures/{name}" for name in LECTURES] + [f"labs/{name}/{name}" for name in LABS]


def a_lecture() -> nbformat.NotebookNode:
    words = below_figure("One <dot>.")
    picture = {"image/png": base64.b64encode(PIXEL).decode(), "text/plain": "[Figure: One <dot>.]"}
    shown = [
        new_output("display_data", data=picture, metadata={"image/png": {"alt": "One <dot>."}}),
        new_output("display_data", data={"text/html": words, "text/plain": ""}),
    ]
    cells = [
        new_markdown_cell("# 3 · Dots\n\n*One dot,\nthen another.*\n\nText"),
        new_code_cell("# NBVAL_CHECK_OUTPUT\nprint(1)", outputs=[new_output("stream", text="1\n")]),
        new_code_cell("show()", outputs=[*shown, *shown]),
    ]
    return new_notebook(cells=cells)


def test_figures_of_a_notebook_become_numbered_files_with_their_words():
    lecture = a_lecture()
    before = nbformat.writes(lecture)
    page = make_page(lecture, "03b_dots")
    assert list(page.pictures) == [f"03b_dots-{n}-{theme}.webp" for n in (1, 2) for theme in ("light", "dark")]
    assert page.notebook.cells[1].source == "print(1)"
    shown = page.notebook.cells[2].outputs
    assert len(shown) == 2
    for number, output in enumerate(shown, 1):
        text = output.data["text/html"]
        assert f'id="figure-3b-{number}"' in text and f"<span>Figure 3b.{number}. One &lt;dot&gt;.</span>" in text
        for theme in ("light", "dark"):
            picture = f'src="figures/03b_dots-{number}-{theme}.webp" alt="One &lt;dot&gt;." width="1" height="1"'
            assert f'<span class="course-panels only-{theme}"><img {picture}' in text
        assert text.count("One &lt;dot&gt;.") == 3
    assert nbformat.writes(lecture) == before


def test_pictures_lose_no_area_and_many_bytes_and_their_words_have_the_contrast_of_text():
    lecture = nbformat.read(ROOT / "lectures" / "02b_what_attention_costs.ipynb", as_version=4)
    outputs = [output for cell in lecture.cells for output in cell.get("outputs", [])]
    for output in outputs:
        output.get("data", {}).pop(DRAWING, None)
    stored = [output.data["image/png"] for output in outputs if "image/png" in output.get("data", {})]
    pictures = make_page(lecture, "02b_costs").pictures
    ink = np.array(np.round(255 * np.array(to_rgb(PALETTE["ink"]))), int)
    for theme, page in (("light", "#ffffff"), ("dark", "#14181e")):
        written = [content for name, content in pictures.items() if name.endswith(f"{theme}.webp")]
        assert len(stored) == len(written) > 2  # the page has some
        for before, after in zip(stored, written, strict=True):
            files = (io.BytesIO(picture) for picture in (base64.b64decode(before), after))
            right, shown = (np.asarray(Image.open(file).convert("RGBA")).astype(int) for file in files)
            assert (right[..., 3] == shown[..., 3]).all()
            written_in_ink = (right[..., 3] == 255) & (right[..., :3] == ink).all(axis=-1)
            (colour,) = np.unique(shown[written_in_ink][:, :3], axis=0)
            assert contrast(colour / 255, page) > 4.5
            other = (right[..., 3] == 255) & (np.abs(right[..., :3] - ink).max(axis=-1) > 60)
            assert other.any() and (right[other] == shown[other]).all()
        assert sum(map(len, written)) < 0.8 * sum(len(base64.b64decode(png)) for png in stored)


def test_a_drawing_has_the_colours_of_the_page_and_words_in_a_role_s_colour_more_contrast():
    lecture = a_lecture()
    shape, words = '<path style="fill: #dc4a36"/>', '<g id="text_1"><g style="fill: #dc4a36"/></g>'
    lecture.cells[2].outputs[0].data[DRAWING] = f'<svg xmlns="http://www.w3.org/2000/svg">{shape}{words}</svg>'
    pictures = make_page(lecture, "03b_dots").pictures
    for theme, page in (("light", "#ffffff"), ("dark", "#14181e")):
        drawn = pictures[f"03b_dots-1-{theme}.svg"].decode()
        area, text = re.findall(r"fill: (#\w+)", drawn)
        assert area == "#dc4a36" and contrast(text, page) > 4.5


def test_panels_are_parts_of_one_file():
    lecture = a_lecture()
    lecture.cells[2].outputs[0].metadata["image/png"]["cuts"] = [0.5]
    text = make_page(lecture, "03b_dots").notebook.cells[2].outputs[0].data["text/html"]
    assert text.count('src="figures/03b_dots-1-light.webp"') == 2
    assert re.findall(r"--share:([\d.]+).*?object-position:([\d.]+)%", text)[:2] == [
        ("0.5000", "0.00"),
        ("0.5000", "100.00"),
    ]
    assert text.count('alt=""') == 2, "the words are said once"


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("x = 1\n" * 25, ""),
        ("x = 1\n" * 26, "Show code (26 lines)"),
        ("def train():\n    model.fit(x)\n", "Show code that trains: def train (2 lines)"),
        ("class A:\n    pass\n\n\ny = generate(1)", "Show code that samples: class A (5 lines)"),
        ("%time model.fit(x)", "Show code that trains (1 line)"),
    ],
)
def test_long_code_and_code_that_trains_is_folded_and_says_what_it_is(source, shown):
    lecture = a_lecture()
    lecture.cells.append(new_code_cell(source.rstrip("\n")))
    cell = make_page(lecture, "03b_dots").notebook.cells[-1]
    assert cell.metadata.get("mystnb", {}).get("code_prompt_show", "") == shown
    assert ("hide-input" in cell.metadata.tags) == bool(shown)


def test_a_live_figure_is_its_picture_with_the_chart_beside_it():
    lecture = a_lecture()
    first = copy.deepcopy(lecture.cells[2].outputs[0])
    first.data[CHART] = {"title": "</script><b>"}
    lecture.cells[2].outputs[0] = first
    texts = [output.data["text/html"] for output in make_page(lecture, "03b_dots").notebook.cells[2].outputs]
    assert (
        '<figure class="course-figure course-live" id="figure-3b-1"><span class="course-panels"><img src=' in texts[0]
    )
    assert texts[0].count("</script>") == 1 and "\\u003c/script>\\u003cb>" in texts[0]
    assert "course-live" not in texts[1]


def test_vega_is_one_script_that_asks_nobody(tmp_path):
    write_vega(tmp_path / "vega" / "vega.js")
    script = (tmp_path / "vega" / "vega.js").read_text("utf-8")
    assert script.startswith("(() => {") and "window.vegaEmbed" in script and len(script) < 1_200_000


def test_without_the_package_that_brings_vega_a_sentence_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(CourseError, match='live figures need vl-convert-python: run "make setup"'):
        write_vega(tmp_path / "vega.js")


@pytest.mark.parametrize("name", LECTURES)
def test_a_live_figure_is_stored_with_a_picture_a_question_before_it_and_few_bytes(name):
    cells = nbformat.read(ROOT / "lectures" / f"{name}.ipynb", as_version=4).cells
    for number, cell in enumerate(cells):
        for output in cell.get("outputs", []):
            if CHART in output.get("data", {}):
                text = next(before for before in reversed(cells[:number]) if before.cell_type == "markdown")
                assert "?" in text.source
                assert output.metadata["image/png"]["alt"] == output.data[CHART]["description"]
                assert len(json.dumps(output)) < 300_000


def test_a_notebook_is_listed_by_its_heading_and_the_sentence_below():
    assert read_title(a_lecture()) == "3 · Dots"
    assert read_subtitle(a_lecture()) == "One dot, then another."
    assert read_title(new_notebook()) == read_subtitle(new_notebook()) == ""


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A small course with the repository's site and docs."""
    course = with_secrets(tmp_path / "course", monkeypatch)
    for folder in ("site", "docs"):
        shutil.copytree(ROOT / folder, course.root / folder, ignore=shutil.ignore_patterns("node_modules"))
    for name in ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"):
        shutil.copy(ROOT / name, course.root)
    shutil.copy(ROOT / "data" / "README.md", course.root / "data")
    return course


def test_second_parts_of_lectures_appear_by_themselves(course, tmp_path):
    nbformat.write(a_lecture(), course.lectures / "01b_dots.ipynb")
    sources = lay_out(course, tmp_path / "sources")
    for name in ("index.md", "lectures/index.md"):
        text = (sources.pages / name).read_text("utf-8")
        assert text.index("lectures/01_tiny") < text.index("lectures/01b_dots")
    assert f"lectures/01b_dots.ipynb) · [lab](../labs/{LAB}/{LAB}.ipynb)" in text.replace("**", "")
    assert (sources.extra / "lectures" / "figures" / "01b_dots-1-light.webp").is_file()
    assert (sources.extra / "lectures" / "01b_dots.ipynb").is_file()


def test_colab_and_jupyterlab_are_offered_where_they_lead_somewhere(course, tmp_path):
    page = f"labs/{LAB}/{LAB}"
    offered = lay_out(course, tmp_path / "sources").buttons[page]
    assert offered["notebook"] == f"{LAB}.ipynb" and not offered["colab"] and not offered["jupyterlab"]
    assert (tmp_path / "sources" / "extra" / offered["archive"]).is_file()
    assert f"HERE/{offered['archive']}" in offered["setup"]
    toml = course.root / "course.toml"
    hub = "https://hub.example.org/hub/user-redirect/lab/tree/course"
    both = f'repository = "https://github.com/u/c"\njupyterlab = "{hub}"'
    toml.write_text(toml.read_text().replace('repository = ""', both))
    offered = lay_out(load_course(course.root), tmp_path / "sources").buttons[page]
    assert not offered["archive"] and not offered["setup"]
    assert {name: offered[name] for name in ("notebook", "colab", "jupyterlab")} == {
        "notebook": f"{LAB}.ipynb",
        "colab": f"https://colab.research.google.com/github/u/c/blob/main/{page}.ipynb",
        "jupyterlab": f"{hub}/{page}.ipynb",
    }


def test_links_to_what_the_site_does_not_show_become_words(course, tmp_path):
    (course.root / "docs" / "students.md").write_text(
        "# S\n\n[lock](../requirements/lock.txt) [`a.toml`](../a.toml) [x](maintainers.md#y) [home](../README.md) "
        "[out](https://example.org)\n"
    )
    text = (lay_out(course, tmp_path / "sources").pages / "docs" / "students.md").read_text()
    assert "lock `a.toml` [x](maintainers.md#y) [home](../index.md) [out](https://example.org)" in text


@pytest.mark.long
def test_a_line_of_a_solution_keeps_the_site_from_being_written(course, tmp_path):
    """Shown in colours, no line of the page's source is a line of the solution."""
    need_mathjax(tmp_path)
    (course.root / "site" / "node_modules").symlink_to(ROOT / "site" / "node_modules")
    answer = "\n\n```python\ndoubled_carefully = x + x\n```\n"
    lecture = a_lecture()
    lecture.cells.append(new_code_cell("1", outputs=[new_output("display_data", data={"text/markdown": answer})]))
    lecture.cells.append(new_code_cell(f"open({str(tmp_path / 'ran')!r}, 'w')"))
    nbformat.write(lecture, course.lectures / "02_dots.ipynb")
    page = course.root / "docs" / "students.md"
    page.write_text(page.read_text("utf-8") + answer)
    with pytest.raises(SiteRefused) as refusal:
        build_site(course, tmp_path / "html")
    for name in ("docs/students.html", "lectures/02_dots.html", "lectures/02_dots.ipynb"):
        assert any(reason.startswith(f"{name}: holds a line of solutions") for reason in refusal.value.reasons), name
    assert not (tmp_path / "html").exists()
    assert not list(tmp_path.glob(".site-*"))
    assert not (tmp_path / "ran").exists()  # no cell was run


@pytest.mark.long
@pytest.mark.slow
def test_publishing_writes_the_site_too(course, tmp_path, monkeypatch):
    """With a button for every place where the notebook can be opened, and for no other; with the site's address."""
    need_mathjax(tmp_path)
    toml = course.root / "course.toml"
    places = 'repository = ""\njupyterlab = "https://hub.org/lab"\nsite = "https://course.org/here"'
    toml.write_text(toml.read_text().replace('repository = ""', places))
    (course.root / "site" / "node_modules").symlink_to(ROOT / "site" / "node_modules")
    nbformat.write(a_lecture(), course.lectures / "02_dots.ipynb")
    monkeypatch.chdir(course.root)
    done = CliRunner().invoke(cli.app, ["publish", str(tmp_path / "students"), "--site", str(tmp_path / "html")])
    assert done.exit_code == 0, done.output
    for page in ("index", "lectures/01_tiny", f"labs/{LAB}/{LAB}"):
        assert (tmp_path / "html" / f"{page}.html").is_file()
    assert (tmp_path / "students" / "labs" / LAB / f"{LAB}.ipynb").is_file()
    text = (tmp_path / "html" / f"labs/{LAB}/{LAB}.html").read_text("utf-8")
    offered = re.findall(r'<a class="btn [^"]*" href="([^"]*)"', text)
    assert offered == [f"{LAB}.ipynb", f"https://hub.org/lab/labs/{LAB}/{LAB}.ipynb"]
    text = (tmp_path / "html" / "404.html").read_text("utf-8").partition("There is no such page</h1>")[2]
    assert re.findall(r'href="([^"]+)"', text)[:2] == ["/here/index.html", "/here/search.html"]
    listed = (tmp_path / "html" / "sitemap.xml").read_text("utf-8")
    pages = {path.relative_to(tmp_path / "html").as_posix() for path in (tmp_path / "html").rglob("*.html")}
    assert {"404.html", "index.html", "lectures/02_dots.html", f"labs/{LAB}/{LAB}.html", "docs/students.html"} <= pages
    for page in pages:
        head = (tmp_path / "html" / page).read_text("utf-8").partition("</head>")[0]
        address = f"https://course.org/here/{page}"
        assert page == "404.html" or f'<link rel="canonical" href="{address}"' in head, page
        assert page in MADE or f"<loc>{address}</loc>" in listed, page
        (picture,) = re.findall(r'<meta property="og:image" content="https://course.org/here/(.+?)"', head)
        assert (tmp_path / "html" / picture).is_file(), page
        loaded = read(tmp_path / "html" / page).loaded if page == "404.html" else ["/here/"]
        assert all(address.startswith("/here/") for address in loaded if not address.startswith("http")), loaded
        assert page in MADE or re.search(r'<meta property="og:title" content="[^"]+"', head), page


def test_what_a_site_without_an_address_lacks_is_told(course, monkeypatch):
    monkeypatch.setattr("autograder.integrations.site.build.build_site", lambda *_: SiteSummary(3, 1_000_000))
    monkeypatch.chdir(course.root)
    told = [CliRunner().invoke(cli.app, ["site", "html"]).output]
    toml = course.root / "course.toml"
    toml.write_text(toml.read_text().replace('repository = ""', 'repository = ""\nsite = "https://course.org/here"'))
    told.append(CliRunner().invoke(cli.app, ["site", "html"]).output)
    assert ["no canonical addresses" in output for output in told] == [True, False]


def test_who_asks_for_a_site_with_an_answer_in_it_is_told(course, monkeypatch):
    def refuse(*_):
        raise SiteRefused(["docs/students.html: holds a line of solutions"])

    monkeypatch.setattr("autograder.integrations.site.build.build_site", refuse)
    monkeypatch.chdir(course.root)
    done = CliRunner().invoke(cli.app, ["site", "html"])
    assert done.exit_code == 1
    assert "holds a line of solutions" in done.output and "no site was written" in done.output


def test_the_reason_stands_before_what_libraries_log(course, tmp_path, monkeypatch):
    said = [f"docs/{name}.md:3: WARNING: no such target" for name in "ab"]
    logged = ["WARNING: All log messages before absl", *(f"I0000 {number} oneDNN is on" for number in range(30))]
    done = subprocess.CompletedProcess([], 1, stderr="\n".join([said[0], *logged, said[1], *logged]))
    monkeypatch.setattr(build.subprocess, "run", lambda *_, **__: done)
    with pytest.raises(SiteRefused) as refusal:
        build._run_sphinx(course, tmp_path, tmp_path, tmp_path, tmp_path)
    assert list(refusal.value.reasons) == [*said, *logged[-20:]]


@pytest.mark.long
def test_what_sphinx_warns_of_is_told_and_nothing_is_written(course, tmp_path):
    need_mathjax(tmp_path)
    (course.root / "site" / "node_modules").symlink_to(ROOT / "site" / "node_modules")
    (course.root / "docs" / "students.md").write_text("# S\n\n[nowhere](maintainers.md#nowhere-at-all)\n")
    with pytest.raises(SiteRefused, match=r"docs/students\.md:3: WARNING.*nowhere-at-all"):
        build_site(course, tmp_path / "html")
    assert not (tmp_path / "html").exists()


def test_somebody_elses_folder_is_left_alone(course, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years")
    with pytest.raises(CourseError, match="mine: holds files that are not an earlier site"):
        build_site(course, tmp_path / "mine")
    shutil.rmtree(course.root / "site")
    with pytest.raises(CourseError, match="site: the site's configuration is missing"):
        build_site(course, tmp_path / "html")


def test_formulas_are_typeset_all_at_once_and_what_is_no_latex_is_named(tmp_path):
    need_mathjax(tmp_path)
    asked = [("x", False), (r"\sqrt{d_k}", True), (r"\nothing", False), ("{", False)]
    html, errors, style = typeset(asked, ROOT / "site")
    assert all("<math xmlns=" in formula and 'aria-hidden="true"' in formula for formula in html[:2])
    assert "<msqrt><msub><mi>d</mi><mi>k</mi></msub></msqrt>" in html[1] and 'display="true"' in html[1]
    assert html[2:] == ["", ""] and errors[:2] == ["", ""]
    assert errors[2] == r"Undefined control sequence \nothing" and "brace" in errors[3]
    copy_mathjax(ROOT / "site", tmp_path, in_the_browser=False)
    fonts = re.findall(r'url\("\./(\w.+?)"\)', style)
    assert len(fonts) > 10 and all((tmp_path / "formulas" / name).is_file() for name in fonts)


def test_without_npm_or_a_connection_a_sentence_says_what_to_do(course, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CourseError, match=r"needs MathJax 3\.2\.2, which npm fetches once, and there is no npm here"):
        copy_mathjax(course.root / "site", tmp_path / "static", in_the_browser=False)
    npm = tmp_path / "npm"
    npm.write_text("#!/bin/sh\necho 'npm error network' >&2\nexit 1\n")
    npm.chmod(0o755)
    with pytest.raises(CourseError, match=r"npm could not fetch it \(npm error network\)"):
        copy_mathjax(course.root / "site", tmp_path / "static", in_the_browser=False)


class Page(HTMLParser):
    """What a page links to, loads and can be linked to."""

    def __init__(self, text: str):
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors = {"", "top"}
        self.images: list[dict[str, str | None]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.anchors |= {value for name in ("id", "name") if (value := values.get(name))}
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        if tag in ("script", "img", "iframe", "source") and values.get("src"):
            self.loaded.append(values["src"])
        if tag == "link" and values.get("href"):
            self.loaded.append(values["href"])
        if tag == "img":
            self.images.append(values)


@cache
def read(path: Path) -> Page:
    return Page(path.read_text("utf-8"))


@pytest.mark.long
@pytest.mark.slow
def test_every_lecture_and_lab_is_a_page_that_the_start_page_leads_to(site):
    start = read(site / "index.html").links
    for page in PAGES:
        assert (site / f"{page}.html").is_file()
        assert (site / f"{page}.ipynb").read_bytes() == (ROOT / f"{page}.ipynb").read_bytes()
    assert {f"lectures/{name}.html" for name in LECTURES} <= set(start)
    assert {"docs/instructors.html", "docs/index.html", "reference/index.html"} <= set(start)
    for name in (*DOCS, *TEACHING, *MORE):
        assert (site / name).with_suffix(".html").is_file()
    lectures = [site / "lectures" / f"{name}.html" for name in LECTURES]
    for before, after in pairwise(lectures):
        assert re.search(rf'class="right-next"\s+href="{after.name}"', before.read_text("utf-8"))
        assert re.search(rf'class="left-prev"\s+href="{before.name}"', after.read_text("utf-8"))


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("name", LECTURES)
def test_a_lecture_has_all_its_figures_with_words_and_its_answers_folded(site, name):
    notebook = nbformat.read(ROOT / "lectures" / f"{name}.ipynb", as_version=4)
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    pictures = sum("image/png" in output.get("data", {}) for output in outputs)
    answers = sum(cell.source.count("<details>") for cell in notebook.cells if cell.cell_type == "markdown")
    page = site / "lectures" / f"{name}.html"
    text = page.read_text("utf-8")
    figures = [image for image in read(page).images if "figures/" in (image["src"] or "")]
    told = {image["alt"] for image in figures if image["alt"]}
    assert len(told) == pictures and all(len(words) > 20 for words in told)
    assert all((page.parent / str(image["src"])).is_file() for image in figures)
    assert len(re.findall(r"<span>Figure \w+\.\d+\. ", text)) == pictures
    text = text.partition("<article")[2].partition("</article>")[0]  # the contents beside it fold as well
    folded = text.count("<details><summary>in words</summary>")
    drawn = text.count('class="admonition hide above-input"')
    checks = len(re.findall(r"<summary>(?:other )?checks: ", text))  # in the check's boxes of "Make the mistake here"
    assert 0 < folded <= pictures and bool(checks) == name.startswith("02_")
    assert len(re.findall(r"<details\b", text)) == text.count("</details>") == answers + folded + drawn + checks


@pytest.mark.parametrize("name", LECTURES)
def test_a_lecture_s_pictures_are_transparent_set_up_stays_away_and_code_that_draws_is_folded(name):
    """As its page goes to Sphinx, which leaves out cells with the tag remove-cell and folds those with hide-input.

    The stored picture of a live figure stands on white: half transparent marks lose their colours on nothing.
    """
    stored = nbformat.read(ROOT / "lectures" / f"{name}.ipynb", as_version=4)
    tags = [set(cell.metadata.get("tags", ())) for cell in stored.cells]
    page = make_page(stored, name)
    shown = [set(cell.metadata.get("tags", ())) for cell in page.notebook.cells]
    seen = {"setup": 0, "drawing": 0}
    for had, has, cell in zip(tags, shown, stored.cells, strict=True):
        draws = any("image/png" in output.get("data", {}) for output in cell.get("outputs", ()))
        if had & {"setup", "course-setup"}:
            assert ("hide-input" if draws else "remove-cell") in has, cell.source[:60]
            seen["setup"] += 1
        elif "drawing" in had:
            assert "hide-input" in has, cell.source[:60]
            seen["drawing"] += 1
    assert seen["setup"] and seen["drawing"]
    on_white = 0
    for file, picture in page.pictures.items():
        if file.endswith(".svg"):
            assert b"fill: #ffffff" not in picture[:2000], file  # no ground; white edges may be
            continue
        drawn = Image.open(io.BytesIO(picture)).convert("RGBA")
        corners = {drawn.getpixel((x, y)) for x in (0, drawn.width - 1) for y in (0, drawn.height - 1)}
        on_white += corners == {(255, 255, 255, 255)}
        assert corners == {(255, 255, 255, 255)} or {corner[3] for corner in corners} == {0}, file
    live = "application/vnd.vegalite.v5+json"
    assert on_white == sum(
        live in output.get("data", {}) for cell in stored.cells for output in cell.get("outputs", ())
    )


@pytest.mark.long
@pytest.mark.slow
def test_links_and_anchors_lead_somewhere_and_nothing_is_loaded_from_elsewhere(site):
    dead, outside = [], []
    for path in sorted(site.rglob("*.html")):
        page = read(path)
        home = site if path.name == "404.html" else path.parent  # shown for any address, so its links begin at the root
        for target in {*page.links, *page.loaded}:
            address = urlsplit(target)
            if address.scheme in ("http", "https", "mailto") or address.netloc:
                outside += [f"{path.name}: {target}"] if target in page.loaded else []
            elif address.scheme != "data" and not target.startswith("#pst"):
                goal = (home / unquote(address.path).removeprefix("/")).resolve() if address.path else path
                anchors = read(goal).anchors if goal.suffix == ".html" and goal.is_file() else {""}
                if not goal.is_file() or unquote(address.fragment) not in anchors | {""}:
                    dead.append(f"{path.relative_to(site)}: {target}")
    assert not dead
    assert not outside


@pytest.mark.long
@pytest.mark.slow
def test_every_page_has_a_title_of_its_own_and_a_description(site):
    titles: dict[str, Path] = {}
    for path in sorted(site.rglob("*.html")):
        head = path.read_text("utf-8").partition("</head>")[0]
        (title,) = re.findall(r"<title>(.+?)</title>", head)
        (about,) = re.findall(r'<meta name="description" content="([^"]+)"', head)
        assert len(about) > 20, path
        own, _, course = title.partition(" &#8212; ")
        assert own != course, path
        assert titles.setdefault(title, path) == path, "two pages of one title"


@pytest.mark.long
@pytest.mark.slow
def test_the_index_of_the_search_holds_each_formula_once_and_no_code(site):
    found = [gzip.decompress(path.read_bytes()) for path in (site / "pagefind" / "fragment").iterdir()]
    pages = [json.loads(fragment.removeprefix(b"pagefind_dcd")) for fragment in found]
    (text,) = [page["content"] for page in pages if page["url"] == "/lectures/02_self_attention.html"]
    assert "A score is a sum of d_k products." in text
    assert "two_scenes" not in text and "softmax(np.array" not in text and "Show the code" not in text


@pytest.mark.long
@pytest.mark.slow
def test_no_formula_is_left_as_latex_and_no_script_for_formulas_is_loaded(site):
    count = 0
    for path in sorted(site.rglob("*.html")):
        text = path.read_text("utf-8")
        formulas = re.findall(r'<(?:span|div) class="math notranslate nohighlight"[^>]*>(?=(.{0,15}))', text, re.DOTALL)
        assert all(beginning == "<mjx-container " for beginning in formulas), path
        assert not formulas or "_static/formulas/formulas.css" in text, path
        assert not any("mathjax" in address.lower() for address in read(path).loaded), path
        count += len(formulas)
    assert count > 300


@pytest.mark.long
def test_without_node_the_browser_typesets(tmp_path):
    """Sphinx alone, with the site's settings, on one page."""
    need_mathjax(tmp_path)
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "buttons.json").write_text("{}")
    (tmp_path / "pages" / "index.md").write_text("# All\n\nSo $x_1$.\n")
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-q", "-c", str(ROOT / "site"), "-D", "html_title=All"]
    command += [str(tmp_path / "pages"), str(tmp_path / "html")]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PATH": str(tmp_path)}
    subprocess.run(command, env=environment, check=True, capture_output=True)
    text = (tmp_path / "html" / "index.html").read_text("utf-8")
    assert "_static/mathjax/tex-chtml.js" in text and r"\(x_1\)" in text and "formulas.css" not in text
    copy_mathjax(ROOT / "site", tmp_path / "static", in_the_browser=True)
    assert (tmp_path / "static" / "mathjax" / "tex-chtml.js").is_file()


@pytest.mark.long
@pytest.mark.slow
def test_every_picture_of_the_site_has_words_that_are_its_own(site):
    found = [(path, image) for path in sorted(site.rglob("*.html")) for image in read(path).images]
    pictures = [(path, image) for path, image in found if "_static/" not in (image["src"] or "")]  # Sphinx's own signs
    assert len(pictures) > 80
    first = {
        image["src"]: image.get("alt") or "" for _, image in reversed(pictures)
    }  # of a picture that stands in parts
    assert not [source for source, words in first.items() if len(words.split()) < 10]
    assert len(set(first.values())) == len({re.sub(r"-(light|dark)(?=\.\w+$)", "", source or "") for source in first})


@pytest.mark.long
@pytest.mark.slow
def test_the_reference_names_every_module_of_coursekit_that_notebooks_import(site):
    sources = [path.read_text("utf-8") for path in [*ROOT.glob("lectures/*.py"), *ROOT.glob("solutions/*/*.py")]]
    imported = {
        name.partition(" as ")[0].strip()
        for source in sources
        for line in re.findall(r"^from coursekit import (.+)$", source, re.MULTILINE)
        for name in line.split(",")
    }
    described = {anchor for path in (site / "reference").glob("*.html") for anchor in read(path).anchors}
    full = {name: spell_out(f"coursekit.{name}") for name in imported}
    missing = {name for name in imported if not any(anchor.startswith(full[name]) for anchor in described)}
    assert imported and not missing


@pytest.mark.long
@pytest.mark.slow
def test_the_site_can_be_built_over_an_earlier_one(site):
    assert (site / MARKER).is_file()
    assert not list(site.rglob("*.pickle")) and not (site / "solutions").exists()

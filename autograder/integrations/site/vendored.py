"""The scripts that the site's pages load: MathJax, fetched once by npm and pinned by its hash; Vega, from a package."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

from autograder.course.settings import CourseError

# What pages load of MathJax where formulas are typeset in the build: the fonts. Where readers' browsers do that, also
# the script, and the commands of LaTeX that it loads when a page uses them.
_FONTS = "output/chtml/fonts/woff-v2"
_IN_THE_BROWSER = ("tex-chtml.js", _FONTS, "input/tex/extensions")


def copy_mathjax(site: Path, static: Path, in_the_browser: bool) -> None:
    """Copy of MathJax, in the version that `site`/package-lock.json pins, what pages load, into folders of `static`.

    It is taken from `site`/node_modules; where it is not there, npm fetches it and checks its hash. Raises CourseError
    when that cannot be done.
    """
    package = site / "node_modules" / "mathjax"
    pinned = json.loads((site / "package-lock.json").read_text("utf-8"))["packages"]["node_modules/mathjax"]["version"]
    if _read_version(package) != pinned:
        _fetch(site, f"MathJax {pinned}")
    if not in_the_browser:
        shutil.copytree(package / "es5" / _FONTS, static / "formulas", dirs_exist_ok=True)
        return
    for part in _IN_THE_BROWSER:
        source = package / "es5" / part
        destination = static / "mathjax" / part
        destination.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, destination, dirs_exist_ok=True)
        else:
            shutil.copyfile(source, destination)


def write_vega(target: Path) -> None:
    """Write Vega, Vega-Lite and Vega-Embed, as the package vl-convert-python brings them, into one script `target`.

    Raises CourseError when the package is not installed.
    """
    try:
        import vl_convert
    except ImportError:
        raise CourseError('the site\'s live figures need vl-convert-python: run "make setup"') from None
    target.parent.mkdir(parents=True, exist_ok=True)
    # A function of its own, because the names in it are short and would meet those of other scripts.
    target.write_text(
        f"(() => {{{vl_convert.javascript_bundle('window.vegaEmbed = vegaEmbed;')}}})();\n", encoding="utf-8"
    )


def _read_version(package: Path) -> str:
    description = package / "package.json"
    return json.loads(description.read_text("utf-8"))["version"] if description.is_file() else ""


def _fetch(site: Path, what: str) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise CourseError(
            f"the site needs {what}, which npm fetches once, and there is no npm here: install Node.js "
            f'(Debian: apt-get install npm), or copy node_modules from a machine where "npm ci" ran in {site}'
        )
    command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    done = subprocess.run(command, cwd=site, capture_output=True, text=True)
    if done.returncode:
        said = next(iter(reversed(done.stderr.strip().splitlines())), "no reason given")
        raise CourseError(
            f"the site needs {what}, and npm could not fetch it ({said}): give this machine access to npm's registry "
            f'once, or copy node_modules from a machine where "npm ci" ran in {site}'
        )

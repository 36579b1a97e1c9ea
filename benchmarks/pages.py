"""Weighs the pages of the web site in headless Chromium: bytes over the wire, and the time to the first paint.

    python benchmarks/pages.py                  builds the site, then weighs start page and lectures
    python benchmarks/pages.py build/site       weighs a site that was built

Every page is opened with an empty cache from a local server that compresses by gzip. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "browser")]

from page_weight import Weight, served, weigh  # noqa: E402
from workplace import Window, missing  # noqa: E402

from autograder.course.settings import load_course  # noqa: E402
from autograder.integrations.site.build import build_site  # noqa: E402


def weigh_pages(site: Path, folder: Path, runs: int) -> dict[str, Weight]:
    """Start page and lectures by name: their bytes, and the median time to the first paint of `runs` visits."""
    window = Window(folder, logs={"performance": "ALL"})
    pages = ["index", *(f"lectures/{path.stem}" for path in sorted((site / "lectures").glob("[0-9]*.html")))]
    weights = {}
    try:
        with served(site) as home:
            for page in pages:
                visits = [weigh(window, f"{home}/{page}.html") for _ in range(runs)]
                weights[page] = replace(visits[0], paint_ms=statistics.median(each.paint_ms for each in visits))
    finally:
        window.close()
    return weights


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("site", nargs="?", type=Path, help="a folder with the built site")
    parser.add_argument("--runs", type=int, default=3, help="visits of each page")
    given = parser.parse_args()
    if reason := missing():
        sys.exit(f"this {reason}")
    with tempfile.TemporaryDirectory() as name:
        site = given.site or Path(name) / "site"
        if given.site is None:
            build_site(load_course(ROOT), site)
        weights = weigh_pages(site, Path(name), given.runs)
    print(f"{'page':38}{'opened, kB':>12}{'read, kB':>10}{'first paint, ms':>17}")
    for page, weight in weights.items():
        print(f"{page:38}{weight.opened / 1000:12.0f}{weight.read / 1000:10.0f}{weight.paint_ms:17.0f}")
    print(json.dumps({page: vars(weight) for page, weight in weights.items()}))


if __name__ == "__main__":
    main()

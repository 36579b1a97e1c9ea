"""Weighs pages of the built site and times their first paint, as a first visit over a phone's network meets them.

    python benchmarks/pages.py                                  start page, lectures and labs of build/site
    python benchmarks/pages.py --site build/site OTHER/site     two builds, page by page, in turns
    python benchmarks/pages.py --pages index labs/02_self_attention/02_self_attention

The network is slow 4G as Lighthouse sets it: 1.6 Mbit/s, 150 ms for each answer. Prints a row for each page; the last
line is JSON. Needs Chromium with its driver.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[1]
SLOW_4G = {"offline": False, "latency": 150, "downloadThroughput": 200_000, "uploadThroughput": 94_000}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--site", type=Path, nargs="+", default=[ROOT / "build" / "site"], help="folders of built sites"
    )
    parser.add_argument("--pages", nargs="+", help="names of pages, without .html; all lectures and labs by default")
    parser.add_argument(
        "--times", type=int, default=5, help="paints of a page, of which the median counts (default: 5)"
    )
    arguments = parser.parse_args()
    sys.path.insert(0, str(ROOT / "tests" / "browser"))
    from chromium import missing

    if reason := missing():
        parser.error(reason)
    for site in arguments.site:
        if not (site / "index.html").is_file():
            parser.error(f"{site} is no built site: `make site` builds one into build/site")
    pages = arguments.pages or [
        "index",
        *sorted(
            str(path.relative_to(arguments.site[-1]).with_suffix(""))
            for kind in ("lectures", "labs")
            for path in (arguments.site[-1] / kind).rglob("[0-9]*.html")
        ),
    ]
    print(json.dumps(_measure(arguments.site, pages, arguments.times)))
    return 0


def _measure(sites: list[Path], pages: list[str], times: int) -> dict[str, list[dict[str, float] | None]]:
    """For each page, kB when opened and when read to its end, and milliseconds to the first paint, site by site."""
    from page_weight import served, weigh
    from workplace import Window

    found: dict[str, list[dict[str, float] | None]] = {}
    print(f"{'page':<52}" + "  opened kB · read kB · first paint ms" * len(sites))
    with tempfile.TemporaryDirectory() as folder:
        window = Window(Path(folder), logs={"browser": "ALL", "performance": "ALL"})
        try:
            for page in pages:
                found[page] = []
                for site in sites:
                    if not (site / f"{page}.html").is_file():
                        found[page].append(None)
                        continue
                    with served(site) as home:
                        address = f"{home}/{page}.html"
                        weight = weigh(window, address)
                        paint = median(_first_paint(window, address) for _ in range(times))
                    found[page].append(
                        {"opened_kb": weight.opened / 1000, "read_kb": weight.read / 1000, "paint_ms": paint}
                    )
                shown = (
                    "not there" if row is None else " · ".join(f"{value:,.0f}" for value in row.values())
                    for row in found[page]
                )
                print(f"{page:<52}" + "".join(f"{text:>38}" for text in shown), flush=True)
        finally:
            window.close()
    return found


def _first_paint(window, address: str) -> float:
    """Milliseconds to the first contentful paint over slow 4G, with an empty cache."""
    driver = window.driver
    driver.get("about:blank")
    driver.execute_cdp_cmd("Network.clearBrowserCache", {})
    driver.execute_cdp_cmd("Network.emulateNetworkConditions", SLOW_4G)
    try:
        driver.get(address)
        return driver.execute_script("return performance.getEntriesByName('first-contentful-paint')[0].startTime")
    finally:
        driver.execute_cdp_cmd(
            "Network.emulateNetworkConditions",
            {**SLOW_4G, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1},
        )


if __name__ == "__main__":
    sys.exit(main())

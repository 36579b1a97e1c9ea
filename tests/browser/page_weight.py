"""Measures what a page of the site weighs over the wire and when it is painted, for tests and benchmarks."""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from workplace import Window

_TEXT = (".html", ".css", ".js", ".json", ".svg")
_QUIET = 0.7  # seconds without a further byte: the page is whole
# Two frames a step, so that what comes into sight is seen to do so; at the end all live figures are drawn.
_SCROLLED = """
const done = arguments[0], drawn = () => {
  if (document.querySelector('.course-live:not([data-drawn])')) setTimeout(drawn, 50); else done();
}, step = () => {
  scrollBy(0, innerHeight / 2);
  const more = scrollY + innerHeight < document.documentElement.scrollHeight - 2;
  if (more) requestAnimationFrame(() => requestAnimationFrame(step)); else drawn();
}; step();
"""


@dataclass(frozen=True)
class Weight:
    """Bytes over the wire, headers included, and milliseconds to the first paint, with an empty cache.

    `opened` is what the page loads by itself, `read` what it has loaded when a reader has scrolled to its end.
    """

    opened: int
    read: int
    paint_ms: float


class _Compressing(SimpleHTTPRequestHandler):
    """Serves files, texts compressed by gzip as the usual web servers send them, and says nothing."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        path = Path(self.translate_path(self.path))
        if path.suffix not in _TEXT or not path.is_file():
            super().do_GET()
            return
        content = _compressed(path)
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(str(path)))
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@cache
def _compressed(path: Path) -> bytes:
    return gzip.compress(path.read_bytes(), 6, mtime=0)


@contextmanager
def served(site: Path) -> Iterator[str]:
    """The address of the site on a server that compresses."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Compressing, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


def weigh(window: Window, address: str) -> Weight:
    """Open a page of `served` with an empty cache and scroll to its end. The window keeps a performance log."""
    driver = window.driver
    driver.execute_cdp_cmd("Network.enable", {})
    driver.execute_cdp_cmd("Network.clearBrowserCache", {})
    driver.get("about:blank")
    driver.get_log("performance")
    driver.get(address)
    opened = _received(window)
    paint = driver.execute_script("return performance.getEntriesByName('first-contentful-paint')[0].startTime")
    driver.set_script_timeout(600)  # a crowded machine paints slowly
    driver.execute_async_script(_SCROLLED)
    return Weight(opened, opened + _received(window), paint)


def _received(window: Window) -> int:
    """Bytes that came since the last call, when no more come."""
    total, quiet = 0, False
    while not quiet:
        window.driver.execute_async_script(f"setTimeout(arguments[0], {1000 * _QUIET})")
        messages = [json.loads(entry["message"])["message"] for entry in window.driver.get_log("performance")]
        came = [
            message["params"]["encodedDataLength"]
            for message in messages
            if message["method"] == "Network.loadingFinished"
        ]
        total, quiet = total + int(sum(came)), not came
    return total

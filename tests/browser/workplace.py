"""A JupyterLab server of its own, and a Chromium window on it, for tests that use the course as people do."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import nbformat
from chromium import CHROMIUM, DRIVER
from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException, TimeoutException, WebDriverException
from selenium.webdriver import ActionChains, Keys
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

PATIENCE = 120  # seconds for one step, on a machine that has other things to do
TOKEN = "only-for-this-test"
WIDE, NARROW = (1300, 1400), (500, 1000)
_SWITCHES = (
    "--headless=new",
    "--no-sandbox",  # Chromium refuses its own sandbox to root and in containers; it shows nothing but our pages
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",  # nothing from elsewhere
    "--no-first-run",
)
# The contrast of each piece of text in an element with what is behind it, as WCAG 2 computes it, opacity included.
_CONTRASTS = """
const parse = c => { const v = c.match(/[\\d.]+/g).map(Number); return v.length > 3 ? v : [...v, 1]; };
const over = (a, b, alpha) => a.slice(0, 3).map((x, i) => x * alpha + b[i] * (1 - alpha));
const linear = x => x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4;
const light = c => { const [r, g, b] = c.map(x => linear(x / 255)); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
const behind = e => { if (!e) return [255, 255, 255]; const c = parse(getComputedStyle(e).backgroundColor);
  return c[3] >= 1 ? c.slice(0, 3) : over(c, behind(e.parentElement), c[3]); };
const seen = e => { let o = 1; for (; e; e = e.parentElement) o *= Number(getComputedStyle(e).opacity); return o; };
const found = [], walk = document.createTreeWalker(arguments[0], NodeFilter.SHOW_TEXT);
while (walk.nextNode()) {
  const text = walk.currentNode.textContent.trim(), e = walk.currentNode.parentElement;
  if (!text) continue;
  const back = behind(e), c = parse(getComputedStyle(e).color), front = over(c, back, c[3] * seen(e));
  const [low, high] = [light(front), light(back)].sort((a, b) => a - b);
  found.push([text, (high + 0.05) / (low + 0.05)]);
}
return found;
"""

T = TypeVar("T")


class Server:
    """`jupyter lab`, started in a folder, with settings, kernels and history of its own; `more` are its options."""

    def __init__(
        self, folder: Path, state: Path, environment: Mapping[str, str] | None = None, more: Sequence[str] = ()
    ):
        for name in ("config", "data", "home", "ipython", "runtime", "settings", "workspaces"):
            (state / name).mkdir(parents=True)
        quiet = state / "settings" / "@jupyterlab" / "apputils-extension" / "notification.jupyterlab-settings"
        quiet.parent.mkdir(parents=True)
        quiet.write_text(json.dumps({"fetchNews": "false", "checkForUpdates": False}))  # no question at the first start
        variables = {
            **os.environ,
            "HOME": str(state / "home"),
            "IPYTHONDIR": str(state / "ipython"),
            "JUPYTERLAB_SETTINGS_DIR": str(state / "settings"),
            "JUPYTERLAB_WORKSPACES_DIR": str(state / "workspaces"),
            "JUPYTER_CONFIG_DIR": str(state / "config"),
            "JUPYTER_DATA_DIR": str(state / "data"),
            "JUPYTER_RUNTIME_DIR": str(state / "runtime"),
            **(environment or {}),
        }
        command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--ip=127.0.0.1", "--port=0"]
        command += ["--allow-root", f"--IdentityProvider.token={TOKEN}", *more]
        self._state = state
        self.log = state / "log"
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(command, cwd=folder, env=variables, stdout=log, stderr=subprocess.STDOUT)

    def stop(self) -> None:
        """End the server; it ends its kernels."""
        self._process.terminate()
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            self._process.kill()

    def address(self, path: str) -> str | None:
        """The address of a page, which opens no notebook of an earlier window; None until the server is up.

        Raises RuntimeError when the server has ended.
        """
        if self._process.poll() is not None:
            raise RuntimeError(f"JupyterLab did not start:\n{self.log.read_text()[-3000:]}")
        for file in (self._state / "runtime").glob("jpserver-*.json"):
            try:
                return f"{json.loads(file.read_text())['url']}{path}?reset&token={TOKEN}"
            except ValueError:  # half written
                return None
        return None


class Window:
    """A Chromium window, and what a person does in it."""

    def __init__(self, folder: Path, logs: Mapping[str, str] | None = None):
        options = webdriver.ChromeOptions()
        if logs:  # what `driver.get_log` gives, by kind
            options.set_capability("goog:loggingPrefs", dict(logs))
        options.binary_location = CHROMIUM
        for switch in (*_SWITCHES, f"--user-data-dir={folder / 'profile'}"):
            options.add_argument(switch)
        self.folder = folder
        self.driver = webdriver.Chrome(options=options, service=Service(DRIVER))
        self.driver.set_window_size(*WIDE)

    def close(self) -> None:
        self.driver.quit()

    def wait(self, condition: Callable[[], T | None], what: str) -> T:
        """Wait until `condition` gives something true, and return that; `what` says what is waited for."""
        waiting = WebDriverWait(
            self.driver, PATIENCE, poll_frequency=0.1, ignored_exceptions=(StaleElementReferenceException,)
        )
        return waiting.until(lambda _: condition(), f"waited {PATIENCE} s: {what}")

    def open(self, server: Server, path: str) -> None:
        self.driver.get(self.wait(lambda: server.address(path), "JupyterLab starts"))

    def shot(self, name: str) -> Path:
        """Write a screenshot."""
        path = self.folder / f"{name}.png"
        self.driver.save_screenshot(str(path))
        return path

    def all(self, css: str) -> list[WebElement]:
        return self.driver.find_elements(By.CSS_SELECTOR, css)

    def find(self, css: str, text: str = "") -> WebElement:
        """The first element seen at `css` that holds `text`, as soon as there is one."""

        def search() -> WebElement | None:
            return next((element for element in self.all(css) if element.is_displayed() and text in element.text), None)

        return self.wait(search, f'"{text}" at {css}')

    def click(self, css: str, text: str = "") -> None:
        """Click it as soon as nothing lies over it."""
        self.click_on(lambda: self.find(css, text), f'"{text}" at {css}')

    def click_on(self, find: Callable[[], WebElement], what: str) -> None:
        """Click what `find` returns as soon as that can be done; a page that is still drawn may exchange it."""

        def attempt() -> bool:
            try:
                find().click()
            except StaleElementReferenceException:
                return False
            except WebDriverException as error:
                if "intercepted" in str(error) or "not interactable" in str(error):
                    return False
                raise
            return True

        self.wait(attempt, f"a click on {what}")

    def click_for(self, css: str, text: str, follows: str) -> None:
        """Click it until something at `follows` is seen; a list that is drawn anew just then swallows a click."""

        def seen() -> bool:
            return any(element.is_displayed() for element in self.all(follows))

        def attempt() -> bool:
            if not seen():
                self.click(css, text)
                with suppress(TimeoutException):
                    WebDriverWait(self.driver, 3, ignored_exceptions=(StaleElementReferenceException,)).until(
                        lambda _: seen()
                    )
            return seen()

        self.wait(attempt, f'a click on "{text}" at {css} shows {follows}')

    def menu(self, *labels: str) -> None:
        """Choose from JupyterLab's menu bar, such as ``("Settings", "Theme", "JupyterLab Dark")``."""
        self.click(".lm-MenuBar-itemLabel", labels[0])
        for label in labels[1:-1]:
            ActionChains(self.driver).move_to_element(self.find(".lm-Menu-itemLabel", label)).perform()
        self.click(".lm-Menu-itemLabel", labels[-1])

    def contrasts(self, element: WebElement) -> list[tuple[str, float]]:
        """Each piece of text in an element, and its contrast with what is behind it."""
        return [tuple(pair) for pair in self.driver.execute_script(_CONTRASTS, element)]


class NotebookWindow(Window):
    """A window on one notebook. Its cells are called by their grade_id or else id, which a person does not see."""

    def __init__(self, folder: Path, server: Server, root: Path, path: str):
        super().__init__(folder)
        self.open(server, f"lab/tree/{path}")
        self.shows(root / path)

    def shows(self, notebook: Path) -> None:
        """Wait until the window shows all cells of a notebook."""
        cells = nbformat.read(notebook, as_version=4).cells
        names = [cell.metadata.get("nbgrader", {}).get("grade_id", cell.get("id")) for cell in cells]
        self._numbers = {name: number for number, name in enumerate(names)}
        self.wait(lambda: len(self.all(".jp-Notebook .jp-Cell")) == len(cells), "the notebook shows its cells")

    def cell(self, grade_id: str) -> WebElement:
        found = self.all(".jp-Notebook .jp-Cell")[self._numbers[grade_id]]
        self.driver.execute_script("arguments[0].scrollIntoView({block: 'start'})", found)
        return found

    def write(self, grade_id: str, source: str) -> None:
        """Replace what is in a cell, as by pasting."""
        self._enter(grade_id)
        ActionChains(self.driver).key_down(Keys.CONTROL).send_keys("a").key_up(Keys.CONTROL).perform()
        self.driver.execute_cdp_cmd("Input.insertText", {"text": source})

    def run(self, grade_id: str) -> WebElement:
        """Run a cell, wait for its end, and return it."""
        before = self._prompt(grade_id)
        self._enter(grade_id)
        ActionChains(self.driver).key_down(Keys.CONTROL).send_keys(Keys.ENTER).key_up(Keys.CONTROL).perform()
        ended = re.compile(rf"(?!{re.escape(before)})\[\d+\]:")
        self.wait(lambda: ended.match(self._prompt(grade_id)), f"{grade_id} ran")
        return self.cell(grade_id)

    def check(self, grade_id: str) -> WebElement:
        """Run a check, and return its report."""
        return self.run(grade_id).find_element(By.CSS_SELECTOR, "div[role=status]")

    def _enter(self, grade_id: str) -> None:
        self.click_on(lambda: self.cell(grade_id).find_element(By.CSS_SELECTOR, ".cm-content"), f"cell {grade_id}")

    def _prompt(self, grade_id: str) -> str:
        found = self.cell(grade_id).find_element(By.CSS_SELECTOR, ".jp-InputArea-prompt")
        return found.get_attribute("textContent") or ""

    def hide_files(self) -> None:
        """Close the list of files beside the notebook, as one does in a narrow window."""
        if any(browser.is_displayed() for browser in self.all(".jp-FileBrowser")):
            ActionChains(self.driver).key_down(Keys.CONTROL).send_keys("b").key_up(Keys.CONTROL).perform()
        self.wait(
            lambda: not any(browser.is_displayed() for browser in self.all(".jp-FileBrowser")), "the files are hidden"
        )

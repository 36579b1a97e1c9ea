"""Where the browser is."""

import shutil

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
DRIVER = shutil.which("chromedriver")


def missing() -> str | None:
    """Why there can be no browser here, or None."""
    if CHROMIUM is None or DRIVER is None:
        return "needs Chromium and its driver: apt-get install chromium chromium-driver"
    return None

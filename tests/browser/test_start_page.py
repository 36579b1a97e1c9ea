"""What `make lab` opens in JupyterLab: a page with lectures, labs and points; accessible, and its links lead there."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from selenium.webdriver import Keys
from test_web_site import violations
from typer.testing import CliRunner
from workplace import Server, Window

from coursekit.terminal import app

pytestmark = [pytest.mark.long, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[2]
LECTURE, LAB = "02b_what_attention_costs", "02_self_attention"
PAGE = ".jp-Notebook .jp-RenderedMarkdown"


@pytest.fixture
def window(tmp_path, monkeypatch):
    """JupyterLab with the settings that `python -m coursekit start` gives it, in a folder with a lecture and a lab."""
    (tmp_path / "course" / "lectures").mkdir(parents=True)
    shutil.copy(ROOT / "lectures" / f"{LECTURE}.ipynb", tmp_path / "course" / "lectures")
    shutil.copytree(ROOT / "labs" / LAB, tmp_path / "course" / "labs" / LAB)
    monkeypatch.chdir(tmp_path / "course")
    ran: list[list[str]] = []
    monkeypatch.setattr(os, "execv", lambda *words: ran.append(list(words[1])))
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", "")
    assert CliRunner().invoke(app, ["start"]).exit_code == 0
    environment = {"JUPYTER_CONFIG_PATH": os.environ["JUPYTER_CONFIG_PATH"]}
    monkeypatch.undo()
    settings = [word for word in ran[0] if word.startswith("--LabApp")]
    server = Server(tmp_path / "course", tmp_path / "state", environment, settings)
    opened = Window(tmp_path)
    opened.open(server, "")
    yield opened
    opened.close()
    server.stop()


def test_it_opens_on_the_list_is_accessible_and_a_link_opens_the_lab_by_keyboard(window):
    text = window.find(PAGE, "your points").text
    assert "2b · What attention costs" in text and "0 of" in text and "together" in text
    for theme in ("JupyterLab Light", "JupyterLab Dark"):
        window.menu("Settings", "Theme", theme)
        light = "true" if theme.endswith("Light") else "false"
        window.wait(lambda light=light: window.all(f"body[data-jp-theme-light={light}]"), theme)
        window.shot(f"start-{theme.split()[1]}")
        assert not violations(window, PAGE)
    window.find(f"{PAGE} a", "Lab 02").send_keys(Keys.ENTER)
    window.find(".lm-TabBar-tabLabel", f"{LAB}.ipynb")
    window.find(".jp-ToolbarButtonComponent", "Validate")
    window.shot("lab-opened-from-start")
    assert not window.all(".jp-SideBar .lm-TabBar-tab[title*='Create Assignment']")

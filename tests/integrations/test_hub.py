"""The example of a class server: JupyterHub knows each of its settings, and its page names what is there."""

from __future__ import annotations

import os
import pwd
import re
import subprocess
from importlib.metadata import entry_points
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from traitlets.config import Config
from typer.main import get_command

from autograder.cli.app import app

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def loaded(tmp_path, monkeypatch) -> dict:
    """What the configuration leaves behind: `c`, and its functions."""
    source = (ROOT / "docker" / "hub" / "jupyterhub_config.py").read_text("utf-8")
    compiled = compile(source, "jupyterhub_config.py", "exec")
    pytest.importorskip("jupyterhub")
    monkeypatch.setenv("HUB_COURSE", str(tmp_path))
    monkeypatch.setattr(os, "umask", lambda mode: 0)
    config = Config()
    names = {"get_config": lambda: config}
    exec(compiled, names)
    assert tmp_path.stat().st_mode & 0o777 == 0o700
    return names


def test_jupyterhub_knows_each_setting(loaded):
    from jupyterhub.app import JupyterHub
    from jupyterhub.spawner import Spawner

    config = loaded["c"]
    chosen = {}
    for kind in ("authenticator", "spawner"):
        (entry,) = entry_points(group=f"jupyterhub.{kind}s", name=config.JupyterHub[f"{kind}_class"])
        chosen[kind] = entry.load()
    classes = {"JupyterHub": JupyterHub, "Spawner": Spawner, "NativeAuthenticator": chosen["authenticator"]}
    assert config.keys() == classes.keys() and issubclass(chosen["spawner"], Spawner)
    for name, settings in config.items():
        assert settings.keys() <= set(classes[name].class_trait_names(config=True)), name
    JupyterHub(config=config)  # their types are right as well
    for service in config.JupyterHub.services:
        assert "autograder.cli" in service["command"] or "jupyterhub_idle_culler" in service["command"]


def test_each_student_has_an_account_of_her_own_and_nobody_takes_one_of_the_system(loaded, monkeypatch):
    made: list[list[str]] = []
    monkeypatch.setattr(subprocess, "run", lambda command, check: made.append(command))
    prepare = loaded["c"].Spawner.pre_spawn_hook

    def spawner(name: str, number: int) -> SimpleNamespace:
        return SimpleNamespace(user=SimpleNamespace(name=name, id=number))

    student = spawner("nobody-has-this-name", 7)
    prepare(student)
    assert made[0][:3] == ["useradd", "--uid", "20007"] and "HOME_MODE=0700" in made[0]
    assert "/opt/hub" not in str(student.environment)
    with pytest.raises(PermissionError, match="an account of the system"):
        prepare(spawner(pwd.getpwuid(0).pw_name, 8))
    assert len(made) == 1
    instructor = spawner("course", 1)
    prepare(instructor)
    assert instructor.notebook_dir == loaded["COURSE"]


def test_the_page_names_commands_and_files_that_are_there():
    page = (ROOT / "docs" / "teaching" / "class-server.md").read_text("utf-8")
    blocks = "\n".join(re.findall(r"^```sh\n(.*?)^```", page, re.MULTILINE | re.DOTALL))
    commands = get_command(app).commands.keys()
    called = set(re.findall(r"^course (\w+)", blocks, re.MULTILINE)) | set(re.findall(r"`course (\w+)`", page))
    assert called and called <= commands
    for name in re.findall(r"(?<!/)(?:docker|requirements)/[\w./-]*", page):
        assert (ROOT / name).exists(), name
    service = yaml.safe_load((ROOT / "docker" / "compose.hub.yaml").read_text())["services"]["hub"]
    assert service["build"]["dockerfile"] == "docker/hub/Dockerfile" and service["cap_drop"] == ["ALL"]
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])

"""What a class server is told by its environment: folders, the account that owns the course, limits."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class HubSettings:
    """The settings of a class server, each from a variable of the environment.

    Attributes:
        course: the folder with course.toml, which only `account` can open (HUB_COURSE).
        account: the Unix account that owns the course: Formgrader and `course watch` run as it (HUB_ACCOUNT).
        state: the hub's own folder, which only root can open: accounts, passwords' hashes, keys (HUB_STATE).
        public: a folder that everybody can read, with nbgrader's settings for students (HUB_PUBLIC).
        homes: the folder with the students' homes (HUB_HOMES).
        exchange: nbgrader's exchange (NBGRADER_EXCHANGE).
        address: where the hub answers (HUB_ADDRESS).
        api_port, proxy_port: ports on this machine that nobody outside sees.
        memory_mb: memory of one student, all processes together (HUB_MEMORY_MB).
        cpus: processors of one student; enforced under systemd only (HUB_CPUS).
        processes: processes and threads of one student (HUB_PROCESSES).
        start_seconds: how long a server may take to start (HUB_START_SECONDS).
        idle_minutes: after which a server without activity is stopped (HUB_IDLE_MINUTES).
    """

    course: Path
    account: str
    state: Path
    public: Path
    homes: Path
    exchange: Path
    address: str
    api_port: int
    proxy_port: int
    memory_mb: int
    cpus: float
    processes: int
    start_seconds: int
    idle_minutes: float

    @property
    def database(self) -> Path:
        """The hub's database: sessions, and the hashes of the passwords."""
        return self.state / "jupyterhub.sqlite"

    @property
    def accounts(self) -> Path:
        """The list of the accounts that a roster made."""
        return self.state / "accounts.csv"


def hub_settings(environment: Mapping[str, str] = os.environ) -> HubSettings:
    """The settings that `environment` gives; those of the container where it gives none."""
    get = environment.get
    return HubSettings(
        course=Path(get("HUB_COURSE", "/course")),
        account=get("HUB_ACCOUNT", "course"),
        state=Path(get("HUB_STATE", "/srv/hub")),
        public=Path(get("HUB_PUBLIC", "/srv/hub-public")),
        homes=Path(get("HUB_HOMES", "/home")),
        exchange=Path(get("NBGRADER_EXCHANGE", "/srv/nbgrader/exchange")),
        address=get("HUB_ADDRESS", "http://127.0.0.1:8000"),
        api_port=int(get("HUB_API_PORT", "8081")),
        proxy_port=int(get("HUB_PROXY_PORT", "8001")),
        memory_mb=int(get("HUB_MEMORY_MB", "3072")),
        cpus=float(get("HUB_CPUS", "2")),
        processes=int(get("HUB_PROCESSES", "512")),
        start_seconds=int(get("HUB_START_SECONDS", "600")),
        idle_minutes=float(get("HUB_IDLE_MINUTES", "60")),
    )

"""A class server of its own for tests and benchmarks, and people who use it as a browser does.

It makes Unix accounts on this machine, all with one prefix, and removes them at its end. Where CLASS_SERVER names the
address of a class server that is up, such as the container's, tests can use that one: see `RunningServer`.
"""

from __future__ import annotations

import csv
import json
import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import requests
import websocket

from autograder.integrations.hub.settings import HubSettings, hub_settings

ROOT = Path(__file__).resolve().parents[1]
PREFIX = "hubtest-"
OWNER = f"{PREFIX}course"
PATIENCE = 180
COURSE, LAB = "statistics", "01_first_lab"


def missing() -> str | None:
    """Why there can be no class server here, or None."""
    if not sys.platform.startswith("linux") or os.geteuid() != 0:
        return "needs root on Linux: a class server makes Unix accounts"
    if shutil.which("useradd") is None:
        return "needs useradd"
    if shutil.which("configurable-http-proxy") is None and shutil.which("npm") is None:
        return "needs configurable-http-proxy, or npm to fetch it"
    if any(entry.pw_name.startswith(PREFIX) for entry in pwd.getpwall()):
        return f"needs a machine without accounts that begin with {PREFIX}: another run is under way, or was killed"
    if not _open_to_all(ROOT):
        return f"needs {ROOT} to be readable for all accounts"
    return None if _python() else "needs a Python of this version that all accounts can run"


def _open_to_all(path: Path) -> bool:
    return all(place.stat().st_mode & 0o005 == 0o005 for place in (path, *path.parents))


def _python() -> str | None:
    """A Python of this version that every account can run."""
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    code = f"import sys, venv; sys.exit('%d.%d' % sys.version_info[:2] != {version!r})"
    for name in (os.path.realpath(sys.executable), f"/usr/bin/python{version}", f"/usr/local/bin/python{version}"):
        try:
            if subprocess.run([name, "-c", code], user="nobody", cwd="/", capture_output=True).returncode == 0:
                return name
        except OSError:
            continue
    return None


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


class ClassServer:
    """JupyterHub as hub/jupyterhub_config.py describes it, with a small course in a temporary folder."""

    prefix = PREFIX

    def __init__(self, **variables: str):
        self.folder = Path(tempfile.mkdtemp(prefix=PREFIX))
        self.folder.chmod(0o755)
        self.course, self.homes = self.folder / COURSE, self.folder / "homes"
        self.exchange, self.state = self.folder / "exchange", self.folder / "state"
        self.log = self.folder / "hub.log"
        self._process: subprocess.Popen | None = None
        ports = _free_ports(3)
        self.address = f"http://127.0.0.1:{ports[0]}"
        self.python = self._environment()
        self.variables = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("JUPYTER", "PYTEST"))},
            "HUB_ADDRESS": self.address,
            "HUB_API_PORT": str(ports[1]),
            "HUB_PROXY_PORT": str(ports[2]),
            "HUB_COURSE": str(self.course),
            "HUB_ACCOUNT": OWNER,
            "HUB_STATE": str(self.state),
            "HUB_PUBLIC": str(self.folder / "public"),
            "HUB_HOMES": str(self.homes),
            "HUB_PROXY": self._proxy(),
            "NBGRADER_EXCHANGE": str(self.exchange),
            "PATH": f"{self.python.parent}:{os.environ['PATH']}",
            **variables,
        }
        self.settings = hub_settings(self.variables)

    def _environment(self) -> Path:
        """This environment's packages, under a Python that all accounts can run; return that Python."""
        venv = self.folder / "venv"
        subprocess.run([_python() or "", "-m", "venv", "--without-pip", str(venv)], check=True)
        here = Path(sys.prefix)
        packages = Path(f"lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages")
        for part in (packages, Path("share"), Path("etc")):
            if (here / part).is_dir():
                shutil.copytree(here / part, venv / part, copy_function=_link, dirs_exist_ok=True)
        (venv / "bin" / "alembic").write_text(f"#!{venv}/bin/python\nfrom alembic.config import main\nmain()\n")
        (venv / "bin" / "alembic").chmod(0o755)
        return venv / "bin" / "python"

    def _proxy(self) -> str:
        found = shutil.which("configurable-http-proxy")
        if found:
            return found
        for name in ("package.json", "package-lock.json"):
            shutil.copy(ROOT / "hub" / name, self.folder)
        command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True)
        if done.returncode:
            shutil.rmtree(self.folder)
            raise ConnectionError(f"npm could not fetch configurable-http-proxy: {done.stderr.strip()[:200]}")
        return str(self.folder / "node_modules" / ".bin" / "configurable-http-proxy")

    def course_command(self, *words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        """Type `course …` as root on the server."""
        command = [str(self.python), "-m", "autograder.cli", *words]
        return subprocess.run(
            command, cwd=cwd or self.folder, env=self.variables, capture_output=True, text=True, timeout=600
        )

    def start(self) -> None:
        """Make the course, start the hub, and wait until it answers."""
        subprocess.run(
            ["useradd", "--system", "--no-create-home", "--home-dir", str(self.folder / "owner"), OWNER], check=True
        )
        owner = pwd.getpwnam(OWNER)
        home = self.folder / "owner"
        home.mkdir(mode=0o700)
        for words, cwd in ((("new", "course", COURSE), self.folder), (("release",), self.course)):
            done = self.course_command(*words, cwd=cwd)
            assert done.returncode == 0, done.stdout + done.stderr
        for path in (home, self.course, *self.course.rglob("*")):
            os.chown(path, owner.pw_uid, owner.pw_gid)
        command = [str(self.python), "-m", "jupyterhub", "-f", str(ROOT / "hub" / "jupyterhub_config.py")]
        self.folder.joinpath("run").mkdir(mode=0o700)
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(
                command, cwd=self.folder / "run", env=self.variables, stdout=log, stderr=subprocess.STDOUT
            )
        wait_for(lambda: self._process.poll() is not None or _answers(f"{self.address}/hub/api/"), "the hub")
        assert self._process.poll() is None, self.log.read_text()[-4000:]

    def add(self, people: Iterable[tuple[str, str]]) -> dict[str, str]:
        """Accounts with these ids and roles; their passwords."""
        people = list(people)
        name = uuid.uuid4().hex
        table = self.folder / "run" / f"{name}.csv"
        table.write_text("id,role\n" + "".join(f"{person},{role}\n" for person, role in people))
        written = self.folder / "run" / f"{name}-passwords.csv"
        command = [str(self.python), "-P", "-m", "autograder.integrations.hub", str(table), "--passwords", str(written)]
        done = subprocess.run(command, cwd=self.folder, env=self.variables, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stdout + done.stderr
        assert written.stat().st_mode & 0o777 == 0o600
        return read_passwords(written)

    def stop(self) -> None:
        """End the hub and all processes of its accounts, remove accounts and files."""
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(60)
            except subprocess.TimeoutExpired:
                self._process.kill()
        for entry in pwd.getpwall():
            if entry.pw_name.startswith(PREFIX):
                subprocess.run(["pkill", "-KILL", "-u", str(entry.pw_uid)], check=False)
                time.sleep(0.1)
                subprocess.run(["userdel", entry.pw_name], check=False, capture_output=True)
        if keep := os.environ.get("CLASS_SERVER_LOG"):
            shutil.copy(self.log, keep)
        shutil.rmtree(self.folder, ignore_errors=True)


@dataclass(frozen=True)
class RunningServer:
    """A class server that somebody else has started, with the settings of the container.

    `address` is CLASS_SERVER; `course` is the folder of its course, made by `course new course statistics` and
    `course release`, as this machine sees it (CLASS_COURSE).
    """

    address: str
    course: Path
    prefix = ""
    settings = hub_settings({})


def running() -> tuple[RunningServer, dict[str, str]] | None:
    """The class server that CLASS_SERVER names, and the passwords in CLASS_PASSWORDS, which the roster writes."""
    if not (address := os.environ.get("CLASS_SERVER")):
        return None
    server = RunningServer(address.rstrip("/"), Path(os.environ["CLASS_COURSE"]))
    return server, read_passwords(Path(os.environ["CLASS_PASSWORDS"]))


def read_passwords(table: Path) -> dict[str, str]:
    """Passwords by id, from the file that `python -m autograder.integrations.hub` writes."""
    with table.open(newline="") as file:
        return {row["id"]: row["password"] for row in csv.DictReader(file)}


def out_of_reach(place: HubSettings, neighbour: str) -> dict[str, str]:
    """What no student may do, as expressions in Python by what they try; each has to end with a PermissionError."""
    exchange, home = place.exchange / COURSE, place.homes / neighbour
    return {
        "neighbour's home": f"os.listdir('{home}')",
        "neighbour's work": f"open('{home / LAB / LAB}.ipynb').read()",
        "solutions": f"open('{place.course}/solutions/{LAB}/{LAB}.ipynb').read()",
        "course": f"os.listdir('{place.course}')",
        "gradebook": f"open('{place.course}/gradebook.db', 'rb').read(1)",
        "feedback of all": f"os.listdir('{place.course}/feedback')",
        "what others handed in": f"os.listdir('{exchange / 'inbound'}')",
        "feedback in the exchange": f"os.listdir('{exchange / 'feedback'}')",
        "hand out something": f"open('{exchange / 'outbound' / LAB / LAB}.ipynb', 'a')",
        "remove what is handed in": f"shutil.rmtree('{exchange / 'inbound'}')",
        "replace the exchange": f"os.rename('{exchange}', '{place.exchange}/old')",
        "the hub's folder": f"os.listdir('{place.state}')",
        "passwords": f"open('{place.database}', 'rb').read(1)",
        "accounts": f"open('{place.accounts}').read()",
        "change the settings": f"open('{place.public}/nbgrader_config.py', 'a')",
        "root": "os.setuid(0)",
        "another account": f"os.setuid(os.stat('{home}').st_uid)",
        "end a neighbour's processes": f"[os.kill(p, 9) for p in {processes_of(home)}]",
        "environment of a neighbour": f"[open(f'/proc/{{p}}/environ', 'rb').read() for p in {processes_of(home)}]",
    }


def processes_of(home: Path) -> str:
    """An expression for the processes of the account to which a home belongs."""
    theirs = f"os.stat('/proc/' + p).st_uid == os.stat('{home}').st_uid"
    return f"[int(p) for p in os.listdir('/proc') if p.isdigit() and {theirs}]"


class Visitor:
    """Somebody in front of a browser."""

    def __init__(self, server: ClassServer, name: str, password: str):
        self.server, self.name, self.password = server, name, password
        self.prefix = f"/user/{name}/"
        self.session = requests.Session()

    def sign_in(self) -> bool:
        """Whether the hub lets this person in."""
        page = f"{self.server.address}/hub/login"
        self.session.get(page, timeout=PATIENCE)
        data = {"username": self.name, "password": self.password, "_xsrf": self._token("/hub/")}
        self.session.post(page, data=data, params={"next": "/hub/home"}, timeout=PATIENCE)
        return "jupyterhub-session-id" in self.session.cookies and self.fetch("/hub/home").url.endswith("/hub/home")

    def start(self) -> None:
        """Start the server and open JupyterLab on it."""
        self.fetch(f"/hub/spawn/{self.prefix.split('/')[2]}")
        ready = f"{self.server.address}{self.prefix}"
        wait_for(lambda: (page := self.fetch(f"{self.prefix}lab")).ok and page.url.startswith(ready), self.name)

    def at(self, owner: str) -> Visitor:
        """The same person, with the same session, in front of another account's server."""
        other = Visitor(self.server, self.name, self.password)
        other.session, other.prefix = self.session, f"/user/{owner}/"
        return other

    def fetch(self, path: str) -> requests.Response:
        """GET a page, following redirects."""
        return self.session.get(f"{self.server.address}{path}", timeout=PATIENCE)

    def get(self, path: str) -> requests.Response:
        """GET something of this person's own server."""
        return self.fetch(self.prefix + path)

    def post(self, path: str, **data: object) -> requests.Response:
        """POST to this person's own server."""
        headers = {"X-XSRFToken": self._token(self.prefix)}
        return self.session.post(f"{self.server.address}{self.prefix}{path}", headers=headers, timeout=PATIENCE, **data)

    def put(self, path: str, content: dict) -> requests.Response:
        """PUT a file of this person's own server."""
        headers = {"X-XSRFToken": self._token(self.prefix)}
        return self.session.put(
            f"{self.server.address}{self.prefix}api/contents/{path}", headers=headers, json=content, timeout=PATIENCE
        )

    def kernel(self) -> str:
        """Start a kernel; return its id."""
        answer = self.post("api/kernels", json={"name": "python3"})
        assert answer.status_code == 201, answer.text
        return answer.json()["id"]

    def run(self, code: str, kernel: str | None = None, seconds: float = PATIENCE) -> str:
        """Run code in a kernel of this person, and return what it printed, errors included.

        Raises WebSocketTimeoutException when nothing is heard from the kernel for `seconds`.
        """
        kernel = kernel or self.kernel()
        token = quote(self._token(self.prefix))
        address = (
            f"{self.server.address.replace('http', 'ws', 1)}{self.prefix}api/kernels/{kernel}/channels?_xsrf={token}"
        )
        request = requests.Request("GET", self.server.address + self.prefix)
        cookies = self.session.prepare_request(request).headers["Cookie"]
        socket_ = websocket.create_connection(address, cookie=cookies, timeout=seconds)
        number = uuid.uuid4().hex
        content = {"code": code, "silent": False, "store_history": False, "allow_stdin": False}
        header = {"msg_id": number, "msg_type": "execute_request", "session": number, "username": "", "version": "5.3"}
        message = {"header": header, "parent_header": {}, "metadata": {}, "content": content, "channel": "shell"}
        socket_.send(json.dumps(message))
        said = ""
        while True:
            answer = json.loads(socket_.recv())
            if answer["parent_header"].get("msg_id") != number:
                continue
            kind, content = answer["msg_type"], answer["content"]
            said += content.get("text", "") if kind == "stream" else ""
            said += f"{content['ename']}: {content['evalue']}" if kind == "error" else ""
            if kind == "status" and content["execution_state"] == "idle":
                socket_.close()
                return said

    def _token(self, path: str) -> str:
        found = [cookie.value for cookie in self.session.cookies if cookie.name == "_xsrf" and cookie.path == path]
        return next((value for value in found if value), "")


def wait_for(ready, what: str, seconds: float | None = None, pause: float = 0.3):
    """Ask `ready` until it says something; return that."""
    seconds = seconds or PATIENCE
    end = time.monotonic() + seconds
    while not (answer := ready()):
        if time.monotonic() > end:
            raise TimeoutError(f"{what}: not within {seconds} s")
        time.sleep(pause)
    return answer


def _answers(address: str) -> bool:
    try:
        return requests.get(address, timeout=5).ok
    except requests.ConnectionError:
        return False


def _free_ports(number: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(number)]
    ports = [open_socket.getsockname()[1] for open_socket in sockets]
    for open_socket in sockets:
        open_socket.close()
    return ports

"""A container of the shape that Gradescope runs an autograder in: root, no namespaces to be made, one submission.

Its system and its Python are this machine's, read-only: no image can be had offline. What is not tried here is
`setup.sh`, which installs them from the network.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROFILE = Path("/usr/share/containers/seccomp.json")
# What Docker gives to root by default; nothing of it makes a namespace.
CAPABILITIES = (
    *("CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID", "SETPCAP", "NET_BIND_SERVICE"),
    *("NET_RAW", "SYS_CHROOT", "MKNOD", "AUDIT_WRITE", "SETFCAP"),
)
# What Docker's default profile refuses without CAP_SYS_ADMIN, and podman's allows.
REFUSED = {
    *(
        "unshare",
        "setns",
        "mount",
        "umount",
        "umount2",
        "pivot_root",
        "clone",
        "clone3",
        "fsopen",
        "fsmount",
        "fsconfig",
    ),
    *("fspick", "move_mount", "open_tree", "mount_setattr"),
}
NEW_NAMESPACES = 0x7E020000


def why_not() -> str:
    """Why no such container can be started here; empty where it can."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "only root can start such a container"
    missing = [name for name in ("podman", "runc") if not shutil.which(name)]
    return f"{missing[0]} is not installed" if missing else "" if PROFILE.is_file() else f"{PROFILE} is missing"


def build(folder: Path, archive: bytes) -> Path:
    """Lay out the container's files: the archive as Gradescope unpacks it, and what setup.sh copies."""
    root = folder / "container"
    for name in ("etc", "proc", "sys", "dev", "var/tmp", "run", "root", "usr", "autograder/results", "opt/course/home"):
        (root / name).mkdir(parents=True, exist_ok=True)
    (root / "tmp").mkdir(mode=0o1777)
    (root / "tmp").chmod(0o1777)
    for name in ("bin", "sbin", "lib", "lib64"):
        if Path("/", name).is_symlink():
            (root / name).symlink_to(os.readlink(Path("/", name)))
    (root / "etc" / "passwd").write_text("root:x:0:0:root:/root:/bin/sh\n")
    shutil.copy("/etc/ld.so.cache", root / "etc")
    source = root / "autograder" / "source"
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        opened.extractall(source)
    shutil.copy(source / "run_autograder", root / "autograder" / "run_autograder")
    (root / "autograder" / "run_autograder").chmod(0o755)
    packages = root / "opt" / "course" / "packages"
    for origin in ("coursekit", "autograder/worker", "data"):
        shutil.copytree(source / "grader" / origin, packages / Path(origin).name)
    subprocess.run(["chmod", "-R", "a+rX,go-w", str(root / "opt"), str(root / "root")], check=True)
    return root


def profile(folder: Path) -> Path:
    """Podman's default profile, made as strict as Docker's: no namespaces, no mounts."""
    content = json.loads(PROFILE.read_text("utf-8"))
    for rule in content["syscalls"]:
        if rule["action"] == "SCMP_ACT_ALLOW" and "CAP_SYS_ADMIN" not in rule.get("includes", {}).get("caps", ()):
            rule["names"] = [name for name in rule["names"] if name not in REFUSED]
    content["syscalls"] = [rule for rule in content["syscalls"] if rule["names"]]
    no_flags = [{"index": 0, "value": NEW_NAMESPACES, "valueTwo": 0, "op": "SCMP_CMP_MASKED_EQ"}]
    content["syscalls"].append({"names": ["clone"], "action": "SCMP_ACT_ALLOW", "args": no_flags})
    content["syscalls"].append({"names": ["clone3"], "action": "SCMP_ACT_ERRNO", "errnoRet": 38})
    path = folder / "seccomp.json"
    path.write_text(json.dumps(content))
    return path


def run(root: Path, *words: str, seconds: float = 600, environment: dict[str, str] | None = None):
    """Run a command as root in the container; return what `subprocess.run` returns."""
    python = Path(sys.base_prefix)
    line = [
        *("podman", "--runtime", "runc", "--cgroup-manager", "cgroupfs", "run", "--rm", "--no-healthcheck"),
        *("--tmpfs", "/tmp:size=512m,mode=1777", "--shm-size", "64m"),  # of this machine's disk nothing may be filled
        *("--ulimit", "nofile=4096:4096", "--ulimit", "nproc=4096:4096", "--network", "none", "--cap-drop", "ALL"),
        *(word for name in CAPABILITIES for word in ("--cap-add", name)),
        *("--security-opt", f"seccomp={profile(root.parent)}"),
        *("-v", "/usr:/usr:ro", "-v", f"{sys.prefix}:{sys.prefix}:ro"),
        *(() if python.is_relative_to("/usr") else ("-v", f"{python}:{python}:ro")),
        *(word for name, value in (environment or {}).items() for word in ("-e", f"{name}={value}")),
        *("-e", f"COURSE_PYTHON={sys.executable}", "--rootfs", str(root), *words),
    ]
    return subprocess.run(line, capture_output=True, text=True, timeout=seconds, check=False)

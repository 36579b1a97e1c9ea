"""An example: JupyterHub for a class on one machine (docker/compose.hub.yaml, docs/teaching/class-server.md).

Everybody signs up with JupyterHub's own NativeAuthenticator, and the instructor lets people in on /hub/authorize. Each
student's server runs under a Unix account of her own, so that nbgrader's exchange knows who handed in. The instructor
signs in as `course`, the account that owns the course's folder, and finds Formgrader there.
"""

import os
import pwd
import subprocess
import sys

c = get_config()  # noqa: F821
COURSE = os.environ.get("HUB_COURSE", "/course")  # solutions and gradebook
STUDENTS = os.environ.get("HUB_STUDENTS", "/srv/students")  # what `course publish` wrote
INSTRUCTOR = "course"
FIRST_UID = 20_000  # above the accounts that a system makes itself
SERVER = [sys.executable, "-m", "jupyterhub.singleuser"]

os.umask(0o077)
os.chmod(COURSE, 0o700)  # nobody but the instructor's account

c.JupyterHub.authenticator_class = "native"
c.NativeAuthenticator.allow_all = True  # of those whom the instructor has let in
c.NativeAuthenticator.admin_users = {INSTRUCTOR}
c.NativeAuthenticator.username_pattern = "[a-z][a-z0-9_-]{0,31}"
c.NativeAuthenticator.minimum_password_length = 10
c.NativeAuthenticator.check_common_password = True
c.NativeAuthenticator.allowed_failed_logins = 10
c.NativeAuthenticator.seconds_before_next_try = 60

c.JupyterHub.spawner_class = "localprocess"
c.Spawner.cmd = SERVER
c.Spawner.default_url = "/lab"
c.Spawner.env_keep = ["PATH", "LANG", "NBGRADER_EXCHANGE"]
c.Spawner.start_timeout = c.Spawner.http_timeout = 600  # a whole class starts in the same minute


def prepare_account(spawner):
    """Give the instructor the course's folder, and a student a Unix account with the number of her place in the hub."""
    name, number = spawner.user.name, FIRST_UID + spawner.user.id
    if name == INSTRUCTOR:
        spawner.cmd = ["env", f"--chdir={COURSE}", *SERVER]  # where nbgrader looks for its settings
        spawner.notebook_dir, spawner.environment = COURSE, {"PYTHONPATH": os.environ.get("PYTHONPATH", "")}
        return
    try:
        there = pwd.getpwnam(name).pw_uid
    except KeyError:  # new, or the container is; the homes outlive it
        make = ["useradd", "--uid", str(number), "--create-home", "--key", "HOME_MODE=0700", "--shell", "/bin/bash"]
        subprocess.run([*make, name], check=True)
    else:
        if there != number:
            raise PermissionError(f"{name} is an account of the system: sign up under another name")
    spawner.environment = {"JUPYTER_CONFIG_PATH": STUDENTS, "PYTHONPATH": STUDENTS}


c.Spawner.pre_spawn_hook = prepare_account

c.JupyterHub.services = [
    {"name": "idle-culler", "command": [sys.executable, "-m", "jupyterhub_idle_culler", "--timeout=3600"]},
    {
        "name": "watch",  # grades what is handed in, and gives the feedback back
        "command": [sys.executable, "-m", "autograder.cli", "watch"],
        "user": INSTRUCTOR,
        "cwd": COURSE,
        "environment": {name: os.environ.get(name, "") for name in ("PYTHONPATH", "NBGRADER_EXCHANGE")},
    },
]
c.JupyterHub.load_roles = [
    {
        "name": "idle-culler",
        "scopes": ["list:users", "read:users:activity", "read:servers", "delete:servers"],
        "services": ["idle-culler"],
    }
]

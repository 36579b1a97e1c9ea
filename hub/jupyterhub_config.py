"""JupyterHub for a class on one machine; compose.hub.yaml starts it, docs/teaching/class-server.md explains it.

Every person is a Unix account of her own. The course belongs to one more account, which has a server like everybody
else, with Formgrader; instructors may open that server. `course watch` runs as this account, too, and nobody else opens
the course's folder. What can be set stands in autograder/integrations/hub/settings.py.
"""

import os
import pwd
import sys
from pathlib import Path

from autograder.course.settings import load_course
from autograder.integrations.hub.accounts import known_accounts, restore
from autograder.integrations.hub.folders import prepare_folders
from autograder.integrations.hub.settings import hub_settings

c = get_config()  # noqa: F821
settings = hub_settings()
os.umask(0o077)
prepare_folders(settings)
restore(settings)
course = load_course(settings.course)

c.JupyterHub.bind_url = settings.address
c.JupyterHub.hub_port = settings.api_port
c.JupyterHub.db_url = f"sqlite:///{settings.database}"
c.JupyterHub.cookie_secret_file = str(settings.state / "cookie_secret")
c.ConfigurableHTTPProxy.api_url = f"http://127.0.0.1:{settings.proxy_port}"
c.ConfigurableHTTPProxy.pid_file = str(settings.state / "proxy.pid")
c.ConfigurableHTTPProxy.command = os.environ.get("HUB_PROXY", "configurable-http-proxy")

# Who signs in: only people of the roster. There is no page on which a stranger could take somebody's name.
c.JupyterHub.authenticator_class = "native"
c.NativeAuthenticator.enable_signup = False
c.NativeAuthenticator.allow_all = True  # of those who have a password, which the roster gives
c.NativeAuthenticator.allowed_users = {settings.account}  # makes it known to the hub; it has no password
c.NativeAuthenticator.minimum_password_length = 10
c.NativeAuthenticator.check_common_password = True
c.NativeAuthenticator.allowed_failed_logins = 10
c.NativeAuthenticator.seconds_before_next_try = 60
c.Authenticator.manage_groups = True


def with_groups(authenticator, handler, auth_model):
    """Only accounts of the roster sign in; instructors are a group."""
    account = known_accounts(settings).get(auth_model["name"])
    if account is None:
        return None
    auth_model["groups"] = [f"{account.role}s"]
    return auth_model


c.Authenticator.post_auth_hook = with_groups

# A student's server: her own account, no rights of root, limits. Under systemd the kernel bounds memory and processors
# of each student; elsewhere it bounds processes, and a service watches memory.
UNDER_SYSTEMD = os.environ.get("HUB_SPAWNER") == "systemd"
if UNDER_SYSTEMD:
    c.JupyterHub.spawner_class = "systemd"
    c.SystemdSpawner.mem_limit = f"{settings.memory_mb}M"
    c.SystemdSpawner.cpu_limit = settings.cpus
    c.SystemdSpawner.isolate_tmp = True
    c.SystemdSpawner.isolate_devices = True
    c.SystemdSpawner.disable_user_sudo = True
    c.SystemdSpawner.unit_extra_properties = {"TasksMax": str(settings.processes), "UMask": "0077"}
else:
    c.JupyterHub.spawner_class = "autograder.integrations.hub.spawning.LimitedSpawner"
    c.LimitedSpawner.process_limit = settings.processes
SERVER = [sys.executable, "-m", "jupyterhub.singleuser"]
c.Spawner.cmd = SERVER
c.Spawner.notebook_dir = "~"
c.Spawner.default_url = "/lab"
c.Spawner.env_keep = ["PATH", "LANG", "LC_ALL", "VIRTUAL_ENV"]
c.Spawner.environment = {"JUPYTER_CONFIG_PATH": str(settings.public), "TF_CPP_MIN_LOG_LEVEL": "3"}
c.Spawner.start_timeout = c.Spawner.http_timeout = settings.start_seconds  # a whole class starts in the same minute
# A checkout of this repository brings its own package, with the instructors' changes; a course of one's own has none.
PACKAGE = "" if (settings.course / "autograder").is_dir() else os.environ.get("PYTHONPATH", "")
AS_OWNER = {"PYTHONPATH": PACKAGE, "NBGRADER_EXCHANGE": str(settings.exchange), "TF_CPP_MIN_LOG_LEVEL": "3"}


def prepare_server(spawner):
    """Start nothing for a name that the roster did not make; give the course's account the course's folder."""
    if spawner.user.name == settings.account:
        spawner.cmd = ["env", f"--chdir={settings.course}", *SERVER]  # where nbgrader looks for its settings
        spawner.notebook_dir = str(settings.course)
        spawner.environment = {**AS_OWNER, "JUPYTER_CONFIG_PATH": str(settings.public / "course")}
        spawner.process_limit = 8 * settings.processes  # `course watch` and its sandboxes are of this account, too
    elif spawner.user.name not in known_accounts(settings):
        raise PermissionError(f"{spawner.user.name} is not in the roster")
    sockets = f"{pwd.getpwnam(spawner.user.name).pw_dir}/.run"  # of kernels; their paths have to be short
    spawner.environment = {**spawner.environment, "JUPYTER_RUNTIME_DIR": sockets}


c.Spawner.pre_spawn_hook = prepare_server

# Instructors find the course's server on the hub's page, and are not asked whether they may be known to it.
c.JupyterHub.template_paths = [str(Path(__file__).with_name("templates"))]
c.JupyterHub.template_vars = {"course_account": settings.account}
c.JupyterHub.tornado_settings = {"oauth_no_confirm_list": {f"jupyterhub-user-{settings.account}"}}

c.JupyterHub.services = [
    {
        "name": "idle-culler",
        "command": [sys.executable, "-m", "jupyterhub_idle_culler", f"--timeout={settings.idle_minutes * 60:.0f}"],
    },
]
if not UNDER_SYSTEMD:
    told = {name: value for name, value in os.environ.items() if name.startswith("HUB_")}
    c.JupyterHub.services.append(
        {"name": "memory", "command": [sys.executable, "-m", "autograder.integrations.hub.memory"], "environment": told}
    )
if os.environ.get("HUB_WATCH", "1") == "1":
    watch = [sys.executable, "-m", "autograder.cli", "watch", "--workers", os.environ.get("HUB_WORKERS", "1")]
    c.JupyterHub.services.append(
        {
            "name": "watch",
            "command": watch,
            "user": settings.account,
            "cwd": str(settings.course),
            "environment": AS_OWNER,
        }
    )
c.JupyterHub.load_roles = [
    {
        "name": "instructor",
        "scopes": [
            f"access:servers!user={settings.account}",
            f"servers!user={settings.account}",
            "admin-ui",
            "list:users",
            "read:servers",
            "delete:servers",
        ],
        "groups": ["instructors"],
    },
    {
        "name": "idle-culler",
        "scopes": ["list:users", "read:users:activity", "read:servers", "delete:servers"],
        "services": ["idle-culler"],
    },
]

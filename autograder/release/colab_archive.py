"""The archive from which a notebook in Colab installs coursekit, where no repository of the students is published."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

ARCHIVE = "coursekit.zip"  # the name that the notebooks' first cell looks for
_TIME = (1980, 1, 1, 0, 0, 0)  # zip has no earlier one; the same files give the same bytes


def coursekit_archive(files: Mapping[str, bytes]) -> bytes:
    """A zip archive that pip installs: of what students get, coursekit and what builds it.

    Args:
        files: the students' repository by path, see `publish.student_files`.
    """
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(files):
            if name.startswith("coursekit/") or name in ("pyproject.toml", "LICENSE"):
                archive.writestr(zipfile.ZipInfo(f"coursekit/{name}", _TIME), files[name], zipfile.ZIP_DEFLATED)
    return content.getvalue()

"""A student's id: a name as it can be a folder, a page, and a row of the gradebook."""

from __future__ import annotations

import re
import unicodedata

from autograder.course.printable import printable

_UNSAFE = re.compile(r'[\n/\\:*?"<>|+;]')
_EDGES = "." + "".join(filter(str.isspace, map(chr, range(0x3001))))

MAX_ID_BYTES = 110  # the gradebook has room for 128 characters, with the suffix of an id that is claimed twice


def student_id(name: str) -> str:
    """Return a name as an id that is a safe file name everywhere and the same however its accents are encoded."""
    cleaned = _UNSAFE.sub("_", printable(unicodedata.normalize("NFC", name))).strip(_EDGES)
    cleaned = cleaned.encode()[:MAX_ID_BYTES].decode(errors="ignore").rstrip(" .")
    return "_" + cleaned[1:] if cleaned.startswith("-") else cleaned or "unnamed"

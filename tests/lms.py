"""A class on Canvas and on Moodle: what they export, what they pack, and how they read back what is handed to them."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

LAB = "01_tiny"

CANVAS_GRADES = '''Student,ID,SIS User ID,SIS Login ID,Section,A tiny lab (4711),Current Score
,,,,,Manual Posting,(read only)
    Points Possible,,,,,18,(read only)
"Lovelace, Ada",12345,s100,ada@uni.example,Group A,,
"Boole, George ""Bo""",12346,s101,bo,Group A and Group B,,
"Çelik, Zoë",12347,s102,zoe,Group B,,
"Student, Test",12399,,t,Group A,,
'''

MOODLE_WORKSHEET = (
    "\ufeffIdentifier,Full name,ID number,Email address,Status,Grade,Maximum Grade,Grade can be changed,"
    "Last modified (submission),Last modified (grade),Feedback comments\n"
    "Participant 501,Ada_Lovelace,s100,ada@uni.example,Submitted for grading - ,,9.00,Yes,-,-,\n"
    'Participant 502,"George Boole",s101,bo@uni.example,Submitted for grading - ,,9.00,Yes,-,-,"well, well"\n'
    "Participant 503,Zoë Çelik,s102,zoe@uni.example,No submission - ,,9.00,Yes,-,-,\n"
)

CANVAS_FILES = {
    "lovelaceada_12345_900101_01_tiny-1.ipynb": "ada",
    "boolegeorge_LATE_12346_900102_my work.ipynb": "bo",
}
MOODLE_FILES = {
    "Ada Lovelace_501_assignsubmission_file_/01_tiny.ipynb": "ada",
    "George Boole_502_assignsubmission_file_/01_tiny.ipynb": "bo",
}


def packed(path: Path, names, content: bytes) -> Path:
    """Write an archive of submissions, all with the same content."""
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, content)
    return path


def read_by_canvas(archive: bytes) -> dict[str, tuple[str, str]]:
    """File -> user and upload: Canvas takes the first two parts of a name that are numbers."""
    found = {}
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        for name in opened.namelist():
            user, upload = [part for part in name.split("_") if part.isdigit()][:2]
            found[name] = (user, upload)
    return found


def read_by_moodle(archive: bytes) -> dict[str, tuple[str, str]]:
    """Participant -> what sort of file and its name: Moodle parts a name at its first four underscores."""
    found = {}
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        for name in opened.namelist():
            _, participant, kind, plugin, file = name.split("_", 4)
            assert participant.isdigit()
            found[participant] = (f"{kind}_{plugin}", file)
    return found

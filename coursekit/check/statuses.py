"""Every status that an exercise can have, as a student reads it: in the check, in feedback, in the notebook."""

STATUS_WORDS = {
    "graded": "graded",
    "missing": "not started yet",
    "error": "your code raises an error",
    "timeout": "your code did not finish in time",
    "crashed": "your code ended the Python process",
    "forbidden": "your code uses something that this exercise forbids",
}

STUB = "Write your code here"  # what the line raises that stands where students write

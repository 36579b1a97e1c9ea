"""`python -m coursekit`."""

from coursekit.terminal import app

app(prog_name="python -m coursekit")

"""What must not reach the feedback page."""

from __future__ import annotations

from hostile.kinds import attack
from hostile.making import Hostile, Notebook, changed, with_cell

_SCRIPT = "<script>alert('owned')</script>"


def _markup_everywhere(notebook: Notebook) -> None:
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = f"{_SCRIPT} <img src=x onerror=alert(1)> [x](javascript:alert(1))"
            cell["attachments"] = {"x.svg": {"image/svg+xml": f"<svg onload=alert(1)>{_SCRIPT}</svg>"}}
    with_cell(notebook, f"from IPython.display import HTML\nHTML({_SCRIPT!r})")


FEEDBACK = [
    attack("script-in-code", "HTML in the source", f"""
def self_attention_loops(x):
    '''{_SCRIPT}</pre></details><img src=x onerror=alert(1)>'''
    return x
""", silent=_SCRIPT),
    attack("script-in-error", "HTML, backquotes and templates in an error", f"""
class Script(Exception):
    pass
Script.__name__ = "{_SCRIPT}"
def self_attention_loops(x):
    raise Script("`{_SCRIPT}` {{{{ 7 * 7 }}}} {{% raw %}}")
""", "error", silent=_SCRIPT),
    Hostile("script-in-text", "HTML in every text, in attachments and in outputs", changed(_markup_everywhere),
            silent=_SCRIPT),
    attack("control-characters", "text that is no text in an error", """
        def self_attention_loops(x):
            raise ValueError("\\ud800 \\x00 \\x1b[2J \\u202e " * 50)
    """, "error"),
]  # fmt: skip

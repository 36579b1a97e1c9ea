"""Variants are a source with some of its lines changed."""


def edited(source: str, *edits: tuple[str, str]) -> str:
    """The source with each edit, whose old text stands in it at least once."""
    for old, new in edits:
        assert old in source, f"{old!r} is not in the source:\n{source}"
        source = source.replace(old, new)
    return source

"""Tables of figures as text."""

from collections.abc import Sequence


def percent(count: float, trials: int = 1) -> str:
    """A share in percent, with one decimal."""
    return f"{100 * count / trials:.1f}"


def table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Lines of a table, the first column to the left."""
    widths = [max(map(len, column)) for column in zip(head, *lines, strict=True)]
    rows = [
        "  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]).rstrip() for line in (head, *lines)
    ]
    return "\n".join([rows[0], "-" * len(rows[0]), *rows[1:]])

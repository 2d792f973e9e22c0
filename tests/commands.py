"""The commands of karat, by the words that call them."""

from __future__ import annotations

from collections.abc import Iterator

import click


def leaves(command: click.Command, words: str = "") -> Iterator[tuple[str, click.Command]]:
    """Yield the words and the command of each verb that is no group, as ("pairs mine", ...)."""
    if isinstance(command, click.Group):
        for name, each in command.commands.items():
            yield from leaves(each, f"{words} {name}".strip())
    else:
        yield words, command

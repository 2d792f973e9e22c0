"""What every page of karat is made of: its style, its script, its policy, and an environment that escapes all text.

The report and the sheets of annotators are files that open from disk. Each has one block of style and one of script,
which its policy names by hash; `base.css` and `base.js` stand at the beginning of both.
"""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from karat.inert import neutral

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

_SET_APART = re.compile("\u2068([^\u2066-\u2069]*)\u2069")  # a name that `said` isolates from the words around it


def asset(package: str, name: str) -> str:
    """The text of a file of a package."""
    return (files(package) / name).read_text(encoding="utf-8")


def blocks(package: str, name: str) -> tuple[str, str]:
    """The style and the script of a page: what all pages share, then the files of this name in a package."""
    shared = __name__.rpartition(".")[0]
    style, script = (asset(shared, f"base.{kind}") + asset(package, f"{name}.{kind}") for kind in ("css", "js"))
    return style, script


def policy(style: str, script: str) -> str:
    """What a page may do: run its own script, use its own style, and nothing else."""
    hashes = [b64encode(sha256(text.encode()).digest()).decode() for text in (script, style)]
    return (
        f"default-src 'none'; script-src 'sha256-{hashes[0]}'; style-src 'sha256-{hashes[1]}'; "
        "base-uri 'none'; form-action 'none'"
    )


def raw(text: str) -> Markup:
    """A text that is markup already: of files of this package, and of charts that are drawn here."""
    from markupsafe import Markup

    return Markup(text)


def environment() -> Environment:
    """An environment of templates, in which every text is escaped and acts on nothing."""
    from jinja2 import Environment, StrictUndefined

    return Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, finalize=_seen)


def _seen(value: Any) -> Any:
    """A text in which nothing acts but names that stand apart; anything else, and what is markup already, as it is."""
    if type(value) is not str:
        return value
    parts = enumerate(map(neutral, _SET_APART.split(value)))
    return "".join(f"\u2068{part}\u2069" if number % 2 else part for number, part in parts)

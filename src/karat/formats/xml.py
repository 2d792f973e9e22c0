"""XML as a stream of elements: nothing is built in memory, and no entity is expanded."""

from __future__ import annotations

from typing import Protocol
from xml.parsers import expat

from karat.errors import InputError
from karat.formats.base import brief
from karat.formats.files import pieces


class Handler(Protocol):
    """Receives the elements of a file; its methods raise ValueError if an element stands where it should not."""

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Takes the beginning of an element."""

    def end(self, tag: str) -> None:
        """Takes its end."""

    def characters(self, text: str) -> None:
        """Takes text within it."""


def parse(path: str, handler: Handler) -> None:
    """Calls a handler for all that is in a file. Raises InputError, with the line, if the file is faulty."""
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = handler.start
    parser.EndElementHandler = handler.end
    parser.CharacterDataHandler = handler.characters
    parser.EntityDeclHandler = refuse_entities
    try:
        for piece in pieces(path):
            parser.Parse(piece)
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        what = expat.ErrorString(error.code).replace("no element found", "it ends too early")
        raise InputError(f"{path}:{error.lineno}: not XML: {what}") from None
    except InputError:  # is a ValueError, too
        raise
    except (ValueError, LookupError) as error:  # an element in the wrong place, or an encoding that is not known
        raise InputError(f"{path}:{parser.CurrentLineNumber}: {brief(str(error))}") from None


def refuse_entities(*_: object) -> None:
    """Takes the declaration of an entity. Raises ValueError, always."""
    raise ValueError("an entity is declared (<!ENTITY), which is not read; write the text itself")

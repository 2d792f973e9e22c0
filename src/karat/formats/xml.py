"""XML as a stream of elements: nothing is built in memory, and no entity is expanded."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol
from xml.parsers import expat

from karat.errors import InputError
from karat.formats.base import brief
from karat.formats.files import pieces

_PROLOG = 1 << 16  # bytes, in which the first element begins


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
    _parse(pieces(path), expat.ParserCreate(), handler, path)


def parse_bytes(content: bytes, handler: Handler, name: str) -> None:
    """Calls a handler for all that is in a text, its tags as `namespace tag`; `name` is how errors call the text.

    Raises InputError, with the line, if it is faulty.
    """
    _parse([content], expat.ParserCreate(namespace_separator=" "), handler, name)


def check_prolog(content: bytes, name: str) -> None:
    """Raises InputError if a text declares a document type, in which entities could be; `name` is how it is called."""
    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = refuse_entities
    try:
        parser.Parse(content[:_PROLOG])
    except expat.ExpatError:  # whoever reads it says what is wrong
        return
    except (ValueError, LookupError) as error:
        raise InputError(f"{name}: {brief(str(error))}") from None


def _parse(content: Iterable[bytes], parser: expat.XMLParserType, handler: Handler, name: str) -> None:
    parser.buffer_text = True
    parser.StartElementHandler = handler.start
    parser.EndElementHandler = handler.end
    parser.CharacterDataHandler = handler.characters
    parser.EntityDeclHandler = refuse_entities
    try:
        for piece in content:
            parser.Parse(piece)
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        what = expat.ErrorString(error.code).replace("no element found", "it ends too early")
        raise InputError(f"{name}:{error.lineno}: not XML: {what}") from None
    except InputError:  # is a ValueError, too
        raise
    except (ValueError, LookupError) as error:  # an element in the wrong place, or an encoding that is not known
        raise InputError(f"{name}:{parser.CurrentLineNumber}: {brief(str(error))}") from None


def refuse_entities(*_: object) -> None:
    """Takes the declaration of an entity. Raises ValueError, always."""
    raise ValueError("an entity is declared (<!ENTITY), which is not read; write the text itself")

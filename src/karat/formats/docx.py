"""The title and the text of a docx file: what stands in its paragraphs, tables, notes and text boxes.

A docx file is a zip of XML. It is read with what comes with Python: nothing is decompressed beyond the limits, no
entity is expanded, and text that was inserted with changes being tracked, or that stands in a content control, is text
as well. Deleted text, comments, headers and footers are not.
"""

from __future__ import annotations

from karat.errors import InputError
from karat.formats.archive import Archive
from karat.formats.xml import parse_bytes

_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_STRICT = "http://purl.oclc.org/ooxml/wordprocessingml/main"
_CORE = "http://purl.org/dc/elements/1.1/"
_LEFT_OUT = {"Fallback", "del", "moveFrom", "instrText", "delText", "delInstrText", "AlternateContentFallback"}
_NOTES = ("word/footnotes.xml", "word/endnotes.xml")
_TITLE_STYLE = "Title"


def title_and_text(content: bytes) -> tuple[str | None, str]:
    """(title, text) of a docx file; one that is damaged, encrypted, too large or without text is an error."""
    archive = Archive(content, "docx")
    body = _Paragraphs()
    parse_bytes(archive.read(_main(archive)), body, "this docx file")
    for name in _NOTES:
        if name in archive:
            parse_bytes(archive.read(name), body, "this docx file")
    paragraphs = [(style, text) for style, text in body.found if text]
    if not paragraphs:
        raise InputError("no text in this docx file")
    style, first = paragraphs[0]
    if style == _TITLE_STYLE and len(paragraphs) > 1:
        return first, "\n".join(text for _, text in paragraphs[1:])
    title = _told_title(archive)
    if title is not None and first == title and len(paragraphs) > 1:
        paragraphs = paragraphs[1:]
    return title, "\n".join(text for _, text in paragraphs)


def _main(archive: Archive) -> str:
    """The member with the document itself."""
    for name in ("word/document.xml", "word/document2.xml"):
        if name in archive:
            return name
    raise InputError("this docx file cannot be read (it has no word/document.xml)")


def _told_title(archive: Archive) -> str | None:
    """The title that the file tells of itself."""
    if "docProps/core.xml" not in archive:
        return None
    facts = _Facts()
    parse_bytes(archive.read("docProps/core.xml"), facts, "this docx file")
    return " ".join("".join(facts.title).split()) or None


class _Paragraphs:
    """Gathers (style, text) of each paragraph; one in a text box stands before the paragraph that holds the box."""

    def __init__(self) -> None:
        self.found: list[tuple[str, str]] = []
        self._open: list[tuple[list[str], list[str]]] = []  # (style, pieces) of paragraphs, the innermost last
        self._within = ""  # whether characters are text: they stand in w:t
        self._left_out = 0  # depth within what is left out

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Takes the beginning of an element."""
        space, _, name = tag.rpartition(" ")
        if self._left_out or name in _LEFT_OUT:
            self._left_out += 1
        elif space not in (_WORD, _STRICT):
            return
        elif name == "p":
            self._open.append(([], []))
        elif self._open:
            style, pieces = self._open[-1]
            self._within = name if name == "t" else ""
            if name == "pStyle":
                style.append(attributes.get(f"{space} val", ""))
            elif name in ("tab", "br", "cr"):
                pieces.append(" ")
            elif name == "noBreakHyphen":
                pieces.append("-")

    def end(self, tag: str) -> None:
        """Takes its end."""
        space, _, name = tag.rpartition(" ")
        if self._left_out:
            self._left_out -= 1
            return
        self._within = ""
        if space in (_WORD, _STRICT) and name == "p" and self._open:
            style, pieces = self._open.pop()
            self.found.append((style[0] if style else "", " ".join("".join(pieces).split())))

    def characters(self, text: str) -> None:
        """Takes text within it."""
        if self._within and not self._left_out and self._open:
            self._open[-1][1].append(text)


class _Facts:
    """Gathers the title among what a file tells of itself."""

    def __init__(self) -> None:
        self.title: list[str] = []
        self._inside = False

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Takes the beginning of an element."""
        self._inside = tag == f"{_CORE} title"

    def end(self, tag: str) -> None:
        """Takes its end."""
        self._inside = False

    def characters(self, text: str) -> None:
        """Takes text within it."""
        if self._inside:
            self.title.append(text)

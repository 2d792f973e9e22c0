"""The title and the text of an HTML page: what a reader sees of it, without scripts, styles, menus and forms."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from karat.errors import InputError
from karat.libraries import library

# Elements of which nothing is text of the document.
_LEFT_OUT = re.compile(
    "script|style|template|noscript|svg|math|canvas|iframe|object|embed|audio|video|map|button|select|option|textarea|"
    "input|nav|footer|aside|dialog|menu|head"
)
# Elements within a line; whatever else begins and ends one.
_INLINE = re.compile(
    "a|abbr|acronym|b|bdi|bdo|big|cite|code|data|del|dfn|em|font|i|ins|kbd|label|mark|q|rp|rt|ruby|s|samp|small|span|"
    "strike|strong|sub|sup|time|tt|u|var|wbr"
)
_CHARSET = re.compile(
    rb"""<(?:meta|\?xml)[^>]{0,200}?(?:charset|encoding)\s*=\s*["']?\s*([\w.:-]{1,40})""", re.IGNORECASE
)
MAIN = 0.3  # of the text, that the main part has at least
_FIRST = 4096  # bytes in which an encoding is declared
_GENERATED = "karat "  # what pages that karat wrote say of themselves


def title_and_text(content: bytes) -> tuple[str | None, str]:
    """(title, text) of a page; one without text, or that karat itself wrote, is an error."""
    reader = reader_of_html()
    source = _decoded(content)
    try:
        parser = reader.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, no_network=True)
        root = reader.document_fromstring(source.encode("utf-8", "replace"), parser=parser, ensure_head_body=True)
    except Exception as error:  # of any kind: the library meets damaged pages with whatever comes of it
        raise InputError(f"this HTML cannot be read ({type(error).__name__}: {str(error)[:100]})") from None
    if any((each.get("content") or "").startswith(_GENERATED) for each in root.iterfind(".//meta[@name='generator']")):
        raise InputError("a page that karat wrote, not a document")
    title, text = _title(root), _main_text(root)
    if not text:
        raise InputError("no text in this HTML; it may be filled by scripts in a browser")
    return title, _without_title(text, title)


def reader_of_html() -> Any:
    """The library that reads HTML; where it is not installed, an error says how to get it."""
    return library("lxml.html", "reading HTML")


def _decoded(content: bytes) -> str:
    """The page as text: by its byte-order mark or what it declares, else as UTF-8, else as browsers do."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", "replace")
    declared = _CHARSET.search(content[:_FIRST])
    names = [declared[1].decode("ascii", "replace")] if declared else []
    for name in (*names, "utf-8"):
        try:
            return content.decode("cp1252" if name.lower() in ("iso-8859-1", "latin1", "latin-1") else name)
        except (LookupError, ValueError):
            continue
    return content.decode("cp1252", "replace")


def _title(root: Any) -> str | None:
    """The title that the head tells, else the first heading."""
    for path in (".//head/title", ".//title", ".//h1"):
        found = root.find(path)
        said = " ".join(found.text_content().split()) if found is not None else ""
        if said:
            return said
    return None


def _main_text(root: Any) -> str:
    """The text of the part that a page says is its main one, unless most of its text is elsewhere."""
    whole = _text(root)
    parts = [each for each in (root.findall(".//main"), root.findall(".//article")) if len(each) == 1]
    main = next((text for [part] in parts if len(text := _text(part)) >= MAIN * len(whole)), "")
    return main or whole


def _text(root: Any) -> str:
    lines = (" ".join(line.split()) for line in "".join(_pieces(root)).split("\n"))
    return "\n".join(line for line in lines if line)


def _pieces(root: Any) -> Iterator[str]:
    """The text in order, with line breaks around what is no part of a line; pages may be nested deeply."""
    stack: list[tuple[Any, bool]] = [(root, False)]
    while stack:
        element, ends = stack.pop()
        tag = element.tag.lower() if isinstance(element.tag, str) else ""
        own = _INLINE.fullmatch(tag) is None
        if ends or not tag or _LEFT_OUT.fullmatch(tag) or element.get("hidden") is not None:
            yield "\n" if own else ""
            yield _flat(element.tail)
        else:
            yield "\n" if own else ""
            yield _flat(element.text)
            stack.append((element, True))
            stack.extend((child, False) for child in reversed(element))


def _flat(text: str | None) -> str:
    return re.sub(r"\s+", " ", text or "")


def _without_title(text: str, title: str | None) -> str:
    """The text without the title as its first line, which would count twice."""
    first, _, rest = text.partition("\n")
    return rest if title is not None and rest and first == title else text

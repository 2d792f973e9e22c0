"""The title and the text of a PDF: lines put together, words joined that were parted, running heads left out."""

from __future__ import annotations

import io
import logging
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from statistics import median
from typing import Any

from karat.errors import InputError
from karat.libraries import library
from karat.limits import limits

EDGE = 2  # lines at the head and at the foot of a page that may be repeated on others
FEWEST_PAGES = 3  # of a text whose running heads can be recognised
SHORT = 0.6  # of the usual length of a line: a shorter one ends a paragraph
LONGEST_TITLE = 250  # characters
_RECOVERED = 100_000  # bytes of a damaged stream that are looked at one by one
_DENSE = 50  # how many times larger than its file what a PDF draws may be: far more than of print

_NUMBER = re.compile(r"\W*(?:page|seite|p\.)?\W*\d{1,4}(?:\s*(?:/|of|von)\s*\d{1,4})?\W*", re.IGNORECASE)
_NO_TITLE = re.compile(r"untitled|.*\.(docx?|dvi|tex|pdf|rtf|odt|indd|qxd|pptx?)|microsoft \w+ - .*", re.IGNORECASE)
_PARTED = re.compile(r"(\w+)-\n(\w+)")
_LIGATURES = str.maketrans(
    {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "\u00ad": None}
)  # soft hyphens, too


def title_and_text(content: bytes) -> tuple[str | None, str]:
    """(title, text) of a PDF; one that is damaged, encrypted or without text is an error."""
    pages, metadata_title = _pages(content)
    kept = without_running_heads([_lines(page) for page in pages])
    if not any(kept):
        raise InputError("no text in this PDF; it may hold pictures of pages, which have to be read by OCR first")
    title = _usable(metadata_title)
    if title is None:
        title, kept = _opening(kept)
    text = put_together([line for page in kept for line in page])
    return title, _without_title(text, title)


def reader_of_pdf() -> Any:
    """The library that reads PDFs; where it is not installed, an error says how to get it."""
    return library("pypdf", "reading a PDF")


def _pages(content: bytes) -> tuple[list[str], str | None]:
    """(the text of each page, the title that the file tells)."""
    pypdf = reader_of_pdf()
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it would write its own remarks to standard error
    most = max(limits().drawing, _DENSE * len(content))
    try:
        with pypdf.apply_configuration(zlib_maximum_output_length=most, zlib_maximum_recovery_input_length=_RECOVERED):
            return _read(pypdf.PdfReader(io.BytesIO(content)), most)
    except InputError:
        raise
    except (pypdf.errors.DependencyError, pypdf.errors.FileNotDecryptedError):
        raise InputError("this PDF is encrypted; save it without a password first") from None
    except Exception as error:  # of any kind: the library meets damaged files with whatever comes of it
        if isinstance(error, pypdf.errors.LimitReachedError) and "Limit reached while decompressing" in str(error):
            raise limits().exceeded("drawing", "", "a part of this PDF", most) from None
        raise InputError(f"this PDF cannot be read ({type(error).__name__}: {str(error)[:100]})") from None


def _read(reader: Any, most: int) -> tuple[list[str], str | None]:
    if reader.is_encrypted and not reader.decrypt(""):
        raise InputError("this PDF is encrypted; save it without a password first")
    title = reader.metadata.title if reader.metadata is not None else None
    claimed = reader.trailer["/Root"]["/Pages"].get("/Count", 0)  # counting them takes a while
    if (isinstance(claimed, int) and claimed > limits().pages) or len(reader.pages) > limits().pages:
        raise limits().exceeded("pages", "", "this PDF")
    return [page.extract_text() for page in _checked(reader.pages, most)], title


def _checked(pages: Iterable[Any], most: int) -> Iterator[Any]:
    """The pages. Raises InputError if they draw with more bytes than that: reading them would take hours."""
    drawn = 0
    for page in pages:
        content = page.get_contents()
        drawn += 0 if content is None else len(content.get_data())
        if drawn > most:
            raise limits().exceeded("drawing", "", "what the pages of this PDF draw", most)
        yield page


def _lines(page: str) -> list[str]:
    """The lines that are not blank, with letters for ligatures.

    >>> _lines("eﬃcient ﬁelds\\n\\n of bees")
    ['efficient fields', 'of bees']
    """
    return [" ".join(line.split()) for line in page.translate(_LIGATURES).splitlines() if line.strip()]


def without_running_heads(pages: Sequence[list[str]]) -> list[list[str]]:
    """The lines of each page without page numbers, and without what most pages have at their head or foot.

    >>> without_running_heads([["J. Bees 7", "A", "B", "C", "1"], ["J. Bees 8", "D", "E", "F", "2"],
    ...                        ["J. Bees 9", "G", "H", "I", "3"]])
    [['A', 'B', 'C'], ['D', 'E', 'F'], ['G', 'H', 'I']]
    """
    written = [page for page in pages if page]
    if len(written) < 2:
        return [list(page) for page in pages]
    counts = Counter(masked for page in written for masked in {_masked(page[i]) for i in _edges(page)})

    def repeated(line: str) -> bool:
        enough = max(2, len(written) // 2 + 1) if _NUMBER.fullmatch(line) else max(FEWEST_PAGES, len(written) // 2 + 1)
        return counts[_masked(line)] >= enough

    return [_without(page, {i for i in _edges(page) if repeated(page[i])}) for page in pages]


def _edges(page: Sequence[str]) -> set[int]:
    return {*range(min(EDGE, len(page))), *range(max(0, len(page) - EDGE), len(page))}


def _masked(line: str) -> str:
    return re.sub(r"\d+", "0", line)


def _without(page: Sequence[str], dropped: set[int]) -> list[str]:
    return [line for i, line in enumerate(page) if i not in dropped]


def _usable(title: str | None) -> str | None:
    """A title that a file tells, unless it is the name of a file or a single word."""
    said = " ".join((title or "").split())
    return said if len(said.split()) > 1 and not _NO_TITLE.fullmatch(said) else None


def _opening(pages: list[list[str]]) -> tuple[str | None, list[list[str]]]:
    """(the first line as a title, the pages without it), if it can be one: it has letters and ends no sentence."""
    first = next(i for i, page in enumerate(pages) if page)
    line, *rest = pages[first]
    others = sum(map(len, pages)) > 1
    if not others or len(line) > LONGEST_TITLE or line.endswith((".", ",", ";", ":", "-")) or line.islower():
        return None, pages
    if not re.search(r"[^\W\d_]{3}", line):
        return None, pages
    return line, [*pages[:first], rest, *pages[first + 1 :]]


def put_together(lines: Sequence[str]) -> str:
    r"""Lines as a text: parted words are joined, a line that is much shorter than usual ends a paragraph.

    A hyphen stays where the text has the word with it elsewhere.

    >>> put_together(["We study key-", "phrases of state-of-the-", "art models, state-of-the-art ones."])
    'We study keyphrases of state-of-the-art models, state-of-the-art ones.'
    """
    usual = median(map(len, lines)) if lines else 0
    text = ""
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        ends = len(line) < SHORT * usual and not line.endswith("-") and not after[:1].islower()
        text += line + ("\n\n" if ends else "\n")
    whole = " ".join(text.lower().split())

    def joined(parted: re.Match[str]) -> str:
        before, after = parted.groups()
        hyphened = rf"{re.escape(before.lower())}-{re.escape(after.lower())}\b"
        keeps = not after[0].islower() or re.search(rf"\b{hyphened}", whole)
        return f"{before}-{after}" if keeps else before + after

    return re.sub(r"(?<!\n)\n(?!\n)", " ", _PARTED.sub(joined, text)).strip()


def _without_title(text: str, title: str | None) -> str:
    """The text without the title at its head, which would count twice."""
    if title is None:
        return text
    head = r"\s+".join(map(re.escape, title.split()))
    return re.sub(rf"\A{head}\s*", "", text, flags=re.IGNORECASE)

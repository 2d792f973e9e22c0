"""BibTeX: `title`, `abstract` and `keywords` of each entry; ids are the keys of entries.

An entry knows the places of its fields, so that keywords can be put into a file in which every other byte stays. A
value is read as people read it: accents of LaTeX as letters, without braces and commands. Keywords are parted by `;`
where there is one, else by commas.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from karat.corpus import Batches, Document, Phrase, Prediction, in_batches
from karat.errors import InputError
from karat.formats import folders
from karat.formats.base import Format, as_predictions, first_variant, quoted, split_phrases
from karat.formats.files import decode_utf8, read_whole, without_compression
from karat.formats.head import Head
from karat.formats.output import writing

SUFFIXES = (".bib", ".bibtex")
KEYWORDS = ("keywords", "keyword")
_TITLES, _TEXTS = ("title",), ("abstract", "abstractnote", "description", "annotation", "annote")
_ENTRY = re.compile(r"@\s*([A-Za-z]+)\s*([{(])")
_KEY = re.compile(r"\s*([^\s,{}()=\"#]*)\s*(?=[,})])")
_NAME = re.compile(r"\s*([^\s=,{}()\"#]+)\s*=\s*")
_WORD = re.compile(r"[^\s,#{}()\"=]+")
_BRACES = re.compile(r"[{}]")
_APART = re.compile(r"\s*#\s*")
NEAR = 2000  # characters before a place, in which is seen how a file is written


@dataclass(frozen=True, slots=True)
class Value:
    """The value of a field, and where it stands."""

    text: str  # without the marks around it
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a file, and where it stands."""

    kind: str
    key: str
    line: int
    end: int  # of what is within it: its closing mark
    fields: dict[str, Value] = field(default_factory=dict)  # by names in lower case; the first of each

    def get(self, names: Sequence[str]) -> str | None:
        """The text of the first of some fields that is there."""
        found = next((self.fields[name].text for name in names if name in self.fields), None)
        return None if found is None else readable(found)

    def keywords(self, where: str = "") -> list[str] | None:
        """Its keywords; None where it has none."""
        found = self.get(KEYWORDS)
        return None if found is None else split_keywords(found, where)


def split_keywords(text: str, where: str = "") -> list[str]:
    """The keywords in a text: parted by `;` where there is one, else by commas; empty ones are none.

    >>> split_keywords("bees, ants"), split_keywords("Bees, wild; ants;")
    (['bees', 'ants'], ['Bees, wild', 'ants'])
    """
    return list(filter(None, split_phrases(text, ";" if ";" in text else ",", where)))


def join_keywords(phrases: Iterable[Phrase], mark: str = ",") -> str:
    """Keywords as `split_keywords` reads them; a comma parts them unless one of them has a comma.

    >>> join_keywords(["bees", "ants"]), join_keywords(["Bees, wild"]), join_keywords(["a"], ";")
    ('bees, ants', 'Bees, wild;', 'a')
    """
    held = [" ".join((phrase or "").replace(";", ",").split()) for phrase in phrases]
    held = [phrase for phrase in held if phrase]
    commas = any("," in phrase for phrase in held)
    joined = ("; " if commas or mark == ";" else ", ").join(held)
    return f"{joined};" if commas and len(held) == 1 else joined


# ---------------------------------------------------------------------------------------------- parsing


class _Scanner:
    """Goes through a text; raises InputError, with the line, where an entry is damaged."""

    def __init__(self, text: str, path: str) -> None:
        self.text, self.path = text, path
        self.macros: dict[str, str] = {}
        self._counted, self._lines = 0, 1  # up to which place line breaks were counted, and the line there

    def entries(self) -> Iterator[Entry]:
        """The entries in order; what stands between them is passed over."""
        at = 0
        while found := _ENTRY.search(self.text, at):
            kind, closing = found[1].lower(), "})"["{(".index(found[2])]
            if kind in ("comment", "preamble"):
                at = self._comment(found, closing)
            elif kind == "string":
                fields, at = self._fields(found.end(), closing, found.start())
                self.macros.update({name: value.text for name, value in fields.items()})
            else:
                key = _KEY.match(self.text, found.end())
                name, begin = ("", found.end()) if key is None else (key[1], key.end())
                fields, at = self._fields(begin, closing, found.start())
                yield Entry(kind, name, self._line(found.start()), at - 1, fields)

    def _comment(self, found: re.Match[str], closing: str) -> int:
        """Where a comment ends: one with braces at its last one, if there is such."""
        try:
            return self._braced(found.end() - 1, found.start()) if closing == "}" else found.end()
        except InputError:
            return found.end()

    def _fields(self, at: int, closing: str, start: int) -> tuple[dict[str, Value], int]:
        """(the fields from a place on, the place behind the closing mark)."""
        fields: dict[str, Value] = {}
        while True:
            while at < len(self.text) and (self.text[at].isspace() or self.text[at] == ","):
                at += 1
            if self.text[at : at + 1] == closing:
                return fields, at + 1
            name = _NAME.match(self.text, at)
            if name is None:
                raise self._wrong(start, "a field `name = {value}`, or the end of the entry, is missing")
            value = self._value(name.end(), start)
            fields.setdefault(name[1].lower(), value)
            at = value.end

    def _value(self, at: int, start: int) -> Value:
        """A value: texts in braces or quotes, numbers and names of strings, put together by `#`."""
        begin, parts = at, []
        while True:
            if self.text[at : at + 1] == "{":
                end = self._braced(at, start)
                parts.append(self.text[at + 1 : end - 1])
            elif self.text[at : at + 1] == '"':
                end = self._quoted(at, start)
                parts.append(self.text[at + 1 : end - 1])
            else:
                word = _WORD.match(self.text, at)
                if word is None:
                    raise self._wrong(start, "a value is missing behind `=`")
                parts.append(self.macros.get(word[0].lower(), word[0]))
                end = word.end()
            apart = _APART.match(self.text, end)
            if apart is None:
                return Value("".join(parts), begin, end)
            at = apart.end()

    def _braced(self, at: int, start: int) -> int:
        """The place behind the brace that closes the one at a place."""
        depth = 0
        for brace in _BRACES.finditer(self.text, at):
            depth += 1 if brace[0] == "{" else -1
            if depth == 0:
                return brace.end()
        raise self._wrong(start, "a brace is never closed")

    def _quoted(self, at: int, start: int) -> int:
        """The place behind the quotation mark that closes the one at a place; within braces there may be others."""
        end, depth = at + 1, 0
        while end < len(self.text):
            char = self.text[end]
            if char == '"' and depth == 0:
                return end + 1
            depth += (char == "{") - (char == "}")
            if depth < 0:
                break
            end += 1
        raise self._wrong(start, "a quotation mark is never closed")

    def _line(self, at: int) -> int:
        """The line of a place, which is never before the one that was asked for last."""
        self._lines += self.text.count("\n", self._counted, at)
        self._counted = at
        return self._lines

    def _wrong(self, start: int, what: str) -> InputError:
        head = self.text[start : start + 40].split("\n")[0]
        return InputError(f"{self.path}:{self._line(start)}: the BibTeX entry {quoted(head)} is damaged: {what}")


def entries_of(text: str, path: str) -> list[Entry]:
    """The entries of a text. Raises InputError, with the path and the line, if one is damaged."""
    return list(_Scanner(text, path).entries())


def text_at(path: str) -> str:
    """The text of a file, byte for byte but for a byte-order mark."""
    content = read_whole(path)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return "\n".join(decode_utf8(line, path, number) for number, line in enumerate(content.split(b"\n"), 1))


# ---------------------------------------------------------------------------------------------- LaTeX

_COMBINING = "\u0300\u0301\u0302\u0308\u0303\u0304\u0307\u0306\u030c\u030b\u0327\u0323\u0331\u0328\u030a"
_ACCENTS = dict(zip("`'^\"~=.uvHcdbkr", _COMBINING, strict=True))
_LETTERS = {
    "ss": "ß", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "o": "ø", "O": "Ø", "aa": "å", "AA": "Å", "l": "ł", "L": "Ł",
    "i": "ı", "j": "ȷ", "textbackslash": "\\", "lbrace": "{", "rbrace": "}", "textasciitilde": "~",
    "textasciicircum": "^", "ldots": "…", "dots": "…", "textendash": "–", "textemdash": "—", "textquoteright": "’",
    "textquoteleft": "‘", "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "lambda": "λ",
    "mu": "μ", "pi": "π", "sigma": "σ", "omega": "ω",
}  # fmt: skip
_BASE = r"\{\s*(\\?[A-Za-z])\s*\}"
_ACCENTED = re.compile(rf"""\\([`'^"~=.])\s*(?:{_BASE}|(\\?[A-Za-z]))|\\([uvHcdbkr])(?:\s*{_BASE}|\s+(\\?[A-Za-z]))""")
_COMMAND = re.compile(r"\\([A-Za-z]+)(?:\{\}| +|(?![A-Za-z]))|\\(.)", re.DOTALL)
_ESCAPES = str.maketrans(
    {"\\": r"\textbackslash{}", "{": r"\lbrace{}", "}": r"\rbrace{}", "~": r"\textasciitilde{}"}
    | {char: f"\\{char}" for char in "&%$#_"}
)


def readable(text: str) -> str:
    r"""The text of a value as people read it, on one line.

    >>> readable(r"The {\"O}l of {G}raphs \& bees, na{\"\i}ve"), readable(r"\emph{New} ideas")
    ('The Öl of Graphs & bees, naïve', 'New ideas')
    """
    if "\\" in text:
        text = _COMMAND.sub(_letter, _ACCENTED.sub(_accented, text))
    if "{" in text or "}" in text or "~" in text or "$" in text:
        text = text.translate({ord("{"): None, ord("}"): None, ord("$"): None, ord("~"): " "})
    return " ".join(text.translate(_BACK).split())


# Marks of BibTeX that stand for themselves, while the others are removed.
_HELD = {"{": "\ue000", "}": "\ue001", "~": "\ue002", "$": "\ue003"}
_BACK = {ord(held): mark for mark, held in _HELD.items()}


def _accented(found: re.Match[str]) -> str:
    mark, letter = found[1] or found[4], (found[2] or found[3] or found[5] or found[6]).removeprefix("\\")
    return unicodedata.normalize("NFC", letter + _ACCENTS[mark])


def _letter(found: re.Match[str]) -> str:
    """What a command stands for: a letter, the mark behind the backslash, or nothing."""
    if found[1] is not None:
        known = _LETTERS.get(found[1], "")
        return _HELD.get(known, known)
    return _HELD.get(found[2], found[2] if found[2] in "&%#_-,;: " else "")


def escaped(text: str) -> str:
    """The text as a value that reads back as it was, on one line."""
    return " ".join(text.split()).translate(_ESCAPES)


# ---------------------------------------------------------------------------------------------- the format


def _documents(path: str) -> Iterator[tuple[int, Document]]:
    for entry in entries_of(text_at(path), path):
        held = entry.keywords(f"{path}:{entry.line}")
        yield (
            entry.line,
            Document(
                id=entry.key or None,
                title=entry.get(_TITLES),
                text=entry.get(_TEXTS),
                keyphrases=None if held is None else [*held],
            ),
        )


def corpus(path: str) -> Batches[Document]:
    """The documents of a file."""
    return lambda: in_batches(_some(path, _documents(path)), path)


def run(path: str) -> Batches[Prediction]:
    """The keywords of a file as predictions."""
    return lambda: in_batches(as_predictions(_some(path, _documents(path))), path)


def _some(path: str, found: Iterator[tuple[int, Document]]) -> Iterator[tuple[int, Document]]:
    """The documents. Raises InputError if there is none."""
    first = next(found, None)
    if first is None:
        raise folders.none_found(path, "entries as @article{key, title = {...}} are looked for")
    yield first
    yield from found


def entry_text(identifier: str, fields: Mapping[str, str]) -> str:
    """An entry with some fields, whose values are escaped already.

    >>> print(entry_text("a b", {"title": "Bees"}), end="")
    @misc{a_b,
      title = {Bees},
    }
    """
    key = re.sub(r"[\s,{}()=\"#%\\~']+", "_", identifier) or "_"
    lines = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items() if value)
    return f"@misc{{{key},\n{lines}}}\n"


def save_corpus(path: str, documents: Iterable[Document]) -> None:
    """Writes an entry for each document."""
    with writing(path) as file:
        for number, document in enumerate(documents, 1):
            fields = {
                "title": escaped(document.title or ""),
                "abstract": escaped(document.text or ""),
                "keywords": escaped(join_keywords(map(first_variant, document.keyphrases or ()))),
            }
            file.write(entry_text(folders.id_of(document.id, number), fields).encode())


def save_run(path: str, predictions: Iterable[Prediction]) -> None:
    """Writes an entry with keywords for each prediction."""
    with writing(path) as file:
        for number, prediction in enumerate(predictions, 1):
            fields = {"keywords": escaped(join_keywords(prediction.keyphrases or ()))}
            file.write(entry_text(folders.id_of(prediction.id, number), fields).encode())


def with_keywords(text: str, path: str, phrases: Mapping[str, Sequence[Phrase]]) -> tuple[str, int]:
    """(a file with the keywords of some entries added or replaced, how many were replaced).

    The rest stays as it is, and so does an entry for which there is no phrase.
    """
    pieces, at, replaced = [], 0, 0
    for entry in entries_of(text, path):
        if not phrases.get(entry.key):
            continue
        old = next((entry.fields[name] for name in KEYWORDS if name in entry.fields), None)
        mark = ";" if old is not None and ";" in old.text else ","
        value = f"{{{escaped(join_keywords(phrases[entry.key], mark))}}}"
        if old is not None:
            pieces += [text[at : old.start], value]
            at, replaced = old.end, replaced + 1
        else:
            place, added = _addition(text, entry, value)
            pieces += [text[at:place], added]
            at = place
    return "".join([*pieces, text[at:]]), replaced


def _addition(text: str, entry: Entry, value: str) -> tuple[int, str]:
    """(where the field of keywords is put into an entry, its text), written as the last field there is."""
    last = max((each.end for each in entry.fields.values()), default=None)
    line_end = "\r\n" if text.find("\r\n", 0, 2 * NEAR) >= 0 else "\n"
    before = text[max(0, (last or entry.end) - NEAR) : last or entry.end]
    if last is None:
        bare = before.rstrip()
        comma = "" if bare.endswith(",") else ","
        return entry.end - len(before) + len(bare), f"{comma}{line_end}  keywords = {value}{line_end}"
    indents = re.findall(r"\n([ \t]*)[^\s=]+[ \t]*=", before)
    indent = indents[-1] if indents else "  "
    found = re.compile(r"\s*,").match(text, last, entry.end)
    if found is not None:
        return found.end(), f"{line_end}{indent}keywords = {value},"
    return last, f",{line_end}{indent}keywords = {value}"


def _fits(head: Head) -> bool:
    if head.container != "text":
        return False
    return without_compression(head.path).lower().endswith(SUFFIXES) or bool(_ENTRY.match(head.line))


FORMAT = Format(
    name="bibtex",
    summary="BibTeX: title, abstract and keywords of entries, whose keys are ids; a run is its keywords",
    fits=_fits,
    corpus=corpus,
    run=run,
    save_corpus=save_corpus,
    save_run=save_run,
)

r"""Text from files and arguments as it can be shown anywhere: on one line, with nothing in it that acts.

Names, ids, phrases and messages reach terminals, documents, spreadsheets and browsers. Every writer and every message
takes them through `inert`; markup is then a matter of each writer. What becomes of a character:

* White space of any kind, line breaks and separators among it, is a space.
* What acts on its surroundings, or has no meaning that is known here, is �, one for one, so that a reader sees that
  something is there: control characters (ESC, BEL, NUL, backspace, DEL, the C1 range with its CSI), the embeddings,
  overrides and isolates of the bidirectional algorithm, deprecated format characters, interlinear annotations, lone
  surrogates, private use and noncharacters.
* What no reader sees, and a renderer needs for nothing that a table shows, is dropped: soft hyphens, zero-width spaces,
  word joiners, byte order marks, direction marks, invisible operators, the grapheme joiner, tags. Matching ignores most
  of these, too.
* Joiners and variation selectors stay where they make letters or emoji, and are dropped where they are idle: beside
  Latin letters and spaces, and a selector behind another one.
* Everything else stays as it is: right-to-left letters, combining marks, wide characters, emoji.
"""

from __future__ import annotations

import re

LONGEST = 1000  # characters of a message

# Behind one of these, or between two of them, a joiner makes a letter, a word or an emoji: neither space nor Latin.
_OTHER = "[^\\s\u0000-\u036f\u1e00-\u1eff\u2000-\u206f]"
_JOINER = "[\u200c\u200d]"
_SELECTOR = "[\ufe00-\ufe0f\U000e0100-\U000e01ef]"
_NONCHARACTERS = "".join(map(chr, (plane * 0x10000 + end for plane in range(1, 15) for end in (0xFFFE, 0xFFFF))))
_ACTING = (
    "\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u202a-\u202e\u2066-\u206f\ud800-\udfff\ue000-\uf8ff\ufdd0-\ufdef"
    f"\ufff9-\ufffb\ufffe\uffff\U000f0000-\U0010ffff{_NONCHARACTERS}"
)
_UNSEEN = (
    "\u00ad\u034f\u061c\u180e\u200b\u200e\u200f\u2060-\u2065\ufeff\ufff0-\ufff8"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"
)
_BREAKS = "\x0b-\x0d\x1c-\x1f\x85\u2028\u2029"  # white space that ends a line, or that a terminal obeys

IDLE_JOINERS = re.compile(f"(?<!{_OTHER}|{_JOINER}){_JOINER}+|{_JOINER}+(?!{_OTHER}|{_JOINER})")
_IDLE_SELECTORS = re.compile(f"(?<!{_OTHER}){_SELECTOR}+|(?<={_SELECTOR}){_SELECTOR}+")
_acting = re.compile(f"[{_ACTING}]")
_unseen = re.compile(f"[{_UNSEEN}]+")
_breaks = re.compile(f"[{_BREAKS}]")
_surrogates = re.compile("[\ud800-\udfff]")
_obeyed = re.compile(f"[{_ACTING}{_BREAKS}]")
_live = re.compile(f"[{_ACTING}{_UNSEEN}{_BREAKS}]")


def inert(text: str) -> str:
    r"""The text on one line, in which nothing acts; the same for a text that is so already.

    >>> inert("a\nb\x1b[2J\u202ec\u00ad"), inert("نامه\u200cها"), inert("t\u200d5\u200b")
    ('a b�[2J�c', 'نامه\u200cها', 't5')
    """
    if text.isascii() and text.isprintable():
        return text
    text = _unseen.sub("", _acting.sub("�", re.sub(r"\s", " ", text)))
    return text if text.isascii() else IDLE_JOINERS.sub("", _IDLE_SELECTORS.sub("", text))


def neutral(text: str) -> str:
    r"""The text, as long as it was and with its lines and tabs, in which nothing acts: for places given by numbers.

    >>> neutral("a\r\n\x1bb\u202e")
    'a \n�b�'
    """
    return _acting.sub("�", _breaks.sub(" ", text)) if _obeyed.search(text) else text


def escaped(text: str) -> str:
    r"""The text with what acts or is not seen as JSON escapes it, lines and tabs as they are.

    Of JSON it is the same value, since such characters stand within strings alone, and safe to show.

    >>> escaped('["\x9b2J\u202e", "\U000e0041"]')
    '["\\u009b2J\\u202e", "\\udb40\\udc41"]'
    """
    return text if text.isascii() and text.isprintable() else _live.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    pairs = found[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{pairs[i : i + 2].hex()}" for i in range(0, len(pairs), 2))


def encodable(text: str) -> str:
    r"""The text with � for lone surrogates, which no file can hold; a name of a file may have them.

    >>> encodable("a\udcff")
    'a�'
    """
    return text if text.isascii() else _surrogates.sub("�", text)


def one_line(text: str, most: int = LONGEST) -> str:
    r"""A message: inert, and of a longer one the beginning and the end.

    >>> one_line("no\x07 such\nfile"), one_line("x" * 10 + "y" * 10, 9)
    ('no� such file', 'xxxxxx…yy')
    """
    text = inert(text).strip()
    end = most // 3
    return text if len(text) <= most else f"{text[: most - end]}…{text[len(text) - end + 1 :]}"


# ---------------------------------------------------------------------------------------------- spreadsheets

_FORMULA = re.compile(r"[\s'\"]*[=+\-@\t\r＝＋－＠]")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)


def guarded(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula, nor `unguarded` for one that was guarded; numbers stay.

    >>> guarded("=1+1"), guarded(" ＝x"), guarded("'=x"), guarded("-.5"), guarded("a=b")
    ("'=1+1", "' ＝x", "''=x", '-.5', 'a=b')
    """
    return f"'{cell}" if _FORMULA.match(cell) and not _NUMBER.fullmatch(cell) else cell


def unguarded(cell: str) -> str:
    """The cell as it was before it was guarded.

    >>> [unguarded(guarded(cell)) for cell in ("=1", "'=1", "-.5", "'tis", "'-.5")]
    ['=1', "'=1", '-.5', "'tis", "'-.5"]
    """
    return cell[1:] if cell.startswith("'") and guarded(cell[1:]) != cell[1:] else cell

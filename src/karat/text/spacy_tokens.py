"""English tokens as spaCy's tokenizer makes them, with the hyphens within words kept, and without spaCy.

A text is cut at white space. From each chunk marks are taken off at both ends, one at a time, until nothing is left
to take or the rest is a special case (`don't`, `e.g.`, `8)`); what remains is cut at marks within it, unless it is an
address. At last neighbours that together are a special case are put together again: `(why:)` ends with `:)`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from unicodedata import category

# ---------------------------------------------------------------------------------------------- characters


def _letters(test: str) -> str:
    """The cased letters of Latin, Greek and Cyrillic script for which a method of strings holds."""
    ranges = ((0x41, 0x7B), (0xC0, 0x2B0), (0x386, 0x3AA), (0x3AC, 0x3CF), (0x400, 0x530), (0x1E00, 0x1F00))
    return _ranges(n for each in ranges for n in range(*each) if getattr(chr(n), test)())


def _ranges(numbers: Iterable[int]) -> str:
    """Characters by their numbers, which rise, as a pattern has them within brackets.

    >>> _ranges([97, 98, 99, 120])
    'a-cx'
    """
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return "".join(f"{chr(a)}-{chr(b)}" if a != b else chr(a) for a, b in runs)


_LOWER, _UPPER = _letters("islower"), _letters("isupper")
_OTHER = "\u0590-\u05ff\u0620-\u06ff\u0900-\u0dff\u1100-\u137f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"  # without case
_ALPHA = _LOWER + _UPPER + _OTHER
_ICONS = _ranges(n for n in (*range(0xA0, 0x3400), *range(0x1F000, 0x1FB00)) if category(chr(n)) == "So")
_PUNCTUATION = "…,:;!?¿؟¡()[]{}<>_#*&。？！，、；：～·।،۔؛٪"
_QUOTES = "'\"”“`‘´’‚,„»«「」『』（）〔〕【】《》〈〉⟦⟧"
_CURRENCY = "$£€¥฿₽﷼₴₠₡₢₣₤₥₦₧₨₩₪₫₭₮₯₰₱₲₳₵₶₷₸₹₺₻₼₾₿"
_UNITS = """
    km km² km³ m m² m³ dm dm² dm³ cm cm² cm³ mm mm² mm³ ha µm nm yd in ft kg g mg µg t lb oz m/s km/h kmh mph hPa Pa
    mbar mb MB kb KB gb GB tb TB T G M K %
""".split()  # noqa: SIM905  a list of words reads best as words


def _any(characters: str) -> str:
    return re.escape(characters)


_MARKS = _any(_PUNCTUATION + _QUOTES) + _ICONS
_PREFIX = re.compile(rf"[§%=—–{_MARKS}{_any(_CURRENCY)}]|\+(?![0-9])|\.\.+|US\$|[CA]\$")
_BEFORE_STOP = rf"0-9{_LOWER}{_OTHER}%²+|\-{_any(_PUNCTUATION + _QUOTES)}"
_SUFFIX = re.compile(
    rf"(?:[—–{_MARKS}]|['’][sS]|(?<=[0-9])\+|(?<=°[FfCcKk])\.|(?<=[0-9])(?:US\$|[CA]\$|[{_any(_CURRENCY)}])"
    rf"|(?<=[0-9])(?:{'|'.join(_UNITS)})|(?<=[{_BEFORE_STOP}])\.|(?<=[{_UPPER}{_OTHER}][{_UPPER}{_OTHER}])\.)$"
)
LONGEST_SUFFIX = 8  # characters that the test of one looks at: a unit, and what stands before it
_INFIX = re.compile(
    rf"\.\.+|…|[{_ICONS}]|(?<=[0-9])[+\-*^](?=[0-9-])"
    rf"|(?<=[{_LOWER}{_OTHER}{_any(_QUOTES)}])\.(?=[{_UPPER}{_OTHER}{_any(_QUOTES)}])"
    rf"|(?<=[{_ALPHA}]),(?=[{_ALPHA}])|(?<=[{_ALPHA}0-9])[:<>=/](?=[{_ALPHA}])"
)
_LABEL = r"[A-Za-z0-9\u00a1-\uffff](?:[A-Za-z0-9\u00a1-\uffff_-]{0,62}[A-Za-z0-9\u00a1-\uffff])?"
_ADDRESS = re.compile(
    r"(?:[\w+.-]{2,}://)?(?:\S+@)?"
    rf"(?:(?:[1-9]\d?|1\d\d|2[01]\d|22[0-3])(?:\.\d{{1,3}}){{3}}|(?:{_LABEL}\.)+[{_LOWER}]{{2,63}})"
    r"(?::\d{2,5})?(?:[/?#]\S*)?"
)

# ---------------------------------------------------------------------------------------------- special cases

# Heads and what may follow them, `|` between two tokens; each also with a capital, and without its apostrophes.
_CONTRACTED = {
    "i": "'m 'm|a",
    "i you he she it we they": "'ll 'll|'ve 'd 'd|'ve",
    "i you we they": "'ve",
    "you we they": "'re",
    "he she it": "'s",
    "who what when where why how there that this": "'s",
    "who what when where why how there that this these those": "'ll 'll|'ve 'd 'd|'ve",
    "who what when where why how there these those": "'re 've",
    "ca could do does did had may might must need ought sha should wo would": "n't n't|'ve",
    "could might must should would not": "'ve",
    "ai are is was were have has dare": "n't",
}
_WORDS = frozenset("ill its hell shell shed were well whore".split())  # noqa: SIM905  which these would be too
_CUT = "can|not gon|na got|ta let|'s c'm|on how|'d|'y"  # each also with a capital
_WHOLE = """
    doin goin nothin nuthin ol somethin lovin havin doin' goin' nothin' nuthin' ol' somethin' lovin' havin'
    ma'am o'clock 'cause 'cos 'coz 'cuz 's
"""  # each also with a capital, which may stand behind an apostrophe
_KEPT = """
    em ll nuff 'em 'll 'nuff ‘s ‘S 're 'd 'bout and/or w/o ' '' — \\") <space> \\t \\n C++ co. vs. v.s. a.m. p.m.
    e.g. E.g. E.G. i.e. I.e. I.E. Ph.D. D.C. N.C. N.D. N.H. N.J. N.M. N.Y. S.C.
    Adm. Bros. Co. Corp. Dr. Gen. Gov. Inc. Jr. Ltd. Messrs. Mr. Mrs. Ms. Mt. Prof. Rep. Rev. Sen. St.
    Jan. Feb. Mar. Apr. Jun. Jul. Aug. Sep. Sept. Oct. Nov. Dec.
    Ak. Ala. Ariz. Ark. Calif. Colo. Conn. Del. Fla. Ga. Ia. Id. Ill. Ind. Kan. Kans. Ky. La. Mass. Md. Mich. Minn.
    Miss. Mo. Mont. Neb. Nebr. Nev. Okla. Ore. Pa. Tenn. Va. Wash. Wis.
    a. b. c. d. e. f. g. h. i. j. k. l. m. n. o. p. q. r. s. t. u. v. w. x. y. z. ä. ö. ü.
"""
_FACES = r"""
    :) :)) :))) :] :} :( :(( :((( :/ :| :1 :P :p :O :o :0 :3 :* :> :X :x :D :') :'( :() :o)
    :-) :-)) :-))) :-] :-} :-( :-(( :-((( :-/ :-| :-P :-p :-O :-o :-0 :-3 :-* :-> :-X :-x :-D :'-) :'-(
    ;) ;-) ;D ;-D ;_; =) =] =( =[ =/ =| =3 =D 8) 8-) 8D 8-D xD XD xDD XDD (: (-: (= (; (-; (-8 (o: [: [-: [= ): )-: ]=
    >:( >:o >.< >.> <.< <3 <33 <333 </3 ^_^ ^__^ ^___^ ._. -_- -__- v.v V.V v_v V_V @_@ ><(((*>
    o_o o_O O_o O_O 0_o o_0 0_0 o.O O.o O.O o.o 0.0 o.0 0.o (^_^) (-_-) (._.) (>_<) (*_*) (¬_¬) ಠ_ಠ ಠ︵ಠ (ಠ_ಠ) ¯\(ツ)/¯
    (╯°□°）╯︵┻━┻
"""


@cache
def _special() -> dict[str, tuple[str, ...]]:
    """The strings that are cut in their own way, or not at all, and their tokens."""
    cut = [
        (head, *tail.split("|"))
        for heads, tails in _CONTRACTED.items()
        for head in heads.split()
        for tail in tails.split()
    ]
    cut += [tuple(part.replace("'", "") for part in parts) for parts in cut]
    cut += [tuple(parts.split("|")) for parts in _CUT.split()] + [(word,) for word in _WHOLE.split()]
    cut += [(_capital(parts[0]), *parts[1:]) for parts in cut]
    cut = [parts for parts in cut if "".join(parts).lower() not in _WORDS]
    cut += [(str(hour), half) for hour in range(1, 13) for half in ("am", "a.m.", "pm", "p.m.")]
    cut += [("°", degree, ".") for degree in "cfkCFK"]
    cut += [("y'", "all"), ("y", "all"), *((word,) for word in (_KEPT + _FACES).split())]
    cut += [tuple(part.replace("'", "’") for part in parts) for parts in cut]
    return {"".join(parts): parts for parts in cut}


def _capital(word: str) -> str:
    """The word with a capital, behind an apostrophe too."""
    return f"'{word[1:].capitalize()}" if word[0] == "'" else word.capitalize()


@cache
def _scattered() -> dict[tuple[str, ...], str]:
    """The special cases that marks at their ends or within them would take apart, by what these make of them."""
    found = {tuple(_cut(text, {})): text for text in _special()}
    return {tokens: text for tokens, text in found.items() if len(tokens) > 1}


# ---------------------------------------------------------------------------------------------- tokens


def tokens(text: str) -> list[str]:
    """The tokens of an English text.

    >>> tokens("State-of-the-art (deep) nets don't run 5km, e.g. on U.S. roads.")[:11]
    ['State-of-the-art', '(', 'deep', ')', 'nets', 'do', "n't", 'run', '5', 'km', ',']
    """
    return [token for chunk in text.split() for token in _chunk(chunk)]


@lru_cache(maxsize=1 << 17)
def _chunk(chunk: str) -> tuple[str, ...]:
    """The tokens of what stands between white space."""
    special = _special()
    if chunk in special:
        return special[chunk]
    if chunk.isascii() and chunk.isalpha():
        return (chunk,)
    return tuple(_gathered(list(_cut(chunk, special))))


def _cut(chunk: str, special: dict[str, tuple[str, ...]]) -> Iterator[str]:
    """The marks before, the rest cut at marks within it, the marks behind."""
    before: list[str] = []
    behind: list[str] = []
    rest, left = chunk, -1
    while rest and len(rest) != left and rest not in special:
        left = len(rest)
        prefix = match.end() if (match := _PREFIX.match(rest)) else 0
        if prefix and rest[prefix:] in special:
            before.append(rest[:prefix])
            rest = rest[prefix:]
            break
        suffix, whole = _suffix(rest[prefix:]), len(rest)
        if suffix and rest[: whole - suffix] in special:
            behind.append(rest[whole - suffix :])
            rest = rest[: whole - suffix]
            break
        if prefix:
            before.append(rest[:prefix])
        if suffix:
            behind.append(rest[whole - suffix :])
        rest = rest[prefix : whole - suffix]
    yield from before
    if rest:
        yield from special.get(rest) or _within(rest)
    yield from reversed(behind)


def _suffix(rest: str) -> int:
    """How many characters the mark at the end has."""
    dots = len(rest) - len(rest.rstrip("."))
    if dots > 1:
        return dots
    mark = _SUFFIX.search(rest[-LONGEST_SUFFIX:])
    return len(mark.group()) if mark else 0


def _within(rest: str) -> Iterator[str]:
    """What has no mark at its ends, cut at the marks within it; an address is not."""
    if _ADDRESS.fullmatch(rest):
        yield rest
        return
    at = 0
    for mark in _INFIX.finditer(rest):
        if mark.start() == 0:
            continue
        if mark.start() != at:
            yield rest[at : mark.start()]
        yield mark.group()
        at = mark.end()
    if rest[at:]:
        yield rest[at:]


def _gathered(found: list[str]) -> Iterator[str]:
    """Tokens, with those that together are a special case taken as such; of several the longest, then the first."""
    scattered = _scattered()
    lengths = set(map(len, scattered))
    spans = [(i, i + n) for n in lengths for i in range(len(found) - n + 1) if tuple(found[i : i + n]) in scattered]
    spans.sort(key=lambda span: (span[0] - span[1], span[0]))
    taken: dict[int, int] = {}
    used: set[int] = set()
    for i, j in spans:
        if used.isdisjoint((i, j - 1)):
            taken[i] = j
        used.update(range(i, j))
    at = 0
    while at < len(found):
        end = taken.get(at, at + 1)
        yield from _special()["".join(found[at:end])] if at in taken else found[at:end]
        at = end

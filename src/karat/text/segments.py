"""Words of texts that write them without spaces, in Chinese and Japanese: by characters, or by a dictionary.

Cutting puts spaces into the runs of letters of these scripts and leaves everything else as it is, so that a tokenizer
does the rest: `BERT模型` is `BERT 模 型`. A dictionary may cut a phrase in its sentence otherwise than by itself;
characters are always cut alike.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from functools import cache, lru_cache

from karat.libraries import library
from karat.text.scripts import HAN, KANA
from karat.text.unicode import composed

Cut = Callable[[str], str]  # a text with spaces between its words
Pairs = Callable[[str], list[tuple[str, str]]]  # the words of a run of letters, with their universal tags

SEGMENTERS = {"chinese": "jieba", "japanese": "sudachi"}  # by language
_RUN = re.compile(f"[{HAN}{KANA}]+")
_CHARACTER = re.compile(f"[{HAN}{KANA}][\u3099\u309a\ufe00-\ufe0f\U000e0100-\U000e01ef]*")  # with its marks
_BESIDE = re.compile(f"(?<=[{HAN}{KANA}]) | (?=[{HAN}{KANA}])")
_LONGEST = 10_000  # letters that are given to a segmenter at a time; sudachi takes 49,149 bytes

# Universal tags of the word classes of jieba's dictionary, by their first letters, and of those of Sudachi.
_OF_JIEBA = {"nr": "PROPN", "ns": "PROPN", "nt": "PROPN", "nz": "PROPN", "vn": "NOUN", "an": "NOUN"} | {
    "n": "NOUN",
    "j": "NOUN",
    "l": "NOUN",
    "a": "ADJ",
    "b": "ADJ",
    "v": "VERB",
    "p": "ADP",
}
_OF_SUDACHI = {"名詞": "NOUN", "形状詞": "ADJ", "形容詞": "ADJ", "動詞": "VERB", "接頭辞": "ADJ"}


def cut(name: str) -> Cut | None:
    """What puts spaces between words: `characters`, `jieba` or `sudachi`; None where nothing is cut (`none`).

    >>> cut("characters")("BERT模型, 2 layers").split()
    ['BERT', '模', '型', ',', '2', 'layers']
    """
    if name == "none":
        return None
    return _by_characters if name == "characters" else _by_words(name)


def _by_characters(text: str) -> str:
    return text if text.isascii() else _CHARACTER.sub(r" \g<0> ", text)


@cache
def _by_words(name: str) -> Cut:
    pairs = segmenter(name)

    def spaced(run: re.Match[str]) -> str:
        return f" {' '.join([word for word, _ in pairs(run[0])])} "

    return lambda text: text if text.isascii() else _RUN.sub(spaced, composed(text))


def segmented(text: str, language: str) -> str:
    """A text with spaces between its words, as models read it; of a language that has spaces, the text itself."""
    spaced = cut(SEGMENTERS.get(language, "none"))
    return text if spaced is None else spaced(text)


def tagged_words(text: str, name: str) -> Iterator[tuple[str, str]]:
    """The words of all runs of a text, in order, with their universal tags."""
    pairs = segmenter(name)
    for run in _RUN.findall(composed(text)):
        yield from pairs(run)


def close(phrase: str) -> str:
    """A phrase without the spaces that cutting put in.

    >>> close("BERT 模型 训练"), close("deep nets")
    ('BERT模型训练', 'deep nets')
    """
    return phrase if phrase.isascii() else _BESIDE.sub("", phrase)


# ---------------------------------------------------------------------------------------------- dictionaries


@cache
def segmenter(name: str) -> Pairs:
    """What cuts a run of letters by a dictionary. Raises MissingExtraError if its library is not installed."""
    found = {"jieba": _jieba, "sudachi": _sudachi}[name]()
    once = lru_cache(maxsize=1 << 14)(lambda run: found(run))  # phrases and clauses come again
    return lambda run: [pair for at in range(0, len(run), _LONGEST) for pair in once(run[at : at + _LONGEST])]


def _jieba() -> Pairs:
    """The likeliest words by jieba's dictionary; what is not in it is cut into characters, so that it is cut alike."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its source has sequences that newer Pythons warn of
        jieba = library("jieba", "cutting Chinese into words")
    # By itself it would keep its dictionary in the folder for temporary files, and believe what it finds there.
    own = jieba.Tokenizer()
    own.FREQ, own.total = own.gen_pfdict(own.get_dict_file())
    own.initialized = True
    tags: dict[str, str] = {}
    with own.get_dict_file() as file:
        for line in file:
            word, _, tag = line.decode("utf-8").split()
            tags[word] = _OF_JIEBA.get(tag[:2]) or _OF_JIEBA.get(tag[:1], "X")
    return lambda run: [(word, tags.get(word, "X")) for word in own.cut(run, HMM=False)]


def _sudachi() -> Pairs:
    """The shortest units of Sudachi's core dictionary (mode A)."""
    use = "cutting Japanese into words"
    sudachi, _ = library("sudachipy", use), library("sudachidict_core", use)
    dictionary, mode = sudachi.Dictionary(dict="core"), sudachi.SplitMode.A
    make = getattr(dictionary, "tokenizer", None) or dictionary.create  # as older versions call it
    own = make()
    return lambda run: [(each.surface(), _tag(each.part_of_speech())) for each in own.tokenize(run, mode)]


def _tag(classes: tuple[str, ...]) -> str:
    """The universal tag of Sudachi's word classes."""
    if classes[:2] == ("名詞", "固有名詞"):
        return "PROPN"
    if classes[:2] == ("名詞", "数詞"):
        return "NUM"
    if classes[0] == "接尾辞":
        return "NOUN" if classes[1] == "名詞的" else "ADJ" if classes[1] == "形状詞的" else "X"
    if classes[:2] == ("助詞", "格助詞"):
        return "ADP"
    return _OF_SUDACHI.get(classes[0], "X")

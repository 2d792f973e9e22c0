"""A text with some of its words replaced by synonyms from WordNet: no model, no network, the same outcome each time.

Only nouns, verbs, adjectives and adverbs are replaced, by a word of the sense that WordNet lists first, in the same
form (plural, -ed, -ing). The words of the document's references stay, so that its keyphrases are still in the text.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache
from random import Random

import msgspec

from karat.corpus import Document
from karat.errors import InputError
from karat.text.normalise import normaliser
from karat.text.tags import tags
from karat.text.wordnet import FOLDER, VARIABLE, PartOfSpeech, WordNet, read_wordnet

# Which files of WordNet a Penn tag asks for, and in which form the word is; comparatives and names stay as they are.
_TAGS: dict[str, tuple[str, str]] = {
    "NN": ("noun", ""),
    "NNS": ("noun", "s"),
    "VB": ("verb", ""),
    "VBP": ("verb", ""),
    "VBZ": ("verb", "s"),
    "VBD": ("verb", "ed"),
    "VBN": ("verb", "ed"),
    "VBG": ("verb", "ing"),
    "JJ": ("adj", ""),
    "RB": ("adv", ""),
}
# A word by itself: no part of a compound, of a possessive, of a name with digits.
_WORD = re.compile(r"(?<![\w'’-])[A-Za-z]+(?![\w'’-])")
_PUT = re.compile(rf"(?:(?<![\w'’-])(?P<article>[Aa][Nn]?)(?P<space>\s+))?(?P<word>{_WORD.pattern})")
SHORTEST = 3  # letters; shorter words are particles and abbreviations
# Verbs and adverbs that hold a sentence together: their synonyms are for other uses of them.
_HOLDING = """
    are be been being can could did do does doing done had has have having is may might must shall should was were will
    would not also more most very only just well then than both such other same own many much even still however thus
"""
_STAY = frozenset(_HOLDING.split())
_VOWELS = "aeiou"


@dataclass(frozen=True, slots=True)
class Thesaurus:
    """The words of each synset, and the irregular forms of words."""

    net: WordNet
    words: Mapping[str, Sequence[str]]  # by part of speech and offset
    irregular: Mapping[str, Mapping[str, Sequence[str]]]  # by part of speech and base form

    def synonyms(self, word: str, part_name: str, form: str) -> list[str]:
        """Single words that can stand for a word, in its form, in alphabetical order."""
        part = next(part for part in self.net.parts if part.name == part_name)
        base = _base(part, word, form)
        if base is None:
            return []
        others = (other for other in self.words[f"{part.name}.{part.synsets[base][0]}"] if other != base)
        # A word of one sense is mostly a rare one: hebdomad for week, bibliothec for librarian.
        usual = (other for other in others if other.isalpha() and len(part.synsets[other]) > 1)
        shaped = (self._shaped(other, part_name, form) for other in usual)
        return sorted({found for found in shaped if found is not None and found != word})

    def _shaped(self, base: str, part_name: str, form: str) -> str | None:
        """A base form in another form; None where that is irregular in a way the list of forms does not settle."""
        if not form:
            return base
        listed = self.irregular[part_name].get(base, ())
        if part_name == "noun":
            return listed[0] if listed else _with_s(base)
        if form == "s":
            return _with_s(base)
        if form == "ed" and any(not found.endswith(("ed", "ing")) for found in listed):
            return None  # was or been: the tag of a word alone does not tell
        doubled = [found for found in listed if found.endswith(form)]
        return doubled[0] if doubled else _with_ending(base, form)


def _base(part: PartOfSpeech, word: str, form: str) -> str | None:
    """The base form of a word that is in a form; a word that has no form is its own."""
    if not form:
        return word if word in part.synsets else None
    return next((base for base in part.base_forms(word) if base != word), None)


def _with_s(base: str) -> str:
    if base.endswith(("s", "x", "z", "ch", "sh")):
        return base + "es"
    if base.endswith("y") and base[-2:-1] not in _VOWELS:
        return base[:-1] + "ies"
    return base + "s"


def _with_ending(base: str, ending: str) -> str:
    if base.endswith("ie") and ending == "ing":
        return base[:-2] + "ying"
    if base.endswith("e") and not base.endswith(("ee", "oe", "ye")):
        return base[:-1] + ending
    if base.endswith("e") and ending == "ed":
        return base + "d"
    if base.endswith("y") and base[-2:-1] not in _VOWELS and ending == "ed":
        return base[:-1] + "ied"
    return base + ending


def thesaurus() -> Thesaurus:
    """The thesaurus that WordNet's files on this machine make."""
    return read_thesaurus(os.environ.get(VARIABLE) or FOLDER)


@cache
def read_thesaurus(folder: str) -> Thesaurus:
    """The thesaurus of the WordNet in a folder."""
    net = read_wordnet(folder)
    words: dict[str, list[str]] = {}
    irregular: dict[str, dict[str, list[str]]] = {}
    for part in net.parts:
        for word, offsets in part.synsets.items():
            for offset in offsets:
                words.setdefault(f"{part.name}.{offset}", []).append(word)
        forms = irregular.setdefault(part.name, {})
        for inflected, bases in part.irregular.items():
            for base in bases:
                forms.setdefault(base, []).append(inflected)
    return Thesaurus(net, words, irregular)


# ---------------------------------------------------------------------------------------------- replacing


def checked_share(share: float) -> float:
    """The share of words to replace, if it is one."""
    if not 0 < share <= 1:
        raise InputError(f"the share of words to replace is more than 0 and at most 1, not {share:g}")
    return share


def replaced(texts: Sequence[str], stay: Set[str], share: float, chance: Random) -> list[str]:
    """The texts of one document with a share of its words replaced, a word by the same synonym everywhere.

    The share is of the different words that have a synonym. `stay` are the stems of words that are kept.
    """
    choices = _choices(texts, stay)
    chosen = chance.sample(sorted(choices), round(share * len(choices)))
    new = {word: chance.choice(choices[word]) for word in chosen}
    return [_put(text, new) for text in texts]


def _choices(texts: Sequence[str], stay: Set[str]) -> dict[str, list[str]]:
    """The synonyms of every word of the texts that has any and may be replaced."""
    known, stem = thesaurus(), normaliser("marks", "porter", "lower")
    words = dict.fromkeys(word.lower() for text in texts for word in _WORD.findall(text))
    candidates = [word for word in words if len(word) >= SHORTEST and word not in _STAY and stem(word) not in stay]
    found = {
        word: known.synonyms(word, *_TAGS[tag])
        for word, (tag,) in zip(candidates, tags([word] for word in candidates), strict=True)
        if tag in _TAGS
    }
    return {word: synonyms for word, synonyms in found.items() if synonyms}


def _put(text: str, new: Mapping[str, str]) -> str:
    """The text with words replaced; a word keeps its capitals, and the article before it follows its new sound."""

    def other(match: re.Match[str]) -> str:
        article, space, word = match["article"] or "", match["space"] or "", match["word"]
        found = new.get(word.lower())
        if found is None:
            return match[0]
        if article.lower() in ("a", "an") and (found[0] in _VOWELS) != (word[0].lower() in _VOWELS):
            n = "N" if word.isupper() else "n"
            article = article[0] + (n if found[0] in _VOWELS else "")
        return article + space + _cased(found, word)

    return _PUT.sub(other, text)


def _cased(word: str, like: str) -> str:
    if like.isupper():
        return word.upper()
    return word.capitalize() if like[0].isupper() else word


def reformulated(document: Document, identifier: str, share: float, seed: int) -> Document:
    """The document with a share of its words replaced; which ones, and by what, depends on its id and the seed."""
    stem = normaliser("marks", "porter", "lower")
    sets = [document.keyphrases or [], *(document.reference_sets or {}).values()]
    given = (reference for references in sets for reference in references)
    phrases = [v for each in given for v in (each if isinstance(each, list) else [each]) if v]
    stay = {word for form in stem.many(phrases) for word in re.split(r"[\s-]+", form)}
    texts = [document.title or "", document.text or ""]
    title, text = replaced(texts, stay, share, Random(f"{seed}:{identifier}"))
    return msgspec.structs.replace(document, title=title or None, text=text or None)

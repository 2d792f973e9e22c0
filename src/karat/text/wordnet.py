"""WordNet's synsets of words, read from the dictionary files as Debian installs them.

Only the files index.* (which synsets a word is in) and *.exc (irregular forms) are read; both are in wordnet-base. The
base forms of a word are found as WordNet's morphy finds them: irregular forms by list, the others by endings.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from errno import ENOENT
from functools import cache
from pathlib import Path

from karat.errors import InputError, MissingExtraError
from karat.formats.files import lines

VARIABLE = "KARAT_WORDNET"
FOLDER = "/usr/share/wordnet"

# What an ending of an inflected word may become in its base form.
_ENDINGS: dict[str, str] = {
    "noun": "s> ses>s ves>f xes>x zes>z ches>ch shes>sh men>man ies>y",
    "verb": "s> ies>y es>e es> ed>e ed> ing>e ing>",
    "adj": "er> est> er>e est>e",
    "adv": "",
}


@dataclass(frozen=True, slots=True)
class PartOfSpeech:
    """The words of one part of speech."""

    name: str
    synsets: dict[str, tuple[str, ...]]  # offsets in the data file, which name synsets
    irregular: dict[str, list[str]]
    endings: tuple[tuple[str, str], ...]

    def base_forms(self, word: str) -> list[str]:
        """The word itself and its base forms, as far as WordNet has them."""
        bases = self.irregular.get(word)
        if bases is None:
            bases = [word.removesuffix(old) + new for old, new in self.endings if word.endswith(old)]
        return [form for form in (word, *bases) if form in self.synsets]


@dataclass(frozen=True, slots=True)
class WordNet:
    """The synsets of words."""

    parts: tuple[PartOfSpeech, ...]

    def synsets(self, word: str) -> frozenset[str]:
        """The synsets that a word, or a base form of it, is in: part of speech and offset."""
        return frozenset(
            f"{part.name}.{offset}"
            for part in self.parts
            for form in part.base_forms(word.lower())
            for offset in part.synsets[form]
        )

    def synonyms(self, a: str, b: str) -> bool:
        """Whether two words have a synset in common."""
        return not self.synsets(a).isdisjoint(self.synsets(b))


def wordnet() -> WordNet:
    """The WordNet of this machine: in the folder $KARAT_WORDNET, or where Debian puts it."""
    return read_wordnet(os.environ.get(VARIABLE) or FOLDER)


@cache
def read_wordnet(folder: str) -> WordNet:
    """The WordNet whose dictionary files are in a folder."""
    try:
        return WordNet(tuple(_part(Path(folder), name) for name in _ENDINGS))
    except OSError as error:
        raise MissingExtraError(
            f"WordNet's dictionary files are not in {folder} ({error.strerror}: {error.filename}): "
            f"apt install wordnet-base, or set {VARIABLE} to the folder that holds index.noun"
        ) from None


def _part(folder: Path, name: str) -> PartOfSpeech:
    synsets = dict(_indexed(folder / f"index.{name}"))
    irregular = {word: bases for _, (word, *bases) in _entries(folder / f"{name}.exc")}
    pairs = (ending.split(">") for ending in _ENDINGS[name].split())
    return PartOfSpeech(name, synsets, irregular, tuple((old, new) for old, new in pairs))


def _indexed(path: Path) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each word with its synsets; the lines of the licence, which start with a blank, are left out."""
    # word part synset_count pointer_count pointers... sense_count tagged_count offsets...
    for number, (word, *fields) in _entries(path):
        count = fields[1] if len(fields) > 1 else ""
        if not (count.isascii() and count.isdigit() and len(count) < 6 and 1 <= int(count) <= len(fields)):
            raise InputError(f"{path}:{number}: is no line of WordNet's index")
        yield word, tuple(fields[-int(count) :])


def _entries(path: Path) -> Iterator[tuple[int, list[str]]]:
    """(number, words) of each line that neither is blank nor begins with a blank."""
    if not path.is_file():
        raise FileNotFoundError(ENOENT, "No such file or directory", str(path))
    return ((number, line.split()) for number, line in lines(str(path)) if line[:1].strip())

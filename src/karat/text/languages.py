"""Which language a text seems to be in, by its commonest words: enough to say that something looks wrong."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

# The commonest short words of each language, by the name that Snowball has for it.
COMMON = {
    "danish": "af at blev de den der det en er et for fra han har i ikke med men og om på som til var",
    "dutch": "aan als dat de den die een en er het hij in is met niet om op te van voor was ze zijn",
    "english": "a and are as at be by for from has in is it of on or that the this to was we which with",
    "finnish": "ei eivät että hän ja joka kanssa kun mutta myös niin oli olla on ovat se sen tai tämä voi",
    "french": "au aux ce dans de des du elle en est et il la le les ne nous par pas pour que qui sur un une",
    "german": "als auf auch das dem den der des die ein eine für ist im mit nicht sich sie und von werden wird zu",
    "italian": "al alla che con da dei del della di e gli il in la le nel non per si sono un una è",
    "portuguese": "a ao as com da das de do dos e em foi mais na no não o os para por que se um uma",
    "russian": "а был в во для его из и к как на не но о от по при с так то что это является",
    "spanish": "al como con de del e el en es la las lo los más no para por que se su sus un una y",
    "swedish": "att av de den det en ett från för har i inte med men och om på som till var är",
}
_WORDS = {language: frozenset(words.split()) for language, words in COMMON.items()}
_WORD = re.compile(r"[^\W\d_]+")

FEWEST = 20  # words of a text that tell a language
LEAST = 0.1  # share of the common words of a language among them
AHEAD = 1.5  # how many times as many common words it has as the language that was said


def guess(texts: Iterable[str], said: str) -> str | None:
    """The language that texts seem to be in where it is not the one that was said; None where nothing looks wrong.

    Only a language of COMMON can be told from another; of too few words nothing is said.

    >>> guess(["Les réseaux de neurones sont des modèles qui apprennent la structure d'une langue " * 2], "english")
    'french'
    >>> guess(["The networks of the brain are models which learn the structure of a language " * 2], "english") is None
    True
    """
    if said not in _WORDS:
        return None
    counts, total = Counter[str](), 0
    for text in texts:
        words = _WORD.findall(text.lower())
        total += len(words)
        for language, common in _WORDS.items():
            counts[language] += sum(word in common for word in words)
    best, found = max(counts.items(), key=lambda item: item[1], default=(said, 0))
    looks_other = total >= FEWEST and found >= LEAST * total and found > AHEAD * counts[said]
    return best if best != said and looks_other else None

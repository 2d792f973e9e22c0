"""Languages by name or code, and the language of a text, guessed by its script or by words that all texts of a
language have; `unknown` where they do not settle it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache

from karat.errors import unknown
from karat.protocol import LANGUAGES as STEMMED
from karat.text.scripts import language_of_script
from karat.text.segments import SEGMENTERS

LEAST = 0.1  # share of a text's words that must be such words
AHEAD = 1.5  # how many times as many of them as of the next language's
FEWEST = 12  # words of texts that tell that they are in another language than was said
SHARE = 0.2  # of the texts, that must be in that language
_WORD = re.compile(r"[^\W\d_]+")

LANGUAGES = (*STEMMED, *SEGMENTERS)  # that can be named
_CODES = "ar hy eu ca cs da nl en eo et fi fr de el hi hu id ga it lt ne no fa pl pt ro ru sr st es sv ta tr yi zh ja"
CODES = dict(zip(_CODES.split(), LANGUAGES, strict=True)) | {"nb": "norwegian"}

# Articles, prepositions, conjunctions, pronouns, forms of to be: the commonest of each language, by its Snowball name.
COMMON = {
    language: frozenset(words.split())
    for language, words in {
        "english": "the of and to in is that for it as with was on are by this be from an which or we at not can has",
        "french": "le la les de des du et en un une est que qui dans pour par sur pas au aux avec ce cette sont nous",
        "german": "der die das und in den von zu mit ist des dem ein eine für auf im nicht sich auch als wird oder",
        "spanish": "el la los las de del y en un una que es por para con se no su al como más este esta son lo entre",
        "italian": "il lo la gli le di del della e in un una che è per con non si dei delle al nel sono come da alla",
        "portuguese": "o a os as de do da dos das e em um uma que é por para com não se no na ao são como mais pela",
        "catalan": "el la els les de del i en un una que és per amb no es al com més aquest aquesta són dels d l ha",
        "romanian": "și în de la cu pe un o este care din pentru nu se sunt mai prin sau ale că fi acest această al a",
        "dutch": "de het een van en in is dat op te voor met zijn niet aan door die er wordt ook bij als worden naar",
        "swedish": "och i att det som en på är av för med den till inte har de om ett kan från vid eller vi var",
        "danish": "og i at det som en på er af for med den til ikke har de om et kan fra ved eller vi blev bliver",
        "norwegian": "og i at det som en på er av for med den til ikke har de om et kan fra ved eller vi ble blir",
        "finnish": "ja on ei se että oli ovat joka kun mutta myös tai sekä kuin ole olla voidaan tämä jos niin voi sen",
        "hungarian": "a az és hogy nem is egy van volt ez meg csak vagy mint de már ha el kell lehet azt be között",
        "polish": "i w na z do nie się że jest to o od przez dla po jak oraz są za lub ten który co jego przy",
        "czech": "a v na se je že s z do to o pro jako k od za není který které ve po by při nebo jsou",
        "turkish": "ve bir bu için ile de da olarak olan çok daha gibi en sonra kadar olduğu değil ise ya her ne",
        "russian": "и в на не что с по как это для из от к а о при или его так также может быть был между",
        "greek": "και το η ο να του της των με για από στο στη που είναι τα τη οι τον θα δεν ένα μια",
        "indonesian": "yang dan di dari untuk dengan pada ini dalam adalah tidak itu ke oleh sebagai akan juga atau",
        "arabic": "في من على إلى أن عن هذا هذه التي الذي مع كان ما لا أو بين هو هي كما قد",
        "hindi": "के का की है में से और को पर यह हैं ने एक कि भी नहीं लिए इस कर तो",
    }.items()
}
_LANGUAGES_OF: dict[str, list[str]] = {}
for _language, _words in COMMON.items():
    for _common in _words:
        _LANGUAGES_OF.setdefault(_common, []).append(_language)


@cache
def named(language: str) -> str:
    """The name of a language that is given by its name or by its code, in any case.

    Raises InputError if it is none of those that karat knows.

    >>> named("fr"), named("English"), named("zh")
    ('french', 'english', 'chinese')
    """
    lower = language.lower()
    name = CODES.get(lower.partition("-")[0].partition("_")[0], lower)
    if name not in LANGUAGES:
        raise unknown("language", language, LANGUAGES)
    return name


def stemmer_of(language: str) -> str:
    """The stemmer of a language by its name; words of Latin script in Chinese and Japanese are stemmed as English.

    >>> stemmer_of("french"), stemmer_of("english"), stemmer_of("chinese")
    ('french', 'porter', 'porter')
    """
    return "porter" if language == "english" or language in SEGMENTERS else language


def language_of(text: str) -> str:
    """The language that a text is in, by its name, or `unknown`.

    >>> language_of("The cost of the search is small."), language_of("Le coût de la recherche est faible.")
    ('english', 'french')
    >>> language_of("grid computing"), language_of("")
    ('unknown', 'unknown')
    """
    by_script = language_of_script(text)
    if by_script is not None:
        return by_script.lower()
    words = _WORD.findall(text.lower())
    scores: dict[str, float] = {}
    for word in words:
        languages = _LANGUAGES_OF.get(word, ())
        for language in languages:  # a word of several languages tells less
            scores[language] = scores.get(language, 0.0) + 1 / len(languages)
    first, second = sorted([*scores.items(), ("unknown", 0.0), ("unknown", 0.0)], key=lambda pair: -pair[1])[:2]
    common = sum(word in COMMON.get(first[0], ()) for word in words)
    settled = common >= max(LEAST * len(words), 2) and first[1] >= AHEAD * second[1]
    return first[0] if settled else "unknown"


def main_language(found: Sequence[str] | Counter[str]) -> str:
    """The language of most of the texts, given the language of each; `unknown` if none has more than half.

    >>> main_language(["english", "english", "unknown"]), main_language(["french", "german"])
    ('english', 'unknown')
    """
    counts = Counter(found)
    ranked = counts.most_common(1)
    return ranked[0][0] if ranked and 2 * ranked[0][1] > counts.total() else "unknown"


def other_language(texts: Iterable[str], said: str) -> tuple[str, int] | None:
    """(the language that texts seem to be in, how many of them do), where it is not the one that was said.

    None where nothing looks wrong: where too few words show it, or where the given language is not one of COMMON.

    >>> other_language(["Les réseaux de neurones sont des modèles qui apprennent toute une langue."], "english")
    ('french', 1)
    >>> other_language(["The networks of the brain are models which learn the structure of a language."], "english")
    """
    if said not in COMMON and said not in SEGMENTERS:
        return None
    given = list(texts)
    found = [language_of(text) for text in given]
    counts = Counter(language for language in found if language != "unknown")
    best = main_language(counts)
    if best in ("unknown", said) or counts[best] < SHARE * len(given):
        return None
    words = sum(_length(text, best) for text, language in zip(given, found, strict=True) if language == best)
    return (best, counts[best]) if words >= FEWEST else None


def _length(text: str, language: str) -> int:
    """How many words a text has; without spaces between them, characters."""
    return len(text) if language in SEGMENTERS else len(_WORD.findall(text))


def guess(texts: Iterable[str]) -> str:
    """The language that most of the texts that show any are in; English where they do not settle it."""
    found = other_language(texts, "english")
    return "english" if found is None else found[0]

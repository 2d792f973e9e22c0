"""What karat has for each language: stemmer, stop words, tagger, sentences, words, and how that was checked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec

from karat.text.languages import CODES, LANGUAGES, stemmer_of
from karat.text.segments import SEGMENTERS
from karat.text.sentences import CLITICS
from karat.text.stoplists import stop_words
from karat.text.tags import MODELS, TAGGERS, how_to_tag

NONE = "–"
_EXTRAS = {"chinese": ("jieba",), "japanese": ("sudachipy", "sudachidict_core")}  # modules of the extras, by language
_CHECKED = {
    "english": "stems against NLTK's, lists against pke's, on corpora",
    "french": "stems against NLTK's, tags on two corpora",
    "spanish": "stems against NLTK's, tags by hand",
    "german": "stems against NLTK's",
    "italian": "stems against NLTK's",
    "portuguese": "stems against NLTK's",
    "arabic": "stems against NLTK's, which differ for some words",
    "chinese": "ten documents by hand",
    "japanese": "ten documents by hand",
}


@dataclass(frozen=True, slots=True)
class Resources:
    """What there is for a language; a text is `–` where there is nothing.

    Porter's stemmer of Chinese and Japanese is for the words of Latin script in them.
    """

    name: str
    code: str
    stemmer: str
    stop_words: int
    tagger: str
    install: str  # the command that installs the tagger
    sentences: str
    words: str
    checked: str

    @property
    def installed(self) -> bool | None:
        """Whether the tagger is installed; None where there is none."""
        if self.tagger == NONE:
            return None
        needed = _EXTRAS.get(self.name, ("spacy", MODELS[self.name]) if self.name in MODELS else ())
        return all(map(find_spec, needed))


def resources() -> Iterator[Resources]:
    """What there is for each language, by name; those that have more than a stemmer first."""
    codes = {name: code for code, name in reversed(CODES.items())}
    for name in sorted(LANGUAGES, key=lambda name: (name not in _CHECKED, name)):
        own = SEGMENTERS.get(name)
        model = MODELS.get(name)
        yield Resources(
            name,
            codes[name],
            "Porter" if stemmer_of(name) == "porter" else "Snowball",
            len(stop_words(name) - stop_words("english")) if own else len(stop_words(name)),
            f"spacy:{model}" if model else TAGGERS.get(name, NONE),
            f"pip install 'karat[{name}]'" if own else how_to_tag(name) or NONE,
            "at 。！？" if own else "at marks; clitics apart" if name in CLITICS else "at marks",
            f"characters; {own}" if own else "spaces",
            _CHECKED.get(name, NONE),
        )

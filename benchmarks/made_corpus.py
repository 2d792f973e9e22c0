"""A made keyphrase corpus and a run of predictions for it, of any size, for measuring speed.

Nothing here means anything, but its shape is that of scientific abstracts: as many tokens, references and
predictions a document, real English function words at about their real frequencies, and a vocabulary of
content words that grows with the text by Heaps' law, inflected and derived so that a stemmer has work to do.

    python -m benchmarks.made_corpus FOLDER --documents 20000 --seed 0
"""

import argparse
import json
import os
import random
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from itertools import accumulate
from pathlib import Path
from typing import TextIO

import numpy as np
from numpy.typing import NDArray

TOKEN = re.compile(r"\w+(?:-\w+)*|[^\w\s]")

# Probability of the content word of rank r is proportional to 1 / ((r + HEAD) * (r + BEND)): Zipf's law with
# exponent 1 up to about BEND and 2 beyond it, which makes the number of types grow as about tokens ** 0.5.
HEAD = 12.0
BEND = 1070.0

REPEATED = 0.25  # share of content words whose root was used shortly before, as a document keeps to its topic
REPEAT_REACH = 60
STREAM_BLOCK = 1 << 16
RARE = 1000  # roots of this rank or beyond keep mostly to one form each, as rare words do
ONE_FORM = 0.92
GOLDEN = 0.6180339887498949  # its multiples spread evenly between whole numbers: one fixed draw for each rank

SENTENCE_WORDS = (12, 24)  # four fewer than the longest wanted, for a phrase put in one word's place
TITLE_WORDS = (6, 10)
SENTENCES = tuple(range(5, 14))
SENTENCES_WEIGHTS = (8, 15, 20, 18, 14, 11, 8, 4, 2)
SENTENCE_FRAMES = 8192
TITLE_FRAMES = 1024

REFERENCES = tuple(range(2, 9))
REFERENCE_WEIGHTS = (6, 11, 17, 21, 19, 14, 12)
PHRASE_LENGTHS = (1, 2, 3, 4)
PHRASE_LENGTH_WEIGHTS = (25, 52, 18, 5)
SHARED = 0.5  # share of the phrases that come from a lexicon, so that documents have keyphrases in common
LEXICON = 1 << 15

PRESENT = 0.575  # the rest of the references are, in this order, reordered, scattered and unseen
REORDERED = 0.70
SCATTERED = 0.85
ONLY_INFLECTED = 0.07  # share of the present references that the text has in the other number alone
CAPITALISED = 0.08

NO_PREDICTIONS = 0.03
PREDICTIONS = (2, 20)

_ONSETS = (
    *"bcdfghlmnprstv", *"bcdflmnprst",
    "br", "cr", "dr", "fl", "gr", "pl", "pr", "sp", "st", "tr", "th", "ch", "sh", "qu", "str", "cl",
)  # fmt: skip
_NUCLEI = (*"aeiouaeiouaeio", "ai", "ea", "ee", "ou", "io")
_CODAS = ("",) * 6 + tuple("nrlsmt")
_INNER = tuple("nrlsmtdcvgnrlt")
_CLOSINGS = (*"nrlstmdgpx", "ct", "nt", "nd", "st", "rt", "ck", "mp", "ll", "sh", "ch")
_ENDINGS = ("",) * 5 + (
    "ate", "ine", "ure", "ide", "ose", "ify", "ic", "al", "ent", "ant", "ous", "our", "er", "on", "um", "et",
    "ance", "y", "e", "ive",
)  # fmt: skip
_PREFIXES = (
    "non", "multi", "self", "high", "low", "real", "cross", "semi", "co", "pre", "inter", "well", "two",
    "three", "large", "open", "on-line", "meta",
)  # fmt: skip

# One row of suffixes for each kind of root (verb, noun, adjective), the most frequent form first.
_SUFFIXES = (
    ("", "s", "ed", "ing", "ation", "er", "able", "ations", "ers", "ment", "ability", "ments"),
    ("", "s", "al", "ization", "ize", "ized", "ist", "ally", "izing", "less", "isation", "ised"),
    ("", "ly", "ity", "ness", "ities", "er", "ize", "ization", "ism", "est", "ized", "ise"),
)
FORMS = len(_SUFFIXES[0])
_BODY_FORMS = (40, 18, 11, 10, 7, 4, 3, 2.5, 2, 1.5, 0.6, 0.4)
_PHRASE_FORMS = (62, 12, 5, 6, 6, 3, 1.5, 2, 1, 1, 0.3, 0.2)

# What stands between two runs of content words, with how often: the words' own frequencies follow from these.
_JOINTS: dict[str, float] = {
    "the": 18, "of": 20, "of the": 15, "and": 24, "and the": 4, "in": 8, "in the": 8, "to": 13, "to the": 4,
    "a": 8, "of a": 4, "is": 5, "is a": 2, "for": 8, "for the": 3, "that": 3, "that the": 2.5, "with": 6,
    "with the": 1.5, "with a": 1.2, "on": 4, "on the": 2.5, "we": 4, "by": 5, "by the": 1.5, "are": 4,
    "as": 3, "as a": 1, "an": 2.5, "from": 3, "from the": 1.2, "which": 2, "can be": 2, "can": 1, "this": 2,
    "in this": 1, "or": 3, "at": 2, "at the": 0.8, "between": 1.5, "between the": 0.7, "these": 1,
    "have been": 0.6, "has been": 0.7, "was": 2, "were": 2, "than": 1, "such as": 1.2, "while": 0.5,
    "when": 0.5, "where": 0.6, "our": 1, "its": 1, "their": 1, "is not": 0.6, "to be": 0.8, "be": 1,
    "into": 0.6, "both": 0.5, "also": 0.7, "but": 0.6, "if": 0.3, "under": 0.4, "over": 0.4, "through": 0.5,
    "how": 0.3, "each": 0.5, "all": 0.5, "more": 0.8, "may be": 0.4, "will be": 0.3, "does not": 0.2,
    "and to": 0.5, "as well as": 0.5, "in which": 0.4, "within the": 0.4, "during": 0.3, "after": 0.3,
    "without": 0.3, "among the": 0.2, "it is": 0.8, "in an": 0.6, "and a": 1, "is the": 0.8, "are not": 0.2,
    "and that": 0.4, "to a": 0.8, "of an": 0.7, "of these": 0.5, "of this": 0.5, "we have": 0.3, "only": 0.4,
    "most": 0.3, "some": 0.4, "other": 0.5, "then": 0.3, "there is": 0.2,
}  # fmt: skip
_OPENERS: dict[str, float] = {
    "the": 22, "we": 12, "in this": 8, "this": 8, "": 22, "a": 5, "in the": 4, "these": 3, "it is": 3,
    "our": 4, "for the": 2, "to": 3, "by": 2, "however, the": 2, "however, we": 1, "in addition, the": 1,
    "an": 2, "with the": 1, "there are": 1, "on the": 1, "as a": 1, "both": 1, "while the": 1, "based on": 1,
    "and": 0.3, "such": 1,
}  # fmt: skip
_TITLE_JOINTS: dict[str, float] = {
    "of": 20, "for": 18, "in": 12, "and": 16, "of the": 5, "with": 8, "on": 4, "the": 4, "a": 5, "to": 4,
    "from": 4, "by": 3, "in the": 3, "for the": 1, "via": 2, "under": 2, "and its": 1, "between": 1,
    "based on": 2, "on the": 1,
}  # fmt: skip
_TITLE_OPENERS: dict[str, float] = {"": 70, "a": 14, "the": 5, "on the": 4, "towards": 3, "an": 4}


@dataclass(frozen=True, slots=True)
class MadeCorpus:
    """Where a made corpus and its run are, and what they hold.

    Tokens are those of titles and texts, marks included; word types are their distinct lower-cased words.
    """

    corpus: Path
    run: Path
    documents: int
    tokens: int
    word_types: int
    references: int
    predictions: int


class _Choice:
    """A weighted choice among strings, its sums taken once because it is made many thousands of times."""

    def __init__(self, weights: dict[str, float]) -> None:
        self.options = list(weights)
        self.sums = list(accumulate(weights.values()))

    def draw(self, chance: random.Random) -> str:
        """One option."""
        return chance.choices(self.options, cum_weights=self.sums)[0]


def _other_number(phrase: str) -> str:
    """The phrase with its last word made plural, or singular where it looks plural."""
    if not phrase[-1].isalpha():  # <unk> has no number
        return phrase
    if phrase.endswith("ies"):
        return phrase[:-3] + "y"
    if phrase.endswith(("xes", "ches", "shes", "sses")):
        return phrase[:-2]
    if phrase.endswith("s") and not phrase.endswith(("ss", "us", "is")):
        return phrase[:-1]
    return _inflected(phrase, "s")


def _inflected(stem: str, suffix: str) -> str:
    """The stem with the suffix, joined by the commoner rules of English spelling."""
    if not suffix:
        return stem
    consonant_y = stem.endswith("y") and stem[-2:-1] not in tuple("aeiou")
    if suffix == "s":
        if consonant_y:
            return stem[:-1] + "ies"
        return stem + ("es" if stem.endswith(("s", "x", "z", "ch", "sh")) else "s")
    if suffix.startswith("ation"):
        if stem.endswith("ify"):
            return stem[:-1] + "ic" + suffix
        stem = stem.removesuffix("ate")
    if suffix[0] not in "aei":
        if suffix == "ly" and stem.endswith("ic"):
            return stem + "ally"
        return (stem[:-1] + "i" if consonant_y else stem) + suffix
    if stem.endswith("e") and not stem.endswith("ee"):
        return stem[:-1] + suffix
    if consonant_y and suffix != "ing":
        return stem[:-1] + ("" if suffix[0] == "i" else "i") + suffix
    if suffix in ("ed", "ing", "er") and re.fullmatch(r"[^aeiou]*[aeiou][bdgmnprt]", stem):
        return stem + stem[-1] + suffix
    return stem + suffix


class _Vocabulary(dict[int, str]):
    """The words met so far, by rank of root times FORMS plus form; a word is made when it is first looked up.

    Frequent words tend to be met first, so roots that get longer as they go make the frequent words short.
    """

    def __init__(self, chance: random.Random) -> None:
        super().__init__()
        self.chance = chance
        self.roots: dict[int, tuple[str, tuple[str, ...]]] = {}
        self.stems: list[str] = []
        self.taken: set[str] = set()

    def __missing__(self, key: int) -> str:
        rank, form = divmod(key, FORMS)
        if rank not in self.roots:
            self.roots[rank] = (self._new_stem(), self.chance.choice(_SUFFIXES))
        stem, suffixes = self.roots[rank]
        # An acronym takes no ending but the plural's.
        word = _inflected(stem, suffixes[form]) if stem.islower() else stem + "s" * (form % 2)
        self[key] = word
        return word

    def _new_stem(self) -> str:
        """A stem that no root has yet."""
        while True:
            stem = self._any_stem()
            if stem not in self.taken:
                self.taken.add(stem)
                self.stems.append(stem)
                return stem

    def _any_stem(self) -> str:
        """A stem: now and then an acronym or a hyphenated compound, mostly a few syllables and an ending."""
        chance, made = self.chance, len(self.stems)
        kind = chance.random()
        if made > 200 and kind < 0.07:
            first = chance.choice(_PREFIXES) if kind < 0.04 else chance.choice(self.stems)
            return first + "-" + chance.choice(self.stems)
        if 0.07 <= kind < 0.085:
            return "".join(chance.choices("ABCDEFGHILMNOPRSTVW", k=chance.choice((2, 3, 3, 4))))
        syllables = 1 + (kind > (0.55 if made < 2000 else 0.2)) + (made > 20_000 and kind > 0.7)
        ending = chance.choice(_ENDINGS)
        # A cluster of consonants may close a word, but before an ending it would be hard to say.
        parts = [chance.choice(_INNER if ending else _CLOSINGS), ending]
        for place in range(syllables):
            coda = chance.choice(_CODAS) if place else ""
            parts.insert(0, chance.choice(_ONSETS) + chance.choice(_NUCLEI) + coda)
        return "".join(parts)


class _WordStream:
    """An endless text of content words alone, drawn in blocks."""

    def __init__(self, vocabulary: _Vocabulary, draws: np.random.Generator, forms: tuple[float, ...]) -> None:
        self.vocabulary = vocabulary
        self.draws = draws
        self.form_bounds = np.cumsum(forms)[:-1] / sum(forms)
        self.block: list[str] = []
        self.next = 0

    def take(self, count: int) -> list[str]:
        """The next `count` words."""
        while self.next + count > len(self.block):
            self.block = self.block[self.next :] + self._draw()
            self.next = 0
        self.next += count
        return self.block[self.next - count : self.next]

    def _draw(self) -> list[str]:
        """One block of words, in which a root tends to come back soon after its last use."""
        ranks = _ranks(self.draws, STREAM_BLOCK)
        places = np.flatnonzero(self.draws.random(STREAM_BLOCK) < REPEATED)
        sources = places - self.draws.integers(1, REPEAT_REACH, places.size)
        ranks[places] = ranks[np.maximum(sources, 0)]
        # The form is drawn anew, so a repeated root mostly comes back in another form.
        spread = self.draws.random(STREAM_BLOCK)
        settled = (ranks >= RARE) & (self.draws.random(STREAM_BLOCK) < ONE_FORM)
        spread[settled] = ranks[settled] * GOLDEN % 1.0
        forms = np.searchsorted(self.form_bounds, spread)
        return [self.vocabulary[key] for key in (ranks * FORMS + forms).tolist()]


def _ranks(draws: np.random.Generator, count: int) -> NDArray[np.int64]:
    """`count` ranks from 0 up, by the inverse of the distribution function that HEAD and BEND give."""
    # (r + HEAD) / (r + BEND) runs from HEAD / BEND at rank 0 to 1 at infinity, its logarithm evenly.
    ratio = (HEAD / BEND) ** draws.uniform(1e-9, 1.0, count)
    return ((ratio * BEND - HEAD) / (1.0 - ratio)).astype(np.int64)


@dataclass(frozen=True, slots=True)
class _Frame:
    """A sentence or title whose content words are left open, and which of them stand side by side."""

    pattern: str
    slots: int
    runs: tuple[tuple[int, int], ...]


class _FrameMaker:
    """Frames of one kind, sentences or titles."""

    def __init__(self, chance: random.Random, openers: dict[str, float], joints: dict[str, float], end: str) -> None:
        self.chance = chance
        self.openers = _Choice(openers)
        self.joints = _Choice(joints)
        self.end = end

    def make(self, words: int) -> _Frame:
        """A frame of exactly `words` words, once a word fills each slot."""
        chance = self.chance
        opener = self.openers.draw(chance)
        pieces = [opener] if opener else []
        left = words - len(opener.split())
        runs: list[tuple[int, int]] = []
        slots = 0
        while left:
            size = min(left, chance.choice((1, 1, 1, 1, 2, 2, 3)))
            runs.append((slots, slots + size))
            slots += size
            left -= size
            run = " ".join(["%s"] * size)
            aside = slots > size and left > 0 and size < 3 and chance.random() < 0.035
            pieces.append(f"({run})" if aside else run)
            if left < 2:  # no room for a joint and a word after it
                if left:
                    pieces.append("%s")
                    slots += 1
                break
            left -= self._join(pieces, left)
        return _Frame(" ".join(pieces) + self.end, slots, tuple(runs))

    def _join(self, pieces: list[str], left: int) -> int:
        """How many words were added to the pieces: a joint, a mark before it, and a number after it."""
        chance = self.chance
        joint = self.joints.draw(chance)
        while len(joint.split()) >= left or joint in pieces[-2:-1]:
            joint = self.joints.draw(chance)
        mark = chance.random()
        if mark < 0.18:
            pieces[-1] += "," if mark < 0.165 else ";" if mark < 0.173 else ":"
        pieces.append(joint)
        added = len(joint.split())
        if left > added + 1 and chance.random() < 0.045:
            pieces.append(_number(chance))
            added += 1
        return added


def _number(chance: random.Random) -> str:
    """A number as abstracts have them, ready to stand in a pattern."""
    kind = chance.random()
    if kind < 0.5:
        return str(int(2 + 3 ** (5 * chance.random())))
    if kind < 0.7:
        return str(chance.randint(1960, 2020))
    if kind < 0.85:
        return f"{chance.random():.2f}"
    return f"{chance.randint(1, 100)}%%"  # the pattern is filled by %


def _capital(text: str) -> str:
    """The text with its first letter a capital, the others as they were."""
    return text[:1].upper() + text[1:]


class _Author:
    """Makes one document after another."""

    def __init__(self, seed: int) -> None:
        # Seeded by whole numbers alone: anything hashed would bring in PYTHONHASHSEED.
        self.chance = random.Random(seed)
        draws = np.random.default_rng(seed)
        vocabulary = _Vocabulary(self.chance)
        self.body = _WordStream(vocabulary, draws, _BODY_FORMS)
        self.terms = _WordStream(vocabulary, draws, _PHRASE_FORMS)
        self.lexicon: dict[int, str] = {}
        self.phrase_ranks: list[int] = []
        sentences = _FrameMaker(self.chance, _OPENERS, _JOINTS, ".")
        titles = _FrameMaker(self.chance, _TITLE_OPENERS, _TITLE_JOINTS, "")
        self.sentences = [sentences.make(self.chance.randint(*SENTENCE_WORDS)) for _ in range(SENTENCE_FRAMES)]
        self.titles = [titles.make(self.chance.randint(*TITLE_WORDS)) for _ in range(TITLE_FRAMES)]

    def document(self) -> tuple[str, str, list[str], list[str]]:
        """A title, a text, the references and the predictions.

        A text has some eighty words drawn from a vocabulary without end, so no two texts are ever the same.
        """
        chance = self.chance
        count = chance.choices(SENTENCES, SENTENCES_WEIGHTS)[0]
        frames = [chance.choice(self.titles), *chance.choices(self.sentences, k=count)]
        words = [self.body.take(frame.slots) for frame in frames]
        references, mentions = self._references(words)
        # At most one phrase to a sentence, which keeps every sentence within its length.
        for place, mention in zip(chance.sample(range(len(words)), len(mentions)), mentions, strict=True):
            words[place][int(chance.random() * len(words[place]))] = mention
        filled = [_capital(frame.pattern % tuple(row)) for frame, row in zip(frames, words, strict=True)]
        title = filled[0].title() if chance.random() < 0.3 else filled[0]
        predictions = self._predictions(references, frames, words)
        references = [_capital(r) if chance.random() < CAPITALISED else r for r in references]
        return title, " ".join(filled[1:]), references, predictions

    def _references(self, words: list[list[str]]) -> tuple[list[str], list[str]]:
        """The references of a document, and the phrases its title and text must have for them."""
        chance = self.chance
        references: list[str] = []
        mentions: list[str] = []
        wanted = chance.choices(REFERENCES, REFERENCE_WEIGHTS)[0]
        while len(references) < wanted:
            reference, mention = self._reference(words, room=len(mentions) < len(words))
            if reference not in references:
                references.append(reference)
                mentions += [mention] if mention else []
        for mention in mentions[: len(words) - len(mentions)]:
            if chance.random() < 0.5:
                mentions.append(_other_number(mention) if chance.random() < 0.3 else mention)
        return references, mentions

    def _reference(self, words: list[list[str]], room: bool) -> tuple[str, str]:
        """A reference, and the phrase to put in the text for it, empty where there is none or no room."""
        chance = self.chance
        phrase = self._phrase()
        kind = chance.random()
        if kind < PRESENT and room:
            return phrase, _other_number(phrase) if chance.random() < ONLY_INFLECTED else phrase
        # One word can neither be reordered nor be scattered.
        first, _, rest = phrase.partition(" ")
        if rest and kind < REORDERED and room:
            return phrase, f"{rest} of {first}"
        if rest and kind < SCATTERED:
            rows = chance.sample(words, 1 + phrase.count(" "))
            return " ".join(chance.choice(row) for row in rows), ""
        return phrase, ""

    def _phrase(self) -> str:
        """A phrase of one to four words, which other documents may have too."""
        if not self.phrase_ranks:
            self.phrase_ranks = _ranks(self.body.draws, 1 << 12).tolist()
        rank = self.phrase_ranks.pop() if self.chance.random() < SHARED else LEXICON
        phrase = self.lexicon.get(rank)
        if phrase is None:
            phrase = " ".join(self.terms.take(self.chance.choices(PHRASE_LENGTHS, PHRASE_LENGTH_WEIGHTS)[0]))
            if rank < LEXICON:
                self.lexicon[rank] = phrase
        return phrase

    def _predictions(self, references: list[str], frames: list[_Frame], words: list[list[str]]) -> list[str]:
        """A ranked list of predictions, lower-cased as models give them, the right ones mostly first."""
        chance = self.chance
        if chance.random() < NO_PREDICTIONS:
            return []
        count = chance.randint(*PREDICTIONS)
        hits = chance.sample(references, len(references))
        predictions: list[str] = []
        for rank in range(count):
            kind = chance.random()
            if hits and kind < 0.40 - 0.012 * rank:
                hit = hits.pop()
                predictions.append(_other_number(hit) if chance.random() < 0.2 else hit)
            elif kind > 0.995:
                predictions.append("<unk>" if kind > 0.9975 else f"{chance.choice(words[-1])} <unk>")
            elif kind > 0.93 and predictions:
                predictions.append(_other_number(chance.choice(predictions)))
            elif kind > 0.80:
                predictions.append(self._phrase())
            else:
                place = int(chance.random() * len(frames))
                start, end = chance.choice(frames[place].runs)
                predictions.append(" ".join(words[place][start:end]))
        return [prediction.lower() for prediction in predictions]


@contextmanager
def _replacing(path: Path) -> Iterator[TextIO]:
    """A file to write to that takes the place of `path` once all is written, or is gone if that fails."""
    partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
    try:
        with partial.open("w", encoding="utf-8", newline="\n") as file:
            yield file
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def write_corpus(folder: Path, documents: int, seed: int = 0) -> MadeCorpus:
    """The figures of a corpus of that many documents and a run for it, written into the folder.

    The same number of documents and the same seed give the same bytes.
    """
    if documents < 0 or seed < 0:
        raise ValueError(f"documents and seed must not be negative: {documents}, {seed}")
    folder.mkdir(parents=True, exist_ok=True)
    corpus, run = folder / "corpus.jsonl", folder / "run.jsonl"
    author = _Author(seed)
    types: set[str] = set()
    tokens = references = predictions = 0
    with _replacing(corpus) as corpus_file, _replacing(run) as run_file:
        for number in range(1, documents + 1):
            title, text, right, guessed = author.document()
            line = {"id": f"d{number:07d}", "title": title, "text": text, "keyphrases": right}
            corpus_file.write(json.dumps(line) + "\n")
            run_file.write(json.dumps({"id": line["id"], "keyphrases": guessed}) + "\n")
            found = TOKEN.findall(f"{title}\n{text}".lower())
            types.update(found)
            tokens += len(found)
            references += len(right)
            predictions += len(guessed)
    word_types = sum(found[0].isalnum() for found in types)
    return MadeCorpus(corpus, run, documents, tokens, word_types, references, predictions)


def main() -> None:
    """Nothing; writes the corpus that the command line asks for, and prints its figures."""
    parser = argparse.ArgumentParser(description="Make a keyphrase corpus and a run of predictions for it.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    made = write_corpus(arguments.folder, arguments.documents, arguments.seed)
    for field in fields(made):
        print(f"{field.name}: {getattr(made, field.name)}")


if __name__ == "__main__":
    main()

"""What a vocabulary is like: concepts, labels by language, hierarchy, and what is wrong with it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from karat.errors import counted
from karat.formats.vocabulary import as_vocabulary
from karat.matching.concepts import Shared, shared_labels, vocabulary_notes
from karat.options import option, options_from, public
from karat.results.displayed import Displayed
from karat.tabular import COUNT, TEXT, Column, Table, rows_of
from karat.vocabulary import KINDS, Vocabulary, VocabularyLike

NO_LANGUAGE = "none"


@dataclass(frozen=True, slots=True)
class ShowVocabularyOptions:
    """How much of a vocabulary is shown."""

    worst: int = option(10, "Show N labels that several concepts have, and N links of cycles; 0 for all.", least=0)


@dataclass(frozen=True, slots=True, repr=False)
class VocabularyDescription(Displayed):
    """What a vocabulary is like."""

    vocabulary: Vocabulary
    options: ShowVocabularyOptions
    shared: tuple[Shared, ...]
    depths: dict[int, int]  # by steps to the farthest top concept, how many concepts
    notes: tuple[str, ...]

    def rows(self) -> list[dict[str, Any]]:
        """One dict for each language: how many labels of each kind, and how many concepts have one."""
        labels: dict[str, Counter[str]] = defaultdict(Counter)
        concepts: Counter[str] = Counter()
        for concept in self.vocabulary.concepts:
            for label in concept.labels:
                labels[label.language][label.kind] += 1
            concepts.update({label.language for label in concept.labels})
        return [
            {"vocabulary": self.vocabulary.name, "language": language or None, "concepts": concepts[language]}
            | {kind: labels[language][kind] for kind in KINDS}
            for language in self.vocabulary.languages
        ]

    def facts(self) -> dict[str, Any]:
        """The figures of the whole."""
        v = self.vocabulary
        return {
            "name": v.name,
            "hash": v.hash,
            "concepts": len(v),
            "labels": sum(v.languages.values()),
            "without_label": sum(not each.labels for each in v.concepts),
            "notations": sum(each.notation is not None for each in v.concepts),
            "broader_links": sum(map(len, v.broader)),
            "top_concepts": sum(not up for up in v.broader),
            "several_broader": sum(len(up) > 1 for up in v.broader),
            "depth": max(self.depths, default=0),
            "shared_labels": len(self.shared),
            "cycle_links": len(v.cut),
            "loose_links": v.loose,
        }

    def as_dict(self) -> dict[str, Any]:
        """The whole as plain values."""
        return {
            "signatures": {"vocabulary": self.vocabulary.signature()},
            "rows": self.rows(),
            "notes": list(self.notes),
            "facts": self.facts(),
            "depths": {str(depth): count for depth, count in self.depths.items()},
            "shared": [{"label": each.label, "concepts": list(each.concepts)} for each in self.shared],
            "cycles": [{"concept": below, "broader": up} for below, up in self.vocabulary.cut],
        }

    def tables(self) -> Iterator[Table]:
        """The figures of the whole, labels by language, concepts by depth; then shared labels and cycles."""
        facts = self.facts()
        title = f"{facts['name']}, {counted(len(self.vocabulary), 'concept')}, hash {facts['hash']}"
        shown = {name: value for name, value in facts.items() if isinstance(value, int)}
        yield Table(
            title,
            "what",
            [Column("number", COUNT)],
            rows_of((name.replace("_", " "), [n]) for name, n in shown.items()),
        )
        columns = [Column("concepts", COUNT), *(Column(kind, COUNT) for kind in KINDS)]
        rows = rows_of((row["language"] or NO_LANGUAGE, [row[c.name] for c in columns]) for row in self.rows())
        yield Table("Labels in each language", "language", columns, rows)
        if facts["broader_links"]:
            levels = rows_of((str(depth), [count]) for depth, count in self.depths.items())
            yield Table("Concepts by the steps to their top concept", "steps", [Column("concepts", COUNT)], levels)
        if self.shared:
            columns = [Column("taken for", TEXT), Column("also of", TEXT)]
            rows = rows_of((s.label, [s.concepts[0], ", ".join(s.concepts[1:])]) for s in self._some(self.shared))
            yield Table("Labels of several concepts", "label", columns, rows)
        if self.vocabulary.cut:
            rows = rows_of((below, [up]) for below, up in self._some(self.vocabulary.cut))
            yield Table("Links that close a cycle, left out", "concept", [Column("broader", TEXT)], rows)

    def _some(self, listed: tuple[Any, ...]) -> tuple[Any, ...]:
        return listed[: self.options.worst] if self.options.worst else listed


@public(ShowVocabularyOptions)
def show_vocabulary(vocabulary: VocabularyLike, *, worst: int = 10) -> VocabularyDescription:
    """What a vocabulary is like: concepts, labels by language, depth, labels of several concepts, cycles.

    Raises InputError if the file cannot be read, or if it has no labels.
    """
    options = options_from(ShowVocabularyOptions, locals())
    found = as_vocabulary(vocabulary)
    depths = Counter(max(above.values(), default=0) for above in found.ancestors)
    shared = shared_labels(found)
    return VocabularyDescription(found, options, shared, dict(sorted(depths.items())), tuple(vocabulary_notes(found)))

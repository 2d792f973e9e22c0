"""Homogeneity as text: systems and ceilings, systems compared, and how generic shared phrases are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from karat.analyses.homogeneity.genericness import Genericness
from karat.analyses.homogeneity.result import Difference, Figure, Homogeneity, Row
from karat.output.grids import Row as Line
from karat.output.grids import grid, paragraphs, wrap
from karat.output.markup import Grid, Heading, Items, Part, noted
from karat.output.papers import Printed
from karat.table import number, signed

_WITH_ENDS = ("hooper", "rodgers", "soft", "pearson", "spearman")
_GENERIC = ("shared_df", "all_df", "shared_words", "all_words")
CSV_FIELDS = (
    "corpus",
    "kind",
    "system",
    "protocol",
    "pairs",
    "documents",
    *(f"{name}{end}" for name in _WITH_ENDS for end in ("", "_low", "_high")),
    "pearson_p",
    "spearman_p",
    "generated",
    "generated_mean",
    "undefined",
    *_GENERIC,
    *(f"{name}_occurrences" for name in _GENERIC),
)
CEILINGS = {"references": "(references)", "extractors": "(extractors)"}
MARKED = "(references): the references as predictions; (extractors): those of them that their document holds."
GENERATED = "gen.: share of all predictions that are not in their document (micro); gen./d: its mean over documents."
UNDEFINED = "undef: pairs without a prediction for either document, left out."
CORRECTIONS = {"holm": "Holm", "bh": "Benjamini-Hochberg", "none": "not adjusted"}


@dataclass(frozen=True, slots=True)
class Table:
    """A table: what it is of, and its rows in groups."""

    title: str
    corner: str
    columns: Sequence[str]
    groups: Sequence[Sequence[Line]]
    about: Sequence[str] = ()  # what its figures are, for a caption

    @property
    def rows(self) -> list[Line]:
        """All rows."""
        return [line for group in self.groups for line in group]


# ---------------------------------------------------------------------------------------------- words


def heading(found: Homogeneity) -> str:
    """What the tables are of."""
    options = found.options
    parts = [f"{found.corpus}, {found.pairs:,} pairs over {found.documents:,} documents"]
    parts.append("over the larger set" if options.measure == "max" else "over the union")
    if options.cutoff != "M":
        parts.append(f"the first {options.cutoff} predictions")
    if options.similarity is not None:
        parts.append(f"soft score {options.similarity} from {options.threshold:g}")
    return ", ".join(parts)


def legend(found: Homogeneity) -> Iterator[str]:
    """What the figures of all tables are."""
    yield from measures(found)
    yield f"{GENERATED} {UNDEFINED}"
    if rouge(found):
        yield rouge(found)
    yield MARKED
    yield intervals(found)
    if found.differences:
        yield tested(found)


def measures(found: Homogeneity) -> Iterator[str]:
    """What is measured."""
    options = found.options
    below = "those of the larger set" if options.measure == "max" else "those that either has"
    yield f"hooper: phrases that both documents of a pair have over {below}; rodgers: the same of words."
    if options.similarity is not None:
        yield "soft: F of SoftKeyScore between both lists."


def rouge(found: Homogeneity) -> str:
    """What agreement is correlated with, and by which test; nothing where there are no texts."""
    if found.rouge.value != found.rouge.value:
        return ""
    mean = with_ends(found.rouge)
    return f"ROUGE-1: recall of the words of a in b, on average {mean}; p of its being unrelated, by the bootstrap."


def intervals(found: Homogeneity) -> str:
    """Which intervals stand in brackets."""
    options = found.options
    drawn = "documents with their reformulations" if options.reformulations is not None else "documents, not pairs"
    how = f"{options.interval}, {options.resamples:,} resamples of {drawn}, seed {options.seed}"
    return f"In brackets {100 * options.level:.4g} % intervals ({how})."


def tested(found: Homogeneity) -> str:
    """Which tests p is of, and how it is adjusted."""
    return (
        "p random, p boot: two-sided, by randomisation of documents that hang together by pairs, and by the "
        f"bootstrap; adjusted over {len(found.differences):,} comparisons ({CORRECTIONS[found.options.correction]})."
    )


# ---------------------------------------------------------------------------------------------- cells


def with_ends(figure: Figure | None) -> str:
    """A number with its interval."""
    if figure is None:
        return ""
    low, high = figure.interval
    return number(figure.value) + (f" [{_short(low)}, {_short(high)}]" if low == low else "")


def _short(value: float) -> str:
    """A number with three decimals, without the zero before the point."""
    text = f"{value:.3f}"
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text


def _p(value: float) -> str:
    return "–" if value != value else "<.0001" if value < 0.0001 else number(value)


def _agreement(found: Homogeneity, row: Row, name: str) -> Line:
    soft = ["soft"] if found.options.similarity is not None else []
    figures = [with_ends(row.figures.get(measure)) for measure in ("hooper", "rodgers", *soft)]
    generated = [number(row.generated), number(row.generated_mean)] if name == row.system else ["", ""]
    return name, [*figures, *generated, f"{row.undefined:,}"]


def _correlation(row: Row) -> Line:
    figures = [row.figures[name] for name in ("pearson", "spearman")]
    return row.system, [cell for each in figures for cell in (with_ends(each), _p(each.p))]


def _difference(each: Difference) -> Line:
    value = Figure(each.value, each.interval)
    low, high = value.interval
    cells = [signed(each.value) + (f" [{_short(low)}, {_short(high)}]" if low == low else "")]
    for test in each.tests:
        cells += [_p(each.tests[test]), _p(each.adjusted[test])]
    return f"{each.metric}: {each.a} − {each.b}", cells


def _generic(each: Genericness, over: str) -> Line:
    some, every = (getattr(each, f"{which}_{over}") for which in ("shared", "all"))
    means = (some.df, every.df, some.words, every.words)
    cells = [f"{some.count:,}", f"{every.count:,}", *("–" if mean is None else f"{mean:.2f}" for mean in means)]
    return each.system or CEILINGS["references"], cells


def tables(found: Homogeneity) -> Iterator[Table]:
    """For each protocol: systems and ceilings, systems compared, genericness over types and occurrences."""
    soft = ["soft"] if found.options.similarity is not None else []
    columns = ["hooper", "rodgers", *soft, "gen.", "gen./d", "undef"]
    for protocol in found.signatures:
        own = [row for row in found.systems if row.protocol == protocol]
        systems = [_agreement(found, row, row.system) for row in own]
        ceilings = [_agreement(found, row, CEILINGS[row.system]) for row in found.ceilings if row.protocol == protocol]
        about = [*measures(found), GENERATED, UNDEFINED, MARKED, intervals(found)]
        title = f"Agreement of the two documents, protocol {protocol}"
        yield Table(title, "system", columns, [systems, ceilings], about)
        if rouge(found):
            heads = ["pearson", "p of r", "spearman", "p of rho"]
            title = f"Hooper with ROUGE-1 of the texts, protocol {protocol}"
            yield Table(title, "system", heads, [list(map(_correlation, own))], [rouge(found), intervals(found)])
        compared = [_difference(each) for each in found.differences if each.protocol == protocol]
        if compared:
            heads = ["difference", "p random", "adjusted", "p boot", "adjusted"]
            about = [tested(found), intervals(found)]
            yield Table(f"Systems compared, protocol {protocol}", "a − b", heads, [compared], about)
        generic = [each for each in found.genericness if each.protocol == protocol]
        for over in ("types", "occurrences"):
            yield Table(
                f"Documents (df) and words of a phrase that a pair shares, and of all phrases, over {over}, "
                f"protocol {protocol}",
                over,
                ["shared", "all", "df shared", "df all", "words shared", "words all"],
                [[_generic(each, over) for each in generic]],
            )


# ---------------------------------------------------------------------------------------------- formats


def terminal(found: Homogeneity) -> str:
    """Tables of at most 80 columns; columns that do not fit go on below."""
    parts = ["\n".join(wrap(heading(found), "  "))]
    for table in tables(found):
        parts += ["\n".join(wrap(table.title, "  ")), *grid(table.corner, table.columns, table.rows)]
    parts.append(paragraphs(legend(found)))
    if found.notes:
        parts.append(paragraphs(f"note: {note}" for note in found.notes))
    return "\n\n".join("\n".join(line.rstrip() for line in part.splitlines()) for part in parts) + "\n"


def parts(found: Homogeneity) -> Iterator[Part]:
    """Tables, and what their figures are."""
    yield Heading(heading(found))
    for table in tables(found):
        yield f"{table.title}:"
        yield Grid(table.corner, table.columns, table.rows)
    yield Items(list(legend(found)))
    yield from noted(found.notes)


def printed(found: Homogeneity) -> Iterator[Printed]:
    """A table for each, with what its figures are."""
    for table in tables(found):
        caption = " ".join([f"{table.title}: {heading(found)}.", *table.about])
        yield Printed(caption, [table.corner, *table.columns], table.groups)


def csv_rows(found: Homogeneity) -> Iterator[dict[str, Any]]:
    """One dict a line: the systems, then the ceilings, with the genericness of each where it has one."""
    generic = {(each.protocol, each.system): each.as_dict() for each in found.genericness}
    for kind, rows in (("system", found.systems), ("ceiling", found.ceilings)):
        for row in rows:
            told = row.as_dict()
            ends = {
                f"{name}{end}": told[f"{name}_ci"][i] for name in _WITH_ENDS for i, end in enumerate(("_low", "_high"))
            }
            system = None if kind == "ceiling" and row.system == "references" else row.system
            own = generic.get((row.protocol, system), {}) if kind == "system" or system is None else {}
            yield {"corpus": found.corpus, "kind": kind} | told | ends | _flat(own)


def _flat(generic: dict[str, Any]) -> dict[str, Any]:
    over = {"": "types", "_occurrences": "occurrences"}
    return {f"{name}{end}": generic[over[end]][name] if generic else None for end in over for name in _GENERIC}

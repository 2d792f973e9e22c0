"""Everything that reads a file, by name, with the good files that it reads."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import karat
import karat.models.all  # before any model by itself: models are listed in the order of their registration
from karat.embed import embedder
from karat.embed.cache import Cache
from karat.embed.model import read_model
from karat.formats import FORMATS, docx, html, pdf
from karat.formats.human import read_judged
from karat.formats.pairs import read_pairs
from karat.formats.reported import read_reported
from karat.formats.reviews import read_accepted
from karat.formats.vocabulary import read_vocabulary
from karat.llm.ask import read_prompt
from karat.llm.client import Usage, read_key
from karat.llm.store import Store
from karat.models.documents import documents_at
from karat.models.extractors.frequencies import frequencies_at, read_frequencies
from karat.models.extractors.kea import read_kea
from karat.models.find import parse_model
from karat.models.generators.checkpoint import read_card, read_words
from karat.models.generators.curves import read_courses
from karat.models.run import PredictOptions, predicted
from karat.pairs.marian import checked
from karat.similarity.base import find
from karat.text.wordnet import VARIABLE, read_wordnet, wordnet
from tests.formats.samples import SAMPLES
from tests.fuzz import seeds
from tests.fuzz.case import Case, Files
from tests.fuzz.damage import TEXTS, damaged

Read = Callable[[str, dict[str, str]], object]
FORMATS_OF_TABLES = ("table", "md", "latex", "typst", "csv", "json", "html")
FIELDS = (
    "id=id,text=text,keyphrases=keyphrases", "id=paper_id,title=title,keyphrases=keyword,separator=,", "corpus:id=id",
    "run:keyphrases=keyphrases,separator=;", "keyphrases=KeyPhrases", "text=title+text,separator=\\t", "set.x=tags",
)  # fmt: skip
SMALL = {"resamples": 20}


@dataclass(frozen=True, slots=True)
class Reader:
    """A function that reads a path, and the kind of the good files that are damaged for it."""

    seeds: str
    read: Read
    folder: bool = False  # whether the path is the folder of the files
    share: int = 2  # how often, beside the others


def corpus(documents: int = 8) -> karat.Corpus:
    """A small corpus."""
    return karat.Corpus.of(_records(seeds.CORPUS)[:documents], "corpus")


def run(content: bytes = seeds.RUN, name: str = "alpha") -> karat.Run:
    """A run of the small corpus."""
    return karat.Run.of(_records(content), name)


def _records(content: bytes) -> list[dict[str, Any]]:
    import json

    return [json.loads(line) for line in content.splitlines()]


def attempt(*actions: Callable[[], object]) -> None:
    """Does one thing after the other; what is refused does not keep the others back, and the last refusal is raised."""
    refused: karat.KaratError | None = None
    for action in actions:
        try:
            action()
        except karat.KaratError as error:
            check(error)
            refused = error
    if refused is not None:
        raise refused


def check(error: BaseException) -> None:
    """Raises an error unless the sentence of an error is one; see judge."""
    from tests.fuzz.judge import check_sentence

    check_sentence(str(error))


# ---------------------------------------------------------------------------------------------- corpora and runs


def _read(path: str, how: dict[str, str]) -> None:
    found = karat.read(path, **how)
    assert len(found.ids) == sum(1 for _ in found)
    predictions = [karat.Prediction(id=identifier, keyphrases=["swarm", "x"]) for identifier in found.ids]
    karat.score(found, karat.Run.of(predictions), metrics=["f1@5:present"])


def _read_run(path: str, how: dict[str, str]) -> None:
    found = karat.read_run(path, **how)
    assert len(found.ids) == sum(1 for _ in found)
    attempt(
        lambda: karat.score(corpus(), found, metrics=["f1@5", "ece"], missing="empty"),
        lambda: karat.consistency(found),
    )


def _documents(path: str, how: dict[str, str]) -> None:
    list(documents_at(path))


def _predicted(path: str, how: dict[str, str]) -> None:
    karat.predict(path, "multipartiterank", n=3)


def _office(path: str, how: dict[str, str]) -> None:
    content = Path(path).read_bytes() if Path(path).is_file() else b""
    attempt(
        *(lambda read=read: read(content) for read in (pdf.title_and_text, docx.title_and_text, html.title_and_text))
    )


# ---------------------------------------------------------------------------------------------- results


def _results(path: str, how: dict[str, str]) -> None:
    found = karat.load(path)
    attempt(
        found.rows,
        found.as_dict,
        *(lambda form=form: karat.render(found, form) for form in FORMATS_OF_TABLES),
        lambda: karat.charts_of(found),
    )


def _compared(path: str, how: dict[str, str]) -> None:
    comparison = karat.compare(path, **SMALL)  # type: ignore[arg-type]
    attempt(lambda: karat.render(comparison, "table"), lambda: karat.charts_of(comparison))


def _checked(path: str, how: dict[str, str]) -> None:
    other = Path(path).with_name("b.karat")
    attempt(
        lambda: karat.check(path, minimum={"f1@5:present": 0.1}, maximum={"count_mae": 3.0}).as_dict(),
        lambda: karat.check(path, no_worse_than=other, resamples=20).as_dict(),
        lambda: karat.merge([karat.load(path), karat.load(other)]).as_dict(),
        lambda: karat.render(karat.merge([karat.load(path)]), "table"),
    )


def _tabled(path: str, how: dict[str, str]) -> None:
    attempt(
        *(
            lambda kind=kind: karat.render(karat.tables(kind, path), "latex")
            for kind in ("decoding", "cutoffs", "averages", "transfer")
        )
    )


# ---------------------------------------------------------------------------------------------- models


def _frequencies(path: str, how: dict[str, str]) -> None:
    attempt(
        lambda: read_frequencies(path).weight("index"),
        lambda: frequencies_at(path).weight("index"),
        lambda: karat.predict(corpus(2), "tfidf", frequencies=path),
        lambda: karat.predict(corpus(2), "kpminer", frequencies=path),
    )


def _kea(path: str, how: dict[str, str]) -> None:
    read_kea(path)
    karat.predict(corpus(2), f"kea,model={path}")


def _generator(path: str, how: dict[str, str]) -> None:
    attempt(
        lambda: read_card(path),
        lambda: read_words(path),
        lambda: karat.charts_of(read_courses([path])),
        lambda: karat.predict(corpus(), path),
    )


def _encoder(path: str, how: dict[str, str]) -> None:
    attempt(lambda: read_model(path), lambda: embedder(path).embed(["a"]), lambda: checked(path))


def _unfinished(path: str, how: dict[str, str]) -> None:
    """Goes on with a prediction; what is there of it is damaged."""
    folder = Path(path).parent
    output = folder / "out.jsonl"
    found = predicted(str(folder / "corpus.jsonl"), parse_model("firstphrases"), PredictOptions(), output=str(output))
    if found.failure is not None:
        raise karat.InputError(found.failure)
    assert len(karat.read_run(output).ids) == len(karat.read(folder / "corpus.jsonl").ids), "half written"


def _store(path: str, how: dict[str, str]) -> None:
    with Store(path) as opened:
        attempt(
            lambda: opened.answer(seeds.QUESTION.key),
            lambda: opened.tokens(seeds.QUESTION.key),
            opened.spent,
            lambda: opened.end(opened.begin(b"x", Usage(1, 1, True)), Usage(1, 1, False)),
        )


def _cache(path: str, how: dict[str, str]) -> None:
    opened = Cache(Path(path))
    opened.read("mean", ["neural network", "index", "x"])
    opened.write("mean", {"x": b"1234"})
    opened.read("mean", ["x"])


def _wordnet(path: str, how: dict[str, str]) -> None:
    with _set(VARIABLE, path):
        read_wordnet.cache_clear()
        try:
            found = wordnet()
            assert isinstance(found.synonyms("cats", "mice"), bool)
            karat.nearmiss(corpus(), run(), run(seeds.OTHER, "beta"))
        finally:
            read_wordnet.cache_clear()


@contextmanager
def _set(name: str, value: str) -> Any:
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        with suppress(KeyError):
            del os.environ[name]
        if before is not None:
            os.environ[name] = before


# ---------------------------------------------------------------------------------------------- scores and pairs


def _given(path: str, how: dict[str, str]) -> None:
    find(f"file:{path}")
    attempt(
        lambda: karat.score(corpus(), run(), metrics=[f"soft_f1@5,score=file:{path}"]),
        lambda: karat.nearmiss(corpus(), run(), similarity=f"file:{path}"),
    )


def _vectors(path: str, how: dict[str, str]) -> None:
    embedder(f"vectors:{path}").embed(["neural network", "Index", "x"])
    karat.consistency(run(), model=f"vectors:{path}")


def _figures(path: str, how: dict[str, str]) -> None:
    read_reported(path)
    found = karat.reproduce(corpus(), run(), reported=path, budget=20, **SMALL)  # type: ignore[arg-type]
    attempt(found.as_dict, lambda: karat.render(found, "latex"))


def _human(path: str, how: dict[str, str]) -> None:
    read_judged(path)
    found = karat.human(path, corpus=corpus(), runs=[run(), run(seeds.OTHER, "beta")], missing="empty")
    attempt(found.as_dict, lambda: karat.render(found, "md"))


def _wide(path: str, how: dict[str, str]) -> None:
    read_judged(path, scale=(0.0, 4.0))
    found = karat.human(path, metrics=["overlap"], combine="both", learn=True)
    attempt(found.as_dict, lambda: karat.render(found, "md"))


def _weights(path: str, how: dict[str, str]) -> None:
    find(f"placed:{path}")
    attempt(
        lambda: karat.score(corpus(), run(), metrics=[f"soft_f,score=placed:{path}"]),
        lambda: karat.human(
            [{"prediction": "a", "reference": "a b", "x": 1}, {"prediction": "b", "reference": "a b", "x": 2}],
            metrics=[f"placed:{path}"],
        ),
    )


def _pairs(path: str, how: dict[str, str]) -> None:
    read_pairs(path)
    found = karat.homogeneity(corpus(), path, run(), **SMALL)  # type: ignore[arg-type]
    attempt(found.as_dict, lambda: karat.render(found, "md"))


def _searched(path: str, how: dict[str, str]) -> None:
    _retrieval(queries=path)


def _qrels(path: str, how: dict[str, str]) -> None:
    _retrieval(qrels=path)


def _ranking(path: str, how: dict[str, str]) -> None:
    _retrieval(rankings={"x": path})


def _retrieval(**changed: Any) -> None:
    """A search of the small corpus, with one of its files damaged."""
    queries = {f"q{n}": "fuzzy index" for n in range(4)}
    given: dict[str, Any] = {"queries": queries, "qrels": {"q0": {"s000": 1}, "q1": {"s001": 2}}} | changed
    found = karat.retrieval(corpus(), given.pop("queries"), given.pop("qrels"), run(), **given, **SMALL)  # type: ignore[arg-type]
    attempt(found.as_dict, lambda: karat.render(found, "md"))


def _reviews(path: str, how: dict[str, str]) -> None:
    attempt(
        lambda: read_accepted(path, {"s000", "s001"}, "corpus"),
        lambda: karat.score(corpus(), run(), metrics=["f1@5"], extra_references=path),
    )


def _gathered(path: str, how: dict[str, str]) -> None:
    found = karat.gather_homogeneity(path)
    attempt(found.as_dict, lambda: karat.render(found, "table"), lambda: karat.render(found, "csv"))


def _annotations(path: str, how: dict[str, str]) -> None:
    found = karat.collect_annotations(Path(path).with_name("study.json"), path)
    scored = found.study.task in ("set", "pair")
    attempt(
        found.as_dict,
        lambda: karat.render(found, "md"),
        found.adjudication,
        found.scores if scored else found.accepted,
        *([found.resolved] if scored else []),
    )


def _reformulations(path: str, how: dict[str, str]) -> None:
    found = karat.filter_reformulations(corpus(), path)
    attempt(found.as_dict, lambda: karat.render(found, "table"))


def _vocabulary(path: str, how: dict[str, str]) -> None:
    read_vocabulary(path)
    attempt(
        lambda: karat.render(karat.consistency(run(), vocabulary=path), "md"),
        lambda: karat.render(karat.show_vocabulary(path), "latex"),
        lambda: karat.render(karat.map_concepts(run(), vocabulary=f"{path},similar=0.8"), "html"),
        lambda: karat.render(karat.concepts(corpus(), run(), vocabulary=path, missing="empty"), "typst"),
        lambda: karat.score(corpus(), run(), metrics=["f1@5", "hier_f@5"], vocabulary=path, missing="empty"),
    )


def _prompt(path: str, how: dict[str, str]) -> None:
    attempt(
        *(
            lambda method=method: read_prompt(method, path)
            for method in ("paraphrase", "back-translation", "prediction")
        )
    )


READERS = {
    "corpus": Reader("samples", _read, share=20),
    "run": Reader("samples", _read_run, share=14),
    "documents": Reader("documents", _documents),
    "predict": Reader("documents", _predicted),
    "pdf": Reader("documents", _office),
    "results": Reader("results", _results, share=10),
    "compare": Reader("results", _compared, share=4),
    "check": Reader("results", _checked, share=5),
    "tables": Reader("results", _tabled, share=3),
    "frequencies": Reader("frequencies", _frequencies, share=6),
    "kea": Reader("kea", _kea, share=5),
    "generator": Reader("generator", _generator, folder=True, share=5),
    "encoder": Reader("encoder", _encoder, folder=True, share=4),
    "unfinished": Reader("unfinished", _unfinished, share=3),
    "store": Reader("store", _store, share=3),
    "cache": Reader("cache", _cache, share=3),
    "wordnet": Reader("wordnet", _wordnet, folder=True),
    "given": Reader("given", _given, share=5),
    "vectors": Reader("vectors", _vectors, share=5),
    "figures": Reader("figures", _figures, share=4),
    "sets": Reader("sets", _human, share=4),
    "judged": Reader("judged", _human, share=3),
    "wide": Reader("wide", _wide, share=3),
    "weights": Reader("weights", _weights, share=3),
    "pairs": Reader("pairs", _pairs, share=4),
    "queries": Reader("queries", _searched, share=3),
    "qrels": Reader("qrels", _qrels, share=3),
    "ranking": Reader("ranking", _ranking, share=3),
    "annotations": Reader("annotations", _annotations, share=5),
    "reviews": Reader("reviews", _reviews, share=4),
    "homogeneity": Reader("homogeneity", _gathered, share=3),
    "reformulations": Reader("reformulations", _reformulations, share=3),
    "vocabulary": Reader("vocabulary", _vocabulary, share=6),
    "prompt": Reader("prompt", _prompt),
    "key": Reader("key", lambda path, how: read_key(path), share=1),
}
_DRAWN = [name for name, reader in READERS.items() for _ in range(reader.share)]


def make(draw: Random) -> Case:
    """A case of a reader and damaged files."""
    name = draw.choice(_DRAWN)
    reader = READERS[name]
    if reader.seeds == "samples":
        return _of_sample(name, draw)
    if reader.seeds == "unfinished":
        return _of_part(draw)
    good = draw.choice(seeds.of(reader.seeds))
    files = damaged(dict(good), draw)
    first = next(iter(good))
    path = (
        "{}"
        if reader.folder or (reader.seeds == "documents" and len(good) > 1)
        else f"{{}}/{_place(first, good, files, draw)}"
    )
    return Case("read", name, path, files=files)


def _place(first: str, good: Files, files: Files, draw: Random) -> str:
    """The path of the file that is read: where it was renamed, by its new name."""
    if first in files or not files:
        return first
    return draw.choice([name for name in files if name not in good] or sorted(files))


def _of_sample(name: str, draw: Random) -> Case:
    sample = draw.choice(SAMPLES)
    files = damaged(dict(sample.files), draw)
    alone = len(sample.files) == 1 and not sample.given
    path = f"{{}}/{_place(next(iter(sample.files)), dict(sample.files), files, draw)}" if alone else sample.path
    kind = draw.randrange(6)
    how = {}
    if kind == 0:
        how = {"format": sample.format}
    elif kind == 1:
        how = {"format": draw.choice(sorted(FORMATS))}
    elif kind == 2:
        how = {
            "fields": draw.choice(FIELDS).replace("keyphrases", draw.choice(("keyphrases", "keyphrases", *TEXTS[:12])))
        }
    return Case("read", name, path, options=how, files=files)


def _of_part(draw: Random) -> Case:
    from karat.formats.unfinished import PART

    made = damaged({f"out.jsonl{PART}": make_part()}, draw)
    if draw.random() < 0.1:
        made = damaged(made | {"out.jsonl": b"old\n"}, draw)
    return Case("read", "unfinished", "{}/out.jsonl", files={**made, "corpus.jsonl": seeds.CORPUS})


_PART: list[bytes] = []


def make_part() -> bytes:
    """What is there of a prediction that was killed: its fingerprint, and some of its lines."""
    if not _PART:
        import tempfile

        from karat.formats.unfinished import unfinished
        from karat.models.fingerprint import fingerprint
        from karat.models.run import _common_options

        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "corpus.jsonl").write_bytes(seeds.CORPUS)
            documents = karat.read(Path(folder) / "corpus.jsonl")
            model = parse_model("firstphrases")
            common, _ = _common_options(documents, model, PredictOptions())
            output = str(Path(folder) / "out.jsonl")
            with unfinished(output, fingerprint(model, common, documents)) as work:
                work.add([b'{"id":"s000","keyphrases":["index"],"scores":[1.0]}'])
            _PART.append(Path(work.part).read_bytes())
    return _PART[0]

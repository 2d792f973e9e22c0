"""What is written is read back the same, or its loss is said and nothing takes the place of what was there."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import karat
from karat.corpus import Corpus, Document, Run
from karat.formats import FORMATS
from karat.formats.write import writable

untimed = settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])

texts = st.text(st.characters(codec="utf-8"), max_size=12)
phrases = st.none() | texts
references = st.lists(phrases | st.lists(phrases, max_size=3), max_size=4)
numbers = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def corpora(draw: st.DrawFn) -> Corpus:
    """A few documents of anything that a corpus can hold, under ids that all formats allow."""
    count = draw(st.integers(1, 4))
    documents = [
        Document(
            id=f"d{number}",
            title=draw(st.none() | texts),
            text=draw(st.none() | texts),
            keyphrases=draw(st.none() | references),
            reference_sets=draw(st.none() | st.dictionaries(st.sampled_from(["author", "reader"]), references)),
        )
        for number in range(count)
    ]
    return Corpus.of(documents)


@st.composite
def runs(draw: st.DrawFn) -> Run:
    """A few predictions with whatever can be told of them."""
    found: list[dict[str, Any]] = []
    for number in range(draw(st.integers(1, 4))):
        n = draw(st.integers(1, 3))

        def each(of: st.SearchStrategy[Any], n: int = n) -> Any:
            return draw(st.none() | st.lists(of, min_size=n, max_size=n))

        prediction = {
            "id": f"d{number}",
            "keyphrases": draw(st.lists(phrases, min_size=n, max_size=n)),
            "scores": each(st.none() | numbers),
            "token_probs": each(st.none() | st.lists(numbers, max_size=3)),
            "kinds": each(st.sampled_from(["present", "absent"])),
        }
        found.append(prediction)
    return Run.of(found)


def normal(records: Corpus | Run) -> list[Any]:
    """What is the same after a round trip: nothing is empty, and one variant is the phrase itself."""

    def phrase(given: Any) -> Any:
        if isinstance(given, list):
            return phrase(given[0]) if len(given) == 1 else [each or "" for each in given] or ""
        return given or ""

    found = []
    for record in records:
        fields = {name: getattr(record, name) for name in record.__struct_fields__}
        fields["keyphrases"] = [phrase(each) for each in fields["keyphrases"] or ()]
        sets = fields.get("reference_sets") or {}
        fields["reference_sets"] = {name: [phrase(each) for each in given] for name, given in sets.items()}
        found.append({name: value for name, value in fields.items() if value})
    return sorted(found, key=lambda fields: fields["id"])  # a folder has an order of its own


SUFFIXES = {"karat": [".jsonl", ".jsonl.gz", ".jsonl.zst"], "csv": [".csv", ".tsv", ".csv.gz"], "parquet": [".parquet"]}


@pytest.mark.parametrize("suffix", [suffix for each in SUFFIXES.values() for suffix in each])
@untimed
@given(corpora())
def test_karats_own_files_and_tables_hold_every_corpus(tmp_path: Path, suffix: str, corpus: Corpus) -> None:
    path = tmp_path / f"corpus{suffix}"
    assert karat.write(corpus, path) == []
    assert normal(karat.read(path, format=next(f for f, all_ in SUFFIXES.items() if suffix in all_))) == normal(corpus)


@pytest.mark.parametrize("suffix", [suffix for each in SUFFIXES.values() for suffix in each])
@untimed
@given(runs())
def test_karats_own_files_and_tables_hold_every_run(tmp_path: Path, suffix: str, run: Run) -> None:
    path = tmp_path / f"run{suffix}"
    assert karat.write(run, path) == []
    assert normal(karat.read_run(path, format=next(f for f, all_ in SUFFIXES.items() if suffix in all_))) == normal(run)


def target(folder: Path, name: str) -> str:
    return "+".join(str(folder / part) for part in ("src.txt", "trg.txt")) if name == "chan" else str(folder / "out")


@pytest.mark.parametrize("name", [name for name in writable() if FORMATS[name].save_corpus])
@untimed
@given(corpora())
def test_no_format_loses_anything_of_a_corpus_without_saying_so(
    tmp_path_factory: pytest.TempPathFactory, name: str, corpus: Corpus
) -> None:
    folder = tmp_path_factory.mktemp("out")
    path = target(folder, name)
    try:
        karat.write(corpus, path, format=name)
    except karat.InputError:
        assert list(folder.iterdir()) == []
        return
    assert normal(karat.read(path, format=name)) == normal(corpus)


@pytest.mark.parametrize("name", [name for name in writable() if FORMATS[name].save_run])
@untimed
@given(runs())
def test_no_format_loses_anything_of_a_run_without_saying_so(
    tmp_path_factory: pytest.TempPathFactory, name: str, run: Run
) -> None:
    folder = tmp_path_factory.mktemp("out")
    path = str(folder / "out")
    try:
        karat.write(run, path, format=name)
    except karat.InputError:
        assert list(folder.iterdir()) == []
        return
    assert normal(karat.read_run(path, format=name)) == normal(run)


PLAIN = Corpus.of([{"id": "1", "title": "Deep nets", "text": "They learn.", "keyphrases": ["deep nets", "a;b"]}])


def test_a_loss_is_an_error_that_names_it_and_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    path.write_text("before")
    run = Run.of([{"id": "1", "keyphrases": ["a"], "scores": [0.5]}, {"id": "2", "keyphrases": ["b"]}])
    with pytest.raises(karat.InputError) as error:
        karat.write(run, path, format="chan")
    assert str(error.value) == (
        f"{path}: the format chan cannot hold everything of memory: id of 2 documents, first '1'; "
        "scores of 1 documents, first '1'; write it all the same with --lossy"
    )
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_loss_that_is_allowed_is_reported(tmp_path: Path) -> None:
    run = Run.of([{"id": "1", "keyphrases": ["a"]}])
    assert karat.write(run, tmp_path / "out.txt", format="chan", lossy=True) == ["id of 1 documents, first '1'"]
    assert (tmp_path / "out.txt").read_text() == "a\n"


def test_parallel_text_is_written_as_its_scripts_read_it(tmp_path: Path) -> None:
    path = f"{tmp_path / 'src.txt'}+{tmp_path / 'trg.txt'}"
    assert karat.write(PLAIN, path, format="chan", lossy=True)
    assert (tmp_path / "src.txt").read_text() == "Deep nets <eos> They learn.\n"
    assert (tmp_path / "trg.txt").read_text() == "deep nets;a;b\n"


def test_kinds_become_the_marker_between_present_and_absent_phrases(tmp_path: Path) -> None:
    run = Run.of([{"keyphrases": ["a", "b", "c"], "kinds": ["present", "present", "absent"]}])
    assert karat.write(run, tmp_path / "out.txt", format="chan") == []
    assert (tmp_path / "out.txt").read_text() == "a;b;<peos>;c\n"


def test_a_cell_holds_phrases_as_people_write_them_and_json_where_they_could_not(tmp_path: Path) -> None:
    karat.write(PLAIN, tmp_path / "out.csv")
    [header, line] = (tmp_path / "out.csv").read_text().splitlines()
    assert header == "id,title,text,keyphrases,reference_sets"
    assert line == '1,Deep nets,They learn.,"[""deep nets"",""a;b""]",'


def test_a_name_without_a_known_suffix_needs_a_format(tmp_path: Path) -> None:
    with pytest.raises(karat.InputError, match="name the format with --to"):
        karat.write(PLAIN, tmp_path / "out")


def test_a_compressed_file_is_the_same_whenever_it_is_written(tmp_path: Path) -> None:
    karat.write(PLAIN, tmp_path / "a.jsonl.gz")
    karat.write(PLAIN, tmp_path / "b.jsonl.gz")
    assert (tmp_path / "a.jsonl.gz").read_bytes() == (tmp_path / "b.jsonl.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.jsonl.gz").read_bytes()).count(b"\n") == 1


def test_a_failure_while_writing_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.write_text("before")
    (tmp_path / "in.jsonl").write_text('{"id": "1", "text": "a"}\n{"id": "2", "text": 3}\n')
    with pytest.raises(karat.InputError, match=r"in\.jsonl:2: Expected `str \| null`, got `int`"):
        karat.write(karat.read(tmp_path / "in.jsonl"), path)
    assert path.read_text() == "before"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["in.jsonl", "out.jsonl"]


def test_progress_counts_every_document(tmp_path: Path) -> None:
    done: list[int] = []
    karat.write(PLAIN, tmp_path / "out.jsonl", progress=done.append)
    assert done == [1]


def test_what_is_lost_of_keyphrases_is_named(tmp_path: Path) -> None:
    variants = Corpus.of([{"id": "1", "title": "t", "text": "a", "keyphrases": ["a", ["b", "c"]]}])
    assert karat.write(variants, tmp_path / "a.jsonl", format="kp20k", lossy=True) == [
        "variants of keyphrases of 1 documents, first '1'"
    ]
    order = Corpus.of([{"id": "1", "text": "a", "keyphrases": ["absent", "a"]}])
    assert karat.write(order, tmp_path / "b.jsonl", format="midas", lossy=True) == [
        "the order of keyphrases of 1 documents, first '1'"
    ]


def test_kinds_that_are_mixed_are_not_told_wrongly(tmp_path: Path) -> None:
    run = Run.of([{"keyphrases": ["a", "b", "c"], "kinds": ["present", "absent", "present"]}])
    assert karat.write(run, tmp_path / "out.txt", format="chan", lossy=True) == ["kinds of 1 documents, first line 1"]
    assert (tmp_path / "out.txt").read_text() == "a;b;c\n"


def test_a_plus_in_the_name_of_one_file_is_a_part_of_it(tmp_path: Path) -> None:
    karat.write(PLAIN, tmp_path / "a+b.jsonl")
    assert [document.id for document in karat.read(tmp_path / "a+b.jsonl")] == ["1"]


def test_a_json_list_of_karats_own_records_is_read(tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text('[\n {"id": "1", "text": "a", "keyphrases": ["a", ["b", "c"]]},\n {"id": "2"}\n]')
    assert list(karat.read(tmp_path / "c.json")) == [
        Document(id="1", text="a", keyphrases=["a", ["b", "c"]]),
        Document(id="2"),
    ]


def test_karats_own_records_may_have_an_abstract_beside_the_text(tmp_path: Path) -> None:
    (tmp_path / "c.jsonl").write_text('{"id": "1", "text": "a", "abstract": "x", "keyphrases": ["a"]}\n')
    assert [document.text for document in karat.read(tmp_path / "c.jsonl")] == ["a"]


def test_a_record_with_other_fields_and_no_keyphrases_is_no_run(tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text('{"id": "1", "text": "a", "kws": ["a"]}\n')
    with pytest.raises(karat.InputError, match=r"no known format of a run \(fields id, text, kws\)"):
        karat.read_run(tmp_path / "r.jsonl")

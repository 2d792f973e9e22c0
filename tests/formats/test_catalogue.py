"""Catalogues: what is predicted goes back into them, and everything else in them stays."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import openpyxl
import pytest
import rispy
from bibtexparser.entrypoint import parse_string
from hypothesis import given, settings
from hypothesis import strategies as st

import karat
from karat.cli import karat as command
from karat.errors import InputError
from karat.formats import bibtex, catalogue, jsonld, ris
from tests.formats.samples import BIBTEX, RIS

LIBRARY = r"""
@comment{of a manager}
% a remark
@string{jb = "Journal of Bees"}
@article{smith20,
  title   = {Dances of {H}oney bees},
  journal = jb # " B",
  abstract = "Honey bees dance in the hive. Caf{\'e} \& more.",
  year = 2020
}

@book{jones21, title={Nests}, keywords = {nests; paper wasps}, abstract={Wasps build nests of paper.},}
@misc{bare}
"""
EXPORT = (
    "TY  - JOUR\r\nTI  - Dances of bees\r\nAB  - Bees dance in hives.\r\nKW  - bees\r\nKW  - dance\r\n"
    "DO  - 10.1234/a\r\nL1  - file://a.pdf\r\nER  - \r\n\r\n"
    "TY  - BOOK\r\nT1  - Nests\r\nN2  - Wasps build nests.\r\nDO  - 10.1234/b\r\nER  - \r\n"
)


def plug_in(documents: Any) -> list[list[str]]:
    """Phrases that need care in every format."""
    return [
        ["=1+1", "Bees, wild", "naïve {bees} & 5% of \\ants_"][: 1 + len(each.title or "") % 3] for each in documents
    ]


def predicted(path: Path, name: str, *more: str) -> Path:
    """What one command writes."""
    output = path.parent / name
    arguments = ["predict", "firstphrases", str(path), "-n", "3", "-o", str(output), *more]
    assert not command.main(arguments, standalone_mode=False)
    return output


def phrases(path: Path) -> dict[Any, list[Any]]:
    return {each.id: list(each.keyphrases or ()) for each in karat.read_run(path)}


# ---------------------------------------------------------------------------------------------- there and back


@pytest.fixture(params=["library.bib", "export.ris", "papers.jsonl"])
def corpus(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / str(request.param)
    record = {"id": "p 1", "title": "Dances of bees", "text": "Bees dance in hives."}
    held = {"library.bib": LIBRARY, "export.ris": EXPORT, "papers.jsonl": json.dumps(record) + "\n"}
    path.write_bytes(held[request.param].encode())
    return path


@pytest.mark.parametrize("suffix", ["csv", "xlsx", "bib", "ris", "jsonld", "jsonl"])
def test_one_command_writes_a_catalogue_that_reads_back_the_same(corpus: Path, suffix: str) -> None:
    expected = {each.id: list(each.keyphrases or ()) for each in karat.predict(corpus, "firstphrases", n=3)}
    found = phrases(predicted(corpus, f"keywords.{suffix}"))
    if suffix == "bib":  # a key has no blanks
        expected = {str(i).replace(" ", "_"): held for i, held in expected.items()}
    assert found == expected


def test_a_bibtex_file_gets_keywords_and_stays_as_it_is_everywhere_else(tmp_path: Path) -> None:
    source = tmp_path / "library.bib"
    source.write_text(LIBRARY)
    made = predicted(source, "out.bib").read_text()
    added = "2020,\n  keywords = {dances, honey bees, honey bees dance}\n}"
    assert made == LIBRARY.replace("2020\n}", added).replace("{nests; paper wasps}", "{nests; wasps; paper}")
    theirs = {entry.key: entry for entry in parse_string(made).entries}
    assert theirs["smith20"]["keywords"] == "dances, honey bees, honey bees dance"
    assert theirs["jones21"]["keywords"] == "nests; wasps; paper"


def test_a_ris_file_gets_keywords_and_stays_as_it_is_everywhere_else(tmp_path: Path) -> None:
    source = tmp_path / "export.ris"
    source.write_bytes(EXPORT.encode())
    made = predicted(source, "out.ris").read_bytes().decode()

    def without(text: str) -> str:
        return re.sub(r"KW  - .*\r\n", "", text)

    assert without(made) == without(EXPORT)
    theirs = rispy.loads(made)
    assert [each["keywords"] for each in theirs] == [list(held) for held in phrases(tmp_path / "out.ris").values()]
    assert "\n" not in made.replace("\r\n", "")


def test_terms_with_uris_become_defined_terms() -> None:
    row = catalogue.Row("10.1234/a", "Bees", ["bees", "hives"], ["http://x.org/1", None])
    [work] = json.loads(catalogue.catalogue("jsonld", [row])[0])["@graph"]
    assert work == {
        "@type": "ScholarlyArticle",
        "@id": "https://doi.org/10.1234/a",
        "identifier": "10.1234/a",
        "name": "Bees",
        "keywords": [{"@type": "DefinedTerm", "@id": "http://x.org/1", "name": "bees"}, "hives"],
    }


def test_no_cell_is_a_formula(tmp_path: Path) -> None:
    (tmp_path / "c.jsonl").write_text('{"id": "=d1", "title": "@SUM(1)", "text": "x"}\n')
    for name in ("k.csv", "k.xlsx"):
        from karat.cli.predict import _Writer
        from karat.models.find import parse_model
        from karat.models.run import PredictOptions
        from karat.models.run import predicted as run_model

        found = run_model(str(tmp_path / "c.jsonl"), parse_model(plug_in), PredictOptions())
        (tmp_path / name).write_bytes(_Writer(name[2:], "")(found))
        assert phrases(tmp_path / name) == {"=d1": ["=1+1", "Bees, wild"]}
    assert (tmp_path / "k.csv").read_text() == "id,title,keyphrase 1,keyphrase 2\n'=d1,'@SUM(1),'=1+1,\"Bees, wild\"\n"
    sheet = openpyxl.load_workbook(tmp_path / "k.xlsx").active
    assert {cell.data_type for row in sheet.iter_rows() for cell in row} == {"s"}


@pytest.mark.parametrize("form", ["bib", "ris", "jsonld"])
def test_nothing_in_a_catalogue_acts_on_its_reader(form: str) -> None:
    hostile = "\x1b[2J\x9b\u202e\n@article{x, title = {}} ER  - \\input{/etc/passwd}"
    content, _ = catalogue.catalogue(form, [catalogue.Row(hostile, hostile, [hostile, "\nTY  - JOUR"])])
    text = content.decode()
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", text)
    assert text.count("\nTY  - ") == 0
    if form == "bib":
        assert len(bibtex.entries_of(text, "x")) == 1
        assert "\\input" not in text


def test_a_run_is_written_into_the_catalogue_of_its_corpus(tmp_path: Path) -> None:
    (tmp_path / "library.bib").write_text(LIBRARY)
    run = karat.Run.of([{"id": "smith20", "keyphrases": ["waggle dances"], "scores": [0.5]}])
    assert karat.write(run, tmp_path / "out.bib", corpus=tmp_path / "library.bib") == []
    made = (tmp_path / "out.bib").read_text()
    assert made == LIBRARY.replace("2020\n}", "2020,\n  keywords = {waggle dances}\n}")
    assert karat.write(run, tmp_path / "out.xlsx", corpus=tmp_path / "library.bib") == []
    [document] = karat.read(tmp_path / "out.xlsx")
    assert (document.title, document.keyphrases) == ("Dances of Honey bees", ["waggle dances"])
    with pytest.raises(InputError, match="'x' is not in"):
        karat.write(karat.Run.of([{"id": "x"}]), tmp_path / "new.bib", corpus=tmp_path / "library.bib")
    assert not (tmp_path / "new.bib").exists()


def test_a_run_with_concepts_has_defined_terms(tmp_path: Path) -> None:
    (tmp_path / "c.jsonl").write_text('{"id": "d1", "title": "Bees", "text": "x"}\n')
    record = {"id": "d1", "keyphrases": ["bees", "hives", "wax"], "concepts": ["http://x.org/1", None, "plain term"]}
    karat.write(karat.Run.of([record]), tmp_path / "k.jsonld", corpus=tmp_path / "c.jsonl")
    [work] = json.loads((tmp_path / "k.jsonld").read_text())["@graph"]
    assert work["keywords"] == [{"@type": "DefinedTerm", "@id": "http://x.org/1", "name": "bees"}, "hives", "wax"]


@pytest.mark.parametrize("suffix", ["csv", "bib"])
def test_predicting_goes_on_where_it_was_whatever_is_written(tmp_path: Path, suffix: str) -> None:
    (tmp_path / "fails.py").write_text(
        "import os\n\n\ndef model(documents):\n"
        "    with open('asked', 'a') as file:\n"
        "        file.write('x' * len(documents))\n"
        "    if os.path.exists('broken') and any(d.id == 'd40' for d in documents):\n"
        "        raise OSError('no service')\n"
        "    return [[f'phrase of {d.id}'] for d in documents]\n"
    )
    records = [json.dumps({"id": f"d{n}", "title": "a", "text": "b"}) + "\n" for n in range(50)]
    (tmp_path / "c.jsonl").write_text("".join(records))
    (tmp_path / "broken").touch()
    arguments = ["predict", "./fails.py:model", "c.jsonl", "-o", f"k.{suffix}"]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        with pytest.raises(InputError, match=rf"so far is in k\.{suffix}\.part"):
            command.main(arguments, standalone_mode=False)
        assert not (tmp_path / f"k.{suffix}").exists()
        (tmp_path / "broken").unlink()
        before = len((tmp_path / "asked").read_text())
        assert not command.main(arguments, standalone_mode=False)
    assert len((tmp_path / "asked").read_text()) - before == 10  # of 50, the first 40 were there
    assert phrases(tmp_path / f"k.{suffix}") == {f"d{n}": [f"phrase of d{n}"] for n in range(50)}
    assert not (tmp_path / f"k.{suffix}.part").exists()


# ---------------------------------------------------------------------------------------------- other readers agree


def test_entries_are_those_of_another_reader_of_bibtex() -> None:
    theirs = {entry.key: entry for entry in parse_string(BIBTEX.decode()).entries}
    ours = {entry.key: entry for entry in bibtex.entries_of(BIBTEX.decode(), "x")}
    assert set(ours) == set(theirs)
    for name, field in theirs["swarm20"].fields_dict.items():
        raw = str(field.value)
        assert ours["swarm20"].fields[name].text == ("Journal of Bees" if name == "journal" else raw.strip('"'))


def test_records_are_those_of_another_reader_of_ris() -> None:
    theirs = rispy.loads(RIS.decode())
    ours = ris.records_of(RIS.decode().split("\n"), "x")
    assert [each.get(["DO"]) for each in ours] == [each["doi"] for each in theirs]
    assert [each.get(["TI", "T1"]) for each in ours] == [each.get("title") or each["primary_title"] for each in theirs]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (r"{\"o}", "ö"), (r"\'{e}t{\'e}", "été"), (r"{\v{S}}koda", "Škoda"), (r"\c{c}a \o{} \ss", "ça ø ß"),
        (r"\textit{In vivo} 5\% \& more", "In vivo 5% & more"), ("a~b\n  c", "a b c"), (r"$\alpha$-helix", "α-helix"),
        (r"na{\"\i}ve", "naïve"), ("{DNA} of {B}ees", "DNA of Bees"), (r"\~n \^{\i}", "ñ î"),
    ],
)  # fmt: skip
def test_latex_is_read_as_people_read_it(written: str, read: str) -> None:
    assert bibtex.readable(written).replace("ı\u0302", "î") == read


words = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Co", "Zl", "Zp")), max_size=20)


@settings(deadline=None)
@given(words)
def test_any_text_in_bibtex_reads_back(text: str) -> None:
    entry = bibtex.entry_text("k", {"title": bibtex.escaped(text), "year": "2020"})
    [found] = bibtex.entries_of(entry, "x")
    assert (found.get(["title"]) or "") == " ".join(text.split())
    assert found.fields["year"].text == "2020"


# ---------------------------------------------------------------------------------------------- damaged ones


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.bib", "@article{a,\n title = {Bees", r"a\.bib:1: .*'@article\{a,' is damaged: a brace is never"),
        ("a.bib", "\n@article{a, title = \"Bees}", r"a\.bib:2: .* a quotation mark is never closed"),
        ("a.bib", "@article{a, title {Bees}}", r"a\.bib:1: .* a field `name = \{value\}`"),
        ("a.bib", "only words", r"a\.bib: no documents there \(entries as @article"),
        ("a.ris", "TY  - JOUR\nTI  - Bees\n", r"a\.ris:1: not RIS: the record that begins here has no end"),
        ("a.ris", "TY  - JOUR\nTY  - JOUR\n", r"a\.ris:2: not RIS: TY a record begins before the one above has ended"),
        ("a.ris", "TI  - Bees\n", r"a\.ris:1: not RIS: TI stands in no record"),
        ("a.ris", "words\n", r"a\.ris: no documents there"),
        ("a.jsonld", '{"@context": "https://schema.org", "@graph": [7]}', r"a\.jsonld: no documents there"),
        ("a.jsonld", '{"@context": "x", "name": ["Bees", 7], "keywords": [7]}', r"work 1: a keyword is neither"),
    ],
)  # fmt: skip
def test_a_damaged_catalogue_is_one_sentence(tmp_path: Path, name: str, content: str, sentence: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(InputError, match=sentence):
        list(karat.read(tmp_path / name))


def test_ids_of_ris_are_what_every_record_has_alone() -> None:
    def ids(*values: str) -> list[str]:
        text = "".join(f"TY  - JOUR\n{value}\nER  - \n" for value in values)
        return ris.ids_of(ris.records_of(text.split("\n"), "x"))

    assert ids("ID  - a\nDO  - 1", "ID  - b\nDO  - 2") == ["a", "b"]
    assert ids("ID  - a\nDO  - 1", "ID  - a\nDO  - 2") == ["1", "2"]
    assert ids("TI  - a", "TI  - b") == ["1", "2"]


def test_works_of_json_ld_are_read_in_the_forms_that_pages_have(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"@context": "https://schema.org", "@id": "u:1", "name": "Bees", "keywords": "a, b"}))
    assert [(each.id, each.keyphrases) for each in karat.read(path)] == [("u:1", ["a", "b"])]
    assert jsonld.uris_of(karat.Prediction(keyphrases=["a"])) is None

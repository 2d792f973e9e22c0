"""Tables whose columns nobody named: what is guessed, what is said of it, and that saying so reads the same."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import openpyxl
import pytest

import karat
from karat.cli import karat as command
from karat.errors import InputError
from karat.formats.guess import plain_name, separator_of
from tests.folders import zip_of
from tests.formats.samples import excel

TABLES = {
    "english": (
        "Identifier,Title,Abstract,Subjects\n1,Bees,They dance.,bees; dances\n2,Ants,They walk.,ants\n",
        "id=Identifier,title=Title,text=Abstract,keyphrases=Subjects,separator=;",
    ),
    "french": (
        "DOI;Titre;Résumé;Mots-clés\n10.1/a;Abeilles;Elles dansent.;abeilles | danse\n10.1/b;Fourmis;Elles vont.;x\n",
        "id=DOI,title=Titre,text=Résumé,keyphrases=Mots-clés,separator=|",
    ),
    "german": (
        "Nr\tTitel\tZusammenfassung\tSchlagwörter\n1\tBienen\tSie tanzen.\tBienen, Tänze, Stock\n",
        "id=Nr,title=Titel,text=Zusammenfassung,keyphrases=Schlagwörter,separator=,",
    ),
    "a repository": (
        "id,dc.title[en],dc.description.abstract[en],dc.subject[en]\n7,Bees,They dance.,bees||dances\n",
        "id=id,title=dc.title[en],text=dc.description.abstract[en],keyphrases=dc.subject[en],separator=||",
    ),
    "Zotero": (
        '"Key","Item Type","Title","DOI","Abstract Note","Manual Tags"\n"AB1","book","Bees","","They go.","bees; x"\n',
        "id=Key,title=Title,text=Abstract Note,keyphrases=Manual Tags,separator=;",
    ),
    "Scopus": (
        "Authors,Title,DOI,Abstract,Author Keywords,Index Keywords,EID\nA,Bees,,They dance.,bees; hives,insects,2-s2\n",
        "id=EID,title=Title,text=Abstract,keyphrases=Author Keywords,separator=;",
    ),
    "Web of Science": (
        "PT\tAU\tTI\tSO\tDE\tID\tAB\tUT\nJ\tA\tBees\tJ\tbees; hives\tPLUS; MORE\tThey dance.\tWOS:1\n",
        "id=UT,title=TI,text=AB,keyphrases=DE,separator=;",
    ),
    "texts alone": ("Title,Summary\nBees,They dance.\nAnts,They walk.\n", "title=Title,text=Summary"),
    "another name for one": (
        "id,title,text,Tags\n1,Bees,They dance.,bees|hives\n",
        "id=id,title=title,text=text,keyphrases=Tags,separator=|",
    ),
    "commas in lower case": (
        'title,abstract,keywords\nBees,They dance.,"bees, hives, dances"\n',
        "title=title,text=abstract,keyphrases=keywords,separator=,",
    ),
    "numbered": (
        "Id,Title,Abstract,Keyword 1,Keyword 2\n1,Bees,They dance.,bees,hives\n2,Ants,They walk.,ants,\n",
        r"id=Id,title=Title,text=Abstract,keyphrases=Keyword 1+Keyword 2,separator=\n",
    ),
}


@pytest.mark.parametrize("name", TABLES)
def test_columns_are_guessed_and_the_note_has_the_fields_that_pin_them(name: str, tmp_path: Path) -> None:
    content, fields = TABLES[name]
    path = tmp_path / ("t.tsv" if "\t" in content else "t.csv")
    path.write_text(content)
    corpus = karat.read(path)
    assert corpus.notes == (f'{path}: its columns were guessed; the same is said by --fields "{fields}"',)
    guessed = list(corpus)
    assert all(each.text for each in guessed)
    assert "keyphrases" not in fields or all(each.keyphrases for each in guessed)
    named = karat.read(path, fields=fields)
    assert (list(named), named.notes) == (guessed, ())


def test_a_note_is_said_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(TABLES["english"][0])
    (tmp_path / "run.jsonl").write_text('{"id": "1", "keyphrases": ["bees"]}\n{"id": "2", "keyphrases": ["x"]}\n')
    for arguments in (["describe", "t.csv"], ["score", "t.csv", "run.jsonl"], ["predict", "firstphrases", "t.csv"]):
        assert not command.main(arguments, standalone_mode=False)
        said = capfd.readouterr()
        assert " ".join((said.out + said.err).split()).count("its columns were guessed") == 1, arguments
    command.main(["describe", "t.csv", "--fields", TABLES["english"][1]], standalone_mode=False)
    assert "guessed" not in "".join(capfd.readouterr())


@pytest.mark.parametrize(
    "content",
    [
        "id,title,text,keyphrases\n1,Bees,They dance.,a;b\n",
        "id,title,text,keyphrases,Tags\n1,Bees,They dance.,a;b,x\n",
        "title,abstract,keywords\nBees,They dance.,a;b\n",
        "title,abstract,keyword\nBees,They dance.,a;b\n",
    ],
)
def test_tables_of_a_known_format_are_read_as_before(content: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(content)
    corpus = karat.read(tmp_path / "t.csv")
    assert ([each.keyphrases for each in corpus], corpus.notes) == ([["a", "b"]], ())


def test_an_id_is_a_column_in_which_each_is_there_once(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("DOI,URL,Title,Keywords\n10.1/a,u1,Bees,a;b\n,u2,Ants,c;d\n")
    assert karat.read(tmp_path / "t.csv").ids == ["u1", "u2"]
    (tmp_path / "t.csv").write_text("DOI,Title,Keywords\n10.1/a,Bees,a;b\n10.1/a,Ants,c;d\n")
    assert karat.read(tmp_path / "t.csv").ids == [None, None]


def test_a_table_of_other_things_is_refused_with_a_proposal(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("Colour,Size\nred,7\n")
    with pytest.raises(InputError, match=r"no known format of a corpus \(fields Colour, Size\); name it with --from"):
        karat.read(tmp_path / "t.csv")
    with pytest.raises(InputError, match=r"t\.csv: no column sounds like what a corpus has"):
        karat.read(tmp_path / "t.csv", format="table")


@pytest.mark.parametrize(
    ("cells", "mark"),
    [
        (["a; b", "c, d"], ";"), (["a|b"], "|"), (["a||b"], "||"), (["a\nb"], "\n"), (["a；b"], "；"), (["a、b"], "、"),
        (["a, b, c", "d, e"], ","), (["bees, wild"], ";"), (["Bees, wild", "Ants, red", "x"], ";"),
        (["New York, NY, USA"], ","), (["a sentence with many words in it, another one, and more"], ";"),
        (["a, b, c", "x", "y", "z"], ";"), (['["a, b", "c"]'], ";"), ([], ";"), (["a;"], ";"),
    ],
)  # fmt: skip
def test_what_parts_phrases_is_seen_from_all_cells(cells: list[str], mark: str) -> None:
    assert separator_of(cells) == mark


def test_names_of_columns_are_compared_without_case_accents_and_marks() -> None:
    names = {
        "Mots-clés": "mots cles",
        "SCHLAGWÖRTER": "schlagworter",
        "dcterms:subject": "subject",
        "Key_Words": "key words",
    }
    assert {name: plain_name(name) for name in names} == names


# ---------------------------------------------------------------------------------------------- Excel


def book(*sheets: list[list[Any]]) -> bytes:
    made = openpyxl.Workbook()
    made.remove(made.active)
    for number, rows in enumerate(sheets):
        sheet = made.create_sheet(f"s{number}")
        for row in rows:
            sheet.append(row)
    out = io.BytesIO()
    made.save(out)
    return out.getvalue()


def test_an_excel_file_is_read_from_its_first_sheet_with_rows(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    rows: list[list[Any]] = [
        [],
        ["Id", "Title", "Abstract", "Subjects"],
        [7, "Bees", "They dance.", "bees; hives"],
        [],
        [8.5, 1, True, "x"],
    ]
    path.write_bytes(book([], rows, [["no"]]))
    assert [(each.id, each.title, each.text, each.keyphrases) for each in karat.read(path)] == [
        (7, "Bees", "They dance.", ["bees", "hives"]),
        ("8.5", "1", "True", ["x"]),
    ]
    assert karat.read(path, fields="title=Subjects,keyphrases=Title").ids == [None, None]


def test_a_formula_is_the_value_that_was_computed_last(tmp_path: Path) -> None:
    import xlsxwriter

    made = xlsxwriter.Workbook(str(tmp_path / "t.xlsx"))
    sheet = made.add_worksheet()
    sheet.write_row(0, 0, ["Id", "Title", "Keywords"])
    sheet.write_formula(1, 0, '="a"&"b"', value="ab")
    sheet.write_row(1, 1, ["Bees", "x;y"])
    made.close()
    assert [(each.id, each.keyphrases) for each in karat.read(tmp_path / "t.xlsx")] == [("ab", ["x", "y"])]


def test_a_sheet_that_claims_to_be_huge_is_read_as_it_is(tmp_path: Path) -> None:
    content = excel([["Id", "Title", "Keywords"], ["a", "Bees", "x;y"]])
    import zipfile

    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = "xl/worksheets/sheet1.xml"
    members[name] = members[name].replace(b'ref="A1:C2"', b'ref="A1:XFD1048576"')
    (tmp_path / "t.xlsx").write_bytes(zip_of(members))
    assert karat.read(tmp_path / "t.xlsx").ids == ["a"]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"PK\x03\x04 broken", "this Excel file cannot be read"),
        (excel([["Id", "Keywords"], ["a", "b"]])[:2000], "this Excel file cannot be read"),
        (book([]), "no sheet of this Excel file has rows"),
        (book([["Id", "Id", "Keywords"], [1, 2, 3]]), "two columns are named 'Id'"),
        (zip_of({"xl/workbook.xml": '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'}), "an entity is declared"),
    ],
    ids=["no zip", "cut", "empty", "twice", "entity"],
)
def test_an_excel_file_that_cannot_be_read_is_one_sentence(tmp_path: Path, content: bytes, sentence: str) -> None:
    (tmp_path / "t.xlsx").write_bytes(content)
    with pytest.raises(InputError, match=rf"t\.xlsx: .*{sentence}"):
        list(karat.read(tmp_path / "t.xlsx"))


def test_an_excel_file_is_not_unpacked_beyond_its_limit(tmp_path: Path) -> None:
    (tmp_path / "t.xlsx").write_bytes(excel([["Id", "Keywords"], ["a", "b"]]))
    with karat.limit(unpacked="1kB"), pytest.raises(InputError, match=r"t\.xlsx: .* more than 1 kB; .*unpacked=2kB"):
        list(karat.read(tmp_path / "t.xlsx"))

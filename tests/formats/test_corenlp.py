"""XML of CoreNLP is a corpus with tagged sentences."""

from __future__ import annotations

from pathlib import Path

import pytest

import karat
from karat.corpus import Document
from karat.errors import InputError
from karat.formats import sniff
from karat.formats.head import Head
from tests.formats.samples import AKE_REFERENCES, AKE_XML, gzipped

SENTENCES = [[("Bee", "NN"), ("Swarms", "NNS")], [("Naïve", "JJ"), ("(", "-LRB-"), ("R&D", "NN")]]
READ = Document(id="C-1", title="Bee Swarms", text="Naïve ( R&D", sentences=SENTENCES)


def test_a_file_is_a_document_with_its_tags(tmp_path: Path) -> None:
    path = tmp_path / "C-1.xml"
    path.write_bytes(AKE_XML)

    assert sniff(Head(str(path))).name == "corenlp"
    assert list(karat.read(path)) == [READ]
    (tmp_path / "C-1.xml.gz").write_bytes(gzipped(AKE_XML))
    assert list(karat.read(tmp_path / "C-1.xml.gz")) == [READ]


def test_a_folder_of_files_is_a_corpus_and_references_can_be_joined(tmp_path: Path) -> None:
    (tmp_path / "xml").mkdir()
    for name in ("C-1", "H-12"):
        (tmp_path / "xml" / f"{name}.xml").write_bytes(AKE_XML)
    (tmp_path / "refs.json").write_bytes(AKE_REFERENCES)

    assert sniff(Head(str(tmp_path / "xml"))).name == "corenlp"
    assert [(each.id, each.sentences) for each in karat.read(tmp_path / "xml")] == [
        ("C-1", SENTENCES),
        ("H-12", SENTENCES),
    ]
    first, second = karat.read(f"{tmp_path}/xml+{tmp_path}/refs.json", format="corenlp")
    assert (first.sentences, first.keyphrases) == (SENTENCES, [["bee swarm", "swarm of bee"], ["honei"]])
    assert second.title == "Bee Swarms"


def test_predictions_use_the_tags(tmp_path: Path) -> None:
    from karat.models.all import MODELS
    from karat.models.base import CommonOptions

    (tmp_path / "C-1.xml").write_bytes(AKE_XML.replace(b"<POS>NNS</POS>", b"<POS>VBZ</POS>"))
    [made] = MODELS["firstphrases"].made(CommonOptions())(list(karat.read(tmp_path / "C-1.xml")))

    assert made.keyphrases == ["bee", "naïve", "r&d"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (AKE_XML.replace(b"<POS>NNS</POS>", b""), r":8: a token has no <POS>; let CoreNLP run its annotator pos"),
        (AKE_XML.replace(b"root>", b"html>"), r":2: not XML of CoreNLP: <html> stands where <root> is due"),
        (AKE_XML[:300], r": not XML: it ends too early"),
        (b'<?xml version="1.0"?>\n<!DOCTYPE r [<!ENTITY a "b">]>\n<root/>', ":2: an entity is declared"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "C-1.xml"
    path.write_bytes(content)

    with pytest.raises(InputError, match=said):
        list(karat.read(path))


def test_a_document_without_xml_is_named(tmp_path: Path) -> None:
    (tmp_path / "xml").mkdir()
    (tmp_path / "xml" / "C-1.xml").write_bytes(AKE_XML)
    (tmp_path / "refs.json").write_bytes(AKE_REFERENCES)

    with pytest.raises(InputError, match="H-12"):
        list(karat.read(f"{tmp_path}/xml+{tmp_path}/refs.json", format="corenlp"))

"""Vocabularies in files: lists of terms and SKOS in every syntax, and what is refused."""

from __future__ import annotations

import gzip
import logging
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import karat
from benchmarks.made_thesaurus import made_thesaurus
from karat.errors import InputError
from karat.formats.vocabulary import as_vocabulary
from karat.limits import limit
from karat.vocabulary import Concept, Label, Vocabulary, VocabularyOptions, split_options

ROOT = Path(__file__).resolve().parents[2]
PREFIXES = """@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix xl: <http://www.w3.org/2008/05/skos-xl#> .
@prefix iso: <http://purl.org/iso25964/skos-thes#> .
@prefix : <http://example.org/> .
"""
TURTLE = (
    PREFIXES
    + """
:scheme a skos:ConceptScheme ; skos:prefLabel "Insects"@en .
:insect a skos:Concept ; skos:prefLabel "insects"@en, "Insekten"@de ; skos:narrower :bee .
:bee a skos:Concept ; skos:prefLabel "bees"@en, "Bienen"@de ; skos:altLabel "apis"@en ; skos:hiddenLabel "beez"@en ;
    skos:notation "595.799" .
:honey a skos:Concept ; skos:prefLabel "honey bees"@en ; skos:broader :bee .
"""
)
XML = """<?xml version="1.0"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:skos="http://www.w3.org/2004/02/skos/core#">
  <skos:ConceptScheme rdf:about="http://example.org/scheme">
    <skos:prefLabel xml:lang="en">Insects</skos:prefLabel>
  </skos:ConceptScheme>
  <skos:Concept rdf:about="http://example.org/insect">
    <skos:prefLabel xml:lang="en">insects</skos:prefLabel><skos:prefLabel xml:lang="de">Insekten</skos:prefLabel>
    <skos:narrower rdf:resource="http://example.org/bee"/>
  </skos:Concept>
  <skos:Concept rdf:about="http://example.org/bee">
    <skos:prefLabel xml:lang="en">bees</skos:prefLabel><skos:prefLabel xml:lang="de">Bienen</skos:prefLabel>
    <skos:altLabel xml:lang="en">apis</skos:altLabel><skos:hiddenLabel xml:lang="en">beez</skos:hiddenLabel>
    <skos:notation>595.799</skos:notation>
  </skos:Concept>
  <skos:Concept rdf:about="http://example.org/honey">
    <skos:prefLabel xml:lang="en">honey bees</skos:prefLabel><skos:broader rdf:resource="http://example.org/bee"/>
  </skos:Concept>
</rdf:RDF>
"""
JSON = """{"@context": {"skos": "http://www.w3.org/2004/02/skos/core#", "e": "http://example.org/"}, "@graph": [
 {"@id": "e:scheme", "@type": "skos:ConceptScheme", "skos:prefLabel": {"@value": "Insects", "@language": "en"}},
 {"@id": "e:insect", "@type": "skos:Concept", "skos:narrower": {"@id": "e:bee"},
  "skos:prefLabel": [{"@value": "insects", "@language": "en"}, {"@value": "Insekten", "@language": "de"}]},
 {"@id": "e:bee", "@type": "skos:Concept", "skos:notation": "595.799",
  "skos:prefLabel": [{"@value": "bees", "@language": "en"}, {"@value": "Bienen", "@language": "de"}],
  "skos:altLabel": {"@value": "apis", "@language": "en"}, "skos:hiddenLabel": {"@value": "beez", "@language": "en"}},
 {"@id": "e:honey", "@type": "skos:Concept", "skos:broader": {"@id": "e:bee"},
  "skos:prefLabel": {"@value": "honey bees", "@language": "en"}}]}
"""
INSECTS = (
    Concept(
        "http://example.org/bee",
        (
            Label("Bienen", "de"),
            Label("bees", "en"),
            Label("apis", "en", "alternative"),
            Label("beez", "en", "hidden"),
        ),
        ("http://example.org/insect",),
        "595.799",
    ),
    Concept("http://example.org/honey", (Label("honey bees", "en"),), ("http://example.org/bee",)),
    Concept("http://example.org/insect", (Label("Insekten", "de"), Label("insects", "en"))),
)


def nt(turtle: str) -> str:
    import rdflib

    return str(rdflib.Graph().parse(data=turtle, format="turtle").serialize(format="nt"))


def put(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


# ---------------------------------------------------------------------------------------------- what is read


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("insects.ttl", TURTLE),
        ("insects.ttl.gz", TURTLE),
        ("insects.n3", TURTLE),
        ("insects.nt", nt(TURTLE)),
        ("insects.rdf", XML),
        ("insects.xml.gz", XML),
        ("insects.jsonld", JSON),
        ("insects.json", JSON),
        ("insects", TURTLE),  # seen by how it begins
        ("insects.txt", XML),
    ],
)
def test_every_syntax_gives_the_same_concepts_in_the_order_of_their_uris(tmp_path: Path, name: str, text: str) -> None:
    found = karat.read_vocabulary(put(tmp_path, name, text))
    assert found.concepts == INSECTS
    assert found.name == "insects"
    assert found == Vocabulary.of(INSECTS, "insects")
    assert found.hash == Vocabulary.of(reversed(INSECTS)).hash


def test_a_made_thesaurus_of_thousands_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    made = made_thesaurus(3000, seed=1)
    assert set(made.languages) == {"en", "de"}
    assert sum(map(len, made.broader)) > 2900
    karat.write_vocabulary(made, tmp_path / "thesaurus.ttl")
    assert karat.read_vocabulary(tmp_path / "thesaurus.ttl") == made
    karat.write_vocabulary(made, tmp_path / "thesaurus.ttl.gz")
    assert karat.read_vocabulary(tmp_path / "thesaurus.ttl.gz").hash == made.hash


def test_the_script_writes_the_same_bytes_again(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "benchmarks.made_thesaurus", "--concepts", "200", "--seed", "3"]
    for name in ("a.ttl", "b.ttl"):
        subprocess.run([*command, str(tmp_path / name)], cwd=ROOT, check=True, capture_output=True)
    assert (tmp_path / "a.ttl").read_bytes() == (tmp_path / "b.ttl").read_bytes()
    assert len(karat.read_vocabulary(tmp_path / "a.ttl")) == 200


def test_odd_labels_and_uris_survive_the_round_trip(tmp_path: Path) -> None:
    labels = (Label('a "quoted" \\ back\u2028slash', "en"), Label("C++ <x> & é\t蜂".replace("\t", " "), "zh-hans"))
    made = Vocabulary.of([Concept("urn:x:1", labels, notation='1"2'), Concept("urn:x:2", labels[:1])], "odd")
    karat.write_vocabulary(made, tmp_path / "odd.ttl")
    found = karat.read_vocabulary(tmp_path / "odd.ttl")
    assert [sorted(each.labels) for each in found.concepts] == [
        sorted(Label(" ".join(label.text.split()), *label[1:]) for label in each.labels) for each in made.concepts
    ]
    assert found.concepts[0].notation == '1"2'


def test_a_list_is_written_with_the_labels_that_are_used(tmp_path: Path) -> None:
    found = karat.read_vocabulary(put(tmp_path, "insects.ttl", TURTLE), language="en")
    karat.write_vocabulary(found, tmp_path / "terms.txt")
    assert (tmp_path / "terms.txt").read_text() == "bees\tapis\tbeez\nhoney bees\ninsects\n"
    again = karat.read_vocabulary(tmp_path / "terms.txt")
    assert [each.uri for each in again.concepts] == ["bees", "honey bees", "insects"]
    with pytest.raises(InputError, match=r"written as \.ttl or \.txt, not as \.rdf"):
        karat.write_vocabulary(found, tmp_path / "x.rdf")


def test_labels_of_skos_xl_links_of_iso_and_transitive_links_are_read(tmp_path: Path) -> None:
    text = f"""{PREFIXES}
:a a skos:Concept ; xl:prefLabel [ xl:literalForm "alpha"@en ] ; iso:broaderGeneric :b .
:b a skos:Concept ; skos:prefLabel "beta" ; iso:narrowerPartitive :d .
:c a skos:Concept ; skos:prefLabel "gamma" ; skos:broaderTransitive :a, :b .
:d a skos:Concept ; skos:prefLabel "delta" ; skos:broaderTransitive :c .
"""
    found = karat.read_vocabulary(put(tmp_path, "x.ttl", text))
    uri = "http://example.org/{}".format
    assert found[uri("a")].labels == (Label("alpha", "en"),)
    assert {each.uri[-1]: [up[-1] for up in each.broader] for each in found.concepts} == {
        "a": ["b"],
        "b": [],
        "c": ["a", "b"],  # nothing is directly broader, so what is broader at any distance counts
        "d": ["b"],  # b says so; beside that, transitive links are not needed
    }


def test_links_to_what_is_not_there_are_left_out_and_counted(tmp_path: Path) -> None:
    text = f'{PREFIXES} :a a skos:Concept ; skos:prefLabel "a" ; skos:broader :b, <http://elsewhere.org/c> .'
    path = put(tmp_path, "x.ttl", text)
    assert karat.read_vocabulary(path).loose == 2
    [note] = karat.show_vocabulary(path).notes
    assert note == "x: 2 links to broader concepts that are not in the file left out"


# ---------------------------------------------------------------------------------------------- languages


def test_labels_of_one_language_are_used_with_those_that_have_none(tmp_path: Path) -> None:
    text = f"""{PREFIXES}
:a a skos:Concept ; skos:prefLabel "colour"@en-GB, "Farbe"@de, "C" .
:b a skos:Concept ; skos:prefLabel "Licht"@de .
"""
    path = put(tmp_path, "x.ttl", text)
    english = karat.read_vocabulary(path, language="EN")
    assert [label.text for _, label in english.labels()] == ["C", "colour"]
    assert [english.shown(n) for n in range(2)] == ["colour", "Licht"]
    assert karat.read_vocabulary(path).language == "de"  # of most labels
    assert karat.show_vocabulary(english).notes == ("x: 1 concept without a label in en",)


def test_a_language_without_labels_is_refused_with_near_names(tmp_path: Path) -> None:
    path = put(tmp_path, "insects.ttl", TURTLE)
    with pytest.raises(InputError, match=r"unknown language of labels in .*insects.ttl 'eng'; did you mean 'en'\? "):
        karat.read_vocabulary(path, language="eng")
    with pytest.raises(InputError, match=r"\(known: de, en\)"):
        as_vocabulary(f"{path},language=fr")
    plain = put(tmp_path, "terms.txt", "bees\n")
    with pytest.raises(InputError, match="its labels have no languages; leave out language=en"):
        karat.read_vocabulary(plain, language="en")


# ---------------------------------------------------------------------------------------------- options behind a path


def test_options_stand_behind_the_path(tmp_path: Path) -> None:
    path = put(tmp_path, "my,terms.ttl", TURTLE)
    found = as_vocabulary(f"{path},language=de,similar=0.9,unmapped=drop")
    assert found.options == VocabularyOptions("de", 0.9, None, "drop")
    assert found == karat.read_vocabulary(path, language="de", similar=0.9, unmapped="drop")
    assert found.signature() == f"my_terms:{found.hash}:language=de:similar=0.9:unmapped=drop"
    assert split_options("a=b.ttl") == ("a=b.ttl", {})


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ("similr=0.9", "unknown option of a vocabulary 'similr'; did you mean 'similar'"),
        ("similar=x", "option similar of a vocabulary is a number above 0 and up to 1, not 'x'"),
        ("similar=0", "similar is a number above 0 and up to 1, not 0.0"),
        ("similar=nan", "similar is a number above 0 and up to 1, not nan"),
        ("unmapped=dorp", "unknown value of unmapped 'dorp'; did you mean 'drop'"),
    ],
)
def test_options_that_are_wrong_are_refused(tmp_path: Path, written: str, why: str) -> None:
    path = put(tmp_path, "insects.ttl", TURTLE)
    with pytest.raises(InputError, match=why):
        as_vocabulary(f"{path},{written}")


# ---------------------------------------------------------------------------------------------- what is refused

LAUGHS = """<?xml version="1.0"?>
<!DOCTYPE rdf:RDF [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;">]>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:skos="http://www.w3.org/2004/02/skos/core#">
<skos:Concept rdf:about="x:a"><skos:prefLabel>&c;</skos:prefLabel></skos:Concept></rdf:RDF>"""
EXTERNAL = LAUGHS.replace('<!ENTITY a "aaaaaaaaaa">', '<!ENTITY a SYSTEM "file:///etc/passwd">')
CONTEXT = '{"@context": "http://127.0.0.1:9/context.jsonld", "@id": "x:a", "prefLabel": "a"}'
INNER = '{"@context": {"t": {"@id": "x:t", "@context": ["http://127.0.0.1:9/c"]}}, "@id": "x:a", "t": {"@id": "x:b"}}'


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("x.ttl", "", "x.ttl: the file is empty"),
        ("x.ttl", "bees\twasps\n", "x.ttl: not Turtle: "),
        ("x.ttl", f"{PREFIXES} :a a skos:Concept ; ", "x.ttl: not Turtle: "),
        ("x.ttl", "@prefix a: <b> . " + "[ a:b " * 3000, "x.ttl: not Turtle: "),
        ("x.nt", "not a triple\n", "x.nt: not N-Triples: "),
        ("x.rdf", "<rdf:RDF", "x.rdf:1: not XML: "),
        ("x.rdf", "<html><p>no</p></html>", "x.rdf: there is no skos:Concept and no skos:prefLabel in it"),
        ("x.rdf", LAUGHS, r"x.rdf:2: an entity is declared \(<!ENTITY\), which is not read"),
        ("x.rdf", EXTERNAL, r"x.rdf:2: an entity is declared \(<!ENTITY\), which is not read"),
        ("x.jsonld", "{", "x.jsonld: not JSON-LD "),
        ("x.jsonld", CONTEXT, "x.jsonld: the context 'http://127.0.0.1:9/context.jsonld' stands elsewhere and is not"),
        ("x.jsonld", INNER, "x.jsonld: the context 'http://127.0.0.1:9/c' stands elsewhere and is not fetched"),
        ("x.jsonld", "[" * 3000 + "]" * 3000, "x.jsonld: "),
        ("x.jsonld", '{"a": 1}', "x.jsonld: there is no skos:Concept and no skos:prefLabel in it"),
        ("x.ttl", f"{PREFIXES} :a a skos:Concept . :b a skos:Concept .", "x.ttl: none of its 2 concepts has a label"),
        ("x.ttl", f'{PREFIXES} :a a skos:Concept ; skos:prefLabel " " .', "x.ttl: none of its 1 concepts has a label"),
        ("x.ttl", "@prefix a: <http://a.org/> . a:b a:c a:d .", "there is no skos:Concept and no skos:prefLabel"),
        ("x.ttl", f'{PREFIXES} [] a skos:Concept ; skos:prefLabel "a" .', "there is no skos:Concept and no skos:pref"),
        ("x.txt", "\n\t\n", "x.txt: the vocabulary has no term; write one a line"),
    ],
)
def test_what_is_no_vocabulary_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str, why: str
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("something is fetched")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    with pytest.raises(InputError, match=why):
        karat.read_vocabulary(put(tmp_path, name, text))


def test_a_missing_file_and_one_that_is_too_large_are_named(tmp_path: Path) -> None:
    put(tmp_path, "insects.ttl", TURTLE)
    with pytest.raises(InputError, match=r"there is no such file; did you mean '.*insects.ttl'"):
        karat.read_vocabulary(tmp_path / "insect.ttl")
    with limit(file=100), pytest.raises(InputError, match="the file has more than 100 B; if that is right"):
        karat.read_vocabulary(tmp_path / "insects.ttl")


def test_rdflib_says_nothing_of_its_own(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    date = "<http://www.w3.org/2001/XMLSchema#date>"
    text = f'{PREFIXES} :a a skos:Concept ; skos:prefLabel "a" ; skos:notation "x"^^{date} ; skos:broader <a b> .'
    with caplog.at_level(logging.DEBUG):
        karat.read_vocabulary(put(tmp_path, "x.ttl", text))
    assert caplog.records == []


def test_without_rdflib_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rdflib", None)
    with pytest.raises(InputError, match=r"a SKOS thesaurus needs rdflib.*: pip install 'karat\[vocabulary\]'"):
        karat.read_vocabulary(put(tmp_path, "x.ttl", TURTLE))
    assert len(karat.read_vocabulary(put(tmp_path, "x.txt", "bees\n"))) == 1


# ---------------------------------------------------------------------------------------------- hierarchy


def test_a_cycle_is_named_and_the_link_that_closes_it_left_out(tmp_path: Path) -> None:
    text = f"""{PREFIXES}
:a a skos:Concept ; skos:prefLabel "a" ; skos:broader :b .
:b a skos:Concept ; skos:prefLabel "b" ; skos:broader :c .
:c a skos:Concept ; skos:prefLabel "c" ; skos:broader :a .
:d a skos:Concept ; skos:prefLabel "d" ; skos:broader :d, :c .
"""
    path = put(tmp_path, "x.ttl", text)
    found = karat.read_vocabulary(path)
    uri = "http://example.org/{}".format
    assert found.cut == ((uri("c"), uri("a")), (uri("d"), uri("d")))
    assert found.ancestors == [{1: 1, 2: 2}, {2: 1}, {}, {2: 1}]
    shown = karat.show_vocabulary(path)
    assert shown.notes == (
        f"x: the hierarchy has cycles; 2 links left out that close one (first {uri('c')} broader {uri('a')})",
    )
    assert shown.facts()["cycle_links"] == 2


def test_a_chain_of_ten_thousand_concepts_is_no_trouble() -> None:
    names = [f"c{n:05d}" for n in range(10_000)]
    links = [(up,) for up in names[1:]] + [(names[0],)]  # the last one closes a cycle
    made = Vocabulary.of(Concept(n, (Label(n),), up) for n, up in zip(names[:2000], links, strict=False))
    assert made.ancestors[0][1999] == 1999
    whole = Vocabulary.of(Concept(n, (Label(n),), up) for n, up in zip(names, links, strict=True))
    assert whole.cut == (("c09999", "c00000"),)


def test_steps_are_the_fewest_over_all_ways_up() -> None:
    made = Vocabulary.of(
        Concept(name, (Label(name),), up)
        for name, up in {"a": ("b", "d"), "b": ("c",), "c": ("d",), "d": (), "e": ()}.items()
    )
    assert made.ancestors[0] == {1: 1, 3: 1, 2: 2}
    assert made.root is None  # d and e are both on top


def test_two_concepts_with_one_label_are_named_and_counted(tmp_path: Path) -> None:
    text = f"""{PREFIXES}
:a a skos:Concept ; skos:prefLabel "bank"@en ; skos:altLabel "shore"@en .
:b a skos:Concept ; skos:prefLabel "Bank"@de ; skos:altLabel "Ufer"@de .
:c a skos:Concept ; skos:prefLabel "shore"@en .
"""
    found = karat.show_vocabulary(put(tmp_path, "x.ttl", text))
    assert [(each.label, [uri[-1] for uri in each.concepts]) for each in found.shared] == [
        ("bank", ["a", "b"]),
        ("shore", ["c", "a"]),  # a preferred label goes before an alternative one
    ]
    assert found.notes == (
        "x: 2 labels are those of several concepts and taken for the first (as 'bank' for http://example.org/a)",
    )
    assert karat.show_vocabulary(f"{tmp_path / 'x.ttl'},language=de").shared == ()


def test_two_concepts_with_one_uri_are_refused() -> None:
    with pytest.raises(InputError, match="two concepts have the URI 'x:a'"):
        Vocabulary.of([Concept("x:a", (Label("a"),)), Concept("x:a", (Label("b"),))])

"""Vocabularies in files: lists of terms, and SKOS thesauri in Turtle, N-Triples, RDF/XML and JSON-LD.

A thesaurus is parsed by rdflib into triples of which only those of SKOS are kept. Nothing is fetched: a JSON-LD context
at an address is refused, and so are entities of XML.
"""

from __future__ import annotations

import json
import logging
import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any
from xml.parsers import expat

from karat.errors import InputError
from karat.formats.base import brief, quoted
from karat.formats.files import STDIN, beginning, lines, read_whole, without_compression
from karat.formats.files import stem as name_of
from karat.formats.load import decoded_json
from karat.formats.output import writing
from karat.formats.xml import refuse_entities
from karat.libraries import library
from karat.options import options_from, public
from karat.text.unicode import key_of
from karat.vocabulary import (
    KINDS,
    Concept,
    Label,
    LabelKind,
    Unmapped,
    Vocabulary,
    VocabularyLike,
    VocabularyOptions,
    parsed_options,
    split_options,
)

# The syntaxes of RDF, by suffix, as rdflib names them.
SYNTAXES = {
    ".ttl": "turtle",
    ".turtle": "turtle",
    ".n3": "turtle",
    ".nt": "nt",
    ".rdf": "xml",
    ".xml": "xml",
    ".owl": "xml",
    ".skos": "xml",
    ".jsonld": "json-ld",
    ".json": "json-ld",
}
_PARSERS = {"nt": "turtle"}  # of which N-Triples are a part; their own parser takes long for long lines
_SHOWN = {"turtle": "Turtle", "nt": "N-Triples", "xml": "RDF/XML", "json-ld": "JSON-LD"}
_OPENINGS = {b"@prefix": "turtle", b"@base": "turtle", b"PREFIX": "turtle", b"<?xml": "xml", b"<rdf:RDF": "xml"}
SKOS = "http://www.w3.org/2004/02/skos/core#"
XL = "http://www.w3.org/2008/05/skos-xl#"
ISO = "http://purl.org/iso25964/skos-thes#"
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
_BLANK = "_:"  # before the names of nodes without a URI, which are no concepts
_LABELS: dict[str, LabelKind] = {"prefLabel": "preferred", "altLabel": "alternative", "hiddenLabel": "hidden"}
_BROADER = {f"{SKOS}broader", *(f"{ISO}broader{kind}" for kind in ("Generic", "Partitive", "Instantial"))}
_NARROWER = {each.replace("broader", "narrower") for each in _BROADER}
_TRANSITIVE = {f"{SKOS}broaderTransitive": False, f"{SKOS}narrowerTransitive": True}  # whether it leads downwards


def as_vocabulary(given: VocabularyLike) -> Vocabulary:
    """A vocabulary that is given as such, or as `PATH[,option=value...]`."""
    if isinstance(given, Vocabulary):
        return given
    path, written = (str(given), {}) if isinstance(given, Path) else split_options(given)
    return _at(path).configured(parsed_options(written))


@public(VocabularyOptions)
def read_vocabulary(
    path: str | Path,
    *,
    language: str | None = None,
    similar: float | None = None,
    model: str | None = None,
    unmapped: Unmapped = "keep",
) -> Vocabulary:
    """The vocabulary of a file: a list of terms, or a SKOS thesaurus (.ttl, .nt, .rdf, .xml, .jsonld; .gz, .zst).

    A list has a term a line, its variants behind it after tabs. The options say which labels are used and when a phrase
    is a concept. Raises InputError if the file cannot be read, or if it has no labels, or none in the language.
    """
    return _at(str(path)).configured(options_from(VocabularyOptions, locals()))


def _at(path: str) -> Vocabulary:
    """The vocabulary of a file, read again only where the file has changed."""
    if path == STDIN or not Path(path).is_file():
        return _read(path)
    status = Path(path).stat()
    return _read_once(path, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=4)
def _read_once(path: str, _changed: int, _size: int) -> Vocabulary:
    return _read(path)


def _read(path: str) -> Vocabulary:
    syntax = _syntax(path)
    if syntax is None:
        return _terms(path)
    return Vocabulary.of(_concepts(path, _triples(path, syntax)), _name(path), path)


def _syntax(path: str) -> str | None:
    """The syntax of RDF that a file is in, by its suffix, else by how it begins; None of a list of terms."""
    found = SYNTAXES.get(Path(without_compression(path)).suffix.lower())
    if found is not None:
        return found
    line = (beginning(path).line or b"").lstrip()
    return next((syntax for opening, syntax in _OPENINGS.items() if line.startswith(opening)), None)


def _name(path: str) -> str:
    name = name_of(path)
    suffix = Path(name).suffix.lower()
    return name[: -len(suffix)] if suffix in SYNTAXES else name


# ---------------------------------------------------------------------------------------------- lists of terms


def _terms(path: str) -> Vocabulary:
    """The vocabulary of a list: a term a line, its variants behind it after tabs; a repeated term is one concept."""
    terms: dict[str, str] = {}
    variants: dict[str, list[str]] = defaultdict(list)
    for _, line in lines(path):
        term, *others = [" ".join(part.split()) for part in line.split("\t")]
        if not term:
            continue
        key = key_of(term)
        terms.setdefault(key, term)
        variants[key] += [other for other in others if other]
    if not terms:
        raise InputError(f"{path}: the vocabulary has no term; write one a line")
    concepts = (
        Concept(term, (Label(term), *(Label(other, kind="alternative") for other in variants[key])))
        for key, term in terms.items()
    )
    return Vocabulary.of(concepts, _name(path), path)


# ---------------------------------------------------------------------------------------------- SKOS


Triples = dict[str, dict[str, list[Any]]]  # by predicate, by subject, in the order of the file


def _triples(path: str, syntax: str) -> Triples:
    """The triples of SKOS in a file."""
    rdflib = library("rdflib", "a SKOS thesaurus")
    content = read_whole(path)
    if not content.strip():
        raise InputError(f"{path}: the file is empty")
    if syntax == "xml":
        _check_xml(path, content)
    elif syntax == "json-ld":
        _check_json(path, content)
    store = _store(rdflib)
    graph = rdflib.Graph(store=store, bind_namespaces="none")
    try:
        with _quiet():
            graph.parse(data=content, format=_PARSERS.get(syntax, syntax), publicID="file:///")
    except RecursionError:
        raise InputError(f"{path}: not {_SHOWN[syntax]}: nested too deeply") from None
    except Exception as error:  # its errors are of many kinds
        raise InputError(f"{path}: not {_SHOWN[syntax]}: {brief(str(error), 200) or type(error).__name__}") from None
    found: Triples = store.kept
    return found


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the warnings of rdflib, as of addresses with blanks in them."""
    logger = logging.getLogger("rdflib")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(before)


def _store(rdflib: Any) -> Any:
    """Where rdflib puts triples: those of SKOS are kept, by predicate and subject, and all others dropped."""

    class Store(rdflib.store.Store):  # type: ignore[misc]
        """Triples by predicate and subject."""

        context_aware = True  # which JSON-LD wants; the triples of all graphs are kept alike

        def __init__(self) -> None:
            super().__init__()
            self.kept: Triples = defaultdict(lambda: defaultdict(list))
            self._namespaces: dict[Any, Any] = {}
            self._prefixes: dict[Any, Any] = {}

        def add(self, triple: Any, context: Any, quoted: bool = False) -> None:
            """Takes a triple."""
            subject, predicate, value = triple
            name = str(predicate)
            if name == TYPE or name.startswith((SKOS, XL, ISO)):
                self.kept[name][_name_of_node(subject)].append(value)

        def bind(self, prefix: str, namespace: Any, override: bool = True) -> None:
            """Takes a prefix."""
            self._namespaces[prefix], self._prefixes[namespace] = namespace, prefix

        def namespace(self, prefix: str) -> Any:
            """The namespace of a prefix."""
            return self._namespaces.get(prefix)

        def prefix(self, namespace: Any) -> Any:
            """The prefix of a namespace."""
            return self._prefixes.get(namespace)

        def namespaces(self) -> Any:
            """All prefixes with their namespaces."""
            return iter(self._namespaces.items())

    return Store()


def _name_of_node(node: Any) -> str:
    """The URI of a node; a blank one has a name that is another in each reading."""
    return f"{_BLANK}{node}" if type(node).__name__ == "BNode" else str(node)


def _check_xml(path: str, content: bytes) -> None:
    """Raises InputError if a text is no XML, or declares an entity."""
    parser = expat.ParserCreate()
    parser.EntityDeclHandler = refuse_entities
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        raise InputError(f"{path}:{error.lineno}: not XML: {expat.ErrorString(error.code)}") from None
    except (ValueError, LookupError) as error:
        raise InputError(f"{path}:{parser.CurrentLineNumber}: {brief(str(error))}") from None


def _check_json(path: str, content: bytes) -> None:
    """Raises InputError if a text is no JSON, or names a context that would have to be fetched."""
    waiting: list[Any] = [decoded_json(content, Any, path, "not JSON-LD")]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            for name in ("@context", "@import"):
                given = value.get(name)
                for each in given if isinstance(given, list) else [given]:
                    if isinstance(each, str):
                        raise InputError(
                            f"{path}: the context {quoted(each)} stands elsewhere and is not fetched; write the "
                            "context itself into the file"
                        )
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value


def _concepts(path: str, triples: Triples) -> Iterator[Concept]:
    """The concepts of triples, in the order of their URIs."""
    labels: dict[str, list[Label]] = defaultdict(list)
    for uri, label in _labels(triples):
        labels[uri].append(label)
    kinds = {uri: set(map(str, values)) for uri, values in triples[TYPE].items()}
    others = {f"{SKOS}{kind}" for kind in ("ConceptScheme", "Collection", "OrderedCollection")}
    uris = {uri for uri, of in kinds.items() if f"{SKOS}Concept" in of} | {
        uri for uri in labels if not kinds.get(uri, set()) & others
    }
    uris = {uri for uri in uris if not uri.startswith(_BLANK)}
    if not uris:
        raise InputError(f"{path}: there is no skos:Concept and no skos:prefLabel in it; is it a SKOS thesaurus?")
    links = _links(triples)
    for uri in sorted(uris):
        notations = sorted(map(str, triples[f"{SKOS}notation"].get(uri, ())))
        own = sorted(set(labels[uri]), key=lambda each: (KINDS.index(each.kind), each.language, each.text))
        yield Concept(uri, tuple(own), tuple(sorted(links[uri])), notations[0] if notations else None)


def _labels(triples: Triples) -> Iterator[tuple[str, Label]]:
    """(URI, label) of all labels, those of SKOS-XL too; blank ones are none."""
    forms = triples[f"{XL}literalForm"]
    for name, kind in _LABELS.items():
        for uri, values in triples[SKOS + name].items():
            yield from ((uri, label) for label in _written(values, kind))
        for uri, values in triples[XL + name].items():
            for value in values:
                yield from ((uri, label) for label in _written(forms.get(_name_of_node(value), ()), kind))


def _written(values: Iterable[Any], kind: LabelKind) -> Iterator[Label]:
    for value in values:
        text = " ".join(str(value).split())
        if text:
            yield Label(text, (getattr(value, "language", None) or "").lower(), kind)


def _links(triples: Triples) -> dict[str, set[str]]:
    """For each URI those that are directly broader, whichever of the two says so.

    Where there are none, those that are broader at any distance.
    """
    found: dict[str, set[str]] = defaultdict(set)
    for names, downwards in ((_BROADER, False), (_NARROWER, True)):
        for name in names:
            for uri, other in _pairs(triples, name, downwards):
                found[uri].add(other)
    direct = set(found)
    for name, downwards in _TRANSITIVE.items():
        for uri, other in _pairs(triples, name, downwards):
            if uri not in direct and uri != other:
                found[uri].add(other)
    return found


def _pairs(triples: Triples, name: str, downwards: bool) -> Iterator[tuple[str, str]]:
    for subject, values in triples[name].items():
        for value in values:
            other = _name_of_node(value)
            yield (other, subject) if downwards else (subject, other)


# ---------------------------------------------------------------------------------------------- writing


def write_vocabulary(vocabulary: Vocabulary, path: str | Path) -> None:
    """Writes a vocabulary as SKOS in Turtle, or, where the path ends in .txt, as a list of terms.

    A list holds the labels that are used, and no URIs, languages or hierarchy. Raises InputError if the path ends
    otherwise.
    """
    suffix = Path(without_compression(str(path))).suffix.lower()
    if suffix not in (".ttl", ".txt"):
        raise InputError(f"{path}: a vocabulary is written as .ttl or .txt, not as {suffix or 'a file without suffix'}")
    with writing(path) as file:
        for line in (_turtle if suffix == ".ttl" else _list)(vocabulary):
            file.write(line.encode() + b"\n")


def _list(vocabulary: Vocabulary) -> Iterator[str]:
    own: dict[int, list[str]] = defaultdict(list)
    for number, label in vocabulary.labels():
        own[number].append(label.text)
    for number in range(len(vocabulary)):
        if own[number]:
            shown = vocabulary.shown(number)
            yield "\t".join(dict.fromkeys([shown, *own[number]]))


def _turtle(vocabulary: Vocabulary) -> Iterator[str]:
    names = {kind: name for name, kind in _LABELS.items()}
    yield f"@prefix skos: <{SKOS}> ."
    for concept in vocabulary.concepts:
        yield f"\n<{_iri(concept.uri)}> a skos:Concept"
        for label in concept.labels:
            tag = f"@{label.language}" if label.language else ""
            yield f"    ; skos:{names[label.kind]} {json.dumps(label.text, ensure_ascii=False)}{tag}"
        for uri in concept.broader:
            yield f"    ; skos:broader <{_iri(uri)}>"
        if concept.notation is not None:
            yield f"    ; skos:notation {json.dumps(concept.notation, ensure_ascii=False)}"
        yield "    ."


def _iri(uri: str) -> str:
    """A URI as Turtle can hold it; a term of a list becomes one."""
    if ":" not in uri:
        uri = f"urn:term:{uri}"
    return "".join(f"%{ord(c):02X}" if c in '<>"{}|^`\\' or c <= " " else c for c in uri)
